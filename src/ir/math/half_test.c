// SPDX-License-Identifier: Apache-2.0
// Halves and bfloat16 against a table of all their values: what is nearest, and even of two that are as near.
//
// Rounding is monotone, so it is right everywhere if it is right on both sides of every place where its result changes:
// the values themselves, and the middles between neighbours.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "ir/math/slr_math.h"

#include "ir/math/slr_half.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct format {
    int exponent_bits, fraction_bits;
    float (*from_bits)(uint16_t bits);
    uint16_t (*to_bits)(float value);
    float (*round64)(double value);
    float (*round32)(float value);
    float (*of_u64)(uint64_t value);
    float (*of_i64)(int64_t value);
};

// slr_math.h's functions are inlined; these can be pointed to.
#define WRAP(k)                                                                                                        \
    static float k##_from_bits(uint16_t bits)                                                                          \
    {                                                                                                                  \
        return slri_##k##_from_bits(bits);                                                                             \
    }                                                                                                                  \
    static uint16_t k##_to_bits(float value)                                                                           \
    {                                                                                                                  \
        return slri_##k##_to_bits(value);                                                                              \
    }                                                                                                                  \
    static float k##_round64(double value)                                                                             \
    {                                                                                                                  \
        return slri_f64_to_##k(value);                                                                                 \
    }                                                                                                                  \
    static float k##_round32(float value)                                                                              \
    {                                                                                                                  \
        return slri_f32_to_##k(value);                                                                                 \
    }                                                                                                                  \
    static float k##_of_u64(uint64_t value)                                                                            \
    {                                                                                                                  \
        return slri_u64_to_##k(value);                                                                                 \
    }                                                                                                                  \
    static float k##_of_i64(int64_t value)                                                                             \
    {                                                                                                                  \
        return slri_i64_to_##k(value);                                                                                 \
    }
// clang-format off
WRAP(f16)
WRAP(bf16)
#define FORMAT(k, exponent, fraction) {exponent, fraction, k##_from_bits, k##_to_bits, k##_round64, k##_round32, k##_of_u64, k##_of_i64}
static const struct format formats[] = {FORMAT(f16, 5, 10), FORMAT(bf16, 8, 7)};
// clang-format on

// By the definition of IEEE 754, without the code under test. The exponent above the last: the infinity, as a number.
static double value_of(const struct format *f, uint32_t bits)
{
    int bias = (1 << (f->exponent_bits - 1)) - 1, exponent = (int)(bits >> f->fraction_bits);
    double fraction = (double)(bits & ((1u << f->fraction_bits) - 1));
    if (exponent == 0)
        return ldexp(fraction, 1 - bias - f->fraction_bits);
    return ldexp(fraction + (double)(1u << f->fraction_bits), exponent - bias - f->fraction_bits);
}

static uint32_t infinity_of(const struct format *f)
{
    return ((1u << f->exponent_bits) - 1) << f->fraction_bits;
}

static void every_value_is_read_and_written(void **unused)
{
    (void)unused;
    for (size_t i = 0; i < 2; i++) {
        const struct format *f = &formats[i];
        for (uint32_t bits = 0; bits < infinity_of(f); bits++) {
            float value = f->from_bits((uint16_t)bits), negative = f->from_bits((uint16_t)(bits | 0x8000));
            if ((double)value != value_of(f, bits) || negative != -value || !signbit(negative))
                fail_msg("%04x is read as %a", bits, (double)value);
            if (f->to_bits(value) != bits || f->to_bits(negative) != (bits | 0x8000))
                fail_msg("%a is written as %04x", (double)value, f->to_bits(value));
        }
        assert_true(isinf(f->from_bits((uint16_t)infinity_of(f))));
        assert_int_equal(f->to_bits(-INFINITY), infinity_of(f) | 0x8000);
        for (uint32_t bits = infinity_of(f) + 1; bits < 0x8000; bits++)
            assert_true(isnan(f->from_bits((uint16_t)bits)));
        assert_true(isnan(f->round64((double)NAN)));
        assert_true(f->to_bits(NAN) > infinity_of(f));
    }
}

static void assert_rounds(const struct format *f, double x, uint32_t bits)
{
    double expected = bits >= infinity_of(f) ? (double)INFINITY : value_of(f, bits);
    if ((double)f->round64(x) != expected || (double)f->round64(-x) != -expected)
        fail_msg("%a is rounded to %a, not to %a", x, (double)f->round64(x), expected);
    float narrow = (float)x;
    if ((double)narrow == x && ((double)f->round32(narrow) != expected || f->to_bits(narrow) != bits))
        fail_msg("%a is written as %04x, not as %04x", x, f->to_bits(narrow), bits);
}

