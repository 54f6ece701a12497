// SPDX-License-Identifier: Apache-2.0
// The poller, a thread a device, and what others ask of it; what it does with each group is resident.c's. What others
// give it lies in stacks.
#include "engine/resident.h"

#include "base/clock.h"
#include "base/futex.h"
#include "base/status.h"
#include "engine/owner.h"

static void raise_poller(struct slri_residents *residents)
{
    __atomic_fetch_add(&residents->rings, 1, __ATOMIC_RELEASE); // what it shall find
    slri_futex_wake(&residents->rings, 1);
}

// ---- the thread ----------------------------------------------------------------------------------------------------

static void adopt_new(struct slri_residents *residents)
{
    struct slri_resident *resident = __atomic_exchange_n(&residents->added, NULL, __ATOMIC_ACQUIRE);
    while (resident) {
        struct slri_resident *next = resident->next_new;
        slri_mutex_lock(&residents->lock);
        resident->next = residents->first;
        residents->first = resident;
        slri_mutex_unlock(&residents->lock);
        resident = next;
    }
}

// Lets those go that shall and have ended.
static void retire(struct slri_residents *residents)
{
    struct slri_resident **at = &residents->first;
    while (*at) {
        struct slri_resident *resident = *at;
        if (__atomic_load_n(&resident->retiring, __ATOMIC_ACQUIRE) == 0 || resident->running) {
            if (resident->running && __atomic_load_n(&resident->retiring, __ATOMIC_RELAXED))
                slri_resident_ask_to_end(resident);
            at = &resident->next;
            continue;
        }
        slri_mutex_lock(&residents->lock);
        *at = resident->next;
        slri_mutex_unlock(&residents->lock);
        __atomic_store_n(&resident->retiring, 2, __ATOMIC_RELEASE); // our last touch
        slri_futex_wake(&resident->retiring, 1);
    }
}

static _Thread_local bool is_poller;

static void poll(void *arg)
{
    struct slri_residents *residents = arg;
    is_poller = true;
    for (;;) {
        // Acquire, and before the look at `stop`: who stops it sets that first, so a ring that is seen shows it.
        uint32_t rings = __atomic_load_n(&residents->rings, __ATOMIC_ACQUIRE);
        if (__atomic_load_n(&residents->stop, __ATOMIC_ACQUIRE))
            return;
        bool soon = false;
        adopt_new(residents);
        for (struct slri_resident *resident = residents->first; resident; resident = resident->next)
            soon = slri_resident_step(resident) || soon;
        retire(residents);
        slri_futex_wait(&residents->rings, rings, soon ? slri_deadline_after(SLRI_RESIDENT_LOOK_NS) : SLRI_FOREVER);
    }
}

void slri_residents_init(struct slri_residents *residents)
{
    slri_mutex_init(&residents->lock);
    slri_mutex_init(&residents->home);
    slri_mutex_init(&residents->groups_lock);
}

void slri_residents_close(struct slri_residents *residents)
{
    if (residents->started) {
        __atomic_store_n(&residents->stop, 1, __ATOMIC_RELEASE);
        raise_poller(residents);
        slri_thread_join(&residents->thread);
    }
    slri_mutex_destroy(&residents->lock);
    slri_mutex_destroy(&residents->home);
    slri_mutex_destroy(&residents->groups_lock);
}

// ---- keeping groups from running -----------------------------------------------------------------------------------

slr_status slri_residents_park(struct slri_residents *residents, uint64_t timeout_ns)
{
    uint64_t deadline_ns = slri_deadline_after(timeout_ns);
    __atomic_fetch_add(&residents->parked, 1, __ATOMIC_SEQ_CST); // begin_run in resident.c says why
    uint32_t running = __atomic_load_n(&residents->running, __ATOMIC_SEQ_CST);
    if (running == 0)
        return SLR_OK;
    if (is_poller) { // it would wait for itself
        slri_residents_resume(residents);
        return SLRI_FAIL(WRONG_STATE, "the poller cannot wait for kernels to end");
    }
    __atomic_fetch_add(&residents->pauses, 1, __ATOMIC_RELAXED);
    raise_poller(residents);
    while (running != 0 && !slri_passed(deadline_ns)) {
        slri_futex_wait(&residents->running, running, deadline_ns);
        running = __atomic_load_n(&residents->running, __ATOMIC_ACQUIRE); // what the poller saw end
    }
    if (running == 0)
        return SLR_OK;
    slri_residents_resume(residents);
    return SLRI_FAIL(TIMEOUT, "%u work-groups of persistent kernels have not ended in time: a handler is still running",
                     running);
}

