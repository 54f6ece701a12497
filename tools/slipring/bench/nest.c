// SPDX-License-Identifier: Apache-2.0
// `slipring bench throughput`, on a device that is no CPU: a batched `__ring_block__` handler of loops within loops,
// beside a kernel of the same loops, which counts no fuel.
#include "bench/bench.h"

#include "bench/batch.h"
#include "clock.h"
#include "memory.h"

#include <stdlib.h>
#include <string.h>

enum { INSTANCES = 32, THREADS = 64, ROUNDS = 8 };

static const char source[] =
    "struct message { unsigned word[16]; };\n"
    "#define LOOPS(first, t, sum) \\\n"
    "    for (unsigned i = 0; i < 64u; i++) \\\n"
    "        for (unsigned j = 0; j < 16u; j++) { \\\n"
    "            unsigned part = first; \\\n"
    "            for (unsigned k = 0; k < 4u; k++) \\\n"
    "                part = (part ^ (t + k)) * (j + 3u); \\\n"
    "            sum += part + i; \\\n"
    "        }\n"
    "__ring_block__ void __launch_bounds__(64) loops(const struct message *in, unsigned *out)\n"
    "{\n"
    "    unsigned sum = 0, first = in->word[0], t = threadIdx.x;\n"
    "    LOOPS(first, t, sum)\n"
    "    out[ring_instance() * 64u + t] = sum;\n"
    "}\n"
    "__global__ void by_hand(const struct message *in, unsigned *out)\n"
    "{\n"
    "    unsigned sum = 0, first = in[blockIdx.x].word[0], t = threadIdx.x;\n"
    "    LOOPS(first, t, sum)\n"
    "    out[blockIdx.x * 64u + t] = sum;\n"
    "}\n";

typedef struct nest {
    bench_ring ring;
    slr_program *program; // of the kernel, with its own buffers
    slr_kernel *kernel;
    slr_stream *stream;
    slr_buffer *in, *sums, *sums_by_hand;
    bench_message messages[INSTANCES];
    uint32_t instances[INSTANCES], first; // first: word 0 of the last round
    uint64_t sent;
} nest;

static void fill(nest *n)
{
    n->first++;
    for (uint32_t i = 0; i < INSTANCES; i++)
        n->messages[i].word[0] = n->first + i;
}

static uint32_t sum_of(uint32_t first, uint32_t t)
{
    uint32_t sum = 0;
    for (uint32_t i = 0; i < 64; i++)
        for (uint32_t j = 0; j < 16; j++) {
            uint32_t part = first;
            for (uint32_t k = 0; k < 4; k++)
                part = (part ^ (t + k)) * (j + 3);
            sum += part + i;
        }
    return sum;
}

static bool sums_are_right(const nest *n, slr_buffer *sums, const char *what)
{
    static uint32_t is[INSTANCES * THREADS];
    slr_status status = slr_buffer_read(sums, 0, is, sizeof is);
    for (uint32_t i = 0; i < INSTANCES * THREADS && status == SLR_OK; i += 77)
        if (is[i] != sum_of(n->first + i / THREADS, i % THREADS))
            return bench_failed(SLR_OK, what);
    return status == SLR_OK || bench_failed(status, what);
}

static bool ring_slice(void *context, double *figures)
{
    nest *n = context;
    uint64_t start = clock_ns();
    for (uint32_t i = 0; i < ROUNDS; i++) {
        fill(n);
        slr_status status = slr_send_many(n->ring.port, n->ring.to, n->instances, n->messages, sizeof *n->messages,
                                          INSTANCES, BENCH_TIMEOUT_NS, NULL);
        n->sent += INSTANCES;
        if (status != SLR_OK)
            return bench_failed(status, "slr_send_many");
    }
    bool fine = bench_await_handled(&n->ring, n->sent);
    figures[0] = bench_per_second(ROUNDS * INSTANCES, start);
    return fine && sums_are_right(n, n->sums, "loops");
}

