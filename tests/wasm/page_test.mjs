// SPDX-License-Identifier: Apache-2.0
// The heart monitor's page in headless Chromium. node page_test.mjs FOLDER PLAIN NATIVE.csv threads|one-thread [SCREENSHOTS]; PLAIN: the
// same page without code that was compiled ahead. With threads the server sends the headers by which a page may have some.
import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { GPU, Page, serve } from "./chromium.mjs";

const [, , folder, plain, native, mode, screenshots] = process.argv;
const isolated = mode === "threads", serving = { isolated };
const server = await serve(folder, serving);
const page = await Page.open(server.address, { flags: GPU });
const text = (id) => page.evaluate(`document.getElementById("${id}").textContent`);
const click = (id) => page.evaluate(`document.getElementById("${id}").click()`);
const type = (source) => page.evaluate(`(() => { const box = document.getElementById("source"); box.value = ${JSON.stringify(source)};
    box.dispatchEvent(new Event("input")); })()`);
const shot = async (name, look) => {
    await page.look(look);
    if (screenshots)
        writeFileSync(join(screenshots, `${name}.png`), await page.screenshot());
    const wider = await page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth");
    assert.equal(wider, 0, `${name} scrolls sideways by ${wider} pixels`);
};

const tests = {
    async "it shows beats as soon as it is there"() {
        await page.until("document.documentElement.dataset.firstBeatMs");
        console.log(`        the first beat after ${await page.evaluate("document.documentElement.dataset.firstBeatMs")} ms`);
        assert.match(await text("device"), isolated
            ? /^slipring \d+\.\d+\.\d+ on cpu: WebAssembly with threads, \d+ cores, compiled ahead to WebAssembly\./
            : /^slipring \d+\.\d+\.\d+ on cpu: WebAssembly, 1 core, compiled ahead to WebAssembly\./);
        assert.ok(Number(await text("beats")) > 3);
    },
    async "the space key starts and pauses"() {
        await page.evaluate("document.activeElement.blur()");
        const before = await page.evaluate('document.getElementById("place").textContent');
        await page.key(" ", "Space", " ");
        await page.until(`document.getElementById("place").textContent !== "${before}"`);
        assert.equal(await text("run"), "Pause");
        await page.key(" ", "Space", " ");
        assert.equal(await text("run"), "Start");
    },
    async "every control is reached by the keyboard, and has a name"() {
        const seen = [];
        await page.evaluate("document.activeElement.blur()");
        for (let i = 0; i < 20; i++) {
            await page.key("Tab", "Tab");
            seen.push(await page.evaluate("document.activeElement.id"));
        }
        for (const id of ["run", "restart", "speed", "on", "apply", "check", "reset", "source"])
            assert.ok(seen.includes(id), `${id} is not reached: ${seen}`);
        const { nodes } = await page.send("Accessibility.getFullAXTree");
        for (const node of nodes.filter((one) => /^(button|textbox|combobox|link)$/.test(one.role?.value ?? "")))
            assert.ok(node.ignored || node.name?.value, `a ${node.role.value} without a name`);
    },
    async "the whole recording gives the beats of the command line, byte for byte"() {
        await click("restart");
        await page.evaluate('document.getElementById("speed").value = "0"');
        await click("run");
        await page.until('document.documentElement.dataset.state === "ended"');
        const csv = await page.evaluate('fetch(document.getElementById("save").href).then((response) => response.text())');
        assert.equal(csv, readFileSync(native, "utf8"));
        assert.equal(await text("alarms"), String(csv.split("\n").filter((line) => line.endsWith(",1")).length));
        assert.equal(await page.evaluate('document.querySelectorAll("#log li").length'), Number(await text("alarms")));
        await shot("light", { width: 1200, height: 900 });
        await shot("dark", { width: 1200, height: 900, dark: true });
        await shot("phone", { width: 390, height: 844, mobile: true });
        await shot("phone-dark", { width: 390, height: 844, mobile: true, dark: true });
        await page.look({ width: 1200, height: 900 });
    },
    async "interpreted, they are the same"() {
        const other = await serve(plain, serving), page = await Page.open(other.address);
        await page.until("document.documentElement.dataset.firstBeatMs");
        assert.match(await page.evaluate('document.getElementById("device").textContent'), /cores?, interpreted/);
        await page.evaluate('document.getElementById("speed").value = "0"; document.getElementById("run").click()');
        await page.until('document.documentElement.dataset.state === "ended"');
        assert.equal(await page.evaluate('fetch(document.getElementById("save").href).then((response) => response.text())'),
                     readFileSync(native, "utf8"));
        assert.deepEqual(page.errors, []);
        await page.close();
        other.close();
    },
    async "on WebGPU the beats are the same, byte for byte"() {
        if (!await page.evaluate("navigator.gpu?.requestAdapter().then((adapter) => adapter !== null) ?? false")) {
            console.log("        skipped: this chromium has no WebGPU");
            return;
        }
        const choose = async (name, shown) => {
            await page.evaluate(`(() => { const on = document.getElementById("on"); on.value = "${name}";
                on.dispatchEvent(new Event("change")); })()`);
            await page.until(`document.getElementById("device").textContent.includes(" on ${shown}: ")`);
            await page.until('Number(document.getElementById("beats").textContent) > 3');
        };
        await choose("webgpu:0", "webgpu:0");
        await click("run");
        await page.until('document.documentElement.dataset.state === "ended"');
        const csv = await page.evaluate('fetch(document.getElementById("save").href).then((response) => response.text())');
        assert.equal(csv, readFileSync(native, "utf8"));
        await shot("webgpu", { width: 1200, height: 900 });
        await choose("cpu", "cpu");
    },
    async "an error is shown at its line, and the code before goes on"() {
        const source = await page.evaluate('document.getElementById("source").value');
        const lines = source.split("\n"), at = lines.findIndex((line) => line.includes("unsigned since = self->now"));
        lines[at] = "    unsigned since = self->then - self->last.at;";
        await type(lines.join("\n"));
        await page.evaluate('document.getElementById("source").focus()');
        await page.key("Enter", "Enter", "\r", 2); // with Ctrl
        await page.until('document.getElementById("verdict").textContent.startsWith("It does not compile")');
        assert.match(await text("findings"), new RegExp(`ward\\.cu:${at + 1}:\\d+ error SLR-K\\d+: .*then`));
        assert.equal(await page.evaluate('document.querySelector("#lines .wrong").textContent'), String(at + 1));
        await page.evaluate('document.querySelector("#findings button").click()');
        const begin = lines.slice(0, at).join("\n").length + 1;
        assert.equal(await page.evaluate('document.getElementById("source").selectionStart'), begin);
        await shot("error", { width: 1200, height: 900 });
        await type(source);
        await click("apply");
        await page.until('document.getElementById("verdict").textContent.startsWith("It runs")');
        assert.equal(await page.evaluate('document.querySelectorAll("#lines .wrong").length'), 0);
    },
    async "changed code finds other beats"() {
        const source = await page.evaluate('document.getElementById("source").value');
        await type(source.replace("REFRACTORY = 72", "REFRACTORY = 400").replace("T_WAVE = 130", "T_WAVE = 0"));
        await click("apply");
        await page.until('document.getElementById("verdict").textContent.startsWith("It runs")');
        await click("restart");
        await click("run");
        await page.until('document.documentElement.dataset.state === "ended"');
        const beats = Number(await text("beats")), native_beats = readFileSync(native, "utf8").split("\n").length - 2;
        assert.ok(beats > 100 && beats < native_beats, `${beats} beats; natively ${native_beats}`);
        await type(source);
    },
    async "a handler without end, and one that faults, are told with their line"() {
        const source = await page.evaluate('document.getElementById("source").value');
        for (const [what, fault] of [["for (;;) { }", /fuel|iterations/], ["self->raw[self->now + 256] = 0;", /256/]]) {
            const lines = source.split("\n"), at = lines.findIndex((line) => line.includes("if (self->now == 0)"));
            lines.splice(at, 0, `    if (self->now > 3000) ${what}`);
            await type(lines.join("\n"));
            await click("apply");
            await page.until('document.getElementById("verdict").textContent.startsWith("It runs")');
            await click("restart");
            await click("run");
            await page.until('document.getElementById("verdict").textContent.startsWith("The handler has faulted")');
            assert.match(await text("verdict"), new RegExp(`ward\\.cu:${at + 1}`));
            assert.match(await text("verdict"), fault);
            assert.equal(await page.evaluate('document.querySelector("#lines .wrong").textContent'), String(at + 1));
            await click("restart");
        }
        await type(source);
        await click("apply");
        await page.until('document.getElementById("verdict").textContent.startsWith("It runs")');
    },
    async "the check finds what is planted, and nothing in the handler as it is"() {
        const source = await page.evaluate('document.getElementById("source").value');
        await click("check");
        await page.until('document.getElementById("verdict").textContent.startsWith("The check")');
        assert.match(await text("verdict"), /found nothing wrong/);
        const lines = source.split("\n"), at = lines.findIndex((line) => line.includes("if (self->now == 0)"));
        lines.splice(at, 0, "    int unset;", "    self->origin = unset;");
        await type(lines.join("\n"));
        await click("check");
        await page.until('document.querySelectorAll("#findings li").length > 0');
        assert.match(await text("findings"), new RegExp(`ward\\.cu:${at + 2}`));
        await type(source);
    },
};

// On a page of its own, whose console has the browser's complaint.
tests["a page without its library says so"] = async () => {
    const poor = await serve(folder, { ...serving, but: isolated ? "/slipring-threads.wasm" : "/slipring.wasm" }), other = await Page.open(poor.address);
    await other.until('document.getElementById("device").textContent.startsWith("slipring has failed")');
    assert.match(await other.evaluate('document.getElementById("device").textContent'), /slipring(-threads)?\.wasm gives 404/);
    assert.equal(await other.evaluate('document.getElementById("run").disabled'), true);
    await other.close();
    poor.close();
};

let failed = 0;
for (const [name, test] of Object.entries(tests)) {
    try {
        await test();
        assert.deepEqual(page.errors.splice(0), [], "the console has errors");
        console.log(`ok      ${name}`);
    } catch (error) {
        failed++;
        console.log(`FAILED  ${name}\n${error.stack}`);
    }
}
await page.close();
server.close();
process.exit(failed ? 1 : 0);
