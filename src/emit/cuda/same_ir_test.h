// SPDX-License-Identifier: Apache-2.0
// Whether two modules are the same IR: each is printed in a form in which what has no meaning is gone, and the texts
// are compared. Gone are: names and numbers of registers, locals, functions and shared objects (they are numbered as
// they are met), places in the source, registers that hold one constant (it stands where it is used), moves that nobody
// reads, a zero written to what is zero (a register or local that the function has not touched yet), the copy of a
// parameter into the register that it lives in, and parameters that nobody reads.
#ifndef SLRI_EMIT_CUDA_SAME_IR_TEST_H
#define SLRI_EMIT_CUDA_SAME_IR_TEST_H

#include "base/text.h"
#include "ir/ir.h"
#include "ir/ir_names.h"

#include <stdlib.h>
#include <string.h>

struct same_function {
    bool *is_read;    // by parameter
    uint32_t number;  // as printed, from 1; 0: not yet
    const char *text; // what it is
};

struct same_module {
    const struct slri_module *module;
    struct same_function *function;
    struct slri_region *region;
    uint32_t numbers;
    uint32_t *shared; // numbers of shared objects, from 1, of the entry being printed
    uint32_t shareds;
    struct slri_text order; // functions in the order in which they are met
};

struct same_body {
    struct same_module *all;
    const struct slri_function *function;
    const struct slri_entry *entry;
    uint32_t *defs, *uses, *number, *local, *param;
    slri_reg *alias;               // the register that one is a copy of
    const struct slri_instr **def; // the last one seen
    bool *skipped;                 // of the body's own instructions
    bool *is_root;                 // parameters whose memory is reached
    uint32_t numbers, locals, params;
    struct slri_text *out;
};

static inline uint32_t same_index(const struct same_module *all, const struct slri_function *function)
{
    uint32_t at = 0;
    while (all->module->function[at] != function)
        at++;
    return at;
}

// ---- counting ------------------------------------------------------------------------------------------------------

typedef void same_visit(struct same_body *b, const struct slri_instr *in);

static inline void same_walk(struct same_body *b, const struct slri_block *block, same_visit *visit)
{
    for (uint32_t i = 0; block && i < block->count; i++) {
        const struct slri_instr *in = &block->instr[i];
        if (block == b->function->body && b->skipped[i])
            continue;
        visit(b, in);
        for (int part = 0; part < 3; part++)
            same_walk(b, in->body[part], visit);
        for (uint32_t c = 0; c < in->cases; c++)
            same_walk(b, in->match[c].body, visit);
    }
}

static inline bool same_is_copy(const struct slri_instr *in)
{
    return in->op == SLRI_OP_MOVE || in->op == SLRI_OP_CONST;
}

static inline bool same_arg_is_read(const struct same_body *b, const struct slri_instr *in, uint32_t arg)
{
    return in->op != SLRI_OP_CALL || b->all->function[same_index(b->all, in->callee)].is_read[arg];
}

static inline void same_touch(struct same_body *b, struct slri_root root)
{
    if (root.kind == SLRI_ROOT_PARAM)
        b->is_root[root.index] = true;
}

static inline void same_count(struct same_body *b, const struct slri_instr *in)
{
    const slri_reg operands[] = {in->a, in->b, in->c};
    if (in->dst != SLRI_NO_REG) {
        b->defs[in->dst]++;
        b->def[in->dst] = in;
    }
    for (int i = 0; i < 3; i++)
        if (operands[i] != SLRI_NO_REG)
            b->uses[operands[i]]++;
    same_touch(b, in->root);
    same_touch(b, in->root2);
    for (uint32_t i = 0; i < in->args; i++)
        if (same_arg_is_read(b, in, i)) {
            b->uses[in->arg[i].reg]++;
            same_touch(b, in->arg[i].root);
        }
}

