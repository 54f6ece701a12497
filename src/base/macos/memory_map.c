// SPDX-License-Identifier: Apache-2.0
// Anonymous private mappings, and pages that stay in memory.
#include "base/memory_map.h"

#include "base/status.h"

#include <errno.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

void *slri_map_reserve(uint64_t bytes)
{
    // NORESERVE: a reservation for a million instances is not refused for pages that nobody may ever touch
    void *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANON | MAP_NORESERVE, -1, 0);
    return memory == MAP_FAILED ? NULL : memory;
}

// macOS chooses the size of pages itself.
void *slri_map_reserve_large(uint64_t bytes)
{
    return slri_map_reserve(bytes);
}

void slri_map_release(void *memory, size_t bytes)
{
    if (memory)
        munmap(memory, bytes);
}

// The system call takes what was there away and puts the new in its place under one lock, for which page faults wait.
bool slri_map_over(void *memory, size_t bytes)
{
    return mmap(memory, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANON | MAP_FIXED, -1, 0) == memory;
}

void *slri_map_keep(uint64_t bytes)
{
    void *memory = mmap(NULL, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANON | MAP_NORESERVE, -1, 0);
    return memory == MAP_FAILED ? NULL : memory;
}

bool slri_map_open(void *memory, size_t bytes)
{
    return mprotect(memory, bytes, PROT_READ | PROT_WRITE) == 0;
}

void slri_map_small_pages(void *memory, size_t bytes)
{
    (void)memory, (void)bytes; // all pages are small
}

bool slri_map_forget(void *memory, size_t bytes)
{
    return slri_map_over(memory, bytes); // its MADV_DONTNEED may leave what was there
}

size_t slri_page_bytes(void)
{
    return (size_t)sysconf(_SC_PAGESIZE);
}

slr_status slri_memory_lock(void *memory, size_t bytes)
{
    if (mlock(memory, bytes) == 0)
        return SLR_OK;
    int why = errno;
    struct rlimit limit;
    if (getrlimit(RLIMIT_MEMLOCK, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY)
        return SLRI_FAIL(NO_MEMORY,
                         "cannot page-lock %zu B: %s; this process may lock %llu B in all (RLIMIT_MEMLOCK, ulimit -l)",
                         bytes, strerror(why), (unsigned long long)limit.rlim_cur);
    return SLRI_FAIL(NO_MEMORY, "cannot page-lock %zu B: %s", bytes, strerror(why));
}

void slri_memory_unlock(void *memory, size_t bytes)
{
    if (memory)
        munlock(memory, bytes);
}
