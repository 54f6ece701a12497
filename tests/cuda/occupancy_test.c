// SPDX-License-Identifier: Apache-2.0
// Occupancy and suggested blocks on a CUDA device, on a driver that is simulated: its registers decide, its count of
// blocks is taken, and where the count differs from ours both are said.
#define _POSIX_C_SOURCE 200809L
#include "tests/cuda/fake_driver.h"

static const char source[] =
    "__global__ void block(unsigned *out) { if (blockIdx.x + threadIdx.x == 0) out[0] = blockDim.x; }\n"
    "__global__ void stage(float *out) { __shared__ float s[4096]; s[threadIdx.x] = out[threadIdx.x]; "
    "__syncthreads();\n"
    "    out[threadIdx.x] = s[0]; }\n";

struct world {
    slr_device *device;
    slr_stream *stream;
    slr_program *program;
    slr_kernel *kernel;
    slr_buffer *buffer;
};

static void open_world(struct world *w, const char *name)
{
    slr_device_desc desc = SLR_DEVICE_DESC_INIT;
    desc.max_memory_bytes = 4096;
    must(slr_device_open("cuda:0", &desc, &w->device));
    must(slr_stream_create(w->device, NULL, &w->stream));
    must(slr_program_from_text(w->device, "occupancy.cu", source, NULL, &w->program));
    must(slr_program_get_kernel(w->program, name, &w->kernel));
    must(slr_buffer_create(w->device, 64, &w->buffer));
}

static void close_world(struct world *w)
{
    slr_buffer_destroy(w->buffer);
    slr_kernel_destroy(w->kernel);
    slr_program_destroy(w->program);
    slr_stream_destroy(w->stream);
    slr_device_close(w->device);
    nothing_is_left("occupancy");
}

static void drivers_count_is_the_occupancy(void **state)
{
    (void)state;
    struct world w;
    slr_kernel_occupancy of;
    reset();
    open_world(&w, "block");
    must(slr_kernel_get_occupancy(w.kernel, SLR_1D_BLOCKS(0, 256), &of));
    assert_int_equal(of.source, SLR_OCCUPANCY_DRIVER);
    assert_int_equal(of.groups, 8);
    assert_int_equal(of.computed_groups, 8);
    assert_int_equal(of.threads, 2048);
    assert_int_equal(of.most_threads, 2048);
    assert_int_equal(of.most_groups, 32);
    assert_int_equal(of.units, 132);
    assert_int_equal(of.lanes, 32);
    assert_int_equal(of.registers, 32);
    assert_int_equal(of.best_block, 1024);
    assert_int_equal(of.limits, SLR_LIMITED_BY_WARPS | SLR_LIMITED_BY_REGISTERS);
    assert_string_equal(of.why, "the driver counts 8 blocks; limited by warps, registers");
    assert_true(of.theoretical == 1.0);
    fake->registers = 33;
    must(slr_kernel_get_occupancy(w.kernel, SLR_1D_BLOCKS(0, 256), &of));
    assert_int_equal(of.limits, SLR_LIMITED_BY_REGISTERS);
    assert_true(of.theoretical == 0.75);
    close_world(&w);
}

static void static_and_dynamic_shared_memory_limit_it(void **state)
{
    (void)state;
    struct world w;
    slr_kernel_occupancy of;
    reset();
    open_world(&w, "stage");
    must(slr_kernel_get_occupancy(w.kernel, SLR_1D_BLOCKS(0, 64), &of));
    assert_int_equal(of.shared_bytes, 16384);
    assert_int_equal(of.most_shared_bytes, 232448);
    assert_int_equal(of.groups, 13); // of 17 KiB in 228
    assert_int_equal(of.limits, SLR_LIMITED_BY_SHARED);
    close_world(&w);
}

static void a_driver_that_counts_otherwise_is_believed_and_both_are_said(void **state)
{
    (void)state;
    struct world w;
    slr_kernel_occupancy of;
    reset();
    fake->blocks = 5;
    open_world(&w, "block");
    must(slr_kernel_get_occupancy(w.kernel, SLR_1D_BLOCKS(0, 256), &of));
    assert_int_equal(of.groups, 5);
    assert_int_equal(of.computed_groups, 8);
    assert_true(of.theoretical == 0.625);
    assert_non_null(strstr(of.why, "slr_occupancy_compute counts 8"));
    close_world(&w);
}

