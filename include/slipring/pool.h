// SPDX-License-Identifier: Apache-2.0
/// A pool keeps released buffers, so that a program can use them again. A released buffer waits in its pool, with its
/// memory, for the next request of the same size. Contract: docs/contract/pools.md.
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

/// The options of a pool. A zero in any field of slr_pool_desc means the default. Later versions of slipring only
/// append fields to slr_pool_desc.
typedef struct slr_pool_desc {
    uint32_t struct_size;
    uint32_t reserved;
    /// Name of the pool in error messages and reports; slipring copies at most 47 characters. NULL: "pool".
    const char *name;
    uint64_t max_bytes;  ///< limit on the bytes of the pool's buffers, in use or waiting. Default: the device's limit
    uint64_t keep_bytes; ///< limit on the bytes of waiting buffers; the pool frees waiting buffers above this limit.
                         ///< Default: 256 MiB
    /// If `within` is set, the pool makes its buffers as slices of `within`, a buffer of the pool's device. If `within`
    /// is bound to a ring kernel (passed to its message handler), messages can carry the ownership of the pool's
    /// buffers (docs/contract/references.md). Nothing except the pool should use the buffer `within`. `within` stays
    /// alive until the pool and all buffers from the pool are released. By default the pool uses the device's heap.
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

/// The struct slr_pool_stats holds the counts of a pool at one moment. The pool rounds the size of each buffer up to a
/// size class (one of a few sizes), and its counts of bytes are sums of these rounded sizes.
typedef struct slr_pool_stats {
    uint64_t max_bytes;        ///< limit on the bytes of the pool's buffers; UINT64_MAX: no limit
    uint64_t live_bytes, live; ///< `live`: number of buffers in use; `live_bytes`: their bytes
    uint64_t peak_bytes;       ///< the highest value that live_bytes has had
    uint64_t kept_bytes, kept; ///< `kept`: number of waiting buffers; `kept_bytes`: their bytes
    uint64_t hits, misses;     ///< `hits`: requests that got a waiting buffer; `misses`: requests that got a new buffer
    uint64_t refused;          ///< requests refused for lack of memory
    double hit_rate;           ///< hits / (hits + misses); 0 without requests
} slr_pool_stats;

/// Makes a pool. The pool's buffers come from the device's heap, unless desc->within is set. `desc` may be NULL.
///
/// Threads: any.  Blocks: no.  Owns: the pool keeps its device alive; the caller frees the pool by slr_pool_destroy.
/// Errors: INVALID (a NULL argument; `within` is of another device), NO_MEMORY.
SLR_API slr_status slr_pool_create(slr_device *device, const slr_pool_desc *desc, slr_pool **out);

/// Releases the pool object. slr_pool_destroy returns the buffers that wait in the pool to the heap. Buffers of the
/// pool that are still in use are freed when they are released. If `pool` is NULL, slr_pool_destroy does nothing.
/// Threads: any, once.  Blocks: no.
SLR_API void slr_pool_destroy(slr_pool *pool);

/// Gives the device's own pool, whose name is "pool". The program must not call slr_pool_destroy for the device's own
/// pool.
/// Threads: any.  Blocks: no.  Owns: the device owns the pool.  Errors: INVALID (a NULL argument).
SLR_API slr_status slr_device_get_pool(slr_device *device, slr_pool **out);

/// Gets a buffer of `count` scalars from the pool. A buffer from a pool contains the bytes that its last user left, or
/// zeros. slr_buffer_destroy releases the buffer. When no ring kernel and no stream uses a released buffer any more,
/// the buffer waits in the pool for the next request.
///
/// Threads: any.  Blocks: while other threads' calls use the pool. If no buffer waits in the pool, slr_pool_acquire
/// blocks like slr_buffer_create.
/// Owns: the caller gets the buffer, and frees it by slr_buffer_destroy.
/// Errors: INVALID (a NULL argument; an unknown scalar; a size of 0 or above 2^40), NO_MEMORY (the error message has
///   the pool's name, and the bytes requested and free).
SLR_API slr_status slr_pool_acquire(slr_pool *pool, uint64_t count, slr_scalar scalar, slr_buffer **out);

/// The macro slr_pool_acquire passes the file and line of its call to slr_pool_acquire_at. slipring reports this file
/// and line to slr_device_desc.on_memory.
SLR_API slr_status slr_pool_acquire_at(slr_pool *pool, uint64_t count, slr_scalar scalar, const char *file,
                                       uint32_t line, slr_buffer **out);
#define slr_pool_acquire(pool, count, scalar, out)                                                                     \
    slr_pool_acquire_at((pool), (count), (scalar), __FILE__, __LINE__, (out))

/// Returns buffers that wait in the pool to the heap, the largest first, until the waiting buffers take at most
/// `keep_bytes` bytes. slr_pool_trim returns the number of bytes that it freed, or 0 if `pool` is NULL. slr_heap_trim
/// can then return the freed memory to the device.
/// Threads: any.  Blocks: as slr_pool_acquire.
SLR_API uint64_t slr_pool_trim(slr_pool *pool, uint64_t keep_bytes);

/// Threads: any.  Blocks: as slr_pool_acquire.  Errors: INVALID (a NULL argument).
SLR_API slr_status slr_pool_get_stats(slr_pool *pool, slr_pool_stats *out);

/// The macro slr_pool_get_stats calls slr_pool_get_stats_sized with `sizeof(slr_pool_stats)` as `bytes`
/// (docs/contract/abi.md).
SLR_API slr_status slr_pool_get_stats_sized(slr_pool *pool, slr_pool_stats *out, size_t bytes);
#define slr_pool_get_stats(pool, out) slr_pool_get_stats_sized((pool), (out), sizeof(slr_pool_stats))

#ifdef __cplusplus
}
#endif
#endif
