// SPDX-License-Identifier: Apache-2.0
// WebAssembly by Emscripten, in a page or another JavaScript engine. Without threads the tasks of base/sim.h take
// turns.
#define _GNU_SOURCE
#include "base/system.h"

#include "base/wasm/carriers.h"

#include <emscripten.h>
#include <emscripten/threading.h>
#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#if defined(__EMSCRIPTEN_PTHREADS__)

// Emscripten's clock is set by a message as each thread starts, and so is off by what that took. The origins of all
// threads' clocks are on one line.
EM_JS(double, page_now_ms, (double began_ms), { return performance.timeOrigin + performance.now() - began_ms; })

// A browser rounds each thread's clock by a chance of its own: nobody is shown less than somebody was. Relaxed: the
// number guards nothing.
uint64_t slri_system_now_ns(void)
{
    static double began_ms; // the page's own thread looks first, before there is another
    static uint64_t latest_ns;
    if (began_ms == 0)
        began_ms = page_now_ms(1);
    const uint64_t now_ns = (uint64_t)(page_now_ms(began_ms) * 1e6);
    uint64_t latest = __atomic_load_n(&latest_ns, __ATOMIC_RELAXED);
    while (latest < now_ns)
        if (__atomic_compare_exchange_n(&latest_ns, &latest, now_ns, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED))
            return now_ns;
    return latest;
}

void slri_system_sleep_until(uint64_t until_ns)
{
    for (uint64_t now_ns; (now_ns = slri_system_now_ns()) < until_ns;)
        emscripten_thread_sleep((double)(until_ns - now_ns) / 1e6);
}

// WebAssembly cannot give its core away but by a sleep, which takes longer than what is waited for.
void slri_system_yield(void)
{
}

bool slri_system_has_threads(void)
{
    return true;
}

int slri_system_create_thread(pthread_t *handle, void *(*body)(void *), void *arg)
{
    return slri_carriers_run(handle, body, arg);
}

void slri_system_join_thread(pthread_t handle)
{
    slri_carriers_join(handle);
}

void slri_system_detach_self(void)
{
    slri_carriers_detach_self();
}

unsigned slri_system_cores(void)
{
    return slri_carriers_cores();
}

#else

uint64_t slri_system_now_ns(void)
{
    return (uint64_t)(emscripten_get_now() * 1e6);
}

// A page has no call that sleeps: who asked for a result has nothing else to do until then.
void slri_system_sleep_until(uint64_t until_ns)
{
    while (slri_system_now_ns() < until_ns) {
    }
}

void slri_system_yield(void)
{
}

bool slri_system_has_threads(void)
{
    return false;
}

int slri_system_create_thread(pthread_t *handle, void *(*body)(void *), void *arg)
{
    (void)handle, (void)body, (void)arg;
    return EAGAIN;
}

void slri_system_join_thread(pthread_t handle)
{
    (void)handle; // there is none
}

void slri_system_detach_self(void)
{
}

unsigned slri_system_cores(void)
{
    return 1;
}

#endif

void slri_system_name_thread(const char *name)
{
    (void)name;
}

uint32_t slri_system_thread_id(void)
{
    return (uint32_t)(uintptr_t)pthread_self();
}

void *slri_system_allocate(size_t bytes, size_t alignment)
{
    return alignment > _Alignof(max_align_t) ? aligned_alloc(alignment, bytes) : malloc(bytes);
}

void slri_system_free(void *memory)
{
    free(memory);
}

// By crypto.getRandomValues, in pieces of what it gives at once.
bool slri_system_random(void *out, size_t bytes)
{
    const size_t most = 256;
    for (size_t at = 0; at < bytes; at += most)
        if (getentropy((char *)out + at, bytes - at < most ? bytes - at : most) != 0)
            return false;
    return true;
}

bool slri_system_gives_more_rights(void)
{
    return false;
}

bool slri_system_environment_is_empty(void)
{
    return true;
}

bool slri_system_set_variable(const char *name, const char *value)
{
    return setenv(name, value, 0) == 0;
}

int slri_system_sync(int fd)
{
    (void)fd; // files lie in memory
    return 0;
}

int slri_system_pipe(int ends[2])
{
    return pipe(ends);
}

// A page is a process of its own.
uint32_t slri_system_place(void)
{
    return 0;
}

bool slri_system_process_has_ended(long id)
{
    (void)id;
    return false;
}
