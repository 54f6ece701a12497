// SPDX-License-Identifier: Apache-2.0
// How messages are delivered: priorities, order, capacity, overflow, batches, replies, state.
#include "tests/ring/ring_test.h"
#include "ring/ring.h"

struct setup {
    slr_device *device;
    slr_ring *ring;
    slr_port *port;
    slr_address to;
    struct handler *h;
};

// A paused ring kernel and a port.
static struct setup set_up(const slr_ring_desc *desc)
{
    struct setup s = {.h = desc->user};
    s.device = open_device("cpu");
    s.ring = start_ring(s.device, desc);
    must(slr_ring_deactivate(s.ring, LONG));
    s.port = open_port(s.device);
    s.to = address_of(s.ring, 0);
    return s;
}

static void tear_down(struct setup *s)
{
    slr_ring_stats stats = stats_of(s->ring);
    check_sum(&stats);
    slr_port_close(s->port);
    slr_ring_destroy(s->ring);
    slr_device_close(s->device);
}

static void resume_and_wait(struct setup *s, uint32_t count)
{
    must(slr_ring_reactivate(s->ring, LONG));
    wait_until_is(&s->h->count, count);
}

static struct handler h;

static slr_ring_desc describe(const char *name, uint32_t replies, uint32_t queue_size)
{
    h = (struct handler){.replies = replies};
    slr_ring_desc desc = describe_ring(name, &h);
    desc.queue_size = queue_size;
    return desc;
}

// ---- priorities and order -----------------------------------------------------------------------------------------

static void preloaded_messages_come_out_highest_priority_first_then_as_sent(void **state)
{
    (void)state;
    slr_ring_desc desc = describe("priorities", 0, 0);
    struct setup s = set_up(&desc);
    must(send_at(s.port, s.to, 'A', 100));
    must(send_at(s.port, s.to, 'B', 200));
    must(send_at(s.port, s.to, 'C', 100));
    must(send_at(s.port, s.to, 'D', 150));
    resume_and_wait(&s, 4);
    for (int i = 0; i < 4; ++i)
        assert_int_equal(h.note[i].value, "BDAC"[i]);
    tear_down(&s);
}

static void priorities_are_strict_over_ports_and_their_ends(void **state)
{
    (void)state;
    slr_ring_desc desc = describe("strict", 0, 0);
    desc.priority = SLR_PRIORITY(0);
    struct setup s = set_up(&desc);
    slr_port *other = open_port(s.device);
    static const uint32_t priorities[] = {255, 31, 32, 0, 224, 63, 64, 1, 254, 128};
    for (uint32_t i = 0; i < 10; ++i)
        must(send_at(i % 2 ? s.port : other, s.to, priorities[i], priorities[i]));
    must(send_value(s.port, s.to, 0, 0)); // the ring kernel's own default: 0
    resume_and_wait(&s, 11);
    for (uint32_t i = 1; i < 11; ++i)
        assert_true(h.note[i - 1].value >= h.note[i].value);
    assert_int_equal(h.note[0].value, 255);
    assert_int_equal(h.note[10].value, 0);
    slr_port_close(other);
    tear_down(&s);
}

// 1,500 messages of two ports to five instances with three priorities: each triple keeps its order.
static void order_is_kept_for_each_port_instance_and_priority(void **state)
{
    (void)state;
    slr_ring_desc desc = describe("fifo", 0, 0);
    desc.instances = 5;
    struct setup s = set_up(&desc);
    slr_port *ports[2] = {s.port, open_port(s.device)};
    for (uint32_t i = 0; i < 1500; ++i) {
        struct message message = {.value = i, .port = i % 2 * 3 + i % 3};
        slr_send_options options = {.priority = SLR_PRIORITY(100 + i % 3)};
        slr_address to = s.to;
        to.instance = i % 5;
        must(slr_send_with(ports[i % 2], to, &message, sizeof message, &options, LONG));
        if (i == 700)
            must(slr_ring_reactivate(s.ring, LONG)); // the rest while it runs
    }
    wait_until_is(&h.count, 1500);
    uint32_t last[6][5] = {{0}};
    for (uint32_t i = 0; i < 1500; ++i) {
        uint32_t *seen = &last[h.note[i].port][h.instance[i]];
        assert_int_equal(h.instance[i], h.note[i].value % 5);
        assert_true(*seen == 0 || *seen < h.note[i].value);
        *seen = h.note[i].value;
    }
    slr_port_close(ports[1]);
    tear_down(&s);
}