static void every_boundary_is_rounded_to_nearest_even(void **unused)
{
    (void)unused;
    for (size_t i = 0; i < 2; i++) {
        const struct format *f = &formats[i];
        for (uint32_t bits = 0; bits < infinity_of(f); bits++) {
            double here = value_of(f, bits), next = value_of(f, bits + 1), middle = (here + next) / 2;
            uint32_t even = bits & 1 ? bits + 1 : bits;
            assert_rounds(f, here, bits);
            assert_rounds(f, middle, even);
            assert_rounds(f, nextafter(middle, 0), bits);
            assert_rounds(f, nextafter(middle, INFINITY), bits + 1);
            assert_rounds(f, (double)nextafterf((float)middle, 0), bits);
            assert_rounds(f, (double)nextafterf((float)middle, INFINITY), bits + 1);
        }
        assert_rounds(f, 1e300, infinity_of(f));
        assert_rounds(f, 5e-324, 0);
    }
}

static void integers_are_rounded_once(void **unused)
{
    (void)unused;
    for (size_t i = 0; i < 2; i++) {
        const struct format *f = &formats[i];
        for (uint32_t bits = 0; bits < infinity_of(f); bits++) {
            double here = value_of(f, bits), next = value_of(f, bits + 1);
            if (here < 2048 || next > 0x1p+62 || next - here < 2)
                continue;
            uint64_t middle = (uint64_t)here + (uint64_t)(next - here) / 2;
            assert_true((double)f->of_u64(middle - 1) == here);
            assert_true((double)f->of_u64(middle) == (bits & 1 ? next : here) || bits + 1 == infinity_of(f));
            assert_true((double)f->of_i64(-(int64_t)middle - 1) == -next || bits + 1 == infinity_of(f));
        }
        assert_true(f->of_i64(-3) == -3);
    }
}

// The sum, difference, product and quotient of floats, rounded again, is that of the halves rounded once.
static void arithmetic_is_rounded_once(void **unused)
{
    (void)unused;
    uint32_t random = 1;
    for (int n = 0; n < 4000000; n++) {
        random = random * 1664525u + 1013904223u;
        const struct format *f = &formats[n & 1];
        float a = f->from_bits((uint16_t)(random >> 16));
        random = random * 1664525u + 1013904223u;
        float b = f->from_bits((uint16_t)(random >> 16));
        if (isnan(a) || isnan(b) || isinf(a) || isinf(b))
            continue;
        assert_true(f->round32(a * b) == f->round64((double)a * b)); // exact in double
        int far = abs(ilogbf(a ? a : 1) - ilogbf(b ? b : 1));
        if (far < 40) // the sum is exact in double
            assert_true(f->round32(a + b) == f->round64((double)a + b));
    }
}

static void fma_is_rounded_once(void **unused)
{
    (void)unused;
    // 1 + 2^-11 lies in the middle; the smallest half beyond it decides, though no double holds the sum
    assert_true(slri_hfma(0x1p-11f, 1, 1) == 1);
    assert_true(slri_hfma(0x1.004p+0f, 0x1p-11f, 1) == 0x1.004p+0f);
    assert_true(slri_hfma(1 + 0x1p-10f, 1 - 0x1p-10f, -1) == -0x1p-20f);
    assert_true(slri_bfma(0x1p-8f, 1, 1) == 1);
    assert_true(slri_bfma(0x1p-8f, 1, 1 + 0x1p-7f) == 1 + 0x1p-6f);
    assert_true(slri_bfma(0x1p-100f, 0x1p-20f, 1) == 1);
    float middle = 1 + 0x1p-8f; // of bfloat16: what is far below it decides
    assert_true(slri_bfma(0x1p-60f, 0x1p-60f, 1) == 1);
    assert_true(slri_f64_to_bf16(slri_half_fma(0x1p-60f, 0x1p-60f, middle)) == 1 + 0x1p-7f);
    assert_true(slri_f64_to_bf16(slri_half_fma(-0x1p-60f, 0x1p-60f, middle)) == 1);
    assert_true(slri_f64_to_bf16(slri_half_fma(0x1p-60f, 0x1p-60f, -middle)) == -1);
    assert_true(isnan(slri_hfma(INFINITY, 0, 1)));
    assert_true(isinf(slri_hfma(65504, 65504, 1)));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_value_is_read_and_written),
        cmocka_unit_test(every_boundary_is_rounded_to_nearest_even),
        cmocka_unit_test(integers_are_rounded_once),
        cmocka_unit_test(arithmetic_is_rounded_once),
        cmocka_unit_test(fma_is_rounded_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
