// SPDX-License-Identifier: Apache-2.0
// The last part of tuning: a few candidates and the default are measured in turn, the worse half goes, and the one that
// is left must beat the default beyond doubt, by at least five samples of each. Where time is over before, the
// default stays.
#ifndef SLRI_TUNE_CONTEST_H
#define SLRI_TUNE_CONTEST_H

#include <slipring/status.h>

#include <stdbool.h>
#include <stdint.h>

#define SLRI_CONTENDERS 8u

struct slri_contest_desc {
    uint32_t contenders; // 0 is the default; the others by falling hope
    uint32_t repeats;    // samples a round, of each
    uint32_t most;   // samples of the default and of the last one left; above 3 * repeats, which only choose that one
    double quantile; // of the samples: what is compared; 0.5 is the median
    uint64_t seed;
    void *user;
    slr_status (*sample)(void *user, uint32_t contender, double *cost);
    uint64_t (*size)(void *user, uint32_t contender); // of two that cost the same the smaller one is better
    bool (*is_over)(void *user);
};

struct slri_contest {
    uint32_t winner;
    double cost[SLRI_CONTENDERS]; // the quantile of each
    double speedup, low, high;    // the default's cost over the winner's, and the 95 % interval of that
    uint32_t best;                // the one that was compared with the default, also if it did not win
};

// Errors: those of `sample`, NO_MEMORY.
slr_status slri_contest_run(const struct slri_contest_desc *desc, struct slri_contest *out);

// Of `count` values, which it sorts.
double slri_quantile_of(double *value, uint32_t count, double quantile);

#endif
