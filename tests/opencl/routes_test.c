// SPDX-License-Identifier: Apache-2.0
// Routes between ring kernels that are kernels which never return: messages pass from one to the next without the host.
// On whatever OpenCL is here (PoCL in CI); SLIPRING_TEST_RING_DEVICE names another device.
#include "tests/opencl/routes.h"

#include "engine/resident.h"

// ---- along a route -------------------------------------------------------------------------------------------------

static void replies_pass_on_in_order_and_the_end_says_what_the_first_sender_said(void **state)
{
    (void)state;
    slr_ring *a = start("a", 0, 64), *b = start("b", 1, 64);
    slr_port *port = open_port(bench.device), *last = open_port(bench.device);
    must(slr_route(a, b, NULL));
    must(slr_route_to_port(b, last, NULL));
    struct sender sender = {bench.device, address_of(a, 0), COUNT};
    slri_thread thread;
    start_thread(&thread, send_all, &sender);
    receive_all_in_order(last, COUNT, 3);
    slri_thread_join(&thread);
    wait_handled(b, COUNT);
    wait_handled(a, COUNT); // it counts what it has handled after it has shown it to b
    slr_ring_stats stats = stats_of(a);
    assert_int_equal(stats.routed, COUNT);
    assert_int_equal(stats.unrouted, 0);
    assert_int_equal(stats.replied, COUNT);
    assert_int_equal(stats_of(b).accepted, COUNT);
    assert_int_equal(stats_of(b).routed, COUNT);
    must(slr_unroute(a, b));
    uint32_t value;
    must(send_value(port, address_of(a, 0), 7, LONG));
    must(receive_value(port, &value, LONG)); // to its sender again
    assert_int_equal(value, 7);
    assert_int_equal(stats_of(a).routed, COUNT);
    slr_port_close(port);
    slr_port_close(last);
    end(a, COUNT + 1);
    end(b, COUNT);
}

// Whether its owner has handled anything since the port was closed or not.
static void closed_port_is_no_destination_any_more(void **state)
{
    (void)state;
    slr_ring_desc desc = describe("a", 0, 64);
    desc.max_ports = 2; // so that the next one takes its lane over
    slr_ring *a = start_ring(bench.device, &desc);
    slr_port *port = open_port(bench.device);
    uint32_t value, handled = 0;
    must(send_value(port, address_of(a, 0), 0, LONG));
    must(receive_value(port, &value, LONG));
    for (uint32_t turn = 0; turn < 6; ++turn) {
        slr_port *last = open_port(bench.device);
        must(slr_route_to_port(a, last, NULL));
        refuses(slr_route_to_port(a, last, NULL), INVALID, "'a' has a route to this port already");
        for (uint32_t i = 0; i < 3; ++i) {
            must(send_value(port, address_of(a, 0), 10 * turn + i, LONG));
            must(receive_value(last, &value, LONG));
            assert_int_equal(value, 10 * turn + i);
        }
        gives(receive_value(last, &value, 0), TIMEOUT);
        slr_port_close(last);
        handled += 3;
        if (turn % 2 != 0) {
            must(send_value(port, address_of(a, 0), turn, LONG));
            wait_handled(a, 1 + ++handled);
        }
    }
    slr_port_close(port);
    end(a, 1 + handled);
}

static void closing_the_first_stage_drains_the_pipeline(void **state)
{
    (void)state;
    enum { STAGES = 4, MESSAGES = 5000 };
    slr_ring *ring[STAGES];
    slr_route_desc route = SLR_ROUTE_DESC_INIT;
    route.close_with_source = 1;
    for (uint32_t i = 0; i < STAGES; ++i) {
        char name[16];
        snprintf(name, sizeof name, "stage%u", i);
        ring[i] = start(name, i, 128);
        if (i > 0)
            must(slr_route(ring[i - 1], ring[i], &route));
    }
    slr_port *port = open_port(bench.device);
    send_some(port, ring[0], 0, MESSAGES);
    must(slr_ring_close_input(ring[0]));
    for (uint32_t i = 0; i < STAGES; ++i) {
        must(slr_ring_wait(ring[i], SLR_RING_TERMINATED, LONG));
        slr_ring_stats stats = stats_of(ring[i]);
        check_sum(&stats);
        assert_int_equal(stats.handled, MESSAGES);
        assert_int_equal(stats.pending, 0);
        assert_int_equal(stats.routed, i + 1 < STAGES ? MESSAGES : 0);
    }
    slr_port_close(port);
    for (uint32_t i = 0; i < STAGES; ++i)
        slr_ring_destroy(ring[i]);
}

