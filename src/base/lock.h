// SPDX-License-Identifier: Apache-2.0
/// A lock for sections of some tens of nanoseconds that are entered as often: one atomic operation to take it, a plain
/// store to give it, where nobody waits. Not recursive, not fair. All zero is free.
///
/// A mutex needs a second atomic operation, or a full fence, when it is given: else its owner may miss somebody who
/// just went to sleep. Here it may, and a sleeper looks again by itself after SLRI_LOCK_NAP_NS.
#ifndef SLRI_BASE_LOCK_H
#define SLRI_BASE_LOCK_H

#include <stdint.h>

typedef struct slri_lock {
    uint32_t taken;
    uint32_t sleepers; // threads that may be asleep on `taken`
} slri_lock;

#define SLRI_LOCK_NAP_NS 100000u

void slri_lock_wait(slri_lock *lock);
void slri_lock_wake(slri_lock *lock);

static inline void slri_lock_take(slri_lock *lock)
{
    // Acquire: what the last owner did is seen.
    if (__builtin_expect(__atomic_exchange_n(&lock->taken, 1, __ATOMIC_ACQUIRE) != 0, 0))
        slri_lock_wait(lock);
}

static inline void slri_lock_give(slri_lock *lock)
{
    // Relaxed, and before the store, behind which the next owner may free the lock: a sleeper that is missed wakes by
    // itself.
    uint32_t sleepers = __atomic_load_n(&lock->sleepers, __ATOMIC_RELAXED);
    __atomic_store_n(&lock->taken, 0, __ATOMIC_RELEASE); // the next owner sees what this one did
    if (__builtin_expect(sleepers != 0, 0))
        slri_lock_wake(lock);
}

#endif
