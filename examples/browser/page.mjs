// SPDX-License-Identifier: Apache-2.0
// The page: what the worker tells is drawn, and what the user does is told to the worker.
import { csvOf, WARD_RATE_HZ } from "./beats.mjs";
import { drawStrip } from "./strip.mjs";
import { showLines, showVerdict, goToLine } from "./editor.mjs";

const $ = (id) => document.getElementById(id);
const worker = new Worker(new URL("./worker.mjs", import.meta.url), { type: "module" });
const state = { samples: new Int16Array(0), at: 0, beats: [], latencies: [], playing: false, ended: false, epoch: 0, original: "" };

// ---- the monitor -----------------------------------------------------------------------------------------------------

const minutes = (seconds) => `${Math.floor(seconds / 60)}:${String(Math.floor(seconds % 60)).padStart(2, "0")}`;

// Of many: a page's clock has steps of 100 µs.
function meanOf(values) {
    return values.reduce((sum, value) => sum + value, 0) / values.length;
}

function shown(milliseconds) {
    return milliseconds < 1 ? `${Math.round(1000 * milliseconds)} µs` : `${milliseconds.toFixed(1)} ms`;
}

function redraw() {
    const last = state.beats.slice(-9).map((beat) => beat.rr_s).filter((seconds) => seconds > 0);
    $("rate").textContent = last.length ? Math.round(60 / meanOf(last)) : "–";
    $("beats").textContent = state.beats.length;
    $("alarms").textContent = state.beats.filter((beat) => beat.alarm).length;
    $("alarms").parentElement.classList.toggle("alert", state.beats.some((beat) => beat.alarm));
    $("latency").textContent = state.latencies.length ? shown(meanOf(state.latencies)) : "–";
    $("place").textContent = minutes(state.at / WARD_RATE_HZ);
    $("run").textContent = state.playing ? "Pause" : "Start";
    $("run").disabled = state.ended;
    drawStrip($("strip"), state);
}

function save() {
    URL.revokeObjectURL($("save").href);
    $("save").href = URL.createObjectURL(new Blob([csvOf(state.beats)], { type: "text/csv" }));
    $("save").hidden = false;
}

function note(beat) {
    const item = document.createElement("li");
    item.textContent = `${minutes(beat.at / WARD_RATE_HZ)}: ${beat.rr_s.toFixed(1)} s without a beat`;
    $("log").prepend(item);
}

function progress({ epoch, beats, latencies, at, ended, fault, faulted }) {
    if (epoch !== state.epoch) // what was there before a restart
        return;
    if (beats.length && !state.beats.length)
        document.documentElement.dataset.firstBeatMs = Math.round(performance.now());
    state.at = at;
    state.beats.push(...beats);
    state.latencies.push(...latencies);
    state.latencies.splice(0, state.latencies.length - 1000);
    beats.filter((beat) => beat.alarm).forEach(note);
    if (fault)
        showVerdict(`The handler has faulted, ${faulted} ${faulted === 1 ? "message" : "messages"} so far: ${fault}`, true, linesOf(fault));
    if (ended && !state.ended)
        end();
    redraw();
}

function end() {
    state.ended = true;
    state.playing = false;
    save();
    document.documentElement.dataset.state = "ended";
}

// "ward.cu:12:3" in a text, as a finding.
function linesOf(text) {
    const place = /ward\.cu:(\d+)/.exec(text);
    return place ? [{ file: "ward.cu", line: +place[1], message: text, level: "error" }] : [];
}

function run(playing) {
    if (state.ended)
        return;
    state.playing = playing;
    worker.postMessage(playing ? { type: "run", speed: Number($("speed").value) } : { type: "pause" });
    if (!playing && state.beats.length)
        save();
    redraw();
}

// The worker begins the recording anew, and tells its first seconds.
function restart(message = { type: "restart" }) {
    run(false);
    Object.assign(state, { at: 0, beats: [], latencies: [], ended: false });
    delete document.documentElement.dataset.state;
    $("log").replaceChildren();
    $("save").hidden = true;
    worker.postMessage({ ...message, epoch: ++state.epoch });
    redraw();
}

