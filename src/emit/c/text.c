// SPDX-License-Identifier: Apache-2.0
// The emitted text's small pieces: lines and #line, literals, names, addresses.
#include "emit/c/debug.h"
#include "emit/c/internal.h"
#include "emit/c/plan.h"

// ---- where the output stands ---------------------------------------------------------------------------------------

static void new_line(struct slri_c_emitter *e)
{
    if (!e->fresh)
        slri_c_put(e, "\n");
    e->line += !e->fresh;
    e->fresh = true;
}

// A string of C: whatever a path holds, no character of it ends the string or makes a trigraph.
static void put_path(struct slri_c_emitter *e, const char *path)
{
    slri_c_put(e, "\"");
    for (; *path; path++) {
        unsigned char c = (unsigned char)*path;
        if (c == '"' || c == '\\' || c == '?' || c < ' ' || c == 127)
            slri_text_printf(e->out, "\\%03o", c);
        else
            slri_text_append(e->out, path, 1);
    }
    slri_c_put(e, "\"");
}

void slri_c_begin(struct slri_c_emitter *e, struct slri_where where)
{
    bool known = where.line != 0, same = where.line == e->line && where.file == e->file;
    if (!e->fresh && (same || !known)) {
        slri_c_put(e, " ");
        return;
    }
    new_line(e);
    if (known && (where.line != e->line || where.file != e->file)) {
        slri_text_printf(e->out, "#line %u ", where.line);
        put_path(e, e->module->file[where.file]);
        slri_c_put(e, "\n");
        e->file = where.file;
        e->line = where.line;
    }
    slri_text_printf(e->out, "%*s", (int)(4 * e->depth), "");
    e->fresh = false;
}

void slri_c_close(struct slri_c_emitter *e)
{
    e->depth--;
    if (e->is_debug && !e->fresh) { // a line of its own would be the next one of the source
        slri_c_put(e, " }");
        return;
    }
    new_line(e);
    slri_text_printf(e->out, "%*s}", (int)(4 * e->depth), "");
    e->fresh = false;
}

// ---- registers, literals, addresses --------------------------------------------------------------------------------

// Hexadecimal digits, not printf's %a, whose point is a comma in some locales.
static void put_float(struct slri_c_emitter *e, bool negative, uint32_t exponent, uint64_t fraction, int digits,
                      int bias, const char *suffix)
{
    int power = exponent ? (int)exponent - bias : 1 - bias;
    slri_text_printf(e->out, "(%s0x%d.%0*llxp%d%s)", negative ? "-" : "", exponent != 0, digits,
                     (unsigned long long)fraction, power, suffix);
}

void slri_c_literal(struct slri_c_emitter *e, enum slri_kind kind, uint64_t bits)
{
    long long value = kind == SLRI_I32 ? (int32_t)(uint32_t)bits : (long long)bits;
    if (kind == SLRI_F32 && (bits >> 23 & 0xff) == 0xff)
        slri_text_printf(e->out, "slri_uint_as_float(0x%08llxu)", (unsigned long long)bits);
    else if (kind == SLRI_F32)
        put_float(e, bits >> 31 & 1, bits >> 23 & 0xff, (bits & 0x7fffff) << 1, 6, 127, "f");
    else if (kind == SLRI_F64 && (bits >> 52 & 0x7ff) == 0x7ff)
        slri_text_printf(e->out, "slri_from_bits(0x%016llxull)", (unsigned long long)bits);
    else if (kind == SLRI_F64)
        put_float(e, bits >> 63, bits >> 52 & 0x7ff, bits & 0xfffffffffffff, 13, 1023, "");
    else if (kind == SLRI_U32 || kind == SLRI_U64)
        slri_text_printf(e->out, "%llu%s", (unsigned long long)bits, kind == SLRI_U32 ? "u" : "ull");
    else if (value == (kind == SLRI_I32 ? INT32_MIN : INT64_MIN)) // C has no literal for the least integer
        slri_c_put(e, kind == SLRI_I32 ? "INT32_MIN" : "INT64_MIN");
    else
        slri_text_printf(e->out, value < 0 ? "(%lld%s)" : "%lld%s", value, kind == SLRI_I32 ? "" : "ll");
}

// A source name with its index, which no keyword, macro or other name has. A temporary has its index alone.
static void put_name(struct slri_c_emitter *e, const char *name, const char *mark, uint32_t index)
{
    if (name && *name)
        slri_text_printf(e->out, "%s%s_%s%u", *name == '_' ? "v" : "", name, mark, index);
    else
        slri_text_printf(e->out, "%s%u", *mark ? mark : "r", index);
}

void slri_c_register(struct slri_c_emitter *e, slri_reg reg)
{
    if (e->reg[reg].literal)
        slri_c_literal(e, e->function->reg_kind[reg], e->reg[reg].literal->imm);
    else if (e->kernel)
        slri_c_kernel_register(e, reg);
    else if (e->is_debug && !e->is_block && slri_c_debug_is_variable(e, reg))
        slri_c_put(e, e->function->reg_name[reg]);
    else
        put_name(e, e->function->reg_name[reg], "", reg);
}

bool slri_c_is_literal(const struct slri_c_emitter *e, slri_reg reg, uint64_t *value)
{
    const struct slri_instr *literal = reg < e->function->regs ? e->reg[reg].literal : NULL;
    if (literal)
        *value = literal->kind == SLRI_I32 ? (uint64_t)(int64_t)(int32_t)(uint32_t)literal->imm : literal->imm;
    return literal != NULL;
}

void slri_c_root(struct slri_c_emitter *e, struct slri_root root)
{
    switch (root.kind) {
    case SLRI_ROOT_STATE:
        slri_c_put(e, "state");
        break;
    case SLRI_ROOT_MESSAGE:
        slri_c_put(e, "message");
        break;
    case SLRI_ROOT_BINDING:
        slri_text_printf(e->out, e->is_grid && !e->kernel ? "roots->bound[%u]" : "bound%u", root.index);
        break;
    case SLRI_ROOT_SHARED:
        slri_text_printf(e->out, e->kernel ? "shared%u" : "roots->shared[%u]", root.index);
        break;
    case SLRI_ROOT_GLOBAL:
        if (e->kernel)
            slri_text_printf(e->out, "global%u", root.index);
        else
            slri_text_printf(e->out, "(roots->global + %llu)",
                             (unsigned long long)e->module->global[root.index].offset);
        break;
    case SLRI_ROOT_DYNAMIC:
        slri_c_put(e, e->kernel ? "dynamic" : "roots->dynamic");
        break;
    case SLRI_ROOT_CONST:
        slri_text_printf(e->out, "slrc_%u", root.index);
        break;
    case SLRI_ROOT_LOCAL:
        if (e->kernel)
            slri_c_kernel_local(e, root.index);
        else
            put_name(e, e->function->local[root.index].name, "L", root.index);
        break;
    default:
        put_name(e, e->function->param[root.index].name, "P", root.index);
        break;
    }
}

void slri_c_address(struct slri_c_emitter *e, struct slri_root root, slri_reg offset)
{
    slri_c_root(e, root);
    slri_c_put(e, " + ");
    slri_c_register(e, offset);
}
