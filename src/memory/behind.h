// SPDX-License-Identifier: Apache-2.0
// Spans given back behind a point, and what they need of a heap. All under its lock, but where it says otherwise.
#ifndef SLRI_MEMORY_BEHIND_H
#define SLRI_MEMORY_BEHIND_H

#include "memory/heap.h"

// Those of one stream, in the order in which they were given.
struct slri_behind {
    slr_stream *stream; // held
    struct slri_piece *first, *last;
    struct slri_behind *next;
};

// Frees those whose points have passed; whether there were any.
bool slri_heap_reap(slr_heap *heap);

// A span for the stream's own work out of those behind it, or NULL.
struct slri_piece *slri_heap_take_behind(slr_heap *heap, const slr_stream *stream, uint64_t bytes, uint64_t alignment);

// Without the lock, which nobody else asks for any more: has each stream let go of a hold on the heap when its points
// have passed. And then frees what is left of this file.
void slri_heap_end_behind(slr_heap *heap);
void slri_heap_drop_behind(slr_heap *heap);

#endif
