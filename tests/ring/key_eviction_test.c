// SPDX-License-Identifier: Apache-2.0
// Keyed instances beyond the limit: which key goes, what is handed out, and what never mixes.
#include "tests/ring/keys_test.h"

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

// A send that does not wait finds room only behind this. A credit that did not come back stays pending.
static void drain_until_none_is_pending(const struct scene *s)
{
    for (uint64_t deadline = slri_deadline_after(LONG), pending; (pending = stats_of(s->ring).pending) != 0;) {
        if (slri_passed(deadline))
            fail_msg("%llu messages still pending after 60 s", (unsigned long long)pending);
        drain(s->port);
        slri_sleep_ns(100000);
    }
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
            if (overflow == SLR_OVERFLOW_REJECT)
                drain_until_none_is_pending(&s);
            must(send_keyed(s.port, s.to, 9, 1, LONG)); // the credits that were claimed in vain are back
            drain_until_handled(&s, &w, 7);
            assert_int_equal(w.evictions, evicts);
            close_scene(&s);
        }
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
        cmocka_unit_test(eviction_takes_an_idle_key_and_hands_its_last_state_out),
        cmocka_unit_test(key_with_a_message_pending_is_never_evicted),
        cmocka_unit_test(more_new_keys_in_one_call_than_instances_are_sent_all_the_same),
        cmocka_unit_test(lately_used_key_is_passed_over),
        cmocka_unit_test(evicted_text_key_is_handed_out_whole),
        cmocka_unit_test(refused_send_makes_no_key_and_evicts_none),
        cmocka_unit_test(one_credit_and_one_instance_serve_all_ports),
        cmocka_unit_test(evictions_under_load_never_mix_two_keys),
        cmocka_unit_test(no_room_is_kept_while_the_program_takes_an_evicted_key),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
