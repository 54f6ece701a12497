// SPDX-License-Identifier: Apache-2.0
// A message to a kernel on WebGPU and its answer, beside JavaScript that is written by hand, in one page of headless Chromium:
// node gpu_bench.mjs FOLDER [ROUNDS]. Both take turns; medians in microseconds.
import { GPU, Page, serve } from "./chromium.mjs";

const [, , folder, rounds = "400"] = process.argv;

// In the page.
async function measure(slipring, rounds) {
    const TOGETHER = 10; // a page's clock has steps of 100 µs
    const source = `
        struct tick { float price; };
        struct mean { float sum; int count; };
        __ring__ void average(struct mean *self, const struct tick *in)
        {
            self->sum += in->price;
            self->count++;
            float mean = self->sum / self->count;
            ring_reply(&mean);
        }`;
    const wgsl = `
        struct mean { sum: f32, count: i32 }
        @group(0) @binding(0) var<storage, read_write> self_: mean;
        @group(0) @binding(1) var<storage, read_write> message: array<f32>;
        @group(0) @binding(2) var<storage, read_write> reply: array<f32>;
        @compute @workgroup_size(1) fn average() {
            self_.sum += message[0];
            self_.count++;
            reply[0] = self_.sum / f32(self_.count);
        }`;
    const adapter = await navigator.gpu.requestAdapter(), gpu = await adapter.requestDevice();
    const buffer = (usage) => gpu.createBuffer({ size: 16, usage });
    const { STORAGE, COPY_SRC, COPY_DST, MAP_READ } = GPUBufferUsage;
    const state = buffer(STORAGE), message = buffer(STORAGE | COPY_DST), reply = buffer(STORAGE | COPY_SRC);
    const back = buffer(COPY_DST | MAP_READ);
    const pipeline = await gpu.createComputePipelineAsync({ layout: "auto", compute: { module: gpu.createShaderModule({ code: wgsl }) } });
    const group = gpu.createBindGroup({ layout: pipeline.getBindGroupLayout(0),
        entries: [state, message, reply].map((one, binding) => ({ binding, resource: { buffer: one } })) });
    const byHand = async (price) => {
        gpu.queue.writeBuffer(message, 0, new Float32Array([price]));
        const encoder = gpu.createCommandEncoder(), pass = encoder.beginComputePass();
        pass.setPipeline(pipeline);
        pass.setBindGroup(0, group);
        pass.dispatchWorkgroups(1);
        pass.end();
        encoder.copyBufferToBuffer(reply, 0, back, 0, 16);
        gpu.queue.submit([encoder.finish()]);
        await back.mapAsync(GPUMapMode.READ);
        const [value] = new Float32Array(back.getMappedRange());
        back.unmap();
        return value;
    };

    const device = await slipring.openGpu(), program = await device.compile(source), ring = await program.ring();
    const ways = { byHand, "slipring, a call of a ring kernel": async (price) => (await ring.call({ price })).value };
    const times = Object.fromEntries(Object.keys(ways).map((name) => [name, []]));
    const before = await device.metrics;
    for (let i = 0; i < rounds; i += TOGETHER)
        for (const [name, way] of Object.entries(ways)) {
            const began = performance.now();
            let value;
            for (let k = i; k < i + TOGETHER; k++)
                value = await way(k);
            times[name].push((performance.now() - began) / TOGETHER);
            if (value !== (i + TOGETHER - 1) / 2)
                throw new Error(`${name}: ${value} is not the mean of 0 to ${i + TOGETHER - 1}`);
        }
    const after = await device.metrics;
    await ring.close();
    await device.close();
    const median = (list) => list.sort((a, b) => a - b)[list.length >> 1];
    return { medians: Object.entries(times).map(([name, list]) => [name, 1000 * median(list)]),
             a: Object.fromEntries(["submits", "js_calls", "maps"].map((name) => [name, (after[name] - before[name]) / rounds])) };
}

const server = await serve(folder), page = await Page.open(server.address, { flags: GPU });
try {
    await page.until("document.documentElement.dataset.firstBeatMs"); // the page's own work is done
    const { medians, a } = await page.evaluate(`import("./slipring.mjs").then(async ({ load }) =>
        (${measure.toString()})(await load(), ${Number(rounds)}))`);
    const [, byHand] = medians[0];
    for (const [name, us] of medians)
        console.log(`${us.toFixed(0).padStart(8)} µs  ${(us / byHand).toFixed(2)}  ${name}`);
    console.log(`          a call: ${a.submits} submissions, ${a.js_calls} calls of JavaScript, ${a.maps} maps`);
} finally {
    await page.close();
    server.close();
}
