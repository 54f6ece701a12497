// SPDX-License-Identifier: Apache-2.0
#include "base/environment.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

static void what_is_set_stays(void **state)
{
    (void)state;
    unsetenv("SLIPRING_TEST_VARIABLE");
    assert_true(slri_environment_default("SLIPRING_TEST_VARIABLE", "one"));
    assert_string_equal(getenv("SLIPRING_TEST_VARIABLE"), "one");
    assert_false(slri_environment_default("SLIPRING_TEST_VARIABLE", "two"));
    assert_string_equal(getenv("SLIPRING_TEST_VARIABLE"), "one");
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(what_is_set_stays)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
