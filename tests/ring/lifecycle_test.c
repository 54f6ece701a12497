// SPDX-License-Identifier: Apache-2.0
// The life of a ring kernel: phases, pauses, closing, and every call from a wrong state.
#include "tests/ring/ring_test.h"

static void phases_are_created_launched_active_paused_active(void **state)
{
    (void)state;
    slr_device *device = open_device("cpu");
    static struct handler h;
    slr_ring_desc desc = describe_ring("phases", &h);
    slr_ring *ring;
    must(slr_ring_create(device, &desc, &ring));
    assert_int_equal(slr_ring_get_state(ring), SLR_RING_CREATED);
    must(slr_ring_launch(ring));
    assert_int_equal(slr_ring_get_state(ring), SLR_RING_LAUNCHED);
    must(slr_ring_activate(ring, LONG));
    assert_int_equal(slr_ring_get_state(ring), SLR_RING_ACTIVE);
    must(slr_ring_deactivate(ring, LONG));
    assert_int_equal(slr_ring_get_state(ring), SLR_RING_PAUSED);
    must(slr_ring_reactivate(ring, LONG));
    assert_int_equal(slr_ring_get_state(ring), SLR_RING_ACTIVE);
    must(slr_ring_close_input(ring));
    must(slr_ring_wait(ring, SLR_RING_TERMINATED, LONG));
    slr_ring_destroy(ring);
    slr_device_close(device);
}

// ---- wrong states -------------------------------------------------------------------------------------------------

static slr_status activate(slr_ring *ring)
{
    return slr_ring_activate(ring, LONG);
}
static slr_status deactivate(slr_ring *ring)
{
    return slr_ring_deactivate(ring, LONG);
}
static slr_status reactivate(slr_ring *ring)
{
    return slr_ring_reactivate(ring, LONG);
}
static slr_status terminate(slr_ring *ring)
{
    return slr_ring_terminate(ring, LONG, NULL, NULL, NULL);
}

static const struct call {
    const char *name;
    slr_status (*make)(slr_ring *ring);
    uint32_t from; // the states in which it is right
} calls[] = {
    {"slr_ring_launch", slr_ring_launch, SLR_RING_CREATED},
    {"slr_ring_activate", activate, SLR_RING_LAUNCHED},
    {"slr_ring_deactivate", deactivate, SLR_RING_ACTIVE},
    {"slr_ring_reactivate", reactivate, SLR_RING_PAUSED},
    {"slr_ring_close_input", slr_ring_close_input, SLR_RING_ACTIVE | SLR_RING_PAUSED},
};

static void expect_wrong_calls_refused(slr_ring *ring, const char *name)
{
    slr_ring_state state = slr_ring_get_state(ring);
    assert_string_equal(slr_ring_state_name(state), name);
    for (size_t i = 0; i < sizeof calls / sizeof calls[0]; ++i) {
        if (calls[i].from & state)
            continue;
        refuses(calls[i].make(ring), WRONG_STATE, "ring kernel 'wrong' is ");
        check_message(name, calls[i].name, __FILE__, __LINE__);
        check_message(calls[i].name, calls[i].name, __FILE__, __LINE__);
        assert_int_equal(slr_ring_get_state(ring), state);
    }
}

static void call_from_a_wrong_state_names_ring_kernel_state_and_call(void **state)
{
    (void)state;
    slr_device *device = open_device("cpu");
    static struct handler h;
    h = (struct handler){.held = 1};
    slr_ring_desc desc = describe_ring("wrong", &h);
    slr_ring *ring;
    must(slr_ring_create(device, &desc, &ring));
    expect_wrong_calls_refused(ring, "created");
    must(slr_ring_launch(ring));
    expect_wrong_calls_refused(ring, "launched");
    must(slr_ring_activate(ring, LONG));
    expect_wrong_calls_refused(ring, "active");
    must(slr_ring_deactivate(ring, LONG));
    expect_wrong_calls_refused(ring, "paused");
    must(slr_ring_reactivate(ring, LONG));
    must(send_value(NULL, address_of(ring, 0), 1, 0));
    must(slr_ring_close_input(ring));
    expect_wrong_calls_refused(ring, "draining");
    hold(&h, 0);
    must(terminate(ring));
    expect_wrong_calls_refused(ring, "terminated");
    must(terminate(ring)); // from any state
    slr_ring_destroy(ring);
    slr_device_close(device);
}

