// SPDX-License-Identifier: Apache-2.0
/// With the functions of this header, a program reads the limits of a device. These limits decide how large blocks
/// (groups of threads) and tiles (parts of a problem) can be. Contract: docs/contract/occupancy.md.
#ifndef SLIPRING_LIMITS_H
#define SLIPRING_LIMITS_H

#include <slipring/devices.h>

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/// A unit is a multiprocessor of a GPU, a compute unit of OpenCL, or a core of a CPU. All limits of a device come from
/// the driver or the system. A limit of 0 means that neither the driver nor the system gives the limit.
typedef struct slr_device_limits {
    uint32_t units;              ///< number of units
    uint32_t lanes;              ///< number of threads of a warp; on a CPU, number of 4-byte elements of a vector
    uint32_t capability;         ///< compute capability of an NVIDIA GPU: 90 means 9.0
    uint32_t block_threads;      ///< the most threads of a block
    uint32_t unit_threads;       ///< the most threads on a unit at one time
    uint32_t unit_blocks;        ///< the most blocks on a unit at one time
    uint32_t unit_registers;     ///< number of registers of a unit, 4 bytes each
    uint32_t reserved;           ///< 0
    uint64_t block_shared_bytes; ///< the most shared memory of a block; on CUDA, the most that a kernel can request
    uint64_t unit_shared_bytes;  ///< shared memory of a unit
    /// `l1_bytes`: size of the data cache of a unit; `l2_bytes`: size of the cache of the next level.
    uint64_t l1_bytes, l2_bytes;
} slr_device_limits;

/// Gives the limits of an open device.
/// Threads: any.  Blocks: no.  Owns: nothing.  Errors: INVALID (a NULL argument).
SLR_API slr_status slr_device_get_limits(const slr_device *device, slr_device_limits *out);

/// The macro slr_device_get_limits calls slr_device_get_limits_sized with sizeof(slr_device_limits) as `bytes`
/// (docs/contract/abi.md).
SLR_API slr_status slr_device_get_limits_sized(const slr_device *device, slr_device_limits *out, size_t bytes);
#define slr_device_get_limits(device, out) slr_device_get_limits_sized((device), (out), sizeof(slr_device_limits))

/// Gives the limits that all NVIDIA GPUs of one compute capability have; 90 means capability 9.0. `units`, `l1_bytes`
/// and `l2_bytes` are 0, because these figures differ between GPUs of one capability.
///
/// Threads: any.  Blocks: no.  Owns: nothing.  Errors: INVALID (a NULL argument), UNSUPPORTED (an unknown capability).
SLR_API slr_status slr_capability_get_limits(uint32_t capability, slr_device_limits *out);

/// The macro slr_capability_get_limits calls slr_capability_get_limits_sized with sizeof(slr_device_limits) as `bytes`
/// (docs/contract/abi.md).
SLR_API slr_status slr_capability_get_limits_sized(uint32_t capability, slr_device_limits *out, size_t bytes);
#define slr_capability_get_limits(capability, out)                                                                     \
    slr_capability_get_limits_sized((capability), (out), sizeof(slr_device_limits))

#ifdef __cplusplus
}
#endif
#endif
