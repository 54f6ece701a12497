// SPDX-License-Identifier: Apache-2.0
// The next choice to try: the one with the least cost by a model that learns. The logarithm of a cost is that of the
// prediction, plus a number for each dimension's value, which is fitted to what was measured. With few measurements the
// numbers stay near 0 and the prediction decides; values that turn out slow are left alone soon. Costs are smooth where
// the model knows no reason why: so the best one's neighbours are expected to cost a little less than the model says,
// but not those of the default, which nobody chose for its speed.
#include "tune/search.h"

#include <math.h>
#include <string.h>

enum { VALUES = 80, PASSES = 4, DOUBTS = 3, SUSPECTS = 256 };
// Of the logarithm. In replays of searches of six kernels on two devices, 0.1 to 0.3 gave the same.
static const double neighbour_bonus = 0.2, after_all_others = 1e4;

struct model {
    double base;
    double effect[SLRI_SPACE_DIMENSIONS][VALUES];
};

static double log_prediction(const struct slri_trial *trial)
{
    return isfinite(trial->predicted) && trial->predicted > 0 ? log(trial->predicted) : 0;
}

static double estimate(const struct model *model, const struct slri_space *space, const struct slri_trial *trial)
{
    uint32_t choice[SLRI_SPACE_DIMENSIONS];
    double sum = model->base + log_prediction(trial);
    slri_space_decode(space, trial->code, choice);
    for (uint32_t i = 0; i < space->dimensions; i++)
        sum += model->effect[i][choice[i] % VALUES];
    return sum;
}

static bool is_sample(const struct slri_trial *trial)
{
    return trial->state == SLR_TUNE_MEASURED && trial->cost > 0;
}

static void fit_base(struct model *model, const struct slri_search *search)
{
    double sum = 0;
    uint32_t count = 0;
    model->base = 0;
    for (uint32_t i = 0; i < search->trials; i++)
        if (is_sample(&search->trial[i])) {
            sum += log(search->trial[i].cost) - estimate(model, &search->desc->space, &search->trial[i]);
            ++count;
        }
    model->base = count ? sum / count : 0;
}

// Three measurements more, of no effect, are thought to be there for each value. With one, a single slow candidate kept
// the search away from all its values, also where the prediction was right: of matmul on PoCL half the speed was left.
static void fit_dimension(struct model *model, const struct slri_search *search, uint32_t dimension)
{
    const struct slri_space *space = &search->desc->space;
    double sum[VALUES] = {0};
    uint32_t count[VALUES] = {0}, choice[SLRI_SPACE_DIMENSIONS];
    memset(model->effect[dimension], 0, sizeof model->effect[dimension]);
    for (uint32_t i = 0; i < search->trials; i++) {
        const struct slri_trial *trial = &search->trial[i];
        if (!is_sample(trial))
            continue;
        slri_space_decode(space, trial->code, choice);
        sum[choice[dimension] % VALUES] += log(trial->cost) - estimate(model, space, trial);
        ++count[choice[dimension] % VALUES];
    }
    for (uint32_t v = 0; v < VALUES; v++)
        model->effect[dimension][v] = sum[v] / (count[v] + DOUBTS);
}

// NULL: the default is the best, or nothing was measured.
static const struct slri_trial *find_fastest(const struct slri_search *search)
{
    const struct slri_trial *best = slri_search_find(search, search->desc->start);
    if (best && !is_sample(best))
        best = NULL;
    for (uint32_t i = 0; i < search->trials; i++)
        if (is_sample(&search->trial[i]) && (!best || search->trial[i].cost < best->cost))
            best = &search->trial[i];
    return best && best->code != search->desc->start ? best : NULL;
}

// They differ by one step along one dimension.
static bool are_neighbours(const struct slri_space *space, const struct slri_trial *a, const struct slri_trial *b)
{
    uint32_t x[SLRI_SPACE_DIMENSIONS], y[SLRI_SPACE_DIMENSIONS], steps = 0;
    slri_space_decode(space, a->code, x);
    slri_space_decode(space, b->code, y);
    for (uint32_t i = 0; i < space->dimensions; i++)
        steps += x[i] > y[i] ? x[i] - y[i] : y[i] - x[i];
    return steps == 1;
}

// ---- doubts --------------------------------------------------------------------------------------------------------

