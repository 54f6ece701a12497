// SPDX-License-Identifier: Apache-2.0
/// FNV-1a, 64 bits: against accidents, not against anybody.
#ifndef CHECKSUM_H
#define CHECKSUM_H

#include <stddef.h>
#include <stdint.h>

#define CHECKSUM_START 0xcbf29ce484222325u

/// Goes on from `sum` with `bytes` bytes.
static inline uint64_t checksum(uint64_t sum, const void *from, size_t bytes)
{
    const unsigned char *at = from;
    for (size_t i = 0; i < bytes; i++)
        sum = (sum ^ at[i]) * 0x100000001b3u;
    return sum;
}

#endif
