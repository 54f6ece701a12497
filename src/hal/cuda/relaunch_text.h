// SPDX-License-Identifier: Apache-2.0
// The text of batched launches, for NVRTC: a handler's, and the kernel around it (abi/relaunch.h).
#ifndef SLRI_HAL_CUDA_RELAUNCH_TEXT_H
#define SLRI_HAL_CUDA_RELAUNCH_TEXT_H

#include "base/text.h"
#include "ir/ir.h"

#include <slipring/status.h>

// A block of it: how many threads it has, and how many chains they handle. Each thread of a `__ring__` handler handles
// one; the block has fewer threads where the handler has many outlets.
struct slri_cu_relaunch_block {
    uint32_t threads, chains;
};
struct slri_cu_relaunch_block slri_cuda_relaunch_block(const struct slri_entry *entry);

// Appends it. Errors: those of slri_emit_cuda, UNSUPPORTED (more shared memory than a block has), NO_MEMORY.
slr_status slri_cuda_put_relaunch(const struct slri_module *module, const struct slri_entry *entry, slri_text *out);

#endif
