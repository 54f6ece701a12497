// SPDX-License-Identifier: Apache-2.0
#include "ir/names.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static const char *name_of(struct slri_region *region, const char *prefix, uint32_t i)
{
    char text[64];
    int length = snprintf(text, sizeof text, "%s%u", prefix, i);
    assert_in_range(length, 1, sizeof text - 1);
    return slri_region_text(region, text, (size_t)length);
}

static void a_set_has_what_was_added_and_nothing_else(void **state)
{
    (void)state;
    struct slri_region *region = slri_region_create();
    struct slri_names names = {0};
    assert_false(slri_names_have(&names, "f0"));
    for (uint32_t i = 0; i < 1000; i++)
        assert_true(slri_names_add(&names, region, name_of(region, "f", i)));
    assert_true(slri_names_add(&names, region, "f7"));
    assert_int_equal(names.count, 1000);
    for (uint32_t i = 0; i < 1000; i++) {
        assert_true(slri_names_have(&names, name_of(region, "f", i)));
        assert_false(slri_names_have(&names, name_of(region, "g", i)));
    }
    assert_false(slri_names_have(&names, ""));
    slri_region_destroy(region);
}

// Generated files have numbered names, tens of thousands of them.
static void a_search_looks_at_a_few_names_however_many_there_are(void **state)
{
    (void)state;
    static const char *const prefixes[] = {"f", "kernel_", "x__", "a_name_as_long_as_generators_make_them_"};
    for (size_t p = 0; p < sizeof prefixes / sizeof *prefixes; p++) {
        struct slri_region *region = slri_region_create();
        struct slri_names names = {0};
        for (uint32_t i = 0; i < 50000; i++)
            assert_true(slri_names_add(&names, region, name_of(region, prefixes[p], i)));
        uint64_t added = names.compared;
        for (uint32_t i = 0; i < 50000; i++)
            assert_true(slri_names_have(&names, name_of(region, prefixes[p], i)));
        assert_true(added < 50000 * 16);
        assert_true(names.compared - added < 50000 * 8);
        slri_region_destroy(region);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_set_has_what_was_added_and_nothing_else),
        cmocka_unit_test(a_search_looks_at_a_few_names_however_many_there_are),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
