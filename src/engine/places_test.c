// SPDX-License-Identifier: Apache-2.0
#include "engine/places.h"
#include "base/status.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

struct piece {
    uint64_t key;
    uint32_t number;
};

static slr_status add(struct slri_places *places, uint64_t key, uint32_t number)
{
    const struct piece piece = {key, number};
    return slri_places_add(places, &piece);
}

static const void *at(uint64_t key)
{
    return (const void *)(uintptr_t)key;
}

static uint32_t number_at(struct slri_places *places, uint64_t key)
{
    struct piece piece;
    uint64_t offset;
    if (!slri_places_find(places, at(key), &piece, &offset))
        return 0;
    assert_int_equal(piece.key + offset, key);
    return piece.number;
}

static uint32_t take(struct slri_places *places, uint64_t key)
{
    struct piece piece;
    assert_true(slri_places_take(places, at(key), 0, &piece));
    assert_int_equal(piece.key, key);
    return piece.number;
}

static void address_is_found_in_the_piece_that_begins_before_it(void **state)
{
    (void)state;
    struct slri_places places;
    slri_places_init(&places, NULL, "here:0", sizeof(struct piece));
    for (uint32_t i = 100; i > 0; --i) // from the last to the first: each is put in front
        assert_int_equal(add(&places, 1000u * i, i), SLR_OK);
    for (uint32_t i = 1; i <= 100; ++i) {
        assert_int_equal(number_at(&places, 1000u * i), i);
        assert_int_equal(number_at(&places, 1000u * i + 999), i);
    }
    slri_places_destroy(&places);
}

static void address_before_all_pieces_is_in_none(void **state)
{
    (void)state;
    struct slri_places places;
    slri_places_init(&places, NULL, "here:0", sizeof(struct piece));
    assert_int_equal(number_at(&places, 1000), 0);
    assert_int_equal(add(&places, 1000, 1), SLR_OK);
    assert_int_equal(number_at(&places, 999), 0);
    slri_places_destroy(&places);
}

static void pieces_that_begin_at_one_address_lie_in_the_order_in_which_they_came(void **state)
{
    (void)state;
    struct slri_places places;
    slri_places_init(&places, NULL, "here:0", sizeof(struct piece));
    for (uint32_t i = 1; i <= 3; ++i)
        assert_int_equal(add(&places, 1000, i), SLR_OK);
    assert_int_equal(number_at(&places, 1000), 3);
    assert_int_equal(take(&places, 1000), 3);
    assert_int_equal(number_at(&places, 1000), 2);
    slri_places_destroy(&places);
}

static void piece_that_was_taken_out_is_found_no_more(void **state)
{
    (void)state;
    struct slri_places places;
    slri_places_init(&places, NULL, "here:0", sizeof(struct piece));
    for (uint32_t i = 1; i <= 3; ++i)
        assert_int_equal(add(&places, 1000u * i, i), SLR_OK);
    assert_int_equal(take(&places, 2000), 2);
    assert_int_equal(number_at(&places, 2000), 1);
    assert_int_equal(number_at(&places, 3000), 3); // those behind it have moved
    assert_int_equal(take(&places, 3000), 3);
    assert_int_equal(number_at(&places, 3000), 1);
    slri_places_destroy(&places);
}

struct long_piece {
    uint64_t key, bytes;
};

static uint64_t add_anywhere(struct slri_places *places, uint64_t bytes)
{
    struct long_piece piece = {.bytes = bytes};
    assert_int_equal(slri_places_add_anywhere(places, &piece, 8192), SLR_OK);
    return piece.key;
}

