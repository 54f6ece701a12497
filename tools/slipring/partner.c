// SPDX-License-Identifier: Apache-2.0
#include "partner.h"

#include "clock.h"
#include "measure.h"
#include "spin.h"
#include "system.h"

#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>

enum { MOST_CORES = 1024 };
enum { PROBE_BATCHES = 15, PROBE_ROUNDS = 128 };

struct partner {
    int cores[MOST_CORES]; // the caller's, the other, and more that it may use
    unsigned count;
    pthread_t thread;
    pthread_mutex_t mutex;
    pthread_cond_t changed;
    void (*job)(void *context); // under the mutex; NULL: none
    void *context;
    bool end;
    uint32_t given;                  // jobs
    _Alignas(128) uint32_t finished; // jobs
    _Alignas(128) uint32_t ping;
    _Alignas(128) uint32_t pong;
};

static void *body(void *argument)
{
    partner *partner = argument;
    system_pin(partner->cores[1]);
    pthread_mutex_lock(&partner->mutex);
    while (!partner->end) {
        if (partner->job == NULL) {
            pthread_cond_wait(&partner->changed, &partner->mutex);
            continue;
        }
        void (*job)(void *) = partner->job;
        partner->job = NULL;
        pthread_mutex_unlock(&partner->mutex);
        job(partner->context);
        // Release: what the job wrote, for partner_join.
        __atomic_store_n(&partner->finished, partner->finished + 1, __ATOMIC_RELEASE);
        pthread_mutex_lock(&partner->mutex);
    }
    pthread_mutex_unlock(&partner->mutex);
    return NULL;
}

partner *partner_start(void)
{
    partner *made = system_aligned(128, sizeof(partner));
    if (made == NULL)
        return NULL;
    *made = (partner){.mutex = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER};
    made->count = system_cores(made->cores, MOST_CORES);
    if (made->count < 2 || pthread_create(&made->thread, NULL, body, made) != 0) {
        system_free(made);
        return NULL;
    }
    system_pin(made->cores[0]);
    return made;
}

void partner_stop(partner *partner)
{
    if (partner == NULL)
        return;
    pthread_mutex_lock(&partner->mutex);
    partner->end = true;
    pthread_cond_signal(&partner->changed);
    pthread_mutex_unlock(&partner->mutex);
    pthread_join(partner->thread, NULL);
    partner_free_caller(partner);
    system_free(partner);
}

int partner_caller_core(const partner *partner)
{
    return partner->cores[0];
}

int partner_other_core(const partner *partner)
{
    return partner->cores[1];
}

void partner_move_caller(partner *partner, bool to_other)
{
    system_pin(partner->cores[to_other]);
}

void partner_free_caller(partner *partner)
{
    system_unpin(partner->cores, partner->count);
}

void partner_run(partner *partner, void (*job)(void *context), void *context)
{
    pthread_mutex_lock(&partner->mutex);
    partner->job = job;
    partner->context = context;
    partner->given++;
    pthread_cond_signal(&partner->changed);
    pthread_mutex_unlock(&partner->mutex);
}

void partner_join(partner *partner)
{
    // Acquire: what the job wrote.
    while (__atomic_load_n(&partner->finished, __ATOMIC_ACQUIRE) != partner->given)
        spin_pause();
}

// The far end of the ping-pong.
static void answer(void *context)
{
    partner *partner = context;
    for (uint32_t i = 1; i <= PROBE_BATCHES * PROBE_ROUNDS; i++) {
        while (__atomic_load_n(&partner->ping, __ATOMIC_ACQUIRE) != i)
            ;
        __atomic_store_n(&partner->pong, i, __ATOMIC_RELEASE);
    }
}

double partner_probe_ns(partner *partner)
{
    double batches[PROBE_BATCHES];
    uint32_t round = 0;
    partner->ping = partner->pong = 0;
    partner_run(partner, answer, partner);
    for (int batch = 0; batch < PROBE_BATCHES; batch++) {
        uint64_t start = clock_ns();
        for (int i = 0; i < PROBE_ROUNDS; i++) {
            __atomic_store_n(&partner->ping, ++round, __ATOMIC_RELEASE);
            while (__atomic_load_n(&partner->pong, __ATOMIC_ACQUIRE) != round)
                ;
        }
        batches[batch] = (double)(clock_ns() - start) / PROBE_ROUNDS;
    }
    partner_join(partner);
    measure_sort(batches, PROBE_BATCHES);
    return measure_quantile(batches, PROBE_BATCHES, 0.5);
}
