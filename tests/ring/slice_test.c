// SPDX-License-Identifier: Apache-2.0
// Messages that name bytes of a buffer that is bound: checked at every send, found by the handler, never copied.
#include "tests/ring/ring_test.h"

enum { FRAMES = 8, FLOATS = 4096 }; // in each frame

static const char *const devices[] = {"cpu?threads=2", "cpu?threads=2&engine=interpreted", "cpu?threads=2&unified=0"};
enum { DEVICES = sizeof devices / sizeof *devices };

static const char source[] =
    "#include <slipring/ring_slice.h>\n"
    "struct look { unsigned tag; struct ring_slice frame; };\n"
    "struct seen { double sum; unsigned tag, count; };\n"
    "__ring__ void total(const struct look *in, const float *frames, float *out)\n"
    "{\n"
    "    const float *frame = ring_slice_data(frames, in->frame);\n"
    "    struct seen r; r.sum = 0; r.tag = in->tag; r.count = ring_slice_count(frames, in->frame);\n"
    "    for (unsigned i = 0; i < r.count; i++) r.sum += frame[i];\n"
    "    out[in->tag] = r.sum;\n"
    "    ring_reply(&r);\n"
    "}\n"
    "__ring__ void reads_past(const struct look *in, const float *frames)\n"
    "{ struct seen r; r.tag = in->tag; r.count = 0;\n"
    "  r.sum = ring_slice_data(frames, in->frame)[ring_slice_count(frames, in->frame)]; ring_reply(&r); }\n";

struct look {
    uint32_t tag;
    slr_slice frame;
};
struct seen {
    double sum;
    uint32_t tag, count;
};

struct scene {
    slr_device *device;
    slr_program *program;
    slr_buffer *frames, *out;
    slr_binding binding[2];
    slr_reference reference;
    slr_ring_desc desc;
    slr_ring *ring;
    slr_port *port;
    slr_address to;
};

static void set_up(struct scene *s, const char *device, const char *handler)
{
    memset(s, 0, sizeof *s);
    s->device = open_device(device);
    must(slr_program_from_text(s->device, "slice.cu", source, NULL, &s->program));
    must(slr_buffer_create(s->device, FRAMES * FLOATS * 4, &s->frames));
    must(slr_buffer_create(s->device, 1024 * 4, &s->out));
    s->binding[0] = (slr_binding){.name = "frames", .buffer = s->frames};
    s->binding[1] = (slr_binding){.name = "out", .buffer = s->out};
    s->reference = (slr_reference)SLR_REFERENCE(struct look, frame, "frames", 0);
    s->desc = (slr_ring_desc)SLR_RING_DESC_INIT;
    s->desc.program = s->program;
    s->desc.handler = handler;
    s->desc.bindings = s->binding;
    s->desc.binding_count = strcmp(handler, "total") == 0 ? 2 : 1;
    s->desc.references = &s->reference;
    s->desc.reference_count = 1;
    s->desc.message_bytes = sizeof(struct look);
    s->port = open_port(s->device);
}

static void start(struct scene *s)
{
    s->ring = start_ring(s->device, &s->desc);
    s->to = address_of(s->ring, 0);
}

static void tear_down(struct scene *s)
{
    slr_port_close(s->port);
    slr_ring_destroy(s->ring);
    slr_buffer_destroy(s->frames);
    slr_buffer_destroy(s->out);
    slr_program_destroy(s->program);
    slr_device_close(s->device);
}

static double fill(float *frame, uint32_t seed)
{
    double sum = 0;
    for (uint32_t i = 0; i < FLOATS; ++i)
        sum += frame[i] = (float)((seed * 7919 + i) % 1000);
    return sum;
}

static struct look look_at(uint32_t tag, uint64_t offset, uint64_t bytes)
{
    struct look look = {.tag = tag, .frame = {.offset = offset, .bytes = bytes}};
    return look;
}

static slr_status send_look(struct scene *s, struct look look)
{
    return slr_send(s->port, s->to, &look, sizeof look, LONG);
}

