// SPDX-License-Identifier: Apache-2.0
// Types, names and literals in emitted text.
#include "emit/device/emit_device.h"
#include "ir/type.h"

#include <string.h>

// ---- structs -------------------------------------------------------------------------------------------------------

static uint32_t find_struct(const struct slri_d_emitter *e, const struct slri_type *type)
{
    uint32_t at = 0;
    while (at < e->declareds && e->declared[at] != type)
        at++;
    return at;
}

// Two structs of one name, of different scopes: the later one has its number behind it.
static bool is_name_free(const struct slri_d_emitter *e, const struct slri_type *type, uint32_t before)
{
    if (!type->name || !*type->name)
        return false;
    for (uint32_t i = 0; i < before; i++)
        if (strcmp(e->declared[i]->name, type->name) == 0)
            return false;
    return true;
}

static void put_tag(struct slri_d_emitter *e, const struct slri_type *type)
{
    uint32_t index = find_struct(e, type);
    if (is_name_free(e, type, index))
        slri_d_put(e, type->name);
    else
        slri_text_printf(e->c.out, "slri_%u", index);
}

void slri_d_type(struct slri_d_emitter *e, const struct slri_type *type)
{
    if (type->kind != SLRI_STRUCT) {
        slri_d_put(e, e->dialect->kind[type->kind]);
    } else if (type->is_vector) { // CUDA's compiler knows those of halves only from a header
        slri_d_put(e, slri_kind_is_half(type->field[0].type->kind) ? "slri_" : "");
        slri_d_put(e, type->name);
    } else {
        slri_d_put(e, "struct ");
        put_tag(e, type);
    }
}

static enum slri_kind word_of(const struct slri_type *type)
{
    return type->align >= 8 ? SLRI_U64 : type->align == 4 ? SLRI_U32 : type->align == 2 ? SLRI_U16 : SLRI_U8;
}

void slri_d_words(struct slri_d_emitter *e, const struct slri_type *type, const char *name)
{
    enum slri_kind word = word_of(type);
    uint64_t bytes = slri_kind_bytes(word);
    slri_text_printf(e->c.out, "%s%s %s[%llu]", type->align > 8 ? "SLRI_ALIGNED_16 " : "", e->dialect->kind[word], name,
                     (unsigned long long)((type->bytes + bytes - 1) / bytes));
}

void slri_d_declarator(struct slri_d_emitter *e, const struct slri_type *type, const char *name, uint32_t index)
{
    const struct slri_type *base = type;
    while (base->kind == SLRI_ARRAY)
        base = base->of;
    slri_d_type(e, base);
    slri_d_put(e, " ");
    if (index == UINT32_MAX)
        slri_d_put(e, name);
    else
        slri_d_name(e, name, "L", index);
    for (; type->kind == SLRI_ARRAY; type = type->of)
        slri_text_printf(e->c.out, "[%llu]", (unsigned long long)type->count);
}

static void add_struct(struct slri_d_emitter *e, const struct slri_type *type)
{
    if (e->declareds == e->declared_room) {
        uint32_t room = e->declared_room ? 2 * e->declared_room : 16;
        const struct slri_type **larger = slri_region_take(e->c.scratch, room * sizeof *larger);
        e->c.out->out_of_memory |= !larger;
        if (!larger)
            return;
        if (e->declareds)
            memcpy(larger, e->declared, e->declareds * sizeof *larger);
        e->declared = larger;
        e->declared_room = room;
    }
    e->declared[e->declareds++] = type;
}

static void put_struct_head(struct slri_d_emitter *e, const struct slri_type *type)
{
    slri_d_put(e, "struct ");
    if (type->align > slri_type_align_of_fields(type))
        slri_text_printf(e->c.out, "__align__(%u) ", type->align);
    put_tag(e, type);
    slri_d_put(e, " {\n");
}

// As deep as the type, which the front end bounds.
static void declare_struct(struct slri_d_emitter *e, const struct slri_type *type)
{
    while (type && (type->kind == SLRI_ARRAY || type->kind == SLRI_POINTER))
        type = type->of;
    if (!type || type->kind != SLRI_STRUCT || type->is_vector || find_struct(e, type) < e->declareds)
        return;
    for (uint32_t i = 0; i < type->fields; i++)
        declare_struct(e, type->field[i].type);
    add_struct(e, type);
    put_struct_head(e, type);
    for (uint32_t i = 0; i < type->fields; i++) {
        slri_d_put(e, "    ");
        if (type->field[i].align > type->field[i].type->align)
            slri_text_printf(e->c.out, "__align__(%u) ", type->field[i].align);
        slri_d_declarator(e, type->field[i].type, type->field[i].name, UINT32_MAX);
        slri_d_put(e, ";\n");
    }
    slri_d_put(e, "};\n");
}

static void declare_of_entry(struct slri_d_emitter *e, const struct slri_entry *entry)
{
    declare_struct(e, entry->state);
    declare_struct(e, entry->message);
    declare_struct(e, entry->reply);
    for (uint32_t i = 0; i < entry->bindings; i++)
        declare_struct(e, entry->binding[i].type);
    for (uint32_t i = 0; i < e->c.module->shareds; i++)
        if (slri_entry_has_shared(entry, i))
            declare_struct(e, e->c.module->shared[i].type);
}

void slri_d_types(struct slri_d_emitter *e)
{
    for (uint32_t i = 0; i < e->c.module->functions; i++) {
        const struct slri_function *function = e->c.module->function[i];
        for (uint32_t k = 0; e->functions[i].is_used && k < function->locals; k++)
            declare_struct(e, function->local[k].type);
    }
    for (uint32_t i = 0; i < e->c.module->entries; i++)
        if (!e->only || e->only == &e->c.module->entry[i])
            declare_of_entry(e, &e->c.module->entry[i]);
}

