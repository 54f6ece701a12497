// SPDX-License-Identifier: Apache-2.0
// `slipring bench claims`: work launched a batch at a time beside the same in a ring kernel that stays.
#include "bench/claims.h"

#include "bench/batch.h"
#include "clock.h"
#include "memory.h"

#include <slipring/slipring.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SMALL = 100, MOST_BYTES = 4 << 20, BODY_NS = 10000 };

// The same body in both: each turn waits for the one before.
static const char source[] = "struct ask { int turns, unused; };\n"
                             "struct answer { unsigned sum, unused; };\n"
                             "__global__ void body(const unsigned *data, unsigned *result, int turns)\n"
                             "{\n"
                             "    unsigned x = data[0];\n"
                             "    for (int i = 0; i < turns; i++)\n"
                             "        x = x * 1664525u + 1013904223u;\n"
                             "    result[0] = x;\n"
                             "}\n"
                             "__ring__ void stay(const struct ask *in, const unsigned *data, unsigned *result)\n"
                             "{\n"
                             "    struct answer out;\n"
                             "    unsigned x = data[0];\n"
                             "    for (int i = 0; i < in->turns; i++)\n"
                             "        x = x * 1664525u + 1013904223u;\n"
                             "    result[0] = x;\n"
                             "    out.sum = x;\n"
                             "    out.unused = 0;\n"
                             "    ring_reply(&out);\n"
                             "}\n";

typedef struct ask {
    int turns, unused;
} ask;

typedef struct resident {
    bench *bench;
    slr_device *device;
    slr_stream *stream;
    slr_program *program;
    slr_kernel *kernel;
    slr_ring *ring;
    slr_port *port;
    slr_address to;
    slr_buffer *data, *result;
    slr_graph *graph;
    unsigned char *memory;
    uint64_t bytes;
    ask ask;
} resident;

static double microseconds(uint64_t start_ns, int count)
{
    return (double)(clock_ns() - start_ns) / 1000 / count;
}

static slr_status launch(const resident *r)
{
    return SLR_LAUNCH(r->stream, r->kernel, SLR_GRID(1, 1, 0), r->data, r->result, r->ask.turns);
}

static slr_status finish(const resident *r)
{
    return slr_stream_finish(r->stream, BENCH_TIMEOUT_NS);
}

static slr_status receive(const resident *r)
{
    slr_reply reply;
    uint32_t answer[2];
    slr_status status = slr_receive(r->port, &reply, answer, sizeof answer, BENCH_TIMEOUT_NS);
    return status == SLR_OK ? reply.status : status;
}

static slr_status send(const resident *r)
{
    return slr_send(r->port, r->to, &r->ask, sizeof r->ask, BENCH_TIMEOUT_NS);
}

// ---- a batch -------------------------------------------------------------------------------------------------------

static bool launched_batch_slice(void *context, double *figures)
{
    resident *r = context;
    uint64_t start = clock_ns();
    slr_status status = slr_stream_write(r->stream, r->data, 0, r->memory, r->bytes, NULL);
    if (status == SLR_OK)
        status = launch(r);
    if (status == SLR_OK)
        status = slr_stream_read(r->stream, r->result, 0, r->memory, r->bytes, NULL);
    if (status == SLR_OK)
        status = finish(r);
    figures[0] = microseconds(start, 1);
    return status == SLR_OK || bench_failed(status, "batch");
}

static bool resident_batch_slice(void *context, double *figures)
{
    resident *r = context;
    uint64_t start = clock_ns();
    slr_status status = slr_buffer_write(r->data, 0, r->memory, r->bytes);
    if (status == SLR_OK)
        status = send(r);
    if (status == SLR_OK)
        status = receive(r);
    if (status == SLR_OK)
        status = slr_buffer_read(r->result, 0, r->memory, r->bytes);
    figures[0] = microseconds(start, 1);
    return status == SLR_OK || bench_failed(status, "batch");
}

// ---- a hundred small ones ------------------------------------------------------------------------------------------

static bool each_waited_slice(void *context, double *figures)
{
    resident *r = context;
    slr_status status = SLR_OK;
    uint64_t start = clock_ns();
    for (int i = 0; i < SMALL && status == SLR_OK; i++)
        if ((status = launch(r)) == SLR_OK)
            status = finish(r);
    figures[0] = microseconds(start, SMALL);
    return status == SLR_OK || bench_failed(status, "small");
}

static bool together_slice(void *context, double *figures)
{
    resident *r = context;
    slr_status status = SLR_OK;
    uint64_t start = clock_ns();
    for (int i = 0; i < SMALL && status == SLR_OK; i++)
        status = launch(r);
    if (status == SLR_OK)
        status = finish(r);
    figures[0] = microseconds(start, SMALL);
    return status == SLR_OK || bench_failed(status, "small");
}

static bool recorded_slice(void *context, double *figures)
{
    resident *r = context;
    uint64_t start = clock_ns();
    slr_status status = slr_graph_launch(r->graph, r->stream, NULL, 0, NULL);
    if (status == SLR_OK)
        status = finish(r);
    figures[0] = microseconds(start, SMALL);
    return status == SLR_OK || bench_failed(status, "small");
}

