// SPDX-License-Identifier: Apache-2.0
// A function: its registers, what it begins with, its end.
#include "emit/spirv/internal.h"
#include "ir/math/functions.h"

#include <string.h>

// ---- registers -----------------------------------------------------------------------------------------------------

static bool begin_registers(struct slri_s *s, uint32_t index)
{
    const struct slri_function *f = s->function;
    s->reg = slri_s_take(s, f->regs, sizeof *s->reg);
    s->value = slri_assigned_find(s->scratch, s->entry, f, s->literal[index]);
    if (!s->reg || !s->value)
        return false;
    for (slri_reg reg = 0; reg < f->regs; reg++)
        if (s->value[reg].held == SLRI_ASSIGNED_VARIABLE)
            s->reg[reg].id = slri_s_own(s, slri_s_type(s, f->reg_kind[reg]), slri_s_const(s, f->reg_kind[reg], 0));
    return true;
}

// ---- what it begins with -------------------------------------------------------------------------------------------

static void note_base(struct slri_s *s, struct slri_root root)
{
    if (root.kind == SLRI_ROOT_BINDING)
        s->base[root.index] = 1;
    s->uses_globals |= root.kind == SLRI_ROOT_GLOBAL;
}

static void note_bases(const struct slri_instr *in, void *user)
{
    note_base(user, in->root);
    note_base(user, in->root2);
}

uint32_t slri_s_pushed(struct slri_s *s, uint32_t member, uint32_t type)
{
    uint32_t at =
        SLRI_MAKE(s, AccessChain, slri_s_pointer(s, SLRI_STORAGE_PushConstant, type), s->push, slri_s_u32(s, member));
    return SLRI_MAKE(s, Load, type, at);
}

// Of 4 or 8 bytes, from the push block.
static uint32_t pushed_argument(struct slri_s *s, uint32_t offset, enum slri_kind kind)
{
    const uint32_t u32 = slri_s_uint(s, 4), bytes = slri_kind_bytes(kind), member = s->pushed + offset / 4;
    uint32_t bits = slri_s_pushed(s, member, u32);
    if (bytes == 8) {
        uint32_t pair = SLRI_W_ONCE(&s->w, TypeVector, 0, u32, 2), high = slri_s_pushed(s, member + 1, u32);
        bits = SLRI_MAKE(s, Bitcast, slri_s_uint(s, 8), SLRI_MAKE(s, CompositeConstruct, pair, bits, high));
    }
    return slri_s_of_bits(s, kind, bits);
}

static uint32_t argument(struct slri_s *s, uint32_t offset, enum slri_kind kind)
{
    const uint32_t bytes = slri_kind_bytes(kind), room = SLRI_SPIRV_PUSH_BYTES - SLRI_SPIRV_PUSHED_AT;
    if (bytes >= 4 && kind != SLRI_BOOL && offset + bytes <= room)
        return pushed_argument(s, offset, kind);
    s->arguments = s->arguments ? s->arguments : slri_s_arguments(s);
    struct slri_s_place place = slri_s_place_at(s, s->arguments);
    place = slri_s_behind(&place, offset);
    return slri_s_load(s, &place, kind);
}

uint32_t slri_s_given_address(struct slri_s *s, uint32_t offset)
{
    if (!s->words)
        return argument(s, offset, SLRI_U64);
    uint32_t low = argument(s, offset, SLRI_U32), high = argument(s, offset + 4, SLRI_U32);
    return SLRI_MAKE(s, CompositeConstruct, slri_s_address(s), low, high);
}

