// SPDX-License-Identifier: Apache-2.0
// Short branches without a jump: both sides are computed, and a mask takes one of the results. Every bit stays as it
// was. A side may hold only what touches no memory and cannot fail.
#ifndef SLRI_IR_PASS_SELECT_H
#define SLRI_IR_PASS_SELECT_H

#include "ir/ir.h"

// Sets `has_short_branches` of the module's functions: whether one computes something, which && and || do not.
void slri_select_look(struct slri_module *module);

// Writes those branches so. False: no memory.
bool slri_select(struct slri_module *module);

#endif
