// SPDX-License-Identifier: Apache-2.0
/// Devices: opening one by name, and its properties. Contract: docs/contract/devices.md.
///
/// One string names a device, the same in C, on the command line and in SLIPRING_DEVICE:
///   "cpu"                     this machine's cores. Handlers are compiled if a C compiler is found, else interpreted
///   "cpu?engine=compiled"     fails if there is no compiler; "cpu?engine=interpreted" never uses one
///   "cpu?compiler=tried"      tests the compiler at open, and interprets kernels from the start if the compiler fails
///   "cpu?threads=1"           number of worker threads, 1-256. Default: the cores this process may use, at most 64
///   "cpu?unified=0"           behaves as if device memory were separate: copies are made and counted
///   "opencl:1"                a device of any OpenCL platform, counted over all platforms
///   "opencl:0?svm=0"          keeps buffers out of shared virtual memory
///   "opencl:0?memory=plain"   selects the kind of memory: "plain", "fine", "coarse" or "host"
///   "cuda:1"                  an NVIDIA GPU, by the driver's index; "cuda:GPU-8f2c" by its UUID (nvidia-smi -L)
///   "vulkan:0"                a device of any Vulkan driver; "vulkan:UUID-8f2c" by its UUID, "vulkan:NAME" by its name
///   "webgpu:0"                an adapter of wgpu-native (docs/contract/webgpu.md)
///   "metal:0"                 a device of Apple's Metal (docs/contract/metal.md)
///   "cuda:0?context=primary"  shares the context with the process's other users of CUDA
///   "null"                    checks and counts everything, stores and runs nothing: measures slipring's own cost
///   "cuda,cpu"                a list: the first device that opens. slr_device_info.chosen says which and why
///   "auto"                    the best device that opens, in the order of slr_device_class: a GPU, an integrated GPU,
///                             "cpu", and only then other and software devices
/// Asking for one device never opens another.
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

/// A priority, 0 (lowest) to 255, in a field where zero means "default".
#define SLR_PRIORITY(priority) ((uint32_t)(priority) + 1u)
#define SLR_DEFAULT_PRIORITY 128u

typedef struct slr_device slr_device;

