// SPDX-License-Identifier: Apache-2.0
// Plain stores of a block that a GPU may show late: behind a relaxed store that comes later in the text.
#ifndef TESTS_SHIM_LATE_H
#define TESTS_SHIM_LATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SHIM_LATE_PIECES 1024

// Which of them no fence and no release is behind, and what was there before.
struct shim_late {
    uint32_t pieces;
    struct shim_piece {
        unsigned char *at;
        uint32_t bytes;
        unsigned char before[16], now[16];
    } piece[SHIM_LATE_PIECES];
};

void shim_late_runs(bool begins);                                    // a block
void shim_late_round(void);                                          // all its lanes that could have gone on
void shim_late_note(struct shim_late *late, void *at, size_t bytes); // before the store
void shim_late_order(struct shim_late *late, int order);             // a fence, or an atomic operation of that order

// An atomic store, of 1, 2, 4 or 8 bytes. Where it is relaxed others may see it before what is late: for a while they
// do.
void shim_late_store(struct shim_late *late, void *to, const void *value, unsigned bytes, int order);

#endif
