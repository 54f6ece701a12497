// SPDX-License-Identifier: Apache-2.0
#include "ir/pass/exits.h"
#include "ir/pass/here.h"

#include <string.h>

struct exits {
    struct slri_lowering l;
    struct slri_region *scratch;
    uint32_t *reads, *inside;          // by register: in the function, and in the loop that is looked at
    bool *is_set;                      // by register: in the loop's parts in question
    uint32_t regs;                     // of the function as it was
    bool waits, writes_own, is_needed; // writes_own: memory of a thread's own, in the loop's parts in question
    slri_reg result, returned;         // what a loop returns, and whether it does
};

// The loop around what is being written, where it is one of these. NULL: none, or another.
struct around {
    slri_reg stays; // I32
    bool in_switch; // a BREAK is the switch's
};

// ---- which loops ---------------------------------------------------------------------------------------------------

static void exits_reads(const struct slri_instr *in, uint32_t *reads)
{
    const slri_reg reg[] = {in->a, in->b, in->c};
    for (size_t i = 0; i < sizeof reg / sizeof *reg; i++)
        if (reg[i] != SLRI_NO_REG)
            ++reads[reg[i]];
    for (uint32_t i = 0; i < in->args; i++)
        if (in->arg[i].reg != SLRI_NO_REG)
            ++reads[in->arg[i].reg];
}

static void note_all(const struct slri_instr *in, void *user)
{
    struct exits *e = user;
    exits_reads(in, e->reads);
}

static void note_inside(const struct slri_instr *in, void *user)
{
    struct exits *e = user;
    exits_reads(in, e->inside);
    e->waits |= slri_instr_waits(in);
}

// A thread's own memory is as its registers: drivers hold it there.
static void note_set(const struct slri_instr *in, void *user)
{
    struct exits *e = user;
    if (in->dst != SLRI_NO_REG)
        e->is_set[in->dst] = true;
    e->writes_own |= in->op != SLRI_OP_LOAD && slri_root_is_own(in->root);
    for (uint32_t i = 0; i < in->args; i++)
        e->writes_own |= slri_root_is_own(in->arg[i].root);
}

// Whether a BREAK in the block is that of the loop around it.
static bool breaks(const struct slri_block *block)
{
    for (uint32_t i = 0; block && i < block->count; i++) {
        const struct slri_instr *in = &block->instr[i];
        if (in->op == SLRI_OP_BREAK || (in->op == SLRI_OP_IF && (breaks(in->body[0]) || breaks(in->body[1]))))
            return true;
    }
    return false;
}

// Whether a thread that leaves the loop there does something before. `in_switch`: a BREAK is not the loop's.
static bool leaves_busy(const struct slri_block *block, bool in_switch)
{
    for (uint32_t i = 0; block && i < block->count; i++) {
        const struct slri_instr *in = &block->instr[i];
        if (i > 0 && (in->op == SLRI_OP_RETURN || (in->op == SLRI_OP_BREAK && !in_switch)))
            return true;
        const bool is_switch = in->op == SLRI_OP_SWITCH;
        for (int part = 0; part < 2 && in->op == SLRI_OP_IF; part++)
            if (leaves_busy(in->body[part], in_switch))
                return true;
        for (uint32_t c = 0; c < in->cases; c++)
            if (leaves_busy(in->match[c].body, in_switch || is_switch))
                return true;
    }
    return false;
}

