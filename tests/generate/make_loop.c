// SPDX-License-Identifier: Apache-2.0
// Loops that threads leave after different numbers of turns: by break, return or the loop's condition, with values
// that are set on the way and read behind. Each ends after MOST turns, whatever its body does.
#include "maker.h"

#include <stdio.h>

#define PUT(m, ...) slri_text_printf((m)->out, __VA_ARGS__)
#define COUNT(array) ((uint32_t)(sizeof(array) / sizeof *(array)))
#define MOST 7
#define NO_VARIABLE UINT32_MAX

bool programs_have_loops;

// The loop that is being made.
typedef struct loop {
    unsigned counter; // its name: nobody else changes it
    uint32_t held;    // of m->var: what turns set, or NO_VARIABLE
    bool is_alike;    // all threads take the same turns
} loop;

static uint32_t pick(maker *m, uint32_t most)
{
    return maker_pick(m, most);
}

// A number of turns: of this thread, or of all of the block.
static void put_limit(maker *m, bool is_alike)
{
    static const char *const own[] = {"t", "i", "t >> 1", "t * 5 + n", "i / 3", "a[i & 31]"};
    static const char *const parts[] = {" & 3", " % 5", " & 7"};
    bool has_own = m->made->has_block && !m->in_function;
    const variable *given = m->in_function && pick(m, 3) ? maker_find(m, SCALAR, false) : NULL;
    PUT(m, "((");
    if (is_alike)
        PUT(m, m->made->kind == KERNEL && pick(m, 2) ? "n + blockIdx.x" : "n");
    else if (has_own && pick(m, 4) < 3)
        PUT(m, "%s", own[pick(m, COUNT(own) - (m->made->kind != KERNEL))]);
    else if (given)
        PUT(m, "%s", given->name);
    else
        make_integer(m, 1);
    PUT(m, ")%s)", parts[pick(m, COUNT(parts))]);
}

static void put_condition(maker *m, const loop *of)
{
    switch (pick(m, of->is_alike ? 5 : 6)) {
    default:
        PUT(m, "v%u >= ", of->counter);
        put_limit(m, of->is_alike);
        return;
    case 3:
        PUT(m, "v%u == ", of->counter);
        put_limit(m, of->is_alike);
        return;
    case 4:
        PUT(m, "((v%u + ", of->counter);
        put_limit(m, of->is_alike);
        PUT(m, ") & 3) == %u", pick(m, 4));
        return;
    case 5:
        make_integer(m, 2);
    }
}

// ---- what a turn leaves ---------------------------------------------------------------------------------------------

static void put_turn(maker *m, const loop *of)
{
    bool is_real = of->held != NO_VARIABLE && maker_types[m->var[of->held].type].is_real;
    if (pick(m, 4) == 3 && make_call(m, is_real, 2))
        return;
    PUT(m, "v%u * %u + ", of->counter, 1 + pick(m, 9));
    make_integer(m, 1);
}

static void set_held(maker *m, const loop *of)
{
    if (of->held == NO_VARIABLE)
        return;
    bool adds = pick(m, 4) == 3 && !maker_types[m->var[of->held].type].is_bool;
    make_begin(m);
    PUT(m, "%s %s ", m->var[of->held].name, adds ? "+=" : "=");
    put_turn(m, of);
    PUT(m, ";\n");
}

// Stores it, with the number of the turn.
static void store_held(maker *m, const loop *of)
{
    const variable *v = of->held == NO_VARIABLE ? NULL : &m->var[of->held];
    bool is_real = v && maker_types[v->type].is_real;
    if (m->in_function) {
        if (m->in_function->takes_pointer)
            make_line(m, "*place = *place * 3 + v%u;", of->counter);
        return;
    }
    if (m->made->has_block)
        make_line(m, "%s[i * %u + %u] += v%u * 31 + %s;", is_real ? "real" : "out", GIVEN_SLOTS, pick(m, GIVEN_SLOTS),
                  of->counter, v ? v->name : "1");
    else
        make_line(m, "self->%s[%u] += v%u * 31 + %s;", is_real ? "real" : "keep", pick(m, 4), of->counter,
                  v ? v->name : "1");
}

// ---- ways out -------------------------------------------------------------------------------------------------------

static void put_jump(maker *m, const loop *of, bool may_continue)
{
    bool can_return = !of->is_alike && (m->in_function || !m->made->has_barriers);
    uint32_t way = pick(m, 4);
    if (way == 3 && can_return && m->in_function)
        make_return(m);
    else if (way == 3 && can_return)
        make_line(m, "return;");
    else
        make_line(m, way == 2 && may_continue ? "continue;" : "break;");
}

