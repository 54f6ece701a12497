// SPDX-License-Identifier: Apache-2.0
// One kernel, timed: how often it runs, what the figures are of, and what is refused.
#include "device/device_test.h"

enum { N = 1000 };

static const char source[] = "__global__ void count(unsigned *x, int n)\n"
                             "{\n"
                             "    int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
                             "    if (i < n) x[i] += 1;\n"
                             "}\n";
static const char *const specs[] = {"cpu?engine=interpreted", "cpu?threads=2", "opencl:0"};

struct bench {
    slr_device *device;
    slr_program *program;
    slr_kernel *kernel;
    slr_buffer *buffer;
    slr_arg args[2];
};

static bool open_bench(const char *spec, struct bench *b)
{
    *b = (struct bench){0};
    if (slr_device_open(spec, NULL, &b->device) != SLR_OK)
        return false;
    must(slr_program_from_text(b->device, "count.cu", source, NULL, &b->program));
    must(slr_program_get_kernel(b->program, NULL, &b->kernel));
    must(slr_buffer_create(b->device, N * 4, &b->buffer));
    b->args[0] = slr_arg_buffer(b->buffer);
    b->args[1] = slr_arg_signed(N);
    return true;
}

static void close_bench(struct bench *b)
{
    slr_buffer_destroy(b->buffer);
    slr_kernel_destroy(b->kernel);
    slr_program_destroy(b->program);
    slr_device_close(b->device);
}

static uint32_t launches_so_far(const struct bench *b)
{
    uint32_t value;
    must(slr_buffer_read(b->buffer, 0, &value, sizeof value));
    return value;
}

static void a_kernel_runs_as_often_as_is_asked(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof specs / sizeof *specs; ++i) {
        struct bench b;
        slr_timing t;
        slr_timing_desc desc = SLR_TIMING_DESC_INIT;
        if (!open_bench(specs[i], &b))
            continue;
        must(slr_profile_kernel(b.kernel, SLR_1D(N), b.args, 2, NULL, &t));
        assert_int_equal(launches_so_far(&b), 34);
        assert_int_equal(t.n, 31);
        desc.warm_up = 2;
        desc.repeats = 5;
        desc.launches = 4;
        must(slr_profile_kernel(b.kernel, SLR_1D(N), b.args, 2, &desc, &t));
        assert_int_equal(launches_so_far(&b), 34 + 28);
        assert_true(t.n == 5 && t.min_ns <= t.p50_ns && t.p50_ns <= t.p95_ns && t.p95_ns <= t.p99_ns &&
                    t.p99_ns <= t.max_ns && t.mean_ns >= t.min_ns && t.mean_ns <= t.max_ns && t.deviation_ns >= 0);
        assert_true(t.max_ns > 0);
        desc.no_warm_up = 1;
        desc.repeats = desc.launches = 1;
        must(slr_profile_kernel(b.kernel, SLR_1D(N), b.args, 2, &desc, &t));
        assert_int_equal(launches_so_far(&b), 34 + 28 + 1);
        assert_true(t.deviation_ns == 0 && t.min_ns == t.max_ns);
        close_bench(&b);
    }
}

static void its_work_and_rates_are_those_of_a_launch(void **state)
{
    (void)state;
    struct bench b;
    slr_timing t;
    slr_timing_desc desc = SLR_TIMING_DESC_INIT;
    desc.launches = 3;
    assert_true(open_bench(specs[0], &b));
    must(slr_profile_kernel(b.kernel, SLR_1D_BLOCKS(N, 100), b.args, 2, &desc, &t));
    assert_int_equal(t.bytes, 8 * N);
    assert_int_equal(t.flops, 0);
    assert_int_equal(t.counted, SLR_COUNTED_EXACT);
    assert_true(t.block[0] == 100 && t.grid[0] == 10 && t.block[1] == 1);
    double rate = 8.0 * N * 1e9 / t.p50_ns;
    assert_true(t.bytes_per_second > 0.999 * rate && t.bytes_per_second < 1.001 * rate);
    close_bench(&b);
}

static void what_cannot_be_timed_is_refused(void **state)
{
    (void)state;
    struct bench b;
    slr_timing t;
    slr_timing_desc desc = SLR_TIMING_DESC_INIT;
    assert_true(open_bench(specs[0], &b));
    refuses(slr_profile_kernel(NULL, SLR_1D(1), b.args, 2, NULL, &t), INVALID, "kernel is NULL");
    refuses(slr_profile_kernel(b.kernel, SLR_1D(1), b.args, 2, NULL, NULL), INVALID, "out is NULL");
    refuses(slr_profile_kernel(b.kernel, SLR_1D(1), NULL, 2, NULL, &t), INVALID, "args is NULL");
    refuses(slr_profile_kernel(b.kernel, SLR_1D(1), b.args, 1, NULL, &t), INVALID, "takes 2 arguments, but got 1");
    desc.repeats = 1000001;
    refuses(slr_profile_kernel(b.kernel, SLR_1D(1), b.args, 2, &desc, &t), INVALID, "repeats 1000001");
    desc.struct_size = 3;
    refuses(slr_profile_kernel(b.kernel, SLR_1D(1), b.args, 2, &desc, &t), INVALID, "slr_timing_desc");
    close_bench(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_kernel_runs_as_often_as_is_asked),
        cmocka_unit_test(its_work_and_rates_are_those_of_a_launch),
        cmocka_unit_test(what_cannot_be_timed_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
