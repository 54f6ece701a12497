// SPDX-License-Identifier: Apache-2.0
// Macro expansion by hide sets (Dave Prosser's algorithm, X3J11/86-196): each lexeme carries the macros that it came
// out of, and these do not expand in it again.
#include "lang/text/preprocess.h"

#include <stdio.h>
#include <string.h>

#define HIDE_LIMIT 1000 // macros that come out of one another
#define DEPTH_LIMIT 200 // arguments within arguments

// ---- the table -----------------------------------------------------------------------------------------------------

static struct slri_macro **bucket_of(struct slri_pp *pp, const char *name)
{
    return &pp->macro[((uintptr_t)name >> 4) % SLRI_MACRO_BUCKETS]; // interned: the pointer is the name
}

struct slri_macro *slri_macro_find(struct slri_pp *pp, const char *name)
{
    pp->front->asks_select |= name == pp->word.select;
    struct slri_macro *macro = *bucket_of(pp, name);
    while (macro && macro->name != name)
        macro = macro->next;
    return macro;
}

void slri_macro_add(struct slri_pp *pp, struct slri_macro *macro)
{
    struct slri_macro **bucket = bucket_of(pp, macro->name);
    macro->next = *bucket;
    *bucket = macro;
}

void slri_macro_remove(struct slri_pp *pp, const char *name)
{
    struct slri_macro **at = bucket_of(pp, name);
    while (*at && (*at)->name != name)
        at = &(*at)->next;
    if (*at)
        *at = (*at)->next;
}

bool slri_macro_is_builtin(const struct slri_pp *pp, const char *name)
{
    return name == pp->word.line || name == pp->word.file;
}

// ---- hide sets -----------------------------------------------------------------------------------------------------

static bool hide_has(struct slri_pp *pp, const struct slri_hide_set *set, const char *name, struct slri_where where)
{
    uint64_t steps = 1;
    for (; set && set->name != name; set = set->next)
        steps++;
    slri_pp_work(pp, where, steps);
    return set;
}

static const struct slri_hide_set *hide_add(struct slri_pp *pp, const struct slri_hide_set *set, const char *name)
{
    struct slri_hide_set *added = slri_pp_take(pp, sizeof *added);
    *added = (struct slri_hide_set){name, set};
    return added;
}

static const struct slri_hide_set *hide_union(struct slri_pp *pp, const struct slri_hide_set *a,
                                              const struct slri_hide_set *b, struct slri_where where)
{
    if (a == b || !a)
        return b;
    const struct slri_hide_set *both = b;
    for (; a; a = a->next)
        if (!hide_has(pp, b, a->name, where))
            both = hide_add(pp, both, a->name);
    return both;
}

const struct slri_hide_set *slri_hide_intersection(struct slri_pp *pp, const struct slri_hide_set *a,
                                                   const struct slri_hide_set *b, struct slri_where where)
{
    if (a == b)
        return a;
    const struct slri_hide_set *common = NULL;
    for (; a && b; a = a->next)
        if (hide_has(pp, b, a->name, where))
            common = hide_add(pp, common, a->name);
    return common;
}

static void check_hide_size(struct slri_pp *pp, const struct slri_hide_set *set, const struct slri_lexeme *use)
{
    unsigned size = 0;
    for (; set; set = set->next)
        size++;
    if (size <= HIDE_LIMIT)
        return;
    slri_pp_error(pp, use->where, SLRI_K_EXPANSION_TOO_DEEP, "more than %d macros come out of one another", HIDE_LIMIT);
    slri_pp_give_up(pp, SLR_OK);
}

// ---- calls ---------------------------------------------------------------------------------------------------------

struct call {
    const struct slri_macro *macro;
    const struct slri_lexeme *use;
    struct slri_argument *argument; // one for each parameter, and at least one
    uint32_t arguments;             // found; those in excess are not kept
    struct slri_lexeme *close;
};

static bool ends_call(struct slri_pp *pp, const struct slri_lexeme *at, const struct call *call)
{
    bool is_directive = at && at->first_on_line && slri_lexeme_is(at, SLRI_LEXEME_PUNCT, pp->word.hash);
    if (at && at->kind != SLRI_LEXEME_END_OF_FILE && !is_directive)
        return false;
    slri_pp_error(pp, call->use->where, SLRI_K_MACRO_ARGUMENTS, "the arguments of macro '%s' %s", call->macro->name,
                  is_directive ? "hold a directive" : "do not end");
    return true;
}

// The lexemes of one argument, up to its comma or the parenthesis, where it returns; NULL if neither comes.
static struct slri_lexeme *read_argument(struct slri_pp *pp, struct slri_lexeme *at, struct call *call)
{
    const struct slri_macro *macro = call->macro;
    bool takes_commas = macro->is_variadic && call->arguments + 1 >= macro->parameters;
    struct slri_list raw = {0};
    for (unsigned nesting = 0; !ends_call(pp, at, call); at = at->next) {
        bool is_close = slri_lexeme_is(at, SLRI_LEXEME_PUNCT, pp->word.close);
        bool is_comma = slri_lexeme_is(at, SLRI_LEXEME_PUNCT, pp->word.comma);
        if (nesting == 0 && (is_close || (is_comma && !takes_commas))) {
            if (call->arguments == 0 || call->arguments < macro->parameters)
                call->argument[call->arguments].raw = raw.first;
            call->arguments++;
            return at;
        }
        nesting += slri_lexeme_is(at, SLRI_LEXEME_PUNCT, pp->word.open);
        nesting -= is_close;
        slri_list_append(&raw, slri_pp_copy(pp, at, at->where));
    }
    return NULL;
}

