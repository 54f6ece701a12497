// SPDX-License-Identifier: Apache-2.0
// The engine that needs no server: a folder with files of records, files of values, and a lock that dies with its
// process.
#include "base/append.h"
#include "base/clock.h"
#include "base/file.h"
#include "base/folder.h"
#include "base/futex.h"
#include "base/round.h"
#include "base/status.h"
#include "base/text.h"
#include "base/thread.h"
#include "base/thread_end.h"
#include "cluster/newest.h"
#include "cluster/segment.h"
#include "cluster/sum.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SEGMENT_BYTES = 16 << 20, NAME_BYTES = 64, SPARES_MAX = 4 };
#define LOCK "lock"
#define HOLDER "holder"

struct segment {
    uint64_t first, bytes;
    uint64_t seed; // of its checksums; 0: the file is not reused
};

struct stream {
    struct segment *segments; // by age; the last one is written to
    uint32_t count, capacity;
    uint32_t spares; // files of purged segments that wait to be reused
    uint64_t last;   // sequence
    int fd;          // of the last segment; -1: none. Under fd_lock
    char *path;      // of that segment. Under fd_lock
    uint32_t dirty;  // atomic: something was appended that the disk may not have
};

struct local {
    slri_log log;
    slri_log_desc desc;
    slri_folder *folder;
    int lock;
    struct stream streams[SLRI_LOG_STREAMS];
    slri_newest noted;
    slri_mutex fd_lock; // a segment is not closed while it is synced
    slri_thread syncer;
    bool has_syncer;
    uint32_t stop;     // atomic
    slr_status failed; // atomic: what the disk has is not known since then, and nothing is appended to that
};

const char *slri_log_stream_name(enum slri_log_stream stream)
{
    static const char *const names[SLRI_LOG_STREAMS] = {"in", "out", "snap", "dead"};
    return names[stream];
}

static void name_segment(char name[NAME_BYTES], enum slri_log_stream stream, uint64_t first)
{
    snprintf(name, NAME_BYTES, "%s-%020" PRIu64 ".log", slri_log_stream_name(stream), first);
}

static void name_spare(char name[NAME_BYTES], enum slri_log_stream stream, uint32_t index)
{
    snprintf(name, NAME_BYTES, "%s-spare-%" PRIu32 ".log", slri_log_stream_name(stream), index);
}

static slr_status path_of(const struct local *local, const char *name, char **path)
{
    slri_text text = SLRI_TEXT_INIT;
    slri_text_printf(&text, "%s/%s", slri_folder_path(local->folder), name);
    *path = slri_text_take(&text);
    return *path ? SLR_OK : SLRI_FAIL(NO_MEMORY, "no memory for a path");
}

// ---- opening -------------------------------------------------------------------------------------------------------

static struct segment *newest(const struct stream *stream)
{
    return &stream->segments[stream->count - 1];
}

static slr_status add_segment(struct stream *stream, uint64_t first)
{
    if (stream->count == stream->capacity) {
        uint32_t capacity = stream->capacity ? 2 * stream->capacity : 16;
        struct segment *segments = realloc(stream->segments, capacity * sizeof *segments);
        if (!segments)
            return SLRI_FAIL(NO_MEMORY, "no memory for the names of a log's files");
        stream->segments = segments;
        stream->capacity = capacity;
    }
    stream->segments[stream->count++] = (struct segment){.first = first};
    return SLR_OK;
}

struct finding {
    struct local *local;
    slr_status status;
};

// Of a process that is gone. None is kept: only who purged it knows that it is no longer needed.
static bool is_spare(const char *found)
{
    for (enum slri_log_stream at = 0; at < SLRI_LOG_STREAMS; ++at) {
        for (uint32_t i = 0; i < SPARES_MAX; ++i) {
            char name[NAME_BYTES];
            name_spare(name, at, i);
            if (strcmp(name, found) == 0)
                return true;
        }
    }
    return false;
}

static void find_segment(void *user, const slri_folder_item *item)
{
    struct finding *finding = user;
    if ((item->is_left_behind || is_spare(item->name)) && !finding->local->desc.reads_only)
        (void)slri_folder_delete(finding->local->folder, item->name);
    for (enum slri_log_stream at = 0; at < SLRI_LOG_STREAMS; ++at) {
        char name[NAME_BYTES];
        size_t prefix = strlen(slri_log_stream_name(at));
        if (strncmp(item->name, slri_log_stream_name(at), prefix) != 0 || item->name[prefix] != '-')
            continue;
        uint64_t first = strtoull(item->name + prefix + 1, NULL, 10);
        name_segment(name, at, first);
        if (strcmp(name, item->name) == 0 && finding->status == SLR_OK)
            finding->status = add_segment(&finding->local->streams[at], first);
    }
}

static int by_number(const void *a, const void *b)
{
    const struct segment *left = a, *right = b;
    return (left->first > right->first) - (left->first < right->first);
}

