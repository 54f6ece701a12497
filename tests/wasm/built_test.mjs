// SPDX-License-Identifier: Apache-2.0
// Code that `slipring build` has made, in node. node built_test.mjs LIBRARY WARD BUILT
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { csvOf, samplesOf, WARD_SAMPLES } from "../../examples/browser/beats.mjs";

const [, , library, ward, built] = process.argv;
const { load } = await import(pathToFileURL(resolve(library, "slipring.mjs")));
const slipring = await load();
slipring.file("ward.h", readFileSync(join(ward, "ward.h"), "utf8"));
const samples = samplesOf(readFileSync(join(ward, "mitdb-208-excerpt.csv"), "utf8"));
const source = readFileSync(join(ward, "ward.cu"), "utf8");
const kernels = readFileSync(join(built, "kernels.cu"), "utf8");

// What comes of a program's handler, in milliseconds.
function beatsOf(text) {
    const device = slipring.open("cpu"), ring = device.compile(text, { name: "other-name.cu" }).ring(), beats = [];
    const began = performance.now();
    for (let at = 0; at + WARD_SAMPLES <= samples.length; at += WARD_SAMPLES) {
        ring.send({ adc: samples.subarray(at, at + WARD_SAMPLES) });
        do
            for (let reply; (reply = ring.receive({ timeout: 0 })); )
                beats.push(reply.value);
        while (ring.stats.pending);
    }
    for (let reply; (reply = ring.receive({ timeout: 0 })); )
        beats.push(reply.value);
    device.close();
    return { csv: csvOf(beats), ms: performance.now() - began };
}

function scaled(block) {
    const n = 100000, device = slipring.open("cpu"), kernel = device.compile(kernels).kernel();
    const x = device.buffer(Float32Array.from({ length: n }, (_, i) => i / 7)), y = device.buffer(4 * n);
    const began = performance.now();
    kernel.launch({ threads: n, block }, [y, x, 1.75, n]);
    device.finish({ timeout: 60000 });
    const ms = performance.now() - began, values = y.read();
    device.close();
    return { values, ms };
}

const before = { beats: beatsOf(source), scaled: scaled(64) };
assert.equal(slipring.builtFound, 0);
assert.equal(await slipring.addBuilt(readFileSync(join(built, "ward.wasm"))), 1);
assert.equal(await slipring.addBuilt(pathToFileURL(join(built, "kernels.wasm"))), 2);

const after = { beats: beatsOf(source), scaled: scaled(64) };
assert.equal(slipring.builtFound, 2);
assert.equal(after.beats.csv, before.beats.csv);
assert.deepEqual(after.scaled.values, before.scaled.values);
console.log("ok      the same beats and numbers, compiled ahead and interpreted");
for (const what of ["beats", "scaled"])
    console.log(`        ${what}: ${before[what].ms.toFixed(0)} ms interpreted, ${after[what].ms.toFixed(0)} ms compiled ahead`);

scaled(32);
beatsOf(source.replace("REFRACTORY = 72", "REFRACTORY = 400"));
assert.equal(slipring.builtFound, 2);
console.log("ok      another block, and another text, are interpreted");

await assert.rejects(slipring.addBuilt(readFileSync(join(library, "slipring.wasm"))), /SLR_INVALID|not what slipring build makes/);
await assert.rejects(slipring.addBuilt(new Uint8Array(8)));
console.log("ok      what slipring build has not made is refused");
