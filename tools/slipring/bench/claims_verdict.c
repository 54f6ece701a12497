// SPDX-License-Identifier: Apache-2.0
// What a guide's claim predicts of a row, and whether it came so. Rows are told by their names.
#include "bench/claims.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define ANY INFINITY

typedef enum basis {
    GAIN,     // how many times better than the floor
    VALUE,    // the row's own
    OF_A_GPU, // the value, but the figures are a GPU's
    NONE      // the row belongs to a claim that another row decides
} basis;

// Two ranges: the claim holds, with its size; it holds in its direction alone. The first row that fits is taken.
static const struct prediction {
    const char *row; // its name, or with * the begin of it
    basis basis;
    double low, high, weak_low, weak_high;
    const char *guide;
} predictions[] = {
    {"batch_of_*", GAIN, 1.05, ANY, 1, ANY, "a call for many messages costs less than one for each"},
    {"batch_*", GAIN, 42, ANY, 1.05, ANY, "84 times"},
    {"small_ring*", GAIN, 2.5, ANY, 1.05, ANY, "2.5 times"},
    {"small_*", GAIN, 1.05, ANY, 1, ANY, "less than one by one"},
    {"launch_empty*", VALUE, 15000, 30000, 0, 0, "15 to 30 us"},
    {"launches_1000", GAIN, 2, ANY, 1.05, ANY, "1,000 launches cost more than the work at once"},
    {"streams_4", GAIN, 1.05, ANY, 0.95, ANY, "more than on one stream"},
    {"block_*", GAIN, 0.95, ANY, 0.83, ANY, "as good as the best block"},
    {"stride_8", GAIN, 0, 0.125, 0, 0.8, "at most 1/8"},
    {"stride_*", GAIN, 0, 0.8, 0, 0.95, "slower"},
    {"divergent", GAIN, 0, 0.83, 0, 0.95, "slower"},
    {"sum_vs_*", GAIN, 1.05, ANY, 1, ANY, "faster"},
    {"pinned_new_*", NONE, 0, 0, 0, 0, ""},
    {"pinned_*", GAIN, 1.05, ANY, 1, ANY, "faster"},
    {"bare_pinned_*", GAIN, 1.05, ANY, 1, ANY, "faster"},
    {"overlap", NONE, 0, 0, 0, 0, ""},
    {"latency_*", OF_A_GPU, 0, 0, 0, 0, "cycles of a GPU"},
    {"bandwidth_*", OF_A_GPU, 0, 0, 0, 0, "rates of a GPU"},
    {"l2_window", GAIN, 1.05, ANY, 1, ANY, "faster"},
    {"occupancy", OF_A_GPU, 0, 0, 0, 0, "more warps hide more"},
    {"pool_first_fit", GAIN, 1.05, ANY, 1, ANY, "the first buffer that is large enough serves well"},
    {"pool_*", GAIN, 1.05, ANY, 0.95, ANY, "faster"},
    {"priority_255", VALUE, 32, 32, 1, 31, "all 32 first"},
    {"part_*", VALUE, 0, 1000, 1000, 2000, "1 us"},
    {"fused_chain", GAIN, 1.5, ANY, 1.05, ANY, "one kernel instead of three"},
    {"checkpoint_peak", GAIN, 1.5, ANY, 1.05, ANY, "less memory"},
    {"checkpoint_time", GAIN, 0, 0.95, 0, 1, "more time"},
    {"benchmark_choice", VALUE, 0.95, ANY, 0.8, ANY, "the fastest algorithm"},
};

static bool fits(const char *pattern, const char *name)
{
    size_t length = strcspn(pattern, "*");
    return pattern[length] == '*' ? strncmp(pattern, name, length) == 0 : strcmp(pattern, name) == 0;
}

static double gain_of(const bench_row *row)
{
    const char *better = bench_better(row->unit);
    if (row->ratio <= 0 || better == NULL)
        return 0;
    return strcmp(better, "less") == 0 ? 1 / row->ratio : row->ratio;
}

static bool is_within(double x, double low, double high)
{
    return x >= low && x <= high;
}

static void say_figure(const struct prediction *p, double figure, const char *unit, char *to, size_t bytes)
{
    if (p->basis == GAIN)
        snprintf(to, bytes, "%.3g times by the ratio", figure);
    else
        snprintf(to, bytes, "%.3g %s", figure, unit);
}

// NULL: nobody predicts anything of the row.
static const struct prediction *find_prediction(const bench_row *row)
{
    size_t i = 0;
    const size_t count = sizeof predictions / sizeof *predictions;
    while (i < count && !fits(predictions[i].row, row->name))
        i++;
    return i == count || predictions[i].basis == NONE ? NULL : &predictions[i];
}

const char *claims_figure(const bench_row *row)
{
    const struct prediction *p = find_prediction(row);
    return p == NULL ? NULL : p->basis == GAIN ? "ratio" : "value";
}

void claims_judge(const bench_row *row, bool is_gpu, char to[CLAIMS_VERDICT_BYTES])
{
    const struct prediction *p = find_prediction(row);
    *to = '\0';
    if (p == NULL)
        return;
    if (p->basis == OF_A_GPU && !is_gpu) {
        snprintf(to, CLAIMS_VERDICT_BYTES, "not decided: this device is no GPU (guide: %s)", p->guide);
        return;
    }
    double figure = p->basis == GAIN ? gain_of(row) : row->value;
    char words[48];
    say_figure(p, figure, row->unit, words, sizeof words);
    if (figure <= 0 || p->basis == OF_A_GPU)
        snprintf(to, CLAIMS_VERDICT_BYTES, "not decided (guide: %s)", p->guide);
    else
        snprintf(to, CLAIMS_VERDICT_BYTES, "%s: %s (guide: %s)",
                 is_within(figure, p->low, p->high)             ? "holds"
                 : is_within(figure, p->weak_low, p->weak_high) ? "holds in part"
                                                                : "does not hold here",
                 words, p->guide);
}
