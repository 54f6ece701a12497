// SPDX-License-Identifier: Apache-2.0
#include "engine/canary.h"
#include "base/status.h"
#include "engine/relaunch.h"

#include <slipring/ring.h>

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

// A driver that ends a loop after so many turns (0: never), and then each later one behind its first, or not.
struct driver {
    uint32_t most, runs, failures;
    bool ends_later_ones;
};

static slr_status run(void *device, uint32_t word[3])
{
    struct driver *driver = device;
    const uint32_t turns = driver->most && driver->most < SLRI_CANARY_TURNS ? driver->most : SLRI_CANARY_TURNS;
    if (driver->runs++ < driver->failures)
        return SLRI_FAIL(DEVICE_LOST, "the canary failed");
    word[1] = 1;
    for (word[0] = 0; word[0] < turns; ++word[0])
        word[1] = SLRI_CANARY_NEXT(word[1]);
    word[2] = turns != SLRI_CANARY_TURNS && driver->ends_later_ones ? 1 : SLRI_CANARY_FEW;
    return SLR_OK;
}

struct world {
    struct slri_canary canary;
    struct driver driver;
    uint64_t turns;
};

static slr_status check(struct world *w)
{
    return slri_canary_check(&w->canary, run, &w->driver, "here:0", &w->turns);
}

static int set_up(void **state)
{
    static struct world world;
    world = (struct world){.turns = 7};
    slri_mutex_init(&world.canary.lock);
    *state = &world;
    return 0;
}

static int tear_down(void **state)
{
    struct world *w = *state;
    slri_mutex_destroy(&w->canary.lock);
    return 0;
}

static void driver_that_ends_no_loop_lets_all_turns_be_taken(void **state)
{
    struct world *w = *state;
    assert_int_equal(check(w), SLR_OK);
    assert_int_equal(w->turns, 0);
    assert_int_equal(slri_canary_turns(&w->canary), 0);
}

static void driver_that_ends_loops_is_found_with_their_turns(void **state)
{
    struct world *w = *state;
    w->driver = (struct driver){.most = 65535, .ends_later_ones = true};
    assert_int_equal(check(w), SLR_OK);
    assert_int_equal(w->turns, 65535);
    assert_int_equal(slri_canary_turns(&w->canary), 65535);
    assert_int_equal(slri_canary_ended(&w->canary, "here:0", "kernel sum"), SLR_UNSUPPORTED);
    assert_non_null(strstr(slr_error_message(), "kernel sum: a thread's loops took the 65535 turns"));
    assert_non_null(strstr(slr_error_message(), "here:0"));
}

// What a ring kernel says of its failure has room for all of it, also with a device that is named by its UUID.
static void a_ring_kernel_is_told_what_to_set(void **state)
{
    struct world *w = *state;
    w->driver = (struct driver){.most = 65535, .ends_later_ones = true};
    assert_int_equal(check(w), SLR_OK);
    assert_int_equal(
        slri_canary_ended(&w->canary, "vulkan:8f2c0a11-0000-0000-0000-000000000000", "kernel handler_of_16"),
        SLR_UNSUPPORTED);
    assert_non_null(strstr(slr_error_message(), "lower max_batch (--window)"));
    assert_true(strlen(slr_error_message()) < sizeof((struct slri_relaunch *)0)->why);
    assert_true(strlen(slr_error_message()) < sizeof((slr_ring_stats *)0)->last_failure);
}

static void kernels_are_refused_where_they_could_not_notice(void **state)
{
    struct world *w = *state;
    w->driver = (struct driver){.most = 65535};
    assert_int_equal(check(w), SLR_UNSUPPORTED);
    assert_non_null(strstr(slr_error_message(), "device 'here:0' ends loops after 65535 turns"));
    assert_int_equal(slri_canary_ask(&w->canary, run, &w->driver, &w->turns), SLR_OK); // who only asks is told
    assert_int_equal(w->turns, 65535);
}

static void canary_runs_once_but_again_where_it_failed(void **state)
{
    struct world *w = *state;
    w->driver.failures = 1;
    assert_int_equal(check(w), SLR_DEVICE_LOST);
    assert_int_equal(w->driver.runs, 1);
    assert_int_equal(check(w), SLR_OK);
    assert_int_equal(check(w), SLR_OK);
    assert_int_equal(w->driver.runs, 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(driver_that_ends_no_loop_lets_all_turns_be_taken, set_up, tear_down),
        cmocka_unit_test_setup_teardown(driver_that_ends_loops_is_found_with_their_turns, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_ring_kernel_is_told_what_to_set, set_up, tear_down),
        cmocka_unit_test_setup_teardown(kernels_are_refused_where_they_could_not_notice, set_up, tear_down),
        cmocka_unit_test_setup_teardown(canary_runs_once_but_again_where_it_failed, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
