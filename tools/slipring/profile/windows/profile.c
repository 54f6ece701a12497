// SPDX-License-Identifier: Apache-2.0
// `slipring profile` runs a program of POSIX in its environment; on Windows the two variables are the user's to set.
#include "profile/line_table.h"
#include "profile/profile.h"

#include "say.h"
#include "verbs.h"

// Nothing is sampled, so there is nothing to free.
void timed_lines_free(timed_lines *lines)
{
    (void)lines;
}

// Line tables are read from ELF files alone.
line_table *line_table_open(const char *path)
{
    (void)path;
    return NULL;
}

void line_table_free(line_table *table)
{
    (void)table;
}

uint32_t line_table_find_loaded(const line_table *table, uint64_t offset, const char **file)
{
    (void)table, (void)offset, (void)file;
    return 0;
}

int verb_profile(int argc, char **argv)
{
    (void)argc, (void)argv;
    say("'profile' does not start programs on Windows: set SLIPRING_TRACE=FILE before the program runs, then "
        "'slipring trace FILE' shows where its time went");
    return EXIT_USAGE;
}
