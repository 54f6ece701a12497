// SPDX-License-Identifier: Apache-2.0
// `slipring bench pool`: taking and giving memory of the device, beside allocators of the host's memory.
#include "bench/bench.h"

#include "bench/allocators.h"
#include "clock.h"
#include "memory.h"
#include "say.h"

#include <slipring/pool.h>

#include <stdlib.h>
#include <string.h>

enum {
    SLOTS = 1024,   // each holds a span or not: half of them do
    CALLS = 16,     // between two looks at the clock, which costs as much as a call
    BATCHES = 1000, // of a slice
    PROGRAM = 1 << 14,
    PAIR_BYTES = 4096 // of what is taken and given at once
};

// What both sides do, in the same order: the slot of each call, and the size should it be empty. Pairs need neither.
typedef struct step {
    uint32_t slot, bytes;
} step;

typedef struct pool_bench {
    bench *bench;
    slr_heap *heap, *direct;    // `direct`: each span is a chunk, which the device makes and takes back
    slr_pool *pool, *forgetful; // `forgetful` keeps nothing
    allocator other;
    step program[PROGRAM];
    unsigned value_at, floor_at; // in the program
    slr_span span[SLOTS];
    void *block[SLOTS];
    double times[BATCHES];
} pool_bench;

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

static bool heap_step(pool_bench *bench, const step *step)
{
    slr_span *span = &bench->span[step->slot];
    if (span->piece == NULL)
        return slr_heap_take(bench->heap, step->bytes, 0, span) == SLR_OK;
    slr_status status = slr_heap_give(bench->heap, span);
    span->piece = NULL;
    return status == SLR_OK;
}

static bool other_step(pool_bench *bench, const step *step)
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

// ---- pairs ---------------------------------------------------------------------------------------------------------

static inline bool pool_pair(slr_pool *pool)
{
    slr_buffer *buffer;
    if (slr_pool_acquire(pool, PAIR_BYTES, SLR_U8, &buffer) != SLR_OK)
        return false;
    slr_buffer_destroy(buffer);
    return true;
}

static bool hit_step(pool_bench *bench, const step *step)
{
    (void)step;
    return pool_pair(bench->pool);
}

static bool miss_step(pool_bench *bench, const step *step)
{
    (void)step;
    return pool_pair(bench->forgetful);
}

static bool device_step(pool_bench *bench, const step *step)
{
    (void)step;
    slr_span span;
    return slr_heap_take(bench->direct, PAIR_BYTES, 0, &span) == SLR_OK &&
           slr_heap_give(bench->direct, &span) == SLR_OK;
}

static bool other_pair_step(pool_bench *bench, const step *step)
{
    (void)step;
    void *volatile memory = bench->other.take(PAIR_BYTES); // or the compiler would leave malloc and free out
    bench->other.give(memory);
    return memory != NULL;
}

// ---- time ----------------------------------------------------------------------------------------------------------

static void summarise(pool_bench *bench, double *figures)
{
    measure_sort(bench->times, BATCHES);
    figures[0] = measure_quantile(bench->times, BATCHES, 0.5);
    figures[1] = measure_quantile(bench->times, BATCHES, 0.99);
}

typedef bool take_step(pool_bench *bench, const step *step);

// A step's time is that of a batch without its look at the clock, divided by its steps.
static inline bool time_steps(pool_bench *bench, take_step *take, unsigned *at, double *figures)
{
    for (unsigned i = 0; i < BATCHES; i++) {
        const step *first = &bench->program[*at];
        bool fine = true;
        uint64_t start = clock_ns();
        for (unsigned k = 0; k < CALLS; k++)
            fine &= take(bench, first + k);
        bench->times[i] = ((double)(clock_ns() - start) - bench->bench->clock_ns) / CALLS;
        if (!fine) {
            say("out of memory: %s", slr_error_message());
            return false;
        }
        *at = (*at + CALLS) % PROGRAM;
    }
    summarise(bench, figures);
    return true;
}

