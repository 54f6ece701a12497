// SPDX-License-Identifier: Apache-2.0
// Blocks of a kernel that are on a multiprocessor at once: as many as each of its resources lets in. Rules and numbers
// are those of NVIDIA's programming guide (compute capabilities) for 7.0 and later.
#include "base/round.h"
#include "base/sized.h"
#include "base/status.h"

#include <slipring/limits.h>
#include <slipring/occupancy.h>

#include <stdbool.h>
#include <stddef.h>

#define KIB UINT64_C(1024)
enum {
    WARP = 32,
    BLOCK_THREADS = 1024,
    REGISTERS = 65536, // a multiprocessor, and a block
    THREAD_REGISTERS = 255,
    REGISTER_UNIT = 256, // a warp
    PARTITIONS = 4,      // of a multiprocessor: a warp's registers lie in one
    CARVEOUTS = 10,
    STATIC_KIB = 48, // of a block: static shared memory cannot be opted in to more, only dynamic can
};

static const struct capability {
    uint32_t number, threads, blocks;
    uint32_t barriers;                             // of a multiprocessor; 0: every block has 16 of its own
    uint32_t shared_unit, reserved_kib, block_kib; // the last: a block's, opted in, without the reserved
    uint32_t carveout_kib[CARVEOUTS];              // what shared memory may be of a multiprocessor's, ascending
    uint32_t carveouts;
} capabilities[] = {
    {70, 2048, 32, 0, 256, 0, 96, {0, 8, 16, 32, 64, 96}, 6},
    {75, 1024, 16, 0, 256, 0, 64, {32, 64}, 2},
    {80, 2048, 32, 0, 128, 1, 163, {0, 8, 16, 32, 64, 100, 132, 164}, 8},
    {86, 1536, 16, 0, 128, 1, 99, {0, 8, 16, 32, 64, 100}, 6},
    {87, 1536, 16, 0, 128, 1, 163, {0, 8, 16, 32, 64, 100, 132, 164}, 8},
    {89, 1536, 24, 0, 128, 1, 99, {0, 8, 16, 32, 64, 100}, 6},
    {90, 2048, 32, 64, 128, 1, 227, {0, 8, 16, 32, 64, 100, 132, 164, 196, 228}, 10},
    {100, 2048, 32, 64, 128, 1, 227, {0, 8, 16, 32, 64, 100, 132, 164, 196, 228}, 10},
    {103, 2048, 32, 64, 128, 1, 227, {0, 8, 16, 32, 64, 100, 132, 164, 196, 228}, 10},
    {110, 1536, 24, 24, 128, 1, 227, {0, 8, 16, 32, 64, 100, 132, 164, 196, 228}, 10},
    {120, 1536, 24, 24, 128, 1, 99, {0, 8, 16, 32, 64, 100}, 6},
    {121, 1536, 24, 24, 128, 1, 99, {0, 8, 16, 32, 64, 100}, 6},
};

static const struct capability *find(uint32_t number)
{
    for (size_t i = 0; i < sizeof capabilities / sizeof *capabilities; i++)
        if (capabilities[i].number == number)
            return &capabilities[i];
    return NULL;
}

static uint32_t warps_of(uint32_t threads)
{
    return (threads + WARP - 1) / WARP;
}

// ---- what each resource lets in ------------------------------------------------------------------------------------

static uint32_t by_warps(const struct capability *c, const slr_occupancy_desc *desc)
{
    uint32_t most = desc->most_threads && desc->most_threads < BLOCK_THREADS ? desc->most_threads : BLOCK_THREADS;
    return desc->block_threads > most ? 0 : c->threads / WARP / warps_of(desc->block_threads);
}

static uint32_t registers_of_warp(const slr_occupancy_desc *desc)
{
    return (uint32_t)slri_round_up((uint64_t)desc->registers * WARP, REGISTER_UNIT);
}

// The check at launch counts a block's warps in whole rows of partitions.
static uint32_t by_registers(const slr_occupancy_desc *desc)
{
    uint32_t warps = warps_of(desc->block_threads), of_warp;
    if (desc->registers > THREAD_REGISTERS)
        return 0;
    of_warp = registers_of_warp(desc);
    if (of_warp * slri_round_up(warps, PARTITIONS) > REGISTERS)
        return 0;
    return of_warp ? REGISTERS / PARTITIONS / of_warp * PARTITIONS / warps : SLR_OCCUPANCY_UNLIMITED;
}

