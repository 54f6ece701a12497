// SPDX-License-Identifier: Apache-2.0
#include "ir/format.h"

#include <stdio.h>
#include <string.h>

#define WIDTH_LIMIT 3 // digits of a width or a precision: what is longer is refused, so that output stays small

static uint32_t digits(const char *at)
{
    return (uint32_t)strspn(at, "0123456789");
}

// Of "l", "ll", "h", "hh", "z" and so on: bytes of an integer that it stands for; 0 where it is none.
static uint32_t read_length(const char **at)
{
    static const struct {
        const char *text;
        uint32_t bytes;
    } lengths[] = {{"ll", 8}, {"l", 8}, {"hh", 4}, {"h", 4}, {"z", 8}, {"j", 8}, {"t", 8}};
    for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++)
        if (strncmp(*at, lengths[i].text, strlen(lengths[i].text)) == 0) {
            *at += strlen(lengths[i].text);
            return lengths[i].bytes;
        }
    return 4;
}

static enum slri_kind kind_of_conversion(char letter, uint32_t bytes)
{
    if (letter && strchr("di", letter))
        return bytes == 8 ? SLRI_I64 : SLRI_I32;
    if (letter == 'c')
        return SLRI_I32;
    if (letter && strchr("uoxX", letter))
        return bytes == 8 ? SLRI_U64 : SLRI_U32;
    if (letter == 'p')
        return SLRI_U64;
    return letter && strchr("fFeEgGaA", letter) ? SLRI_F64 : SLRI_VOID;
}

bool slri_format_next(const char **text, struct slri_conversion *out)
{
    const char *at = *text;
    while ((at = strchr(at, '%')) && at[1] == '%')
        at += 2;
    if (!at)
        return false;
    const char *start = at++;
    at += strspn(at, "-+ #0");
    uint32_t width = digits(at);
    at += width;
    uint32_t precision = *at == '.' ? digits(at + 1) : 0;
    at += *at == '.' ? 1 + precision : 0;
    uint32_t bytes = read_length(&at);
    *out = (struct slri_conversion){.start = start, .kind = kind_of_conversion(*at, bytes)};
    if (width > WIDTH_LIMIT || precision > WIDTH_LIMIT)
        out->kind = SLRI_VOID;
    at += *at != 0;
    out->length = (uint32_t)(at - start);
    *text = at;
    return true;
}

// What stands between two conversions; %% is one %.
static void put_plain(struct slri_text *out, const char *from, const char *to)
{
    for (; from < to; from++) {
        slri_text_append(out, from, 1);
        from += *from == '%';
    }
}

// The host's printf does the work, with one conversion at a time, whose length is made the widest.
static void put_value(struct slri_text *out, const struct slri_conversion *conversion, union slri_scalar value)
{
    char spec[32], made[1400]; // the longest: %999.999f of 1e308
    size_t flags = 1 + strspn(conversion->start + 1, "-+ #0123456789.");
    char letter = conversion->start[conversion->length - 1];
    if (flags > sizeof spec - 4)
        return; // more flags than there are
    memcpy(spec, conversion->start, flags);
    const char *length = conversion->kind == SLRI_F64 || letter == 'c' || letter == 'p' ? "" : "ll";
    snprintf(spec + flags, sizeof spec - flags, "%s%c", length, letter);
    int bytes;
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
    if (conversion->kind == SLRI_F64)
        bytes = snprintf(made, sizeof made, spec, value.f64);
    else if (letter == 'p')
        bytes = snprintf(made, sizeof made, spec, (void *)(uintptr_t)value.u64);
    else if (letter == 'c')
        bytes = snprintf(made, sizeof made, spec, (int)value.i32);
    else if (conversion->kind == SLRI_I32)
        bytes = snprintf(made, sizeof made, spec, (long long)value.i32);
    else if (conversion->kind == SLRI_U32)
        bytes = snprintf(made, sizeof made, spec, (unsigned long long)value.u32);
    else
        bytes = snprintf(made, sizeof made, spec, (unsigned long long)value.u64);
#pragma GCC diagnostic pop
    if (bytes > 0)
        slri_text_append(out, made, (size_t)bytes < sizeof made ? (size_t)bytes : sizeof made - 1);
}

void slri_format_fill(const char *text, const union slri_scalar *value, struct slri_text *out)
{
    size_t begin = out->length;
    struct slri_conversion conversion;
    const char *at = text;
    while (slri_format_next(&at, &conversion)) {
        put_plain(out, text, conversion.start);
        put_value(out, &conversion, *value++);
        text = at;
    }
    put_plain(out, text, text + strlen(text));
    if (out->length - begin > SLRI_PRINT_MAX_BYTES)
        out->data[out->length = begin + SLRI_PRINT_MAX_BYTES] = 0;
}
