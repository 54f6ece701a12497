// SPDX-License-Identifier: Apache-2.0
// Integers of 64 bits as two words.
#include "ir/pass/words_internal.h"

typedef struct slri_words_pair pair;
typedef struct slri_word word;

static const uint32_t half = 32, bits = 64;

static word zero(void)
{
    return slri_words_u32(0);
}

word slri_words_sign(struct slri_words *w, word high)
{
    word sign = slri_words_op(w, SLRI_OP_SHR, SLRI_I32, high, slri_words_const(SLRI_I32, half - 1));
    return slri_words_as(w, SLRI_U32, sign);
}

pair slri_words_add(struct slri_words *w, pair a, pair b, bool high)
{
    pair out = slri_words_one(slri_words_low(w, SLRI_OP_ADD, a.low, b.low));
    if (!high)
        return out;
    word carry = zero();
    if (!(a.low.is_const && a.low.value == 0) && !(b.low.is_const && b.low.value == 0))
        carry = SLRI_WORDS_OP(w, LT, out.low, a.low);
    out.high = SLRI_WORDS_OP(w, ADD, SLRI_WORDS_OP(w, ADD, a.high, b.high), carry);
    return out;
}

pair slri_words_sub(struct slri_words *w, pair a, pair b, bool high)
{
    pair out = slri_words_one(SLRI_WORDS_OP(w, SUB, a.low, b.low));
    if (!high)
        return out;
    word borrow = b.low.is_const && b.low.value == 0 ? zero() : SLRI_WORDS_OP(w, LT, a.low, b.low);
    out.high = SLRI_WORDS_OP(w, SUB, SLRI_WORDS_OP(w, SUB, a.high, b.high), borrow);
    return out;
}

static word high_of_product(struct slri_words *w, word a, word b)
{
    if (a.is_const && b.is_const)
        return slri_words_u32((uint32_t)(a.value * b.value >> half));
    if ((a.is_const && a.value <= 1) || (b.is_const && b.value <= 1))
        return zero();
    return slri_words_call(w, SLRI_MATH_UMULHI, a, b);
}

static pair multiply(struct slri_words *w, pair a, pair b, bool high)
{
    pair out = slri_words_one(slri_words_low(w, SLRI_OP_MUL, a.low, b.low));
    if (!high)
        return out;
    word crossed = SLRI_WORDS_OP(w, ADD, SLRI_WORDS_OP(w, MUL, a.low, b.high), SLRI_WORDS_OP(w, MUL, a.high, b.low));
    out.high = SLRI_WORDS_OP(w, ADD, high_of_product(w, a.low, b.low), crossed);
    return out;
}

pair slri_words_pick_pair(struct slri_words *w, word mask, pair a, pair b)
{
    return (pair){slri_words_pick(w, mask, a.low, b.low), slri_words_pick(w, mask, a.high, b.high)};
}

// A word's own shift takes its count modulo 32. What crosses is shifted by 1 and by 31 - count, since 32 - count may be
// 32. Where the count has bit 5, words change places.
pair slri_words_shift(struct slri_words *w, enum slri_op op, bool is_signed, pair a, word count)
{
    const bool left = op == SLRI_OP_SHL;
    word by = SLRI_WORDS_OP(w, AND, count, slri_words_u32(half - 1));
    word other = SLRI_WORDS_OP(w, XOR, by, slri_words_u32(half - 1));
    word bit = SLRI_WORDS_OP(w, AND, SLRI_WORDS_OP(w, SHR, count, slri_words_u32(5)), slri_words_u32(1));
    word far = SLRI_WORDS_OP(w, SUB, zero(), bit);
    word fill = is_signed && !left ? slri_words_sign(w, a.high) : zero();
    word near = left ? a.low : a.high, beyond = left ? a.high : a.low; // bits go from near to beyond
    word moved = is_signed && !left ? slri_words_as(w, SLRI_U32, slri_words_op(w, SLRI_OP_SHR, SLRI_I32, near, by))
                                    : slri_words_op(w, op, SLRI_U32, near, by);
    word one = slri_words_u32(1);
    word crossing = left ? SLRI_WORDS_OP(w, SHR, SLRI_WORDS_OP(w, SHR, near, one), other)
                         : SLRI_WORDS_OP(w, SHL, SLRI_WORDS_OP(w, SHL, near, one), other);
    word joined = SLRI_WORDS_OP(w, OR, slri_words_op(w, op, SLRI_U32, beyond, by), crossing);
    word first = slri_words_pick(w, far, fill, moved), second = slri_words_pick(w, far, moved, joined);
    return left ? (pair){first, second} : (pair){second, first};
}