void slri_residents_press(struct slri_residents *residents)
{
    slri_mutex_lock(&residents->lock);
    for (struct slri_resident *resident = residents->first; resident; resident = resident->next)
        slri_resident_ask_to_end(resident);
    slri_mutex_unlock(&residents->lock);
}

void slri_residents_park_now(struct slri_residents *residents)
{
    __atomic_fetch_add(&residents->parked, 1, __ATOMIC_SEQ_CST); // begin_run in resident.c says why
    __atomic_fetch_add(&residents->pauses, 1, __ATOMIC_RELAXED);
    slri_residents_press(residents);
}

void slri_residents_resume(struct slri_residents *residents)
{
    if (__atomic_sub_fetch(&residents->parked, 1, __ATOMIC_SEQ_CST) == 0)
        raise_poller(residents);
}

// ---- groups and shards that come and go ----------------------------------------------------------------------------

static slr_status start_poller(struct slri_residents *residents)
{
    slri_mutex_lock(&residents->lock);
    slr_status status = SLR_OK;
    if (!residents->started)
        status = slri_thread_start(&residents->thread, "slr-poller", poll, residents);
    residents->started = residents->started || status == SLR_OK;
    slri_mutex_unlock(&residents->lock);
    return status;
}

slr_status slri_resident_memory_create(struct slri_resident *resident, uint64_t bytes, void **out)
{
    return resident->backend->memory_create(resident->residents->device, SLRI_MEMORY_SHARED, bytes, out);
}

void slri_resident_memory_destroy(struct slri_resident *resident, void *memory, uint64_t bytes)
{
    resident->backend->memory_destroy(resident->residents->device, SLRI_MEMORY_SHARED, memory, bytes);
}

slr_status slri_resident_open(struct slri_resident *resident)
{
    struct slri_residents *residents = resident->residents;
    SLRI_TRY(start_poller(residents));
    resident->number = __atomic_fetch_add(&residents->opened, 1, __ATOMIC_RELAXED); // a number alone
    resident->next_new = __atomic_load_n(&residents->added, __ATOMIC_RELAXED);
    while (!__atomic_compare_exchange_n(&residents->added, &resident->next_new, resident, true, __ATOMIC_RELEASE,
                                        __ATOMIC_RELAXED))
        ;
    return SLR_OK;
}

bool slri_resident_close(struct slri_resident *resident)
{
    uint64_t deadline_ns = slri_deadline_after(SLRI_RESIDENT_END_NS);
    uint32_t stays = 0; // a second call finds 1, or 2 where it has gone meanwhile
    __atomic_compare_exchange_n(&resident->retiring, &stays, 1, false, __ATOMIC_RELEASE, __ATOMIC_RELAXED);
    raise_poller(resident->residents);
    while (__atomic_load_n(&resident->retiring, __ATOMIC_ACQUIRE) == 1 && !slri_passed(deadline_ns))
        slri_futex_wait(&resident->retiring, 1, deadline_ns);
    return __atomic_load_n(&resident->retiring, __ATOMIC_ACQUIRE) == 2;
}

slr_status slri_resident_start(struct slri_resident *resident, struct slri_shard *shard)
{
    if (__atomic_add_fetch(&resident->shards, 1, __ATOMIC_RELAXED) > SLRI_RESIDENT_SHARDS) {
        __atomic_fetch_sub(&resident->shards, 1, __ATOMIC_RELAXED);
        return SLRI_FAIL(FULL, "a work-group of a persistent kernel serves at most %u shards", SLRI_RESIDENT_SHARDS);
    }
    slri_resident_equip(resident, shard);
    shard->group.resident = resident;
    shard->host.next = __atomic_load_n(&resident->incoming, __ATOMIC_RELAXED);
    while (!__atomic_compare_exchange_n(&resident->incoming, &shard->host.next, shard, true, __ATOMIC_RELEASE,
                                        __ATOMIC_RELAXED))
        ;
    raise_poller(resident->residents);
    return SLR_OK;
}

void slri_resident_wake(struct slri_shard *shard)
{
    if (shard->mode != SLR_RING_PERSISTENT)
        slri_owners_wake(shard);
    else if (shard->group.resident) // else launched and not started yet
        raise_poller(shard->group.resident->residents);
}