// What is handled is the destination's grant and no more; nothing is lost when it goes on.
static void full_destination_holds_its_source_up(void **state)
{
    (void)state;
    enum { MESSAGES = 200 };
    slr_ring *a = start("a", 0, 256), *b = start("b", 1, 16);
    slr_port *port = open_port(bench.device);
    must(slr_route(a, b, NULL));
    must(slr_ring_deactivate(b, LONG));
    send_some(port, a, 0, MESSAGES);
    wait_handled(a, 8); // half of the destination's queue
    wait_until_is(&a->shard[0].asleep, SLRI_ASLEEP_BLOCKED);
    slr_ring_stats held = stats_of(a), full = stats_of(b);
    assert_int_equal(held.handled, 8);
    assert_int_equal(held.pending, MESSAGES - 8);
    assert_int_equal(full.pending, 8);
    check_sum(&full);
    for (uint32_t i = 0; i < 8; ++i) // the rest is everybody's
        must(send_value(port, address_of(b, 0), 1000, 0));
    gives(send_value(port, address_of(b, 0), 1000, 0), FULL);
    must(slr_ring_reactivate(b, LONG));
    wait_handled(b, MESSAGES + 8);
    assert_int_equal(count_in(b, 0), MESSAGES + 8);
    slr_port_close(port);
    end(a, MESSAGES);
    end(b, MESSAGES + 8);
}

// The middle stage's messages lie in lanes that the host may not see (device memory): it sleeps until there is room all
// the same, and not until the next message.
static void middle_stage_without_room_goes_on_when_its_destination_does(void **state)
{
    (void)state;
    enum { MESSAGES = 100 };
    slr_ring *a = start("a", 0, 256), *b = start("b", 1, 64), *c = start("c", 2, 16);
    slr_port *port = open_port(bench.device);
    must(slr_route(a, b, NULL));
    must(slr_route(b, c, NULL));
    must(slr_ring_deactivate(c, LONG));
    send_some(port, a, 0, MESSAGES);
    wait_handled(b, 8);      // half of the queue of c
    wait_handled(a, 8 + 32); // and of b
    wait_until_is(&a->shard[0].asleep, SLRI_ASLEEP_BLOCKED);
    wait_until_is(&b->shard[0].asleep, SLRI_ASLEEP_BLOCKED);
    must(slr_ring_reactivate(c, LONG));
    wait_handled(c, MESSAGES);
    slr_port_close(port);
    end(a, MESSAGES);
    end(b, MESSAGES);
    end(c, MESSAGES);
}

static void idle_stages_end_and_the_next_message_wakes_them_in_turn(void **state)
{
    (void)state;
    slr_ring *a = start("a", 0, 64), *b = start("b", 1, 64);
    slr_port *port = open_port(bench.device), *last = open_port(bench.device);
    must(slr_route(a, b, NULL));
    must(slr_route_to_port(b, last, NULL));
    for (uint32_t turn = 0; turn < 3; ++turn) {
        uint32_t value;
        must(send_value(port, address_of(a, 0), turn, LONG));
        must(receive_value(last, &value, LONG));
        assert_int_equal(value, turn);
        wait_until_is(&a->shard[0].asleep, SLRI_ASLEEP);
        wait_until_is(&b->shard[0].asleep, SLRI_ASLEEP);
    }
    slr_port_close(port);
    slr_port_close(last);
    end(a, 3);
    end(b, 3);
}

// ---- several shards, routes, instances -----------------------------------------------------------------------------

