// SPDX-License-Identifier: Apache-2.0
// ring_send: kernel handlers that feed other ring kernels through their outlets, under both engines.
#include "tests/ring/ring_test.h"

enum { COUNT = 2000 };

static const char *const engines[] = {"cpu?threads=2", "cpu?threads=1", "cpu?threads=2&engine=interpreted"};
enum { ENGINES = sizeof engines / sizeof *engines };

static const char source[] =
    "struct message { unsigned value, port; };\n"
    "struct other { unsigned short a, b; unsigned c; };\n"
    "struct count { unsigned sent; };\n"
    "__device__ void pass(ring_to(struct message) to, const struct message *in, unsigned bit)\n"
    "{ struct message m; m.value = in->value; m.port = in->port | bit; ring_send(to, &m); }\n"
    "__ring__ void first(const struct message *in, ring_to(struct message) next) { pass(next, in, 1u); }\n"
    "__ring__ void second(const struct message *in, int unused, ring_to(struct message) next) { pass(next, in, 2u); }\n"
    "__ring__ void last(const struct message *in)\n"
    "{ struct message m; m.value = in->value; m.port = in->port | 4u; ring_reply(&m); }\n"
    "__ring__ void sort(struct count *self, const struct message *in, ring_to(struct message) even,\n"
    "                   ring_to(struct message) odd)\n"
    "{ ring_to(struct message) to = odd;\n"
    "  if (in->value % 2u == 0u) pass(even, in, 8u); else pass(to, in, 16u);\n"
    "  self->sent += 1u; ring_reply(self); }\n"
    "__ring__ void spread(const struct message *in, ring_to(struct message) to)\n"
    "{ ring_send_at(to, in->value % 10u, in); }\n"
    "__ring__ void again(const struct message *in, ring_to(struct message) to)\n"
    "{ struct message m; m.value = in->value - 1u; m.port = in->port;\n"
    "  for (unsigned i = 0u; i < in->port && in->value > 0u; i++) ring_send(to, &m); }\n"
    "__ring__ void faulty(const struct message *in, ring_to(struct message) to)\n"
    "{ ring_send(to, in); unsigned left = 100u / in->value; if (left == 50u) ring_send(to, in); }\n"
    "__ring__ void slow(const struct message *in, ring_to(struct message) to)\n"
    "{ struct message m; m.port = 1u; m.value = in->value; ring_send(to, &m);\n"
    "  for (unsigned i = 0u; i < in->value; i++) m.port = m.port * 1664525u + 1013904223u;\n"
    "  if (m.port == 7u) ring_send(to, &m); }\n"
    "__ring__ void wrong(const struct other *in) { }\n";

typedef struct world {
    slr_device *device;
    slr_program *program;
} world;

static world open_world(const char *device)
{
    world world = {.device = open_device(device)};
    must(slr_program_from_text(world.device, "send.cu", source, NULL, &world.program));
    return world;
}

static void close_world(const world *world)
{
    slr_program_destroy(world->program);
    slr_device_close(world->device);
}

static slr_ring_desc describe_kernel(const world *world, const char *handler, uint32_t queue_size)
{
    slr_ring_desc desc = SLR_RING_DESC_INIT;
    desc.program = world->program;
    desc.handler = handler;
    desc.queue_size = queue_size;
    return desc;
}

static slr_ring *start_kernel(const world *world, const char *handler, uint32_t queue_size)
{
    static const int unused = 0;
    slr_ring_desc desc = describe_kernel(world, handler, queue_size);
    slr_binding binding = {.name = "unused", .scalar = &unused, .bytes = sizeof unused};
    desc.bindings = &binding;
    desc.binding_count = strcmp(handler, "second") == 0;
    return start_ring(world->device, &desc);
}

static slr_ring *start_sink(const world *world, const char *name, struct handler *h, uint32_t queue_size,
                            uint32_t instances)
{
    slr_ring_desc desc = describe_ring(name, h);
    desc.queue_size = queue_size;
    desc.instances = instances;
    return start_ring(world->device, &desc);
}

