// SPDX-License-Identifier: Apache-2.0
// More of the device math library, by the rules of slr_math.h, behind that and slr_math_angles.h: double functions, and
// those of both kinds that are made of them. A float function here is the double one, rounded once more.
#ifndef SLRI_MATH_DOUBLE_H
#define SLRI_MATH_DOUBLE_H
// clang-format off

// ------------------------------------------------------------------------------------------------------ plain forms

// CUDA's spellings of one rounding to nearest.
#define SLRI_ROUNDED(T, f, name)                                                                                       \
    SLRI_FN T slri_##name##add_rn(T a, T b) { return slri_canon##f(a + b); }                                           \
    SLRI_FN T slri_##name##sub_rn(T a, T b) { return slri_canon##f(a - b); }                                           \
    SLRI_FN T slri_##name##mul_rn(T a, T b) { return slri_canon##f(a * b); }                                           \
    SLRI_FN T slri_##name##div_rn(T a, T b) { return slri_canon##f(a / b); }                                           \
    SLRI_FN T slri_##name##rcp_rn(T a) { return slri_canon##f(1 / a); }
SLRI_ROUNDED(float, 32, f)
SLRI_ROUNDED(double, 64, d)

SLRI_FN float slri_fdimf(float x, float y) { return slri_canon32(x != x || y != y ? x + y : x > y ? x - y : 0.0f); }
SLRI_FN double slri_fdim(double x, double y) { return slri_canon64(x != x || y != y ? x + y : x > y ? x - y : 0.0); }

// Rounded once: the compiler's instruction, or the C library's function, which must do the same.
#if defined(_WIN32) && !defined(__FMA__)
SLRI_FN double slri_fma(double a, double b, double c) { return slri_canon64(slri_exact_fma(a, b, c)); }
#else
SLRI_FN double slri_fma(double a, double b, double c) { return slri_canon64(__builtin_fma(a, b, c)); }
#endif

// ------------------------------------------------------------------------------------- exponentials and logarithms

SLRI_FN double slri_exp10(double x)
{
    double a = slri_clamp(x, -400.0, 400.0);
    struct slri_pair p = slri_two_prod(a, 0x1.a934f0979a371p+1);
    return slri_canon64(slri_exp2_pair(p.hi, p.lo + a * 0x1.7f2495fb7fa6dp-53));
}

// e^x - 1 for x in [-40, 40].
SLRI_FN double slri_expm1_inner(double x)
{
    double n = x * SLRI_LOG2_E + SLRI_ROUNDER, k = n - SLRI_ROUNDER, scale = slri_pow2(n);
    double high = x - k * SLRI_LN2_HIGH, low = k * SLRI_LN2_LOW, r = high - low;
    double q = r + (((high - r) - low) + r * r * slri_exp_tail(r));
    return scale * q + (scale - 1.0);
}

SLRI_FN double slri_expm1(double x)
{
    double near = slri_expm1_inner(slri_clamp(x, -40.0, 40.0));
    return slri_canon64(slri_copysign(x > 40.0 ? slri_exp(x) : near, x));
}

// log(1 + x) for x > -1: what 1 + x loses is put back.
SLRI_FN double slri_log1p_inner(double x)
{
    struct slri_pair s = slri_two_sum(1.0, x);
    struct slri_split a = slri_split_log(s.hi);
    double lost = a.k == 0.0 || !(x < 0x1p60) ? 0.0 : s.lo / s.hi;
    return slri_log_sum(a.k, a.k == 0.0 ? x : a.m - 1.0) + lost;
}

SLRI_FN double slri_log1p(double x)
{
    return slri_canon64(x == 0.0 ? x : slri_log_special(1.0 + x, slri_log1p_inner(x)));
}

// ----------------------------------------------------------------------------------------------------- hyperbolic

// e^a / 2 for a > 40, also where e^a is beyond the largest number.
SLRI_FN double slri_half_exp(double a)
{
    double h = slri_exp(0.5 * a);
    return 0.5 * h * h;
}

