// SPDX-License-Identifier: Apache-2.0
// Routes as in routes_test.c that come and go, and whose ring kernels end, fail and are terminated while messages pass.
#include "tests/opencl/routes.h"

static void routes_come_and_go_while_messages_pass(void **state)
{
    (void)state;
    slr_ring *a = start("a", 0, 64), *b = start("b", 1, 64), *c = start("c", 2, 64);
    struct sender sender = {bench.device, address_of(a, 0), 20000};
    slri_thread thread;
    must(slr_route(a, b, NULL));
    start_thread(&thread, send_all, &sender);
    for (uint32_t turn = 0; turn < 20; ++turn) {
        must(slr_route(a, c, NULL));
        slr_ring_stats of_b = stats_of(b), of_c = stats_of(c);
        check_sum(&of_b);
        check_sum(&of_c);
        must(slr_unroute(a, c));
    }
    slri_thread_join(&thread);
    wait_handled(a, sender.count);
    slr_ring_stats stats = stats_of(a);
    wait_handled(b, sender.count);
    wait_handled(c, stats.routed - sender.count);
    assert_int_equal(stats.unrouted, 0);
    assert_int_equal(b->S[MB_GRANTS_SENT], 0); // still attached
    assert_int_equal(c->grants.credits, 0);
    assert_int_equal(c->S[MB_GRANTS_SENT], stats.routed - sender.count);
    for (uint32_t i = 0; i < 64; ++i) // all credits are there again, but for what is kept for the route
        must(slr_send(NULL, address_of(c, 0), &(struct message){.value = i}, sizeof(struct message), 0));
    wait_handled(c, stats.routed - sender.count + 64);
    end(a, sender.count);
    end(b, sender.count);
    end(c, stats.routed - sender.count + 64);
}

static void counts_agree_at_any_time(void **state)
{
    (void)state;
    slr_ring *a = start("a", 0, 64), *b = start("b", 1, 32), *c = start("c", 2, 64);
    const uint32_t routed = messages_of(20000), sent = messages_of(5000), all = routed + sent;
    struct sender through = {bench.device, address_of(a, 0), routed}, straight = {bench.device, address_of(b, 0), sent};
    slri_thread one, two;
    must(slr_route(a, b, NULL));
    must(slr_route(b, c, NULL));
    start_thread(&one, send_all, &through);
    start_thread(&two, send_all, &straight);
    uint64_t last = 0;
    for (slr_ring_stats stats = {0}; stats.handled < all; last = stats.accepted) {
        stats = stats_of(b);
        check_sum(&stats);
        assert_true(stats.accepted >= last && stats.accepted <= all && stats.pending <= 32);
        slr_ring_stats end = stats_of(c);
        check_sum(&end);
        assert_true(end.handled <= end.accepted && end.accepted <= all);
    }
    slri_thread_join(&one);
    slri_thread_join(&two);
    wait_handled(c, all);
    end(a, routed);
    end(b, all);
    end(c, all);
}

// What is under way in the destination's lanes is handed back, and the source goes on.
static void terminate_hands_back_what_a_route_has_brought(void **state)
{
    (void)state;
    enum { MESSAGES = 300 };
    slr_ring *a = start("a", 0, 512), *b = start("b", 1, 128);
    slr_port *port = open_port(bench.device);
    must(slr_route(a, b, NULL));
    must(slr_ring_deactivate(b, LONG));
    send_some(port, a, 0, MESSAGES);
    wait_handled(a, 32); // a grant is a batch
    assert_int_equal(stats_of(b).pending, 32);
    uint32_t back = 0;
    slr_ring_stats stats;
    must(slr_ring_terminate(b, 0, count_undelivered, &back, &stats)); // it may handle some yet, and get more
    check_sum(&stats);
    assert_int_equal(stats.undelivered, back);
    assert_int_equal(stats.pending, 0);
    wait_handled(a, MESSAGES);
    assert_true(stats_of(a).routed >= 32);
    assert_int_equal(stats_of(a).routed, stats.accepted);
    assert_int_equal(stats_of(a).unrouted, MESSAGES - stats.accepted);
    slr_port_close(port);
    slr_ring_destroy(b);
    end(a, MESSAGES);
}

