// SPDX-License-Identifier: Apache-2.0
// Writes CSV: numbers go straight into the buffer, only keys may need quotes.
#include "run/writer.h"

#include "run/layout.h"
#include "number.h"

#include <stdio.h>
#include <string.h>

static char delimiter_of(const writer *writer)
{
    return writer->shape.delimiter != 0 ? writer->shape.delimiter : ',';
}

static bool needs_quotes(const writer *writer, const char *text, size_t bytes)
{
    for (size_t i = 0; i < bytes; i++) {
        // strchr finds NUL as well: better quoted than guessed at.
        if (strchr("\"\r\n", text[i]) != NULL || text[i] == delimiter_of(writer))
            return true;
    }
    return bytes == 0 || text[0] == ' ' || text[bytes - 1] == ' ';
}

static void put_text(writer *writer, const char *text, size_t bytes)
{
    if (!needs_quotes(writer, text, bytes)) {
        writer_put_text(writer, text, bytes);
        return;
    }
    writer_put(writer, '"');
    for (size_t i = 0; i < bytes; i++) {
        if (text[i] == '"')
            writer_put(writer, '"');
        writer_put(writer, text[i]);
    }
    writer_put(writer, '"');
}

// Between columns; `first` is whether none has been written in this row.
static void put_separator(writer *writer, bool *first)
{
    if (!*first)
        writer_put(writer, delimiter_of(writer));
    *first = false;
}

static void put_names(writer *writer, const slr_field *field, bool *first)
{
    uint32_t columns = layout_is_list(field) ? field->count : 1;
    for (uint32_t k = 0; k < columns; k++) {
        char name[320];
        int length = snprintf(name, sizeof name, layout_is_list(field) ? "%.300s[%u]" : "%.300s", field->name, k);
        put_separator(writer, first);
        put_text(writer, name, (size_t)length);
    }
}

// A column a field, NAME[0], NAME[1]... for an array. The key stands first, what is kept after it.
static void write_header(writer *writer)
{
    const record_shape *shape = &writer->shape;
    bool first = true;
    if (shape->key != NULL) {
        put_separator(writer, &first);
        put_text(writer, shape->key, strlen(shape->key));
    }
    for (uint32_t i = 0; i < shape->keep_count; i++) {
        put_separator(writer, &first);
        put_text(writer, shape->keep[i], strlen(shape->keep[i]));
    }
    for (uint32_t i = 0; i < writer->layout->field_count; i++)
        put_names(writer, &writer->layout->fields[i], &first);
    writer_put(writer, '\n');
}

static void put_field(writer *writer, const slr_field *field, const unsigned char *from, bool *first)
{
    if (field->is_text) {
        put_separator(writer, first);
        put_text(writer, (const char *)from, layout_text_bytes(field, from));
        return;
    }
    size_t stride = number_bytes(field->scalar);
    for (uint32_t k = 0; k < field->count; k++) {
        put_separator(writer, first);
        char *to = writer_room(writer, NUMBER_TEXT_MAX);
        writer->used += number_print(field->scalar, from + k * stride, to);
    }
}

static void write_row(writer *writer, const key_text *lead, const unsigned char *from)
{
    bool first = true;
    uint32_t leads = (writer->shape.key != NULL) + writer->shape.keep_count;
    for (uint32_t i = 0; i < leads; i++) {
        put_separator(writer, &first);
        put_text(writer, lead[i].text, lead[i].bytes);
    }
    for (uint32_t i = 0; i < writer->layout->field_count; i++)
        put_field(writer, &writer->layout->fields[i], from + writer->layout->fields[i].offset, &first);
    writer_put(writer, '\n');
}

const writer_kind csv_writer = {NULL, write_header, write_row, NULL};
