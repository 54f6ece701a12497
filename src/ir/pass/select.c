// SPDX-License-Identifier: Apache-2.0
// Innermost branches first, so that a branch of short branches may be short as well. A mask and three operations of
// bits take one of two values. `a ? b : c` in emitted C would be a jump again where a compiler thinks so.
#include "ir/pass/select.h"

#include "ir/math/functions.h"

#include <string.h>

enum { MOST_COST = 16, MATH_COST = 4, ROOM = 64 };

struct selecting {
    struct slri_region *region;
    struct slri_function *function;
    struct slri_block *out; // where instructions go
    struct slri_where where;
    uint32_t *reads;   // by register: how often it is read in the function
    slri_reg *renamed; // by register: one more than what stands for it in the side at hand; 0: itself
    uint32_t room;     // of both
    bool out_of_memory;
    struct slri_instr lost; // with no memory left, what would be written goes there
};

// What one side assigns, in order, and the registers that have the values.
struct side {
    slri_reg *reg, *value;
    uint32_t count;
};

// ---- which branches ------------------------------------------------------------------------------------------------

static bool is_harmless(const struct slri_instr *in)
{
    if (in->dst == SLRI_NO_REG)
        return false;
    bool divides = in->op == SLRI_OP_DIV || in->op == SLRI_OP_REM;
    if (divides && !slri_kind_is_float(in->kind))
        return in->imm == SLRI_DIVISOR_IS_NOT_ZERO;
    return in->op <= SLRI_OP_CONVERT || in->op == SLRI_OP_MATH || in->op == SLRI_OP_BUILTIN ||
           in->op == SLRI_OP_INSTANCE || in->op == SLRI_OP_MESSAGES;
}

// More than MOST_COST: not to be computed for nothing.
static uint32_t cost_of_side(const struct slri_block *block)
{
    uint32_t cost = 0;
    for (uint32_t i = 0; block && i < block->count && cost <= MOST_COST; i++) {
        const struct slri_instr *in = &block->instr[i];
        bool is_free = in->op == SLRI_OP_CONST || in->op == SLRI_OP_MOVE;
        cost += !is_harmless(in) ? MOST_COST + 1 : in->op == SLRI_OP_MATH ? MATH_COST : is_free ? 0 : 1;
    }
    return cost;
}

static bool is_short(const struct slri_instr *in)
{
    return in->op == SLRI_OP_IF && cost_of_side(in->body[0]) + cost_of_side(in->body[1]) <= MOST_COST;
}

// More than a comparison, as the right side of && is one: a jump there costs about as much.
static bool computes(const struct slri_block *block)
{
    for (uint32_t i = 0; block && i < block->count; i++) {
        enum slri_op op = block->instr[i].op;
        bool compares = op >= SLRI_OP_EQ && op <= SLRI_OP_GE;
        if (!compares && op != SLRI_OP_CONST && op != SLRI_OP_MOVE && op != SLRI_OP_CONVERT)
            return true;
    }
    return false;
}

// `of_worth`: one that computes something.
static bool block_has_short(const struct slri_block *block, bool of_worth)
{
    for (uint32_t i = 0; block && i < block->count; i++) {
        const struct slri_instr *in = &block->instr[i];
        bool found = is_short(in) && (!of_worth || computes(in->body[0]) || computes(in->body[1]));
        found = found || (of_worth && in->op == SLRI_OP_CALL && in->callee->has_short_branches);
        for (int part = 0; part < 3 && !found; part++)
            found = block_has_short(in->body[part], of_worth);
        for (uint32_t c = 0; c < in->cases && !found; c++)
            found = block_has_short(in->match[c].body, of_worth);
        if (found)
            return true;
    }
    return false;
}

void slri_select_look(struct slri_module *module)
{
    for (uint32_t f = 0; f < module->functions; f++)
        module->function[f]->has_short_branches = block_has_short(module->function[f]->body, true);
}

// ---- writing -------------------------------------------------------------------------------------------------------

static void *larger(struct selecting *s, void *old, uint32_t room, size_t each)
{
    void *made = slri_region_take(s->region, room * each);
    s->out_of_memory |= made == NULL;
    if (made && s->room)
        memcpy(made, old, s->room * each);
    return made ? made : old;
}

// Room for as many registers as the function has.
static bool make_room(struct selecting *s)
{
    uint32_t room = s->room ? s->room : ROOM;
    while (room < s->function->regs)
        room *= 2;
    if (room == s->room)
        return true;
    s->reads = larger(s, s->reads, room, sizeof *s->reads);
    s->renamed = larger(s, s->renamed, room, sizeof *s->renamed);
    if (s->out_of_memory)
        return false;
    s->room = room;
    return true;
}

static void count_read(struct selecting *s, slri_reg reg, int by)
{
    if (reg != SLRI_NO_REG)
        s->reads[reg] += (uint32_t)by;
}

