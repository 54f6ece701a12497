// SPDX-License-Identifier: Apache-2.0
// The threads that help with the blocks of a grid: they take only cores on which no stream computes.
#include "hal/cpu/crew.h"

#include "base/clock.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <pthread.h>
#include <string.h>

#define LONG_NS UINT64_C(20000000000)

// One stream's job of many blocks, which a helper may share, and another stream, whose only block waits.
static struct {
    struct slri_cpu_crew crew;     // of one helper: two cores
    pthread_t owner;               // of the long job
    uint32_t by_owner, by_helper;  // chunks of it; atomic
    uint32_t until_helped;         // whether the owner waits in a block until the helper has begun one
    uint32_t late;                 // chunks that the helper began while the other stream computed
    uint32_t is_inside, may_leave; // the other stream; atomic
} test;

static uint32_t value_of(const uint32_t *word)
{
    return __atomic_load_n(word, __ATOMIC_ACQUIRE);
}

static void await(const uint32_t *word, uint32_t least)
{
    uint64_t deadline_ns = slri_now_ns() + LONG_NS;
    while (value_of(word) < least && !slri_passed(deadline_ns))
        slri_sleep_ns(100000);
}

static void take_blocks(struct slri_launch *launch, uint64_t first, uint64_t count)
{
    (void)launch, (void)first;
    bool helps = !pthread_equal(pthread_self(), test.owner);
    if (helps && value_of(&test.is_inside) && !value_of(&test.may_leave))
        __atomic_fetch_add(&test.late, 1, __ATOMIC_RELAXED);
    __atomic_fetch_add(helps ? &test.by_helper : &test.by_owner, 1, __ATOMIC_RELEASE);
    slri_sleep_ns(200000 * (count < 8 ? count : 8)); // long enough to be worth waking a thread
    if (!helps && value_of(&test.until_helped) && value_of(&test.by_owner) > 1)
        await(&test.by_helper, 1);
}

static void take_the_only_block(struct slri_launch *launch, uint64_t first, uint64_t count)
{
    (void)launch, (void)first, (void)count;
    __atomic_store_n(&test.is_inside, 1, __ATOMIC_RELEASE);
    await(&test.may_leave, 1);
}

static void run_other_stream(void *arg)
{
    (void)arg;
    slri_cpu_crew_run(&test.crew, take_the_only_block, NULL, 1);
}

static void begin_other_stream(slri_thread *thread)
{
    assert_int_equal(slri_thread_start(thread, "other", run_other_stream, NULL), SLR_OK);
    await(&test.is_inside, 1);
}

static void end_other_stream(slri_thread *thread)
{
    __atomic_store_n(&test.may_leave, 1, __ATOMIC_RELEASE);
    slri_thread_join(thread);
}

static int open_crew(void **state)
{
    (void)state;
    memset(&test, 0, sizeof test);
    test.owner = pthread_self();
    slri_cpu_crew_init(&test.crew, 1, NULL);
    return 0;
}

static int close_crew(void **state)
{
    (void)state;
    slri_cpu_crew_stop(&test.crew);
    return 0;
}

static void a_stream_that_is_alone_is_helped(void **state)
{
    (void)state;
    test.until_helped = 1;
    slri_cpu_crew_run(&test.crew, take_blocks, NULL, 64);
    assert_true(test.by_helper > 0);
}

static void a_stream_keeps_its_core_beside_another_that_has_the_crew(void **state)
{
    slri_thread other;
    (void)state;
    begin_other_stream(&other);
    slri_cpu_crew_run(&test.crew, take_blocks, NULL, 64);
    end_other_stream(&other);
    assert_int_equal(test.by_helper, 0);
    assert_true(test.by_owner > 1);
}

static void begin_in_the_middle(struct slri_launch *launch, uint64_t first, uint64_t count)
{
    static slri_thread other;
    if (first == 0)
        test.until_helped = 1;
    take_blocks(launch, first, count);
    bool owns = pthread_equal(pthread_self(), test.owner);
    if (owns && value_of(&test.by_helper) > 0 && !value_of(&test.is_inside))
        begin_other_stream(&other);
    if (owns && first + count == 4096)
        end_other_stream(&other);
}

static void a_helper_leaves_when_a_stream_needs_its_core(void **state)
{
    (void)state;
    slri_cpu_crew_run(&test.crew, begin_in_the_middle, NULL, 4096);
    if (!test.may_leave) // the helper had the last blocks
        __atomic_store_n(&test.may_leave, 1, __ATOMIC_RELEASE);
    assert_true(test.by_helper > 0);
    assert_true(test.late <= 1); // it may have been about to begin it
}

// It sleeps by then, and is called again.
static void end_in_the_middle(struct slri_launch *launch, uint64_t first, uint64_t count)
{
    take_blocks(launch, first, count);
    if (pthread_equal(pthread_self(), test.owner) && value_of(&test.by_owner) == 4) {
        __atomic_store_n(&test.may_leave, 1, __ATOMIC_RELEASE);
        while (__atomic_load_n(&test.crew.streams, __ATOMIC_RELAXED) > 1)
            slri_sleep_ns(100000);
        test.until_helped = 1;
    }
}

static void a_helper_comes_back_when_a_stream_ends(void **state)
{
    slri_thread other;
    (void)state;
    begin_other_stream(&other);
    slri_cpu_crew_run(&test.crew, end_in_the_middle, NULL, 4096);
    slri_thread_join(&other);
    assert_true(test.by_helper > 0);
    assert_int_equal(test.late, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_stream_that_is_alone_is_helped, open_crew, close_crew),
        cmocka_unit_test_setup_teardown(a_stream_keeps_its_core_beside_another_that_has_the_crew, open_crew,
                                        close_crew),
        cmocka_unit_test_setup_teardown(a_helper_leaves_when_a_stream_needs_its_core, open_crew, close_crew),
        cmocka_unit_test_setup_teardown(a_helper_comes_back_when_a_stream_ends, open_crew, close_crew),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
