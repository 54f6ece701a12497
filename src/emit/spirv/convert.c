// SPDX-License-Identifier: Apache-2.0
// Conversions. To an integer they truncate and saturate, and NaN gives 0; a half is rounded once, to nearest even.
#include "emit/spirv/internal.h"

#include <string.h>

static uint64_t float_bits(enum slri_kind kind, double value)
{
    float narrow = (float)value;
    uint64_t wide = 0;
    uint32_t word = 0;
    if (kind == SLRI_F64)
        memcpy(&wide, &value, sizeof wide);
    else
        memcpy(&word, &narrow, sizeof word);
    return kind == SLRI_F64 ? wide : word;
}

static uint32_t number(struct slri_s *s, enum slri_kind kind, double value)
{
    return slri_s_const(s, kind, float_bits(kind, value));
}

// ---- to integers ---------------------------------------------------------------------------------------------------

// `to` of any width; gives the register's, of 4 bytes or 8.
uint32_t slri_s_to_integer(struct slri_s *s, enum slri_kind from, enum slri_kind to, uint32_t a)
{
    uint32_t bytes = slri_kind_bytes(to), in_register = bytes == 8 ? 8 : 4, boolean = slri_s_bool(s);
    uint32_t type = slri_s_uint(s, in_register), real = slri_s_type(s, from);
    bool is_signed = slri_kind_is_signed(to);
    double top = is_signed ? 1.0 : 2.0; // the least value above the range
    for (uint32_t i = 1; i < 8 * bytes; i++)
        top *= 2;
    uint64_t most = is_signed    ? (UINT64_C(1) << (8 * bytes - 1)) - 1
                    : bytes == 8 ? UINT64_MAX
                                 : (UINT64_C(1) << 8 * bytes) - 1;
    uint64_t least = is_signed ? ~most : 0;
    uint32_t above = SLRI_MAKE(s, FOrdGreaterThanEqual, boolean, a, number(s, from, top));
    // What is truncated: above the least minus one, which is the least itself where floats are that coarse.
    uint32_t bottom = number(s, from, is_signed ? -top : -1.0);
    uint32_t inside = is_signed ? SLRI_MAKE(s, FOrdGreaterThanEqual, boolean, a, bottom)
                                : SLRI_MAKE(s, FOrdGreaterThan, boolean, a, bottom);
    uint32_t below = SLRI_MAKE(s, FOrdLessThan, boolean, a, number(s, from, is_signed ? -top : 0.0));
    uint32_t fits = SLRI_MAKE(s, LogicalAnd, boolean, inside, SLRI_MAKE(s, LogicalNot, boolean, above));
    if (!is_signed)
        fits = SLRI_MAKE(s, LogicalAnd, boolean, fits, SLRI_MAKE(s, LogicalNot, boolean, below));
    uint32_t safe = SLRI_MAKE(s, Select, real, fits, a, number(s, from, 0));
    uint32_t result = is_signed ? SLRI_MAKE(s, ConvertFToS, type, safe) : SLRI_MAKE(s, ConvertFToU, type, safe);
    result = SLRI_MAKE(s, Select, type, above, slri_s_bits(s, in_register, most), result);
    return SLRI_MAKE(s, Select, type, below, slri_s_bits(s, in_register, least), result);
}

static uint32_t integer_to_integer(struct slri_s *s, enum slri_kind from, enum slri_kind to, uint32_t a)
{
    uint32_t has = slri_kind_bytes(from), wants = slri_kind_bytes(to), u32 = slri_s_uint(s, 4);
    if (wants == 8 && has == 4)
        return from == SLRI_I32 ? SLRI_MAKE(s, SConvert, slri_s_uint(s, 8), a)
                                : SLRI_MAKE(s, UConvert, slri_s_uint(s, 8), a);
    if (wants == 8)
        return a;
    if (has == 8)
        a = SLRI_MAKE(s, UConvert, u32, a);
    if (wants == 4)
        return a;
    uint32_t away = slri_s_u32(s, 32 - 8 * wants);
    a = SLRI_MAKE(s, ShiftLeftLogical, u32, a, away);
    return slri_kind_is_signed(to) ? SLRI_MAKE(s, ShiftRightArithmetic, u32, a, away)
                                   : SLRI_MAKE(s, ShiftRightLogical, u32, a, away);
}

