// SPDX-License-Identifier: Apache-2.0
// `slipring bench cluster`: two devices of one core beside one of two, how long they wait for each other, and copies
// between devices beside memcpy. On CPU devices, whichever --device names.
#include "bench/bench.h"

#include "bench/batch.h"
#include "clock.h"
#include "memory.h"
#include "say.h"

#include <slipring/slipring.h>

#include <stdlib.h>
#include <string.h>

enum { CLUSTER_ITEMS = 1 << 20, CLUSTER_ROUNDS = 200, COPY_BYTES = 64 << 20 };

static const char polynomial[] = "__global__ void polynomial(const float *x, float *y, int rounds, int n)\n"
                                 "{\n"
                                 "    int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
                                 "    if (i >= n)\n"
                                 "        return;\n"
                                 "    float v = x[i];\n"
                                 "    for (int r = 0; r < rounds * SLOWER; ++r)\n"
                                 "        v = v * 0.99f + 0.5f;\n"
                                 "    y[i] = v;\n"
                                 "}\n";

// A cluster of one or two devices, with the kernel on each; the second one's may take `slower` times as long.
typedef struct team {
    slr_cluster *cluster;
    slr_kernel *kernels[2];
    slr_buffer *x, *y;
    uint64_t items;
    int rounds;
    slr_balance balance;
} team;

static slr_status load_kernel(team *t, uint32_t index, const char *slower)
{
    slr_device *device;
    slr_program *program = NULL;
    slr_program_desc desc = SLR_PROGRAM_DESC_INIT;
    const char *const defines[] = {slower};
    desc.defines = defines;
    desc.define_count = 1;
    slr_status status = slr_cluster_get_device(t->cluster, index, &device);
    if (status == SLR_OK)
        status = slr_program_from_text(device, "polynomial.cu", polynomial, &desc, &program);
    if (status == SLR_OK)
        status = slr_program_get_kernel(program, "polynomial", &t->kernels[index]);
    slr_program_destroy(program);
    return status;
}

static bool make_team(const bench *bench, team *t, const char *names, const char *slower)
{
    slr_device *first;
    t->items = bench_size(bench, CLUSTER_ITEMS);
    t->rounds = t->rounds ? t->rounds : CLUSTER_ROUNDS;
    partner_free_caller(bench->partner); // the devices' threads must not inherit the caller's core
    slr_status status = slr_cluster_create_named(names, NULL, &t->cluster);
    for (uint32_t i = 0; i < slr_cluster_size(t->cluster) && status == SLR_OK; i++)
        status = load_kernel(t, i, i == 0 ? "SLOWER=1" : slower);
    if (status == SLR_OK)
        status = slr_cluster_get_device(t->cluster, 0, &first);
    if (status == SLR_OK)
        status = slr_buffer_create(first, t->items * sizeof(float), &t->x);
    if (status == SLR_OK)
        status = slr_buffer_create(first, t->items * sizeof(float), &t->y);
    partner_move_caller(bench->partner, false);
    return status == SLR_OK || bench_failed(status, "cluster");
}

static void end_team(team *t)
{
    slr_buffer_destroy(t->x);
    slr_buffer_destroy(t->y);
    for (int i = 0; i < 2; i++)
        slr_kernel_destroy(t->kernels[i]);
    slr_cluster_destroy(t->cluster);
}

static bool run_team(team *t)
{
    const slr_arg args[] = {slr_arg_split(t->x, 0), slr_arg_split(t->y, 0), slr_arg_signed(t->rounds), slr_arg_items()};
    slr_part parts[2];
    slr_balance_desc desc = SLR_BALANCE_DESC_INIT;
    desc.kernels = t->kernels;
    desc.granularity = 256;
    slr_status status = slr_cluster_balance(t->cluster, t->items, t->balance, &desc, parts);
    if (status == SLR_OK)
        status = slr_cluster_launch(t->cluster, t->kernels, parts, args, 4, NULL);
    if (status == SLR_OK)
        status = slr_cluster_finish(t->cluster, 12 * BENCH_TIMEOUT_NS);
    return status == SLR_OK || bench_failed(status, "cluster");
}

