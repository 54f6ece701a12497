// SPDX-License-Identifier: Apache-2.0
// Lists of operations as one kernel: values, figures, refusals.
#include "device/device_test.h"

#include <math.h>

static const char *const specs[] = {"cpu", "cpu?engine=interpreted", "opencl:0", "cuda:0"};

static slr_buffer *make_buffer(slr_device *device, const void *from, size_t bytes)
{
    slr_buffer *buffer;
    must(slr_buffer_create(device, bytes, &buffer));
    if (from)
        must(slr_buffer_write(buffer, 0, from, bytes));
    return buffer;
}

static slr_fusion_desc chain(const slr_op *ops, uint32_t count)
{
    slr_fusion_desc desc = SLR_FUSION_DESC_INIT;
    desc.ops = ops;
    desc.op_count = count;
    return desc;
}

static void add_multiply_relu_is_one_launch_and_half_the_bytes(void **state)
{
    (void)state;
    static const slr_op ops[] = {SLR_OP_ADD, SLR_OP_MULTIPLY, SLR_OP_ACTIVATION};
    static const float a[] = {1, 1}, b[] = {2, 2}, c[] = {-3, 3};
    EACH_HERE(i, specs)
    {
        slr_device *device = open_device(specs[i]);
        slr_stream *stream;
        slr_kernel *kernel;
        slr_fusion_info info;
        float out[2];
        must(slr_stream_create(device, NULL, &stream));
        slr_fusion_desc desc = chain(ops, 3);
        must(slr_fuse(device, &desc, &kernel, &info));
        assert_int_equal(info.inputs, 3);
        assert_int_equal(info.outputs, 1);
        assert_int_equal(info.launches, 1);
        assert_int_equal(info.launches_apart, 3);
        assert_int_equal(info.bytes_an_element, 16);
        assert_int_equal(info.bytes_apart, 32);
        assert_true(info.bound == 2.0);
        slr_buffer *in[] = {make_buffer(device, a, 8), make_buffer(device, b, 8), make_buffer(device, c, 8)};
        slr_buffer *result = make_buffer(device, NULL, 8);
        must(SLR_LAUNCH(stream, kernel, SLR_1D(2), in[0], in[1], in[2], result, 2));
        must(slr_stream_finish(stream, LONG));
        must(slr_buffer_read(result, 0, out, 8));
        assert_true(out[0] == 0 && out[1] == 9);
        for (int k = 0; k < 3; ++k)
            slr_buffer_destroy(in[k]);
        slr_buffer_destroy(result);
        slr_kernel_destroy(kernel);
        slr_stream_destroy(stream);
        slr_device_close(device);
    }
}

static void add_relu_moves_12_bytes_for_20(void **state)
{
    (void)state;
    static const slr_op ops[] = {SLR_OP_ADD, SLR_OP_ACTIVATION};
    slr_device *device = open_device("cpu?engine=interpreted");
    slr_fusion_desc desc = chain(ops, 2);
    slr_kernel *kernel;
    slr_fusion_info info;
    must(slr_fuse(device, &desc, &kernel, &info));
    assert_int_equal(info.bytes_an_element, 12);
    assert_int_equal(info.bytes_apart, 20);
    assert_true(info.bound > 1.666 && info.bound < 1.667);
    assert_non_null(
        strstr(info.source, "__global__ void fused(const float *in0, const float *in1, float *out, int n)"));
    slr_kernel_destroy(kernel);
    slr_device_close(device);
}

