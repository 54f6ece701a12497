// SPDX-License-Identifier: Apache-2.0
// Ports: receiving, ends, the descriptor for poll(2), and lanes that are used again.
#include "tests/ring/ring_test.h"
#include "ring/ring.h"

#include <poll.h>

static struct handler h;

static slr_ring_desc describe(const char *name, uint32_t replies)
{
    h = (struct handler){.replies = replies};
    return describe_ring(name, &h);
}

// ---- receiving ----------------------------------------------------------------------------------------------------

static void time_out_is_a_status_after_which_everything_works(void **state)
{
    (void)state;
    slr_device *device = open_device("cpu");
    slr_ring_desc desc = describe("timeouts", 1);
    slr_ring *ring = start_ring(device, &desc);
    slr_port *port = open_port(device);
    uint32_t value;
    for (uint32_t i = 0; i < 20; ++i) {
        refuses(receive_value(port, &value, i % 2 * MS), TIMEOUT, "no reply came within");
        must(send_value(port, address_of(ring, 0), i, 0));
        must(receive_value(port, &value, LONG));
        assert_int_equal(value, i);
    }
    assert_int_equal(slr_ring_get_state(ring), SLR_RING_ACTIVE);
    slr_port_close(port);
    slr_ring_destroy(ring);
    slr_device_close(device);
}

static void reply_too_large_for_its_place_stays_to_be_received(void **state)
{
    (void)state;
    slr_device *device = open_device("cpu");
    slr_ring_desc desc = describe("large", 1);
    slr_ring *ring = start_ring(device, &desc);
    slr_port *port = open_port(device);
    must(send_value(port, address_of(ring, 0), 9, 0));
    slr_reply reply;
    struct message small;
    refuses(slr_receive(port, &reply, &small, 7, LONG), INVALID, "the reply has 8 B; the buffer has 7 B");
    refuses(slr_receive(port, &reply, NULL, 8, LONG), INVALID, "payload is NULL");
    refuses(slr_receive(port, NULL, &small, 8, LONG), INVALID, "reply is NULL");
    refuses(slr_receive(NULL, &reply, &small, 8, LONG), INVALID, "port is NULL");
    must(slr_receive(port, &reply, &small, 8, 0));
    assert_int_equal(small.value, 9);
    slr_port_close(port);
    slr_ring_destroy(ring);
    slr_device_close(device);
}

static void many_are_received_at_a_stride_up_to_the_most(void **state)
{
    (void)state;
    slr_device *device = open_device("cpu");
    slr_ring_desc desc = describe("many", 1);
    slr_ring *ring = start_ring(device, &desc);
    slr_port *port = open_port(device);
    struct message messages[100], replies[100][2];
    slr_reply reply[100];
    uint32_t received, got = 0;
    for (uint32_t i = 0; i < 100; ++i)
        messages[i] = (struct message){.value = i};
    must(slr_send_many(port, address_of(ring, 0), NULL, messages, 8, 100, LONG, NULL));
    refuses(slr_receive_many(port, reply, replies, 16, 0, LONG, &received), INVALID, "most is 0");
    while (got < 100) {
        must(slr_receive_many(port, reply, replies, 16, 40, LONG, &received));
        assert_in_range(received, 1, 40);
        for (uint32_t k = 0; k < received; ++k)
            assert_int_equal(replies[k][0].value, got++);
    }
    gives(slr_receive_many(port, reply, replies, 16, 40, 0, &received), TIMEOUT);
    slr_port_close(port);
    slr_ring_destroy(ring);
    slr_device_close(device);
}

