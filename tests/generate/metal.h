// SPDX-License-Identifier: Apache-2.0
/// A kernel of a random program as Metal's text, run by tests/shim.
#ifndef GENERATE_METAL_H
#define GENERATE_METAL_H

#include "subject.h"

typedef struct metal_kernel {
    const struct slri_module *module;
    const struct slri_entry *entry;
    struct shim_image *image;
} metal_kernel;

/// UNSUPPORTED: Metal lacks what the kernel needs. COMPILE: the text is not compiled; said on stderr.
slr_status metal_load(const struct slri_module *module, metal_kernel *out);
void metal_unload(metal_kernel *kernel);

/// On what is bound, in whose memory it leaves its results. False: it does not end as it should, or faults.
bool metal_run(const metal_kernel *kernel, const uint32_t grid[3], const uint32_t block[3],
               const struct slri_bound *bound);

#endif
