// SPDX-License-Identifier: Apache-2.0
// Barriers of which it is certain now that some threads of a block reach them and others do not: those under a
// condition that only constants and threadIdx.x go into, and that already the threads of one warp do not agree on. What
// cannot be proven is left to the interpreter.
#include "lang/lower/lower.h"

struct proof {
    struct slri_lowering *all;
    const struct slri_function *function;
    const struct slri_instr **maker;    // by register: the only instruction that assigns it, or NULL
    uint8_t *assigned;                  // how often: 0, 1, or 2 for more
    const struct slri_instr *condition; // the innermost branch around that is proven to diverge
    uint32_t thread;                    // that goes another way than thread 0
    bool reports, found;
};

static void count_assignments(struct proof *p, const struct slri_block *block)
{
    for (uint32_t i = 0; block && i < block->count; i++) {
        const struct slri_instr *in = &block->instr[i];
        if (in->dst != SLRI_NO_REG) {
            p->maker[in->dst] = in;
            p->assigned[in->dst] += p->assigned[in->dst] < 2;
        }
        for (int part = 0; part < 3; part++)
            count_assignments(p, in->body[part]);
        for (uint32_t c = 0; c < in->cases; c++)
            count_assignments(p, in->match[c].body);
    }
}

// The register's value in thread `x` of a block; false where more goes into it than constants and threadIdx.x.
static bool value_of(const struct proof *p, slri_reg reg, uint32_t x, uint32_t *steps, uint64_t *out)
{
    const struct slri_instr *in = reg < p->function->regs && p->assigned[reg] == 1 ? p->maker[reg] : NULL;
    uint64_t a = 0, b = 0;
    if (!in || *steps == 0)
        return false;
    --*steps;
    switch (in->op) {
    case SLRI_OP_CONST:
        *out = in->imm;
        return true;
    case SLRI_OP_BUILTIN:
        *out = x;
        return in->imm == SLRI_BUILTIN_THREAD_X;
    case SLRI_OP_MOVE:
        return value_of(p, in->a, x, steps, out);
    case SLRI_OP_CONVERT:
        if (!value_of(p, in->a, x, steps, &a))
            return false;
        *out = slri_fold_convert(p->function->reg_kind[in->a], in->kind, a);
        return true;
    case SLRI_OP_NEG:
    case SLRI_OP_NOT:
        if (!value_of(p, in->a, x, steps, &a))
            return false;
        *out = slri_fold_unary(in->op, in->kind, a);
        return true;
    default:
        return in->op >= SLRI_OP_ADD && in->op <= SLRI_OP_GE && value_of(p, in->a, x, steps, &a) &&
               value_of(p, in->b, x, steps, &b) && slri_fold_binary(in->op, in->kind, a, b, out);
    }
}

#define STEPS_LIMIT 100 // of one evaluation: conditions are short, and the same register may be asked for often

// The first thread of a warp that the condition sends another way than thread 0; 0 where none is known to be.
static uint32_t find_dissenter(const struct proof *p, slri_reg condition)
{
    uint64_t first, other;
    uint32_t steps = STEPS_LIMIT;
    if (!value_of(p, condition, 0, &steps, &first))
        return 0;
    for (uint32_t x = 1; x < SLRI_WARP_THREADS; x++) {
        steps = STEPS_LIMIT;
        if (value_of(p, condition, x, &steps, &other) && !other != !first)
            return x;
    }
    return 0;
}

static void report(struct proof *p, const struct slri_instr *barrier)
{
    p->found = true;
    if (!p->reports || !slri_lower_is_news(p->all, barrier->where, SLRI_K_DIVERGED_BARRIER))
        return;
    SLRI_ERROR(p->all->unit, barrier->where, DIVERGED_BARRIER,
               "only some threads of a block reach this barrier: the condition in line %u sends threads 0 and %u "
               "different ways",
               p->condition->where.line, p->thread);
}

static void search(struct proof *p, const struct slri_block *block)
{
    for (uint32_t i = 0; block && i < block->count; i++) {
        const struct slri_instr *in = &block->instr[i], *outer = p->condition;
        uint32_t outer_thread = p->thread, dissenter = in->op == SLRI_OP_IF ? find_dissenter(p, in->a) : 0;
        bool has_barrier = in->op == SLRI_OP_BARRIER || (in->callee && (in->callee->uses & SLRI_USES_BARRIER));
        if (has_barrier && p->condition)
            report(p, in);
        if (dissenter) {
            p->condition = in;
            p->thread = dissenter;
        }
        for (int part = 0; part < 3; part++)
            search(p, in->body[part]);
        for (uint32_t c = 0; c < in->cases; c++)
            search(p, in->match[c].body);
        p->condition = outer;
        p->thread = outer_thread;
    }
}

static bool diverges(struct slri_lowering *all, const struct slri_function *function, bool reports)
{
    struct proof p = {.all = all, .function = function, .reports = reports};
    p.maker = slri_unit_take(all->unit, (function->regs + 1) * sizeof *p.maker);
    p.assigned = slri_unit_take(all->unit, function->regs + 1);
    for (uint32_t reg = 0; reg < function->params; reg++)
        p.assigned[function->param[reg].reg]++;
    count_assignments(&p, function->body);
    search(&p, function->body);
    return p.found;
}

// Each function once, however many entries call it.
void slri_find_diverging(struct slri_lowering *all)
{
    for (uint32_t i = 0; i < all->module->functions; i++) {
        const struct slri_function *function = all->module->function[i];
        if (!(function->uses & SLRI_USES_BARRIER) || !diverges(all, function, false))
            continue;
        struct slri_diverging *made = slri_unit_take(all->unit, sizeof *made);
        *made = (struct slri_diverging){.function = function, .next = all->diverging};
        all->diverging = made;
    }
}

void slri_report_diverging(struct slri_lowering *all, const struct slri_function *function)
{
    diverges(all, function, true);
}
