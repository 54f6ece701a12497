// SPDX-License-Identifier: Apache-2.0
// Which blocks a launch has.
#include "base/status.h"
#include "device/kernel.h"
#include "run/grid.h"

#include <string.h>

// Until there is a tuner: enough blocks to share small work, few enough to be cheap for large work.
static uint32_t block_for(uint64_t threads)
{
    return threads < 512 ? 64 : threads < 1024 ? 128 : threads <= 100000 ? 256 : 512;
}

static void shrink_to(uint32_t *block, uint32_t most)
{
    while (*block > most)
        *block /= 2;
}

// No larger than the kernel allows, nor much larger than what there is to do.
static void choose_block(const slr_kernel *kernel, slr_shape *shape)
{
    uint32_t most = kernel->info.max_threads;
    if (kernel->declared && kernel->declared->block[0]) {
        memcpy(shape->block, kernel->declared->block, sizeof shape->block);
        return;
    }
    if (shape->threads[1] <= 1 && shape->threads[2] <= 1) {
        shape->block[0] = block_for(shape->threads[0]);
        shrink_to(&shape->block[0], most);
        shape->block[1] = shape->block[2] = 1;
        return;
    }
    shape->block[0] = 32;
    shape->block[1] = 8;
    shape->block[2] = 1;
    shrink_to(&shape->block[0], most);
    shrink_to(&shape->block[1], most / shape->block[0]);
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

slr_status slri_shape_settle(const slr_kernel *kernel, slr_shape *shape, bool *none)
{
    bool has_grid = shape->grid[0] || shape->grid[1] || shape->grid[2];
    *none = !has_grid && shape->threads[0] == 0;
    if (*none)
        return SLR_OK;
    SLRI_TRY(check_width(kernel, shape->vector_width));
    const uint32_t *items = shape->block;
    if (!shape->block[0]) {
        choose_block(kernel, shape);
        items = kernel->declared && kernel->declared->items[0] ? kernel->declared->items : items;
    }
    for (int i = 1; i < 3; ++i)
        shape->block[i] = shape->block[i] ? shape->block[i] : 1;
    if (shape->shared_bytes && !kernel->info.takes_dynamic_shared)
        return SLRI_FAIL(INVALID, "kernel %s has no extern __shared__ object, but got %u bytes for it",
                         kernel->info.name, shape->shared_bytes);
    SLRI_TRY(count_blocks(kernel, shape, items));
    return slri_kernel_check_shape(kernel->entry, shape->grid, shape->block, shape->shared_bytes);
}
