// SPDX-License-Identifier: Apache-2.0
#include "bench/bench.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

static void less_time_and_more_a_second_are_better(void **state)
{
    (void)state;
    assert_string_equal(bench_better("ns"), "less");
    assert_string_equal(bench_better("KiB"), "less");
    assert_string_equal(bench_better("%"), "less");
    assert_string_equal(bench_better("msg/s"), "more");
    assert_string_equal(bench_better("GFLOP/s"), "more");
    assert_null(bench_better("times"));
    assert_null(bench_better("messages"));
    assert_null(bench_better(""));
}

static void a_verdict_says_how_many_times_and_which_way(void **state)
{
    (void)state;
    static const struct {
        const char *unit;
        double floor, ratio;
        const char *verdict;
    } rows[] = {{"ns", 100, 1.35, "1.35x worse"},
                {"ns", 100, 0.5, "2.00x better"},
                {"msg/s", 100, 1.35, "1.35x better"},
                {"msg/s", 100, 0.25, "4.00x worse"},
                {"us", 100, 1.004, "same"},
                {"GB/s", 100, 0.996, "same"},
                {"ns", 100, 15207, "15207x worse"},
                {"ns", 100, 1e-9, "999999x better"},
                {"ns", 0, 0, ""},
                {"times", 100, 2, ""}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        bench_row row = {.unit = rows[i].unit, .floor = rows[i].floor, .ratio = rows[i].ratio};
        char verdict[BENCH_VERDICT_BYTES];
        bench_verdict(&row, verdict);
        assert_string_equal(verdict, rows[i].verdict);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(less_time_and_more_a_second_are_better),
        cmocka_unit_test(a_verdict_says_how_many_times_and_which_way),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
