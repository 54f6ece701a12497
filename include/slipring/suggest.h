// SPDX-License-Identifier: Apache-2.0
/// The functions of suggest.h give the block size (threads per block) that slipring chooses for a launch without a
/// block size, and the reason for the choice.
/// Contract: docs/contract/occupancy.md.
#ifndef SLIPRING_SUGGEST_H
#define SLIPRING_SUGGEST_H

#include <slipring/kernel.h>
#include <slipring/occupancy.h>

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/// The enum says which rule decided the block size. If several rules apply to a launch, the rule that comes first in
/// this enum decides.
typedef enum slr_block_rule {
    SLR_BLOCK_GIVEN = 1, ///< the shape of the launch already has a block size
    SLR_BLOCK_BY_TUNER,  ///< slr_tune has chosen the block for launches with this number of threads
    SLR_BLOCK_BY_SOURCE, ///< the source declares the block: #pragma slipring block
    /// The block that puts the most threads on a multiprocessor, among the blocks up to the size table's block (see
    /// SLR_BLOCK_BY_SIZE).
    /// The size table: blocks of 64 threads for a launch of fewer than 512 threads, of 128 below 1,024, of 256 up to
    /// 100,000, else of 512.
    SLR_BLOCK_BY_OCCUPANCY,
    SLR_BLOCK_BY_SIZE
} slr_block_rule;

typedef struct slr_suggestion {
    slr_shape shape;       ///< the shape of the launch, with block and grid set
    uint32_t rule;         ///< the rule that decided the block: an slr_block_rule
    uint32_t warps;        ///< number of warps (groups of 32 threads) of a block
    uint32_t by_size;      ///< the size table's block, within the limits of kernel and device
    uint32_t by_occupancy; ///< the block of slr_occupancy_best (slr_best_block.block_threads); 0: unknown
    uint32_t source;       ///< slr_occupancy_source: where slipring got `theoretical`
    uint32_t reserved;     ///< 0
    /// Occupancy (the part of a unit's room for threads that blocks of this size fill), 0 to 1; 0 if `source` is
    /// SLR_OCCUPANCY_UNKNOWN.
    double theoretical;
    char why[200];
} slr_suggestion;

/// Gives the block and the grid that a launch with the shape `shape` uses.
///
/// Threads: any.  Blocks: while the call compiles the kernel.  Owns: nothing.
/// Errors: INVALID (a NULL argument; a shape without threads; an impossible shape), COMPILE, UNSUPPORTED, NO_MEMORY.
SLR_API slr_status slr_kernel_suggest(slr_kernel *kernel, slr_shape shape, slr_suggestion *out);

/// The macro slr_kernel_suggest calls slr_kernel_suggest_sized with `sizeof(slr_suggestion)` as `bytes`
/// (docs/contract/abi.md).
SLR_API slr_status slr_kernel_suggest_sized(slr_kernel *kernel, slr_shape shape, slr_suggestion *out, size_t bytes);
#define slr_kernel_suggest(kernel, shape, out)                                                                         \
    slr_kernel_suggest_sized((kernel), (shape), (out), sizeof(slr_suggestion))

/// Gives the block and the grid that SLR_1D(threads) uses on an NVIDIA GPU that is not in this machine. The struct
/// `desc` is the same as for slr_occupancy_best.
///
/// Threads: any.  Blocks: no.  Owns: nothing.
/// Errors: INVALID (a NULL argument, a wrong struct_size, no threads, more than 2^31 - 1 blocks), UNSUPPORTED (an
///   unknown capability; a kernel of which no block can be launched).
SLR_API slr_status slr_occupancy_suggest(const slr_occupancy_desc *desc, uint64_t threads, slr_suggestion *out);

/// The macro slr_occupancy_suggest calls slr_occupancy_suggest_sized with `sizeof(slr_suggestion)` as `bytes`
/// (docs/contract/abi.md).
SLR_API slr_status slr_occupancy_suggest_sized(const slr_occupancy_desc *desc, uint64_t threads, slr_suggestion *out,
                                               size_t bytes);
#define slr_occupancy_suggest(desc, threads, out)                                                                      \
    slr_occupancy_suggest_sized((desc), (threads), (out), sizeof(slr_suggestion))

#ifdef __cplusplus
}
#endif
#endif
