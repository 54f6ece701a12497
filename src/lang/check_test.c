// SPDX-License-Identifier: Apache-2.0
// What is refused: with which number, at which token (^^ in the text), and in which words.
#include "lang/compile_test.h"

#define IN "struct in { long a; int t[4]; float f; };\n"
#define H(body) IN "__ring__ void h(const struct in *m) {\n" body "\n}"

struct refused {
    const char *text;
    unsigned code;
    const char *words;
};

static void all_are_refused(const struct refused *list, size_t count)
{
    size_t right = 0;
    for (size_t i = 0; i < count; i++)
        right += is_marked(list[i].text, list[i].code, list[i].words);
    assert_int_equal(right, count);
}

#define REFUSE(list) all_are_refused(list, sizeof list / sizeof *list)

static void grammar_that_is_wrong_is_refused(void **unused)
{
    (void)unused;
    static const struct refused list[] = {
        {IN "__ring__ void h(const struct in *m) { int x = 1 ^^}", SLRI_K_UNEXPECTED_TOKEN,
         "expected ';' after the declaration, found '}'"},
        {H("int x = (1 + ^^; int y;"), SLRI_K_UNEXPECTED_TOKEN, "expected an expression, found ';'"},
        {H("if ^^m->a { }"), SLRI_K_UNEXPECTED_TOKEN, "expected '(' after if"},
        {H("int t[4] = ^^7;"), SLRI_K_UNEXPECTED_TOKEN, "the array's values in {}"},
        {H("^^case 1: ;"), SLRI_K_BAD_CASE, "'case' is not directly inside a switch"},
        {H("switch (m->a) { ^^m; case 1: break; }"), SLRI_K_BAD_CASE, "before the first"},
        {H("switch (m->a) { case 2: case 1: break; ^^case 2: break; }"), SLRI_K_DUPLICATE_CASE, "already exists"},
        {H("^^break;"), SLRI_K_BREAK_OUTSIDE, "'break' outside a loop or switch"},
        {H("switch (1) { case 1: ^^continue; }"), SLRI_K_BREAK_OUTSIDE, "'continue' outside a loop"},
        {H("^^again: ;"), SLRI_K_GOTO, "a label"},
        {H("^^goto done;"), SLRI_K_GOTO, "goto"},
        {"^^struct nothing { };" IN "__ring__ void h(const struct in *m) {}", SLRI_K_EMPTY_STRUCT, "no members"},
        {H("unsigned fast ^^x;"), SLRI_K_UNEXPECTED_TOKEN, "found 'x'"},
        {H("^^float int x;"), SLRI_K_BAD_TYPE, "make no type"},
        {H("^^speed x = 1;"), SLRI_K_UNKNOWN_NAME, "'speed' is not the name of a type"},
    };
    REFUSE(list);
}

