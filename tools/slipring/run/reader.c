// SPDX-License-Identifier: Apache-2.0
// What all formats share.
#include "run/reader.h"

#include <stdarg.h>
#include <stdio.h>

bool reader_open(reader *reader, const reader_kind *kind, const slr_layout *message, const record_shape *shape)
{
    *reader = (struct reader){.kind = kind, .layout = message, .records_per_message = 1};
    if (shape != NULL)
        reader->shape = *shape;
    intake_open(&reader->bytes);
    if (!kind->open(reader))
        return false;
    return reader->shape.keep_count == 0 || kind->kept != NULL ||
           reader_fail(reader, "--keep: raw records have no columns");
}

void reader_close(reader *reader)
{
    if (reader->kind == NULL)
        return;
    reader->kind->close(reader);
    intake_close(&reader->bytes);
}

read_result reader_header(reader *reader)
{
    return reader->kind->header != NULL ? reader->kind->header(reader) : READ_RECORD;
}

read_result reader_next(reader *reader)
{
    return reader->kind->next(reader);
}

bool reader_key(reader *reader, key_text *key)
{
    return reader->kind->key(reader, key);
}

bool reader_kept(reader *reader, uint32_t nth, key_text *text)
{
    return reader->kind->kept(reader, nth, text);
}

bool reader_store(reader *reader, uint32_t nth, unsigned char *message)
{
    return reader->kind->store(reader, nth, message);
}

void reader_pad(reader *reader, uint32_t nth, unsigned char *message)
{
    if (reader->kind->pad != NULL)
        reader->kind->pad(reader, nth, message);
}

bool reader_fail(reader *reader, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(reader->problem, sizeof reader->problem, format, arguments);
    va_end(arguments);
    return false;
}