// A product with 0.01 differs from v / 100 in the last bit for 250 of these 900.
static void leaky_relu_divides_by_100_as_the_header_and_the_operation_do(void **state)
{
    (void)state;
    enum { COUNT = 1000 };
    static const slr_op ops[] = {SLR_OP_ACTIVATION};
    float x[COUNT], fused[COUNT], of_operation[COUNT];
    for (int i = 0; i < COUNT; ++i)
        x[i] = (float)(i - 900);
    slr_device *device = open_device("cpu");
    slr_stream *stream;
    slr_kernel *kernel;
    slr_ops *operations;
    must(slr_stream_create(device, NULL, &stream));
    must(slr_ops_create(device, NULL, &operations));
    slr_fusion_desc desc = chain(ops, 1);
    desc.activation = SLR_LEAKY_RELU;
    must(slr_fuse(device, &desc, &kernel, NULL));
    slr_buffer *in = make_buffer(device, x, sizeof x), *result = make_buffer(device, NULL, sizeof x);
    must(SLR_LAUNCH(stream, kernel, SLR_1D(COUNT), in, result, COUNT));
    must(slr_stream_finish(stream, LONG));
    must(slr_buffer_read(result, 0, fused, sizeof fused));
    const slr_tensor from = {.buffer = in, .dtype = SLR_F32, .rank = 1, .shape = {COUNT}};
    const slr_tensor to = {.buffer = result, .dtype = SLR_F32, .rank = 1, .shape = {COUNT}};
    must(slr_ops_activation(operations, stream, SLR_LEAKY_RELU, &from, &to, NULL));
    must(slr_stream_finish(stream, LONG));
    must(slr_buffer_read(result, 0, of_operation, sizeof of_operation));
    for (int i = 0; i < COUNT; ++i) {
        const float want = x[i] < 0 ? x[i] / 100 : x[i];
        assert_memory_equal(&fused[i], &want, 4);
        assert_memory_equal(&of_operation[i], &want, 4);
    }
    slr_ops_destroy(operations);
    slr_buffer_destroy(in);
    slr_buffer_destroy(result);
    slr_kernel_destroy(kernel);
    slr_stream_destroy(stream);
    slr_device_close(device);
}

// ---- ends ----------------------------------------------------------------------------------------------------------

struct end_case {
    slr_op op;
    slr_axis axis;
    uint32_t results;
};

// x is 0.5, 1.5, ... of 3 rows and 5 columns; each is negated first.
static void ends_give_sums_and_extremes_over_all_rows_and_columns(void **state)
{
    (void)state;
    static const struct end_case cases[] = {{SLR_OP_SUM, SLR_ALL, 1},           {SLR_OP_SUM, SLR_ALONG_ROW, 3},
                                            {SLR_OP_SUM, SLR_ALONG_COLUMN, 5},  {SLR_OP_LARGEST, SLR_ALL, 1},
                                            {SLR_OP_LARGEST, SLR_ALONG_ROW, 3}, {SLR_OP_SMALLEST, SLR_ALL, 1}};
    static const float want[][5] = {{-112.5f}, {-12.5f, -37.5f, -62.5f}, {-16.5f, -19.5f, -22.5f, -25.5f, -28.5f},
                                    {-0.5f},   {-0.5f, -5.5f, -10.5f},   {-14.5f}};
    float x[15], out[5];
    for (int i = 0; i < 15; ++i)
        x[i] = (float)i + 0.5f;
    EACH_HERE(d, specs)
    {
        slr_device *device = open_device(specs[d]);
        slr_stream *stream;
        must(slr_stream_create(device, NULL, &stream));
        for (size_t k = 0; k < sizeof cases / sizeof *cases; ++k) {
            const slr_fusion_step steps[] = {{.op = SLR_OP_NEGATE}, {.op = cases[k].op, .axis = cases[k].axis}};
            slr_fusion_desc desc = SLR_FUSION_DESC_INIT;
            slr_kernel *kernel;
            desc.steps = steps;
            desc.op_count = 2;
            must(slr_fuse(device, &desc, &kernel, NULL));
            static const unsigned char zero[64];
            slr_buffer *in = make_buffer(device, x, sizeof x), *result = make_buffer(device, NULL, 64);
            slr_buffer *partial = make_buffer(device, NULL, 64), *ticket = make_buffer(device, zero, 4);
            for (int again = 0; again < 2; ++again) // the ticket is as it was
                if (cases[k].axis == SLR_ALL)
                    must(SLR_LAUNCH(stream, kernel, SLR_GRID(2, 4, 0), in, partial, ticket, result, 15));
                else
                    must(SLR_LAUNCH(stream, kernel, SLR_GRID(2, 4, 0), in, result, 15, 5));
            must(slr_stream_finish(stream, LONG));
            must(slr_buffer_read(result, 0, out, cases[k].results * 4));
            for (uint32_t i = 0; i < cases[k].results; ++i)
                if (out[i] != want[k][i])
                    fail_msg("%s, case %zu: result %u is %g, not %g", specs[d], k, i, (double)out[i],
                             (double)want[k][i]);
            slr_buffer_destroy(in);
            slr_buffer_destroy(result);
            slr_buffer_destroy(partial);
            slr_buffer_destroy(ticket);
            slr_kernel_destroy(kernel);
        }
        slr_stream_destroy(stream);
        slr_device_close(device);
    }
}

