// SPDX-License-Identifier: Apache-2.0
// Counted loops within a counted loop. Where each of them runs equally often in every trip of the one around it, all
// trips are known when the outermost begins.
#include "ir/pass/lower.h"

#define NEST_BODY 96u  // instructions, those within included: they are written twice
#define TRIPS_BITS 30u // of a loop, and of all that is within one trip: so no product of them wraps
#define SLICE_DEPTH 8u // of what a bound is computed from

// ---- which loops ---------------------------------------------------------------------------------------------------

static uint32_t weigh(const struct slri_block *block)
{
    uint32_t weight = block ? block->count : 0;
    for (uint32_t i = 0; block && i < block->count; i++) {
        const struct slri_instr *in = &block->instr[i];
        for (int part = 0; part < 3; part++)
            weight += weigh(in->body[part]);
        for (uint32_t k = 0; k < in->cases; k++)
            weight += weigh(in->match[k].body);
    }
    return weight;
}

// Whether it is that, or holds one outside of loops. Of a LOOP within: it does not run in each trip. Of a CONTINUE: it
// leaves out the loops behind it.
static bool has_within(const struct slri_instr *in, enum slri_op op)
{
    bool has = in->op == op;
    for (int part = 0; part < 2 && in->op != SLRI_OP_LOOP; part++)
        for (uint32_t i = 0; in->body[part] && i < in->body[part]->count; i++)
            has |= has_within(&in->body[part]->instr[i], op);
    for (uint32_t k = 0; k < in->cases; k++)
        for (uint32_t i = 0; i < in->match[k].body->count; i++)
            has |= has_within(&in->match[k].body->instr[i], op);
    return has;
}

// ---- what is known where the outermost begins ----------------------------------------------------------------------

struct place { // the first `end` instructions of a block: of a loop's test, or of its body
    const struct slri_nest *nest;
    uint32_t loop;
    bool in_body;
    uint32_t end;
};

static const struct slri_block *block_at(const struct place *p)
{
    return p->nest->loop[p->loop].loop->body[p->in_body ? 1 : 0];
}

// The instruction that gives the register its value there, and `p` before it. NULL: a value from before the nest, if
// `p` has come to its begin, else one that differs from trip to trip.
static const struct slri_instr *find_source(struct place *p, slri_reg reg)
{
    for (;;) {
        const struct slri_block *block = block_at(p);
        const struct slri_nest_loop *in = &p->nest->loop[p->loop];
        while (p->end > 0) {
            const struct slri_instr *instr = &block->instr[--p->end];
            if (instr->dst == reg)
                return instr;
            for (int part = 0; part < 3; part++)
                if (slri_assigned_in(instr->body[part], reg))
                    return NULL;
            for (uint32_t k = 0; k < instr->cases; k++)
                if (slri_assigned_in(instr->match[k].body, reg))
                    return NULL;
        }
        if (p->in_body) {
            *p = (struct place){p->nest, p->loop, false, in->loop->body[0]->count};
            continue;
        }
        p->end = 0;
        if (p->loop == 0 || slri_assigned_in(in->loop->body[1], reg) || slri_assigned_in(in->loop->body[2], reg))
            return NULL;
        *p = (struct place){p->nest, in->around, true, in->at};
    }
}

// Whether the outermost loop leaves it alone, so that it has its value there, too.
static bool is_from_before(const struct place *p, slri_reg reg)
{
    const struct slri_instr *outermost = p->nest->loop[0].loop;
    return p->loop == 0 && !p->in_body && p->end == 0 && !slri_assigned_in(outermost->body[0], reg) &&
           !slri_assigned_in(outermost->body[1], reg) && !slri_assigned_in(outermost->body[2], reg);
}

static bool computes_alone(const struct slri_lowering *l, const struct slri_instr *in)
{
    if (in->op == SLRI_OP_DIV || in->op == SLRI_OP_REM)
        return false;
    if (in->op == SLRI_OP_LOAD) // at a place that no INDEX must check first
        return in->root.kind == SLRI_ROOT_MESSAGE && !in->is_volatile &&
               slri_lower_is_literal(l, in->a, 0, l->handler->message->bytes - slri_kind_bytes(in->kind));
    return in->op <= SLRI_OP_CONVERT;
}

static bool is_known(const struct slri_lowering *l, struct place p, slri_reg reg, uint32_t depth)
{
    if (reg == SLRI_NO_REG || slri_lower_is_literal(l, reg, 0, UINT64_MAX))
        return true;
    const struct slri_instr *in = find_source(&p, reg);
    if (!in)
        return is_from_before(&p, reg);
    return depth > 0 && computes_alone(l, in) && is_known(l, p, in->a, depth - 1) && is_known(l, p, in->b, depth - 1);
}

