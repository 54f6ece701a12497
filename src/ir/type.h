// SPDX-License-Identifier: Apache-2.0
// The types of one translation unit, interned: two types are the same when their pointers are. Sizes and offsets are
// those of the host's C compiler (LP64), so that host and kernel may share a header of structs.
#ifndef SLRI_IR_TYPE_H
#define SLRI_IR_TYPE_H

#include "base/text.h"
#include "ir/ir.h"

#define SLRI_TYPE_MAX_BYTES (UINT64_C(1) << 30) // of one type: offsets then fit every target's 32-bit arithmetic

struct slri_types;

struct slri_types *slri_types_create(struct slri_region *region); // NULL when memory has run out

// The type of a scalar kind, or of VOID.
const struct slri_type *slri_type_of(struct slri_types *types, enum slri_kind kind);

// `count` 0: an array whose length its initialiser will give. NULL when memory has run out.
const struct slri_type *slri_type_array(struct slri_types *types, const struct slri_type *of, uint64_t count);
const struct slri_type *slri_type_pointer(struct slri_types *types, const struct slri_type *of, bool to_const,
                                          bool to_volatile);

// What `ring_to(struct alarm)` is: a way to send messages of that type; a pointer to a type of which nothing is known,
// so that nothing can be read through it, added to it or stored. NULL when memory has run out.
const struct slri_type *slri_type_outlet(struct slri_types *types, const struct slri_type *message);

// A new struct without fields. slri_type_complete lays the fields out (it fills in their offsets); the alignment that
// the source asks for is in `type->align` and in the fields before that.
struct slri_type *slri_type_struct(struct slri_types *types, const char *name);
void slri_type_complete(struct slri_type *type, struct slri_field *field, uint32_t fields);
uint32_t slri_type_align_of_fields(const struct slri_type *type); // what it would be if nobody had asked for more

// float4, uint3, dim3 and so on: structs of x, y, z, w with CUDA's alignment; `members` of them. NULL: no such name (or
// no memory).
const struct slri_type *slri_type_vector(struct slri_types *types, const char *name);

// "unsigned int", "struct beat", "const float *", "float[4][2]": as a C programmer writes it.
const char *slri_type_spell(struct slri_types *types, const struct slri_type *type);
void slri_type_spell_to(slri_text *text, const struct slri_type *type); // appends it

static inline bool slri_kind_is_scalar(enum slri_kind kind)
{
    return kind > SLRI_VOID && kind < SLRI_STRUCT;
}
static inline bool slri_type_is_scalar(const struct slri_type *type)
{
    return slri_kind_is_scalar(type->kind);
}
static inline bool slri_type_is_integer(const struct slri_type *type)
{
    return slri_type_is_scalar(type) && !slri_kind_is_float(type->kind);
}
static inline bool slri_type_is_outlet(const struct slri_type *type)
{
    return type->kind == SLRI_POINTER && type->of->kind == SLRI_STRUCT && type->of->of;
}
static inline bool slri_type_is_complete(const struct slri_type *type)
{
    return type->bytes != 0;
}

// The kind in which an operation on two scalars is done: C's integer promotions and usual arithmetic conversions.
// They never widen float to double; two different kinds of half meet in float.
enum slri_kind slri_kind_common(enum slri_kind a, enum slri_kind b);

#endif