static slr_status connect(slr_ring *from, const char *outlet, slr_ring *to)
{
    slr_route_desc route = SLR_ROUTE_DESC_INIT;
    route.outlet = outlet;
    return slr_route(from, to, &route);
}

struct sender {
    slr_device *device;
    slr_address to;
};

static void send_all(void *arg)
{
    struct sender *sender = arg;
    slr_port *port = open_port(sender->device);
    for (uint32_t i = 0; i < COUNT; ++i)
        must(send_value(port, sender->to, i, LONG));
    slr_port_close(port);
}

// ---- where messages go ----------------------------------------------------------------------------------------------

static void a_pipeline_in_kernel_source_passes_every_message_in_order(void **state)
{
    (void)state;
    for (int e = 0; e < ENGINES; ++e)
        for (uint32_t queue_size = 1; queue_size <= 256; queue_size *= 256) {
            world world = open_world(engines[e]);
            slr_ring *ring[] = {start_kernel(&world, "first", queue_size), start_kernel(&world, "second", queue_size),
                                start_kernel(&world, "last", queue_size)};
            must(connect(ring[0], "next", ring[1]));
            must(connect(ring[1], "next", ring[2]));
            slr_port *end = open_port(world.device);
            must(slr_route_to_port(ring[2], end, NULL));
            struct sender sender = {world.device, address_of(ring[0], 0)};
            slri_thread thread;
            start_thread(&thread, send_all, &sender);
            for (uint32_t i = 0; i < COUNT; ++i) {
                slr_reply reply;
                struct message message;
                must(slr_receive(end, &reply, &message, sizeof message, LONG));
                assert_int_equal(message.value, i);
                assert_int_equal(message.port, 7);
                assert_int_equal(reply.correlation, i + 1); // of the first message
            }
            slri_thread_join(&thread);
            for (int i = 0; i < 3; ++i) {
                wait_handled(ring[i], COUNT);
                slr_ring_stats stats = stats_of(ring[i]);
                check_sum(&stats);
                assert_int_equal(stats.accepted, COUNT);
                assert_int_equal(stats.routed, COUNT);
                assert_int_equal(stats.unrouted, 0);
                assert_int_equal(stats.replied, i == 2 ? COUNT : 0);
            }
            slr_port_close(end);
            for (int i = 0; i < 3; ++i)
                slr_ring_destroy(ring[i]);
            close_world(&world);
        }
}

static void content_chooses_the_outlet_and_replies_still_go_to_the_sender(void **state)
{
    (void)state;
    for (int e = 0; e < ENGINES; ++e) {
        world world = open_world(engines[e]);
        struct handler even = {0}, odd = {0};
        slr_ring *sort = start_kernel(&world, "sort", 64);
        slr_ring *to[] = {start_sink(&world, "even", &even, 3, 1), start_sink(&world, "odd", &odd, 3, 1)};
        must(connect(sort, "even", to[0]));
        must(connect(sort, "odd", to[1]));
        slr_port *port = open_port(world.device);
        for (uint32_t i = 0; i < 500; ++i) {
            uint32_t sent = 0;
            must(send_value(port, address_of(sort, 0), i, LONG));
            must(receive_value(port, &sent, LONG));
            assert_int_equal(sent, i + 1);
        }
        wait_handled(to[0], 250);
        wait_handled(to[1], 250);
        for (uint32_t i = 0; i < 250; ++i) {
            assert_true(even.note[i].value == 2 * i && even.note[i].port == 8);
            assert_true(odd.note[i].value == 2 * i + 1 && odd.note[i].port == 16);
        }
        must(slr_unroute(sort, to[1])); // what goes there now is counted, not waited for
        for (uint32_t i = 0; i < 10; ++i)
            must(send_value(port, address_of(sort, 0), i, LONG));
        wait_handled(sort, 510);
        wait_handled(to[0], 255);
        slr_ring_stats stats = stats_when_pending(sort, 0);
        assert_int_equal(stats.routed, 505);
        assert_int_equal(stats.unrouted, 5);
        assert_int_equal(stats.replied, 510);
        slr_port_close(port);
        slr_ring_destroy(sort);
        slr_ring_destroy(to[0]);
        slr_ring_destroy(to[1]);
        close_world(&world);
    }
}

