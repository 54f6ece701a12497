// SPDX-License-Identifier: Apache-2.0
// `slipring bench telemetry`: what timing messages costs, in nanoseconds a message, beside the same without.
#include "bench/bench.h"

#include "bench/batch.h"
#include "bench/queue.h"
#include "bench/ring.h"
#include "clock.h"

enum {
    QUEUE = 8192,
    WARM_UP = 2048,
    MESSAGES = 32768, // of a slice through both cores
    FILL = 8192       // of a slice into a mailbox that is paused: the sender's part alone
};

// Two ring kernels that differ in what they time.
typedef struct side {
    bench_ring ring;
    slr_buffer *total;
    uint32_t number; // of the next message
} side;

static bool await_handled(const side *side)
{
    uint64_t start = clock_ns();
    slr_ring_stats stats = {0};
    while (clock_ns() - start < BENCH_TIMEOUT_NS) {
        slr_status status = slr_ring_get_stats(side->ring.ring, &stats);
        if (status != SLR_OK)
            return bench_failed(status, "slr_ring_get_stats");
        if ((uint32_t)stats.handled == side->number)
            return true;
        spin_pause();
    }
    return bench_failed(SLR_TIMEOUT, "telemetry");
}

static bool send_all(side *side, uint32_t messages)
{
    for (uint32_t end = side->number + messages; side->number != end; side->number += BENCH_BATCH) {
        if (!bench_send_batch(&side->ring, side->number))
            return false;
    }
    return true;
}

static bool both_slice(void *context, double *figures)
{
    side *side = context;
    bool fine = send_all(side, WARM_UP) && await_handled(side);
    uint64_t start = clock_ns();
    fine = fine && send_all(side, MESSAGES) && await_handled(side);
    figures[0] = (double)(clock_ns() - start) / MESSAGES;
    return fine;
}

static bool paused(side *side, bool yes)
{
    slr_status status = yes ? slr_ring_deactivate(side->ring.ring, BENCH_TIMEOUT_NS)
                            : slr_ring_reactivate(side->ring.ring, BENCH_TIMEOUT_NS);
    return status == SLR_OK || bench_failed(status, "telemetry");
}

static bool fill_slice(void *context, double *figures)
{
    side *side = context;
    bool fine = paused(side, true);
    uint64_t start = clock_ns();
    fine = fine && send_all(side, FILL);
    figures[0] = (double)(clock_ns() - start) / FILL;
    return fine && paused(side, false) && await_handled(side);
}

// ---- the rows ------------------------------------------------------------------------------------------------------

static bool open_side(bench *bench, side *side, const char *name, uint32_t every)
{
    slr_status status = slr_buffer_create(bench->device, sizeof(uint32_t), &side->total);
    if (status != SLR_OK)
        return bench_failed(status, "slr_buffer_create");
    slr_ring_desc desc = SLR_RING_DESC_INIT;
    desc.name = name;
    desc.handler = "add";
    desc.queue_size = QUEUE;
    desc.latency_every = every;
    return bench_ring_open_as(bench, bench->device, desc, side->total, &side->ring);
}

static void close_side(side *side)
{
    bench_ring_close(&side->ring);
    slr_buffer_destroy(side->total);
}

// What the row before says, as a difference.
static void add_cost(bench *bench, const char *name)
{
    const bench_row *row = &bench->rows[bench->row_count - 1];
    bench_add(bench, &(bench_row){.name = name, .stat = "cost", .unit = "ns", .value = row->floor * (row->ratio - 1)},
              "What the timing in the row above adds to each message: floor times (ratio - 1) of that row.");
}

typedef struct telemetry_row {
    const char *name;
    uint32_t every;
    measure_slice *slice;
    const char *method;
} telemetry_row;

#define THROUGH "The time of a message from the sender on one core to the handler on the other, 32 messages in a call; "
#define INTO "The sender's time for a message to a paused ring kernel, 32 messages in a call; "
#define FLOOR ". Floor: the same with SLR_LATENCY_OFF: slipring times no message."

static const telemetry_row rows[] = {
    {"timed_256", 256, both_slice, THROUGH "slipring times one message in 256 (the default)" FLOOR},
    {"timed_all", 1, both_slice, THROUGH "slipring times each message" FLOOR},
    {"send_timed_256", 256, fill_slice, INTO "slipring times one message in 256" FLOOR},
    {"send_timed_all", 1, fill_slice, INTO "slipring times each message" FLOOR},
};

static bool measure(bench *bench, const telemetry_row *row, side *on, side *off)
{
    bench_case what = {
        .name = row->name,
        .unit = "ns",
        .stats = {"median"},
        .method = row->method,
        .pair = {.value = row->slice, .floor = row->slice, .value_context = on, .floor_context = off, .figures = 1}};
    bool fine = open_side(bench, on, "timed", row->every) && open_side(bench, off, "untimed", SLR_LATENCY_OFF) &&
                bench_measure(bench, &what);
    if (fine)
        add_cost(bench, row->name);
    close_side(on);
    close_side(off);
    return fine;
}

bool bench_telemetry(bench *bench)
{
    bool fine = true;
    for (size_t i = 0; i < sizeof rows / sizeof *rows && fine; i++) {
        side on = {0}, off = {0};
        fine = !bench_wants(bench, rows[i].name) || measure(bench, &rows[i], &on, &off);
    }
    return fine;
}
