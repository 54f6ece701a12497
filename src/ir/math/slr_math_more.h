// SPDX-License-Identifier: Apache-2.0
// The last of the device math library, by the rules of slr_math.h and behind slr_math_double.h: exponents taken off and
// put on, integers of floats by a rounding that is named, the gamma function, the normal distribution, and integers.
#ifndef SLRI_MATH_MORE_H
#define SLRI_MATH_MORE_H
// clang-format off

// -------------------------------------------------------------------------------------------------------- exponents

SLRI_FN double slri_two_to(slri_i32 n) { return slri_from_bits((slri_u64)(slri_i64)(n + 1023) << 52); } // a normal number

// What of 2^n may be multiplied with and leaves, of a product that is not 0 in the end, no subnormal to be rounded twice.
// (Of nested choices gcc would make branches that one loop cannot take apart; likewise below.)
SLRI_FN slri_i32 slri_scale_step(slri_i32 n) { return (n < -1022) * -969 + (n > 1023) * 1023; }

SLRI_FN double slri_ldexp(double x, slri_i32 n)
{
    slri_i32 m = slri_max_i32(slri_min_i32(n, 2200), -2200), a = slri_scale_step(m), b = slri_scale_step(m - a);
    return slri_canon64(x * slri_two_to(a) * slri_two_to(b) * slri_two_to(m - a - b));
}

SLRI_FN float slri_ldexpf(float x, slri_i32 n) { return slri_narrow(slri_ldexp((double)x, n)); }

// x = fraction * 2^exponent, the fraction in [1/2, 1); of 0, infinity and NaN the fraction is x, the exponent 0.
SLRI_FN slri_i32 slri_is_plain(double x) { return x != 0.0 && slri_fabs(x) < SLRI_INF; }
SLRI_FN slri_u64 slri_normal_bits(double x) { return slri_bits(slri_fabs(x) < 0x1p-1022 ? x * 0x1p54 : x); }

SLRI_FN slri_i32 slri_frexp_exponent(double x)
{
    slri_i32 e = (slri_i32)(slri_normal_bits(x) >> 52 & 0x7ff) - (slri_fabs(x) < 0x1p-1022 ? 1076 : 1022);
    return slri_is_plain(x) ? e : 0;
}

SLRI_FN double slri_frexp_fraction(double x)
{
    double f = slri_from_bits((slri_normal_bits(x) & 0x800fffffffffffffu) | (slri_u64)1022 << 52);
    return slri_canon64(slri_is_plain(x) ? f : x);
}

SLRI_FN slri_i32 slri_frexp_exponentf(float x) { return slri_frexp_exponent((double)x); }
SLRI_FN float slri_frexp_fractionf(float x) { return slri_narrow(slri_frexp_fraction((double)x)); }

SLRI_FN double slri_modf_fraction(double x)
{
    return slri_canon64(slri_copysign(slri_fabs(x) == SLRI_INF ? 0.0 : x - slri_trunc(x), x));
}

SLRI_FN float slri_modf_fractionf(float x) { return slri_narrow(slri_modf_fraction((double)x)); }

SLRI_FN slri_i32 slri_ilogb(double x)
{
    slri_i32 e = slri_frexp_exponent(x) - 1;
    return x == 0.0 || x != x ? -0x7fffffff - 1 : slri_fabs(x) == SLRI_INF ? 0x7fffffff : e;
}

SLRI_FN double slri_logb(double x)
{
    double e = (double)(slri_frexp_exponent(x) - 1), a = slri_fabs(x);
    return slri_canon64(x == 0.0 ? -SLRI_INF : a < SLRI_INF ? e : a);
}

SLRI_FN slri_i32 slri_ilogbf(float x) { return slri_ilogb((double)x); }
SLRI_FN float slri_logbf(float x) { return slri_narrow(slri_logb((double)x)); }

