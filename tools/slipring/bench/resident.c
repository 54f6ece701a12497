// SPDX-License-Identifier: Apache-2.0
#include "bench/resident.h"

#include <stdio.h>
#include <unistd.h>

double resident_kib(void)
{
    long pages = 0;
    FILE *file = fopen("/proc/self/statm", "r"); // proc(5): the second number
    if (file == NULL)
        return 0;
    if (fscanf(file, "%*d %ld", &pages) != 1)
        pages = 0;
    fclose(file);
    return (double)pages * (double)sysconf(_SC_PAGESIZE) / 1024;
}
