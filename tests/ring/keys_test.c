// SPDX-License-Identifier: Apache-2.0
// Keyed instances: a key's messages meet one state, in order; the limit; eviction; forgetting; many ports and many
// keys.
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

static slr_status watch_message(void *user, const slr_delivery *delivery)
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

static slr_status end_at_once(void *user, slr_context *context)
{
    (void)user, (void)context;
    return SLR_OK;
}

static void watch_eviction(void *user, const slr_key *key, const void *state, size_t bytes)
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

static slr_ring_desc describe_keyed(struct watch *w, uint32_t instances)
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

static slr_ring_desc describe_evicting(struct watch *w, uint32_t instances)
{
    slr_ring_desc desc = describe_keyed(w, instances);
    desc.key_limit = SLR_KEY_LIMIT_EVICT_IDLE;
    desc.on_evicted = watch_eviction;
    desc.evicted_user = w;
    return desc;
}

static slr_status send_keyed(slr_port *port, slr_address to, uint64_t key, uint32_t value, uint64_t timeout_ns)
{
    struct keyed_message m = {.key = key, .value = value};
    return slr_send_key(port, to, slr_key_u64(key), &m, sizeof m, NULL, timeout_ns);
}

static struct seen call_keyed(slr_port *port, slr_address to, uint64_t key, uint32_t value)
{
    struct keyed_message m = {.key = key, .value = value};
    struct seen seen = {0};
    must(slr_call_key(port, to, slr_key_u64(key), &m, sizeof m, &seen, sizeof seen, LONG));
    return seen;
}

static struct seen call_text(slr_port *port, slr_address to, const char *text, uint32_t value)
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

static struct scene open_scene(const slr_ring_desc *desc)
{
    struct scene s = {.device = open_device("cpu?threads=2")};
    s.ring = start_ring(s.device, desc);
    s.port = open_port(s.device);
    s.to = address_of(s.ring, 0);
    return s;
}

static void close_scene(struct scene *s)
{
    slr_port_close(s->port);
    slr_ring_destroy(s->ring);
    slr_device_close(s->device);
}

// ---- one key, one state -------------------------------------------------------------------------------------

static void messages_of_a_key_meet_one_state_in_order(void **state)
{
    (void)state;
    static struct watch w;
    w = (struct watch){0};
    slr_ring_desc desc = describe_keyed(&w, KEYS);
    struct scene s = open_scene(&desc);
    for (uint32_t round = 0; round < 3; ++round)
        for (uint64_t k = 0; k < KEYS; ++k) {
            struct seen seen = call_keyed(s.port, s.to, k << 40 | 7, round + 1);
            assert_int_equal(seen.count, round + 1);
        }
    assert_int_equal(w.mixed, 0);
    assert_int_equal(w.disordered, 0);
    assert_int_equal(stats_of(s.ring).keys, KEYS);
    close_scene(&s);
}

static void text_keys_are_told_apart_by_every_byte(void **state)
{
    (void)state;
    static struct watch w;
    w = (struct watch){0};
    slr_ring_desc desc = describe_keyed(&w, 8);
    desc.keys = SLR_KEYS_TEXT;
    struct scene s = open_scene(&desc);
    assert_int_equal(call_text(s.port, s.to, "patient", 1).count, 1);
    assert_int_equal(call_text(s.port, s.to, "patienT", 1).count, 1);
    assert_int_equal(call_text(s.port, s.to, "patient-17", 1).count, 1);
    assert_int_equal(call_text(s.port, s.to, "patient", 2).count, 2);
    struct keyed_message m = {0};
    must(slr_send_key(s.port, s.to, slr_key_text("", 0), &m, sizeof m, NULL, LONG));
    assert_int_equal(stats_of(s.ring).keys, 4);
    uint32_t instance;
    slr_key key;
    char text[16];
    must(slr_ring_find_key(s.ring, slr_key_text("patient-17", 10), &instance));
    must(slr_ring_get_key(s.ring, instance, &key, text, sizeof text));
    assert_int_equal(key.bytes, 10);
    assert_memory_equal(key.text, "patient-17", 10);
    assert_ptr_equal(key.text, text);
    refuses(slr_ring_get_key(s.ring, instance, &key, text, 9), INVALID, "has 10 B; the buffer has 9 B");
    refuses(slr_ring_find_key(s.ring, slr_key_text("patien", 6), &instance), NOT_FOUND, "'keyed'");
    close_scene(&s);
}

