// SPDX-License-Identifier: Apache-2.0
// `slipring bench tune`: six kernels with tunable macros. What the tuner finds in a tenth of the space, beside the
// default, and beside the best of the whole space.
#define _GNU_SOURCE
#include "bench/bench.h"

#include "clock.h"
#include "memory.h"
#include "progress.h"
#include "say.h"

#include <slipring/tune.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

extern const char tune_embedded_matmul_cu[], tune_embedded_reduce_cu[], tune_embedded_transpose_cu[],
    tune_embedded_stencil_cu[], tune_embedded_nbody_cu[], tune_embedded_histogram_cu[], tune_embedded_branches_cu[];

enum { BUFFERS = 4, SHARE = 10, SEED = 1, SLICE_NS = 2000000, MOST_LAUNCHES = 64 };
static const uint64_t search_ns = 900000000000u, tuner_ns = 120000000000u;

typedef enum element { NO_BUFFER, REAL_IN, WHOLE_IN, REAL_OUT, WHOLE_OUT } element;

// Elements of a buffer are side, side^2 or a few; the last argument is the side.
static const struct tuned_kernel {
    const char *name, *row, *share_row, *text;
    uint32_t side, small;
    bool is_square;
    element buffers[BUFFERS];
} kernels[] = {
    {"matmul",
     "tune_matmul",
     "tune_matmul_share",
     tune_embedded_matmul_cu,
     512,
     64,
     true,
     {REAL_IN, REAL_IN, REAL_OUT}},
    {"reduce",
     "tune_reduce",
     "tune_reduce_share",
     tune_embedded_reduce_cu,
     1 << 22,
     1 << 14,
     false,
     {WHOLE_IN, WHOLE_OUT}},
    {"transpose",
     "tune_transpose",
     "tune_transpose_share",
     tune_embedded_transpose_cu,
     2048,
     64,
     true,
     {REAL_IN, REAL_OUT}},
    {"stencil", "tune_stencil", "tune_stencil_share", tune_embedded_stencil_cu, 2048, 64, true, {REAL_IN, REAL_OUT}},
    {"nbody",
     "tune_nbody",
     "tune_nbody_share",
     tune_embedded_nbody_cu,
     4096,
     4096,
     false,
     {REAL_IN, REAL_IN, REAL_IN, REAL_OUT}},
    {"histogram",
     "tune_histogram",
     "tune_histogram_share",
     tune_embedded_histogram_cu,
     1 << 22,
     1 << 14,
     false,
     {WHOLE_IN, WHOLE_OUT}},
};
enum { KERNELS = sizeof kernels / sizeof *kernels };

// A launch with the macros of a choice.
typedef struct choice {
    struct tune_bench *of;
    slr_program *program;
    slr_kernel *kernel;
    slr_shape shape;
} choice;

typedef struct tune_bench {
    bench *bench;
    const struct tuned_kernel *what;
    uint32_t side;
    slr_stream *stream;
    slr_buffer *buffer[BUFFERS];
    slr_arg args[BUFFERS + 1];
    uint32_t arg_count;
    choice standard, tuned, best;
    uint32_t tried, space, of_space; // `of_space`: evaluations of the exhaustive search
    double log_sum;
    uint32_t measured;
} tune_bench;

static bool say_tune(slr_status status, const char *what)
{
    if (status != SLR_OK)
        say_failure(status, what);
    return status == SLR_OK;
}

// ---- buffers -------------------------------------------------------------------------------------------------------

static slr_status fill_buffer(slr_buffer *buffer, element kind, uint64_t count)
{
    uint32_t *values = memory_take(count, sizeof *values), random = 1;
    for (uint64_t i = 0; i < count && (kind == REAL_IN || kind == WHOLE_IN); i++) {
        random = random * 1664525u + 1013904223u; // D. Knuth's
        float real = (float)(random >> 8) / (1 << 24);
        if (kind == REAL_IN)
            memcpy(&values[i], &real, sizeof real);
        else
            values[i] = random >> 20;
    }
    slr_status status = slr_buffer_write(buffer, 0, values, count * sizeof *values);
    free(values);
    return status;
}

static slr_status make_buffers(tune_bench *t)
{
    slr_status status = SLR_OK;
    t->arg_count = 0;
    for (int i = 0; i < BUFFERS && status == SLR_OK && t->what->buffers[i] != NO_BUFFER; i++) {
        element kind = t->what->buffers[i];
        uint64_t count = t->what->is_square ? (uint64_t)t->side * t->side : kind == WHOLE_OUT ? 256 : 3ull * t->side;
        status = slr_buffer_create(t->bench->device, count * 4, &t->buffer[i]);
        if (status == SLR_OK)
            status = fill_buffer(t->buffer[i], kind, count);
        t->args[t->arg_count++] = slr_arg_buffer(t->buffer[i]);
    }
    t->args[t->arg_count++] = slr_arg_signed(t->side);
    return status;
}

