// SPDX-License-Identifier: Apache-2.0
// Statements. A barrier or a warp function stands only where all threads of a block come: `is_uniform`.
#include "maker.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define PUT(m, ...) slri_text_printf((m)->out, __VA_ARGS__)
#define COUNT(array) ((uint32_t)(sizeof(array) / sizeof *(array)))
enum { DEPTH = 3, NESTING = 3 };

static uint32_t pick(maker *m, uint32_t most)
{
    return maker_pick(m, most);
}

void make_begin(maker *m)
{
    PUT(m, "%*s", 4 * m->indent, "");
}

void make_line(maker *m, const char *format, ...)
{
    char line[256];
    va_list values;
    va_start(values, format);
    vsnprintf(line, sizeof line, format, values);
    va_end(values);
    make_begin(m);
    PUT(m, "%s\n", line);
}

scope maker_open(maker *m, bool is_uniform, bool may_break)
{
    scope before = {m->vars, m->is_uniform, m->may_break};
    m->is_uniform &= is_uniform;
    m->may_break = may_break;
    m->indent++;
    return before;
}

void maker_close(maker *m, scope before)
{
    m->indent--;
    m->vars = before.vars;
    m->is_uniform = before.is_uniform;
    m->may_break = before.may_break;
}

variable *maker_declare(maker *m, shape_of shape, uint32_t type)
{
    if (m->vars == MAKER_VARS)
        return NULL;
    variable *v = &m->var[m->vars++];
    *v = (variable){.shape = shape, .type = (uint8_t)type};
    snprintf(v->name, sizeof v->name, "v%u", m->names++);
    return v;
}

// ---- declarations ---------------------------------------------------------------------------------------------------

// The initialiser comes first: it must not see the variable.
static void declare_scalar(maker *m)
{
    uint32_t type = pick(m, MAKER_TYPES);
    make_begin(m);
    PUT(m, "%s%s v%u", pick(m, 12) == 11 ? "volatile " : "", maker_types[type].name, m->names);
    if (pick(m, 8) < 7) {
        PUT(m, " = ");
        make_any(m, DEPTH);
    }
    PUT(m, ";\n");
    maker_declare(m, SCALAR, type);
}

static void declare_array(maker *m)
{
    uint32_t type = pick(m, 2) ? pick(m, MAKER_TYPES) : 0, count = 2u << pick(m, 3), given = pick(m, count + 1);
    make_begin(m);
    PUT(m, "%s v%u[%u]", maker_types[type].name, m->names, count);
    for (uint32_t i = 0; i < given; i++) {
        PUT(m, i ? ", " : " = {");
        make_any(m, 1);
    }
    PUT(m, given ? "};\n" : ";\n");
    variable *v = maker_declare(m, ARRAY, type);
    if (v)
        v->count = (uint8_t)count;
}

// make_float4(...), or of a kernel what its memory holds.
static void put_vector(maker *m, uint32_t which)
{
    const record *r = &m->record[which];
    bool is_given = m->made->kind == KERNEL && !m->in_function && strcmp(r->vector, "int4") == 0;
    if (is_given && pick(m, 2)) {
        PUT(m, " = ((const int4 *)a)[(");
        make_integer(m, 1);
        PUT(m, ") & %u];\n", GIVEN_INTS / 4 - 1);
        return;
    }
    PUT(m, " = make_%s(", r->vector);
    for (uint32_t i = 0; i < r->fields; i++) {
        PUT(m, "%s", i ? ", " : "");
        maker_types[r->type[i]].is_real ? make_real(m, 1) : make_integer(m, 1);
    }
    PUT(m, ");\n");
}

// A call of a function that gives a struct, where there is one.
static bool put_record_call(maker *m)
{
    for (unsigned i = 0; i < m->functions; i++) {
        const function *f = &m->function[i];
        if (!f->gives_record || f->takes_pointer || f->takes_record)
            continue;
        PUT(m, " = f%u_%u(", i, m->number);
        for (uint32_t p = 0; p < f->params; p++) {
            PUT(m, "%s", p ? ", " : "");
            make_any(m, 1);
        }
        PUT(m, ")");
        return true;
    }
    return false;
}

