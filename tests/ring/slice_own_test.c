// SPDX-License-Identifier: Apache-2.0
// Buffers that go with messages: whatever becomes of a message, its buffer is with one owner, and goes back to its
// pool.
#include "base/clock.h"
#include "tests/ring/ring_test.h"

enum { PIECE = 4096, PIECES = 16 };

static const char *const devices[] = {"cpu?threads=2", "cpu?threads=2&engine=interpreted", "cpu?threads=2&unified=0"};
enum { DEVICES = sizeof devices / sizeof *devices };

static const char source[] = "#include <slipring/ring_slice.h>\n"
                             "struct look { unsigned tag; struct ring_slice frame; };\n"
                             "__ring__ void add(const struct look *in, unsigned *frames, unsigned long *sums)\n"
                             "{\n"
                             "    unsigned *frame = ring_slice_data(frames, in->frame);\n"
                             "    unsigned long sum = 0;\n"
                             "    for (unsigned i = 0; i < ring_slice_count(frames, in->frame); i++) sum += frame[i];\n"
                             "    sums[in->tag] = sum;\n"
                             "    if (in->tag % 5 == 4) frame[100 / (in->tag % 5 - 4)] = 0;\n"
                             "}\n"
                             "__ring__ void pass(const struct look *in, unsigned *frames)\n"
                             "{\n"
                             "    ring_slice_data(frames, in->frame)[0] += 1;\n"
                             "    if (in->tag == 7) return;\n"
                             "    struct look out = *in;\n"
                             "    if (in->tag == 11) out.frame.owner += 1;\n"
                             "    out.tag += 0 / (13 - in->tag);\n"
                             "    ring_reply(&out);\n"
                             "    if (in->tag == 9) ring_reply(in);\n"
                             "}\n"
                             "__ring__ void send(const struct look *in, unsigned *frames, ring_to(struct look) next)\n"
                             "{\n"
                             "    ring_slice_data(frames, in->frame)[0] += 1;\n"
                             "    struct look out = *in;\n"
                             "    if (in->tag == 3) out.frame.owner += 1;\n"
                             "    ring_send(next, &out);\n"
                             "}\n";

struct look {
    uint32_t tag;
    slr_slice frame;
};

struct scene {
    slr_device *device;
    slr_program *program;
    slr_buffer *frames, *sums;
    slr_pool *pool;
    slr_port *port;
};

static void set_up(struct scene *s, const char *device)
{
    s->device = open_device(device);
    must(slr_program_from_text(s->device, "own.cu", source, NULL, &s->program));
    must(slr_buffer_create(s->device, PIECE * PIECES, &s->frames));
    must(slr_buffer_create(s->device, 1024 * 8, &s->sums));
    slr_pool_desc desc = SLR_POOL_DESC_INIT;
    desc.name = "frames";
    desc.within = s->frames;
    must(slr_pool_create(s->device, &desc, &s->pool));
    s->port = open_port(s->device);
}

static void tear_down(struct scene *s)
{
    slr_port_close(s->port);
    slr_pool_destroy(s->pool);
    slr_buffer_destroy(s->frames);
    slr_buffer_destroy(s->sums);
    slr_program_destroy(s->program);
    slr_device_close(s->device);
}

static uint64_t out_of(const struct scene *s)
{
    slr_pool_stats stats;
    must(slr_pool_get_stats(s->pool, &stats));
    return stats.live;
}

// Waits until so many buffers are out of the pool.
static void wait_out(const struct scene *s, uint64_t out)
{
    for (uint64_t deadline = slri_deadline_after(LONG); out_of(s) != out; slri_sleep_ns(100000))
        if (slri_passed(deadline))
            fail_msg("%llu buffers are out of the pool, not %llu", (unsigned long long)out_of(s),
                     (unsigned long long)out);
}

