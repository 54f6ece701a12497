// SPDX-License-Identifier: Apache-2.0
// What names of host code stand for: variables, parameters as callers give them, dim3, allocated memory.
#include "lang/host/host_value.h"

#include <string.h>

typedef struct slri_host_number number;

static const number unknown = {0};

// ---- names ---------------------------------------------------------------------------------------------------------

static bool is_member(const struct slri_host_reader *r, uint32_t at)
{
    return at > 0 && (slri_host_is(r, at - 1, ".") || slri_host_is(r, at - 1, "->") || slri_host_is(r, at - 1, "::"));
}

// Whether the statement that the token stands in begins so: "dim3 block(16), grid(n);".
static bool statement_begins(struct slri_host_reader *r, uint32_t at, const char *word)
{
    while (at > 0 && !slri_host_is(r, at - 1, ";") && !slri_host_is(r, at - 1, "{") && !slri_host_is(r, at - 1, "}") &&
           slri_host_may_look(r))
        at--;
    return slri_host_is(r, at, word) ||
           ((slri_host_is(r, at, "const") || slri_host_is(r, at, "static") || slri_host_is(r, at, "for")) &&
            slri_host_is(r, at + 1, word)) ||
           (strcmp(word, "for") != 0 && slri_host_is(r, at, "const") && slri_host_is(r, at + 1, "static") &&
            slri_host_is(r, at + 2, word));
}

// In the ( ) of a `for`, or changed by what is no assignment: then its value is not one.
static bool is_changed(struct slri_host_reader *r, uint32_t at)
{
    static const char *const changes[] = {"+=", "-=", "*=", "/=", "%=", "<<=", ">>=", "|=", "&=", "^=", "++", "--"};
    for (size_t i = 0; i < sizeof changes / sizeof *changes; i++)
        if (slri_host_is(r, at + 1, changes[i]) || (at > 0 && i > 9 && slri_host_is(r, at - 1, changes[i])))
            return true;
    bool is_given =
        at > 1 && slri_host_is(r, at - 1, "&") && (slri_host_is(r, at - 2, ",") || slri_host_is(r, at - 2, "("));
    return is_given || (slri_host_is(r, at + 1, "=") && statement_begins(r, at, "for"));
}

static uint32_t statement_end(const struct slri_host_reader *r, uint32_t from)
{
    uint32_t to = from;
    while (to + 1 < r->unit->front->tokens && !slri_host_is(r, to, ";") && !slri_host_is(r, to, ",") &&
           slri_host_step(r, to) >= 0)
        to = slri_host_step(r, to) > 0 ? slri_host_close(r, to) + 1 : to + 1;
    return to;
}

static bool is_written_down(const struct slri_host_reader *r, uint32_t from, uint32_t to)
{
    for (uint32_t at = from; at < to; at++)
        if (slri_host_token(r, at)->kind == SLRI_TOKEN_NAME || slri_host_token(r, at)->macro)
            return false;
    return true;
}

// A local variable with a literal's value: where a grid is computed from it, it may be made smaller.
static number take_root(struct slri_host_reader *r, uint32_t at, number value)
{
    uint32_t i = 0;
    while (i < r->roots && r->root[i] != at)
        i++;
    if (i == SLRI_HOST_ROOTS)
        return value;
    if (i == r->roots) {
        r->root[r->roots++] = at;
        r->is_size[i] = r->is_grid;
    }
    if (r->halvings == 0 || !r->is_size[i] || value.is_real || value.whole < 2)
        return value;
    int64_t less = value.whole >> r->halvings;
    return slri_host_whole(less < 1 ? 1 : less);
}

static number value_of_assignment(struct slri_host_reader *r, uint32_t at)
{
    uint32_t from = at + 2, to = statement_end(r, from);
    number value = slri_host_value(r, from, to);
    bool is_local = r->body[at] != 0;
    return value.is_known && is_local && is_written_down(r, from, to) ? take_root(r, at, value) : value;
}