static void send_many_keys_reaches_each_key_in_order(void **state)
{
    (void)state;
    enum { COUNT = 5000 };
    static struct watch w;
    w = (struct watch){0};
    static struct keyed_message m[COUNT];
    static slr_key keys[COUNT];
    for (uint32_t i = 0; i < COUNT; ++i) {
        keys[i] = slr_key_u64(i * 7919u % 113);
        m[i] = (struct keyed_message){.key = keys[i].number, .value = i};
    }
    slr_ring_desc desc = describe_keyed(&w, 113);
    desc.max_replies = 1;
    struct scene s = open_scene(&desc);
    uint32_t accepted = 0;
    must(slr_send_many_keys(s.port, s.to, keys, m, sizeof *m, 4000, LONG, &accepted)); // below the reply lane's size
    assert_int_equal(accepted, 4000);
    wait_until_is(&w.handled, 4000);
    assert_int_equal(w.mixed, 0);
    assert_int_equal(w.disordered, 0);
    assert_int_equal(stats_of(s.ring).keys, 113);
    close_scene(&s);
}

static void replies_name_an_instance_that_leads_back_to_the_key(void **state)
{
    (void)state;
    static struct watch w;
    w = (struct watch){0};
    slr_ring_desc desc = describe_keyed(&w, KEYS);
    struct scene s = open_scene(&desc);
    for (uint64_t k = 100; k < 120; ++k) {
        must(send_keyed(s.port, s.to, k, 1, LONG));
        slr_reply reply;
        struct seen seen;
        slr_key key;
        must(slr_receive(s.port, &reply, &seen, sizeof seen, LONG));
        must(slr_ring_get_key(s.ring, reply.from.instance, &key, NULL, 0));
        assert_int_equal(key.number, k);
    }
    slr_key key;
    refuses(slr_ring_get_key(s.ring, 999, &key, NULL, 0), NOT_FOUND, "instance 999 has no key");
    refuses(slr_ring_get_key(s.ring, KEYS, &key, NULL, 0), INVALID, "0 to 999");
    close_scene(&s);
}

// ---- the limit ----------------------------------------------------------------------------------------------

static void key_beyond_the_limit_is_refused_by_name_and_the_others_go_on(void **state)
{
    (void)state;
    static struct watch w;
    w = (struct watch){0};
    slr_ring_desc desc = describe_keyed(&w, 3);
    struct scene s = open_scene(&desc);
    for (uint64_t k = 0; k < 3; ++k)
        call_keyed(s.port, s.to, k, 1);
    refuses(send_keyed(s.port, s.to, 4711, 1, LONG), FULL, "key 4711 needs a new instance, but all 3 are in use");
    assert_int_equal(call_keyed(s.port, s.to, 2, 2).count, 2);
    struct keyed_message m[4] = {{.key = 1}, {.key = 0}, {.key = 99}, {.key = 2}};
    slr_key keys[4];
    for (uint32_t i = 0; i < 4; ++i) {
        keys[i] = slr_key_u64(m[i].key);
        m[i].value = 5;
    }
    uint32_t accepted = 9;
    refuses(slr_send_many_keys(s.port, s.to, keys, m, sizeof *m, 4, LONG, &accepted), FULL, "key 99");
    assert_int_equal(accepted, 2);
    slr_ring_stats stats = stats_of(s.ring);
    assert_int_equal(stats.keys, 3);
    assert_int_equal(stats.accepted, 6);
    assert_int_equal(stats.refused, 2);
    close_scene(&s);
}

static void eviction_takes_an_idle_key_and_hands_its_last_state_out(void **state)
{
    (void)state;
    static struct watch w;
    w = (struct watch){0};
    slr_ring_desc desc = describe_evicting(&w, 2);
    struct scene s = open_scene(&desc);
    call_keyed(s.port, s.to, 1, 10);
    call_keyed(s.port, s.to, 2, 20);
    call_keyed(s.port, s.to, 2, 21);
    assert_int_equal(call_keyed(s.port, s.to, 3, 30).count, 1); // the initial state again
    assert_int_equal(w.evictions, 1);
    uint64_t gone = w.evicted_key[0].number;
    assert_true(gone == 1 || gone == 2);
    assert_int_equal(w.evicted[0].key, gone);
    assert_int_equal(w.evicted[0].count, gone);
    assert_int_equal(w.evicted[0].last, gone == 1 ? 10 : 21);
    assert_int_equal(call_keyed(s.port, s.to, 3, 31).count, 2);
    assert_int_equal(call_keyed(s.port, s.to, gone, 40).count, 1); // it comes back from the beginning
    slr_ring_stats stats = stats_of(s.ring);
    assert_int_equal(stats.keys, 2);
    assert_int_equal(stats.evicted, 2);
    close_scene(&s);
}

