// SPDX-License-Identifier: Apache-2.0
/// Replies to a stream of records, in one of several formats, through one large buffer. What the formats are:
/// docs/contract/formats.md.
#ifndef WRITER_H
#define WRITER_H

#include "run/keys.h"
#include "run/shape.h"

#include <slipring/program.h>

#include <stdbool.h>
#include <stddef.h>

typedef struct writer writer;

typedef struct writer_kind {
    bool (*open)(writer *writer, const slr_layout *message);
    void (*header)(writer *writer); // NULL: there is none
    void (*row)(writer *writer, const key_text *lead, const unsigned char *from);
    void (*close)(writer *writer); // NULL: nothing to close
} writer_kind;

extern const writer_kind csv_writer, json_writer, raw_writer;

struct writer {
    const writer_kind *kind;
    const slr_layout *layout; // the reply's
    record_shape shape;
    int descriptor;
    bool opened; // by its kind, which has to close then
    char *buffer;
    size_t used;
    uint64_t rows;
    int error; // errno of the write that failed; from then on nothing is written. EPIPE: nobody reads any more
    char problem[384];
    struct {
        char **before; // what stands before each field, and behind the last
        bool has_key;  // the key is not a member of the reply
        bool has_lead; // something stands before the reply's members
    } json;
    struct {
        unsigned char *record;
        const slr_field *key; // the message's
    } raw;
};

/// False where the format cannot hold such replies; `problem` says why. In either case to writer_close.
bool writer_open(writer *writer, const writer_kind *kind, int descriptor, const slr_layout *reply,
                 const slr_layout *message, const record_shape *shape);
void writer_close(writer *writer);

/// What stands before the first record.
void writer_header(writer *writer);

/// The fields of the struct at `from`. `lead`: the key, where the shape has one, then what is kept.
void writer_row(writer *writer, const key_text *lead, const unsigned char *from);

/// Writes what the buffer holds.
void writer_flush(writer *writer);

/// For the formats: room for so many bytes, at most 1024; a character; characters.
char *writer_room(writer *writer, size_t bytes);
void writer_put(writer *writer, char character);
void writer_put_text(writer *writer, const char *text, size_t bytes);

#endif
