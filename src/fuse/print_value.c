// SPDX-License-Identifier: Apache-2.0
// Instructions as expressions.
#include "fuse/printing.h"

#include "ir/math/functions.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// A finite float or double so that it reads back as the same: "1.5", "3.0", "1e+30".
static void print_finite(double value, int digits, const char *suffix, struct slri_text *out)
{
    char text[40];
    snprintf(text, sizeof text, "%.*g", digits, value);
    slri_text_printf(out, "%s%s%s", text, strpbrk(text, ".e") ? "" : ".0", suffix);
}

void slri_print_constant(enum slri_kind kind, uint64_t bits, struct slri_text *out)
{
    float narrow;
    double wide;
    uint32_t low = (uint32_t)bits;
    memcpy(&narrow, &low, sizeof narrow);
    memcpy(&wide, &bits, sizeof wide);
    if (kind == SLRI_F32 && isfinite(narrow))
        print_finite((double)narrow, 9, "f", out);
    else if (kind == SLRI_F32)
        slri_text_printf(out, "__int_as_float(%d)", (int32_t)low);
    else if (kind == SLRI_F64 && isfinite(wide))
        print_finite(wide, 17, "", out);
    else if (kind == SLRI_F64)
        slri_text_printf(out, "__longlong_as_double(%lldll)", (long long)bits);
    else if (kind == SLRI_I64 && (int64_t)bits == INT64_MIN)
        slri_text_puts(out, "(-9223372036854775807ll - 1)");
    else if (kind == SLRI_I64)
        slri_text_printf(out, "%lldll", (long long)bits);
    else if (kind == SLRI_U64)
        slri_text_printf(out, "%lluull", (unsigned long long)bits);
    else if (kind == SLRI_U32)
        slri_text_printf(out, "%uu", low);
    else if (low == UINT32_C(0x80000000))
        slri_text_puts(out, "(-2147483647 - 1)");
    else
        slri_text_printf(out, "%d", (int32_t)low);
}

const struct slri_register *slri_print_held(const struct printing *p, slri_reg reg)
{
    static const struct slri_register none;
    return p->print ? &p->print->part->reg[reg] : &none;
}

void slri_print_drop(struct printed *r)
{
    free(r->text);
    r->text = NULL;
    r->place = 0;
}

static void print_index(struct printing *p, slri_reg reg, struct slri_text *out)
{
    enum slri_kind kind = p->function->reg_kind[reg];
    if (kind == p->print->index_kind)
        slri_text_puts(out, p->print->index);
    else
        slri_text_printf(out, "(%s)%s", slri_kind_source(kind), p->print->index);
}

// The register as an operand, in parentheses where its operator binds more loosely than `most`. Gives whether it reads
// memory.
bool slri_print_operand(struct printing *p, slri_reg reg, enum level most, struct slri_text *out)
{
    struct printed *r = &p->reg[reg];
    if (slri_print_held(p, reg)->held == SLRI_HELD_INDEX) {
        print_index(p, reg, out);
        return false;
    }
    if (r->place != LATER) {
        if (!r->name)
            slri_print_give_up(p, "an address is used as a number");
        slri_text_puts(out, r->name ? r->name : "x");
        return false;
    }
    bool reads = r->reads_memory;
    slri_text_printf(out, r->level <= most ? "%s" : "(%s)", r->text);
    if (--r->reads == 0)
        slri_print_drop(r);
    return reads;
}

static const char *sign_of(enum slri_op op)
{
    static const char *const sign[] = {
        [SLRI_OP_ADD] = "+", [SLRI_OP_SUB] = "-",  [SLRI_OP_MUL] = "*",  [SLRI_OP_DIV] = "/",
        [SLRI_OP_REM] = "%", [SLRI_OP_SHL] = "<<", [SLRI_OP_SHR] = ">>", [SLRI_OP_AND] = "&",
        [SLRI_OP_OR] = "|",  [SLRI_OP_XOR] = "^",  [SLRI_OP_EQ] = "==",  [SLRI_OP_NE] = "!=",
        [SLRI_OP_LT] = "<",  [SLRI_OP_LE] = "<=",  [SLRI_OP_GT] = ">",   [SLRI_OP_GE] = ">="};
    return (size_t)op < sizeof sign / sizeof *sign ? sign[op] : NULL;
}

