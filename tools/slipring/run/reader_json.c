// SPDX-License-Identifier: Apache-2.0
// NDJSON to messages: an object a line, parsed by jansson.
#include "run/reader.h"

#include "run/layout.h"
#include "names.h"

#include <float.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool open_json(reader *reader)
{
    reader->json.paths = json_paths_of(reader->layout);
    return true;
}

static void close_json(reader *reader)
{
    json_decref(reader->json.record);
    free(reader->json.kept);
    json_paths_free(reader->json.paths, reader->layout->field_count);
}

// ---- records -------------------------------------------------------------------------------------------------------

static bool is_blank(const char *text, size_t length)
{
    for (size_t i = 0; i < length; i++) {
        if (strchr(" \t\r", text[i]) == NULL || text[i] == '\0')
            return false;
    }
    return true;
}

static bool is_used(const reader *reader, const char *member)
{
    bool used = reader->shape.key != NULL && strcmp(member, reader->shape.key) == 0;
    for (uint32_t i = 0; !used && i < reader->shape.keep_count; i++)
        used = strcmp(reader->shape.keep[i], member) == 0;
    for (uint32_t i = 0; !used && i < reader->layout->field_count; i++)
        used = strcmp(reader->json.paths[i].steps[0].name, member) == 0;
    return used;
}

// The first object stands for all.
static void note_unused(reader *reader)
{
    const char *member;
    json_t *value;
    reader->json.looked = true;
    json_object_foreach(reader->json.record, member, value)
    {
        if (!is_used(reader, member))
            names_add(reader->notice, sizeof reader->notice, member);
    }
}

static read_result parse(reader *reader, const char *text, size_t length)
{
    json_error_t error;
    json_decref(reader->json.record);
    reader->json.record = json_loadb(text, length, JSON_REJECT_DUPLICATES | JSON_DECODE_ANY, &error);
    if (reader->json.record == NULL) {
        // jansson names a flag of its own there.
        const bool has_nul = json_error_code(&error) == json_error_null_character;
        reader_fail(reader, "no JSON, at byte %d: %s", error.position,
                    has_nul ? "\\u0000: a text has no NUL in it" : error.text);
        return READ_BAD;
    }
    if (!json_is_object(reader->json.record)) {
        reader_fail(reader, "each line must be one JSON object");
        return READ_BAD;
    }
    if (!reader->json.looked)
        note_unused(reader);
    return READ_RECORD;
}

static read_result refuse_long(reader *reader)
{
    reader_fail(reader, "more than 64 MiB in one line: is the format different?");
    return READ_BAD;
}

// The rest of a line that was refused before it ended. False: it goes on.
static bool skip_rest(reader *reader)
{
    intake *bytes = &reader->bytes;
    const char *text = bytes->buffer + bytes->begin;
    const char *feed = memchr(text, '\n', bytes->end - bytes->begin);
    bytes->begin = feed != NULL ? (size_t)(feed - bytes->buffer) + 1 : bytes->end;
    reader->json.is_skipping = feed == NULL;
    return feed != NULL || bytes->finished;
}

static read_result next(reader *reader)
{
    if (reader->json.is_skipping && !skip_rest(reader))
        return READ_MORE;
    intake *bytes = &reader->bytes;
    for (;;) {
        if (reader->line == 0)
            intake_skip_mark(bytes);
        const char *text = bytes->buffer + bytes->begin;
        size_t have = bytes->end - bytes->begin;
        const char *feed = memchr(text, '\n', have);
        if (feed == NULL && intake_overflows(bytes)) {
            bytes->begin = bytes->end;
            reader->json.is_skipping = true;
            reader->line++;
            return refuse_long(reader);
        }
        if (feed == NULL && !bytes->finished)
            return READ_MORE;
        if (have == 0)
            return READ_END;
        size_t length = feed != NULL ? (size_t)(feed - text) : have;
        bytes->begin += length + (feed != NULL);
        reader->line++;
        if (length > 0 && text[length - 1] == '\r')
            length--;
        if (length > INTAKE_MAX)
            return refuse_long(reader);
        if (!is_blank(text, length))
            return parse(reader, text, length);
    }
}

// ---- values --------------------------------------------------------------------------------------------------------

// A number as text, for number_parse: it knows each type's range. A real that is whole has no point then.
static const char *text_of(const json_t *value, char *to, size_t bytes)
{
    if (json_is_string(value))
        return json_string_value(value);
    if (json_is_boolean(value))
        return json_is_true(value) ? "true" : "false";
    if (json_is_integer(value))
        snprintf(to, bytes, "%" JSON_INTEGER_FORMAT, json_integer_value(value));
    else
        snprintf(to, bytes, "%.17g", json_real_value(value));
    return to;
}

// The common cases, without a text in between. False: not one of them.
static bool store_plainly(slr_scalar scalar, const json_t *value, unsigned char *to)
{
    double number = json_number_value(value);
    float rounded = (float)number;
    int32_t whole = (int32_t)json_integer_value(value);
    if (scalar == SLR_F64 && json_is_real(value))
        memcpy(to, &number, sizeof number);
    else if (scalar == SLR_F32 && json_is_real(value) && fabs(number) <= FLT_MAX)
        memcpy(to, &rounded, sizeof rounded);
    else if (scalar == SLR_I32 && json_is_integer(value) && whole == json_integer_value(value))
        memcpy(to, &whole, sizeof whole);
    else
        return false;
    return true;
}