static void declare_record(maker *m)
{
    if (m->records == 0) {
        declare_scalar(m);
        return;
    }
    uint32_t which = pick(m, m->records);
    const variable *from = maker_find(m, RECORD, false);
    make_begin(m);
    maker_put_record(m, which);
    PUT(m, " v%u", m->names);
    if (from && from->type == which)
        PUT(m, " = %s;\n", from->name);
    else if (m->record[which].vector)
        put_vector(m, which);
    else if (which == 0 && put_record_call(m))
        PUT(m, ";\n");
    else if (m->record[which].count[0] == 0 && pick(m, 2)) {
        PUT(m, " = {");
        make_any(m, 1);
        PUT(m, "};\n");
    } else
        PUT(m, ";\n");
    maker_declare(m, RECORD, which);
}

static void declare_pointer(maker *m)
{
    if (m->in_function || m->made->kind != KERNEL) {
        declare_array(m);
        return;
    }
    bool walks = pick(m, 3) == 2;
    make_begin(m);
    PUT(m, "const int *v%u = %s + ((", m->names, walks ? "walk" : "a");
    make_integer(m, 1);
    PUT(m, ") & %u);\n", GIVEN_INTS / 2 - 1);
    variable *v = maker_declare(m, POINTER, 0);
    if (v)
        v->count = GIVEN_INTS / 2;
}

// ---- assignments ----------------------------------------------------------------------------------------------------

static void put_masked(maker *m, unsigned count)
{
    PUT(m, "[(");
    make_integer(m, 1);
    PUT(m, ") & %u]", count - 1);
}

// Prints a place of that variable and gives its type; MAKER_TYPES where it has none.
static uint32_t put_place(maker *m, const variable *v)
{
    if (v->shape == ARRAY) {
        PUT(m, "%s", v->name);
        put_masked(m, v->count);
        return v->type;
    }
    if (v->shape == RECORD) {
        const record *r = &m->record[v->type];
        uint32_t f = pick(m, r->fields);
        PUT(m, "%s", v->name);
        maker_put_field(m, r, f);
        if (r->count[f])
            put_masked(m, r->count[f]);
        return r->type[f];
    }
    PUT(m, "%s", v->name);
    return v->type;
}

void make_assigned(maker *m, uint32_t type)
{
    static const char *const whole[] = {"=", "+=", "-=", "*=", "&=", "|=", "^=", "<<=", ">>=", "/=", "%="};
    static const char *const real[] = {"=", "+=", "-=", "*=", "/="};
    if (maker_types[type].is_bool) {
        PUT(m, " = ");
        make_any(m, DEPTH);
    } else if (maker_types[type].is_real) {
        PUT(m, " %s ", real[pick(m, COUNT(real))]);
        make_any(m, DEPTH);
    } else {
        const char *operator= whole[pick(m, COUNT(whole))];
        bool divides = operator[0] == '/' || operator[0] == '%', shifts = operator[0] == operator[1]; // <<=, >>=
        PUT(m, divides || shifts ? " %s (" : " %s ", operator);
        strlen(operator) == 1 ? make_any(m, DEPTH) : make_integer(m, DEPTH);
        PUT(m, divides ? " | 1)" : shifts ? " & 31)" : "");
    }
}

static void assign(maker *m)
{
    unsigned first = m->vars ? pick(m, m->vars) : 0;
    for (unsigned i = 0; i < m->vars; i++) {
        const variable *v = &m->var[(first + i) % m->vars];
        if (v->is_fixed || v->shape == POINTER)
            continue;
        make_begin(m);
        uint32_t type = put_place(m, v);
        if (pick(m, 8) == 7 && !maker_types[type].is_bool && !maker_types[type].is_real)
            PUT(m, pick(m, 2) ? "++" : "--");
        else
            make_assigned(m, type);
        PUT(m, ";\n");
        return;
    }
    declare_scalar(m);
}

// To where a pointer parameter points by then.
static void store_own(maker *m)
{
    make_begin(m);
    PUT(m, "own");
    put_masked(m, 4);
    make_assigned(m, 2);
    PUT(m, ";\n");
}

