// SPDX-License-Identifier: Apache-2.0
// As much of CUDA's driver and of NVRTC as this backend calls: types, numbers and tables of functions, all of our own
// writing, so that nothing of CUDA is needed to build. Names follow the driver's. 64-bit hosts.
#ifndef SLRI_HAL_CUDA_API_H
#define SLRI_HAL_CUDA_API_H

#include <slipring/status.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef int32_t slri_cu_device;
typedef uint64_t slri_cu_pointer; // an address on the device
typedef struct slri_cu_context_object *slri_cu_context;
typedef struct slri_cu_stream_object *slri_cu_stream;
typedef struct slri_cu_event_object *slri_cu_event;
typedef struct slri_cu_module_object *slri_cu_module;
typedef struct slri_cu_function_object *slri_cu_function;
typedef struct slri_cu_graph_object *slri_cu_graph;
typedef struct slri_cu_exec_object *slri_cu_exec; // a graph that can be launched
typedef struct slri_cu_link_object *slri_cu_link; // files of machine code that become one

#define SLRI_CU_ARCHITECTURE_BYTES 64
#define SLRI_CU_BUS_BYTES 16
struct slri_cu_vendor;

// X(result, name, parameters, their names): what every driver since CUDA 11 has.
#define SLRI_CU_REQUIRED(X)                                                                                            \
    X(int32_t, Init, (uint32_t flags), (flags))                                                                        \
    X(int32_t, DriverGetVersion, (int32_t * version), (version))                                                       \
    X(int32_t, GetErrorName, (int32_t error, const char **name), (error, name))                                        \
    X(int32_t, DeviceGetCount, (int32_t * count), (count))                                                             \
    X(int32_t, DeviceGet, (slri_cu_device * device, int32_t number), (device, number))                                 \
    X(int32_t, DeviceGetName, (char *name, int32_t room, slri_cu_device device), (name, room, device))                 \
    X(int32_t, DeviceGetUuid, (unsigned char uuid[16], slri_cu_device device), (uuid, device))                         \
    X(int32_t, DeviceTotalMem_v2, (size_t * bytes, slri_cu_device device), (bytes, device))                            \
    X(int32_t, DeviceGetAttribute, (int32_t * value, int32_t attribute, slri_cu_device device),                        \
      (value, attribute, device))                                                                                      \
    X(int32_t, DevicePrimaryCtxRetain, (slri_cu_context * context, slri_cu_device device), (context, device))          \
    X(int32_t, DevicePrimaryCtxRelease_v2, (slri_cu_device device), (device))                                          \
    X(int32_t, CtxCreate_v2, (slri_cu_context * context, uint32_t flags, slri_cu_device device),                       \
      (context, flags, device))                                                                                        \
    X(int32_t, CtxDestroy_v2, (slri_cu_context context), (context))                                                    \
    X(int32_t, CtxPushCurrent_v2, (slri_cu_context context), (context))                                                \
    X(int32_t, CtxPopCurrent_v2, (slri_cu_context * context), (context))                                               \
    X(int32_t, CtxGetStreamPriorityRange, (int32_t * least, int32_t * greatest), (least, greatest))                    \
    X(int32_t, MemAlloc_v2, (slri_cu_pointer * memory, size_t bytes), (memory, bytes))                                 \
    X(int32_t, MemFree_v2, (slri_cu_pointer memory), (memory))                                                         \
    X(int32_t, MemAllocManaged, (slri_cu_pointer * memory, size_t bytes, uint32_t flags), (memory, bytes, flags))      \
    X(int32_t, MemHostAlloc, (void **memory, size_t bytes, uint32_t flags), (memory, bytes, flags))                    \
    X(int32_t, MemFreeHost, (void *memory), (memory))                                                                  \
    X(int32_t, MemHostRegister_v2, (void *memory, size_t bytes, uint32_t flags), (memory, bytes, flags))               \
    X(int32_t, MemHostUnregister, (void *memory), (memory))                                                            \
    X(int32_t, MemHostGetDevicePointer_v2, (slri_cu_pointer * out, void *memory, uint32_t flags),                      \
      (out, memory, flags))                                                                                            \
    X(int32_t, MemcpyHtoDAsync_v2, (slri_cu_pointer to, const void *from, size_t bytes, slri_cu_stream stream),        \
      (to, from, bytes, stream))                                                                                       \
    X(int32_t, MemcpyDtoHAsync_v2, (void *to, slri_cu_pointer from, size_t bytes, slri_cu_stream stream),              \
      (to, from, bytes, stream))                                                                                       \
    X(int32_t, MemcpyDtoDAsync_v2, (slri_cu_pointer to, slri_cu_pointer from, size_t bytes, slri_cu_stream stream),    \
      (to, from, bytes, stream))                                                                                       \
    X(int32_t, PointerSetAttribute, (const void *value, int32_t attribute, slri_cu_pointer memory),                    \
      (value, attribute, memory))                                                                                      \
    X(int32_t, MemsetD8Async, (slri_cu_pointer to, unsigned char value, size_t count, slri_cu_stream stream),          \
      (to, value, count, stream))                                                                                      \
    X(int32_t, MemsetD16Async, (slri_cu_pointer to, uint16_t value, size_t count, slri_cu_stream stream),              \
      (to, value, count, stream))                                                                                      \
    X(int32_t, MemsetD32Async, (slri_cu_pointer to, uint32_t value, size_t count, slri_cu_stream stream),              \
      (to, value, count, stream))                                                                                      \
    X(int32_t, StreamCreateWithPriority, (slri_cu_stream * stream, uint32_t flags, int32_t priority),                  \
      (stream, flags, priority))                                                                                       \
    X(int32_t, StreamDestroy_v2, (slri_cu_stream stream), (stream))                                                    \
    X(int32_t, StreamSynchronize, (slri_cu_stream stream), (stream))                                                   \
    X(int32_t, StreamQuery, (slri_cu_stream stream), (stream))                                                         \
    X(int32_t, EventCreate, (slri_cu_event * event, uint32_t flags), (event, flags))                                   \
    X(int32_t, EventRecord, (slri_cu_event event, slri_cu_stream stream), (event, stream))                             \
    X(int32_t, EventSynchronize, (slri_cu_event event), (event))                                                       \
    X(int32_t, EventDestroy_v2, (slri_cu_event event), (event))                                                        \
    X(int32_t, ModuleLoadData, (slri_cu_module * module, const void *image), (module, image))                          \
    X(int32_t, ModuleUnload, (slri_cu_module module), (module))                                                        \
    X(int32_t, ModuleGetFunction, (slri_cu_function * function, slri_cu_module module, const char *name),              \
      (function, module, name))                                                                                        \
    X(int32_t, FuncGetAttribute, (int32_t * value, int32_t attribute, slri_cu_function function),                      \
      (value, attribute, function))                                                                                    \
    X(int32_t, FuncSetAttribute, (slri_cu_function function, int32_t attribute, int32_t value),                        \
      (function, attribute, value))                                                                                    \
    X(int32_t, LaunchKernel,                                                                                           \
      (slri_cu_function function, uint32_t grid_x, uint32_t grid_y, uint32_t grid_z, uint32_t block_x,                 \
       uint32_t block_y, uint32_t block_z, uint32_t shared_bytes, slri_cu_stream stream, void **parameter,             \
       void **extra),                                                                                                  \
      (function, grid_x, grid_y, grid_z, block_x, block_y, block_z, shared_bytes, stream, parameter, extra))           \
    X(int32_t, OccupancyMaxActiveBlocksPerMultiprocessor,                                                              \
      (int32_t * blocks, slri_cu_function function, int32_t block_threads, size_t shared_bytes),                       \
      (blocks, function, block_threads, shared_bytes))                                                                 \
    X(int32_t, LinkCreate_v2, (uint32_t options, int32_t * option, void **value, slri_cu_link *link),                  \
      (options, option, value, link))                                                                                  \
    X(int32_t, LinkAddData_v2,                                                                                         \
      (slri_cu_link link, int32_t type, void *data, size_t bytes, const char *name, uint32_t options, int32_t *option, \
       void **value),                                                                                                  \
      (link, type, data, bytes, name, options, option, value))                                                         \
    X(int32_t, LinkComplete, (slri_cu_link link, void **cubin, size_t *bytes), (link, cubin, bytes))                   \
    X(int32_t, LinkDestroy, (slri_cu_link link), (link))

