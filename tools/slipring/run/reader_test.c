// SPDX-License-Identifier: Apache-2.0
// NDJSON and raw records to messages. CSV has its tests in csv_in_test.c and columns_test.c.
#include "run/reader.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

struct message {
    short a;
    struct {
        float x;
    } pos[2];
    double d;
    unsigned long long u;
    unsigned char b[3];
    _Bool ok;
};

static const slr_field fields[] = {
    {.name = "a", .scalar = SLR_I16, .count = 1, .offset = offsetof(struct message, a)},
    {.name = "pos[0].x", .scalar = SLR_F32, .count = 1, .offset = offsetof(struct message, pos[0].x)},
    {.name = "pos[1].x", .scalar = SLR_F32, .count = 1, .offset = offsetof(struct message, pos[1].x)},
    {.name = "d", .scalar = SLR_F64, .count = 1, .offset = offsetof(struct message, d)},
    {.name = "u", .scalar = SLR_U64, .count = 1, .offset = offsetof(struct message, u)},
    {.name = "b", .scalar = SLR_U8, .count = 3, .offset = offsetof(struct message, b), .is_array = 1},
    {.name = "ok", .scalar = SLR_BOOL, .count = 1, .offset = offsetof(struct message, ok)},
};
static const slr_layout layout = {"message", sizeof(struct message), fields, 7};

#define OBJECT(a, x, d, u, b, ok)                                                                                      \
    "{\"a\":" a ",\"pos\":[{\"x\":" x "},{\"x\":2}],\"d\":" d ",\"u\":" u ",\"b\":" b ",\"ok\":" ok "}\n"
#define PLAIN OBJECT("-3", "1.5", "1e300", "7", "[1,2,3]", "true")

// Opens, puts all of `text` in; the reader is the caller's.
static reader reader_of(const reader_kind *kind, const void *text, size_t bytes, const char *key)
{
    reader reader;
    size_t space;
    assert_true(reader_open(&reader, kind, &layout, &(record_shape){.key = key}));
    memcpy(intake_space(&reader.bytes, &space), text, bytes);
    intake_put(&reader.bytes, bytes);
    intake_put(&reader.bytes, 0);
    return reader;
}

static reader json_of(const char *text, const char *key)
{
    return reader_of(&json_reader, text, strlen(text), key);
}

// The one record of the text is refused with a problem that holds `problem`.
static void refuses(const char *text, const char *problem)
{
    reader reader = json_of(text, NULL);
    struct message message;
    read_result result = reader_next(&reader);
    bool stored = result == READ_RECORD && reader_store(&reader, 0, (unsigned char *)&message);
    if (stored || strstr(reader.problem, problem) == NULL)
        fail_msg("%s\ngave '%s', wanted '%s'", text, stored ? "a message" : reader.problem, problem);
    assert_int_equal(reader.line, 1);
    reader_close(&reader);
}

static void members_fill_fields_nested_and_in_any_order(void **state)
{
    (void)state;
    reader reader =
        json_of("{\"ok\":false,\"b\":[9,8,7],\"u\":1,\"d\":2,\"pos\":[{\"x\":0.1},{\"x\":-4}],\"a\":5}\n" PLAIN, NULL);
    struct message message = {0};
    assert_int_equal(reader_next(&reader), READ_RECORD);
    assert_true(reader_store(&reader, 0, (unsigned char *)&message));
    assert_int_equal(message.a, 5);
    assert_true(message.pos[0].x == 0.1f && message.pos[1].x == -4.0f && message.d == 2.0);
    assert_memory_equal(message.b, "\x09\x08\x07", 3);
    assert_false(message.ok);
    assert_int_equal(reader_next(&reader), READ_RECORD);
    assert_true(reader_store(&reader, 0, (unsigned char *)&message));
    assert_true(message.ok && message.d == 1e300 && message.a == -3);
    assert_int_equal(reader.line, 2);
    assert_int_equal(reader_next(&reader), READ_END);
    reader_close(&reader);
}

static void a_string_stands_for_a_number_that_json_has_not(void **state)
{
    (void)state;
    reader reader =
        json_of(OBJECT("\"12\"", "\"-inf\"", "\"nan\"", "\"18446744073709551615\"", "[\"1\",2,3]", "1"), NULL);
    struct message message;
    assert_int_equal(reader_next(&reader), READ_RECORD);
    assert_true(reader_store(&reader, 0, (unsigned char *)&message));
    assert_int_equal(message.a, 12);
    assert_true(isinf(message.pos[0].x) && message.pos[0].x < 0 && isnan(message.d));
    assert_true(message.u == UINT64_MAX && message.b[0] == 1 && message.ok);
    reader_close(&reader);
}

