// SPDX-License-Identifier: Apache-2.0
#include "json_out.h"
#include "kernel/kernel.h"

#include <jansson.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

// What was written to a temporary file, which goes.
static char *text_of(FILE *file)
{
    long bytes = ftell(file);
    assert_true(bytes > 0);
    char *text = calloc(1, (size_t)bytes + 1);
    assert_non_null(text);
    rewind(file);
    assert_int_equal(fread(text, 1, (size_t)bytes, file), bytes);
    fclose(file);
    return text;
}

static char *write_all(void)
{
    json_out out = {.to = tmpfile()};
    assert_non_null(out.to);
    json_out_object(&out, NULL);
    json_out_text(&out, "te\"xt", "a\\b\n\xc3\xa9");
    json_out_array(&out, "none");
    json_out_end_array(&out);
    json_out_array(&out, "rows");
    for (unsigned i = 0; i < 2; i++) {
        json_out_line(&out, NULL);
        json_out_integer(&out, "number", UINT64_MAX);
        json_out_object(&out, "inner");
        json_out_bool(&out, "set", i == 1);
        json_out_end_object(&out);
        json_out_real(&out, "real", i == 0 ? 1234567.0 : 0.0 / 0.0);
        json_out_end_object(&out);
    }
    json_out_end_array(&out);
    json_out_bool(&out, "last", true);
    json_out_end_object(&out);
    return text_of(out.to);
}

static void another_reader_finds_what_was_written(void **state)
{
    (void)state;
    char *text = write_all();
    json_error_t error;
    json_t *all = json_loads(text, JSON_DECODE_INT_AS_REAL, &error);
    assert_non_null(all);
    assert_string_equal(json_string_value(json_object_get(all, "te\"xt")), "a\\b\n\xc3\xa9");
    assert_int_equal(json_array_size(json_object_get(all, "none")), 0);
    const json_t *rows = json_object_get(all, "rows"), *row = json_array_get(rows, 1);
    assert_int_equal(json_array_size(rows), 2);
    assert_true(json_number_value(json_object_get(row, "number")) > 1.8e19);
    assert_true(json_is_true(json_object_get(json_object_get(row, "inner"), "set")));
    assert_true(json_is_null(json_object_get(row, "real")));
    assert_true(json_number_value(json_object_get(json_array_get(rows, 0), "real")) == 1.23457e6);
    assert_true(json_is_true(json_object_get(all, "last")));
    json_decref(all);
    free(text);
}

static void a_line_stands_on_one_line(void **state)
{
    (void)state;
    char *text = write_all();
    assert_non_null(strstr(text, "\n    {\"number\": 18446744073709551615, \"inner\": {\"set\": false}, \"real\": "
                                 "1.23457e+06},\n"));
    assert_non_null(strstr(text, "\n  \"none\": [],\n"));
    assert_non_null(strstr(text, "\n  \"last\": true\n}\n"));
    free(text);
}

static void any_bytes_make_valid_json(void **state)
{
    (void)state;
    json_out out = {.to = tmpfile()};
    assert_non_null(out.to);
    json_out_object(&out, NULL);
    json_out_text(&out, "name\xff", "a\xc3(\x1b[2J\x7f\xc2\x9b\xed\xa0\x80\xf0\x9f\x98\x80");
    json_out_end_object(&out);
    char *text = text_of(out.to);
    json_error_t error;
    json_t *all = json_loads(text, 0, &error);
    if (all == NULL)
        fail_msg("%s in %s", error.text, text);
    assert_string_equal(json_string_value(json_object_get(all, "name\xef\xbf\xbd")),
                        "a\xef\xbf\xbd(\x1b[2J\x7f\xc2\x9b\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\xf0\x9f\x98\x80");
    assert_null(strchr(text, '\x1b'));
    assert_null(strchr(text, '\x7f'));
    assert_null(strstr(text, "\xc2\x9b"));
    json_decref(all);
    free(text);
}

static void bytes_that_are_no_text_are_replaced(void **state)
{
    (void)state;
    // A byte that begins nothing, one too long a form, half of a pair of UTF-16's, an end too soon; and what is text.
    static const char *const texts[][2] = {
        {"a\xff"
         "b",
         "a\xEF\xBF\xBD"
         "b"},
        {"\xC0\xAF", "\xEF\xBF\xBD\xEF\xBF\xBD"},
        {"\xED\xA0\x80", "\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD"},
        {"x\xE2\x82", "x\xEF\xBF\xBD\xEF\xBF\xBD"},
        {"\xF4\x90\x80\x80", "\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD"},
        {"\xE2\x82\xAC\xF0\x9F\x98\x80\n\"", "\xE2\x82\xAC\xF0\x9F\x98\x80\n\""},
    };
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        json_out out = {.to = tmpfile()};
        assert_non_null(out.to);
        json_out_object(&out, NULL);
        json_out_text(&out, "text", texts[i][0]);
        json_out_end_object(&out);
        char *text = text_of(out.to);
        json_t *object = json_loads(text, 0, NULL), *same = kernel_text(texts[i][0]);
        assert_non_null(object);
        assert_string_equal(json_string_value(json_object_get(object, "text")), texts[i][1]);
        assert_string_equal(json_string_value(same), texts[i][1]);
        json_decref(object);
        json_decref(same);
        free(text);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(another_reader_finds_what_was_written),
        cmocka_unit_test(a_line_stands_on_one_line),
        cmocka_unit_test(any_bytes_make_valid_json),
        cmocka_unit_test(bytes_that_are_no_text_are_replaced),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
