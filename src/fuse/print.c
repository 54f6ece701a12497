// SPDX-License-Identifier: Apache-2.0
// IR as source. A value that is read once becomes a part of the expression that reads it; every other has a variable.
#include "fuse/print.h"

#include "base/status.h"
#include "fuse/printing.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void print_block(struct printing *p, const struct slri_block *block, uint32_t first, uint32_t end);

void slri_print_give_up(struct printing *p, const char *why)
{
    if (!p->failed)
        snprintf(p->why, 200, "%s", why);
    p->failed = true;
}

// ---- statements ----------------------------------------------------------------------------------------------------

static void begin_line(struct printing *p)
{
    if (p->in_line)
        slri_text_puts(p->out, p->out->length ? ", " : "");
    else
        slri_text_printf(p->out, "%*s", (int)p->indent, "");
}

static void end_line(struct printing *p)
{
    slri_text_puts(p->out, p->in_line ? "" : ";\n");
}

static void name_register(struct printing *p, slri_reg reg)
{
    const char *own = p->function->reg_name[reg];
    if (!p->reg[reg].name)
        p->reg[reg].name = slri_name_unique(p->names, own ? own : "t");
}

// The waiting value of a register gets a variable.
static void settle_register(struct printing *p, slri_reg reg)
{
    struct printed *r = &p->reg[reg];
    if (r->reads == 0) {
        slri_print_drop(r);
        return;
    }
    if (p->in_line) {
        slri_print_give_up(p, "a loop's condition or step has variables of its own");
        return;
    }
    name_register(p, reg);
    begin_line(p);
    slri_text_printf(p->out, "const %s %s = %s", slri_kind_source(p->function->reg_kind[reg]), r->name, r->text);
    end_line(p);
    slri_print_drop(r);
    r->place = DECLARED;
}

// Before something changes: values that wait and would read it. `name`: a variable; NULL: memory; ALL: anything.
static void settle_waiting(struct printing *p, const char *name, bool all)
{
    for (slri_reg reg = 0; reg < p->function->regs && !p->failed; ++reg) {
        struct printed *r = &p->reg[reg];
        if (r->place == LATER && !r->is_constant &&
            (all || (name ? slri_mentions_name(r->text, name) : r->reads_memory)))
            settle_register(p, reg);
    }
}

// Whether the variable can be declared where it is first assigned: all else is behind that and in the same block.
static bool is_declared_at_first(const struct printed *r)
{
    bool is_read_behind = r->reads == 0 || (r->first_read > r->first_at && r->last_read < r->first_to);
    return is_read_behind && r->at < r->first_to;
}

static void print_assignment(struct printing *p, const struct slri_instr *instr)
{
    struct printed *r = &p->reg[instr->dst];
    struct slri_text value = SLRI_TEXT_INIT;
    enum level level;
    bool reads = slri_print_value(p, instr, &level, &value);
    bool is_once = r->writes == 1 && r->place != DECLARED;
    bool has_name = p->function->reg_name[instr->dst] && r->reads != 0;
    r->is_constant = is_once && instr->op == SLRI_OP_CONST;
    if (is_once && (r->is_constant || (r->reads <= 1 && (p->in_line || !has_name)))) {
        r->level = (uint8_t)level;
        r->reads_memory = reads;
        r->text = slri_text_take(&value);
        r->place = r->text ? LATER : 0;
        p->out_of_memory = p->out_of_memory || !r->text;
        return;
    }
    bool declares = r->place != DECLARED;
    if (declares && (p->in_line || !is_declared_at_first(r)))
        slri_print_give_up(p, "a loop's condition or step has variables of its own");
    name_register(p, instr->dst);
    if (!declares)
        settle_waiting(p, r->name, false);
    begin_line(p);
    if (declares)
        slri_text_printf(p->out, "%s%s ", r->writes == 1 ? "const " : "",
                         slri_kind_source(p->function->reg_kind[instr->dst]));
    slri_text_printf(p->out, "%s = %s", r->name, slri_text_view(&value));
    end_line(p);
    r->place = DECLARED;
    slri_text_free(&value);
}

static void print_store(struct printing *p, const struct slri_instr *instr)
{
    struct slri_text place = SLRI_TEXT_INIT, value = SLRI_TEXT_INIT;
    bool narrows = instr->kind != p->function->reg_kind[instr->b];
    slri_print_operand(p, instr->b, narrows ? ATOM : ANYTHING, &value);
    slri_print_element(p, instr, &place);
    settle_waiting(p, NULL, false);
    begin_line(p);
    bool *declares = p->print ? p->print->binding[instr->root.index].is_undeclared : NULL;
    if (declares && *declares)
        slri_text_printf(p->out, "%s ", slri_kind_source(instr->kind));
    if (declares)
        *declares = false;
    slri_text_printf(p->out, narrows ? "%s = (%s)%s" : "%s = %s%s", slri_text_view(&place),
                     narrows ? slri_kind_source(instr->kind) : "", slri_text_view(&value));
    end_line(p);
    slri_text_free(&place);
    slri_text_free(&value);
}

