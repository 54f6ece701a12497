// SPDX-License-Identifier: Apache-2.0
// A grid's blocks are taken in chunks off one counter, so that a thread that is held up keeps nobody waiting. A chunk
// is a share of what is left: the last ones are short, and all threads end together.
//
// A helper enters by a compare-and-swap on the gate that finds it open and counts it in; the owner shuts the gate and
// waits until nobody is inside. Between the two the job's words do not change.
//
// A helper takes only a core that no stream computes on. It enters while the streams that compute and the helpers
// inside are fewer than the crew's cores, and leaves after its chunk when they are more.
#include "hal/cpu/crew.h"

#include "base/alloc.h"
#include "base/clock.h"
#include "base/dl.h"
#include "base/futex.h"
#include "base/status.h"

#include <stdio.h>

#define OPEN (UINT64_C(1) << 16)
#define INSIDE (OPEN - 1)
#define NUMBER (UINT64_C(1) << 17)

// Waking a thread costs the waker some 5 us and takes 26-64 us to take effect (facts/backends), so a helper polls about
// that long behind a job, and who has a job wakes nobody for less than that.
#define LOOK_NS 100000
#define SPIN_NS 20000 // of it without yielding
#define WORTH_WAKING_NS 30000
#define LOOKS_A_CLOCK 64

// Of chunks. A thread's share of what is left is taken in four, down to a 64th of its share of all: 15 chunks a thread
// or so. Chunks of equal size, 8 a thread, left one thread alone for a sixteenth of the time at either end of a job.
#define FIRST_OF_ALL 1024 // the owner's first, which says whether others are worth waking
#define TIMES_A_SHARE 4
#define LEAST_OF_A_SHARE 64

struct slri_cpu_helper {
    slri_thread thread;
    struct slri_cpu_crew *crew;
};

// ---- the work ------------------------------------------------------------------------------------------------------

static void run_here(slri_kernel_blocks *run, struct slri_launch *launch, uint64_t first, uint64_t count)
{
    ((slri_kernel_blocks *)slri_dl_here((slri_function)run))(launch, first, count);
}

// One `part`-th of what is left, not below `least`. False: there was nothing. Relaxed: each block is taken once
// whatever the order; who waits for the results waits for the gate.
static bool take(struct slri_cpu_crew *crew, uint64_t part, uint64_t least)
{
    uint64_t first = __atomic_load_n(&crew->next, __ATOMIC_RELAXED), count;
    do {
        if (first >= crew->blocks)
            return false; // without writing to the line that others take from
        uint64_t left = crew->blocks - first;
        count = left / part > least ? left / part : least;
        count = count < left ? count : left;
    } while (
        !__atomic_compare_exchange_n(&crew->next, &first, first + count, true, __ATOMIC_RELAXED, __ATOMIC_RELAXED));
    run_here(crew->run, crew->launch, first, count);
    return true;
}

static bool take_chunk(struct slri_cpu_crew *crew)
{
    uint64_t threads = crew->most + 1, least = crew->blocks / (threads * LEAST_OF_A_SHARE);
    return take(crew, threads * TIMES_A_SHARE, least ? least : 1);
}

// ---- helpers -------------------------------------------------------------------------------------------------------

// Relaxed, here and below: streams come and go at any moment, so it is a hint.
static uint32_t streams_of(const struct slri_cpu_crew *crew)
{
    return __atomic_load_n(&crew->streams, __ATOMIC_RELAXED);
}

// Whether the streams that compute leave a core to one more than `helpers`.
static bool has_core(const struct slri_cpu_crew *crew, uint64_t helpers)
{
    return streams_of(crew) + helpers <= crew->most;
}

// `seen` is the number of the last job of which this helper has seen the end.
static bool enter(struct slri_cpu_crew *crew, uint64_t *seen)
{
    uint64_t gate = __atomic_load_n(&crew->gate, __ATOMIC_RELAXED);
    while (gate & OPEN && gate / NUMBER != *seen && has_core(crew, gate & INSIDE))
        // Acquire: the job's words, written before the gate was opened.
        if (__atomic_compare_exchange_n(&crew->gate, &gate, gate + 1, true, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED))
            return true;
    return false;
}

// A helper that leaves before the end may enter again.
static void help(struct slri_cpu_crew *crew, uint64_t *seen)
{
    bool stays = true, more = true;
    while (stays && more) {
        more = take_chunk(crew);
        uint64_t helpers = __atomic_load_n(&crew->gate, __ATOMIC_RELAXED) & INSIDE;
        stays = has_core(crew, helpers - 1); // it is one of them
    }
    uint64_t gate = __atomic_fetch_sub(&crew->gate, 1, __ATOMIC_RELEASE); // what the blocks wrote, for the owner
    if (!more)
        *seen = gate / NUMBER;
}

static bool stopped(const struct slri_cpu_crew *crew)
{
    return __atomic_load_n(&crew->stop, __ATOMIC_RELAXED); // it is joined, and reads nothing by it
}

// Polls; true when there is a job or the end. Where streams compute on all cores it does not poll on one of them.
static bool look(struct slri_cpu_crew *crew, uint64_t *seen)
{
    uint64_t start_ns = slri_now_ns(), now_ns = start_ns;
    do {
        for (int i = 0; i < LOOKS_A_CLOCK; ++i) {
            if (enter(crew, seen)) {
                help(crew, seen);
                return true;
            }
            slri_pause();
        }
        if (!has_core(crew, 0))
            break;
        now_ns = slri_now_ns();
        if (now_ns - start_ns > SPIN_NS)
            slri_yield();
    } while (now_ns - start_ns < LOOK_NS && !stopped(crew));
    return stopped(crew);
}

