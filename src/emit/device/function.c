// SPDX-License-Identifier: Apache-2.0
// A function: what it is given, its registers and locals. Whatever lies in memory is given by pointer, from the entry
// down: state, message, buffers, shared memory, then the caller's own memory beside the scalars.
#include "emit/device/emit_device.h"
#include "ir/ir_names.h"

// ---- what it is given ----------------------------------------------------------------------------------------------

void slri_d_param_name(struct slri_d_emitter *e, uint32_t param)
{
    slri_d_name(e, e->c.function->param[param].name, "P", param);
}

static const struct slri_binding_info *binding_of(const struct slri_d_emitter *e,
                                                  const struct slri_d_function *function, struct slri_root root)
{
    (void)e;
    return root.kind == SLRI_ROOT_BINDING ? &function->entry->binding[root.index] : NULL;
}

static bool is_buffer_of_handler(const struct slri_d_emitter *e, const struct slri_d_function *function,
                                 struct slri_root root)
{
    const struct slri_binding_info *binding = binding_of(e, function, root);
    return binding && function->in_handler && !binding->is_outlet;
}

static void put_root_param(struct slri_d_emitter *e, const struct slri_d_function *function, struct slri_root root)
{
    const struct slri_binding_info *binding = binding_of(e, function, root);
    if (root.kind == SLRI_ROOT_GLOBAL) {
        slri_text_printf(e->c.out, "%sunsigned char *slri_globals", e->dialect->space[root.kind]);
    } else if (binding && binding->is_outlet) {
        slri_d_put(e, "ring_to(");
        slri_d_type(e, binding->type);
        slri_d_put(e, ") ");
        slri_d_root(e, root);
    } else if (is_buffer_of_handler(e, function, root)) {
        slri_d_put(e, "SLRI_BUFFER_PARAM(");
        slri_d_root(e, root);
        slri_d_put(e, ")");
    } else {
        slri_text_printf(e->c.out, "%sunsigned char *", e->dialect->space[slri_d_space(e, root)]);
        slri_d_root(e, root);
    }
}

static void put_param(struct slri_d_emitter *e, uint32_t index)
{
    const struct slri_param *param = &e->c.function->param[index];
    if (param->is_memory) {
        slri_d_put(e, "SLRI_MEMORY_PARAM(");
        slri_d_param_name(e, index);
        slri_d_put(e, ")");
    } else {
        slri_text_printf(e->c.out, "%s ", e->dialect->kind[e->c.function->reg_kind[param->reg]]);
        slri_d_register(e, param->reg);
    }
}

static void put_signature(struct slri_d_emitter *e, uint32_t index)
{
    const struct slri_function *function = e->c.function;
    const struct slri_d_function *traits = &e->functions[index];
    const char *result = function->result == SLRI_VOID ? "void" : e->dialect->kind[function->result];
    slri_text_printf(e->c.out, "%s%s slrf_%s(", e->dialect->function, result, function->name);
    const char *before = "";
    for (uint32_t bit = 0; bit < slri_d_root_bits(e); bit++) {
        if (!slri_d_uses(e, traits, bit))
            continue;
        slri_d_put(e, before);
        put_root_param(e, traits, slri_d_root_of(e, bit));
        before = ", ";
    }
    for (uint32_t i = 0; i < function->params; i++) {
        slri_d_put(e, before);
        put_param(e, i);
        before = ", ";
    }
    if (e->dialect->extra(e, function, before, true))
        before = ", ";
    slri_d_put(e, !traits->in_handler ? (*before ? "" : "void") : *before ? " SLRI_AND_HERE" : "SLRI_HERE");
    slri_d_put(e, ")\n{\n");
}

// ---- what it gives -------------------------------------------------------------------------------------------------

static void put_root_argument(struct slri_d_emitter *e, const struct slri_d_function *callee, struct slri_root root)
{
    const struct slri_binding_info *binding = binding_of(e, callee, root);
    if (root.kind == SLRI_ROOT_GLOBAL || (binding && binding->is_outlet)) {
        if (root.kind == SLRI_ROOT_GLOBAL)
            slri_d_put(e, "slri_globals");
        else
            slri_d_root(e, root);
        return;
    }
    if (is_buffer_of_handler(e, callee, root))
        slri_d_put(e, "SLRI_BUFFER(");
    else
        slri_d_put(e, slri_d_is_object(e, root) ? "SLRI_ROOT_OBJECT(" : "SLRI_ROOT(");
    slri_d_root(e, root);
    slri_d_put(e, e->dialect->root_space[slri_d_space(e, root)]);
    slri_d_put(e, ")");
}

