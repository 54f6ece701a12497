// SPDX-License-Identifier: Apache-2.0
// `slipring bench memory`, on CUDA: how long a load takes and how much is moved a second at each level of a GPU's
// memory, by kernels that slipring emits, beside the same text as CUDA C++ by hand.
#include "bench/bench.h"
#include "bench/chase.h"

#include "bench/batch.h"
#include "bench/cuda.h"
#include "clock.h"
#include "memory.h"
#include "say.h"

#include <slipring/slipring.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LINE = 128, WORDS = LINE / 4, HOPS = 1 << 15, SMALL_HOPS = 1 << 8, THREADS = 256 };

// Links are a line apart. The chain in shared memory is made by the block itself.
static const char source[] = BENCH_CHASE
    "__global__ void chase_shared(unsigned *at, int hops)\n"
    "{\n"
    "    __shared__ unsigned next[1024];\n"
    "    for (unsigned i = threadIdx.x; i < 1024u; i += blockDim.x)\n"
    "        next[i] = (i + 97u) % 1024u;\n"
    "    __syncthreads();\n"
    "    if (threadIdx.x == 0) {\n"
    "        unsigned here = at[0] % 1024u;\n"
    "        for (int i = 0; i < hops; i++)\n"
    "            here = next[here];\n"
    "        at[0] = here;\n"
    "    }\n"
    "}\n"
    "__global__ void triad(float *__restrict__ a, const float *__restrict__ b, const float *__restrict__ c, int n)\n"
    "{\n"
    "    int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
    "    if (i < n)\n"
    "        a[i] = b[i] + 2.0f * c[i];\n"
    "}\n"
    "__global__ void triad_rounds(float *__restrict__ a, const float *__restrict__ b, const float *__restrict__ c,\n"
    "                             int n)\n"
    "{\n"
    "    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)\n"
    "        a[i] = b[i] + 2.0f * c[i];\n"
    "}\n";

enum kernel { CHASE, CHASE_SHARED, TRIAD, TRIAD_ROUNDS, KERNELS };
static const char *const names[KERNELS] = {"chase", "chase_shared", "triad", "triad_rounds"};

typedef struct memory_bench {
    bench *bench;
    slr_stream *stream;
    slr_program *program;
    slr_kernel *kernel[KERNELS];
    slr_buffer *at, *buffer[3];
    cuda *cu;
    cuda_module *module;
    cuda_kernel by_hand[KERNELS];
    cuda_pointer at_by_hand, memory[3];
    enum kernel chases;
    int hops, n, rounds; // of a chase; floats, and launches, of a triad
} memory_bench;

// ---- slices --------------------------------------------------------------------------------------------------------

static slr_status chase(const memory_bench *m, int hops)
{
    slr_kernel *kernel = m->kernel[m->chases];
    slr_status status = m->chases == CHASE ? SLR_LAUNCH(m->stream, kernel, SLR_GRID(1, 1, 0), m->buffer[0], m->at, hops)
                                           : SLR_LAUNCH(m->stream, kernel, SLR_GRID(1, 32, 0), m->at, hops);
    return status == SLR_OK ? slr_stream_finish(m->stream, BENCH_TIMEOUT_NS) : status;
}

// So that the launch is no part of it, a long chase less a short one; that has filled the level, too.
static bool chase_slice(void *context, double *figures)
{
    const memory_bench *m = context;
    uint64_t start = clock_ns();
    slr_status status = chase(m, m->hops);
    uint64_t middle = clock_ns();
    if (status == SLR_OK)
        status = chase(m, 2 * m->hops);
    figures[0] = ((double)(clock_ns() - middle) - (double)(middle - start)) / m->hops;
    return status == SLR_OK || bench_failed(status, "chase");
}

static bool chase_by_hand(const memory_bench *m, int hops)
{
    cuda_pointer next = m->memory[0], at = m->at_by_hand;
    void *both[] = {&next, &at, &hops}, *shared[] = {&at, &hops};
    static const uint32_t one[] = {1, 1}, warp[] = {32, 1};
    return cuda_launch(m->cu, m->by_hand[m->chases], one, m->chases == CHASE ? one : warp,
                       m->chases == CHASE ? both : shared) &&
           cuda_finish(m->cu);
}

static bool failed_by_hand(void)
{
    say("memory, by hand: a kernel fails");
    return false;
}

static bool hand_chase_slice(void *context, double *figures)
{
    const memory_bench *m = context;
    uint64_t start = clock_ns();
    bool fine = chase_by_hand(m, m->hops);
    uint64_t middle = clock_ns();
    fine = fine && chase_by_hand(m, 2 * m->hops);
    figures[0] = ((double)(clock_ns() - middle) - (double)(middle - start)) / m->hops;
    return fine || failed_by_hand();
}

static double rate_of(const memory_bench *m, uint64_t start_ns)
{
    return 12.0 * m->n * m->rounds / (double)(clock_ns() - start_ns);
}

