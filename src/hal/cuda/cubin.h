// SPDX-License-Identifier: Apache-2.0
// What a kernel takes of a multiprocessor, read from its machine code: a cubin is an ELF file whose sections say so.
#ifndef SLRI_HAL_CUDA_CUBIN_H
#define SLRI_HAL_CUDA_CUBIN_H

#include <slipring/explain.h>

// Reads what `cubin`, of anybody's making, says of the kernel `name`. Errors: NOT_FOUND (no such kernel in it),
// UNSUPPORTED (no cubin, one of an unknown layout, or a damaged one).
slr_status slri_cubin_read(const void *cubin, size_t bytes, const char *name, slr_resources *out);

#endif
