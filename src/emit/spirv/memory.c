// SPDX-License-Identifier: Apache-2.0
// Memory. What has a device address is reached through a pointer made of it. All else is an array of words: as wide as
// its accesses where these are alike, else of 4 bytes. A part of a word is put into it; in shared memory by two
// atomics, so that threads that write its neighbours lose nothing.
#include "emit/spirv/internal.h"

#include <string.h>

// ---- arrays --------------------------------------------------------------------------------------------------------

struct slri_s_array *slri_s_array(struct slri_s *s, const struct slri_function *function, struct slri_root root)
{
    struct slri_s_array *const of[SLRI_ROOT_DYNAMIC + 1] = {[SLRI_ROOT_LOCAL] = s->local[function->index],
                                                            [SLRI_ROOT_PARAM] = s->param[function->index],
                                                            [SLRI_ROOT_SHARED] = s->shared,
                                                            [SLRI_ROOT_DYNAMIC] = &s->dynamic,
                                                            [SLRI_ROOT_CONST] = s->constant};
    return of[root.kind] ? of[root.kind] + root.index : NULL;
}

struct noted {
    struct slri_s *s;
    const struct slri_function *function;
    bool changed;
};

// What a function is given is used as it uses it. It may pass on what it uses itself only later.
static void note_uses(const struct slri_instr *in, void *user)
{
    struct noted *noted = user;
    struct slri_s_array *array = slri_s_array(noted->s, noted->function, in->root);
    if (array) {
        const uint32_t sizes = array->sizes | slri_kind_bytes(in->kind);
        noted->changed |= array->sizes != sizes;
        array->sizes = sizes;
    }
    for (uint32_t i = 0; in->op == SLRI_OP_CALL && i < in->args; i++) {
        struct slri_s_array *given = slri_s_array(noted->s, noted->function, in->arg[i].root);
        if (!given || !in->callee->param[i].is_memory)
            continue;
        struct slri_s_array *param = &noted->s->param[in->callee->index][i];
        noted->changed |= given->sizes != param->sizes;
        given->sizes = param->sizes |= given->sizes;
    }
}

void slri_s_find_uses(struct slri_s *s)
{
    struct noted noted = {.s = s, .changed = true};
    while (noted.changed) {
        noted.changed = false;
        for (uint32_t i = 0; i < s->module->functions; i++) {
            noted.function = s->module->function[i];
            slri_block_each(noted.function->body, note_uses, &noted);
        }
    }
}

uint32_t slri_s_length(struct slri_s *s, struct slri_s_array *array, uint64_t bytes)
{
    const uint32_t sizes = array->sizes, narrow = sizes == 1 ? SLRI_SPIRV_INT8 : sizes == 2 ? SLRI_SPIRV_INT16 : 0;
    array->element = sizes == 8 || s->options.has & narrow ? sizes : 4;
    if (array->element < 4) {
        slri_w_capability(&s->w, array->element == 1 ? SLRI_CAP_Int8 : SLRI_CAP_Int16);
        s->needs |= narrow;
    }
    const uint32_t length = (uint32_t)((bytes + array->element - 1) / array->element);
    return length ? length : 1;
}

uint32_t slri_s_array_type(struct slri_s *s, const struct slri_s_array *array, uint32_t length)
{
    return SLRI_W_ONCE(&s->w, TypeArray, 0, slri_s_uint(s, array->element), length);
}

void slri_s_declare(struct slri_s *s, struct slri_s_array *array, uint32_t storage, uint32_t length, uint32_t initial)
{
    array->storage = storage;
    array->variable = slri_s_variable(s, storage, slri_s_array_type(s, array, length), initial);
}