// A function for each, so that the step is inlined in its loop.
#define SLICE(name, at)                                                                                                \
    static bool name##_slice(void *context, double *figures)                                                           \
    {                                                                                                                  \
        pool_bench *bench = context;                                                                                   \
        return time_steps(bench, name##_step, &bench->at, figures);                                                    \
    }
SLICE(heap, value_at)
SLICE(other, floor_at)
SLICE(hit, value_at)
SLICE(miss, value_at)
SLICE(other_pair, floor_at)
SLICE(device, floor_at)

// ---- the rows ------------------------------------------------------------------------------------------------------

#define HEAP                                                                                                           \
    "The time of a call of slr_heap_take or slr_heap_give: pieces of 64 B to 1 MiB, equally many between any two "     \
    "powers of two, for 1,024 places in random order; 16 calls are timed together. "
#define HIT                                                                                                            \
    "The time of slr_pool_acquire, which finds a free buffer of 4 KiB in the pool, and of slr_buffer_destroy; 16 "     \
    "such pairs are timed together. "
#define MISS                                                                                                           \
    "The time of slr_pool_acquire of 4 KiB from a pool that keeps no free buffer, and of slr_buffer_destroy; 16 such " \
    "pairs are timed together. "
#define MIMALLOC "Floor: mi_malloc and mi_free of mimalloc, with the same sizes."
#define LIBC "Floor: malloc and free of the C library, with the same sizes."
#define NO_MIMALLOC                                                                                                    \
    "Floor: malloc and free of the C library, with the same sizes, because " ALLOCATOR_MIMALLOC_MISSING "."

static const struct row {
    const char *name, *method, *without_mimalloc; // the last NULL: not against mimalloc
    measure_slice *value, *floor;
} rows[] = {
    {"heap_random", HEAP MIMALLOC, HEAP NO_MIMALLOC, heap_slice, other_slice},
    {"heap_random_libc", HEAP LIBC, NULL, heap_slice, other_slice},
    {"pool_hit", HIT MIMALLOC, HIT NO_MIMALLOC, hit_slice, other_pair_slice},
    {"pool_hit_libc", HIT LIBC, NULL, hit_slice, other_pair_slice},
    {"pool_miss", MISS "Floor: the device's own calls that allocate and free such memory.", NULL, miss_slice,
     device_slice},
};

static bool measure_row(pool_bench *bench, const struct row *row)
{
    bool with_mimalloc = row->without_mimalloc != NULL && allocator_mimalloc(&bench->other);
    if (!with_mimalloc)
        bench->other = allocator_libc();
    bench_case what = {row->name,
                       "ns",
                       {"p50", "p99"},
                       row->without_mimalloc != NULL && !with_mimalloc ? row->without_mimalloc : row->method,
                       {.value = row->value, .floor = row->floor, .figures = 2}};
    what.pair.value_context = what.pair.floor_context = bench;
    bool fine = bench_measure(bench->bench, &what);
    for (unsigned i = 0; i < SLOTS; i++) {
        if (bench->block[i] != NULL)
            bench->other.give(bench->block[i]);
        bench->block[i] = NULL;
    }
    return fine;
}

static slr_status open_all(pool_bench *bench)
{
    slr_device *device = bench->bench->device;
    slr_heap_desc direct = SLR_HEAP_DESC_INIT;
    direct.chunk_bytes = PAIR_BYTES;
    direct.keep_bytes = 1; // none
    slr_pool_desc forgetful = SLR_POOL_DESC_INIT;
    forgetful.keep_bytes = 1;
    slr_status status = slr_heap_create(device, NULL, &bench->heap);
    if (status == SLR_OK)
        status = slr_heap_create(device, &direct, &bench->direct);
    if (status == SLR_OK)
        status = slr_pool_create(device, &forgetful, &bench->forgetful);
    if (status == SLR_OK)
        status = slr_device_get_pool(device, &bench->pool);
    return status;
}

bool bench_pool(bench *bench)
{
    pool_bench *pool = memory_take(1, sizeof *pool);
    pool->bench = bench;
    write_program(pool->program);
    slr_status status = open_all(pool);
    bool fine = status == SLR_OK || (say_failure(status, "bench pool"), false);
    for (size_t i = 0; fine && i < sizeof rows / sizeof *rows; i++)
        fine = measure_row(pool, &rows[i]);
    slr_pool_destroy(pool->forgetful);
    slr_heap_destroy(pool->direct);
    slr_heap_destroy(pool->heap);
    free(pool);
    return fine;
}
