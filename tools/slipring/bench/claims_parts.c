// SPDX-License-Identifier: Apache-2.0
// `slipring bench claims`: single parts of what guides speak of.
#include "bench/claims.h"

#include "bench/batch.h"
#include "clock.h"
#include "memory.h"

#include <slipring/slipring.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MESSAGES = 64, STEPS = 1000, STREAMS = 4, LAUNCHES = 64, GROUPS = 64, THREADS = 64, WORDS = 2 };

static const char source[] = "__global__ void step(float *x, int rounds)\n"
                             "{\n"
                             "    int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
                             "    float v = x[i];\n"
                             "    for (int k = 0; k < rounds; k++) v = v * 0.999f + 0.5f;\n"
                             "    x[i] = v;\n"
                             "}\n";

typedef struct echo { // a ring kernel that answers
    slr_ring *ring;
    slr_port *port;
    slr_address to;
} echo;

typedef struct parts {
    bench *bench;
    slr_device *device;
    slr_stream *stream, *streams[STREAMS];
    slr_program *program;
    slr_kernel *kernel;
    slr_buffer *buffers[STREAMS];
    echo each, batched;             // a call for each message; for up to 32
    uint32_t room[MESSAGES][WORDS]; // of the floor: a queue of one slot each
    uint32_t shown;                 // atomic
} parts;

// ---- a send and a receive ------------------------------------------------------------------------------------------

static slr_status answer(void *user, const slr_delivery *delivery)
{
    (void)user;
    return slr_reply_to(delivery, delivery->message, WORDS * sizeof(uint32_t));
}

static slr_status answer_all(void *user, const slr_delivery *deliveries, uint32_t count)
{
    slr_status status = SLR_OK;
    for (uint32_t i = 0; i < count && status == SLR_OK; i++)
        status = answer(user, &deliveries[i]);
    return status;
}

static slr_status open_echo(slr_device *device, bool by_batch, echo *to)
{
    slr_ring_desc desc = SLR_RING_DESC_INIT;
    desc.name = by_batch ? "batched" : "each";
    desc.message_bytes = desc.reply_bytes = WORDS * sizeof(uint32_t);
    desc.queue_size = MESSAGES;
    if (by_batch)
        desc.on_batch = answer_all;
    else
        desc.on_message = answer;
    slr_status status = slr_ring_create(device, &desc, &to->ring);
    if (status == SLR_OK)
        status = slr_ring_launch(to->ring);
    if (status == SLR_OK)
        status = slr_ring_activate(to->ring, BENCH_TIMEOUT_NS);
    if (status == SLR_OK)
        status = slr_port_open(device, &to->port);
    return status == SLR_OK ? slr_ring_get_address(to->ring, 0, &to->to) : status;
}

static void close_echo(echo *of)
{
    slr_port_close(of->port);
    slr_ring_destroy(of->ring);
}

// All sent, all received; each side timed for itself, where it is asked for.
static slr_status exchange(const echo *with, uint64_t *send_ns, uint64_t *receive_ns)
{
    uint32_t message[WORDS] = {1, 2};
    slr_reply reply;
    slr_ring_stats stats = {0};
    slr_status status = SLR_OK;
    uint64_t start = clock_ns();
    for (int i = 0; i < MESSAGES && status == SLR_OK; i++)
        status = slr_send(with->port, with->to, message, sizeof message, BENCH_TIMEOUT_NS);
    *send_ns = clock_ns() - start;
    do // until all replies are there
        status = status == SLR_OK ? slr_ring_get_stats(with->ring, &stats) : status;
    while (status == SLR_OK && stats.pending != 0 && clock_ns() - start < BENCH_TIMEOUT_NS);
    start = clock_ns();
    for (int i = 0; i < MESSAGES && status == SLR_OK; i++)
        status = slr_receive(with->port, &reply, message, sizeof message, BENCH_TIMEOUT_NS);
    *receive_ns = clock_ns() - start;
    return status;
}

static bool send_slice(void *context, double *figures)
{
    uint64_t send_ns, receive_ns;
    slr_status status = exchange(&((parts *)context)->each, &send_ns, &receive_ns);
    figures[0] = (double)send_ns / MESSAGES;
    return status == SLR_OK || bench_failed(status, "part_send");
}

static bool receive_slice(void *context, double *figures)
{
    uint64_t send_ns, receive_ns;
    slr_status status = exchange(&((parts *)context)->each, &send_ns, &receive_ns);
    figures[0] = (double)receive_ns / MESSAGES;
    return status == SLR_OK || bench_failed(status, "part_receive");
}