static void null_is_refused_by_name_and_destroying_it_is_fine(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof calls / sizeof calls[0]; ++i)
        refuses(calls[i].make(NULL), INVALID, calls[i].name);
    refuses(terminate(NULL), INVALID, "slr_ring_terminate");
    refuses(slr_ring_wait(NULL, SLR_RING_ACTIVE, 0), INVALID, "slr_ring_wait");
    refuses(slr_ring_get_stats(NULL, NULL), INVALID, "slr_ring_get_stats");
    refuses(slr_ring_get_address(NULL, 0, NULL), INVALID, "slr_ring_get_address");
    assert_int_equal(slr_ring_get_state(NULL), 0);
    assert_string_equal(slr_ring_state_name((slr_ring_state)0), "?");
    slr_ring_destroy(NULL);
    slr_port_close(NULL);
    slr_buffer_destroy(NULL);
    slr_program_destroy(NULL);
    slr_device_close(NULL);
}

// ---- pausing ------------------------------------------------------------------------------------------------------

static void expect_in_order(const struct handler *h, uint32_t count)
{
    wait_until_is(&h->count, count);
    for (uint32_t i = 0; i < count; ++i)
        assert_int_equal(h->note[i].value, i);
}

static void nothing_is_handled_while_paused_and_everything_in_order_after(void **state)
{
    (void)state;
    slr_device *device = open_device("cpu");
    static struct handler h;
    h = (struct handler){0};
    slr_ring_desc desc = describe_ring("pause", &h);
    slr_ring *ring = start_ring(device, &desc);
    slr_address to = address_of(ring, 0);
    slr_port *port = open_port(device);
    for (uint32_t round = 0; round < 3; ++round) {
        uint32_t before = round * 500;
        must(slr_ring_deactivate(ring, LONG));
        for (uint32_t i = 0; i < 500; ++i)
            must(send_value(port, to, before + i, 0));
        slri_sleep_ns(5 * MS); // longer than a worker takes to fall asleep
        assert_int_equal(noted(&h), before);
        assert_int_equal(stats_of(ring).pending, 500);
        must(slr_ring_reactivate(ring, LONG));
        expect_in_order(&h, before + 500);
    }
    slr_port_close(port);
    slr_ring_destroy(ring);
    slr_device_close(device);
}

static void messages_before_activation_are_accepted_and_handled_after_it(void **state)
{
    (void)state;
    slr_device *device = open_device("cpu");
    static struct handler h;
    h = (struct handler){0};
    slr_ring_desc desc = describe_ring("early", &h);
    slr_ring *ring = launch_ring(device, &desc);
    slr_port *port = open_port(device);
    for (uint32_t i = 0; i < 100; ++i)
        must(send_value(port, address_of(ring, 0), i, 0));
    slri_sleep_ns(2 * MS);
    assert_int_equal(noted(&h), 0);
    must(slr_ring_activate(ring, LONG));
    expect_in_order(&h, 100);
    slr_port_close(port);
    slr_ring_destroy(ring);
    slr_device_close(device);
}

