// SPDX-License-Identifier: Apache-2.0
// Text to scalars: strict, with each type's range.
#include "number.h"

#include "number_half.h"

#include <errno.h>
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

static const struct kind {
    size_t bytes;
    uint64_t most, least; // whole numbers: the largest, and the smallest without its sign
    const char *takes;
} kinds[] = {
    [SLR_BOOL] = {1, 1, 0, "0, 1, false or true"},
    [SLR_I8] = {1, INT8_MAX, INT8_MAX + 1ull, "a whole number from -128 to 127"},
    [SLR_U8] = {1, UINT8_MAX, 0, "a whole number from 0 to 255"},
    [SLR_I16] = {2, INT16_MAX, INT16_MAX + 1ull, "a whole number from -32768 to 32767"},
    [SLR_U16] = {2, UINT16_MAX, 0, "a whole number from 0 to 65535"},
    [SLR_I32] = {4, INT32_MAX, INT32_MAX + 1ull, "a whole number from -2147483648 to 2147483647"},
    [SLR_U32] = {4, UINT32_MAX, 0, "a whole number from 0 to 4294967295"},
    [SLR_I64] = {8, INT64_MAX, INT64_MAX + 1ull, "a whole number from -9223372036854775808 to 9223372036854775807"},
    [SLR_U64] = {8, UINT64_MAX, 0, "a whole number from 0 to 18446744073709551615"},
    [SLR_F32] = {4, 0, 0, "a number from -3.4028235e38 to 3.4028235e38, inf or nan"},
    [SLR_F64] = {8, 0, 0, "a number from -1.7976931348623157e308 to 1.7976931348623157e308, inf or nan"},
    [SLR_F16] = {2, 0, 0, "a number from -65504 to 65504, inf or nan"},
    [SLR_BF16] = {2, 0, 0, "a number from -3.3895314e38 to 3.3895314e38, inf or nan"},
};

size_t number_bytes(slr_scalar scalar)
{
    return kinds[scalar].bytes;
}

const char *number_takes(slr_scalar scalar)
{
    return kinds[scalar].takes;
}

