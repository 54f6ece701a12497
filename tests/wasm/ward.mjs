// SPDX-License-Identifier: Apache-2.0
// The ward's beats by slipring.mjs, as `slipring run` writes them. node ward.mjs FOLDER WARD
import { readFileSync } from "node:fs";
import { pathToFileURL } from "node:url";
import { resolve } from "node:path";

const [, , folder, ward] = process.argv;
const { load } = await import(pathToFileURL(resolve(folder, "slipring.mjs")));
const { csvOf, samplesOf, WARD_SAMPLES } = await import(pathToFileURL(resolve(ward, "../browser/beats.mjs")));
const slipring = await load();
const device = slipring.open("cpu");
const read = (name) => readFileSync(resolve(ward, name), "utf8");

slipring.file("ward.h", read("ward.h"));
const ring = device.compile(read("ward.cu"), { name: "ward.cu" }).ring("detect");
const adc = samplesOf(read("mitdb-208-excerpt.csv")), beats = [];
const take = (timeout) => {
    for (let reply; (reply = ring.receive({ timeout })); )
        beats.push(reply.value);
};
for (let at = 0; at + WARD_SAMPLES <= adc.length; at += WARD_SAMPLES) {
    ring.send({ adc: adc.slice(at, at + WARD_SAMPLES) });
    take(0);
}
while (ring.stats.pending)
    take(1);
take(0);
device.close();
process.stdout.write(csvOf(beats));
