// SPDX-License-Identifier: Apache-2.0
// Routes: pipelines, fan-out, fan-in, cycles, full stages, ends; on several workers and on one.
#include "ring/ring_test.h"

enum { COUNT = 2000 };

static const char *const devices[] = {"cpu?threads=2", "cpu?threads=1"};

// A stage: adds its own bit to `port`, replies so many times.
struct stage {
    uint32_t bit, replies, held, inside, count;
};

static slr_status work(void *user, const slr_delivery *delivery)
{
    struct stage *stage = user;
    __atomic_fetch_add(&stage->inside, 1, __ATOMIC_ACQ_REL);
    while (__atomic_load_n(&stage->held, __ATOMIC_ACQUIRE))
        slri_sleep_ns(100000);
    struct message message;
    memcpy(&message, delivery->message, sizeof message);
    message.port |= stage->bit;
    slr_status status = SLR_OK;
    for (uint32_t i = 0; i < stage->replies && status == SLR_OK; ++i)
        status = slr_reply_to(delivery, &message, sizeof message);
    __atomic_fetch_add(&stage->count, 1, __ATOMIC_ACQ_REL);
    __atomic_fetch_sub(&stage->inside, 1, __ATOMIC_ACQ_REL);
    return status;
}

static slr_ring_desc describe_stage(const char *name, struct stage *stage, uint32_t queue_size)
{
    slr_ring_desc desc = SLR_RING_DESC_INIT;
    desc.name = name;
    desc.on_message = work;
    desc.user = stage;
    desc.message_bytes = desc.reply_bytes = sizeof(struct message);
    desc.queue_size = queue_size;
    return desc;
}

static slr_ring *start_stage(slr_device *device, const char *name, struct stage *stage, uint32_t queue_size)
{
    slr_ring_desc desc = describe_stage(name, stage, queue_size);
    return start_ring(device, &desc);
}

static void wait_handled(slr_ring *ring, uint64_t handled)
{
    for (uint64_t deadline = slri_deadline_after(LONG); stats_of(ring).handled != handled;) {
        if (slri_passed(deadline))
            fail_msg("%llu of %llu handled after 20 s", (unsigned long long)stats_of(ring).handled,
                     (unsigned long long)handled);
        slri_sleep_ns(100000);
    }
}

static void receive_all_in_order(slr_port *port, uint32_t count, uint32_t bits)
{
    for (uint32_t i = 0; i < count; ++i) {
        struct message message = {0};
        slr_reply reply;
        must(slr_receive(port, &reply, &message, sizeof message, LONG));
        assert_int_equal(reply.status, SLR_OK);
        assert_int_equal(message.value, i);
        assert_int_equal(message.port, bits);
        assert_int_equal(reply.correlation, i + 1); // of the first message
    }
}

struct sender {
    slr_device *device;
    slr_address to;
    uint32_t count;
};

static void send_all(void *arg)
{
    struct sender *sender = arg;
    slr_port *port = open_port(sender->device);
    for (uint32_t i = 0; i < sender->count; ++i)
        must(send_value(port, sender->to, i, LONG));
    slr_port_close(port);
}

// ---- a pipeline ----------------------------------------------------------------------------------------------------

static void pipeline_passes_every_message_in_order_without_host_code(void **state)
{
    (void)state;
    for (size_t d = 0; d < 2; ++d)
        for (uint32_t queue_size = 2; queue_size <= 256; queue_size *= 128) {
            slr_device *device = open_device(devices[d]);
            struct stage stage[4] = {
                {.bit = 1, .replies = 1}, {.bit = 2, .replies = 1}, {.bit = 4, .replies = 1}, {.bit = 8, .replies = 1}};
            slr_ring *ring[4];
            const char *names[] = {"first", "second", "third", "fourth"};
            for (int i = 0; i < 4; ++i)
                ring[i] = start_stage(device, names[i], &stage[i], queue_size);
            for (int i = 0; i < 3; ++i)
                must(slr_route(ring[i], ring[i + 1], NULL));
            slr_port *end = open_port(device);
            must(slr_route_to_port(ring[3], end, NULL));
            struct sender sender = {device, address_of(ring[0], 0), COUNT};
            slri_thread thread;
            start_thread(&thread, send_all, &sender);
            receive_all_in_order(end, COUNT, 15);
            slri_thread_join(&thread);
            for (int i = 0; i < 4; ++i) {
                wait_handled(ring[i], COUNT);
                slr_ring_stats stats = stats_of(ring[i]);
                check_sum(&stats);
                assert_int_equal(stats.accepted, COUNT);
                assert_int_equal(stats.pending, 0);
                assert_int_equal(stats.replied, COUNT);
                assert_int_equal(stats.routed, COUNT);
                assert_int_equal(stats.unrouted, 0);
            }
            slr_port_close(end);
            for (int i = 0; i < 4; ++i)
                slr_ring_destroy(ring[i]);
            slr_device_close(device);
        }
}

