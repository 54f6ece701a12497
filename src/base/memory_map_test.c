// SPDX-License-Identifier: Apache-2.0
// Lazily committed pages.
#include "base/memory_map.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

static void reserving_64_gib_costs_only_the_pages_touched(void **state)
{
    (void)state;
    const size_t bytes = (size_t)64 << 30;
    unsigned char *memory = slri_map_reserve(bytes);
    assert_non_null(memory);
    assert_int_equal((uintptr_t)memory % 4096, 0);
    assert_int_equal(memory[0] | memory[bytes / 2] | memory[bytes - 1], 0);
    memory[bytes - 1] = 7;
    assert_int_equal(memory[bytes - 1], 7);
    slri_map_release(memory, bytes);
    slri_map_release(NULL, bytes);
}

static void more_than_the_address_space_is_refused(void **state)
{
    (void)state;
    assert_null(slri_map_reserve(SIZE_MAX - 8191));
}

static void large_reservations_are_aligned_and_zeroed_and_go_whole(void **state)
{
    (void)state;
    const size_t bytes = ((size_t)5 << 20) + 4097;
    for (int i = 0; i < 64; ++i) {
        unsigned char *memory = slri_map_reserve_large(bytes);
        assert_non_null(memory);
        assert_int_equal((uintptr_t)memory % (2 << 20), 0);
        assert_int_equal(memory[0] | memory[bytes / 2] | memory[bytes - 1], 0);
        memory[0] = memory[bytes - 1] = 1;
        unsigned char *other = slri_map_reserve(4096); // may lie in what was cut off, not in what was kept
        other[0] = 2;
        assert_int_equal(memory[0] + memory[bytes - 1], 2);
        slri_map_release(other, 4096);
        slri_map_release(memory, bytes);
    }
    assert_null(slri_map_reserve_large(SIZE_MAX - 8191));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reserving_64_gib_costs_only_the_pages_touched),
        cmocka_unit_test(large_reservations_are_aligned_and_zeroed_and_go_whole),
        cmocka_unit_test(more_than_the_address_space_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
