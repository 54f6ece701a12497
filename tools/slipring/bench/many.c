// SPDX-License-Identifier: Apache-2.0
// `slipring bench idle`: what one ring kernel costs among 100 to 100,000, and what one stream costs among 10,000. What
// each costs should not depend on how many there are.
#include "bench/bench.h"

#include "bench/batch.h"
#include "clock.h"
#include "memory.h"
#include "bench/resident.h"
#include "say.h"

#include <slipring/slipring.h>

#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { SIZES = 4, BASE = 1, FIGURES = 5, ROUNDS = 15, ENOUGH = 20000, FEW_STREAMS = 10, MANY_STREAMS = 10000 };

static const uint32_t sizes[SIZES] = {100, 1000, 10000, 100000};
static const char *const stats[FIGURES] = {"start", "first", "call", "end", "memory"};

typedef struct many {
    bench *bench;
    slr_program *program;
    slr_port *port;
    slr_ring **ring;
    slr_address *at;
    uint32_t count, started;
    char why[256]; // what stopped it before `count`, or ""
} many;

static const char source[] = "struct message { unsigned word; };\n"
                             "struct state { unsigned sum; };\n"
                             "__ring__ void add(struct state *self, const struct message *in)\n"
                             "{\n"
                             "    self->sum += in->word;\n"
                             "    ring_reply(self);\n"
                             "}\n";

// ---- ring kernels --------------------------------------------------------------------------------------------------

static void progress(const many *many, const char *what, uint32_t done)
{
    char line[96];
    if (done % 1000 != 0 || many->count < 10000 || !isatty(STDERR_FILENO))
        return;
    snprintf(line, sizeof line, "%u ring kernels: %s %u", many->count, what, done);
    say_progress(line);
}

static slr_status start(many *many, uint32_t i)
{
    char name[32];
    snprintf(name, sizeof name, "many-%u", i);
    slr_ring_desc desc = SLR_RING_DESC_INIT;
    desc.program = many->program;
    desc.name = name;
    slr_status status = slr_ring_create(many->bench->device, &desc, &many->ring[i]);
    if (status == SLR_OK)
        status = slr_ring_launch(many->ring[i]);
    if (status == SLR_OK)
        status = slr_ring_activate(many->ring[i], BENCH_TIMEOUT_NS);
    return status == SLR_OK ? slr_ring_get_address(many->ring[i], 0, &many->at[i]) : status;
}

// Where memory ends before all are started, that is a result.
static bool start_all(many *many)
{
    for (many->started = 0; many->started < many->count; many->started++) {
        progress(many, "started", many->started);
        slr_status status = start(many, many->started);
        if (status == SLR_OK)
            continue;
        snprintf(many->why, sizeof many->why, "%s: %s", slr_status_name(status), slr_error_message());
        return status == SLR_NO_MEMORY || bench_failed(status, "idle");
    }
    return true;
}

static bool call_all(many *many, uint32_t calls, const char *what)
{
    for (uint32_t i = 0; i < many->count; i++) {
        uint32_t word = 1, sum = 0;
        progress(many, what, i);
        slr_status status = slr_call(many->port, many->at[i], &word, sizeof word, &sum, sizeof sum, BENCH_TIMEOUT_NS);
        if (status != SLR_OK || sum != calls) {
            if (status == SLR_OK)
                say("ring kernel %u of %u replied %u instead of %u", i, many->count, sum, calls);
            return status != SLR_OK ? bench_failed(status, "idle") : false;
        }
    }
    return true;
}

static bool end_all(many *many)
{
    slr_status status = SLR_OK;
    uint32_t made = many->started < many->count ? many->started + 1 : many->count; // the last may be half made
    slr_port_close(many->port);
    many->port = NULL;
    for (uint32_t i = 0; i < made; i++) {
        progress(many, "ended", i);
        slr_status ended =
            i < many->started ? slr_ring_terminate(many->ring[i], BENCH_TIMEOUT_NS, NULL, NULL, NULL) : SLR_OK;
        status = status == SLR_OK ? ended : status;
        slr_ring_destroy(many->ring[i]);
        many->ring[i] = NULL;
    }
    return status == SLR_OK || bench_failed(status, "idle");
}

// From `begin` on, for each, in microseconds.
static double each_us(const many *many, uint64_t begin)
{
    return (double)(clock_ns() - begin) / 1e3 / many->count;
}

static bool one_round(many *many, double figures[FIGURES])
{
    malloc_trim(0); // what was freed before would be used again, and not be seen to grow
    double before_kib = resident_kib();
    slr_status status = slr_port_open(many->bench->device, &many->port);
    if (status != SLR_OK)
        return bench_failed(status, "idle");
    uint64_t begin = clock_ns();
    bool fine = start_all(many), whole = fine && many->started == many->count;
    figures[0] = each_us(many, begin);
    begin = clock_ns();
    fine = fine && (!whole || call_all(many, 1, "called"));
    figures[1] = each_us(many, begin);
    begin = clock_ns();
    fine = fine && (!whole || call_all(many, 2, "called again"));
    figures[2] = each_us(many, begin);
    figures[4] = (resident_kib() - before_kib) / many->count;
    begin = clock_ns();
    fine = end_all(many) && fine;
    figures[3] = each_us(many, begin);
    say_progress("");
    return fine;
}

static int compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}

