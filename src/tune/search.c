// SPDX-License-Identifier: Apache-2.0
// The four ways to search: all, at random, from neighbour to neighbour, and guided by a model.
#include "tune/search.h"

#include "base/alloc.h"
#include "base/status.h"
#include "tune/random.h"

#include <math.h>
#include <stdlib.h>

#define IMPOSSIBLE 1e100 // dearer than all else

enum { LEAST_EVALUATIONS = 12, SHARE = 10, DRAWS = 8 };

// ---- the space -----------------------------------------------------------------------------------------------------

uint64_t slri_space_count(const struct slri_space *space)
{
    uint64_t count = 1;
    for (uint32_t i = 0; i < space->dimensions; i++) {
        if (count > ((uint64_t)1 << 63) / space->size[i])
            return UINT64_MAX;
        count *= space->size[i];
    }
    return count;
}

void slri_space_decode(const struct slri_space *space, uint64_t code, uint32_t *choice)
{
    for (uint32_t i = 0; i < space->dimensions; i++) {
        choice[i] = (uint32_t)(code % space->size[i]);
        code /= space->size[i];
    }
}

uint64_t slri_space_encode(const struct slri_space *space, const uint32_t *choice)
{
    uint64_t code = 0;
    for (uint32_t i = space->dimensions; i-- > 0;)
        code = code * space->size[i] + choice[i];
    return code;
}

// ---- the candidates ------------------------------------------------------------------------------------------------

static int by_code(const void *a, const void *b)
{
    const struct slri_trial *x = a, *y = b;
    return (x->code > y->code) - (x->code < y->code);
}

struct slri_trial *slri_search_find(const struct slri_search *search, uint64_t code)
{
    const struct slri_trial like = {.code = code};
    return search->trials ? bsearch(&like, search->trial, search->trials, sizeof like, by_code) : NULL;
}

static void add_candidate(struct slri_search *search, uint64_t code)
{
    const struct slri_search_desc *desc = search->desc;
    if (code == desc->start || desc->allows(desc->user, code))
        search->trial[search->trials++] = (struct slri_trial){.code = code, .predicted = NAN};
}

static bool is_drawn(const uint64_t *drawn, uint32_t count, uint64_t code)
{
    for (uint32_t i = 0; i < count; i++)
        if (drawn[i] == code)
            return true;
    return false;
}

// Of a space that is too large to be listed: so many at random, and the default.
static slr_status draw_candidates(struct slri_search *search, uint64_t count)
{
    enum { MOST = 2048 }; // comparing each with each stays cheap
    uint64_t *drawn = slri_alloc(NULL, MOST * sizeof *drawn);
    uint32_t draws = 1;
    if (!drawn)
        return SLRI_FAIL(NO_MEMORY, "no memory to search");
    drawn[0] = search->desc->start;
    add_candidate(search, drawn[0]);
    for (uint32_t i = 0; i < DRAWS * MOST && draws < MOST && !search->desc->is_over(search->desc->user); i++) {
        uint64_t code = slri_tune_pick(&search->random, count);
        if (is_drawn(drawn, draws, code))
            continue;
        drawn[draws++] = code;
        add_candidate(search, code);
    }
    slri_free(NULL, drawn, MOST * sizeof *drawn);
    qsort(search->trial, search->trials, sizeof *search->trial, by_code);
    return SLR_OK;
}

static slr_status list_candidates(struct slri_search *search)
{
    uint64_t count = slri_space_count(&search->desc->space);
    search->trial = slri_alloc(NULL, SLRI_SEARCH_CANDIDATES * sizeof *search->trial);
    if (!search->trial)
        return SLRI_FAIL(NO_MEMORY, "no memory to search");
    if (count > SLRI_SEARCH_CANDIDATES)
        return draw_candidates(search, count);
    for (uint64_t code = 0; code < count; code++)
        add_candidate(search, code);
    return SLR_OK;
}

// Of what nothing is known, the mean is expected.
static void fill_unknown(struct slri_search *search)
{
    double sum = 0;
    uint32_t known = 0;
    for (uint32_t i = 0; i < search->trials; i++)
        if (search->trial[i].predicted > 0 && search->trial[i].predicted < IMPOSSIBLE) {
            sum += log(search->trial[i].predicted);
            ++known;
        }
    for (uint32_t i = 0; known && i < search->trials; i++)
        if (!(search->trial[i].predicted > 0))
            search->trial[i].predicted = exp(sum / known);
}

