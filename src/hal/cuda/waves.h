// SPDX-License-Identifier: Apache-2.0
// What a kernel takes of an AMD compute unit, read from its code object, and how many of its blocks that leaves room
// for.
#ifndef SLRI_HAL_CUDA_WAVES_H
#define SLRI_HAL_CUDA_WAVES_H

#include <slipring/status.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// As the kernel's descriptor says, in the granules that a unit gives.
struct slri_wave_takes {
    uint32_t lanes;                       // of a wave: 32 or 64; 0: nothing is known
    uint32_t vectors, scalars;            // registers of a wave: 4 bytes a lane; 4 bytes. Scalars 0: they limit nothing
    uint32_t shared_bytes, private_bytes; // of a block, static; of a thread
};

struct slri_wave_fits {
    uint32_t blocks; // on a compute unit at once
    uint32_t limits; // slr_occupancy_limit: every limit that excludes one more
};

// Of the kernel `name` in code of anybody's making for `architecture` ("gfx90a:xnack-"). Errors: NOT_FOUND (no such
// kernel in it), UNSUPPORTED (another architecture, no code object, or a damaged one).
slr_status slri_waves_read(const char *architecture, const void *code, size_t bytes, const char *name,
                           struct slri_wave_takes *out);

// Errors: UNSUPPORTED (another architecture).
slr_status slri_waves_count(const char *architecture, const struct slri_wave_takes *takes, uint32_t threads,
                            uint64_t dynamic_bytes, struct slri_wave_fits *out);

#endif
