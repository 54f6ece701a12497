// SPDX-License-Identifier: Apache-2.0
// What a loop's next trip reads is asked for while this trip computes, where the hardware would not: rows of a tile
// are a line or two each, pages apart, and their first loads stand behind the whole of the trip's arithmetic.
//
// The address is this trip's plus what the offset grows by in a trip. It need not be right: a prefetch has no effect
// that can be seen, and it is computed as an integer, because it may lie outside of the buffer.
#include "emit/c/plan.h"

#define LINE 64
#define FOLLOWED (2 * LINE) // steps of so many bytes the hardware's own prefetcher follows
#define ROW_LIMIT (2 * LINE)

// What a register grows by from trip to trip. A literal one's value is known.
struct growth {
    enum { STAYS, GROWS, UNKNOWN } how;
    bool literal;
    int64_t by;
};

static const struct growth stays = {STAYS, true, 0}, unknown = {UNKNOWN, false, 0};

// Where it is asked: what is assigned anew in a trip may be made of itself in many ways, so the search has an end.
struct search {
    const struct slri_c_emitter *e;
    const struct slri_instr *loop;
    uint32_t left; // registers that may still be looked at
};
#define REGISTERS 64 // between a counter and an offset there are some ten

// In a loop: the test, the body and the step.
static struct slri_c_assigned assigned_in(const struct slri_c_emitter *e, const struct slri_instr *loop, slri_reg reg)
{
    struct slri_c_assigned out = {0};
    for (int part = 0; part < 3; part++)
        if (loop->body[part]) {
            struct slri_c_assigned in = slri_c_assigned(e, loop->body[part], reg);
            out = (struct slri_c_assigned){out.count + in.count, in.last ? in.last : out.last};
        }
    return out;
}

static struct growth growth_of(struct search *s, slri_reg reg);

static bool literal_of(const struct slri_c_emitter *e, slri_reg reg, int64_t *value)
{
    uint64_t bits;
    bool known = slri_c_is_literal(e, reg, &bits);
    *value = known ? (int64_t)bits : 0;
    return known;
}

// Of a register with one assignment in the loop: `r = r + step`.
static bool is_counter(const struct slri_instr *in)
{
    return in->op == SLRI_OP_ADD && in->a == in->dst && !slri_kind_is_float(in->kind);
}

static struct growth of_sum(struct growth a, struct growth b, bool minus)
{
    struct growth out = {a.how == GROWS || b.how == GROWS ? GROWS : STAYS, a.literal && b.literal, 0};
    if (out.literal &&
        (minus ? __builtin_sub_overflow(a.by, b.by, &out.by) : __builtin_add_overflow(a.by, b.by, &out.by)))
        return unknown;
    return out;
}

// `factor`: of what grows.
static struct growth of_product(const struct slri_c_emitter *e, struct growth grown, slri_reg factor, bool is_shift)
{
    int64_t by = 0;
    bool literal = literal_of(e, factor, &by);
    if (e->kernel->value[factor].level == SLRI_LEVEL_LANE || (is_shift && (!literal || by < 0 || by > 31)))
        return unknown;
    by = is_shift ? INT64_C(1) << by : by;
    struct growth out = {GROWS, grown.literal && literal, 0};
    return out.literal && __builtin_mul_overflow(grown.by, by, &out.by) ? unknown : out;
}

static struct growth of_operator(struct search *s, const struct slri_instr *in)
{
    if (in->op == SLRI_OP_BUILTIN)
        return stays;
    if (in->op > SLRI_OP_CONVERT || slri_kind_is_float(in->kind))
        return unknown;
    struct growth a = in->a == SLRI_NO_REG ? stays : growth_of(s, in->a);
    struct growth b = in->b == SLRI_NO_REG ? stays : growth_of(s, in->b);
    if (a.how == UNKNOWN || b.how == UNKNOWN)
        return unknown;
    if (a.how == STAYS && b.how == STAYS)
        return stays;
    switch (in->op) {
    case SLRI_OP_MOVE:
    case SLRI_OP_CONVERT:
        return a;
    case SLRI_OP_ADD:
    case SLRI_OP_SUB:
        return of_sum(a, b, in->op == SLRI_OP_SUB);
    case SLRI_OP_MUL:
        return a.how == b.how ? unknown
                              : of_product(s->e, a.how == GROWS ? a : b, a.how == GROWS ? in->b : in->a, false);
    case SLRI_OP_SHL:
        return b.how == GROWS ? unknown : of_product(s->e, a, in->b, true);
    default:
        return unknown;
    }
}

