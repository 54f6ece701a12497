// SPDX-License-Identifier: Apache-2.0
// `slipring bench pipeline`: four ring kernels joined by routes, beside one; on a device that is no CPU, relaunched,
// and beside those four that stay, and pass messages on without the host; and on a GPU what one route takes.
#include "bench/bench.h"

#include "bench/bare.h"
#include "bench/batch.h"
#include "bench/ring.h"
#include "clock.h"
#include "memory.h"
#include "say.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    STAGES = 4,
    WARM_UP = 2048,
    MESSAGES = 65536, // of a slice
    WINDOW = 1024,    // sent and not yet out at the end
    ROUNDS = 2000,    // of a latency slice
    BY_HAND = 20000   // rounds of two blocks
};

// Each stage adds 1 to every word. What the last one replies comes to `out`.
typedef struct chain {
    bench_ring stage[STAGES]; // the first one's port sends
    slr_port *out;
    slr_ring_mode mode;                        // 0: as the device runs it
    uint32_t stages, sent, received, messages; // of a slice
    double clock_ns;
    double times[ROUNDS];
} chain;

static const char source[] = "struct message { unsigned word[16]; };\n"
                             "__ring__ void stage(const struct message *in)\n"
                             "{\n"
                             "    struct message out;\n"
                             "    for (int i = 0; i < 16; i++)\n"
                             "        out.word[i] = in->word[i] + 1u;\n"
                             "    ring_reply(&out);\n"
                             "}\n";

// ---- making --------------------------------------------------------------------------------------------------------

static slr_status open_stage(bench *bench, chain *chain, const char *name, uint32_t number, bool stamped)
{
    bench_ring *stage = &chain->stage[number];
    char unique[64];
    snprintf(unique, sizeof unique, "%s-%u", name, number);
    slr_ring_desc desc = SLR_RING_DESC_INIT;
    desc.program = stage->program;
    desc.name = unique;
    desc.message_bytes = sizeof(bench_message);
    desc.time_stamps = stamped;
    desc.mode = chain->mode;
    slr_status status = slr_ring_create(bench->device, &desc, &stage->ring);
    if (status == SLR_OK)
        status = slr_ring_launch(stage->ring);
    if (status == SLR_OK && number > 0)
        status = slr_route(chain->stage[number - 1].ring, stage->ring, NULL);
    return status == SLR_OK ? slr_ring_activate(stage->ring, BENCH_TIMEOUT_NS) : status;
}

static slr_status open_ends(bench *bench, chain *chain)
{
    bench_ring *first = &chain->stage[0];
    slr_status status = slr_port_open(bench->device, &first->port);
    if (status == SLR_OK)
        status = slr_port_open(bench->device, &chain->out);
    if (status == SLR_OK)
        status = slr_ring_get_address(first->ring, 0, &first->to);
    return status == SLR_OK ? slr_route_to_port(chain->stage[chain->stages - 1].ring, chain->out, NULL) : status;
}

static bool open_chain(bench *bench, chain *chain, const char *name, uint32_t stages, bool stamped)
{
    chain->stages = stages;
    chain->clock_ns = bench->clock_ns;
    chain->messages = bench_size(bench, MESSAGES);
    slr_status status = SLR_OK;
    for (uint32_t i = 0; i < stages && status == SLR_OK; i++) {
        status = slr_program_from_text(bench->device, "pipeline.cu", source, NULL, &chain->stage[i].program);
        if (status == SLR_OK)
            status = open_stage(bench, chain, name, i, stamped);
    }
    if (status == SLR_OK)
        status = open_ends(bench, chain);
    return status == SLR_OK || bench_failed(status, name);
}

static void close_chain(chain *chain)
{
    slr_port_close(chain->out);
    for (uint32_t i = 0; i < chain->stages; i++)
        bench_ring_close(&chain->stage[i]);
}

// ---- the slices ----------------------------------------------------------------------------------------------------

static bool is_out(const chain *chain, const bench_message *message, uint32_t number)
{
    return bench_sum(message) == bench_sum_of(number) + chain->stages * BENCH_WORDS;
}

static bool receive_some(chain *chain, bool wait)
{
    slr_reply replies[BENCH_BATCH];
    bench_message out[BENCH_BATCH];
    uint32_t received = 0;
    slr_status status =
        slr_receive_many(chain->out, replies, out, sizeof *out, BENCH_BATCH, wait ? BENCH_TIMEOUT_NS : 0, &received);
    if (status == SLR_TIMEOUT && !wait)
        return true;
    for (uint32_t i = 0; status == SLR_OK && i < received; i++) {
        if (!is_out(chain, &out[i], chain->received++))
            status = SLR_HANDLER_FAULT;
    }
    return status == SLR_OK || bench_failed(status, "pipeline");
}

