// SPDX-License-Identifier: Apache-2.0
// `slipring bench profile`: what the profiler and the trace add to a command, in nanoseconds, beside the same without.
#include "bench/bench.h"

#include "bench/batch.h"
#include "clock.h"

#include <slipring/slipring.h>

enum { COMMANDS = 4096, BYTES = 64, LIST = 128 };

typedef enum watch { WATCH_NOTHING, WATCH_PROFILE, WATCH_TRACE, WATCH_BOTH } watch;

typedef struct side {
    const struct set *set;
    watch watch;
} side;

typedef struct set {
    slr_stream *stream;
    slr_buffer *buffer;
    slr_graph *list; // of LIST fills
} set;

// To nowhere: what the disk does is not ours.
static slr_status begin(watch watch)
{
    slr_status status = SLR_OK;
    if (watch & WATCH_PROFILE)
        status = slr_profile_start();
    if (status == SLR_OK && watch & WATCH_TRACE)
        status = slr_trace_start("/dev/null", NULL);
    return status;
}

static slr_status end(watch watch)
{
    slr_profile_stop();
    return watch & WATCH_TRACE ? slr_trace_stop(NULL) : SLR_OK;
}

static bool measure(const side *side, slr_status (*work)(const set *set), double *figures)
{
    slr_status status = begin(side->watch);
    if (status == SLR_OK)
        status = work(side->set); // warm, and first of its thread
    uint64_t start = clock_ns();
    if (status == SLR_OK)
        status = work(side->set);
    figures[0] = (double)(clock_ns() - start) / COMMANDS;
    slr_status ended = end(side->watch);
    return (status == SLR_OK && ended == SLR_OK) || bench_failed(status != SLR_OK ? status : ended, "profile");
}

// ---- what is watched -----------------------------------------------------------------------------------------------

static slr_status write_often(const set *set)
{
    static const char bytes[BYTES];
    slr_status status = SLR_OK;
    for (int i = 0; i < COMMANDS && status == SLR_OK; i++)
        status = slr_buffer_write(set->buffer, 0, bytes, sizeof bytes);
    return status;
}

static slr_status launch_lists(const set *set)
{
    slr_status status = SLR_OK;
    for (int i = 0; i < COMMANDS / LIST && status == SLR_OK; i++)
        status = slr_graph_launch(set->list, set->stream, NULL, 0, NULL);
    return status == SLR_OK ? slr_stream_finish(set->stream, BENCH_TIMEOUT_NS) : status;
}

static slr_status mark_regions(const set *set)
{
    (void)set;
    for (int i = 0; i < COMMANDS; i++) {
        slr_region_begin("bench profile");
        slr_region_end();
    }
    return SLR_OK;
}

static bool write_slice(void *context, double *figures)
{
    return measure(context, write_often, figures);
}

static bool list_slice(void *context, double *figures)
{
    return measure(context, launch_lists, figures);
}

static bool region_slice(void *context, double *figures)
{
    return measure(context, mark_regions, figures);
}

// ---- the rows ------------------------------------------------------------------------------------------------------

#define WRITE "The time of a copy of 64 B to a buffer, outside of streams, "
#define FILLS "The time of a fill of 64 B in a recorded list of 128 fills, "
#define FLOOR ". Floor: the same with profiler and trace off."

static const struct row {
    const char *name;
    watch watch;
    measure_slice *slice;
    const char *method;
} rows[] = {
    {"copy_profile", WATCH_PROFILE, write_slice, WRITE "with the profiler on" FLOOR},
    {"copy_trace", WATCH_TRACE, write_slice, WRITE "with the trace on" FLOOR},
    {"copy_both", WATCH_BOTH, write_slice, WRITE "with profiler and trace on" FLOOR},
    {"list_profile", WATCH_PROFILE, list_slice, FILLS "with the profiler on" FLOOR},
    {"list_trace", WATCH_TRACE, list_slice, FILLS "with the trace on" FLOOR},
    {"region_trace", WATCH_TRACE, region_slice,
     "The time of a named region that contains nothing, with the trace on" FLOOR},
};

// What the row before says, as a difference.
static void add_cost(bench *bench, const char *name)
{
    const bench_row *row = &bench->rows[bench->row_count - 1];
    bench_add(bench, &(bench_row){.name = name, .stat = "cost", .unit = "ns", .value = row->floor * (row->ratio - 1)},
              "What profiler or trace add to each operation of the row above: floor times (ratio - 1) of that row.");
}

static bool open_set(bench *bench, set *set)
{
    static const char zero;
    slr_status status = slr_stream_create(bench->device, NULL, &set->stream);
    if (status == SLR_OK)
        status = slr_buffer_create(bench->device, BYTES, &set->buffer);
    if (status == SLR_OK)
        status = slr_graph_create(bench->device, &set->list);
    if (status == SLR_OK)
        status = slr_graph_begin(set->list, set->stream);
    for (int i = 0; i < LIST && status == SLR_OK; i++)
        status = slr_stream_fill(set->stream, set->buffer, 0, BYTES, &zero, 1, NULL);
    if (status == SLR_OK)
        status = slr_graph_end(set->list);
    return status == SLR_OK || bench_failed(status, "profile");
}

bool bench_profile(bench *bench)
{
    set set = {0};
    bool fine = open_set(bench, &set);
    for (size_t i = 0; i < sizeof rows / sizeof *rows && fine; i++) {
        side on = {&set, rows[i].watch}, off = {&set, WATCH_NOTHING};
        const bench_case what = {.name = rows[i].name,
                                 .unit = "ns",
                                 .stats = {"median"},
                                 .method = rows[i].method,
                                 .pair = {.value = rows[i].slice,
                                          .floor = rows[i].slice,
                                          .value_context = &on,
                                          .floor_context = &off,
                                          .figures = 1}};
        if (!bench_wants(bench, rows[i].name))
            continue;
        fine = bench_measure(bench, &what);
        if (fine)
            add_cost(bench, rows[i].name);
    }
    slr_graph_destroy(set.list);
    slr_buffer_destroy(set.buffer);
    slr_stream_destroy(set.stream);
    return fine && bench_handlers(bench);
}
