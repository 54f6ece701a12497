// SPDX-License-Identifier: Apache-2.0
// `slipring bench claims`: what guides say of how kernels should be written.
#include "bench/claims.h"

#include "bench/batch.h"
#include "clock.h"
#include "memory.h"

#include <slipring/slipring.h>

#include <stdio.h>
#include <stdlib.h>

enum { FLOATS = 1 << 22, SMALL_FLOATS = 1 << 10 };

static const char source[] =
    "__global__ void saxpy(float a, const float *x, float *y, int n)\n"
    "{ int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) y[i] = a * x[i] + y[i]; }\n"
    "__global__ void strided(const float *x, float *y, int n, int stride)\n"
    "{ int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) y[i] = x[i * stride]; }\n"
    "__global__ void uniform(const float *x, float *y, int n)\n"
    "{ int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
    "  if (i < n) { float v = x[i]; for (int k = 0; k < 16; k++) v = v * 1.0001f + 0.5f; y[i] = v; } }\n"
    "__global__ void divergent(const float *x, float *y, int n)\n"
    "{ int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
    "  if (i < n) { float v = x[i];\n"
    "    if (i & 1) for (int k = 0; k < 16; k++) v = v * 1.0001f + 0.5f;\n"
    "    else for (int k = 0; k < 16; k++) v = v * 0.9999f - 0.5f;\n"
    "    y[i] = v; } }\n"
    "__global__ void sum_shared(const float *x, float *y, int n)\n"
    "{ __shared__ float part[256]; int t = threadIdx.x, i = blockIdx.x * 256 + t;\n"
    "  part[t] = i < n ? x[i] : 0.0f; __syncthreads();\n"
    "  for (int s = 128; s > 0; s /= 2) { if (t < s) part[t] += part[t + s]; __syncthreads(); }\n"
    "  if (t == 0) y[blockIdx.x] = part[0]; }\n"
    "__global__ void sum_atomic(const float *x, float *y, int n)\n"
    "{ int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) atomicAdd(&y[0], x[i]); }\n";

enum { SAXPY, STRIDED, UNIFORM, DIVERGENT, SUM_SHARED, SUM_ATOMIC, KERNELS };
static const char *const names[KERNELS] = {"saxpy", "strided", "uniform", "divergent", "sum_shared", "sum_atomic"};

typedef struct claims {
    bench *bench;
    slr_device *device;
    slr_stream *stream;
    slr_program *program;
    slr_kernel *kernel[KERNELS];
    slr_buffer *x, *y;
    int n, stride, floats; // at hand: FLOATS, or fewer for a test
    uint32_t block;        // 0: what is chosen
    float *host, sum;
} claims;

// ---- slices: microseconds ------------------------------------------------------------------------------------------

static bool finish(const claims *c, slr_status status, uint64_t start_ns, double *figures)
{
    if (status == SLR_OK)
        status = slr_stream_finish(c->stream, BENCH_TIMEOUT_NS);
    figures[0] = (double)(clock_ns() - start_ns) / 1000;
    return status == SLR_OK || bench_failed(status, "bench claims");
}

static bool saxpy_slice(const claims *c, slr_shape shape, double *figures)
{
    slr_status status = SLR_OK;
    uint64_t start = clock_ns();
    for (int i = 0; i < 8 && status == SLR_OK; i++)
        status = SLR_LAUNCH(c->stream, c->kernel[SAXPY], shape, 2.0, c->x, c->y, c->n);
    return finish(c, status, start, figures);
}

static bool chosen_slice(void *context, double *figures)
{
    const claims *c = context;
    return saxpy_slice(c, SLR_1D(c->n), figures);
}

static bool best_slice(void *context, double *figures)
{
    const claims *c = context;
    return saxpy_slice(c, SLR_1D_BLOCKS(c->n, c->block), figures);
}

static bool stride_slice(void *context, double *figures)
{
    const claims *c = context;
    uint64_t start = clock_ns();
    return finish(c, SLR_LAUNCH(c->stream, c->kernel[STRIDED], SLR_1D(c->n), c->x, c->y, c->n, c->stride), start,
                  figures);
}

static bool coalesced_slice(void *context, double *figures)
{
    const claims *c = context;
    uint64_t start = clock_ns();
    return finish(c, SLR_LAUNCH(c->stream, c->kernel[STRIDED], SLR_1D(c->n), c->x, c->y, c->n, 1), start, figures);
}

static bool plain_slice(const claims *c, int kernel, double *figures)
{
    uint64_t start = clock_ns();
    return finish(c, SLR_LAUNCH(c->stream, c->kernel[kernel], SLR_1D_BLOCKS(c->n, 256), c->x, c->y, c->n), start,
                  figures);
}

static bool divergent_slice(void *context, double *figures)
{
    return plain_slice(context, DIVERGENT, figures);
}

static bool uniform_slice(void *context, double *figures)
{
    return plain_slice(context, UNIFORM, figures);
}

static bool shared_slice(void *context, double *figures)
{
    return plain_slice(context, SUM_SHARED, figures);
}

static bool atomic_slice(void *context, double *figures)
{
    return plain_slice(context, SUM_ATOMIC, figures);
}

static bool host_sum_slice(void *context, double *figures)
{
    claims *c = context;
    float sum = 0;
    uint64_t start = clock_ns();
    for (int i = 0; i < c->n; i++)
        sum += c->host[i];
    figures[0] = (double)(clock_ns() - start) / 1000;
    c->sum = sum;
    return true;
}

// ---- rows ----------------------------------------------------------------------------------------------------------

