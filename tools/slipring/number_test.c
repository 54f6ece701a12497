// SPDX-License-Identifier: Apache-2.0
#include "number.h"

#include <float.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static void whole_numbers_take_their_range_and_nothing_else(void **state)
{
    (void)state;
    static const struct {
        slr_scalar scalar;
        const char *text;
        bool taken;
        int64_t value;
    } cases[] = {
        {SLR_I8, "-128", true, -128},
        {SLR_I8, "127", true, 127},
        {SLR_I8, "128", false, 0},
        {SLR_I8, "-129", false, 0},
        {SLR_U8, "255", true, 255},
        {SLR_U8, "256", false, 0},
        {SLR_U8, "-1", false, 0},
        {SLR_U8, "-0", true, 0},
        {SLR_I16, "-32768", true, -32768},
        {SLR_I16, "-32769", false, 0},
        {SLR_U16, "65536", false, 0},
        {SLR_I32, "-2147483648", true, INT32_MIN},
        {SLR_I32, "2147483648", false, 0},
        {SLR_U32, "4294967295", true, UINT32_MAX},
        {SLR_U32, "4294967296", false, 0},
        {SLR_I64, "-9223372036854775808", true, INT64_MIN},
        {SLR_I64, "9223372036854775808", false, 0},
        {SLR_U64, "18446744073709551616", false, 0},
        {SLR_I32, " \t+7 ", true, 7},
        {SLR_I32, "007", true, 7},
        {SLR_I32, "", false, 0},
        {SLR_I32, "-", false, 0},
        {SLR_I32, "1.0", false, 0},
        {SLR_I32, "1e3", false, 0},
        {SLR_I32, "1 2", false, 0},
        {SLR_I32, "0x10", false, 0},
        {SLR_BOOL, "true", true, 1},
        {SLR_BOOL, "False", true, 0},
        {SLR_BOOL, "1", true, 1},
        {SLR_BOOL, "2", false, 0},
        {SLR_BOOL, "truely", false, 0},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        unsigned char stored[8];
        memset(stored, 0xaa, sizeof stored);
        bool taken = number_parse(cases[i].scalar, cases[i].text, stored);
        if (taken != cases[i].taken)
            fail_msg("'%s' as %s", cases[i].text, number_takes(cases[i].scalar));
        size_t bytes = taken ? number_bytes(cases[i].scalar) : 0;
        assert_memory_equal(stored, &cases[i].value, bytes); // little-endian
        for (size_t k = bytes; k < sizeof stored; k++)
            assert_int_equal(stored[k], 0xaa);
    }
}

