// SPDX-License-Identifier: Apache-2.0
// Regions for NVIDIA's tools (Nsight Systems and others), where one of them is there.
#ifndef SLRI_OBSERVE_NVTX_H
#define SLRI_OBSERVE_NVTX_H

struct slri_nvtx {
    int (*push)(const char *name); // both, or neither
    int (*pop)(void);
};

// Looks for a tool the first time. Both are NULL where there is none.
const struct slri_nvtx *slri_nvtx(void);

#endif
