// SPDX-License-Identifier: Apache-2.0
// The preprocessor's loop: directives are handled, macros expanded, what is left goes to the parser. Sources may come
// from anywhere, so everything that input can multiply has a limit.
#include "lang/text/preprocess.h"

#include "base/status.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define LEXEMES_LIMIT 2000000u
#define STEPS_LIMIT 100000000u

_Noreturn void slri_pp_give_up(struct slri_pp *pp, slr_status status)
{
    pp->given_up = status;
    longjmp(pp->give_up, 1);
}

void slri_pp_error(struct slri_pp *pp, struct slri_where where, unsigned code, const char *format, ...)
{
    char message[400];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(message, sizeof message, format, arguments);
    va_end(arguments);
    slri_report_error(pp->front, where, code, "%s", message);
    if (slri_report_errors(pp->front) >= SLRI_ERRORS_LIMIT)
        slri_pp_give_up(pp, SLR_OK);
}

void *slri_pp_take(struct slri_pp *pp, size_t bytes)
{
    void *memory = slri_region_take(pp->scratch, bytes);
    if (!memory)
        slri_pp_give_up(pp, SLR_NO_MEMORY);
    return memory;
}

struct slri_lexeme *slri_pp_lexeme(struct slri_pp *pp, struct slri_where where)
{
    if (++pp->lexemes > LEXEMES_LIMIT) {
        slri_pp_error(pp, where, SLRI_K_SOURCE_TOO_LARGE, "more than %u tokens, with those that macros make",
                      LEXEMES_LIMIT);
        slri_pp_give_up(pp, SLR_OK);
    }
    struct slri_lexeme *lexeme = slri_pp_take(pp, sizeof *lexeme);
    lexeme->where = where;
    return lexeme;
}

struct slri_lexeme *slri_pp_copy(struct slri_pp *pp, const struct slri_lexeme *lexeme, struct slri_where where)
{
    struct slri_lexeme *copy = slri_pp_lexeme(pp, where);
    *copy = *lexeme;
    copy->where = where;
    copy->next = NULL;
    copy->space_before |= lexeme->first_on_line;
    copy->first_on_line = false;
    return copy;
}

void slri_pp_work(struct slri_pp *pp, struct slri_where where, uint64_t steps)
{
    pp->steps += steps;
    if (pp->steps <= STEPS_LIMIT)
        return;
    slri_pp_error(pp, where, SLRI_K_SOURCE_TOO_LARGE, "expanding the macros takes too long");
    slri_pp_give_up(pp, SLR_OK);
}

static void intern_words(struct slri_pp *pp)
{
    struct slri_words *word = &pp->word;
    const struct {
        const char **to, *text;
    } words[] = {
        {&word->hash, "#"},
        {&word->paste, "##"},
        {&word->open, "("},
        {&word->close, ")"},
        {&word->comma, ","},
        {&word->ellipsis, "..."},
        {&word->less, "<"},
        {&word->greater, ">"},
        {&word->include, "include"},
        {&word->defined, "defined"},
        {&word->va_args, "__VA_ARGS__"},
        {&word->line, "__LINE__"},
        {&word->file, "__FILE__"},
        {&word->pragma_operator, "_Pragma"},
        {&word->infinity, "__slri_infinity"},
        {&word->nan, "__slri_nan"},
        {&word->select, SLRI_SELECT_MACRO},
    };
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
        *words[i].to = slri_intern(pp, words[i].text, strlen(words[i].text));
}

// Each #if ends in the file that it is in.
static void close_file(struct slri_pp *pp, uint32_t file)
{
    for (; pp->conditional && pp->conditional->where.file == file; pp->conditional = pp->conditional->next)
        slri_pp_error(pp, pp->conditional->where, SLRI_K_UNTERMINATED_IF, "this #if does not end");
}

