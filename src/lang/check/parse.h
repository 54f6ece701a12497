// SPDX-License-Identifier: Apache-2.0
// What the parser's files share: the translation unit being read. Parsing and checking are one pass, because in C a
// name must be known to be a type before what follows it can be read; the grammar is in parse_*.c, the rules on types
// in check_*.c. Memory that runs out, and too many errors, leave by longjmp: everything lies in the module's region.
#ifndef SLRI_LANG_CHECK_PARSE_H
#define SLRI_LANG_CHECK_PARSE_H

#include "lang/check/ast.h"
#include "lang/text/diagnostics.h"
#include "lang/text/token.h"

#include <setjmp.h>
#include <string.h>

#define SLRI_NESTING_LIMIT 400 // of the parser's recursion: 200 brackets, or 400 blocks
#define SLRI_HEIGHT_LIMIT 1000 // of an expression's tree: a chain of a + b + c is one deep for each operator
#define SLRI_TABLE_MAX_BYTES (UINT64_C(16) << 20)
#define SLRI_GLOBALS_MAX_BYTES (UINT64_C(1) << 30)  // of all variables of a program
#define SLRI_LOCALS_MAX_BYTES (UINT64_C(256) << 10) // of one function: they lie on the executor's stack
#define SLRI_SCOPE_BUCKETS 1024

struct slri_unit {
    struct slri_front *front;
    struct slri_region *region;
    struct slri_types *types;
    jmp_buf give_up;
    slr_status why; // OK: the report says it

    uint32_t at; // the token that is next
    bool panic;  // a syntax error was reported: say nothing until the next ; or }
    uint32_t nesting;

    struct slri_symbol *bucket[SLRI_SCOPE_BUCKETS];
    struct slri_symbol *scope; // the newest symbol, through in_scope; each knows its depth
    uint32_t depth;

    struct slri_func *functions, **last_function;
    struct slri_func *function; // being read
    uint64_t local_bytes;
    struct slri_stmt *loop, *breakable; // innermost

    struct slri_const *constant; // tables; grows by doubling
    uint32_t constants, constant_room;
    struct slri_shared *shared; // the same of __shared__ objects
    uint32_t shareds, shared_room;
    struct slri_global *global; // the same of variables of the program
    uint32_t globals, global_room;
    uint64_t global_bytes;
    struct slri_format *format; // the same of printf's texts
    uint32_t formats, format_room;
    struct slri_skipped *skipped; // the same of what is left out
    uint32_t skippeds, skipped_room;
    bool is_foreign;             // a file of CUDA: what is outside the language is left out
    const char *missing_headers; // those that were not found: "'a.h', 'b.h'"; NULL: none
    bool is_strict;              // what is wrong in kernels is reported all the same: they were all left out
    bool is_trying;              // errors may yet be taken back: too many of them are no reason to give up
};

// ---- unit.c: memory, errors, tokens, scopes ------------------------------------------------------------------------

void *slri_unit_take(struct slri_unit *unit, size_t bytes); // zeroed; does not return NULL
_Noreturn void slri_unit_give_up(struct slri_unit *unit, slr_status why);
const char *slri_unit_format(struct slri_unit *unit, const char *format, ...) __attribute__((format(printf, 2, 3)));
const char *slri_unit_spell(struct slri_unit *unit, const struct slri_type *type);
void slri_unit_after_error(struct slri_unit *unit); // gives up when there are too many