static bool triad_slice(void *context, double *figures)
{
    const memory_bench *m = context;
    slr_status status = SLR_OK;
    uint64_t start = clock_ns();
    for (int i = 0; i < m->rounds && status == SLR_OK; i++)
        status = SLR_LAUNCH(m->stream, m->kernel[TRIAD], SLR_1D_BLOCKS(m->n, THREADS), m->buffer[0], m->buffer[1],
                            m->buffer[2], m->n);
    if (status == SLR_OK)
        status = slr_stream_finish(m->stream, BENCH_TIMEOUT_NS);
    figures[0] = rate_of(m, start);
    return status == SLR_OK || bench_failed(status, "triad");
}

static bool hand_triad_slice(void *context, double *figures)
{
    const memory_bench *m = context;
    cuda_pointer a = m->memory[0], b = m->memory[1], c = m->memory[2];
    int n = m->n;
    void *arguments[] = {&a, &b, &c, &n};
    const uint32_t blocks[] = {(uint32_t)(n + THREADS - 1) / THREADS, 1}, threads[] = {THREADS, 1};
    bool fine = true;
    uint64_t start = clock_ns();
    for (int i = 0; i < m->rounds && fine; i++)
        fine = cuda_launch(m->cu, m->by_hand[TRIAD], blocks, threads, arguments);
    fine = fine && cuda_finish(m->cu);
    figures[0] = rate_of(m, start);
    return fine || failed_by_hand();
}

// One block a multiprocessor, so that what it has to hide waits with is the block's own warps.
static bool warps_slice(const memory_bench *m, uint32_t threads, double *figures)
{
    uint64_t start = clock_ns();
    slr_status status =
        SLR_LAUNCH(m->stream, m->kernel[TRIAD_ROUNDS], SLR_GRID(m->bench->info.compute_units, threads, 0), m->buffer[0],
                   m->buffer[1], m->buffer[2], m->n);
    if (status == SLR_OK)
        status = slr_stream_finish(m->stream, BENCH_TIMEOUT_NS);
    figures[0] = 12.0 * m->n / (double)(clock_ns() - start);
    return status == SLR_OK || bench_failed(status, "occupancy");
}

static bool eight_warps_slice(void *context, double *figures)
{
    return warps_slice(context, 256, figures);
}

static bool two_warps_slice(void *context, double *figures)
{
    return warps_slice(context, 64, figures);
}

// ---- memory --------------------------------------------------------------------------------------------------------

static bool make(memory_bench *m, unsigned arrays, size_t bytes, const void *from)
{
    for (unsigned i = 0; i < arrays; i++) {
        slr_status status = slr_buffer_create(m->bench->device, bytes, &m->buffer[i]);
        if (status == SLR_OK)
            status = slr_buffer_write(m->buffer[i], 0, from, bytes);
        if (status != SLR_OK)
            return bench_failed(status, "bench memory");
        m->memory[i] = cuda_take_own(m->cu, bytes);
        if (m->memory[i] == 0 || !cuda_copy_in(m->cu, m->memory[i], from, bytes, true)) {
            say("memory, by hand: no %zu bytes", bytes);
            return false;
        }
    }
    return true;
}

static void unmake(memory_bench *m)
{
    for (unsigned i = 0; i < 3; i++) {
        slr_buffer_destroy(m->buffer[i]);
        if (m->memory[i] != 0)
            cuda_give_own(m->cu, m->memory[i]);
        m->buffer[i] = NULL;
        m->memory[i] = 0;
    }
}

// One cycle through all lines, in steps that no prefetcher follows: lines are a power of two, and the step is odd.
static unsigned *make_chain(size_t bytes)
{
    size_t lines = bytes / LINE, step = lines / 2 + lines / 8 + 1;
    unsigned *chain = memory_take(bytes, 1);
    for (size_t i = 0; i < lines; i++)
        chain[i * WORDS] = (unsigned)((i + step) % lines * WORDS);
    return chain;
}

// ---- rows ----------------------------------------------------------------------------------------------------------

static bool measure(memory_bench *m, const char *name, const char *unit, const char *method, measure_slice *value,
                    measure_slice *floor)
{
    return bench_measure(m->bench, &(bench_case){.name = name,
                                                 .unit = unit,
                                                 .stats = {"median"},
                                                 .method = method,
                                                 .pair = {.value = value,
                                                          .floor = floor,
                                                          .value_context = m,
                                                          .floor_context = m,
                                                          .figures = 1,
                                                          .enough = MEASURE_KEPT,
                                                          .compiles = true}});
}

static bool measure_latency(memory_bench *m, const char *name, size_t bytes)
{
    char method[BENCH_METHOD_BYTES];
    if (!bench_wants(m->bench, name))
        return true;
    unsigned *chain = make_chain(bytes > 0 ? bytes : LINE);
    m->chases = bytes > 0 ? CHASE : CHASE_SHARED;
    m->hops = m->bench->small ? SMALL_HOPS : HOPS;
    snprintf(method, sizeof method,
             "The time of a load: in one launch a thread follows %d links, and in a second launch twice as many, "
             "through %zu KiB of %s; the time of the first launch is subtracted from that of the second. Floor: the "
             "same text, compiled by NVRTC and launched without slipring.",
             m->hops, bytes >> 10, bytes > 0 ? "the device's memory, a line each" : "shared memory (4)");
    bool fine =
        make(m, bytes > 0 ? 1 : 0, bytes, chain) && measure(m, name, "ns", method, chase_slice, hand_chase_slice);
    unmake(m);
    free(chain);
    return fine;
}