// Reals from here on may have been rounded when they were read.
#define EXACT 9007199254740992.0

static bool is_whole(slr_scalar scalar)
{
    return scalar != SLR_F32 && scalar != SLR_F64;
}

static const char *kind_of(const json_t *value)
{
    static const char *const kinds[] = {[JSON_OBJECT] = "an object", [JSON_ARRAY] = "an array", [JSON_NULL] = "null"};
    return kinds[json_typeof(value)];
}

static bool store_scalar(reader *reader, const slr_field *field, const json_t *value, unsigned char *to)
{
    char text[64];
    if (json_is_object(value) || json_is_array(value) || json_is_null(value))
        return reader_fail(reader, "member %s: %s is not %s", field->name, kind_of(value), number_takes(field->scalar));
    if (json_is_boolean(value) && field->scalar != SLR_BOOL)
        return reader_fail(reader, "member %s: %s is not %s", field->name, text_of(value, text, sizeof text),
                           number_takes(field->scalar));
    if (json_is_real(value) && is_whole(field->scalar) && fabs(json_real_value(value)) >= EXACT)
        return reader_fail(reader, "member %s: write a whole number from 2^53 on without a point and an exponent",
                           field->name);
    if (store_plainly(field->scalar, value, to) || number_parse(field->scalar, text_of(value, text, sizeof text), to))
        return true;
    return reader_fail(reader, "member %s: '%.64s' is not %s", field->name, text_of(value, text, sizeof text),
                       number_takes(field->scalar));
}

static bool store_array(reader *reader, const slr_field *field, const json_t *value, unsigned char *to)
{
    if (!json_is_array(value) || json_array_size(value) != field->count)
        return reader_fail(reader, "member %s: expected an array of %u numbers", field->name, field->count);
    for (uint32_t i = 0; i < field->count; i++) {
        if (!store_scalar(reader, field, json_array_get(value, i), to + i * number_bytes(field->scalar)))
            return false;
    }
    return true;
}

static bool store_text(reader *reader, const slr_field *field, const json_t *value, unsigned char *to)
{
    if (!json_is_string(value))
        return reader_fail(reader, "member %s: expected a string: the field is an array of char", field->name);
    if (layout_store_text(json_string_value(value), json_string_length(value), field->count, to))
        return true;
    return reader_fail(reader, "member %s: '%.64s' has %zu bytes; the field allows %u", field->name,
                       json_string_value(value), json_string_length(value), field->count);
}

static bool store_value(reader *reader, const slr_field *field, const json_t *value, unsigned char *to)
{
    if (field->is_text)
        return store_text(reader, field, value, to);
    return field->is_array ? store_array(reader, field, value, to) : store_scalar(reader, field, value, to);
}

static bool store(reader *reader, uint32_t nth, unsigned char *message)
{
    (void)nth;
    for (uint32_t i = 0; i < reader->layout->field_count; i++) {
        const slr_field *field = &reader->layout->fields[i];
        const json_t *value = json_path_find(&reader->json.paths[i], reader->json.record);
        if (value == NULL)
            return reader_fail(reader, "no member '%s', which struct %s needs", field->name, reader->layout->name);
        if (!store_value(reader, field, value, message + field->offset))
            return false;
    }
    return true;
}

static bool read_key(reader *reader, key_text *key)
{
    const json_t *value = json_object_get(reader->json.record, reader->shape.key);
    if (value == NULL)
        return reader_fail(reader, "no member '%s', which --key needs", reader->shape.key);
    if (!json_is_string(value) && !json_is_integer(value))
        return reader_fail(reader, "the key, member '%s', is neither a string nor a whole number", reader->shape.key);
    if (json_is_string(value)) {
        *key = (key_text){json_string_value(value), json_string_length(value), false};
    } else {
        int length =
            snprintf(reader->key_digits, sizeof reader->key_digits, "%" JSON_INTEGER_FORMAT, json_integer_value(value));
        *key = (key_text){reader->key_digits, (size_t)length, true};
    }
    return true;
}

// A string as its text; anything else as JSON, and null where the member is not there.
static bool read_kept(reader *reader, uint32_t nth, key_text *text)
{
    const json_t *value = json_object_get(reader->json.record, reader->shape.keep[nth]);
    if (json_is_string(value)) {
        *text = (key_text){json_string_value(value), json_string_length(value), false};
        return true;
    }
    free(reader->json.kept);
    reader->json.kept = value != NULL ? json_dumps(value, JSON_COMPACT | JSON_ENCODE_ANY) : NULL;
    const char *written = reader->json.kept != NULL ? reader->json.kept : "null";
    *text = (key_text){written, strlen(written), true};
    return true;
}

const reader_kind json_reader = {"line", open_json, NULL, next, read_key, read_kept, store, NULL, close_json};