static void predict(struct slri_search *search)
{
    const struct slri_search_desc *desc = search->desc;
    for (uint32_t i = 0; desc->predicts && i < search->trials && !desc->is_over(desc->user); i++) {
        double predicted = desc->predicts(desc->user, search->trial[i].code);
        search->trial[i].predicted = predicted > IMPOSSIBLE ? IMPOSSIBLE : predicted;
    }
    fill_unknown(search);
}

// ---- trying --------------------------------------------------------------------------------------------------------

// False: the budget is used up.
static bool try_one(struct slri_search *search, struct slri_trial *trial)
{
    const struct slri_search_desc *desc = search->desc;
    if (trial->state)
        return true;
    if (search->evaluations == search->most || (search->evaluations > 0 && desc->is_over(desc->user)))
        return false;
    trial->evaluation = ++search->evaluations;
    trial->state = desc->tries(desc->user, trial);
    return true;
}

static void try_in_order(struct slri_search *search)
{
    for (uint32_t i = 0; i < search->trials; i++)
        if (!try_one(search, &search->trial[i]))
            return;
}

// One that was not tried, at random; NULL: there is none.
static struct slri_trial *pick_untried(struct slri_search *search)
{
    uint32_t left = 0;
    for (uint32_t i = 0; i < search->trials; i++)
        left += search->trial[i].state == 0;
    if (left == 0)
        return NULL;
    uint64_t skip = slri_tune_pick(&search->random, left);
    for (uint32_t i = 0;; i++)
        if (search->trial[i].state == 0 && skip-- == 0)
            return &search->trial[i];
}

static void try_at_random(struct slri_search *search)
{
    struct slri_trial *next;
    while ((next = pick_untried(search)) && try_one(search, next)) {
    }
}

static bool is_better(const struct slri_trial *a, const struct slri_trial *b)
{
    return a->state == SLR_TUNE_MEASURED && (b->state != SLR_TUNE_MEASURED || a->cost < b->cost);
}

// The best neighbour of a trial, which differs by one step along one dimension; itself where none is better. NULL: the
// budget is used up.
static struct slri_trial *step(struct slri_search *search, struct slri_trial *from)
{
    const struct slri_space *space = &search->desc->space;
    uint32_t choice[SLRI_SPACE_DIMENSIONS];
    struct slri_trial *best = from;
    slri_space_decode(space, from->code, choice);
    for (uint32_t i = 0; i < 2 * space->dimensions; i++) {
        uint32_t at = i / 2, was = choice[at];
        if (i % 2 ? was == 0 : was + 1 == space->size[at])
            continue;
        choice[at] = i % 2 ? was - 1 : was + 1;
        struct slri_trial *neighbour = slri_search_find(search, slri_space_encode(space, choice));
        choice[at] = was;
        if (!neighbour)
            continue;
        if (!try_one(search, neighbour))
            return NULL;
        best = is_better(neighbour, best) ? neighbour : best;
    }
    return best;
}

// Downhill from the default, then from places drawn at random.
static void try_neighbours(struct slri_search *search)
{
    struct slri_trial *at = slri_search_find(search, search->desc->start), *next;
    while (at) {
        while ((next = step(search, at)) && next != at)
            at = next;
        if (!next || !(at = pick_untried(search)) || !try_one(search, at))
            return;
    }
}

static void try_by_model(struct slri_search *search)
{
    struct slri_trial *next;
    while ((next = slri_search_guess(search)) && try_one(search, next)) {
    }
}

static uint32_t most_evaluations(const struct slri_search *search)
{
    const struct slri_search_desc *desc = search->desc;
    uint32_t tenth = (search->trials + SHARE - 1) / SHARE;
    if (desc->evaluations)
        return desc->evaluations;
    return desc->strategy == SLR_TUNE_EXHAUSTIVE ? search->trials
           : tenth < LEAST_EVALUATIONS           ? LEAST_EVALUATIONS
                                                 : tenth;
}

slr_status slri_search_run(const struct slri_search_desc *desc, struct slri_search *out)
{
    *out = (struct slri_search){.random = desc->seed, .desc = desc};
    SLRI_TRY(list_candidates(out));
    out->most = most_evaluations(out);
    (void)try_one(out, slri_search_find(out, desc->start));
    if (desc->strategy == SLR_TUNE_EXHAUSTIVE)
        try_in_order(out);
    else if (desc->strategy == SLR_TUNE_RANDOM)
        try_at_random(out);
    else if (desc->strategy == SLR_TUNE_LOCAL)
        try_neighbours(out);
    else {
        predict(out);
        try_by_model(out);
    }
    return SLR_OK;
}

void slri_search_free(struct slri_search *search)
{
    slri_free(NULL, search->trial, SLRI_SEARCH_CANDIDATES * sizeof *search->trial);
    search->trial = NULL;
}