static void what_does_not_fit_is_refused_with_its_member_and_range(void **state)
{
    (void)state;
    refuses(OBJECT("40000", "1", "1", "1", "[1,2,3]", "true"),
            "member a: '40000' is not a whole number from -32768 to");
    refuses(OBJECT("1.5", "1", "1", "1", "[1,2,3]", "true"), "member a: '1.5' is not");
    refuses(OBJECT("null", "1", "1", "1", "[1,2,3]", "true"), "member a: null is not");
    refuses(OBJECT("true", "1", "1", "1", "[1,2,3]", "true"), "member a: true is not");
    refuses(OBJECT("[1]", "1", "1", "1", "[1,2,3]", "true"), "member a: an array is not");
    refuses(OBJECT("1", "1e39", "1", "1", "[1,2,3]", "true"), "member pos[0].x: '9.9");
    refuses(OBJECT("1", "1", "1", "-1", "[1,2,3]", "true"), "member u: '-1' is not");
    refuses(OBJECT("1", "1", "1", "1", "[1,2]", "true"), "member b: expected an array of 3 numbers");
    refuses(OBJECT("1", "1", "1", "1", "[1,2,256]", "true"), "member b: '256' is not");
    refuses(OBJECT("1", "1", "1", "1", "7", "true"), "member b: expected an array of 3 numbers");
    refuses(OBJECT("1", "1", "1", "1", "[1,2,3]", "2"), "member ok: '2' is not 0, 1");
    refuses("{\"a\":1,\"pos\":[{\"x\":1}]}\n", "no member 'pos[1].x', which struct message needs");
}

static void what_is_no_object_is_refused_and_the_next_line_is_read(void **state)
{
    (void)state;
    refuses("{\"a\":1", "no JSON, at byte ");
    refuses("[1,2]\n", "one JSON object");
    refuses("{\"a\":1}{\"a\":2}\n", "no JSON, at byte ");
    refuses("{\"a\":1,\"a\":2}\n", "duplicate");
    refuses("{\"a\":\"\xff\"}\n", "no JSON, at byte ");
    refuses("{\"a\":\"\\u0000\"}\n", ": \\u0000: a text has no NUL in it");
    reader reader = json_of("\xEF\xBB\xBF\r\n \nnonsense\n" PLAIN, NULL);
    assert_int_equal(reader_next(&reader), READ_BAD);
    assert_int_equal(reader.line, 3);
    assert_int_equal(reader_next(&reader), READ_RECORD);
    assert_int_equal(reader.line, 4);
    assert_int_equal(reader_next(&reader), READ_END);
    reader_close(&reader);
}

// A number with a point is read as a double: from 2^53 on it may have been rounded.
static void no_number_is_rounded_to_an_integer(void **state)
{
    (void)state;
    refuses(OBJECT("1", "1", "1", "9007199254740993.0", "[1,2,3]", "true"), "member u: write a whole number from 2^53");
    refuses(OBJECT("1", "1", "1", "1e16", "[1,2,3]", "true"), "member u: write a whole number from 2^53");
    refuses(OBJECT("1", "1", "1", "0.5", "[1,2,3]", "true"), "member u: '0.5' is not");
    reader reader = json_of(OBJECT("1.0", "1", "1", "9007199254740991.0", "[1,2,3]", "true")
                                OBJECT("1", "1", "1", "9007199254740993", "[1,2,3]", "1"),
                            NULL);
    struct message message;
    assert_int_equal(reader_next(&reader), READ_RECORD);
    assert_true(reader_store(&reader, 0, (unsigned char *)&message));
    assert_true(message.a == 1 && message.u == 9007199254740991);
    assert_int_equal(reader_next(&reader), READ_RECORD);
    assert_true(reader_store(&reader, 0, (unsigned char *)&message));
    assert_true(message.u == 9007199254740993 && message.ok);
    reader_close(&reader);
}

// Blanks and a text, as a file would hold them.
typedef struct piece {
    size_t blanks;
    const char *text;
} piece;

// The next record of pieces that are put in as there is room.
static read_result next_of(reader *reader, piece **at)
{
    read_result result;
    while ((result = reader_next(reader)) == READ_MORE) {
        size_t space, blanks;
        char *to = intake_space(&reader->bytes, &space);
        assert_non_null(to);
        blanks = (*at)->blanks < space ? (*at)->blanks : space;
        memset(to, ' ', blanks);
        (*at)->blanks -= blanks;
        if (blanks == 0 && space < strlen((*at)->text))
            fail_msg("no room for the text");
        if (blanks == 0) {
            blanks = strlen((*at)->text);
            memcpy(to, (*at)->text, blanks);
            *at += blanks > 0;
        }
        intake_put(&reader->bytes, blanks);
    }
    return result;
}

static void a_line_has_64_mib_at_most_and_the_next_one_is_read(void **state)
{
    (void)state;
    const size_t fits = INTAKE_MAX - (strlen(PLAIN) - 1);
    piece pieces[] = {{fits, PLAIN}, {fits + 1, PLAIN}, {3 * (size_t)INTAKE_MAX, PLAIN}, {0, PLAIN}, {0, ""}};
    piece *at = pieces;
    reader reader;
    struct message message;
    assert_true(reader_open(&reader, &json_reader, &layout, NULL));
    assert_int_equal(next_of(&reader, &at), READ_RECORD);
    assert_true(reader_store(&reader, 0, (unsigned char *)&message));
    for (uint64_t line = 2; line < 4; line++) {
        assert_int_equal(next_of(&reader, &at), READ_BAD);
        assert_string_equal(reader.problem, "more than 64 MiB in one line: is the format different?");
        assert_int_equal(reader.line, line);
    }
    assert_int_equal(next_of(&reader, &at), READ_RECORD);
    assert_int_equal(reader.line, 4);
    assert_int_equal(next_of(&reader, &at), READ_END);
    reader_close(&reader);
}

