// SPDX-License-Identifier: Apache-2.0
// Finds a loop's counter, its bound and its stride.
#include "ir/counted.h"

#define STRIDE_LIMIT 65536

bool slri_assigned_in(const struct slri_block *block, slri_reg reg)
{
    for (uint32_t i = 0; block && i < block->count; i++) {
        const struct slri_instr *in = &block->instr[i];
        if (in->dst == reg || slri_assigned_in(in->body[0], reg) || slri_assigned_in(in->body[1], reg) ||
            slri_assigned_in(in->body[2], reg))
            return true;
        for (uint32_t k = 0; k < in->cases; k++)
            if (slri_assigned_in(in->match[k].body, reg))
                return true;
    }
    return false;
}

const struct slri_instr *slri_last_assignment(const struct slri_block *block, uint32_t end, slri_reg reg)
{
    while (end-- > 0)
        if (block->instr[end].dst == reg)
            return &block->instr[end];
    return NULL;
}

// Has no effect but its dst, cannot fault, and reads no memory that the loop could write.
static bool is_pure(const struct slri_instr *in)
{
    if (in->op == SLRI_OP_DIV || in->op == SLRI_OP_REM)
        return slri_kind_is_float(in->kind);
    if (in->op == SLRI_OP_LOAD)
        return !in->is_volatile && (in->root.kind == SLRI_ROOT_MESSAGE || in->root.kind == SLRI_ROOT_CONST);
    return in->op <= SLRI_OP_CONVERT || in->op == SLRI_OP_MATH || in->op == SLRI_OP_INSTANCE ||
           in->op == SLRI_OP_MESSAGES;
}

static bool all_pure(const struct slri_block *block)
{
    for (uint32_t i = 0; i < block->count; i++)
        if (!is_pure(&block->instr[i]))
            return false;
    return true;
}

// Whether the register, read at the end of the test's first `end` instructions, has the same value in every trip.
static bool is_invariant(const struct slri_instr *loop, uint32_t end, slri_reg reg)
{
    const struct slri_block *test = loop->body[0];
    const struct slri_instr *in = slri_last_assignment(test, end, reg);
    if (reg == SLRI_NO_REG || (in && in->op == SLRI_OP_CONST))
        return true;
    if (slri_assigned_in(loop->body[1], reg) || slri_assigned_in(loop->body[2], reg))
        return false;
    if (!in)
        return !slri_assigned_in(test, reg);
    end = (uint32_t)(in - test->instr);
    for (uint32_t i = 0; i < in->args; i++)
        if (!is_invariant(loop, end, in->arg[i].reg))
            return false;
    return is_invariant(loop, end, in->a) && is_invariant(loop, end, in->b);
}

// The register that `reg`, at the end of the block's first `end` instructions, is a copy of.
static slri_reg origin(const struct slri_block *block, uint32_t end, slri_reg reg)
{
    const struct slri_instr *in = slri_last_assignment(block, end, reg);
    while (in && in->op == SLRI_OP_MOVE) {
        end = (uint32_t)(in - block->instr);
        reg = in->a;
        in = slri_last_assignment(block, end, reg);
    }
    return in ? SLRI_NO_REG : reg;
}

static bool find_test(const struct slri_instr *loop, struct slri_counted *out)
{
    const struct slri_block *test = loop->body[0];
    const struct slri_instr *compare = loop->a == SLRI_NO_REG ? NULL : slri_last_assignment(test, test->count, loop->a);
    if (loop->do_while || !compare || compare->op < SLRI_OP_LT || compare->op > SLRI_OP_GE ||
        slri_kind_is_float(compare->kind) || !all_pure(test))
        return false;
    uint32_t end = (uint32_t)(compare - test->instr);
    bool swapped = is_invariant(loop, end, compare->a);
    *out = (struct slri_counted){.induction = origin(test, end, swapped ? compare->b : compare->a),
                                 .bound = swapped ? compare->a : compare->b,
                                 .kind = compare->kind,
                                 .inclusive = compare->op == SLRI_OP_LE || compare->op == SLRI_OP_GE};
    bool upwards = (compare->op == SLRI_OP_LT || compare->op == SLRI_OP_LE) != swapped;
    out->stride = upwards ? 1 : -1;
    return out->induction != SLRI_NO_REG && is_invariant(loop, end, out->bound);
}

