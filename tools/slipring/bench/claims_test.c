// SPDX-License-Identifier: Apache-2.0
// What is said of a claim whose row came out so.
#include "bench/claims.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

static void is_judged(const char *name, const char *unit, double value, double ratio, bool is_gpu, const char *begin)
{
    const bench_row row = {.name = name, .unit = unit, .value = value, .floor = 1, .ratio = ratio};
    char to[CLAIMS_VERDICT_BYTES];
    claims_judge(&row, is_gpu, to);
    assert_int_equal(strncmp(to, begin, strlen(begin)), 0);
    assert_int_equal(*to == '\0', *begin == '\0');
}

static void a_claim_holds_whole_in_part_or_not(void **state)
{
    (void)state;
    is_judged("small_ring", "us", 1, 0.4, false, "holds: 2.5 times by the ratio (guide: 2.5 times)");
    is_judged("small_ring_many", "us", 1, 0.5, false, "holds in part: 2 times");
    is_judged("small_ring", "us", 1, 1.2, false, "does not hold here: 0.833 times");
    is_judged("batch_64B", "us", 1, 1.0 / 84, false, "holds: 84 times");
    is_judged("batch_of_32", "ns", 1, 0.9, false, "holds: 1.11 times"); // not the row of copies
    is_judged("stride_8", "us", 1, 8, false, "holds: 0.125 times");
    is_judged("stride_8", "us", 1, 1.3, false, "holds in part");
    is_judged("fused_chain", "GB/s", 1, 1.6, false, "holds: 1.6 times"); // more is better
    is_judged("fused_chain", "GB/s", 1, 0.9, false, "does not hold here");
    is_judged("priority_255", "messages", 32, 1, false, "holds: 32 messages");
    is_judged("priority_255", "messages", 31, 1, false, "holds in part");
    is_judged("launch_empty", "ns", 20000, 1, false, "holds: 2e+04 ns (guide: 15 to 30 us)");
    is_judged("launch_empty", "ns", 5000, 1, false, "does not hold here: 5e+03 ns");
}

static void what_this_device_cannot_show_is_not_decided(void **state)
{
    (void)state;
    is_judged("latency_L1", "ns", 2, 1, false, "not decided: this device is no GPU");
    is_judged("pinned_4M", "GB/s", 0, 0, false, "not decided (guide: faster)"); // no figure
    is_judged("overlap", "pairs/s", 5, 1, false, "");                           // streams_4 has the claim
    is_judged("l2_window", "GB/s", 0, 0, true, "not decided (guide: faster)");
    is_judged("unheard_of", "ns", 5, 1, false, "");
}

static void the_figure_that_decides_is_named(void **state)
{
    (void)state;
    assert_string_equal(claims_figure(&(bench_row){.name = "batch_64B"}), "ratio");
    assert_string_equal(claims_figure(&(bench_row){.name = "launch_empty"}), "value");
    assert_null(claims_figure(&(bench_row){.name = "overlap"}));
    assert_null(claims_figure(&(bench_row){.name = "unheard_of"}));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_claim_holds_whole_in_part_or_not),
        cmocka_unit_test(what_this_device_cannot_show_is_not_decided),
        cmocka_unit_test(the_figure_that_decides_is_named),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