// The smallest carve-out that holds so many bytes, or the largest.
static uint64_t carveout(const struct capability *c, uint64_t bytes)
{
    uint32_t at = 0;
    while (at + 1 < c->carveouts && c->carveout_kib[at] * KIB < bytes)
        at++;
    return c->carveout_kib[at] * KIB;
}

static uint64_t dynamic_of_block(const slr_occupancy_desc *desc)
{
    return desc->dynamic_shared_bytes + desc->dynamic_shared_thread_bytes * desc->block_threads;
}

static uint64_t shared_of_block(const struct capability *c, const slr_occupancy_desc *desc)
{
    uint64_t asked = desc->static_shared_bytes + dynamic_of_block(desc);
    return slri_round_up(asked + c->reserved_kib * KIB, c->shared_unit);
}

// Shared memory of the multiprocessor: what is preferred, unless one block needs more.
static uint64_t shared_of_all(const struct capability *c, const slr_occupancy_desc *desc, uint64_t of_block)
{
    uint64_t all = c->carveout_kib[c->carveouts - 1] * KIB;
    uint64_t preferred = desc->carveout_percent ? carveout(c, all * desc->carveout_percent / 100) : all;
    return preferred >= of_block ? preferred : carveout(c, of_block);
}

static bool fits_block(const struct capability *c, const slr_occupancy_desc *desc)
{
    const uint64_t most = c->block_kib * KIB;
    return desc->static_shared_bytes <= STATIC_KIB * KIB && desc->dynamic_shared_thread_bytes <= most &&
           dynamic_of_block(desc) <= most - desc->static_shared_bytes;
}

static uint32_t by_shared(const struct capability *c, const slr_occupancy_desc *desc)
{
    if (!fits_block(c, desc))
        return 0;
    uint64_t of_block = shared_of_block(c, desc);
    return of_block ? (uint32_t)(shared_of_all(c, desc, of_block) / of_block) : SLR_OCCUPANCY_UNLIMITED;
}

// ---- all together --------------------------------------------------------------------------------------------------

// What the driver keeps is a block's too: of `blocks` equal parts, in whole units, it and the static part are taken.
static uint64_t dynamic_left(const struct capability *c, const slr_occupancy_desc *desc, uint32_t blocks)
{
    if (blocks == 0)
        return 0;
    uint64_t of_block = shared_of_block(c, desc), part = shared_of_all(c, desc, of_block) / blocks;
    uint64_t most = (c->block_kib + c->reserved_kib) * KIB, taken = desc->static_shared_bytes + c->reserved_kib * KIB;
    part = (part < most ? part : most) / c->shared_unit * c->shared_unit;
    return part > taken ? part - taken : 0;
}

static void compute(const struct capability *c, const slr_occupancy_desc *desc, slr_occupancy *out)
{
    out->by_warps = by_warps(c, desc);
    out->by_registers = by_registers(desc);
    out->by_shared = by_shared(c, desc);
    out->by_blocks = c->blocks;
    out->by_barriers = c->barriers ? c->barriers / (desc->barriers ? desc->barriers : 1) : SLR_OCCUPANCY_UNLIMITED;
    const uint32_t each[] = {out->by_warps, out->by_registers, out->by_shared, out->by_blocks, out->by_barriers};
    out->blocks = SLR_OCCUPANCY_UNLIMITED;
    for (size_t i = 0; i < sizeof each / sizeof *each; i++)
        out->blocks = each[i] < out->blocks ? each[i] : out->blocks;
    for (size_t i = 0; i < sizeof each / sizeof *each; i++)
        out->limits |= each[i] == out->blocks ? 1u << i : 0;
    out->warps = out->blocks * warps_of(desc->block_threads);
    out->max_warps = c->threads / WARP;
    out->theoretical = (double)out->warps / out->max_warps;
    out->registers_allocated = registers_of_warp(desc) * warps_of(desc->block_threads);
    out->shared_allocated = shared_of_block(c, desc);
    out->dynamic_shared_left = dynamic_left(c, desc, out->blocks);
}

static slr_status take(uint32_t number, const struct capability **out)
{
    *out = find(number);
    if (!*out)
        return SLRI_FAIL(
            UNSUPPORTED,
            "compute capability %u.%u is not known: 7.0, 7.5, 8.0, 8.6, 8.7, 8.9, 9.0, 10.0, 10.3, 11.0, 12.0, "
            "12.1 are",
            number / 10, number % 10);
    return SLR_OK;
}

