// SPDX-License-Identifier: Apache-2.0
// Submissions that the device is given before those in front of them are done, so that it need not wait for the host in
// between. All that were begun but the last are marked, by their values: a point passes when its own mark does.
#include "engine/queue.h"

static uint32_t mark_of(const struct slri_submission *submission)
{
    return 1 + (uint32_t)(submission->value % submission->queue->stream.of->facts.marks);
}

void slri_queue_begin(struct slri_queue *queue, const struct slri_submission *submission)
{
    slr_status status = SLR_OK;
    for (uint32_t i = 0; i < submission->commands && status == SLR_OK; ++i)
        status = slri_stream_run(&queue->stream, &submission->command[i], SLR_OK);
    if (status != SLR_OK)
        slri_queue_note_why(queue);
    ++queue->begun;
    queue->begin_failed = status;
}

// Whether all that it waits for has passed, and did not fail. Under the lock.
static bool waits_for_nothing(const struct slri_submission *submission)
{
    for (uint32_t i = 0; i < submission->waits; ++i)
        if (!slri_queue_passed(submission->wait[i].queue, submission->wait[i].value) ||
            submission->wait[i].queue->failed != SLR_OK)
            return false;
    return true;
}

// Those behind the first that may be begun.
static void begin_more(struct slri_queue *queue)
{
    while (queue->begun < queue->stream.of->facts.marks && queue->begin_failed == SLR_OK) {
        struct slri_submission *last = queue->first;
        for (uint32_t i = 1; i < queue->begun; ++i)
            last = last->next;
        slri_queues_lock();
        struct slri_submission *next = last->next; // it stays while the queue is claimed
        bool may = next && queue->failed == SLR_OK && waits_for_nothing(next);
        slri_queues_unlock();
        if (!may || !slri_stream_goes_ahead(&queue->stream, next))
            return;
        queue->stream.mark = mark_of(last);
        slri_queue_begin(queue, next);
    }
}

slr_status slri_queue_await_first(struct slri_queue *queue, slr_status before)
{
    if (before == SLR_OK)
        begin_more(queue);
    bool is_last = queue->begun-- == 1;
    slr_status status = is_last ? queue->begin_failed : SLR_OK;
    slr_status waited =
        is_last ? slri_stream_finish(&queue->stream) : slri_stream_await_mark(&queue->stream, mark_of(queue->first));
    if (status == SLR_OK && waited != SLR_OK) {
        status = waited;
        slri_queue_note_why(queue);
    }
    if (is_last)
        queue->begin_failed = SLR_OK;
    return before == SLR_OK ? status : before;
}
