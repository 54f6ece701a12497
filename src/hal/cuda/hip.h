// SPDX-License-Identifier: Apache-2.0
// As much of HIP's runtime and of HIPRTC as this backend calls, of version 5.2 and later.
#ifndef SLRI_HAL_CUDA_HIP_H
#define SLRI_HAL_CUDA_HIP_H

// X(name in the table, HIP's).
#define SLRI_HIP_SAME(X)                                                                                               \
    X(Init, Init)                                                                                                      \
    X(DeviceGetCount, GetDeviceCount)                                                                                  \
    X(DeviceGet, DeviceGet)                                                                                            \
    X(DeviceGetName, DeviceGetName)                                                                                    \
    X(DeviceGetUuid, DeviceGetUuid)                                                                                    \
    X(DeviceTotalMem_v2, DeviceTotalMem)                                                                               \
    X(DevicePrimaryCtxRetain, DevicePrimaryCtxRetain)                                                                  \
    X(DevicePrimaryCtxRelease_v2, DevicePrimaryCtxRelease)                                                             \
    X(DevicePrimaryCtxGetState, DevicePrimaryCtxGetState)                                                              \
    X(CtxCreate_v2, CtxCreate)                                                                                         \
    X(CtxDestroy_v2, CtxDestroy)                                                                                       \
    X(CtxPushCurrent_v2, CtxPushCurrent)                                                                               \
    X(CtxPopCurrent_v2, CtxPopCurrent)                                                                                 \
    X(CtxGetStreamPriorityRange, DeviceGetStreamPriorityRange)                                                         \
    X(MemAlloc_v2, Malloc)                                                                                             \
    X(MemFree_v2, Free)                                                                                                \
    X(MemAllocManaged, MallocManaged)                                                                                  \
    X(MemHostAlloc, HostMalloc)                                                                                        \
    X(MemFreeHost, HostFree)                                                                                           \
    X(MemHostRegister_v2, HostRegister)                                                                                \
    X(MemHostUnregister, HostUnregister)                                                                               \
    X(MemHostGetDevicePointer_v2, HostGetDevicePointer)                                                                \
    X(MemcpyHtoDAsync_v2, MemcpyHtoDAsync)                                                                             \
    X(MemcpyDtoHAsync_v2, MemcpyDtoHAsync)                                                                             \
    X(MemcpyDtoDAsync_v2, MemcpyDtoDAsync)                                                                             \
    X(MemsetD8Async, MemsetD8Async)                                                                                    \
    X(MemsetD16Async, MemsetD16Async)                                                                                  \
    X(MemsetD32Async, MemsetD32Async)                                                                                  \
    X(StreamCreateWithPriority, StreamCreateWithPriority)                                                              \
    X(StreamDestroy_v2, StreamDestroy)                                                                                 \
    X(StreamSynchronize, StreamSynchronize)                                                                            \
    X(StreamQuery, StreamQuery)                                                                                        \
    X(EventCreate, EventCreateWithFlags)                                                                               \
    X(EventRecord, EventRecord)                                                                                        \
    X(EventSynchronize, EventSynchronize)                                                                              \
    X(EventDestroy_v2, EventDestroy)                                                                                   \
    X(ModuleLoadData, ModuleLoadData)                                                                                  \
    X(ModuleUnload, ModuleUnload)                                                                                      \
    X(ModuleGetFunction, ModuleGetFunction)                                                                            \
    X(FuncGetAttribute, FuncGetAttribute)                                                                              \
    X(LaunchKernel, ModuleLaunchKernel)                                                                                \
    X(OccupancyMaxActiveBlocksPerMultiprocessor, ModuleOccupancyMaxActiveBlocksPerMultiprocessor)                      \
    X(StreamBeginCapture_v2, StreamBeginCapture)                                                                       \
    X(StreamEndCapture, StreamEndCapture)                                                                              \
    X(GraphInstantiateWithFlags, GraphInstantiateWithFlags)                                                            \
    X(GraphDestroy, GraphDestroy)                                                                                      \
    X(GraphExecDestroy, GraphExecDestroy)                                                                              \
    X(GraphLaunch, GraphLaunch)

// X(result, name, parameters): what is called from here alone.
#define SLRI_HIP_OWN(X)                                                                                                \
    X(int32_t, DriverGetVersion, (int32_t * version))                                                                  \
    X(const char *, GetErrorName, (int32_t error))                                                                     \
    X(int32_t, DeviceGetAttribute, (int32_t * value, int32_t attribute, slri_cu_device device))                        \
    X(int32_t, DeviceGetPCIBusId, (char *out, int32_t bytes, slri_cu_device device))                                   \
    X(int32_t, GetDeviceProperties, (void *properties, int32_t device))

// X(name in the table, HIPRTC's).
#define SLRI_HIPRTC_SAME(X)                                                                                            \
    X(Version, Version)                                                                                                \
    X(GetErrorString, GetErrorString)                                                                                  \
    X(CreateProgram, CreateProgram)                                                                                    \
    X(DestroyProgram, DestroyProgram)                                                                                  \
    X(GetProgramLogSize, GetProgramLogSize)                                                                            \
    X(GetProgramLog, GetProgramLog)                                                                                    \
    X(GetCUBINSize, GetCodeSize)                                                                                       \
    X(GetCUBIN, GetCode)

#endif
