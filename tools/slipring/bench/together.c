// SPDX-License-Identifier: Apache-2.0
// `slipring bench throughput`: a handler of many messages a call, beside a handler that gets them one by one. Both do
// the same with a message.
#include "bench/bench.h"

#include "bench/batch.h"
#include "bench/message.h"
#include "clock.h"
#include "memory.h"

#include <stdlib.h>
#include <string.h>

enum { MESSAGES = 8192, MOST = 128 };

static const char source[] = "struct message { unsigned word[16]; };\n"
                             "struct tally { unsigned sum[16], messages; };\n"
                             "__ring__ void each(struct tally *self, const struct message *in)\n"
                             "{\n"
                             "    for (int w = 0; w < 16; w++)\n"
                             "        self->sum[w] += in->word[w];\n"
                             "    self->messages++;\n"
                             "}\n"
                             "__ring_batch__ void all(struct tally *self, const struct message *in, unsigned n)\n"
                             "{\n"
                             "    for (unsigned i = 0; i < n; i++)\n"
                             "        for (int w = 0; w < 16; w++)\n"
                             "            self->sum[w] += in[i].word[w];\n"
                             "    self->messages += n;\n"
                             "}\n";

typedef struct tally {
    uint32_t sum[BENCH_WORDS], messages;
} tally;

typedef struct side {
    bench_ring ring;
    const char *handler;
    tally wanted;
} side;

static bool tally_is_right(side *s)
{
    tally is;
    slr_status status = slr_ring_snapshot(s->ring.ring, 0, &is, sizeof is, BENCH_TIMEOUT_NS);
    if (status == SLR_OK && memcmp(&is, &s->wanted, sizeof is) == 0)
        return true;
    return bench_failed(status, s->handler);
}

static bool side_slice(void *context, double *figures)
{
    side *s = context;
    uint64_t start = clock_ns();
    for (uint32_t i = 0; i < MESSAGES; i += BENCH_BATCH) {
        if (!bench_send_batch(&s->ring, i))
            return false;
    }
    s->wanted.messages += MESSAGES;
    bool fine = bench_await_handled(&s->ring, s->wanted.messages);
    figures[0] = bench_per_second(MESSAGES, start);
    for (uint32_t w = 0; w < BENCH_WORDS; w++)
        s->wanted.sum[w] += MESSAGES * (MESSAGES - 1u) / 2u + MESSAGES * w;
    return fine && tally_is_right(s);
}

static slr_status side_open(bench *bench, slr_ring_mode mode, side *s)
{
    slr_ring_desc desc = SLR_RING_DESC_INIT;
    slr_status status = slr_program_from_text(bench->device, "together.cu", source, NULL, &s->ring.program);
    desc.program = s->ring.program;
    desc.handler = s->handler;
    desc.message_bytes = sizeof(bench_message);
    desc.max_batch = MOST;
    desc.mode = mode;
    return status == SLR_OK ? bench_ring_start(bench, &desc, &s->ring) : status;
}

// Without the row where a device has no persistent ring kernels of such handlers.
static bool measure_in(bench *bench, slr_ring_mode mode, bench_case *row)
{
    if (!bench_wants(bench, row->name))
        return true;
    side *sides = memory_take(2, sizeof *sides);
    sides[0].handler = "all";
    sides[1].handler = "each";
    row->pair.value_context = &sides[0];
    row->pair.floor_context = &sides[1];
    slr_status status = SLR_OK;
    for (int i = 0; i < 2 && status == SLR_OK; i++)
        status = side_open(bench, mode, &sides[i]);
    bool lacks = mode == SLR_RING_PERSISTENT && status == SLR_UNSUPPORTED;
    bool fine = lacks || (status == SLR_OK ? bench_measure(bench, row) : bench_failed(status, row->name));
    for (int i = 0; i < 2; i++)
        bench_ring_close(&sides[i].ring);
    free(sides);
    return fine;
}

bool bench_together(bench *bench)
{
    const bool is_cpu = strcmp(bench->info.backend, "cpu") == 0;
    bench_case batched = {
        .name = "handler_batch",
        .unit = "msg/s",
        .stats = {"median"},
        .method = "Messages a second to a __ring_batch__ handler, which gets up to 128 messages in a call: "
                  "slr_send_many sends 8,192 messages of 64 B to one instance, until all are handled; the handler adds "
                  "their words to its state. Floor: a __ring__ handler that does the same with one message in a call; "
                  "its ring kernel is batched if the device is no CPU.",
        .pair = {.value = side_slice, .floor = side_slice, .figures = 1},
    };
    bench_case persistent = {
        .name = "handler_batch_persistent",
        .unit = "msg/s",
        .stats = {"median"},
        .method = "The same as handler_batch, with persistent ring kernels, in which a call gets up to 32 messages. "
                  "Floor: a persistent ring kernel whose __ring__ handler does the same with one message in a call.",
        .pair = {.value = side_slice, .floor = side_slice, .figures = 1},
    };
    if (strcmp(bench->info.backend, "null") == 0 || strstr(bench->info.name, "ring=") != NULL)
        return true;
    return measure_in(bench, is_cpu ? 0 : SLR_RING_RELAUNCHED, &batched) &&
           (is_cpu || measure_in(bench, SLR_RING_PERSISTENT, &persistent));
}
