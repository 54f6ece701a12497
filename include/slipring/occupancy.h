// SPDX-License-Identifier: Apache-2.0
/// The occupancy is the number of a kernel's blocks that run at once on a multiprocessor. slipring computes the
/// occupancy without a GPU for NVIDIA's compute capabilities, or asks the driver of an open device. Contract:
/// docs/contract/occupancy.md.
#ifndef SLIPRING_OCCUPANCY_H
#define SLIPRING_OCCUPANCY_H

#include <slipring/kernel.h>
#include <slipring/status.h>

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/// The flags of the enum slr_occupancy_limit say what limits the number of blocks on a multiprocessor.
typedef enum slr_occupancy_limit {
    SLR_LIMITED_BY_WARPS = 1,
    SLR_LIMITED_BY_REGISTERS = 2,
    SLR_LIMITED_BY_SHARED = 4,
    SLR_LIMITED_BY_BLOCKS = 8,
    SLR_LIMITED_BY_BARRIERS = 16
} slr_occupancy_limit;

typedef struct slr_occupancy_desc {
    uint32_t struct_size;
    /// The compute capability of the GPU; 90 means capability 9.0. slipring knows the capabilities 70, 75, 80, 86, 87,
    /// 89, 90, 100, 103, 110, 120 and 121.
    uint32_t capability;
    uint32_t block_threads; ///< threads per block, 1 to 1,024. slr_occupancy_best ignores this field
    uint32_t registers;     ///< registers per thread
    /// Bytes of shared memory per block: in `__shared__` objects of known size, and in `extern __shared__` memory. Only
    /// dynamic_shared_bytes may exceed 48 KiB.
    uint64_t static_shared_bytes, dynamic_shared_bytes;
    uint32_t barriers; ///< barriers that a block uses. 0: one barrier, for `__syncthreads`
    /// The L1 cache and the shared memory of a multiprocessor are one memory; carveout_percent is the percentage that
    /// is shared memory, 1 to 100. 0: the driver's choice.
    uint32_t carveout_percent;
    uint32_t most_threads; ///< limit on the threads per block, from `__launch_bounds__`. 0: none
    /// Number of the GPU's multiprocessors; slipring needs it for slr_best_block.grid_min. 0: not given.
    uint32_t multiprocessors;
    uint64_t dynamic_shared_thread_bytes; ///< bytes of dynamic shared memory for each thread of a block, in addition to
                                          ///< dynamic_shared_bytes
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
    uint32_t blocks; ///< the kernel's blocks that run at once on a multiprocessor; 0: the kernel cannot be launched
    /// `warps` is the number of warps (of 32 threads) of the kernel's blocks that run at once on a multiprocessor;
    /// `max_warps` is the most that the multiprocessor can run.
    uint32_t warps, max_warps;
    uint32_t limits; ///< slr_occupancy_limit flags: the limits that leave no room for one more block
    /// Blocks per multiprocessor that each limit allows; SLR_OCCUPANCY_UNLIMITED: any number.
    uint32_t by_warps, by_registers, by_shared, by_blocks, by_barriers;
    uint32_t registers_allocated; ///< registers that the hardware allocates per block
    uint64_t shared_allocated;    ///< bytes of shared memory per block, including the part that the driver keeps
    /// The most dynamic shared memory, in bytes per block, with which `blocks` stays as it is.
    uint64_t dynamic_shared_left;
    double theoretical; ///< 0 to 1: `warps` / `max_warps`
} slr_occupancy;

/// Computes the occupancy from the figures in `desc`.
/// Threads: any.  Blocks: no.  Owns: nothing.
/// Errors: INVALID (a NULL argument, a wrong struct_size, a block_threads of 0, a carveout_percent above 100),
///   UNSUPPORTED (an unknown capability: slipring does not use another capability's figures).
SLR_API slr_status slr_occupancy_compute(const slr_occupancy_desc *desc, slr_occupancy *out);

/// The macro slr_occupancy_compute calls slr_occupancy_compute_sized with `sizeof(slr_occupancy)` as `bytes`
/// (docs/contract/abi.md).
SLR_API slr_status slr_occupancy_compute_sized(const slr_occupancy_desc *desc, slr_occupancy *out, size_t bytes);
#define slr_occupancy_compute(desc, out) slr_occupancy_compute_sized((desc), (out), sizeof(slr_occupancy))

// ---- the best block -------------------------------------------------------------------------------------------------