static struct growth growth_of(struct search *s, slri_reg reg)
{
    int64_t step;
    struct slri_c_assigned assigned = assigned_in(s->e, s->loop, reg);
    if (literal_of(s->e, reg, &step) || assigned.count == 0)
        return stays;
    if (s->left == 0 || assigned.count > 1)
        return unknown;
    s->left--;
    if (!is_counter(assigned.last))
        return of_operator(s, assigned.last);
    if (s->e->kernel->value[assigned.last->b].level == SLRI_LEVEL_LANE || growth_of(s, assigned.last->b).how != STAYS)
        return unknown;
    bool literal = literal_of(s->e, assigned.last->b, &step);
    return (struct growth){GROWS, literal, step};
}

static struct growth growth_in(const struct slri_c_emitter *e, const struct slri_instr *loop, slri_reg reg)
{
    return reg == SLRI_NO_REG ? stays : growth_of(&(struct search){e, loop, REGISTERS}, reg);
}

// ---- text ----------------------------------------------------------------------------------------------------------

static void put_growth(struct slri_c_emitter *e, const struct slri_instr *loop, slri_reg reg)
{
    const struct slri_instr *in = assigned_in(e, loop, reg).last;
    if (is_counter(in)) {
        slri_c_put(e, "(int64_t)");
        slri_c_register(e, in->b);
        return;
    }
    bool a = growth_in(e, loop, in->a).how == GROWS, b = growth_in(e, loop, in->b).how == GROWS;
    bool is_product = in->op == SLRI_OP_MUL || in->op == SLRI_OP_SHL;
    slri_c_put(e, "(");
    if (a)
        put_growth(e, loop, in->a);
    if (b) {
        slri_c_put(e, in->op == SLRI_OP_SUB ? " - " : in->op == SLRI_OP_ADD ? " + " : "");
        put_growth(e, loop, in->b);
    }
    if (is_product) {
        slri_c_put(e, in->op == SLRI_OP_SHL ? " << " : " * (int64_t)");
        slri_c_register(e, a ? in->b : in->a);
    }
    slri_c_put(e, ")");
}

// A row of lanes that lies in a line or two, in another place in each trip.
static bool is_worth_it(const struct slri_c_emitter *e, const struct slri_instr *loop, const struct slri_instr *in)
{
    const struct slri_c_kernel *k = e->kernel;
    if (in->op != SLRI_OP_LOAD || in->is_volatile || in->root.kind != SLRI_ROOT_BINDING || in->a == SLRI_NO_REG)
        return false;
    const struct slri_c_value *value = &k->value[in->a];
    if (value->level != SLRI_LEVEL_LANE || !value->linear || !value->wide || !value->stride_known ||
        value->stride < 0 || value->stride * k->block[0] > ROW_LIMIT)
        return false;
    struct growth growth = growth_in(e, loop, in->a);
    return growth.how == GROWS && (!growth.literal || growth.by > FOLLOWED || growth.by < -FOLLOWED);
}

void slri_c_put_ahead(struct slri_c_emitter *e, const struct slri_block *run)
{
    const struct slri_c_kernel *k = e->kernel;
    if (!k->around || !k->row_nest || k->mask || !e->is_grid)
        return;
    for (uint32_t i = 0; i < run->count; i++) {
        const struct slri_instr *in = &run->instr[i];
        if (!is_worth_it(e, k->around, in))
            continue;
        for (int64_t at = 0; at < k->value[in->a].stride * k->block[0]; at += LINE) {
            slri_c_begin(e, in->where);
            slri_c_put(e, "__builtin_prefetch((const void *)((uintptr_t)");
            slri_c_root(e, in->root);
            slri_c_put(e, " + (uintptr_t)(");
            slri_c_part(e, in->a, 'f');
            slri_c_put(e, " + ");
            put_growth(e, k->around, in->a);
            slri_text_printf(e->out, " + %lld)), 0, 2);", (long long)at); // to L2: tiles often share sets of L1
        }
    }
}
