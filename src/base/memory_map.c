// SPDX-License-Identifier: Apache-2.0
// Anonymous private mappings.
#define _GNU_SOURCE
#include "base/memory_map.h"

#include <sys/mman.h>

void *slri_map_reserve(size_t bytes)
{
    // NORESERVE: a reservation for a million instances is not refused for pages that nobody may ever touch
    void *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    return memory == MAP_FAILED ? NULL : memory;
}

void slri_map_release(void *memory, size_t bytes)
{
    if (memory)
        munmap(memory, bytes);
}
