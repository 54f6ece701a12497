// SPDX-License-Identifier: Apache-2.0
// Memory of a device, cut on the host from slabs, so that a piece mostly costs no call of its driver: such a call may
// have to wait until persistent kernels have ended.
#ifndef SLRI_ENGINE_SLABS_H
#define SLRI_ENGINE_SLABS_H

#include "base/pieces.h"
#include "base/thread.h"
#include "hal/hal.h"

#define SLRI_SLAB_ALIGNMENT 128u // two lines (MB_LINE)

struct slri_slabs;

struct slri_slab_source {
    uint64_t bytes;                                                                // of a slab, at least
    const char *what;                                                              // "mapped": for messages
    slr_status (*create)(struct slri_slabs *slabs, uint64_t bytes, void **memory); // zeroed
    // In a device that was opened again; the memory is zeroed where it is another.
    slr_status (*renew)(struct slri_slabs *slabs, uint64_t bytes, void **memory);
    void (*destroy)(struct slri_slabs *slabs, void *memory, uint64_t bytes);
};

struct slri_slabs {
    const struct slri_slab_source *source;
    const struct slri_backend *backend;
    void *device; // the backend's
    const char *name;
    const slr_allocator *allocator;
    slri_mutex lock; // of the next two
    struct slri_pieces pieces;
    struct slri_slab_chunk *first;
};

// `name`: the device's, which stays.
void slri_slabs_open(struct slri_slabs *slabs, const struct slri_slab_source *source,
                     const struct slri_backend *backend, void *device, const char *name,
                     const slr_allocator *allocator);
void slri_slabs_close(struct slri_slabs *slabs); // with all that lies in them
// Of SLRI_MEMORY_NEAR. Behind a reopening a piece is elsewhere, and zero.
extern const struct slri_slab_source slri_near_source;

// A piece, at a multiple of SLRI_SLAB_ALIGNMENT; its first `stale` bytes may be other than zero. Errors: NO_MEMORY,
// those of the source.
slr_status slri_slabs_take(struct slri_slabs *slabs, uint64_t bytes, struct slri_piece **out, uint64_t *stale);
// Likewise where a slab has room, or NULL: for who must not wait for persistent kernels to end.
struct slri_piece *slri_slabs_try(struct slri_slabs *slabs, uint64_t bytes, uint64_t *stale);
void slri_slabs_give(struct slri_slabs *slabs, struct slri_piece *piece);
bool slri_slabs_have(struct slri_slabs *slabs, const void *memory); // whether that lies in one
static inline unsigned char *slri_piece_address(const struct slri_piece *piece)
{
    return (unsigned char *)piece->chunk->memory + piece->offset;
}

slr_status slri_slabs_renew(struct slri_slabs *slabs); // a part of reopening a device; no group runs
uint64_t slri_slabs_bytes(const struct slri_slabs *slabs);

#endif
