// SPDX-License-Identifier: Apache-2.0
// The worker threads. Each polls the shards that are awake; a shard without work falls asleep by itself, and a worker
// without a shard that is awake sleeps on a futex: an idle ring kernel costs nothing.
//
// Falling asleep: leave the list, announce in `asleep`, full fence, look again, and go back into the list if there is
// something. The waker stores, full fence, looks at `asleep`, and whoever exchanges it back to 0 pushes the shard on
// the worker's stack: so a shard is in the list or in the stack, never in both, never in neither, and its one link
// serves both.
#include "engine/owner.h"

#include "base/alloc.h"
#include "base/clock.h"
#include "base/futex.h"
#include "base/sim.h"
#include "base/status.h"

#include <stdio.h>

// Waking from a futex costs 26-64 us across cores, so a worker polls that long before it sleeps; behind the first 5 us
// it gives the core at each round to whoever needs it more.
#define SPIN_NS 5000
#define SLEEP_NS 100000
#define WAITING_NS 100000 // between looks at a draining shard that can do nothing yet
#define ROUNDS_A_LOOK 16  // rounds between looks at the clock: a look costs as much as a round of one shard

// Of a worker's `stop`. That it is simulated is in the word that each round reads anyway, so it costs nothing else.
enum { STOP = 1, SIMULATED = 2 };

static void push(struct slri_worker *worker, struct slri_shard *shard)
{
    struct slri_shard *head = __atomic_load_n(&worker->woken, __ATOMIC_RELAXED);
    do
        shard->host.next = head;
    while (!__atomic_compare_exchange_n(&worker->woken, &head, shard, true, __ATOMIC_RELEASE, __ATOMIC_RELAXED));
}

static void unpark(struct slri_worker *worker)
{
    __atomic_thread_fence(__ATOMIC_SEQ_CST); // the push, before the look
    if (__atomic_load_n(&worker->parked, __ATOMIC_RELAXED) && __atomic_exchange_n(&worker->parked, 0, __ATOMIC_RELAXED))
        slri_futex_wake(&worker->parked, 1);
}

void slri_owners_wake(struct slri_shard *shard)
{
    struct slri_worker *worker = shard->host.worker;
    if (!worker)
        return; // launched and not started yet
    push(worker, shard);
    unpark(worker);
}

// ---- the thread ----------------------------------------------------------------------------------------------------

static void activate(struct slri_worker *worker, struct slri_shard *shard)
{
    shard->host.next = worker->active;
    worker->active = shard;
}

// Takes over what others have woken.
static void adopt_woken(struct slri_worker *worker)
{
    if (!__atomic_load_n(&worker->woken, __ATOMIC_RELAXED))
        return;
    struct slri_shard *shard = __atomic_exchange_n(&worker->woken, NULL, __ATOMIC_ACQUIRE);
    while (shard) {
        struct slri_shard *next = shard->host.next;
        shard->host.idle_since_ns = 0;
        activate(worker, shard);
        shard = next;
    }
}

// Lets a shard fall asleep that has left the list; puts it back if there is something for it to do after all.
static void lull(struct slri_worker *worker, struct slri_shard *shard)
{
    uint32_t kind = slri_shard_sleep_kind(shard);
    // Release: the link and the owner's words, for the waker's exchange.
    __atomic_store_n(&shard->asleep, kind, __ATOMIC_RELEASE);
    __atomic_thread_fence(__ATOMIC_SEQ_CST);
    // A message without reply room may have come since: its sender saw the shard awake, and its receiver must find
    // another announcement.
    if (slri_shard_may_sleep(shard) && slri_shard_sleep_kind(shard) == kind)
        return;
    if (__atomic_exchange_n(&shard->asleep, 0, __ATOMIC_ACQ_REL) != 0)
        activate(worker, shard); // else who took it back has pushed it
}

struct round {
    bool abandoned; // the thread: nothing is its own any more
    bool worked;
    bool waits; // a draining shard needs another look soon
    bool spins; // some shard has been idle for less than SPIN_NS
};

// One pass over each shard that is awake, then what they have for a device, together. `now_ns` is 0 in rounds that do
// not look at the clock.
static struct round run_round(struct slri_worker *worker, uint64_t now_ns)
{
    struct round round = {0};
    struct slri_shard **at = &worker->active;
    while (*at) {
        struct slri_shard *shard = *at, *next = shard->host.next;
        enum slri_pass pass = slri_shard_pass(shard);
        if (pass == SLRI_PASS_ABANDONED) {
            round.abandoned = true;
            return round;
        }
        if (pass == SLRI_PASS_OVER) { // not ours any more; `next` was read before
            *at = next;
            continue;
        }
        if (pass == SLRI_PASS_WORKED) {
            shard->host.idle_since_ns = 0;
            round.worked = true;
        } else if (shard->host.idle_since_ns == 0) {
            shard->host.idle_since_ns = now_ns;
        }
        uint64_t idle_ns = shard->host.idle_since_ns && now_ns ? now_ns - shard->host.idle_since_ns : 0;
        round.waits = round.waits || pass == SLRI_PASS_WAITS;
        round.spins = round.spins || idle_ns < SPIN_NS;
        if (pass == SLRI_PASS_IDLE && idle_ns >= SLEEP_NS) {
            *at = next;
            lull(worker, shard);
        } else {
            at = &shard->host.next;
        }
    }
    if (worker->packed) {
        slri_worker_dispatch(worker);
        slri_yield(); // the core, to who waits for the replies: a driver's threads may have the others
    }
    return round;
}

