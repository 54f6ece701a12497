// SPDX-License-Identifier: Apache-2.0
// Verdicts: exact bounds for one figure, and intervals for samples that scatter.
#include <slipring/baseline.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static slr_baseline throughput(double target)
{
    slr_baseline baseline = SLR_BASELINE_INIT;
    baseline.operation = "vector_add";
    baseline.target = target;
    return baseline;
}

static slr_comparison compared(const slr_baseline *baseline, const double *samples, uint32_t count)
{
    slr_comparison out;
    if (slr_baseline_compare(baseline, samples, count, &out) != SLR_OK)
        fail_msg("%s", slr_error_message());
    return out;
}

static uint32_t verdict_of(const slr_baseline *baseline, double value)
{
    return compared(baseline, &value, 1).verdict;
}

static void a_throughput_below_nine_tenths_of_its_target_warns(void **state)
{
    (void)state;
    slr_baseline b = throughput(1e9);
    assert_int_equal(verdict_of(&b, 899999999), SLR_VERDICT_REGRESSED);
    assert_int_equal(verdict_of(&b, 900000000), SLR_VERDICT_SAME);
    assert_int_equal(verdict_of(&b, 1e9), SLR_VERDICT_SAME);
    assert_int_equal(verdict_of(&b, 1.1e9), SLR_VERDICT_SAME);
    assert_int_equal(verdict_of(&b, 5e9), SLR_VERDICT_IMPROVED);
    b.tolerance = 0.2;
    assert_int_equal(verdict_of(&b, 899999999), SLR_VERDICT_SAME);
    assert_int_equal(verdict_of(&b, 799999999), SLR_VERDICT_REGRESSED);
    slr_comparison c = compared(&b, (const double[1]){5e8}, 1);
    assert_true(c.speed == 0.5 && c.low == 0.5 && c.high == 0.5);
    assert_string_equal(c.why, "vector_add: regressed: 500000000 against 1000000000, speed 0.5 (0.5 to 0.5), "
                               "tolerance 20 %, 1 sample");
}

static void a_latency_warns_the_other_way_round(void **state)
{
    (void)state;
    slr_baseline b = throughput(900);
    b.is_latency = 1;
    assert_int_equal(verdict_of(&b, 1000), SLR_VERDICT_SAME);
    assert_int_equal(verdict_of(&b, 1000.001), SLR_VERDICT_REGRESSED);
    assert_int_equal(verdict_of(&b, 810), SLR_VERDICT_SAME);
    assert_int_equal(verdict_of(&b, 809), SLR_VERDICT_IMPROVED);
    assert_int_equal(verdict_of(&b, 1), SLR_VERDICT_IMPROVED); // a speed-up never warns
}

// `limit` is exactly at the limit on paper, whatever its bits are.
static void check_limit(slr_baseline *b, double limit, double beyond, uint32_t verdict, bool has_samples)
{
    assert_int_equal(verdict_of(b, limit), SLR_VERDICT_SAME);
    assert_int_equal(verdict_of(b, limit * beyond), verdict);
    if (has_samples)
        assert_int_equal(compared(b, (const double[2]){limit, limit}, 2).verdict, SLR_VERDICT_SAME);
}

static void a_figure_exactly_at_its_limit_is_the_same(void **state)
{
    (void)state;
    static const double scales[] = {1e-9, 1e-7, 1e-3, 0.1, 1, 10, 1000, 1e6, 1e9, 1e12};
    static const double percents[] = {10, 5, 20, 1, 30, 90};
    const double less = 1 - 1e-13, more = 1 + 1e-13;
    for (size_t at = 0; at < 60 * 1000; ++at) {
        const double percent = percents[at / 10 % 6], i = 1 + (double)(at / 60);
        const double whole = 100 * i * scales[at % 10], part = (100 - percent) * i * scales[at % 10];
        slr_baseline b = throughput(whole);
        b.tolerance = percent / 100;
        check_limit(&b, part, less, SLR_VERDICT_REGRESSED, at % 97 == 0);
        b.target = part;
        check_limit(&b, whole, more, SLR_VERDICT_IMPROVED, at % 97 == 0);
        b.is_latency = 1;
        check_limit(&b, whole, more, SLR_VERDICT_REGRESSED, at % 97 == 0);
        b.target = whole;
        check_limit(&b, part, less, SLR_VERDICT_IMPROVED, at % 97 == 0);
    }
    slr_baseline b = throughput(1e15); // whole numbers stay apart
    assert_int_equal(verdict_of(&b, 899999999999999), SLR_VERDICT_REGRESSED);
    assert_int_equal(verdict_of(&b, 900000000000000), SLR_VERDICT_SAME);
}

// A sum of twelve uniform numbers: nearly normal, of variance 1.
static double scattered(double mean, double deviation)
{
    static uint64_t state = 7;
    double sum = -6;
    for (int i = 0; i < 12; ++i) {
        state = state * 6364136223846793005u + 1442695040888963407u;
        sum += (double)(state >> 11) / 9007199254740992.0;
    }
    return mean * (1 + deviation * sum);
}