static void key_with_a_message_pending_is_never_evicted(void **state)
{
    (void)state;
    static struct watch w;
    w = (struct watch){.held = 1};
    slr_ring_desc desc = describe_evicting(&w, 2);
    struct scene s = open_scene(&desc);
    must(send_keyed(s.port, s.to, 1, 1, LONG));
    must(send_keyed(s.port, s.to, 2, 1, LONG));
    refuses(send_keyed(s.port, s.to, 3, 1, 0), FULL, "key 3: none of its 2 instances is idle");
    refuses(send_keyed(s.port, s.to, 3, 1, 20 * MS), TIMEOUT, "key 3");
    assert_int_equal(w.evictions, 0);
    hold((struct handler *)&w, 0);              // `held` is the first word of both
    must(send_keyed(s.port, s.to, 3, 1, LONG)); // waits until one is
    assert_int_equal(w.evictions, 1);
    assert_int_equal(w.evicted[0].count, 1);
    wait_until_is(&w.handled, 3);
    assert_int_equal(w.mixed, 0);
    close_scene(&s);
}

static void more_new_keys_in_one_call_than_instances_are_sent_all_the_same(void **state)
{
    (void)state;
    enum { COUNT = 500 };
    static struct watch w;
    w = (struct watch){0};
    slr_ring_desc desc = describe_evicting(&w, 5);
    struct scene s = open_scene(&desc);
    struct keyed_message m[COUNT];
    slr_key keys[COUNT];
    for (uint32_t i = 0; i < COUNT; ++i) {
        keys[i] = slr_key_u64(i);
        m[i] = (struct keyed_message){.key = i, .value = i};
    }
    must(slr_send_many_keys(s.port, s.to, keys, m, sizeof *m, COUNT, LONG, NULL));
    wait_until_is(&w.handled, COUNT);
    assert_int_equal(w.evictions, COUNT - 5);
    for (uint32_t i = 0; i < w.evictions; ++i) {
        assert_int_equal(w.evicted[i].count, 1);
        assert_int_equal(w.evicted[i].key, w.evicted_key[i].number);
    }
    assert_int_equal(w.mixed, 0);
    close_scene(&s);
}

static void lately_used_key_is_passed_over(void **state)
{
    (void)state;
    static struct watch w;
    w = (struct watch){0};
    slr_ring_desc desc = describe_evicting(&w, 4);
    struct scene s = open_scene(&desc);
    for (uint64_t k = 0; k < 5; ++k) // the fifth sets the clock going: it takes 0's instance
        call_keyed(s.port, s.to, k, 1);
    assert_int_equal(w.evicted_key[0].number, 0);
    call_keyed(s.port, s.to, 1, 2); // next under the hand, but used since
    call_keyed(s.port, s.to, 5, 1);
    assert_int_equal(w.evicted_key[1].number, 2);
    close_scene(&s);
}

static void evicted_text_key_is_handed_out_whole(void **state)
{
    (void)state;
    static struct watch w;
    w = (struct watch){0};
    slr_ring_desc desc = describe_evicting(&w, 1);
    desc.keys = SLR_KEYS_TEXT;
    struct scene s = open_scene(&desc);
    call_text(s.port, s.to, "the first of all", 1);
    call_text(s.port, s.to, "another", 2);
    assert_int_equal(w.evictions, 1);
    assert_string_equal(w.evicted_text[0], "the first of all");
    assert_int_equal(call_text(s.port, s.to, "another", 3).count, 2);
    close_scene(&s);
}

// ---- forgetting and bringing back ---------------------------------------------------------------------------

static void forgotten_key_hands_its_state_out_and_begins_anew(void **state)
{
    (void)state;
    static struct watch w;
    w = (struct watch){0};
    const struct seen initial = {.count = 0, .last = 3};
    slr_ring_desc desc = describe_keyed(&w, 1);
    desc.initial_state = &initial;
    struct scene s = open_scene(&desc);
    assert_int_equal(call_keyed(s.port, s.to, 5, 4).count, 1);
    assert_int_equal(call_keyed(s.port, s.to, 5, 5).count, 2);
    struct seen seen = {0};
    refuses(slr_ring_forget_key(s.ring, slr_key_u64(5), &seen, 4, LONG), INVALID, "its states have 16 B");
    must(slr_ring_forget_key(s.ring, slr_key_u64(5), &seen, sizeof seen, LONG));
    assert_int_equal(seen.key, 5);
    assert_int_equal(seen.count, 2);
    assert_int_equal(stats_of(s.ring).keys, 0);
    refuses(slr_ring_forget_key(s.ring, slr_key_u64(5), NULL, 0, LONG), NOT_FOUND, "no key 5");
    assert_int_equal(call_keyed(s.port, s.to, 6, 4).count, 1); // in the same instance, the only one
    must(slr_ring_forget_key(s.ring, slr_key_u64(6), NULL, 0, LONG));
    must(slr_ring_add_key(s.ring, slr_key_u64(5), &seen, sizeof seen, 0, NULL));
    assert_int_equal(call_keyed(s.port, s.to, 5, 6).count, 3);
    refuses(slr_ring_add_key(s.ring, slr_key_u64(5), NULL, 0, 0, NULL), WRONG_STATE, "key 5 has instance 0 already");
    assert_int_equal(w.disordered, 0);
    close_scene(&s);
}