// In a square matrix, a value for each column and a result for each row are as many, and still not each other's.
static void result_never_replaces_an_input_that_other_threads_still_read(void **state)
{
    (void)state;
    static const slr_axis axes[] = {SLR_ALONG_ROW, SLR_ALONG_COLUMN};
    static const slr_extent extents[] = {SLR_EACH_COLUMN, SLR_EACH_ROW};
    enum { SIDE = 4 };
    const float x[SIDE * SIDE] = {1}, w[SIDE] = {1, 2, 3, 4};
    slr_device *device = open_device("cpu?engine=interpreted");
    slr_stream *stream;
    must(slr_stream_create(device, NULL, &stream));
    slr_buffer *in = make_buffer(device, x, sizeof x), *both = make_buffer(device, w, sizeof w);
    for (int k = 0; k < 4; ++k) {
        const slr_axis axis = axes[k / 2];
        const slr_fusion_step steps[] = {{.op = SLR_OP_ADD}, {.op = SLR_OP_SUM, .axis = axis}};
        const slr_fusion_input inputs[] = {{0}, {.extent = extents[k % 2]}};
        slr_fusion_desc desc = SLR_FUSION_DESC_INIT;
        slr_kernel *kernel;
        desc.steps = steps;
        desc.op_count = 2;
        desc.inputs = inputs;
        desc.input_count = 2;
        must(slr_fuse(device, &desc, &kernel, NULL));
        must(slr_buffer_write(both, 0, w, sizeof w));
        slr_status status = SLR_LAUNCH(stream, kernel, SLR_GRID(2, 2, 0), in, both, both, SIDE * SIDE, SIDE);
        if (k == 0 || k == 3) {
            refuses(status, INVALID, "__restrict__");
        } else {
            float out[SIDE];
            must(status);
            must(slr_stream_finish(stream, LONG));
            must(slr_buffer_read(both, 0, out, sizeof out));
            for (int i = 0; i < SIDE; ++i)
                assert_true(out[i] == SIDE * w[i] + (float)(i == 0));
        }
        slr_kernel_destroy(kernel);
    }
    // Beside an input across it, the result still replaces one that is not.
    const slr_fusion_step steps[] = {{.op = SLR_OP_ADD}, {.op = SLR_OP_ADD}, {.op = SLR_OP_SUM, .axis = SLR_ALONG_ROW}};
    const slr_fusion_input inputs[] = {{0}, {.extent = SLR_EACH_COLUMN}, {.extent = SLR_EACH_ROW}};
    slr_fusion_desc desc = SLR_FUSION_DESC_INIT;
    slr_kernel *kernel;
    desc.steps = steps;
    desc.op_count = 3;
    desc.inputs = inputs;
    desc.input_count = 3;
    must(slr_fuse(device, &desc, &kernel, NULL));
    slr_buffer *columns = make_buffer(device, w, sizeof w);
    must(slr_buffer_write(both, 0, w, sizeof w));
    refuses(SLR_LAUNCH(stream, kernel, SLR_GRID(2, 2, 0), in, both, columns, both, SIDE * SIDE, SIDE), INVALID, "in1");
    must(SLR_LAUNCH(stream, kernel, SLR_GRID(2, 2, 0), in, columns, both, both, SIDE * SIDE, SIDE));
    must(slr_stream_finish(stream, LONG));
    float out[SIDE];
    must(slr_buffer_read(both, 0, out, sizeof out));
    for (int i = 0; i < SIDE; ++i)
        assert_true(out[i] == SIDE * w[i] + 10 + (float)(i == 0));
    slr_kernel_destroy(kernel);
    slr_buffer_destroy(columns);
    slr_buffer_destroy(in);
    slr_buffer_destroy(both);
    slr_stream_destroy(stream);
    slr_device_close(device);
}

