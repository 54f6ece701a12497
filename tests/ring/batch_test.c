// SPDX-License-Identifier: Apache-2.0
// Batches for handlers: how many messages a call gets, how long it waits for them, and what becomes of each.
#include "tests/ring/ring_test.h"

struct batches {
    uint32_t calls, messages;
    uint32_t count[4096]; // of each call
    uint32_t backwards;   // replies from the last message to the first
    slr_status returns;   // of each call
    uint32_t fail_value;  // this message faults; 0: none
    struct handler inner; // notes each message
};

static slr_status note_batch(void *user, const slr_delivery *deliveries, uint32_t count)
{
    struct batches *b = user;
    for (uint32_t k = 0; k < count; ++k) {
        const slr_delivery *d = &deliveries[b->backwards ? count - 1 - k : k];
        slr_status status = note_message(&b->inner, d);
        if (status != SLR_OK)
            return status;
        if (b->fail_value && ((const struct message *)d->message)->value == b->fail_value)
            slr_fail(d, SLR_NOT_FOUND);
    }
    uint32_t call = __atomic_fetch_add(&b->calls, 1, __ATOMIC_ACQ_REL);
    if (call < 4096)
        b->count[call] = count;
    __atomic_fetch_add(&b->messages, count, __ATOMIC_ACQ_REL);
    return b->returns;
}

static slr_ring_desc describe_batch(const char *name, struct batches *b)
{
    slr_ring_desc desc = describe_ring(name, &b->inner);
    desc.on_message = NULL;
    desc.on_batch = note_batch;
    desc.user = b;
    return desc;
}

static void expect_values(slr_port *port, const uint32_t *values, uint32_t count)
{
    for (uint32_t i = 0; i < count; ++i) {
        uint32_t value;
        must(receive_value(port, &value, LONG));
        assert_int_equal(value, values[i]);
    }
}

static void a_call_gets_all_that_waits_up_to_max_batch(void **state)
{
    (void)state;
    slr_device *device = open_device("cpu");
    static struct batches b;
    slr_ring_desc desc = describe_batch("most", &b);
    desc.max_batch = 5;
    slr_ring *ring = launch_ring(device, &desc);
    slr_port *port = open_port(device);
    for (uint32_t i = 0; i < 13; ++i)
        must(send_value(port, address_of(ring, 0), i, 0));
    must(slr_ring_activate(ring, LONG));
    wait_until_is(&b.messages, 13);
    assert_int_equal(b.calls, 3);
    assert_int_equal(b.count[0], 5);
    assert_int_equal(b.count[1], 5);
    assert_int_equal(b.count[2], 3);
    for (uint32_t i = 0; i < 13; ++i)
        assert_int_equal(b.inner.note[i].value, i);
    slr_port_close(port);
    slr_ring_destroy(ring);
    slr_device_close(device);
}

// More than one look at a sender takes: of two, of whom the second has sent less.
static void a_call_gets_up_to_128_messages(void **state)
{
    (void)state;
    slr_device *device = open_device("cpu");
    static struct batches b;
    b = (struct batches){.backwards = 1, .inner.replies = 1};
    slr_ring_desc desc = describe_batch("many", &b);
    desc.max_batch = 128;
    slr_ring *ring = launch_ring(device, &desc);
    slr_port *port[2] = {open_port(device), open_port(device)};
    for (uint32_t i = 0; i < 300; ++i)
        must(send_value(port[i >= 260], address_of(ring, 0), i, 0));
    must(slr_ring_activate(ring, LONG));
    wait_until_is(&b.messages, 300);
    assert_int_equal(b.calls, 3);
    assert_int_equal(b.count[0], 128);
    assert_int_equal(b.count[1], 128);
    assert_int_equal(b.count[2], 44);
    for (uint32_t i = 0; i < 300; ++i) {
        uint32_t value;
        must(receive_value(port[i >= 260], &value, LONG));
        assert_int_equal(value, i);
    }
    slr_ring_stats stats = stats_when_pending(ring, 0);
    assert_int_equal(stats.handled, 300);
    check_sum(&stats);
    for (int i = 0; i < 2; ++i)
        slr_port_close(port[i]);
    slr_ring_destroy(ring);
    slr_device_close(device);
}

