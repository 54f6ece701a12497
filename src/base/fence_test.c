// SPDX-License-Identifier: Apache-2.0
// Two unequal halves of a fence: of two threads that store and then look, at least one sees the other's store.
#include "base/fence.h"

#include "base/thread.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

enum { ROUNDS = 20000 };

// Each word on a line of its own.
static struct line {
    _Alignas(64) uint32_t word;
} frequent, rare, seen_by_frequent, begun, ended;

// Spins at first, so that both threads store at about the same time.
static void await(const struct line *line, uint32_t round)
{
    for (uint32_t polls = 0; __atomic_load_n(&line->word, __ATOMIC_ACQUIRE) != round; ++polls)
        if (polls > 2000)
            slri_yield();
}

static void be_frequent(void *arg)
{
    (void)arg;
    for (uint32_t round = 1; round <= ROUNDS; ++round) {
        await(&begun, round);
        __atomic_store_n(&frequent.word, round, __ATOMIC_RELEASE);
        slri_fence_light();
        seen_by_frequent.word = __atomic_load_n(&rare.word, __ATOMIC_RELAXED);
        __atomic_store_n(&ended.word, round, __ATOMIC_RELEASE);
    }
}

// With slri_fence_light on both sides it fails after some hundred rounds on two cores of an x86.
static void one_of_two_threads_sees_the_other(void **state)
{
    (void)state;
    slri_fence_begin();
    slri_thread thread;
    assert_int_equal(slri_thread_start(&thread, "frequent", be_frequent, NULL), SLR_OK);
    for (uint32_t round = 1; round <= ROUNDS; ++round) {
        __atomic_store_n(&begun.word, round, __ATOMIC_RELEASE);
        for (uint32_t pause = 0; pause < round % 64; ++pause)
            __atomic_signal_fence(__ATOMIC_SEQ_CST); // the frequent thread needs some time to see that it has begun
        __atomic_store_n(&rare.word, round, __ATOMIC_RELAXED);
        slri_fence_heavy();
        uint32_t seen = __atomic_load_n(&frequent.word, __ATOMIC_RELAXED);
        await(&ended, round);
        assert_true(seen == round || seen_by_frequent.word == round);
    }
    slri_thread_join(&thread);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_of_two_threads_sees_the_other),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
