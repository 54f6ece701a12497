// SPDX-License-Identifier: Apache-2.0
// Interned types and their layout.
#include "ir/type.h"

#include "base/round.h"
#include "base/text.h"

#include <string.h>

struct derived { // an array or a pointer that somebody has asked for
    struct slri_type type;
    struct derived *next;
};

#define VECTOR_BASES 15
#define BUCKETS 256 // a translation unit has tens of derived types; chains stay short for thousands

struct slri_types {
    struct slri_region *region;
    struct slri_type scalar[SLRI_KIND_COUNT];
    struct derived *bucket[BUCKETS];
    const struct slri_type *vector[VECTOR_BASES][4];
};

struct slri_types *slri_types_create(struct slri_region *region)
{
    struct slri_types *types = slri_region_take(region, sizeof *types);
    if (!types)
        return NULL;
    types->region = region;
    for (int kind = SLRI_VOID; kind < SLRI_KIND_COUNT; kind++) {
        uint32_t bytes = slri_kind_bytes((enum slri_kind)kind);
        types->scalar[kind] = (struct slri_type){.kind = (enum slri_kind)kind, .bytes = bytes, .align = bytes};
    }
    return types;
}

const struct slri_type *slri_type_of(struct slri_types *types, enum slri_kind kind)
{
    return &types->scalar[kind];
}

static const struct slri_type *intern(struct slri_types *types, const struct slri_type *like)
{
    uintptr_t mix = (uintptr_t)like->of / 16 + (uintptr_t)like->count * 31 + (uintptr_t)like->is_const + like->kind +
                    (uintptr_t)like->is_volatile * 7;
    struct derived **chain = &types->bucket[mix % BUCKETS];
    for (struct derived *at = *chain; at; at = at->next)
        if (at->type.kind == like->kind && at->type.of == like->of && at->type.count == like->count &&
            at->type.is_const == like->is_const && at->type.is_volatile == like->is_volatile)
            return &at->type;
    struct derived *made = slri_region_take(types->region, sizeof *made);
    if (!made)
        return NULL;
    made->type = *like;
    made->next = *chain;
    *chain = made;
    return &made->type;
}

const struct slri_type *slri_type_array(struct slri_types *types, const struct slri_type *of, uint64_t count)
{
    struct slri_type like = {.kind = SLRI_ARRAY, .of = of, .count = count, .bytes = of->bytes * count};
    like.align = of->align;
    return intern(types, &like);
}

const struct slri_type *slri_type_pointer(struct slri_types *types, const struct slri_type *of, bool to_const,
                                          bool to_volatile)
{
    struct slri_type like = {.kind = SLRI_POINTER, .of = of, .is_const = to_const, .bytes = 8, .align = 8};
    like.is_volatile = to_volatile;
    return intern(types, &like);
}

const struct slri_type *slri_type_outlet(struct slri_types *types, const struct slri_type *message)
{
    struct slri_type like = {.kind = SLRI_STRUCT, .of = message, .name = "ring_to", .align = 1};
    const struct slri_type *unknown = intern(types, &like);
    return unknown ? slri_type_pointer(types, unknown, false, false) : NULL;
}

struct slri_type *slri_type_struct(struct slri_types *types, const char *name)
{
    struct slri_type *type = slri_region_take(types->region, sizeof *type);
    if (type)
        *type = (struct slri_type){.kind = SLRI_STRUCT, .name = name, .align = 1};
    return type;
}

static uint32_t larger(uint32_t a, uint32_t b)
{
    return a > b ? a : b;
}

uint32_t slri_type_align_of_fields(const struct slri_type *type)
{
    uint32_t align = 1;
    for (uint32_t i = 0; i < type->fields; i++)
        align = larger(align, larger(type->field[i].type->align, type->field[i].align));
    return align;
}

void slri_type_complete(struct slri_type *type, struct slri_field *field, uint32_t fields)
{
    uint64_t end = 0;
    for (uint32_t i = 0; i < fields; i++) {
        field[i].offset = slri_round_up(end, larger(field[i].type->align, field[i].align));
        end = field[i].offset + field[i].type->bytes;
    }
    type->field = field;
    type->fields = fields;
    type->align = larger(type->align, slri_type_align_of_fields(type));
    type->bytes = slri_round_up(end, type->align);
}

// ---- vectors -------------------------------------------------------------------------------------------------------

// Alignments as nvcc and the host's compiler have them: of two and four as of the whole (16 at most), else of one.
static const struct {
    const char *name;
    enum slri_kind kind;
} vector_bases[VECTOR_BASES] = {
    {"char", SLRI_I8},      {"uchar", SLRI_U8},      {"short", SLRI_I16},          {"ushort", SLRI_U16},
    {"int", SLRI_I32},      {"uint", SLRI_U32},      {"long", SLRI_I64},           {"ulong", SLRI_U64},
    {"longlong", SLRI_I64}, {"ulonglong", SLRI_U64}, {"float", SLRI_F32},          {"double", SLRI_F64},
    {"dim", SLRI_U32},      {"half", SLRI_F16},      {"__nv_bfloat16", SLRI_BF16},
};

