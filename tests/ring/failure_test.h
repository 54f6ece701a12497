// SPDX-License-Identifier: Apache-2.0
// A handler that can be made to fault, for the tests of failing, restarting and supervision.
#ifndef SLRI_TESTS_RING_FAILURE_TEST_H
#define SLRI_TESTS_RING_FAILURE_TEST_H

#include "tests/ring/ring_test.h"

#define POISON 0xdeadu // this value faults

// Notes what it handles, counts in its state and replies with the count; can be held like note_message.
struct counter {
    uint32_t held, inside, count;
    uint32_t value[NOTES];
};

static inline slr_status count_message(void *user, const slr_delivery *delivery)
{
    struct counter *c = user;
    uint32_t value = *(const uint32_t *)delivery->message, *state = delivery->state;
    __atomic_fetch_add(&c->inside, 1, __ATOMIC_ACQ_REL);
    while (__atomic_load_n(&c->held, __ATOMIC_ACQUIRE))
        slri_sleep_ns(100000);
    __atomic_fetch_sub(&c->inside, 1, __ATOMIC_ACQ_REL);
    if (value == POISON)
        return SLR_UNSUPPORTED;
    uint32_t k = __atomic_fetch_add(&c->count, 1, __ATOMIC_ACQ_REL);
    if (k < NOTES)
        c->value[k] = value;
    ++*state;
    return slr_reply_to(delivery, state, sizeof *state);
}

static inline slr_ring_desc describe_counter(const char *name, struct counter *c)
{
    slr_ring_desc desc = SLR_RING_DESC_INIT;
    desc.name = name;
    desc.on_message = count_message;
    desc.user = c;
    desc.message_bytes = desc.reply_bytes = desc.state_bytes = sizeof(uint32_t);
    return desc;
}

static inline slr_status send_word(slr_port *port, slr_address to, uint32_t value)
{
    return slr_send(port, to, &value, sizeof value, LONG);
}

static inline uint32_t call_word(slr_port *port, slr_address to, uint32_t value)
{
    uint32_t reply = 0;
    must(slr_call(port, to, &value, sizeof value, &reply, sizeof reply, LONG));
    return reply;
}

// Makes an active ring kernel with SLR_FAULT_FAIL fail.
static inline void poison(slr_ring *ring)
{
    uint32_t value = POISON, reply;
    uint64_t failures = stats_of(ring).failures;
    gives(slr_call(NULL, address_of(ring, 0), &value, sizeof value, &reply, sizeof reply, LONG), HANDLER_FAULT);
    for (uint64_t deadline = slri_deadline_after(LONG); stats_of(ring).failures == failures;) {
        if (slri_passed(deadline))
            fail_msg("it has not failed after 60 s");
        slri_sleep_ns(100000);
    }
}

#endif
