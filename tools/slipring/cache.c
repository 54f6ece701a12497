// SPDX-License-Identifier: Apache-2.0
// `slipring cache`: finds the verb behind it.
#include "cache.h"

#include "say.h"
#include "verbs.h"

#include <stddef.h>
#include <stdio.h>
#include <string.h>

static const struct verb {
    const char *name, *full_name;
    const char *help;
    int (*run)(int argc, char **argv);
} verbs[] = {
    {"ls", "cache ls", "what is in it: kernel, source, how it was compiled, size, age", cache_list},
    {"verify", "cache verify", "read and check every entry; name those that are damaged", cache_verify},
    {"warm", "cache warm", "compile the kernels and handlers of files ahead", cache_warm},
    {"clear", "cache clear", "remove entries: all, old ones, damaged ones", cache_clear},
};

enum { VERBS = sizeof verbs / sizeof *verbs };

int verb_cache(int argc, char **argv)
{
    const char *name = argc > 1 ? argv[1] : "";
    for (size_t i = 0; i < VERBS; i++) {
        if (strcmp(name, verbs[i].name) == 0) {
            say_as(verbs[i].full_name);
            return verbs[i].run(argc - 1, argv + 1);
        }
    }
    if (strcmp(name, "--help") != 0 && strcmp(name, "-h") != 0)
        return *name ? say_usage("no verb '%s': ls, verify, warm and clear are possible", name)
                     : say_usage("a verb is missing: ls, verify, warm or clear");
    puts(
        "Usage: slipring cache VERB [OPTION]...\n"
        "Compiled kernels that are kept on disk. All of it can be made again; any of it may be removed at any time.\n");
    for (size_t i = 0; i < VERBS; i++)
        printf("  %-7s %s\n", verbs[i].name, verbs[i].help);
    puts("\nIt is in SLIPRING_CACHE_DIR, else XDG_CACHE_HOME/slipring, else ~/.cache/slipring.\n"
         "'slipring cache VERB --help' says what a verb does and takes.");
    return EXIT_DONE;
}
