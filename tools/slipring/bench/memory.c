// SPDX-License-Identifier: Apache-2.0
// `slipring bench memory`: how long a load takes and how much a second can be moved at each level of the memory, by
// kernels on the device, beside the same loops in plain C.
#include "bench/bench.h"
#include "bench/chase.h"

#include "bench/batch.h"
#include "clock.h"
#include "memory.h"
#include "say.h"

#include <slipring/slipring.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { LEVELS = 4, LINE = 64, WORDS = LINE / 4, MOST_THREADS = 2, HOPS = 1 << 16 };

static const char source[] = BENCH_CHASE
    "__global__ void triad(float *__restrict__ a, const float *__restrict__ b, const float *__restrict__ c, int n,\n"
    "                      int rounds)\n"
    "{\n"
    "    int first = blockIdx.x * n;\n"
    "    for (int r = 0; r < rounds; r++)\n"
    "        for (int i = 0; i < n; i++)\n"
    "            a[first + i] = b[first + i] + (float)(r + 2) * c[first + i];\n"
    "}\n";

typedef struct memory_bench {
    bench *bench;
    slr_stream *stream;
    slr_program *program;
    slr_kernel *chase, *triad;
    slr_buffer *next, *at, *abc[3]; // of the level in hand
    unsigned *chain;                // the floor's, with the next
    float *floats[3];
    unsigned here; // so that no load is left out
    int n, rounds; // floats a thread, and times
    int warm_up;   // links to follow before the clock is read, so that the level holds them again: 0, for the memory
} memory_bench;

// ---- levels --------------------------------------------------------------------------------------------------------

typedef struct level {
    const char *name, *latency, *bandwidth;
    size_t bytes; // that are worked on
} level;

static size_t cache_bytes(int name, size_t otherwise)
{
    long bytes = sysconf(name);
    return bytes > 0 ? (size_t)bytes : otherwise;
}

// Half of each cache, so that what else there is does not push it out; less of the last, which others use too; and for
// the memory itself more than all of them.
static void find_levels(level *levels)
{
    size_t l1 = cache_bytes(_SC_LEVEL1_DCACHE_SIZE, 32 << 10), l2 = cache_bytes(_SC_LEVEL2_CACHE_SIZE, 1 << 20);
    size_t l3 = cache_bytes(_SC_LEVEL3_CACHE_SIZE, 32 << 20), most = 32 << 20;
    if (l3 <= 2 * l2)
        l3 = 4 * l2;
    levels[0] = (level){"L1", "latency_L1", "bandwidth_L1", l1 / 2};
    levels[1] = (level){"L2", "latency_L2", "bandwidth_L2", l2 / 2};
    levels[2] = (level){"L3", "latency_L3", "bandwidth_L3", l3 / 4 < most ? l3 / 4 : most};
    levels[3] =
        (level){"DRAM", "latency_DRAM", "bandwidth_DRAM", (l3 > (size_t)128 << 20 ? 2 * l3 : (size_t)256 << 20)};
}

// ---- a load behind a load ------------------------------------------------------------------------------------------

// One cycle through all lines, in random order (S. Sattolo, "An algorithm to generate a random cyclic permutation",
// 1986), so that nothing can be fetched ahead.
static void make_chain(unsigned *chain, size_t lines)
{
    uint64_t random = 0x9E3779B97F4A7C15u;
    unsigned *order = memory_take(lines, sizeof *order);
    for (size_t i = 0; i < lines; i++)
        order[i] = (unsigned)i;
    for (size_t i = lines - 1; i > 0; i--) {
        random ^= random << 13; // G. Marsaglia, "Xorshift RNGs", 2003
        random ^= random >> 7;
        random ^= random << 17;
        size_t other = random % i;
        unsigned kept = order[i];
        order[i] = order[other];
        order[other] = kept;
    }
    for (size_t i = 0; i < lines; i++)
        chain[order[i] * WORDS] = order[(i + 1) % lines] * WORDS;
    free(order);
}

