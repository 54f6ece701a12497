// SPDX-License-Identifier: Apache-2.0
// `slipring bench kernels`: the example kernels beside the memory's own speed, OpenCL, OpenBLAS, and the same by hand.
//
// A row a floor. A peer that is not installed has a row of zeros, whose method says so.
#include "bench/bench.h"

#include "bench/batch.h"
#include "bench/floors.h"
#include "bench/glsl.h"
#include "bench/opencl.h"
#include "kernel_cases.h"
#include "clock.h"
#include "memory.h"
#include "say.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

extern const char hand_embedded_matmul_c[], hand_embedded_reduce_shared_c[], hand_embedded_scan_c[],
    hand_embedded_stencil_c[], hand_embedded_mandelbrot_c[];

static const struct by_hand {
    const char *name, *source;
} by_hand[] = {
    {"matmul", hand_embedded_matmul_c},
    {"reduce_shared", hand_embedded_reduce_shared_c},
    {"scan", hand_embedded_scan_c},
    {"stencil", hand_embedded_stencil_c},
    {"mandelbrot", hand_embedded_mandelbrot_c},
};

// One kernel, ready on a device of one or of all threads, and what it is measured beside.
typedef struct kernel_bench {
    bench *bench;
    const kernel_case *what;
    slr_device *device;
    slr_stream *stream;
    slr_program *program;
    slr_kernel *kernel;
    slr_buffer *buffer[KERNEL_BUFFERS];
    double work;                  // bytes or operations of a launch
    void *memory[KERNEL_BUFFERS]; // of the peers on the host
    halves halves;
    void (*on_memory)(halves *, partner *);
    opencl *cl;
    opencl_kernel *cl_kernel;
    glsl_kernel *glsl;
    hand_function *hand;
} kernel_bench;

// ---- slices --------------------------------------------------------------------------------------------------------

// In GB/s or GFLOP/s.
static void rate(const kernel_bench *k, uint64_t start_ns, double *figures)
{
    figures[0] = k->work / (double)(clock_ns() - start_ns);
}

static bool kernel_slice(void *context, double *figures)
{
    kernel_bench *k = context;
    uint64_t start = clock_ns();
    slr_status status = kernel_case_launch(k->what, k->what->large, k->stream, k->kernel, k->buffer);
    if (status == SLR_OK)
        status = slr_stream_finish(k->stream, 12 * BENCH_TIMEOUT_NS);
    rate(k, start, figures);
    return status == SLR_OK || bench_failed(status, k->what->name);
}

static bool opencl_slice(void *context, double *figures)
{
    kernel_bench *k = context;
    uint64_t start = clock_ns();
    bool fine = opencl_run(k->cl_kernel);
    rate(k, start, figures);
    if (!fine)
        say("OpenCL fails on %s", k->what->name);
    return fine;
}

static bool glsl_slice(void *context, double *figures)
{
    kernel_bench *k = context;
    uint64_t start = clock_ns();
    bool fine = glsl_run(k->glsl);
    rate(k, start, figures);
    if (!fine)
        say("Vulkan fails on %s by hand", k->what->name);
    return fine;
}

static bool memory_slice(void *context, double *figures)
{
    kernel_bench *k = context;
    uint64_t start = clock_ns();
    k->on_memory(&k->halves, k->bench->partner);
    rate(k, start, figures);
    return true;
}

static bool blas_slice(void *context, double *figures)
{
    kernel_bench *k = context;
    uint64_t start = clock_ns();
    floors_blas(k->what->large, k->memory[0], k->memory[1], k->memory[2]);
    rate(k, start, figures);
    return true;
}

static bool hand_slice(void *context, double *figures)
{
    kernel_bench *k = context;
    uint64_t start = clock_ns();
    k->hand(k->memory, k->what->large);
    rate(k, start, figures);
    return true;
}

// ---- one kernel ----------------------------------------------------------------------------------------------------

static double work_of(const kernel_case *what)
{
    double work = what->flops > 0 ? what->flops : what->bytes;
    for (unsigned i = 0; i < what->work_power; i++)
        work *= what->large;
    return work;
}

