// SPDX-License-Identifier: Apache-2.0
// Emitted C works on bytes and numbered registers. A debugger shows what C declares: so here the source's structs are
// declared again, and what a handler is given is named and typed. Nothing computes with these names.
#include "emit/c/debug.h"
#include "ir/ir_names.h"

#include <stdio.h>
#include <string.h>

// ---- names ---------------------------------------------------------------------------------------------------------

// What the emitted text calls something itself, and C's words that CUDA C has not.
static bool is_taken(const char *name)
{
    static const char *const words[] = {"state",  "message",  "call", "fault",  "fuel",     "result", "value",
                                        "inline", "restrict", "asm",  "typeof", "register", "auto",   "slri"};
    size_t length = strlen(name);
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (strcmp(name, words[i]) == 0)
            return true;
    // Its own numbered names end in a digit; types in _t.
    return length == 0 || *name == '_' || strncmp(name, "slr", 3) == 0 || strncmp(name, "SLR", 3) == 0 ||
           (name[length - 1] >= '0' && name[length - 1] <= '9') || (length > 2 && strcmp(name + length - 2, "_t") == 0);
}

static const struct slri_entry *debug_entry_of(const struct slri_c_emitter *e)
{
    for (uint32_t i = 0; i < e->module->entries; i++)
        if (e->module->entry[i].function == e->function)
            return &e->module->entry[i];
    return NULL;
}

static bool is_called(const char *name, const char *other)
{
    return other && strcmp(name, other) == 0;
}

// A pointer parameter's register is an offset into what it points to, not a variable.
static bool is_offset(const struct slri_c_emitter *e, const struct slri_entry *entry, slri_reg reg)
{
    for (uint32_t i = 0; i < e->function->params; i++)
        if (e->function->param[i].reg == reg && e->function->param[i].is_memory)
            return true;
    for (uint32_t i = 0; entry && i < entry->bindings; i++)
        if (entry->binding[i].is_buffer && entry->binding[i].reg == reg)
            return true;
    const char *name = e->function->reg_name[reg];
    return name && entry && e->function->reg_kind[reg] == SLRI_I64 &&
           (is_called(name, entry->state_name) || is_called(name, entry->message_name));
}

bool slri_c_debug_is_plain(const struct slri_c_emitter *e, const char *name)
{
    const struct slri_function *function = e->function;
    const struct slri_entry *entry = debug_entry_of(e);
    uint32_t found = 0;
    if (!name || is_taken(name))
        return false;
    for (slri_reg reg = 0; reg < function->regs; reg++)
        if (!is_offset(e, entry, reg))
            found += is_called(name, function->reg_name[reg]);
    for (uint32_t i = 0; i < function->locals; i++)
        found += is_called(name, function->local[i].name);
    for (uint32_t i = 0; i < function->params; i++)
        found += function->param[i].is_memory && is_called(name, function->param[i].name);
    for (uint32_t i = 0; entry && i < entry->bindings; i++)
        found += entry->binding[i].is_buffer && is_called(name, entry->binding[i].name);
    if (entry)
        found += is_called(name, entry->state_name) + is_called(name, entry->message_name);
    return found == 1;
}

bool slri_c_debug_is_variable(const struct slri_c_emitter *e, slri_reg reg)
{
    return !is_offset(e, debug_entry_of(e), reg) && slri_c_debug_is_plain(e, e->function->reg_name[reg]);
}

// ---- types ---------------------------------------------------------------------------------------------------------

struct slri_c_debug_type {
    const struct slri_type *type;
    struct slri_c_debug_type *next;
    uint32_t number;
    bool is_plain; // no struct before it has its name
};

static struct slri_c_debug_type *find_type(const struct slri_c_emitter *e, const struct slri_type *type)
{
    struct slri_c_debug_type *at = e->debug_types;
    while (at && at->type != type)
        at = at->next;
    return at;
}

static void put_tag(struct slri_c_emitter *e, const struct slri_c_debug_type *type)
{
    if (type->is_plain)
        slri_text_printf(e->out, "struct %s", type->type->name);
    else
        slri_text_printf(e->out, "struct slrt_%u", type->number);
}

static void put_base(struct slri_c_emitter *e, const struct slri_type *type)
{
    static const char *const names[SLRI_KIND_COUNT] = {
        [SLRI_BOOL] = "_Bool",          [SLRI_I8] = "signed char",     [SLRI_U8] = "unsigned char",
        [SLRI_I16] = "short",           [SLRI_U16] = "unsigned short", [SLRI_I32] = "int",
        [SLRI_U32] = "unsigned",        [SLRI_I64] = "long long",      [SLRI_U64] = "unsigned long long",
        [SLRI_F32] = "float",           [SLRI_F64] = "double",         [SLRI_F16] = "unsigned short",
        [SLRI_BF16] = "unsigned short", // their bits
    };
    const struct slri_c_debug_type *known = type->kind == SLRI_STRUCT ? find_type(e, type) : NULL;
    if (known)
        put_tag(e, known);
    else
        slri_c_put(e, type->kind < SLRI_KIND_COUNT && names[type->kind] ? names[type->kind] : "unsigned char");
}

