// SPDX-License-Identifier: Apache-2.0
// What a register gets from others. Where SPIR-V leaves a result open, it is made the IR's.
#include "emit/spirv/internal.h"
#include "ir/ir.h"

#include "abi/handler.h"

static bool is_signed_kind(enum slri_kind kind)
{
    return kind == SLRI_I32 || kind == SLRI_I64;
}

// A division by 0 gives 0, one by -1 the negative: INT_MIN stays what it is.
static void put_division(struct slri_s *s, const struct slri_instr *in)
{
    uint32_t type = slri_s_type(s, in->kind), bytes = slri_kind_bytes(in->kind), boolean = slri_s_bool(s);
    uint32_t a = slri_s_get(s, in->a), b = slri_s_get(s, in->b);
    uint32_t zero = slri_s_bits(s, bytes, 0), one = slri_s_bits(s, bytes, 1);
    uint64_t divisor;
    bool is_known = slri_assigned_is_literal(&s->value[in->b], &divisor) && divisor >= 1 && divisor <= INT32_MAX;
    bool is_rest = in->op == SLRI_OP_REM, is_signed = is_signed_kind(in->kind);
    uint32_t by = b, none = 0, negates = 0;
    if (!is_known) {
        none = SLRI_MAKE(s, IEqual, boolean, b, zero);
        if (in->imm != SLRI_DIVISOR_IS_NOT_ZERO && s->fault_function && in->where.line) {
            uint32_t merge = slri_s_if(s, none);
            slri_s_fault(s, in, SLRI_FAULT_DIVIDE);
            slri_s_end_if(s, merge);
        }
        by = SLRI_MAKE(s, Select, type, none, one, b);
    }
    if (is_signed && !is_known) {
        negates = SLRI_MAKE(s, IEqual, boolean, b, slri_s_bits(s, bytes, UINT64_MAX));
        by = SLRI_MAKE(s, Select, type, negates, one, by);
    }
    uint32_t result = is_signed ? SLRI_MAKE(s, SDiv, type, a, by) : SLRI_MAKE(s, UDiv, type, a, by);
    if (is_rest) {
        result = SLRI_MAKE(s, ISub, type, a, SLRI_MAKE(s, IMul, type, result, by)); // by 1: 0
    } else if (negates) {
        result = SLRI_MAKE(s, Select, type, negates, SLRI_MAKE(s, SNegate, type, a), result);
    }
    if (none)
        result = SLRI_MAKE(s, Select, type, none, zero, result);
    slri_s_set(s, in->dst, result);
}

static void put_shift(struct slri_s *s, const struct slri_instr *in)
{
    uint32_t type = slri_s_type(s, in->kind), bytes = slri_kind_bytes(in->kind);
    uint32_t a = slri_s_get(s, in->a), b = slri_s_get(s, in->b);
    uint32_t of = slri_kind_bytes(s->function->reg_kind[in->b]);
    uint32_t by = SLRI_MAKE(s, BitwiseAnd, slri_s_uint(s, of), b, slri_s_bits(s, of, 8 * bytes - 1));
    uint32_t result = in->op == SLRI_OP_SHL      ? SLRI_MAKE(s, ShiftLeftLogical, type, a, by)
                      : is_signed_kind(in->kind) ? SLRI_MAKE(s, ShiftRightArithmetic, type, a, by)
                                                 : SLRI_MAKE(s, ShiftRightLogical, type, a, by);
    slri_s_set(s, in->dst, result);
}

// A 64-bit integer with its sign bit turned over: such numbers are in the order of the signed ones.
static uint32_t turned(struct slri_s *s, slri_reg reg)
{
    const uint64_t sign = UINT64_C(1) << 63;
    uint64_t bits;
    if (slri_assigned_is_literal(&s->value[reg], &bits))
        return slri_s_u64(s, bits ^ sign);
    return SLRI_MAKE(s, BitwiseXor, slri_s_uint(s, 8), slri_s_get(s, reg), slri_s_u64(s, sign));
}

