// SPDX-License-Identifier: Apache-2.0
// Who knows what of whom, by vector clocks (C. Flanagan and S. Freund, "FastTrack: efficient and precise dynamic race
// detection", 2009). An agent is a thread of the device, or the host. Of a byte its last writer and a few readers are
// kept: so a race may be missed, and none is reported that is not there.
#ifndef TESTS_PTX_CLOCKS_H
#define TESTS_PTX_CLOCKS_H

#include "tests/ptx/inside.h"

#define PTX_READERS 3

struct ptx_touch {
    uint32_t clock, at; // 0: none; `at`: what its owner says of the place
    uint16_t agent;
    bool is_plain, is_swap;
};

struct ptx_byte {
    struct ptx_touch writer, reader[PTX_READERS];
    uint8_t value; // that was stored
};

struct ptx_word {
    uintptr_t at;
    uint32_t age; // another than the clocks': none
    struct ptx_byte byte[8];
};

struct ptx_flag {
    uintptr_t at;
    uint32_t *clock; // what who reads it learns
};

struct ptx_clocks {
    uint32_t agents, room, words, most_words, flags, age; // `agents`: the first ones of `room` are in use
    // A value may be seen by another thread of this process before or after it is noted here: what was told is kept.
    bool keeps_told;
    const uint16_t *group;           // of each agent: those of one are let be; NULL: nobody is
    uint32_t *clock, *fenced, *seen; // of each agent, a clock of each: its own, at its last fence, read since then
    bool *has_fenced, *has_seen;
    struct ptx_word *word;
    struct ptx_flag *flag;
};

static inline uint32_t *ptx_row(const struct ptx_clocks *clocks, uint32_t *rows, uint32_t agent)
{
    return &rows[(size_t)agent * clocks->room];
}

void ptx_clocks_make(struct ptx_clocks *clocks, uint32_t room, uint32_t most_words);
void ptx_clocks_free(struct ptx_clocks *clocks);
void ptx_clocks_forget(struct ptx_clocks *clocks); // who touched what, and what was told
bool ptx_clocks_join(const struct ptx_clocks *clocks, uint32_t *to, const uint32_t *from); // whether it has changed

bool ptx_clocks_fence(struct ptx_clocks *clocks, uint32_t agent); // whether the agent has learned anything
// A release, or a store that is not plain behind a fence; `adds`: an atomic function.
void ptx_clocks_tell(struct ptx_clocks *clocks, uint32_t agent, uintptr_t at, unsigned order, bool adds);
// An acquire, or what a later fence makes one. Whether the agent has learned anything.
bool ptx_clocks_learn(struct ptx_clocks *clocks, uint32_t agent, uintptr_t at, unsigned order);

struct ptx_access {
    uint32_t agent, place;
    uintptr_t at;
    unsigned bytes;
    enum ptx_touch_kind how;
    uint64_t value;
};

// What else touched it and nothing orders; `what` says how. False: there is none.
bool ptx_clocks_touch(struct ptx_clocks *clocks, const struct ptx_access *access, struct ptx_touch *culprit,
                      const char **what);

#endif
