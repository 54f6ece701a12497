// SPDX-License-Identifier: Apache-2.0
#include "base/printable.h"
#include "base/status.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static void shows(const char *text, const char *wanted)
{
    char out[256];
    assert_int_equal(slr_text_printable(text, strlen(text), out, sizeof out), strlen(wanted));
    assert_string_equal(out, wanted);
    assert_int_equal(slr_text_printable(wanted, strlen(wanted), out, sizeof out), strlen(wanted)); // shown again
    assert_string_equal(out, wanted);
}

static void what_a_terminal_would_obey_is_spelled(void **state)
{
    (void)state;
    shows("plain \\ \"text\"\tand\nlines", "plain \\ \"text\"\tand\nlines");
    shows("\x1b[31mred\x1b[0m", "\\x1b[31mred\\x1b[0m");
    shows("a\rb\bc\x7f\a", "a\\x0db\\x08c\\x7f\\x07");
    shows("\xc2\x9b"
          "31m",
          "\\xc2\\x9b31m"); // CSI as one character of C1
    shows("\x9b"
          "31m",
          "\\x9b31m"); // and as a byte
    shows("a\xe2\x80\xae"
          "b\xe2\x81\xa6",
          "a\\xe2\\x80\\xaeb\\xe2\\x81\\xa6"); // right-to-left override, isolate
    shows("\xe2\x80\xa8\xef\xbb\xbf", "\\xe2\\x80\\xa8\\xef\\xbb\\xbf");
}

static void characters_stay_and_what_is_none_is_spelled(void **state)
{
    (void)state;
    shows("Gr\xc3\xbc\xc3\x9f"
          "e \xe2\x82\xac \xf0\x9f\x98\x80 \xd7\xa9",
          "Gr\xc3\xbc\xc3\x9f"
          "e \xe2\x82\xac \xf0\x9f\x98\x80 \xd7\xa9");
    shows("\xc3", "\\xc3");
    shows("\xc3(", "\\xc3(");
    shows("\xc0\xaf", "\\xc0\\xaf");                   // too long a form
    shows("\xed\xa0\x80", "\\xed\\xa0\\x80");          // a surrogate
    shows("\xf4\x90\x80\x80", "\\xf4\\x90\\x80\\x80"); // past the last
}

static void a_short_room_gets_whole_pieces(void **state)
{
    (void)state;
    char out[8];
    assert_int_equal(slr_text_printable("abc\x1b[m", 6, out, sizeof out), 9);
    assert_string_equal(out, "abc\\x1b");
    assert_int_equal(slr_text_printable("abcd\x1b[m", 7, out, sizeof out), 10);
    assert_string_equal(out, "abcd"); // and nothing behind the piece that has no room
    assert_int_equal(slr_text_printable("\x1b", 1, NULL, 0), 4);
    assert_int_equal(slr_text_printable("a\0b", 3, out, sizeof out), 6);
    assert_string_equal(out, "a\\x00b");
}

static void an_error_message_is_printable_however_long(void **state)
{
    (void)state;
    char name[3000];
    slri_fail(SLR_INVALID, "no file '%s'", "x\x1b]0;title\a.cu");
    assert_string_equal(slr_error_message(), "no file 'x\\x1b]0;title\\x07.cu'");
    memset(name, '\x1b', sizeof name - 1);
    name[sizeof name - 1] = '\0';
    for (size_t keep = 100; keep < sizeof name; keep += 300) {
        slri_fail(SLR_INVALID, "%s", name + sizeof name - 1 - keep);
        assert_int_equal(strlen(slr_error_message()), 4 * keep);
        assert_null(strchr(slr_error_message(), '\x1b'));
    }
    slri_fail(SLR_INVALID, "it is %s", "fine");
    assert_string_equal(slr_error_message(), "it is fine");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_a_terminal_would_obey_is_spelled),
        cmocka_unit_test(characters_stay_and_what_is_none_is_spelled),
        cmocka_unit_test(a_short_room_gets_whole_pieces),
        cmocka_unit_test(an_error_message_is_printable_however_long),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