static void a_message_goes_to_the_instance_that_it_is_sent_to(void **state)
{
    (void)state;
    for (int e = 0; e < ENGINES; ++e) {
        world world = open_world(engines[e]);
        struct handler h = {0};
        slr_ring *spread = start_kernel(&world, "spread", 64), *sink = start_sink(&world, "sink", &h, 64, 9);
        must(connect(spread, "to", sink));
        slr_port *port = open_port(world.device);
        for (uint32_t i = 0; i < 100; ++i)
            must(send_value(port, address_of(spread, 0), i, LONG));
        wait_handled(spread, 100);
        wait_handled(sink, 90); // there is no instance 9
        for (uint32_t i = 0; i < 90; ++i)
            assert_int_equal(h.instance[i], h.note[i].value % 10);
        assert_int_equal(stats_when_pending(spread, 0).routed, 90);
        assert_int_equal(stats_when_pending(spread, 0).unrouted, 10);
        slr_port_close(port);
        slr_ring_destroy(spread);
        slr_ring_destroy(sink);
        close_world(&world);
    }
}

// ---- full, in a circle, gone ---------------------------------------------------------------------------------------

static void a_full_stage_slows_its_senders_and_loses_nothing(void **state)
{
    (void)state;
    for (int e = 0; e < ENGINES; ++e) {
        world world = open_world(engines[e]);
        struct handler h = {.held = 1};
        slr_ring *first = start_kernel(&world, "first", 4), *sink = start_sink(&world, "sink", &h, 4, 1);
        must(connect(first, "next", sink));
        slr_port *port = open_port(world.device);
        uint32_t sent = 0;
        slr_status status;
        while ((status = send_value(port, address_of(first, 0), sent, 50 * MS)) == SLR_OK)
            ++sent;
        assert_int_equal(status, SLR_TIMEOUT);
        assert_in_range(sent, 4, 8); // at most four at the sink, and four before the first
        for (uint64_t deadline = slri_deadline_after(LONG); stats_of(sink).pending == 0 && !slri_passed(deadline);)
            slri_sleep_ns(100000);
        assert_in_range(stats_of(sink).pending, 1, 4); // fewer where the one worker stands in the sink
        hold(&h, 0);
        for (; sent < 100; ++sent)
            must(send_value(port, address_of(first, 0), sent, LONG));
        wait_handled(sink, 100);
        for (uint32_t i = 0; i < 100; ++i)
            assert_int_equal(h.note[i].value, i);
        slr_port_close(port);
        slr_ring_destroy(first);
        slr_ring_destroy(sink);
        close_world(&world);
    }
}

static slr_ring *start_again(const world *world, const char *name, uint32_t max_sends)
{
    slr_ring_desc desc = describe_kernel(world, "again", 4);
    desc.name = name;
    desc.max_sends = max_sends;
    return start_ring(world->device, &desc);
}

static slr_status send_round(slr_port *port, slr_ring *to, uint32_t rounds, uint32_t copies)
{
    struct message message = {.value = rounds, .port = copies};
    return slr_send(port, address_of(to, 0), &message, sizeof message, LONG);
}

