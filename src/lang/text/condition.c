// SPDX-License-Identifier: Apache-2.0
// The condition of #if and #elif: an integer constant expression in 64 bits, signed or unsigned.
#include "lang/text/literal.h"
#include "lang/text/preprocess.h"

#include <string.h>

#define DEPTH_LIMIT 200

struct value {
    uint64_t bits;
    bool is_unsigned;
};

struct parser {
    struct slri_pp *pp;
    struct slri_lexeme *at; // NULL: the line is at its end
    struct slri_where where;
    unsigned depth;
    bool has_failed;
};

static const struct value zero = {0, false};

static void fail(struct parser *parser, const char *message)
{
    if (!parser->has_failed)
        slri_pp_error(parser->pp, parser->at ? parser->at->where : parser->where, SLRI_K_BAD_CONDITION, "%s", message);
    parser->has_failed = true;
    parser->at = NULL; // everything above sees the end of the line and returns
}

static bool is_condition_punct(const struct slri_lexeme *lexeme, const char *text)
{
    return lexeme && lexeme->kind == SLRI_LEXEME_PUNCT && strcmp(lexeme->text, text) == 0;
}

static bool accept(struct parser *parser, const char *text)
{
    if (!is_condition_punct(parser->at, text))
        return false;
    parser->at = parser->at->next;
    return true;
}

// ---- operators -----------------------------------------------------------------------------------------------------

enum operation { OR_ELSE, AND_ALSO, OR, XOR, AND, EQ, NE, LT, GT, LE, GE, SHL, SHR, ADD, SUB, MUL, DIV, REM };

static const struct {
    const char *text;
    int precedence;
    enum operation operation;
} operators[] = {
    {"||", 1, OR_ELSE}, {"&&", 2, AND_ALSO}, {"|", 3, OR},  {"^", 4, XOR},  {"&", 5, AND},  {"==", 6, EQ},
    {"!=", 6, NE},      {"<", 7, LT},        {">", 7, GT},  {"<=", 7, LE},  {">=", 7, GE},  {"<<", 8, SHL},
    {">>", 8, SHR},     {"+", 9, ADD},       {"-", 9, SUB}, {"*", 10, MUL}, {"/", 10, DIV}, {"%", 10, REM},
};

static struct value truth(bool is_true)
{
    return (struct value){is_true, false};
}

static int compare_values(struct value a, struct value b, bool is_unsigned)
{
    if (is_unsigned)
        return (a.bits > b.bits) - (a.bits < b.bits);
    return ((int64_t)a.bits > (int64_t)b.bits) - ((int64_t)a.bits < (int64_t)b.bits);
}

static uint64_t shift_right(struct value a, unsigned count)
{
    bool is_negative = !a.is_unsigned && (int64_t)a.bits < 0;
    return is_negative ? ~(~a.bits >> count) : a.bits >> count;
}

// `b` is not 0. The most negative number by -1 wraps, as it does in a kernel.
static uint64_t divide(struct value a, struct value b, bool is_unsigned, bool is_remainder)
{
    if (is_unsigned)
        return is_remainder ? a.bits % b.bits : a.bits / b.bits;
    if (b.bits == UINT64_MAX)
        return is_remainder ? 0 : 0 - a.bits;
    int64_t x = (int64_t)a.bits, y = (int64_t)b.bits;
    return (uint64_t)(is_remainder ? x % y : x / y);
}

static struct value apply(enum operation operation, struct value a, struct value b)
{
    bool is_unsigned = a.is_unsigned || b.is_unsigned;
    int order = compare_values(a, b, is_unsigned);
    uint64_t bits = 0;
    switch (operation) {
    case OR_ELSE:
        return truth(a.bits || b.bits);
    case AND_ALSO:
        return truth(a.bits && b.bits);
    case EQ:
        return truth(order == 0);
    case NE:
        return truth(order != 0);
    case LT:
        return truth(order < 0);
    case GT:
        return truth(order > 0);
    case LE:
        return truth(order <= 0);
    case GE:
        return truth(order >= 0);
    case SHL:
        return (struct value){a.bits << (b.bits & 63), a.is_unsigned};
    case SHR:
        return (struct value){shift_right(a, b.bits & 63), a.is_unsigned};
    case OR:
        bits = a.bits | b.bits;
        break;
    case XOR:
        bits = a.bits ^ b.bits;
        break;
    case AND:
        bits = a.bits & b.bits;
        break;
    case ADD:
        bits = a.bits + b.bits;
        break;
    case SUB:
        bits = a.bits - b.bits;
        break;
    case MUL:
        bits = a.bits * b.bits;
        break;
    case DIV:
    case REM:
        bits = divide(a, b, is_unsigned, operation == REM);
        break;
    }
    return (struct value){bits, is_unsigned};
}

// ---- grammar -------------------------------------------------------------------------------------------------------

// `is_live`: the value counts; in what && || and ?: leave out, a division by zero is no error.
static struct value conditional(struct parser *parser, bool is_live);

static struct value literal(struct parser *parser)
{
    struct slri_lexeme *lexeme = parser->at;
    struct slri_token token = {0};
    struct slri_literal_error error = lexeme->kind == SLRI_LEXEME_NUMBER
                                          ? slri_number(lexeme->text, &token)
                                          : slri_character(lexeme->text, lexeme->length, &token);
    if (error.code || token.kind == SLRI_TOKEN_FLOAT) {
        fail(parser, error.code ? error.message : "a floating-point number in a condition");
        return zero;
    }
    parser->at = lexeme->next;
    // Hexadecimal and its like above the signed range are unsigned without a suffix.
    bool is_above = token.kind == SLRI_TOKEN_INTEGER && token.value.u64 > INT64_MAX;
    return (struct value){token.value.u64, token.is_unsigned || is_above};
}

