// SPDX-License-Identifier: Apache-2.0
// Routes: how they end, change under load, and which are refused.
#include "tests/ring/route_test.h"

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

struct taking_away {
    slr_ring *from, *to;
    struct stage *stage;
    uint32_t asks, inside; // atomic: it is about to ask; handlers that were running when it was done
};

static void take_away(void *arg)
{
    struct taking_away *t = arg;
    while (__atomic_load_n(&t->stage->inside, __ATOMIC_ACQUIRE) == 0)
        slri_yield();
    __atomic_store_n(&t->asks, 1, __ATOMIC_RELEASE);
    must(slr_unroute(t->from, t->to));
    t->inside = __atomic_load_n(&t->stage->inside, __ATOMIC_ACQUIRE);
}

static void activate(void *ring)
{
    must(slr_ring_activate(ring, LONG));
}

// While other shards have not been started yet, and the state says `launched`, the first may run a handler.
static void unroute_beside_activation_waits_for_the_handler_in_progress(void **state)
{
    (void)state;
    slr_device *device = open_device("cpu?threads=64");
    for (uint32_t turn = 0; turn < 40; ++turn) {
        struct stage a = {.replies = 1, .held = 1}, b = {0};
        slr_ring_desc desc = describe_stage("first", &a, 64);
        desc.instances = 64;
        slr_ring *first = launch_ring(device, &desc), *sink = start_stage(device, "sink", &b, 64);
        struct taking_away taking = {.from = first, .to = sink, .stage = &a};
        slri_thread away, other;
        must(slr_route(first, sink, NULL));
        must(slr_send(NULL, address_of(first, 0), &(struct message){.value = turn}, sizeof(struct message), LONG));
        start_thread(&away, take_away, &taking);
        start_thread(&other, activate, first);
        wait_until_is(&taking.asks, 1);
        slri_sleep_ns(MS); // for one that does not wait
        __atomic_store_n(&a.held, 0, __ATOMIC_RELEASE);
        slri_thread_join(&away);
        slri_thread_join(&other);
        assert_int_equal(taking.inside, 0);
        wait_handled(first, 1);
        wait_handled(sink, 1);
        slr_ring_destroy(first);
        slr_ring_destroy(sink);
    }
    slr_device_close(device);
}

static void closed_port_is_no_destination_any_more(void **state)
{
    (void)state;
    slr_device *device = open_device("cpu");
    struct stage first = {.replies = 1};
    slr_ring *from = start_stage(device, "first", &first, 64);
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

static void next_port_in_a_lane_collects_at_once(void **state)
{
    (void)state;
    slr_device *device = open_device("cpu");
    struct handler h = {.replies = 1};
    slr_ring_desc desc = describe_ring("first", &h);
    desc.max_ports = 2;
    slr_ring *from = start_ring(device, &desc);
    slr_port *port = open_port(device);
    for (uint32_t i = 0; i < 50; ++i) {
        uint32_t got;
        slr_port *end = open_port(device);
        must(slr_route_to_port(from, end, NULL));
        must(send_value(port, address_of(from, 0), i, LONG));
        must(receive_value(end, &got, LONG));
        assert_int_equal(got, i);
        slr_port_close(end);
    }
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
    for (uint32_t i = 0; i < 16 + 16; ++i) // its reply lane and the mailbox
        must(send_value(port, address_of(from, 0), i, LONG));
    gives(send_value(port, address_of(from, 0), 32, 50 * MS), TIMEOUT);
    for (uint32_t i = 0; i < 16 + 16; ++i) {
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
        wait_handled(from, 10 * COUNT); // counted behind what it has passed on
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
    refuses(slr_route(many, to, NULL), INVALID,
            "'many' may reply 3 times to a message; the mailbox of 'to' holds 2 messages");
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
        cmocka_unit_test(close_with_source_drains_the_pipeline),
        cmocka_unit_test(terminate_in_the_middle_counts_what_is_not_passed_on),
        cmocka_unit_test(unroute_beside_activation_waits_for_the_handler_in_progress),
        cmocka_unit_test(closed_port_is_no_destination_any_more),
        cmocka_unit_test(next_port_in_a_lane_collects_at_once),
        cmocka_unit_test(port_that_does_not_read_holds_its_source_up),
        cmocka_unit_test(routes_change_under_load),
        cmocka_unit_test(impossible_routes_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
