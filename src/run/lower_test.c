// SPDX-License-Identifier: Apache-2.0
// What the lowering makes is run by the interpreter; the oracle is the host's C compiler, which gets the same text.
#include "lang/compile_test.h"

#include "run/interpreter.h"

// ---- running -------------------------------------------------------------------------------------------------------

struct run {
    uint32_t fault, line, replies;
    int64_t reply[8];
};

static struct run run_entry(const struct slri_module *module, void *state, const void *message,
                            const struct slri_bound *bound)
{
    struct slri_interp *interp;
    struct slri_interp_thread *thread;
    struct run run = {0};
    assert_int_equal(slri_interp_create(module, &interp), SLR_OK);
    assert_int_equal(slri_interp_thread_create(interp, 0, &thread), SLR_OK);
    struct slri_call call = {.state = state, .message = message, .bound = bound, .max_replies = 8, .fuel = 1000000};
    call.reply_base = (unsigned char *)run.reply;
    call.reply_mask = 7;
    call.reply_stride = call.reply_bytes = 8;
    call.instance = 7;
    run.fault = slri_interp_handler(thread, &call);
    run.line = call.fault_line;
    run.replies = call.replies;
    slri_interp_thread_destroy(thread);
    slri_interp_destroy(interp);
    return run;
}

// ---- the same text for both ----------------------------------------------------------------------------------------

struct point {
    short x;
    int y;
};
struct deep {
    char tag;
    struct point at[3];
    double weight;
};

#define SHARED_TYPES "struct point { short x; int y; }; struct deep { char tag; struct point at[3]; double weight; };"

#ifdef _WIN32
#define long long long // as in kernels, whose text keeps the word
#endif

// CASE(name, { body of a function of `long a, long b` that returns long }): compiled by the host here and kept as text.
#define CASE(name, ...)                                                                                                \
    static int64_t host_##name(int64_t a, int64_t b) __VA_ARGS__ static const char text_##name[] = #__VA_ARGS__;

// The bodies are on purpose what compilers warn of: every conversion, elided braces, falling through.
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wsign-compare"
#pragma GCC diagnostic ignored "-Wmissing-braces"
#pragma GCC diagnostic ignored "-Wmissing-field-initializers"
#pragma GCC diagnostic ignored "-Wunused-parameter"
#pragma GCC diagnostic ignored "-Wimplicit-fallthrough"

