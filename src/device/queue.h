// SPDX-License-Identifier: Apache-2.0
// A queue of submissions, done in order: what a stream is to a backend that has none of its own. It holds the one rule
// of waits: a submission begins when it is the first of its queue and all points it waits for have passed. A backend
// says where the commands run: `ready` is told that somebody must call slri_queue_step, and `run` does one command.
//
// Points are submitted before they are waited for, so waits among queues alone make no cycle. A host function that
// waits can: slri_queue_wait looks, and refuses.
#ifndef SLRI_DEVICE_QUEUE_H
#define SLRI_DEVICE_QUEUE_H

#include "base/thread.h"
#include "device/backend.h"

struct slri_queue_runner {
    // The queue's first submission may begin: slri_queue_step must be called, by one thread at a time, until it gives
    // false. Called without a lock, in the thread that submits or has done what was waited for.
    void (*ready)(struct slri_queue *queue);
    // `before` is what has failed before it, or SLR_OK; then only a call and a stamp are run.
    slr_status (*run)(void *device, const struct slri_command *command, slr_status before);
    // NULL, or behind the last command of a submission: waits until those that `run` has only begun are done.
    slr_status (*finish)(void *device);
};

struct slri_queue {
    const struct slri_queue_runner *runner; // the backend's, set by queue_open
    void *device, *native;                  // the backend's; `native` goes with queue_close
    uint32_t priority;                      // 0 to 255, the highest first
    struct slri_queue *next_ready;          // the backend's, from `ready` on

    // Under the lock of all queues.
    struct slri_submission *first, *last;
    uint64_t submitted;                         // the newest value
    bool claimed;                               // `ready` was told, and slri_queue_step has not given false since
    uint32_t awaited;                           // how many refer to points of it: keeps it from being freed
    void (*orphaned)(struct slri_queue *queue); // NULL, or frees it when `awaited` comes to 0: its device has gone
    struct slri_queue *blocked;      // queues whose first submission waits for this one; linked by next_blocked
    struct slri_queue *next_blocked; // in another's list
    struct slri_after blocked_by;    // that its host function waits for now
    uint64_t search, searched_up_to; // marks of the search for a cycle
    slr_status failed;               // or SLR_OK; nothing is done behind a failure
    uint64_t failed_value;
    char why[256];

    uint64_t done;              // atomic: all up to here has been done
    uint32_t sleepers, changes; // atomic; a futex: host threads that wait
};

// The lock of all queues of all devices: a wait may cross devices, and is one rule.
void slri_queues_lock(void);
void slri_queues_unlock(void);

// Appends a submission, whose value it sets. The points it waits for must have been submitted. Errors: what `prepare`
// gives.
slr_status slri_queue_push(struct slri_submission *submission);

// Does the first submission. True when there is another that may begin: call it again. False: the queue is no longer
// the caller's, and may be gone.
bool slri_queue_step(struct slri_queue *queue);

// Under the lock: gives up one of `awaited`.
void slri_queue_forgo(struct slri_queue *queue);

// Acquire: what the commands up to `value` wrote.
static inline bool slri_queue_passed(const struct slri_queue *queue, uint64_t value)
{
    return __atomic_load_n(&queue->done, __ATOMIC_ACQUIRE) >= value;
}

// Waits until `value` has passed. Errors: TIMEOUT; WRONG_STATE (the calling host function would wait for itself); what
// failed first at or before it.
slr_status slri_queue_wait(struct slri_queue *queue, uint64_t value, uint64_t deadline_ns);

// The queue whose host function the calling thread is in, or NULL.
struct slri_queue *slri_queue_current(void);

// For backends: a submission to a queue is appended; one without is done here, under `own` where that is not NULL.
slr_status slri_queue_submit(void *device, struct slri_submission *submission, const struct slri_queue_runner *runner,
                             slri_mutex *own);
// The `native` of the queue that the calling thread works for; `own` where it works for none of the device's.
void *slri_queue_native(const void *device, void *own);

#endif