static bool bare_slice(void *context, double *figures)
{
    parts *p = context;
    const uint32_t message[WORDS] = {1, 2};
    uint64_t start = clock_ns();
    for (uint32_t i = 0; i < MESSAGES; i++) {
        memcpy(p->room[i], message, sizeof message);
        __atomic_store_n(&p->shown, i + 1, __ATOMIC_RELEASE); // what a reader would see behind it
    }
    figures[0] = (double)(clock_ns() - start) / MESSAGES;
    return true;
}

static bool exchange_slice(const echo *with, double *figures)
{
    uint64_t send_ns, receive_ns, start = clock_ns();
    slr_status status = exchange(with, &send_ns, &receive_ns);
    figures[0] = (double)(clock_ns() - start) / MESSAGES;
    return status == SLR_OK || bench_failed(status, "batch_of_32");
}

static bool batched_slice(void *context, double *figures)
{
    return exchange_slice(&((parts *)context)->batched, figures);
}

static bool each_slice(void *context, double *figures)
{
    return exchange_slice(&((parts *)context)->each, figures);
}

// ---- launches and streams ------------------------------------------------------------------------------------------

static bool end_launches(parts *p, slr_status status, uint64_t start, double *figures)
{
    if (status == SLR_OK)
        status = slr_device_finish(p->device, BENCH_TIMEOUT_NS);
    figures[0] = (double)(clock_ns() - start) / 1000;
    return status == SLR_OK || bench_failed(status, "bench claims");
}

static bool many_slice(void *context, double *figures)
{
    parts *p = context;
    slr_status status = SLR_OK;
    uint64_t start = clock_ns();
    for (int i = 0; i < STEPS && status == SLR_OK; i++)
        status = SLR_LAUNCH(p->stream, p->kernel, SLR_GRID(GROUPS, THREADS, 0), p->buffers[0], 1);
    return end_launches(p, status, start, figures);
}

static bool once_slice(void *context, double *figures)
{
    parts *p = context;
    uint64_t start = clock_ns();
    return end_launches(p, SLR_LAUNCH(p->stream, p->kernel, SLR_GRID(GROUPS, THREADS, 0), p->buffers[0], STEPS), start,
                        figures);
}

static bool spread(parts *p, int streams, double *figures)
{
    slr_status status = SLR_OK;
    uint64_t start = clock_ns();
    for (int i = 0; i < LAUNCHES && status == SLR_OK; i++)
        status =
            SLR_LAUNCH(p->streams[i % streams], p->kernel, SLR_GRID(1, THREADS, 0), p->buffers[i % STREAMS], 4 * STEPS);
    return end_launches(p, status, start, figures);
}

static bool streams_slice(void *context, double *figures)
{
    return spread(context, STREAMS, figures);
}

static bool one_stream_slice(void *context, double *figures)
{
    return spread(context, 1, figures);
}

// ---- a pool by first fit -------------------------------------------------------------------------------------------

enum { SIZES = 512, LIVE = 32, POOL = 128 };

static uint64_t draw_size(uint32_t *random)
{
    *random = *random * 1664525u + 1013904223u;
    return (uint64_t)1024 << (*random >> 24) % 10; // 1 KiB to 512 KiB
}

// A list in which the first that is large enough serves, whatever is left of it. Memory that it has made in the end.
static uint64_t first_fit_bytes(void)
{
    uint64_t free_ones[POOL], live[LIVE], made = 0;
    uint32_t count = 0, random = 1;
    memset(live, 0, sizeof live);
    for (uint32_t i = 0; i < SIZES; i++) {
        uint64_t size = draw_size(&random);
        uint32_t at = 0;
        if (live[i % LIVE] != 0 && count < POOL)
            free_ones[count++] = live[i % LIVE];
        while (at < count && free_ones[at] < size)
            at++;
        if (at < count) {
            live[i % LIVE] = free_ones[at];
            free_ones[at] = free_ones[--count];
        } else {
            live[i % LIVE] = size;
            made += size;
        }
    }
    return made;
}

static slr_status pool_bytes(slr_device *device, uint64_t *out)
{
    slr_buffer *live[LIVE] = {NULL};
    slr_pool *pool;
    slr_pool_stats stats = {0};
    uint32_t random = 1;
    slr_status status = slr_pool_create(device, NULL, &pool);
    for (uint32_t i = 0; i < SIZES && status == SLR_OK; i++) {
        slr_buffer_destroy(live[i % LIVE]);
        live[i % LIVE] = NULL;
        status = slr_pool_acquire(pool, draw_size(&random), SLR_U8, &live[i % LIVE]);
    }
    for (uint32_t i = 0; i < LIVE; i++)
        slr_buffer_destroy(live[i]);
    if (status == SLR_OK)
        status = slr_pool_get_stats(pool, &stats);
    *out = stats.kept_bytes;
    slr_pool_destroy(pool);
    return status;
}

