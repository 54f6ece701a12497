// SPDX-License-Identifier: Apache-2.0
// `slipring bench latency`: one message there, one answer back, one at a time.
#include "bench/bench.h"

#include "bench/bare.h"
#include "bench/queue.h"
#include "bench/ring.h"
#include "clock.h"
#include "handoff.h"
#include "memory.h"
#include "say.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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
    enum bare_way way;             // of a message without a kernel that stays
    bare *bare;                    // on a device that is no cpu the echo is a kernel there
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

static bool time_rounds(latency *latency, round_trip *round, unsigned many, double *figures)
{
    unsigned rounds = bench_size(latency->bench, many);
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
    say("the reply is wrong");
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
    for (uint32_t polls = 0; !latency_look(out, number);)
        if (++polls == BARE_MOST_POLLS)
            bare_give_up(latency->bare);
    latency->wrong += !bench_is_answer(&out->message, number);
    return true; // or the partner would wait for ever for what is not sent
}

static bool echo_slice(void *context, double *figures)
{
    latency *latency = context;
    latency->echo_begin = latency->number;
    latency->echo_end = latency->number + WARM_UP + bench_size(latency->bench, ROUNDS);
    partner_run(latency->bench->partner, echo, latency);
    bool fine = time_rounds(latency, echo_round, ROUNDS, figures);
    partner_join(latency->bench->partner);
    return fine && (latency->wrong == 0 || wrong_answer());
}

// ---- on another device: kernels by hand ----------------------------------------------------------------------------

static bool stays_slice(latency *latency, enum bare_kernel kernel, double *figures)
{
    uint32_t begin = latency->number;
    memset(figures, 0, MEASURE_FIGURES * sizeof *figures);
    if (!bare_is_ready(latency->bare, kernel))
        return true; // the method says why
    bool fine = bare_start(latency->bare, kernel, begin, begin + WARM_UP + bench_size(latency->bench, ROUNDS)) &&
                time_rounds(latency, echo_round, ROUNDS, figures);
    fine = bare_wait(latency->bare) && fine;
    return fine && (latency->wrong == 0 || wrong_answer());
}

static bool one_block_slice(void *context, double *figures)
{
    return stays_slice(context, BARE_ECHO, figures);
}

static bool two_blocks_slice(void *context, double *figures)
{
    return stays_slice(context, BARE_RELAYED, figures);
}

static bool launch_round(latency *latency, uint32_t number)
{
    latency_slot *in = &latency->in[number % LATENCY_SLOTS], *out = &latency->out[number % LATENCY_SLOTS];
    bench_fill(&in->message, number);
    return bare_handle(latency->bare, latency->way, number) &&
           (bench_is_answer(&out->message, number) || wrong_answer());
}

static bool launch_slice(void *context, double *figures)
{
    latency *latency = context;
    bool fine = bare_begin_launches(latency->bare) && time_rounds(context, launch_round, HANDOFF_ROUNDS, figures);
    return bare_end_launches(latency->bare) && fine;
}

// Where none can stay, the ring kernel is dispatched for each message, too.
static bool batched_slice(void *context, double *figures)
{
    return time_rounds(context, ring_round, HANDOFF_ROUNDS, figures);
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
#define FLOOR "Floor: a bare echo, two queues in memory without slipring, with the same messages."

static const bench_case cases[] = {
    {"rtt_64B",
     "ns",
     QUANTILES,
     "The time from slr_send of a message until slr_receive has its reply; each word of both is written and "
     "read. " FLOOR,
     {.value = ring_slice, .figures = 3}},
    {"handoff_64B",
     "ns",
     QUANTILES,
     "The work of the handler of rtt_64B by a second thread: a mutex and two condition variables pass it the message "
     "and return the reply. " FLOOR,
     {.value = handoff_slice, .figures = 3}},
    {"plain_64B",
     "ns",
     {"p50"},
     "The work of the handler of rtt_64B by a call of a C function; 64 calls are timed together. " FLOOR,
     {.value = plain_slice, .figures = 1}},
    {"ping_pong",
     "ns",
     {"p50"},
     "The time of a cache line to the other core and back. " FLOOR,
     {.value = probe_slice, .figures = 1}},
};

static bool measure_on_host(bench *bench, latency *latency)
{
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        bench_case what = cases[i];
        what.pair.floor = echo_slice;
        what.pair.value_context = what.pair.floor_context = latency;
        if (!bench_measure(bench, &what))
            return false;
    }
    return true;
}

