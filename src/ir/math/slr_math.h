// SPDX-License-Identifier: Apache-2.0
// The device math library: every function a kernel may call, with the same bits from every compiler, at every
// optimisation level.
//
// This text stands in front of emitted kernel C, and the interpreter includes it, so it needs no other header. It must
// be compiled with -ffp-contract=off. How the bits are kept equal: only IEEE + - * / sqrt, integer arithmetic and
// selects, in the order written; no table look-up, no libm; every NaN that is computed is the one canonical NaN. How
// loops stay vectorisable: no branch, no call, no int64 <-> double conversion (magic numbers instead). A float function
// works in double and rounds once.
#ifndef SLRI_MATH_H
#define SLRI_MATH_H
// Laid out by hand: one-line functions stay on a line, a polynomial's rows stay rows.
// clang-format off

#ifndef SLRI_MATH_SELF // else slr_math_self.h stands in front
#if defined(__FAST_MATH__) || (defined(__i386__) && !defined(__SSE2_MATH__))
#error "slr_math.h needs IEEE arithmetic without excess precision: no -ffast-math, on i386 -mfpmath=sse"
#endif
#ifdef __clang__
#pragma STDC FP_CONTRACT OFF
#endif

#define SLRI_FN static inline __attribute__((always_inline, unused))

typedef __INT8_TYPE__ slri_i8;
typedef __UINT8_TYPE__ slri_u8;
typedef __INT16_TYPE__ slri_i16;
typedef __UINT16_TYPE__ slri_u16;
typedef __INT32_TYPE__ slri_i32;
typedef __UINT32_TYPE__ slri_u32;
typedef __INT64_TYPE__ slri_i64;
typedef __UINT64_TYPE__ slri_u64;
__extension__ typedef unsigned __int128 slri_u128;
#endif

// An unevaluated sum hi + lo, |lo| <= ulp(hi)/2.
struct slri_pair {
    double hi, lo;
};

// -------------------------------------------------------------------------------------------------------- bits and NaN

#ifndef SLRI_MATH_SELF
#define SLRI_BIT_CAST(name, to, from)                                                                                  \
    SLRI_FN to name(from x) { return (union { from in; to out; }){.in = x}.out; }
SLRI_BIT_CAST(slri_float_as_uint, slri_u32, float)
SLRI_BIT_CAST(slri_uint_as_float, float, slri_u32)
SLRI_BIT_CAST(slri_bits, slri_u64, double)
SLRI_BIT_CAST(slri_from_bits, double, slri_u64)
#endif
SLRI_FN slri_i32 slri_float_as_int(float x) { return (slri_i32)slri_float_as_uint(x); }
SLRI_FN float slri_int_as_float(slri_i32 x) { return slri_uint_as_float((slri_u32)x); }
SLRI_FN slri_i64 slri_double_as_longlong(double x) { return (slri_i64)slri_bits(x); }
SLRI_FN double slri_longlong_as_double(slri_i64 x) { return slri_from_bits((slri_u64)x); }

#define SLRI_SIGN64 0x8000000000000000u
#define SLRI_INF __builtin_inf()
#define SLRI_PI_2 0x1.921fb54442d18p+0 // pi/2, and what is left of it
#define SLRI_PI_2_LOW 0x1.1a62633145c07p-54

// x86 makes a negative NaN, other machines and constant folding a positive one: only one of them leaves this file.
SLRI_FN float slri_canon32(float x) { return x == x ? x : __builtin_nanf(""); }
SLRI_FN double slri_canon64(double x) { return x == x ? x : __builtin_nan(""); }
SLRI_FN float slri_narrow(double x) { return slri_canon32((float)x); }

#define SLRI_SIGNS(T, f, as_bits, from_bits, sign)                                                                     \
    SLRI_FN T slri_fabs##f(T x) { return from_bits(as_bits(x) & ~sign); }                                              \
    SLRI_FN T slri_copysign##f(T x, T y) { return from_bits((as_bits(x) & ~sign) | (as_bits(y) & sign)); }             \
    SLRI_FN slri_i32 slri_isnan##f(T x) { return x != x; }                                                             \
    SLRI_FN slri_i32 slri_isinf##f(T x) { return slri_fabs##f(x) == (T)SLRI_INF; }                                     \
    SLRI_FN slri_i32 slri_isfinite##f(T x) { return slri_fabs##f(x) < (T)SLRI_INF; }                                   \
    SLRI_FN slri_i32 slri_signbit##f(T x) { return (as_bits(x) & sign) != 0; }
