// SPDX-License-Identifier: Apache-2.0
// A plain load beside a compare-and-swap is let be: it is how the loop begins that makes any operation of one. So are
// two stores of one value.
#include "tests/ptx/clocks.h"

#include <stdlib.h>
#include <string.h>

#define MOST_FLAGS 1024 // places by which agents tell each other; power of two

static uint32_t hash_of(uintptr_t at, uint32_t room)
{
    return (uint32_t)(at * UINT64_C(0x9e3779b97f4a7c15) >> 40) % room;
}

bool ptx_clocks_join(const struct ptx_clocks *clocks, uint32_t *to, const uint32_t *from)
{
    bool is_more = false;
    for (uint32_t i = 0; i < clocks->agents; ++i) {
        is_more |= from[i] > to[i];
        to[i] = to[i] > from[i] ? to[i] : from[i];
    }
    return is_more;
}

static void copy(const struct ptx_clocks *clocks, uint32_t *to, const uint32_t *from)
{
    memcpy(to, from, clocks->agents * sizeof *to);
}

static void *zeroed(size_t count, size_t size)
{
    void *made = calloc(count, size);
    if (!made)
        abort();
    return made;
}

void ptx_clocks_make(struct ptx_clocks *clocks, uint32_t room, uint32_t most_words)
{
    size_t all = (size_t)room * room;
    *clocks = (struct ptx_clocks){.room = room, .most_words = most_words, .age = 1};
    clocks->clock = zeroed(all, sizeof *clocks->clock);
    clocks->fenced = zeroed(all, sizeof *clocks->fenced);
    clocks->seen = zeroed(all, sizeof *clocks->seen);
    clocks->has_fenced = zeroed(room, 1);
    clocks->has_seen = zeroed(room, 1);
    clocks->word = zeroed(most_words, sizeof *clocks->word);
    clocks->flag = zeroed(MOST_FLAGS, sizeof *clocks->flag);
}

static void forget_words(struct ptx_clocks *clocks)
{
    ++clocks->age;
    clocks->words = 0;
}

// Who acquires what is forgotten might be blamed: so all is.
void ptx_clocks_forget(struct ptx_clocks *clocks)
{
    for (uint32_t i = 0; i < MOST_FLAGS; ++i) {
        free(clocks->flag[i].clock);
        clocks->flag[i] = (struct ptx_flag){0};
    }
    clocks->flags = 0;
    forget_words(clocks);
}

void ptx_clocks_free(struct ptx_clocks *clocks)
{
    ptx_clocks_forget(clocks);
    free(clocks->clock);
    free(clocks->fenced);
    free(clocks->seen);
    free(clocks->has_fenced);
    free(clocks->has_seen);
    free(clocks->word);
    free(clocks->flag);
}

// ---- order ---------------------------------------------------------------------------------------------------------

bool ptx_clocks_fence(struct ptx_clocks *clocks, uint32_t agent)
{
    uint32_t *own = ptx_row(clocks, clocks->clock, agent);
    bool is_more = clocks->has_seen[agent] && ptx_clocks_join(clocks, own, ptx_row(clocks, clocks->seen, agent));
    clocks->has_seen[agent] = false;
    copy(clocks, ptx_row(clocks, clocks->fenced, agent), own);
    clocks->has_fenced[agent] = true;
    ++own[agent];
    return is_more;
}

static struct ptx_flag *flag_of(struct ptx_clocks *clocks, uintptr_t at)
{
    uint32_t i = hash_of(at, MOST_FLAGS);
    while (clocks->flag[i].at != 0 && clocks->flag[i].at != at)
        i = (i + 1) % MOST_FLAGS;
    return &clocks->flag[i];
}

// What who reads the place learns: more of it by an atomic function, which is told on.
static void tell(struct ptx_clocks *clocks, uintptr_t at, const uint32_t *clock, bool adds)
{
    struct ptx_flag *flag = flag_of(clocks, at);
    if (flag->at == 0 && clocks->flags == MOST_FLAGS / 2) {
        ptx_clocks_forget(clocks);
        flag = flag_of(clocks, at);
    }
    if (flag->at == 0) {
        *flag = (struct ptx_flag){at, zeroed(clocks->room, sizeof *flag->clock)};
        ++clocks->flags;
    }
    if (adds || clocks->keeps_told)
        ptx_clocks_join(clocks, flag->clock, clock);
    else
        copy(clocks, flag->clock, clock);
}