static slr_ring *start(struct scene *s, const char *name, const char *handler, const slr_ring_desc *with)
{
    const slr_binding binding[] = {{.name = "frames", .buffer = s->frames}, {.name = "sums", .buffer = s->sums}};
    const slr_reference reference[] = {SLR_REFERENCE(struct look, frame, "frames", 1),
                                       SLR_REFERENCE_IN_REPLY(struct look, frame, "frames", 1)};
    slr_ring_desc desc = with ? *with : (slr_ring_desc)SLR_RING_DESC_INIT;
    desc.name = name;
    desc.program = s->program;
    desc.handler = handler;
    desc.bindings = binding;
    desc.binding_count = strcmp(handler, "add") == 0 ? 2 : 1;
    desc.references = reference;
    desc.reference_count = strcmp(handler, "pass") == 0 ? 2 : 1;
    desc.max_replies = 2;
    return launch_ring(s->device, &desc);
}

static slr_buffer *acquire(const struct scene *s, uint32_t value)
{
    slr_buffer *buffer = NULL;
    uint32_t content[PIECE / 4];
    for (uint32_t i = 0; i < PIECE / 4; ++i)
        content[i] = value;
    must(slr_pool_acquire(s->pool, PIECE / 4, SLR_U32, &buffer));
    must(slr_buffer_write(buffer, 0, content, sizeof content));
    return buffer;
}

static struct look give(const struct scene *s, uint32_t tag)
{
    struct look look = {.tag = tag};
    must(slr_slice_own(s->frames, acquire(s, tag), &look.frame));
    return look;
}

static void send_owned(const struct scene *s, const slr_ring *ring, uint32_t tag)
{
    struct look look = give(s, tag);
    must(slr_send(s->port, address_of(ring, 0), &look, sizeof look, LONG));
}

// ---- the ways of a message -----------------------------------------------------------------------------------------

static void handled_or_faulted_it_goes_back(void **state)
{
    (void)state;
    for (uint32_t d = 0; d < DEVICES; ++d) {
        struct scene s;
        set_up(&s, devices[d]);
        slr_ring *ring = start(&s, "add", "add", NULL);
        must(slr_ring_activate(ring, LONG));
        for (uint32_t tag = 0; tag < 60; ++tag) {
            for (uint64_t deadline = slri_deadline_after(LONG); out_of(&s) == PIECES && !slri_passed(deadline);)
                slri_sleep_ns(10000);
            send_owned(&s, ring, tag); // each fifth of them faults
        }
        wait_out(&s, 0);
        slr_ring_stats stats = stats_when_pending(ring, 0);
        assert_int_equal(stats.handled, 48);
        assert_int_equal(stats.faulted, 12);
        for (uint32_t tag = 0; tag < 60; ++tag) {
            uint64_t sum;
            must(slr_buffer_read(s.sums, tag * 8, &sum, 8));
            assert_int_equal(sum, tag % 5 == 4 ? sum : (uint64_t)tag * (PIECE / 4));
        }
        slr_ring_destroy(ring);
        tear_down(&s);
    }
}

static void a_reply_takes_it_along(void **state)
{
    (void)state;
    for (uint32_t d = 0; d < DEVICES; ++d) {
        struct scene s;
        slr_reply reply;
        slr_buffer *taken, *again;
        uint32_t first;
        set_up(&s, devices[d]);
        slr_ring *ring = start(&s, "pass", "pass", NULL);
        must(slr_ring_activate(ring, LONG));
        struct look look = give(&s, 20), back;
        must(slr_call(s.port, address_of(ring, 0), &look, sizeof look, &back, sizeof back, LONG));
        assert_int_equal(out_of(&s), 1);
        refuses(slr_send(s.port, address_of(ring, 0), &look, sizeof look, LONG), WRONG_STATE,
                "the sender does not own the buffer");
        must(slr_slice_get(s.device, &back.frame, &again));
        must(slr_slice_take(s.device, &back.frame, &taken));
        assert_ptr_equal(again, taken);
        refuses(slr_slice_take(s.device, &back.frame, &again), NOT_FOUND, "was taken");
        must(slr_buffer_read(taken, 0, &first, 4));
        assert_int_equal(first, 21);
        slr_buffer_destroy(taken);
        assert_int_equal(out_of(&s), 0);
        send_owned(&s, ring, 7); // is not passed on
        wait_out(&s, 0);
        send_owned(&s, ring, 9); // twice: the first has it
        for (uint32_t k = 0; k < 2; ++k)
            must(slr_receive(s.port, &reply, &back, sizeof back, LONG));
        must(slr_slice_take(s.device, &back.frame, &taken));
        gives(slr_slice_take(s.device, &back.frame, &again), NOT_FOUND);
        slr_buffer_destroy(taken);
        send_owned(&s, ring, 1);
        send_owned(&s, ring, 2);
        must(slr_receive(s.port, &reply, &back, sizeof back, LONG)); // one received, one not: both go with the port
        stats_when_pending(ring, 0);
        slr_port_close(s.port);
        assert_int_equal(out_of(&s), 0);
        s.port = open_port(s.device);
        send_owned(&s, ring, 3);
        stats_when_pending(ring, 0);
        slr_ring_destroy(ring); // and what a port has not received, until it is closed
        assert_int_equal(out_of(&s), 1);
        slr_port_close(s.port);
        assert_int_equal(out_of(&s), 0);
        s.port = open_port(s.device);
        tear_down(&s);
    }
}

