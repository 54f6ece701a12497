// SPDX-License-Identifier: Apache-2.0
// Snapshots and restores of an instance's state, in every state of the ring kernel, and under load.
#include "tests/ring/ring_test.h"

// Two words that a handler keeps equal: a snapshot that tears a message apart sees them differ.
struct pair {
    uint32_t one, other;
};

// Holds a handler between the two words: `held` is 1 from outside, and 2 when one is there; 0 lets it go on.
static slr_status count_pair(void *user, const slr_delivery *delivery)
{
    uint32_t *held = user, one = 1;
    struct pair *pair = delivery->state;
    pair->one++;
    if (held)
        __atomic_compare_exchange_n(held, &one, 2, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE);
    while (held && __atomic_load_n(held, __ATOMIC_ACQUIRE))
        slri_sleep_ns(100000);
    pair->other++;
    return SLR_OK;
}

static slr_ring_desc describe_pairs(const struct pair *initial, uint32_t *held)
{
    slr_ring_desc desc = SLR_RING_DESC_INIT;
    desc.name = "pairs";
    desc.on_message = count_pair;
    desc.user = held;
    desc.message_bytes = sizeof(struct message);
    desc.state_bytes = sizeof(struct pair);
    desc.initial_state = initial;
    desc.instances = 8;
    return desc;
}

static struct pair snapshot(slr_ring *ring, uint32_t instance)
{
    struct pair pair = {0};
    must(slr_ring_snapshot(ring, instance, &pair, sizeof pair, LONG));
    return pair;
}

static void expect_pair(slr_ring *ring, uint32_t instance, uint32_t value)
{
    struct pair pair = snapshot(ring, instance);
    assert_int_equal(pair.one, value);
    assert_int_equal(pair.other, value);
}

static void restore(slr_ring *ring, uint32_t instance, uint32_t value)
{
    must(slr_ring_restore(ring, instance, &(struct pair){value, value}, sizeof(struct pair), LONG));
}

static void snapshot_and_restore_work_in_every_state_from_launched_on(void **state)
{
    (void)state;
    slr_device *device = open_device("cpu?threads=2");
    const struct pair initial = {7, 7};
    slr_ring_desc desc = describe_pairs(&initial, NULL);
    slr_ring *ring;
    struct pair pair;
    must(slr_ring_create(device, &desc, &ring));
    refuses(slr_ring_snapshot(ring, 0, &pair, sizeof pair, LONG), WRONG_STATE, "is created");
    must(slr_ring_launch(ring));
    expect_pair(ring, 3, 7);
    restore(ring, 3, 20);
    must(slr_ring_activate(ring, LONG));
    must(send_value(NULL, address_of(ring, 3), 0, LONG));
    wait_handled(ring, 1);
    expect_pair(ring, 3, 21);
    must(slr_ring_deactivate(ring, LONG));
    expect_pair(ring, 3, 21);
    restore(ring, 3, 30);
    must(slr_ring_reactivate(ring, LONG));
    must(send_value(NULL, address_of(ring, 3), 0, LONG));
    must(slr_ring_terminate(ring, LONG, NULL, NULL, NULL));
    expect_pair(ring, 3, 31); // the last state, still there
    must(slr_ring_restore(ring, 3, NULL, 0, LONG));
    expect_pair(ring, 3, 7);
    slr_ring_destroy(ring);
    slr_device_close(device);
}

static void wrong_state_calls_name_what_is_wrong(void **state)
{
    (void)state;
    slr_device *device = open_device("cpu");
    slr_ring_desc desc = describe_pairs(NULL, NULL);
    slr_ring *ring = start_ring(device, &desc);
    struct pair pair;
    refuses(slr_ring_snapshot(ring, 8, &pair, sizeof pair, LONG), INVALID, "0 to 7; slr_ring_snapshot was asked for 8");
    refuses(slr_ring_snapshot(ring, 0, &pair, 4, LONG), INVALID, "8 B, slr_ring_snapshot was given 4 B");
    refuses(slr_ring_restore(ring, 0, &pair, 4, LONG), INVALID, "8 B, slr_ring_restore was given 4 B");
    refuses(slr_ring_snapshot(ring, 0, NULL, sizeof pair, LONG), INVALID, "state is NULL");
    refuses(slr_ring_snapshot(NULL, 0, &pair, sizeof pair, LONG), INVALID, "ring is NULL");
    slr_ring_destroy(ring);
    slr_device_close(device);
}