static void closed_destination_drains_and_its_source_goes_on(void **state)
{
    (void)state;
    slr_ring *a = start("a", 0, 64), *b = start("b", 1, 64);
    struct sender sender = {bench.device, address_of(a, 0), 20000};
    slri_thread thread;
    must(slr_route(a, b, NULL));
    start_thread(&thread, send_all, &sender);
    while (stats_of(b).handled < 1000)
        slri_yield();
    must(slr_ring_close_input(b));
    must(slr_ring_wait(b, SLR_RING_TERMINATED, LONG));
    slri_thread_join(&thread);
    wait_handled(a, sender.count);
    slr_ring_stats of_a = stats_of(a), of_b = stats_of(b);
    check_sum(&of_b);
    assert_int_equal(of_a.routed, of_b.handled);
    assert_int_equal(of_a.routed + of_a.unrouted, sender.count);
    must(slr_unroute(a, b));
    slr_ring_destroy(b);
    end(a, sender.count);
}

static void failed_destination_is_waited_for(void **state)
{
    (void)state;
    enum { MESSAGES = 200 };
    slr_ring *a = start("a", 0, 512);
    slr_ring_desc desc = describe("b", 1, 64);
    desc.fault_policy = SLR_FAULT_FAIL;
    slr_ring *b = start_ring(bench.device, &desc);
    slr_port *port = open_port(bench.device);
    must(slr_route(a, b, NULL));
    must(slr_send(port, address_of(b, 0), &(struct message){.value = 0xdead}, sizeof(struct message), LONG));
    must(slr_ring_wait(b, SLR_RING_IN_FAILURE, LONG));
    send_some(port, a, 0, MESSAGES);
    wait_handled(a, 32);
    slr_ring_stats stats = stats_of(b);
    check_sum(&stats);
    assert_int_equal(stats.pending, 32);
    must(slr_ring_restart(b, SLR_RESTART_INITIAL, LONG));
    wait_handled(b, MESSAGES);
    assert_int_equal(stats_of(a).unrouted, 0);
    slr_port_close(port);
    end(a, MESSAGES);
    end(b, MESSAGES);
}

// There is no room for the route that its restart owes it until it is reactivated, and who restarts it waits for none.
static void subscriber_restarted_while_paused_and_full_gets_its_routes_when_reactivated(void **state)
{
    (void)state;
    slr_ring *a = start("a", 0, 64), *b = start("b", 1, 64);
    slr_port *port = open_port(bench.device);
    must(slr_subscribe(b, "#"));
    must(slr_ring_deactivate(b, LONG));
    send_some(port, b, 0, 64);
    assert_true(slri_ring_fail(b, "the test"));
    must(slr_advertise(a, "a"));
    must(slr_ring_restart(b, SLR_RESTART_INITIAL, LONG));
    assert_int_equal(slr_ring_get_state(b), SLR_RING_PAUSED);
    assert_int_equal(b->grants.credits, 0);
    must(slr_ring_reactivate(b, LONG));
    assert_int_equal(b->grants.credits, 32);
    send_some(port, a, 0, 100);
    wait_handled(b, 164);
    wait_handled(a, 100);
    assert_int_equal(stats_of(a).routed, 100);
    slr_port_close(port);
    end(a, 100);
    end(b, 164);
}

static void source_that_ends_gives_its_credits_back(void **state)
{
    (void)state;
    enum { MESSAGES = 100 };
    slr_ring *b = start("b", 1, 16);
    slr_port *port = open_port(bench.device);
    for (uint32_t turn = 0; turn < 3; ++turn) {
        slr_ring *a = start("a", 0, 64);
        must(slr_route(a, b, NULL));
        assert_int_equal(b->grants.credits, 8);
        send_some(port, a, 0, MESSAGES);
        must(slr_ring_close_input(a));
        must(slr_ring_wait(a, SLR_RING_TERMINATED, LONG));
        assert_true(slri_grants_await(b, slri_deadline_after(LONG)));
        const uint32_t *S = b->S;
        assert_int_equal(MB_LOAD(MB_GRANTS_SENT), (turn + 1) * MESSAGES);
        slr_ring_destroy(a);
        wait_handled(b, (turn + 1) * MESSAGES);
    }
    slr_port_close(port);
    end(b, 3 * MESSAGES);
}

