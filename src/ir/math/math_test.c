// SPDX-License-Identifier: Apache-2.0
// The device math library against long double libm, its special cases bit for bit, and the interpreter's calls against
// vector code.
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "ir/math/eval.h"
#include "ir/math/slr_math.h"

#include "ir/math/slr_math_angles.h"

#include "ir/math/slr_fma.h"

#include "ir/math/slr_math_double.h"

#include "ir/math/slr_math_more.h"

#include "ir/math/slr_half.h"

// What a device's own division and root are: some units off.
static int units_off;

static float off(float exact)
{
    return exact == 0.0f ? exact : slri_uint_as_float(slri_float_as_uint(exact) + (slri_u32)units_off);
}

#define SLRI_ROUNDED_OWN off
#include "ir/math/slr_rounded.h"

#define COUNT(array) (sizeof(array) / sizeof(array)[0])

// ---- samples: every exponent and sign with MANTISSAS mantissas, then the neighbours of where an algorithm changes
// course

enum { MANTISSAS = 96, NEIGHBOURS = 16 };

static const double edges[] = {
    0.0,
    0x1p-126,
    0.34657359,
    0.41421356,
    0.70710678,
    1.0,
    1.41421356,
    1.57079633,
    2.41421356,
    3.14159265,
    10.2,
    19.0625,
    38.5318394,
    45.154499,
    87.33654,
    88.7228394,
    103.972084,
    126.0,
    127.999,
    149.0,
    150.0,
    0x1p22,
    0x1p23,
    0x1p24,
    0x1p50,
    0x1p76,
    0x1p102,
    0x1p31,
    0x1p32,
    0x1p63,
    0x1p64,
    709.782712,
    745.1332,
    0x1p20,
    16367173.0 * 0x1p72,
    0x1.fffffep127,
};

static uint64_t scramble(uint64_t x)
{
    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u; // splitmix64's finaliser
    x = (x ^ x >> 27) * 0x94d049bb133111ebu;
    return x ^ x >> 31;
}

#define FLOAT_SAMPLES (2 * 256 * MANTISSAS + 2 * COUNT(edges) * NEIGHBOURS)
#define DOUBLE_SAMPLES (2 * 2048 * MANTISSAS / 4 + 2 * COUNT(edges) * NEIGHBOURS)

// The first three mantissas of an exponent are its ends and the one after its start.
static uint64_t mantissa(uint64_t i, uint64_t turn)
{
    return turn == 0 ? 0 : turn == 1 ? ~(uint64_t)0 : turn == 2 ? 1 : scramble(i);
}

static float float_sample(uint64_t i)
{
    if (i < 2 * 256 * MANTISSAS) {
        uint64_t top = i / MANTISSAS;
        return slri_uint_as_float((uint32_t)(top << 23 | (mantissa(i, i % MANTISSAS) & 0x7fffff)));
    }
    i -= 2 * 256 * MANTISSAS;
    float near = (float)edges[i / NEIGHBOURS % COUNT(edges)] * (i / NEIGHBOURS < COUNT(edges) ? 1.0f : -1.0f);
    return slri_uint_as_float(slri_float_as_uint(near) + (uint32_t)(i % NEIGHBOURS) - NEIGHBOURS / 2);
}

static double double_sample(uint64_t i)
{
    uint64_t each = MANTISSAS / 4;
    if (i < 2 * 2048 * each)
        return slri_from_bits(i / each << 52 | (mantissa(i, i % each) & 0xfffffffffffff));
    i -= 2 * 2048 * each;
    double near = edges[i / NEIGHBOURS % COUNT(edges)] * (i / NEIGHBOURS < COUNT(edges) ? 1.0 : -1.0);
    return slri_from_bits(slri_bits(near) + i % NEIGHBOURS - NEIGHBOURS / 2);
}

// ---- errors in units of the last place of a format with `digits` of mantissa and least exponent `least`

#define UNBOUNDED 1e30

static double ulps(double got, long double want, int digits, int least, int most)
{
    if (isnan(want) || isnan(got))
        return isnan(want) && isnan(got) ? 0.0 : UNBOUNDED;
    if (want == 0.0L)
        return got == 0.0 && !signbit(got) == !signbit(want) ? 0.0 : UNBOUNDED;
    long double limit = copysignl(ldexpl(1.0L, most + 1), want); // infinity stands for the first number beyond
    long double a = isinf(got) ? copysignl(limit, got) : (long double)got,
                b = fabsl(want) > fabsl(limit) ? limit : want;
    int e;
    frexpl(b, &e);
    e = e - 1 < least ? least : e - 1 > most ? most : e - 1;
    return (double)ldexpl(fabsl(a - b), digits - 1 - e);
}

static double ulps32(float got, long double want)
{
    return ulps(got, want, 24, -126, 127);
}
static double ulps64(double got, long double want)
{
    return ulps(got, want, 53, -1022, 1023);
}

static long double rsqrt_reference(long double x)
{
    return 1.0L / sqrtl(x);
}
static long double exp10_reference(long double x)
{
    return x == 0.0L ? 1.0L : powl(10.0L, x);
}

