// SPDX-License-Identifier: Apache-2.0
// Windows; threads are winpthreads' of mingw-w64.
#define WIN32_LEAN_AND_MEAN
#define RtlGenRandom SystemFunction036 // the name that advapi32.dll exports
#include "base/system.h"

#include <malloc.h>
#include <stdlib.h>
#include <windows.h>

BOOLEAN NTAPI RtlGenRandom(void *out, ULONG bytes);

// Ticks a second do not change while Windows runs; racing threads store the same.
static uint64_t ticks_per_second(void)
{
    static uint64_t known;
    uint64_t rate = __atomic_load_n(&known, __ATOMIC_RELAXED);
    LARGE_INTEGER asked;
    if (rate == 0) {
        QueryPerformanceFrequency(&asked);
        rate = (uint64_t)asked.QuadPart;
        __atomic_store_n(&known, rate, __ATOMIC_RELAXED);
    }
    return rate;
}

uint64_t slri_system_now_ns(void)
{
    LARGE_INTEGER ticks;
    const uint64_t rate = ticks_per_second();
    QueryPerformanceCounter(&ticks);
    const uint64_t now = (uint64_t)ticks.QuadPart;
    return now / rate * 1000000000u + now % rate * 1000000000u / rate;
}

// Sleep() may return up to a tick of the scheduler early, or late: so the clock is looked at again.
void slri_system_sleep_until(uint64_t until_ns)
{
    for (uint64_t now; (now = slri_system_now_ns()) < until_ns;) {
        const uint64_t ms = (until_ns - now) / 1000000u;
        Sleep(ms == 0 ? 1 : ms < 1000000 ? (DWORD)ms : 1000000);
    }
}

void slri_system_yield(void)
{
    SwitchToThread();
}

bool slri_system_has_threads(void)
{
    return true;
}

// Windows sends no signals to threads.
int slri_system_create_thread(pthread_t *handle, void *(*body)(void *), void *arg)
{
    return pthread_create(handle, NULL, body, arg);
}

void slri_system_join_thread(pthread_t handle)
{
    pthread_join(handle, NULL);
}

void slri_system_detach_self(void)
{
    pthread_detach(pthread_self());
}

void slri_system_name_thread(const char *name)
{
    pthread_setname_np(pthread_self(), name);
}

unsigned slri_system_cores(void)
{
    DWORD_PTR mine = 0, all = 0;
    SYSTEM_INFO info;
    if (GetProcessAffinityMask(GetCurrentProcess(), &mine, &all) && mine != 0)
        return (unsigned)__builtin_popcountll(mine);
    GetSystemInfo(&info); // more cores than a mask holds
    return info.dwNumberOfProcessors > 0 ? (unsigned)info.dwNumberOfProcessors : 1;
}

// The C library's own free() takes no memory of a larger alignment.
void *slri_system_allocate(size_t bytes, size_t alignment)
{
    return _aligned_malloc(bytes, alignment);
}

void slri_system_free(void *memory)
{
    _aligned_free(memory);
}

bool slri_system_random(void *out, size_t bytes)
{
    return bytes <= 0xffffffffu && RtlGenRandom(out, (ULONG)bytes);
}

// Windows has no program that runs with more rights than its caller: who raises rights makes a new environment, too.
bool slri_system_gives_more_rights(void)
{
    return false;
}

bool slri_system_environment_is_empty(void)
{
    return !_environ || !*_environ;
}

bool slri_system_set_variable(const char *name, const char *value)
{
    return _putenv_s(name, value) == 0;
}

// ---- processes -----------------------------------------------------------------------------------------------------

// The machine's name: process numbers are one machine's. One that has been used again since a start of the machine
// counts as a process that runs, until the file is old.
uint32_t slri_system_place(void)
{
    char name[MAX_COMPUTERNAME_LENGTH + 1] = "";
    DWORD bytes = sizeof name;
    uint32_t hash = 2166136261u; // FNV-1a
    if (!GetComputerNameA(name, &bytes))
        return 0;
    for (DWORD i = 0; i < bytes; ++i)
        hash = (hash ^ (unsigned char)name[i]) * 16777619u;
    return hash;
}

bool slri_system_process_has_ended(long id)
{
    DWORD code = STILL_ACTIVE;
    HANDLE process = id > 0 ? OpenProcess(PROCESS_QUERY_LIMITED_INFORMATION, FALSE, (DWORD)id) : NULL;
    if (!process)
        return id > 0 && GetLastError() == ERROR_INVALID_PARAMETER; // as it says of a number that nobody has
    const bool known = GetExitCodeProcess(process, &code);
    CloseHandle(process);
    return known && code != STILL_ACTIVE;
}

void slri_system_name_machine(char *out, size_t bytes)
{
    DWORD length = (DWORD)bytes;
    if (!GetComputerNameA(out, &length))
        out[0] = '\0';
}
