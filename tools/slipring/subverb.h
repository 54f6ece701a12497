// SPDX-License-Identifier: Apache-2.0
/// A verb that has verbs of its own: `kernel list`, `cache ls`.
#ifndef SUBVERB_H
#define SUBVERB_H

#include <stddef.h>

struct subverb {
    const char *name, *full_name; ///< "list", "kernel list"
    const char *help;             ///< a line
    int (*run)(int argc, char **argv);
};

/// Runs the one that argv[1] names, or prints the help: `usage`, a line for each of `table`, `more`. Gives the exit
/// code.
int subverb_run(const struct subverb *table, size_t count, const char *usage, const char *more, int argc, char **argv);

#endif
