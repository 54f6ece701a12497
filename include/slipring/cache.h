// SPDX-License-Identifier: Apache-2.0
/// The user's cache of compiled kernels and its entries. Contract: docs/contract/launch.md.
#ifndef SLIPRING_CACHE_H
#define SLIPRING_CACHE_H

#include <slipring/status.h>

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/// One entry. Its text is borrowed for the length of the visitor's call.
typedef struct slr_cache_entry {
    const char *name;   ///< the name of the entry's file
    const char *kernel; ///< the kernel's name, or the handlers' names separated by commas
    const char *source; ///< the source file, as named at compilation
    const char *detail; ///< block, optimisation, compiler
    uint64_t bytes;     ///< the size of the entry's file
    uint64_t age_s;     ///< seconds since the entry was written
    /// 0: the entry is damaged, truncated, or of another version. slipring does not use such an entry, and the three
    /// texts after `name` are empty.
    uint8_t is_whole;
} slr_cache_entry;

/// Decides about an entry: returns 0 to keep the entry, and another value to remove its file. Processes that already
/// run the entry's code continue.
typedef int slr_cache_visitor(void *user, const slr_cache_entry *entry);

/// Gives the cache folder: SLIPRING_CACHE_DIR, else a folder below XDG_CACHE_HOME or HOME. If the folder exists,
/// symbolic links in its path are resolved.
/// Threads: any.  Blocks: no.  Owns: nothing.
/// Errors: INVALID (NULL; a path longer than `bytes`), NOT_FOUND (none of the three variables is set), NO_MEMORY.
SLR_API slr_status slr_cache_get_folder(char *out, size_t bytes);

/// Visits every entry, in no particular order. Each entry is read and checked in full. Files that are not named like
/// entries are skipped. Other processes may use the cache at the same time.
/// Threads: any.  Blocks: while it reads.  Owns: nothing.
/// Errors: INVALID (NULL), NOT_FOUND (no folder, as slr_cache_get_folder), SYSTEM (the folder cannot be used: the
///   message gives the reason; a file cannot be removed), NO_MEMORY.
SLR_API slr_status slr_cache_visit(slr_cache_visitor *visit, void *user);

/// The cache's contents, limits and use.
typedef struct slr_cache_info {
    uint64_t entries, bytes; ///< all present files of entries, including damaged entries
    uint64_t limit_bytes;    ///< SLIPRING_CACHE_BYTES, 1 GiB by default. UINT64_MAX: no limit
    uint64_t limit_unused_s; ///< SLIPRING_CACHE_DAYS, in seconds; 90 days by default. UINT64_MAX: no limit
    uint64_t hits, misses;   ///< lookups by all processes since the folder was made: entry found; kernel compiled
    uint64_t stores;         ///< entries written
    uint64_t evicted;        ///< entries removed because of the limits
    uint64_t evicted_bytes;
} slr_cache_info;

/// Reads the names and sizes in the cache, and its counts. The call does not read the entries.
/// Threads: any.  Blocks: while it reads.  Owns: nothing.
/// Errors: INVALID (NULL; a variable that is not a number, which the message names), NOT_FOUND, SYSTEM, NO_MEMORY (as
///   slr_cache_visit).
SLR_API slr_status slr_cache_get_info(slr_cache_info *out);

/// The macro slr_cache_get_info calls this function, with the struct's size as `bytes` (docs/contract/abi.md).
SLR_API slr_status slr_cache_get_info_sized(slr_cache_info *out, size_t bytes);
#define slr_cache_get_info(out) slr_cache_get_info_sized((out), sizeof(slr_cache_info))

/// Removes entries that were not used for more than `unused_s` seconds. Then it removes the least recently used entries
/// until the rest takes at most `bytes` bytes. It also removes partial files that processes left when they ended.
/// UINT64_MAX means no limit. `*removed` and `*removed_bytes` (may be NULL) get the totals. Whenever slipring stores an
/// entry, it removes other entries in the same way, by the limits in slr_cache_info. Processes that already run an
/// entry's code continue.
/// Threads: any.  Blocks: while it reads and removes.  Owns: nothing.
/// Errors: NOT_FOUND, SYSTEM, NO_MEMORY (as slr_cache_visit).
SLR_API slr_status slr_cache_prune(uint64_t bytes, uint64_t unused_s, uint64_t *removed, uint64_t *removed_bytes);

#ifdef __cplusplus
}
#endif
#endif
