// SPDX-License-Identifier: Apache-2.0
// More of the device math library, by the rules of slr_math.h, which stands before it: sine, cosine and tangent, and
// their inverses.
#ifndef SLRI_MATH_ANGLES_H
#define SLRI_MATH_ANGLES_H
// clang-format off

// ------------------------------------------------------------------------------------------------------- trigonometric

// The angle as quadrant (in the low two bits) and rest, |rest| <= pi/4.
struct slri_angle {
    slri_u64 quadrant;
    double rest, rest_low;
};

// sin(r + low) for |r| <= pi/4.
SLRI_FN double slri_sin_rest(double r, double low)
{
    double z = r * r;
    double p = 0x1.5e0b05bff20f2p-33 * z - 0x1.ae600aca92c64p-26;
    p = slri_horner4(p, z, 0x1.71de379654304p-19, -0x1.a01a019e83816p-13, 0x1.1111111110bb2p-7, -0x1.5555555555555p-3);
    return r + (r * z * p + low * (1.0 - 0.5 * z));
}

SLRI_FN double slri_cos_rest(double r, double low)
{
    double z = r * r, half = 0.5 * z, w = 1.0 - half;
    double p = -0x1.907d8f29fe831p-37 * z + 0x1.1eeb68cd22f56p-29;
    p = slri_horner4(p, z, -0x1.27e4fa17bf139p-22, 0x1.a01a019f4e9b4p-16, -0x1.6c16c16c16967p-10, 0x1.5555555555555p-5);
    return w + (((1.0 - w) - half) + (z * z * p - r * low));
}

// The sine of an angle `turn` quadrants on; the sign of zero follows `sign`.
SLRI_FN double slri_sin_angle(struct slri_angle a, slri_u64 turn, slri_u64 sign)
{
    double s = slri_sin_rest(a.rest, a.rest_low), c = slri_cos_rest(a.rest, a.rest_low);
    slri_u64 q = a.quadrant + turn;
    return slri_from_bits(slri_bits(q & 1 ? c : s) ^ (q & 2) << 62 ^ sign);
}

SLRI_FN double slri_tan_angle(struct slri_angle a, slri_u64 sign)
{
    double s = slri_sin_rest(a.rest, a.rest_low), c = slri_cos_rest(a.rest, a.rest_low);
    double t = a.quadrant & 1 ? c / s : s / c;
    return slri_from_bits(slri_bits(t) ^ (a.quadrant & 1) << 63 ^ sign);
}

// Any float's magnitude, without a branch or a table. With x an integer multiple of 2^s, x * 2/pi mod 4 is (x / 2^s) *
// C mod 4, C = 2^s * 2/pi mod 4. C stands here for s = 0, 26, 52, 78 in two parts of 28 bits, whose products with a
// float are exact, and a rest.
SLRI_FN struct slri_angle slri_angle32(double x)
{
    double c1 = 0x1.45f306cp-1, c2 = 0x1.c9c882ap-29, c3 = 0x1.4fe13abe8fa9ap-59, unit = 1.0;
    c1 = x < 0x1p50 ? c1 : 0x1.b939106p+0, c2 = x < 0x1p50 ? c2 : -0x1.6b01ec6p-29;
    c3 = x < 0x1p50 ? c3 : 0x1.7d1f534ddc0dbp-58, unit = x < 0x1p50 ? unit : 0x1p-26;
    c1 = x < 0x1p76 ? c1 : 0x1.529fc28p+0, c2 = x < 0x1p76 ? c2 : -0x1.505c15ap-29;
    c3 = x < 0x1p76 ? c3 : 0x1.377036d8a5665p-58, unit = x < 0x1p76 ? unit : 0x1p-52;
    c1 = x < 0x1p102 ? c1 : 0x1.d5f47d4p+0, c2 = x < 0x1p102 ? c2 : 0x1.a6ee06ep-29;
    c3 = x < 0x1p102 ? c3 : -0x1.3ad4cd8778df8p-59, unit = x < 0x1p102 ? unit : 0x1p-78;
    x *= unit;
    double t1 = x * c1, n1 = t1 + SLRI_ROUNDER, t2 = x * c2, n2 = t2 + SLRI_ROUNDER;
    double f1 = t1 - (n1 - SLRI_ROUNDER), f2 = t2 - (n2 - SLRI_ROUNDER);
    double n3 = (f1 + f2) + SLRI_ROUNDER;
    double rest = ((f1 - (n3 - SLRI_ROUNDER)) + f2) + x * c3;
    return (struct slri_angle){slri_bits(n1) + slri_bits(n2) + slri_bits(n3), rest * SLRI_PI_2, 0.0};
}

SLRI_FN float slri_sinf(float x)
{
    return slri_narrow(slri_sin_angle(slri_angle32(slri_fabsf(x)), 0, slri_bits(x) & SLRI_SIGN64));
}

SLRI_FN float slri_cosf(float x) { return slri_narrow(slri_sin_angle(slri_angle32(slri_fabsf(x)), 1, 0)); }