static void each_end_is_told_once_and_names_its_ring_kernel(void **state)
{
    (void)state;
    slr_device *device = open_device("cpu");
    slr_ring_desc desc = describe("first", 1);
    slr_ring *first = start_ring(device, &desc);
    desc.name = "second";
    slr_ring *second = start_ring(device, &desc);
    slr_port *port = open_port(device);
    slr_reply reply;
    struct message got;
    gives(slr_receive(port, &reply, &got, 8, 0), TIMEOUT); // it has used none yet
    must(send_value(port, address_of(first, 0), 1, 0));
    must(send_value(port, address_of(second, 0), 2, 0));
    while (stats_of(second).replied < 1)
        slri_sleep_ns(100000);
    must(slr_ring_terminate(first, LONG, NULL, NULL, NULL));
    must(slr_receive(port, &reply, &got, 8, LONG)); // replies before ends
    must(slr_receive(port, &reply, &got, 8, LONG));
    gives(slr_receive(port, &reply, &got, 8, LONG), END);
    assert_int_equal(reply.from.slot, address_of(first, 0).slot);
    assert_int_equal(reply.from.generation, address_of(first, 0).generation);
    gives(slr_receive(port, &reply, &got, 8, 0), TIMEOUT); // the second is still there
    must(slr_ring_close_input(second));
    gives(slr_receive(port, &reply, &got, 8, LONG), END);
    assert_int_equal(reply.from.slot, address_of(second, 0).slot);
    gives(slr_receive(port, &reply, &got, 8, LONG), END);
    gives(slr_receive(port, &reply, &got, 8, LONG), END);
    slr_ring_destroy(first);
    desc.name = "third"; // a port that has seen ends works on
    first = start_ring(device, &desc);
    must(send_value(port, address_of(first, 0), 3, 0));
    must(slr_receive(port, &reply, &got, 8, LONG));
    assert_int_equal(got.value, 3);
    slr_port_close(port);
    slr_ring_destroy(first);
    slr_ring_destroy(second);
    slr_device_close(device);
}

// ---- poll(2) ------------------------------------------------------------------------------------------------------

static int poll_for(int fd, int timeout_ms)
{
    struct pollfd p = {.fd = fd, .events = POLLIN};
    return poll(&p, 1, timeout_ms);
}

// The next ring kernel gets the slot of the one that has gone; what that one left is the port's all the same.
static void replies_and_end_outlast_the_slot(void **state)
{
    (void)state;
    slr_device *device = open_device("cpu");
    slr_port *port = open_port(device);
    slr_address address[3];
    for (uint32_t i = 0; i < 3; ++i) {
        slr_ring_desc desc = describe("in the slot", 1);
        slr_ring *ring = start_ring(device, &desc);
        address[i] = address_of(ring, 0);
        assert_int_equal(address[i].slot, address[0].slot);
        must(send_value(port, address[i], i, 0));
        must(slr_ring_terminate(ring, LONG, NULL, NULL, NULL));
        slr_ring_destroy(ring);
    }
    uint32_t replies[3] = {0}, ends[3] = {0};
    for (uint32_t k = 0; k < 6; ++k) {
        slr_reply reply;
        struct message got;
        slr_status status = slr_receive(port, &reply, &got, sizeof got, LONG);
        uint32_t i = 0;
        while (i < 3 && address[i].generation != reply.from.generation)
            ++i;
        assert_int_not_equal(i, 3);
        assert_int_equal(ends[i], 0);
        if (status == SLR_OK)
            assert_int_equal(got.value, i);
        *(status == SLR_OK ? &replies[i] : &ends[i]) += 1;
        assert_int_equal(reply.status, status == SLR_OK ? SLR_OK : SLR_END);
    }
    for (uint32_t i = 0; i < 3; ++i) {
        assert_int_equal(replies[i], 1);
        assert_int_equal(ends[i], 1);
    }
    slr_port_close(port);
    slr_device_close(device);
}

