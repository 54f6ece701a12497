// SPDX-License-Identifier: Apache-2.0
// Ceilings: measured once, read from the cache folder from then on, and measured again where the file is broken.
#include "observe/observe_test.h"

#include "observe/observe.h"

#include <glob.h>

// Long on the interpreter, which needs no compiler; short on purpose: what it gives is not looked at closely.
#define DEVICE "cpu?engine=interpreted&threads=2"

static void write_ceilings(const char *text)
{
    char pattern[256];
    glob_t found;
    snprintf(pattern, sizeof pattern, "%s/ceilings-*.txt", folder);
    assert_int_equal(glob(pattern, 0, NULL, &found), 0);
    for (size_t i = 0; i < found.gl_pathc; i++) {
        FILE *file = fopen(found.gl_pathv[i], "w");
        assert_non_null(file);
        fputs(text, file);
        assert_int_equal(fclose(file), 0);
    }
    globfree(&found);
}

static void they_are_measured_once_and_kept(void **state)
{
    (void)state;
    setenv("SLIPRING_CACHE_DIR", folder, 1);
    slr_device *device = open_device(DEVICE);
    slr_ceilings first = {0}, second = {0};
    assert_false(slri_ceilings_find(DEVICE, &first));
    must(slr_profile_ceilings(device, &first));
    assert_true(first.bytes_per_second > 0 && first.flops_per_second > 0 && first.flops64_per_second > 0);
    assert_true(slri_ceilings_find(DEVICE, &second));
    assert_true(second.bytes_per_second <= first.bytes_per_second);
    assert_true(first.round_trip_ns > 0 && first.upload_ns > 0 && first.download_ns > 0);
    assert_true(first.upload_bytes_per_second > 0 && first.download_bytes_per_second > 0);
    assert_true(first.instruction_ns > 0 && first.branch_per_second > 0 && first.instructions_per_second > 0);
    assert_true(second.instruction_ns > 0 && second.instruction_ns <= first.instruction_ns + 0.001);
    write_ceilings("slipring ceilings 1\nbytes_per_s 1\nflops_per_s 2\nflops64_per_s 3\nlaunch_ns 4\n");
    must(slr_profile_ceilings(device, &second));
    assert_true(second.bytes_per_second == 1 && second.flops_per_second == 2 && second.launch_ns == 4);
    assert_true(second.round_trip_ns > 0); // what a file lacks is measured, and kept with the rest
    assert_true(slri_ceilings_find(DEVICE, &first));
    assert_true(first.bytes_per_second == 1 && first.round_trip_ns > 0);
    must(slr_profile_measure_ceilings(device, &second)); // the better of each
    assert_true(second.bytes_per_second > 1 && second.flops_per_second > 2 && second.launch_ns == 4);
    write_ceilings("slipring ceilings 1\nbytes_per_s 1\nflops_per_s 2\nflops64_per_s 3\nlaunch_ns 4\n");
    slr_profile_row row = {.kind = SLR_PROFILE_KERNEL,
                           .counted = SLR_COUNTED_EXACT,
                           .device = DEVICE,
                           .total_ns = 1000000000,
                           .bytes = 1,
                           .flops = 1,
                           .flops_per_second = 1};
    assert_int_equal(slr_profile_roofline(&row, NULL).bound, SLR_BOUND_MEMORY);
    write_ceilings("slipring ceilings 1\nbytes_per_s 0\n");
    assert_false(slri_ceilings_find(DEVICE, &second));
    slr_device_close(device);
}

// Each line has launches of its own only where nothing is known of the device.
static void the_launches_that_measure_a_device_are_of_the_line_that_asks(void **state)
{
    (void)state;
    slr_ceilings ceilings;
    slr_device_model model;
    slr_device *device = open_device(DEVICE);
    use_new_cache();
    slr_profile_clear();
    must(slr_profile_start());
    must(slr_profile_measure_ceilings(device, &ceilings));
    must((slr_profile_measure_ceilings)(device, &ceilings));
    must((slr_profile_measure_ceilings)(device, &ceilings));
    assert_int_equal(callers_of("launch"), 3);
    use_new_cache();
    must(slr_profile_ceilings(device, &ceilings));
    use_new_cache();
    must((slr_profile_ceilings)(device, &ceilings));
    use_new_cache();
    must((slr_profile_ceilings)(device, &ceilings));
    assert_int_equal(callers_of("launch"), 6);
    use_new_cache();
    must(slr_device_get_model(device, &model));
    use_new_cache();
    must(slr_device_get_model(device, &model));
    use_new_cache();
    must((slr_device_get_model)(device, &model));
    use_new_cache();
    must((slr_device_get_model)(device, &model));
    assert_int_equal(callers_of("launch"), 10);
    slr_profile_stop();
    slr_device_close(device);
}

static void a_device_without_kernels_has_none(void **state)
{
    (void)state;
    slr_ceilings ceilings;
    slr_device *device = open_device("null");
    refuses(slr_profile_ceilings(device, &ceilings), UNSUPPORTED, "null");
    refuses(slr_profile_ceilings(NULL, &ceilings), INVALID, "device");
    slr_device_close(device);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(they_are_measured_once_and_kept),
        cmocka_unit_test(the_launches_that_measure_a_device_are_of_the_line_that_asks),
        cmocka_unit_test(a_device_without_kernels_has_none),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
