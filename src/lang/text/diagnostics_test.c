// SPDX-License-Identifier: Apache-2.0
#include "lang/text/front_test.h"

#include <stdio.h>

static struct slri_where at(uint32_t line, uint32_t column)
{
    return (struct slri_where){0, line, column};
}

static void numbers_are_unique_and_have_advice(void **state)
{
    (void)state;
    static const unsigned numbers[] = {
#define ROW(number, name, advice) number,
        SLRI_DIAGNOSTIC_LIST(ROW)
#undef ROW
    };
    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++) {
        assert_in_range(numbers[i], 1, 999);
        assert_true(strlen(slri_diagnostic_advice(numbers[i])) > 10);
        assert_true(i == 0 || numbers[i] > numbers[i - 1]);
    }
    assert_null(slri_diagnostic_advice(0));
}

static void message_has_place_line_caret_and_advice(void **state)
{
    (void)state;
    struct front_run run = run_text("int a;\n\tx = \"\xC3\xA9\" + y;\r\nint b;");
    slri_report_error(&run.front, at(2, 13), SLRI_K_UNKNOWN_NAME, "no '%s' here", "y");
    assert_int_equal(slri_report_fail(&run.front), SLR_COMPILE);
    char expected[400];
    snprintf(expected, sizeof expected,
             "ward.cu:2:13: error SLR-K050: no 'y' here\n"
             "\tx = \"\xC3\xA9\" + y;\n"
             "\t          ^\n"
             "advice: %s\n"
             "1 error",
             slri_diagnostic_advice(50));
    assert_string_equal(slr_error_message(), expected);
    run_end(&run);
}

static void errors_come_in_source_order_once_a_place_and_code(void **state)
{
    (void)state;
    struct front_run run = run_text("a\nb\nc\n");
    slri_report_error(&run.front, at(3, 1), SLRI_K_UNKNOWN_NAME, "third");
    slri_report_error(&run.front, at(1, 1), SLRI_K_UNKNOWN_NAME, "first");
    slri_report_error(&run.front, at(1, 1), SLRI_K_UNKNOWN_NAME, "again");
    slri_report_error(&run.front, at(1, 1), SLRI_K_WRONG_TYPE, "second");
    assert_int_equal(slri_report_errors(&run.front), 3);
    slri_report_fail(&run.front);
    const char *first = strstr(slr_error_message(), "first"), *second = strstr(slr_error_message(), "second");
    assert_true(first && second && first < second && second < strstr(slr_error_message(), "third"));
    assert_null(strstr(slr_error_message(), "again"));
    assert_non_null(strstr(slr_error_message(), "\n3 errors"));
    run_end(&run);
}

static void only_twenty_errors_are_kept(void **state)
{
    (void)state;
    struct front_run run = run_text("a\n");
    for (uint32_t column = 1; column <= 30; column++)
        slri_report_error(&run.front, at(1, column), SLRI_K_UNKNOWN_NAME, "wrong");
    assert_int_equal(slri_report_errors(&run.front), 20);
    slri_report_fail(&run.front);
    assert_non_null(strstr(slr_error_message(), "\n20 errors"));
    run_end(&run);
}

static void macro_product_is_noted(void **state)
{
    (void)state;
    struct front_run run = run_text("#define INNER 1 + wrong\n#define OUTER INNER\nx = OUTER;\n");
    slri_report_error(&run.front, at(3, 5), SLRI_K_UNKNOWN_NAME, "no 'wrong'");
    slri_report_fail(&run.front);
    assert_non_null(strstr(slr_error_message(), "note: in the expansion of macro 'OUTER'\n"));
    run_end(&run);
}

static void very_long_line_is_shown_around_the_caret(void **state)
{
    (void)state;
    char text[3001];
    memset(text, 'a', sizeof text - 1);
    text[sizeof text - 1] = '\0';
    text[1999] = 'b';
    struct front_run run = run_text(text);
    slri_report_error(&run.front, at(1, 2000), SLRI_K_UNKNOWN_NAME, "this");
    slri_report_fail(&run.front);
    const char *b = strchr(strchr(slr_error_message(), '\n'), 'b'), *caret = strchr(slr_error_message(), '^');
    assert_int_equal(caret - b, 161); // one line of 160 bytes below
    assert_true(strlen(slr_error_message()) < 600);
    run_end(&run);
}

static void place_outside_the_text_is_no_crash(void **state)
{
    (void)state;
    struct front_run run = run_text("a");
    slri_report_error(&run.front, at(100, 1), SLRI_K_UNKNOWN_NAME, "line");
    slri_report_error(&run.front, at(1, 100), SLRI_K_UNKNOWN_NAME, "column");
    slri_report_error(&run.front, (struct slri_where){7000, 1, 1}, SLRI_K_UNKNOWN_NAME, "file");
    slri_report_error(&run.front, (struct slri_where){0}, SLRI_K_NO_HANDLER, "nowhere");
    assert_int_equal(slri_report_fail(&run.front), SLR_COMPILE);
    assert_non_null(strstr(slr_error_message(), "ward.cu: error SLR-K110: nowhere\n"));
    run_end(&run);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(numbers_are_unique_and_have_advice),
        cmocka_unit_test(message_has_place_line_caret_and_advice),
        cmocka_unit_test(errors_come_in_source_order_once_a_place_and_code),
        cmocka_unit_test(only_twenty_errors_are_kept),
        cmocka_unit_test(macro_product_is_noted),
        cmocka_unit_test(very_long_line_is_shown_around_the_caret),
        cmocka_unit_test(place_outside_the_text_is_no_crash),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
