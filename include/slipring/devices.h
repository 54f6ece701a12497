// SPDX-License-Identifier: Apache-2.0
/// With the functions of this header, a program opens a device by its name, and reads the device's properties.
/// Contract: docs/contract/devices.md.
///
/// A string gives the name of a device. A device has the same name in C, on the command line and in the variable
/// SLIPRING_DEVICE:
///   "cpu"                     this machine's cores; slipring compiles kernels, or interprets them without a C compiler
///   "cpu?engine=compiled"     always compiles kernels; without a C compiler, the device does not open
///   "cpu?engine=interpreted"  always interprets kernels
///   "cpu?compiler=tried"      tests the compiler at open, and interprets kernels from the start if the compiler fails
///   "cpu?threads=1"           number of worker threads, 1 to 256. Default: one per usable core, at most 64
///   "cpu?unified=0"           acts as if the device had its own memory: slipring makes and counts copies
///   "opencl:1"                an OpenCL device, by its number; numbers count the devices of all platforms
///   "opencl:0?svm=0"          slipring does not put buffers into OpenCL's shared virtual memory
///   "opencl:0?memory=plain"   kind of memory for buffers: plain, fine, coarse or host (docs/contract/opencl.md)
///   "cuda:1"                  an NVIDIA GPU, by the driver's index; "cuda:GPU-8f2c" by its UUID (nvidia-smi -L)
///   "hip:0"                   an AMD GPU, by the index of HIP's runtime (docs/contract/hip.md)
///   "vulkan:0"                a device of any Vulkan driver; "vulkan:UUID-8f2c" by its UUID, "vulkan:NAME" by its name
///   "webgpu:0"                an adapter of wgpu-native (docs/contract/webgpu.md)
///   "metal:0"                 a device of Apple's Metal (docs/contract/metal.md)
///   "cuda:0?context=primary"  uses the CUDA context that other libraries of the process use, too
///   "null"                    checks and counts all calls, but stores and runs nothing: to measure slipring's own cost
///   "cuda,cpu"                a list: the first device of the list that opens. slr_device_info.chosen gives the reason
///   "auto"                    the best device that opens, in the order of slr_device_class: a GPU, an integrated GPU,
///                             "cpu", and last SLR_DEVICE_OTHER and SLR_DEVICE_SOFTWARE
/// A request for one device never opens another device.
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

/// SLR_PRIORITY converts a priority, from 0 (lowest) to 255 (highest), to the value of a field in which zero means
/// "default".
#define SLR_PRIORITY(priority) ((uint32_t)(priority) + 1u)
#define SLR_DEFAULT_PRIORITY 128u

typedef struct slr_device slr_device;

