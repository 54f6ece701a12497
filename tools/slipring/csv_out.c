// SPDX-License-Identifier: Apache-2.0
// Writes CSV: numbers go straight into the buffer, only keys may need quotes.
#include "csv_out.h"

#include "memory.h"
#include "number.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { CAPACITY = 1 << 18 };

void csv_out_open(csv_out *out, int descriptor)
{
    *out = (csv_out){.descriptor = descriptor, .buffer = memory_take(CAPACITY, 1)};
}

void csv_out_close(csv_out *out)
{
    free(out->buffer);
}

void csv_out_flush(csv_out *out)
{
    size_t written = 0;
    while (written < out->used && out->error == 0) {
        ssize_t got = write(out->descriptor, out->buffer + written, out->used - written);
        if (got >= 0)
            written += (size_t)got;
        else if (errno != EINTR)
            out->error = errno;
    }
    out->used = 0;
}

static char *room(csv_out *out, size_t bytes)
{
    if (CAPACITY - out->used < bytes)
        csv_out_flush(out);
    return out->buffer + out->used;
}

static void put(csv_out *out, char character)
{
    *room(out, 1) = character;
    out->used++;
}

static bool needs_quotes(const char *text, size_t bytes)
{
    for (size_t i = 0; i < bytes; i++) {
        if (strchr(",\"\r\n", text[i]) != NULL) // finds NUL as well: better quoted than guessed at
            return true;
    }
    return bytes == 0 || text[0] == ' ' || text[bytes - 1] == ' ';
}

static void put_text(csv_out *out, const char *text, size_t bytes)
{
    bool quotes = needs_quotes(text, bytes);
    if (quotes)
        put(out, '"');
    for (size_t i = 0; i < bytes; i++) {
        if (text[i] == '"')
            put(out, '"');
        put(out, text[i]);
    }
    if (quotes)
        put(out, '"');
}

// Between columns; `first` is whether none has been written in this row.
static void put_separator(csv_out *out, bool *first)
{
    if (!*first)
        put(out, ',');
    *first = false;
}

void csv_out_header(csv_out *out, const char *key, const slr_layout *layout)
{
    bool first = true;
    if (key != NULL) {
        put_separator(out, &first);
        put_text(out, key, strlen(key));
    }
    for (uint32_t i = 0; i < layout->field_count; i++) {
        const slr_field *field = &layout->fields[i];
        for (uint32_t k = 0; k < field->count; k++) {
            char name[320];
            int length = snprintf(name, sizeof name, field->is_array ? "%.300s[%u]" : "%.300s", field->name, k);
            put_separator(out, &first);
            put_text(out, name, (size_t)length);
        }
    }
    put(out, '\n');
}

void csv_out_row(csv_out *out, const char *key, size_t key_bytes, const slr_layout *layout, const unsigned char *from)
{
    bool first = true;
    if (key != NULL) {
        put_separator(out, &first);
        put_text(out, key, key_bytes);
    }
    for (uint32_t i = 0; i < layout->field_count; i++) {
        const slr_field *field = &layout->fields[i];
        size_t stride = number_bytes(field->scalar);
        for (uint32_t k = 0; k < field->count; k++) {
            put_separator(out, &first);
            out->used += number_print(field->scalar, from + field->offset + k * stride, room(out, NUMBER_TEXT_MAX));
        }
    }
    put(out, '\n');
    out->rows++;
}