static void descriptor_is_readable_when_a_reply_has_come(void **state)
{
    (void)state;
    slr_device *device = open_device("cpu");
    slr_ring_desc desc = describe("poll", 1);
    slr_ring *ring = start_ring(device, &desc);
    slr_port *port = open_port(device);
    int fd, again;
    must(slr_port_get_fd(port, &fd));
    must(slr_port_get_fd(port, &again));
    assert_int_equal(fd, again);
    refuses(slr_port_get_fd(NULL, &fd), INVALID, "port is NULL");
    assert_int_equal(poll_for(fd, 0), 0);
    uint32_t value, got = 0;
    for (uint32_t round = 0; round < 200; ++round) {
        must(send_value(port, address_of(ring, 0), 2 * round, 0));
        must(send_value(port, address_of(ring, 0), 2 * round + 1, 0));
        while (got < 2 * round + 2) {
            assert_int_equal(poll_for(fd, 60000), 1);
            while (receive_value(port, &value, 0) == SLR_OK)
                assert_int_equal(value, got++);
        }
    }
    assert_int_equal(poll_for(fd, 0), 0);
    must(slr_ring_close_input(ring)); // an end is news too
    slr_status status;
    do // a wake may come a moment before the end that it is about
        assert_int_equal(poll_for(fd, 60000), 1);
    while ((status = receive_value(port, &value, 0)) == SLR_TIMEOUT);
    assert_int_equal(status, SLR_END);
    slr_port_close(port);
    slr_ring_destroy(ring);
    slr_device_close(device);
}

static void descriptor_asked_for_late_shows_what_has_come_before(void **state)
{
    (void)state;
    slr_device *device = open_device("cpu");
    slr_ring_desc desc = describe("late", 1);
    slr_ring *ring = start_ring(device, &desc);
    slr_port *port = open_port(device);
    must(send_value(port, address_of(ring, 0), 1, 0));
    must(slr_ring_deactivate(ring, LONG));
    must(slr_ring_reactivate(ring, LONG));
    while (stats_of(ring).replied < 1)
        slri_sleep_ns(100000);
    int fd;
    must(slr_port_get_fd(port, &fd));
    assert_int_equal(poll_for(fd, 60000), 1);
    slr_port_close(port);
    slr_ring_destroy(ring);
    slr_device_close(device);
}

// ---- lanes --------------------------------------------------------------------------------------------------------

static void port_past_max_ports_is_refused_until_another_closes(void **state)
{
    (void)state;
    slr_device *device = open_device("cpu");
    slr_ring_desc desc = describe("lanes", 1);
    desc.max_ports = 3;
    slr_ring *ring = start_ring(device, &desc);
    slr_address to = address_of(ring, 0);
    slr_port *port[4];
    uint32_t value;
    for (uint32_t i = 0; i < 4; ++i)
        port[i] = open_port(device);
    for (uint32_t i = 0; i < 3; ++i)
        must(send_value(port[i], to, i, 0));
    refuses(send_value(port[3], to, 3, LONG), INVALID,
            "has max_ports = 3 ports already; raise slr_ring_desc.max_ports");
    slr_port_close(port[1]);
    must(send_value(port[3], to, 3, LONG));
    must(receive_value(port[3], &value, LONG));
    assert_int_equal(value, 3);
    for (uint32_t i = 0; i < 4; ++i)
        if (i != 1)
            slr_port_close(port[i]);
    slr_ring_destroy(ring);
    slr_device_close(device);
}

// What a closed port sent is handled; what it did not receive is not the next port's.
static void lanes_of_closed_ports_are_used_again(void **state)
{
    (void)state;
    slr_device *device = open_device("cpu?threads=2");
    slr_ring_desc desc = describe("reuse", 1);
    desc.max_ports = 2;
    desc.instances = 2;
    desc.queue_size = 16;
    slr_ring *ring = start_ring(device, &desc);
    uint32_t sent = 0, value;
    for (uint32_t round = 0; round < 500; ++round) {
        slr_port *port = open_port(device);
        slr_address to = address_of(ring, round & 1);
        for (uint32_t k = 0; k < round % 7; ++k, ++sent)
            must(send_at(port, to, 1000000, k));
        must(send_value(port, to, round, LONG));
        ++sent;
        for (value = 1000000; round % 3 && value == 1000000;)
            must(receive_value(port, &value, LONG));
        if (round % 3)
            assert_int_equal(value, round); // its own replies alone
        slr_port_close(port);
    }
    must(slr_ring_close_input(ring));
    must(slr_ring_wait(ring, SLR_RING_TERMINATED, LONG));
    assert_int_equal(stats_of(ring).handled, sent);
    slr_ring_destroy(ring);
    slr_device_close(device);
}