// ---- halves --------------------------------------------------------------------------------------------------------

uint32_t slri_s_half_to_float(struct slri_s *s, enum slri_kind kind, uint32_t bits)
{
    uint32_t u32 = slri_s_uint(s, 4), f32 = slri_s_float(s, 4), boolean = slri_s_bool(s);
    if (kind == SLRI_BF16)
        return SLRI_MAKE(s, Bitcast, f32, SLRI_MAKE(s, ShiftLeftLogical, u32, bits, slri_s_u32(s, 16)));
    uint32_t magnitude = SLRI_MAKE(s, BitwiseAnd, u32, bits, slri_s_u32(s, 0x7fff));
    uint32_t sign = SLRI_MAKE(s, ShiftLeftLogical, u32, SLRI_MAKE(s, BitwiseAnd, u32, bits, slri_s_u32(s, 0x8000)),
                              slri_s_u32(s, 16));
    uint32_t steps = SLRI_MAKE(s, ConvertUToF, f32, magnitude); // below 2^-14 they are of 2^-24
    uint32_t small = SLRI_MAKE(s, Bitcast, u32, SLRI_MAKE(s, FMul, f32, steps, number(s, SLRI_F32, 0x1p-24)));
    uint32_t moved = SLRI_MAKE(s, ShiftLeftLogical, u32, magnitude, slri_s_u32(s, 13));
    uint32_t normal = SLRI_MAKE(s, IAdd, u32, moved, slri_s_u32(s, 0x38000000));
    uint32_t infinite = SLRI_MAKE(s, BitwiseOr, u32, moved, slri_s_u32(s, 0x7f800000));
    uint32_t is_nan = SLRI_MAKE(s, UGreaterThan, boolean, magnitude, slri_s_u32(s, 0x7c00));
    uint32_t large = SLRI_MAKE(s, Select, u32, is_nan, slri_s_u32(s, 0x7fc00000), infinite);
    uint32_t is_large = SLRI_MAKE(s, UGreaterThanEqual, boolean, magnitude, slri_s_u32(s, 0x7c00));
    uint32_t is_small = SLRI_MAKE(s, ULessThan, boolean, magnitude, slri_s_u32(s, 0x400));
    uint32_t value = SLRI_MAKE(s, Select, u32, is_large, large, normal);
    value = SLRI_MAKE(s, Select, u32, is_small, small, value);
    return SLRI_MAKE(s, Bitcast, f32, SLRI_MAKE(s, BitwiseOr, u32, value, sign));
}

// Adds just under half of what is cut off, and one where the last place that stays is odd.
static uint32_t rounded_away(struct slri_s *s, uint32_t bits, uint32_t places)
{
    uint32_t u32 = slri_s_uint(s, 4), by = slri_s_u32(s, places);
    uint32_t odd = SLRI_MAKE(s, BitwiseAnd, u32, SLRI_MAKE(s, ShiftRightLogical, u32, bits, by), slri_s_u32(s, 1));
    uint32_t half = slri_s_u32(s, (1u << (places - 1)) - 1);
    uint32_t sum = SLRI_MAKE(s, IAdd, u32, SLRI_MAKE(s, IAdd, u32, bits, half), odd);
    return SLRI_MAKE(s, ShiftRightLogical, u32, sum, by);
}