// What docs/contract/fusion.md says of no elements, of -0 and of NaN.
static void ends_of_nothing_and_of_no_numbers_are_what_they_begin_with(void **state)
{
    (void)state;
    static const slr_op ops[] = {SLR_OP_SUM, SLR_OP_LARGEST, SLR_OP_SMALLEST};
    static const float in[] = {-0.0f, NAN}, begin[] = {0, -INFINITY, INFINITY};
    slr_device *device = open_device("cpu");
    slr_stream *stream;
    must(slr_stream_create(device, NULL, &stream));
    slr_buffer *x = make_buffer(device, NULL, 4), *partial = make_buffer(device, NULL, 16);
    slr_buffer *ticket = make_buffer(device, NULL, 4), *result = make_buffer(device, NULL, 4);
    for (int k = 0; k < 3; ++k) {
        slr_fusion_desc desc = chain(&ops[k], 1);
        slr_kernel *kernel;
        must(slr_fuse(device, &desc, &kernel, NULL));
        must(slr_buffer_write(x, 0, &in[k != 0], 4));
        for (int n = -1; n < 2; ++n) {
            float out;
            must(SLR_LAUNCH(stream, kernel, SLR_GRID(3, 2, 0), x, partial, ticket, result, n));
            must(slr_stream_finish(stream, LONG));
            must(slr_buffer_read(result, 0, &out, 4));
            assert_memory_equal(&out, &begin[k], 4);
        }
        slr_kernel_destroy(kernel);
    }
    slr_buffer_destroy(x);
    slr_buffer_destroy(partial);
    slr_buffer_destroy(ticket);
    slr_buffer_destroy(result);
    slr_stream_destroy(stream);
    slr_device_close(device);
}

static void soft_max_of_each_row_has_the_sum_1_and_the_order_of_its_values(void **state)
{
    (void)state;
    static const slr_op ops[] = {SLR_OP_SCALE, SLR_OP_SOFTMAX};
    static const float x[] = {1, 2, 3, 1000, 1000, 1000};
    slr_device *device = open_device("cpu?engine=interpreted");
    slr_stream *stream;
    slr_kernel *kernel;
    float out[6];
    must(slr_stream_create(device, NULL, &stream));
    slr_fusion_desc desc = chain(ops, 2);
    must(slr_fuse(device, &desc, &kernel, NULL));
    slr_buffer *in = make_buffer(device, x, sizeof x), *result = make_buffer(device, NULL, sizeof x);
    must(SLR_LAUNCH(stream, kernel, SLR_GRID(2, 32, 0), in, 1.0f, result, 6, 3));
    must(slr_stream_finish(stream, LONG));
    must(slr_buffer_read(result, 0, out, sizeof out));
    assert_true(out[0] < out[1] && out[1] < out[2]);
    assert_true(out[0] + out[1] + out[2] > 0.9999f && out[0] + out[1] + out[2] < 1.0001f);
    assert_true(out[3] == out[4] && out[4] == out[5] && out[3] > 0.3333f && out[3] < 0.3334f);
    must(SLR_LAUNCH(stream, kernel, SLR_GRID(2, 32, 0), in, 1.0f, result, 6, -3)); // no rows, and no access outside
    must(slr_stream_finish(stream, LONG));
    slr_buffer_destroy(in);
    slr_buffer_destroy(result);
    slr_kernel_destroy(kernel);
    slr_stream_destroy(stream);
    slr_device_close(device);
}

// ---- refusals ------------------------------------------------------------------------------------------------------