// What later drivers have; NULL where it is missing.
#define SLRI_CU_OPTIONAL(X)                                                                                            \
    X(int32_t, FuncLoad, (slri_cu_function function), (function)) /* 12.4 */                                           \
    X(int32_t, DeviceGetUuid_v2, (unsigned char uuid[16], slri_cu_device device),                                      \
      (uuid, device)) /* 11.4: tells MIG instances apart */                                                            \
    X(int32_t, DeviceCanAccessPeer, (int32_t * can, slri_cu_device device, slri_cu_device peer), (can, device, peer))  \
    X(int32_t, DeviceGetP2PAttribute, (int32_t * value, int32_t attribute, slri_cu_device from, slri_cu_device to),    \
      (value, attribute, from, to))                                                                                    \
    X(int32_t, CtxEnablePeerAccess, (slri_cu_context peer, uint32_t flags), (peer, flags))                             \
    X(int32_t, MemcpyPeerAsync,                                                                                        \
      (slri_cu_pointer to, slri_cu_context to_context, slri_cu_pointer from, slri_cu_context from_context,             \
       size_t bytes, slri_cu_stream stream),                                                                           \
      (to, to_context, from, from_context, bytes, stream))                                                             \
    X(int32_t, DevicePrimaryCtxGetState, (slri_cu_device device, uint32_t * flags, int32_t * active),                  \
      (device, flags, active))                                                                                         \
    X(int32_t, StreamBeginCapture_v2, (slri_cu_stream stream, int32_t mode), (stream, mode))                           \
    X(int32_t, StreamEndCapture, (slri_cu_stream stream, slri_cu_graph * graph), (stream, graph))                      \
    X(int32_t, GraphInstantiateWithFlags, (slri_cu_exec * exec, slri_cu_graph graph, uint64_t flags),                  \
      (exec, graph, flags)) /* 11.4 */                                                                                 \
    X(int32_t, GraphDestroy, (slri_cu_graph graph), (graph))                                                           \
    X(int32_t, GraphExecDestroy, (slri_cu_exec exec), (exec))                                                          \
    X(int32_t, GraphLaunch, (slri_cu_exec exec, slri_cu_stream stream), (exec, stream))