static slr_status read_segment(const struct local *local, enum slri_log_stream stream, uint64_t first, char **content,
                               size_t *bytes)
{
    char name[NAME_BYTES];
    name_segment(name, stream, first);
    return slri_folder_read(local->folder, name, (size_t)1 << 31, false, content, bytes);
}

static void note_damage(const struct local *local, const char *what)
{
    if (local->desc.on_damage)
        local->desc.on_damage(local->desc.user, what);
}

static slr_status refuse_damage(const struct local *local, const char *name, size_t at, const char *why)
{
    char what[256];
    snprintf(what, sizeof what, "%s: damage at byte %zu: %s, and records follow", name, at, why);
    note_damage(local, what);
    return SLRI_FAIL(INVALID,
                     "%s/%s. Nothing is read past damage in the middle: restore the folder from a copy, or begin with "
                     "an empty one",
                     slri_folder_path(local->folder), what);
}

// The note of the stream's newest file.
static slr_status note_newest(struct local *local, enum slri_log_stream at, uint64_t first)
{
    if (local->desc.reads_only || local->noted.first[at] == first)
        return SLR_OK;
    slri_newest next = local->noted;
    next.first[at] = first;
    SLRI_TRY(slri_newest_write(local->folder, &next));
    local->noted = next;
    return SLR_OK;
}

static slr_status refuse_missing(const struct local *local, enum slri_log_stream at)
{
    char name[NAME_BYTES], what[256];
    name_segment(name, at, local->noted.first[at]);
    snprintf(what, sizeof what, "%s is missing", name);
    note_damage(local, what);
    return SLRI_FAIL(INVALID, "%s/%s: restore the folder from a copy, or begin with an empty one",
                     slri_folder_path(local->folder), what);
}

// A file of which not even the head is whole, as a power cut may leave a new one: it begins again.
static slr_status begin_again(const struct local *local, enum slri_log_stream at, struct segment *segment)
{
    const slri_segment_head head = slri_segment_head_of(segment->first, false);
    const slri_append_part part = {&head, sizeof head};
    char name[NAME_BYTES], *path;
    int fd;
    uint64_t length;
    segment->bytes = sizeof head;
    if (local->desc.reads_only)
        return SLR_OK;
    name_segment(name, at, segment->first);
    SLRI_TRY(path_of(local, name, &path));
    slr_status status = slri_append_open(path, &fd, &length);
    if (status == SLR_OK) {
        status = slri_append_cut(fd, path, 0);
        if (status == SLR_OK)
            status = slri_append_write(fd, path, 0, &part, 1);
        slri_append_close(fd);
    }
    free(path);
    return status;
}

// A torn end is cut off.
static slr_status cut_torn(struct local *local, enum slri_log_stream at, const slri_segment_scan *scan, size_t bytes)
{
    struct stream *stream = &local->streams[at];
    char name[NAME_BYTES], what[256];
    name_segment(name, at, newest(stream)->first);
    snprintf(what, sizeof what, "%s: %zu B at byte %zu are a write that was cut off (%s)%s", name, bytes - scan->good,
             scan->good, scan->why, local->desc.reads_only ? "" : "; they were removed");
    note_damage(local, what);
    if (scan->good == 0)
        return begin_again(local, at, newest(stream));
    if (local->desc.reads_only)
        return SLR_OK;
    char *path;
    int fd;
    uint64_t length;
    SLRI_TRY(path_of(local, name, &path));
    slr_status status = slri_append_open(path, &fd, &length);
    if (status == SLR_OK) {
        status = slri_append_cut(fd, path, scan->good);
        slri_append_close(fd);
    }
    free(path);
    return status;
}

// A full disk, met by an older version, may have left a file that was to be the next one, and then records went on in
// the one before it. No record is in it, it was never noted, and the one before it has the record of its name, or was
// purged since: what such a log lacks, the head knows, as where its oldest file is missing.
static bool is_stray(const struct local *local, enum slri_log_stream at, uint32_t i, const slri_segment_scan *scan)
{
    const struct stream *stream = &local->streams[at];
    const uint64_t first = stream->segments[i].first;
    const bool is_empty = scan->good ? scan->end == SLRI_SEGMENT_WHOLE && scan->first == first && scan->last < first
                                     : scan->end == SLRI_SEGMENT_TORN;
    const bool is_passed = i > 0 ? first <= stream->last : stream->count > 1;
    return is_empty && is_passed && first > 1 && local->noted.first[at] != first;
}

static void forget_segment(struct stream *stream, uint32_t i)
{
    stream->count--;
    memmove(stream->segments + i, stream->segments + i + 1, (stream->count - i) * sizeof *stream->segments);
}