// What a program leaves behind on its way.
static void store(maker *m)
{
    if (m->in_function) {
        assign(m);
        return;
    }
    if (m->made->has_block && pick(m, 3) == 2) {
        store_own(m);
        return;
    }
    make_begin(m);
    if (m->made->has_block) {
        bool real = pick(m, 3) == 2;
        PUT(m, "%s[i * %u + %u]", real ? "real" : "out", GIVEN_SLOTS, pick(m, GIVEN_SLOTS));
        make_assigned(m, real ? 10 : 2);
    } else {
        static const char *const places[] = {"data", "self->keep", "self->real"};
        uint32_t which = pick(m, 3);
        PUT(m, "%s", places[which]);
        put_masked(m, which == 0 ? GIVEN_DATA : 4);
        make_assigned(m, which == 0 ? 0 : which == 1 ? 2 : 10);
    }
    PUT(m, ";\n");
}

// A parameter that is a pointer goes somewhere else: forwards, by little, because it may stand in three loops; or to
// where it began. In another place of the program by a value of the thread, here perhaps by one of the block.
static void move_parameter(maker *m)
{
    static const char *const alike[] = {"n", "blockIdx.x", "gridDim.x", "blockIdx.x * 3 + n"};
    bool has_own = m->made->has_block, is_own = has_own && pick(m, 3) == 2;
    bool is_alike = m->made->kind == KERNEL && pick(m, 3) == 2;
    if (m->in_function) {
        assign(m);
        return;
    }
    make_begin(m);
    if (is_own) {
        PUT(m, "own = origin + i * 8 + (4 & (");
        make_integer(m, 2);
        PUT(m, "));\n");
        return;
    }
    uint32_t way = pick(m, 4);
    if (way == 3) {
        PUT(m, pick(m, 2) ? "walk++;\n" : "++walk;\n");
        return;
    }
    PUT(m, way == 0 ? "walk = start + ((" : way == 1 ? "walk += ((" : "walk = &walk[(");
    if (is_alike)
        PUT(m, "%s", alike[pick(m, COUNT(alike))]);
    else
        make_integer(m, 2);
    PUT(m, way == 2 ? ") & %u];\n" : ") & %u);\n", GIVEN_STEP - 1);
}

// ---- control flow ---------------------------------------------------------------------------------------------------

static void put_body(maker *m, bool is_uniform, bool may_break, unsigned most)
{
    scope before = maker_open(m, is_uniform, may_break);
    make_statements(m, most);
    maker_close(m, before);
    make_begin(m);
}

static void choose(maker *m)
{
    bool uniform = m->is_uniform && pick(m, 4) == 3;
    make_begin(m);
    PUT(m, "if (");
    if (uniform)
        PUT(m, "n %s %u", pick(m, 2) ? ">" : "<", pick(m, 9));
    else
        make_integer(m, DEPTH);
    PUT(m, ") {\n");
    put_body(m, uniform, m->may_break, 3);
    if (pick(m, 2)) {
        PUT(m, "} else {\n");
        put_body(m, uniform, m->may_break, 3);
    }
    PUT(m, "}\n");
}

// A loop that all threads take alike may hold barriers; then none leaves it before the others.
static void count(maker *m)
{
    bool with_barriers = m->is_uniform && m->made->has_barriers && pick(m, 2);
    unsigned counter = m->names++, trips = 1 + pick(m, 5);
    unsigned kept = m->vars;
    make_line(m, pick(m, 3) ? "for (int v%u = 0; v%u < %u; v%u++) {" : "for (unsigned v%u = 0; v%u < %u; v%u += 1) {",
              counter, counter, trips, counter);
    if (m->vars < MAKER_VARS) {
        m->var[m->vars] = (variable){.shape = SCALAR, .type = 0, .is_fixed = true};
        snprintf(m->var[m->vars].name, sizeof m->var[m->vars].name, "v%u", counter);
        m->vars++;
    }
    m->loops++;
    put_body(m, with_barriers, !with_barriers, 4);
    m->loops--;
    m->vars = kept;
    PUT(m, "}\n");
}

