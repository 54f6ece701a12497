// SPDX-License-Identifier: Apache-2.0
/// A buffer is memory of a device. If host and device have separate memories, the buffer also has a copy of the bytes
/// in the host's memory: the host copy. Contract: docs/contract/memory.md.
#ifndef SLIPRING_BUFFER_H
#define SLIPRING_BUFFER_H

#include <slipring/program.h>

#include <stddef.h>
#include <stdio.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct slr_buffer slr_buffer;

/// The mode of a buffer says who copies bytes between the device's memory and the host copy, if the device has its own
/// memory.
typedef enum slr_buffer_mode {
    /// slipring copies bytes to the host or to the device when the host or the device needs them.
    SLR_BUFFER_AUTOMATIC = 1,
    SLR_BUFFER_EXPLICIT = 2, ///< the program copies bytes, by slr_buffer_sync
    SLR_BUFFER_UNIFIED = 3   ///< no copies: host and device must share memory, else the creation of the buffer fails
} slr_buffer_mode;

/// The enum slr_storage says which kind of memory a buffer uses. A device may have memory that it shares with the host,
/// and also memory of its own.
typedef enum slr_storage {
    /// The default is shared memory if host and device share memory, else the device's memory and a host copy.
    SLR_STORAGE_DEFAULT = 0,
    /// Host and device use the same memory. If host and device share no memory, the creation of the buffer fails.
    SLR_STORAGE_SHARED = 1,
    SLR_STORAGE_PRIVATE = 2 ///< only the device uses the memory: the buffer has no host copy and cannot be mapped
} slr_storage;

#define SLR_BUFFER_MOST_DIMENSIONS 8