static void snapshot_behind_a_long_handler_times_out_and_leaves_nothing_behind(void **state)
{
    (void)state;
    static uint32_t held;
    held = 1;
    slr_device *device = open_device("cpu?threads=1");
    slr_ring_desc desc = describe_pairs(NULL, &held);
    slr_ring *ring = start_ring(device, &desc);
    must(send_value(NULL, address_of(ring, 0), 0, LONG));
    struct pair pair = {55, 66};
    wait_until_is(&held, 2);
    refuses(slr_ring_snapshot(ring, 0, &pair, sizeof pair, 10 * MS), TIMEOUT, "instance 0: a handler is still running");
    assert_int_equal(pair.one, 55);
    __atomic_store_n(&held, 0, __ATOMIC_RELEASE);
    expect_pair(ring, 0, 1);
    assert_int_equal(pair.other, 66);
    slr_ring_destroy(ring);
    slr_device_close(device);
}

// Destroying and ending, while others ask: every call comes back.
struct asker {
    slri_thread thread;
    slr_ring *ring;
    uint32_t instance, stop, torn, backwards, has_asked;
};

static void keep_asking(void *arg)
{
    struct asker *a = arg;
    uint32_t last = 0;
    while (!__atomic_load_n(&a->stop, __ATOMIC_ACQUIRE)) {
        struct pair pair;
        must(slr_ring_snapshot(a->ring, a->instance, &pair, sizeof pair, LONG));
        a->torn += pair.one != pair.other;
        a->backwards += pair.one < last;
        last = pair.one;
        __atomic_store_n(&a->has_asked, 1, __ATOMIC_RELEASE);
    }
}

static void snapshots_under_load_never_tear_a_message_apart(void **state)
{
    (void)state;
    enum { ASKERS = 3, MESSAGES = 100000 };
    slr_device *device = open_device("cpu?threads=2");
    slr_ring_desc desc = describe_pairs(NULL, NULL);
    slr_ring *ring = start_ring(device, &desc);
    slr_port *port = open_port(device);
    struct asker asker[ASKERS];
    for (uint32_t i = 0; i < ASKERS; ++i) {
        asker[i] = (struct asker){.ring = ring, .instance = i};
        start_thread(&asker[i].thread, keep_asking, &asker[i]);
    }
    for (uint32_t i = 0; i < ASKERS; ++i) // all messages take less time than a thread may wait for a core
        wait_until_is(&asker[i].has_asked, 1);
    for (uint32_t i = 0; i < MESSAGES; ++i)
        must(send_value(port, address_of(ring, i % 8), i, LONG));
    must(slr_ring_terminate(ring, LONG, NULL, NULL, NULL)); // while they ask
    for (uint32_t i = 0; i < ASKERS; ++i) {
        __atomic_store_n(&asker[i].stop, 1, __ATOMIC_RELEASE);
        slri_thread_join(&asker[i].thread);
        assert_int_equal(asker[i].torn, 0);
        assert_int_equal(asker[i].backwards, 0);
        expect_pair(ring, i, MESSAGES / 8);
    }
    slr_port_close(port);
    slr_ring_destroy(ring);
    slr_device_close(device);
}

static void restore_under_load_takes_effect_between_two_messages(void **state)
{
    (void)state;
    enum { ROUNDS = 200, EACH = 100 };
    slr_device *device = open_device("cpu?threads=2");
    slr_ring_desc desc = describe_pairs(NULL, NULL);
    slr_ring *ring = start_ring(device, &desc);
    slr_port *port = open_port(device);
    for (uint32_t round = 1; round <= ROUNDS; ++round) {
        for (uint32_t i = 0; i < EACH; ++i)
            must(send_value(port, address_of(ring, 5), i, LONG));
        restore(ring, 5, round * 1000000);
        struct pair pair = snapshot(ring, 5);
        assert_int_equal(pair.one, pair.other);
        // A restore waits for no messages: those of all rounds may still have been behind it.
        assert_true(pair.one >= round * 1000000 && pair.one <= round * 1000000 + round * EACH);
    }
    slr_port_close(port);
    slr_ring_destroy(ring);
    slr_device_close(device);
}

static void operation_wakes_a_shard_that_sleeps(void **state)
{
    (void)state;
    slr_device *device = open_device("cpu?threads=2");
    slr_ring_desc desc = describe_pairs(NULL, NULL);
    slr_ring *ring = start_ring(device, &desc);
    for (uint32_t i = 0; i < 5; ++i) {
        slri_sleep_ns(5 * MS);
        restore(ring, 1, i);
        expect_pair(ring, 1, i);
    }
    must(slr_ring_deactivate(ring, LONG));
    slri_sleep_ns(5 * MS);
    expect_pair(ring, 1, 4);
    slr_ring_destroy(ring);
    slr_device_close(device);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(snapshot_and_restore_work_in_every_state_from_launched_on),
        cmocka_unit_test(wrong_state_calls_name_what_is_wrong),
        cmocka_unit_test(snapshot_behind_a_long_handler_times_out_and_leaves_nothing_behind),
        cmocka_unit_test(snapshots_under_load_never_tear_a_message_apart),
        cmocka_unit_test(restore_under_load_takes_effect_between_two_messages),
        cmocka_unit_test(operation_wakes_a_shard_that_sleeps),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
