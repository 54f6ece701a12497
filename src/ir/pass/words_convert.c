// SPDX-License-Identifier: Apache-2.0
// Conversions: narrow integers in a word, integers of 64 bits, halves.
#include "ir/pass/words_internal.h"

typedef struct slri_words_pair pair;
typedef struct slri_word word;

static word floating(enum slri_kind kind, double value)
{
    union {
        float f;
        uint32_t bits;
    } narrow = {.f = (float)value};
    union {
        double f;
        uint64_t bits;
    } wide = {.f = value};
    return slri_words_const(kind, kind == SLRI_F32 ? narrow.bits : wide.bits);
}

// ---- narrow integers -----------------------------------------------------------------------------------------------

word slri_words_narrow(struct slri_words *w, enum slri_kind kind, word of)
{
    const uint32_t width = 8 * slri_kind_bytes(kind), rest = 32 - width;
    word by = slri_words_const(SLRI_I32, rest);
    if (kind == SLRI_BOOL)
        return slri_words_op(w, SLRI_OP_NE, SLRI_U32, of, slri_words_u32(0));
    if (!slri_kind_is_signed(kind))
        return slri_words_as(w, SLRI_I32, SLRI_WORDS_OP(w, AND, of, slri_words_u32((UINT32_C(1) << width) - 1)));
    return slri_words_op(w, SLRI_OP_SHR, SLRI_I32, slri_words_op(w, SLRI_OP_SHL, SLRI_I32, of, by), by);
}

// ---- halves --------------------------------------------------------------------------------------------------------

static word is_nan(struct slri_words *w, word magnitude)
{
    return slri_words_mask(w, SLRI_WORDS_OP(w, GT, magnitude, slri_words_u32(0x7f800000)));
}

// Of a magnitude's bits, in steps of 2^places, to nearest even. By integers: the rounding of a float sum is the
// driver's.
static word round_at(struct slri_words *w, word value, word places)
{
    word one = slri_words_u32(1), odd = SLRI_WORDS_OP(w, AND, SLRI_WORDS_OP(w, SHR, value, places), one);
    word half = SLRI_WORDS_OP(w, SHL, one, SLRI_WORDS_OP(w, SUB, places, one));
    word below = SLRI_WORDS_OP(w, SUB, half, one);
    return SLRI_WORDS_OP(w, SHR, SLRI_WORDS_OP(w, ADD, SLRI_WORDS_OP(w, ADD, value, below), odd), places);
}

static word f16_bits(struct slri_words *w, word a)
{
    word of = slri_words_bits(w, a);
    word sign = SLRI_WORDS_OP(w, AND, SLRI_WORDS_OP(w, SHR, of, slri_words_u32(16)), slri_words_u32(0x8000));
    word magnitude = SLRI_WORDS_OP(w, AND, of, slri_words_u32(0x7fffffff));
    word is_small = slri_words_mask(w, SLRI_WORDS_OP(w, LT, magnitude, slri_words_u32(0x38800000)));
    word is_large = slri_words_mask(w, SLRI_WORDS_OP(w, GE, magnitude, slri_words_u32(0x47800000)));
    // Below 2^-14 a half has steps of 2^-24.
    word mantissa =
        SLRI_WORDS_OP(w, OR, SLRI_WORDS_OP(w, AND, magnitude, slri_words_u32(0x7fffff)), slri_words_u32(0x800000));
    word exponent = SLRI_WORDS_OP(w, SHR, magnitude, slri_words_u32(23));
    word places =
        slri_words_call(w, SLRI_MATH_MIN_U32, SLRI_WORDS_OP(w, SUB, slri_words_u32(126), exponent), slri_words_u32(31));
    word normal = SLRI_WORDS_OP(w, SUB, magnitude, slri_words_u32(0x38000000));
    word finite = round_at(w, slri_words_pick(w, is_small, mantissa, normal),
                           slri_words_pick(w, is_small, places, slri_words_u32(13)));
    word made = SLRI_WORDS_OP(w, OR, slri_words_pick(w, is_large, slri_words_u32(0x7c00), finite), sign);
    return slri_words_pick(w, is_nan(w, magnitude), slri_words_u32(0x7e00), made);
}

