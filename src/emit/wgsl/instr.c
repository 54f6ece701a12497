// SPDX-License-Identifier: Apache-2.0
// Instructions as statements of WGSL, each a line.
#include "emit/wgsl/internal.h"
#include "ir/math/functions.h"

#include "abi/handler.h"
#include <inttypes.h>
#include <stdio.h>

// ---- literals ------------------------------------------------------------------------------------------------------

static void put_float(struct slri_wgsl_emitter *e, uint32_t bits)
{
    const uint32_t exponent = bits >> 23 & 0xff, fraction = (bits & 0x7fffff) << 1;
    if (exponent == 0xff)
        slri_text_printf(e->out, "slri_float(0x%08xu)", bits);
    else if ((bits & 0x7fffffff) == 0)
        slri_wgsl_put(e, bits ? "(-0.0f)" : "0.0f");
    else
        slri_text_printf(e->out, bits >> 31 ? "(-0x%d.%06xp%+df)" : "0x%d.%06xp%+df", exponent != 0, fraction,
                         exponent ? (int)exponent - 127 : -126);
}

static void put_literal(struct slri_wgsl_emitter *e, enum slri_kind kind, uint64_t bits)
{
    const int32_t value = (int32_t)(uint32_t)bits;
    if (kind == SLRI_F32)
        put_float(e, (uint32_t)bits);
    else if (kind == SLRI_U32)
        slri_text_printf(e->out, "%" PRIu32 "u", (uint32_t)bits);
    else if (value == INT32_MIN)
        slri_wgsl_put(e, "(-2147483647i - 1i)");
    else
        slri_text_printf(e->out, value < 0 ? "(%" PRId32 "i)" : "%" PRId32 "i", value);
}

void slri_wgsl_reg(struct slri_wgsl_emitter *e, slri_reg reg)
{
    const struct slri_instr *literal = slri_wgsl_literal(e, reg);
    const char *name = e->function->reg_name[reg];
    if (literal)
        put_literal(e, e->function->reg_kind[reg], literal->imm);
    else if (name && *name)
        slri_text_printf(e->out, "%s%s_%u", *name == '_' ? "v" : "", name, reg);
    else
        slri_text_printf(e->out, "r_%u", reg);
}

// ---- places --------------------------------------------------------------------------------------------------------

static void put_root(struct slri_wgsl_emitter *e, struct slri_root root)
{
    switch (root.kind) {
    case SLRI_ROOT_BINDING:
        slri_text_printf(e->out, "slri_b%u", root.index);
        break;
    case SLRI_ROOT_SHARED:
        slri_text_printf(e->out, "slri_s%u", root.index);
        break;
    case SLRI_ROOT_CONST:
        slri_text_printf(e->out, "slri_c%u", root.index);
        break;
    case SLRI_ROOT_LOCAL:
        slri_text_printf(e->out, "slri_l%u", root.index);
        break;
    case SLRI_ROOT_PARAM:
        slri_text_printf(e->out, "(*slri_p%u)", root.index);
        break;
    case SLRI_ROOT_GLOBAL:
        slri_wgsl_put(e, "slri_globals");
        break;
    default: // DYNAMIC
        slri_wgsl_put(e, "slri_dynamic");
        break;
    }
}

static uint32_t base_of(const struct slri_wgsl_emitter *e, struct slri_root root)
{
    if (root.kind == SLRI_ROOT_GLOBAL)
        return (uint32_t)(e->module->global[root.index].offset / 4);
    if (root.kind == SLRI_ROOT_BINDING && !e->entry->binding[root.index].is_buffer)
        return slri_wgsl_argument(e, root.index);
    return 0;
}

// The number of the word at the offset of an access.
static void put_word(struct slri_wgsl_emitter *e, struct slri_root root, slri_reg offset)
{
    const slri_reg from = e->reg[offset].given->a; // the U32 that the I64 of an access is made of
    const struct slri_instr *literal = slri_wgsl_literal(e, from);
    const uint32_t base = base_of(e, root);
    if (literal) {
        slri_text_printf(e->out, "%" PRIu32 "u", (uint32_t)literal->imm / 4 + base);
        return;
    }
    slri_wgsl_put(e, base ? "(" : "");
    slri_wgsl_reg(e, from);
    slri_wgsl_put(e, " >> 2u");
    if (base)
        slri_text_printf(e->out, ") + %" PRIu32 "u", base);
}

static uint32_t buffer_number(const struct slri_wgsl_emitter *e, uint32_t binding)
{
    uint32_t number = 0;
    for (uint32_t i = 0; i < binding; i++)
        number += e->entry->binding[i].is_buffer;
    return number;
}

