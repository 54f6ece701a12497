// SPDX-License-Identifier: Apache-2.0
// Doubles as integers of 64 bits that hold their bits. What is computed of them is a call of a function that does it
// with integers (slr_soft.h), which rounds as a double does.
#include "base/status.h"
#include "ir/pass/linked_internal.h"

static bool is_soft(const struct slri_linker *l, slri_reg reg)
{
    return reg != SLRI_NO_REG && reg < l->source->regs && l->source->reg_kind[reg] == SLRI_F64;
}

bool slri_linker_has_double(const struct slri_linker *l, const struct slri_instr *in)
{
    if (!l->libraries->get[SLRI_LINKED_SOFT])
        return false;
    return in->kind == SLRI_F64 || is_soft(l, in->dst) || is_soft(l, in->a) || is_soft(l, in->b) ||
           (in->op == SLRI_OP_MATH && is_soft(l, in->arg[0].reg));
}

static void put_soft_call(struct slri_linker *l, const struct slri_instr *in, enum slri_soft_id id, slri_reg dst,
                          slri_reg a, slri_reg b)
{
    struct slri_instr call = {.op = SLRI_OP_CALL, .where = in->where, .dst = dst, .a = SLRI_NO_REG};
    call.b = call.c = SLRI_NO_REG;
    call.callee = slri_linker_library(l, SLRI_LINKED_SOFT, slri_soft_functions[id]);
    call.args = b == SLRI_NO_REG ? 1 : 2;
    call.arg = slri_region_take(l->region, 2 * sizeof *call.arg);
    if (!call.arg || l->refused != SLR_OK) {
        if (l->refused == SLR_OK)
            l->refused = SLRI_FAIL(NO_MEMORY, "no memory for the functions of '%s'", l->to->name);
        return;
    }
    call.arg[0].reg = a;
    call.arg[1].reg = b;
    slri_linker_append(l, &call);
}

static void put_as(struct slri_linker *l, const struct slri_instr *in, enum slri_op op, enum slri_kind kind)
{
    struct slri_instr made = {.op = op, .kind = kind, .where = in->where, .dst = in->dst, .a = in->a};
    made.b = made.c = SLRI_NO_REG;
    if (in->op == SLRI_OP_MATH)
        made.a = in->arg[0].reg;
    slri_linker_append(l, &made);
}

// To a half by way of a float whose last bit tells what is lost, so that it is rounded once.
static void soften_half(struct slri_linker *l, const struct slri_instr *in)
{
    slri_reg odd = slri_function_add_reg(l->region, l->function, SLRI_F32, NULL);
    put_soft_call(l, in, SLRI_SOFT_TO_ODD, odd, in->a, SLRI_NO_REG);
    struct slri_instr made = *in;
    made.a = odd;
    slri_linker_append(l, &made);
}

static void soften_convert(struct slri_linker *l, const struct slri_instr *in)
{
    static const enum slri_soft_id to[SLRI_KIND_COUNT] = {
        [SLRI_BOOL] = SLRI_SOFT_TO_BOOL, [SLRI_I8] = SLRI_SOFT_TO_I8,   [SLRI_U8] = SLRI_SOFT_TO_U8,
        [SLRI_I16] = SLRI_SOFT_TO_I16,   [SLRI_U16] = SLRI_SOFT_TO_U16, [SLRI_I32] = SLRI_SOFT_TO_I32,
        [SLRI_U32] = SLRI_SOFT_TO_U32,   [SLRI_I64] = SLRI_SOFT_TO_I64, [SLRI_U64] = SLRI_SOFT_TO_U64,
        [SLRI_F32] = SLRI_SOFT_TO_F32};
    static const enum slri_soft_id from[SLRI_KIND_COUNT] = {[SLRI_I32] = SLRI_SOFT_FROM_I32,
                                                            [SLRI_U32] = SLRI_SOFT_FROM_U32,
                                                            [SLRI_I64] = SLRI_SOFT_FROM_I64,
                                                            [SLRI_U64] = SLRI_SOFT_FROM_U64,
                                                            [SLRI_F32] = SLRI_SOFT_FROM_F32};
    const bool is_from = is_soft(l, in->a);
    if (is_from && in->kind == SLRI_F64)
        put_as(l, in, SLRI_OP_MOVE, SLRI_U64);
    else if (slri_kind_is_half(in->kind))
        soften_half(l, in);
    else
        put_soft_call(l, in, is_from ? to[in->kind] : from[l->source->reg_kind[in->a]], in->dst, in->a, SLRI_NO_REG);
}

static void soften_primitive(struct slri_linker *l, const struct slri_instr *in)
{
    if (in->imm == SLRI_MATH_SQRT)
        put_soft_call(l, in, SLRI_SOFT_SQRT, in->dst, in->arg[0].reg, SLRI_NO_REG);
    else // the bits, as another kind of integer
        put_as(l, in, SLRI_OP_CONVERT, in->imm == SLRI_MATH_DOUBLE_AS_LONGLONG ? SLRI_I64 : SLRI_U64);
}

static void refuse_atomic(struct slri_linker *l, const struct slri_instr *in)
{
    l->refused = SLRI_FAIL(UNSUPPORTED,
                           "%s:%u: an atomic operation on a double, but the device has no doubles (shaderFloat64), and "
                           "atomic operations are not computed with integers; use float",
                           l->to->file[in->where.file], in->where.line);
}

void slri_linker_soften(struct slri_linker *l, struct slri_instr *in)
{
    static const enum slri_soft_id computed[] = {
        [SLRI_OP_NEG] = SLRI_SOFT_NEG, [SLRI_OP_ADD] = SLRI_SOFT_ADD, [SLRI_OP_SUB] = SLRI_SOFT_SUB,
        [SLRI_OP_MUL] = SLRI_SOFT_MUL, [SLRI_OP_DIV] = SLRI_SOFT_DIV, [SLRI_OP_EQ] = SLRI_SOFT_EQ,
        [SLRI_OP_NE] = SLRI_SOFT_NE,   [SLRI_OP_LT] = SLRI_SOFT_LT,   [SLRI_OP_LE] = SLRI_SOFT_LE,
        [SLRI_OP_GT] = SLRI_SOFT_GT,   [SLRI_OP_GE] = SLRI_SOFT_GE};
    if (in->op == SLRI_OP_CONVERT) {
        soften_convert(l, in);
    } else if (in->op == SLRI_OP_MATH) {
        soften_primitive(l, in);
    } else if (in->op >= SLRI_OP_NEG && in->op <= SLRI_OP_GE) {
        put_soft_call(l, in, computed[in->op], in->dst, in->a, in->b);
    } else if (in->op == SLRI_OP_ATOMIC_RMW && in->imm != SLRI_RMW_EXCHANGE) {
        refuse_atomic(l, in);
    } else { // it is moved only
        if (in->kind == SLRI_F64)
            in->kind = SLRI_U64;
        slri_linker_append(l, in);
    }
}
