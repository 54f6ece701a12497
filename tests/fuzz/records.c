// SPDX-License-Identifier: Apache-2.0
// Two properties: how the bytes arrive changes nothing, and what is written of a message reads back as that message.
#include "records.h"

#include "checksum.h"
#include "fuzz.h"
#include "run/layout.h"

#include <math.h>
#include <string.h>

// ---- layouts -------------------------------------------------------------------------------------------------------

struct plain {
    _Bool ok;
    signed char i8;
    unsigned char u8;
    short i16;
    unsigned short u16;
    int i32;
    unsigned u32;
    long long i64;
    unsigned long long u64;
    float f32;
    double f64;
};
struct grouped {
    int id;
    float v[3];
    _Bool on[3];
};
struct nested {
    struct {
        short a;
        struct {
            double x;
        } p[2];
    } leg[2];
    unsigned char last;
};

#define FIELD(kind, type, member)                                                                                      \
    {                                                                                                                  \
        .name = #member, .scalar = kind, .count = 1, .offset = offsetof(struct type, member)                           \
    }
static const slr_field plain_fields[] = {
    FIELD(SLR_BOOL, plain, ok), FIELD(SLR_I8, plain, i8),   FIELD(SLR_U8, plain, u8),   FIELD(SLR_I16, plain, i16),
    FIELD(SLR_U16, plain, u16), FIELD(SLR_I32, plain, i32), FIELD(SLR_U32, plain, u32), FIELD(SLR_I64, plain, i64),
    FIELD(SLR_U64, plain, u64), FIELD(SLR_F32, plain, f32), FIELD(SLR_F64, plain, f64),
};
static const slr_field grouped_fields[] = {
    FIELD(SLR_I32, grouped, id),
    {.name = "v", .scalar = SLR_F32, .count = 3, .offset = offsetof(struct grouped, v), .is_array = 1},
    {.name = "on", .scalar = SLR_BOOL, .count = 3, .offset = offsetof(struct grouped, on), .is_array = 1},
};
static const slr_field nested_fields[] = {
    FIELD(SLR_I16, nested, leg[0].a), FIELD(SLR_F64, nested, leg[0].p[0].x), FIELD(SLR_F64, nested, leg[0].p[1].x),
    FIELD(SLR_I16, nested, leg[1].a), FIELD(SLR_F64, nested, leg[1].p[0].x), FIELD(SLR_F64, nested, leg[1].p[1].x),
    FIELD(SLR_U8, nested, last),
};

static const struct {
    slr_layout layout;
    const char *key; // where the input asks for one: a field, so that each format can have it
} shapes[] = {
    {{"plain", sizeof(struct plain), plain_fields, sizeof plain_fields / sizeof *plain_fields}, "u64"},
    {{"grouped", sizeof(struct grouped), grouped_fields, sizeof grouped_fields / sizeof *grouped_fields}, "id"},
    {{"nested", sizeof(struct nested), nested_fields, sizeof nested_fields / sizeof *nested_fields}, "last"},
};
enum { SHAPES = sizeof shapes / sizeof *shapes, MESSAGE_MAX = 256 };

// ---- reading -------------------------------------------------------------------------------------------------------

typedef struct input {
    const uint8_t *data;
    size_t size, at, piece;
} input;

static read_result ask(reader *reader, input *input, read_result (*what)(struct reader *reader))
{
    read_result result;
    while ((result = what(reader)) == READ_MORE) {
        size_t space, now = input->size - input->at < input->piece ? input->size - input->at : input->piece;
        char *to = intake_space(&reader->bytes, &space);
        FUZZ_CHECK(to != NULL); // no input is as long as INTAKE_MAX
        now = now < space ? now : space;
        if (now > 0)
            memcpy(to, input->data + input->at, now);
        intake_put(&reader->bytes, now);
        input->at += now;
    }
    return result;
}

