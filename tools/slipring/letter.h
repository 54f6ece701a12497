// SPDX-License-Identifier: Apache-2.0
/// A dead letter, as `slipring cluster dead` and `slipring state dead` print it.
#ifndef LETTER_H
#define LETTER_H

#include <stdint.h>

enum { LETTER_IN_FOLDER = -1 };

typedef struct letter {
    int64_t partition; // LETTER_IN_FOLDER: a folder has none
    uint64_t sequence, message;
    uint32_t instance, bytes;
    const char *reason;
    const unsigned char *payload;
} letter;

/// One line of JSON. The payload's bytes are hexadecimal digits.
void letter_print_json(const letter *letter);

#endif
