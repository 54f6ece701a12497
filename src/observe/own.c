// SPDX-License-Identifier: Apache-2.0
// Giving threads slots, and taking them back when the threads end.
#include "observe/own.h"

#include "base/alloc.h"
#include "base/forks.h"
#include "base/thread.h"
#include "base/thread_end.h"
#include "observe/events.h"

_Thread_local struct slri_own *slri_own_of_thread;

static slri_mutex lock = SLRI_MUTEX_INIT;
static uint32_t taken; // under it: a bit a slot
SLRI_RENEW_IN_CHILD(renew_lock, &lock, NULL)

// What the slot holds is there for its next owner, who takes it under the lock.
static void end(void *value)
{
    struct slri_own *own = value;
    slri_events_leave(own->ring);
    slri_mutex_lock(&lock);
    if (own->slot != SLRI_SLOT_SHARED)
        taken &= ~(1u << own->slot);
    slri_mutex_unlock(&lock);
    slri_free(NULL, own, sizeof *own);
    slri_own_of_thread = NULL;
}

static uint32_t take_slot(void)
{
    static bool called; // under the lock
    slri_mutex_lock(&lock);
    if (!called)
        slri_thread_end_call(end);
    called = true;
    uint32_t slot = 0;
    while (slot != SLRI_SLOT_SHARED && taken & 1u << slot)
        ++slot;
    if (slot != SLRI_SLOT_SHARED)
        taken |= 1u << slot;
    slri_mutex_unlock(&lock);
    return slot;
}

struct slri_own *slri_own_make(void)
{
    struct slri_own *own = slri_alloc(NULL, sizeof *own);
    if (!own)
        return NULL;
    own->slot = take_slot();
    slri_own_of_thread = own;
    slri_thread_end_note(own);
    return own;
}
