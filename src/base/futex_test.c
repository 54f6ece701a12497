// SPDX-License-Identifier: Apache-2.0
// Sleeping on a word.
#include "base/futex.h"

#include "base/clock.h"
#include "base/thread.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

static uint32_t word;
static uint32_t awake;

static void sleep_until_one(void *arg)
{
    (void)arg;
    while (__atomic_load_n(&word, __ATOMIC_ACQUIRE) == 0)
        slri_futex_wait(&word, 0, SLRI_FOREVER);
    __atomic_add_fetch(&awake, 1, __ATOMIC_RELEASE);
}

static void wake_reaches_every_sleeper(void **state)
{
    (void)state;
    slri_thread sleepers[3];
    word = awake = 0;
    for (int i = 0; i < 3; i++)
        assert_int_equal(slri_thread_start(&sleepers[i], "sleeper", sleep_until_one, NULL), SLR_OK);
    slri_sleep_ns(5000000); // likely asleep by now; right without it too
    assert_int_equal(__atomic_load_n(&awake, __ATOMIC_ACQUIRE), 0);
    __atomic_store_n(&word, 1, __ATOMIC_RELEASE);
    slri_futex_wake(&word, UINT32_MAX);
    for (int i = 0; i < 3; i++)
        slri_thread_join(&sleepers[i]); // hangs, and so fails by the test's timeout, if one sleeps on
    assert_int_equal(awake, 3);
}

static void wait_returns_at_once_where_the_word_differs(void **state)
{
    (void)state;
    word = 5;
    slri_futex_wait(&word, 4, SLRI_FOREVER);
    assert_int_equal(word, 5);
}

static void wait_ends_at_its_deadline_not_before(void **state)
{
    (void)state;
    word = 5;
    uint64_t deadline = slri_deadline_after(2000000);
    while (!slri_passed(deadline))
        slri_futex_wait(&word, 5, deadline);
    uint64_t before = slri_now_ns();
    slri_futex_wait(&word, 5, before + 2000000);
    assert_true(slri_now_ns() >= before + 2000000);
    slri_futex_wait(&word, 5, 0); // past already
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(wake_reaches_every_sleeper),
        cmocka_unit_test(wait_returns_at_once_where_the_word_differs),
        cmocka_unit_test(wait_ends_at_its_deadline_not_before),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
