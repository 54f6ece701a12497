// SPDX-License-Identifier: Apache-2.0
// The engine that needs no server: a folder with files of records, files of values, and a lock that dies with its
// process.
#include "cluster/log_local.h"

#include "base/append.h"
#include "base/clock.h"
#include "base/file.h"
#include "base/folder.h"
#include "base/futex.h"
#include "base/round.h"
#include "base/status.h"
#include "base/thread_end.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SEGMENT_BYTES = 16 << 20 };
#define LOCK "lock"
#define HOLDER "holder"

// ---- writing -------------------------------------------------------------------------------------------------------

static slr_status prepare(slri_local *local, enum slri_log_stream at)
{
    slri_local_stream *stream = &local->streams[at];
    bool has_room = stream->count > 0 && slri_local_newest(stream)->bytes < local->desc.segment_bytes;
    if (has_room && stream->fd >= 0)
        return SLR_OK;
    if (has_room)
        return slri_local_open_file(local, at, slri_local_newest(stream)->first);
    return slri_local_begin_file(local, at);
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

static bool begins_at_piece(const slri_local *local, uint64_t at, uint64_t record_bytes)
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
    slri_local *local = (slri_local *)log;
    slri_local_stream *stream = &local->streams[at];
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
    const uint64_t seed = slri_local_newest(stream)->seed;
    slri_record_head head = slri_record_head_of(stream->last + 1, seed, parts, count, rows);
    uint64_t padding = slri_round_up(head.bytes, 8) - head.bytes, record = sizeof head + head.bytes + padding;
    uint64_t begin = slri_local_newest(stream)->bytes, before = gap_to_page(begin, record);
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
    slri_local_newest(stream)->bytes = begin + before + record + after;
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
    slri_local *local = (slri_local *)log;
    return slri_local_sync_file(local, &local->streams[at]);
}

// Messages before their outputs: no output is safe whose message is not.
static void keep_synced(void *user)
{
    slri_local *local = user;
    while (__atomic_load_n(&local->stop, __ATOMIC_ACQUIRE) == 0) {
        slri_futex_wait(&local->stop, 0, slri_deadline_after(local->desc.sync_interval_ns));
        for (enum slri_log_stream at = 0; at < SLRI_LOG_STREAMS; ++at)
            (void)slri_local_sync_file(local, &local->streams[at]);
    }
}

// ---- reading -------------------------------------------------------------------------------------------------------

static slr_status local_read(slri_log *log, enum slri_log_stream at, uint64_t first, slri_log_visit *visit, void *user)
{
    slri_local *local = (slri_local *)log;
    slri_local_stream *stream = &local->streams[at];
    for (uint32_t i = 0; i < stream->count; ++i) {
        char *content, name[SLRI_LOCAL_NAME_BYTES];
        size_t bytes;
        if (i + 1 < stream->count && stream->segments[i + 1].first <= first)
            continue;
        SLRI_TRY(slri_local_read_file(local, at, stream->segments[i].first, &content, &bytes));
        slri_segment_scan scan = slri_segment_read(content, bytes, first, visit, user);
        free(content);
        SLRI_TRY(scan.status);
        slri_local_name(name, at, stream->segments[i].first);
        bool torn = scan.end == SLRI_SEGMENT_TORN && i + 1 == stream->count && local->desc.reads_only;
        if (scan.end != SLRI_SEGMENT_WHOLE && !torn)
            return slri_local_refuse_damage(local, name, scan.good, scan.why);
    }
    return SLR_OK;
}

static void local_last(slri_log *log, enum slri_log_stream at, uint64_t *first, uint64_t *last)
{
    const slri_local_stream *stream = &((slri_local *)log)->streams[at];
    *last = stream->last;
    *first = stream->count ? stream->segments[0].first : stream->last + 1;
}

static uint64_t local_size(slri_log *log, enum slri_log_stream at)
{
    const slri_local_stream *stream = &((slri_local *)log)->streams[at];
    uint64_t bytes = 0;
    for (uint32_t i = 0; i < stream->count; ++i)
        bytes += stream->segments[i].bytes;
    return bytes;
}

// ---- its life ------------------------------------------------------------------------------------------------------

static void local_close(slri_log *log)
{
    slri_local *local = (slri_local *)log;
    if (local->has_syncer) {
        __atomic_store_n(&local->stop, 1, __ATOMIC_RELEASE);
        slri_futex_wake(&local->stop, UINT32_MAX);
        slri_thread_join(&local->syncer);
    }
    for (enum slri_log_stream at = 0; at < SLRI_LOG_STREAMS; ++at) {
        slri_local_close_file(local, &local->streams[at]);
        free(local->streams[at].segments);
    }
    if (local->lock >= 0)
        slri_folder_unlock(local->lock, 0);
    slri_folder_close(local->folder);
    slri_mutex_destroy(&local->fd_lock);
    free(local);
}

// The lock is the operating system's and ends with its process, however that ends; the file only says whose it is.
static slr_status take_lease(slri_local *local)
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
    if (process == (long)slri_process_id())
        return SLRI_FAIL(WRONG_STATE,
                         "%s is in use by this process: close the server that has it first, or choose another folder",
                         slri_folder_path(local->folder));
    return SLRI_FAIL(WRONG_STATE,
                     "%s is in use by process %ld: end that one first, or choose another folder. When it ends, the "
                     "folder is free, whatever ended it",
                     slri_folder_path(local->folder), process);
}

static slr_status local_open(const slri_log_desc *desc, slri_log **out)
{
    if (desc->reads_only && !slri_file_is_there(desc->place))
        return SLRI_FAIL(NOT_FOUND, "there is no folder %s", desc->place);
    if (desc->reads_only && !slri_file_is_folder(desc->place))
        return SLRI_FAIL(NOT_FOUND, "%s is a file, not a folder", desc->place);
    slri_local *local = calloc(1, sizeof *local);
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
        status = slri_local_check(local);
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
    return words[((const slri_local *)log)->desc.sync];
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
    .purge = slri_local_purge,
    .cut = slri_local_cut,
    .sync = local_sync,
    .get = slri_local_get,
    .cas = slri_local_cas,
    .size = local_size,
};