// SLRI_ERROR(unit, where, UNKNOWN_NAME, "no %s here", name)
#define SLRI_ERROR(unit, where, CODE, ...)                                                                             \
    (slri_report_error((unit)->front, where, SLRI_K_##CODE, __VA_ARGS__), slri_unit_after_error(unit))

const struct slri_token *slri_peek(const struct slri_unit *unit);
const struct slri_token *slri_peek_at(const struct slri_unit *unit, uint32_t ahead);
const struct slri_token *slri_advance(struct slri_unit *unit); // returns the one it leaves; stays at END
bool slri_is(const struct slri_unit *unit, const char *text);  // a name or punctuator
static inline bool slri_token_is(const struct slri_token *token, const char *text) // most differ in the first letter
{
    const bool is_word = token->kind == SLRI_TOKEN_NAME || token->kind == SLRI_TOKEN_PUNCT;
    return is_word && *token->text == *text && strcmp(token->text, text) == 0;
}
bool slri_token_is_any(const struct slri_token *token, const char *const *words, size_t count);
bool slri_accept(struct slri_unit *unit, const char *text);
bool slri_expect(struct slri_unit *unit, const char *text, const char *after); // reports, panics
void slri_unexpected(struct slri_unit *unit, const char *wanted);              // reports, panics
void slri_recover(struct slri_unit *unit);     // past the next ; or before the } that closes this block; ends the panic
void slri_skip_braces(struct slri_unit *unit); // in a panic inside { }: past the }, or before a ; (it was forgotten)
bool slri_enter(struct slri_unit *unit);       // one deeper; false (reported) past the limit. slri_leave in either case
void slri_leave(struct slri_unit *unit);

enum slri_space { SLRI_SPACE_NAMES, SLRI_SPACE_TAGS };
struct slri_symbol *slri_lookup(const struct slri_unit *unit, const char *name, enum slri_space space);
// Declares in the present scope. Reports a redefinition, and returns a symbol all the same.
struct slri_symbol *slri_declare(struct slri_unit *unit, enum slri_symbol_kind kind, const char *name,
                                 struct slri_where where);
void slri_open_scope(struct slri_unit *unit);
void slri_close_scope(struct slri_unit *unit);

// ---- parse_type.c --------------------------------------------------------------------------------------------------

// The words before a declarator, as bits of slri_specifiers.words.
enum slri_word {
    SLRI_WORD_VOID = 1 << 0,
    SLRI_WORD_BOOL = 1 << 1,
    SLRI_WORD_CHAR = 1 << 2,
    SLRI_WORD_SHORT = 1 << 3,
    SLRI_WORD_INT = 1 << 4,
    SLRI_WORD_LONG = 1 << 5,
    SLRI_WORD_FLOAT = 1 << 6,
    SLRI_WORD_DOUBLE = 1 << 7,
    SLRI_WORD_SIGNED = 1 << 8,
    SLRI_WORD_UNSIGNED = 1 << 9,
    SLRI_WORDS_OF_TYPES = (1 << 10) - 1,
    SLRI_WORD_CONST = 1 << 10,
    SLRI_WORD_TYPEDEF = 1 << 11,
    SLRI_WORD_STATIC = 1 << 12,
    SLRI_WORD_EXTERN = 1 << 13,
    SLRI_WORD_INLINE = 1 << 14, // and __forceinline__, __noinline__: the C compiler decides
    SLRI_WORD_DEVICE = 1 << 15,
    SLRI_WORD_HOST = 1 << 16,
    SLRI_WORD_RING = 1 << 17,
    SLRI_WORD_CONSTANT = 1 << 18,
    SLRI_WORD_RESTRICT = 1 << 19,
    SLRI_WORD_GLOBAL = 1 << 20,
    SLRI_WORD_SHARED = 1 << 21,
    SLRI_WORD_RING_BLOCK = 1 << 22,
    SLRI_WORD_VOLATILE = 1 << 23,
    SLRI_WORD_RING_BATCH = 1 << 24,
    SLRI_WORDS_OF_HANDLERS = SLRI_WORD_RING | SLRI_WORD_RING_BLOCK | SLRI_WORD_RING_BATCH,
};

struct slri_specifiers {
    const struct slri_type *type;
    struct slri_type *unnamed; // a struct defined here without a tag: a typedef gives it its name
    struct slri_where where;
    uint32_t words;
    bool is_const, is_volatile;
    bool has_bounds; // __launch_bounds__ was there
    uint32_t max_threads, min_blocks;
    uint32_t align; // that __align__ and its like ask for; 0: they are not there
};

struct slri_declarator {
    const struct slri_token *name; // NULL: none
    const struct slri_type *type;
    bool is_const; // of the object: a pointer's own const, else the specifiers'
    bool is_volatile;
    bool is_restrict;
    bool is_function;
    uint32_t align; // asked for behind its name; 0: not
    struct slri_symbol **param;
    uint32_t params;
};

bool slri_starts_type(const struct slri_unit *unit);                                 // of declarations and type names
bool slri_accept_launch_bounds(struct slri_unit *unit, struct slri_specifiers *out); // if that is next
bool slri_parse_specifiers(struct slri_unit *unit, struct slri_specifiers *out);
bool slri_parse_declarator(struct slri_unit *unit, const struct slri_specifiers *base, struct slri_declarator *out);
const struct slri_type *slri_parse_type_name(struct slri_unit *unit); // NULL: reported
bool slri_report_foreign(struct slri_unit *unit); // a word of C++ or CUDA outside the subset is next: says so, panics
bool slri_is_name(const struct slri_unit *unit);  // an identifier that is no keyword is next

// ---- parse_attribute.c ---------------------------------------------------------------------------------------------

// __align__(16), alignas(float4), __attribute__((aligned(16))), all that stand here: `align` becomes the largest.
void slri_accept_alignment(struct slri_unit *unit, uint32_t *align);
bool slri_starts_alignment(const struct slri_unit *unit);

// ---- parse_decl.c, parse_init.c, parse_stmt.c, parse_expr.c --------------------------------------------------------

void slri_parse_unit(struct slri_unit *unit); // the whole file

// A declaration inside a function, appended to a list of statements.
void slri_parse_local(struct slri_unit *unit, struct slri_stmt ***last);
struct slri_init *slri_parse_init(struct slri_unit *unit, const struct slri_type *type); // from = or {

struct slri_stmt *slri_parse_block(struct slri_unit *unit); // from {, in a scope of its own
bool slri_parse_assertion(struct slri_unit *unit);          // _Static_assert, if that is next
bool slri_falls_through(const struct slri_stmt *list);      // may control reach the end of the list?

struct slri_expr *slri_parse_expression(struct slri_unit *unit);
struct slri_expr *slri_parse_assignment(struct slri_unit *unit);
// A constant of integer type, sign-extended; false: reported.
bool slri_parse_constant(struct slri_unit *unit, const char *what, int64_t *out);

#endif
