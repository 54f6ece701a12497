// SPDX-License-Identifier: Apache-2.0
// The program around the statements: structs, functions, the kernel or handler, and what it leaves in the end.
#include "maker.h"

#include <stdio.h>

#define PUT(m, ...) slri_text_printf((m)->out, __VA_ARGS__)

// One of CUDA's, as a record that is declared already.
static void add_vector(maker *m)
{
    static const struct {
        const char *name;
        uint8_t type, fields;
    } vectors[] = {{"int4", 0, 4},   {"float4", 9, 4}, {"int2", 0, 2},      {"double2", 10, 2}, {"uint3", 1, 3},
                   {"uchar4", 5, 4}, {"short2", 6, 2}, {"longlong2", 2, 2}, {"float2", 9, 2}};
    uint32_t which = maker_pick(m, sizeof vectors / sizeof *vectors);
    record *r = &m->record[m->records++];
    *r = (record){.vector = vectors[which].name, .fields = vectors[which].fields};
    for (uint32_t i = 0; i < r->fields; i++)
        r->type[i] = vectors[which].type;
}

static const char *pick_alignment(maker *m)
{
    static const char *const heads[] = {"struct s%u_%u {", "struct __align__(16) s%u_%u {",
                                        "struct alignas(8) s%u_%u {", "struct __attribute__((aligned(32))) s%u_%u {"};
    uint32_t way = maker_pick(m, 8);
    return heads[way < 4 ? way : 0];
}

static void make_records(maker *m)
{
    m->records = maker_pick(m, MAKER_STRUCTS);
    for (unsigned i = 0; i < m->records; i++) {
        record *r = &m->record[i];
        r->fields = (uint8_t)(1 + maker_pick(m, MAKER_FIELDS));
        PUT(m, pick_alignment(m), i, m->number);
        for (unsigned f = 0; f < r->fields; f++) {
            r->type[f] = (uint8_t)maker_pick(m, MAKER_TYPES);
            r->count[f] = maker_pick(m, 4) == 3 ? 4 : 0;
            PUT(m, " %s f%u", maker_types[r->type[f]].name, f);
            PUT(m, r->count[f] ? "[4];" : ";");
        }
        if (i > 0 && maker_pick(m, 3) == 2)
            PUT(m, " struct s%u_%u inner[2];", i - 1, m->number); // is copied with it
        PUT(m, " };\n");
    }
    if (maker_pick(m, 3) == 2)
        add_vector(m);
}

// The type of a kernel's struct parameter, which its threads change: laid out as in subject.c.
static void make_given(maker *m)
{
    record *r = &m->record[m->records++];
    *r = (record){.fields = 4, .type = {0, 9, 2, 6}, .count = {0, 0, 0, 4}};
    PUT(m, "struct s%u_%u { int f0; float f1; long long f2; short f3[4]; };\n", m->records - 1, m->number);
}

static void make_table(maker *m)
{
    PUT(m, "__constant__ int table_%u[8] = {", m->number);
    for (int i = 0; i < 8; i++)
        PUT(m, "%s%d", i ? ", " : "", (int)maker_pick(m, 200) - 50);
    PUT(m, "};\n");
}

void make_return(maker *m)
{
    const function *f = m->in_function;
    make_begin(m);
    if (!f->gives_record) {
        PUT(m, "return ");
        make_any(m, 3);
        PUT(m, ";\n");
        return;
    }
    maker_put_record(m, 0);
    PUT(m, " given = {");
    if (m->record[0].count[0] == 0)
        make_any(m, 2);
    PUT(m, m->record[0].count[0] ? "{0}};\n" : "};\n");
    make_line(m, "return given;");
}

static void make_function(maker *m, unsigned index)
{
    function f = {.params = (uint8_t)(1 + maker_pick(m, MAKER_PARAMS - 1)), .takes_pointer = maker_pick(m, 3) == 2};
    f.result = (uint8_t)maker_pick(m, MAKER_TYPES);
    uint32_t record_way = m->records && !m->record[0].vector ? maker_pick(m, 5) : 0;
    f.takes_record = record_way == 3;
    f.gives_record = record_way == 4 && !f.takes_pointer;
    PUT(m, "__device__ ");
    if (f.gives_record)
        maker_put_record(m, 0);
    else
        PUT(m, "%s", maker_types[f.result].name);
    PUT(m, " f%u_%u(", index, m->number);
    if (f.takes_record) {
        maker_put_record(m, 0);
        PUT(m, " r, ");
        m->var[m->vars++] = (variable){.name = "r", .shape = RECORD};
    }
    if (f.takes_pointer)
        PUT(m, "int *place, ");
    for (unsigned i = 0; i < f.params; i++) {
        f.type[i] = (uint8_t)maker_pick(m, MAKER_TYPES);
        PUT(m, "%s%s p%u", i ? ", " : "", maker_types[f.type[i]].name, i);
        m->var[m->vars] = (variable){.shape = SCALAR, .type = f.type[i]};
        snprintf(m->var[m->vars].name, sizeof m->var[m->vars].name, "p%u", i);
        m->vars++;
    }
    PUT(m, ")\n{\n");
    m->in_function = &f;
    m->indent = 1;
    m->budget = 4;
    if (programs_have_loops)
        make_loop(m);
    make_statements(m, 3);
    if (f.takes_pointer) {
        PUT(m, "    *place += (int)");
        make_integer(m, 2);
        PUT(m, ";\n");
    }
    make_return(m);
    PUT(m, "}\n");
    m->in_function = NULL;
    m->vars = 0;
    m->function[m->functions++] = f;
}

