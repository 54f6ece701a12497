// SPDX-License-Identifier: Apache-2.0
// The fake's kernels that stay: a thread each, that does in C what their text does (src/hal/opencl/device), with a
// handler that replies nothing, or along routes what it was sent. A part of fake_opencl.c.
#ifndef TESTS_FAKES_FAKE_STAY_H
#define TESTS_FAKES_FAKE_STAY_H

#include "abi/passage.h"
#include "engine/resident_layout.h"

#include <pthread.h>
#include <sched.h>

struct fake_stay { // a launch of one
    pthread_t thread;
    int32_t status; // atomic, as of an event: 1 runs, 0 done, less: failed
    struct fake_opencl *words;
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

// ---- routes: cl_resident.h's functions of like names, for replies alone ---------------------------------------------

struct fake_way { // along one route
    uint32_t *O, *L, *R;
};

static uint32_t fake_ways(const struct slri_resident_entry *entry)
{
    const struct slri_resident_passage *passage = (const struct slri_resident_passage *)(uintptr_t)entry->passage;
    return passage ? passage->outlets : 0;
}

static struct fake_way fake_way(const struct slri_resident_entry *entry, uint32_t i)
{
    const struct slri_resident_passage *passage = (const struct slri_resident_passage *)(uintptr_t)entry->passage;
    const struct slri_resident_outlet *outlet = (const struct slri_resident_outlet *)(uintptr_t)passage->outlet + i;
    return (struct fake_way){(uint32_t *)(uintptr_t)outlet->words, (uint32_t *)(uintptr_t)outlet->lanes,
                             (uint32_t *)(uintptr_t)outlet->retired};
}

static void fake_reserve(const struct slri_resident_entry *entry)
{
    uint32_t *S = (uint32_t *)(uintptr_t)entry->shared, *P = (uint32_t *)(uintptr_t)entry->own, room = MB_BATCH;
    for (uint32_t i = 0; i < fake_ways(entry); ++i) {
        struct fake_way way = fake_way(entry, i);
        mbo_note_gone(way.O, way.O, P);
        uint32_t has = way.O[MBO_PORT] ? mbo_port_room(S, way.O, P) : mbo_room(way.O, way.R);
        room = has < room ? has : room;
    }
    P[MBP_ROOM] = 1 + room;
}

static void fake_pass_on(const struct slri_resident_entry *entry, uint32_t k)
{
    uint32_t *S = (uint32_t *)(uintptr_t)entry->shared, *P = (uint32_t *)(uintptr_t)entry->own;
    uint32_t at = P[MBP_BATCH(k) + 1];
    const uint32_t *message = &S[at + MB_PAYLOAD];
    for (uint32_t i = 0; i < fake_ways(entry); ++i) {
        struct fake_way way = fake_way(entry, i);
        if (way.O[MBO_PORT])
            mbo_give_port(S, way.O, P, k, message);
        else
            mbo_give(S, way.O, way.L, at, mbo_instance(way.O, S[at + MB_INSTANCE], message), message);
    }
}

static void fake_flush(const struct slri_resident_entry *entry)
{
    uint32_t *S = (uint32_t *)(uintptr_t)entry->shared, *P = (uint32_t *)(uintptr_t)entry->own;
    for (uint32_t i = 0; i < fake_ways(entry); ++i) {
        struct fake_way way = fake_way(entry, i);
        if (way.O[MBO_PORT])
            mb_publish_replies(S, P, way.O[MBO_PORT] - 1);
        mbo_publish(way.O, way.O, way.L);
    }
}

// ---- a group -------------------------------------------------------------------------------------------------------

static void fake_hang(struct fake_opencl *words)
{
    if (!fake_look(&words->hang))
        return;
    __atomic_fetch_add(&words->hung, 1, __ATOMIC_RELEASE);
    while (fake_look(&words->hang))
        sched_yield();
}

// False: it has died, with a batch in hand.
static bool fake_stay_serve(const struct fake_stay *stay, struct slri_resident_entry *entry)
{
    uint32_t *S = (uint32_t *)(uintptr_t)entry->shared, *P = (uint32_t *)(uintptr_t)entry->own;
    uint32_t hold = fake_look(&entry->hold);
    fake_tell(&entry->held, hold);
    if (entry->used == 0 || entry->left != 0 || hold & 1)
        return true;
    if (fake_ways(entry) != 0)
        fake_reserve(entry);
    uint32_t batch = mb_begin(S, P);
    if (fake_ways(entry) != 0) // what was left of an earlier batch may be more
        batch = batch < P[MBP_ROOM] - 1 ? batch : P[MBP_ROOM] - 1;
    if (batch != 0)
        fake_hang(stay->words);
    uint32_t kill = batch != 0 ? __atomic_exchange_n(&stay->words->kill, 0, __ATOMIC_ACQUIRE) : 0,
             in_hand = P[MBP_BATCH_COUNT];
    uint32_t done = kill == FAKE_KILL_BEGUN ? 0 : kill == FAKE_KILL_HALF ? batch / 2 : batch;
    for (uint32_t k = 0; k < done; ++k) {
        mb_handled(S, P, k, 0, 0);
        fake_pass_on(entry, k);
    }
    if (kill == 0 || kill == FAKE_KILL_SHOWN)
        fake_flush(entry);
    if (kill != 0)
        return false;
    if (batch != 0) {
        P[MBP_BATCH_COUNT] = done;
        mb_finish(S, P);
        if (done < in_hand)
            mb_keep_rest(S, P, done, in_hand);
    }
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
    __atomic_fetch_sub(&stay->words->staying, 1, __ATOMIC_RELEASE);
    __atomic_store_n(&stay->status, fine ? 0 : stay->words->error, __ATOMIC_RELEASE);
    return NULL;
}

#endif
