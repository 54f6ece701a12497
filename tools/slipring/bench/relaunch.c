// SPDX-License-Identifier: Apache-2.0
// `slipring bench throughput`, on a device that is no cpu: messages of 1,000 instances, dispatched in batches, beside a
// kernel and a buffer by hand.
#include "bench/bench.h"

#include "bench/bare.h"
#include "bench/batch.h"
#include "clock.h"
#include "memory.h"
#include "say.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    INSTANCES = 1000, // as many messages in a dispatch by hand
    ROUNDS = 16       // of a slice
};

typedef struct relaunched {
    slr_device *device;
    bench_ring ring;
    bench_message *messages;
    uint32_t *instances;
    uint32_t rounds; // sent so far
    bare *bare;
    bench_message *queue; // its messages, and their sums
    uint32_t *sums;
    uint32_t queue_rounds;
} relaunched;

static void fill_round(bench_message *messages, uint32_t round)
{
    for (uint32_t i = 0; i < INSTANCES; i++)
        bench_fill(&messages[i], round * INSTANCES + i);
}

// What instance i has summed up in so many rounds.
static uint32_t sum_after(uint32_t rounds, uint32_t i)
{
    uint32_t sum = 0;
    for (uint32_t round = 0; round < rounds; round++)
        sum += bench_sum_of(round * INSTANCES + i);
    return sum;
}

// ---- the ring kernel -----------------------------------------------------------------------------------------------

static bool ring_slice(void *context, double *figures)
{
    relaunched *r = context;
    uint64_t start = clock_ns();
    for (uint32_t i = 0; i < ROUNDS; i++) {
        fill_round(r->messages, r->rounds++);
        slr_status status = slr_send_many(r->ring.port, r->ring.to, r->instances, r->messages, sizeof *r->messages,
                                          INSTANCES, BENCH_TIMEOUT_NS, NULL);
        if (status != SLR_OK)
            return bench_failed(status, "slr_send_many");
    }
    bool fine = bench_await_handled(&r->ring, (uint64_t)r->rounds * INSTANCES);
    figures[0] = bench_per_second(ROUNDS * INSTANCES, start);
    return fine;
}

static bool check_states(const relaunched *r)
{
    for (uint32_t i = 0; i < INSTANCES; i++) {
        uint32_t sum;
        slr_status status = slr_ring_snapshot(r->ring.ring, i, &sum, sizeof sum, BENCH_TIMEOUT_NS);
        if (status != SLR_OK || sum != sum_after(r->rounds, i))
            return bench_failed(status, "relaunched");
    }
    return true;
}

// ---- by hand -------------------------------------------------------------------------------------------------------

static bool bare_slice(void *context, double *figures)
{
    relaunched *r = context;
    if (!bare_is_ready(r->bare, BARE_ADDER)) {
        figures[0] = 0; // that has been said
        return true;
    }
    uint64_t start = clock_ns();
    for (uint32_t i = 0; i < ROUNDS; i++) {
        fill_round(r->queue, r->queue_rounds++);
        if (!bare_add(r->bare, INSTANCES))
            return false;
    }
    figures[0] = bench_per_second(ROUNDS * INSTANCES, start);
    return r->sums[INSTANCES - 1] == sum_after(r->queue_rounds, INSTANCES - 1) || bench_failed(SLR_OK, "by hand");
}

// ---- the row -------------------------------------------------------------------------------------------------------

static bool open_ring(bench *bench, relaunched *r)
{
    char name[sizeof bench->info.name + 24];
    bool has_options = strchr(bench->info.name, '?') != NULL;
    snprintf(name, sizeof name, "%s%cring=relaunch", bench->info.name, has_options ? '&' : '?');
    partner_free_caller(bench->partner); // the driver's threads take over where the caller may run
    slr_status status = slr_device_open(name, NULL, &r->device);
    partner_move_caller(bench->partner, false);
    if (status != SLR_OK)
        return bench_failed(status, name);
    slr_ring_desc desc = SLR_RING_DESC_INIT;
    desc.handler = "tally";
    desc.instances = INSTANCES;
    return bench_ring_open_as(bench, r->device, desc, NULL, &r->ring);
}

static bool open_bare(bench *bench, relaunched *r)
{
    if ((r->bare = bare_open(bench)) == NULL || bare_on_host(r->bare))
        return false;
    r->queue = bare_take(r->bare, INSTANCES * sizeof *r->queue);
    r->sums = bare_take(r->bare, INSTANCES * sizeof *r->sums);
    if (r->queue == NULL || r->sums == NULL)
        return false;
    if (!bare_prepare(r->bare, BARE_ADDER, r->queue, r->sums))
        say("relaunch_64B_x1000 has no floor: %s", bare_why(r->bare));
    return true;
}

static bool measure(bench *bench, relaunched *r)
{
    return bench_measure(
        bench,
        &(bench_case){
            .name = "relaunch_64B_x1000",
            .unit = "msg/s",
            .stats = {"median"},
            .method = "Messages a second to a batched ring kernel, until all are handled: 16 calls of slr_send_many, "
                      "each with one message to each of 1,000 instances. Each instance sums every word. Floor: without "
                      "slipring, 16 times: the same messages are written into a buffer that the device reads in place; "
                      "a launch of 1,000 work-items handles them; a wait.",
            .pair = {.value = ring_slice, .floor = bare_slice, .value_context = r, .floor_context = r, .figures = 1},
        });
}

bool bench_relaunch(bench *bench)
{
    if (strcmp(bench->info.backend, "cpu") == 0 || strcmp(bench->info.backend, "null") == 0 ||
        strstr(bench->info.name, "ring=") != NULL || !bench_wants(bench, "relaunch_64B_x1000"))
        return true;
    relaunched *r = memory_take(1, sizeof *r);
    r->messages = memory_take(INSTANCES, sizeof *r->messages);
    r->instances = memory_take(INSTANCES, sizeof *r->instances);
    for (uint32_t i = 0; i < INSTANCES; i++)
        r->instances[i] = i;
    bool fine = open_bare(bench, r) && open_ring(bench, r) && measure(bench, r) && check_states(r);
    bench_ring_close(&r->ring);
    slr_device_close(r->device);
    bare_close(r->bare);
    free(r->messages);
    free(r->instances);
    free(r);
    return fine;
}
