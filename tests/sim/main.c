// SPDX-License-Identifier: Apache-2.0
// sim: plays random programs of ring kernels in simulation and judges them by a reference model.
#include "shrink.h"

#include <stdlib.h>
#include <string.h>

static const char help[] =
    "usage: sim [--from SEED] [--seeds N] [--seed SEED] [--once] [--no-shrink] [--print]\n"
    "\n"
    "Plays N random programs of ring kernels (1000), those of seeds SEED (0) and on, each twice, on one simulated\n"
    "thread, and judges what happened by a reference model. The first that fails is printed and cut down to a small\n"
    "one.\n"
    "\n"
    "  --seed SEED   that one alone\n"
    "  --once        do not play each a second time, to see that it does the same again\n"
    "  --no-shrink   only say which fails\n"
    "  --print       print the program of --from, or --seed, and play nothing\n"
    "\n"
    "Exit code: 0 all went as it should, 1 one did not, 2 usage.\n";

struct asked {
    uint64_t from, seeds;
    bool twice, shrinks, prints;
};

static bool number(const char *text, uint64_t *out)
{
    char *end;
    *out = text ? strtoull(text, &end, 10) : 0;
    return text && *text >= '0' && *text <= '9' && *end == '\0';
}

static bool understand(char **at, struct asked *asked)
{
    for (; *at; ++at) {
        uint64_t *to = strcmp(*at, "--seeds") == 0                                ? &asked->seeds
                       : strcmp(*at, "--from") == 0 || strcmp(*at, "--seed") == 0 ? &asked->from
                                                                                  : NULL;
        if (strcmp(*at, "--seed") == 0)
            asked->seeds = 1;
        if (strcmp(*at, "--once") == 0)
            asked->twice = false;
        else if (strcmp(*at, "--no-shrink") == 0)
            asked->shrinks = false;
        else if (strcmp(*at, "--print") == 0)
            asked->prints = true;
        else if (!to || !number(*++at, to))
            return false;
    }
    return true;
}

static void tell(uint64_t seed, char why[WHY_BYTES], bool shrinks)
{
    struct program program;
    program_make(&program, seed);
    printf("seed %llu fails: %s\n", (unsigned long long)seed, why);
    program_print(&program, stdout);
    if (!shrinks)
        return;
    fflush(stdout);
    uint32_t played = shrink(&program, why);
    printf("cut down (%u programs played): %s\n", played, why);
    program_print(&program, stdout);
    printf("what happened:\n");
    show_program(&program);
}

int main(int count, char **arguments)
{
    struct asked asked = {.seeds = 1000, .twice = true, .shrinks = true};
    if (count > 1 && strcmp(arguments[1], "--help") == 0) {
        fputs(help, stdout);
        return 0;
    }
    if (!understand(arguments + 1, &asked)) {
        fputs(help, stderr);
        return 2;
    }
    struct program program;
    program_make(&program, asked.from);
    if (asked.prints) {
        program_print(&program, stdout);
        return 0;
    }
    char why[WHY_BYTES];
    uint64_t failed = try_seeds(asked.from, asked.seeds, asked.twice, why);
    if (failed == asked.from + asked.seeds) {
        printf("%llu programs, as they should be\n", (unsigned long long)asked.seeds);
        return 0;
    }
    tell(failed, why, asked.shrinks);
    return 1;
}
