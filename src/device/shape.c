// SPDX-License-Identifier: Apache-2.0
// Which blocks a launch has.
#include "base/status.h"
#include "device/suggest.h"
#include "run/grid.h"

#include <string.h>

// A block that is not said: as the source declares it, else chosen.
static slr_status set_block(slr_kernel *kernel, slr_shape *shape, bool asks)
{
    if (!kernel->declared || !kernel->declared->block[0])
        return slri_shape_choose(kernel, shape, asks);
    memcpy(shape->block, kernel->declared->block, sizeof shape->block);
    return SLR_OK;
}

// `items`: how many threads of the launch a block does.
static slr_status count_blocks(const slr_kernel *kernel, slr_shape *shape, const uint32_t *items)
{
    for (int i = 0; i < 3; ++i) {
        if (shape->grid[i])
            continue;
        uint64_t threads = shape->threads[i] ? shape->threads[i] : 1, item = items[i];
        uint64_t blocks = threads / item + (threads % item != 0);
        if (blocks > INT32_MAX)
            return SLRI_FAIL(
                INVALID, "kernel %s: %llu threads along %c are %llu blocks of %u; expected at most 2^31 - 1",
                kernel->info.name, (unsigned long long)threads, "xyz"[i], (unsigned long long)blocks, items[i]);
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

// What SLRI_GRID_MAX_SHARED_BYTES lets pass may be too much for this device; static memory alone is its compiler's
// affair.
static slr_status check_shared(const slr_kernel *kernel, const slr_shape *shape)
{
    const slr_device *device = kernel->program->device;
    const uint64_t most = device->facts.limits.block_shared_bytes; // 0: the driver does not say
    const uint64_t bytes = (uint64_t)shape->shared_bytes + kernel->info.shared_bytes;
    if (shape->shared_bytes == 0 || most == 0 || bytes <= most)
        return SLR_OK;
    return SLRI_FAIL(UNSUPPORTED, "kernel %s takes %llu B of shared memory (%u B dynamic); device '%s' has %llu",
                     kernel->info.name, (unsigned long long)bytes, shape->shared_bytes, device->facts.identity.device,
                     (unsigned long long)most);
}

slr_status slri_shape_settle_by(slr_kernel *kernel, slr_shape *shape, bool asks, bool *none)
{
    bool has_grid = shape->grid[0] || shape->grid[1] || shape->grid[2];
    *none = !has_grid && shape->threads[0] == 0;
    if (*none)
        return SLR_OK;
    SLRI_TRY(check_width(kernel, shape->vector_width));
    const uint32_t *items = shape->block;
    if (!shape->block[0]) {
        SLRI_TRY(set_block(kernel, shape, asks));
        items = kernel->declared && kernel->declared->items[0] ? kernel->declared->items : items;
    }
    for (int i = 1; i < 3; ++i)
        shape->block[i] = shape->block[i] ? shape->block[i] : 1;
    if (shape->shared_bytes && !kernel->info.takes_dynamic_shared)
        return SLRI_FAIL(INVALID, "kernel %s has no extern __shared__ object, but got %u bytes for it",
                         kernel->info.name, shape->shared_bytes);
    SLRI_TRY(count_blocks(kernel, shape, items));
    SLRI_TRY(slri_kernel_check_shape(kernel->entry, shape->grid, shape->block, shape->shared_bytes));
    return check_shared(kernel, shape);
}

slr_status slri_shape_settle(slr_kernel *kernel, slr_shape *shape, bool *none)
{
    return slri_shape_settle_by(kernel, shape, true, none);
}