// What is wrong, or fails, most likely does so for its macros, whatever the block. The suspects are those of its values
// that no right candidate had; where each was right elsewhere, all together, once these were wrong more often than
// right: the default's were right at first, and one block that does not suit them is none of their fault. A candidate
// with the same suspects is doubtful, and comes after all others. Else a wrong candidate that is expected to be fast
// would be tried with every block, until the budget is used up.
struct suspects {
    uint32_t count;
    struct {
        uint32_t is_meant[SLRI_SPACE_DIMENSIONS], value[SLRI_SPACE_DIMENSIONS];
    } each[SUSPECTS];
};

static bool is_bad(const struct slri_trial *trial)
{
    return trial->state == SLR_TUNE_WRONG || trial->state == SLR_TUNE_FAILED;
}

static void find_right(const struct slri_search *search, bool right[SLRI_SPACE_DIMENSIONS][VALUES])
{
    uint32_t choice[SLRI_SPACE_DIMENSIONS];
    for (uint32_t i = 0; i < search->trials; i++) {
        if (!is_sample(&search->trial[i]))
            continue;
        slri_space_decode(&search->desc->space, search->trial[i].code, choice);
        for (uint32_t k = 0; k < search->desc->macros; k++)
            right[k][choice[k] % VALUES] = true;
    }
}

// Of the trials with the same macros.
static bool is_more_often_bad(const struct slri_search *search, const uint32_t *macros)
{
    uint32_t choice[SLRI_SPACE_DIMENSIONS], bad = 0, right = 0;
    for (uint32_t i = 0; i < search->trials; i++) {
        const struct slri_trial *trial = &search->trial[i];
        if (!is_bad(trial) && !is_sample(trial))
            continue;
        slri_space_decode(&search->desc->space, trial->code, choice);
        if (memcmp(choice, macros, search->desc->macros * sizeof *macros) != 0)
            continue;
        bad += is_bad(trial);
        right += is_sample(trial);
    }
    return bad > right;
}

static void find_suspects(const struct slri_search *search, struct suspects *out)
{
    bool right[SLRI_SPACE_DIMENSIONS][VALUES] = {{false}};
    const uint32_t macros = search->desc->macros;
    out->count = 0;
    find_right(search, right);
    for (uint32_t i = 0; i < search->trials && macros && out->count < SUSPECTS; i++) {
        uint32_t choice[SLRI_SPACE_DIMENSIONS], meant = 0;
        if (!is_bad(&search->trial[i]))
            continue;
        slri_space_decode(&search->desc->space, search->trial[i].code, choice);
        for (uint32_t k = 0; k < macros; k++)
            meant += !right[k][choice[k] % VALUES];
        if (meant == 0 && !is_more_often_bad(search, choice))
            continue;
        for (uint32_t k = 0; k < macros; k++) {
            out->each[out->count].value[k] = choice[k];
            out->each[out->count].is_meant[k] = meant == 0 || !right[k][choice[k] % VALUES];
        }
        ++out->count;
    }
}

static bool is_doubtful(const struct slri_search *search, const struct suspects *suspects, uint64_t code)
{
    uint32_t choice[SLRI_SPACE_DIMENSIONS];
    slri_space_decode(&search->desc->space, code, choice);
    for (uint32_t i = 0; i < suspects->count; i++) {
        bool is_like = true;
        for (uint32_t k = 0; k < search->desc->macros; k++)
            is_like = is_like && (!suspects->each[i].is_meant[k] || suspects->each[i].value[k] == choice[k]);
        if (is_like)
            return true;
    }
    return false;
}

// ---- the next one --------------------------------------------------------------------------------------------------

struct slri_trial *slri_search_guess(const struct slri_search *search)
{
    struct model model = {0};
    struct suspects suspects;
    const struct slri_space *space = &search->desc->space;
    const struct slri_trial *fastest = find_fastest(search);
    struct slri_trial *best = NULL;
    double least = 0;
    find_suspects(search, &suspects);
    for (int pass = 0; pass < PASSES; pass++) {
        fit_base(&model, search);
        for (uint32_t i = 0; i < search->desc->space.dimensions; i++)
            fit_dimension(&model, search, i);
    }
    for (uint32_t i = 0; i < search->trials; i++) {
        if (search->trial[i].state)
            continue;
        double cost = estimate(&model, space, &search->trial[i]);
        if (fastest && are_neighbours(space, fastest, &search->trial[i]))
            cost -= neighbour_bonus;
        if (is_doubtful(search, &suspects, search->trial[i].code))
            cost += after_all_others;
        if (!best || cost < least) {
            best = &search->trial[i];
            least = cost;
        }
    }
    return best;
}
