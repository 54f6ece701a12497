// SPDX-License-Identifier: Apache-2.0
// One port, one thread: send without waiting, take replies when that is refused, try again.
#include "run/durable.h"
#include "run/feed.h"
#include "run/remote.h"

#include "clock.h"
#include "memory.h"
#include "say.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    BATCH = 256,              // messages sent together
    TOGETHER = 256,           // replies taken together
    PATIENCE_NS = 200 * 1000, // for a place in a full mailbox before replies are looked at again
    LINES = 1 << 16,          // lines remembered at least
    REPLIES = 1 << 14,        // that wait to be received at most, and some
    ACKNOWLEDGE_S = 10,
    FIRST_CORRELATION = 1 // of a port's running numbers
};

static slr_status start(feed *feed, slr_device *device, const slr_ring_desc *desc)
{
    slr_ring_desc with_letters = *desc;
    with_letters.dead_letters = FEED_LETTERS; // each with its own fault
    slr_status status = slr_ring_create(device, &with_letters, &feed->ring);
    if (status == SLR_OK)
        status = slr_ring_launch(feed->ring);
    if (status == SLR_OK)
        status = slr_ring_activate(feed->ring, ACKNOWLEDGE_S * SECOND_NS);
    if (status == SLR_OK)
        status = slr_ring_get_address(feed->ring, 0, &feed->to);
    if (status == SLR_OK)
        status = slr_port_open(device, &feed->port);
    return status;
}

void feed_allocate(feed *feed, const slr_ring_desc *desc, const slr_handler_info *handler)
{
    feed->message_bytes = handler->message.bytes;
    feed->reply_stride = handler->reply.bytes > 0 ? (handler->reply.bytes + 7) / 8 * 8 : 8;
    feed->messages = memory_take(BATCH, feed->message_bytes);
    feed->instances = memory_take(BATCH, sizeof *feed->instances);
    feed->keys = desc->keys != 0 ? memory_take(BATCH, sizeof *feed->keys) : NULL;
    feed->line_count = LINES;
    while (feed->line_count < desc->queue_size + REPLIES) // what a mailbox and its replies hold
        feed->line_count *= 2;
    feed->lines = memory_take(feed->line_count, sizeof *feed->lines);
    feed->replies = memory_take(TOGETHER, sizeof *feed->replies);
    feed->payloads = memory_take(TOGETHER, feed->reply_stride);
}

slr_status feed_open(feed *feed, slr_device *device, const slr_ring_desc *desc, const slr_handler_info *handler)
{
    feed_allocate(feed, desc, handler);
    return start(feed, device, desc);
}

void feed_close(feed *feed)
{
    slr_port_close(feed->port);
    if (feed->server != NULL)
        slr_server_close(feed->server, 0);
    else if (feed->sender != NULL)
        slr_sender_close(feed->sender, 0);
    else
        slr_ring_destroy(feed->ring);
    free(feed->messages);
    free(feed->instances);
    free(feed->keys);
    free(feed->lines);
    free(feed->replies);
    free(feed->payloads);
    free(feed->letters);
}

unsigned char *feed_slot(feed *feed)
{
    return feed->messages + feed->batched * feed->message_bytes;
}

slr_status feed_commit(feed *feed, uint32_t instance, uint64_t line)
{
    feed->instances[feed->batched] = instance;
    feed->lines[(feed->accepted + feed->batched) % feed->line_count] = line;
    feed->batched++;
    return feed->batched == BATCH ? feed_flush(feed) : SLR_OK;
}

// A correlation is the low 31 bits of a running number (port.h), and no message is 2^31 messages ago.
static uint64_t number_of(const feed *feed, const slr_reply *reply)
{
    uint64_t age = (feed->accepted + FIRST_CORRELATION - reply->correlation) & 0x7fffffff;
    return feed->accepted - age;
}

static void hand_over(feed *feed, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        const slr_reply *reply = &feed->replies[i];
        uint64_t number = number_of(feed, reply);
        uint64_t line =
            feed->accepted - number <= feed->line_count - BATCH ? feed->lines[number % feed->line_count] : 0;
        feed->on_reply(feed->user, reply, feed->payloads + i * feed->reply_stride, number, line);
    }
}

// A shard keeps its first letters, and its notices come in the same order: so while at most FEED_LETTERS faults are
// asked for, none of theirs is lost. Letters of other shards may be found before the one that is looked for.
static bool take_letter(feed *feed)
{
    if (feed->letter_count == feed->letter_capacity) {
        feed->letter_capacity += FEED_LETTERS;
        feed->letters = memory_grow(feed->letters, feed->letter_capacity, sizeof *feed->letters);
    }
    uint32_t taken = 0;
    slr_dead_letter *to = &feed->letters[feed->letter_count];
    slr_status status = slr_ring_take_dead_letters(feed->ring, to, NULL, 0, 1, &taken);
    feed->letter_count += taken;
    return status == SLR_OK && taken == 1;
}

