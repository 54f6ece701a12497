// SPDX-License-Identifier: Apache-2.0
/// A tiling cuts a problem (an output of one to three dimensions) into tiles that fit a device, one for each block of
/// threads. Contract: docs/contract/tiling.md.
///
///     slr_tiling tiling;
///     const uint64_t problem[3] = {width, height, 1};
///     slr_tiling_plan(kernel, problem, &tiling);
///     SLR_LAUNCH(stream, kernel, slr_tiling_shape(&tiling), in, out, width, height);
#ifndef SLIPRING_TILING_H
#define SLIPRING_TILING_H

#include <slipring/kernel.h>
#include <slipring/limits.h>

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/// slr_tiling_desc describes a problem (an output of one to three dimensions), and the device that computes it. If
/// `kernel` is set, the kernel's device is the device of the problem. Without a kernel, `limits` describes the device.
/// If neither `kernel` nor `limits` is set, the field `device` names the device. The output of the problem has `planes`
/// times `m` rows of `n` elements.
typedef struct slr_tiling_desc {
    uint32_t struct_size;
    uint32_t element_bytes; ///< bytes of one element of input or output, 1 to 16. 0 means 4
    /// `m`: number of rows of the output; `n`: number of its columns. The elements of a row are adjacent in memory.
    uint64_t m, n;
    /// For a matrix product: number of products that each sum adds. 0: no matrix product; each thread makes one
    /// element.
    uint64_t k;
    uint64_t planes; ///< number of planes of the output. 0 means 1
    /// Number of input tiles that a block keeps in shared memory at once: with 2, the block can load the next input
    /// while it computes with the current one. 0 means 1.
    uint32_t stages;
    /// For a stencil that keeps its input in shared memory: how many elements it reads on each side of an element (k
    /// must be 0). 0: no such stencil.
    uint32_t radius;
    /// Registers per thread. 0: slipring takes the number of `kernel`; for a matrix product without `kernel` it
    /// estimates the number from the outputs per thread.
    uint32_t registers;
    uint32_t most_threads; ///< limit on the threads per block. 0: the limit of kernel and device
    slr_device *device;
    slr_kernel *kernel;
    const slr_device_limits *limits;
    uint32_t limits_bytes; ///< size of `*limits`: sizeof(slr_device_limits), if `limits` is given
    uint32_t reserved;     ///< ignored
} slr_tiling_desc;
#ifdef __cplusplus
static inline slr_tiling_desc slr_tiling_desc_init(void)
{
    slr_tiling_desc desc = {};
    desc.struct_size = (uint32_t)sizeof desc;
    return desc;
}
#define SLR_TILING_DESC_INIT slr_tiling_desc_init()
#else
#define SLR_TILING_DESC_INIT                                                                                           \
    {                                                                                                                  \
        .struct_size = (uint32_t)sizeof(slr_tiling_desc)                                                               \
    }
#endif

typedef struct slr_tiling {
    /// tile_m rows by tile_n columns are the outputs of a block. For a matrix product, tile_k is the number of products
    /// of each sum whose inputs are in shared memory at once; else 0.
    uint32_t tile_m, tile_n, tile_k;
    uint32_t tile_planes;      ///< number of planes in which the outputs of a block lie
    uint32_t threads[3];       ///< threads of a block, along x (columns), y (rows), z (planes)
    uint32_t groups[3];        ///< blocks that cover the problem, along x, y, z
    uint32_t outputs_a_thread; ///< the most outputs that one thread computes
    uint32_t blocks_a_unit;    ///< blocks that run on a unit (multiprocessor or core) at once; 1 if unknown
    /// Shared memory that a block needs for its inputs, in bytes, for all `stages` together: the tiles of both matrices
    /// of a product, or the tile and halo of a stencil. 0 for other problems.
    uint64_t shared_bytes;
    double waves;           ///< number of blocks, divided by the number of blocks that run on the device at once
    double wave_efficiency; ///< the mean work of a unit, divided by the work of the unit with the most work: 0 to 1
    /// The part of the tiles' elements that belongs to the problem, 0 to 1. Tiles that extend beyond the edges of the
    /// problem make this figure smaller.
    double whole;
    /// For a matrix product: floating-point operations per byte that a block loads; else: outputs per byte that a block
    /// loads.
    double intensity;
    char why[200];
} slr_tiling;

/// Chooses a tile for a problem. The tile is not larger than the problem, and respects the limits of the device.
/// slr_tiling_compute avoids partial tiles at the edges of the problem if tiles of another size keep the device busier.
/// Every block of the tiling has work to do. The same problem on the same device gives the same tile.
///
/// Threads: any.  Blocks: while the call compiles `kernel`; without a kernel, no.  Owns: nothing.
/// Errors: INVALID (a NULL argument, a wrong struct_size, a problem without elements or with too many elements for a
///   grid), UNSUPPORTED (no tile fits; none of `kernel`, `limits` and `device` is given), COMPILE, NO_MEMORY.
SLR_API slr_status slr_tiling_compute(const slr_tiling_desc *desc, slr_tiling *out);

/// The macro slr_tiling_compute calls slr_tiling_compute_sized with `sizeof(slr_tiling)` as `bytes`
/// (docs/contract/abi.md).
SLR_API slr_status slr_tiling_compute_sized(const slr_tiling_desc *desc, slr_tiling *out, size_t bytes);
#define slr_tiling_compute(desc, out) slr_tiling_compute_sized((desc), (out), sizeof(slr_tiling))

/// Works as slr_tiling_compute, for a kernel that makes one element per thread, over problem[0] columns, problem[1]
/// rows and problem[2] planes. If the number of rows or planes in `problem` is 0, that number counts as 1. A problem of
/// one dimension gets the block that slr_kernel_suggest gives. If a problem of one dimension has fewer elements than
/// this block has threads, the problem gets a single block with one thread for each element.
/// Threads, Blocks, Owns, Errors: as for slr_tiling_compute.
SLR_API slr_status slr_tiling_plan(slr_kernel *kernel, const uint64_t problem[3], slr_tiling *out);

/// The macro slr_tiling_plan calls slr_tiling_plan_sized with `sizeof(slr_tiling)` as `bytes` (docs/contract/abi.md).
SLR_API slr_status slr_tiling_plan_sized(slr_kernel *kernel, const uint64_t problem[3], slr_tiling *out, size_t bytes);
#define slr_tiling_plan(kernel, problem, out) slr_tiling_plan_sized((kernel), (problem), (out), sizeof(slr_tiling))

/// Gives the launch shape for a tiling: its grid and block. In the launch shape, the member shared_bytes is 0. For a
/// kernel with `extern __shared__` memory, the program itself sets the shape's shared_bytes.
static inline slr_shape slr_tiling_shape(const slr_tiling *tiling)
{
    slr_shape shape = {{0, 0, 0}, {0, 0, 0}, {0, 0, 0}, 0, 0};
    for (int i = 0; i < 3; ++i) {
        shape.block[i] = tiling->threads[i];
        shape.grid[i] = tiling->groups[i];
    }
    return shape;
}

#ifdef __cplusplus
}
#endif
#endif
