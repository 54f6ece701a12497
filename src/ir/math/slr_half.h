// SPDX-License-Identifier: Apache-2.0
// Half precision (binary16) and bfloat16. A register holds such a value as the float that it is exactly; every result
// is rounded once, to nearest even, as IEEE 754 has it. This text stands in front of emitted kernel C behind
// slr_math.h, by whose rules it goes: no branch, no call, no table.
//
// One rounding of + - * / is that of float first and of the narrow kind then: float's 24 bits are more than twice the
// 11 (or 8) and two, so that rounding twice gives what rounding once does (Figueroa, "When is double rounding
// innocuous?", 1995).
#ifndef SLRI_HALF_H
#define SLRI_HALF_H
// clang-format off

// x rounded to `bits` significant bits, but to no finer step than 2^least; beyond `most` it is an infinity. Adding and
// taking away 1.5 * 2^52 steps leaves x rounded to a step: the sum's last bit is worth one.
SLRI_FN double slri_round_to(double x, slri_i64 bits, slri_i64 least, double most)
{
    const slri_i64 exponent = (slri_i64)(slri_bits(x) >> 52 & 0x7ff) - 1023 - (bits - 1);
    const slri_i64 step = exponent > least ? exponent : least;
    const slri_i64 safe = step < 900 ? step : 900; // of an infinity and a NaN it does not matter
    const double magic = slri_from_bits((slri_u64)(safe + 52 + 1023) << 52 | (slri_u64)1 << 51);
    const double rounded = __builtin_copysign((x + magic) - magic, x);
    const double bounded = __builtin_fabs(rounded) > most ? __builtin_copysign(SLRI_INF, x) : rounded;
    return __builtin_fabs(x) <= 0x1p+900 ? bounded : __builtin_fabs(x) > 0 ? __builtin_copysign(SLRI_INF, x) : x;
}
SLRI_FN float slri_f64_to_f16(double x) { return slri_narrow(slri_round_to(x, 11, -24, 65504.0)); }
SLRI_FN float slri_f64_to_bf16(double x) { return slri_narrow(slri_round_to(x, 8, -133, 0x1.fep+127)); }
SLRI_FN float slri_f32_to_f16(float x) { return slri_f64_to_f16(x); }
SLRI_FN float slri_f32_to_bf16(float x) { return slri_f64_to_bf16(x); }

// Integers that a double does not hold become odd in its last place, so that the second rounding sees that there is more.
SLRI_FN double slri_u64_to_odd(slri_u64 x)
{
    const slri_u64 sticky = (x >> 11 << 11) | (slri_u64)((x & 0x7ff) != 0) << 11;
    return (double)(x >> 53 ? sticky : x);
}
SLRI_FN double slri_i64_to_odd(slri_i64 x)
{
    const double magnitude = slri_u64_to_odd(x < 0 ? 0 - (slri_u64)x : (slri_u64)x);
    return x < 0 ? -magnitude : magnitude;
}
SLRI_FN float slri_i32_to_f16(slri_i32 x) { return slri_f64_to_f16(x); }
SLRI_FN float slri_u32_to_f16(slri_u32 x) { return slri_f64_to_f16(x); }
SLRI_FN float slri_i64_to_f16(slri_i64 x) { return slri_f64_to_f16(slri_i64_to_odd(x)); }
SLRI_FN float slri_u64_to_f16(slri_u64 x) { return slri_f64_to_f16(slri_u64_to_odd(x)); }
SLRI_FN float slri_i32_to_bf16(slri_i32 x) { return slri_f64_to_bf16(x); }
SLRI_FN float slri_u32_to_bf16(slri_u32 x) { return slri_f64_to_bf16(x); }
SLRI_FN float slri_i64_to_bf16(slri_i64 x) { return slri_f64_to_bf16(slri_i64_to_odd(x)); }
SLRI_FN float slri_u64_to_bf16(slri_u64 x) { return slri_f64_to_bf16(slri_u64_to_odd(x)); }

// ---- as memory has them

SLRI_FN float slri_f16_from_bits(slri_u16 h)
{
    const slri_u32 magnitude = h & 0x7fff, sign = (slri_u32)(h & 0x8000) << 16;
    const float small = (float)(slri_i32)magnitude * 0x1p-24f; // below 2^-14 steps are of 2^-24
    const float normal = slri_uint_as_float((magnitude << 13) + 0x38000000u);
    const float large = slri_uint_as_float(magnitude << 13 | 0x7f800000u); // infinity and NaN
    const float value = magnitude < 0x400 ? small : magnitude < 0x7c00 ? normal : slri_canon32(large);
    return slri_uint_as_float(slri_float_as_uint(value) ^ sign);
}
SLRI_FN slri_u16 slri_f16_to_bits(float x) // rounds what is no half
{
    const float value = slri_f32_to_f16(x), magnitude = __builtin_fabsf(value);
    const slri_u32 bits = slri_float_as_uint(magnitude), sign = slri_float_as_uint(value) >> 16 & 0x8000;
    const slri_u32 small = (slri_u32)(slri_i32)((magnitude < 1 ? magnitude : 0) * 0x1p+24f);
    const slri_u32 normal = (bits - 0x38000000u) >> 13;
    const slri_u32 made = magnitude < 0x1p-14f ? small : magnitude <= 65504.0f ? normal : 0x7c00;
    return (slri_u16)(value == value ? made | sign : 0x7e00);
}
SLRI_FN float slri_bf16_from_bits(slri_u16 h) { return slri_canon32(slri_uint_as_float((slri_u32)h << 16)); }
SLRI_FN slri_u16 slri_bf16_to_bits(float x) { return (slri_u16)(slri_float_as_uint(slri_f32_to_bf16(x)) >> 16); }

// a * b + c, rounded once. The product is exact in double; the sum's error decides the last place (round to odd), and
// the narrow rounding then sees whether there is more.
SLRI_FN double slri_half_fma(float a, float b, float c)
{
    const double p = (double)a * b, s = p + c, v = s - p;
    const double error = (p - (s - v)) + (c - v);
    const slri_u64 bits = slri_bits(s), odd = bits & 1;
    const slri_u64 away = (error > 0) == (s > 0) ? bits | 1 : bits - 1; // even and too small, or even and too large
    return error == 0 || odd || !(__builtin_fabs(s) <= 0x1p+900) || error != error ? s : slri_from_bits(away);
}
SLRI_FN float slri_hfma(float a, float b, float c) { return slri_f64_to_f16(slri_half_fma(a, b, c)); }
SLRI_FN float slri_bfma(float a, float b, float c) { return slri_f64_to_bf16(slri_half_fma(a, b, c)); }

// clang-format on
#endif