static bool rate_slice(void *context, double *figures)
{
    team *t = context;
    uint64_t start = clock_ns();
    bool fine = run_team(t);
    figures[0] = (double)t->items * 1e3 / (double)(clock_ns() - start);
    return fine;
}

static bool measure_rate(bench *bench)
{
    team two = {.balance = SLR_BALANCE_THROUGHPUT}, one = {.balance = SLR_BALANCE_THROUGHPUT};
    bench_case row = {"cluster_two_devices",
                      "M items/s",
                      {"median"},
                      "1,048,576 items, each of which takes 200 rounds of v = 0.99 v + 0.5, on a cluster of two cpu "
                      "devices with one thread each; the devices share the items in proportion to their rates. Floor: "
                      "one cpu device with two threads.",
                      {.value = rate_slice,
                       .floor = rate_slice,
                       .value_context = &two,
                       .floor_context = &one,
                       .figures = 1,
                       .any = true,
                       .enough = MEASURE_KEPT}};
    if (!bench_wants(bench, row.name))
        return true;
    double unused;
    bool fine = make_team(bench, &two, "cpu?threads=1,cpu?threads=1", "SLOWER=1") &&
                make_team(bench, &one, "cpu?threads=2", "SLOWER=1") && rate_slice(&two, &unused) &&
                rate_slice(&one, &unused) && bench_measure(bench, &row);
    end_team(&two);
    end_team(&one);
    return fine;
}

// ---- waiting for each other ----------------------------------------------------------------------------------------

static bool sum_of(const team *t, double *busy, double *idle)
{
    *busy = *idle = 0;
    for (uint32_t i = 0; i < slr_cluster_size(t->cluster); i++) {
        slr_cluster_stats stats;
        slr_status status = slr_cluster_get_stats(t->cluster, i, &stats);
        if (status != SLR_OK)
            return bench_failed(status, "cluster");
        *busy += (double)stats.busy_ns;
        *idle += (double)stats.idle_ns;
    }
    return true;
}

static bool idle_slice(void *context, double *figures)
{
    team *t = context;
    double busy, idle, more_busy, more_idle;
    if (!sum_of(t, &busy, &idle) || !run_team(t) || !sum_of(t, &more_busy, &more_idle))
        return false;
    figures[0] = 100 * (more_idle - idle) / (more_busy - busy + more_idle - idle);
    return true;
}

static bool measure_idle(bench *bench)
{
    static const char names[] = "cpu?threads=1,cpu?threads=1";
    int rounds = bench->small ? CLUSTER_ROUNDS : 10 * CLUSTER_ROUNDS; // long beside the turns of other programs
    team balanced = {.balance = SLR_BALANCE_THROUGHPUT, .rounds = rounds};
    team equal = {.balance = SLR_BALANCE_ROUND_ROBIN, .rounds = rounds};
    bench_case row = {"cluster_idle_3x",
                      "%",
                      {"median"},
                      "The part of the time in which two cpu devices wait for each other at the end of a launch, after "
                      "three launches. One device does three times the work for each item, and the devices share the "
                      "items in proportion to their rates. Floor: the devices get equal parts.",
                      {.value = idle_slice,
                       .floor = idle_slice,
                       .value_context = &balanced,
                       .floor_context = &equal,
                       .figures = 1,
                       .any = true,
                       .enough = MEASURE_KEPT}};
    if (!bench_wants(bench, row.name))
        return true;
    bool fine = make_team(bench, &balanced, names, "SLOWER=3") && make_team(bench, &equal, names, "SLOWER=3") &&
                run_team(&equal);
    for (int i = 0; i < 3 && fine; i++)
        fine = run_team(&balanced);
    fine = fine && bench_measure(bench, &row);
    end_team(&balanced);
    end_team(&equal);
    return fine;
}

