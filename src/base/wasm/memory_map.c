// SPDX-License-Identifier: Apache-2.0
// WebAssembly has one memory, without pages that come by themselves: what is reserved is there at once.
#include "base/memory_map.h"

#include "base/status.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define PAGE_BYTES ((size_t)4096)

void *slri_map_reserve(uint64_t bytes)
{
    if (bytes > SIZE_MAX - PAGE_BYTES)
        return NULL;
    size_t whole = (bytes + PAGE_BYTES - 1) / PAGE_BYTES * PAGE_BYTES;
    void *memory = aligned_alloc(PAGE_BYTES, whole);
    return memory ? memset(memory, 0, whole) : NULL;
}

void *slri_map_reserve_large(uint64_t bytes)
{
    return slri_map_reserve(bytes);
}

void slri_map_release(void *memory, size_t bytes)
{
    (void)bytes;
    free(memory);
}

bool slri_map_over(void *memory, size_t bytes)
{
    memset(memory, 0, bytes);
    return true;
}

void *slri_map_keep(uint64_t bytes)
{
    return slri_map_reserve(bytes);
}

bool slri_map_open(void *memory, size_t bytes)
{
    (void)memory, (void)bytes; // it has been open from the start
    return true;
}

void slri_map_small_pages(void *memory, size_t bytes)
{
    (void)memory, (void)bytes;
}

bool slri_map_forget(void *memory, size_t bytes)
{
    memset(memory, 0, bytes);
    return true;
}

size_t slri_page_bytes(void)
{
    return PAGE_BYTES;
}

slr_status slri_memory_lock(void *memory, size_t bytes)
{
    (void)memory;
    return SLRI_FAIL(NO_MEMORY, "cannot page-lock %zu B: WebAssembly has no such call", bytes);
}

void slri_memory_unlock(void *memory, size_t bytes)
{
    (void)memory, (void)bytes;
}
