// SPDX-License-Identifier: Apache-2.0
// How values differ among the threads of a row, which differ in threadIdx.x alone.
#ifndef SLRI_RUN_SPREAD_H
#define SLRI_RUN_SPREAD_H

#include "ir/ir.h"

enum slri_spread {
    SLRI_SPREAD_SAME,
    SLRI_SPREAD_LINEAR, // it grows by the same `step` from each thread to the next, if nothing wraps
    SLRI_SPREAD_VARYING
};

struct slri_spread_value {
    uint64_t bits; // of the thread that is walked
    bool known;
    bool is_constant; // follows from the source alone: compilers that unroll loops divide by it without a division
    enum slri_spread spread;
    int64_t step; // of one that is SLRI_SPREAD_LINEAR; 0: not known
};

// How the results of an instruction differ within a row: `spread` and `step`. `values`: of the registers. That the
// row's threads may have come here by different branches is left out: it is an estimate.
struct slri_spread_value slri_spread_of(const struct slri_spread_value *values, const struct slri_instr *in);

// Whether the row's threads reach neither one place nor places side by side.
bool slri_spread_scatters(const struct slri_spread_value *values, const struct slri_instr *in);

#endif
