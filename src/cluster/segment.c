// SPDX-License-Identifier: Apache-2.0
// Reads the files of streams, whatever a power cut or a disk has made of them.
#include "cluster/segment.h"

#include "base/round.h"
#include "cluster/sum.h"

#include <string.h>

#define SEGMENT_MAGIC "\x89SLRLOG\n" // 8 bytes; 0x89: a file that lost its eighth bits is no segment
enum { SEGMENT_VERSION = 6, SEGMENT_REUSED = 7, SEGMENT_ORDER = 0x01020304 }; // those before had other checksums
enum { RECORD_MAGIC = 0x67726c73, FILLER_MAGIC = 0x70726c73, END_MAGIC = 0x65726c73 };

_Static_assert(sizeof(slri_segment_head) == 32 && sizeof(slri_record_head) == 32, "no padding: they are files' bytes");

slri_segment_head slri_segment_head_of(uint64_t first, bool is_reused)
{
    const uint32_t version = is_reused ? SEGMENT_REUSED : SEGMENT_VERSION;
    slri_segment_head head = {.version = version, .order = SEGMENT_ORDER, .first = first};
    memcpy(head.magic, SEGMENT_MAGIC, sizeof head.magic);
    head.sum = slri_sum_of(0, &head, offsetof(slri_segment_head, sum));
    return head;
}

uint64_t slri_segment_seed(const slri_segment_head *head)
{
    return head->version == SEGMENT_REUSED ? head->sum : 0;
}

slri_record_head slri_record_head_of(uint64_t sequence, uint64_t seed, const slri_append_part *parts, uint32_t count,
                                     const slri_log_rows *rows)
{
    slri_record_head head = {.magic = RECORD_MAGIC, .sequence = sequence};
    for (uint32_t i = 0; i < count; ++i)
        head.bytes += (uint32_t)parts[i].bytes;
    if (rows) {
        head.row_bytes = rows->bytes;
        head.rows_at = head.bytes - (uint32_t)parts[--count].bytes;
    }
    slri_sum sum = slri_sum_begin(seed);
    slri_sum_add(&sum, &head, offsetof(slri_record_head, sum));
    for (uint32_t i = 0; i < count; ++i)
        slri_sum_add(&sum, parts[i].data, parts[i].bytes);
    if (rows)
        slri_sum_add(&sum, &rows->sum, sizeof rows->sum);
    head.sum = slri_sum_end(&sum);
    return head;
}

slri_record_head slri_filler_head_of(uint64_t bytes, uint64_t seed)
{
    slri_record_head head = {.magic = FILLER_MAGIC, .bytes = (uint32_t)(bytes - sizeof head)};
    head.sum = slri_sum_of(seed, &head, offsetof(slri_record_head, sum));
    return head;
}

slri_record_head slri_end_mark_of(uint64_t sequence, uint64_t seed)
{
    slri_record_head head = {.magic = END_MAGIC, .sequence = sequence};
    head.sum = slri_sum_of(seed, &head, offsetof(slri_record_head, sum));
    return head;
}

static bool is_end_mark(const unsigned char *content, size_t bytes, const slri_segment_scan *scan)
{
    const slri_record_head mark = slri_end_mark_of(scan->last + 1, scan->seed);
    return scan->seed && bytes - scan->good >= sizeof mark && memcmp(content + scan->good, &mark, sizeof mark) == 0;
}

// Bytes of the filler at `at`; 0: there is none, or it is not whole.
static size_t filler_bytes(const unsigned char *content, size_t bytes, size_t at, uint64_t seed)
{
    static const unsigned char zeros[SLRI_SEGMENT_PAGE];
    slri_record_head head;
    if (bytes - at < sizeof head)
        return 0;
    memcpy(&head, content + at, sizeof head);
    if (head.magic != FILLER_MAGIC || head.bytes % 8 != 0 || head.bytes >= SLRI_SEGMENT_PAGE ||
        bytes - at - sizeof head < head.bytes || head.sum != slri_filler_head_of(sizeof head + head.bytes, seed).sum ||
        memcmp(content + at + sizeof head, zeros, head.bytes) != 0)
        return 0;
    return sizeof head + head.bytes;
}

static bool has_right_sum(const unsigned char *content, const slri_record_head *head, uint64_t seed)
{
    const uint32_t at = head->row_bytes ? head->rows_at : head->bytes;
    const slri_append_part parts[] = {{content, at}, {content + at, head->bytes - at}};
    slri_log_rows rows = {head->row_bytes, 0};
    if (rows.bytes)
        rows.sum = slri_rows_add(0, content + at, (head->bytes - at) / rows.bytes, rows.bytes);
    const slri_record_head right = slri_record_head_of(head->sequence, seed, parts, 2, rows.bytes ? &rows : NULL);
    return right.rows_at == head->rows_at && right.sum == head->sum;
}

