// SPDX-License-Identifier: Apache-2.0
// The watchdog. It takes no part in any call and holds no lock but that of the list of groups, so that nothing which a
// stalled call keeps waiting keeps it waiting: neither the poller nor who waits for a park.
#include "hal/cuda/stall.h"

#include "base/clock.h"
#include "base/futex.h"

#include <stdio.h>
#include <string.h>

#define LOOKS_A_LIMIT 4u        // so much later, at most, is a stall seen
#define RELIEF_LOOK_NS 1000000u // between looks at a call that kernels were parked for
#define PATIENCE 10u            // limits that a call has whose work it is to wait

static const char *const names[SLRI_CU_CALLS] = {
#define NAME(result, name, parameters, arguments) [SLRI_CU_CALL_##name] = "cu" #name,
    SLRI_CU_REQUIRED(NAME) SLRI_CU_OPTIONAL(NAME)
#undef NAME
        [SLRI_CU_CALL_LIBRARY] = "a library's",
};

static uint64_t limit_of(const struct slri_cu_watch *watch, uint32_t call)
{
    return call == SLRI_CU_CALL_StreamSynchronize ? watch->limit_ns * PATIENCE : watch->limit_ns;
}

static bool kernels_stay(const struct slri_cu_watch *watch)
{
    return __atomic_load_n(&watch->residents->running, __ATOMIC_ACQUIRE) != 0;
}

static bool stopped(const struct slri_cu_watch *watch)
{
    return __atomic_load_n(&watch->stop, __ATOMIC_RELAXED) != 0;
}

static bool is_in(const struct slri_cu_place *place, uint64_t call)
{
    return __atomic_load_n(&place->call, __ATOMIC_RELAXED) == call;
}

// Parks until the call has returned, or has not for a limit behind the last kernel's end: then it waits for something
// else, such as an ordinary kernel that runs long, and is let be. A kernel that does not end is waited for no longer
// than anybody does; it is tried again a limit later.
static void relieve(struct slri_cu_watch *watch, uint32_t i)
{
    uint64_t call = watch->seen[i].call, deadline_ns = slri_deadline_after(SLRI_RESIDENT_END_NS);
    bool ended = false;
    __atomic_fetch_add(&watch->stalls[call & 0xff], watch->seen[i].counted ? 0 : 1, __ATOMIC_RELAXED);
    watch->seen[i].counted = true;
    slri_residents_park_now(watch->residents);
    while (is_in(&watch->place[i], call) && !stopped(watch) && !slri_passed(deadline_ns)) {
        if (!ended && !kernels_stay(watch)) {
            ended = true;
            deadline_ns = slri_deadline_after(watch->limit_ns);
        }
        slri_residents_press(watch->residents); // a launch that was on its way
        slri_futex_wait(&watch->stop, 0, slri_deadline_after(RELIEF_LOOK_NS));
    }
    watch->seen[i].let_be = ended && is_in(&watch->place[i], call);
    watch->seen[i].since_ns = slri_now_ns();
    slri_residents_resume(watch->residents);
}

// `again`: kernels have stayed since the last look; what a call has waited for before is nothing that stays.
static void look_at(struct slri_cu_watch *watch, uint32_t i, bool again)
{
    uint64_t call = __atomic_load_n(&watch->place[i].call, __ATOMIC_RELAXED), now = slri_now_ns();
    bool is_new = call != watch->seen[i].call;
    if (is_new)
        watch->seen[i].counted = watch->seen[i].let_be = false;
    watch->seen[i].call = call;
    if (is_new || !again || (call & 0xff) == SLRI_CU_NO_CALL)
        watch->seen[i].since_ns = now;
    else if (!watch->seen[i].let_be && now - watch->seen[i].since_ns >= limit_of(watch, call & 0xff))
        relieve(watch, i);
}

static void watch_calls(void *arg)
{
    struct slri_cu_watch *watch = arg;
    bool stayed = false;
    while (!stopped(watch)) {
        uint32_t rings = __atomic_load_n(&watch->rings, __ATOMIC_ACQUIRE);
        bool stay = kernels_stay(watch);
        for (uint32_t i = 0; i < SLRI_CU_PLACES; ++i)
            look_at(watch, i, stay && stayed);
        stayed = stay;
        slri_futex_wait(&watch->rings, rings,
                        stay ? slri_deadline_after(watch->limit_ns / LOOKS_A_LIMIT) : SLRI_FOREVER);
    }
}

void slri_cu_watch_ring(struct slri_cu_watch *watch)
{
    __atomic_fetch_add(&watch->rings, 1, __ATOMIC_RELEASE); // the group that is counted as running, or the stop
    slri_futex_wake(&watch->rings, 1);
}

slr_status slri_cu_watch_start(struct slri_cu_watch *watch)
{
    if (watch->started || watch->limit_ns == 0)
        return SLR_OK;
    slr_status status = slri_thread_start(&watch->thread, "slr-stalls", watch_calls, watch);
    watch->started = status == SLR_OK;
    return status;
}

void slri_cu_watch_stop(struct slri_cu_watch *watch)
{
    if (!watch->started)
        return;
    __atomic_store_n(&watch->stop, 1, __ATOMIC_RELAXED); // the ring says it
    slri_futex_wake(&watch->stop, 1);
    slri_cu_watch_ring(watch);
    slri_thread_join(&watch->thread);
}

uint32_t slri_cu_watch_describe(const struct slri_cu_watch *watch, char *out, size_t room)
{
    uint32_t sum = 0;
    *out = '\0';
    for (uint32_t i = 0; i < SLRI_CU_CALLS; ++i) {
        uint32_t stalls = __atomic_load_n(&watch->stalls[i], __ATOMIC_RELAXED);
        size_t at = strlen(out);
        if (stalls != 0)
            snprintf(out + at, room - at, "%s%s %u", sum ? ", " : "", names[i], stalls);
        sum += stalls;
    }
    return sum;
}
