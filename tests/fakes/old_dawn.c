// SPDX-License-Identifier: Apache-2.0
// What a Dawn of early 2025 is known by. None of its calls may be made.
#include <stdint.h>
#include <stdlib.h>

#define SEEN __attribute__((visibility("default")))

SEEN void wgpuDeviceTick(void *device);
void wgpuDeviceTick(void *device)
{
    (void)device;
    abort();
}

SEEN uint64_t wgpuBufferMapAsync2(void);
uint64_t wgpuBufferMapAsync2(void)
{
    abort();
}