// Announce, full fence, look again, sleep; who has a job opens the gate, full fence, looks at the announcement.
static void park(struct slri_cpu_crew *crew, uint64_t *seen)
{
    uint32_t calls = __atomic_load_n(&crew->calls, __ATOMIC_RELAXED);
    __atomic_fetch_add(&crew->parked, 1, __ATOMIC_RELAXED);
    __atomic_thread_fence(__ATOMIC_SEQ_CST);
    bool entered = enter(crew, seen);
    if (!entered && !stopped(crew))
        slri_futex_wait(&crew->calls, calls, SLRI_FOREVER);
    __atomic_fetch_sub(&crew->parked, 1, __ATOMIC_RELAXED);
    if (entered)
        help(crew, seen);
}

static void work(void *arg)
{
    struct slri_cpu_helper *self = arg;
    uint64_t seen = 0;
    while (!stopped(self->crew))
        if (!look(self->crew, &seen))
            park(self->crew, &seen);
}

static void call_all(struct slri_cpu_crew *crew)
{
    __atomic_thread_fence(__ATOMIC_SEQ_CST);
    if (__atomic_load_n(&crew->parked, __ATOMIC_RELAXED) == 0)
        return;
    __atomic_fetch_add(&crew->calls, 1, __ATOMIC_RELAXED); // the fences order; this only changes
    slri_futex_wake(&crew->calls, UINT32_MAX);
}

// ---- owning it -----------------------------------------------------------------------------------------------------

// With the first job. Fewer threads than wanted are as good as they are.
static void start(struct slri_cpu_crew *crew)
{
    slri_mutex_lock(&crew->lock);
    if (!crew->helper)
        crew->helper = slri_alloc(crew->allocator, crew->most * sizeof *crew->helper);
    while (crew->helper && crew->started < crew->most) {
        char name[24];
        struct slri_cpu_helper *helper = &crew->helper[crew->started];
        helper->crew = crew;
        snprintf(name, sizeof name, "slr-crew-%u", crew->started);
        if (slri_thread_start(&helper->thread, name, work, helper) != SLR_OK)
            break;
        ++crew->started;
    }
    slri_mutex_unlock(&crew->lock);
}

// Only the owner opens and shuts, so the number needs no compare-and-swap.
static void open_gate(struct slri_cpu_crew *crew)
{
    uint64_t number = __atomic_load_n(&crew->gate, __ATOMIC_RELAXED) / NUMBER + 1;
    __atomic_store_n(&crew->gate, number * NUMBER + OPEN, __ATOMIC_RELEASE); // the job's words
}

static void shut_gate(struct slri_cpu_crew *crew)
{
    // Acquire, here and below: what helpers wrote that have left.
    uint64_t gate = __atomic_fetch_and(&crew->gate, ~OPEN, __ATOMIC_ACQUIRE);
    for (uint32_t i = 0; gate & INSIDE; ++i) { // as long as the last chunks take
        if (i % 1024 == 1023)
            slri_yield();
        slri_pause();
        gate = __atomic_load_n(&crew->gate, __ATOMIC_ACQUIRE);
    }
}

// Helpers are called again when a core has become free: they went to sleep for want of one.
static void do_together(struct slri_cpu_crew *crew)
{
    uint64_t start_ns = slri_now_ns();
    open_gate(crew);
    if (take(crew, FIRST_OF_ALL, 1)) {
        uint64_t taken_ns = slri_now_ns() - start_ns, blocks = crew->blocks;
        bool is_worth_waking = taken_ns * (blocks < FIRST_OF_ALL ? blocks : FIRST_OF_ALL) > WORTH_WAKING_NS;
        do {
            if (is_worth_waking && has_core(crew, __atomic_load_n(&crew->gate, __ATOMIC_RELAXED) & INSIDE))
                call_all(crew);
        } while (take_chunk(crew));
    }
    shut_gate(crew);
}

static void run_by_all(struct slri_cpu_crew *crew, slri_kernel_blocks *run, struct slri_launch *launch, uint64_t blocks)
{
    uint32_t free = 0;
    // Acquire: the last owner's writes, which this one repeats.
    if (blocks < 2 || crew->most == 0 ||
        !__atomic_compare_exchange_n(&crew->busy, &free, 1, false, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED)) {
        run_here(run, launch, 0, blocks);
        return;
    }
    if (crew->started < crew->most) // written by owners alone
        start(crew);
    crew->run = run;
    crew->launch = launch;
    crew->blocks = blocks;
    __atomic_store_n(&crew->next, 0, __ATOMIC_RELAXED); // the gate publishes it
    do_together(crew);
    __atomic_store_n(&crew->busy, 0, __ATOMIC_RELEASE);
}

void slri_cpu_crew_run(struct slri_cpu_crew *crew, slri_kernel_blocks *run, struct slri_launch *launch, uint64_t blocks)
{
    __atomic_fetch_add(&crew->streams, 1, __ATOMIC_RELAXED); // what it counts is a hint
    run_by_all(crew, run, launch, blocks);
    __atomic_fetch_sub(&crew->streams, 1, __ATOMIC_RELAXED);
}

// ---- life ----------------------------------------------------------------------------------------------------------

void slri_cpu_crew_init(struct slri_cpu_crew *crew, uint32_t most, const slr_allocator *allocator)
{
    slri_mutex_init(&crew->lock);
    crew->most = most;
    crew->allocator = allocator;
}

void slri_cpu_crew_stop(struct slri_cpu_crew *crew)
{
    __atomic_store_n(&crew->stop, 1, __ATOMIC_RELAXED);
    call_all(crew);
    for (uint32_t i = 0; i < crew->started; ++i)
        slri_thread_join(&crew->helper[i].thread);
    slri_free(crew->allocator, crew->helper, crew->most * sizeof *crew->helper);
    slri_mutex_destroy(&crew->lock);
}