static void expressions_that_are_wrong_are_refused(void **unused)
{
    (void)unused;
    static const struct refused list[] = {
        {H("int x = ^^y;"), SLRI_K_UNKNOWN_NAME, "'y' is not declared"},
        {H("int x; int ^^x;"), SLRI_K_REDEFINITION, "already defined in line 3"},
        {H("int x = ^^*m;"), SLRI_K_WRONG_TYPE, "has the type struct in, but must be int"},
        {H("3 ^^= m->a;"), SLRI_K_NOT_AN_LVALUE, "assigned"},
        {H("(int)m->a ^^++;"), SLRI_K_CONST_VIOLATED, "the member 'a' is const"},
        {H("long v = m->^^b;"), SLRI_K_UNKNOWN_MEMBER, "struct in has no member 'b'"},
        {H("long v = m.^^a;"), SLRI_K_UNKNOWN_MEMBER, "const struct in *"},
        {H("m->t[1] ^^= 3;"), SLRI_K_CONST_VIOLATED, "const"},
        {H("const int k = 3; k ^^+= 1;"), SLRI_K_CONST_VIOLATED, "'k' is const"},
        {H("int *p = m->^^t;"), SLRI_K_CONST_VIOLATED, "cannot lose its const"},
        {H("float x = m->f ^^% 2;"), SLRI_K_FLOAT_OPERAND, "'%' between float and int"},
        {H("long x = m->a ^^/ 0;"), SLRI_K_DIVISION_BY_ZERO, "'/'"},
        {H("int x = 1 ^^<< 32;"), SLRI_K_SHIFT_OUT_OF_RANGE, "a shift of int by 32"},
        {H("static const int t[2] = { 1, 2 }; int n[t[^^0]];"), SLRI_K_NOT_CONSTANT, "an array's extent"},
        {H("static const int ^^t[2] = { 1, (int)m->a };"), SLRI_K_NOT_CONSTANT, "the static table 't'"},
        {H("int n[^^-3];"), SLRI_K_EXTENT_NOT_CONSTANT, "-3 elements"},
        {H("int x = m->t[^^4];"), SLRI_K_INDEX_OUTSIDE_EXTENT, "element 4 of int[4]"},
        {H("int x = m->t[^^-1];"), SLRI_K_INDEX_OUTSIDE_EXTENT, "element -1"},
        {H("const int *p = m->t; int x = p[^^9];"), SLRI_K_INDEX_OUTSIDE_EXTENT, "the message"},
        {H("int x = m->a^^(3);"), SLRI_K_NOT_A_FUNCTION, "the member 'a'"},
        {H("^^scanf(3);"), SLRI_K_UNKNOWN_FUNCTION, "'scanf'"},
        {H("int t[2] = { 1, 2, ^^3 };"), SLRI_K_BAD_INITIALIZER, "more values than int[2] holds"},
        {H("return ^^3;"), SLRI_K_RETURN_TYPE, "is void"},
        {H("int x = m->a[^^2];"), SLRI_K_NOT_A_POINTER, "no elements"},
        {H("struct in v = *m; int x = v ^^+ 1;"), SLRI_K_WRONG_OPERANDS, "'+' between struct in and int"},
        {H("int *p = ^^&3;"), SLRI_K_ADDRESS_OF, "has no address"},
        {H("if (^^*m) ;"), SLRI_K_WRONG_TYPE, "struct in"},
        {H("int x = ^^ring_reply(m);"), SLRI_K_VOID_VALUE, "void"},
        {H("float x = ^^sqrtf(1, 2);"), SLRI_K_WRONG_ARGUMENT_COUNT, "'sqrtf' takes 1 argument, but got 2"},
        {H("int x; atomicAdd(^^&m->a, 1);"), SLRI_K_CONST_VIOLATED, "const long"},
        {H("float s; double c; sincosf(1.0f, &s, ^^&c);"), SLRI_K_WRONG_TYPE, "argument 3 of 'sincosf'"},
        {H("float s; ^^sincosf(1.0f, &s);"), SLRI_K_WRONG_ARGUMENT_COUNT, "takes 3 arguments, but got 2"},
        {H("float s; frexpf(1.0f, ^^&s);"), SLRI_K_WRONG_TYPE, "must be int *"},
        {H("float x; atomicMax(^^&x, 1);"), SLRI_K_WRONG_TYPE, "integers of 32 and 64 bits"},
        {H("int x; __nv_atomic_load_n(&x, ^^__NV_THREAD_SCOPE_SYSTEM, __NV_THREAD_SCOPE_SYSTEM);"), SLRI_K_NOT_CONSTANT,
         "a memory order"},
        {H("enum { ^^A = 3000000000 };"), SLRI_K_VALUE_OUT_OF_RANGE, "3000000000"},
        {IN "static int f(int x) { if (x) return 1; ^^}\n__ring__ void h(const struct in *m) {}", SLRI_K_MISSING_RETURN,
         "'f' returns int"},
    };
    REFUSE(list);
}