// Straight from the lanes, and from the pending set once a lane has carried several priorities.
static void ports_of_equal_priority_take_turns(void **state)
{
    (void)state;
    for (uint32_t mixed = 0; mixed < 2; ++mixed) {
        slr_ring_desc desc = describe("turns", 0, 0);
        struct setup s = set_up(&desc);
        slr_port *other = open_port(s.device);
        for (uint32_t i = 0; i < 400; ++i)
            must(send_at(i < 200 ? s.port : other, s.to, i < 200 ? 1 : 2, mixed && i % 200 == 0 ? 200 : 100));
        resume_and_wait(&s, 400);
        uint32_t first = 0, second = 0;
        for (uint32_t i = 0; i < 200; ++i) { // neither is behind by more than some batches
            first += h.note[i].value == 1;
            second += h.note[i].value == 2;
        }
        assert_in_range(first, 68, 132);
        assert_in_range(second, 68, 132);
        slr_port_close(other);
        tear_down(&s);
    }
}

// ---- capacity and overflow ----------------------------------------------------------------------------------------

static void full_mailbox_rejects_the_third_of_two_and_keeps_what_it_has(void **state)
{
    (void)state;
    slr_ring_desc desc = describe("reject", 0, 2);
    desc.overflow = SLR_OVERFLOW_REJECT;
    struct setup s = set_up(&desc);
    must(send_value(s.port, s.to, 1, LONG));
    must(send_value(s.port, s.to, 2, LONG));
    uint64_t before = slri_now_ns();
    refuses(send_value(s.port, s.to, 3, LONG), FULL, "ring kernel 'reject': mailbox is full (2 messages)");
    assert_true(slri_now_ns() - before < LONG / 2); // at once, whatever the timeout
    slr_ring_stats stats = stats_of(s.ring);
    assert_int_equal(stats.accepted, 2);
    assert_int_equal(stats.refused, 1);
    resume_and_wait(&s, 2);
    assert_int_equal(h.note[0].value, 1);
    assert_int_equal(h.note[1].value, 2);
    tear_down(&s);
}

static void capacity_is_exactly_what_was_asked(void **state)
{
    (void)state;
    static const uint32_t sizes[] = {1, 2, 3, 7, 64, 100, 1000};
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; ++i) {
        slr_ring_desc desc = describe("exact", 0, sizes[i]);
        struct setup s = set_up(&desc);
        for (uint32_t k = 0; k < sizes[i]; ++k)
            must(send_at(s.port, s.to, k, k % 256));
        gives(send_value(s.port, s.to, 0, 0), FULL);
        assert_int_equal(stats_of(s.ring).accepted, sizes[i]);
        tear_down(&s);
    }
}

static void blocked_send_ends_at_its_deadline_without_exceeding_the_capacity(void **state)
{
    (void)state;
    slr_ring_desc desc = describe("block", 0, 5);
    struct setup s = set_up(&desc);
    for (uint32_t k = 0; k < 5; ++k)
        must(send_value(s.port, s.to, k, 0));
    for (slr_port *port = s.port;; port = NULL) { // then the shared one
        uint64_t before = slri_now_ns(), refused = stats_of(s.ring).refused;
        gives(send_value(port, s.to, 9, 100 * MS), TIMEOUT);
        uint64_t took = slri_now_ns() - before;
        print_message("%s port: a timeout of 100 ms took %.1f ms\n", port ? "own" : "shared", (double)took / 1e6);
        assert_in_range(took, 100 * MS, LONG);
        slr_ring_stats stats = stats_of(s.ring);
        assert_int_equal(stats.pending, 5);
        assert_int_equal(stats.refused, refused + 1); // one send, however often it looked
        if (!port)
            break;
    }
    resume_and_wait(&s, 5);
    must(send_value(s.port, s.to, 9, LONG)); // and everything still works
    tear_down(&s);
}

struct producer {
    slri_thread thread;
    struct setup *s;
    uint32_t number;
};

static void produce_200(void *arg)
{
    struct producer *p = arg;
    slr_port *port = open_port(p->s->device);
    for (uint32_t i = 0; i < 200; ++i) {
        struct message message = {.value = i, .port = p->number};
        must(slr_send(port, p->s->to, &message, sizeof message, LONG));
    }
    slr_port_close(port);
}