#define SLRI_NEXTAFTER(T, f, canon, U, as_bits, from_bits)                                                             \
    SLRI_FN T slri_nextafter##f(T x, T y)                                                                              \
    {                                                                                                                  \
        U b = as_bits(x), away = (U)((x < y) == (x > 0)), next = x == 0 ? (U)1 : away ? b + 1 : b - 1;                 \
        T r = from_bits(next);                                                                                         \
        r = x == 0 ? slri_copysign##f(r, y) : r;                                                                       \
        return canon(x != x || y != y ? x + y : x == y ? y : r);                                                       \
    }
SLRI_NEXTAFTER(float, f, slri_canon32, slri_u32, slri_float_as_uint, slri_uint_as_float)
SLRI_NEXTAFTER(double, , slri_canon64, slri_u64, slri_bits, slri_from_bits)

// ----------------------------------------------------------------------------------------------- integers of floats

// Saturated, as casts are. rn: ties to even; rd: down; ru: up; rz: towards zero.
#define SLRI_ROUND_TO(K, integer, T, f, from)                                                                          \
    SLRI_FN integer slri_##from##_to_##K##_rn(T x) { return slri_##from##_to_##K(slri_rint##f(x)); }                   \
    SLRI_FN integer slri_##from##_to_##K##_rd(T x) { return slri_##from##_to_##K(slri_floor##f(x)); }                  \
    SLRI_FN integer slri_##from##_to_##K##_ru(T x) { return slri_##from##_to_##K(slri_ceil##f(x)); }
#define SLRI_ROUND_TO_ALL(T, f, from)                                                                                  \
    SLRI_ROUND_TO(i32, slri_i32, T, f, from) SLRI_ROUND_TO(u32, slri_u32, T, f, from)                                  \
    SLRI_ROUND_TO(i64, slri_i64, T, f, from) SLRI_ROUND_TO(u64, slri_u64, T, f, from)                                  \
    SLRI_FN slri_i64 slri_##from##_to_i64_away(T x) { return slri_##from##_to_i64(slri_round##f(x)); }
SLRI_ROUND_TO_ALL(float, f, f32)
SLRI_ROUND_TO_ALL(double, , f64)

SLRI_FN float slri_f32_of_i32(slri_i32 x) { return (float)x; }
SLRI_FN float slri_f32_of_u32(slri_u32 x) { return (float)x; }
SLRI_FN float slri_f32_of_i64(slri_i64 x) { return (float)x; }
SLRI_FN float slri_f32_of_u64(slri_u64 x) { return (float)x; }
SLRI_FN double slri_f64_of_i32(slri_i32 x) { return (double)x; }
SLRI_FN double slri_f64_of_u32(slri_u32 x) { return (double)x; }
SLRI_FN double slri_f64_of_i64(slri_i64 x) { return (double)x; }
SLRI_FN double slri_f64_of_u64(slri_u64 x) { return (double)x; }

SLRI_FN slri_i32 slri_hiint(double x) { return (slri_i32)(slri_bits(x) >> 32); }
SLRI_FN slri_i32 slri_loint(double x) { return (slri_i32)slri_bits(x); }
SLRI_FN double slri_hiloint(slri_i32 high, slri_i32 low)
{
    return slri_from_bits((slri_u64)(slri_u32)high << 32 | (slri_u32)low);
}

// ------------------------------------------------------------------------------------------------------------ gamma

