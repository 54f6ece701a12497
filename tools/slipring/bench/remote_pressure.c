// SPDX-License-Identifier: Apache-2.0
// `slipring bench cluster`, back-pressure over machines: a handler that is slower than its sender. The sender is
// refused, the memory of both and the stream between them stay bounded, and in the end each message was handled once.
#define _GNU_SOURCE
#include "bench/bench.h"

#include "bench/batch.h"
#include "bench/nats_here.h"
#include "bench/pages.h"
#include "clock.h"
#include "say.h"

#include <slipring/remote.h>

#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>

enum { MESSAGES = 1 << 19, CAPACITY = 16 /* frames of the stream */, LOOK_EACH = 512, SLOW_NS = 2000 };
#define SEND_NS 1000000u // before a message is refused

typedef struct message {
    uint64_t number, rest[7];
} message;

typedef struct remote_pressure {
    nats_here server;
    slr_device *device;
    slr_worker *worker;
    slr_sender *sender;
    pthread_t turning;
    bool turns;
    uint32_t stop;                  // atomic
    uint64_t handled, wrong;        // atomic: written by the handler alone
    uint64_t sent, refused, waited; // waited: most frames in the stream
    pages_seen pages;
} remote_pressure;

static slr_status handle_slowly(void *user, const slr_delivery *delivery)
{
    remote_pressure *pressure = user;
    const message *in = delivery->message;
    const uint64_t until = clock_ns() + SLOW_NS, next = pressure->handled + 1;
    if (in->number != next)
        __atomic_store_n(&pressure->wrong, pressure->wrong + 1, __ATOMIC_RELAXED);
    while (clock_ns() < until)
        ;
    __atomic_store_n(&pressure->handled, next, __ATOMIC_RELEASE);
    return SLR_OK;
}

static void *keep_turning(void *argument)
{
    remote_pressure *pressure = argument;
    while (__atomic_load_n(&pressure->stop, __ATOMIC_ACQUIRE) == 0)
        slr_worker_turn(pressure->worker, 1000000);
    return NULL;
}

static slr_remote_desc place(const remote_pressure *pressure)
{
    slr_remote_desc where = SLR_REMOTE_DESC_INIT;
    where.servers = pressure->server.url;
    where.name = "slow";
    return where;
}

static slr_status open_slow(remote_pressure *pressure)
{
    slr_remote_desc where = place(pressure);
    slr_worker_desc worker = SLR_WORKER_DESC_INIT;
    slr_sender_desc sender = SLR_SENDER_DESC_INIT;
    slr_ring_desc ring = SLR_RING_DESC_INIT;
    worker.partitions = 1;
    worker.capacity = CAPACITY;
    worker.snapshot_ns = 50000000;
    worker.lease_ns = 4 * BENCH_TIMEOUT_NS; // nobody else takes anything over
    ring.name = "slow";
    ring.on_message = handle_slowly;
    ring.user = pressure;
    ring.message_bytes = sizeof(message);
    ring.instances = 1;
    slr_status status = slr_device_open("cpu?threads=1", NULL, &pressure->device);
    if (status == SLR_OK)
        status = slr_worker_open(pressure->device, &ring, &where, &worker, &pressure->worker);
    if (status != SLR_OK)
        return status;
    pressure->turns = pthread_create(&pressure->turning, NULL, keep_turning, pressure) == 0;
    return slr_sender_open(&where, &sender, &pressure->sender);
}

static slr_status look(remote_pressure *pressure)
{
    slr_remote_info info;
    slr_remote_desc where = place(pressure);
    pages_look(&pressure->pages);
    slr_status status = slr_remote_get_info(&where, &info);
    if (status == SLR_OK)
        pressure->waited = info.waiting > pressure->waited ? info.waiting : pressure->waited;
    return status;
}

