// SPDX-License-Identifier: Apache-2.0
#include "run/keys.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static uint32_t instance_of(keys *keys, const char *text)
{
    uint32_t instance = UINT32_MAX;
    assert_true(keys_find_or_add(keys, (key_text){text, strlen(text), text[0] >= '0' && text[0] <= '9'}, &instance));
    return instance;
}

static void keys_get_instances_in_the_order_in_which_they_appear(void **state)
{
    (void)state;
    keys keys;
    keys_open(&keys, 10);
    assert_int_equal(instance_of(&keys, "ward 3"), 0);
    assert_int_equal(instance_of(&keys, "7"), 1);
    assert_int_equal(instance_of(&keys, "ward 3"), 0);
    assert_int_equal(instance_of(&keys, "07"), 2);
    assert_int_equal(instance_of(&keys, ""), 3);
    assert_int_equal(instance_of(&keys, "7"), 1);
    keys_close(&keys);
}

static void a_new_key_past_the_limit_is_refused_and_the_old_ones_stay(void **state)
{
    (void)state;
    keys keys;
    uint32_t instance = 99;
    keys_open(&keys, 2);
    instance_of(&keys, "a");
    instance_of(&keys, "b");
    assert_false(keys_find_or_add(&keys, (key_text){"c", 1, false}, &instance));
    assert_int_equal(instance, 99);
    assert_int_equal(instance_of(&keys, "b"), 1);
    keys_close(&keys);
}

static void many_keys_keep_their_instances_and_texts(void **state)
{
    (void)state;
    enum { MANY = 50000 };
    keys keys;
    keys_open(&keys, MANY);
    for (int pass = 0; pass < 2; pass++) {
        for (uint32_t i = 0; i < MANY; i++) {
            char text[32];
            snprintf(text, sizeof text, "patient-%u", i * 7919);
            assert_int_equal(instance_of(&keys, text), i);
            key_text kept = keys_text(&keys, i);
            assert_int_equal(kept.bytes, strlen(text));
            assert_memory_equal(kept.text, text, kept.bytes);
        }
    }
    keys_close(&keys);
}

static void a_key_stays_as_it_was_first_written(void **state)
{
    (void)state;
    keys keys;
    uint32_t instance;
    keys_open(&keys, 10);
    instance_of(&keys, "7");
    assert_true(keys_find_or_add(&keys, (key_text){"7", 1, false}, &instance));
    assert_int_equal(instance, 0);
    assert_true(keys_text(&keys, 0).is_number);
    instance_of(&keys, "x");
    assert_false(keys_text(&keys, 1).is_number);
    keys_close(&keys);
}

static void a_key_that_is_taken_back_leaves_its_instance_to_the_next_one(void **state)
{
    (void)state;
    keys keys;
    keys_open(&keys, 3);
    instance_of(&keys, "a");
    instance_of(&keys, "bad");
    keys_forget_newest(&keys);
    assert_int_equal(keys.count, 1);
    assert_int_equal(instance_of(&keys, "b"), 1);
    assert_int_equal(instance_of(&keys, "bad"), 2); // it is a new key again
    assert_int_equal(instance_of(&keys, "a"), 0);
    assert_memory_equal(keys_text(&keys, 1).text, "b", 1);
    assert_memory_equal(keys_text(&keys, 2).text, "bad", 3);
    keys_close(&keys);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(keys_get_instances_in_the_order_in_which_they_appear),
        cmocka_unit_test(a_new_key_past_the_limit_is_refused_and_the_old_ones_stay),
        cmocka_unit_test(many_keys_keep_their_instances_and_texts),
        cmocka_unit_test(a_key_stays_as_it_was_first_written),
        cmocka_unit_test(a_key_that_is_taken_back_leaves_its_instance_to_the_next_one),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
