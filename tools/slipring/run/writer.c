// SPDX-License-Identifier: Apache-2.0
// What all formats share: the buffer.
#include "run/writer.h"

#include "memory.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { CAPACITY = 1 << 18 };

// A column or a member that is there twice says nothing.
static bool check_kept(writer *writer)
{
    const record_shape *shape = &writer->shape;
    const char *twice = NULL;
    for (uint32_t k = 0; k < shape->keep_count; k++) {
        for (uint32_t i = 0; i < writer->layout->field_count; i++) {
            const char *name = writer->layout->fields[i].name;
            size_t top = strcspn(name, ".[");
            if (strncmp(name, shape->keep[k], top) == 0 && shape->keep[k][top] == '\0')
                twice = "the reply has a field of that name";
        }
        for (uint32_t i = 0; i < k; i++)
            twice = strcmp(shape->keep[i], shape->keep[k]) == 0 ? "it is named twice" : twice;
        if (shape->key != NULL && strcmp(shape->key, shape->keep[k]) == 0)
            twice = "it is the key, which comes out too";
        if (twice != NULL) {
            snprintf(writer->problem, sizeof writer->problem, "--keep %.80s: %s", shape->keep[k], twice);
            return false;
        }
    }
    return true;
}

bool writer_open(writer *writer, const writer_kind *kind, int descriptor, const slr_layout *reply,
                 const slr_layout *message, const record_shape *shape)
{
    *writer = (struct writer){.kind = kind, .layout = reply, .descriptor = descriptor};
    if (shape != NULL)
        writer->shape = *shape;
    writer->buffer = memory_take(CAPACITY, 1);
    if (!check_kept(writer))
        return false;
    writer->opened = true;
    return kind->open == NULL || kind->open(writer, message);
}

void writer_close(writer *writer)
{
    if (writer->kind != NULL && writer->kind->close != NULL && writer->opened)
        writer->kind->close(writer);
    free(writer->buffer);
}

void writer_header(writer *writer)
{
    if (writer->kind->header != NULL)
        writer->kind->header(writer);
}

void writer_row(writer *writer, const key_text *lead, const unsigned char *from)
{
    writer->kind->row(writer, lead, from);
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
