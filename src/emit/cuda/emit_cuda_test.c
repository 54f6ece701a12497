// SPDX-License-Identifier: Apache-2.0
#include "emit/cuda/emit_cuda.h"
#include "base/status.h"
#include "ir/blame.h"
#include "lang/kernel.h"
#include "emit/cuda/math_kernel_test.h"
#include "emit/cuda/same_ir_test.h"

#include <glob.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>

#include <cmocka.h>

static struct slri_module *compile(const char *path, const char *text, bool is_emitted)
{
    static const char *const folders[] = {SLIPRING_SOURCE_DIR "/src", SLIPRING_SOURCE_DIR "/include"};
    struct slri_source source = {.path = path, .text = text, .include = folders, .includes = 2};
    source.is_emitted = is_emitted;
    struct slri_module *module = NULL;
    if (slri_kernel_compile(&source, &module) != SLR_OK)
        print_error("%s\n", slr_error_message());
    return module;
}

static bool comes_back(const char *path, const char *text)
{
    struct slri_module *module = compile(path, text, false);
    assert_non_null(module);
    struct slri_text emitted = SLRI_TEXT_INIT;
    assert_int_equal(slri_emit_cuda(module, NULL, &emitted), SLR_OK);
    struct slri_module *again = compile("emitted.cu", slri_text_view(&emitted), true);
    if (!again && getenv("SLIPRING_SHOW"))
        print_error("%s\n", slri_text_view(&emitted));
    char *difference = again ? same_difference(module, again) : strdup("it is refused");
    if (difference)
        print_error("%s: %s\n", path, difference);
    if (difference && getenv("SLIPRING_SHOW"))
        print_error("%s\n", slri_text_view(&emitted));
    bool is_same = !difference;
    free(difference);
    slri_text_free(&emitted);
    slri_module_destroy(module);
    slri_module_destroy(again);
    return is_same;
}

static void each_file_comes_back(const char *pattern)
{
    glob_t found;
    assert_int_equal(glob(pattern, 0, NULL, &found), 0);
    uint32_t same = 0;
    for (size_t i = 0; i < found.gl_pathc; i++)
        same += comes_back(found.gl_pathv[i], NULL);
    assert_int_equal(same, found.gl_pathc);
    globfree(&found);
}

// Indices that are checked against their number, and by a function; replies that a test guards.
static void handlers_of_many_messages_come_back(void **state)
{
    (void)state;
    assert_true(comes_back("batch.cu",
                           "struct m { int v; short at; };\nstruct s { int sum; };\n"
                           "__device__ int second(const struct m *in) { return in[1].v; }\n"
                           "__ring_batch__ void all(struct s *self, const struct m *in, int n, const int *w)\n"
                           "{\n"
                           "    for (int i = 0; i < n; i++) {\n"
                           "        self->sum += in[i].v * w[i];\n"
                           "        struct m out = in[in[i].at];\n"
                           "        if (out.v) ring_reply_to(i, &out);\n"
                           "    }\n"
                           "    if (n > 1) ring_reply_to((unsigned)second(in), &in[n - 1]);\n"
                           "}\n"));
}

static void files_come_back_as_the_same_ir(void **state)
{
    (void)state;
    each_file_comes_back(SLIPRING_SOURCE_DIR "/examples/*/*.cu");
    each_file_comes_back(SLIPRING_SOURCE_DIR "/tests/*/*.cu");
}

// Each math function of the table, with arguments of its own types.
static void math_comes_back(void **state)
{
    (void)state;
    struct slri_text text = SLRI_TEXT_INIT;
    put_math_kernel(&text);
    assert_true(comes_back("math.cu", slri_text_view(&text)));
    slri_text_free(&text);
}

static char *emitted(const char *path, const char *text, const char *name)
{
    struct slri_module *module = compile(path, text, false);
    assert_non_null(module);
    struct slri_text out = SLRI_TEXT_INIT;
    assert_int_equal(slri_emit_cuda(module, name ? slri_module_entry(module, name) : NULL, &out), SLR_OK);
    slri_module_destroy(module);
    return slri_text_take(&out);
}

static const char two_cu[] = "__device__ int twice(int a) { return 2 * a; }\n"
                             "__device__ int thrice(int a) { return 3 * a; }\n"
                             "__global__ void one(int *p, int class_) { p[0] = twice(class_); }\n"
                             "__global__ void two(int *p) { p[0] = thrice(p[1]); }\n";

