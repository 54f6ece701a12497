// SPDX-License-Identifier: Apache-2.0
// What a function does, counted in its IR, for people who want to know what a kernel is bound by.
#ifndef SLRI_RUN_TALLY_H
#define SLRI_RUN_TALLY_H

#include "ir/ir.h"

#include <slipring/explain.h>

// Errors: NO_MEMORY.
slr_status slri_tally(const struct slri_module *module, const struct slri_entry *entry, slr_explanation *out);

#endif