static bool measure_bandwidth(memory_bench *m, const char *name, size_t bytes)
{
    char method[BENCH_METHOD_BYTES];
    if (!bench_wants(m->bench, name))
        return true;
    float *zeros = memory_take(bytes / 3, 1);
    m->n = (int)(bytes / 3 / sizeof *zeros);
    m->rounds = m->bench->small ? 1 : 16;
    snprintf(method, sizeof method,
             "The STREAM triad, a = b + 2 c, with a thread for each float, over %zu KiB in all; %d launches and a "
             "wait; each float counts as 12 B. Floor: the same text, compiled by NVRTC and launched without slipring.",
             bytes >> 10, m->rounds);
    bool fine = make(m, 3, bytes / 3, zeros) && measure(m, name, "GB/s", method, triad_slice, hand_triad_slice);
    unmake(m);
    free(zeros);
    return fine;
}

static bool measure_occupancy(memory_bench *m, size_t bytes)
{
    static const char name[] = "occupancy";
    if (!bench_wants(m->bench, name))
        return true;
    float *zeros = memory_take(bytes / 3, 1);
    m->n = (int)(bytes / 3 / sizeof *zeros);
    bool fine = make(m, 3, bytes / 3, zeros) &&
                measure(m, name, "GB/s",
                        "The STREAM triad over the device's memory, with one block of 256 threads (8 warps) for each "
                        "multiprocessor. Floor: blocks of 64 threads (2 warps).",
                        eight_warps_slice, two_warps_slice);
    unmake(m);
    free(zeros);
    return fine;
}

// ---- all -----------------------------------------------------------------------------------------------------------

// The same text, in which kernels are found by name.
static bool compile_by_hand(memory_bench *m)
{
    const char *why = "";
    char text[sizeof source + 64];
    static const char linkage[] = "extern \"C\" {\n";
    snprintf(text, sizeof text, "%s%s}\n", linkage, source);
    m->module = cuda_compile(m->cu, text, "memory.cu", &why);
    bool found = m->module != NULL;
    for (int i = 0; i < KERNELS && found; i++)
        found = (m->by_hand[i] = cuda_find(m->cu, m->module, names[i])) != NULL;
    if (!found)
        say("memory, by hand: %s", why);
    return found;
}

static bool open(memory_bench *m)
{
    const char *why = "";
    slr_device *device = m->bench->device;
    slr_status status = slr_stream_create(device, NULL, &m->stream);
    if (status == SLR_OK)
        status = slr_program_from_text(device, "memory.cu", source, NULL, &m->program);
    for (int i = 0; i < KERNELS && status == SLR_OK; i++)
        status = slr_program_get_kernel(m->program, names[i], &m->kernel[i]);
    if (status == SLR_OK)
        status = slr_buffer_create(device, LINE, &m->at);
    if (status == SLR_OK)
        status = slr_buffer_write(m->at, 0, (unsigned[LINE / 4]){0}, LINE);
    if (status != SLR_OK)
        return bench_failed(status, "bench memory");
    if ((m->cu = cuda_open(m->bench->info.name, &why)) == NULL) {
        say("memory, by hand: %s", why);
        return false;
    }
    m->at_by_hand = cuda_take_own(m->cu, LINE);
    return m->at_by_hand != 0 && cuda_copy_in(m->cu, m->at_by_hand, (unsigned[LINE / 4]){0}, LINE, true) &&
           compile_by_hand(m);
}

static void close(memory_bench *m)
{
    if (m->cu != NULL) {
        cuda_unload(m->cu, m->module);
        if (m->at_by_hand != 0)
            cuda_give_own(m->cu, m->at_by_hand);
        cuda_close(m->cu);
    }
    slr_buffer_destroy(m->at);
    for (int i = 0; i < KERNELS; i++)
        slr_kernel_destroy(m->kernel[i]);
    slr_program_destroy(m->program);
    slr_stream_destroy(m->stream);
}

// 16 KiB are in L1 of any GPU, 8 MiB in L2 of those of today, 1 GiB in no cache.
bool bench_memory_cuda(bench *bench)
{
    memory_bench m = {.bench = bench};
    if (strcmp(bench->info.backend, "cuda") != 0)
        return true;
    size_t most = bench->small ? (size_t)16 << 10 : (size_t)1 << 30, l2 = bench->small ? most : (size_t)8 << 20;
    bool fine = open(&m) && measure_latency(&m, "latency_shared", 0) && measure_latency(&m, "latency_L1", 16 << 10) &&
                measure_latency(&m, "latency_L2", l2) && measure_latency(&m, "latency_global", most) &&
                measure_bandwidth(&m, "bandwidth_L2", l2) && measure_bandwidth(&m, "bandwidth_global", most) &&
                measure_occupancy(&m, most);
    close(&m);
    return bench_l2_window(bench) && fine;
}