// Rows without gaps, none of which is cut off.
static bool has_right_rows(const slri_record_head *head)
{
    if (head->row_bytes == 0)
        return true;
    return head->row_bytes % 8 == 0 && head->rows_at % 8 == 0 && head->rows_at <= head->bytes &&
           (head->bytes - head->rows_at) % head->row_bytes == 0;
}

// `expected` 0: any number.
static const char *check_record(const unsigned char *content, size_t bytes, size_t at, uint64_t expected, uint64_t seed,
                                slri_record_head *head)
{
    if (bytes - at < sizeof *head)
        return "the head of a record is cut off";
    memcpy(head, content + at, sizeof *head);
    if (head->magic != RECORD_MAGIC)
        return "no record begins here";
    if (head->bytes > SLRI_LOG_RECORD_MAX)
        return "a record is too long";
    if (bytes - at - sizeof *head < slri_round_up(head->bytes, 8))
        return "a record is cut off";
    if (expected != 0 && head->sequence != expected)
        return "a record has another number than the next one";
    if (!has_right_rows(head) || !has_right_sum(content + at + sizeof *head, head, seed))
        return "a record's checksum is wrong";
    return NULL;
}

// Whether what looks like a record lies behind a head that is damaged. Only the head says what checksums begin with.
static bool has_record_somewhere(const unsigned char *content, size_t bytes)
{
    slri_record_head head;
    for (size_t at = 8; at + sizeof head <= bytes; at += 8) {
        memcpy(&head, content + at, sizeof head);
        if (head.magic == RECORD_MAGIC && head.sequence > 0 && slri_round_up(head.bytes, 8) <= bytes - at - sizeof head)
            return true;
    }
    return false;
}

// Whether a whole record lies behind the damage: then it was no write that was cut off.
static bool has_record_behind(const unsigned char *content, size_t bytes, size_t at, uint64_t expected, uint64_t seed)
{
    slri_record_head head;
    for (at = slri_round_up(at + 1, 8); at + sizeof head <= bytes; at += 8) {
        memcpy(&head.magic, content + at, sizeof head.magic);
        if (head.magic == RECORD_MAGIC && !check_record(content, bytes, at, 0, seed, &head) && head.sequence > expected)
            return true;
    }
    return false;
}

static const char *check_head(const void *content, size_t bytes, slri_segment_head *head)
{
    if (bytes < sizeof *head)
        return "its head is cut off";
    memcpy(head, content, sizeof *head);
    slri_segment_head right = slri_segment_head_of(head->first, true);
    if (memcmp(head->magic, right.magic, sizeof head->magic) != 0)
        return "it does not begin as a log does";
    if (head->order != right.order)
        return "a machine of another byte order wrote it";
    if (head->version < SEGMENT_VERSION || head->version > right.version)
        return "another version wrote it";
    right.version = head->version;
    right.sum = slri_sum_of(0, &right, offsetof(slri_segment_head, sum));
    return head->sum != right.sum || head->first == 0 ? "the checksum of its head is wrong" : NULL;
}

slri_segment_scan slri_segment_read(const void *content, size_t bytes, uint64_t from, slri_log_visit *visit, void *user)
{
    slri_segment_scan scan = {.status = SLR_OK};
    slri_segment_head head;
    slri_record_head record;
    scan.why = check_head(content, bytes, &head);
    if (scan.why) {
        scan.end = has_record_somewhere(content, bytes) ? SLRI_SEGMENT_BROKEN : SLRI_SEGMENT_TORN;
        return scan;
    }
    scan.first = head.first;
    scan.last = head.first - 1;
    scan.seed = slri_segment_seed(&head);
    scan.good = sizeof head;
    while (scan.good < bytes && scan.status == SLR_OK && !is_end_mark(content, bytes, &scan)) {
        size_t filler = filler_bytes(content, bytes, scan.good, scan.seed);
        if (filler) {
            scan.good += filler;
            continue;
        }
        scan.why = check_record(content, bytes, scan.good, scan.last + 1, scan.seed, &record);
        if (scan.why) {
            bool behind = has_record_behind(content, bytes, scan.good, scan.last, scan.seed);
            scan.end = behind ? SLRI_SEGMENT_BROKEN : SLRI_SEGMENT_TORN;
            return scan;
        }
        slri_log_record seen = {record.sequence, (const unsigned char *)content + scan.good + sizeof record,
                                record.bytes};
        if (visit && seen.sequence >= from)
            scan.status = visit(user, &seen);
        scan.last = record.sequence;
        scan.good += sizeof record + slri_round_up(record.bytes, 8);
    }
    return scan;
}