// Two stages, the second paused, and half of its queue filled along the route.
static void start_half_full(slr_ring **a, slr_ring **b, slr_port **port)
{
    *a = start("a", 0, 256);
    *b = start("b", 1, 64);
    *port = open_port(bench.device);
    must(slr_route(*a, *b, NULL));
    must(slr_ring_deactivate(*b, LONG));
    for (uint32_t i = 0; i < 32; ++i)
        must(send_value(*port, address_of(*a, 0), i, LONG));
    wait_handled(*a, 32);
    assert_int_equal(stats_when_pending(*b, 32).pending, 32);
}

// Fills what is left of it, with priorities that make its owner take all messages at once.
static void fill_up(slr_ring *b, slr_port *port, uint32_t room)
{
    for (uint32_t i = 0; i < room; ++i)
        must(send_at(port, address_of(b, 0), 1000, i % 3));
    slr_ring_stats stats = stats_of(b);
    check_sum(&stats);
    assert_int_equal(stats.pending, 64);
    gives(send_value(port, address_of(b, 0), 1000, 0), FULL);
}

static void route_that_goes_keeps_the_credits_of_what_it_has_sent(void **state)
{
    (void)state;
    slr_ring *a, *b;
    slr_port *port;
    start_half_full(&a, &b, &port);
    must(slr_unroute(a, b));
    fill_up(b, port, 32);
    must(slr_ring_reactivate(b, LONG));
    wait_handled(b, 64);
    for (uint32_t i = 0, value; i < 32; ++i) // a full reply lane would hold b up
        must(receive_value(port, &value, LONG));
    must(slr_ring_deactivate(b, LONG));
    fill_up(b, port, 64); // all of them have come back
    must(slr_ring_reactivate(b, LONG));
    wait_handled(b, 128);
    assert_int_equal(b->grants.kept, 0);
    slr_port_close(port);
    end(a, 32);
    end(b, 128);
}

static void route_late(void *arg)
{
    slr_ring **pair = arg;
    gives(slr_route(pair[0], pair[1], NULL), WRONG_STATE);
}

static void route_that_waits_for_room_is_told_of_a_state_as_any(void **state)
{
    (void)state;
    slr_ring *a, *b, *c = start("c", 0, 64);
    slr_port *port;
    slri_thread thread;
    start_half_full(&a, &b, &port);
    must(slr_unroute(a, b));
    fill_up(b, port, 32);
    start_thread(&thread, route_late, (slr_ring *[]){c, b});
    slri_sleep_ns(20 * MS); // behind its first look, most of the time
    must(slr_ring_close_input(b));
    slri_thread_join(&thread);
    must(slr_ring_wait(b, SLR_RING_TERMINATED, LONG));
    slr_port_close(port);
    end(a, 32);
    end(b, 64);
    end(c, 0);
}

static void source_that_ends_keeps_the_credits_of_what_it_has_sent(void **state)
{
    (void)state;
    slr_ring *a, *b;
    slr_port *port;
    start_half_full(&a, &b, &port);
    end(a, 32);
    fill_up(b, port, 32);
    must(slr_ring_close_input(b)); // overrides the pause
    must(slr_ring_wait(b, SLR_RING_TERMINATED, LONG));
    slr_port_close(port);
    end(b, 64);
}

static void terminate_hands_back_what_a_route_that_is_gone_has_brought(void **state)
{
    (void)state;
    slr_ring *a, *b;
    slr_port *port;
    uint32_t back = 0;
    slr_ring_stats stats;
    start_half_full(&a, &b, &port);
    must(slr_unroute(a, b));
    must(slr_route(a, b, NULL)); // takes of what is left
    must(slr_unroute(a, b));
    fill_up(b, port, 32);
    must(slr_ring_terminate(b, 0, count_undelivered, &back, &stats));
    check_sum(&stats);
    assert_int_equal(stats.handled + back, 64);
    assert_int_equal(stats.undelivered, back);
    assert_int_equal(stats.pending, 0);
    slr_port_close(port);
    slr_ring_destroy(b);
    end(a, 32);
}