SLRI_SIGNS(float, f, slri_float_as_uint, slri_uint_as_float, 0x80000000u)
SLRI_SIGNS(double, , slri_bits, slri_from_bits, SLRI_SIGN64)

// ------------------------------------------------------------------------------------------------ minimum and rounding

// IEEE 754-2008 minNum and maxNum: a NaN loses against a number. Zeros as on the devices: -0 is less than +0. Both orders
// of the operands, merged, choose between zeros: vector units have each order as one instruction.
#define SLRI_MINIMUM(name, T, canon, less, as_bits, from_bits, merge)                                                  \
    SLRI_FN T name(T a, T b)                                                                                           \
    {                                                                                                                  \
        T r = from_bits(as_bits(a less b ? a : b) merge as_bits(b less a ? b : a));                                    \
        r = b != b ? a : r;                                                                                            \
        return a != a ? canon(b) : r;                                                                                  \
    }
SLRI_MINIMUM(slri_fminf, float, slri_canon32, <, slri_float_as_uint, slri_uint_as_float, |)
SLRI_MINIMUM(slri_fmaxf, float, slri_canon32, >, slri_float_as_uint, slri_uint_as_float, &)
SLRI_MINIMUM(slri_fmin, double, slri_canon64, <, slri_bits, slri_from_bits, |)
SLRI_MINIMUM(slri_fmax, double, slri_canon64, >, slri_bits, slri_from_bits, &)

SLRI_FN float slri_saturatef(float x)
{
    x = x > 0.0f ? x : 0.0f;
    return x < 1.0f ? x : 1.0f;
}