static void print_nested(struct printing *p, const struct slri_block *block)
{
    p->indent += 4;
    if (block)
        print_block(p, block, 0, block->count);
    p->indent -= 4;
}

static void print_if(struct printing *p, const struct slri_instr *instr)
{
    struct slri_text condition = SLRI_TEXT_INIT;
    bool has_else = instr->body[1] && instr->body[1]->count;
    slri_print_operand(p, instr->a, ANYTHING, &condition);
    settle_waiting(p, NULL, true);
    begin_line(p);
    slri_text_printf(p->out, "if (%s) {\n", slri_text_view(&condition));
    print_nested(p, instr->body[0]);
    slri_text_printf(p->out, "%*s}%s", (int)p->indent, "", has_else ? " else {\n" : "\n");
    if (has_else) {
        print_nested(p, instr->body[1]);
        slri_text_printf(p->out, "%*s}\n", (int)p->indent, "");
    }
    slri_text_free(&condition);
}

static void print_in_line(struct printing *p, const struct slri_block *block, struct slri_text *out)
{
    struct slri_text *outer = p->out;
    p->out = out;
    p->in_line = true;
    if (block)
        print_block(p, block, 0, block->count);
    p->in_line = false;
    p->out = outer;
}

static void print_loop(struct printing *p, const struct slri_instr *instr)
{
    struct slri_text test = SLRI_TEXT_INIT, step = SLRI_TEXT_INIT;
    settle_waiting(p, NULL, true);
    print_in_line(p, instr->body[0], &test);
    if (instr->a != SLRI_NO_REG) {
        slri_text_puts(&test, test.length ? ", " : "");
        slri_print_operand(p, instr->a, ANYTHING, &test);
    }
    print_in_line(p, instr->body[2], &step);
    settle_waiting(p, NULL, true);
    begin_line(p);
    const char *condition = instr->a != SLRI_NO_REG ? slri_text_view(&test) : "1";
    if (instr->do_while)
        slri_text_puts(p->out, "do {\n");
    else
        slri_text_printf(p->out, "for (; %s; %s) {\n", condition, slri_text_view(&step));
    print_nested(p, instr->body[1]);
    if (instr->do_while && step.length)
        slri_print_give_up(p, "a loop cannot be written as source");
    slri_text_printf(p->out, instr->do_while ? "%*s} while (%s);\n" : "%*s}\n", (int)p->indent, "", condition);
    slri_text_free(&test);
    slri_text_free(&step);
}

static void print_switch(struct printing *p, const struct slri_instr *instr)
{
    struct slri_text value = SLRI_TEXT_INIT;
    slri_print_operand(p, instr->a, ANYTHING, &value);
    settle_waiting(p, NULL, true);
    begin_line(p);
    slri_text_printf(p->out, "switch (%s) {\n", slri_text_view(&value));
    for (uint32_t k = 0; k < instr->cases; ++k) {
        struct slri_text label = SLRI_TEXT_INIT;
        slri_print_constant(p->function->reg_kind[instr->a], instr->match[k].value, &label);
        slri_text_printf(p->out, instr->match[k].is_default ? "%*sdefault:%.0s {\n" : "%*scase %s: {\n", (int)p->indent,
                         "", slri_text_view(&label));
        print_nested(p, instr->match[k].body);
        slri_text_printf(p->out, "%*s}\n", (int)p->indent, "");
        slri_text_free(&label);
    }
    slri_text_printf(p->out, "%*s}\n", (int)p->indent, "");
    slri_text_free(&value);
}

static void print_jump(struct printing *p, const struct slri_instr *instr)
{
    struct slri_text value = SLRI_TEXT_INIT;
    if (instr->op == SLRI_OP_RETURN && instr->a != SLRI_NO_REG)
        slri_print_operand(p, instr->a, ANYTHING, &value);
    begin_line(p);
    slri_text_printf(p->out, "%s%s%s",
                     instr->op == SLRI_OP_BREAK      ? "break"
                     : instr->op == SLRI_OP_CONTINUE ? "continue"
                                                     : "return",
                     value.length ? " " : "", slri_text_view(&value));
    end_line(p);
    slri_text_free(&value);
}

static void print_statement(struct printing *p, const struct slri_instr *instr)
{
    bool is_nested = instr->op == SLRI_OP_IF || instr->op == SLRI_OP_LOOP || instr->op == SLRI_OP_SWITCH;
    if (is_nested && p->in_line)
        slri_print_give_up(p, "a loop's condition has a branch");
    else if (instr->op == SLRI_OP_IF)
        print_if(p, instr);
    else if (instr->op == SLRI_OP_LOOP)
        print_loop(p, instr);
    else if (instr->op == SLRI_OP_SWITCH)
        print_switch(p, instr);
    else if (instr->op == SLRI_OP_STORE)
        print_store(p, instr);
    else if (instr->op == SLRI_OP_BREAK || instr->op == SLRI_OP_CONTINUE || instr->op == SLRI_OP_RETURN)
        print_jump(p, instr);
    else if (instr->dst != SLRI_NO_REG)
        print_assignment(p, instr);
    else if (instr->op != SLRI_OP_INDEX && instr->op != SLRI_OP_CALL)
        slri_print_give_up(p, "an operation cannot be written as source");
}

