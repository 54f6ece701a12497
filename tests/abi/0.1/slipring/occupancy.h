// SPDX-License-Identifier: Apache-2.0
/// How many blocks of a kernel run at once on a multiprocessor of an NVIDIA GPU, computed without one.
/// Contract: docs/contract/kernels.md.
#ifndef SLIPRING_OCCUPANCY_H
#define SLIPRING_OCCUPANCY_H

#include <slipring/status.h>

#ifdef __cplusplus
extern "C" {
#endif

/// What limits the number of blocks: a set.
typedef enum slr_occupancy_limit {
    SLR_LIMITED_BY_WARPS = 1,
    SLR_LIMITED_BY_REGISTERS = 2,
    SLR_LIMITED_BY_SHARED = 4,
    SLR_LIMITED_BY_BLOCKS = 8,
    SLR_LIMITED_BY_BARRIERS = 16
} slr_occupancy_limit;

typedef struct slr_occupancy_desc {
    uint32_t struct_size;
    uint32_t capability;    ///< compute capability: 90 is 9.0; 75, 80, 86, 89, 90, 100 and 120 are known
    uint32_t block_threads; ///< 1 to 1,024
    uint32_t registers;     ///< a thread
    uint64_t static_shared_bytes, dynamic_shared_bytes; ///< a block; above 48 KiB as if opted in
    uint32_t barriers;                                  ///< of a block: 0 is 1, what `__syncthreads` takes
    uint32_t carveout_percent; ///< of the memory that shared memory and L1 share, from 1; 0: the driver's choice
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
    uint32_t blocks;           ///< a multiprocessor; 0: the kernel cannot be launched
    uint32_t warps, max_warps; ///< a multiprocessor: of those blocks, and at most
    uint32_t limits;           ///< slr_occupancy_limit, of all that would not let one more block in
    uint32_t by_warps, by_registers, by_shared, by_blocks, by_barriers; ///< blocks that each would let in
    uint32_t registers_allocated;                                       ///< a block
    uint64_t shared_allocated;                                          ///< a block, with what the driver keeps
    uint64_t dynamic_shared_left; ///< a block: as much dynamic shared memory lets as many blocks in
} slr_occupancy;

/// Threads: any.  Blocks: no.  Owns: nothing.
/// Errors: INVALID (a NULL, struct_size, no threads, a carve-out above 100), UNSUPPORTED (a capability that is not
/// known: none is taken for another).
SLR_API slr_status slr_occupancy_compute(const slr_occupancy_desc *desc, slr_occupancy *out);

#ifdef __cplusplus
}
#endif
#endif
