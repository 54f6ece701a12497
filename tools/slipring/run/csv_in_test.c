// SPDX-License-Identifier: Apache-2.0
#include "run/csv_in.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

// Reads all of `text`, `piece` bytes at a time, into "LINE:FIELD|FIELD;" a row and "LINE!REASON;" a bad one.
static const char *read_all(const char *text, size_t piece)
{
    static char out[1024];
    csv_in csv;
    intake bytes;
    csv_row row;
    size_t left = strlen(text), used = 0;
    intake_open(&bytes);
    csv_in_open(&csv, &bytes, ',');
    *out = '\0';
    for (csv_result result; (result = csv_in_next(&csv, &row)) != CSV_END;) {
        if (result == CSV_MORE) {
            size_t space, now = left < piece ? left : piece;
            memcpy(intake_space(&bytes, &space), text, now);
            intake_put(&bytes, now);
            text += now;
            left -= now;
        } else if (result == CSV_BAD) {
            used += (size_t)snprintf(out + used, sizeof out - used, "%d!%s;", (int)row.line, csv.bad);
        } else {
            used += (size_t)snprintf(out + used, sizeof out - used, "%d:", (int)row.line);
            for (uint32_t i = 0; i < row.count; i++) {
                assert_int_equal(row.fields[i].bytes, strlen(row.fields[i].text));
                used += (size_t)snprintf(out + used, sizeof out - used, "%s%s", i > 0 ? "|" : "", row.fields[i].text);
            }
            used += (size_t)snprintf(out + used, sizeof out - used, ";");
        }
    }
    csv_in_close(&csv);
    intake_close(&bytes);
    return out;
}

// The same, however the bytes arrive.
static void check(const char *text, const char *want)
{
    for (size_t piece = 1; piece < 9; piece++)
        assert_string_equal(read_all(text, piece), want);
    assert_string_equal(read_all(text, 1000), want);
}

static void rows_are_split_at_commas(void **state)
{
    (void)state;
    check("a,b\n1,2\n", "1:a|b;2:1|2;");
    check("a,,\n,", "1:a||;2:|;");
    check("", "");
}

static void the_last_line_needs_no_line_feed(void **state)
{
    (void)state;
    check("a\n1", "1:a;2:1;");
    check("a\n\"1\"", "1:a;2:1;");
}

static void quoted_fields_hold_commas_quotes_and_line_feeds(void **state)
{
    (void)state;
    check("\"a,b\",\"say \"\"hi\"\"\"\n\"two\nlines\",x\nlast\n", "1:a,b|say \"hi\";2:two\nlines|x;4:last;");
    check("\"\",x\n", "1:|x;");
    check("a\"b\"\"c,d\n", "1:a\"b\"\"c|d;"); // a quote within an unquoted field is just a character
}

static void carriage_returns_blank_lines_and_a_byte_order_mark_are_skipped(void **state)
{
    (void)state;
    check("\xEF\xBB\xBF\"a\",b\r\n\r\n\n1,2\r\n", "1:a|b;4:1|2;");
    check("\xEF\xBB\xBF\xEF\xBB\xBFx\n", "1:\xEF\xBB\xBFx;"); // only one mark is one
}

static void a_bad_row_is_reported_with_its_line_and_the_next_is_read(void **state)
{
    (void)state;
    check("a\n\"x\"y\n2\n", "1:a;2!text after a closing quote;3:2;");
    check("a\nb\n\"never,\n1\n", "1:a;2:b;3!a quoted field is not closed;");
}

static void a_row_longer_than_the_buffer_is_read(void **state)
{
    (void)state;
    csv_in csv;
    intake bytes;
    csv_row row;
    intake_open(&bytes);
    csv_in_open(&csv, &bytes, ',');
    size_t wanted = 3 * bytes.capacity, given = 0;
    csv_result result;
    while ((result = csv_in_next(&csv, &row)) == CSV_MORE) {
        size_t space;
        char *to = intake_space(&bytes, &space);
        space = space > wanted - given ? wanted - given : space;
        memset(to, 'x', space);
        given += space;
        intake_put(&bytes, space);
    }
    assert_int_equal(result, CSV_ROW);
    assert_int_equal(row.count, 1);
    assert_int_equal(row.fields[0].bytes, wanted);
    csv_in_close(&csv);
    intake_close(&bytes);
}

