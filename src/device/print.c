// SPDX-License-Identifier: Apache-2.0
// A buffer's elements as text, by its dtype and shape: each the shortest that reads back as the same value.
#include "base/sized.h"
#include "base/status.h"
#include "device/device.h"
#include "ir/math/slr_math.h"
#include "ir/math/slr_half.h"

#include <float.h>
#include <inttypes.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CHUNK_BYTES 4096u

struct printer {
    slr_buffer *buffer;
    slr_scalar dtype;
    uint32_t each, rank, edge; // bytes of an element
    uint64_t shape[SLR_BUFFER_MOST_DIMENSIONS];
    // Where it goes: one of the two.
    FILE *file;
    char *out;
    size_t room, length; // of `out`; of all text so far
    bool failed;         // the file would not have it
};

static void put(struct printer *p, const char *text)
{
    size_t length = strlen(text);
    if (p->file)
        p->failed = fwrite(text, 1, length, p->file) != length || p->failed;
    else if (p->length < p->room)
        memcpy(p->out + p->length, text, length < p->room - p->length ? length : p->room - p->length);
    p->length += length;
}

// ---- one element ---------------------------------------------------------------------------------------------------

static void spell_unsigned(uint64_t value, char to[SLRI_SCALAR_TEXT])
{
    snprintf(to, SLRI_SCALAR_TEXT, "%" PRIu64, value);
}

static void spell_signed(int64_t value, char to[SLRI_SCALAR_TEXT])
{
    snprintf(to, SLRI_SCALAR_TEXT, "%" PRId64, value);
}

// "%g" drops zeros at the end, so that of as many digits as every normal number of so few keeps none is too many; a
// subnormal one keeps fewer. `most` are always enough. Read and written by the process's locale; its decimal point
// becomes ours.
static void spell_digits(double value, bool is_float, char to[SLRI_SCALAR_TEXT])
{
    // C17 5.2.4.2.2
    int least = is_float ? FLT_DIG : DBL_DIG, most = is_float ? FLT_DECIMAL_DIG : DBL_DECIMAL_DIG;
    if (fabs(value) < (is_float ? (double)FLT_MIN : DBL_MIN))
        least = 1;
    for (int digits = least; digits <= most; ++digits) {
        snprintf(to, SLRI_SCALAR_TEXT, "%.*g", digits, value);
        if ((is_float ? (double)strtof(to, NULL) : strtod(to, NULL)) == value)
            break;
    }
    char *point = to + strspn(to, "-+0123456789einfa");
    if (*point)
        *point = '.';
}

static void spell_floating(double value, bool is_float, char to[SLRI_SCALAR_TEXT])
{
    if (isnan(value))
        snprintf(to, SLRI_SCALAR_TEXT, "nan");
    else if (is_float && fabs(value) < 16777216 && value == nearbyint(value)) // 2^24: no digit of it is made up
        snprintf(to, SLRI_SCALAR_TEXT, "%.0f", value);
    else
        spell_digits(value, is_float, to);
}

// A half is spelled by as few digits as it takes to tell it from the others.
static void spell_half(uint16_t bits, bool is_bf16, char to[SLRI_SCALAR_TEXT])
{
    float value = is_bf16 ? slri_bf16_from_bits(bits) : slri_f16_from_bits(bits);
    spell_floating((double)value, true, to);
    for (int digits = 1; digits < 6 && isfinite(value) && value != nearbyintf(value); ++digits) {
        snprintf(to, SLRI_SCALAR_TEXT, "%.*g", digits, (double)value);
        float read = strtof(to, NULL);
        if ((is_bf16 ? slri_bf16_to_bits(read) : slri_f16_to_bits(read)) == bits)
            break;
    }
    char *point = to + strspn(to, "-+0123456789e");
    if (*point && isfinite(value))
        *point = '.';
}

#define SPELL(type, spell, ...)                                                                                        \
    do {                                                                                                               \
        type value;                                                                                                    \
        memcpy(&value, from, sizeof value);                                                                            \
        spell(value, __VA_ARGS__);                                                                                     \
        return;                                                                                                        \
    } while (0)

void slri_scalar_spell(slr_scalar dtype, const unsigned char *from, char to[SLRI_SCALAR_TEXT])
{
    switch (dtype) {
    case SLR_BOOL:
    case SLR_U8:
        SPELL(uint8_t, spell_unsigned, to);
    case SLR_I8:
        SPELL(int8_t, spell_signed, to);
    case SLR_I16:
        SPELL(int16_t, spell_signed, to);
    case SLR_U16:
        SPELL(uint16_t, spell_unsigned, to);
    case SLR_I32:
        SPELL(int32_t, spell_signed, to);
    case SLR_U32:
        SPELL(uint32_t, spell_unsigned, to);
    case SLR_I64:
        SPELL(int64_t, spell_signed, to);
    case SLR_U64:
        SPELL(uint64_t, spell_unsigned, to);
    case SLR_F32:
        SPELL(float, spell_floating, true, to);
    case SLR_F64:
        SPELL(double, spell_floating, false, to);
    case SLR_F16:
        SPELL(uint16_t, spell_half, false, to);
    case SLR_BF16:
        SPELL(uint16_t, spell_half, true, to);
    }
}

