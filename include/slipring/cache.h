// SPDX-License-Identifier: Apache-2.0
/// slipring keeps compiled kernels in a cache, a folder on the user's disk. The functions of this header list and
/// remove the entries of this cache. Contract: docs/contract/launch.md.
#ifndef SLIPRING_CACHE_H
#define SLIPRING_CACHE_H

#include <slipring/status.h>

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/// slr_cache_entry describes one entry of the cache. The texts in slr_cache_entry are valid until the visitor returns.
typedef struct slr_cache_entry {
    const char *name;   ///< the name of the entry's file
    const char *kernel; ///< the name of the compiled kernel, or the names of the compiled handlers, separated by commas
    const char *source; ///< the name of the kernel's source file, as the program gave it at the compilation
    const char *detail; ///< block size, level of optimisation and compiler of the compilation, as text
    uint64_t bytes;     ///< the size of the entry's file
    uint64_t age_s;     ///< seconds since the entry was written
    /// If `is_whole` is 0, the entry is damaged, truncated, or written by another version of slipring. slipring does
    /// not use an entry with `is_whole` 0, and the texts `kernel`, `source` and `detail` of this entry are empty.
    uint8_t is_whole;
} slr_cache_entry;

/// A visitor is a function of the program that decides about one entry. A visitor returns 0 to keep the entry, and
/// another value to remove the entry's file. Processes that already run the code of a removed entry continue to run.
typedef int slr_cache_visitor(void *user, const slr_cache_entry *entry);

/// Gives the path of the cache folder: the value of the environment variable SLIPRING_CACHE_DIR, else a folder below
/// the folder XDG_CACHE_HOME, else a folder below HOME. If the cache folder exists, slr_cache_get_folder resolves
/// symbolic links in the folder's path.
/// Threads: any.  Blocks: no.  Owns: nothing.
/// Errors: INVALID (a NULL argument; a path longer than `bytes`), NOT_FOUND (the three environment variables are all
///   unset), NO_MEMORY.
SLR_API slr_status slr_cache_get_folder(char *out, size_t bytes);

/// Calls the visitor `visit` for every entry of the cache, in no particular order. slr_cache_visit reads and checks
/// each entry in full. slr_cache_visit skips files whose names are not names of cache entries. Other processes may use
/// the cache during the call.
/// Threads: any.  Blocks: while the call reads.  Owns: nothing.
/// Errors: INVALID (a NULL argument), NOT_FOUND (as for slr_cache_get_folder), SYSTEM (the folder cannot be used: the
///   error message gives the reason; a file cannot be removed), NO_MEMORY.
SLR_API slr_status slr_cache_visit(slr_cache_visitor *visit, void *user);

/// The struct slr_cache_info says what the cache contains, which limits the cache has, and how often processes have
/// used the cache.
typedef struct slr_cache_info {
    uint64_t entries, bytes; ///< number and total size of the entries' files, including damaged entries
    uint64_t limit_bytes;    ///< limit on `bytes`: SLIPRING_CACHE_BYTES, 1 GiB by default. UINT64_MAX: no limit
    /// How long an entry may stay unused, in seconds, by SLIPRING_CACHE_DAYS; 90 days by default. UINT64_MAX: no limit.
    uint64_t limit_unused_s;
    uint64_t hits, misses; ///< lookups by all processes so far: `hits` found an entry, `misses` found none
    uint64_t stores;       ///< entries written by all processes so far
    uint64_t evicted;      ///< number of entries that slipring has removed so far because of the limits
    uint64_t evicted_bytes;
} slr_cache_info;

/// Gives the total size of the cache, its limits, and the counts of its use. slr_cache_get_info reads the names and
/// sizes of the entries' files, but not their contents.
/// Threads: any.  Blocks: while the call reads.  Owns: nothing.
/// Errors: INVALID (a NULL argument; an environment variable that is not a number: the error message names the
///   variable), and NOT_FOUND, SYSTEM, NO_MEMORY as for slr_cache_visit.
SLR_API slr_status slr_cache_get_info(slr_cache_info *out);

/// The macro slr_cache_get_info calls slr_cache_get_info_sized with sizeof(slr_cache_info) as `bytes`
/// (docs/contract/abi.md).
SLR_API slr_status slr_cache_get_info_sized(slr_cache_info *out, size_t bytes);
#define slr_cache_get_info(out) slr_cache_get_info_sized((out), sizeof(slr_cache_info))

/// Removes the entries that no process has used for more than `unused_s` seconds. If the remaining entries take more
/// than `bytes` bytes, slr_cache_prune also removes the least recently used entries, until the rest takes at most
/// `bytes` bytes. slr_cache_prune also removes incomplete files that processes left in the folder when they ended. The
/// value UINT64_MAX of `bytes` or `unused_s` means that there is no limit. `*removed` gets the number of removed
/// entries, and `*removed_bytes` gets their total size; either pointer may be NULL. Even without slr_cache_prune,
/// slipring removes old entries by the limits in slr_cache_info whenever it stores a new entry. Processes that already
/// run the code of a removed entry continue to run.
/// Threads: any.  Blocks: while the call reads and removes files of the cache.  Owns: nothing.
/// Errors: NOT_FOUND, SYSTEM, NO_MEMORY, each as for slr_cache_visit.
SLR_API slr_status slr_cache_prune(uint64_t bytes, uint64_t unused_s, uint64_t *removed, uint64_t *removed_bytes);

#ifdef __cplusplus
}
#endif
#endif
