// SPDX-License-Identifier: Apache-2.0
// The program of the sweep: it uses everything that a device can do, stops at the first failure, and checks each
// result.
#ifndef TESTS_FAILURES_PROGRAM_H
#define TESTS_FAILURES_PROGRAM_H

#include "tests/fakes/failing/failing.h"
#include "tests/fakes/trial.h"

#include "base/status.h"
#include "device/device.h"

#include <slipring/occupancy.h>

static const char source[] = "struct message { unsigned value; };\n"
                             "struct count { unsigned handled; };\n"
                             "__device__ unsigned launches = 5;\n"
                             "__global__ void add(int *p, int n)\n"
                             "{\n"
                             "    p[threadIdx.x] += n;\n"
                             "    if (threadIdx.x == 0) atomicAdd(&launches, 1u);\n"
                             "}\n"
                             "__global__ void tell(int n) { printf(\"n is %d\\n\", n); }\n"
                             "__global__ void divide(int *p, int n) { p[threadIdx.x] /= n; }\n"
                             "__ring__ void counts(struct count *self, const struct message *in, unsigned more)\n"
                             "{\n"
                             "    struct message out = {in->value + more};\n"
                             "    self->handled += 1u;\n"
                             "    ring_reply(&out);\n"
                             "}\n";

enum { MESSAGES = 20, WORDS = 16 };

struct play {
    slr_device *device;
    slr_stream *stream;
    slr_event *event;
    slr_buffer *a, *b;
    slr_program *program;
    slr_kernel *add, *tell, *divide;
    slr_graph *graph;
    slr_ring *ring;
    slr_port *port;
    slr_status told;
    uint32_t calls, launches;
    int back[WORDS];
    bool hosted; // its ring kernel's handler is a function of the host
    bool was_lost;
    bool is_mute; // kernels of the device do not print
};

static char printed[64]; // by `tell`

static void hear(void *user, const slr_print *print)
{
    (void)user;
    size_t used = strlen(printed);
    snprintf(printed + used, sizeof printed - used, "%s", print->text);
}

static void note(void *user, slr_status status)
{
    struct play *p = user;
    p->told = status;
    ++p->calls;
}

// Memory of the application's, where the device pins it.
static slr_status pin(struct play *p)
{
    static unsigned char memory[4096] __attribute__((aligned(4096)));
    slr_buffer_desc desc = SLR_BUFFER_DESC_INIT;
    slr_buffer *pinned;
    desc.bytes = 64;
    desc.import = memory;
    desc.pinned = 1;
    slr_status status = slr_buffer_create_with(p->device, &desc, &pinned);
    if (status == SLR_OK)
        slr_buffer_destroy(pinned);
    return status;
}

static slr_status make_all(struct play *p)
{
    slr_device_info info;
    slr_status status = slr_device_get_info(p->device, &info);
    if (p->device && p->device->facts.has_pinned && !p->device->facts.unified)
        TRY_EACH(pin(p));
    TRY_EACH(slr_stream_create(p->device, NULL, &p->stream));
    TRY_EACH(slr_event_create(p->device, &p->event));
    TRY_EACH(slr_buffer_create(p->device, sizeof p->back, &p->a));
    TRY_EACH(slr_buffer_create(p->device, sizeof p->back, &p->b));
    TRY_EACH(slr_program_from_text(p->device, "sweep.cu", source, NULL, &p->program));
    TRY_EACH(slr_program_get_kernel(p->program, "add", &p->add));
    TRY_EACH(slr_program_get_kernel(p->program, "tell", &p->tell));
    TRY_EACH(slr_program_get_kernel(p->program, "divide", &p->divide));
    return status;
}