bool slri_counted_literal(const struct slri_counting *c, const struct slri_block *block, uint32_t end, slri_reg reg,
                          int64_t *value)
{
    const struct slri_instr *in = slri_last_assignment(block, end, reg);
    uint64_t bits;
    if (in && in->op == SLRI_OP_CONST)
        bits = slri_kind_bytes(in->kind) == 4 ? (uint64_t)(int64_t)(int32_t)(uint32_t)in->imm : in->imm;
    else if (in || !c->literal(c->user, reg, &bits))
        return false;
    *value = (int64_t)bits;
    return true;
}

// By how much the block's first `end` instructions leave `reg` above what `induction` was before them.
static bool find_stride(const struct slri_counting *c, const struct slri_block *block, uint32_t end, slri_reg reg,
                        slri_reg induction, int64_t *stride)
{
    const struct slri_instr *in = slri_last_assignment(block, end, reg);
    if (!in) {
        *stride = 0;
        return reg == induction;
    }
    end = (uint32_t)(in - block->instr);
    if (in->op == SLRI_OP_MOVE)
        return find_stride(c, block, end, in->a, induction, stride);
    if (in->op != SLRI_OP_ADD && in->op != SLRI_OP_SUB)
        return false;
    int64_t by, before;
    bool swapped = in->op == SLRI_OP_ADD && slri_counted_literal(c, block, end, in->a, &by);
    if (!swapped && !slri_counted_literal(c, block, end, in->b, &by))
        return false;
    if (by < -STRIDE_LIMIT || by > STRIDE_LIMIT ||
        !find_stride(c, block, end, swapped ? in->b : in->a, induction, &before))
        return false;
    *stride = before + (in->op == SLRI_OP_SUB ? -by : by);
    return *stride >= -STRIDE_LIMIT && *stride <= STRIDE_LIMIT;
}

// Whether something in it runs in a trip, but not once in each, or has fuel of its own.
static bool breaks_count(const struct slri_counting *c, const struct slri_block *block)
{
    for (uint32_t i = 0; block && i < block->count; i++) {
        const struct slri_instr *in = &block->instr[i];
        if ((in->op == SLRI_OP_LOOP && !c->holds_loops) || in->op == SLRI_OP_RETURN ||
            (in->op == SLRI_OP_CALL && c->uses_fuel(c->user, in->callee)) || breaks_count(c, in->body[0]) ||
            breaks_count(c, in->body[1]))
            return true;
        for (uint32_t k = 0; k < in->cases; k++)
            if (breaks_count(c, in->match[k].body))
                return true;
    }
    return false;
}

// A BREAK of this loop: one that is in no loop or switch within the block.
static bool leaves_loop(const struct slri_block *block)
{
    for (uint32_t i = 0; block && i < block->count; i++) {
        const struct slri_instr *in = &block->instr[i];
        if (in->op == SLRI_OP_BREAK || (in->op == SLRI_OP_IF && (leaves_loop(in->body[0]) || leaves_loop(in->body[1]))))
            return true;
    }
    return false;
}

bool slri_counted_test(const struct slri_counting *c, const struct slri_instr *loop, struct slri_counted *out)
{
    return find_test(loop, out) && !slri_assigned_in(loop->body[0], out->induction) &&
           !slri_assigned_in(loop->body[1], out->induction) && !breaks_count(c, loop->body[1]);
}

bool slri_counted_loop(const struct slri_counting *c, const struct slri_instr *loop, struct slri_counted *out)
{
    const struct slri_block *step = loop->body[2];
    if (!step || !all_pure(step) || !slri_counted_test(c, loop, out) || leaves_loop(loop->body[1]))
        return false;
    int64_t stride = 0;
    if (!find_stride(c, step, step->count, out->induction, out->induction, &stride) || stride == 0 ||
        (stride < 0) != (out->stride < 0))
        return false;
    out->stride = stride;
    return true;
}
