// SPDX-License-Identifier: Apache-2.0
// Parts of linear registers: computed where the register is defined, once a block or row, and spelled where it is used.
#include "emit/c/plan.h"

// What the lane's word is, from which a wide register is widened.
static enum slri_kind word_kind(const struct slri_c_kernel *k, slri_reg reg)
{
    while (k->value[reg].wide) {
        const struct slri_instr *in = k->value[reg].def;
        reg = slri_c_is_linear(k, in->a) ? in->a : in->b;
    }
    return k->function.reg_kind[reg];
}

static bool is_wide_kind(enum slri_kind kind)
{
    return kind == SLRI_I64 || kind == SLRI_U64;
}

// ---- names ---------------------------------------------------------------------------------------------------------

static bool has_array(const struct slri_c_kernel *k, slri_reg reg)
{
    return k->value[reg].base_level == SLRI_LEVEL_ROW && k->value[reg].many_row_nests;
}

// b c: the word and its stride; m d: the factor and what is added; f g: all of it and its stride; o: nothing wraps.
void slri_c_part(struct slri_c_emitter *e, slri_reg reg, char part)
{
    struct slri_c_kernel *k = e->kernel;
    struct slri_c_value *value = &k->value[reg];
    if (k->row_nest && value->row_nest && value->row_nest != k->row_nest)
        value->many_row_nests = true;
    if (k->row_nest)
        value->row_nest = k->row_nest;
    if ((part == 'c' && !value->wide && value->stride_known) || (part == 'g' && value->stride_known))
        slri_text_printf(e->out, part == 'g' ? "((int64_t)%lld)" : "(%lld)", (long long)value->stride);
    else
        slri_text_printf(e->out, "r%u_%c%s", reg, part, has_array(k, reg) ? "[row]" : "");
}

static const char *part_type(const struct slri_c_kernel *k, slri_reg reg, char part)
{
    if (part == 'o')
        return "_Bool";
    if (part == 'b' || part == 'c')
        return slri_kind_spelling(word_kind(k, reg));
    return "int64_t";
}

static const char *parts_of(const struct slri_c_value *value)
{
    if (!value->wide)
        return value->stride_known ? "b" : "bc";
    if (value->safe)
        return value->stride_known ? "f" : "fg";
    return value->stride_known ? "bcmdfo" : "bcmdfgo";
}

void slri_c_declare_parts(struct slri_c_emitter *e, slri_reg reg)
{
    const struct slri_c_kernel *k = e->kernel;
    for (const char *part = parts_of(&k->value[reg]); *part; part++) {
        if (has_array(k, reg))
            slri_text_printf(e->out, " %s r%u_%c[%u];", part_type(k, reg, *part), reg, *part, k->rows);
        else
            slri_text_printf(e->out, " %s r%u_%c = 0;", part_type(k, reg, *part), reg, *part);
    }
}

// ---- definitions ---------------------------------------------------------------------------------------------------

static void put_word(struct slri_c_emitter *e, const struct slri_instr *in, char part)
{
    const struct slri_c_kernel *k = e->kernel;
    bool is_base = part == 'b', a = slri_c_is_linear(k, in->a), b = in->op != SLRI_OP_SHL && slri_c_is_linear(k, in->b);
    const char *type = slri_kind_spelling(k->function.reg_kind[in->dst]);
    slri_text_printf(e->out, " ");
    slri_c_part(e, in->dst, part);
    slri_text_printf(e->out, " = (%s)(", type);
    if (in->op == SLRI_OP_BUILTIN) {
        slri_c_put(e, is_base ? "0" : "1");
    } else if (in->op == SLRI_OP_MOVE || in->op == SLRI_OP_CONVERT) {
        slri_c_part(e, in->a, k->value[in->a].wide ? (is_base ? 'f' : 'g') : part);
    } else if (in->op == SLRI_OP_ADD || in->op == SLRI_OP_SUB) {
        if (a)
            slri_c_part(e, in->a, part);
        else if (is_base)
            slri_c_register(e, in->a);
        else
            slri_c_put(e, "0");
        slri_c_put(e, in->op == SLRI_OP_ADD ? " + " : " - ");
        if (b)
            slri_c_part(e, in->b, part);
        else if (is_base)
            slri_c_register(e, in->b);
        else
            slri_c_put(e, "0");
    } else {
        slri_c_part(e, a ? in->a : in->b, part);
        slri_c_put(e, in->op == SLRI_OP_MUL ? " * " : " << (31 & ");
        slri_c_register(e, a ? in->b : in->a);
        slri_c_put(e, in->op == SLRI_OP_MUL ? "" : ")");
    }
    slri_c_put(e, ");");
}

