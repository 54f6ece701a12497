// SPDX-License-Identifier: Apache-2.0
#include "lang/host/host_value.h"

#include <math.h>
#include <string.h>

typedef struct slri_host_number number;

static const number unknown = {0};

uint32_t slri_host_close(const struct slri_host_reader *r, uint32_t open)
{
    int depth = 0;
    for (uint32_t at = open; at + 1 < r->unit->front->tokens; at++) {
        depth += slri_host_step(r, at);
        if (depth <= 0)
            return at;
    }
    return r->unit->front->tokens - 1;
}

uint32_t slri_host_argument_end(const struct slri_host_reader *r, uint32_t from, uint32_t to)
{
    while (from < to && !slri_host_is(r, from, ","))
        from = slri_host_step(r, from) > 0 ? slri_host_close(r, from) + 1 : from + 1;
    return from < to ? from : to;
}

// ---- operators -----------------------------------------------------------------------------------------------------

static const struct operation {
    const char *text;
    int binds;
} operations[] = {{"||", 1}, {"&&", 2}, {"|", 3},  {"^", 4},  {"&", 5}, {"==", 6}, {"!=", 6}, {"<", 7},  {">", 7},
                  {"<=", 7}, {">=", 7}, {"<<", 8}, {">>", 8}, {"+", 9}, {"-", 9},  {"*", 10}, {"/", 10}, {"%", 10}};

static number combine_reals(const char *op, double a, double b)
{
    switch (*op) {
    case '+':
        return slri_host_real(a + b);
    case '-':
        return slri_host_real(a - b);
    case '*':
        return slri_host_real(a * b);
    case '/':
        return b != 0 ? slri_host_real(a / b) : unknown;
    case '<':
        return slri_host_whole(op[1] ? a <= b : a < b);
    case '>':
        return slri_host_whole(op[1] ? a >= b : a > b);
    default:
        return unknown;
    }
}

static number combine_wholes(const char *op, int64_t a, int64_t b)
{
    int64_t value = 0;
    bool divides = *op == '/' || *op == '%', shifts = (*op == '<' || *op == '>') && op[1] == *op;
    if ((divides && (b == 0 || b == -1)) || (shifts && (a < 0 || b < 0 || b > 62 || a > INT64_MAX >> b)))
        return unknown;
    if (shifts)
        return slri_host_whole(*op == '<' ? a << b : a >> b);
    switch (*op) {
    case '+':
        return __builtin_add_overflow(a, b, &value) ? unknown : slri_host_whole(value);
    case '-':
        return __builtin_sub_overflow(a, b, &value) ? unknown : slri_host_whole(value);
    case '*':
        return __builtin_mul_overflow(a, b, &value) ? unknown : slri_host_whole(value);
    case '/':
        return slri_host_whole(a / b);
    case '%':
        return slri_host_whole(a % b);
    case '<':
        return slri_host_whole(op[1] ? a <= b : a < b);
    case '>':
        return slri_host_whole(op[1] ? a >= b : a > b);
    case '=':
        return slri_host_whole(a == b);
    case '!':
        return slri_host_whole(a != b);
    case '&':
        return slri_host_whole(op[1] ? a && b : a & b);
    case '|':
        return slri_host_whole(op[1] ? a || b : a | b);
    default:
        return slri_host_whole(a ^ b);
    }
}

static number combine(const char *op, number a, number b)
{
    if (!a.is_known || !b.is_known)
        return unknown;
    return a.is_real || b.is_real ? combine_reals(op, a.real, b.real) : combine_wholes(op, a.whole, b.whole);
}

// ---- types ---------------------------------------------------------------------------------------------------------

// The type that stands there, and the token behind it; NULL: none that is known. Nothing is reported.
static const struct slri_type *read_type(struct slri_host_reader *r, uint32_t at, uint32_t *behind)
{
    struct slri_unit *unit = r->unit;
    uint32_t before = unit->at, errors = slri_report_errors(unit->front);
    bool was_trying = unit->is_trying;
    unit->at = at;
    unit->is_trying = true;
    bool defines = slri_host_is(r, at + 1, "{") || slri_host_is(r, at + 2, "{");
    const struct slri_type *type = slri_starts_type(unit) && !defines ? slri_parse_type_name(unit) : NULL;
    if (slri_report_errors(unit->front) != errors)
        type = NULL;
    slri_report_drop(unit->front, errors);
    *behind = unit->at;
    unit->at = before;
    unit->panic = false;
    unit->is_trying = was_trying;
    return type;
}

static number cast_to(const struct slri_type *type, number value)
{
    if (!value.is_known || !slri_type_is_scalar(type))
        return unknown;
    return slri_kind_is_float(type->kind) ? slri_host_real(value.real) : slri_host_whole(value.whole);
}

// ---- expressions ---------------------------------------------------------------------------------------------------

struct cursor {
    struct slri_host_reader *r;
    uint32_t at, to;
};

static number expression(struct cursor *c, int binds);

static number call_known(const char *name, const number *given, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        if (!given[i].is_known)
            return unknown;
    bool is_max = strcmp(name, "max") == 0 || strcmp(name, "fmax") == 0;
    if (count == 2 && (is_max || strcmp(name, "min") == 0 || strcmp(name, "fmin") == 0))
        return (given[0].real > given[1].real) == is_max ? given[0] : given[1];
    if (count != 1)
        return unknown;
    if (strcmp(name, "ceil") == 0 || strcmp(name, "ceilf") == 0)
        return slri_host_real(ceil(given[0].real));
    if (strcmp(name, "floor") == 0 || strcmp(name, "floorf") == 0)
        return slri_host_real(floor(given[0].real));
    if (strcmp(name, "sqrt") == 0 || strcmp(name, "sqrtf") == 0)
        return slri_host_real(sqrt(given[0].real));
    return unknown;
}

