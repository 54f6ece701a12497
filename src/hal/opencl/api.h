// SPDX-License-Identifier: Apache-2.0
// As much of OpenCL as this backend calls: types, numbers and a table of functions, all of our own writing, so that
// nothing of it is needed to build. Names follow OpenCL's.
#ifndef SLRI_HAL_OPENCL_API_H
#define SLRI_HAL_OPENCL_API_H

#include <slipring/status.h>

#include <stddef.h>
#include <stdint.h>

typedef struct slri_cl_platform_object *slri_cl_platform;
typedef struct slri_cl_device_object *slri_cl_device_id;
typedef struct slri_cl_context_object *slri_cl_context;
typedef struct slri_cl_queue_object *slri_cl_queue;
typedef struct slri_cl_mem_object *slri_cl_mem;
typedef struct slri_cl_program_object *slri_cl_program;
typedef struct slri_cl_kernel_object *slri_cl_kernel;
typedef struct slri_cl_event_object *slri_cl_event;

// X(result, name, parameters): what every OpenCL 1.2 has.
#define SLRI_CL_REQUIRED(X)                                                                                            \
    X(int32_t, GetPlatformIDs, (uint32_t room, slri_cl_platform * out, uint32_t * count))                              \
    X(int32_t, GetPlatformInfo, (slri_cl_platform, uint32_t what, size_t room, void *out, size_t *bytes))              \
    X(int32_t, GetDeviceIDs,                                                                                           \
      (slri_cl_platform, uint64_t type, uint32_t room, slri_cl_device_id * out, uint32_t * count))                     \
    X(int32_t, GetDeviceInfo, (slri_cl_device_id, uint32_t what, size_t room, void *out, size_t *bytes))               \
    X(slri_cl_context, CreateContext,                                                                                  \
      (const intptr_t *properties, uint32_t devices, const slri_cl_device_id *, void *notify, void *user,              \
       int32_t *error))                                                                                                \
    X(int32_t, ReleaseContext, (slri_cl_context))                                                                      \
    X(slri_cl_queue, CreateCommandQueue, (slri_cl_context, slri_cl_device_id, uint64_t properties, int32_t * error))   \
    X(int32_t, ReleaseCommandQueue, (slri_cl_queue))                                                                   \
    X(slri_cl_mem, CreateBuffer, (slri_cl_context, uint64_t flags, size_t bytes, void *host, int32_t *error))          \
    X(slri_cl_mem, CreateSubBuffer, (slri_cl_mem, uint64_t flags, uint32_t type, const void *region, int32_t *error))  \
    X(int32_t, ReleaseMemObject, (slri_cl_mem))                                                                        \
    X(int32_t, EnqueueReadBuffer,                                                                                      \
      (slri_cl_queue, slri_cl_mem, uint32_t blocking, size_t offset, size_t bytes, void *to, uint32_t waits,           \
       const slri_cl_event *, slri_cl_event *))                                                                        \
    X(int32_t, EnqueueWriteBuffer,                                                                                     \
      (slri_cl_queue, slri_cl_mem, uint32_t blocking, size_t offset, size_t bytes, const void *from, uint32_t waits,   \
       const slri_cl_event *, slri_cl_event *))                                                                        \
    X(int32_t, EnqueueCopyBuffer,                                                                                      \
      (slri_cl_queue, slri_cl_mem from, slri_cl_mem to, size_t from_offset, size_t to_offset, size_t bytes,            \
       uint32_t waits, const slri_cl_event *, slri_cl_event *))                                                        \
    X(int32_t, EnqueueFillBuffer,                                                                                      \
      (slri_cl_queue, slri_cl_mem, const void *pattern, size_t pattern_bytes, size_t offset, size_t bytes,             \
       uint32_t waits, const slri_cl_event *, slri_cl_event *))                                                        \
    X(int32_t, WaitForEvents, (uint32_t count, const slri_cl_event *))                                                 \
    X(int32_t, GetEventInfo, (slri_cl_event, uint32_t what, size_t room, void *out, size_t *bytes))                    \
    X(int32_t, GetEventProfilingInfo, (slri_cl_event, uint32_t what, size_t room, void *out, size_t *bytes))           \
    X(int32_t, ReleaseEvent, (slri_cl_event))                                                                          \
    X(int32_t, Flush, (slri_cl_queue))                                                                                 \
    X(slri_cl_program, CreateProgramWithSource,                                                                        \
      (slri_cl_context, uint32_t count, const char **text, const size_t *bytes, int32_t *error))                       \
    X(slri_cl_program, CreateProgramWithBinary,                                                                        \
      (slri_cl_context, uint32_t count, const slri_cl_device_id *, const size_t *bytes, const unsigned char **binary,  \
       int32_t *each, int32_t *error))                                                                                 \
    X(int32_t, BuildProgram,                                                                                           \
      (slri_cl_program, uint32_t devices, const slri_cl_device_id *, const char *options, void *notify, void *user))   \
    X(int32_t, GetProgramBuildInfo,                                                                                    \
      (slri_cl_program, slri_cl_device_id, uint32_t what, size_t room, void *out, size_t *bytes))                      \
    X(int32_t, GetProgramInfo, (slri_cl_program, uint32_t what, size_t room, void *out, size_t *bytes))                \
    X(int32_t, ReleaseProgram, (slri_cl_program))                                                                      \
    X(slri_cl_kernel, CreateKernel, (slri_cl_program, const char *name, int32_t *error))                               \
    X(int32_t, SetKernelArg, (slri_cl_kernel, uint32_t index, size_t bytes, const void *value))                        \
    X(int32_t, ReleaseKernel, (slri_cl_kernel))                                                                        \
    X(int32_t, GetKernelWorkGroupInfo,                                                                                 \
      (slri_cl_kernel, slri_cl_device_id, uint32_t what, size_t room, void *out, size_t *bytes))                       \
    X(int32_t, EnqueueNDRangeKernel,                                                                                   \
      (slri_cl_queue, slri_cl_kernel, uint32_t dimensions, const size_t *offset, const size_t *global,                 \
       const size_t *local, uint32_t waits, const slri_cl_event *, slri_cl_event *))