static void key_with_a_message_pending_is_not_forgotten(void **state)
{
    (void)state;
    static struct watch w;
    w = (struct watch){.held = 1};
    slr_ring_desc desc = describe_keyed(&w, 1);
    struct scene s = open_scene(&desc);
    must(send_keyed(s.port, s.to, 5, 1, LONG));
    refuses(slr_ring_forget_key(s.ring, slr_key_u64(5), NULL, 0, 10 * MS), TIMEOUT,
            "messages of key 5 were still pending");
    hold((struct handler *)&w, 0);
    must(slr_ring_forget_key(s.ring, slr_key_u64(5), NULL, 0, LONG));
    assert_int_equal(w.handled, 1);
    close_scene(&s);
}

static void refused_send_leaves_its_key_idle(void **state)
{
    (void)state;
    static struct watch w;
    w = (struct watch){0};
    slr_ring_desc desc = describe_keyed(&w, 4);
    desc.queue_size = 1;
    struct scene s = open_scene(&desc);
    must(slr_ring_add_key(s.ring, slr_key_u64(2), NULL, 0, 0, NULL));
    must(slr_ring_deactivate(s.ring, LONG));
    must(send_keyed(s.port, s.to, 1, 1, 0));
    gives(send_keyed(s.port, s.to, 2, 1, 0), FULL);
    struct keyed_message m = {0};
    refuses(slr_send_key(s.port, s.to, slr_key_u64(2), &m, 4, NULL, 0), INVALID, "4 B were sent");
    gives(slr_call_key(s.port, s.to, slr_key_u64(2), &m, sizeof m, &(struct seen){0}, sizeof(struct seen), 0), FULL);
    gives(slr_send_many_keys(s.port, s.to, &(slr_key){.number = 2}, &m, sizeof m, 1, 0, NULL), FULL);
    must(slr_ring_forget_key(s.ring, slr_key_u64(2), NULL, 0, 0));
    gives(slr_ring_forget_key(s.ring, slr_key_u64(1), NULL, 0, 0), TIMEOUT);
    close_scene(&s);
}

static void drain(slr_port *port)
{
    slr_reply reply;
    struct seen seen;
    while (slr_receive(port, &reply, &seen, sizeof seen, 0) == SLR_OK)
        ;
}

// Its replies have little room.
static void drain_until_handled(const struct scene *s, const struct watch *w, uint32_t handled)
{
    for (uint64_t deadline = slri_deadline_after(LONG); __atomic_load_n(&w->handled, __ATOMIC_ACQUIRE) != handled;) {
        if (slri_passed(deadline))
            fail_msg("%u of %u handled after 60 s", w->handled, handled);
        drain(s->port);
        slri_sleep_ns(100000);
    }
}

// Sends to the new key 9, each of which is refused.
static void send_in_vain(const struct scene *s, uint32_t overflow)
{
    struct keyed_message m[3] = {{.key = 1}, {.key = 9}, {.key = 10}};
    slr_key keys[3] = {slr_key_u64(1), slr_key_u64(9), slr_key_u64(10)}, *new = &keys[1];
    slr_send_options priority = {.priority = 300};
    struct seen seen;
    uint32_t accepted;
    refuses(send_keyed(s->port, s->to, 9, 1, 0), FULL, "mailbox is full");
    if (overflow == SLR_OVERFLOW_BLOCK)
        refuses(send_keyed(s->port, s->to, 9, 1, MS), TIMEOUT, "mailbox was full");
    else
        gives(send_keyed(s->port, s->to, 9, 1, LONG), FULL);
    gives(slr_call_key(s->port, s->to, *new, m, sizeof *m, &seen, sizeof seen, 0), FULL);
    for (uint32_t first = 0; first < 2; ++first) { // behind a key that there is, and the first itself
        gives(slr_send_many_keys(s->port, s->to, &keys[first], m, sizeof *m, 2, 0, &accepted), FULL);
        assert_int_equal(accepted, 0);
    }
    gives(slr_send_key(s->port, s->to, *new, m, 4, NULL, 0), INVALID);
    gives(slr_send_key(s->port, s->to, *new, NULL, sizeof *m, NULL, 0), INVALID);
    gives(slr_send_key(s->port, s->to, *new, m, sizeof *m, &priority, 0), INVALID);
    gives(slr_call_key(s->port, s->to, *new, m, sizeof *m, &seen, 4, 0), INVALID);
}