static slr_status follow(memory_bench *m, int hops)
{
    slr_status status = SLR_LAUNCH(m->stream, m->chase, SLR_GRID(1, 1, 0), m->next, m->at, hops);
    return status == SLR_OK ? slr_stream_finish(m->stream, BENCH_TIMEOUT_NS) : status;
}

static bool chase_slice(void *context, double *figures)
{
    memory_bench *m = context;
    slr_status status = follow(m, m->warm_up);
    uint64_t start = clock_ns();
    if (status == SLR_OK)
        status = follow(m, HOPS);
    figures[0] = (double)(clock_ns() - start) / HOPS;
    return status == SLR_OK || bench_failed(status, "chase");
}

static void follow_bare(memory_bench *m, int hops)
{
    unsigned here = m->here;
    for (int i = 0; i < hops; i++)
        here = m->chain[here];
    m->here = here;
}

static bool bare_chase_slice(void *context, double *figures)
{
    memory_bench *m = context;
    follow_bare(m, m->warm_up);
    uint64_t start = clock_ns();
    follow_bare(m, HOPS);
    figures[0] = (double)(clock_ns() - start) / HOPS;
    return true;
}

static bool measure_latency(memory_bench *m, const level *level, bool is_cache)
{
    char method[BENCH_METHOD_BYTES];
    if (!bench_wants(m->bench, level->latency))
        return true;
    m->chain = bench_lines(level->bytes);
    make_chain(m->chain, level->bytes / LINE);
    m->warm_up = is_cache ? (int)(level->bytes / LINE) : 0;
    slr_status status = slr_buffer_create(m->bench->device, level->bytes, &m->next);
    if (status == SLR_OK)
        status = slr_buffer_write(m->next, 0, m->chain, level->bytes);
    snprintf(method, sizeof method,
             "The time of a load: one thread of a kernel follows 65,536 links, each to a random cache line of %zu KiB, "
             "in pages of the system's default size; the time includes the launch. The lines were read into the caches "
             "before. Floor: the same in plain C, on the caller's core.",
             level->bytes >> 10);
    bench_case what = {level->latency,
                       "ns",
                       {"median"},
                       method,
                       {.value = chase_slice,
                        .floor = bare_chase_slice,
                        .value_context = m,
                        .floor_context = m,
                        .figures = 1,
                        .enough = MEASURE_KEPT}};
    bool fine = status == SLR_OK ? bench_measure(m->bench, &what) : bench_failed(status, level->latency);
    slr_buffer_destroy(m->next);
    m->next = NULL;
    m->here = 0;
    free(m->chain);
    return fine;
}

// ---- many at once --------------------------------------------------------------------------------------------------

static double rate_of(const memory_bench *m, uint64_t start_ns)
{
    double bytes = 3.0 * sizeof(float) * m->n * m->rounds * MOST_THREADS;
    return bytes / (double)(clock_ns() - start_ns);
}

static bool triad_slice(void *context, double *figures)
{
    memory_bench *m = context;
    uint64_t start = clock_ns();
    slr_status status =
        SLR_LAUNCH(m->stream, m->triad, SLR_GRID(MOST_THREADS, 1, 0), m->abc[0], m->abc[1], m->abc[2], m->n, m->rounds);
    if (status == SLR_OK)
        status = slr_stream_finish(m->stream, BENCH_TIMEOUT_NS);
    figures[0] = rate_of(m, start);
    return status == SLR_OK || bench_failed(status, "triad");
}

static void triad_part(memory_bench *m, size_t first)
{
    float *restrict a = m->floats[0] + first;
    const float *restrict b = m->floats[1] + first, *restrict c = m->floats[2] + first;
    for (int r = 0; r < m->rounds; r++)
        for (int i = 0; i < m->n; i++)
            a[i] = b[i] + (float)(r + 2) * c[i];
}

static void second_part(void *context)
{
    memory_bench *m = context;
    triad_part(m, (size_t)m->n);
}

static bool bare_triad_slice(void *context, double *figures)
{
    memory_bench *m = context;
    uint64_t start = clock_ns();
    partner_run(m->bench->partner, second_part, m);
    triad_part(m, 0);
    partner_join(m->bench->partner);
    figures[0] = rate_of(m, start);
    return true;
}