static void put_memory_place(struct slri_wgsl_emitter *e, const struct slri_instr *in)
{
    put_root(e, in->root);
    const bool has_base = e->options && e->options->has_bases && in->root.kind == SLRI_ROOT_BINDING;
    slri_wgsl_put(e, "[");
    if (has_base)
        slri_text_printf(e->out, "slri_arg(%uu) + (",
                         slri_wgsl_argument(e, e->entry->bindings) + SLRI_WGSL_PART_WORDS +
                             buffer_number(e, in->root.index));
    put_word(e, in->root, in->a);
    slri_wgsl_put(e, has_base ? ")]" : "]");
}

static bool is_value_argument(const struct slri_wgsl_emitter *e, struct slri_root root)
{
    return root.kind == SLRI_ROOT_BINDING && !e->entry->binding[root.index].is_buffer;
}

static void put_load(struct slri_wgsl_emitter *e, const struct slri_instr *in)
{
    slri_wgsl_set(e, in->dst);
    if (is_value_argument(e, in->root)) {
        slri_wgsl_put(e, "slri_arg(");
        put_word(e, in->root, in->a);
        slri_wgsl_put(e, ");");
        return;
    }
    const bool is_atomic = slri_wgsl_is_atomic(e, in->root);
    slri_wgsl_put(e, is_atomic ? "atomicLoad(&" : "");
    put_memory_place(e, in);
    slri_wgsl_put(e, is_atomic ? ");" : ";");
}

static void put_store(struct slri_wgsl_emitter *e, const struct slri_instr *in)
{
    const bool is_atomic = slri_wgsl_is_atomic(e, in->root);
    slri_wgsl_put(e, is_atomic ? "atomicStore(&" : "");
    put_memory_place(e, in);
    slri_wgsl_put(e, is_atomic ? ", " : " = ");
    slri_wgsl_reg(e, in->b);
    slri_wgsl_put(e, is_atomic ? ");" : ";");
}

// ---- atomics -------------------------------------------------------------------------------------------------------

static const char *const rmw[] = {
    [SLRI_RMW_ADD] = "atomicAdd", [SLRI_RMW_SUB] = "atomicSub",          [SLRI_RMW_AND] = "atomicAnd",
    [SLRI_RMW_OR] = "atomicOr",   [SLRI_RMW_XOR] = "atomicXor",          [SLRI_RMW_MIN] = "atomicMin",
    [SLRI_RMW_MAX] = "atomicMax", [SLRI_RMW_EXCHANGE] = "atomicExchange"};

// WGSL's may fail though the word is as expected: then it is done again.
static void put_cas(struct slri_wgsl_emitter *e, const struct slri_instr *in)
{
    slri_wgsl_put(e, "loop { let slri_x = atomicCompareExchangeWeak(&");
    put_memory_place(e, in);
    slri_wgsl_put(e, ", ");
    slri_wgsl_reg(e, in->b);
    slri_wgsl_put(e, ", ");
    slri_wgsl_reg(e, in->c);
    slri_wgsl_put(e, "); if (slri_x.exchanged || slri_x.old_value != ");
    slri_wgsl_reg(e, in->b);
    slri_wgsl_put(e, ") { ");
    slri_wgsl_reg(e, in->dst);
    slri_wgsl_put(e, " = slri_x.old_value; break; } }");
}

static void put_atomic(struct slri_wgsl_emitter *e, const struct slri_instr *in)
{
    if (in->order != SLRI_RELAXED) {
        slri_wgsl_refuse(e, in, "orders of memory: WGSL's atomics order nothing else");
    } else if (in->op == SLRI_OP_ATOMIC_LOAD) {
        put_load(e, in);
    } else if (in->op == SLRI_OP_ATOMIC_STORE) {
        put_store(e, in);
    } else if (in->op == SLRI_OP_ATOMIC_CAS) {
        put_cas(e, in);
    } else {
        slri_wgsl_set(e, in->dst);
        slri_text_printf(e->out, "%s(&", rmw[in->imm]);
        put_memory_place(e, in);
        slri_wgsl_put(e, ", ");
        slri_wgsl_reg(e, in->b);
        slri_wgsl_put(e, ");");
    }
}

// ---- by text -------------------------------------------------------------------------------------------------------

// $d "register = "; $a $b registers; $0 to $3 arguments; $K the kind's type.
void slri_wgsl_spell(struct slri_wgsl_emitter *e, const struct slri_instr *in, const char *text)
{
    for (; *text; ++text) {
        if (*text != '$') {
            slri_text_append(e->out, text, 1);
            continue;
        }
        ++text;
        if (*text == 'd')
            slri_wgsl_set(e, in->dst);
        else if (*text == 'a' || *text == 'b')
            slri_wgsl_reg(e, *text == 'a' ? in->a : in->b);
        else if (*text == 'K')
            slri_wgsl_put(e, slri_wgsl_type(in->kind));
        else
            slri_wgsl_reg(e, in->arg[*text - '0'].reg);
    }
}

