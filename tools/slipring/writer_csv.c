// SPDX-License-Identifier: Apache-2.0
// Writes CSV: numbers go straight into the buffer, only keys may need quotes.
#include "writer.h"

#include "number.h"

#include <stdio.h>
#include <string.h>

static bool needs_quotes(const char *text, size_t bytes)
{
    for (size_t i = 0; i < bytes; i++) {
        if (strchr(",\"\r\n", text[i]) != NULL) // finds NUL as well: better quoted than guessed at
            return true;
    }
    return bytes == 0 || text[0] == ' ' || text[bytes - 1] == ' ';
}

static void put_text(writer *writer, const char *text, size_t bytes)
{
    if (!needs_quotes(text, bytes)) {
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
        writer_put(writer, ',');
    *first = false;
}

// A column a field, NAME[0], NAME[1]... for an array. The key stands first.
static void write_header(writer *writer)
{
    bool first = true;
    if (writer->key != NULL) {
        put_separator(writer, &first);
        put_text(writer, writer->key, strlen(writer->key));
    }
    for (uint32_t i = 0; i < writer->layout->field_count; i++) {
        const slr_field *field = &writer->layout->fields[i];
        for (uint32_t k = 0; k < field->count; k++) {
            char name[320];
            int length = snprintf(name, sizeof name, field->is_array ? "%.300s[%u]" : "%.300s", field->name, k);
            put_separator(writer, &first);
            put_text(writer, name, (size_t)length);
        }
    }
    writer_put(writer, '\n');
}

static void write_row(writer *writer, key_text key, const unsigned char *from)
{
    bool first = true;
    if (writer->key != NULL) {
        put_separator(writer, &first);
        put_text(writer, key.text, key.bytes);
    }
    for (uint32_t i = 0; i < writer->layout->field_count; i++) {
        const slr_field *field = &writer->layout->fields[i];
        size_t stride = number_bytes(field->scalar);
        for (uint32_t k = 0; k < field->count; k++) {
            put_separator(writer, &first);
            char *to = writer_room(writer, NUMBER_TEXT_MAX);
            writer->used += number_print(field->scalar, from + field->offset + k * stride, to);
        }
    }
    writer_put(writer, '\n');
}

const writer_kind csv_writer = {NULL, write_header, write_row, NULL};
