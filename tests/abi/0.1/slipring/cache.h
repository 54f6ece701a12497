// SPDX-License-Identifier: Apache-2.0
/// The user's cache of compiled kernels: what is in it. Contract: docs/contract/launch.md.
#ifndef SLIPRING_CACHE_H
#define SLIPRING_CACHE_H

#include <slipring/status.h>

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/// One entry. The text is the visitor's for the length of its call.
typedef struct slr_cache_entry {
    const char *name;   ///< of its file
    const char *kernel; ///< or its handlers, between commas
    const char *source; ///< the file it was compiled from, as it was named then
    const char *detail; ///< how: block, optimisation, compiler
    uint64_t bytes;     ///< of its file
    uint64_t age_s;     ///< since it was written
    uint8_t is_whole; ///< 0: damaged, cut off, left half written, or of another version; it is not used, and the three
                      ///< texts behind `name` are empty
} slr_cache_entry;

/// What is to become of an entry: 0, it stays; else its file is removed. Who runs what it holds goes on.
typedef int slr_cache_visitor(void *user, const slr_cache_entry *entry);

/// Where the cache is: SLIPRING_CACHE_DIR, else below XDG_CACHE_HOME or HOME.
/// Threads: any.  Blocks: no.  Owns: nothing.
/// Errors: INVALID (NULL; a path longer than `bytes`), NOT_FOUND (none of the three is set), NO_MEMORY.
SLR_API slr_status slr_cache_get_folder(char *out, size_t bytes);

/// Tells of every entry, in no order, each read whole and checked. Files of other names are passed over. Other
/// processes may use the cache meanwhile.
/// Threads: any.  Blocks: while it reads.  Owns: nothing.
/// Errors: INVALID (NULL), NOT_FOUND (as before), SYSTEM (the folder cannot be used: the message says why; a file
/// cannot be removed), NO_MEMORY.
SLR_API slr_status slr_cache_visit(slr_cache_visitor *visit, void *user);

#ifdef __cplusplus
}
#endif
#endif
