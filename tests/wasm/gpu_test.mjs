// SPDX-License-Identifier: Apache-2.0
// slipring.mjs on navigator.gpu in headless Chromium. node gpu_test.mjs FOLDER
import assert from "node:assert/strict";
import { GPU, Page, serve } from "./chromium.mjs";

const SOURCE = `
    __global__ void saxpy(float *y, const float *x, float a, int n)
    {
        int i = blockIdx.x * blockDim.x + threadIdx.x;
        if (i < n)
            y[i] = a * x[i] + y[i];
    }
    __global__ void bad(int *a, int n)
    {
        a[0] = 7 / n;
    }
    struct tick { float price; };
    struct mean { float sum; int count; };
    __ring__ void average(struct mean *self, const struct tick *in)
    {
        self->sum += in->price;
        self->count++;
        float mean = self->sum / self->count;
        ring_reply(&mean);
    }
`;

// Runs in the page; what it gives is asserted here.
const tests = {
    async "the device is the browser's"(slipring) {
        const device = await slipring.openGpu();
        const info = device.info;
        await device.close();
        return info;
    },
    async "a kernel gives what the processor gives"(slipring, source) {
        const results = [];
        for (const device of [slipring.open("cpu"), await slipring.openGpu()]) {
            const n = 100000, x = Float32Array.from({ length: n }, (_, i) => i / 4), program = await device.compile(source);
            const kernel = await program.kernel("saxpy"), a = await device.buffer(x), y = await device.buffer(4 * n);
            await y.write(x.subarray(3, 1003), 12); // behind other bytes
            await kernel.launch({ threads: n }, [y, a, 3, n]);
            await kernel.launch({ threads: n }, [y, a, 0.5, n]);
            await device.finish({ timeout: 60000 });
            results.push(await y.read(Float32Array));
            await device.close();
        }
        return { equal: results[0].every((value, i) => value === results[1][i]), some: [...results[1].slice(0, 3)], last: results[1].at(-1) };
    },
    async "a hundred commands are at most two calls of JavaScript"(slipring, source) {
        const device = await slipring.openGpu(), program = await device.compile(source), kernel = await program.kernel("saxpy");
        const y = await device.buffer(new Float32Array(256).fill(1)), x = await device.buffer(new Float32Array(256).fill(1));
        const graph = await device.graph();
        await graph.begin();
        for (let i = 0; i < 100; i++)
            await kernel.launch({ threads: 256 }, [y, x, 1, 256]);
        await graph.end();
        await graph.launch();
        await device.finish({ timeout: 60000 });
        const before = await device.metrics;
        await graph.launch();
        await device.finish({ timeout: 60000 });
        const after = await device.metrics, y0 = (await y.read(Float32Array))[0];
        await device.close();
        return { y0, of: Object.fromEntries(Object.keys(after).map((name) => [name, after[name] - before[name]])) };
    },
    async "a ring kernel keeps its state"(slipring, source) {
        const device = await slipring.openGpu(), program = await device.compile(source);
        const ring = await program.ring("average", { instances: 100 }), replies = [];
        for (const [price, instance] of [[3, 7], [5, 7], [10, 8]])
            replies.push((await ring.call({ price }, { instance, timeout: 60000 })).value);
        await ring.send({ price: 7 }, { instance: 7, timeout: 60000 });
        const reply = await ring.receive({ timeout: 60000 }), late = await ring.receive({ timeout: 1 }), stats = await ring.stats;
        await ring.close();
        await device.close();
        return { replies, reply: reply.value.value, instance: reply.instance, late: late === undefined, stats };
    },
    async "errors are told with their place"(slipring, source) {
        const device = await slipring.openGpu(), told = {};
        const catching = async (what, action) => {
            try {
                await action();
            } catch (error) {
                told[what] = `${error.status} ${error.message}`;
            }
        };
        const program = await device.compile(source), kernel = await program.kernel("bad"), a = await device.buffer(64);
        await catching("syntax", () => device.compile("__global__ void k(int *a) { a[0] = b; }", { name: "wrong.cu" }));
        await catching("fault", async () => {
            await kernel.launch({ threads: 1 }, [a, 0]);
            await device.finish({ timeout: 60000 });
        });
        await catching("double", async () => {
            const doubles = await device.compile("__global__ void k(double *a)\n{\n    a[0] *= 3;\n}", { name: "double.cu" });
            await (await doubles.kernel("k")).launch({ threads: 1 }, [a]);
            await device.finish({ timeout: 60000 });
        });
        await catching("sync", () => slipring.open("webgpu:0"));
        await catching("index", () => slipring.openGpu("webgpu:5"));
        await catching("between", () => {
            const call = device.metrics;
            try {
                slipring.file("a.h", "");
            } finally {
                told.call = call;
            }
        });
        told.call = Object.keys(await told.call).length;
        await catching("large", () => device.buffer(1.5 * 2 ** 30));
        await device.close();
        return told;
    },
};

