// SPDX-License-Identifier: Apache-2.0
// Statements.
#include "lang/check/advice.h"
#include "lang/check/check.h"

static void parse_statement(struct slri_unit *unit, struct slri_stmt ***last);

static struct slri_stmt *add(struct slri_unit *unit, struct slri_stmt ***last, enum slri_stmt_kind kind,
                             struct slri_where where)
{
    struct slri_stmt *stmt = slri_unit_take(unit, sizeof *stmt);
    *stmt = (struct slri_stmt){.kind = kind, .where = where};
    **last = stmt;
    *last = &stmt->next;
    return stmt;
}

// ---- branches ------------------------------------------------------------------------------------------------------

static struct slri_stmt *parse_body(struct slri_unit *unit)
{
    struct slri_stmt *first = NULL, **last = &first;
    slri_open_scope(unit);
    parse_statement(unit, &last);
    slri_close_scope(unit);
    return first;
}

static struct slri_expr *parse_test(struct slri_unit *unit, const char *after)
{
    slri_expect(unit, "(", after);
    struct slri_expr *test = unit->panic ? NULL : slri_truth(unit, slri_parse_expression(unit));
    slri_expect(unit, ")", "after the condition");
    return test ? test : slri_make_error(unit, slri_peek(unit)->where);
}

static void parse_if(struct slri_unit *unit, struct slri_stmt ***last)
{
    struct slri_stmt *stmt = add(unit, last, SLRI_STMT_IF, slri_advance(unit)->where);
    stmt->value = parse_test(unit, "after if");
    if (unit->panic)
        return;
    stmt->body = parse_body(unit);
    if (slri_accept(unit, "else"))
        stmt->other = parse_body(unit);
}

// ---- loops ---------------------------------------------------------------------------------------------------------

// The variable that a loop's step changes.
static struct slri_symbol *stepped(const struct slri_expr *step)
{
    bool changes = step && (step->op == SLRI_EXPR_UPDATE || step->op == SLRI_EXPR_ASSIGN);
    struct slri_symbol *symbol = changes && step->left->op == SLRI_EXPR_VARIABLE ? step->left->symbol : NULL;
    return symbol && symbol->kind == SLRI_SYMBOL_VARIABLE ? symbol : NULL;
}

static void parse_loop_body(struct slri_unit *unit, struct slri_stmt *loop)
{
    struct slri_stmt *outer_loop = unit->loop, *outer_breakable = unit->breakable;
    struct slri_symbol *counter = stepped(loop->step);
    uint32_t before = counter ? counter->assignments : 0;
    unit->loop = loop;
    unit->breakable = loop;
    loop->body = parse_body(unit);
    unit->loop = outer_loop;
    unit->breakable = outer_breakable;
    if (counter && counter->assignments == before)
        loop->untouched = counter;
}

static void parse_while(struct slri_unit *unit, struct slri_stmt ***last)
{
    struct slri_stmt *loop = add(unit, last, SLRI_STMT_LOOP, slri_advance(unit)->where);
    loop->value = parse_test(unit, "after while");
    if (!unit->panic)
        parse_loop_body(unit, loop);
}

static void parse_do(struct slri_unit *unit, struct slri_stmt ***last)
{
    struct slri_stmt *loop = add(unit, last, SLRI_STMT_LOOP, slri_advance(unit)->where);
    loop->do_while = true;
    parse_loop_body(unit, loop);
    slri_expect(unit, "while", "after the body of do");
    loop->value = parse_test(unit, "after while");
    slri_expect(unit, ";", "after do ... while");
}

static void parse_for_start(struct slri_unit *unit, struct slri_stmt *loop)
{
    struct slri_stmt **inner = &loop->start;
    if (slri_starts_type(unit)) {
        slri_parse_local(unit, &inner);
        return;
    }
    if (!slri_is(unit, ";")) {
        struct slri_stmt *stmt = add(unit, &inner, SLRI_STMT_EXPR, slri_peek(unit)->where);
        stmt->value = slri_parse_expression(unit);
    }
    slri_expect(unit, ";", "after the start of for");
}