// A reply that names another message's buffer does not get it.
static void only_its_own_is_passed_on(void **state)
{
    (void)state;
    for (uint32_t d = 0; d < DEVICES; ++d) {
        struct scene s;
        set_up(&s, devices[d]);
        slr_ring *ring = start(&s, "pass", "pass", NULL);
        send_owned(&s, ring, 11);
        send_owned(&s, ring, 13); // faults
        must(slr_ring_activate(ring, LONG));
        wait_out(&s, 0);
        slr_ring_stats stats = stats_when_pending(ring, 0);
        assert_int_equal(stats.handled, 1);
        assert_int_equal(stats.faulted, 1);
        slr_ring_destroy(ring);
        tear_down(&s);
    }
}

// Its messages are handled all the same, and nobody gets the replies.
static void of_a_closed_port_it_goes_back(void **state)
{
    (void)state;
    struct scene s;
    set_up(&s, devices[0]);
    slr_ring *ring = start(&s, "pass", "pass", NULL);
    for (uint32_t tag = 0; tag < 3; ++tag)
        send_owned(&s, ring, tag);
    slr_port_close(s.port);
    s.port = open_port(s.device);
    assert_int_equal(out_of(&s), 3);
    must(slr_ring_activate(ring, LONG));
    wait_out(&s, 0);
    slr_ring_destroy(ring);
    tear_down(&s);
}

static void a_route_takes_it_along(void **state)
{
    (void)state;
    for (uint32_t d = 0; d < DEVICES; ++d) {
        struct scene s;
        uint64_t sum;
        set_up(&s, devices[d]);
        slr_ring *first = start(&s, "first", "pass", NULL), *second = start(&s, "second", "send", NULL),
                 *last = start(&s, "last", "add", NULL);
        slr_route_desc desc = SLR_ROUTE_DESC_INIT;
        must(slr_route(first, second, &desc));
        desc.outlet = "next";
        must(slr_route(second, last, &desc));
        must(slr_ring_activate(first, LONG));
        must(slr_ring_activate(second, LONG));
        for (uint32_t tag = 0; tag < 4; ++tag) // 3: forged
            send_owned(&s, first, tag);
        for (uint32_t k = 0; k < 4; ++k)
            wait_handled(second, 4);
        wait_out(&s, 3); // with messages that wait
        must(slr_ring_activate(last, LONG));
        wait_out(&s, 0);
        wait_handled(last, 4);
        must(slr_buffer_read(s.sums, 8, &sum, 8));
        assert_int_equal(sum, PIECE / 4 + 2);
        slr_ring_destroy(first);
        slr_ring_destroy(second);
        slr_ring_destroy(last);
        tear_down(&s);
    }
}