SLRI_FN float slri_tanf(float x)
{
    return slri_narrow(slri_tan_angle(slri_angle32(slri_fabsf(x)), slri_bits(x) & SLRI_SIGN64));
}

// x up to 2^20: pi/2 in three parts of 33 bits, whose products with the quadrant are exact, and a rest (Cody and
// Waite).
SLRI_FN struct slri_angle slri_angle64_small(double x)
{
    double n = x * 0x1.45f306dc9c883p-1 + SLRI_ROUNDER, k = n - SLRI_ROUNDER;
    struct slri_pair a = slri_two_sum(x - k * 0x1.921fb544p+0, -(k * 0x1.0b4611a6p-34));
    struct slri_pair b = slri_two_sum(a.hi, -(k * 0x1.3198a2ep-69));
    struct slri_pair r = slri_two_sum(b.hi, (a.lo + b.lo) - k * 0x1.b839a252049c1p-104);
    return (struct slri_angle){slri_bits(n), r.hi, r.lo};
}

// Larger x (Payne and Hanek): 192 bits of 2/pi, from the first that matters modulo 4, times the mantissa, in integers.
SLRI_FN struct slri_angle slri_angle64_large(double x)
{
    static const slri_u64 two_over_pi[] = {
        0, 0xa2f9836e4e441529u, 0xfc2757d1f534ddc0u, 0xdb6295993c439041u, 0xfe5163abdebbc561u, 0xb7246e3a424dd2e0u,
        0x06492eea09d1921cu, 0xfe1deb1cb129a73eu, 0xe88235f52ebb4484u, 0xe99c7026b45f7e41u, 0x3991d639835339f4u,
        0x9c845f8bbdf9283bu, 0x1ff897ffde05980fu, 0xef2f118b5a0a6d1fu, 0x6d367ecf27cb09b7u, 0x4f463f669e5fea2du,
        0x7527bac7ebe5f17bu, 0x3d0739f78a5292eau, 0x6bfb5fb11f8d5d08u, 0x56033046fc7b6babu, 0xf0cfbc209af4361du,
    };
    slri_u64 bits = slri_bits(x), m = (bits & 0xfffffffffffffu) | 0x10000000000000u;
    slri_u64 start = (bits >> 52) - 1075 - 2 + 64, at = start >> 6 & 31, shift = start & 63; // the 64: the zero word
    const slri_u64 *p = two_over_pi + (at < 17 ? at : 17);
    slri_u64 w2 = p[0] << shift | p[1] >> 1 >> (63 - shift), w1 = p[1] << shift | p[2] >> 1 >> (63 - shift);
    slri_u64 w0 = p[2] << shift | p[3] >> 1 >> (63 - shift);
#ifdef SLRI_MATH_SELF
    slri_u64 mid = m * w1, middle = mid + slri_umul64hi(m, w0);
    slri_u64 high = m * w2 + slri_umul64hi(m, w1) + (middle < mid);
    slri_u64 quarters = (high + ((slri_u64)1 << 61)) >> 62, rest = high << 2 | middle >> 62, rest_low = middle << 2;
    slri_u64 turned = rest >> 63, size_low = turned ? 0 - rest_low : rest_low;
    slri_u64 size_high = turned ? ~rest + (rest_low == 0) : rest;
    slri_i32 zeros = size_high ? __builtin_clzll(size_high) : 64 + __builtin_clzll(size_low | 1);
    slri_i32 by = zeros & 127;
    slri_u64 up_high = by >= 64 ? size_low << (by & 63) : size_high << by | size_low >> 1 >> (63 - by & 63);
    slri_u64 up_low = by >= 64 ? 0 : size_low << by;
    slri_u64 top_bits = up_high >> 11, low_bits = (up_high << 42 | up_low >> 22) & 0x1fffffffffffffu;
#else
    slri_u128 low = (slri_u128)m * w0, mid = (slri_u128)m * w1 + (slri_u64)(low >> 64);
    slri_u64 high = m * w2 + (slri_u64)(mid >> 64);
    slri_u128 turns = (slri_u128)high << 64 | (slri_u64)mid; // in units of 4 quadrants / 2^128
    slri_u128 quarter = turns + ((slri_u128)1 << 125);       // rounds to the nearest quadrant
    slri_u128 rest = turns << 2, size = rest >> 127 ? -rest : rest;
    slri_i32 zeros = size >> 64 ? __builtin_clzll((slri_u64)(size >> 64)) : 64 + __builtin_clzll((slri_u64)size | 1);
    size <<= zeros & 127;
    slri_u64 top_bits = (slri_u64)(size >> 75), low_bits = (slri_u64)(size >> 22) & 0x1fffffffffffffu;
    slri_u64 turned = (slri_u64)(rest >> 127), quarters = (slri_u64)(quarter >> 126);
#endif
    double unit = slri_from_bits((slri_u64)(1023 - 53 - zeros) << 52);
    double top = (double)(slri_i64)top_bits * unit;
    double low_part = (double)(slri_i64)low_bits * unit * 0x1p-53;
    struct slri_pair part = {top, low_part}, half_pi = {SLRI_PI_2, SLRI_PI_2_LOW}, r = slri_pair_mul(part, half_pi);
    double sign = turned ? -1.0 : 1.0;
    return (struct slri_angle){quarters, r.hi * sign, r.lo * sign};
}