static void what_is_outside_the_subset_is_refused(void **unused)
{
    (void)unused;
    static const struct refused list[] = {
        {H("__shared__ float s[32]; s[3] ^^= 1;"), SLRI_K_NOT_IN_HANDLER, "__shared__"},
        {"^^union u { int a; float b; };" IN "__ring__ void h(const struct in *m) {}", SLRI_K_UNSUPPORTED_TYPE,
         "union"},
        {"struct s { int a ^^: 3; };" IN "__ring__ void h(const struct in *m) {}", SLRI_K_UNSUPPORTED_FEATURE,
         "bit-field"},
        {"struct s { int *^^p; };" IN "__ring__ void h(const struct in *m) {}", SLRI_K_POINTER_IN_MEMORY, "'p'"},
        {"^^template <class T> T f(T x) { return x; }\n" IN "__ring__ void h(const struct in *m) {}", SLRI_K_CPLUSPLUS,
         "templates"},
        {IN "static int f(int x, ^^...) { return x; }\n__ring__ void h(const struct in *m) {}", SLRI_K_VARARGS,
         "variable"},
        {IN "static void f(void ^^(*g)(int)) { }\n__ring__ void h(const struct in *m) {}", SLRI_K_FUNCTION_POINTER,
         "pointer to a function"},
        {IN "static int f(int x) { return x; }\n__ring__ void h(const struct in *m) { int v = ^^f; }",
         SLRI_K_FUNCTION_POINTER, "'f'"},
        {H("^^malloc(3);"), SLRI_K_DYNAMIC_ALLOCATION, "malloc"},
        {H("static int ^^n = 0;"), SLRI_K_STATIC_LOCAL, "from message to message"},
        {"int n = 3;" IN "__ring__ void h(const struct in *m) { int x = ^^n; }", SLRI_K_GLOBAL_VARIABLE,
         "'n' in line 1"},
        {"static const float ^^t[3];" IN "__ring__ void h(const struct in *m) {}", SLRI_K_BAD_INITIALIZER, "no values"},
        {"__constant__ float t[3];" IN "__ring__ void h(const struct in *m) { float x = t[^^1]; }",
         SLRI_K_NOT_IN_HANDLER, "a variable of the file in the handler 'h': give it its state, or a binding"},
        {"float f(float x) { return x; }" IN "__ring__ void h(const struct in *m) { float y = ^^f(1); }",
         SLRI_K_HOST_CODE, "'f' in line 1 was skipped: it is the host's"},
        {H("k^^<<<1, 2>>>(m);"), SLRI_K_HOST_CODE, "a kernel launch"},
        {H("int x = ^^threadIdx.x;"), SLRI_K_NOT_IN_HANDLER, "one thread"},
        {H("^^__syncthreads();"), SLRI_K_NOT_IN_HANDLER, "a barrier"},
        {H("int ^^&x = y;"), SLRI_K_CPLUSPLUS, "a reference"},
        {H("const char *no = ^^\"ok\";"), SLRI_K_UNSUPPORTED_FEATURE, "write 'char NAME[] = ...'"},
        {H("int y; int *^^volatile x = &y;"), SLRI_K_UNSUPPORTED_FEATURE, "a pointer that is volatile itself"},
        {H("volatile int y = 1; int *x = ^^&y;"), SLRI_K_CONST_VIOLATED, "loses its volatile only by a cast"},
        {"struct s { int a; };" IN "__ring__ void h(const struct in *m) { volatile struct s x; struct s y = ^^x; }",
         SLRI_K_UNSUPPORTED_FEATURE, "a copy of 'x', which is volatile"},
        {"struct s { int a; };" IN "__ring__ void h(const struct in *m) { volatile struct s x; struct s y; x ^^= y; }",
         SLRI_K_UNSUPPORTED_FEATURE, "all of 'x', which is volatile"},
        {H("^^long double x;"), SLRI_K_UNSUPPORTED_TYPE, "long double"},
        {H("^^asm(1);"), SLRI_K_INLINE_ASSEMBLY, "assembly"},
    };
    REFUSE(list);
}