CASE(promotions, {
    signed char c = (signed char)a;
    unsigned char u = (unsigned char)b;
    short s = (short)(a * 3);
    unsigned short t = (unsigned short)(b + 7);
    return (c + u) * 31 + (s - t) * 7 + (c < u) + (u >> 1) + (t << 2) + (-c) + (~u) + (c == (signed char)u);
})
CASE(mixed_signs, {
    int i = (int)a;
    unsigned u = (unsigned)b;
    return (i < u) + 2 * (i + u > 5u) + 4 * ((long)i + u > 5) + (long)(i * (long)u) + (i > -1 ? u : -1);
})
CASE(small_assignments, {
    unsigned char u = 250;
    signed char c = 100;
    u += a;
    c *= b | 1;
    u++;
    c--;
    short s = u << 8;
    return u * 65536l + c * 256 + s;
})
CASE(bool_values, {
    _Bool x = a;
    _Bool y = a & 256;
    float quarter = 0.25f;
    _Bool z = quarter;
    return x + 2 * y + 4 * z + 8 * (!a) + 16 * !!b + ((_Bool)b << 5);
})
CASE(shifts, {
    int n = (int)(b & 31);
    unsigned long w = (unsigned long)a;
    return ((int)a >> n) ^ (long)((unsigned)a >> n) ^ (long)(w >> (b & 63)) ^ ((a >> (b & 63)) | 1) ^
           (long)((unsigned)a << n);
})
CASE(division, {
    long d = b ? b : 3;
    unsigned e = (unsigned)b | 1;
    if (d == -1)
        d = -2;
    return a / d + a % d + (long)((unsigned)a / e) + (long)((unsigned)a % e) + (int)(short)a / 7 + (int)(short)a % 7;
})
CASE(short_circuits, {
    int n = 0;
    if (a > 0 && (n += 1) && b > 0)
        n += 10;
    if (a > 0 || (n += 100))
        n += 1000;
    int k = a && b;
    int m = a || b;
    int before = n;
    int chosen = a > b ? n++ : --n;
    return before + k * 3 + m * 5 + chosen * 7 + n * 11 + ((void)n, b > 0);
})
CASE(loops, {
    long sum = 0;
    for (int i = 0; i < 20; i++) {
        if (i == (b & 15))
            continue;
        if (i == 17)
            break;
        sum = sum * 3 + i;
    }
    int k = 5;
    while (k-- > 0)
        sum += k * a;
    do {
        sum ^= k;
        if (++k > 3)
            continue;
        sum++;
    } while (k < 6);
    for (;;) {
        if (sum++ & 1)
            break;
    }
    return sum;
})
CASE(switches, {
    long r = 0;
    for (int i = -1; i < 6; i++) {
        switch (i + (int)(a & 1)) {
        case -1:
            r += 1;
            break;
        case 0:
            r += 10;
        case 1:
            r += 100;
            if (b > 0)
                break;
            r += 1000;
            break;
        default:
            r += 10000;
        case 4:
            r += 3;
            continue;
        }
        r *= 2;
    }
    switch ((unsigned)b) {
    case 0xffffffffu:
        r += 7;
        break;
    case 3:
        return r;
    }
    return r;
})
CASE(arrays, {
    int m[4][5];
    long sum = 0;
    for (int i = 0; i < 4; i++)
        for (int j = 4; j >= 0; j--)
            m[i][j] = i * 10 + j + (int)b;
    int *row = m[2];
    int *end = &m[3][5];
    sum += row[1] + *(row + 2) + row[-3] + (end - row) + (end > row) + sizeof m / sizeof m[0];
    for (int *p = &m[0][0]; p < end; ++p)
        sum = sum * 3 + *p;
    m[a & 3][b & 3] += 5;
    m[1][2]++;
    return sum + m[a & 3][b & 3] * 7 + m[1][2] + 2 [m[1]];
})
CASE(structs, {
    struct deep d = {.tag = 3,
                     .at =
                         {
                             {1, 2},
                             [2].y = 5,
                         },
                     .weight = 0.5};
    struct deep e = d;
    struct point p = {(short)a};
    e.at[1] = p;
    e.at[a & 1].y += (int)b;
    struct point *q = &e.at[1];
    q->x -= 3;
    struct deep f = a > b ? d : e;
    f.weight *= 3;
    long weight = (long)(f.weight * 100);
    return e.at[0].x + e.at[1].x * 3 + e.at[0].y * 5 + e.at[1].y * 7 + d.at[2].y + d.at[1].x + weight + e.tag +
           (f = e, f.at[2].y) + (int)sizeof(struct deep);
})
CASE(elided_braces, {
    int m[3][2] = {1, 2, {3}, 4};
    struct point p[2] = {1, 2, 3};
    char s[] = "ab\n";
    int t[] = {[3] = 4, 5, [1] = (int)a};
    struct deep d = {1, .at[1].y = 2, 7, .weight = 3};
    return m[0][1] + m[1][0] * 3 + m[1][1] + m[2][0] * 5 + p[1].x * 7 + p[1].y + s[2] + (long)sizeof s + t[4] + t[1] +
           (long)sizeof t + d.at[2].x * 11 + d.at[1].y;
})
CASE(pointers_into_locals, {
    int values[6] = {5, 4, 3, 2, 1, 0};
    int *p = values;
    long r = *p++ * 100;
    r += *p * 10;
    r += *++p;
    p += 2;
    r = r * 10 + p[-1] + (p == &values[4]);
    int *low = a > 0 ? values : &values[3];
    *low = (int)b;
    p = low;
    return r + *p + values[0] * 3 + values[3];
})
CASE(floats, {
    float x = (float)a * 0.1f;
    double y = (double)b * 0.1;
    float third = x / 3;
    x += 1;
    x++;
    y -= third;
    long r = (long)(x * 1000.0f) + (long)(y * 1000) + (x < y) + (third == (float)((double)third));
    int scaled = 10;
    scaled *= 1.55;
    unsigned char c = 3;
    c += 2.7f;
    return r + scaled + c + (long)(-x) + (x ? 1 : 2) + !y;
})
CASE(comma_and_scope, {
    int x = 1;
    {
        int x = 2;
        {
            int x = 3;
            a += x;
        }
        a += x;
    }
    for (int x = 0, y = 10; x < y; x++, y--)
        a += x * y;
    enum { A = 3, B, C = B * 2 };
    typedef int whole;
    whole z = (x = 5, x + 1);
    const int k = C;
    static const int table[3] = {A, B, 7 + sizeof(int)};
    const int mine[2] = {(int)b, 3};
    int last[k];
    last[k - 1] = z;
    return a + x + z + C + table[(unsigned)b % 3] + mine[0] * 5 + last[k - 1] + (long)sizeof last;
})

