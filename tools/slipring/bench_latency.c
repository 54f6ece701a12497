// SPDX-License-Identifier: Apache-2.0
// `slipring bench latency`: one message there, one answer back, one at a time.
#include "bench.h"

#include "bench_bare_opencl.h"
#include "bench_queue.h"
#include "bench_ring.h"
#include "clock.h"
#include "handoff.h"
#include "memory.h"
#include "say.h"

#include <stdlib.h>

enum {
    WARM_UP = 300, // rounds before those that count: a parked worker wakes, lines find their places
    ROUNDS = 4000,
    HANDOFF_ROUNDS = 300,
    CALLS = 64 // plain calls between two looks at the clock, which costs more than one
};

typedef struct latency {
    bench *bench;
    bench_ring ring;
    handoff *handoff;
    bare_opencl *opencl;           // of an OpenCL device: the echo is a kernel there
    latency_slot *in, *out;        // LATENCY_SLOTS each
    uint32_t number;               // of the next message
    uint32_t echo_begin, echo_end; // of a floor's slice
    uint32_t wrong;                // answers to it
    double times[ROUNDS];
} latency;

// One round trip: sends message `number`, reads its answer. False: failed, and that has been said.
typedef bool round_trip(latency *latency, uint32_t number);

// Each time holds one look at the clock, which is taken off.
static void summarise(latency *latency, unsigned rounds, double *figures)
{
    static const double parts[MEASURE_FIGURES] = {0.5, 0.99, 0.999};
    measure_sort(latency->times, rounds);
    for (unsigned i = 0; i < MEASURE_FIGURES; i++)
        figures[i] = measure_quantile(latency->times, rounds, parts[i]) - latency->bench->clock_ns;
}

static bool time_rounds(latency *latency, round_trip *round, unsigned rounds, double *figures)
{
    for (unsigned i = 0; i < WARM_UP; i++) {
        if (!round(latency, latency->number++))
            return false;
    }
    uint64_t last = clock_ns();
    for (unsigned i = 0; i < rounds; i++) {
        if (!round(latency, latency->number++))
            return false;
        uint64_t now = clock_ns();
        latency->times[i] = (double)(now - last);
        last = now;
    }
    summarise(latency, rounds, figures);
    return true;
}

static bool wrong_answer(void)
{
    say("a wrong answer came back");
    return false;
}

// ---- the ring kernel -----------------------------------------------------------------------------------------------

static bool ring_round(latency *latency, uint32_t number)
{
    bench_message message, answer;
    slr_reply reply;
    bench_fill(&message, number);
    bench_ring *ring = &latency->ring;
    slr_status status = slr_send(ring->port, ring->to, &message, sizeof message, BENCH_TIMEOUT_NS);
    if (status == SLR_OK)
        status = slr_receive(ring->port, &reply, &answer, sizeof answer, BENCH_TIMEOUT_NS);
    if (status == SLR_OK && reply.status == SLR_OK)
        return bench_is_answer(&answer, number) || wrong_answer();
    say_failure(status, "round trip");
    return false;
}

static bool ring_slice(void *context, double *figures)
{
    return time_rounds(context, ring_round, ROUNDS, figures);
}

// ---- the floor: a bare echo ----------------------------------------------------------------------------------------

// Works on copies: what the caller writes in every round lies on the same line.
static void echo(void *context)
{
    latency *latency = context;
    latency_slot *const ins = latency->in, *const outs = latency->out;
    const uint32_t end = latency->echo_end;
    for (uint32_t i = latency->echo_begin; i != end; i++) {
        latency_slot *in = &ins[i % LATENCY_SLOTS], *out = &outs[i % LATENCY_SLOTS];
        latency_await(in, i);
        bench_answer(&out->message, &in->message);
        latency_publish(out, i);
    }
}

static bool echo_round(latency *latency, uint32_t number)
{
    latency_slot *in = &latency->in[number % LATENCY_SLOTS], *out = &latency->out[number % LATENCY_SLOTS];
    bench_fill(&in->message, number);
    latency_publish(in, number);
    latency_await(out, number);
    latency->wrong += !bench_is_answer(&out->message, number);
    return true; // or the partner would wait for ever for what is not sent
}

static bool echo_slice(void *context, double *figures)
{
    latency *latency = context;
    latency->echo_begin = latency->number;
    latency->echo_end = latency->number + WARM_UP + ROUNDS;
    if (latency->opencl == NULL)
        partner_run(latency->bench->partner, echo, latency);
    else if (!bare_opencl_start(latency->opencl, latency->echo_begin, latency->echo_end))
        return false;
    bool fine = time_rounds(latency, echo_round, ROUNDS, figures);
    if (latency->opencl == NULL)
        partner_join(latency->bench->partner);
    else
        fine = bare_opencl_wait(latency->opencl) && fine;
    return fine && (latency->wrong == 0 || wrong_answer());
}

// ---- on an OpenCL device: a launch a message -----------------------------------------------------------------------

static bool launch_round(latency *latency, uint32_t number)
{
    latency_slot *in = &latency->in[number % LATENCY_SLOTS], *out = &latency->out[number % LATENCY_SLOTS];
    bench_fill(&in->message, number);
    latency_publish(in, number);
    return bare_opencl_launch(latency->opencl, number) && (bench_is_answer(&out->message, number) || wrong_answer());
}

