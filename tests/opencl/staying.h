// SPDX-License-Identifier: Apache-2.0
// For tests of ring kernels that are kernels which never return.
#ifndef SLIPRING_TESTS_STAYING_H
#define SLIPRING_TESTS_STAYING_H

#include "tests/ring/ring_test.h"

// NULL: no kernel can stay there.
static inline slr_device *open_where_kernels_stay(const char *spec)
{
    slr_device *device;
    slr_device_info info;
    must(slr_device_open(spec, NULL, &device));
    must(slr_device_get_info(device, &info));
    if (!strstr(info.features, "persistent_groups=0 "))
        return device;
    slr_device_close(device);
    return NULL;
}

// How many of so many messages a test sends. Where the host runs a CUDA text, one warp's lanes in turn (tests/shim), a
// message takes up to 40 ms of a core, and a fifth of them must do.
static inline uint32_t messages_of(uint32_t count)
{
    const char *how = getenv("SLIPRING_FAKE_CUDA_BY");
    return how && strcmp(how, "text") == 0 ? count / 5 : count;
}

#endif
