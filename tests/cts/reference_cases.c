// SPDX-License-Identifier: Apache-2.0
// Host cases of payloads by reference: docs/contract/references.md.
#include "host.h"

#include "kept.h"

enum { PIECE = 1024, PIECES = 8 }; // ints

typedef struct look {
    int tag;
    slr_slice frame;
} look;

typedef struct scene {
    slr_buffer *frames;
    slr_pool *pool;
    slr_ring *ring;
    slr_port *port;
} scene;

// A ring kernel of the section "frame_sum", "frame_pass" or "batch_frames", whose parameter `frames` is bound. It is
// launched and not yet active.
static scene gather(cts *c, const char *section, uint32_t owns, uint32_t max_batch)
{
    scene s = {.frames = cts_buffer(c, PIECE * PIECES * sizeof(int)), .port = cts_port(c)};
    const slr_binding binding = {.name = "frames", .buffer = s.frames};
    const slr_reference references[] = {SLR_REFERENCE(look, frame, "frames", owns),
                                        SLR_REFERENCE_IN_REPLY(look, frame, "frames", owns)};
    slr_ring_desc desc = SLR_RING_DESC_INIT;
    desc.bindings = &binding;
    desc.binding_count = 1;
    desc.references = references;
    desc.reference_count = owns ? 2 : 1;
    desc.max_batch = max_batch;
    s.ring = cts_ring_launched(c, section, &desc);
    slr_pool_desc pool = SLR_POOL_DESC_INIT;
    pool.within = s.frames;
    CTS_OK(c, slr_pool_create(c->device, &pool, &s.pool));
    cts_keep(c, CTS_POOL, s.pool);
    return s;
}

static scene set_up(cts *c, const char *section, uint32_t owns)
{
    scene s = gather(c, section, owns, 0);
    CTS_OK(c, slr_ring_activate(s.ring, CTS_COMPILED(c)));
    return s;
}

static int fill(int *frame, int seed)
{
    int sum = 0;
    for (int i = 0; i < PIECE; i++)
        sum += frame[i] = seed * 31 + i % 7;
    return sum;
}

static void a_handler_reads_the_slice(cts *c)
{
    scene s = set_up(c, "frame_sum", 0);
    int frame[PIECE];
    for (int i = 0; i < 40; i++) {
        uint64_t offset = (uint64_t)(i % PIECES) * sizeof frame;
        look look = {i, {.offset = offset, .bytes = sizeof frame}};
        int back[2], sum = fill(frame, i);
        CTS_OK(c, slr_buffer_write(s.frames, offset, frame, sizeof frame));
        CTS_OK(c, slr_call(s.port, cts_address(c, s.ring, 0), &look, sizeof look, back, sizeof back, CTS_LONG(c)));
        CTS_SAME(c, back[0], sum);
        CTS_SAME(c, back[1], PIECE);
    }
}

static void a_slice_beyond_the_buffer_is_refused(cts *c)
{
    scene s = set_up(c, "frame_sum", 0);
    slr_address to = cts_address(c, s.ring, 0);
    look look = {0, {.offset = (PIECES - 1) * PIECE * sizeof(int), .bytes = (PIECE + 1) * sizeof(int)}};
    CTS_GIVES(c, SLR_INVALID, slr_send(s.port, to, &look, sizeof look, 0));
    look.frame.bytes = 3;
    CTS_GIVES(c, SLR_INVALID, slr_send(s.port, to, &look, sizeof look, 0));
    CTS_SAME(c, cts_stats(c, s.ring).accepted, 0);
}

static void check_out(cts *c, const scene *s, uint64_t out)
{
    uint64_t end = cts_now_ns() + CTS_LONG(c);
    slr_pool_stats stats;
    do {
        (void)cts_stats(c, s->ring); // without threads this call lets the ring kernel go on
        CTS_OK(c, slr_pool_get_stats(s->pool, &stats));
    } while (stats.live != out && cts_now_ns() < end);
    CTS_SAME(c, stats.live, out);
}

static look give(cts *c, const scene *s, int tag)
{
    slr_buffer *buffer = NULL;
    int frame[PIECE];
    look look = {.tag = tag};
    fill(frame, tag);
    CTS_OK(c, slr_pool_acquire(s->pool, PIECE, SLR_I32, &buffer));
    CTS_OK(c, slr_buffer_write(buffer, 0, frame, sizeof frame));
    CTS_OK(c, slr_slice_own(s->frames, buffer, &look.frame));
    return look;
}

