// SPDX-License-Identifier: Apache-2.0
// Threads and mutexes.
#define _GNU_SOURCE
#include "base/thread.h"

#include "base/clock.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <sched.h>
#include <signal.h>
#include <string.h>

struct seen {
    char name[16];
    int blocks_interrupt;
};

static void look_at_oneself(void *arg)
{
    struct seen *seen = arg;
    sigset_t blocked;
    pthread_getname_np(pthread_self(), seen->name, sizeof seen->name);
    pthread_sigmask(SIG_SETMASK, NULL, &blocked);
    seen->blocks_interrupt = sigismember(&blocked, SIGINT);
}

static void thread_has_its_name_and_receives_no_signals(void **state)
{
    (void)state;
    slri_thread thread;
    struct seen seen = {0};
    assert_int_equal(slri_thread_start(&thread, "slr-worker-3 and more", look_at_oneself, &seen), SLR_OK);
    slri_thread_join(&thread);
    assert_string_equal(seen.name, "slr-worker-3 an");
    assert_int_equal(seen.blocks_interrupt, 1);

    sigset_t blocked;
    pthread_sigmask(SIG_SETMASK, NULL, &blocked);
    assert_int_equal(sigismember(&blocked, SIGINT), 0); // ours is as it was
}

enum { ROUNDS = 50000 };
static slri_mutex counter_mutex = SLRI_MUTEX_INIT;
static volatile unsigned counter;

static void count(void *arg)
{
    slri_mutex *mutex = arg;
    for (int i = 0; i < ROUNDS; i++) {
        slri_mutex_lock(mutex);
        unsigned seen = counter;
        slri_pause(); // time for another thread to interfere
        counter = seen + 1;
        slri_mutex_unlock(mutex);
    }
}

static void count_on_three_threads(slri_mutex *mutex)
{
    slri_thread threads[3];
    counter = 0;
    for (int i = 0; i < 3; i++)
        assert_int_equal(slri_thread_start(&threads[i], "counter", count, mutex), SLR_OK);
    for (int i = 0; i < 3; i++)
        slri_thread_join(&threads[i]);
    assert_int_equal(counter, 3 * ROUNDS);
}

static void mutex_lets_one_thread_in(void **state)
{
    (void)state;
    count_on_three_threads(&counter_mutex);
    slri_mutex made;
    slri_mutex_init(&made);
    count_on_three_threads(&made);
    slri_mutex_destroy(&made);
}

static void cores_are_counted_once_so_a_thread_may_pin_itself(void **state)
{
    (void)state;
    cpu_set_t all, one;
    assert_int_equal(sched_getaffinity(0, sizeof all, &all), 0);
    assert_int_equal(slri_core_count(), CPU_COUNT(&all));
    CPU_ZERO(&one);
    for (int core = 0; CPU_COUNT(&one) == 0; core++)
        if (CPU_ISSET(core, &all))
            CPU_SET(core, &one);
    assert_int_equal(sched_setaffinity(0, sizeof one, &one), 0);
    assert_int_equal(slri_core_count(), CPU_COUNT(&all));
    assert_int_equal(sched_setaffinity(0, sizeof all, &all), 0);
}

static void sleep_is_never_short(void **state)
{
    (void)state;
    uint64_t before = slri_now_ns();
    slri_sleep_ns(3000000);
    assert_true(slri_now_ns() - before >= 3000000);
    slri_pause();
    slri_yield();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(thread_has_its_name_and_receives_no_signals),
        cmocka_unit_test(mutex_lets_one_thread_in),
        cmocka_unit_test(cores_are_counted_once_so_a_thread_may_pin_itself),
        cmocka_unit_test(sleep_is_never_short),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