// ---- copies --------------------------------------------------------------------------------------------------------

typedef struct copying {
    slr_device *from_device, *to_device;
    slr_stream *stream;
    slr_buffer *from, *to;
    uint64_t bytes;
    slr_peer_way way;
    void *memory[2]; // of the floor
} copying;

static bool copy_slice(void *context, double *figures)
{
    copying *c = context;
    uint64_t start = clock_ns();
    slr_status status = slr_peer_copy(c->stream, c->to, 0, c->from, 0, c->bytes, c->way, NULL);
    if (status == SLR_OK)
        status = slr_stream_finish(c->stream, BENCH_TIMEOUT_NS);
    figures[0] = (double)c->bytes / (double)(clock_ns() - start);
    return status == SLR_OK || bench_failed(status, "peer_copy");
}

static bool memcpy_slice(void *context, double *figures)
{
    copying *c = context;
    uint64_t start = clock_ns();
    memcpy(c->memory[1], c->memory[0], c->bytes);
    figures[0] = (double)c->bytes / (double)(clock_ns() - start);
    return true;
}

static bool open_copying(const bench *bench, copying *c, const char *from, const char *to)
{
    c->bytes = bench_size(bench, COPY_BYTES);
    partner_free_caller(bench->partner);
    slr_status status = slr_device_open(from, NULL, &c->from_device);
    if (status == SLR_OK)
        status = slr_device_open(to, NULL, &c->to_device);
    if (status == SLR_OK)
        status = slr_stream_create(c->to_device, NULL, &c->stream);
    if (status == SLR_OK)
        status = slr_buffer_create(c->from_device, c->bytes, &c->from);
    if (status == SLR_OK)
        status = slr_buffer_create(c->to_device, c->bytes, &c->to);
    partner_move_caller(bench->partner, false);
    for (int i = 0; i < 2; i++) {
        c->memory[i] = bench_lines(c->bytes);
        memset(c->memory[i], i + 1, c->bytes);
    }
    return status == SLR_OK || bench_failed(status, "peer_copy");
}

static bool measure_copy(bench *bench, const char *name, slr_peer_way way, const char *method)
{
    copying c = {.way = way};
    bench_case row = {name,
                      "GB/s",
                      {"median"},
                      method,
                      {.value = copy_slice,
                       .floor = memcpy_slice,
                       .value_context = &c,
                       .floor_context = &c,
                       .figures = 1,
                       .any = true,
                       .enough = MEASURE_KEPT}};
    if (!bench_wants(bench, name))
        return true;
    double unused;
    bool fine = open_copying(bench, &c, way == SLR_PEER_DIRECT ? "cpu?threads=1" : "cpu?unified=0&threads=1",
                             "cpu?unified=0&threads=1") &&
                copy_slice(&c, &unused) && memcpy_slice(&c, &unused) && bench_measure(bench, &row);
    slr_buffer_destroy(c.from);
    slr_buffer_destroy(c.to);
    slr_stream_destroy(c.stream);
    slr_device_close(c.from_device);
    slr_device_close(c.to_device);
    free(c.memory[0]);
    free(c.memory[1]);
    return fine;
}

bool bench_cluster(bench *bench)
{
    bool fine = measure_rate(bench);
    fine = measure_idle(bench) && fine;
    fine = measure_copy(
               bench, "peer_copy_direct", SLR_PEER_DIRECT,
               "slr_peer_copy of 64 MiB from a cpu device to a cpu device with memory of its own. Floor: memcpy.") &&
           fine;
    return measure_copy(bench, "peer_copy_staged", SLR_PEER_STAGED,
                        "slr_peer_copy of 64 MiB between two cpu devices with memories of their own: two copies, into "
                        "host memory and out of it, which overlap on two threads. Floor: one memcpy.") &&
           fine;
}
