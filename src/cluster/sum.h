// SPDX-License-Identifier: Apache-2.0
/// A 64-bit checksum that keeps up with a file's pages: four lanes, each of which multiplies two words to 128 bits and
/// folds the product, as in wyhash (Wang Yi). It finds accidents (torn writes, flipped bits), not an attacker.
#ifndef SLRI_CLUSTER_SUM_H
#define SLRI_CLUSTER_SUM_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

enum { SLRI_SUM_LANES = 4 };

typedef struct slri_sum {
    uint64_t lane[SLRI_SUM_LANES];
    uint64_t words, rest;
    uint64_t half; // the first word of a pair whose second one has not come
} slri_sum;

static inline uint64_t slri_sum_mix(uint64_t a, uint64_t b)
{
#ifdef __SIZEOF_INT128__
    __extension__ const unsigned __int128 product = (unsigned __int128)a * b;
    return (uint64_t)product ^ (uint64_t)(product >> 64);
#else
    const uint64_t low_a = a & UINT32_MAX, high_a = a >> 32, low_b = b & UINT32_MAX, high_b = b >> 32;
    const uint64_t low = low_a * low_b, one = high_a * low_b + (low >> 32), other = low_a * high_b + (one & UINT32_MAX);
    return ((other << 32) | (low & UINT32_MAX)) ^ (high_a * high_b + (one >> 32) + (other >> 32));
#endif
}

static inline uint64_t slri_sum_read(const unsigned char *from)
{
    uint64_t word;
    memcpy(&word, from, sizeof word);
    return word;
}

static inline uint64_t slri_sum_pair(uint64_t lane, uint32_t index, uint64_t first, uint64_t second)
{
    static const uint64_t secrets[SLRI_SUM_LANES] = {0xa0761d6478bd642f, 0xe7037ed1a0b428db, 0x8ebc6af09c88c6e3,
                                                     0x589965cc75374cc3};
    return slri_sum_mix(first ^ secrets[index], second ^ lane) + first; // a product of 0 forgets nothing
}

static inline slri_sum slri_sum_begin(uint64_t seed)
{
    const uint64_t a = 0x9e3779b185ebca87, b = 0xc2b2ae3d27d4eb4f;
    return (slri_sum){.lane = {seed + a, seed ^ b, seed - b, seed - a}};
}

static inline void slri_sum_word(slri_sum *sum, const unsigned char *from)
{
    const uint32_t index = (uint32_t)(sum->words / 2 % SLRI_SUM_LANES);
    const uint64_t word = slri_sum_read(from);
    if (sum->words++ % 2 == 0)
        sum->half = word;
    else
        sum->lane[index] = slri_sum_pair(sum->lane[index], index, sum->half, word);
}

/// Adds bytes: a multiple of 8, or the last ones. How they are divided into calls makes no difference.
static inline void slri_sum_add(slri_sum *sum, const void *data, size_t bytes)
{
    enum { ALL = 16 * SLRI_SUM_LANES };
    const unsigned char *from = data;
    for (; bytes >= 8 && sum->words % (2 * SLRI_SUM_LANES) != 0; bytes -= 8, from += 8)
        slri_sum_word(sum, from);
    slri_sum local = *sum; // so that the lanes stay in registers
    for (; bytes >= ALL; bytes -= ALL, from += ALL, local.words += 2 * SLRI_SUM_LANES) {
        for (uint32_t i = 0; i < SLRI_SUM_LANES; ++i)
            local.lane[i] =
                slri_sum_pair(local.lane[i], i, slri_sum_read(from + 16 * i), slri_sum_read(from + 16 * i + 8));
    }
    *sum = local;
    for (; bytes >= 8; bytes -= 8, from += 8)
        slri_sum_word(sum, from);
    for (; bytes > 0; --bytes, ++from)
        sum->rest = (sum->rest ? sum->rest : 1) << 8 | *from; // a one in front of the bytes
}

static inline uint64_t slri_sum_end(const slri_sum *sum)
{
    uint64_t end = slri_sum_pair(sum->rest, 0, sum->words, sum->words % 2 ? sum->half : 0);
    for (uint32_t i = 0; i < SLRI_SUM_LANES; ++i)
        end = slri_sum_pair(end, i, sum->lane[i], i);
    return end;
}

static inline uint64_t slri_sum_of(uint64_t seed, const void *data, size_t bytes)
{
    slri_sum sum = slri_sum_begin(seed);
    slri_sum_add(&sum, data, bytes);
    return slri_sum_end(&sum);
}

// ---- rows ----------------------------------------------------------------------------------------------------------

/// The sum of rows, such as messages, which two who need it share: it costs a third less, and the sums of two spans of
/// rows give that of both. A row is taken in blocks of 64 bytes; a block's hash is added to the sum so far times a
/// number. The sum begins with 0.
enum { SLRI_ROW_BLOCK = 16 * SLRI_SUM_LANES };
#define SLRI_ROW_FACTOR UINT64_C(0x9e3779b97f4a7c15) // odd: no block is ever forgotten

// Each pair of words has secrets of its own, and none waits for another's product.
static inline uint64_t slri_row_block(const unsigned char *from, uint32_t pairs)
{
    static const uint64_t others[SLRI_SUM_LANES] = {0x1d8e4e27c47d124f, 0xeb44accab455d165, 0x9c6e6877736c46e3,
                                                    0x2f8d3c1a5b7e9064};
    uint64_t hash = 0;
    for (uint32_t i = 0; i < pairs; ++i)
        hash += slri_sum_pair(others[i], i, slri_sum_read(from + 16 * i), slri_sum_read(from + 16 * i + 8));
    return hash;
}

/// Adds `count` rows of `bytes` bytes each, without gaps.
static inline uint64_t slri_rows_add(uint64_t sum, const unsigned char *rows, uint32_t count, uint32_t bytes)
{
    const uint32_t rest = bytes % SLRI_ROW_BLOCK;
    for (; count > 0; --count) {
        for (uint32_t at = 0; at < bytes / SLRI_ROW_BLOCK; ++at, rows += SLRI_ROW_BLOCK)
            sum = sum * SLRI_ROW_FACTOR + slri_row_block(rows, SLRI_SUM_LANES);
        if (rest > 0) { // with zeros up to a whole pair
            unsigned char block[SLRI_ROW_BLOCK] = {0};
            memcpy(block, rows, rest);
            sum = sum * SLRI_ROW_FACTOR + slri_row_block(block, (rest + 15) / 16);
            rows += rest;
        }
    }
    return sum;
}

/// The sum of rows and of `count` rows behind them, whose own sum is `next`.
static inline uint64_t slri_rows_join(uint64_t sum, uint64_t next, uint32_t count, uint32_t bytes)
{
    uint64_t blocks = (uint64_t)count * ((bytes + SLRI_ROW_BLOCK - 1) / SLRI_ROW_BLOCK), factor = SLRI_ROW_FACTOR;
    for (; blocks > 0; blocks >>= 1, factor *= factor)
        sum *= blocks & 1 ? factor : 1;
    return sum + next;
}

/// The sum of messages' instances, in the messages' order. It begins with 0.
static inline uint64_t slri_instances_add(uint64_t sum, const uint32_t *instances, uint32_t count)
{
    for (uint32_t i = 0; i < count; ++i)
        sum = sum * SLRI_ROW_FACTOR + instances[i];
    return sum;
}

#endif
