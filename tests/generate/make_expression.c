// SPDX-License-Identifier: Apache-2.0
// Expressions. Types mix as they come: C's conversions are among what is tested.
#include "maker.h"

#define PUT(m, ...) slri_text_printf((m)->out, __VA_ARGS__)
#define COUNT(array) ((uint32_t)(sizeof(array) / sizeof *(array)))

const type_of maker_types[] = {
    {"int", false, false},         {"unsigned", false, false},
    {"long long", false, false},   {"unsigned long long", false, false},
    {"signed char", false, false}, {"unsigned char", false, false},
    {"short", false, false},       {"unsigned short", false, false},
    {"bool", false, true},         {"float", true, false},
    {"double", true, false},       {"narrow", true, false}, // half or bfloat16
};

uint32_t maker_pick(maker *m, uint32_t most)
{
    return tape_pick(m->t, most);
}

const variable *maker_find(maker *m, shape_of shape, bool is_real)
{
    const variable *fits[MAKER_VARS];
    uint32_t count = 0;
    for (unsigned i = 0; i < m->vars; i++)
        if (m->var[i].shape == shape && (shape == RECORD || maker_types[m->var[i].type].is_real == is_real))
            fits[count++] = &m->var[i];
    return count ? fits[maker_pick(m, count)] : NULL;
}

static void put_index(maker *m, unsigned count, int depth)
{
    PUT(m, "[(");
    make_integer(m, depth - 1);
    PUT(m, ") & %u]", count - 1);
}

void maker_put_record(maker *m, uint32_t which)
{
    if (m->record[which].vector)
        PUT(m, "%s", m->record[which].vector);
    else
        PUT(m, "struct s%u_%u", which, m->number);
}

void maker_put_field(maker *m, const record *r, uint32_t field)
{
    if (r->vector)
        PUT(m, ".%c", "xyzw"[field]);
    else
        PUT(m, ".f%u", field);
}

// A field of that sort of some struct in scope; false where there is none.
static bool put_field(maker *m, bool is_real, int depth)
{
    const variable *v = maker_find(m, RECORD, false);
    if (!v)
        return false;
    const record *r = &m->record[v->type];
    uint32_t first = maker_pick(m, r->fields);
    for (uint32_t i = 0; i < r->fields; i++) {
        uint32_t f = (first + i) % r->fields;
        if (maker_types[r->type[f]].is_real != is_real)
            continue;
        PUT(m, "%s", v->name);
        maker_put_field(m, r, f);
        if (r->count[f])
            put_index(m, r->count[f], depth);
        return true;
    }
    return false;
}

static bool put_element(maker *m, bool is_real, int depth)
{
    const variable *v = maker_find(m, ARRAY, is_real);
    if (!v)
        return false;
    PUT(m, "%s", v->name);
    put_index(m, v->count, depth);
    return true;
}

static bool put_scalar(maker *m, bool is_real)
{
    const variable *v = maker_find(m, SCALAR, is_real);
    if (!v)
        return false;
    PUT(m, "%s", v->name);
    return true;
}

bool make_call(maker *m, bool is_real, int depth)
{
    const variable *array = NULL;
    if (m->functions == 0 || depth <= 0)
        return false;
    uint32_t which = maker_pick(m, m->functions);
    const function *f = &m->function[which];
    const variable *given = NULL;
    for (unsigned i = 0; i < m->vars; i++)
        if (m->var[i].shape == ARRAY && m->var[i].type == 0)
            array = &m->var[i];
        else if (m->var[i].shape == RECORD && m->var[i].type == 0)
            given = &m->var[i];
    if (maker_types[f->result].is_real != is_real || (f->takes_pointer && !array) || (f->takes_record && !given) ||
        f->gives_record)
        return false;
    PUT(m, "f%u_%u(", which, m->number);
    if (f->takes_record)
        PUT(m, "%s, ", given->name);
    if (f->takes_pointer) {
        PUT(m, "&%s", array->name);
        put_index(m, array->count, depth);
    }
    for (uint32_t i = 0; i < f->params; i++) {
        PUT(m, "%s", i || f->takes_pointer ? ", " : "");
        make_any(m, depth - 1);
    }
    PUT(m, ")");
    return true;
}

