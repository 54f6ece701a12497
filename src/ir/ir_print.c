// SPDX-License-Identifier: Apache-2.0
#include "ir/ir_print.h"
#include "ir/ir_names.h"
#include "ir/math/functions.h"

#include <ctype.h>
#include <stdio.h>

struct printer {
    struct slri_text *out;
    const struct slri_function *function;
    unsigned depth;
};

static void put_lower(struct printer *p, const char *name)
{
    for (; *name; name++) {
        char c = (char)tolower((unsigned char)*name);
        slri_text_append(p->out, &c, 1);
    }
}

// ---- operands ------------------------------------------------------------------------------------------------------

static void put_register(struct printer *p, slri_reg reg)
{
    const char *name = reg < p->function->regs ? p->function->reg_name[reg] : "?";
    slri_text_printf(p->out, "%s%%%u", name ? name : "", reg);
}

static void put_operand(struct printer *p, slri_reg reg)
{
    if (reg == SLRI_NO_REG)
        return;
    slri_text_puts(p->out, " ");
    put_register(p, reg);
}

// "[weights+i%3]"
static void put_place(struct printer *p, struct slri_root root, slri_reg offset)
{
    slri_text_printf(p->out, " [%s", slri_root_name(root.kind));
    if (root.kind >= SLRI_ROOT_BINDING && root.kind != SLRI_ROOT_DYNAMIC)
        slri_text_printf(p->out, " %u", root.index);
    slri_text_puts(p->out, " +");
    put_operand(p, offset);
    slri_text_puts(p->out, "]");
}

static void put_arguments(struct printer *p, const struct slri_instr *in)
{
    for (uint32_t i = 0; i < in->args; i++) {
        if (in->arg[i].root.kind == SLRI_ROOT_NONE)
            put_operand(p, in->arg[i].reg);
        else
            put_place(p, in->arg[i].root, in->arg[i].reg);
    }
}

// ---- instructions --------------------------------------------------------------------------------------------------

static void put_block(struct printer *p, const char *title, const struct slri_block *block);

static void put_immediate(struct printer *p, const struct slri_instr *in)
{
    if (in->op == SLRI_OP_CONST)
        slri_text_printf(p->out, " 0x%llx", (unsigned long long)in->imm);
    else if (in->op == SLRI_OP_MATH)
        slri_text_printf(p->out, " %s", in->imm < SLRI_MATH_COUNT ? slri_math_functions[in->imm].name : "?");
    else if (in->op == SLRI_OP_ATOMIC_RMW)
        slri_text_printf(p->out, " %s", slri_rmw_name(in->imm));
    else if (in->op == SLRI_OP_BUILTIN)
        slri_text_printf(p->out, " %s", slri_builtin_name(in->imm));
    else if (in->op == SLRI_OP_WARP)
        slri_text_printf(p->out, " %s", in->imm < SLRI_WARP_COUNT ? slri_warp_functions[in->imm].name : "?");
    else if (in->op == SLRI_OP_PRINT || in->op == SLRI_OP_TRAP)
        slri_text_printf(p->out, " %llu", (unsigned long long)in->imm);
    else if (in->op == SLRI_OP_BARRIER)
        slri_text_printf(p->out, " %s", slri_barrier_name(in->imm));
    else if (in->op == SLRI_OP_COPY || in->op == SLRI_OP_ZERO || in->op == SLRI_OP_INDEX)
        slri_text_printf(p->out, " %llu", (unsigned long long)in->imm);
    else if (in->op == SLRI_OP_SEND)
        slri_text_printf(p->out, " %u binding%u", slri_sent_bytes(in), slri_sent_outlet(in));
    if (in->op >= SLRI_OP_ATOMIC_LOAD && in->op <= SLRI_OP_FENCE)
        slri_text_printf(p->out, " %s %s", slri_order_name(in->order), slri_scope_name(in->scope));
    if (in->op == SLRI_OP_CALL)
        slri_text_printf(p->out, " %s", in->callee ? in->callee->name : "?");
}

static void put_operands(struct printer *p, const struct slri_instr *in)
{
    put_immediate(p, in);
    if (in->root.kind == SLRI_ROOT_NONE)
        put_operand(p, in->a);
    else
        put_place(p, in->root, in->a);
    if (in->root2.kind == SLRI_ROOT_NONE)
        put_operand(p, in->b);
    else
        put_place(p, in->root2, in->b);
    put_operand(p, in->c);
    put_arguments(p, in);
}

static void put_bodies(struct printer *p, const struct slri_instr *in)
{
    static const char *const of_if[] = {"then", "else", "?"}, *const of_loop[] = {"test", "body", "step"};
    for (int i = 0; i < 3; i++)
        if (in->body[i] && (in->op == SLRI_OP_LOOP || in->body[i]->count))
            put_block(p, in->op == SLRI_OP_LOOP ? of_loop[i] : of_if[i], in->body[i]);
    for (uint32_t i = 0; i < in->cases; i++) {
        char title[32] = "default";
        if (!in->match[i].is_default)
            snprintf(title, sizeof title, "case 0x%llx", (unsigned long long)in->match[i].value);
        put_block(p, title, in->match[i].body);
    }
}

static void put_instr(struct printer *p, const struct slri_instr *in)
{
    slri_text_printf(p->out, "%*s", (int)(2 * p->depth), "");
    if (in->dst != SLRI_NO_REG) {
        put_register(p, in->dst);
        slri_text_puts(p->out, " = ");
    }
    put_lower(p, slri_op_name(in->op));
    if (in->kind != SLRI_VOID) {
        slri_text_puts(p->out, ".");
        put_lower(p, slri_kind_name(in->kind));
    }
    slri_text_puts(p->out, in->is_volatile ? " volatile" : "");
    slri_text_puts(p->out, in->do_while ? " do" : "");
    put_operands(p, in);
    slri_text_printf(p->out, "  ; %u:%u:%u\n", in->where.file, in->where.line, in->where.column);
    put_bodies(p, in);
}