// Adding and subtracting 2^23 (2^52: `whole`) rounds a smaller magnitude to an integer, ties to even; a larger one has
// no fraction. In round, what is left at 1/2 was a tie that went down to even.
#define SLRI_ROUNDING(T, f, canon, whole)                                                                              \
    SLRI_FN T slri_nearest##f(T x)                                                                                     \
    {                                                                                                                  \
        T a = slri_fabs##f(x);                                                                                         \
        return a < whole ? slri_copysign##f((a + whole) - whole, x) : x;                                               \
    }                                                                                                                  \
    SLRI_FN T slri_rint##f(T x) { return canon(slri_nearest##f(x)); }                                                  \
    SLRI_FN T slri_floor##f(T x)                                                                                       \
    {                                                                                                                  \
        T r = slri_nearest##f(x);                                                                                      \
        return canon(slri_copysign##f(r - (T)(r > x), x));                                                             \
    }                                                                                                                  \
    SLRI_FN T slri_ceil##f(T x)                                                                                        \
    {                                                                                                                  \
        T r = slri_nearest##f(x);                                                                                      \
        return canon(slri_copysign##f(r + (T)(r < x), x));                                                             \
    }                                                                                                                  \
    SLRI_FN T slri_trunc##f(T x)                                                                                       \
    {                                                                                                                  \
        T a = slri_fabs##f(x), r = slri_nearest##f(a);                                                                 \
        return canon(slri_copysign##f(r - (T)(r > a), x));                                                             \
    }                                                                                                                  \
    SLRI_FN T slri_round##f(T x)                                                                                       \
    {                                                                                                                  \
        T a = slri_fabs##f(x), r = slri_nearest##f(a);                                                                 \
        return canon(slri_copysign##f(r + (T)(a - r >= (T)0.5), x));                                                   \
    }
SLRI_ROUNDING(float, f, slri_canon32, 0x1p23f)
SLRI_ROUNDING(double, , slri_canon64, 0x1p52)

// ---------------------------------------------------------------------------------------------- conversion to integers

// Truncates, saturates, NaN gives 0. `top` is the least value above the range.
#define SLRI_TO_INTEGER(suffix, to, via, bottom, top, min, max)                                                        \
    SLRI_FN to slri_f32_to_##suffix(float x)                                                                           \
    {                                                                                                                  \
        float inside = x >= (float)(bottom) && x < (float)(top) ? x : 0.0f;                                            \
        to r = (to)(via)inside;                                                                                        \
        r = x >= (float)(top) ? (to)(max) : r;                                                                         \
        return x < (float)(bottom) ? (to)(min) : r;                                                                    \
    }                                                                                                                  \
    SLRI_FN to slri_f64_to_##suffix(double x)                                                                          \
    {                                                                                                                  \
        double inside = x >= (bottom) && x < (top) ? x : 0.0;                                                          \
        to r = (to)(via)inside;                                                                                        \
        r = x >= (top) ? (to)(max) : r;                                                                                \
        return x < (bottom) ? (to)(min) : r;                                                                           \
    }
SLRI_TO_INTEGER(i8, slri_i8, slri_i32, -0x1p7, 0x1p7, -128, 127)
SLRI_TO_INTEGER(u8, slri_u8, slri_i32, 0.0, 0x1p8, 0, 255)
SLRI_TO_INTEGER(i16, slri_i16, slri_i32, -0x1p15, 0x1p15, -32768, 32767)
SLRI_TO_INTEGER(u16, slri_u16, slri_i32, 0.0, 0x1p16, 0, 65535)
SLRI_TO_INTEGER(i32, slri_i32, slri_i32, -0x1p31, 0x1p31, -2147483647 - 1, 2147483647)
SLRI_TO_INTEGER(u32, slri_u32, slri_u32, 0.0, 0x1p32, 0, 4294967295u)
SLRI_TO_INTEGER(i64, slri_i64, slri_i64, -0x1p63, 0x1p63, -9223372036854775807 - 1, 9223372036854775807)
SLRI_TO_INTEGER(u64, slri_u64, slri_u64, 0.0, 0x1p64, 0, 18446744073709551615u)

// ------------------------------------------------------------------------------------------------------------ integers

#define SLRI_ORDERED(suffix, T)                                                                                        \
    SLRI_FN T slri_min_##suffix(T a, T b) { return a < b ? a : b; }                                                    \
    SLRI_FN T slri_max_##suffix(T a, T b) { return a > b ? a : b; }
SLRI_ORDERED(i32, slri_i32)
SLRI_ORDERED(u32, slri_u32)
SLRI_ORDERED(i64, slri_i64)
SLRI_ORDERED(u64, slri_u64)

// The magnitude of the least integer is itself, as two's complement wraps.
SLRI_FN slri_i32 slri_abs_i32(slri_i32 x) { return x < 0 ? (slri_i32)(0u - (slri_u32)x) : x; }
SLRI_FN slri_i64 slri_abs_i64(slri_i64 x) { return x < 0 ? (slri_i64)(0u - (slri_u64)x) : x; }
SLRI_FN slri_i32 slri_clz(slri_i32 x) { return x ? __builtin_clz((slri_u32)x) : 32; }
SLRI_FN slri_i32 slri_clzll(slri_i64 x) { return __builtin_clzll((slri_u64)x | 1) + (x == 0); }
SLRI_FN slri_i32 slri_ffs(slri_i32 x) { return x ? __builtin_ctz((slri_u32)x) + 1 : 0; }
SLRI_FN slri_i32 slri_ffsll(slri_i64 x) { return x ? __builtin_ctzll((slri_u64)x) + 1 : 0; }

SLRI_FN slri_i32 slri_popcll(slri_u64 x)
{
    x = x - (x >> 1 & 0x5555555555555555u);
    x = (x & 0x3333333333333333u) + (x >> 2 & 0x3333333333333333u);
    x = (x + (x >> 4)) & 0x0f0f0f0f0f0f0f0fu;
    return (slri_i32)(x * 0x0101010101010101u >> 56);
}

SLRI_FN slri_i32 slri_popc(slri_u32 x) { return slri_popcll(x); }

SLRI_FN slri_u64 slri_brevll(slri_u64 x)
{
    x = (x >> 1 & 0x5555555555555555u) | (x & 0x5555555555555555u) << 1;
    x = (x >> 2 & 0x3333333333333333u) | (x & 0x3333333333333333u) << 2;
    x = (x >> 4 & 0x0f0f0f0f0f0f0f0fu) | (x & 0x0f0f0f0f0f0f0f0fu) << 4;
    return __builtin_bswap64(x);
}

SLRI_FN slri_u32 slri_brev(slri_u32 x) { return (slri_u32)(slri_brevll(x) >> 32); }
SLRI_FN slri_i32 slri_mulhi(slri_i32 a, slri_i32 b) { return (slri_i32)(slri_u32)((slri_u64)((slri_i64)a * b) >> 32); }
SLRI_FN slri_u32 slri_umulhi(slri_u32 a, slri_u32 b) { return (slri_u32)((slri_u64)a * b >> 32); }

// ---------------------------------------------------------------------------------------------------- exact arithmetic

SLRI_FN float slri_sqrtf(float x) { return slri_canon32(__builtin_sqrtf(x)); }
SLRI_FN double slri_sqrt(double x) { return slri_canon64(__builtin_sqrt(x)); }
SLRI_FN float slri_rsqrtf(float x) { return slri_canon32(1.0f / __builtin_sqrtf(x)); }
SLRI_FN double slri_rsqrt(double x) { return slri_canon64(1.0 / __builtin_sqrt(x)); }
SLRI_FN float slri_fdividef(float a, float b) { return slri_canon32(a / b); }

// a + b exactly; NaN in lo where the sum is not finite (Knuth, The Art of Computer Programming 2, 4.2.2).
SLRI_FN struct slri_pair slri_two_sum(double a, double b)
{
    double s = a + b, bb = s - a;
    return (struct slri_pair){s, (a - (s - bb)) + (b - bb)};
}

// The same for |a| >= |b|.
SLRI_FN struct slri_pair slri_fast_two_sum(double a, double b)
{
    double s = a + b;
    return (struct slri_pair){s, b - (s - a)};
}

// a * b exactly, while nothing over- or underflows (Dekker, Numer. Math. 18, 1971).
SLRI_FN struct slri_pair slri_two_prod(double a, double b)
{
    double ta = a * 0x1.0000002p+27, tb = b * 0x1.0000002p+27;
    double ah = ta - (ta - a), bh = tb - (tb - b);
    double al = a - ah, bl = b - bh, p = a * b;
    return (struct slri_pair){p, al * bl - (((p - ah * bh) - al * bh) - ah * bl)};
}

SLRI_FN struct slri_pair slri_pair_mul(struct slri_pair a, struct slri_pair b)
{
    struct slri_pair p = slri_two_prod(a.hi, b.hi);
    return slri_fast_two_sum(p.hi, p.lo + (a.hi * b.lo + a.lo * b.hi));
}

// Correctly rounded, by the instruction where the target has it; the machine then decides a NaN, as for a + b. Without:
// the product of floats is exact in double, the sum is rounded to odd there (so that rounding it again to float cannot
// err: Boldo and Melquiond, IEEE Trans. Computers 57(4), 2008).
SLRI_FN float slri_fmaf(float a, float b, float c)
{
#if defined(__FMA__) || defined(__ARM_FEATURE_FMA)
    return __builtin_fmaf(a, b, c);
#else
    struct slri_pair s = slri_two_sum((double)a * b, c);
    slri_u64 bits = slri_bits(s.hi);
    slri_u64 inexact = s.lo > 0.0 || s.lo < 0.0;
    slri_u64 away = (s.lo > 0.0) == (s.hi > 0.0) ? 1u : ~(slri_u64)0;
    bits += (inexact & ~bits) != 0 ? away : 0u;
    return slri_narrow(slri_from_bits(bits));
#endif
}

// Exact. Loops over the quotient's bits, 40 at a time, so it is not vectorised.
SLRI_FN float slri_fmodf(float x, float y)
{
    slri_u64 bx = slri_bits(slri_fabsf(x)), by = slri_bits(slri_fabsf(y));
    if (!(slri_fabsf(x) < __builtin_inff()) || y == 0.0f || y != y)
        return __builtin_nanf("");
    if (bx < by || x == 0.0f)
        return x;
    // In double every float is normal, its mantissa's low 29 bits zero.
    slri_u64 r = (bx >> 29 & 0x7fffff) | 0x800000, m = (by >> 29 & 0x7fffff) | 0x800000;
    slri_i32 left = (slri_i32)(bx >> 52) - (slri_i32)(by >> 52);
    for (r %= m; left > 0; left -= 40)
        r = (r << (left < 40 ? left : 40)) % m;
    double unit = slri_from_bits(((by >> 52) - 23) << 52);
    return slri_copysignf((float)((double)r * unit), x);
}

// ----------------------------------------------------------------------------------------- exponentials and logarithms

#define SLRI_LN2_HIGH 0x1.62e42fefa3800p-1 // 42 bits: a product with an exponent is exact
#define SLRI_LN2_LOW 0x1.ef35793c76730p-45
#define SLRI_LN2 0x1.62e42fefa39efp-1
#define SLRI_LOG2_E 0x1.71547652b82fep+0
#define SLRI_LOG2_E_LOW 0x1.777d0ffda0d24p-56
#define SLRI_ROUNDER 0x1.8p52 // x + this: the nearest integer stands in the low bits; minus this again: as a double

SLRI_FN double slri_clamp(double x, double low, double high)
{
    x = x < low ? low : x; // written so that NaN passes
    return x > high ? high : x;
}

// 2^n for n in [-1022, 1023], given as n + SLRI_ROUNDER.
SLRI_FN double slri_pow2(double rounded) { return slri_from_bits((slri_bits(rounded) << 52) + 0x3ff0000000000000u); }

// Polynomials are rows of Horner steps, the highest power first.
SLRI_FN double slri_horner2(double p, double x, double a, double b) { return (p * x + a) * x + b; }
SLRI_FN double slri_horner3(double p, double x, double a, double b, double c) { return ((p * x + a) * x + b) * x + c; }

SLRI_FN double slri_horner4(double p, double x, double a, double b, double c, double d)
{
    return (((p * x + a) * x + b) * x + c) * x + d;
}

// e^r - 1 for |r| <= ln(2)/2; relative error below 2^-43.
SLRI_FN double slri_expm1_short(double r)
{
    double p = 0x1.72ad458027fbcp-19;
    p = slri_horner3(p, r, 0x1.a136bf03ec612p-16, 0x1.a019c36bc053cp-13, 0x1.6c166bde96885p-10);
    p = slri_horner4(p, r, 0x1.111111170bc08p-7, 0x1.55555565c7e0ep-5, 0x1.5555555554f96p-3, 0x1.fffffffffe062p-2);
    return r + r * r * p;
}

// (e^r - 1 - r) / r^2 for |r| <= ln(2)/2, to double precision.
SLRI_FN double slri_exp_tail(double r)
{
    double p = 0x1.61bfaa228dde5p-33;
    p = slri_horner2(p, r, 0x1.1f7f2776cfaf2p-29, 0x1.ae642c82e33d5p-26);
    p = slri_horner4(p, r, 0x1.27e4d41966f2fp-22, 0x1.71de3a5aa7bb7p-19, 0x1.a01a01a9e991bp-16, 0x1.a01a01a0196acp-13);
    p = slri_horner4(p, r, 0x1.6c16c16c15a68p-10, 0x1.1111111111111p-7, 0x1.5555555555557p-5, 0x1.5555555555555p-3);
    return p * r + 0.5;
}

// e^x - 1 as scale * q + (scale - 1), for |x| < 700; to about 2^-43. e^x is scale + scale * q.
SLRI_FN struct slri_pair slri_exp_parts(double x)
{
    double n = x * SLRI_LOG2_E + SLRI_ROUNDER, k = n - SLRI_ROUNDER;
    double r = (x - k * SLRI_LN2_HIGH) - k * SLRI_LN2_LOW;
    return (struct slri_pair){slri_pow2(n), slri_expm1_short(r)};
}

SLRI_FN double slri_exp_short(double x)
{
    struct slri_pair e = slri_exp_parts(x);
    return e.hi + e.hi * e.lo;
}

SLRI_FN double slri_expm1_mid(double x)
{
    struct slri_pair e = slri_exp_parts(x);
    return e.hi * e.lo + (e.hi - 1.0);
}

// 2^x for |x| < 1000, to about 2^-43.
SLRI_FN double slri_exp2_short(double x)
{
    double n = x + SLRI_ROUNDER, scale = slri_pow2(n);
    return scale + scale * slri_expm1_short((x - (n - SLRI_ROUNDER)) * SLRI_LN2);
}

// The clamps lie where the result has long rounded to 0 or infinity.
SLRI_FN float slri_expf(float x) { return slri_narrow(slri_exp_short(slri_clamp(x, -110.0, 90.0))); }
SLRI_FN float slri_exp2f(float x) { return slri_narrow(slri_exp2_short(slri_clamp(x, -160.0, 130.0))); }

SLRI_FN float slri_exp10f(float x)
{
    double d = slri_clamp(x, -50.0, 40.0);
    double n = d * 0x1.a934f0979a371p+1 + SLRI_ROUNDER, k = n - SLRI_ROUNDER, scale = slri_pow2(n);
    double r = (d - k * 0x1.34413509f7800p-2) - k * 0x1.fef311f12b358p-46; // log10(2), high 42 bits and the rest
    return slri_narrow(scale + scale * slri_expm1_short(r * 0x1.26bb1bbb55516p+1));
}

SLRI_FN float slri_expm1f(float x)
{
    return slri_canon32(slri_copysignf((float)slri_expm1_mid(slri_clamp(x, -40.0, 90.0)), x));
}

// scale * (1 + hi + lo + ...) with 2^k applied in two steps, so that k may reach the subnormals and beyond 1023.
SLRI_FN double slri_exp_finish(double hi, double lo, double rounded)
{
    double y = 1.0 + (hi + (lo + hi * hi * slri_exp_tail(hi)));
    slri_u64 k = slri_bits(rounded) - slri_bits(SLRI_ROUNDER) + 2048, half = k >> 1; // + 2048: never negative
    double a = slri_from_bits((half - 1024 + 1023) << 52), b = slri_from_bits((k - half - 1024 + 1023) << 52);
    return y * a * b;
}

SLRI_FN double slri_exp(double x)
{
    x = slri_clamp(x, -760.0, 720.0);
    double n = x * SLRI_LOG2_E + SLRI_ROUNDER, k = n - SLRI_ROUNDER;
    double high = x - k * SLRI_LN2_HIGH, low = k * SLRI_LN2_LOW, r = high - low;
    return slri_canon64(slri_exp_finish(r, (high - r) - low, n));
}

// 2^(hi + lo), |lo| <= 2^-40.
SLRI_FN double slri_exp2_pair(double hi, double lo)
{
    double x = slri_clamp(hi, -1100.0, 1100.0), n = x + SLRI_ROUNDER, f = x - (n - SLRI_ROUNDER);
    struct slri_pair g = slri_two_sum(f, lo), r = slri_two_prod(g.hi, SLRI_LN2);
    return slri_exp_finish(r.hi, r.lo + (g.hi * 0x1.abc9e3b39803fp-56 + g.lo * SLRI_LN2), n);
}

SLRI_FN double slri_exp2(double x) { return slri_canon64(slri_exp2_pair(x, 0.0)); }

// x = m * 2^k with m in [sqrt(1/2), sqrt(2)); for normal x > 0.
struct slri_split {
    double k, m;
};

SLRI_FN struct slri_split slri_split_log(double x)
{
    slri_u64 bits = slri_bits(x), e = (bits - 0x3fe6a09e667f3bcdu + 0x4000000000000000u) >> 52; // k + 1024
    double k = slri_from_bits(0x4330000000000000u | e) - (0x1p52 + 1024.0);
    return (struct slri_split){k, slri_from_bits(bits - ((e - 1024) << 52))};
}

// log(1 + f) + k log(2), where sqrt(1/2) <= 1 + f < sqrt(2). log(1 + f) = f - f^2/2 + s (f^2/2 + R(s^2)), s = f / (2 +
// f).
SLRI_FN double slri_log_sum(double k, double f)
{
    double s = f / (2.0 + f), z = s * s, half = 0.5 * f * f;
    double p = 0x1.0c04595972ab8p-3;
    p = slri_horner3(p, z, 0x1.0fbe83c2cbcf3p-3, 0x1.3b1c360763b8ap-3, 0x1.745cf901605f7p-3);
    p = slri_horner4(p, z, 0x1.c71c720160b47p-3, 0x1.2492492476c87p-2, 0x1.9999999999a38p-2, 0x1.5555555555555p-1);
    return k * SLRI_LN2_HIGH - ((half - (s * (half + z * p) + k * SLRI_LN2_LOW)) - f);
}

// What every logarithm gives outside (0, inf).
SLRI_FN double slri_log_special(double x, double y)
{
    y = x == SLRI_INF ? x : y;
    y = x == 0.0 ? -SLRI_INF : y;
    return x < 0.0 || x != x ? __builtin_nan("") : y;
}

SLRI_FN float slri_logf(float x)
{
    struct slri_split a = slri_split_log(x);
    return (float)slri_log_special(x, slri_log_sum(a.k, a.m - 1.0));
}

// log2(x) for a normal x > 0, which every positive float is in double; to about 2^-50.
SLRI_FN double slri_log2_short(double a)
{
    struct slri_split s = slri_split_log(a);
    return s.k + slri_log_sum(0.0, s.m - 1.0) * SLRI_LOG2_E;
}

SLRI_FN float slri_log2f(float x) { return (float)slri_log_special(x, slri_log2_short(x)); }

SLRI_FN float slri_log10f(float x)
{
    struct slri_split a = slri_split_log(x);
    double y = a.k * 0x1.34413509f79ffp-2 + slri_log_sum(0.0, a.m - 1.0) * 0x1.bcb7b1526e50ep-2;
    return (float)slri_log_special(x, y);
}

SLRI_FN float slri_log1pf(float x)
{
    struct slri_split a = slri_split_log(1.0 + x);
    double y = slri_log_sum(a.k, a.k == 0.0 ? x : a.m - 1.0); // near 0, 1 + x has lost bits that x has
    return slri_canon32(x == 0.0f ? x : (float)slri_log_special(1.0 + x, y));
}

// Brings subnormals into the normal range.
SLRI_FN struct slri_split slri_split_log64(double x)
{
    double small = x < 0x1p-1022 ? 1.0 : 0.0;
    struct slri_split a = slri_split_log(small != 0.0 ? x * 0x1p54 : x);
    a.k -= 54.0 * small;
    return a;
}

SLRI_FN double slri_log(double x)
{
    struct slri_split a = slri_split_log64(x);
    return slri_log_special(x, slri_log_sum(a.k, a.m - 1.0));
}

SLRI_FN double slri_log2(double x)
{
    struct slri_split a = slri_split_log64(x);
    double y = slri_log_sum(0.0, a.m - 1.0);
    return slri_log_special(x, a.k + (y * SLRI_LOG2_E + y * SLRI_LOG2_E_LOW));
}

SLRI_FN double slri_log10(double x)
{
    struct slri_split a = slri_split_log64(x);
    double y = slri_log_sum(0.0, a.m - 1.0);
    return slri_log_special(x, a.k * 0x1.34413509f7800p-2 + (y * 0x1.bcb7b1526e50ep-2 + a.k * 0x1.fef311f12b358p-46));
}

// -------------------------------------------------------------------------------------------------------------- powers

SLRI_FN slri_i32 slri_is_odd(double y)
{
    double half = 0.5 * y;
    return slri_nearest(y) == y && slri_nearest(half) != half && slri_fabs(y) < SLRI_INF;
}

// C17 F.10.4.4, given |x|^y where that is ordinary.
SLRI_FN double slri_pow_special(double x, double y, double r)
{
    double a = slri_fabs(x), b = slri_fabs(y);
    double outside = (a > 1.0) == (y > 0.0) ? SLRI_INF : 0.0;
    r = a == 0.0 || a == SLRI_INF || b == SLRI_INF ? outside : r;
    slri_u64 sign = slri_is_odd(y) ? slri_bits(x) & SLRI_SIGN64 : 0;
    r = slri_from_bits(slri_bits(r) | sign);
    r = x < 0.0 && a < SLRI_INF && b < SLRI_INF && slri_nearest(y) != y ? __builtin_nan("") : r;
    r = x != x || y != y ? __builtin_nan("") : r;
    return x == 1.0 || y == 0.0 || (a == 1.0 && b == SLRI_INF) ? 1.0 : r;
}

SLRI_FN float slri_powf(float x, float y)
{
    double e = y * slri_log2_short(slri_fabsf(x));
    return slri_narrow(slri_pow_special(x, y, slri_exp2_short(slri_clamp(e, -160.0, 130.0))));
}

SLRI_FN float slri_cbrtf(float x)
{
    float a = slri_fabsf(x);
    float r = (float)slri_exp2_short(slri_log2_short(a) * 0x1.5555555555555p-2);
    return slri_canon32(x == 0.0f || !(a < __builtin_inff()) ? x : slri_copysignf(r, x));
}

SLRI_FN float slri_hypotf(float x, float y)
{
    double r = __builtin_sqrt((double)x * x + (double)y * y);
    return slri_narrow(slri_isinff(x) || slri_isinff(y) ? SLRI_INF : r);
}

// log2(m * 2^k) as a pair, relative error about 2^-65: 2 atanh(s) = 2 s + s z (2/3 + z Q(z)), z = s^2.
SLRI_FN struct slri_pair slri_log2_pair(struct slri_split a)
{
    double f = a.m - 1.0, den = 2.0 + f, den_low = f - (den - 2.0), s_high = f / den;
    struct slri_pair back = slri_two_prod(s_high, den);
    struct slri_pair s = slri_fast_two_sum(s_high, (((f - back.hi) - back.lo) - s_high * den_low) / den);
    struct slri_pair z = slri_pair_mul(s, s);
    double q = 0x1.b8d433113b7fap-4;
    q = slri_horner4(q, z.hi, 0x1.ac4a89c964b82p-4, 0x1.e1f7fa7547177p-4, 0x1.1110dfad0f8eap-3, 0x1.3b13b1bc75cd4p-3);
    q = slri_horner4(q, z.hi, 0x1.745d174513593p-3, 0x1.c71c71c71cfd9p-3, 0x1.2492492492491p-2, 0x1.999999999999ap-2);
    struct slri_pair c = slri_fast_two_sum(0x1.5555555555555p-1, z.hi * q);
    c.lo += 0x1.5555555555555p-55;
    struct slri_pair t = slri_pair_mul(slri_pair_mul(s, z), c);
    struct slri_pair l = slri_fast_two_sum(2.0 * s.hi, t.hi);
    l = slri_fast_two_sum(l.hi, l.lo + (2.0 * s.lo + t.lo));
    l = slri_pair_mul(l, (struct slri_pair){SLRI_LOG2_E, SLRI_LOG2_E_LOW});
    struct slri_pair sum = slri_two_sum(a.k, l.hi);
    return slri_fast_two_sum(sum.hi, sum.lo + l.lo);
}

// y is cut where even the least logarithm over- or underflows.
SLRI_FN double slri_pow(double x, double y)
{
    struct slri_pair l = slri_log2_pair(slri_split_log64(slri_fabs(x)));
    double small = slri_clamp(y, -0x1p68, 0x1p68);
    struct slri_pair e = slri_two_prod(small, l.hi);
    return slri_pow_special(x, y, slri_exp2_pair(e.hi, slri_fabs(e.hi) < 1100.0 ? e.lo + small * l.lo : 0.0));
}

// ---------------------------------------------------------------------------------------------------------- hyperbolic

SLRI_FN float slri_sinhf(float x)
{
    double u = slri_expm1_mid(slri_clamp(slri_fabsf(x), 0.0, 90.0));
    return slri_canon32(slri_copysignf((float)(0.5 * (u + u / (1.0 + u))), x));
}

SLRI_FN float slri_coshf(float x)
{
    double e = slri_exp_short(slri_clamp(slri_fabsf(x), 0.0, 90.0));
    return slri_narrow(0.5 * (e + 1.0 / e));
}

SLRI_FN float slri_tanhf(float x)
{
    double u = slri_expm1_mid(slri_clamp(2.0 * slri_fabsf(x), 0.0, 40.0));
    return slri_canon32(slri_copysignf((float)(u / (2.0 + u)), x));
}

SLRI_FN double slri_tanh(double x)
{
    double a = slri_clamp(2.0 * slri_fabs(x), 0.0, 50.0);
    double n = a * SLRI_LOG2_E + SLRI_ROUNDER, k = n - SLRI_ROUNDER, scale = slri_pow2(n);
    double high = a - k * SLRI_LN2_HIGH, low = k * SLRI_LN2_LOW, r = high - low;
    double q = r + (((high - r) - low) + r * r * slri_exp_tail(r));
    double u = scale * q + (scale - 1.0);
    return slri_canon64(slri_copysign(u / (2.0 + u), x));
}

// ------------------------------------------------------------------------------------------------------ error function

// erfc(x) for x >= 0: e^(-x^2) times a polynomial in (x - 4) / (x + 4), fitted on [0, 10.2].
SLRI_FN double slri_erfc_positive(double x)
{
    double t = (x - 4.0) / (x + 4.0);
    double p = 0x1.02290e9f2d5e4p-20;
    p = slri_horner3(p, t, 0x1.47f4ac7736885p-18, -0x1.173d8cd1025fap-20, -0x1.8442189233cb9p-16);
    p = slri_horner4(p, t, 0x1.48389a5b9a4a1p-14, -0x1.6ebef1efeafcdp-16, -0x1.a2e37d6e6b261p-11, 0x1.0a18dd4d2d52cp-8);
    p = slri_horner4(p, t, -0x1.a4def1f9ecdffp-7, 0x1.0066dcd0a490ap-5, -0x1.027d57297744bp-4, 0x1.be502c54d93bbp-4);
    p = slri_horner4(p, t, -0x1.506666f687610p-3, 0x1.bff01a5f407e8p-3, -0x1.0949227374aedp-2, 0x1.18932bf08e5a7p-3);
    return p * slri_exp_short(-(x * x));
}

// erf(x) for |x| <= 1.
SLRI_FN double slri_erf_short(double x)
{
    double z = x * x;
    double p = -0x1.c1a001db669f5p-24 * z + 0x1.9adf3eaeb3635p-20;
    p = slri_horner4(p, z, -0x1.f0700dbd33723p-17, 0x1.f941b5c764e05p-14, -0x1.c0286c0d95110p-11, 0x1.565ba039fc979p-8);
    p = slri_horner4(p, z, -0x1.b82ce15bf164ep-6, 0x1.ce2f2197ba864p-4, -0x1.812746b0271b2p-2, 0x1.20dd750429b19p+0);
    return x * p;
}

SLRI_FN float slri_erff(float x)
{
    double a = slri_clamp(slri_fabsf(x), 0.0, 10.2);
    double r = a < 1.0 ? slri_erf_short(a) : 1.0 - slri_erfc_positive(a);
    return slri_canon32(slri_copysignf((float)r, x));
}

SLRI_FN float slri_erfcf(float x)
{
    double c = slri_erfc_positive(slri_clamp(slri_fabsf(x), 0.0, 10.2));
    return slri_narrow(x < 0.0f ? 2.0 - c : c);
}

#endif
