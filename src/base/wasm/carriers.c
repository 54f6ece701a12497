// SPDX-License-Identifier: Apache-2.0
// The threads of a page that has some.
#include "base/wasm/carriers.h"

#if defined(__EMSCRIPTEN_PTHREADS__)

#include "base/clock.h"
#include "base/futex.h"

#include <emscripten.h>
#include <errno.h>
#include <stdbool.h>

enum { MOST_CARRIERS = 256 };
enum state { FREE, TAKEN, RUNS, ENDED }; // TAKEN: its words are being written

struct carrier {
    uint32_t state;    // an enum state, and what is slept on
    uint32_t detached; // written by its own thread alone
    void *(*body)(void *arg);
    void *arg;
};

static struct carrier carrier[MOST_CARRIERS];
static uint32_t count, cores = 1; // written before there is a second thread
static _Thread_local struct carrier *own;

// Acquire: the body and its argument.
static void await_body(struct carrier *self)
{
    uint32_t state;
    while ((state = __atomic_load_n(&self->state, __ATOMIC_ACQUIRE)) != RUNS)
        slri_futex_wait(&self->state, state, SLRI_FOREVER);
}

static void *carry(void *arg)
{
    struct carrier *self = own = arg;
    for (;;) {
        await_body(self);
        self->detached = 0;
        self->body(self->arg);
        slri_thread_end_now();
        // Release: all that the body did, for who joins, and for the next body.
        __atomic_store_n(&self->state, self->detached ? FREE : ENDED, __ATOMIC_RELEASE);
        slri_futex_wake(&self->state, UINT32_MAX);
    }
    return NULL;
}

EMSCRIPTEN_KEEPALIVE uint32_t slri_carriers_begin(uint32_t has_cores, uint32_t carriers)
{
    cores = has_cores;
    (void)slri_now_ns(); // see there
    for (uint32_t i = count; i < carriers && i < MOST_CARRIERS; ++i) {
        pthread_t thread;
        if (pthread_create(&thread, NULL, carry, &carrier[i]) != 0)
            break;
        count = i + 1;
    }
    return count;
}

uint32_t slri_carriers_cores(void)
{
    return cores;
}

int slri_carriers_run(pthread_t *handle, void *(*body)(void *), void *arg)
{
    for (uint32_t i = 0; i < count; ++i) {
        uint32_t state = FREE;
        // Acquire: the last body has ended.
        if (!__atomic_compare_exchange_n(&carrier[i].state, &state, TAKEN, false, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED))
            continue;
        carrier[i].body = body;
        carrier[i].arg = arg;
        *handle = (pthread_t)&carrier[i];
        __atomic_store_n(&carrier[i].state, RUNS, __ATOMIC_RELEASE); // the words above
        slri_futex_wake(&carrier[i].state, 1);
        return 0;
    }
    return EAGAIN;
}

void slri_carriers_join(pthread_t handle)
{
    struct carrier *joined = (struct carrier *)handle;
    uint32_t state;
    // Acquire: what the body did.
    while ((state = __atomic_load_n(&joined->state, __ATOMIC_ACQUIRE)) != ENDED)
        slri_futex_wait(&joined->state, state, SLRI_FOREVER);
    __atomic_store_n(&joined->state, FREE, __ATOMIC_RELEASE);
}

void slri_carriers_detach_self(void)
{
    own->detached = 1;
}

#endif
