// SPDX-License-Identifier: Apache-2.0
// Tiles for a problem, by the limits of a device alone.
#ifndef SLRI_TUNE_TILING_H
#define SLRI_TUNE_TILING_H

#include <slipring/tiling.h>

struct slri_tiling_problem {
    uint64_t m, n, k, planes; // from 1; k 0: no product
    uint32_t element_bytes, stages, radius;
    uint32_t registers; // 0: estimated
    uint32_t most_threads;
    uint32_t block; // of a problem of one dimension; 0: chosen
};

// Errors: INVALID (too many blocks for a grid), UNSUPPORTED (none fits).
slr_status slri_tiling_choose(const struct slri_tiling_problem *problem, const slr_device_limits *limits,
                              slr_tiling *out);

#endif
