// SPDX-License-Identifier: Apache-2.0
// The text of a relaunched ring kernel's dispatch: a handler's, and the kernel around it, for NVRTC.
#ifndef SLRI_HAL_CUDA_RELAUNCH_TEXT_H
#define SLRI_HAL_CUDA_RELAUNCH_TEXT_H

#include "base/text.h"
#include "ir/ir.h"

#include <slipring/status.h>

#define SLRI_CU_RELAUNCH "slr_relaunch" // the kernel's name

// A block of it: how many threads it has, and how many chains it handles. Of a `__ring__` handler these are one; fewer
// where it has many outlets.
struct slri_cu_relaunch_block {
    uint32_t threads, chains;
};
struct slri_cu_relaunch_block slri_cuda_relaunch_block(const struct slri_entry *entry);

// Appends it. Errors: those of slri_emit_cuda, UNSUPPORTED (more shared memory than a block has), NO_MEMORY.
slr_status slri_cuda_put_relaunch(const struct slri_module *module, const struct slri_entry *entry, slri_text *out);

#endif