// What is in the end of a pipeline that has gone, or has no such place.
static void what_a_route_cannot_take_goes_back(void **state)
{
    (void)state;
    struct scene s;
    set_up(&s, devices[0]);
    slr_ring *first = start(&s, "first", "send", NULL), *last = start(&s, "last", "add", NULL);
    slr_route_desc desc = SLR_ROUTE_DESC_INIT;
    must(slr_ring_activate(first, LONG));
    send_owned(&s, first, 0); // no route yet
    wait_out(&s, 0);
    desc.outlet = "next";
    must(slr_route(first, last, &desc));
    send_owned(&s, first, 1);
    wait_handled(first, 2);
    assert_int_equal(out_of(&s), 1);
    slr_ring_destroy(last); // pending there
    assert_int_equal(out_of(&s), 0);
    send_owned(&s, first, 2);
    wait_out(&s, 0);
    slr_ring_destroy(first);

    slr_buffer *frames = s.frames; // bound to other bytes
    must(slr_buffer_create(s.device, PIECE * PIECES, &s.frames));
    first = start(&s, "first", "send", NULL);
    slr_buffer_destroy(s.frames);
    s.frames = frames;
    last = start(&s, "last", "add", NULL);
    refuses(slr_route(first, last, &desc), INVALID,
            "field 'frame' refers to a buffer that is not bound to a reference");
    slr_ring_destroy(first);
    slr_ring_destroy(last);
    tear_down(&s);
}

static void dropped_it_goes_back(void **state)
{
    (void)state;
    for (uint32_t policy = SLR_OVERFLOW_DROP_OLDEST; policy <= SLR_OVERFLOW_DROP_LOWEST; ++policy) {
        struct scene s;
        set_up(&s, devices[0]);
        slr_ring_desc desc = SLR_RING_DESC_INIT;
        desc.queue_size = 2;
        desc.overflow = policy;
        desc.dead_letters = 16;
        slr_ring *ring = start(&s, "add", "add", &desc);
        for (uint32_t tag = 0; tag < 6; ++tag) // before there is an owner
            send_owned(&s, ring, 10 + tag * 5);
        assert_int_equal(out_of(&s), 2);
        must(slr_ring_activate(ring, LONG));
        wait_out(&s, 0);
        must(slr_ring_deactivate(ring, LONG));
        for (uint32_t tag = 0; tag < 6; ++tag) // and by a paused one
            send_owned(&s, ring, 10 + tag * 5);
        wait_out(&s, 2);
        must(slr_ring_reactivate(ring, LONG));
        wait_out(&s, 0);
        slr_ring_stats stats = stats_when_pending(ring, 0);
        assert_int_equal(stats.dropped, 8);
        slr_dead_letter letter[16];
        struct look look[16];
        slr_buffer *buffer;
        uint32_t taken;
        must(slr_ring_take_dead_letters(ring, letter, look, sizeof *look, 16, &taken));
        assert_int_equal(taken, 8); // own nothing
        gives(slr_slice_take(s.device, &look[0].frame, &buffer), NOT_FOUND);
        slr_ring_destroy(ring);
        tear_down(&s);
    }
}

struct back {
    const struct scene *scene;
    uint32_t count;
    slr_buffer *taken;
};

static void handed_back(void *user, const slr_undelivered *undelivered)
{
    struct back *back = user;
    const struct look *look = undelivered->message;
    slr_buffer *buffer;
    uint32_t value;
    must(slr_slice_get(back->scene->device, &look->frame, &buffer));
    must(slr_buffer_read(buffer, 0, &value, 4));
    holds(value == look->tag);
    if (back->count++ == 1)
        must(slr_slice_take(back->scene->device, &look->frame, &back->taken));
}

static void undelivered_it_can_be_taken_and_else_goes_back(void **state)
{
    (void)state;
    struct scene s;
    set_up(&s, devices[0]);
    struct back back = {.scene = &s};
    slr_ring *ring = start(&s, "add", "add", NULL);
    for (uint32_t tag = 0; tag < 3; ++tag)
        send_owned(&s, ring, tag);
    must(slr_ring_terminate(ring, 0, handed_back, &back, NULL));
    assert_int_equal(back.count, 3);
    assert_int_equal(out_of(&s), 1);
    slr_buffer_destroy(back.taken);
    assert_int_equal(out_of(&s), 0);
    slr_ring_destroy(ring);
    tear_down(&s);
}

