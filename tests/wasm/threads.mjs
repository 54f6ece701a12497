// SPDX-License-Identifier: Apache-2.0
// What a page or its worker does for threads_test.mjs: the cases of slipring.mjs, and those of threads. Gives [name, error or ""]
// of each. It lies in the folder of slipring.mjs.
import { load } from "./slipring.mjs";
import { assert } from "./assert.mjs";
import { casesOf } from "./cases.mjs";
import { SUM } from "./sum.mjs";

const threadCases = (slipring) => ({
    "it has threads"() {
        assert.ok(slipring.threads > 2, `${slipring.threads} threads`);
    },
    async "on one core it has none"() {
        const other = await load({ cores: 1 });
        assert.equal(other.threads, 0);
        const device = other.open("cpu");
        assert.match(device.info.description, /^WebAssembly #\w+, 1 core$/);
        device.close();
    },
    "handlers run while nobody waits"(device) {
        const ring = device.compile(SUM).ring("add");
        ring.send({ by: 5 });
        for (const end = performance.now() + 60000; ring.stats.handled === 0 && performance.now() < end;)
            continue; // not a call that waits
        assert.equal(ring.stats.handled, 1);
        assert.equal(ring.receive().value.value, 5);
    },
    "instances on several threads each see their own messages, in order"(device) {
        const ring = device.compile(SUM).ring("add", { instances: 64, queueSize: 256 }), last = new Array(64).fill(0);
        const take = () => {
            const { instance, value } = ring.receive();
            assert.equal(value.value, ++last[instance]);
        };
        for (let sent = 0; sent < 4096; sent++) {
            ring.send({ by: 1 }, { instance: sent % 64 });
            if (sent >= 128)
                take();
        }
        for (let left = 0; left < 128; left++)
            take();
        assert.deepEqual(last, new Array(64).fill(64));
    },
    "a kernel's blocks give the same numbers as on one thread"(device) {
        const n = 100000, x = device.buffer(Float32Array.from({ length: n }, (_, i) => i / 7)), y = device.buffer(new Float32Array(n));
        device.compile(SUM, { name: "sum.cu" }).kernel("sum").launch({ threads: n, block: 256 }, [x, y, n]);
        device.finish({ timeout: 120000 });
        const got = y.read(Float32Array), from = x.read(Float32Array);
        for (let i = 0; i < n; i += 997) {
            let wanted = 0;
            for (let k = 0; k < 100; k++)
                wanted = Math.fround(wanted + Math.fround(from[i] * k));
            assert.equal(got[i], wanted);
        }
    },
    "threads that have ended carry others"() {
        for (let i = 0; i < 50; i++) {
            const device = slipring.open("cpu"), ring = device.compile(SUM).ring("add");
            assert.equal(ring.call({ by: i }).value, i);
            device.close();
        }
    },
    "more devices than there are threads for are refused, and room is made when they close"() {
        const open = [];
        assert.throws(() => {
            for (let i = 0; i < slipring.threads + 1; i++) {
                open.push(slipring.open("cpu"));
                open.at(-1).compile(SUM).ring("add").call({ by: 1 });
            }
        }, (error) => error.status === "SLR_SYSTEM" && /no thread for slr-worker/.test(error.message));
        assert.ok(open.length > 1, `${open.length} devices`);
        open.forEach((device) => device.close());
        const device = slipring.open("cpu");
        assert.equal(device.compile(SUM).ring("add").call({ by: 7 }).value, 7);
        device.close();
    },
    async "the GPU's library is another, beside it"(device) {
        slipring.file("by.h", "#define BY 2\n");
        let gpu;
        try {
            gpu = await slipring.openGpu();
        } catch (error) {
            assert.equal(error.status, "SLR_NO_DEVICE");
            return;
        }
        const source = SUM.replace("in->by;", "in->by * BY;"), ring = device.compile(SUM).ring("add");
        const later = await (await gpu.compile(`#include "by.h"\n${source}`)).ring("add"), call = later.call({ by: 4 });
        assert.equal(ring.call({ by: 4 }).value, 4); // in the midst of the other
        assert.equal((await call).value, 8);
        await gpu.close();
    },
    async "a handler and a kernel run code that was built ahead, on all threads"(device) {
        const before = slipring.builtFound, n = 50000;
        assert.equal(await slipring.addBuilt("./sum.wasm"), 2);
        const program = device.compile(SUM);
        const ring = program.ring("add", { instances: 8 });
        for (let i = 0; i < 80; i++)
            assert.equal(ring.call({ by: 3 }, { instance: i % 8 }).value, 3 * (1 + Math.floor(i / 8)));
        const x = device.buffer(new Float32Array(n).fill(0.5)), y = device.buffer(new Float32Array(n));
        program.kernel("sum").launch({ threads: n, block: 256 }, [x, y, n]);
        device.finish({ timeout: 120000 });
        assert.ok(y.read(Float32Array).every((value) => value === 2475));
        assert.ok(slipring.builtFound >= before + 2, `${slipring.builtFound} found, ${before} before`); // a handler: by each shard
    },
});

export async function runCases(filter) {
    const printed = [], slipring = await load({ onPrint: (kernel, text) => printed.push([kernel, text]), cores: 4 }), ended = [];
    const cases = { ...casesOf({ assert, slipring, load, printed, description: /^WebAssembly with threads #\w+, 4 cores$/ }),
                    ...threadCases(slipring) };
    for (const [name, test] of Object.entries(cases).filter(([one]) => one.includes(filter))) {
        const device = slipring.open("cpu"), began = performance.now();
        let why = "";
        try {
            await test(device);
        } catch (error) {
            why = String(error.stack ?? error);
        }
        device.close();
        ended.push([name, why, performance.now() - began]);
    }
    return ended;
}

// As a worker.
if (typeof document === "undefined")
    runCases(new URL(location.href).searchParams.get("filter"))
        .then((ended) => postMessage(ended), (error) => postMessage([["load", String(error.stack ?? error), 0]]));
