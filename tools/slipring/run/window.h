// SPDX-License-Identifier: Apache-2.0
/// Replies kept back until all that can precede them are there, for --ordered.
#ifndef WINDOW_H
#define WINDOW_H

#include <stddef.h>
#include <stdint.h>

typedef struct window {
    struct held *held;
    unsigned char *payloads;
    size_t payload_bytes;
    uint32_t count, capacity;
} window;

typedef void window_write(void *user, uint64_t number, uint32_t instance, const unsigned char *payload);

void window_open(window *window, size_t payload_bytes);
void window_close(window *window);

/// Keeps a reply to message `number`.
void window_add(window *window, uint64_t number, uint32_t instance, const unsigned char *payload);

/// Sorts what is held by number, those of one number as they were added; then the nth, from 0.
void window_sort(window *window);
uint64_t window_number(const window *window, uint32_t nth);
const unsigned char *window_payload(const window *window, uint32_t nth);

void window_clear(window *window);

/// Gives all out by number, those of one number as they were added, and is empty then.
void window_empty(window *window, window_write *write, void *user);

#endif