static void refused_send_makes_no_key_and_evicts_none(void **state)
{
    (void)state;
    static struct watch w;
    for (uint32_t evicts = 0; evicts < 2; ++evicts)
        for (uint32_t overflow = SLR_OVERFLOW_BLOCK; overflow <= SLR_OVERFLOW_REJECT; ++overflow) {
            w = (struct watch){0};
            slr_ring_desc desc = evicts ? describe_evicting(&w, 4) : describe_keyed(&w, 5);
            desc.queue_size = 2;
            desc.overflow = overflow;
            struct scene s = open_scene(&desc);
            for (uint64_t k = 1; k <= 4; ++k)
                call_keyed(s.port, s.to, k, 1);
            must(slr_ring_deactivate(s.ring, LONG));
            must(send_keyed(s.port, s.to, 1, 2, 0));
            must(send_keyed(s.port, s.to, 1, 2, 0));
            send_in_vain(&s, overflow);
            slr_ring_stats stats = stats_of(s.ring);
            assert_int_equal(stats.accepted, 6);
            assert_int_equal(stats.refused, 5);
            assert_int_equal(stats.keys, 4);
            assert_int_equal(w.evictions, 0);
            must(slr_ring_reactivate(s.ring, LONG));
            must(send_keyed(s.port, s.to, 9, 1, LONG)); // the credits that were claimed in vain are back
            drain_until_handled(&s, &w, 7);
            assert_int_equal(w.evictions, evicts);
            close_scene(&s);
        }
}

// A run goes as far as there are credits; the new keys behind are not made.
static void run_of_new_keys_makes_those_that_it_sends_to(void **state)
{
    (void)state;
    static struct watch w;
    for (uint32_t known = 0; known < 3; ++known) {
        w = (struct watch){0};
        slr_ring_desc desc = describe_keyed(&w, 40);
        desc.queue_size = 2;
        struct scene s = open_scene(&desc);
        struct keyed_message m[6];
        slr_key keys[6];
        for (uint32_t i = 0; i < 6; ++i) {
            m[i] = (struct keyed_message){.key = i};
            keys[i] = slr_key_u64(i);
        }
        for (uint32_t i = 0; i < known; ++i)
            must(slr_ring_add_key(s.ring, keys[i], NULL, 0, 0, NULL));
        must(slr_ring_deactivate(s.ring, LONG));
        uint32_t accepted;
        gives(slr_send_many_keys(s.port, s.to, keys, m, sizeof *m, 6, 0, &accepted), FULL);
        assert_int_equal(accepted, 2);
        assert_int_equal(stats_of(s.ring).keys, 2);
        must(slr_ring_reactivate(s.ring, LONG));
        drain_until_handled(&s, &w, 2);
        for (uint32_t i = 2; i < 6; i += 2) {
            must(slr_send_many_keys(s.port, s.to, &keys[i], &m[i], sizeof *m, 2, LONG, &accepted));
            drain_until_handled(&s, &w, i + 2);
        }
        assert_int_equal(stats_of(s.ring).keys, 6);
        close_scene(&s);
    }
}

// The limit is told at once: who waits for room first would wait in vain.
static void key_beyond_the_limit_does_not_wait_for_room(void **state)
{
    (void)state;
    static struct watch w;
    w = (struct watch){0};
    slr_ring_desc desc = describe_keyed(&w, 1);
    desc.queue_size = 1;
    struct scene s = open_scene(&desc);
    must(slr_ring_deactivate(s.ring, LONG));
    must(send_keyed(s.port, s.to, 1, 1, 0));
    refuses(send_keyed(s.port, s.to, 2, 1, LONG), FULL, "key 2 needs a new instance, but all 1 are in use");
    assert_int_equal(stats_of(s.ring).refused, 1);
    close_scene(&s);
}

// ---- what is refused ----------------------------------------------------------------------------------------