// What one sender has sent counts whole: the batch is full, and no time passes.
static void a_batch_of_one_sender_fills_and_goes_at_once(void **state)
{
    (void)state;
    slr_device *device = open_device("cpu");
    static struct batches b;
    b = (struct batches){.calls = 0};
    slr_ring_desc desc = describe_batch("fills", &b);
    desc.max_batch = 100;
    desc.linger_ns = LONG;
    slr_ring *ring = start_ring(device, &desc);
    slr_port *port = open_port(device);
    for (uint32_t i = 0; i < 100; ++i)
        must(send_value(port, address_of(ring, 0), i, 0));
    wait_until_is(&b.messages, 100);
    assert_int_equal(b.calls, 1);
    assert_int_equal(b.count[0], 100);
    slr_port_close(port);
    slr_ring_destroy(ring);
    slr_device_close(device);
}

// A message of a higher priority that comes with others is handled before them, however large a batch may be.
static void a_large_batch_has_the_highest_priority_first(void **state)
{
    (void)state;
    slr_device *device = open_device("cpu");
    static struct batches b;
    b = (struct batches){.calls = 0};
    slr_ring_desc desc = describe_batch("mixed", &b);
    desc.max_batch = 128;
    slr_ring *ring = launch_ring(device, &desc);
    slr_port *port = open_port(device);
    for (uint32_t i = 0; i < 140; ++i)
        must(send_at(port, address_of(ring, 0), i, i == 70 ? 200 : 100));
    must(slr_ring_activate(ring, LONG));
    wait_until_is(&b.messages, 140);
    assert_int_equal(b.count[0], 128);
    assert_int_equal(b.count[1], 12);
    assert_int_equal(b.inner.note[0].value, 70);
    for (uint32_t i = 1; i < 140; ++i)
        assert_int_equal(b.inner.note[i].value, i <= 70 ? i - 1 : i);
    slr_port_close(port);
    slr_ring_destroy(ring);
    slr_device_close(device);
}

static void replies_stand_in_the_order_of_the_messages_however_they_were_made(void **state)
{
    (void)state;
    slr_device *device = open_device("cpu");
    static struct batches b;
    b = (struct batches){.backwards = 1, .inner.replies = 2};
    slr_ring_desc desc = describe_batch("replies", &b);
    slr_ring *ring = launch_ring(device, &desc);
    slr_port *port = open_port(device);
    for (uint32_t i = 0; i < 3; ++i)
        must(send_value(port, address_of(ring, 0), i, 0));
    must(slr_ring_activate(ring, LONG));
    expect_values(port, (const uint32_t[]){0, 0, 1, 1, 2, 2}, 6);
    assert_int_equal(b.inner.note[0].value, 2);
    slr_port_close(port);
    slr_ring_destroy(ring);
    slr_device_close(device);
}

static void one_message_of_a_batch_can_fault(void **state)
{
    (void)state;
    slr_device *device = open_device("cpu");
    static struct batches b;
    b = (struct batches){.fail_value = 2, .inner.replies = 1};
    slr_ring_desc desc = describe_batch("one", &b);
    desc.instances = 4;
    desc.state_bytes = 4;
    slr_ring *ring = launch_ring(device, &desc);
    slr_port *port = open_port(device);
    for (uint32_t i = 0; i < 4; ++i)
        must(send_value(port, address_of(ring, i), i, 0));
    must(slr_ring_activate(ring, LONG));
    uint32_t seen = 0;
    for (uint32_t i = 0; i < 4; ++i) {
        slr_reply reply;
        struct message message;
        must(slr_receive(port, &reply, &message, sizeof message, LONG));
        assert_int_equal(reply.status, reply.from.instance == 2 ? SLR_HANDLER_FAULT : SLR_OK);
        seen |= 1u << reply.from.instance;
    }
    assert_int_equal(seen, 15);
    slr_ring_stats stats = stats_when_pending(ring, 0);
    assert_int_equal(stats.handled, 3);
    assert_int_equal(stats.faulted, 1);
    check_sum(&stats);
    assert_string_equal(stats.last_fault, "instance 2: the host function returned an error: SLR_NOT_FOUND");
    slr_port_close(port);
    slr_ring_destroy(ring);
    slr_device_close(device);
}