static void refused_it_stays_the_senders(void **state)
{
    (void)state;
    struct scene s;
    set_up(&s, devices[0]);
    slr_ring_desc desc = SLR_RING_DESC_INIT;
    desc.queue_size = 1;
    slr_ring *ring = start(&s, "add", "add", &desc);
    slr_address to = address_of(ring, 0);
    send_owned(&s, ring, 0);
    slr_buffer *buffer = acquire(&s, 5), *other;
    struct look look = {.tag = 5}, wrong;
    must(slr_slice_own(s.frames, buffer, &look.frame));
    gives(slr_send(s.port, to, &look, sizeof look, 0), FULL);
    gives(slr_send(s.port, to, &look, sizeof look, MS), TIMEOUT);
    wrong = look;
    wrong.frame.bytes += 64;
    refuses(slr_send(s.port, to, &wrong, sizeof wrong, 0), INVALID, "bytes outside the buffer that moves with it");
    wrong = look;
    wrong.frame.offset = look.frame.offset >= PIECE ? 0 : PIECE;
    refuses(slr_send(s.port, to, &wrong, sizeof wrong, 0), INVALID, "bytes outside the buffer that moves with it");
    wrong = look;
    wrong.frame.turn += 1;
    refuses(slr_send(s.port, to, &wrong, sizeof wrong, 0), WRONG_STATE, "the sender does not own the buffer");
    wrong.frame.owner = 12345678;
    refuses(slr_send(s.port, to, &wrong, sizeof wrong, 0), WRONG_STATE, "the sender does not own the buffer");
    gives(slr_slice_take(s.device, &look.frame, &other), NOT_FOUND);
    must(slr_ring_activate(ring, LONG));
    wait_handled(ring, 1);
    must(slr_send(s.port, to, &look, sizeof look, LONG)); // and may be sent still, a part of it, too
    wait_out(&s, 0);
    refuses(slr_send(s.port, to, &look, sizeof look, LONG), WRONG_STATE, "the slice is stale");
    must(slr_ring_close_input(ring));
    look = give(&s, 6);
    slr_status status = slr_send(s.port, to, &look, sizeof look, 0);
    assert_true(status == SLR_CLOSED || status == SLR_RING_DEAD);
    slr_ring_destroy(ring);
    assert_int_equal(out_of(&s), 1);
    refuses(slr_slice_own(s.sums, buffer, &look.frame), INVALID, "is not in the bound one");
    slr_buffer_destroy(buffer); // the pool's again when it was acquired last: the one of tag 6
    assert_int_equal(out_of(&s), 0);
    tear_down(&s);
}

static void late_replies_give_it_back(void **state)
{
    (void)state;
    struct scene s;
    slr_reply reply;
    set_up(&s, devices[0]);
    slr_ring *ring = start(&s, "pass", "pass", NULL);
    struct look look, back;
    for (uint32_t k = 0; k < 2; ++k) { // on a port, and on the shared one
        look = give(&s, 1 + k);
        gives(slr_call(k ? NULL : s.port, address_of(ring, 0), &look, sizeof look, &back, sizeof back, MS), TIMEOUT);
    }
    assert_int_equal(out_of(&s), 2);
    must(slr_ring_activate(ring, LONG));
    stats_when_pending(ring, 0);
    gives(slr_receive(s.port, &reply, &back, sizeof back, 0), TIMEOUT); // looks, and discards
    look = give(&s, 3);
    must(slr_call(NULL, address_of(ring, 0), &look, sizeof look, &back, sizeof back, LONG));
    slr_buffer *taken;
    must(slr_slice_take(s.device, &back.frame, &taken));
    slr_buffer_destroy(taken);
    assert_int_equal(out_of(&s), 0);
    slr_ring_destroy(ring);
    tear_down(&s);
}

static void a_failed_ring_kernel_keeps_what_is_pending(void **state)
{
    (void)state;
    struct scene s;
    set_up(&s, devices[0]);
    slr_ring_desc desc = SLR_RING_DESC_INIT;
    desc.fault_policy = SLR_FAULT_FAIL;
    slr_ring *ring = start(&s, "add", "add", &desc);
    send_owned(&s, ring, 4); // faults
    send_owned(&s, ring, 5);
    must(slr_ring_activate(ring, LONG));
    must(slr_ring_wait(ring, SLR_RING_IN_FAILURE, LONG));
    wait_out(&s, 1);
    must(slr_ring_restart(ring, SLR_RESTART_INITIAL, LONG));
    wait_out(&s, 0);
    slr_ring_destroy(ring);
    tear_down(&s);
}

