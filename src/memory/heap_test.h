// SPDX-License-Identifier: Apache-2.0
// What the tests of heaps share: a source of chunks that stores nothing, and random numbers.
#ifndef SLRI_MEMORY_HEAP_TEST_H
#define SLRI_MEMORY_HEAP_TEST_H

#include "base/status.h"
#include "device/device_test.h"
#include "memory/heap.h"

#define KIB ((uint64_t)1 << 10)
#define MIB ((uint64_t)1 << 20)

// Chunks of addresses that nobody may touch: as of a device that the host cannot reach.
struct source {
    uint64_t next;                       // the next chunk's address
    uint64_t chunks, bytes, most, calls; // that are out, and so far; `most`: a chunk may have
};

static inline slr_status source_create(void *self, uint64_t bytes, void **memory)
{
    struct source *source = self;
    ++source->calls;
    if (bytes > source->most)
        return SLRI_FAIL(NO_MEMORY, "no more is here");
    *memory = (void *)(uintptr_t)source->next;
    source->next += (bytes + 8191) / 4096 * 4096 + 64; // the next one begins at an odd multiple of 64
    ++source->chunks;
    source->bytes += bytes;
    return SLR_OK;
}

static inline void source_destroy(void *self, void *memory, uint64_t bytes)
{
    struct source *source = self;
    (void)memory;
    --source->chunks;
    source->bytes -= bytes;
}

#define SOURCE_INIT                                                                                                    \
    {                                                                                                                  \
        .next = 1 << 20, .most = UINT64_MAX                                                                            \
    }

static inline slr_heap *heap_on(struct source *source, const slr_heap_desc *desc)
{
    slr_heap *heap = NULL;
    const struct slri_heap_source from = {source_create, source_destroy, source};
    must(slri_heap_create(&from, NULL, desc, &heap));
    return heap;
}

// One chunk of so many bytes, which is the limit too.
static inline slr_heap *arena_on(struct source *source, uint64_t bytes)
{
    slr_heap_desc desc = SLR_HEAP_DESC_INIT;
    desc.name = "arena";
    desc.max_bytes = desc.chunk_bytes = bytes;
    return heap_on(source, &desc);
}

static inline slr_span take(slr_heap *heap, uint64_t bytes)
{
    slr_span span = {0};
    must(slr_heap_take(heap, bytes, 0, &span));
    return span;
}

static inline slr_heap_stats stats_of(slr_heap *heap)
{
    slr_heap_stats stats;
    must(slr_heap_get_stats(heap, &stats));
    return stats;
}

static inline void check_pieces(slr_heap *heap)
{
    uint64_t free_bytes;
    const char *wrong = slri_pieces_check(&heap->pieces, &free_bytes);
    if (wrong)
        fail_msg("%s", wrong);
    assert_int_equal(free_bytes, heap->held_bytes - heap->live_bytes - heap->behind_bytes);
}

// G. Marsaglia, "Xorshift RNGs", 2003.
static inline uint64_t next_random(uint64_t *state)
{
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return *state;
}

#endif