static void deactivate_gives_OK_only_when_no_handler_runs(void **state)
{
    (void)state;
    slr_device *device = open_device("cpu");
    static struct handler h;
    h = (struct handler){.held = 1};
    slr_ring_desc desc = describe_ring("busy", &h);
    slr_ring *ring = start_ring(device, &desc);
    must(send_value(NULL, address_of(ring, 0), 7, 0));
    wait_until_is(&h.inside, 1);
    refuses(slr_ring_deactivate(ring, 5 * MS), TIMEOUT, "ring kernel 'busy' has not acknowledged slr_ring_deactivate");
    check_message("a handler is still running, or its owner has not run since", "slr_ring_deactivate", __FILE__,
                  __LINE__);
    assert_int_equal(slr_ring_get_state(ring), SLR_RING_PAUSED); // still taking effect
    hold(&h, 0);
    must(slr_ring_reactivate(ring, LONG));
    must(slr_ring_deactivate(ring, LONG));
    assert_int_equal(h.inside, 0);
    assert_int_equal(noted(&h), 1);
    slr_ring_destroy(ring);
    slr_device_close(device);
}

static slr_status hold_batch(void *user, const slr_delivery *deliveries, uint32_t count)
{
    for (uint32_t k = 0; k < count; ++k)
        note_message(user, &deliveries[k]);
    return SLR_OK;
}

// Kinds of owners' ways through a batch.
enum kind { PLAIN, WATCHED, ROUTED, TOGETHER, KINDS };

struct scene {
    struct handler h, sink;
    slr_device *device;
    slr_ring *ring, *to;
};

// SENT messages in one batch, the first of which is held by its handler.
enum { SENT = 6 };
static void begin_batch(struct scene *s, enum kind kind)
{
    s->h = (struct handler){.held = 1, .replies = 1};
    s->sink = (struct handler){0};
    s->device = open_device("cpu?threads=2");
    s->to = NULL;
    slr_ring_desc desc = describe_ring("cut", &s->h);
    desc.state_bytes = 4;
    if (kind == WATCHED)
        desc.handler_timeout_ns = LONG;
    if (kind == TOGETHER) {
        desc.on_message = NULL;
        desc.on_batch = hold_batch;
    }
    s->ring = launch_ring(s->device, &desc);
    if (kind == ROUTED) {
        desc = describe_ring("sink", &s->sink);
        s->to = start_ring(s->device, &desc);
        must(slr_route(s->ring, s->to, NULL));
    }
    for (uint32_t i = 0; i < SENT; ++i)
        must(send_value(NULL, address_of(s->ring, 0), i, 0));
    must(slr_ring_activate(s->ring, LONG));
    wait_until_is(&s->h.inside, 1);
}

static void end_batch(struct scene *s)
{
    slr_ring_destroy(s->ring);
    slr_ring_destroy(s->to);
    slr_device_close(s->device);
}

// Also of a batch that was taken before: the message whose handler runs is in flight, or those of its call.
static void pause_that_is_late_lets_no_further_handler_begin(void **state)
{
    (void)state;
    static struct scene s;
    for (enum kind kind = 0; kind < KINDS; ++kind) {
        begin_batch(&s, kind);
        const uint32_t in_flight = kind == TOGETHER ? SENT : 1;
        gives(slr_ring_deactivate(s.ring, MS), TIMEOUT);
        hold(&s.h, 0);
        must(slr_ring_checkpoint(s.ring, LONG)); // which waits for the pause
        assert_int_equal(noted(&s.h), in_flight);
        slr_ring_stats stats = stats_of(s.ring);
        assert_int_equal(stats.handled, in_flight);
        assert_int_equal(stats.pending, SENT - in_flight);
        must(slr_ring_reactivate(s.ring, LONG));
        wait_handled(s.ring, SENT);
        expect_in_order(&s.h, SENT);
        if (s.to) {
            wait_handled(s.to, SENT);
            expect_in_order(&s.sink, SENT);
        }
        end_batch(&s);
    }
}

static void let_go_when_it_drains(void *arg)
{
    struct scene *s = arg;
    must(slr_ring_wait(s->ring, SLR_RING_DRAINING, LONG)); // a stop is under way
    hold(&s->h, 0);
}

static void note_undelivered(void *user, const slr_undelivered *undelivered)
{
    uint32_t *next = user;
    assert_int_equal(((const struct message *)undelivered->message)->value, (*next)++);
}

