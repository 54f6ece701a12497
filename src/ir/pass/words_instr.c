// SPDX-License-Identifier: Apache-2.0
// Each instruction of the source, as those that do the same with words.
#include "ir/pass/words_internal.h"

typedef struct slri_words_pair pair;
typedef struct slri_word word;

static slri_reg low_of(struct slri_words *w, slri_reg reg)
{
    return slri_words_reg_of(w, slri_words_read(w, reg).low);
}

static struct slri_block *block_of(struct slri_words *w, const struct slri_block *block)
{
    if (!block)
        return NULL;
    const struct slri_where where = w->l.where;
    struct slri_block *behind = w->l.block, *made = slri_lower_block(&w->l);
    w->l.block = made;
    slri_words_block(w, block);
    w->l.block = behind;
    w->l.where = where;
    return made;
}

// ---- arithmetic ----------------------------------------------------------------------------------------------------

// Of no pair.
static word arithmetic(struct slri_words *w, const struct slri_instr *in, word a, word b)
{
    const bool is_float = slri_kind_is_float(in->kind);
    enum slri_kind kind = in->kind;
    if (is_float && ((in->op == SLRI_OP_MUL && (slri_words_is_float_zero(a) || slri_words_is_float_zero(b))) ||
                     (in->op == SLRI_OP_DIV && slri_words_is_float_zero(a))))
        return slri_words_of_zero(w, in->op, a, b);
    if (!is_float && (in->op == SLRI_OP_DIV || in->op == SLRI_OP_REM))
        return slri_words_divide(w, in, a, b);
    if (in->op == SLRI_OP_SHL || in->op == SLRI_OP_SHR)
        b = slri_words_op(w, SLRI_OP_AND, b.kind, b, slri_words_const(b.kind, 8 * slri_kind_bytes(kind) - 1));
    if (kind == SLRI_I64 && in->op >= SLRI_OP_LT && in->op <= SLRI_OP_GE) {
        // Mesa 22.3 takes the order of a widened int and a constant for that of unsigned numbers. With their sign bits
        // turned over, such numbers are in the order of the signed ones.
        const word sign = slri_words_const(SLRI_I64, UINT64_C(1) << 63);
        a = slri_words_op(w, SLRI_OP_XOR, SLRI_I64, a, sign);
        b = slri_words_op(w, SLRI_OP_XOR, SLRI_I64, b, sign);
        kind = SLRI_U64;
    }
    return slri_words_op(w, in->op, kind, a, b);
}

static void put_arithmetic(struct slri_words *w, const struct slri_instr *in)
{
    const bool is_unary = in->b == SLRI_NO_REG, compares = in->op >= SLRI_OP_EQ && in->op <= SLRI_OP_GE;
    pair a = slri_words_read(w, in->a), b = is_unary ? a : slri_words_read(w, in->b);
    pair out;
    if (!slri_words_is_wide(w, in->kind)) {
        out = slri_words_one(arithmetic(w, in, a.low, b.low));
    } else if (compares) {
        out = slri_words_one(slri_words_compare(w, in->op, in->kind, a, b));
    } else {
        out = slri_words_arithmetic(w, in, a, b, w->now->reg[in->dst].high);
    }
    slri_words_write(w, in->dst, out);
}

static void put_const(struct slri_words *w, const struct slri_instr *in)
{
    slri_words_write(w, in->dst, slri_words_literal(w, in->kind, in->imm));
}

static void put_convert(struct slri_words *w, const struct slri_instr *in)
{
    pair a = slri_words_read(w, in->a);
    slri_words_write(w, in->dst,
                     slri_words_convert(w, w->source->reg_kind[in->a], in->kind, a, w->now->reg[in->dst].high));
}

// ---- what has arguments --------------------------------------------------------------------------------------------

static struct slri_arg *take_args(struct slri_words *w, uint32_t count)
{
    struct slri_arg *arg = slri_region_take(w->l.region, (count + (size_t)1) * sizeof *arg);
    w->l.out_of_memory |= !arg;
    return arg;
}

static word warp_of(struct slri_words *w, const struct slri_instr *in, enum slri_kind kind, const slri_reg *from)
{
    struct slri_arg *arg = take_args(w, in->args);
    slri_reg dst = SLRI_NO_REG;
    const char result = slri_warp_functions[in->imm].result;
    if (result != '-')
        dst = slri_lower_reg(&w->l, result == 'K' ? kind : result == 'U' ? SLRI_U32 : SLRI_I32);
    struct slri_instr *to = slri_lower_append(&w->l, SLRI_OP_WARP, kind);
    to->imm = in->imm;
    to->dst = dst;
    to->arg = arg;
    to->args = arg ? in->args : 0;
    for (uint32_t i = 0; i < to->args; i++)
        arg[i] = (struct slri_arg){.reg = from[i]};
    return dst == SLRI_NO_REG ? slri_words_u32(0) : slri_words_of(w, dst);
}

