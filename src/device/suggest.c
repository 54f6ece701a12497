// SPDX-License-Identifier: Apache-2.0
// Blocks that are chosen, and the occupancy of a kernel on its device. What a kernel takes is asked of the driver; that
// needs the kernel compiled, which its launch needs too.
#include "device/suggest.h"

#include "base/sized.h"
#include "base/status.h"
#include "engine/code.h"
#include "run/grid.h"
#include "tune/suggest.h"

#include <slipring/occupancy.h>

#include <stdio.h>
#include <string.h>

#define WARP 32u
#define FLAT SLRI_BLOCK_RANGES // the index of `chosen` for shapes of two and three dimensions

static uint32_t smaller_limit(uint32_t a, uint32_t b) // 0: no limit
{
    return a == 0 || (b != 0 && b < a) ? b : a;
}

// ---- what the driver says ------------------------------------------------------------------------------------------

static slr_status ask_use(slr_kernel *kernel, const slr_shape *shape, uint32_t threads, struct slri_kernel_use *out)
{
    const slr_device *device = kernel->program->device;
    const struct slri_ready_kernel *ready;
    struct slri_kernel_shape wanted = {.width = shape->vector_width, .level = kernel->program->level};
    memcpy(wanted.block, shape->block, sizeof wanted.block);
    *out = (struct slri_kernel_use){0};
    if (!device->backend->kernel_use)
        return SLR_OK;
    SLRI_TRY(slri_code_prepare(kernel->program->code, kernel->entry, &wanted, NULL, &ready));
    const struct slri_kernel_query of = {.ready = ready, .threads = threads, .dynamic_bytes = shape->shared_bytes};
    return device->backend->kernel_use(device->self, &of, out);
}

static slr_occupancy_desc desc_of(const slr_kernel *kernel, const struct slri_kernel_use *use, uint32_t dynamic_bytes)
{
    slr_occupancy_desc desc = SLR_OCCUPANCY_DESC_INIT;
    desc.capability = use->capability;
    desc.registers = use->registers;
    desc.static_shared_bytes = use->shared_bytes;
    desc.dynamic_shared_bytes = dynamic_bytes;
    desc.most_threads = smaller_limit(use->most_threads, kernel->info.max_threads);
    desc.multiprocessors = kernel->program->device->facts.limits.units;
    return desc;
}

// ---- choosing ------------------------------------------------------------------------------------------------------

struct choice {
    uint32_t block, by_size, by_occupancy, most;
    slr_block_rule rule;
};

static bool is_flat(const slr_shape *shape)
{
    return shape->threads[1] <= 1 && shape->threads[2] <= 1;
}

// The driver is asked about a block that every kernel can have, where kernels are of any block; else about the block
// that is likely to be launched.
static slr_status use_of_any_block(slr_kernel *kernel, const slr_shape *shape, uint32_t likely,
                                   struct slri_kernel_use *out)
{
    slr_shape any = *shape;
    any.block[0] = kernel->program->device->backend->kernel_per == SLRI_KERNEL_PER_ENTRY ? 1 : likely;
    any.block[1] = any.block[2] = 1;
    return ask_use(kernel, &any, 0, out);
}

// In order: what occupancy says, where it is known; the size table. A rule that goes before them is tried first.
static slr_status choose_block(slr_kernel *kernel, const slr_shape *shape, bool asks, struct choice *out)
{
    const slr_device_limits *limits = &kernel->program->device->facts.limits;
    const uint32_t table = is_flat(shape) ? slri_block_by_size(shape->threads[0]) : 256;
    struct slri_kernel_use use = {0};
    slr_best_block best;
    uint32_t block = 0;
    out->most = smaller_limit(kernel->info.max_threads, limits->block_threads);
    if (asks)
        SLRI_TRY(use_of_any_block(kernel, shape, slri_block_within(table, out->most, 0), &use));
    out->most = smaller_limit(out->most, use.most_threads);
    out->by_size = out->block = slri_block_within(table, out->most, use.multiple);
    out->rule = SLR_BLOCK_BY_SIZE;
    if (!use.capability)
        return SLR_OK;
    const slr_occupancy_desc desc = desc_of(kernel, &use, shape->shared_bytes);
    if (slr_occupancy_best(&desc, 0, &best) != SLR_OK) // a capability that is not known yet
        return SLR_OK;
    out->by_occupancy = best.block_threads;
    if (is_flat(shape) && slri_block_by_occupancy(&desc, table, &block) == SLR_OK && block) {
        out->block = block;
        out->rule = SLR_BLOCK_BY_OCCUPANCY;
    }
    return SLR_OK;
}

