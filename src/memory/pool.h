// SPDX-License-Identifier: Apache-2.0
// A pool: lists of buffers that wait, by size class.
#ifndef SLRI_MEMORY_POOL_H
#define SLRI_MEMORY_POOL_H

#include "base/lock.h"
#include "device/device.h"
#include "base/pieces.h"

#include <slipring/pool.h>

// Four classes between two powers of two, from 64 bytes to 2^40: a buffer is at most a quarter larger than was asked.
#define SLRI_POOL_CLASS_BITS 2
#define SLRI_POOL_CLASSES ((41 - 6 - SLRI_POOL_CLASS_BITS + 2) << SLRI_POOL_CLASS_BITS)

struct slr_pool {
    slri_lock lock; // of all up to `closed`
    slr_buffer *waiting[SLRI_POOL_CLASSES];
    uint64_t live_bytes, live, peak_bytes, kept_bytes, kept, hits, misses, refused;
    bool closed; // destroyed: its buffers go back to the heap
    // As it was made.
    uint64_t max_bytes, keep_bytes;
    slr_device *device; // held, but by its own pool
    bool is_devices;    // the device's own
    // NULL, or the buffer whose slices its buffers are, held, and what is free of it; under the lock.
    slr_buffer *within;
    struct slri_pieces *pieces;
    struct slri_chunk chunk;
    char name[48];
};

// What a pool counts for a buffer of so many bytes.
uint64_t slri_pool_class_bytes(uint64_t bytes);

// The device's own: made with it, closed with it, freed when nothing holds the device any more.
slr_status slri_pool_create(slr_device *device, const slr_pool_desc *desc, slr_pool **out);
void slri_pool_close(slr_pool *pool);
void slri_pool_free(slr_pool *pool);

#endif