// ---- host handlers -------------------------------------------------------------------------------------------------

struct keeper {
    slr_device *device;
    slr_buffer *kept;
};

// Passes on what is even, keeps 3, and refuses 5.
static slr_status on_look(void *user, const slr_delivery *delivery)
{
    struct keeper *keeper = user;
    const struct look *look = delivery->message;
    slr_buffer *buffer;
    uint32_t value;
    must(slr_slice_get(keeper->device, &look->frame, &buffer));
    must(slr_buffer_read(buffer, 0, &value, 4));
    holds(value == look->tag);
    if (look->tag == 3)
        must(slr_slice_take(keeper->device, &look->frame, &keeper->kept));
    slr_status status = slr_reply_to(delivery, look, sizeof *look);
    return look->tag == 5 ? SLR_INVALID : status;
}

static slr_status on_looks(void *user, const slr_delivery *deliveries, uint32_t count)
{
    for (uint32_t k = 0; k < count; ++k)
        if (on_look(user, &deliveries[k]) != SLR_OK)
            slr_fail(&deliveries[k], SLR_INVALID);
    return SLR_OK;
}

static void host_handlers_take_and_pass_on(void **state)
{
    (void)state;
    for (uint32_t batch = 0; batch < 2; ++batch) {
        struct scene s;
        set_up(&s, devices[0]);
        struct keeper keeper = {.device = s.device};
        slr_reference reference[] = {SLR_REFERENCE(struct look, frame, NULL, 1),
                                     SLR_REFERENCE_IN_REPLY(struct look, frame, NULL, 1)};
        slr_ring_desc desc = SLR_RING_DESC_INIT;
        desc.name = "host";
        desc.on_message = batch ? NULL : on_look;
        desc.on_batch = batch ? on_looks : NULL;
        desc.user = &keeper;
        desc.message_bytes = desc.reply_bytes = sizeof(struct look);
        desc.references = reference;
        desc.reference_count = 2;
        slr_ring *ring = start_ring(s.device, &desc);
        struct look naming = {.tag = 1, .frame = {.bytes = 64}};
        refuses(slr_send(s.port, address_of(ring, 0), &naming, sizeof naming, LONG), INVALID, "slr_slice_own");
        slr_pool *pool; // of buffers that lie anywhere
        must(slr_device_get_pool(s.device, &pool));
        for (uint32_t tag = 2; tag < 6; ++tag) {
            struct look look = {.tag = tag};
            slr_buffer *buffer;
            must(slr_pool_acquire(pool, PIECE / 4, SLR_U32, &buffer));
            must(slr_buffer_write(buffer, 0, &tag, 4));
            must(slr_slice_own(NULL, buffer, &look.frame));
            must(slr_send(s.port, address_of(ring, 0), &look, sizeof look, LONG));
        }
        slr_reply reply;
        struct look back;
        slr_buffer *taken;
        for (uint32_t tag = 2; tag < 6; ++tag) {
            must(slr_receive(s.port, &reply, &back, sizeof back, LONG));
            assert_int_equal(reply.status, tag == 5 ? SLR_HANDLER_FAULT : SLR_OK);
            if (tag % 2 == 0) {
                must(slr_slice_take(s.device, &back.frame, &taken));
                slr_buffer_destroy(taken);
            } else if (tag == 3) {
                gives(slr_slice_take(s.device, &back.frame, &taken), NOT_FOUND); // the handler has it
            }
        }
        slr_pool_stats stats;
        must(slr_pool_get_stats(pool, &stats));
        assert_int_equal(stats.live, 1);
        slr_buffer_destroy(keeper.kept);
        must(slr_pool_get_stats(pool, &stats));
        assert_int_equal(stats.live, 0);
        slr_ring_destroy(ring);
        reference[0].owns = 0;
        refuses(slr_ring_create(s.device, &desc, &ring), INVALID,
                "only refers to bytes, but a host handler has no bound buffer");
        reference[0].binding = "frames";
        refuses(slr_ring_create(s.device, &desc, &ring), INVALID, "names a binding, but host handlers have none");
        tear_down(&s);
    }
}

// ---- many at once --------------------------------------------------------------------------------------------------

enum { SENDERS = 3, EACH = 1500 };

