// SPDX-License-Identifier: Apache-2.0
// slipring for JavaScript: a page, a worker, or node. Beside it lie slipring.wasm and slipring-emscripten.mjs; and the library
// with threads, which a page that is cross-origin isolated loads: slipring-threads.wasm, .mjs and .worker.js.
//
//     import { load } from "./slipring.mjs";
//     const slipring = await load();
//     slipring.file("ward.h", header); // for #include "ward.h"
//     const device = slipring.open("cpu");
//     const program = device.compile(source, { name: "ward.cu" });
//     const ring = program.ring("detect", { instances: 4 });
//     const reply = ring.call({ adc: samples });
//     device.close();
//
// Every call is synchronous, and returns at its deadline (`timeout`, in milliseconds) at the latest. What belongs to a GPU
// device (`await slipring.openGpu()`) has the same calls, each of which gives a promise. The types are in slipring.d.mts.

const DEFAULT_TIMEOUT_MS = 5000;

// slr_scalar: name, bytes, and how a DataView reads and writes it.
const SCALARS = [
    null,
    ["bool", 1, "Uint8"], ["i8", 1, "Int8"], ["u8", 1, "Uint8"], ["i16", 2, "Int16"], ["u16", 2, "Uint16"],
    ["i32", 4, "Int32"], ["u32", 4, "Uint32"], ["i64", 8, "BigInt64"], ["u64", 8, "BigUint64"],
    ["f32", 4, "Float32"], ["f64", 8, "Float64"],
];
const U64 = 9, F32 = 10;
const KINDS = [null, "ring", "ring_block", "kernel", "ring_batch"];
const LEVELS = [null, "error", "warning", "note"];
const ARG_SIGNED = 1, ARG_UNSIGNED = 2, ARG_FLOAT = 3, ARG_BUFFER = 4, ARG_BYTES = 16;
const SHAPE_BYTES = 56, BINDING_BYTES = 24, RING_OPTIONS_BYTES = 36;
const RESULT = { status: 0, value: 1, text: 2, reply: 3, done: 7 };

/** What failed: `status` is slipring's name of it ("SLR_COMPILE"), the message says what and where. */
export class SlipringError extends Error {
    constructor(status, message) {
        super(message);
        this.name = "SlipringError";
        this.status = status;
        /** Of a source that does not compile: where. */
        this.diagnostics = status === "SLR_COMPILE" ? readDiagnostics(message) : [];
    }
}

// "file:line:column: error SLR-K012: text", of which there may be many, each with its line, a caret and advice below.
function readDiagnostics(message) {
    const found = [];
    for (const line of message.split("\n")) {
        const parts = /^(.*?):(\d+):(\d+): (error|warning|note) ?(SLR-\w+)?: (.*)$/.exec(line);
        if (parts)
            found.push({ file: parts[1], line: +parts[2], column: +parts[3], level: parts[4], code: parts[5], message: parts[6],
                         advice: "" });
        else if (line.startsWith("advice: ") && found.length)
            found.at(-1).advice = line.slice("advice: ".length);
    }
    return found;
}

function fail(status, message) {
    throw new SlipringError(status, message);
}

// What follows a call, now or when it has ended.
function then(value, next) {
    return value instanceof Promise ? value.then(next) : next(value);
}

// ---- the library's memory -------------------------------------------------------------------------------------------

// The module, and pieces of its memory that last for one call.
class Core {
    constructor(module) {
        this.module = module;
        module._bridge_share_memory();
        this.result = module._bridge_get_result();
        this.taken = [];
        this.calls = 0; // of GPU devices that have not ended
    }

    // Any thread may make the memory grow.
    get heap() {
        if (this.bytesNow?.buffer !== this.module.memory.buffer)
            this.bytesNow = new Uint8Array(this.module.memory.buffer);
        return this.bytesNow;
    }

    take(bytes) {
        const at = this.module._malloc(bytes || 1);
        if (!at)
            fail("SLR_NO_MEMORY", `slipring: no memory for ${bytes} bytes`);
        this.taken.push(at);
        return at;
    }

    bytes(from) {
        const view = ArrayBuffer.isView(from) ? new Uint8Array(from.buffer, from.byteOffset, from.byteLength)
                                              : new Uint8Array(from);
        const at = this.take(view.length);
        this.heap.set(view, at);
        return at;
    }

    text(text) {
        return text === undefined || text === null ? 0 : this.bytes(new TextEncoder().encode(`${text}\0`));
    }