// Moves that nobody reads do not read either: from the end, so that a move whose only reader is one falls, too.
static inline void same_bury(struct same_body *b, const struct slri_block *block)
{
    for (uint32_t i = block ? block->count : 0; i-- > 0;) {
        const struct slri_instr *in = &block->instr[i];
        if (block == b->function->body && b->skipped[i])
            continue;
        for (uint32_t c = in->cases; c-- > 0;)
            same_bury(b, in->match[c].body);
        for (int part = 3; part-- > 0;)
            same_bury(b, in->body[part]);
        if (in->op == SLRI_OP_MOVE && b->uses[in->dst] == 0 && b->uses[in->a] > 0 && b->defs[in->dst] > 0) {
            b->uses[in->a]--;
            b->defs[in->dst]--;
        }
    }
}

// ---- what is zero, and what is a parameter -------------------------------------------------------------------------

struct same_start {
    bool *reg, *local; // touched
};

static inline void same_note(struct same_start *s, const struct slri_instr *in)
{
    const slri_reg regs[] = {in->dst, in->a, in->b, in->c};
    const struct slri_root roots[] = {in->root, in->root2};
    for (int i = 0; i < 4; i++)
        if (regs[i] != SLRI_NO_REG)
            s->reg[regs[i]] = true;
    for (int i = 0; i < 2; i++)
        if (roots[i].kind == SLRI_ROOT_LOCAL)
            s->local[roots[i].index] = true;
    for (uint32_t i = 0; i < in->args; i++) {
        s->reg[in->arg[i].reg] = true;
        if (in->arg[i].root.kind == SLRI_ROOT_LOCAL)
            s->local[in->arg[i].root.index] = true;
    }
    for (int part = 0; part < 3; part++)
        for (uint32_t k = 0; in->body[part] && k < in->body[part]->count; k++)
            same_note(s, &in->body[part]->instr[k]);
    for (uint32_t c = 0; c < in->cases; c++)
        for (uint32_t k = 0; k < in->match[c].body->count; k++)
            same_note(s, &in->match[c].body->instr[k]);
}

// The constant that the body's instruction before `end` gave the register last, of straight code alone.
static inline bool same_is_zero(const struct slri_block *body, uint32_t end, slri_reg reg)
{
    while (end-- > 0)
        if (body->instr[end].dst == reg)
            return body->instr[end].op == SLRI_OP_CONST && body->instr[end].imm == 0;
    return false;
}

static inline bool same_clears(const struct same_body *b, const struct slri_instr *in, uint32_t at)
{
    const struct slri_block *body = b->function->body;
    if (in->root.kind != SLRI_ROOT_LOCAL || !same_is_zero(body, at, in->a))
        return false;
    uint64_t bytes = b->function->local[in->root.index].type->bytes;
    return (in->op == SLRI_OP_ZERO && in->imm == bytes) ||
           (in->op == SLRI_OP_STORE && slri_kind_bytes(in->kind) == bytes && same_is_zero(body, at, in->b));
}

static inline void same_skip_start(struct same_body *b)
{
    const struct slri_function *f = b->function;
    struct same_start s = {calloc(f->regs + 1, 1), calloc(f->locals + 1, 1)};
    for (uint32_t i = 0; i < f->params; i++)
        s.reg[f->param[i].reg] = true;
    for (uint32_t i = 0; b->entry && i < b->entry->bindings; i++)
        if (!b->entry->binding[i].is_buffer && b->entry->binding[i].reg != SLRI_NO_REG)
            s.reg[b->entry->binding[i].reg] = true;
    for (uint32_t i = 0; i < f->body->count; i++) {
        const struct slri_instr *in = &f->body->instr[i];
        if (in->op == SLRI_OP_CONST && in->imm == 0 && !s.reg[in->dst] && f->reg_name[in->dst])
            b->skipped[i] = true; // its register may be written again
        else if (same_clears(b, in, i) && !s.local[in->root.index])
            b->skipped[i] = true;
        else if (in->op == SLRI_OP_RETURN)
            break;
        if (!b->skipped[i])
            same_note(&s, in);
    }
    free(s.reg);
    free(s.local);
}

