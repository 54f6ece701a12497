// SPDX-License-Identifier: Apache-2.0
// `slipring bench ops`: what keeping few activations saves and costs, and models that run side by side.
#include "bench/bench.h"

#include "bench/chain.h"
#include "clock.h"
#include "say.h"

#include <stdio.h>

enum { LAYERS = 64, ROWS = 128, WIDTH = 128, MODELS = 4, MODEL_LAYERS = 16, MODEL_ROWS = 16, MODEL_WIDTH = 128 };

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
    char method[320];
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
    snprintf(method, sizeof method,
             "%d equal layers, forward and backward: most bytes that the pool had in use, with every %uth activation "
             "kept; slr_ops_plan says %llu. Floor: with all of them kept.",
             LAYERS, plan.every, (unsigned long long)plan.as_described.checkpointed);
    bench_add(bench, &row, method);
    return true;
}

static bool add_checkpoint_time(bench *bench, kept *k)
{
    static const char name[] = "checkpoint_time";
    char method[320];
    double ignored;
    if (!bench_wants(bench, name))
        return true;
    if (!train_once(&k->chain[0], &ignored) || !train_once(&k->chain[1], &ignored)) // compiles; warms
        return false;
    snprintf(method, sizeof method,
             "%d equal layers, forward and backward, with every 8th activation kept. Floor: with all of them kept.",
             LAYERS);
    bench_case row = {name,
                      "ns",
                      {"median"},
                      method,
                      {.value = few_slice, .floor = all_slice, .value_context = k, .floor_context = k, .figures = 1}};
    return bench_measure(bench, &row);
}

// ---- models side by side -------------------------------------------------------------------------------------------

typedef struct models {
    slr_device *device;
    chain chain[MODELS];
} models;

static slr_status finish_models(models *m)
{
    slr_status status = SLR_OK;
    for (int i = 0; i < MODELS && status == SLR_OK; i++)
        status = slr_stream_finish(m->chain[i].stream, 12 * BENCH_TIMEOUT_NS);
    return status;
}

// `apart`: each model is waited for before the next begins.
static bool infer(models *m, bool apart, double *figures)
{
    uint64_t start = clock_ns();
    slr_status status = SLR_OK;
    for (int i = 0; i < MODELS && status == SLR_OK; i++) {
        status = chain_forward(&m->chain[i]);
        if (status == SLR_OK && apart)
            status = slr_stream_finish(m->chain[i].stream, 12 * BENCH_TIMEOUT_NS);
    }
    if (status == SLR_OK)
        status = finish_models(m);
    figures[0] = MODELS * 1e9 / (double)(clock_ns() - start);
    if (status != SLR_OK)
        say_failure(status, "models");
    return status == SLR_OK;
}

static bool beside_slice(void *context, double *figures)
{
    return infer(context, false, figures);
}

static bool apart_slice(void *context, double *figures)
{
    return infer(context, true, figures);
}

static bool add_models(bench *bench)
{
    static const char name[] = "parallel_models";
    char method[320];
    double ignored;
    models m = {0};
    if (!bench_wants(bench, name))
        return true;
    slr_status status = slr_device_open(bench->info.name, NULL, &m.device);
    for (int i = 0; i < MODELS && status == SLR_OK; i++)
        status = chain_open(m.device, MODEL_ROWS, bench->small ? 16 : MODEL_WIDTH, 0, MODEL_LAYERS, &m.chain[i]);
    bool fine = status == SLR_OK;
    if (!fine)
        say_failure(status, "models");
    snprintf(method, sizeof method,
             "Inferences a second of %d models of %d layers, each in a stream of its own, submitted one after the "
             "other and waited for together. Floor: each is waited for before the next is submitted.",
             MODELS, MODEL_LAYERS);
    bench_case row = {
        name,
        "inferences/s",
        {"median"},
        method,
        {.value = beside_slice, .floor = apart_slice, .value_context = &m, .floor_context = &m, .figures = 1}};
    fine = fine && infer(&m, true, &ignored) && bench_measure(bench, &row);
    for (int i = 0; i < MODELS; i++) {
        if (m.chain[i].layers != NULL)
            chain_close(&m.chain[i]);
    }
    slr_device_close(m.device);
    return fine;
}

bool bench_layers(bench *bench)
{
    kept k = {0};
    partner_free_caller(bench->partner); // what the devices' threads inherit
    bool fine = open_kept(bench, &k);
    fine = fine && add_checkpoint_peak(bench, &k) && add_checkpoint_time(bench, &k);
    close_kept(&k);
    fine = fine && add_models(bench);
    partner_move_caller(bench->partner, false);
    return fine;
}