static slr_status open_buffers(kernel_bench *k)
{
    slr_status status = SLR_OK;
    for (unsigned i = 0; i < KERNEL_BUFFERS && k->what->buffer[i].times && status == SLR_OK; i++) {
        size_t bytes = kernel_case_elements(k->what, i, k->what->large) * 4;
        void *memory = memory_take(bytes, 1);
        kernel_case_fill(k->what, i, k->what->large, memory);
        status = slr_buffer_create(k->device, bytes, &k->buffer[i]);
        if (status == SLR_OK)
            status = slr_buffer_write(k->buffer[i], 0, memory, bytes);
        free(memory);
    }
    return status;
}

static bool is_cpu(const kernel_bench *k)
{
    return strcmp(k->bench->info.backend, "cpu") == 0;
}

// The device's threads must not inherit the core that the caller keeps to.
static bool open_kernel(kernel_bench *k, bool one_thread)
{
    const char *name = k->bench->info.name;
    char spec[SLR_DEVICE_NAME_BYTES + 16];
    bool is_free = is_cpu(k) && strstr(name, "threads=") == NULL;
    snprintf(spec, sizeof spec, "%s%s", name,
             !is_free || !one_thread     ? ""
             : strchr(name, '?') != NULL ? "&threads=1"
                                         : "?threads=1");
    partner_free_caller(k->bench->partner);
    slr_status status = slr_device_open(spec, NULL, &k->device);
    if (status == SLR_OK)
        status = slr_stream_default(k->device, &k->stream);
    if (status == SLR_OK)
        status = slr_program_from_text(k->device, k->what->name, k->what->source, NULL, &k->program);
    if (status == SLR_OK)
        status = slr_program_get_kernel(k->program, k->what->name, &k->kernel);
    if (status == SLR_OK)
        status = open_buffers(k);
    double unused;
    bool fine = status == SLR_OK ? kernel_slice(k, &unused) : bench_failed(status, k->what->name); // compiles; warms
    partner_move_caller(k->bench->partner, false);
    return fine;
}

static void close_kernel(kernel_bench *k)
{
    for (unsigned i = 0; i < KERNEL_BUFFERS; i++) {
        slr_buffer_destroy(k->buffer[i]);
        free(k->memory[i]);
    }
    slr_kernel_destroy(k->kernel);
    slr_program_destroy(k->program);
    slr_device_close(k->device);
    opencl_release(k->cl_kernel);
    opencl_close(k->cl);
    glsl_release(k->glsl);
    *k = (kernel_bench){.bench = k->bench, .what = k->what};
}

static void take_memory(kernel_bench *k)
{
    for (unsigned i = 0; i < KERNEL_BUFFERS && k->what->buffer[i].times; i++) {
        if (k->memory[i] != NULL)
            continue;
        k->memory[i] = bench_lines(kernel_case_elements(k->what, i, k->what->large) * 4);
        kernel_case_fill(k->what, i, k->what->large, k->memory[i]);
    }
}

// ---- rows ----------------------------------------------------------------------------------------------------------

static void add_absent(bench *bench, const char *name, const char *unit, const char *why)
{
    if (bench->row_count >= BENCH_ROWS)
        return;
    bench_row *row = &bench->rows[bench->row_count++];
    *row = (bench_row){.name = name, .stat = "median", .unit = unit};
    snprintf(row->method, sizeof row->method, "Not measured: %s.", why);
}

// Names live as long as the rows.
static const char *row_name(const kernel_bench *k, bool one_thread, const char *floor)
{
    char *name = memory_take(64, 1);
    const char *kernel = strcmp(k->what->name, "matmul") == 0 ? "matmul_tiled" : k->what->name;
    snprintf(name, 64, "%s_%ut_%s", kernel, one_thread ? 1 : k->bench->info.workers, floor);
    return name;
}

static bool add(kernel_bench *k, const char *name, const char *floor, measure_slice *slice)
{
    char method[BENCH_METHOD_BYTES];
    snprintf(method, sizeof method,
             "The rate of the kernel examples/kernels/%s.cu with n = %d: a launch and a wait. Floor: %s.",
             k->what->name, k->what->large, floor);
    bench_case row = {name,
                      k->what->flops > 0 ? "GFLOP/s" : "GB/s",
                      {"median"},
                      method,
                      {.value = kernel_slice,
                       .floor = slice,
                       .value_context = k,
                       .floor_context = k,
                       .figures = 1,
                       .enough = MEASURE_KEPT}};
    return bench_measure(k->bench, &row);
}

