// SPDX-License-Identifier: Apache-2.0
/// What a buffer is to Metal, for programs that use both. Contract: docs/contract/metal.md.
#ifndef SLIPRING_NATIVE_METAL_H
#define SLIPRING_NATIVE_METAL_H

#include <slipring/buffer.h>

#ifdef __cplusplus
extern "C" {
#endif

/// Gives the MTLBuffer (an Objective-C object) that holds the buffer's bytes, and at which byte of it they begin. Other
/// buffers may lie in the same MTLBuffer. It stays as long as the buffer; retain it to keep it longer. slipring does
/// not see what others do with the bytes: wait for its own work first (slr_point_wait), and for theirs before the next.
///
/// Threads: any.  Blocks: no.  Owns: nothing.
/// Errors: INVALID (a NULL), UNSUPPORTED (the buffer is not of a metal device).
SLR_API slr_status slr_metal_get_buffer(slr_buffer *buffer, void **mtl_buffer, uint64_t *offset);

#ifdef __cplusplus
}
#endif
#endif
