// SPDX-License-Identifier: Apache-2.0
// Compiled kernels kept on disk. An entry is one file named by its key, 32 hex digits: no name can leave the folder. It
// ends with a label, which says what it is, and a trailer that holds its size and a hash over key and content, so that
// an entry which a crash or a full disk left incomplete counts as absent and is written anew. Against a stranger that
// is no help: what protects from other users is that nobody else may write to the folder, its entries, or what leads
// there (base/folder.h). Any number of processes may use one folder: an entry appears whole, by a rename.
#ifndef SLRI_ENGINE_CACHE_H
#define SLRI_ENGINE_CACHE_H

#include "base/folder.h"
#include "base/hash.h"

#include <slipring/status.h>

#include <stdbool.h>

enum { SLRI_CACHE_NAME_BYTES = SLRI_HASH_HEX_BYTES + 16 }; // an entry's

typedef struct slri_cache {
    slri_folder *in;    // NULL: there is none at all, and so no entry
    const char *folder; // its path, or NULL
    char *why_private; // NULL: the user's folder. Else why that one is not used: `in` is then private and goes at close
} slri_cache;

// Opens the user's cache folder (base/file.h: slri_cache_folder), making it if it is not there. One that other users
// could write to, or put another in the place of, is not used (base/folder.h), because what lies in it is run: a
// private folder takes its place until close, and `why_private` says so. Where none can be made there is no folder,
// which `why_private` says, too: whoever needs one to work in must look. Errors: NO_MEMORY.
slr_status slri_cache_open(slri_cache *cache);
void slri_cache_close(slri_cache *cache);

// For who asks for a device's cache: the folder, or why nothing is kept.
void slri_cache_describe(char *out, size_t room);

// The whole entry's content, the caller's to free(). It counts as used now. Errors: NOT_FOUND (no entry, one that is
// not whole, or one that another user may have written), NO_MEMORY.
slr_status slri_cache_read(const slri_cache *cache, const char key[SLRI_HASH_HEX_BYTES], const char *suffix,
                           char **content, size_t *bytes);

// The same, for a loader that wants the whole entry's path, the caller's to free(): nobody else can make that path mean
// another file, and an entry is only ever replaced by one of the same key. Behind the content come label and trailer,
// where a loader of ELF files does not read.
slr_status slri_cache_find(const slri_cache *cache, const char key[SLRI_HASH_HEX_BYTES], const char *suffix,
                           char **path);

// Makes `content` the entry, counts it, and prunes the folder (below). `label` says what it is, for who looks at the
// cache: its name, its source and how it was made, a line each. Errors: SYSTEM, NO_MEMORY, INVALID (over 256 MiB).
slr_status slri_cache_publish(slri_cache *cache, const char key[SLRI_HASH_HEX_BYTES], const char *suffix,
                              const void *content, size_t bytes, const char *label);
// The same of a file. Errors: NOT_FOUND, too.
slr_status slri_cache_publish_file(slri_cache *cache, const char key[SLRI_HASH_HEX_BYTES], const char *suffix,
                                   const char *path, const char *label);

// ---- made once ---------------------------------------------------------------------------------------------------

// How a backend has what it wants from the cache.
struct slri_cache_maker {
    slr_status (*find)(void *user); // from the cache, ready for use. NOT_FOUND: it has none of use. Others end it
    slr_status (*make)(void *user); // anew, and published
    void *user;
    const uint32_t *cancel; // NULL, or set by who wants it no more: WRONG_STATE
};

// Finds the entry, or makes it: once, also where several threads and processes want it at the same time. The others
// wait for the first, and find it. One that has waited 65 s, longer than a compiler may take, makes it too; so does one
// whose file system has no locks. A maker that dies is waited for no longer. Counts a hit or a miss.
slr_status slri_cache_find_or_make(slri_cache *cache, const char key[SLRI_HASH_HEX_BYTES],
                                   const struct slri_cache_maker *maker, bool *was_cached);

// ---- its bounds ----------------------------------------------------------------------------------------------------

struct slri_cache_limits {
    uint64_t bytes;    // of all entries
    uint64_t unused_s; // of each. UINT64_MAX, both: no limit
};

// SLIPRING_CACHE_BYTES (1 GiB) and SLIPRING_CACHE_DAYS (90); 0: no limit. Errors: INVALID (names the variable that is
// no number; `out` has what holds then, the default).
slr_status slri_cache_limits_get(struct slri_cache_limits *out);

struct slri_cache_pruned {
    uint64_t entries, bytes; // removed
    uint64_t temporaries;    // of writers that have ended, removed too
};

// Removes what is over the limits: entries that were not used for too long, then those whose last use is the oldest. A
// program that has loaded an entry keeps it (a file that is mapped or read outlives its name); one that is about to
// compiles anew. `spare` (NULL: none) is the name of an entry that stays. `out` may be NULL. Errors: SYSTEM, NO_MEMORY.
slr_status slri_cache_prune(const slri_folder *folder, const struct slri_cache_limits *limits, const char *spare,
                            struct slri_cache_pruned *out);

// ---- for who looks at it -------------------------------------------------------------------------------------------

typedef struct slri_cache_item {
    const char *name;  // of the file
    const char *label; // "" where it is not whole
    bool is_whole; // else it is cut off, damaged, of another version, not this user's alone, or what a process has left
                   // half written
    uint64_t bytes, age_s;
    uint64_t unused_s; // since it was read to be run
} slri_cache_item;

// Since the folder was made, of all processes.
struct slri_cache_counts {
    uint64_t hits, misses, stores, evicted, evicted_bytes;
};
slr_status slri_cache_counts(const slri_folder *folder, struct slri_cache_counts *out);
void slri_cache_count(const slri_folder *folder, const struct slri_cache_counts *add);

// Whether that is an entry's name, whole or not.
bool slri_cache_is_entry(const char *name);

// Every entry in the folder, read whole and checked; files of other names are passed over. An entry may be deleted by
// the visitor. Errors: SYSTEM, NO_MEMORY.
slr_status slri_cache_visit(const slri_folder *folder, void (*visit)(void *user, const slri_cache_item *item),
                            void *user);

#endif