static pair shift(struct slri_words *w, const struct slri_instr *in, pair a, word count, bool high)
{
    if (high || in->op == SLRI_OP_SHR)
        return slri_words_shift(w, in->op, in->kind == SLRI_I64, a, count);
    // Only the low word: it is 0 where the count has bit 5.
    word bit = SLRI_WORDS_OP(w, AND, SLRI_WORDS_OP(w, SHR, count, slri_words_u32(5)), slri_words_u32(1));
    word kept = SLRI_WORDS_OP(w, SUB, bit, slri_words_u32(1));
    word by = SLRI_WORDS_OP(w, AND, count, slri_words_u32(half - 1));
    return slri_words_one(SLRI_WORDS_OP(w, AND, SLRI_WORDS_OP(w, SHL, a.low, by), kept));
}

static pair bitwise(struct slri_words *w, enum slri_op op, pair a, pair b, bool high)
{
    pair out = slri_words_one(slri_words_op(w, op, SLRI_U32, a.low, b.low));
    if (high)
        out.high = slri_words_op(w, op, SLRI_U32, a.high, b.high);
    return out;
}

pair slri_words_negate_where(struct slri_words *w, pair a, word mask)
{
    pair ones = {mask, mask};
    return slri_words_sub(w, bitwise(w, SLRI_OP_XOR, a, ones, true), ones, true);
}

// ---- comparisons ---------------------------------------------------------------------------------------------------

static word is_less(struct slri_words *w, enum slri_kind kind, pair a, pair b, bool or_equal)
{
    enum slri_kind of_high = kind == SLRI_I64 ? SLRI_I32 : SLRI_U32;
    word low = slri_words_op(w, or_equal ? SLRI_OP_LE : SLRI_OP_LT, SLRI_U32, a.low, b.low);
    word same = SLRI_WORDS_OP(w, EQ, a.high, b.high);
    word above = slri_words_op(w, SLRI_OP_LT, of_high, a.high, b.high);
    return slri_words_op(w, SLRI_OP_OR, SLRI_I32, above, slri_words_op(w, SLRI_OP_AND, SLRI_I32, same, low));
}

word slri_words_compare(struct slri_words *w, enum slri_op op, enum slri_kind kind, pair a, pair b)
{
    if (op == SLRI_OP_EQ || op == SLRI_OP_NE) {
        word low = SLRI_WORDS_OP(w, XOR, a.low, b.low), high = SLRI_WORDS_OP(w, XOR, a.high, b.high);
        return slri_words_op(w, op, SLRI_U32, SLRI_WORDS_OP(w, OR, low, high), zero());
    }
    bool or_equal = op == SLRI_OP_LE || op == SLRI_OP_GE, turned = op == SLRI_OP_GT || op == SLRI_OP_GE;
    return turned ? is_less(w, kind, b, a, or_equal) : is_less(w, kind, a, b, or_equal);
}

// ---- division ------------------------------------------------------------------------------------------------------

// A turn for each bit: the remainder takes the dividend's highest, whose place the quotient's next takes at the other
// end. What leaves the remainder's top makes it larger than any divisor.
static void divide_bit(struct slri_words *w, pair number, pair rest, pair by)
{
    word one = slri_words_u32(1), top = slri_words_u32(half - 1);
    word lost = SLRI_WORDS_OP(w, SHR, rest.high, top);
    pair next = slri_words_shift(w, SLRI_OP_SHL, false, rest, one);
    next.low = SLRI_WORDS_OP(w, OR, next.low, SLRI_WORDS_OP(w, SHR, number.high, top));
    pair quotient = slri_words_shift(w, SLRI_OP_SHL, false, number, one);
    word fits = SLRI_WORDS_OP(w, OR, lost, slri_words_compare(w, SLRI_OP_GE, SLRI_U64, next, by));
    word mask = slri_words_mask(w, fits);
    pair taken = {SLRI_WORDS_OP(w, AND, by.low, mask), SLRI_WORDS_OP(w, AND, by.high, mask)};
    pair left = slri_words_sub(w, next, taken, true);
    word set = SLRI_WORDS_OP(w, OR, quotient.low, fits);
    slri_words_set(w, number.low, set);
    slri_words_set(w, number.high, quotient.high);
    slri_words_set(w, rest.low, left.low);
    slri_words_set(w, rest.high, left.high);
}

