// SPDX-License-Identifier: Apache-2.0
// IR as source. A value that is read once becomes a part of the expression that reads it; every other has a variable.
#include "fuse/print.h"

#include "base/status.h"
#include "ir/math/functions.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// How loosely operators bind; parentheses are left out only among the first five.
enum level { ATOM, UNARY, PRODUCT, SUM_LEVEL, COMPARISON, OTHER_OPERATOR, ANYTHING };

enum place { LATER = 1, DECLARED }; // of a register: its expression waits; it has a variable

struct printed { // a register
    const char *name;
    char *text; // of LATER
    uint32_t reads, writes;
    uint32_t block_from, block_to; // where the block that writes it begins and ends, in the order of instructions
    uint32_t at, first_at, first_to, first_read, last_read; // `at`: the last that writes it; first_to: as block_to
    uint8_t place;
    uint8_t level; // of LATER: how loosely its operator binds
    bool reads_memory, is_constant;
};

struct printing {
    const struct slri_print_part *print; // NULL: of a function
    const char *const *function_name;
    const struct slri_module *module;
    const struct slri_function *function;
    struct printed *reg;
    struct slri_name_list *names;
    struct slri_text *out;
    uint32_t indent, order;
    bool in_line; // statements are parts of one expression: `a = 1, b = 2`
    bool failed, out_of_memory;
    char *why;
};

static void print_block(struct printing *p, const struct slri_block *block, uint32_t first, uint32_t end);

static void give_up_printing(struct printing *p, const char *why)
{
    if (!p->failed)
        snprintf(p->why, 200, "%s", why);
    p->failed = true;
}

// ---- names ---------------------------------------------------------------------------------------------------------

static bool is_name_taken(const struct slri_name_list *names, const char *name)
{
    for (uint32_t i = 0; i < names->count; ++i)
        if (strcmp(names->name[i], name) == 0)
            return true;
    return false;
}

static const char *add_name(struct slri_name_list *names, const char *name)
{
    if (names->count == names->room) {
        uint32_t room = names->room ? 2 * names->room : 32;
        const char **grown = slri_region_take(names->region, room * sizeof *grown);
        if (!grown) {
            names->out_of_memory = true;
            return "x";
        }
        if (names->count)
            memcpy(grown, names->name, names->count * sizeof *grown);
        names->name = grown;
        names->room = room;
    }
    const char *kept = slri_region_text(names->region, name, strlen(name));
    names->out_of_memory = names->out_of_memory || !kept;
    return kept ? names->name[names->count++] = kept : "x";
}

const char *slri_name_unique(struct slri_name_list *names, const char *wanted)
{
    char name[160];
    snprintf(name, sizeof name, "%.128s", wanted);
    for (uint32_t i = 2; is_name_taken(names, name); ++i)
        snprintf(name, sizeof name, "%.128s_%u", wanted, i);
    return add_name(names, name);
}

const char *slri_kind_source(enum slri_kind kind)
{
    static const char *const source[] = {[SLRI_VOID] = "void",      [SLRI_BOOL] = "bool",
                                         [SLRI_I8] = "signed char", [SLRI_U8] = "unsigned char",
                                         [SLRI_I16] = "short",      [SLRI_U16] = "unsigned short",
                                         [SLRI_I32] = "int",        [SLRI_U32] = "unsigned",
                                         [SLRI_I64] = "long long",  [SLRI_U64] = "unsigned long long",
                                         [SLRI_F32] = "float",      [SLRI_F64] = "double"};
    return (size_t)kind < sizeof source / sizeof *source && source[kind] ? source[kind] : "void";
}

// ---- reads and writes ----------------------------------------------------------------------------------------------

static void count_read(struct printing *p, slri_reg reg, uint32_t at)
{
    if (reg == SLRI_NO_REG)
        return;
    struct printed *r = &p->reg[reg];
    r->first_read = r->reads ? r->first_read : at;
    r->last_read = at;
    ++r->reads;
}

static bool is_skipped_here(const struct printing *p, const struct slri_instr *instr)
{
    return instr->op == SLRI_OP_INDEX || (p->print && slri_part_is_address(p->print->part, instr));
}

static void count_access(struct printing *p, const struct slri_instr *instr, uint32_t at)
{
    struct slri_access access;
    if (!p->print || !slri_part_access(p->print->part, instr, &access))
        give_up_printing(p, "an address is computed");
    else if (access.to == SLRI_TO_OTHER)
        count_read(p, access.index, at);
    if (instr->op == SLRI_OP_STORE)
        count_read(p, instr->b, at);
}

