// SPDX-License-Identifier: Apache-2.0
// `slipring bench transfer`: streams. A copy beside a computation, transfers one by one and together, recorded lists,
// and what an event says of 10 ms.
#include "bench/bench.h"

#include "bench/batch.h"
#include "clock.h"
#include "memory.h"

#include <slipring/slipring.h>

#include <stdlib.h>
#include <string.h>

enum {
    COPY_BYTES = 16 << 20,
    SMALL_BYTES = 4096,
    SMALL = 64,  // transfers of a batch
    EMPTY = 100, // kernels of a recorded list
};

typedef struct transfer {
    bench *bench;
    slr_stream *stream[2];
    slr_buffer *buffer;
    slr_graph *small, *empty;
    slr_program *program;
    slr_kernel *nothing;
    slr_event *from, *to;
    unsigned char *source, *target; // COPY_BYTES each
    uint32_t turns;                 // of the computation, as long as the copy
    uint32_t result;                // so that it is not left out
    uint64_t body_ns;
} transfer;

// ---- a copy and a computation of equal length ----------------------------------------------------------------------

static void compute(void *context)
{
    transfer *t = context;
    uint32_t x = t->result;
    for (uint32_t i = 0; i < t->turns; i++)
        x = x * 1664525u + 1013904223u; // each waits for the one before: nothing to vectorise
    t->result = x;
}

static void compute_on_stream(void *context, slr_status status)
{
    if (status == SLR_OK)
        compute(context);
}

static uint64_t time_of(void (*job)(void *), transfer *t)
{
    uint64_t best = UINT64_MAX;
    for (int i = 0; i < 5; i++) {
        uint64_t start = clock_ns();
        job(t);
        uint64_t took = clock_ns() - start;
        best = took < best ? took : best;
    }
    return best;
}

static void copy(void *context)
{
    transfer *t = context;
    memcpy(t->target, t->source, COPY_BYTES);
}

static void calibrate(transfer *t)
{
    t->turns = 1000000;
    copy(t);
    uint64_t copy_ns = time_of(copy, t), compute_ns = time_of(compute, t);
    t->turns = (uint32_t)((double)t->turns * (double)copy_ns / (double)compute_ns);
}

static bool overlap_slice(void *context, double *figures)
{
    transfer *t = context;
    uint64_t start = clock_ns();
    slr_status status = slr_stream_write(t->stream[0], t->buffer, 0, t->source, COPY_BYTES, NULL);
    if (status == SLR_OK)
        status = slr_stream_call(t->stream[1], compute_on_stream, t, NULL);
    if (status == SLR_OK)
        status = slr_device_finish(t->bench->device, BENCH_TIMEOUT_NS);
    figures[0] = bench_per_second(1, start);
    return status == SLR_OK || bench_failed(status, "overlap");
}

static bool bare_overlap_slice(void *context, double *figures)
{
    transfer *t = context;
    uint64_t start = clock_ns();
    partner_run(t->bench->partner, compute, t);
    copy(t);
    partner_join(t->bench->partner);
    figures[0] = bench_per_second(1, start);
    return true;
}

// ---- small transfers -----------------------------------------------------------------------------------------------

static slr_status submit_small(transfer *t)
{
    slr_status status = SLR_OK;
    for (uint32_t i = 0; i < SMALL && status == SLR_OK; i++)
        status = slr_stream_write(t->stream[0], t->buffer, (uint64_t)i * SMALL_BYTES, t->source + i * SMALL_BYTES,
                                  SMALL_BYTES, NULL);
    return status;
}

static bool finish(transfer *t, slr_status status, uint32_t count, uint64_t start, double *figures)
{
    if (status == SLR_OK)
        status = slr_stream_finish(t->stream[0], BENCH_TIMEOUT_NS);
    figures[0] = bench_per_second(count, start);
    return status == SLR_OK || bench_failed(status, "transfer");
}

static bool batched_slice(void *context, double *figures)
{
    transfer *t = context;
    uint64_t start = clock_ns();
    return finish(t, slr_graph_launch(t->small, t->stream[0], NULL, 0, NULL), SMALL, start, figures);
}

static bool single_slice(void *context, double *figures)
{
    transfer *t = context;
    uint64_t start = clock_ns();
    return finish(t, submit_small(t), SMALL, start, figures);
}

static bool direct_slice(void *context, double *figures)
{
    transfer *t = context;
    slr_status status = SLR_OK;
    uint64_t start = clock_ns();
    for (uint32_t i = 0; i < SMALL && status == SLR_OK; i++)
        status = slr_buffer_write(t->buffer, (uint64_t)i * SMALL_BYTES, t->source + i * SMALL_BYTES, SMALL_BYTES);
    figures[0] = bench_per_second(SMALL, start);
    return status == SLR_OK || bench_failed(status, "slr_buffer_write");
}

static bool memcpy_slice(void *context, double *figures)
{
    transfer *t = context;
    uint64_t start = clock_ns();
    for (uint32_t i = 0; i < SMALL; i++) {
        memcpy(t->target + i * SMALL_BYTES, t->source + i * SMALL_BYTES, SMALL_BYTES);
        __asm__ __volatile__("" : : "r"(t->target) : "memory"); // each is a copy of its own
    }
    figures[0] = bench_per_second(SMALL, start);
    return true;
}

// ---- lists of nothing ----------------------------------------------------------------------------------------------

static slr_status submit_empty(transfer *t)
{
    slr_status status = SLR_OK;
    for (uint32_t i = 0; i < EMPTY && status == SLR_OK; i++)
        status = SLR_LAUNCH(t->stream[0], t->nothing, SLR_GRID(1, 1, 0));
    return status;
}

