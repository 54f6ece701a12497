// SPDX-License-Identifier: Apache-2.0
// What one instruction of a warp asks of a GPU's memory: the sectors of global memory that hold what its lanes reach,
// and the passes that shared memory's banks take.
#ifndef SLRI_RUN_REQUEST_H
#define SLRI_RUN_REQUEST_H

#include <stdint.h>

#define SLRI_SECTOR_BYTES 32 // what global memory moves at once (CUDA C++ Best Practices Guide, "Coalesced Access")
#define SLRI_BANKS 32        // of shared memory, 4 bytes wide (the same, "Shared Memory and Memory Banks")

struct slri_lane_access { // one a lane, at most SLRI_WARP_THREADS
    uint64_t offset, bytes;
};

// Sectors that hold any byte of the request; `least`: those that its distinct bytes would fill. Sorts `access`.
uint64_t slri_request_sectors(struct slri_lane_access *access, uint32_t count, uint64_t *least);

// Passes for at least one lane: lanes of 8 bytes are served by halves of a warp, of 16 by quarters. `least`: those
// without conflicts.
uint64_t slri_request_passes(const struct slri_lane_access *access, uint32_t count, uint64_t *least);

#endif
