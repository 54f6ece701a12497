// SPDX-License-Identifier: Apache-2.0
// What shuffles, votes and their like give, lane by lane: the one statement of it that executes.
#ifndef SLRI_RUN_WARP_H
#define SLRI_RUN_WARP_H

#include "run/flatten.h"

struct slri_lane {
    bool is_live, is_here;        // it has not ended; it stands at this instruction
    const union slri_scalar *reg; // of its frame
    bool takes_part;              // out
    union slri_scalar result;     // out, of those that take part
};

enum slri_warp_outcome { SLRI_WARP_DONE, SLRI_WARP_WAITS, SLRI_WARP_WRONG };

// `code` is a SLRI_CODE_WARP with its arguments; lane `self` is here and decides what the mask is. `all_wait`: no lane
// of the warp can go on by itself. WAITS: some lane of the mask is still to come. WRONG: a mask leaves its own lane
// out, two lanes gave different masks, or a width is none.
enum slri_warp_outcome slri_warp_evaluate(const struct slri_code *code, const struct slri_code_arg *arg,
                                          struct slri_lane lane[SLRI_WARP_THREADS], uint32_t self, bool all_wait);

#endif
