// SPDX-License-Identifier: Apache-2.0
// Buffers that go with messages, on a driver that is simulated, when the device is lost: what was in doubt gives them
// back, what is pending keeps them, and what ends gives them back.
#define _POSIX_C_SOURCE 200809L
#include "tests/cuda/residence.h"

#include "base/clock.h"

enum { PIECE = 1024, MESSAGES = 5 };

static const char look_cu[] = "#include <slipring/ring_slice.h>\n"
                              "struct look { unsigned tag; struct ring_slice frame; };\n"
                              "__ring__ void look(const struct look *in, unsigned *frames)\n"
                              "{ ring_slice_data(frames, in->frame)[0] += in->tag; }\n";

struct look {
    uint32_t tag;
    slr_slice frame;
};

struct scene {
    slr_device *device;
    slr_program *program;
    slr_buffer *frames;
    slr_pool *pool;
    slr_ring *ring;
    slr_port *port;
};

static uint64_t out_of(const struct scene *s)
{
    slr_pool_stats stats;
    must(slr_pool_get_stats(s->pool, &stats));
    return stats.live;
}

// Paused, with messages that own a buffer each.
static void set_up(struct scene *s, uint32_t redeliver)
{
    slr_device_desc device = SLR_DEVICE_DESC_INIT;
    device.max_memory_bytes = 1 << 16;
    must(slr_device_open("cuda:0?ring=relaunch", &device, &s->device));
    must(slr_program_from_text(s->device, "look.cu", look_cu, NULL, &s->program));
    must(slr_buffer_create(s->device, PIECE * (MESSAGES + 1), &s->frames));
    slr_pool_desc pool = SLR_POOL_DESC_INIT;
    pool.within = s->frames;
    must(slr_pool_create(s->device, &pool, &s->pool));
    const slr_binding binding = {.name = "frames", .buffer = s->frames};
    const slr_reference reference = SLR_REFERENCE(struct look, frame, "frames", 1);
    slr_ring_desc desc = SLR_RING_DESC_INIT;
    desc.program = s->program;
    desc.bindings = &binding;
    desc.references = &reference;
    desc.binding_count = desc.reference_count = 1;
    desc.queue_size = 64;
    desc.redeliver = redeliver;
    s->ring = start_ring(s->device, &desc);
    must(slr_ring_deactivate(s->ring, LONG));
    s->port = open_port(s->device);
    for (uint32_t i = 0; i < MESSAGES; ++i) {
        slr_buffer *buffer;
        struct look look = {.tag = i};
        must(slr_pool_acquire(s->pool, PIECE, SLR_U8, &buffer));
        must(slr_slice_own(s->frames, buffer, &look.frame));
        must(slr_send(s->port, address_of(s->ring, 0), &look, sizeof look, LONG));
    }
    assert_int_equal(out_of(s), MESSAGES);
}

static void tear_down(struct scene *s)
{
    slr_port_close(s->port);
    slr_ring_destroy(s->ring);
    assert_int_equal(out_of(s), 0);
    slr_pool_destroy(s->pool);
    slr_buffer_destroy(s->frames);
    slr_program_destroy(s->program);
    slr_device_close(s->device);
    nothing_is_left("references");
}

static void what_is_in_doubt_gives_its_buffers_back(void **state)
{
    (void)state;
    for (uint32_t redeliver = 0; redeliver < 2; ++redeliver) {
        struct scene s;
        reset();
        set_up(&s, redeliver);
        fake->fail_at = fake->calls + 3; // a dispatch: its context, its copy, its launch
        must(slr_ring_reactivate(s.ring, LONG));
        must(slr_ring_wait(s.ring, SLR_RING_IN_FAILURE, LONG));
        slr_ring_stats stats = stats_of(s.ring);
        check_sum(&stats);
        assert_int_equal(stats.in_doubt, redeliver ? 0 : MESSAGES);
        assert_int_equal(out_of(&s), redeliver ? MESSAGES : 0);
        must(slr_ring_restart(s.ring, SLR_RESTART_INITIAL, LONG));
        stats = stats_when_pending(s.ring, 0);
        assert_int_equal(stats.handled, redeliver ? MESSAGES : 0);
        assert_int_equal(out_of(&s), 0);
        tear_down(&s);
    }
}

static void a_device_that_is_lost_gives_them_back_at_the_end(void **state)
{
    (void)state;
    struct scene s;
    slr_stream *stream;
    slr_buffer *other;
    reset();
    set_up(&s, 0);
    must(slr_buffer_create(s.device, 64, &other));
    must(slr_stream_default(s.device, &stream));
    fake->fault_at = fake->commands + 1;
    slr_stream_fill(stream, other, 0, 64, "a", 1, NULL);
    gives(slr_stream_finish(stream, LONG), DEVICE_LOST);
    slr_buffer_destroy(other);
    assert_int_equal(out_of(&s), MESSAGES);
    must(slr_ring_terminate(s.ring, 0, NULL, NULL, NULL));
    assert_int_equal(out_of(&s), 0);
    tear_down(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(what_is_in_doubt_gives_its_buffers_back, load_fake),
        cmocka_unit_test(a_device_that_is_lost_gives_them_back_at_the_end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
