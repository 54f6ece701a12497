// SPDX-License-Identifier: Apache-2.0
// What a lost device says, and what a reopening that fails leaves.
#include "engine/loss.h"
#include "base/status.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static struct slri_loss loss;
static uint32_t undone;

static int begin(void **state)
{
    (void)state;
    slri_loss_init(&loss, "gpu:0");
    undone = 0;
    return 0;
}

static int end(void **state)
{
    (void)state;
    slri_loss_destroy(&loss);
    return 0;
}

static void says(const char *words)
{
    assert_true(slri_is_lost(&loss));
    assert_int_equal(slri_loss_check(&loss), SLR_DEVICE_LOST);
    assert_string_equal(slr_error_message(), words);
}

static void device_that_is_well_refuses_nothing(void **state)
{
    (void)state;
    assert_false(slri_is_lost(&loss));
    assert_int_equal(slri_loss_check(&loss), SLR_OK);
}

static void first_reason_is_the_one_that_is_said(void **state)
{
    (void)state;
    slri_fail(SLR_DEVICE_LOST, "its bus is cut");
    assert_int_equal(slri_loss_note(&loss, "divide"), SLR_DEVICE_LOST);
    assert_int_equal(slri_lose(&loss, "nothing answers"), SLR_DEVICE_LOST);
    says("device 'gpu:0' was lost: its bus is cut, after kernel divide");
}

static slr_status works(void *device, uint64_t deadline_ns)
{
    (void)device, (void)deadline_ns;
    return slri_is_lost(&loss) ? SLR_DEVICE_LOST : SLR_OK; // what begins anew asks, too
}

// It is lost once more while it begins, which is another reason.
static slr_status fails(void *device, uint64_t deadline_ns)
{
    (void)device, (void)deadline_ns;
    slri_lose(&loss, "it is lost again");
    return SLRI_FAIL(TIMEOUT, "no kernel has run");
}

static void undo(void *device)
{
    (void)device;
    ++undone;
    slri_fail(SLR_INVALID, "undoing fails, too");
}

static void device_that_begins_anew_is_not_lost(void **state)
{
    const struct slri_reopening how = {works, undo};
    (void)state;
    slri_lose(&loss, "its bus is cut");
    assert_int_equal(slri_loss_reopen(&loss, &how, NULL, 0), SLR_OK);
    assert_false(slri_is_lost(&loss));
    assert_int_equal(undone, 0);
    slri_lose(&loss, "a kernel hangs");
    says("device 'gpu:0' was lost: a kernel hangs");
}

static void reopening_that_fails_says_why_and_leaves_the_first_reason(void **state)
{
    const struct slri_reopening how = {fails, undo};
    (void)state;
    slri_lose(&loss, "its bus is cut");
    assert_int_equal(slri_loss_reopen(&loss, &how, NULL, 0), SLR_TIMEOUT);
    assert_string_equal(slr_error_message(), "no kernel has run");
    assert_int_equal(undone, 1);
    says("device 'gpu:0' was lost: its bus is cut");
}

static void device_that_is_replaced_is_given_up_first(void **state)
{
    const struct slri_reopening how = {works, undo};
    (void)state;
    slri_lose(&loss, "its bus is cut");
    assert_int_equal(slri_loss_replace(&loss, &how, NULL, 0), SLR_OK);
    assert_int_equal(undone, 1);
    assert_false(slri_is_lost(&loss));
}

static void device_that_hangs_is_not_replaced(void **state)
{
    const struct slri_reopening how = {works, undo};
    (void)state;
    assert_false(slri_hangs(&loss));
    slri_lose(&loss, "its bus is cut");
    assert_int_equal(slri_lose_hung(&loss, NULL), SLR_DEVICE_LOST);
    assert_true(slri_hangs(&loss));
    assert_int_equal(slri_loss_replace(&loss, &how, NULL, 0), SLR_TIMEOUT);
    assert_int_equal(undone, 0);
    says("device 'gpu:0' was lost: its bus is cut");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(device_that_is_well_refuses_nothing, begin, end),
        cmocka_unit_test_setup_teardown(first_reason_is_the_one_that_is_said, begin, end),
        cmocka_unit_test_setup_teardown(device_that_begins_anew_is_not_lost, begin, end),
        cmocka_unit_test_setup_teardown(reopening_that_fails_says_why_and_leaves_the_first_reason, begin, end),
        cmocka_unit_test_setup_teardown(device_that_is_replaced_is_given_up_first, begin, end),
        cmocka_unit_test_setup_teardown(device_that_hangs_is_not_replaced, begin, end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
