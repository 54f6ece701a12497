// SPDX-License-Identifier: Apache-2.0
// A function: its registers, what it begins with, its end.
#include "emit/spirv/internal.h"
#include "ir/pass/words.h"

#include <string.h>

// ---- registers -----------------------------------------------------------------------------------------------------

static void begin_registers(struct slri_s *s, uint32_t index)
{
    const struct slri_function *f = s->function;
    s->reg = slri_s_take(s, f->regs, sizeof *s->reg);
    s->value = slri_assigned_find(s->scratch, s->entry, f, s->literal[index]);
    s->w.out_of_memory |= !s->value;
    if (s->w.out_of_memory)
        return;
    s->first_variable = s->w.next + 1;
    for (slri_reg reg = 0; reg < f->regs; reg++)
        if (s->value[reg].held == SLRI_ASSIGNED_VARIABLE)
            s->reg[reg].id = slri_w_id(&s->w);
    s->variables = s->w.next + 1 - s->first_variable;
    s->is_read = slri_s_take(s, s->variables, sizeof *s->is_read);
}

// ---- what it begins with -------------------------------------------------------------------------------------------

static void note_bases(const struct slri_instr *in, void *user)
{
    struct slri_s *s = user;
    if (in->root.kind == SLRI_ROOT_BINDING || in->root.kind == SLRI_ROOT_GLOBAL)
        s->base[slri_s_base(s, in->root)] = 1;
}

uint32_t slri_s_pushed(struct slri_s *s, uint32_t member, uint32_t type)
{
    uint32_t at =
        SLRI_MAKE(s, AccessChain, slri_s_pointer(s, SLRI_STORAGE_PushConstant, type), s->push, slri_s_u32(s, member));
    return SLRI_MAKE(s, Load, type, at);
}

static uint32_t argument(struct slri_s *s, uint32_t offset, enum slri_kind kind);

static uint32_t two_words(struct slri_s *s, uint32_t offset)
{
    const uint32_t pair = SLRI_W_ONCE(&s->w, TypeVector, 0, slri_s_uint(s, 4), 2);
    const uint32_t low = argument(s, offset, SLRI_U32), high = argument(s, offset + 4, SLRI_U32);
    return SLRI_MAKE(s, CompositeConstruct, pair, low, high);
}

// From the push block, as far as that has words of it.
static uint32_t argument(struct slri_s *s, uint32_t offset, enum slri_kind kind)
{
    const uint32_t bytes = slri_kind_bytes(kind), room = SLRI_SPIRV_PUSH_BYTES - SLRI_SPIRV_PUSHED_AT;
    if (bytes < 4 || offset + bytes > room) {
        s->arguments = s->arguments ? s->arguments : slri_s_arguments(s);
        const struct slri_s_place place = {.address = s->arguments, .at = offset};
        return slri_s_load(s, &place, kind);
    }
    const uint32_t bits = bytes == 8 ? SLRI_MAKE(s, Bitcast, slri_s_uint(s, 8), two_words(s, offset))
                                     : slri_s_pushed(s, s->pushed + offset / 4, slri_s_uint(s, 4));
    return slri_s_of_bits(s, kind, bits);
}

static uint32_t given_address(struct slri_s *s, uint32_t offset)
{
    return s->words ? two_words(s, offset) : argument(s, offset, SLRI_U64);
}

uint32_t slri_s_arguments(struct slri_s *s)
{
    return slri_s_pushed(s, 0, slri_s_address(s));
}

static void begin_entry(struct slri_s *s)
{
    for (uint32_t i = 0; i < s->entry->bindings; i++) {
        const struct slri_binding_info *binding = &s->entry->binding[i];
        const bool is_value = !binding->is_buffer && binding->reg != SLRI_NO_REG;
        if (is_value && s->value[binding->reg].held != SLRI_ASSIGNED_LITERAL)
            slri_s_set(s, binding->reg, argument(s, slri_argument(s->given, i), binding->type->kind));
    }
}

// Behind the addresses of the kernel's buffers lie those of what it tells (ir/pass/words.h) and of the program's
// variables. A value lies among them itself.
static uint32_t base_of(struct slri_s *s, uint32_t base)
{
    const uint32_t given = s->given->bindings, more[] = {[SLRI_WORDS_PRINTED] = s->facts.printed,
                                                         [SLRI_WORDS_FAULTED] = s->facts.faulted,
                                                         [SLRI_WORDS_BUFFERS] = s->facts.globals};
    if (base < given && !s->given->binding[base].is_buffer)
        return slri_s_arguments(s);
    return given_address(s, base < given ? slri_argument(s->given, base) : more[base - given]);
}

static void begin_function(struct slri_s *s)
{
    for (uint32_t i = 0; i <= s->entry->bindings; i++) {
        if (!s->base[i])
            continue;
        s->base[i] = base_of(s, i);
        s->pointer[i] = s->words ? SLRI_MAKE(s, Bitcast, s->all_words, s->base[i]) : 0;
    }
}

// ---- parameters ----------------------------------------------------------------------------------------------------

