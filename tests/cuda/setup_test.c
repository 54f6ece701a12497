// SPDX-License-Identifier: Apache-2.0
// What a setup that fails in the middle leaves of a device, on a driver that is simulated: nothing that runs, and no
// memory.
#include "tests/cuda/fake_driver.h"

#include "tests/fakes/setup.h"

static const char *const specs[] = {"cuda:0?ring=persistent", "cuda:0?ring=relaunch",
                                    "cuda:0?ring=persistent&memory=mapped", "cuda:0?ring=relaunch&memory=managed"};
enum { SPECS = sizeof specs / sizeof *specs };

static void call_that_fails_leaves_no_group_behind(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < SPECS; ++i)
        assert_true(setup_fail_at_each_call(specs[i], reset, 2, false) > 60); // out of memory
}

static void device_that_is_lost_leaves_no_group_behind(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < SPECS; ++i)
        assert_true(setup_fail_at_each_call(specs[i], reset, 700, true) > 60);
}

static void allocation_that_fails_leaves_no_group_behind(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < SPECS; ++i)
        assert_true(setup_fail_at_each_allocation(specs[i], reset) > 30);
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
