// SPDX-License-Identifier: Apache-2.0
// Successive halving over interleaved samples (K. Jamieson and A. Talwalkar, "Non-stochastic best arm identification",
// 2016), then a bootstrap interval (B. Efron, 1979) of the two that are left.
#include "tune/contest.h"

#include "base/alloc.h"
#include "base/status.h"
#include "tune/random.h"

#include <stdlib.h>
#include <string.h>

enum {
    RESAMPLES = 1000,
    // With 1 to 5, one of eight equal ones won 51, 24, 11, 6 and 3.5 % of 1000 contests.
    FEWEST = 5 // samples that decide
};

struct contest {
    const struct slri_contest_desc *desc;
    double *sample[SLRI_CONTENDERS]; // `most` of each
    uint32_t samples[SLRI_CONTENDERS];
    bool is_out[SLRI_CONTENDERS];
    bool is_backward; // the next round's order
    uint32_t first;   // of the last two, the samples before this one chose them and do not count
    double *scratch;  // `most`
    double *ratio;    // RESAMPLES
};

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

double slri_quantile_of(double *value, uint32_t count, double quantile)
{
    qsort(value, count, sizeof *value, by_value);
    double at = quantile * (count - 1);
    uint32_t below = (uint32_t)at;
    return below + 1 < count ? value[below] + (at - below) * (value[below + 1] - value[below]) : value[count - 1];
}

static double cost_of_contender(const struct contest *contest, uint32_t contender)
{
    uint32_t from = contest->is_out[contender] ? 0 : contest->first, count = contest->samples[contender] - from;
    memcpy(contest->scratch, contest->sample[contender] + from, count * sizeof *contest->scratch);
    return slri_quantile_of(contest->scratch, count, contest->desc->quantile);
}

static slr_status take_sample(struct contest *contest, uint32_t contender)
{
    const struct slri_contest_desc *desc = contest->desc;
    if (contest->is_out[contender] || contest->samples[contender] == desc->most)
        return SLR_OK;
    double *sample = &contest->sample[contender][contest->samples[contender]];
    SLRI_TRY(desc->sample(desc->user, contender, sample));
    if (!(*sample > 0))
        return SLRI_FAIL(INVALID, "a cost of %g was measured; costs are above 0", *sample);
    ++contest->samples[contender];
    return SLR_OK;
}

// One sample of each that is left, in turn: what slows the machine down meets all of them. Every other round goes
// backward: where every other launch is slow, a fixed order would give one of two all the slow ones.
static slr_status take_samples(struct contest *contest, uint32_t rounds)
{
    const uint32_t contenders = contest->desc->contenders;
    for (uint32_t round = 0; round < rounds; round++) {
        for (uint32_t i = 0; i < contenders; i++)
            SLRI_TRY(take_sample(contest, contest->is_backward ? contenders - 1 - i : i));
        contest->is_backward = !contest->is_backward;
    }
    return SLR_OK;
}

// How a contender's samples stand to those of the default that were taken in the same rounds: the machine's speed at
// that time drops out. Of a high quantile the samples that count are not of one round.
static double score_of(const struct contest *contest, uint32_t contender)
{
    uint32_t count = contest->samples[contender] - contest->first;
    const double *own = contest->sample[contender] + contest->first, *of_default = contest->sample[0] + contest->first;
    if (contest->desc->quantile != 0.5)
        return cost_of_contender(contest, contender);
    for (uint32_t i = 0; i < count; i++)
        contest->scratch[i] = own[i] / of_default[i];
    return slri_quantile_of(contest->scratch, count, 0.5);
}

static bool is_before(const struct contest *contest, uint32_t a, uint32_t b)
{
    double x = score_of(contest, a), y = score_of(contest, b);
    if (x != y)
        return x < y;
    return contest->desc->size(contest->desc->user, a) < contest->desc->size(contest->desc->user, b);
}

static uint32_t count_left(const struct contest *contest)
{
    uint32_t left = 0;
    for (uint32_t i = 1; i < contest->desc->contenders; i++)
        left += !contest->is_out[i];
    return left;
}

