// SPDX-License-Identifier: Apache-2.0
// Send and receive in one: own ports, the shared port, many callers at once, late replies.
#include "tests/ring/ring_test.h"

static struct handler h;

static slr_ring_desc describe(const char *name, uint32_t replies)
{
    h = (struct handler){.replies = replies};
    return describe_ring(name, &h);
}

static slr_status call_value(slr_port *port, slr_address to, uint32_t value, uint32_t *got, uint64_t timeout_ns)
{
    struct message message = {.value = value}, reply = {0};
    slr_status status = slr_call(port, to, &message, sizeof message, &reply, sizeof reply, timeout_ns);
    *got = reply.value;
    return status;
}

static void call_gives_its_own_reply_and_keeps_others_for_receive(void **state)
{
    (void)state;
    slr_device *device = open_device("cpu");
    slr_ring_desc desc = describe("keeps", 1);
    slr_ring *ring = start_ring(device, &desc);
    slr_address to = address_of(ring, 0);
    slr_port *port = open_port(device);
    uint32_t got;
    for (uint32_t round = 0; round < 20; ++round) {
        for (uint32_t i = 0; i < 5; ++i)
            must(send_value(port, to, 100 + i, 0));
        must(call_value(port, to, round, &got, LONG));
        assert_int_equal(got, round);
        must(send_value(port, to, 105, 0));
        for (uint32_t i = 0; i < 6; ++i) {
            must(receive_value(port, &got, LONG));
            assert_int_equal(got, 100 + i);
        }
    }
    slr_port_close(port);
    port = open_port(device); // one that closes with replies kept
    must(send_value(port, to, 1, 0));
    must(call_value(port, to, 2, &got, LONG));
    slr_port_close(port);
    slr_ring_destroy(ring);
    slr_device_close(device);
}

static void late_reply_is_not_mistaken_for_another(void **state)
{
    (void)state;
    slr_device *device = open_device("cpu");
    slr_ring_desc desc = describe("slow", 1);
    slr_ring *ring = start_ring(device, &desc);
    slr_address to = address_of(ring, 0);
    slr_port *port = open_port(device);
    uint32_t got;
    for (uint32_t round = 0; round < 10; ++round)
        for (int shared = 0; shared < 2; ++shared) {
            must(slr_ring_deactivate(ring, LONG));
            refuses(call_value(shared ? NULL : port, to, 1, &got, MS), TIMEOUT, "no reply came within 1000000 ns");
            gives(call_value(shared ? NULL : port, to, 2, &got, 0), TIMEOUT); // never waits, and is accepted
            must(slr_ring_reactivate(ring, LONG));
            while (round % 2 && stats_of(ring).pending)
                slri_sleep_ns(100000);
            gives(receive_value(port, &got, 0), TIMEOUT);
            must(call_value(shared ? NULL : port, to, 3, &got, LONG));
            assert_int_equal(got, 3);
            gives(receive_value(port, &got, 0), TIMEOUT); // the late ones are discarded
        }
    assert_int_equal(stats_when_pending(ring, 0).handled, 60);
    slr_port_close(port);
    slr_ring_destroy(ring);
    slr_device_close(device);
}

static void call_of_wrong_sizes_is_refused_before_it_is_sent(void **state)
{
    (void)state;
    slr_device *device = open_device("cpu");
    slr_ring_desc desc = describe("sizes", 1);
    slr_ring *ring = start_ring(device, &desc);
    desc = describe("silent", 0);
    slr_ring *silent = start_ring(device, &desc);
    slr_port *ports[2] = {open_port(device), NULL};
    struct message m = {0};
    for (int i = 0; i < 2; ++i) {
        refuses(slr_call(ports[i], address_of(ring, 0), &m, 8, &m, 4, LONG), INVALID,
                "its replies have 8 B; the buffer has 4");
        refuses(slr_call(ports[i], address_of(ring, 0), &m, 8, NULL, 8, LONG), INVALID, "its replies have 8 B");
        refuses(slr_call(ports[i], address_of(ring, 0), &m, 4, &m, 8, LONG), INVALID, "its messages have 8 B");
        refuses(slr_call(ports[i], address_of(silent, 0), &m, 8, &m, 8, LONG), INVALID, "'silent' never replies");
    }
    slr_address nowhere = address_of(ring, 0);
    nowhere.generation += 1000;
    gives(slr_call(NULL, nowhere, &m, 8, &m, 8, LONG), RING_DEAD);
    nowhere.place = 63;
    gives(slr_call(NULL, nowhere, &m, 8, &m, 8, LONG), RING_DEAD);
    nowhere.place = 1u << 20;
    gives(slr_call(ports[0], nowhere, &m, 8, &m, 8, LONG), RING_DEAD);
    assert_int_equal(stats_of(ring).accepted, 0);
    slr_port_close(ports[0]);
    slr_ring_destroy(ring);
    slr_ring_destroy(silent);
    slr_device_close(device);
}

