// SPDX-License-Identifier: Apache-2.0
/// Buffers: memory of a device, and the host's view of it. Contract: docs/contract/memory.md.
#ifndef SLIPRING_BUFFER_H
#define SLIPRING_BUFFER_H

#include <slipring/program.h>

#include <stddef.h>
#include <stdio.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct slr_buffer slr_buffer;

/// Who moves bytes between the device and the host's view, where they are not one memory.
typedef enum slr_buffer_mode {
    SLR_BUFFER_AUTOMATIC = 1, ///< slipring, when they are needed where they are not valid, and not before
    SLR_BUFFER_EXPLICIT = 2,  ///< the user: slr_buffer_sync
    SLR_BUFFER_UNIFIED = 3    ///< nobody: only where they are one memory; else such a buffer is refused
} slr_buffer_mode;

#define SLR_BUFFER_MOST_DIMENSIONS 8

/// What a buffer is to be. Zero means the default; fields are only appended.
typedef struct slr_buffer_desc {
    uint32_t struct_size;
    slr_buffer_mode mode;                       ///< default: automatic
    uint64_t bytes;                             ///< 1 to 2^40; default: what dtype and shape make
    slr_scalar dtype;                           ///< of the elements; default: none said
    uint32_t rank;                              ///< dimensions in `shape`, up to SLR_BUFFER_MOST_DIMENSIONS
    uint64_t shape[SLR_BUFFER_MOST_DIMENSIONS]; ///< elements in each dimension, the last lies closest
    void *import; ///< memory of the host to use, `bytes` long, 64-byte aligned: where memory is one it is the buffer's
                  ///< memory, elsewhere the host's view. Its contents are the buffer's. To be used through maps only
    void (*release)(void *user); ///< called once nothing uses `import` any more; may be NULL
    void *user;
    uint32_t pinned; ///< 1: the host's side of it is page-locked from the beginning, so that no page of it is ever
                     ///< swapped out or first touched later. Where memory is one (cpu) that is the buffer, which then
                     ///< begins on a page; elsewhere it is the host's view, which is made at once, and a device with a
                     ///< copy engine of its own (cuda) reads and writes it without a copy between. With `import`: only
                     ///< there; the memory is pinned until it is released
} slr_buffer_desc;
#ifdef __cplusplus
static inline slr_buffer_desc slr_buffer_desc_init(void)
{
    slr_buffer_desc desc = {};
    desc.struct_size = (uint32_t)sizeof desc;
    return desc;
}
#define SLR_BUFFER_DESC_INIT slr_buffer_desc_init()
#else
#define SLR_BUFFER_DESC_INIT                                                                                           \
    {                                                                                                                  \
        .struct_size = (uint32_t)sizeof(slr_buffer_desc)                                                               \
    }
#endif

/// What a buffer is, and what has been moved for it.
typedef struct slr_buffer_info {
    slr_buffer_mode mode;
    uint32_t unified; ///< 1: host and device use the same memory
    uint64_t bytes;
    slr_scalar dtype;
    uint32_t rank;
    uint64_t shape[SLR_BUFFER_MOST_DIMENSIONS];
    uint64_t uploads, uploaded_bytes;     ///< from the host to the device; of the whole buffer, also for a slice
    uint64_t downloads, downloaded_bytes; ///< and back
    uint32_t pinned;                      ///< 1: page-locked
} slr_buffer_info;

/// Makes a buffer of `bytes` bytes (1 to 2^40), zeroed, aligned to 64, automatic.
///
/// Threads: any.  Blocks: no.  Owns: the caller gets the buffer: slr_buffer_destroy.
/// Errors: INVALID (size 0 or too large), NO_MEMORY (names the bytes asked and what is free: docs/contract/pools.md).
SLR_API slr_status slr_buffer_create(slr_device *device, uint64_t bytes, slr_buffer **out);

/// The same, noting where: for who watches the device's memory. `file` must stay readable (a literal).
/// slr_buffer_create is a macro for this.
SLR_API slr_status slr_buffer_create_at(slr_device *device, uint64_t bytes, const char *file, uint32_t line,
                                        slr_buffer **out);
#define slr_buffer_create(device, bytes, out) slr_buffer_create_at((device), (bytes), __FILE__, __LINE__, (out))

/// The same as a description says; zeroed unless memory is imported.
/// Threads, Blocks, Owns: as slr_buffer_create.
/// Errors: INVALID (shape, dtype and bytes do not agree; an import that is not aligned, that is pinned already, or that
/// is to be pinned by a device that cannot: its owner can lock it), UNSUPPORTED (unified, on a device with memory of
/// its own; pinned, on one whose pages move), NO_MEMORY (also: pinned, and beyond what the process may lock; the
/// message names that limit).
SLR_API slr_status slr_buffer_create_with(slr_device *device, const slr_buffer_desc *desc, slr_buffer **out);

/// A part of a buffer as a buffer of its own: the same memory and the same record, so that work on parts that do not
/// overlap is not ordered. Keeps the whole. `offset` must be a multiple of 64.
/// Threads: any.  Blocks: no.  Owns: the caller gets the slice: slr_buffer_destroy.
/// Errors: INVALID (the range leaves the buffer, or is empty; offset), NO_MEMORY.
SLR_API slr_status slr_buffer_slice(slr_buffer *buffer, uint64_t offset, uint64_t bytes, slr_buffer **out);

