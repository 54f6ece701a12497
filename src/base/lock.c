// SPDX-License-Identifier: Apache-2.0
// The slow halves of the short lock: waiting and waking.
#include "base/lock.h"

#include "base/clock.h"
#include "base/futex.h"
#include "base/thread.h"

enum { SPINS = 100 }; // some sections long; then the owner has likely lost its core

static int take_if_free(slri_lock *lock)
{
    // Looked at before it is exchanged, so that waiters do not take the line from one another. Acquire: as
    // slri_lock_take.
    return __atomic_load_n(&lock->taken, __ATOMIC_RELAXED) == 0 &&
           __atomic_exchange_n(&lock->taken, 1, __ATOMIC_ACQUIRE) == 0;
}

void slri_lock_wait(slri_lock *lock)
{
    for (int i = 0; i < SPINS; ++i) {
        if (take_if_free(lock))
            return;
        slri_pause();
    }
    __atomic_fetch_add(&lock->sleepers, 1, __ATOMIC_RELAXED); // before the look at `taken` that the futex takes
    while (!take_if_free(lock))
        slri_futex_wait(&lock->taken, 1, slri_now_ns() + SLRI_LOCK_NAP_NS);
    __atomic_fetch_sub(&lock->sleepers, 1, __ATOMIC_RELAXED);
}

// By then the lock may be freed: only its address is used, and who waits for something else there looks again.
void slri_lock_wake(slri_lock *lock)
{
    slri_futex_wake(&lock->taken, 1);
}
