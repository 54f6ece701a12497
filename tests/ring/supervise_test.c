// SPDX-License-Identifier: Apache-2.0
// Supervisors: who is restarted for whom, in which order, and when they give up.
#include "tests/ring/failure_test.h"
#include "ring/ring.h"

enum { RINGS = 4, EVENTS = 256 };

static struct counter c[RINGS];
static slr_ring *ring[RINGS];

// What the supervisors told, in order.
struct told {
    uint32_t count; // atomic
    slr_supervised event[EVENTS];
};
static struct told told;

static void note_event(void *user, const slr_supervised *supervised)
{
    struct told *t = user;
    uint32_t k = __atomic_load_n(&t->count, __ATOMIC_RELAXED);
    if (k < EVENTS)
        t->event[k] = *supervised;
    __atomic_store_n(&t->count, k + 1, __ATOMIC_RELEASE);
}

static void start_rings(slr_device *device)
{
    memset(&told, 0, sizeof told);
    memset(c, 0, sizeof c);
    for (uint32_t i = 0; i < RINGS; ++i) {
        char name[8] = {'r', (char)('0' + i)};
        slr_ring_desc desc = describe_counter(name, &c[i]);
        desc.fault_policy = SLR_FAULT_FAIL;
        ring[i] = start_ring(device, &desc);
        assert_int_equal(call_word(NULL, address_of(ring[i], 0), 1), 1);
    }
}

static void destroy_rings(void)
{
    for (uint32_t i = 0; i < RINGS; ++i)
        slr_ring_destroy(ring[i]);
}

static slr_supervisor *make_supervisor(uint32_t strategy, uint32_t max_restarts)
{
    slr_supervisor_desc desc = SLR_SUPERVISOR_DESC_INIT;
    slr_supervisor *s = NULL;
    desc.strategy = strategy;
    desc.max_restarts = max_restarts;
    desc.window_ns = 1000 * SECOND;
    desc.restart_timeout_ns = LONG;
    desc.on_event = note_event;
    desc.user = &told;
    must(slr_supervisor_create(&desc, &s));
    return s;
}

// The ring kernels that were restarted by the last failure, in order: "023".
static void check_restarted(uint32_t from, const char *which)
{
    wait_until_is(&told.count, from + (uint32_t)strlen(which));
    for (uint32_t i = 0; which[i]; ++i) {
        assert_int_equal(told.event[from + i].event, SLR_SUPERVISED_RESTARTED);
        assert_int_equal(told.event[from + i].status, SLR_OK);
        assert_ptr_equal(told.event[from + i].ring, ring[which[i] - '0']);
    }
}

// Ring kernel 1 of 4 fails twice; `which` are restarted, with their states as at first, the others go on with theirs.
static void check_strategy(uint32_t strategy, const char *which)
{
    slr_device *device = open_device("cpu");
    start_rings(device);
    slr_supervisor *s = make_supervisor(strategy, 0);
    for (uint32_t i = 0; i < RINGS; ++i)
        must(slr_supervisor_add_ring(s, ring[i]));
    must(slr_supervisor_start(s));
    uint32_t all = (uint32_t)strlen(which);
    for (uint32_t round = 0; round < 2; ++round) {
        poison(ring[1]);
        check_restarted(round * all, which);
        for (uint32_t i = 0; i < RINGS; ++i) {
            bool anew = strchr(which, (int)('0' + i));
            must(slr_ring_wait(ring[i], SLR_RING_ACTIVE, LONG));
            assert_int_equal(call_word(NULL, address_of(ring[i], 0), 1), anew ? 1 : round + 2);
            assert_int_equal(stats_of(ring[i]).restarts, anew ? round + 1 : 0);
        }
    }
    slr_supervisor_stats stats;
    must(slr_supervisor_get_stats(s, &stats));
    assert_int_equal(stats.restarts, 2); // what one failure restarts counts once
    assert_int_equal(stats.failed, 0);
    assert_int_equal(stats.children, RINGS);
    gives(slr_supervisor_wait_failed(s, 0), TIMEOUT);
    slr_supervisor_destroy(s);
    poison(ring[1]); // nobody looks after it any more
    assert_int_equal(slr_ring_get_state(ring[1]), SLR_RING_IN_FAILURE);
    destroy_rings();
    slr_device_close(device);
}

static void one_for_one_restarts_the_failed_one(void **state)
{
    (void)state;
    check_strategy(0, "1");
}

static void one_for_all_restarts_all_in_their_order(void **state)
{
    (void)state;
    check_strategy(SLR_ONE_FOR_ALL, "0123");
}

static void rest_for_one_restarts_it_and_those_behind_it(void **state)
{
    (void)state;
    check_strategy(SLR_REST_FOR_ONE, "123");
}

