// SPDX-License-Identifier: Apache-2.0
// With whom a GPU is shared, which makes it unwise to keep kernels on it: such ring kernels are relaunched, unless it
// is asked for persistent ones. Nothing is concluded from a device's name.
#ifndef SLRI_HAL_CUDA_SHARING_H
#define SLRI_HAL_CUDA_SHARING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct slri_cu_sharing {
    bool is_wsl;     // reached through Windows
    bool is_mps;     // contexts run side by side with those of other processes, and nothing is reserved for one
    bool is_virtual; // a part of a GPU, in turns with those of other machines
    uint32_t others; // processes that use it in turns with ours
};

// Whether the kernel that says its release in that file is the one of WSL2.
bool slri_cu_is_wsl(const char *release_path);

// As a clause: why no kernel should stay; false: nothing speaks against it, and `out` is "".
bool slri_cu_unwise(const struct slri_cu_sharing *sharing, char *out, size_t room);

#endif
