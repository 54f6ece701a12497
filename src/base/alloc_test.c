// SPDX-License-Identifier: Apache-2.0
// The allocator hook.
#include "base/alloc.h"

#include "base/aligned_test.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

struct seen {
    size_t bytes, alignment, released;
};

static void *counting_allocate(void *user, size_t bytes, size_t alignment)
{
    struct seen *seen = user;
    seen->bytes = bytes;
    seen->alignment = alignment;
    char *memory = aligned_take(alignment, bytes);
    return memory ? memset(memory, 0xff, bytes) : NULL;
}

static void counting_release(void *user, void *memory, size_t bytes)
{
    ((struct seen *)user)->released = bytes;
    aligned_give(memory);
}

static void *refusing_allocate(void *user, size_t bytes, size_t alignment)
{
    (void)user, (void)bytes, (void)alignment;
    return NULL;
}

static void memory_is_zeroed_and_on_a_cache_line(void **state)
{
    (void)state;
    for (size_t bytes = 0; bytes < 300; bytes += 37) {
        unsigned char *memory = slri_alloc(NULL, bytes);
        assert_non_null(memory);
        assert_int_equal((uintptr_t)memory % 128, 0);
        for (size_t i = 0; i < bytes; i++)
            assert_int_equal(memory[i], 0);
        memset(memory, 0xff, bytes);
        slri_free(NULL, memory, bytes);
    }
    slri_free(NULL, NULL, 8);
}

static void hook_is_asked_for_the_size_and_told_it_again(void **state)
{
    (void)state;
    struct seen seen = {0};
    const slr_allocator hook = {counting_allocate, counting_release, &seen};
    unsigned char *memory = slri_alloc(&hook, 100);
    assert_non_null(memory);
    assert_int_equal(seen.bytes, 100);
    assert_int_equal(seen.alignment, 128);
    assert_int_equal(memory[0] | memory[99], 0); // the hook's own 0xff is gone
    slri_free(&hook, memory, 100);
    assert_int_equal(seen.released, 100);
}

static void refusal_is_null(void **state)
{
    (void)state;
    const slr_allocator hook = {refusing_allocate, counting_release, NULL};
    assert_null(slri_alloc(&hook, 100));
    slri_free(&hook, NULL, 100); // would crash in counting_release
    assert_null(slri_alloc(NULL, SIZE_MAX - 3));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(memory_is_zeroed_and_on_a_cache_line),
        cmocka_unit_test(hook_is_asked_for_the_size_and_told_it_again),
        cmocka_unit_test(refusal_is_null),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