static bool run(chain *chain, uint32_t messages)
{
    uint32_t end = chain->received + messages;
    while (chain->received != end) {
        bool may_send = chain->sent != end && chain->sent - chain->received + BENCH_BATCH <= WINDOW;
        if (may_send && !bench_send_batch(&chain->stage[0], chain->sent))
            return false;
        chain->sent += may_send ? BENCH_BATCH : 0;
        if (!receive_some(chain, !may_send))
            return false;
    }
    return true;
}

static bool rate_slice(void *context, double *figures)
{
    chain *chain = context;
    bool fine = run(chain, WARM_UP);
    uint64_t start = clock_ns();
    fine = fine && run(chain, chain->messages);
    figures[0] = bench_per_second(chain->messages, start);
    return fine;
}

// From the stamp of the first send to the look at the clock behind the receive.
static bool latency_slice(void *context, double *figures)
{
    static const double parts[MEASURE_FIGURES] = {0.5, 0.99, 0.999};
    chain *chain = context;
    for (uint32_t i = 0; i < ROUNDS; i++) {
        bench_message message;
        slr_reply reply;
        const bench_ring *first = &chain->stage[0];
        bench_fill(&message, chain->sent);
        slr_status status = slr_send(first->port, first->to, &message, sizeof message, BENCH_TIMEOUT_NS);
        if (status == SLR_OK)
            status = slr_receive(chain->out, &reply, &message, sizeof message, BENCH_TIMEOUT_NS);
        chain->times[i] = (double)(clock_ns() - reply.sent_ns);
        if (status != SLR_OK || !is_out(chain, &message, chain->sent++))
            return bench_failed(status, "pipeline");
    }
    measure_sort(chain->times, ROUNDS);
    for (unsigned i = 0; i < MEASURE_FIGURES; i++)
        figures[i] = measure_quantile(chain->times, ROUNDS, parts[i]) - chain->clock_ns;
    return true;
}

// ---- the rows ------------------------------------------------------------------------------------------------------

// Of how many stages, and in which mode.
typedef struct kind {
    uint32_t stages;
    slr_ring_mode mode;
} kind;

static bool measure_chains(bench *bench, chain *chains, const kind *kinds, bool stamped, const bench_case *what)
{
    bench_case measured = *what;
    measured.pair.value_context = &chains[0];
    measured.pair.floor_context = &chains[1];
    chains[0].mode = kinds[0].mode;
    chains[1].mode = kinds[1].mode;
    bool fine = open_chain(bench, &chains[0], "stage", kinds[0].stages, stamped) &&
                open_chain(bench, &chains[1], "floor", kinds[1].stages, stamped) && bench_measure(bench, &measured);
    close_chain(&chains[0]);
    close_chain(&chains[1]);
    return fine;
}

static bool measure(bench *bench, const kind *kinds, bool stamped, const bench_case *what)
{
    chain *chains = memory_take(2, sizeof *chains);
    bool fine = !bench_wants(bench, what->name) || measure_chains(bench, chains, kinds, stamped, what);
    free(chains);
    return fine;
}

static bool measure_staying(bench *bench)
{
    static const kind kinds[] = {{STAGES, SLR_RING_PERSISTENT}, {STAGES, SLR_RING_RELAUNCHED}};
    static const bench_case rate = {
        .name = "pipeline4_stay",
        .unit = "msg/s",
        .stats = {"median"},
        .method = "The same as pipeline4, through 4 persistent ring kernels that send to one another on the device. "
                  "Floor: the value of pipeline4, through 4 batched ring kernels.",
        .pair = {.value = rate_slice, .floor = rate_slice, .figures = 1}};
    static const bench_case latency = {
        .name = "pipeline4_stay_latency",
        .unit = "ns",
        .stats = {"p50", "p99", "p99.9"},
        .method =
            "The same as pipeline4_latency, through these 4 persistent ring kernels. Floor: 4 batched ring kernels.",
        .pair = {.value = latency_slice, .floor = latency_slice, .figures = 3}};
    return measure(bench, kinds, false, &rate) && measure(bench, kinds, true, &latency);
}

// ---- from ring kernel to ring kernel -------------------------------------------------------------------------------