static slr_status drop_stray(struct local *local, enum slri_log_stream at, uint32_t i)
{
    struct stream *stream = &local->streams[at];
    char name[NAME_BYTES];
    name_segment(name, at, stream->segments[i].first);
    if (!local->desc.reads_only)
        SLRI_TRY(slri_folder_delete(local->folder, name));
    forget_segment(stream, i);
    return SLR_OK;
}

// Reads all segments of a stream once: what they hold must be whole and follow each other.
static slr_status check_stream(struct local *local, enum slri_log_stream at)
{
    struct stream *stream = &local->streams[at];
    if (stream->count)
        qsort(stream->segments, stream->count, sizeof *stream->segments, by_number);
    if (local->noted.first[at] > (stream->count ? newest(stream)->first : 0))
        return refuse_missing(local, at);
    for (uint32_t i = 0; i < stream->count; ++i) {
        char *content, name[NAME_BYTES];
        size_t bytes;
        uint64_t first = stream->segments[i].first;
        bool is_last = i + 1 == stream->count;
        name_segment(name, at, first);
        SLRI_TRY(read_segment(local, at, first, &content, &bytes));
        slri_segment_scan scan = slri_segment_read(content, bytes, 0, NULL, NULL);
        free(content);
        if (is_stray(local, at, i, &scan)) {
            SLRI_TRY(drop_stray(local, at, i--));
            continue;
        }
        if (scan.end == SLRI_SEGMENT_BROKEN || (scan.end == SLRI_SEGMENT_TORN && !is_last))
            return refuse_damage(local, name, scan.good, scan.why);
        if (scan.good && (scan.first != first || (i > 0 && first != stream->last + 1)))
            return refuse_damage(local, name, 0, "its first record is not the one that its name says");
        if (!scan.good && (first == 0 || (i > 0 && first != stream->last + 1)))
            return refuse_damage(local, name, 0, scan.why);
        stream->last = scan.good ? scan.last : first - 1;
        stream->segments[i].bytes = scan.good;
        stream->segments[i].seed = scan.seed;
        if (scan.end == SLRI_SEGMENT_TORN)
            SLRI_TRY(cut_torn(local, at, &scan, bytes));
    }
    return SLR_OK;
}

static bool is_synced(const struct local *local)
{
    return local->desc.sync != SLRI_LOG_SYNC_NEVER;
}

// ---- writing -------------------------------------------------------------------------------------------------------

static slr_status give_up(struct local *local, slr_status status)
{
    __atomic_store_n(&local->failed, status, __ATOMIC_RELAXED);
    return status;
}

static slr_status sync_stream(struct local *local, struct stream *stream)
{
    if (!is_synced(local) || __atomic_exchange_n(&stream->dirty, 0, __ATOMIC_ACQUIRE) == 0)
        return SLR_OK;
    slri_mutex_lock(&local->fd_lock);
    slr_status status = stream->fd >= 0 ? slri_append_sync(stream->fd, stream->path) : SLR_OK;
    slri_mutex_unlock(&local->fd_lock);
    return status == SLR_OK ? SLR_OK : give_up(local, status);
}

static void close_segment(struct local *local, struct stream *stream)
{
    slri_mutex_lock(&local->fd_lock);
    slri_append_close(stream->fd);
    free(stream->path);
    stream->fd = -1;
    stream->path = NULL;
    slri_mutex_unlock(&local->fd_lock);
}

static slr_status open_segment(struct local *local, enum slri_log_stream at, uint64_t first)
{
    struct stream *stream = &local->streams[at];
    char name[NAME_BYTES], *path;
    int fd;
    uint64_t bytes;
    name_segment(name, at, first);
    SLRI_TRY(path_of(local, name, &path));
    slr_status status = slri_append_open(path, &fd, &bytes);
    if (status != SLR_OK) {
        free(path);
        return status;
    }
    slri_mutex_lock(&local->fd_lock);
    stream->fd = fd;
    stream->path = path;
    slri_mutex_unlock(&local->fd_lock);
    return SLR_OK;
}

// A purged file becomes the next one: its pages are in memory and its blocks on the disk, so that writing costs a
// fifth. It gets its new head before its new name. Where that fails, it goes.
static slr_status reuse_spare(struct local *local, enum slri_log_stream at, uint64_t first)
{
    char name[NAME_BYTES], *from = NULL, *to = NULL;
    const slri_segment_head head = slri_segment_head_of(first, true);
    const slri_record_head mark = slri_end_mark_of(first, slri_segment_seed(&head));
    const slri_append_part parts[] = {{&head, sizeof head}, {&mark, sizeof mark}};
    int fd = -1;
    uint64_t bytes;
    name_segment(name, at, first);
    slr_status status = path_of(local, name, &to);
    name_spare(name, at, --local->streams[at].spares);
    if (status == SLR_OK)
        status = path_of(local, name, &from);
    if (status == SLR_OK)
        status = slri_append_open(from, &fd, &bytes);
    if (status == SLR_OK)
        status = slri_append_write(fd, from, 0, parts, 2);
    if (status == SLR_OK && is_synced(local))
        status = slri_append_sync(fd, from);
    slri_append_close(fd);
    if (status == SLR_OK)
        status = slri_file_rename(from, to);
    if (status != SLR_OK)
        (void)slri_folder_delete(local->folder, name);
    free(from);
    free(to);
    return status;
}

