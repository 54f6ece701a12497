// SPDX-License-Identifier: Apache-2.0
// The list of commands, and the calls of page.js.
#include "hal/webgpu/wasm/page.h"

#include <stdbool.h>
#include <string.h>

#define LIST_WORDS 16384u
#define TURN_MS 4u // after so long others of the library's tasks may go on

// page.js. All but the first two give the thread back to the page, and return when there is an answer. What runs a list
// or takes a turn gives how many errors nobody has taken yet.
extern uint32_t slri_js_run(const uint32_t *list, uint32_t words);
extern uint32_t slri_js_take_error(uint32_t *device, char *text, uint32_t room); // its type
extern uint32_t slri_js_check(const uint32_t *list, uint32_t words);
extern uint32_t slri_js_turn(uint32_t milliseconds);
extern uint32_t slri_js_adapter(struct slri_page_adapter *out);
extern uint32_t slri_js_device(uint32_t adapter, uint32_t device, char *why, uint32_t room);

static uint32_t list[LIST_WORDS];
static uint32_t used, ids, errors;
uint64_t slri_page_calls;

uint32_t slri_page_id(void)
{
    return ++ids;
}

static uint32_t take_list(void)
{
    const uint32_t words = used;
    used = 0;
    ++slri_page_calls;
    return words;
}

void slri_page_send(void)
{
    if (used != 0)
        errors = slri_js_run(list, take_list());
}

void slri_page_check(void)
{
    errors = slri_js_check(list, take_list());
}

bool slri_page_holds(size_t bytes)
{
    return bytes / 4 + 16 < LIST_WORDS;
}

void slri_page_put_bytes(enum slri_page_op op, const uint32_t *word, uint32_t words, const void *bytes, size_t count)
{
    const uint32_t behind = (uint32_t)((count + 3) / 4);
    if (used + 1 + words + behind > LIST_WORDS)
        slri_page_send();
    list[used++] = (uint32_t)op | (words + behind) << 8;
    memcpy(list + used, word, words * sizeof *word);
    if (count != 0)
        memcpy(list + used + words, bytes, count);
    used += words + behind;
}

void slri_page_put(enum slri_page_op op, const uint32_t *word, uint32_t words)
{
    slri_page_put_bytes(op, word, words, NULL, 0);
}

void slri_page_turn(void)
{
    slri_page_send();
    errors = slri_js_turn(TURN_MS);
}

uint32_t slri_page_find_adapter(struct slri_page_adapter *out)
{
    ++slri_page_calls;
    return slri_js_adapter(out);
}

uint32_t slri_page_open_device(uint32_t adapter, uint32_t device, char *why, uint32_t room)
{
    ++slri_page_calls;
    return slri_js_device(adapter, device, why, room);
}

uint32_t slri_page_take_error(uint32_t *device, char *text, uint32_t room)
{
    if (errors == 0)
        return 0;
    --errors;
    ++slri_page_calls;
    return slri_js_take_error(device, text, room);
}
