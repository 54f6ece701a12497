// SPDX-License-Identifier: Apache-2.0
/// Occupancy: the number of a kernel's blocks that run at once on a multiprocessor of an NVIDIA GPU, computed without a
/// GPU. Contract: docs/contract/kernels.md.
#ifndef SLIPRING_OCCUPANCY_H
#define SLIPRING_OCCUPANCY_H

#include <slipring/status.h>

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/// Limits on the number of blocks. A set of flags.
typedef enum slr_occupancy_limit {
    SLR_LIMITED_BY_WARPS = 1,
    SLR_LIMITED_BY_REGISTERS = 2,
    SLR_LIMITED_BY_SHARED = 4,
    SLR_LIMITED_BY_BLOCKS = 8,
    SLR_LIMITED_BY_BARRIERS = 16
} slr_occupancy_limit;

typedef struct slr_occupancy_desc {
    uint32_t struct_size;
    uint32_t capability;    ///< compute capability: 90 is 9.0. Known: 75, 80, 86, 89, 90, 100 and 120
    uint32_t block_threads; ///< 1 to 1,024
    uint32_t registers;     ///< per thread
    uint64_t static_shared_bytes, dynamic_shared_bytes; ///< per block; above 48 KiB as after the opt-in
    uint32_t barriers;                                  ///< per block. 0: 1, which `__syncthreads` uses
    uint32_t carveout_percent; ///< shared memory's part of the memory shared with L1, from 1; 0: the driver's choice
} slr_occupancy_desc;
#ifdef __cplusplus
static inline slr_occupancy_desc slr_occupancy_desc_init(void)
{
    slr_occupancy_desc desc = {};
    desc.struct_size = (uint32_t)sizeof desc;
    return desc;
}
#define SLR_OCCUPANCY_DESC_INIT slr_occupancy_desc_init()
#else
#define SLR_OCCUPANCY_DESC_INIT                                                                                        \
    {                                                                                                                  \
        .struct_size = (uint32_t)sizeof(slr_occupancy_desc)                                                            \
    }
#endif

#define SLR_OCCUPANCY_UNLIMITED UINT32_MAX

typedef struct slr_occupancy {
    uint32_t blocks;           ///< per multiprocessor; 0: the kernel cannot be launched
    uint32_t warps, max_warps; ///< per multiprocessor: used by those blocks, and the maximum
    uint32_t limits;           ///< slr_occupancy_limit flags: every limit that excludes one more block
    uint32_t by_warps, by_registers, by_shared, by_blocks, by_barriers; ///< blocks that each limit allows
    uint32_t registers_allocated;                                       ///< per block
    uint64_t shared_allocated;                                          ///< per block, including the driver's part
    uint64_t dynamic_shared_left; ///< per block: dynamic shared memory up to this size allows as many blocks
} slr_occupancy;

/// Computes the occupancy.
/// Threads: any.  Blocks: no.  Owns: nothing.
/// Errors: INVALID (a NULL, struct_size, no threads, a carve-out above 100), UNSUPPORTED (an unknown capability; no
///   other is substituted).
SLR_API slr_status slr_occupancy_compute(const slr_occupancy_desc *desc, slr_occupancy *out);

/// The same for a struct of `bytes` bytes (docs/contract/abi.md). slr_occupancy_compute is a macro for this.
SLR_API slr_status slr_occupancy_compute_sized(const slr_occupancy_desc *desc, slr_occupancy *out, size_t bytes);
#define slr_occupancy_compute(desc, out) slr_occupancy_compute_sized((desc), (out), sizeof(slr_occupancy))

#ifdef __cplusplus
}
#endif
#endif