// The newest file failed to begin: it goes, as if it had never been, since the next record may go to the one before it.
// Where it cannot go, there is no next record.
static slr_status withdraw_segment(struct local *local, enum slri_log_stream at, slr_status why)
{
    struct stream *stream = &local->streams[at];
    char name[NAME_BYTES];
    name_segment(name, at, newest(stream)->first);
    close_segment(local, stream);
    stream->count--;
    return slri_folder_delete(local->folder, name) == SLR_OK ? why : give_up(local, why);
}

// The next record goes to a new file, or to one that is no longer needed.
static slr_status begin_segment(struct local *local, enum slri_log_stream at)
{
    struct stream *stream = &local->streams[at];
    if (stream->fd >= 0) {
        SLRI_TRY(sync_stream(local, stream));
        close_segment(local, stream);
    }
    SLRI_TRY(add_segment(stream, stream->last + 1));
    const bool is_reused = stream->spares > 0 && reuse_spare(local, at, stream->last + 1) == SLR_OK;
    slri_segment_head head = slri_segment_head_of(stream->last + 1, is_reused);
    slri_append_part part = {&head, sizeof head};
    slr_status status = open_segment(local, at, stream->last + 1);
    if (status == SLR_OK && !is_reused)
        status = slri_append_write(stream->fd, stream->path, 0, &part, 1);
    if (status == SLR_OK && is_synced(local))
        status = slri_append_sync_folder(slri_folder_path(local->folder));
    if (status != SLR_OK)
        return withdraw_segment(local, at, status);
    newest(stream)->bytes = sizeof head;
    newest(stream)->seed = slri_segment_seed(&head);
    (void)note_newest(local, at, newest(stream)->first); // else the note stays behind, and is no harm
    return SLR_OK;
}

static slr_status prepare(struct local *local, enum slri_log_stream at)
{
    struct stream *stream = &local->streams[at];
    bool has_room = stream->count > 0 && newest(stream)->bytes < local->desc.segment_bytes;
    if (has_room && stream->fd >= 0)
        return SLR_OK;
    if (has_room)
        return open_segment(local, at, newest(stream)->first);
    return begin_segment(local, at);
}

// Where a long record begins and ends with a page, it costs half. The gap before it, or after it: 0, or room for a
// filler; and little beside the record.
static uint64_t gap_to_page(uint64_t at, uint64_t record_bytes)
{
    uint64_t gap = slri_round_up(at, SLRI_SEGMENT_PAGE) - at;
    return gap >= sizeof(slri_record_head) && gap <= record_bytes / 8 ? gap : 0;
}

// Where the first record of a file is a full frame, it begins here: so do those that follow it at multiples of this,
// and Linux keeps each in one piece of its cache instead of in several small ones (a tenth of the cost of a write).
enum { PIECE = 1 << 16 };

static bool begins_at_piece(const struct local *local, uint64_t at, uint64_t record_bytes)
{
    return at == sizeof(slri_segment_head) && record_bytes > PIECE / 2 && local->desc.segment_bytes >= 16 * PIECE;
}

// The fillers from byte `at` of a file up to its byte PIECE, which are written with the record, so that no end mark is
// missed between them. NULL: no memory, and then there are none. The caller's to free().
static unsigned char *fillers_to_piece(uint64_t at, uint64_t seed)
{
    const uint64_t begin = at;
    unsigned char *fillers = calloc(1, PIECE - begin);
    while (fillers && at < PIECE) {
        uint64_t bytes = slri_round_up(at + 1, SLRI_SEGMENT_PAGE) - at;
        slri_record_head head = slri_filler_head_of(bytes, seed);
        memcpy(fillers + (at - begin), &head, sizeof head);
        at += bytes;
    }
    return fillers;
}