// A table, where it is first read.
static void make_table(struct slri_s *s, struct slri_s_array *array, const struct slri_const *table)
{
    const uint32_t count = slri_s_length(s, array, table->type->bytes);
    uint32_t *id = slri_s_take(s, count, sizeof *id);
    if (!id)
        return;
    for (uint32_t i = 0; i < count; i++) {
        uint64_t value = 0, at = (uint64_t)i * array->element, left = table->type->bytes - at;
        memcpy(&value, table->data + at, left < array->element ? left : array->element);
        id[i] = slri_s_bits(s, array->element, value);
    }
    const uint32_t length = slri_s_u32(s, count), type = slri_s_array_type(s, array, length);
    slri_s_declare(s, array, SLRI_STORAGE_Private, length,
                   slri_w_once(&s->w, SLRI_W_ConstantComposite, type, id, count));
}

// ---- places --------------------------------------------------------------------------------------------------------

uint32_t slri_s_base(const struct slri_s *s, struct slri_root root)
{
    return root.kind == SLRI_ROOT_GLOBAL ? s->entry->bindings : root.index;
}

// A struct lies among the arguments, a variable among the program's.
static void find_base(struct slri_s *s, struct slri_root root, struct slri_s_place *place)
{
    const uint32_t base = slri_s_base(s, root);
    place->address = s->base[base];
    place->pointer = s->pointer[base];
    if (root.kind == SLRI_ROOT_GLOBAL)
        place->at += s->module->global[root.index].offset;
    else if (!s->entry->binding[root.index].is_buffer)
        place->at += slri_argument(s->given, root.index);
}

// Whether an offset is known, which words make by a conversion.
static bool is_literal(const struct slri_s *s, slri_reg offset, uint64_t *out)
{
    const struct slri_assigned *value = &s->value[offset];
    if (s->words && value->held == SLRI_ASSIGNED_VALUE && value->given && value->given->op == SLRI_OP_CONVERT)
        value = &s->value[value->given->a];
    return slri_assigned_is_literal(value, out);
}

struct slri_s_place slri_s_place(struct slri_s *s, const struct slri_instr *in)
{
    struct slri_s_place place = {.is_volatile = in->is_volatile};
    if (!is_literal(s, in->a, &place.at)) {
        place.at = 0;
        place.offset = slri_s_get(s, in->a);
    }
    struct slri_s_array *array = slri_s_array(s, s->function, in->root);
    if (in->root.kind == SLRI_ROOT_CONST && !array->variable)
        make_table(s, array, &s->module->constant[in->root.index]);
    if (array)
        place.array = *array;
    else
        find_base(s, in->root, &place);
    return place;
}

static struct slri_s_place behind(const struct slri_s_place *place, uint64_t bytes)
{
    struct slri_s_place made = *place;
    made.at += bytes;
    return made;
}

// The offset in bytes.
static uint32_t offset_of(struct slri_s *s, const struct slri_s_place *place)
{
    const uint32_t bytes = s->words ? 4 : 8, at = slri_s_bits(s, bytes, place->at);
    return place->offset ? SLRI_MAKE(s, IAdd, slri_s_uint(s, bytes), place->offset, at) : at;
}

// The same of 32 bits, as an index is.
static uint32_t narrow_offset_of(struct slri_s *s, const struct slri_s_place *place)
{
    uint32_t at = offset_of(s, place);
    return s->words ? at : slri_s_narrow_of(s, at);
}

// Where the address has such a number; for an array the element that holds the place.
uint32_t slri_s_reference(struct slri_s *s, const struct slri_s_place *place, uint32_t bytes)
{
    uint32_t u32 = slri_s_uint(s, 4);
    if (place->address && !s->words) {
        uint32_t u64 = slri_s_uint(s, 8);
        const uint32_t type = slri_s_pointer(s, SLRI_STORAGE_PhysicalStorageBuffer, slri_s_uint(s, bytes));
        return SLRI_MAKE(s, ConvertUToPtr, type, SLRI_MAKE(s, IAdd, u64, place->address, offset_of(s, place)));
    }
    const uint32_t element = place->address ? 4 : place->array.element;
    uint32_t index = place->offset ? narrow_offset_of(s, place) : slri_s_u32(s, (uint32_t)(place->at / element));
    if (place->offset && element == 4)
        index = slri_s_word_of(s, index);
    else if (place->offset && element > 1)
        index = SLRI_MAKE(s, ShiftRightLogical, u32, index, slri_s_u32(s, element == 8 ? 3 : 1));
    if (place->address) {
        uint32_t all = place->pointer ? place->pointer : SLRI_MAKE(s, Bitcast, s->all_words, place->address);
        return SLRI_MAKE(s, AccessChain, slri_s_pointer(s, SLRI_STORAGE_PhysicalStorageBuffer, u32), all,
                         slri_s_u32(s, 0), index);
    }
    uint32_t type = slri_s_pointer(s, place->array.storage, slri_s_uint(s, place->array.element));
    return SLRI_MAKE(s, AccessChain, type, place->array.variable, index);
}

