// SPDX-License-Identifier: Apache-2.0
// Functions in which threads wait, so that all of a block come to each wait.
#include "ir/pass/meet.h"
#include "base/status.h"
#include "ir/pass/meet_internal.h"
#include "ir/pass/lower.h"
#include "ir/uniform.h"

#include <string.h>

struct here {
    struct here *outer;
    slri_reg reg;   // I32: the thread is here
    bool ends_loop; // who breaks is not here any more; who continues is
};

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

static void meet_block(struct meeting *v, const struct slri_block *block, struct here *here);

static void meet_refuse(struct meeting *v, const struct slri_instr *in, const char *why)
{
    if (v->refused == SLR_OK)
        v->refused = SLRI_FAIL(UNSUPPORTED, "%s:%u: %s cannot synchronise here: %s", v->module->file[in->where.file],
                               in->where.line, v->language, why);
}

// ---- small pieces --------------------------------------------------------------------------------------------------

static slri_reg constant(struct meeting *v, uint32_t value)
{
    return slri_lower_const(&v->l, SLRI_I32, value);
}

static slri_reg binary(struct meeting *v, enum slri_op op, slri_reg a, slri_reg b)
{
    return slri_lower_op(&v->l, op, SLRI_I32, a, b);
}

static slri_reg meet_is_zero(struct meeting *v, slri_reg a)
{
    return binary(v, SLRI_OP_EQ, a, constant(v, 0));
}

static slri_reg is_some(struct meeting *v, slri_reg a)
{
    return binary(v, SLRI_OP_NE, a, constant(v, 0));
}

static slri_reg any_of(struct meeting *v, slri_reg a)
{
    slri_reg dst = slri_lower_reg(&v->l, SLRI_I32);
    struct slri_instr *in = slri_lower_append(&v->l, SLRI_OP_BARRIER, SLRI_VOID);
    in->imm = SLRI_BARRIER_OR;
    in->dst = dst;
    in->a = a;
    return dst;
}

static slri_reg meet_copy_of(struct meeting *v, slri_reg of)
{
    slri_reg made = slri_lower_reg(&v->l, SLRI_I32);
    slri_lower_set(&v->l, made, SLRI_OP_MOVE, SLRI_I32, of, SLRI_NO_REG);
    return made;
}

static slri_reg reg_of(struct meeting *v, const struct here *here)
{
    return here ? here->reg : constant(v, 1);
}

static void append_same(struct meeting *v, const struct slri_instr *in)
{
    *slri_lower_append(&v->l, in->op, in->kind) = *in;
}

static struct slri_block *inner(struct meeting *v, const struct slri_block *block, struct here *here)
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
    return meet_varies(v, condition) ? any_of(v, condition) : condition;
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