/// Options of slr_device_open. Zero means the default; fields are only appended.
typedef struct slr_device_desc {
    uint32_t struct_size;
    uint32_t reserved;
    const slr_allocator
        *allocator; ///< NULL: malloc. The struct is copied. Its functions must work until the device is closed
    uint64_t max_memory_bytes; ///< limit on the device's memory for buffers, a multiple of 64. 0: no limit
    slr_on_memory
        *on_memory;    ///< called at each allocation and free of buffer memory, and at close for each leak, or NULL
    void *memory_user; ///< passed to on_memory
    slr_on_print *on_print; ///< called with the output of printf in kernels and handlers. May be NULL
    void *print_user;       ///< passed to on_print
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

/// Size that holds any device's name with all options and the NUL.
#define SLR_DEVICE_NAME_BYTES 192

/// Kinds of device, best first. "auto" tries them in this order.
typedef enum slr_device_class {
    SLR_DEVICE_GPU = 1,        ///< a GPU with its own memory
    SLR_DEVICE_INTEGRATED_GPU, ///< a GPU that shares the host's memory
    SLR_DEVICE_CPU,            ///< "cpu"
    SLR_DEVICE_OTHER,          ///< a device that its driver calls neither a GPU nor a CPU
    SLR_DEVICE_SOFTWARE,       ///< a driver that computes on the host's cores, such as PoCL, or a simulated device
    SLR_DEVICE_NOTHING         ///< "null"
} slr_device_class;

/// A device's properties. All text is NUL-terminated.
typedef struct slr_device_info {
    char name[SLR_DEVICE_NAME_BYTES]; ///< the name that opens this device again: "cpu?engine=interpreted"
    char backend[16];                 ///< "cpu", "opencl", "cuda", "hip", "vulkan", "webgpu", "metal" or "null"
    char description[160];            ///< model and cores
    char engine[160];        ///< how handlers run: "compiled by /usr/bin/cc (gcc 12.2.0)", "interpreted", "none"
    char chosen[256];        ///< why this device, if a list or "auto" was requested; else ""
    char cache[256];         ///< the cache folder for compiled handlers and its state, or the reason why there is none
    uint32_t workers;        ///< threads that run handlers. 0: none
    uint32_t ring_kernels;   ///< 1: runs ring kernels without a kernel launch per message
    uint64_t memory_bytes;   ///< memory available to the device
    uint32_t unified_memory; ///< 1: host and device share memory, so no copies are needed
    char features[256];      ///< other capabilities, as words: "opencl=3.0 memory=fine fp64"; "" if nothing varies
    char notes[160];         ///< adjustments that slipring made, such as a variable that it set; or ""
    uint32_t kernels;        ///< 1: runs `__global__` kernels
    uint32_t compute_units;  ///< the device's count of its cores; 0: unknown
    uint32_t pauses;         ///< times that persistent ring kernels were paused: by slr_device_park, or by CUDA's needs
    /// Why ring kernels use batched launches by default although they could be persistent, or why they cannot be
    /// persistent; or "".
    char relaunch_reason[160];
    uint32_t stalls;   ///< of `pauses`: those for a driver call that did not return while persistent kernels ran
    char stalled[160]; ///< those driver calls: "cuMemAlloc_v2 3, cuStreamQuery 1"; or ""
    uint32_t unheard;  ///< work-groups of lost persistent kernels that are not known to have ended
    uint32_t reserved;
    uint64_t kept_bytes;   ///< memory that lost devices and handlers may still access: freed when they end, or never
    uint32_t device_class; ///< slr_device_class
    uint32_t reserved2;
    /// Why kernels are interpreted although the user did not ask for that: no C compiler, or one that fails; or "".
    char engine_reason[256];
} slr_device_info;

/// A backend of this library, and whether it can run on this machine.
typedef struct slr_backend_info {
    char name[16];
    slr_status status; ///< SLR_OK: the backend works here
    char reason[256];  ///< otherwise: what is missing and what to do
    uint32_t devices;  ///< number of devices that the backend has here
} slr_backend_info;

/// The name of the index'th backend of this library, static text; NULL after the last. The call starts no driver.
/// Threads: any.  Blocks: no.
SLR_API const char *slr_backend_name(uint32_t index);

/// Opens a device. `spec` is described above; NULL means SLIPRING_DEVICE, or "auto" if that is unset or empty. `desc`
/// may be NULL. "auto" starts the GPU drivers to query them. If the system shows no GPU, "auto" does not start OpenCL.
///
/// Threads: any.  Blocks: while a backend starts (the cpu starts its workers with the first ring kernel).
/// Owns: the caller gets the device: slr_device_close.
/// Errors: INVALID (malformed spec, unknown option or value), NO_MEMORY,
///   NO_DEVICE (no such backend, or it cannot run here; the message gives the reason).
SLR_API slr_status slr_device_open(const char *spec, const slr_device_desc *desc, slr_device **out);

/// The macro slr_device_open calls this function, with the version of the program's headers as `headers`
/// (SLR_VERSION_NUMBER; 0: unknown). If one of the program's structs is too new for the library, the message names both
/// versions.
SLR_API slr_status slr_device_open_from(const char *spec, const slr_device_desc *desc, uint32_t headers,
                                        slr_device **out);
#define slr_device_open(spec, desc, out) slr_device_open_from((spec), (desc), SLR_VERSION_NUMBER, (out))

/// Closes a device in three steps. It waits for all work submitted to the device's streams. It terminates the remaining
/// ring kernels at once; their pending messages are undelivered. Then it frees the device. Afterwards, programs,
/// buffers, streams, ports and ring kernels of the device may only be destroyed. NULL does nothing.
/// Threads: any, once. In a host function of one of the device's streams the call does nothing.
/// Blocks: until handlers and work in progress have returned.
SLR_API void slr_device_close(slr_device *device);

/// Threads: any.  Blocks: no.  Errors: INVALID (a NULL argument).
SLR_API slr_status slr_device_get_info(const slr_device *device, slr_device_info *out);

/// The macro slr_device_get_info calls this function, with the struct's size as `bytes` (docs/contract/abi.md).
SLR_API slr_status slr_device_get_info_sized(const slr_device *device, slr_device_info *out, size_t bytes);
#define slr_device_get_info(device, out) slr_device_get_info_sized((device), (out), sizeof(slr_device_info))

/// Reopens a lost device. Afterwards the device is in its initial state and its memory is empty. Programs remain valid.
/// The device's ring kernels fail, but keep addresses, ports and pending messages; slr_ring_restart resumes them.
/// Destroy the device's buffers, streams, recorded lists and heaps first. The default stream is a new one afterwards.
/// After an error the device remains lost, and the call may be repeated. On OpenCL, a kernel that has not ended may
/// continue to run; its memory is not reused (kept_bytes).
///
/// Threads: any, while no other thread uses the device except through ports and ring kernels.
/// Blocks: while the device opens, and until its ring kernels are quiescent, at most `timeout_ns`.
/// Errors: WRONG_STATE (the device was not lost; an object still exists or has just been launched), UNSUPPORTED (a
///   device that is never lost), TIMEOUT, INVALID (NULL), and those of opening it (DEVICE_LOST: it runs no kernel).
SLR_API slr_status slr_device_reopen(slr_device *device, uint64_t timeout_ns);

/// Quiesces a device's persistent ring kernels until slr_device_resume has been called as often. Use it around work
/// that persistent kernels would block, such as another library's allocations on the same GPU. Messages are still
/// accepted; they wait in the mailboxes. slipring's own driver calls pause persistent kernels automatically where
/// needed. Ring kernels with batched launches and on host threads continue to run.
///
/// Threads: any, except in a callback of a ring kernel.
/// Blocks: until messages in flight are handled, at most `timeout_ns`.
/// Errors: TIMEOUT (a handler is still running; the device is not paused), UNSUPPORTED (the device has no persistent
///   kernels), INVALID (NULL).
SLR_API slr_status slr_device_park(slr_device *device, uint64_t timeout_ns);

/// Undoes one call of slr_device_park. Persistent ring kernels run again when each such call has been undone.
/// Threads: any.  Blocks: no.  Errors: WRONG_STATE (no slr_device_park to end), INVALID (NULL).
SLR_API slr_status slr_device_resume(slr_device *device);

/// The backends of this library; `index` counts from 0.
/// Threads: any.  Blocks: while the backend is probed.  Errors: NOT_FOUND (index past the last), INVALID (NULL).
SLR_API slr_status slr_backend_get_info(uint32_t index, slr_backend_info *out);

/// The macro slr_backend_get_info calls this function, with the struct's size as `bytes` (docs/contract/abi.md).
SLR_API slr_status slr_backend_get_info_sized(uint32_t index, slr_backend_info *out, size_t bytes);
#define slr_backend_get_info(index, out) slr_backend_get_info_sized((index), (out), sizeof(slr_backend_info))

#ifdef __cplusplus
}
#endif
#endif
