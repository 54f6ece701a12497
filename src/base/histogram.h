// SPDX-License-Identifier: Apache-2.0
/// A log-linear histogram of 64-bit values. Values below 128 have a bucket each; from there on each power of two is cut
/// into 64, so a value read out of a bucket's middle is within 1/128 (0.8 %) of any that was put in, over all 64 bits.
///
/// All zero is empty. One writer; readers at any time, on any thread, merge it into one of their own.
#ifndef SLRI_BASE_HISTOGRAM_H
#define SLRI_BASE_HISTOGRAM_H

#include "abi/subset.h"

#include "abi/buckets.h"

#include <stdint.h>

struct slri_histogram { // abi/buckets.h
    uint64_t sum, most;
    uint64_t least_inverted; // the largest ~value
    uint64_t bucket[HG_BUCKETS];
};

/// Puts a value in. By the one writer; relaxed, for the numbers guard nothing.
static inline void slri_histogram_add(struct slri_histogram *h, uint64_t value)
{
    uint64_t *bucket = &h->bucket[hg_bucket(value)];
    __atomic_store_n(bucket, *bucket + 1, __ATOMIC_RELAXED);
    __atomic_store_n(&h->sum, h->sum + value, __ATOMIC_RELAXED);
    if (value > h->most)
        __atomic_store_n(&h->most, value, __ATOMIC_RELAXED);
    if (~value > h->least_inverted)
        __atomic_store_n(&h->least_inverted, ~value, __ATOMIC_RELAXED);
}

/// Adds what `from` holds by now to `into`, which is the caller's own.
void slri_histogram_merge(struct slri_histogram *into, const struct slri_histogram *from);

/// Adds what `now` holds by now and `told` does not, to `into`, whose one writer the caller is; NULL: to none. Behind
/// it `told`, which only the caller uses, holds that, too. `now` only grows. The smallest and the largest value are
/// exact where they are new in `now`, and else within 1/64.
void slri_histogram_tell(struct slri_histogram *into, const struct slri_histogram *now, struct slri_histogram *told);

/// The values that a bucket stands for: from the first to the last, both included.
uint64_t slri_histogram_first(uint32_t bucket);
uint64_t slri_histogram_last(uint32_t bucket);

/// How many values it holds, the smallest and the largest exactly, the mean of all. 0 of an empty one. Of a histogram
/// that nobody writes, as are the next.
uint64_t slri_histogram_count(const struct slri_histogram *h);
uint64_t slri_histogram_least(const struct slri_histogram *h);
uint64_t slri_histogram_mean(const struct slri_histogram *h);

/// The smallest value that at least `part` (0 to 1) of all do not exceed, within 0.8 %: the middle of its bucket, and
/// never below the smallest or above the largest. 0 of an empty one.
uint64_t slri_histogram_quantile(const struct slri_histogram *h, double part);

#endif