static void check_seen(struct scene *s, struct look look, double sum)
{
    struct seen seen = {0};
    must(slr_call(s->port, s->to, &look, sizeof look, &seen, sizeof seen, LONG));
    assert_int_equal(seen.tag, look.tag);
    assert_int_equal(seen.count, look.frame.bytes / 4);
    assert_true(seen.sum == sum);
}

// Each frame is written before its message is sent, by a copy and by a map, while the ring kernel runs; each handler
// finds its own, and what it has written is there with its reply.
static void handlers_find_what_was_written(void **state)
{
    (void)state;
    for (uint32_t d = 0; d < DEVICES; ++d) {
        struct scene s;
        float frame[FLOATS], out;
        set_up(&s, devices[d], "total");
        start(&s);
        for (uint32_t k = 0; k < 64; ++k) {
            uint64_t offset = (uint64_t)(k % FRAMES) * sizeof frame;
            double sum = fill(frame, k);
            if (k % 2 == 0) {
                must(slr_buffer_write(s.frames, offset, frame, sizeof frame));
            } else {
                void *mapped;
                must(slr_buffer_map(s.frames, offset, sizeof frame, SLR_MAP_WRITE, LONG, &mapped));
                memcpy(mapped, frame, sizeof frame);
                must(slr_buffer_unmap(s.frames, mapped));
            }
            check_seen(&s, look_at(k, offset, sizeof frame), sum);
            must(slr_buffer_read(s.out, k * 4, &out, 4));
            assert_true(out == (float)sum);
        }
        check_seen(&s, look_at(0, 0, 0), 0);
        check_seen(&s, look_at(0, FRAMES * sizeof frame, 0), 0);
        tear_down(&s);
    }
}

// A batch of them, each another frame.
static void many_are_sent_at_once(void **state)
{
    (void)state;
    struct scene s;
    float frame[FLOATS];
    struct look looks[FRAMES];
    double sums[FRAMES];
    set_up(&s, "cpu?threads=2", "total");
    start(&s);
    for (uint32_t k = 0; k < FRAMES; ++k) {
        sums[k] = fill(frame, k);
        must(slr_buffer_write(s.frames, k * sizeof frame, frame, sizeof frame));
        looks[k] = look_at(k, k * sizeof frame, sizeof frame);
    }
    uint32_t accepted;
    must(slr_send_many(s.port, s.to, NULL, looks, sizeof looks[0], FRAMES, LONG, &accepted));
    assert_int_equal(accepted, FRAMES);
    for (uint32_t k = 0; k < FRAMES; ++k) {
        struct seen seen;
        slr_reply reply;
        must(slr_receive(s.port, &reply, &seen, sizeof seen, LONG));
        assert_int_equal(reply.correlation, k + 1);
        assert_true(seen.sum == sums[k]);
    }
    looks[2].frame.bytes = FRAMES * sizeof frame; // those before it go
    refuses(slr_send_many(s.port, s.to, NULL, looks, sizeof looks[0], FRAMES, LONG, &accepted), INVALID,
            "'frame' refers to 131072 B from byte 32768; the bound buffer has 131072 B");
    assert_int_equal(accepted, 2);
    tear_down(&s);
}

static void what_is_wrong_is_refused_at_the_send(void **state)
{
    (void)state;
    struct scene s;
    uint64_t all = FRAMES * FLOATS * 4;
    set_up(&s, "cpu?threads=2", "total");
    start(&s);
    refuses(send_look(&s, look_at(1, 4, all)), INVALID, "refers to 131072 B from byte 4; the bound buffer");
    refuses(send_look(&s, look_at(1, UINT64_MAX - 3, 8)), INVALID, "refers to 8 B from byte");
    refuses(send_look(&s, look_at(1, 2, 8)), INVALID, "the element size, 4 B");
    refuses(send_look(&s, look_at(1, 4, 7)), INVALID, "the element size, 4 B");
    struct look owning = look_at(1, 0, 64);
    owning.frame.owner = 1;
    refuses(send_look(&s, owning), INVALID, "field 'frame' names an owner, but its reference has not set `owns`");
    refuses(slr_send(s.port, s.to, &owning, 8, LONG), INVALID, "its messages have 32 B, 8 B were sent");
    assert_int_equal(stats_of(s.ring).accepted, 0);
    tear_down(&s);
}

