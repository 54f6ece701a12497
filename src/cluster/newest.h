// SPDX-License-Identifier: Apache-2.0
/// Which file each log of a folder has begun last. The files that are left cannot say that a later one is missing.
#ifndef SLRI_CLUSTER_NEWEST_H
#define SLRI_CLUSTER_NEWEST_H

#include "base/folder.h"
#include "cluster/log.h"

/// The number of the newest file of each log; 0: it has none. Noted once the file is there, and lowered before a file
/// goes: a kill of the process never leaves a note that is ahead of the folder.
typedef struct slri_newest {
    uint64_t first[SLRI_LOG_STREAMS];
} slri_newest;

/// All 0 where nothing whole is noted: a power cut may take a note.
void slri_newest_read(const slri_folder *folder, slri_newest *out);

/// Not synced: a power cut leaves this note, an older one, or none. Only a note that was lowered has an older one that
/// is ahead: who lowers it syncs the folder before the file goes. Without syncs such a folder is refused after a power
/// cut. Errors: SYSTEM, NO_MEMORY.
slr_status slri_newest_write(const slri_folder *folder, const slri_newest *newest);

#endif
