// SPDX-License-Identifier: Apache-2.0
// Each batch of programs is played in a process of its own.
#define _DEFAULT_SOURCE // MAP_ANONYMOUS
#include "shrink.h"

#include "trace.h"

#include "base/sim.h"

#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#define MOST_CHOICES 2000000u // some thirty times what a program takes
#define PATIENCE_S 60         // for real; a choice takes a microsecond, more with a sanitizer

// ---- in another process --------------------------------------------------------------------------------------------

static struct shared { // with the process that plays
    uint64_t seed;
    bool failed;
    char why[WHY_BYTES];
} * shared;

static struct trace trace; // large

static void note_stuck(const char *why)
{
    shared->failed = true;
    snprintf(shared->why, WHY_BYTES, "it hangs: %s", why);
    _exit(1);
}

static bool play_here(const struct program *program, bool twice)
{
    slri_sim_watch(MOST_CHOICES, note_stuck);
    play(program, &trace);
    const char *why = judge(program, &trace);
    uint64_t fingerprint = trace.fingerprint;
    if (!why && twice) {
        play(program, &trace);
        if (trace.fingerprint != fingerprint)
            why = "played again, it went another way";
    }
    if (why) {
        shared->failed = true;
        snprintf(shared->why, WHY_BYTES, "%s", why);
    }
    return !why;
}

static bool share(void)
{
    if (!shared)
        shared = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (shared == MAP_FAILED)
        shared = NULL;
    if (shared)
        *shared = (struct shared){0};
    return shared != NULL;
}

// Runs `body` there. False: it failed, and `why` says how.
static bool run_apart(void (*body)(const void *arg), const void *arg, unsigned patience_s, char why[WHY_BYTES])
{
    snprintf(why, WHY_BYTES, "no process to play it in");
    fflush(NULL);
    pid_t pid = share() ? fork() : -1;
    if (pid < 0)
        return false;
    if (pid == 0) {
        alarm(patience_s); // kills it
        body(arg);
        _exit(shared->failed);
    }
    int how;
    waitpid(pid, &how, 0);
    if (shared->failed)
        snprintf(why, WHY_BYTES, "%s", shared->why);
    else if (WIFSIGNALED(how))
        snprintf(why, WHY_BYTES, "it ended by signal %d%s", WTERMSIG(how),
                 WTERMSIG(how) == SIGALRM ? ": it hangs" : "");
    else if (WEXITSTATUS(how))
        snprintf(why, WHY_BYTES, "it ended with %d", WEXITSTATUS(how));
    else
        return true;
    return false;
}

static void play_one(const void *program)
{
    play_here(program, false);
}

bool try_program(const struct program *program, char why[WHY_BYTES])
{
    return run_apart(play_one, program, PATIENCE_S, why);
}

static void show_stuck(const char *why)
{
    printf("it hangs: %s; until then\n", why);
    trace_print(&trace, stdout);
    fflush(stdout);
    _exit(1);
}

void show_program(const struct program *program)
{
    slri_sim_watch(MOST_CHOICES, show_stuck);
    play(program, &trace);
    trace_print(&trace, stdout);
}

struct range {
    uint64_t first, count;
    bool twice;
};

static void play_range(const void *arg)
{
    const struct range *range = arg;
    for (uint64_t i = 0; i < range->count; ++i) {
        struct program program;
        shared->seed = range->first + i;
        program_make(&program, shared->seed);
        alarm(PATIENCE_S);
        if (!play_here(&program, range->twice))
            return;
    }
}

uint64_t try_seeds(uint64_t first, uint64_t count, bool twice, char why[WHY_BYTES])
{
    struct range range = {first, count, twice};
    return run_apart(play_range, &range, PATIENCE_S, why) ? first + count : shared ? shared->seed : first;
}

// ---- shrinking -----------------------------------------------------------------------------------------------------

enum { SCHEDULES = 12 }; // that a smaller program is tried with: without an op, the seed's choices fall elsewhere

