// SPDX-License-Identifier: Apache-2.0
// A function: its registers, its head, its control flow.
#include "emit/wgsl/internal.h"

#include <string.h>

// ---- registers -----------------------------------------------------------------------------------------------------

// Whether it is declared where it is written. Not where its statement has a block of its own.
static bool is_let(const struct slri_wgsl_emitter *e, slri_reg reg)
{
    const struct slri_assigned *at = &e->reg[reg];
    const bool is_inner = at->given && at->given->op == SLRI_OP_ATOMIC_CAS;
    return at->held != SLRI_ASSIGNED_VARIABLE && !is_inner;
}

// It is spelled where it is used.
const struct slri_instr *slri_wgsl_literal(const struct slri_wgsl_emitter *e, slri_reg reg)
{
    return e->reg[reg].held == SLRI_ASSIGNED_LITERAL ? e->reg[reg].given : NULL;
}

// ---- text ----------------------------------------------------------------------------------------------------------

void slri_wgsl_put(struct slri_wgsl_emitter *e, const char *text)
{
    slri_text_puts(e->out, text);
}

static void put_indent(struct slri_wgsl_emitter *e)
{
    for (uint32_t i = 0; i < e->depth; i++)
        slri_wgsl_put(e, "  ");
}

void slri_wgsl_line(struct slri_wgsl_emitter *e, struct slri_where where)
{
    if (where.line && (where.line != e->where.line || where.file != e->where.file)) {
        put_indent(e);
        slri_text_printf(e->out, "// %s:%u\n", e->module->file[where.file], where.line);
        e->where = where;
    }
    put_indent(e);
}

static void line(struct slri_wgsl_emitter *e, const char *text)
{
    put_indent(e);
    slri_text_printf(e->out, "%s\n", text);
}

const char *slri_wgsl_type(enum slri_kind kind)
{
    return kind == SLRI_F32 ? "f32" : kind == SLRI_U32 ? "u32" : "i32";
}

void slri_wgsl_set(struct slri_wgsl_emitter *e, slri_reg dst)
{
    slri_wgsl_put(e, is_let(e, dst) ? "let " : "");
    slri_wgsl_reg(e, dst);
    if (is_let(e, dst))
        slri_text_printf(e->out, ": %s", slri_wgsl_type(e->function->reg_kind[dst]));
    slri_wgsl_put(e, " = ");
}

// ---- control flow --------------------------------------------------------------------------------------------------

static void put_block(struct slri_wgsl_emitter *e, const struct slri_block *block);

static void put_condition(struct slri_wgsl_emitter *e, const char *before, slri_reg reg, const char *behind)
{
    put_indent(e);
    slri_wgsl_put(e, before);
    slri_wgsl_reg(e, reg);
    slri_text_printf(e->out, "%s\n", behind);
}

static void put_inner(struct slri_wgsl_emitter *e, const struct slri_block *block)
{
    e->depth++;
    put_block(e, block);
    e->depth--;
}

static void put_if(struct slri_wgsl_emitter *e, const struct slri_instr *in)
{
    slri_wgsl_spell(e, in, "if ($a != 0i) {\n");
    put_inner(e, in->body[0]);
    if (in->body[1] && in->body[1]->count) {
        line(e, "} else {");
        put_inner(e, in->body[1]);
    }
    put_indent(e);
    slri_wgsl_put(e, "}");
}

static void put_loop(struct slri_wgsl_emitter *e, const struct slri_instr *in)
{
    const bool has_step = in->body[2] && in->body[2]->count;
    slri_wgsl_put(e, "loop {\n");
    e->depth++;
    if (!in->do_while) {
        put_block(e, in->body[0]);
        if (in->a != SLRI_NO_REG)
            put_condition(e, "if (", in->a, " == 0i) { break; }");
    }
    put_block(e, in->body[1]);
    if (has_step || in->do_while) {
        line(e, "continuing {");
        put_inner(e, in->body[2]);
        e->depth++;
        if (in->do_while) {
            put_block(e, in->body[0]);
            if (in->a != SLRI_NO_REG)
                put_condition(e, "break if (", in->a, " == 0i);");
        }
        e->depth--;
        line(e, "}");
    }
    e->depth--;
    put_indent(e);
    slri_wgsl_put(e, "}");
}

static bool ends(const struct slri_block *block)
{
    const enum slri_op last = block->count ? block->instr[block->count - 1].op : SLRI_OP_CONST;
    return last == SLRI_OP_BREAK || last == SLRI_OP_CONTINUE || last == SLRI_OP_RETURN;
}

static void put_label(struct slri_wgsl_emitter *e, const struct slri_instr *in, const struct slri_case *match)
{
    const bool is_signed = e->function->reg_kind[in->a] == SLRI_I32;
    const int32_t value = (int32_t)(uint32_t)match->value;
    if (match->is_default)
        slri_wgsl_put(e, "default");
    else if (!is_signed)
        slri_text_printf(e->out, "%uu", (unsigned)match->value);
    else if (value == INT32_MIN)
        slri_wgsl_put(e, "-2147483647i - 1i");
    else
        slri_text_printf(e->out, "%di", value);
}

