// SPDX-License-Identifier: Apache-2.0
// For tests of ring kernels on the driver that is simulated: one that counts its messages, with all that it needs.
#ifndef SLIPRING_TESTS_RESIDENCE_H
#define SLIPRING_TESTS_RESIDENCE_H

#include "tests/cuda/fake_driver.h"

#include "tests/ring/ring_test.h"

static const char counts_cu[] = "struct message { unsigned value, port; };\n"
                                "struct count { unsigned handled; };\n"
                                "__ring__ void counts(struct count *self, const struct message *in)\n"
                                "{\n"
                                "    self->handled += 1u;\n"
                                "    struct message out = {in->value + 1u, self->handled};\n"
                                "    ring_reply(&out);\n"
                                "}\n"
                                "__global__ void add(int *to, int more) { to[threadIdx.x] += more; }\n";

struct residence {
    uint64_t max_bytes; // of buffers, 0: no limit: they are zeroed byte by byte
    uint32_t latency_every;
    slr_device *device;
    slr_program *program;
    slr_ring *ring;
    slr_port *port;
    slr_buffer *buffer;
};

static inline slr_status launch(struct residence *r, const char *spec)
{
    slr_ring_desc desc = SLR_RING_DESC_INIT;
    desc.name = "counts";
    desc.handler = "counts";
    desc.instances = 3;
    desc.queue_size = 64;
    desc.max_ports = 4;
    desc.latency_every = r->latency_every;
    slr_device_desc device = SLR_DEVICE_DESC_INIT;
    device.max_memory_bytes = r->max_bytes;
    slr_status status = slr_device_open(spec, &device, &r->device);
    TRY_EACH(slr_program_from_text(r->device, "counts.cu", counts_cu, NULL, &r->program));
    desc.program = r->program;
    TRY_EACH(slr_ring_create(r->device, &desc, &r->ring));
    TRY_EACH(slr_ring_launch(r->ring));
    TRY_EACH(slr_ring_activate(r->ring, LONG));
    TRY_EACH(slr_port_open(r->device, &r->port));
    return status;
}

static inline slr_status ask(struct residence *r, uint32_t value)
{
    struct message message = {.value = value}, reply = {0};
    slr_address to;
    slr_status status = slr_ring_get_address(r->ring, value % 3, &to);
    TRY_EACH(slr_call(r->port, to, &message, sizeof message, &reply, sizeof reply, LONG));
    if (status == SLR_OK)
        assert_int_equal(reply.value, value + 1);
    return status;
}

// By a fill of a buffer that is there, which faults: a kernel that stays is lost where it stands.
static inline void lose_device_at_work(struct residence *r)
{
    slr_stream *stream;
    must(slr_stream_default(r->device, &stream));
    __atomic_store_n(&fake->fault_at, __atomic_load_n(&fake->commands, __ATOMIC_RELAXED) + 1, __ATOMIC_RELAXED);
    slr_stream_fill(stream, r->buffer, 0, 64, "a", 1, NULL);
    gives(slr_stream_finish(stream, LONG), DEVICE_LOST);
}

// By a fill that faults, whose buffer is still there.
static inline void lose_device(struct residence *r)
{
    must(slr_buffer_create(r->device, 64, &r->buffer));
    lose_device_at_work(r);
}

static inline void end(struct residence *r)
{
    if (r->ring) {
        slr_ring_stats stats = stats_of(r->ring);
        check_sum(&stats);
    }
    slr_port_close(r->port);
    slr_ring_destroy(r->ring);
    slr_buffer_destroy(r->buffer);
    slr_program_destroy(r->program);
    slr_device_close(r->device);
    *r = (struct residence){0};
}

#endif