static void put_warp(struct slri_words *w, const struct slri_instr *in)
{
    enum { MOST = 9, VALUE = 1 }; // WARP's arguments (MATRIX has the most), and the one of the instruction's kind
    slri_reg low[MOST] = {0}, high[MOST] = {0};
    const bool is_wide = slri_words_is_wide(w, in->kind);
    for (uint32_t i = 0; i < in->args && i < MOST; i++) {
        pair value = slri_words_read(w, in->arg[i].reg);
        low[i] = high[i] = slri_words_reg_of(w, value.low);
        if (is_wide && i == VALUE)
            high[i] = slri_words_reg_of(w, value.high);
    }
    pair out = slri_words_one(warp_of(w, in, is_wide ? SLRI_U32 : in->kind, low));
    if (is_wide) {
        out.high = warp_of(w, in, SLRI_U32, high);
        if (in->imm == SLRI_WARP_MATCH) // both words are the same
            out = slri_words_one(SLRI_WORDS_OP(w, AND, out.low, out.high));
    }
    slri_words_write(w, in->dst, out);
}

static void put_arg(struct slri_arg *arg, uint32_t *args, struct slri_root root, slri_reg reg)
{
    if (arg)
        arg[(*args)++] = (struct slri_arg){.reg = reg, .root = root};
}

static bool is_double(const struct slri_words *w, slri_reg reg)
{
    return reg != SLRI_NO_REG && w->source->reg_kind[reg] == SLRI_F64;
}

static bool has_double(const struct slri_words *w, const struct slri_instr *in)
{
    bool found = in->kind == SLRI_F64 || is_double(w, in->dst) || is_double(w, in->a) || is_double(w, in->b);
    for (uint32_t i = 0; i < in->args; i++)
        found |= is_double(w, in->arg[i].reg);
    return found;
}

static void put_print(struct slri_words *w, const struct slri_instr *in)
{
    if (!w->options.tells)
        slri_words_refuse(w, in, "printf is", "write to a buffer instead");
    else if (has_double(w, in) && !w->options.all_widths)
        slri_words_refuse(w, in, "printf of a double is", "print an integer");
    else
        slri_words_print(w, in);
}

static void put_call(struct slri_words *w, const struct slri_instr *in)
{
    const struct slri_root none = {SLRI_ROOT_NONE, 0};
    const struct slri_words_function *callee = &w->functions[in->callee->index];
    const bool is_wide = slri_words_is_wide(w, in->callee->result);
    struct slri_arg *arg = take_args(w, 3 * in->args + 1);
    uint32_t args = 0;
    for (uint32_t i = 0; i < in->args; i++) {
        pair value = slri_words_read(w, in->arg[i].reg);
        if (in->callee->param[i].is_memory)
            put_arg(arg, &args, slri_words_place(w, in->arg[i].root), slri_words_offset(w, slri_words_u32(0)));
        put_arg(arg, &args, none, slri_words_reg_of(w, value.low));
        if (callee->reg[in->callee->param[i].reg].high)
            put_arg(arg, &args, none, slri_words_reg_of(w, value.high));
    }
    if (is_wide)
        put_arg(arg, &args, slri_words_high_local(w), slri_words_offset(w, slri_words_u32(0)));
    slri_reg dst = SLRI_NO_REG;
    if (in->dst != SLRI_NO_REG)
        dst = slri_lower_reg(&w->l, callee->made->result);
    struct slri_instr *to = slri_lower_append(&w->l, SLRI_OP_CALL, SLRI_VOID);
    to->callee = callee->made;
    to->dst = dst;
    to->arg = arg;
    to->args = args;
    if (in->dst == SLRI_NO_REG)
        return;
    pair out = slri_words_one(slri_words_of(w, dst));
    if (is_wide && w->now->reg[in->dst].high)
        out.high = slri_words_get(w, slri_words_high_local(w), slri_words_u32(0));
    slri_words_write(w, in->dst, out);
}

// ---- control flow --------------------------------------------------------------------------------------------------

static void put_if(struct slri_words *w, const struct slri_instr *in)
{
    slri_reg test = low_of(w, in->a);
    struct slri_block *body = block_of(w, in->body[0]), *other = block_of(w, in->body[1]);
    struct slri_instr *to = slri_lower_append(&w->l, SLRI_OP_IF, SLRI_VOID);
    to->a = test;
    to->body[0] = body;
    to->body[1] = other;
}

