// SPDX-License-Identifier: Apache-2.0
/// Whether this process is the one that made an object, or a child by fork(), which has none of its threads. A look
/// costs a load.
#ifndef SLRI_BASE_FORKS_H
#define SLRI_BASE_FORKS_H

#include "base/thread.h"

#include <stdbool.h>
#include <stdint.h>

/// How many calls of fork() lie between this process and the one that called slri_forks_count first. Written by the
/// child alone, before fork() returns there.
extern uint32_t slri_forks;

/// Counts from now on. The number of now, which an object notes. Threads: any.
uint32_t slri_forks_count(void);

/// Whether this process is a child of the one that noted the number.
static inline bool slri_has_forked(uint32_t noted)
{
    return __builtin_expect(__atomic_load_n(&slri_forks, __ATOMIC_RELAXED) != noted, 0);
}

/// A lock with static storage. In a child of fork() the thread that had it may not exist, so the child gets it free,
/// before fork() returns there. What it guards must be usable after each store to it, or `forget` (may be NULL) makes
/// that new. For each static lock that a child's own calls take.
struct slri_renewal {
    slri_mutex *lock; // NULL: `forget` does all
    void (*forget)(void);
    struct slri_renewal *next;
};

/// Before main, or when the library is loaded: nothing else registers meanwhile.
void slri_forks_renew(struct slri_renewal *renewal);

/// At file scope, once a lock. `name`: of a function that this defines.
#define SLRI_RENEW_IN_CHILD(name, mutex, forgetting)                                                                   \
    __attribute__((constructor)) static void name(void)                                                                \
    {                                                                                                                  \
        static struct slri_renewal renewal = {.lock = (mutex), .forget = (forgetting)};                                \
        slri_forks_renew(&renewal);                                                                                    \
    }

#endif
