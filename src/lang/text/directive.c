// SPDX-License-Identifier: Apache-2.0
// The preprocessor's directives.
#include "lang/text/preprocess.h"

#include "base/text.h"

#include <string.h>

#define PARAMETERS_LIMIT 256

struct directive {
    struct slri_where where;  // of its #
    struct slri_lexeme *name; // NULL: a # alone
    struct slri_lexeme *line; // what follows the name
    struct slri_lexeme *rest; // what follows the line
};

static bool is_hash(struct slri_pp *pp, const struct slri_lexeme *lexeme)
{
    return lexeme->first_on_line && slri_lexeme_is(lexeme, SLRI_LEXEME_PUNCT, pp->word.hash);
}

static bool is_name(const struct slri_lexeme *lexeme, const char *text)
{
    return lexeme && lexeme->kind == SLRI_LEXEME_NAME && strcmp(lexeme->text, text) == 0;
}

// Cuts the list behind the line that `hash` starts.
static struct directive cut(struct slri_lexeme *hash)
{
    struct slri_lexeme *last = hash;
    while (last->next && !last->next->first_on_line && last->next->kind != SLRI_LEXEME_END_OF_FILE)
        last = last->next;
    struct directive directive = {.where = hash->where, .rest = last->next};
    last->next = NULL;
    directive.name = hash->next;
    directive.line = hash->next ? hash->next->next : NULL;
    return directive;
}

static struct slri_where place_of(const struct directive *directive)
{
    return directive->line ? directive->line->where : directive->name->where;
}

// ---- #define and #undef --------------------------------------------------------------------------------------------

static bool bad_macro(struct slri_pp *pp, struct slri_where where, const char *what)
{
    slri_pp_error(pp, where, SLRI_K_BAD_MACRO, "%s", what);
    return false;
}

static bool add_parameter(struct slri_pp *pp, struct slri_macro *macro, const char **parameter,
                          const struct slri_lexeme *at)
{
    macro->is_variadic = slri_lexeme_is(at, SLRI_LEXEME_PUNCT, pp->word.ellipsis);
    const char *name = macro->is_variadic ? pp->word.va_args : at->text;
    if (!macro->is_variadic && (at->kind != SLRI_LEXEME_NAME || name == pp->word.va_args))
        return bad_macro(pp, at->where, "a parameter of a macro must be a name");
    for (uint32_t i = 0; i < macro->parameters; i++)
        if (parameter[i] == name)
            return bad_macro(pp, at->where, "two parameters of one name");
    if (macro->parameters == PARAMETERS_LIMIT)
        return bad_macro(pp, at->where, "more than 256 parameters");
    parameter[macro->parameters++] = name;
    return true;
}

// `*at` is behind the opening parenthesis, and behind the closing one afterwards.
static bool read_parameters(struct slri_pp *pp, struct slri_macro *macro, struct slri_lexeme **at)
{
    struct slri_where start = (*at) ? (*at)->where : (struct slri_where){0};
    const char *parameter[PARAMETERS_LIMIT];
    struct slri_lexeme *lexeme = *at;
    bool is_empty = lexeme && slri_lexeme_is(lexeme, SLRI_LEXEME_PUNCT, pp->word.close);
    while (!is_empty) {
        if (!lexeme || !add_parameter(pp, macro, parameter, lexeme))
            break;
        lexeme = lexeme->next;
        if (!lexeme || macro->is_variadic || !slri_lexeme_is(lexeme, SLRI_LEXEME_PUNCT, pp->word.comma))
            break;
        lexeme = lexeme->next;
    }
    if (!lexeme || !slri_lexeme_is(lexeme, SLRI_LEXEME_PUNCT, pp->word.close))
        return bad_macro(pp, lexeme ? lexeme->where : start, "the parameters of a macro do not end");
    macro->parameter = slri_pp_take(pp, macro->parameters * sizeof *parameter);
    memcpy(macro->parameter, parameter, macro->parameters * sizeof *parameter);
    *at = lexeme->next;
    return true;
}

static bool is_parameter(const struct slri_macro *macro, const struct slri_lexeme *lexeme)
{
    for (uint32_t i = 0; lexeme && i < macro->parameters; i++)
        if (lexeme->kind == SLRI_LEXEME_NAME && macro->parameter[i] == lexeme->text)
            return true;
    return false;
}

static bool check_body(struct slri_pp *pp, const struct slri_macro *macro)
{
    for (const struct slri_lexeme *at = macro->body; at; at = at->next) {
        bool is_paste = slri_lexeme_is(at, SLRI_LEXEME_PUNCT, pp->word.paste);
        if (is_paste && (at == macro->body || !at->next))
            return bad_macro(pp, at->where, "## at the beginning or the end of a macro");
        bool is_string = macro->is_function && slri_lexeme_is(at, SLRI_LEXEME_PUNCT, pp->word.hash);
        if (is_string && !is_parameter(macro, at->next))
            return bad_macro(pp, at->where, "# without a parameter after it");
    }
    return true;
}