// Whether two say the same but for numbers: else the shrinker would slip from one fault to another.
static bool is_alike(const char *a, const char *b)
{
    while (*a != '\0' || *b != '\0') {
        while (*a >= '0' && *a <= '9')
            ++a;
        while (*b >= '0' && *b <= '9')
            ++b;
        if (*a != *b)
            return false;
        a += *a != '\0';
        b += *b != '\0';
    }
    return true;
}

// Whether a smaller program still fails; then it is taken.
static bool take(struct program *program, const struct program *smaller, uint32_t *played, char why[WHY_BYTES])
{
    char how[WHY_BYTES];
    struct program tried = *smaller;
    uint64_t state = program->schedule;
    for (uint32_t i = 0; i < SCHEDULES; ++i) {
        ++*played;
        if (!try_program(&tried, how) && is_alike(how, why)) {
            *program = tried;
            memcpy(why, how, WHY_BYTES);
            return true;
        }
        tried.schedule = program_random(&state);
    }
    return false;
}

static struct program without(const struct program *p, uint32_t first, uint32_t count)
{
    struct program less = *p;
    less.ops = 0;
    for (uint32_t i = 0; i < p->ops; ++i)
        if (i < first || i >= first + count)
            less.op[less.ops++] = p->op[i];
    return less;
}

static bool drop_ops(struct program *p, uint32_t *played, char why[WHY_BYTES])
{
    bool any = false;
    for (uint32_t count = p->ops / 2 ? p->ops / 2 : 1; count != 0; count /= 2)
        for (uint32_t first = 0; first < p->ops;) {
            struct program less = without(p, first, count);
            if (less.ops < p->ops && take(p, &less, played, why))
                any = true;
            else
                first += count;
        }
    return any;
}

// Ring kernels and clients that no op names any more, but for those of a smaller number.
static void drop_unused(struct program *p)
{
    uint32_t rings = 1, clients = 1;
    for (uint32_t i = 0; i < p->ops; ++i) {
        uint32_t ring = p->op[i].verb == ROUTE && p->op[i].to > p->op[i].ring ? p->op[i].to : p->op[i].ring;
        rings = ring + 1 > rings ? ring + 1 : rings;
        clients = p->op[i].actor != CONTROLLER && p->op[i].actor + 1u > clients ? p->op[i].actor + 1u : clients;
    }
    p->rings = rings;
    p->clients = clients;
}

static bool simplify_rest(struct program *p, uint32_t *played, char why[WHY_BYTES])
{
    bool any = false;
    struct program less = *p;
    drop_unused(&less);
    less.supervised = 0;
    any = memcmp(&less, p, sizeof less) != 0 && take(p, &less, played, why);
    less = *p;
    less.threads = 1;
    any = (p->threads > 1 && take(p, &less, played, why)) || any;
    for (uint32_t i = 0; i < p->rings; ++i) {
        less = *p;
        less.ring[i] = (struct ring_plan){.sort = HANDLER,
                                          .instances = 1,
                                          .queue_size = p->ring[i].queue_size,
                                          .max_batch = 1,
                                          .max_replies = p->ring[i].max_replies,
                                          .overflow = p->ring[i].overflow,
                                          .fault_policy = p->ring[i].fault_policy,
                                          .fault_limit = p->ring[i].fault_limit};
        any = (memcmp(&less, p, sizeof less) != 0 && take(p, &less, played, why)) || any;
    }
    return any;
}

static bool simplify_ops(struct program *p, uint32_t *played, char why[WHY_BYTES])
{
    bool any = false;
    for (uint32_t i = 0; i < p->ops; ++i) {
        struct program less = *p;
        less.op[i].script = 0;
        less.op[i].priority = 0;
        less.op[i].count = less.op[i].count ? 1 : 0;
        any = (memcmp(&less, p, sizeof less) != 0 && take(p, &less, played, why)) || any;
    }
    return any;
}

uint32_t shrink(struct program *program, char why[WHY_BYTES])
{
    uint32_t played = 0;
    for (bool smaller = true; smaller;) {
        smaller = drop_ops(program, &played, why);
        smaller = simplify_rest(program, &played, why) || smaller;
        smaller = simplify_ops(program, &played, why) || smaller;
    }
    return played;
}
