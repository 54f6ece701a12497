// SPDX-License-Identifier: Apache-2.0
// What libnvidia-ml says of a device, by one that is simulated: tests/fakes/fake_nvml.c.
#define _POSIX_C_SOURCE 200809L
#include "tests/cuda/fake_driver.h"

static const char *as_text(const slr_metrics *metrics)
{
    static char text[1024];
    size_t at = 0;
    *text = '\0';
    for (uint32_t i = 0; i < metrics->count; ++i)
        at += (size_t)snprintf(text + at, sizeof text - at, "%s%s=%llu", i ? " " : "", metrics->metric[i].name,
                               (unsigned long long)metrics->metric[i].value);
    return text;
}

static void library_that_is_not_there_or_does_not_start_is_named(void **state)
{
    (void)state;
    slr_metrics metrics = {.count = 77};
    reset();
    slr_device *device = open_device("cuda:0");
    setenv("SLIPRING_NVML_LIB", "/nowhere/libnvidia-ml.so.1", 1);
    refuses(slr_device_get_metrics(device, &metrics), NOT_FOUND, "cannot load /nowhere/libnvidia-ml.so.1");
    setenv("SLIPRING_NVML_LIB", "libm.so.6", 1);
    refuses(slr_device_get_metrics(device, &metrics), NOT_FOUND,
            "libm.so.6 is not usable as libnvidia-ml: it lacks nvmlInit_v2, ");
    setenv("SLIPRING_NVML_LIB", getenv("SLIPRING_FAKE_NVML"), 1);
    setenv("FAKE_NVML_FAILS", "1", 1);
    refuses(slr_device_get_metrics(device, &metrics), NOT_FOUND, "does not start: Driver Not Loaded");
    unsetenv("FAKE_NVML_FAILS");
    assert_int_equal(metrics.count, 77);
    slr_device_close(device);
}

static void what_cannot_be_measured_is_left_out_and_a_0_is_a_0(void **state)
{
    (void)state;
    slr_metrics metrics;
    reset();
    slr_device *first = open_device("cuda:0"), *second = open_device("cuda:1"), *none = open_device("null");
    uint32_t calls = fake->calls;
    must(slr_device_get_metrics(first, &metrics));
    assert_string_equal(as_text(&metrics),
                        "busy_percent=37 memory_busy_percent=0 memory_used_bytes=268435456 "
                        "memory_bytes=1073741824 temperature_c=41 power_mw=123456 "
                        "power_limit_mw=700000 energy_mj=5000000 clock_mhz=1980 memory_clock_mhz=2619");
    must(slr_device_get_metrics(second, &metrics)); // an instance of a GPU
    assert_string_equal(as_text(&metrics), "memory_used_bytes=268435456 memory_bytes=1073741824 temperature_c=41 "
                                           "clock_mhz=1980 memory_clock_mhz=2619");
    assert_int_equal(fake->calls, calls); // CUDA was not asked, which might wait
    refuses(slr_device_get_metrics(none, &metrics), UNSUPPORTED, "'null' has no metrics");
    refuses(slr_device_get_metrics(NULL, &metrics), INVALID, "device is NULL");
    slr_device_close(first);
    slr_device_close(second);
    slr_device_close(none);
    reset();
    fake->devices = 3;
    slr_device *third = open_device("cuda:2");
    refuses(slr_device_get_metrics(third, &metrics), NOT_FOUND, "does not know the device a2a3a4a5-");
    slr_device_close(third);
}

static void hip_has_those_of_rocm_at_the_place_on_the_bus(void **state)
{
    (void)state;
    slr_metrics metrics = {.count = 77};
    reset();
    fake->devices = 3;
    slr_device *first = open_device("hip:0"), *second = open_device("hip:1"), *third = open_device("hip:2");
    uint32_t calls = fake->calls;
    setenv("SLIPRING_ROCM_SMI_LIB", "/nowhere/librocm_smi64.so", 1);
    refuses(slr_device_get_metrics(first, &metrics), NOT_FOUND, "cannot load /nowhere/librocm_smi64.so");
    setenv("SLIPRING_ROCM_SMI_LIB", "libm.so.6", 1);
    refuses(slr_device_get_metrics(first, &metrics), NOT_FOUND,
            "libm.so.6 is not usable as librocm_smi64: it lacks rsmi_init, ");
    setenv("SLIPRING_ROCM_SMI_LIB", getenv("SLIPRING_FAKE_ROCM_SMI"), 1);
    setenv("FAKE_ROCM_SMI_FAILS", "1", 1);
    refuses(slr_device_get_metrics(first, &metrics), NOT_FOUND, "does not start: RSMI_STATUS_INIT_ERROR");
    unsetenv("FAKE_ROCM_SMI_FAILS");
    assert_int_equal(metrics.count, 77);
    must(slr_device_get_metrics(first, &metrics));
    assert_string_equal(as_text(&metrics), "busy_percent=63 memory_busy_percent=0 memory_used_bytes=1073741824 "
                                           "memory_bytes=68719476736 temperature_c=47 power_mw=123456 "
                                           "power_limit_mw=300000");
    must(slr_device_get_metrics(second, &metrics));
    assert_string_equal(as_text(&metrics), "memory_used_bytes=1073741824 memory_bytes=68719476736 temperature_c=47");
    refuses(slr_device_get_metrics(third, &metrics), NOT_FOUND,
            "librocm_smi64 does not know the device at 0001:c5:00.0; it lists 2");
    assert_int_equal(fake->calls, calls); // HIP was not asked, which might wait
    slr_device_close(first);
    slr_device_close(second);
    slr_device_close(third);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(library_that_is_not_there_or_does_not_start_is_named),
        cmocka_unit_test(what_cannot_be_measured_is_left_out_and_a_0_is_a_0),
        cmocka_unit_test(hip_has_those_of_rocm_at_the_place_on_the_bus),
    };
    return cmocka_run_group_tests(tests, load_fake, NULL);
}
