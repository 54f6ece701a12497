// SPDX-License-Identifier: Apache-2.0
// Memory: pages of the host, at addresses that are shifted out of what a program may touch.
#include "tests/fakes/toy/toy.h"

#include "base/memory_map.h"
#include "base/status.h"

slr_status toy_memory_create(void *device, enum slri_memory_kind kind, uint64_t bytes, void **memory)
{
    const struct toy *toy = device;
    (void)kind; // it has one
    SLRI_TRY(slri_loss_check(&toy->loss));
    *memory = toy_host(slri_map_reserve(bytes));
    return *memory ? SLR_OK : SLRI_FAIL(NO_MEMORY, "device 'toy' has no memory for %llu B", (unsigned long long)bytes);
}

void toy_memory_destroy(void *device, enum slri_memory_kind kind, void *memory, uint64_t bytes)
{
    (void)device, (void)kind;
    slri_map_release(toy_host(memory), bytes);
}