static void put_block(struct printer *p, const char *title, const struct slri_block *block)
{
    p->depth++;
    slri_text_printf(p->out, "%*s%s:\n", (int)(2 * p->depth), "", title);
    p->depth++;
    for (uint32_t i = 0; i < block->count; i++)
        put_instr(p, &block->instr[i]);
    p->depth -= 2;
}

// ---- functions, entries, the module --------------------------------------------------------------------------------

static void put_function(struct printer *p, const struct slri_function *function)
{
    p->function = function;
    slri_text_printf(p->out, "function %s: ", function->name);
    put_lower(p, slri_kind_name(function->result));
    slri_text_puts(p->out, "\n");
    for (uint32_t i = 0; i < function->params; i++) {
        const struct slri_param *param = &function->param[i];
        slri_text_printf(p->out, "  param %u:", i);
        put_operand(p, param->reg);
        if (param->is_memory)
            slri_text_printf(p->out, " of %llu bytes", (unsigned long long)param->bytes);
        slri_text_puts(p->out, "\n");
    }
    for (uint32_t i = 0; i < function->locals; i++)
        slri_text_printf(p->out, "  local %u: %s, %llu bytes\n", i, function->local[i].name,
                         (unsigned long long)function->local[i].type->bytes);
    slri_text_puts(p->out, "  registers:");
    for (slri_reg reg = 0; reg < function->regs; reg++) {
        put_operand(p, reg);
        slri_text_puts(p->out, ".");
        put_lower(p, slri_kind_name(function->reg_kind[reg]));
    }
    slri_text_puts(p->out, "\n");
    if (function->body)
        put_block(p, "body", function->body);
}

static void put_type(struct printer *p, const char *title, const struct slri_type *type)
{
    if (type)
        slri_text_printf(p->out, "  %s: %s%s%llu bytes\n", title, type->name ? type->name : "", type->name ? ", " : "",
                         (unsigned long long)type->bytes);
}

static void put_block_needs(struct printer *p, const struct slri_entry *entry)
{
    slri_text_printf(p->out, "  block: at most %u threads, at least %u blocks, %llu shared bytes\n", entry->max_threads,
                     entry->min_blocks, (unsigned long long)entry->shared_bytes);
}

static void put_entry(struct printer *p, const struct slri_entry *entry)
{
    p->function = entry->function;
    static const char *const kinds[] = {"entry", "kernel", "block entry", "batch entry"};
    slri_text_printf(p->out, "%s %s = %s\n", kinds[entry->kind], entry->name, entry->function->name);
    put_type(p, "state", entry->state);
    put_type(p, "message", entry->message);
    put_type(p, "reply", entry->reply);
    if (entry->kind == SLRI_ENTRY_KERNEL || entry->kind == SLRI_ENTRY_BLOCK)
        put_block_needs(p, entry);
    for (uint32_t i = 0; i < entry->bindings; i++) {
        const struct slri_binding_info *binding = &entry->binding[i];
        slri_text_printf(p->out, "  binding %u: %s%s%s%s", i, binding->is_const ? "const " : "",
                         binding->is_restrict ? "restrict " : "",
                         binding->is_outlet   ? "outlet "
                         : binding->is_buffer ? "buffer "
                                              : "",
                         binding->name);
        put_operand(p, binding->reg);
        slri_text_puts(p->out, "\n");
    }
}

static void put_constant(struct printer *p, uint32_t index, const struct slri_const *constant)
{
    slri_text_printf(p->out, "const %u: %s, %llu bytes:", index, constant->name,
                     (unsigned long long)constant->type->bytes);
    for (uint64_t i = 0; i < constant->type->bytes; i++)
        slri_text_printf(p->out, "%s%02x", i % 4 ? "" : " ", constant->data[i]);
    slri_text_puts(p->out, "\n");
}

static void put_format(struct printer *p, uint32_t index, const char *text)
{
    slri_text_printf(p->out, "format %u: \"", index);
    for (; *text; text++)
        slri_text_printf(p->out, isprint((unsigned char)*text) ? "%c" : "\\%03o", (unsigned char)*text);
    slri_text_puts(p->out, "\"\n");
}

void slri_module_print(const struct slri_module *module, struct slri_text *out)
{
    struct printer p = {.out = out};
    slri_text_printf(out, "module %s\n", module->name);
    for (uint32_t i = 0; i < module->files; i++)
        slri_text_printf(out, "file %u: %s\n", i, module->file[i]);
    for (uint32_t i = 0; i < module->constants; i++)
        put_constant(&p, i, &module->constant[i]);
    for (uint32_t i = 0; i < module->shareds; i++)
        slri_text_printf(out, "shared %u: %s, %llu bytes\n", i, module->shared[i].name,
                         (unsigned long long)module->shared[i].type->bytes);
    for (uint32_t i = 0; i < module->globals; i++)
        slri_text_printf(out, "global %u: %s%s, %llu bytes%s\n", i, module->global[i].is_constant ? "constant " : "",
                         module->global[i].name, (unsigned long long)module->global[i].type->bytes,
                         module->global[i].data ? ", with values" : "");
    for (uint32_t i = 0; i < module->formats; i++)
        put_format(&p, i, module->format[i].text);
    for (uint32_t i = 0; i < module->functions; i++)
        put_function(&p, module->function[i]);
    for (uint32_t i = 0; i < module->entries; i++)
        put_entry(&p, &module->entry[i]);
}
