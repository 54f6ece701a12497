// SPDX-License-Identifier: Apache-2.0
/// Buffers: device memory and its host copy. Contract: docs/contract/memory.md.
#ifndef SLIPRING_BUFFER_H
#define SLIPRING_BUFFER_H

#include <slipring/program.h>

#include <stddef.h>
#include <stdio.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct slr_buffer slr_buffer;

/// How bytes move between the device and the host copy, on a device with its own memory.
typedef enum slr_buffer_mode {
    SLR_BUFFER_AUTOMATIC = 1, ///< slipring copies bytes only when they are needed
    SLR_BUFFER_EXPLICIT = 2,  ///< the program copies bytes, by slr_buffer_sync
    SLR_BUFFER_UNIFIED = 3    ///< no copies: host and device must share memory, else creation fails
} slr_buffer_mode;

/// The kind of memory of a buffer. A device may have memory that it shares with the host, and memory of its own.
typedef enum slr_storage {
    SLR_STORAGE_DEFAULT = 0, ///< the device's usual kind: shared if host and device share memory
    SLR_STORAGE_SHARED = 1,  ///< host and device use the same memory, without copies. Needs unified memory
    SLR_STORAGE_PRIVATE = 2  ///< only the device uses the memory: the buffer has no host copy and cannot be mapped
} slr_storage;

#define SLR_BUFFER_MOST_DIMENSIONS 8

