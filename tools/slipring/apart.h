// SPDX-License-Identifier: Apache-2.0
// Work in a process of its own: what a vendor's driver does to that process does not end this one.
#ifndef SLIPRING_APART_H
#define SLIPRING_APART_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

// What the work has written until it ended, memory of the caller's to free(), and how it ended.
typedef struct apart {
    char *data;
    size_t bytes;
    char ended[160]; // "": it returned. Else a sentence without a subject: "ended the process: Aborted (signal 6)"
} apart;

// Runs `work` in a child, which has `seconds` and is killed after them. Pointers to static text that it writes are
// valid here, too. False: no process could be made; `ended` says why.
bool apart_run(void (*work)(FILE *to, void *context), void *context, unsigned seconds, apart *out);

#endif
