// SPDX-License-Identifier: Apache-2.0
// Whether samples are slower than a baseline. What decides is an interval of the ratio of medians, by bootstrap: both
// sides are drawn again from their own samples, many times, by a generator with a fixed seed.
#include "base/sized.h"
#include "base/status.h"

#include <slipring/baseline.h>

#include <float.h>
#include <inttypes.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { DRAWS = 2000 };

static int compare_doubles(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

// Sorts. Of an even count the mean of the two in the middle.
static double middle(double *values, uint32_t count)
{
    qsort(values, count, sizeof *values, compare_doubles);
    return count % 2 ? values[count / 2] : values[count / 2 - 1] + (values[count / 2] - values[count / 2 - 1]) / 2;
}

static uint64_t next_random(uint64_t *state) // splitmix64
{
    uint64_t z = *state += UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return z ^ z >> 31;
}

struct sides {
    const double *samples, *of_target;
    uint32_t count, target_count;
    double target; // where there are no samples of it
    double scale;  // of a draw from the target's samples: a target beside them counts, and they give its scatter
    bool is_latency;
    double *room; // for as many as the larger side has
    uint64_t random;
};

static double draw_middle(struct sides *s, const double *samples, uint32_t count)
{
    for (uint32_t i = 0; i < count; ++i)
        s->room[i] = samples[next_random(&s->random) % count];
    return middle(s->room, count);
}

static double speed_of(const struct sides *s, double value, double target)
{
    return s->is_latency ? target / value : value / target;
}

static void find_interval(struct sides *s, double speeds[DRAWS], slr_comparison *out)
{
    for (uint32_t i = 0; i < DRAWS; ++i) {
        double target = s->of_target ? s->scale * draw_middle(s, s->of_target, s->target_count) : s->target;
        speeds[i] = speed_of(s, draw_middle(s, s->samples, s->count), target);
    }
    qsort(speeds, DRAWS, sizeof *speeds, compare_doubles);
    out->low = speeds[DRAWS / 40];
    out->high = speeds[DRAWS - 1 - DRAWS / 40];
}

// A figure and a bound that are equal on paper differ in their last bits where one of them is no binary fraction: 0.63
// of 0.7, for one. Four roundings make at most this much of the larger figure; whole numbers up to 2^51 stay apart.
static bool is_above(double a, double b, double largest)
{
    return a - b > 2 * DBL_EPSILON * largest;
}

static bool is_slower(const slr_comparison *c, bool is_latency)
{
    const double least = 1 - c->tolerance, largest = fmax(c->value, c->target);
    return is_latency ? is_above(c->value * least, c->target, largest) : is_above(c->target * least, c->value, largest);
}

static bool is_faster(const slr_comparison *c, bool is_latency)
{
    const double least = 1 - c->tolerance, largest = fmax(c->value, c->target);
    return is_latency ? is_above(c->target * least, c->value, largest) : is_above(c->value * least, c->target, largest);
}

// Speeds, which are quotients: of as many roundings.
static slr_verdict decide_by_interval(const slr_comparison *c)
{
    const double least = 1 - c->tolerance;
    const bool some_slower = is_above(least, c->low, 1), some_faster = is_above(c->high * least, 1, fmax(c->high, 1));
    if (is_above(least, c->high, 1))
        return SLR_VERDICT_REGRESSED;
    if (is_above(c->low * least, 1, fmax(c->low, 1)))
        return SLR_VERDICT_IMPROVED;
    return some_slower || some_faster ? SLR_VERDICT_UNDECIDED : SLR_VERDICT_SAME;
}

const char *slr_verdict_name(uint32_t verdict)
{
    static const char *const names[] = {"unknown", "same", "regressed", "improved", "not decided"};
    return verdict < sizeof names / sizeof *names ? names[verdict] : names[0];
}

static void explain_verdict(const slr_baseline *baseline, uint32_t count, slr_comparison *c)
{
    const char *name = baseline->operation ? baseline->operation : "operation";
    snprintf(c->why, sizeof c->why,
             "%.60s: %s: %.10g against %.10g, speed %.4g (%.4g to %.4g), tolerance %.3g %%, %" PRIu32 " sample%s", name,
             slr_verdict_name(c->verdict), c->value, c->target, c->speed, c->low, c->high, 100 * c->tolerance, count,
             count == 1 ? "" : "s");
}

static bool all_positive(const double *samples, uint32_t count)
{
    for (uint32_t i = 0; i < count; ++i)
        if (!(samples[i] > 0) || isinf(samples[i]))
            return false;
    return true;
}

static slr_status check_baseline(const slr_baseline *b, const double *samples, uint32_t count)
{
    const char *name = b->operation ? b->operation : "operation";
    if (count == 0)
        return SLRI_FAIL(INVALID, "%s: there is no sample", name);
    if (b->tolerance != 0 && !(b->tolerance > 0 && b->tolerance < 1))
        return SLRI_FAIL(INVALID, "%s: a tolerance of %g; expected above 0 and below 1", name, b->tolerance);
    if (b->target != 0 && !all_positive(&b->target, 1))
        return SLRI_FAIL(INVALID, "%s: a target of %g; expected a finite number above 0", name, b->target);
    if (b->sample_count && !b->samples)
        return SLRI_FAIL(INVALID, "%s: sample_count is not 0 and samples is NULL", name);
    if (b->target == 0 && b->sample_count == 0)
        return SLRI_FAIL(INVALID, "%s: there is neither a target nor a sample of it", name);
    if (!all_positive(samples, count) || !all_positive(b->samples, b->sample_count))
        return SLRI_FAIL(INVALID, "%s: a sample is not a finite number above 0", name);
    return SLR_OK;
}

static slr_status compare_samples(const slr_baseline *b, const double *samples, uint32_t count, slr_comparison *c)
{
    const uint32_t most = count > b->sample_count ? count : b->sample_count;
    double *room = malloc(((size_t)most + DRAWS) * sizeof *room);
    if (!room)
        return SLRI_FAIL(NO_MEMORY, "no memory to compare %u samples", most);
    struct sides s = {.samples = samples,
                      .count = count,
                      .of_target = b->target == 0 || b->sample_count > 1 ? b->samples : NULL,
                      .target_count = b->sample_count,
                      .is_latency = b->is_latency != 0,
                      .room = room + DRAWS,
                      .random = 1};
    memcpy(s.room, samples, count * sizeof *samples);
    c->value = middle(s.room, count);
    c->target = b->target;
    if (s.of_target) {
        memcpy(s.room, b->samples, b->sample_count * sizeof *samples);
        const double median = middle(s.room, b->sample_count);
        c->target = b->target != 0 ? b->target : median;
        s.scale = c->target / median;
    }
    s.target = c->target;
    c->tolerance = b->tolerance != 0 ? b->tolerance : 0.1;
    c->speed = c->low = c->high = speed_of(&s, c->value, c->target);
    if (count == 1 && b->sample_count <= 1) {
        c->verdict = is_slower(c, s.is_latency)   ? SLR_VERDICT_REGRESSED
                     : is_faster(c, s.is_latency) ? SLR_VERDICT_IMPROVED
                                                  : SLR_VERDICT_SAME;
    } else {
        find_interval(&s, room, c);
        c->verdict = decide_by_interval(c);
    }
    free(room);
    explain_verdict(b, count, c);
    return SLR_OK;
}

slr_status slr_baseline_compare_sized(const slr_baseline *baseline, const double *samples, uint32_t count,
                                      slr_comparison *out, size_t bytes)
{
    slr_baseline whole;
    slr_comparison made = {0};
    if (!baseline || !samples || !out)
        return SLRI_FAIL(INVALID, "slr_baseline_compare: %s is NULL",
                         !baseline  ? "baseline"
                         : !samples ? "samples"
                                    : "out");
    SLRI_TRY(SLRI_TAKE_DESC(slr_baseline, &whole, baseline));
    SLRI_TRY(check_baseline(&whole, samples, count));
    SLRI_TRY(compare_samples(&whole, samples, count, &made));
    return SLRI_GIVE_REPORT(slr_comparison, out, bytes, &made);
}

slr_status(slr_baseline_compare)(const slr_baseline *baseline, const double *samples, uint32_t count,
                                 slr_comparison *out)
{
    return slr_baseline_compare_sized(baseline, samples, count, out, SLRI_FIRST_slr_comparison);
}