typedef struct slr_block_candidate {
    uint32_t block_threads;
    /// Number of blocks of this size that run at once on a multiprocessor. 0: a block of this size cannot be launched.
    uint32_t blocks;
} slr_block_candidate;

#define SLR_BLOCK_CANDIDATES 33

typedef struct slr_best_block {
    uint32_t block_threads; ///< threads of the best block. 0: no block can be launched
    uint32_t blocks;        ///< number of blocks of this size that run at once on a multiprocessor
    uint32_t grid_min;      ///< blocks that fill the GPU: `blocks` * slr_occupancy_desc.multiprocessors
    uint32_t candidate_count;
    double theoretical; ///< slr_occupancy.theoretical of blocks with `block_threads` threads, 0 to 1
    slr_block_candidate candidates[SLR_BLOCK_CANDIDATES]; ///< every block size that was compared, the largest first
} slr_best_block;

/// Finds the block size that puts the most threads on a multiprocessor. If several block sizes are equally good,
/// slr_occupancy_best takes the largest. The result of slr_occupancy_best equals the result of
/// cudaOccMaxPotentialOccupancyBlockSize, a function of CUDA's header cuda_occupancy.h. slr_occupancy_best tries the
/// multiples of `multiple`, and the largest block that the kernel allows. The number `multiple` must be a multiple of
/// 32; 0 means 32.
///
/// Threads: any.  Blocks: no.  Owns: nothing.
/// Errors: INVALID (a NULL argument, a wrong struct_size, a `multiple` that is not a multiple of 32, a carveout_percent
///   above 100), UNSUPPORTED (an unknown capability).
SLR_API slr_status slr_occupancy_best(const slr_occupancy_desc *desc, uint32_t multiple, slr_best_block *out);

/// The macro slr_occupancy_best calls slr_occupancy_best_sized with `sizeof(slr_best_block)` as `bytes`
/// (docs/contract/abi.md).
SLR_API slr_status slr_occupancy_best_sized(const slr_occupancy_desc *desc, uint32_t multiple, slr_best_block *out,
                                            size_t bytes);
#define slr_occupancy_best(desc, multiple, out)                                                                        \
    slr_occupancy_best_sized((desc), (multiple), (out), sizeof(slr_best_block))

// ---- a kernel on its device -----------------------------------------------------------------------------------------

/// The enum slr_occupancy_source says where slipring got the figures of an occupancy.
typedef enum slr_occupancy_source {
    /// slipring computed the figures from the kernel's machine code, or from the number of cores.
    SLR_OCCUPANCY_COMPUTED = 1,
    SLR_OCCUPANCY_DRIVER, ///< the driver gave the number of blocks that run at once on a unit
    /// The driver gave the limits of one block, but not the number of blocks that run at once on a unit.
    SLR_OCCUPANCY_UNKNOWN,
    SLR_OCCUPANCY_MEASURED ///< slr_kernel_measure_occupancy counted the blocks while they ran
} slr_occupancy_source;

/// A unit is a multiprocessor of a GPU, a compute unit of OpenCL, or a core of a CPU. A figure is 0 if the driver does
/// not give it.
typedef struct slr_kernel_occupancy {
    uint32_t source;        ///< where slipring got the figures: an slr_occupancy_source
    uint32_t block_threads; ///< threads per block of the launch's shape
    /// `groups`: blocks of this kernel that run at once on a unit; `most_groups`: the maximum for any kernel.
    uint32_t groups, most_groups;
    /// `threads`: threads of this kernel that run at once on a unit; `most_threads`: the maximum for any kernel.
    uint32_t threads, most_threads;
    uint32_t limits; ///< slr_occupancy_limit flags: the limits that leave no room for one more block
    /// With SLR_OCCUPANCY_DRIVER: the number of blocks that slipring computes itself, to compare with `groups`; else 0.
    uint32_t computed_groups;
    uint32_t units;
    /// Number of threads of a warp; on a CPU, number of 4-byte elements of a vector.
    uint32_t lanes;
    uint32_t multiple;          ///< the driver prefers blocks whose number of threads is a multiple of this number
    uint32_t block_limit;       ///< the most threads per block with which this kernel can run
    uint32_t registers;         ///< registers per thread
    uint32_t best_block;        ///< threads of the block that slr_occupancy_best chooses; 0: unknown
    uint64_t shared_bytes;      ///< shared memory of a block: static and dynamic memory together
    uint64_t most_shared_bytes; ///< the most shared memory that the device allows for a block
    uint64_t private_bytes;     ///< private memory of a thread, for its arrays and for registers that spilled to memory
    /// The occupancy as a part of the maximum occupancy, 0 to 1; 0 if `source` is SLR_OCCUPANCY_UNKNOWN or
    /// SLR_OCCUPANCY_MEASURED.
    double theoretical;
    char why[160]; ///< what limits the occupancy, in words
} slr_kernel_occupancy;