static inline bool same_is_given(const struct same_body *b, slri_reg reg)
{
    for (uint32_t i = 0; i < b->function->params; i++)
        if (b->function->param[i].reg == reg)
            return true;
    for (uint32_t i = 0; b->entry && i < b->entry->bindings; i++)
        if (!b->entry->binding[i].is_buffer && b->entry->binding[i].reg == reg)
            return true;
    return false;
}

// `x = parameter`, the only use of the parameter, before x is touched: they are one. So are x and what it is copied to
// in the same way: text that was emitted copies each parameter once more.
static inline void same_alias(struct same_body *b)
{
    const struct slri_function *f = b->function;
    struct same_start s = {calloc(f->regs + 1, 1), calloc(f->locals + 1, 1)};
    for (uint32_t i = 0; i < f->body->count; i++) {
        const struct slri_instr *in = &f->body->instr[i];
        const bool is_move = in->op == SLRI_OP_MOVE;
        const slri_reg from = is_move && b->alias[in->a] != SLRI_NO_REG ? b->alias[in->a] : in->a;
        if (!b->skipped[i] && is_move && same_is_given(b, from) && b->uses[in->a] == 1 && b->defs[in->a] == 0 &&
            !s.reg[in->dst] && b->defs[in->dst] > 0) {
            b->skipped[i] = true;
            b->alias[in->dst] = from;
            b->defs[in->dst]--;
            b->defs[from] += b->defs[in->dst] + 1; // it is no constant
            b->uses[from] += b->uses[in->dst];
        } else if (!b->skipped[i]) {
            same_note(&s, in);
        }
    }
    free(s.reg);
    free(s.local);
}

// ---- printing ------------------------------------------------------------------------------------------------------

static inline uint32_t same_number(uint32_t *numbers, uint32_t *used, uint32_t index)
{
    if (!numbers[index])
        numbers[index] = ++*used;
    return numbers[index];
}

static inline bool same_constant(const struct same_body *b, slri_reg reg, uint64_t *bits)
{
    for (int depth = 0; depth < 8; depth++) {
        if (same_is_given(b, reg) || b->alias[reg] != SLRI_NO_REG)
            return false; // what it begins with is not known
        if (b->defs[reg] == 0) {
            *bits = 0; // nobody writes it, but for what it begins with
            return true;
        }
        const struct slri_instr *def = b->defs[reg] == 1 ? b->def[reg] : NULL;
        if (!def || !same_is_copy(def))
            return false;
        *bits = def->imm;
        if (def->op == SLRI_OP_CONST)
            return true;
        reg = def->a;
    }
    return false;
}

static inline void same_put_register(struct same_body *b, slri_reg reg)
{
    uint64_t bits = 0;
    const char *kind = slri_kind_name(b->function->reg_kind[reg]);
    if (same_constant(b, reg, &bits)) {
        slri_text_printf(b->out, " %s:0x%llx", kind, (unsigned long long)bits);
        return;
    }
    reg = b->alias[reg] == SLRI_NO_REG ? reg : b->alias[reg];
    slri_text_printf(b->out, " %%%u:%s", same_number(b->number, &b->numbers, reg), kind);
}

static inline void same_put_root(struct same_body *b, struct slri_root root)
{
    struct same_module *all = b->all;
    slri_text_printf(b->out, " %s", slri_root_name(root.kind));
    if (root.kind == SLRI_ROOT_BINDING)
        slri_text_printf(b->out, " %u", root.index);
    if (root.kind == SLRI_ROOT_LOCAL) {
        const struct slri_type *type = b->function->local[root.index].type;
        slri_text_printf(b->out, " %u(%llu/%u)", same_number(b->local, &b->locals, root.index),
                         (unsigned long long)type->bytes, type->align);
    }
    if (root.kind == SLRI_ROOT_PARAM)
        slri_text_printf(b->out, " %u(%llu)", same_number(b->param, &b->params, root.index),
                         (unsigned long long)b->function->param[root.index].bytes);
    if (root.kind == SLRI_ROOT_SHARED) {
        const struct slri_type *type = all->module->shared[root.index].type;
        slri_text_printf(b->out, " %u(%llu/%u)", same_number(all->shared, &all->shareds, root.index),
                         (unsigned long long)type->bytes, type->align);
    }
    if (root.kind == SLRI_ROOT_GLOBAL) {
        const struct slri_global *global = &all->module->global[root.index];
        slri_text_printf(b->out, " (%llu/%u %d %d)", (unsigned long long)global->type->bytes, global->type->align,
                         global->is_constant, global->data != NULL);
    }
    if (root.kind == SLRI_ROOT_CONST) {
        const struct slri_const *constant = &all->module->constant[root.index];
        uint64_t hash = 14695981039346656037u;
        for (uint64_t i = 0; i < constant->type->bytes; i++)
            hash = (hash ^ constant->data[i]) * 1099511628211u;
        slri_text_printf(b->out, " (%llu bytes %llx)", (unsigned long long)constant->type->bytes,
                         (unsigned long long)hash);
    }
}