// Ends whatever the body does: its counter is nobody else's.
static void repeat(maker *m)
{
    unsigned counter = m->names++;
    bool tests_first = pick(m, 2) == 0;
    make_begin(m);
    PUT(m, "int v%u = (int)(", counter);
    make_integer(m, 2);
    PUT(m, ") & 7;\n");
    if (tests_first) {
        make_begin(m);
        PUT(m, "while (v%u-- > 0 && ", counter);
        make_integer(m, 1);
        PUT(m, ") {\n");
    } else
        make_line(m, "do {");
    m->loops++;
    put_body(m, false, true, 3);
    m->loops--;
    if (tests_first)
        PUT(m, "}\n");
    else
        PUT(m, "} while (--v%u > 0);\n", counter);
}

static void put_switch(maker *m)
{
    unsigned cases = 1 + pick(m, 4), usual = pick(m, cases + 2);
    make_begin(m);
    PUT(m, "switch ((");
    make_integer(m, DEPTH);
    PUT(m, ") & 3) {\n");
    for (unsigned i = 0; i < cases; i++) {
        if (i == usual)
            make_line(m, "default: {");
        else
            make_line(m, "case %u: {", i);
        put_body(m, false, m->may_break && m->loops > 0, 2);
        PUT(m, pick(m, 3) ? "} break;\n" : "}\n");
    }
    make_line(m, "}");
}

static void leave(maker *m)
{
    bool can_break = m->may_break && m->loops > 0, can_return = !m->made->has_barriers && !m->in_function;
    if (!can_break && !can_return) {
        assign(m);
        return;
    }
    make_begin(m);
    PUT(m, "if (");
    make_integer(m, DEPTH);
    if (can_break && (!can_return || pick(m, 4) != 3))
        PUT(m, ") %s;\n", pick(m, 2) ? "continue" : "break");
    else
        PUT(m, ") return;\n");
}

// ---- threads together -----------------------------------------------------------------------------------------------

static void change_count(maker *m)
{
    static const struct {
        const char *name;
        unsigned first;
    } ways[] = {{"atomicAdd", 0},  {"atomicMax", 8}, {"atomicMin", 12}, {"atomicXor", 16},
                {"atomicAnd", 20}, {"atomicOr", 24}, {"atomicSub", 0}};
    uint32_t which = pick(m, COUNT(ways));
    if (m->in_function || !m->made->has_block) {
        assign(m);
        return;
    }
    make_begin(m);
    PUT(m, "%s(&count[%u + ((", ways[which].name, ways[which].first);
    make_integer(m, 1);
    PUT(m, ") & 3)], ");
    make_integer(m, DEPTH);
    PUT(m, ");\n");
}

// Functions of a warp that all its threads come to.
static void give_in_warp(maker *m, const variable *v)
{
    static const char *const shuffles[] = {"__shfl_down_sync", "__shfl_up_sync", "__shfl_xor_sync", "__shfl_sync"};
    static const char *const votes[] = {"__ballot_sync", "__any_sync", "__all_sync"};
    static const char *const others[] = {"__reduce_add_sync", "__reduce_max_sync", "__reduce_xor_sync",
                                         "__reduce_min_sync", "__match_any_sync"};
    const variable *real = maker_find(m, SCALAR, true);
    uint32_t way = pick(m, 4);
    make_begin(m);
    if (way == 3 && real && real->type < MAKER_TYPES - 1) { // no half
        PUT(m, "%s = %s(0xffffffffu, %s, %u, %u);\n", real->name, shuffles[pick(m, 3)], real->name, pick(m, 20),
            1u << pick(m, 6));
        return;
    }
    PUT(m, "%s = ", v->name);
    if (way == 1) {
        PUT(m, "%s(0xffffffffu, ", votes[pick(m, COUNT(votes))]);
        make_integer(m, 2);
        PUT(m, ");\n");
    } else if (way == 2) {
        PUT(m, "%s(0xffffffffu, (int)", others[pick(m, COUNT(others))]);
        make_integer(m, 2);
        PUT(m, ");\n");
    } else {
        PUT(m, "%s(0xffffffffu, ", shuffles[pick(m, COUNT(shuffles))]);
        make_integer(m, 2);
        PUT(m, ", ");
        make_integer(m, 1);
        PUT(m, ");\n");
    }
}

