// SPDX-License-Identifier: Apache-2.0
/// Columns of a CSV file to fields of a message, by name; and the fields of replies back to columns.
#ifndef COLUMNS_H
#define COLUMNS_H

#include "run/csv_in.h"

#include <slipring/program.h>

#define COLUMN_NONE UINT32_MAX

typedef struct columns {
    struct column_use *uses; // one a field, the arrays first
    uint32_t use_count, array_count;
    uint32_t rows_per_message;  // the arrays' count; 1 without arrays
    uint32_t key;               // the key's column, or COLUMN_NONE
    uint32_t *kept, kept_count; // columns that come out with the replies
    char **names;
    uint32_t count;
    char problem[1024]; // what the last call that failed has to say
} columns;

/// Rows that make one message: the count of its array fields (text is none), 1 without. False where two arrays differ.
bool columns_group(columns *columns, const slr_layout *message);

/// Maps the header. `key` may be NULL. False where a column is missing or there twice.
bool columns_map(columns *columns, const csv_row *header, const slr_layout *message, const char *key);

/// Finds the columns that are kept. After columns_map. False where one is missing or there twice.
bool columns_keep(columns *columns, const char *const *names, uint32_t count);

/// The columns that nothing uses, "a, b"; "" where all are used. Written to `to`.
void columns_unused(const columns *columns, char *to, size_t bytes);

/// False where the row has too few or too many columns. To be asked before anything else of a row.
bool columns_fit(columns *columns, const csv_row *row);

/// Stores a row as the `nth` (from 0) of its message. Array fields get their nth element; the others are taken from row
/// 0. False where its field does not take a value.
bool columns_store(columns *columns, const csv_row *row, uint32_t nth, unsigned char *message);

/// Makes the elements of array fields zero from the `nth` on.
void columns_pad(const columns *columns, uint32_t nth, unsigned char *message);

void columns_close(columns *columns);

#endif