static pair new_pair(struct slri_words *w, pair value)
{
    pair made = {slri_words_new(w, SLRI_U32), slri_words_new(w, SLRI_U32)};
    slri_words_set(w, made.low, value.low);
    slri_words_set(w, made.high, value.high);
    return made;
}

static void divide_long(struct slri_words *w, pair number, pair rest, pair by)
{
    word turn = slri_words_new(w, SLRI_U32);
    struct slri_block *behind = slri_words_for(w, turn, 0, bits, 1);
    divide_bit(w, number, rest, by);
    w->l.block = behind;
}

// Words where both are; else bit by bit.
static void divide_pairs(struct slri_words *w, pair number, pair rest, pair by)
{
    struct slri_block *other = NULL, *behind;
    word is_short = slri_words_is_zero(w, SLRI_WORDS_OP(w, OR, number.high, by.high));
    behind = slri_lower_if(&w->l, slri_words_reg_of(w, is_short), &other);
    // A divisor that is 0 faults before, or on a device goes on.
    word some = SLRI_WORDS_OP(w, OR, by.low, slri_words_is_zero(w, by.low));
    word quotient = slri_words_quotient(w, SLRI_U32, number.low, some);
    word remainder = SLRI_WORDS_OP(w, SUB, number.low, SLRI_WORDS_OP(w, MUL, quotient, some));
    slri_words_set(w, number.low, quotient);
    slri_words_set(w, rest.low, remainder);
    w->l.block = other;
    divide_long(w, number, rest, by);
    w->l.block = behind;
}

static pair divide(struct slri_words *w, const struct slri_instr *in, pair a, pair b)
{
    const bool is_signed = in->kind == SLRI_I64;
    const bool is_checked = in->imm != SLRI_DIVISOR_IS_NOT_ZERO;
    word sign_a = is_signed ? slri_words_sign(w, a.high) : zero();
    word sign_b = is_signed ? slri_words_sign(w, b.high) : zero();
    word is_none = is_checked ? slri_words_fault_at_zero(w, SLRI_WORDS_OP(w, OR, b.low, b.high)) : zero();
    pair by = is_signed ? slri_words_negate_where(w, b, sign_b) : b;
    pair number = new_pair(w, is_signed ? slri_words_negate_where(w, a, sign_a) : a);
    pair rest = new_pair(w, (pair){zero(), zero()});
    divide_pairs(w, number, rest, by);
    pair out = in->op == SLRI_OP_DIV ? number : rest;
    if (is_signed)
        out = slri_words_negate_where(w, out, in->op == SLRI_OP_REM ? sign_a : SLRI_WORDS_OP(w, XOR, sign_a, sign_b));
    if (!is_checked)
        return out;
    word kept = SLRI_WORDS_OP(w, SUB, is_none, slri_words_u32(1));
    return (pair){SLRI_WORDS_OP(w, AND, out.low, kept), SLRI_WORDS_OP(w, AND, out.high, kept)};
}

// ---- all -----------------------------------------------------------------------------------------------------------

pair slri_words_arithmetic(struct slri_words *w, const struct slri_instr *in, pair a, pair b, bool high)
{
    const pair ones = {slri_words_u32(UINT32_MAX), slri_words_u32(UINT32_MAX)};
    switch (in->op) {
    case SLRI_OP_NEG:
        return slri_words_sub(w, (pair){zero(), zero()}, a, high);
    case SLRI_OP_NOT:
        return bitwise(w, SLRI_OP_XOR, a, ones, high);
    case SLRI_OP_ADD:
        return slri_words_add(w, a, b, high);
    case SLRI_OP_SUB:
        return slri_words_sub(w, a, b, high);
    case SLRI_OP_MUL:
        return multiply(w, a, b, high);
    case SLRI_OP_SHL:
    case SLRI_OP_SHR:
        return shift(w, in, a, b.low, high);
    case SLRI_OP_DIV:
    case SLRI_OP_REM:
        return divide(w, in, a, b);
    default: // AND, OR, XOR
        return in->is_low && !high ? slri_words_one(slri_words_low(w, in->op, a.low, b.low))
                                   : bitwise(w, in->op, a, b, high);
    }
}