#pragma GCC diagnostic pop
#undef long

struct both {
    const char *name, *text;
    int64_t (*host)(int64_t, int64_t);
};

#define BOTH(name)                                                                                                     \
    {                                                                                                                  \
#name, text_##name, host_##name                                                                                \
    }

static const struct both boths[] = {
    BOTH(promotions),
    BOTH(mixed_signs),
    BOTH(small_assignments),
    BOTH(bool_values),
    BOTH(shifts),
    BOTH(division),
    BOTH(short_circuits),
    BOTH(loops),
    BOTH(switches),
    BOTH(arrays),
    BOTH(structs),
    BOTH(elided_braces),
    BOTH(floats),
    BOTH(pointers_into_locals),
    BOTH(comma_and_scope),
};

static void interpreted_c_equals_the_hosts(void **unused)
{
    (void)unused;
    static const int64_t inputs[] = {0, 1, -1, 2, 3, 7, -5, 100, 255, 256, -128, 32767, 65536, 1000003};
    char text[8192];
    for (size_t i = 0; i < sizeof boths / sizeof *boths; i++) {
        snprintf(text, sizeof text,
                 SHARED_TYPES "struct in { long a, b; };\nstatic long run(long a, long b) %s\n"
                              "__ring__ void h(const struct in *m) { long r = run(m->a, m->b); ring_reply(&r); }",
                 boths[i].text);
        struct slri_module *module = compile_text(text);
        for (size_t a = 0; a < sizeof inputs / sizeof *inputs; a++)
            for (size_t b = 0; b < sizeof inputs / sizeof *inputs; b++) {
                int64_t message[2] = {inputs[a], inputs[b]};
                struct run run = run_entry(module, NULL, message, NULL);
                assert_int_equal(run.fault, SLRI_FAULT_NONE);
                if (run.reply[0] != boths[i].host(inputs[a], inputs[b]))
                    fail_msg("%s(%lld, %lld): %lld, the host has %lld", boths[i].name, (long long)inputs[a],
                             (long long)inputs[b], (long long)run.reply[0],
                             (long long)boths[i].host(inputs[a], inputs[b]));
            }
        slri_module_destroy(module);
    }
}

// ---- one value -----------------------------------------------------------------------------------------------------

// Runs a file with one handler on a message of two longs and a state of 64 zero bytes.
static struct run run_text(const char *text, int64_t a, int64_t b)
{
    struct slri_module *module = compile_text(text);
    int64_t state[8] = {0}, message[2] = {a, b};
    int64_t buffer[8] = {10, 11, 12, 13, 14, 15, 16, 17};
    int32_t given = 5;
    struct slri_bound bound[2] = {{buffer, sizeof buffer}, {&given, sizeof given}};
    struct run run = run_entry(module, state, message, bound);
    slri_module_destroy(module);
    return run;
}

static int64_t value_of(const char *text, int64_t a, int64_t b)
{
    struct run run = run_text(text, a, b);
    assert_int_equal(run.fault, SLRI_FAULT_NONE);
    assert_true(run.replies > 0);
    return run.reply[0];
}

#define IN "struct in { long a, b; };\n"
#define REPLY(value) "{ long r = " value "; ring_reply(&r); }"

static void functions_take_and_return_structs_by_value(void **unused)
{
    (void)unused;
    assert_int_equal(value_of(IN "struct p { int x, y; };"
                                 "static struct p turn(struct p v) { int t = v.x; v.x = -v.y; v.y = t; return v; }"
                                 "__ring__ void h(const struct in *m) { struct p v = { 3, 4 };"
                                 " struct p w = turn(turn(v)); struct p z = v; z = turn(z);" REPLY(
                                     "v.x * 1000 + w.x * 100 + turn(v).y * 10 + z.x") "}",
                              0, 0),
                     3000 - 300 + 30 - 4);
}

