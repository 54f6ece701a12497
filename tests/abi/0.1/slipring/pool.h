// SPDX-License-Identifier: Apache-2.0
/// Pools: buffers that are used again. A buffer that is let go of waits in its pool for the next one who wants one of
/// its size, with its memory and all. Contract: docs/contract/pools.md.
#ifndef SLIPRING_POOL_H
#define SLIPRING_POOL_H

#include <slipring/buffer.h>
#include <slipring/heap.h>
#include <slipring/program.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct slr_pool slr_pool;

/// What a pool is made with. Zero means the default; fields are only appended.
typedef struct slr_pool_desc {
    uint32_t struct_size;
    uint32_t reserved;
    const char *name;    ///< in messages and reports; copied, cut to 47 characters; NULL: "pool"
    uint64_t max_bytes;  ///< of its buffers, in use and waiting. Default: no limit but the device's
    uint64_t keep_bytes; ///< of those that wait; what is more goes back to the device's heap. Default: 256 MiB
} slr_pool_desc;
#ifdef __cplusplus
static inline slr_pool_desc slr_pool_desc_init(void)
{
    slr_pool_desc desc = {};
    desc.struct_size = (uint32_t)sizeof desc;
    return desc;
}
#define SLR_POOL_DESC_INIT slr_pool_desc_init()
#else
#define SLR_POOL_DESC_INIT                                                                                             \
    {                                                                                                                  \
        .struct_size = (uint32_t)sizeof(slr_pool_desc)                                                                 \
    }
#endif

/// What a pool holds, at one moment. Sizes are those of the buffers' size classes.
typedef struct slr_pool_stats {
    uint64_t max_bytes;        ///< its limit; UINT64_MAX: none
    uint64_t live_bytes, live; ///< of buffers in use; how many
    uint64_t peak_bytes;       ///< the high-water mark: the most that live_bytes was
    uint64_t kept_bytes, kept; ///< of buffers that wait; how many
    uint64_t hits, misses;     ///< acquired from those that waited, and made anew
    uint64_t refused;          ///< out of memory
    double hit_rate;           ///< hits / (hits + misses); 0 of none
} slr_pool_stats;

/// Makes a pool of buffers in the device's heap.
///
/// Threads: any.  Blocks: no.  Owns: the caller gets the pool: slr_pool_destroy. It holds its device.
/// Errors: INVALID (NULL), NO_MEMORY.
SLR_API slr_status slr_pool_create(slr_device *device, const slr_pool_desc *desc, slr_pool **out);

/// Gives up the pool: what waits goes back to the heap; buffers in use go on and go there when they are let go of. NULL
/// is fine. Threads: any, once.  Blocks: no.
SLR_API void slr_pool_destroy(slr_pool *pool);

/// The pool that each device has, named "pool". slr_pool_destroy must not be called on it.
/// Threads: any.  Blocks: no.  Owns: the device's.  Errors: INVALID (NULL).
SLR_API slr_status slr_device_get_pool(slr_device *device, slr_pool **out);

/// A buffer of `count` scalars, whose bytes are what its last user left, or zeros. slr_buffer_destroy lets go of it:
/// when nothing else holds it, no ring kernel and no work of a stream, it waits in the pool for the next one.
///
/// Threads: any.  Blocks: for other threads' calls on the pool; where none waits, as slr_buffer_create.
/// Owns: the caller gets the buffer: slr_buffer_destroy.
/// Errors: INVALID (NULL, no such scalar, size 0 or above 2^40), NO_MEMORY (names the pool, what was asked, what is
/// free).
SLR_API slr_status slr_pool_acquire(slr_pool *pool, uint64_t count, slr_scalar scalar, slr_buffer **out);

/// The same, noting where: for who watches the device's memory. slr_pool_acquire is a macro for this.
SLR_API slr_status slr_pool_acquire_at(slr_pool *pool, uint64_t count, slr_scalar scalar, const char *file,
                                       uint32_t line, slr_buffer **out);
#define slr_pool_acquire(pool, count, scalar, out)                                                                     \
    slr_pool_acquire_at((pool), (count), (scalar), __FILE__, __LINE__, (out))

/// Gives waiting buffers back to the heap, the largest first, until at most `keep_bytes` wait. Returns the bytes given
/// back; 0 for NULL. slr_heap_trim gives them on to the device.
/// Threads: any.  Blocks: as slr_pool_acquire.
SLR_API uint64_t slr_pool_trim(slr_pool *pool, uint64_t keep_bytes);

/// Threads: any.  Blocks: as slr_pool_acquire.  Errors: INVALID (NULL).
SLR_API slr_status slr_pool_get_stats(slr_pool *pool, slr_pool_stats *out);

#ifdef __cplusplus
}
#endif
#endif
