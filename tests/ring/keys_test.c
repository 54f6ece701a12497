// SPDX-License-Identifier: Apache-2.0
// Keyed instances: a key's messages meet one state, in order; the limit; forgetting; many ports and many keys.
#include "tests/ring/keys_test.h"

static slr_status end_at_once(void *user, slr_context *context)
{
    (void)user, (void)context;
    return SLR_OK;
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(messages_of_a_key_meet_one_state_in_order),
        cmocka_unit_test(text_keys_are_told_apart_by_every_byte),
        cmocka_unit_test(send_many_keys_reaches_each_key_in_order),
        cmocka_unit_test(replies_name_an_instance_that_leads_back_to_the_key),
        cmocka_unit_test(key_beyond_the_limit_is_refused_by_name_and_the_others_go_on),
        cmocka_unit_test(forgotten_key_hands_its_state_out_and_begins_anew),
        cmocka_unit_test(key_with_a_message_pending_is_not_forgotten),
        cmocka_unit_test(refused_send_leaves_its_key_idle),
        cmocka_unit_test(run_of_new_keys_makes_those_that_it_sends_to),
        cmocka_unit_test(key_beyond_the_limit_does_not_wait_for_room),
        cmocka_unit_test(wrong_descriptions_and_keys_are_refused),
        cmocka_unit_test(ring_kernel_without_keys_refuses_them),
        cmocka_unit_test(ports_that_meet_at_a_new_key_get_one_instance),
        cmocka_unit_test(million_keys_have_an_instance_each_and_memory_follows_them),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