SLRI_FN double slri_sinh(double x)
{
    double a = slri_fabs(x), u = slri_expm1_inner(slri_clamp(a, 0.0, 40.0));
    double r = a > 40.0 ? (a > 700.0 ? slri_half_exp(a) : 0.5 * slri_exp(a)) : 0.5 * (u + u / (1.0 + u));
    return slri_canon64(slri_copysign(r, x));
}

SLRI_FN double slri_cosh(double x)
{
    double a = slri_fabs(x), e = slri_exp(slri_clamp(a, 0.0, 700.0));
    return slri_canon64(a > 700.0 ? slri_half_exp(a) : 0.5 * e + 0.5 / e);
}

SLRI_FN double slri_asinh(double x)
{
    double a = slri_fabs(x), s = slri_clamp(a, 0.0, 0x1p30), q = s * s;
    double near = slri_log1p_inner(s + q / (1.0 + __builtin_sqrt(1.0 + q)));
    return slri_canon64(x != x ? x : slri_copysign(a > 0x1p30 ? slri_log(a) + SLRI_LN2 : x == 0.0 ? a : near, x));
}

SLRI_FN double slri_acosh(double x)
{
    double t = slri_clamp(x, 1.0, 0x1p30) - 1.0, near = slri_log1p_inner(t + __builtin_sqrt(t * (2.0 + t)));
    double r = x > 0x1p30 ? slri_log(x) + SLRI_LN2 : t == 0.0 ? 0.0 : near;
    return x < 1.0 || x != x ? __builtin_nan("") : r;
}

SLRI_FN double slri_atanh(double x)
{
    double a = slri_fabs(x), near = 0.5 * slri_log1p_inner(2.0 * a / (1.0 - slri_clamp(a, 0.0, 1.0 - 0x1p-53)));
    double r = a == 1.0 ? SLRI_INF : x == 0.0 ? a : near;
    return a > 1.0 || x != x ? __builtin_nan("") : slri_copysign(r, x);
}

// ------------------------------------------------------------------------------------------------- inverse angles

SLRI_FN double slri_asin(double x)
{
    double a = slri_fabs(x), r = slri_atan_half_plane(a, __builtin_sqrt((1.0 - a) * (1.0 + a)));
    return slri_canon64(slri_copysign(r, x));
}

SLRI_FN double slri_acos(double x)
{
    return slri_canon64(slri_atan_half_plane(__builtin_sqrt((1.0 - x) * (1.0 + x)), x));
}

// sin(pi x) and cos(pi x): the reduction is exact.
SLRI_FN double slri_pi_angle(double x, slri_u64 turn)
{
    double a = slri_fabs(x), even = 2.0 * slri_trunc(0.5 * a), f = a - even; // in [0, 2)
    double n = 2.0 * f + SLRI_ROUNDER, rest = f - 0.5 * (n - SLRI_ROUNDER);
    struct slri_pair r = slri_two_prod(rest, 2.0 * SLRI_PI_2);
    struct slri_angle angle = {slri_bits(n) & 3, r.hi, r.lo + rest * (2.0 * SLRI_PI_2_LOW)};
    double y = slri_sin_angle(angle, turn, turn ? 0 : slri_bits(x) & SLRI_SIGN64);
    y = y == 0.0 ? (turn ? 0.0 : slri_copysign(0.0, x)) : y;
    return a < SLRI_INF ? y : __builtin_nan("");
}

SLRI_FN double slri_sinpi(double x) { return slri_pi_angle(x, 0); }
SLRI_FN double slri_cospi(double x) { return slri_pi_angle(x, 1); }

// -------------------------------------------------------------------------------------------------- roots, lengths

