// SPDX-License-Identifier: Apache-2.0
#include "ir/assigned.h"

enum { UNSEEN = SLRI_ASSIGNED_VARIABLE + 1 }; // while it is looked for: neither read nor assigned yet

struct search {
    struct slri_assigned *value;
    bool *is_open; // by number of the block
    uint32_t blocks;
};

// ---- assignments ---------------------------------------------------------------------------------------------------

static void count_assignment(const struct slri_instr *in, void *user)
{
    struct search *s = user;
    s->blocks += 3 + in->cases;
    if (in->dst == SLRI_NO_REG)
        return;
    s->value[in->dst].assignments++;
    s->value[in->dst].given = in;
}

// `given`: NULL, or what is known of a parameter.
static void arrives(struct slri_assigned *value, const struct slri_given *given)
{
    const bool is_literal = given && given->is_seen && !given->varies && value->assignments == 0;
    value->given = is_literal ? &given->literal : NULL;
    if (is_literal) {
        value->held = SLRI_ASSIGNED_LITERAL;
        return;
    }
    value->assignments++;
    value->block = 1; // the body
    value->held = value->assignments > 1 ? SLRI_ASSIGNED_VARIABLE : SLRI_ASSIGNED_VALUE;
}

static bool count(struct search *s, struct slri_region *region, const struct slri_entry *entry,
                  const struct slri_function *f, const struct slri_given *given)
{
    s->value = slri_region_take(region, (f->regs + (size_t)1) * sizeof *s->value);
    if (!s->value)
        return false;
    for (slri_reg reg = 0; reg < f->regs; reg++)
        s->value[reg].held = (enum slri_assigned_held)UNSEEN;
    slri_block_each(f->body, count_assignment, s);
    for (uint32_t i = 0; i < f->params; i++)
        arrives(&s->value[f->param[i].reg], given ? &given[i] : NULL);
    for (uint32_t i = 0; f == entry->function && i < entry->bindings; i++)
        if (!entry->binding[i].is_buffer && entry->binding[i].reg != SLRI_NO_REG) // a buffer's begins as 0
            arrives(&s->value[entry->binding[i].reg], NULL);
    return true;
}

struct slri_assigned *slri_assigned_count(struct slri_region *region, const struct slri_entry *entry,
                                          const struct slri_function *function, const struct slri_given *given)
{
    struct search s = {0};
    return count(&s, region, entry, function, given) ? s.value : NULL;
}

// ---- how each is held ----------------------------------------------------------------------------------------------

static void see_read(struct search *s, slri_reg reg)
{
    if (reg == SLRI_NO_REG)
        return;
    struct slri_assigned *value = &s->value[reg];
    value->reads++;
    if (value->assignments != 1 || !value->block || !s->is_open[value->block])
        value->held = value->assignments ? SLRI_ASSIGNED_VARIABLE : SLRI_ASSIGNED_LITERAL;
}

static void see_block(struct search *s, const struct slri_block *block, slri_reg last);

static void see_one(struct search *s, const struct slri_instr *in, uint32_t block)
{
    see_read(s, in->op == SLRI_OP_LOOP ? SLRI_NO_REG : in->a);
    see_read(s, in->b);
    see_read(s, in->c);
    for (uint32_t i = 0; i < in->args; i++)
        see_read(s, in->arg[i].reg);
    for (int part = 0; part < 3; part++)
        if (in->body[part])
            see_block(s, in->body[part], part == 0 && in->op == SLRI_OP_LOOP ? in->a : SLRI_NO_REG);
    for (uint32_t c = 0; c < in->cases; c++)
        see_block(s, in->match[c].body, SLRI_NO_REG);
    if (in->dst == SLRI_NO_REG)
        return;
    struct slri_assigned *value = &s->value[in->dst];
    if ((int)value->held == UNSEEN)
        value->held = value->assignments > 1    ? SLRI_ASSIGNED_VARIABLE
                      : in->op == SLRI_OP_CONST ? SLRI_ASSIGNED_LITERAL
                                                : SLRI_ASSIGNED_VALUE;
    value->block = block;
}

// `last` is read at its end.
static void see_block(struct search *s, const struct slri_block *block, slri_reg last)
{
    const uint32_t number = ++s->blocks;
    s->is_open[number] = true;
    for (uint32_t i = 0; i < block->count; i++)
        see_one(s, &block->instr[i], number);
    see_read(s, last);
    s->is_open[number] = false;
}

struct slri_assigned *slri_assigned_find(struct slri_region *region, const struct slri_entry *entry,
                                         const struct slri_function *function, const struct slri_given *given)
{
    struct search s = {.blocks = 2};
    if (!count(&s, region, entry, function, given))
        return NULL;
    s.is_open = slri_region_take(region, s.blocks);
    s.blocks = 0;
    if (!s.is_open)
        return NULL;
    see_block(&s, function->body, SLRI_NO_REG);
    for (slri_reg reg = 0; reg < function->regs; reg++)
        if ((int)s.value[reg].held == UNSEEN)
            s.value[reg].held = SLRI_ASSIGNED_LITERAL;
    return s.value;
}

// ---- parameters that are literals ----------------------------------------------------------------------------------

struct giving {
    struct slri_given **given;
    const struct slri_assigned *value; // of the calling function
};

static void note_given(struct slri_given *given, const struct slri_assigned *value)
{
    const bool is_const = value->assignments == 1 && value->given && value->given->op == SLRI_OP_CONST;
    const bool is_literal = value->assignments == 0 || is_const;
    const uint64_t imm = value->given && is_literal ? value->given->imm : 0;
    given->varies |= !is_literal || (given->is_seen && given->literal.imm != imm);
    given->is_seen = true;
    given->literal = (struct slri_instr){.op = SLRI_OP_CONST, .imm = imm};
}

static void note_call(const struct slri_instr *in, void *user)
{
    const struct giving *g = user;
    for (uint32_t i = 0; in->op == SLRI_OP_CALL && i < in->args; i++)
        note_given(&g->given[in->callee->index][i], &g->value[in->arg[i].reg]);
}

// Callers stand behind what they call, so what they are given themselves is known first.
struct slri_given **slri_assigned_given(struct slri_region *region, const struct slri_module *module,
                                        const struct slri_entry *entry)
{
    struct giving g = {.given = slri_region_take(region, (module->functions + (size_t)1) * sizeof *g.given)};
    for (uint32_t i = 0; g.given && i < module->functions; i++) {
        g.given[i] = slri_region_take(region, (module->function[i]->params + (size_t)1) * sizeof **g.given);
        if (!g.given[i])
            return NULL;
    }
    for (uint32_t i = g.given ? module->functions : 0; i-- > 0;) {
        g.value = slri_assigned_count(region, entry, module->function[i], g.given[i]);
        if (!g.value)
            return NULL;
        slri_block_each(module->function[i]->body, note_call, &g);
    }
    return g.given;
}