// Where there are two memories, a mapping's bytes are the device's when it ends.
static void what_the_device_cannot_see_is_refused(void **state)
{
    (void)state;
    struct scene s;
    void *mapped;
    float *frame;
    slr_buffer_info info;
    set_up(&s, "cpu?threads=2&unified=0", "total");
    start(&s);
    must(slr_buffer_get_info(s.frames, &info));
    if (info.unified) { // another device, whose memory the host reaches
        tear_down(&s);
        skip();
    }
    must(slr_buffer_map(s.frames, 0, FLOATS * 4, SLR_MAP_WRITE, LONG, &mapped));
    frame = mapped;
    double sum = fill(frame, 3);
    refuses(send_look(&s, look_at(1, 64, 64)), WRONG_STATE, "are mapped by the host");
    check_seen(&s, look_at(1, FLOATS * 4, 64), 0); // of others nothing is said
    must(slr_buffer_unmap(s.frames, mapped));
    check_seen(&s, look_at(1, 0, FLOATS * 4), sum);
    tear_down(&s);
}

// A handler that reads behind its slice reads the buffer; behind the buffer it faults.
static void the_end_of_the_buffer_is_a_fault(void **state)
{
    (void)state;
    for (uint32_t d = 0; d < DEVICES; ++d) {
        struct scene s;
        float one = 1;
        set_up(&s, devices[d], "reads_past");
        start(&s);
        must(slr_buffer_write(s.frames, 64, &one, 4));
        struct look look = look_at(1, 0, 64);
        struct seen seen;
        must(slr_call(s.port, s.to, &look, sizeof look, &seen, sizeof seen, LONG));
        assert_true(seen.sum == 1);
        look = look_at(1, FRAMES * FLOATS * 4 - 64, 64);
        gives(slr_call(s.port, s.to, &look, sizeof look, &seen, sizeof seen, LONG), HANDLER_FAULT);
        tear_down(&s);
    }
}

static slr_status create(struct scene *s)
{
    return slr_ring_create(s->device, &s->desc, &s->ring);
}

static void wrong_references_are_refused(void **state)
{
    (void)state;
    struct scene s;
    set_up(&s, "cpu?threads=1", "total");
    s.reference.binding = "weights";
    refuses(create(&s), NOT_FOUND, "reference 'frame' names 'weights'; handler 'total' has no such buffer");
    s.reference.binding = "frames";
    s.reference.offset = 4;
    refuses(create(&s), LAYOUT, "at a multiple of 8");
    s.reference.offset = 16;
    refuses(create(&s), LAYOUT, "the message has 32 B");
    s.reference.offset = 0;
    refuses(create(&s), LAYOUT, "has no struct ring_slice at byte 0");
    s.reference.offset = 8;
    s.reference.owns = 2;
    refuses(create(&s), INVALID, "in_reply and owns are 0 or 1");
    s.reference.owns = 1;
    s.desc.handler_timeout_ns = 1000000;
    refuses(create(&s), UNSUPPORTED, "with handler_timeout_ns no buffer can move with a message");
    s.desc.handler_timeout_ns = 0;
    s.desc.reference_count = 17;
    refuses(create(&s), INVALID, "reference_count is 17; expected 0 to 16");
    s.desc.references = NULL;
    refuses(create(&s), INVALID, "references is NULL");
    tear_down(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(handlers_find_what_was_written),       cmocka_unit_test(many_are_sent_at_once),
        cmocka_unit_test(what_is_wrong_is_refused_at_the_send), cmocka_unit_test(what_the_device_cannot_see_is_refused),
        cmocka_unit_test(the_end_of_the_buffer_is_a_fault),     cmocka_unit_test(wrong_references_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