// ---- integers -------------------------------------------------------------------------------------------------------

static void put_literal(maker *m)
{
    static const char *const edges[] = {"-1",
                                        "255",
                                        "65535",
                                        "2147483647",
                                        "(-2147483647 - 1)",
                                        "4294967295u",
                                        "0x80000000u",
                                        "127",
                                        "128",
                                        "-128",
                                        "32768",
                                        "1000003",
                                        "9223372036854775807ll",
                                        "18446744073709551615ull",
                                        "4294967296ll",
                                        "'a'"};
    if (maker_pick(m, 3) == 2)
        PUT(m, "%s", edges[maker_pick(m, COUNT(edges))]);
    else
        PUT(m, "%u", maker_pick(m, 12));
}

static void put_place(maker *m)
{
    static const char *const kernel[] = {
        "t", "i", "n", "(int)threadIdx.x", "(int)blockIdx.x", "(int)threadIdx.y", "(int)blockDim.x", "gridDim.x"};
    static const char *const handler[] = {
        "in->a", "in->b", "in->u", "in->v", "in->l",    "in->m", "in->x",       "in->y",
        "in->c", "in->k", "in->s", "in->t", "in->flag", "n",     "self->count", "(int)ring_instance()"};
    static const char *const block[] = {"t",     "t",     "n",     "(int)threadIdx.x",    "(int)blockDim.x", "in->a",
                                        "in->u", "in->l", "in->x", "(int)ring_instance()"};
    if (m->in_function)
        put_literal(m);
    else if (m->made->kind == KERNEL)
        PUT(m, "%s", kernel[maker_pick(m, COUNT(kernel))]);
    else if (m->made->kind == BLOCK)
        PUT(m, "%s", block[maker_pick(m, COUNT(block))]);
    else
        PUT(m, "%s", handler[maker_pick(m, COUNT(handler))]);
}

// What is read from memory that was given.
static void put_given(maker *m, int depth)
{
    if (m->in_function) {
        PUT(m, "table_%u", m->number);
        put_index(m, 8, depth);
    } else if (maker_pick(m, 4) == 3) {
        PUT(m, "walk");
        put_index(m, GIVEN_SEEN, depth);
    } else if (m->made->has_block && maker_pick(m, 4) == 3) {
        PUT(m, "own");
        put_index(m, 4, depth);
    } else if (m->made->kind == KERNEL) {
        const char *const names[] = {"a", "l"};
        PUT(m, "%s", names[maker_pick(m, 2)]);
        put_index(m, GIVEN_INTS, depth);
    } else if (maker_pick(m, 4) == 3) {
        PUT(m, "self->keep");
        put_index(m, 4, depth);
    } else {
        PUT(m, "data");
        if (maker_pick(m, 40) == 39) { // may fault
            PUT(m, "[");
            make_integer(m, depth - 1);
            PUT(m, "]");
        } else
            put_index(m, GIVEN_DATA, depth);
    }
}

static void integer_leaf(maker *m, int depth)
{
    const variable *pointer;
    switch (maker_pick(m, 12)) {
    case 0:
        put_literal(m);
        return;
    case 1:
    case 2:
    case 8:
    case 9:
    case 10:
        if (put_scalar(m, false))
            return;
        break;
    case 3:
        if (depth > 0 && put_element(m, false, depth))
            return;
        break;
    case 4:
        if (put_field(m, false, depth > 0 ? depth : 1))
            return;
        break;
    case 5:
        if (depth > 0) {
            put_given(m, depth);
            return;
        }
        break;
    case 6:
        pointer = maker_find(m, POINTER, false);
        if (pointer && depth > 0) {
            PUT(m, "%s", pointer->name);
            put_index(m, pointer->count, depth);
            return;
        }
        break;
    default:
        put_place(m);
        return;
    }
    put_literal(m);
}

static void put_binary(maker *m, const char *operator, int depth)
{
    PUT(m, "(");
    make_integer(m, depth - 1);
    PUT(m, " %s ", operator);
    make_integer(m, depth - 1);
    PUT(m, ")");
}

