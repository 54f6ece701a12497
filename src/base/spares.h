// SPDX-License-Identifier: Apache-2.0
/// Blocks of memory that one thread takes and another gives, again and again. Through malloc that costs waits for its
/// lock, because it returns a block to the heap of the thread that took it. A few blocks are kept between two uses.
#ifndef SLRI_BASE_SPARES_H
#define SLRI_BASE_SPARES_H

#include "base/lock.h"

#include <slipring/allocator.h>

#include <stddef.h>

#define SLRI_SPARES_SIZES 2u
#define SLRI_SPARES_KEPT 1024u // of each size: what is given beyond is freed

struct slri_spare;
struct slri_spares { // all zero: none
    slri_lock lock;
    uint32_t count[SLRI_SPARES_SIZES];
    struct slri_spare *first[SLRI_SPARES_SIZES];
};

/// Zeroed memory, as slri_alloc gives it. NULL: no memory. Threads: any, at once; of each function but the last.
void *slri_spares_take(struct slri_spares *spares, const slr_allocator *hook, size_t bytes);

/// With the hook and the bytes that it was taken with. NULL is fine.
void slri_spares_give(struct slri_spares *spares, const slr_allocator *hook, void *memory, size_t bytes);

/// Frees what is kept; nothing is given afterwards.
void slri_spares_free(struct slri_spares *spares, const slr_allocator *hook);

#endif