static void meet_if(struct meeting *v, const struct slri_instr *in, struct here *here)
{
    struct here side[2];
    slri_reg on = reg_of(v, here);
    for (int i = 0; i < 2; i++) {
        slri_reg taken = i == 0 ? is_some(v, in->a) : meet_is_zero(v, in->a);
        side[i] = (struct here){.outer = here, .reg = in->body[i] ? binary(v, SLRI_OP_AND, on, taken) : taken};
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
static void meet_loop(struct meeting *v, const struct slri_instr *in, struct here *here)
{
    struct here stays = {.outer = here, .reg = meet_copy_of(v, reg_of(v, here)), .ends_loop = true};
    struct slri_block *behind = v->l.block, *test = slri_lower_block(&v->l), *body = slri_lower_block(&v->l);
    v->l.block = body;
    struct here round = {.outer = &stays, .reg = meet_copy_of(v, stays.reg)};
    meet_block(v, in->body[1], &round);
    if (in->body[2])
        meet_block(v, in->body[2], &stays);
    v->l.block = test;
    meet_block(v, in->body[0], &stays);
    if (in->a != SLRI_NO_REG)
        slri_lower_set(&v->l, stays.reg, SLRI_OP_AND, SLRI_I32, stays.reg, is_some(v, in->a));
    slri_reg any = any_of(v, stays.reg);
    v->l.block = behind;
    struct slri_instr *to = slri_lower_append(&v->l, SLRI_OP_LOOP, SLRI_VOID);
    to->do_while = in->do_while;
    to->a = any;
    to->body[0] = test;
    to->body[1] = body;
}

// Who is here leaves.
static void meet_jump(struct meeting *v, const struct slri_instr *in, struct here *here)
{
    if (!here) {
        append_same(v, in);
        return;
    }
    struct slri_block *behind = slri_lower_if(&v->l, here->reg, NULL);
    if (in->op == SLRI_OP_RETURN && in->a != SLRI_NO_REG)
        slri_lower_set(&v->l, v->result, SLRI_OP_MOVE, v->source->result, in->a, SLRI_NO_REG);
    for (const struct here *at = here; at; at = at->outer) {
        if (at->ends_loop && in->op == SLRI_OP_CONTINUE)
            break;
        slri_lower_set_const(&v->l, at->reg, SLRI_I32, 0);
        if (at->ends_loop && in->op == SLRI_OP_BREAK)
            break;
    }
    v->l.block = behind;
}

// ---- where they wait -----------------------------------------------------------------------------------------------

static void meet_barrier(struct meeting *v, const struct slri_instr *in, struct here *here)
{
    if (!here || in->imm == SLRI_BARRIER_SYNC) {
        append_same(v, in);
        return;
    }
    bool all = in->imm == SLRI_BARRIER_AND; // no one who is here has none
    slri_reg given = binary(v, SLRI_OP_AND, here->reg, all ? meet_is_zero(v, in->a) : is_some(v, in->a));
    struct slri_instr *to = slri_lower_append(&v->l, SLRI_OP_BARRIER, SLRI_VOID);
    to->imm = all ? SLRI_BARRIER_OR : in->imm;
    to->dst = in->dst;
    to->a = given;
    if (all)
        slri_lower_set(&v->l, in->dst, SLRI_OP_EQ, SLRI_I32, in->dst, constant(v, 0));
}

static struct slri_arg *args_of(struct meeting *v, const struct slri_instr *in, uint32_t more)
{
    struct slri_arg *arg = slri_region_take(v->l.region, (in->args + (size_t)more + 1) * sizeof *arg);
    v->l.out_of_memory |= !arg;
    if (arg && in->args)
        memcpy(arg, in->arg, in->args * sizeof *arg);
    return arg;
}

static slri_reg lanes_here(struct meeting *v, const struct here *here)
{
    struct slri_arg *arg = slri_region_take(v->l.region, 2 * sizeof *arg);
    v->l.out_of_memory |= !arg;
    slri_reg full = slri_lower_const(&v->l, SLRI_U32, UINT32_MAX), dst = slri_lower_reg(&v->l, SLRI_U32);
    struct slri_instr *in = slri_lower_append(&v->l, SLRI_OP_WARP, SLRI_VOID);
    in->imm = SLRI_WARP_BALLOT;
    in->dst = dst;
    in->arg = arg;
    in->args = arg ? 2 : 0;
    if (arg) {
        arg[0] = (struct slri_arg){.reg = full};
        arg[1] = (struct slri_arg){.reg = here->reg};
    }
    return dst;
}

// Those who are here take part with those of their mask who are; the others with one another.
static slri_reg mask_of(struct meeting *v, const struct here *here, slri_reg mask)
{
    slri_reg lanes = lanes_here(v, here), others = slri_lower_op(&v->l, SLRI_OP_NOT, SLRI_U32, lanes, SLRI_NO_REG);
    slri_reg made = slri_lower_reg(&v->l, SLRI_U32);
    struct slri_block *other = NULL, *behind = slri_lower_if(&v->l, here->reg, &other);
    slri_lower_set(&v->l, made, SLRI_OP_AND, SLRI_U32, mask, lanes);
    v->l.block = other;
    slri_lower_set(&v->l, made, SLRI_OP_MOVE, SLRI_U32, others, SLRI_NO_REG);
    v->l.block = behind;
    return made;
}

static void move_here(struct meeting *v, const struct here *here, slri_reg to, slri_reg from)
{
    struct slri_block *behind = slri_lower_if(&v->l, here->reg, NULL);
    slri_lower_set(&v->l, to, SLRI_OP_MOVE, v->l.function->reg_kind[to], from, SLRI_NO_REG);
    v->l.block = behind;
}

static bool is_shuffle(const struct slri_instr *in)
{
    return in->imm >= SLRI_WARP_SHUFFLE && in->imm <= SLRI_WARP_SHUFFLE_XOR;
}

// A width that only those here know would be 0 for the others.
static slri_reg width_of(struct meeting *v, const struct here *here, slri_reg width)
{
    slri_reg made = slri_lower_reg(&v->l, SLRI_I32);
    slri_lower_set_const(&v->l, made, SLRI_I32, SLRI_WARP_THREADS);
    move_here(v, here, made, width);
    return made;
}

static void meet_warp(struct meeting *v, const struct slri_instr *in, struct here *here)
{
    if (!here) {
        append_same(v, in);
        return;
    }
    slri_reg given;
    if (in->imm == SLRI_WARP_ACTIVE) {
        given = lanes_here(v, here);
    } else {
        struct slri_instr warp = *in;
        warp.arg = args_of(v, in, 0);
        if (!warp.arg)
            return;
        warp.arg[0].reg = mask_of(v, here, in->arg[0].reg);
        if (is_shuffle(in))
            warp.arg[3].reg = width_of(v, here, in->arg[3].reg);
        given = in->dst == SLRI_NO_REG ? in->dst : slri_lower_reg(&v->l, v->l.function->reg_kind[in->dst]);
        warp.dst = given;
        append_same(v, &warp);
    }
    if (in->dst != SLRI_NO_REG)
        move_here(v, here, in->dst, given);
}

static void meet_call(struct meeting *v, const struct slri_instr *in, struct here *here)
{
    struct slri_instr call = *in;
    slri_reg on = reg_of(v, here);
    call.arg = args_of(v, in, 1);
    if (!call.arg)
        return;
    call.arg[call.args++] = (struct slri_arg){.reg = on};
    if (in->dst != SLRI_NO_REG && here)
        call.dst = slri_lower_reg(&v->l, v->l.function->reg_kind[in->dst]);
    append_same(v, &call);
    if (in->dst != SLRI_NO_REG && here)
        move_here(v, here, in->dst, call.dst);
}

// ---- blocks --------------------------------------------------------------------------------------------------------

static void meet_one(struct meeting *v, const struct slri_block *block, uint32_t index, struct here *here)
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
        meet_barrier(v, in, here);
        break;
    case SLRI_OP_WARP:
        meet_warp(v, in, here);
        break;
    case SLRI_OP_CALL:
        meet_call(v, in, here);
        break;
    default: // BREAK, CONTINUE, RETURN
        meet_jump(v, in, here);
        break;
    }
}

// What only temporaries hold is for all: a constant.
static bool meet_is_for_all(const struct meeting *v, const struct slri_instr *in)
{
    return in->op == SLRI_OP_CONST && !v->source->reg_name[in->dst];
}

static void meet_block(struct meeting *v, const struct slri_block *block, struct here *here)
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
        append_same(v, in);
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
    struct here base = {0};
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
    base.reg = is_entry ? meet_copy_of(v, constant(v, 1)) : meet_copy_of(v, base.reg);
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
