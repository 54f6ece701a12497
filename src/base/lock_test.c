// SPDX-License-Identifier: Apache-2.0
// The short lock: one at a time, and no sleeper is forgotten.
#include "base/lock.h"

#include "base/clock.h"
#include "base/thread.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

enum { THREADS = 4, ROUNDS = 50000 };

static slri_lock lock;
static uint64_t count; // under the lock

static void add(void *arg)
{
    (void)arg;
    for (int i = 0; i < ROUNDS; ++i) {
        slri_lock_take(&lock);
        ++count;
        slri_lock_give(&lock);
    }
}

static void threads_add_up(void **state)
{
    (void)state;
    slri_thread thread[THREADS];
    for (int i = 0; i < THREADS; ++i)
        assert_int_equal(slri_thread_start(&thread[i], "adder", add, NULL), SLR_OK);
    for (int i = 0; i < THREADS; ++i)
        slri_thread_join(&thread[i]);
    assert_int_equal(count, THREADS * ROUNDS);
    assert_int_equal(lock.taken, 0);
    assert_int_equal(lock.sleepers, 0);
}

static uint32_t got_it;

static void take_it(void *arg)
{
    (void)arg;
    slri_lock_take(&lock);
    __atomic_store_n(&got_it, 1, __ATOMIC_RELEASE);
    slri_lock_give(&lock);
}

static void sleeper_gets_a_lock_that_was_given_without_a_wake(void **state)
{
    (void)state;
    slri_thread thread;
    slri_lock_take(&lock);
    assert_int_equal(slri_thread_start(&thread, "sleeper", take_it, NULL), SLR_OK);
    while (__atomic_load_n(&lock.sleepers, __ATOMIC_RELAXED) == 0)
        slri_yield();
    slri_sleep_ns(3 * SLRI_LOCK_NAP_NS);
    assert_int_equal(__atomic_load_n(&got_it, __ATOMIC_ACQUIRE), 0);
    __atomic_store_n(&lock.taken, 0, __ATOMIC_RELEASE); // as by an owner that did not see the sleeper
    slri_thread_join(&thread);                          // hangs, and so fails by the test's timeout, if it sleeps on
    assert_int_equal(got_it, 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(threads_add_up),
        cmocka_unit_test(sleeper_gets_a_lock_that_was_given_without_a_wake),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
