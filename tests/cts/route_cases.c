// SPDX-License-Identifier: Apache-2.0
// Host cases of routes and ring_send: docs/contract/routes.md.
#include "host.h"

#include <string.h>

static void connect(cts *c, slr_ring *from, const char *outlet, slr_ring *to)
{
    slr_route_desc route = SLR_ROUTE_DESC_INIT;
    route.outlet = outlet;
    CTS_OK(c, slr_route(from, to, &route));
}

static void wait_handled(cts *c, slr_ring *ring, uint64_t count)
{
    uint64_t end = cts_now_ns() + CTS_LONG(c);
    while (cts_stats(c, ring).handled < count)
        if (cts_now_ns() > end)
            cts_leave(c, CTS_HUNG, "%llu of %llu messages handled", (unsigned long long)cts_stats(c, ring).handled,
                      (unsigned long long)count);
}

// Fifty messages to a ring kernel of so few slots that each is used again.
static void pass_along(cts *c, uint32_t queue_size)
{
    slr_ring_desc first = SLR_RING_DESC_INIT, second = SLR_RING_DESC_INIT;
    second.queue_size = queue_size;
    slr_ring *from = cts_ring(c, "echo", &first), *to = cts_ring(c, "sum", &second);
    slr_port *port = cts_port(c), *end = cts_port(c);
    slr_reply reply;
    connect(c, from, NULL, to);
    CTS_OK(c, slr_route_to_port(to, end, NULL));
    int sum = 0;
    for (int i = 1; i <= 50; i++)
        cts_send_int(c, port, cts_address(c, from, 0), i, -1);
    for (uint32_t i = 1; i <= 50; i++) {
        sum += (int)i;
        CTS_SAME(c, cts_receive_int(c, end, &reply), sum);
        CTS_SAME(c, reply.correlation, i); // of the message that began it
    }
    CTS_SAME(c, cts_stats_at_rest(c, from).routed, 50);
    CTS_OK(c, slr_unroute(from, to));
    CTS_SAME(c, cts_call_int(c, from, 0, 7), 7);
}

static void replies_go_along_a_route(cts *c)
{
    pass_along(c, 8);
}

static void a_route_of_one(cts *c)
{
    pass_along(c, 1);
}

// Halves of even numbers to one, odd ones as they are to the instance that the handler names.
static void a_handler_sends_through_its_outlets(cts *c)
{
    slr_ring_desc sends = SLR_RING_DESC_INIT, takes_even = SLR_RING_DESC_INIT, takes_odd = SLR_RING_DESC_INIT;
    takes_odd.instances = 3;
    takes_odd.name = "odd";
    slr_ring *from = cts_ring(c, "sender", &sends);
    slr_ring *even = cts_ring(c, "sum", &takes_even), *odd = cts_ring(c, "sum", &takes_odd);
    slr_port *port = cts_port(c);
    int even_sum = 0, odd_sum[3] = {0};
    struct total {
        int sum, count;
    } state;
    connect(c, from, "even", even);
    connect(c, from, "odd", odd);
    for (int i = 0; i < 40; i++) {
        cts_send_int(c, port, cts_address(c, from, 0), i, -1);
        even_sum += i % 2 ? 0 : i / 2;
        odd_sum[i % 3] += i % 2 ? i : 0;
    }
    wait_handled(c, even, 20);
    wait_handled(c, odd, 20);
    CTS_OK(c, slr_ring_snapshot(even, 0, &state, sizeof state, CTS_LONG(c)));
    CTS_SAME(c, state.sum, even_sum);
    for (uint32_t i = 0; i < 3; i++) {
        CTS_OK(c, slr_ring_snapshot(odd, i, &state, sizeof state, CTS_LONG(c)));
        CTS_SAME(c, state.sum, odd_sum[i]);
    }
    CTS_SAME(c, cts_stats_at_rest(c, from).routed, 40);
}

static void a_handler_that_faults_has_sent_nothing(cts *c)
{
    slr_ring_desc sends = SLR_RING_DESC_INIT, takes = SLR_RING_DESC_INIT;
    slr_ring *from = cts_ring(c, "sender", &sends), *odd = cts_ring(c, "sum", &takes);
    slr_port *port = cts_port(c);
    connect(c, from, "odd", odd);
    for (int i = 75; i <= 81; i += i == 75 ? 2 : 4) // 77 faults when it has sent
        cts_send_int(c, port, cts_address(c, from, 0), i, -1);
    wait_handled(c, odd, 2);
    CTS_SAME(c, cts_call_int(c, odd, 0, 0), 75 + 81);
    CTS_SAME(c, cts_stats_at_rest(c, from).faulted, 1);
    CTS_SAME(c, cts_stats_at_rest(c, from).routed, 2);
}

static void what_goes_nowhere_is_counted(cts *c)
{
    slr_ring_desc sends = SLR_RING_DESC_INIT;
    slr_ring *from = cts_ring(c, "sender", &sends);
    slr_port *port = cts_port(c);
    for (int i = 0; i < 6; i++)
        cts_send_int(c, port, cts_address(c, from, 0), i, -1);
    wait_handled(c, from, 6);
    CTS_SAME(c, cts_stats_at_rest(c, from).unrouted, 6);
}

static void messages_that_do_not_fit_are_refused(cts *c)
{
    slr_ring_desc sends = SLR_RING_DESC_INIT, takes = SLR_RING_DESC_INIT;
    slr_ring *from = cts_ring(c, "sender", &sends), *wide = cts_ring(c, "block_sum", &takes);
    slr_route_desc route = SLR_ROUTE_DESC_INIT;
    route.outlet = "even";
    CTS_GIVES(c, SLR_LAYOUT, slr_route(from, wide, &route));
    route.outlet = "neither";
    CTS_GIVES(c, SLR_NOT_FOUND, slr_route(from, wide, &route));
}

// clang-format off
const cts_case cts_route_cases[] = {
    CTS_HOST("routes", replies_go_along_a_route),
    CTS_HOST("routes", a_route_of_one),
    CTS_HOST("routes", a_handler_sends_through_its_outlets),
    CTS_HOST("routes", a_handler_that_faults_has_sent_nothing),
    CTS_HOST("routes", what_goes_nowhere_is_counted),
    CTS_HOST("routes", messages_that_do_not_fit_are_refused),
};
// clang-format on
const size_t cts_route_case_count = sizeof cts_route_cases / sizeof *cts_route_cases;
