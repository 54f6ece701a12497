// SPDX-License-Identifier: Apache-2.0
/// Other allocators, to measure beside: the C library's, and mimalloc where it is installed.
#ifndef ALLOCATORS_H
#define ALLOCATORS_H

#include <stdbool.h>
#include <stddef.h>

typedef struct allocator {
    const char *name;
    void *(*take)(size_t bytes);
    void (*give)(void *memory);
} allocator;

/// The C library's malloc and free.
allocator allocator_libc(void);

/// mimalloc's own, opened at run time and never closed. False where it is not installed.
bool allocator_mimalloc(allocator *out);

/// How to install it, for who misses it.
#define ALLOCATOR_MIMALLOC_MISSING "mimalloc is not installed (Debian: libmimalloc2.0)"

#endif