static void a_circle_with_room_goes_round_and_a_full_one_is_named(void **state)
{
    (void)state;
    for (int e = 0; e < ENGINES; ++e) {
        world world = open_world(engines[e]);
        slr_ring *a = start_again(&world, "a", 1), *b = start_again(&world, "b", 1);
        must(connect(a, "to", b));
        must(connect(b, "to", a));
        slr_port *port = open_port(world.device);
        must(send_round(port, a, 999, 1));
        must(send_round(port, b, 999, 1));
        wait_handled(a, 1000);
        wait_handled(b, 1000);
        slr_ring *full = start_again(&world, "full", 2); // two for one: it cannot end well
        must(connect(full, "to", full));
        must(send_round(port, full, 100, 2));
        must(slr_ring_wait(full, SLR_RING_IN_FAILURE, LONG));
        assert_string_equal(stats_of(full).last_failure, "deadlock: full -> full: each waits for credit of the next");
        slr_port_close(port);
        slr_ring_destroy(a);
        slr_ring_destroy(b);
        slr_ring_destroy(full);
        close_world(&world);
    }
}

static void what_is_sent_to_a_dead_one_is_counted_and_the_sender_goes_on(void **state)
{
    (void)state;
    for (int e = 0; e < ENGINES; ++e) {
        world world = open_world(engines[e]);
        struct handler h = {0};
        slr_ring *first = start_kernel(&world, "first", 64), *sink = start_sink(&world, "sink", &h, 4, 1);
        must(connect(first, "next", sink));
        slr_port *port = open_port(world.device);
        must(send_value(port, address_of(first, 0), 1, LONG));
        wait_handled(sink, 1);
        must(slr_ring_terminate(sink, LONG, NULL, NULL, NULL));
        slr_ring_destroy(sink);
        for (uint32_t i = 0; i < 50; ++i)
            must(send_value(port, address_of(first, 0), i, LONG));
        wait_handled(first, 51);
        assert_int_equal(stats_of(first).routed, 1);
        assert_int_equal(stats_of(first).unrouted, 50);
        slr_port_close(port);
        slr_ring_destroy(first);
        close_world(&world);
    }
}

// ---- faults --------------------------------------------------------------------------------------------------------

static void a_message_that_faults_has_sent_nothing(void **state)
{
    (void)state;
    for (int e = 0; e < ENGINES; ++e) {
        world world = open_world(engines[e]);
        struct handler h = {0};
        slr_ring *faulty = start_kernel(&world, "faulty", 64), *sink = start_sink(&world, "sink", &h, 64, 1);
        must(connect(faulty, "to", sink));
        slr_port *port = open_port(world.device);
        must(send_value(port, address_of(faulty, 0), 0, LONG)); // sends, then divides by zero
        must(send_value(port, address_of(faulty, 0), 5, LONG));
        wait_handled(faulty, 1);
        assert_non_null(strstr(stats_of(faulty).last_fault, "division by zero"));
        must(send_value(port, address_of(faulty, 0), 2, LONG)); // sends twice
        must(send_value(port, address_of(faulty, 0), 6, LONG));
        wait_handled(faulty, 2);
        wait_handled(sink, 2);
        slr_ring_stats stats = stats_when_pending(faulty, 0);
        check_sum(&stats);
        assert_int_equal(stats.faulted, 2);
        assert_non_null(strstr(stats.last_fault, "max_sends"));
        assert_int_equal(stats.routed, 2);
        assert_true(h.note[0].value == 5 && h.note[1].value == 6);
        slr_port_close(port);
        slr_ring_destroy(faulty);
        slr_ring_destroy(sink);
        close_world(&world);
    }
}