static slr_status check(const slr_occupancy_desc *desc, const struct capability **out)
{
    if (desc->block_threads == 0 || desc->carveout_percent > 100)
        return SLRI_FAIL(INVALID, "slr_occupancy_desc: %u threads a block and a carve-out of %u %%",
                         desc->block_threads, desc->carveout_percent);
    return take(desc->capability, out);
}

slr_status slr_occupancy_compute_sized(const slr_occupancy_desc *desc, slr_occupancy *out, size_t bytes)
{
    if (!desc || !out)
        return SLRI_FAIL(INVALID, "slr_occupancy_compute: %s is NULL", desc ? "out" : "desc");
    slr_occupancy_desc whole;
    slr_occupancy made = {0};
    const struct capability *capability;
    SLRI_TRY(SLRI_TAKE_DESC(slr_occupancy_desc, &whole, desc));
    SLRI_TRY(check(&whole, &capability));
    compute(capability, &whole, &made);
    return SLRI_GIVE_REPORT(slr_occupancy, out, bytes, &made);
}

slr_status(slr_occupancy_compute)(const slr_occupancy_desc *desc, slr_occupancy *out)
{
    return slr_occupancy_compute_sized(desc, out, SLRI_FIRST_slr_occupancy);
}

// ---- the best block ------------------------------------------------------------------------------------------------

static void consider_block(const struct capability *c, slr_occupancy_desc *desc, uint32_t threads, slr_best_block *best)
{
    slr_occupancy at = {0};
    desc->block_threads = threads;
    compute(c, desc, &at);
    best->candidates[best->candidate_count++] = (slr_block_candidate){threads, at.blocks};
    if (at.blocks * threads <= best->blocks * best->block_threads)
        return; // of as many threads the larger block stays
    best->block_threads = threads;
    best->blocks = at.blocks;
    best->theoretical = at.theoretical;
}

static void find_best(const struct capability *c, slr_occupancy_desc *desc, uint32_t multiple, slr_best_block *best)
{
    uint32_t most = desc->most_threads && desc->most_threads < BLOCK_THREADS ? desc->most_threads : BLOCK_THREADS;
    if (most % multiple)
        consider_block(c, desc, most, best);
    for (uint32_t threads = most / multiple * multiple; threads; threads -= multiple)
        consider_block(c, desc, threads, best);
    best->grid_min = best->blocks * desc->multiprocessors;
}

slr_status slr_occupancy_best_sized(const slr_occupancy_desc *desc, uint32_t multiple, slr_best_block *out,
                                    size_t bytes)
{
    if (!desc || !out)
        return SLRI_FAIL(INVALID, "slr_occupancy_best: %s is NULL", desc ? "out" : "desc");
    if (multiple % WARP)
        return SLRI_FAIL(INVALID, "slr_occupancy_best: a multiple of %u; expected 0, 32, 64 and so on", multiple);
    slr_occupancy_desc whole;
    slr_best_block best = {0};
    const struct capability *capability;
    SLRI_TRY(SLRI_TAKE_DESC(slr_occupancy_desc, &whole, desc));
    whole.block_threads = WARP;
    SLRI_TRY(check(&whole, &capability));
    find_best(capability, &whole, multiple ? multiple : WARP, &best);
    return SLRI_GIVE_REPORT(slr_best_block, out, bytes, &best);
}

slr_status(slr_occupancy_best)(const slr_occupancy_desc *desc, uint32_t multiple, slr_best_block *out)
{
    return slr_occupancy_best_sized(desc, multiple, out, SLRI_FIRST_slr_best_block);
}

// ---- limits --------------------------------------------------------------------------------------------------------

slr_status slr_capability_get_limits_sized(uint32_t capability, slr_device_limits *out, size_t bytes)
{
    const struct capability *c;
    if (!out)
        return SLRI_FAIL(INVALID, "slr_capability_get_limits: out is NULL");
    SLRI_TRY(take(capability, &c));
    const slr_device_limits whole = {.lanes = WARP,
                                     .capability = capability,
                                     .block_threads = BLOCK_THREADS,
                                     .unit_threads = c->threads,
                                     .unit_blocks = c->blocks,
                                     .unit_registers = REGISTERS,
                                     .block_shared_bytes = c->block_kib * KIB,
                                     .unit_shared_bytes = c->carveout_kib[c->carveouts - 1] * KIB};
    return SLRI_GIVE_REPORT(slr_device_limits, out, bytes, &whole);
}

slr_status(slr_capability_get_limits)(uint32_t capability, slr_device_limits *out)
{
    return slr_capability_get_limits_sized(capability, out, SLRI_FIRST_slr_device_limits);
}
