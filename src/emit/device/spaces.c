// SPDX-License-Identifier: Apache-2.0
#include "emit/device/spaces.h"
#include "ir/ir_names.h"
#include "ir/math/functions.h"

void slri_d_put_convert(struct slri_d_emitter *e, const struct slri_instr *in)
{
    enum slri_kind from = e->c.function->reg_kind[in->a];
    if (in->kind == SLRI_BOOL)
        slri_d_spell(e, in, "$d($a != 0)");
    else if (slri_kind_is_half(in->kind)) {
        slri_d_spell(e, in, "$dSLRI_TO_$K(");
        slri_text_printf(e->c.out, "%s, ", slri_kind_name(from));
        slri_d_spell(e, in, "$a)");
    } else
        slri_d_spell(e, in,
                     slri_kind_is_float(from) && !slri_kind_is_float(in->kind) ? "$dSLRI_TO_$K($a)" : "$d($T)$a");
}

void slri_d_put_arguments(struct slri_d_emitter *e, const struct slri_instr *in, uint32_t from)
{
    for (uint32_t i = from; i < in->args; i++) {
        slri_d_put(e, i > from ? ", " : "");
        slri_d_register(e, in->arg[i].reg);
    }
}

void slri_d_put_shared(struct slri_d_emitter *e, const struct slri_entry *entry)
{
    struct slri_text name = SLRI_TEXT_INIT;
    for (uint32_t i = 0; i < e->c.module->shareds; i++) {
        if (!slri_entry_has_shared(entry, i))
            continue;
        slri_text_clear(&name);
        slri_text_printf(&name, "slri_s%u", i);
        // A kernel may reach wider elements through a cast.
        slri_text_printf(e->c.out, "    %sSLRI_ALIGNED_16 ", e->dialect->space[SLRI_ROOT_SHARED]);
        slri_d_words(e, e->c.module->shared[i].type, slri_text_view(&name));
        slri_d_put(e, ";\n");
    }
    e->c.out->out_of_memory |= name.out_of_memory;
    slri_text_free(&name);
}

uint32_t slri_d_put_given_structs(struct slri_d_emitter *e, const struct slri_entry *entry, const char *prefix)
{
    uint32_t align = 1;
    for (uint32_t i = 0; i < entry->bindings; i++) {
        const struct slri_type *type = entry->binding[i].type;
        if (type->kind != SLRI_STRUCT || entry->binding[i].is_buffer)
            continue;
        slri_text_printf(e->c.out, "struct %s_%u { ", prefix, i);
        slri_d_words(e, type, "words");
        slri_d_put(e, "; };\n");
        align = type->align > align ? type->align : align;
    }
    return align;
}

bool slri_d_put_extras(struct slri_d_emitter *e, const struct slri_d_extra *extra, uint32_t count, const char *before,
                       bool takes)
{
    bool any = false;
    for (uint32_t i = 0; i < count; i++) {
        if (!extra[i].is_given)
            continue;
        slri_d_put(e, any ? ", " : before);
        slri_d_put(e, takes ? extra[i].type : "");
        slri_d_put(e, extra[i].name);
        any = true;
    }
    return any;
}

// ---- minimum and maximum -------------------------------------------------------------------------------------------

static bool is_minimum(uint64_t math)
{
    return math == SLRI_MATH_FMINF || math == SLRI_MATH_FMIN || math == SLRI_MATH_MIN_F32 || math == SLRI_MATH_MIN_F64;
}

static bool is_maximum(uint64_t math)
{
    return math == SLRI_MATH_FMAXF || math == SLRI_MATH_FMAX || math == SLRI_MATH_MAX_F32 || math == SLRI_MATH_MAX_F64;
}

// A literal number of the arguments; false: neither is one.
static bool find_number(const struct slri_d_emitter *e, const struct slri_instr *in, uint32_t *number, bool *is_zero,
                        bool *is_negative)
{
    for (uint32_t i = 0; i < 2; i++) {
        uint64_t bits;
        if (!slri_c_is_literal(&e->c, in->arg[i].reg, &bits))
            continue;
        bool is_double = e->c.function->reg_kind[in->arg[i].reg] == SLRI_F64;
        uint64_t sign = is_double ? UINT64_C(1) << 63 : UINT64_C(1) << 31;
        uint64_t infinity = is_double ? UINT64_C(0x7ff) << 52 : UINT64_C(0xff) << 23;
        *number = i;
        *is_zero = (bits & (sign - 1)) == 0;
        *is_negative = bits & sign;
        return (bits & (sign - 1)) <= infinity;
    }
    return false;
}

