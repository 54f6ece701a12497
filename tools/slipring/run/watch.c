// SPDX-License-Identifier: Apache-2.0
// A thread that reads the ring kernel once a second: the one that streams may be waiting for input, or for a handler.
#include "run/watch.h"

#include "clock.h"
#include "memory.h"
#include "ring_stats.h"
#include "system.h"

#include <pthread.h>
#include <stdlib.h>

struct run_watch {
    slr_ring *ring;
    const char *name;
    FILE *to;
    pthread_t thread;
    pthread_mutex_t mutex;
    pthread_cond_t changed;
    bool end;            // under the mutex
    ring_stats reads[2]; // this one and the one before, in turn
};

static void print_line(run_watch *watch, unsigned turn)
{
    ring_stats *now = &watch->reads[turn % 2];
    if (!ring_stats_read(watch->ring, now))
        return;
    json_t *object = ring_stats_json(watch->name, &watch->reads[(turn + 1) % 2], now);
    char *text = json_dumps(object, JSON_REAL_PRECISION(9));
    if (text != NULL)
        fprintf(watch->to, "%s\n", text); // one call: a message of another thread does not get into it
    fflush(watch->to);
    free(text);
    json_decref(object);
}

static void *body(void *argument)
{
    run_watch *watch = argument;
    uint64_t next_ns = clock_ns();
    pthread_mutex_lock(&watch->mutex);
    for (unsigned turn = 0; !watch->end; turn++) {
        next_ns += SECOND_NS;
        while (!watch->end && clock_ns() < next_ns)
            system_condition_wait(&watch->changed, &watch->mutex, next_ns);
        if (!watch->end)
            print_line(watch, turn);
    }
    pthread_mutex_unlock(&watch->mutex);
    return NULL;
}

run_watch *run_watch_start(slr_ring *ring, const char *name, FILE *to)
{
    run_watch *watch = memory_take(1, sizeof *watch);
    watch->ring = ring;
    watch->name = name;
    watch->to = to;
    pthread_mutex_init(&watch->mutex, NULL);
    system_condition_init(&watch->changed);
    if (pthread_create(&watch->thread, NULL, body, watch) == 0)
        return watch;
    pthread_cond_destroy(&watch->changed);
    pthread_mutex_destroy(&watch->mutex);
    free(watch);
    return NULL;
}

void run_watch_stop(run_watch *watch)
{
    if (watch == NULL)
        return;
    pthread_mutex_lock(&watch->mutex);
    watch->end = true;
    pthread_cond_signal(&watch->changed);
    pthread_mutex_unlock(&watch->mutex);
    pthread_join(watch->thread, NULL);
    pthread_cond_destroy(&watch->changed);
    pthread_mutex_destroy(&watch->mutex);
    free(watch);
}