const checks = {
    "the device is the browser's"(info) {
        assert.equal(info.name, "webgpu:0");
        assert.equal(info.backend, "webgpu");
        assert.match(info.description, /swiftshader \(WebGPU/);
        assert.equal(info.engine, "WGSL, compiled by the browser");
    },
    "a kernel gives what the processor gives"({ equal, some, last }) {
        assert.ok(equal);
        assert.deepEqual(some, [0, 3.5 / 4, 3.5 / 2]);
        assert.equal(last, 3.5 * 99999 / 4);
    },
    "a hundred commands are at most two calls of JavaScript"({ y0, of }) {
        assert.equal(y0, 201);
        console.log(`        100 launches: ${of.submits} submissions, ${of.js_calls} calls`);
        assert.ok(of.submits >= 1 && of.submits <= 2 && of.js_calls <= 2 * of.submits, JSON.stringify(of));
        assert.equal(of.bind_groups, 0);
        assert.equal(of.bind_group_sets, of.passes);
    },
    "a ring kernel keeps its state"({ replies, reply, instance, late, stats }) {
        assert.deepEqual(replies, [3, 4, 10]);
        assert.equal(reply, 5);
        assert.equal(instance, 7);
        assert.ok(late);
        assert.equal(stats.handled, 4);
    },
    "errors are told with their place"(told) {
        assert.match(told.syntax, /^SLR_COMPILE wrong\.cu:1:\d+: error SLR-K\d+: .*b/);
        assert.match(told.fault, /^SLR_HANDLER_FAULT kernel bad: integer division by zero, at source\.cu:10/);
        assert.match(told.double, /^SLR_UNSUPPORTED double\.cu:3: double/);
        assert.match(told.sync, /^SLR_WRONG_STATE .*openGpu/);
        assert.match(told.index, /^SLR_NO_DEVICE .*webgpu:5/);
        assert.match(told.between, /^SLR_WRONG_STATE .*await it first/);
        assert.ok(told.call > 5);
        assert.match(told.large, /^SLR_NO_MEMORY /);
    },
};

// `known`: what Chromium itself says where it has no GPU.
async function withPage(folder, flags, action, known = /^$/) {
    const server = await serve(folder), page = await Page.open(server.address, { flags });
    try {
        await page.until("document.documentElement.dataset.firstBeatMs"); // the page's own work is done
        await page.evaluate(`import("./slipring.mjs").then(({ load }) => load()).then((it) => { globalThis.slipring = it; })`);
        await action(page);
        assert.deepEqual(page.errors.filter((error) => !known.test(error)), []);
    } finally {
        await page.close();
        server.close();
    }
}

const [, , folder] = process.argv;
await withPage(folder, GPU, async (page) => {
    if (!await page.evaluate("navigator.gpu?.requestAdapter().then((adapter) => adapter !== null) ?? false")) {
        console.log("skipped: this chromium has no WebGPU");
        process.exitCode = 77;
        return;
    }
    for (const [name, test] of Object.entries(tests)) {
        const given = await page.evaluate(`({ ${test.toString()} })[${JSON.stringify(name)}](slipring, ${JSON.stringify(SOURCE)})`);
        checks[name](given);
        console.log(`ok      ${name}`);
    }
});
if (process.exitCode !== 77)
    await withPage(folder, ["--disable-features=WebGPUService", "--disable-gpu", "--disable-blink-features=WebGPU"], async (page) => {
        const told = await page.evaluate("slipring.openGpu().catch((error) => `${error.status} ${error.message}`)");
        assert.match(told, /^SLR_NO_DEVICE .*no adapter.*https/);
        console.log("ok      without WebGPU it is said what is needed");
    }, /^Failed to create WebGPU Context Provider/);
