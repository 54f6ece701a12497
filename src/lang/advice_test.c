// SPDX-License-Identifier: Apache-2.0
// What is advised for the commonest mistakes: at which token (^^ in the text), and what to write instead.
#include "lang/compile_test.h"

#define IN "struct in { int a; float f; };\n"
#define H(body) IN "__ring__ void h(const struct in *m) {\n" body "\n}"
#define K(body) "__global__ void k(int *out) {\n" body "\n}"

struct mistake {
    const char *text;
    unsigned code;
    const char *advice;
};

static void all_are_advised(const struct mistake *list, size_t count)
{
    size_t right = 0;
    for (size_t i = 0; i < count; i++)
        right += is_marked(list[i].text, list[i].code, list[i].advice);
    assert_int_equal(right, count);
}

#define ADVISE(list) all_are_advised(list, sizeof list / sizeof *list)

static void code_of_the_host_is_told_what_to_become(void **unused)
{
    (void)unused;
    static const struct mistake list[] = {
        {"float twice(float x) { return 2 * x; }\n" H("float y = ^^twice(m->f); ring_reply(&y);"), SLRI_K_HOST_CODE,
         "advice: write __device__ in front of 'twice' in line 1"},
        {"float twice(float x) { return 2 * x; }\n" K("out[0] = ^^twice(1);"), SLRI_K_HOST_CODE,
         "advice: write __device__ in front of 'twice' in line 1"},
        {"int count;\n" H("^^count += 1;"), SLRI_K_GLOBAL_VARIABLE,
         "advice: keep 'count' in the state, the handler's first parameter (struct state *self): self->count"},
        {"int count;\n" K("^^count += 1;"), SLRI_K_GLOBAL_VARIABLE,
         "advice: take 'count' as a parameter, or write __device__ or __constant__ in front of it in line 1"},
        {"__device__ int count;\n" H("count ^^+= 1;"), SLRI_K_NOT_IN_HANDLER,
         "advice: keep it in the state, the handler's first parameter (struct state *self)"},
        {"^^" IN "void h(const struct in *m) { }", SLRI_K_NO_HANDLER,
         "advice: write __ring__ or __global__ in front of 'h' in line 2"},
        {H("^^malloc(4);"), SLRI_K_DYNAMIC_ALLOCATION, "advice: use a fixed array in the state, or a buffer"},
        {H("struct in v; ^^memcpy(&v, m, sizeof v);"), SLRI_K_UNKNOWN_FUNCTION, "advice: assign the value"},
        {H("int v = ^^rand();"), SLRI_K_UNKNOWN_FUNCTION, "advice: keep a generator in the state"},
        {H("long v = ^^time(0);"), SLRI_K_UNKNOWN_FUNCTION, "advice: send the time in the message"},
        {H("float y = std^^::max(m->f, 2.0f);"), SLRI_K_CPLUSPLUS, "advice: write max(...), without std::"},
        {H("std^^::cout << m->a;"), SLRI_K_CPLUSPLUS, "advice: write printf("},
        {H("std^^::vector<int> v;"), SLRI_K_CPLUSPLUS, "advice: use an array of fixed size"},
    };
    ADVISE(list);
}

static void handler_of_the_wrong_form_is_told_the_right_one(void **unused)
{
    (void)unused;
    static const struct mistake list[] = {
        {IN "__ring__ void ^^h(struct in *m) { }", SLRI_K_BAD_MESSAGE_PARAMETER, "advice: write const struct in *m: "},
        {IN "struct s { int n; };\n__ring__ void h(struct s *self, struct in *^^m) { }", SLRI_K_BAD_MESSAGE_PARAMETER,
         "advice: write const struct in *m: "},
        {IN "__ring__ void h(struct in ^^m) { }", SLRI_K_BAD_MESSAGE_PARAMETER, "advice: write const struct in *m: "},
        {IN "__ring__ void h(const float *^^m) { }", SLRI_K_BAD_MESSAGE_PARAMETER,
         "advice: write struct message { float value; }; and const struct message *m"},
        {IN "__ring__ void h(unsigned *^^count, const struct in *m) {}", SLRI_K_BAD_STATE_PARAMETER,
         "advice: write struct state { unsigned int value; }; and struct state *count: the state is a pointer to a "
         "struct"},
        {IN "__ring__ void h(const struct inn *^^m) { }", SLRI_K_BAD_MESSAGE_PARAMETER, "advice: did you mean 'in'?"},
        {IN "__ring__ void h(const struct in ^^&m) { }", SLRI_K_CPLUSPLUS,
         "advice: write a pointer, const struct in *m, and m->member"},
        {H("^^self->n += 1;"), SLRI_K_UNKNOWN_NAME,
         "advice: declare the state as the first parameter: void h(struct state *self, const struct ...)"},
        {H("int v = ^^threadIdx.x;"), SLRI_K_NOT_IN_HANDLER, "advice: write __ring_block__ in place of __ring__"},
        {"struct in { float *^^x; int n; };\n__ring__ void h(const struct in *m) { }", SLRI_K_POINTER_IN_MEMORY,
         "advice: write float x[N] for N values in the struct, or bind a buffer and keep an index"},
        {"struct in { int a; };\n" K("struct in v = {1}; ^^ring_reply(&v);"), SLRI_K_NOT_IN_KERNEL,
         "advice: move it to a __ring__ handler: a kernel writes its results to a buffer"},
    };
    ADVISE(list);
}

