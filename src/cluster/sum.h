// SPDX-License-Identifier: Apache-2.0
/// A 64-bit checksum that keeps up with a file's pages: four lanes of multiplications, as in xxHash (Y. Collet). It
/// finds accidents (torn writes, flipped bits), not an attacker.
#ifndef SLRI_CLUSTER_SUM_H
#define SLRI_CLUSTER_SUM_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define SLRI_SUM_A 0x9e3779b185ebca87u
#define SLRI_SUM_B 0xc2b2ae3d27d4eb4fu

typedef struct slri_sum {
    uint64_t lane[4], words, rest;
} slri_sum;

static inline uint64_t slri_sum_mix(uint64_t lane, uint64_t word)
{
    lane += word * SLRI_SUM_B;
    lane = lane << 31 | lane >> 33;
    return lane * SLRI_SUM_A;
}

static inline slri_sum slri_sum_begin(uint64_t seed)
{
    return (slri_sum){.lane = {seed + SLRI_SUM_A, seed ^ SLRI_SUM_B, seed, seed - SLRI_SUM_A}};
}

static inline void slri_sum_word(slri_sum *sum, uint32_t lane, const unsigned char *from)
{
    uint64_t word;
    memcpy(&word, from, sizeof word);
    sum->lane[lane] = slri_sum_mix(sum->lane[lane], word);
}

/// Adds bytes: a multiple of 8, or the last ones. How they are divided into calls makes no difference.
static inline void slri_sum_add(slri_sum *sum, const void *data, size_t bytes)
{
    const unsigned char *from = data;
    for (; bytes >= 8 && (sum->words & 3) != 0; bytes -= 8, from += 8)
        slri_sum_word(sum, (uint32_t)(sum->words++ & 3), from);
    slri_sum local = *sum; // so that the lanes stay in registers
    for (; bytes >= 32; bytes -= 32, from += 32, local.words += 4) {
        for (uint32_t i = 0; i < 4; ++i)
            slri_sum_word(&local, i, from + 8 * i);
    }
    *sum = local;
    for (; bytes >= 8; bytes -= 8, from += 8)
        slri_sum_word(sum, (uint32_t)(sum->words++ & 3), from);
    for (; bytes > 0; --bytes, ++from)
        sum->rest = sum->rest << 8 | *from | (uint64_t)1 << 56;
}

static inline uint64_t slri_sum_end(const slri_sum *sum)
{
    uint64_t end = slri_sum_mix(sum->rest, sum->words);
    for (uint32_t i = 0; i < 4; ++i)
        end = slri_sum_mix(end, sum->lane[i]);
    end ^= end >> 33;
    end *= SLRI_SUM_B;
    return end ^ end >> 29;
}

static inline uint64_t slri_sum_of(uint64_t seed, const void *data, size_t bytes)
{
    slri_sum sum = slri_sum_begin(seed);
    slri_sum_add(&sum, data, bytes);
    return slri_sum_end(&sum);
}

#endif