static void priority_and_time_sent_pass_along(void **state)
{
    (void)state;
    slr_device *device = open_device("cpu");
    struct stage stage[2] = {{.bit = 1, .replies = 1}, {.bit = 2, .replies = 1}};
    slr_ring *ring[2];
    for (int i = 0; i < 2; ++i) {
        slr_ring_desc desc = describe_stage(i ? "second" : "first", &stage[i], 16);
        desc.time_stamps = 1;
        ring[i] = start_ring(device, &desc);
    }
    must(slr_route(ring[0], ring[1], NULL));
    slr_port *end = open_port(device), *port = open_port(device);
    must(slr_route_to_port(ring[1], end, NULL));
    uint64_t before = slri_now_ns();
    must(send_at(port, address_of(ring[0], 0), 7, 200));
    uint64_t behind = slri_now_ns();
    slr_reply reply;
    struct message message;
    must(slr_receive(end, &reply, &message, sizeof message, LONG));
    assert_int_equal(reply.priority, 200);
    assert_true(reply.sent_ns >= before && reply.sent_ns <= behind); // of the first send, not of the stage's
    assert_int_equal(reply.from.slot, address_of(ring[1], 0).slot);
    gives(slr_receive(port, &reply, &message, sizeof message, 10 * MS), TIMEOUT); // routed, so not replied
    slr_port_close(port);
    slr_port_close(end);
    slr_ring_destroy(ring[0]);
    slr_ring_destroy(ring[1]);
    slr_device_close(device);
}

static const char source[] = "struct sample { unsigned value, port; };\n"
                             "struct scaled { unsigned value, port; };\n"
                             "struct other { unsigned short a, b; unsigned c; };\n"
                             "__ring__ void doubled(const struct sample *in)\n"
                             "{ struct scaled s; s.value = in->value * 2u; s.port = in->port; ring_reply(&s);\n"
                             "  s.value = s.value + 1u; ring_reply(&s); }\n"
                             "__ring__ void guarded(const struct scaled *in)\n"
                             "{ struct sample s; s.value = 100u / (in->value - 4u); s.port = 1u; ring_reply(&s); }\n"
                             "__ring__ void wrong(const struct other *in) { }\n";

static void kernel_handlers_feed_one_another_and_faults_are_not_passed_on(void **state)
{
    (void)state;
    const char *engines[] = {"cpu", "cpu?engine=interpreted"};
    for (int e = 0; e < 2; ++e) {
        slr_device *device = open_device(engines[e]);
        slr_program *program;
        must(slr_program_from_text(device, "stages.cu", source, NULL, &program));
        slr_ring *ring[3];
        const char *names[] = {"doubled", "guarded", "wrong"};
        for (int i = 0; i < 3; ++i) {
            slr_ring_desc desc = SLR_RING_DESC_INIT;
            desc.program = program;
            desc.handler = names[i];
            desc.max_replies = i == 0 ? 2 : 1;
            ring[i] = start_ring(device, &desc);
        }
        refuses(slr_route(ring[0], ring[2], NULL), LAYOUT, "'doubled' replies with struct scaled");
        must(slr_route(ring[0], ring[1], NULL));
        slr_port *end = open_port(device), *port = open_port(device);
        must(slr_route_to_port(ring[1], end, NULL));
        must(send_value(port, address_of(ring[0], 0), 2, LONG)); // 4 faults, 5 gives 100
        slr_reply reply;
        struct message message;
        must(slr_receive(end, &reply, &message, sizeof message, LONG));
        assert_int_equal(reply.status, SLR_OK);
        assert_int_equal(message.value, 100);
        slr_ring_stats stats = stats_of(ring[1]); // a batch is counted behind its replies
        for (uint64_t deadline = slri_deadline_after(LONG); stats.handled == 0 && !slri_passed(deadline);)
            stats = stats_of(ring[1]);
        assert_int_equal(stats.faulted, 1);
        assert_int_equal(stats.handled, 1);
        assert_int_equal(stats.routed, 1);
        assert_non_null(strstr(stats.last_fault, "division by zero"));
        slr_port_close(port);
        slr_port_close(end);
        for (int i = 0; i < 3; ++i)
            slr_ring_destroy(ring[i]);
        slr_program_destroy(program);
        slr_device_close(device);
    }
}

static slr_status work_on_all(void *user, const slr_delivery *deliveries, uint32_t count)
{
    for (uint32_t k = count; k-- > 0;) { // the replies go in the messages' order all the same
        slr_status status = work(user, &deliveries[k]);
        if (status != SLR_OK)
            return status;
    }
    return SLR_OK;
}

static slr_status keep_taking(void *user, slr_context *context)
{
    struct handler *h = user;
    slr_delivery deliveries[8];
    uint32_t taken;
    slr_status status;
    while ((status = slr_take(context, deliveries, 8, 0, LONG, &taken)) == SLR_OK)
        for (uint32_t k = 0; k < taken && status == SLR_OK; ++k) {
            note_message(h, &deliveries[k]);
            status = slr_done(&deliveries[k]);
        }
    return status == SLR_END ? SLR_OK : status;
}