// A kernel emitted alone still has every variable where the program has it, and its texts keep their numbers.
static void one_kernel_keeps_the_places_of_variables_and_texts(void **state)
{
    (void)state;
    static const char text[] = "__device__ char first[70];\n__device__ int n = 4;\n"
                               "__global__ void one(int *p) { first[0] = 1; printf(\"one\"); }\n"
                               "__global__ void two(void) { printf(\"%d\", n); }\n"
                               "__global__ void plain(int *p) { p[0] = 1; }\n";
    char *made = emitted("k.cu", text, "two");
    assert_non_null(strstr(made, "void two(SLRI_LAUNCH)"));
    assert_non_null(strstr(made, "#define slri_g1 (slri_globals + 128)"));
    struct slri_module *again = compile("emitted.cu", made, true);
    assert_non_null(again);
    assert_int_equal(again->entry[0].bindings, 0);
    assert_int_equal(again->globals, 2);
    assert_int_equal(again->global[1].offset, 128);
    assert_int_equal(again->global_bytes, 192);
    assert_int_equal(again->formats, 2);
    assert_string_equal(again->format[1].text, "%d");
    slri_module_destroy(again);
    free(made);
    made = emitted("k.cu", text, "one");
    assert_non_null(strstr(made, "void one(int *p SLRI_AND_LAUNCH)"));
    free(made);
    made = emitted("k.cu", text, "plain");
    assert_non_null(strstr(made, "void plain(int *p)"));
    assert_null(strstr(made, "slri_g0"));
    free(made);
}

// Only what may fault is given a word for it, and tells of the source's own file and line.
static void a_fault_has_its_place_in_the_source(void **state)
{
    (void)state;
    static const char text[] = "#include <assert.h>\n"
                               "__device__ int part(int a, int n)\n{\n    return a % n;\n}\n"
                               "__device__ int half(int a) { return a / 2; }\n"
                               "__global__ void halves(int *p) { p[0] = half(p[1]); }\n"
                               "__global__ void parts(int *p, unsigned n)\n{\n"
                               "    assert(n < 9);\n    p[0] = part(p[1], p[2]) / n;\n}\n"
                               "__global__ void traps(void) { __trap(); }\n"
                               "struct s { int n; };\n"
                               "__ring__ void handler(struct s *s, const struct s *in) { s->n /= in->n; }\n";
    char *made = emitted("k.cu", text, NULL);
    assert_non_null(strstr(made, "int slrf_part(int a_0, int n_1 SLRI_AND_LAUNCH)"));
    assert_non_null(strstr(made, "SLRI_REM(I32, a_0, n_1, 0, 4)"));
    assert_non_null(strstr(made, "int slrf_half(int a_0)"));
    assert_non_null(strstr(made, "void halves(int *p)"));
    assert_non_null(strstr(made, "void parts(int *p, unsigned int n SLRI_AND_LAUNCH)"));
    assert_non_null(strstr(made, "SLRI_ASSERT(0, 10)"));
    assert_non_null(strstr(made, "SLRI_DIV(U32, "));
    assert_non_null(strstr(made, ", n_1, 0, 11)"));
    assert_non_null(strstr(made, "void traps(SLRI_LAUNCH)"));
    assert_non_null(strstr(made, "const struct s *slri_message SLRI_AND_HERE)"));
    free(made);
    assert_true(comes_back("k.cu", text));
    const uint64_t word = SLRI_FAULT_WORD(12, 70000, UINT32_MAX);
    assert_int_equal(SLRI_FAULT_OF_WORD(word), 12);
    assert_int_equal(SLRI_FILE_OF_WORD(word), 70000);
    assert_int_equal(SLRI_LINE_OF_WORD(word), UINT32_MAX);
}

static void one_kernel_brings_only_what_it_calls(void **state)
{
    (void)state;
    char *text = emitted("two.cu", two_cu, "two");
    assert_non_null(strstr(text, "slrf_thrice"));
    assert_non_null(strstr(text, "void two("));
    assert_null(strstr(text, "slrf_twice"));
    assert_null(strstr(text, "void one("));
    free(text);
}

static void statements_stand_at_the_lines_of_the_source(void **state)
{
    (void)state;
    char *text = emitted("a \"b\".cu", "\n\n__global__ void k(int *p)\n{\n    p[0] = 7;\n}\n", NULL);
    const char *line = strstr(text, "#line 5 \"a \\042b\\042.cu\"\n");
    assert_non_null(line);
    assert_non_null(strstr(line, "SLRI_AT(int, p, 0ll), 7)"));
    free(text);
}

static void words_of_cpp_may_be_names(void **state)
{
    (void)state;
    assert_true(comes_back("names.cu", "struct class { int new, this; };\n"
                                       "__global__ void k(struct class *virtual, int r_1, int operator)\n"
                                       "{ virtual[0].new = r_1 + operator + virtual[1].this; }\n"));
}

static void what_is_volatile_stays_so(void **state)
{
    (void)state;
    static const char text[] = "__global__ void k(volatile int *p, volatile bool *b, float *q)\n"
                               "{ __shared__ volatile float s[32]; volatile int n = p[1] + p[1];\n"
                               "  s[threadIdx.x] = q[n]; p[0] = n; b[0] = b[1]; q[0] = s[0]; }\n";
    assert_true(comes_back("volatile.cu", text));
    char *cuda = emitted("volatile.cu", text, NULL);
    assert_non_null(strstr(cuda, "*SLRI_AT(volatile int, p, 4ll)"));
    assert_non_null(strstr(cuda, "SLRI_AT(volatile bool, b, 0ll)"));
    assert_non_null(strstr(cuda, "volatile float, slri_s0"));
    free(cuda);
}

