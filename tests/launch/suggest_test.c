// SPDX-License-Identifier: Apache-2.0
// Suggested blocks on the devices of this machine: the exact table, the limits of a kernel, and that a launch takes
// what was suggested.
#include "tests/launch/engines.h"

#include <slipring/tune.h>

#include <stdbool.h>

static const char source[] =
    "__global__ void block(unsigned *out) {\n"
    "    if (blockIdx.x == 0 && threadIdx.x == 0) { out[0] = blockDim.x; out[1] = gridDim.x; }\n}\n"
    "__launch_bounds__(96) __global__ void bounded(unsigned *out) {\n"
    "    if (blockIdx.x == 0 && threadIdx.x == 0) { out[0] = blockDim.x; out[1] = gridDim.x; }\n}\n"
    "__global__ void tunable(unsigned *out, unsigned tells) {\n"
    "    if (tells && blockIdx.x == 0 && threadIdx.x == 0) { out[0] = blockDim.x; out[1] = gridDim.x; }\n}\n"
    "#define SIDE 32\n#pragma slipring block declared = SIDE * 3\n"
    "__global__ void declared(unsigned *out) {\n"
    "    if (blockIdx.x == 0 && threadIdx.x == 0) { out[0] = blockDim.x; out[1] = gridDim.x; }\n}\n";

struct world {
    slr_device *device;
    slr_stream *stream;
    slr_program *program;
    slr_kernel *kernel;
    slr_buffer *buffer;
};

static bool open_world(struct world *w, const char *spec, const char *name)
{
    if (slr_device_open(spec, NULL, &w->device) != SLR_OK)
        return false; // no such driver here
    CHECK(slr_stream_default(w->device, &w->stream));
    CHECK(slr_program_from_text(w->device, "suggest.cu", source, NULL, &w->program));
    CHECK(slr_program_get_kernel(w->program, name, &w->kernel));
    CHECK(slr_buffer_create(w->device, 64, &w->buffer));
    return true;
}

static void close_world(struct world *w)
{
    slr_buffer_destroy(w->buffer);
    slr_kernel_destroy(w->kernel);
    slr_program_destroy(w->program);
    slr_device_close(w->device);
}

static slr_suggestion suggested(struct world *w, slr_shape shape)
{
    slr_suggestion out;
    CHECK(slr_kernel_suggest(w->kernel, shape, &out));
    return out;
}

// What the kernel saw of its launch.
static void launched(struct world *w, slr_shape shape, unsigned out[2])
{
    CHECK(SLR_LAUNCH(w->stream, w->kernel, shape, w->buffer));
    CHECK(slr_stream_finish(w->stream, 60 * SECOND));
    CHECK(slr_buffer_read(w->buffer, 0, out, 2 * sizeof *out));
}

static const char *const devices[] = {"cpu?engine=compiled", "cpu?engine=interpreted", "opencl:0"};
enum { DEVICES = sizeof devices / sizeof *devices };

static void size_table_is_exact_and_a_launch_takes_it(void **unused)
{
    (void)unused;
    static const struct {
        uint64_t threads;
        uint32_t block;
    } rows[] = {{1, 64}, {511, 64}, {512, 128}, {1023, 128}, {1024, 256}, {100000, 256}, {100001, 512}};
    for (int d = 0; d < DEVICES; d++) {
        struct world w;
        if (!open_world(&w, devices[d], "block"))
            continue;
        for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
            unsigned ran[2];
            slr_suggestion s = suggested(&w, SLR_1D(rows[i].threads));
            assert_int_equal(s.rule, SLR_BLOCK_BY_SIZE);
            assert_int_equal(s.shape.block[0], rows[i].block);
            assert_int_equal(s.by_size, rows[i].block);
            assert_int_equal(s.by_occupancy, 0);
            assert_int_equal(s.warps, rows[i].block / 32);
            launched(&w, SLR_1D(rows[i].threads), ran);
            assert_int_equal(ran[0], s.shape.block[0]);
            assert_int_equal(ran[1], s.shape.grid[0]);
        }
        close_world(&w);
    }
}