// Some threads go, perhaps after they have done something.
static void put_exit(maker *m, const loop *of, bool may_continue)
{
    make_begin(m);
    PUT(m, "if (");
    put_condition(m, of);
    PUT(m, ") {\n");
    m->indent++;
    uint32_t before = pick(m, 4);
    if (before & 1)
        set_held(m, of);
    if (before & 2)
        store_held(m, of);
    put_jump(m, of, may_continue);
    m->indent--;
    make_line(m, "}");
}

// ---- the loop -------------------------------------------------------------------------------------------------------

typedef enum form { ENDLESS_FOR, ENDLESS_WHILE, DO_WHILE, WHILE, WHILE_SET, FOR, FOR_DOWN, FOR_TIMES, FORMS } form;

// It is set in the condition, before or behind the count of turns.
static void put_setting_head(maker *m, const loop *of)
{
    bool counts_first = pick(m, 2);
    make_begin(m);
    PUT(m, counts_first ? "while (v%u++ < %u && (" : "while ((", of->counter, MOST);
    PUT(m, "%s = ", m->var[of->held].name);
    put_turn(m, of);
    PUT(m, ") %s ", pick(m, 2) ? "!=" : ">");
    put_limit(m, of->is_alike);
    if (counts_first)
        PUT(m, ") {\n");
    else
        PUT(m, " && v%u++ < %u) {\n", of->counter, MOST);
}

static void put_head(maker *m, const loop *of, form form)
{
    unsigned c = of->counter;
    if (form == WHILE_SET) {
        put_setting_head(m, of);
        return;
    }
    make_begin(m);
    switch (form) {
    case ENDLESS_FOR:
        PUT(m, "for (;; v%u++) {\n", c);
        return;
    case ENDLESS_WHILE:
        PUT(m, "while (true) {\n");
        return;
    case DO_WHILE:
        PUT(m, "do {\n");
        return;
    case WHILE:
        PUT(m, "while (v%u++ < ", c);
        put_limit(m, of->is_alike);
        break;
    case FOR:
        PUT(m, "for (v%u = 0; v%u < ", c, c);
        put_limit(m, of->is_alike);
        PUT(m, "; v%u++", c);
        break;
    case FOR_DOWN:
        PUT(m, "for (v%u = ", c);
        put_limit(m, of->is_alike);
        PUT(m, "; v%u > 0; --v%u", c, c);
        break;
    default:
        PUT(m, "for (v%u = 1 + (", c);
        put_limit(m, of->is_alike);
        PUT(m, " & 7); v%u < 60; v%u *= 2", c, c);
    }
    PUT(m, ") {\n");
}

static void put_end(maker *m, const loop *of, form form)
{
    make_begin(m);
    if (form != DO_WHILE) {
        PUT(m, "}\n");
        return;
    }
    PUT(m, "} while (v%u++ < ", of->counter);
    put_limit(m, of->is_alike);
    PUT(m, ");\n");
}

// What ends a loop without a condition may stand behind statements; until then nothing continues.
static void put_turns(maker *m, const loop *of, form form)
{
    bool is_endless = form == ENDLESS_FOR || form == ENDLESS_WHILE;
    scope before = maker_open(m, of->is_alike, false);
    if (pick(m, 4) < 3)
        set_held(m, of);
    if (is_endless) {
        if (pick(m, 2))
            make_statements(m, 1);
        if (pick(m, 2))
            put_exit(m, of, false);
        make_line(m, form == ENDLESS_FOR ? "if (v%u >= %u) break;" : "if (v%u++ >= %u) break;", of->counter, MOST);
    }
    m->may_break = !of->is_alike;
    if (!of->is_alike || is_endless)
        put_exit(m, of, true);
    make_statements(m, 2);
    if (pick(m, 3) == 2)
        put_exit(m, of, true);
    maker_close(m, before);
}

static void make_held(maker *m, loop *of)
{
    uint32_t type = pick(m, MAKER_TYPES);
    of->held = NO_VARIABLE;
    if (m->vars + 2 > MAKER_VARS)
        return;
    make_begin(m);
    PUT(m, "%s v%u = ", maker_types[type].name, m->names);
    make_any(m, 1);
    PUT(m, ";\n");
    maker_declare(m, SCALAR, type);
    of->held = m->vars - 1;
}

void make_loop(maker *m)
{
    loop of = {.is_alike = m->is_uniform && m->made->has_barriers && pick(m, 3) == 2};
    make_held(m, &of);
    form form = pick(m, FORMS);
    if (form == WHILE_SET && of.held == NO_VARIABLE)
        form = WHILE;
    of.counter = m->names;
    make_line(m, "int v%u = 0;", of.counter);
    variable *counter = maker_declare(m, SCALAR, 0);
    if (counter)
        counter->is_fixed = true;
    else
        m->names++;
    put_head(m, &of, form);
    m->loops++;
    put_turns(m, &of, form);
    m->loops--;
    put_end(m, &of, form);
    store_held(m, &of);
}