// log(gamma(2 + u)) for |u| <= 1/2: u (1 - Euler's constant) + the sum of (-u)^k (zeta(k) - 1) / k (Abramowitz and
// Stegun, 6.1.33, with log(1 + u) added).
SLRI_FN double slri_lgamma_two(double u)
{
    double p = -0x1.2f69a9fabe3e0p-32;
    p = p * u + 0x1.3b15d2b2fc10cp-31;
    p = slri_horner4(p, u, -0x1.47b1679258d0ep-30, 0x1.555a877ffd2c3p-29, -0x1.6434a8447aeadp-28, 0x1.7469daccfadcdp-27);
    p = slri_horner4(p, u, -0x1.862c734df3eacp-26, 0x1.99b93c2070b0fp-25, -0x1.af5a6cbbf8a97p-24, 0x1.c76bbb3f07a4dp-23);
    p = slri_horner4(p, u, -0x1.e2600d93cfd2fp-22, 0x1.0064cdeb22f0fp-20, -0x1.11b2eb7679541p-19, 0x1.2597a39f34aacp-18);
    p = slri_horner4(p, u, -0x1.3cbc963ce2243p-17, 0x1.580dcee66eb02p-16, -0x1.78de5bd7c81efp-15, 0x1.a127b0f17d65ap-14);
    p = slri_horner4(p, u, -0x1.d3fd4c76d2fc8p-13, 0x1.0b36af86396e9p-11, -0x1.38ac5c2bf8e08p-10, 0x1.7add6eadb6c30p-9);
    p = slri_horner4(p, u, -0x1.e404fc218f5f2p-8, 0x1.51322ac7d8483p-6, -0x1.13e001a557607p-4, 0x1.4a34cc4a60fa6p-2);
    return u * (p * u + 0x1.b0ee6072093cep-2);
}

#define SLRI_LN_PI 0x1.250d048e7a1bdp+0

// log(gamma(x)) for x > 0. From 9 on Stirling's series; below, x is brought to (3/2, 5/2] by the recurrence.
SLRI_FN double slri_lgamma_positive(double x)
{
    double y = x < 9.0 ? x : 2.0, less = slri_clamp(slri_nearest(y - 2.0), 0.0, 7.0), product = 1.0;
    product *= (less > 0.0 ? y - 1.0 : 1.0) * (less > 1.0 ? y - 2.0 : 1.0) * (less > 2.0 ? y - 3.0 : 1.0);
    product *= (less > 3.0 ? y - 4.0 : 1.0) * (less > 4.0 ? y - 5.0 : 1.0) * (less > 5.0 ? y - 6.0 : 1.0);
    product *= less > 6.0 ? y - 7.0 : 1.0;
    y -= less;
    double one = y < 1.5 ? 1.0 : 0.0, zero = y < 0.5 ? 1.0 : 0.0, u = y - (2.0 - one - zero);
    double near = slri_lgamma_two(u) + slri_log(product) - one * slri_log1p_inner(u) - zero * slri_log(y);
    double s = slri_clamp(x, 9.0, 0x1p1000), r = 1.0 / s, z = r * r, p = -0x1.e4286cb0f5398p-6;
    p = slri_horner4(p, z, 0x1.a41a41a41a41ap-8, -0x1.f6ab0d9993c7dp-10, 0x1.b951e2b18ff23p-11, -0x1.3813813813814p-11);
    p = slri_horner2(p, z, 0x1.a01a01a01a01ap-11, -0x1.6c16c16c16c17p-9) * z + 0x1.5555555555555p-4;
    double far = (s - 0.5) * (slri_log(s) - 1.0) + (0x1.acfe390c97d69p-2 + p * r);
    double last = x * (slri_log(x) - 1.0);
    far = x > 0x1p1000 ? last : far;
    return x < 9.0 ? near : far;
}

SLRI_FN double slri_lgamma(double x)
{
    double a = slri_fabs(x), whole = slri_floor(x), r = slri_lgamma_positive(a > 0x1p-72 ? a : 0x1p-72), first = -slri_log(a);
    double turned = SLRI_LN_PI - slri_log(slri_fabs(slri_sinpi(x)) * a) - r; // reflection
    turned = x == whole ? SLRI_INF : turned;
    r = x < 0.0 ? turned : r;
    r = a < 0x1p-70 ? first : r;
    r = a == SLRI_INF ? SLRI_INF : r;
    return slri_canon64(x != x ? x : r);
}