static void sum_in_the_middle_is_a_barrier_and_at_the_end_is_none(void **state)
{
    (void)state;
    static const slr_op middle[] = {SLR_OP_MULTIPLY, SLR_OP_SUM, SLR_OP_SQRT}, end[] = {SLR_OP_MULTIPLY, SLR_OP_SUM};
    slr_device *device = open_device("cpu?engine=interpreted");
    slr_kernel *kernel;
    slr_fusion_info info;
    slr_fusion_desc desc = chain(middle, 3);
    refuses(slr_fuse(device, &desc, &kernel, NULL), UNSUPPORTED, "step 2 (sqrt) comes after sum");
    desc = chain(end, 2);
    must(slr_fuse(device, &desc, &kernel, &info));
    assert_int_equal(info.bytes_an_element, 8);
    assert_int_equal(info.bytes_apart, 16);
    slr_kernel_destroy(kernel);
    slr_device_close(device);
}

static void unknown_operation_is_an_error_and_never_another(void **state)
{
    (void)state;
    static const int unknown[] = {0, -1, SLR_OP_CAST + 1, 1000};
    slr_device *device = open_device("cpu?engine=interpreted");
    slr_kernel *kernel = NULL;
    for (size_t i = 0; i < sizeof unknown / sizeof *unknown; ++i) {
        slr_op ops[] = {SLR_OP_ADD, (slr_op)unknown[i]};
        slr_fusion_desc desc = chain(ops, 2);
        refuses(slr_fuse(device, &desc, &kernel, NULL), INVALID, "step 1 is operation");
        assert_null(kernel);
    }
    static const slr_op activation[] = {SLR_OP_ACTIVATION};
    slr_fusion_desc desc = chain(activation, 1);
    desc.activation = (slr_activation)(SLR_LEAKY_RELU + 1);
    refuses(slr_fuse(device, &desc, &kernel, NULL), INVALID, "is not an slr_activation");
    desc.activation = SLR_LEAKY_RELU;
    must(slr_fuse(device, &desc, &kernel, NULL));
    slr_kernel_destroy(kernel);
    slr_device_close(device);
}

