// SPDX-License-Identifier: Apache-2.0
// A folder of static files in headless Chromium, by its debugging pipe. Nothing leaves this machine.
import { spawn } from "node:child_process";
import { createServer } from "node:http";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { extname, join, normalize } from "node:path";

const TYPES = { ".html": "text/html", ".css": "text/css", ".mjs": "text/javascript", ".js": "text/javascript", ".wasm": "application/wasm", ".csv": "text/csv" };

const AUTO_ATTACH = { autoAttach: true, waitForDebuggerOnStart: false, flatten: true };

/** Flags with which it has an adapter of WebGPU where there is no GPU. */
export const GPU = ["--enable-unsafe-webgpu", "--use-webgpu-adapter=swiftshader", "--enable-features=Vulkan"];

/** The two headers by which a page is cross-origin isolated, and may have threads. */
const ISOLATION = { "cross-origin-opener-policy": "same-origin", "cross-origin-embedder-policy": "require-corp" };

/**
 * Serves the folder on a free port of the loopback, without the file `but`, and what `more` has by its path: { address, close }.
 */
export async function serve(folder, { but, isolated = false, more = {} } = {}) {
    const server = createServer((request, response) => {
        const path = normalize(decodeURIComponent(new URL(request.url, "http://here").pathname));
        try {
            if (path === but)
                throw new Error(`${but} is left out`);
            const file = readFileSync(more[path] ?? join(folder, path === "/" ? "index.html" : path));
            response.writeHead(200, { "content-type": TYPES[extname(path)] ?? (path === "/" ? "text/html" : "text/plain"),
                                      ...(isolated ? ISOLATION : {}) });
            response.end(file);
        } catch {
            response.writeHead(404).end();
        }
    });
    await new Promise((listening) => server.listen(0, "127.0.0.1", listening));
    return { address: `http://127.0.0.1:${server.address().port}/`, close: () => server.close() };
}

/** A page of a browser of its own. `errors`: what its console and its network complained of. */
export class Page {
    static async open(address, { flags = [] } = {}) {
        const page = new Page();
        page.profile = mkdtempSync(join(tmpdir(), "slipring-chromium-"));
        page.process = spawn("chromium", ["--headless=new", "--no-sandbox", "--disable-dev-shm-usage", "--disable-background-networking",
            "--no-first-run", "--disable-gpu-watchdog", "--disable-hang-monitor", // which take a machine with much else to do for one that hangs
            `--user-data-dir=${page.profile}`, "--remote-debugging-pipe", ...flags, "about:blank"],
            { stdio: ["ignore", "ignore", "ignore", "pipe", "pipe"], detached: true }); // a process group of its own
        page.waiting = new Map();
        page.errors = [];
        page.number = 0;
        page.listen();
        const { targetId } = await page.firstTarget();
        page.session = (await page.send("Target.attachToTarget", { targetId, flatten: true }, undefined)).sessionId;
        for (const domain of ["Runtime", "Log", "Page", "Network"])
            await page.send(`${domain}.enable`);
        await page.send("Target.setAutoAttach", AUTO_ATTACH);
        await page.send("Page.navigate", { url: address });
        // Between two documents there may be none to ask.
        await page.until(`document.readyState === "complete" && location.href === ${JSON.stringify(address)}`, () => false);
        return page;
    }

    /** A browser may answer before it has opened its first page. */
    async firstTarget() {
        for (const end = Date.now() + 120000; Date.now() < end; await new Promise((soon) => setTimeout(soon, 50))) {
            const { targetInfos } = await this.send("Target.getTargets", {}, undefined);
            const found = targetInfos.find((one) => one.type === "page");
            if (found)
                return found;
        }
        throw new Error("chromium has no page within two minutes");
    }

    listen() {
        let text = "";
        this.process.stdio[4].setEncoding("utf8");
        this.process.stdio[4].on("data", (more) => {
            const parts = (text + more).split("\0");
            text = parts.pop();
            parts.forEach((part) => this.hear(JSON.parse(part)));
        });
        this.process.on("exit", () => {
            for (const { reject } of this.waiting.values())
                reject(new Error("chromium has ended"));
            this.waiting.clear();
        });
    }

