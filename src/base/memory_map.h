// SPDX-License-Identifier: Apache-2.0
/// Address space whose pages cost nothing until they are touched: for the arenas of many instances.
#ifndef SLRI_BASE_MEMORY_MAP_H
#define SLRI_BASE_MEMORY_MAP_H

#include <slipring/status.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/// `bytes` zeroed bytes on a page boundary, or NULL. The kernel commits a page at its first write.
void *slri_map_reserve(uint64_t bytes);

/// The same for what kernels stream over: from 4 MiB on it begins at a multiple of 2 MiB, and the operating system is
/// asked for pages of that size.
void *slri_map_reserve_large(uint64_t bytes);

/// Gives back what one of the two gave, with the same size. NULL is fine.
void slri_map_release(void *memory, size_t bytes);

/// Puts zeroed memory in the place of whatever is mapped there, whole pages: other threads that use it meanwhile find
/// the one or the other, and never nothing. False: no memory, and nothing has changed.
bool slri_map_over(void *memory, size_t bytes);

/// ---- address space that is opened part by part (base/share.h)
/// ----------------------------------------------------------

/// `bytes` of address space that no one may touch, or NULL: for the system it is no memory. slri_map_release gives it
/// back, with what was opened.
void *slri_map_keep(uint64_t bytes);

/// Makes whole pages of it zeroed memory. False: no memory.
bool slri_map_open(void *memory, size_t bytes);

/// Asks for small pages there, which is a hint.
void slri_map_small_pages(void *memory, size_t bytes);

/// Whole pages of what was reserved or opened: zero again, and they cost nothing until they are touched. False: the
/// system cannot, and nothing has changed.
bool slri_map_forget(void *memory, size_t bytes);

size_t slri_page_bytes(void);

/// Keeps the pages in memory, all of them from now on. Errors: NO_MEMORY (the message names the process's limit).
slr_status slri_memory_lock(void *memory, size_t bytes);

/// Ends that. NULL is fine.
void slri_memory_unlock(void *memory, size_t bytes);

#endif
