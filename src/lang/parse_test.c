// SPDX-License-Identifier: Apache-2.0
// What the grammar takes: declarations in all their forms, layout as the host's compiler has it, recovery.
#include "lang/compile_test.h"

#define IN "struct in { long a; };\n"
#define EMPTY "\n__ring__ void h(const struct in *m) {}"

// ---- layout --------------------------------------------------------------------------------------------------------

// The same text for the host and for the front end.
#define LAYOUTS(name, ...)                                                                                             \
    __VA_ARGS__                                                                                                        \
    static const char name[] = #__VA_ARGS__;

#ifdef _WIN32
#define long long long // as in kernels, whose text keeps the word
#endif

LAYOUTS(
    first_layouts,
    struct small {
        char a;
        short b;
        char c;
    };
    struct wide {
        char a;
        double b;
        char c;
        long d;
        unsigned char e[3];
    };
    struct nested {
        struct small s[3];
        char tail;
        struct {
            float x, y;
            unsigned short z;
        } inner;
        struct wide w;
    };)

#undef long

LAYOUTS(
    other_layouts,
    struct sized {
        int8_t a;
        uint16_t b;
        int32_t c;
        uint64_t d;
        size_t e;
        _Bool f;
        long long g;
        unsigned h;
    };
    struct __attribute__((aligned(16))) body { float x, y, z; };
    struct half_used { char a; } __attribute__((aligned(8), unused)); struct aligned {
        char a;
        _Alignas(16) int b;
        char c;
        short d __attribute__((aligned(32)));
        struct body e[2];
        _Alignas(double) float f;
        struct half_used g[3];
        char h[3] __attribute__((aligned));
    };)

static const struct slri_type *state_of(struct slri_module **module, const char *tag)
{
    char text[4096];
    snprintf(text, sizeof text, "%s %s struct in { int a; };\n__ring__ void h(struct %s *s, const struct in *m) {}",
             first_layouts, other_layouts, tag);
    *module = compile_text(text);
    return (*module)->entry[0].state;
}

