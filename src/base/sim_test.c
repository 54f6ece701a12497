// SPDX-License-Identifier: Apache-2.0
#include "base/sim.h"

#include "base/clock.h"
#include "base/futex.h"
#include "base/process.h"
#include "base/status.h"
#include "base/thread.h"

#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <setjmp.h>

#include <cmocka.h>

static void begin(uint64_t seed)
{
    assert_int_equal(slri_sim_begin(seed), SLR_OK);
}

static void start(slri_thread *thread, void (*body)(void *), void *arg)
{
    assert_int_equal(slri_thread_start(thread, "test", body, arg), SLR_OK);
}

// ---- what runs -----------------------------------------------------------------------------------------------------

enum { WRITERS = 4, LINES = 8 };
static struct page { // who wrote which line
    slri_mutex lock;
    char line[WRITERS * LINES + 1];
    uint32_t lines, inside, crowded;
} page;

static void write_lines(void *arg)
{
    for (uint32_t i = 0; i < LINES; ++i) {
        slri_mutex_lock(&page.lock);
        page.crowded += page.inside++ != 0;
        slri_sleep_ns(1000);
        page.line[page.lines++] = *(const char *)arg;
        --page.inside;
        slri_mutex_unlock(&page.lock);
    }
}

static uint64_t write_page_begun(char *out)
{
    static char name[WRITERS] = "abcd";
    slri_thread writer[WRITERS];
    memset(&page, 0, sizeof page);
    slri_mutex_init(&page.lock);
    for (uint32_t i = 0; i < WRITERS; ++i)
        start(&writer[i], write_lines, &name[i]);
    for (uint32_t i = 0; i < WRITERS; ++i)
        slri_thread_join(&writer[i]);
    uint64_t fingerprint = slri_sim_fingerprint();
    assert_int_equal(slri_sim_end(), 0);
    slri_mutex_destroy(&page.lock);
    strcpy(out, page.line);
    return fingerprint;
}

static uint64_t write_page(uint64_t seed, char *out)
{
    begin(seed);
    return write_page_begun(out);
}

// ---- tasks that take turns -----------------------------------------------------------------------------------------

static void write_in_turn(void *arg)
{
    for (uint32_t i = 0; i < LINES; ++i) {
        page.line[page.lines++] = *(const char *)arg;
        slri_yield();
    }
}

static void wake_when_asked(void *arg)
{
    uint32_t *word = arg;
    __atomic_store_n(word, 1, __ATOMIC_RELAXED);
    slri_futex_wake(word, 1);
}

// ---- tests ---------------------------------------------------------------------------------------------------------

static void a_seed_does_the_same_again_and_another_something_else(void **state)
{
    (void)state;
    char first[WRITERS * LINES + 1], again[sizeof first], other[sizeof first];
    uint64_t fingerprint = write_page(7, first);
    assert_true(write_page(7, again) == fingerprint);
    assert_string_equal(first, again);
    assert_true(write_page(8, other) != fingerprint);
    assert_string_not_equal(first, other);
    assert_int_equal(strlen(other), WRITERS * LINES);
}

static void a_mutex_lets_one_in_even_when_it_sleeps_there(void **state)
{
    (void)state;
    char written[WRITERS * LINES + 1];
    for (uint64_t seed = 0; seed < 50; ++seed) {
        write_page(seed, written);
        assert_int_equal(page.crowded, 0);
    }
}

static void nobody_waits_for_real(void **state)
{
    (void)state;
    uint64_t before = slri_now_ns();
    begin(1);
    uint64_t logical = slri_now_ns();
    slri_sleep_ns(3600000000000u);
    assert_true(slri_now_ns() >= logical + 3600000000000u);
    uint32_t word = 1;
    uint64_t deadline = slri_deadline_after(3600000000000u);
    while (!slri_passed(deadline))
        slri_futex_wait(&word, 1, deadline);
    assert_int_equal(slri_sim_end(), 0);
    assert_true(slri_now_ns() - before < 60000000000u); // two hours, in less than a minute
}

static void set_word(void *arg)
{
    uint32_t *word = arg;
    slri_sleep_ns(1000000);
    *word = 2;
    slri_futex_wake(word, 1);
}

static void who_sleeps_on_a_word_is_woken(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < 50; ++seed) {
        uint32_t word = 1;
        slri_thread setter;
        begin(seed);
        start(&setter, set_word, &word);
        uint64_t deadline = slri_deadline_after(1000000000);
        while (word == 1 && !slri_passed(deadline))
            slri_futex_wait(&word, 1, deadline);
        assert_int_equal(word, 2);
        slri_thread_join(&setter);
        assert_int_equal(slri_sim_end(), 0);
    }
}

static void fail_named(void *arg)
{
    slri_fail(SLR_INVALID, "%s", (const char *)arg);
    slri_sleep_ns(1000);
    assert_string_equal(slr_error_message(), arg);
}

static void each_task_has_its_own_message(void **state)
{
    (void)state;
    static char one[] = "one", two[] = "two";
    slri_thread thread[2];
    begin(3);
    slri_fail(SLR_INVALID, "three");
    start(&thread[0], fail_named, one);
    start(&thread[1], fail_named, two);
    slri_thread_join(&thread[0]);
    slri_thread_join(&thread[1]);
    assert_string_equal(slr_error_message(), "three");
    assert_int_equal(slri_sim_end(), 0);
}

