// SPDX-License-Identifier: Apache-2.0
// slipring.mjs with threads, in headless Chromium: in a worker, and on the page's own thread, which may not sleep.
// node threads_test.mjs FOLDER BUILT [CASE]; BUILT has sum.wasm.
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { GPU, Page, serve } from "./chromium.mjs";

const [, , folder, built, filter = ""] = process.argv;
const here = (name) => fileURLToPath(new URL(name, import.meta.url));
const more = Object.fromEntries([...["threads.mjs", "assert.mjs", "cases.mjs", "sum.mjs"].map((name) => [`/${name}`, here(name)]),
    ["/sum.wasm", join(built, "sum.wasm")], ["/", here("threads.html")]]);
const server = await serve(folder, { isolated: true, more });
let failed = 0;

for (const where of ["worker", "page"]) {
    const page = await Page.open(`${server.address}?${where}&${filter}`, { flags: GPU });
    try {
        await page.until("document.documentElement.dataset.ended !== undefined");
        console.log(`${where}:`);
        const ended = JSON.parse(await page.evaluate("document.documentElement.dataset.ended"));
        for (const [name, why, ms] of ended)
            console.log(why ? `FAILED  ${name}\n${why}` : `ok      ${name} (${ms.toFixed(0)} ms)`);
        const errors = page.errors.filter((error) => !/404.*absent\.wasm/.test(error)); // which a case asks for
        for (const error of errors)
            console.log(`console: ${error}`);
        failed += ended.filter(([, why]) => why).length + errors.length + (ended.length === 0);
    } finally {
        await page.close();
    }
}
server.close();
process.exit(failed ? 1 : 0);