    view(at, bytes) {
        return new DataView(this.heap.buffer, at, bytes);
    }

    copy(at, bytes) {
        return this.heap.slice(at, at + bytes);
    }

    read(at) {
        const heap = this.heap;
        return at ? new TextDecoder().decode(heap.slice(at, heap.indexOf(0, at))) : "";
    }

    at(word) {
        return this.view(this.result + 4 * word, 4).getUint32(0, true);
    }

    free() {
        for (const at of this.taken.splice(0))
            this.module._free(at);
    }

    begin(name, args) {
        this.view(this.result + 4 * RESULT.done, 4).setUint32(0, 0, true);
        this.module[`_bridge_${name}`](...args(this));
    }

    end(use, soft) {
        const status = this.at(RESULT.status) | 0;
        if (status === 0)
            return use(this);
        const code = this.read(this.module._bridge_get_status_name(status));
        if (soft.includes(code))
            return undefined;
        return fail(code, this.read(this.module._bridge_get_message()));
    }

    // Calls what the bridge has under that name; `use` reads what it gave while its memory is there. The names of
    // statuses in `soft` are returned, not thrown.
    call(name, args, use = () => this.at(RESULT.value), soft = []) {
        if (this.calls)
            fail("SLR_WRONG_STATE", "slipring: a call of a GPU device has not ended; await it first");
        try {
            this.begin(name, args);
            return this.end(use, soft);
        } finally {
            this.free();
        }
    }

    json(name, args) {
        return this.call(name, args, (core) => JSON.parse(core.read(core.at(RESULT.text))));
    }
}

// The same for what belongs to a GPU device: the page's event loop goes on in the midst of a call, so each gives a promise.
// One is under way at a time, the others follow in their order.
class LaterCore extends Core {
    constructor(core) {
        super(core.module);
        this.first = core;
        this.last = Promise.resolve();
    }

    call(name, args, use = () => this.at(RESULT.value), soft = []) {
        const ended = this.last.then(() => this.run(name, args, use, soft));
        this.last = ended.catch(() => {});
        this.first.calls++;
        return ended;
    }

    async run(name, args, use, soft) {
        try {
            const done = new Promise((resolve) => { this.module.onDone = resolve; });
            this.begin(name, args);
            if (!this.at(RESULT.done))
                await done;
            return this.end(use, soft);
        } finally {
            this.module.onDone = undefined;
            this.free();
            this.first.calls--; // before whoever awaits it goes on
        }
    }
}

// A handle of the library. Closing it twice is fine, using it afterwards is said. A device closes what was made of it.
class Handle {
    constructor(core, handle, what, device) {
        Object.defineProperty(this, "core", { value: core });
        Object.defineProperty(this, "of", { value: device });
        device?.made.add(this);
        Object.defineProperty(this, "handle", { value: handle, writable: true });
        Object.defineProperty(this, "what", { value: what });
    }

    get open() {
        if (!this.handle)
            fail("SLR_WRONG_STATE", `${this.what} was closed`);
        return this.handle;
    }

    release(call) {
        const handle = this.handle;
        this.handle = 0;
        this.of?.made.delete(this);
        return handle ? this.core.call(call, () => [handle], () => undefined) : undefined;
    }

    // As its device closes.
    discard() {
        return this.close();
    }
}

// ---- structs ----------------------------------------------------------------------------------------------------------

function writeField(view, field, value) {
    const [name, bytes, as] = SCALARS[field.scalar] ?? fail("SLR_UNSUPPORTED", `field ${field.name} has no type here`);
    const values = field.isArray ? value : [value];
    if (values.length > field.count)
        fail("SLR_INVALID", `field ${field.name}: ${values.length} values for ${field.count} of ${name}`);
    for (let i = 0; i < values.length; i++)
        view[`set${as}`](field.offset + i * bytes, bytes === 8 && as !== "Float64" ? BigInt(values[i]) : values[i], true);
}

function readField(view, field) {
    const [, bytes, as] = SCALARS[field.scalar];
    const values = [];
    for (let i = 0; i < field.count; i++)
        values.push(view[`get${as}`](field.offset + i * bytes, true));
    if (field.isText)
        return String.fromCharCode(...values.slice(0, values.indexOf(0) < 0 ? undefined : values.indexOf(0)));
    return field.isArray ? values : values[0];
}

