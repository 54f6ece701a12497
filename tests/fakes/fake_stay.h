// SPDX-License-Identifier: Apache-2.0
// The fake's kernels that stay: a thread each, that does in C what their text does (src/backend/opencl/device), with a
// handler that replies nothing. A part of fake_opencl.c.
#ifndef TESTS_FAKES_FAKE_STAY_H
#define TESTS_FAKES_FAKE_STAY_H

#include "abi/mailbox.h"
#include "device/resident_layout.h"

#include <pthread.h>
#include <sched.h>

struct fake_stay { // a launch of one
    pthread_t thread;
    int32_t status; // atomic, as of an event: 1 runs, 0 done, less: failed
    const struct fake_opencl *words;
    uint32_t *canary, looks, group;
    struct slri_resident_table *table; // NULL: a canary
};

static uint32_t fake_look(const uint32_t *word)
{
    return __atomic_load_n(word, __ATOMIC_ACQUIRE); // what its writer did before
}

static void fake_tell(uint32_t *word, uint32_t value)
{
    __atomic_store_n(word, value, __ATOMIC_RELEASE); // what was done before
}

static void fake_stay_canary(const struct fake_stay *stay)
{
    uint32_t *own = stay->canary + 64 + stay->group * 32, look = 0;
    while (look < stay->looks && fake_look(stay->canary + 32) == 0) {
        fake_tell(own, ++look);
        sched_yield();
    }
    fake_tell(own + 1, look);
}

// False: it has died, with a batch in hand.
static bool fake_stay_serve(const struct fake_stay *stay, struct slri_resident_entry *entry)
{
    uint32_t *S = (uint32_t *)(uintptr_t)entry->shared, *P = (uint32_t *)(uintptr_t)entry->own;
    uint32_t hold = fake_look(&entry->hold);
    fake_tell(&entry->held, hold);
    if (entry->used == 0 || entry->left != 0 || hold & 1)
        return true;
    uint32_t batch = mb_begin(S, P);
    if (batch != 0 && fake_look(&stay->words->kill))
        return false;
    for (uint32_t k = 0; k < batch; ++k)
        mb_handled(S, P, k, 0, 0);
    if (batch != 0)
        mb_finish(S, P);
    if (P[MBP_STATE] == MB_ENDED || P[MBP_STATE] == MB_STOPPED)
        fake_tell(&entry->left, 1);
    return true;
}

// Never idle for long: the test ends it.
static bool fake_stay_table(const struct fake_stay *stay)
{
    struct slri_resident_table *table = stay->table;
    uint32_t launch = table->launch;
    while (fake_look(&table->stop) != launch) {
        for (uint32_t i = 0; i < table->entries; ++i)
            if (!fake_stay_serve(stay, &table->entry[i]))
                return false;
        sched_yield();
    }
    while (fake_look(&stay->words->hang))
        sched_yield();
    fake_tell(&table->gone, launch);
    return true;
}

static void *fake_stay_run(void *arg)
{
    struct fake_stay *stay = arg;
    bool fine = true;
    if (stay->table)
        fine = fake_stay_table(stay);
    else
        fake_stay_canary(stay);
    __atomic_store_n(&stay->status, fine ? 0 : stay->words->error, __ATOMIC_RELEASE);
    return NULL;
}

#endif
