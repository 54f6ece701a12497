// SPDX-License-Identifier: Apache-2.0
// Tokens after preprocessing, and the diagnostics that the front end's passes share.
#ifndef SLRI_LANG_TEXT_TOKEN_H
#define SLRI_LANG_TEXT_TOKEN_H

#include "ir/ir.h"
#include "lang/text/source.h"

enum slri_token_kind {
    SLRI_TOKEN_END,
    SLRI_TOKEN_NAME,    // identifiers and keywords alike
    SLRI_TOKEN_INTEGER, // value in u64; suffix says which type
    SLRI_TOKEN_FLOAT,   // value in f64 (for an f suffix: the float nearest to the text, widened)
    SLRI_TOKEN_CHAR,    // value in u64, sign-extended from char
    SLRI_TOKEN_STRING,  // text between the quotes, escapes resolved; adjacent ones joined
    SLRI_TOKEN_PUNCT,   // text is the punctuator, longest match: "<<=", "->", "...", "<<<", ">>>"
};

struct slri_token {
    enum slri_token_kind kind;
    const char *text; // as spelled, terminated, interned a front-end run: equal spellings have equal pointers
    uint32_t length;
    union {
        uint64_t u64;
        double f64;
    } value;
    bool is_unsigned, is_long, is_float, is_decimal; // of literals; is_float: an f suffix
    struct slri_where where; // where the user wrote it (for a macro's product: where the macro was used)
    const char *macro;       // the macro that it comes from, for a note in the diagnostic, or NULL
};

// What one run of the front end shares. Passes append to it; nothing in it outlives slri_kernel_compile but the module.
struct slri_front {
    struct slri_region *region; // becomes the module's
    const struct slri_source *source;
    const char **file; // see slri_module.file
    const char **file_text;
    uint32_t files;
    struct slri_token *token; // the whole translation unit, closed by an END
    uint32_t tokens;
    struct slri_report *report; // diagnostics so far
    unsigned char source_hash[16], own_hash[16];
    struct slri_removed *removed; // by #if and its like, in the order of tokens
    uint32_t removeds, removed_room;
    struct slri_tuning *tuning; // NULL: the source declares nothing
    bool selects;               // see slri_module.selects
    bool asks_select;           // see slri_module.asks_select
    bool guards;                // see pass/guard.h
};

struct slri_removed {
    uint32_t token;    // it stood before this one
    uint32_t from, to; // lines
};

// Reads front->source and all it includes, preprocesses, fills file, token and source_hash.
// SLR_NOT_FOUND or SLR_SYSTEM if the source itself cannot be read. What is wrong inside goes to the report.
slr_status slri_preprocess(struct slri_front *front);

// Diagnostics. `code` is the number N of SLR-K0N; every code stands once in lang/text/diagnostics.h with its advice.
struct slri_report *slri_report_create(struct slri_region *region);
void slri_report_error(struct slri_front *front, struct slri_where where, unsigned code, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
// What to write instead of what the error above is about, in place of its number's advice; NULL: that stays. The text
// lives as long as the front end's run.
void slri_report_advise(struct slri_front *front, const char *advice);
uint32_t slri_report_errors(const struct slri_front *front); // passes give up after 20
// Error number `index`, in the order of reporting.
unsigned slri_report_code(const struct slri_front *front, uint32_t index);
struct slri_where slri_report_where(const struct slri_front *front, uint32_t index);
const char *slri_report_message(const struct slri_front *front, uint32_t index);
void slri_report_drop(struct slri_front *front, uint32_t errors); // takes back all but the first `errors`
// The text of all diagnostics in source order, ending with a count, as the message of SLR_COMPILE.
slr_status slri_report_fail(struct slri_front *front);

#endif