// Beside a literal one comparison gives the interpreter's bits, of zeros and NaN, too: a NaN compares as false, and of
// two zeros the comparison chooses the one that is wanted. Devices' own functions may give either zero.
static bool put_extreme(struct slri_d_emitter *e, const struct slri_instr *in)
{
    uint32_t number;
    bool is_zero, is_negative, least = is_minimum(in->imm);
    if ((!least && !is_maximum(in->imm)) || !find_number(e, in, &number, &is_zero, &is_negative))
        return false;
    bool takes_equal = is_zero && least != is_negative; // the other zero, if it is one, is what is wanted
    const slri_reg other = in->arg[1 - number].reg, literal = in->arg[number].reg;
    slri_d_put(e, "(");
    slri_d_register(e, other);
    slri_text_printf(e->c.out, " %c%s ", least ? '<' : '>', takes_equal ? "=" : "");
    slri_d_register(e, literal);
    slri_d_put(e, " ? ");
    slri_d_register(e, other);
    slri_d_put(e, " : ");
    slri_d_register(e, literal);
    slri_d_put(e, ")");
    return true;
}

void slri_d_put_math(struct slri_d_emitter *e, const struct slri_instr *in)
{
    slri_d_spell(e, in, "$d");
    if (put_extreme(e, in))
        return;
    slri_text_printf(e->c.out, "%s(", slri_math_functions[in->imm].c_function);
    slri_d_put_arguments(e, in, 0);
    slri_d_put(e, ")");
}

// The text stays on the host, which knows it by its number.
void slri_d_put_print(struct slri_d_emitter *e, const struct slri_instr *in)
{
    for (uint32_t i = 0; i < in->args; i++)
        slri_d_put(e, "slri_print_value(");
    slri_text_printf(e->c.out, "slri_print(slri_printed, %lluu, %uu)", (unsigned long long)in->imm, in->args);
    for (uint32_t i = 0; i < in->args; i++) {
        slri_text_printf(e->c.out, ", slri_bits_%s(", slri_kind_name(e->c.function->reg_kind[in->arg[i].reg]));
        slri_d_register(e, in->arg[i].reg);
        slri_d_put(e, "))");
    }
}

// ---- warps: all their threads come together

static void put_mask(struct slri_d_emitter *e, const struct slri_instr *in)
{
    if (e->dialect->mask)
        e->dialect->mask(e, in);
    else
        slri_d_register(e, in->arg[0].reg);
}

// "name(mask, the other arguments".
static void put_masked(struct slri_d_emitter *e, const struct slri_instr *in, const char *name)
{
    slri_text_printf(e->c.out, "%s(", name);
    put_mask(e, in);
    slri_d_put(e, ", ");
    slri_d_put_arguments(e, in, 1);
}

static void put_vote(struct slri_d_emitter *e, const struct slri_instr *in)
{
    slri_d_put(e, in->imm == SLRI_WARP_BALLOT ? "" : "(");
    put_masked(e, in, "slri_ballot");
    slri_d_put(e, ", SLRI_OWN_LANES)");
    if (in->imm == SLRI_WARP_ANY)
        slri_d_put(e, " != 0)");
    if (in->imm != SLRI_WARP_ALL)
        return;
    slri_d_put(e, " == (slri_present() & ");
    put_mask(e, in);
    slri_d_put(e, "))");
}

static void put_match(struct slri_d_emitter *e, const struct slri_instr *in)
{
    slri_d_put(e, "slri_match(");
    put_mask(e, in);
    slri_d_spell(e, in, ", slri_bits_$K(");
    slri_d_register(e, in->arg[1].reg);
    slri_d_put(e, "), SLRI_OWN_LANES)");
}

void slri_d_put_warp(struct slri_d_emitter *e, const struct slri_instr *in)
{
    static const char *const shuffles[] = {[SLRI_WARP_SHUFFLE] = "shuffle",
                                           [SLRI_WARP_SHUFFLE_UP] = "up",
                                           [SLRI_WARP_SHUFFLE_DOWN] = "down",
                                           [SLRI_WARP_SHUFFLE_XOR] = "xor"};
    static const char *const reductions[] = {"add", "min", "max", "and", "or", "xor"};
    slri_d_spell(e, in, "$d");
    if (in->imm == SLRI_WARP_SYNC) {
        slri_d_put(e, "SLRI_SYNC_WARP()");
    } else if (in->imm == SLRI_WARP_ACTIVE) {
        slri_d_put(e, "slri_present()");
    } else if (in->imm <= SLRI_WARP_SHUFFLE_XOR) {
        slri_text_printf(e->c.out, "SLRI_SHUFFLE(%s, %s, ", slri_kind_name(in->kind), shuffles[in->imm]);
        put_mask(e, in);
        slri_d_put(e, ", ");
        slri_d_put_arguments(e, in, 1);
        slri_d_put(e, ")");
    } else if (in->imm <= SLRI_WARP_ANY) {
        put_vote(e, in);
    } else if (in->imm == SLRI_WARP_MATCH) {
        put_match(e, in);
    } else {
        slri_text_printf(e->c.out, "slri_reduce_%s_", reductions[in->imm - SLRI_WARP_REDUCE_ADD]);
        put_masked(e, in, slri_kind_name(in->kind));
        slri_d_put(e, ", SLRI_OWN_LANES)");
    }
}