/// How to create a buffer. Zero means the default; fields are only appended.
typedef struct slr_buffer_desc {
    uint32_t struct_size;
    slr_buffer_mode mode;                       ///< default: automatic
    uint64_t bytes;                             ///< 1 to 2^40; default: computed from dtype and shape
    slr_scalar dtype;                           ///< type of the elements; default: none
    uint32_t rank;                              ///< number of dimensions in `shape`, up to SLR_BUFFER_MOST_DIMENSIONS
    uint64_t shape[SLR_BUFFER_MOST_DIMENSIONS]; ///< elements in each dimension; the last dimension is contiguous
    /// Host memory for the buffer, `bytes` long and aligned to 64 bytes. If host and device share memory, it becomes
    /// the buffer's memory; otherwise it becomes the host copy. The bytes at `import` are the buffer's initial
    /// contents. Access this memory only through maps.
    void *import;
    void (*release)(void *user); ///< called once when nothing uses `import` any more; may be NULL
    void *user;
    /// 1: the memory on the host's side is page-locked from the start, so its pages are never swapped out. If host and
    /// device share memory (cpu), the buffer's own memory is locked, and starts on a page. Otherwise the host copy is
    /// locked, and allocated at once. A device with a copy engine (cuda) then copies directly, without a staging
    /// buffer. `pinned` with `import` is allowed only on a device with its own memory whose driver can lock pages
    /// (cuda, vulkan). The imported memory stays pinned until it is released.
    uint32_t pinned;
    uint32_t reserved; ///< ignored
    /// SLR_STORAGE_PRIVATE: slr_buffer_write and slr_buffer_read copy directly; slr_buffer_map and slr_buffer_sync
    /// fail. Private storage excludes `import`, `pinned` and SLR_BUFFER_UNIFIED.
    slr_storage storage;
    uint32_t reserved_too; ///< ignored
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

/// A buffer's properties, and counts of its copies.
typedef struct slr_buffer_info {
    slr_buffer_mode mode;
    uint32_t unified; ///< 1: host and device share memory
    uint64_t bytes;
    slr_scalar dtype;
    uint32_t rank;
    uint64_t shape[SLR_BUFFER_MOST_DIMENSIONS];
    uint64_t uploads, uploaded_bytes;     ///< copies to the device. A slice reports the whole buffer's counts
    uint64_t downloads, downloaded_bytes; ///< copies to the host, by the same rule
    uint32_t pinned;                      ///< 1: page-locked
    slr_storage storage;                  ///< as requested
} slr_buffer_info;

/// Makes a buffer of `bytes` bytes (1 to 2^40). The buffer is zeroed, aligned to 64 bytes, and
/// automatic (SLR_BUFFER_AUTOMATIC).
///
/// Threads: any.  Blocks: no.  Owns: the caller gets the buffer: slr_buffer_destroy.
/// Errors: INVALID (size 0 or too large), NO_MEMORY (the message has the bytes requested and
///   free: docs/contract/pools.md).
SLR_API slr_status slr_buffer_create(slr_device *device, uint64_t bytes, slr_buffer **out);

/// The macro slr_buffer_create calls this function, with its call site for slr_device_desc.on_memory. `file` must stay
/// readable (a literal).
SLR_API slr_status slr_buffer_create_at(slr_device *device, uint64_t bytes, const char *file, uint32_t line,
                                        slr_buffer **out);
#define slr_buffer_create(device, bytes, out) slr_buffer_create_at((device), (bytes), __FILE__, __LINE__, (out))

/// Makes a buffer from a description. The buffer is zeroed unless memory is imported.
/// Threads, Blocks, Owns: as slr_buffer_create.
/// Errors: INVALID (shape, dtype and bytes do not agree; `import` is misaligned or already pinned, or the device cannot
///   pin it: then the program itself can lock the memory), UNSUPPORTED (unified or shared on a device with its own
///   memory; pinned on a device whose pages move), NO_MEMORY (also if the process's limit on locked memory is too low
///   for a pinned buffer: the message names the limit).
SLR_API slr_status slr_buffer_create_with(slr_device *device, const slr_buffer_desc *desc, slr_buffer **out);

/// Makes a slice: a part of a buffer that is used as a buffer. A slice shares its buffer's memory. slipring records
/// each access with its range of the whole buffer, so work on disjoint slices is not ordered. A slice keeps its whole
/// buffer alive. `offset` must be a multiple of 64.
/// Threads: any.  Blocks: no.  Owns: the caller gets the slice: slr_buffer_destroy.
/// Errors: INVALID (`offset`; the range is empty or leaves the buffer), NO_MEMORY.
SLR_API slr_status slr_buffer_slice(slr_buffer *buffer, uint64_t offset, uint64_t bytes, slr_buffer **out);

/// Releases the caller's reference. The memory is freed when no launched ring kernel is bound to the buffer, no
/// submitted work uses the buffer, and no slice of it remains. Unmap every mapping first. NULL does nothing.
/// Threads: any, once.  Blocks: no.
SLR_API void slr_buffer_destroy(slr_buffer *buffer);

/// Copies `bytes` bytes into the buffer at byte `offset`. The call waits for work in flight on these bytes. A handler
/// of a ring kernel that runs at the same time may see any mixture of old and new bytes. A handler sees everything that
/// was written before its message was sent.
///
/// Threads: any.  Blocks: for work in flight on the range, and for the copy.
/// Errors: INVALID (the range leaves the buffer: the message has both sizes), WRONG_STATE (the range is mapped),
///   DEVICE_LOST, or the error of the work in flight.
SLR_API slr_status slr_buffer_write(slr_buffer *buffer, uint64_t offset, const void *from, uint64_t bytes);

/// Copies bytes out of the buffer, by the rules of slr_buffer_write. After a reply has been received, the call sees
/// what the handler of that reply wrote.
SLR_API slr_status slr_buffer_read(slr_buffer *buffer, uint64_t offset, void *to, uint64_t bytes);

// ---- the host copy -------------------------------------------------------------------------------------------------

#define SLR_MAP_READ 1u    ///< the device's writes are visible
#define SLR_MAP_WRITE 2u   ///< bytes that the host does not write keep their values
#define SLR_MAP_DISCARD 4u ///< the host writes the whole range, so nothing is copied from the device

/// Maps a range for the host at `*out`, until slr_buffer_unmap. First the call waits for conflicting work in flight. A
/// mapping for reading conflicts with work that writes the range; a mapping for writing conflicts with all work on the
/// range. Then the call copies bytes that are valid only on the device. While the range is mapped, conflicting work is
/// refused.
///
/// Threads: any; several may read one range.  Blocks: until `timeout_ns`, and for the copy.
/// Owns: the caller gets the mapping: slr_buffer_unmap.
/// Errors: INVALID (range, access), WRONG_STATE (the buffer is private; another mapping conflicts; the call would wait
///   for itself), TIMEOUT, NO_MEMORY, or the error of the work in flight.
SLR_API slr_status slr_buffer_map(slr_buffer *buffer, uint64_t offset, uint64_t bytes, uint32_t access,
                                  uint64_t timeout_ns, void **out);

/// Ends the mapping that begins at `mapped`. The bytes that the host wrote are then valid. The device gets these bytes
/// when it needs them.
/// Threads: any.  Blocks: for the copy, if a ring kernel is bound.
/// Errors: INVALID (not a mapping of this buffer), NO_MEMORY.
SLR_API slr_status slr_buffer_unmap(slr_buffer *buffer, void *mapped);

typedef enum slr_place { SLR_AT_HOST = 1, SLR_AT_DEVICE = 2 } slr_place;

/// Copies the range of an explicit buffer to the side `to` from the other side, even if `to` was written last. If host
/// and device share memory, the call copies nothing.
/// Threads: any.  Blocks: until `timeout_ns` for work in flight, and for the copy.
/// Errors: INVALID (range), WRONG_STATE (not an explicit buffer; private; mapped), TIMEOUT, NO_MEMORY.
SLR_API slr_status slr_buffer_sync(slr_buffer *buffer, uint64_t offset, uint64_t bytes, slr_place to,
                                   uint64_t timeout_ns);

/// Threads: any.  Blocks: no.  Errors: INVALID (NULL).
SLR_API slr_status slr_buffer_get_info(const slr_buffer *buffer, slr_buffer_info *out);

/// The macro slr_buffer_get_info calls this function, with the struct's size as `bytes` (docs/contract/abi.md).
SLR_API slr_status slr_buffer_get_info_sized(const slr_buffer *buffer, slr_buffer_info *out, size_t bytes);
#define slr_buffer_get_info(buffer, out) slr_buffer_get_info_sized((buffer), (out), sizeof(slr_buffer_info))

/// Threads: any.  Blocks: no.  Returns 0 for NULL.
SLR_API uint64_t slr_buffer_size(const slr_buffer *buffer);

// ---- as text ------------------------------------------------------------------------------------------------------

/// How to print a buffer. Zero means the default; fields are only appended.
typedef struct slr_print_desc {
    uint32_t struct_size;
    slr_scalar dtype; ///< type of the elements; default: the buffer's. A different dtype is printed without a shape
    /// Number of elements to print, in one line. Default: all elements, one line per row of the shape and an empty line
    /// between matrices.
    uint64_t count;
    /// Number of elements to print at each end of a dimension longer than twice `edge`, with "..." between the ends.
    /// Default: all elements.
    uint32_t edge;
    uint32_t reserved; ///< ignored
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

/// Formats the buffer's elements as text. Each element gets the shortest form that reads back as the same value, with a
/// '.' in any locale. The buffer is read piece by piece (slr_buffer_read), so the text may show a part of a concurrent
/// write. `out` gets at most `bytes` bytes, NUL included. `*length` (may be NULL) gets the full length without the NUL.
///
/// Threads: any.  Blocks: for work in flight on the buffer.  Owns: nothing; `desc` may be NULL.
/// Errors: INVALID (NULL, no dtype, more elements than the buffer has), or as slr_buffer_read.
SLR_API slr_status slr_buffer_format(slr_buffer *buffer, const slr_print_desc *desc, char *out, size_t bytes,
                                     size_t *length);

/// As slr_buffer_format, but writes the text to a file. Errors: also SYSTEM (the file could not be written).
SLR_API slr_status slr_buffer_print(slr_buffer *buffer, const slr_print_desc *desc, FILE *to);

#ifdef __cplusplus
}
#endif
#endif
