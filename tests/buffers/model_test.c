// SPDX-License-Identifier: Apache-2.0
// Many random programs beside the reference, each in a process of its own, so that a crash and a hang are failures like
// others. A failing program is cut down by leaving out steps as long as it still fails, then shown.
#define _DEFAULT_SOURCE // MAP_ANONYMOUS
#include "tests/buffers/play.h"

#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

enum { PROGRAMS = 60, PATIENCE_S = 300 };

static const char *const specs[] = {"cpu?engine=interpreted&threads=2", "cpu?engine=interpreted&threads=2&unified=0"};
enum { SPECS = sizeof specs / sizeof *specs };

static char *why; // shared with the process that plays

static struct play one; // large

// True where nothing differed; else `why` says what.
static bool goes_well(const char *spec, const struct step *step, uint32_t steps)
{
    *why = '\0';
    fflush(NULL);
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        alarm(PATIENCE_S); // kills it
        play(&one, spec, step, steps);
        memcpy(why, one.why, WHY_BYTES);
        _exit(*why != '\0');
    }
    int how;
    assert_int_equal(waitpid(child, &how, 0), child);
    if (!*why && WIFSIGNALED(how))
        snprintf(why, WHY_BYTES, "it ends with signal %d%s", WTERMSIG(how),
                 WTERMSIG(how) == SIGALRM ? ": it hangs" : "");
    else if (!*why && WEXITSTATUS(how) != 0)
        snprintf(why, WHY_BYTES, "it ends with exit code %d", WEXITSTATUS(how));
    return !*why;
}

// Leaves out `count` steps from `at` on.
static uint32_t without(const struct step *from, uint32_t steps, uint32_t at, uint32_t count, struct step *to)
{
    uint32_t left = at + count < steps ? steps - at - count : 0;
    memcpy(to, from, at * sizeof *to);
    memcpy(to + at, from + (steps - left), left * sizeof *to);
    return at + left;
}

static uint32_t cut_down(const char *spec, struct step *step, uint32_t steps)
{
    struct step fewer[STEPS];
    for (uint32_t count = steps / 2; count > 0; count /= 2)
        for (uint32_t at = 0; at < steps;) {
            uint32_t left = without(step, steps, at, count, fewer);
            if (goes_well(spec, fewer, left)) {
                at += count;
                continue;
            }
            memcpy(step, fewer, left * sizeof *step);
            steps = left;
        }
    return steps;
}

static void show(const char *spec, uint64_t seed, const struct step *step, uint32_t steps)
{
    fprintf(stderr, "SLIPRING_SEED=%llu on %s: %s\n", (unsigned long long)seed, spec, why);
    for (uint32_t i = 0; i < steps; ++i) {
        fprintf(stderr, "  %2u %-12s", i, kind_names[step[i].kind]);
        for (int k = 0; k < 8; ++k)
            fprintf(stderr, " %u", step[i].n[k]);
        fputc('\n', stderr);
    }
}

static void try_seed(uint64_t seed)
{
    struct step step[STEPS];
    for (int i = 0; i < SPECS; ++i) {
        make_program(seed, step);
        if (goes_well(specs[i], step, STEPS))
            continue;
        show(specs[i], seed, step, 0);
        uint32_t steps = cut_down(specs[i], step, STEPS);
        if (goes_well(specs[i], step, steps))
            snprintf(why, WHY_BYTES, "cut down, it fails sometimes");
        show(specs[i], seed, step, steps);
        fail();
    }
}

// Seeds of programs that once failed, and what for.
static const uint64_t kept[] = {1};

static void random_programs_do_what_the_reference_does(void **state)
{
    (void)state;
    const char *seed = getenv("SLIPRING_SEED"), *programs = getenv("SLIPRING_PROGRAMS");
    why = mmap(NULL, WHY_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    assert_true(why != MAP_FAILED);
    if (seed) {
        try_seed(strtoull(seed, NULL, 0));
        return;
    }
    for (size_t i = 0; i < sizeof kept / sizeof *kept; ++i)
        try_seed(kept[i]);
    uint64_t count = programs ? strtoull(programs, NULL, 0) : PROGRAMS;
    for (uint64_t i = 0; i < count; ++i)
        try_seed(1000 + i);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(random_programs_do_what_the_reference_does)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
