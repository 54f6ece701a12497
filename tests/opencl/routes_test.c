// SPDX-License-Identifier: Apache-2.0
// Routes between ring kernels that are kernels which never return: messages pass from one to the next without the host.
// On whatever OpenCL is here (PoCL in CI); SLIPRING_TEST_RING_DEVICE names another device.
#include "tests/ring/route_test.h"
#include "tests/opencl/staying.h"

#include "engine/resident.h"
#include "ring/ring.h"

// A stage marks what passes with its bit and counts it. 0xdead faults; 0xbeef runs for as many turns as `port` says.
// `twice` replies twice, to the instance that the value names, too. `forks` sends even values one way, others another.
static const char source[] =
    "struct message { unsigned value, port; };\n"
    "struct count { unsigned count, last; };\n"
    "__ring__ void stage(struct count *self, const struct message *in, unsigned bit)\n"
    "{\n"
    "    self->count += 1;\n"
    "    for (unsigned i = 0; i < (in->value == 0xbeefu ? in->port : 0u); ++i) self->last ^= i * self->count;\n"
    "    self->last = in->value / (in->value == 0xdeadu ? 0u : 1u);\n"
    "    struct message out = {in->value, in->port | bit};\n"
    "    ring_reply(&out);\n"
    "}\n"
    "__ring__ void twice(const struct message *in)\n"
    "{\n"
    "    struct message first = {in->value, in->value % 5u}, second = {in->value, in->value % 7u};\n"
    "    ring_reply(&first);\n"
    "    ring_reply(&second);\n"
    "}\n"
    "__ring__ void forks(const struct message *in, ring_to(struct message) even, ring_to(struct message) odd)\n"
    "{\n"
    "    struct message out = {in->value, 1u};\n"
    "    if (in->value % 2u) ring_send_at(odd, in->value % 3u, &out); else ring_send(even, &out);\n"
    "    if (in->value == 0xbadu) { unsigned none = in->value - 0xbadu; out.value /= none; ring_reply(&out); }\n"
    "    if (in->value % 4u == 0u) ring_reply(&out);\n"
    "}\n";

enum { MOST_STAGES = 4 };

static struct bench { // a device, the program, what stages are bound to
    slr_device *device;
    slr_program *program;
    uint32_t bit[MOST_STAGES];
    slr_binding binding[MOST_STAGES];
} bench;

// Skips where there is no OpenCL, or none on which a kernel can stay.
static int set_up(void **state)
{
    (void)state;
    const char *instead = getenv("SLIPRING_TEST_RING_DEVICE"), *spec = instead ? instead : "opencl:0?ring=persistent";
    bench = (struct bench){0};
    setenv("POCL_MAX_PTHREAD_COUNT", "26", 0); // so many groups stay there that ring kernels have several shards
    if ((SANITIZED && !instead) || !is_here(spec))
        return 0;
    bench.device = open_where_kernels_stay(spec);
    if (!bench.device)
        return 0;
    must(slr_program_from_text(bench.device, "routes.cu", source, NULL, &bench.program));
    for (uint32_t i = 0; i < MOST_STAGES; ++i) {
        bench.bit[i] = 1u << i;
        bench.binding[i] = (slr_binding){.name = "bit", .scalar = &bench.bit[i], .bytes = sizeof bench.bit[i]};
    }
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    if (!bench.device)
        return 0;
    slr_program_destroy(bench.program);
    slr_device_close(bench.device);
    return 0;
}

static slr_ring_desc describe_handler(const char *name, const char *handler, uint32_t queue_size)
{
    if (!bench.device)
        skip();
    slr_ring_desc desc = SLR_RING_DESC_INIT;
    desc.name = name;
    desc.program = bench.program;
    desc.handler = handler;
    desc.queue_size = queue_size;
    return desc;
}

static slr_ring_desc describe(const char *name, uint32_t i, uint32_t queue_size)
{
    slr_ring_desc desc = describe_handler(name, "stage", queue_size);
    desc.bindings = &bench.binding[i];
    desc.binding_count = 1;
    return desc;
}

static slr_ring *start(const char *name, uint32_t i, uint32_t queue_size)
{
    slr_ring_desc desc = describe(name, i, queue_size);
    slr_ring *ring = start_ring(bench.device, &desc);
    assert_int_equal(stats_of(ring).mode, SLR_RING_PERSISTENT);
    return ring;
}

static void end(slr_ring *ring, uint64_t handled)
{
    slr_ring_stats stats;
    must(slr_ring_terminate(ring, LONG, NULL, NULL, &stats));
    check_sum(&stats);
    assert_int_equal(stats.handled, handled);
    assert_int_equal(stats.pending, 0);
    slr_ring_destroy(ring);
}

static void send_some(slr_port *port, slr_ring *to, uint32_t from, uint32_t end)
{
    for (uint32_t i = from; i < end; ++i)
        must(send_value(port, address_of(to, i % to->instances), i, LONG));
}

static uint32_t count_in(slr_ring *ring, uint32_t instance)
{
    uint32_t pair[2];
    must(slr_ring_snapshot(ring, instance, pair, sizeof pair, LONG));
    return pair[0];
}

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

static slr_ring *start_with(const char *name, const char *handler, uint32_t instances, uint32_t max_replies)
{
    slr_ring_desc desc = describe_handler(name, handler, 512);
    desc.bindings = strcmp(handler, "stage") == 0 ? &bench.binding[0] : NULL;
    desc.binding_count = desc.bindings != NULL;
    desc.instances = instances;
    desc.max_replies = max_replies;
    desc.max_sends = 2;
    return start_ring(bench.device, &desc);
}

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

// ---- changes and ends ----------------------------------------------------------------------------------------------

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
    struct sender through = {bench.device, address_of(a, 0), 20000}, straight = {bench.device, address_of(b, 0), 5000};
    slri_thread one, two;
    must(slr_route(a, b, NULL));
    must(slr_route(b, c, NULL));
    start_thread(&one, send_all, &through);
    start_thread(&two, send_all, &straight);
    uint64_t last = 0;
    for (slr_ring_stats stats = {0}; stats.handled < 25000; last = stats.accepted) {
        stats = stats_of(b);
        check_sum(&stats);
        assert_true(stats.accepted >= last && stats.accepted <= 25000 && stats.pending <= 32);
        slr_ring_stats end = stats_of(c);
        check_sum(&end);
        assert_true(end.handled <= end.accepted && end.accepted <= 25000);
    }
    slri_thread_join(&one);
    slri_thread_join(&two);
    wait_handled(c, 25000);
    end(a, 20000);
    end(b, 25000);
    end(c, 25000);
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
        cmocka_unit_test(what_cannot_stay_on_the_device_is_refused_with_the_reason),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
