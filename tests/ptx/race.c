// SPDX-License-Identifier: Apache-2.0
// Two threads of a block that touch a byte, one of them to write, one of them plainly: barriers, releases that were
// acquired, and fences must order them, in whatever order they come here. By vector clocks (C. Flanagan and S. Freund,
// "FastTrack: efficient and precise dynamic race detection", 2009), of which a byte keeps its last writer and a few
// readers: so it may miss one, and reports none that is not there. A plain load beside a compare-and-swap is let be: it
// is how the loop begins that makes any operation of one. So are two stores of one value.
#include "tests/ptx/inside.h"

#include <stdlib.h>
#include <string.h>

#define READERS 3
#define MOST_WORDS 16384 // of 8 bytes, of which it is known who touched them; power of two
#define MOST_FLAGS 256   // likewise of places by which threads tell each other

struct touch {
    uint32_t clock, at; // 0: none; `at`: which instruction
    uint16_t thread;
    bool is_plain, is_swap;
};

struct byte {
    struct touch writer, reader[READERS];
    uint8_t value; // that was stored
};

struct word {
    uintptr_t at;
    uint32_t age; // another than the race's: none
    struct byte byte[8];
};

struct flag {
    uintptr_t at;
    uint32_t *clock; // what who reads it learns
};

struct ptx_race {
    uint32_t lanes, words, flags, age;
    uint32_t *clock, *fenced, *seen; // of each thread, a clock of each: its own, at its last fence, read since then
    uint32_t *ended;                 // of those that have: they are at each barrier from then on
    uint32_t *stored, *released;     // of each thread's last plain store to memory of all, and what any has released
    bool *has_fenced, *has_seen;
    struct word word[MOST_WORDS];
    struct flag flag[MOST_FLAGS];
};

#define ROW(rows, t) (&(rows)[(size_t)(t)*race->lanes])

static uint32_t hash_of(uintptr_t at, uint32_t room)
{
    return (uint32_t)(at * UINT64_C(0x9e3779b97f4a7c15) >> 40) % room;
}

static void join(struct ptx_race *race, uint32_t *to, const uint32_t *from)
{
    for (uint32_t i = 0; i < race->lanes; ++i)
        to[i] = to[i] > from[i] ? to[i] : from[i];
}

static void copy(struct ptx_race *race, uint32_t *to, const uint32_t *from)
{
    memcpy(to, from, race->lanes * sizeof *to);
}

struct ptx_race *ptx_race_make(uint32_t lanes)
{
    struct ptx_race *race = calloc(1, sizeof *race);
    size_t clocks = (size_t)lanes * lanes;
    race->lanes = lanes;
    race->clock = calloc(clocks, sizeof *race->clock);
    race->fenced = calloc(clocks, sizeof *race->fenced);
    race->seen = calloc(clocks, sizeof *race->seen);
    race->ended = calloc(lanes, sizeof *race->ended);
    race->stored = calloc(lanes, sizeof *race->stored);
    race->released = calloc(lanes, sizeof *race->released);
    race->has_fenced = calloc(lanes, 1);
    race->has_seen = calloc(lanes, 1);
    if (!race->clock || !race->fenced || !race->seen || !race->ended || !race->stored || !race->released ||
        !race->has_fenced || !race->has_seen)
        abort();
    return race;
}

static void forget_words(struct ptx_race *race)
{
    ++race->age;
    race->words = 0;
}

static void forget_flags(struct ptx_race *race)
{
    for (uint32_t i = 0; i < MOST_FLAGS; ++i) {
        free(race->flag[i].clock);
        race->flag[i] = (struct flag){0};
    }
    race->flags = 0;
}

void ptx_race_free(struct ptx_race *race)
{
    forget_flags(race);
    free(race->clock);
    free(race->fenced);
    free(race->seen);
    free(race->ended);
    free(race->stored);
    free(race->released);
    free(race->has_fenced);
    free(race->has_seen);
    free(race);
}