// Of those only that a condition chooses, who know each other.
static void part_of_warp(maker *m, const variable *v)
{
    unsigned name = m->names++;
    make_begin(m);
    PUT(m, "bool v%u = ", name);
    make_integer(m, 2);
    PUT(m, " & 1;\n");
    make_line(m, "unsigned m%u = __ballot_sync(0xffffffffu, v%u);", name, name);
    make_line(m, "if (v%u) {", name);
    make_begin(m);
    bool shuffles = pick(m, 2);
    PUT(m, shuffles ? "    %s = __shfl_xor_sync(m%u, (int)" : "    %s = __reduce_add_sync(m%u, (int)", v->name, name);
    make_integer(m, 1);
    PUT(m, shuffles ? ", %u);\n" : ");\n", 1 + pick(m, 31));
    make_line(m, "}");
}

static void exchange(maker *m)
{
    const variable *v = maker_find(m, SCALAR, false);
    if (!m->is_uniform || !m->made->has_barriers || m->in_function || !v || v->is_fixed) {
        assign(m);
        return;
    }
    switch (pick(m, 6)) {
    case 5:
        make_shared_pointer(m, v);
        return;
    case 3:
        give_in_warp(m, v);
        return;
    case 4:
        part_of_warp(m, v);
        return;
    case 0:
        make_begin(m);
        PUT(m, "shared[t] = ");
        make_integer(m, DEPTH);
        PUT(m, ";\n");
        make_line(m, "__syncthreads();");
        make_line(m, "%s = shared[(t + %u) %% threads];", v->name, 1 + pick(m, 40));
        make_line(m, "__syncthreads();");
        return;
    case 1:
        make_begin(m);
        PUT(m, "%s = __syncthreads_%s(", v->name, pick(m, 2) ? "count" : "or");
        make_integer(m, 2);
        PUT(m, ");\n");
        return;
    default:
        make_begin(m);
        PUT(m, "shared[t] = ");
        make_integer(m, 2);
        PUT(m, ";\n");
        make_line(m, "__syncthreads();");
        make_line(m, "for (int step = %u; step > 0; step >>= 1) {", 1u << (1 + pick(m, 6)));
        make_line(m, "    if (t < step && t + step < threads) shared[t] += shared[t + step];");
        make_line(m, "    __syncthreads();");
        make_line(m, "}");
        make_line(m, "%s ^= shared[0];", maker_types[v->type].is_bool ? "shared[0]" : v->name);
        make_line(m, "__syncthreads();");
    }
}

// ---- all ------------------------------------------------------------------------------------------------------------

static void make_one(maker *m)
{
    static void (*const simple[])(maker *) = {assign,
                                              declare_scalar,
                                              assign,
                                              store,
                                              declare_array,
                                              declare_record,
                                              declare_pointer,
                                              leave,
                                              change_count,
                                              exchange,
                                              move_parameter,
                                              make_pointer_into,
                                              make_rows,
                                              make_pointer_loop,
                                              make_table_of_records};
    static void (*const nested[])(maker *) = {choose, count, repeat, put_switch, choose, count};
    bool nests = m->indent <= NESTING && pick(m, 3) == 2;
    m->budget--;
    if (programs_have_loops && m->indent <= NESTING && pick(m, 2))
        make_loop(m);
    else if (nests)
        nested[pick(m, COUNT(nested))](m);
    else
        simple[pick(m, COUNT(simple))](m);
}

// Each says whether there is one more, so that one can be taken out.
void make_statements(maker *m, unsigned most)
{
    for (unsigned left = most; left > 0 && m->budget > 0; left--) {
        uint32_t first = m->t->at;
        if (pick(m, 2 * most) == 0)
            return;
        make_one(m);
        tape_note(m->t, first, true);
    }
}
