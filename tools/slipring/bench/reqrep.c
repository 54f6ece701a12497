// SPDX-License-Identifier: Apache-2.0
// `slipring bench throughput`, request and reply: as many as go there and back, pipelined.
#include "bench/bench.h"

#include "bench/batch.h"
#include "bench/peer.h"
#include "bench/queue.h"
#include "bench/ring.h"
#include "clock.h"
#include "memory.h"
#include "say.h"

#include <stdlib.h>

enum {
    WARM_UP = 2048,
    MESSAGES = 32768, // of a slice: 1 to 2 ms, to fit between two turns of other processes
    WINDOW = 512      // sent and not yet answered
};

typedef struct exchange {
    bench *bench;
    uint32_t messages; // of a slice
    bench_ring ring;
    uint32_t number; // of the next message to the ring kernel
    batch_queue *in, *out;
    uint32_t at; // the queues' position between slices
    bench_peer *peer;
} exchange;

// ---- the ring kernel -----------------------------------------------------------------------------------------------

static bool receive_some(const bench_ring *ring, uint32_t *answered, bool wait)
{
    slr_reply replies[BENCH_BATCH];
    bench_message answers[BENCH_BATCH];
    uint32_t received = 0;
    slr_status status = slr_receive_many(ring->port, replies, answers, sizeof *answers, BENCH_BATCH,
                                         wait ? BENCH_TIMEOUT_NS : 0, &received);
    if (status == SLR_TIMEOUT && !wait)
        return true;
    if (status != SLR_OK)
        return bench_failed(status, "slr_receive_many");
    for (uint32_t i = 0; i < received; i++) {
        if (!bench_is_answer(&answers[i], (*answered)++))
            return bench_failed(replies[i].status, "request and reply");
    }
    return true;
}

static bool run_ring(exchange *exchange, uint32_t messages)
{
    uint32_t answered = exchange->number, end = answered + messages;
    while (answered != end) {
        bool may_send = exchange->number != end && exchange->number - answered + BENCH_BATCH <= WINDOW;
        if (may_send) {
            if (!bench_send_batch(&exchange->ring, exchange->number))
                return false;
            exchange->number += BENCH_BATCH;
        }
        if (!receive_some(&exchange->ring, &answered, !may_send))
            return false;
    }
    return true;
}

static bool ring_slice(void *context, double *figures)
{
    exchange *exchange = context;
    bool fine = run_ring(exchange, WARM_UP);
    uint64_t start = clock_ns();
    fine = fine && run_ring(exchange, exchange->messages);
    figures[0] = bench_per_second(exchange->messages, start);
    return fine;
}

// ---- the floor: a bare echo ----------------------------------------------------------------------------------------

// Answers are published a batch at once, or as far as there is something to answer.
static void answer_all(void *context)
{
    exchange *exchange = context;
    batch_queue *in = exchange->in, *out = exchange->out;
    uint32_t at = exchange->at, end = at + WARM_UP + exchange->messages;
    while (at != end) {
        uint32_t written = batch_look(&in->written);
        while (at != written) { // the window is smaller than the queue: there is room for the answer
            uint32_t stop = written - at > BENCH_BATCH ? at + BENCH_BATCH : written;
            for (; at != stop; at++)
                bench_answer(batch_at(out, at), batch_at(in, at));
            batch_publish(&out->written, at);
        }
    }
}

static bool run_bare(exchange *exchange, uint32_t at, uint32_t messages)
{
    batch_queue *in = exchange->in, *out = exchange->out;
    uint32_t sent = at, answered = at, end = at + messages, wrong = 0;
    while (answered != end) {
        if (sent != end && sent - answered + BENCH_BATCH <= WINDOW) {
            for (uint32_t i = 0; i < BENCH_BATCH; i++)
                bench_fill(batch_at(in, sent + i), sent + i);
            sent += BENCH_BATCH;
            batch_publish(&in->written, sent);
        }
        for (uint32_t written = batch_look(&out->written); answered != written; answered++)
            wrong += !bench_is_answer(batch_at(out, answered), answered);
    }
    return wrong == 0;
}

static bool bare_slice(void *context, double *figures)
{
    exchange *exchange = context;
    uint32_t at = exchange->at;
    partner_run(exchange->bench->partner, answer_all, exchange);
    bool right = run_bare(exchange, at, WARM_UP);
    uint64_t start = clock_ns();
    right = run_bare(exchange, at + WARM_UP, exchange->messages) && right;
    figures[0] = bench_per_second(exchange->messages, start);
    partner_join(exchange->bench->partner);
    exchange->at = at + WARM_UP + exchange->messages;
    return right || bench_failed(SLR_OK, "bare echo");
}

// ---- the rows ------------------------------------------------------------------------------------------------------

static bool peer_slice(void *context, double *figures)
{
    exchange *exchange = context;
    return bench_peer_measure(exchange->peer, &figures[0]);
}

#define BARE                                                                                                           \
    "Floor: a bare echo, two queues without slipring, with the same messages and the same number in flight; 32 "       \
    "messages are published at a time."
#define CAF                                                                                                            \
    "Requests and replies a second by CAF, the C++ Actor Framework, in a process of its own: two event-based actors "  \
    "on two threads, messages of 64 B, up to 512 in flight. "

static const bench_case ring_row = {
    "reqrep_64B",
    "msg/s",
    {"median"},
    "Messages and replies a second by slr_send_many and slr_receive_many, 32 in a call, up to 512 in flight; each word "
    "of message and reply is written and read. " BARE,
    {.value = ring_slice, .floor = bare_slice, .figures = 1}};
static const bench_case peer_rows[] = {
    {"caf_reqrep_64B",
     "msg/s",
     {"median"},
     CAF BARE,
     {.value = peer_slice, .floor = bare_slice, .figures = 1, .enough = MEASURE_KEPT}},
    {"reqrep_64B_caf",
     "msg/s",
     {"median"},
     "The same as reqrep_64B. Floor: CAF, the value of caf_reqrep_64B.",
     {.value = ring_slice, .floor = peer_slice, .figures = 1, .enough = MEASURE_KEPT}},
};

static bool measure(exchange *exchange, const bench_case *row)
{
    bench_case what = *row;
    what.pair.value_context = what.pair.floor_context = exchange;
    return bench_measure(exchange->bench, &what);
}

bool bench_reqrep(bench *bench)
{
    exchange *exchange = memory_take(1, sizeof *exchange);
    exchange->bench = bench;
    exchange->messages = bench_size(bench, MESSAGES);
    exchange->in = bench_lines(sizeof(batch_queue));
    exchange->out = bench_lines(sizeof(batch_queue));
    if (bench_wants(bench, peer_rows[0].name) || bench_wants(bench, peer_rows[1].name))
        exchange->peer = bench_peer_start(bench, "slipring_peer_caf");
    bool fine = bench_ring_open(bench, "echo", NULL, &exchange->ring) && measure(exchange, &ring_row);
    for (size_t i = 0; exchange->peer != NULL && fine && i < sizeof peer_rows / sizeof *peer_rows; i++)
        fine = measure(exchange, &peer_rows[i]);
    bench_ring_close(&exchange->ring);
    bench_peer_stop(exchange->peer);
    free(exchange->in);
    free(exchange->out);
    free(exchange);
    return fine;
}
