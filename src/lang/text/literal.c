// SPDX-License-Identifier: Apache-2.0
// The values of numbers, characters and strings.
#include "lang/text/literal.h"

#include "lang/text/diagnostics.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NUMBER_BYTES 1024 // of a spelling; more digits than any double can tell apart
#define POINT_BYTES 16

static const struct slri_literal_error fine = {0, ""};

static struct slri_literal_error wrong(unsigned code, const char *message)
{
    return (struct slri_literal_error){code, message};
}

// The digit's value, or `base` and more for what is no digit of it.
static unsigned digit_value(char c)
{
    if (c >= '0' && c <= '9')
        return (unsigned)(c - '0');
    char lower = (char)(c | 0x20);
    return lower >= 'a' && lower <= 'z' ? (unsigned)(lower - 'a') + 10 : 99;
}

static const char *skip_digits(const char *at, unsigned base)
{
    while (digit_value(*at) < base)
        at++;
    return at;
}

// ---- floating point ------------------------------------------------------------------------------------------------

static bool is_hexadecimal(const char *spelling)
{
    return spelling[0] == '0' && (spelling[1] | 0x20) == 'x';
}

static bool is_floating(const char *spelling)
{
    return strpbrk(spelling, is_hexadecimal(spelling) ? ".pP" : ".eE") != NULL;
}

// Where the number ends and its suffix starts, or NULL if this is not C's grammar.
static const char *floating_end(const char *spelling)
{
    bool is_hex = is_hexadecimal(spelling);
    unsigned base = is_hex ? 16 : 10;
    const char *digits = spelling + (is_hex ? 2 : 0), *at = skip_digits(digits, base);
    size_t count = (size_t)(at - digits);
    if (*at == '.') {
        digits = at + 1;
        at = skip_digits(digits, base);
        count += (size_t)(at - digits);
    }
    bool has_exponent = (*at | 0x20) == (is_hex ? 'p' : 'e');
    if (!count || (is_hex && !has_exponent))
        return NULL;
    if (!has_exponent)
        return at;
    at++;
    at += *at == '+' || *at == '-';
    return digit_value(*at) < 10 ? skip_digits(at, 10) : NULL;
}

// strtod and strtof read the decimal point of the application's locale: give them that one.
static void localize(const char *spelling, size_t length, char *out)
{
    char probe[POINT_BYTES + 2];
    int probed = snprintf(probe, sizeof probe, "%.1f", 0.5);
    size_t point_bytes = probed > 2 && (size_t)probed < sizeof probe ? (size_t)probed - 2 : 0; // between 0 and 5
    for (size_t i = 0; i < length; i++) {
        if (spelling[i] == '.' && point_bytes) {
            memcpy(out, probe + 1, point_bytes);
            out += point_bytes;
        } else {
            *out++ = spelling[i];
        }
    }
    *out = '\0';
}

static struct slri_literal_error floating(const char *spelling, struct slri_token *token)
{
    const char *suffix = floating_end(spelling);
    if (!suffix || (size_t)(suffix - spelling) > NUMBER_BYTES)
        return wrong(SLRI_K_BAD_NUMBER, "not a number");
    if (strcmp(suffix, "l") == 0 || strcmp(suffix, "L") == 0)
        return wrong(SLRI_K_UNSUPPORTED_TYPE, "a constant of type long double");
    token->is_float = strcmp(suffix, "f") == 0 || strcmp(suffix, "F") == 0;
    if (*suffix && !token->is_float)
        return wrong(SLRI_K_BAD_NUMBER, "unknown suffix of a floating-point number");
    char local[NUMBER_BYTES + POINT_BYTES + 1];
    localize(spelling, (size_t)(suffix - spelling), local);
    // Not a double rounded again: that is one bit off for some numbers.
    token->value.f64 = token->is_float ? (double)strtof(local, NULL) : strtod(local, NULL);
    token->kind = SLRI_TOKEN_FLOAT;
    token->is_decimal = !is_hexadecimal(spelling);
    return isinf(token->value.f64) ? wrong(SLRI_K_FLOAT_TOO_LARGE, "larger than its type can hold") : fine;
}

// ---- integers ------------------------------------------------------------------------------------------------------

