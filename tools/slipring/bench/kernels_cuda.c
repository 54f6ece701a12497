// SPDX-License-Identifier: Apache-2.0
// `slipring bench kernels`, on CUDA: kernels as slipring emits them, beside the same text as CUDA C++, given to NVRTC
// and launched by calls of the driver. `vs_nvrtc`: the example kernels. `vs_hand`: what a programmer of CUDA would
// write (bench/kernels/cuda).
#include "bench/bench.h"

#include "bench/batch.h"
#include "bench/cuda.h"
#include "clock.h"
#include "kernel_cases.h"
#include "memory.h"
#include "say.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

extern const char cuda_embedded_saxpy_cu[], cuda_embedded_reduce_shared_cu[], cuda_embedded_transpose_cu[],
    cuda_embedded_matmul_cu[];

// Many launches for one wait, so that a row measures kernels: `launch_empty` has what a launch and a wait cost.
enum { LAUNCHES = 32 };

// In how many blocks, as a part of the case's, and in which.
static const struct by_hand {
    const char *name, *source;
    uint32_t fewer[2], threads[2]; // blocks along x and y: the case's, divided by these
} by_hand[] = {
    {"saxpy", cuda_embedded_saxpy_cu, {4, 1}, {256, 1}},
    {"reduce_shared", cuda_embedded_reduce_shared_cu, {1, 1}, {256, 1}},
    {"transpose", cuda_embedded_transpose_cu, {2, 2}, {32, 8}},
    {"matmul", cuda_embedded_matmul_cu, {4, 4}, {16, 16}},
};

typedef struct kernel_bench {
    bench *bench;
    const kernel_case *what;
    int n;
    double work; // bytes or operations of a launch
    slr_stream *stream;
    slr_program *program;
    slr_kernel *kernel;
    slr_buffer *buffer[KERNEL_BUFFERS];
    cuda *cu;
    cuda_module *module;
    cuda_kernel by_hand;
    cuda_pointer memory[KERNEL_BUFFERS];
    uint32_t blocks[2], threads[2]; // of both sides
    uint32_t launches;              // of a slice
} kernel_bench;

// ---- slices: GB/s or GFLOP/s ---------------------------------------------------------------------------------------

static slr_status launch_and_finish(kernel_bench *k, uint32_t launches)
{
    slr_shape shape = SLR_GRID_2D(k->blocks[0], k->blocks[1], k->threads[0], k->threads[1]);
    slr_status status = SLR_OK;
    for (uint32_t i = 0; i < launches && status == SLR_OK; i++)
        status = kernel_case_launch_shape(k->what, k->n, k->stream, k->kernel, k->buffer, shape);
    return status == SLR_OK ? slr_stream_finish(k->stream, 12 * BENCH_TIMEOUT_NS) : status;
}

// The first launch is not timed: the floor's are in another context, and the device takes some 130 us to change to this
// one.
static bool kernel_slice(void *context, double *figures)
{
    kernel_bench *k = context;
    slr_status status = launch_and_finish(k, 1);
    uint64_t start = clock_ns();
    if (status == SLR_OK)
        status = launch_and_finish(k, k->launches);
    figures[0] = k->work * k->launches / (double)(clock_ns() - start);
    return status == SLR_OK || bench_failed(status, k->what->name);
}

static bool launch_by_hand(kernel_bench *k, uint32_t launches)
{
    void *arguments[8];
    float two = 2.0f;
    unsigned count = 0;
    bool fine = true;
    for (const char *at = k->what->arguments; *at; at++)
        arguments[count++] = *at == 'n' ? (void *)&k->n : *at == 'f' ? (void *)&two : (void *)&k->memory[*at - '0'];
    for (uint32_t i = 0; i < launches && fine; i++)
        fine = cuda_launch(k->cu, k->by_hand, k->blocks, k->threads, arguments);
    return fine && cuda_finish(k->cu);
}

static bool hand_slice(void *context, double *figures)
{
    kernel_bench *k = context;
    bool fine = launch_by_hand(k, 1);
    uint64_t start = clock_ns();
    fine = fine && launch_by_hand(k, k->launches);
    figures[0] = k->work * k->launches / (double)(clock_ns() - start);
    if (!fine)
        say("%s, by hand: it fails", k->what->name);
    return fine;
}

// ---- one kernel ----------------------------------------------------------------------------------------------------

static unsigned last_buffer(const kernel_bench *k)
{
    unsigned last = 0;
    while (last + 1 < KERNEL_BUFFERS && k->what->buffer[last + 1].times)
        last++;
    return last;
}