// Medians over rounds; memory is that of the first, which finds none that was used before.
static bool measure_size(many *many, uint32_t count, double figures[FIGURES])
{
    double all[FIGURES][ROUNDS];
    uint32_t rounds = many->bench->small        ? 1
                      : ENOUGH / count < 1      ? 1
                      : ENOUGH / count > ROUNDS ? ROUNDS
                                                : ENOUGH / count;
    bool fine = true;
    many->count = count;
    many->ring = memory_take(count, sizeof *many->ring);
    many->at = memory_take(count, sizeof *many->at);
    for (uint32_t i = 0; i < rounds && fine && many->why[0] == '\0'; i++) {
        double one[FIGURES] = {0};
        fine = one_round(many, one);
        for (unsigned k = 0; k < FIGURES; k++)
            all[k][i] = one[k];
    }
    double first_memory = all[4][0];
    for (unsigned k = 0; k < FIGURES && fine && many->why[0] == '\0'; k++) {
        qsort(all[k], rounds, sizeof **all, compare);
        figures[k] = all[k][rounds / 2];
    }
    figures[4] = first_memory;
    free(many->ring);
    free(many->at);
    return fine;
}

static void add_rows(bench *bench, const char *name, const double figures[FIGURES], const double base[FIGURES])
{
    static const char method[] =
        "Figures for one of many active ring kernels of the default size. start: it is created, launched and "
        "activated. first, call: its first and its second call through one port. end: the port is closed, and the ring "
        "kernel is terminated and destroyed. memory: the memory of the process for each ring kernel. Medians of 1 to "
        "15 rounds. Floor: the same with 1,000 ring kernels.";
    for (unsigned k = 0; k < FIGURES; k++)
        bench_add(
            bench,
            &(bench_row){
                .name = name, .stat = stats[k], .unit = k == 4 ? "KiB" : "us", .value = figures[k], .floor = base[k]},
            method);
}

static void add_stop(bench *bench, const char *name, const many *many, uint32_t count)
{
    char method[BENCH_METHOD_BYTES];
    snprintf(method, sizeof method,
             "Stopped: of %u ring kernels, only %u could be started: %s. See sysctl vm.max_map_count.", count,
             many->started, many->why);
    say("%s: %s", name, method);
    bench_add(bench, &(bench_row){.name = name, .stat = "stopped", .unit = "", .value = many->started, .floor = count},
              method);
}

static bool measure_sizes(many *many)
{
    bench *bench = many->bench;
    double figures[SIZES][FIGURES];
    const char *name[SIZES];
    bool wanted[SIZES], any = false, fine = true;
    for (unsigned i = 0; i < SIZES; i++) {
        char text[BENCH_NAME_BYTES];
        snprintf(text, sizeof text, "many_%u", sizes[i]);
        name[i] = bench_keep_name(bench, text);
        wanted[i] = bench_wants(bench, text);
        any = any || wanted[i];
    }
    for (unsigned i = 0; i < SIZES && fine && any; i++) {
        if (!wanted[i] && i != BASE) // which all are compared with
            continue;
        many->why[0] = '\0';
        fine = measure_size(many, bench_size(bench, sizes[i]), figures[i]);
        if (fine && many->why[0] != '\0') {
            add_stop(bench, name[i], many, bench_size(bench, sizes[i]));
            wanted[i] = false;
            if (i <= BASE)
                return true;
        }
        if (fine && i == BASE && wanted[0])
            add_rows(bench, name[0], figures[0], figures[BASE]);
        if (fine && i >= BASE && wanted[i])
            add_rows(bench, name[i], figures[i], figures[BASE]);
    }
    return fine;
}

bool bench_many(bench *bench)
{
    many many = {.bench = bench};
    slr_status status = slr_program_from_text(bench->device, "many.cu", source, NULL, &many.program);
    if (status != SLR_OK)
        return bench_failed(status, "idle");
    partner_free_caller(bench->partner);
    bool fine = measure_sizes(&many);
    partner_move_caller(bench->partner, false);
    slr_program_destroy(many.program);
    return fine;
}

// ---- streams -------------------------------------------------------------------------------------------------------

// One more created and destroyed, in microseconds.
static slr_status stream_life(slr_device *device, double *us)
{
    enum { TIMES = 200 };
    uint64_t begin = clock_ns();
    for (unsigned i = 0; i < TIMES; i++) {
        slr_stream *stream;
        slr_status status = slr_stream_create(device, NULL, &stream);
        if (status != SLR_OK)
            return status;
        slr_stream_destroy(stream);
    }
    *us = (double)(clock_ns() - begin) / 1e3 / TIMES;
    return SLR_OK;
}

// The median of some among so many others.
static slr_status stream_life_among(slr_device *device, uint32_t others, double *us)
{
    double all[ROUNDS];
    uint32_t made = 0;
    slr_status status = SLR_OK;
    slr_stream **stream = memory_take(others, sizeof(slr_stream *));
    while (made < others && status == SLR_OK) {
        status = slr_stream_create(device, NULL, &stream[made]);
        made += status == SLR_OK;
    }
    for (unsigned i = 0; i < ROUNDS && status == SLR_OK; i++)
        status = stream_life(device, &all[i]);
    while (made > 0)
        slr_stream_destroy(stream[--made]);
    free(stream);
    qsort(all, ROUNDS, sizeof *all, compare);
    *us = all[ROUNDS / 2];
    return status;
}

bool bench_streams(bench *bench)
{
    double few = 0, many = 0;
    if (!bench_wants(bench, "stream_life"))
        return true;
    slr_status status = stream_life_among(bench->device, FEW_STREAMS, &few);
    if (status == SLR_OK)
        status = stream_life_among(bench->device, bench_size(bench, MANY_STREAMS), &many);
    if (status == SLR_UNSUPPORTED)
        return true;
    if (status != SLR_OK)
        return bench_failed(status, "idle");
    bench_add(bench, &(bench_row){.name = "stream_life", .stat = "both", .unit = "us", .value = many, .floor = few},
              "The time to create and destroy one stream while 10,000 idle streams exist. Floor: the same while 10 "
              "idle streams exist. Medians of 15 rounds, each of 200 streams.");
    return true;
}