// ---- literals ------------------------------------------------------------------------------------------------------

// Hexadecimal digits, not printf's %a, whose point is a comma in some locales.
static void put_float(struct slri_d_emitter *e, bool negative, uint32_t exponent, uint64_t fraction, int digits,
                      int bias, const char *suffix)
{
    int power = exponent ? (int)exponent - bias : 1 - bias;
    slri_text_printf(e->c.out, negative ? "(-0x%d.%0*llxp%d%s)" : "0x%d.%0*llxp%d%s", exponent != 0, digits,
                     (unsigned long long)fraction, power, suffix);
}

static void put_integer(struct slri_d_emitter *e, enum slri_kind kind, uint64_t bits)
{
    long long value = kind == SLRI_I32 ? (int32_t)(uint32_t)bits : (long long)bits;
    const char *suffix = kind == SLRI_I32 ? "" : e->dialect->suffix_i64;
    if (value == (kind == SLRI_I32 ? INT32_MIN : INT64_MIN)) // C has no literal for the least integer
        slri_text_printf(e->c.out, "(%lld%s - 1)", value + 1, suffix);
    else
        slri_text_printf(e->c.out, value < 0 ? "(%lld%s)" : "%lld%s", value, suffix);
}

void slri_d_literal(struct slri_d_emitter *e, enum slri_kind kind, uint64_t bits)
{
    if (kind == SLRI_F64 && e->dialect->double_is_bits)
        kind = SLRI_U64;
    if (kind == SLRI_F32 && (bits >> 23 & 0xff) == 0xff)
        slri_text_printf(e->c.out, "SLRI_FLOAT(0x%08llxu)", (unsigned long long)bits);
    else if (kind == SLRI_F32)
        put_float(e, bits >> 31 & 1, bits >> 23 & 0xff, (bits & 0x7fffff) << 1, 6, 127, "f");
    else if (kind == SLRI_F64 && (bits >> 52 & 0x7ff) == 0x7ff)
        slri_text_printf(e->c.out, "SLRI_DOUBLE(0x%016llx%s)", (unsigned long long)bits, e->dialect->suffix_u64);
    else if (kind == SLRI_F64)
        put_float(e, bits >> 63, bits >> 52 & 0x7ff, bits & 0xfffffffffffff, 13, 1023, "");
    else if (kind == SLRI_U32 || kind == SLRI_U64)
        slri_text_printf(e->c.out, "%llu%s", (unsigned long long)bits, kind == SLRI_U32 ? "u" : e->dialect->suffix_u64);
    else
        put_integer(e, kind, bits);
}

// ---- names ---------------------------------------------------------------------------------------------------------

// A source name with its index; a temporary has its index alone.
void slri_d_name(struct slri_d_emitter *e, const char *name, const char *kind, uint32_t index)
{
    if (name && *name)
        slri_text_printf(e->c.out, "%s%s%s%s%u", *name == '_' ? "v" : "", name, e->mark, kind, index);
    else
        slri_text_printf(e->c.out, "r%s%s%u", e->mark, kind, index);
}

void slri_d_register(struct slri_d_emitter *e, slri_reg reg)
{
    if (e->c.reg[reg].literal)
        slri_d_literal(e, e->c.function->reg_kind[reg], e->c.reg[reg].literal->imm);
    else
        slri_d_name(e, e->c.function->reg_name[reg], "", reg);
}

bool slri_d_is_object(const struct slri_d_emitter *e, struct slri_root root)
{
    const struct slri_type *type = NULL;
    if (e->dialect->words && root.kind != SLRI_ROOT_BINDING)
        return false;
    if (root.kind == SLRI_ROOT_LOCAL)
        type = e->c.function->local[root.index].type;
    else if (root.kind == SLRI_ROOT_SHARED && e->entry)
        type = e->c.module->shared[root.index].type;
    else if (root.kind == SLRI_ROOT_BINDING && e->entry && !e->entry->binding[root.index].is_buffer)
        type = e->entry->binding[root.index].type;
    return type && type->kind != SLRI_ARRAY;
}

void slri_d_binding(struct slri_d_emitter *e, uint32_t index)
{
    if (e->dialect->given)
        slri_text_printf(e->c.out, "%s%u", e->dialect->given, index);
    else
        slri_d_put(e, e->entry->binding[index].name);
}

void slri_d_root(struct slri_d_emitter *e, struct slri_root root)
{
    switch (root.kind) {
    case SLRI_ROOT_STATE:
        slri_d_put(e, "slri_state");
        break;
    case SLRI_ROOT_MESSAGE:
        slri_d_put(e, "slri_message");
        break;
    case SLRI_ROOT_BINDING:
        if (e->entry)
            slri_d_binding(e, root.index);
        else
            slri_text_printf(e->c.out, "slri_b%u", root.index);
        break;
    case SLRI_ROOT_SHARED:
        slri_text_printf(e->c.out, "slri_s%u", root.index);
        break;
    case SLRI_ROOT_GLOBAL:
        if (e->dialect->gives_globals)
            slri_text_printf(e->c.out, "(slri_globals + %llu)",
                             (unsigned long long)e->c.module->global[root.index].offset);
        else
            slri_text_printf(e->c.out, "slri_g%u", root.index);
        break;
    case SLRI_ROOT_DYNAMIC:
        slri_d_put(e, "slri_dynamic");
        break;
    case SLRI_ROOT_CONST:
        slri_text_printf(e->c.out, "slri_c%u", root.index);
        break;
    case SLRI_ROOT_LOCAL:
        slri_d_name(e, e->c.function->local[root.index].name, "L", root.index);
        break;
    default:
        slri_d_param_name(e, root.index);
        break;
    }
}