static bool fill_by_hand(kernel_bench *k, unsigned i)
{
    size_t bytes = kernel_case_elements(k->what, i, k->n) * 4;
    void *memory = memory_take(bytes, 1);
    kernel_case_fill(k->what, i, k->n, memory);
    if (k->memory[i] == 0)
        k->memory[i] = cuda_take_own(k->cu, bytes);
    bool copied = k->memory[i] != 0 && cuda_copy_in(k->cu, k->memory[i], memory, bytes, true);
    free(memory);
    if (!copied)
        say("%s, by hand: no memory", k->what->name);
    return copied;
}

static slr_status fill(kernel_bench *k, unsigned i)
{
    size_t bytes = kernel_case_elements(k->what, i, k->n) * 4;
    void *memory = memory_take(bytes, 1);
    kernel_case_fill(k->what, i, k->n, memory);
    slr_status status = k->buffer[i] != NULL ? SLR_OK : slr_buffer_create(k->bench->device, bytes, &k->buffer[i]);
    if (status == SLR_OK)
        status = slr_buffer_write(k->buffer[i], 0, memory, bytes);
    free(memory);
    return status;
}

// Fills the buffers, launches once, and reads the last one.
static bool run_once(kernel_bench *k, float *result)
{
    unsigned last = last_buffer(k);
    slr_status status = SLR_OK;
    for (unsigned i = 0; i <= last && status == SLR_OK; i++)
        status = fill(k, i);
    if (status == SLR_OK)
        status = launch_and_finish(k, 1);
    if (status == SLR_OK)
        status = slr_buffer_read(k->buffer[last], 0, result, kernel_case_elements(k->what, last, k->n) * 4);
    return status == SLR_OK || bench_failed(status, k->what->name);
}

static bool run_once_by_hand(kernel_bench *k, float *result)
{
    unsigned last = last_buffer(k);
    bool fine = true;
    for (unsigned i = 0; i <= last && fine; i++)
        fine = fill_by_hand(k, i);
    return fine && launch_by_hand(k, 1) &&
           cuda_copy_out(k->cu, result, k->memory[last], kernel_case_elements(k->what, last, k->n) * 4, true);
}

// What it computes by hand is the same, but for contraction.
static bool agrees(kernel_bench *k)
{
    size_t count = kernel_case_elements(k->what, last_buffer(k), k->n), apart = 0;
    float *ours = memory_take(count, sizeof *ours), *by_hand = memory_take(count, sizeof *by_hand);
    bool fine = run_once(k, ours) && run_once_by_hand(k, by_hand);
    for (size_t i = 0; i < count; i++) {
        double a = ours[i], b = by_hand[i], away = a > b ? a - b : b - a;
        apart += !(away <= 1e-3 * (1 + (a > 0 ? a : -a)));
    }
    free(ours);
    free(by_hand);
    if (fine && apart > count / 100)
        say("%s, by hand: %zu of %zu elements differ", k->what->name, apart, count);
    return fine && apart <= count / 100; // where a loop ends may hang on the last bit
}

static bool open_kernel(kernel_bench *k, const char *source)
{
    slr_status status = slr_program_from_text(k->bench->device, k->what->name, source, NULL, &k->program);
    if (status == SLR_OK)
        status = slr_program_get_kernel(k->program, k->what->name, &k->kernel);
    return status == SLR_OK || bench_failed(status, k->what->name);
}

static void close_kernel(kernel_bench *k)
{
    slr_kernel_destroy(k->kernel);
    slr_program_destroy(k->program);
    k->kernel = NULL;
    k->program = NULL;
}

static void free_memory(kernel_bench *k)
{
    for (unsigned i = 0; i < KERNEL_BUFFERS; i++) {
        slr_buffer_destroy(k->buffer[i]);
        if (k->memory[i] != 0)
            cuda_give_own(k->cu, k->memory[i]);
    }
}

// The case's text, of which the kernel can be found by its name.
static char *as_cpp(const char *source)
{
    static const char word[] = "__global__", linkage[] = "extern \"C\" ";
    const char *at = strstr(source, word);
    size_t bytes = strlen(source) + sizeof linkage;
    char *text = memory_take(bytes, 1);
    snprintf(text, bytes, "%.*s%s%s", (int)(at - source), source, linkage, at);
    return text;
}

