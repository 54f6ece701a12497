// SPDX-License-Identifier: Apache-2.0
// CSV to messages: csv_in splits it, columns knows which column is which field.
#include "run/reader.h"

#include <string.h>

static bool copy_problem(reader *reader)
{
    return reader_fail(reader, "%s", reader->csv.columns.problem);
}

static bool open_csv(reader *reader)
{
    csv_in_open(&reader->csv.in, &reader->bytes, reader->shape.delimiter != 0 ? reader->shape.delimiter : ',');
    bool fits = columns_group(&reader->csv.columns, reader->layout);
    reader->records_per_message = reader->csv.columns.rows_per_message;
    return fits || copy_problem(reader);
}

static read_result split(reader *reader)
{
    csv_result result = csv_in_next(&reader->csv.in, &reader->csv.row);
    if (result == CSV_MORE)
        return READ_MORE;
    if (result == CSV_END)
        return READ_END;
    reader->line = reader->csv.row.line;
    if (result == CSV_ROW)
        return READ_RECORD;
    reader_fail(reader, "%s", reader->csv.in.bad);
    return READ_BAD;
}

static read_result read_header(reader *reader)
{
    read_result result = split(reader);
    if (result == READ_END) {
        reader_fail(reader, "the input is empty: its first row must name the columns");
        return READ_BAD;
    }
    if (result != READ_RECORD)
        return result;
    if (!columns_map(&reader->csv.columns, &reader->csv.row, reader->layout, reader->shape.key) ||
        !columns_keep(&reader->csv.columns, reader->shape.keep, reader->shape.keep_count)) {
        copy_problem(reader);
        return READ_BAD;
    }
    columns_unused(&reader->csv.columns, reader->notice, sizeof reader->notice);
    return READ_RECORD;
}

static read_result read_row(reader *reader)
{
    read_result result = split(reader);
    if (result != READ_RECORD || columns_fit(&reader->csv.columns, &reader->csv.row))
        return result;
    copy_problem(reader);
    return READ_BAD;
}

static bool read_key(reader *reader, key_text *key)
{
    const csv_field *field = &reader->csv.row.fields[reader->csv.columns.key];
    *key = (key_text){field->text, field->bytes, false};
    return true;
}

static bool read_kept(reader *reader, uint32_t nth, key_text *text)
{
    const csv_field *field = &reader->csv.row.fields[reader->csv.columns.kept[nth]];
    *text = (key_text){field->text, field->bytes, false};
    return true;
}

static bool store_row(reader *reader, uint32_t nth, unsigned char *message)
{
    return columns_store(&reader->csv.columns, &reader->csv.row, nth, message) || copy_problem(reader);
}

static void pad_rows(reader *reader, uint32_t nth, unsigned char *message)
{
    columns_pad(&reader->csv.columns, nth, message);
}

static void close_csv(reader *reader)
{
    columns_close(&reader->csv.columns);
    csv_in_close(&reader->csv.in);
}

const reader_kind csv_reader = {"line",    open_csv,  read_header, read_row, read_key,
                                read_kept, store_row, pad_rows,    close_csv};
