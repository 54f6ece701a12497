// SPDX-License-Identifier: Apache-2.0
// What a register gets from others. What SPIR-V leaves open of integers has been made other instructions
// (ir/pass/words.h); of floats it is made the IR's here.
#include "emit/spirv/internal.h"
#include "ir/ir.h"

static bool is_literal_zero(const struct slri_s *s, slri_reg reg)
{
    uint64_t bits;
    return slri_assigned_is_literal(&s->value[reg], &bits) && (bits & 0x7fffffff) == 0;
}

static bool is_large_literal(const struct slri_s *s, slri_reg reg) // and no subnormal nor 0
{
    uint64_t bits;
    return slri_assigned_is_literal(&s->value[reg], &bits) && bits & 0x7f800000;
}

// A float's bits as a signed number in the order of the floats; both zeros are 0.
static uint32_t in_order(struct slri_s *s, slri_reg reg, uint32_t bits)
{
    uint32_t u32 = slri_s_uint(s, 4);
    if (is_literal_zero(s, reg))
        return slri_s_u32(s, 0);
    uint32_t sign = SLRI_MAKE(s, ShiftRightArithmetic, u32, bits, slri_s_u32(s, 31));
    uint32_t magnitude = SLRI_MAKE(s, BitwiseAnd, u32, bits, slri_s_u32(s, 0x7fffffff));
    return SLRI_MAKE(s, ISub, u32, SLRI_MAKE(s, BitwiseXor, u32, magnitude, sign), sign);
}

// Vulkan lets a comparison take subnormals for 0, where DenormPreserve is asked for, too: that holds for + - * and
// conversions. So two operands that are subnormal or 0 are compared by their bits; with a larger one it is the same.
static uint32_t with_subnormals(struct slri_s *s, const struct slri_instr *in, uint32_t compared,
                                const uint32_t operand[2], enum slri_w_op op)
{
    uint32_t u32 = slri_s_uint(s, 4), boolean = slri_s_bool(s);
    if (s->function->reg_kind[in->a] != SLRI_F32 || is_large_literal(s, in->a) || is_large_literal(s, in->b))
        return compared;
    const uint32_t a = SLRI_MAKE(s, Bitcast, u32, operand[0]), b = SLRI_MAKE(s, Bitcast, u32, operand[1]);
    uint32_t exponents = SLRI_MAKE(s, BitwiseAnd, u32, SLRI_MAKE(s, BitwiseOr, u32, a, b), slri_s_u32(s, 0x7f800000));
    const uint32_t small = SLRI_MAKE(s, IEqual, boolean, exponents, slri_s_u32(s, 0));
    const uint32_t key[2] = {in_order(s, in->a, a), in_order(s, in->b, b)};
    return SLRI_MAKE(s, Select, boolean, small, slri_s_make(s, op, boolean, key, 2), compared);
}

// Mesa 22.3 takes a division by what it has folded to 0 for anything. So one of doubles by 0 is a product with an
// infinity of the divisor's sign, which has the same bits. Floats are divided by a function of the library.
static uint32_t divided(struct slri_s *s, const struct slri_instr *in, const uint32_t operand[2], uint32_t quotient)
{
    const uint64_t sign = UINT64_C(1) << 63, infinity = UINT64_C(0x7ff) << 52;
    uint64_t divisor;
    if (in->kind != SLRI_F64 || !in->where.line ||
        (slri_assigned_is_literal(&s->value[in->b], &divisor) && divisor & ~sign))
        return quotient;
    uint32_t f64 = slri_s_float(s, 8), u64 = slri_s_uint(s, 8), bits = SLRI_MAKE(s, Bitcast, u64, operand[1]);
    uint32_t is_zero = SLRI_MAKE(s, FOrdEqual, slri_s_bool(s), operand[1], slri_s_const(s, SLRI_F64, 0));
    uint32_t large = SLRI_MAKE(s, BitwiseOr, u64, SLRI_MAKE(s, BitwiseAnd, u64, bits, slri_s_bits(s, 8, sign)),
                               slri_s_bits(s, 8, infinity));
    uint32_t product = SLRI_MAKE(s, FMul, f64, operand[0], SLRI_MAKE(s, Bitcast, f64, large));
    return SLRI_MAKE(s, Select, f64, is_zero, product, quotient);
}

