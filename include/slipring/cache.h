// SPDX-License-Identifier: Apache-2.0
/// The functions below list and remove entries of the cache of compiled kernels on the user's disk. Contract:
/// docs/contract/launch.md.
#ifndef SLIPRING_CACHE_H
#define SLIPRING_CACHE_H

#include <slipring/status.h>

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/// One entry of the cache. The texts in slr_cache_entry are valid until the visitor returns.
typedef struct slr_cache_entry {
    const char *name;   ///< the name of the entry's file
    const char *kernel; ///< the kernel's name, or the handlers' names, separated by commas
    const char *source; ///< the source file, as named at compilation
    const char *detail; ///< block size, level of optimisation, and compiler
    uint64_t bytes;     ///< the size of the entry's file
    uint64_t age_s;     ///< seconds since the entry was written
    /// If `is_whole` is 0, the entry is damaged, truncated, or of another version of slipring. slipring does not use
    /// such an entry, and the three texts after `name` are empty.
    uint8_t is_whole;
} slr_cache_entry;

/// A visitor is a function of the program that decides about one entry: it returns 0 to keep the entry, and another
/// value to remove the entry's file. Processes that already run the code of a removed entry continue to run.
typedef int slr_cache_visitor(void *user, const slr_cache_entry *entry);

/// Gives the path of the cache folder: the value of SLIPRING_CACHE_DIR, else a folder below XDG_CACHE_HOME or HOME. If
/// the cache folder exists, slr_cache_get_folder resolves symbolic links in the folder's path.
/// Threads: any.  Blocks: no.  Owns: nothing.
/// Errors: INVALID (a NULL argument; a path longer than `bytes`), NOT_FOUND (none of SLIPRING_CACHE_DIR, XDG_CACHE_HOME
///   and HOME is set), NO_MEMORY.
SLR_API slr_status slr_cache_get_folder(char *out, size_t bytes);

/// Calls the visitor `visit` for every entry of the cache, in no particular order. slr_cache_visit reads and checks
/// each entry in full. slr_cache_visit skips files that are not named like entries of the cache. Other processes may
/// use the cache during the call.
/// Threads: any.  Blocks: while the call reads.  Owns: nothing.
/// Errors: INVALID (a NULL argument), NOT_FOUND (no folder, as for slr_cache_get_folder), SYSTEM (the folder cannot be
///   used: the error message gives the reason; a file cannot be removed), NO_MEMORY.
SLR_API slr_status slr_cache_visit(slr_cache_visitor *visit, void *user);

/// The struct slr_cache_info says what the cache contains, which limits it has, and how often processes used it.
typedef struct slr_cache_info {
    uint64_t entries, bytes; ///< all present files of entries, including damaged entries
    uint64_t limit_bytes;    ///< SLIPRING_CACHE_BYTES, 1 GiB by default. UINT64_MAX: no limit
    uint64_t limit_unused_s; ///< SLIPRING_CACHE_DAYS, in seconds; 90 days by default. UINT64_MAX: no limit
    uint64_t hits, misses;   ///< lookups by all processes so far: those that found an entry; those that found none
    uint64_t stores;         ///< entries written
    uint64_t evicted;        ///< entries removed because of the limits
    uint64_t evicted_bytes;
} slr_cache_info;

/// Reads the names and sizes of the cache's entries, and the counts of their use. slr_cache_get_info does not read the
/// contents of the entries.
/// Threads: any.  Blocks: while the call reads.  Owns: nothing.
/// Errors: INVALID (a NULL argument; an environment variable that is not a number: the error message names the
///   variable), NOT_FOUND, SYSTEM, NO_MEMORY (as for slr_cache_visit).
SLR_API slr_status slr_cache_get_info(slr_cache_info *out);

/// The macro slr_cache_get_info calls slr_cache_get_info_sized with the struct's size as `bytes`
/// (docs/contract/abi.md).
SLR_API slr_status slr_cache_get_info_sized(slr_cache_info *out, size_t bytes);
#define slr_cache_get_info(out) slr_cache_get_info_sized((out), sizeof(slr_cache_info))

/// Removes the entries that nobody used for more than `unused_s` seconds. If the remaining entries take more than
/// `bytes` bytes, slr_cache_prune also removes the least recently used entries until the others fit. slr_cache_prune
/// also removes partial files that ended processes left in the folder. The value UINT64_MAX of `bytes` or `unused_s`
/// means that there is no limit. `*removed` and `*removed_bytes` get the number of removed entries and their bytes;
/// either pointer may be NULL. Whenever slipring stores a new entry, it also removes old entries by the limits in
/// slr_cache_info. Processes that already run the code of a removed entry continue to run.
/// Threads: any.  Blocks: while the call reads and removes files of the cache.  Owns: nothing.
/// Errors: NOT_FOUND, SYSTEM, NO_MEMORY (as slr_cache_visit).
SLR_API slr_status slr_cache_prune(uint64_t bytes, uint64_t unused_s, uint64_t *removed, uint64_t *removed_bytes);

#ifdef __cplusplus
}
#endif
#endif