static void source_that_is_terminated_has_sent_what_it_handled(void **state)
{
    (void)state;
    enum { MESSAGES = 500 };
    slr_ring *a = start("a", 0, 512), *b = start("b", 1, 16);
    slr_port *port = open_port(bench.device);
    must(slr_route(a, b, NULL));
    send_some(port, a, 0, MESSAGES);
    uint32_t back = 0;
    slr_ring_stats stats;
    must(slr_ring_terminate(a, 0, count_undelivered, &back, &stats));
    check_sum(&stats);
    assert_int_equal(stats.handled + back, MESSAGES);
    assert_int_equal(stats.routed, stats.handled);
    wait_handled(b, stats.routed);
    assert_int_equal(b->grants.credits, 0);
    slr_port_close(port);
    slr_ring_destroy(a);
    end(b, stats.routed);
}

// What was left of the batch with the fault has its room yet.
static void source_that_has_failed_goes_on_along_its_routes(void **state)
{
    (void)state;
    enum { MESSAGES = 300, FAULTS = 10 };
    slr_ring_desc desc = describe("a", 0, 512);
    desc.fault_policy = SLR_FAULT_FAIL;
    slr_ring *a = start_ring(bench.device, &desc), *b = start("b", 1, 16);
    slr_port *port = open_port(bench.device);
    must(slr_route(a, b, NULL));
    must(slr_ring_deactivate(a, LONG));
    for (uint32_t i = 0; i < MESSAGES; ++i)
        must(send_value(port, address_of(a, 0), i % (MESSAGES / FAULTS) == 5 ? 0xdead : i, LONG));
    must(slr_ring_reactivate(a, LONG));
    for (uint32_t i = 0; i < FAULTS; ++i) {
        must(slr_ring_wait(a, SLR_RING_IN_FAILURE, LONG));
        slr_ring_stats stats = stats_of(a);
        check_sum(&stats);
        assert_int_equal(stats.routed, stats.handled);
        must(slr_ring_restart(a, SLR_RESTART_INITIAL, LONG));
    }
    wait_handled(b, MESSAGES - FAULTS);
    slr_port_close(port);
    end(a, MESSAGES - FAULTS);
    end(b, MESSAGES - FAULTS);
}

// The shards that have nothing to do have long gone to sleep when the last message of another is done with.
static void shards_that_sleep_end_when_the_last_message_is_handled(void **state)
{
    (void)state;
    if (!bench.device)
        skip();
    slr_ring *a = start_with("a", "stage", 3, 1), *b = start_with("b", "stage", 3, 1);
    slr_port *port = open_port(bench.device);
    slr_route_desc route = SLR_ROUTE_DESC_INIT;
    route.close_with_source = 1;
    must(slr_route(a, b, &route));
    const uint32_t turns = getenv("SLIPRING_TEST_RING_DEVICE") ? 20000 : 400000000;
    const struct message busy = {.value = 0xbeef,
                                 .port = turns}; // 0.3 s; handlers are interpreted on a simulated device
    must(slr_send(port, address_of(a, 0), &busy, sizeof busy, LONG));
    must(slr_ring_close_input(a));
    must(slr_ring_wait(a, SLR_RING_TERMINATED, LONG));
    must(slr_ring_wait(b, SLR_RING_TERMINATED, LONG));
    slr_port_close(port);
    end(a, 1);
    end(b, 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(routes_come_and_go_while_messages_pass),
        cmocka_unit_test(counts_agree_at_any_time),
        cmocka_unit_test(terminate_hands_back_what_a_route_has_brought),
        cmocka_unit_test(closed_destination_drains_and_its_source_goes_on),
        cmocka_unit_test(failed_destination_is_waited_for),
        cmocka_unit_test(subscriber_restarted_while_paused_and_full_gets_its_routes_when_reactivated),
        cmocka_unit_test(source_that_ends_gives_its_credits_back),
        cmocka_unit_test(route_that_goes_keeps_the_credits_of_what_it_has_sent),
        cmocka_unit_test(route_that_waits_for_room_is_told_of_a_state_as_any),
        cmocka_unit_test(source_that_ends_keeps_the_credits_of_what_it_has_sent),
        cmocka_unit_test(terminate_hands_back_what_a_route_that_is_gone_has_brought),
        cmocka_unit_test(source_that_is_terminated_has_sent_what_it_handled),
        cmocka_unit_test(source_that_has_failed_goes_on_along_its_routes),
        cmocka_unit_test(shards_that_sleep_end_when_the_last_message_is_handled),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