static bool add_first_fit(parts *p)
{
    bench_row row = {.name = "pool_first_fit", .stat = "memory", .unit = "bytes"};
    uint64_t by_class;
    if (!bench_wants(p->bench, row.name))
        return true;
    slr_status status = pool_bytes(p->device, &by_class);
    if (status != SLR_OK)
        return bench_failed(status, row.name);
    row.value = (double)first_fit_bytes();
    row.floor = (double)by_class;
    p->bench->claim = "a list of free buffers serves well, if the first buffer that is large enough serves a request";
    bench_add(p->bench, &row,
              "512 random requests of 1 KiB to 512 KiB, 32 in use at a time. The value is the memory of a list of free "
              "buffers, in which the first buffer that is large enough serves a request. Floor: the memory of a pool "
              "of slipring, which sorts free buffers by size, after the same requests.");
    return true;
}

// ---- all -----------------------------------------------------------------------------------------------------------

static bool measure(parts *p, const char *claim, const char *name, const char *unit, const char *method,
                    measure_slice *value, measure_slice *floor)
{
    if (!bench_wants(p->bench, name))
        return true;
    p->bench->claim = claim;
    return bench_measure(p->bench, &(bench_case){.name = name,
                                                 .unit = unit,
                                                 .stats = {"median"},
                                                 .method = method,
                                                 .pair = {.value = value,
                                                          .floor = floor,
                                                          .value_context = p,
                                                          .floor_context = p,
                                                          .figures = 1,
                                                          .enough = MEASURE_KEPT,
                                                          .compiles = true}});
}

static bool measure_messages(parts *p)
{
    static const char claim[] = "a message takes 1 us to send to a queue, and 1 us to receive";
    return measure(p, claim, "part_send", "ns",
                   "The time of one slr_send of 8 bytes, of 64 in a row. Floor: a copy of 8 bytes into an array, and a "
                   "release store.",
                   send_slice, bare_slice) &&
           measure(
               p, claim, "part_receive", "ns",
               "The time of one slr_receive of 8 bytes, of 64 replies that have already come. Floor: as for part_send.",
               receive_slice, bare_slice) &&
           measure(p, "a call for many messages costs less than a call for each message", "batch_of_32", "ns",
                   "64 messages are sent and handled by calls that get up to 32 messages, and the replies are "
                   "received: the time for each message. Floor: the same with a call for each message.",
                   batched_slice, each_slice);
}

static bool measure_launches(parts *p)
{
    return measure(p, "1,000 launches in a loop are slow", "launches_1000", "us",
                   "One launch, in which each of 4,096 threads computes 1,000 steps. Floor: 1,000 launches of one step "
                   "each, and one wait.",
                   once_slice, many_slice) &&
           measure(p, "four streams are faster than one", "streams_4", "us",
                   "64 launches of one block each, on four streams in turn. Floor: the same launches on one stream.",
                   streams_slice, one_stream_slice);
}

// A device of its own, whose threads may use every core.
static slr_status open(parts *p)
{
    partner_free_caller(p->bench->partner);
    slr_status status = slr_device_open(p->bench->info.name, NULL, &p->device);
    if (status == SLR_OK)
        status = slr_stream_default(p->device, &p->stream);
    if (status == SLR_OK)
        status = slr_program_from_text(p->device, "claims.cu", source, NULL, &p->program);
    if (status == SLR_OK)
        status = slr_program_get_kernel(p->program, NULL, &p->kernel);
    for (int i = 0; i < STREAMS && status == SLR_OK; i++) {
        status = slr_stream_create(p->device, NULL, &p->streams[i]);
        if (status == SLR_OK)
            status = slr_buffer_create(p->device, GROUPS * THREADS * sizeof(float), &p->buffers[i]);
    }
    if (status == SLR_OK)
        status = open_echo(p->device, false, &p->each);
    if (status == SLR_OK)
        status = open_echo(p->device, true, &p->batched);
    partner_move_caller(p->bench->partner, false);
    return status;
}

static void close(parts *p)
{
    close_echo(&p->each);
    close_echo(&p->batched);
    for (int i = 0; i < STREAMS; i++) {
        slr_buffer_destroy(p->buffers[i]);
        slr_stream_destroy(p->streams[i]);
    }
    slr_kernel_destroy(p->kernel);
    slr_program_destroy(p->program);
    slr_device_close(p->device);
}

bool claims_parts(bench *bench)
{
    parts *p = memory_take(1, sizeof *p);
    p->bench = bench;
    slr_status status = open(p);
    bool fine = status == SLR_OK || bench_failed(status, "bench claims");
    fine = fine && measure_launches(p) && measure_messages(p) && add_first_fit(p);
    close(p);
    free(p);
    return fine;
}
