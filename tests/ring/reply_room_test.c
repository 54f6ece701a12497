// SPDX-License-Identifier: Apache-2.0
// Reply lanes as short as the queue: a shard that sleeps for want of room goes on when its port has made some.
#include "tests/ring/ring_test.h"
#include "ring/ring.h"

static struct handler h;

static slr_ring *start(slr_device *device, uint32_t queue_size, uint32_t overflow)
{
    h = (struct handler){.replies = 1};
    slr_ring_desc desc = describe_ring("room", &h);
    desc.queue_size = queue_size;
    desc.overflow = overflow;
    return start_ring(device, &desc);
}

// Asks until the message is accepted.
static void push(slr_ring *ring, slr_port *port, uint32_t value)
{
    uint64_t deadline = slri_deadline_after(LONG);
    while (send_value(port, address_of(ring, 0), value, 0) != SLR_OK)
        holds(!slri_passed(deadline));
}

// Sends until the shard sleeps because nobody reads its replies, and the queue is full. Gives how many were accepted:
// what has its reply, and the queue.
static uint32_t block(slr_ring *ring, slr_port *port, uint32_t queue_size)
{
    uint32_t sent = 0;
    for (; sent < 2 * queue_size; ++sent)
        push(ring, port, sent);
    wait_handled(ring, queue_size);
    wait_until_is(&ring->shard[0].asleep, SLRI_ASLEEP_BLOCKED);
    gives(send_value(port, address_of(ring, 0), sent, 0), FULL);
    wait_until_is(&ring->shard[0].asleep, SLRI_ASLEEP_BLOCKED); // that refusal may have woken it for a look
    return sent;
}

static void expect(slr_port *port, uint32_t value, uint64_t timeout_ns)
{
    uint32_t got;
    must(receive_value(port, &got, timeout_ns));
    assert_int_equal(got, value);
}

static const uint32_t sizes[] = {1, 2, 4, 64};

static void reply_lane_is_as_long_as_the_queue(void **state)
{
    (void)state;
    slr_device *device = open_device("cpu");
    for (uint32_t i = 0; i < 4; ++i) {
        slr_ring *ring = start(device, sizes[i], SLR_OVERFLOW_BLOCK);
        assert_int_equal(ring->S[MB_REPLY_MASK] + 1, sizes[i]);
        slr_ring_destroy(ring);
    }
    slr_device_close(device);
}

// The port only receives, and never waits: what it has given back is told before the lane is empty.
static void blocked_shard_goes_on_when_half_of_its_lane_is_received(void **state)
{
    (void)state;
    slr_device *device = open_device("cpu");
    for (uint32_t i = 0; i < 4; ++i) {
        uint32_t n = sizes[i], half = n < 2 ? 1 : n / 2;
        slr_ring *ring = start(device, n, SLR_OVERFLOW_BLOCK);
        slr_port *port = open_port(device);
        uint32_t sent = block(ring, port, n);
        for (uint32_t k = 0; k < half; ++k)
            expect(port, k, 0);
        wait_handled(ring, n + half); // while this thread does nothing
        for (uint32_t k = half; k < sent; ++k)
            expect(port, k, LONG);
        slr_port_close(port);
        slr_ring_destroy(ring);
    }
    slr_device_close(device);
}

// One reply received is too few for a look; a send that finds the queue full looks.
static void blocked_shard_goes_on_when_its_port_waits_for_credit_or_asks_for_it(void **state)
{
    (void)state;
    slr_device *device = open_device("cpu");
    for (uint32_t i = 0; i < 8; ++i) {
        uint32_t n = sizes[i % 4];
        slr_ring *ring = start(device, n, i < 4 ? SLR_OVERFLOW_BLOCK : SLR_OVERFLOW_REJECT);
        slr_port *port = open_port(device);
        uint32_t sent = block(ring, port, n), received = 0;
        for (uint32_t turn = 0; turn < 3 * n; ++turn) {
            expect(port, received++, LONG);
            if (i < 4 && turn % 2)
                must(send_value(port, address_of(ring, 0), sent, LONG));
            else
                push(ring, port, sent);
            ++sent;
        }
        while (received < sent)
            expect(port, received++, LONG);
        slr_port_close(port);
        slr_ring_destroy(ring);
    }
    slr_device_close(device);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reply_lane_is_as_long_as_the_queue),
        cmocka_unit_test(blocked_shard_goes_on_when_half_of_its_lane_is_received),
        cmocka_unit_test(blocked_shard_goes_on_when_its_port_waits_for_credit_or_asks_for_it),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
