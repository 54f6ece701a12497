// SPDX-License-Identifier: Apache-2.0
// Reading a histogram: merging, quantiles.
#include "base/histogram.h"

#include <stddef.h>

#define LIES_AT(word, member) (offsetof(struct slri_histogram, member) == (word) * sizeof(uint64_t))
_Static_assert(LIES_AT(HG_SUM, sum) && LIES_AT(HG_MOST, most) && LIES_AT(HG_LEAST, least_inverted) &&
                   LIES_AT(HG_BUCKET(0), bucket) && sizeof(struct slri_histogram) == HG_WORDS * sizeof(uint64_t),
               "abi/buckets.h says where a device finds them");

void slri_histogram_merge(struct slri_histogram *into, const struct slri_histogram *from)
{
    // Relaxed, word by word: a value that is put in meanwhile may be in its bucket and not in the sum yet.
    for (size_t i = 0; i < HG_BUCKETS; ++i)
        into->bucket[i] += __atomic_load_n(&from->bucket[i], __ATOMIC_RELAXED);
    uint64_t most = __atomic_load_n(&from->most, __ATOMIC_RELAXED);
    uint64_t least_inverted = __atomic_load_n(&from->least_inverted, __ATOMIC_RELAXED);
    into->sum += __atomic_load_n(&from->sum, __ATOMIC_RELAXED);
    into->most = most > into->most ? most : into->most;
    into->least_inverted = least_inverted > into->least_inverted ? least_inverted : into->least_inverted;
}

static void raise_to(uint64_t *word, uint64_t value)
{
    if (value > *word)
        __atomic_store_n(word, value, __ATOMIC_RELAXED);
}

// Relaxed, as above: what is in its bucket and not in the other words yet is told of there the next time.
void slri_histogram_tell(struct slri_histogram *into, const struct slri_histogram *now, struct slri_histogram *told)
{
    uint64_t sum = __atomic_load_n(&now->sum, __ATOMIC_RELAXED), most = __atomic_load_n(&now->most, __ATOMIC_RELAXED);
    uint64_t least_inverted = __atomic_load_n(&now->least_inverted, __ATOMIC_RELAXED);
    uint32_t first = HG_BUCKETS, last = 0;
    // No value lies outside these: the histogram is 30 KiB, and its values mostly lie in a few powers of two.
    for (uint32_t i = hg_bucket(~least_inverted), end = hg_bucket(most); i <= end; ++i) {
        uint64_t count = __atomic_load_n(&now->bucket[i], __ATOMIC_RELAXED), more = count - told->bucket[i];
        if (more == 0)
            continue;
        told->bucket[i] = count;
        first = first < i ? first : i;
        last = i;
        if (into)
            __atomic_store_n(&into->bucket[i], into->bucket[i] + more, __ATOMIC_RELAXED);
    }
    if (into)
        __atomic_store_n(&into->sum, into->sum + (sum - told->sum), __ATOMIC_RELAXED);
    if (into && first != HG_BUCKETS) {
        uint64_t least = slri_histogram_first(first), greatest = slri_histogram_last(last);
        raise_to(&into->most, most > told->most || greatest > most ? most : greatest);
        raise_to(&into->least_inverted,
                 least_inverted > told->least_inverted || ~least > least_inverted ? least_inverted : ~least);
    }
    told->sum = sum;
    told->most = most;
    told->least_inverted = least_inverted;
}

uint64_t slri_histogram_first(uint32_t bucket)
{
    uint32_t half = 1u << HG_BITS;
    uint32_t shift = bucket < 2 * half ? 0 : bucket / half - 1;
    return (uint64_t)(bucket - shift * half) << shift;
}

uint64_t slri_histogram_last(uint32_t bucket)
{
    return bucket + 1 < HG_BUCKETS ? slri_histogram_first(bucket + 1) - 1 : UINT64_MAX;
}

uint64_t slri_histogram_count(const struct slri_histogram *h)
{
    uint64_t count = 0;
    for (size_t i = 0; i < HG_BUCKETS; ++i)
        count += h->bucket[i];
    return count;
}

uint64_t slri_histogram_least(const struct slri_histogram *h)
{
    return h->least_inverted || h->most ? ~h->least_inverted : 0;
}

uint64_t slri_histogram_mean(const struct slri_histogram *h)
{
    uint64_t count = slri_histogram_count(h);
    return count ? h->sum / count : 0;
}

static uint64_t clamp(const struct slri_histogram *h, uint64_t value)
{
    if (value > h->most)
        return h->most;
    return value < slri_histogram_least(h) ? slri_histogram_least(h) : value;
}

uint64_t slri_histogram_quantile(const struct slri_histogram *h, double part)
{
    uint64_t count = slri_histogram_count(h);
    double wanted = part * (double)count;
    uint64_t below = 0;
    for (uint32_t i = 0; i < HG_BUCKETS; ++i) {
        below += h->bucket[i];
        if (h->bucket[i] == 0 || (double)below < wanted)
            continue;
        uint64_t first = slri_histogram_first(i);
        return clamp(h, first + (slri_histogram_last(i) - first) / 2);
    }
    return h->most;
}
