// SPDX-License-Identifier: Apache-2.0
// Scalars to text: the shortest that reads back as the same value.
#include "number.h"

#include "number_half.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static size_t print_unsigned(uint64_t value, char *to)
{
    char reversed[20];
    size_t count = 0;
    do {
        reversed[count++] = (char)('0' + value % 10);
        value /= 10;
    } while (value != 0);
    for (size_t i = 0; i < count; i++)
        to[i] = reversed[count - 1 - i];
    to[count] = '\0';
    return count;
}

static size_t print_signed(int64_t value, char *to)
{
    if (value >= 0)
        return print_unsigned((uint64_t)value, to);
    *to = '-';
    return 1 + print_unsigned(0 - (uint64_t)value, to + 1);
}

// `digits` / 10^`decimals`, without an exponent.
static size_t print_decimal(bool negative, uint64_t digits, unsigned decimals, char *to)
{
    char text[24];
    size_t count = print_unsigned(digits, text);
    char *at = to;
    if (negative)
        *at++ = '-';
    if (count <= decimals) {
        *at++ = '0';
        *at++ = '.';
        memset(at, '0', decimals - count);
        at += decimals - count;
        memcpy(at, text, count + 1);
        return (size_t)(at - to) + count;
    }
    size_t whole = count - decimals;
    memcpy(at, text, whole);
    at += whole;
    if (decimals > 0) {
        *at++ = '.';
        memcpy(at, text + whole, decimals);
        at += decimals;
    }
    *at = '\0';
    return (size_t)(at - to);
}

static bool same(double a, double b, bool is_float)
{
    return is_float ? (float)a == (float)b : a == b;
}

// A double half-way between two floats (number_parse.c): its decimal text may round to the other one.
static bool between_floats(double value)
{
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    return (bits & 0x1fffffffu) == 0x10000000u;
}

// Where print_short finds every number that has few enough digits. 2^24: above, a float may be written with fewer
// digits than it has as a whole number.
static bool is_common(double size, bool is_float)
{
    return size == 0.0 || (size >= 1e-4 && size < (is_float ? 16777216.0 : 1e15));
}

// Tries digits / 10^k for growing k. Both are exact below 2^53 and up to 10^22, so that the division is rounded once:
// it gives what reading the text gives. The product's error cannot hide digits that are fewer than 16.
static size_t print_short(double value, bool is_float, char *to)
{
    static const double powers[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,  1e8,  1e9,  1e10, 1e11,
                                    1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};
    double size = fabs(value);
    for (unsigned k = 0; k < sizeof powers / sizeof *powers; k++) {
        double digits = nearbyint(size * powers[k]);
        if (digits > 9007199254740992.0) // 2^53
            return 0;
        double candidate = digits / powers[k];
        if (same(candidate, size, is_float) && !(is_float && between_floats(candidate)))
            return print_decimal(signbit(value) != 0, (uint64_t)digits, k, to);
    }
    return 0;
}

static size_t print_floating(double value, bool is_float, char *to)
{
    if (isnan(value))
        return (size_t)snprintf(to, NUMBER_TEXT_MAX, "nan");
    bool common = is_common(fabs(value), is_float);
    size_t length = common ? print_short(value, is_float, to) : 0;
    int most = is_float ? 9 : 17; // digits that are always enough (C17 5.2.4.2.2: FLT_DECIMAL_DIG, DBL_DECIMAL_DIG)
    for (int digits = common && !is_float ? 16 : 1; length == 0; digits++) {
        int written = snprintf(to, NUMBER_TEXT_MAX, "%.*g", digits, value);
        double back = is_float ? (double)strtof(to, NULL) : strtod(to, NULL);
        if (digits == most || back == value)
            length = (size_t)written;
    }
    return length;
}

// Five digits are enough: a half has 11 significant bits.
static size_t print_half(uint16_t bits, slr_scalar scalar, char *to)
{
    const double value = number_of_half(scalar, bits);
    size_t length = print_floating(value, true, to);
    for (int digits = 1; digits < 6 && isfinite(value) && value != nearbyint(value); digits++) {
        uint16_t back;
        length = (size_t)snprintf(to, NUMBER_TEXT_MAX, "%.*g", digits, value);
        if (number_to_half(scalar, strtod(to, NULL), &back) && back == bits)
            break;
    }
    return length;
}

#define PRINT(type, print, ...)                                                                                        \
    do {                                                                                                               \
        type value;                                                                                                    \
        memcpy(&value, from, sizeof value);                                                                            \
        return print(value, __VA_ARGS__);                                                                              \
    } while (0)

size_t number_print(slr_scalar scalar, const void *from, char *to)
{
    switch (scalar) {
    case SLR_BOOL:
    case SLR_U8:
        PRINT(uint8_t, print_unsigned, to);
    case SLR_I8:
        PRINT(int8_t, print_signed, to);
    case SLR_I16:
        PRINT(int16_t, print_signed, to);
    case SLR_U16:
        PRINT(uint16_t, print_unsigned, to);
    case SLR_I32:
        PRINT(int32_t, print_signed, to);
    case SLR_U32:
        PRINT(uint32_t, print_unsigned, to);
    case SLR_I64:
        PRINT(int64_t, print_signed, to);
    case SLR_U64:
        PRINT(uint64_t, print_unsigned, to);
    case SLR_F32:
        PRINT(float, print_floating, true, to);
    case SLR_F64:
        PRINT(double, print_floating, false, to);
    case SLR_F16:
    case SLR_BF16:
        PRINT(uint16_t, print_half, scalar, to);
    }
    *to = '\0';
    return 0;
}

// From 1,000 on %.3g has an exponent, and below 1e-4.
const char *number_print_rounded(double value, char *to)
{
    const double size = fabs(value);
    int decimals = 0;
    if (!(size == 0 || (size >= 1e-6 && size < 1e15))) {
        snprintf(to, NUMBER_TEXT_MAX, "%.3g", value);
        return to;
    }
    for (double least = 100; size > 0 && size < least; least /= 10)
        decimals++;
    snprintf(to, NUMBER_TEXT_MAX, "%.*f", decimals, value);
    if (decimals > 0) { // without the zeros at the end
        size_t length = strlen(to);
        while (to[length - 1] == '0')
            length--;
        to[to[length - 1] == '.' ? length - 1 : length] = '\0';
    }
    return to;
}
