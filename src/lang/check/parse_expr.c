// SPDX-License-Identifier: Apache-2.0
// Expressions, by precedence climbing.
#include "lang/check/advice.h"
#include "lang/check/check.h"
#include "lang/check/skip.h"

#include <string.h>

#define COUNT(array) (sizeof(array) / sizeof *(array))
#define ARGUMENTS_LIMIT 127

static struct slri_expr *parse_unary(struct slri_unit *unit);
static struct slri_expr *parse_cast(struct slri_unit *unit);

static struct slri_expr *failed(struct slri_unit *unit)
{
    return slri_make_error(unit, slri_peek(unit)->where);
}

// ---- literals and names --------------------------------------------------------------------------------------------

static enum slri_kind integer_literal_kind(const struct slri_token *token)
{
    uint64_t value = token->value.u64;
    if (!token->is_long && !token->is_unsigned && value <= INT32_MAX)
        return SLRI_I32;
    if (!token->is_long && (token->is_unsigned || !token->is_decimal) && value <= UINT32_MAX)
        return SLRI_U32;
    return token->is_unsigned || value > INT64_MAX ? SLRI_U64 : SLRI_I64;
}

static struct slri_expr *parse_literal(struct slri_unit *unit)
{
    const struct slri_token *token = slri_advance(unit);
    if (token->kind == SLRI_TOKEN_INTEGER)
        return slri_make_const(unit, integer_literal_kind(token), token->value.u64, token->where);
    if (token->kind == SLRI_TOKEN_CHAR)
        return slri_make_const(unit, SLRI_I32, slri_value_of_int(SLRI_I32, (int64_t)token->value.u64), token->where);
    if (token->kind == SLRI_TOKEN_FLOAT) {
        enum slri_kind kind = token->is_float ? SLRI_F32 : SLRI_F64;
        return slri_make_const(unit, kind, slri_value_of_double(kind, token->value.f64), token->where);
    }
    SLRI_ERROR(unit, token->where, UNSUPPORTED_FEATURE,
               "a string can only initialise an array of char: write 'char NAME[] = ...', not a pointer");
    return slri_make_error(unit, token->where);
}

static struct slri_expr *parse_call(struct slri_unit *unit, const struct slri_token *name)
{
    struct slri_expr *arg[ARGUMENTS_LIMIT];
    uint32_t args = 0;
    slri_advance(unit);
    const struct slri_token *text = NULL; // of printf
    uint32_t format = slri_parse_format_number(unit, name);
    bool prints = slri_token_is(name, "printf") || format != UINT32_MAX;
    if (prints && slri_peek(unit)->kind == SLRI_TOKEN_STRING) {
        text = slri_advance(unit);
        slri_accept(unit, ",");
    }
    while (!unit->panic && !slri_is(unit, ")")) {
        if (args == ARGUMENTS_LIMIT) {
            SLRI_ERROR(unit, slri_peek(unit)->where, WRONG_ARGUMENT_COUNT, "more than %d arguments", ARGUMENTS_LIMIT);
            unit->panic = true;
            break;
        }
        arg[args++] = slri_parse_assignment(unit);
        if (unit->panic || !slri_accept(unit, ","))
            break;
    }
    if (!slri_expect(unit, ")", "after the arguments"))
        return failed(unit);
    return text ? slri_make_print(unit, name, text, format, arg, args) : slri_make_call(unit, name, arg, args);
}

// int(x), and static_cast<int>(x) with its like: casts as C++ writes them.
static struct slri_expr *finish_cast(struct slri_unit *unit, const struct slri_type *type, struct slri_where where)
{
    if (!type || !slri_expect(unit, "(", "after the type of a cast"))
        return failed(unit);
    struct slri_expr *value = slri_parse_expression(unit);
    slri_expect(unit, ")", "to close the cast");
    return unit->panic ? failed(unit) : slri_make_cast(unit, type, value, where);
}

static struct slri_expr *parse_functional_cast(struct slri_unit *unit)
{
    struct slri_specifiers made;
    if (!slri_parse_specifiers(unit, &made))
        return failed(unit);
    return finish_cast(unit, made.type, made.where);
}

static bool at_named_cast(const struct slri_unit *unit)
{
    bool is_cast = slri_is(unit, "static_cast") || slri_is(unit, "reinterpret_cast") || slri_is(unit, "const_cast");
    return is_cast && slri_token_is(slri_peek_at(unit, 1), "<");
}

