// SPDX-License-Identifier: Apache-2.0
// What lanes of a warp give each other: the one statement of it. The interpreter includes this text, and it stands in
// front of emitted kernels that use a warp's functions, so it needs no other header.
#ifndef SLRI_RUN_SLR_WARP_H
#define SLRI_RUN_SLR_WARP_H

#define SLRI_WARP_FN static inline __attribute__((always_inline, unused))

// ---- the lane that `own` reads from
// ----------------------------------------------------------------------------------

SLRI_WARP_FN uint32_t slri_source_SHUFFLE(uint32_t own, uint32_t by, uint32_t width)
{
    return (own & ~(width - 1)) + (by & (width - 1));
}

SLRI_WARP_FN uint32_t slri_source_SHUFFLE_UP(uint32_t own, uint32_t by, uint32_t width)
{
    return by <= (own & (width - 1)) ? own - by : own;
}

SLRI_WARP_FN uint32_t slri_source_SHUFFLE_DOWN(uint32_t own, uint32_t by, uint32_t width)
{
    return by <= width - 1 - (own & (width - 1)) ? own + by : own;
}

SLRI_WARP_FN uint32_t slri_source_SHUFFLE_XOR(uint32_t own, uint32_t by, uint32_t width)
{
    return (own ^ by) <= (own | (width - 1)) ? own ^ by : own;
}

SLRI_WARP_FN _Bool slri_is_width(uint32_t width)
{
    return width - 1 < 32 && (width & (width - 1)) == 0;
}

// ---- reductions
// ------------------------------------------------------------------------------------------------------

#define SLRI_WARP_JOINS(K, type)                                                                                       \
    SLRI_WARP_FN type slri_join_REDUCE_ADD_##K(type a, type b)                                                         \
    {                                                                                                                  \
        return (type)((uint32_t)a + (uint32_t)b);                                                                      \
    }                                                                                                                  \
    SLRI_WARP_FN type slri_join_REDUCE_MIN_##K(type a, type b)                                                         \
    {                                                                                                                  \
        return b < a ? b : a;                                                                                          \
    }                                                                                                                  \
    SLRI_WARP_FN type slri_join_REDUCE_MAX_##K(type a, type b)                                                         \
    {                                                                                                                  \
        return a < b ? b : a;                                                                                          \
    }                                                                                                                  \
    SLRI_WARP_FN type slri_join_REDUCE_AND_##K(type a, type b)                                                         \
    {                                                                                                                  \
        return a & b;                                                                                                  \
    }                                                                                                                  \
    SLRI_WARP_FN type slri_join_REDUCE_OR_##K(type a, type b)                                                          \
    {                                                                                                                  \
        return a | b;                                                                                                  \
    }                                                                                                                  \
    SLRI_WARP_FN type slri_join_REDUCE_XOR_##K(type a, type b)                                                         \
    {                                                                                                                  \
        return a ^ b;                                                                                                  \
    }
SLRI_WARP_JOINS(I32, int32_t)
SLRI_WARP_JOINS(U32, uint32_t)

#endif
