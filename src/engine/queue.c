// SPDX-License-Identifier: Apache-2.0
// Queues in software: order, waits between queues, host threads that wait, and the search for a wait that would never
// end. No thread of its own: one of the pool calls slri_queue_step, or, on a device without, the one that submits.
#include "engine/queue.h"

#include "base/clock.h"
#include "base/forks.h"
#include "base/futex.h"
#include "base/sim.h"
#include "base/status.h"
#include "base/text.h"
#include "engine/observe.h"

#include <stdio.h>
#include <string.h>

// One lock for all, held briefly: a wait may go from any queue to any other.
static slri_mutex lock = SLRI_MUTEX_INIT;
static uint64_t searches; // under it
SLRI_RENEW_IN_CHILD(renew_lock, &lock, NULL)

// The queue whose commands the calling thread runs; NULL: none. A simulated thread's is its own.
static _Thread_local void *of_thread;

static void **place_of_current(void)
{
    return slri_sim_on() ? slri_sim_local() : &of_thread;
}

void slri_queues_lock(void)
{
    slri_mutex_lock(&lock);
}

void slri_queues_unlock(void)
{
    slri_mutex_unlock(&lock);
}

struct slri_queue *slri_queue_current(void)
{
    return *place_of_current();
}

// ---- waits between queues: under the lock --------------------------------------------------------------------------

static void fail(struct slri_queue *queue, uint64_t value, slr_status status)
{
    queue->failed_value = value;
    __atomic_store_n(&queue->failed, status, __ATOMIC_RELAXED); // slri_queue_wait reads it without the lock
}

void slri_queue_forgo(struct slri_queue *queue)
{
    if (--queue->awaited == 0 && queue->orphaned)
        queue->orphaned(queue);
}

// Drops the first wait of a submission, which has passed. What comes behind a failure has failed too.
static void drop_wait(struct slri_submission *submission)
{
    struct slri_queue *other = submission->wait->queue, *own = submission->queue;
    if (other->failed != SLR_OK && submission->wait->value >= other->failed_value && own->failed == SLR_OK) {
        fail(own, submission->value, other->failed);
        memcpy(own->why, other->why, sizeof own->why);
    }
    ++submission->wait;
    --submission->waits;
    slri_queue_forgo(other);
}

// The first submission may begin. A stamp is a time between two others: what its own thread would see, when it gets a
// turn, is later by what the device does for other queues meanwhile.
static void note_ready(struct slri_queue *queue, uint64_t ended_ns)
{
    bool at_stamp = slri_queue_at_stamp(queue);
    if (!at_stamp && !queue->stamp)
        return;
    uint64_t ready_ns = ended_ns != 0 ? ended_ns : slri_now_ns();
    queue->armed_ns = ready_ns;
    if (!at_stamp)
        return;
    struct slri_stamp *stamp = queue->first->command->stamp;
    if (stamp->reached_ns < ready_ns) // not before it was recorded
        stamp->reached_ns = ready_ns;
    stamp->next = queue->stamp;
    queue->stamp = stamp;
}

// The first submission is done; at `began_ns` it began. Whoever subtracts stamps reads them without the lock.
static void note_begun(struct slri_queue *queue, uint64_t began_ns)
{
    uint64_t queued_ns = began_ns > queue->armed_ns ? began_ns - queue->armed_ns : 0;
    while (queue->stamp) {
        struct slri_stamp *stamp = queue->stamp;
        queue->stamp = stamp->next;
        __atomic_store_n(&stamp->queued_ns, queued_ns, __ATOMIC_RELAXED);
        __atomic_store_n(&stamp->began_ns, began_ns, __ATOMIC_RELEASE); // behind what it says is there
    }
}

void slri_queue_forget_stamp(struct slri_queue *queue, struct slri_stamp *stamp)
{
    slri_mutex_lock(&lock);
    struct slri_stamp **at = &queue->stamp;
    while (*at && *at != stamp)
        at = &(*at)->next;
    if (*at)
        *at = stamp->next;
    slri_mutex_unlock(&lock);
}

// Whether the queue's first submission may begin; if not, the queue is in the list of the one that it waits for.
// `ended_ns`: when the device did the one before it, if that says so; 0: not, or long ago.
static bool arm(struct slri_queue *queue, uint64_t ended_ns)
{
    struct slri_submission *first = queue->first;
    if (first->waits != 0)
        ended_ns = 0;
    while (first->waits != 0) {
        struct slri_queue *other = first->wait->queue;
        if (!slri_queue_passed(other, first->wait->value)) {
            queue->next_blocked = other->blocked;
            other->blocked = queue;
            return false;
        }
        drop_wait(first);
    }
    note_ready(queue, ended_ns);
    queue->claimed = true;
    return true;
}

