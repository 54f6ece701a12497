// SPDX-License-Identifier: Apache-2.0
// What devices leave open, or do otherwise: divisions of integers, and what floats make of a 0.
#include "ir/pass/words_internal.h"

#include "abi/handler.h"

typedef struct slri_word word;

// ---- division of integers ------------------------------------------------------------------------------------------

word slri_words_fault_at_zero(struct slri_words *w, word by)
{
    word none = slri_words_op(w, SLRI_OP_EQ, by.kind, by, slri_words_const(by.kind, 0));
    if ((none.is_const && !none.value) || !w->l.where.line) // a library divides by no 0
        return none;
    struct slri_block *behind = slri_lower_if(&w->l, slri_words_reg_of(w, none), NULL);
    slri_words_trap(w, SLRI_FAULT_DIVIDE);
    w->l.block = behind;
    return none;
}

word slri_words_quotient(struct slri_words *w, enum slri_kind kind, word a, word b)
{
    word out = slri_words_op(w, SLRI_OP_DIV, kind, a, b);
    struct slri_block *block = w->l.block;
    if (!out.is_const && block->count && block->instr[block->count - 1].op == SLRI_OP_DIV)
        block->instr[block->count - 1].imm = SLRI_DIVISOR_IS_NOT_ZERO;
    return out;
}

// All ones where it is negative, else 0.
static word sign_of(struct slri_words *w, enum slri_kind kind, word a)
{
    return slri_words_op(w, SLRI_OP_SHR, kind, a, slri_words_const(kind, 8 * slri_kind_bytes(kind) - 1));
}

static word negate_where(struct slri_words *w, enum slri_kind kind, word a, word sign)
{
    return slri_words_op(w, SLRI_OP_SUB, kind, slri_words_op(w, SLRI_OP_XOR, kind, a, sign), sign);
}

// Of magnitudes, so that INT_MIN / -1 is no case of its own.
static word divide_signed(struct slri_words *w, enum slri_kind kind, bool is_rest, word a, word b)
{
    const enum slri_kind natural = kind == SLRI_I32 ? SLRI_U32 : SLRI_U64;
    word sign = sign_of(w, kind, a), of_b = sign_of(w, kind, b);
    word number = negate_where(w, kind, a, sign), by = negate_where(w, kind, b, of_b);
    word quotient = slri_words_as(w, kind, slri_words_quotient(w, natural, number, by));
    if (!is_rest)
        return negate_where(w, kind, quotient, slri_words_op(w, SLRI_OP_XOR, kind, sign, of_b));
    word rest = slri_words_op(w, SLRI_OP_SUB, kind, number, slri_words_op(w, SLRI_OP_MUL, kind, quotient, by));
    return negate_where(w, kind, rest, sign);
}

word slri_words_divide(struct slri_words *w, const struct slri_instr *in, word a, word b)
{
    const enum slri_kind kind = in->kind;
    const bool is_signed = slri_kind_is_signed(kind), is_rest = in->op == SLRI_OP_REM;
    const bool is_literal = b.is_const && b.value >= 1 && b.value <= INT32_MAX;
    const bool is_checked = !is_literal && in->imm != SLRI_DIVISOR_IS_NOT_ZERO;
    word none = slri_words_const(SLRI_I32, 0);
    if (is_checked) {
        none = slri_words_fault_at_zero(w, b);
        b = slri_words_op(w, SLRI_OP_OR, kind, b, none); // by 1: the rest is 0
    }
    if (is_signed && !is_literal)
        a = divide_signed(w, kind, is_rest, a, b);
    else if (is_rest)
        a = slri_words_op(w, SLRI_OP_SUB, kind, a,
                          slri_words_op(w, SLRI_OP_MUL, kind, slri_words_quotient(w, kind, a, b), b));
    else
        a = slri_words_quotient(w, kind, a, b);
    if (!is_checked || is_rest)
        return a;
    word kept = slri_words_op(w, SLRI_OP_SUB, SLRI_I32, none, slri_words_const(SLRI_I32, 1));
    return slri_words_op(w, SLRI_OP_AND, kind, a, kept);
}

// ---- floats and 0 --------------------------------------------------------------------------------------------------

static uint64_t sign_bit(enum slri_kind kind)
{
    return kind == SLRI_F64 ? UINT64_C(1) << 63 : UINT64_C(1) << 31;
}

bool slri_words_is_float_zero(word a)
{
    return a.is_const && (a.value & ~sign_bit(a.kind)) == 0;
}

// Mesa 22.3 takes a product with a 0 that it sees for +0, and a quotient of it. So the bits are computed: a 0 with the
// sign of both; with an infinity or NaN, or divided by 0 or NaN, a NaN.
word slri_words_of_zero(struct slri_words *w, enum slri_op op, word a, word b)
{
    const enum slri_kind real = a.kind, kind = real == SLRI_F64 ? SLRI_U64 : SLRI_U32;
    const uint64_t sign = sign_bit(real), infinity = real == SLRI_F64 ? UINT64_C(0x7ff) << 52 : 0x7f800000;
    a = slri_words_bits(w, a);
    b = slri_words_bits(w, b);
    word size = slri_words_op(w, SLRI_OP_AND, kind, op == SLRI_OP_MUL ? slri_words_op(w, SLRI_OP_OR, kind, a, b) : b,
                              slri_words_const(kind, sign - 1));
    if (op == SLRI_OP_DIV) // of 0 the largest there is
        size = slri_words_op(w, SLRI_OP_SUB, kind, size, slri_words_const(kind, 1));
    word is_none = slri_words_op(w, SLRI_OP_GE, kind, size, slri_words_const(kind, infinity));
    word mask = slri_words_op(w, SLRI_OP_SUB, kind, slri_words_const(kind, 0), is_none);
    word nan = slri_words_op(w, SLRI_OP_AND, kind, mask, slri_words_const(kind, infinity | infinity >> 1));
    word signs = slri_words_op(w, SLRI_OP_XOR, kind, a, b);
    word zero = slri_words_op(w, SLRI_OP_AND, kind, signs, slri_words_const(kind, sign));
    return slri_words_from_bits(w, real, slri_words_op(w, SLRI_OP_OR, kind, zero, nan));
}
