// SPDX-License-Identifier: Apache-2.0
// The row `l2_window` of `slipring bench memory`, on CUDA: whether a kernel gains by an access window, which keeps a
// buffer in L2 while other data pass through. CUDA C++ by hand on both sides: no call of slipring sets a window.
#include "bench/bench.h"
#include "bench/batch.h"
#include "bench/cuda.h"
#include "clock.h"
#include "say.h"

#include <slipring/slipring.h>

#include <stdio.h>

enum { THREADS = 256, BLOCKS = 2048, QUAD = 16, BYTES_A_STEP = QUAD + 4 };

// A float of the hot buffer to four of the cold one: between two reads of a hot line, five times the hot buffer's bytes
// pass through L2.
static const char source[] =
    "extern \"C\" __global__ void hot_and_cold(const float *__restrict__ hot, const float4 *__restrict__ cold,\n"
    "                                        float *sums, unsigned mask, unsigned n)\n"
    "{\n"
    "    unsigned first = blockIdx.x * blockDim.x + threadIdx.x;\n"
    "    float sum = 0.0f;\n"
    "    for (unsigned i = first; i < n; i += gridDim.x * blockDim.x) {\n"
    "        float4 c = cold[i];\n"
    "        sum += c.x + c.y + c.z + c.w + hot[i & mask];\n"
    "    }\n"
    "    sums[first] = sum;\n"
    "}\n";

typedef struct window {
    cuda *cu;
    cuda_module *module;
    cuda_kernel kernel;
    cuda_pointer hot, cold, sums;
    size_t hot_bytes;
    unsigned n;
} window;

static bool launch(const window *w)
{
    cuda_pointer hot = w->hot, cold = w->cold, sums = w->sums;
    unsigned mask = (unsigned)(w->hot_bytes / sizeof(float)) - 1, n = w->n;
    void *arguments[] = {&hot, &cold, &sums, &mask, &n};
    return cuda_launch(w->cu, w->kernel, (uint32_t[]){BLOCKS, 1}, (uint32_t[]){THREADS, 1}, arguments);
}

// Once before the clock is read, so that L2 holds what it will hold.
static bool slice(const window *w, size_t kept, double *figures)
{
    bool fine = cuda_keep_in_l2(w->cu, w->hot, kept) && launch(w) && cuda_finish(w->cu);
    uint64_t start = clock_ns();
    fine = fine && launch(w) && cuda_finish(w->cu);
    figures[0] = (double)BYTES_A_STEP * w->n / (double)(clock_ns() - start);
    if (!fine)
        say("memory, l2_window: a call of the driver fails");
    return fine;
}

static bool kept_slice(void *context, double *figures)
{
    const window *w = context;
    return slice(w, w->hot_bytes, figures);
}

static bool plain_slice(void *context, double *figures)
{
    return slice(context, 0, figures);
}

static bool take(window *w, const char **why)
{
    *why = "the device's memory is too small";
    w->hot = cuda_take_own(w->cu, w->hot_bytes);
    w->cold = cuda_take_own(w->cu, (size_t)w->n * QUAD);
    w->sums = cuda_take_own(w->cu, (size_t)BLOCKS * THREADS * sizeof(float));
    if (w->hot == 0 || w->cold == 0 || w->sums == 0)
        return false;
    w->module = cuda_compile(w->cu, source, "l2_window.cu", why);
    w->kernel = w->module != NULL ? cuda_find(w->cu, w->module, "hot_and_cold") : NULL;
    return w->kernel != NULL;
}

static void give(window *w)
{
    const cuda_pointer taken[] = {w->hot, w->cold, w->sums};
    cuda_unload(w->cu, w->module);
    for (int i = 0; i < 3; i++)
        if (taken[i] != 0)
            cuda_give_own(w->cu, taken[i]);
}

// Half of what L2 can keep at most: a power of two, for the mask.
static size_t hot_bytes_of(size_t most)
{
    size_t bytes = most > 0 ? THREADS : 0;
    while (bytes != 0 && 2 * bytes <= most / 2)
        bytes *= 2;
    return bytes;
}

static bool measure(bench *bench, window *w)
{
    char method[BENCH_METHOD_BYTES];
    snprintf(
        method, sizeof method,
        "A handwritten kernel reads %zu KiB of one buffer again and again, and meanwhile four times as many bytes of "
        "another buffer; an access window keeps the first buffer in L2. Floor: the same without an access window.",
        w->hot_bytes >> 10);
    return bench_measure(bench, &(bench_case){.name = "l2_window",
                                              .unit = "GB/s",
                                              .stats = {"median"},
                                              .method = method,
                                              .pair = {.value = kept_slice,
                                                       .floor = plain_slice,
                                                       .value_context = w,
                                                       .floor_context = w,
                                                       .figures = 1,
                                                       .enough = MEASURE_KEPT}});
}

bool bench_l2_window(bench *bench)
{
    const char *why = "";
    char told[300];
    if (!bench_wants(bench, "l2_window"))
        return true;
    window w = {.cu = cuda_open(bench->info.name, &why), .n = bench->small ? 1u << 10 : 1u << 26};
    w.hot_bytes = w.cu != NULL ? hot_bytes_of(cuda_most_in_l2(w.cu)) : 0;
    if (w.cu != NULL && w.hot_bytes == 0)
        why = "this device or its driver has no access window";
    bool measures = w.hot_bytes != 0 && take(&w, &why), fine = true;
    if (measures)
        fine = measure(bench, &w);
    snprintf(told, sizeof told, "Not here: %s.", why);
    if (!measures)
        bench_add(bench, &(bench_row){.name = "l2_window", .stat = "-", .unit = "-"}, told);
    if (w.cu != NULL)
        give(&w);
    cuda_close(w.cu);
    return fine;
}