static void a_buffer_goes_with_its_message_and_back(cts *c)
{
    scene s = set_up(c, "frame_pass", 1);
    slr_address to = cts_address(c, s.ring, 0);
    for (int i = 0; i < 20; i++) {
        look look = give(c, &s, i % 2 ? -1 : -2); // the handler replies to none, and faults at -2
        CTS_OK(c, slr_send(s.port, to, &look, sizeof look, CTS_LONG(c)));
        CTS_GIVES(c, SLR_WRONG_STATE, slr_send(s.port, to, &look, sizeof look, 0));
        check_out(c, &s, 0);
    }
    CTS_SAME(c, cts_stats_at_rest(c, s.ring).faulted, 10);
}

static void a_reply_takes_the_buffer_along(cts *c)
{
    scene s = set_up(c, "frame_pass", 1);
    for (int i = 1; i < 20; i++) {
        look look = give(c, &s, i), back;
        slr_buffer *buffer = NULL;
        int first = 0;
        CTS_OK(c, slr_call(s.port, cts_address(c, s.ring, 0), &look, sizeof look, &back, sizeof back, CTS_LONG(c)));
        check_out(c, &s, 1);
        CTS_OK(c, slr_slice_take(c->device, &back.frame, &buffer));
        CTS_OK(c, slr_buffer_read(buffer, 0, &first, sizeof first));
        CTS_SAME(c, first, i * 31 + 1);
        slr_buffer_destroy(buffer);
        check_out(c, &s, 0);
    }
}

static void what_is_undelivered_goes_back(cts *c)
{
    scene s = set_up(c, "frame_pass", 1);
    CTS_OK(c, slr_ring_deactivate(s.ring, CTS_LONG(c)));
    for (int i = 0; i < 5; i++) {
        look look = give(c, &s, 1);
        CTS_OK(c, slr_send(s.port, cts_address(c, s.ring, 0), &look, sizeof look, CTS_LONG(c)));
    }
    check_out(c, &s, 5);
    CTS_OK(c, slr_ring_terminate(s.ring, 0, NULL, NULL, NULL));
    check_out(c, &s, 0);
}

static void send_all(cts *c, const scene *s, const int *tags, int count)
{
    for (int i = 0; i < count; i++) {
        look look = give(c, s, tags[i]);
        CTS_OK(c, slr_send(s->port, cts_address(c, s->ring, 0), &look, sizeof look, CTS_LONG(c)));
    }
}

// The first of two calls replies to 1, 2 and 3, the second faults at -2. Then a reply names its neighbour's buffer,
// which is not passed on.
static void a_buffer_goes_with_each_message_of_a_batch(cts *c)
{
    static const int tags[] = {1, -1, 2, 3, 4, -2, 5, 6}, neighbours[] = {7, -1};
    scene s = gather(c, "batch_frames", 1, 4);
    slr_buffer *buffer = NULL;
    slr_reply reply;
    look back;
    send_all(c, &s, tags, 8);
    check_out(c, &s, 8);
    CTS_OK(c, slr_ring_activate(s.ring, CTS_COMPILED(c)));
    CTS_SAME(c, cts_stats_at_rest(c, s.ring).faulted, 4);
    check_out(c, &s, 3);
    for (int i = 0; i < 7; i++) { // in the order of the messages
        int first = 0;
        CTS_OK(c, slr_receive(s.port, &reply, &back, sizeof back, CTS_LONG(c)));
        CTS_SAME(c, reply.status, i < 3 ? SLR_OK : SLR_HANDLER_FAULT);
        if (i >= 3)
            continue;
        CTS_SAME(c, back.tag, i + 1);
        CTS_OK(c, slr_slice_take(c->device, &back.frame, &buffer));
        CTS_OK(c, slr_buffer_read(buffer, 0, &first, sizeof first));
        CTS_SAME(c, first, (i + 1) * 31 + 1);
        slr_buffer_destroy(buffer);
    }
    check_out(c, &s, 0);
    CTS_OK(c, slr_ring_deactivate(s.ring, CTS_LONG(c)));
    send_all(c, &s, neighbours, 2);
    CTS_OK(c, slr_ring_reactivate(s.ring, CTS_LONG(c)));
    CTS_OK(c, slr_receive(s.port, &reply, &back, sizeof back, CTS_LONG(c)));
    CTS_SAME(c, back.tag, -1);
    check_out(c, &s, 0);
    CTS_GIVES(c, SLR_NOT_FOUND, slr_slice_take(c->device, &back.frame, &buffer));
}

// clang-format off
const cts_case cts_reference_cases[] = {
    CTS_HOST("references", a_handler_reads_the_slice),
    CTS_HOST("references", a_slice_beyond_the_buffer_is_refused),
    CTS_HOST("references", a_buffer_goes_with_its_message_and_back),
    CTS_HOST("references", a_reply_takes_the_buffer_along),
    CTS_HOST("references", what_is_undelivered_goes_back),
    CTS_HOST("references", a_buffer_goes_with_each_message_of_a_batch),
};
// clang-format on
const size_t cts_reference_case_count = sizeof cts_reference_cases / sizeof *cts_reference_cases;
