// SPDX-License-Identifier: Apache-2.0
// The cases of slipring.mjs in node. node slipring_test.mjs FOLDER
import assert from "node:assert/strict";
import { pathToFileURL } from "node:url";
import { resolve } from "node:path";
import { casesOf } from "./cases.mjs";

const { load } = await import(pathToFileURL(resolve(process.argv[2], "slipring.mjs")));
const printed = [];
const slipring = await load({ onPrint: (kernel, text) => printed.push([kernel, text]) });
assert.equal(slipring.threads, 0);
await assert.rejects(load({ cores: 2 }), /SLR_UNSUPPORTED|not cross-origin isolated/);
const cases = casesOf({ assert, slipring, load, printed, description: /^WebAssembly #\w+, 1 core$/ });

let failed = 0;
for (const [name, test] of Object.entries(cases)) {
    const device = slipring.open("cpu");
    try {
        await test(device);
        console.log(`ok      ${name}`);
    } catch (error) {
        failed++;
        console.log(`FAILED  ${name}\n${error.stack}`);
    }
}
process.exit(failed ? 1 : 0);
