// SPDX-License-Identifier: Apache-2.0
// `slipring bench throughput`, one way: as many messages as a receiver that reads them takes.
#include "bench/bench.h"

#include "bench/bare.h"
#include "bench/batch.h"
#include "bench/queue.h"
#include "bench/ring.h"
#include "clock.h"
#include "memory.h"
#include "say.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    WARM_UP = 2048,
    MESSAGES = 32768 // of a slice: about 1 ms, to fit between two turns of other processes
};

typedef struct one_way {
    bench *bench;
    uint32_t messages; // of a slice
    bench_ring ring;
    slr_buffer *total;
    uint32_t number;   // of the next message to the ring kernel
    uint32_t expected; // sum of what it was sent
    batch_queue *queue;
    uint32_t at; // the queue's position between slices
    uint32_t queue_expected, *queue_sum;
    bool singly; // sent one by one
    bare *bare;  // on a device that is no cpu the reader is a kernel there
} one_way;

// ---- the ring kernel -----------------------------------------------------------------------------------------------

static bool await_handled(one_way *one_way)
{
    uint64_t start = clock_ns();
    slr_ring_stats stats = {0};
    while (clock_ns() - start < BENCH_TIMEOUT_NS) {
        slr_status status = slr_ring_get_stats(one_way->ring.ring, &stats);
        if (status != SLR_OK)
            return bench_failed(status, "slr_ring_get_stats");
        if ((uint32_t)stats.handled == one_way->number)
            return true;
        spin_pause();
    }
    say("one way: after 60 s %u messages are not handled", one_way->number - (uint32_t)stats.handled);
    return false;
}

static bool send_singly(const one_way *one_way)
{
    const bench_ring *ring = &one_way->ring;
    for (uint32_t i = 0; i < BENCH_BATCH; i++) {
        bench_message message;
        bench_fill(&message, one_way->number + i);
        slr_status status = slr_send(ring->port, ring->to, &message, sizeof message, BENCH_TIMEOUT_NS);
        if (status != SLR_OK)
            return bench_failed(status, "slr_send");
    }
    return true;
}

static bool send_all(one_way *one_way, uint32_t messages)
{
    for (uint32_t end = one_way->number + messages; one_way->number != end; one_way->number += BENCH_BATCH) {
        if (!(one_way->singly ? send_singly(one_way) : bench_send_batch(&one_way->ring, one_way->number)))
            return false;
        for (uint32_t i = 0; i < BENCH_BATCH; i++)
            one_way->expected += bench_sum_of(one_way->number + i);
    }
    return await_handled(one_way);
}

static bool ring_slice(void *context, double *figures)
{
    one_way *one_way = context;
    bool fine = send_all(one_way, WARM_UP);
    uint64_t start = clock_ns();
    fine = fine && send_all(one_way, one_way->messages);
    figures[0] = bench_per_second(one_way->messages, start);
    return fine;
}

// What the handler summed, once nothing runs any more.
static bool check_total(one_way *one_way)
{
    uint32_t total = 0;
    slr_status status = slr_ring_deactivate(one_way->ring.ring, BENCH_TIMEOUT_NS);
    if (status == SLR_OK)
        status = slr_buffer_read(one_way->total, 0, &total, sizeof total);
    return (status == SLR_OK && total == one_way->expected) || bench_failed(status, "one way");
}

// ---- the floor: a bare queue ---------------------------------------------------------------------------------------

static void read_all(void *context)
{
    one_way *one_way = context;
    batch_queue *queue = one_way->queue;
    uint32_t at = one_way->at, end = at + WARM_UP + one_way->messages, sum = *one_way->queue_sum;
    while (at != end) {
        uint32_t written = batch_look(&queue->written);
        for (; at != written; at++) {
            sum += bench_sum(batch_at(queue, at));
            if ((at + 1) % BENCH_BATCH == 0)
                batch_publish(&queue->read, at + 1);
        }
    }
    *one_way->queue_sum = sum;
}

// Until so many are read, or more.
static uint32_t await_read(const one_way *one_way, uint32_t least)
{
    uint32_t read = batch_look(&one_way->queue->read);
    for (uint32_t polls = 0; (int32_t)(read - least) < 0; read = batch_look(&one_way->queue->read))
        if (++polls == BARE_MOST_POLLS)
            bare_give_up(one_way->bare);
    return read;
}

