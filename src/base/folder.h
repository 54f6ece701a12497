// SPDX-License-Identifier: Apache-2.0
/// A folder whose files are run: nobody but this user and root may decide what a name in it means.
///
/// Opening checks the whole way there: each folder from `/` down, and each link on the way, belongs to this user or
/// root, and no one else may rename what lies in it (not writable by group and others, or sticky as /tmp; a group whose
/// number is the user's own counts as the user). The folder itself is this user's and writable by nobody else. A file
/// is read from the descriptor that was checked: a plain file of this user's that nobody else may write to. So a path
/// below an open folder names the same file later, also to the loader and to a compiler.
#ifndef SLRI_BASE_FOLDER_H
#define SLRI_BASE_FOLDER_H

#include <slipring/status.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct slri_folder slri_folder;

/// Makes what is missing, for this user only (0700). Errors: SYSTEM (the message says which folder is wrong, and what
/// to do), NO_MEMORY.
slr_status slri_folder_open(const char *path, slri_folder **out);

/// As slri_folder_open, to read alone: this user need not be able to write there, as on a mount that is read-only.
slr_status slri_folder_open_to_read(const char *path, slri_folder **out);

/// Makes and opens a new folder with a name of its own in TMPDIR, or in /tmp where that cannot be trusted. Errors:
/// SYSTEM, NO_MEMORY.
slr_status slri_folder_open_private(slri_folder **out);

/// NULL is fine.
void slri_folder_close(slri_folder *folder);

/// Removes the plain files in it and the folder itself, as far as that goes, and closes it. NULL is fine.
void slri_folder_discard(slri_folder *folder);

/// Absolute, without links, `.` and `..`; the folder's.
const char *slri_folder_path(const slri_folder *folder);

/// The whole file `name`, NUL-terminated, the caller's to free(). `*bytes` is its length. With `is_use` the file's time
/// of use becomes now; without, it stays. Errors: NOT_FOUND (none, or one that others may have written: the message
/// says which), INVALID (over `limit_bytes`), SYSTEM, NO_MEMORY.
slr_status slri_folder_read(const slri_folder *folder, const char *name, size_t limit_bytes, bool is_use,
                            char **content, size_t *bytes);

/// Readers see the old file or the whole new one. Only this user may read it. Errors: SYSTEM, NOT_FOUND (the folder has
/// been removed), NO_MEMORY.
slr_status slri_folder_write(const slri_folder *folder, const char *name, const void *content, size_t bytes);

/// A file that is not there counts as removed. Errors: SYSTEM.
slr_status slri_folder_delete(const slri_folder *folder, const char *name);

/// A plain file in a folder. Times are seconds of the calendar's clock since then; 0 where that was set back.
typedef struct slri_folder_item {
    const char *name;
    uint64_t bytes;
    uint64_t age_s;      // since it was written
    uint64_t unused_s;   // since it was used: slri_folder_read
    int64_t used_ns;     // when that was, by the calendar's clock: for an order
    bool is_ours;        // else others may have written it
    bool is_left_behind; // a temporary file whose writer is gone
} slri_folder_item;

/// Calls `visit` for each plain file, in no order. It may delete. Errors: SYSTEM, NO_MEMORY.
slr_status slri_folder_list(const slri_folder *folder, void (*visit)(void *user, const slri_folder_item *item),
                            void *user);

/// ---- what processes share -----------------------------------------------------------------------------------------
///
/// The file `name`, made where it is missing, holds numbers that any process adds to, and has locks on numbers.

/// Adds `add[0..count)` (8 at most) to the numbers. Any number of threads and processes may, at once. Errors: SYSTEM.
slr_status slri_folder_add(const slri_folder *folder, const char *name, const uint64_t *add, uint32_t count);

/// The numbers: 0 where there is no such file. Errors: SYSTEM.
slr_status slri_folder_sums(const slri_folder *folder, const char *name, uint64_t *out, uint32_t count);

/// Locks `number` against all other threads and processes. A process that ends gives its locks back, however it ends.
/// Errors: TIMEOUT, WRONG_STATE (`*cancel` was set; NULL: nobody does), SYSTEM (the file system has no locks).
slr_status slri_folder_lock(const slri_folder *folder, const char *name, uint32_t number, uint64_t deadline_ns,
                            const uint32_t *cancel, int *lock);
void slri_folder_unlock(int lock, uint32_t number);

#endif