static void batches_pass_on_and_loops_receive(void **state)
{
    (void)state;
    for (size_t d = 0; d < 2; ++d) {
        slr_device *device = open_device(devices[d]);
        struct stage stage = {.bit = 1, .replies = 1};
        struct handler h = {0};
        slr_ring_desc desc = describe_stage("batches", &stage, 64), sink = describe_ring("loop", &h);
        desc.on_message = NULL;
        desc.on_batch = work_on_all;
        desc.linger_ns = 20000;
        desc.max_batch = 8;
        sink.on_message = NULL;
        sink.main = keep_taking;
        sink.queue_size = 16;
        slr_ring *from = start_ring(device, &desc), *to = start_ring(device, &sink);
        slr_route_desc route = SLR_ROUTE_DESC_INIT;
        route.close_with_source = 1;
        refuses(slr_route(to, from, NULL), INVALID, "'loop' has a main");
        must(slr_route(from, to, &route));
        struct sender sender = {device, address_of(from, 0), COUNT};
        send_all(&sender);
        must(slr_ring_close_input(from));
        must(slr_ring_wait(to, SLR_RING_TERMINATED, LONG));
        assert_int_equal(noted(&h), COUNT);
        for (uint32_t i = 0; i < COUNT; ++i)
            assert_int_equal(h.note[i].value, i);
        assert_int_equal(stats_of(from).routed, COUNT);
        slr_ring_destroy(from);
        slr_ring_destroy(to);
        slr_device_close(device);
    }
}

// ---- fan-out and fan-in --------------------------------------------------------------------------------------------

static void fan_out_and_fan_in_count_every_message(void **state)
{
    (void)state;
    for (size_t d = 0; d < 2; ++d) {
        slr_device *device = open_device(devices[d]);
        // One source, three workers of two replies, one sink. Small mailboxes: all of them run full.
        struct stage stage[5] = {{.bit = 1, .replies = 1},
                                 {.bit = 2, .replies = 2},
                                 {.bit = 4, .replies = 2},
                                 {.bit = 8, .replies = 2},
                                 {.bit = 16}};
        const char *names[] = {"source", "a", "b", "c", "sink"};
        slr_ring *ring[5];
        for (int i = 0; i < 5; ++i) {
            slr_ring_desc desc = describe_stage(names[i], &stage[i], 3);
            desc.max_replies = i > 0 && i < 4 ? 2 : 1;
            ring[i] = start_ring(device, &desc);
        }
        for (int i = 1; i < 4; ++i) {
            must(slr_route(ring[0], ring[i], NULL));
            must(slr_route(ring[i], ring[4], NULL));
        }
        struct sender sender = {device, address_of(ring[0], 0), COUNT};
        send_all(&sender);
        wait_handled(ring[4], 6 * COUNT);
        assert_int_equal(stats_of(ring[0]).routed, 3 * COUNT);
        for (int i = 1; i < 4; ++i) {
            assert_int_equal(stats_of(ring[i]).handled, COUNT);
            assert_int_equal(stats_of(ring[i]).routed, 2 * COUNT);
        }
        slr_ring_stats stats = stats_of(ring[4]);
        check_sum(&stats);
        assert_int_equal(stats.accepted, 6 * COUNT);
        for (int i = 0; i < 5; ++i)
            slr_ring_destroy(ring[i]);
        slr_device_close(device);
    }
}

static void instance_is_kept_or_read_from_the_reply(void **state)
{
    (void)state;
    slr_device *device = open_device("cpu?threads=2");
    struct stage first = {.bit = 0, .replies = 1};
    struct handler h = {0}, by_field = {0};
    slr_ring_desc desc = describe_stage("first", &first, 64);
    desc.instances = 5;
    slr_ring *from = start_ring(device, &desc);
    slr_ring_desc sink = describe_ring("same", &h), chosen = describe_ring("chosen", &by_field);
    sink.instances = 5;
    chosen.instances = 9;
    slr_ring *same = start_ring(device, &sink), *other = start_ring(device, &chosen);
    must(slr_route(from, same, NULL));
    slr_route_desc route = SLR_ROUTE_DESC_INIT;
    route.instance_at = SLR_INSTANCE_AT(struct message, value);
    must(slr_route(from, other, &route));
    slr_port *port = open_port(device);
    for (uint32_t i = 0; i < 100; ++i)
        must(send_value(port, address_of(from, i % 5), i % 10, LONG));
    wait_handled(from, 100);
    wait_handled(same, 100);
    wait_handled(other, 90);
    for (uint32_t i = 0; i < 100; ++i)
        assert_int_equal(h.instance[i], h.note[i].value % 5);
    for (uint32_t i = 0; i < 90; ++i)
        assert_int_equal(by_field.instance[i], by_field.note[i].value);
    assert_int_equal(stats_of(from).unrouted, 10); // there is no instance 9
    assert_int_equal(stats_of(from).routed, 190);
    slr_port_close(port);
    slr_ring_destroy(from);
    slr_ring_destroy(same);
    slr_ring_destroy(other);
    slr_device_close(device);
}