struct slri_cu {
#define SLRI_CU_MEMBER(result, name, parameters, arguments) result(*name) parameters;
    SLRI_CU_REQUIRED(SLRI_CU_MEMBER)
    SLRI_CU_OPTIONAL(SLRI_CU_MEMBER)
#undef SLRI_CU_MEMBER
    // NULL, or what the vendor's compiler calls the device, where two numbers do not say it.
    int32_t (*architecture)(slri_cu_device device, char out[SLRI_CU_ARCHITECTURE_BYTES]);
    int32_t (*bus_id)(slri_cu_device device, char out[SLRI_CU_BUS_BYTES]); // "0000:c3:00.0"
    const struct slri_cu_vendor *vendor;                                   // vendor.h
    int32_t version;                                                       // 13000: CUDA 13.0
    bool simulated;                                                        // it says of itself that it has no GPU
};

// X(number, what it is to the user). An error that is not here may be a vendor's newest: what it means for the device
// is not known, and the device counts as lost, as it is after every error of a running kernel.
#define SLRI_CU_ERRORS(X)                                                                                              \
    X(1, INTERNAL)      /* INVALID_VALUE */                                                                            \
    X(2, NO_MEMORY)     /* OUT_OF_MEMORY */                                                                            \
    X(34, NO_DEVICE)    /* STUB_LIBRARY */                                                                             \
    X(36, UNSUPPORTED)  /* CALL_REQUIRES_NEWER_DRIVER */                                                               \
    X(46, NO_DEVICE)    /* DEVICE_UNAVAILABLE */                                                                       \
    X(100, NO_DEVICE)   /* NO_DEVICE */                                                                                \
    X(101, NO_DEVICE)   /* INVALID_DEVICE */                                                                           \
    X(102, NO_DEVICE)   /* DEVICE_NOT_LICENSED */                                                                      \
    X(200, UNSUPPORTED) /* INVALID_IMAGE */                                                                            \
    X(209, UNSUPPORTED) /* NO_BINARY_FOR_GPU */                                                                        \
    X(221, UNSUPPORTED) /* JIT_COMPILER_NOT_FOUND: a library beside the driver's, which links */                       \
    X(222, UNSUPPORTED) /* UNSUPPORTED_PTX_VERSION */                                                                  \
    X(223, UNSUPPORTED) /* JIT_COMPILATION_DISABLED */                                                                 \
    X(304, SYSTEM)      /* OPERATING_SYSTEM */                                                                         \
    X(400, INTERNAL)    /* INVALID_HANDLE */                                                                           \
    X(500, NOT_FOUND)   /* NOT_FOUND */                                                                                \
    X(701, UNSUPPORTED) /* LAUNCH_OUT_OF_RESOURCES */                                                                  \
    X(712, INVALID)     /* HOST_MEMORY_ALREADY_REGISTERED */                                                           \
    X(713, INTERNAL)    /* HOST_MEMORY_NOT_REGISTERED */                                                               \
    X(800, UNSUPPORTED) /* NOT_PERMITTED */                                                                            \
    X(801, UNSUPPORTED) /* NOT_SUPPORTED */                                                                            \
    X(900, UNSUPPORTED) /* STREAM_CAPTURE_UNSUPPORTED, and what else may go wrong with a capture */                    \
    X(901, UNSUPPORTED)                                                                                                \
    X(905, UNSUPPORTED)                                                                                                \
    X(906, UNSUPPORTED)                                                                                                \
    X(907, UNSUPPORTED)                                                                                                \
    X(908, INTERNAL)                                                                                                   \
    X(802, NO_DEVICE) /* SYSTEM_NOT_READY */                                                                           \
    X(803, NO_DEVICE) /* SYSTEM_DRIVER_MISMATCH */                                                                     \
    X(804, NO_DEVICE) /* COMPAT_NOT_SUPPORTED_ON_DEVICE */                                                             \
    X(805, NO_DEVICE) /* MPS_CONNECTION_FAILED, and why else its server may refuse */                                  \
    X(807, NO_DEVICE)                                                                                                  \
    X(808, NO_DEVICE)                                                                                                  \
    X(809, NO_DEVICE)

