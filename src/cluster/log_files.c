// SPDX-License-Identifier: Apache-2.0
// The files of a folder of records: their names, and how one is opened, begun, noted, synced and closed.
#include "cluster/log_local.h"

#include "base/append.h"
#include "base/file.h"
#include "base/folder.h"
#include "base/status.h"
#include "base/text.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *slri_log_stream_name(enum slri_log_stream stream)
{
    static const char *const names[SLRI_LOG_STREAMS] = {"in", "out", "snap", "dead"};
    return names[stream];
}

void slri_local_name(char name[SLRI_LOCAL_NAME_BYTES], enum slri_log_stream stream, uint64_t first)
{
    snprintf(name, SLRI_LOCAL_NAME_BYTES, "%s-%020" PRIu64 ".log", slri_log_stream_name(stream), first);
}

void slri_local_name_spare(char name[SLRI_LOCAL_NAME_BYTES], enum slri_log_stream stream, uint32_t index)
{
    snprintf(name, SLRI_LOCAL_NAME_BYTES, "%s-spare-%" PRIu32 ".log", slri_log_stream_name(stream), index);
}

slr_status slri_local_path(const slri_local *local, const char *name, char **path)
{
    slri_text text = SLRI_TEXT_INIT;
    slri_text_printf(&text, "%s/%s", slri_folder_path(local->folder), name);
    *path = slri_text_take(&text);
    return *path ? SLR_OK : SLRI_FAIL(NO_MEMORY, "no memory for a path");
}

slr_status slri_local_add(slri_local_stream *stream, uint64_t first)
{
    if (stream->count == stream->capacity) {
        uint32_t capacity = stream->capacity ? 2 * stream->capacity : 16;
        slri_local_segment *segments = realloc(stream->segments, capacity * sizeof *segments);
        if (!segments)
            return SLRI_FAIL(NO_MEMORY, "no memory for the names of a log's files");
        stream->segments = segments;
        stream->capacity = capacity;
    }
    stream->segments[stream->count++] = (slri_local_segment){.first = first};
    return SLR_OK;
}

void slri_local_forget(slri_local_stream *stream, uint32_t i)
{
    stream->count--;
    memmove(stream->segments + i, stream->segments + i + 1, (stream->count - i) * sizeof *stream->segments);
}

slr_status slri_local_read_file(const slri_local *local, enum slri_log_stream stream, uint64_t first, char **content,
                                size_t *bytes)
{
    char name[SLRI_LOCAL_NAME_BYTES];
    slri_local_name(name, stream, first);
    const slr_status status = slri_folder_read(local->folder, name, (size_t)1 << 31, false, content, bytes);
    return status == SLR_NOT_FOUND ? SLR_SYSTEM : status;
}

void slri_local_note_damage(const slri_local *local, const char *what)
{
    if (local->desc.on_damage)
        local->desc.on_damage(local->desc.user, what);
}

slr_status slri_local_refuse_damage(const slri_local *local, const char *name, size_t at, const char *why)
{
    char what[256];
    snprintf(what, sizeof what, "%s: damage at byte %zu: %s, and records follow", name, at, why);
    slri_local_note_damage(local, what);
    return SLRI_FAIL(INVALID,
                     "%s/%s. Nothing is read past damage in the middle: restore the folder from a copy, or begin with "
                     "an empty one",
                     slri_folder_path(local->folder), what);
}

slr_status slri_local_give_up(slri_local *local, slr_status status)
{
    __atomic_store_n(&local->failed, status, __ATOMIC_RELAXED);
    return status;
}

slr_status slri_local_note_newest(slri_local *local, enum slri_log_stream at, uint64_t first)
{
    if (local->desc.reads_only || local->noted.first[at] == first)
        return SLR_OK;
    slri_newest next = local->noted;
    next.first[at] = first;
    SLRI_TRY(slri_newest_write(local->folder, &next));
    local->noted = next;
    return SLR_OK;
}

