// SPDX-License-Identifier: Apache-2.0
/// Writes CSV through one large buffer.
#ifndef CSV_OUT_H
#define CSV_OUT_H

#include <slipring/program.h>

#include <stdbool.h>
#include <stddef.h>

typedef struct csv_out {
    int descriptor;
    char *buffer;
    size_t used;
    uint64_t rows;
    int error; // errno of the write that failed; from then on nothing is written. EPIPE: nobody reads any more
} csv_out;

void csv_out_open(csv_out *out, int descriptor);
void csv_out_close(csv_out *out);

/// The header: a column a field, NAME[0], NAME[1]... for an array. `key` stands first where it is not NULL.
void csv_out_header(csv_out *out, const char *key, const slr_layout *layout);

/// A row: the fields of the struct at `from`, behind the key (NULL: none).
void csv_out_row(csv_out *out, const char *key, size_t key_bytes, const slr_layout *layout, const unsigned char *from);

/// Writes what the buffer holds.
void csv_out_flush(csv_out *out);

#endif
