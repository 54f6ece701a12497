// SPDX-License-Identifier: Apache-2.0
// What is emitted as OpenCL C, as text; tests/kernel/opencl_test.c builds and runs it.
#include "emit/opencl/emit_opencl.h"
#include "base/status.h"
#include "emit/device/faults.h"
#include "lang/compile_file_test.h"

#include <glob.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static void every_file_is_emitted_or_refused_with_a_place(void **state)
{
    (void)state;
    static const char *const patterns[] = {SLIPRING_SOURCE_DIR "/examples/*/*.cu", SLIPRING_SOURCE_DIR "/tests/*/*.cu"};
    for (size_t p = 0; p < 2; p++) {
        glob_t found;
        assert_int_equal(glob(patterns[p], 0, NULL, &found), 0);
        for (size_t i = 0; i < found.gl_pathc; i++) {
            struct slri_module *module = compile(found.gl_pathv[i], NULL);
            struct slri_text out = SLRI_TEXT_INIT;
            slr_status status = slri_emit_opencl(module, NULL, NULL, &out);
            if (status != SLR_OK) {
                assert_int_equal(status, SLR_UNSUPPORTED);
                assert_non_null(strstr(slr_error_message(), ".cu:"));
            }
            slri_text_free(&out);
            slri_module_destroy(module);
        }
        globfree(&found);
    }
}

static void arguments_come_in_the_order_of_the_header(void **state)
{
    (void)state;
    struct slri_module *module = compile("k.cu", "struct two { double a; int b; };\n"
                                                 "__global__ void k(const float *x, short s, struct two t, bool on)\n"
                                                 "{\n    extern __shared__ float room[];\n"
                                                 "    room[threadIdx.x] = on ? x[s] : (float)t.b;\n}\n");
    struct slri_opencl_options options = {.block = (const uint32_t[]){8, 2, 1}};
    struct slri_text out = SLRI_TEXT_INIT;
    assert_int_equal(slri_emit_opencl(module, NULL, &options, &out), SLR_OK);
    assert_non_null(strstr(slri_text_view(&out), "struct slri_given_k_2 { ulong words[2]; };"));
    assert_non_null(strstr(slri_text_view(&out), "__attribute__((reqd_work_group_size(8, 2, 1))) void slrk_k("
                                                 "__global uchar *x, short s, struct slri_given_k_2 t, uchar on, "
                                                 "__local ulong2 *slri_room)"));
    slri_text_free(&out);
    slri_module_destroy(module);
}

static void what_the_source_does_not_name_comes_behind(void **state)
{
    (void)state;
    struct slri_module *module =
        compile("k.cu", "__device__ char first;\n__device__ int n = 4;\n"
                        "__device__ void tell(void) { printf(\"%d\", n); }\n"
                        "__global__ void k(float f)\n{\n    extern __shared__ int room[];\n"
                        "    room[threadIdx.x] = n + first;\n    tell();\n    printf(\"%f\", f);\n}\n"
                        "__global__ void plain(int *p)\n{\n    p[0] = 1;\n}\n"
                        "__device__ int part(int a, int n) { return a / n; }\n"
                        "__device__ int half(int a) { return a / 2; }\n"
                        "__global__ void divide(int *p, int n) { p[0] = part(p[1], n); }\n"
                        "__global__ void halves(int *p) { p[0] = half(p[0]) % 3; }\n"
                        "__global__ void asserts(int *p) { assert(p[0] > 0); }\n");
    struct slri_text out = SLRI_TEXT_INIT;
    assert_int_equal(slri_emit_opencl(module, NULL, NULL, &out), SLR_OK);
    const char *text = slri_text_view(&out);
    assert_non_null(strstr(text, "void slrk_k(float f, __global uchar *slri_globals, __global uint *slri_printed, "
                                 "__local ulong2 *slri_room)"));
    assert_non_null(strstr(text, "slrf_tell(__global unsigned char *slri_globals, __global uint *slri_printed)"));
    assert_non_null(strstr(text, "*SLRI_AT(int, (slri_globals + 64), 0l, G)"));
    assert_non_null(strstr(text, "slri_print_value(slri_print(slri_printed, 1u, 1u), slri_bits_F64("));
    assert_non_null(strstr(text, "void slrk_plain(__global uchar *p)"));
    assert_non_null(strstr(text, "void slrk_divide(__global uchar *p, int n, __global uint *slri_faulted)"));
    assert_non_null(strstr(text, "int slrf_half(int a_0)"));
    assert_non_null(strstr(text, "int slrf_part(int a_0, int n_1, __global uint *slri_faulted)"));
    assert_non_null(strstr(text, "SLRI_DIV(I32, a_0, n_1, 0, 15)"));
    bool may_fault;
    static const struct {
        const char *name;
        bool may_fault;
    } entries[] = {{"k", false}, {"plain", false}, {"divide", true}, {"halves", false}, {"asserts", true}};
    for (size_t i = 0; i < sizeof entries / sizeof *entries; i++) {
        const struct slri_entry *entry = slri_module_entry(module, entries[i].name);
        assert_int_equal(slri_kernel_may_fault(module, entry, &may_fault), SLR_OK);
        assert_int_equal(may_fault, entries[i].may_fault);
    }
    slri_text_free(&out);
    slri_module_destroy(module);
}

