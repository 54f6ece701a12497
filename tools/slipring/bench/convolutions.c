// SPDX-License-Identifier: Apache-2.0
// `slipring bench ops`: a convolution by slipring's kernels beside oneDNN.
#include "bench/bench.h"

#include "clock.h"
#include "say.h"

#include <slipring/slipring.h>

#include <stdio.h>
#include <string.h>

enum { IMAGES = 8, CHANNELS = 64, SIDE = 56, OWN = 0, PROVIDER = 1 };

typedef struct convolutions {
    slr_device *device;
    slr_stream *stream;
    slr_ops *ops[2]; // of slipring alone; with oneDNN
    slr_tensor x, weights, y;
    uint32_t images, channels, side;
} convolutions;

static slr_status make(convolutions *c, slr_tensor *out, uint32_t n, uint32_t channels, uint32_t side)
{
    static const float pattern[4] = {0.5f, -0.25f, 0.75f, -1.0f};
    slr_buffer *buffer;
    uint64_t bytes = 4ull * n * channels * side * side;
    slr_status status = slr_buffer_create(c->device, bytes, &buffer);
    if (status != SLR_OK)
        return status;
    *out = slr_tensor_4d(SLR_F32, buffer, n, channels, side, side);
    return slr_stream_fill(c->stream, buffer, 0, bytes, pattern, bytes % 16 ? 4 : 16, NULL);
}

static slr_status open_all(bench *bench, convolutions *c)
{
    slr_ops_desc desc = SLR_OPS_DESC_INIT;
    c->images = bench->small ? 1 : IMAGES, c->channels = bench->small ? 8 : CHANNELS,
    c->side = bench->small ? 14 : SIDE;
    slr_status status = slr_device_open(bench->info.name, NULL, &c->device);
    if (status == SLR_OK)
        status = slr_stream_default(c->device, &c->stream);
    if (status == SLR_OK)
        status = slr_ops_create(c->device, &desc, &c->ops[PROVIDER]);
    desc.deterministic = 1; // which libraries do not promise to be
    if (status == SLR_OK)
        status = slr_ops_create(c->device, &desc, &c->ops[OWN]);
    if (status == SLR_OK)
        status = make(c, &c->x, c->images, c->channels, c->side);
    if (status == SLR_OK)
        status = make(c, &c->y, c->images, c->channels, c->side);
    return status == SLR_OK ? make(c, &c->weights, c->channels, c->channels, 3) : status;
}

static void close_all(convolutions *c)
{
    slr_buffer_destroy(c->x.buffer);
    slr_buffer_destroy(c->y.buffer);
    slr_buffer_destroy(c->weights.buffer);
    slr_ops_destroy(c->ops[OWN]);
    slr_ops_destroy(c->ops[PROVIDER]);
    slr_device_close(c->device);
}

static bool convolve(convolutions *c, int by, double *figures)
{
    slr_convolution_desc desc = SLR_CONVOLUTION_DESC_INIT;
    desc.x = &c->x, desc.weights = &c->weights, desc.y = &c->y;
    desc.padding[0] = desc.padding[1] = 1;
    uint64_t start = clock_ns();
    slr_status status = slr_ops_convolution(c->ops[by], c->stream, &desc, NULL);
    if (status == SLR_OK)
        status = slr_stream_finish(c->stream, 12 * BENCH_TIMEOUT_NS);
    double multiplications = 9.0 * c->images * c->channels * c->channels * c->side * c->side;
    figures[0] = 2.0 * multiplications / (double)(clock_ns() - start);
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

static void note_onednn(void *user, const slr_provider *provider)
{
    if (strcmp(provider->name, "onednn") == 0)
        *(bool *)user = *provider->why_not == '\0';
}

bool bench_convolutions(bench *bench)
{
    static const char name[] = "conv_own";
    char method[320];
    double ignored;
    bool there = false;
    bench_row absent = {.name = name, .stat = "median", .unit = "GFLOP/s"};
    convolutions c = {0};
    if (!bench_wants(bench, name))
        return true;
    if (slr_ops_visit_providers(note_onednn, &there) != SLR_OK || !there || strcmp(bench->info.backend, "cpu") != 0) {
        bench_add(bench, &absent, "Not measured: it is beside libdnnl.so.2 (Debian: libdnnl2) on a cpu.");
        return true;
    }
    partner_free_caller(bench->partner); // what the device's threads inherit
    slr_status status = open_all(bench, &c);
    partner_move_caller(bench->partner, false);
    bool fine = status == SLR_OK;
    if (!fine)
        say_failure(status, "convolutions");
    snprintf(method, sizeof method,
             "slr_ops_convolution of floats: %u images of %u channels of %u x %u, as many filters of 3 x 3, by "
             "slipring's kernels, submitted and waited for. Floor: the same call through oneDNN.",
             c.images, c.channels, c.side, c.side);
    bench_case row = {name,
                      "GFLOP/s",
                      {"median"},
                      method,
                      {.value = own_slice,
                       .floor = provider_slice,
                       .value_context = &c,
                       .floor_context = &c,
                       .figures = 1,
                       .enough = MEASURE_KEPT}};
    fine = fine && convolve(&c, OWN, &ignored) && convolve(&c, PROVIDER, &ignored) && bench_measure(bench, &row);
    close_all(&c);
    return fine;
}
