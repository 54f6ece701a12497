// SPDX-License-Identifier: Apache-2.0
// Compiled kernels kept on disk. An entry is one file named by its key, 32 hex digits: no name can leave the folder. It
// ends with a label, which says what it is, and a trailer that holds its size and a hash over key and content, so that
// an entry which a crash or a full disk left incomplete counts as absent and is written anew. Against a stranger that
// is no help: what protects from other users is that nobody else may write to the folder, its entries, or what leads
// there (base/folder.h). Any number of processes may use one folder: an entry appears whole, by a rename.
#ifndef SLRI_KERNEL_CACHE_H
#define SLRI_KERNEL_CACHE_H

#include "base/folder.h"
#include "base/hash.h"

#include <slipring/status.h>

#include <stdbool.h>

enum { SLRI_CACHE_NAME_BYTES = SLRI_HASH_HEX_BYTES + 16 }; // an entry's

typedef struct slri_cache {
    slri_folder *in;
    const char *folder; // its path
    char *why_private; // NULL: the user's folder. Else why that one is not used: `in` is then private and goes at close
} slri_cache;

// Opens the user's cache folder (base/file.h: slri_cache_folder), making it if it is not there. One that other users
// could write to, or put another in the place of, is not used (base/folder.h), because what lies in it is run: a
// private folder takes its place until close, and `why_private` says so. Errors: SYSTEM (no temporary folder either),
// NO_MEMORY.
slr_status slri_cache_open(slri_cache *cache);
void slri_cache_close(slri_cache *cache);

// The whole entry's content, the caller's to free(). It counts as used now. Errors: NOT_FOUND (no entry, one that is
// not whole, or one that another user may have written), NO_MEMORY.
slr_status slri_cache_read(const slri_cache *cache, const char key[SLRI_HASH_HEX_BYTES], const char *suffix,
                           char **content, size_t *bytes);

// The same, for a loader that wants the whole entry's path, the caller's to free(): nobody else can make that path mean
// another file, and an entry is only ever replaced by one of the same key. Behind the content come label and trailer,
// where a loader of ELF files does not read.
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
    const char *name;  // of the file
    const char *label; // "" where it is not whole
    bool is_whole; // else it is cut off, damaged, of another version, not this user's alone, or what a process has left
                   // half written
    uint64_t bytes, age_s;
    uint64_t unused_s; // since it was read to be run
} slri_cache_item;

// Every entry in the folder, read whole and checked; files of other names are passed over. An entry may be deleted by
// the visitor. Errors: SYSTEM, NO_MEMORY.
slr_status slri_cache_visit(const slri_folder *folder, void (*visit)(void *user, const slri_cache_item *item),
                            void *user);

#endif