    hear({ id, result, error, method, params }) {
        if (id !== undefined) {
            const waiting = this.waiting.get(id);
            this.waiting.delete(id);
            if (error)
                waiting?.reject(new Error(error.message));
            else
                waiting?.resolve(result);
        } else if (method === "Target.attachedToTarget") { // the page's workers, and theirs
            for (const [what, how] of [["Runtime.enable"], ["Target.setAutoAttach", AUTO_ATTACH]])
                this.send(what, how, params.sessionId).catch(() => {});
        } else if (method === "Runtime.exceptionThrown") {
            this.errors.push(params.exceptionDetails.exception?.description ?? params.exceptionDetails.text);
        } else if (method === "Runtime.consoleAPICalled" && /error|warning|assert/.test(params.type)) {
            this.errors.push(params.args.map((arg) => arg.value ?? arg.description).join(" "));
        } else if (method === "Log.entryAdded" && params.entry.level !== "info" && params.entry.level !== "verbose") {
            this.errors.push(`${params.entry.text} ${params.entry.url ?? ""}`);
        } else if (method === "Network.loadingFailed" && !params.canceled) {
            this.errors.push(params.errorText);
        }
    }

    send(method, params = {}, sessionId = this.session) {
        const id = ++this.number;
        this.process.stdio[3].write(`${JSON.stringify({ id, method, params, sessionId })}\0`);
        return new Promise((resolve, reject) => this.waiting.set(id, { resolve, reject }));
    }

    async evaluate(expression) {
        const { result, exceptionDetails } = await this.send("Runtime.evaluate", { expression, awaitPromise: true, returnByValue: true });
        if (exceptionDetails)
            throw new Error(exceptionDetails.exception?.description ?? exceptionDetails.text);
        return result.value;
    }

    /** Until the expression holds, two minutes at most. `otherwise`: what stands for one that throws. */
    async until(expression, otherwise = (error) => { throw error; }) {
        const end = Date.now() + 120000;
        while (!await this.evaluate(expression).catch(otherwise)) {
            if (Date.now() > end)
                throw new Error(`not within two minutes: ${expression}`);
            await new Promise((soon) => setTimeout(soon, 50));
        }
    }

    async key(key, code, text, modifiers = 0) {
        const event = { key, code, text, modifiers, windowsVirtualKeyCode: { Enter: 13, " ": 32, Tab: 9 }[key] };
        await this.send("Input.dispatchKeyEvent", { type: "keyDown", ...event });
        await this.send("Input.dispatchKeyEvent", { type: "keyUp", ...event, text: undefined });
    }

    async look({ width, height, dark = false, mobile = false }) {
        await this.send("Emulation.setDeviceMetricsOverride", { width, height, deviceScaleFactor: mobile ? 2 : 1, mobile });
        await this.send("Emulation.setEmulatedMedia", { features: [{ name: "prefers-color-scheme", value: dark ? "dark" : "light" }] });
        await this.evaluate("new Promise((drawn) => requestAnimationFrame(() => requestAnimationFrame(drawn)))");
    }

    async screenshot() {
        const { data } = await this.send("Page.captureScreenshot", { format: "png", captureBeyondViewport: true });
        return Buffer.from(data, "base64");
    }

    async close() {
        this.process.kill();
        await new Promise((ended) => (this.process.exitCode ?? this.process.signalCode) !== null ? ended() : this.process.on("exit", ended));
        // Its helper processes write into the profile until they have ended, too.
        const ask = (signal) => { try { return process.kill(-this.process.pid, signal); } catch { return false; } };
        ask("SIGKILL");
        for (let i = 0; i < 600 && ask(0); i++)
            await new Promise((later) => setTimeout(later, 100));
        rmSync(this.profile, { recursive: true, force: true, maxRetries: 5 });
    }
}
