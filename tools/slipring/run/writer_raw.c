// SPDX-License-Identifier: Apache-2.0
// Writes raw bytes: a record is the reply's struct as it lies in memory, behind the key's bytes where there is a key.
#include "run/writer.h"

#include "run/layout.h"
#include "memory.h"
#include "number.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool open_raw(writer *writer, const slr_layout *message)
{
    writer->raw.record = memory_take(writer->layout->bytes + 1, 1);
    for (uint32_t i = 0; writer->shape.key != NULL && i < message->field_count; i++) {
        const slr_field *field = &message->fields[i];
        if (strcmp(field->name, writer->shape.key) == 0 && !field->is_array && field->scalar < SLR_F32)
            writer->raw.key = field;
    }
    if (writer->shape.keep_count > 0) {
        snprintf(writer->problem, sizeof writer->problem, "--keep: a raw output has no columns for it");
        return false;
    }
    if (writer->shape.key == NULL || writer->raw.key != NULL)
        return true;
    snprintf(writer->problem, sizeof writer->problem,
             "a raw output has the key's bytes before each reply: '%.80s' must be a field of struct %.80s that is one "
             "whole number",
             writer->shape.key, message->name);
    return false;
}

static void put_key(writer *writer, key_text key)
{
    char text[NUMBER_TEXT_MAX];
    uint64_t value = 0;
    size_t length = key.bytes < sizeof text ? key.bytes : sizeof text - 1;
    memcpy(text, key.text, length);
    text[length] = '\0';
    number_parse(writer->raw.key->scalar, text, &value); // it was a field's value before it was a key
    writer_put_text(writer, (char *)&value, number_bytes(writer->raw.key->scalar));
}

static void write_row(writer *writer, const key_text *lead, const unsigned char *from)
{
    if (writer->raw.key != NULL)
        put_key(writer, lead[0]);
    layout_copy(writer->layout, writer->raw.record, from);
    writer_put_text(writer, (char *)writer->raw.record, writer->layout->bytes);
}

static void close_raw(writer *writer)
{
    free(writer->raw.record);
}

const writer_kind raw_writer = {open_raw, NULL, write_row, close_raw};