static const struct slri_type *make_vector(struct slri_types *types, const char *name, enum slri_kind kind,
                                           uint32_t members)
{
    static const char *const names[] = {"x", "y", "z", "w"};
    struct slri_type *type = slri_type_struct(types, slri_region_text(types->region, name, strlen(name)));
    struct slri_field *field = slri_region_take(types->region, members * sizeof *field);
    if (!type || !type->name || !field)
        return NULL;
    for (uint32_t i = 0; i < members; i++)
        field[i] = (struct slri_field){.name = names[i], .type = &types->scalar[kind]};
    slri_type_complete(type, field, members);
    uint32_t whole = members * slri_kind_bytes(kind);
    if (members != 3)
        type->align = whole < 16 ? whole : 16;
    type->is_vector = true;
    return type;
}

const struct slri_type *slri_type_vector(struct slri_types *types, const char *name)
{
    size_t length = strlen(name);
    uint32_t members = length ? (uint32_t)(name[length - 1] - '0') : 0;
    if (members < 1 || members > 4)
        return NULL;
    for (int i = 0; i < VECTOR_BASES; i++) {
        const char *base = vector_bases[i].name;
        bool is_dim = strcmp(base, "dim") == 0, is_half = slri_kind_is_half(vector_bases[i].kind);
        if (strlen(base) != length - 1 || memcmp(base, name, length - 1) != 0 || (is_dim && members != 3) ||
            (is_half && members != 2))
            continue;
        const struct slri_type **known = &types->vector[i][members - 1];
        if (!*known)
            *known = make_vector(types, name, vector_bases[i].kind, members);
        return *known;
    }
    return NULL;
}

// ---- spelling ------------------------------------------------------------------------------------------------------

static const char *scalar_name(enum slri_kind kind)
{
    static const char *const name[SLRI_KIND_COUNT] = {
        [SLRI_VOID] = "void", [SLRI_BOOL] = "bool",          [SLRI_I8] = "char",   [SLRI_U8] = "unsigned char",
        [SLRI_I16] = "short", [SLRI_U16] = "unsigned short", [SLRI_I32] = "int",   [SLRI_U32] = "unsigned int",
        [SLRI_I64] = "long",  [SLRI_U64] = "unsigned long",  [SLRI_F32] = "float", [SLRI_F64] = "double",
        [SLRI_F16] = "half",  [SLRI_BF16] = "bfloat16",
    };
    return name[kind];
}

void slri_type_spell_to(slri_text *text, const struct slri_type *type)
{
    const struct slri_type *base = type;
    while (base->kind == SLRI_ARRAY)
        base = base->of;
    if (slri_type_is_outlet(base)) {
        slri_text_puts(text, "ring_to(");
        slri_type_spell_to(text, base->of->of);
        slri_text_puts(text, ")");
    } else if (base->kind == SLRI_POINTER) {
        slri_text_puts(text, base->is_const ? "const " : "");
        slri_text_puts(text, base->is_volatile ? "volatile " : "");
        slri_type_spell_to(text, base->of);
        slri_text_puts(text, " *");
    } else if (base->kind == SLRI_STRUCT) {
        slri_text_printf(text, "%s%s", base->is_vector ? "" : "struct ", base->name[0] ? base->name : "(unnamed)");
    } else {
        slri_text_puts(text, scalar_name(base->kind));
    }
    for (; type->kind == SLRI_ARRAY; type = type->of)
        slri_text_printf(text, type->count ? "[%llu]" : "[]", (unsigned long long)type->count);
}

const char *slri_type_spell(struct slri_types *types, const struct slri_type *type)
{
    slri_text text = SLRI_TEXT_INIT;
    slri_type_spell_to(&text, type);
    const char *spelled = slri_region_text(types->region, slri_text_view(&text), text.length);
    slri_text_free(&text);
    return spelled ? spelled : "?";
}

enum slri_kind slri_kind_common(enum slri_kind a, enum slri_kind b)
{
    if (slri_kind_is_half(a) && (a == b || !slri_kind_is_float(b)))
        return a; // as C23 has it of _Float16: an integer becomes one
    if (slri_kind_is_half(b) && !slri_kind_is_float(a))
        return b;
    // The kinds of registers stand in enum slri_kind in C's order of conversion rank, unsigned above signed.
    enum slri_kind left = slri_kind_in_register(a), right = slri_kind_in_register(b);
    return left > right ? left : right;
}
