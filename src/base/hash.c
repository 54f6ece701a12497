// SPDX-License-Identifier: Apache-2.0
// SipHash-2-4 with 128-bit output. The key is fixed, 00 01 … 0f as in the authors' test vectors: who can write the
// cache folder needs no collision.
#include "base/hash.h"

#include <stdio.h>

static uint64_t rotated(uint64_t x, unsigned bits)
{
    return x << bits | x >> (64 - bits);
}

static void rounds(uint64_t v[4], unsigned count)
{
    for (unsigned i = 0; i < count; i++) {
        v[0] += v[1];
        v[2] += v[3];
        v[1] = rotated(v[1], 13) ^ v[0];
        v[3] = rotated(v[3], 16) ^ v[2];
        v[0] = rotated(v[0], 32);
        v[2] += v[1];
        v[0] += v[3];
        v[1] = rotated(v[1], 17) ^ v[2];
        v[3] = rotated(v[3], 21) ^ v[0];
        v[2] = rotated(v[2], 32);
    }
}

static void take_word(uint64_t v[4], uint64_t word)
{
    v[3] ^= word;
    rounds(v, 2);
    v[0] ^= word;
}

void slri_hash_init(slri_hash *hash)
{
    const uint64_t key[2] = {0x0706050403020100u, 0x0f0e0d0c0b0a0908u};
    *hash = (slri_hash){.v = {
                            key[0] ^ 0x736f6d6570736575u,
                            key[1] ^ 0x646f72616e646f6du ^ 0xee, // 0xee: 128 bits of output
                            key[0] ^ 0x6c7967656e657261u,
                            key[1] ^ 0x7465646279746573u,
                        }};
}

void slri_hash_update(slri_hash *hash, const void *data, size_t bytes)
{
    const uint8_t *in = data;
    for (size_t i = 0; i < bytes; i++) {
        hash->tail |= (uint64_t)in[i] << (hash->bytes % 8 * 8);
        if (++hash->bytes % 8 == 0) {
            take_word(hash->v, hash->tail);
            hash->tail = 0;
        }
    }
}

void slri_hash_field(slri_hash *hash, const void *data, size_t bytes)
{
    uint8_t length[8];
    for (unsigned i = 0; i < 8; i++)
        length[i] = (uint8_t)((uint64_t)bytes >> (i * 8));
    slri_hash_update(hash, length, sizeof length);
    slri_hash_update(hash, data, bytes);
}

void slri_hash_hex(const slri_hash *hash, char hex[SLRI_HASH_HEX_BYTES])
{
    uint64_t v[4] = {hash->v[0], hash->v[1], hash->v[2], hash->v[3]};
    uint64_t digest[2];
    take_word(v, hash->tail | hash->bytes << 56);
    v[2] ^= 0xee;
    for (unsigned half = 0; half < 2; half++) {
        rounds(v, 4);
        digest[half] = v[0] ^ v[1] ^ v[2] ^ v[3];
        v[1] ^= 0xdd;
    }
    for (unsigned i = 0; i < 16; i++)
        snprintf(hex + 2 * i, 3, "%02x", (unsigned)(digest[i / 8] >> (i % 8 * 8) & 0xff));
}