static bool has_default(const struct slri_instr *in)
{
    bool found = false;
    for (uint32_t i = 0; i < in->cases; i++)
        found |= in->match[i].is_default;
    return found;
}

static void put_switch(struct slri_wgsl_emitter *e, const struct slri_instr *in)
{
    slri_wgsl_spell(e, in, "switch ($a) {\n");
    e->depth++;
    for (uint32_t i = 0; i < in->cases;) {
        put_indent(e);
        slri_wgsl_put(e, "case ");
        put_label(e, in, &in->match[i]);
        while (i + 1 < in->cases && !in->match[i].body->count) {
            slri_wgsl_put(e, ", ");
            put_label(e, in, &in->match[++i]);
        }
        slri_wgsl_put(e, ": {\n");
        put_inner(e, in->match[i++].body);
        line(e, "}");
    }
    if (!has_default(in))
        line(e, "default: { }");
    e->depth--;
    put_indent(e);
    slri_wgsl_put(e, "}");
}

static void put_return(struct slri_wgsl_emitter *e, const struct slri_instr *in)
{
    slri_wgsl_spell(e, in, in->a == SLRI_NO_REG ? "return;" : "return $a;");
}

static void put_statement(struct slri_wgsl_emitter *e, const struct slri_instr *in)
{
    slri_wgsl_line(e, in->where);
    switch (in->op) {
    case SLRI_OP_IF:
        put_if(e, in);
        break;
    case SLRI_OP_LOOP:
        put_loop(e, in);
        break;
    case SLRI_OP_SWITCH:
        put_switch(e, in);
        break;
    case SLRI_OP_BREAK:
        slri_wgsl_put(e, "break;");
        break;
    case SLRI_OP_CONTINUE:
        slri_wgsl_put(e, "continue;");
        break;
    case SLRI_OP_RETURN:
        put_return(e, in);
        break;
    default:
        slri_wgsl_instr(e, in);
        break;
    }
    slri_wgsl_put(e, "\n");
}

// What stands behind a jump is never reached, and compilers say so.
static void put_block(struct slri_wgsl_emitter *e, const struct slri_block *block)
{
    for (uint32_t i = 0; block && i < block->count; i++) {
        const struct slri_instr *in = &block->instr[i];
        if (slri_wgsl_is_written(e, in))
            put_statement(e, in);
        if (in->op == SLRI_OP_BREAK || in->op == SLRI_OP_CONTINUE || in->op == SLRI_OP_RETURN)
            return;
    }
}

// ---- a function ----------------------------------------------------------------------------------------------------

bool slri_wgsl_takes_place(const struct slri_function *function)
{
    return function->uses & (SLRI_USES_PLACE | SLRI_USES_BARRIER | SLRI_USES_WARP);
}

static bool is_param(const struct slri_function *function, slri_reg reg)
{
    bool found = false;
    for (uint32_t i = 0; i < function->params; i++)
        found |= !function->param[i].is_memory && function->param[i].reg == reg;
    return found;
}

// Parameters of WGSL are never assigned: a variable takes each.
static void put_head(struct slri_wgsl_emitter *e)
{
    const struct slri_function *function = e->function;
    bool any = slri_wgsl_takes_place(function);
    slri_text_printf(e->out, "fn slrf_%s(%s", function->name,
                     any ? "slri_thread: vec3<u32>, slri_block: vec3<u32>, slri_grid: vec3<u32>, slri_number: u32"
                         : "");
    for (uint32_t i = 0; i < function->params; i++) {
        const struct slri_param *param = &function->param[i];
        slri_wgsl_put(e, any ? ", " : "");
        any = true;
        if (param->is_memory)
            slri_text_printf(e->out, "slri_p%u: ptr<function, array<u32, %u>>", i, (unsigned)(param->bytes / 4));
        else
            slri_text_printf(e->out, "slri_a%u: %s", i, slri_wgsl_type(function->reg_kind[param->reg]));
    }
    slri_wgsl_put(e, ")");
    if (function->result != SLRI_VOID)
        slri_text_printf(e->out, " -> %s", slri_wgsl_type(function->result));
    slri_wgsl_put(e, " {\n");
    for (uint32_t i = 0; i < function->params; i++) {
        if (function->param[i].is_memory)
            continue;
        slri_wgsl_put(e, "  var ");
        slri_wgsl_reg(e, function->param[i].reg);
        slri_text_printf(e->out, ": %s = slri_a%u;\n", slri_wgsl_type(function->reg_kind[function->param[i].reg]), i);
    }
}

