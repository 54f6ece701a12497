// SPDX-License-Identifier: Apache-2.0
// What the tests of ring kernels share: a host handler that notes what it is given and can be held, and ring kernels
// made in a line.
#ifndef SLRI_TESTS_RING_RING_TEST_H
#define SLRI_TESTS_RING_RING_TEST_H

#include "base/thread.h"
#include "device/device_test.h"

// ---- a handler ----------------------------------------------------------------------------------------------------

enum { NOTES = 8192 };

struct message {
    uint32_t value, port;
};

// What the handler below does and has seen. `held`: it waits, once called, until that is 0 again.
struct handler {
    uint32_t held, inside;
    uint32_t begun, count; // messages begun, and noted
    struct message note[NOTES];
    uint32_t instance[NOTES];
    uint32_t replies;   // to each message: the message, again and again
    uint32_t fail_each; // every such message ends with an error; 0: none
};

static inline slr_status note_message(void *user, const slr_delivery *delivery)
{
    struct handler *h = user;
    __atomic_fetch_add(&h->inside, 1, __ATOMIC_ACQ_REL);
    while (__atomic_load_n(&h->held, __ATOMIC_ACQUIRE))
        slri_sleep_ns(100000);
    uint32_t k = __atomic_fetch_add(&h->begun, 1, __ATOMIC_RELAXED);
    if (k < NOTES) {
        memcpy(&h->note[k], delivery->message, sizeof h->note[k]);
        h->instance[k] = delivery->instance;
    }
    __atomic_fetch_add(&h->count, 1, __ATOMIC_RELEASE); // who reads it may read the notes
    if (delivery->state)
        ++*(uint32_t *)delivery->state;
    slr_status status = SLR_OK;
    for (uint32_t i = 0; i < h->replies && status == SLR_OK; ++i)
        status = slr_reply_to(delivery, delivery->message, delivery->bytes);
    __atomic_fetch_sub(&h->inside, 1, __ATOMIC_ACQ_REL);
    return h->fail_each && (k + 1) % h->fail_each == 0 ? SLR_INVALID : status;
}

static inline uint32_t noted(const struct handler *h)
{
    return __atomic_load_n(&h->count, __ATOMIC_ACQUIRE);
}

static inline void hold(struct handler *h, uint32_t held)
{
    __atomic_store_n(&h->held, held, __ATOMIC_RELEASE);
}

// Polls until the word is `value`; fails after LONG.
static inline void wait_until_is(const uint32_t *word, uint32_t value)
{
    for (uint64_t deadline = slri_deadline_after(LONG); __atomic_load_n(word, __ATOMIC_ACQUIRE) != value;) {
        if (slri_passed(deadline))
            fail_msg("%u instead of %u after 60 s", __atomic_load_n(word, __ATOMIC_ACQUIRE), value);
        slri_sleep_ns(100000);
    }
}

// ---- devices and ring kernels -------------------------------------------------------------------------------------

// A description of a ring kernel of the handler above. It replies where h->replies says so.
static inline slr_ring_desc describe_ring(const char *name, struct handler *h)
{
    slr_ring_desc desc = SLR_RING_DESC_INIT;
    desc.name = name;
    desc.on_message = note_message;
    desc.user = h;
    desc.message_bytes = sizeof(struct message);
    desc.reply_bytes = h->replies ? sizeof(struct message) : 0;
    desc.max_replies = h->replies;
    return desc;
}

static inline slr_ring *launch_ring(slr_device *device, const slr_ring_desc *desc)
{
    slr_ring *ring = NULL;
    must(slr_ring_create(device, desc, &ring));
    must(slr_ring_launch(ring));
    return ring;
}

static inline slr_ring *start_ring(slr_device *device, const slr_ring_desc *desc)
{
    slr_ring *ring = launch_ring(device, desc);
    must(slr_ring_activate(ring, LONG));
    return ring;
}

static inline slr_address address_of(const slr_ring *ring, uint32_t instance)
{
    slr_address address = {0};
    must(slr_ring_get_address(ring, instance, &address));
    return address;
}

static inline slr_port *open_port(slr_device *device)
{
    slr_port *port = NULL;
    must(slr_port_open(device, &port));
    return port;
}

static inline slr_status send_value(slr_port *port, slr_address to, uint32_t value, uint64_t timeout_ns)
{
    struct message message = {.value = value};
    return slr_send(port, to, &message, sizeof message, timeout_ns);
}

static inline slr_status send_at(slr_port *port, slr_address to, uint32_t value, uint32_t priority)
{
    struct message message = {.value = value};
    slr_send_options options = {.priority = SLR_PRIORITY(priority)};
    return slr_send_with(port, to, &message, sizeof message, &options, LONG);
}

static inline slr_status receive_value(slr_port *port, uint32_t *value, uint64_t timeout_ns)
{
    slr_reply reply;
    struct message message = {0};
    slr_status status = slr_receive(port, &reply, &message, sizeof message, timeout_ns);
    *value = message.value;
    return status == SLR_OK ? reply.status : status;
}

static inline slr_ring_stats stats_of(slr_ring *ring)
{
    slr_ring_stats stats;
    must(slr_ring_get_stats(ring, &stats));
    return stats;
}

// Counts are written behind the replies that they count, and before what they count is no longer pending: waits, at
// most 60 s, until so many are.
static inline slr_ring_stats stats_when_pending(slr_ring *ring, uint64_t pending)
{
    slr_ring_stats stats = stats_of(ring);
    for (uint64_t deadline = slri_deadline_after(LONG); stats.pending != pending && !slri_passed(deadline);) {
        slri_sleep_ns(100000);
        stats = stats_of(ring);
    }
    return stats;
}

static inline void wait_handled(slr_ring *ring, uint64_t handled)
{
    for (uint64_t deadline = slri_deadline_after(LONG); stats_of(ring).handled != handled;) {
        if (slri_passed(deadline))
            fail_msg("%llu of %llu handled after 60 s", (unsigned long long)stats_of(ring).handled,
                     (unsigned long long)handled);
        slri_sleep_ns(100000);
    }
}

static inline void check_sum(const slr_ring_stats *s)
{
    holds(s->accepted == s->handled + s->faulted + s->dropped + s->undelivered + s->in_doubt + s->pending);
}

static inline void start_thread(slri_thread *thread, void (*body)(void *), void *arg)
{
    must(slri_thread_start(thread, "test", body, arg));
}

#endif
