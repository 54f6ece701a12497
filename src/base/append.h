// SPDX-License-Identifier: Apache-2.0
/// Files that only grow, and what makes them survive a power cut.
#ifndef SLRI_BASE_APPEND_H
#define SLRI_BASE_APPEND_H

#include <slipring/status.h>

#include <stddef.h>
#include <stdint.h>

/// A piece of what is written.
typedef struct slri_append_part {
    const void *data;
    size_t bytes;
} slri_append_part;

enum { SLRI_APPEND_PARTS = 13 };

/// Opens the file for writing and makes it where it is missing, for this user only. `*bytes` is its length.
/// Errors: SYSTEM.
slr_status slri_append_open(const char *path, int *fd, uint64_t *bytes);

/// Writes the parts (SLRI_APPEND_PARTS at most) behind byte `at`, which is the file's end. Where it fails, the file is
/// cut to `at` bytes again, so that no part of them stays. Errors: SYSTEM (a full disk, a limit of the file's size).
slr_status slri_append_write(int fd, const char *path, uint64_t at, const slri_append_part *parts, uint32_t count);

/// Cuts the file. Errors: SYSTEM.
slr_status slri_append_cut(int fd, const char *path, uint64_t bytes);

/// Waits until the disk has what was written. Errors: SYSTEM.
slr_status slri_append_sync(int fd, const char *path);

/// Likewise the names in a folder: a new file, a renamed or a removed one. Errors: SYSTEM.
slr_status slri_append_sync_folder(const char *path);

/// Replaces the file `name` in `folder` for good: readers see the old one or the new one, also after a power cut. For
/// one writer. Errors: SYSTEM.
slr_status slri_append_replace(const char *folder, const char *name, const void *content, size_t bytes);

void slri_append_close(int fd);

#endif
