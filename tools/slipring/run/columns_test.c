// SPDX-License-Identifier: Apache-2.0
#include "run/columns.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

struct plain {
    short a;
    double b;
};

struct grouped {
    int id;
    short v[3];
    float w[3];
};

static const slr_field plain_fields[] = {
    {.name = "a", .scalar = SLR_I16, .count = 1, .offset = offsetof(struct plain, a)},
    {.name = "b", .scalar = SLR_F64, .count = 1, .offset = offsetof(struct plain, b)},
};
static const slr_layout plain = {"plain", sizeof(struct plain), plain_fields, 2};

static const slr_field grouped_fields[] = {
    {.name = "id", .scalar = SLR_I32, .count = 1, .offset = offsetof(struct grouped, id)},
    {.name = "v", .scalar = SLR_I16, .count = 3, .offset = offsetof(struct grouped, v), .is_array = 1},
    {.name = "w", .scalar = SLR_F32, .count = 3, .offset = offsetof(struct grouped, w), .is_array = 1},
};
static const slr_layout grouped = {"grouped", sizeof(struct grouped), grouped_fields, 3};

// A row of up to four texts, NULL behind the last.
static csv_row *row_of(const char *a, const char *b, const char *c, const char *d)
{
    static csv_field fields[4];
    static csv_row row;
    const char *texts[] = {a, b, c, d};
    row = (csv_row){.fields = fields, .line = 7};
    for (; row.count < 4 && texts[row.count] != NULL; row.count++)
        fields[row.count] = (csv_field){(char *)texts[row.count], strlen(texts[row.count])};
    return &row;
}

static void fields_take_the_columns_of_their_names_in_any_order(void **state)
{
    (void)state;
    columns columns = {0};
    struct plain message = {0};
    assert_true(columns_group(&columns, &plain));
    assert_int_equal(columns.rows_per_message, 1);
    assert_true(columns_map(&columns, row_of("b", "note", "a", "k"), &plain, "k"));
    assert_int_equal(columns.key, 3);
    char unused[64];
    columns_unused(&columns, unused, sizeof unused);
    assert_string_equal(unused, "note");
    assert_true(columns_store(&columns, row_of("2.5", "x", "-3", "p"), 0, (unsigned char *)&message));
    assert_int_equal(message.a, -3);
    assert_true(message.b == 2.5);
    columns_close(&columns);
}

static void a_missing_column_is_named_with_the_field_and_the_columns_there(void **state)
{
    (void)state;
    columns columns = {0};
    assert_false(columns_map(&columns, row_of("a", "c", NULL, NULL), &plain, NULL));
    assert_string_equal(columns.problem, "no column 'b', which field b of struct plain needs; the columns are: a, c");
    columns_close(&columns);
}

static void a_column_that_is_there_twice_is_refused_where_it_is_needed(void **state)
{
    (void)state;
    columns columns = {0};
    assert_false(columns_map(&columns, row_of("a", "b", "a", NULL), &plain, NULL));
    assert_string_equal(columns.problem, "column 'a' is there twice");
    columns_close(&columns);
    columns = (struct columns){0};
    assert_true(columns_map(&columns, row_of("a", "b", "c", "c"), &plain, NULL));
    columns_close(&columns);
}

static void a_value_out_of_range_is_named_with_its_column_and_range(void **state)
{
    (void)state;
    columns columns = {0};
    struct plain message = {.a = 5};
    assert_true(columns_map(&columns, row_of("a", "b", NULL, NULL), &plain, NULL));
    assert_false(columns_store(&columns, row_of("40000", "1", NULL, NULL), 0, (unsigned char *)&message));
    assert_string_equal(columns.problem, "column a: '40000' is not a whole number from -32768 to 32767");
    assert_int_equal(message.a, 5);
    assert_false(columns_fit(&columns, row_of("1", NULL, NULL, NULL)));
    assert_string_equal(columns.problem, "1 columns where the header has 2");
    columns_close(&columns);
}

static void array_fields_take_a_row_an_element_and_the_rest_the_first_row(void **state)
{
    (void)state;
    columns columns = {0};
    struct grouped message = {0};
    assert_true(columns_group(&columns, &grouped));
    assert_int_equal(columns.rows_per_message, 3);
    assert_true(columns_map(&columns, row_of("id", "v", "w", NULL), &grouped, NULL));
    assert_true(columns_store(&columns, row_of("9", "1", "0.5", NULL), 0, (unsigned char *)&message));
    assert_true(columns_store(&columns, row_of("not looked at", "2", "1.5", NULL), 1, (unsigned char *)&message));
    assert_true(columns_store(&columns, row_of("8", "3", "2.5", NULL), 2, (unsigned char *)&message));
    const struct grouped want = {9, {1, 2, 3}, {0.5f, 1.5f, 2.5f}};
    assert_int_equal(message.id, want.id);
    assert_memory_equal(message.v, want.v, sizeof want.v);
    assert_memory_equal(message.w, want.w, sizeof want.w);
    columns_pad(&columns, 1, (unsigned char *)&message);
    assert_int_equal(message.v[0], 1);
    assert_int_equal(message.v[1] + message.v[2], 0);
    assert_true(message.w[0] == 0.5f && message.w[2] == 0.0f);
    columns_close(&columns);
}

static void arrays_of_different_lengths_are_refused(void **state)
{
    (void)state;
    const slr_field fields[] = {
        {.name = "v", .scalar = SLR_I16, .count = 3, .is_array = 1},
        {.name = "w", .scalar = SLR_I16, .count = 4, .offset = 6, .is_array = 1},
    };
    const slr_layout layout = {"odd", 14, fields, 2};
    columns columns = {0};
    assert_false(columns_group(&columns, &layout));
    assert_string_equal(columns.problem,
                        "the arrays of struct odd differ: v has 3 elements, w has 4; rows cannot fill both");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(fields_take_the_columns_of_their_names_in_any_order),
        cmocka_unit_test(a_missing_column_is_named_with_the_field_and_the_columns_there),
        cmocka_unit_test(a_column_that_is_there_twice_is_refused_where_it_is_needed),
        cmocka_unit_test(a_value_out_of_range_is_named_with_its_column_and_range),
        cmocka_unit_test(array_fields_take_a_row_an_element_and_the_rest_the_first_row),
        cmocka_unit_test(arrays_of_different_lengths_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