struct flood {
    slri_thread thread;
    slr_device *device;
    slr_address to;
    uint32_t stop;
};

static void flood(void *arg)
{
    struct flood *f = arg;
    slr_port *port = open_port(f->device);
    while (!__atomic_load_n(&f->stop, __ATOMIC_ACQUIRE))
        must(send_value(port, f->to, 1, LONG));
    slr_port_close(port);
}

static void lanes_are_used_again_under_load_and_while_paused(void **state)
{
    (void)state;
    slr_device *device = open_device("cpu?threads=1");
    slr_ring_desc desc = describe("load", 0);
    desc.max_ports = 2;
    slr_ring *ring = start_ring(device, &desc);
    struct flood f = {.device = device, .to = address_of(ring, 0)};
    start_thread(&f.thread, flood, &f);
    while (noted(&h) == 0)
        slri_sleep_ns(100000);
    for (uint32_t round = 0; round < 50; ++round) {
        slr_port *port = open_port(device);
        must(send_value(port, f.to, 2, LONG));
        slr_port_close(port);
    }
    __atomic_store_n(&f.stop, 1, __ATOMIC_RELEASE);
    slri_thread_join(&f.thread);
    must(slr_ring_terminate(ring, LONG, NULL, NULL, NULL));
    slr_ring_destroy(ring);

    desc = describe("paused", 1);
    desc.max_ports = 1;
    ring = start_ring(device, &desc);
    must(slr_ring_deactivate(ring, LONG));
    for (uint32_t round = 0; round < 20; ++round) {
        slr_port *port = open_port(device);
        gives(slr_send(port, address_of(ring, 0), &round, 1, LONG), INVALID); // connects, and accepts nothing
        check_message("1 B were sent", "slr_send", __FILE__, __LINE__);
        slr_port_close(port);
    }
    slr_ring_destroy(ring);
    slr_device_close(device);
}

struct later {
    slri_thread thread;
    uint32_t sent; // somebody is about to send
};

static void let_handler_go(void *arg)
{
    struct later *later = arg;
    wait_until_is(&later->sent, 1);
    slri_sleep_ns(300 * MS);
    hold(&h, 0);
}

// A handler that runs on holds a closed port's place for as long as it takes: no time makes that free, or the ports too
// many. `with`: by a port of its own, by the shared one, by a route.
static void place_of_a_closed_port_is_waited_for(uint32_t with)
{
    slr_device *device = open_device("cpu?threads=2");
    slr_ring_desc desc = describe("held", 0);
    desc.max_ports = 1;
    hold(&h, 1);
    slr_ring *ring = start_ring(device, &desc), *from = NULL;
    slr_address to = address_of(ring, 0);
    slr_port *closed = open_port(device), *port = open_port(device);
    must(send_value(closed, to, 1, LONG));
    wait_until_is(&h.inside, 1);
    slr_port_close(closed);
    struct later later = {.sent = 0};
    start_thread(&later.thread, let_handler_go, &later);
    if (with == 2) {
        static struct handler others = {.replies = 1};
        desc = describe_ring("from", &others);
        from = start_ring(device, &desc);
    } else {
        slr_port *by = with == 0 ? port : NULL;
        refuses(send_value(by, to, 2, 0), FULL, "all max_ports = 1 places are in use; 1 belong to closed ports");
        refuses(send_value(by, to, 2, 150 * MS), TIMEOUT, "closed");
        check_message("by the deadline", "slr_send", __FILE__, __LINE__);
        assert_int_equal(stats_of(ring).refused, 2);
    }
    __atomic_store_n(&later.sent, 1, __ATOMIC_RELEASE);
    must(with == 2 ? slr_route(from, ring, NULL) : send_value(with == 0 ? port : NULL, to, 2, LONG));
    slri_thread_join(&later.thread);
    slr_ring_stats stats;
    if (from)
        slr_ring_destroy(from);
    must(slr_ring_terminate(ring, LONG, NULL, NULL, &stats));
    assert_int_equal(stats.handled, with == 2 ? 1 : 2);
    assert_int_equal(stats.refused, with == 2 ? 0 : 2); // the one that waited is not
    slr_port_close(port);
    slr_ring_destroy(ring);
    slr_device_close(device);
}

