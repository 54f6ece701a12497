// SPDX-License-Identifier: Apache-2.0
// What OpenCL cannot wait at: a barrier, or a warp function that goes through local memory behind barriers, which not
// all work-items of a group reach.
#ifndef SLRI_KERNEL_EMIT_OPENCL_CHECK_H
#define SLRI_KERNEL_EMIT_OPENCL_CHECK_H

#include "kernel/ir.h"

#include <slipring/status.h>

// Errors: UNSUPPORTED (the message names the place), NO_MEMORY.
slr_status slri_opencl_check(const struct slri_module *module, const struct slri_entry *entry);

#endif
