// SPDX-License-Identifier: Apache-2.0
// Functions in which threads wait, so that all of a block come to each wait.
#include "ir/pass/meet.h"
#include "base/status.h"
#include "ir/pass/here.h"
#include "ir/pass/meet_internal.h"
#include "ir/uniform.h"

#include <string.h>

struct meeting {
    struct slri_lowering l;
    struct slri_module *module;
    struct slri_uniform *uniform;
    struct slri_region *scratch;
    const char *language;
    const struct slri_function *source; // as it was
    struct slri_plain *plain;           // by function
    struct slri_function *was;          // likewise, as they were
    slri_reg result;
    slr_status refused;
};

static void meet_block(struct meeting *v, const struct slri_block *block, struct slri_here *here);

static void meet_refuse(struct meeting *v, const struct slri_instr *in, const char *why)
{
    if (v->refused == SLR_OK)
        v->refused = SLRI_FAIL(UNSUPPORTED, "%s:%u: %s cannot synchronise here: %s", v->module->file[in->where.file],
                               in->where.line, v->language, why);
}

// ---- small pieces --------------------------------------------------------------------------------------------------

static struct slri_block *inner(struct meeting *v, const struct slri_block *block, struct slri_here *here)
{
    if (!block)
        return NULL;
    struct slri_block *behind = v->l.block, *made = slri_lower_block(&v->l);
    v->l.block = made;
    meet_block(v, block, here);
    v->l.block = behind;
    return made;
}

static bool meet_varies(const struct meeting *v, slri_reg reg)
{
    return v->plain[v->source->index].varies[reg];
}

// A condition on which all threads agree, so that a compiler sees that they do.
static slri_reg agreed(struct meeting *v, slri_reg condition)
{
    return meet_varies(v, condition) ? slri_here_any_of(&v->l, condition) : condition;
}

// ---- branches ------------------------------------------------------------------------------------------------------

static void put_common_if(struct meeting *v, const struct slri_instr *in)
{
    slri_reg condition = agreed(v, in->a);
    struct slri_block *body = inner(v, in->body[0], NULL), *other = inner(v, in->body[1], NULL);
    struct slri_instr *to = slri_lower_append(&v->l, SLRI_OP_IF, SLRI_VOID);
    to->a = condition;
    to->body[0] = body;
    to->body[1] = other;
}

static void meet_if(struct meeting *v, const struct slri_instr *in, struct slri_here *here)
{
    struct slri_here side[2];
    slri_reg on = slri_here_reg(&v->l, here);
    for (int i = 0; i < 2; i++) {
        slri_reg taken = i == 0 ? slri_here_is_some(&v->l, in->a) : slri_here_is_zero(&v->l, in->a);
        side[i] = (struct slri_here){.outer = here, .reg = in->body[i] ? slri_here_both(&v->l, on, taken) : taken};
    }
    for (int i = 0; i < 2; i++)
        if (in->body[i])
            meet_block(v, in->body[i], &side[i]);
}

// ---- loops ---------------------------------------------------------------------------------------------------------

static bool leave_together(const struct meeting *v, const struct slri_block *block)
{
    for (uint32_t i = 0; block && i < block->count; i++) {
        const struct slri_instr *in = &block->instr[i];
        if (!slri_instr_leaves(in))
            continue;
        bool is_branch = in->op == SLRI_OP_IF || in->op == SLRI_OP_LOOP || in->op == SLRI_OP_SWITCH;
        if (is_branch && !slri_uniform_branch(v->uniform, v->l.function, in))
            return false;
        for (int part = 0; part < 3; part++)
            if (!leave_together(v, in->body[part]))
                return false;
        for (uint32_t c = 0; c < in->cases; c++)
            if (!leave_together(v, in->match[c].body))
                return false;
    }
    return true;
}

static bool is_common_loop(const struct meeting *v, const struct slri_instr *in)
{
    return slri_uniform_branch(v->uniform, v->l.function, in) && leave_together(v, in->body[1]);
}

