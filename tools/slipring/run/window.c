// SPDX-License-Identifier: Apache-2.0
// Sorts the replies of a window.
#include "run/window.h"

#include "memory.h"

#include <stdlib.h>
#include <string.h>

struct held {
    uint64_t number;
    uint32_t instance, at; // at: its payload, and the order in which it was added
};

void window_open(window *window, size_t payload_bytes)
{
    *window = (struct window){.payload_bytes = payload_bytes, .capacity = 1024};
    window->held = memory_take(window->capacity, sizeof *window->held);
    window->payloads = memory_take(window->capacity, payload_bytes);
}

void window_close(window *window)
{
    free(window->held);
    free(window->payloads);
}

void window_add(window *window, uint64_t number, uint32_t instance, const unsigned char *payload)
{
    if (window->count == window->capacity) {
        window->capacity *= 2;
        window->held = memory_grow(window->held, window->capacity, sizeof *window->held);
        window->payloads = memory_grow(window->payloads, window->capacity, window->payload_bytes);
    }
    uint32_t at = window->count++;
    window->held[at] = (struct held){number, instance, at};
    memcpy(window->payloads + at * window->payload_bytes, payload, window->payload_bytes);
}

static int compare(const void *left, const void *right)
{
    const struct held *a = left, *b = right;
    if (a->number != b->number)
        return a->number < b->number ? -1 : 1;
    return a->at < b->at ? -1 : 1;
}

void window_sort(window *window)
{
    qsort(window->held, window->count, sizeof *window->held, compare);
}

uint64_t window_number(const window *window, uint32_t nth)
{
    return window->held[nth].number;
}

const unsigned char *window_payload(const window *window, uint32_t nth)
{
    return window->payloads + window->held[nth].at * window->payload_bytes;
}

void window_clear(window *window)
{
    window->count = 0;
}

void window_empty(window *window, window_write *write, void *user)
{
    window_sort(window);
    for (uint32_t i = 0; i < window->count; i++)
        write(user, window->held[i].number, window->held[i].instance, window_payload(window, i));
    window_clear(window);
}
