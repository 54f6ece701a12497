// SPDX-License-Identifier: Apache-2.0
// What the parser stands on: memory that does not fail, errors, the token cursor and its recovery, scopes.
#include "lang/check/advice.h"
#include "lang/check/parse.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

_Noreturn void slri_unit_give_up(struct slri_unit *unit, slr_status why)
{
    unit->why = why;
    longjmp(unit->give_up, 1);
}

void *slri_unit_take(struct slri_unit *unit, size_t bytes)
{
    void *memory = slri_region_take(unit->region, bytes);
    if (!memory)
        slri_unit_give_up(unit, SLR_NO_MEMORY);
    return memory;
}

const char *slri_unit_format(struct slri_unit *unit, const char *format, ...)
{
    va_list list, again;
    va_start(list, format);
    va_copy(again, list);
    int length = vsnprintf(NULL, 0, format, list);
    va_end(list);
    size_t bytes = length < 0 ? 1 : (size_t)length + 1;
    char *text = slri_unit_take(unit, bytes);
    vsnprintf(text, bytes, format, again);
    va_end(again);
    return text;
}

const char *slri_unit_spell(struct slri_unit *unit, const struct slri_type *type)
{
    return slri_type_spell(unit->types, type);
}

void slri_unit_after_error(struct slri_unit *unit)
{
    if (slri_report_errors(unit->front) >= SLRI_ERRORS_LIMIT && !unit->is_trying)
        slri_unit_give_up(unit, SLR_OK);
}

// ---- tokens --------------------------------------------------------------------------------------------------------

const struct slri_token *slri_peek(const struct slri_unit *unit)
{
    return &unit->front->token[unit->at];
}

const struct slri_token *slri_peek_at(const struct slri_unit *unit, uint32_t ahead)
{
    uint32_t last = unit->front->tokens - 1;
    return &unit->front->token[ahead < last - unit->at ? unit->at + ahead : last];
}

const struct slri_token *slri_advance(struct slri_unit *unit)
{
    const struct slri_token *token = slri_peek(unit);
    if (token->kind != SLRI_TOKEN_END)
        unit->at++;
    return token;
}

bool slri_token_is_any(const struct slri_token *token, const char *const *words, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (slri_token_is(token, words[i]))
            return true;
    return false;
}

bool slri_is(const struct slri_unit *unit, const char *text)
{
    return slri_token_is(slri_peek(unit), text);
}

bool slri_accept(struct slri_unit *unit, const char *text)
{
    if (!slri_is(unit, text))
        return false;
    slri_advance(unit);
    return true;
}

void slri_unexpected(struct slri_unit *unit, const char *wanted)
{
    if (unit->panic)
        return;
    unit->panic = true;
    const struct slri_token *token = slri_peek(unit);
    if (token->kind == SLRI_TOKEN_END)
        SLRI_ERROR(unit, token->where, UNEXPECTED_TOKEN, "expected %s, found the end of the file", wanted);
    else
        SLRI_ERROR(unit, token->where, UNEXPECTED_TOKEN, "expected %s, found '%s'", wanted, token->text);
}

// What was found stands in another line than what the ; belongs behind.
static const char *advise_semicolon(struct slri_unit *unit)
{
    if (unit->at == 0)
        return NULL;
    struct slri_where before = unit->front->token[unit->at - 1].where, found = slri_peek(unit)->where;
    return before.file == found.file && before.line < found.line
               ? slri_unit_format(unit, "write ; at the end of line %u", before.line)
               : NULL;
}

bool slri_expect(struct slri_unit *unit, const char *text, const char *after)
{
    if (!unit->panic && slri_accept(unit, text))
        return true;
    bool was_in_panic = unit->panic;
    slri_unexpected(unit, slri_unit_format(unit, "'%s' %s", text, after));
    if (!was_in_panic && strcmp(text, ";") == 0)
        SLRI_ADVISE(unit, advise_semicolon(unit));
    return false;
}

void slri_recover(struct slri_unit *unit)
{
    uint32_t open = 0;
    unit->panic = false;
    while (slri_peek(unit)->kind != SLRI_TOKEN_END) {
        if (open == 0 && slri_is(unit, "}"))
            return;
        const struct slri_token *token = slri_advance(unit);
        if (slri_token_is(token, "{"))
            open++;
        else if (slri_token_is(token, "}") && --open == 0)
            return;
        else if (open == 0 && slri_token_is(token, ";"))
            return;
    }
}

void slri_skip_braces(struct slri_unit *unit)
{
    for (uint32_t open = 1; open && slri_peek(unit)->kind != SLRI_TOKEN_END;) {
        if (open == 1 && slri_is(unit, ";"))
            return;
        const struct slri_token *token = slri_advance(unit);
        open += slri_token_is(token, "{");
        open -= slri_token_is(token, "}");
    }
}

bool slri_enter(struct slri_unit *unit)
{
    if (unit->nesting++ < SLRI_NESTING_LIMIT)
        return true;
    if (!unit->panic)
        SLRI_ERROR(unit, slri_peek(unit)->where, NESTING_TOO_DEEP, "brackets or blocks are nested too deeply here");
    unit->panic = true;
    return false;
}

void slri_leave(struct slri_unit *unit)
{
    unit->nesting--;
}

// ---- scopes --------------------------------------------------------------------------------------------------------

static struct slri_symbol **bucket_of(struct slri_unit *unit, const char *name)
{
    return &unit->bucket[(uintptr_t)name / 16 % SLRI_SCOPE_BUCKETS];
}

static enum slri_space space_of(const struct slri_symbol *symbol)
{
    return symbol->kind == SLRI_SYMBOL_TAG ? SLRI_SPACE_TAGS : SLRI_SPACE_NAMES;
}

struct slri_symbol *slri_lookup(const struct slri_unit *unit, const char *name, enum slri_space space)
{
    struct slri_symbol *at = unit->bucket[(uintptr_t)name / 16 % SLRI_SCOPE_BUCKETS];
    while (at && (at->name != name || space_of(at) != space))
        at = at->shadowed;
    return at;
}

struct slri_symbol *slri_declare(struct slri_unit *unit, enum slri_symbol_kind kind, const char *name,
                                 struct slri_where where)
{
    enum slri_space space = kind == SLRI_SYMBOL_TAG ? SLRI_SPACE_TAGS : SLRI_SPACE_NAMES;
    const struct slri_symbol *before = slri_lookup(unit, name, space);
    if (before && before->depth == unit->depth)
        SLRI_ERROR(unit, where, REDEFINITION, "'%s' is already defined in line %u", name, before->where.line);
    struct slri_symbol *symbol = slri_unit_take(unit, sizeof *symbol);
    struct slri_symbol **bucket = bucket_of(unit, name);
    *symbol = (struct slri_symbol){.kind = kind, .name = name, .where = where, .depth = unit->depth};
    symbol->type = slri_type_of(unit->types, SLRI_I32);
    symbol->shadowed = *bucket;
    symbol->in_scope = unit->scope;
    *bucket = symbol;
    unit->scope = symbol;
    return symbol;
}

void slri_open_scope(struct slri_unit *unit)
{
    unit->depth++;
}

void slri_close_scope(struct slri_unit *unit)
{
    for (; unit->scope && unit->scope->depth == unit->depth; unit->scope = unit->scope->in_scope)
        *bucket_of(unit, unit->scope->name) = unit->scope->shadowed;
    unit->depth--;
}
