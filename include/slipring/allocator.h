// SPDX-License-Identifier: Apache-2.0
/// Through the functions of the struct slr_allocator, an application can supply the host memory that slipring uses.
/// Contract: docs/contract/ownership.md.
#ifndef SLIPRING_ALLOCATOR_H
#define SLIPRING_ALLOCATOR_H

#include <slipring/api.h>

#include <stddef.h>

/// slipring may call `allocate` and `release` on any thread, and on several threads at once. Neither `allocate` nor
/// `release` may call a function of slipring.
typedef struct slr_allocator {
    /// `allocate` returns at least `bytes` bytes of memory, aligned to `alignment`, or NULL if no memory is left.
    /// `alignment` is a power of two, at most 4,096. `allocate` does not have to zero the memory.
    void *(*allocate)(void *user, size_t bytes, size_t alignment);
    /// Frees memory that `allocate` returned. `bytes` is the size that slipring requested from `allocate`. slipring
    /// never passes NULL as `memory`.
    void (*release)(void *user, void *memory, size_t bytes);
    /// slipring passes the pointer `user` unchanged to `allocate` and to `release`.
    void *user;
} slr_allocator;

#endif