static void forgotten_semicolon_is_told_where_it_belongs(void **unused)
{
    (void)unused;
    static const struct mistake list[] = {
        {"struct in { int a; ^^}\n__ring__ void h(const struct in *m) { }", SLRI_K_UNEXPECTED_TOKEN,
         "expected ';' after the definition of struct in"},
        {"struct in { int a; ^^}\nstruct out { int b; };\n__ring__ void h(const struct in *m) { }",
         SLRI_K_UNEXPECTED_TOKEN, "advice: write }; here"},
        {"#include \"not_there.h\"\nstruct in { int a; ^^}\n__global__ void k(int *out) { }", SLRI_K_UNEXPECTED_TOKEN,
         "advice: write }; here"},
        {"enum { ONE ^^}\nstatic inline int f(void) { return 1; }\n" H(""), SLRI_K_UNEXPECTED_TOKEN,
         "expected ';' after the definition of enum"},
        {IN "__ring__ void h(const struct in *m)\n{\n    int y = m->a\n    ^^ring_reply(m);\n}",
         SLRI_K_UNEXPECTED_TOKEN, "advice: write ; at the end of line 4"},
    };
    ADVISE(list);
    // A definition and a declaration in one.
    assert_accepted("struct in\n{ int a; }\nconst first = { 1 }, second[2] = { { 2 } };\n"
                    "__ring__ void h(const struct in *m) { ring_reply(m); }");
    assert_accepted("typedef struct { int a; }\nin;\n__ring__ void h(const in *m) { ring_reply(m); }");
}

static void misspelt_name_is_told_the_nearest(void **unused)
{
    (void)unused;
    static const struct mistake list[] = {
        {H("^^ring_replay(m);"), SLRI_K_UNKNOWN_FUNCTION, "advice: did you mean 'ring_reply'?"},
        {H("^^ring_reply_to(0, m);"), SLRI_K_NOT_IN_HANDLER, "advice: write ring_reply(&answer), or __ring_batch__"},
        {IN "__ring_batch__ void h(const struct in *m, int n) { ^^ring_reply(m); }", SLRI_K_NOT_IN_HANDLER,
         "advice: write ring_reply_to(i, &answer)"},
        {IN "__ring_batch__ void ^^h(const struct in *m) { }", SLRI_K_BAD_BATCH,
         "advice: write __ring_batch__ void name(struct state *self, const struct message *in, unsigned n)"},
        {H("float y = ^^srqtf(m->f);"), SLRI_K_UNKNOWN_FUNCTION, "advice: did you mean 'sqrtf'?"},
        {K("^^__synctreads();"), SLRI_K_UNKNOWN_FUNCTION, "advice: did you mean '__syncthreads'?"},
        {K("^^atomicadd(out, 1);"), SLRI_K_UNKNOWN_FUNCTION, "advice: did you mean 'atomicAdd'?"},
        {K("out[0] = ^^threadidx.x;"), SLRI_K_UNKNOWN_NAME, "advice: did you mean 'threadIdx'?"},
        {"static int scale(int x) { return x; }\n" H("int y = ^^scael(1);"), SLRI_K_UNKNOWN_FUNCTION,
         "advice: did you mean 'scale'?"},
        {H("float value = 1; float y = ^^valeu;"), SLRI_K_UNKNOWN_NAME, "advice: did you mean 'value'?"},
        {"struct in { float price; };\n__ring__ void h(const struct in *m) { float y = m->^^prise; }",
         SLRI_K_UNKNOWN_MEMBER, "advice: did you mean 'price'?"},
        {H("int y = m.^^a;"), SLRI_K_UNKNOWN_MEMBER, "advice: write ->a: the left side is a pointer"},
        {H("^^flaot y;"), SLRI_K_UNKNOWN_NAME, "advice: did you mean 'float'?"},
        {H("int y = ^^INT_MAX;"), SLRI_K_UNKNOWN_NAME, "advice: write #include <limits.h> at the top of the file"},
        // Too far from all: the number's own advice.
        {H("int y = ^^elephant;"), SLRI_K_UNKNOWN_NAME, "advice: declare it first, or correct its spelling"},
        {H("^^elephant(1);"), SLRI_K_UNKNOWN_FUNCTION, "advice: define it as a __device__ function above its use"},
    };
    ADVISE(list);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(code_of_the_host_is_told_what_to_become),
        cmocka_unit_test(handler_of_the_wrong_form_is_told_the_right_one),
        cmocka_unit_test(forgotten_semicolon_is_told_where_it_belongs),
        cmocka_unit_test(misspelt_name_is_told_the_nearest),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