static void each_reply_goes_along_all_routes_to_the_instance_that_it_names(void **state)
{
    (void)state;
    enum { MESSAGES = 3500 };
    if (!bench.device)
        skip();
    slr_ring *a = start_with("a", "twice", 6, 2);
    slr_ring *five = start_with("five", "stage", 5, 1), *own = start_with("own", "stage", 6, 1);
    slr_ring *one = start_with("one", "stage", 1, 1);
    slr_route_desc route = SLR_ROUTE_DESC_INIT;
    route.instance_at = SLR_INSTANCE_AT(struct message, port); // of the second reply there may be none
    must(slr_route(a, five, &route));
    must(slr_route(a, own, NULL));
    must(slr_route(a, one, NULL));
    slr_port *port = open_port(bench.device);
    send_some(port, a, 0, MESSAGES);
    wait_handled(a, MESSAGES);
    wait_handled(own, 2 * MESSAGES);
    wait_handled(one, 2 * MESSAGES);
    uint32_t none = MESSAGES / 7 * 2; // 5 and 6
    wait_handled(five, 2 * MESSAGES - none);
    for (uint32_t i = 0; i < 5; ++i)
        assert_int_equal(count_in(five, i), MESSAGES / 5 + MESSAGES / 7);
    for (uint32_t i = 0; i < 6; ++i)
        assert_int_equal(count_in(own, i), 2 * (MESSAGES / 6 + (i < MESSAGES % 6)));
    slr_ring_stats stats = stats_of(a);
    assert_int_equal(stats.routed, 6 * MESSAGES - none);
    assert_int_equal(stats.unrouted, none);
    assert_int_equal(stats.replied, 2 * MESSAGES);
    if (!getenv("SLIPRING_TEST_RING_DEVICE"))
        assert_true(a->shards > 1 && five->shards > 1);
    slr_port_close(port);
    end(a, MESSAGES);
    end(five, 2 * MESSAGES - none);
    end(own, 2 * MESSAGES);
    end(one, 2 * MESSAGES);
}

static void what_a_handler_sends_goes_through_its_outlets(void **state)
{
    (void)state;
    enum { MESSAGES = 1200 };
    if (!bench.device)
        skip();
    slr_ring *a = start_with("a", "forks", 1, 1), *even = start_with("even", "stage", 1, 1);
    slr_ring *odd = start_with("odd", "stage", 3, 1);
    slr_port *port = open_port(bench.device);
    assert_int_equal(stats_of(a).mode, SLR_RING_PERSISTENT);
    slr_route_desc route = SLR_ROUTE_DESC_INIT;
    route.outlet = "odd";
    must(slr_route(a, odd, &route));
    send_some(port, a, 0, MESSAGES);
    wait_handled(a, MESSAGES);
    wait_handled(odd, MESSAGES / 2);
    for (uint32_t i = 0; i < 3; ++i)
        assert_int_equal(count_in(odd, i), MESSAGES / 6);
    assert_int_equal(stats_of(a).routed, MESSAGES / 2);
    assert_int_equal(stats_of(a).unrouted, MESSAGES / 2); // no route leads from the other one
    route.outlet = "even";
    must(slr_route(a, even, &route));
    send_some(port, a, 0, MESSAGES);
    must(send_value(port, address_of(a, 0), 0xbad, LONG)); // one that faults has sent nothing
    for (uint32_t i = 0; i < 2 * MESSAGES / 4 + 1; ++i) {
        uint32_t value;
        assert_int_equal(receive_value(port, &value, LONG), i < 2 * MESSAGES / 4 ? SLR_OK : SLR_HANDLER_FAULT);
    }
    wait_handled(even, MESSAGES / 2);
    slr_ring_stats stats = stats_when_pending(a, 0);
    assert_int_equal(stats.routed, 3 * MESSAGES / 2);
    assert_int_equal(stats.unrouted, MESSAGES / 2);
    assert_int_equal(stats.replied, 2 * MESSAGES / 4 + 1);
    slr_port_close(port);
    end(a, 2 * MESSAGES);
    end(even, MESSAGES / 2);
    end(odd, MESSAGES);
}