void ptx_race_begins(void)
{
    struct ptx_race *race = ptx_block->race;
    memset(race->clock, 0, (size_t)race->lanes * race->lanes * sizeof *race->clock);
    memset(race->ended, 0, race->lanes * sizeof *race->ended);
    memset(race->stored, 0, race->lanes * sizeof *race->stored);
    memset(race->released, 0, race->lanes * sizeof *race->released);
    memset(race->has_fenced, 0, race->lanes);
    memset(race->has_seen, 0, race->lanes);
    forget_words(race);
    forget_flags(race);
    for (uint32_t t = 0; t < race->lanes; ++t)
        ROW(race->clock, t)[t] = 1;
}

// ---- order ---------------------------------------------------------------------------------------------------------

void ptx_race_meet(struct ptx_lane *const *lane, uint32_t lanes)
{
    struct ptx_race *race = ptx_block->race;
    uint32_t *first = ROW(race->clock, lane[0]->number);
    for (uint32_t i = 1; i < lanes; ++i)
        join(race, first, ROW(race->clock, lane[i]->number));
    join(race, first, race->ended);
    for (uint32_t i = 1; i < lanes; ++i)
        copy(race, ROW(race->clock, lane[i]->number), first);
    for (uint32_t i = 0; i < lanes; ++i)
        ++ROW(race->clock, lane[i]->number)[lane[i]->number];
}

void ptx_race_end(const struct ptx_lane *lane)
{
    struct ptx_race *race = ptx_block->race;
    join(race, race->ended, ROW(race->clock, lane->number));
}

void ptx_race_fence(const struct ptx_lane *lane)
{
    struct ptx_race *race = ptx_block->race;
    uint32_t t = lane->number, *own = ROW(race->clock, t);
    if (race->has_seen[t])
        join(race, own, ROW(race->seen, t));
    race->has_seen[t] = false;
    copy(race, ROW(race->fenced, t), own);
    race->has_fenced[t] = true;
    ++own[t];
}

static struct flag *flag_of(struct ptx_race *race, uintptr_t at)
{
    uint32_t i = hash_of(at, MOST_FLAGS);
    while (race->flag[i].at != 0 && race->flag[i].at != at)
        i = (i + 1) % MOST_FLAGS;
    return &race->flag[i];
}

// What who reads the place learns: more of it by an atomic function, which is told on.
static void tell(struct ptx_race *race, uintptr_t at, const uint32_t *clock, bool adds)
{
    struct flag *flag = flag_of(race, at);
    if (flag->at == 0 && race->flags == MOST_FLAGS / 2) {
        forget_flags(race); // who acquires what is forgotten might be blamed: so all is
        forget_words(race);
        flag = flag_of(race, at);
    }
    if (flag->at == 0) {
        *flag = (struct flag){at, calloc(race->lanes, sizeof *flag->clock)};
        ++race->flags;
    }
    if (adds)
        join(race, flag->clock, clock);
    else
        copy(race, flag->clock, clock);
}

// A release, or a store that is not plain behind a fence. One that is neither ends what was told there.
void ptx_race_tell(const struct ptx_lane *lane, uintptr_t at, unsigned order, bool adds)
{
    struct ptx_race *race = ptx_block->race;
    uint32_t t = lane->number, *own = ROW(race->clock, t);
    if (order == PTX_RELEASE || order == PTX_ACQ_REL || order == PTX_SC) {
        tell(race, at, own, adds);
        ++own[t];
        return;
    }
    struct flag *flag = flag_of(race, at);
    if (race->has_fenced[t])
        tell(race, at, ROW(race->fenced, t), adds);
    else if (!adds && flag->at != 0)
        memset(flag->clock, 0, race->lanes * sizeof *flag->clock);
}

// An acquire, or what a later fence makes one.
void ptx_race_learn(const struct ptx_lane *lane, uintptr_t at, unsigned order)
{
    struct ptx_race *race = ptx_block->race;
    uint32_t t = lane->number;
    const struct flag *flag = flag_of(race, at);
    if (flag->at == 0)
        return;
    if (order == PTX_ACQUIRE || order == PTX_ACQ_REL || order == PTX_SC) {
        join(race, ROW(race->clock, t), flag->clock);
        return;
    }
    if (race->has_seen[t])
        join(race, ROW(race->seen, t), flag->clock);
    else
        copy(race, ROW(race->seen, t), flag->clock);
    race->has_seen[t] = true;
}

