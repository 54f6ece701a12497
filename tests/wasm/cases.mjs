// SPDX-License-Identifier: Apache-2.0
// What slipring.mjs gives, and what it says when it cannot: the same cases in node, and in pages with threads and without.

const SAXPY = `__global__ void saxpy(float a, const float *x, float *y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        y[i] = a * x[i] + y[i];
}
`;
const COUNT = `struct count { int number; }; struct step { int by; float scale; };
__ring__ void add(struct count *self, const struct step *in)
{
    self->number += in->by;
    float scaled = self->number * in->scale;
    ring_reply(&scaled);
}
`;

/** By their names. `printed`: what kernels print; `description`: of the device "cpu". */
export function casesOf({ assert, slipring, load, printed, description }) {
    // A SlipringError with that status, whose message has those words.
    function refuses(what, status, words) {
        assert.throws(what, (error) => {
            assert.equal(error.name, "SlipringError");
            assert.equal(error.status, status);
            assert.match(error.message, words);
            return true;
        });
    }

    return {
        "a device says what it is"() {
            const device = slipring.open("cpu");
            assert.equal(device.info.backend, "cpu");
            assert.match(device.info.description, description);
            assert.match(device.info.engine, /^interpreted: a page has no C compiler/);
            device.close();
        },
        "a device that is not there is refused, and so is one that was closed"() {
            refuses(() => slipring.open("cuda:0"), "SLR_NO_DEVICE", /cuda/);
            const device = slipring.open("cpu");
            device.close();
            device.close();
            refuses(() => device.buffer(64), "SLR_WRONG_STATE", /device cpu was closed/);
        },
        "a launch computes, in a stream"(device) {
            const program = device.compile(SAXPY, { name: "saxpy.cu" }), kernel = program.kernel("saxpy");
            const n = 1000, x = device.buffer(Float32Array.from({ length: n }, (_, i) => i)), y = device.buffer(new Float32Array(n).fill(1));
            kernel.launch({ threads: n, block: 64 }, [2, x, y, n]);
            device.finish();
            const got = y.read(Float32Array);
            assert.deepEqual([got[0], got[1], got[999]], [1, 3, 1999]);
            kernel.launch({ grid: [16, 1], block: 64 }, [2, x, y, 1]); // one element alone
            device.finish();
            assert.deepEqual([...y.read(Float32Array, 0, 8)], [1, 3]);
            refuses(() => kernel.launch({ threads: n }, [2, x, y]), "SLR_INVALID", /takes 4 arguments, not 3/);
            refuses(() => kernel.launch({ threads: n }, [2, x, 7, n]), "SLR_INVALID", /parameter y takes a buffer/);
            refuses(() => kernel.launch({ threads: n, block: 4096 }, [2, x, y, n]), "SLR_INVALID", /4096/);
            refuses(() => program.kernel("saxpi"), "SLR_NOT_FOUND", /no kernels 'saxpi'.*saxpy/);
            refuses(() => y.read(Float32Array, 4000, 8), "SLR_INVALID", /4000/);
        },
        "a kernel that leaves its buffer faults, at its line"(device) {
            const program = device.compile(SAXPY, { name: "saxpy.cu" });
            const x = device.buffer(64), y = device.buffer(64);
            program.kernel().launch({ threads: 1000 }, [2, x, y, 1000]);
            refuses(() => device.finish(), "SLR_HANDLER_FAULT", /saxpy\.cu:5/);
        },
        "what is more than WebAssembly's memory is refused, and what is less still works"(device) {
            refuses(() => device.buffer(3e9), "SLR_NO_MEMORY", /3000000000/);
            refuses(() => device.buffer(2 ** 32 + 4096), "SLR_NO_MEMORY", /4294971392/);
            const wide = "struct s { int a[4000]; }; struct m { int n; }; __ring__ void h(struct s *self, const struct m *in) { " +
                         "self->a[0] += in->n; ring_reply(&self->a[0]); }";
            const program = device.compile(wide);
            refuses(() => program.ring("h", { instances: 2 ** 24 }), "SLR_NO_MEMORY", /h/);
            assert.deepEqual(program.ring("h", { instances: 4 }).call({ n: 2 }, { instance: 3 }), { value: 2 });
        },
        async "a library that is not there is named"() {
            await assert.rejects(load({ wasm: new URL("absent.wasm", import.meta.url), cores: 1 }), (error) => {
                assert.equal(error.status, "SLR_NOT_FOUND");
                assert.match(error.message, /absent\.wasm/);
                return true;
            });
        },
        "a source that does not compile says where"(device) {
            assert.throws(() => device.compile("__global__ void k(int *x)\n{\n    x[0] = y;\n}\n", { name: "k.cu" }), (error) => {
                assert.equal(error.status, "SLR_COMPILE");
                assert.equal(error.diagnostics.length, 1);
                const [{ file, line, column, level, code, advice }] = error.diagnostics;
                assert.deepEqual([file, line, column, level], ["k.cu", 3, 12, "error"]);
                assert.match(code, /^SLR-K\d+$/);
                assert.match(advice, /declare it/);
                return true;
            });
        },
        "a file is found by #include, and defines are taken"(device) {
            slipring.file("made.h", "#define BY 3\n");
            const source = '#include "made.h"\n__global__ void k(int *x)\n{\n    x[0] = BY * TIMES;\n}\n';
            const x = device.buffer(64);
            device.compile(source, { defines: { TIMES: 14 } }).kernel().launch({ threads: 1 }, [x]);
            device.finish();
            assert.equal(x.read(Int32Array)[0], 42);
            refuses(() => device.compile('#include "absent.h"\n' + COUNT.replace("int by", "int by, more[ABSENT]")), "SLR_COMPILE", /ABSENT|absent/);
        },
        "a ring kernel keeps its state between messages, each instance its own"(device) {
            const program = device.compile(COUNT, { name: "count.cu" }), ring = program.ring("add", { instances: 3 });
            assert.deepEqual(ring.call({ by: 3, scale: 2 }), { value: 6 });
            assert.deepEqual(ring.call({ by: 4, scale: 2 }), { value: 14 });
            assert.deepEqual(ring.call({ by: 4, scale: 1 }, { instance: 2 }), { value: 4 });
            ring.send({ by: 1, scale: 1 }, { instance: 2 });
            const reply = ring.receive();
            assert.deepEqual([reply.instance, reply.status, reply.value], [2, "SLR_OK", { value: 5 }]);
            assert.equal(ring.receive({ timeout: 1 }), undefined);
            assert.equal(ring.stats.handled, 4);
            assert.equal(ring.stats.pending, 0);
            refuses(() => ring.send({ by: 1 }, { instance: 3 }), "SLR_INVALID", /instances 0 to 2; 3 was asked for/);
            refuses(() => ring.send({ bi: 1 }), "SLR_INVALID", /struct step has no field 'bi'/);
            refuses(() => ring.send(new Uint8Array(3)), "SLR_INVALID", /3/);
            ring.close();
            refuses(() => ring.send({ by: 1 }), "SLR_WRONG_STATE", /ring kernel add was closed/);
            refuses(() => program.ring("sub"), "SLR_NOT_FOUND", /no handlers 'sub'/);
        },
        "many messages are under way at once"(device) {
            const ring = device.compile(COUNT).ring("add", { queueSize: 64 });
            let received = 0, last = 0;
            for (let sent = 0; sent < 500; sent++) {
                if (sent - received >= 64) {
                    last = ring.receive().value.value;
                    received++;
                }
                ring.send({ by: 1, scale: 1 });
            }
            for (; received < 500; received++)
                last = ring.receive().value.value;
            assert.equal(last, 500);
            assert.equal(ring.stats.handled, 500);
        },
        "a handler without end is stopped by its fuel"(device) {
            const source = "struct m { int n; };\n__ring__ void h(const struct m *in)\n{\n    int x = 0;\n" +
                           "    while (in->n != 0)\n        x++;\n    ring_reply(&x);\n}\n";
            const ring = device.compile(source, { name: "h.cu" }).ring("h", { fuel: 100000 });
            refuses(() => ring.call({ n: 1 }), "SLR_HANDLER_FAULT", /h/);
            assert.match(ring.stats.lastFault, /fuel|iterations/);
            assert.deepEqual(ring.call({ n: 0 }), { value: 0 });
        },
        "a handler that faults says why, and goes on"(device) {
            const source = "struct s { int a[4]; }; struct m { int at; };\n__ring__ void h(struct s *self, const struct m *in)\n{\n" +
                           "    int was = self->a[in->at]++;\n    ring_reply(&was);\n}\n";
            const ring = device.compile(source, { name: "h.cu" }).ring();
            refuses(() => ring.call({ at: 9 }), "SLR_HANDLER_FAULT", /h/);
            assert.match(ring.stats.firstFault, /h\.cu:4/);
            assert.deepEqual(ring.call({ at: 1 }), { value: 0 });
            assert.equal(ring.stats.faulted, 1);
        },
        "a handler has buffers and numbers bound"(device) {
            const source = "struct m { int at; }; __ring__ void h(const struct m *in, float *sums, float by) { sums[in->at] += by; " +
                           "ring_reply(&sums[in->at]); }";
            const sums = device.buffer(Float32Array.of(1, 2, 3, 4)), program = device.compile(source);
            const ring = program.ring("h", { bindings: { sums, by: 0.5 } });
            assert.deepEqual(ring.call({ at: 2 }), { value: 3.5 });
            assert.deepEqual([...sums.read(Float32Array)], [1, 2, 3.5, 4]);
            refuses(() => program.ring("h", { name: "other", bindings: { sums } }), "SLR_INVALID", /by/);
            refuses(() => program.ring("h", { name: "other", bindings: { sum: sums } }), "SLR_INVALID", /no parameter 'sum'/);
        },
        "what a kernel prints is told"(device) {
            printed.length = 0;
            device.compile('#include <stdio.h>\n__global__ void say(int n) { printf("n is %d\\n", n); }').kernel().launch({ grid: 1, block: 1 }, [5]);
            device.finish();
            assert.deepEqual(printed, [["say", "n is 5\n"]]);
        },
        "the check finds a race, and nothing where there is none"(device) {
            const race = "__global__ void k(int *x)\n{\n    __shared__ int s;\n    s = threadIdx.x;\n    x[threadIdx.x] = s;\n}\n";
            const found = device.compile(race, { name: "race.cu" }).check("k");
            assert.ok(found.some((one) => one.level === "error" && one.line === 4 && /race/.test(one.name)), JSON.stringify(found));
            assert.deepEqual(device.compile(COUNT).check("add", { steps: 200000 }).filter((one) => one.level === "error"), []);
        },
    };
}