static slr_status append_record(slri_log *log, enum slri_log_stream at, uint64_t expected,
                                const slri_append_part *parts, uint32_t count, const slri_log_rows *rows)
{
    static const unsigned char zeros[SLRI_SEGMENT_PAGE];
    struct local *local = (struct local *)log;
    struct stream *stream = &local->streams[at];
    slri_append_part all[SLRI_APPEND_PARTS];
    uint32_t used = 0;
    if (expected != stream->last)
        return SLRI_FAIL(WRONG_STATE, "%s/%s has record %" PRIu64 " as its last one, not %" PRIu64 ": another writer?",
                         slri_folder_path(local->folder), slri_log_stream_name(at), stream->last, expected);
    slr_status failed = (slr_status)__atomic_load_n(&local->failed, __ATOMIC_RELAXED);
    if (failed != SLR_OK)
        return slri_fail(failed, "%s: an earlier write to the disk failed, and what it has is not known",
                         slri_folder_path(local->folder));
    SLRI_TRY(prepare(local, at));
    const uint64_t seed = newest(stream)->seed;
    slri_record_head head = slri_record_head_of(stream->last + 1, seed, parts, count, rows);
    uint64_t padding = slri_round_up(head.bytes, 8) - head.bytes, record = sizeof head + head.bytes + padding;
    uint64_t begin = newest(stream)->bytes, before = gap_to_page(begin, record);
    unsigned char *fill = begins_at_piece(local, begin, record) ? fillers_to_piece(begin, seed) : NULL;
    if (fill)
        before = PIECE - begin;
    uint64_t after = gap_to_page(begin + before + record, record);
    slri_record_head fillers[2] = {slri_filler_head_of(before, seed), slri_filler_head_of(after, seed)};
    const slri_record_head mark = slri_end_mark_of(stream->last + 2, seed);
    if (fill) {
        all[used++] = (slri_append_part){fill, before};
    } else if (before) {
        all[used++] = (slri_append_part){&fillers[0], sizeof head};
        all[used++] = (slri_append_part){zeros, before - sizeof head};
    }
    all[used++] = (slri_append_part){&head, sizeof head};
    memcpy(all + used, parts, count * sizeof *parts);
    used += count;
    all[used++] = (slri_append_part){zeros, padding};
    if (after) {
        all[used++] = (slri_append_part){&fillers[1], sizeof head};
        all[used++] = (slri_append_part){zeros, after - sizeof head};
    }
    if (seed)
        all[used++] = (slri_append_part){&mark, sizeof mark};
    slr_status status = slri_append_write(stream->fd, stream->path, begin, all, used);
    free(fill);
    SLRI_TRY(status);
    newest(stream)->bytes = begin + before + record + after;
    stream->last++;
    __atomic_store_n(&stream->dirty, 1, __ATOMIC_RELEASE);
    return SLR_OK;
}

static slr_status local_append(slri_log *log, enum slri_log_stream at, uint64_t expected, const slri_append_part *parts,
                               uint32_t count)
{
    return append_record(log, at, expected, parts, count, NULL);
}

// Rows with zeros behind them are bytes as any others.
static slr_status local_append_rows(slri_log *log, enum slri_log_stream at, uint64_t expected,
                                    const slri_append_part *parts, uint32_t count, const slri_log_rows *rows)
{
    return append_record(log, at, expected, parts, count, rows->bytes % 8 == 0 ? rows : NULL);
}

static slr_status local_sync(slri_log *log, enum slri_log_stream at)
{
    struct local *local = (struct local *)log;
    return sync_stream(local, &local->streams[at]);
}

// Messages before their outputs: no output is safe whose message is not.
static void keep_synced(void *user)
{
    struct local *local = user;
    while (__atomic_load_n(&local->stop, __ATOMIC_ACQUIRE) == 0) {
        slri_futex_wait(&local->stop, 0, slri_deadline_after(local->desc.sync_interval_ns));
        for (enum slri_log_stream at = 0; at < SLRI_LOG_STREAMS; ++at)
            (void)sync_stream(local, &local->streams[at]);
    }
}

// ---- reading -------------------------------------------------------------------------------------------------------

static slr_status local_read(slri_log *log, enum slri_log_stream at, uint64_t first, slri_log_visit *visit, void *user)
{
    struct local *local = (struct local *)log;
    struct stream *stream = &local->streams[at];
    for (uint32_t i = 0; i < stream->count; ++i) {
        char *content, name[NAME_BYTES];
        size_t bytes;
        if (i + 1 < stream->count && stream->segments[i + 1].first <= first)
            continue;
        SLRI_TRY(read_segment(local, at, stream->segments[i].first, &content, &bytes));
        slri_segment_scan scan = slri_segment_read(content, bytes, first, visit, user);
        free(content);
        SLRI_TRY(scan.status);
        name_segment(name, at, stream->segments[i].first);
        bool torn = scan.end == SLRI_SEGMENT_TORN && i + 1 == stream->count && local->desc.reads_only;
        if (scan.end != SLRI_SEGMENT_WHOLE && !torn)
            return refuse_damage(local, name, scan.good, scan.why);
    }
    return SLR_OK;
}

static void local_last(slri_log *log, enum slri_log_stream at, uint64_t *first, uint64_t *last)
{
    const struct stream *stream = &((struct local *)log)->streams[at];
    *last = stream->last;
    *first = stream->count ? stream->segments[0].first : stream->last + 1;
}

static uint64_t local_size(slri_log *log, enum slri_log_stream at)
{
    const struct stream *stream = &((struct local *)log)->streams[at];
    uint64_t bytes = 0;
    for (uint32_t i = 0; i < stream->count; ++i)
        bytes += stream->segments[i].bytes;
    return bytes;
}

