// SPDX-License-Identifier: Apache-2.0
#define _GNU_SOURCE
#include "bench/pages.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static uint64_t pages_now(void)
{
    char text[128] = "";
    FILE *file = fopen("/proc/self/statm", "r");
    if (file == NULL)
        return 0;
    char *line = fgets(text, sizeof text, file), *second;
    fclose(file);
    if (line == NULL)
        return 0;
    (void)strtoull(line, &second, 10);
    return strtoull(second, NULL, 10);
}

void pages_begin(pages_seen *seen)
{
    seen->before = seen->most = pages_now();
}

void pages_look(pages_seen *seen)
{
    uint64_t now = pages_now();
    seen->most = now > seen->most ? now : seen->most;
}

double pages_most_mib(const pages_seen *seen)
{
    return (double)(seen->most - seen->before) * (double)sysconf(_SC_PAGESIZE) / (1024 * 1024);
}
