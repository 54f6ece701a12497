// SPDX-License-Identifier: Apache-2.0
// The work in figures. The count of a kernel comes from walking its intermediate form, where everything in memory is
// unknown; where that is not enough, and for divergence, a part of the launch is interpreted with its own data.
#include "base/alloc.h"
#include "base/status.h"
#include "decide/decide.h"
#include "device/kernel.h"

#include <slipring/check.h>

#include <string.h>

enum {
    SECTOR_BYTES = 32,
    WARP_THREADS = 32,
    INTERPRETED_BLOCKS = 2,
    INTERPRETED_STEPS = 20000000,
    WALKED_STEPS = 20000000,
    INTERPRETED_BYTES = 1 << 28
};

struct interpreted {
    uint64_t threads, instructions, bytes;
    double divergence;
};

static uint64_t threads_of(const uint32_t grid[3], const uint32_t block[3])
{
    return (uint64_t)grid[0] * grid[1] * grid[2] * block[0] * block[1] * block[2];
}

static void add_lines(const slr_check *check, struct interpreted *out)
{
    slr_check_line line;
    uint64_t lanes = 0, steps = 0;
    for (uint32_t i = 0; slr_check_get_line(check, i, &line) == SLR_OK; ++i) {
        lanes += line.lanes;
        steps += line.steps;
        out->bytes += line.sectors * SECTOR_BYTES;
    }
    out->divergence = steps ? 1 - (double)lanes / ((double)WARP_THREADS * (double)steps) : 0;
}

// A warp that the block does not fill wastes lanes, and diverges no more for that.
static void take_off_partial(const uint32_t block[3], double *divergence)
{
    uint32_t threads = block[0] * block[1] * block[2], warps = (threads + WARP_THREADS - 1) / WARP_THREADS;
    double full = (double)threads / (double)(warps * WARP_THREADS);
    *divergence = *divergence > 1 - full ? 1 - (1 - *divergence) / full : 0;
}

// Buffers are copied, or generated, and each byte is watched.
static bool is_too_large(const slr_work *work)
{
    uint64_t bytes = 0;
    for (uint32_t i = 0; i < work->arg_count; ++i)
        if (work->args[i].kind == SLR_ARG_BUFFER)
            bytes += work->args[i].value.buffer ? work->args[i].value.buffer->bytes
                     : work->buffer_bytes       ? work->buffer_bytes[i]
                                                : 0;
    return bytes > INTERPRETED_BYTES;
}

static slr_status interpret_blocks(const slr_work *work, const slr_shape *shape, uint32_t left, struct interpreted *out)
{
    slr_check_desc desc = SLR_CHECK_DESC_INIT;
    slr_check *check;
    slr_check_launch launch;
    slr_check_argument given[SLRI_COUNT_BINDINGS];
    desc.arguments = given;
    for (uint32_t i = 0; i < work->arg_count && i < SLRI_COUNT_BINDINGS; ++i)
        if (work->args[i].kind != SLR_ARG_BUFFER || work->args[i].value.buffer)
            given[desc.argument_count++] = (slr_check_argument){.parameter = i, .arg = work->args[i]};
    for (int i = 0; i < 3; ++i) {
        desc.block[i] = shape->block[i];
        desc.grid[i] = shape->grid[i] < left ? shape->grid[i] : left;
        left /= desc.grid[i];
    }
    desc.shared_bytes = shape->shared_bytes;
    desc.steps = INTERPRETED_STEPS;
    desc.memory_bytes = INTERPRETED_BYTES;
    SLRI_TRY(slr_kernel_check(work->kernel, &desc, &check));
    slr_status status = slr_check_get_launch(check, 0, &launch);
    if (status == SLR_OK) {
        *out = (struct interpreted){threads_of(launch.grid, launch.block), launch.instructions, 0, 0};
        add_lines(check, out);
        take_off_partial(launch.block, &out->divergence);
    }
    slr_check_destroy(check);
    return status;
}

// Blocks that do not come to their end say nothing of the others; then `out` stays empty.
static slr_status interpret(const slr_work *work, const slr_shape *shape, struct interpreted *out)
{
    SLRI_TRY(interpret_blocks(work, shape, INTERPRETED_BLOCKS, out));
    if (out->instructions >= INTERPRETED_STEPS)
        SLRI_TRY(interpret_blocks(work, shape, 1, out));
    if (out->instructions >= INTERPRETED_STEPS)
        *out = (struct interpreted){.divergence = out->divergence};
    return SLR_OK;
}

static void settle_figure(uint64_t *given, uint64_t counted)
{
    if (*given == 0)
        *given = counted;
}

static uint64_t of_all(uint64_t figure, const struct interpreted *part, uint64_t threads)
{
    return part->threads ? (uint64_t)((double)figure / (double)part->threads * (double)threads) : 0;
}

