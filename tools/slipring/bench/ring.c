// SPDX-License-Identifier: Apache-2.0
// The handlers do what bench_message.h does in their floors.
#include "bench/ring.h"

#include "bench/message.h"
#include "say.h"

static const char source[] = "struct message { unsigned word[16]; };\n"
                             "struct total { unsigned sum; };\n"
                             "\n"
                             "__ring__ void echo(const struct message *in)\n"
                             "{\n"
                             "    struct message answer;\n"
                             "    for (int i = 0; i < 16; i++)\n"
                             "        answer.word[i] = in->word[i] + 1u;\n"
                             "    ring_reply(&answer);\n"
                             "}\n"
                             "\n"
                             "__ring__ void add(struct total *self, const struct message *in, unsigned *total)\n"
                             "{\n"
                             "    unsigned sum = 0;\n"
                             "    for (int i = 0; i < 16; i++)\n"
                             "        sum += in->word[i];\n"
                             "    self->sum += sum;\n"
                             "    total[0] = self->sum;\n"
                             "}\n"
                             "\n"
                             "__ring__ void tally(struct total *self, const struct message *in)\n"
                             "{\n"
                             "    for (int i = 0; i < 16; i++)\n"
                             "        self->sum += in->word[i];\n"
                             "}\n";

static slr_status start(bench *bench, slr_device *device, const slr_ring_desc *desc, bench_ring *out)
{
    slr_status status;
    // Workers that are started now inherit this core.
    partner_move_caller(bench->partner, true);
    if ((status = slr_ring_create(device, desc, &out->ring)) == SLR_OK &&
        (status = slr_ring_launch(out->ring)) == SLR_OK)
        status = slr_ring_activate(out->ring, BENCH_TIMEOUT_NS);
    partner_move_caller(bench->partner, false);
    if (status != SLR_OK)
        return status;
    status = slr_port_open(device, &out->port);
    return status == SLR_OK ? slr_ring_get_address(out->ring, 0, &out->to) : status;
}

slr_status bench_ring_start(bench *bench, const slr_ring_desc *desc, bench_ring *out)
{
    return start(bench, bench->device, desc, out);
}

static slr_status open_ring(bench *bench, slr_device *device, slr_ring_desc *desc, bench_ring *out)
{
    slr_status status = slr_program_from_text(device, "bench.cu", source, NULL, &out->program);
    if (status != SLR_OK)
        return status;
    desc->program = out->program;
    desc->message_bytes = sizeof(bench_message);
    return start(bench, device, desc, out);
}

bool bench_ring_open_as(bench *bench, slr_device *device, slr_ring_desc desc, slr_buffer *total, bench_ring *out)
{
    *out = (bench_ring){0};
    slr_binding binding = {.name = "total", .buffer = total};
    desc.bindings = &binding;
    desc.binding_count = total != NULL;
    slr_status status = open_ring(bench, device, &desc, out);
    if (status != SLR_OK)
        say_failure(status, desc.handler);
    return status == SLR_OK;
}

bool bench_ring_open(bench *bench, const char *handler, slr_buffer *total, bench_ring *out)
{
    slr_ring_desc desc = SLR_RING_DESC_INIT;
    desc.handler = handler;
    return bench_ring_open_as(bench, bench->device, desc, total, out);
}

void bench_ring_close(bench_ring *ring)
{
    slr_port_close(ring->port);
    slr_ring_destroy(ring->ring);
    slr_program_destroy(ring->program);
}