// More than one word of marks, and one that failed before the supervisor was started.
static void each_of_many_that_fails_is_restarted(void **state)
{
    (void)state;
    enum { COUNT = 150 };
    static struct handler handler;
    slr_ring *many[COUNT];
    slr_device *device = open_device("cpu");
    slr_supervisor *s = make_supervisor(SLR_ONE_FOR_ONE, COUNT);
    for (uint32_t i = 0; i < COUNT; ++i) {
        char name[32];
        snprintf(name, sizeof name, "many-%u", i);
        slr_ring_desc desc = describe_ring(name, &handler);
        many[i] = start_ring(device, &desc);
        must(slr_supervisor_add_ring(s, many[i]));
    }
    holds(slri_ring_fail(many[70], "by a test"));
    must(slr_supervisor_start(s));
    for (uint32_t i = 0; i < COUNT; i += 7)
        holds(slri_ring_fail(many[i], "by a test") || i == 70); // 70 may not be restarted yet
    for (uint32_t i = 0; i < COUNT; ++i) {
        must(slr_ring_wait(many[i], SLR_RING_ACTIVE, LONG));
        assert_int_equal(stats_of(many[i]).restarts != 0, i % 7 == 0);
    }
    slr_supervisor_destroy(s);
    for (uint32_t i = 0; i < COUNT; ++i)
        slr_ring_destroy(many[i]);
    slr_device_close(device);
}

static void too_many_restarts_fail_the_whole_group(void **state)
{
    (void)state;
    slr_device *device = open_device("cpu");
    start_rings(device);
    slr_supervisor *s = make_supervisor(SLR_ONE_FOR_ONE, 3);
    for (uint32_t i = 0; i < RINGS; ++i)
        must(slr_supervisor_add_ring(s, ring[i]));
    must(slr_supervisor_start(s));
    for (uint32_t i = 0; i < 3; ++i) {
        poison(ring[i]); // of any child
        must(slr_ring_wait(ring[i], SLR_RING_ACTIVE, LONG));
    }
    poison(ring[3]);
    must(slr_supervisor_wait_failed(s, LONG));
    wait_until_is(&told.count, 4);
    assert_int_equal(told.event[3].event, SLR_SUPERVISED_GAVE_UP);
    assert_ptr_equal(told.event[3].supervisor, s);
    for (uint32_t i = 0; i < RINGS; ++i) {
        assert_int_equal(slr_ring_get_state(ring[i]), SLR_RING_IN_FAILURE);
        gives(send_word(NULL, address_of(ring[i], 0), 1), RING_FAILED);
    }
    slr_supervisor_stats stats;
    must(slr_supervisor_get_stats(s, &stats));
    assert_int_equal(stats.restarts, 3);
    assert_int_equal(stats.failed, 1);
    must(slr_ring_restart(ring[0], SLR_RESTART_INITIAL, LONG)); // by hand
    assert_int_equal(call_word(NULL, address_of(ring[0], 0), 1), 1);
    slr_supervisor_destroy(s);
    destroy_rings();
    slr_device_close(device);
}

static void window_that_has_passed_allows_restarts_again(void **state)
{
    (void)state;
    slr_device *device = open_device("cpu");
    start_rings(device);
    slr_supervisor_desc desc = SLR_SUPERVISOR_DESC_INIT;
    slr_supervisor *s;
    desc.max_restarts = 1;
    desc.window_ns = 1 * MS;
    must(slr_supervisor_create(&desc, &s));
    must(slr_supervisor_add_ring(s, ring[0]));
    must(slr_supervisor_start(s));
    for (uint32_t i = 0; i < 5; ++i) {
        poison(ring[0]);
        must(slr_ring_wait(ring[0], SLR_RING_ACTIVE, LONG));
        slri_sleep_ns(40 * MS);
    }
    assert_int_equal(stats_of(ring[0]).restarts, 5);
    slr_supervisor_destroy(s);
    destroy_rings();
    slr_device_close(device);
}

// root (one for all): [r0, below (one for one, at most 1): [r1, r2], r3]
static void supervisor_that_gives_up_is_a_failed_child_of_its_own(void **state)
{
    (void)state;
    slr_device *device = open_device("cpu");
    start_rings(device);
    slr_supervisor *root = make_supervisor(SLR_ONE_FOR_ALL, 2), *below = make_supervisor(SLR_ONE_FOR_ONE, 1);
    must(slr_supervisor_add_ring(root, ring[0]));
    must(slr_supervisor_add_supervisor(root, below));
    must(slr_supervisor_add_ring(below, ring[1]));
    must(slr_supervisor_add_ring(below, ring[2]));
    must(slr_supervisor_add_ring(root, ring[3]));
    must(slr_supervisor_start(root));
    uint32_t events = 0;
    for (uint32_t round = 0; round < 2; ++round) {
        poison(ring[1]);
        check_restarted(events, "1");
        events += 1;
        poison(ring[1]);
        wait_until_is(&told.count, events + 5);
        assert_int_equal(told.event[events].event, SLR_SUPERVISED_GAVE_UP);
        assert_ptr_equal(told.event[events].supervisor, below);
        check_restarted(events + 1, "0123");
        events += 5;
    }
    poison(ring[2]); // its window began anew with it
    check_restarted(events, "2");
    poison(ring[2]);
    must(slr_supervisor_wait_failed(below, LONG));
    must(slr_supervisor_wait_failed(root, LONG));
    for (uint32_t i = 0; i < RINGS; ++i)
        assert_int_equal(slr_ring_get_state(ring[i]), SLR_RING_IN_FAILURE);
    slr_supervisor_destroy(root);
    destroy_rings();
    slr_device_close(device);
}