static void pointer_results_keep_their_root(void **unused)
{
    (void)unused;
    assert_int_equal(value_of(IN "static const int *skip(const int *p, int n) { return p + n; }"
                                 "static const int table[4] = { 1, 2, 3, 4 };"
                                 "__ring__ void h(const struct in *m) { int own[4] = { 5, 6, 7, 8 };" REPLY(
                                     "*skip(table, 2) * 10 + *skip(own, 1)") "}",
                              0, 0),
                     36);
}

static void two_pointers_into_one_local_stay_so(void **unused)
{
    (void)unused;
    assert_int_equal(value_of(IN "static long apart(const int *p, int *q) { *q = 9; return (q - p) * 10 + p[2]; }"
                                 "__ring__ void h(const struct in *m) { int own[4] = { 5, 6, 7, 8 };" REPLY(
                                     "apart(own, &own[2])") "}",
                              0, 0),
                     29);
}

static void state_bindings_and_instance_are_there(void **unused)
{
    (void)unused;
    const char *text =
        IN "struct s { long seen[2]; int last; };"
           "__ring__ void h(struct s *self, const struct in *m, long *buffer, int given) {"
           " self->seen[1] += given; self->last = (int)ring_instance(); buffer[2] = self->seen[1];" REPLY(
               "buffer[2] * 1000 + buffer[m->a] * 10 + self->last") "}";
    assert_int_equal(value_of(text, 3, 0), 5000 + 130 + 7);
}

static void exchange_and_add_are_atomic_calls(void **unused)
{
    (void)unused;
    const char *text = IN
        "__ring__ void h(const struct in *m, unsigned long long *w, int given) { unsigned long long seen = 3;"
        " long r = __nv_atomic_compare_exchange_n(w, &seen, 99, false, __NV_ATOMIC_ACQ_REL, __NV_ATOMIC_ACQUIRE,"
        " __NV_THREAD_SCOPE_SYSTEM); r = r * 100 + (long)seen;"
        " r = r * 100 + __nv_atomic_compare_exchange_n(w, &seen, 20, false, __NV_ATOMIC_ACQ_REL,"
        " __NV_ATOMIC_RELAXED, __NV_THREAD_SCOPE_DEVICE);"
        " r = r * 100 + (long)atomicAdd(w, 5); r = r * 100 + (long)atomicMax(&w[1], 4);"
        " r = r * 100 + (long)__nv_atomic_load_n(w, __NV_ATOMIC_ACQUIRE, __NV_THREAD_SCOPE_SYSTEM); ring_reply(&r); }";
    assert_int_equal(value_of(text, 0, 0), 1001201125);
}

static void what_is_not_initialised_is_zero(void **unused)
{
    (void)unused;
    const char *text = IN "__ring__ void h(const struct in *m) { long sum = 0; for (int i = 0; i < 3; i++) {"
                          " int x; int y[3]; sum += x + y[i]; x = 7; y[i] = 9; y[(i + 1) % 3] = 5; }" REPLY("sum") "}";
    assert_int_equal(value_of(text, 0, 0), 0);
}

static void overloads_of_math_follow_their_arguments(void **unused)
{
    (void)unused;
    const char *text = IN "__ring__ void h(const struct in *m) {" REPLY(
        "min(3, -2) * 100000 + (min(3u, 4294967294u) == 3u) * 10000 + (long)(max(1.5f, 2) * 100) + "
        "(long)sqrtf(16.0) + abs(-7) + isnan(0.0f / 1) + (sizeof min(1.0f, 2) == 4)") "}";
    assert_int_equal(value_of(text, 0, 0), -200000 + 10000 + 200 + 4 + 7 + 0 + 1);
}

// ---- faults --------------------------------------------------------------------------------------------------------

static void assert_fault(const char *text, int64_t a, uint32_t fault, uint32_t line)
{
    struct run run = run_text(text, a, 0);
    assert_int_equal(run.fault, fault);
    assert_int_equal(run.line, line);
}

static void an_index_outside_faults_at_its_line(void **unused)
{
    (void)unused;
    const char *text = IN "__ring__ void h(const struct in *m) { int t[4] = { 1 };\n"
                          "  t[m->a] = 3; " REPLY("t[3]") "}";
    assert_int_equal(value_of(text, 3, 0), 3);
    assert_fault(text, 4, SLRI_FAULT_INDEX, 3);
    assert_fault(text, -1, SLRI_FAULT_INDEX, 3);
}