static void write_all(one_way *one_way, uint32_t at, uint32_t messages)
{
    batch_queue *queue = one_way->queue;
    uint32_t read = batch_look(&queue->read);
    for (uint32_t end = at + messages; at != end; at += BENCH_BATCH) {
        if (at + BENCH_BATCH - read > BATCH_SLOTS)
            read = await_read(one_way, at + BENCH_BATCH - BATCH_SLOTS);
        for (uint32_t i = 0; i < BENCH_BATCH; i++) {
            bench_fill(batch_at(queue, at + i), at + i);
            one_way->queue_expected += bench_sum_of(at + i);
        }
        batch_publish(&queue->written, at + BENCH_BATCH);
    }
}

static bool bare_slice(void *context, double *figures)
{
    one_way *one_way = context;
    uint32_t at = one_way->at;
    bool on_host = bare_on_host(one_way->bare);
    if (!on_host && !bare_is_ready(one_way->bare, BARE_READER)) {
        figures[0] = 0; // the method says why
        return true;
    }
    if (on_host)
        partner_run(one_way->bench->partner, read_all, one_way);
    else if (!bare_start(one_way->bare, BARE_READER, at, at + WARM_UP + one_way->messages))
        return false;
    write_all(one_way, at, WARM_UP);
    await_read(one_way, at + WARM_UP);
    uint64_t start = clock_ns();
    write_all(one_way, at + WARM_UP, one_way->messages);
    if (on_host)
        partner_join(one_way->bench->partner);
    await_read(one_way, at + WARM_UP + one_way->messages);
    figures[0] = bench_per_second(one_way->messages, start);
    one_way->at = at + WARM_UP + one_way->messages;
    if (!on_host && !bare_wait(one_way->bare))
        return false;
    return *one_way->queue_sum == one_way->queue_expected || bench_failed(SLR_OK, "bare queue");
}

// ---- the row -------------------------------------------------------------------------------------------------------

static bool open_ring(one_way *one_way)
{
    slr_status status = slr_buffer_create(one_way->bench->device, sizeof(uint32_t), &one_way->total);
    if (status != SLR_OK)
        return bench_failed(status, "slr_buffer_create");
    return bench_ring_open(one_way->bench, "add", one_way->total, &one_way->ring);
}

static bool open_bare(one_way *one_way)
{
    if ((one_way->bare = bare_open(one_way->bench)) == NULL)
        return false;
    one_way->queue = bare_take(one_way->bare, sizeof(batch_queue));
    one_way->queue_sum = bare_take(one_way->bare, sizeof(uint32_t));
    if (one_way->queue == NULL || one_way->queue_sum == NULL)
        return false;
    bare_prepare(one_way->bare, BARE_READER, one_way->queue, one_way->queue_sum); // without it the row says so
    return true;
}

static void describe(const bare *bare, char *method, size_t room)
{
    static const char value[] = "until all are handled; the handler reads every word and adds it to a sum. Floor: ";
    static const char queue[] = "a bare queue with the same messages, of which the sender publishes 32 at a time, ";
    if (bare_on_host(bare))
        snprintf(method, room, "%s%sbetween two threads.", value, queue);
    else if (bare_is_ready(bare, BARE_READER))
        snprintf(method, room, "%s%sread by a handwritten persistent kernel in %s.", value, queue, bare_called(bare));
    else
        snprintf(method, room, "%snone, because the handwritten reader in %s does not run: %.160s.", value,
                 bare_called(bare), bare_why(bare));
}

static bool measure(one_way *one_way, bool singly)
{
    char method[BENCH_METHOD_BYTES / 2] = "";
    snprintf(method, sizeof method, "%s, ",
             singly ? "Messages a second by slr_send, one message in a call"
                    : "Messages a second by slr_send_many, 32 messages in a call");
    one_way->singly = singly;
    describe(one_way->bare, method + strlen(method), sizeof method - strlen(method));
    return bench_measure(one_way->bench, &(bench_case){.name = singly ? "oneway_64B" : "oneway_64B_x32",
                                                       .unit = "msg/s",
                                                       .stats = {"median"},
                                                       .method = method,
                                                       .pair = {.value = ring_slice,
                                                                .floor = bare_slice,
                                                                .value_context = one_way,
                                                                .floor_context = one_way,
                                                                .figures = 1}});
}

bool bench_one_way(bench *bench)
{
    one_way *one_way = memory_take(1, sizeof *one_way);
    one_way->bench = bench;
    one_way->messages = bench_size(bench, MESSAGES);
    bool fine = open_bare(one_way) && open_ring(one_way) && measure(one_way, false) && measure(one_way, true) &&
                check_total(one_way);
    bench_ring_close(&one_way->ring);
    slr_buffer_destroy(one_way->total);
    bare_close(one_way->bare);
    free(one_way);
    return fine;
}
