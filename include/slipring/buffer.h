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
    SLR_BUFFER_AUTOMATIC = 1, ///< slipring copies bytes when they are needed and not before
    SLR_BUFFER_EXPLICIT = 2,  ///< the user copies bytes: slr_buffer_sync
    SLR_BUFFER_UNIFIED = 3    ///< no copies: host and device must share memory, else creation fails
} slr_buffer_mode;

/// The memory of a buffer, on a device that has memory of its own besides the memory that it shares with the host.
typedef enum slr_storage {
    SLR_STORAGE_DEFAULT = 0, ///< as the device does: shared where host and device share memory
    SLR_STORAGE_SHARED = 1,  ///< both address it, and nothing is copied: needs unified memory
    SLR_STORAGE_PRIVATE = 2  ///< the device's alone: it has no host copy, and cannot be mapped
} slr_storage;

#define SLR_BUFFER_MOST_DIMENSIONS 8

/// How to create a buffer. Zero means the default; fields are only appended.
typedef struct slr_buffer_desc {
    uint32_t struct_size;
    slr_buffer_mode mode;                       ///< default: automatic
    uint64_t bytes;                             ///< 1 to 2^40; default: computed from dtype and shape
    slr_scalar dtype;                           ///< of the elements; default: none
    uint32_t rank;                              ///< number of dimensions in `shape`, up to SLR_BUFFER_MOST_DIMENSIONS
    uint64_t shape[SLR_BUFFER_MOST_DIMENSIONS]; ///< elements in each dimension; the last dimension is contiguous
    /// Host memory to use, `bytes` long and aligned to 64 bytes. If host and device share memory, it becomes the
    /// buffer's memory, else the host copy. It holds the buffer's initial contents. Access it only through maps.
    void *import;
    void (*release)(void *user); ///< called once when nothing uses `import` any more; may be NULL
    void *user;
    /// 1: the host side is page-locked from the start: its pages are never swapped out. If host and device share memory
    /// (cpu), that is the buffer itself, which then starts on a page. Otherwise it is the host copy, allocated at once;
    /// a device with a copy engine (cuda) then copies directly, without a staging buffer. With `import`: allowed only
    /// where host and device share memory; the memory stays pinned until it is released.
    uint32_t pinned;
    uint32_t reserved; ///< ignored
    /// Private: slr_buffer_write and slr_buffer_read copy directly; slr_buffer_map and slr_buffer_sync are refused. Not
    /// with `import`, `pinned` or a unified `mode`.
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

/// A buffer's properties, and the copies made for it.
typedef struct slr_buffer_info {
    slr_buffer_mode mode;
    uint32_t unified; ///< 1: host and device share memory
    uint64_t bytes;
    slr_scalar dtype;
    uint32_t rank;
    uint64_t shape[SLR_BUFFER_MOST_DIMENSIONS];
    uint64_t uploads, uploaded_bytes;     ///< copies from the host to the device; of the whole buffer, also for a slice
    uint64_t downloads, downloaded_bytes; ///< copies from the device to the host
    uint32_t pinned;                      ///< 1: page-locked
    slr_storage storage;                  ///< as it was asked for
} slr_buffer_info;

/// Makes a buffer of `bytes` bytes (1 to 2^40): zeroed, aligned to 64, automatic.
///
/// Threads: any.  Blocks: no.  Owns: the caller gets the buffer: slr_buffer_destroy.
/// Errors: INVALID (size 0 or too large), NO_MEMORY (gives the bytes requested and free: docs/contract/pools.md).
SLR_API slr_status slr_buffer_create(slr_device *device, uint64_t bytes, slr_buffer **out);

/// The macro slr_buffer_create calls this function, with its call site for slr_device_desc.on_memory. `file` must stay
/// readable (a literal).
SLR_API slr_status slr_buffer_create_at(slr_device *device, uint64_t bytes, const char *file, uint32_t line,
                                        slr_buffer **out);
#define slr_buffer_create(device, bytes, out) slr_buffer_create_at((device), (bytes), __FILE__, __LINE__, (out))

/// Makes a buffer from a description. The buffer is zeroed unless memory is imported.
/// Threads, Blocks, Owns: as slr_buffer_create.
/// Errors: INVALID (shape, dtype and bytes do not agree; `import` is misaligned, already pinned, or to be pinned by a
///   device that cannot do so: its owner can lock it),
///   UNSUPPORTED (unified or shared on a device with its own memory; pinned on a device whose pages move),
///   NO_MEMORY (also: pinned, and beyond the process's limit on locked memory, which the message names).
SLR_API slr_status slr_buffer_create_with(slr_device *device, const slr_buffer_desc *desc, slr_buffer **out);

/// Makes a slice: a part of a buffer that is used as a buffer. It shares the memory and the record of accesses, so work
/// on disjoint parts is not ordered. The slice holds the whole buffer. `offset` must be a multiple of 64.
/// Threads: any.  Blocks: no.  Owns: the caller gets the slice: slr_buffer_destroy.
/// Errors: INVALID (`offset`; the range is empty or leaves the buffer), NO_MEMORY.
SLR_API slr_status slr_buffer_slice(slr_buffer *buffer, uint64_t offset, uint64_t bytes, slr_buffer **out);

/// Releases the caller's reference. The memory is freed when no launched ring kernel is bound to it, no submitted work
/// uses it and no slice remains. Unmap every mapping first. NULL does nothing.
/// Threads: any, once.  Blocks: no.
SLR_API void slr_buffer_destroy(slr_buffer *buffer);

/// Copies `bytes` bytes into the buffer at byte `offset`. Waits for work in flight on these bytes. A handler of a ring
/// kernel that runs at the same time may see any mixture of old and new bytes. A handler sees everything that happened
/// before its message was sent.
///
/// Threads: any.  Blocks: for work in flight on the range, and for the copy.
/// Errors: INVALID (the range leaves the buffer: gives both), WRONG_STATE (the range is mapped), DEVICE_LOST, or the
///   error of the work in flight.
SLR_API slr_status slr_buffer_write(slr_buffer *buffer, uint64_t offset, const void *from, uint64_t bytes);

/// Copies bytes out of the buffer, under the same rules. After a reply is received, the writes of its handler are
/// visible.
SLR_API slr_status slr_buffer_read(slr_buffer *buffer, uint64_t offset, void *to, uint64_t bytes);

// ---- the host copy -------------------------------------------------------------------------------------------------

#define SLR_MAP_READ 1u    ///< the device's writes are visible
#define SLR_MAP_WRITE 2u   ///< bytes that the host does not write keep their values
#define SLR_MAP_DISCARD 4u ///< the host writes the whole range, so nothing is copied from the device

/// Maps a range for the host at `*out`, until slr_buffer_unmap. First it waits for conflicting work in flight: to read,
/// work that writes the range; to write, all work on the range. Then it copies bytes that are valid only on the device.
/// While the range is mapped, conflicting work is refused.
///
/// Threads: any; several may read one range.  Blocks: until `timeout_ns`, and for the copy.
/// Owns: the caller gets the mapping: slr_buffer_unmap.
/// Errors: INVALID (range, access), WRONG_STATE (the buffer is private; another mapping conflicts; the call would wait
///   for itself), TIMEOUT, NO_MEMORY, or the error of the work in flight.
SLR_API slr_status slr_buffer_map(slr_buffer *buffer, uint64_t offset, uint64_t bytes, uint32_t access,
                                  uint64_t timeout_ns, void **out);

/// Ends the mapping that begins at `mapped`. What the host wrote into the mapping is then valid: the device gets these
/// bytes when it needs them.
/// Threads: any.  Blocks: for the copy, if a ring kernel is bound.
/// Errors: INVALID (not a mapping of this buffer), NO_MEMORY.
SLR_API slr_status slr_buffer_unmap(slr_buffer *buffer, void *mapped);

typedef enum slr_place { SLR_AT_HOST = 1, SLR_AT_DEVICE = 2 } slr_place;

/// For explicit buffers: copies the range to `to` from the other side, whichever side was written last. Copies nothing
/// if host and device share memory.
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
    slr_scalar dtype; ///< of the elements; default: the buffer's. A different dtype is printed without a shape
    /// Number of elements to print, in one line. Default: all elements, one line per row of the shape and an empty line
    /// between matrices.
    uint64_t count;
    /// Elements to print at both ends of each dimension longer than twice `edge`, with "..." between. Default: all.
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
/// '.' in any locale. The buffer is read piece by piece (slr_buffer_read), so concurrent writes may show in part. `out`
/// gets at most `bytes` bytes, NUL included. `*length` (may be NULL) gets the full length without the NUL.
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
