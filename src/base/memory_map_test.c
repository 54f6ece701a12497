// SPDX-License-Identifier: Apache-2.0
// Lazily committed pages.
#include "base/memory_map.h"

#include <pthread.h>
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

struct writer {
    unsigned char *memory;
    unsigned stop; // atomic
};

// A data race, and meant to be one.
__attribute__((no_sanitize("thread"))) static void *keep_writing(void *arg)
{
    struct writer *writer = arg;
    while (!__atomic_load_n(&writer->stop, __ATOMIC_RELAXED))
        *(volatile unsigned char *)(writer->memory + 64) = 7;
    return NULL;
}

// Another thread finds the one or the other.
static void memory_is_put_over_what_is_written_to(void **state)
{
    (void)state;
    struct writer writer = {.memory = slri_map_reserve(65536)};
    pthread_t thread;
    assert_int_equal(pthread_create(&thread, NULL, keep_writing, &writer), 0);
    for (int i = 0; i < 200; ++i) {
        writer.memory[0] = 5;
        assert_true(slri_map_over(writer.memory, 65536));
        assert_int_equal(writer.memory[0], 0);
    }
    __atomic_store_n(&writer.stop, 1, __ATOMIC_RELAXED);
    pthread_join(thread, NULL);
    slri_map_release(writer.memory, 65536);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reserving_64_gib_costs_only_the_pages_touched),
        cmocka_unit_test(large_reservations_are_aligned_and_zeroed_and_go_whole),
        cmocka_unit_test(more_than_the_address_space_is_refused),
        cmocka_unit_test(memory_is_put_over_what_is_written_to),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