word slri_words_half_bits(struct slri_words *w, enum slri_kind kind, word a)
{
    if (kind == SLRI_F16)
        return f16_bits(w, a);
    word of = slri_words_bits(w, a);
    word magnitude = SLRI_WORDS_OP(w, AND, of, slri_words_u32(0x7fffffff));
    return slri_words_pick(w, is_nan(w, magnitude), slri_words_u32(0x7fc0), round_at(w, of, slri_words_u32(16)));
}

word slri_words_half_value(struct slri_words *w, enum slri_kind kind, word of)
{
    if (kind == SLRI_BF16)
        return slri_words_from_bits(w, SLRI_F32, SLRI_WORDS_OP(w, SHL, of, slri_words_u32(16)));
    word sign = SLRI_WORDS_OP(w, SHL, SLRI_WORDS_OP(w, AND, of, slri_words_u32(0x8000)), slri_words_u32(16));
    word magnitude = SLRI_WORDS_OP(w, AND, of, slri_words_u32(0x7fff)),
         moved = SLRI_WORDS_OP(w, SHL, magnitude, slri_words_u32(13));
    word steps = slri_words_as(w, SLRI_F32, magnitude);
    word small = slri_words_bits(w, slri_words_op(w, SLRI_OP_MUL, SLRI_F32, steps, floating(SLRI_F32, 0x1p-24)));
    word normal = SLRI_WORDS_OP(w, ADD, moved, slri_words_u32(0x38000000));
    word nan = slri_words_mask(w, SLRI_WORDS_OP(w, GT, magnitude, slri_words_u32(0x7c00)));
    word large = SLRI_WORDS_OP(w, OR, SLRI_WORDS_OP(w, AND, nan, slri_words_u32(0x400000)), slri_words_u32(0x7f800000));
    word is_small = slri_words_mask(w, SLRI_WORDS_OP(w, LT, magnitude, slri_words_u32(0x400)));
    word is_large = slri_words_mask(w, SLRI_WORDS_OP(w, GE, magnitude, slri_words_u32(0x7c00)));
    word made = slri_words_pick(w, is_small, small, slri_words_pick(w, is_large, large, normal));
    return slri_words_from_bits(w, SLRI_F32, SLRI_WORDS_OP(w, OR, made, sign));
}

// ---- integers of 64 bits to floats ---------------------------------------------------------------------------------

word slri_words_clz(struct slri_words *w, pair a)
{
    word high = slri_words_bits(w, slri_words_call(w, SLRI_MATH_CLZ, slri_words_as(w, SLRI_I32, a.high), a.high));
    word low = slri_words_bits(w, slri_words_call(w, SLRI_MATH_CLZ, slri_words_as(w, SLRI_I32, a.low), a.low));
    word none = slri_words_mask(w, slri_words_is_zero(w, a.high));
    return SLRI_WORDS_OP(w, ADD, high, SLRI_WORDS_OP(w, AND, low, none));
}

// A magnitude as F32. Its highest 32 bits, of which the last one tells whether there were more below, are rounded once.
// With `to_odd` they are cut to 24 bits, with that sign in the last one: whoever rounds them again rounds once.
static word magnitude_to_f32(struct slri_words *w, pair a, bool to_odd)
{
    word zeros = slri_words_clz(w, a);
    pair moved = slri_words_shift(w, SLRI_OP_SHL, false, a, zeros);
    word more = slri_words_op(w, SLRI_OP_NE, SLRI_U32, moved.low, slri_words_u32(0));
    word top = SLRI_WORDS_OP(w, OR, moved.high, more);
    if (to_odd) {
        word below = SLRI_WORDS_OP(w, AND, top, slri_words_u32(0xff));
        word bit =
            SLRI_WORDS_OP(w, SHL, slri_words_op(w, SLRI_OP_NE, SLRI_U32, below, slri_words_u32(0)), slri_words_u32(8));
        top = SLRI_WORDS_OP(w, OR, SLRI_WORDS_OP(w, AND, top, slri_words_u32(0xffffff00)), bit);
    }
    word power = SLRI_WORDS_OP(w, SHL, SLRI_WORDS_OP(w, SUB, slri_words_u32(127 + 32), zeros), slri_words_u32(23));
    word scale = slri_words_from_bits(w, SLRI_F32, power);
    return slri_words_op(w, SLRI_OP_MUL, SLRI_F32, slri_words_as(w, SLRI_F32, top), scale);
}

