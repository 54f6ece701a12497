// SPDX-License-Identifier: Apache-2.0
// What all formats share: the buffer.
#include "writer.h"

#include "memory.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { CAPACITY = 1 << 18 };

bool writer_open(writer *writer, const writer_kind *kind, int descriptor, const slr_layout *reply,
                 const slr_layout *message, const char *key)
{
    *writer = (struct writer){.kind = kind, .layout = reply, .key = key, .descriptor = descriptor};
    writer->buffer = memory_take(CAPACITY, 1);
    return kind->open == NULL || kind->open(writer, message);
}

void writer_close(writer *writer)
{
    if (writer->kind != NULL && writer->kind->close != NULL)
        writer->kind->close(writer);
    free(writer->buffer);
}

void writer_header(writer *writer)
{
    if (writer->kind->header != NULL)
        writer->kind->header(writer);
}

void writer_row(writer *writer, key_text key, const unsigned char *from)
{
    writer->kind->row(writer, key, from);
    writer->rows++;
}

void writer_flush(writer *writer)
{
    size_t written = 0;
    while (written < writer->used && writer->error == 0) {
        ssize_t got = write(writer->descriptor, writer->buffer + written, writer->used - written);
        if (got >= 0)
            written += (size_t)got;
        else if (errno != EINTR)
            writer->error = errno;
    }
    writer->used = 0;
}

char *writer_room(writer *writer, size_t bytes)
{
    if (CAPACITY - writer->used < bytes)
        writer_flush(writer);
    return writer->buffer + writer->used;
}

void writer_put(writer *writer, char character)
{
    *writer_room(writer, 1) = character;
    writer->used++;
}

void writer_put_text(writer *writer, const char *text, size_t bytes)
{
    while (bytes > 0) {
        size_t now = bytes < 1024 ? bytes : 1024;
        memcpy(writer_room(writer, now), text, now);
        writer->used += now;
        text += now;
        bytes -= now;
    }
}
