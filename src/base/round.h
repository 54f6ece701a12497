// SPDX-License-Identifier: Apache-2.0
/// Multiples.
#ifndef SLRI_BASE_ROUND_H
#define SLRI_BASE_ROUND_H

#include <stdint.h>

/// The least multiple of `to`, which is not 0, that is not below `value`. Neither it nor `value + to` may exceed 64
/// bits.
static inline uint64_t slri_round_up(uint64_t value, uint64_t to)
{
    return (value + to - 1) / to * to;
}

#endif