// _Pragma("...") says no more than #pragma: what follows it, or NULL if this is something else.
static struct slri_lexeme *skip_pragma(struct slri_pp *pp, struct slri_lexeme *at)
{
    if (!slri_lexeme_is(at, SLRI_LEXEME_NAME, pp->word.pragma_operator))
        return NULL;
    struct slri_lexeme *open = at->next, *string = open ? open->next : NULL, *close = string ? string->next : NULL;
    bool is_whole = close && slri_lexeme_is(open, SLRI_LEXEME_PUNCT, pp->word.open) &&
                    string->kind == SLRI_LEXEME_STRING && slri_lexeme_is(close, SLRI_LEXEME_PUNCT, pp->word.close);
    return is_whole ? close->next : NULL;
}

static void process(struct slri_pp *pp, struct slri_lexeme *list)
{
    while (list) {
        struct slri_lexeme *after_pragma;
        if (list->kind == SLRI_LEXEME_END_OF_FILE) {
            close_file(pp, list->where.file);
            list = list->next;
        } else if (list->first_on_line && slri_lexeme_is(list, SLRI_LEXEME_PUNCT, pp->word.hash)) {
            list = slri_directive(pp, list);
        } else if ((after_pragma = skip_pragma(pp, list))) {
            list = after_pragma;
        } else if (!slri_expand_first(pp, &list, 0)) {
            slri_emit(pp, list);
            list = list->next;
        }
    }
}

static slr_status run(struct slri_pp *pp)
{
    if (setjmp(pp->give_up))
        return pp->given_up;
    intern_words(pp);
    struct slri_lexeme *source = slri_include_source(pp); // first, because it is file 0
    process(pp, slri_include_defines(pp));
    pp->front->asks_select = false; // up to here the source has not been read
    process(pp, source);
    slri_tuning_read(pp);
    slri_emit_end(pp);
    return SLR_OK;
}

// A run that gave up on the source leaves no tokens, so that the parser does not complain about half of it.
static slr_status close_empty(struct slri_front *front)
{
    front->token = slri_region_take(front->region, sizeof *front->token);
    if (!front->token)
        return SLR_NO_MEMORY;
    *front->token = (struct slri_token){.kind = SLRI_TOKEN_END, .text = "", .where = {0, 1, 1}};
    front->tokens = 1;
    return SLR_OK;
}

static void store_hash(const struct slri_hash *hash, unsigned char to[16])
{
    char hex[SLRI_HASH_HEX_BYTES];
    slri_hash_hex(hash, hex);
    for (size_t i = 0; i < 16; i++) {
        unsigned byte;
        sscanf(hex + 2 * i, "%2x", &byte);
        to[i] = (unsigned char)byte;
    }
}

static slr_status run_in(struct slri_front *front, struct slri_region *scratch)
{
    struct slri_pp *pp = slri_region_take(scratch, sizeof *pp);
    front->file = slri_region_take(front->region, SLRI_FILES_LIMIT * sizeof *front->file);
    front->file_text = slri_region_take(front->region, SLRI_FILES_LIMIT * sizeof *front->file_text);
    if (!pp || !front->file || !front->file_text)
        return SLR_NO_MEMORY;
    pp->front = front;
    pp->scratch = scratch;
    slri_hash_init(&pp->hash);
    slri_hash_init(&pp->own_hash);
    slr_status status = run(pp);
    store_hash(&pp->hash, front->source_hash);
    store_hash(&pp->own_hash, front->own_hash);
    bool is_whole = front->tokens && front->token[front->tokens - 1].kind == SLRI_TOKEN_END;
    return status == SLR_OK && !is_whole ? close_empty(front) : status;
}

slr_status slri_preprocess(struct slri_front *front)
{
    struct slri_region *scratch = slri_region_create();
    slr_status status = scratch ? run_in(front, scratch) : SLR_NO_MEMORY;
    slri_region_destroy(scratch);
    if (status == SLR_NO_MEMORY)
        return SLRI_FAIL(NO_MEMORY, "no memory left to preprocess %s",
                         front->file && front->files ? front->file[0] : "a kernel");
    return status;
}