// How far the part of a word begins in it, in bits.
static uint32_t bit_of(struct slri_s *s, const struct slri_s_place *place)
{
    uint32_t u32 = slri_s_uint(s, 4);
    if (!place->offset)
        return slri_s_u32(s, (uint32_t)(place->at & 3) * 8);
    uint32_t low = SLRI_MAKE(s, BitwiseAnd, u32, narrow_offset_of(s, place), slri_s_u32(s, 3));
    return SLRI_MAKE(s, ShiftLeftLogical, u32, low, slri_s_u32(s, 3));
}

// ---- one access ----------------------------------------------------------------------------------------------------

static uint32_t access_of(const struct slri_s_place *place)
{
    bool is_own = !place->address && place->array.storage != SLRI_STORAGE_Workgroup;
    return (place->is_volatile ? SLRI_ACCESS_Volatile : 0) | (is_own ? 0 : SLRI_ACCESS_NonPrivatePointer) |
           (place->address ? SLRI_ACCESS_Aligned : 0);
}

// None where it is 0; behind an aligned one stands on how many bytes it lies.
static uint32_t access_words(uint32_t access)
{
    return access & SLRI_ACCESS_Aligned ? 2 : access != 0;
}

static uint32_t load_whole(struct slri_s *s, const struct slri_s_place *place, uint32_t bytes)
{
    const uint32_t word[3] = {slri_s_reference(s, place, bytes), access_of(place), bytes};
    return slri_s_make(s, SLRI_W_Load, slri_s_uint(s, bytes), word, 1 + access_words(word[1]));
}

static void store_whole(struct slri_s *s, const struct slri_s_place *place, uint32_t bytes, uint32_t value)
{
    const uint32_t word[4] = {slri_s_reference(s, place, bytes), value, access_of(place), bytes};
    slri_w_put(&s->w, &s->w.code, SLRI_W_Store, word, 2 + access_words(word[2]));
}

// An integer of so many bytes.
static uint32_t load_bits(struct slri_s *s, const struct slri_s_place *place, uint32_t bytes)
{
    uint32_t u32 = slri_s_uint(s, 4);
    if (place->address || place->array.element == bytes)
        return load_whole(s, place, bytes);
    if (bytes == 8) {
        uint32_t u64 = slri_s_uint(s, 8);
        struct slri_s_place above = behind(place, 4);
        uint32_t low = SLRI_MAKE(s, UConvert, u64, load_whole(s, place, 4));
        uint32_t high = SLRI_MAKE(s, UConvert, u64, load_whole(s, &above, 4));
        return SLRI_MAKE(s, BitwiseOr, u64, low, SLRI_MAKE(s, ShiftLeftLogical, u64, high, slri_s_u32(s, 32)));
    }
    return SLRI_MAKE(s, ShiftRightLogical, u32, load_whole(s, place, 4), bit_of(s, place)); // and something above
}