static number call(struct cursor *c, const char *name)
{
    number given[3];
    uint32_t count = 0, close = slri_host_close(c->r, c->at);
    for (c->at++; c->at < close; c->at++) {
        uint32_t end = slri_host_argument_end(c->r, c->at, close);
        if (count < 3)
            given[count] = slri_host_value(c->r, c->at, end);
        count++;
        c->at = end;
        if (end == close)
            break;
    }
    c->at = close + 1;
    if (count > 3)
        return unknown;
    number value = call_known(name, given, count);
    return value.is_known ? value : slri_host_call(c->r, name, given, count);
}

static number size_of(struct cursor *c)
{
    uint32_t behind, open = c->at + 1;
    if (!slri_host_is(c->r, open, "("))
        return unknown;
    c->at = slri_host_close(c->r, open) + 1;
    const struct slri_type *type = read_type(c->r, open + 1, &behind);
    return type && behind == c->at - 1 && type->bytes > 0 ? slri_host_whole((int64_t)type->bytes) : unknown;
}

// (float)n, float(n), static_cast<float>(n).
static bool takes_cast(struct cursor *c, number *out)
{
    uint32_t behind, at = c->at;
    bool is_word = slri_host_is(c->r, at, "static_cast") && slri_host_is(c->r, at + 1, "<");
    bool is_bracket = slri_host_is(c->r, at, "(");
    const struct slri_type *type = read_type(c->r, at + (is_word ? 2 : is_bracket), &behind);
    if (!type || !slri_host_is(c->r, behind, is_word ? ">" : is_bracket ? ")" : "("))
        return false;
    c->at = is_bracket ? behind + 1 : is_word ? behind + 1 : behind;
    *out = cast_to(type, expression(c, 11));
    return true;
}

static number member(struct cursor *c)
{
    uint32_t dims[3], name = c->at;
    const char *which = slri_host_token(c->r, c->at + 2)->text;
    c->at += 3;
    if (*which < 'x' || *which > 'z' || which[1] || !slri_host_dims(c->r, name, name + 1, dims))
        return unknown;
    return slri_host_whole(dims[*which - 'x']);
}

static number primary(struct cursor *c)
{
    struct slri_host_reader *r = c->r;
    const struct slri_token *t = slri_host_token(r, c->at);
    number value = unknown;
    if (c->at >= c->to)
        return unknown;
    if (t->kind == SLRI_TOKEN_INTEGER || t->kind == SLRI_TOKEN_CHAR) {
        c->at++;
        return t->value.u64 <= INT64_MAX ? slri_host_whole((int64_t)t->value.u64) : unknown;
    }
    if (t->kind == SLRI_TOKEN_FLOAT) {
        c->at++;
        return slri_host_real(t->value.f64);
    }
    if (slri_host_is(r, c->at, "sizeof"))
        return size_of(c);
    if (takes_cast(c, &value))
        return value;
    if (slri_host_is(r, c->at, "(")) {
        uint32_t close = slri_host_close(r, c->at);
        value = slri_host_value(r, c->at + 1, close);
        c->at = close + 1;
        return value;
    }
    if (t->kind != SLRI_TOKEN_NAME)
        return unknown;
    if (slri_host_is(r, c->at + 1, "::") && slri_host_is(r, c->at, "std")) {
        c->at += 2;
        return primary(c);
    }
    if (slri_host_is(r, c->at + 1, "(")) {
        c->at++;
        return call(c, t->text);
    }
    if (slri_host_is(r, c->at + 1, "."))
        return member(c);
    return slri_host_name(r, c->at++);
}

static number unary(struct cursor *c)
{
    const char *op = slri_host_token(c->r, c->at)->text;
    bool is_sign = slri_host_is(c->r, c->at, "-") || slri_host_is(c->r, c->at, "+") || slri_host_is(c->r, c->at, "!") ||
                   slri_host_is(c->r, c->at, "~");
    if (!is_sign)
        return primary(c);
    c->at++;
    number value = unary(c);
    if (!value.is_known || *op == '+')
        return value;
    if (*op == '-')
        return value.is_real ? slri_host_real(-value.real) : slri_host_whole(-value.whole);
    return slri_host_whole(*op == '!' ? !value.whole : ~value.whole);
}

static const struct operation *operation_at(const struct cursor *c)
{
    for (size_t i = 0; i < sizeof operations / sizeof *operations && c->at < c->to; i++)
        if (slri_host_is(c->r, c->at, operations[i].text))
            return &operations[i];
    return NULL;
}

static number expression(struct cursor *c, int binds)
{
    number left = unary(c);
    for (const struct operation *op; (op = operation_at(c)) != NULL && op->binds >= binds;) {
        c->at++;
        left = combine(op->text, left, expression(c, op->binds + 1));
    }
    if (binds > 0 || !slri_host_is(c->r, c->at, "?") || c->at >= c->to)
        return left;
    c->at++;
    number yes = expression(c, 0);
    if (!slri_host_is(c->r, c->at, ":"))
        return unknown;
    c->at++;
    number no = expression(c, 0);
    if (!left.is_known) // argc > 1 ? atoi(argv[1]) : 1024
        return yes.is_known && no.is_known ? unknown : yes.is_known ? yes : no;
    return left.whole ? yes : no;
}

struct slri_host_number slri_host_value(struct slri_host_reader *r, uint32_t from, uint32_t to)
{
    struct cursor c = {r, from, to};
    if (from >= to || r->depth >= SLRI_HOST_DEPTH || !slri_host_may_look(r))
        return unknown;
    r->depth++;
    number value = expression(&c, 0);
    r->depth--;
    return c.at == to ? value : unknown; // what is left over was not understood
}
