// SPDX-License-Identifier: Apache-2.0
/// --tolerance of a replay: how far floating-point values of replies may lie from the recorded ones.
#ifndef TOLERANCE_H
#define TOLERANCE_H

#include <slipring/program.h>

#include <stdbool.h>
#include <stdint.h>

/// Bounds of one field, or of all that have none of their own.
typedef struct tolerance {
    char *field; // NULL: of all
    double relative, absolute;
} tolerance;

typedef struct tolerances {
    tolerance *items;
    uint32_t count;
    uint64_t values;       // compared that were not equal and within the bounds
    double most;           // of those the one that is relatively the farthest
    uint64_t most_message; // its message, from 1
    char most_field[256];
} tolerances;

/// Takes [FIELD=]REL[,ABS]. -1, or the exit code of a mistake, which has been said.
int tolerances_take(tolerances *all, const char *text);

/// Whether each field named is one of floating-point numbers. EXIT_DONE, or EXIT_USAGE.
int tolerances_check(const tolerances *all, const slr_layout *reply);

/// Whether two numbers that are not equal are near enough: by no more than ABS, or than REL of the larger magnitude.
bool tolerances_allow(tolerances *all, const slr_field *field, const void *recorded, const void *now, uint64_t message);

void tolerances_free(tolerances *all);

#endif
