// SPDX-License-Identifier: Apache-2.0
// What is read of CUDA C++ that nobody reads: its kernels' names and parameters.
#include "base/status.h"
#include "base/text.h"
#include "lang/raw.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

static void reads(const char *text, uint32_t count, const char *expected)
{
    struct slri_text out = SLRI_TEXT_INIT;
    uint32_t found = slri_raw_read(text, false, &out);
    if (found != count || strcmp(slri_text_view(&out), expected) != 0)
        fail_msg("%s\ngives %u kernels:\n%s", text, found, slri_text_view(&out));
    slri_text_free(&out);
}

static void kernels_with_a_c_name_are_found_wherever_they_stand(void **state)
{
    (void)state;
    reads("extern \"C\" __global__ void k(const float *x, int n) { }", 1,
          "__global__ void k(const float * x , int n ) {}\n");
    reads(
        "extern \"C\" {\n static int f() { return 1; }\n__global__ void __launch_bounds__(128, 2) k(int n) { { } }\n}\n"
        "__global__ void cpp(int n) {}",
        1, "__global__ __launch_bounds__(128, 2) void k(int n ) {}\n");
    reads("extern \"C\" __global__ __launch_bounds__(SIZE) void k(/* none, */ float *p // a comment (\n) {}", 1,
          "__global__ void k(float * p ) {}\n");
    reads("extern \"C\" __global__ void k(int); extern \"C\" __global__ void k(int n) {}", 1,
          "__global__ void k(int n ) {}\n");
}

static void what_is_no_kernel_or_has_a_name_of_cpp_is_passed_over(void **state)
{
    (void)state;
    reads("", 0, "");
    reads("template <class T> __global__ void k(T *x) {}", 0, "");
    reads("__global__ void k(int n) {}", 0, "");
    reads("extern \"C\" { namespace inner { __global__ void k(int n) {} } }", 0, "");
    reads("#define K extern \"C\" __global__ \\\n void k(int n) {}\n", 0, "");
    reads("// extern \"C\" __global__ void k(int n) {}\n/* extern \"C\" __global__ void k(int n) {} */", 0, "");
    reads("const char *s = \"extern \\\"C\\\" __global__ void k(int n) {}\", c = '\"';", 0, "");
    reads("const char *s = R\"x(\" extern \"C\" __global__ void k(int n) {})y\" )x\";", 0, "");
    reads("extern \"C\" __global__ void k(int n", 0, "");
    reads("extern \"C\" __global__", 0, "");
    reads("\"", 0, "");
    reads("/*", 0, "");
    reads("R\"(", 0, "");
    reads("#\\", 0, "");
}

static const char source[] =
    "template <int N> __device__ float twice(float x) { return N * x; }\n"
    "extern \"C\" __global__ void scale(const float *__restrict__ in, float *out, int n)\n"
    "{ auto i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) out[i] = twice<2>(in[i]); }\n";

static void module_has_the_parameters_and_the_text(void **state)
{
    (void)state;
    struct slri_source from = {.path = "scale.cu", .text = source};
    struct slri_module *module;
    assert_int_equal(slri_raw_compile(&from, NULL, &module), SLR_OK);
    assert_int_equal(module->entries, 1);
    const struct slri_entry *entry = slri_module_entry(module, "scale");
    assert_int_equal(entry->bindings, 3);
    assert_true(entry->binding[0].is_buffer && entry->binding[0].is_const && entry->binding[0].is_restrict);
    assert_true(entry->binding[1].is_buffer && !entry->binding[1].is_const);
    assert_int_equal(entry->binding[2].type->kind, SLRI_I32);
    assert_string_equal(module->raw, source);
    slri_module_destroy(module);
}

static void table_says_what_the_source_does_not(void **state)
{
    (void)state;
    static const char by_macro[] = "KERNEL(k)(float *x) {}";
    struct slri_source from = {.path = "macro.cu", .text = by_macro};
    struct slri_module *module;
    assert_int_equal(slri_raw_compile(&from, NULL, &module), SLR_COMPILE);
    assert_non_null(strstr(slr_error_message(), "macro.cu has no kernel that is 'extern \"C\" __global__ void'"));
    assert_int_equal(slri_raw_compile(&from, "k(float *x);", &module), SLR_COMPILE);
    assert_non_null(strstr(slr_error_message(), "no kernel in its table"));
    assert_int_equal(slri_raw_compile(&from, "__global__ void k(float *x); __global__ void l();", &module), SLR_OK);
    assert_int_equal(module->entries, 2);
    slri_module_destroy(module);
    from.text = "extern \"C\" __global__ void k(std::vector<int> x) {}";
    assert_int_equal(slri_raw_compile(&from, NULL, &module), SLR_COMPILE);
    assert_non_null(strstr(slr_error_message(), "k"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(kernels_with_a_c_name_are_found_wherever_they_stand),
        cmocka_unit_test(what_is_no_kernel_or_has_a_name_of_cpp_is_passed_over),
        cmocka_unit_test(module_has_the_parameters_and_the_text),
        cmocka_unit_test(table_says_what_the_source_does_not),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
