// SPDX-License-Identifier: Apache-2.0
// The watchdog: one thread a device, where a ring kernel's handlers have a deadline. A handler cannot be killed; its
// thread is abandoned, and the worker goes on with another.
//
// One word decides who owns what: a runner stores the deadline on its way into a handler and exchanges it for 0 on its
// way out; the watchdog exchanges a deadline that has passed for ABANDONED. Whoever's exchange comes first has the
// worker, its shards, and all their words; a runner that comes second touches nothing but itself and its box, and ends.
#include "engine/owner.h"

#include "base/alloc.h"
#include "base/clock.h"
#include "base/futex.h"
#include "base/status.h"

// A failed ring kernel is to be seen within 10 ms.
#define SHORTEST_TICK_NS 1000000u
#define LONGEST_TICK_NS 5000000u

void slri_runner_enter(struct slri_runner *runner, struct slri_shard *shard, uint64_t deadline_ns)
{
    __atomic_store_n(&runner->shard, shard, __ATOMIC_RELAXED);
    // Release: the shard's own words and the worker's, for a watchdog that takes them over.
    __atomic_store_n(&runner->deadline_ns, deadline_ns, __ATOMIC_RELEASE);
}

bool slri_runner_leave(struct slri_runner *runner)
{
    // Acquire: the watchdog's last look at a runner comes before its end.
    return __atomic_exchange_n(&runner->deadline_ns, 0, __ATOMIC_ACQUIRE) != SLRI_ABANDONED;
}

// ---- abandoning ---------------------------------------------------------------------------------------------------
// A worker whose thread could not be replaced at once has one that was not started; without memory for one a handler is
// not abandoned. Both are tried again at the next look.
static void abandon(struct slri_worker *worker, uint64_t deadline_ns)
{
    struct slri_runner *old = worker->runner, *fresh;
    if (slri_runner_create(worker, &fresh) != SLR_OK)
        return;
    struct slri_shard *shard = __atomic_load_n(&old->shard, __ATOMIC_RELAXED);
    // Acquire: all that the runner wrote before it entered the handler. That `shard` is the one that goes with this
    // deadline is so because the word still has it: a runner on its way into another handler has set it to 0 before.
    if (!__atomic_compare_exchange_n(&old->deadline_ns, &deadline_ns, SLRI_ABANDONED, false, __ATOMIC_ACQ_REL,
                                     __ATOMIC_RELAXED)) {
        slri_free(fresh->allocator, fresh, sizeof *fresh);
        return;
    }
    worker->runner = fresh; // the old one may be gone from here on
    slri_shard_abandon(shard);
}

static void look_at_worker(struct slri_worker *worker)
{
    if (worker->runner->started) {
        uint64_t deadline = __atomic_load_n(&worker->runner->deadline_ns, __ATOMIC_ACQUIRE);
        if (deadline != 0 && slri_passed(deadline))
            abandon(worker, deadline);
    }
    if (!worker->runner->started)
        slri_runner_start(worker->runner);
}

// ---- the thread ---------------------------------------------------------------------------------------------------
// Sleeps for a tick, or, where no worker is awake, until one is. Announce, full fence, look again, sleep.
static void rest(struct slri_owners *owners)
{
    struct slri_watchdog *dog = &owners->watchdog;
    __atomic_store_n(&dog->asleep, 1, __ATOMIC_RELAXED);
    __atomic_thread_fence(__ATOMIC_SEQ_CST);
    bool awake = false;
    for (uint32_t i = 0; i < owners->workers && !awake; ++i)
        awake = !__atomic_load_n(&owners->worker[i].parked, __ATOMIC_RELAXED);
    if (!awake && !__atomic_load_n(&dog->stop, __ATOMIC_RELAXED))
        slri_futex_wait(&dog->asleep, 1, SLRI_FOREVER);
    __atomic_store_n(&dog->asleep, 0, __ATOMIC_RELAXED);
    slri_futex_wait(&dog->stop, 0, slri_deadline_after(__atomic_load_n(&dog->tick_ns, __ATOMIC_RELAXED)));
}

void slri_watchdog_wake(struct slri_owners *owners)
{
    struct slri_watchdog *dog = &owners->watchdog;
    __atomic_thread_fence(__ATOMIC_SEQ_CST); // that the worker is awake (or the stop), before the look
    if (__atomic_load_n(&dog->asleep, __ATOMIC_RELAXED) && __atomic_exchange_n(&dog->asleep, 0, __ATOMIC_RELAXED))
        slri_futex_wake(&dog->asleep, 1);
}

static void watch_owners(void *arg)
{
    struct slri_owners *owners = arg;
    while (!__atomic_load_n(&owners->watchdog.stop, __ATOMIC_RELAXED)) {
        for (uint32_t i = 0; i < owners->workers; ++i)
            look_at_worker(&owners->worker[i]);
        rest(owners);
    }
}

static uint64_t tick_for(uint64_t timeout_ns)
{
    uint64_t tick = timeout_ns / 4;
    return tick < SHORTEST_TICK_NS ? SHORTEST_TICK_NS : tick > LONGEST_TICK_NS ? LONGEST_TICK_NS : tick;
}

slr_status slri_owners_watch(struct slri_owners *owners, uint64_t timeout_ns)
{
    struct slri_watchdog *dog = &owners->watchdog;
    uint64_t tick = tick_for(timeout_ns);
    if (!dog->started || tick < dog->tick_ns) // written under the lock only
        __atomic_store_n(&dog->tick_ns, tick, __ATOMIC_RELAXED);
    if (dog->started)
        return SLR_OK;
    SLRI_TRY(slri_thread_start(&dog->thread, "slr-watchdog", watch_owners, owners));
    dog->started = true;
    return SLR_OK;
}

void slri_watchdog_stop(struct slri_owners *owners)
{
    struct slri_watchdog *dog = &owners->watchdog;
    if (!dog->started)
        return;
    __atomic_store_n(&dog->stop, 1, __ATOMIC_RELAXED);
    slri_futex_wake(&dog->stop, 1);
    slri_watchdog_wake(owners);
    slri_thread_join(&dog->thread);
}
