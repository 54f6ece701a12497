// SPDX-License-Identifier: Apache-2.0
// Ending: draining until the deadline, handing back what was not handled, releasing who waits.
#include "tests/ring/ring_test.h"
#include "ring/ring.h"

struct handed_back {
    uint32_t count; // atomic
    uint32_t value[NOTES], correlation[NOTES], priority[NOTES];
    char reason[64];
};

static void take_back(void *user, const slr_undelivered *undelivered)
{
    struct handed_back *back = user;
    uint32_t k = __atomic_fetch_add(&back->count, 1, __ATOMIC_ACQ_REL);
    if (k >= NOTES)
        return;
    memcpy(&back->value[k], undelivered->message, sizeof back->value[k]);
    back->correlation[k] = undelivered->correlation;
    back->priority[k] = undelivered->priority;
    snprintf(back->reason, sizeof back->reason, "%s", undelivered->reason);
}

static struct handler h;
static struct handed_back back;

static slr_ring_desc describe(const char *name, uint32_t replies, uint32_t queue_size)
{
    h = (struct handler){.replies = replies};
    memset(&back, 0, sizeof back);
    slr_ring_desc desc = describe_ring(name, &h);
    desc.queue_size = queue_size;
    return desc;
}

// ---- what becomes of messages -------------------------------------------------------------------------------------

static void terminate_handles_what_is_pending_first(void **state)
{
    (void)state;
    slr_device *device = open_device("cpu");
    slr_ring_desc desc = describe("drain", 0, 0);
    slr_ring *ring = start_ring(device, &desc);
    slr_port *port = open_port(device);
    must(slr_ring_deactivate(ring, LONG));
    for (uint32_t i = 0; i < 100; ++i)
        must(send_value(port, address_of(ring, 0), i, 0));
    slr_ring_stats stats;
    must(slr_ring_terminate(ring, LONG, take_back, &back, &stats));
    assert_int_equal(stats.state, SLR_RING_TERMINATED);
    assert_int_equal(stats.handled, 100);
    assert_int_equal(stats.undelivered, 0);
    assert_int_equal(back.count, 0);
    check_sum(&stats);
    slr_port_close(port);
    slr_ring_destroy(ring);
    slr_device_close(device);
}

struct opener {
    slri_thread thread;
    slr_ring *ring;
};

// Lets the handler go on once the ring kernel has been told to stop.
static void open_when_stopped(void *arg)
{
    struct opener *opener = arg;
    uint32_t *S = opener->ring->S;
    while ((MB_LOAD(MB_CONTROL) & 3u) != MB_STOP)
        slri_sleep_ns(100000);
    hold(&h, 0);
}

static void messages_past_the_deadline_are_handed_back_once_each(void **state)
{
    (void)state;
    slr_device *device = open_device("cpu?threads=1");
    slr_ring_desc desc = describe("late", 0, 200);
    slr_ring *ring = start_ring(device, &desc);
    slr_address to = address_of(ring, 0);
    slr_port *port = open_port(device), *other = open_port(device);
    hold(&h, 1);
    must(send_value(port, to, 0, 0));
    wait_until_is(&h.inside, 1); // one is being handled, in a batch of one
    for (uint32_t i = 1; i < 100; ++i)
        must(send_at(i % 2 ? port : other, to, i, 100 + i % 3));
    struct opener opener = {.ring = ring};
    start_thread(&opener.thread, open_when_stopped, &opener);
    slr_ring_stats stats;
    must(slr_ring_terminate(ring, 30 * MS, take_back, &back, &stats));
    slri_thread_join(&opener.thread);
    assert_int_equal(stats.handled, 1);
    assert_int_equal(stats.undelivered, 99);
    assert_int_equal(stats.pending, 0);
    check_sum(&stats);
    assert_int_equal(back.count, 99);
    assert_string_equal(back.reason, "terminated before it was handled");
    bool seen[100] = {false};
    for (uint32_t i = 0; i < 99; ++i) {
        assert_false(seen[back.value[i]]);
        seen[back.value[i]] = true;
        assert_int_equal(back.priority[i], 100 + back.value[i] % 3);
        assert_int_not_equal(back.correlation[i], 0);
    }
    slr_port_close(port);
    slr_port_close(other);
    slr_ring_destroy(ring);
    slr_device_close(device);
}

