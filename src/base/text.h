// SPDX-License-Identifier: Apache-2.0
/// A string that grows. Running out of memory is remembered, so that a writer of many pieces checks once, at the end.
#ifndef SLRI_BASE_TEXT_H
#define SLRI_BASE_TEXT_H

#include <stdbool.h>
#include <stddef.h>

typedef struct slri_text {
    char *data;    // NULL until something is appended, NUL-terminated from then on
    size_t length; // without the NUL
    size_t capacity;
    bool out_of_memory; // something was left out
} slri_text;

#define SLRI_TEXT_INIT                                                                                                 \
    {                                                                                                                  \
        0                                                                                                              \
    }

void slri_text_append(slri_text *text, const char *piece, size_t bytes);
void slri_text_puts(slri_text *text, const char *piece);
void slri_text_printf(slri_text *text, const char *format, ...) __attribute__((format(printf, 2, 3)));

/// The string so far; "" where there is none. Valid until the next change.
const char *slri_text_view(const slri_text *text);

/// Empties it, keeps its memory, and forgets that memory ran out.
void slri_text_clear(slri_text *text);

/// Hands the string over to the caller, to free(), and leaves the text empty. NULL if memory ran out.
char *slri_text_take(slri_text *text);

/// Frees what it holds and leaves it empty, ready to use again.
void slri_text_free(slri_text *text);

/// Copies `text` into `room` bytes, at least 1, with the NUL. If it is too long, "..." replaces the middle of its
/// longest path, so that what failed, the file's name and the line remain; if that is not enough, its end as well.
/// Never splits a character of UTF-8.
void slri_text_fit(char *to, size_t room, const char *text);

#endif