static inline uint32_t same_function_number(struct same_module *all, const struct slri_function *function);

static inline void same_put_block(struct same_body *b, const struct slri_block *block, unsigned depth);

static inline void same_put_operands(struct same_body *b, const struct slri_instr *in)
{
    const slri_reg operands[] = {in->a, in->b, in->c};
    for (int i = 0; i < 3; i++)
        if (operands[i] != SLRI_NO_REG)
            same_put_register(b, operands[i]);
    if (in->root.kind != SLRI_ROOT_NONE)
        same_put_root(b, in->root);
    if (in->root2.kind != SLRI_ROOT_NONE)
        same_put_root(b, in->root2);
    for (uint32_t i = 0; i < in->args; i++) {
        if (!same_arg_is_read(b, in, i))
            continue;
        slri_text_puts(b->out, " |");
        same_put_register(b, in->arg[i].reg);
        if (in->arg[i].root.kind != SLRI_ROOT_NONE)
            same_put_root(b, in->arg[i].root);
    }
}

static inline void same_put(struct same_body *b, const struct slri_instr *in, unsigned depth)
{
    uint64_t bits = 0;
    if (same_is_copy(in) && (b->uses[in->dst] == 0 || same_constant(b, in->dst, &bits)))
        return;
    bool copies_constant = in->op == SLRI_OP_CONST || (in->op == SLRI_OP_MOVE && same_constant(b, in->a, &bits));
    slri_text_printf(b->out, "%*s%s %s", (int)(2 * depth), "", copies_constant ? "CONST" : slri_op_name(in->op),
                     slri_kind_name(copies_constant ? b->function->reg_kind[in->dst] : in->kind));
    if (in->dst != SLRI_NO_REG && (b->uses[in->dst] || b->alias[in->dst] != SLRI_NO_REG)) {
        same_put_register(b, in->dst);
        slri_text_puts(b->out, " =");
    }
    if (copies_constant)
        slri_text_printf(b->out, " 0x%llx", (unsigned long long)(in->op == SLRI_OP_CONST ? in->imm : bits));
    else
        same_put_operands(b, in);
    if (in->op == SLRI_OP_CALL)
        slri_text_printf(b->out, " function %u", same_function_number(b->all, in->callee));
    else if (in->op == SLRI_OP_PRINT)
        slri_text_printf(b->out, " \"%s\"", b->all->module->format[in->imm].text);
    else if (in->imm && !copies_constant)
        slri_text_printf(b->out, " imm 0x%llx", (unsigned long long)in->imm);
    if (in->align > 1)
        slri_text_printf(b->out, " align %u", in->align);
    if (in->order || in->scope)
        slri_text_printf(b->out, " order %u scope %u", in->order, in->scope);
    slri_text_puts(b->out, in->is_volatile ? " volatile" : "");
    slri_text_puts(b->out, in->do_while ? " do\n" : "\n");
    for (int part = 0; part < 3; part++)
        if (in->body[part] && in->body[part]->count) {
            size_t before = b->out->length;
            slri_text_printf(b->out, "%*s .%d\n", (int)(2 * depth), "", part);
            size_t title = b->out->length;
            same_put_block(b, in->body[part], depth + 1);
            if (b->out->length == title) // nothing in it that counts
                b->out->data[b->out->length = before] = '\0';
        }
    for (uint32_t c = 0; c < in->cases; c++) {
        slri_text_printf(b->out, "%*s case %s 0x%llx\n", (int)(2 * depth), "", in->match[c].is_default ? "default" : "",
                         (unsigned long long)in->match[c].value);
        same_put_block(b, in->match[c].body, depth + 1);
    }
}