static void park(struct slri_worker *worker, uint64_t deadline_ns)
{
    __atomic_store_n(&worker->parked, 1, __ATOMIC_RELAXED);
    __atomic_thread_fence(__ATOMIC_SEQ_CST); // announced, before the last look
    if (!__atomic_load_n(&worker->woken, __ATOMIC_RELAXED) && __atomic_load_n(&worker->stop, __ATOMIC_RELAXED) != STOP)
        slri_futex_wait(&worker->parked, 1, deadline_ns);
    __atomic_store_n(&worker->parked, 0, __ATOMIC_RELAXED);
    slri_watchdog_wake(worker->owners);
}

// The end of a thread that was abandoned. What the box holds may be the last of the device: it goes last.
static void end_abandoned(struct slri_runner *runner)
{
    struct slri_box *box = runner->box;
    slri_thread_detach_self();
    slri_free(runner->allocator, runner, sizeof *runner);
    slri_box_let_go(box);
}

static void own_shards(void *arg)
{
    struct slri_runner *runner = arg;
    struct slri_worker *worker = runner->worker;
    uint32_t rounds = 0, idle_rounds = 0, stop; // without a look at the clock; without work
    while ((stop = __atomic_load_n(&worker->stop, __ATOMIC_RELAXED)) != STOP) {
        if (stop == SIMULATED)
            slri_sim_step();
        adopt_woken(worker);
        if (!worker->active) {
            park(worker, SLRI_FOREVER);
            rounds = idle_rounds = 0;
            continue;
        }
        bool look = ++rounds == ROUNDS_A_LOOK;
        struct round round = run_round(worker, look ? slri_now_ns() : 0);
        if (round.abandoned) {
            end_abandoned(runner);
            return;
        }
        idle_rounds = round.worked ? 0 : idle_rounds + 1;
        // One shard that works needs no clock. Of several, those that do not work must fall asleep all the same: else
        // all that were ever woken are passed over at each message.
        if (look || (round.worked && !(worker->active && worker->active->host.next)))
            rounds = 0;
        if (!look || round.worked || round.spins)
            continue;
        if (round.waits && idle_rounds > 64 * ROUNDS_A_LOOK)
            park(worker, slri_deadline_after(WAITING_NS));
        else
            slri_yield();
    }
}

// ---- starting and stopping -----------------------------------------------------------------------------------------

void slri_owners_init(struct slri_owners *owners, uint32_t workers, const slr_allocator *allocator)
{
    owners->workers = workers;
    owners->allocator = allocator;
    slri_mutex_init(&owners->lock);
}

uint32_t slri_owners_count(const struct slri_owners *owners, uint32_t instances)
{
    return instances < owners->workers ? instances : owners->workers;
}

slr_status slri_runner_create(struct slri_worker *worker, struct slri_runner **out)
{
    const slr_allocator *allocator = worker->owners->allocator;
    struct slri_runner *runner = slri_alloc(allocator, sizeof *runner);
    if (!runner)
        return SLRI_FAIL(NO_MEMORY, "no memory for a worker's thread");
    runner->worker = worker;
    runner->allocator = allocator;
    *out = runner;
    return SLR_OK;
}

slr_status slri_runner_start(struct slri_runner *runner)
{
    char name[32];
    snprintf(name, sizeof name, "slr-worker-%u", (unsigned)(runner->worker - runner->worker->owners->worker));
    SLRI_TRY(slri_thread_start(&runner->thread, name, own_shards, runner));
    runner->started = true;
    return SLR_OK;
}

static slr_status start_worker(struct slri_owners *owners, struct slri_worker *worker)
{
    worker->owners = owners;
    worker->stop = slri_sim_on() ? SIMULATED : 0;
    if (!worker->runner)
        SLRI_TRY(slri_runner_create(worker, &worker->runner));
    return slri_runner_start(worker->runner);
}

static slr_status start_workers(struct slri_owners *owners)
{
    if (!owners->worker)
        owners->worker = slri_alloc(owners->allocator, owners->workers * sizeof *owners->worker);
    if (!owners->worker)
        return SLRI_FAIL(NO_MEMORY, "no memory for %u workers", owners->workers);
    while (owners->started < owners->workers) {
        SLRI_TRY(start_worker(owners, &owners->worker[owners->started]));
        ++owners->started;
    }
    return SLR_OK;
}

slr_status slri_owners_start(struct slri_owners *owners, struct slri_shard *shard)
{
    slri_mutex_lock(&owners->lock);
    slr_status status = owners->started < owners->workers ? start_workers(owners) : SLR_OK;
    if (status == SLR_OK && shard->timeout_ns)
        status = slri_owners_watch(owners, shard->timeout_ns);
    if (status == SLR_OK)
        shard->host.worker = &owners->worker[owners->next_worker++ % owners->workers];
    slri_mutex_unlock(&owners->lock);
    if (status == SLR_OK)
        slri_owners_wake(shard);
    return status;
}

void slri_owners_stop(struct slri_owners *owners)
{
    slri_watchdog_stop(owners); // first: it replaces workers' threads
    for (uint32_t i = 0; i < owners->started; ++i) {
        __atomic_store_n(&owners->worker[i].stop, STOP, __ATOMIC_RELAXED);
        unpark(&owners->worker[i]);
    }
    for (uint32_t i = 0; i < owners->started; ++i)
        if (owners->worker[i].runner->started)
            slri_thread_join(&owners->worker[i].runner->thread);
    for (uint32_t i = 0; owners->worker && i < owners->workers; ++i)
        slri_free(owners->allocator, owners->worker[i].runner, sizeof *owners->worker[i].runner);
    slri_free(owners->allocator, owners->worker, owners->workers * sizeof *owners->worker);
    slri_mutex_destroy(&owners->lock);
}
