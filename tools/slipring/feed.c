// SPDX-License-Identifier: Apache-2.0
// One port, one thread: send without waiting, take replies when that is refused, try again.
#include "feed.h"

#include "clock.h"
#include "memory.h"

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
    slr_status status = slr_ring_create(device, desc, &feed->ring);
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

slr_status feed_open(feed *feed, slr_device *device, const slr_ring_desc *desc, const slr_handler_info *handler)
{
    feed->message_bytes = handler->message.bytes;
    feed->reply_stride = handler->reply.bytes > 0 ? (handler->reply.bytes + 7) / 8 * 8 : 8;
    feed->messages = memory_take(BATCH, feed->message_bytes);
    feed->instances = memory_take(BATCH, sizeof *feed->instances);
    feed->line_count = LINES;
    while (feed->line_count < desc->queue_size + REPLIES) // what a mailbox and its replies hold
        feed->line_count *= 2;
    feed->lines = memory_take(feed->line_count, sizeof *feed->lines);
    feed->replies = memory_take(TOGETHER, sizeof *feed->replies);
    feed->payloads = memory_take(TOGETHER, feed->reply_stride);
    return start(feed, device, desc);
}

void feed_close(feed *feed)
{
    slr_port_close(feed->port);
    slr_ring_destroy(feed->ring);
    free(feed->messages);
    free(feed->instances);
    free(feed->lines);
    free(feed->replies);
    free(feed->payloads);
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

// Takes replies once. `count` is how many came.
static slr_status take_once(feed *feed, uint64_t timeout_ns, uint32_t *count)
{
    *count = 0;
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
    slr_status status =
        slr_send_many(feed->port, feed->to, feed->instances + first, feed->messages + first * feed->message_bytes,
                      feed->message_bytes, feed->batched - first, timeout_ns, sent);
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
    slr_status status = SLR_OK;
    while (status == SLR_OK && sent < feed->batched) {
        uint32_t now = 0, taken = 0;
        status = send_from(feed, sent, patience_ns, &now);
        sent += now;
        if (status == SLR_OK)
            status = take_once(feed, 0, &taken);
        // Full, and no reply came either: wait for a place, but not for long, or a full reply lane would never empty.
        patience_ns = now == 0 && taken == 0 ? PATIENCE_NS : 0;
        if (status == SLR_OK && sent < feed->batched && feed->give_up())
            status = SLR_TIMEOUT;
    }
    keep_rest(feed, sent);
    return status;
}

slr_status feed_settle(feed *feed)
{
    slr_status status = feed_flush(feed);
    slr_ring_stats stats = {.pending = 1};
    while (status == SLR_OK && stats.pending > 0) {
        status = slr_ring_get_stats(feed->ring, &stats);
        // Replies are published before their message leaves `pending`: once it is 0, none comes after what is taken
        // now.
        if (status == SLR_OK)
            status = feed_take(feed, stats.pending > 0 ? PATIENCE_NS : 0);
        if (status == SLR_OK && feed->give_up())
            status = SLR_TIMEOUT;
    }
    return status;
}

static bool has_ended(const feed *feed)
{
    slr_ring_state state = slr_ring_get_state(feed->ring);
    return feed->ended || state == SLR_RING_TERMINATED || state == SLR_RING_IN_FAILURE;
}

slr_status feed_finish(feed *feed, uint64_t timeout_ns, slr_ring_stats *stats)
{
    uint64_t start_ns = clock_ns();
    slr_status status = slr_ring_close_input(feed->ring);
    while (status == SLR_OK && !has_ended(feed) && clock_ns() - start_ns < timeout_ns)
        status = feed_take(feed, 10 * PATIENCE_NS);
    if (status == SLR_OK)
        status = feed_take(feed, 0);
    slr_status terminated = slr_ring_terminate(feed->ring, 0, NULL, NULL, stats);
    return status != SLR_OK ? status : terminated;
}