static void an_abandoned_handler_has_sent_nothing_and_a_restarted_one_sends(void **state)
{
    (void)state;
    skip_on_another_ring_device();
    world world = open_world("cpu?threads=2&engine=compiled");
    struct handler h = {0};
    slr_ring_desc desc = describe_kernel(&world, "slow", 64);
    desc.handler_timeout_ns = 200 * MS;
    slr_ring *slow = start_ring(world.device, &desc), *sink = start_sink(&world, "sink", &h, 64, 1);
    must(connect(slow, "to", sink));
    slr_port *port = open_port(world.device);
    must(send_value(port, address_of(slow, 0), 10, LONG));
    wait_handled(sink, 1);
    must(send_value(port, address_of(slow, 0), 2000000000, LONG));
    must(slr_ring_wait(slow, SLR_RING_IN_FAILURE, LONG));
    must(slr_ring_restart(slow, SLR_RESTART_INITIAL, LONG));
    must(send_value(port, address_of(slow, 0), 20, LONG));
    wait_handled(sink, 2);
    assert_true(h.note[0].value == 10 && h.note[1].value == 20);
    wait_handled(slow, 2); // counted behind what it has sent
    assert_int_equal(stats_of(slow).faulted, 1);
    assert_int_equal(stats_of(slow).routed, 2);
    slr_port_close(port);
    slr_ring_destroy(slow);
    slr_ring_destroy(sink);
    close_world(&world);
}

// ---- what is refused
// ---------------------------------------------------------------------------------------------------

static void outlets_are_described_and_connected_by_name_to_what_fits(void **state)
{
    (void)state;
    world world = open_world("cpu");
    slr_handler_info info;
    must(slr_program_get_handler(world.program, 1, &info)); // second
    assert_int_equal(info.parameter_count, 2);
    assert_true(!info.parameters[0].is_outlet && info.parameters[1].is_outlet && !info.parameters[1].is_buffer);
    assert_string_equal(info.parameters[1].message.name, "message");
    assert_int_equal(info.parameters[1].message.bytes, sizeof(struct message));
    assert_int_equal(info.reply.bytes, 0);

    slr_ring_desc desc = describe_kernel(&world, "first", 64);
    slr_binding binding = {.name = "next"};
    desc.bindings = &binding;
    desc.binding_count = 1;
    slr_ring *none = NULL;
    refuses(slr_ring_create(world.device, &desc, &none), INVALID, "parameter 'next' is an output channel");
    desc.binding_count = 0;
    desc.max_sends = 65;
    refuses(slr_ring_create(world.device, &desc, &none), INVALID, "max_sends is 65");

    slr_ring *first = start_kernel(&world, "first", 64), *wrong = start_kernel(&world, "wrong", 64);
    slr_ring *last = start_kernel(&world, "last", 64), *again = start_again(&world, "again", 5);
    refuses(connect(first, "nxt", last), NOT_FOUND, "no output channel 'nxt'");
    refuses(connect(last, "next", first), NOT_FOUND, "no output channel 'next'");
    refuses(connect(first, "next", wrong), LAYOUT, "'first' sends struct message");
    refuses(connect(again, "to", again), INVALID, "may send 5 times");
    refuses(slr_route(first, last, NULL), INVALID, "never replies");
    must(connect(first, "next", last));
    refuses(connect(first, "next", last), INVALID, "a route to 'last' already");
    slr_route_desc route = SLR_ROUTE_DESC_INIT;
    route.outlet = "next";
    slr_port *port = open_port(world.device);
    refuses(slr_route_to_port(last, port, &route), INVALID, "outlet");
    slr_port_close(port);
    slr_ring_destroy(first);
    slr_ring_destroy(wrong);
    slr_ring_destroy(last);
    slr_ring_destroy(again);
    close_world(&world);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_pipeline_in_kernel_source_passes_every_message_in_order),
        cmocka_unit_test(content_chooses_the_outlet_and_replies_still_go_to_the_sender),
        cmocka_unit_test(a_message_goes_to_the_instance_that_it_is_sent_to),
        cmocka_unit_test(a_full_stage_slows_its_senders_and_loses_nothing),
        cmocka_unit_test(a_circle_with_room_goes_round_and_a_full_one_is_named),
        cmocka_unit_test(what_is_sent_to_a_dead_one_is_counted_and_the_sender_goes_on),
        cmocka_unit_test(a_message_that_faults_has_sent_nothing),
        cmocka_unit_test(an_abandoned_handler_has_sent_nothing_and_a_restarted_one_sends),
        cmocka_unit_test(outlets_are_described_and_connected_by_name_to_what_fits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
