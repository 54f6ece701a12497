// SPDX-License-Identifier: Apache-2.0
// Buckets, their promised error, quantiles beside a sorted list, merging.
#include "base/histogram.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { VALUES = 20000 };

static struct histograms {
    struct slri_histogram one, other;
} h;

static void buckets_are_in_order_without_gaps_and_end_at_the_last_value(void **state)
{
    (void)state;
    assert_int_equal(slri_histogram_first(0), 0);
    for (uint32_t i = 0; i < HG_BUCKETS; ++i) {
        assert_int_equal(hg_bucket(slri_histogram_first(i)), i);
        assert_int_equal(hg_bucket(slri_histogram_last(i)), i);
        if (i + 1 < HG_BUCKETS)
            assert_int_equal(slri_histogram_last(i) + 1, slri_histogram_first(i + 1));
    }
    assert_true(slri_histogram_last(HG_BUCKETS - 1) == UINT64_MAX);
}

static uint64_t distance(uint64_t a, uint64_t b)
{
    return a > b ? a - b : b - a;
}

// The middle of a bucket beside its two ends, where it is farthest.
static void middle_of_a_bucket_is_within_a_128th_of_its_values(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < HG_BUCKETS; ++i) {
        uint64_t first = slri_histogram_first(i), last = slri_histogram_last(i), middle = first + (last - first) / 2;
        assert_true(distance(middle, first) <= first / 128);
        assert_true(distance(middle, last) <= last / 128);
    }
}

static void empty_one_gives_zeros(void **state)
{
    (void)state;
    memset(&h, 0, sizeof h);
    assert_int_equal(slri_histogram_count(&h.one), 0);
    assert_int_equal(slri_histogram_least(&h.one), 0);
    assert_int_equal(slri_histogram_mean(&h.one), 0);
    assert_int_equal(slri_histogram_quantile(&h.one, 0.5), 0);
}

static void single_value_is_every_quantile_exactly(void **state)
{
    (void)state;
    const uint64_t values[] = {0, 1, 127, 128, 129, 1000003, UINT64_MAX};
    for (size_t i = 0; i < sizeof values / sizeof values[0]; ++i) {
        memset(&h, 0, sizeof h);
        slri_histogram_add(&h.one, values[i]);
        assert_int_equal(slri_histogram_count(&h.one), 1);
        assert_true(slri_histogram_least(&h.one) == values[i]);
        assert_true(h.one.most == values[i]);
        assert_true(slri_histogram_mean(&h.one) == values[i]);
        for (double part = 0; part <= 1; part += 0.25)
            assert_true(slri_histogram_quantile(&h.one, part) == values[i]);
    }
}

static int by_size(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

// Over many powers of two, with ties.
static uint64_t next_value(uint64_t *seed)
{
    *seed = *seed * 6364136223846793005u + 1442695040888963407u;
    return *seed >> (20 + (*seed >> 32) % 44);
}

static void quantiles_are_those_of_a_sorted_list_within_the_promised_error(void **state)
{
    (void)state;
    static uint64_t values[VALUES];
    uint64_t seed = 7, sum = 0;
    memset(&h, 0, sizeof h);
    for (size_t i = 0; i < VALUES; ++i) { // in two parts, merged
        values[i] = next_value(&seed);
        sum += values[i];
        slri_histogram_add(i % 3 ? &h.one : &h.other, values[i]);
    }
    slri_histogram_merge(&h.one, &h.other);
    qsort(values, VALUES, sizeof values[0], by_size);
    assert_int_equal(slri_histogram_count(&h.one), VALUES);
    assert_true(slri_histogram_least(&h.one) == values[0]);
    assert_true(h.one.most == values[VALUES - 1]);
    assert_true(slri_histogram_mean(&h.one) == sum / VALUES);
    const double parts[] = {0.001, 0.1, 0.5, 0.9, 0.99, 0.999};
    for (size_t i = 0; i < sizeof parts / sizeof parts[0]; ++i) {
        uint64_t exact = values[(size_t)(parts[i] * VALUES) - 1];
        uint64_t found = slri_histogram_quantile(&h.one, parts[i]);
        if (distance(found, exact) > exact / 128)
            fail_msg("%g: %llu instead of %llu", parts[i], (unsigned long long)found, (unsigned long long)exact);
    }
    assert_true(slri_histogram_quantile(&h.one, 1) <= values[VALUES - 1]);
    assert_true(slri_histogram_quantile(&h.one, 0) >= values[0]);
}

// What was there before is not told; what is told twice is there once.
static void only_what_is_new_is_told(void **state)
{
    (void)state;
    static struct slri_histogram told;
    memset(&h, 0, sizeof h);
    memset(&told, 0, sizeof told);
    slri_histogram_tell(&h.other, &h.one, &told);
    assert_int_equal(slri_histogram_count(&h.other), 0);
    slri_histogram_add(&h.one, 5000);
    slri_histogram_add(&h.one, 1000000);
    slri_histogram_tell(NULL, &h.one, &told);
    slri_histogram_add(&h.one, 70000); // between the two
    slri_histogram_tell(&h.other, &h.one, &told);
    slri_histogram_tell(&h.other, &h.one, &told);
    assert_int_equal(slri_histogram_count(&h.other), 1);
    assert_int_equal(h.other.sum, 70000);
    assert_true(distance(slri_histogram_least(&h.other), 70000) <= 70000 / 64);
    assert_true(distance(h.other.most, 70000) <= 70000 / 64);
    slri_histogram_add(&h.one, 3);
    slri_histogram_add(&h.one, 2000001);
    slri_histogram_tell(&h.other, &h.one, &told);
    assert_int_equal(slri_histogram_count(&h.other), 3);
    assert_int_equal(slri_histogram_least(&h.other), 3);
    assert_int_equal(h.other.most, 2000001);
    assert_int_equal(h.other.sum, 2070004);
    assert_memory_equal(&told, &h.one, sizeof told);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(buckets_are_in_order_without_gaps_and_end_at_the_last_value),
        cmocka_unit_test(middle_of_a_bucket_is_within_a_128th_of_its_values),
        cmocka_unit_test(empty_one_gives_zeros),
        cmocka_unit_test(single_value_is_every_quantile_exactly),
        cmocka_unit_test(quantiles_are_those_of_a_sorted_list_within_the_promised_error),
        cmocka_unit_test(only_what_is_new_is_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