static void terminate_without_time_lets_no_further_handler_begin(void **state)
{
    (void)state;
    static struct scene s;
    for (enum kind kind = 0; kind < KINDS; ++kind) {
        begin_batch(&s, kind);
        const uint32_t in_flight = kind == TOGETHER ? SENT : 1;
        uint32_t next = in_flight;
        slr_ring_stats stats;
        slri_thread thread;
        start_thread(&thread, let_go_when_it_drains, &s);
        must(slr_ring_terminate(s.ring, 0, note_undelivered, &next, &stats));
        slri_thread_join(&thread);
        assert_int_equal(next, SENT);
        assert_int_equal(noted(&s.h), in_flight);
        assert_int_equal(stats.handled, in_flight);
        assert_int_equal(stats.undelivered, SENT - in_flight);
        check_sum(&stats);
        end_batch(&s);
    }
}

static void wait_for_what_is_no_state_is_refused(void **state)
{
    (void)state;
    slr_device *device = open_device("cpu");
    static struct handler h;
    slr_ring_desc desc = describe_ring("waited", &h);
    slr_ring *ring = start_ring(device, &desc);
    refuses(slr_ring_wait(ring, 0, 0), INVALID, "no state was named");
    refuses(slr_ring_wait(ring, 1u << 20, 0), INVALID, "slr_ring_wait: 0x100000 names no state");
    refuses(slr_ring_wait(ring, SLR_RING_ACTIVE | 128, 0), INVALID, "0x80 names no state");
    must(slr_ring_wait(ring,
                       SLR_RING_CREATED | SLR_RING_LAUNCHED | SLR_RING_ACTIVE | SLR_RING_PAUSED | SLR_RING_DRAINING |
                           SLR_RING_TERMINATED | SLR_RING_IN_FAILURE,
                       0));
    slr_ring_destroy(ring);
    slr_device_close(device);
}

// ---- closing ------------------------------------------------------------------------------------------------------

static void close_input_handles_what_is_pending_then_gives_END(void **state)
{
    (void)state;
    slr_device *device = open_device("cpu");
    static struct handler h;
    h = (struct handler){.replies = 1};
    slr_ring_desc desc = describe_ring("closing", &h);
    slr_ring *ring = start_ring(device, &desc);
    slr_address to = address_of(ring, 0);
    slr_port *port = open_port(device);
    must(slr_ring_deactivate(ring, LONG));
    for (uint32_t i = 0; i < 100; ++i)
        must(send_value(port, to, i, 0));
    must(slr_ring_close_input(ring)); // ends the pause
    slr_status late = send_value(port, to, 100, LONG);
    assert_true(late == SLR_CLOSED || late == SLR_RING_DEAD); // dead once it has drained
    uint32_t value;
    for (uint32_t i = 0; i < 100; ++i) {
        must(receive_value(port, &value, LONG));
        assert_int_equal(value, i);
    }
    refuses(receive_value(port, &value, LONG), END, "ring kernel 'closing' has ended");
    refuses(receive_value(port, &value, 0), END, "every ring kernel");
    must(slr_ring_wait(ring, SLR_RING_TERMINATED, LONG));
    slr_ring_stats stats = stats_of(ring);
    assert_int_equal(stats.handled, 100);
    assert_int_equal(stats.pending, 0);
    slr_port_close(port);
    slr_ring_destroy(ring);
    slr_device_close(device);
}

