// SPDX-License-Identifier: Apache-2.0
// A count that fork() itself raises in the child.
#define _GNU_SOURCE
#include "base/forks.h"

#include <pthread.h>

uint32_t slri_forks;

static pthread_once_t once = PTHREAD_ONCE_INIT;
static struct slri_renewal *renewals;

// The child has one thread, this one. A lock that nobody had is made anew, too: that changes nothing.
static void note_child(void)
{
    __atomic_fetch_add(&slri_forks, 1, __ATOMIC_RELAXED);
    for (const struct slri_renewal *renewal = renewals; renewal; renewal = renewal->next) {
        if (renewal->lock)
            slri_mutex_init(renewal->lock);
        if (renewal->forget)
            renewal->forget();
    }
}

// Without memory for it nothing is counted: a child then waits for threads that it does not have.
static void begin_forks(void)
{
    (void)pthread_atfork(NULL, NULL, note_child);
}

void slri_forks_renew(struct slri_renewal *renewal)
{
    renewal->next = renewals;
    renewals = renewal;
}

uint32_t slri_forks_count(void)
{
    pthread_once(&once, begin_forks);
    return __atomic_load_n(&slri_forks, __ATOMIC_RELAXED);
}
