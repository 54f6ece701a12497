// SPDX-License-Identifier: Apache-2.0
// Writing instructions on words. What follows from constants is computed here, and what does nothing is not written:
// the rules of 64 bits are written once, for registers, and shrink where a word is known.
#include "base/status.h"
#include "ir/fold.h"
#include "ir/pass/words_internal.h"

struct slri_word slri_words_const(enum slri_kind kind, uint64_t bits)
{
    return (struct slri_word){.kind = kind, .reg = SLRI_NO_REG, .is_const = true, .value = bits};
}

struct slri_word slri_words_of(struct slri_words *w, slri_reg reg)
{
    return (struct slri_word){.kind = w->l.function->reg_kind[reg], .reg = reg};
}

slri_reg slri_words_reg_of(struct slri_words *w, struct slri_word word)
{
    return word.is_const ? slri_lower_const(&w->l, word.kind, word.value) : word.reg;
}

struct slri_word slri_words_new(struct slri_words *w, enum slri_kind kind)
{
    return (struct slri_word){.kind = kind, .reg = slri_lower_reg(&w->l, kind)};
}

void slri_words_set(struct slri_words *w, struct slri_word variable, struct slri_word value)
{
    if (value.is_const)
        slri_lower_set_const(&w->l, variable.reg, variable.kind, value.value);
    else
        slri_lower_set(&w->l, variable.reg, SLRI_OP_MOVE, variable.kind, value.reg, SLRI_NO_REG);
}

struct slri_block *slri_words_for(struct slri_words *w, struct slri_word i, uint32_t first, uint32_t end, uint32_t step)
{
    slri_lower_set_const(&w->l, i.reg, SLRI_U32, first);
    slri_reg below = slri_lower_const(&w->l, SLRI_U32, end);
    return slri_lower_for(&w->l, i.reg, below, slri_lower_const(&w->l, SLRI_U32, step));
}

static bool is_value(struct slri_word a, uint64_t value)
{
    return a.is_const && a.value == value;
}

static bool is_all_ones(struct slri_word a)
{
    return is_value(a, slri_kind_bytes(a.kind) == 8 ? UINT64_MAX : UINT32_MAX);
}

// `a op b` where it is one of the two, or 0: of integers.
static bool shrinks(enum slri_op op, struct slri_word a, struct slri_word b, struct slri_word *out)
{
    const bool a0 = is_value(a, 0), b0 = is_value(b, 0);
    switch (op) {
    case SLRI_OP_ADD:
    case SLRI_OP_OR:
    case SLRI_OP_XOR:
        *out = a0 ? b : a;
        if (op == SLRI_OP_OR && (is_all_ones(a) || is_all_ones(b))) {
            *out = is_all_ones(a) ? a : b;
            return true;
        }
        return a0 || b0;
    case SLRI_OP_SUB:
    case SLRI_OP_SHL:
    case SLRI_OP_SHR:
        *out = a;
        return b0 || (a0 && op != SLRI_OP_SUB);
    case SLRI_OP_AND:
        *out = a0 || is_all_ones(b) ? a : b;
        return a0 || b0 || is_all_ones(a) || is_all_ones(b);
    case SLRI_OP_MUL:
        *out = a0 || is_value(b, 1) ? a : b;
        return a0 || b0 || is_value(a, 1) || is_value(b, 1);
    default:
        return false;
    }
}

struct slri_word slri_words_op(struct slri_words *w, enum slri_op op, enum slri_kind kind, struct slri_word a,
                               struct slri_word b)
{
    const bool compares = op >= SLRI_OP_EQ && op <= SLRI_OP_GE, is_unary = op <= SLRI_OP_NOT;
    const enum slri_kind result = compares ? SLRI_I32 : kind;
    struct slri_word out;
    uint64_t value;
    a = kind == SLRI_F32 || kind == SLRI_F64 ? a : slri_words_as(w, kind, a);
    if (!is_unary)
        b = kind == SLRI_F32 || kind == SLRI_F64 ? b : slri_words_as(w, kind, b);
    if (is_unary && a.is_const)
        return slri_words_const(kind, slri_fold_unary(op, kind, a.value));
    if (!is_unary && a.is_const && b.is_const && slri_fold_binary(op, kind, a.value, b.value, &value))
        return slri_words_const(result, value);
    if (!is_unary && !slri_kind_is_float(kind) && shrinks(op, a, b, &out))
        return out;
    slri_reg from = slri_words_reg_of(w, a), by = is_unary ? SLRI_NO_REG : slri_words_reg_of(w, b);
    return slri_words_of(w, slri_lower_op(&w->l, op, kind, from, by));
}

