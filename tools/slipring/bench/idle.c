// SPDX-License-Identifier: Apache-2.0
// `slipring bench idle`: what a thousand ring kernels cost that have nothing to do, and what their life does.
#define _GNU_SOURCE // getrusage
#include "bench/bench.h"

#include "bench/batch.h"
#include "clock.h"
#include "memory.h"
#include "bench/resident.h"
#include "say.h"

#include <slipring/slipring.h>

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>

enum { RINGS = 1000, SECONDS = 3 };

typedef struct idle {
    bench *bench;
    slr_program *program;
    slr_ring *ring[RINGS];
    pthread_t thread[RINGS];
} idle;

static const char source[] = "struct message { unsigned word; };\n"
                             "struct state { unsigned sum; };\n"
                             "__ring__ void sum(struct state *self, const struct message *in)\n"
                             "{\n"
                             "    self->sum += in->word;\n"
                             "    ring_reply(self);\n"
                             "}\n";

// ---- a thousand ring kernels ---------------------------------------------------------------------------------------

static slr_status start(idle *idle, unsigned number)
{
    char name[32];
    snprintf(name, sizeof name, "idle-%u", number);
    slr_ring_desc desc = SLR_RING_DESC_INIT;
    desc.program = idle->program;
    desc.name = name;
    slr_status status = slr_ring_create(idle->bench->device, &desc, &idle->ring[number]);
    if (status == SLR_OK)
        status = slr_ring_launch(idle->ring[number]);
    return status == SLR_OK ? slr_ring_activate(idle->ring[number], BENCH_TIMEOUT_NS) : status;
}

static bool start_all(idle *idle)
{
    for (unsigned i = 0; i < RINGS; i++) {
        slr_status status = start(idle, i);
        if (status != SLR_OK)
            return bench_failed(status, "idle");
    }
    return true;
}

// Each handles a message, so that none is idle only because it never ran.
static bool use_all(idle *idle)
{
    for (unsigned i = 0; i < RINGS; i++) {
        uint32_t word = i, sum = 0;
        slr_address to;
        slr_status status = slr_ring_get_address(idle->ring[i], 0, &to);
        if (status == SLR_OK)
            status = slr_call(NULL, to, &word, sizeof word, &sum, sizeof sum, BENCH_TIMEOUT_NS);
        if (status != SLR_OK || sum != i)
            return bench_failed(status, "idle");
    }
    return true;
}

static bool end_all(idle *idle)
{
    slr_status status = SLR_OK;
    for (unsigned i = 0; i < RINGS; i++) {
        slr_status ended =
            idle->ring[i] ? slr_ring_terminate(idle->ring[i], BENCH_TIMEOUT_NS, NULL, NULL, NULL) : SLR_OK;
        status = status == SLR_OK ? ended : status;
    }
    for (unsigned i = 0; i < RINGS; i++) {
        slr_ring_destroy(idle->ring[i]);
        idle->ring[i] = NULL;
    }
    return status == SLR_OK || bench_failed(status, "idle");
}

// ---- their life ----------------------------------------------------------------------------------------------------

static bool life_slice(void *context, double *figures)
{
    uint64_t begin = clock_ns();
    bool fine = start_all(context);
    uint64_t started = clock_ns();
    fine = end_all(context) && fine;
    figures[0] = (double)(clock_ns() - begin) / 1e6;
    figures[1] = (double)(clock_ns() - started) / 1e6;
    return fine;
}

static void *sleep_on(void *argument)
{
    pause();
    return argument;
}

// Threads that sleep until they are cancelled.
static bool thread_slice(void *context, double *figures)
{
    idle *idle = context;
    uint64_t begin = clock_ns();
    unsigned started = 0;
    while (started < RINGS && pthread_create(&idle->thread[started], NULL, sleep_on, idle) == 0)
        started++;
    uint64_t all = clock_ns();
    for (unsigned i = 0; i < started; i++)
        pthread_cancel(idle->thread[i]);
    for (unsigned i = 0; i < started; i++)
        pthread_join(idle->thread[i], NULL);
    figures[0] = (double)(clock_ns() - begin) / 1e6;
    figures[1] = (double)(clock_ns() - all) / 1e6;
    if (started < RINGS)
        say("only %u threads could be started", started);
    return started == RINGS;
}

// ---- their rest ----------------------------------------------------------------------------------------------------

static double used_ns(void)
{
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    return (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) * 1e9 +
           (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) * 1e3;
}

// The process's part of a core, in per cent, while this thread sleeps.
static double rest(void)
{
    double used = used_ns();
    uint64_t start = clock_ns();
    sleep(SECONDS);
    return (used_ns() - used) * 100 / (double)(clock_ns() - start);
}

static bool measure_rest(idle *idle)
{
    bench *bench = idle->bench;
    if (!bench_wants(bench, "idle_1000"))
        return true;
    double before_kib = resident_kib(), floor = rest();
    bool fine = start_all(idle) && use_all(idle);
    sleep(1);
    double value = fine ? rest() : 0, kib = (resident_kib() - before_kib) / RINGS;
    fine = end_all(idle) && fine;
    static const char method[] = "1,000 active ring kernels of the default size, each of which has handled a message, "
                                 "are idle for 3 s: how much of one core the process uses, and how much memory it uses "
                                 "for each ring kernel. Floor: the process before it has ring kernels.";
    bench_add(bench, &(bench_row){.name = "idle_1000", .stat = "cpu", .unit = "%", .value = value, .floor = floor},
              method);
    bench_add(bench, &(bench_row){.name = "idle_1000", .stat = "memory", .unit = "KiB", .value = kib}, method);
    return fine;
}

bool bench_idle(bench *bench)
{
    idle *idle = memory_take(1, sizeof *idle);
    idle->bench = bench;
    partner_free_caller(bench->partner);
    slr_status status = slr_program_from_text(bench->device, "idle.cu", source, NULL, &idle->program);
    bool fine = status == SLR_OK || bench_failed(status, "idle");
    fine =
        fine && measure_rest(idle) &&
        bench_measure(
            bench,
            &(bench_case){
                .name = "life_1000",
                .unit = "ms",
                .stats = {"all", "end"},
                .method =
                    "The time to create, launch and activate 1,000 ring kernels one by one, and then to terminate and "
                    "destroy them. Floor: as many threads, which sleep, are started, and then cancelled and joined.",
                .pair = {.value = life_slice,
                         .floor = thread_slice,
                         .value_context = idle,
                         .floor_context = idle,
                         .figures = 2,
                         .enough = MEASURE_KEPT}});
    partner_move_caller(bench->partner, false);
    slr_program_destroy(idle->program);
    free(idle);
    return fine;
}
