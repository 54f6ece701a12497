// SPDX-License-Identifier: Apache-2.0
// Products of matrix fragments (SLRI_WARP_MATRIX_F16), which few targets have.
#ifndef SLRI_IR_MATRIX_H
#define SLRI_IR_MATRIX_H

#include "ir/ir.h"

#include <slipring/status.h>

// UNSUPPORTED where the entry (NULL: any of the module's) has such a product, with its place, and `why`: "OpenCL has no
// tensor cores".
slr_status slri_matrix_refuse(const struct slri_module *module, const struct slri_entry *entry, const char *why);

#endif
