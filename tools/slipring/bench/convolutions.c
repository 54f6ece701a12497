// SPDX-License-Identifier: Apache-2.0
// `slipring bench ops`: convolutions by slipring's kernels and through oneDNN, beside oneDNN called bare.
#include "bench/bench.h"

#include "bench/floors.h"
#include "clock.h"
#include "memory.h"
#include "say.h"

#include <slipring/slipring.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { IMAGES = 8, LAYERS = 4, CHANNELS = 64, SIDE = 56, OWN = 0, PROVIDER = 1, X = 0, W, Y, TENSORS };

// A layer of 3 x 3, with what oneDNN is given bare.
typedef struct layer {
    uint32_t channels, side;
    slr_tensor tensor[TENSORS];
    float *memory[TENSORS];
    floors_convolution *bare; // NULL: oneDNN is not here
} layer;

typedef struct convolutions {
    slr_device *device;
    slr_stream *stream;
    slr_ops *ops[2]; // of slipring alone; with oneDNN
    layer layer[LAYERS];
    uint32_t images;
} convolutions;

// ---- ready ---------------------------------------------------------------------------------------------------------

static size_t elements(const slr_tensor *tensor)
{
    return (size_t)(tensor->shape[0] * tensor->shape[1] * tensor->shape[2] * tensor->shape[3]);
}

static slr_status make(convolutions *c, layer *l, int which, uint32_t n, uint32_t side)
{
    slr_buffer *buffer;
    size_t bytes = sizeof(float) * n * l->channels * side * side;
    slr_status status = slr_buffer_create(c->device, bytes, &buffer);
    if (status != SLR_OK)
        return status;
    l->tensor[which] = slr_tensor_4d(SLR_F32, buffer, n, l->channels, side, side);
    float *values = l->memory[which] = bench_lines(bytes);
    uint32_t random = (uint32_t)which + n;
    for (size_t i = 0; i < elements(&l->tensor[which]); i++) {
        random = random * 1664525u + 1013904223u;
        values[i] = (float)(random >> 8) / (1 << 24) - 0.5f;
    }
    return slr_buffer_write(buffer, 0, values, bytes);
}

static slr_status make_layer(convolutions *c, layer *l)
{
    slr_status status = make(c, l, X, c->images, l->side);
    if (status == SLR_OK)
        status = make(c, l, W, l->channels, 3);
    return status == SLR_OK ? make(c, l, Y, c->images, l->side) : status;
}

// ResNet-50's layers of 3 x 3: twice the channels on half the side, each time.
static slr_status open_all(bench *bench, convolutions *c)
{
    slr_ops_desc desc = SLR_OPS_DESC_INIT;
    c->images = bench->small ? 1 : IMAGES;
    slr_status status = slr_device_open(bench->info.name, NULL, &c->device);
    if (status == SLR_OK)
        status = slr_stream_default(c->device, &c->stream);
    if (status == SLR_OK)
        status = slr_ops_create(c->device, &desc, &c->ops[PROVIDER]);
    desc.deterministic = 1; // which libraries do not promise to be
    if (status == SLR_OK)
        status = slr_ops_create(c->device, &desc, &c->ops[OWN]);
    for (uint32_t i = 0; i < LAYERS && status == SLR_OK; i++) {
        c->layer[i].channels = (bench->small ? CHANNELS / 16 : CHANNELS) << i;
        c->layer[i].side = SIDE >> i;
        status = make_layer(c, &c->layer[i]);
    }
    return status;
}

static void close_all(convolutions *c)
{
    for (int i = 0; i < LAYERS; i++) {
        floors_onednn_free(c->layer[i].bare);
        for (int k = 0; k < TENSORS; k++) {
            slr_buffer_destroy(c->layer[i].tensor[k].buffer);
            free(c->layer[i].memory[k]);
        }
    }
    slr_ops_destroy(c->ops[OWN]);
    slr_ops_destroy(c->ops[PROVIDER]);
    slr_device_close(c->device);
}

// ---- slices --------------------------------------------------------------------------------------------------------

static double multiplications(const convolutions *c)
{
    double all = 0;
    for (int i = 0; i < LAYERS; i++)
        all += 9.0 * c->layer[i].channels * (double)elements(&c->layer[i].tensor[Y]);
    return all;
}

static bool convolve(convolutions *c, int by, double *figures)
{
    uint64_t start = clock_ns();
    slr_status status = SLR_OK;
    for (int i = 0; i < LAYERS && status == SLR_OK; i++) {
        slr_convolution_desc desc = SLR_CONVOLUTION_DESC_INIT;
        desc.x = &c->layer[i].tensor[X], desc.weights = &c->layer[i].tensor[W], desc.y = &c->layer[i].tensor[Y];
        desc.padding[0] = desc.padding[1] = 1;
        status = slr_ops_convolution(c->ops[by], c->stream, &desc, NULL);
    }
    if (status == SLR_OK)
        status = slr_stream_finish(c->stream, 12 * BENCH_TIMEOUT_NS);
    figures[0] = 2.0 * multiplications(c) / (double)(clock_ns() - start);
    if (status != SLR_OK)
        say_failure(status, "convolution");
    return status == SLR_OK;
}

static bool own_slice(void *context, double *figures)
{
    return convolve(context, OWN, figures);
}