void slri_s_arithmetic(struct slri_s *s, const struct slri_instr *in)
{
    // Of unsigned, of signed, of floats.
    static const enum slri_w_op table[][3] = {
        [SLRI_OP_NEG] = {SLRI_W_SNegate, SLRI_W_SNegate, SLRI_W_FNegate},
        [SLRI_OP_NOT] = {SLRI_W_Not, SLRI_W_Not},
        [SLRI_OP_ADD] = {SLRI_W_IAdd, SLRI_W_IAdd, SLRI_W_FAdd},
        [SLRI_OP_SUB] = {SLRI_W_ISub, SLRI_W_ISub, SLRI_W_FSub},
        [SLRI_OP_MUL] = {SLRI_W_IMul, SLRI_W_IMul, SLRI_W_FMul},
        [SLRI_OP_DIV] = {SLRI_W_UDiv, SLRI_W_SDiv, SLRI_W_FDiv},
        [SLRI_OP_SHL] = {SLRI_W_ShiftLeftLogical, SLRI_W_ShiftLeftLogical},
        [SLRI_OP_SHR] = {SLRI_W_ShiftRightLogical, SLRI_W_ShiftRightArithmetic},
        [SLRI_OP_AND] = {SLRI_W_BitwiseAnd, SLRI_W_BitwiseAnd},
        [SLRI_OP_OR] = {SLRI_W_BitwiseOr, SLRI_W_BitwiseOr},
        [SLRI_OP_XOR] = {SLRI_W_BitwiseXor, SLRI_W_BitwiseXor},
        [SLRI_OP_EQ] = {SLRI_W_IEqual, SLRI_W_IEqual, SLRI_W_FOrdEqual},
        [SLRI_OP_NE] = {SLRI_W_INotEqual, SLRI_W_INotEqual, SLRI_W_FUnordNotEqual},
        [SLRI_OP_LT] = {SLRI_W_ULessThan, SLRI_W_SLessThan, SLRI_W_FOrdLessThan},
        [SLRI_OP_LE] = {SLRI_W_ULessThanEqual, SLRI_W_SLessThanEqual, SLRI_W_FOrdLessThanEqual},
        [SLRI_OP_GT] = {SLRI_W_UGreaterThan, SLRI_W_SGreaterThan, SLRI_W_FOrdGreaterThan},
        [SLRI_OP_GE] = {SLRI_W_UGreaterThanEqual, SLRI_W_SGreaterThanEqual, SLRI_W_FOrdGreaterThanEqual}};
    const bool is_float = slri_kind_is_float(in->kind), compares = in->op >= SLRI_OP_EQ && in->op <= SLRI_OP_GE;
    const uint32_t a = slri_s_get(s, in->a), operand[2] = {a, in->b == SLRI_NO_REG ? 0 : slri_s_get(s, in->b)};
    const enum slri_w_op *row = table[in->op], op = row[is_float ? 2 : slri_kind_is_signed(in->kind)];
    const uint32_t type = compares ? slri_s_bool(s) : slri_s_type(s, in->kind);
    uint32_t made = slri_s_make(s, op, type, operand, operand[1] ? 2 : 1);
    if (in->is_low && in->op == SLRI_OP_AND)
        slri_s_note_aligned(s, made, operand);
    else if (s->words && !in->is_low)
        slri_s_keep_whole(s, made);
    if (in->op == SLRI_OP_DIV)
        made = divided(s, in, operand, made);
    if (is_float && compares)
        made = with_subnormals(s, in, made, operand, row[1]);
    if (compares)
        slri_s_set_flag(s, in->dst, made);
    else
        slri_s_set(s, in->dst, made);
}