static void an_error_faults_the_whole_batch(void **state)
{
    (void)state;
    slr_device *device = open_device("cpu");
    static struct batches b;
    b = (struct batches){.returns = SLR_INVALID, .inner.replies = 1};
    slr_ring_desc desc = describe_batch("whole", &b);
    slr_ring *ring = launch_ring(device, &desc);
    slr_port *port = open_port(device);
    for (uint32_t i = 0; i < 6; ++i)
        must(send_value(port, address_of(ring, 0), i, 0));
    must(slr_ring_activate(ring, LONG));
    uint32_t value;
    for (uint32_t i = 0; i < 6; ++i)
        gives(receive_value(port, &value, LONG), HANDLER_FAULT);
    assert_int_equal(stats_when_pending(ring, 0).faulted, 6);
    slr_port_close(port);
    slr_ring_destroy(ring);
    slr_device_close(device);
}

static slr_status fail_after_replying(void *user, const slr_delivery *delivery)
{
    (void)user;
    must(slr_reply_to(delivery, delivery->message, delivery->bytes));
    uint32_t value = ((const struct message *)delivery->message)->value;
    return value == 1 ? slr_fail(delivery, SLR_NOT_FOUND) : SLR_OK;
}

static void a_handler_of_single_messages_can_fail_them_too(void **state)
{
    (void)state;
    slr_device *device = open_device("cpu");
    struct handler h = {.replies = 1};
    slr_ring_desc desc = describe_ring("single", &h);
    desc.on_message = fail_after_replying;
    slr_ring *ring = start_ring(device, &desc);
    for (uint32_t i = 0; i < 3; ++i) {
        struct message message = {.value = i};
        slr_status status =
            slr_call(NULL, address_of(ring, 0), &message, sizeof message, &message, sizeof message, LONG);
        assert_int_equal(status, i == 1 ? SLR_HANDLER_FAULT : SLR_OK);
    }
    slr_ring_destroy(ring);
    slr_device_close(device);
}

// ---- lingering ------------------------------------------------------------------------------------------------------

static void a_batch_waits_until_it_is_full_and_then_goes_at_once(void **state)
{
    (void)state;
    slr_device *device = open_device("cpu");
    static struct batches b;
    slr_ring_desc desc = describe_batch("full", &b);
    desc.max_batch = 4;
    desc.linger_ns = LONG;
    slr_ring *ring = start_ring(device, &desc);
    slr_port *port = open_port(device);
    for (uint32_t round = 1; round <= 3; ++round) {
        for (uint32_t i = 0; i < 3; ++i)
            must(send_at(port, address_of(ring, 0), i, i)); // one after another, and mixed: by way of the pending set
        slri_sleep_ns(2 * MS);
        assert_int_equal(noted(&b.inner), 4 * (round - 1));
        must(send_at(port, address_of(ring, 0), 3, 3));
        wait_until_is(&b.messages, 4 * round); // long before LONG has passed: its own limit is the same
        assert_int_equal(b.count[round - 1], 4);
        assert_int_equal(b.inner.note[4 * (round - 1)].value, 3); // the highest priority of all that came meanwhile
    }
    slr_port_close(port);
    slr_ring_destroy(ring);
    slr_device_close(device);
}

static void a_batch_that_does_not_fill_goes_when_its_time_is_up(void **state)
{
    (void)state;
    slr_device *device = open_device("cpu");
    static struct batches b;
    slr_ring_desc desc = describe_batch("time", &b);
    desc.linger_ns = 3 * MS;
    slr_ring *ring = start_ring(device, &desc);
    slr_port *port = open_port(device);
    for (uint32_t i = 1; i <= 5; ++i) {
        uint64_t before = slri_now_ns();
        must(send_value(port, address_of(ring, 0), i, 0));
        wait_until_is(&b.messages, i);
        assert_true(slri_now_ns() - before >= 3 * MS);
        slri_sleep_ns(i * MS / 10); // asleep again, or not yet
    }
    assert_int_equal(b.calls, 5);
    slr_port_close(port);
    slr_ring_destroy(ring);
    slr_device_close(device);
}