static void begin_locals(struct slri_s *s, uint32_t index)
{
    for (uint32_t i = 0; i < s->function->locals; i++) {
        struct slri_s_array *array = &s->local[index][i];
        const uint32_t length = slri_s_length(s, array, s->function->local[i].type->bytes);
        slri_s_declare(s, array, SLRI_STORAGE_Function, slri_s_u32(s, length), 0);
    }
}

// A parameter that is memory is two of SPIR-V's: where it is, and how far into it.
static void begin_parameters(struct slri_s *s, uint32_t index)
{
    const struct slri_function *f = s->function;
    uint32_t *type = slri_s_take(s, 4 * (size_t)f->params + 1, sizeof *type), types = 0;
    if (!type)
        return;
    uint32_t *value = type + 2 * f->params + 1;
    type[types++] = slri_s_type(s, f->result);
    for (uint32_t i = 0; i < f->params; i++) {
        struct slri_s_array *array = &s->param[index][i];
        if (f->param[i].is_memory) {
            const uint32_t length = slri_s_u32(s, slri_s_length(s, array, f->param[i].bytes));
            array->storage = SLRI_STORAGE_Function;
            type[types++] = slri_s_pointer(s, array->storage, slri_s_array_type(s, array, length));
        }
        type[types++] = slri_s_type(s, f->reg_kind[f->param[i].reg]);
    }
    slri_s_begin_function(s, s->function_id[index], type, types, value);
    for (uint32_t i = 0, at = 0; i < f->params; i++) {
        if (f->param[i].is_memory)
            s->param[index][i].variable = value[at++];
        if (s->value[f->param[i].reg].held != SLRI_ASSIGNED_LITERAL)
            slri_s_set(s, f->param[i].reg, value[at]);
        at++;
    }
}

void slri_s_begin_function(struct slri_s *s, uint32_t id, const uint32_t *type, uint32_t types, uint32_t *param)
{
    const uint32_t signature = slri_w_once(&s->w, SLRI_W_TypeFunction, 0, type, types);
    SLRI_W(&s->w, &s->w.functions, Function, type[0], id, 0, signature);
    for (uint32_t i = 1; i < types; i++) {
        param[i - 1] = slri_w_id(&s->w);
        SLRI_W(&s->w, &s->w.functions, FunctionParameter, type[i], param[i - 1]);
    }
    s->w.variables.count = s->w.code.count = 0;
    s->arguments = 0;
    s->line = 0;
    s->ended = false;
    s->blocks++;
}

// ---- its end -------------------------------------------------------------------------------------------------------

static void put_variables(struct slri_s *s)
{
    for (slri_reg reg = 0; reg < s->function->regs; reg++) {
        const enum slri_kind kind = s->function->reg_kind[reg];
        const uint32_t id = s->reg[reg].id;
        if (s->value[reg].held == SLRI_ASSIGNED_VARIABLE && s->is_read[id - s->first_variable])
            SLRI_W(&s->w, &s->w.variables, Variable, slri_s_pointer(s, SLRI_STORAGE_Function, slri_s_type(s, kind)), id,
                   SLRI_STORAGE_Function, slri_s_const(s, kind, 0));
    }
}

// Drivers that translate instruction by instruction do each store. So none stays of a variable that nobody reads, nor
// one that is marked (slri_s_set).
static void leave_out_stores(struct slri_s *s)
{
    struct slri_w_part *code = &s->w.code;
    size_t to = 0, size;
    for (size_t at = 0; at < code->count; at += size) {
        size = code->word[at] >> 16;
        const uint32_t op = code->word[at] & 0xffff;
        const uint32_t i = op == SLRI_W_Store ? code->word[at + 1] - s->first_variable : s->variables;
        if (op == 0 || (i < s->variables && !s->is_read[i]))
            continue;
        memmove(code->word + to, code->word + at, size * sizeof *code->word);
        to += size;
    }
    code->count = to;
}

// Behind what it begins with: its first block's variables, then all else.
void slri_s_finish_function(struct slri_s *s)
{
    uint32_t label = slri_w_id(&s->w);
    SLRI_W(&s->w, &s->w.functions, Label, label);
    slri_w_add(&s->w, &s->w.functions, s->w.variables.word, s->w.variables.count);
    slri_w_add(&s->w, &s->w.functions, s->w.code.word, s->w.code.count);
    slri_w_put(&s->w, &s->w.functions, SLRI_W_FunctionEnd, NULL, 0);
}

// ---- a function ----------------------------------------------------------------------------------------------------

void slri_s_function(struct slri_s *s, uint32_t index)
{
    const struct slri_function *f = s->module->function[index];
    s->function = f;
    begin_registers(s, index);
    if (s->w.out_of_memory)
        return;
    memset(s->base, 0, (s->entry->bindings + (size_t)1) * sizeof *s->base);
    s->flow = (struct slri_s_loop){0};
    slri_block_each(f->body, note_bases, s);
    begin_parameters(s, index);
    begin_locals(s, index);
    if (f == s->entry->function)
        begin_entry(s);
    begin_function(s);
    slri_s_block(s, f->body);
    if (!s->ended)
        slri_s_return(s, f->result == SLRI_VOID ? 0 : slri_s_const(s, f->result, 0));
    put_variables(s);
    leave_out_stores(s);
    slri_s_finish_function(s);
}
