// SPDX-License-Identifier: Apache-2.0
// The worker that has slipring: it plays the recording to a ring kernel, 100 ms a message, and tells the page what comes back.
// It is told { run, pause, compile, check, restart, device }, and tells { ready, progress, refused, checked, opened, failed }. What
// a GPU device is asked is answered later, so each call is awaited, and what the page tells is done in its order.
import { load } from "./slipring.mjs";
import { samplesOf, WARD_RATE_HZ, WARD_SAMPLES } from "./beats.mjs";

const MESSAGE_MS = (1000 * WARD_SAMPLES) / WARD_RATE_HZ;
const PREVIEW_MESSAGES = 80; // the strip is full at once: 8 s
const PREVIEW_MS = 30000;    // at most, on a machine with much else to do: a fault ends it, too
const SLICE_MS = 30;         // of work before the page is told
const PATIENCE_MS = 60000;   // of a call: a GPU's first launch compiles
const LOOP_FUEL = 5e6;       // turns of loops a message: a handler without end faults, and the page lives on
const CHECK_STEPS = 2e6;     // instructions a launch that is checked
const GPU_MESSAGES = 16;     // at once, where several are due: a launch handles all that wait

let slipring, device, program, ring, samples;
let at = 0, faulted = 0, generation = 0, epoch = 0, source = ""; // epoch: of the page, which begins one with each restart
let playing = false, speed = 1, due = 0, timer = 0;

async function textOf(name) {
    const response = await fetch(name);
    if (!response.ok)
        throw new Error(`${name}: ${response.status} ${response.statusText}`);
    return response.text();
}

// ---- the ring kernel ------------------------------------------------------------------------------------------------

async function stop() {
    await ring?.close({ timeout: PATIENCE_MS });
    await program?.close();
    ring = program = undefined;
}

// The page draws replies by these names.
function ringOf(compiled) {
    const handlers = compiled.functions.filter((one) => one.kind === "ring");
    if (handlers.length !== 1)
        throw new Error(`ward.cu has ${handlers.length} handlers; the monitor sends its messages to one`);
    const [{ name, message, reply }] = handlers, has = (layout, field) => layout.fields.some((one) => one.name === field);
    const lost = [has(message, "adc") ? [] : "adc in its message", ["at", "rr_s", "alarm"].filter((one) => !has(reply, one))].flat();
    if (lost.length)
        throw new Error(`handler ${name} lacks ${lost.join(", ")}: the page sends and shows those`);
    return compiled.ring(name, { name: `${name} ${++generation}`, queueSize: 16, fuel: LOOP_FUEL });
}

// A program that does not compile changes nothing: the one before goes on.
async function take(text) {
    let compiled, made;
    const began = performance.now(), builtBefore = slipring.builtFound;
    try {
        compiled = await device.compile(text, { name: "ward.cu" });
        made = await ringOf(compiled);
    } catch (error) {
        await compiled?.close();
        postMessage({ type: "refused", message: error.message, diagnostics: error.diagnostics ?? [] });
        return undefined;
    }
    await stop();
    [program, ring, source, faulted] = [compiled, made, text, 0];
    return { milliseconds: performance.now() - began, ahead: slipring.builtFound > builtBefore };
}

async function drain(out) {
    for (let reply; (reply = await ring.receive({ timeout: 0 })); )
        if (reply.status === "SLR_OK")
            out.beats.push(reply.value);
}

// Some messages and what comes of them.
async function step(out, count) {
    const sent = performance.now();
    for (let i = 0; i < count; i++, at += WARD_SAMPLES)
        await ring.send({ adc: samples.subarray(at, at + WARD_SAMPLES) }, { timeout: PATIENCE_MS });
    do
        await drain(out);
    while ((await ring.stats).pending);
    await drain(out);
    for (let i = 0; i < count; i++)
        out.latencies.push(performance.now() - sent);
}

async function tell(out) {
    const { faulted: now, lastFault } = await ring.stats;
    postMessage({ type: "progress", ...out, epoch, at, ended: at + WARD_SAMPLES > samples.length,
                  fault: now > faulted ? lastFault : undefined, faulted: now });
    faulted = now;
}

