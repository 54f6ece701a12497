// SPDX-License-Identifier: Apache-2.0
/// Measuring beside a floor: pairs of short slices, taken in turn in one process.
///
/// Virtual cores are sometimes near (a cache line goes there and back in 80-130 ns) and sometimes far (500 ns and
/// more), and change within seconds. So the distance is probed before and after each pair, a pair that saw it change is
/// discarded, and what is reported are medians over pairs.
#ifndef MEASURE_H
#define MEASURE_H

#include "partner.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    MEASURE_FIGURES = 3, // that a slice may give
    MEASURE_KEPT = 15,   // pairs at least
    MEASURE_TRIED = 150, // pairs at most
    MEASURE_ENOUGH = 61, // pairs kept, after which it stops
    MEASURE_SOFT_S = 5,  // after which MEASURE_KEPT pairs are enough
    MEASURE_HARD_S = 30  // after which it stops with what it has
};

/// Sorts in place.
void measure_sort(double *values, size_t count);

/// Of sorted values: the smallest that at least `part` of them do not exceed. 0 of none.
double measure_quantile(const double *sorted, size_t count, double part);

/// What reading the clock once costs: the median of many, in nanoseconds.
double measure_clock_ns(void);

/// Runs one slice; sets as many figures as its pair says. False: it failed, which ends the measurement.
typedef bool measure_slice(void *context, double *figures);

typedef struct measure_pair {
    measure_slice *value, *floor;
    void *value_context, *floor_context;
    unsigned figures;
    unsigned enough;  // pairs kept, after which it stops; 0: MEASURE_ENOUGH
    unsigned hard_s;  // after which it stops with what it has; 0: MEASURE_HARD_S
    bool any;         // a pair is kept also where the cores have moved
    bool compiles;    // the first run of a slice compiles: a pair that is not counted comes before all others
    const char *name; // for people who wait, between two pairs; NULL: nothing is shown
} measure_pair;

typedef struct measure_figure {
    double value, floor, ratio; // medians; the ratio is that of the pairs' ratios
} measure_figure;

typedef struct measure_result {
    measure_figure figures[MEASURE_FIGURES];
    unsigned kept, tried;
    double probe_ns; // median over the pairs kept
    // Of the pairs kept, in order: what the medians were taken of.
    double values[MEASURE_FIGURES][MEASURE_TRIED], floors[MEASURE_FIGURES][MEASURE_TRIED];
} measure_result;

/// False where a slice failed. Fewer than MEASURE_KEPT may be kept where the machine is restless: see `kept`.
bool measure_pairs(const measure_pair *pair, partner *partner, measure_result *out);

#endif