static void parse_for(struct slri_unit *unit, struct slri_stmt ***last)
{
    struct slri_stmt *loop = add(unit, last, SLRI_STMT_LOOP, slri_advance(unit)->where);
    slri_open_scope(unit);
    if (slri_expect(unit, "(", "after for"))
        parse_for_start(unit, loop);
    if (!unit->panic && !slri_is(unit, ";"))
        loop->value = slri_truth(unit, slri_parse_expression(unit));
    slri_expect(unit, ";", "after the condition of for");
    if (!unit->panic && !slri_is(unit, ")"))
        loop->step = slri_parse_expression(unit);
    slri_expect(unit, ")", "after the step of for");
    if (!unit->panic)
        parse_loop_body(unit, loop);
    slri_close_scope(unit);
}

// ---- switch --------------------------------------------------------------------------------------------------------

static void check_duplicate(struct slri_unit *unit, const struct slri_stmt *stmt, const struct slri_stmt_case *made)
{
    for (const struct slri_stmt_case *at = stmt->match; at; at = at->next) {
        if (made->is_default && at->is_default)
            SLRI_ERROR(unit, made->where, DUPLICATE_CASE, "a second default, after that in line %u", at->where.line);
        else if (!made->is_default && !at->is_default && made->bits == at->bits)
            SLRI_ERROR(unit, made->where, DUPLICATE_CASE, "this case already exists in line %u", at->where.line);
        else
            continue;
        return;
    }
}

static struct slri_stmt_case *parse_label(struct slri_unit *unit, struct slri_stmt *stmt)
{
    struct slri_stmt_case *made = slri_unit_take(unit, sizeof *made);
    made->where = slri_peek(unit)->where;
    made->is_default = slri_token_is(slri_advance(unit), "default");
    int64_t value = 0;
    bool is_known = made->is_default || slri_parse_constant(unit, "a case", &value);
    made->bits = slri_value_of_int(stmt->value->type->kind, value);
    slri_expect(unit, ":", "after the case");
    if (is_known)
        check_duplicate(unit, stmt, made);
    return made;
}

#define CASES_LIMIT 1024 // each is compared with those before it

static void parse_cases(struct slri_unit *unit, struct slri_stmt *stmt)
{
    struct slri_stmt_case **next = &stmt->match;
    struct slri_stmt **last = NULL;
    uint32_t cases = 0;
    while (!slri_is(unit, "}") && slri_peek(unit)->kind != SLRI_TOKEN_END) {
        bool is_label = slri_is(unit, "case") || slri_is(unit, "default");
        if (is_label && ++cases <= CASES_LIMIT) {
            struct slri_stmt_case *made = parse_label(unit, stmt);
            *next = made;
            next = &made->next;
            last = &made->body;
        } else if (is_label || !last) {
            SLRI_ERROR(unit, slri_peek(unit)->where, BAD_CASE,
                       is_label ? "more than %d cases" : "a statement before the first of at most %d cases",
                       CASES_LIMIT);
            unit->panic = true;
        } else {
            parse_statement(unit, &last);
        }
        if (unit->panic)
            slri_recover(unit);
    }
}

static struct slri_expr *parse_selector(struct slri_unit *unit)
{
    struct slri_where where = slri_peek(unit)->where;
    slri_expect(unit, "(", "after switch");
    struct slri_expr *value = slri_rvalue(unit, slri_parse_expression(unit));
    slri_expect(unit, ")", "after the value");
    if (unit->panic || value->op == SLRI_EXPR_ERROR)
        return slri_make_error(unit, where);
    if (!slri_type_is_integer(value->type)) {
        SLRI_ERROR(unit, value->where, WRONG_TYPE, "a switch needs an integer, but %s has the type %s",
                   slri_expr_name(unit, value), slri_unit_spell(unit, value->type));
        return slri_make_error(unit, where);
    }
    return slri_to_kind(unit, value, slri_kind_in_register(value->type->kind));
}

