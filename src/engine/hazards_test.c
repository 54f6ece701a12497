// SPDX-License-Identifier: Apache-2.0
#include "engine/hazards.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

enum { COPY = 1, KERNEL = 2 }; // kinds of commands

static struct slri_hazards hazards;
static struct slri_hazard_barrier barrier;

static int set_up(void **state)
{
    (void)state;
    memset(&hazards, 0, sizeof hazards);
    hazards.stages = COPY | KERNEL;
    return 0;
}

static struct slri_hazard_use use(uint64_t memory, uint64_t at, uint64_t bytes, uint32_t how, uint32_t stage)
{
    return (struct slri_hazard_use){.memory = memory, .at = at, .bytes = bytes, .how = how, .stage = stage};
}

// Whether a command that uses this range alone has a barrier before it.
static bool waits(uint64_t memory, uint64_t at, uint64_t bytes, uint32_t how, uint32_t stage)
{
    const struct slri_hazard_use next = use(memory, at, bytes, how, stage);
    return slri_hazards_next(&hazards, &next, 1, &barrier);
}

static void command_waits_where_one_of_both_writes(void **state)
{
    (void)state;
    static const struct {
        uint32_t before, next;
        bool waits;
    } of[] = {{SLRI_READS, SLRI_READS, false},
              {SLRI_READS, SLRI_WRITES, true},
              {SLRI_WRITES, SLRI_READS, true},
              {SLRI_WRITES, SLRI_WRITES, true},
              {SLRI_TELLS, SLRI_TELLS, false},
              {SLRI_TELLS, SLRI_READS, true},
              {SLRI_READS | SLRI_WRITES, SLRI_READS, true}};
    for (size_t i = 0; i < sizeof of / sizeof *of; ++i) {
        slri_hazards_clear(&hazards);
        assert_false(waits(7, 0, 64, of[i].before, KERNEL));
        assert_int_equal(waits(7, 0, 64, of[i].next, KERNEL), of[i].waits);
    }
    assert_int_equal(hazards.barriers, 5);
}

static void only_bytes_in_common_make_a_command_wait(void **state)
{
    (void)state;
    assert_false(waits(7, 100, 50, SLRI_WRITES, KERNEL));
    assert_false(waits(7, 0, 100, SLRI_WRITES, KERNEL));
    assert_false(waits(7, 150, 10, SLRI_WRITES, KERNEL));
    assert_false(waits(8, 100, 50, SLRI_WRITES, KERNEL)); // other memory
    assert_true(waits(7, 149, 1, SLRI_READS, KERNEL));
}

static void barrier_names_the_earlier_range_and_both_kinds(void **state)
{
    (void)state;
    assert_false(waits(7, 100, 50, SLRI_WRITES, COPY));
    assert_true(waits(7, 90, 20, SLRI_READS, KERNEL));
    assert_int_equal(barrier.from, COPY);
    assert_int_equal(barrier.to, KERNEL);
    assert_int_equal(barrier.ranges, 1);
    assert_int_equal(barrier.range[0].before.memory, 7);
    assert_int_equal(barrier.range[0].before.at, 100);
    assert_int_equal(barrier.range[0].before.bytes, 50);
    assert_int_equal(barrier.range[0].before.how, SLRI_WRITES);
    assert_int_equal(barrier.range[0].next_stage, KERNEL);
}

static void one_barrier_serves_all_later_commands_of_its_kind(void **state)
{
    (void)state;
    assert_false(waits(7, 0, 64, SLRI_WRITES, KERNEL));
    assert_true(waits(7, 0, 16, SLRI_READS, KERNEL));
    assert_false(waits(7, 16, 16, SLRI_READS, KERNEL));
    assert_true(waits(7, 32, 16, SLRI_READS, COPY)); // another kind has not waited
    assert_false(waits(7, 48, 16, SLRI_READS, COPY));
}

static void chain_of_writes_has_a_barrier_between_each_two(void **state)
{
    (void)state;
    for (int i = 0; i < 100; ++i)
        assert_int_equal(waits(7, 0, 64, SLRI_READS | SLRI_WRITES, KERNEL), i != 0);
    assert_int_equal(hazards.barriers, 99);
    assert_int_equal(hazards.uses, 1); // a write that covers the one before replaces it
}

static void same_read_is_noted_once(void **state)
{
    (void)state;
    for (int i = 0; i < 10; ++i)
        assert_false(waits(7, 0, 64, SLRI_READS, KERNEL));
    assert_int_equal(hazards.uses, 1);
}

