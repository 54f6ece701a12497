// SPDX-License-Identifier: Apache-2.0
// Replies to text, and back through the reader of the same format.
#include "run/format.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

struct reply {
    char id;
    struct {
        float x, y[2];
    } leg[2];
    unsigned long long u;
    _Bool ok;
};

static const slr_field fields[] = {
    {.name = "id", .scalar = SLR_I8, .count = 1, .offset = offsetof(struct reply, id)},
    {.name = "leg[0].x", .scalar = SLR_F32, .count = 1, .offset = offsetof(struct reply, leg[0].x)},
    {.name = "leg[0].y", .scalar = SLR_F32, .count = 2, .offset = offsetof(struct reply, leg[0].y), .is_array = 1},
    {.name = "leg[1].x", .scalar = SLR_F32, .count = 1, .offset = offsetof(struct reply, leg[1].x)},
    {.name = "leg[1].y", .scalar = SLR_F32, .count = 2, .offset = offsetof(struct reply, leg[1].y), .is_array = 1},
    {.name = "u", .scalar = SLR_U64, .count = 1, .offset = offsetof(struct reply, u)},
    {.name = "ok", .scalar = SLR_BOOL, .count = 1, .offset = offsetof(struct reply, ok)},
};
static const slr_layout layout = {"reply", sizeof(struct reply), fields, 7};

// Writes one reply; what the file holds then, NUL-terminated.
static const char *written(const writer_kind *kind, const char *key_name, key_text key, const struct reply *reply,
                           size_t *bytes)
{
    static char out[1024];
    FILE *file = tmpfile();
    writer writer;
    assert_non_null(file);
    assert_true(writer_open(&writer, kind, fileno(file), &layout, &layout, &(record_shape){.key = key_name}));
    writer_header(&writer);
    writer_row(&writer, &key, (const unsigned char *)reply);
    writer_flush(&writer);
    assert_int_equal(writer.error, 0);
    writer_close(&writer);
    rewind(file);
    *bytes = fread(out, 1, sizeof out - 1, file);
    out[*bytes] = '\0';
    fclose(file);
    return out;
}

static void ndjson_nests_as_the_struct_does(void **state)
{
    (void)state;
    struct reply reply = {-5, {{0.1f, {INFINITY, 3}}, {-0.0f, {1e-30f, NAN}}}, UINT64_MAX, true};
    size_t bytes;
    const char *rest = "\"id\":-5,\"leg\":[{\"x\":0.1,\"y\":[\"inf\",3]},{\"x\":-0.0,\"y\":[1e-30,\"nan\"]}],"
                       "\"u\":\"18446744073709551615\",\"ok\":true}\n";
    char wanted[512];
    snprintf(wanted, sizeof wanted, "{%s", rest);
    assert_string_equal(written(&json_writer, NULL, (key_text){0}, &reply, &bytes), wanted);
    snprintf(wanted, sizeof wanted, "{\"k\":7,%s", rest);
    assert_string_equal(written(&json_writer, "k", (key_text){"7", 1, true}, &reply, &bytes), wanted);
    snprintf(wanted, sizeof wanted, "{%s", rest); // "id" stands once
    assert_string_equal(written(&json_writer, "id", (key_text){"7", 1, true}, &reply, &bytes), wanted);
}

static void an_ndjson_key_is_a_string_whatever_is_in_it(void **state)
{
    (void)state;
    struct reply reply = {0};
    size_t bytes;
    const key_text key = {"a\"\\\n\xc3\xa9\xff\xc3z", 9, false};
    const char *wanted = "{\"k\":\"a\\\"\\\\\\u000a\xc3\xa9\\u00ff\\u00c3z\",";
    assert_memory_equal(written(&json_writer, "k", key, &reply, &bytes), wanted, strlen(wanted));
}