// "int name[4][5]".
static void put_declarator(struct slri_c_emitter *e, const struct slri_type *type, const char *name)
{
    const struct slri_type *base = type;
    while (base->kind == SLRI_ARRAY)
        base = base->of;
    put_base(e, base);
    slri_text_printf(e->out, " %s", name);
    for (; type->kind == SLRI_ARRAY; type = type->of)
        slri_text_printf(e->out, "[%llu]", (unsigned long long)type->count);
}

static bool is_name_free(const struct slri_c_emitter *e, const char *name)
{
    for (const struct slri_c_debug_type *at = e->debug_types; at; at = at->next)
        if (at->is_plain && strcmp(at->type->name, name) == 0)
            return false;
    return name && *name && *name != '_' && strncmp(name, "slr", 3) != 0;
}

static void put_type(struct slri_c_emitter *e, const struct slri_type *type)
{
    while (type && type->kind == SLRI_ARRAY)
        type = type->of;
    if (!type || type->kind != SLRI_STRUCT || find_type(e, type))
        return;
    for (uint32_t i = 0; i < type->fields; i++)
        put_type(e, type->field[i].type);
    struct slri_c_debug_type *made = slri_region_take(e->scratch, sizeof *made);
    e->out->out_of_memory |= !made;
    if (!made)
        return;
    *made = (struct slri_c_debug_type){type, e->debug_types, e->debug_types ? e->debug_types->number + 1 : 0,
                                       is_name_free(e, type->name)};
    put_tag(e, made);
    slri_c_put(e, " {");
    for (uint32_t i = 0; i < type->fields; i++) {
        slri_c_put(e, " ");
        put_declarator(e, type->field[i].type, type->field[i].name);
        slri_c_put(e, ";");
    }
    slri_text_printf(e->out, " } __attribute__((aligned(%u)));\n", type->align);
    slri_c_put(e, "_Static_assert(sizeof(");
    put_tag(e, made);
    slri_text_printf(e->out, ") == %llu, \"as in the source\");\n", (unsigned long long)type->bytes);
    e->debug_types = made;
}

void slri_c_debug_types(struct slri_c_emitter *e)
{
    for (uint32_t i = 0; i < e->module->entries; i++) {
        const struct slri_entry *entry = &e->module->entry[i];
        put_type(e, entry->state);
        put_type(e, entry->message);
        for (uint32_t k = 0; k < entry->bindings; k++)
            put_type(e, entry->binding[k].type);
    }
    for (uint32_t i = 0; i < e->module->functions; i++)
        for (uint32_t k = 0; k < e->module->function[i]->locals; k++)
            put_type(e, e->module->function[i]->local[k].type);
}

// ---- variables -----------------------------------------------------------------------------------------------------

bool slri_c_debug_is_typed(const struct slri_c_emitter *e, const struct slri_local *local)
{
    return e->is_debug && !e->is_block && slri_c_debug_is_plain(e, local->name);
}

void slri_c_debug_local(struct slri_c_emitter *e, uint32_t index)
{
    const struct slri_local *local = &e->function->local[index];
    slri_c_put(e, "    _Alignas(16) ");
    put_declarator(e, local->type, local->name);
    slri_c_put(e, ";\n    unsigned char *const ");
    slri_c_root(e, (struct slri_root){SLRI_ROOT_LOCAL, index});
    slri_text_printf(e->out, " = (unsigned char *)&%s; __builtin_memset(", local->name);
    slri_c_root(e, (struct slri_root){SLRI_ROOT_LOCAL, index}); // its padding, too
    slri_text_printf(e->out, ", 0, %llu);\n", (unsigned long long)local->type->bytes);
}

static void put_pointer(struct slri_c_emitter *e, const struct slri_type *type, bool is_const, const char *name,
                        const char *from)
{
    bool is_plain = slri_c_debug_is_plain(e, name);
    if (!name || !*name)
        return;
    slri_c_put(e, is_const ? "    const " : "    ");
    put_base(e, type);
    slri_text_printf(e->out, " *const %s%s = (void *)%s; (void)%s%s;\n", name, is_plain ? "" : "_", from, name,
                     is_plain ? "" : "_");
}

void slri_c_debug_parameters(struct slri_c_emitter *e, const struct slri_entry *entry)
{
    if (entry->state)
        put_pointer(e, entry->state, false, entry->state_name, "call->state");
    if (entry->message)
        put_pointer(e, entry->message, true, entry->message_name, "call->message");
    for (uint32_t i = 0; i < entry->bindings; i++) {
        const struct slri_binding_info *binding = &entry->binding[i];
        char from[40];
        if (!binding->is_buffer || binding->is_outlet)
            continue;
        snprintf(from, sizeof from, "call->bound[%u].data", i);
        put_pointer(e, binding->type, binding->is_const, binding->name, from);
    }
}
