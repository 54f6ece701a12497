// SPDX-License-Identifier: Apache-2.0
// What buffers are cut from: zero pages of the host, there once they are touched.
#include "hal/cpu/cpu.h"

#include "base/memory_map.h"
#include "base/status.h"

slr_status slri_cpu_memory_create(void *device, enum slri_memory_kind kind, uint64_t bytes, void **memory)
{
    (void)device, (void)kind; // it has one
    *memory = slri_map_reserve_large(bytes);
    if (*memory)
        return SLR_OK;
    return SLRI_FAIL(NO_MEMORY, "device 'cpu' has no memory for a buffer of %llu B", (unsigned long long)bytes);
}

void slri_cpu_memory_destroy(void *device, enum slri_memory_kind kind, void *memory, uint64_t bytes)
{
    (void)device, (void)kind;
    slri_map_release(memory, bytes);
}