// The reductions are exact; a zero's sign is x's (C23, 7.12.4.13).
static long double sinpi_reference(long double x)
{
    long double r = remainderl(x, 2.0L), y = sinl(3.14159265358979323846264338327950288L *
                                                  (fabsl(r) > 0.5L ? copysignl(1.0L - fabsl(r), r) : r));
    return y == 0.0L ? copysignl(0.0L, x) : y;
}
static long double cospi_reference(long double x)
{
    long double y = sinl(3.14159265358979323846264338327950288L * (0.5L - fabsl(remainderl(x, 2.0L))));
    return y == 0.0L ? 0.0L : y;
}
static long double rcbrt_reference(long double x)
{
    return 1.0L / cbrtl(x);
}

// glibc's is the wider type's: of a pole it says the same as ours.
static long double tgamma_reference(long double x)
{
    return x < 0.0L && x == floorl(x) ? NAN : tgammal(x);
}
static long double normcdf_reference(long double x)
{
    return 0.5L * erfcl(-x * 0.707106781186547524400844362104849039L);
}
static long double frexp_reference(long double x)
{
    int unused;
    return frexpl(x, &unused);
}
static long double modf_reference(long double x)
{
    long double unused;
    return modfl(x, &unused);
}
static long double rhypot_reference(long double x, long double y)
{
    return 1.0L / hypotl(x, y);
}

struct worst {
    double ulps, x, y;
};

static void note(struct worst *w, double error, double x, double y)
{
    if (error > w->ulps)
        *w = (struct worst){error, x, y};
}

static int prints_table; // with the argument "table": the rows of docs/contract/math.md

static void assert_bound(const char *name, struct worst w, double bound)
{
    if (prints_table)
        printf("| `%s` | %.4f | %g |\n", name + strlen("slri_"), w.ulps, bound);
    else
        print_message("    %-10s worst %.4f ULP at %a, %a\n", name, w.ulps, w.x, w.y);
    if (w.ulps > bound)
        fail_msg("%s: %.4f ULP at (%a, %a), documented are %.4f", name, w.ulps, w.x, w.y, bound);
}

// X(function, reference, bound). 0.5001: correctly rounded but for about one case in ten million.
#define FLOAT_FUNCTIONS(X)                                                                                             \
    X(slri_sqrtf, sqrtl, 0.5)                                                                                          \
    X(slri_rsqrtf, rsqrt_reference, 1.5)                                                                               \
    X(slri_floorf, floorl, 0.0)                                                                                        \
    X(slri_ceilf, ceill, 0.0)                                                                                          \
    X(slri_truncf, truncl, 0.0)                                                                                        \
    X(slri_rintf, rintl, 0.0)                                                                                          \
    X(slri_roundf, roundl, 0.0)                                                                                        \
    X(slri_expf, expl, 0.5001)                                                                                         \
    X(slri_exp2f, exp2l, 0.5001)                                                                                       \
    X(slri_exp10f, exp10_reference, 0.5001)                                                                            \
    X(slri_expm1f, expm1l, 0.5001)                                                                                     \
    X(slri_logf, logl, 0.5001)                                                                                         \
    X(slri_log2f, log2l, 0.5001)                                                                                       \
    X(slri_log10f, log10l, 0.5001)                                                                                     \
    X(slri_log1pf, log1pl, 0.5001)                                                                                     \
    X(slri_sinf, sinl, 0.5001)                                                                                         \
    X(slri_cosf, cosl, 0.5001)                                                                                         \
    X(slri_tanf, tanl, 0.5001)                                                                                         \
    X(slri_asinf, asinl, 0.5001)                                                                                       \
    X(slri_acosf, acosl, 0.5001)                                                                                       \
    X(slri_atanf, atanl, 0.5001)                                                                                       \
    X(slri_sinhf, sinhl, 0.5001)                                                                                       \
    X(slri_coshf, coshl, 0.5001)                                                                                       \
    X(slri_tanhf, tanhl, 0.5001)                                                                                       \
    X(slri_cbrtf, cbrtl, 0.5001)                                                                                       \
    X(slri_erff, erfl, 0.5001)                                                                                         \
    X(slri_erfcf, erfcl, 0.5001)                                                                                       \
    X(slri_asinhf, asinhl, 0.5001)                                                                                     \
    X(slri_acoshf, acoshl, 0.5001)                                                                                     \
    X(slri_atanhf, atanhl, 0.5001)                                                                                     \
    X(slri_sinpif, sinpi_reference, 0.5001)                                                                            \
    X(slri_cospif, cospi_reference, 0.5001)                                                                            \
    X(slri_rcbrtf, rcbrt_reference, 0.5001)                                                                            \
    X(slri_tgammaf, tgamma_reference, 0.5001)                                                                          \
    X(slri_lgammaf, lgammal, 1.0)                                                                                      \
    X(slri_normcdff, normcdf_reference, 0.5001)                                                                        \
    X(slri_logbf, logbl, 0.0)                                                                                          \
    X(slri_frexp_fractionf, frexp_reference, 0.0)                                                                      \
    X(slri_modf_fractionf, modf_reference, 0.0)

