// SPDX-License-Identifier: Apache-2.0
// `slipring bench mailbox`: what the size of a mailbox does to its rate, to how long its messages wait, and to its
// memory.
#include "bench/bench.h"

#include "bench/batch.h"
#include "bench/queue.h"
#include "bench/ring.h"
#include "clock.h"
#include "memory.h"
#include "bench/resident.h"
#include "ring_stats.h"

#include <stdio.h>
#include <stdlib.h>

enum { SIZES = 5, WARM_UP = 20480, MESSAGES = 65536, MOST_SLOTS = 16384 };

static const uint32_t sizes[SIZES] = {100, 300, 1000, 3000, 10000};

// The floor: a bare queue as that of bench_queue.h, of as many slots.
typedef struct bare {
    _Alignas(128) uint32_t written;
    _Alignas(128) uint32_t read;
    uint32_t at, sum, expected; // between slices
    _Alignas(128) bench_message message[MOST_SLOTS];
} bare;

typedef struct mailbox {
    bench *bench;
    uint32_t size;
    slr_buffer *total;
    bench_ring ring;
    uint32_t number; // of the next message
    ring_stats reads[2];
    double p99[MEASURE_TRIED]; // of each slice
    unsigned slices;
    bare *bare;
} mailbox;

// ---- the ring kernel -----------------------------------------------------------------------------------------------

static bool await_handled(mailbox *mailbox)
{
    uint64_t start = clock_ns();
    slr_ring_stats stats = {0};
    while (clock_ns() - start < BENCH_TIMEOUT_NS) {
        slr_status status = slr_ring_get_stats(mailbox->ring.ring, &stats);
        if (status != SLR_OK)
            return bench_failed(status, "slr_ring_get_stats");
        if ((uint32_t)stats.handled == mailbox->number)
            return true;
        spin_pause();
    }
    return bench_failed(SLR_TIMEOUT, "mailbox");
}

static bool send_all(mailbox *mailbox, uint32_t messages)
{
    for (uint32_t end = mailbox->number + messages; mailbox->number != end; mailbox->number += BENCH_BATCH) {
        if (!bench_send_batch(&mailbox->ring, mailbox->number))
            return false;
    }
    return await_handled(mailbox);
}

static bool ring_slice(void *context, double *figures)
{
    mailbox *mailbox = context;
    bool fine = send_all(mailbox, WARM_UP) && ring_stats_read(mailbox->ring.ring, &mailbox->reads[0]);
    uint64_t start = clock_ns();
    fine = fine && send_all(mailbox, MESSAGES);
    figures[0] = bench_per_second(MESSAGES, start);
    fine = fine && ring_stats_read(mailbox->ring.ring, &mailbox->reads[1]);
    if (fine && mailbox->slices < MEASURE_TRIED)
        mailbox->p99[mailbox->slices++] = (double)ring_stats_between(&mailbox->reads[0], &mailbox->reads[1]).p99_ns;
    return fine;
}

// ---- the floor -----------------------------------------------------------------------------------------------------

static void read_all(void *context)
{
    bare *bare = ((mailbox *)context)->bare;
    uint32_t at = bare->at, end = at + WARM_UP + MESSAGES, sum = bare->sum;
    while (at != end) {
        for (uint32_t written = batch_look(&bare->written); at != written; at++) {
            sum += bench_sum(&bare->message[at % MOST_SLOTS]);
            if ((at + 1) % BENCH_BATCH == 0)
                batch_publish(&bare->read, at + 1);
        }
    }
    bare->sum = sum;
}

static void write_all(const mailbox *mailbox, uint32_t at, uint32_t messages)
{
    bare *bare = mailbox->bare;
    uint32_t read = batch_look(&bare->read);
    for (uint32_t end = at + messages; at != end; at += BENCH_BATCH) {
        while (at + BENCH_BATCH - read > mailbox->size)
            read = batch_look(&bare->read);
        for (uint32_t i = 0; i < BENCH_BATCH; i++) {
            bench_fill(&bare->message[(at + i) % MOST_SLOTS], at + i);
            bare->expected += bench_sum_of(at + i);
        }
        batch_publish(&bare->written, at + BENCH_BATCH);
    }
}