static void a_handler_has_room_for_what_it_shares(void **state)
{
    (void)state;
    struct slri_module *module =
        compile("k.cu", "struct m { int a; };\n__ring_block__ __launch_bounds__(64) void h(const struct m *in)\n"
                        "{\n    __shared__ int t[5];\n    t[threadIdx.x % 5] = in->a;\n    __syncwarp();\n}\n");
    struct slri_text out = SLRI_TEXT_INIT;
    assert_int_equal(slri_emit_opencl(module, NULL, NULL, &out), SLR_OK);
    assert_int_equal(slri_opencl_shared_bytes(&module->entry[0]), 32 + (64 + 64) * 8);
    assert_non_null(strstr(slri_text_view(&out), "uint slre_h(struct slri_call *call, __local uchar *shared)"));
    slri_text_free(&out);
    slri_module_destroy(module);
}

static void what_cannot_be_waited_at_is_named(void **state)
{
    (void)state;
    static const struct {
        const char *text, *says;
    } cases[] = {
        {"__global__ void k(int *p, int n)\n{\n    if (threadIdx.x < n)\n        __syncthreads();\n    p[0] = 1;\n}\n",
         "k.cu:4: OpenCL cannot synchronise here: not all threads"},
        {"__global__ void k(int *p, int n)\n{\n    if (threadIdx.x >= n)\n        return;\n    switch (n) {\n"
         "    case 1:\n        __syncthreads();\n    }\n    p[0] = 1;\n}\n",
         "k.cu:7: OpenCL cannot synchronise here: a switch around it"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct slri_module *module = compile("k.cu", cases[i].text);
        struct slri_text out = SLRI_TEXT_INIT;
        assert_int_equal(slri_emit_opencl(module, NULL, NULL, &out), SLR_UNSUPPORTED);
        assert_non_null(strstr(slr_error_message(), cases[i].says));
        slri_text_free(&out);
        slri_module_destroy(module);
    }
}

static void only_what_parts_is_written_level(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        bool has_bool, votes;
    } cases[] = {
        {"__global__ void k(int *p)\n{\n    p[0] = __shfl_sync(0xffffffffu, p[1], 0);\n}\n", false, false},
        {"__global__ void k(int *p)\n{\n    if (threadIdx.x < 32)\n        for (int d = 16; d > 0; d /= 2)\n"
         "            p[0] += __shfl_xor_sync(0xffffffffu, p[1], d);\n}\n",
         true, false},
        {"__global__ void k(int *p)\n{\n    if (threadIdx.x < 32)\n        for (int d = p[2]; d > 0; d /= 2)\n"
         "            p[0] += __shfl_xor_sync(0xffffffffu, p[1], d);\n}\n",
         true, true},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct slri_module *module = compile("k.cu", cases[i].text);
        struct slri_text out = SLRI_TEXT_INIT;
        assert_int_equal(slri_emit_opencl(module, NULL, NULL, &out), SLR_OK);
        const char *kernel = strstr(slri_text_view(&out), "slrk_k");
        assert_int_equal(strstr(kernel, "bool slri_on") != NULL, cases[i].has_bool);
        assert_int_equal(strstr(kernel, "slri_none(") != NULL, cases[i].votes);
        slri_text_free(&out);
        slri_module_destroy(module);
    }
}

