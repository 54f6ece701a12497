// SPDX-License-Identifier: Apache-2.0
// Statements about pointers and what they point into: elements and members, rows, tables of structs, shared memory.
#include "maker.h"

#include <stdio.h>

#define PUT(m, ...) slri_text_printf((m)->out, __VA_ARGS__)
enum { INT = 0, ROWS = 4, COLUMNS = 8 };

static uint32_t pick(maker *m, uint32_t most)
{
    return maker_pick(m, most);
}

static void put_masked(maker *m, unsigned count)
{
    PUT(m, "((");
    make_integer(m, 1);
    PUT(m, ") & %u)", count - 1);
}

// `TEXT op= expression;`, of that type.
static void put_change(maker *m, const char *text, uint32_t type)
{
    make_begin(m);
    PUT(m, "%s", text);
    make_assigned(m, type);
    PUT(m, ";\n");
}

// What a statement read ends in a variable, where there is one that may change.
static void keep(maker *m, const char *text)
{
    const variable *v = maker_find(m, SCALAR, false);
    if (v && !v->is_fixed)
        make_line(m, maker_types[v->type].is_bool ? "%s = %s;" : "%s += %s;", v->name, text);
}

// ---- into one variable ----------------------------------------------------------------------------------------------

// To an element, which then moves within the array.
static void into_array(maker *m, const variable *v)
{
    unsigned n = m->names++;
    char at[48];
    make_begin(m);
    PUT(m, "int k%u = ", n);
    put_masked(m, v->count);
    PUT(m, ";\n");
    make_line(m, pick(m, 2) ? "%s *q%u = &%s[k%u];" : "%s *q%u = %s + k%u;", maker_types[v->type].name, n, v->name, n);
    snprintf(at, sizeof at, "*q%u", n);
    put_change(m, at, v->type);
    make_begin(m);
    switch (pick(m, 3)) {
    case 0:
        PUT(m, "q%u -= k%u;\n", n, n);
        break;
    case 1:
        PUT(m, "q%u = q%u + ((int)(", n, n);
        put_masked(m, v->count);
        PUT(m, ") - k%u);\n", n);
        break;
    default:
        PUT(m, "if (k%u > 0) q%u--; else ++q%u;\n", n, n, n);
    }
    put_change(m, at, v->type);
}

static void into_record(maker *m, const variable *v)
{
    const record *r = &m->record[v->type];
    uint32_t f = pick(m, r->fields);
    unsigned n = m->names++;
    char at[48];
    make_begin(m);
    if (pick(m, 3) == 0) { // to the whole struct
        maker_put_record(m, v->type);
        PUT(m, " *q%u = &%s;\n", n, v->name);
        make_begin(m);
        if (r->vector)
            PUT(m, "q%u->%c", n, "xyzw"[f]);
        else
            PUT(m, r->count[f] ? "q%u->f%u[1]" : "q%u->f%u", n, f);
        make_assigned(m, r->type[f]);
        PUT(m, ";\n");
        return;
    }
    PUT(m, "%s *q%u = &%s", maker_types[r->type[f]].name, n, v->name);
    maker_put_field(m, r, f);
    if (r->count[f]) {
        PUT(m, "[");
        put_masked(m, r->count[f]);
        PUT(m, "]");
    }
    PUT(m, ";\n");
    snprintf(at, sizeof at, "*q%u", n);
    put_change(m, at, r->type[f]);
}

void make_pointer_into(maker *m)
{
    const variable *array = maker_find(m, ARRAY, pick(m, 3) == 0), *of = maker_find(m, RECORD, false);
    if (of && (!array || pick(m, 2)))
        into_record(m, of);
    else if (array)
        into_array(m, array);
}

// ---- loops that pointers count --------------------------------------------------------------------------------------

void make_pointer_loop(maker *m)
{
    const variable *v = maker_find(m, ARRAY, false);
    unsigned n = m->names++;
    char at[48];
    if (m->made->kind == KERNEL && !m->in_function && pick(m, 2)) {
        make_begin(m);
        PUT(m, "const int *q%u = ", n);
        make_integer(m, 1);
        PUT(m, " & 1 ? a + ");
        put_masked(m, GIVEN_INTS / 2);
        PUT(m, " : &a[t & %u];\n", GIVEN_INTS / 2 - 1);
        make_begin(m);
        PUT(m, "for (const int *e%u = q%u + ", n, n);
        put_masked(m, GIVEN_INTS / 2);
        PUT(m, "; q%u < e%u; q%u += %u) {\n", n, n, n, 1 + pick(m, 3));
        snprintf(at, sizeof at, "*q%u", n);
        m->indent++;
        keep(m, at);
        m->indent--;
        make_line(m, "}");
        return;
    }
    if (!v)
        return;
    make_line(m, pick(m, 2) ? "for (%s *q%u = %s; q%u < %s + %u; q%u++)" : "for (%s *q%u = %s; q%u != &%s[%u]; ++q%u)",
              maker_types[v->type].name, n, v->name, n, v->name, v->count, n);
    m->indent++;
    snprintf(at, sizeof at, "*q%u", n);
    put_change(m, at, v->type);
    m->indent--;
}