static slr_status submit(struct play *p)
{
    static const unsigned begin = 7;
    slr_kernel_occupancy occupancy;
    slr_status status = slr_stream_fill(p->stream, p->a, 0, sizeof p->back, "\1\0\0\0\2\0\0\0", 8, NULL);
    TRY_EACH(slr_stream_fill(p->stream, p->a, 6, 4, "\0\0", 2, NULL));
    TRY_EACH(slr_stream_copy(p->stream, p->b, 0, p->a, 0, sizeof p->back, NULL));
    TRY_EACH(slr_stream_copy(p->stream, p->b, 4, p->b, 0, 32, NULL)); // over itself
    TRY_EACH(slr_stream_write(p->stream, p->b, 0, "\3\0\0\0", 4, NULL));
    TRY_EACH(slr_stream_write_symbol(p->stream, p->program, "launches", 0, &begin, sizeof begin, NULL));
    TRY_EACH(slr_kernel_get_occupancy(p->add, SLR_GRID(1, WORDS, 0), &occupancy));
    TRY_EACH(SLR_LAUNCH(p->stream, p->add, SLR_GRID(1, WORDS, 0), p->b, 10));
    if (!p->is_mute)
        TRY_EACH(SLR_LAUNCH(p->stream, p->tell, SLR_GRID(1, 1, 0), 3));
    TRY_EACH(slr_event_record(p->event, p->stream, NULL));
    TRY_EACH(slr_stream_call(p->stream, note, p, NULL));
    TRY_EACH(slr_stream_read(p->stream, p->b, 0, p->back, sizeof p->back, NULL));
    TRY_EACH(slr_stream_read_symbol(p->stream, p->program, "launches", 0, &p->launches, sizeof p->launches, NULL));
    TRY_EACH(slr_stream_finish(p->stream, LONG));
    TRY_EACH(slr_event_wait(p->event, LONG));
    return status;
}

// What was submitted has been done, and nothing of it twice.
static void check_submitted(const struct play *p)
{
    static const int expected[WORDS] = {13, 11, 12, 11, 12, 11, 12, 11, 12, 11, 12, 11, 12, 11, 12, 11};
    holds(memcmp(p->back, expected, 4) == 0);
    holds(p->back[15] == 12 && p->back[9] == 12);
    holds(p->launches == 8);
    holds(p->calls == 1 && p->told == SLR_OK);
    holds(strcmp(printed, p->is_mute ? "" : "n is 3\n") == 0);
}

// A fault of the kernel is none of the device's.
static slr_status fault(struct play *p)
{
    slr_status status = SLR_LAUNCH(p->stream, p->divide, SLR_GRID(1, 4, 0), p->a, 0);
    TRY_EACH(slr_stream_finish(p->stream, LONG));
    holds(status != SLR_OK);
    if (status != SLR_HANDLER_FAULT)
        return status;
    holds(strstr(slr_error_message(), "integer division by zero") != NULL);
    return slr_stream_recover(p->stream);
}

static slr_status record(struct play *p)
{
    slr_status status = slr_graph_create(p->device, &p->graph);
    TRY_EACH(slr_graph_begin(p->graph, p->stream));
    TRY_EACH(slr_stream_fill(p->stream, p->a, 0, sizeof p->back, "\4\0\0\0", 4, NULL));
    TRY_EACH(SLR_LAUNCH(p->stream, p->add, SLR_GRID(1, WORDS, 0), p->a, 1));
    TRY_EACH(SLR_LAUNCH(p->stream, p->divide, SLR_GRID(1, WORDS, 0), p->a, 1));
    TRY_EACH(slr_graph_end(p->graph));
    for (int i = 0; i < 2; ++i)
        TRY_EACH(slr_graph_launch(p->graph, p->stream, NULL, 0, NULL));
    TRY_EACH(slr_stream_read(p->stream, p->a, 0, p->back, sizeof p->back, NULL));
    TRY_EACH(slr_stream_finish(p->stream, LONG));
    if (status == SLR_OK)
        holds(p->back[0] == 5 && p->back[WORDS - 1] == 5);
    return status;
}

static slr_status count_one(void *user, const slr_delivery *delivery)
{
    uint32_t value;
    (void)user;
    memcpy(&value, delivery->message, sizeof value);
    ++value;
    return slr_reply_to(delivery, &value, sizeof value);
}

static slr_status launch_ring(struct play *p)
{
    static const uint32_t begin = 7, more = 1;
    const slr_binding binding = {.name = "more", .scalar = &more, .bytes = sizeof more};
    slr_ring_desc desc = SLR_RING_DESC_INIT;
    desc.name = "counts";
    desc.instances = 3;
    desc.queue_size = 64;
    if (p->hosted) {
        desc.on_message = count_one;
        desc.message_bytes = desc.reply_bytes = 4;
    } else {
        desc.program = p->program;
        desc.bindings = &binding;
        desc.binding_count = 1;
        desc.initial_state = &begin;
    }
    slr_status status = slr_ring_create(p->device, &desc, &p->ring);
    TRY_EACH(slr_ring_launch(p->ring));
    TRY_EACH(slr_ring_activate(p->ring, LONG));
    TRY_EACH(slr_port_open(p->device, &p->port));
    return status;
}