static struct slri_expr *parse_named_cast(struct slri_unit *unit)
{
    struct slri_where where = slri_advance(unit)->where;
    slri_advance(unit);
    const struct slri_type *type = slri_parse_type_name(unit);
    return type && slri_expect(unit, ">", "after the type of a cast") ? finish_cast(unit, type, where) : failed(unit);
}

static struct slri_expr *unknown_name(struct slri_unit *unit, const struct slri_token *name)
{
    SLRI_ERROR(unit, name->where, UNKNOWN_NAME, "'%s' is not declared", name->text);
    SLRI_ADVISE(unit, slri_advise_name(unit, name->text));
    return slri_make_error(unit, name->where);
}

// threadIdx.x and its like; NULL when something else is named.
static struct slri_expr *parse_place(struct slri_unit *unit, const struct slri_token *name)
{
    if (!slri_names_place(name))
        return NULL;
    if (!slri_is(unit, "."))
        return slri_make_whole_place(unit, name);
    if (!slri_expect(unit, ".", slri_unit_format(unit, "after %s", name->text)) || !slri_is_name(unit)) {
        slri_unexpected(unit, "x, y or z");
        return failed(unit);
    }
    return slri_make_place(unit, name, slri_advance(unit));
}

static struct slri_expr *parse_name(struct slri_unit *unit)
{
    const struct slri_token *name = slri_advance(unit);
    struct slri_symbol *symbol = slri_lookup(unit, name->text, SLRI_SPACE_NAMES);
    if (slri_is(unit, "<<<")) {
        SLRI_ERROR(unit, slri_peek(unit)->where, HOST_CODE, "a kernel launch");
        unit->panic = true;
        return failed(unit);
    }
    if (slri_is(unit, ":") && slri_token_is(slri_peek_at(unit, 1), ":")) {
        SLRI_ERROR(unit, slri_peek(unit)->where, CPLUSPLUS, "a namespace");
        SLRI_ADVISE(unit, slri_token_is(name, "std") ? slri_advise_std(unit, slri_peek_at(unit, 2)->text) : NULL);
        unit->panic = true;
        return failed(unit);
    }
    if (symbol && symbol->kind == SLRI_SYMBOL_LEFT_OUT) {
        slri_report_skipped(unit, symbol, name->where);
        unit->panic = true; // what follows may be anything
        return failed(unit);
    }
    if (slri_is(unit, "("))
        return parse_call(unit, name);
    if (symbol && symbol->kind == SLRI_SYMBOL_FUNCTION) {
        SLRI_ERROR(unit, name->where, FUNCTION_POINTER, "the function '%s' used as a value", name->text);
        return slri_make_error(unit, name->where);
    }
    if (symbol && symbol->kind != SLRI_SYMBOL_TYPEDEF)
        return slri_make_symbol(unit, symbol, name->where);
    struct slri_expr *known = symbol ? NULL : slri_make_builtin_constant(unit, name);
    if (!symbol && !known)
        known = parse_place(unit, name);
    return known ? known : unknown_name(unit, name);
}

static struct slri_expr *parse_primary(struct slri_unit *unit)
{
    const struct slri_token *token = slri_peek(unit);
    if (slri_report_foreign(unit))
        return failed(unit);
    if (token->kind >= SLRI_TOKEN_INTEGER && token->kind <= SLRI_TOKEN_STRING)
        return parse_literal(unit);
    if (at_named_cast(unit))
        return parse_named_cast(unit);
    if (slri_starts_type(unit))
        return parse_functional_cast(unit);
    if (slri_is_name(unit))
        return parse_name(unit);
    if (slri_accept(unit, "(")) {
        struct slri_expr *inner = slri_parse_expression(unit);
        slri_expect(unit, ")", "to close the bracket");
        return inner;
    }
    slri_unexpected(unit, "an expression");
    return failed(unit);
}

// ---- postfix and prefix --------------------------------------------------------------------------------------------

static struct slri_expr *parse_member(struct slri_unit *unit, struct slri_expr *expr)
{
    const struct slri_token *token = slri_advance(unit);
    if (!slri_is_name(unit)) {
        slri_unexpected(unit, "the member's name");
        return failed(unit);
    }
    const struct slri_token *name = slri_advance(unit);
    if (slri_token_is(token, "->"))
        expr = slri_make_deref(unit, token->where, expr);
    return slri_make_field(unit, name->where, expr, name);
}