static bool one_by_one_slice(void *context, double *figures)
{
    resident *r = context;
    slr_status status = SLR_OK;
    uint64_t start = clock_ns();
    for (int i = 0; i < SMALL && status == SLR_OK; i++)
        if ((status = send(r)) == SLR_OK)
            status = receive(r);
    figures[0] = microseconds(start, SMALL);
    return status == SLR_OK || bench_failed(status, "small");
}

static bool pipelined_slice(void *context, double *figures)
{
    resident *r = context;
    slr_status status = SLR_OK;
    uint64_t start = clock_ns();
    for (int i = 0; i < SMALL && status == SLR_OK; i++)
        status = send(r);
    for (int i = 0; i < SMALL && status == SLR_OK; i++)
        status = receive(r);
    figures[0] = microseconds(start, SMALL);
    return status == SLR_OK || bench_failed(status, "small");
}

// ---- priorities ----------------------------------------------------------------------------------------------------

typedef struct order {
    uint8_t seen[64];
    uint32_t count;
} order;

static slr_status note(void *user, const slr_delivery *delivery)
{
    order *order = user;
    if (order->count < sizeof order->seen)
        order->seen[order->count++] = *(const uint8_t *)delivery->message;
    return SLR_OK;
}

static slr_status send_both(slr_port *port, slr_address to)
{
    slr_status status = SLR_OK;
    for (uint32_t i = 0; i < 64 && status == SLR_OK; i++) {
        uint8_t message[8] = {i % 2 ? 255 : 128};
        slr_send_options options = {0};
        options.priority = SLR_PRIORITY(message[0]);
        status = slr_send_with(port, to, message, sizeof message, &options, BENCH_TIMEOUT_NS);
    }
    return status;
}

static slr_status order_of(resident *r, order *order)
{
    slr_ring_desc desc = SLR_RING_DESC_INIT;
    slr_ring *ring = NULL;
    slr_address to;
    slr_ring_stats stats;
    desc.name = "order";
    desc.on_message = note;
    desc.user = order;
    desc.message_bytes = 8;
    slr_status status = slr_ring_create(r->device, &desc, &ring);
    if (status == SLR_OK)
        status = slr_ring_launch(ring);
    if (status == SLR_OK)
        status = slr_ring_get_address(ring, 0, &to);
    if (status == SLR_OK)
        status = send_both(r->port, to); // it is not active yet
    if (status == SLR_OK)
        status = slr_ring_activate(ring, BENCH_TIMEOUT_NS);
    if (status == SLR_OK)
        status = slr_ring_terminate(ring, BENCH_TIMEOUT_NS, NULL, NULL, &stats);
    slr_ring_destroy(ring);
    return status;
}

// How many of the urgent ones were handled before the first other one.
static bool measure_priority(resident *r)
{
    static const char name[] = "priority_255";
    order order = {.count = 0};
    if (!bench_wants(r->bench, name))
        return true;
    unsigned urgent = 0;
    slr_status status = order_of(r, &order);
    while (urgent < order.count && order.seen[urgent] == 255)
        urgent++;
    r->bench->claim = "priority 255 comes before 128";
    bench_add(r->bench, &(bench_row){.name = name, .stat = "count", .unit = "messages", .value = urgent, .floor = 32},
              "64 messages, of the priorities 128 and 255 in turn, are sent to a ring kernel that is launched and not "
              "yet active. Then it is activated: how many of the 32 messages of priority 255 it handles before the "
              "first other message.");
    return status == SLR_OK || bench_failed(status, name);
}

// ---- all -----------------------------------------------------------------------------------------------------------

// Of the device's, by what many turns take longer than few.
static slr_status find_turns(resident *r)
{
    static const int few = 1000, many = 201000;
    uint64_t took[2] = {0};
    slr_status status = SLR_OK;
    for (int i = 0; i < 4 && status == SLR_OK; i++) { // the first pair warms up
        r->ask.turns = i % 2 ? many : few;
        uint64_t start = clock_ns();
        if ((status = launch(r)) == SLR_OK)
            status = finish(r);
        took[i % 2] = clock_ns() - start;
    }
    double turn_ns = took[1] > took[0] ? (double)(took[1] - took[0]) / (many - few) : 1;
    r->ask.turns = r->bench->small ? 10 : (int)(BODY_NS / turn_ns);
    return status;
}

static slr_status open_ring(resident *r)
{
    slr_binding bindings[] = {{.name = "data", .buffer = r->data}, {.name = "result", .buffer = r->result}};
    slr_ring_desc desc = SLR_RING_DESC_INIT;
    desc.program = r->program;
    desc.handler = "stay";
    desc.message_bytes = sizeof(ask);
    desc.bindings = bindings;
    desc.binding_count = 2;
    slr_status status = slr_ring_create(r->device, &desc, &r->ring);
    if (status == SLR_OK)
        status = slr_ring_launch(r->ring);
    if (status == SLR_OK)
        status = slr_ring_activate(r->ring, BENCH_TIMEOUT_NS);
    if (status == SLR_OK)
        status = slr_port_open(r->device, &r->port);
    return status == SLR_OK ? slr_ring_get_address(r->ring, 0, &r->to) : status;
}