static void terminate_ends_at_its_deadline_when_nobody_reads_replies(void **state)
{
    (void)state;
    slr_device *device = open_device("cpu");
    slr_ring_desc desc = describe("unread", 1, 64);
    slr_ring *ring = start_ring(device, &desc);
    slr_address to = address_of(ring, 0);
    slr_port *port = open_port(device);
    for (uint32_t i = 0; i < 128; ++i)
        must(send_value(port, to, i, LONG));
    slr_ring_stats stats;
    uint64_t before = slri_now_ns();
    must(slr_ring_terminate(ring, 100 * MS, take_back, &back, &stats));
    uint64_t took = slri_now_ns() - before;
    print_message("terminate with a deadline of 100 ms took %.1f ms\n", (double)took / 1e6);
    assert_in_range(took, 100 * MS, LONG);
    assert_int_equal(stats.handled, 64);
    assert_int_equal(stats.undelivered, 64);
    check_sum(&stats);
    for (uint32_t i = 0; i < 64; ++i)
        assert_int_equal(back.value[i], 64 + i);
    uint32_t value;
    for (uint32_t i = 0; i < 64; ++i) { // replies that were published are still there
        must(receive_value(port, &value, 0));
        assert_int_equal(value, i);
    }
    gives(receive_value(port, &value, 0), END);
    slr_port_close(port);
    slr_ring_destroy(ring);
    slr_device_close(device);
}

static void what_was_never_activated_is_handed_back_in_order(void **state)
{
    (void)state;
    slr_device *device = open_device("cpu");
    slr_ring_desc desc = describe("never", 1, 0);
    slr_ring *ring = launch_ring(device, &desc);
    slr_port *port = open_port(device);
    for (uint32_t i = 0; i < 1000; ++i)
        must(send_value(port, address_of(ring, 0), i, 0));
    slr_ring_stats stats;
    must(slr_ring_terminate(ring, LONG, take_back, &back, &stats));
    assert_int_equal(stats.undelivered, 1000);
    assert_int_equal(back.count, 1000);
    assert_string_equal(back.reason, "it was never activated");
    for (uint32_t i = 0; i < 1000; ++i)
        assert_int_equal(back.value[i], i);
    uint32_t value;
    gives(receive_value(port, &value, LONG), END);
    must(slr_ring_terminate(ring, 0, take_back, &back, &stats)); // again: the same counts, and nothing handed back
    assert_int_equal(stats.undelivered, 1000);
    assert_int_equal(back.count, 1000);
    slr_port_close(port);
    slr_ring_destroy(ring);
    slr_device_close(device);
}

// A worker that looks once more before it sleeps may claim a batch just when the stop comes.
static void batch_claimed_and_not_handled_is_handed_back(void **state)
{
    (void)state;
    slr_device *device = open_device("cpu?threads=1");
    slr_ring_desc desc = describe("claimed", 0, 0);
    slr_ring *ring = launch_ring(device, &desc);
    slr_port *port = open_port(device);
    for (uint32_t i = 0; i < 50; ++i)
        must(send_value(port, address_of(ring, 0), i, 0));
    assert_int_equal(mb_begin(ring->S, ring->shard[0].own), MB_BATCH);
    slr_ring_stats stats;
    must(slr_ring_terminate(ring, 0, take_back, &back, &stats));
    assert_int_equal(stats.undelivered, 50);
    for (uint32_t i = 0; i < 50; ++i)
        assert_int_equal(back.value[i], i);
    slr_port_close(port);
    slr_ring_destroy(ring);
    slr_device_close(device);
}

static void created_ring_kernel_terminates_with_empty_counts(void **state)
{
    (void)state;
    slr_device *device = open_device("cpu");
    slr_ring_desc desc = describe("created", 0, 0);
    slr_ring *ring;
    must(slr_ring_create(device, &desc, &ring));
    slr_ring_stats stats;
    must(slr_ring_terminate(ring, LONG, take_back, &back, &stats));
    assert_int_equal(stats.state, SLR_RING_TERMINATED);
    assert_int_equal(stats.accepted, 0);
    gives(slr_ring_launch(ring), WRONG_STATE);
    slr_ring_destroy(ring);
    slr_device_close(device);
}