static void put_memory_argument(struct slri_d_emitter *e, const struct slri_arg *arg)
{
    slri_d_put(e, slri_d_is_object(e, arg->root) ? "SLRI_MEMORY_OBJECT(" : "SLRI_MEMORY(");
    slri_d_root(e, arg->root);
    slri_d_put(e, ", ");
    slri_d_register(e, arg->reg);
    slri_d_put(e, ")");
}

void slri_d_arguments(struct slri_d_emitter *e, const struct slri_instr *call)
{
    const struct slri_d_function *callee = slri_d_traits(e, call->callee);
    const char *before = "";
    for (uint32_t bit = 0; bit < slri_d_root_bits(e); bit++) {
        if (!slri_d_uses(e, callee, bit))
            continue;
        slri_d_put(e, before);
        put_root_argument(e, callee, slri_d_root_of(e, bit));
        before = ", ";
    }
    for (uint32_t i = 0; i < call->args; i++) {
        slri_d_put(e, before);
        if (call->callee->param[i].is_memory)
            put_memory_argument(e, &call->arg[i]);
        else
            slri_d_register(e, call->arg[i].reg);
        before = ", ";
    }
    if (e->dialect->extra(e, call->callee, before, false))
        before = ", ";
    slri_d_put(e, !callee->in_handler ? "" : *before ? " SLRI_PASS_HERE" : "SLRI_GIVE_HERE");
}

// ---- what is read --------------------------------------------------------------------------------------------------

static bool counts_reads(const struct slri_c_emitter *c, const struct slri_instr *in, void *user)
{
    (void)c;
    uint32_t *reads = user;
    const slri_reg operands[] = {in->a, in->b, in->c};
    for (int i = 0; i < 3; i++)
        if (operands[i] != SLRI_NO_REG)
            reads[operands[i]]++;
    for (uint32_t i = 0; i < in->args; i++)
        reads[in->arg[i].reg]++;
    return false;
}

static bool assigns(const struct slri_c_emitter *c, const struct slri_instr *in, void *user)
{
    (void)c;
    return in->dst == *(slri_reg *)user && in->op < SLRI_OP_ATOMIC_LOAD;
}

// ---- its own -------------------------------------------------------------------------------------------------------

static bool leaves_unnamed(const struct slri_c_emitter *c, const struct slri_instr *in, void *user)
{
    const struct slri_d_emitter *e = user;
    return in->op == SLRI_OP_LOOP && in->a == e->asked && slri_d_is_unnamed(c, e->reads, in);
}

static bool is_mentioned(struct slri_d_emitter *e, slri_reg reg)
{
    e->asked = reg;
    if (!e->names_all && e->reads[reg] == 1 && slri_c_any(&e->c, e->c.function->body, leaves_unnamed, e))
        return false;
    return e->reads[reg] || slri_c_any(&e->c, e->c.function->body, assigns, &reg);
}

static bool is_scalar_param(const struct slri_function *function, slri_reg reg)
{
    for (uint32_t i = 0; i < function->params; i++)
        if (function->param[i].reg == reg)
            return !function->param[i].is_memory;
    return false;
}

// A register that holds something on entry: a scalar of the entry, or how far a parameter points into its memory.
static bool put_initial(struct slri_d_emitter *e, slri_reg reg)
{
    const struct slri_function *function = e->c.function;
    for (uint32_t i = 0; e->entry && i < e->entry->bindings; i++) {
        const struct slri_binding_info *binding = &e->entry->binding[i];
        if (binding->reg != reg || binding->is_buffer)
            continue;
        bool is_special = binding->type->kind == SLRI_BOOL || slri_kind_is_half(binding->type->kind);
        if (is_special)
            slri_text_printf(e->c.out, "SLRI_GIVEN_%s(", slri_kind_name(binding->type->kind));
        slri_d_binding(e, i);
        slri_d_put(e, is_special ? ")" : "");
        return true;
    }
    for (uint32_t i = 0; i < function->params; i++) {
        if (function->param[i].reg != reg)
            continue;
        slri_d_put(e, "SLRI_OFFSET(");
        slri_d_param_name(e, i);
        slri_d_put(e, ")");
        return true;
    }
    return false;
}

