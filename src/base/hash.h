// SPDX-License-Identifier: Apache-2.0
/// A 128-bit hash for cache keys and checksums: SipHash-2-4 with 128-bit output and a fixed key (J.-P. Aumasson and
/// D. J. Bernstein, "SipHash: a fast short-input PRF", 2012).
///
/// Why not xxHash, which is faster: its header is a package (libxxhash-dev), and the library is to build on a machine
/// that has only cc and cmake. A few tens of kilobytes a compile are hashed; SipHash takes microseconds for them.
#ifndef SLRI_BASE_HASH_H
#define SLRI_BASE_HASH_H

#include <stddef.h>
#include <stdint.h>

typedef struct slri_hash {
    uint64_t v[4];
    uint64_t tail; // the bytes that do not fill a word yet, little-endian
    uint64_t bytes;
} slri_hash;

#define SLRI_HASH_HEX_BYTES 33 // 32 lower-case digits and the NUL

void slri_hash_init(slri_hash *hash);
void slri_hash_update(slri_hash *hash, const void *data, size_t bytes);

/// The length, then the data: so that the fields "ab", "c" and "a", "bc" differ.
void slri_hash_field(slri_hash *hash, const void *data, size_t bytes);

/// The digest of what was put in so far; the hash may go on.
void slri_hash_hex(const slri_hash *hash, char hex[SLRI_HASH_HEX_BYTES]);

#endif
