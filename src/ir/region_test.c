// SPDX-License-Identifier: Apache-2.0
#include "ir/ir.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

static void memory_is_zeroed_aligned_and_apart(void **state)
{
    (void)state;
    struct slri_region *region = slri_region_create();
    unsigned char *before = NULL;
    for (size_t bytes = 1; bytes < 5000; bytes += 37) {
        unsigned char *memory = slri_region_take(region, bytes);
        assert_non_null(memory);
        assert_int_equal((uintptr_t)memory % 16, 0);
        for (size_t i = 0; i < bytes; i++)
            assert_int_equal(memory[i], 0);
        memset(memory, 0xFF, bytes);
        assert_ptr_not_equal(memory, before);
        before = memory;
    }
    slri_region_destroy(region);
}

static void large_request_leaves_the_chunk_in_use(void **state)
{
    (void)state;
    struct slri_region *region = slri_region_create();
    unsigned char *first = slri_region_take(region, 16);
    unsigned char *large = slri_region_take(region, 1 << 20);
    assert_non_null(large);
    memset(large, 1, 1 << 20);
    assert_ptr_equal(slri_region_take(region, 16), first + 16);
    slri_region_destroy(region);
}

static void size_that_no_machine_has_is_refused(void **state)
{
    (void)state;
    struct slri_region *region = slri_region_create();
    assert_null(slri_region_take(region, SIZE_MAX));
    assert_null(slri_region_take(region, SIZE_MAX - 14)); // would wrap when rounded up
    assert_null(slri_region_text(region, "", SIZE_MAX));
    assert_non_null(slri_region_take(region, 1));
    slri_region_destroy(region);
}

static void text_is_copied_and_terminated(void **state)
{
    (void)state;
    struct slri_region *region = slri_region_create();
    char text[] = "patient";
    const char *copy = slri_region_text(region, text, 3);
    text[0] = 'X';
    assert_string_equal(copy, "pat");
    assert_string_equal(slri_region_text(region, NULL, 0), "");
    slri_region_destroy(region);
    slri_region_destroy(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(memory_is_zeroed_aligned_and_apart),
        cmocka_unit_test(large_request_leaves_the_chunk_in_use),
        cmocka_unit_test(size_that_no_machine_has_is_refused),
        cmocka_unit_test(text_is_copied_and_terminated),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
