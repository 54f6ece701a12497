// SPDX-License-Identifier: Apache-2.0
// `slipring bench ops`: what keeping few activations saves and costs.
#include "bench/bench.h"

#include "bench/chain.h"
#include "clock.h"
#include "say.h"

#include <stdio.h>

enum { LAYERS = 64, ROWS = 128, WIDTH = 128 };

// ---- checkpointing -------------------------------------------------------------------------------------------------

// One with every activation, one with few.
typedef struct kept {
    slr_device *device[2];
    chain chain[2];
} kept;

static bool open_kept(bench *bench, kept *k)
{
    slr_status status = SLR_OK;
    for (int i = 0; i < 2 && status == SLR_OK; i++) {
        status = slr_device_open(bench->info.name, NULL, &k->device[i]);
        if (status == SLR_OK)
            status = chain_open(k->device[i], ROWS, bench->small ? 16 : WIDTH, i == 0 ? 1 : 0, LAYERS, &k->chain[i]);
    }
    if (status != SLR_OK)
        say_failure(status, "layers");
    return status == SLR_OK;
}

static void close_kept(kept *k)
{
    for (int i = 0; i < 2; i++) {
        if (k->device[i] != NULL)
            chain_close(&k->chain[i]);
        slr_device_close(k->device[i]);
    }
}

static bool train_once(chain *c, double *figures)
{
    uint64_t start = clock_ns();
    slr_status status = chain_forward(c);
    if (status == SLR_OK)
        status = chain_backward(c);
    if (status == SLR_OK)
        status = slr_stream_finish(c->stream, 12 * BENCH_TIMEOUT_NS);
    figures[0] = (double)(clock_ns() - start);
    if (status != SLR_OK)
        say_failure(status, "layers");
    return status == SLR_OK;
}

static bool few_slice(void *context, double *figures)
{
    return train_once(&((kept *)context)->chain[1], figures);
}

static bool all_slice(void *context, double *figures)
{
    return train_once(&((kept *)context)->chain[0], figures);
}

static bool add_checkpoint_peak(bench *bench, kept *k)
{
    bench_row row = {.name = "checkpoint_peak", .stat = "high-water mark", .unit = "bytes"};
    char method[BENCH_METHOD_BYTES];
    uint64_t few, all;
    double ignored;
    slr_plan plan;
    slr_layer layers[LAYERS];
    if (!bench_wants(bench, row.name))
        return true;
    if (!train_once(&k->chain[0], &ignored) || !train_once(&k->chain[1], &ignored))
        return false;
    slr_sequence_desc desc = chain_describe(ROWS, k->chain[1].width, 0, layers, LAYERS);
    slr_status status = slr_ops_plan(&desc, &plan);
    if (status == SLR_OK)
        status = chain_peak(k->device[1], &few);
    if (status == SLR_OK)
        status = chain_peak(k->device[0], &all);
    if (status != SLR_OK)
        return say_failure(status, "checkpoint_peak"), false;
    row.value = (double)few, row.floor = (double)all;
    snprintf(
        method, sizeof method,
        "The most bytes of the pool that were in use during the forward and backward computation of %d equal layers, "
        "with every %uth activation kept; slr_ops_plan predicts %llu. Floor: the same with every activation kept.",
        LAYERS, plan.every, (unsigned long long)plan.as_described.checkpointed);
    bench_add(bench, &row, method);
    return true;
}

static bool add_checkpoint_time(bench *bench, kept *k)
{
    static const char name[] = "checkpoint_time";
    char method[BENCH_METHOD_BYTES];
    double ignored;
    if (!bench_wants(bench, name))
        return true;
    if (!train_once(&k->chain[0], &ignored) || !train_once(&k->chain[1], &ignored)) // compiles; warms
        return false;
    snprintf(method, sizeof method,
             "The time of the forward and backward computation of %d equal layers, with every 8th activation kept. "
             "Floor: the same with every activation kept.",
             LAYERS);
    bench_case row = {name,
                      "ns",
                      {"median"},
                      method,
                      {.value = few_slice, .floor = all_slice, .value_context = k, .floor_context = k, .figures = 1}};
    return bench_measure(bench, &row);
}

bool bench_layers(bench *bench)
{
    kept k = {0};
    partner_free_caller(bench->partner); // what the devices' threads inherit
    bool fine = open_kept(bench, &k);
    fine = fine && add_checkpoint_peak(bench, &k) && add_checkpoint_time(bench, &k);
    close_kept(&k);
    partner_move_caller(bench->partner, false);
    return fine;
}