// dst_part = the same part of the linear operand, with the other operand applied where it matters.
static void put_wide_part(struct slri_c_emitter *e, const struct slri_instr *in, char part)
{
    const struct slri_c_kernel *k = e->kernel;
    bool a = slri_c_is_linear(k, in->a), is_sum = in->op == SLRI_OP_ADD || in->op == SLRI_OP_SUB;
    slri_reg lane = a ? in->a : in->b, other = a ? in->b : in->a;
    bool is_copied = part == 'b' || part == 'c' || part == 'o' || in->op == SLRI_OP_MOVE || in->op == SLRI_OP_CONVERT ||
                     (is_sum && (part == 'm' || part == 'g'));
    slri_c_put(e, " ");
    slri_c_part(e, in->dst, part);
    slri_c_put(e, " = ");
    if (is_copied) {
        bool is_negated = in->op == SLRI_OP_SUB && !a && (part == 'm' || part == 'g');
        slri_c_put(e, is_negated ? "-" : "");
        slri_c_part(e, lane, part);
    } else if (is_sum && a) {
        slri_c_part(e, lane, part);
        slri_c_put(e, in->op == SLRI_OP_ADD ? " + (int64_t)" : " - (int64_t)");
        slri_c_register(e, other);
    } else if (is_sum) {
        slri_c_put(e, "(int64_t)");
        slri_c_register(e, other);
        slri_c_put(e, in->op == SLRI_OP_ADD ? " + " : " - ");
        slri_c_part(e, lane, part);
    } else {
        slri_c_part(e, lane, part);
        slri_c_put(e, in->op == SLRI_OP_MUL ? " * (int64_t)" : " << (63 & ");
        slri_c_register(e, other);
        slri_c_put(e, in->op == SLRI_OP_MUL ? "" : ")");
    }
    slri_c_put(e, ";");
}

static void put_widened_part(struct slri_c_emitter *e, const struct slri_instr *in, char part)
{
    const struct slri_c_kernel *k = e->kernel;
    bool is_signed = k->function.reg_kind[in->a] == SLRI_I32;
    slri_c_put(e, " ");
    slri_c_part(e, in->dst, part);
    slri_c_put(e, " = ");
    switch (part) {
    case 'm':
        slri_c_put(e, "1");
        break;
    case 'd':
        slri_c_put(e, "0");
        break;
    case 'g': // the stride of unsigned words is signed all the same
        slri_c_put(e, "(int64_t)(int32_t)");
        slri_c_part(e, in->a, 'c');
        break;
    case 'o':
        slri_text_printf(e->out, "slri_steady_%s(", is_signed ? "I32" : "U32");
        slri_c_part(e, in->a, 'b');
        slri_c_put(e, ", (int32_t)");
        slri_c_part(e, in->a, 'c');
        slri_text_printf(e->out, ", %u)", k->block[0] - 1);
        break;
    default: // b c f
        slri_c_part(e, in->a, part == 'f' ? 'b' : part);
        break;
    }
    slri_c_put(e, ";");
}

void slri_c_put_parts(struct slri_c_emitter *e, const struct slri_instr *in)
{
    const struct slri_c_kernel *k = e->kernel;
    const struct slri_c_value *value = &k->value[in->dst];
    bool widens = value->wide && in->op == SLRI_OP_CONVERT && !is_wide_kind(k->function.reg_kind[in->a]);
    slri_c_begin(e, in->where);
    for (const char *part = parts_of(value); *part; part++) {
        if (!value->wide)
            put_word(e, in, *part);
        else if (widens)
            put_widened_part(e, in, *part);
        else
            put_wide_part(e, in, *part);
    }
}

// ---- uses ----------------------------------------------------------------------------------------------------------

static void note_unsafe(struct slri_c_kernel *k, slri_reg reg)
{
    for (uint32_t i = 0; i < k->unsafes; i++)
        if (k->unsafe[i] == reg)
            return;
    k->unsafe[k->unsafes++] = reg;
}

static void put_word_linear(struct slri_c_emitter *e, slri_reg reg, enum slri_kind kind)
{
    slri_c_put(e, "(");
    slri_c_part(e, reg, 'b');
    slri_c_put(e, " + ");
    if (!e->kernel->value[reg].wide && e->kernel->value[reg].stride_known && e->kernel->value[reg].stride == 1) {
        slri_text_printf(e->out, "(%s)lane)", slri_kind_spelling(kind));
        return;
    }
    slri_text_printf(e->out, "(%s)", slri_kind_spelling(kind));
    slri_c_part(e, reg, 'c');
    slri_text_printf(e->out, " * (%s)lane)", slri_kind_spelling(kind));
}

void slri_c_put_linear(struct slri_c_emitter *e, slri_reg reg)
{
    struct slri_c_kernel *k = e->kernel;
    const struct slri_c_value *value = &k->value[reg];
    enum slri_kind kind = k->function.reg_kind[reg];
    if (!value->wide) {
        put_word_linear(e, reg, kind);
        return;
    }
    if (!value->safe)
        note_unsafe(k, reg);
    slri_text_printf(e->out, kind == SLRI_U64 ? "(uint64_t)(" : "(");
    if (k->slow && !value->safe) {
        slri_c_part(e, reg, 'm');
        slri_c_put(e, " * (int64_t)");
        put_word_linear(e, reg, word_kind(k, reg));
        slri_c_put(e, " + ");
        slri_c_part(e, reg, 'd');
    } else {
        slri_c_part(e, reg, 'f');
        slri_c_put(e, " + ");
        slri_c_part(e, reg, 'g');
        slri_c_put(e, " * (int64_t)lane");
    }
    slri_c_put(e, ")");
}