static void print_block(struct printing *p, const struct slri_block *block, uint32_t first, uint32_t end)
{
    for (uint32_t i = first; i < end && !p->failed; ++i)
        if (!slri_print_skips(p, &block->instr[i]))
            print_statement(p, &block->instr[i]);
    if (!p->in_line)
        settle_waiting(p, NULL, true);
}

// ---- bodies and functions ------------------------------------------------------------------------------------------

static bool is_parameter(const struct printing *p, slri_reg reg)
{
    for (uint32_t i = 0; !p->print && i < p->function->params; ++i)
        if (p->function->param[i].reg == reg)
            return true;
    return false;
}

// Variables that are assigned several times, or read outside the block that assigns them.
static void declare_variables(struct printing *p)
{
    for (slri_reg reg = 0; reg < p->function->regs; ++reg) {
        struct printed *r = &p->reg[reg];
        if (r->is_test && r->writes == 1 && r->reads == 1)
            continue;                     // it becomes the condition
        bool has_value = r->name != NULL; // a parameter: it is assigned, too
        if (r->writes == 0 || slri_print_held(p, reg)->held == SLRI_HELD_INDEX ||
            (is_declared_at_first(r) && !has_value))
            continue;
        r->place = DECLARED;
        if (is_parameter(p, reg))
            continue;
        const char *from = r->name;
        r->name = NULL;
        name_register(p, reg);
        begin_line(p);
        slri_text_printf(p->out, "%s %s%s%s", slri_kind_source(p->function->reg_kind[reg]), r->name,
                         has_value ? " = " : "", has_value ? from : "");
        end_line(p);
    }
}

static slr_status finish_printing(struct printing *p)
{
    for (slri_reg reg = 0; reg < p->function->regs; ++reg)
        free(p->reg[reg].text);
    if (p->failed)
        return SLRI_FAIL(UNSUPPORTED, "%s: %s", p->function->name, p->why);
    if (p->out_of_memory || p->names->out_of_memory || p->out->out_of_memory)
        return SLRI_FAIL(NO_MEMORY, "no memory to write %s as source", p->function->name);
    return SLR_OK;
}

slr_status slri_print_body(const struct slri_print_part *print, struct slri_name_list *names, uint32_t indent,
                           struct slri_text *out, char why[200])
{
    const struct slri_part *part = print->part;
    struct printing p = {.print = print,
                         .function_name = print->function,
                         .module = part->module,
                         .function = part->entry->function,
                         .names = names,
                         .out = out,
                         .indent = indent,
                         .why = why};
    p.reg = slri_region_take(names->region, (p.function->regs + 1) * sizeof *p.reg);
    if (!p.reg)
        return SLRI_FAIL(NO_MEMORY, "no memory to write %s as source", p.function->name);
    for (uint32_t i = 0; i < part->entry->bindings; ++i)
        if (!part->entry->binding[i].is_buffer && part->entry->binding[i].reg != SLRI_NO_REG)
            p.reg[part->entry->binding[i].reg].name = print->binding[i].name;
    slri_print_count(&p, part->before, 0, part->before_count);
    for (uint32_t i = 0; i < part->before_count; ++i) // they are printed with the body
        if (part->before->instr[i].dst != SLRI_NO_REG) {
            p.reg[part->before->instr[i].dst].block_to = UINT32_MAX;
            p.reg[part->before->instr[i].dst].first_to = UINT32_MAX;
        }
    slri_print_count(&p, part->body, part->body_first, part->body->count);
    declare_variables(&p);
    print_block(&p, part->before, 0, part->before_count);
    print_block(&p, part->body, part->body_first, part->body->count);
    return finish_printing(&p);
}

slr_status slri_print_function(const struct slri_module *module, const struct slri_function *function,
                               const char *const *functions, const char *name, struct slri_name_list *names,
                               struct slri_text *out, char why[200])
{
    struct printing p = {.function_name = functions,
                         .module = module,
                         .function = function,
                         .names = names,
                         .out = out,
                         .indent = 4,
                         .why = why};
    p.reg = slri_region_take(names->region, (function->regs + 1) * sizeof *p.reg);
    if (!p.reg)
        return SLRI_FAIL(NO_MEMORY, "no memory to write %s as source", function->name);
    slri_text_printf(out, "__device__ %s %s(", slri_kind_source(function->result), name);
    for (uint32_t i = 0; i < function->params; ++i) {
        name_register(&p, function->param[i].reg);
        slri_text_printf(out, "%s%s %s", i ? ", " : "", slri_kind_source(function->reg_kind[function->param[i].reg]),
                         p.reg[function->param[i].reg].name);
    }
    slri_text_puts(out, ")\n{\n");
    slri_print_count(&p, function->body, 0, function->body->count);
    declare_variables(&p);
    print_block(&p, function->body, 0, function->body->count);
    slri_text_puts(out, "}\n\n");
    return finish_printing(&p);
}