static void store_part(struct slri_s *s, const struct slri_s_place *place, uint32_t bytes, uint32_t value)
{
    uint32_t u32 = slri_s_uint(s, 4), bit = bit_of(s, place), mask = slri_s_u32(s, bytes == 1 ? 0xff : 0xffff);
    uint32_t kept = SLRI_MAKE(s, Not, u32, SLRI_MAKE(s, ShiftLeftLogical, u32, mask, bit));
    uint32_t put = SLRI_MAKE(s, ShiftLeftLogical, u32, SLRI_MAKE(s, BitwiseAnd, u32, value, mask), bit);
    if (place->array.storage == SLRI_STORAGE_Workgroup) {
        uint32_t at = slri_s_reference(s, place, 4), scope = slri_s_u32(s, SLRI_SCOPE_IN_WORKGROUP);
        SLRI_MAKE(s, AtomicAnd, u32, at, scope, slri_s_u32(s, 0), kept);
        SLRI_MAKE(s, AtomicOr, u32, at, scope, slri_s_u32(s, 0), put);
        return;
    }
    uint32_t was = SLRI_MAKE(s, BitwiseAnd, u32, load_whole(s, place, 4), kept);
    store_whole(s, place, 4, SLRI_MAKE(s, BitwiseOr, u32, was, put));
}

// Of an integer of so many bytes, or of 4 where it is less.
void slri_s_store_bits(struct slri_s *s, const struct slri_s_place *place, uint32_t bytes, uint32_t value)
{
    if (place->address || place->array.element == bytes) {
        if (bytes < 4)
            value = SLRI_MAKE(s, UConvert, slri_s_uint(s, bytes), value);
        store_whole(s, place, bytes, value);
    } else if (bytes == 8) {
        uint32_t u32 = slri_s_uint(s, 4), u64 = slri_s_uint(s, 8);
        struct slri_s_place above = behind(place, 4);
        store_whole(s, place, 4, SLRI_MAKE(s, UConvert, u32, value));
        uint32_t high = SLRI_MAKE(s, ShiftRightLogical, u64, value, slri_s_u32(s, 32));
        store_whole(s, &above, 4, SLRI_MAKE(s, UConvert, u32, high));
    } else {
        store_part(s, place, bytes, value);
    }
}

// ---- registers -----------------------------------------------------------------------------------------------------

// Of the low bits of a u32, or of an integer of fewer: the register's.
static uint32_t widen(struct slri_s *s, enum slri_kind kind, uint32_t bits, bool is_narrow)
{
    uint32_t u32 = slri_s_uint(s, 4), bytes = slri_kind_bytes(kind);
    bool is_signed = slri_kind_is_signed(kind);
    if (is_narrow)
        return is_signed ? SLRI_MAKE(s, SConvert, u32, bits) : SLRI_MAKE(s, UConvert, u32, bits);
    uint32_t away = slri_s_u32(s, 32 - 8 * bytes);
    bits = SLRI_MAKE(s, ShiftLeftLogical, u32, bits, away);
    return is_signed ? SLRI_MAKE(s, ShiftRightArithmetic, u32, bits, away)
                     : SLRI_MAKE(s, ShiftRightLogical, u32, bits, away);
}

uint32_t slri_s_load(struct slri_s *s, const struct slri_s_place *place, enum slri_kind kind)
{
    uint32_t bytes = slri_kind_bytes(kind), bits = load_bits(s, place, bytes);
    if (bytes < 4)
        return widen(s, kind, bits, place->address || place->array.element == bytes);
    return slri_s_of_bits(s, kind, bits);
}

void slri_s_memory(struct slri_s *s, const struct slri_instr *in)
{
    struct slri_s_place place = slri_s_place(s, in);
    uint32_t bytes = slri_kind_bytes(in->kind);
    if (place.address && bytes <= 2) {
        slri_w_capability(&s->w, bytes == 1 ? SLRI_CAP_StorageBuffer8BitAccess : SLRI_CAP_StorageBuffer16BitAccess);
        slri_s_need(s, bytes == 1 ? SLRI_SPIRV_STORAGE8_BIT : SLRI_SPIRV_STORAGE16_BIT, in);
    }
    if (in->op == SLRI_OP_LOAD)
        slri_s_set(s, in->dst, slri_s_load(s, &place, in->kind));
    else
        slri_s_store_bits(s, &place, bytes, slri_s_as_bits(s, in->kind, slri_s_get(s, in->b)));
}
