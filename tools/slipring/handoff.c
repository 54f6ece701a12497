// SPDX-License-Identifier: Apache-2.0
#include "handoff.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>

struct handoff {
    pthread_t thread;
    pthread_mutex_t mutex;
    pthread_cond_t given, done;
    void (*work)(void *context, void *item);
    void *context;
    void *item; // under the mutex; NULL: none
    bool end;
};

static void *body(void *argument)
{
    handoff *handoff = argument;
    pthread_mutex_lock(&handoff->mutex);
    while (!handoff->end) {
        if (handoff->item == NULL) {
            pthread_cond_wait(&handoff->given, &handoff->mutex);
            continue;
        }
        handoff->work(handoff->context, handoff->item);
        handoff->item = NULL;
        pthread_cond_signal(&handoff->done);
    }
    pthread_mutex_unlock(&handoff->mutex);
    return NULL;
}

handoff *handoff_start(void (*work)(void *context, void *item), void *context)
{
    handoff *made = malloc(sizeof *made);
    if (made == NULL)
        return NULL;
    *made = (handoff){.mutex = PTHREAD_MUTEX_INITIALIZER,
                      .given = PTHREAD_COND_INITIALIZER,
                      .done = PTHREAD_COND_INITIALIZER,
                      .work = work,
                      .context = context};
    if (pthread_create(&made->thread, NULL, body, made) != 0) {
        free(made);
        return NULL;
    }
    return made;
}

void handoff_do(handoff *handoff, void *item)
{
    pthread_mutex_lock(&handoff->mutex);
    handoff->item = item;
    pthread_cond_signal(&handoff->given);
    while (handoff->item != NULL)
        pthread_cond_wait(&handoff->done, &handoff->mutex);
    pthread_mutex_unlock(&handoff->mutex);
}

void handoff_stop(handoff *handoff)
{
    if (handoff == NULL)
        return;
    pthread_mutex_lock(&handoff->mutex);
    handoff->end = true;
    pthread_cond_signal(&handoff->given);
    pthread_mutex_unlock(&handoff->mutex);
    pthread_join(handoff->thread, NULL);
    pthread_cond_destroy(&handoff->given);
    pthread_cond_destroy(&handoff->done);
    pthread_mutex_destroy(&handoff->mutex);
    free(handoff);
}
