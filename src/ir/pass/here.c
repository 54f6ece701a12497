// SPDX-License-Identifier: Apache-2.0
#include "ir/pass/here.h"

#include <string.h>

slri_reg slri_here_reg(struct slri_lowering *l, const struct slri_here *here)
{
    return here ? here->reg : slri_lower_const(l, SLRI_I32, 1);
}

slri_reg slri_here_is_zero(struct slri_lowering *l, slri_reg a)
{
    return slri_lower_op(l, SLRI_OP_EQ, SLRI_I32, a, slri_lower_const(l, SLRI_I32, 0));
}

slri_reg slri_here_is_some(struct slri_lowering *l, slri_reg a)
{
    return slri_lower_op(l, SLRI_OP_NE, SLRI_I32, a, slri_lower_const(l, SLRI_I32, 0));
}

slri_reg slri_here_both(struct slri_lowering *l, slri_reg a, slri_reg b)
{
    return slri_lower_op(l, SLRI_OP_AND, SLRI_I32, a, b);
}

slri_reg slri_here_copy(struct slri_lowering *l, slri_reg a)
{
    slri_reg made = slri_lower_reg(l, SLRI_I32);
    slri_lower_set(l, made, SLRI_OP_MOVE, SLRI_I32, a, SLRI_NO_REG);
    return made;
}

slri_reg slri_here_any_of(struct slri_lowering *l, slri_reg a)
{
    slri_reg dst = slri_lower_reg(l, SLRI_I32);
    struct slri_instr *in = slri_lower_append(l, SLRI_OP_BARRIER, SLRI_VOID);
    in->imm = SLRI_BARRIER_OR;
    in->dst = dst;
    in->a = a;
    return dst;
}

struct slri_instr *slri_here_same(struct slri_lowering *l, const struct slri_instr *in)
{
    struct slri_instr *made = slri_lower_append(l, in->op, in->kind);
    *made = *in;
    return made;
}

// ---- jumps ---------------------------------------------------------------------------------------------------------

void slri_here_jump(struct slri_lowering *l, const struct slri_here *here, const struct slri_instr *in, slri_reg result)
{
    if (!here) {
        slri_here_same(l, in);
        return;
    }
    struct slri_block *behind = slri_lower_if(l, here->reg, NULL);
    if (in->op == SLRI_OP_RETURN && in->a != SLRI_NO_REG)
        slri_lower_set(l, result, SLRI_OP_MOVE, l->function->reg_kind[result], in->a, SLRI_NO_REG);
    for (const struct slri_here *at = here; at; at = at->outer) {
        if (at->ends_loop && in->op == SLRI_OP_CONTINUE)
            break;
        slri_lower_set_const(l, at->reg, SLRI_I32, 0);
        if (at->ends_loop && in->op == SLRI_OP_BREAK)
            break;
    }
    l->block = behind;
}

// ---- where they wait -----------------------------------------------------------------------------------------------

void slri_here_barrier(struct slri_lowering *l, const struct slri_here *here, const struct slri_instr *in)
{
    if (!here || in->imm == SLRI_BARRIER_SYNC) {
        slri_here_same(l, in);
        return;
    }
    bool all = in->imm == SLRI_BARRIER_AND; // no one who is here has none
    slri_reg given = slri_here_both(l, here->reg, all ? slri_here_is_zero(l, in->a) : slri_here_is_some(l, in->a));
    struct slri_instr *to = slri_lower_append(l, SLRI_OP_BARRIER, SLRI_VOID);
    to->imm = all ? SLRI_BARRIER_OR : in->imm;
    to->dst = in->dst;
    to->a = given;
    if (all && in->dst != SLRI_NO_REG)
        slri_lower_set(l, in->dst, SLRI_OP_MOVE, SLRI_I32, slri_here_is_zero(l, in->dst), SLRI_NO_REG);
}

