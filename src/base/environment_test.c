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

static void nothing_is_believed_where_the_caller_is_a_stranger(void **state)
{
    (void)state;
    setenv("SLIPRING_TEST_VARIABLE", "theirs", 1);
    assert_true(slri_environment_is_trusted());
    assert_string_equal(slri_environment("SLIPRING_TEST_VARIABLE"), "theirs");
    slri_environment_distrust(true);
    assert_false(slri_environment_is_trusted());
    assert_null(slri_environment("SLIPRING_TEST_VARIABLE"));
    assert_string_equal(slri_environment_of_vendor("SLIPRING_TEST_VARIABLE"), "theirs");
    assert_false(slri_environment_allows_vendors());
    slri_environment_distrust(false);
    assert_true(slri_environment_allows_vendors());
    assert_string_equal(slri_environment("SLIPRING_TEST_VARIABLE"), "theirs");
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(what_is_set_stays),
                                       cmocka_unit_test(nothing_is_believed_where_the_caller_is_a_stranger)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
