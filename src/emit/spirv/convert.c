// SPDX-License-Identifier: Apache-2.0
// Conversions between kinds of registers. To an integer they truncate and saturate, and NaN gives 0.
#include "emit/spirv/internal.h"
#include "ir/math/scalar.h"

static uint32_t number(struct slri_s *s, enum slri_kind kind, double value)
{
    const union slri_scalar narrow = {.f32 = (float)value}, wide = {.f64 = value};
    return slri_s_const(s, kind, kind == SLRI_F64 ? wide.u64 : narrow.u32);
}

static uint32_t to_integer(struct slri_s *s, enum slri_kind from, enum slri_kind to, uint32_t a)
{
    const bool is_signed = slri_kind_is_signed(to);
    const uint32_t bytes = slri_kind_bytes(to), boolean = slri_s_bool(s), type = slri_s_uint(s, bytes);
    const uint64_t sign = UINT64_C(1) << (8 * bytes - 1), most = is_signed ? sign - 1 : sign - 1 + sign;
    const double top = (is_signed ? 1 : 2) * (double)sign; // the least value above the range
    uint32_t above = SLRI_MAKE(s, FOrdGreaterThanEqual, boolean, a, number(s, from, top));
    uint32_t bottom = number(s, from, is_signed ? -top : 0);
    uint32_t below = SLRI_MAKE(s, FOrdLessThan, boolean, a, bottom);
    // Neither holds of a NaN, but this does not, either.
    uint32_t fits = SLRI_MAKE(s, FOrdGreaterThanEqual, boolean, a, bottom);
    fits = SLRI_MAKE(s, LogicalAnd, boolean, fits, SLRI_MAKE(s, LogicalNot, boolean, above));
    uint32_t safe = SLRI_MAKE(s, Select, slri_s_type(s, from), fits, a, number(s, from, 0));
    uint32_t result = is_signed ? SLRI_MAKE(s, ConvertFToS, type, safe) : SLRI_MAKE(s, ConvertFToU, type, safe);
    result = SLRI_MAKE(s, Select, type, above, slri_s_bits(s, bytes, most), result);
    return is_signed ? SLRI_MAKE(s, Select, type, below, slri_s_bits(s, bytes, sign), result) : result;
}

// SwiftShader rounds a number above 2^31 twice. Both halves are exact, and their sum is rounded once.
static uint32_t word_to_float(struct slri_s *s, uint32_t a)
{
    uint32_t u32 = slri_s_uint(s, 4), real = slri_s_float(s, 4);
    uint32_t high = SLRI_MAKE(s, ShiftRightLogical, u32, a, slri_s_u32(s, 16));
    uint32_t low = SLRI_MAKE(s, BitwiseAnd, u32, a, slri_s_u32(s, 0xffff));
    high = SLRI_MAKE(s, FMul, real, SLRI_MAKE(s, ConvertUToF, real, high), number(s, SLRI_F32, 65536));
    return SLRI_MAKE(s, FAdd, real, high, SLRI_MAKE(s, ConvertUToF, real, low));
}

static uint32_t to_float(struct slri_s *s, enum slri_kind from, uint32_t type, uint32_t a)
{
    if (slri_kind_is_float(from))
        return SLRI_MAKE(s, FConvert, type, a);
    if (s->words && from == SLRI_U32)
        return word_to_float(s, a);
    return slri_kind_is_signed(from) ? SLRI_MAKE(s, ConvertSToF, type, a) : SLRI_MAKE(s, ConvertUToF, type, a);
}

void slri_s_convert(struct slri_s *s, const struct slri_instr *in)
{
    const enum slri_kind from = s->function->reg_kind[in->a];
    const bool is_same =
        slri_kind_bytes(from) == slri_kind_bytes(in->kind) || s->words; // of integers; an offset is one
    uint32_t a = slri_s_get(s, in->a), type = slri_s_type(s, in->kind);
    if (slri_kind_is_float(in->kind))
        a = to_float(s, from, type, a);
    else if (slri_kind_is_float(from))
        a = to_integer(s, from, in->kind, a);
    else if (!is_same)
        a = from == SLRI_I32 ? SLRI_MAKE(s, SConvert, type, a) : SLRI_MAKE(s, UConvert, type, a);
    slri_s_set(s, in->dst, a);
}