// The branch keeps double sin, cos and tan from being vectorised.
SLRI_FN struct slri_angle slri_angle64(double x)
{
    if (x < 0x1p20)
        return slri_angle64_small(x);
    if (x < SLRI_INF)
        return slri_angle64_large(x);
    return (struct slri_angle){0, __builtin_nan(""), 0.0};
}

SLRI_FN double slri_sin(double x)
{
    return slri_canon64(slri_sin_angle(slri_angle64(slri_fabs(x)), 0, slri_bits(x) & SLRI_SIGN64));
}

SLRI_FN double slri_cos(double x) { return slri_canon64(slri_sin_angle(slri_angle64(slri_fabs(x)), 1, 0)); }

SLRI_FN double slri_tan(double x)
{
    return slri_canon64(slri_tan_angle(slri_angle64(slri_fabs(x)), slri_bits(x) & SLRI_SIGN64));
}

// ------------------------------------------------------------------------------------------------------ inverse angles

// atan(small / large) for 0 <= small <= large: directly below tan(pi/8), else pi/4 + atan((small - large) / (small +
// large)).
SLRI_FN double slri_atan_ratio(double small, double large)
{
    double far = small > 0x1.a827999fcef32p-2 * large ? 1.0 : 0.0; // a factor: gcc threads jumps through a flag
    double t = (small - far * large) / (large + far * small), z = t * t;
    double p = -0x1.c807c7fd8901cp-7;
    p = slri_horner4(p, z, 0x1.f5ea203927f08p-6, -0x1.503b1df32251dp-5, 0x1.829c9a46152b5p-5, -0x1.aebd143c55a36p-5);
    p = slri_horner4(p, z, 0x1.e1d8e89291b2fp-5, -0x1.1110ceddb22d6p-4, 0x1.3b13aea970e58p-4, -0x1.745d173561ae0p-4);
    p = slri_horner4(p, z, 0x1.c71c71c6ddb13p-4, -0x1.24924924920acp-3, 0x1.9999999999997p-3, -0x1.5555555555555p-2);
    return far * (0.5 * SLRI_PI_2) + (t + (t * z * p + far * (0.5 * SLRI_PI_2_LOW)));
}

// atan(x) for x >= 0, or NaN.
SLRI_FN double slri_atan_positive(double x)
{
    x = x > 0x1p900 ? 0x1p900 : x; // infinity times 0 is no ratio
    double r = slri_atan_ratio(x < 1.0 ? x : 1.0, x < 1.0 ? 1.0 : x);
    return x > 1.0 ? SLRI_PI_2 - (r - SLRI_PI_2_LOW) : r;
}

// The angle of (x, y) for y >= 0 (the caller puts y's sign back), x of any sign; NaN if either is.
SLRI_FN double slri_atan_half_plane(double y, double x)
{
    double a = slri_fabs(x), small = y < a ? y : a, large = y < a ? a : y;
    small = large == SLRI_INF ? (small == SLRI_INF ? 1.0 : 0.0) : small;
    large = large == SLRI_INF || large == 0.0 ? 1.0 : large;
    double r = slri_atan_ratio(small, large);
    r = y > a ? SLRI_PI_2 - (r - SLRI_PI_2_LOW) : r;
    r = slri_signbit(x) ? 2.0 * SLRI_PI_2 - (r - 2.0 * SLRI_PI_2_LOW) : r;
    return x != x || y != y ? __builtin_nan("") : r;
}

SLRI_FN float slri_atanf(float x) { return slri_canon32(slri_copysignf((float)slri_atan_positive(slri_fabsf(x)), x)); }

SLRI_FN float slri_atan2f(float y, float x)
{
    return slri_canon32(slri_copysignf((float)slri_atan_half_plane(slri_fabsf(y), x), y));
}

SLRI_FN float slri_asinf(float x)
{
    double a = slri_fabsf(x), r = slri_atan_half_plane(a, __builtin_sqrt((1.0 - a) * (1.0 + a)));
    return slri_canon32(slri_copysignf((float)r, x));
}

SLRI_FN float slri_acosf(float x)
{
    double d = x;
    return slri_narrow(slri_atan_half_plane(__builtin_sqrt((1.0 - d) * (1.0 + d)), d));
}

SLRI_FN double slri_atan(double x) { return slri_canon64(slri_copysign(slri_atan_positive(slri_fabs(x)), x)); }

SLRI_FN double slri_atan2(double y, double x)
{
    double a = slri_fabs(x), b = slri_fabs(y), size = a > b ? a : b;
    double scale = size > 0x1p500 ? 0x1p-100 : size < 0x1p-500 ? 0x1p100 : 1.0; // no term of the quotient may overflow
    return slri_canon64(slri_copysign(slri_atan_half_plane(b * scale, x * scale), y));
}

#endif
