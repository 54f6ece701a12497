// SPDX-License-Identifier: Apache-2.0
// For tests: a module written by hand, without the front end. One function is open at a time; what a build_* function
// appends goes to the end of the open block, on the source line `line`.
#ifndef SLRI_IR_IR_FIXTURE_H
#define SLRI_IR_IR_FIXTURE_H

#include "ir/ir.h"

#include <string.h>

#define BUILD_MAX 16
#define BUILD_UNUSED __attribute__((unused)) static

struct build {
    struct slri_module *module;
    struct slri_function *function;
    struct slri_block *block;
    uint32_t line;
};

static const struct slri_root build_state = {SLRI_ROOT_STATE, 0}, build_message = {SLRI_ROOT_MESSAGE, 0};

BUILD_UNUSED void *build_take(struct build *b, size_t bytes)
{
    return slri_region_take(b->module->region, bytes);
}

BUILD_UNUSED void build_open(struct build *b, const char *path)
{
    struct slri_region *region = slri_region_create();
    *b = (struct build){.module = slri_region_take(region, sizeof *b->module), .line = 1};
    b->module->region = region;
    b->module->name = "fixture";
    b->module->file = build_take(b, sizeof *b->module->file);
    b->module->file[0] = path;
    b->module->files = 1;
    b->module->function = build_take(b, BUILD_MAX * sizeof *b->module->function);
    b->module->entry = build_take(b, BUILD_MAX * sizeof *b->module->entry);
    b->module->constant = build_take(b, BUILD_MAX * sizeof *b->module->constant);
}

BUILD_UNUSED void build_close(struct build *b)
{
    slri_region_destroy(b->module->region);
}

// A type of memory of that many bytes, aligned to 8.
BUILD_UNUSED const struct slri_type *build_type(struct build *b, uint64_t bytes)
{
    struct slri_type *type = build_take(b, sizeof *type);
    *type = (struct slri_type){.kind = SLRI_STRUCT, .bytes = bytes, .align = 8, .name = "fixture"};
    return type;
}

BUILD_UNUSED const struct slri_type *build_scalar_type(struct build *b, enum slri_kind kind)
{
    struct slri_type *type = build_take(b, sizeof *type);
    *type = (struct slri_type){.kind = kind, .bytes = slri_kind_bytes(kind), .align = slri_kind_bytes(kind)};
    return type;
}

BUILD_UNUSED struct slri_function *build_function(struct build *b, const char *name, enum slri_kind result)
{
    b->function = build_take(b, sizeof *b->function);
    b->function->name = name;
    b->function->result = result;
    b->function->param = build_take(b, BUILD_MAX * sizeof *b->function->param);
    b->function->local = build_take(b, BUILD_MAX * sizeof *b->function->local);
    b->function->body = b->block = slri_block_create(b->module->region);
    b->module->function[b->module->functions++] = b->function;
    return b->function;
}

// Opens the function of a new entry. A size of 0: no state, no replies.
BUILD_UNUSED struct slri_entry *build_entry(struct build *b, const char *name, uint64_t state, uint64_t reply)
{
    struct slri_entry *entry = &b->module->entry[b->module->entries++];
    entry->name = name;
    entry->function = build_function(b, name, SLRI_VOID);
    entry->state = state ? build_type(b, state) : NULL;
    entry->message = build_type(b, 4096);
    entry->reply = reply ? build_type(b, reply) : NULL;
    entry->binding = build_take(b, BUILD_MAX * sizeof *entry->binding);
    return entry;
}

BUILD_UNUSED slri_reg build_reg(struct build *b, enum slri_kind kind, const char *name)
{
    return slri_function_add_reg(b->module->region, b->function, kind, name);
}

BUILD_UNUSED slri_reg build_param(struct build *b, enum slri_kind kind, const char *name, uint64_t memory_bytes)
{
    slri_reg reg = build_reg(b, kind, name);
    b->function->param[b->function->params++] =
        (struct slri_param){.name = name, .reg = reg, .is_memory = memory_bytes != 0, .bytes = memory_bytes};
    return reg;
}

BUILD_UNUSED struct slri_root build_local(struct build *b, const char *name, uint64_t bytes)
{
    b->function->local[b->function->locals] = (struct slri_local){name, build_type(b, bytes)};
    return (struct slri_root){SLRI_ROOT_LOCAL, b->function->locals++};
}

BUILD_UNUSED struct slri_root build_constant(struct build *b, const void *data, uint64_t bytes)
{
    b->module->constant[b->module->constants] = (struct slri_const){"table", build_type(b, bytes), data};
    return (struct slri_root){SLRI_ROOT_CONST, b->module->constants++};
}

BUILD_UNUSED slri_reg build_binding(struct build *b, struct slri_entry *entry, const char *name, bool is_buffer,
                                    enum slri_kind kind)
{
    slri_reg reg = build_reg(b, is_buffer ? SLRI_I64 : slri_kind_in_register(kind), name);
    entry->binding[entry->bindings++] =
        (struct slri_binding_info){name, is_buffer, false, build_scalar_type(b, kind), reg, false, false};
    return reg;
}

BUILD_UNUSED struct slri_instr *build_append(struct build *b, enum slri_op op, enum slri_kind kind)
{
    return slri_block_append(b->module->region, b->block, op, kind, (struct slri_where){0, b->line, 1});
}

