// SPDX-License-Identifier: Apache-2.0
// Which tile a problem is cut into. Every tile that fits the limits is looked at. Those that keep the device busy come
// first: within a tenth of the busiest, the one that loads the fewest bytes for useful outputs wins. No figure stands
// for a device: limits are the caller's, and speeds of memory and of arithmetic are not needed for this order.
#include "tune/tiling.h"

#include "base/round.h"
#include "base/status.h"
#include "tune/suggest.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

enum {
    SIDES = 1024, // candidates for a side of a tile: as many as a block has threads may divide a dimension
    LARGEST_SIDE = 256,
    DEEPEST = 32,      // of a sum's part in shared memory
    MOST_OUTPUTS = 64, // a thread
    GRID_YZ = 65535,   // blocks along y and z that a launch takes
    WARP = 32          // threads of a warp, where the driver does not say
};

struct sides {
    uint32_t at[SIDES], count;
};

struct search {
    const struct slri_tiling_problem *problem;
    const slr_device_limits *limits;
    double least_busy; // second look: what is less busy is passed over
    double busiest;    // first look
    bool is_second;
    slr_tiling best;
    double best_cost; // bytes for each output, more where the device is less busy
    uint32_t best_resident;
    bool has_best, too_many; // `too_many`: blocks for a grid
};

static uint64_t parts(uint64_t whole, uint64_t part)
{
    return whole / part + (whole % part != 0);
}