// The blocks of a range are the same for every launch with as much shared memory.
static slr_status choose_once(slr_kernel *kernel, const slr_shape *shape, bool asks, uint32_t *out)
{
    uint32_t range = is_flat(shape) ? slri_block_range(shape->threads[0]) : FLAT;
    struct choice choice = {0};
    // Relaxed: the word is all there is.
    uint64_t known = __atomic_load_n(&kernel->chosen[range], __ATOMIC_RELAXED);
    if ((uint32_t)known && known >> 32 == shape->shared_bytes) {
        *out = (uint32_t)known;
        return SLR_OK;
    }
    SLRI_TRY(choose_block(kernel, shape, asks, &choice));
    *out = range == FLAT ? choice.most : choice.block;
    if (asks)
        __atomic_store_n(&kernel->chosen[range], (uint64_t)shape->shared_bytes << 32 | *out, __ATOMIC_RELAXED);
    return SLR_OK;
}

slr_status slri_shape_choose(slr_kernel *kernel, slr_shape *shape, bool asks)
{
    uint32_t chosen;
    SLRI_TRY(choose_once(kernel, shape, asks, &chosen));
    shape->block[1] = shape->block[2] = 1;
    if (is_flat(shape)) {
        shape->block[0] = chosen;
        return SLR_OK;
    }
    shape->block[0] = slri_block_within(32, chosen, 0);
    shape->block[1] = slri_block_within(8, chosen / shape->block[0], 0);
    return SLR_OK;
}

// ---- occupancy -----------------------------------------------------------------------------------------------------

// `counter`: who counts beside the driver.
static void say_limits(const slr_kernel_occupancy *of, const char *counter, char *out, size_t room)
{
    static const char *const names[] = {"warps", "registers", "shared memory", "blocks", "barriers"};
    const char *before = "limited by ";
    snprintf(out, room, "the driver counts %u block%s; ", of->groups, of->groups == 1 ? "" : "s");
    for (size_t i = 0; i < sizeof names / sizeof *names; ++i)
        if (of->limits >> i & 1) {
            snprintf(out + strlen(out), room - strlen(out), "%s%s", before, names[i]);
            before = ", ";
        }
    if (!of->limits)
        snprintf(out + strlen(out), room - strlen(out), "its limits are not known for this capability");
    else if (of->computed_groups != of->groups)
        snprintf(out + strlen(out), room - strlen(out), "; %s counts %u", counter, of->computed_groups);
}

static void fill_counted(const slr_kernel *kernel, const slr_shape *shape, const struct slri_kernel_use *use,
                         slr_kernel_occupancy *out)
{
    const slr_device_limits *limits = &kernel->program->device->facts.limits;
    slr_occupancy_desc desc = desc_of(kernel, use, shape->shared_bytes);
    slr_occupancy computed;
    slr_best_block best;
    uint32_t warps = (out->block_threads + limits->lanes - 1) / limits->lanes;
    out->source = SLR_OCCUPANCY_DRIVER;
    out->groups = use->groups;
    out->threads = use->groups * out->block_threads;
    out->most_threads = limits->unit_threads;
    out->theoretical = (double)use->groups * warps * limits->lanes / limits->unit_threads;
    desc.block_threads = out->block_threads;
    if (slr_occupancy_compute(&desc, &computed) == SLR_OK && slr_occupancy_best(&desc, 0, &best) == SLR_OK) {
        out->computed_groups = computed.blocks;
        out->limits = computed.limits;
        out->best_block = best.block_threads;
    }
    if (use->limits) {
        out->computed_groups = use->computed;
        out->limits = use->limits;
    }
    say_limits(out, use->limits ? "slipring" : "slr_occupancy_compute", out->why, sizeof out->why);
}

