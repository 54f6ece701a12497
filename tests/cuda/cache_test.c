// SPDX-License-Identifier: Apache-2.0
// What the profiler is told of compiling for CUDA, and devices of every backend without a cache, on the simulated
// driver.
#include "fake_driver.h"

#include "observe/observe_test.h"

static const char source[] = "__global__ void cached(int *out) { out[threadIdx.x] = 5; }\n";

static int begin(void **state)
{
    return load_fake(state) | make_folder(state);
}

// Opens the device and has it run the kernel once.
static slr_device_info runs(const char *spec)
{
    slr_device *device = open_device(spec);
    slr_program *program;
    slr_kernel *kernel;
    slr_stream *stream;
    slr_buffer *buffer;
    slr_device_info info;
    int out[4] = {0};
    must(slr_device_get_info(device, &info));
    must(slr_program_from_text(device, "cached.cu", source, NULL, &program));
    must(slr_program_get_kernel(program, "cached", &kernel));
    must(slr_buffer_create(device, sizeof out, &buffer));
    must(slr_stream_create(device, NULL, &stream));
    must(SLR_LAUNCH(stream, kernel, SLR_GRID(1, 4, 0), buffer));
    must(slr_stream_finish(stream, LONG));
    must(slr_buffer_read(buffer, 0, out, sizeof out));
    assert_int_equal(out[3], 5);
    slr_stream_destroy(stream);
    slr_buffer_destroy(buffer);
    slr_kernel_destroy(kernel);
    slr_program_destroy(program);
    slr_device_close(device);
    return info;
}

static void compiling_and_loading_are_rows(void **state)
{
    (void)state;
    setenv("SLIPRING_CACHE_DIR", file_in_folder("cache"), 1);
    reset();
    must(slr_profile_start());
    runs("cuda:0");
    assert_int_equal(row_of(SLR_PROFILE_COMPILE, "cached").n, 1);
    assert_true(row_of(SLR_PROFILE_COMPILE, "cached").total_ns > 0);
    assert_int_equal(row_of(SLR_PROFILE_LOAD, "cached").n, 0);
    runs("cuda:0");
    assert_int_equal(row_of(SLR_PROFILE_COMPILE, "cached").n, 1);
    assert_int_equal(row_of(SLR_PROFILE_LOAD, "cached").n, 1);
    slr_profile_stop();
}

// Neither the user's folder nor a private one can be made.
static void every_device_goes_on_without_any_folder_and_says_so(void **state)
{
    (void)state;
    static const char *const specs[] = {"cuda:0", "cpu", "opencl:0"};
    FILE *file = fopen(file_in_folder("file"), "w");
    assert_non_null(file);
    fclose(file);
    setenv("SLIPRING_CACHE_DIR", file_in_folder("file"), 1);
    setenv("TMPDIR", "/nowhere", 1);
    reset();
    EACH_HERE(i, specs)
    {
        slr_device_info info = runs(specs[i]);
        assert_ptr_equal(strstr(info.cache, "none: the user's cache folder is not used: "), info.cache);
        assert_non_null(strstr(info.cache, "/nowhere: "));
        if (i == 1)
            assert_string_equal(info.engine, "interpreted: no folder to compile in");
    }
    slr_device *device;
    refuses(slr_device_open("cpu?engine=compiled", NULL, &device), NO_DEVICE, "no folder to compile in: ");
    unsetenv("TMPDIR");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(compiling_and_loading_are_rows),
        cmocka_unit_test(every_device_goes_on_without_any_folder_and_says_so),
    };
    return cmocka_run_group_tests(tests, begin, remove_folder);
}