// ---- the handler -----------------------------------------------------------------------------------------------------

function ask(type) {
    showVerdict(type === "check" ? "Checking …" : "Compiling …", false, []);
    worker.postMessage({ type, source: $("source").value });
}

function verdictOf(findings, milliseconds) {
    const errors = findings.filter((one) => one.level === "error").length;
    const rest = findings.length - errors;
    const said = findings.length === 0 ? "The check has found nothing wrong" : `The check has found ${errors} ${errors === 1 ? "error" : "errors"} and ${rest} more`;
    showVerdict(`${said} (${shown(milliseconds)}).`, errors > 0, findings);
}

function showDevice(info, milliseconds, ahead) {
    const engine = ahead ? "compiled ahead to WebAssembly" : info.engine;
    $("device").textContent = `slipring ${state.version} on ${info.name}: ${info.description.replace(/ #\w+/, "")}, ${engine}. ` +
                              `The handler was ${ahead ? "taken" : "compiled"} in ${shown(milliseconds)}.`;
}

function ready({ version, info, source, samples, milliseconds, ahead }) {
    state.samples = samples;
    state.original = source;
    state.version = version;
    showDevice(info, milliseconds, ahead);
    $("length").textContent = minutes(samples.length / WARD_RATE_HZ);
    $("source").value = source;
    $("source").setSelectionRange(0, 0);
    $("source").scrollTop = 0;
    for (const id of ["source", "run", "restart", "on", "apply", "check", "reset"])
        $(id).disabled = false;
    showLines();
    redraw();
}

function opened({ name, info, error, milliseconds, ahead }) {
    $("on").value = name;
    $("on").disabled = false;
    if (error)
        showVerdict(`No other device: ${error}`, true, []);
    else if (milliseconds !== undefined)
        showDevice(info, milliseconds, ahead);
    redraw();
}

const told = {
    ready,
    progress,
    opened,
    compiled: ({ milliseconds, ahead }) => showVerdict(`It runs (${ahead ? "compiled ahead" : `compiled in ${shown(milliseconds)}`}).`, false, []),
    refused: ({ message, diagnostics }) => showVerdict(diagnostics.length ? `It does not compile: ${diagnostics.length} ` +
        `${diagnostics.length === 1 ? "error" : "errors"}. The code before goes on.` : message, true, diagnostics),
    checked: ({ findings, milliseconds }) => verdictOf(findings, milliseconds),
    failed: ({ message }) => { $("device").textContent = `slipring has failed: ${message}`; },
};

worker.onmessage = ({ data }) => told[data.type](data);
worker.onerror = (event) => told.failed({ message: event.message || "this browser runs no module workers" });

$("run").addEventListener("click", () => run(!state.playing));
$("restart").addEventListener("click", () => restart());
$("on").addEventListener("change", () => {
    $("on").disabled = true; // until it is open
    restart({ type: "device", name: $("on").value });
});
$("speed").addEventListener("change", () => state.playing && run(true));
$("apply").addEventListener("click", () => ask("compile"));
$("check").addEventListener("click", () => ask("check"));
$("reset").addEventListener("click", () => {
    $("source").value = state.original;
    showLines();
    ask("compile");
});
$("findings").addEventListener("click", ({ target }) => target.dataset.line && goToLine(Number(target.dataset.line)));
addEventListener("keydown", (event) => {
    const busy = /^(TEXTAREA|SELECT|BUTTON|A)$/.test(document.activeElement?.tagName ?? "");
    if (event.key === " " && !busy) {
        event.preventDefault();
        run(!state.playing);
    } else if (event.key === "Enter" && (event.ctrlKey || event.metaKey) && document.activeElement === $("source")) {
        event.preventDefault();
        ask("compile");
    }
});
addEventListener("resize", redraw);
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", redraw);