struct slri_word slri_words_low(struct slri_words *w, enum slri_op op, struct slri_word a, struct slri_word b)
{
    const uint32_t before = w->l.block->count;
    const struct slri_word low = slri_words_op(w, op, SLRI_U32, a, b);
    const uint32_t count = w->l.block->count;
    if (count > before && w->l.block->instr[count - 1].op == op)
        w->l.block->instr[count - 1].is_low = true;
    return low;
}

struct slri_word slri_words_as(struct slri_words *w, enum slri_kind kind, struct slri_word a)
{
    if (a.kind == kind)
        return a;
    if (a.is_const)
        return slri_words_const(kind, slri_fold_convert(a.kind, kind, a.value));
    return slri_words_of(w, slri_lower_convert(&w->l, kind, a.reg));
}

struct slri_word slri_words_call(struct slri_words *w, enum slri_math_id id, struct slri_word a, struct slri_word b)
{
    const struct slri_math_function *math = &slri_math_functions[id];
    static const enum slri_kind kinds[] = {
        [SLRI_MATH_F32] = SLRI_F32, [SLRI_MATH_F64] = SLRI_F64, [SLRI_MATH_I32] = SLRI_I32,
        [SLRI_MATH_U32] = SLRI_U32, [SLRI_MATH_I64] = SLRI_I64, [SLRI_MATH_U64] = SLRI_U64};
    struct slri_arg *arg = slri_region_take(w->l.region, 2 * sizeof *arg);
    w->l.out_of_memory |= !arg;
    slri_reg dst = slri_lower_reg(&w->l, kinds[math->result]);
    slri_reg from[2] = {slri_words_reg_of(w, a), math->arity > 1 ? slri_words_reg_of(w, b) : SLRI_NO_REG};
    struct slri_instr *in = slri_lower_append(&w->l, SLRI_OP_MATH, SLRI_VOID);
    in->imm = id;
    in->dst = dst;
    in->arg = arg;
    in->args = arg ? math->arity : 0;
    for (uint32_t i = 0; i < in->args; i++)
        arg[i] = (struct slri_arg){.reg = from[i]};
    return slri_words_of(w, dst);
}

struct slri_word slri_words_bits(struct slri_words *w, struct slri_word a)
{
    const enum slri_kind kind = slri_kind_bytes(a.kind) == 8 ? SLRI_U64 : SLRI_U32;
    if (a.is_const)
        return slri_words_const(kind, a.value);
    if (slri_kind_is_float(a.kind))
        a = slri_words_call(w, a.kind == SLRI_F32 ? SLRI_MATH_FLOAT_AS_UINT : SLRI_MATH_DOUBLE_AS_LONGLONG, a, a);
    return slri_words_as(w, kind, a);
}

struct slri_word slri_words_from_bits(struct slri_words *w, enum slri_kind kind, struct slri_word a)
{
    if (a.is_const)
        return slri_words_const(kind, a.value);
    if (kind == SLRI_F64)
        return slri_words_call(w, SLRI_MATH_LONGLONG_AS_DOUBLE, slri_words_as(w, SLRI_I64, a), a);
    return kind == SLRI_F32 ? slri_words_call(w, SLRI_MATH_UINT_AS_FLOAT, a, a) : slri_words_as(w, kind, a);
}

struct slri_word slri_words_mask(struct slri_words *w, struct slri_word test)
{
    return SLRI_WORDS_OP(w, SUB, slri_words_u32(0), test);
}

struct slri_word slri_words_pick(struct slri_words *w, struct slri_word mask, struct slri_word a, struct slri_word b)
{
    struct slri_word other = slri_words_op(w, SLRI_OP_NOT, SLRI_U32, mask, mask);
    return SLRI_WORDS_OP(w, OR, SLRI_WORDS_OP(w, AND, a, mask), SLRI_WORDS_OP(w, AND, b, other));
}