static enum level level_of(enum slri_op op)
{
    if (op == SLRI_OP_MUL || op == SLRI_OP_DIV || op == SLRI_OP_REM)
        return PRODUCT;
    if (op == SLRI_OP_ADD || op == SLRI_OP_SUB)
        return SUM_LEVEL;
    return op >= SLRI_OP_EQ && op <= SLRI_OP_GE ? COMPARISON : OTHER_OPERATOR;
}

static bool print_arguments(struct printing *p, const struct slri_instr *instr, const char *name, struct slri_text *out)
{
    bool reads = false;
    slri_text_printf(out, "%s(", name);
    for (uint32_t i = 0; i < instr->args; ++i) {
        slri_text_puts(out, i ? ", " : "");
        reads = slri_print_operand(p, instr->arg[i].reg, ANYTHING, out) || reads;
    }
    slri_text_puts(out, ")");
    return reads;
}

// The element that an access names: "x[i]", or the variable that holds it.
bool slri_print_element(struct printing *p, const struct slri_instr *instr, struct slri_text *out)
{
    struct slri_access access;
    if (!p->print || !slri_part_access(p->print->part, instr, &access)) {
        slri_print_give_up(p, "an address is computed");
        return false;
    }
    const struct slri_spelling *spelling = &p->print->binding[access.binding];
    if (spelling->variable) {
        slri_text_puts(out, spelling->variable);
        return true;
    }
    slri_text_printf(out, "%s[", spelling->name);
    if (access.to == SLRI_TO_ELEMENT)
        slri_text_puts(out, p->print->index);
    else if (access.index == SLRI_NO_REG)
        slri_text_printf(out, "%lld", (long long)access.imm);
    else
        slri_print_operand(p, access.index, ANYTHING, out);
    slri_text_puts(out, "]");
    return true;
}

// "-x", or "-(-x)", for "--x" would be another operator.
static bool print_negated(struct printing *p, slri_reg reg, struct slri_text *out)
{
    struct slri_text operand = SLRI_TEXT_INIT;
    bool reads = slri_print_operand(p, reg, UNARY, &operand);
    bool begins_with_minus = *slri_text_view(&operand) == '-';
    slri_text_printf(out, begins_with_minus ? "-(%s)" : "-%s", slri_text_view(&operand));
    p->out_of_memory = p->out_of_memory || operand.out_of_memory;
    slri_text_free(&operand);
    return reads;
}

// The value of an instruction. Gives whether it reads memory.
bool slri_print_value(struct printing *p, const struct slri_instr *instr, enum level *level, struct slri_text *out)
{
    static const char *const builtins[] = {
#define SPELLING(name, spelling) spelling,
        SLRI_BUILTIN_LIST(SPELLING)
#undef SPELLING
    };
    const char *sign = sign_of(instr->op);
    *level = ATOM;
    if (sign) {
        *level = level_of(instr->op);
        bool chains = *level == PRODUCT || *level == SUM_LEVEL; // from left to right
        enum level below = *level == OTHER_OPERATOR ? UNARY : (enum level)(*level - 1);
        bool reads = slri_print_operand(p, instr->a, chains ? *level : below, out);
        slri_text_printf(out, " %s ", sign);
        return slri_print_operand(p, instr->b, below, out) || reads;
    }
    switch (instr->op) {
    case SLRI_OP_CONST:
        slri_print_constant(instr->kind, instr->imm, out);
        *level = *slri_text_view(out) == '-' ? UNARY : ATOM;
        return false;
    case SLRI_OP_MOVE:
        *level = p->reg[instr->a].place == LATER ? (enum level)p->reg[instr->a].level : ATOM;
        return slri_print_operand(p, instr->a, ANYTHING, out);
    case SLRI_OP_NEG:
        *level = UNARY;
        return print_negated(p, instr->a, out);
    case SLRI_OP_NOT:
        *level = UNARY;
        slri_text_puts(out, "~");
        return slri_print_operand(p, instr->a, UNARY, out);
    case SLRI_OP_CONVERT:
        *level = UNARY;
        slri_text_printf(out, "(%s)", slri_kind_source(instr->kind));
        return slri_print_operand(p, instr->a, UNARY, out);
    case SLRI_OP_BUILTIN:
        slri_text_puts(out, builtins[instr->imm]);
        return false;
    case SLRI_OP_MATH:
        return print_arguments(p, instr, slri_math_functions[instr->imm].name, out);
    case SLRI_OP_CALL:
        return print_arguments(p, instr, p->function_name[instr->callee->index], out);
    case SLRI_OP_LOAD:
        return slri_print_element(p, instr, out);
    default:
        slri_print_give_up(p, "an operation cannot be written as source");
        return false;
    }
}
