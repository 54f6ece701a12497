// SPDX-License-Identifier: Apache-2.0
/// Buffers: memory of a device that handlers are bound to. Contract: docs/contract/memory.md.
#ifndef SLIPRING_BUFFER_H
#define SLIPRING_BUFFER_H

#include <slipring/devices.h>

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct slr_buffer slr_buffer;

/// Makes a buffer of `bytes` bytes (1 to 2^40), zeroed, aligned to 64.
///
/// Threads: any.  Blocks: no.  Owns: the caller gets the buffer: slr_buffer_destroy.
/// Errors: INVALID (size 0 or too large), NO_MEMORY (names the bytes asked and what is free: docs/contract/pools.md).
SLR_API slr_status slr_buffer_create(slr_device *device, uint64_t bytes, slr_buffer **out);

/// The same, noting where: for who watches the device's memory. `file` must stay readable (a literal).
/// slr_buffer_create is a macro for this.
SLR_API slr_status slr_buffer_create_at(slr_device *device, uint64_t bytes, const char *file, uint32_t line,
                                        slr_buffer **out);
#define slr_buffer_create(device, bytes, out) slr_buffer_create_at((device), (bytes), __FILE__, __LINE__, (out))

/// Releases the caller's hold. The memory goes when no launched ring kernel is bound to it any more. NULL is fine.
/// Threads: any, once.  Blocks: no.
SLR_API void slr_buffer_destroy(slr_buffer *buffer);

/// Copies `bytes` bytes into the buffer from byte `offset`. A handler that runs meanwhile sees any mixture of old and
/// new bytes; what happened before a message was sent is visible to its handler.
///
/// Threads: any, one writer a range at a time.  Blocks: for the copy.
/// Errors: INVALID (the range leaves the buffer: names both), DEVICE_LOST.
SLR_API slr_status slr_buffer_write(slr_buffer *buffer, uint64_t offset, const void *from, uint64_t bytes);

/// Copies out of the buffer, likewise. Acquiring a reply makes what its handler wrote visible.
SLR_API slr_status slr_buffer_read(slr_buffer *buffer, uint64_t offset, void *to, uint64_t bytes);

/// Threads: any.  Blocks: no.  Returns 0 for NULL.
SLR_API uint64_t slr_buffer_size(const slr_buffer *buffer);

#ifdef __cplusplus
}
#endif
#endif
