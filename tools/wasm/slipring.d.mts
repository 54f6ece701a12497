// SPDX-License-Identifier: Apache-2.0
// The types of slipring.mjs. What fails throws a SlipringError, or rejects with one. Calls of what belongs to a GPU device give
// promises: of `Device<Later>`, and so on. All others are synchronous.

export type Now = "now";
export type Later = "later";
type Given<When, T> = When extends Now ? T : Promise<T>;

/** Where a source does not compile, or what the check has found. */
export interface Diagnostic {
    file: string;
    line: number;
    column: number;
    level: "error" | "warning" | "note";
    /** "SLR-K054" */
    code?: string;
    message: string;
    advice: string;
}

export interface Finding extends Diagnostic {
    /** The code's name: "shared-race". */
    name: string;
    /** Occurrences. */
    count: number;
    /** The handler or kernel. */
    function: string;
}

export class SlipringError extends Error {
    /** "SLR_COMPILE", "SLR_TIMEOUT": the names of include/slipring/status.h. */
    readonly status: string;
    /** With SLR_COMPILE; else empty. */
    readonly diagnostics: Diagnostic[];
}

export interface Field {
    name: string;
    scalar: number;
    count: number;
    offset: number;
    isArray: number;
    isText: number;
}

export interface Layout {
    name: string;
    bytes: number;
    fields: Field[];
}

export interface Parameter {
    name: string;
    /** As C writes it: "const float *". */
    type: string;
    isBuffer: number;
    scalar: number;
    bytes: number;
}

export interface FunctionInfo {
    name: string;
    kind: "ring" | "ring_block" | "ring_batch" | "kernel";
    line: number;
    parameters: Parameter[];
    /** Of handlers. */
    state?: Layout;
    message?: Layout;
    reply?: Layout;
}

export interface DeviceInfo {
    name: string;
    backend: string;
    description: string;
    engine: string;
    engineReason: string;
    memoryBytes: number;
}

type Value = number | bigint | string | ArrayLike<number | bigint>;
/** A struct: its bytes, or its fields by name. A field that is left out is 0. */
export type Struct = ArrayBuffer | ArrayBufferView | Record<string, Value>;
type TypedArrayClass<T> = new (buffer: ArrayBuffer) => T;

export interface Shape {
    /** Threads, at least; slipring chooses the blocks. */
    threads?: number | number[];
    block?: number | number[];
    /** Blocks, instead of `threads`. */
    grid?: number | number[];
    /** Of `extern __shared__` memory. */
    sharedBytes?: number;
}

export class Buffer<When = Now> {
    readonly bytes: number;
    write(from: ArrayBuffer | ArrayBufferView, offset?: number): Given<When, void>;
    read<T = Uint8Array>(type?: TypedArrayClass<T>, offset?: number, bytes?: number): Given<When, T>;
    close(): Given<When, void>;
}

export class Kernel<When = Now> {
    readonly name: string;
    readonly parameters: Parameter[];
    /** Begins a launch; Device.finish waits for it. */
    launch(shape: Shape, args?: (number | bigint | Buffer<When>)[]): Given<When, void>;
    close(): Given<When, void>;
}

/** Launches that are recorded once, between begin() and end(), and submitted together as often as wanted. */
export class Graph<When = Now> {
    begin(): Given<When, void>;
    end(): Given<When, void>;
    launch(): Given<When, void>;
    close(): Given<When, void>;
}

export interface Reply {
    instance: number;
    /** "SLR_OK"; a notice, which has no value: "SLR_HANDLER_FAULT", "SLR_DROPPED". */
    status: string;
    correlation: number;
    bytes: Uint8Array;
    value?: Record<string, Value>;
}

export interface RingStats {
    state: string;
    accepted: number;
    handled: number;
    faulted: number;
    pending: number;
    replied: number;
    lastFault: string;
    firstFault: string;
}

export interface RingOptions {
    /** Unique on the device; the handler's name. */
    name?: string;
    /** 1. */
    instances?: number;
    /** Messages that may wait; 256. */
    queueSize?: number;
    /** Of a message; 1. */
    maxReplies?: number;
    /** Turns of loops a message; 2^32. */
    fuel?: number;
    /** The handler's parameters after its message. */
    bindings?: Record<string, number | bigint | Buffer<Now> | Buffer<Later>>;
}

interface Wait {
    /** Milliseconds; 5000. 0: not at all. */
    timeout?: number;
}

export class Ring<When = Now> {
    readonly message: Layout;
    readonly reply: Layout;
    readonly state: Layout;
    readonly stats: Given<When, RingStats>;
    send(message: Struct, options?: Wait & { instance?: number }): Given<When, void>;
    /** The next reply; undefined at the deadline. Handlers run meanwhile. */
    receive(options?: Wait): Given<When, Reply | undefined>;
    call(message: Struct, options?: Wait & { instance?: number }): Given<When, Record<string, Value>>;
    close(options?: Wait): Given<When, void>;
}

export class Program<When = Now> {
    readonly functions: FunctionInfo[];
    /** By its name, or the only one. */
    kernel(name?: string): Given<When, Kernel<When>>;
    /** A ring kernel, launched and active. */
    ring(name?: string, options?: RingOptions): Given<When, Ring<When>>;
    /** As `slipring kernel check`; without a name of all functions. */
    check(name?: string, options?: { steps?: number }): Given<When, Finding[]>;
    close(): Given<When, void>;
}

export class Device<When = Now> {
    readonly info: DeviceInfo;
    compile(source: string, options?: { name?: string; defines?: Record<string, string | number> }): Given<When, Program<When>>;
    /** Of so many bytes, or with these contents. */
    buffer(of: number | ArrayBufferView): Given<When, Buffer<When>>;
    /** A recording of launches. */
    graph(): Given<When, Graph<When>>;
    /** Waits for the launches so far. */
    finish(options?: Wait): Given<When, void>;
    /** What the device counts, by name. */
    readonly metrics: Given<When, Record<string, number>>;
    close(): Given<When, void>;
}

export class Slipring {
    readonly version: string;
    /** Of the library, beside the caller's; 0: its tasks take turns on that. */
    readonly threads: number;
    /** Puts a file where `#include "path"` finds it. */
    file(path: string, text: string): void;
    /**
     * Adds code that `slipring build --target wasm` has made: its bytes, or where they are. Programs that are compiled from now on
     * have it in place of the interpreter, where their text is the same. Gives the number of texts.
     */
    addBuilt(from: ArrayBuffer | ArrayBufferView | string | URL): Promise<number>;
    /** Handlers and kernels so far that had such code. */
    readonly builtFound: number;
    /** "cpu", "null". */
    open(name?: string): Device;
    /** "webgpu:0": by navigator.gpu. */
    openGpu(name?: string): Promise<Device<Later>>;
}

export function load(options?: {
    /** Of slipring.wasm; beside the module. */
    wasm?: string | URL;
    /** What kernels have printed, before the next call returns. */
    onPrint?: (kernel: string, text: string, lost: number) => void;
    /** That the library takes. By default those of the machine, 8 at most, where the page is cross-origin isolated; else 1. */
    cores?: number;
}): Promise<Slipring>;
