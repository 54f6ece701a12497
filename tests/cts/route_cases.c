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

// Messages of more than 16 bytes, the part that a lane copies at once.
static void wide_messages_go_along_a_route(cts *c)
{
    int ten[10];
    slr_ring_desc first = SLR_RING_DESC_INIT, second = SLR_RING_DESC_INIT;
    first.name = "first";
    second.queue_size = 1; // so that neither is ever far behind the other
    slr_ring *from = cts_ring(c, "ten", &first), *to = cts_ring(c, "ten", &second);
    slr_port *port = cts_port(c), *end = cts_port(c);
    slr_reply reply;
    connect(c, from, NULL, to);
    CTS_OK(c, slr_route_to_port(to, end, NULL));
    for (int i = 1; i <= 50; i++) {
        for (int k = 0; k < 10; k++)
            ten[k] = i * 10 + k;
        CTS_OK(c, slr_send(port, cts_address(c, from, 0), ten, sizeof ten, CTS_LONG(c)));
    }
    for (int i = 1; i <= 50; i++) {
        CTS_OK(c, slr_receive(end, &reply, ten, sizeof ten, CTS_LONG(c)));
        for (int k = 0; k < 10; k++)
            CTS_SAME(c, ten[k], i * 10 + k + (k == 9 ? 2 * i * 10 : 0));
    }
}

// Each message has a reply, and the same again along the route, in whichever order.
static void a_port_may_collect_what_it_is_answered(cts *c)
{
    enum { COUNT = 40 };
    slr_ring_desc desc = SLR_RING_DESC_INIT;
    slr_route_desc route = SLR_ROUTE_DESC_INIT;
    slr_ring *ring = cts_ring(c, "echo", &desc);
    slr_port *port = cts_port(c);
    int times[COUNT] = {0};
    route.reply_too = 1;
    CTS_OK(c, slr_route_to_port(ring, port, &route));
    for (int i = 0; i < COUNT; i++)
        cts_send_int(c, port, cts_address(c, ring, 0), i, -1);
    for (int i = 0; i < 2 * COUNT; i++) {
        int value = cts_receive_int(c, port, NULL);
        CTS_TRUE(c, value >= 0 && value < COUNT);
        times[value]++;
    }
    for (int i = 0; i < COUNT; i++)
        CTS_SAME(c, times[i], 2);
}

// Whose letter has the message as it came along the route.
static void a_message_that_faults_behind_a_route_is_a_dead_letter(cts *c)
{
    static const int values[] = {1, 1, 3, 1, 4, 5, 1, 6};
    slr_ring_desc first = SLR_RING_DESC_INIT, second = SLR_RING_DESC_INIT;
    second.queue_size = 1;
    second.max_replies = 2;
    second.dead_letters = 8;
    slr_ring *from = cts_ring(c, "echo", &first), *to = cts_ring(c, "several", &second);
    slr_port *port = cts_port(c);
    slr_dead_letter letter[8];
    int faulted[8] = {0};
    uint32_t taken = 0;
    uint64_t end = cts_now_ns() + CTS_LONG(c);
    connect(c, from, NULL, to);
    for (int i = 0; i < 8; i++)
        cts_send_int(c, port, cts_address(c, from, 0), values[i], -1);
    while (taken < 4 && cts_now_ns() < end) {
        uint32_t more = 0;
        CTS_OK(c, slr_ring_take_dead_letters(to, letter, &faulted[taken], sizeof *faulted, 8 - taken, &more));
        taken += more;
    }
    CTS_SAME(c, taken, 4);
    for (int i = 0; i < 4; i++)
        CTS_SAME(c, faulted[i], 3 + i);
    CTS_SAME(c, cts_stats_at_rest(c, to).faulted, 4);
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
    CTS_HOST("routes", wide_messages_go_along_a_route),
    CTS_HOST("routes", a_port_may_collect_what_it_is_answered),
    CTS_HOST("routes", a_message_that_faults_behind_a_route_is_a_dead_letter),
    CTS_HOST("routes", a_handler_sends_through_its_outlets),
    CTS_HOST("routes", a_handler_that_faults_has_sent_nothing),
    CTS_HOST("routes", what_goes_nowhere_is_counted),
    CTS_HOST("routes", messages_that_do_not_fit_are_refused),
};
// clang-format on
const size_t cts_route_case_count = sizeof cts_route_cases / sizeof *cts_route_cases;