static void closed_input_refuses_while_it_drains(void **state)
{
    (void)state;
    slr_device *device = open_device("cpu");
    static struct handler h;
    h = (struct handler){.held = 1};
    slr_ring_desc desc = describe_ring("drains", &h);
    slr_ring *ring = start_ring(device, &desc);
    slr_address to = address_of(ring, 0);
    slr_port *port = open_port(device), *other = open_port(device);
    must(send_value(port, to, 1, 0));
    must(slr_ring_close_input(ring));
    refuses(send_value(port, to, 2, LONG), CLOSED, "ring kernel 'drains'");
    refuses(send_value(other, to, 2, LONG), CLOSED, "draining"); // it had no lane yet
    refuses(slr_ring_wait(ring, SLR_RING_TERMINATED, 1), TIMEOUT, "'drains' is still draining");
    hold(&h, 0);
    must(slr_ring_wait(ring, SLR_RING_TERMINATED, LONG));
    refuses(send_value(port, to, 2, LONG), RING_DEAD, "terminated");
    assert_int_equal(noted(&h), 1);
    slr_port_close(port);
    slr_port_close(other);
    slr_ring_destroy(ring);
    slr_device_close(device);
}

// ---- addresses ----------------------------------------------------------------------------------------------------

static void stale_addresses_give_RING_DEAD(void **state)
{
    (void)state;
    slr_device *device = open_device("cpu");
    static struct handler h;
    h = (struct handler){0};
    slr_ring_desc desc = describe_ring("stale", &h);
    slr_ring *ring = start_ring(device, &desc);
    slr_address old = address_of(ring, 0);
    slr_port *used = open_port(device), *fresh = open_port(device);
    must(send_value(used, old, 1, 0));
    slr_ring_destroy(ring);
    refuses(send_value(used, old, 2, LONG), RING_DEAD, "has terminated");
    refuses(send_value(fresh, old, 2, LONG), RING_DEAD, "it may have ended");
    refuses(send_value(NULL, old, 2, LONG), RING_DEAD, "it may have ended");

    ring = start_ring(device, &desc); // takes the slot
    slr_address now = address_of(ring, 0);
    assert_int_equal(now.slot, old.slot);
    gives(send_value(used, old, 3, LONG), RING_DEAD);
    gives(send_value(fresh, old, 3, LONG), RING_DEAD);
    must(send_value(used, now, 4, 0));
    must(send_value(fresh, now, 4, 0));
    gives(send_value(fresh, old, 5, LONG), RING_DEAD); // connected to the slot's new ring kernel
    slr_port_close(used);
    slr_port_close(fresh);
    slr_ring_destroy(ring);
    slr_device_close(device);
}

static void address_of_a_closed_device_stays_stale_when_its_place_is_taken(void **state)
{
    (void)state;
    static struct handler h;
    slr_ring_desc desc = describe_ring("place", &h);
    slr_device *device = open_device("cpu");
    slr_ring *ring = start_ring(device, &desc);
    slr_address old = address_of(ring, 0);
    slr_ring_destroy(ring);
    slr_device_close(device);
    gives(send_value(NULL, old, 1, 0), RING_DEAD);
    device = open_device("cpu");
    ring = start_ring(device, &desc);
    assert_int_equal(address_of(ring, 0).place, old.place);
    gives(send_value(NULL, old, 1, 0), RING_DEAD);
    assert_int_equal(stats_of(ring).accepted, 0);
    slr_ring_destroy(ring);
    slr_device_close(device);
}

static void ring_kernel_is_found_by_name_until_destroyed(void **state)
{
    (void)state;
    slr_device *device = open_device("cpu");
    static struct handler h;
    h = (struct handler){0};
    slr_ring_desc desc = describe_ring("found", &h);
    slr_address address;
    refuses(slr_ring_find(device, "found", &address), NOT_FOUND, "no ring kernel named 'found'");
    slr_ring *ring;
    must(slr_ring_create(device, &desc, &ring));
    refuses(slr_ring_get_address(ring, 0, &address), WRONG_STATE, "'found' is created");
    must(slr_ring_find(device, "found", &address));
    refuses(send_value(NULL, address, 1, 0), WRONG_STATE, "'found' is created");
    must(slr_ring_launch(ring));
    must(send_value(NULL, address, 1, 0));
    slr_ring *second;
    refuses(slr_ring_create(device, &desc, &second), INVALID, "named 'found' already");
    slr_ring_destroy(ring);
    gives(slr_ring_find(device, "found", &address), NOT_FOUND);
    slr_device_close(device);
}

