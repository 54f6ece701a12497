// SPDX-License-Identifier: Apache-2.0
// Beside each object that threads share: who wrote and read each cell of it last, and which of its bytes were written.
//
// A cell is 4 bytes, or 1 where the kernel has any narrower access to the object. It remembers two readers, of
// different blocks or else warps or else threads where there are such: then a write that races with any reader since
// the last barrier races with one of the two.
#ifndef SLRI_CHECK_SHADOW_H
#define SLRI_CHECK_SHADOW_H

#include "check/order.h"

struct slri_cell {
    struct slri_mark write, read[2];
    uint8_t written; // a bit a byte
};

struct slri_page;

struct slri_shadow {
    struct slri_region *region;
    uint64_t bytes;
    uint32_t granule;
    struct slri_page **page;   // NULL: never used
    struct slri_page *touched; // a list: used since the last slri_shadow_forget
};

// All NULL pages. False: no memory.
bool slri_shadow_create(struct slri_shadow *shadow, struct slri_region *region, uint64_t bytes, uint32_t granule);
void slri_shadow_forget(struct slri_shadow *shadow); // as it was created; takes time for the pages used since, no other

// The cell that a byte is in; NULL: no memory.
struct slri_cell *slri_shadow_cell(struct slri_shadow *shadow, uint64_t offset);

// Two accesses that race with `mark`, of those that the cell remembers: NULL where there is none.
const struct slri_mark *slri_shadow_race(const struct slri_cell *cell, const struct slri_ordering *order,
                                         const struct slri_mark *mark, bool is_write);
void slri_shadow_note(struct slri_cell *cell, const struct slri_ordering *order, const struct slri_mark *mark,
                      bool is_write);

// Whether any, and whether all, of the bytes were written.
void slri_shadow_written(struct slri_shadow *shadow, uint64_t offset, uint64_t bytes, bool *any, bool *all);
void slri_shadow_write(struct slri_shadow *shadow, uint64_t offset, uint64_t bytes);

#endif
