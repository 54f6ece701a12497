// SPDX-License-Identifier: Apache-2.0
/// What slipring.mjs calls. A call may change places with a task (src/base/wasm/sim_context.c), and then the number
/// that it returns is lost on the way: so each writes what it gives to memory that JavaScript reads.
#ifndef BRIDGE_H
#define BRIDGE_H

#include "json.h"

#include <slipring/slipring.h>

#include <emscripten.h>

struct bridge_result {
    int32_t status;    // slr_status
    uint32_t value;    // a handle, or a number
    const char *text;  // JSON, until the next call; or NULL
    uint32_t reply[4]; // of a reply: instance, status, correlation, bytes
    uint32_t done;     // JavaScript sets it to 0; a call of a GPU device ends when the page has told of an answer
};
extern struct bridge_result bridge_result;

void bridge_give(slr_status status, const void *handle);
/// What kernels print, from any thread; bridge_give tells the page of it, on the page's own.
void bridge_on_print(void *user, const slr_print *print);
void bridge_tell_prints(void);
/// The JSON, or NO_MEMORY.
void bridge_give_json(struct json *json);

#endif