static void put_loop(struct slri_words *w, const struct slri_instr *in)
{
    struct slri_block *behind = w->l.block, *test = block_of(w, in->body[0]);
    w->l.block = test;
    slri_reg a = in->a == SLRI_NO_REG ? SLRI_NO_REG : low_of(w, in->a);
    w->l.block = behind;
    struct slri_block *body = block_of(w, in->body[1]), *step = block_of(w, in->body[2]);
    struct slri_instr *to = slri_lower_append(&w->l, SLRI_OP_LOOP, SLRI_VOID);
    to->a = a;
    to->do_while = in->do_while;
    to->body[0] = test;
    to->body[1] = body;
    to->body[2] = step;
}

// Which case of 64 bits it is, from 1, or 0.
static word case_number(struct slri_words *w, const struct slri_instr *in)
{
    pair a = slri_words_read(w, in->a);
    word number = slri_words_new(w, SLRI_U32);
    slri_words_set(w, number, slri_words_u32(0));
    for (uint32_t i = 0; i < in->cases; i++) {
        if (in->match[i].is_default)
            continue;
        pair of = slri_words_literal(w, w->source->reg_kind[in->a], in->match[i].value);
        word same = w->options.all_widths ? slri_words_op(w, SLRI_OP_EQ, of.low.kind, a.low, of.low)
                                          : slri_words_compare(w, SLRI_OP_EQ, SLRI_U64, a, of);
        struct slri_block *behind = slri_lower_if(&w->l, slri_words_reg_of(w, same), NULL);
        slri_words_set(w, number, slri_words_u32(i + 1));
        w->l.block = behind;
    }
    return number;
}

static struct slri_case *take_cases(struct slri_words *w, uint32_t cases)
{
    struct slri_case *match = slri_region_take(w->l.region, (cases + (size_t)1) * sizeof *match);
    w->l.out_of_memory |= !match;
    return match;
}

static void append_switch(struct slri_words *w, slri_reg a, struct slri_case *match, uint32_t cases)
{
    struct slri_instr *to = slri_lower_append(&w->l, SLRI_OP_SWITCH, SLRI_VOID);
    to->a = a;
    to->match = match;
    to->cases = match ? cases : 0;
}

static bool falls_through(const struct slri_instr *in)
{
    bool falls = false;
    for (uint32_t i = 0; i + 1 < in->cases; i++) {
        const struct slri_block *body = in->match[i].body;
        const enum slri_op last = body->count ? body->instr[body->count - 1].op : SLRI_OP_BREAK;
        falls |= last != SLRI_OP_BREAK && last != SLRI_OP_CONTINUE && last != SLRI_OP_RETURN;
    }
    return falls;
}

static struct slri_block *case_that_sets(struct slri_words *w, word variable, uint32_t value)
{
    struct slri_block *behind = w->l.block, *made = slri_lower_block(&w->l);
    w->l.block = made;
    slri_words_set(w, variable, slri_words_u32(value));
    slri_lower_append(&w->l, SLRI_OP_BREAK, SLRI_VOID);
    w->l.block = behind;
    return made;
}

// All cases from the first one on, in the only case of a switch, which BREAK leaves.
static void put_falling(struct slri_words *w, const struct slri_instr *in, word first)
{
    slri_reg any = slri_words_reg_of(w, slri_words_u32(0));
    struct slri_case *match = take_cases(w, 1);
    struct slri_block *behind = w->l.block, *all = slri_lower_block(&w->l);
    w->l.block = all;
    for (uint32_t i = 0; i < in->cases; i++) {
        word here = SLRI_WORDS_OP(w, LE, first, slri_words_u32(i));
        struct slri_block *next = slri_lower_if(&w->l, slri_words_reg_of(w, here), NULL);
        slri_words_block(w, in->match[i].body);
        w->l.block = next;
    }
    w->l.block = behind;
    if (match)
        *match = (struct slri_case){.is_default = true, .body = all};
    append_switch(w, any, match, 1);
}

// Where a case falls into the next, a first switch finds which one is the first.
static void put_switch(struct slri_words *w, const struct slri_instr *in)
{
    const bool is_64 = slri_kind_bytes(w->source->reg_kind[in->a]) == 8, falls = falls_through(in);
    const word first = falls ? slri_words_new(w, SLRI_U32) : slri_words_u32(0);
    if (falls)
        slri_words_set(w, first, slri_words_u32(in->cases));
    slri_reg a = is_64 ? slri_words_reg_of(w, case_number(w, in)) : low_of(w, in->a);
    struct slri_case *match = take_cases(w, in->cases);
    for (uint32_t i = 0; match && i < in->cases; i++) {
        match[i] = in->match[i];
        match[i].value = is_64 ? i + 1 : in->match[i].value;
        match[i].body = falls ? case_that_sets(w, first, i) : block_of(w, in->match[i].body);
    }
    append_switch(w, a, match, in->cases);
    if (falls)
        put_falling(w, in, first);
}