typedef struct hop {
    bench *bench;
    chain *two, *one;
    bare *bare;
    uint32_t rounds; // that the blocks by hand have made
} hop;

static bool hop_slice(void *context, double *figures)
{
    const hop *hop = context;
    double two[MEASURE_FIGURES], one[MEASURE_FIGURES];
    bool fine = latency_slice(hop->two, two) && latency_slice(hop->one, one);
    figures[0] = fine ? two[0] - one[0] : 0;
    return fine;
}

static bool by_hand_slice(void *context, double *figures)
{
    hop *hop = context;
    uint32_t rounds = bench_size(hop->bench, BY_HAND);
    figures[0] = 0;
    if (!bare_is_ready(hop->bare, BARE_HANDOVER))
        return true; // the method says why
    uint64_t start = clock_ns();
    bool fine = bare_start(hop->bare, BARE_HANDOVER, hop->rounds, hop->rounds + rounds);
    fine = bare_wait(hop->bare) && fine;
    figures[0] = (double)(clock_ns() - start) / (2.0 * rounds);
    hop->rounds += rounds;
    return fine;
}

static bool measure_hop(hop *hop)
{
    char method[BENCH_METHOD_BYTES / 2];
    bench_case what = {
        .name = "ring_to_ring",
        .unit = "ns",
        .stats = {"p50"},
        .method = method,
        .pair = {.value = hop_slice, .floor = by_hand_slice, .value_context = hop, .floor_context = hop, .figures = 1}};
    void *unused = bare_take(hop->bare, sizeof(bench_message));
    bool by_hand = unused != NULL && bare_prepare(hop->bare, BARE_HANDOVER, unused, unused);
    snprintf(method, sizeof method,
             "One message of 64 B at a time goes through two ring kernels, and then through one: the difference of the "
             "two median times. Floor: %s%.160s.",
             by_hand ? "two handwritten blocks in CUDA C++ pass such a message to and fro through L2; half of the time "
                       "of a round trip"
                     : "none, because the handwritten kernel does not run: ",
             by_hand ? "" : bare_why(hop->bare));
    return open_chain(hop->bench, hop->two, "hop", 2, true) && open_chain(hop->bench, hop->one, "no-hop", 1, true) &&
           bench_measure(hop->bench, &what);
}

// On a GPU, where a thread of the host would otherwise be between the two.
static bool measure_hops(bench *bench)
{
    if (strcmp(bench->info.backend, "cuda") != 0 || !bench_wants(bench, "ring_to_ring"))
        return true;
    hop hop = {.bench = bench, .bare = bare_open(bench)};
    if (hop.bare == NULL)
        return false;
    partner_free_caller(bench->partner); // as before
    hop.two = memory_take(1, sizeof *hop.two);
    hop.one = memory_take(1, sizeof *hop.one);
    hop.two->mode = hop.one->mode = SLR_RING_PERSISTENT;
    bool fine = measure_hop(&hop);
    close_chain(hop.two);
    close_chain(hop.one);
    bare_close(hop.bare);
    free(hop.two);
    free(hop.one);
    return fine;
}

bool bench_pipeline(bench *bench)
{
    bool on_host = strcmp(bench->info.backend, "cpu") == 0;
    const slr_ring_mode mode = on_host ? 0 : SLR_RING_RELAUNCHED;
    const kind kinds[] = {{STAGES, mode}, {1, mode}};
    static const bench_case rate = {
        .name = "pipeline4",
        .unit = "msg/s",
        .stats = {"median"},
        .method = "Messages of 64 B a second through 4 ring kernels that slr_route connects; each reads and writes "
                  "every word. The caller sends 32 messages at a time, and receives them from the last ring kernel "
                  "through a port. The caller and all workers share the cores. Floor: one such ring kernel, with the "
                  "same sends and receives.",
        .pair = {.value = rate_slice, .floor = rate_slice, .figures = 1}};
    static const bench_case latency = {
        .name = "pipeline4_latency",
        .unit = "ns",
        .stats = {"p50", "p99", "p99.9"},
        .method = "The time of a message through all 4 ring kernels, by the timestamp that the routes pass on; one "
                  "message at a time. Floor: the same through one ring kernel.",
        .pair = {.value = latency_slice, .floor = latency_slice, .figures = 3}};
    partner_free_caller(bench->partner);
    return measure(bench, kinds, false, &rate) && measure(bench, kinds, true, &latency) &&
           (on_host || (measure_staying(bench) && measure_hops(bench)));
}