static void a_pointer_walked_out_of_its_local_faults(void **unused)
{
    (void)unused;
    const char *text = IN "static int at(const int *p, long n) {\n return p[n]; }\n"
                          "__ring__ void h(const struct in *m) { int t[4] = { 1, 2, 3, 4 }; " REPLY("at(t, m->a)") "}";
    assert_int_equal(value_of(text, 2, 0), 3);
    assert_fault(text, 4, SLRI_FAULT_INDEX, 3);
    assert_int_equal(value_of(text, INT64_C(1) << 62, 0), 1); // wraps to the first element: inside, and defined
    assert_fault(text, 1000000, SLRI_FAULT_INDEX, 3);
}

static void a_division_by_zero_faults_at_its_line(void **unused)
{
    (void)unused;
    const char *text = IN "__ring__ void h(const struct in *m) {\n\n" REPLY("7 / m->a") "}";
    assert_int_equal(value_of(text, 2, 0), 3);
    assert_fault(text, 0, SLRI_FAULT_DIVIDE, 4);
}

// ---- IR facts ------------------------------------------------------------------------------------------------------

static uint32_t count_op(const struct slri_block *block, enum slri_op op)
{
    uint32_t count = 0;
    for (uint32_t i = 0; block && i < block->count; i++) {
        const struct slri_instr *instr = &block->instr[i];
        count += instr->op == op;
        for (int b = 0; b < 3; b++)
            count += count_op(instr->body[b], op);
        for (uint32_t c = 0; c < instr->cases; c++)
            count += count_op(instr->match[c].body, op);
    }
    return count;
}

static void assert_checks_of(const char *form, const char *statements, uint32_t checks)
{
    char text[1024];
    snprintf(text, sizeof text, form, statements);
    struct slri_module *module = compile_text(text);
    uint32_t found = count_op(module->entry[0].function->body, SLRI_OP_INDEX);
    if (found != checks)
        fail_msg("%u checks, not %u: %s", found, checks, statements);
    slri_module_destroy(module);
}

static void assert_index_checks(const char *statements, uint32_t checks)
{
    assert_checks_of("struct in { int a; unsigned char c; unsigned u; };\n"
                     "__ring__ void h(const struct in *m) { int t[10] = { 0 }, s = 0; %s ring_reply(&s); }",
                     statements, checks);
}

static void assert_message_checks(const char *statements, uint32_t checks)
{
    assert_checks_of("struct in { int a; unsigned char c; unsigned u; };\n"
                     "__ring_batch__ void h(const struct in *m, unsigned n, int k) { int s = 0; %s }",
                     statements, checks);
}

static void messages_up_to_their_number_are_not_checked(void **unused)
{
    (void)unused;
    assert_message_checks("s = m[0].a + m->u; ring_reply_to(0, &s);", 0);
    assert_message_checks("for (unsigned i = 0; i < n; i++) { s += m[i].a + m[i].u; ring_reply_to(i, &s); }", 0);
    assert_message_checks("for (int i = 0; i < (int)n; i += 3) { const struct in *at = &m[i]; s += at->a + at->c; }",
                          0);
    assert_message_checks("for (unsigned i = 0; i != n; ++i) s += m[i].a;", 0);
    assert_message_checks("for (unsigned long i = 0; i < n; i++) s += m[i].a;", 0);
}

static void other_messages_are_checked(void **unused)
{
    (void)unused;
    assert_message_checks("s = m[1].a;", 1);
    assert_message_checks("s = m[n - 1].a;", 1);
    assert_message_checks("for (unsigned i = 0; i <= n; i++) s += m[i].a;", 1);
    assert_message_checks("for (int i = k; i < (int)n; i++) s += m[i].a;", 1);
    assert_message_checks("for (unsigned i = 0; i < n; i++) { s += m[i + 1].a; }", 1);
    assert_message_checks("for (unsigned i = 0; i < n; i++) ; for (int i = 0; i < k; i++) s += m[i].a;", 1);
    assert_message_checks("n = 5; for (unsigned i = 0; i < n; i++) s += m[i].a;", 1);
    assert_message_checks("for (unsigned i = 0; i < n; i++) { s += m[i].a; i += k; }", 1);
}