static void two_producers_of_200_get_all_through_capacity_1(void **state)
{
    (void)state;
    slr_ring_desc desc = describe("one", 0, 1);
    struct setup s = set_up(&desc);
    struct producer p[2] = {{.s = &s, .number = 0}, {.s = &s, .number = 1}};
    for (int i = 0; i < 2; ++i)
        start_thread(&p[i].thread, produce_200, &p[i]);
    resume_and_wait(&s, 400);
    for (int i = 0; i < 2; ++i)
        slri_thread_join(&p[i].thread);
    uint32_t next[2] = {0, 0};
    for (uint32_t i = 0; i < 400; ++i)
        assert_int_equal(h.note[i].value, next[h.note[i].port]++);
    assert_int_equal(stats_when_pending(s.ring, 0).handled, 400);
    tear_down(&s);
}

// ---- what is refused ----------------------------------------------------------------------------------------------

static void send_of_wrong_size_instance_or_priority_says_what_was_expected(void **state)
{
    (void)state;
    slr_ring_desc desc = describe("strict", 0, 0);
    desc.instances = 3;
    struct setup s = set_up(&desc);
    struct message message[2] = {{0}};
    slr_send_options options = {.priority = SLR_PRIORITY(256)};
    refuses(slr_send(s.port, s.to, message, 4, 0), INVALID, "its messages have 8 B, 4 B were sent");
    refuses(slr_send(s.port, s.to, message, 16, 0), INVALID, "its messages have 8 B, 16 B were sent");
    refuses(slr_send(s.port, s.to, message, 0, 0), INVALID, "its messages have 8 B, 0 B were sent");
    refuses(slr_send(s.port, s.to, NULL, 8, 0), INVALID, "NULL");
    refuses(slr_send_with(s.port, s.to, message, 8, &options, 0), INVALID, "priority 256; expected 0 to 255");
    options = (slr_send_options){.correlation = 0x80000000u};
    refuses(slr_send_with(s.port, s.to, message, 8, &options, 0), INVALID, "expected 1 to 2147483647");
    s.to.instance = 3;
    refuses(slr_send(s.port, s.to, message, 8, 0), INVALID, "has instances 0 to 2; a message was sent to 3");
    refuses(slr_send(NULL, s.to, message, 8, 0), INVALID, "has instances 0 to 2");
    s.to.instance = 0;
    uint32_t accepted = 77, instances[2] = {0, 3};
    refuses(slr_send_many(NULL, s.to, NULL, message, 8, 2, 0, &accepted), INVALID, "port is NULL");
    assert_int_equal(accepted, 0);
    refuses(slr_send_many(s.port, s.to, instances, message, 8, 2, 0, &accepted), INVALID, "sent to 3");
    refuses(slr_send_many(s.port, s.to, NULL, message, 7, 2, 0, &accepted), INVALID, "7 B were sent");
    must(slr_send_many(s.port, s.to, NULL, message, 8, 0, 0, &accepted));
    assert_int_equal(stats_of(s.ring).accepted, 0);
    tear_down(&s);
}

static void port_of_another_device_is_refused(void **state)
{
    (void)state;
    slr_ring_desc desc = describe("abroad", 0, 0);
    struct setup s = set_up(&desc);
    slr_device *other = open_device("null");
    slr_port *port = open_port(other);
    refuses(send_value(port, s.to, 1, 0), INVALID, "'abroad' is on another device than the port");
    slr_port_close(port);
    slr_device_close(other);
    tear_down(&s);
}

// ---- batches ------------------------------------------------------------------------------------------------------

static void batch_goes_to_its_instances_in_order_and_says_how_far_it_got(void **state)
{
    (void)state;
    slr_ring_desc desc = describe("batch", 0, 100);
    desc.instances = 7;
    struct setup s = set_up(&desc);
    struct message messages[130];
    uint32_t instances[130], accepted;
    for (uint32_t i = 0; i < 130; ++i) {
        messages[i] = (struct message){.value = i};
        instances[i] = i * 3 % 7;
    }
    refuses(slr_send_many(s.port, s.to, instances, messages, 8, 130, 0, &accepted), FULL, "100 messages");
    assert_int_equal(accepted, 100);
    gives(slr_send_many(s.port, s.to, instances, messages, 8, 130, 5 * MS, &accepted), TIMEOUT);
    assert_int_equal(accepted, 0);
    must(slr_ring_reactivate(s.ring, LONG));
    must(slr_send_many(s.port, s.to, instances + 100, messages + 100, 8, 30, LONG, &accepted));
    assert_int_equal(accepted, 30);
    wait_until_is(&h.count, 130);
    uint32_t seen[7] = {0};
    for (uint32_t i = 0; i < 130; ++i) {
        assert_int_equal(h.instance[i], h.note[i].value * 3 % 7);
        assert_true(h.note[i].value >= seen[h.instance[i]]);
        seen[h.instance[i]] = h.note[i].value;
    }
    tear_down(&s);
}