// What only OpenCL 2.0 and later have; NULL where it is missing. Used where the device says that it has SVM, or
// sub-groups, or takes SPIR-V. The marker is of 1.2, for work of other libraries alone.
#define SLRI_CL_OPTIONAL(X)                                                                                            \
    X(slri_cl_queue, CreateCommandQueueWithProperties,                                                                 \
      (slri_cl_context, slri_cl_device_id, const uint64_t *properties, int32_t *error))                                \
    X(int32_t, EnqueueMarkerWithWaitList, (slri_cl_queue, uint32_t waits, const slri_cl_event *, slri_cl_event *))     \
    X(slri_cl_program, CreateProgramWithIL, (slri_cl_context, const void *words, size_t bytes, int32_t *error))        \
    X(int32_t, GetKernelInfo, (slri_cl_kernel, uint32_t what, size_t room, void *out, size_t *bytes))                  \
    X(void *, SVMAlloc, (slri_cl_context, uint64_t flags, size_t bytes, uint32_t alignment))                           \
    X(void, SVMFree, (slri_cl_context, void *memory))                                                                  \
    X(int32_t, EnqueueSVMMemcpy,                                                                                       \
      (slri_cl_queue, uint32_t blocking, void *to, const void *from, size_t bytes, uint32_t waits,                     \
       const slri_cl_event *, slri_cl_event *))                                                                        \
    X(int32_t, EnqueueSVMMemFill,                                                                                      \
      (slri_cl_queue, void *to, const void *pattern, size_t pattern_bytes, size_t bytes, uint32_t waits,               \
       const slri_cl_event *, slri_cl_event *))                                                                        \
    X(int32_t, SetEventCallback,                                                                                       \
      (slri_cl_event, int32_t status, void (*call)(slri_cl_event, int32_t status, void *user), void *user))            \
    X(int32_t, SetKernelArgSVMPointer, (slri_cl_kernel, uint32_t index, const void *value))                            \
    X(int32_t, SetKernelExecInfo, (slri_cl_kernel, uint32_t what, size_t bytes, const void *value))                    \
    X(int32_t, GetKernelSubGroupInfo,                                                                                  \
      (slri_cl_kernel, slri_cl_device_id, uint32_t what, size_t in_bytes, const void *in, size_t room, void *out,      \
       size_t *bytes))

struct slri_cl {
#define SLRI_CL_MEMBER(result, name, parameters) result(*name) parameters;
    SLRI_CL_REQUIRED(SLRI_CL_MEMBER) SLRI_CL_OPTIONAL(SLRI_CL_MEMBER)
#undef SLRI_CL_MEMBER
};