#define DOUBLE_FUNCTIONS(X)                                                                                            \
    X(slri_sqrt, sqrtl, 0.501)                                                                                         \
    X(slri_rsqrt, rsqrt_reference, 1.5)                                                                                \
    X(slri_floor, floorl, 0.0)                                                                                         \
    X(slri_ceil, ceill, 0.0)                                                                                           \
    X(slri_trunc, truncl, 0.0)                                                                                         \
    X(slri_rint, rintl, 0.0)                                                                                           \
    X(slri_round, roundl, 0.0)                                                                                         \
    X(slri_exp, expl, 1.0)                                                                                             \
    X(slri_exp2, exp2l, 1.0)                                                                                           \
    X(slri_log, logl, 1.0)                                                                                             \
    X(slri_log2, log2l, 2.0)                                                                                           \
    X(slri_log10, log10l, 2.0)                                                                                         \
    X(slri_sin, sinl, 1.0)                                                                                             \
    X(slri_cos, cosl, 1.0)                                                                                             \
    X(slri_tan, tanl, 2.0)                                                                                             \
    X(slri_atan, atanl, 1.5)                                                                                           \
    X(slri_tanh, tanhl, 2.5)                                                                                           \
    X(slri_exp10, exp10_reference, 1.0)                                                                                \
    X(slri_expm1, expm1l, 1.5)                                                                                         \
    X(slri_log1p, log1pl, 1.5)                                                                                         \
    X(slri_sinh, sinhl, 3.0)                                                                                           \
    X(slri_cosh, coshl, 3.0)                                                                                           \
    X(slri_asinh, asinhl, 3.0)                                                                                         \
    X(slri_acosh, acoshl, 3.0)                                                                                         \
    X(slri_atanh, atanhl, 3.0)                                                                                         \
    X(slri_asin, asinl, 3.0)                                                                                           \
    X(slri_acos, acosl, 3.0)                                                                                           \
    X(slri_sinpi, sinpi_reference, 1.5)                                                                                \
    X(slri_cospi, cospi_reference, 1.5)                                                                                \
    X(slri_cbrt, cbrtl, 1.0)                                                                                           \
    X(slri_rcbrt, rcbrt_reference, 1.5)                                                                                \
    X(slri_erf, erfl, 3.0)                                                                                             \
    X(slri_erfc, erfcl, 4.0)                                                                                           \
    X(slri_tgamma, tgamma_reference, 12.0)                                                                             \
    X(slri_normcdf, normcdf_reference, 6.0)                                                                            \
    X(slri_logb, logbl, 0.0)                                                                                           \
    X(slri_frexp_fraction, frexp_reference, 0.0)                                                                       \
    X(slri_modf_fraction, modf_reference, 0.0)

