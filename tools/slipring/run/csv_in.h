// SPDX-License-Identifier: Apache-2.0
/// Splits CSV (RFC 4180) into rows, without reading anything itself: the caller puts bytes in when it asks for more.
/// Fields may be quoted, and hold line feeds then; lines end in LF or CR LF; blank lines and a UTF-8 byte order mark
/// are skipped. A row that is wrong is reported with its line and skipped: the next one is read as if it had not been
/// there.
#ifndef CSV_IN_H
#define CSV_IN_H

#include "run/intake.h"

#include <stdint.h>

typedef struct csv_field {
    char *text; // unquoted, NUL-terminated
    size_t bytes;
} csv_field;

typedef struct csv_row {
    const csv_field *fields; // valid until the next call
    uint32_t count;
    uint64_t line; // that it begins on, from 1
} csv_row;

typedef enum csv_result {
    CSV_ROW,
    CSV_BAD,  // `bad` says why; row.line where
    CSV_MORE, // put bytes in, or say that there are no more
    CSV_END
} csv_result;

typedef struct csv_in {
    intake *bytes;
    uint64_t line; // of the first byte in it
    csv_field *fields;
    uint32_t field_capacity;
    const char *bad;
    bool is_skipping; // the rest of a row that was too long
    int skipping;     // how far its last field has come
    char delimiter;
} csv_in;

/// `bytes` is read from and stays the caller's. `delimiter` stands between fields: no quote, CR or LF.
void csv_in_open(csv_in *csv, intake *bytes, char delimiter);
void csv_in_close(csv_in *csv);

/// The next row.
csv_result csv_in_next(csv_in *csv, csv_row *row);

#endif
