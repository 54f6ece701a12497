// SPDX-License-Identifier: Apache-2.0
/// A log in a folder: a file for some 16 MiB of each stream's records (segment.h), and a file for each value.
/// log_local.c writes and reads records; log_files.c has the files' names and lives; log_check.c opens a folder;
/// log_cut.c takes records away; log_values.c has the values. One thread at a time, and beside it the one that syncs.
#ifndef SLRI_CLUSTER_LOG_LOCAL_H
#define SLRI_CLUSTER_LOG_LOCAL_H

#include "base/thread.h"
#include "cluster/newest.h"
#include "cluster/segment.h"

enum { SLRI_LOCAL_NAME_BYTES = 64, SLRI_LOCAL_SPARES_MAX = 4 };

typedef struct slri_local_segment {
    uint64_t first, bytes;
    uint64_t seed; // of its checksums; 0: the file is not reused
} slri_local_segment;

typedef struct slri_local_stream {
    slri_local_segment *segments; // by age; the last one is written to
    uint32_t count, capacity;
    uint32_t spares; // files of purged segments that wait to be reused
    uint64_t last;   // sequence
    int fd;          // of the last segment; -1: none. Under fd_lock
    char *path;      // of that segment. Under fd_lock
    uint32_t dirty;  // atomic: something was appended that the disk may not have
} slri_local_stream;

typedef struct slri_local {
    slri_log log;
    slri_log_desc desc;
    slri_folder *folder;
    int lock;
    slri_local_stream streams[SLRI_LOG_STREAMS];
    slri_newest noted;
    slri_mutex fd_lock; // a segment is not closed while it is synced
    slri_thread syncer;
    bool has_syncer;
    uint32_t stop;     // atomic
    slr_status failed; // atomic: what the disk has is not known since then, and nothing is appended to that
} slri_local;

static inline slri_local_segment *slri_local_newest(const slri_local_stream *stream)
{
    return &stream->segments[stream->count - 1];
}

static inline bool slri_local_is_synced(const slri_local *local)
{
    return local->desc.sync != SLRI_LOG_SYNC_NEVER;
}

// ---- files

void slri_local_name(char name[SLRI_LOCAL_NAME_BYTES], enum slri_log_stream stream, uint64_t first);
void slri_local_name_spare(char name[SLRI_LOCAL_NAME_BYTES], enum slri_log_stream stream, uint32_t index);

/// The caller's to free().
slr_status slri_local_path(const slri_local *local, const char *name, char **path);

/// A stream's list of its files.
slr_status slri_local_add(slri_local_stream *stream, uint64_t first);
void slri_local_forget(slri_local_stream *stream, uint32_t i);

/// The whole content, the caller's to free(). A file that is gone since it was found, as its writer purges one, is an
/// error of the SYSTEM's: NOT_FOUND says that there is no log.
slr_status slri_local_read_file(const slri_local *local, enum slri_log_stream stream, uint64_t first, char **content,
                                size_t *bytes);

/// Tells the caller's on_damage; the second one is an error of that, too.
void slri_local_note_damage(const slri_local *local, const char *what);
slr_status slri_local_refuse_damage(const slri_local *local, const char *name, size_t at, const char *why);

/// Nothing is appended from now on. Returns `status`.
slr_status slri_local_give_up(slri_local *local, slr_status status);

/// The note of the stream's newest file.
slr_status slri_local_note_newest(slri_local *local, enum slri_log_stream at, uint64_t first);

/// A file of which not even the head is whole, as a power cut may leave a new one: it begins again.
slr_status slri_local_begin_again(const slri_local *local, enum slri_log_stream at, slri_local_segment *segment);

/// The next record goes to a new file, or to one that is no longer needed.
slr_status slri_local_begin_file(slri_local *local, enum slri_log_stream at);

/// The file that is written to.
slr_status slri_local_open_file(slri_local *local, enum slri_log_stream at, uint64_t first);
slr_status slri_local_sync_file(slri_local *local, slri_local_stream *stream);
void slri_local_close_file(slri_local *local, slri_local_stream *stream);

// ---- what the engine's table calls in the other files

/// Finds the folder's files, and reads each once.
slr_status slri_local_check(slri_local *local);

slr_status slri_local_purge(slri_log *log, enum slri_log_stream at, uint64_t up_to);
slr_status slri_local_cut(slri_log *log, enum slri_log_stream at, uint64_t last);
slr_status slri_local_get(slri_log *log, const char *key, void *value, size_t capacity, size_t *bytes,
                          uint64_t *revision);
slr_status slri_local_cas(slri_log *log, const char *key, uint64_t *revision, const void *value, size_t bytes);

#endif