static void rules_on_pointers_are_kept(void **unused)
{
    (void)unused;
    static const struct refused list[] = {
        {H("const int *p = m->t; int own[4]; p ^^= own;"), SLRI_K_POINTER_ROOTS_DIFFER,
         "one into the message, one into the local 'own'"},
        {H("const int *p; int x = *^^p;"), SLRI_K_POINTER_ROOT_UNKNOWN, "'p' is used before"},
        {H("int own[4]; const int *p = m->a ^^? own : m->t;"), SLRI_K_POINTER_ROOTS_DIFFER, "'?:'"},
        {H("int own[4]; int x = own ^^< m->t;"), SLRI_K_POINTER_ROOTS_DIFFER, "compared"},
        {H("int own[4]; long x = own ^^- m->t;"), SLRI_K_POINTER_ROOTS_DIFFER, "compared"},
        {H("int *p = ^^0;"), SLRI_K_POINTER_ROOT_UNKNOWN, "null pointer"},
        {H("const int *p = m->t; if (^^p) ;"), SLRI_K_POINTER_COMPARISON, "no pointer is null"},
        {H("const int *p = m->t; if (p ^^== 0) ;"), SLRI_K_POINTER_COMPARISON, "no pointer is null"},
        {H("const double *p = ^^(const double *)m->t;"), SLRI_K_POINTER_CAST, "from const int * to const double *"},
        {H("long x = ^^(long)m;"), SLRI_K_POINTER_CAST, "to long"},
        {H("int own[4]; int *p = own; int *q = ^^&p;"), SLRI_K_POINTER_IN_MEMORY, "'p' is a pointer"},
        {H("int *t^^[3];"), SLRI_K_POINTER_IN_MEMORY, "an array of int *"},
        {H("int *^^*p;"), SLRI_K_POINTER_IN_MEMORY, "a pointer to a pointer"},
        {IN "static int *f(void) { int x = 1; return ^^&x; }\n__ring__ void h(const struct in *m) { f(); }",
         SLRI_K_POINTER_RETURN, "the local 'x'"},
        {IN "__device__ int f(int n);\n__ring__ void h(const struct in *m) { ^^f(1); }", SLRI_K_UNKNOWN_FUNCTION,
         "never defined"},
    };
    REFUSE(list);
    assert_rejected(IN
                    "static int f(int n) { return n ? f(n - 1) : 0; }\n__ring__ void h(const struct in *m) { f(3); }",
                    SLRI_K_RECURSION, 2, 34, 1);
    assert_rejected(IN "__device__ int f(int n); static int g(int n) { return f(n); }\n"
                       "__device__ int f(int n) { return g(n); }\n__ring__ void h(const struct in *m) { g(1); }",
                    SLRI_K_RECURSION, 3, 34, 1);
}