// The default stays to the end.
static void drop_worst(struct contest *contest)
{
    uint32_t worst = 0;
    for (uint32_t i = 1; i < contest->desc->contenders; i++)
        if (!contest->is_out[i] && (worst == 0 || is_before(contest, worst, i)))
            worst = i;
    contest->is_out[worst] = true;
}

static slr_status halve(struct contest *contest)
{
    uint32_t left;
    while ((left = count_left(contest)) > 1) {
        SLRI_TRY(take_samples(contest, contest->desc->repeats));
        for (uint32_t i = 0; i < left / 2; i++)
            drop_worst(contest);
    }
    return SLR_OK;
}

static double resample(const struct contest *contest, uint32_t contender, uint64_t *random)
{
    const double *sample = contest->sample[contender] + contest->first;
    uint32_t count = contest->samples[contender] - contest->first;
    for (uint32_t i = 0; i < count; i++)
        contest->scratch[i] = sample[slri_tune_pick(random, count)];
    return slri_quantile_of(contest->scratch, count, contest->desc->quantile);
}

// The median of the speed-ups of rounds drawn at random.
static double resample_rounds(const struct contest *contest, uint32_t best, uint64_t *random)
{
    uint32_t count = contest->samples[best] - contest->first;
    for (uint32_t i = 0; i < count; i++) {
        uint64_t round = contest->first + slri_tune_pick(random, count);
        contest->scratch[i] = contest->sample[0][round] / contest->sample[best][round];
    }
    return slri_quantile_of(contest->scratch, count, 0.5);
}

static double resample_speedup(const struct contest *contest, uint32_t best, uint64_t *random)
{
    if (contest->desc->quantile == 0.5)
        return resample_rounds(contest, best, random);
    double of_default = resample(contest, 0, random), of_best = resample(contest, best, random);
    return of_default / of_best;
}

static void find_interval_of_best(const struct contest *contest, uint32_t best, struct slri_contest *out)
{
    uint64_t random = contest->desc->seed;
    for (uint32_t i = 0; i < RESAMPLES; i++)
        contest->ratio[i] = resample_speedup(contest, best, &random);
    out->low = slri_quantile_of(contest->ratio, RESAMPLES, 0.025);
    out->high = slri_quantile_of(contest->ratio, RESAMPLES, 0.975);
}

static slr_status decide(struct contest *contest, struct slri_contest *out)
{
    const struct slri_contest_desc *desc = contest->desc;
    SLRI_TRY(halve(contest));
    // The best of seven was also the luckiest, so the samples that chose it do not count: with them, one of eight equal
    // ones won 6 % of 400 contests instead of 2.5 %.
    contest->first = contest->samples[0];
    do
        SLRI_TRY(take_samples(contest, desc->repeats));
    while (contest->samples[0] < desc->most && !desc->is_over(desc->user));
    for (uint32_t i = 0; i < desc->contenders; i++) {
        out->cost[i] = cost_of_contender(contest, i);
        out->best = i > 0 && !contest->is_out[i] ? i : out->best;
    }
    out->speedup = out->low = out->high = 1;
    if (out->best == 0)
        return SLR_OK;
    find_interval_of_best(contest, out->best, out);
    out->speedup = desc->quantile == 0.5 ? 1 / score_of(contest, out->best) : out->cost[0] / out->cost[out->best];
    out->winner = out->low > 1 && contest->samples[0] - contest->first >= FEWEST ? out->best : 0;
    return SLR_OK;
}

slr_status slri_contest_run(const struct slri_contest_desc *desc, struct slri_contest *out)
{
    struct contest contest = {.desc = desc};
    size_t count = (size_t)desc->most * (desc->contenders + 1) + RESAMPLES, bytes = count * sizeof(double);
    *out = (struct slri_contest){0};
    double *room = slri_alloc(NULL, bytes);
    if (!room)
        return SLRI_FAIL(NO_MEMORY, "no memory to compare candidates");
    for (uint32_t i = 0; i < desc->contenders; i++)
        contest.sample[i] = room + (size_t)i * desc->most;
    contest.scratch = room + (size_t)desc->contenders * desc->most;
    contest.ratio = contest.scratch + desc->most;
    slr_status status = decide(&contest, out);
    slri_free(NULL, room, bytes);
    return status;
}
