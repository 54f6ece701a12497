// SPDX-License-Identifier: Apache-2.0
// The text of a kernel that stays: known without a driver and without a GPU.
#ifndef SLRI_HAL_CUDA_RESIDENT_TEXT_H
#define SLRI_HAL_CUDA_RESIDENT_TEXT_H

#include "base/text.h"
#include "ir/ir.h"

#include <slipring/status.h>

#define SLRI_CU_STAY "slr_stay" // the kernel's name

// CUDA C for NVRTC, in two files that are linked: the kernel, which is the same for all handlers (the mailbox and the
// loop, device/cu_resident.h) and takes long to compile; and a handler, as it is emitted, by the name that the kernel
// calls it. Errors: NO_MEMORY; those of slri_emit_cuda.
slr_status slri_cuda_put_stay(slri_text *out);
slr_status slri_cuda_put_stay_handler(const struct slri_module *module, const struct slri_entry *entry, slri_text *out);

extern const char *const slri_cuda_stay_options[]; // to compile each of them with

// Or all in one file, as other kernels are compiled, of a `__ring_block__` handler, whose threads are the block's: how
// many there are says how many registers the kernel may have.
slr_status slri_cuda_put_stay_block(const struct slri_module *module, const struct slri_entry *entry, slri_text *out);

#define SLRI_CU_STAY_SHARED_BYTES (40u << 10) // of such a handler's objects: the rest of a block's is the loop's

// How many threads a block has: a warp, or as many as a handler of blocks that has more.
uint32_t slri_cuda_stay_threads(const struct slri_entry *entry);

#endif
