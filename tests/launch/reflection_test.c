// SPDX-License-Identifier: Apache-2.0
// What a program says of its source: handlers and kernels, and what was left out.
#include <slipring/program.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

static const char source[] =
    "struct sample { int x; };\n"
    "struct grid { float m[2]; };\n"
    "__ring__ void pass(const struct sample *in, int gain) { int r = in->x * gain; ring_reply(&r); }\n"
    "__device__ void meet(void) { __syncthreads(); }\n"
    "__global__ void __launch_bounds__(64, 2) work(const float4 *in, struct grid g, unsigned *out)\n"
    "{\n"
    "    __shared__ int part[4];\n"
    "    extern __shared__ int more[];\n"
    "    part[0] = more[0] = 1;\n"
    "    meet();\n"
    "    out[__activemask() & 1] = (unsigned)(in[0].x + g.m[1]) + part[0];\n"
    "}\n"
    "int main() { return 0; }\n";

static slr_device *device;
static slr_program *program;

static int set_up(void **state)
{
    (void)state;
    slr_status status = slr_device_open("cpu?engine=interpreted", NULL, &device);
    if (status == SLR_OK)
        status = slr_program_from_text(device, "source.cu", source, NULL, &program);
    if (status != SLR_OK)
        print_error("%s\n", slr_error_message());
    return status == SLR_OK ? 0 : -1;
}

static int tear_down(void **state)
{
    (void)state;
    slr_program_destroy(program);
    slr_device_close(device);
    return 0;
}

static void functions_come_in_source_order_with_what_they_take_and_use(void **state)
{
    (void)state;
    slr_function_info info;
    assert_int_equal(slr_program_get_function(program, 0, &info), SLR_OK);
    assert_string_equal(info.name, "pass");
    assert_int_equal(info.kind, SLR_FUNCTION_RING);
    assert_int_equal(info.line, 3);
    assert_int_equal(info.parameter_count, 1);
    assert_string_equal(info.types[0], "int");
    assert_false(info.has_barriers);

    assert_int_equal(slr_program_get_function(program, 1, &info), SLR_OK);
    assert_string_equal(info.name, "work");
    assert_int_equal(info.kind, SLR_FUNCTION_KERNEL);
    assert_string_equal(info.file, "source.cu");
    assert_int_equal(info.line, 5);
    assert_int_equal(info.parameter_count, 3);
    assert_string_equal(info.types[0], "const float4 *");
    assert_string_equal(info.types[1], "struct grid");
    assert_string_equal(info.types[2], "unsigned int *");
    assert_string_equal(info.parameters[2].name, "out");
    assert_true(info.parameters[0].is_const);
    assert_int_equal(info.max_threads, 64);
    assert_int_equal(info.min_blocks, 2);
    assert_int_equal(info.shared_bytes, 16);
    assert_true(info.takes_dynamic_shared);
    assert_true(info.has_barriers);
    assert_true(info.has_warp_functions);
}

static void what_was_left_out_is_there_with_the_reason(void **state)
{
    (void)state;
    slr_skipped_info info;
    assert_int_equal(slr_program_get_skipped(program, 0, &info), SLR_OK);
    assert_string_equal(info.name, "main");
    assert_string_equal(info.what, "the host function");
    assert_string_equal(info.file, "source.cu");
    assert_int_equal(info.line, 13);
    assert_false(info.is_kernel);
    assert_true(*info.why != '\0' && info.code > 0);
}

static void an_index_past_the_last_is_not_found(void **state)
{
    (void)state;
    slr_function_info function;
    slr_skipped_info skipped;
    assert_int_equal(slr_program_get_function(program, 2, &function), SLR_NOT_FOUND);
    assert_non_null(strstr(slr_error_message(), "number 2"));
    assert_int_equal(slr_program_get_skipped(program, 1, &skipped), SLR_NOT_FOUND);
    assert_int_equal(slr_program_get_function(NULL, 0, &function), SLR_INVALID);
    assert_int_equal(slr_program_get_skipped(program, 0, NULL), SLR_INVALID);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(functions_come_in_source_order_with_what_they_take_and_use),
        cmocka_unit_test(what_was_left_out_is_there_with_the_reason),
        cmocka_unit_test(an_index_past_the_last_is_not_found),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