static void of_pieces_that_begin_at_one_address_the_one_of_that_length_is_taken(void **state)
{
    (void)state;
    struct slri_places places;
    struct long_piece out;
    slri_places_init(&places, NULL, "here:0", sizeof(struct long_piece));
    for (uint64_t bytes = 1; bytes <= 3; ++bytes)
        assert_int_equal(slri_places_add(&places, &(struct long_piece){1000, bytes}), SLR_OK);
    for (uint64_t bytes = 2; bytes > 0; --bytes) {
        assert_true(slri_places_take(&places, at(1000), bytes, &out));
        assert_int_equal(out.bytes, bytes);
    }
    assert_false(slri_places_take(&places, at(1000), 1, &out)); // it has gone
    assert_false(slri_places_take(&places, at(1001), 3, &out)); // no place begins there
    assert_false(slri_places_take(&places, at(999), 0, &out));
    assert_int_equal(places.count, 1);
    assert_true(slri_places_take(&places, at(1000), 3, &out));
    assert_false(slri_places_take(&places, at(1000), 3, &out));
    assert_int_equal(places.count, 0);
    slri_places_destroy(&places);
}

static void piece_gets_the_first_address_with_room(void **state)
{
    (void)state;
    struct slri_places places;
    slri_places_init(&places, NULL, "here:0", sizeof(struct long_piece));
    const struct long_piece low = {16, 16};
    assert_int_equal(slri_places_add(&places, &low), SLR_OK);
    assert_int_equal(add_anywhere(&places, 4096), 8192); // its end is an address of its own
    assert_int_equal(add_anywhere(&places, 16), 16384);
    assert_int_equal(add_anywhere(&places, 1), 20480);
    take(&places, 8192);
    assert_int_equal(add_anywhere(&places, 8192), 24576);
    assert_int_equal(add_anywhere(&places, 8191), 8192);
    slri_places_destroy(&places);
}

static void piece_longer_than_what_is_left_of_the_addresses_is_refused(void **state)
{
    (void)state;
    struct slri_places places;
    slri_places_init(&places, NULL, "here:0", sizeof(struct long_piece));
    struct long_piece piece = {.bytes = UINTPTR_MAX - 8191};
    assert_int_equal(slri_places_add_anywhere(&places, &piece, 8192), SLR_NO_MEMORY);
    assert_non_null(strstr(slr_error_message(), "no addresses left"));
    (void)add_anywhere(&places, UINTPTR_MAX - 16384);
    piece.bytes = 8192;
    assert_int_equal(slri_places_add_anywhere(&places, &piece, 8192), SLR_NO_MEMORY);
    assert_int_equal(places.count, 1);
    slri_places_destroy(&places);
}

static void *give_nothing(void *user, size_t bytes, size_t alignment)
{
    (void)user, (void)bytes, (void)alignment;
    return NULL;
}

static void take_nothing(void *user, void *memory, size_t bytes)
{
    (void)user, (void)bytes;
    assert_null(memory);
}

static void list_stays_as_it_was_where_it_cannot_grow(void **state)
{
    (void)state;
    const slr_allocator empty = {.allocate = give_nothing, .release = take_nothing};
    struct slri_places places;
    slri_places_init(&places, &empty, "here:0", sizeof(struct piece));
    assert_int_equal(add(&places, 1000, 1), SLR_NO_MEMORY);
    assert_non_null(strstr(slr_error_message(), "here:0"));
    assert_int_equal(number_at(&places, 1000), 0);
    slri_places_destroy(&places);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(address_is_found_in_the_piece_that_begins_before_it),
        cmocka_unit_test(address_before_all_pieces_is_in_none),
        cmocka_unit_test(pieces_that_begin_at_one_address_lie_in_the_order_in_which_they_came),
        cmocka_unit_test(piece_that_was_taken_out_is_found_no_more),
        cmocka_unit_test(of_pieces_that_begin_at_one_address_the_one_of_that_length_is_taken),
        cmocka_unit_test(piece_gets_the_first_address_with_room),
        cmocka_unit_test(piece_longer_than_what_is_left_of_the_addresses_is_refused),
        cmocka_unit_test(list_stays_as_it_was_where_it_cannot_grow),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
