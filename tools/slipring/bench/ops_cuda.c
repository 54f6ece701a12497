// SPDX-License-Identifier: Apache-2.0
// `slipring bench ops` on CUDA: products and convolutions through cuBLASLt and cuDNN, and by slipring's kernels, beside
// the two libraries called bare.
#include "bench/bench.h"

#include "bench/floors_nvidia.h"
#include "clock.h"
#include "memory.h"
#include "say.h"

#include <slipring/slipring.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { OPERANDS = 3, MOST_STEPS = 4, SIDE = 4096, SMALL_SIDE = 64, IMAGES = 32, CHANNELS = 64, IMAGE_SIDE = 56 };

// One call, of slipring's and of the library's, on memory of their own with the same numbers.
typedef struct step {
    slr_tensor tensor[OPERANDS]; // the last is written
    cuda_pointer memory[OPERANDS];
    floors_product *product; // or
    floors_filter *filter;
} step;

typedef struct ops_cuda {
    bench *bench;
    slr_stream *stream;
    slr_ops *ops;
    cuda *cu;
    double work; // operations of all steps
    step step[MOST_STEPS];
    unsigned steps;
    slr_graph *own; // all steps, recorded: slipring's kernels alone
} ops_cuda;

// ---- numbers -------------------------------------------------------------------------------------------------------

static uint64_t elements(const slr_tensor *tensor)
{
    uint64_t all = 1;
    for (unsigned i = 0; i < tensor->rank; i++)
        all *= tensor->shape[i];
    return all;
}

static uint64_t bytes_of(const slr_tensor *tensor)
{
    return elements(tensor) * (tensor->dtype == SLR_F32 ? 4 : 2);
}

// From -0.5 to 0.5; halves of as many bits as a half has.
static void draw_numbers(const slr_tensor *tensor, uint32_t random, void *to)
{
    for (uint64_t i = 0; i < elements(tensor); i++) {
        random = random * 1664525u + 1013904223u;
        if (tensor->dtype == SLR_F32)
            ((float *)to)[i] = (float)(random >> 8) / (1 << 24) - 0.5f;
        else
            ((uint16_t *)to)[i] = (uint16_t)((random >> 16 & 0x83ff) | 0x3400); // a sign, and 0.25 to 0.5
    }
}

static double number(const slr_tensor *tensor, const void *memory, uint64_t i)
{
    if (tensor->dtype == SLR_F32)
        return (double)((const float *)memory)[i];
    uint16_t bits = ((const uint16_t *)memory)[i];
    int exponent = bits >> 10 & 31;
    double size = ldexp((double)(bits & 1023) + (exponent != 0 ? 1024 : 0), (exponent != 0 ? exponent : 1) - 25);
    return bits & 0x8000 ? -size : size;
}

// What both have written is the same, but for rounding. They are asked for before anything is measured.
static bool are_same(const ops_cuda *o, const char *name)
{
    bool same = true;
    for (unsigned s = 0; s < o->steps && same; s++) {
        const slr_tensor *to = &o->step[s].tensor[OPERANDS - 1];
        uint64_t bytes = bytes_of(to);
        void *ours = memory_take(bytes, 1), *theirs = memory_take(bytes, 1);
        same = slr_buffer_read(to->buffer, 0, ours, bytes) == SLR_OK &&
               cuda_copy_out(o->cu, theirs, o->step[s].memory[OPERANDS - 1], bytes, true);
        for (uint64_t i = 0; i < elements(to) && same; i++) {
            double want = number(to, theirs, i);
            same = fabs(number(to, ours, i) - want) <= (to->dtype == SLR_F32 ? 1e-3 : 1e-2) * (1 + fabs(want));
        }
        free(ours);
        free(theirs);
    }
    if (!same)
        say("%s: not what the library, called bare, computes", name);
    return same;
}

// ---- slices: GFLOP/s -----------------------------------------------------------------------------------------------

static slr_status submit(const ops_cuda *o)
{
    slr_status status = SLR_OK;
    for (unsigned s = 0; s < o->steps && status == SLR_OK; s++) {
        const slr_tensor *t = o->step[s].tensor;
        slr_matmul_desc product = SLR_MATMUL_DESC_INIT;
        slr_convolution_desc convolution = SLR_CONVOLUTION_DESC_INIT;
        product.a = convolution.x = &t[0], product.b = convolution.weights = &t[1];
        product.c = convolution.y = &t[2];
        convolution.padding[0] = convolution.padding[1] = 1;
        status = t->rank == 2 ? slr_ops_matmul(o->ops, o->stream, &product, NULL)
                              : slr_ops_convolution(o->ops, o->stream, &convolution, NULL);
    }
    return status;
}

