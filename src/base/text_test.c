// SPDX-License-Identifier: Apache-2.0
// The growing string.
#include "base/text.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

static void pieces_follow_each_other(void **state)
{
    (void)state;
    slri_text text = SLRI_TEXT_INIT;
    assert_string_equal(slri_text_view(&text), "");
    slri_text_puts(&text, "line ");
    slri_text_printf(&text, "%d of %s", 7, "ward.cu");
    slri_text_append(&text, ": error", 1);
    assert_string_equal(slri_text_view(&text), "line 7 of ward.cu:");
    assert_int_equal(text.length, 18);
    slri_text_free(&text);
    assert_string_equal(slri_text_view(&text), "");
}

static void text_of_a_megabyte_is_whole(void **state)
{
    (void)state;
    slri_text text = SLRI_TEXT_INIT;
    for (unsigned i = 0; i < 131072; i++)
        slri_text_printf(&text, "%07u\n", i);
    assert_int_equal(text.length, 1048576);
    for (unsigned i = 0; i < 131072; i += 4099)
        assert_int_equal(strtoul(text.data + 8 * i, NULL, 10), i);
    slri_text_free(&text);
}

static void embedded_nul_bytes_are_kept(void **state)
{
    (void)state;
    slri_text text = SLRI_TEXT_INIT;
    slri_text_append(&text, "a\0b", 3);
    slri_text_append(&text, "c", 1);
    assert_int_equal(text.length, 4);
    assert_memory_equal(text.data, "a\0bc", 5);
    slri_text_free(&text);
}

static void taking_hands_over_and_empties(void **state)
{
    (void)state;
    slri_text text = SLRI_TEXT_INIT;
    char *empty = slri_text_take(&text);
    assert_string_equal(empty, "");
    free(empty);
    slri_text_puts(&text, "one");
    char *one = slri_text_take(&text);
    slri_text_puts(&text, "two");
    assert_string_equal(one, "one");
    assert_string_equal(slri_text_view(&text), "two");
    free(one);
    slri_text_free(&text);
}

static void lack_of_memory_is_remembered_until_cleared(void **state)
{
    (void)state;
    slri_text text = SLRI_TEXT_INIT;
    slri_text_puts(&text, "kept");
    slri_text_append(&text, "x", SIZE_MAX / 2); // refused before a byte is read
    slri_text_puts(&text, " not appended");
    assert_true(text.out_of_memory);
    assert_string_equal(slri_text_view(&text), "kept");
    assert_null(slri_text_take(&text));
    assert_false(text.out_of_memory);
    slri_text_append(&text, "x", SIZE_MAX / 2);
    slri_text_clear(&text);
    slri_text_puts(&text, "again");
    assert_string_equal(slri_text_view(&text), "again");
    slri_text_clear(&text);
    assert_string_equal(slri_text_view(&text), "");
    slri_text_free(&text);
}

// What `text` becomes in `room` bytes; nothing is written behind them.
static const char *fitted(size_t room, const char *text)
{
    static char to[512];
    memset(to, '#', sizeof to);
    slri_text_fit(to, room, text);
    assert_true(strlen(to) < room);
    assert_int_equal(to[room], '#');
    return to;
}

static void a_text_that_is_too_long_loses_the_middle_of_its_path(void **state)
{
    static const char text[] =
        "cc rejected '/home/somebody/projects/monitors/handlers/experiments/2026/november/ward.cu:12:7': no ';'";
    (void)state;
    assert_string_equal(fitted(sizeof text, text), text);
    assert_string_equal(fitted(90, text),
                        "cc rejected '/home/somebody/p.../handlers/experiments/2026/november/ward.cu:12:7': no ';'");
    assert_int_equal(strlen(fitted(90, text)), 89);
    // The path has lost what it can; then the end goes.
    assert_string_equal(fitted(60, text), "cc rejected '/home/somebo...periments/2026/november/ward...");
    assert_int_equal(strlen(fitted(60, text)), 59);
}

static void a_text_without_a_long_path_loses_its_end(void **state)
{
    (void)state;
    assert_string_equal(fitted(20, "a text of words only, and a/b"), "a text of words ...");
    assert_string_equal(fitted(4, "abcdef"), "...");
    assert_string_equal(fitted(3, "abcdef"), "ab");
    assert_string_equal(fitted(1, "abcdef"), "");
    assert_string_equal(fitted(7, "abcdef"), "abcdef");
    assert_string_equal(fitted(10, ""), "");
}

static void no_character_of_a_text_is_split(void **state)
{
    char path[300] = "/";
    (void)state;
    for (int i = 0; i < 60; i++)
        strcat(path, "\xe2\x82\xac"); // three bytes each
    strcat(path, "/k.cu:3: x");
    for (size_t room = 64; room < sizeof path; room++) {
        const char *at = fitted(room, path);
        for (; *at != '\0'; at += (unsigned char)*at == 0xe2 ? 3 : 1)
            assert_true((*at & 0x80) == 0 || strncmp(at, "\xe2\x82\xac", 3) == 0);
        assert_non_null(strstr(fitted(room, path), "/k.cu:3: x"));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_text_that_is_too_long_loses_the_middle_of_its_path),
        cmocka_unit_test(a_text_without_a_long_path_loses_its_end),
        cmocka_unit_test(no_character_of_a_text_is_split),
        cmocka_unit_test(pieces_follow_each_other),
        cmocka_unit_test(text_of_a_megabyte_is_whole),
        cmocka_unit_test(embedded_nul_bytes_are_kept),
        cmocka_unit_test(taking_hands_over_and_empties),
        cmocka_unit_test(lack_of_memory_is_remembered_until_cleared),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
