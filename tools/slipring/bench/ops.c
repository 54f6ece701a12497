// SPDX-License-Identifier: Apache-2.0
// `slipring bench ops`: products of matrices by slipring's kernels and through OpenBLAS, beside OpenBLAS called bare;
// and what the choice by measurement is worth.
#include "bench/bench.h"

#include "bench/floors.h"
#include "clock.h"
#include "memory.h"
#include "say.h"

#include <slipring/slipring.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SIDE = 1024, SMALL = 64, SHAPES = 50 };

typedef struct ops_bench {
    bench *bench;
    slr_device *device;
    slr_stream *stream;
    slr_ops *own, *any, *chosen; // kernels of slipring alone; OpenBLAS too; by measurement
    slr_ops *ops;                // of the row under way
    slr_tensor a, b, c;
    float *memory[3]; // of the floor
    int side;
} ops_bench;

// ---- slices --------------------------------------------------------------------------------------------------------

static void rate(const ops_bench *o, uint64_t start_ns, double *figures)
{
    figures[0] = 2.0 * o->side * o->side * o->side / (double)(clock_ns() - start_ns);
}

static slr_status multiply(const ops_bench *o, slr_ops *ops, const slr_tensor *a, const slr_tensor *b,
                           const slr_tensor *c)
{
    slr_matmul_desc desc = SLR_MATMUL_DESC_INIT;
    desc.a = a, desc.b = b, desc.c = c;
    slr_status status = slr_ops_matmul(ops, o->stream, &desc, NULL);
    return status == SLR_OK ? slr_stream_finish(o->stream, 12 * BENCH_TIMEOUT_NS) : status;
}

static bool ops_slice(void *context, double *figures)
{
    ops_bench *o = context;
    uint64_t start = clock_ns();
    slr_status status = multiply(o, o->ops, &o->a, &o->b, &o->c);
    rate(o, start, figures);
    if (status != SLR_OK)
        say_failure(status, "matmul");
    return status == SLR_OK;
}

static bool bare_slice(void *context, double *figures)
{
    ops_bench *o = context;
    uint64_t start = clock_ns();
    floors_blas(o->side, o->memory[0], o->memory[1], o->memory[2]);
    rate(o, start, figures);
    return true;
}

// ---- ready ---------------------------------------------------------------------------------------------------------

static slr_status fill(ops_bench *o, unsigned which, slr_tensor *tensor)
{
    size_t count = (size_t)o->side * (size_t)o->side;
    o->memory[which] = bench_lines(count * sizeof(float));
    uint32_t random = which + 1;
    for (size_t i = 0; i < count; i++) {
        random = random * 1664525u + 1013904223u;
        o->memory[which][i] = (float)(random >> 8) / (1 << 24) - 0.5f;
    }
    slr_buffer *buffer;
    slr_status status = slr_buffer_create(o->device, count * sizeof(float), &buffer);
    if (status != SLR_OK)
        return status;
    *tensor = slr_tensor_2d(SLR_F32, buffer, (uint64_t)o->side, (uint64_t)o->side);
    return slr_buffer_write(buffer, 0, o->memory[which], count * sizeof(float));
}

static slr_status open_operations(ops_bench *o)
{
    slr_ops_desc desc = SLR_OPS_DESC_INIT;
    slr_status status = slr_ops_create(o->device, &desc, &o->any);
    desc.choice = SLR_CHOICE_BENCHMARK;
    if (status == SLR_OK)
        status = slr_ops_create(o->device, &desc, &o->chosen);
    desc.choice = SLR_CHOICE_HEURISTIC;
    desc.deterministic = 1; // which OpenBLAS does not promise to be
    return status == SLR_OK ? slr_ops_create(o->device, &desc, &o->own) : status;
}

// The device's threads must not inherit the core that the caller keeps to.
static slr_status open_all(ops_bench *o)
{
    partner_free_caller(o->bench->partner);
    slr_status status = slr_device_open(o->bench->info.name, NULL, &o->device);
    if (status == SLR_OK)
        status = slr_stream_default(o->device, &o->stream);
    if (status == SLR_OK)
        status = open_operations(o);
    slr_tensor *tensors[] = {&o->a, &o->b, &o->c};
    for (unsigned i = 0; i < 3 && status == SLR_OK; i++)
        status = fill(o, i, tensors[i]);
    slr_ops *all[] = {o->own, o->any};
    for (unsigned i = 0; i < 2 && status == SLR_OK; i++)
        status = multiply(o, all[i], &o->a, &o->b, &o->c); // compiles; warms
    return status;
}

static void close_all(ops_bench *o)
{
    slr_tensor *tensors[] = {&o->a, &o->b, &o->c};
    for (unsigned i = 0; i < 3; i++) {
        slr_buffer_destroy(tensors[i]->buffer);
        free(o->memory[i]);
    }
    slr_ops_destroy(o->own);
    slr_ops_destroy(o->any);
    slr_ops_destroy(o->chosen);
    slr_device_close(o->device);
}

// ---- rows ----------------------------------------------------------------------------------------------------------

