// SPDX-License-Identifier: Apache-2.0
// Records that go: the oldest ones by whole files, and the newest ones where a log is cut.
#include "cluster/log_local.h"

#include "base/append.h"
#include "base/file.h"
#include "base/folder.h"
#include "base/status.h"

#include <stdlib.h>

// A file that is not needed any more waits to be reused, or goes where enough of them wait.
static slr_status keep_spare(slri_local *local, enum slri_log_stream at, const char *name)
{
    slri_local_stream *stream = &local->streams[at];
    char spare[SLRI_LOCAL_NAME_BYTES], *from, *to = NULL;
    if (stream->spares == SLRI_LOCAL_SPARES_MAX)
        return slri_folder_delete(local->folder, name);
    slri_local_name_spare(spare, at, stream->spares);
    SLRI_TRY(slri_local_path(local, name, &from));
    slr_status status = slri_local_path(local, spare, &to);
    if (status == SLR_OK)
        status = slri_file_rename(from, to);
    stream->spares += status == SLR_OK;
    free(from);
    free(to);
    return status;
}

// Whole files: what is needed begins in a later one.
slr_status slri_local_purge(slri_log *log, enum slri_log_stream at, uint64_t up_to)
{
    slri_local *local = (slri_local *)log;
    slri_local_stream *stream = &local->streams[at];
    if (up_to >= stream->last && stream->count && slri_local_newest(stream)->bytes > local->desc.segment_bytes / 4)
        SLRI_TRY(slri_local_begin_file(local, at));
    while (stream->count > 1 && stream->segments[1].first <= up_to + 1) {
        char name[SLRI_LOCAL_NAME_BYTES];
        slri_local_name(name, at, stream->segments[0].first);
        SLRI_TRY(keep_spare(local, at, name));
        slri_local_forget(stream, 0);
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
static slr_status cut_segment(slri_local *local, enum slri_log_stream at, uint64_t last)
{
    slri_local_stream *stream = &local->streams[at];
    char *content;
    size_t bytes;
    uint64_t first = slri_local_newest(stream)->first;
    SLRI_TRY(slri_local_read_file(local, at, first, &content, &bytes));
    struct cutting cutting = {content, last, bytes};
    (void)slri_segment_read(content, bytes, first, find_cut, &cutting);
    free(content);
    if (stream->fd < 0)
        SLRI_TRY(slri_local_open_file(local, at, first));
    SLRI_TRY(slri_append_cut(stream->fd, stream->path, cutting.bytes));
    slri_local_newest(stream)->bytes = cutting.bytes;
    stream->last = last;
    return SLR_OK;
}

// Before the newest file goes. Its name is on the disk first: a power cut may take the note's content, and then nothing
// is noted, but never brings the old note back to a folder without its file.
static slr_status lower_note(slri_local *local, enum slri_log_stream at, uint64_t first)
{
    SLRI_TRY(slri_local_note_newest(local, at, first));
    return slri_local_is_synced(local) ? slri_append_sync_folder(slri_folder_path(local->folder)) : SLR_OK;
}

static slr_status delete_newest(slri_local *local, enum slri_log_stream at)
{
    slri_local_stream *stream = &local->streams[at];
    char name[SLRI_LOCAL_NAME_BYTES];
    slri_local_name(name, at, slri_local_newest(stream)->first);
    SLRI_TRY(lower_note(local, at, stream->segments[stream->count - 2].first));
    SLRI_TRY(slri_folder_delete(local->folder, name));
    stream->count--;
    return SLR_OK;
}

// The only file becomes an empty one that begins with the record after `last`. Whatever ends this, a file is left, and
// it is whole or begins again: a log without files would be refused.
static slr_status begin_anew(slri_local *local, enum slri_log_stream at, uint64_t last)
{
    slri_local_stream *stream = &local->streams[at];
    char name[SLRI_LOCAL_NAME_BYTES], *from, *to = NULL;
    int fd = -1;
    uint64_t bytes;
    slri_local_name(name, at, slri_local_newest(stream)->first);
    SLRI_TRY(slri_local_path(local, name, &from));
    slri_local_name(name, at, last + 1);
    slr_status status = slri_local_path(local, name, &to);
    if (status == SLR_OK && last + 1 < slri_local_newest(stream)->first)
        status = lower_note(local, at, last + 1);
    if (status == SLR_OK)
        status = slri_append_open(from, &fd, &bytes);
    if (status == SLR_OK)
        status = slri_append_cut(fd, from, 0);
    if (status == SLR_OK && slri_local_is_synced(local)) // under its new name no old record may come back,
        status = slri_append_sync(fd, from);
    if (status == SLR_OK && slri_local_is_synced(local)) // nor an old file beside it
        status = slri_append_sync_folder(slri_folder_path(local->folder));
    slri_append_close(fd);
    if (status == SLR_OK)
        status = slri_file_rename(from, to);
    free(from);
    free(to);
    SLRI_TRY(status);
    *slri_local_newest(stream) = (slri_local_segment){.first = last + 1};
    stream->last = last;
    SLRI_TRY(slri_local_begin_again(local, at, slri_local_newest(stream)));
    if (slri_local_is_synced(local))
        SLRI_TRY(slri_append_sync_folder(slri_folder_path(local->folder)));
    (void)slri_local_note_newest(local, at, last + 1); // else the note stays behind, and is no harm
    return SLR_OK;
}

static slr_status delete_oldest(slri_local *local, enum slri_log_stream at)
{
    slri_local_stream *stream = &local->streams[at];
    char name[SLRI_LOCAL_NAME_BYTES];
    slri_local_name(name, at, stream->segments[0].first);
    SLRI_TRY(slri_folder_delete(local->folder, name));
    slri_local_forget(stream, 0);
    return SLR_OK;
}

static slr_status cut_stream(slri_local *local, enum slri_log_stream at, uint64_t last)
{
    slri_local_stream *stream = &local->streams[at];
    for (; stream->spares > 0; --stream->spares) { // the numbers of their records may come again
        char name[SLRI_LOCAL_NAME_BYTES];
        slri_local_name_spare(name, at, stream->spares - 1);
        SLRI_TRY(slri_folder_delete(local->folder, name));
    }
    if (stream->count == 0) {
        stream->last = last;
        return SLR_OK;
    }
    const bool all_are_before = last > stream->last;
    if (all_are_before || slri_local_newest(stream)->first > last + 1)
        slri_local_close_file(local, stream);
    while (stream->count > 1 && all_are_before)
        SLRI_TRY(delete_oldest(local, at));
    while (stream->count > 1 && slri_local_newest(stream)->first > last + 1)
        SLRI_TRY(delete_newest(local, at));
    if (all_are_before || slri_local_newest(stream)->first > last + 1)
        return begin_anew(local, at, last);
    return last < stream->last ? cut_segment(local, at, last) : SLR_OK;
}

slr_status slri_local_cut(slri_log *log, enum slri_log_stream at, uint64_t last)
{
    slri_local *local = (slri_local *)log;
    if (local->desc.reads_only)
        return SLR_OK;
    slr_status status = cut_stream(local, at, last);
    return status == SLR_OK ? SLR_OK : slri_local_give_up(local, status);
}