// ---- choices -------------------------------------------------------------------------------------------------------

static slr_shape whole_shape(const tune_bench *t)
{
    return t->what->is_square ? SLR_2D(t->side, t->side) : SLR_1D(t->side);
}

static slr_status load_choice(tune_bench *t, const char *defines, const slr_shape *shape, choice *out)
{
    char text[SLR_TUNED_DEFINES_BYTES], *rest = text;
    const char *each[16];
    slr_program_desc desc = SLR_PROGRAM_DESC_INIT;
    snprintf(text, sizeof text, "%s", defines);
    for (char *part; (part = strsep(&rest, " ")) != NULL;)
        if (*part != '\0' && desc.define_count < 16)
            each[desc.define_count++] = part;
    desc.defines = each;
    desc.tuned = SLR_TUNED_OFF;
    *out = (choice){.of = t, .shape = *shape};
    slr_status status = slr_program_from_text(t->bench->device, t->what->name, t->what->text, &desc, &out->program);
    return status == SLR_OK ? slr_program_get_kernel(out->program, t->what->name, &out->kernel) : status;
}

static void free_choice(choice *c)
{
    slr_kernel_destroy(c->kernel);
    slr_program_destroy(c->program);
    *c = (choice){0};
}

static slr_status launch_choice(choice *c, uint32_t times)
{
    tune_bench *t = c->of;
    slr_status status = SLR_OK;
    for (uint32_t i = 0; i < times && status == SLR_OK; ++i)
        status = slr_launch(t->stream, c->kernel, c->shape, t->args, t->arg_count, NULL);
    return status == SLR_OK ? slr_stream_finish(t->stream, 12 * BENCH_TIMEOUT_NS) : status;
}

// The first launch after a pause finds cold caches, clocks and code: on an H100 it takes three times as long, which
// whoever comes first in a pair would pay alone. So one launch goes before, and says how many fill SLICE_NS.
static bool choice_slice(void *context, double *figures)
{
    choice *c = context;
    tune_bench *t = c->of;
    uint64_t start = clock_ns();
    slr_status status = launch_choice(c, 1);
    uint64_t first_ns = clock_ns() - start, fit = SLICE_NS / (first_ns + 1);
    uint32_t times = fit < 1 ? 1 : fit > MOST_LAUNCHES ? MOST_LAUNCHES : (uint32_t)fit;
    start = clock_ns();
    if (status == SLR_OK)
        status = launch_choice(c, times);
    double items = (t->what->is_square ? (double)t->side * t->side : t->side) * times;
    figures[0] = items * 1e3 / (double)(clock_ns() - start);
    return say_tune(status, t->what->name);
}

// ---- searches ------------------------------------------------------------------------------------------------------

static void show_tried(void *user, const slr_tune_candidate *candidate)
{
    const tune_bench *t = user;
    progress_step("%s: candidate %u of %u", t->what->name, candidate->evaluation, candidate->most);
}

static slr_status search(tune_bench *t, slr_tune_strategy strategy, uint32_t evaluations, slr_tuned *out)
{
    slr_tune_problem problem = {whole_shape(t), t->args, t->arg_count};
    slr_tune_desc desc = SLR_TUNE_DESC_INIT;
    desc.strategy = strategy;
    desc.evaluations = evaluations;
    desc.flags = SLR_TUNE_DISCARD | SLR_TUNE_KEEP_WIDTH;
    desc.budget_ns = t->bench->budget_s != 0           ? t->bench->budget_s * 1000000000ull
                     : strategy == SLR_TUNE_EXHAUSTIVE ? search_ns
                                                       : tuner_ns;
    desc.seed = SEED;
    desc.watch = show_tried;
    desc.user = t;
    slr_status status = slr_tune(t->standard.kernel, &problem, 1, &desc, out);
    progress_end();
    return status;
}

static slr_status tune_both(tune_bench *t)
{
    slr_tuned all, tenth;
    slr_shape shape = whole_shape(t);
    slr_status status = load_choice(t, "", &shape, &t->standard);
    if (status == SLR_OK)
        status = search(t, SLR_TUNE_EXHAUSTIVE, t->bench->small ? 4 : 0, &all);
    if (status != SLR_OK)
        return status;
    t->space = all.space;
    t->of_space = all.evaluations;
    uint32_t evaluations = all.space / SHARE > 1 ? all.space / SHARE : 1;
    status = search(t, SLR_TUNE_MODEL, t->bench->small ? 2 : evaluations, &tenth);
    t->tried = tenth.evaluations;
    if (status == SLR_OK)
        status = load_choice(t, tenth.defines, &tenth.shape, &t->tuned);
    if (status == SLR_OK)
        status = load_choice(t, all.defines, &all.shape, &t->best);
    return status;
}