// ---- what a release is for ------------------------------------------------------------------------------------------

void ptx_race_stored(const struct ptx_lane *lane)
{
    struct ptx_race *race = ptx_block->race;
    race->stored[lane->number] = ROW(race->clock, lane->number)[lane->number];
}

void ptx_race_released(const struct ptx_lane *lane)
{
    struct ptx_race *race = ptx_block->race;
    join(race, race->released, ROW(race->clock, lane->number));
}

// Whether a release has anything to release.
bool ptx_race_owes(const struct ptx_lane *lane)
{
    const struct ptx_race *race = ptx_block->race;
    const uint32_t *own = ROW(race->clock, lane->number);
    for (uint32_t t = 0; t < race->lanes; ++t)
        if (race->stored[t] > race->released[t] && race->stored[t] <= own[t])
            return true;
    return false;
}

// ---- accesses ------------------------------------------------------------------------------------------------------

static struct word *word_of(struct ptx_race *race, uintptr_t at)
{
    uint32_t i = hash_of(at, MOST_WORDS);
    while (race->word[i].age == race->age && race->word[i].at != at)
        i = (i + 1) % MOST_WORDS;
    struct word *word = &race->word[i];
    if (word->age == race->age)
        return word;
    if (race->words == MOST_WORDS / 2) {
        forget_words(race);
        return word_of(race, at);
    }
    ++race->words;
    *word = (struct word){.at = at, .age = race->age};
    return word;
}

static void check(const struct ptx_lane *lane, const struct touch *was, const struct touch *now, const char *what)
{
    const struct ptx_race *race = ptx_block->race;
    if (was->clock != 0 && (was->is_plain || now->is_plain) && ROW(race->clock, lane->number)[was->thread] < was->clock)
        ptx_wrong(lane, PTX_WRONG, "a race: nothing orders it and %s of thread %u at line %u: %s", what, was->thread,
                  ptx_block->image->ins[was->at].line, ptx_block->image->ins[was->at].words);
}

// In place of one that is before it, or of the thread's own.
static void note_reader(const struct ptx_lane *lane, struct byte *byte, struct touch now)
{
    const struct ptx_race *race = ptx_block->race;
    const uint32_t *own = ROW(race->clock, lane->number);
    for (unsigned i = 0; i < READERS; ++i)
        if (byte->reader[i].clock <= own[byte->reader[i].thread] &&
            (now.is_plain || !byte->reader[i].is_plain || byte->reader[i].clock == 0)) {
            byte->reader[i] = now;
            return;
        }
    byte->reader[now.thread % READERS] = now;
}

void ptx_race_touch(const struct ptx_lane *lane, uintptr_t at, unsigned bytes, enum ptx_touch how, uint64_t value)
{
    const bool is_swap = how == PTX_SWAPS, writes = how != PTX_LOADS && how != PTX_LOOKS;
    struct ptx_race *race = ptx_block->race;
    struct word *word = word_of(race, at & ~(uintptr_t)7);
    const struct touch now = {ROW(race->clock, lane->number)[lane->number], ptx_block->at, (uint16_t)lane->number,
                              how == PTX_LOADS || how == PTX_STORES, is_swap};
    for (unsigned i = at % 8; i < at % 8 + bytes; ++i, value >>= 8) {
        struct byte *byte = &word->byte[i];
        bool repeats = how == PTX_STORES && byte->writer.is_plain && byte->value == (uint8_t)value;
        if (writes ? !repeats : !byte->writer.is_swap)
            check(lane, &byte->writer, &now, "a store");
        if (!writes) {
            note_reader(lane, byte, now);
            continue;
        }
        for (unsigned r = 0; r < READERS && !is_swap; ++r)
            check(lane, &byte->reader[r], &now, "a load");
        *byte = (struct byte){.writer = now, .value = (uint8_t)value};
    }
}