// ---- many callers -------------------------------------------------------------------------------------------------

enum { CALLERS = 20, CALLS = 100 };

struct caller {
    slri_thread thread;
    slr_address to;
    uint32_t number, wrong;
};

static void call_often(void *arg)
{
    struct caller *c = arg;
    for (uint32_t i = 0; i < CALLS; ++i) {
        uint32_t value = c->number * CALLS + i, got;
        must(call_value(NULL, c->to, value, &got, LONG));
        c->wrong += got != value;
        if (i % 16 == c->number % 16)
            slri_sleep_ns(300000); // so that some sleep while others call
    }
}

static void call_from_20_threads(slr_device *device, const slr_ring_desc *desc)
{
    slr_ring *ring = start_ring(device, desc);
    static struct caller c[CALLERS];
    for (uint32_t i = 0; i < CALLERS; ++i) {
        c[i] = (struct caller){.to = address_of(ring, i % desc->instances), .number = i};
        start_thread(&c[i].thread, call_often, &c[i]);
    }
    uint32_t wrong = 0;
    for (uint32_t i = 0; i < CALLERS; ++i) {
        slri_thread_join(&c[i].thread);
        wrong += c[i].wrong;
    }
    assert_int_equal(wrong, 0);
    slr_ring_stats stats = stats_when_pending(ring, 0);
    assert_int_equal(stats.handled, CALLERS * CALLS);
    assert_int_equal(stats.refused, 0);
    slr_ring_destroy(ring);
}

static void twenty_concurrent_callers_each_get_their_own_reply(void **state)
{
    (void)state;
    slr_device *device = open_device("cpu");
    slr_ring_desc desc = describe("shared", 1);
    desc.instances = 7;
    call_from_20_threads(device, &desc);
    desc.queue_size = 3; // and when most of them find it full
    call_from_20_threads(device, &desc);
    slr_device_close(device);
}

static void shared_port_sends_without_waiting_for_replies(void **state)
{
    (void)state;
    slr_device *device = open_device("cpu");
    slr_ring_desc desc = describe("thrown", 1);
    desc.queue_size = 8;
    slr_ring *ring = start_ring(device, &desc);
    for (uint32_t i = 0; i < 2000; ++i) // many times its reply lane
        must(send_value(NULL, address_of(ring, 0), i, LONG));
    uint32_t got;
    must(call_value(NULL, address_of(ring, 0), 5, &got, LONG));
    assert_int_equal(got, 5);
    assert_int_equal(stats_when_pending(ring, 0).handled, 2001);
    assert_int_equal(stats_of(ring).refused, 0);
    slr_ring_destroy(ring);
    slr_device_close(device);
}

// ---- beside collected replies --------------------------------------------------------------------------------------

static slr_status echo_head(void *user, const slr_delivery *delivery) // of a message that is longer than `user` bytes
{
    return slr_reply_to(delivery, delivery->message, *(const uint32_t *)user);
}

// Replies of 4 B, or of 64: what a call copies must be of its own ring kernel.
static slr_ring *start_echo(slr_device *device, const char *name, const uint32_t *reply_bytes)
{
    slr_ring_desc desc = SLR_RING_DESC_INIT;
    desc.name = name;
    desc.on_message = echo_head;
    desc.user = (void *)(uintptr_t)reply_bytes;
    desc.message_bytes = 64;
    desc.reply_bytes = *reply_bytes;
    return start_ring(device, &desc);
}