// The ring kernel beside a kernel by hand that stays; where that cannot be, the row says why.
static bool measure_resident(bench *bench, latency *latency, const char *name, enum bare_kernel kernel,
                             const char *floor)
{
    char method[BENCH_METHOD_BYTES / 2];
    bench_case what = cases[0];
    const char *called = bare_called(latency->bare);
    if (bare_is_ready(latency->bare, kernel))
        snprintf(
            method, sizeof method,
            "The time from slr_send of a message until slr_receive has its reply; each word of both is written and "
            "read. Floor: a handwritten echo in %s: %s, with two queues in host memory and the same messages.",
            called, floor);
    else
        snprintf(method, sizeof method,
                 "The time from slr_send of a message until slr_receive has its reply. No floor, because the "
                 "handwritten echo in %s does not run: %.160s.",
                 called, bare_why(latency->bare));
    what.name = name;
    what.method = method;
    what.pair.floor = kernel == BARE_ECHO ? one_block_slice : two_blocks_slice;
    what.pair.value_context = what.pair.floor_context = latency;
    return bench_measure(bench, &what);
}

// The same without a kernel that stays, beside the ring kernel.
static bool measure_ways(bench *bench, latency *latency)
{
    static const struct way {
        const char *name, *method;
    } ways[BARE_WAYS] = {
        [BARE_BY_LAUNCH] = {"rtt_64B_launch", "a launch of a kernel, and a wait"},
        [BARE_BY_GRAPH] = {"rtt_64B_graph", "a launch of a graph that contains the kernel, and a wait"},
        [BARE_BY_COPIES] =
            {"rtt_64B_copy",
             "a copy to the device, a launch and a copy back, in calls that wait, with host memory that is not pinned"},
        [BARE_BY_QUEUED_COPIES] = {"rtt_64B_copy_queued", "a copy to the device, a launch and a copy back in one "
                                                          "stream, with pinned host memory, and then one wait"},
    };
    for (unsigned i = 0; i < BARE_WAYS; i++) {
        char method[BENCH_METHOD_BYTES / 2];
        bench_case what = {
            ways[i].name, "ns", QUANTILES, method, {.value = launch_slice, .floor = ring_slice, .figures = 3}};
        latency->way = i;
        if (!bare_has(latency->bare, i))
            continue;
        snprintf(method, sizeof method,
                 "The same work without slipring, in %s, for each message: %s. Floor: the time from slr_send until "
                 "slr_receive has the reply.",
                 bare_called(latency->bare), ways[i].method);
        what.pair.value_context = what.pair.floor_context = latency;
        if (!bench_measure(bench, &what))
            return false;
    }
    return true;
}

// WebGPU: there is one way, which is the floor.
static bool measure_batched(bench *bench, latency *latency)
{
    bench_case what = cases[0];
    what.method =
        "The time from slr_send of a message until slr_receive has its reply. Floor: the same WebGPU library without "
        "slipring: a write, a dispatch and a copy into a read-back buffer in one submission, and a map.";
    what.pair = (measure_pair){.value = batched_slice,
                               .floor = launch_slice,
                               .value_context = latency,
                               .floor_context = latency,
                               .figures = 3};
    latency->way = BARE_BY_LAUNCH;
    return bench_measure(bench, &what);
}

static bool measure_on_device(bench *bench, latency *latency)
{
    static const char two[] = "rtt_64B_relayed";
    if (strcmp(bench->info.backend, "webgpu") == 0)
        return measure_batched(bench, latency);
    bool relayed = strcmp(bench->info.backend, "cuda") == 0;
    return measure_resident(bench, latency, "rtt_64B", BARE_ECHO, "a persistent kernel") &&
           (!relayed ||
            measure_resident(bench, latency, two, BARE_RELAYED,
                             "a persistent kernel, in which one block polls the flags and another block replies")) &&
           measure_ways(bench, latency);
}

static bool open_bare(bench *bench, latency *latency)
{
    if ((latency->bare = bare_open(bench)) == NULL)
        return false;
    latency->in = bare_take(latency->bare, LATENCY_SLOTS * sizeof(latency_slot));
    latency->out = bare_take(latency->bare, LATENCY_SLOTS * sizeof(latency_slot));
    if (latency->in == NULL || latency->out == NULL)
        return false;
    bool launches = bare_prepare(latency->bare, BARE_ONCE, latency->in, latency->out);
    if (!launches)
        say("the floor: %s", bare_why(latency->bare));
    bare_prepare(latency->bare, BARE_RELAYED, latency->in, latency->out); // without them rows say so
    bare_prepare(latency->bare, BARE_ECHO, latency->in, latency->out);
    return launches;
}

bool bench_latency(bench *bench)
{
    latency *latency = memory_take(1, sizeof *latency);
    latency->bench = bench;
    partner_move_caller(bench->partner, true); // the thread that is started inherits the other core
    latency->handoff = handoff_start(work, NULL);
    partner_move_caller(bench->partner, false);
    bool fine =
        latency->handoff != NULL && open_bare(bench, latency) && bench_ring_open(bench, "echo", NULL, &latency->ring);
    fine = fine && (bare_on_host(latency->bare) ? measure_on_host : measure_on_device)(bench, latency);
    bench_ring_close(&latency->ring);
    bare_close(latency->bare);
    handoff_stop(latency->handoff);
    free(latency);
    return fine;
}
