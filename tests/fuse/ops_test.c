// SPDX-License-Identifier: Apache-2.0
// Lists of operations as one kernel: values, figures, refusals.
#include "device/device_test.h"

static const char *const specs[] = {"cpu", "cpu?engine=interpreted", "opencl:0"};

enum { N = 1000 };

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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(add_multiply_relu_is_one_launch_and_half_the_bytes),
        cmocka_unit_test(add_relu_moves_12_bytes_for_20),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