// `source` is slipring's; `text` is NVRTC's, which finds the kernel by its name.
static bool measure(kernel_bench *k, const char *suffix, const char *source, const char *text, const char *what)
{
    const char *unit = k->what->flops > 0 ? "GFLOP/s" : "GB/s", *why = "";
    char made[BENCH_NAME_BYTES], method[BENCH_METHOD_BYTES];
    snprintf(made, sizeof made, "%s_%s", k->what->name, suffix);
    if (!bench_wants(k->bench, made))
        return true;
    const char *name = bench_keep_name(k->bench, made);
    k->module = cuda_compile(k->cu, text, name, &why);
    k->by_hand = k->module != NULL ? cuda_find(k->cu, k->module, k->what->name) : NULL;
    snprintf(method, sizeof method,
             "The rate of the kernel %s/%s.cu with n = %d: %u launches and one wait. Floor: the same text, compiled by "
             "NVRTC with its default options (so NVRTC contracts a * b + c) and launched by calls of the driver.",
             what, k->what->name, k->n, k->launches);
    bench_case row = {name,
                      unit,
                      {"median"},
                      method,
                      {.value = kernel_slice,
                       .floor = hand_slice,
                       .value_context = k,
                       .floor_context = k,
                       .figures = 1,
                       .enough = MEASURE_KEPT}};
    bool fine = open_kernel(k, source);
    if (fine && k->by_hand != NULL) {
        fine = agrees(k) && bench_measure(k->bench, &row);
    } else if (fine) {
        snprintf(method, sizeof method, "Not measured: %.280s.", why);
        bench_add(k->bench, &(bench_row){.name = name, .stat = "median", .unit = unit}, method);
    }
    close_kernel(k);
    cuda_unload(k->cu, k->module);
    return fine;
}

static bool measure_example(kernel_bench *k)
{
    slr_shape shape = kernel_case_shape(k->what, k->n);
    char *text = as_cpp(k->what->source);
    for (int i = 0; i < 2; i++) {
        k->blocks[i] = shape.grid[i];
        k->threads[i] = shape.block[i];
    }
    bool fine = measure(k, "vs_nvrtc", k->what->source, text, "examples/kernels");
    free(text);
    return fine;
}

static bool measure_by_hand(kernel_bench *k)
{
    slr_shape shape = kernel_case_shape(k->what, k->n);
    for (size_t i = 0; i < sizeof by_hand / sizeof *by_hand; i++) {
        if (strcmp(by_hand[i].name, k->what->name) != 0)
            continue;
        for (int side = 0; side < 2; side++) {
            k->blocks[side] = (shape.grid[side] + by_hand[i].fewer[side] - 1) / by_hand[i].fewer[side];
            k->threads[side] = by_hand[i].threads[side];
        }
        return measure(k, "vs_hand", by_hand[i].source, by_hand[i].source, "bench/kernels/cuda");
    }
    return true;
}

static slr_status set_up(kernel_bench *k)
{
    k->n = k->bench->small ? (k->what->small + 63) / 64 * 64 : k->what->large;
    k->launches = bench_size(k->bench, LAUNCHES);
    k->work = k->what->flops > 0 ? k->what->flops : k->what->bytes;
    for (unsigned i = 0; i < k->what->work_power; i++)
        k->work *= k->n;
    return slr_stream_default(k->bench->device, &k->stream);
}

// ---- all -----------------------------------------------------------------------------------------------------------

static bool wants(const bench *bench, const kernel_case *what)
{
    char names[2][64];
    snprintf(names[0], sizeof names[0], "%s_vs_nvrtc", what->name);
    snprintf(names[1], sizeof names[1], "%s_vs_hand", what->name);
    return bench_wants(bench, names[0]) || bench_wants(bench, names[1]);
}

bool bench_kernels_cuda(bench *bench)
{
    const char *why = "";
    bool fine = true;
    if (strcmp(bench->info.backend, "cuda") != 0)
        return true;
    cuda *cu = cuda_open(bench->info.name, &why);
    if (cu == NULL) {
        say("kernels by hand: %s", why);
        return false;
    }
    for (size_t i = 0; i < kernel_case_count; i++) { // what fails keeps none of the others from being measured
        kernel_bench k = {.bench = bench, .what = &kernel_cases[i], .cu = cu};
        if (!wants(bench, k.what))
            continue;
        slr_status status = set_up(&k);
        bool done = status == SLR_OK ? measure_example(&k) : bench_failed(status, k.what->name);
        fine = done && measure_by_hand(&k) && fine;
        free_memory(&k);
    }
    cuda_close(cu);
    return fine;
}
