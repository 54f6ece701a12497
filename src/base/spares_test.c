// SPDX-License-Identifier: Apache-2.0
// Blocks that are kept between two uses.
#include "base/spares.h"

#include "base/aligned_test.h"
#include "base/thread.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <string.h>

#if defined(__SANITIZE_ADDRESS__)
#define KEEPS 0
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define KEEPS 0
#endif
#endif
#ifndef KEEPS
#define KEEPS 1
#endif

// What was allocated and not freed; the bytes must be the same both times.
struct books {
    uint32_t allocations;
    size_t bytes; // atomic, both
    uint32_t refuses;
};

static void *book_allocate(void *user, size_t bytes, size_t alignment)
{
    struct books *books = user;
    if (books->refuses)
        return NULL;
    __atomic_fetch_add(&books->allocations, 1, __ATOMIC_RELAXED);
    __atomic_fetch_add(&books->bytes, bytes, __ATOMIC_RELAXED);
    void *memory = aligned_take(alignment, bytes);
    return memory ? memset(memory, 0xff, bytes) : NULL;
}

static void book_release(void *user, void *memory, size_t bytes)
{
    __atomic_fetch_sub(&((struct books *)user)->bytes, bytes, __ATOMIC_RELAXED);
    aligned_give(memory);
}

static void a_block_that_was_given_is_taken_again_and_is_zero(void **state)
{
    struct books books = {0};
    const slr_allocator hook = {book_allocate, book_release, &books};
    struct slri_spares spares = {0};
    (void)state;
    unsigned char *first = slri_spares_take(&spares, &hook, 300);
    memset(first, 1, 300);
    slri_spares_give(&spares, &hook, first, 300);
    unsigned char *again = slri_spares_take(&spares, &hook, 512);
    for (int i = 0; i < 512; ++i)
        assert_int_equal(again[i], 0);
    assert_int_equal(books.allocations, KEEPS ? 1 : 2);
    slri_spares_give(&spares, &hook, again, 512);
    slri_spares_free(&spares, &hook);
    assert_int_equal(books.bytes, 0);
}

static void blocks_of_another_size_and_large_ones_are_allocated(void **state)
{
    struct books books = {0};
    const slr_allocator hook = {book_allocate, book_release, &books};
    struct slri_spares spares = {0};
    (void)state;
    slri_spares_give(&spares, &hook, slri_spares_take(&spares, &hook, 512), 512);
    slri_spares_give(&spares, &hook, slri_spares_take(&spares, &hook, 513), 513);
    assert_int_equal(books.allocations, 2);
    for (int i = 0; i < 2; ++i)
        slri_spares_give(&spares, &hook, slri_spares_take(&spares, &hook, 2049), 2049);
    assert_int_equal(books.allocations, 4);
    assert_int_equal(books.bytes, KEEPS ? 512 + 2048 : 0);
    slri_spares_free(&spares, &hook);
    assert_int_equal(books.bytes, 0);
}

static void no_more_are_kept_than_the_bound(void **state)
{
    struct books books = {0};
    const slr_allocator hook = {book_allocate, book_release, &books};
    struct slri_spares spares = {0};
    void *block[SLRI_SPARES_KEPT + 10];
    (void)state;
    for (uint32_t i = 0; i < SLRI_SPARES_KEPT + 10; ++i)
        block[i] = slri_spares_take(&spares, &hook, 1);
    for (uint32_t i = 0; i < SLRI_SPARES_KEPT + 10; ++i)
        slri_spares_give(&spares, &hook, block[i], 1);
    assert_int_equal(books.bytes, KEEPS * SLRI_SPARES_KEPT * 512);
    slri_spares_free(&spares, &hook);
    assert_int_equal(books.bytes, 0);
}

static void no_memory_is_null(void **state)
{
    struct books books = {.refuses = 1};
    const slr_allocator hook = {book_allocate, book_release, &books};
    struct slri_spares spares = {0};
    (void)state;
    assert_null(slri_spares_take(&spares, &hook, 8));
    slri_spares_give(&spares, &hook, NULL, 8);
    slri_spares_free(&spares, &hook);
}

struct side {
    struct slri_spares *spares;
    const slr_allocator *hook;
    uint32_t clashes;
};

// Nobody else writes to a block between take and give.
static void use_blocks(void *arg)
{
    struct side *side = arg;
    for (uintptr_t i = 1; i <= 20000; ++i) {
        uintptr_t *block = slri_spares_take(side->spares, side->hook, 64), mark = (uintptr_t)side + i;
        side->clashes += block[0] != 0;
        block[0] = block[7] = mark;
        side->clashes += block[0] != mark || block[7] != mark;
        slri_spares_give(side->spares, side->hook, block, 64);
    }
}

static void two_threads_never_have_the_same_block(void **state)
{
    struct books books = {0};
    const slr_allocator hook = {book_allocate, book_release, &books};
    struct slri_spares spares = {0};
    struct side side[2] = {{&spares, &hook, 0}, {&spares, &hook, 0}};
    slri_thread thread;
    (void)state;
    assert_int_equal(slri_thread_start(&thread, "other", use_blocks, &side[1]), SLR_OK);
    use_blocks(&side[0]);
    slri_thread_join(&thread);
    assert_int_equal(side[0].clashes + side[1].clashes, 0);
    slri_spares_free(&spares, &hook);
    assert_int_equal(books.bytes, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_block_that_was_given_is_taken_again_and_is_zero),
        cmocka_unit_test(blocks_of_another_size_and_large_ones_are_allocated),
        cmocka_unit_test(no_more_are_kept_than_the_bound),
        cmocka_unit_test(no_memory_is_null),
        cmocka_unit_test(two_threads_never_have_the_same_block),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