double slri_scalar_real(slr_scalar dtype, const unsigned char *from)
{
    uint16_t half;
    float single;
    double real;
    memcpy(&half, from, sizeof half);
    if (dtype == SLR_F16 || dtype == SLR_BF16)
        return (double)(dtype == SLR_F16 ? slri_f16_from_bits(half) : slri_bf16_from_bits(half));
    if (dtype == SLR_F32) {
        memcpy(&single, from, sizeof single);
        return (double)single;
    }
    memcpy(&real, from, sizeof real);
    return real;
}

// ---- all of them ---------------------------------------------------------------------------------------------------

// Elements `first` up to `end`, between blanks.
static slr_status put_run(struct printer *p, uint64_t first, uint64_t end)
{
    unsigned char chunk[CHUNK_BYTES];
    char text[SLRI_SCALAR_TEXT];
    for (uint64_t at = first; at < end;) {
        uint64_t count = CHUNK_BYTES / p->each < end - at ? CHUNK_BYTES / p->each : end - at;
        SLRI_TRY(slr_buffer_read(p->buffer, at * p->each, chunk, count * p->each));
        for (uint64_t i = 0; i < count; ++i, ++at) {
            if (at != first)
                put(p, " ");
            slri_scalar_spell(p->dtype, chunk + i * p->each, text);
            put(p, text);
        }
    }
    return SLR_OK;
}

// How many of `count` come in front of the "..."; all, where there is none.
static uint64_t in_front(const struct printer *p, uint64_t count)
{
    return p->edge != 0 && count > 2 * (uint64_t)p->edge ? p->edge : count;
}

// A line of the last dimension.
static slr_status put_line(struct printer *p, uint64_t first)
{
    uint64_t count = p->shape[p->rank - 1], front = in_front(p, count);
    SLRI_TRY(put_run(p, first, first + front));
    if (front < count) {
        put(p, " ... ");
        SLRI_TRY(put_run(p, first + count - p->edge, first + count));
    }
    put(p, "\n");
    return SLR_OK;
}

// The part of the buffer from element `first` on that dimension `dimension` and those behind it make. Between parts of
// two dimensions and more there is an empty line. As deep as the buffer has dimensions.
static slr_status put_part(struct printer *p, uint32_t dimension, uint64_t first)
{
    if (dimension + 1 == p->rank)
        return put_line(p, first);
    uint64_t count = p->shape[dimension], front = in_front(p, count), step = 1;
    for (uint32_t i = dimension + 1; i < p->rank; ++i)
        step *= p->shape[i];
    for (uint64_t i = 0; i < count; ++i) {
        if (i == front) {
            put(p, "...\n");
            i = count - p->edge;
        }
        if (i != 0 && dimension + 2 < p->rank)
            put(p, "\n");
        SLRI_TRY(put_part(p, dimension + 1, first + i * step));
    }
    return SLR_OK;
}

// ---- what is asked for ---------------------------------------------------------------------------------------------

static slr_status begin(struct printer *p, slr_buffer *buffer, const slr_print_desc *desc, const char *call)
{
    slr_print_desc whole;
    if (!buffer)
        return SLRI_FAIL(INVALID, "%s: buffer is NULL", call);
    SLRI_TRY(SLRI_TAKE_DESC(slr_print_desc, &whole, desc));
    desc = &whole;
    p->buffer = buffer;
    p->dtype = desc->dtype ? desc->dtype : buffer->dtype;
    p->each = slri_scalar_bytes(p->dtype);
    if (p->each == 0)
        return p->dtype ? SLRI_FAIL(INVALID, "%s: %d is not an slr_scalar", call, (int)p->dtype)
                        : SLRI_FAIL(INVALID, "%s: the buffer has no dtype: set slr_print_desc.dtype", call);
    uint64_t elements = buffer->bytes / p->each;
    if (desc->count > elements)
        return SLRI_FAIL(INVALID, "%s: %llu elements were asked for, the buffer has %llu", call,
                         (unsigned long long)desc->count, (unsigned long long)elements);
    bool shaped = buffer->rank != 0 && desc->count == 0 && p->dtype == buffer->dtype;
    p->edge = desc->edge;
    p->rank = shaped ? buffer->rank : 1;
    p->shape[0] = desc->count ? desc->count : elements;
    if (shaped)
        memcpy(p->shape, buffer->shape, sizeof p->shape);
    return SLR_OK;
}

slr_status slr_buffer_format(slr_buffer *buffer, const slr_print_desc *desc, char *out, size_t bytes, size_t *length)
{
    struct printer p = {.out = out, .room = bytes ? bytes - 1 : 0};
    if (!out && bytes != 0)
        return SLRI_FAIL(INVALID, "slr_buffer_format: out is NULL");
    SLRI_TRY(begin(&p, buffer, desc, "slr_buffer_format"));
    SLRI_TRY(put_part(&p, 0, 0));
    if (bytes != 0)
        out[p.length < p.room ? p.length : p.room] = '\0';
    if (length)
        *length = p.length;
    return SLR_OK;
}

slr_status slr_buffer_print(slr_buffer *buffer, const slr_print_desc *desc, FILE *to)
{
    struct printer p = {.file = to};
    if (!to)
        return SLRI_FAIL(INVALID, "slr_buffer_print: to is NULL");
    SLRI_TRY(begin(&p, buffer, desc, "slr_buffer_print"));
    SLRI_TRY(put_part(&p, 0, 0));
    return p.failed ? SLRI_FAIL(SYSTEM, "slr_buffer_print: the file could not be written") : SLR_OK;
}
