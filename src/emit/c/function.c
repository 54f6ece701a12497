// SPDX-License-Identifier: Apache-2.0
// One function: what its callers must know, its signature, its registers and locals.
#include "emit/c/debug.h"
#include "emit/c/internal.h"
#include "ir/ir_names.h"
#include "ir/math/functions.h"

#include <string.h>

// ---- looking at its instructions -----------------------------------------------------------------------------------

bool slri_c_any(const struct slri_c_emitter *e, const struct slri_block *block, slri_c_visit *visit, void *user)
{
    for (uint32_t i = 0; block && i < block->count; i++) {
        const struct slri_instr *in = &block->instr[i];
        if (visit(e, in, user))
            return true;
        for (int part = 0; part < 3; part++)
            if (slri_c_any(e, in->body[part], visit, user))
                return true;
        for (uint32_t c = 0; c < in->cases; c++)
            if (slri_c_any(e, in->match[c].body, visit, user))
                return true;
    }
    return false;
}

// ---- functions -----------------------------------------------------------------------------------------------------

static void put_signature(struct slri_c_emitter *e)
{
    const struct slri_function *function = e->function;
    bool can_fault = e->traits->can_fault;
    if (e->is_grid)
        slri_text_printf(e->out, "SLRI_IN %s %s%s(SLRI_PLACE", slri_kind_spelling(function->result), e->prefix,
                         function->name);
    else
        slri_text_printf(e->out,
                         "static inline %s %s%s(struct slri_call *const call, unsigned char *const restrict state, "
                         "const unsigned char *const restrict message%s",
                         can_fault ? "uint32_t" : slri_kind_spelling(function->result), e->prefix, function->name,
                         e->is_block ? ", const struct slri_block_memory *const roots, const int32_t lane" : "");
    if (can_fault && function->result != SLRI_VOID)
        slri_text_printf(e->out, ", %s *const result", slri_kind_spelling(function->result));
    for (uint32_t i = 0; i < function->params; i++) {
        const struct slri_param *param = &function->param[i];
        if (param->is_memory) {
            slri_c_put(e, ", unsigned char *const ");
            slri_c_root(e, (struct slri_root){SLRI_ROOT_PARAM, i});
        }
        slri_text_printf(e->out, ", %s ", slri_kind_spelling(function->reg_kind[param->reg]));
        slri_c_register(e, param->reg);
    }
    slri_c_put(e, ")\n{\n");
}

static const struct slri_entry *entry_of(const struct slri_c_emitter *e)
{
    for (uint32_t i = 0; i < e->module->entries; i++)
        if (e->module->entry[i].function == e->function)
            return &e->module->entry[i];
    return NULL;
}

static bool is_param(const struct slri_function *function, slri_reg reg)
{
    for (uint32_t i = 0; i < function->params; i++)
        if (function->param[i].reg == reg)
            return true;
    return false;
}

static bool is_declared(const struct slri_c_emitter *e, slri_reg reg)
{
    return !e->reg[reg].literal && e->reg[reg].assignments && !is_param(e->function, reg);
}

// Registers start at 0, as in the interpreter: what reads one before it is assigned gives the same everywhere.
static void put_registers(struct slri_c_emitter *e)
{
    for (int kind = SLRI_I32; kind <= SLRI_F64; kind++) {
        uint32_t count = 0;
        for (slri_reg reg = 0; reg < e->function->regs; reg++) {
            if ((int)e->function->reg_kind[reg] != kind || !is_declared(e, reg))
                continue;
            if (count % 8 == 0)
                slri_text_printf(e->out, "%s    %s ", count ? ";\n" : "", slri_kind_spelling(kind));
            slri_c_put(e, count++ % 8 ? ", " : "");
            slri_c_register(e, reg);
            slri_c_put(e, " = 0");
        }
        slri_c_put(e, count ? ";\n" : "");
    }
}

// Zeroed for the same reason, and so that a reply's padding never shows what another message left on the stack.
static void put_locals(struct slri_c_emitter *e)
{
    for (uint32_t i = 0; i < e->function->locals; i++) {
        const struct slri_type *type = e->function->local[i].type;
        if (slri_c_debug_is_typed(e, &e->function->local[i])) {
            slri_c_debug_local(e, i);
            continue;
        }
        slri_text_printf(e->out, "    _Alignas(%u) unsigned char ", type->align);
        slri_c_root(e, (struct slri_root){SLRI_ROOT_LOCAL, i});
        slri_text_printf(e->out, "[%llu] = {0};\n", (unsigned long long)type->bytes);
    }
}