static void put_common_loop(struct meeting *v, const struct slri_instr *in)
{
    struct slri_block *behind = v->l.block, *test = slri_lower_block(&v->l);
    v->l.block = test;
    meet_block(v, in->body[0], NULL);
    slri_reg condition = in->a == SLRI_NO_REG ? in->a : agreed(v, in->a);
    v->l.block = behind;
    struct slri_block *body = inner(v, in->body[1], NULL), *step = inner(v, in->body[2], NULL);
    struct slri_instr *to = slri_lower_append(&v->l, SLRI_OP_LOOP, SLRI_VOID);
    *to = *in;
    to->a = condition;
    to->body[0] = test;
    to->body[1] = body;
    to->body[2] = step;
}

// Who goes on is in `stays`; who is in this round, in `round`.
static void meet_loop(struct meeting *v, const struct slri_instr *in, struct slri_here *here)
{
    struct slri_here stays = {
        .outer = here, .reg = slri_here_copy(&v->l, slri_here_reg(&v->l, here)), .ends_loop = true};
    struct slri_block *behind = v->l.block, *test = slri_lower_block(&v->l), *body = slri_lower_block(&v->l);
    v->l.block = body;
    struct slri_here round = {.outer = &stays, .reg = slri_here_copy(&v->l, stays.reg)};
    meet_block(v, in->body[1], &round);
    if (in->body[2])
        meet_block(v, in->body[2], &stays);
    v->l.block = test;
    meet_block(v, in->body[0], &stays);
    if (in->a != SLRI_NO_REG)
        slri_lower_set(&v->l, stays.reg, SLRI_OP_AND, SLRI_I32, stays.reg, slri_here_is_some(&v->l, in->a));
    slri_reg any = slri_here_any_of(&v->l, stays.reg);
    v->l.block = behind;
    struct slri_instr *to = slri_lower_append(&v->l, SLRI_OP_LOOP, SLRI_VOID);
    to->do_while = in->do_while;
    to->a = any;
    to->body[0] = test;
    to->body[1] = body;
}

// ---- blocks --------------------------------------------------------------------------------------------------------

static void meet_one(struct meeting *v, const struct slri_block *block, uint32_t index, struct slri_here *here)
{
    const struct slri_instr *in = &block->instr[index];
    switch (in->op) {
    case SLRI_OP_IF:
        if (!here && slri_uniform_branch(v->uniform, v->l.function, in))
            put_common_if(v, in);
        else
            meet_if(v, in, here);
        break;
    case SLRI_OP_LOOP:
        if (!here && is_common_loop(v, in))
            put_common_loop(v, in);
        else
            meet_loop(v, in, here);
        break;
    case SLRI_OP_SWITCH:
        meet_refuse(v, in, "a switch around it, and not all threads come the same way; write it with if");
        break;
    case SLRI_OP_BARRIER:
        if (!slri_uniform_flow(v->uniform, v->l.function, block, index))
            meet_refuse(v, in, "not all threads of the block come here; take the branch around it away");
        slri_here_barrier(&v->l, here, in);
        break;
    case SLRI_OP_WARP:
        slri_here_warp(&v->l, here, in);
        break;
    case SLRI_OP_CALL:
        slri_here_call(&v->l, here, in, in->callee);
        break;
    default: // BREAK, CONTINUE, RETURN
        slri_here_jump(&v->l, here, in, v->result);
        break;
    }
}

// What only temporaries hold is for all: a constant.
static bool meet_is_for_all(const struct meeting *v, const struct slri_instr *in)
{
    return in->op == SLRI_OP_CONST && !v->source->reg_name[in->dst];
}

static void meet_block(struct meeting *v, const struct slri_block *block, struct slri_here *here)
{
    const struct slri_where where = v->l.where;
    struct slri_block *behind = NULL; // of the IF that is open
    for (uint32_t i = 0; i < block->count && v->refused == SLR_OK; i++) {
        const struct slri_instr *in = &block->instr[i];
        const bool plain = slri_instr_is_plain(in);
        v->l.where = in->where;
        if (behind && (!plain || meet_is_for_all(v, in))) {
            v->l.block = behind;
            behind = NULL;
        }
        if (!plain) {
            meet_one(v, block, i, here);
            continue;
        }
        if (here && !behind && !meet_is_for_all(v, in))
            behind = slri_lower_if(&v->l, here->reg, NULL);
        slri_here_same(&v->l, in);
    }
    if (behind)
        v->l.block = behind;
    v->l.where = where;
}

// ---- functions -----------------------------------------------------------------------------------------------------