// A float's guess, and one step of Newton's with the cube as a pair; scaled so that nothing over- or underflows.
SLRI_FN double slri_cbrt(double x)
{
    double a = slri_fabs(x), in = a < 0x1p-700 ? 0x1p300 : a > 0x1p700 ? 0x1p-300 : 1.0;
    double out = a < 0x1p-700 ? 0x1p-100 : a > 0x1p700 ? 0x1p100 : 1.0, s = a * in;
    double y = slri_exp2_short(slri_log2_short(s) * 0x1.5555555555555p-2);
    struct slri_pair square = slri_two_prod(y, y), cube = slri_pair_mul(square, (struct slri_pair){y, 0.0});
    double r = (y - ((cube.hi - s) + cube.lo) / (3.0 * square.hi)) * out;
    return slri_canon64(x == 0.0 || !(a < SLRI_INF) ? x : slri_copysign(r, x));
}

SLRI_FN double slri_rcbrt(double x) { return slri_canon64(1.0 / slri_cbrt(x)); }

SLRI_FN double slri_hypot(double x, double y)
{
    double a = slri_fabs(x), b = slri_fabs(y), most = a > b ? a : b;
    double in = most > 0x1p500 ? 0x1p-600 : most < 0x1p-400 ? 0x1p600 : 1.0;
    double out = most > 0x1p500 ? 0x1p600 : most < 0x1p-400 ? 0x1p-600 : 1.0;
    struct slri_pair p = slri_two_prod(a * in, a * in), q = slri_two_prod(b * in, b * in), s = slri_two_sum(p.hi, q.hi);
    double h = __builtin_sqrt(s.hi);
    struct slri_pair back = slri_two_prod(h, h);
    double r = h + (h > 0.0 ? (((s.hi - back.hi) - back.lo) + (s.lo + (p.lo + q.lo))) / (2.0 * h) : 0.0);
    r = a == SLRI_INF || b == SLRI_INF ? SLRI_INF : r * out;
    return slri_canon64(r);
}

// -------------------------------------------------------------------------------------------------------- remainders

// Exact. Loops over the quotient's bits, 11 at a time, so it is not vectorised.
SLRI_FN double slri_fmod(double x, double y)
{
    slri_u64 bx = slri_bits(slri_fabs(x)), by = slri_bits(slri_fabs(y));
    if (!(slri_fabs(x) < SLRI_INF) || y == 0.0 || y != y)
        return __builtin_nan("");
    if (bx < by || x == 0.0)
        return x;
    slri_u64 ex = bx >> 52, ey = by >> 52;
    slri_u64 r = (bx & 0xfffffffffffffu) | (slri_u64)(ex != 0) << 52, m = (by & 0xfffffffffffffu) | (slri_u64)(ey != 0) << 52;
    ex += ex == 0;
    ey += ey == 0;
    slri_i32 left = (slri_i32)(ex - ey);
    for (r %= m; left > 0; left -= 11)
        r = (r << (left < 11 ? left : 11)) % m;
    double unit = slri_from_bits(ey > 52 ? (ey - 52) << 52 : (slri_u64)1 << (ey - 1));
    return slri_copysign((double)r * unit, x);
}

// What is left of x when the nearest whole multiple of y is taken away, that multiple even at a tie; exact.
SLRI_FN double slri_remainder(double x, double y)
{
    double p = slri_fabs(y), r = p <= 0x1p1022 ? slri_fmod(x, p + p) : x, a = slri_fabs(r);
    if (!(slri_fabs(x) < SLRI_INF) || y == 0.0 || y != y)
        return __builtin_nan("");
    if (p < 0x1p-1021) {
        a -= a + a > p ? p : 0.0;
        a -= slri_fabs(r) + slri_fabs(r) > p && a + a >= p ? p : 0.0;
    } else {
        double half = 0.5 * p, once = a > half ? a - p : a;
        a = a > half && once >= half ? once - p : once;
    }
    return slri_from_bits(slri_bits(a) ^ (slri_bits(x) & SLRI_SIGN64));
}

SLRI_FN float slri_remainderf(float x, float y) { return (float)slri_canon64(slri_remainder(x, y)); }

// ------------------------------------------------------------------------------------------------------ error function