static void lingering_keeps_no_other_ring_kernel_of_the_worker_waiting(void **state)
{
    (void)state;
    slr_device *device = open_device("cpu?threads=1");
    static struct batches b;
    slr_ring_desc desc = describe_batch("lingers", &b);
    desc.linger_ns = LONG;
    slr_ring *ring = start_ring(device, &desc);
    static struct handler h;
    h = (struct handler){.replies = 1};
    slr_ring_desc other_desc = describe_ring("works", &h);
    slr_ring *other = start_ring(device, &other_desc);
    must(send_value(NULL, address_of(ring, 0), 1, 0));
    for (uint32_t i = 0; i < 100; ++i) {
        struct message message = {.value = i};
        must(slr_call(NULL, address_of(other, 0), &message, sizeof message, &message, sizeof message, LONG / 4));
    }
    assert_int_equal(b.messages, 0);
    must(slr_ring_deactivate(ring, LONG)); // heard all the same
    must(slr_ring_reactivate(ring, LONG));
    must(slr_ring_close_input(ring)); // nothing more can come: it goes at once
    must(slr_ring_wait(ring, SLR_RING_TERMINATED, LONG / 4));
    assert_int_equal(b.messages, 1);
    slr_ring_destroy(ring);
    slr_ring_destroy(other);
    slr_device_close(device);
}

static const char sum_source[] = "struct message { unsigned value, port; };\n"
                                 "struct sum { unsigned value, port; };\n"
                                 "__ring__ void sum(struct sum *self, const struct message *in)\n"
                                 "{\n"
                                 "    self->value += in->value;\n"
                                 "    ring_reply(self);\n"
                                 "}\n";

static void a_kernel_handler_lingers_as_well(void **state)
{
    (void)state;
    slr_device *device = open_device("cpu?engine=interpreted");
    slr_program *program;
    must(slr_program_from_text(device, "sum.cu", sum_source, NULL, &program));
    slr_ring_desc desc = SLR_RING_DESC_INIT;
    desc.program = program;
    desc.max_batch = 2;
    desc.linger_ns = LONG;
    slr_ring *ring = start_ring(device, &desc);
    slr_port *port = open_port(device);
    must(send_value(port, address_of(ring, 0), 1, 0));
    uint32_t value;
    gives(receive_value(port, &value, 5 * MS), TIMEOUT);
    must(send_value(port, address_of(ring, 0), 2, 0));
    expect_values(port, (const uint32_t[]){1, 3}, 2);
    slr_port_close(port);
    slr_ring_destroy(ring);
    slr_program_destroy(program);
    slr_device_close(device);
}

static void max_batch_has_a_range(void **state)
{
    (void)state;
    slr_device *device = open_device("cpu");
    static struct batches b;
    slr_ring_desc desc = describe_batch("range", &b);
    desc.max_batch = 129;
    slr_ring *ring;
    refuses(slr_ring_create(device, &desc, &ring), INVALID, "max_batch is 129; expected 1 to 128");
    slr_device_close(device);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_call_gets_all_that_waits_up_to_max_batch),
        cmocka_unit_test(a_call_gets_up_to_128_messages),
        cmocka_unit_test(a_batch_of_one_sender_fills_and_goes_at_once),
        cmocka_unit_test(a_large_batch_has_the_highest_priority_first),
        cmocka_unit_test(replies_stand_in_the_order_of_the_messages_however_they_were_made),
        cmocka_unit_test(one_message_of_a_batch_can_fault),
        cmocka_unit_test(an_error_faults_the_whole_batch),
        cmocka_unit_test(a_handler_of_single_messages_can_fail_them_too),
        cmocka_unit_test(a_batch_waits_until_it_is_full_and_then_goes_at_once),
        cmocka_unit_test(a_batch_that_does_not_fill_goes_when_its_time_is_up),
        cmocka_unit_test(lingering_keeps_no_other_ring_kernel_of_the_worker_waiting),
        cmocka_unit_test(a_kernel_handler_lingers_as_well),
        cmocka_unit_test(max_batch_has_a_range),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
