// SPDX-License-Identifier: Apache-2.0
// Names, in a process that has no others.
#include "observe/names.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

static void names_keep_their_text_and_their_number(void **state)
{
    (void)state;
    uint32_t number = slri_name("a \"name\"");
    assert_int_equal(number, 1);
    assert_int_equal(slri_name("a \"name\""), number);
    assert_string_equal(slri_name_text(number), "a \"name\"");
    assert_string_equal(slri_name_json(number), "a \\\"name\\\"");
    number = slri_name("\x1b[2J\xff\xc3\xa9\xc2\x9b");
    assert_string_equal(slri_name_json(number), "\\u001b[2J\\ufffd\xc3\xa9\\u009b");
    assert_string_equal(slri_name_text(0), "");
    assert_string_equal(slri_name_text(SLRI_NAMES), "");
}

static void long_name_is_cut_between_characters(void **state)
{
    (void)state;
    char text[SLRI_NAME_BYTES + 2];
    memset(text, 'x', sizeof text);
    memcpy(text + SLRI_NAME_BYTES - 1, "\xc3\xa4", 3); // one character of two bytes, of which one would fit
    assert_int_equal(strlen(slri_name_text(slri_name(text))), SLRI_NAME_BYTES - 1);
}

// The table is full from here on: each further name, not only the first, is the others'.
static void names_that_find_no_room_are_the_others(void **state)
{
    (void)state;
    char text[32];
    uint32_t first = slri_name("the first of many"), others = 0;
    for (uint32_t i = 0; i < SLRI_NAMES + 10; ++i) {
        snprintf(text, sizeof text, "name %u", i);
        others = slri_name(text);
        assert_true(others > 0 && others < SLRI_NAMES);
    }
    assert_string_equal(slri_name_text(others), "(others)");
    assert_int_equal(slri_name("one more"), others);
    assert_int_equal(slri_name("the first of many"), first);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_keep_their_text_and_their_number),
        cmocka_unit_test(long_name_is_cut_between_characters),
        cmocka_unit_test(names_that_find_no_room_are_the_others),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