static bool measure(claims *c, const char *claim, const char *name, const char *method, measure_slice *value,
                    measure_slice *floor)
{
    if (!bench_wants(c->bench, name))
        return true;
    c->bench->claim = claim;
    return bench_measure(c->bench, &(bench_case){.name = name,
                                                 .unit = "us",
                                                 .stats = {"median"},
                                                 .method = method,
                                                 .pair = {.value = value,
                                                          .floor = floor,
                                                          .value_context = c,
                                                          .floor_context = c,
                                                          .figures = 1,
                                                          .enough = MEASURE_KEPT,
                                                          .compiles = true}});
}

// The block that is fastest, of five tries each.
static bool find_best(claims *c)
{
    double best = 0, took;
    uint32_t found = 0;
    for (uint32_t block = 32; block <= 1024; block *= 2)
        for (int i = 0; i < (c->bench->small ? 2 : 6); i++) { // the first compiles
            c->block = block;
            if (!best_slice(c, &took))
                return false;
            if (i > 0 && (found == 0 || took < best)) {
                best = took;
                found = block;
            }
        }
    c->block = found;
    return true;
}

static bool measure_blocks(claims *c)
{
    static const struct size {
        const char *name;
        int n;
    } sizes[] = {{"block_1K", 1000}, {"block_100K", 100000}, {"block_4M", FLOATS}};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        char method[BENCH_METHOD_BYTES];
        c->n = sizes[i].n < c->floats ? sizes[i].n : c->floats;
        if (!bench_wants(c->bench, sizes[i].name))
            continue;
        if (!find_best(c))
            return false;
        snprintf(method, sizeof method,
                 "8 launches of saxpy over %d floats, with the block size that SLR_1D chooses. Floor: blocks of %u "
                 "threads, the fastest of 32 to 1,024.",
                 c->n, c->block);
        if (!measure(c,
                     "the best block has 64 to 128 threads for fewer than 1K elements, 256 for up to 100K, and 256 to "
                     "512 for more",
                     sizes[i].name, method, chosen_slice, best_slice))
            return false;
    }
    return true;
}

static bool measure_strides(claims *c)
{
    static const char *const rows[] = {"stride_2", "stride_8", "stride_32"};
    static const int strides[] = {2, 8, 32};
    c->n = c->floats / 32;
    for (int i = 0; i < 3; i++) {
        c->stride = strides[i];
        if (!measure(
                c,
                "access with a stride is slower than coalesced access, and reaches at most 1/8 of the rate at stride 8",
                rows[i],
                "The time to copy 131,072 floats that lie a stride apart in an array of 4 M floats. Floor: the "
                "time to copy 131,072 consecutive floats.",
                stride_slice, coalesced_slice))
            return false;
    }
    return true;
}

static bool measure_bodies(claims *c)
{
    c->n = c->floats / 4;
    return measure(c, "divergence costs", "divergent",
                   "1 M threads; threads with odd and with even numbers take different branches of 16 steps each. "
                   "Floor: all threads take the same branch.",
                   divergent_slice, uniform_slice) &&
           measure(c, "a reduction in shared memory pays", "sum_vs_atomic",
                   "The sums of 1 M floats, one sum for each block, computed in shared memory. Floor: one atomicAdd "
                   "for each float.",
                   shared_slice, atomic_slice) &&
           measure(c, "a reduction in shared memory pays", "sum_vs_host",
                   "The same as sum_vs_atomic. Floor: a loop on the host that sums the 1 M floats.", shared_slice,
                   host_sum_slice);
}

// ---- all -----------------------------------------------------------------------------------------------------------

static bool open(claims *c)
{
    partner_free_caller(c->bench->partner);
    slr_status status = slr_device_open(c->bench->info.name, NULL, &c->device);
    if (status == SLR_OK)
        status = slr_stream_default(c->device, &c->stream);
    if (status == SLR_OK)
        status = slr_program_from_text(c->device, "claims.cu", source, NULL, &c->program);
    for (int i = 0; i < KERNELS && status == SLR_OK; i++)
        status = slr_program_get_kernel(c->program, names[i], &c->kernel[i]);
    if (status == SLR_OK)
        status = slr_buffer_create(c->device, FLOATS * sizeof(float), &c->x);
    if (status == SLR_OK)
        status = slr_buffer_create(c->device, FLOATS * sizeof(float), &c->y);
    c->host = bench_lines(FLOATS * sizeof(float));
    if (status == SLR_OK) // each page is there
        status = slr_buffer_write(c->x, 0, c->host, FLOATS * sizeof(float));
    if (status == SLR_OK)
        status = slr_buffer_write(c->y, 0, c->host, FLOATS * sizeof(float));
    c->n = c->floats;
    double unused;
    bool fine = status == SLR_OK ? chosen_slice(c, &unused) : bench_failed(status, "bench claims");
    partner_move_caller(c->bench->partner, false);
    return fine;
}

static void close(claims *c)
{
    slr_buffer_destroy(c->x);
    slr_buffer_destroy(c->y);
    for (int i = 0; i < KERNELS; i++)
        slr_kernel_destroy(c->kernel[i]);
    slr_program_destroy(c->program);
    slr_device_close(c->device);
    free(c->host);
}

bool claims_kernels(bench *bench)
{
    claims *c = memory_take(1, sizeof *c);
    c->bench = bench;
    c->floats = bench->small ? SMALL_FLOATS : FLOATS;
    bool fine = open(c) && measure_blocks(c) && measure_strides(c) && measure_bodies(c);
    close(c);
    free(c);
    return fine;
}
