// SPDX-License-Identifier: Apache-2.0
/// Texts of rows that are wanted when their replies come: the columns of --keep, and a key whose instance may have been
/// given to another key by then. Kept by the message's number until kept_clear: no reply says that a message had none.
#ifndef KEPT_H
#define KEPT_H

#include "run/keys.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/// The texts of one row, packed.
typedef struct kept_row {
    char *bytes;
    size_t used, capacity;
} kept_row;

typedef struct kept {
    uint32_t parts; // texts a row has; 0: nothing is kept
    uint64_t first; // the number of the first message
    size_t *at;     // by number - first: where its texts begin
    uint32_t count, capacity;
    kept_row texts; // of all messages
} kept;

void kept_row_clear(kept_row *row);
void kept_row_add(kept_row *row, key_text text);
void kept_row_free(kept_row *row);

void kept_open(kept *kept, uint32_t parts);
void kept_close(kept *kept);

/// The texts of the next message.
void kept_add(kept *kept, const kept_row *row);

/// The texts of a message, `parts` of them; valid until the next kept_add.
void kept_get(const kept *kept, uint64_t number, key_text *out);

/// Whether there are so many that all replies should be waited for: 65,536 messages, or 16 MiB.
bool kept_is_full(const kept *kept);

/// Forgets all. The next message has the number `next`.
void kept_clear(kept *kept, uint64_t next);

#endif
