// SPDX-License-Identifier: Apache-2.0
// What is known of the registers of the functions that a kernel comes to: who is written how often, whose high word
// anything asks for, and which are multiples of 2, 4 or 8.
#include "ir/pass/words_internal.h"

#define MOST_ZEROS 3 // low bits of a multiple of 8

struct walk {
    struct slri_words *w;
    struct slri_words_function *function;
    const struct slri_function *source;
    bool changed;
};

typedef void visit_instr(struct walk *walk, const struct slri_instr *in);

static void visit_all(struct walk *walk, const struct slri_block *block, visit_instr *visit)
{
    for (uint32_t i = 0; block && i < block->count; i++) {
        const struct slri_instr *in = &block->instr[i];
        visit(walk, in);
        for (int part = 0; part < 3; part++)
            visit_all(walk, in->body[part], visit);
        for (uint32_t k = 0; k < in->cases; k++)
            visit_all(walk, in->match[k].body, visit);
    }
}

static struct slri_words_function *callee_of(const struct walk *walk, const struct slri_instr *in)
{
    return &walk->w->functions[in->callee->index];
}

// ---- which functions, and how often a register is written ----------------------------------------------------------

static void note_callee(struct walk *walk, const struct slri_instr *in)
{
    if (in->op == SLRI_OP_CALL)
        callee_of(walk, in)->is_needed = true;
}

static void note_write(struct walk *walk, const struct slri_instr *in)
{
    if (in->dst != SLRI_NO_REG)
        walk->function->reg[in->dst].writes++;
}

// ---- high words ----------------------------------------------------------------------------------------------------

static void ask(struct walk *walk, slri_reg reg)
{
    if (reg == SLRI_NO_REG || !slri_words_is_wide(walk->w, walk->source->reg_kind[reg]) ||
        walk->function->reg[reg].high)
        return;
    walk->function->reg[reg].high = true;
    walk->changed = true;
}

static bool is_asked(const struct walk *walk, slri_reg reg)
{
    return reg != SLRI_NO_REG && walk->function->reg[reg].high;
}

static void ask_of_call(struct walk *walk, const struct slri_instr *in)
{
    const struct slri_words_function *callee = callee_of(walk, in);
    for (uint32_t i = 0; i < in->args; i++)
        if (callee->reg[in->callee->param[i].reg].high)
            ask(walk, in->arg[i].reg);
}

static void ask_of_instr(struct walk *walk, const struct slri_instr *in)
{
    switch (in->op) {
    case SLRI_OP_MOVE: // what comes in goes out, or the carry out of the low word does
    case SLRI_OP_NEG:
    case SLRI_OP_NOT:
    case SLRI_OP_ADD:
    case SLRI_OP_SUB:
    case SLRI_OP_MUL:
    case SLRI_OP_AND:
    case SLRI_OP_OR:
    case SLRI_OP_XOR:
        if (is_asked(walk, in->dst)) {
            ask(walk, in->a);
            ask(walk, in->b);
        }
        break;
    case SLRI_OP_SHL:
        if (is_asked(walk, in->dst))
            ask(walk, in->a);
        break;
    case SLRI_OP_SHR:
    case SLRI_OP_SWITCH:
    case SLRI_OP_RETURN:
        ask(walk, in->a);
        break;
    case SLRI_OP_CONVERT:
        if (in->kind == SLRI_BOOL || slri_kind_is_float(in->kind) || is_asked(walk, in->dst))
            ask(walk, in->a);
        break;
    case SLRI_OP_DIV:
    case SLRI_OP_REM:
    case SLRI_OP_EQ:
    case SLRI_OP_NE:
    case SLRI_OP_LT:
    case SLRI_OP_LE:
    case SLRI_OP_GT:
    case SLRI_OP_GE:
        ask(walk, in->a);
        ask(walk, in->b);
        break;
    case SLRI_OP_STORE:
        ask(walk, in->b);
        break;
    case SLRI_OP_MATH:
    case SLRI_OP_WARP:
    case SLRI_OP_PRINT:
        for (uint32_t i = 0; i < in->args; i++)
            ask(walk, in->arg[i].reg);
        break;
    case SLRI_OP_CALL:
        ask_of_call(walk, in);
        break;
    default: // an access's offset is narrow
        break;
    }
}

// ---- multiples of powers of two ------------------------------------------------------------------------------------

static uint8_t at_most(uint32_t zeros)
{
    return (uint8_t)(zeros < MOST_ZEROS ? zeros : MOST_ZEROS);
}

static uint8_t zeros_of_value(uint64_t value)
{
    return value & 1 ? 0 : value & 2 ? 1 : value & 4 ? 2 : MOST_ZEROS;
}