static bool add_opencl(kernel_bench *k, bool one_thread)
{
    const char *name = row_name(k, one_thread, "vs_pocl"), *why = "";
    if (!bench_wants(k->bench, name))
        return true;
    partner_free_caller(k->bench->partner);             // its threads too
    k->cl = opencl_open(one_thread && is_cpu(k), &why); // another device has all its threads
    k->cl_kernel = k->cl != NULL ? opencl_prepare(k->cl, k->what, k->what->large, &why) : NULL;
    bool fine = k->cl_kernel != NULL && opencl_run(k->cl_kernel);
    partner_move_caller(k->bench->partner, false);
    if (fine)
        return add(k, name, "the same kernel in OpenCL C, on the installed OpenCL driver with as many threads",
                   opencl_slice);
    add_absent(k->bench, name, k->what->flops > 0 ? "GFLOP/s" : "GB/s", k->cl_kernel != NULL ? "it fails there" : why);
    return true;
}

// What both have written after one launch each.
static bool is_same(const kernel_bench *k)
{
    unsigned last = 0;
    while (last + 1 < KERNEL_BUFFERS && k->what->buffer[last + 1].times)
        last++;
    const size_t elements = kernel_case_elements(k->what, last, k->what->large);
    const float *by_hand = glsl_memory(k->glsl, last);
    float *ours = memory_take(elements, sizeof *ours);
    slr_status status = slr_buffer_read(k->buffer[last], 0, ours, elements * sizeof *ours);
    size_t same = 0;
    while (status == SLR_OK && same < elements && fabsf(ours[same] - by_hand[same]) <= 1e-4f * (1 + fabsf(ours[same])))
        same++;
    free(ours);
    if (status == SLR_OK && same != elements)
        say("%s: element %zu is another one by hand", k->what->name, same);
    return same == elements || bench_failed(status, k->what->name);
}

static bool add_glsl(kernel_bench *k)
{
    const char *name = row_name(k, false, "vs_glsl"), *why = "";
    double unused;
    partner_free_caller(k->bench->partner); // its threads too
    k->glsl = glsl_prepare(k->bench->info.name, k->what, &why);
    partner_move_caller(k->bench->partner, false);
    if (k->glsl != NULL)
        return glsl_slice(k, &unused) && is_same(k) &&
               add(k, name,
                   "the same kernel, handwritten in GLSL (bench/kernels/glsl) and compiled by glslang, on the same "
                   "device",
                   glsl_slice);
    add_absent(k->bench, name, k->what->flops > 0 ? "GFLOP/s" : "GB/s", why);
    return true;
}

static bool add_hand(kernel_bench *k)
{
    const char *name = row_name(k, true, "vs_hand"), *why = "";
    const struct by_hand *found = NULL;
    for (size_t i = 0; i < sizeof by_hand / sizeof *by_hand; i++)
        if (strcmp(by_hand[i].name, k->what->name) == 0)
            found = &by_hand[i];
    if (found == NULL || !bench_wants(k->bench, name))
        return true;
    k->hand = floors_hand(found->source, &why);
    take_memory(k);
    if (k->hand != NULL)
        return add(k, name,
                   "handwritten loops in C (bench/kernels/hand), compiled with the same flags, in the calling thread",
                   hand_slice);
    add_absent(k->bench, name, "GB/s", why);
    return true;
}

static bool add_blas(kernel_bench *k)
{
    const char *name = row_name(k, true, "vs_openblas");
    if (strcmp(k->what->name, "matmul") != 0 || !bench_wants(k->bench, name))
        return true;
    if (!floors_blas_open(1)) {
        add_absent(k->bench, name, "GFLOP/s", "no OpenBLAS is here (libopenblas.so.0; Debian: libopenblas0-pthread)");
        return true;
    }
    take_memory(k);
    return add(k, name, "cblas_sgemm of OpenBLAS on one thread, with the code that OpenBLAS chooses for this core",
               blas_slice);
}

static bool add_memory(kernel_bench *k, const char *suffix, const char *floor, void (*on_memory)(halves *, partner *))
{
    const char *name = row_name(k, false, suffix);
    if (!bench_wants(k->bench, name))
        return true;
    take_memory(k);
    k->on_memory = on_memory;
    k->halves = (halves){.a = k->memory[0], .b = k->memory[1], .count = (size_t)k->what->large};
    if (on_memory == floors_triad) {
        k->halves.c = k->memory[1];
        k->halves.b = bench_lines(k->halves.count * 4);
    }
    bool fine = add(k, name, floor, memory_slice);
    if (on_memory == floors_triad)
        free(k->halves.b);
    return fine;
}

