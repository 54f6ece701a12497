// SPDX-License-Identifier: Apache-2.0
// Makes a kernel level, for targets on which all threads of a block must come to each barrier: where only some of them
// come to a barrier or to a function of a warp, or some have returned before, all go the same way, and each has a flag
// for every branch around that says whether it would be there. Those that would not do the waiting, and no more.
#ifndef SLRI_IR_PASS_LEVEL_H
#define SLRI_IR_PASS_LEVEL_H

#include "ir/ir.h"

// A module with the kernel as its entry `out_entry`: the module itself where nothing is to be done, else one that lies
// in `region` and refers to it. A lane that is not there takes part in a warp's function with others that are not.
// Errors: UNSUPPORTED (a barrier that is within a branch on which the block's threads do not agree, or in a switch; the
// message names the place), NO_MEMORY.
slr_status slri_level(const struct slri_module *module, const struct slri_entry *entry, struct slri_region *region,
                      const struct slri_module **out, const struct slri_entry **out_entry);

#endif