static inline void same_put_block(struct same_body *b, const struct slri_block *block, unsigned depth)
{
    for (uint32_t i = 0; i < block->count; i++)
        if (block != b->function->body || !b->skipped[i])
            same_put(b, &block->instr[i], depth);
}

// ---- functions and modules -----------------------------------------------------------------------------------------

static inline struct same_body same_begin(struct same_module *all, const struct slri_function *function,
                                          struct slri_text *out)
{
    uint32_t regs = function->regs + 1;
    struct same_body b = {.all = all, .function = function, .out = out};
    for (uint32_t i = 0; i < all->module->entries; i++)
        if (all->module->entry[i].function == function)
            b.entry = &all->module->entry[i];
    b.defs = slri_region_take(all->region, regs * sizeof *b.defs);
    b.uses = slri_region_take(all->region, regs * sizeof *b.uses);
    b.number = slri_region_take(all->region, regs * sizeof *b.number);
    b.alias = slri_region_take(all->region, regs * sizeof *b.alias);
    b.def = slri_region_take(all->region, regs * sizeof *b.def);
    b.local = slri_region_take(all->region, (function->locals + 1) * sizeof *b.local);
    b.param = slri_region_take(all->region, (function->params + 1) * sizeof *b.param);
    b.is_root = slri_region_take(all->region, function->params + 1);
    b.skipped = slri_region_take(all->region, function->body->count + 1);
    memset(b.alias, 0xff, regs * sizeof *b.alias);
    same_skip_start(&b);
    same_walk(&b, function->body, same_count);
    same_bury(&b, function->body);
    same_alias(&b);
    return b;
}

// Which parameters are read; callees come before their callers.
static inline void same_find_read(struct same_module *all, uint32_t index)
{
    const struct slri_function *function = all->module->function[index];
    struct same_body b = same_begin(all, function, NULL);
    all->function[index].is_read = slri_region_take(all->region, function->params + 1);
    for (uint32_t i = 0; i < function->params; i++)
        all->function[index].is_read[i] =
            b.is_root[i] || b.uses[function->param[i].reg] || b.defs[function->param[i].reg];
}

static inline void same_put_function(struct same_module *all, const struct slri_function *function,
                                     struct slri_text *out)
{
    uint32_t index = same_index(all, function);
    struct same_body b = same_begin(all, function, out);
    slri_text_printf(out, "function %u -> %s, uses %x\n", all->function[index].number, slri_kind_name(function->result),
                     function->uses);
    for (uint32_t i = 0; i < function->params; i++) {
        if (!all->function[index].is_read[i])
            continue;
        slri_text_puts(out, " parameter");
        same_put_register(&b, function->param[i].reg);
        if (b.is_root[i])
            same_put_root(&b, (struct slri_root){SLRI_ROOT_PARAM, i});
        slri_text_puts(out, "\n");
    }
    for (uint32_t i = 0; b.entry && i < b.entry->bindings; i++) {
        slri_reg reg = b.entry->binding[i].reg;
        if (!b.entry->binding[i].is_buffer && reg != SLRI_NO_REG && (b.uses[reg] || b.defs[reg])) {
            slri_text_printf(out, " binding %u", i);
            same_put_register(&b, reg);
            slri_text_puts(out, "\n");
        }
    }
    same_put_block(&b, function->body, 1);
}

static inline uint32_t same_function_number(struct same_module *all, const struct slri_function *function)
{
    struct same_function *info = &all->function[same_index(all, function)];
    if (!info->number) {
        info->number = ++all->numbers;
        slri_text_append(&all->order, (const char *)&function, sizeof function);
    }
    return info->number;
}

