// SPDX-License-Identifier: Apache-2.0
// Which block a launch of one dimension has, by its size and by occupancy. What is asked of a device is the caller's.
#include "tune/suggest.h"

#include "base/sized.h"
#include "base/status.h"

#include <inttypes.h>
#include <stdio.h>

static const struct {
    uint64_t below;
    uint32_t block;
} sizes[SLRI_BLOCK_RANGES] = {{512, 64}, {1024, 128}, {100001, 256}, {UINT64_MAX, 512}};

uint32_t slri_block_range(uint64_t threads)
{
    uint32_t at = 0;
    while (at + 1 < SLRI_BLOCK_RANGES && threads >= sizes[at].below)
        at++;
    return at;
}

uint32_t slri_block_by_size(uint64_t threads)
{
    return sizes[slri_block_range(threads)].block;
}

uint32_t slri_block_within(uint32_t block, uint32_t most, uint32_t multiple)
{
    while (block > most)
        block /= 2;
    return multiple && block > multiple ? block / multiple * multiple : block;
}

slr_status slri_block_by_occupancy(const slr_occupancy_desc *desc, uint32_t most, uint32_t *block)
{
    slr_occupancy_desc within = *desc;
    slr_best_block best;
    if (within.most_threads == 0 || within.most_threads > most)
        within.most_threads = most;
    SLRI_TRY(slr_occupancy_best(&within, 0, &best));
    *block = best.block_threads;
    return SLR_OK;
}

void slri_suggestion_explain(slr_suggestion *suggestion, uint64_t threads, uint32_t most)
{
    static const char *const lines[SLRI_BLOCK_RANGES] = {"64 below 512 threads", "128 below 1,024", "256 up to 100,000",
                                                         "512 above 100,000"};
    const char *line = lines[slri_block_range(threads)];
    uint32_t table = slri_block_by_size(threads), block = suggestion->shape.block[0];
    char *why = suggestion->why;
    switch (suggestion->rule) {
    case SLR_BLOCK_GIVEN:
        snprintf(why, sizeof suggestion->why, "the shape gives its block");
        break;
    case SLR_BLOCK_BY_OCCUPANCY:
        snprintf(why, sizeof suggestion->why,
                 "occupancy: of all blocks up to the size table's (%s), %u has the most threads on a multiprocessor",
                 line, block);
        break;
    default:
        snprintf(why, sizeof suggestion->why, "size table: %s%s", line,
                 table <= most ? "" : "; smaller, for the block's limit");
    }
}

// ---- without a device ----------------------------------------------------------------------------------------------

static slr_status suggest(const slr_occupancy_desc *desc, uint64_t threads, slr_suggestion *out)
{
    slr_best_block best;
    slr_occupancy occupancy;
    slr_occupancy_desc of_block = *desc;
    uint32_t block, table = slri_block_by_size(threads);
    SLRI_TRY(slr_occupancy_best(desc, 0, &best));
    SLRI_TRY(slri_block_by_occupancy(desc, table, &block));
    if (block == 0)
        return SLRI_FAIL(UNSUPPORTED,
                         "no block of this kernel can be launched: registers %u, static shared memory "
                         "%" PRIu64 " B, dynamic %" PRIu64 " B",
                         desc->registers, desc->static_shared_bytes, desc->dynamic_shared_bytes);
    of_block.block_threads = block;
    SLRI_TRY(slr_occupancy_compute(&of_block, &occupancy));
    uint64_t blocks = threads / block + (threads % block != 0);
    if (blocks > INT32_MAX)
        return SLRI_FAIL(INVALID, "%" PRIu64 " threads are more than 2^31 - 1 blocks of %u", threads, block);
    *out = (slr_suggestion){.shape = {{threads, 1, 1}, {block, 1, 1}, {(uint32_t)blocks, 1, 1}, 0, 0},
                            .rule = SLR_BLOCK_BY_OCCUPANCY,
                            .warps = (block + 31) / 32,
                            .by_size = slri_block_within(table, desc->most_threads ? desc->most_threads : table, 0),
                            .by_occupancy = best.block_threads,
                            .source = SLR_OCCUPANCY_COMPUTED,
                            .theoretical = occupancy.theoretical};
    out->shape.shared_bytes = (uint32_t)(desc->dynamic_shared_bytes + desc->dynamic_shared_thread_bytes * block);
    slri_suggestion_explain(out, threads, table);
    return SLR_OK;
}

slr_status slr_occupancy_suggest_sized(const slr_occupancy_desc *desc, uint64_t threads, slr_suggestion *out,
                                       size_t bytes)
{
    if (!desc || !out)
        return SLRI_FAIL(INVALID, "slr_occupancy_suggest: %s is NULL", desc ? "out" : "desc");
    if (threads == 0)
        return SLRI_FAIL(INVALID, "slr_occupancy_suggest: no threads");
    slr_occupancy_desc whole;
    slr_suggestion made = {0};
    SLRI_TRY(SLRI_TAKE_DESC(slr_occupancy_desc, &whole, desc));
    SLRI_TRY(suggest(&whole, threads, &made));
    return SLRI_GIVE_REPORT(slr_suggestion, out, bytes, &made);
}

slr_status(slr_occupancy_suggest)(const slr_occupancy_desc *desc, uint64_t threads, slr_suggestion *out)
{
    return slr_occupancy_suggest_sized(desc, threads, out, SLRI_FIRST_slr_suggestion);
}
