// SPDX-License-Identifier: Apache-2.0
// A heap: pieces (pieces.h) under a lock, with a limit and counts, in chunks of whatever source it is given.
#ifndef SLRI_MEMORY_HEAP_H
#define SLRI_MEMORY_HEAP_H

#include "base/lock.h"
#include "memory/pieces.h"

#include <slipring/heap.h>

// Where chunks come from: a backend's two calls, or a test's. The memory is zeroed; NULL is no error.
struct slri_heap_source {
    slr_status (*create)(void *self, uint64_t bytes, void **memory);
    void (*destroy)(void *self, void *memory, uint64_t bytes);
    void *self;
};

struct slr_heap {
    slri_lock lock; // of all below
    struct slri_pieces pieces;
    uint64_t held_bytes, empty_bytes, chunks;
    uint64_t live_bytes, peak_bytes, taken, given, refused;
    // As it was made.
    uint64_t max_bytes, chunk_bytes, keep_bytes;
    struct slri_heap_source source;
    const slr_allocator *allocator; // of the host's part
    slr_device *device;             // held; NULL: none
    slr_on_memory *on_memory;
    void *memory_user;
    char name[48];
};

// slr_heap_create without a device. The allocator must outlive the heap.
slr_status slri_heap_create(const struct slri_heap_source *source, const slr_allocator *allocator,
                            const slr_heap_desc *desc, slr_heap **out);

struct slri_heap_source slri_heap_source_of(slr_device *device);

// Tells the watcher, if there is one, of all that is taken.
void slri_heap_report(slr_heap *heap);

// Without a report.
void slri_heap_destroy(slr_heap *heap);

#endif