// ---- who waits ----------------------------------------------------------------------------------------------------

struct blocked {
    slri_thread thread;
    slr_device *device;
    slr_address to;
    uint32_t ready;
    slr_status status;
    uint64_t released_ns;
};

static void block_in_receive(void *arg)
{
    struct blocked *b = arg;
    slr_port *port = open_port(b->device);
    uint32_t value;
    must(send_value(port, b->to, 1, LONG));
    must(receive_value(port, &value, LONG));
    __atomic_store_n(&b->ready, 1, __ATOMIC_RELEASE);
    b->status = receive_value(port, &value, 10 * LONG);
    b->released_ns = slri_now_ns();
    slr_port_close(port);
}

static void block_in_send(void *arg)
{
    struct blocked *b = arg;
    slr_port *port = open_port(b->device);
    __atomic_store_n(&b->ready, 1, __ATOMIC_RELEASE);
    do
        b->status = send_value(port, b->to, 1, 10 * LONG);
    while (b->status == SLR_OK);
    b->released_ns = slri_now_ns();
    slr_port_close(port);
}

static void block_in_call(void *arg)
{
    struct blocked *b = arg;
    struct message message = {.value = 1}, reply;
    __atomic_store_n(&b->ready, 1, __ATOMIC_RELEASE);
    do
        b->status = slr_call(NULL, b->to, &message, sizeof message, &reply, sizeof reply, 10 * LONG);
    while (b->status == SLR_OK);
    b->released_ns = slri_now_ns();
}

static void check_released(struct blocked *b, uint64_t since_ns, const char *what)
{
    slri_thread_join(&b->thread);
    uint64_t took = b->released_ns > since_ns ? b->released_ns - since_ns : 0;
    print_message("blocked %s released %.2f ms after the end began: %s\n", what, (double)took / 1e6,
                  slr_status_name(b->status));
    assert_true(took < LONG); // a tenth of what they would wait
}

static void receivers_senders_and_callers_that_wait_are_released(void **state)
{
    (void)state;
    slr_device *device = open_device("cpu");
    slr_ring_desc desc = describe("release", 1, 4);
    slr_ring *ring = start_ring(device, &desc);
    struct blocked receiver = {.device = device, .to = address_of(ring, 0)}, sender = receiver, caller = receiver;
    start_thread(&receiver.thread, block_in_receive, &receiver);
    wait_until_is(&receiver.ready, 1);
    must(slr_ring_deactivate(ring, LONG));
    start_thread(&caller.thread, block_in_call, &caller);
    start_thread(&sender.thread, block_in_send, &sender);
    wait_until_is(&sender.ready, 1);
    wait_until_is(&caller.ready, 1);
    while (stats_of(ring).pending < 4)
        slri_sleep_ns(100000);
    slri_sleep_ns(20 * MS); // they sleep by now
    uint64_t before = slri_now_ns();
    must(slr_ring_terminate(ring, 0, NULL, NULL, NULL));
    check_released(&receiver, before, "receiver");
    check_released(&sender, before, "sender");
    check_released(&caller, before, "caller");
    assert_int_equal(receiver.status, SLR_END);
    assert_true(sender.status == SLR_CLOSED || sender.status == SLR_RING_DEAD);
    assert_true(caller.status == SLR_END || caller.status == SLR_CLOSED || caller.status == SLR_RING_DEAD);
    slr_ring_destroy(ring);
    slr_device_close(device);
}

static void terminate_with_time(void *arg)
{
    must(slr_ring_terminate(arg, LONG, NULL, NULL, NULL));
}

// While a handler still runs, and long before the deadline.
static void blocked_sender_learns_at_once_that_the_input_closes(void **state)
{
    (void)state;
    slr_device *device = open_device("cpu?threads=1");
    for (int closes = 0; closes < 2; ++closes) {
        slr_ring_desc desc = describe("at once", 0, 1);
        slr_ring *ring = start_ring(device, &desc);
        struct blocked sender = {.device = device, .to = address_of(ring, 0)};
        hold(&h, 1);
        start_thread(&sender.thread, block_in_send, &sender);
        wait_until_is(&h.inside, 1);
        slri_sleep_ns(20 * MS); // it sleeps by now
        slri_thread ender;
        uint64_t before = slri_now_ns();
        if (closes)
            must(slr_ring_close_input(ring));
        else
            start_thread(&ender, terminate_with_time, ring);
        check_released(&sender, before, "sender");
        assert_int_equal(sender.status, SLR_CLOSED);
        hold(&h, 0);
        if (!closes)
            slri_thread_join(&ender);
        must(slr_ring_wait(ring, SLR_RING_TERMINATED, LONG));
        slr_ring_destroy(ring);
    }
    slr_device_close(device);
}

