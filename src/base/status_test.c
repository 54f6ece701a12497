// SPDX-License-Identifier: Apache-2.0
// Status codes and the thread's message.
#include "base/status.h"

#include "base/thread.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

static slr_status refuse_priority(int priority)
{
    return SLRI_FAIL(INVALID, "priority %d is above 255", priority);
}

static slr_status pass_on(int priority, int *reached)
{
    SLRI_TRY(priority > 255 ? refuse_priority(priority) : SLR_OK);
    *reached = 1;
    return SLR_OK;
}

static void failing_returns_the_code_and_keeps_the_message(void **state)
{
    (void)state;
    assert_int_equal(refuse_priority(256), SLR_INVALID);
    assert_string_equal(slr_error_message(), "priority 256 is above 255");
}

static void try_returns_at_the_first_failure_only(void **state)
{
    (void)state;
    int reached = 0;
    assert_int_equal(pass_on(300, &reached), SLR_INVALID);
    assert_int_equal(reached, 0);
    assert_int_equal(pass_on(3, &reached), SLR_OK);
    assert_int_equal(reached, 1);
}

static void message_of_100_kib_is_kept_whole(void **state)
{
    (void)state;
    enum { BYTES = 100 * 1024 };
    char *diagnostics = malloc(BYTES + 1);
    assert_non_null(diagnostics);
    memset(diagnostics, 'd', BYTES);
    diagnostics[BYTES] = '\0';
    slri_fail(SLR_COMPILE, "%s!", diagnostics);
    assert_int_equal(strlen(slr_error_message()), BYTES + 1);
    assert_int_equal(slr_error_message()[BYTES], '!');
    assert_int_equal(slr_error_message()[BYTES - 1], 'd');

    slri_fail(SLR_FULL, "short again");
    assert_string_equal(slr_error_message(), "short again");
    free(diagnostics);
}

static void message_may_quote_the_message_before(void **state)
{
    (void)state;
    char lengthy[5000];
    memset(lengthy, 'x', sizeof lengthy);
    slri_fail(SLR_NOT_FOUND, "no file %.*s", 4500, lengthy);
    slri_fail(SLR_COMPILE, "cannot load: %s", slr_error_message());
    assert_memory_equal(slr_error_message(), "cannot load: no file xxx", 24);
    assert_int_equal(strlen(slr_error_message()), 13 + 8 + 4500);
    slri_fail(SLR_COMPILE, "brief");
    slri_fail(SLR_COMPILE, "not %s", slr_error_message());
    assert_string_equal(slr_error_message(), "not brief");
}

static void messages_of_any_length_are_whole(void **state)
{
    (void)state;
    static const int lengths[] = {511, 512, 513, 4095, 4096};
    for (size_t i = 0; i < sizeof lengths / sizeof *lengths; ++i) {
        slri_fail(SLR_INTERNAL, "%*d", lengths[i], 7);
        assert_int_equal(strlen(slr_error_message()), lengths[i]);
        assert_int_equal(slr_error_message()[lengths[i] - 1], '7');
    }
}

static void fail_elsewhere(void *seen)
{
    *(int *)seen = slr_error_message()[0] == '\0'; // a new thread has none
    slri_fail(SLR_TIMEOUT, "%8000d", 1);           // freed at the thread's end: the leak checker looks
}

static void threads_do_not_share_their_message(void **state)
{
    (void)state;
    slri_thread thread;
    int empty_at_start = 0;
    slri_fail(SLR_FULL, "mine");
    assert_int_equal(slri_thread_start(&thread, "other", fail_elsewhere, &empty_at_start), SLR_OK);
    slri_thread_join(&thread);
    assert_int_equal(empty_at_start, 1);
    assert_string_equal(slr_error_message(), "mine");
}

static void every_code_has_a_name_and_a_meaning(void **state)
{
    (void)state;
    assert_string_equal(slr_status_name(SLR_OK), "SLR_OK");
    assert_string_equal(slr_status_name(7), "SLR_FULL");
    assert_string_equal(slr_status_meaning(SLR_TIMEOUT), "the deadline passed first");
    assert_string_equal(slr_status_name(-1), "SLR_?");
    assert_string_equal(slr_status_name(1000), "SLR_?");
    assert_true(slr_status_meaning(1000)[0] != '\0');
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(failing_returns_the_code_and_keeps_the_message),
        cmocka_unit_test(try_returns_at_the_first_failure_only),
        cmocka_unit_test(message_of_100_kib_is_kept_whole),
        cmocka_unit_test(message_may_quote_the_message_before),
        cmocka_unit_test(messages_of_any_length_are_whole),
        cmocka_unit_test(threads_do_not_share_their_message),
        cmocka_unit_test(every_code_has_a_name_and_a_meaning),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