// A constant count that is too large is an error; a value's is taken modulo the width.
static void put_shift(maker *m, int depth)
{
    const variable *v = maker_find(m, SCALAR, false);
    PUT(m, "(");
    make_integer(m, depth - 1);
    PUT(m, maker_pick(m, 2) ? " >> " : " << ");
    if (v && maker_pick(m, 3) == 2)
        PUT(m, "%s)", v->name);
    else {
        PUT(m, "(");
        make_integer(m, depth - 1);
        PUT(m, " & 31))");
    }
}

static void put_division(maker *m, int depth)
{
    bool may_fault = m->made->kind != KERNEL && maker_pick(m, 20) == 19;
    PUT(m, "(");
    make_integer(m, depth - 1);
    PUT(m, maker_pick(m, 2) ? " / (" : " %% (");
    make_integer(m, depth - 1);
    PUT(m, may_fault ? "))" : " | 1))");
}

static void put_comparison(maker *m, int depth)
{
    static const char *const operators[] = {"<", ">", "<=", ">=", "==", "!="};
    bool real = maker_pick(m, 4) == 3;
    PUT(m, "(");
    real ? make_any(m, depth - 1) : make_integer(m, depth - 1);
    PUT(m, " %s ", operators[maker_pick(m, COUNT(operators))]);
    real ? make_any(m, depth - 1) : make_integer(m, depth - 1);
    PUT(m, ")");
}

static void put_choice(maker *m, int depth, void (*make)(maker *, int))
{
    PUT(m, "(");
    make_integer(m, depth - 1);
    PUT(m, " ? ");
    make(m, depth - 1);
    PUT(m, " : ");
    make(m, depth - 1);
    PUT(m, ")");
}

static void put_cast(maker *m, int depth, uint32_t first, uint32_t count)
{
    PUT(m, "((%s)", maker_types[first + maker_pick(m, count)].name);
    make_any(m, depth - 1);
    PUT(m, ")");
}

static void put_bits(maker *m, int depth)
{
    static const struct {
        const char *name;
        int args;
    } functions[] = {
        {"abs", 1},     {"min", 2},     {"max", 2},         {"__popc", 1},           {"__clz", 1},     {"__ffs", 1},
        {"__brev", 1},  {"__mulhi", 2}, {"__umulhi", 2},    {"__clzll", 1},          {"__popcll", 1},  {"__mul24", 2},
        {"__rhadd", 2}, {"__usad", 3},  {"__byte_perm", 3}, {"__funnelshift_rc", 3}, {"__umul64hi", 2}};
    uint32_t which = maker_pick(m, COUNT(functions));
    PUT(m, which == 0 ? "%s((int)" : "%s(", functions[which].name); // there is no abs of unsigned long long
    make_integer(m, depth - 1);
    for (int i = 1; i < functions[which].args; i++) {
        PUT(m, ", ");
        make_integer(m, depth - 1);
    }
    PUT(m, ")");
}

static void put_integer(maker *m, int depth)
{
    static const char *const plain[] = {"+", "-", "*", "&", "|", "^"};
    static const char *const logic[] = {"&&", "||"};
    static const char *const unary[] = {"- ", "~", "!"};
    if (depth <= 0) {
        integer_leaf(m, 0);
        return;
    }
    switch (maker_pick(m, 16)) {
    case 1:
    case 2:
    case 3:
    case 4:
        put_binary(m, plain[maker_pick(m, COUNT(plain))], depth);
        return;
    case 5:
        put_shift(m, depth);
        return;
    case 6:
        put_division(m, depth);
        return;
    case 7:
        put_comparison(m, depth);
        return;
    case 8:
        put_binary(m, logic[maker_pick(m, 2)], depth);
        return;
    case 9:
        put_choice(m, depth, make_integer);
        return;
    case 10:
        put_cast(m, depth, 0, MAKER_INTEGERS);
        return;
    case 11:
        PUT(m, "(%s", unary[maker_pick(m, 3)]);
        make_integer(m, depth - 1);
        PUT(m, ")");
        return;
    case 12:
        put_bits(m, depth);
        return;
    case 13:
        if (make_call(m, false, depth))
            return;
        break;
    default:
        break;
    }
    integer_leaf(m, depth);
}

void make_integer(maker *m, int depth)
{
    uint32_t first = m->t->at;
    put_integer(m, depth);
    tape_note(m->t, first, false);
}

