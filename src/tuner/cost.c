// SPDX-License-Identifier: Apache-2.0
// What a candidate is expected to cost: its counted work, shared among the device's units. Only the order of candidates
// hangs on it, and what is measured corrects it (tune/guide.c).
#include "tuner/tuner.h"

#include <math.h>

enum {
    PREDICTING_SHARE = 20, // of the budget of time, in percent
    WALKED_STEPS = 4000000 // some tens of milliseconds; with slri_count's usual 400,000 long threads are unknown
};
// In instructions of the intermediate form. A barrier costs each thread so much: cores keep its registers there, and
// run the block's other threads.
static const double byte_cost = 0.5, block_cost = 400, barrier_cost = 20;
// A line that the first cache lacks, where a core runs the threads one after the other: a core's second cache answers
// after some 14 cycles.
static const double line_cost = 16;
// Where compiled code runs a row's threads as lanes of vectors. An instruction that has one result a row takes as long
// as a quarter of a vector: compilers move much of such code out of loops. A sum is loaded and stored.
static const double row_cost = 0.25, update_cost = 4;

// A vector is full only where the code has no shorter one.
static double cost_of_width(uint32_t width)
{
    return width == 1 ? 3 : width == 4 ? 1.3 : 1;
}

// A scattered access is one for each lane, and so is a division of integers: x86 and Arm's NEON have none of vectors.
static double cost_in_vectors(const struct slri_tuner_launch *launch, const struct slri_count *count, double lanes)
{
    double of_row = fmin(1, row_cost * lanes / launch->shape.block[0]);
    double of_threads = (double)(count->instructions - count->row_instructions);
    double divisions =
        (double)(count->divisions - count->row_divisions) * lanes + (double)count->row_divisions * of_row;
    return of_threads + (double)count->row_instructions * of_row + (double)count->updates * update_cost +
           (double)count->scattered * lanes + divisions * SLRI_TUNER_DIVISION_COST;
}

static double cost_of_instructions(const struct slri_tuner *tuner, const struct slri_tuner_launch *launch,
                                   const struct slri_count *count)
{
    const struct slri_facts *facts = &tuner->kernel->program->device->facts;
    return facts->device_class == SLR_DEVICE_CPU && facts->limits.lanes > 1 && !tuner->scatters
               ? cost_in_vectors(launch, count, facts->limits.lanes)
               : (double)count->instructions + (double)count->divisions * SLRI_TUNER_DIVISION_COST;
}

static double cost_of_launch(const struct slri_tuner *tuner, const struct slri_tuner_launch *launch,
                             const struct slri_count *count)
{
    const slr_shape *shape = &launch->shape;
    double blocks = (double)shape->grid[0] * shape->grid[1] * shape->grid[2];
    double units = tuner->units ? tuner->units : 1, rounds = ceil(blocks / units);
    // A row loads a place that is common to its threads once. Both counts are of samples, and rounded.
    double saved = (double)count->common_bytes * (1 - 1.0 / shape->block[0]);
    double bytes = fmax(0, (double)count->accessed_bytes - saved);
    double work = cost_of_instructions(tuner, launch, count) + bytes * byte_cost +
                  (double)count->barriers * barrier_cost + (double)count->missed_lines * line_cost;
    double of_block = work / blocks * cost_of_width(shape->vector_width) + block_cost;
    return rounds * of_block;
}

// The cache that the threads of a block use one after the other. 0: they run at once, as lanes of a GPU or of vectors.
static uint64_t cache_of_threads(const struct slri_tuner *tuner)
{
    const struct slri_facts *facts = &tuner->kernel->program->device->facts;
    return facts->device_class == SLR_DEVICE_SOFTWARE ? facts->limits.l1_bytes : 0;
}

// Of other GPUs slipring does not know how many warps a multiprocessor takes.
static bool has_warps(const struct slri_tuner *tuner)
{
    return tuner->kernel->program->device->facts.cuda_arch != 0;
}

static slr_status count_launch(const struct slri_tuner *tuner, const struct slri_tuner_launch *launch,
                               struct slri_count *count)
{
    const struct slri_count_wanted wanted = {WALKED_STEPS, cache_of_threads(tuner), has_warps(tuner)};
    return slri_launch_count(launch->kernel, &launch->shape, tuner->problem->args, NULL, &wanted, count);
}

void slri_tuner_find_scatter(struct slri_tuner *tuner, const struct slri_tuner_launch *launch)
{
    struct slri_count count = {0};
    tuner->scatters = count_launch(tuner, launch, &count) == SLR_OK && count.scattered > 0;
}

double slri_tuner_predict(void *user, uint64_t code)
{
    struct slri_tuner *tuner = user;
    struct slri_tuner_launch launch;
    struct slri_count count = {0};
    double cost = NAN;
    if (slri_tuner_has_spent(tuner, PREDICTING_SHARE) || slri_tuner_ready(tuner, code, &launch) != SLR_OK)
        return NAN;
    if (count_launch(tuner, &launch, &count) == SLR_OK && count.counted != SLRI_COUNT_UNKNOWN)
        cost = has_warps(tuner) ? slri_tuner_cost_in_warps(tuner, &launch, &count)
                                : cost_of_launch(tuner, &launch, &count);
    slri_tuner_unready(&launch);
    return cost;
}