static void float_functions_keep_their_bounds(void **state)
{
    (void)state;
#define CHECK(fn, reference, bound)                                                                                    \
    {                                                                                                                  \
        struct worst w = {0};                                                                                          \
        for (uint64_t i = 0; i < FLOAT_SAMPLES; i++)                                                                   \
            note(&w, ulps32(fn(float_sample(i)), reference(float_sample(i))), float_sample(i), 0.0);                   \
        assert_bound(#fn, w, bound);                                                                                   \
    }
    FLOAT_FUNCTIONS(CHECK)
#undef CHECK
}

static void double_functions_keep_their_bounds(void **state)
{
    (void)state;
#define CHECK(fn, reference, bound)                                                                                    \
    {                                                                                                                  \
        struct worst w = {0};                                                                                          \
        for (uint64_t i = 0; i < DOUBLE_SAMPLES; i++)                                                                  \
            note(&w, ulps64(fn(double_sample(i)), reference(double_sample(i))), double_sample(i), 0.0);                \
        assert_bound(#fn, w, bound);                                                                                   \
    }
    DOUBLE_FUNCTIONS(CHECK)
#undef CHECK
}

// Below 0 it has a zero between any two of its poles, near which no bound in ULP holds: there it is one of the error
// itself, in units of 2^-53 (4 + |result| + |x|).
static void lgamma_keeps_its_bounds(void **state)
{
    struct worst above = {0}, below = {0};
    (void)state;
    for (uint64_t i = 0; i < DOUBLE_SAMPLES; i++) {
        double x = double_sample(i), got = slri_lgamma(x);
        long double want = lgammal(x);
        if (!(x < 0.0) || isinf(want))
            note(&above, ulps64(got, want), x, 0.0);
        else
            note(&below, (double)(fabsl(got - want) / (4.0L + fabsl(want) + fabsl(x))) * 0x1p53, x, 0.0);
    }
    assert_bound("slri_lgamma", above, 8.0);
    print_message("    below 0: %.4f at %a\n", below.ulps, below.x);
    assert_true(below.ulps <= 8.0);
}

static void exponents_are_taken_off_and_put_on(void **state)
{
    (void)state;
    for (uint64_t i = 0; i < 200000; i++) {
        uint64_t r = scramble(i);
        double x = double_sample(r % DOUBLE_SAMPLES);
        float f = float_sample(r % FLOAT_SAMPLES);
        int n = i % 5 == 0 ? (int)(int32_t)(r >> 32) : (int)(r >> 40) % 4400 - 2200, e;
        double got = slri_ldexp(x, n), want = ldexp(x, n);
        float got_f = slri_ldexpf(f, n), want_f = ldexpf(f, n);
        if (!(slri_bits(got) == slri_bits(want) || (isnan(got) && isnan(want))) ||
            !(slri_float_as_uint(got_f) == slri_float_as_uint(want_f) || (isnan(got_f) && isnan(want_f))))
            fail_msg("ldexp(%a, %d) is %a, of %a it is %a", x, n, got, (double)f, (double)got_f);
        frexp(x, &e);
        assert_int_equal(slri_frexp_exponent(x), isfinite(x) ? e : 0);
        frexpf(f, &e);
        assert_int_equal(slri_frexp_exponentf(f), isfinite(f) ? e : 0);
        if (isfinite(x) && x != 0.0)
            assert_int_equal(slri_ilogb(x), ilogb(x));
    }
    assert_int_equal(slri_ilogb(0.0), INT32_MIN);
    assert_int_equal(slri_ilogbf((float)NAN), INT32_MIN);
    assert_int_equal(slri_ilogbf(-HUGE_VALF), INT32_MAX);
}

static void factorials_are_exact(void **state)
{
    double factorial = 1.0;
    (void)state;
    for (int n = 1; n < 18; factorial *= n++)
        assert_true(slri_tgamma((double)n) == factorial);
    assert_true(slri_bits(slri_tgamma(-0.0)) == slri_bits(-SLRI_INF));
    assert_true(slri_bits(slri_tgamma(-200.5)) == slri_bits(-0.0)); // floor is odd
    assert_true(slri_bits(slri_tgamma(-201.5)) == slri_bits(0.0));
    assert_true(isnan(slri_tgamma(-3.0)) && isnan(slri_tgamma(-SLRI_INF)));
    assert_true(slri_lgamma(-3.0) == SLRI_INF && slri_lgamma(-SLRI_INF) == SLRI_INF);
    assert_true(slri_lgamma(1.0) == 0.0 && slri_lgamma(2.0) == 0.0);
}

static void floats_are_rounded_as_the_name_says(void **state)
{
    (void)state;
    assert_int_equal(slri_f32_to_i32_rn(2.5f), 2);
    assert_int_equal(slri_f32_to_i32_rn(-3.5f), -4);
    assert_int_equal(slri_f32_to_i32_rd(-2.5f), -3);
    assert_int_equal(slri_f32_to_i32_ru(-2.5f), -2);
    assert_int_equal(slri_f32_to_u32_ru(2.1f), 3);
    assert_int_equal(slri_f32_to_u32_rd(-0.5f), 0);
    assert_true(slri_f64_to_i64_away(-2.5) == -3);
    assert_true(slri_f64_to_i64_rn(-2.5) == -2);
    assert_true(slri_f64_to_u64_ru(0x1p64) == UINT64_MAX);
    assert_true(slri_f32_to_i64_rn((float)NAN) == 0);
    assert_true(slri_f32_of_u64(UINT64_MAX) == 0x1p64f);
    assert_true(slri_f64_of_i64(INT64_MIN) == -0x1p63);
    assert_int_equal(slri_hiint(-2.0), (int32_t)0xc0000000);
    assert_int_equal(slri_loint(0x1.00000ffffffffp0), -1);
    assert_true(slri_hiloint(0x40000000, 0) == 2.0);
}

static void fma_rounds_once(void **state)
{
    (void)state;
    assert_true(slri_fma(0x1.0000000000001p0, 0x1.0000000000001p0, -0x1.0000000000002p0) == 0x1p-104);
    assert_true(slri_fma(0x1p1000, 0x1p1000, -SLRI_INF) == -SLRI_INF);
    assert_true(slri_fma(0x1.fffffffffffffp1023, 2.0, -0x1.fffffffffffffp1023) == 0x1.fffffffffffffp1023);
    assert_true(slri_fma(0x1p-1074, 0.5, 0x1p-1074) == 0x1p-1073); // a tie, to even
    assert_true(slri_bits(slri_fma(SLRI_INF, 0.0, 1.0)) == slri_bits(__builtin_nan("")));
}

// ---- two arguments: all pairs of a thinned sample, and pairs of like size, where results are ordinary

static long double fmin_reference(long double a, long double b)
{
    return a == b ? (signbit(a) ? a : b) : fminl(a, b);
}
static long double fmax_reference(long double a, long double b)
{
    return a == b ? (signbit(a) ? b : a) : fmaxl(a, b);
}

static long double nextafter_reference(long double a, long double b)
{
    return nextafterf((float)a, (float)b);
}
static long double nextafter_reference64(long double a, long double b)
{
    return nextafter((double)a, (double)b);
}

// powl overflows the intermediate for no double; x^y of a float pair may be far outside float, which ulps() clamps.
#define FLOAT_PAIRS(X)                                                                                                 \
    X(slri_powf, powl, 0.5001)                                                                                         \
    X(slri_atan2f, atan2l, 0.5001)                                                                                     \
    X(slri_hypotf, hypotl, 0.5001)                                                                                     \
    X(slri_rhypotf, rhypot_reference, 0.5001)                                                                          \
    X(slri_nextafterf, nextafter_reference, 0.0)                                                                       \
    X(slri_fmodf, fmodl, 0.0)                                                                                          \
    X(slri_remainderf, remainderl, 0.0)                                                                                \
    X(slri_fdimf, fdiml, 0.5)                                                                                          \
    X(slri_fminf, fmin_reference, 0.0)                                                                                 \
    X(slri_fmaxf, fmax_reference, 0.0)

#define DOUBLE_PAIRS(X)                                                                                                \
    X(slri_pow, powl, 1.5)                                                                                             \
    X(slri_atan2, atan2l, 2.0)                                                                                         \
    X(slri_hypot, hypotl, 1.0)                                                                                         \
    X(slri_rhypot, rhypot_reference, 2.0)                                                                              \
    X(slri_nextafter, nextafter_reference64, 0.0)                                                                      \
    X(slri_fmod, fmodl, 0.0)                                                                                           \
    X(slri_remainder, remainderl, 0.0)                                                                                 \
    X(slri_fdim, fdiml, 0.501)                                                                                         \
    X(slri_fmin, fmin_reference, 0.0)                                                                                  \
    X(slri_fmax, fmax_reference, 0.0)

// Pair i: unlike ones from all over the format, or like ones: x in [2^-8, 2^8), y in +-[0, 64), every third y a
// multiple of 1/2.
static void sample_pair(uint64_t i, double *x, double *y)
{
    uint64_t r = scramble(i + 1), q = scramble(r);
    *x = ldexp((double)(r >> 12 | (uint64_t)1 << 52), (int)(i % 16) - 60) * (i % 7 == 0 ? -1.0 : 1.0);
    *y = (double)(int64_t)q * 0x1p-57;
    if (i % 3 == 0)
        *y = rint(*y * 2.0) * 0.5;
}

enum { PAIRS = 120000 };

static void float_pairs_keep_their_bounds(void **state)
{
    (void)state;
#define CHECK(fn, reference, bound)                                                                                    \
    {                                                                                                                  \
        struct worst w = {0};                                                                                          \
        for (uint64_t i = 0; i < PAIRS; i++) {                                                                         \
            double dx, dy;                                                                                             \
            sample_pair(i, &dx, &dy);                                                                                  \
            float x = i % 2 ? (float)dx : float_sample(scramble(i) % FLOAT_SAMPLES);                                   \
            float y = i % 2 ? (float)dy : float_sample(scramble(~i) % FLOAT_SAMPLES);                                  \
            note(&w, ulps32(fn(x, y), reference(x, y)), x, y);                                                         \
        }                                                                                                              \
        assert_bound(#fn, w, bound);                                                                                   \
    }
    FLOAT_PAIRS(CHECK)
#undef CHECK
}

static void double_pairs_keep_their_bounds(void **state)
{
    (void)state;
#define CHECK(fn, reference, bound)                                                                                    \
    {                                                                                                                  \
        struct worst w = {0};                                                                                          \
        for (uint64_t i = 0; i < PAIRS; i++) {                                                                         \
            double x, y;                                                                                               \
            sample_pair(i, &x, &y);                                                                                    \
            x = i % 2 ? x : double_sample(scramble(i) % DOUBLE_SAMPLES);                                               \
            y = i % 2 ? y : double_sample(scramble(~i) % DOUBLE_SAMPLES);                                              \
            note(&w, ulps64(fn(x, y), reference(x, y)), x, y);                                                         \
        }                                                                                                              \
        assert_bound(#fn, w, bound);                                                                                   \
    }
    DOUBLE_PAIRS(CHECK)
#undef CHECK
}

static void fmaf_rounds_once(void **state)
{
    (void)state;
    // The product is just below half a unit of the addend; double rounds the sum to the half, float then away.
    assert_true(slri_fmaf(1.0f + 0x1p-23f, 1.0f - 0x1p-23f, 0x1p24f + 2.0f) == 0x1p24f + 2.0f);
    assert_true(slri_fmaf(1.0f + 0x1p-23f, -1.0f + 0x1p-23f, -0x1p24f - 2.0f) == -0x1p24f - 2.0f);
    for (uint64_t i = 0; i < 200000; i++) {
        float a = float_sample(scramble(i) % FLOAT_SAMPLES), b = float_sample(scramble(~i) % FLOAT_SAMPLES);
        float c = float_sample(scramble(i << 20) % FLOAT_SAMPLES);
        float got = slri_fmaf(a, b, c), want = fmaf(a, b, c);
        if (slri_float_as_uint(got) != slri_float_as_uint(want) && !(isnan(got) && isnan(want)))
            fail_msg("fmaf(%a, %a, %a) is %a, expected %a", (double)a, (double)b, (double)c, (double)got, (double)want);
    }
}

static void expect_same(const char *name, float a, float b, float got, float want)
{
    if (slri_float_as_uint(got) != slri_float_as_uint(want) && !(isnan(got) && isnan(want)))
        fail_msg("%s(%a, %a) is %a, expected %a", name, (double)a, (double)b, (double)got, (double)want);
}

static float odd_float(uint64_t seed) // of any bits, subnormal, near 1, or an end of a range
{
    static const uint32_t ends[] = {0,          1,          0x7fffff,   0x800000,   0x3f7fffff,
                                    0x3f800000, 0x7f7fffff, 0x7f800000, 0x7fc00000, 0x00400000};
    uint32_t bits = (uint32_t)scramble(seed), sign = bits & 0x80000000, kind = (uint32_t)(scramble(~seed) % 5);
    bits = kind == 1   ? bits & 0x807fffff
           : kind == 2 ? sign | ends[bits % COUNT(ends)]
           : kind == 3 ? sign | (0x3f000000 + (bits & 0xffffff))
           : kind == 4 ? bits & 0x81ffffff
                       : bits;
    return slri_uint_as_float(bits);
}

static void quotients_and_roots_are_rounded_once_on_any_device(void **state)
{
    (void)state;
    for (uint64_t i = 0; i < 2000000; i++) {
        float a = odd_float(2 * i), b = odd_float(2 * i + 1);
        units_off = (int)(i % 9) - 4;
        expect_same("slri_rounded_divf", a, b, slri_rounded_divf(a, b), a / b);
        expect_same("slri_rounded_sqrtf", a, 0, slri_rounded_sqrtf(a), sqrtf(a));
    }
}

// ---- special cases, through the table the interpreter uses

#define INF32 HUGE_VALF
#define NAN32 ((float)NAN)

struct special {
    unsigned id;
    float args[2], want;
};

static const struct special specials[] = {
    {SLRI_MATH_POWF, {-2.0f, 3.0f}, -8.0f},
    {SLRI_MATH_POWF, {-2.0f, 0.5f}, NAN32},
    {SLRI_MATH_POWF, {NAN32, 0.0f}, 1.0f},
    {SLRI_MATH_POWF, {1.0f, NAN32}, 1.0f},
    {SLRI_MATH_POWF, {-1.0f, INF32}, 1.0f},
    {SLRI_MATH_POWF, {-0.0f, -3.0f}, -INF32},
    {SLRI_MATH_POWF, {-0.0f, -2.0f}, INF32},
    {SLRI_MATH_POWF, {-0.0f, 3.0f}, -0.0f},
    {SLRI_MATH_POWF, {-INF32, -3.0f}, -0.0f},
    {SLRI_MATH_POWF, {-INF32, 2.5f}, INF32},
    {SLRI_MATH_POWF, {0.5f, -INF32}, INF32},
    {SLRI_MATH_POWF, {-16777217.0f, 16777216.0f}, INF32},
    {SLRI_MATH_ATAN2F, {0.0f, -0.0f}, 0x1.921fb6p1f},
    {SLRI_MATH_ATAN2F, {-0.0f, 0.0f}, -0.0f},
    {SLRI_MATH_ATAN2F, {INF32, -INF32}, 0x1.2d97c8p1f},
    {SLRI_MATH_ATAN2F, {-1.0f, 0.0f}, -0x1.921fb6p0f},
    {SLRI_MATH_HYPOTF, {NAN32, -INF32}, INF32},
    {SLRI_MATH_FMODF, {-6.0f, 3.0f}, -0.0f},
    {SLRI_MATH_FMODF, {1.0f, 0.0f}, NAN32},
    {SLRI_MATH_FMODF, {5.0f, INF32}, 5.0f},
    {SLRI_MATH_FMINF, {NAN32, 2.0f}, 2.0f},
    {SLRI_MATH_FMINF, {0.0f, -0.0f}, -0.0f},
    {SLRI_MATH_FMINF, {-0.0f, 0.0f}, -0.0f},
    {SLRI_MATH_FMAXF, {0.0f, -0.0f}, 0.0f},
    {SLRI_MATH_FMAXF, {-0.0f, 0.0f}, 0.0f},
    {SLRI_MATH_FMAXF, {-NAN32, NAN32}, NAN32},
    {SLRI_MATH_EXPF, {-INF32, 0}, 0.0f},
    {SLRI_MATH_EXPF, {INF32, 0}, INF32},
    {SLRI_MATH_EXPM1F, {-0.0f, 0}, -0.0f},
    {SLRI_MATH_EXPM1F, {-INF32, 0}, -1.0f},
    {SLRI_MATH_EXP10F, {3.0f, 0}, 1000.0f},
    {SLRI_MATH_LOGF, {-0.0f, 0}, -INF32},
    {SLRI_MATH_LOGF, {-1.0f, 0}, NAN32},
    {SLRI_MATH_LOG1PF, {-1.0f, 0}, -INF32},
    {SLRI_MATH_LOG1PF, {-0.0f, 0}, -0.0f},
    {SLRI_MATH_LOG2F, {0x1p-149f, 0}, -149.0f},
    {SLRI_MATH_LOG10F, {1e10f, 0}, 10.0f},
    {SLRI_MATH_SINF, {-0.0f, 0}, -0.0f},
    {SLRI_MATH_SINF, {INF32, 0}, NAN32},
    {SLRI_MATH_COSF, {-INF32, 0}, NAN32},
    {SLRI_MATH_TANF, {0x1p-149f, 0}, 0x1p-149f},
    {SLRI_MATH_SQRTF, {-1.0f, 0}, NAN32},
    {SLRI_MATH_SQRTF, {-0.0f, 0}, -0.0f},
    {SLRI_MATH_RSQRTF, {-0.0f, 0}, -INF32},
    {SLRI_MATH_RINTF, {2.5f, 0}, 2.0f},
    {SLRI_MATH_RINTF, {-0.5f, 0}, -0.0f},
    {SLRI_MATH_ROUNDF, {-2.5f, 0}, -3.0f},
    {SLRI_MATH_ROUNDF, {0x1.fffffep-2f, 0}, 0.0f},
    {SLRI_MATH_FLOORF, {-0x1p-149f, 0}, -1.0f},
    {SLRI_MATH_CBRTF, {-27.0f, 0}, -3.0f},
    {SLRI_MATH_FAST_SATURATEF, {NAN32, 0}, 0.0f},
    {SLRI_MATH_FAST_SATURATEF, {7.0f, 0}, 1.0f},
};

static void special_cases_are_annex_f(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(specials); i++) {
        const struct special *s = &specials[i];
        union slri_scalar args[2] = {{.f32 = s->args[0]}, {.f32 = s->args[1]}}, r;
        slri_math_eval(s->id, args, &r);
        uint64_t want = isnan(s->want) ? 0x7fc00000u : slri_float_as_uint(s->want);
        if (r.u64 != want)
            fail_msg("%s(%a, %a) is %a", slri_math_functions[s->id].name, (double)s->args[0], (double)s->args[1],
                     (double)r.f32);
    }
}

// ---- integers and conversions

static void integer_helpers_do_what_cuda_says(void **state)
{
    (void)state;
    assert_int_equal(slri_clz(0), 32);
    assert_int_equal(slri_clz(-1), 0);
    assert_int_equal(slri_clzll(1), 63);
    assert_int_equal(slri_ffs(0), 0);
    assert_int_equal(slri_ffs(INT32_MIN), 32);
    assert_int_equal(slri_ffsll(INT64_MIN), 64);
    assert_int_equal(slri_popc(0xf00000f1u), 9);
    assert_int_equal(slri_popcll(UINT64_MAX), 64);
    assert_int_equal(slri_brev(0x00000013u), 0xc8000000u);
    assert_true(slri_brevll(1) == (uint64_t)1 << 63);
    assert_int_equal(slri_abs_i32(INT32_MIN), INT32_MIN);
    assert_true(slri_abs_i64(-5) == 5);
    assert_int_equal(slri_min_i32(-1, 1), -1);
    assert_int_equal(slri_min_u32(0xffffffffu, 1), 1);
    assert_true(slri_max_u64(UINT64_MAX, 1) == UINT64_MAX);
    assert_int_equal(slri_mulhi(-2, 3), -1);
    assert_int_equal(slri_umulhi(0x80000000u, 6), 3);
    assert_true(slri_mul64hi(-2, 3) == -1);
    assert_true(slri_mul64hi(INT64_MIN, INT64_MIN) == (int64_t)1 << 62);
    assert_true(slri_umul64hi(UINT64_MAX, UINT64_MAX) == UINT64_MAX - 1);
    assert_int_equal(slri_mul24(0x01ffffff, 3), -3); // -1 in 24 bits
    assert_int_equal(slri_umul24(0xff000002u, 0xff000003u), 6);
    assert_int_equal(slri_hadd(INT32_MIN, INT32_MAX), -1);
    assert_int_equal(slri_rhadd(INT32_MIN, INT32_MAX), 0);
    assert_int_equal(slri_uhadd(0xffffffffu, 0xfffffffeu), 0xfffffffeu);
    assert_int_equal(slri_urhadd(0xffffffffu, 0xfffffffeu), 0xffffffffu);
    assert_int_equal(slri_sad(-5, 3, 10), 18);
    assert_int_equal(slri_usad(3, 5, 1), 3);
    assert_int_equal(slri_byte_perm(0x03020180u, 0x07060504u, 0x74c8), 0x07040480u);
    assert_int_equal(slri_funnel_l(0x80000001u, 0x12345678u, 4), 0x23456788u);
    assert_int_equal(slri_funnel_r(0x80000001u, 0x12345678u, 36), 0x88000000u);
    assert_int_equal(slri_funnel_lc(7, 9, 32), 7);
    assert_int_equal(slri_funnel_rc(7, 9, 99), 9);
    assert_int_equal(slri_signbit(-0.0), 1);
    assert_int_equal(slri_isfinitef(INF32), 0);
    assert_int_equal(slri_isinff(-INF32), 1);
}

struct conversion {
    double from;
    int64_t i8, u8, i16, u16, i32, u32, i64;
    uint64_t u64;
};

static const struct conversion conversions[] = {
    {NAN, 0, 0, 0, 0, 0, 0, 0, 0},
    {-0.99, 0, 0, 0, 0, 0, 0, 0, 0},
    {-1.99, -1, 0, -1, 0, -1, 0, -1, 0},
    {127.9, 127, 127, 127, 127, 127, 127, 127, 127},
    {-128.9, -128, 0, -128, 0, -128, 0, -128, 0},
    {-129, -128, 0, -129, 0, -129, 0, -129, 0},
    {255.9, 127, 255, 255, 255, 255, 255, 255, 255},
    {256, 127, 255, 256, 256, 256, 256, 256, 256},
    {-32769, -128, 0, -32768, 0, -32769, 0, -32769, 0},
    {65536, 127, 255, 32767, 65535, 65536, 65536, 65536, 65536},
    {0x1.fffffep30, 127, 255, 32767, 65535, 0x7fffff80, 0x7fffff80, 0x7fffff80, 0x7fffff80},
    {0x1p31, 127, 255, 32767, 65535, INT32_MAX, 0x80000000, 0x80000000, 0x80000000},
    {-0x1p31, -128, 0, -32768, 0, INT32_MIN, 0, INT32_MIN, 0},
    {0x1p32, 127, 255, 32767, 65535, INT32_MAX, UINT32_MAX, 0x100000000, 0x100000000},
    {0x1p63, 127, 255, 32767, 65535, INT32_MAX, UINT32_MAX, INT64_MAX, 0x8000000000000000},
    {-0x1p63, -128, 0, -32768, 0, INT32_MIN, 0, INT64_MIN, 0},
    {0x1p64, 127, 255, 32767, 65535, INT32_MAX, UINT32_MAX, INT64_MAX, UINT64_MAX},
    {INFINITY, 127, 255, 32767, 65535, INT32_MAX, UINT32_MAX, INT64_MAX, UINT64_MAX},
    {-INFINITY, -128, 0, -32768, 0, INT32_MIN, 0, INT64_MIN, 0},
};

static void conversions_truncate_and_saturate(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(conversions); i++) {
        const struct conversion *c = &conversions[i];
        union slri_scalar f64 = {.f64 = c->from}, f32 = {.f32 = (float)c->from}, r;
#define CHECK(T, t)                                                                                                    \
    slri_math_convert(SLRI_MATH_F64_TO_##T, &f64, &r);                                                                 \
    assert_true(r.t == c->t);                                                                                          \
    slri_math_convert(SLRI_MATH_F32_TO_##T, &f32, &r);                                                                 \
    assert_true(r.t == c->t);
        CHECK(I8, i8)
        CHECK(U8, u8) CHECK(I16, i16) CHECK(U16, u16) CHECK(I32, i32) CHECK(U32, u32) CHECK(I64, i64) CHECK(U64, u64)
#undef CHECK
    }
}

// ---- the interpreter's calls against the same functions compiled for a wider machine

#if defined(__x86_64__)
#define WIDE __attribute__((target("avx2,fma"), noinline))
#define WIDE_RUNS_HERE (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"))
#else
#define WIDE __attribute__((noinline))
#define WIDE_RUNS_HERE 1
#endif

enum { LANES = 256 };

static union slri_scalar lanes[3][LANES], wide[LANES];

#define MEMBER_F32 f32
#define MEMBER_F64 f64
#define MEMBER_I32 i32
#define MEMBER_U32 u32
#define MEMBER_I64 i64
#define MEMBER_U64 u64
#define CALL_1(fn, A, B, C) fn(lanes[0][i].MEMBER_##A)
#define CALL_2(fn, A, B, C) fn(lanes[0][i].MEMBER_##A, lanes[1][i].MEMBER_##B)
#define CALL_3(fn, A, B, C) fn(lanes[0][i].MEMBER_##A, lanes[1][i].MEMBER_##B, lanes[2][i].MEMBER_##C)
#define DEFINE(id, name, fn, R, arity, A, B, C)                                                                        \
    static WIDE void wide_##id(void)                                                                                   \
    {                                                                                                                  \
        for (int i = 0; i < LANES; i++) {                                                                              \
            wide[i].u64 = 0;                                                                                           \
            wide[i].MEMBER_##R = CALL_##arity(fn, A, B, C);                                                            \
        }                                                                                                              \
    }
SLRI_MATH_LIST(DEFINE)

#define ENTRY(id, ...) wide_##id,
static void (*const wide_functions[])(void) = {SLRI_MATH_LIST(ENTRY)};

static union slri_scalar lane_value(enum slri_math_type type, uint64_t seed)
{
    uint64_t r = scramble(seed);
    if (type == SLRI_MATH_F32)
        return (union slri_scalar){.f32 = r % 3 ? float_sample(r / 3 % FLOAT_SAMPLES) : (float)(int32_t)r * 0x1p-28f};
    if (type == SLRI_MATH_F64)
        return (union slri_scalar){.f64 = r % 3 ? double_sample(r / 3 % DOUBLE_SAMPLES) : (double)(int64_t)r * 0x1p-60};
    return (union slri_scalar){.u64 = r >> r % 64};
}

static void interpreter_and_wide_code_agree_bit_for_bit(void **state)
{
    (void)state;
    if (!WIDE_RUNS_HERE)
        skip();
    for (unsigned id = 0; id < SLRI_MATH_COUNT; id++)
        for (uint64_t round = 0; round < 40; round++) {
            const struct slri_math_function *f = &slri_math_functions[id];
            for (unsigned i = 0; i < LANES; i++)
                for (unsigned a = 0; a < f->arity; a++)
                    lanes[a][i] = lane_value(f->args[a], (round * LANES + i) * 3 + a + 1);
            wide_functions[id]();
            for (unsigned i = 0; i < LANES; i++) {
                union slri_scalar args[3] = {lanes[0][i], lanes[1][i], lanes[2][i]}, r;
                slri_math_eval(id, args, &r);
                if (r.u64 != wide[i].u64)
                    fail_msg("%s of %#llx, %#llx: %#llx and %#llx", f->c_function, (unsigned long long)args[0].u64,
                             (unsigned long long)args[1].u64, (unsigned long long)r.u64,
                             (unsigned long long)wide[i].u64);
            }
        }
}

int main(int argc, char **argv)
{
    prints_table = argc > 1 && strcmp(argv[1], "table") == 0;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(float_functions_keep_their_bounds),
        cmocka_unit_test(double_functions_keep_their_bounds),
        cmocka_unit_test(float_pairs_keep_their_bounds),
        cmocka_unit_test(double_pairs_keep_their_bounds),
        cmocka_unit_test(fmaf_rounds_once),
        cmocka_unit_test(fma_rounds_once),
        cmocka_unit_test(quotients_and_roots_are_rounded_once_on_any_device),
        cmocka_unit_test(lgamma_keeps_its_bounds),
        cmocka_unit_test(exponents_are_taken_off_and_put_on),
        cmocka_unit_test(factorials_are_exact),
        cmocka_unit_test(floats_are_rounded_as_the_name_says),
        cmocka_unit_test(special_cases_are_annex_f),
        cmocka_unit_test(integer_helpers_do_what_cuda_says),
        cmocka_unit_test(conversions_truncate_and_saturate),
        cmocka_unit_test(interpreter_and_wide_code_agree_bit_for_bit),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
