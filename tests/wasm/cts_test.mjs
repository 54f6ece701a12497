// SPDX-License-Identifier: Apache-2.0
// The conformance suite in headless Chromium. node cts_test.mjs FOLDER [ARGUMENT OF slipring-cts]...
// Prints what the page says as it comes; the suite's exit code, or 1 where the console has errors.
import { GPU, Page, serve } from "./chromium.mjs";

const [, , folder, ...given] = process.argv;
const PATIENCE_MS = 30 * 60 * 1000;

const server = await serve(folder);
const address = `${server.address}?${given.map(encodeURIComponent).join("&")}`;
const page = await Page.open(address, { flags: GPU });
const end = Date.now() + PATIENCE_MS;
let printed = 0, status;
while (status === undefined) {
    const seen = await page.evaluate(`({ status: document.documentElement.dataset.status,
        more: document.getElementById("said").textContent.slice(${printed}) })`);
    process.stdout.write(seen.more);
    printed += seen.more.length;
    status = seen.status;
    if (status === undefined && Date.now() > end) {
        console.log("slipring-cts: the page has not ended");
        status = "late";
    }
    await new Promise((later) => setTimeout(later, 200));
}
for (const error of page.errors)
    console.log(`console: ${error}`);
const errors = page.errors.length;
await page.close();
server.close();
process.exit(errors || !/^\d+$/.test(status) ? 1 : Number(status));
