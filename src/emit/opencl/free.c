// SPDX-License-Identifier: Apache-2.0
// What threads that are not there may do as if they were: it touches nothing that anybody looks at. And which loops
// they leave with the others.
#include "emit/opencl/level.h"

// ---- what all may do -----------------------------------------------------------------------------------------------

struct count {
    slri_reg reg;
    uint32_t mentions;
};

static uint32_t mentions_in(const struct slri_instr *in, slri_reg reg)
{
    uint32_t found = (in->dst == reg) + (in->a == reg) + (in->b == reg) + (in->c == reg);
    for (uint32_t i = 0; i < in->args; i++)
        found += in->arg[i].reg == reg;
    return found;
}

static bool counts_mentions(const struct slri_c_emitter *c, const struct slri_instr *in, void *user)
{
    (void)c;
    struct count *count = user;
    count->mentions += mentions_in(in, count->reg);
    return false;
}

static bool touches_nothing(struct slri_d_emitter *e, const struct slri_instr *in)
{
    if (slri_d_may_fault(e, in))
        return false;
    return in->op <= SLRI_OP_CONVERT || in->op == SLRI_OP_MATH || in->op == SLRI_OP_BUILTIN ||
           in->op == SLRI_OP_INSTANCE || in->op == SLRI_OP_PRESENT;
}

bool slri_opencl_is_free(struct slri_opencl_emitter *o, slri_reg reg)
{
    const struct slri_level_here *here = o->here;
    struct count count = {.reg = reg};
    if (!here || !here->owner)
        return true;
    if (here->comes_back)
        return false;
    if (here->owner->op == SLRI_OP_IF)
        slri_c_any(&o->e.c, here->block, counts_mentions, &count);
    for (int part = 0; part < 3 && here->owner->op == SLRI_OP_LOOP; part++)
        if (here->owner->body[part])
            slri_c_any(&o->e.c, here->owner->body[part], counts_mentions, &count);
    return count.mentions == o->mentions[reg];
}

bool slri_opencl_is_for_all(struct slri_opencl_emitter *o, const struct slri_instr *in)
{
    return !o->here || (touches_nothing(&o->e, in) && slri_opencl_is_free(o, in->dst));
}

// ---- loops that all threads leave together -------------------------------------------------------------------------

struct certainty {
    struct slri_opencl_emitter *o;
    const struct slri_instr *loop;
    const struct slri_block *around; // that holds the loop
    uint8_t *asked;                  // by register: 1 while its answer is being found, or is yes
};

static bool is_certain(struct certainty *c, slri_reg reg);

static bool is_level(const struct certainty *c, const struct slri_block *block)
{
    return block == c->around || block == c->o->e.c.function->body || block == c->loop->body[0] ||
           block == c->loop->body[1] || block == c->loop->body[2];
}

// Whether all assignments to the register in this block are of values that are certain, and for all.
static bool assigns_certainly(struct certainty *c, const struct slri_block *block, slri_reg reg)
{
    for (uint32_t i = 0; block && i < block->count; i++) {
        const struct slri_instr *in = &block->instr[i];
        for (int part = 0; part < 3; part++)
            if (!assigns_certainly(c, in->body[part], reg))
                return false;
        for (uint32_t k = 0; k < in->cases; k++)
            if (!assigns_certainly(c, in->match[k].body, reg))
                return false;
        if (in->dst != reg)
            continue;
        bool is_place = in->op == SLRI_OP_BUILTIN && in->imm <= SLRI_BUILTIN_THREAD_Z;
        if (!is_level(c, block) || is_place || !touches_nothing(&c->o->e, in))
            return false;
        if (block != c->o->e.c.function->body && !slri_opencl_is_free(c->o, reg))
            return false;
        const slri_reg operands[] = {in->a, in->b, in->c};
        for (int k = 0; k < 3; k++)
            if (operands[k] != SLRI_NO_REG && !is_certain(c, operands[k]))
                return false;
        for (uint32_t k = 0; k < in->args; k++)
            if (!is_certain(c, in->arg[k].reg))
                return false;
    }
    return true;
}

// The same in all threads, there or not: made of constants, the grid and what the launch gives.
static bool is_certain(struct certainty *c, slri_reg reg)
{
    const struct slri_function *function = c->o->e.c.function;
    if (c->asked[reg])
        return true;
    for (uint32_t i = 0; i < function->params; i++)
        if (function->param[i].reg == reg)
            return false;
    c->asked[reg] = 1;
    return assigns_certainly(c, function->body, reg);
}

bool slri_opencl_leave_together(struct slri_opencl_emitter *o, const struct slri_instr *loop,
                                const struct slri_block *around)
{
    struct certainty c = {o, loop, around, NULL};
    if (slri_instr_has_jumps(loop) ||
        slri_d_traits(&o->e, o->e.c.function)->in_handler) // where a fault leaves a loop, too
        return false;
    if (!o->here && slri_uniform_branch(o->uniform[o->e.entry - o->e.c.module->entry], o->e.c.function, loop))
        return true;
    c.asked = slri_region_take(o->e.c.scratch, o->e.c.function->regs + 1);
    return c.asked && loop->a != SLRI_NO_REG && is_certain(&c, loop->a);
}