// X(what it is here, number): what is asked of a device.
#define SLRI_CU_ATTRIBUTES(X)                                                                                          \
    X(block_threads, 1)                                                                                                \
    X(shared_bytes, 8)                                                                                                 \
    X(warp, 10)                                                                                                        \
    X(clock_khz, 13)                                                                                                   \
    X(multiprocessors, 16)                                                                                             \
    X(time_limit, 17)                 /* 1: kernels are ended that run long, because it drives a display */            \
    X(integrated, SLRI_CU_INTEGRATED) /* 1: its memory is the host's */                                                \
    X(memory_khz, 36)                                                                                                  \
    X(bus_bits, 37)                                                                                                    \
    X(unit_threads, 39)                                                                                                \
    X(l2_bytes, 38)                                                                                                    \
    X(copy_engines, 40)                                                                                                \
    X(unified_addressing, 41)                                                                                          \
    X(major, 75)                                                                                                       \
    X(minor, 76)                                                                                                       \
    X(unit_shared, 81) /* of a multiprocessor, and the next */                                                         \
    X(registers, 82)                                                                                                   \
    X(registered_address, 91) /* memory of the process that is registered has the host's address on the device */      \
    X(concurrent_managed, 89) /* host and device may use managed memory at the same time */                            \
    X(shared_most, 97)        /* a block, where it is asked for */

// What older drivers do not know: 0 then.
#define SLRI_CU_OPTIONAL_ATTRIBUTES(X)                                                                                 \
    X(unit_blocks, 106)                                                                                                \
    X(mps, 133) /* 1: its contexts are shared with other processes through MPS */

#define SLRI_CU_SUCCESS 0
#define SLRI_CU_INTEGRATED 18
#define SLRI_CU_LINK_CUBIN 0
#define SLRI_CU_NO_DEVICE 100
#define SLRI_CU_NOT_READY 600 // no failure: what was asked about is not done
#define SLRI_CU_SCHEDULE_YIELD 2u
#define SLRI_CU_STREAM_NON_BLOCKING 1u
#define SLRI_CU_EVENT_UNTIMED 2u
#define SLRI_CU_CAPTURE_THREAD 1        // what other threads do meanwhile is no matter
#define SLRI_CU_HOST_PORTABLE 1u        // pinned for all contexts; the same numbers for memory that is registered
#define SLRI_CU_HOST_MAPPED 2u          // and in the device's address space
#define SLRI_CU_ATTACH_GLOBAL 1u        // managed memory, for all streams
#define SLRI_CU_FUNCTION_MOST_THREADS 0 // of a block
#define SLRI_CU_POINTER_SYNC_MEMOPS 6   // of memory: what the driver does with it is over when the call returns
#define SLRI_CU_FUNCTION_SHARED 1       // bytes, static
#define SLRI_CU_FUNCTION_LOCAL 3        // bytes of a thread
#define SLRI_CU_FUNCTION_REGISTERS 4    // of a thread
#define SLRI_CU_FUNCTION_MOST_DYNAMIC 8 // bytes of `extern __shared__` memory

// error.c: what an error of the driver is to the user.
slr_status slri_cu_status(int32_t error);
// Whether the manual says of the error that a fault has ended all work of the context.
bool slri_cu_is_fault(int32_t error);
// The failure of the driver's `call` on `device`, with the error's name.
slr_status slri_cu_failed(const struct slri_cu *cu, const char *device, const char *call, int32_t error);

#endif
