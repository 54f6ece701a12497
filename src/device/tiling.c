// SPDX-License-Identifier: Apache-2.0
// Tiles for a device, or for a kernel on its device: what limits them is asked here, and tune/tiling.c chooses.
#include "base/sized.h"
#include "base/status.h"
#include "device/kernel.h"
#include "run/grid.h"
#include "tune/suggest.h"
#include "tune/tiling.h"

#include <slipring/occupancy.h>

#include <string.h>

static slr_status check_tiling(const slr_tiling_desc *desc)
{
    if (desc->m == 0 || desc->n == 0)
        return SLRI_FAIL(INVALID, "slr_tiling_desc: m is %llu and n is %llu; expected at least 1",
                         (unsigned long long)desc->m, (unsigned long long)desc->n);
    if (desc->m > INT64_MAX / 4096 || desc->n > INT64_MAX / 4096 || desc->planes > INT64_MAX / 4096)
        return SLRI_FAIL(INVALID, "slr_tiling_desc: a dimension of more than 2^51 elements");
    if (desc->element_bytes > 16 || desc->stages > 16 || desc->radius > 1024)
        return SLRI_FAIL(INVALID,
                         "slr_tiling_desc: element_bytes %u, stages %u, radius %u; expected at most 16, 16, 1024",
                         desc->element_bytes, desc->stages, desc->radius);
    if (desc->k && desc->radius)
        return SLRI_FAIL(INVALID, "slr_tiling_desc: k and radius are both given; a product has no radius");
    if (!desc->kernel && !desc->device && !desc->limits)
        return SLRI_FAIL(UNSUPPORTED, "slr_tiling_desc: kernel, device and limits are NULL; give one of them");
    return desc->limits ? SLRI_CHECK_REPORT(slr_device_limits, desc->limits_bytes) : SLR_OK;
}

// Of a kernel in one dimension: the block that its launch takes.
static slr_status ask_kernel(const slr_tiling_desc *desc, struct slri_tiling_problem *p)
{
    slr_kernel_occupancy of;
    slr_suggestion suggestion;
    const bool is_line = p->k == 0 && p->m == 1 && p->planes == 1 && p->radius == 0;
    SLRI_TRY(slr_kernel_get_occupancy(desc->kernel, SLR_1D_BLOCKS(0, 1), &of));
    if (p->registers == 0)
        p->registers = of.registers;
    if (p->most_threads == 0 || p->most_threads > of.block_limit)
        p->most_threads = of.block_limit;
    if (!is_line || desc->most_threads)
        return SLR_OK;
    SLRI_TRY(slr_kernel_suggest(desc->kernel, SLR_1D(p->n), &suggestion));
    p->block = suggestion.shape.block[0] < p->n ? suggestion.shape.block[0] : (uint32_t)p->n;
    return SLR_OK;
}

static slr_status choose_tile(const slr_tiling_desc *desc, slr_tiling *out)
{
    struct slri_tiling_problem p = {.m = desc->m,
                                    .n = desc->n,
                                    .k = desc->k,
                                    .planes = desc->planes ? desc->planes : 1,
                                    .element_bytes = desc->element_bytes ? desc->element_bytes : 4,
                                    .stages = desc->stages ? desc->stages : 1,
                                    .radius = desc->radius,
                                    .registers = desc->registers,
                                    .most_threads = desc->most_threads};
    slr_device_limits limits = {0};
    if (desc->kernel)
        limits = desc->kernel->program->device->facts.limits;
    else if (desc->limits)
        memcpy(&limits, desc->limits, desc->limits_bytes); // of earlier headers, fewer
    else
        limits = desc->device->facts.limits;
    if (desc->kernel)
        SLRI_TRY(ask_kernel(desc, &p));
    if (limits.block_threads > SLRI_BLOCK_MAX_THREADS) // of every launch
        limits.block_threads = SLRI_BLOCK_MAX_THREADS;
    if (limits.block_shared_bytes > SLRI_GRID_MAX_SHARED_BYTES)
        limits.block_shared_bytes = SLRI_GRID_MAX_SHARED_BYTES;
    if (limits.block_threads == 0)
        return SLRI_FAIL(UNSUPPORTED, "the device runs no kernels: its limit of threads per block is 0");
    if (p.most_threads == 0 || p.most_threads > limits.block_threads)
        p.most_threads = limits.block_threads;
    // Of elements no more a block than a launch of one dimension would take.
    uint64_t row = p.m > UINT64_MAX / p.n ? UINT64_MAX : p.m * p.n;
    uint32_t table = slri_block_by_size(row > UINT64_MAX / p.planes ? UINT64_MAX : row * p.planes);
    if (p.k == 0 && desc->most_threads == 0 && p.most_threads > table)
        p.most_threads = table;
    return slri_tiling_choose(&p, &limits, out);
}

slr_status slr_tiling_compute_sized(const slr_tiling_desc *desc, slr_tiling *out, size_t bytes)
{
    if (!desc || !out)
        return SLRI_FAIL(INVALID, "slr_tiling_compute: %s is NULL", desc ? "out" : "desc");
    slr_tiling_desc whole;
    slr_tiling made;
    SLRI_TRY(SLRI_TAKE_DESC(slr_tiling_desc, &whole, desc));
    SLRI_TRY(check_tiling(&whole));
    SLRI_TRY(choose_tile(&whole, &made));
    return SLRI_GIVE_REPORT(slr_tiling, out, bytes, &made);
}

slr_status(slr_tiling_compute)(const slr_tiling_desc *desc, slr_tiling *out)
{
    return slr_tiling_compute_sized(desc, out, SLRI_FIRST_slr_tiling);
}

slr_status slr_tiling_plan_sized(slr_kernel *kernel, const uint64_t problem[3], slr_tiling *out, size_t bytes)
{
    slr_tiling_desc desc = SLR_TILING_DESC_INIT;
    if (!kernel || !problem)
        return SLRI_FAIL(INVALID, "slr_tiling_plan: %s is NULL", kernel ? "problem" : "kernel");
    desc.kernel = kernel;
    desc.n = problem[0];
    desc.m = problem[1] ? problem[1] : 1;
    desc.planes = problem[2];
    return slr_tiling_compute_sized(&desc, out, bytes);
}

slr_status(slr_tiling_plan)(slr_kernel *kernel, const uint64_t problem[3], slr_tiling *out)
{
    return slr_tiling_plan_sized(kernel, problem, out, SLRI_FIRST_slr_tiling);
}