static void wrong_descriptions_and_keys_are_refused(void **state)
{
    (void)state;
    static struct watch w;
    w = (struct watch){0};
    slr_device *device = open_device("cpu");
    slr_ring *ring;
    slr_ring_desc desc = describe_keyed(&w, 4);
    desc.keys = 3;
    refuses(slr_ring_create(device, &desc, &ring), INVALID, "keys (an slr_keys) is 3");
    desc.keys = 0;
    desc.key_limit = SLR_KEY_LIMIT_EVICT_IDLE;
    refuses(slr_ring_create(device, &desc, &ring), INVALID, "need slr_ring_desc.keys");
    desc.keys = SLR_KEYS_TEXT;
    desc.key_limit = 3;
    refuses(slr_ring_create(device, &desc, &ring), INVALID, "key_limit (an slr_key_limit) is 3");
    desc.key_limit = 0;
    desc.key_bytes = 4093;
    refuses(slr_ring_create(device, &desc, &ring), INVALID, "key_bytes is 4093");
    desc.key_bytes = 4;
    desc.on_evicted = watch_eviction;
    refuses(slr_ring_create(device, &desc, &ring), INVALID, "on_evicted needs key_limit");
    desc.on_evicted = NULL;
    desc.overflow = SLR_OVERFLOW_DROP_OLDEST;
    refuses(slr_ring_create(device, &desc, &ring), INVALID, "cannot drop messages");
    desc.overflow = 0;
    desc.on_evicted = NULL;
    slr_ring_desc loop = desc;
    loop.on_message = NULL;
    loop.main = end_at_once;
    refuses(slr_ring_create(device, &loop, &ring), INVALID, "a loop has instances by number");
    loop.keys = loop.key_bytes = 0;
    loop.overflow = SLR_OVERFLOW_DROP_LOWEST;
    refuses(slr_ring_create(device, &loop, &ring), INVALID, "a loop cannot drop messages");
    loop.overflow = 0;
    must(slr_ring_create(device, &loop, &ring));
    refuses(slr_ring_snapshot(ring, 0, &w, sizeof(struct seen), 0), UNSUPPORTED, "is a loop");
    slr_ring_destroy(ring);
    must(slr_ring_create(device, &desc, &ring));
    uint32_t instance;
    refuses(slr_ring_find_key(ring, slr_key_text("a", 1), &instance), WRONG_STATE, "is created");
    must(slr_ring_launch(ring));
    slr_port *port = open_port(device);
    slr_address to = address_of(ring, 0);
    struct keyed_message m = {0};
    refuses(slr_send_key(port, to, slr_key_u64(1), &m, sizeof m, NULL, 0), INVALID, "its keys are text");
    refuses(slr_send_key(port, to, slr_key_text("12345", 5), &m, sizeof m, NULL, 0), INVALID, "key_bytes is 4");
    refuses(slr_send(port, to, &m, sizeof m, 0), INVALID, "is keyed");
    refuses(slr_send_many(port, to, NULL, &m, sizeof m, 1, 0, NULL), INVALID, "is keyed");
    refuses(slr_send_key(NULL, to, slr_key_text("a", 1), &m, sizeof m, NULL, 0), INVALID, "port is NULL");
    must(slr_send_key(port, to, slr_key_text("1234", 4), &m, sizeof m, NULL, 0));
    slr_ring_destroy(ring);
    slr_port_close(port);
    slr_device_close(device);
}

static void ring_kernel_without_keys_refuses_them(void **state)
{
    (void)state;
    static struct handler h;
    h = (struct handler){0};
    slr_device *device = open_device("cpu");
    slr_ring_desc desc = describe_ring("plain", &h);
    slr_ring *ring = start_ring(device, &desc);
    slr_port *port = open_port(device);
    struct message m = {0};
    refuses(slr_send_key(port, address_of(ring, 0), slr_key_u64(1), &m, sizeof m, NULL, 0), INVALID,
            "'plain' has no keys");
    refuses(slr_ring_forget_key(ring, slr_key_u64(1), NULL, 0, 0), INVALID, "'plain' has no keys");
    slr_port_close(port);
    slr_ring_destroy(ring);
    slr_device_close(device);
}

// ---- many ports ---------------------------------------------------------------------------------------------

enum { PORTS = 4, EACH = 20000, FEW = 200 };

struct sender {
    slri_thread thread;
    struct scene *scene;
    uint32_t number, keys, batch, each;
};

// Messages to pseudo-random keys, in the same order from every port, so that ports meet at new keys.
static void send_to_keys(void *arg)
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

static void send_from_all(struct scene *scene, uint32_t keys, uint32_t batch, uint32_t each)
{
    struct sender sender[PORTS];
    for (uint32_t i = 0; i < PORTS; ++i) {
        sender[i] = (struct sender){.scene = scene, .number = i, .keys = keys, .batch = batch, .each = each};
        start_thread(&sender[i].thread, send_to_keys, &sender[i]);
    }
    for (uint32_t i = 0; i < PORTS; ++i)
        slri_thread_join(&sender[i].thread);
}