static struct slri_arg *args_and(struct slri_lowering *l, const struct slri_instr *in, uint32_t more)
{
    struct slri_arg *arg = slri_region_take(l->region, (in->args + (size_t)more + 1) * sizeof *arg);
    l->out_of_memory |= !arg;
    if (arg && in->args)
        memcpy(arg, in->arg, in->args * sizeof *arg);
    return arg;
}

static slri_reg lanes_here(struct slri_lowering *l, const struct slri_here *here)
{
    struct slri_arg *arg = args_and(l, &(struct slri_instr){0}, 2);
    slri_reg full = slri_lower_const(l, SLRI_U32, UINT32_MAX), dst = slri_lower_reg(l, SLRI_U32);
    struct slri_instr *in = slri_lower_append(l, SLRI_OP_WARP, SLRI_VOID);
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
static slri_reg mask_of(struct slri_lowering *l, const struct slri_here *here, slri_reg mask)
{
    slri_reg lanes = lanes_here(l, here), others = slri_lower_op(l, SLRI_OP_NOT, SLRI_U32, lanes, SLRI_NO_REG);
    slri_reg made = slri_lower_reg(l, SLRI_U32);
    struct slri_block *other = NULL, *behind = slri_lower_if(l, here->reg, &other);
    slri_lower_set(l, made, SLRI_OP_AND, SLRI_U32, mask, lanes);
    l->block = other;
    slri_lower_set(l, made, SLRI_OP_MOVE, SLRI_U32, others, SLRI_NO_REG);
    l->block = behind;
    return made;
}

static void move_here(struct slri_lowering *l, const struct slri_here *here, slri_reg to, slri_reg from)
{
    struct slri_block *behind = slri_lower_if(l, here->reg, NULL);
    slri_lower_set(l, to, SLRI_OP_MOVE, l->function->reg_kind[to], from, SLRI_NO_REG);
    l->block = behind;
}

static bool is_shuffle(const struct slri_instr *in)
{
    return in->imm >= SLRI_WARP_SHUFFLE && in->imm <= SLRI_WARP_SHUFFLE_XOR;
}

// A width that only those here know would be 0 for the others.
static slri_reg width_of(struct slri_lowering *l, const struct slri_here *here, slri_reg width)
{
    slri_reg made = slri_lower_reg(l, SLRI_I32);
    slri_lower_set_const(l, made, SLRI_I32, SLRI_WARP_THREADS);
    move_here(l, here, made, width);
    return made;
}

void slri_here_warp(struct slri_lowering *l, const struct slri_here *here, const struct slri_instr *in)
{
    if (!here) {
        slri_here_same(l, in);
        return;
    }
    slri_reg given;
    if (in->imm == SLRI_WARP_ACTIVE) {
        given = lanes_here(l, here);
    } else {
        struct slri_instr warp = *in;
        warp.arg = args_and(l, in, 0);
        if (!warp.arg)
            return;
        warp.arg[0].reg = mask_of(l, here, in->arg[0].reg);
        if (is_shuffle(in))
            warp.arg[3].reg = width_of(l, here, in->arg[3].reg);
        given = in->dst == SLRI_NO_REG ? in->dst : slri_lower_reg(l, l->function->reg_kind[in->dst]);
        warp.dst = given;
        slri_here_same(l, &warp);
    }
    if (in->dst != SLRI_NO_REG)
        move_here(l, here, in->dst, given);
}

void slri_here_call(struct slri_lowering *l, const struct slri_here *here, const struct slri_instr *in,
                    const struct slri_function *callee)
{
    struct slri_instr call = *in;
    slri_reg on = slri_here_reg(l, here);
    call.callee = callee;
    call.arg = args_and(l, in, 1);
    if (!call.arg)
        return;
    call.arg[call.args++] = (struct slri_arg){.reg = on};
    if (in->dst != SLRI_NO_REG && here)
        call.dst = slri_lower_reg(l, l->function->reg_kind[in->dst]);
    slri_here_same(l, &call);
    if (in->dst != SLRI_NO_REG && here)
        move_here(l, here, in->dst, call.dst);
}