// Lanczos' sum with g = 6.0247 in its rational form (Pugh, An Analysis of the Lanczos Gamma Approximation, 2004).
SLRI_FN double slri_lanczos(double x)
{
    double n = 0x1.40d931ff62705p+1, d = 1.0;
    n = slri_horner4(n, x, 0x1.a5a607bbc3b52p+7, 0x1.f87ac0858d804p+12, 0x1.6b6421f8787ebp+17, 0x1.5f1e95080f44cp+21);
    n = slri_horner4(n, x, 0x1.df876f95dcc98p+24, 0x1.dab0c7bb95f2ap+27, 0x1.57418f5d3f33fp+30, 0x1.67fc1b3a5a1e8p+32);
    n = slri_horner4(n, x, 0x1.0b0b522e8261ap+34, 0x1.0a132818ab61ap+35, 0x1.3fc7075f54c57p+35, 0x1.5ea5143c1a49ep+34);
    d = slri_horner4(d, x, 66.0, 1925.0, 32670.0, 357423.0);
    d = slri_horner4(d, x, 2637558.0, 13339535.0, 45995730.0, 105258076.0);
    d = slri_horner4(d, x, 150917976.0, 120543840.0, 39916800.0, 0.0);
    return n / d;
}

// The sum times y^(x - 1/2) e^-y, y = x + g - 1/2, whose rounding is put right at the end; y's power in two halves,
// because it overflows before gamma does. Of negative x by reflection.
SLRI_FN double slri_tgamma(double x)
{
    const double g = 5.524680040776729583740234375; // less 1/2
    double a = slri_clamp(slri_fabs(x), 0x1p-62, 190.0), y = a + g;
    double lost = a > g ? (y - a) - g : (y - g) - a, z = a - 0.5, r = slri_lanczos(a) * slri_exp(-y);
    double turned = -0x1.921fb54442d18p+1 / (slri_sinpi(a) * a * r);
    r = x < 0.0 ? turned : r;
    lost = x < 0.0 ? -lost : lost;
    r += lost * (g + 0.5) * r / y;
    double h = slri_pow(y, 0.5 * slri_copysign(z, z * x)), whole = slri_floor(x), odd = whole - 2.0 * slri_floor(0.5 * whole);
    r = r * h * h;
    double factorial = slri_nearest(r), pole = 1.0 / x, none = odd != 0.0 ? -0.0 : 0.0;
    factorial = a < 18.0 ? factorial : r;
    r = x == whole ? factorial : r; // exact
    r = slri_fabs(x) < 0x1p-60 ? pole : r;
    r = x > 172.0 ? SLRI_INF : r;
    r = x < -186.0 ? none : r;
    double wrong = x == whole ? __builtin_nan("") : r;
    r = x < 0.0 ? wrong : r;
    return slri_canon64(x != x ? x : r);
}

SLRI_FN float slri_lgammaf(float x) { return slri_narrow(slri_lgamma((double)x)); }
SLRI_FN float slri_tgammaf(float x) { return slri_narrow(slri_tgamma((double)x)); }

// ----------------------------------------------------------------------------------------- lengths, normal distribution

// 1 / hypot, where hypot overflows too.
SLRI_FN double slri_rhypot(double x, double y)
{
    double a = slri_fabs(x), b = slri_fabs(y), scale = a > 0x1p1000 || b > 0x1p1000 ? 0.25 : 1.0;
    return slri_canon64(scale / slri_hypot(x * scale, y * scale));
}

SLRI_FN float slri_rhypotf(float x, float y) { return slri_narrow(slri_rhypot((double)x, (double)y)); }

// erfc(-x / sqrt 2) / 2; what the division's rounding shifts is put back by the derivative.
SLRI_FN double slri_normcdf(double x)
{
    double c = slri_clamp(x, -40.0, 40.0);
    struct slri_pair t = slri_two_prod(c, -0x1.6a09e667f3bcdp-1);
    double low = t.lo + c * 0x1.bdd3413b26456p-55;
    return slri_canon64(0.5 * (slri_erfc(t.hi) - low * 0x1.20dd750429b6dp+0 * slri_exp(-t.hi * t.hi)));
}

SLRI_FN float slri_normcdff(float x) { return slri_narrow(slri_normcdf((double)x)); }