// Takes those queues off the list that may go on; gives them linked by next_blocked.
static struct slri_queue *unblock(struct slri_queue *queue)
{
    struct slri_queue *waiting = queue->blocked, *ready = NULL;
    queue->blocked = NULL;
    while (waiting) {
        struct slri_queue *each = waiting;
        waiting = each->next_blocked;
        if (!arm(each, 0))
            continue;
        each->next_blocked = ready;
        ready = each;
    }
    return ready;
}

// ---- submissions ---------------------------------------------------------------------------------------------------

// Each keeps its queue until it is dropped.
static void hold_waits(struct slri_submission *submission)
{
    for (uint32_t i = 0; i < submission->waits; ++i)
        ++submission->wait[i].queue->awaited;
}

// Of a submission that is a stamp: that it was not reached before now.
static void begin_stamp(const struct slri_submission *submission)
{
    submission->command->stamp->reached_ns = slri_now_ns();
    __atomic_store_n(&submission->queue->is_timed, true, __ATOMIC_RELAXED); // a hint for its stream
}

// slri_queue_step must be called, by one thread at a time, until it gives false. Without the lock, in the thread that
// submits or has done what was waited for.
static void make_ready(struct slri_queue *queue)
{
    struct slri_queue_device *of = queue->stream.of;
    if (of->facts.threads != 0)
        slri_queue_pool_add(&of->pool, queue);
    else
        while (slri_queue_step(queue)) {
        }
}

slr_status slri_queue_push(struct slri_submission *submission)
{
    struct slri_queue *queue = submission->queue;
    SLRI_TRY(slri_queue_device_check_process(queue->stream.of));
    submission->next = NULL;
    slri_mutex_lock(&lock);
    submission->value = queue->submitted + 1;
    slr_status status = submission->prepare ? submission->prepare(submission) : SLR_OK;
    if (status != SLR_OK) {
        slri_mutex_unlock(&lock);
        return status;
    }
    ++queue->submitted;
    if (submission->told)
        *submission->told = submission->value;
    hold_waits(submission);
    bool was_empty = queue->first == NULL;
    if (was_empty)
        queue->first = submission;
    else
        queue->last->next = submission;
    queue->last = submission;
    bool stamps = submission->commands == 1 && submission->command->op == SLRI_STAMP;
    if (stamps)
        begin_stamp(submission);
    bool ready = was_empty && !queue->claimed && arm(queue, 0);
    bool begins = ready && !stamps && !queue->stamp && queue->failed == SLR_OK;
    slri_mutex_unlock(&lock);
    if (ready && stamps) // nobody need be woken
        ready = slri_queue_step(queue);
    else if (begins && slri_stream_begins_at_once(&queue->stream, submission))
        slri_queue_begin(queue, submission); // the device need not wait until one of the pool's has come
    if (ready)
        make_ready(queue);
    return SLR_OK;
}

void slri_queue_note_why(struct slri_queue *queue)
{
    // Read by nobody before `failed` is set, under the lock.
    slri_text_fit(queue->why, sizeof queue->why, slr_error_message());
}

// Behind a failure only what must be told of it is done. The first failure is what counts. Inline: with `begin` 0 there
// is nothing of watching in it.
__attribute__((always_inline)) static inline slr_status
run_each(struct slri_stream *stream, const struct slri_submission *submission, slr_status status, uint64_t begin)
{
    for (uint32_t i = 0; i < submission->commands; ++i) {
        const struct slri_command *command = &submission->command[i];
        if (status != SLR_OK && command->op != SLRI_CALL)
            continue;
        if (begin != 0) {
            submission->queue->device_ns = 0;
            submission->queue->site = submission->site;
        }
        slr_status got = slri_stream_run(stream, command, status);
        if (begin != 0 && got == SLR_OK)
            got = slri_stream_finish(stream); // watched, each takes what it takes
        if (begin != 0)
            begin = slri_observe_command(NULL, submission->queue, command, begin);
        if (status != SLR_OK || got == SLR_OK)
            continue;
        status = got;
        slri_queue_note_why(submission->queue);
    }
    slr_status got = slri_stream_finish(stream);
    if (status == SLR_OK && got != SLR_OK) {
        status = got;
        slri_queue_note_why(submission->queue);
    }
    return status;
}

static __attribute__((noinline)) slr_status run_watched(struct slri_stream *stream,
                                                        const struct slri_submission *submission, slr_status status)
{
    return run_each(stream, submission, status, slri_tick());
}