static struct value primary(struct parser *parser, bool is_live)
{
    if (accept(parser, "(")) {
        struct value value = conditional(parser, is_live);
        if (!accept(parser, ")"))
            fail(parser, "')' is missing");
        return value;
    }
    if (parser->at && (parser->at->kind == SLRI_LEXEME_NUMBER || parser->at->kind == SLRI_LEXEME_CHAR))
        return literal(parser);
    if (parser->at && parser->at->kind == SLRI_LEXEME_NAME) { // one that is no macro counts as 0
        parser->at = parser->at->next;
        return zero;
    }
    fail(parser, parser->at ? "no value starts like this" : "the condition ends where a value is expected");
    return zero;
}

static struct value unary(struct parser *parser, bool is_live)
{
    if (++parser->depth > DEPTH_LIMIT)
        fail(parser, "nested too deeply");
    struct value value;
    if (accept(parser, "-")) {
        value = unary(parser, is_live);
        value.bits = 0 - value.bits;
    } else if (accept(parser, "~")) {
        value = unary(parser, is_live);
        value.bits = ~value.bits;
    } else if (accept(parser, "!")) {
        value = truth(!unary(parser, is_live).bits);
    } else if (accept(parser, "+")) {
        value = unary(parser, is_live);
    } else {
        value = primary(parser, is_live);
    }
    parser->depth--;
    return value;
}

static int find_operator(const struct slri_lexeme *lexeme, int lowest)
{
    int count = (int)(sizeof operators / sizeof operators[0]);
    for (int i = 0; i < count; i++)
        if (operators[i].precedence >= lowest && is_condition_punct(lexeme, operators[i].text))
            return i;
    return -1;
}

static struct value binary(struct parser *parser, int lowest, bool is_live)
{
    struct value left = unary(parser, is_live);
    for (int i; (i = find_operator(parser->at, lowest)) >= 0;) {
        enum operation operation = operators[i].operation;
        struct slri_lexeme *sign = parser->at;
        parser->at = sign->next;
        bool is_decided = (operation == OR_ELSE && left.bits) || (operation == AND_ALSO && !left.bits);
        struct value right = binary(parser, operators[i].precedence + 1, is_live && !is_decided);
        bool is_division = operation == DIV || operation == REM;
        if (is_division && !right.bits) {
            if (is_live && !parser->has_failed) {
                parser->at = sign;
                fail(parser, "division by zero");
            }
            return zero;
        }
        left = apply(operation, left, right);
    }
    return left;
}

static struct value conditional(struct parser *parser, bool is_live)
{
    if (++parser->depth > DEPTH_LIMIT)
        fail(parser, "nested too deeply");
    struct value value = binary(parser, 1, is_live);
    if (accept(parser, "?")) {
        struct value yes = conditional(parser, is_live && value.bits);
        if (!accept(parser, ":"))
            fail(parser, "':' is missing");
        struct value no = conditional(parser, is_live && !value.bits);
        bool is_unsigned = yes.is_unsigned || no.is_unsigned;
        value = (struct value){value.bits ? yes.bits : no.bits, is_unsigned};
    }
    parser->depth--;
    return value;
}

// ---- defined -------------------------------------------------------------------------------------------------------

// `at` is "defined". The name that is asked for, *rest behind it all; or NULL.
static struct slri_lexeme *defined_name(struct slri_lexeme *at, struct slri_lexeme **rest)
{
    struct slri_lexeme *name = at->next;
    bool has_parenthesis = is_condition_punct(name, "(");
    if (has_parenthesis)
        name = name->next;
    if (!name || name->kind != SLRI_LEXEME_NAME)
        return NULL;
    *rest = name->next;
    if (has_parenthesis && !is_condition_punct(*rest, ")"))
        return NULL;
    *rest = has_parenthesis ? (*rest)->next : *rest;
    return name;
}

// Before macros are expanded, because the name is not to be.
static bool replace_defined(struct slri_pp *pp, struct slri_lexeme **line)
{
    for (struct slri_lexeme **at = line; *at; at = &(*at)->next) {
        if (!slri_lexeme_is(*at, SLRI_LEXEME_NAME, pp->word.defined))
            continue;
        struct slri_lexeme *rest, *name = defined_name(*at, &rest);
        if (!name) {
            slri_pp_error(pp, (*at)->where, SLRI_K_BAD_CONDITION, "'defined' without a name");
            return false;
        }
        bool is_defined = slri_macro_find(pp, name->text) || slri_macro_is_builtin(pp, name->text);
        struct slri_lexeme *number = slri_pp_copy(pp, *at, (*at)->where);
        number->kind = SLRI_LEXEME_NUMBER;
        number->text = slri_intern(pp, is_defined ? "1" : "0", 1);
        number->length = 1;
        number->next = rest;
        *at = number;
    }
    return true;
}

bool slri_condition_value(struct slri_pp *pp, struct slri_lexeme *line, struct slri_where where, int64_t *out)
{
    if (!replace_defined(pp, &line))
        return false;
    struct parser parser = {.pp = pp, .at = slri_expand_all(pp, line, 0), .where = where};
    struct value value = conditional(&parser, true);
    if (parser.at)
        fail(&parser, "the condition should end here");
    *out = (int64_t)value.bits;
    return !parser.has_failed;
}

bool slri_condition(struct slri_pp *pp, struct slri_lexeme *line, struct slri_where where)
{
    int64_t value;
    return slri_condition_value(pp, line, where, &value) && value != 0;
}