// Whether what it sets in a turn that a thread leaves elsewhere than at the head is read behind it, or on the way out.
static bool needs(struct exits *e, const struct slri_instr *loop)
{
    const uint32_t regs = e->regs;
    const bool leaves_body = loop->do_while || breaks(loop->body[1]) || slri_instr_returns(loop);
    memset(e->inside, 0, regs * sizeof *e->inside);
    memset(e->is_set, 0, regs * sizeof *e->is_set);
    e->waits = e->writes_own = false;
    exits_reads(loop, e->inside);
    for (int part = 0; part < 3; part++) {
        slri_block_each(loop->body[part], note_inside, e);
        if (part == 0 || leaves_body)
            slri_block_each(loop->body[part], note_set, e);
    }
    const bool gives_value = e->l.function->result != SLRI_VOID && slri_instr_returns(loop);
    bool found = gives_value || e->writes_own || leaves_busy(loop->body[1], false);
    for (uint32_t reg = 0; reg < regs && !found; reg++)
        found = e->is_set[reg] && e->reads[reg] > e->inside[reg];
    return found && !e->waits;
}

// ---- writing -------------------------------------------------------------------------------------------------------

static void exits_block(struct exits *e, const struct slri_block *block, const struct around *around);

static struct slri_block *written(struct exits *e, const struct slri_block *block, const struct around *around)
{
    if (!block)
        return NULL;
    struct slri_block *behind = e->l.block, *made = slri_lower_block(&e->l);
    e->l.block = made;
    exits_block(e, block, around);
    e->l.block = behind;
    return made;
}

static void leave(struct exits *e, const struct around *around)
{
    slri_lower_set_const(&e->l, around->stays, SLRI_I32, 0);
    slri_lower_append(&e->l, SLRI_OP_CONTINUE, SLRI_VOID);
}

static void exits_return(struct exits *e, const struct slri_instr *in, const struct around *around)
{
    if (!around) {
        slri_here_same(&e->l, in);
        return;
    }
    if (in->a != SLRI_NO_REG)
        slri_lower_set(&e->l, e->result, SLRI_OP_MOVE, e->l.function->result, in->a, SLRI_NO_REG);
    slri_lower_set_const(&e->l, e->returned, SLRI_I32, 1);
    leave(e, around);
}

// Behind a loop in which threads may have returned.
static void go_on_returning(struct exits *e, const struct around *outer)
{
    struct slri_block *behind = slri_lower_if(&e->l, e->returned, NULL);
    if (outer)
        leave(e, outer);
    else
        slri_lower_append(&e->l, SLRI_OP_RETURN, SLRI_VOID)->a = e->result;
    e->l.block = behind;
}

// The loop's test, once a turn: before its body, or behind its step.
static void exits_test(struct exits *e, const struct slri_instr *loop, const struct around *around)
{
    exits_block(e, loop->body[0], NULL);
    if (loop->a == SLRI_NO_REG)
        return;
    if (loop->do_while) {
        slri_lower_set(&e->l, around->stays, SLRI_OP_MOVE, SLRI_I32, loop->a, SLRI_NO_REG);
        return;
    }
    struct slri_block *behind = slri_lower_if(&e->l, slri_here_is_zero(&e->l, loop->a), NULL);
    leave(e, around);
    e->l.block = behind;
}

// Where a thread that has left comes through, only who stays takes the step.
static struct slri_block *put_step(struct exits *e, const struct slri_instr *loop, const struct around *around)
{
    if (!loop->body[2] && !loop->do_while)
        return NULL;
    struct slri_block *outer = e->l.block, *made = slri_lower_block(&e->l);
    e->l.block = made;
    if (!loop->do_while || breaks(loop->body[1]) || slri_instr_returns(loop))
        slri_lower_if(&e->l, around->stays, NULL);
    if (loop->body[2])
        exits_block(e, loop->body[2], NULL);
    if (loop->do_while)
        exits_test(e, loop, around);
    e->l.block = outer;
    return made;
}

