// SPDX-License-Identifier: Apache-2.0
// The checksum of logs: each bit counts, wherever it stands, and calls may divide the bytes as they like.
#include "cluster/sum.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

enum { BYTES = 171, SEEDS = 3 };

static void each_bit_and_the_length_count(void **state)
{
    (void)state;
    static const unsigned char fills[] = {0x00, 0xff, 0x5a};
    unsigned char bytes[BYTES];
    for (uint64_t seed = 0; seed < SEEDS; ++seed) {
        memset(bytes, fills[seed], sizeof bytes);
        for (size_t length = 1; length <= BYTES; ++length) {
            const uint64_t whole = slri_sum_of(seed, bytes, length);
            assert_true(whole != slri_sum_of(seed, bytes, length - 1));
            assert_true(whole != slri_sum_of(seed + 1, bytes, length));
            for (size_t bit = 0; bit < 8 * length; ++bit) {
                bytes[bit / 8] ^= (unsigned char)(1u << bit % 8);
                assert_true(whole != slri_sum_of(seed, bytes, length));
                bytes[bit / 8] ^= (unsigned char)(1u << bit % 8);
            }
        }
    }
}

static void two_words_that_change_places_count(void **state)
{
    (void)state;
    uint64_t words[20];
    for (uint64_t i = 0; i < 20; ++i)
        words[i] = i;
    const uint64_t whole = slri_sum_of(0, words, sizeof words);
    for (uint32_t i = 0; i < 20; ++i) {
        for (uint32_t k = 0; k < i; ++k) {
            words[i] = k;
            words[k] = i;
            assert_true(whole != slri_sum_of(0, words, sizeof words));
            words[i] = i;
            words[k] = k;
        }
    }
    assert_true(whole == slri_sum_of(0, words, sizeof words)); // the same words have the same sum
}

static void the_division_into_calls_does_not_count(void **state)
{
    (void)state;
    unsigned char bytes[BYTES];
    for (size_t i = 0; i < BYTES; ++i)
        bytes[i] = (unsigned char)(i * 37);
    const uint64_t whole = slri_sum_of(5, bytes, BYTES);
    for (size_t first = 0; first <= BYTES; first += 8) {
        for (size_t second = first; second <= BYTES; second += 8) {
            slri_sum sum = slri_sum_begin(5);
            slri_sum_add(&sum, bytes, first);
            slri_sum_add(&sum, bytes + first, second - first);
            slri_sum_add(&sum, bytes + second, BYTES - second);
            assert_true(whole == slri_sum_end(&sum));
        }
    }
}

enum { ROWS = 6, ROW_MOST = 200 };

static void each_bit_and_place_of_a_row_counts(void **state)
{
    (void)state;
    static const unsigned char fills[] = {0x00, 0xff, 0x5a};
    unsigned char rows[ROWS * ROW_MOST];
    for (uint32_t bytes = 1; bytes <= ROW_MOST; bytes += bytes < 24 ? 1 : 13) {
        for (uint32_t fill = 0; fill < 3; ++fill) {
            memset(rows, fills[fill], sizeof rows);
            const uint64_t whole = slri_rows_add(0, rows, ROWS, bytes);
            assert_true(whole != slri_rows_add(0, rows, ROWS - 1, bytes));
            for (size_t bit = 0; bit < (size_t)8 * ROWS * bytes; ++bit) {
                rows[bit / 8] ^= (unsigned char)(1u << bit % 8);
                assert_true(whole != slri_rows_add(0, rows, ROWS, bytes));
                rows[bit / 8] ^= (unsigned char)(1u << bit % 8);
            }
        }
        for (uint32_t i = 0; i < ROWS * bytes; ++i)
            rows[i] = (unsigned char)(i / bytes);
        const uint64_t in_order = slri_rows_add(0, rows, ROWS, bytes);
        for (uint32_t i = 0; i < ROWS; ++i) { // two that change places
            for (uint32_t k = 0; k < i; ++k) {
                memset(rows + i * bytes, (int)k, bytes);
                memset(rows + k * bytes, (int)i, bytes);
                assert_true(in_order != slri_rows_add(0, rows, ROWS, bytes));
                memset(rows + i * bytes, (int)i, bytes);
                memset(rows + k * bytes, (int)k, bytes);
            }
        }
    }
}

static void sums_of_rows_join(void **state)
{
    (void)state;
    unsigned char rows[ROWS * ROW_MOST];
    for (size_t i = 0; i < sizeof rows; ++i)
        rows[i] = (unsigned char)(i * 37);
    for (uint32_t bytes = 1; bytes <= ROW_MOST; ++bytes) {
        const uint64_t whole = slri_rows_add(0, rows, ROWS, bytes);
        for (uint32_t first = 0; first <= ROWS; ++first) {
            const uint64_t sum = slri_rows_add(0, rows, first, bytes);
            const uint64_t next = slri_rows_add(0, rows + first * bytes, ROWS - first, bytes);
            assert_true(whole == slri_rows_join(sum, next, ROWS - first, bytes));
            assert_true(whole == slri_rows_add(sum, rows + first * bytes, ROWS - first, bytes));
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_bit_and_the_length_count),
        cmocka_unit_test(two_words_that_change_places_count),
        cmocka_unit_test(the_division_into_calls_does_not_count),
        cmocka_unit_test(each_bit_and_place_of_a_row_counts),
        cmocka_unit_test(sums_of_rows_join),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
