// SPDX-License-Identifier: Apache-2.0
// `slipring bench profile`: the time in handlers that the profiler tells, beside a stopwatch in the handler.
#include "bench/bench.h"

#include "bench/batch.h"
#include "clock.h"
#include "demo/demo.h"
#include "plain.h"

#include <slipring/slipring.h>

#include <stdlib.h>
#include <string.h>

enum { MESSAGES = 2000, ROUNDS = 15, MOST_ROWS = 512 };

static const char name[] = "by-hand";

typedef struct stopwatch { // the one shard's owner writes it
    uint64_t ns;
} stopwatch;

static slr_status detect(void *user, const slr_delivery *delivery)
{
    stopwatch *stopwatch = user;
    struct beat beat;
    uint64_t begin = clock_ns();
    ward_plain(delivery->state, delivery->message, &beat);
    stopwatch->ns += clock_ns() - begin;
    return SLR_OK;
}

static slr_status start(slr_device *device, stopwatch *stopwatch, slr_ring **out)
{
    slr_ring_desc desc = SLR_RING_DESC_INIT;
    desc.name = name;
    desc.on_message = detect;
    desc.user = stopwatch;
    desc.message_bytes = sizeof(struct samples);
    desc.state_bytes = (uint32_t)ward_plain_state_bytes();
    slr_status status = slr_ring_create(device, &desc, out);
    if (status == SLR_OK)
        status = slr_ring_launch(*out);
    return status == SLR_OK ? slr_ring_activate(*out, BENCH_TIMEOUT_NS) : status;
}

static slr_status feed(slr_device *device, slr_ring *ring, const demo_record *record)
{
    slr_port *port = NULL;
    slr_address to;
    slr_status status = slr_port_open(device, &port);
    if (status == SLR_OK)
        status = slr_ring_get_address(ring, 0, &to);
    for (uint32_t i = 0; i < MESSAGES && status == SLR_OK; i++)
        status = slr_send(port, to, demo_message(record, 0, i), sizeof(struct samples), BENCH_TIMEOUT_NS);
    if (status == SLR_OK)
        status = slr_ring_close_input(ring);
    if (status == SLR_OK) // all are handled then
        status = slr_ring_wait(ring, SLR_RING_TERMINATED, BENCH_TIMEOUT_NS);
    slr_port_close(port);
    return status;
}

// What the profiler says of the ring kernel's batches; 0: nothing.
static uint64_t profiled_ns(void)
{
    slr_profile_row *rows = calloc(MOST_ROWS, sizeof *rows);
    uint32_t count = 0;
    uint64_t ns = 0;
    if (rows && slr_profile_read(rows, MOST_ROWS, &count) == SLR_OK)
        for (uint32_t i = 0; i < count && i < MOST_ROWS; i++)
            if (rows[i].kind == SLR_PROFILE_BATCH && strcmp(rows[i].name, name) == 0 && rows[i].messages == MESSAGES)
                ns = rows[i].total_ns;
    free(rows);
    return ns;
}

static slr_status one_round(slr_device *device, const demo_record *record, uint64_t *profiled, uint64_t *by_hand)
{
    stopwatch stopwatch = {0};
    slr_ring *ring = NULL;
    slr_profile_clear();
    slr_status status = start(device, &stopwatch, &ring);
    if (status == SLR_OK)
        status = feed(device, ring, record);
    *profiled = profiled_ns();
    *by_hand = stopwatch.ns;
    slr_ring_destroy(ring);
    return status == SLR_OK && *profiled == 0 ? SLR_NOT_FOUND : status;
}

// Of several rounds the shortest: the other threads of the machine take part in the longer ones.
bool bench_handlers(bench *bench)
{
    uint64_t ns = UINT64_MAX, by_hand = 0;
    if (!bench_wants(bench, "handlers"))
        return true;
    demo_record *record = demo_record_make();
    slr_status status = slr_profile_start();
    for (int i = 0; i < ROUNDS && status == SLR_OK; i++) {
        uint64_t profiled, watched;
        status = one_round(bench->device, record, &profiled, &watched);
        if (status == SLR_OK && profiled < ns) {
            ns = profiled;
            by_hand = watched;
        }
    }
    slr_profile_stop();
    free(record);
    if (status != SLR_OK)
        return bench_failed(status, "profile");
    bench_add(bench,
              &(bench_row){.name = "handlers",
                           .stat = "mean",
                           .unit = "ns",
                           .value = (double)ns / MESSAGES,
                           .floor = (double)by_hand / MESSAGES},
              "The time in handlers that the profiler tells, a message: the ward's detector as a host handler, 2,000 "
              "messages of one patient; the shortest of 15 rounds. Floor: a stopwatch in the handler, around the "
              "detector.");
    return true;
}