const char *feed_fault(feed *feed, uint64_t number)
{
    if (feed->server != NULL)
        return slr_server_get_fault(feed->server);
    if (feed->sender != NULL)
        return "";
    for (uint32_t i = 0; i < feed->letter_count || take_letter(feed); i++) {
        if (((feed->letters[i].correlation - FIRST_CORRELATION - number) & 0x7fffffff) != 0)
            continue;
        memcpy(feed->fault, feed->letters[i].fault, sizeof feed->fault);
        feed->letters[i] = feed->letters[--feed->letter_count];
        return feed->fault;
    }
    return "";
}

// Takes replies once. `count` is how many came.
static slr_status take_once(feed *feed, uint64_t timeout_ns, uint32_t *count)
{
    *count = 0;
    if (feed->sender != NULL)
        return SLR_OK;
    if (feed->server != NULL)
        return feed_take_outputs(feed, timeout_ns, count);
    slr_status status =
        slr_receive_many(feed->port, feed->replies, feed->payloads, feed->reply_stride, TOGETHER, timeout_ns, count);
    feed->ended = feed->ended || status == SLR_END;
    if (status == SLR_TIMEOUT || status == SLR_END)
        return SLR_OK;
    if (status == SLR_OK)
        hand_over(feed, *count);
    return status;
}

slr_status feed_take(feed *feed, uint64_t timeout_ns)
{
    uint32_t count;
    slr_status status;
    do {
        status = take_once(feed, timeout_ns, &count);
        timeout_ns = 0;
    } while (status == SLR_OK && count > 0);
    return status;
}

static slr_status send_from(feed *feed, uint32_t first, uint64_t timeout_ns, uint32_t *sent)
{
    const unsigned char *messages = feed->messages + first * feed->message_bytes;
    uint32_t count = feed->batched - first;
    if (feed->sender != NULL)
        return feed_send_remote(feed, first, sent);
    if (feed->server != NULL)
        return feed_send_durable(feed, first, timeout_ns, sent);
    slr_status status = feed->keys != NULL ? slr_send_many_keys(feed->port, feed->to, feed->keys + first, messages,
                                                                feed->message_bytes, count, timeout_ns, sent)
                                           : slr_send_many(feed->port, feed->to, feed->instances + first, messages,
                                                           feed->message_bytes, count, timeout_ns, sent);
    feed->accepted += *sent;
    return status == SLR_FULL || status == SLR_TIMEOUT ? SLR_OK : status;
}

// What was not sent moves to the front, instances and messages alike; its lines are where they were, by number.
static void keep_rest(feed *feed, uint32_t sent)
{
    uint32_t rest = feed->batched - sent;
    for (uint32_t i = 0; sent > 0 && i < rest; i++) {
        feed->instances[i] = feed->instances[sent + i];
        memcpy(feed->messages + i * feed->message_bytes, feed->messages + (sent + i) * feed->message_bytes,
               feed->message_bytes);
    }
    feed->batched = rest;
}

slr_status feed_flush(feed *feed)
{
    uint32_t sent = 0;
    uint64_t patience_ns = 0;
    for (uint32_t i = 0; feed->keys != NULL && i < feed->batched; i++)
        feed->keys[i] = feed->key_of(feed->user, feed->accepted + i);
    slr_status status = SLR_OK;
    while (status == SLR_OK && sent < feed->batched) {
        uint32_t now = 0, taken = 0;
        status = send_from(feed, sent, patience_ns, &now);
        sent += now;
        if (status == SLR_OK)
            status = take_once(feed, 0, &taken);
        // Full, and no reply came either: wait for a place, but not for long, or a full reply lane would never empty.
        patience_ns = now == 0 && taken == 0 ? PATIENCE_NS : 0;
        if (status == SLR_OK && sent < feed->batched && feed->give_up(feed->user))
            status = SLR_TIMEOUT;
    }
    keep_rest(feed, sent);
    return status;
}

slr_status feed_settle(feed *feed)
{
    slr_status status = feed_flush(feed);
    if (feed->sender != NULL)
        return status == SLR_OK ? feed_flush_remote(feed) : status;
    if (feed->server != NULL)
        return status == SLR_OK ? feed_settle_durable(feed) : status;
    slr_ring_stats stats = {.pending = 1};
    while (status == SLR_OK && stats.pending > 0) {
        status = slr_ring_get_stats(feed->ring, &stats);
        // Replies are published before their message leaves `pending`: once it is 0, none comes after what is taken
        // now.
        if (status == SLR_OK)
            status = feed_take(feed, stats.pending > 0 ? PATIENCE_NS : 0);
        if (status == SLR_OK && feed->give_up(feed->user))
            status = SLR_TIMEOUT;
    }
    return status;
}

