// SPDX-License-Identifier: Apache-2.0
// A library of another generation is refused, and none of its calls is made but those that tell; the right one is taken
// behind that.
#define _POSIX_C_SOURCE 200809L
#include "tests/webgpu/webgpu_test.h"

static void another_generation_is_refused(void **state)
{
    slr_device *device;
    (void)state;
    webgpu->version = UINT32_C(28) << 24 | UINT32_C(3) << 16;
    assert_int_equal(slr_device_open("webgpu:0", NULL, &device), SLR_NO_DEVICE);
    check_message("is wgpu-native 28.3; slipring calls version 29", "slr_device_open", __FILE__, __LINE__);
    assert_int_equal(webgpu->calls, 0);
    webgpu->version = 0;
    if (slr_device_open("webgpu:0", NULL, &device) == SLR_OK) // else no adapter is here
        slr_device_close(device);
    else
        check_message("adapter", "slr_device_open", __FILE__, __LINE__);
}

static void a_dawn_of_another_generation_is_refused(void **state)
{
    slr_device *device;
    char before[1024];
    (void)state;
    snprintf(before, sizeof before, "%s", getenv("SLIPRING_WEBGPU_LIB"));
    setenv("SLIPRING_WEBGPU_LIB", getenv("SLIPRING_OLD_DAWN"), 1);
    assert_int_equal(slr_device_open("webgpu:0", NULL, &device), SLR_NO_DEVICE);
    check_message("of before July 2025, which has wgpuBufferMapAsync2", "slr_device_open", __FILE__, __LINE__);
    setenv("SLIPRING_WEBGPU_LIB", before, 1);
}

// The version may be as it should, and structures others: limits with a word less, or more.
static void limits_of_another_length_are_refused(void **state)
{
    slr_device *device;
    (void)state;
    if (slr_device_open("webgpu:0", NULL, &device) != SLR_OK) // no adapter is here
        skip();
    slr_device_close(device);
    webgpu->limits_words = -1;
    assert_int_equal(slr_device_open("webgpu:0", NULL, &device), SLR_NO_DEVICE);
    check_message("of another generation: its limits have fewer bytes", "slr_device_open", __FILE__, __LINE__);
    webgpu->limits_words = 1;
    assert_int_equal(slr_device_open("webgpu:0", NULL, &device), SLR_NO_DEVICE);
    check_message("of another generation: its limits have more bytes", "slr_device_open", __FILE__, __LINE__);
    webgpu->limits_words = 0;
    assert_int_equal(slr_device_open("webgpu:0", NULL, &device), SLR_OK);
    slr_device_close(device);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(a_dawn_of_another_generation_is_refused),
                                       cmocka_unit_test(another_generation_is_refused),
                                       cmocka_unit_test(limits_of_another_length_are_refused)};
    return find_webgpu() ? cmocka_run_group_tests(tests, NULL, NULL) : NO_WEBGPU;
}