static void indices_that_cannot_leave_are_not_checked(void **unused)
{
    (void)unused;
    assert_index_checks("for (int i = 0; i < 10; i++) s += t[i];", 0);
    assert_index_checks("for (int i = 9; i >= 0; --i) s += t[i];", 0);
    assert_index_checks("for (unsigned i = 0; i != 10; i++) s += t[i];", 0);
    assert_index_checks("for (int i = 0; i <= 3; i++) s += t[2 * i + 3];", 0);
    assert_index_checks("for (unsigned long i = 0; i < sizeof t / sizeof t[0]; i++) s += t[i];", 0);
    assert_index_checks("for (int i = 0; i < sizeof t / sizeof t[0]; i++) s += t[i];", 0);
    assert_index_checks("for (int i = 0; i < 10; i++) for (int j = 0; j < i; j++) s += t[i - j];", 1);
    assert_index_checks("for (int i = 0; i < 10; i++) for (int j = 0; j <= i; j++) s += t[j];", 0);
    assert_index_checks("s = t[m->u % 10] + t[m->a & 7] + t[m->c >> 5] + t[m->u >> 29];", 0);
    assert_index_checks("s = t[9];", 0);
}

static void indices_that_may_leave_are_checked(void **unused)
{
    (void)unused;
    assert_index_checks("s = t[m->a];", 1);
    assert_index_checks("for (int i = 0; i <= 10; i++) s += t[i];", 1);
    assert_index_checks("for (int i = 0; i < m->a; i++) s += t[i];", 1);
    assert_index_checks("for (int i = 0; i < 10; i++) { s += t[i]; i += m->a; }", 1);
    assert_index_checks("for (int i = 0; i < 10; i++) s += t[i + 1];", 1);
    assert_index_checks("for (int i = -1; i < 10; i++) s += t[i];", 1);
    assert_index_checks("for (unsigned i = 9; i >= 0; i--) { s += t[i]; if (s) break; }", 1);
    assert_index_checks("for (int i = 0; i < 10; i++) ; for (int i = m->a; i < 10; i++) s += t[i];", 1);
    assert_index_checks("for (int i = 0; i < (i = -5, 10); i++) s += t[i];", 1);
    assert_index_checks("for (int i = 0; i < (i = -5, 10); i++) s += t[i % 10];", 1);
    assert_index_checks("for (unsigned i = m->u; (int)i < 10; i++) s += t[i];", 1);
    assert_index_checks("for (int i = 0; i < 10; i++) { int *p = &i; *p = m->a; s += t[i]; }", 1);
    assert_index_checks("s = t[m->a % 10] + t[m->u & 15];", 2);
    assert_index_checks("for (int i = 0; i < 10; i += 2147483647) s += t[i];", 1);
    assert_index_checks("int i = 0; while (i < 10) { s += t[i]; i++; }", 1);
}

static void a_function_is_specialised_once_for_each_root(void **unused)
{
    (void)unused;
    struct slri_module *module =
        compile_text(IN "struct s { int x[4], y[4]; };"
                        "static int first(const int *p) { return p[0]; }"
                        "__ring__ void h(struct s *self, const struct in *m, const int *table) { int own[2] = { 0 };"
                        " int r = first(self->x) + first(self->y) + first(table) + first(own) + first(own);"
                        " ring_reply(&r); }");
    assert_int_equal(module->functions, 4); // of the state, of the binding, of a local; and the handler
    assert_string_equal(module->function[0]->name, "first");
    assert_string_equal(module->function[1]->name, "first__1");
    assert_int_equal(module->function[1]->params, 1);
    assert_false(module->function[1]->param[0].is_memory);
    assert_true(module->function[2]->param[0].is_memory);
    assert_int_equal(module->function[2]->param[0].bytes, 8);
    slri_module_destroy(module);
}

static void entries_say_what_they_take(void **unused)
{
    (void)unused;
    struct slri_module *module = compile_text(
        IN "struct s { int x; }; struct r { float f; };"
           "__ring__ void one(const struct in *m) {}\n"
           "__ring__ void two(struct s *self, const struct in *m, const float *w, struct s *out, double k) {"
           " struct r r = { w[0] }; ring_reply(&r); }");
    const struct slri_entry *two = slri_module_entry(module, "two");
    assert_int_equal(module->entries, 2);
    assert_null(slri_module_entry(module, NULL));
    assert_null(slri_module_entry(module, "three"));
    assert_null(module->entry[0].state);
    assert_null(module->entry[0].reply);
    assert_string_equal(two->state->name, "s");
    assert_string_equal(two->message->name, "in");
    assert_string_equal(two->reply->name, "r");
    assert_int_equal(two->bindings, 3);
    assert_true(two->binding[0].is_buffer && two->binding[0].is_const);
    assert_true(two->binding[1].is_buffer && !two->binding[1].is_const);
    assert_int_equal(two->binding[1].type->kind, SLRI_STRUCT);
    assert_false(two->binding[2].is_buffer);
    assert_int_equal(two->binding[2].type->kind, SLRI_F64);
    slri_module_destroy(module);
}

