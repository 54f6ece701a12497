// SPDX-License-Identifier: Apache-2.0
/// The hook by which an application supplies slipring's host memory. Contract: docs/contract/ownership.md.
#ifndef SLIPRING_ALLOCATOR_H
#define SLIPRING_ALLOCATOR_H

#include <slipring/api.h>

#include <stddef.h>

/// Any thread may call either function, and several threads may do so at once. Neither function may call slipring.
typedef struct slr_allocator {
    /// Returns at least `bytes` bytes, aligned to `alignment` (a power of two, at most 4,096), or NULL. The memory need
    /// not be zeroed.
    void *(*allocate)(void *user, size_t bytes, size_t alignment);
    /// Frees memory that `allocate` returned. `bytes` is the size that was requested from `allocate`. `memory` is never
    /// NULL.
    void (*release)(void *user, void *memory, size_t bytes);
    /// slipring passes this pointer to both functions unchanged.
    void *user;
} slr_allocator;

#endif
