// SPDX-License-Identifier: Apache-2.0
// Whether a finding is the kernel's fault, or may be that of a shape, a size or contents that were made up.
#include "check/watch.h"

#define SHAPE (SLRI_FROM_AXES | SLRI_FROM_GRID | SLRI_FROM_BLOCK_DIM | SLRI_FROM_GRID_DIM)

enum { SURE_THREADS = 32 }; // whatever the block is, it has as many, at least nearly always

static bool is_origin(const uint32_t place[3])
{
    return place[0] == 0 && place[1] == 0 && place[2] == 0;
}

// A thread that is there whatever the shape is.
static bool is_sure(const struct slri_made *made, const struct slri_check_thread *by)
{
    return is_origin(by->block) && (is_origin(by->thread) || (made->axes == 1 && by->thread[0] < SURE_THREADS));
}

// Numbers and contents that loops of the kernel go by: how often is not seen in what they compute.
static uint64_t loops(const struct slri_run *run)
{
    uint64_t from = run->lessons->compared;
    for (uint32_t i = 0; i < run->slots; i++)
        from |= run->lessons->loops[i] ? SLRI_FROM_SLOT(i) : 0;
    return from & run->made->values;
}

// Numbers that a thread's place is compared with: buffers are as long as they say.
static uint64_t guards(const struct slri_run *run)
{
    uint64_t from = 0;
    for (uint32_t i = 0; i < run->slots; i++)
        from |= run->lessons->bound[i] || run->lessons->total[i] || run->lessons->nears[i] ? SLRI_FROM_SLOT(i) : 0;
    return from & run->made->values;
}

// What the dimensions of the shape, beside the thread's place, decide.
static uint64_t shape(const struct slri_made *made, uint64_t from, bool is_sure_place)
{
    uint64_t block = from & (is_sure_place ? SLRI_FROM_BLOCK_DIM : SLRI_FROM_BLOCK_DIM | SLRI_FROM_AXES);
    uint64_t grid = from & (is_sure_place ? SLRI_FROM_GRID_DIM : SLRI_FROM_GRID_DIM | SLRI_FROM_GRID);
    return (made->block && block ? SLRI_FROM_BLOCK_DIM : 0) | (made->grid && grid ? SLRI_FROM_GRID_DIM : 0);
}

static uint64_t of_access(const struct slri_run *run, const struct slri_evidence *e)
{
    const struct slri_made *made = run->made;
    uint64_t values = e->from & made->values;
    bool is_made = e->buffer != UINT32_MAX && (SLRI_FROM_BUFFER(e->buffer) & made->lengths);
    if (e->is_before && is_origin(e->by->block) && is_origin(e->by->thread))
        return values | loops(run);
    return values | loops(run) | shape(made, e->from, is_sure(made, e->by)) |
           (is_made ? SLRI_FROM_BUFFER(e->buffer) | guards(run) : 0);
}

static bool same_block(const struct slri_check_thread *a, const struct slri_check_thread *b)
{
    return a->block[0] == b->block[0] && a->block[1] == b->block[1] && a->block[2] == b->block[2];
}

// A kernel that asks for its thread's number is meant for several threads, one that asks for its block's for several
// blocks; along several axes the block's shape decides which threads are neighbours.
static uint64_t of_race(const struct slri_run *run, const struct slri_evidence *e)
{
    const struct slri_made *made = run->made;
    uint64_t from = e->from & made->values;
    bool is_within = same_block(e->by, e->other);
    bool needs_block = made->axes > 1 || (is_within && !made->uses_thread);
    if (made->block && needs_block)
        from |= SLRI_FROM_BLOCK_DIM;
    if (made->grid && !is_within && (!made->uses_block || (e->from & SLRI_FROM_GRID_DIM)))
        from |= SLRI_FROM_GRID_DIM;
    bool has_both = (e->from & SLRI_FROM_THREAD) && (e->from & SLRI_FROM_GRID);
    if (made->block && !is_within && has_both && !(e->from & SLRI_FROM_BLOCK_DIM))
        from |= SLRI_FROM_BLOCK_DIM; // blockIdx.x * 64 + threadIdx.x: blocks of 128 overlap
    return from;
}

static uint64_t of_unset(const struct slri_run *run, const struct slri_evidence *e)
{
    uint64_t from = (e->from & run->made->values) | loops(run);
    return from | (run->made->block && (e->from & SHAPE) ? SLRI_FROM_BLOCK_DIM | guards(run) : 0);
}

static uint64_t all_made(const struct slri_run *run)
{
    const struct slri_made *made = run->made;
    return made->values | (made->block ? SLRI_FROM_BLOCK_DIM : 0) | (made->grid ? SLRI_FROM_GRID_DIM : 0);
}

static uint64_t depends(const struct slri_run *run, const struct slri_evidence *e)
{
    const struct slri_made *made = run->made;
    switch (e->code) {
    case SLRI_C_OUTSIDE_BUFFER:
    case SLRI_C_OUTSIDE_ARRAY:
        return of_access(run, e);
    case SLRI_C_MISALIGNED:
        return e->from & made->values;
    case SLRI_C_RACE_SHARED:
    case SLRI_C_RACE_GLOBAL:
        return of_race(run, e);
    case SLRI_C_UNSET_SHARED:
        return of_unset(run, e);
    case SLRI_C_UNSET_VARIABLE:
    case SLRI_C_BARRIER_DIVERGED:
    case SLRI_C_BARRIER_PASSED:
    case SLRI_C_WARP_DIVERGED:
        return made->block && made->axes > 1 ? SLRI_FROM_BLOCK_DIM : 0;
    case SLRI_C_OVERFLOW:
    case SLRI_C_SHIFT:
    case SLRI_C_DIVISION_BY_ZERO:
        return (e->from & made->values) | loops(run) | shape(made, e->from, is_sure(made, e->by));
    case SLRI_C_ENDLESS:
        return e->from | made->values;
    case SLRI_C_ASSERTION:
    case SLRI_C_TRAPPED:
        return all_made(run);
    default:
        return 0;
    }
}

void slri_run_weigh(struct slri_run *run, const struct slri_evidence *evidence)
{
    run->findings->made = run->made != NULL ? depends(run, evidence) : 0;
}