static void functions_that_nothing_calls_are_checked_and_left_out(void **unused)
{
    (void)unused;
    struct slri_module *module = compile_text(IN "static int unused(int *p, struct in v) { return p[3] + (int)v.a; }"
                                                 "__ring__ void h(const struct in *m) {}");
    assert_int_equal(module->functions, 1);
    slri_module_destroy(module);
    assert_rejected(IN "static int *unused(int *p, int *q, int n) { if (n) return p; return q; }\n"
                       "__ring__ void h(const struct in *m) {}",
                    SLRI_K_POINTER_ROOTS_DIFFER, 2, 69, 1);
}

static void count_volatile(const struct slri_block *block, uint32_t *loads, uint32_t *stores)
{
    for (uint32_t i = 0; block && i < block->count; i++) {
        const struct slri_instr *in = &block->instr[i];
        *loads += in->is_volatile && in->op == SLRI_OP_LOAD;
        *stores += in->is_volatile && in->op == SLRI_OP_STORE;
        for (int part = 0; part < 3; part++)
            count_volatile(in->body[part], loads, stores);
    }
}

// By the type of the place, as in C: not by what lies there.
static void each_access_to_what_is_volatile_is_one(void **unused)
{
    (void)unused;
    static const struct {
        const char *body;
        uint32_t loads, stores;
    } list[] = {
        {"volatile int x = a[0]; a[1] = x + x;", 2, 1},
        {"volatile int *p = a; p[0] = p[1] + p[1]; p[2];", 3, 1},
        {"*(volatile int *)a = a[1]; a[2] = *(volatile int *)a;", 1, 1},
        {"a[0] = f->ready; f->other = 1; f->ready++; (void)f->ready;", 3, 1},
        {"__shared__ volatile int s[4]; s[a[0] & 3] += 2; int *q = (int *)s; q[1] = 1;", 1, 1},
        {"const volatile int c = 5; a[0] = c;", 1, 1},
        {"flag v = a[0]; a[1] = v; g = v; a[2] = g;", 3, 2},
        {"for (volatile int i = 0; i < 3; i++) a[i] = 1;", 3, 2},
    };
    for (size_t i = 0; i < sizeof list / sizeof *list; i++) {
        char text[600];
        uint32_t loads = 0, stores = 0;
        snprintf(text, sizeof text,
                 "typedef volatile int flag; struct f { volatile int ready; int other; };\n__device__ flag g;\n"
                 "__global__ void k(int *a, struct f *f) { %s }\n",
                 list[i].body);
        struct slri_module *module = compile_text(text);
        count_volatile(module->entry[0].function->body, &loads, &stores);
        if (loads != list[i].loads || stores != list[i].stores)
            fail_msg("%s: %u loads, %u stores", list[i].body, loads, stores);
        slri_module_destroy(module);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_access_to_what_is_volatile_is_one),
        cmocka_unit_test(interpreted_c_equals_the_hosts),
        cmocka_unit_test(functions_take_and_return_structs_by_value),
        cmocka_unit_test(pointer_results_keep_their_root),
        cmocka_unit_test(two_pointers_into_one_local_stay_so),
        cmocka_unit_test(state_bindings_and_instance_are_there),
        cmocka_unit_test(exchange_and_add_are_atomic_calls),
        cmocka_unit_test(what_is_not_initialised_is_zero),
        cmocka_unit_test(overloads_of_math_follow_their_arguments),
        cmocka_unit_test(an_index_outside_faults_at_its_line),
        cmocka_unit_test(a_pointer_walked_out_of_its_local_faults),
        cmocka_unit_test(a_division_by_zero_faults_at_its_line),
        cmocka_unit_test(indices_that_cannot_leave_are_not_checked),
        cmocka_unit_test(messages_up_to_their_number_are_not_checked),
        cmocka_unit_test(other_messages_are_checked),
        cmocka_unit_test(indices_that_may_leave_are_checked),
        cmocka_unit_test(a_function_is_specialised_once_for_each_root),
        cmocka_unit_test(entries_say_what_they_take),
        cmocka_unit_test(functions_that_nothing_calls_are_checked_and_left_out),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
