// SPDX-License-Identifier: Apache-2.0
// Medians and pairs; nothing here asserts a time.
#include "measure.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

static void a_quantile_is_one_of_the_values(void **state)
{
    (void)state;
    double values[] = {5.0, 1.0, 4.0, 2.0, 3.0};
    measure_sort(values, 5);
    assert_true(measure_quantile(values, 5, 0.0) == 1.0);
    assert_true(measure_quantile(values, 5, 0.5) == 3.0);
    assert_true(measure_quantile(values, 5, 0.99) == 5.0);
    assert_true(measure_quantile(values, 5, 1.0) == 5.0);
    assert_true(measure_quantile(values, 0, 0.5) == 0.0);
}

typedef struct source {
    unsigned runs, fails_at; // 0: never
    double base;
} source;

static bool slice(void *context, double *figures)
{
    source *source = context;
    source->runs++;
    figures[0] = source->base;
    figures[1] = source->base * (1.0 + source->runs % 2); // every other one twice as large
    return source->runs != source->fails_at;
}

static partner *two_cores(void)
{
    partner *partner = partner_start();
    if (partner == NULL)
        skip();
    return partner;
}

static void every_figure_has_its_medians_and_their_ratio(void **state)
{
    (void)state;
    partner *partner = two_cores();
    source value = {.base = 6.0}, floor = {.base = 2.0};
    measure_pair pair = {slice, slice, &value, &floor, .figures = 2, .enough = 3};
    measure_result result;
    assert_true(measure_pairs(&pair, partner, &result));
    assert_true(result.figures[0].value == 6.0 && result.figures[0].floor == 2.0 && result.figures[0].ratio == 3.0);
    assert_true(result.figures[1].ratio == 3.0); // of pairs: both are large in the same ones
    assert_true(result.kept <= result.tried);
    assert_int_equal(value.runs, result.tried);
    assert_int_equal(floor.runs, result.tried);
    assert_true(result.probe_ns > 0.0);
    partner_stop(partner);
}

// On a GPU the first launch of a kernel compiles it, and took a thousand times as long as the second.
static bool slow_at_first(void *context, double *figures)
{
    source *source = context;
    figures[0] = source->runs++ == 0 ? -1000.0 : source->base;
    return source->runs != source->fails_at;
}

static void the_first_run_of_slices_that_compile_is_no_sample(void **state)
{
    (void)state;
    partner *partner = two_cores();
    source value = {.base = 6.0}, floor = {.base = 2.0}, failing = {.base = 2.0, .fails_at = 1};
    measure_pair pair = {slow_at_first, slow_at_first, &value, &floor, .figures = 1, .enough = 3, .compiles = true};
    measure_result result;
    assert_true(measure_pairs(&pair, partner, &result));
    for (unsigned i = 0; i < result.kept; i++)
        assert_true(result.values[0][i] == 6.0 && result.floors[0][i] == 2.0);
    assert_int_equal(value.runs, result.tried + 1);
    assert_int_equal(floor.runs, result.tried + 1);
    pair.floor_context = &failing;
    assert_false(measure_pairs(&pair, partner, &result));
    assert_int_equal(result.tried, 0);
    partner_stop(partner);
}

static void a_slice_that_fails_ends_the_measurement(void **state)
{
    (void)state;
    partner *partner = two_cores();
    source value = {.base = 1.0, .fails_at = 1}, floor = {.base = 1.0};
    measure_pair pair = {slice, slice, &value, &floor, .figures = 1};
    measure_result result;
    assert_false(measure_pairs(&pair, partner, &result));
    assert_int_equal(value.runs, 1);
    assert_int_equal(floor.runs, 0);
    partner_stop(partner);
}

static void add(void *context)
{
    ++*(int *)context;
}

static void the_partner_does_each_job_once(void **state)
{
    (void)state;
    partner *partner = two_cores();
    int jobs = 0;
    for (int i = 1; i <= 100; i++) {
        partner_run(partner, add, &jobs);
        partner_join(partner);
        assert_int_equal(jobs, i);
    }
    partner_stop(partner);
    partner_stop(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_quantile_is_one_of_the_values),
        cmocka_unit_test(every_figure_has_its_medians_and_their_ratio),
        cmocka_unit_test(the_first_run_of_slices_that_compile_is_no_sample),
        cmocka_unit_test(a_slice_that_fails_ends_the_measurement),
        cmocka_unit_test(the_partner_does_each_job_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
