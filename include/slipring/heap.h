// SPDX-License-Identifier: Apache-2.0
/// A heap allocates small pieces of device memory for programs. Contract: docs/contract/pools.md.
///
/// A heap requests chunks of memory from its device and divides the chunks into spans, which programs allocate and
/// free. The heap keeps its own data in host memory, so a heap also works for memory that the host cannot access. When
/// a program frees a span, the heap at once merges the span with the free pieces beside it.
#ifndef SLIPRING_HEAP_H
#define SLIPRING_HEAP_H

#include <slipring/stream.h>

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct slr_heap slr_heap;

/// The options of a heap. A zero in any field of slr_heap_desc means the default. Later versions of slipring only
/// append fields to slr_heap_desc.
typedef struct slr_heap_desc {
    uint32_t struct_size;
    uint32_t keep_apart; ///< 1: freed spans do not merge with their neighbours (only to measure the effect of merging)
    const char *name; ///< the heap's name in messages and reports; slipring copies at most 47 characters. NULL: "heap"
    uint64_t max_bytes;   ///< limit on the bytes of all chunks together, a multiple of 64. Default: no limit
    uint64_t chunk_bytes; ///< usual size of a chunk in bytes (64 to 2^40). Default: 64 MiB
    uint64_t keep_bytes;  ///< the most bytes of empty chunks that the heap keeps. Default: one chunk
    /// slipring calls `on_memory` at each allocation and each free of a span. slr_heap_destroy calls `on_memory` for
    /// each span that is still allocated (a leak). The function `on_memory` may be NULL.
    slr_on_memory *on_memory;
    void *memory_user; ///< the argument `user` of on_memory
} slr_heap_desc;
#ifdef __cplusplus
static inline slr_heap_desc slr_heap_desc_init(void)
{
    slr_heap_desc desc = {};
    desc.struct_size = (uint32_t)sizeof desc;
    return desc;
}
#define SLR_HEAP_DESC_INIT slr_heap_desc_init()
#else
#define SLR_HEAP_DESC_INIT                                                                                             \
    {                                                                                                                  \
        .struct_size = (uint32_t)sizeof(slr_heap_desc)                                                                 \
    }
#endif

/// A span is a piece of device memory that a heap allocated. The caller may copy the struct slr_span. To free a span,
/// the caller passes an slr_span with the contents that slr_heap_take stored.
typedef struct slr_span {
    void *memory;    ///< the span's address on the device; NULL on a device that stores no bytes
    uint64_t bytes;  ///< size of the span: the requested size, rounded up to a multiple of 64
    uint64_t offset; ///< offset of the span in its chunk, in bytes
    uint64_t stale;  ///< the first `stale` bytes of the span may have old contents; all later bytes are zero
    void *piece;     ///< used only by the heap
} slr_span;

/// slr_heap_stats has the counts of a heap at one moment.
typedef struct slr_heap_stats {
    uint64_t max_bytes;  ///< the heap's limit; UINT64_MAX: none
    uint64_t held_bytes; ///< bytes of all chunks of the heap
    uint64_t live_bytes; ///< bytes of all allocated spans
    uint64_t peak_bytes; ///< the maximum of live_bytes so far
    /// Bytes of the spans freed by slr_heap_give_behind whose points (places in a stream's order of work) have not
    /// passed.
    uint64_t behind_bytes;
    uint64_t free_bytes;         ///< held_bytes - live_bytes - behind_bytes
    uint64_t largest_free_bytes; ///< size of the longest free piece: a larger span needs a new chunk
    uint64_t chunks, live_spans; ///< number of chunks; number of allocated spans
    /// Number of spans so far that were allocated, that were freed, and that were refused for lack of memory.
    uint64_t taken, given, refused;
    double fragmentation; ///< 1 - (largest free piece / free bytes); 0 if nothing is free
} slr_heap_stats;

/// Makes a heap of a device. `desc` may be NULL.
/// Threads: any.  Blocks: no.  Owns: the heap keeps its device alive; the caller frees the heap by slr_heap_destroy.
/// Errors: INVALID (a NULL argument, a size outside its range: the error message names the size), NO_MEMORY.
SLR_API slr_status slr_heap_create(slr_device *device, const slr_heap_desc *desc, slr_heap **out);

/// Gives the heap from which the device allocates its buffers. A program can allocate spans from this heap, too. The
/// program must not call slr_heap_destroy for the device's own heap.
/// Threads: any.  Blocks: no.  Owns: the heap belongs to the device.  Errors: INVALID (a NULL argument).
SLR_API slr_status slr_device_get_heap(slr_device *device, slr_heap **out);

/// Destroys the heap, and returns all its chunks to the device. After slr_heap_destroy, all spans of the heap are
/// invalid. If a span was freed by slr_heap_give_behind, and its point (a place in a stream's order of work) has not
/// passed, slipring returns the chunk of that span when the point has passed. If `heap` is NULL, slr_heap_destroy does
/// nothing.
/// Threads: any, once for each heap.  Blocks: no.
SLR_API void slr_heap_destroy(slr_heap *heap);