static inline void same_put_type(struct slri_text *out, const struct slri_type *type)
{
    if (!type) {
        slri_text_puts(out, " none");
        return;
    }
    slri_text_printf(out, " %s(%llu/%u", slri_kind_name(type->kind), (unsigned long long)type->bytes, type->align);
    for (uint32_t i = 0; i < type->fields; i++) {
        slri_text_printf(out, " %s@%llu", type->field[i].name, (unsigned long long)type->field[i].offset);
        same_put_type(out, type->field[i].type);
    }
    if (type->kind == SLRI_ARRAY) {
        slri_text_printf(out, " %llu of", (unsigned long long)type->count);
        same_put_type(out, type->of);
    }
    slri_text_puts(out, ")");
}

static inline void same_put_entry(struct same_module *all, const struct slri_entry *entry, struct slri_text *out)
{
    slri_text_printf(out, "entry %s kind %d threads %u blocks %u\n", entry->name, (int)entry->kind, entry->max_threads,
                     entry->min_blocks);
    const struct slri_type *types[] = {entry->state, entry->message, entry->reply};
    for (int i = 0; i < 3; i++) {
        slri_text_puts(out, " type");
        same_put_type(out, types[i]);
        slri_text_puts(out, "\n");
    }
    for (uint32_t i = 0; i < entry->bindings; i++) {
        const struct slri_binding_info *binding = &entry->binding[i];
        slri_text_printf(out, " binding %s buffer %d const %d restrict %d outlet %d", binding->name, binding->is_buffer,
                         binding->is_const, binding->is_restrict, binding->is_outlet);
        same_put_type(out, binding->type);
        slri_text_puts(out, "\n");
    }
    memset(all->shared, 0, (all->module->shareds + 1) * sizeof *all->shared);
    all->shareds = all->numbers = 0;
    for (uint32_t i = 0; i < all->module->functions; i++)
        all->function[i].number = 0;
    slri_text_clear(&all->order);
    same_function_number(all, entry->function);
    for (size_t at = 0; at < all->order.length; at += sizeof entry->function) {
        const struct slri_function *function;
        memcpy(&function, all->order.data + at, sizeof function);
        same_put_function(all, function, out);
    }
}

// The module's text; of one entry if there is a name. To free().
static inline char *same_text(const struct slri_module *module, const char *name)
{
    struct same_module all = {.module = module, .region = slri_region_create()};
    struct slri_text out = SLRI_TEXT_INIT;
    all.function = slri_region_take(all.region, (module->functions + 1) * sizeof *all.function);
    all.shared = slri_region_take(all.region, (module->shareds + 1) * sizeof *all.shared);
    for (uint32_t i = 0; i < module->functions; i++)
        same_find_read(&all, i);
    for (uint32_t i = 0; i < module->entries; i++)
        if (!name || strcmp(name, module->entry[i].name) == 0)
            same_put_entry(&all, &module->entry[i], &out);
    slri_text_free(&all.order);
    slri_region_destroy(all.region);
    return slri_text_take(&out);
}

// NULL if they are the same, else the first lines that differ, with those in front of them. To free().
static inline char *same_difference(const struct slri_module *a, const struct slri_module *b)
{
    enum { BEFORE = 8, AFTER = 3 };
    char *texts[2] = {same_text(a, NULL), same_text(b, NULL)};
    size_t at = 0;
    while (texts[0][at] && texts[0][at] == texts[1][at])
        at++;
    struct slri_text out = SLRI_TEXT_INIT;
    bool same = !texts[0][at] && !texts[1][at];
    size_t from = at;
    for (int lines = 0; from > 0 && (texts[0][from - 1] != '\n' || ++lines <= BEFORE);)
        from--;
    for (int side = 0; side < 2 && !same; side++) {
        size_t to = from;
        for (int lines = 0; texts[side][to] && (to < at || lines < AFTER); to++)
            lines += to >= at && texts[side][to] == '\n';
        slri_text_printf(&out, "---- %s\n", side ? "read again" : "emitted");
        slri_text_append(&out, texts[side] + from, to - from);
    }
    free(texts[0]);
    free(texts[1]);
    return same ? NULL : slri_text_take(&out);
}

#endif