static bool has_ended(const feed *feed)
{
    slr_ring_state state = slr_ring_get_state(feed->ring);
    return feed->ended || state == SLR_RING_TERMINATED || state == SLR_RING_IN_FAILURE;
}

// ---- the end -------------------------------------------------------------------------------------------------------

// slr_ring_terminate waits for handlers in progress. It runs on a thread of its own, so that the caller need not.
typedef struct ending {
    pthread_mutex_t mutex;
    pthread_cond_t changed;
    slr_ring *ring;
    bool done;     // under the mutex; so are:
    bool forsaken; // the caller has gone on: this is the thread's to free
    slr_status status;
    char message[256];
} ending;

static void *end_ring(void *argument)
{
    ending *ending = argument;
    slr_status status = slr_ring_terminate(ending->ring, 0, NULL, NULL, NULL);
    pthread_mutex_lock(&ending->mutex);
    ending->done = true;
    ending->status = status;
    snprintf(ending->message, sizeof ending->message, "%s", slr_error_message());
    bool forsaken = ending->forsaken;
    pthread_cond_signal(&ending->changed);
    pthread_mutex_unlock(&ending->mutex);
    if (forsaken)
        free(ending);
    return NULL;
}

// Under the mutex. Looks at give_up every few milliseconds: a signal may come at any time.
static void await_end(feed *feed, ending *ending)
{
    uint64_t given_up_ns = 0;
    while (!ending->done) {
        struct timespec next;
        clock_gettime(CLOCK_REALTIME, &next);
        next.tv_nsec += 10 * 1000000;
        next.tv_sec += next.tv_nsec / (long)SECOND_NS;
        next.tv_nsec %= (long)SECOND_NS;
        pthread_cond_timedwait(&ending->changed, &ending->mutex, &next);
        if (given_up_ns == 0 && feed->give_up(feed->user))
            given_up_ns = clock_ns();
        if (given_up_ns != 0 && clock_ns() - given_up_ns >= FEED_LEAVE_S * SECOND_NS)
            return;
    }
}

static slr_status terminate(feed *feed)
{
    pthread_t thread;
    ending *made = memory_take(1, sizeof *made);
    *made = (ending){.mutex = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER, .ring = feed->ring};
    if (pthread_create(&thread, NULL, end_ring, made) != 0) {
        free(made);
        return slr_ring_terminate(feed->ring, 0, NULL, NULL, NULL);
    }
    pthread_mutex_lock(&made->mutex);
    await_end(feed, made);
    bool done = made->done;
    slr_status status = done ? made->status : SLR_TIMEOUT;
    made->forsaken = !done;
    pthread_mutex_unlock(&made->mutex);
    feed->left = status == SLR_TIMEOUT;
    if (!done) {
        pthread_detach(thread);
        return SLR_OK; // given up on, which was asked for
    }
    pthread_join(thread, NULL);
    if (status != SLR_OK)
        say("%s", made->message);
    free(made);
    return status;
}

// A ring kernel that has failed has still answered what it had handled. A port hears of a failure once.
static slr_status take_rest(feed *feed, uint64_t timeout_ns, slr_status before)
{
    if (before != SLR_OK && before != SLR_RING_FAILED)
        return before;
    slr_status status = feed_take(feed, timeout_ns);
    if (status == SLR_RING_FAILED)
        feed_take(feed, 0);
    return before != SLR_OK ? before : status;
}

slr_status feed_finish(feed *feed, bool drain, slr_ring_stats *stats)
{
    if (feed->sender != NULL) {
        slr_status flushed = drain ? feed_flush_remote(feed) : SLR_OK;
        feed_count_remote(feed, stats);
        return flushed;
    }
    if (feed->server != NULL) {
        slr_status settled = drain ? feed_settle_durable(feed) : SLR_OK;
        slr_ring_get_stats(feed->ring, stats);
        return settled;
    }
    slr_status status = has_ended(feed) ? SLR_OK : slr_ring_close_input(feed->ring);
    if (status != SLR_OK && has_ended(feed)) // meanwhile
        status = SLR_OK;
    while (drain && status == SLR_OK && !has_ended(feed) && !feed->give_up(feed->user))
        status = take_rest(feed, 10 * PATIENCE_NS, status);
    status = take_rest(feed, 0, status);
    slr_status terminated = terminate(feed);
    status = take_rest(feed, 0, status); // of handlers that were in progress
    slr_ring_get_stats(feed->ring, stats);
    return status != SLR_OK ? status : terminated;
}