static void restart_from_a_checkpoint_where_it_says_so(void **state)
{
    (void)state;
    slr_device *device = open_device("cpu");
    start_rings(device);
    slr_supervisor_desc desc = SLR_SUPERVISOR_DESC_INIT;
    slr_supervisor *s;
    desc.restart_from = SLR_RESTART_CHECKPOINT;
    must(slr_supervisor_create(&desc, &s));
    must(slr_supervisor_add_ring(s, ring[0]));
    must(slr_ring_checkpoint(ring[0], LONG));
    poison(ring[0]); // before the start
    must(slr_supervisor_start(s));
    must(slr_ring_wait(ring[0], SLR_RING_ACTIVE, LONG));
    assert_int_equal(call_word(NULL, address_of(ring[0], 0), 1), 2);
    slr_supervisor_destroy(s);
    destroy_rings();
    slr_device_close(device);
}

static void ring_kernels_that_have_ended_are_passed_over(void **state)
{
    (void)state;
    slr_device *device = open_device("cpu");
    start_rings(device);
    slr_supervisor *s = make_supervisor(SLR_ONE_FOR_ALL, 0);
    for (uint32_t i = 0; i < RINGS; ++i)
        must(slr_supervisor_add_ring(s, ring[i]));
    must(slr_supervisor_start(s));
    must(slr_ring_terminate(ring[0], LONG, NULL, NULL, NULL));
    slr_ring_destroy(ring[2]);
    poison(ring[1]);
    check_restarted(0, "13");
    slr_supervisor_destroy(s);
    ring[2] = NULL;
    destroy_rings();
    slr_device_close(device);
}

static void descriptions_and_trees_are_checked(void **state)
{
    (void)state;
    slr_device *device = open_device("cpu");
    start_rings(device);
    slr_supervisor_desc desc = SLR_SUPERVISOR_DESC_INIT;
    slr_supervisor *s;
    desc.strategy = 4;
    refuses(slr_supervisor_create(&desc, &s), INVALID, "strategy is 4");
    desc = (slr_supervisor_desc)SLR_SUPERVISOR_DESC_INIT;
    desc.restart_from = 3;
    refuses(slr_supervisor_create(&desc, &s), INVALID, "restart_from is 3");
    desc = (slr_supervisor_desc)SLR_SUPERVISOR_DESC_INIT;
    desc.max_restarts = 65537;
    refuses(slr_supervisor_create(&desc, &s), INVALID, "max_restarts is 65537");
    slr_supervisor *root = make_supervisor(0, 0), *below = make_supervisor(0, 0);
    must(slr_supervisor_add_supervisor(root, below));
    refuses(slr_supervisor_add_supervisor(root, below), INVALID, "already");
    refuses(slr_supervisor_add_supervisor(below, root), INVALID, "below itself");
    must(slr_supervisor_add_ring(below, ring[0]));
    refuses(slr_supervisor_add_ring(root, ring[0]), INVALID, "'r0' has a supervisor already");
    refuses(slr_supervisor_start(below), WRONG_STATE, "not the root");
    must(slr_supervisor_start(root));
    refuses(slr_supervisor_start(root), WRONG_STATE, "already");
    gives(slr_supervisor_add_ring(below, ring[1]), WRONG_STATE);
    slr_supervisor_destroy(root);
    slr_supervisor_destroy(NULL);
    s = make_supervisor(0, 0); // it can have another now
    must(slr_supervisor_add_ring(s, ring[0]));
    slr_supervisor_destroy(s);
    destroy_rings();
    slr_device_close(device);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_for_one_restarts_the_failed_one),
        cmocka_unit_test(one_for_all_restarts_all_in_their_order),
        cmocka_unit_test(rest_for_one_restarts_it_and_those_behind_it),
        cmocka_unit_test(each_of_many_that_fails_is_restarted),
        cmocka_unit_test(too_many_restarts_fail_the_whole_group),
        cmocka_unit_test(window_that_has_passed_allows_restarts_again),
        cmocka_unit_test(supervisor_that_gives_up_is_a_failed_child_of_its_own),
        cmocka_unit_test(restart_from_a_checkpoint_where_it_says_so),
        cmocka_unit_test(ring_kernels_that_have_ended_are_passed_over),
        cmocka_unit_test(descriptions_and_trees_are_checked),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