static struct slri_expr *step_by_one(struct slri_unit *unit, const struct slri_token *token, struct slri_expr *expr,
                                     bool post)
{
    struct slri_expr *one = slri_make_const(unit, SLRI_I32, 1, token->where);
    return slri_make_update(unit, slri_token_is(token, "++") ? SLRI_OP_ADD : SLRI_OP_SUB, token, expr, one, post);
}

static struct slri_expr *parse_postfix(struct slri_unit *unit, struct slri_expr *expr)
{
    while (!unit->panic) {
        const struct slri_token *token = slri_peek(unit);
        if (slri_token_is(token, "[")) {
            slri_advance(unit);
            struct slri_expr *index = slri_parse_expression(unit);
            if (slri_expect(unit, "]", "after the index"))
                expr = slri_make_subscript(unit, index->where, expr, index);
        } else if (slri_token_is(token, ".") || slri_token_is(token, "->")) {
            expr = parse_member(unit, expr);
        } else if (slri_token_is(token, "++") || slri_token_is(token, "--")) {
            slri_advance(unit);
            expr = step_by_one(unit, token, expr, true);
        } else if (slri_token_is(token, "(")) {
            SLRI_ERROR(unit, token->where, NOT_A_FUNCTION, "a call of %s", slri_expr_name(unit, expr));
            unit->panic = true;
        } else {
            break;
        }
    }
    return expr;
}

static bool at_type_in_brackets(struct slri_unit *unit)
{
    if (!slri_is(unit, "("))
        return false;
    unit->at++;
    bool is_type = slri_starts_type(unit) && !slri_token_is(slri_peek_at(unit, 1), "("); // (int(x)) is no cast to it
    unit->at--;
    return is_type;
}

static struct slri_expr *parse_literal_or_cast(struct slri_unit *unit)
{
    struct slri_where where = slri_advance(unit)->where;
    const struct slri_type *type = slri_parse_type_name(unit);
    if (!slri_expect(unit, ")", "after the type") || !type)
        return failed(unit);
    if (!slri_is(unit, "{"))
        return slri_make_cast(unit, type, parse_cast(unit), where);
    struct slri_init *init = slri_parse_init(unit, type);
    struct slri_expr *made = slri_make(unit, SLRI_EXPR_LITERAL, init->type, where, NULL, NULL);
    made->init = init;
    made->is_lvalue = true;
    return unit->panic ? failed(unit) : parse_postfix(unit, made);
}

static struct slri_expr *parse_sizeof(struct slri_unit *unit)
{
    struct slri_where where = slri_advance(unit)->where;
    const struct slri_type *type;
    if (at_type_in_brackets(unit)) {
        slri_advance(unit);
        type = slri_parse_type_name(unit);
        slri_expect(unit, ")", "after the type");
    } else {
        struct slri_expr *expr = parse_unary(unit);
        type = expr->op == SLRI_EXPR_ERROR ? NULL : expr->type;
    }
    if (!type || unit->panic)
        return failed(unit);
    if (type->kind == SLRI_VOID || !slri_type_is_complete(type)) {
        SLRI_ERROR(unit, where, INCOMPLETE_TYPE, "the size of %s", slri_unit_spell(unit, type));
        return slri_make_error(unit, where);
    }
    return slri_make_const(unit, SLRI_U64, type->bytes, where);
}

struct within { // where a designator of offsetof has got to
    const struct slri_type *type;
    uint64_t offset;
};

static bool step_to_member(struct slri_unit *unit, struct within *at)
{
    if (!slri_is_name(unit)) {
        slri_unexpected(unit, "a member's name");
        return false;
    }
    const struct slri_field *field = slri_find_field(unit, at->type, slri_advance(unit));
    unit->panic |= !field;
    if (field)
        *at = (struct within){field->type, at->offset + field->offset};
    return field != NULL;
}

static bool step_to_element(struct slri_unit *unit, struct within *at)
{
    struct slri_where where = slri_advance(unit)->where;
    int64_t index = 0;
    bool is_known = slri_parse_constant(unit, "an index in offsetof", &index);
    bool fits = at->type->kind == SLRI_ARRAY && index >= 0 && (uint64_t)index < at->type->count;
    slri_expect(unit, "]", "after the index");
    if (is_known && !fits)
        SLRI_ERROR(unit, where, INDEX_OUTSIDE_EXTENT, "no element %lld in %s", (long long)index,
                   slri_unit_spell(unit, at->type));
    unit->panic |= !is_known || !fits;
    if (is_known && fits)
        *at = (struct within){at->type->of, at->offset + (uint64_t)index * at->type->of->bytes};
    return is_known && fits;
}