static void ports_that_meet_at_a_new_key_get_one_instance(void **state)
{
    (void)state;
    static struct watch w;
    w = (struct watch){0};
    slr_ring_desc desc = describe_keyed(&w, 30000);
    struct scene s = open_scene(&desc);
    send_from_all(&s, 30000, 1, EACH);
    wait_until_is(&w.handled, PORTS * EACH);
    assert_int_equal(w.mixed, 0);
    // Each key has one instance, and got what four equal streams hold of it.
    slr_ring_stats stats = stats_of(s.ring);
    uint64_t sum = 0;
    for (uint32_t i = 0; i < stats.keys; ++i) {
        struct seen seen;
        slr_key key;
        uint32_t found;
        must(slr_ring_snapshot(s.ring, i, &seen, sizeof seen, LONG));
        must(slr_ring_get_key(s.ring, i, &key, NULL, 0));
        must(slr_ring_find_key(s.ring, key, &found));
        assert_int_equal(found, i);
        assert_int_equal(seen.key, key.number);
        assert_int_equal(seen.count % PORTS, 0);
        sum += seen.count;
    }
    assert_int_equal(sum, PORTS * EACH);
    close_scene(&s);
}

// Keys come and go all the time: no message may meet another key's state, none may be lost.
static void evictions_under_load_never_mix_two_keys(void **state)
{
    (void)state;
    static struct watch w;
    w = (struct watch){0};
    slr_ring_desc desc = describe_evicting(&w, 300);
    desc.queue_size = 128;
    struct scene s = open_scene(&desc);
    send_from_all(&s, 600, 32, EACH);
    wait_until_is(&w.handled, PORTS * EACH);
    slr_ring_stats stats = stats_of(s.ring);
    assert_int_equal(w.mixed, 0);
    assert_int_equal(stats.keys, 300);
    assert_int_equal(stats.evicted, w.evictions);
    assert_true(w.evictions > 300);
    close_scene(&s);
}

// One credit and one instance, for which all wait in turn: who has the one must not wait for the other.
static void one_credit_and_one_instance_serve_all_ports(void **state)
{
    (void)state;
    static struct watch w;
    for (uint32_t batch = 1; batch <= 4; batch += 3) {
        w = (struct watch){.silent = true};
        slr_ring_desc desc = describe_evicting(&w, 1);
        desc.reply_bytes = 0; // nobody reads replies during a run
        desc.queue_size = 1;
        struct scene s = open_scene(&desc);
        send_from_all(&s, 5, batch, FEW);
        slr_ring_stats stats = stats_when_pending(s.ring, 0);
        assert_int_equal(stats.handled, PORTS * FEW);
        assert_int_equal(w.mixed, 0);
        assert_true(stats.keys + stats.evicted <= stats.accepted);
        close_scene(&s);
    }
}

// ---- many keys ----------------------------------------------------------------------------------------------

static uint64_t resident_bytes(void)
{
    unsigned long long pages = 0, resident = 0;
    FILE *file = fopen("/proc/self/statm", "r");
    if (file && fscanf(file, "%llu %llu", &pages, &resident) != 2)
        resident = 0;
    if (file)
        fclose(file);
    return resident * 4096;
}

static void million_keys_have_an_instance_each_and_memory_follows_them(void **state)
{
    (void)state;
    enum { MILLION = 1000000, BATCH = 1000 };
    static struct watch w;
    w = (struct watch){0};
    slr_ring_desc desc = describe_keyed(&w, 1u << 24);
    uint64_t before = resident_bytes();
    struct scene s = open_scene(&desc);
    uint64_t launched = resident_bytes();
    static struct keyed_message m[BATCH];
    static slr_key keys[BATCH];
    for (uint32_t i = 0; i < MILLION; i += BATCH) {
        for (uint32_t k = 0; k < BATCH; ++k) {
            keys[k] = slr_key_u64((uint64_t)(i + k) * 0x9e3779b97f4a7c15u);
            m[k] = (struct keyed_message){.key = keys[k].number, .value = i + k};
        }
        must(slr_send_many_keys(s.port, s.to, keys, m, sizeof *m, BATCH, LONG, NULL));
        drain(s.port);
    }
    wait_until_is(&w.handled, MILLION);
    uint64_t grown = resident_bytes() - before;
    assert_int_equal(stats_of(s.ring).keys, MILLION);
    assert_int_equal(w.mixed, 0);
    for (uint32_t i = 0; i < MILLION; i += 997) {
        struct seen seen;
        uint32_t instance;
        must(slr_ring_find_key(s.ring, slr_key_u64((uint64_t)i * 0x9e3779b97f4a7c15u), &instance));
        must(slr_ring_snapshot(s.ring, instance, &seen, sizeof seen, LONG));
        assert_int_equal(seen.last, i);
        assert_int_equal(seen.count, 1);
    }
    print_message("1,000,000 keys of 16,777,216: %.1f MiB when launched, %.1f B a key with a state of 16 B\n",
                  (double)(launched - before) / (1 << 20), (double)grown / MILLION);
    close_scene(&s);
}

