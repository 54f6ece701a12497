// SPDX-License-Identifier: Apache-2.0
// The text of a relaunched ring kernel's dispatch: a handler's, and the kernel around it, for NVRTC.
#ifndef SLRI_BACKEND_CUDA_RELAUNCH_TEXT_H
#define SLRI_BACKEND_CUDA_RELAUNCH_TEXT_H

#include "base/text.h"
#include "kernel/ir.h"

#include <slipring/status.h>

#define SLRI_CU_RELAUNCH "slr_relaunch" // the kernel's name

// How many threads a block of it has: fewer where a handler has many outlets.
uint32_t slri_cuda_relaunch_group(const struct slri_entry *entry);

// Appends it. Errors: those of slri_emit_cuda, NO_MEMORY.
slr_status slri_cuda_put_relaunch(const struct slri_module *module, const struct slri_entry *entry, slri_text *out);

#endif