static void a_given_block_wins_and_no_block_passes_the_launch_bounds(void **unused)
{
    (void)unused;
    for (int d = 0; d < DEVICES; d++) {
        struct world w;
        unsigned ran[2];
        if (!open_world(&w, devices[d], "bounded"))
            continue;
        slr_suggestion s = suggested(&w, SLR_1D(1000000));
        assert_int_equal(s.rule, SLR_BLOCK_BY_SIZE);
        assert_int_equal(s.shape.block[0], 64);
        assert_non_null(strstr(s.why, "smaller, for the block's limit"));
        launched(&w, SLR_1D(1000000), ran);
        assert_int_equal(ran[0], 64);
        s = suggested(&w, SLR_1D_BLOCKS(1000, 96));
        assert_int_equal(s.rule, SLR_BLOCK_GIVEN);
        assert_int_equal(s.shape.block[0], 96);
        assert_int_equal(s.shape.grid[0], 11);
        assert_int_equal(slr_kernel_suggest(w.kernel, SLR_1D_BLOCKS(1000, 97), &s), SLR_INVALID);
        assert_int_equal(slr_kernel_suggest(w.kernel, SLR_1D(0), &s), SLR_INVALID);
        assert_int_equal(slr_kernel_suggest(NULL, SLR_1D(1), &s), SLR_INVALID);
        s = suggested(&w, SLR_2D(100, 20));
        assert_int_equal(s.shape.block[0], 32);
        assert_int_equal(s.shape.block[1], 2); // 32 by 8 are more than 96
        close_world(&w);
    }
}

static void cpu_fills_its_vectors_or_says_how_far(void **unused)
{
    (void)unused;
    struct world w;
    slr_kernel_occupancy of;
    slr_device_limits limits;
    slr_device_info info;
    assert_true(open_world(&w, devices[0], "block"));
    CHECK(slr_device_get_limits(w.device, &limits));
    CHECK(slr_device_get_info(w.device, &info));
    assert_int_equal(limits.units, info.workers);
    assert_int_equal(limits.block_threads, 1024);
    CHECK(slr_kernel_get_occupancy(w.kernel, SLR_1D_BLOCKS(0, 256), &of));
    assert_int_equal(of.source, SLR_OCCUPANCY_COMPUTED);
    assert_int_equal(of.lanes, limits.lanes);
    assert_int_equal(of.groups, 1);
    assert_int_equal(of.threads, limits.lanes);
    assert_true(of.theoretical == 1.0);
    CHECK(slr_kernel_get_occupancy(w.kernel, SLR_1D_BLOCKS(0, 3), &of));
    assert_int_equal(of.threads, limits.lanes < 3 ? limits.lanes : 3);
    if (limits.lanes >= 4)
        assert_true(of.theoretical == 3.0 / limits.lanes);
    assert_int_equal(slr_kernel_get_occupancy(w.kernel, SLR_1D_BLOCKS(0, 1025), &of), SLR_INVALID);
    assert_int_equal(slr_kernel_get_occupancy(w.kernel, SLR_1D(1), NULL), SLR_INVALID);
    close_world(&w);
    assert_true(open_world(&w, devices[1], "block"));
    CHECK(slr_kernel_get_occupancy(w.kernel, SLR_1D_BLOCKS(0, 3), &of));
    assert_int_equal(of.lanes, 1);
    assert_true(of.theoretical == 1.0);
    CHECK(slr_kernel_measure_occupancy(w.kernel, SLR_1D_BLOCKS(0, 3), &of)); // it is known: nothing is measured
    assert_int_equal(of.source, SLR_OCCUPANCY_COMPUTED);
    assert_int_equal(slr_kernel_measure_occupancy(NULL, SLR_1D(1), &of), SLR_INVALID);
    close_world(&w);
}

