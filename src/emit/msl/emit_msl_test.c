// SPDX-License-Identifier: Apache-2.0
// What is emitted as MSL, as text; tests/shim/metal_test.c compiles and runs it.
#include "emit/msl/emit_msl.h"
#include "base/status.h"
#include "lang/compile_file_test.h"

#include <glob.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

// Of the module's first kernel.
static char *emitted(const char *text, const struct slri_msl_options *options)
{
    struct slri_module *module = compile("k.cu", text);
    struct slri_text out = SLRI_TEXT_INIT;
    if (slri_emit_msl(module, module->entry, options, &out) != SLR_OK)
        fail_msg("%s", slr_error_message());
    char *made = strdup(slri_text_view(&out));
    slri_text_free(&out);
    slri_module_destroy(module);
    return made;
}

static void assert_refused(const char *text, uint32_t version, const char *message)
{
    struct slri_module *module = compile("k.cu", text);
    const struct slri_msl_options options = {.version = version};
    struct slri_text out = SLRI_TEXT_INIT;
    assert_int_equal(slri_emit_msl(module, module->entry, &options, &out), SLR_UNSUPPORTED);
    if (!strstr(slr_error_message(), message))
        fail_msg("'%s' is not in: %s", message, slr_error_message());
    assert_int_equal(out.length, 0);
    slri_text_free(&out);
    slri_module_destroy(module);
}

static void every_kernel_is_emitted_or_refused_with_a_place(void **state)
{
    (void)state;
    static const char *const patterns[] = {SLIPRING_SOURCE_DIR "/examples/*/*.cu", SLIPRING_SOURCE_DIR "/tests/*/*.cu"};
    uint32_t texts = 0;
    for (size_t p = 0; p < 2; p++) {
        glob_t found;
        assert_int_equal(glob(patterns[p], 0, NULL, &found), 0);
        for (size_t i = 0; i < found.gl_pathc; i++) {
            struct slri_module *module = compile(found.gl_pathv[i], NULL);
            for (uint32_t k = 0; k < module->entries; k++) {
                struct slri_text out = SLRI_TEXT_INIT;
                slr_status status = slri_emit_msl(module, &module->entry[k], NULL, &out);
                if (status != SLR_OK) {
                    assert_int_equal(status, SLR_UNSUPPORTED);
                    assert_non_null(strstr(slr_error_message(), ".cu:"));
                }
                texts += status == SLR_OK;
                slri_text_free(&out);
            }
            slri_module_destroy(module);
        }
        globfree(&found);
    }
    assert_true(texts > 30);
}

static void the_argument_block_is_a_struct_without_gaps_of_the_compilers(void **state)
{
    (void)state;
    static const char text[] = "struct two { float4 a; int b; };\n__device__ int total;\n"
                               "__global__ void k(const float *x, short s, struct two t, bool on, int device)\n"
                               "{\n    extern __shared__ float room[];\n"
                               "    room[threadIdx.x] = on ? x[s] : t.a.x / (float)(t.b / device);\n"
                               "    total = 1;\n    printf(\"%d\", s);\n}\n";
    char *msl = emitted(text, &(struct slri_msl_options){.block = (const uint32_t[]){8, 2, 1}});
    assert_non_null(strstr(msl, "struct slri_given_2 { SLRI_ALIGNED_16 ulong words[4]; };\n"
                                "struct slri_arguments {\n"
                                "    SLRI_SPACE_G uchar *b0; // x\n"
                                "    short b1; // s\n"
                                "    uchar gap10[6];\n"
                                "    struct slri_given_2 b2; // t\n"
                                "    uchar b3; // on\n"
                                "    uchar gap49[3];\n"
                                "    int b4; // device\n"
                                "    SLRI_SPACE_G uchar *globals;\n"
                                "    SLRI_SPACE_G uint *printed;\n"
                                "    SLRI_SPACE_G uint *faulted;\n"
                                "};\nstatic_assert(sizeof(slri_arguments) == 80, \"the argument block\");\n"
                                "[[kernel, max_total_threads_per_threadgroup(16)]] void slrk_k("
                                "constant slri_arguments &slri_given [[buffer(0)]],\n"
                                "    threadgroup uchar *slri_dynamic [[threadgroup(0)]],\n"));
    free(msl);
    struct slri_module *module = compile("k.cu", text);
    struct slri_msl_facts facts;
    assert_int_equal(slri_msl_facts(module, module->entry, &facts), SLR_OK);
    assert_int_equal(facts.arguments.bytes, 80);
    assert_int_equal(facts.arguments.faulted, 72);
    assert_true(facts.arguments.has_dynamic);
    assert_false(facts.has_warps);
    slri_module_destroy(module);
}

static void every_pointer_names_its_space(void **state)
{
    (void)state;
    char *msl =
        emitted("__device__ int from(const int *p, int i) { return p[i]; }\n__constant__ int table[2] = {3, 4};\n"
                "__global__ void k(int *a, int i)\n{\n    __shared__ int s[4];\n    int own[4];\n"
                "    own[i & 3] = i;\n    s[i & 3] = i;\n"
                "    a[0] = from(a, i) + from(s, i) + from(own, i) + from(table, i & 1);\n}\n",
                NULL);
    assert_non_null(strstr(msl, "slrf_from(SLRI_SPACE_G unsigned char *slri_b0, "));
    assert_non_null(strstr(msl, "(threadgroup unsigned char *slri_s0, "));
    assert_non_null(strstr(msl, "(SLRI_MEMORY_PARAM("));
    assert_non_null(strstr(msl, "    threadgroup SLRI_ALIGNED_16 uint slri_s0[4];\n"));
    assert_non_null(strstr(msl, "#line 6 \"k.cu\"\n"));
    free(msl);
}