static slr_status send_all(remote_pressure *pressure, uint64_t messages)
{
    slr_status status = SLR_OK;
    const uint64_t begin = clock_ns();
    while (pressure->sent < messages && status == SLR_OK) {
        message next = {.number = pressure->sent + 1};
        status = slr_sender_send(pressure->sender, slr_key_u64(0), &next, sizeof next, SEND_NS);
        pressure->sent += status == SLR_OK;
        if (pressure->sent % LOOK_EACH == 0)
            pages_look(&pressure->pages);
        if (status != SLR_TIMEOUT && status != SLR_FULL)
            continue;
        status = pressure->refused++ % LOOK_EACH == 0 ? look(pressure) : SLR_OK;
        if (clock_ns() - begin > 24 * BENCH_TIMEOUT_NS)
            return SLR_TIMEOUT;
    }
    while (status == SLR_OK && __atomic_load_n(&pressure->handled, __ATOMIC_ACQUIRE) < messages) {
        slr_status flushed = slr_sender_flush(pressure->sender, SEND_NS);
        status = flushed == SLR_TIMEOUT || flushed == SLR_FULL ? SLR_OK : flushed;
        if (clock_ns() - begin > 24 * BENCH_TIMEOUT_NS)
            return SLR_TIMEOUT;
    }
    return status == SLR_OK ? look(pressure) : status;
}

static bool is_exact(remote_pressure *pressure, uint64_t messages)
{
    const uint64_t handled = __atomic_load_n(&pressure->handled, __ATOMIC_ACQUIRE),
                   wrong = __atomic_load_n(&pressure->wrong, __ATOMIC_RELAXED);
    if (handled != messages || wrong > 0)
        say("cluster: %" PRIu64 " messages of %" PRIu64 " were handled, %" PRIu64 " not in order", handled, messages,
            wrong);
    return handled == messages && wrong == 0;
}

static void end_slow(remote_pressure *pressure)
{
    slr_sender_close(pressure->sender, 0);
    __atomic_store_n(&pressure->stop, 1, __ATOMIC_RELEASE);
    if (pressure->turns)
        pthread_join(pressure->turning, NULL);
    slr_worker_close(pressure->worker, BENCH_TIMEOUT_NS);
    slr_device_close(pressure->device);
}

static bool measure_slow(bench *bench, remote_pressure *pressure)
{
    char method[BENCH_METHOD_BYTES];
    const uint64_t messages = bench_size(bench, MESSAGES);
    partner_free_caller(bench->partner); // the handler's thread must not inherit the caller's core
    slr_status status = open_slow(pressure);
    pages_begin(&pressure->pages);
    if (status == SLR_OK)
        status = send_all(pressure, messages);
    bool fine = status == SLR_OK ? is_exact(pressure, messages) : bench_failed(status, "remote_slow_handler");
    if (fine && pressure->refused == 0 && !bench->small) {
        say("cluster: remote_slow_handler: the sender was never refused");
        fine = false;
    }
    end_slow(pressure);
    partner_move_caller(bench->partner, false);
    if (!fine)
        return false;
    bench_row row = {.name = "remote_slow_handler",
                     .stat = "most",
                     .unit = "MiB",
                     .value = pages_most_mib(&pressure->pages),
                     .floor = (double)messages * sizeof(message) / (1024 * 1024)};
    snprintf(method, sizeof method,
             "How much more memory this process used at most; a sender and a worker run in it. %" PRIu64
             " messages of 64 B were sent through a nats-server on this machine, and each takes the handler 2 us. The "
             "stream holds at most %d frames, and held %" PRIu64 ". The sender was refused %" PRIu64
             " times after 1 ms; each message was handled once, in order. Floor: the bytes of all messages.",
             messages, CAPACITY, pressure->waited, pressure->refused);
    bench_add(bench, &row, method);
    return true;
}

bool bench_remote_pressure(bench *bench)
{
    static remote_pressure pressure;
    const char *program = nats_here_program();
    if (!bench_wants(bench, "remote_slow_handler") || program == NULL) // of which bench_remote tells
        return true;
    pressure = (remote_pressure){.sent = 0};
    bool fine = nats_here_start(&pressure.server, program);
    if (!fine)
        say("cluster: %s does not start", program);
    fine = fine && measure_slow(bench, &pressure);
    nats_here_end(&pressure.server);
    return fine;
}