// offsetof(type, member.member[3])
static struct slri_expr *parse_offsetof(struct slri_unit *unit)
{
    struct slri_where where = slri_advance(unit)->where;
    slri_expect(unit, "(", "after offsetof");
    struct within at = {unit->panic ? NULL : slri_parse_type_name(unit), 0};
    bool goes_on = slri_expect(unit, ",", "after the type") && step_to_member(unit, &at);
    while (goes_on && (slri_is(unit, ".") || slri_is(unit, "["))) {
        if (slri_accept(unit, "."))
            goes_on = step_to_member(unit, &at);
        else
            goes_on = step_to_element(unit, &at);
    }
    slri_expect(unit, ")", "to close offsetof");
    return unit->panic ? failed(unit) : slri_make_const(unit, SLRI_U64, at.offset, where);
}

static struct slri_expr *parse_prefix(struct slri_unit *unit)
{
    const struct slri_token *token = slri_peek(unit);
    if (slri_token_is(token, "++") || slri_token_is(token, "--")) {
        slri_advance(unit);
        return step_by_one(unit, token, parse_unary(unit), false);
    }
    if (slri_token_is(token, "&") || slri_token_is(token, "*")) {
        slri_advance(unit);
        struct slri_expr *expr = parse_cast(unit);
        if (slri_token_is(token, "&"))
            return slri_make_address(unit, token->where, expr);
        return slri_make_deref(unit, token->where, expr);
    }
    if (slri_token_is(token, "+") || slri_token_is(token, "-") || slri_token_is(token, "~") ||
        slri_token_is(token, "!")) {
        slri_advance(unit);
        return slri_make_unary(unit, token, parse_cast(unit));
    }
    if (slri_token_is(token, "sizeof"))
        return parse_sizeof(unit);
    if (slri_token_is(token, "offsetof") && slri_token_is(slri_peek_at(unit, 1), "("))
        return parse_offsetof(unit);
    struct slri_expr *primary = parse_primary(unit);
    return parse_postfix(unit, primary);
}

static struct slri_expr *parse_unary(struct slri_unit *unit)
{
    struct slri_expr *expr = slri_enter(unit) ? parse_prefix(unit) : failed(unit);
    slri_leave(unit);
    return expr;
}

static struct slri_expr *parse_cast(struct slri_unit *unit)
{
    if (!at_type_in_brackets(unit))
        return parse_unary(unit);
    struct slri_expr *expr = slri_enter(unit) ? parse_literal_or_cast(unit) : failed(unit);
    slri_leave(unit);
    return expr;
}

// ---- binary, choice, assignment ------------------------------------------------------------------------------------

static const struct binary {
    const char *text;
    int level;
    enum slri_op instr;
    enum slri_expr_op logical; // AND or OR, else ERROR
} binaries[] = {
    {"||", 1, SLRI_OP_OR, SLRI_EXPR_OR},     {"&&", 2, SLRI_OP_AND, SLRI_EXPR_AND},
    {"|", 3, SLRI_OP_OR, SLRI_EXPR_ERROR},   {"^", 4, SLRI_OP_XOR, SLRI_EXPR_ERROR},
    {"&", 5, SLRI_OP_AND, SLRI_EXPR_ERROR},  {"==", 6, SLRI_OP_EQ, SLRI_EXPR_ERROR},
    {"!=", 6, SLRI_OP_NE, SLRI_EXPR_ERROR},  {"<", 7, SLRI_OP_LT, SLRI_EXPR_ERROR},
    {"<=", 7, SLRI_OP_LE, SLRI_EXPR_ERROR},  {">", 7, SLRI_OP_GT, SLRI_EXPR_ERROR},
    {">=", 7, SLRI_OP_GE, SLRI_EXPR_ERROR},  {"<<", 8, SLRI_OP_SHL, SLRI_EXPR_ERROR},
    {">>", 8, SLRI_OP_SHR, SLRI_EXPR_ERROR}, {"+", 9, SLRI_OP_ADD, SLRI_EXPR_ERROR},
    {"-", 9, SLRI_OP_SUB, SLRI_EXPR_ERROR},  {"*", 10, SLRI_OP_MUL, SLRI_EXPR_ERROR},
    {"/", 10, SLRI_OP_DIV, SLRI_EXPR_ERROR}, {"%", 10, SLRI_OP_REM, SLRI_EXPR_ERROR},
};

static const struct binary *binary_of(const struct slri_token *token)
{
    for (size_t i = 0; token->kind == SLRI_TOKEN_PUNCT && i < COUNT(binaries); i++)
        if (strcmp(token->text, binaries[i].text) == 0)
            return &binaries[i];
    return NULL;
}