// A file that is not needed any more waits to be reused, or goes where enough of them wait.
static slr_status keep_spare(struct local *local, enum slri_log_stream at, const char *name)
{
    struct stream *stream = &local->streams[at];
    char spare[NAME_BYTES], *from, *to = NULL;
    if (stream->spares == SPARES_MAX)
        return slri_folder_delete(local->folder, name);
    name_spare(spare, at, stream->spares);
    SLRI_TRY(path_of(local, name, &from));
    slr_status status = path_of(local, spare, &to);
    if (status == SLR_OK)
        status = slri_file_rename(from, to);
    stream->spares += status == SLR_OK;
    free(from);
    free(to);
    return status;
}

// Whole files: what is needed begins in a later one.
static slr_status local_purge(slri_log *log, enum slri_log_stream at, uint64_t up_to)
{
    struct local *local = (struct local *)log;
    struct stream *stream = &local->streams[at];
    if (up_to >= stream->last && stream->count && newest(stream)->bytes > local->desc.segment_bytes / 4)
        SLRI_TRY(begin_segment(local, at));
    while (stream->count > 1 && stream->segments[1].first <= up_to + 1) {
        char name[NAME_BYTES];
        name_segment(name, at, stream->segments[0].first);
        SLRI_TRY(keep_spare(local, at, name));
        forget_segment(stream, 0);
    }
    return SLR_OK;
}

struct cutting {
    const char *content;
    uint64_t last, bytes; // bytes: where the first record after `last` begins
};

static slr_status find_cut(void *user, const slri_log_record *record)
{
    struct cutting *cutting = user;
    if (record->sequence == cutting->last + 1)
        cutting->bytes = (uint64_t)((const char *)record->data - cutting->content) - sizeof(slri_record_head);
    return SLR_OK;
}

// The last segment loses its records after `last`, of which there are some.
static slr_status cut_segment(struct local *local, enum slri_log_stream at, uint64_t last)
{
    struct stream *stream = &local->streams[at];
    char *content;
    size_t bytes;
    uint64_t first = newest(stream)->first;
    SLRI_TRY(read_segment(local, at, first, &content, &bytes));
    struct cutting cutting = {content, last, bytes};
    (void)slri_segment_read(content, bytes, first, find_cut, &cutting);
    free(content);
    if (stream->fd < 0)
        SLRI_TRY(open_segment(local, at, first));
    SLRI_TRY(slri_append_cut(stream->fd, stream->path, cutting.bytes));
    newest(stream)->bytes = cutting.bytes;
    stream->last = last;
    return SLR_OK;
}

// Before the newest file goes. Its name is on the disk first: a power cut may take the note's content, and then nothing
// is noted, but never brings the old note back to a folder without its file.
static slr_status lower_note(struct local *local, enum slri_log_stream at, uint64_t first)
{
    SLRI_TRY(note_newest(local, at, first));
    return is_synced(local) ? slri_append_sync_folder(slri_folder_path(local->folder)) : SLR_OK;
}

static slr_status delete_newest(struct local *local, enum slri_log_stream at)
{
    struct stream *stream = &local->streams[at];
    char name[NAME_BYTES];
    name_segment(name, at, newest(stream)->first);
    SLRI_TRY(lower_note(local, at, stream->segments[stream->count - 2].first));
    SLRI_TRY(slri_folder_delete(local->folder, name));
    stream->count--;
    return SLR_OK;
}

// The only file becomes an empty one that begins with the record after `last`. Whatever ends this, a file is left, and
// it is whole or begins again: a log without files would be refused.
static slr_status begin_anew(struct local *local, enum slri_log_stream at, uint64_t last)
{
    struct stream *stream = &local->streams[at];
    char name[NAME_BYTES], *from, *to = NULL;
    int fd = -1;
    uint64_t bytes;
    name_segment(name, at, newest(stream)->first);
    SLRI_TRY(path_of(local, name, &from));
    name_segment(name, at, last + 1);
    slr_status status = path_of(local, name, &to);
    if (status == SLR_OK && last + 1 < newest(stream)->first)
        status = lower_note(local, at, last + 1);
    if (status == SLR_OK)
        status = slri_append_open(from, &fd, &bytes);
    if (status == SLR_OK)
        status = slri_append_cut(fd, from, 0);
    if (status == SLR_OK && is_synced(local)) // under its new name no old record may come back,
        status = slri_append_sync(fd, from);
    if (status == SLR_OK && is_synced(local)) // nor an old file beside it
        status = slri_append_sync_folder(slri_folder_path(local->folder));
    slri_append_close(fd);
    if (status == SLR_OK)
        status = slri_file_rename(from, to);
    free(from);
    free(to);
    SLRI_TRY(status);
    *newest(stream) = (struct segment){.first = last + 1};
    stream->last = last;
    SLRI_TRY(begin_again(local, at, newest(stream)));
    if (is_synced(local))
        SLRI_TRY(slri_append_sync_folder(slri_folder_path(local->folder)));
    (void)note_newest(local, at, last + 1); // else the note stays behind, and is no harm
    return SLR_OK;
}

