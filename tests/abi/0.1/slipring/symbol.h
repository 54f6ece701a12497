// SPDX-License-Identifier: Apache-2.0
/// Variables of a program that its kernels share from launch to launch: `__device__` ones, and `__constant__` ones
/// without values in the source, which the host fills. CUDA calls them symbols. Contract: docs/contract/kernels.md.
#ifndef SLIPRING_SYMBOL_H
#define SLIPRING_SYMBOL_H

#include <slipring/program.h>
#include <slipring/stream.h>

#ifdef __cplusplus
extern "C" {
#endif

/// Writes to a variable: launches of this stream before it see the old bytes, those behind it the new ones. `from` must
/// stay as it is until the point has passed; `out` may be NULL.
///
/// Threads: any.  Blocks: no.  Owns: holds the program until done.
/// Errors: INVALID (NULL, the range leaves the variable, a program of another device, a `__constant__` table whose
/// values stand in the source), NOT_FOUND (no such variable), NO_MEMORY.
SLR_API slr_status slr_stream_write_symbol(slr_stream *stream, slr_program *program, const char *name, uint64_t offset,
                                           const void *from, uint64_t bytes, slr_point *out);

/// Reads from a variable, likewise: `to` is whole when the point has passed.
SLR_API slr_status slr_stream_read_symbol(slr_stream *stream, slr_program *program, const char *name, uint64_t offset,
                                          void *to, uint64_t bytes, slr_point *out);

#ifdef __cplusplus
}
#endif
#endif