// ---- replies ------------------------------------------------------------------------------------------------------

static void reply_names_sender_correlation_priority_and_time(void **state)
{
    (void)state;
    slr_ring_desc desc = describe("reply", 1, 0);
    desc.instances = 4;
    desc.time_stamps = 1;
    struct setup s = set_up(&desc);
    must(slr_ring_reactivate(s.ring, LONG));
    s.to.instance = 2;
    uint64_t before = slri_now_ns();
    struct message message = {.value = 5}, got;
    slr_send_options options = {.priority = SLR_PRIORITY(0), .correlation = 4711};
    must(slr_send_with(s.port, s.to, &message, 8, &options, 0));
    slr_reply reply;
    must(slr_receive(s.port, &reply, &got, sizeof got, LONG));
    assert_int_equal(reply.status, SLR_OK);
    assert_int_equal(reply.correlation, 4711);
    assert_int_equal(reply.priority, 0);
    assert_int_equal(reply.bytes, 8);
    assert_memory_equal(&reply.from, &s.to, sizeof s.to);
    assert_in_range(reply.sent_ns, before, slri_now_ns());
    assert_int_equal(got.value, 5);
    for (uint32_t k = 1; k < 4; ++k) { // running numbers, and the default priority
        must(slr_send(s.port, s.to, &message, 8, 0));
        must(slr_receive(s.port, &reply, &got, sizeof got, LONG));
        assert_int_equal(reply.correlation, k);
        assert_int_equal(reply.priority, SLR_DEFAULT_PRIORITY);
    }
    tear_down(&s);
}

static slr_status reply_four_times_at_most(void *user, const slr_delivery *delivery)
{
    const uint32_t *value = delivery->message;
    (void)user;
    for (uint32_t k = 0; k < *value && k < 3; ++k) {
        uint32_t answer = *value * 10 + k;
        must(slr_reply_to(delivery, &answer, 4));
    }
    if (*value > 3)
        refuses(slr_reply_to(delivery, value, 4), INVALID, "more than max_replies (3)");
    refuses(slr_reply_to(delivery, value, 3), INVALID, "the reply has 3 B; the ring kernel declared 4 B");
    return SLR_OK;
}

static void message_may_cause_up_to_max_replies(void **state)
{
    (void)state;
    slr_ring_desc desc = describe("several", 0, 0);
    desc.on_message = reply_four_times_at_most;
    desc.message_bytes = desc.reply_bytes = 4;
    desc.max_replies = 3;
    struct setup s = set_up(&desc);
    must(slr_ring_reactivate(s.ring, LONG));
    for (uint32_t round = 0; round < 100; ++round) // past the reply lane's end
        for (uint32_t value = 0; value < 5; ++value) {
            must(slr_send(s.port, s.to, &value, 4, 0));
            for (uint32_t k = 0; k < value && k < 3; ++k) {
                slr_reply reply;
                uint32_t got;
                must(slr_receive(s.port, &reply, &got, 4, LONG));
                assert_int_equal(got, value * 10 + k);
            }
        }
    assert_int_equal(stats_when_pending(s.ring, 0).replied, 900);
    tear_down(&s);
}

static void handler_without_replies_is_told_so(void **state)
{
    (void)state;
    slr_ring_desc desc = describe("silent", 0, 0);
    desc.on_message = note_message;
    struct setup s = set_up(&desc);
    h.replies = 1; // the handler replies all the same: INVALID, which it returns
    must(slr_ring_reactivate(s.ring, LONG));
    must(send_value(s.port, s.to, 1, 0));
    wait_until_is(&h.count, 1);
    must(slr_ring_deactivate(s.ring, LONG));
    assert_int_equal(stats_of(s.ring).faulted, 1);
    assert_int_equal(stats_of(s.ring).replied, 0);
    uint32_t value;
    gives(receive_value(s.port, &value, 0), TIMEOUT);
    tear_down(&s);
}