static void best_block_is_that_of_the_drivers_registers(void **state)
{
    (void)state;
    struct world w;
    slr_best_block best;
    reset();
    fake->registers = 40;
    open_world(&w, "block");
    must(slr_kernel_best_block(w.kernel, 0, &best));
    assert_int_equal(best.block_threads, 768);
    assert_int_equal(best.blocks, 2);
    assert_int_equal(best.grid_min, 264);
    assert_true(best.theoretical == 0.75);
    must(slr_kernel_best_block(w.kernel, 128 << 10, &best)); // one block a multiprocessor
    assert_int_equal(best.blocks, 1);
    assert_int_equal(best.block_threads, 1024);
    assert_int_equal(slr_kernel_best_block(NULL, 0, &best), SLR_INVALID);
    close_world(&w);
    slr_device *host;
    slr_program *program;
    slr_kernel *kernel;
    must(slr_device_open("cpu?engine=interpreted", NULL, &host));
    must(slr_program_from_text(host, "occupancy.cu", source, NULL, &program));
    must(slr_program_get_kernel(program, "block", &kernel));
    assert_int_equal(slr_kernel_best_block(kernel, 0, &best), SLR_UNSUPPORTED);
    assert_non_null(strstr(slr_error_message(), "slr_kernel_suggest"));
    slr_kernel_destroy(kernel);
    slr_program_destroy(program);
    slr_device_close(host);
}

static void launches(struct world *w, uint64_t threads, slr_block_rule rule, uint32_t block)
{
    slr_suggestion s;
    unsigned ran = 0;
    must(slr_kernel_suggest(w->kernel, SLR_1D(threads), &s));
    assert_int_equal(s.rule, rule);
    assert_int_equal(s.shape.block[0], block);
    for (int i = 0; i < 2; ++i) { // asked of the driver, then remembered
        must(SLR_LAUNCH(w->stream, w->kernel, SLR_1D(threads), w->buffer));
        must(slr_stream_finish(w->stream, LONG));
        must(slr_buffer_read(w->buffer, 0, &ran, sizeof ran));
        assert_int_equal(ran, block);
    }
}

static void registers_decide_the_block_of_a_launch(void **state)
{
    (void)state;
    struct world w;
    reset();
    open_world(&w, "block");
    launches(&w, 511, SLR_BLOCK_BY_OCCUPANCY, 64);
    launches(&w, 512, SLR_BLOCK_BY_OCCUPANCY, 128);
    launches(&w, 2000, SLR_BLOCK_BY_OCCUPANCY, 256);
    close_world(&w);
    reset();
    fake->registers = 168; // 12 warps: two blocks of 192, but one of 256
    fake->most_threads = 384;
    open_world(&w, "block");
    launches(&w, 2000, SLR_BLOCK_BY_OCCUPANCY, 192);
    launches(&w, 100001, SLR_BLOCK_BY_OCCUPANCY, 384);
    close_world(&w);
    reset();
    fake->most_threads = 100; // no more than the driver says, also in two dimensions
    open_world(&w, "block");
    slr_suggestion s;
    must(slr_kernel_suggest(w.kernel, SLR_2D(100, 100), &s));
    assert_int_equal(s.rule, SLR_BLOCK_BY_SIZE);
    assert_true(s.shape.block[0] * s.shape.block[1] <= 100);
    close_world(&w);
}

// A driver that fails to say so fails the launch, once; the next asks again.
static void a_driver_that_fails_is_asked_again(void **state)
{
    (void)state;
    struct world w;
    slr_kernel_occupancy of;
    reset();
    open_world(&w, "block");
    must(slr_kernel_prepare(w.kernel, SLR_1D_BLOCKS(1, 32)));
    fake->fail_at = fake->calls + 2;
    assert_int_not_equal(slr_kernel_get_occupancy(w.kernel, SLR_1D_BLOCKS(0, 256), &of), SLR_OK);
    assert_non_null(fake->failed);
    fake->fail_at = 0;
    must(slr_kernel_get_occupancy(w.kernel, SLR_1D_BLOCKS(0, 256), &of));
    assert_int_equal(of.groups, 8);
    close_world(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(drivers_count_is_the_occupancy),
        cmocka_unit_test(static_and_dynamic_shared_memory_limit_it),
        cmocka_unit_test(a_driver_that_counts_otherwise_is_believed_and_both_are_said),
        cmocka_unit_test(best_block_is_that_of_the_drivers_registers),
        cmocka_unit_test(registers_decide_the_block_of_a_launch),
        cmocka_unit_test(a_driver_that_fails_is_asked_again),
    };
    return cmocka_run_group_tests(tests, load_fake, NULL);
}