// erfc(x) for x >= 0: e^(-x^2) / (1 + 2 x) times a polynomial in (x - 4) / (x + 4), fitted on [0, 28] (the form is
// Shepherd's and Laframboise's, Math. Comp. 36, 1981).
SLRI_FN double slri_erfc_far(double x)
{
    double t = (x - 4.0) / (x + 4.0);
    double p = -0x1.f47207b168acdp-30;
    p = slri_horner2(p, t, -0x1.d5bb4c6d5b92dp-27, -0x1.09198a32cd9a9p-27);
    p = slri_horner4(p, t, 0x1.ef6c0c38d1a2bp-24, 0x1.0d535fce28f99p-24, -0x1.c05fc977974eap-21, 0x1.4392983419eddp-22);
    p = slri_horner4(p, t, 0x1.7fb88e391a9fep-18, -0x1.78a43458cca4bp-17, -0x1.996ad056e530bp-16, 0x1.3be0b393ee921p-13);
    p = slri_horner4(p, t, -0x1.a1de7c6e9ac9cp-13, -0x1.8d4a9dc0d22f3p-11, 0x1.49c671893963fp-8, -0x1.0962388367b2fp-6);
    p = slri_horner4(p, t, 0x1.3079edfa1033fp-5, -0x1.0fb06dfe46987p-4, 0x1.7fee004df6263p-4, -0x1.9ddb23c3e98a6p-4);
    p = slri_horner4(p, t, 0x1.16ecefcfa6077p-4, 0x1.f7f5df66fd951p-7, -0x1.1df1ad154a29cp-3, 0x1.3ba5916e9fd7fp+0);
    struct slri_pair square = slri_two_prod(x, x);
    double e = slri_exp(-square.hi);
    return p / (1.0 + 2.0 * x) * (e - e * square.lo);
}

// erf(x) for |x| <= 1.
SLRI_FN double slri_erf_near(double x)
{
    double z = x * x;
    double p = 0x1.05ffd737fb32ep-34;
    p = slri_horner4(p, z, -0x1.389d4f2641625p-30, 0x1.f7b4bf3b13964p-27, -0x1.5f1ecb6f0764cp-23, 0x1.b9df224ca4b97p-20);
    p = slri_horner4(p, z, -0x1.f4d1e3183f7aep-17, 0x1.f9a321d5b8e1ep-14, -0x1.c02db3dac435fp-11, 0x1.565bcd0dbaa38p-8);
    p = slri_horner4(p, z, -0x1.b82ce31284e00p-6, 0x1.ce2f21a042b30p-4, -0x1.812746b0379e6p-2, 0x1.20dd750429b6dp+0);
    return x * p;
}

SLRI_FN double slri_erf(double x)
{
    double a = slri_clamp(slri_fabs(x), 0.0, 28.0);
    return slri_canon64(slri_copysign(a < 1.0 ? slri_erf_near(a) : 1.0 - slri_erfc_far(a), x));
}

SLRI_FN double slri_erfc(double x)
{
    double a = slri_clamp(slri_fabs(x), 0.0, 28.0), near = 1.0 - slri_erf_near(x), far = slri_erfc_far(a);
    return slri_canon64(a < 0.25 ? near : x < 0.0 ? 2.0 - far : far);
}

// ------------------------------------------------------------------------------------------------------- of floats

SLRI_FN float slri_asinhf(float x) { return slri_canon32((float)slri_asinh(x)); }
SLRI_FN float slri_acoshf(float x) { return slri_canon32((float)slri_acosh(x)); }
SLRI_FN float slri_atanhf(float x) { return slri_canon32((float)slri_atanh(x)); }
SLRI_FN float slri_sinpif(float x) { return slri_canon32((float)slri_sinpi(x)); }
SLRI_FN float slri_cospif(float x) { return slri_canon32((float)slri_cospi(x)); }
SLRI_FN float slri_rcbrtf(float x) { return slri_canon32((float)slri_rcbrt(x)); }

#endif
