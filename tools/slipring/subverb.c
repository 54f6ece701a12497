// SPDX-License-Identifier: Apache-2.0
#include "subverb.h"

#include "say.h"
#include "verbs.h"

#include <stdio.h>
#include <string.h>

int subverb_run(const struct subverb *table, size_t count, const char *usage, const char *more, int argc, char **argv)
{
    const char *name = argc > 1 ? argv[1] : "";
    for (size_t i = 0; i < count; i++) {
        if (strcmp(name, table[i].name) == 0) {
            say_as(table[i].full_name);
            return table[i].run(argc - 1, argv + 1);
        }
    }
    if (strcmp(name, "--help") != 0 && strcmp(name, "-h") != 0)
        return say_unknown("verb", name, &table[0].name, sizeof *table, count);
    puts(usage);
    for (size_t i = 0; i < count; i++)
        printf("  %-7s %s\n", table[i].name, table[i].help);
    puts(more);
    return EXIT_DONE;
}