// Puts so many bytes in, and asks after each piece. What is not CSV_MORE ends that.
static csv_result put_many(csv_in *csv, csv_row *row, char byte, size_t count)
{
    csv_result result = CSV_MORE;
    while (count > 0 && result == CSV_MORE) {
        size_t space;
        char *to = intake_space(csv->bytes, &space);
        assert_non_null(to);
        space = count < space ? count : space;
        memset(to, byte, space);
        intake_put(csv->bytes, space);
        count -= space;
        result = csv_in_next(csv, row);
    }
    return result;
}

static csv_result put_text(csv_in *csv, csv_row *row, const char *text)
{
    size_t space;
    memcpy(intake_space(csv->bytes, &space), text, strlen(text));
    intake_put(csv->bytes, strlen(text));
    return csv_in_next(csv, row);
}

static void a_row_has_64_mib_at_most_and_the_next_one_is_read(void **state)
{
    (void)state;
    static const char too_long[] = "more than 64 MiB in one row: is the format different?";
    csv_in csv;
    intake bytes;
    csv_row row;
    intake_open(&bytes);
    csv_in_open(&csv, &bytes, ',');
    assert_int_equal(put_many(&csv, &row, 'x', INTAKE_MAX), CSV_MORE);
    assert_int_equal(put_text(&csv, &row, "\r"), CSV_MORE);
    assert_int_equal(put_text(&csv, &row, "\n"), CSV_ROW);
    assert_int_equal(row.fields[0].bytes, INTAKE_MAX);
    assert_int_equal(put_many(&csv, &row, 'x', INTAKE_MAX + 1), CSV_MORE);
    assert_int_equal(put_text(&csv, &row, "\n"), CSV_BAD);
    assert_string_equal(csv.bad, too_long);
    assert_int_equal(row.line, 2);
    assert_int_equal(put_many(&csv, &row, 'x', INTAKE_MAX + 2), CSV_BAD);
    assert_string_equal(csv.bad, too_long);
    assert_int_equal(row.line, 3);
    assert_int_equal(put_text(&csv, &row, "xx,\"a\nb"), CSV_MORE); // the line feed is that of a quoted field
    assert_int_equal(put_text(&csv, &row, "\nc\",1\nd\n"), CSV_ROW);
    assert_string_equal(row.fields[0].text, "d");
    assert_int_equal(row.line, 6);
    csv_in_close(&csv);
    intake_close(&bytes);
}

static void a_quote_that_is_never_closed_is_refused_at_64_mib(void **state)
{
    (void)state;
    csv_in csv;
    intake bytes;
    csv_row row;
    intake_open(&bytes);
    csv_in_open(&csv, &bytes, ',');
    assert_int_equal(put_text(&csv, &row, "\"\n"), CSV_MORE);
    assert_int_equal(put_many(&csv, &row, 'x', INTAKE_MAX), CSV_BAD);
    assert_non_null(strstr(csv.bad, "is a quote not closed"));
    assert_int_equal(row.line, 1);
    assert_int_equal(put_text(&csv, &row, "\nx\n"), CSV_MORE);
    assert_int_equal(put_text(&csv, &row, ""), CSV_END);
    csv_in_close(&csv);
    intake_close(&bytes);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_are_split_at_commas),
        cmocka_unit_test(the_last_line_needs_no_line_feed),
        cmocka_unit_test(quoted_fields_hold_commas_quotes_and_line_feeds),
        cmocka_unit_test(carriage_returns_blank_lines_and_a_byte_order_mark_are_skipped),
        cmocka_unit_test(a_bad_row_is_reported_with_its_line_and_the_next_is_read),
        cmocka_unit_test(a_row_longer_than_the_buffer_is_read),
        cmocka_unit_test(a_row_has_64_mib_at_most_and_the_next_one_is_read),
        cmocka_unit_test(a_quote_that_is_never_closed_is_refused_at_64_mib),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
