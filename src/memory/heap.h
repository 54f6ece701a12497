// SPDX-License-Identifier: Apache-2.0
// A heap: pieces (pieces.h) under a lock, with a limit and counts, in chunks of whatever source it is given.
#ifndef SLRI_MEMORY_HEAP_H
#define SLRI_MEMORY_HEAP_H

#include "base/lock.h"
#include "engine/observe.h"
#include "base/pieces.h"

#include <slipring/heap.h>

// Where chunks come from: a backend's two calls, or a test's. The memory is zeroed; NULL is no error.
struct slri_heap_source {
    slr_status (*create)(void *self, uint64_t bytes, void **memory);
    void (*destroy)(void *self, void *memory, uint64_t bytes);
    void *self;
};

struct slri_behind;

struct slr_heap {
    slri_lock lock; // of all below
    struct slri_pieces pieces;
    uint64_t held_bytes, empty_bytes, chunks;
    uint64_t live_bytes, peak_bytes, taken, given, refused, reused;
    struct slri_behind *behind; // spans given back behind a point, by stream: behind.h
    uint64_t behind_bytes;
    uint32_t holds; // its owner's, and one for each stream that it awaits at its end; atomic
    // As it was made.
    uint64_t max_bytes, chunk_bytes, keep_bytes;
    struct slri_heap_source source;
    const slr_allocator *allocator; // of the host's part
    slr_device *device;             // NULL: none
    bool holds_device;
    slr_on_memory *on_memory;
    void *memory_user;
    char name[48];
    uint32_t observed_name; // observe's; atomic: 0 until it is first asked for
};

// slr_heap_create without a device. The allocator must outlive the heap.
slr_status slri_heap_create(const struct slri_heap_source *source, const slr_allocator *allocator,
                            const slr_heap_desc *desc, slr_heap **out);

struct slri_heap_source slri_heap_source_of(slr_device *device);

// As slri_device_check_process; OK where it has no device.
slr_status slri_heap_check_process(const slr_heap *heap);

// Tells the watcher, if there is one, of all that is taken.
void slri_heap_report(slr_heap *heap);

// Whether somebody is to be told.
static inline bool slri_heap_is_watched(const slr_heap *heap)
{
    return __builtin_expect(heap->on_memory != NULL, 0) || slri_is_observed();
}

// An event, with the lock; telling it, without; both.
slr_memory_event slri_heap_event(const slr_heap *heap, uint32_t what, void *memory, uint64_t bytes, const char *file,
                                 uint32_t line);
void slri_heap_tell(const slr_heap *heap, const slr_memory_event *event);
// A pool's: a span is used again, from another place.
void slri_heap_note(slr_heap *heap, const slr_span *span, const char *file, uint32_t line);
void slri_heap_unlock_and_tell(slr_heap *heap, uint32_t what, const slr_span *span, const char *file, uint32_t line);

// Without a report. Memory behind points that have not passed yet is kept until they have.
void slri_heap_destroy(slr_heap *heap);
void slri_heap_release(slr_heap *heap);

// ---- giving back, step by step, for behind.c ------------------------------------------------------------------------

struct slri_given {
    const char *file; // where it was taken
    uint32_t line;
};

// Locks, if the span is taken.
slr_status slri_heap_begin_give(slr_heap *heap, const slr_span *span, struct slri_given *given);
void slri_heap_account_given(slr_heap *heap, uint64_t bytes);
// Joins a piece to what is free.
void slri_heap_join(slr_heap *heap, struct slri_piece *piece);
// Unlocks and tells.
void slri_heap_end_give(slr_heap *heap, const slr_span *span, const struct slri_given *given);

#endif
