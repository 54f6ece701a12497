// SPDX-License-Identifier: Apache-2.0
// `slipring bench profile`: the time in handlers that the profiler tells, beside a stopwatch by hand.
#include "bench/bench.h"

#include "bench/batch.h"
#include "clock.h"
#include "demo/demo.h"
#include "plain.h"

#include <slipring/slipring.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MESSAGES = 2000, ROUNDS = 15, MOST_ROWS = 512, PASSES = 10 };

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

static slr_status start(slr_device *device, slr_ring_desc desc, slr_ring **out)
{
    desc.name = name;
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

static slr_status profile_round(slr_device *device, const demo_record *record, const slr_ring_desc *desc, uint64_t *ns)
{
    slr_ring *ring = NULL;
    slr_profile_clear();
    slr_status status = slr_profile_start();
    if (status == SLR_OK)
        status = start(device, *desc, &ring);
    if (status == SLR_OK)
        status = feed(device, ring, record);
    *ns = profiled_ns();
    slr_profile_stop();
    slr_ring_destroy(ring);
    return status == SLR_OK && *ns == 0 ? SLR_NOT_FOUND : status;
}

// Of several rounds the shortest: the other threads of the machine take part in the longer ones.
static bool bench_host_handler(bench *bench, const demo_record *record)
{
    uint64_t ns = UINT64_MAX, by_hand = 0;
    slr_status status = SLR_OK;
    for (int i = 0; i < ROUNDS && status == SLR_OK; i++) {
        uint64_t profiled;
        stopwatch stopwatch = {0};
        slr_ring_desc desc = SLR_RING_DESC_INIT;
        desc.on_message = detect;
        desc.user = &stopwatch;
        desc.message_bytes = sizeof(struct samples);
        desc.state_bytes = (uint32_t)ward_plain_state_bytes();
        status = profile_round(bench->device, record, &desc, &profiled);
        if (status == SLR_OK && profiled < ns) {
            ns = profiled;
            by_hand = stopwatch.ns;
        }
    }
    if (status != SLR_OK)
        return bench_failed(status, "profile");
    bench_add(bench,
              &(bench_row){.name = "handlers",
                           .stat = "mean",
                           .unit = "ns",
                           .value = (double)ns / MESSAGES,
                           .floor = (double)by_hand / MESSAGES + bench->clock_ns},
              "The time in handlers for each message, as the profiler reports it: the detector of the ward as a host "
              "handler, with 2,000 messages of one patient; the shortest of 15 rounds. Floor: the handler itself reads "
              "the clock before and after the detector; the time of one clock read, which these readings do not "
              "contain, is added.");
    return true;
}

// ---- a handler of source -------------------------------------------------------------------------------------------

// The handler's body in a loop over messages, in one thread. A beat goes to memory, instead of into a reply.
static const char loop[] = "__global__ void by_hand(struct patient *self, const struct samples *in, struct beat *out, "
                           "int messages, int passes)\n"
                           "{\n"
                           "    for (int pass = 0; pass < passes; pass++)\n"
                           "        for (int k = 0; k < messages; k++) {\n"
                           "            if (self->now == 0)\n"
                           "                self->origin = in[k].adc[0];\n"
                           "            for (int i = 0; i < WARD_SAMPLES; i++)\n"
                           "                take_sample(self, in[k].adc[i] - self->origin);\n"
                           "            if (self->replied_count != self->found_count)\n"
                           "                *out = self->found[self->replied_count++ % MOST_AT_ONCE];\n"
                           "        }\n"
                           "}\n";

typedef struct by_hand {
    slr_program *program;
    slr_kernel *kernel;
    slr_stream *stream;
    slr_buffer *state, *in, *out;
} by_hand;

static slr_status by_hand_open(slr_device *device, const demo_record *record, by_hand *out)
{
    char *detector = demo_source_make();
    size_t bytes = strlen(detector) + sizeof loop;
    char *source = malloc(bytes);
    if (source != NULL)
        snprintf(source, bytes, "%s%s", detector, loop);
    slr_status status = source != NULL ? slr_stream_default(device, &out->stream) : SLR_NO_MEMORY;
    if (status == SLR_OK)
        status = slr_program_from_text(device, "ward.cu", source, NULL, &out->program);
    if (status == SLR_OK)
        status = slr_program_get_kernel(out->program, "by_hand", &out->kernel);
    if (status == SLR_OK)
        status = slr_buffer_create(device, ward_plain_state_bytes(), &out->state);
    if (status == SLR_OK)
        status = slr_buffer_create(device, MESSAGES * sizeof(struct samples), &out->in);
    if (status == SLR_OK)
        status = slr_buffer_create(device, sizeof(struct beat), &out->out);
    for (uint64_t i = 0; i < MESSAGES && status == SLR_OK; i++)
        status =
            slr_buffer_write(out->in, i * sizeof(struct samples), demo_message(record, 0, i), sizeof(struct samples));
    free(source);
    free(detector);
    return status;
}

static void by_hand_close(by_hand *by_hand)
{
    slr_buffer_destroy(by_hand->out);
    slr_buffer_destroy(by_hand->in);
    slr_buffer_destroy(by_hand->state);
    slr_kernel_destroy(by_hand->kernel);
    slr_program_destroy(by_hand->program);
}

static slr_status watch_round(const by_hand *by_hand, uint64_t *ns)
{
    slr_status status = slr_stream_finish(by_hand->stream, BENCH_TIMEOUT_NS);
    uint64_t begin = clock_ns();
    if (status == SLR_OK)
        status = SLR_LAUNCH(by_hand->stream, by_hand->kernel, SLR_GRID(1, 1, 0), by_hand->state, by_hand->in,
                            by_hand->out, (int)MESSAGES, (int)PASSES);
    if (status == SLR_OK)
        status = slr_stream_finish(by_hand->stream, BENCH_TIMEOUT_NS);
    *ns = (clock_ns() - begin) / PASSES;
    return status;
}

static bool bench_source_handler(bench *bench, const demo_record *record)
{
    by_hand by_hand = {0};
    uint64_t ns = UINT64_MAX, floor = UINT64_MAX, profiled, watched;
    slr_ring_desc desc = SLR_RING_DESC_INIT;
    slr_status status = by_hand_open(bench->device, record, &by_hand);
    desc.program = by_hand.program;
    desc.handler = "detect";
    for (int i = 0; i < ROUNDS && status == SLR_OK; i++) {
        status = profile_round(bench->device, record, &desc, &profiled);
        if (status == SLR_OK)
            status = watch_round(&by_hand, &watched);
        if (status != SLR_OK)
            break;
        ns = profiled < ns ? profiled : ns;
        floor = watched < floor ? watched : floor;
    }
    by_hand_close(&by_hand);
    if (status == SLR_UNSUPPORTED) { // its driver ends loops of so many turns
        fprintf(stderr, "slipring bench: handlers_source: %s\n", slr_error_message());
        return true;
    }
    if (status != SLR_OK)
        return bench_failed(status, "profile");
    bench_add(bench,
              &(bench_row){.name = "handlers_source",
                           .stat = "mean",
                           .unit = "ns",
                           .value = (double)ns / MESSAGES,
                           .floor = (double)floor / MESSAGES},
              "The same as handlers, with the detector in kernel source, on the device. Floor: no clock reads but a "
              "loop: in one "
              "launch, one thread passes the messages to the same functions ten times. A handler, in contrast, also "
              "finds its message and its state in memory, and replies.");
    return true;
}

bool bench_handlers(bench *bench)
{
    bool host = bench_wants(bench, "handlers"), source = bench_wants(bench, "handlers_source"), fine = true;
    demo_record *record = host || source ? demo_record_make() : NULL;
    if (host)
        fine = bench_host_handler(bench, record);
    if (fine && source)
        fine = bench_source_handler(bench, record);
    free(record);
    return fine;
}