static bool meet_add_param(struct meeting *v, slri_reg *out)
{
    struct slri_function *function = v->l.function;
    struct slri_param *param = slri_region_take(v->l.region, (function->params + (size_t)1) * sizeof *param);
    if (!param)
        return false;
    if (function->params)
        memcpy(param, function->param, function->params * sizeof *param);
    *out = slri_lower_reg(&v->l, SLRI_I32);
    param[function->params++] = (struct slri_param){.name = "here", .reg = *out};
    function->param = param;
    return true;
}

static bool returns_apart(const struct meeting *v)
{
    return !leave_together(v, v->source->body);
}

static bool meet_function(struct meeting *v, uint32_t index)
{
    struct slri_function *function = v->module->function[index];
    struct slri_here base = {0};
    v->source = &v->was[index];
    v->l.function = function;
    v->l.where = function->where;
    v->l.block = slri_lower_block(&v->l);
    function->body = v->l.block;
    const bool is_entry = v->module->entry->function == function;
    v->result = function->result == SLRI_VOID ? SLRI_NO_REG : slri_lower_reg(&v->l, function->result);
    if (!is_entry && !meet_add_param(v, &base.reg))
        return false;
    function->uses |= SLRI_USES_BARRIER; // where a loop or a branch asks all
    if (is_entry && !returns_apart(v)) {
        meet_block(v, v->source->body, NULL);
        return !v->l.out_of_memory;
    }
    base.reg = is_entry ? slri_here_copy(&v->l, slri_here_reg(&v->l, NULL)) : slri_here_copy(&v->l, base.reg);
    meet_block(v, v->source->body, &base);
    if (function->result != SLRI_VOID)
        slri_lower_append(&v->l, SLRI_OP_RETURN, SLRI_VOID)->a = v->result;
    return !v->l.out_of_memory;
}

static bool waits(const struct slri_function *function)
{
    return function->uses & (SLRI_USES_BARRIER | SLRI_USES_WARP);
}

// The functions as they were: what is known of their registers and blocks is asked by them.
static bool look(struct meeting *v, bool *is_met)
{
    const struct slri_module *module = v->module;
    v->plain = slri_region_take(v->scratch, (module->functions + (size_t)1) * sizeof *v->plain);
    v->was = slri_region_take(v->scratch, (module->functions + (size_t)1) * sizeof *v->was);
    *is_met = true;
    for (uint32_t i = 0; v->plain && v->was && i < module->functions; i++) {
        if (!waits(module->function[i]))
            continue;
        v->plain[i] = (struct slri_plain){.entry = module->entry, .function = module->function[i]};
        if (!slri_plain_find(&v->plain[i], v->scratch))
            return false;
        *is_met &= slri_plain_meets(&v->plain[i]);
    }
    return v->plain && v->was;
}

static slr_status meet_all(struct meeting *v)
{
    bool is_met = false;
    if (!look(v, &is_met))
        return SLR_NO_MEMORY;
    if (is_met)
        return SLR_OK;
    v->uniform = slri_uniform_create(v->module, v->module->entry, v->scratch);
    if (!v->uniform)
        return SLR_NO_MEMORY;
    for (uint32_t i = 0; i < v->module->functions && v->refused == SLR_OK; i++)
        if (waits(v->module->function[i])) {
            v->was[i] = *v->module->function[i];
            if (!meet_function(v, i))
                return SLR_NO_MEMORY;
        }
    return v->refused;
}

slr_status slri_meet_kernel(struct slri_module *module, const char *language)
{
    struct meeting v = {.module = module, .language = language, .l = {.from = module, .region = module->region}};
    if (!(module->entry->function->uses & (SLRI_USES_BARRIER | SLRI_USES_WARP)))
        return SLR_OK;
    v.scratch = slri_region_create();
    slr_status status = v.scratch ? meet_all(&v) : SLR_NO_MEMORY;
    slri_region_destroy(v.scratch);
    if (status == SLR_NO_MEMORY)
        return SLRI_FAIL(NO_MEMORY, "no memory to have the threads of '%s' meet", module->entry->name);
    const char *broken = status == SLR_OK ? slri_module_verify(module) : NULL;
    return broken ? SLRI_FAIL(INTERNAL, "the kernel '%s', whose threads meet: %s", module->entry->name, broken)
                  : status;
}