static slr_status delete_oldest(struct local *local, enum slri_log_stream at)
{
    struct stream *stream = &local->streams[at];
    char name[NAME_BYTES];
    name_segment(name, at, stream->segments[0].first);
    SLRI_TRY(slri_folder_delete(local->folder, name));
    forget_segment(stream, 0);
    return SLR_OK;
}

static slr_status cut_stream(struct local *local, enum slri_log_stream at, uint64_t last)
{
    struct stream *stream = &local->streams[at];
    for (; stream->spares > 0; --stream->spares) { // the numbers of their records may come again
        char name[NAME_BYTES];
        name_spare(name, at, stream->spares - 1);
        SLRI_TRY(slri_folder_delete(local->folder, name));
    }
    if (stream->count == 0) {
        stream->last = last;
        return SLR_OK;
    }
    const bool all_are_before = last > stream->last;
    if (all_are_before || newest(stream)->first > last + 1)
        close_segment(local, stream);
    while (stream->count > 1 && all_are_before)
        SLRI_TRY(delete_oldest(local, at));
    while (stream->count > 1 && newest(stream)->first > last + 1)
        SLRI_TRY(delete_newest(local, at));
    if (all_are_before || newest(stream)->first > last + 1)
        return begin_anew(local, at, last);
    return last < stream->last ? cut_segment(local, at, last) : SLR_OK;
}

static slr_status local_cut(slri_log *log, enum slri_log_stream at, uint64_t last)
{
    struct local *local = (struct local *)log;
    if (local->desc.reads_only)
        return SLR_OK;
    slr_status status = cut_stream(local, at, last);
    return status == SLR_OK ? SLR_OK : give_up(local, status);
}

// ---- values --------------------------------------------------------------------------------------------------------

typedef struct value_head {
    uint64_t revision, bytes, sum;
} value_head;

static uint64_t value_sum(const value_head *head, const void *value)
{
    slri_sum sum = slri_sum_begin(head->revision);
    slri_sum_add(&sum, &head->bytes, sizeof head->bytes);
    slri_sum_add(&sum, value, head->bytes);
    return slri_sum_end(&sum);
}

static slr_status local_get(slri_log *log, const char *key, void *value, size_t capacity, size_t *bytes,
                            uint64_t *revision)
{
    struct local *local = (struct local *)log;
    char *content;
    size_t length;
    value_head head;
    SLRI_TRY(slri_folder_read(local->folder, key, sizeof head + SLRI_LOG_VALUE_MAX, false, &content, &length));
    bool right = length >= sizeof head;
    if (right)
        memcpy(&head, content, sizeof head);
    right = right && head.bytes == length - sizeof head && head.bytes <= capacity &&
            head.sum == value_sum(&head, content + sizeof head);
    if (right) {
        memcpy(value, content + sizeof head, head.bytes);
        *bytes = head.bytes;
        *revision = head.revision;
    }
    free(content);
    if (right)
        return SLR_OK;
    char what[256];
    snprintf(what, sizeof what, "%s: its length or checksum is wrong", key);
    note_damage(local, what);
    return SLRI_FAIL(INVALID, "%s/%s. Restore the folder from a copy, or begin with an empty one",
                     slri_folder_path(local->folder), what);
}

static slr_status local_cas(slri_log *log, const char *key, uint64_t *revision, const void *value, size_t bytes)
{
    struct local *local = (struct local *)log;
    struct {
        value_head head;
        unsigned char value[SLRI_LOG_VALUE_MAX];
    } file;
    size_t length;
    uint64_t now = 0;
    slr_status status = local_get(log, key, file.value, sizeof file.value, &length, &now);
    if (status != SLR_OK && status != SLR_NOT_FOUND)
        return status;
    if (now != *revision)
        return SLRI_FAIL(WRONG_STATE, "%s/%s has revision %" PRIu64 ", not %" PRIu64 ": another writer?",
                         slri_folder_path(local->folder), key, now, *revision);
    file.head = (value_head){.revision = now + 1, .bytes = bytes};
    memcpy(file.value, value, bytes);
    file.head.sum = value_sum(&file.head, file.value);
    if (is_synced(local)) // what it stands for comes first, and then it is there for good
        SLRI_TRY(slri_append_replace(slri_folder_path(local->folder), key, &file, sizeof file.head + bytes));
    else
        SLRI_TRY(slri_folder_write(local->folder, key, &file, sizeof file.head + bytes));
    *revision = now + 1;
    return SLR_OK;
}

// ---- its life ------------------------------------------------------------------------------------------------------

