// SPDX-License-Identifier: Apache-2.0
/// A 64-bit hash for tables whose keys strangers may choose: SipHash-1-3 (J.-P. Aumasson and D. J. Bernstein) under a
/// secret of 128 bits. Who does not know the secret cannot choose keys that meet in one bucket, as can be done with a
/// multiplicative hash; CPython and Rust hash their tables with it for this reason. Inline: it is on the way of a
/// message.
#ifndef SLRI_BASE_KEY_HASH_H
#define SLRI_BASE_KEY_HASH_H

#include <stddef.h>
#include <stdint.h>

struct slri_key_secret {
    uint64_t word[2];
};

/// A fresh secret from the operating system.
void slri_key_secret_make(struct slri_key_secret *secret);

static inline uint64_t slri_key_rotated(uint64_t x, unsigned bits)
{
    return x << bits | x >> (64 - bits);
}

static inline void slri_key_round(uint64_t v[4])
{
    v[0] += v[1];
    v[2] += v[3];
    v[1] = slri_key_rotated(v[1], 13) ^ v[0];
    v[3] = slri_key_rotated(v[3], 16) ^ v[2];
    v[0] = slri_key_rotated(v[0], 32);
    v[2] += v[1];
    v[0] += v[3];
    v[1] = slri_key_rotated(v[1], 17) ^ v[2];
    v[3] = slri_key_rotated(v[3], 21) ^ v[0];
    v[2] = slri_key_rotated(v[2], 32);
}

static inline void slri_key_begin(const struct slri_key_secret *secret, uint64_t v[4])
{
    v[0] = secret->word[0] ^ 0x736f6d6570736575u;
    v[1] = secret->word[1] ^ 0x646f72616e646f6du;
    v[2] = secret->word[0] ^ 0x6c7967656e657261u;
    v[3] = secret->word[1] ^ 0x7465646279746573u;
}

static inline void slri_key_take(uint64_t v[4], uint64_t word)
{
    v[3] ^= word;
    slri_key_round(v);
    v[0] ^= word;
}

// The last word: the bytes that fill no word, and above them the length.
static inline uint64_t slri_key_end(uint64_t v[4], uint64_t last)
{
    slri_key_take(v, last);
    v[2] ^= 0xff;
    slri_key_round(v);
    slri_key_round(v);
    slri_key_round(v);
    return v[0] ^ v[1] ^ v[2] ^ v[3];
}

/// Of a number: that of its eight bytes, the lowest first.
static inline uint64_t slri_key_hash_u64(const struct slri_key_secret *secret, uint64_t number)
{
    uint64_t v[4];
    slri_key_begin(secret, v);
    slri_key_take(v, number);
    return slri_key_end(v, (uint64_t)8 << 56);
}

static inline uint64_t slri_key_hash_bytes(const struct slri_key_secret *secret, const void *data, size_t bytes)
{
    const uint8_t *in = data;
    uint64_t v[4], word = 0;
    slri_key_begin(secret, v);
    for (size_t i = 0; i < bytes; ++i) {
        word |= (uint64_t)in[i] << (i % 8 * 8);
        if (i % 8 == 7) {
            slri_key_take(v, word);
            word = 0;
        }
    }
    return slri_key_end(v, word | (uint64_t)bytes << 56);
}

#endif
