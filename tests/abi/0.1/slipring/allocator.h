// SPDX-License-Identifier: Apache-2.0
/// The one hook through which an application gives slipring its memory. Contract: docs/contract/ownership.md.
#ifndef SLIPRING_ALLOCATOR_H
#define SLIPRING_ALLOCATOR_H

#include <slipring/api.h>

#include <stddef.h>

/// Both functions may be called from any thread, at once, and must not call back into slipring.
typedef struct slr_allocator {
    /// At least `bytes` bytes on a multiple of `alignment` (a power of two, at most 4,096), or NULL. Need not be
    /// zeroed.
    void *(*allocate)(void *user, size_t bytes, size_t alignment);
    /// Gives back what `allocate` gave; `bytes` is what was asked for then. Never called with NULL.
    void (*release)(void *user, void *memory, size_t bytes);
    /// Handed to both unchanged.
    void *user;
} slr_allocator;

#endif
