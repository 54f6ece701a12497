// SPDX-License-Identifier: Apache-2.0
// Functions of the math library that take or give 64 bits. The others are written as they are.
#include "ir/pass/words_internal.h"

typedef struct slri_words_pair pair;
typedef struct slri_word word;

static bool is_of_double(const struct slri_math_function *math)
{
    bool found = math->result == SLRI_MATH_F64;
    for (unsigned i = 0; i < math->arity; i++)
        found |= math->args[i] == SLRI_MATH_F64;
    return found;
}

static bool is_wide(enum slri_math_type type)
{
    return type == SLRI_MATH_I64 || type == SLRI_MATH_U64;
}

static bool has_wide(const struct slri_math_function *math)
{
    bool found = is_wide(math->result);
    for (unsigned i = 0; i < math->arity; i++)
        found |= is_wide(math->args[i]);
    return found;
}

static void put_same_math(struct slri_words *w, const struct slri_instr *in)
{
    struct slri_arg *arg = slri_region_take(w->l.region, (in->args + (size_t)1) * sizeof *arg);
    w->l.out_of_memory |= !arg;
    for (uint32_t i = 0; arg && i < in->args; i++)
        arg[i] = (struct slri_arg){.reg = slri_words_reg_of(w, slri_words_read(w, in->arg[i].reg).low)};
    slri_reg dst = slri_lower_reg(&w->l, w->source->reg_kind[in->dst]);
    struct slri_instr *to = slri_lower_append(&w->l, SLRI_OP_MATH, in->kind);
    to->imm = in->imm;
    to->dst = dst;
    to->arg = arg;
    to->args = arg ? in->args : 0;
    slri_words_write(w, in->dst, slri_words_one(slri_words_of(w, dst)));
}

static pair extreme(struct slri_words *w, enum slri_op op, enum slri_kind kind, pair a, pair b)
{
    return slri_words_pick_pair(w, slri_words_mask(w, slri_words_compare(w, op, kind, a, b)), a, b);
}

static word high_product(struct slri_words *w, word a, word b)
{
    return slri_words_call(w, SLRI_MATH_UMULHI, a, b);
}

// The high 64 bits of 128: what the four products of words carry there.
static pair high_half_of_product(struct slri_words *w, pair a, pair b)
{
    const word none = slri_words_u32(0);
    pair low = {high_product(w, a.low, b.low), none};
    pair first = {SLRI_WORDS_OP(w, MUL, a.low, b.high), high_product(w, a.low, b.high)};
    pair second = {SLRI_WORDS_OP(w, MUL, a.high, b.low), high_product(w, a.high, b.low)};
    pair top = {SLRI_WORDS_OP(w, MUL, a.high, b.high), high_product(w, a.high, b.high)};
    pair middle = slri_words_add(w, first, low, true); // below 2^64
    pair crossed = slri_words_add(w, (pair){middle.low, none}, (pair){second.low, none}, true);
    pair out = slri_words_add(w, top, (pair){middle.high, none}, true);
    out = slri_words_add(w, out, (pair){second.high, none}, true);
    return slri_words_add(w, out, (pair){crossed.high, none}, true);
}

// Signed: where one is negative, the other is once too much.
static pair signed_high_of_product(struct slri_words *w, pair a, pair b)
{
    word of_a = slri_words_sign(w, a.high), of_b = slri_words_sign(w, b.high);
    pair minus_b = {SLRI_WORDS_OP(w, AND, b.low, of_a), SLRI_WORDS_OP(w, AND, b.high, of_a)};
    pair minus_a = {SLRI_WORDS_OP(w, AND, a.low, of_b), SLRI_WORDS_OP(w, AND, a.high, of_b)};
    return slri_words_sub(w, slri_words_sub(w, high_half_of_product(w, a, b), minus_b, true), minus_a, true);
}

static word count_of(struct slri_words *w, enum slri_math_id id, word a)
{
    return slri_words_bits(w, slri_words_call(w, id, a, a));
}

// The lowest bit's number from 1; 0 where there is none.
static word first_bit(struct slri_words *w, pair a)
{
    word low = count_of(w, SLRI_MATH_FFS, slri_words_as(w, SLRI_I32, a.low));
    word high = count_of(w, SLRI_MATH_FFS, slri_words_as(w, SLRI_I32, a.high));
    word in_high = slri_words_mask(w, slri_words_op(w, SLRI_OP_NE, SLRI_U32, high, slri_words_u32(0)));
    word above = SLRI_WORDS_OP(w, ADD, high, SLRI_WORDS_OP(w, AND, in_high, slri_words_u32(32)));
    return slri_words_pick(w, slri_words_mask(w, slri_words_is_zero(w, a.low)), above, low);
}

static pair rounded(struct slri_words *w, enum slri_math_id id, enum slri_math_type from, enum slri_kind to, word a)
{
    enum slri_kind kind = from == SLRI_MATH_F32 ? SLRI_F32 : SLRI_F64;
    word whole = id == SLRI_MATH_COUNT ? a : slri_words_call(w, id, a, a);
    return slri_words_convert(w, kind, to, slri_words_one(whole), true);
}