static void handlers_have_their_shape(void **unused)
{
    (void)unused;
    static const struct refused list[] = {
        {IN "__ring__ void ^^h(void) {}", SLRI_K_BAD_MESSAGE_PARAMETER, "has no message"},
        {IN "__ring_batch__ void ^^h(const struct in *m) {}", SLRI_K_BAD_BATCH,
         "is not given how many messages it has"},
        {IN "__ring_batch__ void h(const struct in *m, float ^^n) {}", SLRI_K_BAD_BATCH, "is not given how many"},
        {IN "__ring_batch__ void h(const struct in *m, int n, ring_to(struct in) ^^o) {}", SLRI_K_BAD_BATCH,
         "'o' is an output channel"},
        {IN "__ring_batch__ __ring_block__ void ^^h(const struct in *m, int n) {}", SLRI_K_UNSUPPORTED_FEATURE,
         "both __ring_block__ and __ring_batch__"},
        {IN "__ring_batch__ void h(const struct in *m, int n) { struct in v = m[^^128]; }", SLRI_K_INDEX_OUTSIDE_EXTENT,
         "message 128 of at most 128"},
        {IN "__ring_batch__ void h(const struct in *m, int n) { ^^ring_reply(m); }", SLRI_K_NOT_IN_HANDLER,
         "ring_reply in the handler 'h', which has many messages"},
        {IN "__ring__ void h(const struct in *m) { ^^ring_reply_to(0, m); }", SLRI_K_NOT_IN_HANDLER,
         "ring_reply_to in the handler 'h', which has one message"},
        {IN "__ring_batch__ void h(const struct in *m, int n) { ring_reply_to(0, ^^3); }", SLRI_K_BAD_REPLY,
         "a reply is given by a pointer"},
        {IN "__ring__ void ^^h(struct in *s) {}", SLRI_K_BAD_MESSAGE_PARAMETER, "has no message"},
        {IN "__ring__ void h(struct in *s, int ^^n) {}", SLRI_K_BAD_MESSAGE_PARAMETER, "parameter 2 of 'h' is a int"},
        {IN "__ring__ void h(float *^^s, const struct in *m) {}", SLRI_K_BAD_STATE_PARAMETER, "float *"},
        {IN "__ring__ void h(const struct in *m, struct in ^^v) {}", SLRI_K_BAD_BINDING_PARAMETER, "struct in"},
        {IN "__ring__ int ^^h(const struct in *m) { return 1; }", SLRI_K_HANDLER_RETURNS, "returns int"},
        {IN "__ring__ void g(const struct in *m) {}\n__ring__ void h(const struct in *m) { ^^g(m); }",
         SLRI_K_HANDLER_CALLED, "'g'"},
        {H("long x = 1; int y = 2; ring_reply(&x); ^^ring_reply(&y);"), SLRI_K_REPLY_TYPE_DIFFERS,
         "int, and before it one of long"},
        {H("ring_reply(^^3);"), SLRI_K_BAD_REPLY, "not by int"},
        {"^^static int f(void) { return 1; }", SLRI_K_NO_HANDLER, "no __ring__ handler"},
        {IN "static void f(int x) { ring_reply(&x); }\n__ring__ void h(const struct in *m) { long y = 1; "
            "ring_reply(&y); ^^f(1); }",
         SLRI_K_REPLY_TYPE_DIFFERS, "int"},
    };
    REFUSE(list);
}

static void kernels_have_their_shape(void **unused)
{
    (void)unused;
    static const struct refused list[] = {
        {"__global__ int ^^k(int *out) { return 1; }", SLRI_K_KERNEL_RETURNS, "returns int"},
        {"struct far; __global__ void k(struct far *^^p) { }", SLRI_K_BAD_KERNEL_PARAMETER, "struct far *"},
        {"__global__ void k(int *out) { *out = threadIdx.^^w; }", SLRI_K_UNKNOWN_BUILTIN_MEMBER, "no member 'w'"},
        {"__global__ void k(int *out) { ^^ring_reply(out); }", SLRI_K_NOT_IN_KERNEL, "ring_reply in the kernel 'k'"},
        {"__global__ void k(int *out) { *out = ^^ring_instance(); }", SLRI_K_NOT_IN_KERNEL, "ring_instance"},
        {"__global__ void k(void) { __shared__ int ^^s[]; }", SLRI_K_EXTENT_NOT_CONSTANT, "'s'"},
        {"__global__ void k(void) { extern __shared__ int ^^s[4]; }", SLRI_K_BAD_SHARED, "'s' is extern"},
        {"__global__ void k(void) { __shared__ int s ^^= 3; }", SLRI_K_BAD_SHARED, "has an initialiser"},
        {"__global__ void k(void) { __shared__ int *^^s; }", SLRI_K_POINTER_IN_MEMORY, "pointer in shared memory"},
        {"__shared__ int ^^s[4];\n__global__ void k(void) { s[0] = 1; }", SLRI_K_BAD_SHARED, "outside a function"},
        {"__global__ void k(void) { __shared__ int ^^s[20000]; }", SLRI_K_TYPE_TOO_LARGE, "80000 bytes"},
        {"__global__ void ^^k(void) { __shared__ int s[8000], t[8000]; s[0] = t[0] = 1; }", SLRI_K_TYPE_TOO_LARGE,
         "64000 bytes"},
        {"__global__ void k(void);\n__global__ void l(void) { ^^k(); }", SLRI_K_HANDLER_CALLED, "'k' is a __global__"},
        {"struct __attribute__((^^packed)) s { char a; int b; };" IN "__ring__ void h(const struct in *m) {}",
         SLRI_K_ATTRIBUTE, "'packed'"},
        {"struct __align__(^^12) s { int a; };" IN "__ring__ void h(const struct in *m) {}", SLRI_K_VALUE_OUT_OF_RANGE,
         "alignment of 12"},
        {"struct s { int a; alignas(^^256) int b; };" IN "__ring__ void h(const struct in *m) {}",
         SLRI_K_VALUE_OUT_OF_RANGE, "alignment of 256"},
        {"typedef struct { float x; } ^^v __attribute__((aligned(16)));" IN "__ring__ void h(const struct in *m) {}",
         SLRI_K_ATTRIBUTE, "'v' has an alignment"},
        {"__global__ void k(float (*a)^^[]) { }", SLRI_K_INCOMPLETE_TYPE, "pointer to float[]"},
        {"^^__device__ void __launch_bounds__(64) f(void) { }\n__global__ void k(void) { f(); }", SLRI_K_ATTRIBUTE,
         "'f'"},
    };
    REFUSE(list);
    assert_accepted("extern \"C\" __global__ void __launch_bounds__(128, 2) k(float *__restrict__ y) { y[0] = 1; }\n"
                    "__global__ __launch_bounds__(64) void l(struct { int n; } p) { }");
    assert_rejected("__device__ int f(void) { return threadIdx.x; }\n" IN
                    "__ring__ void h(const struct in *m) { f(); }\n"
                    "__global__ void k(int *out) { *out = f(); }",
                    SLRI_K_NOT_IN_HANDLER, 1, 33, 1);
}