// When its second message is there, and who calls sleeps, most of the time.
static void end_behind_the_call(void *arg)
{
    while (stats_of(arg).accepted < 2)
        slri_sleep_ns(100000);
    slri_sleep_ns(20 * MS);
    must(slr_ring_terminate(arg, 0, NULL, NULL, NULL));
}

// A call that waits for its reply when its ring kernel ends, with ends of others before and behind it that slr_receive
// has not told yet.
static void call_is_told_its_own_ring_kernels_end(void **state)
{
    (void)state;
    slr_device *device = open_device("cpu");
    slr_port *port = open_port(device);
    slr_ring *ring[3];
    slr_ring_desc desc = describe("a", 1, 0);
    uint32_t value;
    for (uint32_t i = 0; i < 3; ++i) { // never activated: nothing replies
        desc.name = (const char *[]){"a", "b", "c"}[i];
        ring[i] = launch_ring(device, &desc);
        must(send_value(port, address_of(ring[i], 0), i, 0));
    }
    must(slr_ring_terminate(ring[0], 0, NULL, NULL, NULL));
    must(slr_ring_terminate(ring[2], 0, NULL, NULL, NULL));
    slri_thread thread;
    start_thread(&thread, end_behind_the_call, ring[1]);
    struct message message = {0};
    uint64_t before = slri_now_ns();
    refuses(slr_call(port, address_of(ring[1], 0), &message, 8, &message, 8, LONG), END, "'b' ended before it replied");
    assert_true(slri_now_ns() - before < LONG / 2);
    slri_thread_join(&thread);
    gives(slr_call(port, address_of(ring[1], 0), &message, 8, &message, 8, LONG), RING_DEAD);
    for (uint32_t i = 0; i < 3; ++i)
        gives(receive_value(port, &value, LONG), END);
    slr_port_close(port);
    for (uint32_t i = 0; i < 3; ++i)
        slr_ring_destroy(ring[i]);
    slr_device_close(device);
}

static void shared_calls_are_told_the_end(void **state)
{
    (void)state;
    slr_device *device = open_device("cpu");
    slr_ring_desc desc = describe("shared", 1, 0);
    slr_ring *ring = launch_ring(device, &desc);
    struct blocked caller[5];
    for (uint32_t i = 0; i < 5; ++i) {
        caller[i] = (struct blocked){.device = device, .to = address_of(ring, 0)};
        start_thread(&caller[i].thread, block_in_call, &caller[i]);
    }
    while (stats_of(ring).pending < 5)
        slri_sleep_ns(100000);
    slri_sleep_ns(10 * MS);
    uint64_t before = slri_now_ns();
    must(slr_ring_terminate(ring, 0, take_back, &back, NULL));
    for (uint32_t i = 0; i < 5; ++i) {
        check_released(&caller[i], before, "caller");
        assert_int_equal(caller[i].status, SLR_END);
    }
    assert_int_equal(back.count, 5);
    slr_ring_destroy(ring);
    slr_device_close(device);
}

// ---- at once ------------------------------------------------------------------------------------------------------

struct ender {
    slri_thread thread;
    slr_ring *ring;
    slr_status status;
    slr_ring_stats stats;
};

static void end_it(void *arg)
{
    struct ender *e = arg;
    e->status = slr_ring_terminate(e->ring, 10 * MS, take_back, &back, &e->stats);
}

static void flood(void *arg)
{
    struct blocked *b = arg;
    slr_port *port = open_port(b->device);
    uint32_t sent = 0;
    while ((b->status = send_value(port, b->to, 1, LONG)) == SLR_OK)
        ++sent;
    b->ready = sent;
    slr_port_close(port);
}

