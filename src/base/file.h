// SPDX-License-Identifier: Apache-2.0
/// Files, and paths. Everything returned through a `char **` is the caller's to free().
#ifndef SLRI_BASE_FILE_H
#define SLRI_BASE_FILE_H

#include "base/text.h"

#include <slipring/status.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/// Changes whenever a file is replaced or rewritten.
typedef struct slri_file_identity {
    uint64_t bytes;
    int64_t mtime_ns;
    uint64_t inode;
} slri_file_identity;

/// The whole file, NUL-terminated; `*bytes` (may be NULL) is its length without that NUL.
/// Errors: NOT_FOUND (no such file), INVALID (a folder, or over `limit_bytes`), SYSTEM, NO_MEMORY.
slr_status slri_file_read(const char *path, size_t limit_bytes, char **content, size_t *bytes);

/// The same of an open file, which messages call `name`.
slr_status slri_file_read_open(int fd, const char *name, size_t limit_bytes, char **content, size_t *bytes);

/// Writes all of it to an open file. Errors: SYSTEM.
slr_status slri_file_write_open(int fd, const char *name, const void *content, size_t bytes);

/// Readers see the old file or the whole new one, never part: a temporary file in the same folder, then a rename. Not
/// flushed to the disk, so that after a power failure it may be empty: check what you read back. A file that was there
/// leaves its permissions. A link or device of that name is replaced, so: only for names of our own (a user's:
/// base/output.h). Errors: SYSTEM, NO_MEMORY.
slr_status slri_file_write_atomic(const char *path, const void *content, size_t bytes);

/// The text as a path, which is then the caller's. Errors: NO_MEMORY.
slr_status slri_path_taken(slri_text *text, char **out);

/// Whether it names the same file from every working directory.
bool slri_path_is_absolute(const char *path);

/// Whether anything has that name.
bool slri_file_is_there(const char *path);
bool slri_file_is_folder(const char *path);

/// A name in `folder`, ending in `suffix`, that no other process or thread gets. Nothing is created.
slr_status slri_file_temporary_name(const char *folder, const char *suffix, char **path);

/// Whether a file of that name is such a temporary one, and the process that made it has ended: it is gone from this
/// machine, or the file is older than any use of it takes (10 minutes).
bool slri_file_is_left_behind(const char *name, uint64_t age_s);

/// Replaces `to` if it is there. Errors: SYSTEM.
slr_status slri_file_rename(const char *from, const char *to);

/// A file that is not there counts as removed. Errors: SYSTEM.
slr_status slri_file_remove(const char *path);

/// Absolute, without links, `.` and `..`. Errors: NOT_FOUND, SYSTEM, NO_MEMORY.
slr_status slri_path_canonical(const char *path, char **out);

/// False where `path` names no regular file. `out` may be NULL: does it exist?
bool slri_file_identify(const char *path, slri_file_identity *out);

/// Seconds since the file was written, by the calendar's clock; 0 where that has been set back since.
uint64_t slri_file_age_s(const slri_file_identity *file);

/// This user's cache folder: SLIPRING_CACHE_DIR, else XDG_CACHE_HOME/slipring, else HOME/.cache/slipring, else
/// LOCALAPPDATA/slipring (Windows). It need not exist. Errors: NOT_FOUND (none of them is set), NO_MEMORY.
slr_status slri_cache_folder(char **path);

#endif
