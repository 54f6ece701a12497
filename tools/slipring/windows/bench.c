// SPDX-License-Identifier: Apache-2.0
// The benchmarks compare with Linux's own calls (futex, mmap, pipes), and are not built for Windows.
#include "say.h"
#include "verbs.h"

int verb_bench(int argc, char **argv)
{
    (void)argc, (void)argv;
    say("'bench' is not built for Windows: it measures beside calls that Linux alone has; run it on Linux");
    return EXIT_USAGE;
}