static void a_key_is_a_string_or_a_whole_number(void **state)
{
    (void)state;
    reader reader = json_of("{\"k\":\"x y\"}\n{\"k\":-7}\n{\"k\":1.5}\n{\"a\":1}\n", "k");
    key_text key;
    assert_int_equal(reader_next(&reader), READ_RECORD);
    assert_true(reader_key(&reader, &key));
    assert_false(key.is_number);
    assert_int_equal(key.bytes, 3);
    assert_memory_equal(key.text, "x y", 3);
    assert_int_equal(reader_next(&reader), READ_RECORD);
    assert_true(reader_key(&reader, &key));
    assert_true(key.is_number);
    assert_memory_equal(key.text, "-7", 2);
    assert_int_equal(reader_next(&reader), READ_RECORD);
    assert_false(reader_key(&reader, &key));
    assert_string_equal(reader.problem, "the key, member 'k', is neither a string nor a whole number");
    assert_int_equal(reader_next(&reader), READ_RECORD);
    assert_false(reader_key(&reader, &key));
    assert_string_equal(reader.problem, "no member 'k', which --key needs");
    reader_close(&reader);
}

static void members_that_nothing_uses_are_named_once(void **state)
{
    (void)state;
    reader reader = json_of("{\"a\":1,\"note\":2,\"k\":3,\"pos\":[],\"more\":[]}\n{\"other\":1}\n", "k");
    assert_int_equal(reader_next(&reader), READ_RECORD);
    assert_string_equal(reader.notice, "note, more");
    assert_int_equal(reader_next(&reader), READ_RECORD);
    assert_string_equal(reader.notice, "note, more");
    reader_close(&reader);
}

static void a_raw_record_is_the_struct_and_a_cut_one_is_refused(void **state)
{
    (void)state;
    struct message sent[2] = {{.a = 1, .ok = true}, {.a = -2, .u = 9}}, got;
    unsigned char bytes[2 * sizeof *sent + 3] = {0};
    memcpy(bytes, sent, sizeof sent);
    reader reader = reader_of(&raw_reader, bytes, sizeof bytes, "a");
    for (int i = 0; i < 2; i++) {
        key_text key;
        assert_int_equal(reader_next(&reader), READ_RECORD);
        assert_true(reader_key(&reader, &key));
        assert_memory_equal(key.text, i == 0 ? "1" : "-2", key.bytes);
        assert_true(reader_store(&reader, 0, (unsigned char *)&got));
        assert_memory_equal(&got, &sent[i], sizeof got);
    }
    assert_int_equal(reader_next(&reader), READ_BAD);
    assert_int_equal(reader.line, 3);
    assert_non_null(strstr(reader.problem, "the input ends within this record: 3 of"));
    assert_int_equal(reader_next(&reader), READ_END);
    reader_close(&reader);
}

static void a_raw_bool_is_0_or_1(void **state)
{
    (void)state;
    unsigned char bytes[sizeof(struct message)] = {0}, got[sizeof bytes];
    bytes[offsetof(struct message, ok)] = 2;
    reader reader = reader_of(&raw_reader, bytes, sizeof bytes, NULL);
    assert_int_equal(reader_next(&reader), READ_RECORD);
    assert_false(reader_store(&reader, 0, got));
    assert_string_equal(reader.problem, "field ok: a bool is a byte of 0 or 1, not 2");
    reader_close(&reader);
}

static void a_raw_key_is_a_field_that_is_one_whole_number(void **state)
{
    (void)state;
    static const char *const keys[] = {"k", "b", "d"};
    for (int i = 0; i < 3; i++) {
        reader reader;
        assert_false(reader_open(&reader, &raw_reader, &layout, &(record_shape){.key = keys[i]}));
        assert_non_null(strstr(reader.problem, keys[i]));
        reader_close(&reader);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(members_fill_fields_nested_and_in_any_order),
        cmocka_unit_test(a_string_stands_for_a_number_that_json_has_not),
        cmocka_unit_test(what_does_not_fit_is_refused_with_its_member_and_range),
        cmocka_unit_test(what_is_no_object_is_refused_and_the_next_line_is_read),
        cmocka_unit_test(no_number_is_rounded_to_an_integer),
        cmocka_unit_test(a_line_has_64_mib_at_most_and_the_next_one_is_read),
        cmocka_unit_test(a_key_is_a_string_or_a_whole_number),
        cmocka_unit_test(members_that_nothing_uses_are_named_once),
        cmocka_unit_test(a_raw_record_is_the_struct_and_a_cut_one_is_refused),
        cmocka_unit_test(a_raw_bool_is_0_or_1),
        cmocka_unit_test(a_raw_key_is_a_field_that_is_one_whole_number),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