// A store that neither is a release nor is behind a fence ends what was told there.
void ptx_clocks_tell(struct ptx_clocks *clocks, uint32_t agent, uintptr_t at, unsigned order, bool adds)
{
    uint32_t *own = ptx_row(clocks, clocks->clock, agent);
    if (order == PTX_RELEASE || order == PTX_ACQ_REL || order == PTX_SC) {
        tell(clocks, at, own, adds);
        ++own[agent];
        return;
    }
    struct ptx_flag *flag = flag_of(clocks, at);
    if (clocks->has_fenced[agent])
        tell(clocks, at, ptx_row(clocks, clocks->fenced, agent), adds);
    else if (!adds && !clocks->keeps_told && flag->at != 0)
        memset(flag->clock, 0, clocks->agents * sizeof *flag->clock);
}

bool ptx_clocks_learn(struct ptx_clocks *clocks, uint32_t agent, uintptr_t at, unsigned order)
{
    const struct ptx_flag *flag = flag_of(clocks, at);
    if (flag->at == 0)
        return false;
    if (order == PTX_ACQUIRE || order == PTX_ACQ_REL || order == PTX_SC)
        return ptx_clocks_join(clocks, ptx_row(clocks, clocks->clock, agent), flag->clock);
    if (clocks->has_seen[agent])
        ptx_clocks_join(clocks, ptx_row(clocks, clocks->seen, agent), flag->clock);
    else
        copy(clocks, ptx_row(clocks, clocks->seen, agent), flag->clock);
    clocks->has_seen[agent] = true;
    return false;
}

// ---- accesses ------------------------------------------------------------------------------------------------------

static struct ptx_word *word_of(struct ptx_clocks *clocks, uintptr_t at)
{
    uint32_t i = hash_of(at, clocks->most_words);
    while (clocks->word[i].age == clocks->age && clocks->word[i].at != at)
        i = (i + 1) % clocks->most_words;
    struct ptx_word *word = &clocks->word[i];
    if (word->age == clocks->age)
        return word;
    if (clocks->words == clocks->most_words / 2) {
        forget_words(clocks);
        return word_of(clocks, at);
    }
    ++clocks->words;
    *word = (struct ptx_word){.at = at, .age = clocks->age};
    return word;
}

static bool is_race(const struct ptx_clocks *clocks, const struct ptx_touch *was, const struct ptx_touch *now)
{
    if (was->clock == 0 || (!was->is_plain && !now->is_plain) ||
        (clocks->group && clocks->group[was->agent] == clocks->group[now->agent]))
        return false;
    return ptx_row(clocks, clocks->clock, now->agent)[was->agent] < was->clock;
}

// In place of one that is before it, or of the agent's own.
static void note_reader(const struct ptx_clocks *clocks, struct ptx_byte *byte, struct ptx_touch now)
{
    const uint32_t *own = ptx_row(clocks, clocks->clock, now.agent);
    for (unsigned i = 0; i < PTX_READERS; ++i)
        if (byte->reader[i].clock <= own[byte->reader[i].agent] &&
            (now.is_plain || !byte->reader[i].is_plain || byte->reader[i].clock == 0)) {
            byte->reader[i] = now;
            return;
        }
    byte->reader[now.agent % PTX_READERS] = now;
}

bool ptx_clocks_touch(struct ptx_clocks *clocks, const struct ptx_access *access, struct ptx_touch *culprit,
                      const char **what)
{
    const bool is_swap = access->how == PTX_SWAPS, writes = access->how != PTX_LOADS && access->how != PTX_LOOKS;
    struct ptx_word *word = word_of(clocks, access->at & ~(uintptr_t)7);
    const struct ptx_touch now = {ptx_row(clocks, clocks->clock, access->agent)[access->agent], access->place,
                                  (uint16_t)access->agent, access->how == PTX_LOADS || access->how == PTX_STORES,
                                  is_swap};
    const bool told = flag_of(clocks, access->at)->at != 0;
    uint64_t value = access->value;
    for (unsigned i = access->at % 8; i < access->at % 8 + access->bytes; ++i, value >>= 8) {
        struct ptx_byte *byte = &word->byte[i];
        bool repeats = access->how == PTX_STORES && byte->writer.is_plain && byte->value == (uint8_t)value;
        *what = "a store";
        *culprit = byte->writer;
        // By a store that tells others something, and that a strong load has found, a plain load finds it, too.
        bool is_told = clocks->keeps_told && !writes && !culprit->is_plain && told;
        if ((writes ? !repeats : !byte->writer.is_swap) && !is_told && is_race(clocks, culprit, &now))
            return true;
        if (!writes) {
            note_reader(clocks, byte, now);
            continue;
        }
        *what = "a load";
        for (unsigned r = 0; r < PTX_READERS && !is_swap; ++r) {
            *culprit = byte->reader[r];
            if (is_race(clocks, culprit, &now))
                return true;
        }
        *byte = (struct ptx_byte){.writer = now, .value = (uint8_t)value};
    }
    return false;
}