static void receive_collected(slr_port *port, uint32_t value)
{
    uint32_t words[16] = {0};
    slr_reply reply;
    must(slr_receive(port, &reply, words, sizeof words, LONG));
    assert_int_equal(reply.status, SLR_OK);
    assert_int_equal(words[0], value);
}

// The reply that the port collects answers another port's call, with the number that this port's own call has, too.
static void call_does_not_take_what_its_port_collects(void **state)
{
    (void)state;
    static const uint32_t little = 4, much = 64;
    slr_device *device = open_device("cpu");
    slr_ring *collected = start_echo(device, "collected", &little), *called = start_echo(device, "called", &much);
    slr_port *port = open_port(device), *other = open_port(device);
    slr_route_desc too = SLR_ROUTE_DESC_INIT;
    too.reply_too = 1;
    must(slr_route_to_port(collected, port, &too));
    for (uint32_t turn = 1; turn < 20; ++turn) {
        uint32_t message[16] = {1000 + turn}, reply[16] = {0};
        must(slr_call(other, address_of(collected, 0), message, sizeof message, reply, 4, LONG));
        assert_int_equal(reply[0], 1000 + turn); // its own, and the port has another
        message[0] = turn;
        message[15] = ~turn;
        must(slr_call(port, address_of(called, 0), message, sizeof message, reply, sizeof reply, LONG));
        assert_int_equal(reply[0], turn);
        assert_int_equal(reply[15], ~turn);
        receive_collected(port, 1000 + turn);
    }
    for (uint32_t turn = 1; turn < 20; ++turn) { // both of one ring kernel
        uint32_t message[16] = {1000 + turn}, reply = 0;
        must(slr_call(other, address_of(collected, 0), message, sizeof message, &reply, sizeof reply, LONG));
        must(slr_call(other, address_of(called, 0), message, sizeof message, message, sizeof message, LONG));
        message[0] = turn;
        must(slr_call(port, address_of(collected, 0), message, sizeof message, &reply, sizeof reply, LONG));
        assert_int_equal(reply, turn);
        receive_collected(port, 1000 + turn);
        receive_collected(port, turn);
    }
    slr_port_close(port);
    slr_port_close(other);
    slr_ring_destroy(collected);
    slr_ring_destroy(called);
    slr_device_close(device);
}

// Where all replies go to ports that collect, the caller's own message is answered by what its port collects.
static void call_takes_its_reply_from_the_port_that_collects_all(void **state)
{
    (void)state;
    slr_device *device = open_device("cpu");
    slr_ring_desc desc = describe("all", 1);
    slr_ring *ring = start_ring(device, &desc);
    slr_port *port = open_port(device), *other = open_port(device);
    uint32_t got;
    must(slr_route_to_port(ring, port, NULL));
    gives(call_value(other, address_of(ring, 0), 1, &got, MS), TIMEOUT); // its number is that of the next call
    wait_handled(ring, 1);
    must(call_value(port, address_of(ring, 0), 2, &got, LONG));
    assert_int_equal(got, 2);
    must(receive_value(port, &got, LONG));
    assert_int_equal(got, 1);
    gives(receive_value(port, &got, 0), TIMEOUT);
    slr_port_close(port);
    slr_port_close(other);
    slr_ring_destroy(ring);
    slr_device_close(device);
}

// ---- the end, under callers ----------------------------------------------------------------------------------------

enum { BLOCKED = 6 };

struct blocked {
    slri_thread thread;
    slr_address to;
    bool calls;
    slr_status status;
    uint32_t *ready;
    char message[200];
};

// Until it is refused: with a ring kernel that is paused at once, or soon, for its mailbox fills.
static void call_until_the_end(void *arg)
{
    struct blocked *b = arg;
    uint32_t got;
    __atomic_fetch_add(b->ready, 1, __ATOMIC_RELAXED);
    do
        b->status = b->calls ? call_value(NULL, b->to, 1, &got, LONG) : send_value(NULL, b->to, 1, LONG);
    while (b->status == SLR_OK);
    snprintf(b->message, sizeof b->message, "%s", slr_error_message());
}

