// SPDX-License-Identifier: Apache-2.0
// What the tests of routes share: stages that mark what passes them, senders, and waiting for both.
#ifndef SLRI_TESTS_RING_ROUTE_TEST_H
#define SLRI_TESTS_RING_ROUTE_TEST_H

#include "tests/ring/ring_test.h"

enum { COUNT = 2000 };

static const char *const devices[] = {"cpu?threads=2", "cpu?threads=1"};

// A stage: adds its own bit to `port`, replies so many times.
struct stage {
    uint32_t bit, replies, held, inside, count;
};

static inline slr_status work(void *user, const slr_delivery *delivery)
{
    struct stage *stage = user;
    __atomic_fetch_add(&stage->inside, 1, __ATOMIC_ACQ_REL);
    while (__atomic_load_n(&stage->held, __ATOMIC_ACQUIRE))
        slri_sleep_ns(100000);
    struct message message;
    memcpy(&message, delivery->message, sizeof message);
    message.port |= stage->bit;
    slr_status status = SLR_OK;
    for (uint32_t i = 0; i < stage->replies && status == SLR_OK; ++i)
        status = slr_reply_to(delivery, &message, sizeof message);
    __atomic_fetch_add(&stage->count, 1, __ATOMIC_ACQ_REL);
    __atomic_fetch_sub(&stage->inside, 1, __ATOMIC_ACQ_REL);
    return status;
}

static inline slr_ring_desc describe_stage(const char *name, struct stage *stage, uint32_t queue_size)
{
    slr_ring_desc desc = SLR_RING_DESC_INIT;
    desc.name = name;
    desc.on_message = work;
    desc.user = stage;
    desc.message_bytes = desc.reply_bytes = sizeof(struct message);
    desc.queue_size = queue_size;
    return desc;
}

static inline slr_ring *start_stage(slr_device *device, const char *name, struct stage *stage, uint32_t queue_size)
{
    slr_ring_desc desc = describe_stage(name, stage, queue_size);
    return start_ring(device, &desc);
}

static inline void receive_all_in_order(slr_port *port, uint32_t count, uint32_t bits)
{
    for (uint32_t i = 0; i < count; ++i) {
        struct message message = {0};
        slr_reply reply;
        must(slr_receive(port, &reply, &message, sizeof message, LONG));
        assert_int_equal(reply.status, SLR_OK);
        assert_int_equal(message.value, i);
        assert_int_equal(message.port, bits);
        assert_int_equal(reply.correlation, i + 1); // of the first message
    }
}

struct sender {
    slr_device *device;
    slr_address to;
    uint32_t count;
};

static inline void send_all(void *arg)
{
    struct sender *sender = arg;
    slr_port *port = open_port(sender->device);
    for (uint32_t i = 0; i < sender->count; ++i)
        must(send_value(port, sender->to, i, LONG));
    slr_port_close(port);
}

static inline void count_undelivered(void *user, const slr_undelivered *undelivered)
{
    (void)undelivered;
    ++*(uint32_t *)user;
}

#endif
