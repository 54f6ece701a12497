// SPDX-License-Identifier: Apache-2.0
// Integers. What wraps is computed unsigned.
#include "tests/ptx/alu.h"

typedef uint16_t u16;
typedef uint32_t u32;
typedef uint64_t u64;
typedef int16_t s16;
typedef int32_t s32;
typedef int64_t s64;
__extension__ typedef unsigned __int128 u128;
__extension__ typedef __int128 s128;

#define A(T) ((T)v[0])
#define B(T) ((T)v[1])
#define C(T) ((T)v[2])

// A signed result is widened as such.
#define WIDE_u16(x) ((u64)(u16)(x))
#define WIDE_u32(x) ((u64)(u32)(x))
#define WIDE_u64(x) ((u64)(x))
#define WIDE_s16(x) ((u64)(s64)(s16)(x))
#define WIDE_s32(x) ((u64)(s64)(s32)(x))
#define WIDE_s64(x) ((u64)(x))

#define NEGATIVE_u16(x) false
#define NEGATIVE_u32(x) false
#define NEGATIVE_u64(x) false
#define NEGATIVE_s16(x) ((s16)(x) < 0)
#define NEGATIVE_s32(x) ((s32)(x) < 0)
#define NEGATIVE_s64(x) ((s64)(x) < 0)

