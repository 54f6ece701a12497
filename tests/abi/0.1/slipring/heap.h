// SPDX-License-Identifier: Apache-2.0
/// Heaps: pieces of a device's memory, without asking the device for each. Contract: docs/contract/pools.md.
///
/// A heap takes chunks of memory from its device and cuts spans out of them. What it knows of them it keeps on the
/// host, so that it works for memory that the host cannot touch. Spans that are given back join their free neighbours
/// at once.
#ifndef SLIPRING_HEAP_H
#define SLIPRING_HEAP_H

#include <slipring/stream.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct slr_heap slr_heap;

/// What a heap is made with. Zero means the default; fields are only appended.
typedef struct slr_heap_desc {
    uint32_t struct_size;
    uint32_t keep_apart;  ///< 1: spans given back do not join their neighbours (only to see what joining is good for)
    const char *name;     ///< in messages and reports; copied, cut to 47 characters; NULL: "heap"
    uint64_t max_bytes;   ///< that it ever holds of its device; a multiple of 64. Default: no limit
    uint64_t chunk_bytes; ///< that it asks its device for at a time, at least (64 to 2^40). Default: 64 MiB
    uint64_t keep_bytes;  ///< of empty chunks that it keeps. Default: one chunk
    slr_on_memory *on_memory; ///< NULL, or told of each span, and when it is destroyed of what is left
    void *memory_user;        ///< for it
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

/// A piece of a device's memory. Yours to copy; give back as it was.
typedef struct slr_span {
    void *memory;    ///< the device's address; NULL on a device that stores nothing
    uint64_t bytes;  ///< what was asked, rounded up to a multiple of 64
    uint64_t offset; ///< in its chunk
    uint64_t stale;  ///< the first bytes of it, so many, may hold what was in them before; those behind are zero
    void *piece;     ///< the heap's
} slr_span;

/// What a heap holds, at one moment.
typedef struct slr_heap_stats {
    uint64_t max_bytes;          ///< its limit; UINT64_MAX: none
    uint64_t held_bytes;         ///< in chunks of its device
    uint64_t live_bytes;         ///< in spans taken and not given back
    uint64_t peak_bytes;         ///< the most that live_bytes was
    uint64_t behind_bytes;       ///< given back behind points that have not passed
    uint64_t free_bytes;         ///< held - live - behind
    uint64_t largest_free_bytes; ///< the longest free piece: what can be taken at alignment 64 without another chunk
    uint64_t chunks, live_spans;
    uint64_t taken, given, refused; ///< spans so far; refused: out of memory
    double fragmentation;           ///< 1 - largest_free / free; 0 where nothing is free
} slr_heap_stats;

/// Threads: any.  Blocks: no.  Owns: the caller gets the heap: slr_heap_destroy. It holds its device.
/// Errors: INVALID (NULL, a size outside its range: names it), NO_MEMORY.
SLR_API slr_status slr_heap_create(slr_device *device, const slr_heap_desc *desc, slr_heap **out);

/// The heap that the device's buffers come from, for spans beside them. slr_heap_destroy must not be called on it.
/// Threads: any.  Blocks: no.  Owns: the device's.  Errors: INVALID (NULL).
SLR_API slr_status slr_device_get_heap(slr_device *device, slr_heap **out);

/// Gives all chunks back to the device, but those with spans behind points only when these have passed; spans that are
/// still taken are gone with them. NULL is fine.
/// Threads: any, once.  Blocks: no.
SLR_API void slr_heap_destroy(slr_heap *heap);

/// Takes `bytes` bytes (1 to 2^40) at a multiple of `alignment` (0: 64; else a power of two up to 2^30).
///
/// Threads: any.  Blocks: for other threads' calls on the heap; while the device makes a chunk, where none has room.
/// Owns: the caller gets the span: slr_heap_give.
/// Errors: INVALID, NO_MEMORY (names the heap, what was asked, what is free and the longest free piece).
SLR_API slr_status slr_heap_take(slr_heap *heap, uint64_t bytes, uint64_t alignment, slr_span *out);

/// The same, noting where: for leak reports. `file` must stay readable (a literal). slr_heap_take is a macro for this.
SLR_API slr_status slr_heap_take_at(slr_heap *heap, uint64_t bytes, uint64_t alignment, const char *file, uint32_t line,
                                    slr_span *out);
#define slr_heap_take(heap, bytes, alignment, out)                                                                     \
    slr_heap_take_at((heap), (bytes), (alignment), __FILE__, __LINE__, (out))

/// Gives a span back.
///
/// Threads: any.  Blocks: as slr_heap_take.
/// Errors: INVALID (NULL; a span that is not taken, such as one given back before, where that can be seen).
SLR_API slr_status slr_heap_give(slr_heap *heap, const slr_span *span);

/// Gives a span back behind `point`: before it has passed, only slr_heap_take_on for its stream gives the memory again.
///
/// Threads: any.  Blocks: as slr_heap_take.
/// Errors: as slr_heap_give; INVALID (a point of another device's stream, or not submitted yet), NO_MEMORY (then the
/// span is still taken).
SLR_API slr_status slr_heap_give_behind(slr_heap *heap, const slr_span *span, slr_point point);

/// As slr_heap_take, for what only the work submitted to `stream` from here on uses: also what was given back behind
/// the stream's points that have not passed.
SLR_API slr_status slr_heap_take_on(slr_heap *heap, uint64_t bytes, uint64_t alignment, slr_stream *stream,
                                    slr_span *out);
SLR_API slr_status slr_heap_take_on_at(slr_heap *heap, uint64_t bytes, uint64_t alignment, slr_stream *stream,
                                       const char *file, uint32_t line, slr_span *out);
#define slr_heap_take_on(heap, bytes, alignment, stream, out)                                                          \
    slr_heap_take_on_at((heap), (bytes), (alignment), (stream), __FILE__, __LINE__, (out))

/// Gives empty chunks back to the device, all of them. Returns their bytes; 0 for NULL.
/// Threads: any.  Blocks: as slr_heap_take.
SLR_API uint64_t slr_heap_trim(slr_heap *heap);

/// Threads: any.  Blocks: as slr_heap_take.  Errors: INVALID (NULL).
SLR_API slr_status slr_heap_get_stats(slr_heap *heap, slr_heap_stats *out);

/// A span that is taken, as slr_heap_visit tells of it.
typedef struct slr_live_span {
    void *memory;
    uint64_t bytes, offset;
    const char *file; ///< where it was taken, or NULL
    uint32_t line;
} slr_live_span;

/// Calls `visit` for every span that is taken, chunk by chunk, in the order of their offsets: a leak report is this.
///
/// Threads: any.  Blocks: as slr_heap_take; `visit` runs with the heap locked and must not call slipring.
/// Errors: INVALID (NULL).
SLR_API slr_status slr_heap_visit(slr_heap *heap, void (*visit)(void *user, const slr_live_span *span), void *user);

#ifdef __cplusplus
}
#endif
#endif
