// SPDX-License-Identifier: Apache-2.0
// Writing instructions, each a line.
#include "ir/pass/lower.h"

#include "ir/pass/handler_kernel.h"

struct slri_instr *slri_lower_append(struct slri_lowering *l, enum slri_op op, enum slri_kind kind)
{
    struct slri_instr *in = slri_block_append(l->region, l->block, op, kind, l->where);
    l->out_of_memory |= in == NULL;
    return in ? in : &l->lost;
}

slri_reg slri_lower_reg(struct slri_lowering *l, enum slri_kind kind)
{
    return slri_lower_variable(l, kind, NULL);
}

slri_reg slri_lower_variable(struct slri_lowering *l, enum slri_kind kind, const char *name)
{
    slri_reg reg = slri_function_add_reg(l->region, l->function, kind, name);
    l->out_of_memory |= reg == SLRI_NO_REG;
    return reg == SLRI_NO_REG ? 0 : reg;
}

void slri_lower_set_const(struct slri_lowering *l, slri_reg dst, enum slri_kind kind, uint64_t bits)
{
    struct slri_instr *in = slri_lower_append(l, SLRI_OP_CONST, kind);
    in->dst = dst;
    in->imm = bits;
}

slri_reg slri_lower_const(struct slri_lowering *l, enum slri_kind kind, uint64_t bits)
{
    slri_reg dst = slri_lower_reg(l, kind);
    slri_lower_set_const(l, dst, kind, bits);
    return dst;
}

void slri_lower_set(struct slri_lowering *l, slri_reg dst, enum slri_op op, enum slri_kind kind, slri_reg a, slri_reg b)
{
    struct slri_instr *in = slri_lower_append(l, op, kind);
    in->dst = dst;
    in->a = a;
    in->b = b;
}

slri_reg slri_lower_op(struct slri_lowering *l, enum slri_op op, enum slri_kind kind, slri_reg a, slri_reg b)
{
    slri_reg dst = slri_lower_reg(l, op >= SLRI_OP_EQ && op <= SLRI_OP_GE ? SLRI_I32 : kind);
    slri_lower_set(l, dst, op, kind, a, b);
    return dst;
}

slri_reg slri_lower_convert(struct slri_lowering *l, enum slri_kind kind, slri_reg a)
{
    return slri_lower_op(l, SLRI_OP_CONVERT, kind, a, SLRI_NO_REG);
}

slri_reg slri_lower_load(struct slri_lowering *l, enum slri_kind kind, struct slri_root root, slri_reg at)
{
    slri_reg dst = slri_lower_reg(l, slri_kind_in_register(kind));
    struct slri_instr *in = slri_lower_append(l, SLRI_OP_LOAD, kind);
    in->dst = dst;
    in->root = root;
    in->a = at;
    return dst;
}

void slri_lower_store(struct slri_lowering *l, enum slri_kind kind, struct slri_root root, slri_reg at, slri_reg value)
{
    struct slri_instr *in = slri_lower_append(l, SLRI_OP_STORE, kind);
    in->root = root;
    in->a = at;
    in->b = value;
}

struct slri_block *slri_lower_block(struct slri_lowering *l)
{
    struct slri_block *block = slri_block_create(l->region);
    l->out_of_memory |= block == NULL;
    return block ? block : &l->lost_block;
}

struct slri_block *slri_lower_if(struct slri_lowering *l, slri_reg test, struct slri_block **other)
{
    struct slri_block *behind = l->block, *body = slri_lower_block(l);
    if (other)
        *other = slri_lower_block(l);
    struct slri_instr *in = slri_lower_append(l, SLRI_OP_IF, SLRI_VOID);
    in->a = test;
    in->body[0] = body;
    in->body[1] = other ? *other : NULL;
    l->block = body;
    return behind;
}

struct slri_block *slri_lower_for(struct slri_lowering *l, slri_reg i, slri_reg end, slri_reg step)
{
    struct slri_block *behind = l->block, *part[3];
    for (int k = 0; k < 3; k++)
        part[k] = slri_lower_block(l);
    l->block = part[0];
    slri_reg goes = slri_lower_op(l, SLRI_OP_LT, SLRI_U32, i, end);
    l->block = part[2];
    slri_lower_set(l, i, SLRI_OP_ADD, SLRI_U32, i, step);
    l->block = behind;
    struct slri_instr *loop = slri_lower_append(l, SLRI_OP_LOOP, SLRI_VOID);
    loop->a = goes;
    for (int k = 0; k < 3; k++)
        loop->body[k] = part[k];
    l->block = part[1];
    return behind;
}

static struct slri_root root_of_word(struct slri_lowering *l, uint32_t word, slri_reg *at)
{
    const bool is_common = l->is_block && word >= SLRI_CALL_INSTANCE;
    *at = slri_lower_const(l, SLRI_I64, UINT64_C(8) * (is_common ? word - SLRI_CALL_INSTANCE : word));
    return is_common ? l->common : l->call;
}

slri_reg slri_lower_get(struct slri_lowering *l, uint32_t word)
{
    slri_reg at;
    struct slri_root root = root_of_word(l, word, &at);
    return slri_lower_load(l, SLRI_U64, root, at);
}

void slri_lower_put(struct slri_lowering *l, uint32_t word, slri_reg value)
{
    slri_reg at;
    struct slri_root root = root_of_word(l, word, &at);
    slri_lower_store(l, SLRI_U64, root, at, value);
}

slri_reg slri_lower_constant(struct slri_lowering *l, uint32_t word)
{
    slri_reg at = slri_lower_const(l, SLRI_I64, UINT64_C(4) * word);
    return slri_lower_load(l, SLRI_U32, slri_lower_root(SLRI_BATCH_CONSTANTS), at);
}
