// SPDX-License-Identifier: Apache-2.0
/// Threads, mutexes, and the ways to wait a moment.
#ifndef SLRI_BASE_THREAD_H
#define SLRI_BASE_THREAD_H

#include <slipring/status.h>

#include <pthread.h>
#include <stdint.h>
#if defined(__APPLE__)
#include <os/lock.h>
#endif

/// In the caller's memory; it must not move between start and join.
typedef struct slri_thread {
    pthread_t handle;
    struct slri_sim_task *simulated; // instead (sim.h)
    void (*body)(void *arg);
    void *arg;
    char name[16]; // what Linux keeps of a thread's name, with the NUL
} slri_thread;

/// Runs `body(arg)` on a new thread, which receives no signals (they are the application's). Longer names are cut to 15
/// characters. Errors: SYSTEM (no thread to be had).
slr_status slri_thread_start(slri_thread *thread, const char *name, void (*body)(void *arg), void *arg);

/// Waits until the body has returned. Once for each started thread.
void slri_thread_join(slri_thread *thread);

/// For a thread that nobody will join: it leaves nothing behind when it ends.
void slri_thread_detach_self(void);

/// Short critical sections off the message path. Not recursive. On macOS a mutex of POSIX has 64 bytes, and is fair.
typedef struct slri_mutex {
#if defined(__APPLE__)
    os_unfair_lock native;
#define SLRI_NATIVE_INIT OS_UNFAIR_LOCK_INIT
#elif defined(__EMSCRIPTEN__) && !defined(__EMSCRIPTEN_PTHREADS__)
    unsigned native;             // 1: locked by a task (sim.h)
#define SLRI_NATIVE_INIT 0
#else
    pthread_mutex_t native;
#define SLRI_NATIVE_INIT PTHREAD_MUTEX_INITIALIZER
#endif
} slri_mutex;

#define SLRI_MUTEX_INIT                                                                                                \
    {                                                                                                                  \
        SLRI_NATIVE_INIT                                                                                               \
    } // for objects with static storage

void slri_mutex_init(slri_mutex *mutex);
void slri_mutex_destroy(slri_mutex *mutex);
void slri_mutex_lock(slri_mutex *mutex);
void slri_mutex_unlock(slri_mutex *mutex);

/// Cores this process may run on, at least 1: the affinity mask of the thread that asks first, which is the one that
/// opens the first device. A thread that pins itself later does not make it a machine of one core.
unsigned slri_core_count(void);

/// Tells the core that this is a spin loop.
static inline void slri_pause(void)
{
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    __asm__ __volatile__("isb"); // `yield` is a no-op on most cores; isb waits about as long as x86's pause
#endif
}

/// Asks for a cache line that will be read. A hint, never a fault. In assembly, because gcc 12 takes a function that
/// only prefetches for one without effect, and drops its calls.
static inline void slri_fetch_to_read(const void *line)
{
    (void)line; // other CPUs get no hint
#if defined(__x86_64__)
    __asm__ __volatile__("prefetcht0 (%0)" : : "r"(line));
#elif defined(__aarch64__)
    __asm__ __volatile__("prfm pldl1keep, [%0]" : : "r"(line));
#endif
}

/// Likewise for one that will be written: it is taken from the core that has it. x86-64 CPUs without PREFETCHW take it
/// for a no-op (Intel SDM, volume 2).
static inline void slri_fetch_to_write(const void *line)
{
    (void)line; // other CPUs get no hint
#if defined(__x86_64__)
    __asm__ __volatile__("prefetchw (%0)" : : "r"(line));
#elif defined(__aarch64__)
    __asm__ __volatile__("prfm pstl1keep, [%0]" : : "r"(line));
#endif
}

/// What was stored before it is seen before what is stored after it, also where that is write-combined memory behind a
/// bus. On CPUs for which we have not seen to that it is a full fence alone.
static inline void slri_order_bus_stores(void)
{
#if defined(__x86_64__)
    __builtin_ia32_sfence();
#else
    __atomic_thread_fence(__ATOMIC_SEQ_CST);
#endif
}

/// Lets another thread that is ready run on this core.
void slri_yield(void);

/// Sleeps at least this long, interrupted or not.
void slri_sleep_ns(uint64_t duration_ns);

#endif
