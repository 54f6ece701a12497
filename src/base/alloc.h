// SPDX-License-Identifier: Apache-2.0
/// Memory through the application's hook, or malloc where there is none.
#ifndef SLRI_BASE_ALLOC_H
#define SLRI_BASE_ALLOC_H

#include <slipring/allocator.h>

/// `bytes` zeroed bytes, 128-byte aligned (a pair of cache lines), or NULL. `hook` NULL means malloc. 0 bytes give a
/// valid pointer.
void *slri_alloc(const slr_allocator *hook, size_t bytes);

/// Likewise, aligned to 16 bytes: for small things of which there are many, and which one thread at a time writes.
void *slri_alloc_packed(const slr_allocator *hook, size_t bytes);

/// Gives back what these gave, by the same hook and with the same size. NULL is fine.
void slri_free(const slr_allocator *hook, void *memory, size_t bytes);

#endif