// ---- rows ----------------------------------------------------------------------------------------------------------

static bool measure_choice(tune_bench *t, const char *row, choice *value, choice *floor, const char *method)
{
    bench_case what = {.name = row,
                       .unit = "Mitem/s",
                       .stats = {"p50"},
                       .method = method,
                       .pair = {.value = choice_slice,
                                .floor = choice_slice,
                                .value_context = value,
                                .floor_context = floor,
                                .figures = 1}};
    return bench_measure(t->bench, &what);
}

static bool measure_both(tune_bench *t)
{
    char method[BENCH_METHOD_BYTES];
    bool fine = true;
    if (bench_wants(t->bench, t->what->row)) {
        snprintf(method, sizeof method,
                 "The rate of launches with the choice of the tuner, which tried %u of %u candidates, after a launch "
                 "that is not timed. Floor: the rate of the default.",
                 t->tried, t->space);
        fine = measure_choice(t, t->what->row, &t->tuned, &t->standard, method);
        if (fine) {
            t->log_sum += log(t->bench->rows[t->bench->row_count - 1].ratio);
            ++t->measured;
        }
    }
    if (fine && bench_wants(t->bench, t->what->share_row)) {
        snprintf(
            method, sizeof method,
            "The rate of launches with the choice of the tuner, which tried %u of %u candidates, after a launch that "
            "is not timed. Floor: the rate of the best of %u candidates.",
            t->tried, t->space, t->of_space);
        fine = measure_choice(t, t->what->share_row, &t->tuned, &t->best, method);
    }
    return fine;
}

static void free_all(tune_bench *t)
{
    free_choice(&t->standard);
    free_choice(&t->tuned);
    free_choice(&t->best);
    for (int i = 0; i < BUFFERS; i++) {
        slr_buffer_destroy(t->buffer[i]);
        t->buffer[i] = NULL;
    }
}

static bool tune_kernel(tune_bench *t, const struct tuned_kernel *what)
{
    t->what = what;
    t->side = t->bench->small ? what->small : what->side;
    bool fine = say_tune(make_buffers(t), what->name) && say_tune(tune_both(t), what->name) && measure_both(t);
    free_all(t);
    return fine;
}

// ---- short branches without a jump ---------------------------------------------------------------------------------

static const struct tuned_kernel branches = {"branches", "tune_branches", NULL,  tune_embedded_branches_cu,
                                             1 << 16,    1 << 10,         false, {WHOLE_IN, REAL_OUT}};

static bool measure_branches(tune_bench *t)
{
    t->what = &branches;
    t->side = t->bench->small ? branches.small : branches.side;
    slr_shape shape = whole_shape(t);
    slr_status status = make_buffers(t);
    if (status == SLR_OK)
        status = load_choice(t, "", &shape, &t->standard);
    if (status == SLR_OK)
        status = load_choice(t, "SLIPRING_SELECT=1", &shape, &t->tuned);
    bool fine = say_tune(status, branches.name) &&
                measure_choice(t, branches.row, &t->tuned, &t->standard,
                               "The rate of a kernel in which each thread comes to a random branch 100 times, compiled "
                               "without a jump (SLIPRING_SELECT). Floor: the same kernel with jumps.");
    free_all(t);
    return fine;
}

static void add_mean(tune_bench *t)
{
    bench_row row = {
        .name = "tune_all", .stat = "mean", .unit = "x", .value = exp(t->log_sum / t->measured), .floor = 1};
    if (t->measured > 1)
        bench_add(t->bench, &row,
                  "The geometric mean of the ratios of the tune_ rows above whose floor is the default.");
}

bool bench_tune(bench *bench)
{
    tune_bench *t = memory_take(1, sizeof *t);
    t->bench = bench;
    bool fine = say_tune(slr_stream_create(bench->device, NULL, &t->stream), "bench tune");
    for (size_t i = 0; fine && i < KERNELS; i++)
        if (bench_wants(bench, kernels[i].share_row) || bench_wants(bench, kernels[i].row))
            fine = tune_kernel(t, &kernels[i]);
    if (fine)
        add_mean(t);
    if (fine && bench_wants(bench, branches.row))
        fine = measure_branches(t);
    slr_stream_destroy(t->stream);
    free(t);
    return fine;
}