static void full_reply_lane_holds_up_its_own_port_alone(void **state)
{
    (void)state;
    slr_ring_desc desc = describe("lanes", 1, 200);
    desc.instances = 1;
    struct setup s = set_up(&desc);
    slr_port *reads = open_port(s.device);
    must(slr_ring_reactivate(s.ring, LONG));
    for (uint32_t i = 0; i < 256; ++i) // its reply lane's size
        must(send_value(s.port, s.to, i, LONG));
    wait_until_is(&h.count, 256);
    for (uint32_t i = 256; i < 400; ++i)
        must(send_value(s.port, s.to, i, LONG)); // accepted, and wait for room
    uint32_t value;
    for (uint32_t i = 0; i < 1000; ++i) {
        must(send_value(reads, s.to, i, LONG));
        must(receive_value(reads, &value, LONG));
        assert_int_equal(value, i);
    }
    assert_int_equal(stats_when_pending(s.ring, 144).pending, 144);
    for (uint32_t i = 0; i < 400; ++i) {
        must(receive_value(s.port, &value, LONG));
        assert_int_equal(value, i);
    }
    slr_port_close(reads);
    tear_down(&s);
}

// The reader makes room for the next message's 50 replies with the last that it receives, while the shard sleeps for
// want of room; then it waits for credit, and nobody else could tell the shard.
static void room_made_for_replies_lets_the_same_ports_send_go_on(void **state)
{
    (void)state;
    for (uint32_t round = 0; round < 3; ++round) {
        slr_ring_desc desc = describe("room", 50, 8); // 64 reply slots
        struct setup s = set_up(&desc);
        must(slr_ring_reactivate(s.ring, LONG));
        for (uint32_t i = 0; i < 9; ++i) // the first is handled, eight fill the mailbox
            must(send_value(s.port, s.to, i, LONG));
        gives(send_value(s.port, s.to, 9, 0), FULL);
        uint32_t value;
        for (uint32_t i = 0; i < 33; ++i)
            must(receive_value(s.port, &value, LONG));
        slri_sleep_ns(MS); // it was woken at 32
        wait_until_is(&s.ring->shard[0].asleep, SLRI_ASLEEP_BLOCKED);
        for (uint32_t i = 33; i < 50; ++i)
            must(receive_value(s.port, &value, LONG));
        must(send_value(s.port, s.to, 9, LONG));
        for (uint32_t i = 0; i < 9 * 50; ++i)
            must(receive_value(s.port, &value, LONG));
        assert_int_equal(value, 9);
        tear_down(&s);
    }
}

// ---- state --------------------------------------------------------------------------------------------------------

static slr_status count_up(void *user, const slr_delivery *delivery)
{
    uint32_t *count = delivery->state;
    (void)user;
    ++*count;
    return slr_reply_to(delivery, count, 4);
}

static void each_instance_has_its_own_state_from_the_initial_one(void **state)
{
    (void)state;
    slr_ring_desc desc = describe("state", 1, 0);
    uint32_t first = 1000, value = 0;
    desc.on_message = count_up;
    desc.message_bytes = desc.reply_bytes = desc.state_bytes = 4;
    desc.initial_state = &first;
    desc.instances = 1000;
    struct setup s = set_up(&desc);
    first = 5; // it was copied
    must(slr_ring_reactivate(s.ring, LONG));
    for (uint32_t round = 1; round < 4; ++round)
        for (s.to.instance = 0; s.to.instance < 1000; ++s.to.instance) {
            must(slr_call(s.port, s.to, &value, 4, &value, 4, LONG));
            assert_int_equal(value, 1000 + round);
        }
    tear_down(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(preloaded_messages_come_out_highest_priority_first_then_as_sent),
        cmocka_unit_test(priorities_are_strict_over_ports_and_their_ends),
        cmocka_unit_test(order_is_kept_for_each_port_instance_and_priority),
        cmocka_unit_test(ports_of_equal_priority_take_turns),
        cmocka_unit_test(full_mailbox_rejects_the_third_of_two_and_keeps_what_it_has),
        cmocka_unit_test(capacity_is_exactly_what_was_asked),
        cmocka_unit_test(blocked_send_ends_at_its_deadline_without_exceeding_the_capacity),
        cmocka_unit_test(two_producers_of_200_get_all_through_capacity_1),
        cmocka_unit_test(send_of_wrong_size_instance_or_priority_says_what_was_expected),
        cmocka_unit_test(port_of_another_device_is_refused),
        cmocka_unit_test(batch_goes_to_its_instances_in_order_and_says_how_far_it_got),
        cmocka_unit_test(reply_names_sender_correlation_priority_and_time),
        cmocka_unit_test(message_may_cause_up_to_max_replies),
        cmocka_unit_test(handler_without_replies_is_told_so),
        cmocka_unit_test(full_reply_lane_holds_up_its_own_port_alone),
        cmocka_unit_test(room_made_for_replies_lets_the_same_ports_send_go_on),
        cmocka_unit_test(each_instance_has_its_own_state_from_the_initial_one),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
