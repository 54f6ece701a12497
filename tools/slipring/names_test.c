// SPDX-License-Identifier: Apache-2.0
#include "names.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

static const char *const names[] = {"run", "kernel", "cache", "cpu", "", "bench"};
enum { NAMES = sizeof names / sizeof *names };

static void a_letter_or_a_third_of_a_word_may_be_wrong(void **state)
{
    (void)state;
    static const char *const near[][2] = {{"rnu", "run"},       {"urn", "run"},     {"kernal", "kernel"},
                                          {"kerenl", "kernel"}, {"cahce", "cache"}, {"benhc", "bench"},
                                          {"cp", "cpu"},        {"cpu0", "cpu"},    {"cace", "cache"}};
    for (size_t i = 0; i < sizeof near / sizeof *near; i++)
        assert_string_equal(names_nearest(near[i][0], names, NAMES), near[i][1]);
    static const char *const far[] = {"gpu", "dance", "xyz", "kxrnxx", "", "a", "runnnn"};
    for (size_t i = 0; i < sizeof far / sizeof *far; i++)
        assert_null(names_nearest(far[i], names, NAMES));
    char endless[200];
    memset(endless, 'r', sizeof endless - 1);
    endless[sizeof endless - 1] = '\0';
    assert_null(names_nearest(endless, names, NAMES));
}

static void a_guess_lists_what_there_is(void **state)
{
    (void)state;
    static const char *const two[] = {"first", "second"};
    char text[NAMES_GUESS_BYTES];
    names_guess(text, sizeof text, "frist", "it has", two, 2);
    assert_string_equal(text, "; it has: first, second; did you mean 'first'?");
    names_guess(text, sizeof text, "other", "it has", two, 2);
    assert_string_equal(text, "; it has: first, second");
    names_guess(text, sizeof text, "other", "it has", two, 0);
    assert_string_equal(text, "");
    char small[24]; // what has no room is cut
    names_guess(small, sizeof small, "frist", "it has", two, 2);
    assert_string_equal(small, "; it has: first, second");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_letter_or_a_third_of_a_word_may_be_wrong),
        cmocka_unit_test(a_guess_lists_what_there_is),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