static bool same_lexemes(const struct slri_lexeme *a, const struct slri_lexeme *b)
{
    bool is_first = true;
    for (; a && b; a = a->next, b = b->next, is_first = false)
        if (a->kind != b->kind || a->text != b->text || (!is_first && a->space_before != b->space_before))
            return false;
    return a == b;
}

static bool same_macro(const struct slri_macro *a, const struct slri_macro *b)
{
    if (a->is_function != b->is_function || a->is_variadic != b->is_variadic || a->parameters != b->parameters)
        return false;
    for (uint32_t i = 0; i < a->parameters; i++)
        if (a->parameter[i] != b->parameter[i])
            return false;
    return same_lexemes(a->body, b->body);
}

static bool may_be_macro(struct slri_pp *pp, const struct directive *directive)
{
    const struct slri_lexeme *name = directive->line;
    if (!name || name->kind != SLRI_LEXEME_NAME)
        return bad_macro(pp, place_of(directive), "the name of a macro is missing");
    if (name->text == pp->word.defined || name->text == pp->word.va_args || slri_macro_is_builtin(pp, name->text))
        return bad_macro(pp, name->where, "this name cannot be defined or undefined");
    return true;
}

static void define(struct slri_pp *pp, struct directive *directive)
{
    if (!may_be_macro(pp, directive))
        return;
    struct slri_lexeme *name = directive->line, *at = name->next;
    struct slri_macro *macro = slri_pp_take(pp, sizeof *macro);
    macro->name = name->text;
    macro->is_function = at && slri_lexeme_is(at, SLRI_LEXEME_PUNCT, pp->word.open) && !at->space_before;
    if (macro->is_function) {
        at = at->next;
        if (!read_parameters(pp, macro, &at))
            return;
    }
    macro->body = at;
    if (!check_body(pp, macro))
        return;
    const struct slri_macro *known = slri_macro_find(pp, macro->name);
    if (!known)
        slri_macro_add(pp, macro);
    else if (!same_macro(known, macro)) {
        slri_pp_error(pp, name->where, SLRI_K_MACRO_REDEFINED, "macro '%s' is defined as something else", macro->name);
        slri_macro_remove(pp, macro->name); // where that is no error, the later one counts: as with every compiler
        slri_macro_add(pp, macro);
    }
}

static void undef(struct slri_pp *pp, struct directive *directive)
{
    if (may_be_macro(pp, directive))
        slri_macro_remove(pp, directive->line->text);
}

// ---- conditions ----------------------------------------------------------------------------------------------------

static bool is_conditional(const struct slri_lexeme *name)
{
    return is_name(name, "if") || is_name(name, "ifdef") || is_name(name, "ifndef");
}

static bool ends_group(const struct slri_lexeme *name)
{
    return is_name(name, "elif") || is_name(name, "else") || is_name(name, "endif");
}

// The # of the directive that ends the group, or the end of the file.
static struct slri_lexeme *skip_group(struct slri_pp *pp, struct slri_lexeme *at)
{
    for (unsigned nesting = 0; at->kind != SLRI_LEXEME_END_OF_FILE; at = at->next) {
        if (!is_hash(pp, at) || at->next->first_on_line)
            continue;
        const struct slri_lexeme *name = at->next;
        if (nesting == 0 && ends_group(name))
            return at;
        nesting += is_conditional(name);
        nesting -= is_name(name, "endif");
    }
    return at;
}

// What is left out, for slri_find_emptied: lines without the directives around them.
static void note_removed(struct slri_pp *pp, const struct slri_lexeme *first, const struct slri_lexeme *end)
{
    struct slri_front *front = pp->front;
    if (first == end || first->where.file != end->where.file)
        return;
    if (front->removeds == front->removed_room) {
        uint32_t room = front->removed_room ? 2 * front->removed_room : 64;
        struct slri_removed *larger = slri_region_take(front->region, room * sizeof *larger);
        if (!larger)
            slri_pp_give_up(pp, SLR_NO_MEMORY);
        if (front->removeds)
            memcpy(larger, front->removed, front->removeds * sizeof *larger);
        front->removed = larger;
        front->removed_room = room;
    }
    front->removed[front->removeds++] =
        (struct slri_removed){.token = front->tokens, .from = first->where.line, .to = end->where.line - 1};
}

static void remove_group(struct slri_pp *pp, struct directive *directive)
{
    struct slri_lexeme *first = directive->rest;
    directive->rest = skip_group(pp, first);
    note_removed(pp, first, directive->rest);
}

static void open_conditional(struct slri_pp *pp, struct directive *directive, bool is_taken)
{
    struct slri_conditional *conditional = slri_pp_take(pp, sizeof *conditional);
    *conditional = (struct slri_conditional){pp->conditional, directive->where, is_taken, false};
    pp->conditional = conditional;
    if (!is_taken)
        remove_group(pp, directive);
}

