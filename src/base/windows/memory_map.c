// SPDX-License-Identifier: Apache-2.0
// VirtualAlloc. Windows counts reserved memory as used, unlike Linux: so reservations for very many instances can be
// refused. Pages still come when they are touched.
#define WIN32_LEAN_AND_MEAN
#include "base/memory_map.h"

#include "base/status.h"
#include "base/windows/error.h"

#include <string.h>
#include <windows.h>

void *slri_map_reserve(uint64_t bytes)
{
    return VirtualAlloc(NULL, bytes, MEM_RESERVE | MEM_COMMIT, PAGE_READWRITE);
}

// Large pages need a right that users do not have by themselves.
void *slri_map_reserve_large(uint64_t bytes)
{
    return slri_map_reserve(bytes);
}

void slri_map_release(void *memory, size_t bytes)
{
    (void)bytes; // Windows knows how large it is
    if (memory)
        VirtualFree(memory, 0, MEM_RELEASE);
}

// Windows cannot exchange what is mapped there in one step, and what another has mapped not at all.
bool slri_map_over(void *memory, size_t bytes)
{
    MEMORY_BASIC_INFORMATION about;
    if (VirtualQuery(memory, &about, sizeof about) == 0 || about.Type != MEM_PRIVATE || about.State != MEM_COMMIT ||
        about.RegionSize < bytes)
        return false;
    memset(memory, 0, bytes);
    return true;
}

void *slri_map_keep(uint64_t bytes)
{
    return VirtualAlloc(NULL, bytes, MEM_RESERVE, PAGE_NOACCESS);
}

bool slri_map_open(void *memory, size_t bytes)
{
    return VirtualAlloc(memory, bytes, MEM_COMMIT, PAGE_READWRITE) != NULL;
}

// They are small unless a program asks for others.
void slri_map_small_pages(void *memory, size_t bytes)
{
    (void)memory, (void)bytes;
}

// Decommitted pages would be nobody's for a moment, which another thread's allocation could take.
bool slri_map_forget(void *memory, size_t bytes)
{
    (void)memory, (void)bytes;
    return false;
}

size_t slri_page_bytes(void)
{
    SYSTEM_INFO info;
    GetSystemInfo(&info);
    return info.dwPageSize;
}

slr_status slri_memory_lock(void *memory, size_t bytes)
{
    char words[SLRI_WINDOWS_WORDS];
    SIZE_T least = 0, most = 0;
    if (VirtualLock(memory, bytes))
        return SLR_OK;
    // What a process may lock is its smallest working set, which it may raise itself.
    if (GetProcessWorkingSetSize(GetCurrentProcess(), &least, &most) &&
        SetProcessWorkingSetSize(GetCurrentProcess(), least + bytes + 65536, most + bytes + 65536) &&
        VirtualLock(memory, bytes))
        return SLR_OK;
    return SLRI_FAIL(NO_MEMORY, "cannot page-lock %zu B: %s; this process may lock %zu B in all (its working set)",
                     bytes, slri_windows_words(words), (size_t)least);
}

void slri_memory_unlock(void *memory, size_t bytes)
{
    if (memory)
        VirtualUnlock(memory, bytes);
}
