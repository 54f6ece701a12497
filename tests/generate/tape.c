// SPDX-License-Identifier: Apache-2.0
#include "tape.h"

static uint64_t draw(tape *t) // splitmix64
{
    uint64_t z = t->random += UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return z ^ z >> 31;
}

void tape_seed(tape *t, uint64_t seed)
{
    t->length = t->at = t->spans = 0;
    t->random = seed;
    t->random = draw(t); // else neighbouring seeds would draw the same numbers, one place on
    t->records = true;
}

void tape_rewind(tape *t)
{
    t->at = t->spans = 0;
    t->records = false;
}

uint32_t tape_pick(tape *t, uint32_t most)
{
    if (t->records && t->length < TAPE_ROOM) {
        t->choice[t->length++] = (uint16_t)(draw(t) >> 40);
        t->at = t->length;
        return t->choice[t->length - 1] % most;
    }
    return t->at < t->length ? t->choice[t->at++] % most : 0;
}

void tape_note(tape *t, uint32_t first, bool is_statement)
{
    if (t->spans < TAPE_SPANS && t->at > first && t->at <= t->length)
        t->span[t->spans++] = (span){(uint16_t)first, (uint16_t)t->at, is_statement};
}
