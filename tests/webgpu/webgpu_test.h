// SPDX-License-Identifier: Apache-2.0
// For tests on the wgpu-native of SLIPRING_WEBGPU_PYTHON (scripts/webgpu.sh), through tests/fakes/fake_webgpu.
#ifndef TESTS_WEBGPU_WEBGPU_TEST_H
#define TESTS_WEBGPU_WEBGPU_TEST_H

#include "tests/fakes/fake_webgpu.h"
#include "tests/fakes/load.h"

#include <stdio.h>

#define NO_WEBGPU 77 // as CTest's SKIP_RETURN_CODE

static struct fake_webgpu *webgpu; // NULL: there is none

// Before anything else of a test program. False: no wgpu-native is here.
static inline bool find_webgpu(void)
{
    const char *folder = getenv("SLIPRING_WEBGPU_PYTHON"), *fake = getenv("SLIPRING_FAKE_WEBGPU");
    char path[1024];
    if (!folder || !*folder || !fake)
        return false;
    snprintf(path, sizeof path, "%s/wgpu/resources/libwgpu_native-release.so", folder);
    FILE *library = fopen(path, "rb");
    if (!library)
        return false;
    fclose(library);
    setenv("FAKE_WEBGPU_REAL", path, 1);
    setenv("SLIPRING_WEBGPU_LIB", fake, 1);
    webgpu = ((struct fake_webgpu * (*)(void)) function_of_fake("SLIPRING_FAKE_WEBGPU", "fake_webgpu_words"))();
    return true;
}

// False: or no adapter.
static inline bool load_webgpu(void)
{
    slr_device *device;
    if (!find_webgpu() || slr_device_open("webgpu:0", NULL, &device) != SLR_OK)
        return false;
    slr_device_close(device);
    return true;
}

static inline uint64_t metric(const slr_device *device, const char *name)
{
    slr_metrics metrics;
    must(slr_device_get_metrics(device, &metrics));
    for (uint32_t i = 0; i < metrics.count; ++i)
        if (strcmp(metrics.metric[i].name, name) == 0)
            return metrics.metric[i].value;
    fail_msg("no metric '%s'", name);
    return 0;
}

#endif