// Bytes as they are, or an object by the names of the struct's fields; what is left out is 0.
function encode(layout, value) {
    if (ArrayBuffer.isView(value) || value instanceof ArrayBuffer)
        return value;
    const bytes = new Uint8Array(layout.bytes), view = new DataView(bytes.buffer);
    for (const [name, one] of Object.entries(value)) {
        const field = layout.fields.find((f) => f.name === name);
        if (!field)
            fail("SLR_INVALID", `struct ${layout.name} has no field '${name}'; it has ${layout.fields.map((f) => f.name)}`);
        writeField(view, field, one);
    }
    return bytes;
}

function decode(layout, bytes) {
    const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    return Object.fromEntries(layout.fields.map((field) => [field.name, readField(view, field)]));
}

// ---- objects ----------------------------------------------------------------------------------------------------------

const nothing = () => undefined;

export class Buffer extends Handle {
    constructor(core, handle, device, bytes) {
        super(core, handle, "the buffer", device);
        this.bytes = bytes;
    }

    static make(device, bytes) {
        return then(device.core.call("buffer", () => [device.open, bytes]), (handle) => new Buffer(device.core, handle, device, bytes));
    }

    write(from, offset = 0) {
        const bytes = from.byteLength;
        return this.core.call("buffer_write", (core) => [this.open, offset, core.bytes(from), bytes], nothing);
    }

    /** Reads into a typed array of that class: `buffer.read(Float32Array)`. */
    read(Type = Uint8Array, offset = 0, bytes = this.bytes - offset) {
        let at;
        return this.core.call("buffer_read", (core) => [this.open, offset, at = core.take(bytes), bytes],
                              (core) => new Type(core.copy(at, bytes).buffer));
    }

    close() {
        return this.release("buffer_destroy");
    }
}

function writeArgument(view, at, parameter, value) {
    const kind = parameter.isBuffer ? ARG_BUFFER : parameter.scalar >= F32 ? ARG_FLOAT
               : parameter.scalar === U64 ? ARG_UNSIGNED : ARG_SIGNED;
    if (parameter.isBuffer !== (value instanceof Buffer ? 1 : 0))
        fail("SLR_INVALID", `parameter ${parameter.name} takes ${parameter.isBuffer ? "a buffer" : "a number"}`);
    view.setUint32(at, kind, true);
    if (kind === ARG_BUFFER)
        view.setUint32(at + 8, value.open, true);
    else if (kind === ARG_FLOAT)
        view.setFloat64(at + 8, value, true);
    else if (kind === ARG_UNSIGNED)
        view.setBigUint64(at + 8, BigInt(value), true);
    else
        view.setBigInt64(at + 8, BigInt(value), true);
}

const three = (of, rest) => [0, 1, 2].map((i) => (typeof of === "number" ? [of] : of ?? [])[i] ?? rest);

function writeShape(view, shape) {
    const grid = shape.grid === undefined ? [0, 0, 0] : three(shape.grid, 1);
    const block = shape.block === undefined ? [0, 0, 0] : three(shape.block, 1);
    three(shape.threads, 1).forEach((n, i) => view.setBigUint64(8 * i, BigInt(shape.grid === undefined ? n : 0), true));
    block.forEach((n, i) => view.setUint32(24 + 4 * i, n, true));
    grid.forEach((n, i) => view.setUint32(36 + 4 * i, n, true));
    view.setUint32(48, shape.sharedBytes ?? 0, true);
    view.setUint32(52, 0, true);
}

export class Kernel extends Handle {
    constructor(core, handle, program, description) {
        super(core, handle, `kernel ${description.name}`, program.device);
        this.device = program.device;
        this.name = description.name;
        this.parameters = description.parameters;
    }

    static make(program, description) {
        return then(program.core.call("kernel", (c) => [program.open, c.text(description.name)]),
                    (handle) => new Kernel(program.core, handle, program, description));
    }

    /** Appends a launch to the device's work: shape { threads, block } or { grid, block, sharedBytes }. */
    launch(shape, args = []) {
        if (args.length !== this.parameters.length)
            fail("SLR_INVALID", `${this.what} takes ${this.parameters.length} arguments, not ${args.length}`);
        return this.core.call("launch", (core) => {
            const shapeAt = core.take(SHAPE_BYTES), argsAt = core.take(ARG_BYTES * args.length);
            writeShape(core.view(shapeAt, SHAPE_BYTES), shape);
            args.forEach((arg, i) => writeArgument(core.view(argsAt, ARG_BYTES * args.length), i * ARG_BYTES,
                                                   this.parameters[i], arg));
            return [this.device.open, this.open, shapeAt, argsAt, args.length];
        }, nothing);
    }

    close() {
        return this.release("kernel_destroy");
    }
}