// Of a grid in parts: the place of this part is among the values.
static void put_block_and_grid(struct slri_wgsl_emitter *e)
{
    const uint32_t at = slri_wgsl_argument(e, e->entry->bindings);
    slri_text_printf(e->out,
                     "  let slri_block = slri_group + vec3<u32>(slri_arg(%uu), slri_arg(%uu), slri_arg(%uu));\n", at,
                     at + 1, at + 2);
    slri_text_printf(e->out, "  let slri_grid = vec3<u32>(slri_arg(%uu), slri_arg(%uu), slri_arg(%uu));\n", at + 3,
                     at + 4, at + 5);
}

static void put_entry_point(struct slri_wgsl_emitter *e)
{
    const uint32_t *block = e->options ? e->options->block : NULL;
    const bool in_parts = e->options && e->options->in_parts && slri_wgsl_takes_place(e->entry->function);
    slri_wgsl_put(e, "@compute @workgroup_size(");
    if (block)
        slri_text_printf(e->out, "%u, %u, %u)\n", block[0], block[1], block[2]);
    else
        slri_wgsl_put(e, "slri_block_x, slri_block_y, slri_block_z)\n");
    slri_text_printf(e->out,
                     "fn " SLRI_WGSL_KERNEL_PREFIX "%s(@builtin(local_invocation_id) slri_thread: vec3<u32>,\n"
                     "    @builtin(workgroup_id) %s: vec3<u32>, @builtin(num_workgroups) %s: vec3<u32>,\n"
                     "    @builtin(local_invocation_index) slri_number: u32) {\n",
                     e->entry->name, in_parts ? "slri_group" : "slri_block", in_parts ? "slri_groups" : "slri_grid");
    if (in_parts)
        put_block_and_grid(e);
}

void slri_wgsl_entry_around(struct slri_wgsl_emitter *e)
{
    const bool has_loops = strstr(slri_text_view(e->out), "loop {") != NULL;
    put_entry_point(e);
    slri_wgsl_put(e, "  slri_kernel(slri_thread, slri_block, slri_grid, slri_number);\n");
    slri_wgsl_put(e, has_loops ? "  slri_tell_ended(slri_grid.x);\n}\n" : "}\n");
}

static void put_entry_head(struct slri_wgsl_emitter *e)
{
    if (e->options && e->options->tells_ended_loops)
        slri_wgsl_put(e, "fn slri_kernel(slri_thread: vec3<u32>, slri_block: vec3<u32>, slri_grid: vec3<u32>, "
                         "slri_number: u32) {\n");
    else
        put_entry_point(e);
    for (uint32_t i = 0; i < e->entry->bindings; i++) {
        const struct slri_binding_info *binding = &e->entry->binding[i];
        if (binding->is_buffer || binding->reg == SLRI_NO_REG || !e->reg[binding->reg].reads)
            continue;
        const char *type = slri_wgsl_type(e->function->reg_kind[binding->reg]);
        slri_wgsl_put(e, "  var ");
        slri_wgsl_reg(e, binding->reg);
        slri_text_printf(e->out, ": %s = bitcast<%s>(slri_arg(%uu));\n", type, type, slri_wgsl_argument(e, i));
    }
}

static bool is_given_register(const struct slri_wgsl_emitter *e, slri_reg reg)
{
    bool found = is_param(e->function, reg);
    for (uint32_t i = 0; e->entry->function == e->function && i < e->entry->bindings; i++)
        found |= e->entry->binding[i].reg == reg;
    return found;
}

static void put_variables(struct slri_wgsl_emitter *e)
{
    const struct slri_function *function = e->function;
    for (uint32_t i = 0; i < function->locals; i++)
        slri_text_printf(e->out, "  var slri_l%u: array<u32, %u>;%s%s\n", i,
                         (unsigned)(function->local[i].type->bytes / 4), function->local[i].name ? " // " : "",
                         function->local[i].name ? function->local[i].name : "");
    for (uint32_t i = 0; i < function->regs; i++) {
        if (is_let(e, i) || !e->reg[i].assignments || function->reg_kind[i] == SLRI_I64 || is_given_register(e, i))
            continue;
        slri_wgsl_put(e, "  var ");
        slri_wgsl_reg(e, i);
        slri_text_printf(e->out, ": %s;\n", slri_wgsl_type(function->reg_kind[i]));
    }
}

void slri_wgsl_function(struct slri_wgsl_emitter *e, const struct slri_function *function)
{
    e->function = function;
    e->where = (struct slri_where){0};
    e->reg = slri_assigned_find(e->scratch, e->entry, function, NULL);
    e->out->out_of_memory |= !e->reg;
    if (e->out->out_of_memory)
        return;
    if (function == e->entry->function)
        put_entry_head(e);
    else
        put_head(e);
    put_variables(e);
    e->depth = 1;
    put_block(e, function->body);
    if (function->result != SLRI_VOID && !ends(function->body))
        slri_text_printf(e->out, "  return %s();\n", slri_wgsl_type(function->result));
    slri_wgsl_put(e, "}\n\n");
}
