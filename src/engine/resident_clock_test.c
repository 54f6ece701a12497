// SPDX-License-Identifier: Apache-2.0
// The device's clock beside the host's: when it is asked for, what an answer says, and which answers are good enough.
// The group is the test itself, and time is simulated: what is tested here are lengths of time, and a thread waits for
// a core as long as the machine likes.
#include "engine/resident.h"

#include "base/clock.h"
#include "base/histogram.h"
#include "base/sim.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#define AHEAD_NS ((uint64_t)7200 * 1000000000u)

static struct world {
    struct slri_resident resident;
    struct slri_resident_table table;
    struct slri_shard shard;
    struct slri_histogram latency;
} world;

static int begin_time(void **state)
{
    (void)state;
    return slri_sim_begin(1) == SLR_OK ? 0 : -1;
}

static int end_time(void **state)
{
    (void)state;
    return slri_sim_end() == 0 ? 0 : -1;
}

static struct slri_resident *begin(bool has_clock, bool timed)
{
    memset(&world, 0, sizeof world);
    world.shard.notes.latency = timed ? &world.latency : NULL;
    world.resident.has_clock = has_clock;
    world.resident.table = &world.table;
    world.resident.record[1].shard = &world.shard; // the first entry has none any more
    world.table.entries = 2;
    slri_resident_begin_clock(&world.resident);
    return &world.resident;
}

static uint64_t told_ns(void)
{
    return world.table.entry[1].ahead_ns;
}

// A question, and an answer that the host finds at its next look: later than it waits for one. It was given at the
// beginning of that time, or at its end.
static void answer_late(bool at_once)
{
    world.resident.next_pair_ns = 0;
    uint32_t asked = world.table.asked;
    assert_false(slri_resident_compare_clocks(&world.resident));
    assert_int_equal(world.table.asked, asked + 1);
    world.table.clock_ns = (at_once ? world.resident.asked_ns : slri_now_ns()) + AHEAD_NS;
    world.table.answered = world.table.asked;
    assert_false(slri_resident_compare_clocks(&world.resident));
}

static void nobody_is_asked_where_nothing_is_timed(void **state)
{
    (void)state;
    slri_resident_compare_clocks(begin(true, false));
    assert_int_equal(world.table.asked, 0);
    slri_resident_compare_clocks(begin(false, true));
    assert_int_equal(world.table.asked, 0);
}

static void check_first_answers(bool at_once)
{
    struct slri_resident *resident = begin(true, true);
    for (int i = 0; i < 7; ++i) { // too wide for the first, with hope for another
        answer_late(at_once);
        assert_int_equal(told_ns(), 0);
        assert_true(resident->next_pair_ns <= slri_now_ns() + 1000000);
    }
    answer_late(at_once);
    assert_true(resident->ahead_of_host_ns != 0 && told_ns() == resident->ahead_of_host_ns);
    uint64_t off_ns = world.shard.notes.latency_off_ns;
    assert_in_range(off_ns, 10000, 20000); // half of what the host has waited
    assert_true(told_ns() + off_ns >= AHEAD_NS && told_ns() <= AHEAD_NS + off_ns);
    assert_int_equal(world.table.entry[0].ahead_ns, 0);
}

static void answer_says_how_far_the_clocks_are_apart_and_how_exactly(void **state)
{
    (void)state;
    check_first_answers(true);
    check_first_answers(false);
}

static void answer_that_took_much_longer_is_not_taken_while_the_last_is_new(void **state)
{
    (void)state;
    struct slri_resident *resident = begin(true, true);
    resident->pair_ns = slri_now_ns();
    resident->pair_width_ns = 1000;
    resident->ahead_of_host_ns = AHEAD_NS + 1;
    resident->next_pair_ns = 0;
    slri_resident_compare_clocks(resident);
    resident->asked_ns -= 60000; // since then
    world.table.clock_ns = slri_now_ns();
    world.table.answered = world.table.asked;
    slri_resident_compare_clocks(resident);
    assert_int_equal(resident->ahead_of_host_ns, AHEAD_NS + 1);
    assert_int_equal(resident->pair_width_ns, 1000);
    resident->pair_ns -= (uint64_t)3600 * 1000000000u;
    answer_late(true);
    assert_true(told_ns() != 0 && resident->ahead_of_host_ns == told_ns() && told_ns() != AHEAD_NS + 1);
}

static void lost_clock_is_not_known_any_more(void **state)
{
    (void)state;
    struct slri_resident *resident = begin(true, true);
    for (int i = 0; i < 8; ++i)
        answer_late(true);
    assert_true(resident->ahead_of_host_ns != 0);
    slri_resident_forget_clock(resident);
    assert_int_equal(resident->ahead_of_host_ns, 0); // what the next launch's entries begin with
    assert_false(resident->is_paired);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(nobody_is_asked_where_nothing_is_timed, begin_time, end_time),
        cmocka_unit_test_setup_teardown(answer_says_how_far_the_clocks_are_apart_and_how_exactly, begin_time, end_time),
        cmocka_unit_test_setup_teardown(answer_that_took_much_longer_is_not_taken_while_the_last_is_new, begin_time,
                                        end_time),
        cmocka_unit_test_setup_teardown(lost_clock_is_not_known_any_more, begin_time, end_time),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