// X(name, number, what it is to the user). Errors that stand for a defect of ours are INTERNAL.
#define SLRI_CL_ERRORS(X)                                                                                              \
    X(DEVICE_NOT_FOUND, -1, NO_DEVICE)                                                                                 \
    X(DEVICE_NOT_AVAILABLE, -2, DEVICE_LOST)                                                                           \
    X(COMPILER_NOT_AVAILABLE, -3, UNSUPPORTED)                                                                         \
    X(MEM_OBJECT_ALLOCATION_FAILURE, -4, NO_MEMORY)                                                                    \
    X(OUT_OF_RESOURCES, -5, NO_MEMORY)                                                                                 \
    X(OUT_OF_HOST_MEMORY, -6, NO_MEMORY)                                                                               \
    X(PROFILING_INFO_NOT_AVAILABLE, -7, INTERNAL)                                                                      \
    X(MEM_COPY_OVERLAP, -8, INTERNAL)                                                                                  \
    X(BUILD_PROGRAM_FAILURE, -11, COMPILE)                                                                             \
    X(MISALIGNED_SUB_BUFFER_OFFSET, -13, INTERNAL)                                                                     \
    X(EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST, -14, DEVICE_LOST)                                                     \
    X(INVALID_VALUE, -30, INTERNAL)                                                                                    \
    X(INVALID_DEVICE, -33, DEVICE_LOST)                                                                                \
    X(INVALID_CONTEXT, -34, DEVICE_LOST)                                                                               \
    X(INVALID_COMMAND_QUEUE, -36, DEVICE_LOST)                                                                         \
    X(INVALID_MEM_OBJECT, -38, INTERNAL)                                                                               \
    X(INVALID_BINARY, -42, NOT_FOUND)                                                                                  \
    X(INVALID_BUILD_OPTIONS, -43, UNSUPPORTED)                                                                         \
    X(INVALID_PROGRAM_EXECUTABLE, -45, INTERNAL)                                                                       \
    X(INVALID_KERNEL_NAME, -46, INTERNAL)                                                                              \
    X(INVALID_KERNEL_ARGS, -52, INTERNAL)                                                                              \
    X(INVALID_WORK_GROUP_SIZE, -54, UNSUPPORTED)                                                                       \
    X(INVALID_WORK_ITEM_SIZE, -55, UNSUPPORTED)                                                                        \
    X(INVALID_EVENT, -58, INTERNAL)                                                                                    \
    X(INVALID_OPERATION, -59, UNSUPPORTED)                                                                             \
    X(INVALID_BUFFER_SIZE, -61, NO_MEMORY)                                                                             \
    X(INVALID_GLOBAL_WORK_SIZE, -63, UNSUPPORTED)                                                                      \
    X(PLATFORM_NOT_FOUND_KHR, -1001, NO_DEVICE)

// Information that is asked for.
#define SLRI_CL_PLATFORM_VERSION 0x0901u
#define SLRI_CL_PLATFORM_NAME 0x0902u
#define SLRI_CL_DEVICE_TYPE 0x1000u
#define SLRI_CL_DEVICE_MAX_COMPUTE_UNITS 0x1002u
#define SLRI_CL_DEVICE_MAX_WORK_GROUP_SIZE 0x1004u
#define SLRI_CL_DEVICE_MAX_MEM_ALLOC_SIZE 0x1010u
#define SLRI_CL_DEVICE_MEM_BASE_ADDR_ALIGN 0x1019u
#define SLRI_CL_DEVICE_SINGLE_FP_CONFIG 0x101bu
#define SLRI_CL_DEVICE_GLOBAL_MEM_SIZE 0x101fu
#define SLRI_CL_DEVICE_LOCAL_MEM_SIZE 0x1023u
#define SLRI_CL_DEVICE_ENDIAN_LITTLE 0x1026u
#define SLRI_CL_DEVICE_AVAILABLE 0x1027u
#define SLRI_CL_DEVICE_COMPILER_AVAILABLE 0x1028u
#define SLRI_CL_DEVICE_NAME 0x102bu
#define SLRI_CL_DRIVER_VERSION 0x102du
#define SLRI_CL_DEVICE_VERSION 0x102fu
#define SLRI_CL_DEVICE_EXTENSIONS 0x1030u
#define SLRI_CL_DEVICE_HOST_UNIFIED_MEMORY 0x1035u
#define SLRI_CL_DEVICE_SVM_CAPABILITIES 0x1053u
#define SLRI_CL_KERNEL_NUM_ARGS 0x1191u
#define SLRI_CL_DEVICE_IL_VERSION 0x105Bu // "SPIR-V_1.2 ..."; since 2.1
#define SLRI_CL_DEVICE_MAX_NUM_SUB_GROUPS 0x105cu
#define SLRI_CL_DEVICE_SUB_GROUP_SIZES_INTEL 0x4108u
#define SLRI_CL_KERNEL_WORK_GROUP_SIZE 0x11b0u
#define SLRI_CL_KERNEL_LOCAL_MEM_SIZE 0x11b2u
#define SLRI_CL_KERNEL_PREFERRED_MULTIPLE 0x11b3u
#define SLRI_CL_KERNEL_PRIVATE_MEM_SIZE 0x11b4u
#define SLRI_CL_DEVICE_GLOBAL_MEM_CACHE_SIZE 0x101eu
#define SLRI_CL_KERNEL_MAX_SUB_GROUP_SIZE_FOR_NDRANGE 0x2033u

