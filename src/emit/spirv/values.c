// SPDX-License-Identifier: Apache-2.0
// Types, constants, registers, and the instructions that all others are made of.
#include "base/status.h"
#include "emit/spirv/internal.h"

#include <stdio.h>

// ---- types and constants -------------------------------------------------------------------------------------------

uint32_t slri_s_bool(struct slri_s *s)
{
    return slri_w_once(&s->w, SLRI_W_TypeBool, 0, NULL, 0);
}

uint32_t slri_s_uint(struct slri_s *s, uint32_t bytes)
{
    return SLRI_W_ONCE(&s->w, TypeInt, 0, 8 * bytes, 0);
}

uint32_t slri_s_float(struct slri_s *s, uint32_t bytes)
{
    if (bytes == 8) {
        slri_w_capability(&s->w, SLRI_CAP_Float64);
        s->needs |= SLRI_SPIRV_FLOAT64;
    }
    return SLRI_W_ONCE(&s->w, TypeFloat, 0, 8 * bytes);
}

uint32_t slri_s_type(struct slri_s *s, enum slri_kind kind)
{
    if (kind == SLRI_VOID)
        return slri_w_once(&s->w, SLRI_W_TypeVoid, 0, NULL, 0);
    kind = slri_kind_in_register(kind);
    if (s->words && kind == SLRI_I64) // an offset
        return slri_s_uint(s, 4);
    return slri_kind_is_float(kind) ? slri_s_float(s, slri_kind_bytes(kind)) : slri_s_uint(s, slri_kind_bytes(kind));
}

uint32_t slri_s_pointer(struct slri_s *s, uint32_t storage, uint32_t to)
{
    return SLRI_W_ONCE(&s->w, TypePointer, 0, storage, to);
}

static uint32_t make_constant(struct slri_s *s, uint32_t type, uint32_t bytes, uint64_t bits)
{
    const uint32_t word[2] = {(uint32_t)bits, (uint32_t)(bits >> 32)};
    return slri_w_once(&s->w, SLRI_W_Constant, type, word, bytes == 8 ? 2 : 1);
}

uint32_t slri_s_bits(struct slri_s *s, uint32_t bytes, uint64_t value)
{
    uint64_t mask = bytes == 8 ? UINT64_MAX : (UINT64_C(1) << 8 * bytes) - 1;
    uint32_t id = make_constant(s, slri_s_uint(s, bytes), bytes, value & mask);
    if (bytes >= 4)
        slri_s_note_constant(s, id, value & mask);
    return id;
}

uint32_t slri_s_u32(struct slri_s *s, uint32_t value)
{
    return slri_s_bits(s, 4, value);
}

uint32_t slri_s_address(struct slri_s *s)
{
    return s->words ? SLRI_W_ONCE(&s->w, TypeVector, 0, slri_s_uint(s, 4), 2) : slri_s_uint(s, 8);
}

uint32_t slri_s_const(struct slri_s *s, enum slri_kind kind, uint64_t bits)
{
    uint32_t bytes = s->words && kind == SLRI_I64 ? 4 : slri_kind_bytes(kind);
    return slri_kind_is_float(kind) ? make_constant(s, slri_s_float(s, bytes), bytes, bits)
                                    : slri_s_bits(s, bytes, bits);
}

uint32_t slri_s_variable(struct slri_s *s, uint32_t storage, uint32_t type, uint32_t initial)
{
    const bool is_own = storage == SLRI_STORAGE_Function;
    const uint32_t id = slri_w_id(&s->w), word[4] = {slri_s_pointer(s, storage, type), id, storage, initial};
    slri_w_put(&s->w, is_own ? &s->w.variables : &s->w.globals, SLRI_W_Variable, word, initial ? 4 : 3);
    slri_w_add(&s->w, &s->w.interface, &id, is_own ? 0 : 1);
    return id;
}

void *slri_s_take(struct slri_s *s, size_t count, size_t bytes)
{
    void *made = slri_region_take(s->scratch, (count + 1) * bytes);
    s->w.out_of_memory |= !made;
    return made;
}

// ---- instructions --------------------------------------------------------------------------------------------------

uint32_t slri_s_make(struct slri_s *s, enum slri_w_op op, uint32_t type, const uint32_t *operand, size_t count)
{
    uint32_t folded = slri_s_fold(s, op, type, operand);
    if (folded)
        return folded;
    uint32_t word[16] = {type, slri_w_id(&s->w)};
    for (size_t i = 0; i < count && i < 14; i++)
        word[2 + i] = operand[i];
    slri_w_put(&s->w, &s->w.code, op, word, count + 2);
    if (op == SLRI_W_FAdd || op == SLRI_W_FSub || op == SLRI_W_FMul || op == SLRI_W_FDiv)
        SLRI_W(&s->w, &s->w.decorations, Decorate, word[1], SLRI_DECORATION_NoContraction);
    slri_s_note_made(s, op, word[1], operand);
    return word[1];
}

