// SPDX-License-Identifier: Apache-2.0
// Compiled kernels kept on disk. An entry is one file named by its key, 32 hex digits: no name can leave the folder. It
// ends with a label, which says what it is, and a trailer that holds its size and a hash over key and content, so that
// an entry which a crash, a full disk or a stranger left incomplete counts as absent and is written anew. What loads
// the entries (a loader of ELF files) reads no further than it needs. Any number of processes may use one folder: an
// entry appears whole, by a rename.
#ifndef SLRI_KERNEL_CACHE_H
#define SLRI_KERNEL_CACHE_H

#include "base/hash.h"

#include <slipring/status.h>

#include <stdbool.h>

typedef struct slri_cache {
    char *folder;
    char *why_private; // NULL: the user's folder. Else why that one is not used: `folder` is then private and goes at
                       // close
    char *published;   // the entry to remove with a private folder
} slri_cache;

// Opens the user's cache folder (base/file.h: slri_cache_folder), making it (0700) if it is not there. One that belongs
// to another user, that everybody may write to, or that we may not write to is not used, because what lies in it is
// run: a private folder takes its place until close, and `why_private` says so. Errors: SYSTEM (no temporary folder
// either), NO_MEMORY.
slr_status slri_cache_open(slri_cache *cache);
void slri_cache_close(slri_cache *cache);

// The whole entry's path, the caller's to free(). Errors: NOT_FOUND (no entry, or one that is not whole), NO_MEMORY.
slr_status slri_cache_find(const slri_cache *cache, const char key[SLRI_HASH_HEX_BYTES], const char *suffix,
                           char **path);

// Makes `content` the entry. `label` says what it is, for who looks at the cache: its name, its source and how it was
// made, a line each. Errors: SYSTEM, NO_MEMORY, INVALID (over 256 MiB).
slr_status slri_cache_publish(slri_cache *cache, const char key[SLRI_HASH_HEX_BYTES], const char *suffix,
                              const void *content, size_t bytes, const char *label);
// The same of a file. Errors: NOT_FOUND, too.
slr_status slri_cache_publish_file(slri_cache *cache, const char key[SLRI_HASH_HEX_BYTES], const char *suffix,
                                   const char *path, const char *label);

// ---- for who looks at it -------------------------------------------------------------------------------------------

typedef struct slri_cache_item {
    const char *path, *name; // of the file
    const char *label;       // "" where it is not whole
    bool is_whole;           // else it is cut off, damaged, of another version, or what a process has left half written
    uint64_t bytes, age_s;
} slri_cache_item;

// Every entry in the folder, read whole and checked; files of other names are passed over. An entry may be removed by
// the visitor. Errors: SYSTEM, NO_MEMORY.
slr_status slri_cache_visit(const char *folder, void (*visit)(void *user, const slri_cache_item *item), void *user);

#endif
