// SPDX-License-Identifier: Apache-2.0
// The record of a buffer's valid bytes, also against an array that says it for each byte.
#include "device/device_test.h"

#include "device/validity.h"

static const struct slri_range none;

static struct slri_range missing(struct slri_validity *v, uint64_t begin, uint64_t end, uint32_t place)
{
    struct slri_range run = none;
    return slri_validity_missing(v, (struct slri_range){begin, end}, place, &run) ? run : none;
}

static void written(struct slri_validity *v, uint64_t begin, uint64_t end, uint32_t place)
{
    must(slri_validity_reserve(v, NULL, 1));
    slri_validity_written(v, (struct slri_range){begin, end}, place);
}

static void moved(struct slri_validity *v, uint64_t begin, uint64_t end, uint32_t place)
{
    must(slri_validity_reserve(v, NULL, 1));
    slri_validity_moved(v, (struct slri_range){begin, end}, place);
}

#define is(range, from, to)                                                                                            \
    do {                                                                                                               \
        struct slri_range got = (range);                                                                               \
        assert_int_equal(got.begin, from);                                                                             \
        assert_int_equal(got.end, to);                                                                                 \
    } while (0)

static void new_record_misses_nothing(void **state)
{
    (void)state;
    struct slri_validity v = {.bytes = 100};
    is(missing(&v, 0, 100, SLRI_AT_HOST), 0, 0);
    is(missing(&v, 0, 100, SLRI_AT_DEVICE), 0, 0);
    slri_validity_free(&v, NULL);
}

static void three_writes_are_one_run_until_they_are_moved(void **state)
{
    (void)state;
    struct slri_validity v = {.bytes = 1000};
    written(&v, 0, 10, SLRI_AT_HOST);
    written(&v, 500, 510, SLRI_AT_HOST);
    written(&v, 990, 1000, SLRI_AT_HOST);
    is(missing(&v, 0, 1000, SLRI_AT_DEVICE), 0, 1000);
    is(missing(&v, 5, 505, SLRI_AT_DEVICE), 5, 505); // no more than was asked
    is(missing(&v, 10, 500, SLRI_AT_DEVICE), 0, 0);
    moved(&v, 0, 1000, SLRI_AT_DEVICE);
    is(missing(&v, 0, 1000, SLRI_AT_DEVICE), 0, 0);
    assert_int_equal(v.spans, 1);
    slri_validity_free(&v, NULL);
}

static void run_never_covers_bytes_that_are_newer_where_it_goes(void **state)
{
    (void)state;
    struct slri_validity v = {.bytes = 1000};
    written(&v, 0, 1000, SLRI_AT_HOST);
    written(&v, 400, 500, SLRI_AT_DEVICE);
    is(missing(&v, 0, 1000, SLRI_AT_DEVICE), 0, 400);
    is(missing(&v, 400, 1000, SLRI_AT_DEVICE), 500, 1000);
    is(missing(&v, 0, 1000, SLRI_AT_HOST), 400, 500);
    slri_validity_free(&v, NULL);
}

static void long_stretch_between_splits_a_run(void **state)
{
    (void)state;
    struct slri_validity v = {.bytes = 1000000};
    written(&v, 0, 10, SLRI_AT_HOST);
    written(&v, 10 + 65537, 10 + 65538, SLRI_AT_HOST);
    is(missing(&v, 0, 1000000, SLRI_AT_DEVICE), 0, 10);
    is(missing(&v, 10, 1000000, SLRI_AT_DEVICE), 65547, 65548);
    slri_validity_free(&v, NULL);
}

// 64 bytes, each with its own bits, beside the record: random writes and moves.
static void record_agrees_with_a_byte_by_byte_one(void **state)
{
    (void)state;
    struct slri_validity v = {.bytes = 64};
    unsigned char byte[64];
    uint32_t seed = 12345;
    memset(byte, SLRI_AT_BOTH, sizeof byte);
    for (int step = 0; step < 20000; ++step) {
        seed = seed * 1664525 + 1013904223;
        uint32_t begin = (seed >> 8) % 64, length = (seed >> 16) % (65 - begin), place = 1 + (seed >> 30) % 2;
        if (seed >> 31)
            written(&v, begin, begin + length, place);
        else
            moved(&v, begin, begin + length, place);
        for (uint32_t k = begin; k < begin + length; ++k)
            byte[k] = (unsigned char)(seed >> 31 ? place : byte[k] | place);
        struct slri_range run = missing(&v, begin, 64, place);
        uint32_t first = begin;
        while (first < 64 && byte[first] & place)
            ++first;
        if (first == 64) {
            is(run, 0, 0);
            continue;
        }
        assert_int_equal(run.begin, first);
        for (uint64_t k = run.begin; k < run.end; ++k)
            assert_int_not_equal(byte[k], place); // may be moved: valid where it comes from
        assert_int_not_equal(byte[run.end - 1] & place, place);
    }
    slri_validity_free(&v, NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(new_record_misses_nothing),
        cmocka_unit_test(three_writes_are_one_run_until_they_are_moved),
        cmocka_unit_test(run_never_covers_bytes_that_are_newer_where_it_goes),
        cmocka_unit_test(long_stretch_between_splits_a_run),
        cmocka_unit_test(record_agrees_with_a_byte_by_byte_one),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