static bool provider_slice(void *context, double *figures)
{
    return convolve(context, PROVIDER, figures);
}

static bool bare_slice(void *context, double *figures)
{
    convolutions *c = context;
    uint64_t start = clock_ns();
    bool fine = true;
    for (int i = 0; i < LAYERS && fine; i++)
        fine = floors_onednn(c->layer[i].bare);
    figures[0] = 2.0 * multiplications(c) / (double)(clock_ns() - start);
    if (!fine)
        say("oneDNN, called bare, failed");
    return fine;
}

// ---- oneDNN --------------------------------------------------------------------------------------------------------

static void note_onednn(void *user, const slr_provider *provider)
{
    if (strcmp(provider->name, "onednn") == 0)
        *(bool *)user = *provider->why_not == '\0';
}

static bool open_bare(const bench *bench, convolutions *c)
{
    bool fine = floors_onednn_open((int)bench->info.workers);
    for (int i = 0; i < LAYERS && fine; i++) {
        layer *l = &c->layer[i];
        l->bare = floors_onednn_make(c->images, l->channels, l->side, l->memory[X], l->memory[W], l->memory[Y]);
        fine = l->bare != NULL;
    }
    return fine;
}

// Whether the last call of slipring has written what oneDNN has, called bare.
static bool are_same(convolutions *c)
{
    bool same = true;
    for (int i = 0; i < LAYERS && same; i++) {
        const slr_tensor *y = &c->layer[i].tensor[Y];
        size_t count = elements(y);
        float *got = memory_take(count, sizeof *got);
        same = slr_buffer_read(y->buffer, 0, got, count * sizeof *got) == SLR_OK;
        for (size_t k = 0; k < count && same; k++)
            same = fabsf(got[k] - c->layer[i].memory[Y][k]) <= 1e-3f;
        free(got);
    }
    if (!same)
        say("a convolution is not what oneDNN, called bare, computes");
    return same;
}

// ---- rows ----------------------------------------------------------------------------------------------------------

static bool add_row(bench *bench, convolutions *c, const char *name, measure_slice *value, measure_slice *floor)
{
    char method[BENCH_METHOD_BYTES];
    bool is_own = value == own_slice;
    snprintf(method, sizeof method,
             "slr_ops_convolution of floats for %u images, with layers from %u channels of %u x %u to %u channels of "
             "%u x %u, as many filters of 3 x 3 as channels, %s; the program submits all layers and waits. Floor: %s.",
             c->images, c->layer[0].channels, c->layer[0].side, c->layer[0].side, c->layer[LAYERS - 1].channels,
             c->layer[LAYERS - 1].side, c->layer[LAYERS - 1].side,
             is_own ? "by slipring's own kernels" : "through oneDNN",
             is_own ? "the same calls through oneDNN" : "oneDNN, called without slipring, on as many threads");
    bench_case row = {
        name,
        "GFLOP/s",
        {"median"},
        method,
        {.value = value, .floor = floor, .value_context = c, .floor_context = c, .figures = 1, .enough = MEASURE_KEPT}};
    return bench_measure(bench, &row);
}

static void add_absent(bench *bench, const char *name)
{
    bench_row absent = {.name = name, .stat = "median", .unit = "GFLOP/s"};
    if (bench_wants(bench, name))
        bench_add(bench, &absent, "Not measured: the row needs libdnnl.so.2 (Debian: libdnnl2) and the device cpu.");
}

// The first call of each compiles, and warms.
static bool add_provider(bench *bench, convolutions *c)
{
    double ignored;
    if (!open_bare(bench, c)) { // SLIPRING_ONEDNN_LIB may name one that is elsewhere
        add_absent(bench, "conv_provider");
        return true;
    }
    return bare_slice(c, &ignored) && convolve(c, OWN, &ignored) && are_same(c) && convolve(c, PROVIDER, &ignored) &&
           are_same(c) && add_row(bench, c, "conv_provider", provider_slice, bare_slice);
}

static bool add_own(bench *bench, convolutions *c)
{
    double ignored;
    return convolve(c, OWN, &ignored) && convolve(c, PROVIDER, &ignored) &&
           add_row(bench, c, "conv_own", own_slice, provider_slice);
}

bool bench_convolutions(bench *bench)
{
    bool own = bench_wants(bench, "conv_own"), provider = bench_wants(bench, "conv_provider"), there = false;
    convolutions c = {0};
    if ((!own && !provider) || strcmp(bench->info.backend, "cuda") == 0) // of which bench_ops_cuda has the rows
        return true;
    if (slr_ops_visit_providers(note_onednn, &there) != SLR_OK || !there || strcmp(bench->info.backend, "cpu") != 0) {
        add_absent(bench, "conv_own");
        add_absent(bench, "conv_provider");
        return true;
    }
    partner_free_caller(bench->partner); // what the devices' threads inherit, and those of oneDNN called bare
    slr_status status = open_all(bench, &c);
    if (status != SLR_OK)
        say_failure(status, "convolutions");
    bool fine = status == SLR_OK && (!own || add_own(bench, &c)) && (!provider || add_provider(bench, &c));
    partner_move_caller(bench->partner, false);
    close_all(&c);
    return fine;
}