static bool kernel_slice(void *context, double *figures)
{
    nest *n = context;
    slr_status status = SLR_OK;
    uint64_t start = clock_ns();
    for (uint32_t i = 0; i < ROUNDS && status == SLR_OK; i++) {
        fill(n);
        status = slr_buffer_write(n->in, 0, n->messages, sizeof n->messages);
        if (status == SLR_OK)
            status = SLR_LAUNCH(n->stream, n->kernel, SLR_GRID(INSTANCES, THREADS, 0), n->in, n->sums_by_hand);
        if (status == SLR_OK)
            status = slr_stream_finish(n->stream, BENCH_TIMEOUT_NS);
    }
    figures[0] = bench_per_second(ROUNDS * INSTANCES, start);
    return status == SLR_OK ? sums_are_right(n, n->sums_by_hand, "by_hand") : bench_failed(status, "by_hand");
}

// ---- the row -------------------------------------------------------------------------------------------------------

static bool open_loops(bench *bench, nest *n)
{
    slr_ring_desc desc = SLR_RING_DESC_INIT;
    slr_binding binding = {.name = "out"};
    slr_device *device = bench->device;
    slr_status status = slr_program_from_text(device, "loops.cu", source, NULL, &n->ring.program);
    if (status == SLR_OK)
        status = slr_buffer_create(device, INSTANCES * THREADS * sizeof(uint32_t), &n->sums);
    binding.buffer = n->sums;
    desc.program = n->ring.program;
    desc.handler = "loops";
    desc.instances = INSTANCES;
    desc.mode = SLR_RING_RELAUNCHED;
    desc.message_bytes = sizeof(bench_message);
    desc.bindings = &binding;
    desc.binding_count = 1;
    if (status == SLR_OK)
        status = bench_ring_start(bench, &desc, &n->ring);
    return status == SLR_OK || bench_failed(status, "loops");
}

static bool open_kernel(bench *bench, nest *n)
{
    slr_status status = slr_stream_create(bench->device, NULL, &n->stream);
    if (status == SLR_OK)
        status = slr_program_get_kernel(n->ring.program, "by_hand", &n->kernel);
    if (status == SLR_OK)
        status = slr_buffer_create(bench->device, sizeof n->messages, &n->in);
    if (status == SLR_OK)
        status = slr_buffer_create(bench->device, INSTANCES * THREADS * sizeof(uint32_t), &n->sums_by_hand);
    return status == SLR_OK || bench_failed(status, "by_hand");
}

bool bench_nest(bench *bench)
{
    const bench_case row = {
        .name = "relaunch_loops",
        .unit = "msg/s",
        .stats = {"median"},
        .method = "Messages a second to a batched ring kernel, until all are handled: 8 calls of slr_send_many, each "
                  "with one message to each of 32 instances. 64 threads handle each message, and each thread runs an "
                  "inner loop of 4 iterations 1,024 times. Floor: the same loops in a kernel of 32 blocks that counts "
                  "no fuel: 8 times a write, a launch and a wait.",
        .pair = {.value = ring_slice, .floor = kernel_slice, .figures = 1},
    };
    if (strcmp(bench->info.backend, "cpu") == 0 || strcmp(bench->info.backend, "null") == 0 ||
        strstr(bench->info.name, "ring=") != NULL || !bench_wants(bench, row.name))
        return true;
    nest *n = memory_take(1, sizeof *n);
    bench_case made = row;
    made.pair.value_context = made.pair.floor_context = n;
    for (uint32_t i = 0; i < INSTANCES; i++)
        n->instances[i] = i;
    bool fine = open_loops(bench, n) && open_kernel(bench, n) && bench_measure(bench, &made);
    slr_kernel_destroy(n->kernel);
    bench_ring_close(&n->ring);
    slr_stream_destroy(n->stream);
    slr_buffer_destroy(n->in);
    slr_buffer_destroy(n->sums);
    slr_buffer_destroy(n->sums_by_hand);
    free(n);
    return fine;
}