// OpenCL has no count of groups: no percentage is made up.
static void opencl_gives_the_drivers_limits_and_no_percentage(void **unused)
{
    (void)unused;
    struct world w;
    slr_kernel_occupancy of;
    if (!open_world(&w, "opencl:0", "bounded")) {
        skip();
        return;
    }
    CHECK(slr_kernel_get_occupancy(w.kernel, SLR_1D_BLOCKS(0, 64), &of));
    assert_int_equal(of.source, SLR_OCCUPANCY_UNKNOWN);
    assert_true(of.theoretical == 0.0);
    assert_int_equal(of.groups, 0);
    assert_int_equal(of.block_limit, 96);
    assert_true(of.multiple > 0 && of.units > 0 && of.most_shared_bytes > 0);
    assert_non_null(strstr(of.why, "no count of groups"));
    CHECK(slr_kernel_measure_occupancy(w.kernel, SLR_1D_BLOCKS(0, 64), &of));
    assert_int_equal(of.source, SLR_OCCUPANCY_MEASURED);
    assert_true(of.theoretical == 0.0);
    assert_true(of.groups >= 1 && of.groups <= 32 && of.threads == 64 * of.groups);
    assert_non_null(strstr(of.why, "without this kernel's registers"));
    close_world(&w);
}

// Vulkan has no units: what is counted is on the whole device, and no multiple is made up.
static void vulkan_has_its_blocks_counted_on_the_whole_device(void **unused)
{
    (void)unused;
    struct world w;
    slr_kernel_occupancy of;
    if (!open_world(&w, "vulkan:0", "bounded")) {
        skip();
        return;
    }
    CHECK(slr_kernel_get_occupancy(w.kernel, SLR_1D_BLOCKS(0, 64), &of));
    assert_int_equal(of.source, SLR_OCCUPANCY_UNKNOWN);
    assert_true(of.multiple > 0 || !strstr(of.why, "multiples"));
    CHECK(slr_kernel_measure_occupancy(w.kernel, SLR_1D_BLOCKS(0, 64), &of));
    assert_int_equal(of.source, SLR_OCCUPANCY_MEASURED);
    assert_true(of.groups >= 1 && of.threads == 64 * of.groups);
    assert_non_null(strstr(of.why, of.units ? " units" : "the whole device"));
    close_world(&w);
}

// A GPU that is not here: 128 registers let 512 threads on a multiprocessor of 9.0, however they are cut.
static void a_gpu_that_is_not_here_is_suggested_for_by_its_occupancy(void **unused)
{
    (void)unused;
    slr_occupancy_desc desc = SLR_OCCUPANCY_DESC_INIT;
    slr_suggestion s;
    desc.capability = 90;
    desc.registers = 32;
    CHECK(slr_occupancy_suggest(&desc, 1000000, &s));
    assert_int_equal(s.rule, SLR_BLOCK_BY_OCCUPANCY);
    assert_int_equal(s.shape.block[0], 512);
    assert_int_equal(s.shape.grid[0], 1954);
    assert_int_equal(s.by_occupancy, 1024);
    assert_true(s.theoretical == 1.0);
    desc.registers = 128;
    CHECK(slr_occupancy_suggest(&desc, 1000000, &s));
    assert_int_equal(s.shape.block[0], 512);
    assert_true(s.theoretical == 0.25);
    desc.registers = 168; // 12 warps: as 3 of 128, 2 of 192, 1 of 384; but one of 256 or of 512
    CHECK(slr_occupancy_suggest(&desc, 1000000, &s));
    assert_int_equal(s.shape.block[0], 384);
    assert_int_equal(s.by_size, 512);
    CHECK(slr_occupancy_suggest(&desc, 100000, &s));
    assert_int_equal(s.shape.block[0], 192);
    assert_int_equal(s.by_size, 256);
    desc.static_shared_bytes = 49153;
    assert_int_equal(slr_occupancy_suggest(&desc, 1000, &s), SLR_UNSUPPORTED);
    assert_non_null(strstr(slr_error_message(), "no block of this kernel can be launched"));
    desc.static_shared_bytes = 0;
    assert_int_equal(slr_occupancy_suggest(&desc, 0, &s), SLR_INVALID);
    assert_int_equal(slr_occupancy_suggest(&desc, UINT64_MAX, &s), SLR_INVALID);
    desc.capability = 72;
    assert_int_equal(slr_occupancy_suggest(&desc, 1000, &s), SLR_UNSUPPORTED);
}