static void put_word_return(struct slri_words *w, const struct slri_instr *in)
{
    slri_reg a = SLRI_NO_REG;
    if (in->a != SLRI_NO_REG) {
        pair value = slri_words_read(w, in->a);
        a = slri_words_reg_of(w, value.low);
        const struct slri_root high = {SLRI_ROOT_PARAM, w->now->high_param};
        if (slri_words_is_wide(w, w->source->result)) {
            slri_reg of = slri_words_reg_of(w, value.high);
            slri_lower_store(&w->l, SLRI_U32, high, slri_words_offset(w, slri_words_u32(0)), of);
        }
    }
    slri_lower_append(&w->l, SLRI_OP_RETURN, SLRI_VOID)->a = a;
}

// ---- what stays as it is -------------------------------------------------------------------------------------------

static void put_same(struct slri_words *w, const struct slri_instr *in)
{
    slri_reg a = in->a == SLRI_NO_REG ? SLRI_NO_REG : low_of(w, in->a);
    slri_reg dst = in->dst == SLRI_NO_REG ? SLRI_NO_REG : slri_lower_reg(&w->l, w->source->reg_kind[in->dst]);
    struct slri_instr *to = slri_lower_append(&w->l, in->op, in->kind);
    to->dst = dst;
    to->a = a;
    to->imm = in->imm;
    to->order = in->order;
    to->scope = in->scope;
    to->root = slri_words_place(w, in->root);
    if (dst != SLRI_NO_REG)
        slri_words_write(w, in->dst, slri_words_one(slri_words_of(w, dst)));
}

// ---- all -----------------------------------------------------------------------------------------------------------

static void put_instr(struct slri_words *w, const struct slri_instr *in)
{
    if (in->op != SLRI_OP_PRINT && !w->options.doubles && has_double(w, in)) { // put_print says what it is of
        slri_words_refuse(w, in, "double is", "use float: write 0.5f for 0.5, and sqrtf for sqrt");
        return;
    }
    switch (in->op) {
    case SLRI_OP_CONST:
        put_const(w, in);
        break;
    case SLRI_OP_MOVE:
        slri_words_write(w, in->dst, slri_words_read(w, in->a));
        break;
    case SLRI_OP_CONVERT:
        put_convert(w, in);
        break;
    case SLRI_OP_LOAD:
        slri_words_load_at(w, in, slri_words_read(w, in->a).low);
        break;
    case SLRI_OP_STORE:
        slri_words_store(w, in);
        break;
    case SLRI_OP_COPY:
    case SLRI_OP_ZERO:
        slri_words_copy(w, in);
        break;
    case SLRI_OP_INDEX: // what it would find is undefined on a device
        break;
    case SLRI_OP_MATH:
        slri_words_math(w, in);
        break;
    case SLRI_OP_ATOMIC_LOAD:
    case SLRI_OP_ATOMIC_STORE:
    case SLRI_OP_ATOMIC_RMW:
    case SLRI_OP_ATOMIC_CAS:
        slri_words_atomic(w, in);
        break;
    case SLRI_OP_CLOCK:
        slri_words_write(w, in->dst, slri_words_literal(w, SLRI_U64, 0));
        break;
    case SLRI_OP_WARP:
        put_warp(w, in);
        break;
    case SLRI_OP_PRINT:
        put_print(w, in);
        break;
    case SLRI_OP_TRAP:
        slri_words_trap(w, (uint32_t)in->imm);
        break;
    case SLRI_OP_CALL:
        put_call(w, in);
        break;
    case SLRI_OP_IF:
        put_if(w, in);
        break;
    case SLRI_OP_LOOP:
        put_loop(w, in);
        break;
    case SLRI_OP_SWITCH:
        put_switch(w, in);
        break;
    case SLRI_OP_RETURN:
        put_word_return(w, in);
        break;
    default:
        if (in->op <= SLRI_OP_GE)
            put_arithmetic(w, in);
        else
            put_same(w, in); // BARRIER, FENCE, BUILTIN, PRESENT, BREAK, CONTINUE
        break;
    }
}

void slri_words_block(struct slri_words *w, const struct slri_block *block)
{
    for (uint32_t i = 0; i < block->count && w->refused == SLR_OK; i++) {
        w->l.where = block->instr[i].where;
        w->first_fresh = w->l.function->regs;
        put_instr(w, &block->instr[i]);
    }
}