struct sender {
    struct scene *scene;
    slr_ring *ring;
    uint32_t number, taken;
};

// Sends a buffer of its own, and takes that of some reply, if one comes so soon. 0: it does not receive.
static void send_one(struct sender *sender, slr_port *port, uint32_t i, uint64_t receive_ns)
{
    struct scene *s = sender->scene;
    slr_buffer *buffer;
    struct look look = {.tag = 1000 + sender->number * EACH + i}, back; // not one that the handler forges for
    slr_status status = slr_pool_acquire(s->pool, PIECE / 4, SLR_U32, &buffer);
    if (status != SLR_NO_MEMORY) {
        must(status);
        must(slr_buffer_write(buffer, 0, &look.tag, 4));
        must(slr_slice_own(s->frames, buffer, &look.frame));
        if (slr_send(port, address_of(sender->ring, 0), &look, sizeof look, 0) != SLR_OK)
            slr_buffer_destroy(buffer);
    }
    slr_reply reply;
    if (receive_ns == 0 || slr_receive(port, &reply, &back, sizeof back, receive_ns) != SLR_OK ||
        reply.status != SLR_OK)
        return;
    uint32_t value;
    if (slr_slice_take(s->device, &back.frame, &buffer) != SLR_OK)
        return;
    must(slr_buffer_read(buffer, 0, &value, 4));
    holds(value == back.tag + 1);
    ++sender->taken;
    slr_buffer_destroy(buffer);
}

static void send_many(void *arg)
{
    struct sender *sender = arg;
    slr_port *port = open_port(sender->scene->device);
    for (uint32_t i = 0; i < EACH; ++i) {
        uint32_t taken = sender->taken;
        send_one(sender, port, i, i % 3 == 0 ? 0 : MS);
        if (i % 100 == 99 && sender->taken != taken) {
            slr_port_close(port);
            port = open_port(sender->scene->device);
        }
    }
    // On a loaded machine all that came so far may have been dropped.
    for (uint64_t end = slri_deadline_after(LONG); sender->taken == 0 && !slri_passed(end);)
        send_one(sender, port, 0, 100 * MS);
    slr_port_close(port);
}

static void of_many_senders_none_is_lost_or_shared(void **state)
{
    (void)state;
    for (uint32_t d = 0; d < DEVICES; ++d) {
        struct scene s;
        struct sender sender[SENDERS];
        slri_thread thread[SENDERS];
        set_up(&s, devices[d]);
        slr_ring_desc desc = SLR_RING_DESC_INIT;
        desc.queue_size = 4;
        desc.overflow = SLR_OVERFLOW_DROP_OLDEST;
        slr_ring *ring = start(&s, "pass", "pass", &desc);
        must(slr_ring_activate(ring, LONG));
        uint32_t taken = 0;
        for (uint32_t k = 0; k < SENDERS; ++k) {
            sender[k] = (struct sender){.scene = &s, .ring = ring, .number = k};
            start_thread(&thread[k], send_many, &sender[k]);
        }
        for (uint32_t k = 0; k < SENDERS; ++k) {
            slri_thread_join(&thread[k]);
            taken += sender[k].taken;
        }
        assert_true(taken >= SENDERS);
        slr_ring_destroy(ring);
        assert_int_equal(out_of(&s), 0);
        tear_down(&s);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(handled_or_faulted_it_goes_back),
        cmocka_unit_test(a_reply_takes_it_along),
        cmocka_unit_test(only_its_own_is_passed_on),
        cmocka_unit_test(of_a_closed_port_it_goes_back),
        cmocka_unit_test(a_route_takes_it_along),
        cmocka_unit_test(what_a_route_cannot_take_goes_back),
        cmocka_unit_test(dropped_it_goes_back),
        cmocka_unit_test(undelivered_it_can_be_taken_and_else_goes_back),
        cmocka_unit_test(refused_it_stays_the_senders),
        cmocka_unit_test(late_replies_give_it_back),
        cmocka_unit_test(a_failed_ring_kernel_keeps_what_is_pending),
        cmocka_unit_test(host_handlers_take_and_pass_on),
        cmocka_unit_test(of_many_senders_none_is_lost_or_shared),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