/** Launches that are recorded once, between begin() and end(), and submitted together as often as wanted. */
export class Graph extends Handle {
    constructor(core, handle, device) {
        super(core, handle, "the graph", device);
        this.device = device;
    }

    static make(device) {
        return then(device.core.call("graph", () => [device.open]), (handle) => new Graph(device.core, handle, device));
    }

    use(what) {
        return this.core.call("graph_use", () => [this.device.open, this.open, what], nothing);
    }

    begin() {
        return this.use(0);
    }

    end() {
        return this.use(1);
    }

    launch() {
        return this.use(2);
    }

    close() {
        return this.release("graph_destroy");
    }
}

export class Ring extends Handle {
    constructor(core, handle, device, port, handler, options) {
        super(core, handle, `ring kernel ${options.name ?? handler.name}`, device);
        this.message = handler.message;
        this.reply = handler.reply;
        this.state = handler.state;
        Object.defineProperty(this, "port", { value: new Handle(core, port, this.what) });
    }

    static make(program, handler, options) {
        const { core, device } = program;
        return then(core.call("ring", (c) => [device.open, program.open, Ring.options(c, handler, options)]),
                    (handle) => then(core.call("port", () => [device.open]),
                                     (port) => new Ring(core, handle, device, port, handler, options)));
    }

    static options(core, handler, options) {
        const bindings = Object.entries(options.bindings ?? {});
        const list = core.take(BINDING_BYTES * bindings.length);
        bindings.forEach(([name, value], i) => Ring.bind(core, list + i * BINDING_BYTES, handler, name, value));
        const at = core.take(RING_OPTIONS_BYTES), view = core.view(at, RING_OPTIONS_BYTES);
        [core.text(options.name), core.text(handler.name), list, bindings.length, options.instances ?? 1,
         options.queueSize ?? 256, options.maxReplies ?? 1, (options.fuel ?? 0) % 2 ** 32,
         Math.floor((options.fuel ?? 0) / 2 ** 32)]
            .forEach((number, i) => view.setUint32(4 * i, number, true));
        return at;
    }

    static bind(core, at, handler, name, value) {
        const parameter = handler.parameters.find((p) => p.name === name);
        if (!parameter)
            fail("SLR_INVALID", `handler ${handler.name} has no parameter '${name}'`);
        let scalar = 0;
        if (!(value instanceof Buffer)) {
            scalar = core.take(8);
            writeField(core.view(scalar, 8), { name, scalar: parameter.scalar, count: 1, offset: 0 }, value);
        }
        const text = core.text(name), view = core.view(at, BINDING_BYTES);
        [text, scalar ? 0 : value.open, scalar, 0, scalar ? parameter.bytes : 0, 0]
            .forEach((number, i) => view.setUint32(4 * i, number, true));
    }

    /** Sends a message: bytes, or an object by the names of its struct's fields. */
    send(message, { instance = 0, timeout = DEFAULT_TIMEOUT_MS } = {}) {
        const bytes = encode(this.message, message);
        return this.core.call("send", (c) => [this.port.open, this.open, instance, c.bytes(bytes), bytes.byteLength, timeout],
                              nothing);
    }

    /** The next reply, or undefined at the deadline: { instance, status, correlation, bytes, value }. */
    receive({ timeout = DEFAULT_TIMEOUT_MS } = {}) {
        let at;
        const room = this.reply.bytes;
        return this.core.call("receive", (core) => [this.port.open, at = core.take(room), room, timeout], (core) => {
            const [instance, status, correlation, bytes] = [0, 1, 2, 3].map((i) => core.at(RESULT.reply + i));
            const payload = core.copy(at, bytes);
            return { instance, status: core.read(core.module._bridge_get_status_name(status | 0)), correlation,
                     bytes: payload, value: bytes ? decode(this.reply, payload) : undefined };
        }, ["SLR_TIMEOUT"]);
    }

    /** Sends a message and waits for its reply. */
    call(message, { instance = 0, timeout = DEFAULT_TIMEOUT_MS } = {}) {
        let at;
        const bytes = encode(this.message, message), room = this.reply.bytes;
        return this.core.call("call", (core) => [this.port.open, this.open, instance, core.bytes(bytes), bytes.byteLength,
                                                 at = core.take(room), room, timeout],
                              (core) => decode(this.reply, core.copy(at, room)));
    }

    get stats() {
        return this.core.json("ring_describe", () => [this.open]);
    }

