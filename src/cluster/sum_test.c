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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_bit_and_the_length_count),
        cmocka_unit_test(two_words_that_change_places_count),
        cmocka_unit_test(the_division_into_calls_does_not_count),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