static slr_status run_commands(struct slri_stream *stream, const struct slri_submission *submission, slr_status status)
{
    if (slri_is_observed())
        return run_watched(stream, submission, status);
    return run_each(stream, submission, status, 0);
}

static slr_status run_first(struct slri_queue *queue, const struct slri_submission *first, slr_status before)
{
    if (queue->begun == 0 && (before != SLR_OK || !slri_stream_goes_ahead(&queue->stream, first)))
        return run_commands(&queue->stream, first, before);
    if (queue->begun == 0)
        slri_queue_begin(queue, first);
    return slri_queue_await_first(queue, before);
}

// Threads that announced before the fence a value that has passed are woken; those behind it see the new value. Under
// the lock, so that the queue is not freed before this has been its last touch. Waking costs some 5 us: who waits for
// the last of many submissions is not woken for each.
static void pass(struct slri_queue *queue, uint64_t value)
{
    // Release: what the commands wrote.
    __atomic_store_n(&queue->done, value, __ATOMIC_RELEASE);
    __atomic_thread_fence(__ATOMIC_SEQ_CST);
    uint64_t wanted = __atomic_load_n(&queue->wanted, __ATOMIC_RELAXED);
    if (wanted == 0 || wanted > value)
        return;
    __atomic_store_n(&queue->wanted, 0, __ATOMIC_RELAXED); // those that still have to wait announce it again
    // Release: who reads the new number before it announces does so behind the store above, which cannot undo it.
    __atomic_fetch_add(&queue->changes, 1, __ATOMIC_RELEASE);
    slri_futex_wake(&queue->changes, UINT32_MAX);
}

// Where a queue is run inside a host function of another, that one waits for this one.
// Gives the time in `begin_ns` where a stamp wants it, else 0.
static struct slri_queue *enter(struct slri_queue *queue, slr_status *status, uint64_t *begin_ns)
{
    struct slri_queue *outer = slri_queue_current();
    slri_mutex_lock(&lock);
    *status = queue->failed;
    *begin_ns = queue->stamp ? slri_now_ns() : 0;
    queue->began_ns = queue->ended_ns = 0;
    if (outer)
        outer->blocked_by = (struct slri_after){queue, queue->first->value};
    slri_mutex_unlock(&lock);
    *place_of_current() = queue;
    return outer;
}

bool slri_queue_step(struct slri_queue *queue)
{
    struct slri_submission *first = queue->first; // the caller's alone while it is claimed
    slr_status before, after;
    uint64_t begin_ns;
    bool stamps = slri_queue_at_stamp(queue);
    struct slri_queue *outer = enter(queue, &before, &begin_ns);
    after = stamps ? before : run_first(queue, first, before);
    *place_of_current() = outer;
    first->settle(first);

    slri_mutex_lock(&lock);
    if (outer)
        outer->blocked_by = (struct slri_after){0};
    if (before == SLR_OK && after != SLR_OK)
        fail(queue, first->value, after);
    if (!stamps && queue->stamp && first->commands != 0) // a wait alone is no work
        note_begun(queue, queue->began_ns != 0 ? queue->began_ns : begin_ns);
    queue->first = first->next;
    bool more = queue->first && arm(queue, queue->ended_ns);
    queue->claimed = more;
    pass(queue, first->value);
    struct slri_queue *ready = unblock(queue);
    first->forget(first);
    slri_mutex_unlock(&lock);

    while (ready) { // each has work, which keeps it
        struct slri_queue *each = ready;
        ready = each->next_blocked;
        make_ready(each);
    }
    return more;
}

// ---- life ----------------------------------------------------------------------------------------------------------

slr_status slri_queue_open(struct slri_queue *queue, struct slri_queue_device *of)
{
    if (of->facts.threads != 0)
        SLRI_TRY(slri_queue_pool_start(&of->pool));
    return slri_stream_open(&queue->stream, of, queue, queue->priority);
}

void slri_queue_close(struct slri_queue *queue)
{
    slri_stream_close(&queue->stream);
}

// ---- host threads that wait ----------------------------------------------------------------------------------------

// Whether the point can only pass after what `waiter` does now. Each queue is looked through once a search, up to the
// highest value asked for.
static bool depends(struct slri_after point, const struct slri_queue *waiter)
{
    struct slri_queue *queue = point.queue;
    if (!queue || slri_queue_passed(queue, point.value))
        return false;
    if (queue == waiter)
        return true; // its first submission is the one that is in progress
    if (queue->search == searches && queue->searched_up_to >= point.value)
        return false;
    queue->search = searches;
    queue->searched_up_to = point.value;
    if (depends(queue->blocked_by, waiter))
        return true;
    for (struct slri_submission *s = queue->first; s && s->value <= point.value; s = s->next)
        for (uint32_t i = 0; i < s->waits; ++i)
            if (depends(s->wait[i], waiter))
                return true;
    return false;
}