static struct slri_expr *parse_binary(struct slri_unit *unit, int level)
{
    struct slri_expr *left = parse_cast(unit);
    while (!unit->panic) {
        const struct slri_token *token = slri_peek(unit);
        const struct binary *binary = binary_of(token);
        if (!binary || binary->level < level)
            break;
        slri_advance(unit);
        struct slri_expr *right = parse_binary(unit, binary->level + 1);
        if (binary->logical != SLRI_EXPR_ERROR)
            left = slri_make_logical(unit, binary->logical, token->where, left, right);
        else
            left = slri_make_binary(unit, binary->instr, token, left, right);
    }
    return left;
}

static struct slri_expr *parse_conditional(struct slri_unit *unit)
{
    struct slri_expr *test = parse_binary(unit, 1);
    if (unit->panic || !slri_is(unit, "?"))
        return test;
    struct slri_where where = slri_advance(unit)->where;
    struct slri_expr *made = NULL;
    if (slri_enter(unit)) {
        struct slri_expr *yes = slri_parse_expression(unit);
        slri_expect(unit, ":", "after the first choice of '?'");
        struct slri_expr *no = unit->panic ? yes : parse_conditional(unit);
        made = unit->panic ? NULL : slri_make_cond(unit, where, test, yes, no);
    }
    slri_leave(unit);
    return made ? made : failed(unit);
}

static const struct {
    const char *text;
    enum slri_op instr;
} updates[] = {
    {"+=", SLRI_OP_ADD}, {"-=", SLRI_OP_SUB}, {"*=", SLRI_OP_MUL}, {"/=", SLRI_OP_DIV},  {"%=", SLRI_OP_REM},
    {"&=", SLRI_OP_AND}, {"|=", SLRI_OP_OR},  {"^=", SLRI_OP_XOR}, {"<<=", SLRI_OP_SHL}, {">>=", SLRI_OP_SHR},
};

// The tokens of `a += b` name the operator with its =, and its messages read so.
static struct slri_expr *parse_assigned(struct slri_unit *unit, struct slri_expr *left)
{
    const struct slri_token *token = slri_peek(unit);
    if (slri_accept(unit, "=")) {
        struct slri_expr *right = slri_parse_assignment(unit);
        return unit->panic ? failed(unit) : slri_make_assign(unit, token->where, left, right);
    }
    for (size_t i = 0; i < COUNT(updates); i++)
        if (slri_accept(unit, updates[i].text)) {
            struct slri_expr *right = slri_parse_assignment(unit);
            return unit->panic ? failed(unit) : slri_make_update(unit, updates[i].instr, token, left, right, false);
        }
    return left;
}

struct slri_expr *slri_parse_assignment(struct slri_unit *unit)
{
    struct slri_expr *expr = NULL;
    if (slri_enter(unit)) {
        expr = parse_conditional(unit);
        if (!unit->panic)
            expr = parse_assigned(unit, expr);
    }
    slri_leave(unit);
    return expr && !unit->panic ? expr : failed(unit);
}

struct slri_expr *slri_parse_expression(struct slri_unit *unit)
{
    struct slri_expr *expr = slri_parse_assignment(unit);
    while (!unit->panic && slri_is(unit, ",")) {
        struct slri_where where = slri_advance(unit)->where;
        struct slri_expr *right = slri_parse_assignment(unit);
        if (right->type->kind != SLRI_VOID)
            right = slri_rvalue(unit, right);
        if (expr->op == SLRI_EXPR_ERROR || right->op == SLRI_EXPR_ERROR)
            expr = slri_make_error(unit, where);
        else
            expr = slri_make(unit, SLRI_EXPR_COMMA, right->type, where, expr, right);
    }
    return expr;
}

bool slri_parse_constant(struct slri_unit *unit, const char *what, int64_t *out)
{
    struct slri_expr *expr = NULL;
    if (slri_enter(unit))
        expr = parse_conditional(unit);
    slri_leave(unit);
    if (!expr || unit->panic || expr->op == SLRI_EXPR_ERROR)
        return false;
    expr = slri_rvalue(unit, expr);
    if (expr->op != SLRI_EXPR_CONST || !slri_type_is_integer(expr->type)) {
        SLRI_ERROR(unit, expr->where, NOT_CONSTANT, "%s must be a constant integer", what);
        return false;
    }
    *out = slri_value_to_int(expr->type->kind, expr->bits);
    return true;
}
