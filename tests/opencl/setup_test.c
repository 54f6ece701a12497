// SPDX-License-Identifier: Apache-2.0
// What a setup that fails in the middle leaves of a device, on a library that is simulated: nothing that runs, and no
// memory.
#include "tests/opencl/fake_library.h"

#include "tests/fakes/setup.h"

static const char *const specs[] = {"opencl:0?ring=persistent", "opencl:0?ring=relaunch",
                                    "opencl:0?memory=coarse&ring=relaunch", "opencl:0?memory=host&ring=relaunch",
                                    "opencl:0?memory=plain&ring=relaunch"};
enum { SPECS = sizeof specs / sizeof *specs };

static void begin(void)
{
    reset();
    fake->stays = 1;
    fake->units = 9; // a group for each handler
}

static void call_that_fails_leaves_no_group_behind(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < SPECS; ++i)
        assert_true(setup_fail_at_each_call(specs[i], begin, -5, false) > 60); // out of resources
}

static void device_that_is_lost_leaves_no_group_behind(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < SPECS; ++i)
        assert_true(setup_fail_at_each_call(specs[i], begin, -2, true) > 60);
    join_fake(); // of devices that keep what nobody answers for
}

static void allocation_that_fails_leaves_no_group_behind(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < SPECS; ++i)
        assert_true(setup_fail_at_each_allocation(specs[i], begin) > 30);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(call_that_fails_leaves_no_group_behind, load_fake),
        cmocka_unit_test(device_that_is_lost_leaves_no_group_behind),
        cmocka_unit_test(allocation_that_fails_leaves_no_group_behind),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