// Registers start at 0, as in the interpreter.
static void put_registers(struct slri_d_emitter *e)
{
    const struct slri_function *function = e->c.function;
    for (slri_reg reg = 0; reg < function->regs; reg++) {
        if (e->c.reg[reg].literal || is_scalar_param(function, reg) || !is_mentioned(e, reg))
            continue;
        slri_text_printf(e->c.out, "    %s ", e->dialect->kind[function->reg_kind[reg]]);
        slri_d_register(e, reg);
        slri_d_put(e, " = ");
        if (!put_initial(e, reg))
            slri_d_put(e, "0");
        slri_d_put(e, ";\n");
    }
}

static void put_local(struct slri_d_emitter *e, uint32_t index)
{
    const struct slri_local *local = &e->c.function->local[index];
    if (!e->dialect->words) {
        slri_d_put(e, local->type->align < 16 && local->type->bytes > local->type->align ? "SLRI_ALIGNED_16 " : "");
        slri_d_declarator(e, local->type, local->name, index);
        return;
    }
    struct slri_text name = SLRI_TEXT_INIT, *out = e->c.out;
    e->c.out = &name;
    slri_d_root(e, (struct slri_root){SLRI_ROOT_LOCAL, index});
    e->c.out = out;
    slri_d_words(e, local->type, slri_text_view(&name));
    out->out_of_memory |= name.out_of_memory;
    slri_text_free(&name);
}

static void put_locals(struct slri_d_emitter *e)
{
    for (uint32_t i = 0; i < e->c.function->locals; i++) {
        slri_d_put(e, "    ");
        put_local(e, i);
        slri_d_put(e, ";\n");
    }
}

// ---- literals ------------------------------------------------------------------------------------------------------

static bool is_unary_or_binary(const struct slri_instr *in)
{
    return (in->op >= SLRI_OP_NEG && in->op <= SLRI_OP_GE) || in->op == SLRI_OP_CONVERT;
}

// An operation on constants alone would be folded by whoever reads the text: one of its operands stays a variable.
static bool keeps_constants(const struct slri_c_emitter *c, const struct slri_instr *in, void *user)
{
    (void)user;
    bool folds = is_unary_or_binary(in) && c->reg[in->a].literal && (in->b == SLRI_NO_REG || c->reg[in->b].literal);
    bool branches = (in->op == SLRI_OP_IF || in->op == SLRI_OP_LOOP || in->op == SLRI_OP_SWITCH) &&
                    in->a != SLRI_NO_REG && c->reg[in->a].literal;
    if (folds || branches)
        c->reg[in->a].literal = NULL;
    return false;
}

bool slri_d_enter(struct slri_d_emitter *e, uint32_t index)
{
    e->c.function = e->c.module->function[index];
    e->entry = NULL;
    for (uint32_t i = 0; i < e->c.module->entries; i++)
        if (e->c.module->entry[i].function == e->c.function)
            e->entry = &e->c.module->entry[i];
    e->c.reg = slri_region_take(e->c.scratch, (e->c.function->regs + 1) * sizeof *e->c.reg);
    e->reads = slri_region_take(e->c.scratch, (e->c.function->regs + 1) * sizeof *e->reads);
    if (!e->c.reg || !e->reads)
        return false;
    slri_c_count_registers(&e->c, e->entry);
    slri_c_any(&e->c, e->c.function->body, counts_reads, e->reads);
    slri_c_any(&e->c, e->c.function->body, keeps_constants, NULL);
    return true;
}

void slri_d_function(struct slri_d_emitter *e, uint32_t index)
{
    bool entered = slri_d_enter(e, index);
    e->c.out->out_of_memory |= !entered;
    if (!entered)
        return;
    if (e->entry)
        e->dialect->entry(e, e->entry);
    else
        put_signature(e, index);
    put_registers(e);
    put_locals(e);
    e->c.line = 0;
    e->c.fresh = true;
    e->c.depth = 1;
    if (e->dialect->body)
        e->dialect->body(e);
    else
        slri_d_block(e, e->c.function->body);
    slri_c_close(&e->c);
    slri_d_put(e, "\n#line 1 \"slipring: emitted\"\n");
}