static uint64_t least(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

// With 1 where nothing is said, blocks of one thread would seem as good as any other.
static uint32_t lanes_of(const slr_device_limits *limits)
{
    return limits->lanes ? limits->lanes : WARP;
}

// ---- candidates ----------------------------------------------------------------------------------------------------

static void add_side(struct sides *sides, uint32_t side)
{
    for (uint32_t i = 0; i < sides->count; ++i)
        if (sides->at[i] == side)
            return;
    if (sides->count < SIDES)
        sides->at[sides->count++] = side;
}

// Powers of two, what divides the dimension in steps of `step`, and all of it. None is larger than it. Along a row the
// step is 8, or every row of a tile would end within a vector; the number of rows and planes is free.
static struct sides sides_of(uint64_t dimension, uint32_t most, uint32_t step)
{
    struct sides sides = {.count = 0};
    for (uint32_t side = 1; side <= most && side <= dimension; side *= 2)
        add_side(&sides, side);
    for (uint32_t side = step; side <= most && side <= dimension; side += step)
        if (dimension % side == 0)
            add_side(&sides, side);
    if (dimension <= most)
        add_side(&sides, (uint32_t)dimension);
    return sides;
}

// ---- what a block takes --------------------------------------------------------------------------------------------

// Shared memory of a block; where memory has a first cache of known size instead, that.
static uint64_t shared_limit(const slr_device_limits *limits)
{
    return limits->l1_bytes && limits->l1_bytes < limits->block_shared_bytes ? limits->l1_bytes
                                                                             : limits->block_shared_bytes;
}

// A thread's outputs stay in registers, with a row and a column of its inputs, and addresses and counters.
static uint32_t registers_of(const struct slri_tiling_problem *p, uint32_t outputs)
{
    uint32_t words = (p->element_bytes + 3) / 4, side = 1;
    if (p->registers)
        return p->registers;
    if (p->k == 0)
        return 0;
    while (side * side < outputs)
        ++side;
    return outputs * words + 2 * side * words + 24;
}

static uint32_t fewest(uint32_t blocks, uint64_t all, uint64_t each) // each 0: no limit
{
    return all && each ? (uint32_t)least(blocks, all / each) : blocks;
}

// Blocks on a unit at once: by the rules of the capability where there is one, else by what the driver has said.
static uint32_t blocks_a_unit(const struct search *s, const slr_tiling *t, uint32_t threads, uint32_t registers)
{
    const slr_device_limits *l = s->limits;
    slr_occupancy_desc desc = SLR_OCCUPANCY_DESC_INIT;
    slr_occupancy occupancy;
    desc.capability = l->capability;
    desc.block_threads = threads;
    desc.registers = registers;
    desc.dynamic_shared_bytes = t->shared_bytes;
    if (l->capability && slr_occupancy_compute(&desc, &occupancy) == SLR_OK)
        return occupancy.blocks;
    if (!l->unit_threads)
        return 1; // nothing is said
    uint32_t blocks = l->unit_blocks ? l->unit_blocks : l->unit_threads;
    blocks = fewest(blocks, l->unit_threads, slri_round_up(threads, l->lanes ? l->lanes : 1));
    blocks = fewest(blocks, l->unit_registers, (uint64_t)registers * threads);
    return fewest(blocks, l->unit_shared_bytes, t->shared_bytes);
}

// ---- one tile ------------------------------------------------------------------------------------------------------

// How much of the device works on elements of the problem: whole tiles, whole warps, units with as much to do as
// others.
static bool measure(struct search *s, slr_tiling *t, uint32_t registers, double *busy)
{
    const struct slri_tiling_problem *p = s->problem;
    const uint32_t threads = t->threads[0] * t->threads[1] * t->threads[2],
                   units = s->limits->units ? s->limits->units : 1;
    const uint64_t across[3] = {parts(p->n, t->tile_n), parts(p->m, t->tile_m), parts(p->planes, t->tile_planes)};
    if (across[0] > INT32_MAX || across[1] > GRID_YZ || across[2] > GRID_YZ) {
        s->too_many = true;
        return false;
    }
    t->blocks_a_unit = blocks_a_unit(s, t, threads, registers);
    if (t->blocks_a_unit == 0)
        return false;
    for (int i = 0; i < 3; ++i)
        t->groups[i] = (uint32_t)across[i];
    double groups = (double)across[0] * (double)across[1] * (double)across[2];
    double outputs = (double)p->m * (double)p->n * (double)p->planes;
    double rounds = groups / units, whole_rounds = (double)(uint64_t)rounds + (rounds > (double)(uint64_t)rounds);
    t->waves = rounds / t->blocks_a_unit;
    t->wave_efficiency = rounds / whole_rounds;
    t->whole = outputs / (groups * t->tile_m * t->tile_n * t->tile_planes);
    *busy = t->whole * t->wave_efficiency * threads / (double)slri_round_up(threads, lanes_of(s->limits));
    return true;
}

// Of the same cost the one with more outputs per thread, which reads shared memory less often; then the one with more
// threads on a unit; then the one that is longer along the longer side.
static bool is_better_tiling(const struct search *s, const slr_tiling *t, double cost, uint32_t resident)
{
    if (cost != s->best_cost)
        return cost < s->best_cost;
    if (t->outputs_a_thread != s->best.outputs_a_thread)
        return t->outputs_a_thread > s->best.outputs_a_thread;
    if (resident != s->best_resident)
        return resident > s->best_resident;
    return s->problem->n >= s->problem->m ? t->tile_n > s->best.tile_n : t->tile_m > s->best.tile_m;
}

// The part of a block's time in which its threads compute: to start a block takes about as long as to run one warp
// more. PoCL takes 15 ns for each block, as for 60 threads that scale an element; `cpu` takes 4 ns, as for 8. Else a
// block of one warp, which leaves the smallest rest at the edges, would go before all others.
static double without_start(const slr_device_limits *limits, uint32_t threads)
{
    return (double)threads / (threads + lanes_of(limits));
}

// `traffic`: bytes that a block loads for each output.
static void consider(struct search *s, slr_tiling *t, uint32_t registers, double traffic)
{
    double busy;
    uint32_t threads = t->threads[0] * t->threads[1] * t->threads[2];
    if (!measure(s, t, registers, &busy))
        return;
    const double worth = s->problem->k ? busy : busy * without_start(s->limits, threads);
    if (!s->is_second) {
        s->busiest = worth > s->busiest ? worth : s->busiest;
        return;
    }
    const double cost = traffic / busy;
    const uint32_t resident = t->blocks_a_unit * threads;
    if (worth < s->least_busy || (s->has_best && !is_better_tiling(s, t, cost, resident)))
        return;
    s->best = *t;
    s->best_cost = cost;
    s->best_resident = resident;
    s->has_best = true;
}

// ---- products ------------------------------------------------------------------------------------------------------

// The deepest part of a sum for which two blocks' input fits, else one's.
static uint32_t depth_of(const struct search *s, uint32_t tm, uint32_t tn)
{
    const struct slri_tiling_problem *p = s->problem;
    const uint64_t room = shared_limit(s->limits);
    const uint64_t kept = s->limits->l1_bytes ? (uint64_t)tm * tn * p->element_bytes : 0; // outputs, in the cache, too
    for (int halves = 2; halves > 0; --halves)
        for (uint32_t depth = (uint32_t)least(p->k, DEEPEST); depth; depth = depth == 1 ? 0 : (depth + 1) / 2)
            if ((uint64_t)(tm + tn) * depth * p->element_bytes * p->stages + kept <= room / (uint32_t)halves)
                return depth;
    return 0;
}

static void try_threads(struct search *s, slr_tiling *t)
{
    const struct slri_tiling_problem *p = s->problem;
    const uint32_t outputs = t->tile_m * t->tile_n;
    const double traffic = (double)p->element_bytes * (t->tile_m + t->tile_n) / outputs;
    t->intensity = 2 / traffic;
    for (uint32_t each = 1; each <= MOST_OUTPUTS && each <= outputs; ++each) {
        if (outputs % each || outputs / each > p->most_threads)
            continue;
        t->threads[0] = outputs / each;
        t->threads[1] = t->threads[2] = 1;
        t->outputs_a_thread = each;
        consider(s, t, registers_of(p, each), traffic);
    }
}

static void look_at_products(struct search *s)
{
    const struct slri_tiling_problem *p = s->problem;
    const struct sides rows = sides_of(p->m, LARGEST_SIDE, 8), columns = sides_of(p->n, LARGEST_SIDE, 8);
    for (uint32_t i = 0; i < rows.count; ++i)
        for (uint32_t j = 0; j < columns.count; ++j) {
            slr_tiling t = {.tile_m = rows.at[i], .tile_n = columns.at[j], .tile_planes = 1};
            t.tile_k = depth_of(s, t.tile_m, t.tile_n);
            t.shared_bytes = (uint64_t)(t.tile_m + t.tile_n) * t.tile_k * p->element_bytes * p->stages;
            if (t.tile_k)
                try_threads(s, &t);
        }
}

// ---- one element a thread ------------------------------------------------------------------------------------------

static uint64_t with_halo(uint64_t dimension, uint32_t side, uint32_t radius)
{
    return dimension > 1 ? side + 2 * (uint64_t)radius : 1;
}

static void look_at_block(struct search *s, uint32_t x, uint32_t y, uint32_t z)
{
    const struct slri_tiling_problem *p = s->problem;
    const uint64_t threads = (uint64_t)x * y * z;
    const uint64_t loaded =
        with_halo(p->n, x, p->radius) * with_halo(p->m, y, p->radius) * with_halo(p->planes, z, p->radius);
    const uint64_t row = least(p->n, lanes_of(s->limits));
    slr_tiling t = {.tile_m = y,
                    .tile_n = x,
                    .tile_planes = z,
                    .threads = {x, y, z},
                    .outputs_a_thread = 1,
                    .shared_bytes = p->radius ? loaded * p->element_bytes * p->stages : 0};
    if (threads > p->most_threads || z > 64 || t.shared_bytes > shared_limit(s->limits))
        return;
    // A row that is shorter than a warp cuts what the warp loads into pieces.
    double traffic = (double)loaded / (double)threads * p->element_bytes * (x < row ? (double)row / x : 1);
    t.intensity = 1 / traffic;
    consider(s, &t, p->registers, traffic);
}

static void look_at_elements(struct search *s)
{
    const struct slri_tiling_problem *p = s->problem;
    const struct sides x = sides_of(p->n, p->most_threads, 8), y = sides_of(p->m, p->most_threads, 1),
                       z = sides_of(p->planes, p->most_threads, 1);
    if (p->block) {
        look_at_block(s, p->block, 1, 1);
        return;
    }
    for (uint32_t i = 0; i < x.count; ++i)
        for (uint32_t j = 0; j < y.count; ++j)
            for (uint32_t k = 0; k < z.count && (uint64_t)x.at[i] * y.at[j] <= p->most_threads; ++k)
                look_at_block(s, x.at[i], y.at[j], z.at[k]);
}

// ---- the choice ----------------------------------------------------------------------------------------------------

static void explain(const struct slri_tiling_problem *p, slr_tiling *t)
{
    size_t room = sizeof t->why;
    snprintf(t->why, room, "%.3g waves, units %.3g %% busy, %.3g %% of the tiles' elements in the problem; %.3g %s",
             t->waves, 100 * t->wave_efficiency, 100 * t->whole, t->intensity,
             p->k ? "flops per byte loaded" : "outputs per byte");
    if (t->shared_bytes)
        snprintf(t->why + strlen(t->why), room - strlen(t->why), "; %llu B of input at once",
                 (unsigned long long)t->shared_bytes);
}

slr_status slri_tiling_choose(const struct slri_tiling_problem *problem, const slr_device_limits *limits,
                              slr_tiling *out)
{
    struct search s = {.problem = problem, .limits = limits};
    for (int look = 0; look < 2; ++look) {
        s.is_second = look == 1;
        s.least_busy = 0.9 * s.busiest;
        if (problem->k)
            look_at_products(&s);
        else
            look_at_elements(&s);
    }
    if (!s.has_best && s.too_many)
        return SLRI_FAIL(INVALID, "%llu x %llu x %llu elements need more blocks than a grid has",
                         (unsigned long long)problem->planes, (unsigned long long)problem->m,
                         (unsigned long long)problem->n);
    if (!s.has_best)
        return SLRI_FAIL(UNSUPPORTED, "no tile fits: %u threads and %llu B of shared memory per block",
                         problem->most_threads, (unsigned long long)limits->block_shared_bytes);
    explain(problem, &s.best);
    *out = s.best;
    return SLR_OK;
}
