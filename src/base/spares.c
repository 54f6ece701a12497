// SPDX-License-Identifier: Apache-2.0
// Two sizes, so that small blocks do not occupy the room of large ones. Larger blocks are not kept.
#include "base/spares.h"

#include "base/alloc.h"
#include "base/asan.h"

#include <stdbool.h>
#include <string.h>

struct slri_spare {
    struct slri_spare *next;
};

static const size_t sizes[SLRI_SPARES_SIZES] = {512, 2048};

#ifdef SLRI_HAS_ASAN
static const bool keeps = false; // so that it finds a use of a block that was given
#else
static const bool keeps = true;
#endif

static uint32_t size_of(size_t bytes)
{
    uint32_t at = 0;
    while (at < SLRI_SPARES_SIZES && bytes > sizes[at])
        ++at;
    return at;
}

void *slri_spares_take(struct slri_spares *spares, const slr_allocator *hook, size_t bytes)
{
    uint32_t at = size_of(bytes);
    if (!keeps || at == SLRI_SPARES_SIZES)
        return slri_alloc(hook, bytes);
    slri_lock_take(&spares->lock);
    struct slri_spare *spare = spares->first[at];
    if (spare) {
        spares->first[at] = spare->next;
        --spares->count[at];
    }
    slri_lock_give(&spares->lock);
    return spare ? memset(spare, 0, bytes) : slri_alloc(hook, sizes[at]);
}

void slri_spares_give(struct slri_spares *spares, const slr_allocator *hook, void *memory, size_t bytes)
{
    uint32_t at = size_of(bytes);
    if (!memory || !keeps || at == SLRI_SPARES_SIZES) {
        slri_free(hook, memory, bytes);
        return;
    }
    struct slri_spare *spare = memory;
    slri_lock_take(&spares->lock);
    bool kept = spares->count[at] < SLRI_SPARES_KEPT;
    if (kept) {
        spare->next = spares->first[at];
        spares->first[at] = spare;
        ++spares->count[at];
    }
    slri_lock_give(&spares->lock);
    if (!kept)
        slri_free(hook, memory, sizes[at]);
}

void slri_spares_free(struct slri_spares *spares, const slr_allocator *hook)
{
    for (uint32_t at = 0; at < SLRI_SPARES_SIZES; ++at)
        for (struct slri_spare *each; (each = spares->first[at]) != NULL;) {
            spares->first[at] = each->next;
            slri_free(hook, each, sizes[at]);
        }
    *spares = (struct slri_spares){.lock = {0}};
}
