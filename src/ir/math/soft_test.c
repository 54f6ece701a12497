// SPDX-License-Identifier: Apache-2.0
// Doubles by integers: the same bits as the machine's, for pairs of edges, of neighbours and of anything.
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static unsigned __float_as_uint(float a)
{
    unsigned bits;
    memcpy(&bits, &a, sizeof bits);
    return bits;
}

static float __uint_as_float(unsigned bits)
{
    float a;
    memcpy(&a, &bits, sizeof a);
    return a;
}

#define __clzll(a) __builtin_clzll((unsigned long long)(a))
#define __umul64hi(a, b) ((unsigned long long)((unsigned __int128)(a) * (b) >> 64))
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wpedantic"
#include "slr_soft.h"
#pragma GCC diagnostic pop

#define PAIRS 2000000

static double number(uint64_t bits)
{
    double a;
    memcpy(&a, &bits, sizeof a);
    return a;
}

static uint64_t bits_of(double a)
{
    uint64_t bits;
    memcpy(&bits, &a, sizeof bits);
    return a != a ? SLRI_SOFT_NAN : bits;
}

static uint64_t draw(uint64_t *seed) // splitmix64
{
    uint64_t z = *seed += UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return z ^ z >> 31;
}

static uint64_t some(uint64_t *seed)
{
    static const uint64_t edges[] = {0,
                                     1,
                                     2,
                                     SLRI_SOFT_ONE - 1,
                                     SLRI_SOFT_ONE,
                                     SLRI_SOFT_ONE + 1,
                                     SLRI_SOFT_INF - 1,
                                     SLRI_SOFT_INF,
                                     SLRI_SOFT_NAN,
                                     0x3ff0000000000000,
                                     0x3fefffffffffffff,
                                     0x41dfffffffc00000,
                                     0x43e0000000000000,
                                     0x43efffffffffffff,
                                     0x43f0000000000000,
                                     0x36a0000000000000,
                                     0x380fffffe0000000,
                                     0x47efffffe0000000,
                                     0x47effffff0000000,
                                     0x3690000000000000};
    const uint64_t random = draw(seed), sign = draw(seed) << 63;
    switch (random % 4) {
    case 0:
        return edges[(random >> 8) % (sizeof edges / sizeof *edges)] | sign;
    case 1: // of ordinary size, with few bits
        return ((1023 - 30 + (random >> 8) % 60) << 52 | (random >> 16 & 7) << 49) | sign;
    case 2:
        return ((1023 - 60 + (random >> 8) % 130) << 52 | draw(seed) >> 12) | sign;
    default:
        return draw(seed);
    }
}

#define SAME(a, b, got, wanted)                                                                                        \
    if ((got) != (wanted))                                                                                             \
    fail_msg("%s of %a, %a: %llx, not %llx", #got, number(a), number(b), (unsigned long long)(got),                    \
             (unsigned long long)(wanted))

static void results_have_the_machines_bits(void **state)
{
    (void)state;
    uint64_t seed = 1;
    for (int i = 0; i < PAIRS; i++) {
        const uint64_t a = some(&seed), b = i % 5 ? some(&seed) : a + draw(&seed) % 3 - 1;
        const double x = number(a), y = number(b);
        SAME(a, b, slri_soft_add(a, b), bits_of(x + y));
        SAME(a, b, slri_soft_sub(a, b), bits_of(x - y));
        SAME(a, b, slri_soft_mul(a, b), bits_of(x * y));
        SAME(a, b, slri_soft_div(a, b), bits_of(x / y));
        SAME(a, b, slri_soft_sqrt(a), bits_of(sqrt(x)));
        SAME(a, b, slri_soft_eq(a, b), x == y);
        SAME(a, b, slri_soft_ne(a, b), x != y);
        SAME(a, b, slri_soft_lt(a, b), x < y);
        SAME(a, b, slri_soft_le(a, b), x <= y);
        SAME(a, b, slri_soft_gt(a, b), x > y);
        SAME(a, b, slri_soft_ge(a, b), x >= y);
    }
}

static float rounded(double x)
{
    return x != x ? __uint_as_float(0x7fc00000) : (float)x;
}

// Truncated, and the nearest that the type has.
static long long within(double x, double least, double most)
{
    return x != x ? 0 : x <= least ? (long long)least : x >= most ? (long long)most : (long long)x;
}

static void conversions_have_the_machines_bits(void **state)
{
    (void)state;
    uint64_t seed = 2;
    for (int i = 0; i < PAIRS; i++) {
        const uint64_t a = some(&seed), whole = i % 2 ? draw(&seed) >> draw(&seed) % 64 : a;
        const double x = number(a);
        const float narrow = __uint_as_float((unsigned)whole);
        SAME(a, a, slri_soft_neg(a), a ^ UINT64_C(1) << 63);
        SAME(a, a, slri_soft_from_u64(whole), bits_of((double)whole));
        SAME(a, a, slri_soft_from_i64((long long)whole), bits_of((double)(int64_t)whole));
        SAME(a, a, slri_soft_from_u32((unsigned)whole), bits_of((double)(uint32_t)whole));
        SAME(a, a, slri_soft_from_i32((int)whole), bits_of((double)(int32_t)whole));
        SAME(a, a, slri_soft_from_f32(narrow), bits_of((double)narrow));
        SAME(a, a, __float_as_uint(slri_soft_to_f32(a)), __float_as_uint(rounded(x)));
        SAME(a, a, slri_soft_to_i32(a), (int)within(x, INT32_MIN, INT32_MAX));
        SAME(a, a, slri_soft_to_u32(a), (unsigned)within(x, 0, UINT32_MAX));
        SAME(a, a, slri_soft_to_i16(a), (int)within(x, INT16_MIN, INT16_MAX));
        SAME(a, a, slri_soft_to_u16(a), (int)within(x, 0, UINT16_MAX));
        SAME(a, a, slri_soft_to_i8(a), (int)within(x, INT8_MIN, INT8_MAX));
        SAME(a, a, slri_soft_to_u8(a), (int)within(x, 0, UINT8_MAX));
        SAME(a, a, slri_soft_to_bool(a), x != 0);
        SAME(a, a, slri_soft_to_i64(a), x >= 0x1p63 ? INT64_MAX : within(x, -0x1p63, 0x1p62 * 1.9999999999999998));
        SAME(a, a, slri_soft_to_u64(a), x >= 0x1p64 ? UINT64_MAX : x > 0 ? (uint64_t)x : 0);
    }
}

// The nearest float is what rounding once gives; with the last bit set for what is lost, a half of it is, too.
static void odd_floats_are_between(void **state)
{
    (void)state;
    uint64_t seed = 3;
    for (int i = 0; i < PAIRS; i++) {
        const uint64_t a = some(&seed);
        const double x = number(a);
        const float odd = slri_soft_to_odd(a);
        if (x != x || fabs(x) > 0x1p127)
            continue;
        SAME(a, a, (double)odd == x || (__float_as_uint(odd) & 1), 1);
        SAME(a, a, fabs((double)odd - x) <= 0x1p-149 || fabs((double)odd - x) < fabs(x) * 0x1p-23, 1);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(results_have_the_machines_bits),
        cmocka_unit_test(conversions_have_the_machines_bits),
        cmocka_unit_test(odd_floats_are_between),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
