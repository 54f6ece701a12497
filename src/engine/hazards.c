// SPDX-License-Identifier: Apache-2.0
#include "engine/hazards.h"

static bool overlap(const struct slri_hazard_use *a, const struct slri_hazard_use *b)
{
    return a->memory == b->memory && a->at < b->at + b->bytes && b->at < a->at + a->bytes;
}

static bool covers(const struct slri_hazard_use *a, const struct slri_hazard_use *b)
{
    return a->memory == b->memory && a->at <= b->at && a->at + a->bytes >= b->at + b->bytes;
}

// Two that only read, or tell, do not meet. Kernels tell in words that they change by atomics.
static bool must_follow(const struct slri_hazard_use *before, const struct slri_hazard_use *next)
{
    const uint32_t both = before->how | next->how;
    return both != SLRI_READS && both != SLRI_TELLS && !(before->seen_by & next->stage) && overlap(before, next);
}

static void name_range(struct slri_hazard_barrier *barrier, const struct slri_hazard_use *before,
                       const struct slri_hazard_use *next)
{
    barrier->from |= before->stage;
    barrier->to |= next->stage;
    if (barrier->ranges < SLRI_MOST_NAMED)
        barrier->range[barrier->ranges] = (struct slri_hazard_range){*before, next->stage};
    ++barrier->ranges;
}

// What a new write covers is known by it alone, and the same read is one.
static void note_use(struct slri_hazards *hazards, const struct slri_hazard_use *next)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < hazards->uses; ++i) {
        const struct slri_hazard_use *before = &hazards->use[i];
        const bool is_same = before->how == next->how && before->stage == next->stage && before->seen_by == 0;
        if (covers(next, before) && (next->how & SLRI_WRITES || is_same))
            continue;
        if (kept != i)
            hazards->use[kept] = *before;
        ++kept;
    }
    hazards->use[kept] = *next;
    hazards->uses = kept + 1;
}

// All that came before is behind one barrier.
static void end_all(struct slri_hazards *hazards, struct slri_hazard_barrier *barrier)
{
    barrier->from = barrier->to = hazards->stages;
    barrier->ranges = SLRI_MOST_NAMED + 1;
    slri_hazards_clear(hazards);
}

static void end_needed(struct slri_hazards *hazards, const struct slri_hazard_use *use, uint32_t uses,
                       struct slri_hazard_barrier *barrier)
{
    for (uint32_t i = 0; i < hazards->uses; ++i) {
        uint32_t seen_by = 0;
        for (uint32_t k = 0; k < uses; ++k)
            if (must_follow(&hazards->use[i], &use[k])) {
                name_range(barrier, &hazards->use[i], &use[k]);
                seen_by |= use[k].stage;
            }
        hazards->use[i].seen_by |= seen_by;
    }
}

void slri_hazards_clear(struct slri_hazards *hazards)
{
    hazards->uses = 0;
    hazards->is_behind_list = false;
}

bool slri_hazards_next(struct slri_hazards *hazards, const struct slri_hazard_use *use, uint32_t uses,
                       struct slri_hazard_barrier *barrier)
{
    barrier->from = barrier->to = barrier->ranges = 0;
    if (hazards->is_behind_list || hazards->uses + uses > SLRI_MOST_USES)
        end_all(hazards, barrier);
    else
        end_needed(hazards, use, uses, barrier);
    for (uint32_t k = 0; k < uses; ++k) {
        note_use(hazards, &use[k]);
        hazards->told_by |= use[k].is_viewed && use[k].how != SLRI_READS ? use[k].stage : 0;
    }
    hazards->barriers += barrier->ranges != 0;
    return barrier->ranges != 0;
}

bool slri_hazards_next_list(struct slri_hazards *hazards, struct slri_hazard_barrier *barrier)
{
    const bool waits = hazards->is_behind_list || hazards->uses != 0;
    if (waits)
        end_all(hazards, barrier);
    hazards->barriers += waits;
    hazards->is_behind_list = true;
    return waits;
}
