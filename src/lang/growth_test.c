// SPDX-License-Identifier: Apache-2.0
// Generated files are large: the front end's work grows with the text, not with its square.
#include "base/status.h"
#include "base/text.h"
#include "lang/kernel.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

enum { FEW = 4000, MANY = 4 * FEW, TRIES = 20 };

typedef void writer(slri_text *out, int count);

// Processor time of this process in seconds: other processes do not count.
static double seconds(const slri_text *text)
{
    struct slri_module *module = NULL;
    const struct slri_source source = {.path = "many.cu", .text = slri_text_view(text)};
    clock_t begin = clock();
    if (slri_kernel_compile(&source, &module) != SLR_OK)
        fail_msg("%s", slr_error_message());
    double took = (double)(clock() - begin) / CLOCKS_PER_SEC;
    slri_module_destroy(module);
    return took;
}

static double least_of(double a, double b)
{
    return a < b ? a : b;
}

// Four times as much text: 4 where the work grows with it, 16 with its square, and what was quadratic here took 20 and
// more. The least of some tries, in turn: others may share the core's caches, or its host's time, for any of them.
static void assert_linear(writer *write)
{
    slri_text few_text = SLRI_TEXT_INIT, many_text = SLRI_TEXT_INIT;
    double few = 1e9, many = 1e9;
    write(&few_text, FEW);
    write(&many_text, MANY);
    for (int i = 0; i < TRIES && (i < 2 || many > 10 * few); i++) {
        few = least_of(few, seconds(&few_text));
        many = least_of(many, seconds(&many_text));
    }
    slri_text_free(&few_text);
    slri_text_free(&many_text);
    if (many > 10 * few)
        fail_msg("%d take %.3f s, and %d take %.3f s", FEW, few, MANY, many);
}

static void write_functions(slri_text *out, int count)
{
    for (int i = 0; i < count; i++)
        slri_text_printf(out, "__device__ int f%d(int a) { return a + %d; }\n", i, i);
    slri_text_puts(out, "__global__ void k(int *out, int n) { out[0] = f0(n); }\n");
}

static void write_calls(slri_text *out, int count)
{
    for (int i = 0; i < count; i++)
        slri_text_printf(out, "__device__ int f%d(int a) { return a + %d; }\n", i, i);
    slri_text_puts(out, "__global__ void k(int *out, int n) {\n");
    for (int i = 0; i < count; i++)
        slri_text_printf(out, "out[%d] = f%d(n);\n", i, i);
    slri_text_puts(out, "}\n");
}

static void write_kernels(slri_text *out, int count)
{
    for (int i = 0; i < count; i++)
        slri_text_printf(out, "__global__ void k%d(int *a) { __shared__ int s; s = a[0]; a[1] = s; }\n", i);
}

static void work_grows_with_device_functions(void **state)
{
    (void)state;
    assert_linear(write_functions);
}

static void work_grows_with_functions_that_are_called(void **state)
{
    (void)state;
    assert_linear(write_calls);
}

static void work_grows_with_kernels_and_their_shared_memory(void **state)
{
    (void)state;
    assert_linear(write_kernels);
}

static void a_message_does_not_name_thousands_of_kernels(void **state)
{
    (void)state;
    slri_text text = SLRI_TEXT_INIT;
    struct slri_module *module = NULL;
    for (int i = 0; i < MANY; i++)
        slri_text_printf(&text, "template <class T> __global__ void k%d(T *a) { a[0] = 1; }\n", i);
    const struct slri_source source = {.path = "many.cu", .text = slri_text_view(&text)};
    assert_int_equal(slri_kernel_compile(&source, &module), SLR_COMPILE);
    assert_non_null(strstr(slr_error_message(), "'k0' was skipped"));
    assert_non_null(strstr(slr_error_message(), "; and 15996 more were skipped"));
    slri_text_free(&text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(work_grows_with_device_functions),
        cmocka_unit_test(work_grows_with_functions_that_are_called),
        cmocka_unit_test(work_grows_with_kernels_and_their_shared_memory),
        cmocka_unit_test(a_message_does_not_name_thousands_of_kernels),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