// Of a shift by a register that one CONST writes.
static uint8_t zeros_of_shift(const struct walk *walk, const struct slri_instr *in, uint8_t a)
{
    const struct slri_words_reg *count = &walk->function->reg[in->b];
    if (count->writes != 1 || !count->is.low.is_const)
        return a;
    return at_most(a + (uint32_t)(count->is.low.value & (8 * slri_kind_bytes(in->kind) - 1)));
}

static uint8_t zeros_of_instr(const struct walk *walk, const struct slri_instr *in)
{
    const struct slri_words_reg *reg = walk->function->reg;
    uint8_t a = in->a != SLRI_NO_REG ? reg[in->a].zeros : 0, b = in->b != SLRI_NO_REG ? reg[in->b].zeros : 0;
    switch (in->op) {
    case SLRI_OP_CONST:
        return zeros_of_value(in->imm);
    case SLRI_OP_MOVE:
    case SLRI_OP_NEG:
        return a;
    case SLRI_OP_ADD:
    case SLRI_OP_SUB:
    case SLRI_OP_OR:
    case SLRI_OP_XOR:
        return a < b ? a : b;
    case SLRI_OP_AND:
        return a > b ? a : b;
    case SLRI_OP_MUL:
        return at_most((uint32_t)a + b);
    case SLRI_OP_SHL:
        return zeros_of_shift(walk, in, a);
    case SLRI_OP_CONVERT:
        return slri_kind_is_float(walk->source->reg_kind[in->a]) || in->kind == SLRI_BOOL ? 0 : a;
    default:
        return 0;
    }
}

static void lower_zeros(struct walk *walk, struct slri_words_reg *reg, uint8_t zeros)
{
    if (zeros >= reg->zeros)
        return;
    reg->zeros = zeros;
    walk->changed = true;
}

static void note_zeros(struct walk *walk, const struct slri_instr *in)
{
    if (in->op == SLRI_OP_CALL)
        for (uint32_t i = 0; i < in->args; i++)
            lower_zeros(walk, &callee_of(walk, in)->reg[in->callee->param[i].reg],
                        walk->function->reg[in->arg[i].reg].zeros);
    if (in->dst == SLRI_NO_REG)
        return;
    struct slri_words_reg *dst = &walk->function->reg[in->dst];
    if (in->op == SLRI_OP_CONST) // until the function is written; zeros_of_shift asks
        dst->is.low = slri_words_const(in->kind, in->imm);
    lower_zeros(walk, dst, zeros_of_instr(walk, in));
}

// ---- all functions -------------------------------------------------------------------------------------------------

static void visit_needed(struct walk *walk, visit_instr *visit)
{
    for (uint32_t i = 0; i < walk->w->l.from->functions; i++) {
        walk->function = &walk->w->functions[i];
        walk->source = walk->w->l.from->function[i];
        if (walk->function->is_needed)
            visit_all(walk, walk->source->body, visit);
    }
}

static bool take_registers(struct slri_words *w, uint32_t index)
{
    const struct slri_function *source = w->l.from->function[index];
    struct slri_words_function *function = &w->functions[index];
    function->reg = slri_region_take(w->l.region, (source->regs + (size_t)1) * sizeof *function->reg);
    if (!function->reg)
        return false;
    for (uint32_t i = 0; i < source->regs; i++)
        function->reg[i].zeros = MOST_ZEROS;
    for (uint32_t i = 0; i < source->params; i++)
        function->reg[source->param[i].reg].writes++;
    return true;
}

static void note_bindings(struct slri_words *w, struct slri_words_function *function)
{
    for (uint32_t i = 0; i < w->kernel->bindings; i++) {
        const struct slri_binding_info *binding = &w->kernel->binding[i];
        if (binding->reg == SLRI_NO_REG)
            continue;
        function->reg[binding->reg].writes++;
        function->reg[binding->reg].zeros = binding->is_buffer ? MOST_ZEROS : 0;
    }
}

bool slri_words_find(struct slri_words *w)
{
    struct walk walk = {.w = w};
    const struct slri_module *from = w->l.from;
    w->functions = slri_region_take(w->l.region, (from->functions + (size_t)1) * sizeof *w->functions);
    if (!w->functions)
        return false;
    w->functions[w->kernel->function->index].is_needed = true;
    for (uint32_t i = from->functions; i-- > 0;) { // callers before callees
        walk.function = &w->functions[i];
        walk.source = from->function[i];
        if (!walk.function->is_needed)
            continue;
        if (!take_registers(w, i))
            return false;
        visit_all(&walk, walk.source->body, note_callee);
    }
    note_bindings(w, &w->functions[w->kernel->function->index]);
    visit_needed(&walk, note_write);
    do { // a loop's body may ask for what stands above it; a callee's parameter for what a caller gives
        walk.changed = false;
        visit_needed(&walk, ask_of_instr);
    } while (walk.changed);
    do {
        walk.changed = false;
        visit_needed(&walk, note_zeros);
    } while (walk.changed);
    return true;
}