async function play(most, slice = SLICE_MS) {
    const out = { beats: [], latencies: [] }, until = performance.now() + slice;
    const together = device.info.backend === "webgpu" ? GPU_MESSAGES : 1;
    while (out.latencies.length < most && at + WARD_SAMPLES <= samples.length && performance.now() < until) {
        const left = Math.floor((samples.length - at) / WARD_SAMPLES);
        await step(out, Math.min(together, left, most - out.latencies.length));
        if (slice !== SLICE_MS && (await ring.stats).faulted > faulted)
            break;
    }
    if (out.latencies.length)
        await tell(out);
    if (at + WARD_SAMPLES > samples.length)
        playing = false;
    return out.latencies.length;
}

// ---- time ------------------------------------------------------------------------------------------------------------

let last = Promise.resolve();

// One thing is done at a time.
function inTurn(action) {
    last = last.then(action).catch((error) => postMessage({ type: "failed", message: error.message }));
    return last;
}

async function tick() {
    const now = performance.now();
    if (!playing)
        return;
    if (speed === 0) {
        await play(Infinity);
    } else {
        const pause = MESSAGE_MS / speed;
        due += (await play(Math.floor((now - due) / pause))) * pause;
        due = Math.max(due, now - 1000); // who was held up for longer does not catch up
    }
    clearTimeout(timer);
    if (playing)
        timer = setTimeout(() => inTurn(tick), speed === 0 ? 0 : Math.max(0, MESSAGE_MS / speed - (performance.now() - due)));
}

function run(wanted) {
    clearTimeout(timer);
    speed = wanted;
    due = performance.now();
    return tick();
}

async function restart(begun) {
    [at, epoch] = [0, begun];
    await take(source);
    await play(PREVIEW_MESSAGES, PREVIEW_MS);
}

async function check(text) {
    let checked;
    try {
        checked = await device.compile(text, { name: "ward.cu" });
        const began = performance.now(), findings = await checked.check(undefined, { steps: CHECK_STEPS });
        postMessage({ type: "checked", findings, milliseconds: performance.now() - began });
    } catch (error) {
        postMessage({ type: "refused", message: error.message, diagnostics: error.diagnostics ?? [] });
    } finally {
        await checked?.close();
    }
    due = performance.now(); // the recording stood still meanwhile
}

async function compile(text) {
    const taken = await take(text);
    if (taken)
        postMessage({ type: "compiled", ...taken });
    due = performance.now();
}

const open = (name) => name === "cpu" ? slipring.open(name) : slipring.openGpu(name);

// A device that is not there changes nothing.
async function change(name, begun) {
    let opened;
    try {
        opened = await open(name);
    } catch (error) {
        postMessage({ type: "opened", name: device.info.name, error: error.message });
        await restart(begun);
        return;
    }
    await stop();
    await device.close();
    [device, at, epoch] = [opened, 0, begun];
    const taken = await take(source);
    postMessage({ type: "opened", name, info: device.info, ...taken });
    await play(PREVIEW_MESSAGES, PREVIEW_MS);
}

onmessage = ({ data }) => {
    const { type } = data;
    if (type === "run")
        playing = true;
    else if (type !== "compile" && type !== "check")
        playing = false; // what is under way ends soon
    inTurn(() => type === "run" ? run(data.speed)
               : type === "compile" ? compile(data.source)
               : type === "check" ? check(data.source)
               : type === "device" ? change(data.name, data.epoch)
               : type === "restart" ? restart(data.epoch) : undefined);
};

async function begin() {
    const [library, text, header, csv, built] = await Promise.all(
        [load(), textOf("ward.cu"), textOf("ward.h"), textOf("mitdb-208-excerpt.csv"), textOf("built.json").then(JSON.parse)]);
    slipring = library;
    await Promise.all(built.map((name) => slipring.addBuilt(new URL(name, import.meta.url))));
    slipring.file("ward.h", header);
    samples = samplesOf(csv);
    device = slipring.open("cpu");
    const taken = await take(text);
    postMessage({ type: "ready", version: slipring.version, info: device.info, source: text, samples, ...taken });
    await play(PREVIEW_MESSAGES, PREVIEW_MS);
}
inTurn(begin);
