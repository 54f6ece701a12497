// SPDX-License-Identifier: Apache-2.0
// Routes: pipelines, fan-out and fan-in; on several workers and on one.
#include "tests/ring/route_test.h"

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
                slr_ring_stats stats = stats_when_pending(ring[i], 0);
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
        slr_ring_stats stats = stats_when_pending(ring[1], 0);
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
        for (int i = 0; i < 4; ++i) {
            slr_ring_stats stats = stats_when_pending(ring[i], 0);
            assert_int_equal(stats.handled, COUNT);
            assert_int_equal(stats.routed, (i == 0 ? 3 : 2) * COUNT);
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

// Each reply comes twice: as a reply to its sender, and as what the port collects.
static void sender_that_collects_receives_each_reply_twice(void **state)
{
    (void)state;
    slr_device *device = open_device("cpu");
    struct stage first = {.bit = 1, .replies = 1};
    struct handler h = {0};
    slr_ring_desc sink = describe_ring("sink", &h);
    slr_ring *from = start_stage(device, "first", &first, 8), *to = start_ring(device, &sink);
    slr_port *port = open_port(device);
    slr_route_desc desc = SLR_ROUTE_DESC_INIT;
    desc.reply_too = 1;
    must(slr_route(from, to, &desc));
    must(slr_route_to_port(from, port, NULL));
    for (uint32_t i = 0; i < 200; ++i) {
        uint32_t got;
        must(send_value(port, address_of(from, 0), i, LONG));
        for (int twice = 0; twice < 2; ++twice) {
            must(receive_value(port, &got, LONG));
            assert_int_equal(got, i);
        }
    }
    slr_port_close(port);
    slr_ring_destroy(from);
    slr_ring_destroy(to);
    slr_device_close(device);
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
        cmocka_unit_test(sender_that_collects_receives_each_reply_twice),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