static void check_sum(const slr_ring_stats *stats)
{
    if (stats->accepted !=
        stats->handled + stats->faulted + stats->dropped + stats->undelivered + stats->in_doubt + stats->pending)
        fail_msg("%u accepted; %u handled, %u faulted, %u undelivered, %u in doubt, %u pending",
                 (unsigned)stats->accepted, (unsigned)stats->handled, (unsigned)stats->faulted,
                 (unsigned)stats->undelivered, (unsigned)stats->in_doubt, (unsigned)stats->pending);
}

// Sends, and receives each reply once. RING_FAILED: with what the ring kernel says of it.
static slr_status converse(struct play *p)
{
    slr_address to;
    bool seen[MESSAGES] = {false};
    slr_status status = slr_ring_get_address(p->ring, 0, &to);
    for (uint32_t i = 0; i < MESSAGES; ++i) {
        to.instance = i % 3;
        TRY_EACH(slr_send(p->port, to, &i, sizeof i, LONG));
    }
    for (uint32_t i = 0; i < MESSAGES && status == SLR_OK; ++i) {
        slr_reply reply;
        uint32_t value = 0;
        TRY_EACH(slr_receive(p->port, &reply, &value, sizeof value, LONG));
        if (status != SLR_OK)
            break;
        holds(value >= 1 && value <= MESSAGES && !seen[value - 1]);
        seen[value - 1] = true;
    }
    return status;
}

// Copies of the states, one at once and all for a restart.
static slr_status look_at_states(struct play *p)
{
    slr_status status = SLR_OK;
    for (uint32_t i = 0; i < 3 && !p->hosted; ++i) {
        uint32_t handled = 0;
        TRY_EACH(slr_ring_snapshot(p->ring, i, &handled, sizeof handled, LONG));
        holds(status != SLR_OK || handled == 7 + (MESSAGES - i + 2) / 3);
    }
    if (!p->hosted)
        TRY_EACH(slr_ring_checkpoint(p->ring, LONG));
    return status;
}

// A reply can be received before its owner counts it.
static slr_ring_stats settled_stats(slr_ring *ring)
{
    slr_ring_stats stats;
    uint64_t deadline = slri_deadline_after(LONG);
    do
        must(slr_ring_get_stats(ring, &stats));
    while ((stats.handled != MESSAGES || stats.replied != MESSAGES) && !slri_passed(deadline));
    return stats;
}

static slr_status run_ring(struct play *p, bool hosted)
{
    slr_ring_stats stats;
    p->hosted = hosted;
    slr_status status = launch_ring(p);
    TRY_EACH(converse(p));
    TRY_EACH(look_at_states(p));
    if (p->ring && p->port) {
        if (status == SLR_OK)
            stats = settled_stats(p->ring);
        else
            must(slr_ring_get_stats(p->ring, &stats));
        check_sum(&stats);
        if (status == SLR_OK)
            holds(stats.handled == MESSAGES && stats.replied == MESSAGES);
    }
    TRY_EACH(slr_ring_close_input(p->ring));
    TRY_EACH(slr_ring_wait(p->ring, SLR_RING_TERMINATED, LONG));
    if (status == SLR_RING_FAILED)
        slri_fail(status, "%s", stats.last_failure);
    return status;
}

static void end_ring(struct play *p)
{
    slr_port_close(p->port);
    slr_ring_destroy(p->ring);
    p->port = NULL;
    p->ring = NULL;
}

static slr_status play(struct play *p, bool has_handlers)
{
    *printed = '\0';
    slr_status status = make_all(p);
    TRY_EACH(submit(p));
    if (status == SLR_OK)
        check_submitted(p);
    TRY_EACH(fault(p));
    TRY_EACH(record(p));
    TRY_EACH(run_ring(p, true));
    if (status == SLR_OK)
        end_ring(p);
    if (has_handlers)
        TRY_EACH(run_ring(p, false));
    return status;
}

// All but ring kernel, port, program and device, which outlive a loss.
static void let_go(struct play *p)
{
    if (p->stream)
        slr_stream_finish(p->stream, LONG); // what was submitted before a refusal
    slr_graph_destroy(p->graph);
    slr_event_destroy(p->event);
    slr_kernel_destroy(p->add);
    slr_kernel_destroy(p->tell);
    slr_kernel_destroy(p->divide);
    slr_stream_destroy(p->stream);
    slr_buffer_destroy(p->a);
    slr_buffer_destroy(p->b);
}

#endif