// Notes what the calling host function waits for, unless that waits for it.
static slr_status announce(struct slri_after point)
{
    struct slri_queue *current = slri_queue_current();
    if (!current)
        return SLR_OK;
    slri_mutex_lock(&lock);
    ++searches;
    bool never = depends(point, current);
    if (!never)
        current->blocked_by = point;
    slri_mutex_unlock(&lock);
    if (never)
        return SLRI_FAIL(WRONG_STATE,
                         "this host function waits for point %llu of its own stream, which comes after the function",
                         (unsigned long long)point.value);
    return SLR_OK;
}

static void withdraw(void)
{
    struct slri_queue *current = slri_queue_current();
    if (!current)
        return;
    slri_mutex_lock(&lock);
    current->blocked_by = (struct slri_after){0};
    slri_mutex_unlock(&lock);
}

// Some 5 us of polls, then yields for about as long as waking from a futex takes, then sleep.
#define POLLS 400
#define YIELDS 60

// The lowest value that somebody waits for is what `wanted` keeps. Relaxed: the fences order it.
static void want(struct slri_queue *queue, uint64_t value)
{
    uint64_t wanted = __atomic_load_n(&queue->wanted, __ATOMIC_RELAXED);
    while ((wanted == 0 || wanted > value) &&
           !__atomic_compare_exchange_n(&queue->wanted, &wanted, value, true, __ATOMIC_RELAXED, __ATOMIC_RELAXED)) {
    }
}

static bool sleep_until_passed(struct slri_queue *queue, uint64_t value, uint64_t deadline_ns)
{
    for (;;) {
        // Acquire: read before `wanted` and `done`, so that a change behind those ends the sleep.
        uint32_t changes = __atomic_load_n(&queue->changes, __ATOMIC_ACQUIRE);
        want(queue, value);
        __atomic_thread_fence(__ATOMIC_SEQ_CST); // announced, before the next look
        if (slri_queue_passed(queue, value))
            return true;
        if (slri_passed(deadline_ns))
            return false;
        slri_futex_wait(&queue->changes, changes, deadline_ns);
    }
}

// Of a device that does its work without this machine's cores: beside a thread that waits for the driver, which yields
// too, one more takes no core that the work needs. So a launch of some 100 us does not end with waking from a futex.
#define YIELD_NS 1000000

static bool wait_until_passed(struct slri_queue *queue, uint64_t value, uint64_t deadline_ns)
{
    uint64_t until_ns = queue->stream.of->facts.marks != 0 ? slri_now_ns() + YIELD_NS : 0;
    for (uint32_t i = slri_core_count() == 1 ? POLLS : 0; i < POLLS + YIELDS || !slri_passed(until_ns); ++i) {
        if (slri_queue_passed(queue, value))
            return true;
        if (i % 64 == 0 && slri_passed(deadline_ns))
            return false;
        if (i >= POLLS)
            slri_yield();
    }
    return sleep_until_passed(queue, value, deadline_ns);
}

slr_status slri_queue_wait(struct slri_queue *queue, uint64_t value, uint64_t deadline_ns)
{
    if (!slri_queue_passed(queue, value)) {
        if (slri_passed(deadline_ns) && deadline_ns == 0)
            return SLRI_FAIL(TIMEOUT, "the stream has not reached point %llu", (unsigned long long)value);
        SLRI_TRY(slri_queue_device_check_process(queue->stream.of));
        SLRI_TRY(announce((struct slri_after){queue, value}));
        uint64_t begin = slri_observe_begin();
        bool passed = wait_until_passed(queue, value, deadline_ns);
        withdraw();
        if (begin != 0)
            slri_observe_wait(queue, begin);
        if (!passed)
            return SLRI_FAIL(TIMEOUT, "the stream did not reach point %llu by the deadline", (unsigned long long)value);
    }
    // A failure at or before `value` was stored before `done`, which has been acquired. Without the lock: who has just
    // made `done` known still holds it, and waiting for that may cost a sleep.
    if (__atomic_load_n(&queue->failed, __ATOMIC_RELAXED) == SLR_OK)
        return SLR_OK;
    slri_mutex_lock(&lock);
    slr_status failed = value >= queue->failed_value ? queue->failed : SLR_OK;
    char why[sizeof queue->why];
    if (failed != SLR_OK)
        snprintf(why, sizeof why, "%s", queue->why);
    slri_mutex_unlock(&lock);
    return failed == SLR_OK ? SLR_OK : (slri_fail(failed, "%s", why), failed);
}
