// SPDX-License-Identifier: Apache-2.0
/// Devices: opening one by name, and saying what it is. Contract: docs/contract/devices.md.
///
/// A device is named by one string, the same in C, on the command line and in SLIPRING_DEVICE:
///   "cpu"                     this machine's cores; compiled handlers where a C compiler is found, else interpreted
///   "cpu?engine=compiled"     refuses where there is no compiler; "cpu?engine=interpreted" never uses one
///   "cpu?threads=1"           this many worker threads (1-256; default: the cores this process may use, at most 64)
///   "cpu?unified=0"           as if its memory were not the host's: what is moved is moved and counted
///   "opencl:1"                a device of any OpenCL platform, counted over all of them; "opencl:0?svm=0" has its
///   buffers
///                             in no shared virtual memory, "opencl:0?memory=plain" says which ("fine", "coarse",
///                             "host")
///   "cuda:1"                  an NVIDIA GPU, as its driver counts them; "cuda:GPU-8f2c" by its name (nvidia-smi -L),
///                             "cuda:0?context=primary" in the context of the process's other users of CUDA
///   "null"                    checks and counts everything, stores and runs nothing: for measuring the front half
///   "cuda,cpu"                a list: the first that opens. The info says which and why
///   "auto"                    the best that opens here
/// Asking for one device never gives another.
#ifndef SLIPRING_DEVICES_H
#define SLIPRING_DEVICES_H

#include <slipring/allocator.h>
#include <slipring/memory_event.h>
#include <slipring/print.h>
#include <slipring/status.h>

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/// A priority, 0 (lowest) to 255, in a field whose zero means "default".
#define SLR_PRIORITY(priority) ((uint32_t)(priority) + 1u)
#define SLR_DEFAULT_PRIORITY 128u

typedef struct slr_device slr_device;

/// What can be chosen at open. Zero means the default; fields are only appended.
typedef struct slr_device_desc {
    uint32_t struct_size;
    uint32_t reserved;
    const slr_allocator *allocator; ///< NULL: malloc. Copied; what it points to must work until the device is closed.
    uint64_t max_memory_bytes;      ///< of the device for buffers; a multiple of 64. 0: no limit
    slr_on_memory *on_memory;       ///< NULL, or told of each buffer's memory, and at close of what is left
    void *memory_user;              ///< for it
    slr_on_print *on_print;         ///< NULL, or told what kernels print
    void *print_user;               ///< for it
} slr_device_desc;
#ifdef __cplusplus
static inline slr_device_desc slr_device_desc_init(void)
{
    slr_device_desc desc = {};
    desc.struct_size = (uint32_t)sizeof desc;
    return desc;
}
#define SLR_DEVICE_DESC_INIT slr_device_desc_init()
#else
#define SLR_DEVICE_DESC_INIT                                                                                           \
    {                                                                                                                  \
        .struct_size = (uint32_t)sizeof(slr_device_desc)                                                               \
    }
#endif

/// Room for any device's name with all its options, and the zero behind it.
#define SLR_DEVICE_NAME_BYTES 192

/// What a device says of itself. All text is terminated.
typedef struct slr_device_info {
    char name[SLR_DEVICE_NAME_BYTES]; ///< as it can be opened again: "cpu?engine=interpreted"
    char backend[16];                 ///< "cpu", "null"
    char description[160];            ///< model and cores
    char engine[160];        ///< how handlers run: "compiled by /usr/bin/cc (gcc 12.2.0)", "interpreted", "none"
    char chosen[256];        ///< why this device, when a list or "auto" was asked; else ""
    char cache[256];         ///< the folder of compiled handlers and its state, or why there is none
    uint32_t workers;        ///< threads that run handlers; 0: runs none
    uint32_t ring_kernels;   ///< 1: runs ring kernels, kept going without a launch a message
    uint64_t memory_bytes;   ///< memory it can use
    uint32_t unified_memory; ///< 1: the host can address its memory, so that no bytes have to be moved
    char features[256];      ///< what else it can, as words: "opencl=3.0 memory=fine fp64"; "" where nothing varies
    char notes[160];         ///< what was done so that it works, such as a variable that was set; or ""
    uint32_t kernels;        ///< 1: runs `__global__` kernels
    uint32_t compute_units;  ///< what it counts as its cores; 0: not said
    uint32_t pauses; ///< times that persistent ring kernels were made to wait: slr_device_park, or as CUDA needs it
    char relaunch_reason[160]; ///< why ring kernels that could be persistent are relaunched unless it is asked for, or
                               ///< cannot be persistent at all; or ""
    uint32_t stalls;           ///< among them: for a call of the driver that did not return while they stayed
    char stalled[160];         ///< which calls those were: "cuMemAlloc_v2 3, cuStreamQuery 1"; or ""
    uint32_t unheard;          ///< groups of persistent kernels that were lost and have not ended yet, as far as known
    uint32_t reserved;
    uint64_t kept_bytes; ///< memory of lost devices and of handlers that never return, which this process never frees
} slr_device_info;