// That value, computed once more.
static slri_reg put_known(struct slri_lowering *l, struct place p, slri_reg reg)
{
    if (reg == SLRI_NO_REG)
        return reg;
    if (slri_lower_is_literal(l, reg, 0, UINT64_MAX))
        return slri_lower_const(l, l->literal[reg]->kind, l->literal[reg]->imm);
    const struct slri_instr *in = find_source(&p, reg);
    if (!in)
        return reg;
    struct slri_instr made = *in;
    made.a = put_known(l, p, in->a);
    made.b = put_known(l, p, in->b);
    made.dst = slri_lower_reg(l, l->function->reg_kind[in->dst]);
    const struct slri_block one = {.instr = &made, .count = 1};
    slri_lower_instrs(l, &one);
    return made.dst;
}

static struct place before_loop(const struct slri_nest *nest, uint32_t loop)
{
    return (struct place){nest, nest->loop[loop].around, true, nest->loop[loop].at};
}

static struct place behind_test(const struct slri_nest *nest, uint32_t loop)
{
    return (struct place){nest, loop, false, nest->loop[loop].loop->body[0]->count};
}

// ---- the nest ------------------------------------------------------------------------------------------------------

static bool add_loop(const struct slri_lowering *l, const struct slri_block *block, uint32_t index, uint32_t around,
                     bool is_common, struct slri_nest *out)
{
    const struct slri_instr *loop = &block->instr[index];
    const uint32_t own = out->loops;
    if (own == SLRI_NEST_LOOPS)
        return false;
    struct slri_nest_loop *made = &out->loop[out->loops++];
    *made = (struct slri_nest_loop){.loop = loop, .around = around, .at = index};
    if (!slri_lower_counts(l, loop, true, &made->counted) || slri_lower_is_common(l, block, index) != is_common)
        return false;
    if (own > 0 && !(is_known(l, before_loop(out, own), made->counted.induction, SLICE_DEPTH) &&
                     is_known(l, behind_test(out, own), made->counted.bound, SLICE_DEPTH)))
        return false;
    bool skips = false;
    for (uint32_t i = 0; i < loop->body[1]->count; i++) {
        const struct slri_instr *in = &loop->body[1]->instr[i];
        skips |= has_within(in, SLRI_OP_CONTINUE);
        if (in->op == SLRI_OP_LOOP ? !add_loop(l, loop->body[1], i, own, is_common, out) : has_within(in, SLRI_OP_LOOP))
            return false;
    }
    return out->loops == own + 1 || !skips;
}

bool slri_lower_find_nest(const struct slri_lowering *l, const struct slri_instr *loop, bool is_common,
                          struct slri_nest *out)
{
    out->loops = 0;
    bool is_nest = weigh(loop->body[1]) <= NEST_BODY && add_loop(l, l->from_block, l->from_index, 0, is_common, out) &&
                   out->loops > 1;
    out->loops = is_nest ? out->loops : 0;
    return is_nest;
}

// All trips within one begin of the loop; `wide` becomes an OR of all that must have TRIPS_BITS.
static slri_reg put_all_trips(struct slri_lowering *l, const struct slri_nest *nest, uint32_t loop, slri_reg *wide)
{
    struct slri_counted counted = nest->loop[loop].counted;
    if (loop > 0) {
        counted.induction = put_known(l, before_loop(nest, loop), counted.induction);
        counted.bound = put_known(l, behind_test(nest, loop), counted.bound);
    }
    slri_reg trips = slri_lower_trips(l, &counted), each = SLRI_NO_REG;
    for (uint32_t i = loop + 1; i < nest->loops; i++) {
        if (nest->loop[i].around != loop)
            continue;
        slri_reg within = put_all_trips(l, nest, i, wide);
        *wide = *wide == SLRI_NO_REG ? within : slri_lower_op(l, SLRI_OP_OR, SLRI_U64, *wide, within);
        if (each == SLRI_NO_REG)
            each = slri_lower_const(l, SLRI_U64, 1);
        each = slri_lower_op(l, SLRI_OP_ADD, SLRI_U64, each, within);
    }
    if (each == SLRI_NO_REG)
        return trips;
    *wide = slri_lower_op(l, SLRI_OP_OR, SLRI_U64, *wide, trips);
    return slri_lower_op(l, SLRI_OP_MUL, SLRI_U64, trips, each);
}

slri_reg slri_lower_affords(struct slri_lowering *l, const struct slri_nest *nest, slri_reg fuel, slri_reg *trips)
{
    slri_reg wide = SLRI_NO_REG;
    *trips = put_all_trips(l, nest, 0, &wide);
    slri_reg enough = slri_lower_op(l, SLRI_OP_LT, SLRI_U64, *trips, fuel);
    if (wide == SLRI_NO_REG)
        return enough;
    slri_reg most = slri_lower_const(l, SLRI_U64, UINT64_C(1) << TRIPS_BITS);
    slri_reg fits = slri_lower_op(l, SLRI_OP_LT, SLRI_U64, wide, most);
    return slri_lower_op(l, SLRI_OP_AND, SLRI_I32, fits, enough);
}