// The parameters of the function whose { is at `body`: their (; 0: it has none.
static uint32_t parameters_of(const struct slri_host_reader *r, uint32_t body)
{
    int depth = 0;
    uint32_t at = body;
    while (at > 0 && !slri_host_is(r, at - 1, ")"))
        if (--at + 8 < body)
            return 0;
    for (at--; at > 0; at--) {
        depth -= slri_host_step(r, at);
        if (depth <= 0)
            return at;
    }
    return 0;
}

// Which parameter of the function has that name; UINT32_MAX: none.
static uint32_t parameter_number(const struct slri_host_reader *r, uint32_t open, const char *name)
{
    uint32_t close = slri_host_close(r, open), number = 0;
    for (uint32_t at = open + 1; at < close; number++) {
        uint32_t end = slri_host_argument_end(r, at, close);
        for (uint32_t i = at; i < end && !slri_host_is(r, i, "="); i++)
            if (slri_host_token(r, i)->text == name &&
                (i + 1 == end || slri_host_is(r, i + 1, "=") || slri_host_is(r, i + 1, "[")))
                return number;
        at = end + 1;
    }
    return UINT32_MAX;
}

// Argument `number` of the next call of that function at or behind *at, in another function. False: there is none.
static bool next_argument(struct slri_host_reader *r, uint32_t *at, const char *function, uint32_t number,
                          uint32_t *from, uint32_t *to)
{
    for (; *at + 1 < r->unit->front->tokens && slri_host_may_look(r); (*at)++) {
        if (slri_host_token(r, *at)->text != function || !r->body[*at] || !slri_host_is(r, *at + 1, "("))
            continue;
        uint32_t close = slri_host_close(r, *at + 1);
        *from = *at + 2;
        for (uint32_t i = 0; i < number && *from < close; i++)
            *from = slri_host_argument_end(r, *from, close) + 1;
        *to = *from < close ? slri_host_argument_end(r, *from, close) : *from;
        (*at)++;
        if (*from < *to)
            return true;
    }
    return false;
}

static number value_from_callers(struct slri_host_reader *r, uint32_t body, const char *name)
{
    uint32_t open = parameters_of(r, body);
    uint32_t which = open > 0 ? parameter_number(r, open, name) : UINT32_MAX;
    number value = unknown;
    for (uint32_t at = 0, from, to; which != UINT32_MAX && !value.is_known;) {
        if (!next_argument(r, &at, slri_host_token(r, open - 1)->text, which, &from, &to))
            return unknown;
        value = slri_host_value(r, from, to);
    }
    return value;
}

static number value_of_global(struct slri_host_reader *r, const char *name, uint32_t use)
{
    for (uint32_t at = use; at-- > 0 && slri_host_may_look(r);)
        if (slri_host_token(r, at)->text == name && !r->body[at] && slri_host_is(r, at + 1, "=") && !is_member(r, at))
            return slri_host_value(r, at + 2, statement_end(r, at + 2));
    return unknown;
}

// As it was assigned last: what cannot be computed, as atoi(argv[1]), leaves the value that stood there before.
number slri_host_name(struct slri_host_reader *r, uint32_t use)
{
    const char *name = slri_host_token(r, use)->text;
    uint32_t body = r->body[use];
    for (uint32_t at = use; body && at-- > body && slri_host_may_look(r);) {
        if (slri_host_token(r, at)->text != name || is_member(r, at))
            continue;
        if (is_changed(r, at))
            return unknown;
        number value = slri_host_is(r, at + 1, "=") ? value_of_assignment(r, at) : unknown;
        if (value.is_known)
            return value;
    }
    uint32_t open = body ? parameters_of(r, body) : 0;
    if (open > 0 && parameter_number(r, open, name) != UINT32_MAX)
        return value_from_callers(r, body, name);
    return value_of_global(r, name, use);
}

// ---- dim3 ----------------------------------------------------------------------------------------------------------