static bool marks_bindings(const struct slri_c_emitter *e, const struct slri_instr *in, void *user)
{
    uint32_t *bindings = user; // one more than the highest in use
    (void)e;
    if (in->root.kind == SLRI_ROOT_BINDING && in->root.index >= *bindings)
        *bindings = in->root.index + 1;
    if (in->root2.kind == SLRI_ROOT_BINDING && in->root2.index >= *bindings)
        *bindings = in->root2.index + 1;
    return false;
}

static void put_bindings(struct slri_c_emitter *e)
{
    const struct slri_entry *entry = entry_of(e);
    uint32_t buffers = 0;
    slri_c_any(e, e->function->body, marks_bindings, &buffers);
    for (uint32_t i = 0; i < buffers; i++)
        slri_text_printf(e->out,
                         "    unsigned char *const bound%u = call->bound[%u].data;\n"
                         "    const uint64_t bound%u_bytes = call->bound[%u].bytes;\n",
                         i, i, i, i);
    for (uint32_t i = 0; entry && i < entry->bindings; i++) {
        const struct slri_binding_info *binding = &entry->binding[i];
        if (binding->is_buffer)
            continue;
        slri_c_put(e, "    ");
        slri_c_register(e, binding->reg);
        slri_text_printf(e->out, " = slri_load_%s(call->bound[%u].data);\n", slri_kind_name(binding->type->kind), i);
    }
}

static void put_head(struct slri_c_emitter *e)
{
    const struct slri_entry *entry = e->is_debug && !e->is_block ? entry_of(e) : NULL;
    put_signature(e);
    slri_c_put(e, e->traits->can_fault ? "    uint32_t fault;\n" : "");
    slri_c_put(e, e->traits->uses_fuel ? "    uint64_t fuel = call->fuel;\n" : "");
    put_registers(e);
    put_locals(e);
    if (!e->is_grid)
        put_bindings(e);
    if (entry)
        slri_c_debug_parameters(e, entry);
}

// To a debugger all of it is the line of the source that the function begins in; else its lines would be taken for
// those that follow.
static void put_head_in_a_line(struct slri_c_emitter *e)
{
    struct slri_text head = SLRI_TEXT_INIT, *out = e->out;
    e->out = &head;
    put_head(e);
    e->out = out;
    out->out_of_memory |= head.out_of_memory;
    for (size_t i = 0; i < head.length; i++)
        if (head.data[i] == '\n')
            head.data[i] = ' ';
    e->line = 0;
    e->fresh = true;
    e->depth = 0;
    slri_c_begin(e, e->function->where);
    slri_text_append(out, slri_text_view(&head), head.length);
    slri_c_put(e, "\n");
    slri_text_free(&head);
}

static bool counts_assignments(const struct slri_c_emitter *e, const struct slri_instr *in, void *user)
{
    (void)user;
    if (in->dst == SLRI_NO_REG)
        return false;
    struct slri_c_register *reg = &e->reg[in->dst];
    bool is_temporary = !e->function->reg_name[in->dst];
    reg->literal = ++reg->assignments == 1 && is_temporary && in->op == SLRI_OP_CONST ? in : NULL;
    return false;
}

void slri_c_count_registers(struct slri_c_emitter *e, const struct slri_entry *entry)
{
    const struct slri_function *function = e->function;
    for (uint32_t i = 0; i < function->params; i++)
        e->reg[function->param[i].reg].assignments++, e->reg[function->param[i].reg].is_given = true;
    for (uint32_t i = 0; entry && i < entry->bindings; i++)
        if (entry->binding[i].reg != SLRI_NO_REG)
            e->reg[entry->binding[i].reg].assignments++, e->reg[entry->binding[i].reg].is_given = true;
    slri_c_any(e, function->body, counts_assignments, NULL);
}

static bool is_flag(const struct slri_c_emitter *e, slri_reg reg)
{
    return e->reg[reg].is_flag && !e->reg[reg].literal;
}

static bool assumes_flag(const struct slri_c_emitter *e, const struct slri_instr *in, void *user)
{
    (void)user;
    if (in->dst != SLRI_NO_REG)
        e->reg[in->dst].is_flag = !e->reg[in->dst].is_given;
    return false;
}

