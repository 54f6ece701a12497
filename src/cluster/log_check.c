// SPDX-License-Identifier: Apache-2.0
// Opening a folder of records: each file is found and read once, and what they hold must be whole and follow each
// other.
#include "cluster/log_local.h"

#include "base/append.h"
#include "base/folder.h"
#include "base/status.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct finding {
    slri_local *local;
    slr_status status;
};

// Of a process that is gone. None is kept: only who purged it knows that it is no longer needed.
static bool is_spare(const char *found)
{
    for (enum slri_log_stream at = 0; at < SLRI_LOG_STREAMS; ++at) {
        for (uint32_t i = 0; i < SLRI_LOCAL_SPARES_MAX; ++i) {
            char name[SLRI_LOCAL_NAME_BYTES];
            slri_local_name_spare(name, at, i);
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
        char name[SLRI_LOCAL_NAME_BYTES];
        size_t prefix = strlen(slri_log_stream_name(at));
        if (strncmp(item->name, slri_log_stream_name(at), prefix) != 0 || item->name[prefix] != '-')
            continue;
        uint64_t first = strtoull(item->name + prefix + 1, NULL, 10);
        slri_local_name(name, at, first);
        if (strcmp(name, item->name) == 0 && finding->status == SLR_OK)
            finding->status = slri_local_add(&finding->local->streams[at], first);
    }
}

static int by_number(const void *a, const void *b)
{
    const slri_local_segment *left = a, *right = b;
    return (left->first > right->first) - (left->first < right->first);
}

static slr_status refuse_missing(const slri_local *local, enum slri_log_stream at)
{
    char name[SLRI_LOCAL_NAME_BYTES], what[256];
    slri_local_name(name, at, local->noted.first[at]);
    snprintf(what, sizeof what, "%s is missing", name);
    slri_local_note_damage(local, what);
    return SLRI_FAIL(INVALID, "%s/%s: restore the folder from a copy, or begin with an empty one",
                     slri_folder_path(local->folder), what);
}

// A torn end is cut off.
static slr_status cut_torn(slri_local *local, enum slri_log_stream at, const slri_segment_scan *scan, size_t bytes)
{
    slri_local_stream *stream = &local->streams[at];
    char name[SLRI_LOCAL_NAME_BYTES], what[256];
    slri_local_name(name, at, slri_local_newest(stream)->first);
    snprintf(what, sizeof what, "%s: %zu B at byte %zu are a write that was cut off (%s)%s", name, bytes - scan->good,
             scan->good, scan->why, local->desc.reads_only ? "" : "; they were removed");
    slri_local_note_damage(local, what);
    if (scan->good == 0)
        return slri_local_begin_again(local, at, slri_local_newest(stream));
    if (local->desc.reads_only)
        return SLR_OK;
    char *path;
    int fd;
    uint64_t length;
    SLRI_TRY(slri_local_path(local, name, &path));
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
static bool is_stray(const slri_local *local, enum slri_log_stream at, uint32_t i, const slri_segment_scan *scan)
{
    const slri_local_stream *stream = &local->streams[at];
    const uint64_t first = stream->segments[i].first;
    const bool is_empty = scan->good ? scan->end == SLRI_SEGMENT_WHOLE && scan->first == first && scan->last < first
                                     : scan->end == SLRI_SEGMENT_TORN;
    const bool is_passed = i > 0 ? first <= stream->last : stream->count > 1;
    return is_empty && is_passed && first > 1 && local->noted.first[at] != first;
}

static slr_status drop_stray(slri_local *local, enum slri_log_stream at, uint32_t i)
{
    slri_local_stream *stream = &local->streams[at];
    char name[SLRI_LOCAL_NAME_BYTES];
    slri_local_name(name, at, stream->segments[i].first);
    if (!local->desc.reads_only)
        SLRI_TRY(slri_folder_delete(local->folder, name));
    slri_local_forget(stream, i);
    return SLR_OK;
}

// Reads all segments of a stream once: what they hold must be whole and follow each other.
static slr_status check_stream(slri_local *local, enum slri_log_stream at)
{
    slri_local_stream *stream = &local->streams[at];
    if (stream->count)
        qsort(stream->segments, stream->count, sizeof *stream->segments, by_number);
    if (local->noted.first[at] > (stream->count ? slri_local_newest(stream)->first : 0))
        return refuse_missing(local, at);
    for (uint32_t i = 0; i < stream->count; ++i) {
        char *content, name[SLRI_LOCAL_NAME_BYTES];
        size_t bytes;
        uint64_t first = stream->segments[i].first;
        bool is_last = i + 1 == stream->count;
        slri_local_name(name, at, first);
        SLRI_TRY(slri_local_read_file(local, at, first, &content, &bytes));
        slri_segment_scan scan = slri_segment_read(content, bytes, 0, NULL, NULL);
        free(content);
        if (is_stray(local, at, i, &scan)) {
            SLRI_TRY(drop_stray(local, at, i--));
            continue;
        }
        if (scan.end == SLRI_SEGMENT_BROKEN || (scan.end == SLRI_SEGMENT_TORN && !is_last))
            return slri_local_refuse_damage(local, name, scan.good, scan.why);
        if (scan.good && (scan.first != first || (i > 0 && first != stream->last + 1)))
            return slri_local_refuse_damage(local, name, 0, "its first record is not the one that its name says");
        if (!scan.good && (first == 0 || (i > 0 && first != stream->last + 1)))
            return slri_local_refuse_damage(local, name, 0, scan.why);
        stream->last = scan.good ? scan.last : first - 1;
        stream->segments[i].bytes = scan.good;
        stream->segments[i].seed = scan.seed;
        if (scan.end == SLRI_SEGMENT_TORN)
            SLRI_TRY(cut_torn(local, at, &scan, bytes));
    }
    return SLR_OK;
}

slr_status slri_local_check(slri_local *local)
{
    struct finding finding = {local, SLR_OK};
    slri_newest_read(local->folder, &local->noted); // before the files, of which a writer may begin one meanwhile
    slr_status status = slri_folder_list(local->folder, find_segment, &finding);
    if (status == SLR_OK)
        status = finding.status;
    for (enum slri_log_stream at = 0; at < SLRI_LOG_STREAMS && status == SLR_OK; ++at)
        status = check_stream(local, at);
    for (enum slri_log_stream at = 0; at < SLRI_LOG_STREAMS && status == SLR_OK; ++at)
        status = slri_local_note_newest(local, at,
                                        local->streams[at].count ? slri_local_newest(&local->streams[at])->first : 0);
    return status;
}
