// SPDX-License-Identifier: Apache-2.0
/// What can be done with a struct whose layout is known.
#ifndef LAYOUT_H
#define LAYOUT_H

#include <slipring/program.h>

#include <stdbool.h>
#include <string.h>

/// A list of numbers: an array that is no text.
static inline bool layout_is_list(const slr_field *field)
{
    return field->is_array && !field->is_text;
}

/// Bytes of a text, which ends at its first NUL or with its array.
static inline size_t layout_text_bytes(const slr_field *field, const unsigned char *from)
{
    const unsigned char *end = memchr(from, 0, field->count);
    return end != NULL ? (size_t)(end - from) : field->count;
}

/// Stores a text, and NULs behind it. False, and nothing stored, where it does not fit or has a NUL in it.
static inline bool layout_store_text(const char *text, size_t bytes, size_t capacity, unsigned char *to)
{
    if (bytes > capacity || memchr(text, 0, bytes) != NULL)
        return false;
    memcpy(to, text, bytes);
    memset(to + bytes, 0, capacity - bytes);
    return true;
}

/// Copies the fields. Bytes between them belong to nobody and become zero, so that equal structs are equal bytes.
void layout_copy(const slr_layout *layout, unsigned char *to, const unsigned char *from);

#endif
