// SPDX-License-Identifier: Apache-2.0
// Items shared out by weights: the exact numbers, on no device.
#include "cluster/cluster.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#define MANY SLR_CLUSTER_MOST_DEVICES
#define LIST(...)                                                                                                      \
    (const uint64_t[])                                                                                                 \
    {                                                                                                                  \
        __VA_ARGS__                                                                                                    \
    }

// What is shared out is all of it, without gaps.
static void shares(const uint64_t *weights, const uint64_t *most, uint32_t count, uint64_t items, uint64_t granularity,
                   const uint64_t *want)
{
    slr_part parts[MANY];
    uint64_t end = 0;
    assert_int_equal(slri_split(weights, most, count, items, granularity, parts), SLR_OK);
    for (uint32_t i = 0; i < count; ++i) {
        assert_int_equal(parts[i].device, i);
        assert_int_equal(parts[i].offset, end);
        assert_int_equal(parts[i].items, want[i]);
        end += parts[i].items;
    }
    assert_int_equal(end, items);
}

static void refuses(const uint64_t *weights, const uint64_t *most, uint32_t count, uint64_t items, uint64_t granularity,
                    const char *word)
{
    slr_part parts[MANY];
    assert_int_equal(slri_split(weights, most, count, items, granularity, parts), SLR_NO_MEMORY);
    if (!strstr(slr_error_message(), word))
        fail_msg("no '%s' in '%s'", word, slr_error_message());
}

static void shares_follow_the_weights_by_largest_remainder(void **state)
{
    (void)state;
    shares(LIST(3, 1), NULL, 2, 1000000, 1, LIST(750000, 250000));
    shares(LIST(5, 3, 2), NULL, 3, 100, 1, LIST(50, 30, 20));
    shares(LIST(1, 1, 1), NULL, 3, 10, 1, LIST(4, 3, 3));
    shares(LIST(2, 1), NULL, 2, 7, 1, LIST(5, 2));
    shares(LIST(1, 2), NULL, 2, 7, 1, LIST(2, 5));
    shares(LIST(9), NULL, 1, 12345, 1, LIST(12345));
}

static void zero_is_a_weight_and_all_zero_are_equal(void **state)
{
    (void)state;
    shares(LIST(0, 0, 0, 0), NULL, 4, 10, 1, LIST(3, 3, 2, 2));
    shares(LIST(1, 0, 1), NULL, 3, 9, 1, LIST(5, 0, 4));
    shares(LIST(0, 7), NULL, 2, 9, 1, LIST(0, 9));
    shares(LIST(3, 1), NULL, 2, 0, 1, LIST(0, 0));
}

static void weights_and_items_near_the_end_of_their_range_do_not_overflow(void **state)
{
    const uint64_t top = UINT64_C(1) << 63;
    (void)state;
    shares(LIST(top, top), NULL, 2, UINT64_MAX, 1, LIST(top, top - 1));
    shares(LIST(UINT64_MAX, UINT64_MAX, UINT64_MAX), NULL, 3, 9, 1, LIST(3, 3, 3));
    shares(LIST(top, top - 1), NULL, 2, 5, 1, LIST(3, 2)); // and not as if they were equal
    shares(LIST(1, 1), NULL, 2, UINT64_MAX, 1000, LIST(UINT64_C(9223372036854776000), UINT64_C(9223372036854775615)));
}

static void all_parts_but_the_last_are_whole_granules(void **state)
{
    (void)state;
    shares(LIST(1, 1), NULL, 2, 1000, 256, LIST(512, 488));
    shares(LIST(1, 1, 1), NULL, 3, 300, 256, LIST(256, 44, 0));
    shares(LIST(1, 3), NULL, 2, 1024, 256, LIST(256, 768));
    shares(LIST(1, 3), NULL, 2, 100, 256, LIST(0, 100)); // one granule: to the larger remainder
}

static void what_a_limit_keeps_from_a_device_goes_to_the_others(void **state)
{
    (void)state;
    shares(LIST(3, 1), LIST(100, 1000), 2, 1000, 1, LIST(100, 900));
    shares(LIST(5, 3, 2), LIST(20, 100, 100), 3, 100, 1, LIST(20, 48, 32));
    shares(LIST(1, 1), LIST(300, 1000), 2, 1000, 256, LIST(256, 744)); // the limit is no whole granule
    shares(LIST(1), LIST(100), 1, 100, 256, LIST(100));                // the last granule is short, and fits
    shares(LIST(1, 1), LIST(256, 44), 2, 300, 256, LIST(256, 44));
}

static void items_without_room_are_refused(void **state)
{
    (void)state;
    refuses(LIST(3, 1), LIST(100, 100), 2, 1000, 1, "800 of 1000");
    refuses(LIST(1), LIST(99), 1, 100, 256, "100 of 100");
    refuses(LIST(1, 0), LIST(10, 1000), 2, 11, 1, "1 of 11"); // who has no weight takes no surplus
    shares(LIST(1, 0), LIST(11, 1000), 2, 11, 1, LIST(11, 0));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(shares_follow_the_weights_by_largest_remainder),
        cmocka_unit_test(zero_is_a_weight_and_all_zero_are_equal),
        cmocka_unit_test(weights_and_items_near_the_end_of_their_range_do_not_overflow),
        cmocka_unit_test(all_parts_but_the_last_are_whole_granules),
        cmocka_unit_test(what_a_limit_keeps_from_a_device_goes_to_the_others),
        cmocka_unit_test(items_without_room_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
