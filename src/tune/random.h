// SPDX-License-Identifier: Apache-2.0
// Numbers that a seed determines (splitmix64: G. Steele and others, "Fast splittable pseudorandom number generators",
// 2014).
#ifndef SLRI_TUNE_RANDOM_H
#define SLRI_TUNE_RANDOM_H

#include <stdint.h>

static inline uint64_t slri_tune_random(uint64_t *state)
{
    uint64_t z = *state += 0x9e3779b97f4a7c15u;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return z ^ z >> 31;
}

// From 0 to `below` - 1.
static inline uint64_t slri_tune_pick(uint64_t *state, uint64_t below)
{
    return slri_tune_random(state) % below;
}

#endif