static bool is_literal_zero(const struct slri_s *s, slri_reg reg, uint64_t sign)
{
    uint64_t bits;
    return slri_assigned_is_literal(&s->value[reg], &bits) && (bits & ~sign) == 0;
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
    if (is_literal_zero(s, reg, UINT64_C(0x80000000)))
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

void slri_s_compare(struct slri_s *s, const struct slri_instr *in)
{
    // By operation, then for unsigned, signed, float.
    static const enum slri_w_op table[][3] = {
        {SLRI_W_IEqual, SLRI_W_IEqual, SLRI_W_FOrdEqual},
        {SLRI_W_INotEqual, SLRI_W_INotEqual, SLRI_W_FUnordNotEqual},
        {SLRI_W_ULessThan, SLRI_W_SLessThan, SLRI_W_FOrdLessThan},
        {SLRI_W_ULessThanEqual, SLRI_W_SLessThanEqual, SLRI_W_FOrdLessThanEqual},
        {SLRI_W_UGreaterThan, SLRI_W_SGreaterThan, SLRI_W_FOrdGreaterThan},
        {SLRI_W_UGreaterThanEqual, SLRI_W_SGreaterThanEqual, SLRI_W_FOrdGreaterThanEqual}};
    enum slri_kind kind = s->function->reg_kind[in->a];
    // Mesa 22.3 takes the order of a widened int and a constant for that of unsigned numbers. So it sees no such order.
    bool turns = kind == SLRI_I64 && in->op >= SLRI_OP_LT;
    int column = slri_kind_is_float(kind) ? 2 : is_signed_kind(kind) && !turns ? 1 : 0;
    const uint32_t operand[2] = {turns ? turned(s, in->a) : slri_s_get(s, in->a),
                                 turns ? turned(s, in->b) : slri_s_get(s, in->b)};
    const enum slri_w_op *row = table[in->op - SLRI_OP_EQ];
    uint32_t compared = slri_s_make(s, row[column], slri_s_bool(s), operand, 2);
    if (column == 2)
        compared = with_subnormals(s, in, compared, operand, row[1]);
    slri_s_set_flag(s, in->dst, compared);
}

// Mesa 22.3 takes a written 0, divided by anything, for +0. So the bits are computed: a 0 with the sign of both, or of
// a division by 0 or NaN a NaN.
static uint32_t divided_zero(struct slri_s *s, const struct slri_instr *in, uint32_t a, uint32_t b)
{
    uint32_t type = slri_s_type(s, in->kind), bytes = slri_kind_bytes(in->kind), bits = slri_s_uint(s, bytes);
    const uint64_t sign = UINT64_C(1) << (8 * bytes - 1), infinity = bytes == 8 ? UINT64_C(0x7ff) << 52 : 0x7f800000;
    a = SLRI_MAKE(s, Bitcast, bits, a);
    b = SLRI_MAKE(s, Bitcast, bits, b);
    uint32_t size = SLRI_MAKE(s, BitwiseAnd, bits, b, slri_s_bits(s, bytes, ~sign));
    uint32_t before = SLRI_MAKE(s, ISub, bits, size, slri_s_bits(s, bytes, 1)); // of 0 the largest there is
    uint32_t is_number = SLRI_MAKE(s, ULessThan, slri_s_bool(s), before, slri_s_bits(s, bytes, infinity));
    uint32_t zero = SLRI_MAKE(s, BitwiseAnd, bits, SLRI_MAKE(s, BitwiseXor, bits, a, b), slri_s_bits(s, bytes, sign));
    uint32_t nan = slri_s_bits(s, bytes, infinity | infinity >> 1);
    return SLRI_MAKE(s, Bitcast, type, SLRI_MAKE(s, Select, bits, is_number, zero, nan));
}

// Mesa 22.3 takes a division by what it has folded to 0 for anything. So one by 0 is a product with an infinity of the
// divisor's sign, which has the same bits. The library divides by no such value.
static uint32_t divided(struct slri_s *s, const struct slri_instr *in, uint32_t a, uint32_t b)
{
    uint32_t type = slri_s_type(s, in->kind), bytes = slri_kind_bytes(in->kind), bits = slri_s_uint(s, bytes);
    uint64_t divisor;
    const bool is_literal = slri_assigned_is_literal(&s->value[in->b], &divisor);
    const uint64_t sign = UINT64_C(1) << (8 * bytes - 1), infinity = bytes == 8 ? UINT64_C(0x7ff) << 52 : 0x7f800000;
    if (is_literal_zero(s, in->a, sign))
        return divided_zero(s, in, a, b);
    uint32_t quotient = SLRI_MAKE(s, FDiv, type, a, b);
    if ((is_literal && divisor & ~sign) || !in->where.line)
        return quotient;
    uint32_t is_zero = SLRI_MAKE(s, FOrdEqual, slri_s_bool(s), b, slri_s_const(s, in->kind, 0));
    uint32_t large = SLRI_MAKE(s, BitwiseAnd, bits, SLRI_MAKE(s, Bitcast, bits, b), slri_s_bits(s, bytes, sign));
    large = SLRI_MAKE(s, BitwiseOr, bits, large, slri_s_bits(s, bytes, infinity));
    uint32_t product = SLRI_MAKE(s, FMul, type, a, SLRI_MAKE(s, Bitcast, type, large));
    return SLRI_MAKE(s, Select, type, is_zero, product, quotient);
}

// Mesa 22.3 takes a product with a 0 that it sees for +0, of a negative number and a NaN, too. So where the program
// writes that 0, the product's bits are computed: a 0 with the sign of both, or a NaN.
static uint32_t multiplied(struct slri_s *s, const struct slri_instr *in, uint32_t a, uint32_t b)
{
    uint32_t type = slri_s_type(s, in->kind), bytes = slri_kind_bytes(in->kind), bits = slri_s_uint(s, bytes);
    const uint64_t sign = UINT64_C(1) << (8 * bytes - 1), infinity = bytes == 8 ? UINT64_C(0x7ff) << 52 : 0x7f800000;
    const uint64_t nan = infinity | infinity >> 1;
    if (!is_literal_zero(s, in->a, sign) && !is_literal_zero(s, in->b, sign))
        return SLRI_MAKE(s, FMul, type, a, b);
    a = SLRI_MAKE(s, Bitcast, bits, a);
    b = SLRI_MAKE(s, Bitcast, bits, b);
    uint32_t size = SLRI_MAKE(s, BitwiseAnd, bits, SLRI_MAKE(s, BitwiseOr, bits, a, b), slri_s_bits(s, bytes, ~sign));
    uint32_t is_number = SLRI_MAKE(s, ULessThan, slri_s_bool(s), size, slri_s_bits(s, bytes, infinity));
    uint32_t zero = SLRI_MAKE(s, BitwiseAnd, bits, SLRI_MAKE(s, BitwiseXor, bits, a, b), slri_s_bits(s, bytes, sign));
    uint32_t product = SLRI_MAKE(s, Select, bits, is_number, zero, slri_s_bits(s, bytes, nan));
    return SLRI_MAKE(s, Bitcast, type, product);
}

void slri_s_arithmetic(struct slri_s *s, const struct slri_instr *in)
{
    static const enum slri_w_op table[][2] = {// of integers, of floats
                                              [SLRI_OP_NEG] = {SLRI_W_SNegate, SLRI_W_FNegate},
                                              [SLRI_OP_NOT] = {SLRI_W_Not},
                                              [SLRI_OP_ADD] = {SLRI_W_IAdd, SLRI_W_FAdd},
                                              [SLRI_OP_SUB] = {SLRI_W_ISub, SLRI_W_FSub},
                                              [SLRI_OP_MUL] = {SLRI_W_IMul},
                                              [SLRI_OP_AND] = {SLRI_W_BitwiseAnd},
                                              [SLRI_OP_OR] = {SLRI_W_BitwiseOr},
                                              [SLRI_OP_XOR] = {SLRI_W_BitwiseXor}};
    const uint32_t type = slri_s_type(s, in->kind);
    const bool is_float = slri_kind_is_float(in->kind);
    if (in->op >= SLRI_OP_EQ && in->op <= SLRI_OP_GE) {
        slri_s_compare(s, in);
        return;
    }
    if ((in->op == SLRI_OP_DIV || in->op == SLRI_OP_REM) && !is_float) {
        put_division(s, in);
        return;
    }
    if (in->op == SLRI_OP_SHL || in->op == SLRI_OP_SHR) {
        put_shift(s, in);
        return;
    }
    const uint32_t a = slri_s_get(s, in->a), b = in->b == SLRI_NO_REG ? 0 : slri_s_get(s, in->b);
    const uint32_t operand[2] = {a, b};
    if (in->op == SLRI_OP_DIV)
        slri_s_set(s, in->dst, divided(s, in, a, b));
    else if (in->op == SLRI_OP_MUL && is_float)
        slri_s_set(s, in->dst, multiplied(s, in, a, b));
    else
        slri_s_set(s, in->dst, slri_s_make(s, table[in->op][is_float], type, operand, b ? 2 : 1));
}