static bool dims_of_list(struct slri_host_reader *r, uint32_t open, uint32_t out[3])
{
    uint32_t close = slri_host_close(r, open), at = open + 1;
    out[0] = out[1] = out[2] = 1;
    for (int i = 0; i < 3 && at < close; i++) {
        uint32_t end = slri_host_argument_end(r, at, close);
        number value = slri_host_value(r, at, end);
        if (!value.is_known || value.whole < 1 || value.whole > INT32_MAX)
            return false;
        out[i] = (uint32_t)value.whole;
        at = end + 1;
    }
    return true;
}

// grid.y = 4; behind its declaration.
static bool assign_member(struct slri_host_reader *r, uint32_t at, uint32_t out[3])
{
    const char *member = slri_host_token(r, at + 2)->text;
    number value = slri_host_value(r, at + 4, statement_end(r, at + 4));
    if (!value.is_known || value.whole < 1 || value.whole > INT32_MAX || *member < 'x' || *member > 'z' || member[1])
        return false;
    out[*member - 'x'] = (uint32_t)value.whole;
    return true;
}

static bool dims_of_name(struct slri_host_reader *r, uint32_t use, uint32_t out[3])
{
    const char *name = slri_host_token(r, use)->text;
    uint32_t body = r->body[use], at = use, declared = 0;
    for (; at-- > body && declared == 0 && slri_host_may_look(r);)
        if (slri_host_token(r, at)->text == name && !is_member(r, at) && r->body[at] == body &&
            (slri_host_is(r, at + 1, "(") || slri_host_is(r, at + 1, "{") || slri_host_is(r, at + 1, ",") ||
             slri_host_is(r, at + 1, ";") || slri_host_is(r, at + 1, "=")))
            declared = statement_begins(r, at, "dim3") || statement_begins(r, at, "auto") ? at : 0;
    if (declared == 0)
        return false;
    out[0] = out[1] = out[2] = 1;
    if (slri_host_is(r, declared + 1, "=") && !slri_host_dims(r, declared + 2, statement_end(r, declared + 2), out))
        return false;
    bool has_list = slri_host_is(r, declared + 1, "(") || slri_host_is(r, declared + 1, "{");
    if (has_list && !dims_of_list(r, declared + 1, out))
        return false;
    for (at = declared + 1; at < use && slri_host_may_look(r); at++) {
        bool is_it = slri_host_token(r, at)->text == name && !is_member(r, at);
        if (is_it && slri_host_is(r, at + 1, "=") && !slri_host_dims(r, at + 2, statement_end(r, at + 2), out))
            return false;
        bool is_part = is_it && slri_host_is(r, at + 1, ".") && slri_host_is(r, at + 3, "=");
        if (is_part && !assign_member(r, at, out))
            return false;
    }
    return true;
}

static bool is_dims(struct slri_host_reader *r, uint32_t from)
{
    return slri_host_is(r, from, "dim3") && (slri_host_is(r, from + 1, "(") || slri_host_is(r, from + 1, "{"));
}

bool slri_host_dims(struct slri_host_reader *r, uint32_t from, uint32_t to, uint32_t out[3])
{
    if (r->depth >= SLRI_HOST_DEPTH)
        return false;
    r->depth++;
    bool is_name = to == from + 1 && slri_host_token(r, from)->kind == SLRI_TOKEN_NAME;
    bool found = is_dims(r, from) ? dims_of_list(r, from + 1, out) : is_name && dims_of_name(r, from, out);
    r->depth--;
    if (found || is_dims(r, from))
        return found;
    number value = slri_host_value(r, from, to);
    out[0] = value.is_known && value.whole > 0 && value.whole <= INT32_MAX ? (uint32_t)value.whole : 0;
    out[1] = out[2] = out[0] > 0;
    return out[0] > 0;
}