static void places_of_closed_ports_are_free_when_their_owners_say_so(void **state)
{
    (void)state;
    for (uint32_t with = 0; with < 3; ++with)
        place_of_a_closed_port_is_waited_for(with);
}

// Who waits for a place learns that there will be none.
static void wait_for_a_place_ends_with_its_ring_kernel(void **state)
{
    (void)state;
    slr_device *device = open_device("cpu?threads=2");
    slr_ring_desc desc = describe("ends", 0);
    desc.max_ports = 1;
    hold(&h, 1);
    slr_ring *ring = start_ring(device, &desc);
    slr_port *closed = open_port(device), *port = open_port(device);
    must(send_value(closed, address_of(ring, 0), 1, LONG));
    wait_until_is(&h.inside, 1);
    slr_port_close(closed);
    must(slr_ring_close_input(ring));
    gives(send_value(port, address_of(ring, 0), 2, LONG), CLOSED);
    hold(&h, 0);
    must(slr_ring_wait(ring, SLR_RING_TERMINATED, LONG));
    slr_port_close(port);
    slr_ring_destroy(ring);
    slr_device_close(device);
}

// A worker that has not reread the port sets yet takes the next port's message for the closed one's: it must not drop
// its replies. The worker's steps are made by hand here.
static void reply_to_a_port_that_took_a_lane_over_is_not_dropped(void **state)
{
    (void)state;
    slr_device *device = open_device("cpu?threads=1");
    slr_ring_desc desc = describe("handover", 1);
    desc.max_ports = 1;
    slr_ring *ring = launch_ring(device, &desc);
    slr_port *first = open_port(device), *second = open_port(device);
    uint32_t *S = ring->S, *P = ring->shard[0].own;
    gives(slr_send(first, address_of(ring, 0), &S, 1, 0), INVALID); // connects
    slr_port_close(first);
    assert_int_equal(mb_begin(S, P), 0); // sees the closing, and acknowledges it
    must(send_value(second, address_of(ring, 0), 5, LONG));
    assert_int_not_equal(MB_LOAD(MB_PORT_EPOCH), P[MBP_EPOCH]);
    mb_claim_straight(S, P, mb_look(S, P));  // as by a pass that read the epoch a moment before
    assert_int_equal(P[MBP_BATCH_COUNT], 0); // left for the pass that knows
    assert_int_equal(mb_begin(S, P), 1);
    mb_handled(S, P, 0, 1, 0);
    mb_finish(S, P);
    uint32_t value;
    must(receive_value(second, &value, 0));
    slr_port_close(second);
    slr_ring_destroy(ring);
    slr_device_close(device);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(time_out_is_a_status_after_which_everything_works),
        cmocka_unit_test(reply_too_large_for_its_place_stays_to_be_received),
        cmocka_unit_test(many_are_received_at_a_stride_up_to_the_most),
        cmocka_unit_test(each_end_is_told_once_and_names_its_ring_kernel),
        cmocka_unit_test(replies_and_end_outlast_the_slot),
        cmocka_unit_test(descriptor_is_readable_when_a_reply_has_come),
        cmocka_unit_test(descriptor_asked_for_late_shows_what_has_come_before),
        cmocka_unit_test(port_past_max_ports_is_refused_until_another_closes),
        cmocka_unit_test(lanes_of_closed_ports_are_used_again),
        cmocka_unit_test(places_of_closed_ports_are_free_when_their_owners_say_so),
        cmocka_unit_test(wait_for_a_place_ends_with_its_ring_kernel),
        cmocka_unit_test(lanes_are_used_again_under_load_and_while_paused),
        cmocka_unit_test(reply_to_a_port_that_took_a_lane_over_is_not_dropped),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