struct slri_word slri_words_is_zero(struct slri_words *w, struct slri_word a)
{
    return SLRI_WORDS_OP(w, EQ, a, slri_words_u32(0));
}

struct slri_words_pair slri_words_literal(struct slri_words *w, enum slri_kind kind, uint64_t bits)
{
    if (slri_words_is_wide(w, kind))
        return (struct slri_words_pair){slri_words_u32((uint32_t)bits), slri_words_u32((uint32_t)(bits >> 32))};
    return slri_words_one(slri_words_const(kind, bits));
}

struct slri_words_pair slri_words_split(struct slri_words *w, struct slri_word a)
{
    struct slri_word bits = slri_words_bits(w, a);
    struct slri_word high = slri_words_op(w, SLRI_OP_SHR, SLRI_U64, bits, slri_words_const(SLRI_U64, 32));
    return (struct slri_words_pair){slri_words_as(w, SLRI_U32, bits), slri_words_as(w, SLRI_U32, high)};
}

// ---- registers of the source ---------------------------------------------------------------------------------------

static void give_registers(struct slri_words *w, slri_reg reg, struct slri_words_reg *at)
{
    const enum slri_kind kind = w->source->reg_kind[reg];
    const char *name = w->source->reg_name[reg];
    const bool is_wide = slri_words_is_wide(w, kind);
    at->is.low = slri_words_of(w, slri_lower_variable(&w->l, is_wide ? SLRI_U32 : kind, name));
    at->is.high = slri_words_const(SLRI_U32, 0);
    if (is_wide && at->high)
        at->is.high = slri_words_of(w, slri_lower_variable(&w->l, SLRI_U32, name));
    at->is_made = at->is_fixed = true;
}

// What is read above where it is written, as in a loop, has registers of its own.
struct slri_words_pair slri_words_read(struct slri_words *w, slri_reg reg)
{
    struct slri_words_reg *at = &w->now->reg[reg];
    if (!at->is_made) {
        give_registers(w, reg, at);
        w->first_fresh = w->l.function->regs; // they are no temporaries
    }
    return at->is;
}

static bool is_fresh(const struct slri_words *w, struct slri_word word)
{
    return word.is_const || word.reg >= w->first_fresh;
}

// The instruction just written gives its result to the variable itself.
static bool retargets(struct slri_words *w, struct slri_word value, struct slri_word variable)
{
    const struct slri_block *block = w->l.block;
    struct slri_instr *last = block->count ? &block->instr[block->count - 1] : NULL;
    if (!last || value.is_const || value.reg < w->first_fresh || last->dst != value.reg || last->op == SLRI_OP_CALL)
        return false;
    last->dst = variable.reg;
    return true;
}

// What one place writes needs no register of its own: it is the temporary that holds it, which nothing else writes.
void slri_words_write(struct slri_words *w, slri_reg reg, struct slri_words_pair value)
{
    if (reg == SLRI_NO_REG)
        return;
    struct slri_words_reg *at = &w->now->reg[reg];
    const bool has_high = slri_words_is_wide(w, w->source->reg_kind[reg]) && at->high;
    if (at->writes == 1 && !at->is_made && is_fresh(w, value.low) && (!has_high || is_fresh(w, value.high))) {
        at->is = value;
        at->is_made = true;
        if (!value.low.is_const && w->source->reg_name[reg])
            w->l.function->reg_name[value.low.reg] = w->source->reg_name[reg];
        return;
    }
    if (!at->is_made)
        give_registers(w, reg, at);
    struct slri_words_pair to = at->is;
    if (!has_high && retargets(w, value.low, to.low))
        return;
    const bool crosses = has_high && value.high.reg == to.low.reg && !value.high.is_const;
    if (crosses) { // the high word comes from what the low one is written to
        slri_words_set(w, to.high, value.high);
        slri_words_set(w, to.low, value.low);
        return;
    }
    slri_words_set(w, to.low, value.low);
    if (has_high)
        slri_words_set(w, to.high, value.high);
}

void slri_words_refuse(struct slri_words *w, const struct slri_instr *in, const char *what, const char *advice)
{
    if (w->refused == SLR_OK)
        w->refused = SLRI_FAIL(UNSUPPORTED, "%s:%u: %s not supported by a device with words of 32 bits only; %s",
                               w->l.from->file[in->where.file], in->where.line, what, advice);
}