static void several_errors_are_said_in_one_run(void **unused)
{
    (void)unused;
    const char *text = H("int x = y;\nint z = ;\nx = w + v;\nif (x { z = 1; }\nz = q;");
    assert_rejected(text, SLRI_K_UNKNOWN_NAME, 3, 9, 6);
    assert_rejected(text, SLRI_K_UNEXPECTED_TOKEN, 4, 9, 6);
    assert_rejected(text, SLRI_K_UNKNOWN_NAME, 5, 5, 6);
    assert_rejected(text, SLRI_K_UNKNOWN_NAME, 5, 9, 6);
    assert_rejected(text, SLRI_K_UNEXPECTED_TOKEN, 6, 7, 6);
    assert_rejected(text, SLRI_K_UNKNOWN_NAME, 7, 5, 6);
}

static void a_function_lowered_twice_reports_once(void **unused)
{
    (void)unused;
    assert_rejected(IN "static int f(const int *p) { int own[2]; p = own; return *p; }\n"
                       "__ring__ void h(const struct in *m) { int own[3]; f(m->t); f(own); }",
                    SLRI_K_POINTER_ROOTS_DIFFER, 2, 44, 1);
}

// ---- bounds --------------------------------------------------------------------------------------------------------

static void assert_repeated(const char *before, const char *part, unsigned times, const char *after, unsigned code)
{
    size_t length = strlen(part), head = strlen(before), tail = strlen(after);
    char *text = test_malloc(head + times * length + tail + 1);
    memcpy(text, before, head);
    for (unsigned i = 0; i < times; i++)
        memcpy(text + head + i * length, part, length);
    memcpy(text + head + times * length, after, tail + 1);
    struct slri_module *module;
    char wanted[32];
    snprintf(wanted, sizeof wanted, "SLR-K%03u", code);
    assert_int_equal(compile_quietly(text, &module), code ? SLR_COMPILE : SLR_OK);
    if (code && !strstr(slr_error_message(), wanted))
        fail_msg("%s%s...: wanted %s\n%.500s", before, part, wanted, slr_error_message());
    slri_module_destroy(module);
    test_free(text);
}

#define BEGIN IN "__ring__ void h(const struct in *m) { int x = 0; x = "

