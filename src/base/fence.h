// SPDX-License-Identifier: Apache-2.0
/// A full fence in two unequal halves, for two threads that each store and then look at what the other stored. The
/// frequent thread's half costs nothing; the rare thread's half is a system call that makes all threads fence.
/// Of two such threads at least one sees the other's store, as with two full fences (tests/model/park.pml, UNEVEN).
#ifndef SLRI_BASE_FENCE_H
#define SLRI_BASE_FENCE_H

#include <stdint.h>

enum slri_fences {
    SLRI_FENCES_EQUAL,  // nobody has asked, or the system has no such call: both halves are full fences
    SLRI_FENCES_UNEVEN, // and it stays so
};
extern uint32_t slri_fences;

/// Asks the system, once. Threads that use slri_fence_light must have seen this call return, and so must the threads
/// that use slri_fence_heavy against them, or the frequent thread must have seen what they stored before.
void slri_fence_begin(void);

/// Of the frequent thread. Relaxed: slri_fence_begin happened before. The signal fence keeps the compiler from moving
/// the look before the store.
static inline void slri_fence_light(void)
{
    if (__atomic_load_n(&slri_fences, __ATOMIC_RELAXED) == SLRI_FENCES_UNEVEN)
        __atomic_signal_fence(__ATOMIC_SEQ_CST);
    else
        __atomic_thread_fence(__ATOMIC_SEQ_CST);
}

/// Of the rare thread: a full fence in each running thread of the process, this one included.
void slri_fence_heavy(void);

#endif