// ---- flags ---------------------------------------------------------------------------------------------------------

static bool gives_flag(const struct slri_c_emitter *e, const struct slri_instr *in)
{
    const char *math = in->op == SLRI_OP_MATH ? slri_math_functions[in->imm].name : "";
    switch (in->op) {
    case SLRI_OP_CONST:
        return in->imm <= 1;
    case SLRI_OP_MOVE:
        return e->reg[in->a].is_flag;
    case SLRI_OP_CONVERT:
        return in->kind == SLRI_BOOL || (!slri_kind_is_float(in->kind) && e->reg[in->a].is_flag);
    case SLRI_OP_AND:
        return is_flag(e, in->a) || is_flag(e, in->b);
    case SLRI_OP_OR:
    case SLRI_OP_XOR:
        return e->reg[in->a].is_flag && e->reg[in->b].is_flag;
    case SLRI_OP_LOAD:
        return in->kind == SLRI_BOOL;
    case SLRI_OP_MATH:
        return strncmp(math, "is", 2) == 0 || strcmp(math, "signbit") == 0;
    case SLRI_OP_CALL:
        return slri_c_traits(e, in->callee)->gives_flag;
    case SLRI_OP_PRESENT:
        return true;
    default:
        return in->op >= SLRI_OP_EQ && in->op <= SLRI_OP_GE;
    }
}

static bool takes_flag_back(const struct slri_c_emitter *e, const struct slri_instr *in, void *user)
{
    bool *changed = user;
    if (in->dst != SLRI_NO_REG && e->reg[in->dst].is_flag && !gives_flag(e, in)) {
        e->reg[in->dst].is_flag = false;
        *changed = true;
    }
    return false;
}

// Assumed of all that only instructions assign, and taken back until nothing changes.
void slri_c_find_flags(struct slri_c_emitter *e)
{
    bool changed = true;
    slri_c_any(e, e->function->body, assumes_flag, NULL);
    while (changed) {
        changed = false;
        slri_c_any(e, e->function->body, takes_flag_back, &changed);
    }
}

static bool returns_other(const struct slri_c_emitter *e, const struct slri_instr *in, void *user)
{
    (void)user;
    return in->op == SLRI_OP_RETURN && in->a != SLRI_NO_REG && !e->reg[in->a].is_flag;
}

bool slri_c_faults(const struct slri_c_emitter *e, const struct slri_instr *in, void *unused)
{
    (void)unused;
    return in->op == SLRI_OP_LOOP || slri_c_may_fault(e, in);
}

static bool takes_fuel(const struct slri_c_emitter *e, const struct slri_instr *in, void *user)
{
    (void)user;
    return in->op == SLRI_OP_LOOP || (in->op == SLRI_OP_CALL && slri_c_traits(e, in->callee)->uses_fuel);
}

static bool ends_with_return(const struct slri_block *body)
{
    return body->count && body->instr[body->count - 1].op == SLRI_OP_RETURN;
}

void slri_c_function(struct slri_c_emitter *e, uint32_t index)
{
    e->function = e->module->function[index];
    e->traits = &e->functions[index];
    e->reg = slri_region_take(e->scratch, (e->function->regs + 1) * sizeof *e->reg);
    e->out->out_of_memory |= !e->reg;
    if (!e->reg)
        return;
    slri_c_count_registers(e, entry_of(e));
    slri_c_find_flags(e);
    e->functions[index].gives_flag =
        e->function->result != SLRI_VOID && !slri_c_any(e, e->function->body, returns_other, NULL);
    e->functions[index].can_fault = !e->is_grid && slri_c_any(e, e->function->body, slri_c_faults, NULL);
    e->functions[index].uses_fuel = !e->is_grid && slri_c_any(e, e->function->body, takes_fuel, NULL);
    e->labels = 0;
    if (e->is_debug)
        put_head_in_a_line(e);
    else
        put_head(e);
    e->line = 0;
    e->fresh = true;
    e->depth = 1;
    slri_c_block(e, e->function->body);
    if (!ends_with_return(e->function->body)) {
        slri_c_begin(e, (struct slri_where){0});
        slri_c_return(e, SLRI_NO_REG);
    }
    slri_c_close(e);
    slri_c_put(e, "\n\n");
}