// ---- tables of one statement ----------------------------------------------------------------------------------------

static void put_element(maker *m, const char *text, unsigned n)
{
    make_begin(m);
    PUT(m, text, n);
    PUT(m, "[");
    put_masked(m, COLUMNS);
    PUT(m, "]");
    make_assigned(m, INT);
    PUT(m, ";\n");
}

// Rows by pointer: of a local table, or of the kernel's parameter seen as one.
void make_rows(maker *m)
{
    unsigned n = m->names++;
    char at[48];
    make_line(m, "int b%u[%d][%d] = {{1, 2}, {3}};", n, ROWS, COLUMNS);
    make_begin(m);
    PUT(m, "int (*q%u)[%d] = b%u + ", n, COLUMNS, n);
    put_masked(m, ROWS);
    PUT(m, ";\n");
    put_element(m, "(*q%u)", n);
    make_begin(m);
    PUT(m, "q%u = &b%u[", n, n);
    put_masked(m, ROWS);
    PUT(m, "];\n");
    put_element(m, "q%u[0]", n);
    if (m->made->kind == KERNEL && !m->in_function) {
        make_line(m, "const int (*c%u)[%d] = (const int (*)[%d])a + (i & 3);", n, COLUMNS, COLUMNS);
        make_line(m, "b%u[i & 3][t & 7] ^= (*c%u)[(i + t) & 7];", n, n);
    }
    snprintf(at, sizeof at, "b%u[%u][%u]", n, pick(m, ROWS), pick(m, COLUMNS));
    keep(m, at);
    make_line(m, "for (int r = 0; r < %d; r++)", ROWS * COLUMNS);
    snprintf(at, sizeof at, "(&b%u[0][0])[r]", n);
    m->indent++;
    const variable *v = maker_find(m, SCALAR, false);
    if (v && !v->is_fixed && !maker_types[v->type].is_bool)
        make_line(m, "%s = %s * 3 + %s;", v->name, v->name, at);
    else
        make_line(m, ";");
    m->indent--;
}

void make_table_of_records(maker *m)
{
    if (m->records == 0)
        return;
    uint32_t which = pick(m, m->records);
    const record *r = &m->record[which];
    unsigned n = m->names++;
    make_begin(m);
    maker_put_record(m, which);
    PUT(m, " b%u[%d];\n", n, ROWS);
    for (int round = 0; round < 2; round++) {
        uint32_t f = pick(m, r->fields);
        make_begin(m);
        PUT(m, "b%u[", n);
        put_masked(m, ROWS);
        PUT(m, "]");
        maker_put_field(m, r, f);
        PUT(m, r->count[f] ? "[2]" : "");
        make_assigned(m, r->type[f]);
        PUT(m, ";\n");
    }
    make_begin(m);
    PUT(m, "b%u[", n);
    put_masked(m, ROWS);
    PUT(m, "] = b%u[%u];\n", n, pick(m, ROWS));
    make_begin(m);
    maker_put_record(m, which);
    PUT(m, " *q%u = &b%u[", n, n);
    put_masked(m, ROWS);
    PUT(m, "];\n");
    const variable *v = maker_find(m, RECORD, false);
    if (v && v->type == which)
        make_line(m, pick(m, 2) ? "%s = *q%u;" : "%s = q%u[0];", v->name, n);
    uint32_t f = pick(m, r->fields);
    const variable *to = maker_find(m, SCALAR, maker_types[r->type[f]].is_real);
    if (!to || to->is_fixed)
        return;
    make_begin(m);
    PUT(m, "%s = (*q%u)", to->name, n);
    maker_put_field(m, r, f);
    PUT(m, r->count[f] ? "[1];\n" : ";\n");
}

// ---- shared memory --------------------------------------------------------------------------------------------------

// Each thread's own element by its address, and any thread's by an atomic. All threads come here.
void make_shared_pointer(maker *m, const variable *v)
{
    unsigned n = m->names++;
    make_line(m, "int *q%u = &shared[t];", n);
    make_begin(m);
    PUT(m, "*q%u = ", n);
    make_integer(m, 2);
    PUT(m, ";\n");
    if (pick(m, 2)) {
        make_line(m, "__syncthreads();");
        make_begin(m);
        PUT(m, "atomicAdd(&shared[(unsigned)(");
        make_integer(m, 2);
        PUT(m, ") %% threads], ");
        make_integer(m, 1);
        PUT(m, ");\n");
    }
    make_line(m, "__syncthreads();");
    make_line(m, "q%u += (t + %u) %% threads - t;", n, 1 + pick(m, 40));
    make_line(m, "%s = *q%u;", v->name, n);
    make_line(m, "__syncthreads();");
}
