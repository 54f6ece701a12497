// SPDX-License-Identifier: Apache-2.0
// Splits CSV where it lies. libcsv was tried: it knows no line numbers and cannot go on after a bad row. It also takes
// over twice as long (125 to 222 ns a row of two columns, here 46 to 62, in three interleaved pairs on a busy machine):
// it calls back for each field, while most rows have no quote and memchr finds the commas.
#include "run/csv_in.h"

#include "memory.h"

#include <stdlib.h>
#include <string.h>

void csv_in_open(csv_in *csv, intake *bytes, char delimiter)
{
    *csv = (csv_in){.bytes = bytes, .line = 1, .field_capacity = 16, .delimiter = delimiter};
    csv->fields = memory_take(csv->field_capacity, sizeof *csv->fields);
}

void csv_in_close(csv_in *csv)
{
    free(csv->fields);
}

static void add_field(csv_in *csv, csv_row *row, char *text, char *stop)
{
    if (row->count == csv->field_capacity) {
        csv->field_capacity *= 2;
        csv->fields = memory_grow(csv->fields, csv->field_capacity, sizeof *csv->fields);
    }
    *stop = '\0';
    csv->fields[row->count++] = (csv_field){text, (size_t)(stop - text)};
}

static void split_plain(csv_in *csv, csv_row *row, char *at, char *stop)
{
    for (;;) {
        char *comma = memchr(at, csv->delimiter, (size_t)(stop - at));
        if (comma == NULL)
            break;
        add_field(csv, row, at, comma);
        at = comma + 1;
    }
    add_field(csv, row, at, stop);
}

// Unquotes a field in place. `at` is behind its opening quote; `*text_end` becomes the end of its text. Returns what is
// behind the closing quote, or NULL where that is neither a delimiter nor the row's end.
static char *unquote(const csv_in *csv, char *at, char *stop, char **text_end)
{
    char *to = at;
    for (; at < stop; at++) {
        if (*at == '"' && (at + 1 == stop || *++at != '"'))
            break;
        *to++ = *at;
    }
    *text_end = to;
    if (at < stop && *at == '"')
        at++; // the quote was the row's last character
    return at == stop || *at == csv->delimiter ? at : NULL;
}

static csv_result split_quoted(csv_in *csv, csv_row *row, char *at, char *stop)
{
    for (;;) {
        char *text = at, *text_end;
        if (at < stop && *at == '"') {
            text = at + 1;
            at = unquote(csv, text, stop, &text_end);
            if (at == NULL) {
                csv->bad = "text after a closing quote";
                return CSV_BAD;
            }
        } else {
            char *comma = memchr(at, csv->delimiter, (size_t)(stop - at));
            text_end = at = comma != NULL ? comma : stop;
        }
        bool last = at == stop;
        add_field(csv, row, text, text_end);
        if (last)
            return CSV_ROW;
        at++;
    }
}

typedef enum state { START, PLAIN, OPEN, CLOSED } state; // of a field

typedef struct extent {
    char *stop;           // the line feed that ends the row; NULL where there is none yet
    bool quoted, open;    // it has quotes; one is still open at the end
    state state;          // at the end
    uint64_t inner_lines; // line feeds between quotes
} extent;

static extent measure_quoted(const csv_in *csv, enum state state, char *at, char *end)
{
    extent extent = {.quoted = true};
    for (; at < end; at++) {
        if (state == OPEN) {
            state = *at == '"' ? CLOSED : OPEN;
            extent.inner_lines += *at == '\n';
        } else if (*at == '\n') {
            extent.stop = at;
            break;
        } else if (*at == '"' && state != PLAIN) {
            state = OPEN; // from CLOSED: the two quotes stand for one
        } else {
            state = *at == csv->delimiter ? START : PLAIN;
        }
    }
    extent.open = state == OPEN;
    extent.state = state;
    return extent;
}

static extent measure(const csv_in *csv, char *at, char *end)
{
    char *feed = memchr(at, '\n', (size_t)(end - at));
    char *stop = feed != NULL ? feed : end;
    if (memchr(at, '"', (size_t)(stop - at)) != NULL)
        return measure_quoted(csv, START, at, end);
    return (extent){.stop = feed};
}

static csv_result split(csv_in *csv, csv_row *row, const extent *extent, char *at, char *stop)
{
    if (extent->open) {
        csv->bad = "a quoted field is not closed";
        return CSV_BAD;
    }
    if (extent->quoted)
        return split_quoted(csv, row, at, stop);
    split_plain(csv, row, at, stop);
    return CSV_ROW;
}

// A row that is too long, and has not ended yet. Its other bytes are passed over as they come.
static csv_result refuse_long(csv_in *csv, csv_row *row, bool has_ended)
{
    intake *bytes = csv->bytes;
    *row = (csv_row){.line = csv->line, .fields = csv->fields};
    extent extent = {0};
    if (!has_ended) {
        extent = measure_quoted(csv, START, bytes->buffer + bytes->begin, bytes->buffer + bytes->end);
        csv->line += extent.inner_lines;
        csv->skipping = extent.state;
        csv->is_skipping = true;
        bytes->begin = bytes->end;
    }
    csv->bad = extent.open ? "more than 64 MiB in one row: is a quote not closed, or is the format different?"
                           : "more than 64 MiB in one row: is the format different?";
    return CSV_BAD;
}

// The rest of that row. False: it goes on.
static bool skip_rest(csv_in *csv)
{
    intake *bytes = csv->bytes;
    char *end = bytes->buffer + bytes->end;
    extent extent = measure_quoted(csv, (state)csv->skipping, bytes->buffer + bytes->begin, end);
    bytes->begin = extent.stop != NULL ? (size_t)(extent.stop - bytes->buffer) + 1 : bytes->end;
    csv->line += extent.inner_lines + (extent.stop != NULL);
    csv->skipping = extent.state;
    csv->is_skipping = extent.stop == NULL;
    return extent.stop != NULL || bytes->finished;
}

csv_result csv_in_next(csv_in *csv, csv_row *row)
{
    intake *bytes = csv->bytes;
    if (csv->is_skipping && !skip_rest(csv))
        return CSV_MORE;
    for (;;) {
        if (csv->line == 1)
            intake_skip_mark(bytes);
        char *end = bytes->buffer + bytes->end;
        extent extent = measure(csv, bytes->buffer + bytes->begin, end);
        if (extent.stop == NULL && intake_overflows(bytes))
            return refuse_long(csv, row, false);
        if (extent.stop == NULL && !bytes->finished)
            return CSV_MORE;
        if (bytes->begin == bytes->end)
            return CSV_END;
        char *at = bytes->buffer + bytes->begin;
        char *stop = extent.stop != NULL ? extent.stop : end;
        *row = (csv_row){.line = csv->line};
        bytes->begin = extent.stop != NULL ? (size_t)(stop - bytes->buffer) + 1 : bytes->end;
        csv->line += extent.inner_lines + 1;
        if (stop > at && stop[-1] == '\r')
            stop--;
        if (stop == at)
            continue;
        if (stop - at > INTAKE_MAX) {
            csv_result result = refuse_long(csv, row, true);
            row->line -= extent.inner_lines + 1;
            return result;
        }
        csv_result result = split(csv, row, &extent, at, stop);
        row->fields = csv->fields;
        return result;
    }
}