static void local_close(slri_log *log)
{
    struct local *local = (struct local *)log;
    if (local->has_syncer) {
        __atomic_store_n(&local->stop, 1, __ATOMIC_RELEASE);
        slri_futex_wake(&local->stop, UINT32_MAX);
        slri_thread_join(&local->syncer);
    }
    for (enum slri_log_stream at = 0; at < SLRI_LOG_STREAMS; ++at) {
        close_segment(local, &local->streams[at]);
        free(local->streams[at].segments);
    }
    if (local->lock >= 0)
        slri_folder_unlock(local->lock, 0);
    slri_folder_close(local->folder);
    slri_mutex_destroy(&local->fd_lock);
    free(local);
}

// The lock is the operating system's and ends with its process, however that ends; the file only says whose it is.
static slr_status take_lease(struct local *local)
{
    char text[32], *holder;
    size_t bytes;
    slr_status status = slri_folder_lock(local->folder, LOCK, 0, 0, NULL, &local->lock);
    if (status == SLR_OK) {
        int length = snprintf(text, sizeof text, "%u", slri_process_id());
        return slri_folder_write(local->folder, HOLDER, text, (size_t)length);
    }
    if (status != SLR_TIMEOUT)
        return status;
    status = slri_folder_read(local->folder, HOLDER, sizeof text, false, &holder, &bytes);
    long process = status == SLR_OK ? strtol(holder, NULL, 10) : 0;
    if (status == SLR_OK)
        free(holder);
    return SLRI_FAIL(WRONG_STATE,
                     "%s is in use by process %ld: end that one first, or choose another folder. When it ends, the "
                     "folder is free, whatever ended it",
                     slri_folder_path(local->folder), process);
}

static slr_status find_streams(struct local *local)
{
    struct finding finding = {local, SLR_OK};
    slri_newest_read(local->folder, &local->noted); // before the files, of which a writer may begin one meanwhile
    slr_status status = slri_folder_list(local->folder, find_segment, &finding);
    if (status == SLR_OK)
        status = finding.status;
    for (enum slri_log_stream at = 0; at < SLRI_LOG_STREAMS && status == SLR_OK; ++at)
        status = check_stream(local, at);
    for (enum slri_log_stream at = 0; at < SLRI_LOG_STREAMS && status == SLR_OK; ++at)
        status = note_newest(local, at, local->streams[at].count ? newest(&local->streams[at])->first : 0);
    return status;
}

static slr_status local_open(const slri_log_desc *desc, slri_log **out)
{
    if (desc->reads_only && !slri_file_is_there(desc->place))
        return SLRI_FAIL(NOT_FOUND, "there is no folder %s", desc->place);
    struct local *local = calloc(1, sizeof *local);
    if (!local)
        return SLRI_FAIL(NO_MEMORY, "no memory for a log");
    local->log.engine = &slri_log_local;
    local->desc = *desc;
    local->desc.place = NULL; // the caller's
    local->lock = -1;
    if (local->desc.segment_bytes == 0)
        local->desc.segment_bytes = SEGMENT_BYTES;
    slri_mutex_init(&local->fd_lock);
    for (enum slri_log_stream at = 0; at < SLRI_LOG_STREAMS; ++at)
        local->streams[at].fd = -1;
    slr_status status = desc->reads_only ? slri_folder_open_to_read(desc->place, &local->folder)
                                         : slri_folder_open(desc->place, &local->folder);
    if (status == SLR_OK && !desc->reads_only)
        status = take_lease(local);
    if (status == SLR_OK)
        status = find_streams(local);
    if (status == SLR_OK && !desc->reads_only && desc->sync == SLRI_LOG_SYNC_INTERVAL) {
        status = slri_thread_start(&local->syncer, "slr-sync", keep_synced, local);
        local->has_syncer = status == SLR_OK;
    }
    if (status != SLR_OK) {
        local_close(&local->log);
        return status;
    }
    *out = &local->log;
    return SLR_OK;
}

static const char *local_describe(const slri_log *log)
{
    static const char *const words[] = {
        [SLRI_LOG_SYNC_ALWAYS] = "a kill of the process and a power cut",
        [SLRI_LOG_SYNC_INTERVAL] = "a kill of the process; a power cut loses what the last interval accepted",
        [SLRI_LOG_SYNC_NEVER] = "a kill of the process; after a power cut the folder may be refused as damaged"};
    return words[((const struct local *)log)->desc.sync];
}

const slri_log_engine slri_log_local = {
    .name = "local",
    .open = local_open,
    .close = local_close,
    .describe = local_describe,
    .append = local_append,
    .append_rows = local_append_rows,
    .read_from = local_read,
    .last = local_last,
    .purge = local_purge,
    .cut = local_cut,
    .sync = local_sync,
    .get = local_get,
    .cas = local_cas,
    .size = local_size,
};