static void parse_switch(struct slri_unit *unit, struct slri_stmt ***last)
{
    struct slri_stmt *stmt = add(unit, last, SLRI_STMT_SWITCH, slri_advance(unit)->where);
    struct slri_stmt *outer = unit->breakable;
    stmt->value = parse_selector(unit);
    if (!slri_expect(unit, "{", "after switch (...)"))
        return;
    unit->breakable = stmt;
    slri_open_scope(unit);
    parse_cases(unit, stmt);
    slri_close_scope(unit);
    unit->breakable = outer;
    slri_expect(unit, "}", "at the end of switch");
}

// ---- jumps ---------------------------------------------------------------------------------------------------------

static void parse_jump(struct slri_unit *unit, struct slri_stmt ***last)
{
    const struct slri_token *token = slri_advance(unit);
    bool is_break = slri_token_is(token, "break");
    struct slri_stmt *target = is_break ? unit->breakable : unit->loop;
    if (!target)
        SLRI_ERROR(unit, token->where, BREAK_OUTSIDE, "'%s' outside a loop%s", token->text,
                   is_break ? " or switch" : "");
    else {
        target->has_break |= is_break;
        add(unit, last, is_break ? SLRI_STMT_BREAK : SLRI_STMT_CONTINUE, token->where);
    }
    slri_expect(unit, ";", is_break ? "after break" : "after continue");
}

static void parse_return(struct slri_unit *unit, struct slri_stmt ***last)
{
    struct slri_stmt *stmt = add(unit, last, SLRI_STMT_RETURN, slri_advance(unit)->where);
    const struct slri_type *result = unit->function->result;
    bool is_void = result->kind == SLRI_VOID;
    if (!slri_is(unit, ";")) {
        struct slri_expr *value = slri_parse_expression(unit);
        if (is_void && value->op != SLRI_EXPR_ERROR)
            SLRI_ERROR(unit, value->where, RETURN_TYPE, "'%s' is void and returns a value", unit->function->name);
        else if (!is_void)
            stmt->value =
                slri_convert(unit, value, result, slri_unit_format(unit, "the result of '%s'", unit->function->name));
    } else if (!is_void) {
        SLRI_ERROR(unit, stmt->where, RETURN_TYPE, "'%s' returns %s, but this return has no value",
                   unit->function->name, slri_unit_spell(unit, result));
    }
    slri_expect(unit, ";", "after return");
}

// ---- all -----------------------------------------------------------------------------------------------------------

static void parse_simple(struct slri_unit *unit, struct slri_stmt ***last)
{
    const struct slri_token *token = slri_peek(unit);
    bool labels = token->kind == SLRI_TOKEN_NAME && slri_token_is(slri_peek_at(unit, 1), ":") && slri_is_name(unit);
    if (labels && slri_token_is(slri_peek_at(unit, 2), ":")) {
        SLRI_ERROR(unit, slri_peek_at(unit, 1)->where, CPLUSPLUS, "a namespace");
        SLRI_ADVISE(unit, slri_token_is(token, "std") ? slri_advise_std(unit, slri_peek_at(unit, 3)->text) : NULL);
        unit->panic = true;
        return;
    }
    if (labels) {
        SLRI_ERROR(unit, token->where, GOTO, "a label");
        unit->panic = true;
        return;
    }
    bool names_unknown_type = slri_is_name(unit) && slri_peek_at(unit, 1)->kind == SLRI_TOKEN_NAME &&
                              !slri_lookup(unit, token->text, SLRI_SPACE_NAMES);
    if (names_unknown_type && !slri_report_foreign(unit)) {
        SLRI_ERROR(unit, token->where, UNKNOWN_NAME, "'%s' is not the name of a type", token->text);
        SLRI_ADVISE(unit, slri_advise_type(unit, token->text));
        unit->panic = true;
        return;
    }
    struct slri_stmt *stmt = add(unit, last, SLRI_STMT_EXPR, token->where);
    stmt->value = slri_parse_expression(unit);
    slri_expect(unit, ";", "after the expression");
}