static void halves_take_their_range_and_print_what_reads_back(void **state)
{
    (void)state;
    static const struct {
        slr_scalar scalar;
        const char *text;
        uint16_t bits; // 0xaaaa: it is refused
        const char *printed;
    } cases[] = {
        {SLR_F16, "1", 0x3c00, "1"},
        {SLR_F16, "-2.5", 0xc100, "-2.5"},
        {SLR_F16, "0.1", 0x2e66, "0.1"},
        {SLR_F16, "0.33333", 0x3555, "0.3333"},
        {SLR_F16, "65504", 0x7bff, "65504"},
        {SLR_F16, "65519", 0x7bff, "65504"}, // below the half-way to 65536
        {SLR_F16, "65520", 0xaaaa, NULL},
        {SLR_F16, "2049", 0x6800, "2048"}, // a tie goes to even
        {SLR_F16, "2051", 0x6802, "2052"},
        {SLR_F16, "6.1e-5", 0x03ff, "6.1e-05"}, // the largest below 2^-14
        {SLR_F16, "5.9604645e-8", 0x0001, "6e-08"},
        {SLR_F16, "1e-9", 0x0000, "0"},
        {SLR_F16, "-0", 0x8000, "-0"},
        {SLR_F16, "-inf", 0xfc00, "-inf"},
        {SLR_F16, "nan", 0x7e00, "nan"},
        {SLR_F16, "x", 0xaaaa, NULL},
        {SLR_BF16, "1.0078125", 0x3f81, "1.01"},
        {SLR_BF16, "-3.3895314e38", 0xff7f, "-3.3895314e+38"},
        {SLR_BF16, "3.4e38", 0xaaaa, NULL},
        {SLR_BF16, "9.1835e-41", 0x0001, "9e-41"},
        {SLR_BF16, "inf", 0x7f80, "inf"},
        {SLR_BF16, "nan", 0x7fc0, "nan"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        uint16_t bits = 0xaaaa;
        char text[NUMBER_TEXT_MAX];
        bool taken = number_parse(cases[i].scalar, cases[i].text, &bits);
        if (bits != cases[i].bits || taken != (cases[i].bits != 0xaaaa))
            fail_msg("'%s' became %04x", cases[i].text, bits);
        if (!taken)
            continue;
        const size_t length = number_print(cases[i].scalar, &bits, text);
        assert_int_equal(length, strlen(text));
        if (strcmp(text, cases[i].printed) != 0)
            fail_msg("'%s' was printed as '%s'", cases[i].text, text);
    }
    for (uint32_t bits = 0; bits < 65536; bits++)
        for (slr_scalar scalar = SLR_F16; scalar <= SLR_BF16; scalar++) {
            uint16_t half = (uint16_t)bits, back = 0;
            char text[NUMBER_TEXT_MAX];
            number_print(scalar, &half, text);
            if (strcmp(text, "nan") != 0 && (!number_parse(scalar, text, &back) || back != half))
                fail_msg("%04x was printed as '%s', which reads back as %04x", half, text, back);
        }
}

static double as_double(const char *text)
{
    double value = -77;
    return number_parse(SLR_F64, text, &value) ? value : -77;
}

static float as_float(const char *text)
{
    float value = -77;
    return number_parse(SLR_F32, text, &value) ? value : -77;
}

static void floats_are_read_as_the_nearest_value(void **state)
{
    (void)state;
    static const char *const texts[] = {"0",
                                        "-0.5",
                                        "0.1",
                                        "123456.789",
                                        "1e300",
                                        "-2.5E-7",
                                        ".5",
                                        "5.",
                                        "9007199254740993",
                                        "0.000000000000000000000001",
                                        "1.17549435e-38",
                                        "3.4028235e38",
                                        "16777217",
                                        "1.00000005960464477539062500000001",
                                        "8388608.5",
                                        "83.54400253295898", // its nearest double is half-way between two floats
                                        "1e-45"};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        assert_true(as_double(texts[i]) == strtod(texts[i], NULL));
        if (strtod(texts[i], NULL) < 1e38)
            assert_true(as_float(texts[i]) == strtof(texts[i], NULL));
    }
    assert_true(isnan(as_double("nan")) && isinf(as_double("-inf")) && isinf(as_float("Infinity")));
    assert_true(signbit(as_double("-0")));
}

static void text_that_is_no_decimal_number_is_refused(void **state)
{
    (void)state;
    static const char *const texts[] = {"",    "-",   ".",  "1e",    "0x1p3", "nan(7)",
                                        "1,5", "1 2", "e5", "1.2.3", "one",   "1e999"};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        assert_true(as_double(texts[i]) == -77);
        assert_true(as_float(texts[i]) == -77);
    }
    assert_true(as_float("3.5e38") == -77);
    assert_true(as_float("3.4028235e38") == FLT_MAX);
}

static const char *print_float(float value)
{
    static char text[NUMBER_TEXT_MAX];
    size_t length = number_print(SLR_F32, &value, text);
    assert_int_equal(length, strlen(text));
    return text;
}

static const char *print_double(double value)
{
    static char text[NUMBER_TEXT_MAX];
    size_t length = number_print(SLR_F64, &value, text);
    assert_int_equal(length, strlen(text));
    return text;
}

