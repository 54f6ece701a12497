// SPDX-License-Identifier: Apache-2.0
// Raw bytes to messages: a record is the message's struct as it lies in memory.
#include "run/reader.h"

#include <inttypes.h>
#include <string.h>

static bool find_key(reader *reader)
{
    for (uint32_t i = 0; i < reader->layout->field_count; i++) {
        const slr_field *field = &reader->layout->fields[i];
        if (strcmp(field->name, reader->shape.key) == 0)
            reader->raw.key = field;
    }
    if (reader->raw.key == NULL)
        return reader_fail(reader, "--key: struct %s has no field '%s', and a raw record has only fields",
                           reader->layout->name, reader->shape.key);
    if (reader->raw.key->is_array || reader->raw.key->scalar >= SLR_F32)
        return reader_fail(reader, "--key: field %s of struct %s is not one whole number", reader->shape.key,
                           reader->layout->name);
    return true;
}

static bool open_raw(reader *reader)
{
    for (uint32_t i = 0; i < reader->layout->field_count; i++)
        reader->raw.has_bool = reader->raw.has_bool || reader->layout->fields[i].scalar == SLR_BOOL;
    return reader->shape.key == NULL || find_key(reader);
}

static read_result next(reader *reader)
{
    intake *bytes = &reader->bytes;
    size_t have = bytes->end - bytes->begin;
    if (have < reader->layout->bytes && !bytes->finished)
        return READ_MORE;
    if (have == 0)
        return READ_END;
    reader->line++;
    if (have < reader->layout->bytes) {
        reader_fail(reader, "the input ends within this record: %zu of %" PRIu64 " bytes", have, reader->layout->bytes);
        bytes->begin = bytes->end;
        return READ_BAD;
    }
    reader->raw.record = (unsigned char *)bytes->buffer + bytes->begin;
    bytes->begin += reader->layout->bytes;
    return READ_RECORD;
}

static bool read_key(reader *reader, key_text *key)
{
    const slr_field *field = reader->raw.key;
    size_t length = number_print(field->scalar, reader->raw.record + field->offset, reader->key_digits);
    *key = (key_text){reader->key_digits, length, true};
    return true;
}

// A _Bool that is neither 0 nor 1 means nothing in C, and something else in each engine.
static bool check_bools(reader *reader)
{
    for (uint32_t i = 0; i < reader->layout->field_count; i++) {
        const slr_field *field = &reader->layout->fields[i];
        for (uint32_t k = 0; field->scalar == SLR_BOOL && k < field->count; k++) {
            unsigned value = reader->raw.record[field->offset + k];
            if (value > 1)
                return reader_fail(reader, "field %s: a bool is a byte of 0 or 1, not %u", field->name, value);
        }
    }
    return true;
}

static bool store(reader *reader, uint32_t nth, unsigned char *message)
{
    (void)nth;
    if (reader->raw.has_bool && !check_bools(reader))
        return false;
    memcpy(message, reader->raw.record, reader->layout->bytes);
    return true;
}

static void close_raw(reader *reader)
{
    (void)reader;
}

const reader_kind raw_reader = {"record", open_raw, NULL, next, read_key, NULL, store, NULL, close_raw};