struct evicting {
    slr_device *device;
    slr_ring *ring;
    uint32_t inside, leaves;
};

static void wait_in_evicted(void *user, const slr_key *key, const void *state, size_t bytes)
{
    struct evicting *e = user;
    (void)key, (void)state, (void)bytes;
    __atomic_store_n(&e->inside, 1, __ATOMIC_RELEASE);
    wait_until_is(&e->leaves, 1);
}

static void send_new_keys(void *user)
{
    struct evicting *e = user;
    struct keyed_message message[32] = {0};
    slr_key key[32];
    slr_port *port = open_port(e->device);
    for (uint32_t i = 0; i < 32; ++i) {
        message[i].key = 100 + i;
        key[i] = slr_key_u64(100 + i);
    }
    must(slr_send_many_keys(port, address_of(e->ring, 0), key, message, sizeof message[0], 32, LONG, NULL));
    slr_port_close(port);
}

// The whole mailbox would be theirs.
static void no_room_is_kept_while_the_program_takes_an_evicted_key(void **state)
{
    (void)state;
    static struct watch w;
    w = (struct watch){.silent = true};
    struct evicting e = {.device = open_device("cpu?threads=1")};
    slr_ring_desc desc = describe_keyed(&w, 8);
    desc.queue_size = 32;
    desc.key_limit = SLR_KEY_LIMIT_EVICT_IDLE;
    desc.on_evicted = wait_in_evicted;
    desc.evicted_user = &e;
    e.ring = start_ring(e.device, &desc);
    slr_port *port = open_port(e.device);
    for (uint32_t i = 0; i < 8; ++i) {
        const struct keyed_message message = {.key = i};
        must(slr_send_key(port, address_of(e.ring, 0), slr_key_u64(i), &message, sizeof message, NULL, LONG));
    }
    wait_handled(e.ring, 8);
    slri_thread thread;
    start_thread(&thread, send_new_keys, &e);
    wait_until_is(&e.inside, 1);
    for (uint32_t i = 0; i < 32; ++i) {
        const struct keyed_message message = {.key = 7};
        must(slr_send_key(port, address_of(e.ring, 0), slr_key_u64(7), &message, sizeof message, NULL, LONG));
    }
    wait_handled(e.ring, 40);
    __atomic_store_n(&e.leaves, 1, __ATOMIC_RELEASE);
    slri_thread_join(&thread);
    wait_handled(e.ring, 72);
    slr_port_close(port);
    slr_ring_destroy(e.ring);
    slr_device_close(e.device);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(messages_of_a_key_meet_one_state_in_order),
        cmocka_unit_test(text_keys_are_told_apart_by_every_byte),
        cmocka_unit_test(send_many_keys_reaches_each_key_in_order),
        cmocka_unit_test(replies_name_an_instance_that_leads_back_to_the_key),
        cmocka_unit_test(key_beyond_the_limit_is_refused_by_name_and_the_others_go_on),
        cmocka_unit_test(eviction_takes_an_idle_key_and_hands_its_last_state_out),
        cmocka_unit_test(key_with_a_message_pending_is_never_evicted),
        cmocka_unit_test(more_new_keys_in_one_call_than_instances_are_sent_all_the_same),
        cmocka_unit_test(lately_used_key_is_passed_over),
        cmocka_unit_test(evicted_text_key_is_handed_out_whole),
        cmocka_unit_test(forgotten_key_hands_its_state_out_and_begins_anew),
        cmocka_unit_test(key_with_a_message_pending_is_not_forgotten),
        cmocka_unit_test(refused_send_leaves_its_key_idle),
        cmocka_unit_test(refused_send_makes_no_key_and_evicts_none),
        cmocka_unit_test(run_of_new_keys_makes_those_that_it_sends_to),
        cmocka_unit_test(key_beyond_the_limit_does_not_wait_for_room),
        cmocka_unit_test(one_credit_and_one_instance_serve_all_ports),
        cmocka_unit_test(wrong_descriptions_and_keys_are_refused),
        cmocka_unit_test(ring_kernel_without_keys_refuses_them),
        cmocka_unit_test(ports_that_meet_at_a_new_key_get_one_instance),
        cmocka_unit_test(evictions_under_load_never_mix_two_keys),
        cmocka_unit_test(million_keys_have_an_instance_each_and_memory_follows_them),
        cmocka_unit_test(no_room_is_kept_while_the_program_takes_an_evicted_key),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