// A function that only returns an expression of its parameters: these are looked up from its callers, of which this
// call is the one that counts.
number slri_host_call(struct slri_host_reader *r, const char *name, const number *given, uint32_t count)
{
    for (uint32_t at = 0; at + 1 < r->unit->front->tokens && slri_host_may_look(r); at++) {
        if (slri_host_token(r, at)->text != name || r->body[at] || !slri_host_is(r, at + 1, "("))
            continue;
        uint32_t open = at + 1, close = slri_host_close(r, open), body = close + 1;
        if (!slri_host_is(r, body, "{") || !slri_host_is(r, body + 1, "return") || count > 3)
            continue;
        uint32_t from = body + 2, to = statement_end(r, from);
        struct slri_token *t = r->unit->front->token, kept[32];
        if (to - from > 32)
            return unknown;
        memcpy(kept, t + from, (to - from) * sizeof *kept);
        for (uint32_t i = from; i < to; i++) { // its parameters become what is given, for this once
            uint32_t which = t[i].kind == SLRI_TOKEN_NAME ? parameter_number(r, open, t[i].text) : UINT32_MAX;
            if (which < count && given[which].is_known) {
                t[i].kind = given[which].is_real ? SLRI_TOKEN_FLOAT : SLRI_TOKEN_INTEGER;
                if (given[which].is_real)
                    t[i].value.f64 = given[which].real;
                else
                    t[i].value.u64 = (uint64_t)given[which].whole;
            }
        }
        number value = slri_host_value(r, from, to);
        memcpy(t + from, kept, (to - from) * sizeof *kept);
        return value;
    }
    return unknown;
}

// ---- pointers ------------------------------------------------------------------------------------------------------

static bool is_allocation(const struct slri_host_reader *r, uint32_t at)
{
    static const char *const names[] = {"cudaMalloc",      "cudaMallocManaged", "cudaMallocHost",
                                        "cudaMallocAsync", "hipMalloc",         "hipMallocManaged"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (slri_host_is(r, at, names[i]) && slri_host_is(r, at + 1, "("))
            return true;
    return false;
}

// Of cudaMalloc((void **)&name, bytes) at `at`; 0: it is of another pointer, or not known.
static uint64_t allocated(struct slri_host_reader *r, uint32_t at, const char *name)
{
    uint32_t close = slri_host_close(r, at + 1), end = slri_host_argument_end(r, at + 2, close);
    uint32_t last = end;
    while (last > at + 2 && slri_host_token(r, last - 1)->kind != SLRI_TOKEN_NAME)
        last--;
    if (last == at + 2 || slri_host_token(r, last - 1)->text != name || end >= close)
        return 0;
    number value = slri_host_value(r, end + 1, slri_host_argument_end(r, end + 1, close));
    return value.is_known && value.whole > 0 ? (uint64_t)value.whole : 0;
}

uint64_t slri_host_bytes(struct slri_host_reader *r, uint32_t from, uint32_t to)
{
    while (from < to && slri_host_is(r, from, "(")) { // a cast
        uint32_t close = slri_host_close(r, from);
        if (close + 1 >= to)
            break;
        from = close + 1;
    }
    if (to != from + 1 || slri_host_token(r, from)->kind != SLRI_TOKEN_NAME || r->depth >= SLRI_HOST_DEPTH)
        return 0;
    const char *name = slri_host_token(r, from)->text;
    uint32_t body = r->body[from], open = body ? parameters_of(r, body) : 0;
    for (uint32_t at = from; at-- > body && slri_host_may_look(r);)
        if (is_allocation(r, at) && r->body[at] == body && allocated(r, at, name))
            return allocated(r, at, name);
    uint32_t which = open > 0 ? parameter_number(r, open, name) : UINT32_MAX;
    uint64_t bytes = 0;
    r->depth++;
    for (uint32_t at = 0, first, end; which != UINT32_MAX && bytes == 0;) {
        if (!next_argument(r, &at, slri_host_token(r, open - 1)->text, which, &first, &end))
            break;
        bytes = slri_host_bytes(r, first, end);
    }
    for (uint32_t at = 0; which == UINT32_MAX && bytes == 0 && at + 1 < r->unit->front->tokens && slri_host_may_look(r);
         at++)
        if (is_allocation(r, at) && r->body[at] != body) // of a pointer of the file
            bytes = allocated(r, at, name);
    r->depth--;
    return bytes;
}