static void call_that_gets_no_reply_names_its_ring_kernel(void **state)
{
    (void)state;
    slr_device *device = open_device("cpu");
    slr_ring_desc desc = describe("faulty", 1);
    h.fail_each = 1;
    slr_ring *ring = start_ring(device, &desc);
    slr_port *port = open_port(device);
    uint32_t got, ready = 0;
    for (int shared = 0; shared < 2; ++shared)
        refuses(call_value(shared ? NULL : port, address_of(ring, 0), 1, &got, LONG), HANDLER_FAULT,
                "ring kernel 'faulty': the handler faulted on this message");
    slr_ring_destroy(ring);
    desc = describe("failing", 1);
    h.fail_each = 1;
    desc.fault_policy = SLR_FAULT_FAIL;
    ring = start_ring(device, &desc);
    must(slr_ring_deactivate(ring, LONG));
    must(send_value(port, address_of(ring, 0), 1, LONG)); // the one that it fails by
    struct blocked b = {.to = address_of(ring, 0), .calls = true, .ready = &ready};
    start_thread(&b.thread, call_until_the_end, &b);
    stats_when_pending(ring, 2);
    must(slr_ring_reactivate(ring, LONG));
    slri_thread_join(&b.thread);
    assert_int_equal(b.status, SLR_RING_FAILED);
    assert_non_null(strstr(b.message, "ring kernel 'failing' failed before it replied"));
    slr_port_close(port);
    slr_ring_destroy(ring);
    slr_device_close(device);
}

// `closes` the device, or else destroys the ring kernel, while threads are blocked on the shared port: some wait for a
// reply, and some for room. Busy: they are not, but send and call all the time.
static void end_under_callers(const char *spec, bool closes, bool busy)
{
    slr_device *device = open_device(spec);
    slr_ring_desc desc = describe("ends", 1);
    desc.queue_size = 3;
    slr_ring *ring = start_ring(device, &desc);
    static struct blocked b[BLOCKED];
    uint32_t ready = 0;
    if (!busy)
        must(slr_ring_deactivate(ring, LONG));
    for (uint32_t i = 0; i < BLOCKED; ++i) {
        b[i] = (struct blocked){.to = address_of(ring, 0), .calls = i % 2 == 0, .ready = &ready};
        start_thread(&b[i].thread, call_until_the_end, &b[i]);
    }
    wait_until_is(&ready, BLOCKED);
    slri_sleep_ns(20 * MS); // they sleep, most likely
    if (closes)
        slr_device_close(device);
    else
        slr_ring_destroy(ring);
    for (uint32_t i = 0; i < BLOCKED; ++i) {
        slri_thread_join(&b[i].thread);
        bool ended = b[i].calls && b[i].status == SLR_END;
        if (!ended && b[i].status != SLR_CLOSED && b[i].status != SLR_RING_DEAD)
            fail_msg("caller %u: %s: %s", i, slr_status_name(b[i].status), b[i].message);
        if (ended)
            assert_non_null(strstr(b[i].message, "'ends'"));
    }
    if (closes)
        slr_ring_destroy(ring);
    else
        slr_device_close(device);
}

static void end_wakes_who_is_blocked_on_the_shared_port(void **state)
{
    (void)state;
    for (uint32_t round = 0; round < 12; ++round)
        end_under_callers(round % 3 ? "cpu?threads=2" : "cpu?threads=1", round % 2, round / 2 % 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(call_that_gets_no_reply_names_its_ring_kernel),
        cmocka_unit_test(end_wakes_who_is_blocked_on_the_shared_port),
        cmocka_unit_test(call_gives_its_own_reply_and_keeps_others_for_receive),
        cmocka_unit_test(late_reply_is_not_mistaken_for_another),
        cmocka_unit_test(call_of_wrong_sizes_is_refused_before_it_is_sent),
        cmocka_unit_test(twenty_concurrent_callers_each_get_their_own_reply),
        cmocka_unit_test(shared_port_sends_without_waiting_for_replies),
        cmocka_unit_test(call_does_not_take_what_its_port_collects),
        cmocka_unit_test(call_takes_its_reply_from_the_port_that_collects_all),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
