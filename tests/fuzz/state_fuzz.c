// SPDX-License-Identifier: Apache-2.0
// A log file of a durable ring kernel, of anybody's making. The lowest bit of the first byte says whether checksums are
// corrected first, without which hardly any input would get past them; the next three bits say what its frames are.
#include "cluster/frame.h"
#include "cluster/segment.h"
#include "fuzz.h"

#include <slipring/status.h>

#include <string.h>

static const slri_frame_shape shape = {
    .layout = 0x6c, .message_bytes = 5, .state_bytes = 12, .reply_bytes = 9, .instances = 100};

static void put_right(unsigned char *bytes, size_t size)
{
    slri_segment_head head;
    slri_record_head record;
    size_t at = sizeof head;
    if (size < at)
        return;
    memcpy(&head, bytes, sizeof head);
    head = slri_segment_head_of(head.first, (bytes[8] & 1) != 0); // version 2 or 3

    memcpy(bytes, &head, sizeof head);
    for (uint64_t sequence = head.first; size - at >= sizeof record; ++sequence) {
        memcpy(&record, bytes + at, sizeof record);
        size_t left = size - at - sizeof record;
        const unsigned char *from = bytes + at + sizeof record;
        const size_t whole = record.bytes < left ? record.bytes : left;
        slri_log_rows rows = {record.row_bytes, 0};
        const bool has_rows = rows.bytes > 0 && rows.bytes % 8 == 0 && record.rows_at % 8 == 0 &&
                              record.rows_at <= whole && (whole - record.rows_at) % rows.bytes == 0;
        const size_t plain = has_rows ? record.rows_at : whole;
        slri_append_part parts[] = {{from, plain}, {from + plain, whole - plain}};
        if (has_rows)
            rows.sum = slri_rows_add(0, from + plain, (uint32_t)((whole - plain) / rows.bytes), rows.bytes);
        record = slri_record_head_of(sequence, slri_segment_seed(&head), parts, 2, has_rows ? &rows : NULL);
        memcpy(bytes + at, &record, sizeof record);
        size_t padded = (whole + 7) / 8 * 8;
        if (padded > left)
            return;
        at += sizeof record + padded;
    }
}

struct reading {
    enum slri_frame_kind kind;
    uint64_t last, records;
    unsigned sum; // so that every byte is read
};

static void read_bytes(struct reading *reading, const void *data, size_t bytes)
{
    const unsigned char *from = data;
    for (size_t i = 0; i < bytes; ++i)
        reading->sum += from[i];
}

static void read_entries(struct reading *reading, const slri_frame *frame)
{
    size_t at = 0, begin = 0;
    uint32_t count = 0;
    slri_frame_state state;
    slri_frame_output output;
    slri_frame_letter letter;
    const char *key;
    const void *bytes;
    if (reading->kind == SLRI_FRAME_SNAP) {
        for (; slri_frame_next_state(&shape, frame, &at, &state, &key, &bytes); ++count) {
            FUZZ_CHECK(state.instance < shape.instances);
            read_bytes(reading, key, state.key_bytes);
            read_bytes(reading, bytes, shape.state_bytes);
        }
    } else if (reading->kind == SLRI_FRAME_OUT) {
        for (; slri_frame_next_output(&shape, frame, &at, &output, &bytes); ++count) {
            FUZZ_CHECK(output.instance < shape.instances && output.message > 0);
            const slr_key text = slri_frame_output_key(frame, begin);
            FUZZ_CHECK(text.bytes == (text.text ? output.key_bytes : 0));
            read_bytes(reading, text.text, text.bytes);
            begin = at;
            read_bytes(reading, bytes, shape.reply_bytes);
        }
    } else {
        for (; slri_frame_next_letter(&shape, frame, &at, &letter, &key, &bytes); ++count) {
            FUZZ_CHECK(letter.instance < shape.instances);
            read_bytes(reading, key, letter.reason_bytes);
            read_bytes(reading, bytes, shape.message_bytes);
        }
    }
    FUZZ_CHECK(count == frame->head.count);
}

static void read_messages(struct reading *reading, const slri_frame *frame)
{
    slri_frame_key key;
    const char *text;
    uint32_t keys = 0;
    for (uint32_t i = 0; i < frame->head.count; ++i)
        FUZZ_CHECK(frame->instances[i] < shape.instances);
    for (size_t at = 0; slri_frame_next_key(frame, &at, &key, &text); ++keys)
        read_bytes(reading, text, key.bytes);
    FUZZ_CHECK(keys == frame->head.extra);
    read_bytes(reading, frame->entries, frame->bytes);
    reading->sum += (unsigned)slri_rows_add(0, frame->entries, frame->head.count, shape.message_bytes);
}

// From another machine.
static void read_sent(struct reading *reading, const slri_frame *frame)
{
    size_t text = 0;
    FUZZ_CHECK(frame->head.number > 0 && frame->head.number + frame->head.count > frame->head.number - 1);
    for (uint32_t i = 0; i < frame->head.count; ++i) {
        slr_key key = slri_frame_sent_key(frame, i, &text);
        FUZZ_CHECK((key.text != NULL) == (frame->head.extra == SLR_KEYS_TEXT));
        FUZZ_CHECK(key.bytes <= SLRI_FRAME_KEY_MAX && (const unsigned char *)frame->texts + text <= frame->entries);
        read_bytes(reading, key.text, key.bytes);
    }
    read_bytes(reading, frame->entries, frame->bytes);
}

static slr_status read_record(void *user, const slri_log_record *record)
{
    struct reading *reading = user;
    slri_frame frame;
    FUZZ_CHECK(reading->records++ == 0 || record->sequence == reading->last + 1);
    reading->last = record->sequence;
    slr_status status = slri_frame_read(&shape, reading->kind, record->data, record->bytes, &frame);
    if (status != SLR_OK) {
        FUZZ_CHECK(slr_error_message()[0] != '\0');
        return SLR_OK;
    }
    if (reading->kind == SLRI_FRAME_IN)
        read_messages(reading, &frame);
    else if (reading->kind == SLRI_FRAME_SENT)
        read_sent(reading, &frame);
    else
        read_entries(reading, &frame);
    return SLR_OK;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < 1)
        return 0;
    unsigned char *bytes = malloc(size); // its end is watched
    if (bytes == NULL)
        return 0;
    memcpy(bytes, data + 1, size - 1);
    if (data[0] & 1)
        put_right(bytes, size - 1);
    struct reading first = {.kind = (enum slri_frame_kind)(1 + (data[0] >> 1 & 7) % 5)}, second = first;
    slri_segment_scan scan = slri_segment_read(bytes, size - 1, 0, read_record, &first);
    FUZZ_CHECK(scan.good <= size - 1 && (scan.end == SLRI_SEGMENT_WHOLE || scan.why != NULL));
    FUZZ_CHECK(scan.end != SLRI_SEGMENT_WHOLE || scan.good == size - 1);
    if (scan.good > 0) { // what is left after a cut is whole
        slri_segment_scan again = slri_segment_read(bytes, scan.good, 0, read_record, &second);
        FUZZ_CHECK(again.end == SLRI_SEGMENT_WHOLE && again.last == scan.last && first.sum == second.sum);
    }
    free(bytes);
    return 0;
}
