// SPDX-License-Identifier: Apache-2.0
// A launch on a GPU whose multiprocessors run warps: each takes its share of the blocks, as many at once as fit. What
// its units do for all its warps comes one after the other; what one warp waits for hides where there are others.
#include "tuner/tuner.h"

#include <slipring/occupancy.h>

#include <math.h>

enum { WARP_LANES = 32, USUAL_REGISTERS = 32, MOST_WARPS = 64 };

// Cycles of a multiprocessor's units: four warps begin an instruction in each; a sector is 32 bytes of the some 20 that
// the second cache gives each multiprocessor in a cycle; an atomic operation is done where the memory is.
static const double instruction_cycles = 0.25, sector_cycles = 1.5, pass_cycles = 1, update_cycles = 1,
                    block_cycles = 100;
// Cycles that one warp waits: for a result of its own, for global memory (some 600, of four loads at once), for shared
// memory, for the block's other warps.
static const double step_wait = 4, request_wait = 150, shared_wait = 15, barrier_wait = 40;

struct warps {
    double blocks, of_block, all;
    double resident; // blocks on a multiprocessor at once; 0: none fits
};

static double resident_blocks(const struct slri_tuner *tuner, const struct slri_tuner_launch *launch, uint32_t threads)
{
    slr_occupancy_desc desc = SLR_OCCUPANCY_DESC_INIT;
    slr_occupancy occupancy;
    desc.capability = tuner->kernel->program->device->facts.cuda_arch / 10;
    desc.block_threads = threads;
    desc.registers = tuner->registers ? tuner->registers : USUAL_REGISTERS; // it is not compiled yet: the default is
    desc.static_shared_bytes = launch->kernel->info.shared_bytes;
    desc.dynamic_shared_bytes = launch->shape.shared_bytes;
    if (slr_occupancy_compute(&desc, &occupancy) != SLR_OK)
        return fmax(1, floor((double)MOST_WARPS * WARP_LANES / threads));
    return occupancy.blocks;
}

static struct warps count_warps(const struct slri_tuner *tuner, const struct slri_tuner_launch *launch)
{
    const slr_shape *shape = &launch->shape;
    const uint32_t threads = shape->block[0] * shape->block[1] * shape->block[2];
    struct warps w = {.blocks = (double)shape->grid[0] * shape->grid[1] * shape->grid[2],
                      .of_block = ceil((double)threads / WARP_LANES),
                      .resident = resident_blocks(tuner, launch, threads)};
    w.all = w.blocks * w.of_block;
    return w;
}

double slri_tuner_cost_in_warps(const struct slri_tuner *tuner, const struct slri_tuner_launch *launch,
                                const struct slri_count *count)
{
    const slr_shape *shape = &launch->shape;
    const struct warps w = count_warps(tuner, launch);
    const double threads = w.blocks * shape->block[0] * shape->block[1] * shape->block[2];
    const double share = ceil(w.blocks / (tuner->units ? tuner->units : 1)); // of a multiprocessor, in blocks
    const struct slri_warp_requests *asked = &count->warps;
    if (w.resident == 0)
        return INFINITY;
    const double instructions = (double)count->instructions + (double)count->divisions * SLRI_TUNER_DIVISION_COST;
    const double steps = instructions / threads; // a lane that is not there takes its time, too
    const double requests = (double)asked->requests / w.all, shared = (double)asked->shared_requests / w.all;
    const double busy = steps * instruction_cycles + (double)asked->sectors / w.all * sector_cycles +
                        (double)asked->passes / w.all * pass_cycles + (double)asked->updates / w.all * update_cycles;
    const double waits = steps * step_wait + requests * request_wait + shared * shared_wait +
                         (double)count->barriers / threads * barrier_wait;
    return share * (w.of_block * busy + block_cycles) + ceil(share / w.resident) * waits;
}
