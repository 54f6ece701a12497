// SPDX-License-Identifier: Apache-2.0
// Simulated threads and time: tasks on one thread, chosen by a seeded generator.
//
// Time is a number. Asking for it, and every step, adds a moment; when every task sleeps it jumps to the next deadline.
// So nobody ever waits for real, and what a seed did it does again.
//
// Where the system has no threads the same tasks are all the threads there are. Then time is the system's, nothing is
// drawn, and a task goes on until it polls, yields or sleeps.
#include "base/sim.h"

#include "base/clock.h"
#include "base/environment.h"
#include "base/sim_context.h"
#include "base/status.h"
#include "base/system.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>

uint32_t slri_sim_is_on;
static bool in_turns;

struct slri_sim_task {
    struct slri_sim_context context;
    struct slri_message *message; // NULL: the thread's own
    void (*body)(void *arg);
    void *arg;
    const void *key;  // what it sleeps on; NULL: it is ready
    uint64_t wake_ns; // or sleeps until
    uint32_t number;
    bool ended, detached;
    void *local;
};

enum { MOST_TASKS = 4096 };

static struct {
    pthread_t thread;
    uint64_t seed, random, now_ns, fingerprint, choices, most;
    void (*stuck)(const char *why);
    uint32_t moment_ns; // that a step takes
    uint32_t one_in;    // a point is a choice once in so many
    struct slri_sim_task first, *current;
    struct slri_sim_task *task[MOST_TASKS]; // in the order of their starts
    uint32_t tasks, numbers;
    struct slri_sim_task *ready[MOST_TASKS]; // in `choose` alone
    bool away;
    struct slri_sim_task *gone; // ended and detached: its stack is free once another runs
} sim;

// ---- chance --------------------------------------------------------------------------------------------------------

uint64_t slri_sim_random(void) // splitmix64
{
    uint64_t z = sim.random += 0x9e3779b97f4a7c15u;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return z ^ z >> 31;
}

static uint32_t below(uint32_t end)
{
    return (uint32_t)((slri_sim_random() >> 32) * end >> 32);
}

// ---- tasks ---------------------------------------------------------------------------------------------------------

static void free_task(struct slri_sim_task *task)
{
    slri_sim_context_dispose(&task->context);
    slri_message_destroy(task->message);
    free(task);
}

static void forget(const struct slri_sim_task *task)
{
    uint32_t i = 0;
    while (sim.task[i] != task)
        ++i;
    for (--sim.tasks; i < sim.tasks; ++i)
        sim.task[i] = sim.task[i + 1];
}

static void wait_for_ever(const char *why)
{
    if (sim.stuck)
        sim.stuck(why);
    for (;;)
        slri_system_sleep_until(SLRI_FOREVER); // as threads in a deadlock would: somebody may want to look at them
}

// The tasks that can go on now, of which there is at least one: else the clock jumps.
static uint32_t find_ready(void)
{
    for (;;) {
        uint32_t count = 0;
        uint64_t next = SLRI_FOREVER;
        if (in_turns)
            sim.now_ns = slri_system_now_ns();
        for (uint32_t i = 0; i < sim.tasks; ++i) {
            struct slri_sim_task *task = sim.task[i];
            if (task->key && task->wake_ns <= sim.now_ns)
                task->key = NULL;
            if (!task->key)
                sim.ready[count++] = task;
            else if (task->wake_ns < next)
                next = task->wake_ns;
        }
        if (count != 0)
            return count;
        if (next == SLRI_FOREVER)
            wait_for_ever("every task waits for another");
        if (in_turns)
            slri_system_sleep_until(next);
        sim.now_ns = next;
    }
}

static void free_gone(void)
{
    if (sim.gone)
        free_task(sim.gone);
    sim.gone = NULL;
}

static void go_on_with(struct slri_sim_task *to)
{
    struct slri_sim_task *from = sim.current;
    if (to == from)
        return;
    sim.current = to;
    slri_message_use(to->message);
    slri_sim_context_switch(&from->context, &to->context, from->ended);
    free_gone(); // this task goes on, so that one does not
}

