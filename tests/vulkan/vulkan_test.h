// SPDX-License-Identifier: Apache-2.0
// For tests on the Vulkan that is here, through tests/fakes/fake_vulkan.
#ifndef TESTS_VULKAN_VULKAN_TEST_H
#define TESTS_VULKAN_VULKAN_TEST_H

#include "tests/fakes/fake_vulkan.h"
#include "tests/fakes/load.h"

#define NO_VULKAN 77 // as CTest's SKIP_RETURN_CODE

static struct fake_vulkan *vulkan; // NULL: there is none

// Before anything else of a test program. False: no Vulkan is here, or slipring was built without it.
static inline bool load_vulkan(void)
{
    slr_device *device;
    const char *path = getenv("SLIPRING_FAKE_VULKAN");
    if (!path)
        return false;
    setenv("SLIPRING_VULKAN_LIB", path, 1);
    vulkan = ((struct fake_vulkan * (*)(void)) function_of_fake("SLIPRING_FAKE_VULKAN", "fake_vulkan_words"))();
    if (slr_device_open("vulkan:0", NULL, &device) != SLR_OK)
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