static void a_program_takes_real_time_and_the_clock_stands(void **state)
{
    (void)state;
#ifdef _WIN32
    skip(); // there is no such shell
#endif
    begin(4);
    const char *const argv[] = {"/bin/sh", "-c", "sleep 0.05; echo done", NULL};
    slri_process_result result;
    uint64_t before = slri_now_ns();
    assert_int_equal(slri_process_run(argv, slri_deadline_after(20000000000u), NULL, 64, &result), SLR_OK);
    assert_true(slri_now_ns() - before < 1000000);
    assert_string_equal(result.output, "done\n");
    free(result.output);
    assert_int_equal(slri_sim_end(), 0);
}

static void ended_early(void *arg)
{
    slri_thread_detach_self();
    *(uint32_t *)arg = 1;
}

static void a_detached_task_leaves_nothing_behind(void **state)
{
    (void)state;
    uint32_t ran = 0;
    slri_thread thread;
    begin(5);
    start(&thread, ended_early, &ran);
    assert_int_equal(slri_sim_end(), 0);
    assert_int_equal(ran, 1);
}

static jmp_buf way_out;
static const char *said;

static void note_stuck(const char *why)
{
    said = why;
    longjmp(way_out, 1);
}

static void a_wait_that_nobody_can_end_is_told(void **state)
{
    (void)state;
    uint32_t word = 1;
    begin(6);
    slri_sim_watch(0, note_stuck);
    if (setjmp(way_out) == 0)
        for (;;)
            slri_futex_wait(&word, 1, SLRI_FOREVER);
    slri_sim_watch(0, NULL);
    slri_sim_is_on = 0;
    assert_string_equal(said, "every task waits for another");
}

static void the_environment_begins_it_and_must_be_a_number(void **state)
{
    (void)state;
    setenv("SLIPRING_SIM", "12x", 1);
    assert_int_equal(slri_sim_from_environment(), SLR_INVALID);
    assert_non_null(strstr(slr_error_message(), "12x"));
    setenv("SLIPRING_SIM", "99999999999999999999", 1);
    assert_int_equal(slri_sim_from_environment(), SLR_INVALID);
    assert_false(slri_sim_on());
    setenv("SLIPRING_SIM", "12", 1);
    assert_int_equal(slri_sim_from_environment(), SLR_OK);
    assert_int_equal(slri_sim_from_environment(), SLR_OK);
    assert_true(slri_sim_on() && slri_sim_seed() == 12);
    assert_int_equal(slri_sim_end(), 0);
    unsetenv("SLIPRING_SIM");
    assert_int_equal(slri_sim_from_environment(), SLR_OK);
    assert_false(slri_sim_on());
}

static void tasks_that_take_turns_go_on_in_their_order(void **state)
{
    (void)state;
    static char name[] = "abc";
    slri_thread writer[3];
    memset(&page, 0, sizeof page);
    assert_int_equal(slri_sim_begin_turns(), SLR_OK);
    assert_true(slri_sim_on() && slri_sim_in_turns());
    for (uint32_t i = 0; i < 3; ++i)
        start(&writer[i], write_in_turn, &name[i]);
    assert_string_equal(page.line, ""); // a start is no turn
    for (uint32_t i = 0; i < 3; ++i)
        slri_thread_join(&writer[i]);
    assert_int_equal(slri_sim_end(), 0);
    assert_string_equal(page.line, "abcabcabcabcabcabcabcabc");
}

static void in_turns_a_mutex_lets_one_in_and_time_is_the_systems(void **state)
{
    (void)state;
    char written[WRITERS * LINES + 1];
    uint64_t before_ns = slri_now_ns();
    assert_int_equal(slri_sim_begin_turns(), SLR_OK);
    assert_true(slri_now_ns() >= before_ns); // no clock of its own, which begins at a second
    write_page_begun(written);
    assert_int_equal(page.crowded, 0);
    assert_int_equal(strlen(written), WRITERS * LINES);
    assert_true(slri_now_ns() - before_ns >= WRITERS * LINES * 1000); // they have slept one after the other
}

static void in_turns_who_waits_is_woken_or_has_waited_for_real(void **state)
{
    (void)state;
    uint32_t word = 0;
    slri_thread waker;
    assert_int_equal(slri_sim_begin_turns(), SLR_OK);
    uint64_t deadline_ns = slri_deadline_after(2000000);
    slri_futex_wait(&word, 0, deadline_ns); // nobody wakes it
    assert_true(slri_now_ns() >= deadline_ns);
    start(&waker, wake_when_asked, &word);
    assert_int_equal(word, 0);
    slri_futex_wait(&word, 0, SLRI_FOREVER);
    assert_int_equal(word, 1);
    slri_thread_join(&waker);
    assert_int_equal(slri_sim_end(), 0);
}

int main(void)
{
    unsetenv("SLIPRING_SIM");
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_seed_does_the_same_again_and_another_something_else),
        cmocka_unit_test(a_mutex_lets_one_in_even_when_it_sleeps_there),
        cmocka_unit_test(nobody_waits_for_real),
        cmocka_unit_test(who_sleeps_on_a_word_is_woken),
        cmocka_unit_test(each_task_has_its_own_message),
        cmocka_unit_test(a_program_takes_real_time_and_the_clock_stands),
        cmocka_unit_test(a_detached_task_leaves_nothing_behind),
        cmocka_unit_test(a_wait_that_nobody_can_end_is_told),
        cmocka_unit_test(the_environment_begins_it_and_must_be_a_number),
        cmocka_unit_test(tasks_that_take_turns_go_on_in_their_order),
        cmocka_unit_test(in_turns_a_mutex_lets_one_in_and_time_is_the_systems),
        cmocka_unit_test(in_turns_who_waits_is_woken_or_has_waited_for_real),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
