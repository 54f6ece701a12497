// SPDX-License-Identifier: Apache-2.0
/// Pools: reuse of buffers. A released buffer waits in its pool, with its memory, for the next request of its size.
/// Contract: docs/contract/pools.md.
#ifndef SLIPRING_POOL_H
#define SLIPRING_POOL_H

#include <slipring/buffer.h>
#include <slipring/heap.h>
#include <slipring/program.h>

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct slr_pool slr_pool;

/// Options of a pool. Zero means the default; fields are only appended.
typedef struct slr_pool_desc {
    uint32_t struct_size;
    uint32_t reserved;
    const char *name;    ///< for messages and reports; copied, cut to 47 characters. NULL: "pool"
    uint64_t max_bytes;  ///< limit on its buffers, in use and waiting. Default: only the device's limit
    uint64_t keep_bytes; ///< limit on waiting buffers; the excess is freed to the device's heap. Default: 256 MiB
    /// A buffer of the device that the pool divides into slices. If it is bound to a ring kernel, the pool's buffers
    /// can move with messages (docs/contract/references.md). Held until the pool and its buffers are gone. Nothing else
    /// should use it. Default: the device's heap.
    slr_buffer *within;
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

/// A snapshot of a pool. Sizes are those of the buffers' size classes.
typedef struct slr_pool_stats {
    uint64_t max_bytes;        ///< the pool's limit; UINT64_MAX: none
    uint64_t live_bytes, live; ///< buffers in use: bytes; count
    uint64_t peak_bytes;       ///< the high-water mark of live_bytes
    uint64_t kept_bytes, kept; ///< waiting buffers: bytes; count
    uint64_t hits, misses;     ///< requests: served by a waiting buffer; by a new one
    uint64_t refused;          ///< requests refused for lack of memory
    double hit_rate;           ///< hits / (hits + misses); 0 without requests
} slr_pool_stats;

/// Makes a pool of buffers in the device's heap. `desc` may be NULL.
///
/// Threads: any.  Blocks: no.  Owns: the caller gets the pool, which holds its device: slr_pool_destroy.
/// Errors: INVALID (NULL; `within` is of another device), NO_MEMORY.
SLR_API slr_status slr_pool_create(slr_device *device, const slr_pool_desc *desc, slr_pool **out);

/// Releases the pool. Waiting buffers are freed to the heap; buffers in use follow when they are released. NULL is
/// fine.
/// Threads: any, once.  Blocks: no.
SLR_API void slr_pool_destroy(slr_pool *pool);

/// The device's own pool, named "pool". slr_pool_destroy must not be called on it.
/// Threads: any.  Blocks: no.  Owns: the device keeps it.  Errors: INVALID (NULL).
SLR_API slr_status slr_device_get_pool(slr_device *device, slr_pool **out);

/// Gets a buffer of `count` scalars. Its bytes are those of its last user, or zeros. slr_buffer_destroy releases the
/// buffer. When no ring kernel and no work of a stream holds it any more, it waits in the pool for the next request.
///
/// Threads: any.  Blocks: for other threads' calls on the pool; without a waiting buffer, as slr_buffer_create.
/// Owns: the caller gets the buffer: slr_buffer_destroy.
/// Errors: INVALID (NULL, no such scalar, size 0 or above 2^40), NO_MEMORY (names the pool, the bytes requested and
///   free).
SLR_API slr_status slr_pool_acquire(slr_pool *pool, uint64_t count, slr_scalar scalar, slr_buffer **out);

/// The macro slr_pool_acquire calls this function, with its call site for slr_device_desc.on_memory.
SLR_API slr_status slr_pool_acquire_at(slr_pool *pool, uint64_t count, slr_scalar scalar, const char *file,
                                       uint32_t line, slr_buffer **out);
#define slr_pool_acquire(pool, count, scalar, out)                                                                     \
    slr_pool_acquire_at((pool), (count), (scalar), __FILE__, __LINE__, (out))

/// Frees waiting buffers to the heap, the largest first, until at most `keep_bytes` wait. Returns the bytes freed; 0
/// for NULL. slr_heap_trim then returns them to the device.
/// Threads: any.  Blocks: as slr_pool_acquire.
SLR_API uint64_t slr_pool_trim(slr_pool *pool, uint64_t keep_bytes);

/// Threads: any.  Blocks: as slr_pool_acquire.  Errors: INVALID (NULL).
SLR_API slr_status slr_pool_get_stats(slr_pool *pool, slr_pool_stats *out);

/// The macro slr_pool_get_stats calls this function, with the struct's size as `bytes` (docs/contract/abi.md).
SLR_API slr_status slr_pool_get_stats_sized(slr_pool *pool, slr_pool_stats *out, size_t bytes);
#define slr_pool_get_stats(pool, out) slr_pool_get_stats_sized((pool), (out), sizeof(slr_pool_stats))

#ifdef __cplusplus
}
#endif
#endif