static void device_that_closes_ends_its_ring_kernels(void **state)
{
    (void)state;
    slr_device *device = open_device("cpu");
    static struct handler h;
    h = (struct handler){.replies = 1};
    slr_ring_desc desc = describe_ring("left", &h);
    slr_ring *ring = start_ring(device, &desc);
    slr_port *port = open_port(device);
    slr_address to = address_of(ring, 0);
    must(slr_ring_deactivate(ring, LONG));
    must(send_value(port, to, 1, 0));
    must(send_value(NULL, to, 1, 0));
    slr_device_close(device); // before what is on it, which may only be destroyed now
    assert_int_equal(slr_ring_get_state(ring), SLR_RING_TERMINATED);
    slr_port_close(port);
    slr_ring_destroy(ring);
}

// What was claimed under the route had no room for replies of its own: behind the pause it must get some.
static void what_a_pause_cut_replies_where_it_is_to_go_then(void **state)
{
    (void)state;
    static struct handler h, sink;
    h = (struct handler){.replies = 1};
    sink = (struct handler){0};
    slr_device *device = open_device("cpu?threads=2");
    slr_ring_desc desc = describe_ring("source", &h);
    desc.queue_size = 8;
    slr_ring *ring = start_ring(device, &desc);
    desc = describe_ring("sink", &sink);
    slr_ring *to = start_ring(device, &desc);
    slr_port *port = open_port(device);
    uint32_t sent = 0, got = 0, value;
    while (send_value(port, address_of(ring, 0), sent, 100 * MS) == SLR_OK)
        ++sent;
    assert_int_equal(stats_of(ring).handled, 8); // for whose replies there is room
    hold(&h, 1);
    must(slr_route(ring, to, NULL));
    wait_until_is(&h.inside, 1);
    gives(slr_ring_deactivate(ring, MS), TIMEOUT);
    hold(&h, 0);
    must(slr_ring_wait(ring, SLR_RING_PAUSED, LONG));
    wait_handled(ring, 9);
    must(slr_unroute(ring, to));
    must(slr_ring_reactivate(ring, LONG));
    while (got < sent - 1) { // one went by the route
        must(receive_value(port, &value, LONG));
        ++got;
    }
    gives(receive_value(port, &value, 0), TIMEOUT);
    slr_port_close(port);
    slr_ring_destroy(ring);
    slr_ring_destroy(to);
    slr_device_close(device);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(phases_are_created_launched_active_paused_active),
        cmocka_unit_test(call_from_a_wrong_state_names_ring_kernel_state_and_call),
        cmocka_unit_test(null_is_refused_by_name_and_destroying_it_is_fine),
        cmocka_unit_test(nothing_is_handled_while_paused_and_everything_in_order_after),
        cmocka_unit_test(messages_before_activation_are_accepted_and_handled_after_it),
        cmocka_unit_test(deactivate_gives_OK_only_when_no_handler_runs),
        cmocka_unit_test(pause_that_is_late_lets_no_further_handler_begin),
        cmocka_unit_test(terminate_without_time_lets_no_further_handler_begin),
        cmocka_unit_test(wait_for_what_is_no_state_is_refused),
        cmocka_unit_test(close_input_handles_what_is_pending_then_gives_END),
        cmocka_unit_test(closed_input_refuses_while_it_drains),
        cmocka_unit_test(stale_addresses_give_RING_DEAD),
        cmocka_unit_test(address_of_a_closed_device_stays_stale_when_its_place_is_taken),
        cmocka_unit_test(ring_kernel_is_found_by_name_until_destroyed),
        cmocka_unit_test(device_that_closes_ends_its_ring_kernels),
        cmocka_unit_test(what_a_pause_cut_replies_where_it_is_to_go_then),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
