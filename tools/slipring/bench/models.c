// SPDX-License-Identifier: Apache-2.0
// `slipring bench ops`: models that run side by side, in streams and as ring kernels.
#include "bench/bench.h"

#include "bench/chain.h"
#include "clock.h"
#include "memory.h"
#include "partner.h"
#include "say.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MODELS = 4, LAYERS = 16, ROWS = 16, WIDTH = 128, ROUNDS = 50 };

// As chain.c has the layers: products with the same weights and tanh by turns. A message is one inference.
static const char handler[] =
    "struct start { unsigned number; };\n"
    "__ring_block__ void __launch_bounds__(128) infer(const struct start *in, const float *x, const float *weights,\n"
    "    float *between, float *y, int rows, int width, int layers)\n"
    "{\n"
    "    int t = threadIdx.x;\n"
    "    for (int layer = 0; layer < layers; layer += 2) {\n"
    "        for (int r = 0; r < rows; r++) {\n"
    "            float sum = 0.0f;\n"
    "            for (int k = 0; k < width; k++) {\n"
    "                float v = layer ? y[r * width + k] : x[r * width + k];\n"
    "                if (t < width)\n"
    "                    sum = fmaf(v, weights[k * width + t], sum);\n"
    "            }\n"
    "            if (t < width)\n"
    "                between[r * width + t] = tanhf(sum);\n"
    "        }\n"
    "        __syncthreads();\n"
    "        for (int r = 0; r < rows; r++)\n"
    "            if (t < width)\n"
    "                y[r * width + t] = between[r * width + t];\n"
    "        __syncthreads();\n"
    "    }\n"
    "    if (t == 0)\n"
    "        ring_reply(in);\n"
    "}\n";

// ---- in streams ----------------------------------------------------------------------------------------------------

typedef struct models {
    slr_device *device;
    chain chain[MODELS];
    slr_program *program;
    slr_ring *ring[MODELS];
    slr_buffer *y[MODELS], *between[MODELS];
    slr_address to[MODELS];
    slr_port *port;
} models;

static slr_status finish_models(models *m)
{
    slr_status status = SLR_OK;
    for (int i = 0; i < MODELS && status == SLR_OK; i++)
        status = slr_stream_finish(m->chain[i].stream, 12 * BENCH_TIMEOUT_NS);
    return status;
}

