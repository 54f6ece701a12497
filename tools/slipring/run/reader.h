// SPDX-License-Identifier: Apache-2.0
/// Records of a stream, in one of several formats, to messages. Nothing is read here: the caller puts bytes into
/// `bytes` when it is asked for more. What the formats are: docs/contract/formats.md.
#ifndef READER_H
#define READER_H

#include "run/columns.h"
#include "run/csv_in.h"
#include "run/intake.h"
#include "run/json_path.h"
#include "run/keys.h"
#include "number.h"
#include "run/shape.h"

#include <slipring/program.h>

#include <jansson.h>

typedef enum read_result {
    READ_RECORD,
    READ_BAD, // `problem` says why, `line` where; the next record can be read
    READ_MORE,
    READ_END
} read_result;

typedef struct reader reader;

/// A format. What is said of the functions below holds for these.
typedef struct reader_kind {
    const char *unit; // what `line` counts
    bool (*open)(reader *reader);
    read_result (*header)(reader *reader); // NULL: there is none
    read_result (*next)(reader *reader);
    bool (*key)(reader *reader, key_text *key);
    bool (*kept)(reader *reader, uint32_t nth, key_text *text); // NULL: the format has no names
    bool (*store)(reader *reader, uint32_t nth, unsigned char *message);
    void (*pad)(reader *reader, uint32_t nth, unsigned char *message); // NULL where each record is a message
    void (*close)(reader *reader);
} reader_kind;

extern const reader_kind csv_reader, json_reader, raw_reader;

struct reader {
    const reader_kind *kind;
    const slr_layout *layout; // the message's
    record_shape shape;
    intake bytes;
    uint32_t records_per_message;
    uint64_t line;                    // of the current record, from 1
    char key_digits[NUMBER_TEXT_MAX]; // of a key that is a number
    char problem[1024];               // what the last call that failed has to say
    char notice[512];                 // names that nothing uses, once, when they are known; else ""
    struct {
        csv_in in;
        columns columns;
        csv_row row;
    } csv;
    struct {
        json_path *paths; // a field each
        json_t *record;
        bool looked;      // for members that nothing uses
        char *kept;       // a kept member as JSON
        bool is_skipping; // the rest of a line that was too long
    } json;
    struct {
        const unsigned char *record;
        const slr_field *key;
        bool has_bool;
    } raw;
};

/// `shape` NULL: a record has the message's fields alone. False where the format cannot make such messages; `problem`
/// says why. In either case to reader_close.
bool reader_open(reader *reader, const reader_kind *kind, const slr_layout *message, const record_shape *shape);
void reader_close(reader *reader);

/// What must come before the first record. READ_RECORD: it was there, or there is none in this format.
read_result reader_header(reader *reader);

/// The next record.
read_result reader_next(reader *reader);

/// Its key; valid until the next call. False where it has none that is one.
bool reader_key(reader *reader, key_text *key);

/// The nth (from 0) of what is kept of it; valid until the next call. False where that is not there.
bool reader_kept(reader *reader, uint32_t nth, key_text *text);

/// Stores it as the `nth` (from 0) of the records that make a message. False where it does not fit; a part of the
/// message may have been written then.
bool reader_store(reader *reader, uint32_t nth, unsigned char *message);

/// Makes zero what the records from the `nth` on would fill.
void reader_pad(reader *reader, uint32_t nth, unsigned char *message);

/// For the formats: sets `problem`; false.
bool reader_fail(reader *reader, const char *format, ...) __attribute__((format(printf, 2, 3)));

#endif