// Four threads terminate while two keep it full: one does it, all get the same counts, each message is accounted for.
static void terminate_by_several_threads_while_full_is_one_end(void **state)
{
    (void)state;
    slr_device *device = open_device("cpu");
    for (uint32_t round = 0; round < 30; ++round) {
        slr_ring_desc desc = describe("once", 0, 1 + round % 5);
        desc.instances = 1 + round % 3;
        slr_ring *ring = round % 4 == 3 ? launch_ring(device, &desc) : start_ring(device, &desc);
        if (round % 4 == 1)
            must(slr_ring_deactivate(ring, LONG));
        struct blocked sender[2];
        struct ender e[4];
        for (uint32_t i = 0; i < 2; ++i) {
            sender[i] = (struct blocked){.device = device, .to = address_of(ring, 0)};
            start_thread(&sender[i].thread, flood, &sender[i]);
        }
        slri_sleep_ns(MS);
        for (uint32_t i = 0; i < 4; ++i) {
            e[i] = (struct ender){.ring = ring};
            start_thread(&e[i].thread, end_it, &e[i]);
        }
        uint64_t sent = 0;
        for (uint32_t i = 0; i < 2; ++i) {
            slri_thread_join(&sender[i].thread);
            assert_true(sender[i].status == SLR_CLOSED || sender[i].status == SLR_RING_DEAD);
            sent += sender[i].ready;
        }
        for (uint32_t i = 0; i < 4; ++i) {
            slri_thread_join(&e[i].thread);
            assert_int_equal(e[i].status, SLR_OK);
            check_sum(&e[i].stats);
            assert_int_equal(e[i].stats.pending, 0);
            assert_int_equal(e[i].stats.accepted, sent);
            assert_int_equal(e[i].stats.undelivered, back.count);
        }
        slr_ring_destroy(ring);
    }
    slr_device_close(device);
}

// What a terminate leaves that has told the owner to stop and has given up waiting for the handler.
static void handler_that_outlives_a_terminate_leaves_its_queue_to_the_next_one(void **state)
{
    (void)state;
    slr_device *device = open_device("cpu?threads=1");
    slr_ring_desc desc = describe("late", 0, 0);
    desc.max_batch = 1;
    hold(&h, 1);
    slr_ring *ring = start_ring(device, &desc);
    slr_port *port = open_port(device);
    for (uint32_t i = 0; i < 3; ++i)
        must(send_value(port, address_of(ring, 0), i, 0));
    wait_until_is(&h.inside, 1);
    must(slr_ring_close_input(ring));
    slri_mutex_lock(&ring->lock);
    slri_ring_command(ring, MB_STOP);
    slri_mutex_unlock(&ring->lock);
    hold(&h, 0);
    wait_until_is(&ring->leaving, 0);
    assert_int_equal(slr_ring_get_state(ring), SLR_RING_DRAINING);
    slr_ring_stats stats;
    must(slr_ring_terminate(ring, LONG, take_back, &back, &stats));
    assert_int_equal(stats.handled, 1);
    assert_int_equal(back.count, 2);
    assert_int_equal(stats.undelivered, 2);
    check_sum(&stats);
    slr_port_close(port);
    slr_ring_destroy(ring);
    slr_device_close(device);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(terminate_handles_what_is_pending_first),
        cmocka_unit_test(messages_past_the_deadline_are_handed_back_once_each),
        cmocka_unit_test(terminate_ends_at_its_deadline_when_nobody_reads_replies),
        cmocka_unit_test(what_was_never_activated_is_handed_back_in_order),
        cmocka_unit_test(batch_claimed_and_not_handled_is_handed_back),
        cmocka_unit_test(created_ring_kernel_terminates_with_empty_counts),
        cmocka_unit_test(receivers_senders_and_callers_that_wait_are_released),
        cmocka_unit_test(blocked_sender_learns_at_once_that_the_input_closes),
        cmocka_unit_test(call_is_told_its_own_ring_kernels_end),
        cmocka_unit_test(shared_calls_are_told_the_end),
        cmocka_unit_test(terminate_by_several_threads_while_full_is_one_end),
        cmocka_unit_test(handler_that_outlives_a_terminate_leaves_its_queue_to_the_next_one),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