static void reply_too_answers_the_sender_as_well(void **state)
{
    (void)state;
    slr_device *device = open_device("cpu");
    struct stage first = {.bit = 1, .replies = 1};
    struct handler h = {0};
    slr_ring_desc sink = describe_ring("sink", &h);
    slr_ring *from = start_stage(device, "first", &first, 8), *to = start_ring(device, &sink);
    slr_route_desc desc = SLR_ROUTE_DESC_INIT;
    desc.reply_too = 1;
    must(slr_route(from, to, &desc));
    slr_port *port = open_port(device);
    uint32_t got;
    for (uint32_t i = 0; i < 200; ++i) {
        must(send_value(port, address_of(from, 0), i, LONG));
        must(receive_value(port, &got, LONG));
        assert_int_equal(got, i);
    }
    wait_handled(to, 200);
    must(slr_unroute(from, to));
    must(send_value(port, address_of(from, 0), 5, LONG)); // replies as before
    must(receive_value(port, &got, LONG));
    wait_handled(from, 201);
    assert_int_equal(stats_of(to).handled, 200);
    assert_int_equal(stats_of(from).routed, 200);
    refuses(slr_unroute(from, to), NOT_FOUND, "'first' has no route to 'sink'");
    slr_port_close(port);
    slr_ring_destroy(from);
    slr_ring_destroy(to);
    slr_device_close(device);
}

// ---- full stages and cycles ----------------------------------------------------------------------------------------

static void slow_stage_slows_its_senders_and_nothing_is_lost(void **state)
{
    (void)state;
    for (size_t d = 0; d < 2; ++d) {
        slr_device *device = open_device(devices[d]);
        struct stage first = {.replies = 1};
        struct handler h = {.held = 1};
        slr_ring_desc sink = describe_ring("slow", &h);
        sink.queue_size = 4;
        slr_ring *from = start_stage(device, "fast", &first, 6), *to = start_ring(device, &sink);
        must(slr_route(from, to, NULL));
        slr_port *port = open_port(device);
        uint32_t sent = 0;
        // 4 in the slow one, 6 in the fast one: no more, however long one tries. With one worker it may hold more: the
        // slow handler keeps the fast one from running.
        while (send_value(port, address_of(from, 0), sent, 200 * MS) == SLR_OK)
            assert_in_range(++sent, 1, 10);
        if (d == 0) {
            assert_int_equal(sent, 10);
            assert_int_equal(stats_of(from).handled, 4);
            assert_int_equal(stats_of(from).pending, 6);
            assert_int_equal(stats_of(to).accepted, 4);
        }
        hold(&h, 0);
        for (; sent < COUNT; ++sent)
            must(send_value(port, address_of(from, 0), sent, LONG));
        wait_handled(to, COUNT);
        for (uint32_t i = 0; i < COUNT; ++i)
            assert_int_equal(h.note[i].value, i);
        slr_port_close(port);
        slr_ring_destroy(from);
        slr_ring_destroy(to);
        slr_device_close(device);
    }
}

// Sends a message on so many times, then lets it end.
static slr_status count_down(void *user, const slr_delivery *delivery)
{
    (void)user;
    struct message message;
    memcpy(&message, delivery->message, sizeof message);
    return message.port-- ? slr_reply_to(delivery, &message, sizeof message) : SLR_OK;
}

static void destination_that_drops_does_not_hold_up(void **state)
{
    (void)state;
    for (size_t d = 0; d < 2; ++d) {
        slr_device *device = open_device(devices[d]);
        struct stage first = {.replies = 1};
        struct handler h = {0};
        slr_ring_desc sink = describe_ring("latest", &h), source_desc = describe_stage("first", &first, 4);
        sink.queue_size = 2;
        sink.overflow = SLR_OVERFLOW_DROP_OLDEST;
        slr_ring *from = start_ring(device, &source_desc), *to = start_ring(device, &sink);
        must(slr_route(from, to, NULL));
        must(slr_ring_deactivate(to, LONG));
        struct sender sender = {device, address_of(from, 0), COUNT};
        send_all(&sender);
        wait_handled(from, COUNT);
        must(slr_ring_reactivate(to, LONG));
        wait_handled(to, 2);
        slr_ring_stats stats = stats_of(to);
        assert_int_equal(stats.accepted, COUNT);
        assert_int_equal(stats.dropped_oldest, COUNT - 2);
        assert_int_equal(h.note[0].value, COUNT - 2); // the last two
        assert_int_equal(h.note[1].value, COUNT - 1);
        slr_ring_destroy(from);
        slr_ring_destroy(to);
        slr_device_close(device);
    }
}