static void count_block(struct printing *p, const struct slri_block *block, uint32_t first, uint32_t end);

static void count_instr(struct printing *p, const struct slri_instr *instr, uint32_t block_from)
{
    uint32_t at = p->order++;
    if (instr->dst != SLRI_NO_REG) {
        struct printed *r = &p->reg[instr->dst];
        r->at = at;
        r->block_from = block_from;
        if (r->writes++ == 0) {
            r->first_at = at;
            r->first_to = block_from; // until its block has ended
        }
    }
    if (is_skipped_here(p, instr))
        return;
    if (instr->op == SLRI_OP_LOAD || instr->op == SLRI_OP_STORE) {
        count_access(p, instr, at);
        return;
    }
    count_read(p, instr->a, at);
    count_read(p, instr->b, at);
    count_read(p, instr->c, at);
    for (uint32_t i = 0; i < instr->args; ++i)
        count_read(p, instr->arg[i].reg, at);
    for (int k = 0; k < 3; ++k)
        if (instr->body[k])
            count_block(p, instr->body[k], 0, instr->body[k]->count);
    for (uint32_t k = 0; k < instr->cases; ++k)
        count_block(p, instr->match[k].body, 0, instr->match[k].body->count);
}

static void count_block(struct printing *p, const struct slri_block *block, uint32_t first, uint32_t end)
{
    uint32_t from = p->order;
    for (uint32_t i = first; i < end; ++i)
        count_instr(p, &block->instr[i], from);
    for (uint32_t i = first; i < end; ++i) {
        slri_reg dst = block->instr[i].dst;
        if (dst == SLRI_NO_REG)
            continue;
        if (p->reg[dst].block_from == from)
            p->reg[dst].block_to = p->order;
        if (p->reg[dst].first_to == from && p->reg[dst].first_at >= from)
            p->reg[dst].first_to = p->order;
    }
}

// ---- expressions ---------------------------------------------------------------------------------------------------

// A finite float or double so that it reads back as the same: "1.5", "3.0", "1e+30".
static void print_finite(double value, int digits, const char *suffix, struct slri_text *out)
{
    char text[40];
    snprintf(text, sizeof text, "%.*g", digits, value);
    slri_text_printf(out, "%s%s%s", text, strpbrk(text, ".e") ? "" : ".0", suffix);
}

static void print_constant(enum slri_kind kind, uint64_t bits, struct slri_text *out)
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

static const struct slri_register *held_here(const struct printing *p, slri_reg reg)
{
    static const struct slri_register none;
    return p->print ? &p->print->part->reg[reg] : &none;
}

static void drop_text(struct printed *r)
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
static bool print_operand(struct printing *p, slri_reg reg, enum level most, struct slri_text *out)
{
    struct printed *r = &p->reg[reg];
    if (held_here(p, reg)->held == SLRI_HELD_INDEX) {
        print_index(p, reg, out);
        return false;
    }
    if (r->place != LATER) {
        if (!r->name)
            give_up_printing(p, "an address is used as a number");
        slri_text_puts(out, r->name ? r->name : "x");
        return false;
    }
    bool reads = r->reads_memory;
    slri_text_printf(out, r->level <= most ? "%s" : "(%s)", r->text);
    if (--r->reads == 0)
        drop_text(r);
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
        reads = print_operand(p, instr->arg[i].reg, ANYTHING, out) || reads;
    }
    slri_text_puts(out, ")");
    return reads;
}

