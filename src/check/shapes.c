// SPDX-License-Identifier: Apache-2.0
#include "check/shapes.h"

#include "base/status.h"

#include <string.h>

// Callees stand before their callers.
slr_status slri_count_axes(struct slri_plan *plan, int *out)
{
    const struct slri_flat *flat = &plan->interp->flat;
    bool *reached = slri_region_take(plan->region, plan->module->functions);
    if (reached == NULL)
        return SLRI_FAIL(NO_MEMORY, "no memory to check kernel %s", plan->entry->name);
    *out = 1;
    for (uint32_t f = plan->module->functions; f-- > 0;) {
        if (plan->module->function[f] == plan->entry->function)
            reached[f] = true;
        uint32_t end = f + 1 < plan->module->functions ? flat->function[f + 1].start : flat->count;
        for (uint32_t i = flat->function[f].start; i < end && reached[f]; i++) {
            const struct slri_code *code = &flat->code[i];
            if (code->op == SLRI_CODE_CALL)
                reached[code->imm] = true;
            if (code->op != SLRI_CODE_BUILTIN || code->imm >= SLRI_BUILTIN_BLOCK_DIM_X)
                continue;
            plan->uses_thread |= code->imm < SLRI_BUILTIN_BLOCK_X;
            plan->uses_block |= code->imm >= SLRI_BUILTIN_BLOCK_X;
            if ((int)(code->imm % 3) >= *out)
                *out = (int)(code->imm % 3) + 1;
        }
    }
    return SLR_OK;
}

// Of two axes a square grid and one that is not, so that a width and a height differ.
static void add_shape(struct slri_shapes *all, uint32_t x, uint32_t y, uint32_t z)
{
    static const uint32_t grids[][3] = {{2, 1, 1}, {2, 2, 1}, {2, 3, 1}, {2, 2, 2}, {2, 3, 2}};
    const slr_check_desc *desc = all->desc;
    struct slri_tried_shape made = {{0}, {x, y, z}};
    uint64_t threads = 1;
    for (int i = 0; i < 3; i++)
        threads *= made.block[i] = desc->block[i] ? desc->block[i] : desc->block[0] ? 1 : made.block[i];
    if (threads == 0 || (threads > all->most && !desc->block[0]))
        return;
    for (uint32_t g = z > 1 ? 3 : y > 1 ? 1 : 0; g < (z > 1 ? 5u : y > 1 ? 3u : 1u); g++) {
        for (int i = 0; i < 3; i++)
            made.grid[i] = desc->grid[i] ? desc->grid[i] : desc->grid[0] ? 1 : grids[g][i];
        bool is_new = all->count < SLRI_SHAPES_MAX;
        for (uint32_t i = 0; i < all->count; i++)
            is_new &= memcmp(&all->list[i], &made, sizeof made) != 0;
        if (is_new)
            all->list[all->count++] = made;
    }
}

// A kernel's arrays of shared memory are as wide as its blocks, often with a column more.
static void add_hints(struct slri_shapes *all, const struct slri_plan *plan, int axes)
{
    for (uint32_t i = 0; i < plan->module->shareds; i++) {
        const struct slri_type *type = plan->module->shared[i].type;
        if (!slri_entry_has_shared(plan->entry, i) || type->kind != SLRI_ARRAY)
            continue;
        while (type->of->kind == SLRI_ARRAY && type->of->of->kind == SLRI_ARRAY)
            type = type->of;
        bool is_table = type->of->kind == SLRI_ARRAY;
        uint32_t outer = type->count < 2048 ? (uint32_t)type->count : 0;
        uint32_t inner = is_table && type->of->count < 2048 ? (uint32_t)type->of->count : 0;
        if (axes == 1) {
            uint32_t width = is_table ? inner : outer;
            if (width >= 64)
                add_shape(all, width, 1, 1), add_shape(all, width / 2, 1, 1);
        } else if (is_table) {
            add_shape(all, outer, outer, 1);
            add_shape(all, inner, outer, 1);
        }
    }
}

// A grid of as many blocks as are quickly run.
static void clip_grid(uint32_t grid[3], const uint32_t block[3])
{
    uint64_t threads = (uint64_t)block[0] * block[1] * block[2];
    while (threads * grid[0] * grid[1] * grid[2] > SLRI_HOST_THREADS) {
        int largest = grid[1] > grid[0] ? 1 : 0;
        largest = grid[2] > grid[largest] ? 2 : largest;
        if (grid[largest] <= 2)
            return;
        grid[largest] = (grid[largest] + 1) / 2;
    }
}

void slri_shapes_add_known(struct slri_shapes *all, struct slri_plan *plan, int axes)
{
    const slr_check_desc *desc = plan->desc;
    const struct slri_host_launch *host = plan->host;
    struct slri_tried_shape made = {{0}, {0}};
    bool is_read = host && host->block[0], is_grid_read = is_read && host->grid[0];
    enum slri_implied implied = slri_plan_implied_block(plan, axes, made.block);
    plan->knows_block = desc->block[0] || is_read || implied == SLRI_IMPLIED_BY_STRIDES;
    plan->knows_grid = desc->grid[0] || is_grid_read;
    if (desc->block[0] || (!plan->knows_block && implied == SLRI_IMPLIED_NOT))
        return;
    memcpy(made.block, is_read ? host->block : made.block, sizeof made.block);
    if (!is_grid_read) {
        add_shape(all, made.block[0], made.block[1], made.block[2]);
        return;
    }
    memcpy(made.grid, host->grid, sizeof made.grid);
    clip_grid(made.grid, made.block);
    for (int i = 0; i < 3 && desc->grid[0]; i++)
        made.grid[i] = desc->grid[i] ? desc->grid[i] : 1;
    all->list[all->count++] = made;
}

void slri_shapes_add_usual(struct slri_shapes *all, const struct slri_plan *plan, int axes)
{
    static const uint32_t flat[] = {256, 128, 64, 512, 32, 1024};
    static const uint32_t tables[][2] = {{16, 16}, {32, 8}, {8, 8}, {32, 32}, {32, 4}, {32, 16}};
    if (axes == 1 && plan->entry->max_threads)
        add_shape(all, plan->entry->max_threads, 1, 1);
    add_hints(all, plan, axes);
    for (size_t i = 0; i < sizeof flat / sizeof *flat && axes == 1; i++)
        add_shape(all, flat[i], 1, 1);
    for (size_t i = 0; i < sizeof tables / sizeof *tables && axes == 2; i++)
        add_shape(all, tables[i][0], tables[i][1], 1);
    if (axes == 3)
        add_shape(all, 8, 8, 8), add_shape(all, 8, 8, 4), add_shape(all, 4, 4, 4);
    if (all->count == 0)
        add_shape(all, all->most < 32 ? all->most : 32, 1, 1);
}

static bool is_square(const struct slri_tried_shape *shape)
{
    return shape->block[1] * shape->grid[1] == shape->block[0] * shape->grid[0];
}

bool slri_shapes_are_better(const struct slri_shapes *all, const struct slri_tried_shape *shape, bool prefers_square)
{
    bool are_others = false;
    for (uint32_t i = 0; i < all->count; i++)
        are_others |= is_square(&all->list[i]) == prefers_square;
    return are_others && shape->block[1] > 1 && is_square(shape) != prefers_square && !all->desc->grid[0] &&
           !all->desc->block[0];
}
