// SPDX-License-Identifier: Apache-2.0
// For the tests of keyed instances: a ring kernel that notes what came to each key, and senders.
#ifndef SLRI_TESTS_RING_KEYS_TEST_H
#define SLRI_TESTS_RING_KEYS_TEST_H

#include "tests/ring/ring_test.h"

enum { KEYS = 1000 };

// The state of every handler below: what came, in order.
struct seen {
    uint64_t key;
    uint32_t count, last;
};

struct keyed_message {
    uint64_t key;
    uint32_t value, port;
};

// What a handler found wrong, and what an eviction handed out.
struct watch {
    uint32_t held, mixed, disordered, handled;
    uint32_t evictions;
    bool silent; // replies nothing
    struct seen evicted[KEYS];
    slr_key evicted_key[KEYS];
    char evicted_text[KEYS][64];
};

static inline slr_status watch_message(void *user, const slr_delivery *delivery)
{
    struct watch *w = user;
    const struct keyed_message *m = delivery->message;
    struct seen *seen = delivery->state;
    while (__atomic_load_n(&w->held, __ATOMIC_ACQUIRE))
        slri_sleep_ns(100000);
    if (seen->count != 0 && seen->key != m->key)
        __atomic_fetch_add(&w->mixed, 1, __ATOMIC_RELAXED);
    if (m->value < seen->last)
        __atomic_fetch_add(&w->disordered, 1, __ATOMIC_RELAXED);
    seen->key = m->key;
    seen->last = m->value;
    seen->count++;
    __atomic_fetch_add(&w->handled, 1, __ATOMIC_RELEASE);
    return w->silent ? SLR_OK : slr_reply_to(delivery, seen, sizeof *seen);
}

static inline void watch_eviction(void *user, const slr_key *key, const void *state, size_t bytes)
{
    struct watch *w = user;
    assert_int_equal(bytes, sizeof(struct seen));
    uint32_t k = __atomic_fetch_add(&w->evictions, 1, __ATOMIC_RELAXED);
    if (k >= KEYS)
        return;
    memcpy(&w->evicted[k], state, bytes);
    w->evicted_key[k] = *key;
    if (key->text) {
        assert_true(key->bytes < sizeof w->evicted_text[k]);
        memcpy(w->evicted_text[k], key->text, key->bytes);
        w->evicted_text[k][key->bytes] = '\0';
    }
}

static inline slr_ring_desc describe_keyed(struct watch *w, uint32_t instances)
{
    slr_ring_desc desc = SLR_RING_DESC_INIT;
    desc.name = "keyed";
    desc.on_message = watch_message;
    desc.user = w;
    desc.message_bytes = sizeof(struct keyed_message);
    desc.state_bytes = desc.reply_bytes = sizeof(struct seen);
    desc.keys = SLR_KEYS_U64;
    desc.instances = instances;
    return desc;
}

static inline slr_ring_desc describe_evicting(struct watch *w, uint32_t instances)
{
    slr_ring_desc desc = describe_keyed(w, instances);
    desc.key_limit = SLR_KEY_LIMIT_EVICT_IDLE;
    desc.on_evicted = watch_eviction;
    desc.evicted_user = w;
    return desc;
}

static inline slr_status send_keyed(slr_port *port, slr_address to, uint64_t key, uint32_t value, uint64_t timeout_ns)
{
    struct keyed_message m = {.key = key, .value = value};
    return slr_send_key(port, to, slr_key_u64(key), &m, sizeof m, NULL, timeout_ns);
}

static inline struct seen call_keyed(slr_port *port, slr_address to, uint64_t key, uint32_t value)
{
    struct keyed_message m = {.key = key, .value = value};
    struct seen seen = {0};
    must(slr_call_key(port, to, slr_key_u64(key), &m, sizeof m, &seen, sizeof seen, LONG));
    return seen;
}

static inline struct seen call_text(slr_port *port, slr_address to, const char *text, uint32_t value)
{
    struct keyed_message m = {.key = text[0], .value = value};
    struct seen seen = {0};
    must(slr_call_key(port, to, slr_key_text(text, strlen(text)), &m, sizeof m, &seen, sizeof seen, LONG));
    return seen;
}

// A device with one keyed ring kernel and one port, to each test.
struct scene {
    slr_device *device;
    slr_ring *ring;
    slr_port *port;
    slr_address to;
};

static inline struct scene open_scene(const slr_ring_desc *desc)
{
    struct scene s = {.device = open_device("cpu?threads=2")};
    s.ring = start_ring(s.device, desc);
    s.port = open_port(s.device);
    s.to = address_of(s.ring, 0);
    return s;
}

static inline void close_scene(struct scene *s)
{
    slr_port_close(s->port);
    slr_ring_destroy(s->ring);
    slr_device_close(s->device);
}

static inline void drain(slr_port *port)
{
    slr_reply reply;
    struct seen seen;
    while (slr_receive(port, &reply, &seen, sizeof seen, 0) == SLR_OK)
        ;
}

// Its replies have little room.
static inline void drain_until_handled(const struct scene *s, const struct watch *w, uint32_t handled)
{
    for (uint64_t deadline = slri_deadline_after(LONG); __atomic_load_n(&w->handled, __ATOMIC_ACQUIRE) != handled;) {
        if (slri_passed(deadline))
            fail_msg("%u of %u handled after 60 s", w->handled, handled);
        drain(s->port);
        slri_sleep_ns(100000);
    }
}

enum { PORTS = 4, EACH = 20000, FEW = 200 };

struct sender {
    slri_thread thread;
    struct scene *scene;
    uint32_t number, keys, batch, each;
};

// Messages to pseudo-random keys, in the same order from every port, so that ports meet at new keys.
static inline void send_to_keys(void *arg)
{
    struct sender *s = arg;
    slr_port *port = open_port(s->scene->device);
    uint64_t random = 88172645463325252u;
    for (uint32_t i = 0; i < s->each; i += s->batch) {
        struct keyed_message m[32];
        slr_key keys[32];
        for (uint32_t k = 0; k < s->batch; ++k) {
            random ^= random << 13, random ^= random >> 7, random ^= random << 17;
            keys[k] = slr_key_u64(random % s->keys);
            m[k] = (struct keyed_message){.key = keys[k].number, .port = s->number};
        }
        must(slr_send_many_keys(port, s->scene->to, keys, m, sizeof *m, s->batch, LONG, NULL));
        drain(port);
    }
    slr_port_close(port);
}

static inline void send_from_all(struct scene *scene, uint32_t keys, uint32_t batch, uint32_t each)
{
    struct sender sender[PORTS];
    for (uint32_t i = 0; i < PORTS; ++i) {
        sender[i] = (struct sender){.scene = scene, .number = i, .keys = keys, .batch = batch, .each = each};
        start_thread(&sender[i].thread, send_to_keys, &sender[i]);
    }
    for (uint32_t i = 0; i < PORTS; ++i)
        slri_thread_join(&sender[i].thread);
}

#endif