static slr_status make_arrays(memory_bench *m, size_t bytes)
{
    slr_status status = SLR_OK;
    for (int i = 0; i < 3; i++) {
        m->floats[i] = bench_lines(bytes);
        if (status == SLR_OK)
            status = slr_buffer_create(m->bench->device, bytes, &m->abc[i]);
        if (status == SLR_OK) // zeros, but each page is there
            status = slr_buffer_write(m->abc[i], 0, m->floats[i], bytes);
    }
    return status;
}

static void free_arrays(memory_bench *m)
{
    for (int i = 0; i < 3; i++) {
        free(m->floats[i]);
        slr_buffer_destroy(m->abc[i]);
        m->abc[i] = NULL;
    }
}

// The first two levels are a core's own; of the others each thread gets its part.
static bool measure_bandwidth(memory_bench *m, const level *level, bool is_cores_own)
{
    char method[BENCH_METHOD_BYTES];
    if (!bench_wants(m->bench, level->bandwidth))
        return true;
    size_t each = level->bytes / (is_cores_own ? 1 : MOST_THREADS) / 3 / LINE * LINE;
    m->n = (int)(each / sizeof(float));
    m->rounds = each < (4u << 20) ? (int)((4u << 20) / each) : 1;
    slr_status status = make_arrays(m, each * MOST_THREADS);
    snprintf(method, sizeof method,
             "The STREAM triad, a = b + s c, by %d threads of a kernel, each over %zu KiB of its own, %d times in a "
             "launch; each float counts as 12 B. Floor: the same in plain C on two cores.",
             MOST_THREADS, 3 * each >> 10, m->rounds);
    bench_case what = {level->bandwidth,
                       "GB/s",
                       {"median"},
                       method,
                       {.value = triad_slice,
                        .floor = bare_triad_slice,
                        .value_context = m,
                        .floor_context = m,
                        .figures = 1,
                        .enough = MEASURE_KEPT}};
    bool fine = status == SLR_OK ? bench_measure(m->bench, &what) : bench_failed(status, level->bandwidth);
    free_arrays(m);
    return fine;
}

// ---- all -----------------------------------------------------------------------------------------------------------

static bool open_kernels(memory_bench *m)
{
    slr_device *device = m->bench->device;
    partner_free_caller(m->bench->partner); // the device's threads must not inherit the caller's core
    slr_status status = slr_stream_create(device, NULL, &m->stream);
    if (status == SLR_OK)
        status = slr_program_from_text(device, "memory.cu", source, NULL, &m->program);
    if (status == SLR_OK)
        status = slr_program_get_kernel(m->program, "chase", &m->chase);
    if (status == SLR_OK)
        status = slr_program_get_kernel(m->program, "triad", &m->triad);
    if (status == SLR_OK)
        status = slr_buffer_create(device, sizeof(unsigned), &m->at);
    if (status == SLR_OK)
        status = make_arrays(m, 1 << 20);
    m->n = (1 << 20) / (int)sizeof(float) / MOST_THREADS;
    m->rounds = 64; // long enough for every thread of the device to be started
    double unused;
    bool fine = status == SLR_OK ? triad_slice(m, &unused) : bench_failed(status, "bench memory");
    free_arrays(m);
    partner_move_caller(m->bench->partner, false);
    return fine;
}

bool bench_memory(bench *bench)
{
    level levels[LEVELS];
    memory_bench m = {.bench = bench};
    if (strcmp(bench->info.backend, "cuda") == 0) // bench_memory_cuda.c: its levels are others, and its threads many
        return true;
    find_levels(levels);
    bool fine = open_kernels(&m);
    for (int i = 0; i < LEVELS && fine; i++)
        fine = measure_latency(&m, &levels[i], i < LEVELS - 1);
    for (int i = 0; i < LEVELS && fine; i++)
        fine = measure_bandwidth(&m, &levels[i], i < 2);
    slr_buffer_destroy(m.at);
    slr_kernel_destroy(m.chase);
    slr_kernel_destroy(m.triad);
    slr_program_destroy(m.program);
    slr_stream_destroy(m.stream);
    return fine;
}
