// SPDX-License-Identifier: Apache-2.0
// `slipring profile` runs a program of POSIX in its environment; on Windows the two variables are the user's to set.
#include "profile/profile.h"

#include "say.h"
#include "verbs.h"

// Nothing is sampled, so there is nothing to free.
void timed_lines_free(timed_lines *lines)
{
    (void)lines;
}

int verb_profile(int argc, char **argv)
{
    (void)argc, (void)argv;
    say("'profile' does not start programs on Windows: set SLIPRING_TRACE=FILE before the program runs, then "
        "'slipring trace FILE' shows where its time went");
    return EXIT_USAGE;
}