uint32_t slri_s_float_to_half(struct slri_s *s, enum slri_kind kind, uint32_t value)
{
    uint32_t u32 = slri_s_uint(s, 4), f32 = slri_s_float(s, 4), boolean = slri_s_bool(s);
    uint32_t all = SLRI_MAKE(s, Bitcast, u32, value);
    uint32_t bits = SLRI_MAKE(s, BitwiseAnd, u32, all, slri_s_u32(s, 0x7fffffff));
    uint32_t is_nan = SLRI_MAKE(s, UGreaterThan, boolean, bits, slri_s_u32(s, 0x7f800000));
    if (kind == SLRI_BF16)
        return SLRI_MAKE(s, Select, u32, is_nan, slri_s_u32(s, 0x7fc0), rounded_away(s, all, 16));
    uint32_t sign = SLRI_MAKE(s, BitwiseAnd, u32, SLRI_MAKE(s, ShiftRightLogical, u32, all, slri_s_u32(s, 16)),
                              slri_s_u32(s, 0x8000));
    // A sum with 0.5 has steps of 2^-24 in its last place.
    uint32_t sum = SLRI_MAKE(s, FAdd, f32, SLRI_MAKE(s, Bitcast, f32, bits), number(s, SLRI_F32, 0.5));
    uint32_t small = SLRI_MAKE(s, ISub, u32, SLRI_MAKE(s, Bitcast, u32, sum), slri_s_u32(s, 0x3f000000));
    uint32_t normal = rounded_away(s, SLRI_MAKE(s, ISub, u32, bits, slri_s_u32(s, 0x38000000)), 13);
    uint32_t is_small = SLRI_MAKE(s, ULessThan, boolean, bits, slri_s_u32(s, 0x38800000));
    uint32_t is_large = SLRI_MAKE(s, UGreaterThanEqual, boolean, bits, slri_s_u32(s, 0x477ff000)); // 65520
    uint32_t made = SLRI_MAKE(s, Select, u32, is_small, small, normal);
    made = SLRI_MAKE(s, Select, u32, is_large, slri_s_u32(s, 0x7c00), made);
    made = SLRI_MAKE(s, BitwiseOr, u32, made, sign);
    return SLRI_MAKE(s, Select, u32, is_nan, slri_s_u32(s, 0x7e00), made); // a NaN has no sign
}

// A wider number as a float that is cut off, and odd in its last place where it was inexact: a second rounding sees
// that there was more. `back` is the float as such a number again, `grew` whether it has become larger.
static uint32_t made_odd(struct slri_s *s, uint32_t rounded, uint32_t inexact, uint32_t grew)
{
    uint32_t u32 = slri_s_uint(s, 4), one = slri_s_u32(s, 1), zero = slri_s_u32(s, 0);
    uint32_t bits = SLRI_MAKE(s, Bitcast, u32, rounded);
    bits = SLRI_MAKE(s, ISub, u32, bits, SLRI_MAKE(s, Select, u32, grew, one, zero));
    bits = SLRI_MAKE(s, BitwiseOr, u32, bits, SLRI_MAKE(s, Select, u32, inexact, one, zero));
    return SLRI_MAKE(s, Bitcast, slri_s_float(s, 4), bits);
}

static uint32_t odd_of_integer(struct slri_s *s, enum slri_kind from, uint32_t a)
{
    uint32_t f32 = slri_s_float(s, 4), boolean = slri_s_bool(s), bytes = slri_kind_bytes(from);
    uint32_t type = slri_s_uint(s, bytes), negative = 0;
    if (slri_kind_is_signed(from)) {
        negative = SLRI_MAKE(s, SLessThan, boolean, a, slri_s_bits(s, bytes, 0));
        a = SLRI_MAKE(s, Select, type, negative, SLRI_MAKE(s, SNegate, type, a), a);
    }
    uint32_t rounded = SLRI_MAKE(s, ConvertUToF, f32, a);
    uint32_t beyond =
        SLRI_MAKE(s, FOrdGreaterThanEqual, boolean, rounded, number(s, SLRI_F32, bytes == 8 ? 0x1p64 : 0x1p32));
    uint32_t back = SLRI_MAKE(s, ConvertFToU, type, SLRI_MAKE(s, Select, f32, beyond, number(s, SLRI_F32, 0), rounded));
    uint32_t inexact = SLRI_MAKE(s, INotEqual, boolean, back, a);
    uint32_t grew = SLRI_MAKE(s, LogicalOr, boolean, beyond, SLRI_MAKE(s, UGreaterThan, boolean, back, a));
    uint32_t made = made_odd(s, rounded, inexact, grew);
    return negative ? SLRI_MAKE(s, Select, f32, negative, SLRI_MAKE(s, FNegate, f32, made), made) : made;
}