static void barrier_of_many_ranges_is_for_all_memory(void **state)
{
    (void)state;
    for (uint32_t i = 0; i <= SLRI_MOST_NAMED; ++i)
        assert_false(waits(7, 64u * i, 64, SLRI_WRITES, KERNEL));
    assert_true(waits(7, 0, 64 * SLRI_MOST_NAMED, SLRI_READS, COPY));
    assert_int_equal(barrier.ranges, SLRI_MOST_NAMED);
    assert_true(waits(7, 0, 64 * (SLRI_MOST_NAMED + 1), SLRI_WRITES, KERNEL));
    assert_true(barrier.ranges > SLRI_MOST_NAMED);
    assert_int_equal(barrier.from, COPY | KERNEL);
    assert_int_equal(barrier.to, KERNEL);
}

static void uses_that_are_too_many_end_behind_one_barrier(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < SLRI_MOST_USES; ++i)
        assert_false(waits(7, 64u * i, 64, SLRI_WRITES, KERNEL));
    assert_true(waits(8, 0, 64, SLRI_WRITES, KERNEL));
    assert_true(barrier.ranges > SLRI_MOST_NAMED);
    assert_int_equal(barrier.from, COPY | KERNEL);
    assert_int_equal(barrier.to, COPY | KERNEL);
    assert_int_equal(hazards.uses, 1);
    assert_false(waits(7, 0, 64, SLRI_WRITES, KERNEL));
}

static void all_wait_for_a_list_and_it_for_all(void **state)
{
    (void)state;
    assert_false(slri_hazards_next_list(&hazards, &barrier)); // it is the first
    assert_true(slri_hazards_next_list(&hazards, &barrier));
    assert_true(barrier.ranges > SLRI_MOST_NAMED);
    assert_true(waits(7, 0, 64, SLRI_READS, KERNEL));
    assert_true(barrier.ranges > SLRI_MOST_NAMED);
    assert_false(waits(8, 0, 64, SLRI_READS, KERNEL));
    assert_true(slri_hazards_next_list(&hazards, &barrier));
    assert_int_equal(hazards.barriers, 3);
    slri_hazards_clear(&hazards); // the next submission comes behind this one
    assert_false(waits(7, 0, 64, SLRI_WRITES, KERNEL));
}

static void host_is_told_by_what_writes_where_it_works(void **state)
{
    (void)state;
    struct slri_hazard_use next = use(7, 0, 64, SLRI_READS, KERNEL);
    next.is_viewed = true;
    slri_hazards_next(&hazards, &next, 1, &barrier);
    assert_int_equal(hazards.told_by, 0);
    next.how = SLRI_WRITES;
    next.stage = COPY;
    slri_hazards_next(&hazards, &next, 1, &barrier);
    assert_int_equal(hazards.told_by, COPY);
    waits(8, 0, 64, SLRI_WRITES, KERNEL);
    assert_int_equal(hazards.told_by, COPY);
}

static void one_command_with_several_ranges_has_one_barrier(void **state)
{
    (void)state;
    const struct slri_hazard_use both[] = {use(7, 0, 64, SLRI_READS, KERNEL), use(8, 0, 64, SLRI_WRITES, KERNEL)};
    waits(7, 0, 64, SLRI_WRITES, COPY);
    waits(8, 0, 64, SLRI_READS, COPY);
    assert_true(slri_hazards_next(&hazards, both, 2, &barrier));
    assert_int_equal(barrier.ranges, 2);
    assert_int_equal(hazards.barriers, 1);
    assert_int_equal(barrier.range[1].before.how, SLRI_READS);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(command_waits_where_one_of_both_writes, set_up),
        cmocka_unit_test_setup(only_bytes_in_common_make_a_command_wait, set_up),
        cmocka_unit_test_setup(barrier_names_the_earlier_range_and_both_kinds, set_up),
        cmocka_unit_test_setup(one_barrier_serves_all_later_commands_of_its_kind, set_up),
        cmocka_unit_test_setup(chain_of_writes_has_a_barrier_between_each_two, set_up),
        cmocka_unit_test_setup(same_read_is_noted_once, set_up),
        cmocka_unit_test_setup(barrier_of_many_ranges_is_for_all_memory, set_up),
        cmocka_unit_test_setup(uses_that_are_too_many_end_behind_one_barrier, set_up),
        cmocka_unit_test_setup(all_wait_for_a_list_and_it_for_all, set_up),
        cmocka_unit_test_setup(host_is_told_by_what_writes_where_it_works, set_up),
        cmocka_unit_test_setup(one_command_with_several_ranges_has_one_barrier, set_up),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