static void source_that_drops_tells_its_senders_nothing(void **state)
{
    (void)state;
    slr_device *device = open_device("cpu");
    struct stage first = {.replies = 1};
    struct handler h = {.held = 1};
    slr_ring_desc desc = describe_stage("first", &first, 2), sink = describe_ring("slow", &h);
    desc.overflow = SLR_OVERFLOW_DROP_OLDEST;
    sink.queue_size = 2;
    slr_ring *from = start_ring(device, &desc), *to = start_ring(device, &sink);
    must(slr_route(from, to, NULL));
    slr_port *port = open_port(device);
    for (uint32_t i = 0; i < COUNT; ++i) // many more notices than the port has room for
        must(send_value(port, address_of(from, 0), i, LONG));
    hold(&h, 0);
    for (uint64_t deadline = slri_deadline_after(LONG); stats_of(from).pending != 0 && !slri_passed(deadline);)
        slri_sleep_ns(100000);
    slr_ring_stats stats = stats_of(from);
    check_sum(&stats);
    assert_int_equal(stats.handled + stats.dropped, COUNT);
    wait_handled(to, stats.handled);
    uint32_t got;
    gives(receive_value(port, &got, 10 * MS), TIMEOUT);
    slr_port_close(port);
    slr_ring_destroy(from);
    slr_ring_destroy(to);
    slr_device_close(device);
}

static void failed_stage_is_waited_for_and_goes_on_behind_its_fault(void **state)
{
    (void)state;
    for (size_t d = 0; d < 2; ++d) {
        slr_device *device = open_device(devices[d]);
        struct stage first = {.replies = 1};
        struct handler middle = {.replies = 1, .fail_each = 100}, h = {0};
        slr_ring_desc desc = describe_ring("middle", &middle), sink = describe_ring("sink", &h);
        desc.fault_policy = SLR_FAULT_FAIL;
        desc.queue_size = 64;
        slr_ring *ring[3] = {start_stage(device, "first", &first, 64), start_ring(device, &desc),
                             start_ring(device, &sink)};
        must(slr_route(ring[0], ring[1], NULL));
        must(slr_route(ring[1], ring[2], NULL));
        struct sender sender = {device, address_of(ring[0], 0), COUNT};
        slri_thread thread;
        start_thread(&thread, send_all, &sender);
        for (uint32_t i = 1; i <= COUNT / 100; ++i) {
            must(slr_ring_wait(ring[1], SLR_RING_IN_FAILURE, LONG));
            assert_int_equal(stats_of(ring[1]).handled, 99 * i);
            must(slr_ring_restart(ring[1], SLR_RESTART_INITIAL, LONG));
        }
        slri_thread_join(&thread);
        wait_handled(ring[2], COUNT / 100 * 99);
        for (uint32_t i = 0; i < COUNT / 100 * 99; ++i)
            assert_int_equal(h.note[i].value, i / 99 * 100 + i % 99); // all but each hundredth
        assert_int_equal(stats_of(ring[0]).unrouted, 0);
        assert_int_equal(stats_of(ring[1]).unrouted, 0);
        for (int i = 0; i < 3; ++i)
            slr_ring_destroy(ring[i]);
        slr_device_close(device);
    }
}

static void handlers_with_a_deadline_pass_on(void **state)
{
    (void)state;
    for (size_t d = 0; d < 2; ++d) {
        slr_device *device = open_device(devices[d]);
        struct stage first = {.replies = 1};
        struct handler h = {0};
        slr_ring_desc desc = describe_stage("first", &first, 16), sink = describe_ring("sink", &h);
        desc.handler_timeout_ns = 300 * MS;
        slr_ring *from = start_ring(device, &desc), *to = start_ring(device, &sink);
        must(slr_route(from, to, NULL));
        struct sender sender = {device, address_of(from, 0), 100};
        send_all(&sender);
        wait_handled(to, 100);
        __atomic_store_n(&first.held, 1, __ATOMIC_RELEASE); // the next one is abandoned
        slr_port *port = open_port(device);
        for (uint32_t i = 100; i < 110; ++i)
            must(send_value(port, address_of(from, 0), i, LONG));
        must(slr_ring_wait(from, SLR_RING_IN_FAILURE, LONG));
        __atomic_store_n(&first.held, 0, __ATOMIC_RELEASE);
        must(slr_ring_restart(from, SLR_RESTART_INITIAL, LONG));
        wait_handled(to, 109);
        for (uint32_t i = 0; i < 109; ++i)
            assert_int_equal(h.note[i].value, i < 100 ? i : i + 1);
        assert_int_equal(stats_of(from).faulted, 1);
        assert_int_equal(stats_of(from).routed, 109);
        slr_port_close(port);
        wait_until_is(&first.inside, 0);
        slr_ring_destroy(from);
        slr_ring_destroy(to);
        slr_device_close(device);
    }
}

