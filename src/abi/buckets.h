// SPDX-License-Identifier: Apache-2.0
// A histogram's layout and its buckets (base/histogram.h), for owners on a device too: in the kernel subset, behind
// abi/subset.h or a device's words. 64-bit words: the three below, then the buckets.
#ifndef SLRI_ABI_BUCKETS_H
#define SLRI_ABI_BUCKETS_H

#define HG_SUM 0u
#define HG_MOST 1u
#define HG_LEAST 2u // the largest ~value
#define HG_BUCKET(bucket) (3u + (bucket))

#define HG_BITS 6u
#define HG_BUCKETS ((64u - HG_BITS + 1u) << HG_BITS)
#define HG_WORDS HG_BUCKET(HG_BUCKETS)

// The bucket of a value: the HG_BITS bits below its highest one, behind how far they had to be shifted.
__device__ unsigned hg_bucket(unsigned long long value)
{
    unsigned high = (unsigned)(value >> 32u);
    unsigned bits = high != 0u ? 64u - (unsigned)__clz((int)high) : 32u - (unsigned)__clz((int)((unsigned)value | 1u));
    unsigned shift = bits > HG_BITS + 1u ? bits - (HG_BITS + 1u) : 0u;
    return (shift << HG_BITS) + (unsigned)(value >> shift);
}

#endif
