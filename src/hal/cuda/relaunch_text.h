// SPDX-License-Identifier: Apache-2.0
// The text of batched launches of a `__ring_block__` handler, for NVRTC: the handler's, and the kernel around it
// (abi/relaunch.h).
#ifndef SLRI_HAL_CUDA_RELAUNCH_TEXT_H
#define SLRI_HAL_CUDA_RELAUNCH_TEXT_H

#include "base/text.h"
#include "ir/ir.h"

#include <slipring/status.h>

// Appends it. Errors: those of slri_emit_cuda, UNSUPPORTED (more shared memory than a block has), NO_MEMORY.
slr_status slri_cuda_put_relaunch(const struct slri_module *module, const struct slri_entry *entry, slri_text *out);

#endif