static bool finish(const ops_cuda *o, slr_status status, uint64_t start, double *figures)
{
    if (status == SLR_OK)
        status = slr_stream_finish(o->stream, 12 * BENCH_TIMEOUT_NS);
    figures[0] = o->work / (double)(clock_ns() - start);
    if (status != SLR_OK)
        say_failure(status, "ops");
    return status == SLR_OK;
}

static bool library_slice(void *context, double *figures)
{
    uint64_t start = clock_ns();
    return finish(context, submit(context), start, figures);
}

static bool own_slice(void *context, double *figures)
{
    const ops_cuda *o = context;
    uint64_t start = clock_ns();
    return finish(o, slr_graph_launch(o->own, o->stream, NULL, 0, NULL), start, figures);
}

static bool floor_slice(void *context, double *figures)
{
    const ops_cuda *o = context;
    uint64_t start = clock_ns();
    bool fine = true;
    for (unsigned s = 0; s < o->steps && fine; s++)
        fine = o->step[s].product != NULL ? floors_cublaslt(o->step[s].product) : floors_cudnn(o->step[s].filter);
    fine = fine && cuda_finish(o->cu);
    figures[0] = o->work / (double)(clock_ns() - start);
    if (!fine)
        say("ops: the library, called bare, failed");
    return fine;
}

// ---- ready ---------------------------------------------------------------------------------------------------------

static bool make_operand(const ops_cuda *o, step *s, unsigned which, slr_tensor tensor)
{
    uint64_t bytes = bytes_of(&tensor);
    void *memory = memory_take(bytes, 1);
    draw_numbers(&tensor, which + 1, memory);
    s->memory[which] = cuda_take_own(o->cu, bytes);
    slr_status status = slr_buffer_create(o->bench->device, bytes, &tensor.buffer);
    if (status == SLR_OK)
        status = slr_buffer_write(tensor.buffer, 0, memory, bytes);
    s->tensor[which] = tensor;
    bool fine = status == SLR_OK && s->memory[which] != 0 && cuda_copy_in(o->cu, s->memory[which], memory, bytes, true);
    free(memory);
    if (!fine)
        say("ops: no memory for an operand");
    return fine;
}

static bool make_product(ops_cuda *o, slr_scalar dtype, const char **why)
{
    unsigned side = o->bench->small ? SMALL_SIDE : SIDE;
    step *s = &o->step[o->steps++];
    for (unsigned i = 0; i < OPERANDS; i++)
        if (!make_operand(o, s, i, slr_tensor_2d(dtype, NULL, side, side)))
            return false;
    o->work = 2.0 * side * side * side;
    s->product = floors_cublaslt_make(o->cu, dtype == SLR_F16, side, s->memory, why);
    return s->product != NULL;
}

static bool make_float_product(ops_cuda *o, const char **why)
{
    return make_product(o, SLR_F32, why);
}

static bool make_half_product(ops_cuda *o, const char **why)
{
    return make_product(o, SLR_F16, why);
}

// ResNet-50's layers of 3 x 3: twice the channels on half the side, each time.
static bool make_convolutions(ops_cuda *o, const char **why)
{
    unsigned images = o->bench->small ? 1 : IMAGES;
    for (unsigned i = 0; i < MOST_STEPS; i++) {
        unsigned channels = (o->bench->small ? CHANNELS / 16 : CHANNELS) << i, side = IMAGE_SIDE >> i;
        step *s = &o->step[o->steps++];
        if (!make_operand(o, s, 0, slr_tensor_4d(SLR_F32, NULL, images, channels, side, side)) ||
            !make_operand(o, s, 1, slr_tensor_4d(SLR_F32, NULL, channels, channels, 3, 3)) ||
            !make_operand(o, s, 2, slr_tensor_4d(SLR_F32, NULL, images, channels, side, side)))
            return false;
        o->work += 2.0 * 9.0 * channels * (double)elements(&s->tensor[2]);
        s->filter = floors_cudnn_make(o->cu, images, channels, side, s->memory, why);
        if (s->filter == NULL)
            return false;
    }
    return true;
}

static slr_status record_own(ops_cuda *o)
{
    slr_status status = slr_graph_create(o->bench->device, &o->own);
    if (status == SLR_OK)
        status = slr_graph_begin(o->own, o->stream);
    if (status == SLR_OK)
        status = submit(o);
    return status == SLR_OK ? slr_graph_end(o->own) : status;
}

static bool open_ops(ops_cuda *o, const char **why)
{
    slr_status status = slr_stream_create(o->bench->device, NULL, &o->stream);
    if (status == SLR_OK)
        status = slr_ops_create(o->bench->device, NULL, &o->ops);
    if (status != SLR_OK)
        return say_failure(status, "ops"), false;
    o->cu = cuda_open(o->bench->info.name, why);
    return o->cu != NULL;
}