// What the kernel's struct parameter holds in the end.
static void leave_record(maker *m, const variable *v)
{
    if (v->type == m->records - 1 && m->made->kind == KERNEL)
        make_line(m, "out[i * %u] = out[i * %u] * 31 + %s.f0 + %s.f2 + %s.f3[1];", GIVEN_SLOTS, GIVEN_SLOTS, v->name,
                  v->name, v->name);
}

// Every variable ends in memory.
static void leave_variables(maker *m)
{
    unsigned whole = 0, real = 0;
    const char *to = m->made->has_block ? "" : "o.";
    char at[16] = "";
    if (m->made->has_block)
        snprintf(at, sizeof at, "i * %u + ", GIVEN_SLOTS);
    for (unsigned i = 0; i < m->vars; i++) {
        const variable *v = &m->var[i];
        bool is_real = v->shape != RECORD && maker_types[v->type].is_real;
        if (v->shape == POINTER)
            continue;
        if (v->shape == RECORD) {
            leave_record(m, v);
            continue;
        }
        for (unsigned e = 0; e < (v->shape == ARRAY ? v->count : 1u); e++) {
            char element[8] = "";
            if (v->shape == ARRAY)
                snprintf(element, sizeof element, "[%u]", e);
            if (is_real && real < GIVEN_SLOTS)
                make_line(m, "%sreal[%s%u] += %s%s;", to, at, real++, v->name, element);
            else if (!is_real)
                make_line(m, "%sout[%s%u] = %sout[%s%u] * 31 + %s%s;", to, at, whole % GIVEN_SLOTS, to, at,
                          whole % GIVEN_SLOTS, v->name, element),
                    whole++;
        }
    }
}

static void add_variable(maker *m, const char *name, shape_of shape, uint32_t type)
{
    m->var[m->vars] = (variable){.shape = shape, .type = (uint8_t)type};
    snprintf(m->var[m->vars++].name, sizeof m->var->name, "%s", name);
}

// Parameters are variables too: a number that programs assign to, `walk` that make_statements moves, and `own`, which
// each thread moves to what is its own.
static void begin_parameters(maker *m)
{
    static const char *const ways[] = {"own += i * 8;", "own = own + (i - t) * 8; own += t * 8;",
                                       "if (t & 1) own += i * 8; else own = &own[i * 8];",
                                       "for (int step = 0; step < t; step++) own += 8; own += (i - t) * 8;"};
    make_line(m, "const int *start = walk;");
    add_variable(m, "k", SCALAR, 0);
    add_variable(m, "g", SCALAR, 9);
    if (m->made->has_block) {
        make_line(m, "long long *origin = own;");
        make_line(m, "%s", ways[maker_pick(m, sizeof ways / sizeof *ways)]);
    }
}

// A variable of that type whose value no compiler knows; not in every program.
static void begin_with(maker *m, unsigned type, const char *value)
{
    if (maker_pick(m, 3) == 0)
        return;
    make_line(m, "%s v%u = (%s)%s;", maker_types[type].name, m->names, maker_types[type].name, value);
    m->var[m->vars] = (variable){.shape = SCALAR, .type = (uint8_t)type};
    snprintf(m->var[m->vars].name, sizeof m->var[m->vars].name, "v%u", m->names++);
    m->vars++;
}

static void make_body(maker *m)
{
    if (programs_have_loops)
        make_loop(m);
    make_statements(m, 10);
}

static void make_kernel(maker *m)
{
    bool has_rows = maker_pick(m, 3) == 2;
    PUT(m,
        "__global__ void %s(const int *a, %s, const float *x, const double *y, long long *out,\n"
        "                   double *real, int *count, int n, const int *walk, long long *own, int k, float g,\n"
        "                   struct s%u_%u given)\n{\n",
        m->made->name, has_rows ? "const long long (*rows)[4]" : "const long long *l", m->records - 1, m->number);
    if (has_rows)
        PUT(m, "    const long long *l = rows[0];\n");
    if (m->made->has_barriers)
        PUT(m, "    __shared__ int shared[%u];\n", GIVEN_THREADS);
    PUT(m, "    int t = (threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x;\n"
           "    int threads = blockDim.x * blockDim.y * blockDim.z;\n"
           "    int i = ((blockIdx.z * gridDim.y + blockIdx.y) * gridDim.x + blockIdx.x) * threads + t;\n");
    m->is_uniform = true;
    begin_parameters(m);
    add_variable(m, "given", RECORD, m->records - 1);
    begin_with(m, 0, "a[i & 31]");
    begin_with(m, 2, "l[(i * 7 + 3) & 31]");
    begin_with(m, 9, "x[(i + 5) & 31]");
    begin_with(m, 10, "y[(i * 3) & 31]");
    make_body(m);
    leave_variables(m);
    PUT(m, "}\n");
}