// ---- all -----------------------------------------------------------------------------------------------------------

static bool wants_any(const kernel_bench *k, bool one_thread)
{
    static const char *const floors[] = {"vs_pocl", "vs_hand", "vs_openblas", "vs_triad", "vs_loop", "vs_read"};
    for (size_t i = 0; i < sizeof floors / sizeof *floors; i++)
        if (bench_wants(k->bench, row_name(k, one_thread, floors[i])))
            return true;
    return false;
}

static bool has_hand(const kernel_case *what)
{
    for (size_t i = 0; i < sizeof by_hand / sizeof *by_hand; i++)
        if (strcmp(by_hand[i].name, what->name) == 0)
            return true;
    return false;
}

static bool measure_one_thread(kernel_bench *k)
{
    bool is_matmul = strcmp(k->what->name, "matmul") == 0;
    if (!has_hand(k->what) || !wants_any(k, true))
        return true;
    bool fine = open_kernel(k, true) && add_hand(k) && add_blas(k) && (!is_matmul || add_opencl(k, true));
    close_kernel(k);
    return fine;
}

static bool measure_all_threads(kernel_bench *k)
{
    const char *name = k->what->name;
    if (strcmp(name, "matmul") == 0 || !wants_any(k, false))
        return true;
    bool fine = open_kernel(k, false);
    if (fine && strcmp(name, "saxpy") == 0)
        fine = add_memory(k, "vs_triad", "the STREAM triad, a = b + 2 c, in C on both cores", floors_triad) &&
               add_memory(k, "vs_loop",
                          "the loop y = 2 x + y in C on both cores, which is as fast as the memory's bandwidth allows",
                          floors_saxpy);
    if (fine && strncmp(name, "reduce_", 7) == 0)
        fine = add_memory(k, "vs_read", "a loop in C that sums as many floats, on both cores", floors_sum);
    fine = fine && add_opencl(k, false);
    close_kernel(k);
    return fine;
}

static bool measure_glsl(kernel_bench *k)
{
    if (strcmp(k->bench->info.backend, "vulkan") != 0 || !glsl_has(k->what) ||
        !bench_wants(k->bench, row_name(k, false, "vs_glsl")))
        return true;
    bool fine = open_kernel(k, false) && add_glsl(k);
    close_kernel(k);
    return fine;
}

// Of the rows beside a peer, where all of them were measured.
static void add_mean(bench *bench, const char *name, const char *peer, size_t rows)
{
    double logs = 0;
    unsigned count = 0;
    for (unsigned i = 0; i < bench->row_count; i++) {
        const bench_row *row = &bench->rows[i];
        if (strstr(row->name, peer) == NULL)
            continue;
        if (row->ratio <= 0)
            return;
        logs += log(row->ratio);
        count++;
    }
    if (count != rows || bench->row_count >= BENCH_ROWS)
        return;
    bench_row *row = &bench->rows[bench->row_count++];
    *row = (bench_row){.name = name,
                       .stat = "mean",
                       .unit = "times",
                       .value = exp(logs / count),
                       .floor = 1,
                       .ratio = exp(logs / count)};
    snprintf(row->method, sizeof row->method, "The geometric mean of the ratios of the %u rows whose names contain %s.",
             count, peer + 1);
}

bool bench_kernels(bench *bench)
{
    if (strcmp(bench->info.backend, "cuda") == 0) // bench_kernels_cuda.c
        return true;
    for (size_t i = 0; i < kernel_case_count; i++) {
        kernel_bench k = {.bench = bench, .what = &kernel_cases[i]};
        k.work = work_of(k.what);
        if (!measure_one_thread(&k))
            return false;
        k.work = work_of(k.what);
        if (!measure_all_threads(&k))
            return false;
        k.work = work_of(k.what);
        if (!measure_glsl(&k))
            return false;
    }
    add_mean(bench, "kernels_vs_pocl", "_vs_pocl", kernel_case_count);
    add_mean(bench, "kernels_vs_glsl", "_vs_glsl", glsl_count);
    return true;
}