/// Works as slr_occupancy_best, for a kernel on its own device. The device's driver gives the registers and the shared
/// memory of the kernel. `shared_bytes` is the dynamic shared memory of a block.
///
/// Threads: any.  Blocks: while the call compiles the kernel.  Owns: nothing.
/// Errors: INVALID (a NULL argument), COMPILE, UNSUPPORTED (a device other than cuda, because its driver does not give
///   the kernel's registers and shared memory; an unknown capability), NO_MEMORY.
SLR_API slr_status slr_kernel_best_block(slr_kernel *kernel, uint32_t shared_bytes, slr_best_block *out);

/// The macro slr_kernel_best_block calls slr_kernel_best_block_sized with `sizeof(slr_best_block)` as `bytes`
/// (docs/contract/abi.md).
SLR_API slr_status slr_kernel_best_block_sized(slr_kernel *kernel, uint32_t shared_bytes, slr_best_block *out,
                                               size_t bytes);
#define slr_kernel_best_block(kernel, shared_bytes, out)                                                               \
    slr_kernel_best_block_sized((kernel), (shared_bytes), (out), sizeof(slr_best_block))

/// Gives the occupancy of a kernel on its own device, for a launch with the shape `shape`. If the shape has no block
/// size, slr_kernel_get_occupancy uses the size that slipring would choose (slr_kernel_suggest).
///
/// Threads: any.  Blocks: while the call compiles the kernel.  Owns: nothing.
/// Errors: INVALID (a NULL argument; an impossible shape), COMPILE, UNSUPPORTED (the device cannot run such a block),
///   NO_MEMORY.
SLR_API slr_status slr_kernel_get_occupancy(slr_kernel *kernel, slr_shape shape, slr_kernel_occupancy *out);

/// The macro slr_kernel_get_occupancy calls slr_kernel_get_occupancy_sized with `sizeof(slr_kernel_occupancy)` as
/// `bytes` (docs/contract/abi.md).
SLR_API slr_status slr_kernel_get_occupancy_sized(slr_kernel *kernel, slr_shape shape, slr_kernel_occupancy *out,
                                                  size_t bytes);
#define slr_kernel_get_occupancy(kernel, shape, out)                                                                   \
    slr_kernel_get_occupancy_sized((kernel), (shape), (out), sizeof(slr_kernel_occupancy))

/// Works as slr_kernel_get_occupancy, but measures the number of blocks if the driver does not give that number. The
/// measurement uses a test kernel with as many threads and as much shared memory per block as `kernel`. The test kernel
/// counts its own blocks while they run. The test kernel may use more or fewer registers than `kernel`, and may miss
/// blocks on a busy device, so the measured number is an estimate. For a measured number of blocks, `theoretical` is 0,
/// because the maximum is unknown. If the driver does not give the number of units (`units` is 0, as on vulkan), the
/// measured `groups` and `threads` are those of the whole device.
///
/// Threads: any.  Blocks: while the call compiles and measures the kernel.  Owns: nothing.
/// Errors: those of slr_kernel_get_occupancy and of slr_launch.
SLR_API slr_status slr_kernel_measure_occupancy(slr_kernel *kernel, slr_shape shape, slr_kernel_occupancy *out);

/// The macro slr_kernel_measure_occupancy calls slr_kernel_measure_occupancy_sized with `sizeof(slr_kernel_occupancy)`
/// as `bytes` (docs/contract/abi.md).
SLR_API slr_status slr_kernel_measure_occupancy_sized(slr_kernel *kernel, slr_shape shape, slr_kernel_occupancy *out,
                                                      size_t bytes);
#define slr_kernel_measure_occupancy(kernel, shape, out)                                                               \
    slr_kernel_measure_occupancy_sized((kernel), (shape), (out), sizeof(slr_kernel_occupancy))

#ifdef __cplusplus
}
#endif
#endif
