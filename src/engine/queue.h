// SPDX-License-Identifier: Apache-2.0
// A queue of submissions, done in order. It holds the one rule of waits: a submission begins when it is the first of
// its queue and all points it waits for have passed. engine/stream.h does its commands, in a thread of the pool.
//
// Points are submitted before they are waited for, so waits among queues alone make no cycle. A host function that
// waits can: slri_queue_wait looks, and refuses.
#ifndef SLRI_ENGINE_QUEUE_H
#define SLRI_ENGINE_QUEUE_H

#include "base/thread.h"
#include "engine/stream.h"

struct slri_queue {
    struct slri_stream stream;
    uint32_t priority;             // 0 to 255, the highest first
    struct slri_queue *next_ready; // the pool's, while it is ready

    // Under the lock of all queues.
    struct slri_submission *first, *last;
    uint64_t submitted;                         // the newest value
    bool claimed;                               // it was ready, and slri_queue_step has not given false since
    uint32_t awaited;                           // how many refer to points of it: keeps it from being freed
    void (*orphaned)(struct slri_queue *queue); // NULL, or frees it when `awaited` comes to 0: its device has gone
    struct slri_queue *blocked;      // queues whose first submission waits for this one; linked by next_blocked
    struct slri_queue *next_blocked; // in another's list
    struct slri_after blocked_by;    // that its host function waits for now
    uint64_t search, searched_up_to; // marks of the search for a cycle
    struct slri_stamp *stamp;        // those behind which nothing has begun
    uint64_t armed_ns;               // where there is one: since when the first submission may begin
    slr_status failed;               // atomic: or SLR_OK; nothing is done behind a failure
    uint64_t failed_value;
    char why[256];

    // Of who has claimed it: how many submissions from the first on the device was given (queue_ahead.c); and how
    // beginning the last of them has failed, or SLR_OK.
    uint32_t begun;
    slr_status begin_failed;

    // Of the submission that is being done, where the device says it better than the host: its stream's. 0: it does
    // not.
    uint64_t began_ns, ended_ns;
    uint64_t device_ns;    // and of its present command: how long the device was at it
    struct slri_site site; // who submitted it, where somebody watches
    bool is_timed;         // atomic: it has had a stamp, so somebody wants those

    uint64_t done;    // atomic: all up to here has been done
    uint64_t wanted;  // atomic: the lowest value for which host threads sleep; 0: none
    uint32_t changes; // a futex; atomic: changes when they are woken
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

// queue_ahead.c, for who has claimed the queue. Gives the device a submission of which slri_stream_goes_ahead is true,
// and which is first.
void slri_queue_begin(struct slri_queue *queue, const struct slri_submission *submission);
// Waits for the first, which was begun, after the device was given those behind it that it can be given. `before`: what
// has failed before it, or SLR_OK; gives that, or how the first has failed.
slr_status slri_queue_await_first(struct slri_queue *queue, slr_status before);
// What the calling thread's last error says becomes the queue's.
void slri_queue_note_why(struct slri_queue *queue);

// Whether that is a stamp, which needs no turn of its own. For who calls slri_queue_step.
static inline bool slri_queue_at_stamp(const struct slri_queue *queue)
{
    return queue->first->commands == 1 && queue->first->command->op == SLRI_STAMP;
}

// The stream's, while a submission is done: commands of it ran on the device from then to then.
static inline void slri_queue_note_span(struct slri_queue *queue, uint64_t from_ns, uint64_t to_ns)
{
    if (queue->began_ns == 0)
        queue->began_ns = from_ns;
    queue->ended_ns = to_ns;
    queue->device_ns += to_ns - from_ns;
}

// The stamp is used no more: whoever has it may free it. Of a stamp whose submission has passed, or is being settled.
void slri_queue_forget_stamp(struct slri_queue *queue, struct slri_stamp *stamp);

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

// Before the first submission to it, with its priority set; and when nothing is in it any more.
slr_status slri_queue_open(struct slri_queue *queue, struct slri_queue_device *of);
void slri_queue_close(struct slri_queue *queue);

#endif