/// slr_buffer_desc describes the buffer that slr_buffer_create_with creates. A zero in any field of slr_buffer_desc
/// means the default. Later versions of slipring only append fields to slr_buffer_desc.
typedef struct slr_buffer_desc {
    uint32_t struct_size;
    slr_buffer_mode mode; ///< default: SLR_BUFFER_AUTOMATIC
    uint64_t bytes;       ///< size of the buffer in bytes, 1 to 2^40; default: computed from dtype and shape
    slr_scalar dtype;     ///< type of the elements; default: none
    uint32_t rank;        ///< number of dimensions in `shape`, up to SLR_BUFFER_MOST_DIMENSIONS
    uint64_t shape[SLR_BUFFER_MOST_DIMENSIONS]; ///< number of elements in each dimension; elements of the last
                                                ///< dimension are adjacent
    /// `import` may point to host memory of the program, `bytes` bytes long and aligned to 64 bytes. If host and device
    /// share memory, the memory at `import` becomes the buffer's memory; otherwise the memory at `import` becomes the
    /// host copy. The bytes at `import` are the buffer's initial contents. The program may access the memory at
    /// `import` only while that memory is mapped by slr_buffer_map.
    void *import;
    void (*release)(void *user); ///< slipring calls `release` once, when nothing uses `import` any more; may be NULL
    void *user;                  ///< argument of `release`
    /// If `pinned` is 1, the buffer's memory on the host is page-locked from the start, so its pages are never swapped
    /// out. If host and device share memory (as on cpu), slipring page-locks the buffer's own memory, which then begins
    /// at the start of a page. If the device has its own memory, slipring allocates the host copy at once and
    /// page-locks the host copy. A device with a copy engine (such as cuda) copies pinned memory directly, without an
    /// intermediate buffer. `pinned` together with `import` works only if the device has its own memory and the driver
    /// can page-lock memory (cuda, vulkan). Memory that is both imported and pinned stays pinned until slipring
    /// releases the memory.
    uint32_t pinned;
    uint32_t reserved; ///< ignored
    /// For a buffer with SLR_STORAGE_PRIVATE, slr_buffer_write and slr_buffer_read copy directly between the program's
    /// memory and the device, and slr_buffer_map and slr_buffer_sync fail. A private buffer cannot use `import`,
    /// `pinned` or SLR_BUFFER_UNIFIED.
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

/// slr_buffer_info has the properties of a buffer, and counts of the copies between host and device.
typedef struct slr_buffer_info {
    slr_buffer_mode mode;
    uint32_t unified; ///< 1: host and device share memory
    uint64_t bytes;
    slr_scalar dtype;
    uint32_t rank;
    uint64_t shape[SLR_BUFFER_MOST_DIMENSIONS];
    /// Number of copies to the device, and bytes copied to the device. For a slice: the counts of the whole buffer.
    uint64_t uploads, uploaded_bytes;
    /// Number of copies to the host, and bytes copied to the host. For a slice: the counts of the whole buffer.
    uint64_t downloads, downloaded_bytes;
    uint32_t pinned;     ///< 1: the buffer's host memory is page-locked
    slr_storage storage; ///< as given in slr_buffer_desc.storage
} slr_buffer_info;

/// Makes a buffer of `bytes` bytes (1 to 2^40). All bytes of the new buffer are 0. The new buffer is aligned to 64
/// bytes, and has the mode SLR_BUFFER_AUTOMATIC.
///
/// Threads: any.  Blocks: no.  Owns: the caller gets the buffer, and frees it by slr_buffer_destroy.
/// Errors: INVALID (the size is 0 or too large), NO_MEMORY (the error message has the bytes requested and the bytes
///   free: docs/contract/pools.md).
SLR_API slr_status slr_buffer_create(slr_device *device, uint64_t bytes, slr_buffer **out);

/// The macro slr_buffer_create passes the file and line of its call to slr_buffer_create_at. slipring reports this file
/// and line to the function slr_device_desc.on_memory. The text `file` must stay readable until the device is closed,
/// as a string literal does.
SLR_API slr_status slr_buffer_create_at(slr_device *device, uint64_t bytes, const char *file, uint32_t line,
                                        slr_buffer **out);
#define slr_buffer_create(device, bytes, out) slr_buffer_create_at((device), (bytes), __FILE__, __LINE__, (out))

/// Makes a buffer from the description `desc`. The bytes of the new buffer are 0, unless `desc->import` gives its
/// contents.
/// Threads, Blocks, Owns: as for slr_buffer_create.
/// Errors: INVALID (shape, dtype and bytes do not agree; `import` is misaligned or already pinned; the device cannot
///   pin the memory at `import`: then the program itself can page-lock that memory), UNSUPPORTED (SLR_BUFFER_UNIFIED or
///   SLR_STORAGE_SHARED on a device that does not share memory with the host; `pinned` on a device whose memory pages
///   move between host and device), NO_MEMORY (also if the process's limit on locked memory is too low for a pinned
///   buffer; the error message names the limit).
SLR_API slr_status slr_buffer_create_with(slr_device *device, const slr_buffer_desc *desc, slr_buffer **out);

/// Makes a slice: a part of a buffer that the program can use like a buffer. A slice shares the memory of its buffer.
/// For each command (such as a launch), slipring records which range of the whole buffer the command uses. Therefore
/// work on slices that do not overlap can run at the same time. The whole buffer lives at least as long as its slices.
/// `offset` is the slice's first byte in the buffer, a multiple of 64.
/// Threads: any.  Blocks: no.  Owns: the caller gets the slice, and frees it by slr_buffer_destroy.
/// Errors: INVALID (`offset` is wrong; the range is empty or exceeds the buffer), NO_MEMORY.
SLR_API slr_status slr_buffer_slice(slr_buffer *buffer, uint64_t offset, uint64_t bytes, slr_buffer **out);

/// Ends the program's use of the buffer object. slipring frees the buffer's memory when no launched ring kernel
/// (message handler), no submitted work and no slice uses the buffer any more. Before slr_buffer_destroy, the program
/// must end every mapping by slr_buffer_unmap. If `buffer` is NULL, slr_buffer_destroy does nothing.
/// Threads: any, once for each buffer.  Blocks: no.
SLR_API void slr_buffer_destroy(slr_buffer *buffer);

/// Copies `bytes` bytes from the memory `from` into the buffer, from the buffer's byte `offset` on. slr_buffer_write
/// first waits until work in flight that uses these bytes of the buffer has ended. A handler (a function that handles
/// messages) that runs during slr_buffer_write may see any mixture of old and new bytes in the range. If the program
/// wrote bytes and then sent a message, the handler of that message sees all these bytes.
///
/// Threads: any.  Blocks: until work in flight on the range has ended, and while the call copies.
/// Errors: INVALID (the range exceeds the buffer: the error message has both sizes), WRONG_STATE (the range is mapped),
///   DEVICE_LOST, or the error of the work in flight.
SLR_API slr_status slr_buffer_write(slr_buffer *buffer, uint64_t offset, const void *from, uint64_t bytes);

/// Copies `bytes` bytes from the buffer, from byte `offset` on, to the memory `to`. slr_buffer_read waits as
/// slr_buffer_write does, and has the same errors. If a handler wrote bytes and then replied, a program that has
/// received the reply reads these bytes.
SLR_API slr_status slr_buffer_read(slr_buffer *buffer, uint64_t offset, void *to, uint64_t bytes);

// ---- the host copy -------------------------------------------------------------------------------------------------

#define SLR_MAP_READ 1u    ///< the host may read the range, and sees what the device wrote
#define SLR_MAP_WRITE 2u   ///< the host may write the range; bytes that the host does not write keep their values
#define SLR_MAP_DISCARD 4u ///< the host will write the whole range, so slipring copies nothing from the device

/// Gives the host access to a range of the buffer until slr_buffer_unmap; `*out` gets the address of the range.
/// `access` is SLR_MAP_READ, SLR_MAP_WRITE, both (combined by |), or SLR_MAP_DISCARD. slr_buffer_map first waits until
/// work in flight that conflicts with the mapping has ended. A mapping for reading conflicts with work that writes the
/// range; a mapping for writing conflicts with all work on the range. After the wait, slr_buffer_map copies to the host
/// the bytes that are valid only on the device. While the range is mapped, slipring refuses work that conflicts with
/// the mapping.
///
/// Threads: any; several threads may map one range for reading.  Blocks: until conflicting work in flight has ended,
/// but for at most `timeout_ns`; and while the call copies.
/// Owns: the caller gets the mapping, and ends it by slr_buffer_unmap.
/// Errors: INVALID (a wrong range or access), WRONG_STATE (the buffer is private; another mapping conflicts; the caller
///   is a host function of a stream, and would wait for later work of the same stream), TIMEOUT, NO_MEMORY, or the
///   error of the work in flight.
SLR_API slr_status slr_buffer_map(slr_buffer *buffer, uint64_t offset, uint64_t bytes, uint32_t access,
                                  uint64_t timeout_ns, void **out);

/// Ends the mapping that begins at the address `mapped`. After slr_buffer_unmap, the bytes that the host wrote are the
/// buffer's contents. slipring copies these bytes to the device when the device needs them.
/// Threads: any.  Blocks: while the call copies written bytes to the device, if the buffer is bound to a ring kernel.
/// Errors: INVALID (`mapped` is not a mapping of this buffer), NO_MEMORY.
SLR_API slr_status slr_buffer_unmap(slr_buffer *buffer, void *mapped);

/// slr_place names one side of a buffer: its host copy, or its copy in the device's memory.
typedef enum slr_place { SLR_AT_HOST = 1, SLR_AT_DEVICE = 2 } slr_place;

/// Copies a range of a buffer in the mode SLR_BUFFER_EXPLICIT to the side `to` (host or device) from the other side.
/// slr_buffer_sync copies even if the bytes on the side `to` are newer. If host and device share memory,
/// slr_buffer_sync copies nothing.
/// Threads: any.  Blocks: until work in flight on the range has ended, but for at most `timeout_ns`; and while the call
/// copies.
/// Errors: INVALID (a wrong range), WRONG_STATE (the buffer is not in the mode SLR_BUFFER_EXPLICIT; the buffer is
///   private; the range is mapped), TIMEOUT, NO_MEMORY.
SLR_API slr_status slr_buffer_sync(slr_buffer *buffer, uint64_t offset, uint64_t bytes, slr_place to,
                                   uint64_t timeout_ns);

/// Gives the properties of a buffer, and the counts of its copies.
/// Threads: any.  Blocks: no.  Errors: INVALID (a NULL argument).
SLR_API slr_status slr_buffer_get_info(const slr_buffer *buffer, slr_buffer_info *out);

/// The macro slr_buffer_get_info calls slr_buffer_get_info_sized with sizeof(slr_buffer_info) as `bytes`
/// (docs/contract/abi.md).
SLR_API slr_status slr_buffer_get_info_sized(const slr_buffer *buffer, slr_buffer_info *out, size_t bytes);
#define slr_buffer_get_info(buffer, out) slr_buffer_get_info_sized((buffer), (out), sizeof(slr_buffer_info))

/// Returns the size of a buffer in bytes, or 0 if `buffer` is NULL.
/// Threads: any.  Blocks: no.
SLR_API uint64_t slr_buffer_size(const slr_buffer *buffer);

// ---- as text ------------------------------------------------------------------------------------------------------

/// The struct slr_print_desc says how slr_buffer_format and slr_buffer_print show a buffer. A zero in any field of
/// slr_print_desc means the default. Later versions of slipring only append fields to slr_print_desc.
typedef struct slr_print_desc {
    uint32_t struct_size;
    slr_scalar dtype; ///< type of the elements; default: the buffer's own dtype. With another type, the text ignores
                      ///< the buffer's shape
    /// If `count` is not 0, the text has the first `count` elements, all in one line. By default the text has all
    /// elements, with one line per row and an empty line between matrices.
    uint64_t count;
    /// If a dimension has more than twice `edge` elements, the text shows only the first and the last `edge` elements
    /// of this dimension, with "..." between them. If `edge` is 0, the text shows all elements.
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

/// Writes the buffer's elements as text into `out`. Each number is written in the shortest form that reads back as the
/// same value, with a '.' in any locale. slr_buffer_format reads the buffer piece by piece. If another thread writes
/// the buffer during the call, the text may show only a part of the newly written bytes. `out` gets at most `bytes`
/// bytes, including the final NUL. `*length` gets the length of the full text without the NUL; `length` may be NULL.
///
/// Threads: any.  Blocks: until work in flight on the buffer has ended.  Owns: nothing; `desc` may be NULL.
/// Errors: INVALID (a NULL argument; neither `desc` nor the buffer has a dtype; `desc->count` is more than the buffer's
///   elements), and those of slr_buffer_read.
SLR_API slr_status slr_buffer_format(slr_buffer *buffer, const slr_print_desc *desc, char *out, size_t bytes,
                                     size_t *length);

/// Writes the same text as slr_buffer_format, but to the file `to`. Errors: those of slr_buffer_format; SYSTEM (the
/// file could not be written).
SLR_API slr_status slr_buffer_print(slr_buffer *buffer, const slr_print_desc *desc, FILE *to);

#ifdef __cplusplus
}
#endif
#endif