static bool read_suffix(const char *suffix, struct slri_token *token)
{
    static const struct {
        const char *text;
        bool is_unsigned, is_long;
    } known[] = {{"", 0, 0},   {"u", 1, 0},   {"l", 0, 1},   {"ll", 0, 1},  {"LL", 0, 1}, {"ul", 1, 1},
                 {"lu", 1, 1}, {"ull", 1, 1}, {"llu", 1, 1}, {"uLL", 1, 1}, {"LLu", 1, 1}};
    char folded[4] = ""; // u and single ls in lower case; the two ls of a pair must have the same case
    size_t length = strlen(suffix);
    if (length > 3)
        return false;
    bool is_pair = strstr(suffix, "LL") != NULL;
    for (size_t i = 0; i < length; i++)
        folded[i] = suffix[i] == 'U' ? 'u' : suffix[i] == 'L' && !is_pair && !strchr(suffix, 'l') ? 'l' : suffix[i];
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
        if (strcmp(folded, known[i].text) != 0)
            continue;
        token->is_unsigned = known[i].is_unsigned;
        token->is_long = known[i].is_long;
        return true;
    }
    return false;
}

static struct slri_literal_error integer(const char *spelling, struct slri_token *token)
{
    bool is_binary = spelling[0] == '0' && (spelling[1] | 0x20) == 'b';
    unsigned base = is_hexadecimal(spelling) ? 16 : is_binary ? 2 : spelling[0] == '0' ? 8 : 10;
    const char *digits = spelling + (base == 16 || base == 2 ? 2 : 0), *suffix = skip_digits(digits, base);
    if (suffix == digits || !read_suffix(suffix, token))
        return wrong(SLRI_K_BAD_NUMBER, "not a number");
    uint64_t value = 0;
    bool is_too_large = false;
    for (const char *at = digits; at < suffix; at++) {
        unsigned digit = digit_value(*at);
        is_too_large |= value > (UINT64_MAX - digit) / base;
        value = value * base + digit;
    }
    token->kind = SLRI_TOKEN_INTEGER;
    token->value.u64 = value;
    token->is_decimal = base == 10;
    is_too_large |= token->is_decimal && !token->is_unsigned && value > INT64_MAX;
    return is_too_large ? wrong(SLRI_K_INTEGER_TOO_LARGE, "an integer that no type holds") : fine;
}

struct slri_literal_error slri_number(const char *spelling, struct slri_token *token)
{
    return is_floating(spelling) ? floating(spelling, token) : integer(spelling, token);
}

// ---- characters ----------------------------------------------------------------------------------------------------

static const struct {
    char letter, value;
} escapes[] = {{'n', '\n'}, {'t', '\t'}, {'r', '\r'}, {'a', '\a'},  {'b', '\b'}, {'f', '\f'},
               {'v', '\v'}, {'?', '?'},  {'"', '"'},  {'\'', '\''}, {'\\', '\\'}};

// Digits of `base`, at most `limit` of them, that make one byte. NULL if they do not.
static const char *numeric_escape(const char *at, unsigned base, unsigned limit, char *out)
{
    unsigned value = 0;
    const char *start = at;
    for (; digit_value(*at) < base && (unsigned)(at - start) < limit; at++) {
        value = value * base + digit_value(*at);
        if (value > 255)
            return NULL;
    }
    *out = (char)value;
    return at > start ? at : NULL;
}

// `at` is behind the backslash. What follows the escape, or NULL.
static const char *read_escape(const char *at, char *out)
{
    if (*at == 'x')
        return numeric_escape(at + 1, 16, UINT32_MAX, out);
    if (digit_value(*at) < 8)
        return numeric_escape(at, 8, 3, out);
    for (size_t i = 0; i < sizeof escapes / sizeof escapes[0]; i++) {
        if (escapes[i].letter == *at) {
            *out = escapes[i].value;
            return at + 1;
        }
    }
    return NULL;
}

struct slri_literal_error slri_string(const char *spelling, uint32_t length, char *out, uint32_t *written)
{
    const char *at = spelling + 1, *end = spelling + length - 1; // within the quotes
    *written = 0;
    while (at < end) {
        char c = *at++;
        if (c == '\\') {
            at = read_escape(at, &c);
            if (!at || at > end)
                return wrong(SLRI_K_BAD_ESCAPE, "unknown or too large escape sequence");
        }
        out[(*written)++] = c;
    }
    return fine;
}

struct slri_literal_error slri_character(const char *spelling, uint32_t length, struct slri_token *token)
{
    char content[16];
    uint32_t written = 0;
    if (length > sizeof content)
        return wrong(SLRI_K_BAD_CHARACTER_LITERAL, "more than one character");
    struct slri_literal_error error = slri_string(spelling, length, content, &written);
    if (error.code)
        return error;
    if (written != 1)
        return wrong(SLRI_K_BAD_CHARACTER_LITERAL, written ? "more than one character" : "no character");
    token->kind = SLRI_TOKEN_CHAR;
    token->value.u64 = (uint64_t)(int64_t)(signed char)content[0]; // char is signed (LP64)
    return fine;
}