// T: the type, D: twice as wide, bits: how wide.
#define OF_TYPE(T, D, bits)                                                                                            \
    PTX_FN(add_##T, WIDE_##T(v[0] + v[1]))                                                                             \
    PTX_FN(sub_##T, WIDE_##T(v[0] - v[1]))                                                                             \
    PTX_FN(mul_lo_##T, WIDE_##T(v[0] * v[1]))                                                                          \
    PTX_FN(mul_hi_##T, WIDE_##T(((D)A(T) * (D)B(T)) >> (bits)))                                                        \
    PTX_FN(mad_lo_##T, WIDE_##T(v[0] * v[1] + v[2]))                                                                   \
    PTX_FN(mad_hi_##T, WIDE_##T((u64)(((D)A(T) * (D)B(T)) >> (bits)) + v[2]))                                          \
    PTX_FN(div_##T, B(T) == 0                             ? WIDE_##T(-1)                                               \
                    : NEGATIVE_##T(v[1]) && B(T) == (T)-1 ? WIDE_##T(0 - v[0])                                         \
                                                          : WIDE_##T(A(T) / B(T)))                                     \
    PTX_FN(rem_##T, B(T) == 0 ? WIDE_##T(v[0]) : NEGATIVE_##T(v[1]) && B(T) == (T)-1 ? 0 : WIDE_##T(A(T) % B(T)))      \
    PTX_FN(min_##T, WIDE_##T(A(T) < B(T) ? A(T) : B(T)))                                                               \
    PTX_FN(max_##T, WIDE_##T(A(T) > B(T) ? A(T) : B(T)))                                                               \
    PTX_FN(sad_##T, WIDE_##T(v[2] + (A(T) > B(T) ? v[0] - v[1] : v[1] - v[0])))                                        \
    PTX_FN(shr_##T, (u32)v[1] >= (bits) ? (NEGATIVE_##T(v[0]) ? WIDE_##T(-1) : 0) : WIDE_##T(A(T) >> (u32)v[1]))

OF_TYPE(u16, u32, 16)
OF_TYPE(s16, s32, 16)
OF_TYPE(u32, u64, 32)
OF_TYPE(s32, s64, 32)
OF_TYPE(u64, u128, 64)
OF_TYPE(s64, s128, 64)

#define OF_WIDE(T, D)                                                                                                  \
    PTX_FN(mul_wide_##T, (D)A(T) * (D)B(T))                                                                            \
    PTX_FN(mad_wide_##T, (u64)((D)A(T) * (D)B(T)) + v[2])
OF_WIDE(u16, u32)
OF_WIDE(s16, s32)
OF_WIDE(u32, u64)
OF_WIDE(s32, s64)

#define OF_SIGNED(T)                                                                                                   \
    PTX_FN(neg_##T, WIDE_##T(0 - v[0]))                                                                                \
    PTX_FN(abs_##T, WIDE_##T(A(T) < 0 ? 0 - v[0] : v[0]))
OF_SIGNED(s16)
OF_SIGNED(s32)
OF_SIGNED(s64)

// ---- carries -------------------------------------------------------------------------------------------------------

// Of 32 bits: the sum, and whether it wraps.
static uint64_t carried(struct ptx_lane *lane, uint64_t sum, bool keeps)
{
    if (keeps)
        lane->carry = sum >> 32 & 1;
    return (u32)sum;
}

#define IN (lane->carry)
#define LOW ((u64)(u32)(v[0] * v[1]))
#define HIGH ((u64)A(u32) * (u64)B(u32) >> 32)
PTX_FN(add_cc, carried(lane, (u64)A(u32) + B(u32), true))
PTX_FN(addc, carried(lane, (u64)A(u32) + B(u32) + IN, false))
PTX_FN(addc_cc, carried(lane, (u64)A(u32) + B(u32) + IN, true))
PTX_FN(sub_cc, carried(lane, (u64)A(u32) - B(u32), true))
PTX_FN(subc, carried(lane, (u64)A(u32) - B(u32) - IN, false))
PTX_FN(subc_cc, carried(lane, (u64)A(u32) - B(u32) - IN, true))
PTX_FN(mad_lo_cc, carried(lane, LOW + C(u32), true))
PTX_FN(mad_hi_cc, carried(lane, HIGH + C(u32), true))
PTX_FN(madc_lo, carried(lane, LOW + C(u32) + IN, false))
PTX_FN(madc_lo_cc, carried(lane, LOW + C(u32) + IN, true))
PTX_FN(madc_hi, carried(lane, HIGH + C(u32) + IN, false))
PTX_FN(madc_hi_cc, carried(lane, HIGH + C(u32) + IN, true))

#define ROWS(T)                                                                                                        \
    {"add." #T, add_##T}, {"sub." #T, sub_##T}, {"mul.lo." #T, mul_lo_##T}, {"mul.hi." #T, mul_hi_##T},                \
        {"mad.lo." #T, mad_lo_##T}, {"mad.hi." #T, mad_hi_##T}, {"div." #T, div_##T}, {"rem." #T, rem_##T},            \
        {"min." #T, min_##T}, {"max." #T, max_##T}, {"sad." #T, sad_##T},                                              \
    {                                                                                                                  \
        "shr." #T, shr_##T                                                                                             \
    }
#define WIDE_ROWS(T)                                                                                                   \
    {"mul.wide." #T, mul_wide_##T},                                                                                    \
    {                                                                                                                  \
        "mad.wide." #T, mad_wide_##T                                                                                   \
    }
#define SIGNED_ROWS(T)                                                                                                 \
    {"neg." #T, neg_##T},                                                                                              \
    {                                                                                                                  \
        "abs." #T, abs_##T                                                                                             \
    }
#define CARRIED(T)                                                                                                     \
    {"add.cc." #T, add_cc}, {"addc." #T, addc}, {"addc.cc." #T, addc_cc}, {"sub.cc." #T, sub_cc}, {"subc." #T, subc},  \
    {                                                                                                                  \
        "subc.cc." #T, subc_cc                                                                                         \
    }

const struct ptx_row ptx_integers[] = {
    ROWS(u16),
    ROWS(s16),
    ROWS(u32),
    ROWS(s32),
    ROWS(u64),
    ROWS(s64),
    WIDE_ROWS(u16),
    WIDE_ROWS(s16),
    WIDE_ROWS(u32),
    WIDE_ROWS(s32),
    SIGNED_ROWS(s16),
    SIGNED_ROWS(s32),
    SIGNED_ROWS(s64),
    CARRIED(u32),
    CARRIED(s32),
    {"mad.lo.cc.u32", mad_lo_cc},
    {"mad.hi.cc.u32", mad_hi_cc},
    {"madc.lo.u32", madc_lo},
    {"madc.lo.cc.u32", madc_lo_cc},
    {"madc.hi.u32", madc_hi},
    {"madc.hi.cc.u32", madc_hi_cc},
    {NULL, NULL},
};