static void a_raw_reply_is_its_fields_and_zeros_between_them(void **state)
{
    (void)state;
    struct reply reply, wanted;
    memset(&reply, 0xaa, sizeof reply);
    memset(&wanted, 0, sizeof wanted);
    wanted.id = reply.id = 4;
    wanted.leg[0].x = reply.leg[0].x = 1.5f;
    wanted.ok = reply.ok = true;
    memcpy(wanted.leg[0].y, reply.leg[0].y, sizeof wanted.leg[0].y);
    memcpy(&wanted.leg[1], &reply.leg[1], sizeof wanted.leg[1]);
    wanted.u = reply.u;
    size_t bytes;
    const char *out = written(&raw_writer, "id", (key_text){"-9", 2, false}, &reply, &bytes);
    assert_int_equal(bytes, 1 + sizeof wanted);
    assert_int_equal((signed char)out[0], -9);
    assert_memory_equal(out + 1, &wanted, sizeof wanted);
}

static void a_raw_key_must_be_a_field_of_the_message(void **state)
{
    (void)state;
    writer writer;
    assert_false(writer_open(&writer, &raw_writer, -1, &layout, &layout, &(record_shape){.key = "patient"}));
    assert_non_null(strstr(writer.problem, "'patient' must be a field of struct reply"));
    writer_close(&writer);
}

// Any bits of the floats but NANs, which are only known to be ones.
static void what_is_written_reads_back_as_the_same_values(void **state)
{
    (void)state;
    static const reader_kind *const readers[] = {&json_reader, &raw_reader};
    static const writer_kind *const writers[] = {&json_writer, &raw_writer};
    uint32_t random = 1;
    for (int round = 0; round < 2000; round++) {
        struct reply sent, got = {0};
        memset(&sent, 0, sizeof sent);
        float *floats[] = {&sent.leg[0].x, &sent.leg[0].y[0], &sent.leg[0].y[1],
                           &sent.leg[1].x, &sent.leg[1].y[0], &sent.leg[1].y[1]};
        for (size_t i = 0; i < 6; i++) {
            random = random * 1664525u + 1013904223u; // Knuth, The Art of Computer Programming 2, 3.3.4
            memcpy(floats[i], &random, sizeof random);
            *floats[i] = isnan(*floats[i]) ? 0 : *floats[i];
        }
        sent.u = (uint64_t)random << 32 | random;
        sent.id = (char)(random >> 8);
        sent.ok = random >> 31;
        for (int i = 0; i < 2; i++) {
            size_t bytes, space;
            const char *text = written(writers[i], NULL, (key_text){0}, &sent, &bytes);
            reader reader;
            assert_true(reader_open(&reader, readers[i], &layout, NULL));
            memcpy(intake_space(&reader.bytes, &space), text, bytes);
            intake_put(&reader.bytes, bytes);
            assert_int_equal(reader_next(&reader), READ_RECORD);
            if (!reader_store(&reader, 0, (unsigned char *)&got))
                fail_msg("%s: %s", text, reader.problem);
            assert_memory_equal(&got, &sent, sizeof got);
            reader_close(&reader);
        }
    }
}

static void formats_are_known_by_name_and_by_suffix(void **state)
{
    (void)state;
    assert_ptr_equal(format_named("ndjson:csv", 6)->reader, &json_reader);
    assert_null(format_named("nd", 2));
    assert_ptr_equal(format_of("a.b/rows.jsonl")->writer, &json_writer);
    assert_ptr_equal(format_of("rows.bin")->writer, &raw_writer);
    assert_ptr_equal(format_of("rows.csv")->writer, &csv_writer);
    assert_null(format_of("rows"));
    assert_null(format_of(NULL));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ndjson_nests_as_the_struct_does),
        cmocka_unit_test(an_ndjson_key_is_a_string_whatever_is_in_it),
        cmocka_unit_test(a_raw_reply_is_its_fields_and_zeros_between_them),
        cmocka_unit_test(a_raw_key_must_be_a_field_of_the_message),
        cmocka_unit_test(what_is_written_reads_back_as_the_same_values),
        cmocka_unit_test(formats_are_known_by_name_and_by_suffix),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