static bool add_product(ops_bench *o, const char *name, slr_ops *ops, const char *what)
{
    char method[BENCH_METHOD_BYTES];
    bench_row absent = {.name = name, .stat = "median", .unit = "GFLOP/s"};
    if (!bench_wants(o->bench, name))
        return true;
    if (strcmp(o->bench->info.backend, "cpu") != 0 || !floors_blas_open((int)o->bench->info.workers)) {
        bench_add(o->bench, &absent,
                  "Not measured: the row needs libopenblas.so.0 (Debian: libopenblas0-pthread) and the device cpu.");
        return true;
    }
    o->ops = ops;
    snprintf(method, sizeof method,
             "slr_ops_matmul of floats with all three sizes %d, %s; the program submits the product and waits. Floor: "
             "cblas_sgemm of OpenBLAS, called without slipring, on as many threads.",
             o->side, what);
    bench_case row = {name,
                      "GFLOP/s",
                      {"median"},
                      method,
                      {.value = ops_slice,
                       .floor = bare_slice,
                       .value_context = o,
                       .floor_context = o,
                       .figures = 1,
                       .enough = MEASURE_KEPT}};
    return bench_measure(o->bench, &row);
}

typedef struct best {
    uint64_t chosen_ns, least_ns;
    const char *name;
} best;

static void note_time(void *user, const slr_algorithm *algorithm)
{
    best *best = user;
    if (algorithm->ns == 0)
        return;
    if (best->name != NULL && strcmp(best->name, algorithm->name) == 0)
        best->chosen_ns = algorithm->ns;
    if (best->least_ns == 0 || algorithm->ns < best->least_ns)
        best->least_ns = algorithm->ns;
}

static void note_choice(void *user, const slr_algorithm *algorithm)
{
    best *best = user;
    static char name[64];
    if (algorithm->chosen == 0)
        return;
    snprintf(name, sizeof name, "%s", algorithm->name);
    best->name = name;
}

// How much of the best algorithm's speed the one has that was chosen by an earlier measurement. 0: failed.
static double worth_of_choice(ops_bench *o, uint32_t m, uint32_t n, uint32_t k)
{
    slr_tensor a = slr_tensor_2d(SLR_F32, o->a.buffer, m, k), b = slr_tensor_2d(SLR_F32, o->b.buffer, k, n);
    slr_tensor c = slr_tensor_2d(SLR_F32, o->c.buffer, m, n);
    slr_matmul_desc desc = SLR_MATMUL_DESC_INIT;
    best best = {0};
    desc.a = &a, desc.b = &b, desc.c = &c;
    slr_status status = slr_ops_matmul_bench(o->chosen, o->stream, &desc, note_choice, &best);
    if (status == SLR_OK)
        status = slr_ops_matmul_bench(o->chosen, o->stream, &desc, note_time, &best);
    if (status != SLR_OK)
        say_failure(status, "matmul");
    return status == SLR_OK && best.chosen_ns != 0 ? (double)best.least_ns / (double)best.chosen_ns : 0;
}

static bool add_choice(ops_bench *o)
{
    static const uint32_t sizes[] = {16, 33, 64, 100, 129, 200, 256};
    bench_row row = {.name = "benchmark_choice", .stat = "mean", .unit = "x", .floor = 1};
    char method[BENCH_METHOD_BYTES];
    uint32_t random = 1, shapes = o->bench->small ? 2 : SHAPES;
    if (!bench_wants(o->bench, row.name))
        return true;
    double least = 1;
    for (uint32_t i = 0; i < shapes; i++) {
        uint32_t size[3];
        for (int j = 0; j < 3; j++) {
            random = random * 1664525u + 1013904223u;
            size[j] = o->bench->small ? 16 : sizes[(random >> 16) % 7];
        }
        double worth = worth_of_choice(o, size[0], size[1], size[2]);
        if (worth == 0)
            return false;
        row.value += worth / shapes;
        least = worth < least ? worth : least;
    }
    row.value = row.value > 1 ? 1 : row.value;
    snprintf(
        method, sizeof method,
        "For products of %u shapes: the speed of the algorithm that slipring chose by measurement, divided by the "
        "speed of the fastest algorithm in a second measurement of all (the mean). The lowest of these ratios is %.2f.",
        shapes, least);
    bench_add(o->bench, &row, method);
    return true;
}

bool bench_ops(bench *bench)
{
    ops_bench o = {.bench = bench, .side = bench->small ? SMALL : SIDE};
    slr_status status = open_all(&o);
    partner_move_caller(bench->partner, false);
    bool fine = status == SLR_OK;
    if (!fine)
        say_failure(status, "ops");
    bool is_elsewhere = strcmp(bench->info.backend, "cuda") == 0; // bench_ops_cuda has these rows
    fine = fine && (is_elsewhere || add_product(&o, "gemm_own", o.own, "by slipring's kernels"));
    fine = fine && (is_elsewhere || add_product(&o, "gemm_provider", o.any, "through OpenBLAS"));
    fine = fine && add_choice(&o);
    close_all(&o);
    return fine;
}
