// SPDX-License-Identifier: Apache-2.0
// Deadlines.
#include "base/clock.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

static void time_does_not_go_back(void **state)
{
    (void)state;
    uint64_t before = slri_now_ns();
    for (int i = 0; i < 1000; i++) {
        uint64_t now = slri_now_ns();
        assert_true(now >= before);
        before = now;
    }
}

static void zero_has_always_passed_and_forever_never(void **state)
{
    (void)state;
    assert_true(slri_deadline_after(0) == 0);
    assert_true(slri_passed(0));
    assert_true(slri_deadline_after(SLRI_FOREVER) == SLRI_FOREVER);
    assert_false(slri_passed(SLRI_FOREVER));
}

static void deadline_saturates(void **state)
{
    (void)state;
    assert_true(slri_deadline_after(SLRI_FOREVER - 1) == SLRI_FOREVER);
    assert_true(slri_deadline_after(SLRI_FOREVER - slri_now_ns() / 2) == SLRI_FOREVER);
}

static void deadline_passes_when_its_time_has_come(void **state)
{
    (void)state;
    uint64_t before = slri_now_ns();
    uint64_t deadline = slri_deadline_after(1000000);
    assert_true(deadline >= before + 1000000);
    assert_false(slri_passed(deadline + 3600000000000u));
    while (slri_now_ns() < deadline) {
    }
    assert_true(slri_passed(deadline));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(time_does_not_go_back),
        cmocka_unit_test(zero_has_always_passed_and_forever_never),
        cmocka_unit_test(deadline_saturates),
        cmocka_unit_test(deadline_passes_when_its_time_has_come),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