/// A backend that this library was built with, and whether it can run here.
typedef struct slr_backend_info {
    char name[16];
    slr_status status; ///< SLR_OK: it opens here
    char reason[256];  ///< when not: what is missing and what to do
    uint32_t devices;  ///< how many devices it has here
} slr_backend_info;

/// Opens a device. `spec`: see above; NULL takes SLIPRING_DEVICE, or "auto" when that is unset or empty. `desc`
/// may be NULL.
///
/// Threads: any.  Blocks: while a backend starts (the cpu starts its workers with the first ring kernel).
/// Owns: the caller gets the device: slr_device_close.
/// Errors: INVALID (malformed spec, unknown option or value), NO_DEVICE (no such backend, or it cannot run here; the
/// message says why), NO_MEMORY.
SLR_API slr_status slr_device_open(const char *spec, const slr_device_desc *desc, slr_device **out);

/// The same for a program that was compiled with the headers of version `headers` (SLR_VERSION_NUMBER; 0: not said).
/// Where a struct of the program is too new for the library, the message names both versions. slr_device_open is a
/// macro for this.
SLR_API slr_status slr_device_open_from(const char *spec, const slr_device_desc *desc, uint32_t headers,
                                        slr_device **out);
#define slr_device_open(spec, desc, out) slr_device_open_from((spec), (desc), SLR_VERSION_NUMBER, (out))

/// Closes a device: waits until all work submitted to its streams is done, terminates at once the ring kernels still on
/// it (their pending messages are undelivered), then frees it. Programs, buffers, streams, ports and ring kernels of
/// the device must not be used afterwards, except to destroy them. NULL is fine. Threads: any, once, and not a host
/// function of one of its streams: there it does nothing. Blocks: until handlers and work in progress have returned.
SLR_API void slr_device_close(slr_device *device);

/// Threads: any.  Blocks: no.  Errors: INVALID (a NULL argument).
SLR_API slr_status slr_device_get_info(const slr_device *device, slr_device_info *out);

/// The same for a struct of `bytes` bytes (docs/contract/abi.md). slr_device_get_info is a macro for this.
SLR_API slr_status slr_device_get_info_sized(const slr_device *device, slr_device_info *out, size_t bytes);
#define slr_device_get_info(device, out) slr_device_get_info_sized((device), (out), sizeof(slr_device_info))

/// Opens a device that was lost once more: it is as new behind this, and what was in its memory is gone. Programs stay;
/// ring kernels fail, if they have not yet, and keep their addresses, ports and pending messages: slr_ring_restart has
/// them go on. Buffers, streams, recorded lists and heaps of the device must have been destroyed; its default stream is
/// another one behind this. On an error it stays lost, and may be tried again.
///
/// Threads: any, while no other is in a call that uses the device, but for those of ports and ring kernels. Blocks:
/// while it opens; until ring kernels are quiet, at most `timeout_ns`. Errors: WRONG_STATE (it was not lost; what is
/// still there, or has just been launched), UNSUPPORTED (a device that is never lost), TIMEOUT, INVALID (NULL), what
/// opening it gives.
SLR_API slr_status slr_device_reopen(slr_device *device, uint64_t timeout_ns);

/// Keeps persistent ring kernels from running on a device, until as many calls of slr_device_resume: for what they
/// would keep waiting, such as calls of another library that takes memory on the same GPU. Messages are accepted
/// meanwhile, and wait. What slipring itself asks of a device's driver parks by itself where that is needed. Relaunched
/// ring kernels and those on threads of the host go on.
///
/// Threads: any, but not a callback of a ring kernel.  Blocks: until messages in hand are handled, at most
/// `timeout_ns`. Errors: TIMEOUT (a handler is still running; the device is not parked), UNSUPPORTED (a device that
/// keeps no kernels resident), INVALID (NULL).
SLR_API slr_status slr_device_park(slr_device *device, uint64_t timeout_ns);

/// Threads: any.  Blocks: no.  Errors: WRONG_STATE (it is not parked), INVALID (NULL).
SLR_API slr_status slr_device_resume(slr_device *device);

/// The backends of this library, in the order that "auto" tries them; `index` counts from 0.
/// Threads: any.  Blocks: while the backend is probed.  Errors: NOT_FOUND (index past the last), INVALID (NULL).
SLR_API slr_status slr_backend_get_info(uint32_t index, slr_backend_info *out);

/// The same for a struct of `bytes` bytes (docs/contract/abi.md). slr_backend_get_info is a macro for this.
SLR_API slr_status slr_backend_get_info_sized(uint32_t index, slr_backend_info *out, size_t bytes);
#define slr_backend_get_info(index, out) slr_backend_get_info_sized((index), (out), sizeof(slr_backend_info))

#ifdef __cplusplus
}
#endif
#endif