// Of those that are ready the one behind this one, in the order of their numbers.
static uint32_t next_in_turn(uint32_t count)
{
    for (uint32_t i = 0; i < count; ++i)
        if (sim.ready[i]->number > sim.current->number)
            return i;
    return 0;
}

// Lets a task go on: any that is ready, or, where `other`, one that is not this one, if there is one.
static void choose(bool other)
{
    uint32_t count = find_ready();
    uint32_t pick = in_turns ? next_in_turn(count) : below(count);
    if (other && sim.ready[pick] == sim.current)
        pick = (pick + 1) % count;
    sim.fingerprint = (sim.fingerprint ^ sim.ready[pick]->number) * 0x100000001b3u + sim.now_ns;
    if (++sim.choices == sim.most)
        wait_for_ever("too many choices");
    go_on_with(sim.ready[pick]);
}

static void wake(const void *key, unsigned how_many)
{
    for (uint32_t i = 0, first = sim.tasks && !in_turns ? below(sim.tasks) : 0; i < sim.tasks && how_many != 0; ++i) {
        struct slri_sim_task *task = sim.task[(first + i) % sim.tasks];
        if (task->key != key)
            continue;
        task->key = NULL;
        --how_many;
    }
}

static void run_task(void)
{
    slri_sim_context_arrived(&sim.current->context);
    free_gone();
    struct slri_sim_task *self = sim.current;
    self->body(self->arg);
    self->ended = true;
    wake(self, UINT32_MAX);
    forget(self);
    if (self->detached)
        sim.gone = self;
    choose(true); // never comes back
}

slr_status slri_sim_start(struct slri_sim_task **out, void (*body)(void *arg), void *arg)
{
    struct slri_sim_task *task = sim.tasks < MOST_TASKS ? calloc(1, sizeof *task) : NULL;
    if (!task)
        return SLRI_FAIL(NO_MEMORY, "no memory for a simulated thread; %u are there", sim.tasks);
    task->message = slri_message_create();
    if (!task->message || !slri_sim_context_create(&task->context, run_task)) {
        slri_message_destroy(task->message);
        free(task);
        return SLRI_FAIL(NO_MEMORY, "no memory for a simulated thread");
    }
    task->body = body;
    task->arg = arg;
    task->number = ++sim.numbers;
    sim.task[sim.tasks++] = task;
    *out = task;
    slri_sim_moment();
    return SLR_OK;
}

void slri_sim_join(struct slri_sim_task *task)
{
    while (!task->ended)
        slri_sim_block(task, SLRI_FOREVER);
    free_task(task);
}

void slri_sim_detach_self(void)
{
    sim.current->detached = true;
}

void **slri_sim_local(void)
{
    return &sim.current->local;
}

// ---- points --------------------------------------------------------------------------------------------------------

void slri_sim_point(void)
{
    if (slri_sim_on() && !in_turns && below(sim.one_in) == 0)
        choose(false);
}

void slri_sim_moment(void)
{
    if (in_turns)
        return;
    sim.now_ns += sim.moment_ns;
    if (below(2) == 0)
        choose(false);
}

void slri_sim_step(void)
{
    if (in_turns)
        choose(true);
    else
        slri_sim_moment();
}

void slri_sim_yield(void)
{
    sim.now_ns += sim.moment_ns;
    choose(true);
}

uint64_t slri_sim_now_ns(void)
{
    if (in_turns)
        return slri_system_now_ns();
    sim.now_ns += sim.moment_ns;
    slri_sim_point();
    return sim.now_ns;
}

void slri_sim_block(const void *key, uint64_t deadline_ns)
{
    sim.current->key = key;
    sim.current->wake_ns = deadline_ns;
    choose(true);
}

