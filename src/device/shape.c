// SPDX-License-Identifier: Apache-2.0
// Which blocks a launch has.
#include "base/status.h"
#include "device/suggest.h"
#include "run/grid.h"

static slr_status count_blocks(const slr_kernel *kernel, slr_shape *shape)
{
    for (int i = 0; i < 3; ++i) {
        if (shape->grid[i])
            continue;
        uint64_t threads = shape->threads[i] ? shape->threads[i] : 1, block = shape->block[i];
        uint64_t blocks = threads / block + (threads % block != 0);
        if (blocks > INT32_MAX)
            return SLRI_FAIL(INVALID,
                             "kernel %s: %llu threads along %c are %llu blocks of %u; expected at most 2^31 - 1",
                             kernel->info.name, (unsigned long long)threads, "xyz"[i], (unsigned long long)blocks,
                             shape -> block[i]);
        shape->grid[i] = (uint32_t)blocks;
    }
    return SLR_OK;
}

static slr_status check_width(const slr_kernel *kernel, uint32_t width)
{
    if (width == 0 || width == 1 || width == 4 || width == 8 || width == 16)
        return SLR_OK;
    return SLRI_FAIL(INVALID, "kernel %s: a vector_width of %u; expected 1, 4, 8, 16 or 0", kernel->info.name, width);
}

slr_status slri_shape_settle_by(slr_kernel *kernel, slr_shape *shape, bool asks, bool *none)
{
    bool has_grid = shape->grid[0] || shape->grid[1] || shape->grid[2];
    *none = !has_grid && shape->threads[0] == 0;
    if (*none)
        return SLR_OK;
    SLRI_TRY(check_width(kernel, shape->vector_width));
    if (!shape->block[0])
        SLRI_TRY(slri_shape_choose(kernel, shape, asks));
    for (int i = 1; i < 3; ++i)
        shape->block[i] = shape->block[i] ? shape->block[i] : 1;
    if (shape->shared_bytes && !kernel->info.takes_dynamic_shared)
        return SLRI_FAIL(INVALID, "kernel %s has no extern __shared__ object, but got %u bytes for it",
                         kernel->info.name, shape->shared_bytes);
    SLRI_TRY(count_blocks(kernel, shape));
    return slri_kernel_check_shape(kernel->entry, shape->grid, shape->block, shape->shared_bytes);
}

slr_status slri_shape_settle(slr_kernel *kernel, slr_shape *shape, bool *none)
{
    return slri_shape_settle_by(kernel, shape, true, none);
}