uint32_t slri_s_arguments(struct slri_s *s)
{
    uint32_t address = slri_s_address(s), in_push = slri_s_pointer(s, SLRI_STORAGE_PushConstant, address);
    return SLRI_MAKE(s, Load, address, SLRI_MAKE(s, AccessChain, in_push, s->push, slri_s_u32(s, 0)));
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

static void begin_function(struct slri_s *s)
{
    for (uint32_t i = 0; i < s->entry->bindings; i++) {
        if (s->base[i] && s->entry->binding[i].is_buffer)
            s->base[i] = slri_s_given_address(s, slri_argument(s->given, i));
        else if (s->base[i])
            s->base[i] = slri_s_arguments(s);
        s->pointer[i] = s->base[i] && s->words ? slri_s_words_at(s, s->base[i]) : 0;
    }
    s->globals_base = s->uses_globals ? slri_s_given_address(s, s->facts.globals) : 0;
    s->globals_pointer = s->uses_globals && s->words ? slri_s_words_at(s, s->globals_base) : 0;
}

// ---- parameters ----------------------------------------------------------------------------------------------------

static uint32_t memory_type(struct slri_s *s, uint64_t bytes, uint32_t element)
{
    uint32_t count = (uint32_t)((bytes + element - 1) / element);
    return SLRI_W_ONCE(&s->w, TypeArray, 0, slri_s_uint(s, element), slri_s_u32(s, count ? count : 1));
}

// A parameter that is memory is two of SPIR-V's: where it is, and how far into it.
static void begin_parameters(struct slri_s *s, uint32_t index, struct slri_w_part *head)
{
    const struct slri_s_use *use = s->param_use[index];
    const struct slri_function *f = s->function;
    uint32_t *type = slri_s_take(s, 4 * (size_t)f->params + 1, sizeof *type), types = 0;
    if (!type)
        return;
    uint32_t *value = type + 2 * f->params + 1;
    type[types++] = slri_s_type(s, f->result);
    for (uint32_t i = 0; i < f->params; i++) {
        const struct slri_param *param = &f->param[i];
        if (param->is_memory)
            type[types++] =
                slri_s_pointer(s, SLRI_STORAGE_Function, memory_type(s, param->bytes, slri_s_element(s, &use[i])));
        type[types++] = slri_s_type(s, f->reg_kind[param->reg]);
    }
    uint32_t signature = slri_w_once(&s->w, SLRI_W_TypeFunction, 0, type, types);
    SLRI_W(&s->w, head, Function, type[0], s->function_id[index], 0, signature);
    for (uint32_t i = 1; i < types; i++) {
        value[i] = slri_w_id(&s->w);
        SLRI_W(&s->w, head, FunctionParameter, type[i], value[i]);
    }
    for (uint32_t i = 0, at = 1; i < f->params; i++) {
        if (f->param[i].is_memory)
            s->param[i] = (struct slri_s_array){value[at++], slri_s_element(s, &use[i]), SLRI_STORAGE_Function};
        if (s->value[f->param[i].reg].held != SLRI_ASSIGNED_LITERAL)
            slri_s_set(s, f->param[i].reg, value[at]);
        at++;
    }
}

void slri_s_function(struct slri_s *s, uint32_t index)
{
    struct slri_w_part head = {0};
    const struct slri_function *f = s->module->function[index];
    s->function = f;
    s->w.variables.count = s->w.code.count = 0;
    s->local = slri_s_take(s, f->locals, sizeof *s->local);
    s->param = slri_s_take(s, f->params, sizeof *s->param);
    s->w.out_of_memory |= !begin_registers(s, index);
    if (s->w.out_of_memory)
        return;
    for (uint32_t i = 0; i < s->entry->bindings; i++)
        s->base[i] = 0;
    s->uses_globals = false;
    s->arguments = 0;
    s->flow = (struct slri_s_loop){0};
    s->line = 0;
    s->ended = false;
    s->blocks++;
    slri_block_each(f->body, note_bases, s);
    slri_s_find_locals(s, index);
    begin_parameters(s, index, &head);
    if (f == s->entry->function)
        begin_entry(s);
    begin_function(s);
    slri_s_block(s, f->body);
    if (!s->ended && f->result == SLRI_VOID)
        slri_w_put(&s->w, &s->w.code, SLRI_W_Return, NULL, 0);
    else if (!s->ended)
        SLRI_DO(s, ReturnValue, slri_s_const(s, f->result, 0));
    slri_w_append(&s->w, &s->w.functions, &head);
    slri_w_free_part(&head);
    slri_s_finish_function(s);
}

// ---- stores that nobody reads --------------------------------------------------------------------------------------

struct named { // by id, from `first` on
    uint32_t first, ids;
    bool *is_variable, *is_read, *is_elsewhere; // the last: named by another instruction than a load or a store
    struct stored {
        size_t at; // 1 + where the newest store of the block is; 0: there is none, or it has been loaded
        uint32_t block;
    } * stored;
};

static enum slri_w_op op_at(const struct slri_w_part *code, size_t at)
{
    return (enum slri_w_op)(code->word[at] & 0xffff);
}

// The variable's place in the lists, or their length: it is none.
static uint32_t place_of(const struct named *named, uint32_t id)
{
    const uint32_t i = id - named->first;
    return i < named->ids && named->is_variable[i] ? i : named->ids;
}

static void note_name(struct named *named, uint32_t id, bool is_load)
{
    const uint32_t i = place_of(named, id);
    if (i == named->ids)
        return;
    named->is_read[i] = true;
    named->is_elsewhere[i] |= !is_load;
}

// What instructions name but to store there. A literal may be taken for an id, which keeps a variable; of places in the
// source and of loads it is not.
static void note_names(const struct slri_w_part *code, struct named *named)
{
    for (size_t at = 0; at < code->count; at += code->word[at] >> 16) {
        const enum slri_w_op op = op_at(code, at);
        const bool is_load = op == SLRI_W_Load;
        const size_t from = is_load ? 3 : op == SLRI_W_Store ? 2 : 1;
        const size_t to = is_load ? 4 : op == SLRI_W_Store ? 3 : op == SLRI_W_Line ? 0 : code->word[at] >> 16;
        for (size_t i = from; i < to; i++)
            note_name(named, code->word[at + i], is_load);
    }
}

// Marks a store that another one follows, with no load and no end of the block between: drivers that translate
// instruction by instruction do each of them.
static void mark_overwritten(struct slri_w_part *code, struct named *named)
{
    uint32_t block = 0;
    for (size_t at = 0; at < code->count; at += code->word[at] >> 16) {
        const enum slri_w_op op = op_at(code, at);
        block += op == SLRI_W_Label;
        if (op != SLRI_W_Load && op != SLRI_W_Store)
            continue;
        const uint32_t i = place_of(named, code->word[at + (op == SLRI_W_Load ? 3 : 1)]);
        if (i == named->ids || named->is_elsewhere[i])
            continue;
        struct stored *stored = &named->stored[i];
        if (op == SLRI_W_Store && stored->at != 0 && stored->block == block)
            code->word[stored->at - 1] &= 0xffff0000u;
        *stored = (struct stored){op == SLRI_W_Store ? at + 1 : 0, block};
    }
}

// The instructions of one sort whose operand `id` is a variable that nobody reads, and those that are marked.
static void leave_out(struct slri_w_part *part, enum slri_w_op op, uint32_t id, const struct named *named)
{
    size_t to = 0, size;
    for (size_t at = 0; at < part->count; at += size) {
        size = part->word[at] >> 16;
        const uint32_t i = op_at(part, at) == op ? place_of(named, part->word[at + id]) : named->ids;
        if ((part->word[at] & 0xffff) == 0 || (i != named->ids && !named->is_read[i]))
            continue;
        memmove(part->word + to, part->word + at, size * sizeof *part->word);
        to += size;
    }
    part->count = to;
}

static void leave_out_unread(struct slri_s *s)
{
    const struct slri_w_part *variables = &s->w.variables;
    if (variables->count == 0)
        return;
    struct named named = {.first = variables->word[2]};
    named.ids = s->w.next - named.first + 1;
    named.is_variable = slri_s_take(s, named.ids, 3);
    named.stored = slri_s_take(s, named.ids, sizeof *named.stored);
    if (s->w.out_of_memory)
        return;
    named.is_read = named.is_variable + named.ids;
    named.is_elsewhere = named.is_read + named.ids;
    for (size_t at = 0; at < variables->count; at += variables->word[at] >> 16)
        if (variables->word[at + 2] >= named.first)
            named.is_variable[variables->word[at + 2] - named.first] = true;
    note_names(&s->w.code, &named);
    mark_overwritten(&s->w.code, &named);
    leave_out(&s->w.code, SLRI_W_Store, 1, &named);
    leave_out(&s->w.variables, SLRI_W_Variable, 2, &named);
}

// Behind what it begins with: its first block's variables, then all else.
void slri_s_finish_function(struct slri_s *s)
{
    uint32_t label = slri_w_id(&s->w);
    leave_out_unread(s);
    SLRI_W(&s->w, &s->w.functions, Label, label);
    slri_w_append(&s->w, &s->w.functions, &s->w.variables);
    slri_w_append(&s->w, &s->w.functions, &s->w.code);
    slri_w_put(&s->w, &s->w.functions, SLRI_W_FunctionEnd, NULL, 0);
    s->w.variables.count = s->w.code.count = 0;
}
