// SPDX-License-Identifier: Apache-2.0
// Text to preprocessing tokens: what directives and macros work on. Numbers and escapes are looked at only in what is
// left after preprocessing, because a group that #if skips may hold nearly anything.
#ifndef SLRI_LANG_TEXT_LEX_H
#define SLRI_LANG_TEXT_LEX_H

#include "lang/text/token.h"

enum slri_lexeme_kind {
    SLRI_LEXEME_END_OF_FILE, // closes each file's list
    SLRI_LEXEME_NAME,
    SLRI_LEXEME_NUMBER,
    SLRI_LEXEME_CHAR,
    SLRI_LEXEME_STRING,
    SLRI_LEXEME_PUNCT,
    SLRI_LEXEME_HEADER,      // <name> after #include
    SLRI_LEXEME_OTHER,       // one that no token starts with
    SLRI_LEXEME_PLACEMARKER, // an empty argument beside ##
};

struct slri_hide_set;

struct slri_lexeme {
    struct slri_lexeme *next;
    const char *text; // interned, without line splices
    uint32_t length;
    enum slri_lexeme_kind kind;
    bool first_on_line, space_before;
    uint8_t problem; // a diagnostic to report if the lexeme is used: 0, or a number below 10
    struct slri_where where;
    const char *macro;                // see slri_token
    const struct slri_hide_set *hide; // the macros that this lexeme comes out of: they do not expand in it again
};

struct slri_pp;

// The lexemes of a file, closed by END_OF_FILE. `text` is terminated.
struct slri_lexeme *slri_lex(struct slri_pp *pp, const char *text, uint32_t file);

// Equal spellings give equal pointers, terminated, for as long as the front end's region lives.
const char *slri_intern(struct slri_pp *pp, const char *text, size_t length);

static inline bool slri_lexeme_is(const struct slri_lexeme *lexeme, enum slri_lexeme_kind kind, const char *interned)
{
    return lexeme->kind == kind && lexeme->text == interned;
}

#endif
