// SPDX-License-Identifier: Apache-2.0
// What the cases need of node:assert/strict, for a page.

function same(a, b) {
    if (Object.is(a, b))
        return true;
    if (typeof a !== "object" || typeof b !== "object" || !a || !b || Object.getPrototypeOf(a) !== Object.getPrototypeOf(b))
        return false;
    const keys = Object.keys(a);
    return keys.length === Object.keys(b).length && keys.every((key) => same(a[key], b[key]));
}

function fail(what) {
    throw new Error(what);
}

// Of `wanted` what node takes: a text that matches, or a function that returns true.
function fits(error, wanted) {
    return typeof wanted === "function" ? wanted(error) === true : wanted === undefined || wanted.test(String(error));
}

const shown = (value) => typeof value === "string" ? value : JSON.stringify(value);

export const assert = {
    ok: (value, why) => value || fail(why ?? "it is not so"),
    equal: (a, b) => Object.is(a, b) || fail(`${shown(a)} is not ${shown(b)}`),
    deepEqual: (a, b) => same(a, b) || fail(`${shown(a)} is not ${shown(b)}`),
    match: (text, pattern) => pattern.test(text) || fail(`'${text}' does not match ${pattern}`),
    throws(what, wanted) {
        let error;
        try {
            what();
        } catch (thrown) {
            error = thrown;
        }
        return error && fits(error, wanted) ? undefined : fail(`throws ${error}`);
    },
    async rejects(promise, wanted) {
        const error = await promise.then(() => undefined, (thrown) => thrown);
        return error && fits(error, wanted) ? undefined : fail(`rejects with ${error}`);
    },
};