static void count_reads(struct selecting *s, const struct slri_instr *in, int by)
{
    count_read(s, in->a, by);
    count_read(s, in->b, by);
    count_read(s, in->c, by);
    for (uint32_t i = 0; i < in->args; i++)
        count_read(s, in->arg[i].reg, by);
}

static void count_block(struct selecting *s, const struct slri_block *block)
{
    for (uint32_t i = 0; block && i < block->count; i++) {
        const struct slri_instr *in = &block->instr[i];
        count_reads(s, in, 1);
        for (int part = 0; part < 3; part++)
            count_block(s, in->body[part]);
        for (uint32_t c = 0; c < in->cases; c++)
            count_block(s, in->match[c].body);
    }
}

static slri_reg new_reg(struct selecting *s, enum slri_kind kind)
{
    slri_reg reg = slri_function_add_reg(s->region, s->function, kind, NULL);
    s->out_of_memory |= reg == SLRI_NO_REG;
    return reg == SLRI_NO_REG || !make_room(s) ? 0 : reg;
}

static struct slri_instr *append_to(struct selecting *s, enum slri_op op, enum slri_kind kind)
{
    struct slri_instr *in = slri_block_append(s->region, s->out, op, kind, s->where);
    s->out_of_memory |= in == NULL;
    return in ? in : &s->lost;
}

static void write_op(struct selecting *s, slri_reg dst, enum slri_op op, enum slri_kind kind, slri_reg a, slri_reg b)
{
    struct slri_instr *in = append_to(s, op, kind);
    in->dst = dst;
    in->a = a;
    in->b = b;
    count_read(s, a, 1);
    count_read(s, b, 1);
}

static slri_reg make_op(struct selecting *s, enum slri_op op, enum slri_kind kind, slri_reg a, slri_reg b)
{
    slri_reg dst = new_reg(s, kind);
    write_op(s, dst, op, kind, a, b);
    return dst;
}

static void write_math(struct selecting *s, slri_reg dst, enum slri_math_id id, slri_reg a)
{
    struct slri_instr *in = append_to(s, SLRI_OP_MATH, s->function->reg_kind[dst]);
    in->arg = slri_region_take(s->region, sizeof *in->arg);
    s->out_of_memory |= in->arg == NULL;
    in->imm = id;
    in->dst = dst;
    if (in->arg) {
        in->args = 1;
        in->arg->reg = a;
        count_read(s, a, 1);
    }
}

// ---- a branch ------------------------------------------------------------------------------------------------------

static slri_reg renamed(const struct selecting *s, slri_reg reg)
{
    return reg != SLRI_NO_REG && s->renamed[reg] ? s->renamed[reg] - 1 : reg;
}

static slri_reg write_renamed(struct selecting *s, const struct slri_instr *from)
{
    struct slri_instr made = *from;
    made.a = renamed(s, from->a);
    made.b = renamed(s, from->b);
    made.c = renamed(s, from->c);
    made.arg = from->args ? slri_region_take(s->region, from->args * sizeof *made.arg) : NULL;
    s->out_of_memory |= from->args && !made.arg;
    for (uint32_t i = 0; made.arg && i < from->args; i++) {
        made.arg[i] = from->arg[i];
        made.arg[i].reg = renamed(s, from->arg[i].reg);
    }
    made.args = made.arg ? from->args : 0;
    made.dst = new_reg(s, s->function->reg_kind[from->dst]);
    *append_to(s, from->op, from->kind) = made;
    count_reads(s, &made, 1);
    return made.dst;
}

static void write_side(struct selecting *s, const struct slri_block *block, struct side *side)
{
    const uint32_t count = block ? block->count : 0;
    side->reg = slri_region_take(s->region, (count + 1) * sizeof *side->reg);
    side->value = slri_region_take(s->region, (count + 1) * sizeof *side->value);
    s->out_of_memory |= !side->reg || !side->value;
    for (uint32_t i = 0; i < count && !s->out_of_memory; i++) {
        const struct slri_instr *in = &block->instr[i];
        if (!s->renamed[in->dst])
            side->reg[side->count++] = in->dst;
        slri_reg value = write_renamed(s, in);
        s->renamed[in->dst] = value + 1;
    }
    for (uint32_t i = 0; i < side->count; i++) {
        side->value[i] = renamed(s, side->reg[i]);
        s->renamed[side->reg[i]] = 0;
    }
}

// The side's value of a register, which is the one from before where it assigns none.
static slri_reg value_in(const struct side *side, slri_reg reg)
{
    for (uint32_t i = 0; i < side->count; i++)
        if (side->reg[i] == reg)
            return side->value[i];
    return reg;
}

static enum slri_kind bits_of(enum slri_kind kind)
{
    return kind == SLRI_F32 ? SLRI_U32 : kind == SLRI_F64 ? SLRI_I64 : kind;
}

