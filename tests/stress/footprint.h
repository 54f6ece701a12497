// SPDX-License-Identifier: Apache-2.0
// What this process holds, for tests that nothing grows. Who includes it has defined holds(condition) before.
#ifndef TESTS_STRESS_FOOTPRINT_H
#define TESTS_STRESS_FOOTPRINT_H

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