static void parse_static_assert(struct slri_unit *unit)
{
    struct slri_where where = slri_advance(unit)->where;
    int64_t value = 1;
    slri_expect(unit, "(", "after _Static_assert");
    bool is_known = !unit->panic && slri_parse_constant(unit, "what is asserted", &value);
    const struct slri_token *text = NULL;
    if (!unit->panic && slri_accept(unit, ",") && slri_peek(unit)->kind == SLRI_TOKEN_STRING)
        text = slri_advance(unit);
    slri_expect(unit, ")", "after the assertion");
    slri_expect(unit, ";", "after the assertion");
    if (is_known && value == 0)
        SLRI_ERROR(unit, where, ERROR_DIRECTIVE, "assertion failed: %s", text ? text->text : "_Static_assert");
}

bool slri_parse_assertion(struct slri_unit *unit)
{
    if (!slri_is(unit, "_Static_assert") && !slri_is(unit, "static_assert"))
        return false;
    parse_static_assert(unit);
    return true;
}

static void parse_some_statement(struct slri_unit *unit, struct slri_stmt ***last)
{
    static const struct {
        const char *word;
        void (*parse)(struct slri_unit *, struct slri_stmt ***);
    } words[] = {{"if", parse_if},         {"for", parse_for},    {"while", parse_while},   {"do", parse_do},
                 {"switch", parse_switch}, {"break", parse_jump}, {"continue", parse_jump}, {"return", parse_return}};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (slri_is(unit, words[i].word)) {
            words[i].parse(unit, last);
            return;
        }
    if (slri_is(unit, "{")) {
        struct slri_stmt *stmt = add(unit, last, SLRI_STMT_BLOCK, slri_peek(unit)->where);
        stmt->body = slri_parse_block(unit);
    } else if (slri_is(unit, "case") || slri_is(unit, "default")) {
        SLRI_ERROR(unit, slri_peek(unit)->where, BAD_CASE, "'%s' is not directly inside a switch",
                   slri_peek(unit)->text);
        unit->panic = true;
    } else if (slri_starts_type(unit)) {
        slri_parse_local(unit, last);
    } else if (!slri_parse_assertion(unit) && !slri_report_foreign(unit) && !slri_accept(unit, ";")) {
        parse_simple(unit, last);
    }
}

static void parse_statement(struct slri_unit *unit, struct slri_stmt ***last)
{
    if (slri_enter(unit))
        parse_some_statement(unit, last);
    slri_leave(unit);
}

struct slri_stmt *slri_parse_block(struct slri_unit *unit)
{
    struct slri_stmt *first = NULL, **last = &first;
    slri_expect(unit, "{", "to begin the block");
    slri_open_scope(unit);
    while (!slri_is(unit, "}") && slri_peek(unit)->kind != SLRI_TOKEN_END) {
        if (!unit->panic)
            parse_statement(unit, &last);
        if (unit->panic)
            slri_recover(unit);
    }
    slri_close_scope(unit);
    slri_expect(unit, "}", "at the end of the block");
    return first;
}

// ---- does control reach the end? -----------------------------------------------------------------------------------

static bool switch_falls_through(const struct slri_stmt *stmt)
{
    bool has_default = false, last_falls = true;
    for (const struct slri_stmt_case *at = stmt->match; at; at = at->next) {
        has_default |= at->is_default;
        last_falls = slri_falls_through(at->body);
    }
    return !has_default || stmt->has_break || last_falls;
}

bool slri_falls_through(const struct slri_stmt *list)
{
    for (const struct slri_stmt *stmt = list; stmt; stmt = stmt->next) {
        bool endless = !stmt->value || (stmt->value->op == SLRI_EXPR_CONST && stmt->value->bits);
        bool leaves =
            stmt->kind == SLRI_STMT_RETURN || stmt->kind == SLRI_STMT_BREAK || stmt->kind == SLRI_STMT_CONTINUE ||
            (stmt->kind == SLRI_STMT_BLOCK && !slri_falls_through(stmt->body)) ||
            (stmt->kind == SLRI_STMT_IF && !slri_falls_through(stmt->body) && !slri_falls_through(stmt->other)) ||
            (stmt->kind == SLRI_STMT_LOOP && endless && !stmt->has_break) ||
            (stmt->kind == SLRI_STMT_SWITCH && !switch_falls_through(stmt));
        if (leaves)
            return false;
    }
    return true;
}