static bool launch_slice(void *context, double *figures)
{
    return time_rounds(context, launch_round, HANDOFF_ROUNDS, figures);
}

// ---- what else could be done ---------------------------------------------------------------------------------------

typedef struct handed {
    bench_message message, answer;
} handed;

static void work(void *context, void *item)
{
    (void)context;
    handed *handed = item;
    bench_answer(&handed->answer, &handed->message);
}

static bool handoff_round(latency *latency, uint32_t number)
{
    handed handed;
    bench_fill(&handed.message, number);
    handoff_do(latency->handoff, &handed);
    return bench_is_answer(&handed.answer, number) || wrong_answer();
}

static bool handoff_slice(void *context, double *figures)
{
    return time_rounds(context, handoff_round, HANDOFF_ROUNDS, figures);
}

// Through a pointer that the compiler cannot follow: a call, not a loop that it merges with its neighbours.
static void (*volatile plain)(bench_message *restrict answer, const bench_message *restrict message) = bench_answer;

static bool plain_slice(void *context, double *figures)
{
    latency *latency = context;
    for (unsigned i = 0; i < ROUNDS; i++) {
        uint64_t start = clock_ns();
        for (unsigned k = 0; k < CALLS; k++) {
            bench_message message, answer;
            bench_fill(&message, latency->number);
            plain(&answer, &message);
            if (!bench_is_answer(&answer, latency->number++))
                return wrong_answer();
        }
        latency->times[i] = (double)(clock_ns() - start) / CALLS;
    }
    measure_sort(latency->times, ROUNDS);
    figures[0] = measure_quantile(latency->times, ROUNDS, 0.5);
    return true;
}

static bool probe_slice(void *context, double *figures)
{
    latency *latency = context;
    figures[0] = partner_probe_ns(latency->bench->partner);
    return true;
}

// ---- the rows ------------------------------------------------------------------------------------------------------

#define QUANTILES                                                                                                      \
    {                                                                                                                  \
        "p50", "p99", "p99.9"                                                                                          \
    }
#define FLOOR "floor: bare echo, two SPSC queues, same payload. "

static const bench_case cases[] = {
    {"rtt_64B",
     "ns",
     QUANTILES,
     "slr_send, then slr_receive; each word of message and answer is written and read. " FLOOR,
     {.value = ring_slice, .figures = 3}},
    {"handoff_64B",
     "ns",
     QUANTILES,
     "a mutex and two condition variables, same work. " FLOOR,
     {.value = handoff_slice, .figures = 3}},
    {"plain_64B",
     "ns",
     {"p50"},
     "a C function called, same work; calls timed 64 at once. " FLOOR,
     {.value = plain_slice, .figures = 1}},
    {"ping_pong", "ns", {"p50"}, "a cache line there and back. " FLOOR, {.value = probe_slice, .figures = 1}},
};

// The same by a launch each, beside the ring kernel.
static bool measure_launch(bench *bench, latency *latency)
{
    bench_case what = {"rtt_64B_launch",
                       "ns",
                       QUANTILES,
                       "the same work by hand-written OpenCL: a kernel launched and waited for, each message. floor: "
                       "slr_send, then slr_receive. ",
                       {.value = launch_slice, .floor = ring_slice, .figures = 3}};
    what.pair.value_context = what.pair.floor_context = latency;
    return latency->opencl == NULL || bench_measure(bench, &what);
}

static bool measure_all(bench *bench, latency *latency)
{
    static const char opencl_method[] =
        "slr_send, then slr_receive; each word of message and answer is written and read. floor: bare echo, a "
        "hand-written kernel that stays on the first OpenCL device, two queues in host memory, same payload. ";
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        bench_case what = cases[i];
        if (latency->opencl != NULL && i != 0) // the others are of the host, and have its floor on a cpu
            continue;
        if (latency->opencl != NULL)
            what.method = opencl_method;
        what.pair.floor = echo_slice;
        what.pair.value_context = what.pair.floor_context = latency;
        if (!bench_measure(bench, &what))
            return false;
    }
    return measure_launch(bench, latency);
}

bool bench_latency(bench *bench)
{
    latency *latency = memory_take(1, sizeof *latency);
    latency->bench = bench;
    latency->in = bench_lines(LATENCY_SLOTS * sizeof(latency_slot));
    latency->out = bench_lines(LATENCY_SLOTS * sizeof(latency_slot));
    partner_move_caller(bench->partner, true); // the thread that is started inherits the other core
    latency->handoff = handoff_start(work, NULL);
    partner_move_caller(bench->partner, false);
    bool fine = latency->handoff != NULL && bench_ring_open(bench, "echo", NULL, &latency->ring);
    if (fine && bare_opencl_is(bench))
        fine = (latency->opencl = bare_opencl_echo(latency->in, latency->out)) != NULL;
    fine = fine && measure_all(bench, latency);
    bare_opencl_close(latency->opencl);
    bench_ring_close(&latency->ring);
    handoff_stop(latency->handoff);
    free(latency->in);
    free(latency->out);
    free(latency);
    return fine;
}