// Without it the target's compiler copies byte by byte.
static void copies_say_how_they_are_aligned(void **state)
{
    (void)state;
    static const char text[] = "struct pair { int x; short y; };\n"
                               "__global__ void k(float *p, struct pair *q)\n"
                               "{ *reinterpret_cast<float4 *>(p) = *reinterpret_cast<const float4 *>(p + 4);\n"
                               "  q[0] = q[1]; }\n";
    assert_true(comes_back("copies.cu", text));
    char *cuda = emitted("copies.cu", text, NULL);
    assert_non_null(
        strstr(cuda, "SLRI_COPY(SLRI_AT(unsigned char, p, 0ll), SLRI_AT(unsigned char, p, 16ll), 16ull, 16)"));
    assert_non_null(strstr(cuda, "SLRI_COPY(SLRI_AT(unsigned char, q, 0ll), SLRI_AT(unsigned char, q, 8ll), 8ull, 4)"));
    free(cuda);
    static const char handler[] = "struct m { float4 at; };\nstruct s { float4 last; };\n"
                                  "__ring__ void h(struct s *s, const struct m *m) { s->last = m->at; }\n";
    assert_true(comes_back("message.cu", handler));
    cuda = emitted("message.cu", handler, NULL);
    assert_non_null(strstr(cuda, "16ull, 8)")); // as a message is
    free(cuda);
}

static void words_of_the_ir_are_no_words_of_a_user(void **state)
{
    (void)state;
    static const char *const bodies[] = {"int x = *(int *)__slri_at(p, 1000);", "__slri_index(9, 3);",
                                         "__slri_put(p, 3);", "int x = __slri_cas(p, 1, 2, 0, 0);"};
    for (size_t i = 0; i < sizeof bodies / sizeof *bodies; i++) {
        char text[200];
        snprintf(text, sizeof text, "__global__ void k(int *p) { %s }\n", bodies[i]);
        struct slri_source source = {.path = "user.cu", .text = text};
        struct slri_module *module = NULL;
        assert_int_not_equal(slri_kernel_compile(&source, &module), SLR_OK);
        assert_non_null(strstr(slr_error_message(), "__slri_"));
    }
}

static void handlers_of_threads_and_of_blocks_stand_in_one_file(void **state)
{
    (void)state;
    assert_true(comes_back("both.cu",
                           "struct t { unsigned v; };\n"
                           "__ring__ void each(struct t *s, const struct t *in) { s->v += in->v; }\n"
                           "__ring_block__ void __launch_bounds__(64) block(struct t *s, const struct t *in)\n"
                           "{ __shared__ unsigned part[64]; part[threadIdx.x] = in->v; s->v = part[5]; }\n"));
}

static void a_blocks_handler_waits_for_no_lane_that_has_returned(void **state)
{
    (void)state;
    static const struct {
        const char *body, *says; // NULL: it is fine
    } cases[] = {
        {"if (threadIdx.x > in->v) return;\n__syncthreads();\ns->v = __shfl_sync(0xffffffff, in->v, 0);",
         "h.cu:5: CUDA"},
        {"for (int i = 0; i < 9; i++) {\n__syncwarp();\nif (threadIdx.x > in->v) return;\n}", "h.cu:4: CUDA"},
        {"if (threadIdx.x > in->v) return;\n__syncthreads();", NULL},
        {"if (in->v > 3) return;\n__syncwarp();", NULL},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char text[400];
        snprintf(text, sizeof text,
                 "struct t { unsigned v; };\n__ring_block__ void h(struct t *s, const struct t *in) {\n%s\n}\n",
                 cases[i].body);
        struct slri_module *module = compile("h.cu", text, false);
        struct slri_text out = SLRI_TEXT_INIT;
        assert_int_equal(slri_emit_cuda(module, NULL, &out), cases[i].says ? SLR_UNSUPPORTED : SLR_OK);
        if (cases[i].says)
            assert_non_null(strstr(slr_error_message(), cases[i].says));
        slri_text_free(&out);
        slri_module_destroy(module);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(files_come_back_as_the_same_ir),
        cmocka_unit_test(handlers_of_many_messages_come_back),
        cmocka_unit_test(math_comes_back),
        cmocka_unit_test(handlers_of_threads_and_of_blocks_stand_in_one_file),
        cmocka_unit_test(a_blocks_handler_waits_for_no_lane_that_has_returned),
        cmocka_unit_test(a_fault_has_its_place_in_the_source),
        cmocka_unit_test(one_kernel_brings_only_what_it_calls),
        cmocka_unit_test(one_kernel_keeps_the_places_of_variables_and_texts),
        cmocka_unit_test(statements_stand_at_the_lines_of_the_source),
        cmocka_unit_test(words_of_cpp_may_be_names),
        cmocka_unit_test(what_is_volatile_stays_so),
        cmocka_unit_test(copies_say_how_they_are_aligned),
        cmocka_unit_test(words_of_the_ir_are_no_words_of_a_user),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