// A core runs the threads of one block, a vector of them at a time.
static void fill_host(const slr_shape *shape, slr_kernel_occupancy *out)
{
    uint32_t lanes = shape->vector_width && shape->vector_width < out->lanes ? shape->vector_width : out->lanes;
    uint32_t vectors = (out->block_threads + lanes - 1) / lanes;
    out->source = SLR_OCCUPANCY_COMPUTED;
    out->groups = 1;
    out->threads = out->block_threads < lanes ? out->block_threads : lanes;
    out->most_threads = lanes;
    out->theoretical = (double)out->block_threads / (vectors * lanes);
    snprintf(out->why, sizeof out->why,
             "%u core%s with a block each, in vectors of up to %u lanes of 4 bytes: part of the lanes with a thread",
             out->units, out->units == 1 ? "" : "s", lanes);
}

static void say_unknown(slr_kernel_occupancy *out)
{
    snprintf(out->why, sizeof out->why,
             "the driver has no count of groups on a compute unit; at most %u threads per group", out->block_limit);
    size_t length = strlen(out->why);
    if (out->multiple)
        snprintf(out->why + length, sizeof out->why - length, ", in multiples of %u", out->multiple);
}

static slr_status fill_occupancy(slr_kernel *kernel, const slr_shape *shape, slr_kernel_occupancy *out)
{
    const slr_device_limits *limits = &kernel->program->device->facts.limits;
    const uint32_t threads = shape->block[0] * shape->block[1] * shape->block[2];
    struct slri_kernel_use use;
    SLRI_TRY(ask_use(kernel, shape, threads, &use));
    *out = (slr_kernel_occupancy){
        .source = SLR_OCCUPANCY_UNKNOWN,
        .block_threads = threads,
        .most_groups = limits->unit_blocks,
        .most_threads = limits->unit_threads,
        .units = limits->units,
        .lanes = limits->lanes,
        .multiple = use.multiple,
        .block_limit = smaller_limit(smaller_limit(kernel->info.max_threads, limits->block_threads), use.most_threads),
        .registers = use.registers,
        .shared_bytes = (use.shared_bytes ? use.shared_bytes : kernel->info.shared_bytes) + shape->shared_bytes,
        .most_shared_bytes = limits->block_shared_bytes,
        .private_bytes = use.private_bytes};
    if (use.counts)
        fill_counted(kernel, shape, &use, out);
    else if (kernel->program->device->backend->is_host)
        fill_host(shape, out);
    else
        say_unknown(out);
    return SLR_OK;
}

slr_status slr_kernel_get_occupancy_sized(slr_kernel *kernel, slr_shape shape, slr_kernel_occupancy *out, size_t bytes)
{
    slr_kernel_occupancy whole;
    bool none;
    if (!kernel || !out)
        return SLRI_FAIL(INVALID, "slr_kernel_get_occupancy: %s is NULL", kernel ? "out" : "kernel");
    if (shape.threads[0] == 0 && !shape.grid[0])
        shape.grid[0] = shape.grid[1] = shape.grid[2] = 1; // a block alone
    kernel = slri_tuned_settle(kernel, &shape);
    SLRI_TRY(slri_shape_settle(kernel, &shape, &none));
    SLRI_TRY(fill_occupancy(kernel, &shape, &whole));
    return SLRI_GIVE_REPORT(slr_kernel_occupancy, out, bytes, &whole);
}

slr_status(slr_kernel_get_occupancy)(slr_kernel *kernel, slr_shape shape, slr_kernel_occupancy *out)
{
    return slr_kernel_get_occupancy_sized(kernel, shape, out, SLRI_FIRST_slr_kernel_occupancy);
}

slr_status slr_kernel_best_block_sized(slr_kernel *kernel, uint32_t shared_bytes, slr_best_block *out, size_t bytes)
{
    struct slri_kernel_use use;
    slr_shape shape = {.shared_bytes = shared_bytes};
    if (!kernel || !out)
        return SLRI_FAIL(INVALID, "slr_kernel_best_block: %s is NULL", kernel ? "out" : "kernel");
    const slr_device *device = kernel->program->device;
    if (device->backend->kernel_use)
        SLRI_TRY(use_of_any_block(kernel, &shape, WARP, &use));
    if (!device->backend->kernel_use || !use.capability)
        return SLRI_FAIL(UNSUPPORTED,
                         "slr_kernel_best_block: device '%s' does not say what a kernel takes of a multiprocessor; "
                         "slr_kernel_suggest gives the block of a launch",
                         device->backend->name);
    const slr_occupancy_desc desc = desc_of(kernel, &use, shared_bytes);
    return slr_occupancy_best_sized(&desc, 0, out, bytes);
}

