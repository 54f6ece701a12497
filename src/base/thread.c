// SPDX-License-Identifier: Apache-2.0
// Threads, mutexes and pauses, on POSIX threads.
#include "base/thread.h"

#include "base/clock.h"
#include "base/native_mutex.h"
#include "base/sim.h"
#include "base/status.h"
#include "base/system.h"

#include <string.h>

static void *thread_main(void *arg)
{
    slri_thread *thread = arg;
    slri_system_name_thread(thread->name);
    thread->body(thread->arg);
    return NULL;
}

slr_status slri_thread_start(slri_thread *thread, const char *name, void (*body)(void *arg), void *arg)
{
    size_t name_bytes = strlen(name);
    if (name_bytes >= sizeof thread->name)
        name_bytes = sizeof thread->name - 1;
    memcpy(thread->name, name, name_bytes);
    thread->name[name_bytes] = '\0';
    thread->body = body;
    thread->arg = arg;
    if (slri_sim_on())
        return slri_sim_start(&thread->simulated, body, arg);

    int error = slri_system_create_thread(&thread->handle, thread_main, thread);
    if (error)
        return SLRI_FAIL(SYSTEM, "no thread for %s: %s", thread->name, strerror(error));
    return SLR_OK;
}

void slri_thread_join(slri_thread *thread)
{
    if (slri_sim_on())
        slri_sim_join(thread->simulated);
    else
        slri_system_join_thread(thread->handle);
}

void slri_thread_detach_self(void)
{
    if (slri_sim_on())
        slri_sim_detach_self();
    else
        slri_system_detach_self();
}

void slri_mutex_init(slri_mutex *mutex)
{
    slri_native_init(mutex);
}

void slri_mutex_destroy(slri_mutex *mutex)
{
    slri_native_destroy(mutex);
}

// One thread's tasks: it would lock itself out. Who finds it locked sleeps until it is unlocked.
static void lock_simulated(slri_mutex *mutex)
{
    slri_sim_moment();
    while (!slri_native_try(mutex))
        slri_sim_block(mutex, SLRI_FOREVER);
}

void slri_mutex_lock(slri_mutex *mutex)
{
    if (slri_sim_on())
        lock_simulated(mutex);
    else
        slri_native_lock(mutex);
}

void slri_mutex_unlock(slri_mutex *mutex)
{
    slri_native_unlock(mutex);
    if (slri_sim_on())
        slri_sim_wake(mutex, UINT32_MAX);
}

#define SIMULATED_CORES 2 // on every machine: a seed is to do the same everywhere

unsigned slri_core_count(void)
{
    if (slri_sim_on() && !slri_sim_in_turns())
        return SIMULATED_CORES;
    static unsigned cores; // racing threads store the same
    unsigned known = __atomic_load_n(&cores, __ATOMIC_RELAXED);
    if (known == 0) {
        known = slri_system_cores();
        __atomic_store_n(&cores, known, __ATOMIC_RELAXED);
    }
    return known;
}

void slri_yield(void)
{
    if (slri_sim_on())
        slri_sim_yield();
    else
        slri_system_yield();
}

void slri_sleep_ns(uint64_t duration_ns)
{
    uint64_t until_ns = slri_now_ns() + duration_ns;
    if (slri_sim_on())
        slri_sim_block(&until_ns, until_ns);
    else
        slri_system_sleep_until(until_ns);
}
