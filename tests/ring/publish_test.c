// SPDX-License-Identifier: Apache-2.0
// Replies that are published after each message: what a handler that does not return leaves of its batch.
#include "tests/ring/ring_test.h"

#include <slipring/telemetry.h>

enum { STUCK = 6, FAULTS = 3, SENT = 10 };

static struct handler h;

// The message STUCK is held, FAULTS ends with an error, each other is answered.
static slr_status hold_one(void *user, const slr_delivery *delivery)
{
    struct message message;
    memcpy(&message, delivery->message, sizeof message);
    if (message.value == STUCK) {
        __atomic_fetch_add(&h.begun, 1, __ATOMIC_RELEASE);
        while (__atomic_load_n(&((struct handler *)user)->held, __ATOMIC_ACQUIRE))
            slri_sleep_ns(100000);
    }
    return message.value == FAULTS ? SLR_INVALID : slr_reply_to(delivery, &message, sizeof message);
}

static slr_ring_desc describe(void)
{
    h = (struct handler){.replies = 1, .held = 1};
    slr_ring_desc desc = describe_ring("stuck", &h);
    desc.on_message = hold_one;
    desc.latency_every = 1;
    return desc;
}

// All of them are in one batch: they are sent while the ring kernel is paused.
static slr_ring *start_stuck(slr_device *device, const slr_ring_desc *desc, slr_port *port)
{
    slr_ring *ring = start_ring(device, desc);
    must(slr_ring_deactivate(ring, LONG));
    for (uint32_t i = 0; i < SENT; ++i)
        must(send_value(port, address_of(ring, 0), i, LONG));
    must(slr_ring_reactivate(ring, LONG));
    wait_until_is(&h.begun, 1);
    return ring;
}

static void receive_from_to(slr_port *port, uint32_t first, uint32_t end)
{
    for (uint32_t i = first; i < end; ++i) {
        uint32_t value;
        assert_int_equal(receive_value(port, &value, LONG), i == FAULTS ? SLR_HANDLER_FAULT : SLR_OK);
        assert_true(i == FAULTS || value == i);
    }
}

static void replies_before_a_handler_that_stays_come_and_are_counted(void **state)
{
    (void)state;
    static const uint64_t timeouts[] = {0, 20 * SECOND}; // the second: with the copies of handler_timeout_ns
    for (int i = 0; i < 2; ++i) {
        slr_device *device = open_device("cpu?threads=1");
        slr_port *port = open_port(device);
        slr_ring_desc desc = describe();
        desc.publish_each = 1;
        desc.handler_timeout_ns = timeouts[i];
        slr_ring *ring = start_stuck(device, &desc, port);
        receive_from_to(port, 0, STUCK); // sleeps, and is woken by each
        slr_ring_stats stats = stats_of(ring);
        assert_int_equal(stats.handled, STUCK - 1);
        assert_int_equal(stats.faulted, 1);
        assert_int_equal(stats.replied, STUCK);
        assert_int_equal(stats.pending, SENT - STUCK);
        check_sum(&stats);
        hold(&h, 0);
        receive_from_to(port, STUCK, SENT);
        stats = stats_when_pending(ring, 0);
        assert_int_equal(stats.handled, SENT - 1);
        slr_latency latency;
        must(slr_ring_get_latency(ring, &latency));
        assert_int_equal(latency.count, SENT); // none twice
        slr_port_close(port);
        slr_ring_destroy(ring);
        slr_device_close(device);
    }
}

// Which shows that the test above can fail.
static void by_default_replies_come_with_their_batch(void **state)
{
    (void)state;
    slr_device *device = open_device("cpu?threads=1");
    slr_port *port = open_port(device);
    slr_ring_desc desc = describe();
    slr_ring *ring = start_stuck(device, &desc, port);
    uint32_t value;
    gives(receive_value(port, &value, 50 * MS), TIMEOUT);
    assert_int_equal(stats_of(ring).pending, SENT);
    hold(&h, 0);
    receive_from_to(port, 0, SENT);
    slr_port_close(port);
    slr_ring_destroy(ring);
    slr_device_close(device);
}

static slr_status no_batch(void *user, const slr_delivery *deliveries, uint32_t count)
{
    (void)user, (void)deliveries, (void)count;
    return SLR_OK;
}

static void other_values_and_handlers_of_batches_are_refused(void **state)
{
    (void)state;
    slr_device *device = open_device("cpu");
    slr_ring *ring;
    slr_ring_desc desc = describe();
    desc.publish_each = 2;
    refuses(slr_ring_create(device, &desc, &ring), INVALID, "publish_each is 2; expected 0 to 1");
    desc.publish_each = 1;
    desc.on_message = NULL;
    desc.on_batch = no_batch;
    refuses(slr_ring_create(device, &desc, &ring), INVALID, "publish_each needs a handler of one message per call");
    slr_device_close(device);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(replies_before_a_handler_that_stays_come_and_are_counted),
        cmocka_unit_test(by_default_replies_come_with_their_batch),
        cmocka_unit_test(other_values_and_handlers_of_batches_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