/// Releases the caller's hold. The memory goes when no launched ring kernel is bound to it, no submitted work uses it
/// and no slice is left. What is mapped must be unmapped first. NULL is fine.
/// Threads: any, once.  Blocks: no.
SLR_API void slr_buffer_destroy(slr_buffer *buffer);

/// Copies `bytes` bytes into the buffer from byte `offset`. Work in flight on these bytes is waited for. A ring
/// kernel's handler that runs meanwhile sees any mixture of old and new bytes; what happened before a message was sent
/// is visible to its handler.
///
/// Threads: any.  Blocks: for work in flight on the range, and the copy.
/// Errors: INVALID (the range leaves the buffer: names both), WRONG_STATE (the range is mapped), DEVICE_LOST, or what
/// failed in flight.
SLR_API slr_status slr_buffer_write(slr_buffer *buffer, uint64_t offset, const void *from, uint64_t bytes);

/// Copies out of the buffer, likewise. Acquiring a reply makes what its handler wrote visible.
SLR_API slr_status slr_buffer_read(slr_buffer *buffer, uint64_t offset, void *to, uint64_t bytes);

// ---- the host's view -----------------------------------------------------------------------------------------------

#define SLR_MAP_READ 1u    ///< what the device has written is there
#define SLR_MAP_WRITE 2u   ///< what is not written stays as it was
#define SLR_MAP_DISCARD 4u ///< all of the range will be written: it need not be fetched

/// Lets the host work on a range at `*out`, until slr_buffer_unmap. Waits for work in flight that stands against it (to
/// read: work that writes the range; to write: all on the range), and fetches what is valid on the device only. While
/// it is mapped, work that stands against it is refused.
///
/// Threads: any; several may read one range.  Blocks: until `timeout_ns`, and for the copy.
/// Owns: the caller gets the mapping: slr_buffer_unmap.
/// Errors: INVALID (range, access), WRONG_STATE (mapped by others and one of both writes; would wait for itself),
/// TIMEOUT, NO_MEMORY, or what failed in flight.
SLR_API slr_status slr_buffer_map(slr_buffer *buffer, uint64_t offset, uint64_t bytes, uint32_t access,
                                  uint64_t timeout_ns, void **out);

/// Ends the mapping that begins at `mapped`; what was written is published: the device gets it when it needs it.
/// Threads: any.  Blocks: where a ring kernel is bound, for the copy.
/// Errors: INVALID (not a mapping of this buffer), NO_MEMORY.
SLR_API slr_status slr_buffer_unmap(slr_buffer *buffer, void *mapped);

typedef enum slr_place { SLR_AT_HOST = 1, SLR_AT_DEVICE = 2 } slr_place;

/// Explicit buffers: copies the range to `to` from the other place, whatever was written where. Nothing is copied where
/// memory is one.  Threads: any.  Blocks: until `timeout_ns` for work in flight, and for the copy.
/// Errors: INVALID (range), WRONG_STATE (not an explicit buffer; mapped), TIMEOUT, NO_MEMORY.
SLR_API slr_status slr_buffer_sync(slr_buffer *buffer, uint64_t offset, uint64_t bytes, slr_place to,
                                   uint64_t timeout_ns);

/// Threads: any.  Blocks: no.  Errors: INVALID (NULL).
SLR_API slr_status slr_buffer_get_info(const slr_buffer *buffer, slr_buffer_info *out);

/// Threads: any.  Blocks: no.  Returns 0 for NULL.
SLR_API uint64_t slr_buffer_size(const slr_buffer *buffer);

// ---- as text --------------------------------------------------------------------------------------------------------

/// How a buffer is printed. Zero means the default; fields are only appended.
typedef struct slr_print_desc {
    uint32_t struct_size;
    slr_scalar dtype; ///< of the elements; default: the buffer's. Another than that is printed without a shape
    uint64_t count;   ///< only so many elements, in one line; default: all, a line for each row of the shape, an empty
                      ///< line between matrices
    uint32_t edge;    ///< of each dimension longer than twice that only so many at both ends, "..." between; default:
                      ///< all
} slr_print_desc;
#ifdef __cplusplus
static inline slr_print_desc slr_print_desc_init(void)
{
    slr_print_desc desc = {};
    desc.struct_size = (uint32_t)sizeof desc;
    return desc;
}
#define SLR_PRINT_DESC_INIT slr_print_desc_init()
#else
#define SLR_PRINT_DESC_INIT                                                                                            \
    {                                                                                                                  \
        .struct_size = (uint32_t)sizeof(slr_print_desc)                                                                \
    }
#endif

/// The buffer's elements as text, each the shortest that reads back as the same value; a '.' in any locale. It is read
/// piece by piece (slr_buffer_read): what is written meanwhile may show in part. `out` gets at most `bytes`, with the
/// NUL; `*length` (may be NULL) is how long all of it is, without.
///
/// Threads: any.  Blocks: for work in flight on the buffer.  Owns: nothing; `desc` may be NULL.
/// Errors: INVALID (NULL, no dtype, more elements than there are), or as slr_buffer_read.
SLR_API slr_status slr_buffer_format(slr_buffer *buffer, const slr_print_desc *desc, char *out, size_t bytes,
                                     size_t *length);

/// The same, to a file. Errors: also SYSTEM (the file would not have it).
SLR_API slr_status slr_buffer_print(slr_buffer *buffer, const slr_print_desc *desc, FILE *to);

#ifdef __cplusplus
}
#endif
#endif