static bool same_but_nans(const slr_layout *layout, const unsigned char *a, const unsigned char *b)
{
    for (uint32_t i = 0; i < layout->field_count; i++) {
        const slr_field *field = &layout->fields[i];
        for (uint32_t k = 0; k < field->count; k++) {
            size_t bytes = number_bytes(field->scalar), at = field->offset + k * bytes;
            float single = 0;
            double real = 0;
            if (memcmp(a + at, b + at, bytes) == 0)
                continue;
            if (field->scalar == SLR_F32)
                memcpy(&single, a + at, bytes);
            if (field->scalar == SLR_F64)
                memcpy(&real, a + at, bytes);
            if (!isnan(single) && !isnan(real))
                return false;
        }
    }
    return true;
}

// Arrays of CSV go out as columns and come in as rows: those do not come back.
static bool comes_back(const format *format, const slr_layout *layout)
{
    bool arrays = false;
    for (uint32_t i = 0; i < layout->field_count; i++)
        arrays = arrays || layout->fields[i].is_array;
    return format->reader != &csv_reader || !arrays;
}

static void write_and_read(const format *format, const slr_layout *layout, const unsigned char *message)
{
    writer writer;
    reader reader;
    unsigned char back[MESSAGE_MAX] = {0};
    FUZZ_CHECK(writer_open(&writer, format->writer, -1, layout, layout, NULL));
    writer_header(&writer);
    writer_row(&writer, NULL, message);
    FUZZ_CHECK(writer.error == 0); // it all fits the buffer: nothing was written to -1
    input input = {(uint8_t *)writer.buffer, writer.used, 0, 1000};
    FUZZ_CHECK(reader_open(&reader, format->reader, layout, NULL));
    FUZZ_CHECK(ask(&reader, &input, reader_header) == READ_RECORD);
    FUZZ_CHECK(ask(&reader, &input, reader_next) == READ_RECORD);
    FUZZ_CHECK(reader_store(&reader, 0, back));
    FUZZ_CHECK(same_but_nans(layout, message, back));
    FUZZ_CHECK(ask(&reader, &input, reader_next) == READ_END);
    reader_close(&reader);
    writer_close(&writer);
}

// Takes the record, if it is one; what came of it goes into the sum.
static uint64_t take(reader *reader, const format *format, read_result result, uint32_t *nth, unsigned char *message,
                     uint64_t sum)
{
    key_text key = {0};
    bool stored = result == READ_RECORD && (reader->shape.key == NULL || reader_key(reader, &key)) &&
                  reader_store(reader, *nth, message);
    sum = checksum(sum, &reader->line, sizeof reader->line);
    if (!stored)
        return checksum(sum, reader->problem, strlen(reader->problem));
    if (key.bytes > 0)
        sum = checksum(sum, key.text, key.bytes);
    if (++*nth < reader->records_per_message)
        return sum;
    *nth = 0;
    if (comes_back(format, reader->layout))
        write_and_read(format, reader->layout, message);
    return checksum(sum, message, reader->layout->bytes);
}

// A sum over all that the reader says of the input.
static uint64_t read_all(const format *format, const slr_layout *layout, const char *key, input input)
{
    reader reader;
    unsigned char message[MESSAGE_MAX] = {0};
    uint32_t nth = 0;
    uint64_t sum = CHECKSUM_START;
    FUZZ_CHECK(reader_open(&reader, format->reader, layout, &(record_shape){.key = key}));
    read_result result = ask(&reader, &input, reader_header);
    FUZZ_CHECK(result == READ_RECORD || *reader.problem != '\0');
    while (result != READ_BAD && (result = ask(&reader, &input, reader_next)) != READ_END) {
        sum = take(&reader, format, result, &nth, message, sum);
        result = READ_RECORD; // the next one can be read
    }
    reader_pad(&reader, nth, message);
    sum = checksum(sum, reader.notice, strlen(reader.notice));
    reader_close(&reader);
    return sum;
}

int fuzz_records(const format *format, const uint8_t *data, size_t size)
{
    if (size < 2)
        return 0;
    const slr_layout *layout = &shapes[data[0] % SHAPES].layout;
    const char *key = data[0] & 0x80 ? shapes[data[0] % SHAPES].key : NULL;
    input whole = {data + 2, size - 2, 0, size}, pieces = whole;
    pieces.piece = data[1] + 1u;
    FUZZ_CHECK(read_all(format, layout, key, whole) == read_all(format, layout, key, pieces));
    return 0;
}