slr_status(slr_kernel_best_block)(slr_kernel *kernel, uint32_t shared_bytes, slr_best_block *out)
{
    return slr_kernel_best_block_sized(kernel, shared_bytes, out, SLRI_FIRST_slr_best_block);
}

// ---- suggestions ---------------------------------------------------------------------------------------------------

static slr_status suggest_block(slr_kernel *kernel, slr_shape shape, slr_suggestion *out)
{
    const bool is_given = shape.block[0] != 0;
    const uint64_t threads = shape.threads[0];
    slr_kernel_occupancy of;
    struct choice choice = {0};
    const slr_kernel *asked = kernel;
    bool none;
    SLRI_TRY(choose_block(kernel, &shape, true, &choice));
    const bool is_tuned = slri_tuned_find(kernel, &shape) != NULL;
    kernel = slri_tuned_settle(kernel, &shape);
    const bool is_declared = shape.block[0] == 0 && kernel->declared && kernel->declared->block[0];
    SLRI_TRY(slri_shape_settle(kernel, &shape, &none));
    if (none)
        return SLRI_FAIL(INVALID, "slr_kernel_suggest: the shape has no threads");
    SLRI_TRY(fill_occupancy(kernel, &shape, &of));
    *out = (slr_suggestion){.shape = shape,
                            .rule = is_given      ? SLR_BLOCK_GIVEN
                                    : is_tuned    ? SLR_BLOCK_BY_TUNER
                                    : is_declared ? SLR_BLOCK_BY_SOURCE
                                                  : choice.rule,
                            .warps = (of.block_threads + WARP - 1) / WARP,
                            .by_size = choice.by_size,
                            .by_occupancy = choice.by_occupancy,
                            .source = of.source,
                            .theoretical = of.theoretical};
    if (is_tuned)
        snprintf(out->why, sizeof out->why, "slr_tune measured %s", kernel->label ? kernel->label : asked->info.name);
    else if (is_declared)
        snprintf(out->why, sizeof out->why, "the source declares it: #pragma slipring block");
    else if (is_given || is_flat(&shape))
        slri_suggestion_explain(out, threads, choice.most);
    else
        snprintf(out->why, sizeof out->why, "32 by 8 threads%s",
                 of.block_threads == 256 ? "" : "; smaller, for the block's limit");
    return SLR_OK;
}

slr_status slr_kernel_suggest_sized(slr_kernel *kernel, slr_shape shape, slr_suggestion *out, size_t bytes)
{
    slr_suggestion whole;
    if (!kernel || !out)
        return SLRI_FAIL(INVALID, "slr_kernel_suggest: %s is NULL", kernel ? "out" : "kernel");
    SLRI_TRY(suggest_block(kernel, shape, &whole));
    return SLRI_GIVE_REPORT(slr_suggestion, out, bytes, &whole);
}

slr_status(slr_kernel_suggest)(slr_kernel *kernel, slr_shape shape, slr_suggestion *out)
{
    return slr_kernel_suggest_sized(kernel, shape, out, SLRI_FIRST_slr_suggestion);
}

// ---- limits --------------------------------------------------------------------------------------------------------

slr_status slr_device_get_limits_sized(const slr_device *device, slr_device_limits *out, size_t bytes)
{
    if (!device || !out)
        return SLRI_FAIL(INVALID, "slr_device_get_limits: %s is NULL", device ? "out" : "device");
    return SLRI_GIVE_REPORT(slr_device_limits, out, bytes, &device->facts.limits);
}

slr_status(slr_device_get_limits)(const slr_device *device, slr_device_limits *out)
{
    return slr_device_get_limits_sized(device, out, SLRI_FIRST_slr_device_limits);
}
