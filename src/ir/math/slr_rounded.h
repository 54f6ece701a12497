// SPDX-License-Identifier: Apache-2.0
// The quotient and the square root of floats, rounded once to nearest even, for devices whose own are some units in the
// last place off, or take subnormals for 0. lang/library.c reads it as a program.
//
// The device's own gives an estimate of the 24 bits of a result, of operands near 1. Integers make it the largest that
// is not above the true value: of the remainder 32 bits are enough, since it is small. Of SLRI_ROUNDED_OFF units less
// than the estimate, the step up is a whole number that a float division gives to within 1.
// Both sides of each `?:` are short and make no call: lang/library.c leaves no branch of such.
// clang-format off

#define SLRI_ROUNDED_OFF 8u
#ifndef SLRI_ROUNDED_OWN // a test puts what a device's own might be
#define SLRI_ROUNDED_OWN(x) (x)
#endif
#define SLRI_ROUNDED_INF 0x7f800000u
#define SLRI_ROUNDED_NAN 0x7fc00000u

SLRI_FN slri_i32 slri_rounded_zeros(slri_u32 magnitude) // above a subnormal's fraction; else 0
{
    return magnitude < 0x800000u ? __builtin_clz((slri_i32)(magnitude | 1u)) - 8 : 0;
}

SLRI_FN slri_u32 slri_rounded_fraction(slri_u32 magnitude, slri_i32 zeros) // with its highest bit at 23
{
    return magnitude < 0x800000u ? magnitude << zeros : (magnitude & 0x7fffffu) | 0x800000u;
}

SLRI_FN slri_i32 slri_rounded_exponent(slri_u32 magnitude, slri_i32 zeros)
{
    return magnitude < 0x800000u ? 1 - zeros : (slri_i32)(magnitude >> 23);
}

SLRI_FN float slri_rounded_divf(float x, float y)
{
    slri_u32 a = slri_float_as_uint(x), b = slri_float_as_uint(y), sign = (a ^ b) & 0x80000000u;
    a &= 0x7fffffffu;
    b &= 0x7fffffffu;
    slri_i32 za = slri_rounded_zeros(a), zb = slri_rounded_zeros(b);
    slri_u32 n = slri_rounded_fraction(a, za), d = slri_rounded_fraction(b, zb), less = n < d;
    n <<= less; // n / d is from 1 to below 2
    slri_i32 e = slri_rounded_exponent(a, za) - slri_rounded_exponent(b, zb) - (slri_i32)less;
    float divisor = (float)(slri_i32)d;
    slri_u32 q = (slri_u32)(slri_i32)(SLRI_ROUNDED_OWN((float)(slri_i32)n / divisor) * 8388608.0f) - SLRI_ROUNDED_OFF;
    slri_u32 rest = (n << 23) - q * d; // signed, but for operands whose quotient is none it may be anything
    slri_i32 step = (slri_i32)SLRI_ROUNDED_OWN((float)(slri_i32)rest / divisor);
    q += (slri_u32)step;
    rest -= (slri_u32)step * d;
    slri_u32 below = (slri_i32)rest < 0, above = (slri_i32)rest >= (slri_i32)d;
    rest += below ? d : above ? 0u - d : 0u;
    q += above - below;
    // A subnormal result loses `cut` bits more. Only there can a quotient lie halfway between two floats.
    slri_i32 cut = e >= -126 ? 0 : e < -151 ? 25 : -126 - e;
    slri_u32 kept = q >> cut, lost = ((q & ((1u << cut) - 1u)) << 1) + (rest != 0), half = 1u << cut;
    slri_u32 up = cut ? lost > half || (lost == half && (kept & 1u)) : 2u * rest > d;
    slri_u32 r = kept + up + (cut ? 0u : (slri_u32)(e + 126) << 23);
    r = e > 127 || a == SLRI_ROUNDED_INF || b == 0u ? SLRI_ROUNDED_INF : r;
    r = a == 0u || b == SLRI_ROUNDED_INF ? 0u : r;
    slri_u32 is_nan = a > SLRI_ROUNDED_INF || b > SLRI_ROUNDED_INF || (a == b && (a == 0u || a == SLRI_ROUNDED_INF));
    return slri_uint_as_float(is_nan ? SLRI_ROUNDED_NAN : r | sign);
}

SLRI_FN float slri_rounded_sqrtf(float x)
{
    slri_u32 a = slri_float_as_uint(x);
    slri_i32 z = slri_rounded_zeros(a), biased = slri_rounded_exponent(a, z);
    slri_u32 even = (slri_u32)(biased & 1), n = slri_rounded_fraction(a, z) << (1u - even); // of x = n 2^(2k)
    slri_u32 q = (slri_u32)(slri_i32)SLRI_ROUNDED_OWN(__builtin_sqrtf((float)(slri_i32)n * 8388608.0f)) - SLRI_ROUNDED_OFF;
    slri_u32 rest = (n << 23) - q * q;
    slri_i32 step = (slri_i32)SLRI_ROUNDED_OWN((float)(slri_i32)rest / (float)(slri_i32)(2u * q));
    rest -= (slri_u32)step * (2u * q + (slri_u32)step);
    q += (slri_u32)step;
    slri_u32 below = (slri_i32)rest < 0, above = (slri_i32)rest > (slri_i32)(2u * q);
    rest += below ? 2u * q - 1u : above ? 0u - 2u * q - 1u : 0u;
    q += above - below;
    slri_i32 half = (biased - 127 - (slri_i32)(1u - even)) / 2; // it is even
    slri_u32 r = ((slri_u32)(half + 126) << 23) + q + (rest > q);
    r = a == 0u || a == 0x80000000u || a == SLRI_ROUNDED_INF ? a : r;
    return slri_uint_as_float(a > SLRI_ROUNDED_INF && a != 0x80000000u ? SLRI_ROUNDED_NAN : r);
}