static const char *const operators[] = {
    [SLRI_OP_MOVE] = "$d$a;",
    [SLRI_OP_NEG] = "$d-$a;",
    [SLRI_OP_NOT] = "$d~$a;",
    [SLRI_OP_ADD] = "$d$a + $b;",
    [SLRI_OP_SUB] = "$d$a - $b;",
    [SLRI_OP_MUL] = "$d$a * $b;",
    [SLRI_OP_DIV] = "$d$a / $b;",
    [SLRI_OP_AND] = "$d$a & $b;",
    [SLRI_OP_OR] = "$d$a | $b;",
    [SLRI_OP_XOR] = "$d$a ^ $b;",
    [SLRI_OP_EQ] = "$dselect(0i, 1i, $a == $b);",
    [SLRI_OP_NE] = "$dselect(0i, 1i, $a != $b);",
    [SLRI_OP_LT] = "$dselect(0i, 1i, $a < $b);",
    [SLRI_OP_LE] = "$dselect(0i, 1i, $a <= $b);",
    [SLRI_OP_GT] = "$dselect(0i, 1i, $a > $b);",
    [SLRI_OP_GE] = "$dselect(0i, 1i, $a >= $b);",
};

// The count of a shift is unsigned.
static void put_shift(struct slri_wgsl_emitter *e, const struct slri_instr *in)
{
    const struct slri_instr *count = slri_wgsl_literal(e, in->b);
    slri_wgsl_spell(e, in, in->op == SLRI_OP_SHL ? "$d$a << " : "$d$a >> ");
    if (count)
        slri_text_printf(e->out, "%uu;", (unsigned)count->imm);
    else
        slri_wgsl_spell(e, in, in->kind == SLRI_U32 ? "$b;" : "bitcast<u32>($b);");
}

static void put_fault(struct slri_wgsl_emitter *e, const struct slri_instr *in, uint64_t fault)
{
    slri_text_printf(e->out, "slri_fault(%" PRIu64 "u, %uu, %uu);", fault, in->where.file, in->where.line);
}

// Compilers multiply by the reciprocal of a divisor that they know, which rounds twice. So it gets the highest bit of
// the grid's width, which is 0, and which they do not know.
static void put_division(struct slri_wgsl_emitter *e, const struct slri_instr *in)
{
    const struct slri_instr *by = slri_wgsl_literal(e, in->b);
    const bool is_power_of_two = by && (by->imm & 0x7fffffu) == 0;
    if (in->kind != SLRI_F32 || !by || is_power_of_two || !e->options || !e->options->in_parts) {
        slri_wgsl_spell(e, in, operators[in->op]);
        return;
    }
    slri_wgsl_spell(e, in, "$d$a / ");
    slri_text_printf(e->out, "bitcast<f32>(0x%08" PRIx32 "u | (slri_arg(%uu) >> 31u));", (uint32_t)by->imm,
                     slri_wgsl_argument(e, e->entry->bindings) + 3);
}

static void put_convert(struct slri_wgsl_emitter *e, const struct slri_instr *in)
{
    const enum slri_kind from = e->function->reg_kind[in->a];
    if (in->kind == SLRI_F32)
        slri_wgsl_spell(e, in, "$df32($a);");
    else if (from == SLRI_F32)
        slri_wgsl_spell(e, in, in->kind == SLRI_I32 ? "$dslri_i32($a);" : "$dslri_u32($a);");
    else if (from == in->kind)
        slri_wgsl_spell(e, in, "$d$a;");
    else
        slri_wgsl_spell(e, in, in->kind == SLRI_I32 ? "$dbitcast<i32>($a);" : "$dbitcast<u32>($a);");
}

static void put_math(struct slri_wgsl_emitter *e, const struct slri_instr *in)
{
    const char *text = slri_wgsl_math(in->imm);
    if (!text) {
        char what[96];
        snprintf(what, sizeof what, "%s; write it with the functions that it has", slri_math_functions[in->imm].name);
        slri_wgsl_refuse(e, in, what);
        return;
    }
    slri_wgsl_set(e, in->dst);
    slri_wgsl_spell(e, in, text);
    slri_wgsl_put(e, ";");
}

static void put_builtin(struct slri_wgsl_emitter *e, const struct slri_instr *in)
{
    static const char *const names[] = {"slri_thread", "slri_block", NULL, "slri_grid"};
    const char *name = names[in->imm / 3];
    const char axis = "xyz"[in->imm % 3];
    const uint32_t *block = e->options ? e->options->block : NULL;
    slri_wgsl_set(e, in->dst);
    if (name)
        slri_text_printf(e->out, "%s.%c;", name, axis);
    else if (block)
        slri_text_printf(e->out, "%uu;", block[in->imm % 3]);
    else
        slri_text_printf(e->out, "slri_block_%c;", axis);
}