void slri_sim_wait(const uint32_t *word, uint32_t expected, uint64_t deadline_ns)
{
    slri_sim_moment();
    if (*word != expected || deadline_ns <= (in_turns ? slri_system_now_ns() : sim.now_ns))
        return;
    if (!in_turns && below(32) == 0) { // woken for nothing, as a futex may be
        slri_sim_yield();
        return;
    }
    slri_sim_block(word, deadline_ns);
}

void slri_sim_wake(const void *key, unsigned how_many)
{
    wake(key, how_many);
    slri_sim_moment();
}

// ---- its life ------------------------------------------------------------------------------------------------------

// The one task that there is at first is what has called this.
static slr_status begin(void)
{
    sim.thread = pthread_self();
    sim.fingerprint = sim.choices = sim.numbers = 0;
    sim.first = (struct slri_sim_task){0};
    sim.current = &sim.first;
    sim.task[0] = &sim.first;
    sim.tasks = 1;
    sim.gone = NULL;
    if (!slri_sim_context_of_thread(&sim.first.context))
        return SLRI_FAIL(UNSUPPORTED, "SLIPRING_SIM: this C library has no makecontext()");
    __atomic_store_n(&slri_sim_is_on, 1, __ATOMIC_RELAXED);
    return SLR_OK;
}

slr_status slri_sim_begin(uint64_t seed)
{
    static const uint32_t moments_ns[] = {200, 500, 1000, 3000}, rates[] = {4, 16, 64, 512};
    in_turns = false;
    sim.seed = sim.random = seed;
    sim.now_ns = 1000000000;
    sim.moment_ns = moments_ns[below(4)];
    sim.one_in = rates[below(4)];
    return begin();
}

slr_status slri_sim_begin_turns(void)
{
    in_turns = true;
    return begin();
}

bool slri_sim_in_turns(void)
{
    return in_turns;
}

uint32_t slri_sim_end(void)
{
    while (sim.tasks > 1 && sim.choices != sim.most) { // those that were detached may be on their last steps
        uint64_t before = sim.now_ns;
        slri_sim_block(&sim, sim.now_ns + 1000000000);
        if (sim.now_ns >= before + 1000000000)
            break;
    }
    __atomic_store_n(&slri_sim_is_on, 0, __ATOMIC_RELAXED);
    return sim.tasks - 1;
}

slr_status slri_sim_from_environment(void)
{
    const char *asked = slri_environment("SLIPRING_SIM");
    if (slri_sim_on()) {
        if (pthread_equal(sim.thread, pthread_self()))
            return SLR_OK;
        return SLRI_FAIL(WRONG_STATE, "SLIPRING_SIM: every call must be on the thread that opened the first device");
    }
    if (!asked || *asked == '\0')
        return slri_system_has_threads() ? SLR_OK : slri_sim_begin_turns();
    char *end;
    errno = 0;
    unsigned long long seed = strtoull(asked, &end, 10);
    if (*end != '\0' || asked[0] < '0' || asked[0] > '9' || errno)
        return SLRI_FAIL(INVALID, "SLIPRING_SIM is '%s'; expected a seed, 0 to 18446744073709551615", asked);
    return slri_sim_begin(seed);
}

uint64_t slri_sim_seed(void)
{
    return sim.seed;
}

uint64_t slri_sim_fingerprint(void)
{
    return sim.fingerprint ^ sim.random;
}

void slri_sim_watch(uint64_t most, void (*stuck)(const char *why))
{
    sim.most = most;
    sim.stuck = stuck;
}

uint64_t slri_sim_leave(uint64_t deadline_ns)
{
    if (!slri_sim_on())
        return deadline_ns;
    uint64_t left = deadline_ns > sim.now_ns ? deadline_ns - sim.now_ns : 0;
    sim.away = true;
    __atomic_store_n(&slri_sim_is_on, 0, __ATOMIC_RELAXED);
    return deadline_ns == SLRI_FOREVER ? SLRI_FOREVER : slri_deadline_after(left);
}

void slri_sim_return(void)
{
    if (!sim.away)
        return;
    sim.away = false;
    __atomic_store_n(&slri_sim_is_on, 1, __ATOMIC_RELAXED);
}