static void floats_are_printed_with_the_fewest_digits(void **state)
{
    (void)state;
    assert_string_equal(print_float(0.1f), "0.1");
    assert_string_equal(print_float(-2.5f), "-2.5");
    assert_string_equal(print_float(3.0f), "3");
    assert_string_equal(print_float(1e20f), "1e+20");
    assert_string_equal(print_float(16777216.0f), "16777216");
    assert_string_equal(print_float(1.00000012f), "1.0000001");
    assert_string_equal(print_float(4097.00049f), "4097.0005");
    assert_string_equal(print_float(1e-45f), "1e-45");
    assert_string_equal(print_double(0.1), "0.1");
    assert_string_equal(print_double(0.1 + 0.2), "0.30000000000000004");
    assert_string_equal(print_double(1e300), "1e+300");
    assert_string_equal(print_double(-0.0), "-0");
    assert_string_equal(print_double(123456789.25), "123456789.25");
    assert_string_equal(print_double(0.05), "0.05");
    assert_string_equal(print_double((double)INFINITY), "inf");
    assert_string_equal(print_double((double)NAN), "nan");
}

// A fixed sequence of bit patterns: every exponent comes up.
static void what_is_printed_reads_back_as_the_same_bits(void **state)
{
    (void)state;
    uint64_t random = 88172645463325252u;
    for (int i = 0; i < 20000; i++) {
        random ^= random << 13;
        random ^= random >> 7;
        random ^= random << 17;
        double wide;
        float narrow;
        uint32_t low = (uint32_t)random;
        memcpy(&wide, &random, sizeof wide);
        memcpy(&narrow, &low, sizeof narrow);
        double near_one = (double)(int64_t)random / 1e12;
        if (isfinite(wide))
            assert_true(strtod(print_double(wide), NULL) == wide);
        if (isfinite(narrow))
            assert_true(strtof(print_float(narrow), NULL) == narrow);
        assert_true(as_double(print_double(near_one)) == near_one);
        assert_true(as_float(print_float((float)near_one)) == (float)near_one);
    }
}

static void whole_numbers_are_printed_to_their_limits(void **state)
{
    (void)state;
    char text[NUMBER_TEXT_MAX];
    int64_t least = INT64_MIN;
    uint64_t most = UINT64_MAX;
    int8_t small = -128;
    number_print(SLR_I64, &least, text);
    assert_string_equal(text, "-9223372036854775808");
    number_print(SLR_U64, &most, text);
    assert_string_equal(text, "18446744073709551615");
    number_print(SLR_I8, &small, text);
    assert_string_equal(text, "-128");
}

static void people_get_about_three_digits_and_no_exponent(void **state)
{
    (void)state;
    static const struct {
        double value;
        const char *text;
    } cases[] = {
        {0, "0"},           {3200, "3200"},           {3213.4, "3213"}, {100, "100"},       {99.96, "100"},
        {99.7, "99.7"},     {1.236, "1.24"},          {0.8, "0.8"},     {0.0399, "0.0399"}, {0.00001234, "0.0000123"},
        {-2500.5, "-2500"}, {123456789, "123456789"}, {1e15, "1e+15"},  {1e-7, "1e-07"},    {(double)INFINITY, "inf"}};
    char text[NUMBER_TEXT_MAX];
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        assert_string_equal(number_print_rounded(cases[i].value, text), cases[i].text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(whole_numbers_take_their_range_and_nothing_else),
        cmocka_unit_test(halves_take_their_range_and_print_what_reads_back),
        cmocka_unit_test(floats_are_read_as_the_nearest_value),
        cmocka_unit_test(text_that_is_no_decimal_number_is_refused),
        cmocka_unit_test(floats_are_printed_with_the_fewest_digits),
        cmocka_unit_test(what_is_printed_reads_back_as_the_same_bits),
        cmocka_unit_test(whole_numbers_are_printed_to_their_limits),
        cmocka_unit_test(people_get_about_three_digits_and_no_exponent),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
