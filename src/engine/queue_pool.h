// SPDX-License-Identifier: Apache-2.0
// The threads that do the work of streams. They are not the workers of ring kernels: those poll, and a copy or a kernel
// of some milliseconds would keep their messages waiting.
#ifndef SLRI_ENGINE_QUEUE_POOL_H
#define SLRI_ENGINE_QUEUE_POOL_H

#include "base/thread.h"
#include "hal/hal.h"

#include <slipring/allocator.h>

struct slri_queue_pool_thread;

struct slri_queue_pool {
    const slr_allocator *allocator;
    uint32_t most; // threads that do commands at the same time
    slri_mutex lock;
    // Under it.
    struct slri_ready { // in order of arrival
        struct slri_queue *first, *last;
    } ready[256];          // by priority
    uint32_t some[8];      // a bit a priority: there are some
    uint32_t busy;         // threads that do commands, without those in a function of the host
    uint32_t idle, parked; // threads that look for work or sleep; of those, the ones asleep and not called
    struct slri_queue_pool_thread *threads, *sleepers;

    uint32_t waiting; // atomic: queues in `ready`; changed under the lock
    uint32_t stop;    // atomic
};

void slri_queue_pool_init(struct slri_queue_pool *pool, uint32_t most, const slr_allocator *allocator);
slr_status
slri_queue_pool_start(struct slri_queue_pool *pool);     // the first thread, so that a lack of them is said early
void slri_queue_pool_stop(struct slri_queue_pool *pool); // no queue may have work any more
void slri_queue_pool_add(struct slri_queue_pool *pool, struct slri_queue *queue);
// The function of the host that a call or a task is, in a thread of the pool. `before`: what has failed before it.
void slri_queue_pool_call(struct slri_queue_pool *pool, const struct slri_command *command, slr_status before);
slr_status slri_queue_pool_task(struct slri_queue_pool *pool, const struct slri_command *command);

#endif