static void mistakes_in_a_list_are_named(void **state)
{
    (void)state;
    slr_device *device = open_device("cpu?engine=interpreted");
    slr_kernel *kernel;
    slr_fusion_step mixed[] = {{.op = SLR_OP_LESS}, {.op = SLR_OP_ADD}};
    slr_fusion_step later[] = {{.op = SLR_OP_ADD, .operand = {SLR_STEP(0)}}};
    slr_fusion_step axis[] = {{.op = SLR_OP_ADD, .axis = SLR_ALONG_ROW}};
    slr_fusion_step cast[] = {{.op = SLR_OP_CAST, .type = SLR_U8}};
    slr_fusion_step root[] = {{.op = SLR_OP_SQRT}};
    slr_fusion_step unread[] = {{.op = SLR_OP_ADD},
                                {.op = SLR_OP_ACTIVATION, .activation = SLR_GELU},
                                {.op = SLR_OP_NEGATE, .operand = {SLR_STEP(0)}}};
    slr_fusion_step gap[] = {{.op = SLR_OP_ADD, .operand = {SLR_INPUT(0), SLR_INPUT(2)}}};
    slr_fusion_step behind[] = {{.op = SLR_OP_SUM}, {.op = SLR_OP_ACTIVATION, .activation = SLR_SILU}};
    slr_fusion_step bent[] = {{.op = SLR_OP_ACTIVATION}};
    const struct {
        slr_fusion_step *steps;
        uint32_t count;
        slr_scalar dtype;
        const char *why;
    } cases[] = {
        {mixed, 2, SLR_F32, "step 1 (add) combines int and float; cast one of them first"},
        {later, 1, SLR_F32, "step 0 (add) reads step 0, which is not before it"},
        {axis, 1, SLR_F32, "step 0 (add) has axis 1"},
        {cast, 1, SLR_F32, "step 0 casts to type 3"},
        {root, 1, SLR_I32, "step 0 (sqrt) needs float or double, but gets int"},
        {unread, 3, SLR_F32, "no step reads the result of step 1 (gelu): read it by SLR_STEP(1), set its keep"},
        {gap, 1, SLR_F32, "no step reads input 1 of 3"},
        {bent, 1, SLR_I32, "step 0 (relu) needs float or double, but gets int"},
        {root, 1, SLR_U8, "dtype is 3"},
        {root, 0, SLR_F32, "op_count is 0"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; ++i) {
        slr_fusion_desc desc = SLR_FUSION_DESC_INIT;
        desc.steps = cases[i].steps;
        desc.op_count = cases[i].count;
        desc.dtype = cases[i].dtype;
        refuses(slr_fuse(device, &desc, &kernel, NULL), INVALID, cases[i].why);
    }
    slr_fusion_desc desc = SLR_FUSION_DESC_INIT;
    desc.steps = behind;
    desc.op_count = 2;
    refuses(slr_fuse(device, &desc, &kernel, NULL), UNSUPPORTED, "step 1 (silu) comes after sum");
    unread[1].keep = 1;
    desc.steps = unread;
    desc.op_count = 3;
    slr_fusion_info info;
    must(slr_fuse(device, &desc, &kernel, &info));
    assert_non_null(strstr(info.source, "// Fused by slipring: add, gelu, negate."));
    slr_kernel_destroy(kernel);
    static const slr_fusion_input two[2];
    desc.steps = bent;
    desc.op_count = 1;
    desc.inputs = two;
    desc.input_count = 2;
    refuses(slr_fuse(device, &desc, &kernel, NULL), INVALID, "no step reads input 1 of 2");
    desc = (slr_fusion_desc)SLR_FUSION_DESC_INIT;
    desc.steps = root;
    desc.op_count = 1;
    desc.name = "a b";
    refuses(slr_fuse(device, &desc, &kernel, NULL), INVALID, "no name of a function");
    gives(slr_fuse(NULL, &desc, &kernel, NULL), INVALID);
    slr_device_close(device);
}

// ---- the checker ---------------------------------------------------------------------------------------------------

static void checker_finds_nothing_in_what_is_made(void **state)
{
    (void)state;
    static const slr_op lists[][4] = {{SLR_OP_ADD, SLR_OP_MULTIPLY, SLR_OP_ACTIVATION, SLR_OP_CLAMP},
                                      {SLR_OP_FMA, SLR_OP_EXP, SLR_OP_ACTIVATION, SLR_OP_SUM},
                                      {SLR_OP_SCALE_BIAS, SLR_OP_ABS, SLR_OP_LOG, SLR_OP_LARGEST}};
    slr_device *device = open_device("cpu?engine=interpreted");
    for (size_t i = 0; i < sizeof lists / sizeof *lists; ++i) {
        slr_fusion_desc desc = chain(lists[i], 4);
        slr_kernel *kernel;
        slr_check *check;
        slr_check_info info;
        slr_check_finding finding;
        must(slr_fuse(device, &desc, &kernel, NULL));
        must(slr_kernel_check(kernel, NULL, &check));
        must(slr_check_get_info(check, &info));
        if (info.findings && slr_check_get_finding(check, 0, &finding) == SLR_OK)
            fail_msg("list %zu, line %u: %s", i, finding.at.line, finding.message);
        assert_int_equal(info.findings, 0);
        slr_check_destroy(check);
        slr_kernel_destroy(kernel);
    }
    slr_device_close(device);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(add_multiply_relu_is_one_launch_and_half_the_bytes),
        cmocka_unit_test(add_relu_moves_12_bytes_for_20),
        cmocka_unit_test(leaky_relu_divides_by_100_as_the_header_and_the_operation_do),
        cmocka_unit_test(ends_give_sums_and_extremes_over_all_rows_and_columns),
        cmocka_unit_test(result_never_replaces_an_input_that_other_threads_still_read),
        cmocka_unit_test(ends_of_nothing_and_of_no_numbers_are_what_they_begin_with),
        cmocka_unit_test(soft_max_of_each_row_has_the_sum_1_and_the_order_of_its_values),
        cmocka_unit_test(sum_in_the_middle_is_a_barrier_and_at_the_end_is_none),
        cmocka_unit_test(unknown_operation_is_an_error_and_never_another),
        cmocka_unit_test(mistakes_in_a_list_are_named),
        cmocka_unit_test(checker_finds_nothing_in_what_is_made),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