static word to_f32(struct slri_words *w, enum slri_kind from, pair a, bool to_odd)
{
    if (from == SLRI_U64)
        return magnitude_to_f32(w, a, to_odd);
    word sign = slri_words_sign(w, a.high);
    word made = magnitude_to_f32(w, slri_words_negate_where(w, a, sign), to_odd);
    word bit = SLRI_WORDS_OP(w, AND, sign, slri_words_u32(0x80000000));
    return slri_words_from_bits(w, SLRI_F32, SLRI_WORDS_OP(w, OR, slri_words_bits(w, made), bit));
}

// Both words are exact in a double, and their sum is rounded once.
static word to_f64(struct slri_words *w, enum slri_kind from, pair a)
{
    word high = slri_words_as(w, SLRI_F64, slri_words_as(w, from == SLRI_I64 ? SLRI_I32 : SLRI_U32, a.high));
    word scaled = slri_words_op(w, SLRI_OP_MUL, SLRI_F64, high, floating(SLRI_F64, 0x1p32));
    return slri_words_op(w, SLRI_OP_ADD, SLRI_F64, scaled, slri_words_as(w, SLRI_F64, a.low));
}

// A double cut to F32, with the sign of more below in its last bit.
static word f64_to_odd(struct slri_words *w, word a)
{
    word near = slri_words_as(w, SLRI_F32, a), back = slri_words_as(w, SLRI_F64, near);
    word further = slri_words_op(w, SLRI_OP_GT, SLRI_F64, slri_words_call(w, SLRI_MATH_FABS, back, back),
                                 slri_words_call(w, SLRI_MATH_FABS, a, a));
    word cut = SLRI_WORDS_OP(w, SUB, slri_words_bits(w, near), further);
    word more = slri_words_op(w, SLRI_OP_NE, SLRI_F64, back, a);
    return slri_words_from_bits(w, SLRI_F32, SLRI_WORDS_OP(w, OR, cut, more));
}

static word to_half(struct slri_words *w, enum slri_kind from, enum slri_kind to, pair a)
{
    word of = a.low;
    if (from == SLRI_F64)
        of = f64_to_odd(w, a.low);
    else if (from == SLRI_I64 || from == SLRI_U64)
        of = to_f32(w, from, w->options.all_widths ? slri_words_split(w, a.low) : a, true);
    else if (from == SLRI_I32)
        of = to_f32(w, SLRI_I64, (pair){slri_words_bits(w, a.low), slri_words_sign(w, a.low)}, true);
    else if (from == SLRI_U32)
        of = to_f32(w, SLRI_U64, (pair){a.low, slri_words_u32(0)}, true);
    return slri_words_half_value(w, to, slri_words_half_bits(w, to, of));
}

// ---- floats to integers --------------------------------------------------------------------------------------------

// A magnitude that truncates: the words are exact in the float that it is, and what is too large fills both.
static pair magnitude_of(struct slri_words *w, enum slri_kind from, word a)
{
    const enum slri_math_id truncate = from == SLRI_F32 ? SLRI_MATH_TRUNCF : SLRI_MATH_TRUNC;
    word scaled = slri_words_op(w, SLRI_OP_MUL, from, a, floating(from, 0x1p-32));
    word top = slri_words_call(w, truncate, scaled, scaled);
    word low = slri_words_op(w, SLRI_OP_SUB, from, a, slri_words_op(w, SLRI_OP_MUL, from, top, floating(from, 0x1p32)));
    word full = slri_words_mask(w, slri_words_op(w, SLRI_OP_GE, from, a, floating(from, 0x1p64)));
    return (pair){SLRI_WORDS_OP(w, OR, slri_words_as(w, SLRI_U32, low), full),
                  SLRI_WORDS_OP(w, OR, slri_words_as(w, SLRI_U32, top), full)};
}