static bool recorded_slice(void *context, double *figures)
{
    transfer *t = context;
    uint64_t start = clock_ns();
    return finish(t, slr_graph_launch(t->empty, t->stream[0], NULL, 0, NULL), EMPTY, start, figures);
}

static bool submitted_slice(void *context, double *figures)
{
    transfer *t = context;
    uint64_t start = clock_ns();
    return finish(t, submit_empty(t), EMPTY, start, figures);
}

// ---- an event ------------------------------------------------------------------------------------------------------

static void body(void *context, slr_status status)
{
    transfer *t = context;
    uint64_t start = clock_ns();
    (void)status;
    while (clock_ns() - start < 10000000)
        ;
    t->body_ns = clock_ns() - start;
}

static bool event_slice(void *context, double *figures)
{
    transfer *t = context;
    int64_t elapsed_ns = 0;
    slr_status status = slr_event_record(t->from, t->stream[0], NULL);
    if (status == SLR_OK)
        status = slr_stream_call(t->stream[0], body, t, NULL);
    if (status == SLR_OK)
        status = slr_event_record(t->to, t->stream[0], NULL);
    if (status == SLR_OK)
        status = slr_event_wait(t->to, BENCH_TIMEOUT_NS);
    if (status == SLR_OK)
        status = slr_event_elapsed_ns(t->from, t->to, &elapsed_ns);
    figures[0] = (double)elapsed_ns;
    return status == SLR_OK || bench_failed(status, "events");
}

static bool body_slice(void *context, double *figures)
{
    transfer *t = context;
    figures[0] = (double)t->body_ns; // what the event was taken around, by the clock inside
    return true;
}

// ---- the rows ------------------------------------------------------------------------------------------------------

static slr_status record(transfer *t, slr_status (*submit)(transfer *t), slr_graph **out)
{
    slr_status status = slr_graph_create(t->bench->device, out);
    if (status == SLR_OK)
        status = slr_graph_begin(*out, t->stream[0]);
    if (status != SLR_OK)
        return status;
    status = submit(t);
    slr_graph_end(*out);
    return status;
}

static bool set_up(transfer *t)
{
    t->source = bench_lines(COPY_BYTES);
    t->target = bench_lines(COPY_BYTES);
    slr_device *device = t->bench->device;
    slr_status status = slr_buffer_create(device, COPY_BYTES, &t->buffer);
    for (int i = 0; i < 2 && status == SLR_OK; i++)
        status = slr_stream_create(device, NULL, &t->stream[i]);
    if (status == SLR_OK)
        status = slr_event_create(device, &t->from);
    if (status == SLR_OK)
        status = slr_event_create(device, &t->to);
    if (status == SLR_OK)
        status = record(t, submit_small, &t->small);
    if (status == SLR_OK)
        status = slr_program_from_text(device, "empty.cu", "__global__ void empty(void) {}\n", NULL, &t->program);
    if (status == SLR_OK)
        status = slr_program_get_kernel(t->program, NULL, &t->nothing);
    if (status == SLR_OK)
        status = record(t, submit_empty, &t->empty);
    double figures[MEASURE_FIGURES];
    calibrate(t);
    return (status == SLR_OK || bench_failed(status, "transfer")) && overlap_slice(t, figures);
}

static bool measure(transfer *t, const char *name, const char *unit, const char *method,
                    bool (*value)(void *, double *), bool (*floor)(void *, double *))
{
    return bench_measure(
        t->bench,
        &(bench_case){.name = name,
                      .unit = unit,
                      .stats = {"median"},
                      .method = method,
                      .pair = {.value = value, .floor = floor, .value_context = t, .floor_context = t, .figures = 1}});
}

static bool measure_all(transfer *t)
{
    return measure(t, "overlap", "pairs/s",
                   "How many pairs a second: a copy of 16 MiB into a buffer on one stream, and a computation that "
                   "takes as long on another stream. Floor: memcpy on the caller's thread, and the computation on a "
                   "second thread without slipring.",
                   overlap_slice, bare_overlap_slice) &&
           measure(
               t, "batched_4K_x64", "copies/s",
               "64 copies of 4 KiB, recorded and launched as one list. Floor: the same copies, submitted one by one.",
               batched_slice, single_slice) &&
           measure(t, "direct_4K", "copies/s",
                   "64 calls of slr_buffer_write, each of 4 KiB. Floor: memcpy of as many bytes.", direct_slice,
                   memcpy_slice) &&
           measure(t, "recorded_100", "kernels/s",
                   "100 kernels that do nothing, recorded and launched as one list. Floor: the same kernels, launched "
                   "one by one.",
                   recorded_slice, submitted_slice) &&
           measure(t, "event_10ms", "ns",
                   "The time between two events of a stream, one before and one after a host function of 10 ms. Floor: "
                   "the time that the host function itself measures.",
                   event_slice, body_slice);
}

bool bench_transfer(bench *bench)
{
    transfer *t = memory_take(1, sizeof *t);
    t->bench = bench;
    partner_free_caller(bench->partner); // threads of the streams inherit the cores
    bool fine = set_up(t);
    partner_move_caller(bench->partner, false);
    fine = fine && measure_all(t);
    slr_graph_destroy(t->small);
    slr_graph_destroy(t->empty);
    slr_kernel_destroy(t->nothing);
    slr_program_destroy(t->program);
    slr_event_destroy(t->from);
    slr_event_destroy(t->to);
    slr_stream_destroy(t->stream[0]);
    slr_stream_destroy(t->stream[1]);
    slr_buffer_destroy(t->buffer);
    free(t->source);
    free(t->target);
    free(t);
    return fine;
}