slr_status slri_local_begin_again(const slri_local *local, enum slri_log_stream at, slri_local_segment *segment)
{
    const slri_segment_head head = slri_segment_head_of(segment->first, false);
    const slri_append_part part = {&head, sizeof head};
    char name[SLRI_LOCAL_NAME_BYTES], *path;
    int fd;
    uint64_t length;
    segment->bytes = sizeof head;
    if (local->desc.reads_only)
        return SLR_OK;
    slri_local_name(name, at, segment->first);
    SLRI_TRY(slri_local_path(local, name, &path));
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

slr_status slri_local_sync_file(slri_local *local, slri_local_stream *stream)
{
    if (!slri_local_is_synced(local) || __atomic_exchange_n(&stream->dirty, 0, __ATOMIC_ACQUIRE) == 0)
        return SLR_OK;
    slri_mutex_lock(&local->fd_lock);
    slr_status status = stream->fd >= 0 ? slri_append_sync(stream->fd, stream->path) : SLR_OK;
    slri_mutex_unlock(&local->fd_lock);
    return status == SLR_OK ? SLR_OK : slri_local_give_up(local, status);
}

void slri_local_close_file(slri_local *local, slri_local_stream *stream)
{
    slri_mutex_lock(&local->fd_lock);
    slri_append_close(stream->fd);
    free(stream->path);
    stream->fd = -1;
    stream->path = NULL;
    slri_mutex_unlock(&local->fd_lock);
}

slr_status slri_local_open_file(slri_local *local, enum slri_log_stream at, uint64_t first)
{
    slri_local_stream *stream = &local->streams[at];
    char name[SLRI_LOCAL_NAME_BYTES], *path;
    int fd;
    uint64_t bytes;
    slri_local_name(name, at, first);
    SLRI_TRY(slri_local_path(local, name, &path));
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
static slr_status reuse_spare(slri_local *local, enum slri_log_stream at, uint64_t first)
{
    char name[SLRI_LOCAL_NAME_BYTES], *from = NULL, *to = NULL;
    const slri_segment_head head = slri_segment_head_of(first, true);
    const slri_record_head mark = slri_end_mark_of(first, slri_segment_seed(&head));
    const slri_append_part parts[] = {{&head, sizeof head}, {&mark, sizeof mark}};
    int fd = -1;
    uint64_t bytes;
    slri_local_name(name, at, first);
    slr_status status = slri_local_path(local, name, &to);
    slri_local_name_spare(name, at, --local->streams[at].spares);
    if (status == SLR_OK)
        status = slri_local_path(local, name, &from);
    if (status == SLR_OK)
        status = slri_append_open(from, &fd, &bytes);
    if (status == SLR_OK)
        status = slri_append_write(fd, from, 0, parts, 2);
    if (status == SLR_OK && slri_local_is_synced(local))
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
static slr_status withdraw_segment(slri_local *local, enum slri_log_stream at, slr_status why)
{
    slri_local_stream *stream = &local->streams[at];
    char name[SLRI_LOCAL_NAME_BYTES];
    slri_local_name(name, at, slri_local_newest(stream)->first);
    slri_local_close_file(local, stream);
    stream->count--;
    return slri_folder_delete(local->folder, name) == SLR_OK ? why : slri_local_give_up(local, why);
}

slr_status slri_local_begin_file(slri_local *local, enum slri_log_stream at)
{
    slri_local_stream *stream = &local->streams[at];
    if (stream->fd >= 0) {
        SLRI_TRY(slri_local_sync_file(local, stream));
        slri_local_close_file(local, stream);
    }
    SLRI_TRY(slri_local_add(stream, stream->last + 1));
    const bool is_reused = stream->spares > 0 && reuse_spare(local, at, stream->last + 1) == SLR_OK;
    slri_segment_head head = slri_segment_head_of(stream->last + 1, is_reused);
    slri_append_part part = {&head, sizeof head};
    slr_status status = slri_local_open_file(local, at, stream->last + 1);
    if (status == SLR_OK && !is_reused)
        status = slri_append_write(stream->fd, stream->path, 0, &part, 1);
    if (status == SLR_OK && slri_local_is_synced(local))
        status = slri_append_sync_folder(slri_folder_path(local->folder));
    if (status != SLR_OK)
        return withdraw_segment(local, at, status);
    slri_local_newest(stream)->bytes = sizeof head;
    slri_local_newest(stream)->seed = slri_segment_seed(&head);
    (void)slri_local_note_newest(local, at,
                                 slri_local_newest(stream)->first); // else the note stays behind, and is no harm
    return SLR_OK;
}