static void reply_too_replies_to_the_sender_as_well(void **state)
{
    (void)state;
    enum { MESSAGES = 500 };
    slr_ring *a = start("a", 0, 64), *b = start("b", 1, 64);
    slr_port *port = open_port(bench.device);
    slr_route_desc route = SLR_ROUTE_DESC_INIT;
    route.reply_too = 1;
    must(slr_route(a, b, &route));
    for (uint32_t i = 0; i < MESSAGES; ++i) {
        uint32_t value;
        must(send_value(port, address_of(a, 0), i == 7 ? 0xdead : i, LONG));
        assert_int_equal(receive_value(port, &value, LONG), i == 7 ? SLR_HANDLER_FAULT : SLR_OK);
    }
    wait_handled(b, MESSAGES - 1);
    wait_handled(a, MESSAGES - 1);
    assert_int_equal(stats_of(a).routed, MESSAGES - 1);
    slr_port_close(port);
    end(a, MESSAGES - 1);
    end(b, MESSAGES - 1);
}

// Where faults are judged messages are handled one after the other, each reply in its sender's lane: of a sender that
// has closed its port all in the same place.
static void replies_to_a_closed_port_pass_on_each(void **state)
{
    (void)state;
    enum { MESSAGES = 20 };
    slr_ring_desc desc = describe("a", 0, 64);
    desc.fault_policy = SLR_FAULT_FAIL;
    slr_ring *a = start_ring(bench.device, &desc), *b = start("b", 1, 64);
    slr_port *port = open_port(bench.device), *last = open_port(bench.device);
    slr_route_desc route = SLR_ROUTE_DESC_INIT;
    route.reply_too = 1;
    must(slr_route(a, b, &route));
    must(slr_route_to_port(b, last, NULL));
    must(slr_ring_deactivate(a, LONG));
    send_some(port, a, 0, MESSAGES);
    slr_port_close(port);
    must(slr_ring_reactivate(a, LONG));
    receive_all_in_order(last, MESSAGES, 3);
    wait_handled(b, MESSAGES);
    slr_port_close(last);
    end(a, MESSAGES);
    end(b, MESSAGES);
}

// ---- what cannot be ------------------------------------------------------------------------------------------------

static void what_cannot_stay_on_the_device_is_refused_with_the_reason(void **state)
{
    (void)state;
    slr_ring *a = start("a", 0, 64), *b = start("b", 1, 64), *full = start("full", 2, 1);
    slr_ring_desc desc = describe("other", 3, 64);
    if (getenv("SLIPRING_TEST_RING_DEVICE") == NULL) {
        slr_device *device; // where one may be relaunched
        slr_program *program;
        must(slr_device_open("opencl:0", NULL, &device));
        must(slr_program_from_text(device, "routes.cu", source, NULL, &program));
        desc.program = program;
        slr_ring *stays = start_ring(device, &desc), *other;
        desc.name = "relaunched";
        desc.mode = SLR_RING_RELAUNCHED;
        other = start_ring(device, &desc);
        refuses(slr_route(stays, other, NULL), UNSUPPORTED, "'other' is persistent and 'relaunched' is not");
        must(slr_route(other, stays, NULL)); // the other way it has a thread of the host
        slr_ring_destroy(other);
        slr_ring_destroy(stays);
        slr_program_destroy(program);
        slr_device_close(device);
    }
    must(slr_route(a, b, NULL));
    refuses(slr_route(b, a, NULL), UNSUPPORTED, "closes a cycle of persistent ring kernels");
    refuses(slr_route(a, a, NULL), UNSUPPORTED, "closes a cycle");
    must(slr_route(a, full, NULL));
    refuses(slr_route(b, full, NULL), INVALID, "raise queue_size of 'full' to 2");
    end(a, 0);
    end(b, 0);
    end(full, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(replies_pass_on_in_order_and_the_end_says_what_the_first_sender_said),
        cmocka_unit_test(closed_port_is_no_destination_any_more),
        cmocka_unit_test(closing_the_first_stage_drains_the_pipeline),
        cmocka_unit_test(full_destination_holds_its_source_up),
        cmocka_unit_test(middle_stage_without_room_goes_on_when_its_destination_does),
        cmocka_unit_test(idle_stages_end_and_the_next_message_wakes_them_in_turn),
        cmocka_unit_test(each_reply_goes_along_all_routes_to_the_instance_that_it_names),
        cmocka_unit_test(what_a_handler_sends_goes_through_its_outlets),
        cmocka_unit_test(reply_too_replies_to_the_sender_as_well),
        cmocka_unit_test(replies_to_a_closed_port_pass_on_each),
        cmocka_unit_test(what_cannot_stay_on_the_device_is_refused_with_the_reason),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