void slri_s_begin(struct slri_s *s, uint32_t id)
{
    SLRI_DO(s, Label, id);
    s->blocks++;
    s->line = 0;
    s->ended = false;
}

void slri_s_branch(struct slri_s *s, uint32_t to)
{
    if (!s->ended)
        SLRI_DO(s, Branch, to);
    s->ended = true;
}

void slri_s_return(struct slri_s *s, uint32_t value)
{
    slri_w_put(&s->w, &s->w.code, value ? SLRI_W_ReturnValue : SLRI_W_Return, &value, value ? 1 : 0);
    s->ended = true;
}

void slri_s_refuse(struct slri_s *s, const struct slri_instr *in, const char *what, const char *advice)
{
    if (s->refused == SLR_OK)
        s->refused =
            SLRI_FAIL(UNSUPPORTED, "%s:%u: %s; %s", s->module->file[in->where.file], in->where.line, what, advice);
}

static const struct {
    const char *feature, *words, *advice;
} features[] = {
#define FEATURE(name, feature, words, advice) {#feature, words, advice},
    SLRI_SPIRV_FEATURE_LIST(FEATURE)
#undef FEATURE
};

bool slri_s_need(struct slri_s *s, enum slri_spirv_feature feature, const struct slri_instr *in)
{
    s->needs |= 1u << feature;
    if (s->options.has >> feature & 1)
        return true;
    char what[160];
    snprintf(what, sizeof what, "the device has no %s (%s)", features[feature].words, features[feature].feature);
    slri_s_refuse(s, in, what, features[feature].advice);
    return false;
}

// ---- registers -----------------------------------------------------------------------------------------------------

static uint32_t flag_as_number(struct slri_s *s, uint32_t flag)
{
    return SLRI_MAKE(s, Select, slri_s_uint(s, 4), flag, slri_s_u32(s, 1), slri_s_u32(s, 0));
}

static void hold(const struct slri_s *s, struct slri_s_register *r, uint32_t value)
{
    r->held = value;
    r->held_in = s->blocks;
}

uint32_t slri_s_get(struct slri_s *s, slri_reg reg)
{
    struct slri_s_register *r = &s->reg[reg];
    enum slri_kind kind = s->function->reg_kind[reg];
    uint64_t bits;
    switch (s->value[reg].held) {
    case SLRI_ASSIGNED_VARIABLE:
        if (r->held_in == s->blocks)
            return r->held;
        s->is_read[r->id - s->first_variable] = true;
        hold(s, r, SLRI_MAKE(s, Load, slri_s_type(s, kind), r->id));
        return r->held;
    case SLRI_ASSIGNED_VALUE:
        return r->id ? r->id : flag_as_number(s, r->flag);
    default: // one that nobody assigns is 0
        slri_assigned_is_literal(&s->value[reg], &bits);
        return slri_s_const(s, kind, bits);
    }
}

void slri_s_set(struct slri_s *s, slri_reg reg, uint32_t value)
{
    if (reg == SLRI_NO_REG)
        return;
    struct slri_s_register *r = &s->reg[reg];
    if (s->value[reg].held == SLRI_ASSIGNED_VARIABLE) {
        // A block loads no variable that it has stored, so that a store before this one is of no use.
        if (r->stored_in == s->blocks && !s->w.out_of_memory)
            s->w.code.word[r->stored_at] &= 0xffff0000u;
        r->stored_in = s->blocks;
        r->stored_at = s->w.code.count;
        SLRI_DO(s, Store, r->id, value);
        hold(s, r, value);
    } else if (s->value[reg].held == SLRI_ASSIGNED_VALUE) {
        r->id = value;
        r->flag = 0;
    }
}

void slri_s_set_flag(struct slri_s *s, slri_reg reg, uint32_t flag)
{
    if (reg == SLRI_NO_REG)
        return;
    if (s->value[reg].held == SLRI_ASSIGNED_VARIABLE)
        slri_s_set(s, reg, flag_as_number(s, flag));
    s->reg[reg].id = s->value[reg].held == SLRI_ASSIGNED_VALUE ? 0 : s->reg[reg].id; // made where it is asked for
    s->reg[reg].flag = flag;
}

uint32_t slri_s_true(struct slri_s *s, slri_reg reg)
{
    if (s->value[reg].held == SLRI_ASSIGNED_VALUE && s->reg[reg].flag)
        return s->reg[reg].flag;
    return SLRI_MAKE(s, INotEqual, slri_s_bool(s), slri_s_get(s, reg), slri_s_u32(s, 0));
}

uint32_t slri_s_as_bits(struct slri_s *s, enum slri_kind kind, uint32_t value)
{
    return slri_kind_is_float(kind) ? SLRI_MAKE(s, Bitcast, slri_s_uint(s, slri_kind_bytes(kind)), value) : value;
}

uint32_t slri_s_of_bits(struct slri_s *s, enum slri_kind kind, uint32_t bits)
{
    return slri_kind_is_float(kind) ? SLRI_MAKE(s, Bitcast, slri_s_type(s, kind), bits) : bits;
}