static void cycle_with_room_goes_round(void **state)
{
    (void)state;
    for (size_t d = 0; d < 2; ++d) {
        slr_device *device = open_device(devices[d]);
        slr_ring *ring[3];
        const char *names[] = {"a", "b", "c"};
        for (int i = 0; i < 3; ++i) {
            slr_ring_desc desc = describe_stage(names[i], NULL, 64);
            desc.on_message = count_down;
            ring[i] = start_ring(device, &desc);
        }
        for (int i = 0; i < 3; ++i)
            must(slr_route(ring[i], ring[(i + 1) % 3], NULL));
        slr_port *port = open_port(device);
        for (uint32_t i = 0; i < 40; ++i) {
            struct message message = {.value = i, .port = 299};
            must(slr_send(port, address_of(ring[0], 0), &message, sizeof message, LONG));
        }
        for (int i = 0; i < 3; ++i)
            wait_handled(ring[i], 40 * 100);
        slr_port_close(port);
        for (int i = 0; i < 3; ++i) {
            slr_ring_stats stats;
            must(slr_ring_terminate(ring[i], LONG, NULL, NULL, &stats));
            assert_int_equal(stats.undelivered, 0);
            assert_string_equal(stats.last_fault, "");
            slr_ring_destroy(ring[i]);
        }
        slr_device_close(device);
    }
}

static void count_undelivered(void *user, const slr_undelivered *undelivered)
{
    (void)undelivered;
    ++*(uint32_t *)user;
}

static void cycle_of_full_mailboxes_is_found_and_named(void **state)
{
    (void)state;
    for (size_t d = 0; d < 2; ++d)
        for (uint32_t length = 1; length <= 3; ++length) {
            slr_device *device = open_device(devices[d]);
            struct stage stage[4] = {{.replies = 1}, {.replies = 1}, {.replies = 1}, {.replies = 1}};
            const char *names[] = {"a", "b", "c", "feeder"};
            slr_ring *ring[4];
            for (uint32_t i = 0; i < 4; ++i) {
                slr_ring_desc desc = describe_stage(names[i], &stage[i], 4);
                ring[i] = launch_ring(device, &desc);
            }
            for (uint32_t i = 0; i < length; ++i)
                must(slr_route(ring[i], ring[(i + 1) % length], NULL));
            must(slr_route(ring[3], ring[0], NULL)); // from outside the cycle
            slr_port *port = open_port(device);
            for (uint32_t i = 0; i < 16; ++i) // every mailbox is full before anything runs
                must(send_value(port, address_of(ring[i / 4], 0), i, 0));
            for (uint32_t i = 4; i-- > 0;)
                must(slr_ring_activate(ring[i], LONG));
            for (uint32_t i = 0; i < length; ++i)
                must(slr_ring_wait(ring[i], SLR_RING_IN_FAILURE, LONG));
            uint32_t named = 0;
            for (uint32_t i = 0; i < length; ++i) {
                slr_ring_stats stats;
                uint32_t given = 0;
                must(slr_ring_terminate(ring[i], LONG, count_undelivered, &given, &stats));
                static const char *const texts[][3] = {
                    {"deadlock: a -> a: each waits for room in the next"},
                    {"deadlock: a -> b -> a:", "deadlock: b -> a -> b:"},
                    {"deadlock: a -> b -> c -> a:", "deadlock: b -> c -> a -> b:", "deadlock: c -> a -> b -> c:"}};
                for (uint32_t k = 0; k < length; ++k)
                    named += strstr(stats.last_failure, texts[length - 1][k]) != NULL;
                check_sum(&stats);
                assert_int_equal(stats.undelivered, given);
                assert_int_equal(given, 4); // all of it is handed back
            }
            assert_int_equal(named, length);
            assert_int_equal(slr_ring_get_state(ring[3]), SLR_RING_ACTIVE); // it was only held up, and goes on
            wait_handled(ring[3], 4);
            assert_int_equal(stats_of(ring[3]).unrouted, 4);
            if (length == 3)
                must(slr_ring_terminate(ring[3], LONG, NULL, NULL, NULL));
            slr_port_close(port);
            for (uint32_t i = 0; i < 4; ++i)
                slr_ring_destroy(ring[i]);
            slr_device_close(device);
        }
}

// ---- ends ----------------------------------------------------------------------------------------------------------

static void close_with_source_drains_the_pipeline(void **state)
{
    (void)state;
    slr_device *device = open_device("cpu?threads=2");
    struct stage a = {.replies = 1}, b = {.replies = 1};
    struct handler h = {0};
    slr_ring_desc desc = describe_ring("sink", &h);
    slr_ring *first = start_stage(device, "first", &a, 8), *second = start_stage(device, "second", &b, 8);
    slr_ring *sink = start_ring(device, &desc);
    slr_route_desc route = SLR_ROUTE_DESC_INIT;
    route.close_with_source = 1;
    must(slr_route(first, sink, &route));
    must(slr_route(second, sink, &route));
    struct sender one = {device, address_of(first, 0), COUNT}, two = {device, address_of(second, 0), COUNT};
    send_all(&one);
    must(slr_ring_close_input(first));
    must(slr_ring_wait(first, SLR_RING_TERMINATED, LONG));
    assert_int_equal(slr_ring_get_state(sink), SLR_RING_ACTIVE); // it has another source
    send_all(&two);
    must(slr_ring_close_input(second));
    must(slr_ring_wait(sink, SLR_RING_TERMINATED, LONG));
    assert_int_equal(stats_of(sink).handled, 2 * COUNT);
    slr_ring_destroy(first);
    slr_ring_destroy(second);
    slr_ring_destroy(sink);
    slr_device_close(device);
}

