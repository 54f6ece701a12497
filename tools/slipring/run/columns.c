// SPDX-License-Identifier: Apache-2.0
// Columns to fields. All that can be known from the header is settled once; a row only walks a table.
#include "run/columns.h"

#include "run/layout.h"
#include "memory.h"
#include "names.h"
#include "number.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct column_use {
    uint32_t column;
    slr_scalar scalar;
    size_t offset, stride; // stride: to the next row's element; 0 for a field that is no array
    size_t text_bytes;     // of a text; 0: a number
};

static bool fail(columns *columns, const char *format, ...) __attribute__((format(printf, 2, 3)));
static bool fail(columns *columns, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(columns->problem, sizeof columns->problem, format, arguments);
    va_end(arguments);
    return false;
}

bool columns_group(columns *columns, const slr_layout *message)
{
    const slr_field *first = NULL;
    columns->rows_per_message = 1;
    for (uint32_t i = 0; i < message->field_count; i++) {
        const slr_field *field = &message->fields[i];
        if (!layout_is_list(field))
            continue;
        if (first != NULL && field->count != first->count)
            return fail(columns, "the arrays of struct %s differ: %s has %u elements, %s has %u; rows cannot fill both",
                        message->name, first->name, first->count, field->name, field->count);
        first = field;
        columns->rows_per_message = field->count;
    }
    return true;
}

static void copy_names(columns *columns, const csv_row *header)
{
    columns->count = header->count;
    columns->names = memory_take(header->count, sizeof *columns->names);
    for (uint32_t i = 0; i < header->count; i++) {
        columns->names[i] = memory_take(header->fields[i].bytes + 1, 1);
        memcpy(columns->names[i], header->fields[i].text, header->fields[i].bytes);
    }
}

// Finds the one column of that name.
static bool find_column(columns *columns, const char *name, const char *wanted_by, uint32_t *out)
{
    *out = COLUMN_NONE;
    for (uint32_t i = 0; i < columns->count; i++) {
        if (strcmp(columns->names[i], name) != 0)
            continue;
        if (*out != COLUMN_NONE)
            return fail(columns, "column '%s' is there twice", name);
        *out = i;
    }
    if (*out != COLUMN_NONE)
        return true;
    char there[512] = "";
    for (uint32_t i = 0; i < columns->count; i++)
        names_add(there, sizeof there, columns->names[i]);
    return fail(columns, "no column '%s', which %s needs; the columns are: %s", name, wanted_by, there);
}

static bool map_fields(columns *columns, const slr_layout *message, bool arrays)
{
    for (uint32_t i = 0; i < message->field_count; i++) {
        const slr_field *field = &message->fields[i];
        if (layout_is_list(field) != arrays)
            continue;
        char wanted_by[256];
        snprintf(wanted_by, sizeof wanted_by, "field %s of struct %s", field->name, message->name);
        struct column_use use = {.scalar = field->scalar, .offset = field->offset};
        use.text_bytes = field->is_text ? field->count : 0;
        if (!find_column(columns, field->name, wanted_by, &use.column))
            return false;
        use.stride = arrays ? number_bytes(field->scalar) : 0;
        columns->uses[columns->use_count++] = use;
    }
    return true;
}

bool columns_map(columns *columns, const csv_row *header, const slr_layout *message, const char *key)
{
    copy_names(columns, header);
    columns->key = COLUMN_NONE;
    if (key != NULL && !find_column(columns, key, "--key", &columns->key))
        return false;
    columns->uses = memory_take(message->field_count, sizeof *columns->uses);
    if (!map_fields(columns, message, true))
        return false;
    columns->array_count = columns->use_count;
    return map_fields(columns, message, false);
}

bool columns_keep(columns *columns, const char *const *names, uint32_t count)
{
    columns->kept = memory_take(count, sizeof *columns->kept);
    for (uint32_t i = 0; i < count; i++) {
        if (!find_column(columns, names[i], "--keep", &columns->kept[i]))
            return false;
        columns->kept_count++;
    }
    return true;
}

void columns_unused(const columns *columns, char *to, size_t bytes)
{
    *to = '\0';
    for (uint32_t i = 0; i < columns->count; i++) {
        bool used = i == columns->key;
        for (uint32_t u = 0; u < columns->use_count; u++)
            used = used || columns->uses[u].column == i;
        for (uint32_t k = 0; k < columns->kept_count; k++)
            used = used || columns->kept[k] == i;
        if (!used)
            names_add(to, bytes, columns->names[i]);
    }
}

bool columns_fit(columns *columns, const csv_row *row)
{
    if (row->count == columns->count)
        return true;
    return fail(columns, "%u columns where the header has %u", row->count, columns->count);
}

static bool store_text(columns *columns, const struct column_use *use, const csv_field *field, unsigned char *to)
{
    if (layout_store_text(field->text, field->bytes, use->text_bytes, to))
        return true;
    const char *name = columns->names[use->column];
    if (field->bytes > use->text_bytes)
        return fail(columns, "column %s: '%.64s' has %zu bytes; the field allows %zu", name, field->text, field->bytes,
                    use->text_bytes);
    return fail(columns, "column %s: a text has no NUL in it", name);
}

bool columns_store(columns *columns, const csv_row *row, uint32_t nth, unsigned char *message)
{
    uint32_t uses = nth == 0 ? columns->use_count : columns->array_count;
    for (uint32_t i = 0; i < uses; i++) {
        const struct column_use *use = &columns->uses[i];
        const char *text = row->fields[use->column].text;
        if (use->text_bytes > 0) {
            if (!store_text(columns, use, &row->fields[use->column], message + use->offset))
                return false;
        } else if (!number_parse(use->scalar, text, message + use->offset + nth * use->stride)) {
            return fail(columns, "column %s: '%.64s' is not %s", columns->names[use->column], text,
                        number_takes(use->scalar));
        }
    }
    return true;
}

void columns_pad(const columns *columns, uint32_t nth, unsigned char *message)
{
    for (uint32_t i = 0; i < columns->array_count; i++) {
        const struct column_use *use = &columns->uses[i];
        memset(message + use->offset + nth * use->stride, 0, (columns->rows_per_message - nth) * use->stride);
    }
}

void columns_close(columns *columns)
{
    for (uint32_t i = 0; i < columns->count; i++)
        free(columns->names[i]);
    free(columns->names);
    free(columns->uses);
    free(columns->kept);
}