static pair from_float(struct slri_words *w, enum slri_kind from, enum slri_kind to, word a)
{
    word none = floating(from, 0);
    if (to == SLRI_U64) { // NaN and what is below 0 give 0
        word is_above = slri_words_mask(w, slri_words_op(w, SLRI_OP_GT, from, a, none));
        pair of = magnitude_of(w, from, a);
        return (pair){SLRI_WORDS_OP(w, AND, of.low, is_above), SLRI_WORDS_OP(w, AND, of.high, is_above)};
    }
    word magnitude = slri_words_call(w, from == SLRI_F32 ? SLRI_MATH_FABSF : SLRI_MATH_FABS, a, a);
    word is_number = slri_words_mask(w, slri_words_op(w, SLRI_OP_EQ, from, a, a));
    word sign = slri_words_mask(w, slri_words_op(w, SLRI_OP_LT, from, a, none));
    word full = slri_words_mask(w, slri_words_op(w, SLRI_OP_GE, from, magnitude, floating(from, 0x1p63)));
    pair of = slri_words_negate_where(w, magnitude_of(w, from, magnitude), sign);
    pair least = {SLRI_WORDS_OP(w, XOR, slri_words_u32(UINT32_MAX), sign),
                  SLRI_WORDS_OP(w, XOR, slri_words_u32(0x7fffffff), sign)};
    of = slri_words_pick_pair(w, full, least, of);
    return (pair){SLRI_WORDS_OP(w, AND, of.low, is_number), SLRI_WORDS_OP(w, AND, of.high, is_number)};
}

static word float_to_narrow(struct slri_words *w, enum slri_kind from, enum slri_kind to, word a)
{
    if (to == SLRI_BOOL && from == SLRI_F32) // by its bits: a device may take a subnormal for 0
        return SLRI_WORDS_OP(w, NE, SLRI_WORDS_OP(w, AND, slri_words_bits(w, a), slri_words_u32(0x7fffffff)),
                             slri_words_u32(0));
    if (to == SLRI_BOOL)
        return slri_words_op(w, SLRI_OP_NE, from, a, floating(from, 0));
    const uint32_t width = 8 * slri_kind_bytes(to);
    const uint32_t most = slri_kind_is_signed(to) ? (UINT32_C(1) << (width - 1)) - 1 : (UINT32_C(1) << width) - 1;
    word least = slri_words_const(SLRI_I32, slri_kind_is_signed(to) ? ~most : 0);
    word of = slri_words_call(w, SLRI_MATH_MAX_I32, slri_words_as(w, SLRI_I32, a), least);
    return slri_words_call(w, SLRI_MATH_MIN_I32, of, slri_words_const(SLRI_I32, most));
}

// ---- all -----------------------------------------------------------------------------------------------------------

static pair widen(struct slri_words *w, enum slri_kind from, pair a, bool high)
{
    if (slri_words_is_wide(w, from))
        return a;
    pair out = slri_words_one(slri_words_as(w, SLRI_U32, a.low));
    if (high)
        out.high = from == SLRI_I32 ? slri_words_sign(w, a.low) : slri_words_u32(0);
    return out;
}

pair slri_words_convert(struct slri_words *w, enum slri_kind from, enum slri_kind to, pair a, bool high)
{
    const bool is_float = slri_kind_is_float(from);
    if (slri_words_is_wide(w, to))
        return is_float ? from_float(w, from, to, a.low) : widen(w, from, a, high);
    if (slri_kind_is_half(to))
        return slri_words_one(to_half(w, from, to, a));
    if (to == SLRI_F32 && slri_words_is_wide(w, from))
        return slri_words_one(to_f32(w, from, a, false));
    if (to == SLRI_F64 && slri_words_is_wide(w, from))
        return slri_words_one(to_f64(w, from, a));
    if (to >= SLRI_I32)
        return slri_words_one(slri_words_as(w, to, a.low));
    if (is_float)
        return slri_words_one(float_to_narrow(w, from, to, a.low));
    if (to == SLRI_BOOL && w->options.all_widths)
        return slri_words_one(slri_words_op(w, SLRI_OP_NE, from, a.low, slri_words_const(from, 0)));
    word of = slri_words_is_wide(w, from) && to == SLRI_BOOL ? SLRI_WORDS_OP(w, OR, a.low, a.high)
                                                             : slri_words_as(w, SLRI_U32, a.low);
    return slri_words_one(slri_words_narrow(w, to, of));
}
