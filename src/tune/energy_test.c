// SPDX-License-Identifier: Apache-2.0
// Samples of energy from counters that are made up.
#include "tune/energy.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#define MS 1000000u

// A launch of `launch_ms` at `watts` after another, on a device whose counter moves every `step_ms`. The time of a
// sample.
static uint64_t take(uint64_t launch_ms, uint64_t step_ms, uint64_t watts, struct slri_energy *energy)
{
    uint64_t ms = 12345;
    *energy = (struct slri_energy){0};
    enum slri_energy_state state = slri_energy_note(energy, ms * MS, ms / step_ms * step_ms * watts, 0);
    while (state == SLRI_ENERGY_MORE) {
        ms += launch_ms;
        state = slri_energy_note(energy, ms * MS, ms / step_ms * step_ms * watts, 1);
    }
    assert_int_equal(state, SLRI_ENERGY_DONE);
    return ms - 12345;
}

static void is_near(const struct slri_energy *energy, double mj, double percent)
{
    double found = slri_energy_of_launch(energy) / 1000;
    if (!(fabs(found - mj) <= mj * percent / 100))
        fail_msg("%g mJ of a launch, not %g", found, mj);
}

static void a_sample_counts_from_step_to_step(void **state)
{
    (void)state;
    struct slri_energy energy;
    assert_in_range(take(1, 20, 300, &energy), 500, 550); // half a second, and the wait for the first step
    is_near(&energy, 300, 0.01);
    assert_in_range(take(1, 100, 300, &energy), 500, 601); // five steps
    is_near(&energy, 300, 0.01);
    assert_in_range(take(3, 100, 70, &energy), 600, 710);
    is_near(&energy, 210, 1);
    assert_in_range(take(1000, 100, 300, &energy), 5000, 5000);
    is_near(&energy, 300000, 2.5);
}

static void launches_before_the_first_step_do_not_count(void **state)
{
    (void)state;
    struct slri_energy energy = {0};
    slri_energy_note(&energy, 0, 1000, 0);
    slri_energy_note(&energy, 90 * MS, 1000, 500);
    slri_energy_note(&energy, 100 * MS, 1100, 60);
    for (uint32_t i = 1; i < 5; ++i)
        assert_int_equal(slri_energy_note(&energy, (100 + 100 * i) * MS, 1100 + 50 * i, 10), SLRI_ENERGY_MORE);
    assert_int_equal(slri_energy_note(&energy, 600 * MS, 1350, 10), SLRI_ENERGY_DONE);
    is_near(&energy, 5, 0.001);
}

static void a_counter_that_stands_or_falls_is_no_sample(void **state)
{
    (void)state;
    struct slri_energy energy = {0};
    slri_energy_note(&energy, 0, 1000, 0);
    assert_int_equal(slri_energy_note(&energy, 3999 * (uint64_t)MS, 1000, 1), SLRI_ENERGY_MORE);
    assert_int_equal(slri_energy_note(&energy, 4000 * (uint64_t)MS, 1000, 1), SLRI_ENERGY_STANDS);
    energy = (struct slri_energy){0};
    slri_energy_note(&energy, 0, 1000, 0);
    slri_energy_note(&energy, 100 * MS, 1100, 1);
    assert_true(energy.is_begun);
    assert_int_equal(slri_energy_note(&energy, 200 * MS, 7, 1), SLRI_ENERGY_MORE); // a driver that was loaded again
    assert_false(energy.is_begun);
    assert_int_equal(energy.last_mj, 7);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_sample_counts_from_step_to_step),
        cmocka_unit_test(launches_before_the_first_step_do_not_count),
        cmocka_unit_test(a_counter_that_stands_or_falls_is_no_sample),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