#define ASSERT_FIELD(type, number, tag, member)                                                                        \
    do {                                                                                                               \
        assert_string_equal((type)->field[number].name, #member);                                                      \
        assert_int_equal((type)->field[number].offset, offsetof(struct tag, member));                                  \
        assert_int_equal((type)->field[number].type->bytes, sizeof(((struct tag *)0)->member));                        \
    } while (0)

static void structs_are_laid_out_as_the_host_does(void **unused)
{
    (void)unused;
    struct slri_module *module;
    const struct slri_type *type = state_of(&module, "nested");
    assert_int_equal(type->bytes, sizeof(struct nested));
    assert_int_equal(type->align, _Alignof(struct nested));
    ASSERT_FIELD(type, 0, nested, s);
    ASSERT_FIELD(type, 1, nested, tail);
    ASSERT_FIELD(type, 2, nested, inner);
    ASSERT_FIELD(type, 3, nested, w);
    slri_module_destroy(module);
    type = state_of(&module, "sized");
    assert_int_equal(type->bytes, sizeof(struct sized));
    ASSERT_FIELD(type, 1, sized, b);
    ASSERT_FIELD(type, 2, sized, c);
    ASSERT_FIELD(type, 3, sized, d);
    ASSERT_FIELD(type, 5, sized, f);
    ASSERT_FIELD(type, 6, sized, g);
    ASSERT_FIELD(type, 7, sized, h);
    slri_module_destroy(module);
}

static void alignments_are_as_the_host_has_them(void **unused)
{
    (void)unused;
    struct slri_module *module;
    const struct slri_type *type = state_of(&module, "aligned");
    assert_int_equal(type->bytes, sizeof(struct aligned));
    assert_int_equal(type->align, _Alignof(struct aligned));
    ASSERT_FIELD(type, 1, aligned, b);
    ASSERT_FIELD(type, 2, aligned, c);
    ASSERT_FIELD(type, 3, aligned, d);
    ASSERT_FIELD(type, 4, aligned, e);
    ASSERT_FIELD(type, 5, aligned, f);
    ASSERT_FIELD(type, 6, aligned, g);
    ASSERT_FIELD(type, 7, aligned, h);
    slri_module_destroy(module);
    type = state_of(&module, "half_used");
    assert_int_equal(type->bytes, sizeof(struct half_used));
    slri_module_destroy(module);
}

// ---- declarations --------------------------------------------------------------------------------------------------

static void every_form_of_declaration_is_taken(void **unused)
{
    (void)unused;
    static const char *const texts[] = {
        "typedef struct { int x; } point; typedef point points[3]; struct s { points p; };" IN EMPTY,
        "typedef int number; typedef int number;" IN EMPTY,
        "struct later; struct later { int x; };" IN EMPTY,
        "enum color { RED, GREEN = 5, BLUE, }; struct s { enum color c; };" IN EMPTY,
        "enum { N = 2 << 3 }; static const int t[N][2] = { { 1 }, [N - 1] = { 2, 3 } };" IN EMPTY,
        "extern \"C\" { struct s { int x; }; } extern \"C\" struct t { int x; };" IN EMPTY,
        "__constant__ float w[] = { 1, 2.5f, -1e3 }; const double one = 1;" IN EMPTY,
        "static const char name[] = \"ring\", other[8] = { \"slip\" };" IN EMPTY,
        "static const int k = 3; struct s { int t[k * sizeof(long)]; };" IN EMPTY,
        IN "__device__ int f(int); static __device__ __forceinline__ int f(int x) { return x; }" EMPTY,
        IN "__host__ __device__ inline float f(const float *__restrict__ p, float q[4]) { return p[0] + q[1]; }" EMPTY,
        IN "static void f(void) { return; } static int g() { for (;;) ; }" EMPTY,
        IN "static int f(int n) { switch (n) { case 1: return 2; default: return 3; } }" EMPTY,
        IN "static int f(int n) { if (n) return 1; else { return 2; } }" EMPTY,
        IN
        "_Static_assert(sizeof(struct in) == 8, \"size\"); __ring__ void h(const struct in *m) { static_assert(1); }",
        IN "__ring__ void h(const struct in *m) { ;;{ } if (1) ; else ; while (0) ; do ; while (0); }",
        IN "struct p { int x, y[2]; }; __ring__ void h(const struct in *m) { int a = offsetof(struct p, y[1]);"
           " struct p v = { 1, { 2, 3 } }, w = v, t[2] = { v, { 4 } }; w = (struct p){ .y[1] = a }; (void)t; "
           "ring_reply(&w); }",
        IN
        "__ring__ void h(const struct in *m) { const float *p = (const float *)(const int *)&(int){ 3 }; (void)*p; }",
        IN "struct s { int new, class; }; __ring__ void h(const struct in *m) { for (int half = 0; half < 2; half++) ;"
           " struct s try = { .new = 1 }; try.class = try.new; }",
        IN "__ring__ void h(const struct in *m) { int v[2][2] = { 0 }; int *flat = (int *)v; flat[3] = 1; }",
        IN
        "__ring__ void h(const struct in *m) { unsigned long n = sizeof(int[3]) + sizeof m->a + sizeof(m); (void)n; }",
    };
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        assert_accepted(texts[i]);
}

static void tables_hold_the_bytes_of_their_values(void **unused)
{
    (void)unused;
    struct slri_module *module =
        compile_text("struct p { char c; int x[2]; };" IN
                     "static const struct p t[] = { { 'a', { 1, -2 } }, [2] = { .x[1] = 1 << 10 } };"
                     "static const float f[3] = { 1, [2] = 0.5 };" EMPTY);
    struct p {
        char c;
        int x[2];
    };
    static const struct p t[] = {{'a', {1, -2}}, [2] = {.x[1] = 1 << 10}};
    static const float f[3] = {1, [2] = 0.5f};
    assert_int_equal(module->constants, 2);
    assert_int_equal(module->constant[0].type->bytes, sizeof t);
    for (size_t i = 0; i < 3; i++) {
        const struct p *made = (const struct p *)(const void *)(module->constant[0].data + i * sizeof *t);
        assert_int_equal(made->c, t[i].c);
        assert_memory_equal(made->x, t[i].x, sizeof t[i].x);
    }
    assert_memory_equal(module->constant[1].data, f, sizeof f);
    slri_module_destroy(module);
}

static void names_hide_those_outside(void **unused)
{
    (void)unused;
    assert_accepted(
        "typedef int t; enum { x = 1 };" IN
        "__ring__ void h(const struct in *m) { t y = x; { float t = 1; int x = t * y; (void)x; } t z = x; (void)z; }");
    assert_rejected(IN "__ring__ void h(const struct in *m) { { int x = 1; (void)x; } int y = x; }",
                    SLRI_K_UNKNOWN_NAME, 2, 71, 1);
}

// ---- recovery ------------------------------------------------------------------------------------------------------

static void an_error_does_not_spread(void **unused)
{
    (void)unused;
    assert_rejected("struct s { int a; flot b; int c; };\n" IN
                    "__ring__ void h(const struct in *m) { struct s v = { 1 }; v.c = 2; (void)v; }",
                    SLRI_K_UNKNOWN_NAME, 1, 19, 1);
    assert_rejected(IN "static int f(int x { return x; }\n__ring__ void h(const struct in *m) { }",
                    SLRI_K_UNEXPECTED_TOKEN, 2, 20, 1);
    assert_rejected(IN "__ring__ void h(const struct in *m) { int x = q; x = x + 1; int y = x * q2; y++; }",
                    SLRI_K_UNKNOWN_NAME, 2, 73, 2);
    assert_rejected("enum { A = , B };\n" IN EMPTY, SLRI_K_UNEXPECTED_TOKEN, 1, 12, 1);
}

static void twenty_errors_are_enough(void **unused)
{
    (void)unused;
    char text[4096] = IN "__ring__ void h(const struct in *m) {";
    for (int i = 0; i < 100; i++)
        strcat(text, "\nx = 1;");
    struct slri_module *module;
    unsigned found = 0;
    assert_int_equal(compile_quietly(text, &module), SLR_COMPILE);
    for (const char *at = slr_error_message(); (at = strstr(at, "error SLR-K050")) != NULL; at++)
        found++;
    assert_in_range(found, 19, 20);
}

static void a_text_cut_anywhere_is_refused_and_nothing_worse(void **unused)
{
    (void)unused;
    static const char whole[] =
        "struct p { int x[2]; struct { float y; } z; };\nenum e { A = 1, B };\n" IN
        "static const float w[] = { 1, [2] = 3.f };\nstatic int f(struct p *v, int n) { return v->x[n & 1] + w[n]; }\n"
        "__ring__ void h(struct p *s, const struct in *m, const float *b) { for (int i = 0; i < 3; i++) {"
        " switch (i) { case A: s->x[0] += f(s, i); break; default: s->z.y = b[i] ? 1 : -2; } }"
        " struct p r = { { 1, 2 } }; ring_reply(&r); }";
    char text[sizeof whole];
    for (size_t length = 0; length < sizeof whole - 1; length++) {
        struct slri_module *module;
        memcpy(text, whole, length);
        text[length] = 0;
        assert_int_equal(compile_quietly(text, &module), SLR_COMPILE);
    }
    assert_accepted(whole);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(structs_are_laid_out_as_the_host_does),
        cmocka_unit_test(alignments_are_as_the_host_has_them),
        cmocka_unit_test(every_form_of_declaration_is_taken),
        cmocka_unit_test(tables_hold_the_bytes_of_their_values),
        cmocka_unit_test(names_hide_those_outside),
        cmocka_unit_test(an_error_does_not_spread),
        cmocka_unit_test(twenty_errors_are_enough),
        cmocka_unit_test(a_text_cut_anywhere_is_refused_and_nothing_worse),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