// A cost that prefers 64 threads a block, whatever the device does.
static slr_status prefer_64(void *user, slr_stream *stream, slr_kernel *kernel, const slr_tune_candidate *candidate,
                            double *cost)
{
    (void)user, (void)stream, (void)kernel;
    *cost = candidate->shape.block[0] == 64 ? 1 : 100;
    return SLR_OK;
}

static void what_was_tuned_and_what_the_source_declares_go_before_occupancy_and_size(void **unused)
{
    (void)unused;
    for (size_t i = 0; i < DEVICES; i++) {
        struct world w;
        unsigned ran[2];
        if (!open_world(&w, devices[i], "declared"))
            continue;
        slr_suggestion declared = suggested(&w, SLR_1D(4000));
        assert_int_equal(declared.rule, SLR_BLOCK_BY_SOURCE);
        assert_int_equal(declared.shape.block[0], 96);
        launched(&w, SLR_1D(4000), ran);
        assert_int_equal(ran[0], 96);
        close_world(&w);

        assert_true(open_world(&w, devices[i], "tunable"));
        const slr_arg args[] = {SLR_ARG(w.buffer), SLR_ARG(0u)};
        const slr_tune_problem problem = {SLR_1D(4001), args, 2};
        slr_tune_desc desc = SLR_TUNE_DESC_INIT;
        slr_tuned tuned;
        desc.measure = prefer_64;
        desc.strategy = SLR_TUNE_EXHAUSTIVE;
        desc.flags = SLR_TUNE_KEEP_WIDTH;
        CHECK(slr_tune(w.kernel, &problem, 1, &desc, &tuned));
        slr_program_destroy(w.program);
        slr_kernel_destroy(w.kernel);
        CHECK(slr_program_from_text(w.device, "suggest.cu", source, NULL, &w.program));
        CHECK(slr_program_get_kernel(w.program, "tunable", &w.kernel));
        slr_suggestion found = suggested(&w, SLR_1D(4001)), other = suggested(&w, SLR_1D(4002));
        assert_int_equal(found.rule, SLR_BLOCK_BY_TUNER);
        assert_int_equal(found.shape.block[0], 64);
        assert_non_null(strstr(found.why, "block 64x1x1"));
        assert_int_not_equal(other.rule, SLR_BLOCK_BY_TUNER);
        assert_int_equal(suggested(&w, SLR_1D_BLOCKS(4001, 32)).rule, SLR_BLOCK_GIVEN);
        CHECK(SLR_LAUNCH(w.stream, w.kernel, SLR_1D(4001), w.buffer, 1u));
        CHECK(slr_stream_finish(w.stream, 60 * SECOND));
        CHECK(slr_buffer_read(w.buffer, 0, ran, sizeof ran));
        assert_int_equal(ran[0], 64);
        close_world(&w);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(size_table_is_exact_and_a_launch_takes_it),
        cmocka_unit_test(a_given_block_wins_and_no_block_passes_the_launch_bounds),
        cmocka_unit_test(cpu_fills_its_vectors_or_says_how_far),
        cmocka_unit_test(opencl_gives_the_drivers_limits_and_no_percentage),
        cmocka_unit_test(vulkan_has_its_blocks_counted_on_the_whole_device),
        cmocka_unit_test(what_was_tuned_and_what_the_source_declares_go_before_occupancy_and_size),
        cmocka_unit_test(a_gpu_that_is_not_here_is_suggested_for_by_its_occupancy),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
