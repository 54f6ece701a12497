// SPDX-License-Identifier: Apache-2.0
// The text of a kernel that stays: known without a driver and without a GPU.
#ifndef SLRI_BACKEND_CUDA_RESIDENT_TEXT_H
#define SLRI_BACKEND_CUDA_RESIDENT_TEXT_H

#include "base/text.h"
#include "kernel/ir.h"

#include <slipring/status.h>

#define SLRI_CU_STAY "slr_stay" // the kernel's name

// Appends CUDA C for NVRTC: the handler as it is emitted, the mailbox and the loop (device/cu_resident.h). slipring's
// front end, which reads it again as it does all emitted text, sees the handler alone. Errors: those of slri_emit_cuda.
slr_status slri_cuda_put_resident(const struct slri_module *module, const struct slri_entry *entry, slri_text *out);

#endif