// Where the walk cannot know them: from what was interpreted, and all buffers, as declared.
static void count_interpreted(const slr_work *work, const struct interpreted *part, uint64_t threads,
                              struct slri_count *count)
{
    const struct slri_entry *entry = work->kernel->entry;
    count->instructions = of_all(part->instructions, part, threads);
    for (uint32_t i = 0; i < work->arg_count && i < 64; ++i) {
        if (!entry->binding[i].is_buffer)
            continue;
        const slr_buffer *buffer = work->args[i].value.buffer;
        uint64_t bytes = buffer ? buffer->bytes : work->buffer_bytes ? work->buffer_bytes[i] : 0;
        count->loads |= (uint64_t)1 << i;
        count->stores |= (uint64_t)!entry->binding[i].is_const << i;
        count->bytes_in += bytes;
        count->bytes_out += entry->binding[i].is_const ? 0 : bytes;
    }
    uint64_t moved = of_all(part->bytes, part, threads), all = count->bytes_in + count->bytes_out;
    count->bytes = moved < all ? moved : all; // what is read again comes from a cache
}

static slr_status check_is_counted(const slr_work *work)
{
    const slr_kernel *kernel = work->kernel;
    if (work->arg_count != kernel->info.parameter_count || (work->arg_count && !work->args))
        return SLRI_FAIL(INVALID, "kernel %s takes %u arguments, but got %u", kernel->info.name,
                         kernel->info.parameter_count, work->args ? work->arg_count : 0);
    if (work->arg_count > SLRI_COUNT_BINDINGS)
        return SLRI_FAIL(UNSUPPORTED, "kernel %s has %u parameters; work with more than %u cannot be counted",
                         kernel->info.name, work->arg_count, SLRI_COUNT_BINDINGS);
    if (kernel->program->module->raw)
        return SLRI_FAIL(UNSUPPORTED, "kernel %s is of a raw program, whose work cannot be counted", kernel->info.name);
    return SLR_OK;
}

static slr_status count_kernel(const slr_work *work, struct slri_work_count *out)
{
    bool none;
    slr_shape shape = work->shape;
    struct slri_count count;
    const struct slri_count_wanted wanted = {.most = WALKED_STEPS};
    struct interpreted part = {0};
    struct slri_figures *f = &out->figures;
    SLRI_TRY(check_is_counted(work));
    SLRI_TRY(slri_shape_settle_by(work->kernel, &shape, false, &none));
    if (none)
        return SLRI_FAIL(INVALID, "kernel %s: the work has no threads", work->kernel->info.name);
    uint64_t threads = threads_of(shape.grid, shape.block);
    SLRI_TRY(slri_launch_count(work->kernel, &shape, work->args, work->buffer_bytes, &wanted, &count));
    bool is_unknown = count.counted == SLRI_COUNT_UNKNOWN;
    if (count.counted != SLRI_COUNT_EXACT && (is_unknown || work->divergence == 0) && !is_too_large(work)) {
        SLRI_TRY(interpret(work, &shape, &part));
        if (work->divergence == 0)
            f->divergence = part.divergence;
    }
    if (is_unknown && part.instructions) {
        out->is_interpreted = true;
        count_interpreted(work, &part, threads, &count);
        count.counted = SLRI_COUNT_SAMPLED;
    }
    if (count.counted == SLRI_COUNT_UNKNOWN && !work->instructions)
        return SLRI_FAIL(
            UNSUPPORTED,
            "kernel %s: its work is not known: its loops depend on data, and a block of it takes more than "
            "%d instructions, or its buffers more than %d bytes; give slr_work.instructions",
            work->kernel->info.name, INTERPRETED_STEPS, INTERPRETED_BYTES);
    f->blocks = (uint64_t)shape.grid[0] * shape.grid[1] * shape.grid[2];
    settle_figure(&f->threads, threads);
    settle_figure(&f->instructions, count.instructions);
    settle_figure(&f->flops, count.flops);
    settle_figure(&f->flops64, count.flops64);
    settle_figure(&f->memory_bytes, count.bytes);
    settle_figure(&f->bytes_in, count.bytes_in);
    settle_figure(&f->bytes_out, count.bytes_out);
    out->counted = count.counted;
    out->loads = count.loads;
    out->stores = count.stores;
    return SLR_OK;
}

slr_status slri_decide_count(const slr_work *work, struct slri_work_count *out)
{
    *out = (struct slri_work_count){.counted = SLRI_COUNT_EXACT,
                                    .figures = {.threads = work->threads,
                                                .instructions = work->instructions,
                                                .flops = work->flops,
                                                .flops64 = work->flops64,
                                                .memory_bytes = work->memory_bytes,
                                                .bytes_in = work->bytes_in,
                                                .bytes_out = work->bytes_out,
                                                .launches = work->launches ? work->launches : 1,
                                                .divergence = work->divergence,
                                                .resident = work->resident != 0}};
    if (work->kernel)
        return count_kernel(work, out);
    if (work->threads == 0)
        return SLRI_FAIL(INVALID, "slr_work: no kernel and no threads");
    if (work->instructions == 0) // an operation is an instruction at least
        out->figures.instructions = work->flops + work->flops64;
    return SLR_OK;
}
