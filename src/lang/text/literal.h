// SPDX-License-Identifier: Apache-2.0
// The values of numbers, characters and strings.
#ifndef SLRI_LANG_TEXT_LITERAL_H
#define SLRI_LANG_TEXT_LITERAL_H

#include "lang/text/token.h"

// What is wrong with a literal: 0 and "", or a diagnostic and its message.
struct slri_literal_error {
    unsigned code;
    const char *message;
};

// Each fills kind, value and the flags of `token` from the spelling; its text and place are left alone.
struct slri_literal_error slri_number(const char *spelling, struct slri_token *token);
struct slri_literal_error slri_character(const char *spelling, uint32_t length, struct slri_token *token);

// Writes what stands between the quotes, escapes resolved, to `out` (which has room for `length` bytes); *written gets
// how many bytes that are.
struct slri_literal_error slri_string(const char *spelling, uint32_t length, char *out, uint32_t *written);

#endif
