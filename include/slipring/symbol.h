// SPDX-License-Identifier: Apache-2.0
/// The functions of symbol.h read and write the global variables of a program (compiled kernel source) from the host.
/// All kernels of a program share its global variables, and the values stay from launch to launch. The global variables
/// are the `__device__` variables, and those `__constant__` variables that have no initial values and that the host
/// therefore writes. In CUDA, the global variables of a program are called symbols. Contract: docs/contract/kernels.md.
#ifndef SLIPRING_SYMBOL_H
#define SLIPRING_SYMBOL_H

#include <slipring/program.h>
#include <slipring/stream.h>

#ifdef __cplusplus
extern "C" {
#endif

/// Writes bytes to a global variable. Launches that were submitted to `stream` (a queue of work in order) before the
/// call see the previous bytes of the variable, and launches after the call see the written bytes. The bytes at `from`
/// must not change until the stream has completed the write. `out` gets the point of the stream (`slr_point`) that has
/// passed once the write is completed; `out` may be NULL.
///
/// Threads: any.  Blocks: no.  Owns: slipring keeps the program alive until the work ends.
/// Errors: INVALID (a NULL argument, the range exceeds the variable, a program of another device, a `__constant__`
///   variable with initial values in the source), NOT_FOUND (no such variable), NO_MEMORY.
SLR_API slr_status slr_stream_write_symbol(slr_stream *stream, slr_program *program, const char *name, uint64_t offset,
                                           const void *from, uint64_t bytes, slr_point *out);

/// Reads bytes from a global variable. The bytes at `to` are complete when the point `out` has passed.
/// Threads, Blocks, Owns, Errors: as for slr_stream_write_symbol.
SLR_API slr_status slr_stream_read_symbol(slr_stream *stream, slr_program *program, const char *name, uint64_t offset,
                                          void *to, uint64_t bytes, slr_point *out);

#ifdef __cplusplus
}
#endif
#endif