// --------------------------------------------------------------------------------------------------------- integers

#ifndef SLRI_MATH_SELF
SLRI_FN slri_i64 slri_mul64hi(slri_i64 a, slri_i64 b)
{
    slri_u64 high = (slri_u64)((slri_u128)(slri_u64)a * (slri_u64)b >> 64);
    return (slri_i64)(high - (a < 0 ? (slri_u64)b : 0) - (b < 0 ? (slri_u64)a : 0));
}
SLRI_FN slri_u64 slri_umul64hi(slri_u64 a, slri_u64 b) { return (slri_u64)((slri_u128)a * b >> 64); }
#endif
// The low 24 bits of each; the product's low 32.
SLRI_FN slri_i32 slri_mul24(slri_i32 a, slri_i32 b)
{
    return (slri_i32)((slri_u32)((slri_i32)((slri_u32)a << 8) >> 8) * (slri_u32)((slri_i32)((slri_u32)b << 8) >> 8));
}
SLRI_FN slri_u32 slri_umul24(slri_u32 a, slri_u32 b) { return (a & 0xffffff) * (b & 0xffffff); }
// Means, down and up, without overflow.
SLRI_FN slri_i32 slri_hadd(slri_i32 a, slri_i32 b) { return (slri_i32)(((slri_i64)a + b) >> 1); }
SLRI_FN slri_i32 slri_rhadd(slri_i32 a, slri_i32 b) { return (slri_i32)(((slri_i64)a + b + 1) >> 1); }
SLRI_FN slri_u32 slri_uhadd(slri_u32 a, slri_u32 b) { return (a & b) + ((a ^ b) >> 1); }
SLRI_FN slri_u32 slri_urhadd(slri_u32 a, slri_u32 b) { return (a | b) - ((a ^ b) >> 1); }
SLRI_FN slri_u32 slri_sad(slri_i32 a, slri_i32 b, slri_u32 sum)
{
    return (a > b ? (slri_u32)a - (slri_u32)b : (slri_u32)b - (slri_u32)a) + sum;
}
SLRI_FN slri_u32 slri_usad(slri_u32 a, slri_u32 b, slri_u32 sum) { return (a > b ? a - b : b - a) + sum; }
// Of high:low, shifted by count modulo 32, or clamped to 32.
SLRI_FN slri_u32 slri_funnel_l(slri_u32 low, slri_u32 high, slri_u32 count)
{
    return (slri_u32)((((slri_u64)high << 32 | low) << (count & 31)) >> 32);
}
SLRI_FN slri_u32 slri_funnel_r(slri_u32 low, slri_u32 high, slri_u32 count)
{
    return (slri_u32)(((slri_u64)high << 32 | low) >> (count & 31));
}
SLRI_FN slri_u32 slri_funnel_lc(slri_u32 low, slri_u32 high, slri_u32 count)
{
    return count < 32 ? slri_funnel_l(low, high, count) : low;
}
SLRI_FN slri_u32 slri_funnel_rc(slri_u32 low, slri_u32 high, slri_u32 count)
{
    return count < 32 ? slri_funnel_r(low, high, count) : high;
}
// Bytes of y:x by the lower three bits of the selector's nibbles, as CUDA's Math API says. The fourth bit means a sign to
// the instruction (PTX's prmt), not to this function: an H100 gives the byte.
SLRI_FN slri_u32 slri_perm_byte(slri_u64 bytes, slri_u32 selector)
{
    return (slri_u32)(bytes >> 8 * (selector & 7)) & 0xff;
}
SLRI_FN slri_u32 slri_byte_perm(slri_u32 x, slri_u32 y, slri_u32 s)
{
    slri_u64 bytes = (slri_u64)y << 32 | x;
    return slri_perm_byte(bytes, s) | slri_perm_byte(bytes, s >> 4) << 8 | slri_perm_byte(bytes, s >> 8) << 16 |
           slri_perm_byte(bytes, s >> 12) << 24;
}

#endif