static void make_handler(maker *m)
{
    unsigned n = m->number;
    PUT(m,
        "struct in_%u { int a, b; unsigned u, v; long long l, m; unsigned long long x, y; float f, g; double d, e;\n"
        "    signed char c; unsigned char k; short s; unsigned short t; bool flag; };\n"
        "struct state_%u { long long keep[4]; double real[4]; int count, pad; };\n"
        "struct reply_%u { long long out[%u]; double real[%u]; };\n"
        "__ring__ void %s(struct state_%u *self, const struct in_%u *in, int *data, const float *weights, int n,\n"
        "    const int *walk, int k, float g)\n{\n"
        "    struct reply_%u o;\n"
        "    self->count++;\n",
        n, n, n, GIVEN_SLOTS, GIVEN_SLOTS, m->made->name, n, n, n);
    begin_parameters(m);
    begin_with(m, 0, "in->a");
    begin_with(m, 2, "in->l");
    begin_with(m, 10, "in->d");
    make_body(m);
    leave_variables(m);
    PUT(m, "    ring_reply(&o);\n}\n");
}

// Threads leave what they have in the buffers that a kernel's threads would; the first replies.
static void make_block_handler(maker *m)
{
    unsigned n = m->number;
    PUT(m,
        "struct in_%u { int a, b; unsigned u, v; long long l, m; unsigned long long x, y; float f, g; double d, e;\n"
        "    signed char c; unsigned char k; short s; unsigned short t; bool flag; };\n"
        "struct state_%u { long long keep[4]; double real[4]; int count, pad; };\n"
        "struct reply_%u { long long out[%u]; double real[%u]; };\n"
        "__ring_block__ __launch_bounds__(%u) void %s(struct state_%u *self, const struct in_%u *in, const int *data,\n"
        "    const float *weights, int n, long long *out, double *real, int *count,\n"
        "    const int *walk, long long *own, int k, float g)\n{\n"
        "    __shared__ int shared[%u];\n"
        "    int t = threadIdx.x, threads = blockDim.x, i = t;\n"
        "    shared[t] = threads;\n",
        n, n, n, GIVEN_SLOTS, GIVEN_SLOTS, m->made->block[0], m->made->name, n, n, GIVEN_THREADS);
    m->is_uniform = true;
    begin_parameters(m);
    begin_with(m, 0, "in->a + t");
    begin_with(m, 2, "in->l - t");
    begin_with(m, 10, "in->d * t");
    make_body(m);
    leave_variables(m);
    if (m->made->has_barriers)
        PUT(m, "    __syncthreads();\n");
    PUT(m,
        "    if (t == 0) {\n"
        "        struct reply_%u o = {0};\n"
        "        o.out[0] = shared[0] + self->count++;\n"
        "        ring_reply(&o);\n    }\n}\n",
        n);
}

static void make_launch(maker *m)
{
    static const uint32_t blocks[][3] = {{32, 1, 1}, {64, 1, 1}, {1, 1, 1},   {7, 1, 1},  {33, 1, 1},
                                         {8, 4, 1},  {4, 4, 2},  {128, 1, 1}, {16, 8, 1}, {3, 5, 2}};
    static const uint32_t grids[][3] = {{1, 1, 1}, {2, 1, 1}, {3, 2, 1}, {1, 1, 5}};
    uint32_t block = maker_pick(m, sizeof blocks / sizeof *blocks), grid = maker_pick(m, sizeof grids / sizeof *grids);
    for (int i = 0; i < 3; i++) {
        m->made->block[i] = blocks[block][i];
        m->made->grid[i] = grids[grid][i];
    }
    if (m->made->kind == BLOCK)
        for (int i = 1; i < 3; i++) {
            m->made->block[0] *= m->made->block[i];
            m->made->block[i] = 1;
        }
}

void make_program(tape *t, unsigned number, kind kind, program *out)
{
    maker m = {.t = t, .out = &out->text, .made = out, .number = number};
    *out = (program){.kind = kind, .has_block = kind != HANDLER, .text = SLRI_TEXT_INIT};
    snprintf(out->name, sizeof out->name, "p%u", number);
    make_launch(&m);
    out->has_barriers = out->has_block && maker_pick(&m, 2);
    PUT(&m, "#include <math.h>\n#include <cuda_fp16.h>\n#include <cuda_bf16.h>\ntypedef %s narrow;\n",
        maker_pick(&m, 3) == 2 ? "__nv_bfloat16" : "half");
    make_records(&m);
    if (kind == KERNEL)
        make_given(&m);
    make_table(&m);
    for (unsigned i = maker_pick(&m, MAKER_FUNCTIONS + 1); i > 0; i--)
        make_function(&m, m.functions);
    m.indent = 1;
    m.budget = 4 + (int)maker_pick(&m, 9);
    if (kind == KERNEL)
        make_kernel(&m);
    else if (kind == BLOCK)
        make_block_handler(&m);
    else
        make_handler(&m);
}