static void terminate_in_the_middle_counts_what_is_not_passed_on(void **state)
{
    (void)state;
    for (size_t d = 0; d < 2; ++d) {
        slr_device *device = open_device(devices[d]);
        struct stage a = {.replies = 1}, b = {.replies = 1};
        struct handler h = {0};
        slr_ring_desc desc = describe_ring("sink", &h);
        slr_ring *first = start_stage(device, "first", &a, 32), *middle = start_stage(device, "middle", &b, 5);
        slr_ring *sink = start_ring(device, &desc);
        must(slr_route(first, middle, NULL));
        must(slr_route(middle, sink, NULL));
        struct sender sender = {device, address_of(first, 0), 20 * COUNT};
        slri_thread thread;
        start_thread(&thread, send_all, &sender);
        while (stats_of(sink).handled < 100)
            slri_sleep_ns(100000);
        slr_ring_stats stats;
        uint32_t given = 0;
        must(slr_ring_terminate(middle, 0, count_undelivered, &given, &stats));
        slri_thread_join(&thread); // its sender is not held up
        wait_handled(first, 20 * COUNT);
        wait_handled(sink, stats.routed);
        check_sum(&stats);
        assert_int_equal(stats.undelivered, given);
        assert_int_equal(stats.routed, stats.handled);
        slr_ring_stats of_first = stats_of(first);
        assert_int_equal(of_first.routed, stats.accepted);
        assert_int_equal(of_first.routed + of_first.unrouted, 20 * COUNT);
        slr_ring_destroy(middle);
        slr_ring_destroy(first);
        slr_ring_destroy(sink);
        slr_device_close(device);
    }
}

static void closed_port_is_no_destination_any_more(void **state)
{
    (void)state;
    slr_device *device = open_device("cpu");
    struct stage first = {.replies = 1};
    slr_ring *from = start_stage(device, "first", &first, 16);
    slr_port *port = open_port(device), *other = open_port(device);
    must(slr_route_to_port(from, other, NULL));
    refuses(slr_route_to_port(from, other, NULL), INVALID, "'first' has a route to this port already");
    for (uint32_t i = 0; i < 100; ++i) { // more than the port has room for
        if (i == 50)
            slr_port_close(other);
        must(send_value(port, address_of(from, 0), i, LONG));
    }
    wait_handled(from, 100);
    slr_ring_stats stats = stats_of(from);
    assert_int_equal(stats.routed + stats.unrouted, 100);
    assert_true(stats.unrouted >= 50);
    other = open_port(device); // takes the closed one's lane over, and not its route
    must(send_value(other, address_of(from, 0), 1, LONG));
    wait_handled(from, 101);
    uint32_t got;
    gives(receive_value(other, &got, 10 * MS), TIMEOUT);
    must(slr_route_to_port(from, other, NULL));
    must(send_value(port, address_of(from, 0), 9, LONG));
    must(receive_value(other, &got, LONG));
    assert_int_equal(got, 9);
    slr_port_close(other);
    slr_port_close(port);
    slr_ring_destroy(from);
    slr_device_close(device);
}

static void port_that_does_not_read_holds_its_source_up(void **state)
{
    (void)state;
    slr_device *device = open_device("cpu");
    struct stage first = {.replies = 1};
    slr_ring *from = start_stage(device, "first", &first, 16);
    slr_port *port = open_port(device), *end = open_port(device);
    must(slr_route_to_port(from, end, NULL));
    uint32_t sent = 0;
    while (send_value(port, address_of(from, 0), sent, 200 * MS) == SLR_OK)
        ++sent;
    assert_int_equal(sent, 64 + 16); // its reply lane and the mailbox
    for (uint32_t i = 0; i < sent; ++i) {
        uint32_t got;
        must(receive_value(end, &got, LONG));
        assert_int_equal(got, i);
    }
    slr_port_close(end);
    slr_port_close(port);
    slr_ring_destroy(from);
    slr_device_close(device);
}