/// Allocates a span of `bytes` bytes (1 to 2^40) at an address that is a multiple of `alignment` (0: 64; else a power
/// of two up to 2^30).
///
/// Threads: any.  Blocks: while calls of other threads use the heap. If no chunk has room: also while the device
/// allocates a new chunk.
/// Owns: the caller gets the span, and frees it by slr_heap_give.
/// Errors: INVALID (a NULL argument; `bytes` or `alignment` is out of range), NO_MEMORY (the error message has the
///   heap's name, the bytes requested and free, and the longest free piece).
SLR_API slr_status slr_heap_take(slr_heap *heap, uint64_t bytes, uint64_t alignment, slr_span *out);

/// The macro slr_heap_take passes the file and line of its call to slr_heap_take_at; slipring names this file and line
/// in reports of leaks. The text `file` must stay readable as long as the heap exists, as a string literal does.
SLR_API slr_status slr_heap_take_at(slr_heap *heap, uint64_t bytes, uint64_t alignment, const char *file, uint32_t line,
                                    slr_span *out);
#define slr_heap_take(heap, bytes, alignment, out)                                                                     \
    slr_heap_take_at((heap), (bytes), (alignment), __FILE__, __LINE__, (out))

/// Frees a span of the heap.
///
/// Threads: any.  Blocks: as slr_heap_take.
/// Errors: INVALID (a NULL argument; a span that is not allocated, such as a span that was freed already, if the heap
///   can detect this).
SLR_API slr_status slr_heap_give(slr_heap *heap, const slr_span *span);

/// Frees a span when the point `point` has passed, that is, when the point's stream has completed its work up to this
/// point. Until the point has passed, only slr_heap_take_on for the point's stream may use the freed memory again.
///
/// Threads: any.  Blocks: as slr_heap_take.
/// Errors: those of slr_heap_give; INVALID (a point of another device's stream; a point that is not submitted yet),
///   NO_MEMORY (the span is still allocated).
SLR_API slr_status slr_heap_give_behind(slr_heap *heap, const slr_span *span, slr_point point);

/// Works as slr_heap_take, but only later work of `stream` may use the allocated span. The span may use memory that the
/// program freed by slr_heap_give_behind with a point of `stream`, even if this point has not yet passed.
SLR_API slr_status slr_heap_take_on(slr_heap *heap, uint64_t bytes, uint64_t alignment, slr_stream *stream,
                                    slr_span *out);
SLR_API slr_status slr_heap_take_on_at(slr_heap *heap, uint64_t bytes, uint64_t alignment, slr_stream *stream,
                                       const char *file, uint32_t line, slr_span *out);
#define slr_heap_take_on(heap, bytes, alignment, stream, out)                                                          \
    slr_heap_take_on_at((heap), (bytes), (alignment), (stream), __FILE__, __LINE__, (out))

/// Returns all empty chunks of the heap to the device. slr_heap_trim returns the total size of these chunks in bytes,
/// or 0 if `heap` is NULL or belongs to the parent of this process (docs/contract/ownership.md).
/// Threads: any.  Blocks: as slr_heap_take.
SLR_API uint64_t slr_heap_trim(slr_heap *heap);

/// Gives the counts of the heap at this moment.
/// Threads: any.  Blocks: as slr_heap_take.  Errors: INVALID (a NULL argument).
SLR_API slr_status slr_heap_get_stats(slr_heap *heap, slr_heap_stats *out);

/// The macro slr_heap_get_stats calls slr_heap_get_stats_sized with sizeof(slr_heap_stats) as `bytes`
/// (docs/contract/abi.md).
SLR_API slr_status slr_heap_get_stats_sized(slr_heap *heap, slr_heap_stats *out, size_t bytes);
#define slr_heap_get_stats(heap, out) slr_heap_get_stats_sized((heap), (out), sizeof(slr_heap_stats))

/// slr_live_span describes an allocated span that slr_heap_visit reports.
typedef struct slr_live_span {
    void *memory;           ///< as in slr_span
    uint64_t bytes, offset; ///< as in slr_span
    const char *file;       ///< the source file of the call that allocated the span; NULL: unknown
    uint32_t line;          ///< the line of this call in `file`
} slr_live_span;

/// Calls `visit` for every allocated span, chunk by chunk, and within a chunk in the order of the offsets. By
/// slr_heap_visit, a program can report leaks.
///
/// Threads: any.  Blocks: as slr_heap_take. The function `visit` runs while the heap is locked, so it must not call
/// slipring.
/// Errors: INVALID (a NULL argument).
SLR_API slr_status slr_heap_visit(slr_heap *heap, void (*visit)(void *user, const slr_live_span *span), void *user);

#ifdef __cplusplus
}
#endif
#endif