static void memory_that_is_ordered_asks_for_the_version_that_has_fences(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        uint32_t version;
    } of[] = {
        {"__global__ void k(int *a)\n{\n    atomicAdd(a, 1);\n    __syncthreads();\n    a[1] = 2;\n}\n", SLRI_MSL_3_0},
        {"__global__ void k(int *a)\n{\n    a[1] = 2;\n    __threadfence();\n    a[0] = 1;\n}\n", SLRI_MSL_3_2},
        {"__global__ void k(int *a)\n{\n    a[1] = 2;\n"
         "    __nv_atomic_store_n(a, 1, __NV_ATOMIC_RELEASE, __NV_THREAD_SCOPE_DEVICE);\n}\n",
         SLRI_MSL_3_2},
        {"__global__ void k(volatile int *a)\n{\n    a[0] = 1;\n\n    while (a[1] == 0) {\n    }\n}\n", SLRI_MSL_3_2}};
    for (size_t i = 0; i < sizeof of / sizeof *of; i++) {
        struct slri_module *module = compile("k.cu", of[i].text);
        struct slri_msl_facts facts;
        assert_int_equal(slri_msl_facts(module, module->entry, &facts), SLR_OK);
        assert_int_equal(facts.version, of[i].version);
        slri_module_destroy(module);
        char *msl = emitted(of[i].text, NULL);
        assert_int_equal(strstr(msl, "#define SLRI_COHERENT") != NULL, of[i].version == SLRI_MSL_3_2);
        free(msl);
    }
    free(emitted(of[0].text, &(struct slri_msl_options){.version = SLRI_MSL_3_0}));
    assert_refused(of[1].text, SLRI_MSL_3_0, "k.cu:4: Metal orders memory between threads from version 3.2 on");
    assert_refused(of[2].text, SLRI_MSL_3_0, "k.cu:4: Metal orders");
    assert_refused(of[3].text, SLRI_MSL_3_0, "k.cu:3: Metal orders");
}

static void what_metal_has_not_is_refused_with_its_place(void **state)
{
    (void)state;
    assert_refused("__global__ void k(float *a)\n{\n    a[0] = a[1] * 0.5;\n}\n", 0,
                   "k.cu:3: Metal computes no double; use float, and no literal without f");
    assert_refused("__global__ void k(float *a, double d)\n{\n    a[0] = (float)d;\n}\n", 0,
                   "k.cu:3: Metal computes no double");
    assert_refused("__device__ float half_of(float a) { return a; }\n\n"
                   "__device__ int of(double d) { return (int)d; }\n"
                   "__global__ void k(int *a)\n{\n    a[0] = of(a[1]);\n}\n",
                   0, "k.cu:3: Metal computes no double");
    assert_refused("__global__ void k(unsigned long long *a)\n{\n\n    atomicAdd(a, 1ull);\n}\n", 0,
                   "k.cu:4: Metal has no atomics of 64 bits");
    assert_refused("__global__ void k(float *a)\n{\n    a[0] = lgammaf(a[1]);\n}\n", 0,
                   "k.cu:3: Metal has no 'lgammaf'");
    assert_refused("struct m { int a; };\n__ring__ void k(const struct m *in) { }\n", 0, "'k' is a handler");
    assert_refused(
        "__global__ void k(int *a)\n{\n    if (a[threadIdx.x] > 7)\n        __syncthreads();\n    a[0] = 1;\n}\n", 0,
        "k.cu:4: the device cannot synchronise here");
}

static void a_double_that_is_never_computed_is_no_hindrance(void **state)
{
    (void)state;
    free(emitted("struct two { double d; int i; };\n__global__ void k(struct two *a, const struct two *b)\n"
                 "{\n    a[0] = b[1];\n    a[1].i = 3;\n}\n",
                 NULL));
    char *msl = emitted("__global__ void k(double *a, double d, float f)\n"
                        "{\n    a[0] = d;\n    a[1] = 0.5;\n    a[2] = f;\n    a[3] = a[4];\n}\n",
                        NULL);
    assert_non_null(strstr(msl, "    ulong b1; // d\n"));
    assert_non_null(strstr(msl, "4602678819172646912ul)"));
    assert_non_null(strstr(msl, " = slri_double(f_"));
    assert_null(strstr(strstr(msl, "[[kernel]]"), "double "));
    free(msl);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_kernel_is_emitted_or_refused_with_a_place),
        cmocka_unit_test(the_argument_block_is_a_struct_without_gaps_of_the_compilers),
        cmocka_unit_test(every_pointer_names_its_space),
        cmocka_unit_test(memory_that_is_ordered_asks_for_the_version_that_has_fences),
        cmocka_unit_test(what_metal_has_not_is_refused_with_its_place),
        cmocka_unit_test(a_double_that_is_never_computed_is_no_hindrance),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
