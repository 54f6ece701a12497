// SPDX-License-Identifier: Apache-2.0
// Two threads of a block that touch a byte, one of them to write, one of them plainly: barriers, releases that were
// acquired, and fences must order them, in whatever order they come here. across.c asks the same of blocks and the
// host.
#include "tests/ptx/across.h"
#include "tests/ptx/clocks.h"

#include <stdlib.h>
#include <string.h>

#define MOST_WORDS 16384 // of 8 bytes, of which it is known who touched them; power of two

struct ptx_race {
    struct ptx_clocks of;
    uint32_t *ended;             // of those that have: they are at each barrier from then on
    uint32_t *stored, *released; // of each thread's last plain store to memory of all, and what any has released
};

static uint32_t *row(const struct ptx_race *race, const struct ptx_lane *lane)
{
    return ptx_row(&race->of, race->of.clock, lane->number);
}

struct ptx_race *ptx_race_make(uint32_t lanes)
{
    struct ptx_race *race = calloc(1, sizeof *race);
    if (!race)
        abort();
    ptx_clocks_make(&race->of, lanes, MOST_WORDS);
    race->of.agents = lanes;
    race->ended = calloc(lanes, sizeof *race->ended);
    race->stored = calloc(lanes, sizeof *race->stored);
    race->released = calloc(lanes, sizeof *race->released);
    if (!race->ended || !race->stored || !race->released)
        abort();
    return race;
}

void ptx_race_free(struct ptx_race *race)
{
    ptx_clocks_free(&race->of);
    free(race->ended);
    free(race->stored);
    free(race->released);
    free(race);
}

void ptx_race_begins(void)
{
    struct ptx_race *race = ptx_block->race;
    const uint32_t lanes = race->of.agents;
    memset(race->of.clock, 0, (size_t)lanes * lanes * sizeof *race->of.clock);
    memset(race->ended, 0, lanes * sizeof *race->ended);
    memset(race->stored, 0, lanes * sizeof *race->stored);
    memset(race->released, 0, lanes * sizeof *race->released);
    memset(race->of.has_fenced, 0, lanes);
    memset(race->of.has_seen, 0, lanes);
    ptx_clocks_forget(&race->of);
    for (uint32_t t = 0; t < lanes; ++t)
        ptx_row(&race->of, race->of.clock, t)[t] = 1;
}

// ---- order ---------------------------------------------------------------------------------------------------------

void ptx_race_meet(struct ptx_lane *const *lane, uint32_t lanes)
{
    struct ptx_race *race = ptx_block->race;
    uint32_t *first = row(race, lane[0]);
    for (uint32_t i = 1; i < lanes; ++i)
        ptx_clocks_join(&race->of, first, row(race, lane[i]));
    ptx_clocks_join(&race->of, first, race->ended);
    for (uint32_t i = 1; i < lanes; ++i)
        memcpy(row(race, lane[i]), first, race->of.agents * sizeof *first);
    for (uint32_t i = 0; i < lanes; ++i)
        ++row(race, lane[i])[lane[i]->number];
    ptx_across_meet(lane, lanes);
}

void ptx_race_end(const struct ptx_lane *lane)
{
    struct ptx_race *race = ptx_block->race;
    ptx_clocks_join(&race->of, race->ended, row(race, lane));
}

// For who asks what an instruction is for (mutants.sh).
static void note(bool matters)
{
    if (matters)
        __atomic_store_n(&ptx_block->image->ins[ptx_block->at].matters, true, __ATOMIC_RELAXED);
}

void ptx_race_fence(const struct ptx_lane *lane, unsigned scope)
{
    note(ptx_clocks_fence(&ptx_block->race->of, lane->number));
    if (scope != PTX_CTA)
        note(ptx_across_fence(lane));
}

void ptx_race_tell(const struct ptx_lane *lane, uintptr_t at, const struct ptx_ins *ins, bool adds)
{
    ptx_clocks_tell(&ptx_block->race->of, lane->number, at, ins->order, adds);
    if (ins->scope != PTX_CTA)
        ptx_across_tell(lane, at, ins->order, adds);
}

void ptx_race_learn(const struct ptx_lane *lane, uintptr_t at, const struct ptx_ins *ins)
{
    note(ptx_clocks_learn(&ptx_block->race->of, lane->number, at, ins->order));
    if (ins->scope != PTX_CTA)
        note(ptx_across_learn(lane, at, ins->order));
}

// ---- what a release is for ------------------------------------------------------------------------------------------

void ptx_race_stored(const struct ptx_lane *lane)
{
    struct ptx_race *race = ptx_block->race;
    race->stored[lane->number] = row(race, lane)[lane->number];
}

void ptx_race_released(const struct ptx_lane *lane)
{
    struct ptx_race *race = ptx_block->race;
    ptx_clocks_join(&race->of, race->released, row(race, lane));
}

// Whether a release has anything to release.
bool ptx_race_owes(const struct ptx_lane *lane)
{
    const struct ptx_race *race = ptx_block->race;
    const uint32_t *own = row(race, lane);
    for (uint32_t t = 0; t < race->of.agents; ++t)
        if (race->stored[t] > race->released[t] && race->stored[t] <= own[t])
            return true;
    return false;
}

// ---- accesses ------------------------------------------------------------------------------------------------------

void ptx_race_touch(const struct ptx_lane *lane, uintptr_t at, unsigned bytes, enum ptx_touch_kind how, uint64_t value)
{
    const struct ptx_access access = {lane->number, ptx_block->at, at, bytes, how, value};
    struct ptx_touch was;
    const char *what;
    if (ptx_clocks_touch(&ptx_block->race->of, &access, &was, &what))
        ptx_wrong(lane, PTX_WRONG, "a race: nothing orders it and %s of thread %u at line %u: %s", what, was.agent,
                  ptx_block->image->ins[was.at].line, ptx_block->image->ins[was.at].words);
    if (!ptx_is_shared(at))
        ptx_across_touch(lane, &access);
}