static slr_status record(resident *r)
{
    slr_status status = slr_graph_create(r->device, &r->graph);
    if (status == SLR_OK)
        status = slr_graph_begin(r->graph, r->stream);
    for (int i = 0; i < SMALL && status == SLR_OK; i++)
        status = launch(r);
    if (status == SLR_OK)
        status = slr_graph_end(r->graph);
    return status == SLR_OK ? slr_graph_launch(r->graph, r->stream, NULL, 0, NULL) : status; // warm
}

// A device of its own, whose threads may use every core.
static bool open(resident *r)
{
    partner_free_caller(r->bench->partner);
    r->memory = bench_lines(MOST_BYTES);
    slr_status status = slr_device_open(r->bench->info.name, NULL, &r->device);
    if (status == SLR_OK)
        status = slr_stream_default(r->device, &r->stream);
    if (status == SLR_OK)
        status = slr_program_from_text(r->device, "claims.cu", source, NULL, &r->program);
    if (status == SLR_OK)
        status = slr_program_get_kernel(r->program, "body", &r->kernel);
    if (status == SLR_OK)
        status = slr_buffer_create(r->device, MOST_BYTES, &r->data);
    if (status == SLR_OK)
        status = slr_buffer_create(r->device, MOST_BYTES, &r->result);
    if (status == SLR_OK)
        status = find_turns(r);
    if (status == SLR_OK)
        status = record(r);
    if (status == SLR_OK)
        status = finish(r);
    partner_move_caller(r->bench->partner, true);
    if (status == SLR_OK)
        status = open_ring(r);
    partner_move_caller(r->bench->partner, false);
    return status == SLR_OK || bench_failed(status, "bench claims");
}

static void close(resident *r)
{
    slr_port_close(r->port);
    slr_ring_destroy(r->ring);
    slr_graph_destroy(r->graph);
    slr_buffer_destroy(r->data);
    slr_buffer_destroy(r->result);
    slr_kernel_destroy(r->kernel);
    slr_program_destroy(r->program);
    slr_device_close(r->device);
    free(r->memory);
}

static bool measure(resident *r, const char *claim, const char *name, const char *method, measure_slice *value,
                    measure_slice *floor)
{
    r->bench->claim = claim;
    return bench_measure(r->bench, &(bench_case){.name = name,
                                                 .unit = "us",
                                                 .stats = {"median"},
                                                 .method = method,
                                                 .pair = {.value = value,
                                                          .floor = floor,
                                                          .value_context = r,
                                                          .floor_context = r,
                                                          .figures = 1,
                                                          .enough = MEASURE_KEPT}});
}

static bool measure_batches(resident *r)
{
    static const struct batch {
        const char *name;
        uint64_t bytes;
    } batches[] = {{"batch_64B", 64}, {"batch_4K", 4096}, {"batch_64K", 65536}, {"batch_4M", MOST_BYTES}};
    bool fine = true;
    for (size_t i = 0; i < sizeof batches / sizeof *batches && fine; i++) {
        r->bytes = batches[i].bytes;
        fine = measure(r,
                       "a batch costs copy 500 + kernel 10 + copy 500 = 1,010 us, 1 % efficient; resident 1 + 10 + 1 = "
                       "12 us, 83 %",
                       batches[i].name,
                       "The time of a write, a launch of a kernel of 10 us, a read and a wait, in a stream. Floor: the "
                       "same bytes and the same work with a persistent ring kernel.",
                       launched_batch_slice, resident_batch_slice);
    }
    return fine;
}

static bool measure_small(resident *r)
{
    static const char claim[] =
        "100 small computations: 100 x (15 + 10) = 2,500 us against 15 + 100 x 10 = 1,015, 2.5 x";
    static const struct way {
        const char *name, *method;
        measure_slice *value;
    } ways[] = {
        {"small_stream", "The time of each of 100 launches of a kernel of 10 us on a stream, with one wait for all.",
         together_slice},
        {"small_recorded", "The same as small_stream, with the 100 launches recorded and launched as one list.",
         recorded_slice},
        {"small_ring",
         "The time of each of 100 messages to a ring kernel that does the same work, one by one, each with a reply.",
         one_by_one_slice},
        {"small_ring_many", "The same as small_ring, but all messages are sent before the first reply is received.",
         pipelined_slice}};
    bool fine = true;
    for (size_t i = 0; i < sizeof ways / sizeof *ways && fine; i++) {
        char method[BENCH_METHOD_BYTES];
        snprintf(method, sizeof method, "%s Floor: 100 launches of a kernel of 10 us, with a wait after each.",
                 ways[i].method);
        fine = measure(r, claim, ways[i].name, method, ways[i].value, each_waited_slice);
    }
    return fine;
}

bool claims_resident(bench *bench)
{
    resident *r = memory_take(1, sizeof *r);
    r->bench = bench;
    bool fine = open(r) && measure_batches(r) && measure_small(r) && measure_priority(r);
    close(r);
    free(r);
    return fine;
}
