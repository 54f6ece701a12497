// SPDX-License-Identifier: Apache-2.0
// Threads, mutexes and pauses, on POSIX threads.
#define _GNU_SOURCE
#include "base/thread.h"

#include "base/clock.h"
#include "base/sim.h"
#include "base/status.h"

#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static void *thread_main(void *arg)
{
    slri_thread *thread = arg;
    pthread_setname_np(pthread_self(), thread->name);
    thread->body(thread->arg);
    return NULL;
}

slr_status slri_thread_start(slri_thread *thread, const char *name, void (*body)(void *arg), void *arg)
{
    size_t name_bytes = strnlen(name, sizeof thread->name - 1);
    memcpy(thread->name, name, name_bytes);
    thread->name[name_bytes] = '\0';
    thread->body = body;
    thread->arg = arg;
    if (slri_sim_on())
        return slri_sim_start(&thread->simulated, body, arg);

    // A new thread inherits the mask: so it is blocked here, not inside, where a signal could come first.
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    int error = pthread_create(&thread->handle, NULL, thread_main, thread);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (error)
        return SLRI_FAIL(SYSTEM, "no thread for %s: %s", thread->name, strerror(error));
    return SLR_OK;
}

void slri_thread_join(slri_thread *thread)
{
    if (slri_sim_on())
        slri_sim_join(thread->simulated);
    else
        pthread_join(thread->handle, NULL);
}

void slri_thread_detach_self(void)
{
    if (slri_sim_on())
        slri_sim_detach_self();
    else
        pthread_detach(pthread_self());
}

void slri_mutex_init(slri_mutex *mutex)
{
    pthread_mutex_init(&mutex->native, NULL);
}

void slri_mutex_destroy(slri_mutex *mutex)
{
    pthread_mutex_destroy(&mutex->native);
}

// One thread's tasks: it would lock itself out. Who finds it locked sleeps until it is unlocked.
static void lock_simulated(slri_mutex *mutex)
{
    slri_sim_step();
    while (pthread_mutex_trylock(&mutex->native) != 0)
        slri_sim_block(mutex, SLRI_FOREVER);
}

void slri_mutex_lock(slri_mutex *mutex)
{
    if (slri_sim_on())
        lock_simulated(mutex);
    else
        pthread_mutex_lock(&mutex->native);
}

void slri_mutex_unlock(slri_mutex *mutex)
{
    pthread_mutex_unlock(&mutex->native);
    if (slri_sim_on())
        slri_sim_wake(mutex, UINT32_MAX);
}

static unsigned count_cores(void)
{
    cpu_set_t allowed;
    if (sched_getaffinity(0, sizeof allowed, &allowed) == 0)
        return (unsigned)CPU_COUNT(&allowed);
    long online = sysconf(_SC_NPROCESSORS_ONLN); // more cores than cpu_set_t holds
    return online > 0 ? (unsigned)online : 1;
}

#define SIMULATED_CORES 2 // on every machine: a seed is to do the same everywhere

unsigned slri_core_count(void)
{
    if (slri_sim_on())
        return SIMULATED_CORES;
    static unsigned cores; // racing threads store the same
    unsigned known = __atomic_load_n(&cores, __ATOMIC_RELAXED);
    if (known == 0) {
        known = count_cores();
        __atomic_store_n(&cores, known, __ATOMIC_RELAXED);
    }
    return known;
}

void slri_yield(void)
{
    if (slri_sim_on())
        slri_sim_yield();
    else
        sched_yield();
}

void slri_sleep_ns(uint64_t duration_ns)
{
    uint64_t until_ns = slri_now_ns() + duration_ns;
    if (slri_sim_on()) {
        slri_sim_block(&until_ns, until_ns);
        return;
    }
    struct timespec until = {(time_t)(until_ns / 1000000000u), (long)(until_ns % 1000000000u)};
    while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, NULL) == EINTR) {
    }
}