// ---- reals ----------------------------------------------------------------------------------------------------------

static void real_leaf(maker *m, int depth)
{
    static const char *const literals[] = {"1.0f", "0.5f", "2.0", "-0.75", "1e-3f", "3.25", "1e30f", "100.0f", "0.0f"};
    static const char *const handler[] = {"in->f", "in->g", "in->d", "in->e"};
    switch (maker_pick(m, 9)) {
    case 1:
    case 2:
    case 7:
    case 8:
        if (put_scalar(m, true))
            return;
        break;
    case 3:
        if (depth > 0 && put_element(m, true, depth))
            return;
        break;
    case 4:
        if (put_field(m, true, depth > 0 ? depth : 1))
            return;
        break;
    case 5:
    case 6:
        if (m->in_function)
            break;
        if (m->made->kind != KERNEL && maker_pick(m, 2) == 0) {
            PUT(m, "%s", handler[maker_pick(m, COUNT(handler))]);
            return;
        }
        if (depth > 0) {
            PUT(m, "%s", m->made->kind == KERNEL ? (maker_pick(m, 2) ? "y" : "x") : "weights");
            put_index(m, m->made->kind == KERNEL ? GIVEN_INTS : 16, depth);
            return;
        }
        break;
    default:
        break;
    }
    PUT(m, "%s", literals[maker_pick(m, COUNT(literals))]);
}

static void put_math(maker *m, int depth)
{
    static const struct {
        const char *name;
        int args;
    } functions[] = {{"fabsf", 1},  {"sqrtf", 1},  {"floorf", 1},    {"fminf", 2},    {"fmaxf", 2},   {"truncf", 1},
                     {"rintf", 1},  {"fmaf", 3},   {"sqrt", 1},      {"floor", 1},    {"fmin", 2},    {"fmax", 2},
                     {"roundf", 1}, {"rsqrtf", 1}, {"ceil", 1},      {"expf", 1},     {"sinf", 1},    {"cosf", 1},
                     {"logf", 1},   {"exp", 1},    {"tanhf", 1},     {"powf", 2},     {"fmodf", 2},   {"atan2f", 2},
                     {"log2f", 1},  {"logbf", 1},  {"nextafter", 2}, {"normcdff", 1}, {"lgammaf", 1}, {"tgamma", 1},
                     {"rhypotf", 2}};
    enum { SHORT = 15 }; // whose code is a line or two: compiling the others takes long
    uint32_t which = maker_pick(m, maker_pick(m, 6) == 5 ? COUNT(functions) : SHORT);
    PUT(m, "%s(", functions[which].name);
    for (int i = 0; i < functions[which].args; i++) {
        PUT(m, "%s", i ? ", " : "");
        make_real(m, depth - 1);
    }
    PUT(m, ")");
}

static void put_real(maker *m, int depth)
{
    static const char *const operators[] = {"+", "-", "*", "/"};
    if (depth <= 0) {
        real_leaf(m, 0);
        return;
    }
    switch (maker_pick(m, 10)) {
    case 1:
    case 2:
    case 3:
        PUT(m, "(");
        maker_pick(m, 3) ? make_real(m, depth - 1) : make_any(m, depth - 1);
        PUT(m, " %s ", operators[maker_pick(m, COUNT(operators))]);
        make_real(m, depth - 1);
        PUT(m, ")");
        return;
    case 4:
        put_choice(m, depth, make_real);
        return;
    case 5:
        put_cast(m, depth, MAKER_INTEGERS, MAKER_TYPES - MAKER_INTEGERS);
        return;
    case 6:
        put_math(m, depth);
        return;
    case 7:
        PUT(m, "(- ");
        make_real(m, depth - 1);
        PUT(m, ")");
        return;
    case 8:
        if (make_call(m, true, depth))
            return;
        break;
    default:
        break;
    }
    real_leaf(m, depth);
}

void make_real(maker *m, int depth)
{
    uint32_t first = m->t->at;
    put_real(m, depth);
    tape_note(m->t, first, false);
}

void make_any(maker *m, int depth)
{
    if (maker_pick(m, 3) == 2)
        make_real(m, depth);
    else
        make_integer(m, depth);
}
