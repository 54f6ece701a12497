// SPDX-License-Identifier: Apache-2.0
/// This header gives the Metal object of a buffer, for programs that use slipring and Metal. Contract:
/// docs/contract/metal.md.
#ifndef SLIPRING_NATIVE_METAL_H
#define SLIPRING_NATIVE_METAL_H

#include <slipring/buffer.h>

#ifdef __cplusplus
extern "C" {
#endif

/// Gives the MTLBuffer (an Objective-C object) that holds the buffer's bytes, and the offset of these bytes in the
/// MTLBuffer. Other buffers may lie in the same MTLBuffer. The MTLBuffer lives as long as the buffer; retain the
/// MTLBuffer to keep it longer. slipring does not see the accesses of other code to the bytes. Before other code
/// accesses the bytes, wait for slipring's work (slr_point_wait). Before slipring's next work, wait for the accesses of
/// the other code.
///
/// Threads: any.  Blocks: no.  Owns: nothing.
/// Errors: INVALID (a NULL argument), UNSUPPORTED (the buffer is not of a metal device).
SLR_API slr_status slr_metal_get_buffer(slr_buffer *buffer, void **mtl_buffer, uint64_t *offset);

#ifdef __cplusplus
}
#endif
#endif
