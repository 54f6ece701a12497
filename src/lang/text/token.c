// SPDX-License-Identifier: Apache-2.0
// The lexemes that preprocessing leaves become tokens: literals get their values, adjacent strings are joined.
#include "lang/text/literal.h"
#include "lang/text/preprocess.h"

#include <math.h>
#include <string.h>

#define STRING_LIMIT 16384u // bytes of a string; C asks for 4,095

static struct slri_token *add_token(struct slri_pp *pp)
{
    struct slri_front *front = pp->front;
    if (front->tokens == pp->token_room) {
        uint32_t room = pp->token_room ? 2 * pp->token_room : 1024;
        struct slri_token *grown = slri_pp_take(pp, room * sizeof *grown);
        if (front->tokens)
            memcpy(grown, front->token, front->tokens * sizeof *grown);
        front->token = grown;
        pp->token_room = room;
    }
    return &front->token[front->tokens++];
}

static void flush_string(struct slri_pp *pp)
{
    const struct slri_lexeme *start = pp->string_start;
    if (!start)
        return;
    *add_token(pp) = (struct slri_token){.kind = SLRI_TOKEN_STRING,
                                         .text = slri_intern(pp, pp->string, pp->string_bytes),
                                         .length = pp->string_bytes,
                                         .where = start->where,
                                         .macro = start->macro};
    pp->string_start = NULL;
    pp->string_bytes = 0;
}

static void add_string(struct slri_pp *pp, const struct slri_lexeme *lexeme)
{
    if (!pp->string)
        pp->string = slri_pp_take(pp, STRING_LIMIT);
    if (lexeme->length > STRING_LIMIT - pp->string_bytes) {
        slri_pp_error(pp, lexeme->where, SLRI_K_SOURCE_TOO_LARGE, "a string of more than %u bytes", STRING_LIMIT);
        slri_pp_give_up(pp, SLR_OK);
    }
    uint32_t written;
    struct slri_literal_error error =
        slri_string(lexeme->text, lexeme->length, pp->string + pp->string_bytes, &written);
    if (error.code)
        slri_pp_error(pp, lexeme->where, error.code, "%s in %.60s", error.message, lexeme->text);
    pp->string_bytes += written;
    if (!pp->string_start)
        pp->string_start = lexeme;
}

static void report_problem(struct slri_pp *pp, const struct slri_lexeme *lexeme)
{
    unsigned char first = (unsigned char)lexeme->text[0];
    if (lexeme->problem == SLRI_K_UNTERMINATED_STRING)
        slri_pp_error(pp, lexeme->where, lexeme->problem, "%c without the one that closes it", first);
    else if (first > ' ' && first < 0x7F)
        slri_pp_error(pp, lexeme->where, lexeme->problem, "no token starts with '%c'", first);
    else
        slri_pp_error(pp, lexeme->where, lexeme->problem, "no token starts with the byte 0x%02X", first);
}

// What <math.h> needs and C has no literal for.
static bool is_special(struct slri_pp *pp, struct slri_token *token)
{
    if (token->text != pp->word.infinity && token->text != pp->word.nan)
        return false;
    token->kind = SLRI_TOKEN_FLOAT;
    token->is_float = true;
    token->value.f64 = token->text == pp->word.nan ? (double)NAN : (double)INFINITY;
    return true;
}

static void add_literal(struct slri_pp *pp, const struct slri_lexeme *lexeme, struct slri_token *token)
{
    struct slri_literal_error error = lexeme->kind == SLRI_LEXEME_NUMBER
                                          ? slri_number(lexeme->text, token)
                                          : slri_character(lexeme->text, lexeme->length, token);
    if (error.code)
        slri_pp_error(pp, lexeme->where, error.code, "%s: %.60s", error.message, lexeme->text);
}

void slri_emit(struct slri_pp *pp, const struct slri_lexeme *lexeme)
{
    if (lexeme->problem) {
        report_problem(pp, lexeme);
        return;
    }
    if (lexeme->kind == SLRI_LEXEME_STRING) {
        add_string(pp, lexeme);
        return;
    }
    flush_string(pp);
    struct slri_token token = {.kind = lexeme->kind == SLRI_LEXEME_NAME    ? SLRI_TOKEN_NAME
                                       : lexeme->kind == SLRI_LEXEME_PUNCT ? SLRI_TOKEN_PUNCT
                                                                           : SLRI_TOKEN_INTEGER,
                               .text = lexeme->text,
                               .length = lexeme->length,
                               .where = lexeme->where,
                               .macro = lexeme->macro};
    if (token.kind == SLRI_TOKEN_INTEGER)
        add_literal(pp, lexeme, &token);
    else
        is_special(pp, &token);
    *add_token(pp) = token;
}

void slri_emit_end(struct slri_pp *pp)
{
    flush_string(pp);
    struct slri_front *front = pp->front;
    struct slri_where where = front->tokens ? front->token[front->tokens - 1].where : (struct slri_where){0, 1, 1};
    uint32_t count = front->tokens + 1;
    struct slri_token *whole = slri_region_take(front->region, count * sizeof *whole); // beyond the scratch region
    if (!whole)
        slri_pp_give_up(pp, SLR_NO_MEMORY);
    if (front->tokens)
        memcpy(whole, front->token, front->tokens * sizeof *whole);
    whole[count - 1] = (struct slri_token){.kind = SLRI_TOKEN_END, .text = "", .where = where};
    front->token = whole;
    front->tokens = count;
}