static void if_expression(struct slri_pp *pp, struct directive *directive)
{
    open_conditional(pp, directive, slri_condition(pp, directive->line, directive->where));
}

static bool is_defined(struct slri_pp *pp, const struct directive *directive)
{
    const struct slri_lexeme *name = directive->line;
    if (!name || name->kind != SLRI_LEXEME_NAME) {
        slri_pp_error(pp, place_of(directive), SLRI_K_BAD_CONDITION, "#%s without a name", directive->name->text);
        return false;
    }
    return slri_macro_find(pp, name->text) || slri_macro_is_builtin(pp, name->text);
}

static void if_defined(struct slri_pp *pp, struct directive *directive)
{
    open_conditional(pp, directive, is_defined(pp, directive));
}

static void if_not_defined(struct slri_pp *pp, struct directive *directive)
{
    open_conditional(pp, directive, !is_defined(pp, directive));
}

// The #if that this directive continues, or NULL after a report.
static struct slri_conditional *continued(struct slri_pp *pp, const struct directive *directive, bool may_follow_else)
{
    struct slri_conditional *open = pp->conditional;
    if (open && open->where.file == directive->where.file && (may_follow_else || !open->seen_else))
        return open;
    slri_pp_error(pp, directive->where, SLRI_K_UNMATCHED_IF, "#%s without an #if that it continues",
                  directive->name->text);
    return NULL;
}

static void else_if(struct slri_pp *pp, struct directive *directive)
{
    struct slri_conditional *open = continued(pp, directive, false);
    if (!open)
        return;
    bool is_taken = !open->taken && slri_condition(pp, directive->line, directive->where);
    open->taken |= is_taken;
    if (!is_taken)
        remove_group(pp, directive);
}

static void else_group(struct slri_pp *pp, struct directive *directive)
{
    struct slri_conditional *open = continued(pp, directive, false);
    if (!open)
        return;
    open->seen_else = true;
    if (open->taken)
        remove_group(pp, directive);
    open->taken = true;
}

static void end_if(struct slri_pp *pp, struct directive *directive)
{
    if (continued(pp, directive, true))
        pp->conditional = pp->conditional->next;
}

// ---- the others ----------------------------------------------------------------------------------------------------

static void include(struct slri_pp *pp, struct directive *directive)
{
    struct slri_lexeme *file = slri_include(pp, directive->line, directive->where), *last = file;
    if (!file)
        return;
    while (last->next)
        last = last->next;
    last->next = directive->rest;
    directive->rest = file;
}

static void error(struct slri_pp *pp, struct directive *directive)
{
    slri_text text = SLRI_TEXT_INIT;
    for (const struct slri_lexeme *at = directive->line; at; at = at->next) {
        slri_text_append(&text, at->text, at->length);
        if (at->next && at->next->space_before)
            slri_text_puts(&text, " ");
    }
    slri_report_error(pp->front, directive->where, SLRI_K_ERROR_DIRECTIVE, "#error %s", slri_text_view(&text));
    slri_text_free(&text);
}

static void pragma(struct slri_pp *pp, struct directive *directive)
{
    if (is_name(directive->line, "once"))
        slri_include_once(pp, directive->where.file);
    else if (is_name(directive->line, "slipring"))
        slri_tuning_note(pp, directive->line->next, directive->where);
}

// #line: a place stays where the file on the disk has it, because the caret needs that line. #warning: nobody reads it.
static void ignore(struct slri_pp *pp, struct directive *directive)
{
    (void)pp;
    (void)directive;
}

static const struct {
    const char *name;
    void (*handle)(struct slri_pp *pp, struct directive *directive);
} directives[] = {
    {"define", define},         {"undef", undef},  {"include", include}, {"if", if_expression}, {"ifdef", if_defined},
    {"ifndef", if_not_defined}, {"elif", else_if}, {"else", else_group}, {"endif", end_if},     {"error", error},
    {"pragma", pragma},         {"line", ignore},  {"warning", ignore},
};

struct slri_lexeme *slri_directive(struct slri_pp *pp, struct slri_lexeme *list)
{
    struct directive directive = cut(list);
    const struct slri_lexeme *name = directive.name;
    if (!name || name->kind == SLRI_LEXEME_NUMBER) // "# 12" is what other preprocessors leave of #line
        return directive.rest;
    for (size_t i = 0; i < sizeof directives / sizeof directives[0]; i++) {
        if (is_name(name, directives[i].name)) {
            directives[i].handle(pp, &directive);
            return directive.rest;
        }
    }
    slri_pp_error(pp, name->where, SLRI_K_BAD_DIRECTIVE, "unknown directive '#%s'", name->text);
    return directive.rest;
}