static void put_barrier(struct slri_wgsl_emitter *e, const struct slri_instr *in)
{
    static const char *const texts[] = {
        [SLRI_BARRIER_SYNC] = "slri_sync();",
        [SLRI_BARRIER_COUNT] = "$dbitcast<i32>(slri_count($a != 0i, slri_number));",
        [SLRI_BARRIER_AND] = "$dselect(0i, 1i, slri_count($a == 0i, slri_number) == 0u);",
        [SLRI_BARRIER_OR] = "$dselect(0i, 1i, slri_count($a != 0i, slri_number) != 0u);"};
    slri_wgsl_spell(e, in, texts[in->imm]);
}

static void put_call(struct slri_wgsl_emitter *e, const struct slri_instr *in)
{
    bool any = slri_wgsl_takes_place(in->callee);
    if (in->dst != SLRI_NO_REG)
        slri_wgsl_set(e, in->dst);
    slri_text_printf(e->out, "slrf_%s(%s", in->callee->name,
                     any ? "slri_thread, slri_block, slri_grid, slri_number" : "");
    for (uint32_t i = 0; i < in->args; i++) {
        slri_wgsl_put(e, any ? ", " : "");
        any = true;
        if (in->arg[i].root.kind == SLRI_ROOT_LOCAL)
            slri_text_printf(e->out, "&slri_l%u", in->arg[i].root.index);
        else if (in->arg[i].root.kind == SLRI_ROOT_PARAM)
            slri_text_printf(e->out, "slri_p%u", in->arg[i].root.index);
        else
            slri_wgsl_reg(e, in->arg[i].reg);
    }
    slri_wgsl_put(e, ");");
}

static void put_present(struct slri_wgsl_emitter *e, const struct slri_instr *in)
{
    slri_wgsl_set(e, in->dst);
    if (in->root.kind == SLRI_ROOT_BINDING && e->entry->binding[in->root.index].is_buffer)
        slri_text_printf(e->out, "bitcast<i32>((slri_arg(0u) >> %uu) & 1u);", buffer_number(e, in->root.index));
    else
        slri_wgsl_put(e, "1i;");
}

bool slri_wgsl_is_written(const struct slri_wgsl_emitter *e, const struct slri_instr *in)
{
    if (in->op == SLRI_OP_CONST && slri_wgsl_literal(e, in->dst))
        return false;
    return !(in->op == SLRI_OP_CONVERT && in->kind == SLRI_I64); // the offset of an access
}

void slri_wgsl_instr(struct slri_wgsl_emitter *e, const struct slri_instr *in)
{
    switch (in->op) {
    case SLRI_OP_CONST:
        slri_wgsl_set(e, in->dst);
        put_literal(e, in->kind, in->imm);
        slri_wgsl_put(e, ";");
        break;
    case SLRI_OP_SHL:
    case SLRI_OP_SHR:
        put_shift(e, in);
        break;
    case SLRI_OP_DIV:
        put_division(e, in);
        break;
    case SLRI_OP_NEG:
        slri_wgsl_spell(e, in, in->kind == SLRI_U32 ? "$d0u - $a;" : operators[in->op]);
        break;
    case SLRI_OP_CONVERT:
        put_convert(e, in);
        break;
    case SLRI_OP_LOAD:
        put_load(e, in);
        break;
    case SLRI_OP_STORE:
        put_store(e, in);
        break;
    case SLRI_OP_MATH:
        put_math(e, in);
        break;
    case SLRI_OP_ATOMIC_LOAD:
    case SLRI_OP_ATOMIC_STORE:
    case SLRI_OP_ATOMIC_RMW:
    case SLRI_OP_ATOMIC_CAS:
        put_atomic(e, in);
        break;
    case SLRI_OP_FENCE:
        slri_wgsl_refuse(e, in, "fences; meet at a __syncthreads, or launch twice");
        break;
    case SLRI_OP_BUILTIN:
        put_builtin(e, in);
        break;
    case SLRI_OP_BARRIER:
        put_barrier(e, in);
        break;
    case SLRI_OP_WARP: // SYNC: the others are the library's (slr_block.h)
        slri_wgsl_put(e, "slri_sync();");
        break;
    case SLRI_OP_PRESENT:
        put_present(e, in);
        break;
    case SLRI_OP_TRAP:
        put_fault(e, in, in->imm);
        break;
    case SLRI_OP_CALL:
        put_call(e, in);
        break;
    default:
        slri_wgsl_spell(e, in, operators[in->op]);
        break;
    }
}
