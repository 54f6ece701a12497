// SPDX-License-Identifier: Apache-2.0
// Aligned memory for allocators of tests: Windows has no aligned_alloc(), and other memory of this kind is not for
// free().
#ifndef SLRI_BASE_ALIGNED_TEST_H
#define SLRI_BASE_ALIGNED_TEST_H

#include <stdlib.h>

#ifdef _WIN32
#include <malloc.h>
#endif

// At least `bytes`, which may be 0.
static inline void *aligned_take(size_t alignment, size_t bytes)
{
    size_t whole = (bytes / alignment + 1) * alignment;
#ifdef _WIN32
    return _aligned_malloc(whole, alignment);
#else
    return aligned_alloc(alignment, whole);
#endif
}

static inline void aligned_give(void *memory)
{
#ifdef _WIN32
    _aligned_free(memory);
#else
    free(memory);
#endif
}

#endif