static void routes_change_under_load(void **state)
{
    (void)state;
    for (size_t d = 0; d < 2; ++d) {
        slr_device *device = open_device(devices[d]);
        struct stage first = {.replies = 1};
        struct handler h = {0}, k = {0};
        slr_ring_desc desc = describe_ring("one", &h), other = describe_ring("two", &k);
        slr_ring *from = start_stage(device, "first", &first, 16);
        slr_ring *one = start_ring(device, &desc), *two = start_ring(device, &other);
        must(slr_route(from, one, NULL));
        struct sender sender = {device, address_of(from, 0), 10 * COUNT};
        slri_thread thread;
        start_thread(&thread, send_all, &sender);
        for (uint32_t i = 0; i < 100; ++i) {
            must(slr_route(from, two, NULL));
            must(slr_unroute(from, two));
        }
        slri_thread_join(&thread);
        wait_handled(one, 10 * COUNT);
        slr_ring_stats stats = stats_of(from);
        wait_handled(two, stats.routed - 10 * COUNT);
        assert_int_equal(stats.unrouted, 0);
        slr_ring_destroy(two);
        slr_ring_destroy(from);
        slr_ring_destroy(one);
        slr_device_close(device);
    }
}

static void impossible_routes_are_refused(void **state)
{
    (void)state;
    slr_device *device = open_device("cpu"), *elsewhere = open_device("cpu");
    struct stage stage = {.replies = 1};
    struct handler h = {0};
    slr_ring *from = start_stage(device, "from", &stage, 2), *to = start_stage(device, "to", &stage, 2);
    slr_ring *far = start_stage(elsewhere, "far", &stage, 2);
    slr_ring_desc desc = describe_ring("mute", &h);
    slr_ring *mute = start_ring(device, &desc), *small, *many, *created;
    desc = describe_stage("small", &stage, 2);
    desc.message_bytes = 4;
    desc.max_ports = 1;
    small = start_ring(device, &desc);
    desc = describe_stage("many", &stage, 8);
    desc.instances = 8;
    desc.max_replies = 3;
    many = start_ring(device, &desc);
    desc = describe_stage("created", &stage, 8);
    must(slr_ring_create(device, &desc, &created));
    desc = describe_ring("keyed", &h);
    desc.keys = SLR_KEYS_U64;
    slr_ring *keyed = start_ring(device, &desc);
    refuses(slr_route(from, keyed, NULL), INVALID, "'keyed' is keyed");
    refuses(slr_subscribe(keyed, "a"), INVALID, "'keyed' is keyed");
    refuses(slr_route(NULL, to, NULL), INVALID, "from is NULL");
    refuses(slr_route(from, far, NULL), INVALID, "'from' and 'far' are on different devices");
    refuses(slr_route(mute, to, NULL), INVALID, "'mute' never replies");
    refuses(slr_route(from, small, NULL), LAYOUT, "a reply of 'from' has 8 B, a message of 'small' has 4 B");
    refuses(slr_route(many, to, NULL), INVALID, "'many' may reply 3 times to a message; 'to' has room for 2 messages");
    refuses(slr_route(from, created, NULL), WRONG_STATE, "'created' is created");
    slr_route_desc route = SLR_ROUTE_DESC_INIT;
    route.instance_at = 6;
    refuses(slr_route(from, many, &route), INVALID, "instance_at is byte 5; a reply has 8 B");
    must(slr_route(from, to, NULL));
    refuses(slr_route(from, to, NULL), INVALID, "'from' has a route to 'to' already");
    slr_port *port = open_port(elsewhere);
    refuses(slr_route_to_port(from, port, NULL), INVALID, "on another device");
    slr_port_close(port);
    slr_ring *all[] = {from, to, far, mute, small, many, created, keyed};
    for (size_t i = 0; i < sizeof all / sizeof all[0]; ++i)
        slr_ring_destroy(all[i]);
    slr_device_close(device);
    slr_device_close(elsewhere);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pipeline_passes_every_message_in_order_without_host_code),
        cmocka_unit_test(priority_and_time_sent_pass_along),
        cmocka_unit_test(kernel_handlers_feed_one_another_and_faults_are_not_passed_on),
        cmocka_unit_test(batches_pass_on_and_loops_receive),
        cmocka_unit_test(fan_out_and_fan_in_count_every_message),
        cmocka_unit_test(instance_is_kept_or_read_from_the_reply),
        cmocka_unit_test(reply_too_answers_the_sender_as_well),
        cmocka_unit_test(slow_stage_slows_its_senders_and_nothing_is_lost),
        cmocka_unit_test(destination_that_drops_does_not_hold_up),
        cmocka_unit_test(source_that_drops_tells_its_senders_nothing),
        cmocka_unit_test(failed_stage_is_waited_for_and_goes_on_behind_its_fault),
        cmocka_unit_test(handlers_with_a_deadline_pass_on),
        cmocka_unit_test(cycle_with_room_goes_round),
        cmocka_unit_test(cycle_of_full_mailboxes_is_found_and_named),
        cmocka_unit_test(close_with_source_drains_the_pipeline),
        cmocka_unit_test(terminate_in_the_middle_counts_what_is_not_passed_on),
        cmocka_unit_test(closed_port_is_no_destination_any_more),
        cmocka_unit_test(port_that_does_not_read_holds_its_source_up),
        cmocka_unit_test(routes_change_under_load),
        cmocka_unit_test(impossible_routes_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
