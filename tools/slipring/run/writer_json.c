// SPDX-License-Identifier: Apache-2.0
// Writes NDJSON. What stands between two values of an object is the same in each row: it is made once.
#include "run/writer.h"

#include "utf8.h"
#include "run/json_path.h"
#include "run/layout.h"
#include "memory.h"
#include "number.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// ---- what stands between values ------------------------------------------------------------------------------------

typedef struct text {
    char *characters;
    size_t length;
} text;

static void append(text *text, const char *what)
{
    size_t bytes = strlen(what);
    text->characters = memory_grow(text->characters, text->length + bytes + 1, 1);
    memcpy(text->characters + text->length, what, bytes + 1);
    text->length += bytes;
}

static bool is_element(const json_path *path, uint32_t step)
{
    return path->steps[step].name == NULL;
}

// Ends what is open of `path` below its first `common` steps.
static void close_levels(text *text, const json_path *path, uint32_t common)
{
    for (uint32_t step = path->count - 1; step > common; step--)
        append(text, is_element(path, step) ? "]" : "}");
}

static void open_levels(text *text, const json_path *path, uint32_t common)
{
    for (uint32_t step = common; step < path->count; step++) {
        if (step > common)
            append(text, is_element(path, step) ? "[" : "{");
        if (is_element(path, step))
            continue;
        append(text, "\"");
        append(text, path->steps[step].name);
        append(text, "\":");
    }
}

// Fields lie in the order of their structs and arrays, so that each of those is opened and closed once.
static char **make_before(const json_path *paths, uint32_t count, bool has_lead)
{
    char **before = memory_take(count + 1, sizeof *before);
    for (uint32_t i = 0; i <= count; i++) {
        text text = {0};
        uint32_t common = i > 0 && i < count ? json_paths_common(&paths[i - 1], &paths[i]) : 0;
        append(&text, "");
        if (i > 0)
            close_levels(&text, &paths[i - 1], common);
        if (i < count && (i > 0 || has_lead))
            append(&text, ",");
        if (i < count)
            open_levels(&text, &paths[i], common);
        before[i] = text.characters;
    }
    return before;
}

// A member stands once in an object: where the reply has one of the key's name, that one.
static bool has_member(const json_path *paths, uint32_t count, const char *name)
{
    bool found = false;
    for (uint32_t i = 0; i < count; i++)
        found = found || strcmp(paths[i].steps[0].name, name) == 0;
    return found;
}

static bool open_json(writer *writer, const slr_layout *message)
{
    (void)message;
    uint32_t count = writer->layout->field_count;
    json_path *paths = json_paths_of(writer->layout);
    writer->json.has_key = writer->shape.key != NULL && !has_member(paths, count, writer->shape.key);
    writer->json.has_lead = writer->json.has_key || writer->shape.keep_count > 0;
    writer->json.before = make_before(paths, count, writer->json.has_lead);
    json_paths_free(paths, count);
    return true;
}

static void close_json(writer *writer)
{
    for (uint32_t i = 0; i <= writer->layout->field_count; i++)
        free(writer->json.before[i]);
    free(writer->json.before);
}

// ---- values --------------------------------------------------------------------------------------------------------

static void put(writer *writer, const char *text)
{
    writer_put_text(writer, text, strlen(text));
}

static void put_string(writer *writer, const char *text, size_t bytes)
{
    const unsigned char *at = (const unsigned char *)text, *end = at + bytes;
    writer_put(writer, '"');
    while (at < end) {
        size_t wide;
        char text[UTF8_JSON_MOST];
        writer_put_text(writer, text, utf8_json(at, (size_t)(end - at), text, &wide));
        at += wide;
    }
    writer_put(writer, '"');
}

static void put_member(writer *writer, const char *name, key_text value)
{
    put_string(writer, name, strlen(name));
    writer_put(writer, ':');
    if (value.is_number)
        writer_put_text(writer, value.text, value.bytes);
    else
        put_string(writer, value.text, value.bytes);
}

// What stands before the reply's members.
static void put_lead(writer *writer, const key_text *lead)
{
    const record_shape *shape = &writer->shape;
    if (writer->json.has_key)
        put_member(writer, shape->key, lead[0]);
    lead += shape->key != NULL;
    for (uint32_t i = 0; i < shape->keep_count; i++) {
        if (i > 0 || writer->json.has_key)
            writer_put(writer, ',');
        put_member(writer, shape->keep[i], lead[i]);
    }
}

// JSON has no infinities; and a reader may have no whole numbers above 2^63 - 1. Such values are strings.
static bool needs_quotes(slr_scalar scalar, const unsigned char *from)
{
    double real = 0;
    float single = 0;
    uint64_t whole = 0;
    if (scalar == SLR_F64)
        memcpy(&real, from, sizeof real);
    if (scalar == SLR_F32)
        memcpy(&single, from, sizeof single);
    if (scalar == SLR_U64)
        memcpy(&whole, from, sizeof whole);
    return !isfinite(real) || !isfinite(single) || whole > INT64_MAX;
}

static void put_value(writer *writer, slr_scalar scalar, const unsigned char *from)
{
    if (scalar == SLR_BOOL) {
        put(writer, *from != 0 ? "true" : "false");
        return;
    }
    bool quotes = needs_quotes(scalar, from);
    char *to = writer_room(writer, NUMBER_TEXT_MAX + 2);
    size_t length = number_print(scalar, from, to + quotes);
    // As a whole number, which -0 is to a reader of JSON, it would come back as 0.
    if ((scalar == SLR_F32 || scalar == SLR_F64) && strcmp(to, "-0") == 0) {
        memcpy(to + length, ".0", 2);
        length += 2;
    }
    if (quotes)
        to[0] = to[++length] = '"';
    writer->used += length + quotes;
}

static void put_field(writer *writer, const slr_field *field, const unsigned char *from)
{
    if (field->is_text) {
        put_string(writer, (const char *)from, layout_text_bytes(field, from));
        return;
    }
    if (!field->is_array) {
        put_value(writer, field->scalar, from);
        return;
    }
    for (uint32_t k = 0; k < field->count; k++) {
        writer_put(writer, k == 0 ? '[' : ',');
        put_value(writer, field->scalar, from + k * number_bytes(field->scalar));
    }
    writer_put(writer, ']');
}

static void write_row(writer *writer, const key_text *lead, const unsigned char *from)
{
    writer_put(writer, '{');
    if (writer->json.has_lead)
        put_lead(writer, lead);
    for (uint32_t i = 0; i < writer->layout->field_count; i++) {
        put(writer, writer->json.before[i]);
        put_field(writer, &writer->layout->fields[i], from + writer->layout->fields[i].offset);
    }
    put(writer, writer->json.before[writer->layout->field_count]);
    put(writer, "}\n");
}

const writer_kind json_writer = {open_json, NULL, write_row, close_json};
