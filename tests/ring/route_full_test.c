// SPDX-License-Identifier: Apache-2.0
// Routes: full stages, those that drop or have failed, and cycles; on several workers and on one.
#include "tests/ring/route_test.h"

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
        while (send_value(port, address_of(from, 0), sent, d == 0 && sent < 10 ? LONG : 50 * MS) == SLR_OK)
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

static void route_late(void *rings)
{
    slr_ring *const *pair = rings;
    refuses(slr_route(pair[0], pair[1], NULL), WRONG_STATE, "slr_route needs it launched, active or paused");
}

// The only place in `to` is a closed port's, whose message the paused ring kernel has not handled.
static void route_that_waits_for_a_place_is_refused_by_the_state(void **state)
{
    (void)state;
    for (size_t d = 0; d < 2; ++d) {
        slr_device *device = open_device(devices[d]);
        struct stage first = {.replies = 1};
        struct handler h = {0};
        slr_ring_desc sink = describe_ring("one place", &h);
        sink.max_ports = 1;
        slr_ring *from = start_stage(device, "first", &first, 4), *to = start_ring(device, &sink);
        slr_port *port = open_port(device);
        slri_thread thread;
        must(slr_ring_deactivate(to, LONG));
        must(send_value(port, address_of(to, 0), 1, LONG));
        slr_port_close(port);
        start_thread(&thread, route_late, (slr_ring *[]){from, to});
        slri_sleep_ns(20 * MS); // so that it waits, most of the time
        must(slr_ring_close_input(to));
        slri_thread_join(&thread);
        must(slr_ring_wait(to, SLR_RING_TERMINATED, LONG));
        assert_int_equal(stats_of(to).handled, 1);
        slr_ring_destroy(from);
        slr_ring_destroy(to);
        slr_device_close(device);
    }
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
    slr_ring_stats stats = stats_when_pending(from, 0);
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
        wait_handled(from, 109); // counted behind what it has passed on
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
                    {"deadlock: a -> a: each waits for credit of the next"},
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(slow_stage_slows_its_senders_and_nothing_is_lost),
        cmocka_unit_test(route_that_waits_for_a_place_is_refused_by_the_state),
        cmocka_unit_test(destination_that_drops_does_not_hold_up),
        cmocka_unit_test(source_that_drops_tells_its_senders_nothing),
        cmocka_unit_test(failed_stage_is_waited_for_and_goes_on_behind_its_fault),
        cmocka_unit_test(handlers_with_a_deadline_pass_on),
        cmocka_unit_test(cycle_with_room_goes_round),
        cmocka_unit_test(cycle_of_full_mailboxes_is_found_and_named),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