static void only_a_counted_loop_of_a_handler_pays_its_fuel_at_once(void **state)
{
    (void)state;
    static const struct {
        const char *loop;
        bool pays;
    } cases[] = {{"for (int i = 0; i < 16; i++)", true},      {"for (int i = in->x; i <= 16; i += 3)", true},
                 {"for (int i = 0; i < in->x; i++)", true},   {"for (int i = 16; i > 0; i--)", false},
                 {"for (int i = 0; i < s + 16; i++)", false}, {"for (int i = 0; i < 16; i += in->x)", false}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char text[256];
        snprintf(
            text, sizeof text,
            "struct m { int x; };\n__ring__ void h(const struct m *in)\n{\n    int s = 0;\n    %s\n        s += i;\n"
            "    struct m out = {s};\n    ring_reply(&out);\n}\n",
            cases[i].loop);
        struct slri_module *module = compile("k.cu", text);
        struct slri_text out = SLRI_TEXT_INIT;
        assert_int_equal(slri_emit_opencl(module, NULL, NULL, &out), SLR_OK);
        const char *handler = strstr(slri_text_view(&out), "slrh_h");
        assert_int_equal(strstr(handler, "if (SLRI_PAYS(") != NULL, cases[i].pays);
        assert_non_null(strstr(handler, "SLRI_EDGE(")); // where there is not so much
        slri_text_free(&out);
        slri_module_destroy(module);
    }
}

static void work_of_whole_groups_is_written_apart_where_nothing_may_differ(void **state)
{
    (void)state;
#define INDEX "int i = blockIdx.x * blockDim.x + threadIdx.x; "
    static const struct {
        const char *body;
        bool is_apart;
    } cases[] = {{INDEX "if (i < n) p[i] = 1;", true},
                 {INDEX "if (i < 77) p[i] = 1; else p[0] = 2;", true},
                 {INDEX "if (i < n) for (int k = 0; k < 9; ++k) p[i] += k;", true},
                 {"unsigned i = threadIdx.x + blockIdx.x * blockDim.x; if (i < (unsigned)n) p[i] = 1;", true},
                 {"const unsigned b = blockIdx.x * 8u; if (b + threadIdx.x < m) p[b + threadIdx.x] = 1;", true},
                 {INDEX "int in = i < n; n *= 2; if (in) p[i] = 1;", false},
                 {INDEX "i += 1; if (i < n) p[i] = 1;", false},
                 {INDEX "if (i <= n) p[i] = 1;", false},
                 {INDEX "if (i < n) { MANY MANY MANY MANY }", false},
                 {INDEX "for (int k = 0; k < 4; ++k) if (i < n) p[i] = k;", false},
                 {"int i = (int)blockIdx.x * 8 + (int)threadIdx.x; if (i < n) p[i] = 1;", false},
                 {"int i = blockIdx.y * blockDim.y + threadIdx.y; if (i < n) p[i] = 1;", false},
                 {"if (threadIdx.x < n) p[0] = 1;", false}};
    for (size_t i = 0; i < 2 * sizeof cases / sizeof *cases; i++) {
        const struct slri_opencl_options options = {.loops_over_threads = i % 2 == 0};
        char source[400];
        snprintf(source, sizeof source,
                 "#define MANY p[i] += 1; p[i] += 2; p[i] += 3; p[i] += 4; p[i] += 5; p[i] += 6;\n"
                 "__global__ void k(int *p, int n, unsigned m)\n{\n    %s\n}\n",
                 cases[i / 2].body);
        struct slri_module *module = compile("k.cu", source);
        struct slri_text out = SLRI_TEXT_INIT;
        assert_int_equal(slri_emit_opencl(module, NULL, &options, &out), SLR_OK);
        const char *kernel = strstr(slri_text_view(&out), "void slrk_k(");
        const bool is_apart = strstr(kernel, " + (long)get_local_size(0) <= (long)") != NULL;
        if (is_apart != (cases[i / 2].is_apart && options.loops_over_threads))
            fail_msg("%s: %s", cases[i / 2].body, kernel);
        slri_text_free(&out);
        slri_module_destroy(module);
    }
#undef INDEX
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(work_of_whole_groups_is_written_apart_where_nothing_may_differ),
        cmocka_unit_test(only_a_counted_loop_of_a_handler_pays_its_fuel_at_once),
        cmocka_unit_test(every_file_is_emitted_or_refused_with_a_place),
        cmocka_unit_test(arguments_come_in_the_order_of_the_header),
        cmocka_unit_test(what_the_source_does_not_name_comes_behind),
        cmocka_unit_test(a_handler_has_room_for_what_it_shares),
        cmocka_unit_test(what_cannot_be_waited_at_is_named),
        cmocka_unit_test(only_what_parts_is_written_level),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