#define SLRI_CL_PROGRAM_BINARY_SIZES 0x1165u
#define SLRI_CL_PROGRAM_BINARIES 0x1166u
#define SLRI_CL_PROGRAM_BUILD_LOG 0x1183u

#define SLRI_CL_DEVICE_PCI_BUS_INFO_KHR 0x410fu

#define SLRI_CL_SUCCESS 0
#define SLRI_CL_DEVICE_TYPE_CPU 2u
#define SLRI_CL_DEVICE_TYPE_GPU 4u
#define SLRI_CL_DEVICE_TYPE_ALL 0xffffffffu
#define SLRI_CL_FP_CORRECTLY_ROUNDED_DIVIDE_SQRT 128u
#define SLRI_CL_CONTEXT_PLATFORM 0x1084
#define SLRI_CL_EVENT_COMMAND_EXECUTION_STATUS 0x11d3u
#define SLRI_CL_PROFILING_COMMAND_QUEUED 0x1280u
#define SLRI_CL_PROFILING_COMMAND_START 0x1282u
#define SLRI_CL_PROFILING_COMMAND_END 0x1283u
#define SLRI_CL_QUEUE_PROPERTIES 0x1093u
#define SLRI_CL_QUEUE_PROFILING_ENABLE 2u
#define SLRI_CL_QUEUE_PRIORITY_KHR 0x1096u
#define SLRI_CL_QUEUE_PRIORITY_HIGH 1u
#define SLRI_CL_QUEUE_PRIORITY_MEDIUM 2u
#define SLRI_CL_QUEUE_PRIORITY_LOW 4u
#define SLRI_CL_KERNEL_EXEC_INFO_SVM_PTRS 0x11b6u
#define SLRI_CL_BUFFER_CREATE_TYPE_REGION 0x1220u
#define SLRI_CL_MEM_READ_WRITE 1u
#define SLRI_CL_MEM_USE_HOST_PTR 8u
#define SLRI_CL_MEM_COPY_HOST_PTR 32u
#define SLRI_CL_MEM_SVM_FINE_GRAIN_BUFFER 1024u
#define SLRI_CL_SVM_COARSE_GRAIN_BUFFER 1u
#define SLRI_CL_SVM_FINE_GRAIN_BUFFER 2u
#define SLRI_CL_SVM_FINE_GRAIN_SYSTEM 4u
#define SLRI_CL_SVM_ATOMICS 8u

// loader.c: opens the library, once a process; it stays open, because its threads do. Errors: NO_DEVICE, which says
// what was not found.
slr_status slri_cl_load(const struct slri_cl **out);
// What the user should know of how the library was started; "" where there is nothing.
const char *slri_cl_load_note(void);

// error.c: the failure of OpenCL's `call` on `device`, with the error's name.
slr_status slri_cl_failed(const char *device, const char *call, int32_t error);
// Of a call that opens a device: if the process has lost one before, the message says that only a new process may help.
slr_status slri_cl_failed_to_open(const char *device, const char *call, int32_t error);

#endif