static void depth_and_size_have_limits(void **unused)
{
    (void)unused;
    assert_repeated(BEGIN, "(", 150, "1;}", SLRI_K_UNEXPECTED_TOKEN);
    assert_repeated(BEGIN, "(", 100000, "1;}", SLRI_K_NESTING_TOO_DEEP);
    assert_repeated(BEGIN, "-", 100000, "1;}", SLRI_K_NESTING_TOO_DEEP);
    assert_repeated(BEGIN "1;", "{", 100000, "", SLRI_K_NESTING_TOO_DEEP);
    assert_repeated(BEGIN "1;", "if (x) ", 100000, ";}", SLRI_K_NESTING_TOO_DEEP);
    assert_repeated(BEGIN, "x + ", 900, "1;}", 0);
    assert_repeated(BEGIN, "x + ", 100000, "1;}", SLRI_K_NESTING_TOO_DEEP);
    assert_repeated(BEGIN, "x = ", 100000, "1;}", SLRI_K_NESTING_TOO_DEEP);
    assert_repeated(BEGIN, "x ? 1 : ", 100000, "1;}", SLRI_K_NESTING_TOO_DEEP);
    assert_repeated(BEGIN "1; int t", "[2]", 100000, ";}", SLRI_K_NESTING_TOO_DEEP);
    assert_repeated(BEGIN "1; int t", "[2]", 40, ";}", SLRI_K_TYPE_TOO_LARGE);
    assert_repeated(BEGIN "1; ", "struct { ", 100000, "", SLRI_K_NESTING_TOO_DEEP);
    assert_repeated(BEGIN "1; int t[1] = ", "{", 100000, "", SLRI_K_UNEXPECTED_TOKEN);
    assert_repeated(BEGIN "1; int t[1] = { 1 }, y = ", "t[", 100000, "", SLRI_K_NESTING_TOO_DEEP);
    assert_repeated(IN, "}", 100000, "", SLRI_K_UNEXPECTED_TOKEN);
    assert_repeated(IN, "int f(", 100000, "", SLRI_K_NO_HANDLER);
    assert_repeated(IN, "static int f(", 100000, "", SLRI_K_NESTING_TOO_DEEP);
    assert_repeated(BEGIN "1; int big[70000];", "", 0, "}", SLRI_K_TYPE_TOO_LARGE);
    assert_repeated(IN "static const char t[20000000] = { 1 };", "", 0, "", SLRI_K_TYPE_TOO_LARGE);
}

static void calls_that_multiply_are_bounded(void **unused)
{
    (void)unused;
    // each function calls the one before with new roots: two to the 24th specialisations
    char text[8192];
    size_t length = (size_t)snprintf(text, sizeof text, IN "static int f0(int *p, int *q) { return *p + *q; }\n");
    for (int i = 1; i < 25; i++)
        length +=
            (size_t)snprintf(text + length, sizeof text - length,
                             "static int f%d(int *p, int *q) { int a[%d], b[%d]; return f%d(a, q) + f%d(p, b); }\n", i,
                             i, i + 30, i - 1, i - 1);
    snprintf(text + length, sizeof text - length, "__ring__ void h(const struct in *m) { int x, y; f24(&x, &y); }");
    struct slri_module *module;
    slr_status status = compile_quietly(text, &module);
    assert_true(status == SLR_OK || status == SLR_COMPILE);
    slri_module_destroy(module);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(grammar_that_is_wrong_is_refused),
        cmocka_unit_test(expressions_that_are_wrong_are_refused),
        cmocka_unit_test(what_is_outside_the_subset_is_refused),
        cmocka_unit_test(rules_on_pointers_are_kept),
        cmocka_unit_test(handlers_have_their_shape),
        cmocka_unit_test(kernels_have_their_shape),
        cmocka_unit_test(several_errors_are_said_in_one_run),
        cmocka_unit_test(a_function_lowered_twice_reports_once),
        cmocka_unit_test(depth_and_size_have_limits),
        cmocka_unit_test(calls_that_multiply_are_bounded),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