static pair converted(struct slri_words *w, enum slri_math_id id, const struct slri_math_function *math, pair a)
{
    const enum slri_kind to = math->result == SLRI_MATH_U64 ? SLRI_U64 : SLRI_I64;
    const bool is_float = math->args[0] == SLRI_MATH_F32;
    switch (id) {
    case SLRI_MATH_FLOAT2LL_RU:
    case SLRI_MATH_FLOAT2ULL_RU:
    case SLRI_MATH_DOUBLE2LL_RU:
    case SLRI_MATH_DOUBLE2ULL_RU:
        return rounded(w, is_float ? SLRI_MATH_CEILF : SLRI_MATH_CEIL, math->args[0], to, a.low);
    case SLRI_MATH_FLOAT2LL_RD:
    case SLRI_MATH_FLOAT2ULL_RD:
    case SLRI_MATH_DOUBLE2LL_RD:
    case SLRI_MATH_DOUBLE2ULL_RD:
        return rounded(w, is_float ? SLRI_MATH_FLOORF : SLRI_MATH_FLOOR, math->args[0], to, a.low);
    case SLRI_MATH_LROUNDF:
    case SLRI_MATH_LLROUNDF:
    case SLRI_MATH_LROUND:
    case SLRI_MATH_LLROUND:
        return rounded(w, is_float ? SLRI_MATH_ROUNDF : SLRI_MATH_ROUND, math->args[0], to, a.low);
    case SLRI_MATH_FLOAT2LL_RZ:
    case SLRI_MATH_FLOAT2ULL_RZ:
    case SLRI_MATH_DOUBLE2LL_RZ:
    case SLRI_MATH_DOUBLE2ULL_RZ:
        return rounded(w, SLRI_MATH_COUNT, math->args[0], to, a.low);
    default: // to nearest even
        return rounded(w, is_float ? SLRI_MATH_RINTF : SLRI_MATH_RINT, math->args[0], to, a.low);
    }
}

static pair wide(struct slri_words *w, const struct slri_instr *in, pair a, pair b)
{
    const struct slri_math_function *math = &slri_math_functions[in->imm];
    switch ((enum slri_math_id)in->imm) {
    case SLRI_MATH_MIN_I64:
        return extreme(w, SLRI_OP_LT, SLRI_I64, a, b);
    case SLRI_MATH_MIN_U64:
        return extreme(w, SLRI_OP_LT, SLRI_U64, a, b);
    case SLRI_MATH_MAX_I64:
        return extreme(w, SLRI_OP_GT, SLRI_I64, a, b);
    case SLRI_MATH_MAX_U64:
        return extreme(w, SLRI_OP_GT, SLRI_U64, a, b);
    case SLRI_MATH_ABS_I64:
    case SLRI_MATH_LLABS:
        return slri_words_negate_where(w, a, slri_words_sign(w, a.high));
    case SLRI_MATH_CLZLL:
        return slri_words_one(slri_words_as(w, SLRI_I32, slri_words_clz(w, a)));
    case SLRI_MATH_FFSLL:
        return slri_words_one(slri_words_as(w, SLRI_I32, first_bit(w, a)));
    case SLRI_MATH_POPCLL:
        return slri_words_one(slri_words_as(
            w, SLRI_I32,
            SLRI_WORDS_OP(w, ADD, count_of(w, SLRI_MATH_POPC, a.low), count_of(w, SLRI_MATH_POPC, a.high))));
    case SLRI_MATH_BREVLL:
        return (pair){slri_words_call(w, SLRI_MATH_BREV, a.high, a.high),
                      slri_words_call(w, SLRI_MATH_BREV, a.low, a.low)};
    case SLRI_MATH_UMUL64HI:
        return high_half_of_product(w, a, b);
    case SLRI_MATH_MUL64HI:
        return signed_high_of_product(w, a, b);
    case SLRI_MATH_LL2FLOAT_RN:
        return slri_words_convert(w, SLRI_I64, SLRI_F32, a, true);
    case SLRI_MATH_ULL2FLOAT_RN:
        return slri_words_convert(w, SLRI_U64, SLRI_F32, a, true);
    case SLRI_MATH_LL2DOUBLE_RN:
        return slri_words_convert(w, SLRI_I64, SLRI_F64, a, true);
    case SLRI_MATH_ULL2DOUBLE_RN:
        return slri_words_convert(w, SLRI_U64, SLRI_F64, a, true);
    case SLRI_MATH_DOUBLE_AS_LONGLONG:
        return (pair){slri_words_bits(w, slri_words_call(w, SLRI_MATH_DOUBLE2LOINT, a.low, a.low)),
                      slri_words_bits(w, slri_words_call(w, SLRI_MATH_DOUBLE2HIINT, a.low, a.low))};
    case SLRI_MATH_LONGLONG_AS_DOUBLE:
        return slri_words_one(slri_words_call(w, SLRI_MATH_HILOINT2DOUBLE, slri_words_as(w, SLRI_I32, a.high),
                                              slri_words_as(w, SLRI_I32, a.low)));
    default:
        return converted(w, (enum slri_math_id)in->imm, math, a);
    }
}

void slri_words_math(struct slri_words *w, const struct slri_instr *in)
{
    const struct slri_math_function *math = &slri_math_functions[in->imm];
    if (is_of_double(math) && !w->options.doubles) {
        slri_words_refuse(w, in, "double is", "use float: write 0.5f for 0.5, and sqrtf for sqrt");
        return;
    }
    if (!has_wide(math) || w->options.all_widths) {
        put_same_math(w, in);
        return;
    }
    pair a = slri_words_read(w, in->arg[0].reg);
    pair b = math->arity > 1 ? slri_words_read(w, in->arg[1].reg) : a;
    slri_words_write(w, in->dst, wide(w, in, a, b));
}