// The element that an access names: "x[i]", or the variable that holds it.
static bool print_element(struct printing *p, const struct slri_instr *instr, struct slri_text *out)
{
    struct slri_access access;
    if (!p->print || !slri_part_access(p->print->part, instr, &access)) {
        give_up_printing(p, "an address is computed");
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
        print_operand(p, access.index, ANYTHING, out);
    slri_text_puts(out, "]");
    return true;
}

// The value of an instruction. Gives whether it reads memory.
static bool print_value(struct printing *p, const struct slri_instr *instr, enum level *level, struct slri_text *out)
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
        bool reads = print_operand(p, instr->a, chains ? *level : below, out);
        slri_text_printf(out, " %s ", sign);
        return print_operand(p, instr->b, below, out) || reads;
    }
    switch (instr->op) {
    case SLRI_OP_CONST:
        print_constant(instr->kind, instr->imm, out);
        *level = *slri_text_view(out) == '-' ? UNARY : ATOM;
        return false;
    case SLRI_OP_MOVE:
        *level = p->reg[instr->a].place == LATER ? (enum level)p->reg[instr->a].level : ATOM;
        return print_operand(p, instr->a, ANYTHING, out);
    case SLRI_OP_NEG:
    case SLRI_OP_NOT:
        *level = UNARY;
        slri_text_puts(out, instr->op == SLRI_OP_NEG ? "-" : "~");
        return print_operand(p, instr->a, UNARY, out);
    case SLRI_OP_CONVERT:
        *level = UNARY;
        slri_text_printf(out, "(%s)", slri_kind_source(instr->kind));
        return print_operand(p, instr->a, UNARY, out);
    case SLRI_OP_BUILTIN:
        slri_text_puts(out, builtins[instr->imm]);
        return false;
    case SLRI_OP_MATH:
        return print_arguments(p, instr, slri_math_functions[instr->imm].name, out);
    case SLRI_OP_CALL:
        return print_arguments(p, instr, p->function_name[instr->callee->index], out);
    case SLRI_OP_LOAD:
        return print_element(p, instr, out);
    default:
        give_up_printing(p, "an operation cannot be written as source");
        return false;
    }
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
        drop_text(r);
        return;
    }
    if (p->in_line) {
        give_up_printing(p, "a loop's condition or step has variables of its own");
        return;
    }
    name_register(p, reg);
    begin_line(p);
    slri_text_printf(p->out, "const %s %s = %s", slri_kind_source(p->function->reg_kind[reg]), r->name, r->text);
    end_line(p);
    drop_text(r);
    r->place = DECLARED;
}

bool slri_mentions_name(const char *text, const char *name)
{
    size_t length = strlen(name);
    for (const char *at = text; (at = strstr(at, name)); at += length) {
        bool begins = at == text || (!isalnum((unsigned char)at[-1]) && at[-1] != '_');
        if (begins && !isalnum((unsigned char)at[length]) && at[length] != '_')
            return true;
    }
    return false;
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
    bool reads = print_value(p, instr, &level, &value);
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
        give_up_printing(p, "a loop's condition or step has variables of its own");
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
    print_operand(p, instr->b, narrows ? ATOM : ANYTHING, &value);
    print_element(p, instr, &place);
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
    print_operand(p, instr->a, ANYTHING, &condition);
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
        print_operand(p, instr->a, ANYTHING, &test);
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
        give_up_printing(p, "a loop cannot be written as source");
    slri_text_printf(p->out, instr->do_while ? "%*s} while (%s);\n" : "%*s}\n", (int)p->indent, "", condition);
    slri_text_free(&test);
    slri_text_free(&step);
}

static void print_switch(struct printing *p, const struct slri_instr *instr)
{
    struct slri_text value = SLRI_TEXT_INIT;
    print_operand(p, instr->a, ANYTHING, &value);
    settle_waiting(p, NULL, true);
    begin_line(p);
    slri_text_printf(p->out, "switch (%s) {\n", slri_text_view(&value));
    for (uint32_t k = 0; k < instr->cases; ++k) {
        struct slri_text label = SLRI_TEXT_INIT;
        print_constant(p->function->reg_kind[instr->a], instr->match[k].value, &label);
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
        print_operand(p, instr->a, ANYTHING, &value);
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
        give_up_printing(p, "a loop's condition has a branch");
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
        give_up_printing(p, "an operation cannot be written as source");
}

static void print_block(struct printing *p, const struct slri_block *block, uint32_t first, uint32_t end)
{
    for (uint32_t i = first; i < end && !p->failed; ++i)
        if (!is_skipped_here(p, &block->instr[i]))
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
        bool has_value = r->name != NULL; // a parameter: it is assigned, too
        if (r->writes == 0 || held_here(p, reg)->held == SLRI_HELD_INDEX || (is_declared_at_first(r) && !has_value))
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
    count_block(&p, part->before, 0, part->before_count);
    for (uint32_t i = 0; i < part->before_count; ++i) // they are printed with the body
        if (part->before->instr[i].dst != SLRI_NO_REG) {
            p.reg[part->before->instr[i].dst].block_to = UINT32_MAX;
            p.reg[part->before->instr[i].dst].first_to = UINT32_MAX;
        }
    count_block(&p, part->body, part->body_first, part->body->count);
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
    count_block(&p, function->body, 0, function->body->count);
    declare_variables(&p);
    print_block(&p, function->body, 0, function->body->count);
    slri_text_puts(out, "}\n\n");
    return finish_printing(&p);
}