static bool has_right_count(struct slri_pp *pp, const struct call *call)
{
    uint32_t found = call->arguments, wanted = call->macro->parameters;
    bool is_none = wanted == 0 && found == 1 && !call->argument[0].raw;
    bool lacks_variadic = call->macro->is_variadic && found + 1 == wanted;
    if (found == wanted || is_none || lacks_variadic)
        return true;
    slri_pp_error(pp, call->use->where, SLRI_K_MACRO_ARGUMENTS, "macro '%s' takes %u argument%s, %u given",
                  call->macro->name, wanted, wanted == 1 ? "" : "s", found);
    return false;
}

// The use of a function macro is one only with a parenthesis behind it.
static bool read_call(struct slri_pp *pp, struct call *call)
{
    struct slri_lexeme *at = call->use->next;
    if (!at || !slri_lexeme_is(at, SLRI_LEXEME_PUNCT, pp->word.open))
        return false;
    uint32_t room = call->macro->parameters ? call->macro->parameters : 1;
    call->argument = slri_pp_take(pp, room * sizeof *call->argument);
    do {
        at = read_argument(pp, at->next, call);
        if (!at)
            return false;
    } while (slri_lexeme_is(at, SLRI_LEXEME_PUNCT, pp->word.comma));
    call->close = at;
    return has_right_count(pp, call);
}

// ---- expansion -----------------------------------------------------------------------------------------------------

static void set_file_name(struct slri_pp *pp, struct slri_lexeme *lexeme)
{
    const char *name = pp->front->file[lexeme->where.file];
    char *quoted = slri_pp_take(pp, 2 * strlen(name) + 3), *at = quoted;
    *at++ = '"';
    for (; *name; name++) {
        if (*name == '"' || *name == '\\')
            *at++ = '\\';
        *at++ = *name;
    }
    *at++ = '"';
    lexeme->kind = SLRI_LEXEME_STRING;
    lexeme->length = (uint32_t)(at - quoted);
    lexeme->text = slri_intern(pp, quoted, lexeme->length);
}

static void set_line_number(struct slri_pp *pp, struct slri_lexeme *lexeme)
{
    char digits[16];
    lexeme->kind = SLRI_LEXEME_NUMBER;
    lexeme->length = (uint32_t)snprintf(digits, sizeof digits, "%u", lexeme->where.line);
    lexeme->text = slri_intern(pp, digits, lexeme->length);
}

static struct slri_lexeme *expand_builtin(struct slri_pp *pp, const struct slri_lexeme *use)
{
    struct slri_lexeme *lexeme = slri_pp_copy(pp, use, use->where);
    if (!lexeme->macro)
        lexeme->macro = use->text;
    if (use->text == pp->word.line)
        set_line_number(pp, lexeme);
    else
        set_file_name(pp, lexeme);
    lexeme->next = use->next;
    return lexeme;
}

// Drops the placemarkers, hides the macros, and puts the result before `rest`.
static struct slri_lexeme *splice(struct slri_pp *pp, struct slri_lexeme *result, const struct slri_hide_set *hide,
                                  const struct slri_lexeme *use, struct slri_lexeme *rest)
{
    struct slri_list list = {0};
    for (struct slri_lexeme *next; result; result = next) {
        next = result->next;
        result->next = NULL;
        if (result->kind == SLRI_LEXEME_PLACEMARKER)
            continue;
        result->hide = hide_union(pp, result->hide, hide, use->where);
        slri_list_append(&list, result);
    }
    if (!list.first)
        return rest;
    list.first->space_before = use->space_before || use->first_on_line;
    list.last->next = rest;
    return list.first;
}

bool slri_expand_first(struct slri_pp *pp, struct slri_lexeme **list, unsigned depth)
{
    struct slri_lexeme *use = *list;
    if (use->kind != SLRI_LEXEME_NAME)
        return false;
    if (slri_macro_is_builtin(pp, use->text)) {
        *list = expand_builtin(pp, use);
        return true;
    }
    const struct slri_macro *macro = slri_macro_find(pp, use->text);
    if (!macro || hide_has(pp, use->hide, use->text, use->where))
        return false;
    struct call call = {.macro = macro, .use = use};
    if (macro->is_function && !read_call(pp, &call))
        return false;
    // What the name and the parenthesis that closes its call both come out of is still being expanded.
    const struct slri_hide_set *hide =
        call.close ? slri_hide_intersection(pp, use->hide, call.close->hide, use->where) : use->hide;
    hide = hide_add(pp, hide, macro->name);
    check_hide_size(pp, hide, use);
    struct slri_lexeme *result = slri_substitute(pp, macro, call.argument, use, depth);
    *list = splice(pp, result, hide, use, call.close ? call.close->next : use->next);
    return true;
}

struct slri_lexeme *slri_expand_all(struct slri_pp *pp, struct slri_lexeme *list, unsigned depth)
{
    if (list && depth > DEPTH_LIMIT) {
        slri_pp_error(pp, list->where, SLRI_K_EXPANSION_TOO_DEEP, "macro calls within macro calls, %u deep", depth);
        slri_pp_give_up(pp, SLR_OK);
    }
    struct slri_list done = {0};
    while (list) {
        if (slri_expand_first(pp, &list, depth))
            continue;
        struct slri_lexeme *next = list->next;
        slri_list_append(&done, list);
        list = next;
    }
    return done.first;
}
