// SPDX-License-Identifier: Apache-2.0
// What this process holds, for tests that nothing grows. Who includes it has defined holds(condition) before.
#ifndef TESTS_STRESS_FOOTPRINT_H
#define TESTS_STRESS_FOOTPRINT_H

#include "base/thread.h"

#include <dirent.h>
#include <stdint.h>
#include <stdio.h>
#include <unistd.h>

// With "." and "..".
static inline uint32_t entries_of(const char *folder)
{
    DIR *dir = opendir(folder);
    holds(dir != NULL);
    uint32_t n = 0;
    while (readdir(dir))
        ++n;
    closedir(dir);
    return n;
}

static inline void note_its_folder(void *folder)
{
    ssize_t length = readlink("/proc/thread-self", folder, 63);
    holds(length > 0);
    ((char *)folder)[length] = '\0';
}

// A sanitizer starts a thread of its own with the first other one, and that has gone when this returns: who joins a
// thread may find it in /proc for a moment longer.
static inline void start_what_stays(void)
{
    char folder[80] = "/proc/";
    slri_thread other;
    holds(slri_thread_start(&other, "nothing", note_its_folder, folder + 6) == SLR_OK);
    slri_thread_join(&other);
    while (access(folder, F_OK) == 0)
        slri_sleep_ns(100000);
}

// What of it is in memory.
static inline uint64_t resident_bytes(void)
{
    unsigned long long pages = 0, resident = 0;
    FILE *file = fopen("/proc/self/statm", "r");
    holds(file && fscanf(file, "%llu %llu", &pages, &resident) == 2);
    fclose(file);
    return resident * (uint64_t)sysconf(_SC_PAGESIZE);
}

#endif
