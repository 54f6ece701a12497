// SPDX-License-Identifier: Apache-2.0
// What the parts of the preprocessor share. Lists of lexemes are linked and end in NULL, the ones of whole files in
// END_OF_FILE before what follows the #include.
//
// All memory comes from regions, so that there is nothing to unwind: running out of memory, of a limit or of patience
// with errors leaves the pass from wherever it is, by slri_pp_give_up.
#ifndef SLRI_LANG_TEXT_PREPROCESS_H
#define SLRI_LANG_TEXT_PREPROCESS_H

#include "lang/text/diagnostics.h"
#include "lang/text/lex.h"

#include "base/hash.h"

#include <setjmp.h>

struct slri_hide_set { // a list; sets share their ends
    const char *name;
    const struct slri_hide_set *next;
};

struct slri_macro {
    struct slri_macro *next; // of the same bucket
    const char *name;
    bool is_function, is_variadic;
    const char **parameter; // the last one of a variadic macro is __VA_ARGS__
    uint32_t parameters;
    struct slri_lexeme *body;
};

struct slri_conditional { // an #if that is open
    struct slri_conditional *next;
    struct slri_where where;
    bool taken, seen_else;
};

struct slri_declared { // a line "#pragma slipring ...", for the end of the source, where its macros are known
    struct slri_declared *next;
    struct slri_where where;
    struct slri_lexeme *line; // behind "slipring"
};

struct slri_loaded { // a file that was read, to be included again from memory
    struct slri_loaded *next;
    const char *path; // canonical
    const char *text;
    size_t bytes;
    bool once;
};

struct slri_words { // interned spellings that the preprocessor looks for
    const char *hash, *paste, *open, *close, *comma, *ellipsis, *less, *greater;
    const char *include, *defined, *va_args, *line, *file, *pragma_operator, *infinity, *nan, *select;
};

#define SLRI_MACRO_BUCKETS 4096

struct slri_pp {
    struct slri_front *front;
    struct slri_region *scratch; // freed when the pass ends
    struct slri_interned **interned;
    struct slri_words word;
    struct slri_macro *macro[SLRI_MACRO_BUCKETS];
    struct slri_conditional *conditional; // innermost first
    struct slri_loaded *loaded;
    struct slri_declared *declared, *last_declared;
    uint32_t include_depth[SLRI_FILES_LIMIT];
    struct slri_hash hash, own_hash;       // `own_hash`: without what the device defines
    uint64_t source_bytes, lexemes, steps; // used so far, against the limits
    uint32_t token_room;
    char *string; // adjacent string literals, being joined until another token comes
    uint32_t string_bytes;
    const struct slri_lexeme *string_start; // NULL: none
    jmp_buf give_up;
    slr_status given_up; // OK: only the report says why
};

// Leaves slri_preprocess. OK: what is wrong is in the report.
_Noreturn void slri_pp_give_up(struct slri_pp *pp, slr_status status);
// Reports, and gives up once the report is full.
void slri_pp_error(struct slri_pp *pp, struct slri_where where, unsigned code, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
void *slri_pp_take(struct slri_pp *pp, size_t bytes); // of scratch, never NULL
struct slri_lexeme *slri_pp_lexeme(struct slri_pp *pp, struct slri_where where);
// A copy that stands alone (next is NULL), at `where`.
struct slri_lexeme *slri_pp_copy(struct slri_pp *pp, const struct slri_lexeme *lexeme, struct slri_where where);
void slri_pp_work(struct slri_pp *pp, struct slri_where where, uint64_t steps); // bounds the time of macro expansion

// macro.c
struct slri_macro *slri_macro_find(struct slri_pp *pp, const char *name);
void slri_macro_add(struct slri_pp *pp, struct slri_macro *macro);
void slri_macro_remove(struct slri_pp *pp, const char *name);
bool slri_macro_is_builtin(const struct slri_pp *pp, const char *name); // __LINE__, __FILE__
// If *list starts with a macro to be expanded, replaces it (and its arguments) by what it stands for.
bool slri_expand_first(struct slri_pp *pp, struct slri_lexeme **list, unsigned depth);
struct slri_lexeme *slri_expand_all(struct slri_pp *pp, struct slri_lexeme *list, unsigned depth);
const struct slri_hide_set *slri_hide_intersection(struct slri_pp *pp, const struct slri_hide_set *a,
                                                   const struct slri_hide_set *b, struct slri_where where);

// subst.c: the macro's body with its arguments put in, # and ## done
struct slri_argument {
    struct slri_lexeme *raw, *expanded;
    bool is_expanded;
};
struct slri_lexeme *slri_substitute(struct slri_pp *pp, const struct slri_macro *macro, struct slri_argument *argument,
                                    const struct slri_lexeme *use, unsigned depth);

// directive.c: handles the directive that *list starts with and returns what follows it.
struct slri_lexeme *slri_directive(struct slri_pp *pp, struct slri_lexeme *list);
// condition.c: the value of an #if's line
bool slri_condition(struct slri_pp *pp, struct slri_lexeme *line, struct slri_where where);
// The same as a number, of `line` up to its end. False after a report.
bool slri_condition_value(struct slri_pp *pp, struct slri_lexeme *line, struct slri_where where, int64_t *out);
// tuning.c: notes a line "#pragma slipring ...", and at the end of the source reads all of them, to front->tuning
void slri_tuning_note(struct slri_pp *pp, struct slri_lexeme *line, struct slri_where where);
void slri_tuning_read(struct slri_pp *pp);
// include.c: the lexemes of the file that the line names, or NULL after a report (or for a file that is read once)
struct slri_lexeme *slri_include(struct slri_pp *pp, struct slri_lexeme *line, struct slri_where where);
struct slri_lexeme *slri_include_source(struct slri_pp *pp);  // file 0
struct slri_lexeme *slri_include_defines(struct slri_pp *pp); // what is defined before the source
void slri_include_once(struct slri_pp *pp, uint32_t file);
// token.c: lexemes that are left, to tokens
void slri_emit(struct slri_pp *pp, const struct slri_lexeme *lexeme);
void slri_emit_end(struct slri_pp *pp); // closes front->token

// header.c: the text of a header that is built in, or NULL
const char *slri_builtin_header(const char *name);

// A list being appended to.
struct slri_list {
    struct slri_lexeme *first, *last;
};
static inline void slri_list_append(struct slri_list *list, struct slri_lexeme *lexeme)
{
    *(list->last ? &list->last->next : &list->first) = lexeme;
    list->last = lexeme;
}

#endif
