// SPDX-License-Identifier: Apache-2.0
// The search for the best of many choices, of which each is costly to try. It knows neither kernels nor clocks: whoever
// searches says what a choice costs.
#ifndef SLRI_TUNE_SEARCH_H
#define SLRI_TUNE_SEARCH_H

#include <slipring/tune.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SLRI_SPACE_DIMENSIONS 20
#define SLRI_SEARCH_CANDIDATES 16384u // of a larger space so many are drawn

// A choice takes one value of each dimension. Its code is a number below `count`.
struct slri_space {
    uint32_t dimensions;
    uint32_t size[SLRI_SPACE_DIMENSIONS];
};

// UINT64_MAX where that is more than 2^63.
uint64_t slri_space_count(const struct slri_space *space);
void slri_space_decode(const struct slri_space *space, uint64_t code, uint32_t *choice);
uint64_t slri_space_encode(const struct slri_space *space, const uint32_t *choice);

struct slri_trial {
    uint64_t code;
    double predicted;     // NAN: nothing is known
    double cost;          // where it was measured
    slr_tune_state state; // 0: not tried
    uint32_t evaluation;  // its number among those that were tried, from 1
};

struct slri_search_desc {
    struct slri_space space;
    slr_tune_strategy strategy;
    uint64_t seed, start; // `start`: the code of the default, which is tried first
    uint32_t macros;      // so many dimensions, the first ones, decide what is computed
    uint32_t evaluations; // at the most; 0: of an exhaustive search all, else a tenth, but not fewer than 12
    void *user;
    bool (*allows)(void *user, uint64_t code);
    double (*predicts)(void *user, uint64_t code); // NAN: unknown; INFINITY: cannot be. NULL: nobody asks
    slr_tune_state (*tries)(void *user, struct slri_trial *trial); // sets `cost`
    bool (*is_over)(void *user);                                   // the time is used up
};

struct slri_search {
    struct slri_trial *trial; // by rising code: all that are allowed, or were drawn
    uint32_t trials;
    uint32_t evaluations; // how many were tried
    uint32_t most;        // that may be
    uint64_t random;
    const struct slri_search_desc *desc;
};

// Errors: NO_MEMORY. In either case to slri_search_free.
slr_status slri_search_run(const struct slri_search_desc *desc, struct slri_search *out);
void slri_search_free(struct slri_search *search);

// The trial of a code, or NULL.
struct slri_trial *slri_search_find(const struct slri_search *search, uint64_t code);

// guide.c: the next trial by the predictions, corrected by what was measured; NULL: all were tried.
struct slri_trial *slri_search_guess(const struct slri_search *search);

#endif