BUILD_UNUSED slri_reg build_bits(struct build *b, enum slri_kind kind, uint64_t bits)
{
    slri_reg dst = build_reg(b, kind, NULL);
    struct slri_instr *in = build_append(b, SLRI_OP_CONST, kind);
    in->dst = dst;
    in->imm = bits;
    return dst;
}

BUILD_UNUSED slri_reg build_i32(struct build *b, int32_t value)
{
    return build_bits(b, SLRI_I32, (uint32_t)value);
}

BUILD_UNUSED slri_reg build_i64(struct build *b, int64_t value)
{
    return build_bits(b, SLRI_I64, (uint64_t)value);
}

BUILD_UNUSED slri_reg build_f32(struct build *b, float value)
{
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    return build_bits(b, SLRI_F32, bits);
}

BUILD_UNUSED void build_to(struct build *b, slri_reg dst, enum slri_op op, enum slri_kind kind, slri_reg x, slri_reg y)
{
    struct slri_instr *in = build_append(b, op, kind);
    in->dst = dst;
    in->a = x;
    in->b = y;
}

// A new register for the result of an arithmetic op, a comparison or a conversion.
BUILD_UNUSED slri_reg build_op(struct build *b, enum slri_op op, enum slri_kind kind, slri_reg x, slri_reg y)
{
    bool compares = op >= SLRI_OP_EQ && op <= SLRI_OP_GE;
    slri_reg dst = build_reg(b, compares ? SLRI_I32 : slri_kind_in_register(kind), NULL);
    build_to(b, dst, op, kind, x, y);
    return dst;
}

BUILD_UNUSED slri_reg build_load(struct build *b, enum slri_kind kind, struct slri_root root, slri_reg offset)
{
    slri_reg dst = build_op(b, SLRI_OP_LOAD, kind, offset, SLRI_NO_REG);
    b->block->instr[b->block->count - 1].root = root;
    return dst;
}

BUILD_UNUSED void build_store(struct build *b, enum slri_kind kind, struct slri_root root, slri_reg offset,
                              slri_reg value)
{
    build_to(b, SLRI_NO_REG, SLRI_OP_STORE, kind, offset, value);
    b->block->instr[b->block->count - 1].root = root;
}

BUILD_UNUSED slri_reg build_load_at(struct build *b, enum slri_kind kind, struct slri_root root, int64_t offset)
{
    return build_load(b, kind, root, build_i64(b, offset));
}

BUILD_UNUSED void build_store_at(struct build *b, enum slri_kind kind, struct slri_root root, int64_t offset,
                                 slri_reg value)
{
    build_store(b, kind, root, build_i64(b, offset), value);
}

BUILD_UNUSED void build_index(struct build *b, slri_reg index, uint64_t extent)
{
    build_to(b, SLRI_NO_REG, SLRI_OP_INDEX, SLRI_VOID, index, SLRI_NO_REG);
    b->block->instr[b->block->count - 1].imm = extent;
}

BUILD_UNUSED void build_reply(struct build *b, struct slri_root root, int64_t offset)
{
    slri_reg at = build_i64(b, offset);
    build_to(b, SLRI_NO_REG, SLRI_OP_REPLY, SLRI_VOID, at, SLRI_NO_REG);
    b->block->instr[b->block->count - 1].root = root;
}

BUILD_UNUSED struct slri_arg *build_args(struct build *b, struct slri_instr *in, uint32_t count)
{
    in->args = count;
    in->arg = build_take(b, count * sizeof *in->arg);
    return in->arg;
}

BUILD_UNUSED slri_reg build_math(struct build *b, uint64_t function, enum slri_kind kind, slri_reg x)
{
    slri_reg dst = build_reg(b, kind, NULL);
    struct slri_instr *in = build_append(b, SLRI_OP_MATH, kind);
    in->dst = dst;
    in->imm = function;
    build_args(b, in, 1)[0].reg = x;
    return dst;
}

// A loop or an IF: appends it, fills its bodies with empty blocks and leaves the open block as it is.
BUILD_UNUSED struct slri_instr build_control(struct build *b, enum slri_op op, slri_reg condition)
{
    struct slri_instr *in = build_append(b, op, SLRI_VOID);
    in->a = condition;
    for (int i = 0; i < 3; i++)
        in->body[i] = slri_block_create(b->module->region);
    return *in;
}

// for (i = from; i OP to; i += stride): the loop's test and step. The body is open afterwards; returns the block to go
// on with after it.
BUILD_UNUSED struct slri_block *build_for(struct build *b, slri_reg i, slri_reg from, enum slri_op op, slri_reg to,
                                          int64_t stride)
{
    enum slri_kind kind = b->function->reg_kind[i];
    struct slri_block *outer = b->block;
    build_to(b, i, SLRI_OP_MOVE, kind, from, SLRI_NO_REG);
    slri_reg condition = build_reg(b, SLRI_I32, NULL);
    struct slri_instr loop = build_control(b, SLRI_OP_LOOP, condition);
    b->block = loop.body[0];
    build_to(b, condition, op, kind, i, to);
    b->block = loop.body[2];
    uint64_t bits = slri_kind_bytes(kind) == 4 ? (uint32_t)stride : (uint64_t)stride;
    slri_reg by = build_bits(b, kind, bits);
    build_to(b, i, SLRI_OP_ADD, kind, i, by);
    b->block = loop.body[1];
    return outer;
}

#endif
