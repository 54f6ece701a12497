// SPDX-License-Identifier: Apache-2.0
#include "check/shadow.h"

#include <string.h>

#define PAGE_CELLS 512

struct slri_page {
    struct slri_cell cell[PAGE_CELLS];
    struct slri_page *next; // of the touched ones
    bool is_touched;
};

bool slri_shadow_create(struct slri_shadow *shadow, struct slri_region *region, uint64_t bytes, uint32_t granule)
{
    uint64_t pages = bytes / ((uint64_t)granule * PAGE_CELLS) + 1;
    *shadow = (struct slri_shadow){.region = region, .bytes = bytes, .granule = granule};
    shadow->page = slri_region_take(region, pages * sizeof *shadow->page);
    return shadow->page != NULL;
}

// Before each message, so not all pages of a large buffer.
void slri_shadow_forget(struct slri_shadow *shadow)
{
    for (struct slri_page *page = shadow->touched, *next; page != NULL; page = next) {
        next = page->next;
        memset(page, 0, sizeof *page);
    }
    shadow->touched = NULL;
}

struct slri_cell *slri_shadow_cell(struct slri_shadow *shadow, uint64_t offset)
{
    uint64_t cell = offset / shadow->granule;
    struct slri_page **page = &shadow->page[cell / PAGE_CELLS];
    if (*page == NULL && (*page = slri_region_take(shadow->region, sizeof **page)) == NULL)
        return NULL;
    if (!(*page)->is_touched) {
        (*page)->is_touched = true;
        (*page)->next = shadow->touched;
        shadow->touched = *page;
    }
    return &(*page)->cell[cell % PAGE_CELLS];
}

// ---- races ---------------------------------------------------------------------------------------------------------

static bool races(const struct slri_mark *old, const struct slri_ordering *order, const struct slri_mark *mark)
{
    return old->block != 0 && !(old->is_atomic && mark->is_atomic) && !slri_order_before(order, mark->thread, old);
}

const struct slri_mark *slri_shadow_race(const struct slri_cell *cell, const struct slri_ordering *order,
                                         const struct slri_mark *mark, bool is_write)
{
    if (races(&cell->write, order, mark))
        return &cell->write;
    for (int i = 0; i < 2 && is_write; i++)
        if (races(&cell->read[i], order, mark))
            return &cell->read[i];
    return NULL;
}

// How far two marks are from each other: 0 one thread, 1 one warp, 2 one block, 3 the grid.
static int distance(const struct slri_mark *a, const struct slri_mark *b)
{
    if (a->block != b->block)
        return 3;
    if (a->thread / SLRI_WARP_THREADS != b->thread / SLRI_WARP_THREADS)
        return 2;
    return a->thread != b->thread;
}

void slri_shadow_note(struct slri_cell *cell, const struct slri_ordering *order, const struct slri_mark *mark,
                      bool is_write)
{
    struct slri_mark *read = cell->read;
    if (is_write) { // who read before it is ordered before it, or has been reported
        cell->write = *mark;
        read[0].block = read[1].block = 0;
    } else if (read[0].block == 0 || slri_order_before(order, mark->thread, &read[0])) {
        read[0] = *mark;
    } else if (read[1].block == 0 || slri_order_before(order, mark->thread, &read[1]) ||
               distance(&read[0], mark) > distance(&read[0], &read[1])) {
        read[1] = *mark;
    }
}

// ---- what was written ----------------------------------------------------------------------------------------------

void slri_shadow_written(struct slri_shadow *shadow, uint64_t offset, uint64_t bytes, bool *any, bool *all)
{
    *any = false;
    *all = true;
    for (uint64_t at = offset; at < offset + bytes; at++) {
        const struct slri_cell *cell = slri_shadow_cell(shadow, at);
        bool is_written = cell == NULL || (cell->written >> at % shadow->granule & 1);
        *any |= is_written;
        *all &= is_written;
    }
}

void slri_shadow_write(struct slri_shadow *shadow, uint64_t offset, uint64_t bytes)
{
    for (uint64_t at = offset; at < offset + bytes; at++) {
        struct slri_cell *cell = slri_shadow_cell(shadow, at);
        if (cell != NULL)
            cell->written |= (uint8_t)(1u << at % shadow->granule);
    }
}