static uint32_t odd_of_double(struct slri_s *s, uint32_t a)
{
    uint32_t f32 = slri_s_float(s, 4), f64 = slri_s_float(s, 8), boolean = slri_s_bool(s);
    uint32_t rounded = SLRI_MAKE(s, FConvert, f32, a), back = SLRI_MAKE(s, FConvert, f64, rounded);
    uint32_t finite = SLRI_MAKE(s, FOrdLessThanEqual, boolean, SLRI_GLSL(s, FAbs, f64, a),
                                number(s, SLRI_F64, 3.4028234663852886e38));
    uint32_t inexact = SLRI_MAKE(s, LogicalAnd, boolean, finite, SLRI_MAKE(s, FUnordNotEqual, boolean, back, a));
    uint32_t grew = SLRI_MAKE(s, FOrdGreaterThan, boolean, SLRI_GLSL(s, FAbs, f64, back), SLRI_GLSL(s, FAbs, f64, a));
    return made_odd(s, rounded, inexact, SLRI_MAKE(s, LogicalAnd, boolean, inexact, grew));
}

static uint32_t to_half(struct slri_s *s, enum slri_kind from, enum slri_kind to, uint32_t a)
{
    if (from == SLRI_F64)
        a = odd_of_double(s, a);
    else if (from != SLRI_F32)
        a = odd_of_integer(s, from, a);
    return slri_s_half_to_float(s, to, slri_s_float_to_half(s, to, a));
}

// ---- all of them ---------------------------------------------------------------------------------------------------

// SwiftShader rounds a number above 2^31 twice. Both halves are exact, and their sum is rounded once.
static uint32_t word_to_float(struct slri_s *s, uint32_t a)
{
    uint32_t u32 = slri_s_uint(s, 4), real = slri_s_float(s, 4);
    uint32_t high = SLRI_MAKE(s, ShiftRightLogical, u32, a, slri_s_u32(s, 16));
    uint32_t low = SLRI_MAKE(s, BitwiseAnd, u32, a, slri_s_u32(s, 0xffff));
    high = SLRI_MAKE(s, FMul, real, SLRI_MAKE(s, ConvertUToF, real, high), number(s, SLRI_F32, 65536));
    return SLRI_MAKE(s, FAdd, real, high, SLRI_MAKE(s, ConvertUToF, real, low));
}

// A comparison may take a subnormal for 0.
static uint32_t float_is_not_zero(struct slri_s *s, uint32_t a)
{
    uint32_t u32 = slri_s_uint(s, 4), bits = SLRI_MAKE(s, Bitcast, u32, a);
    bits = SLRI_MAKE(s, BitwiseAnd, u32, bits, slri_s_u32(s, 0x7fffffff));
    return SLRI_MAKE(s, INotEqual, slri_s_bool(s), bits, slri_s_u32(s, 0));
}

void slri_s_convert(struct slri_s *s, const struct slri_instr *in)
{
    enum slri_kind from = s->function->reg_kind[in->a];
    uint32_t a = slri_s_get(s, in->a), boolean = slri_s_bool(s), type = slri_s_type(s, in->kind);
    bool is_float = slri_kind_is_float(from);
    if (s->words && in->kind == SLRI_I64) { // an offset
        slri_s_set(s, in->dst, a);
        return;
    }
    if (in->kind == SLRI_BOOL) {
        uint32_t zero = slri_s_const(s, from, 0);
        slri_s_set_flag(s, in->dst,
                        from == SLRI_F32 ? float_is_not_zero(s, a)
                        : is_float       ? SLRI_MAKE(s, FUnordNotEqual, boolean, a, zero)
                                         : SLRI_MAKE(s, INotEqual, boolean, a, zero));
        return;
    }
    uint32_t result;
    if (slri_kind_is_half(in->kind))
        result = to_half(s, from, in->kind, a);
    else if (!slri_kind_is_float(in->kind))
        result = is_float ? slri_s_to_integer(s, from, in->kind, a) : integer_to_integer(s, from, in->kind, a);
    else if (is_float)
        result = from == in->kind ? a : SLRI_MAKE(s, FConvert, type, a);
    else if (s->words && from == SLRI_U32)
        result = word_to_float(s, a);
    else if (slri_kind_is_signed(from))
        result = SLRI_MAKE(s, ConvertSToF, type, a);
    else
        result = SLRI_MAKE(s, ConvertUToF, type, a);
    slri_s_set(s, in->dst, result);
}