static const char *skip_blanks(const char *text)
{
    while (*text == ' ' || *text == '\t')
        text++;
    return text;
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static bool store_whole(size_t bytes, uint64_t value, void *to)
{
    uint8_t u8 = (uint8_t)value;
    uint16_t u16 = (uint16_t)value;
    uint32_t u32 = (uint32_t)value;
    const void *from = bytes == 1   ? (void *)&u8
                       : bytes == 2 ? (void *)&u16
                       : bytes == 4 ? (void *)&u32
                                    : (void *)&value;
    memcpy(to, from, bytes);
    return true;
}

static bool parse_whole(const struct kind *kind, const char *text, void *to)
{
    bool negative = *text == '-';
    if (*text == '-' || *text == '+')
        text++;
    uint64_t limit = negative ? kind->least : kind->most;
    uint64_t value = 0;
    const char *first = text;
    for (; is_digit(*text); text++) {
        unsigned digit = (unsigned)(*text - '0');
        if (value > (limit - digit) / 10 || digit > limit)
            return false;
        value = value * 10 + digit;
    }
    if (text == first || *skip_blanks(text) != '\0')
        return false;
    return store_whole(kind->bytes, negative ? 0 - value : value, to);
}

static bool parse_bool(const char *text, void *to)
{
    static const struct {
        const char *word;
        uint64_t value;
    } words[] = {{"false", 0}, {"true", 1}};
    for (size_t i = 0; i < 2; i++) {
        size_t length = strlen(words[i].word);
        if (strncasecmp(text, words[i].word, length) == 0 && *skip_blanks(text + length) == '\0')
            return store_whole(1, words[i].value, to);
    }
    return parse_whole(&kinds[SLR_BOOL], text, to);
}

// Where the digits make a whole number below 2^53, and the power of ten is one that a double holds, one division gives
// the correctly rounded double (W. D. Clinger, "How to read floating point numbers accurately", PLDI 1990).
static bool parse_exact(const char *text, double *out)
{
    static const double powers[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,  1e8, 1e9,
                                    1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18};
    bool negative = *text == '-';
    if (*text == '-' || *text == '+')
        text++;
    uint64_t digits = 0;
    unsigned count = 0, decimals = 0;
    for (; is_digit(*text); text++, count++)
        digits = digits * 10 + (unsigned)(*text - '0');
    if (*text == '.') {
        for (text++; is_digit(*text); text++, decimals++)
            digits = digits * 10 + (unsigned)(*text - '0');
    }
    count += decimals;
    if (count == 0 || count > 18 || digits > 1ull << 53 || *skip_blanks(text) != '\0')
        return false;
    double value = (double)digits / powers[decimals];
    *out = negative ? -value : value;
    return true;
}

// strtod also takes hexadecimal numbers and NANs with a payload; a CSV file that has them is not what it seems.
static bool is_decimal(const char *text)
{
    static const char *const words[] = {"inf", "infinity", "nan"};
    const char *word = text + (*text == '-' || *text == '+');
    for (size_t i = 0; i < 3; i++) {
        size_t length = strlen(words[i]);
        if (strncasecmp(word, words[i], length) == 0 && *skip_blanks(word + length) == '\0')
            return true;
    }
    size_t length = strspn(text, "0123456789+-.eE");
    return length > 0 && *skip_blanks(text + length) == '\0';
}

static bool parse_double(const char *text, void *to)
{
    double value;
    if (!parse_exact(text, &value)) {
        char *end;
        errno = 0;
        value = is_decimal(text) ? strtod(text, &end) : (end = (char *)text, 0.0);
        if (end == text || *skip_blanks(end) != '\0' || (errno == ERANGE && fabs(value) > 1.0))
            return false;
    }
    memcpy(to, &value, sizeof value);
    return true;
}

// The double that is nearest to the text rounds to the same float as the text itself, unless it lies half-way between
// two floats: then only the text knows which is nearer.
static bool rounds_like_its_text(double value)
{
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    double size = fabs(value);
    return value == 0.0 || (size >= FLT_MIN && size <= FLT_MAX && (bits & 0x1fffffffu) != 0x10000000u);
}

static bool parse_float(const char *text, void *to)
{
    double exact;
    float value;
    if (parse_exact(text, &exact) && rounds_like_its_text(exact)) {
        value = (float)exact;
    } else {
        char *end;
        errno = 0;
        value = is_decimal(text) ? strtof(text, &end) : (end = (char *)text, 0.0f);
        if (end == text || *skip_blanks(end) != '\0' || (errno == ERANGE && fabsf(value) > 1.0f))
            return false;
    }
    memcpy(to, &value, sizeof value);
    return true;
}

static bool parse_half(slr_scalar scalar, const char *text, void *to)
{
    double value;
    uint16_t bits;
    if (!parse_double(text, &value) || !number_to_half(scalar, value, &bits))
        return false;
    memcpy(to, &bits, sizeof bits);
    return true;
}

bool number_parse(slr_scalar scalar, const char *text, void *to)
{
    text = skip_blanks(text);
    switch (scalar) {
    case SLR_BOOL:
        return parse_bool(text, to);
    case SLR_F32:
        return parse_float(text, to);
    case SLR_F64:
        return parse_double(text, to);
    case SLR_F16:
    case SLR_BF16:
        return parse_half(scalar, text, to);
    default:
        return parse_whole(&kinds[scalar], text, to);
    }
}

bool number_parse_duration(const char *text, uint64_t *to_ns)
{
    static const struct {
        const char *name;
        double ns;
    } units[] = {{"ns", 1}, {"us", 1e3}, {"ms", 1e6}, {"s", 1e9}, {"min", 60e9}};
    size_t digits = strspn(text, "0123456789.");
    char number[32];
    double value;
    if (digits == 0 || digits >= sizeof number)
        return false;
    memcpy(number, text, digits);
    number[digits] = '\0';
    if (!parse_double(number, &value))
        return false;
    for (size_t i = 0; i < sizeof units / sizeof *units; i++) {
        if (strcmp(text + digits, units[i].name) != 0 || value * units[i].ns > (double)(1ull << 62))
            continue;
        *to_ns = (uint64_t)(value * units[i].ns + 0.5);
        return true;
    }
    return false;
}
