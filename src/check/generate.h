// SPDX-License-Identifier: Apache-2.0
// Chooses what nobody gave. A probing run with ample buffers shows what the kernel does with its parameters: which
// whole numbers its threads' places are compared with or multiplied by, how far each buffer is reached, what indexes
// what. Sizes follow from the shape, buffers from the sizes.
#ifndef SLRI_CHECK_GENERATE_H
#define SLRI_CHECK_GENERATE_H

#include "check/launch.h"

// A launch whose sizes are exactly the number of threads, and what was learned from probing it.
slr_status slri_generate_even(struct slri_plan *plan, struct slri_trial *out, struct slri_outcome *learned);

// The same shape with sizes that are no multiple of the block, where the kernel compares a thread's place with any.
// False: there is none.
slr_status slri_generate_ragged(struct slri_plan *plan, const struct slri_trial *even, struct slri_outcome *learned,
                                struct slri_trial *out, bool *is_there);

#endif