static void exits_loop(struct exits *e, const struct slri_instr *loop, const struct around *outer)
{
    struct around around = {.stays = slri_lower_reg(&e->l, SLRI_I32)};
    const bool returns = slri_instr_returns(loop);
    slri_lower_set_const(&e->l, around.stays, SLRI_I32, 1);
    if (returns)
        slri_lower_set_const(&e->l, e->returned, SLRI_I32, 0);
    struct slri_block *behind = e->l.block, *test = slri_lower_block(&e->l), *body = slri_lower_block(&e->l);
    e->l.block = body;
    if (!loop->do_while)
        exits_test(e, loop, &around);
    exits_block(e, loop->body[1], &around);
    struct slri_block *step = put_step(e, loop, &around);
    e->l.block = behind;
    struct slri_instr *to = slri_here_same(&e->l, loop);
    to->do_while = false;
    to->a = around.stays;
    to->body[0] = test;
    to->body[1] = body;
    to->body[2] = step;
    if (returns)
        go_on_returning(e, outer);
}

static void put_branch(struct exits *e, const struct slri_instr *in, const struct around *around)
{
    const bool is_loop = in->op == SLRI_OP_LOOP;
    struct around within = around ? *around : (struct around){0};
    struct slri_instr made = *in;
    within.in_switch |= in->op == SLRI_OP_SWITCH;
    const struct around *inside = is_loop || !around ? NULL : &within;
    for (int part = 0; part < 3; part++)
        made.body[part] = written(e, in->body[part], inside);
    if (in->cases) {
        made.match = slri_region_take(e->l.region, in->cases * sizeof *made.match);
        e->l.out_of_memory |= !made.match;
        if (!made.match)
            return;
        for (uint32_t c = 0; c < in->cases; c++) {
            made.match[c] = in->match[c];
            made.match[c].body = written(e, in->match[c].body, inside);
        }
    }
    slri_here_same(&e->l, &made);
}

static void exits_block(struct exits *e, const struct slri_block *block, const struct around *around)
{
    for (uint32_t i = 0; i < block->count && !e->l.out_of_memory; i++) {
        const struct slri_instr *in = &block->instr[i];
        e->l.where = in->where;
        if (in->op == SLRI_OP_LOOP && needs(e, in))
            exits_loop(e, in, around);
        else if (in->op == SLRI_OP_IF || in->op == SLRI_OP_LOOP || in->op == SLRI_OP_SWITCH)
            put_branch(e, in, around);
        else if (in->op == SLRI_OP_BREAK && around && !around->in_switch)
            leave(e, around);
        else if (in->op == SLRI_OP_RETURN)
            exits_return(e, in, around);
        else
            slri_here_same(&e->l, in);
    }
}

// ---- functions -----------------------------------------------------------------------------------------------------

static void look_for_loop(const struct slri_instr *in, void *user)
{
    struct exits *e = user;
    e->is_needed |= in->op == SLRI_OP_LOOP && needs(e, in);
}

static bool change(struct exits *e, struct slri_function *function)
{
    e->l.function = function;
    e->l.where = function->where;
    e->regs = function->regs;
    e->reads = slri_region_take(e->scratch, (e->regs + (size_t)1) * sizeof *e->reads);
    e->inside = slri_region_take(e->scratch, (e->regs + (size_t)1) * sizeof *e->inside);
    e->is_set = slri_region_take(e->scratch, (e->regs + (size_t)1) * sizeof *e->is_set);
    if (!e->reads || !e->inside || !e->is_set)
        return false;
    slri_block_each(function->body, note_all, e);
    e->is_needed = false;
    slri_block_each(function->body, look_for_loop, e);
    if (!e->is_needed)
        return true;
    e->result = function->result == SLRI_VOID ? SLRI_NO_REG : slri_lower_reg(&e->l, function->result);
    e->returned = slri_lower_reg(&e->l, SLRI_I32);
    struct slri_block *made = written(e, function->body, NULL);
    function->body = made;
    return !e->l.out_of_memory;
}

bool slri_exits(struct slri_module *module)
{
    struct exits e = {.l = {.from = module, .region = module->region}, .scratch = slri_region_create()};
    bool fine = e.scratch != NULL;
    for (uint32_t i = 0; i < module->functions && fine; i++)
        fine = change(&e, module->function[i]);
    slri_region_destroy(e.scratch);
    return fine;
}
