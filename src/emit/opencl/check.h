// SPDX-License-Identifier: Apache-2.0
// What OpenCL cannot wait at as it stands: a barrier, or a warp function that goes through local memory behind
// barriers, which not all work-items of a group reach.
#ifndef SLRI_EMIT_OPENCL_CHECK_H
#define SLRI_EMIT_OPENCL_CHECK_H

#include "ir/ir.h"
#include "ir/uniform.h"

#include <slipring/status.h>

// Sets `levels` where functions must be written level (emit_opencl_level.h), and `parts` where threads may have
// returned from the entry before others wait.
// Errors: UNSUPPORTED (it cannot be waited there even so; the message names the place).
slr_status slri_opencl_check(const struct slri_module *module, const struct slri_entry *entry,
                             const struct slri_uniform *uniform, bool *levels, bool *parts);

#endif