static void close_steps(ops_cuda *o)
{
    slr_graph_destroy(o->own);
    for (unsigned s = 0; s < o->steps; s++) {
        floors_cublaslt_free(o->step[s].product);
        floors_cudnn_free(o->step[s].filter);
        for (unsigned i = 0; i < OPERANDS; i++) {
            slr_buffer_destroy(o->step[s].tensor[i].buffer);
            if (o->step[s].memory[i] != 0)
                cuda_give_own(o->cu, o->step[s].memory[i]);
        }
        o->step[s] = (step){0};
    }
    o->steps = 0, o->work = 0, o->own = NULL;
}

// ---- rows ----------------------------------------------------------------------------------------------------------

// The names of the two rows; NULL: there is none.
typedef struct rows {
    const char *provider, *own, *what, *library;
    bool (*make)(ops_cuda *o, const char **why); // the steps. False: they cannot be, and `why` says so, or it was said
} rows;

enum { SHAPE_BYTES = 64 };

static const char *shape_text(const slr_tensor *tensor, char to[SHAPE_BYTES])
{
    size_t at = 0;
    for (unsigned i = 0; i < tensor->rank; i++)
        at += (size_t)snprintf(to + at, SHAPE_BYTES - at, "%s%u", i ? " x " : "", (unsigned)tensor->shape[i]);
    return to;
}

static bool add_row(ops_cuda *o, const rows *r, const char *name, measure_slice *value)
{
    char method[BENCH_METHOD_BYTES], first[SHAPE_BYTES], last[SHAPE_BYTES];
    if (name == NULL || !bench_wants(o->bench, name))
        return true;
    snprintf(method, sizeof method,
             "%s; the first input has the shape %s, the input of the last operation %s; %s; the program submits all "
             "operations and waits. Floor: %s, called without slipring.",
             r->what, shape_text(&o->step[0].tensor[0], first), shape_text(&o->step[o->steps - 1].tensor[0], last),
             value == own_slice ? "by slipring's own kernels in a recorded list"
                                : "through the library that slr_ops uses",
             r->library);
    bench_case row = {name,
                      "GFLOP/s",
                      {"median"},
                      method,
                      {.value = value,
                       .floor = floor_slice,
                       .value_context = o,
                       .floor_context = o,
                       .figures = 1,
                       .enough = MEASURE_KEPT}};
    return bench_measure(o->bench, &row);
}

static void add_absent(bench *bench, const char *name, const char *why)
{
    bench_row absent = {.name = name, .stat = "median", .unit = "GFLOP/s"};
    char method[BENCH_METHOD_BYTES];
    snprintf(method, sizeof method, "Not measured: %s.", why);
    if (name != NULL && bench_wants(bench, name))
        bench_add(bench, &absent, method);
}

// The first calls compile, and warm; they show that all three compute the same.
static bool measure_rows(ops_cuda *o, const rows *r)
{
    double ignored;
    slr_status status = r->own != NULL ? record_own(o) : SLR_OK;
    if (status != SLR_OK)
        return say_failure(status, r->own), false;
    return floor_slice(o, &ignored) && library_slice(o, &ignored) && are_same(o, r->provider) &&
           (r->own == NULL || (own_slice(o, &ignored) && are_same(o, r->own))) &&
           add_row(o, r, r->provider, library_slice) && add_row(o, r, r->own, own_slice);
}

static bool add_rows(ops_cuda *o, const rows *r)
{
    const char *why = NULL;
    bool made = r->make(o, &why), fine = made ? measure_rows(o, r) : why != NULL;
    if (!made && why != NULL) {
        add_absent(o->bench, r->provider, why);
        add_absent(o->bench, r->own, why);
    }
    close_steps(o);
    return fine;
}

bool bench_ops_cuda(bench *bench)
{
    static const rows all[] = {
        {"gemm_provider", "gemm_own", "slr_ops_matmul of floats", "cuBLASLt", make_float_product},
        {"gemm_half_provider", NULL, "slr_ops_matmul of halves", "cuBLASLt", make_half_product},
        {"conv_provider", "conv_own", "slr_ops_convolution of floats, layers of as many filters of 3 x 3 as channels",
         "cuDNN with any of its algorithms", make_convolutions}};
    ops_cuda o = {.bench = bench};
    const char *why = NULL;
    if (strcmp(bench->info.backend, "cuda") != 0)
        return true;
    bool fine = open_ops(&o, &why);
    if (!fine && why != NULL)
        say("ops: %s", why);
    for (unsigned i = 0; i < sizeof all / sizeof *all && fine; i++)
        if (bench_wants(bench, all[i].provider) || (all[i].own != NULL && bench_wants(bench, all[i].own)))
            fine = add_rows(&o, &all[i]);
    slr_ops_destroy(o.ops);
    slr_stream_destroy(o.stream);
    cuda_close(o.cu);
    return fine;
}