    close({ timeout = DEFAULT_TIMEOUT_MS } = {}) {
        if (!this.handle)
            return undefined;
        return then(this.core.call("ring_terminate", () => [this.open, timeout], nothing), () => this.discard());
    }

    // Whatever it still has to handle.
    discard() {
        return then(this.port.release("port_close"), () => this.release("ring_destroy"));
    }
}

export class Program extends Handle {
    constructor(core, handle, device, name, functions) {
        super(core, handle, `program ${name}`, device);
        this.device = device;
        this.functions = functions.map((one) => ({ ...one, kind: KINDS[one.kind] }));
    }

    static make(device, source, { name = "source.cu", defines = {} } = {}) {
        const core = device.core;
        return then(core.call("compile", (c) => {
            const texts = Object.entries(defines).map(([key, value]) => c.text(`${key}=${value}`)), at = c.take(4 * texts.length);
            texts.forEach((text, i) => c.view(at, 4 * texts.length).setUint32(4 * i, text, true));
            return [device.open, c.text(name), c.text(source), at, texts.length];
        }), (handle) => then(core.json("program_describe", () => [handle]),
                             (functions) => new Program(core, handle, device, name, functions)));
    }

    find(name, isKernel) {
        const fit = this.functions.filter((f) => (f.kind === "kernel") === isKernel && (name === undefined || f.name === name));
        if (fit.length !== 1)
            fail("SLR_NOT_FOUND", `${this.what} has ${fit.length ? "several" : "no"} ${isKernel ? "kernels" : "handlers"}` +
                 `${name === undefined ? "" : ` '${name}'`}; it has ${this.functions.map((f) => f.name).join(", ") || "none"}`);
        return fit[0];
    }

    kernel(name) {
        return Kernel.make(this, this.find(name, true));
    }

    /** A ring kernel, launched and active: { name, instances, queueSize, maxReplies, fuel, bindings }. */
    ring(name, options = {}) {
        return Ring.make(this, this.find(name, false), options);
    }

    /** As `slipring kernel check`: what is wrong with a handler or a kernel when it runs. */
    check(name, { steps = 0 } = {}) {
        const wanted = name === undefined ? this.functions : this.functions.filter((f) => f.name === name);
        const lists = wanted.map((f) => then(
            this.core.json("check", (c) => [this.open, c.text(f.name), f.kind === "kernel" ? 1 : 0, steps]),
            (findings) => findings.map((finding) => ({ ...finding, function: f.name, level: LEVELS[finding.level],
                                                       code: `SLR-C${String(finding.code).padStart(3, "0")}` }))));
        return then(lists[0] instanceof Promise ? Promise.all(lists) : lists, (all) => all.flat());
    }

    close() {
        return this.release("program_destroy");
    }
}

export class Device extends Handle {
    constructor(core, handle, name, info) {
        super(core, handle, `device ${name}`);
        Object.defineProperty(this, "made", { value: new Set() });
        this.info = info;
    }

    static make(core, name) {
        return then(core.call("open", (c) => [c.text(name)]),
                    (handle) => then(core.json("describe", () => [handle]), (info) => new Device(core, handle, name, info)));
    }

    /** Compiles CUDA-like source: { name, defines }. Errors have `diagnostics`. */
    compile(source, options = {}) {
        return Program.make(this, source, options);
    }

    /** A buffer of so many bytes, or with the contents of a typed array. */
    buffer(of) {
        const made = Buffer.make(this, typeof of === "number" ? of : of.byteLength);
        return typeof of === "number" ? made : then(made, (buffer) => then(buffer.write(of), () => buffer));
    }

    /** A recording of launches. */
    graph() {
        return Graph.make(this);
    }

    /** Waits for all launches so far; a fault of one is thrown. */
    finish({ timeout = DEFAULT_TIMEOUT_MS } = {}) {
        return this.core.call("finish", () => [this.open, timeout], nothing);
    }

    /** What the device counts, by name. */
    get metrics() {
        return this.core.json("metrics", () => [this.open]);
    }

    /** Closes what was made of it, too. */
    close() {
        const closed = [...this.made].reverse().map((one) => one.discard());
        return then(closed.some((one) => one instanceof Promise) ? Promise.all(closed) : undefined, () => this.release("close"));
    }
}

// An error of the library's JavaScript has a status.
function asError(error) {
    throw error.status ? new SlipringError(error.status, error.message) : error;
}

