// SPDX-License-Identifier: Apache-2.0
// The allocator hook, and malloc where there is none.
#include "base/alloc.h"

#include "base/system.h"

#include <stddef.h>
#include <stdint.h>
#include <string.h>

// Two cache lines: they are fetched in pairs, so what two threads write stands 128 bytes apart.
enum { ALIGNMENT_BYTES = 128 };

static void *from_system(size_t bytes)
{
    if (bytes > SIZE_MAX - ALIGNMENT_BYTES)
        return NULL;
    // aligned_alloc asks for a multiple of the alignment; at least one, so that 0 bytes have an address
    size_t units = bytes ? (bytes - 1) / ALIGNMENT_BYTES + 1 : 1;
    return slri_system_allocate(units * ALIGNMENT_BYTES, ALIGNMENT_BYTES);
}

void *slri_alloc(const slr_allocator *hook, size_t bytes)
{
    void *memory = hook ? hook->allocate(hook->user, bytes, ALIGNMENT_BYTES) : from_system(bytes);
    return memory ? memset(memory, 0, bytes) : NULL;
}

void *slri_alloc_packed(const slr_allocator *hook, size_t bytes)
{
    void *memory = hook ? hook->allocate(hook->user, bytes, _Alignof(max_align_t))
                        : slri_system_allocate(bytes ? bytes : 1, _Alignof(max_align_t));
    return memory ? memset(memory, 0, bytes) : NULL;
}

void slri_free(const slr_allocator *hook, void *memory, size_t bytes)
{
    if (!memory)
        return;
    if (hook)
        hook->release(hook->user, memory, bytes);
    else
        slri_system_free(memory);
}
