// SPDX-License-Identifier: Apache-2.0
// A macro's body with its arguments put in, # and ## done. An argument is expanded first, on its own, except beside #
// and
// ##.
#include "lang/text/preprocess.h"

#include <string.h>

#define STRING_LIMIT 16384u // bytes that # may make, and ## too

struct substitution {
    struct slri_pp *pp;
    const struct slri_macro *macro;
    struct slri_argument *argument;
    const struct slri_lexeme *use;
    unsigned depth;
    struct slri_list out;
};

static struct slri_argument *argument_of(const struct substitution *s, const struct slri_lexeme *name)
{
    if (!name || name->kind != SLRI_LEXEME_NAME)
        return NULL;
    slri_pp_work(s->pp, s->use->where, s->macro->parameters);
    for (uint32_t i = 0; i < s->macro->parameters; i++)
        if (s->macro->parameter[i] == name->text)
            return &s->argument[i];
    return NULL;
}

static bool is_punct(const struct slri_lexeme *lexeme, const char *text)
{
    return lexeme && slri_lexeme_is(lexeme, SLRI_LEXEME_PUNCT, text);
}

// What the macro itself says stands where the macro is used.
static struct slri_lexeme *copy_body(const struct substitution *s, const struct slri_lexeme *lexeme)
{
    struct slri_lexeme *copy = slri_pp_copy(s->pp, lexeme, s->use->where);
    copy->macro = s->use->macro ? s->use->macro : s->macro->name;
    return copy;
}

static struct slri_lexeme *placemarker(const struct substitution *s, const struct slri_lexeme *for_this)
{
    struct slri_lexeme *empty = copy_body(s, for_this);
    empty->kind = SLRI_LEXEME_PLACEMARKER;
    empty->text = "";
    empty->length = 0;
    return empty;
}

static struct slri_lexeme *copy_list(struct slri_pp *pp, const struct slri_lexeme *list)
{
    struct slri_list copy = {0};
    for (; list; list = list->next)
        slri_list_append(&copy, slri_pp_copy(pp, list, list->where));
    return copy.first;
}

static void append_list(struct slri_list *out, struct slri_lexeme *list)
{
    for (struct slri_lexeme *next; list; list = next) {
        next = list->next;
        list->next = NULL;
        slri_list_append(out, list);
    }
}

// ---- # -------------------------------------------------------------------------------------------------------------

static _Noreturn void too_long(const struct substitution *s, const char *operator)
{
    slri_pp_error(s->pp, s->use->where, SLRI_K_SOURCE_TOO_LARGE, "%s in macro '%s' makes more than %u bytes", operator,
                  s->macro->name, STRING_LIMIT);
    slri_pp_give_up(s->pp, SLR_OK);
}

// The quotes and backslashes of literals are escaped. `out` NULL: counts only.
static size_t put_quoted(const struct slri_lexeme *lexeme, char *out)
{
    bool is_literal = lexeme->kind == SLRI_LEXEME_STRING || lexeme->kind == SLRI_LEXEME_CHAR;
    size_t bytes = 0;
    for (uint32_t i = 0; i < lexeme->length; i++) {
        char c = lexeme->text[i];
        if (is_literal && (c == '"' || c == '\\')) {
            if (out)
                out[bytes] = '\\';
            bytes++;
        }
        if (out)
            out[bytes] = c;
        bytes++;
    }
    return bytes;
}

static struct slri_lexeme *stringize(const struct substitution *s, const struct slri_lexeme *raw,
                                     const struct slri_lexeme *hash)
{
    size_t bytes = 2;
    for (const struct slri_lexeme *at = raw; at && bytes <= STRING_LIMIT; at = at->next)
        bytes += put_quoted(at, NULL) + (at != raw && at->space_before);
    if (bytes > STRING_LIMIT)
        too_long(s, "#");
    char *text = slri_pp_take(s->pp, bytes), *end = text;
    *end++ = '"';
    for (const struct slri_lexeme *at = raw; at; at = at->next) {
        if (at != raw && at->space_before)
            *end++ = ' ';
        end += put_quoted(at, end);
    }
    *end++ = '"';
    struct slri_lexeme *string = copy_body(s, hash);
    string->kind = SLRI_LEXEME_STRING;
    string->text = slri_intern(s->pp, text, bytes);
    string->length = (uint32_t)bytes;
    return string;
}

// ---- ## ------------------------------------------------------------------------------------------------------------