static slri_reg take_bits(struct selecting *s, slri_reg value)
{
    enum slri_kind kind = s->function->reg_kind[value];
    if (kind == bits_of(kind))
        return value;
    slri_reg bits = new_reg(s, bits_of(kind));
    write_math(s, bits, kind == SLRI_F32 ? SLRI_MATH_FLOAT_AS_UINT : SLRI_MATH_DOUBLE_AS_LONGLONG, value);
    return bits;
}

// reg = mask ? yes : no
static void write_choice(struct selecting *s, slri_reg mask, slri_reg reg, slri_reg yes, slri_reg no)
{
    const enum slri_kind kind = s->function->reg_kind[reg], bits = bits_of(kind);
    yes = take_bits(s, yes);
    no = take_bits(s, no);
    slri_reg differ = make_op(s, SLRI_OP_XOR, bits, yes, no), taken = make_op(s, SLRI_OP_AND, bits, differ, mask);
    if (kind == bits) {
        write_op(s, reg, SLRI_OP_XOR, bits, taken, no);
        return;
    }
    slri_reg result = make_op(s, SLRI_OP_XOR, bits, taken, no);
    write_math(s, reg, kind == SLRI_F32 ? SLRI_MATH_UINT_AS_FLOAT : SLRI_MATH_LONGLONG_AS_DOUBLE, result);
}

// All bits of an I32 where the test is not zero.
static slri_reg write_mask(struct selecting *s, slri_reg test)
{
    slri_reg none = new_reg(s, SLRI_I32), is_set = new_reg(s, SLRI_I32);
    append_to(s, SLRI_OP_CONST, SLRI_I32)->dst = none;
    write_op(s, is_set, SLRI_OP_NE, SLRI_I32, test, none);
    return make_op(s, SLRI_OP_NEG, SLRI_I32, is_set, SLRI_NO_REG);
}

// The mask in the kind of the value's bits; made once a kind.
static slri_reg mask_for(struct selecting *s, slri_reg *mask, slri_reg reg)
{
    enum slri_kind bits = bits_of(s->function->reg_kind[reg]);
    if (mask[bits] == SLRI_NO_REG)
        mask[bits] = make_op(s, SLRI_OP_CONVERT, bits, mask[SLRI_I32], SLRI_NO_REG);
    return mask[bits];
}

static void write_choices(struct selecting *s, const struct side sides[2], slri_reg *mask)
{
    for (int of = 0; of < 2; of++)
        for (uint32_t i = 0; i < sides[of].count; i++) {
            slri_reg reg = sides[of].reg[i];
            bool is_done = of == 1 && value_in(&sides[0], reg) != reg;
            if (!is_done && s->reads[reg] > 0) // else it is the sides' own
                write_choice(s, mask_for(s, mask, reg), reg, value_in(&sides[0], reg), value_in(&sides[1], reg));
        }
}

static void write_branch(struct selecting *s, const struct slri_instr *in)
{
    struct side sides[2] = {{0}};
    slri_reg mask[SLRI_KIND_COUNT];
    for (uint32_t kind = 0; kind < SLRI_KIND_COUNT; kind++)
        mask[kind] = SLRI_NO_REG;
    s->where = in->where;
    mask[SLRI_I32] = write_mask(s, in->a);
    for (int of = 0; of < 2 && !s->out_of_memory; of++) {
        write_side(s, in->body[of], &sides[of]);
        for (uint32_t i = 0; in->body[of] && i < in->body[of]->count; i++)
            count_reads(s, &in->body[of]->instr[i], -1); // as they were: they are gone
    }
    count_read(s, in->a, -1);
    if (!s->out_of_memory)
        write_choices(s, sides, mask);
}

// ---- functions -----------------------------------------------------------------------------------------------------

static void write_block(struct selecting *s, struct slri_block *block);

static void write_instr(struct selecting *s, const struct slri_instr *in)
{
    for (int part = 0; part < 3; part++)
        write_block(s, in->body[part]);
    for (uint32_t c = 0; c < in->cases; c++)
        write_block(s, in->match[c].body);
    if (is_short(in))
        write_branch(s, in);
    else
        *append_to(s, in->op, in->kind) = *in;
}

static void write_block(struct selecting *s, struct slri_block *block)
{
    struct slri_block *outer = s->out, made = {0};
    if (!block || !block_has_short(block, false))
        return;
    s->out = &made;
    for (uint32_t i = 0; i < block->count && !s->out_of_memory; i++)
        write_instr(s, &block->instr[i]);
    *block = made;
    s->out = outer;
}

bool slri_select(struct slri_module *module)
{
    for (uint32_t f = 0; f < module->functions; f++) {
        struct selecting s = {.region = module->region, .function = module->function[f]};
        if (!make_room(&s))
            return false;
        count_block(&s, s.function->body);
        write_block(&s, s.function->body);
        if (s.out_of_memory)
            return false;
    }
    return true;
}