/// The options of slr_device_open. A zero in any field of slr_device_desc means the default. Later versions of slipring
/// only append fields to slr_device_desc.
typedef struct slr_device_desc {
    uint32_t struct_size;
    uint32_t reserved;
    /// `allocator` points to the functions that supply host memory; if `allocator` is NULL, slipring uses malloc.
    /// slipring copies the struct slr_allocator. The functions of the allocator must work until the device is closed.
    const slr_allocator *allocator;
    uint64_t max_memory_bytes; ///< limit on the memory of all the device's buffers, a multiple of 64. 0: no limit
    /// slipring calls `on_memory` at each allocation and each free of memory for buffers. slr_device_close calls
    /// `on_memory` for all memory for buffers that is still allocated (leaks). The function `on_memory` may be NULL.
    slr_on_memory *on_memory;
    void *memory_user;      ///< the argument `user` of on_memory
    slr_on_print *on_print; ///< gets the output of printf in kernels and handlers. May be NULL
    void *print_user;       ///< the argument `user` of on_print
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

/// A text of SLR_DEVICE_NAME_BYTES bytes holds any device's name with all options and the NUL.
#define SLR_DEVICE_NAME_BYTES 192

/// slr_device_class lists the kinds of device, the best kind first. The device name "auto" tries the kinds in the order
/// of slr_device_class.
typedef enum slr_device_class {
    SLR_DEVICE_GPU = 1,        ///< a GPU with its own memory
    SLR_DEVICE_INTEGRATED_GPU, ///< a GPU that shares the host's memory
    SLR_DEVICE_CPU,            ///< the device "cpu"
    SLR_DEVICE_OTHER,          ///< a device that its driver calls neither a GPU nor a CPU
    SLR_DEVICE_SOFTWARE,       ///< a driver that computes on the host's cores, such as PoCL, or a simulated device
    SLR_DEVICE_NOTHING         ///< the device "null"
} slr_device_class;

/// slr_device_info has the properties of a device. All texts in slr_device_info end with a NUL.
typedef struct slr_device_info {
    char name[SLR_DEVICE_NAME_BYTES]; ///< a name that opens this device again, such as "cpu?engine=interpreted"
    char backend[16];                 ///< "cpu", "opencl", "cuda", "hip", "vulkan", "webgpu", "metal" or "null"
    char description[160];            ///< the device's model and its number of cores, as text
    char engine[160]; ///< how handlers run: "compiled by /usr/bin/cc (gcc 12.2.0)", "interpreted", "none"
    char chosen[256]; ///< why slipring chose this device, if a list or "auto" was requested; else ""
    char cache[256];  ///< path of the cache folder for compiled code; "none: " and the reason if there is no folder
    uint32_t workers; ///< number of threads of the host that run handlers; 0: none
    uint32_t ring_kernels;   ///< 1: runs ring kernels (message handlers) without a kernel launch per message
    uint64_t memory_bytes;   ///< memory available to the device, in bytes
    uint32_t unified_memory; ///< 1: host and device share memory, so no copies are needed
    char features[256];      ///< further capabilities, as words: "opencl=3.0 memory=fine fp64"; may be ""
    char notes[160];         ///< changes that slipring made for the device, such as an environment variable that it set
    uint32_t kernels;        ///< 1: runs `__global__` kernels
    uint32_t compute_units;  ///< cores or multiprocessors that the device reports; 0: unknown
    uint32_t pauses; ///< how often persistent kernels stopped for a while: by slr_device_park, or for driver calls
    /// `relaunch_reason` says why the device by default does not run ring kernels in a persistent kernel, but by
    /// batched launches (a kernel launch for each batch of messages). If ring kernels are persistent by default,
    /// `relaunch_reason` is "".
    char relaunch_reason[160];
    uint32_t stalls;   ///< how many of `pauses` were for driver calls that did not return while persistent kernels ran
    char stalled[160]; ///< the driver calls that `stalls` counts: "cuMemAlloc_v2 3, cuStreamQuery 1"; or ""
    uint32_t unheard; ///< number of work-groups of lost persistent kernels that may still run, as far as slipring knows
    uint32_t reserved;
    uint64_t kept_bytes;   ///< bytes of this process that kernels of lost devices, or handlers that do not return, may
                           ///< still access
    uint32_t device_class; ///< an slr_device_class
    uint32_t reserved2;
    /// `engine_reason` says why slipring interprets kernels although the user did not request the interpreter: there is
    /// no C compiler, or the C compiler fails. Otherwise `engine_reason` is "".
    char engine_reason[256];
} slr_device_info;

/// slr_backend_info describes one backend of this library, and says whether the backend can run on this machine.
typedef struct slr_backend_info {
    char name[16];     ///< the backend's name, such as "opencl"
    slr_status status; ///< SLR_OK: the backend can run on this machine
    char reason[256];  ///< if `status` is not SLR_OK: what is missing, and what to do
    uint32_t devices;  ///< number of devices that the backend has on this machine
} slr_backend_info;

/// Returns the name of the backend with number `index` (counted from 0) as static text, or NULL after the last backend.
/// slr_backend_name starts no driver.
/// Threads: any.  Blocks: no.
SLR_API const char *slr_backend_name(uint32_t index);

/// Opens the device that `spec` names. The comment at the top of <slipring/devices.h> describes `spec`. If `spec` is
/// NULL, slr_device_open takes the value of the environment variable SLIPRING_DEVICE, or "auto" if this variable is
/// unset or empty. `desc` may be NULL. "auto" starts each GPU driver and asks the driver for its devices. If the folder
/// /dev shows no GPU, "auto" does not start OpenCL, Vulkan and WebGPU, unless an environment variable names their
/// library (docs/contract/devices.md).
///
/// Threads: any.  Blocks: while a backend starts. The device cpu starts its worker threads later, when the program
/// activates the device's first ring kernel.
/// Owns: the caller gets the device, and frees it by slr_device_close.
/// Errors: INVALID (a malformed `spec`, an unknown option or value), NO_MEMORY, NO_DEVICE (no such backend, or the
///   backend cannot run on this machine; the error message gives the reason).
SLR_API slr_status slr_device_open(const char *spec, const slr_device_desc *desc, slr_device **out);

/// The macro slr_device_open calls slr_device_open_from with the version of the program's headers as `headers`
/// (SLR_VERSION_NUMBER; 0: unknown). If one of the program's structs is too new for the library, the error message
/// names the versions of the headers and of the library.
SLR_API slr_status slr_device_open_from(const char *spec, const slr_device_desc *desc, uint32_t headers,
                                        slr_device **out);
#define slr_device_open(spec, desc, out) slr_device_open_from((spec), (desc), SLR_VERSION_NUMBER, (out))

/// Closes a device in three steps: slr_device_close waits for all work that was submitted to the device's streams,
/// terminates the remaining ring kernels at once, and frees the device. Messages that these ring kernels had not yet
/// handled reach no handler. After slr_device_close, the program may only destroy the device's programs, buffers,
/// streams, ports and ring kernels. If `device` is NULL, slr_device_close does nothing.
/// Threads: any, once for each device. If a host function of one of the device's streams calls slr_device_close, the
/// call does nothing.
/// Blocks: until all handlers and other work that run on the device have ended.
SLR_API void slr_device_close(slr_device *device);

/// Gives the properties of a device.
/// Threads: any.  Blocks: no.  Errors: INVALID (a NULL argument).
SLR_API slr_status slr_device_get_info(const slr_device *device, slr_device_info *out);

/// The macro slr_device_get_info calls slr_device_get_info_sized with sizeof(slr_device_info) as `bytes`
/// (docs/contract/abi.md).
SLR_API slr_status slr_device_get_info_sized(const slr_device *device, slr_device_info *out, size_t bytes);
#define slr_device_get_info(device, out) slr_device_get_info_sized((device), (out), sizeof(slr_device_info))

/// Opens a lost device again. After slr_device_reopen the device is in its initial state, and its memory is empty. The
/// device's programs remain valid after slr_device_reopen. The device's ring kernels fail, but keep their addresses,
/// ports and pending messages; slr_ring_restart resumes them. Before slr_device_reopen, the program destroys the
/// device's buffers, streams, graphs and heaps. After slr_device_reopen, slr_stream_default gives a new default stream.
/// If slr_device_reopen fails, the device remains lost, and the program may call slr_device_reopen again. On OpenCL, a
/// kernel of the lost device may still run after slr_device_reopen; slipring does not use that kernel's memory again,
/// and counts this memory in slr_device_info.kept_bytes.
///
/// Threads: any, while other threads use the device only through ports and ring kernels.
/// Blocks: while the device opens; then until no handler of its ring kernels runs any more, but for at most
/// `timeout_ns`.
/// Errors: WRONG_STATE (the device was not lost; a buffer, stream, graph or heap of the device still exists; a ring
///   kernel is just being launched or restarted), UNSUPPORTED (a device that is never lost), TIMEOUT, INVALID (a NULL
///   argument), and those of slr_device_open (DEVICE_LOST: the device still runs no kernel).
SLR_API slr_status slr_device_reopen(slr_device *device, uint64_t timeout_ns);

/// Stops the persistent kernels of a device (the kernels that run all the time and handle messages) for a while.
/// slipring's word for this stop is to quiesce. The persistent kernels stay quiesced until slr_device_resume has been
/// called as often as slr_device_park. Use slr_device_park and slr_device_resume around work that persistent kernels
/// would block, such as another library's allocations on the same GPU. Senders can still send messages, which wait in
/// the mailboxes. slipring itself quiesces persistent kernels around its own driver calls, if necessary.
/// slr_device_park stops neither ring kernels with batched launches (a kernel launch for each batch of messages) nor
/// ring kernels on host threads.
///
/// Threads: any, but no function that a ring kernel calls (such as a host handler) may call slr_device_park.
/// Blocks: until the persistent kernels have handled the messages in flight, but for at most `timeout_ns`.
/// Errors: TIMEOUT (a handler is still running; the device is not quiesced), UNSUPPORTED (the device has no persistent
///   kernels), INVALID (a NULL argument).
SLR_API slr_status slr_device_park(slr_device *device, uint64_t timeout_ns);

/// Undoes one call of slr_device_park. When slr_device_resume has undone every call of slr_device_park, the persistent
/// kernels of the device run again.
/// Threads: any.  Blocks: no.  Errors: WRONG_STATE (there is no call of slr_device_park to undo), INVALID (a NULL
/// argument).
SLR_API slr_status slr_device_resume(slr_device *device);

/// Describes one backend of this library in `out`; `index` counts the backends from 0.
/// Threads: any.  Blocks: while slipring tests whether the backend can run on this machine.  Errors: NOT_FOUND (`index`
/// is past the last backend), INVALID (a NULL argument).
SLR_API slr_status slr_backend_get_info(uint32_t index, slr_backend_info *out);

/// The macro slr_backend_get_info calls slr_backend_get_info_sized with sizeof(slr_backend_info) as `bytes`
/// (docs/contract/abi.md).
SLR_API slr_status slr_backend_get_info_sized(uint32_t index, slr_backend_info *out, size_t bytes);
#define slr_backend_get_info(index, out) slr_backend_get_info_sized((index), (out), sizeof(slr_backend_info))

#ifdef __cplusplus
}
#endif
#endif