// One lexeme out of two spellings, or NULL.
static struct slri_lexeme *join(const struct substitution *s, const struct slri_lexeme *left,
                                const struct slri_lexeme *right)
{
    size_t bytes = (size_t)left->length + right->length;
    if (bytes > STRING_LIMIT)
        too_long(s, "##");
    char *text = slri_pp_take(s->pp, bytes + 1);
    memcpy(text, left->text, left->length);
    memcpy(text + left->length, right->text, right->length);
    if (text[0] == '/' && (text[1] == '/' || text[1] == '*')) // the lexer would take these for comments
        return NULL;
    struct slri_lexeme *joined = slri_lex(s->pp, text, s->use->where.file);
    bool is_one = joined->next && joined->next->kind == SLRI_LEXEME_END_OF_FILE && !joined->problem;
    return is_one ? joined : NULL;
}

// Makes *left out of both.
static void paste(const struct substitution *s, struct slri_lexeme *left, const struct slri_lexeme *right)
{
    if (right->kind == SLRI_LEXEME_PLACEMARKER)
        return;
    struct slri_lexeme *next = left->next;
    bool space_before = left->space_before;
    if (left->kind == SLRI_LEXEME_PLACEMARKER) {
        *left = *right;
    } else {
        const struct slri_lexeme *joined = join(s, left, right);
        if (!joined) {
            slri_pp_error(s->pp, s->use->where, SLRI_K_BAD_PASTE, "'%s' and '%s' make no token", left->text,
                          right->text);
            return;
        }
        left->kind = joined->kind;
        left->text = joined->text;
        left->length = joined->length;
        left->hide = slri_hide_intersection(s->pp, left->hide, right->hide, s->use->where);
    }
    left->next = next;
    left->space_before = space_before;
}

// ---- the body ------------------------------------------------------------------------------------------------------

static struct slri_lexeme *raw_copy(const struct substitution *s, const struct slri_argument *argument,
                                    const struct slri_lexeme *name)
{
    return argument->raw ? copy_list(s->pp, argument->raw) : placemarker(s, name);
}

static struct slri_lexeme *expanded_copy(const struct substitution *s, struct slri_argument *argument)
{
    if (!argument->is_expanded) {
        argument->expanded = slri_expand_all(s->pp, copy_list(s->pp, argument->raw), s->depth + 1);
        argument->is_expanded = true;
    }
    return copy_list(s->pp, argument->expanded);
}

// The operand at *body, unexpanded; *body moves behind it.
static struct slri_lexeme *operand(const struct substitution *s, const struct slri_lexeme **body)
{
    const struct slri_lexeme *at = *body;
    *body = at->next;
    if (s->macro->is_function && is_punct(at, s->pp->word.hash)) {
        *body = at->next->next; // the definition was checked: a parameter follows
        return stringize(s, argument_of(s, at->next)->raw, at);
    }
    struct slri_argument *argument = argument_of(s, at);
    return argument ? raw_copy(s, argument, at) : copy_body(s, at);
}

// `, ## __VA_ARGS__` is widely used for a comma that goes away with the arguments behind it.
static bool put_optional_comma(struct substitution *s, const struct slri_lexeme **body)
{
    const struct slri_lexeme *comma = *body, *sign = comma->next, *name = sign ? sign->next : NULL;
    if (!s->macro->is_variadic || !is_punct(comma, s->pp->word.comma) || !is_punct(sign, s->pp->word.paste) ||
        !slri_lexeme_is(name, SLRI_LEXEME_NAME, s->pp->word.va_args))
        return false;
    struct slri_argument *rest = argument_of(s, name);
    if (rest->raw) {
        slri_list_append(&s->out, copy_body(s, comma));
        append_list(&s->out, expanded_copy(s, rest));
    }
    *body = name->next;
    return true;
}

static void put_paste(struct substitution *s, const struct slri_lexeme **body)
{
    *body = (*body)->next;
    struct slri_lexeme *right = operand(s, body);
    paste(s, s->out.last, right);
    append_list(&s->out, right->next);
}

static void put_item(struct substitution *s, const struct slri_lexeme **body)
{
    const struct slri_lexeme *at = *body;
    struct slri_argument *argument = argument_of(s, at);
    if (!argument || is_punct(at->next, s->pp->word.paste)) {
        append_list(&s->out, operand(s, body));
        return;
    }
    struct slri_lexeme *expanded = expanded_copy(s, argument);
    if (expanded)
        expanded->space_before = at->space_before;
    append_list(&s->out, expanded ? expanded : placemarker(s, at));
    *body = at->next;
}

struct slri_lexeme *slri_substitute(struct slri_pp *pp, const struct slri_macro *macro, struct slri_argument *argument,
                                    const struct slri_lexeme *use, unsigned depth)
{
    struct substitution s = {pp, macro, argument, use, depth, {0}};
    for (const struct slri_lexeme *body = macro->body; body;) {
        if (is_punct(body, pp->word.paste) && s.out.last)
            put_paste(&s, &body);
        else if (!put_optional_comma(&s, &body))
            put_item(&s, &body);
    }
    return s.out.first;
}