static bool bare_slice(void *context, double *figures)
{
    mailbox *mailbox = context;
    bare *bare = mailbox->bare;
    uint32_t at = bare->at;
    partner_run(mailbox->bench->partner, read_all, mailbox);
    write_all(mailbox, at, WARM_UP);
    while (batch_look(&bare->read) != at + WARM_UP)
        ;
    uint64_t start = clock_ns();
    write_all(mailbox, at + WARM_UP, MESSAGES);
    partner_join(mailbox->bench->partner);
    figures[0] = bench_per_second(MESSAGES, start);
    bare->at = at + WARM_UP + MESSAGES;
    return bare->sum == bare->expected || bench_failed(SLR_OK, "bare queue");
}

// ---- the rows ------------------------------------------------------------------------------------------------------

static const char wait_method[] =
    "The time within which 99 of 100 messages have waited and are handled, while the mailbox is kept full: the median "
    "over the measurements of the row above, in which slipring times one message in 256. Floor: the time in which the "
    "bare queue passes as many messages as the mailbox holds.";
static const char memory_method[] =
    "How much memory becomes resident when the mailbox is used. Floor: the bytes of its messages alone.";

static void add_wait(mailbox *mailbox, const char *name)
{
    bench *bench = mailbox->bench;
    double bare_rate = bench->rows[bench->row_count - 1].floor;
    measure_sort(mailbox->p99, mailbox->slices);
    bench_add(bench,
              &(bench_row){.name = name,
                           .stat = "p99",
                           .unit = "ns",
                           .value = measure_quantile(mailbox->p99, mailbox->slices, 0.5),
                           .floor = bare_rate > 0 ? mailbox->size * 1e9 / bare_rate : 0},
              wait_method);
}

static bool open_and_use(mailbox *mailbox)
{
    slr_ring_desc desc = SLR_RING_DESC_INIT;
    desc.handler = "add";
    desc.queue_size = mailbox->size;
    mailbox->number = mailbox->slices = 0;
    bool fine = bench_ring_open_as(mailbox->bench, mailbox->bench->device, desc, mailbox->total, &mailbox->ring);
    for (int i = 0; i < 4 && fine; i++) // each place of it is used
        fine = send_all(mailbox, WARM_UP);
    return fine;
}

static bool use_one(mailbox *mailbox)
{
    mailbox->size = sizes[0];
    bool fine = open_and_use(mailbox);
    bench_ring_close(&mailbox->ring);
    return fine;
}

static bool measure_size(mailbox *mailbox, const char *name)
{
    double before = resident_kib();
    bool fine = open_and_use(mailbox);
    double kib = resident_kib() - before;
    fine = fine &&
           bench_measure(mailbox->bench,
                         &(bench_case){.name = name,
                                       .unit = "msg/s",
                                       .stats = {"rate"},
                                       .method =
                                           "Messages a second by slr_send_many, 32 messages in a call, into a mailbox "
                                           "of this size; the handler reads every word. Floor: a bare queue of the "
                                           "same size, into which the sender publishes 32 messages at a time.",
                                       .pair = {.value = ring_slice,
                                                .floor = bare_slice,
                                                .value_context = mailbox,
                                                .floor_context = mailbox,
                                                .figures = 1,
                                                .enough = MEASURE_KEPT}});
    if (fine) {
        add_wait(mailbox, name);
        bench_add(mailbox->bench,
                  &(bench_row){.name = name,
                               .stat = "memory",
                               .unit = "KiB",
                               .value = kib,
                               .floor = mailbox->size * sizeof(bench_message) / 1024.0},
                  memory_method);
    }
    bench_ring_close(&mailbox->ring);
    return fine;
}

bool bench_mailbox(bench *bench)
{
    static const char *const names[SIZES] = {"mailbox_100", "mailbox_300", "mailbox_1000", "mailbox_3000",
                                             "mailbox_10000"};
    mailbox *mailbox = memory_take(1, sizeof *mailbox);
    mailbox->bench = bench;
    mailbox->bare = bench_lines(sizeof *mailbox->bare);
    slr_status status = slr_buffer_create(bench->device, sizeof(uint32_t), &mailbox->total);
    bool fine = status == SLR_OK || bench_failed(status, "slr_buffer_create");
    fine = fine && use_one(mailbox); // what the first of all needs is not a mailbox's
    for (unsigned i = 0; i < SIZES && fine; i++) {
        if (!bench_wants(bench, names[i]))
            continue;
        mailbox->size = sizes[i];
        fine = measure_size(mailbox, names[i]);
    }
    slr_buffer_destroy(mailbox->total);
    free(mailbox->bare);
    free(mailbox);
    return fine;
}