static void samples_decide_by_their_scatter(void **state)
{
    (void)state;
    double samples[20];
    slr_baseline b = throughput(1e9);
    uint32_t warned = 0, missed = 0;
    for (int trial = 0; trial < 20; ++trial) {
        for (int i = 0; i < 20; ++i)
            samples[i] = scattered(0.95e9, 0.03);
        warned += compared(&b, samples, 20).verdict == SLR_VERDICT_REGRESSED;
        for (int i = 0; i < 20; ++i)
            samples[i] = scattered(0.85e9, 0.03);
        missed += compared(&b, samples, 20).verdict != SLR_VERDICT_REGRESSED;
    }
    assert_int_equal(warned, 0);
    assert_int_equal(missed, 0);
    for (int i = 0; i < 20; ++i)
        samples[i] = i % 2 ? 0.5e9 : 1.5e9;
    slr_comparison c = compared(&b, samples, 20);
    assert_int_equal(c.verdict, SLR_VERDICT_UNDECIDED);
    assert_true(c.low < 0.9 && c.high > 1);
    assert_non_null(strstr(c.why, "not decided"));
}

static void samples_of_the_target_scatter_too(void **state)
{
    (void)state;
    double before[15], after[15], twice[15];
    slr_baseline b = throughput(0);
    b.samples = before;
    b.sample_count = 15;
    b.is_latency = 1;
    for (int i = 0; i < 15; ++i) {
        before[i] = scattered(100, 0.02);
        after[i] = scattered(100, 0.02);
        twice[i] = scattered(200, 0.02);
    }
    assert_int_equal(compared(&b, after, 15).verdict, SLR_VERDICT_SAME);
    assert_int_equal(compared(&b, twice, 15).verdict, SLR_VERDICT_REGRESSED);
    slr_comparison one = compared(&b, twice, 15), other = compared(&b, twice, 15);
    assert_memory_equal(&one, &other, sizeof one); // the same samples, the same result
    assert_true(one.low <= one.speed && one.speed <= one.high && one.speed > 0.48 && one.speed < 0.52);
    for (int i = 0; i < 15; ++i)
        before[i] = i % 2 ? 50 : 400;
    assert_int_equal(compared(&b, twice, 15).verdict, SLR_VERDICT_UNDECIDED);
}

static void refused(const slr_baseline *b, const double *samples, uint32_t count, const char *why)
{
    slr_comparison out = {.verdict = 77};
    assert_int_equal(slr_baseline_compare(b, samples, count, &out), SLR_INVALID);
    if (!strstr(slr_error_message(), why))
        fail_msg("'%s' is not in '%s'", why, slr_error_message());
    assert_int_equal(out.verdict, 77);
}

static void what_is_no_measurement_is_refused(void **state)
{
    (void)state;
    const double bad[] = {0, -1, NAN, INFINITY}, fine = 1;
    slr_baseline b = throughput(1);
    for (int i = 0; i < 4; ++i) {
        refused(&b, &bad[i], 1, "a sample is not a finite number above 0");
        slr_baseline other = throughput(bad[i]);
        refused(&other, &fine, 1, i == 0 ? "neither a target nor a sample" : "a target of");
        other = throughput(1);
        other.tolerance = i == 0 ? 1 : bad[i];
        refused(&other, &fine, 1, "a tolerance of");
    }
    refused(&b, &fine, 0, "there is no sample");
    refused(&b, NULL, 1, "samples is NULL");
    b.sample_count = 1;
    refused(&b, &fine, 1, "samples is NULL");
    b.struct_size = 3;
    refused(&b, &fine, 1, "struct_size");
    assert_string_equal(slr_verdict_name(SLR_VERDICT_UNDECIDED), "not decided");
    assert_string_equal(slr_verdict_name(9), "unknown");
}

static void a_target_beside_its_samples_is_what_counts(void **state)
{
    (void)state;
    static const double figures[] = {100, 101, 99, 100, 102, 98};
    slr_baseline baseline = SLR_BASELINE_INIT;
    baseline.samples = figures;
    baseline.sample_count = sizeof figures / sizeof *figures;
    const slr_comparison own = compared(&baseline, figures, 6);
    assert_int_equal(own.verdict, SLR_VERDICT_SAME);
    baseline.target = 200;
    const slr_comparison twice = compared(&baseline, figures, 6);
    assert_int_equal(twice.verdict, SLR_VERDICT_REGRESSED);
    assert_true(twice.speed == 0.5 && twice.low == own.low / 2 && twice.high == own.high / 2); // the same scatter
    baseline.target = 50;
    assert_int_equal(compared(&baseline, figures, 6).verdict, SLR_VERDICT_IMPROVED);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_throughput_below_nine_tenths_of_its_target_warns),
        cmocka_unit_test(a_latency_warns_the_other_way_round),
        cmocka_unit_test(a_figure_exactly_at_its_limit_is_the_same),
        cmocka_unit_test(samples_decide_by_their_scatter),
        cmocka_unit_test(samples_of_the_target_scatter_too),
        cmocka_unit_test(what_is_no_measurement_is_refused),
        cmocka_unit_test(a_target_beside_its_samples_is_what_counts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
