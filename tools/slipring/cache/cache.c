// SPDX-License-Identifier: Apache-2.0
// `slipring cache`: finds the verb behind it.
#include "cache/cache.h"

#include "subverb.h"
#include "verbs.h"

static const struct subverb verbs[] = {
    {"ls", "cache ls", "list entries: kernel, source, how compiled, size, age", cache_list},
    {"verify", "cache verify", "read and check every entry; list the damaged ones", cache_verify},
    {"warm", "cache warm", "compile the kernels and handlers of files in advance", cache_warm},
    {"clear", "cache clear", "remove entries: all, old ones, damaged ones", cache_clear},
    {"prune", "cache prune", "remove the least recently used entries, by size or age", cache_prune},
};

int verb_cache(int argc, char **argv)
{
    static const char usage[] =
        "Usage: slipring cache VERB [OPTION]...\n"
        "Manages the disk cache of compiled kernels. Any entry may be removed at any\ntime; slipring compiles it "
        "again.\n";
    static const char more[] =
        "\nExample:\n  slipring cache ls\n\nFolder: SLIPRING_CACHE_DIR, else XDG_CACHE_HOME/slipring or "
        "~/.cache/slipring.\nLimits: SLIPRING_CACHE_BYTES (default 1G), and SLIPRING_CACHE_DAYS: days without\nuse "
        "(default 90). 0 means no limit.\n'slipring cache VERB --help' describes a verb and its options.";
    return subverb_run(verbs, sizeof verbs / sizeof *verbs, usage, more, argc, argv);
}
