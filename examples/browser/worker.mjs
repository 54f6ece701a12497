// SPDX-License-Identifier: Apache-2.0
// The worker that has slipring: it plays the recording to a ring kernel, 100 ms a message, and tells the page what comes back.
// It is told { run, pause, compile, check, restart }, and tells { ready, progress, refused, checked, failed }.
import { load } from "./slipring.mjs";
import { samplesOf, WARD_RATE_HZ, WARD_SAMPLES } from "./beats.mjs";

const MESSAGE_MS = (1000 * WARD_SAMPLES) / WARD_RATE_HZ;
const PREVIEW_MESSAGES = 80; // the strip is full at once: 8 s
const PREVIEW_MS = 1000;     // at most
const SLICE_MS = 30;         // of work before the page is told
const LOOP_FUEL = 5e6;       // turns of loops a message: a handler without end faults, and the page lives on
const CHECK_STEPS = 2e6;     // instructions a launch that is checked

let device, program, ring, samples;
let at = 0, faulted = 0, generation = 0, source = "";
let playing = false, speed = 1, due = 0, timer = 0;

async function textOf(name) {
    const response = await fetch(name);
    if (!response.ok)
        throw new Error(`${name}: ${response.status} ${response.statusText}`);
    return response.text();
}

// ---- the ring kernel ------------------------------------------------------------------------------------------------

function stop() {
    ring?.close();
    program?.close();
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
function take(text) {
    let compiled, made;
    const began = performance.now();
    try {
        compiled = device.compile(text, { name: "ward.cu" });
        made = ringOf(compiled);
    } catch (error) {
        compiled?.close();
        postMessage({ type: "refused", message: error.message, diagnostics: error.diagnostics ?? [] });
        return undefined;
    }
    stop();
    [program, ring, source, faulted] = [compiled, made, text, 0];
    return performance.now() - began;
}

// One message and what comes of it.
function step(out) {
    const adc = samples.subarray(at, at + WARD_SAMPLES), sent = performance.now();
    ring.send({ adc });
    do {
        for (let reply; (reply = ring.receive({ timeout: 0 })); )
            if (reply.status === "SLR_OK")
                out.beats.push(reply.value);
    } while (ring.stats.pending);
    for (let reply; (reply = ring.receive({ timeout: 0 })); )
        if (reply.status === "SLR_OK")
            out.beats.push(reply.value);
    out.latencies.push(performance.now() - sent);
    at += WARD_SAMPLES;
}

function tell(out) {
    const { faulted: now, lastFault } = ring.stats;
    postMessage({ type: "progress", ...out, at, ended: at + WARD_SAMPLES > samples.length,
                  fault: now > faulted ? lastFault : undefined, faulted: now });
    faulted = now;
}

function play(most, slice = SLICE_MS) {
    const out = { beats: [], latencies: [] }, until = performance.now() + slice;
    for (let i = 0; i < most && at + WARD_SAMPLES <= samples.length && performance.now() < until; i++)
        step(out);
    if (out.latencies.length)
        tell(out);
    if (at + WARD_SAMPLES > samples.length)
        playing = false;
    return out.latencies.length;
}

// ---- time ------------------------------------------------------------------------------------------------------------

function tick() {
    const now = performance.now();
    if (!playing)
        return;
    if (speed === 0) {
        play(Infinity);
    } else {
        const step = MESSAGE_MS / speed;
        due += play(Math.floor((now - due) / step)) * step;
        due = Math.max(due, now - 1000); // who was held up for longer does not catch up
    }
    if (playing)
        timer = setTimeout(tick, speed === 0 ? 0 : Math.max(0, MESSAGE_MS / speed - (performance.now() - due)));
}

function run(wanted) {
    clearTimeout(timer);
    speed = wanted;
    playing = true;
    due = performance.now();
    tick();
}

function restart() {
    at = 0;
    take(source);
    play(PREVIEW_MESSAGES, PREVIEW_MS);
}

function check(text) {
    let checked;
    try {
        checked = device.compile(text, { name: "ward.cu" });
        const began = performance.now(), findings = checked.check(undefined, { steps: CHECK_STEPS });
        postMessage({ type: "checked", findings, milliseconds: performance.now() - began });
    } catch (error) {
        postMessage({ type: "refused", message: error.message, diagnostics: error.diagnostics ?? [] });
    } finally {
        checked?.close();
    }
    due = performance.now(); // the recording stood still meanwhile
}

function compile(text) {
    const milliseconds = take(text);
    if (milliseconds !== undefined)
        postMessage({ type: "compiled", milliseconds });
    due = performance.now();
}

onmessage = ({ data }) => {
    const { type } = data;
    if (type === "run")
        run(data.speed);
    else if (type === "pause")
        playing = false;
    else if (type === "compile")
        compile(data.source);
    else if (type === "check")
        check(data.source);
    else
        restart();
};

async function begin() {
    const [slipring, text, header, csv] =
        await Promise.all([load(), textOf("ward.cu"), textOf("ward.h"), textOf("mitdb-208-excerpt.csv")]);
    slipring.file("ward.h", header);
    samples = samplesOf(csv);
    device = slipring.open("cpu");
    const milliseconds = take(text);
    postMessage({ type: "ready", version: slipring.version, info: device.info, source: text, samples, milliseconds });
    play(PREVIEW_MESSAGES, PREVIEW_MS);
}
begin().catch((error) => postMessage({ type: "failed", message: error.message }));
