// SPDX-License-Identifier: Apache-2.0
// slr_program_explain: counts that are easy to make by hand.
#include <slipring/slipring.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

static slr_device *device;
static slr_program *program;

static const char source[] =
    "__global__ void axpy(float a, const float *x, float *y, int n)\n"
    "{ int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) y[i] = a * x[i] + y[i]; }\n"
    "__global__ void tiles(const double *x, double *y, int n)\n"
    "{\n"
    "    __shared__ double t[16];\n"
    "    double sum = 0.0;\n"
    "    for (int k = 0; k < n; k++) {\n"
    "        t[threadIdx.x % 16] = x[k];\n"
    "        __syncthreads();\n"
    "        for (int j = 15; j >= 0; j -= 2) sum += t[j] * 2.0;\n"
    "        __syncthreads();\n"
    "    }\n"
    "    y[0] = sum;\n"
    "}\n"
    "__device__ float f0(float a) { return a + a; }\n"
    "__device__ float f1(float a) { return f0(f0(a)); }\n"
    "__device__ float f2(float a) { return f1(f1(a)); }\n"
    "__global__ void calls(float *y, int n) { if (n) y[0] = f2(y[1]); else y[0] = sqrtf(fmaf(y[0], y[1], y[2])); }\n"
    "__global__ void early(float *y, int n) {\n"
    "    if (n > 9) return;\n"
    "    if (n == 0) { y[0] = 0.0f; return; }\n"
    "    for (int k = 0; k < n; k++) { if (y[k] < 0.0f) { y[k] = 1.0f; continue; } y[k] = y[k] + y[k + 1]; }\n"
    "    y[1] = y[2] * y[3];\n"
    "}\n"
    "__global__ void late(float *y, int n) { if (n == 0) { y[0] = y[1] * y[2] + y[3]; return; } y[0] = 0.0f; }\n"
    "__global__ void fused(float *x, double *y) {\n"
    "    x[0] = __fmaf_rn(fmaf(x[0], x[1], x[2]), x[3], x[4]);\n"
    "    y[0] = __fma_rn(fma(y[0], y[1], y[2]), y[3], y[4]);\n"
    "}\n";

static int set_up(void **state)
{
    (void)state;
    return slr_device_open("cpu?engine=interpreted", NULL, &device) == SLR_OK &&
                   slr_program_from_text(device, "e.cu", source, NULL, &program) == SLR_OK
               ? 0
               : -1;
}

static int tear_down(void **state)
{
    (void)state;
    slr_program_destroy(program);
    slr_device_close(device);
    return 0;
}

static slr_explanation explained(const char *name)
{
    slr_explanation made;
    assert_int_equal(slr_program_explain(program, name, &made), SLR_OK);
    return made;
}

static void straight_code_is_counted(void **state)
{
    (void)state;
    slr_explanation what = explained("axpy");
    assert_int_equal(what.thread.flops, 2);
    assert_int_equal(what.thread.global_loads, 2);
    assert_int_equal(what.thread.global_load_bytes, 8);
    assert_int_equal(what.thread.global_store_bytes, 4);
    assert_true(what.intensity == 2.0 / 12.0);
}

static void loops_of_known_length_multiply_and_others_are_told_apart(void **state)
{
    (void)state;
    slr_explanation what = explained("tiles");
    assert_int_equal(what.loops_counted, 1);
    assert_int_equal(what.loops_uncounted, 1);
    assert_int_equal(what.loops.flops, 16); // 8 times a product and a sum
    assert_int_equal(what.loops.shared_loads, 8);
    assert_int_equal(what.loops.shared_stores, 1);
    assert_int_equal(what.loops.global_load_bytes, 8);
    assert_int_equal(what.thread.global_store_bytes, 8);
    assert_int_equal(what.thread.barriers, 2);
    assert_true(what.intensity == 2.0);
}

static void calls_count_and_of_a_branch_the_larger_side(void **state)
{
    (void)state;
    slr_explanation what = explained("calls");
    assert_int_equal(what.thread.math_calls, 1);
    assert_int_equal(what.thread.flops, 2);
    assert_int_equal(what.thread.global_loads, 3);
}

// A thread that returns does not what stands behind.
static void a_side_that_returns_has_none_of_the_rest(void **state)
{
    (void)state;
    slr_explanation what = explained("early");
    assert_int_equal(what.thread.global_stores, 2); // of the loop and behind it
    assert_int_equal(what.thread.global_loads, 3 + 2);
    assert_int_equal(what.loops.global_stores, 1);
    what = explained("late");
    assert_int_equal(what.thread.global_loads, 3);
    assert_int_equal(what.thread.global_stores, 1);
    assert_int_equal(what.thread.flops, 2);
}

static void a_fused_multiply_add_is_two_operations(void **state)
{
    (void)state;
    slr_explanation what = explained("fused");
    assert_int_equal(what.thread.math_calls, 0);
    assert_int_equal(what.thread.flops, 8);
}

static void wrong_arguments_are_named(void **state)
{
    (void)state;
    slr_explanation what;
    assert_int_equal(slr_program_explain(program, "none", &what), SLR_NOT_FOUND);
    assert_non_null(strstr(slr_error_message(), "'none'"));
    assert_int_equal(slr_program_explain(program, NULL, &what), SLR_INVALID);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(straight_code_is_counted),
        cmocka_unit_test(loops_of_known_length_multiply_and_others_are_told_apart),
        cmocka_unit_test(calls_count_and_of_a_branch_the_larger_side),
        cmocka_unit_test(a_side_that_returns_has_none_of_the_rest),
        cmocka_unit_test(a_fused_multiply_add_is_two_operations),
        cmocka_unit_test(wrong_arguments_are_named),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