// ROUNDS inferences of each model, by turns. `apart`: each is waited for before the next begins.
static bool infer(models *m, bool apart, double *figures)
{
    uint64_t start = clock_ns();
    slr_status status = SLR_OK;
    for (int i = 0; i < ROUNDS * MODELS && status == SLR_OK; i++) {
        chain *c = &m->chain[i % MODELS];
        status = chain_forward(c);
        if (status == SLR_OK && apart)
            status = slr_stream_finish(c->stream, 12 * BENCH_TIMEOUT_NS);
    }
    if (status == SLR_OK)
        status = finish_models(m);
    figures[0] = ROUNDS * MODELS * 1e9 / (double)(clock_ns() - start);
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

// ---- as ring kernels -----------------------------------------------------------------------------------------------

static slr_status open_ring(models *m, int number)
{
    const chain *c = &m->chain[number];
    const int32_t rows = (int32_t)c->rows, width = (int32_t)c->width, layers = (int32_t)c->layer_count;
    const size_t bytes = (size_t)rows * width * sizeof(float);
    slr_status status = slr_buffer_create(m->device, bytes, &m->between[number]);
    if (status == SLR_OK)
        status = slr_buffer_create(m->device, bytes, &m->y[number]);
    const slr_binding bindings[] = {
        {.name = "x", .buffer = c->x.buffer},
        {.name = "weights", .buffer = c->weights.buffer},
        {.name = "between", .buffer = m->between[number]},
        {.name = "y", .buffer = m->y[number]},
        {.name = "rows", .scalar = &rows, .bytes = sizeof rows},
        {.name = "width", .scalar = &width, .bytes = sizeof width},
        {.name = "layers", .scalar = &layers, .bytes = sizeof layers},
    };
    char name[24];
    snprintf(name, sizeof name, "model%d", number);
    slr_ring_desc desc = SLR_RING_DESC_INIT;
    desc.name = name, desc.program = m->program, desc.handler = "infer";
    desc.bindings = bindings, desc.binding_count = sizeof bindings / sizeof *bindings;
    if (status == SLR_OK)
        status = slr_ring_create(m->device, &desc, &m->ring[number]);
    if (status == SLR_OK)
        status = slr_ring_launch(m->ring[number]);
    if (status == SLR_OK)
        status = slr_ring_activate(m->ring[number], 12 * BENCH_TIMEOUT_NS);
    return status == SLR_OK ? slr_ring_get_address(m->ring[number], 0, &m->to[number]) : status;
}

static slr_status open_rings(models *m)
{
    slr_status status = slr_program_from_text(m->device, "models.cu", handler, NULL, &m->program);
    if (status == SLR_OK)
        status = slr_port_open(m->device, &m->port);
    for (int i = 0; i < MODELS && status == SLR_OK; i++)
        status = open_ring(m, i);
    return status;
}

static void close_rings(models *m)
{
    slr_port_close(m->port);
    for (int i = 0; i < MODELS; i++) {
        slr_ring_destroy(m->ring[i]);
        slr_buffer_destroy(m->y[i]);
        slr_buffer_destroy(m->between[i]);
    }
    slr_program_destroy(m->program);
}

static bool ring_slice(void *context, double *figures)
{
    models *m = context;
    uint64_t start = clock_ns();
    slr_status status = SLR_OK;
    slr_reply reply;
    uint32_t number;
    for (uint32_t i = 0; i < ROUNDS * MODELS && status == SLR_OK; i++)
        status = slr_send(m->port, m->to[i % MODELS], &i, sizeof i, 12 * BENCH_TIMEOUT_NS);
    for (uint32_t i = 0; i < ROUNDS * MODELS && status == SLR_OK; i++)
        status = slr_receive(m->port, &reply, &number, sizeof number, 12 * BENCH_TIMEOUT_NS);
    figures[0] = ROUNDS * MODELS * 1e9 / (double)(clock_ns() - start);
    if (status != SLR_OK)
        say_failure(status, "models");
    return status == SLR_OK;
}

// Whether the last inference of each ring kernel is that of its stream.
static bool are_same(models *m)
{
    const size_t count = (size_t)m->chain[0].rows * m->chain[0].width;
    float *by_ring = memory_take(count, sizeof(float)), *by_stream = memory_take(count, sizeof(float));
    bool same = true;
    for (int i = 0; i < MODELS && same; i++) {
        same = slr_buffer_read(m->y[i], 0, by_ring, count * sizeof(float)) == SLR_OK &&
               slr_buffer_read(m->chain[i].y.buffer, 0, by_stream, count * sizeof(float)) == SLR_OK;
        for (size_t k = 0; k < count && same; k++)
            same = fabsf(by_ring[k] - by_stream[k]) <= 1e-4f;
    }
    free(by_ring);
    free(by_stream);
    if (!same)
        say("a ring kernel does not compute what its stream does");
    return same;
}

// ---- rows ----------------------------------------------------------------------------------------------------------

static bool add_streams(bench *bench, models *m)
{
    char method[BENCH_METHOD_BYTES];
    snprintf(method, sizeof method,
             "Inferences a second of %d models of %d layers, each model in a stream of its own: %d inferences of each "
             "model are submitted in turn, and the program waits for all of them together. Floor: the program waits "
             "for each inference before it submits the next one.",
             MODELS, LAYERS, ROUNDS);
    bench_case row = {
        "parallel_models",
        "inferences/s",
        {"median"},
        method,
        {.value = beside_slice, .floor = apart_slice, .value_context = m, .floor_context = m, .figures = 1}};
    return bench_measure(bench, &row);
}

// A kernel that runs alone has all cores of a cpu already, so what is left to gain depends on how well it uses them.
// The second floor says what the cores together are worth.
static bool add_one_core(bench *bench, models *m, models *one)
{
    char method[BENCH_METHOD_BYTES];
    snprintf(method, sizeof method,
             "Inferences a second of the same %d models in their streams, as in parallel_models. Floor: one inference "
             "after the other on the device cpu?threads=1, which computes on one core.",
             MODELS);
    bench_case row = {
        "parallel_models_core",
        "inferences/s",
        {"median"},
        method,
        {.value = beside_slice, .floor = apart_slice, .value_context = m, .floor_context = one, .figures = 1}};
    return bench_measure(bench, &row);
}

static bool add_rings(bench *bench, models *m)
{
    char method[BENCH_METHOD_BYTES];
    double ignored;
    snprintf(method, sizeof method,
             "Inferences a second of the same %d models, each as a ring kernel with a block of 128 threads; each "
             "thread computes a column, and each message is an inference. Floor: the models in streams, by slr_ops, as "
             "in parallel_models.",
             MODELS);
    bench_case row = {
        "parallel_models_ring",
        "inferences/s",
        {"median"},
        method,
        {.value = ring_slice, .floor = beside_slice, .value_context = m, .floor_context = m, .figures = 1}};
    return ring_slice(m, &ignored) && are_same(m) && bench_measure(bench, &row);
}

static bool open_models(models *m, const char *device, bool small)
{
    slr_status status = slr_device_open(device, NULL, &m->device);
    for (int i = 0; i < MODELS && status == SLR_OK; i++)
        status = chain_open(m->device, ROWS, small ? 16 : WIDTH, 0, LAYERS, &m->chain[i]);
    double ignored;
    if (status != SLR_OK)
        say_failure(status, "models");
    return status == SLR_OK && infer(m, true, &ignored);
}

static void close_models(models *m)
{
    close_rings(m);
    for (int i = 0; i < MODELS; i++) {
        if (m->chain[i].layers != NULL)
            chain_close(&m->chain[i]);
    }
    slr_device_close(m->device);
}

static bool measure_rings(bench *bench, models *m)
{
    slr_status status = open_rings(m);
    if (status != SLR_OK)
        say_failure(status, "models");
    return status == SLR_OK && add_rings(bench, m);
}

static bool measure_one_core(bench *bench, models *m)
{
    models one = {0};
    bool fine = open_models(&one, "cpu?threads=1", bench->small) && add_one_core(bench, m, &one);
    close_models(&one);
    return fine;
}

bool bench_models(bench *bench)
{
    bool streams = bench_wants(bench, "parallel_models"), rings = bench_wants(bench, "parallel_models_ring");
    bool one_core = bench_wants(bench, "parallel_models_core") && strcmp(bench->info.name, "cpu") == 0;
    models m = {0};
    if (!streams && !rings && !one_core)
        return true;
    partner_free_caller(bench->partner); // what the devices' threads inherit
    bool fine = open_models(&m, bench->info.name, bench->small);
    fine = fine && (!streams || add_streams(bench, &m)) && (!one_core || measure_one_core(bench, &m));
    fine = fine && (!rings || measure_rings(bench, &m));
    close_models(&m);
    partner_move_caller(bench->partner, false);
    return fine;
}
