// SPDX-License-Identifier: Apache-2.0
// `slipring bench pool`: taking and giving memory of the device, beside allocators of the host's memory.
#include "bench.h"

#include "allocators.h"
#include "clock.h"
#include "memory.h"
#include "say.h"

#include <slipring/heap.h>

#include <stdlib.h>
#include <string.h>

enum {
    SLOTS = 1024,   // each holds a span or not: half of them do
    CALLS = 16,     // between two looks at the clock, which costs as much as a call
    BATCHES = 1000, // of a slice
    PROGRAM = 1 << 14
};

// What both sides do, in the same order: the slot of each call, and the size should it be empty.
typedef struct step {
    uint32_t slot, bytes;
} step;

typedef struct heap_bench {
    bench *bench;
    slr_heap *heap;
    allocator other;
    step program[PROGRAM];
    unsigned heap_at, other_at; // in the program
    slr_span span[SLOTS];
    void *block[SLOTS];
    double times[BATCHES];
} heap_bench;

static uint64_t next_random(uint64_t *state)
{
    *state ^= *state << 13; // G. Marsaglia, "Xorshift RNGs", 2003
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return *state;
}

// 64 B to 1 MiB, as many in each octave: small ones, which other allocators are made for, are not drowned.
static uint32_t random_bytes(uint64_t *state)
{
    uint64_t random = next_random(state);
    uint32_t octave = 64u << random % 14;
    return octave + (uint32_t)((random >> 32) % octave) + 1;
}

static void write_program(step *program)
{
    uint64_t state = 0x9E3779B97F4A7C15u;
    for (unsigned i = 0; i < PROGRAM; i++)
        program[i] = (step){(uint32_t)(next_random(&state) % SLOTS), random_bytes(&state)};
}

// ---- the heap and the other ----------------------------------------------------------------------------------------

static bool heap_step(heap_bench *bench, const step *step)
{
    slr_span *span = &bench->span[step->slot];
    if (span->piece == NULL)
        return slr_heap_take(bench->heap, step->bytes, 0, span) == SLR_OK;
    slr_status status = slr_heap_give(bench->heap, span);
    span->piece = NULL;
    return status == SLR_OK;
}

static bool other_step(heap_bench *bench, const step *step)
{
    void **block = &bench->block[step->slot];
    if (*block == NULL) {
        *block = bench->other.take(step->bytes);
        return *block != NULL;
    }
    bench->other.give(*block);
    *block = NULL;
    return true;
}

static void summarise(heap_bench *bench, double *figures)
{
    measure_sort(bench->times, BATCHES);
    figures[0] = measure_quantile(bench->times, BATCHES, 0.5);
    figures[1] = measure_quantile(bench->times, BATCHES, 0.99);
}

typedef bool take_step(heap_bench *bench, const step *step);

// A call's time is that of a batch without its look at the clock, divided by its calls.
static inline bool time_steps(heap_bench *bench, take_step *take, unsigned *at, double *figures)
{
    for (unsigned i = 0; i < BATCHES; i++) {
        const step *first = &bench->program[*at];
        bool fine = true;
        uint64_t start = clock_ns();
        for (unsigned k = 0; k < CALLS; k++)
            fine &= take(bench, first + k);
        bench->times[i] = ((double)(clock_ns() - start) - bench->bench->clock_ns) / CALLS;
        if (!fine)
            return false;
        *at = (*at + CALLS) % PROGRAM;
    }
    summarise(bench, figures);
    return true;
}

static bool heap_slice(void *context, double *figures)
{
    heap_bench *bench = context;
    return time_steps(bench, heap_step, &bench->heap_at, figures) || (say("slr_heap: %s", slr_error_message()), false);
}

static bool other_slice(void *context, double *figures)
{
    heap_bench *bench = context;
    return time_steps(bench, other_step, &bench->other_at, figures) || (say("%s: no memory", bench->other.name), false);
}

// ---- the rows ------------------------------------------------------------------------------------------------------

static bool measure_heap(heap_bench *bench, const char *row, const char *method)
{
    bench_case what = {row, "ns", {"p50", "p99"}, method, {.value = heap_slice, .floor = other_slice, .figures = 2}};
    what.pair.value_context = what.pair.floor_context = bench;
    bool fine = bench_measure(bench->bench, &what);
    for (unsigned i = 0; i < SLOTS; i++) {
        if (bench->block[i] != NULL)
            bench->other.give(bench->block[i]);
        bench->block[i] = NULL;
    }
    return fine;
}

#define HEAP_METHOD                                                                                                    \
    "a call of slr_heap_take or slr_heap_give, 64 B to 1 MiB, as many in each octave, 1,024 slots at random, 16 "      \
    "calls "                                                                                                           \
    "timed at once. "

static bool measure_all(heap_bench *bench)
{
    if (allocator_mimalloc(&bench->other)) {
        if (!measure_heap(bench, "heap_random", HEAP_METHOD "floor: mimalloc's mi_malloc and mi_free, the same calls."))
            return false;
        bench->other = allocator_libc();
        return measure_heap(bench, "heap_random_libc", HEAP_METHOD "floor: the C library's malloc and free.");
    }
    bench->other = allocator_libc();
    return measure_heap(bench, "heap_random",
                        HEAP_METHOD "floor: the C library's malloc and free, for " ALLOCATOR_MIMALLOC_MISSING ".");
}

bool bench_pool(bench *bench)
{
    heap_bench *heap = memory_take(1, sizeof *heap);
    heap->bench = bench;
    write_program(heap->program);
    slr_heap_desc desc = SLR_HEAP_DESC_INIT;
    desc.name = "bench";
    slr_status status = slr_heap_create(bench->device, &desc, &heap->heap);
    bool fine = status == SLR_OK ? measure_all(heap) : (say_failure(status, "slr_heap_create"), false);
    slr_heap_destroy(heap->heap);
    free(heap);
    return fine;
}