export class Slipring {
    constructor(core, threads, loadGpu) {
        Object.defineProperty(this, "core", { value: core });
        Object.defineProperty(this, "loadGpu", { value: loadGpu });
        Object.defineProperty(this, "files", { value: new Map() });
        this.version = core.read(core.module._bridge_get_version());
        /** Of the library beside the caller's: 0 where its tasks take turns. */
        this.threads = threads;
    }

    /** Puts a file where `#include "path"` finds it. */
    file(path, text) {
        putFile(this.core, path, text);
        this.files.set(path, text);
        this.gpu?.then((later) => putFile(later.first, path, text));
    }

    /**
     * Adds code that `slipring build --target wasm` has made: its bytes, or where they are. Programs that are compiled from now
     * on have it in place of the interpreter, where their text is the same. Gives the number of texts.
     */
    async addBuilt(from) {
        const bytes = ArrayBuffer.isView(from) || from instanceof ArrayBuffer
            ? from : await fetchBytes(new URL(from, globalThis.location?.href));
        return this.core.module.addBuilt(bytes).catch(asError);
    }

    /** Handlers and kernels so far that had such code. */
    get builtFound() {
        return this.core.module._slri_dl_built_found();
    }

    open(name = "cpu") {
        if (/^webgpu\b/.test(name))
            fail("SLR_WRONG_STATE", `device ${name} answers by promises; use await slipring.openGpu("${name}")`);
        return Device.make(this.core, name);
    }

    /** A device by navigator.gpu. All calls of it, and of what it makes, give promises. */
    async openGpu(name = "webgpu:0") {
        this.gpu ??= this.loadGpu(this.core).then((core) => {
            if (core !== this.core)
                this.files.forEach((text, path) => putFile(core, path, text));
            return new LaterCore(core);
        });
        return Device.make(await this.gpu, name);
    }
}

function putFile(core, path, text) {
    core.call("file", (c) => [c.text(path), c.text(text)]);
}

// ---- loading ----------------------------------------------------------------------------------------------------------

async function fetchBytes(url) {
    if (url.protocol === "file:") { // node
        const { readFile } = await import("node:fs/promises");
        return readFile(url).catch((error) => fail("SLR_NOT_FOUND", `slipring: ${error.message}`));
    }
    const response = await fetch(url);
    if (!response.ok)
        fail("SLR_NOT_FOUND", `slipring: ${url} gives ${response.status} ${response.statusText}`);
    return response.arrayBuffer();
}

// Most of the cores of a machine that a page takes, and threads beside one for each core's owner and one for its blocks: those of
// streams, of what is printed, and the watchdog.
const MOST_CORES = 8, MORE_THREADS = 6;

async function start(loader, wasm, settings) {
    const [{ default: begin }, wasmBinary] = await Promise.all([import(loader), fetchBytes(new URL(wasm, import.meta.url))]);
    return new Promise((resolve, reject) => {
        // Emscripten waits for its workers for ever; of one that cannot begin it says so here.
        const printErr = (text) => (/^worker sent an error/.test(text) ? reject(new SlipringError("SLR_SYSTEM", `slipring: ${text}`))
                                                                       : console.error(text));
        begin({ ...settings, wasmBinary, printErr }).then(resolve, reject);
    });
}

async function startInTurns(wasm, onPrint) {
    const module = await start("./slipring-emscripten.mjs", wasm, { onPrint });
    return new Core(module);
}

async function startThreads(cores, onPrint) {
    const carriers = 2 * cores + MORE_THREADS;
    const module = await start("./slipring-threads.mjs", "./slipring-threads.wasm", { onPrint, carriers });
    return [new Core(module), module._slri_carriers_begin(cores, carriers)];
}

/**
 * Loads the library: { wasm: URL of slipring.wasm, onPrint(kernel, text, lost), cores }. With more than one core it has threads,
 * which a page must be cross-origin isolated for; by default it has them where the page is.
 */
export async function load({ wasm = "./slipring.wasm", onPrint, cores } = {}) {
    const isolated = globalThis.crossOriginIsolated === true;
    const taken = cores ?? (isolated ? Math.min(globalThis.navigator?.hardwareConcurrency ?? 1, MOST_CORES) : 1);
    if (taken > 1 && !isolated)
        fail("SLR_UNSUPPORTED", `slipring: ${taken} cores were asked for, but this page has no threads: it is not cross-origin isolated`);
    if (taken <= 1)
        return new Slipring(await startInTurns(wasm, onPrint), 0, async (core) => core);
    const [core, threads] = await startThreads(taken, onPrint);
    return new Slipring(core, threads, () => startInTurns(wasm, onPrint)); // a browser's GPU belongs to one thread
}
