// SPDX-License-Identifier: Apache-2.0
// What is used of webgpu.h and of wgpu-native's wgpu.h, of the one generation whose libraries are taken. Names, numbers
// and order of members are theirs; what slipring never fills in or reads is there for its place alone. The library is
// opened at run time. tests/webgpu/header_test.sh compares all of it with the headers of wgpu-native and of Dawn.
#ifndef SLRI_HAL_WEBGPU_API_H
#define SLRI_HAL_WEBGPU_API_H

#include <slipring/status.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SLRI_WG_GENERATION 29u // major version of wgpu-native; Dawn has none that it tells

typedef uint32_t WGPUBool;
typedef uint64_t WGPUFlags;
typedef uint64_t WGPUSubmissionIndex;

#define SLRI_WG_OBJECTS(X)                                                                                             \
    X(Adapter)                                                                                                         \
    X(BindGroup)                                                                                                       \
    X(BindGroupLayout)                                                                                                 \
    X(Buffer)                                                                                                          \
    X(CommandBuffer)                                                                                                   \
    X(CommandEncoder)                                                                                                  \
    X(ComputePassEncoder)                                                                                              \
    X(ComputePipeline)                                                                                                 \
    X(Device)                                                                                                          \
    X(Instance)                                                                                                        \
    X(PipelineLayout)                                                                                                  \
    X(QuerySet)                                                                                                        \
    X(Queue)                                                                                                           \
    X(Sampler)                                                                                                         \
    X(ShaderModule)                                                                                                    \
    X(Surface)                                                                                                         \
    X(TextureView)
#define OBJECT(name) typedef struct WGPU##name##Impl *WGPU##name;
SLRI_WG_OBJECTS(OBJECT)
#undef OBJECT

enum {
    WGPUBackendType_Null = 1,
    WGPUBackendType_WebGPU = 2,
    WGPUBackendType_D3D11 = 3,
    WGPUBackendType_D3D12 = 4,
    WGPUBackendType_Metal = 5,
    WGPUBackendType_Vulkan = 6,
    WGPUBackendType_OpenGL = 7,
    WGPUBackendType_OpenGLES = 8,

    WGPUAdapterType_DiscreteGPU = 1,
    WGPUAdapterType_IntegratedGPU = 2,
    WGPUAdapterType_CPU = 3,

    WGPUErrorType_Validation = 2,
    WGPUErrorType_OutOfMemory = 3,

    WGPUDeviceLostReason_Destroyed = 2,
    WGPUDeviceLostReason_FailedCreation = 4, // which the request tells

    WGPUCallbackMode_AllowSpontaneous = 3,
    WGPURequestDeviceStatus_Success = 1,
    WGPUMapAsyncStatus_Success = 1,
    WGPUQueueWorkDoneStatus_Success = 1,
    WGPUStatus_Success = 1,

    WGPUBufferBindingType_Uniform = 2,
    WGPUBufferBindingType_Storage = 3,
    WGPUBufferBindingType_ReadOnlyStorage = 4,

    WGPUBufferUsage_MapRead = 0x1,
    WGPUBufferUsage_CopySrc = 0x4,
    WGPUBufferUsage_CopyDst = 0x8,
    WGPUBufferUsage_Uniform = 0x40,
    WGPUBufferUsage_Storage = 0x80,
    WGPUBufferUsage_QueryResolve = 0x200,

    WGPUMapMode_Read = 0x1,
    WGPUShaderStage_Compute = 0x4,
    WGPUFeatureName_TimestampQuery = 0x9,
    WGPUQueryType_Timestamp = 2,
    WGPUSType_ShaderSourceWGSL = 2,
};

typedef struct WGPUStringView {
    const char *data;
    size_t length; // SIZE_MAX: up to a zero
} WGPUStringView;

typedef struct WGPUChainedStruct {
    struct WGPUChainedStruct *next;
    uint32_t sType;
} WGPUChainedStruct;

typedef struct WGPUFuture {
    uint64_t id;
} WGPUFuture;

typedef struct WGPUAdapterInfo {
    WGPUChainedStruct *nextInChain;
    WGPUStringView vendor, architecture, device, description;
    uint32_t backendType, adapterType, vendorID, deviceID, subgroupMinSize, subgroupMaxSize;
} WGPUAdapterInfo;

typedef struct WGPULimits {
    WGPUChainedStruct *nextInChain;
    uint32_t maxTextureDimension1D, maxTextureDimension2D, maxTextureDimension3D, maxTextureArrayLayers, maxBindGroups,
        maxBindGroupsPlusVertexBuffers, maxBindingsPerBindGroup, maxDynamicUniformBuffersPerPipelineLayout,
        maxDynamicStorageBuffersPerPipelineLayout, maxSampledTexturesPerShaderStage, maxSamplersPerShaderStage,
        maxStorageBuffersPerShaderStage, maxStorageTexturesPerShaderStage, maxUniformBuffersPerShaderStage;
    uint64_t maxUniformBufferBindingSize, maxStorageBufferBindingSize;
    uint32_t minUniformBufferOffsetAlignment, minStorageBufferOffsetAlignment, maxVertexBuffers;
    uint64_t maxBufferSize;
    uint32_t maxVertexAttributes, maxVertexBufferArrayStride, maxInterStageShaderVariables, maxColorAttachments,
        maxColorAttachmentBytesPerSample, maxComputeWorkgroupStorageSize, maxComputeInvocationsPerWorkgroup,
        maxComputeWorkgroupSizeX, maxComputeWorkgroupSizeY, maxComputeWorkgroupSizeZ, maxComputeWorkgroupsPerDimension,
        maxImmediateSize;
} WGPULimits;

// ---- what is called back -------------------------------------------------------------------------------------------

typedef void (*WGPUDeviceLostCallback)(const WGPUDevice *device, uint32_t reason, WGPUStringView message,
                                       void *userdata1, void *userdata2);
typedef void (*WGPUUncapturedErrorCallback)(const WGPUDevice *device, uint32_t type, WGPUStringView message,
                                            void *userdata1, void *userdata2);
typedef void (*WGPURequestDeviceCallback)(uint32_t status, WGPUDevice device, WGPUStringView message, void *userdata1,
                                          void *userdata2);
typedef void (*WGPUBufferMapCallback)(uint32_t status, WGPUStringView message, void *userdata1, void *userdata2);

typedef void (*WGPUQueueWorkDoneCallback)(uint32_t status, WGPUStringView message, void *userdata1, void *userdata2);

typedef struct WGPUDeviceLostCallbackInfo {
    WGPUChainedStruct *nextInChain;
    uint32_t mode;
    WGPUDeviceLostCallback callback;
    void *userdata1, *userdata2;
} WGPUDeviceLostCallbackInfo;

typedef struct WGPUUncapturedErrorCallbackInfo {
    WGPUChainedStruct *nextInChain;
    WGPUUncapturedErrorCallback callback;
    void *userdata1, *userdata2;
} WGPUUncapturedErrorCallbackInfo;

typedef struct WGPURequestDeviceCallbackInfo {
    WGPUChainedStruct *nextInChain;
    uint32_t mode;
    WGPURequestDeviceCallback callback;
    void *userdata1, *userdata2;
} WGPURequestDeviceCallbackInfo;

typedef struct WGPUBufferMapCallbackInfo {
    WGPUChainedStruct *nextInChain;
    uint32_t mode;
    WGPUBufferMapCallback callback;
    void *userdata1, *userdata2;
} WGPUBufferMapCallbackInfo;

typedef struct WGPUQueueWorkDoneCallbackInfo {
    WGPUChainedStruct *nextInChain;
    uint32_t mode;
    WGPUQueueWorkDoneCallback callback;
    void *userdata1, *userdata2;
} WGPUQueueWorkDoneCallbackInfo;

// ---- what is made --------------------------------------------------------------------------------------------------

typedef struct WGPUQueueDescriptor {
    WGPUChainedStruct *nextInChain;
    WGPUStringView label;
} WGPUQueueDescriptor;

typedef struct WGPUDeviceDescriptor {
    WGPUChainedStruct *nextInChain;
    WGPUStringView label;
    size_t requiredFeatureCount;
    const uint32_t *requiredFeatures;
    const WGPULimits *requiredLimits;
    WGPUQueueDescriptor defaultQueue;
    WGPUDeviceLostCallbackInfo deviceLostCallbackInfo;
    WGPUUncapturedErrorCallbackInfo uncapturedErrorCallbackInfo;
} WGPUDeviceDescriptor;

typedef struct WGPUBufferDescriptor {
    WGPUChainedStruct *nextInChain;
    WGPUStringView label;
    WGPUFlags usage;
    uint64_t size;
    WGPUBool mappedAtCreation;
} WGPUBufferDescriptor;

typedef struct WGPUShaderModuleDescriptor {
    WGPUChainedStruct *nextInChain;
    WGPUStringView label;
} WGPUShaderModuleDescriptor;

typedef struct WGPUShaderSourceWGSL {
    WGPUChainedStruct chain;
    WGPUStringView code;
} WGPUShaderSourceWGSL;

typedef struct WGPUConstantEntry {
    WGPUChainedStruct *nextInChain;
    WGPUStringView key;
    double value;
} WGPUConstantEntry;

typedef struct WGPUComputeState {
    WGPUChainedStruct *nextInChain;
    WGPUShaderModule module;
    WGPUStringView entryPoint;
    size_t constantCount;
    const WGPUConstantEntry *constants;
} WGPUComputeState;

typedef struct WGPUComputePipelineDescriptor {
    WGPUChainedStruct *nextInChain;
    WGPUStringView label;
    WGPUPipelineLayout layout;
    WGPUComputeState compute;
} WGPUComputePipelineDescriptor;

typedef struct WGPUBufferBindingLayout {
    WGPUChainedStruct *nextInChain;
    uint32_t type;
    WGPUBool hasDynamicOffset;
    uint64_t minBindingSize;
} WGPUBufferBindingLayout;

typedef struct WGPUSamplerBindingLayout {
    WGPUChainedStruct *nextInChain;
    uint32_t type;
} WGPUSamplerBindingLayout;

typedef struct WGPUTextureBindingLayout {
    WGPUChainedStruct *nextInChain;
    uint32_t sampleType, viewDimension;
    WGPUBool multisampled;
} WGPUTextureBindingLayout;

typedef struct WGPUStorageTextureBindingLayout {
    WGPUChainedStruct *nextInChain;
    uint32_t access, format, viewDimension;
} WGPUStorageTextureBindingLayout;

typedef struct WGPUBindGroupLayoutEntry {
    WGPUChainedStruct *nextInChain;
    uint32_t binding;
    WGPUFlags visibility;
    uint32_t bindingArraySize;
    WGPUBufferBindingLayout buffer;
    WGPUSamplerBindingLayout sampler;
    WGPUTextureBindingLayout texture;
    WGPUStorageTextureBindingLayout storageTexture;
} WGPUBindGroupLayoutEntry;

typedef struct WGPUBindGroupLayoutDescriptor {
    WGPUChainedStruct *nextInChain;
    WGPUStringView label;
    size_t entryCount;
    const WGPUBindGroupLayoutEntry *entries;
} WGPUBindGroupLayoutDescriptor;

typedef struct WGPUBindGroupEntry {
    WGPUChainedStruct *nextInChain;
    uint32_t binding;
    WGPUBuffer buffer;
    uint64_t offset, size;
    WGPUSampler sampler;
    WGPUTextureView textureView;
} WGPUBindGroupEntry;

typedef struct WGPUBindGroupDescriptor {
    WGPUChainedStruct *nextInChain;
    WGPUStringView label;
    WGPUBindGroupLayout layout;
    size_t entryCount;
    const WGPUBindGroupEntry *entries;
} WGPUBindGroupDescriptor;

typedef struct WGPUPipelineLayoutDescriptor {
    WGPUChainedStruct *nextInChain;
    WGPUStringView label;
    size_t bindGroupLayoutCount;
    const WGPUBindGroupLayout *bindGroupLayouts;
    uint32_t immediateSize;
} WGPUPipelineLayoutDescriptor;

typedef struct WGPUQuerySetDescriptor {
    WGPUChainedStruct *nextInChain;
    WGPUStringView label;
    uint32_t type, count;
} WGPUQuerySetDescriptor;

typedef struct WGPUPassTimestampWrites {
    WGPUChainedStruct *nextInChain;
    WGPUQuerySet querySet;
    uint32_t beginningOfPassWriteIndex, endOfPassWriteIndex;
} WGPUPassTimestampWrites;

typedef struct WGPUComputePassDescriptor {
    WGPUChainedStruct *nextInChain;
    WGPUStringView label;
    const WGPUPassTimestampWrites *timestampWrites;
} WGPUComputePassDescriptor;

// ---- functions -----------------------------------------------------------------------------------------------------

// X(result, name, parameters): of wgpu-native alone. Others have functions of slipring's own in their place.
#define SLRI_WG_NATIVE_FUNCTIONS(X)                                                                                    \
    X(size_t, InstanceEnumerateAdapters, (WGPUInstance, const void *options, WGPUAdapter *adapters))                   \
    X(WGPUBool, DevicePoll, (WGPUDevice, WGPUBool wait, const WGPUSubmissionIndex *))                                  \
    X(float, QueueGetTimestampPeriod, (WGPUQueue))

// Of each library.
#define SLRI_WG_COMMON_FUNCTIONS(X)                                                                                    \
    X(WGPUInstance, CreateInstance, (const void *descriptor))                                                          \
    X(uint32_t, AdapterGetInfo, (WGPUAdapter, WGPUAdapterInfo *))                                                      \
    X(void, AdapterInfoFreeMembers, (WGPUAdapterInfo))                                                                 \
    X(uint32_t, AdapterGetLimits, (WGPUAdapter, WGPULimits *))                                                         \
    X(WGPUBool, AdapterHasFeature, (WGPUAdapter, uint32_t feature))                                                    \
    X(WGPUFuture, AdapterRequestDevice, (WGPUAdapter, const WGPUDeviceDescriptor *, WGPURequestDeviceCallbackInfo))    \
    X(void, AdapterRelease, (WGPUAdapter))                                                                             \
    X(WGPUQueue, DeviceGetQueue, (WGPUDevice))                                                                         \
    X(void, DeviceDestroy, (WGPUDevice))                                                                               \
    X(void, DeviceRelease, (WGPUDevice))                                                                               \
    X(WGPUBuffer, DeviceCreateBuffer, (WGPUDevice, const WGPUBufferDescriptor *))                                      \
    X(WGPUShaderModule, DeviceCreateShaderModule, (WGPUDevice, const WGPUShaderModuleDescriptor *))                    \
    X(WGPUBindGroupLayout, DeviceCreateBindGroupLayout, (WGPUDevice, const WGPUBindGroupLayoutDescriptor *))           \
    X(WGPUPipelineLayout, DeviceCreatePipelineLayout, (WGPUDevice, const WGPUPipelineLayoutDescriptor *))              \
    X(WGPUComputePipeline, DeviceCreateComputePipeline, (WGPUDevice, const WGPUComputePipelineDescriptor *))           \
    X(WGPUBindGroup, DeviceCreateBindGroup, (WGPUDevice, const WGPUBindGroupDescriptor *))                             \
    X(WGPUQuerySet, DeviceCreateQuerySet, (WGPUDevice, const WGPUQuerySetDescriptor *))                                \
    X(WGPUCommandEncoder, DeviceCreateCommandEncoder, (WGPUDevice, const void *descriptor))                            \
    X(WGPUComputePassEncoder, CommandEncoderBeginComputePass, (WGPUCommandEncoder, const WGPUComputePassDescriptor *)) \
    X(void, CommandEncoderCopyBufferToBuffer,                                                                          \
      (WGPUCommandEncoder, WGPUBuffer from, uint64_t at, WGPUBuffer to, uint64_t to_at, uint64_t bytes))               \
    X(void, CommandEncoderClearBuffer, (WGPUCommandEncoder, WGPUBuffer, uint64_t at, uint64_t bytes))                  \
    X(void, CommandEncoderResolveQuerySet,                                                                             \
      (WGPUCommandEncoder, WGPUQuerySet, uint32_t first, uint32_t count, WGPUBuffer, uint64_t at))                     \
    X(WGPUCommandBuffer, CommandEncoderFinish, (WGPUCommandEncoder, const void *descriptor))                           \
    X(void, CommandEncoderRelease, (WGPUCommandEncoder))                                                               \
    X(void, CommandBufferRelease, (WGPUCommandBuffer))                                                                 \
    X(void, ComputePassEncoderSetPipeline, (WGPUComputePassEncoder, WGPUComputePipeline))                              \
    X(void, ComputePassEncoderSetBindGroup,                                                                            \
      (WGPUComputePassEncoder, uint32_t index, WGPUBindGroup, size_t offsets, const uint32_t *offset))                 \
    X(void, ComputePassEncoderDispatchWorkgroups, (WGPUComputePassEncoder, uint32_t, uint32_t, uint32_t))              \
    X(void, ComputePassEncoderEnd, (WGPUComputePassEncoder))                                                           \
    X(void, ComputePassEncoderRelease, (WGPUComputePassEncoder))                                                       \
    X(void, QueueWriteBuffer, (WGPUQueue, WGPUBuffer, uint64_t at, const void *data, size_t bytes))                    \
    X(void, QueueSubmit, (WGPUQueue, size_t count, const WGPUCommandBuffer *))                                         \
    X(WGPUFuture, QueueOnSubmittedWorkDone, (WGPUQueue, WGPUQueueWorkDoneCallbackInfo))                                \
    X(void, QueueRelease, (WGPUQueue))                                                                                 \
    X(WGPUFuture, BufferMapAsync, (WGPUBuffer, WGPUFlags mode, size_t at, size_t bytes, WGPUBufferMapCallbackInfo))    \
    X(const void *, BufferGetConstMappedRange, (WGPUBuffer, size_t at, size_t bytes))                                  \
    X(void, BufferUnmap, (WGPUBuffer))                                                                                 \
    X(void, BufferDestroy, (WGPUBuffer))                                                                               \
    X(void, BufferRelease, (WGPUBuffer))                                                                               \
    X(void, BindGroupRelease, (WGPUBindGroup))                                                                         \
    X(void, BindGroupLayoutRelease, (WGPUBindGroupLayout))                                                             \
    X(void, PipelineLayoutRelease, (WGPUPipelineLayout))                                                               \
    X(void, ComputePipelineRelease, (WGPUComputePipeline))                                                             \
    X(void, ShaderModuleRelease, (WGPUShaderModule))                                                                   \
    X(void, QuerySetRelease, (WGPUQuerySet))

#define SLRI_WG_FUNCTIONS(X) SLRI_WG_NATIVE_FUNCTIONS(X) SLRI_WG_COMMON_FUNCTIONS(X)

struct slri_wg_library {
    char path[256];
    char name[48];         // "wgpu-native 29.0.0.0"
    const char *needs;     // where there is no adapter: what would be one
    bool refuses_overlap;  // of two bindings of a launch
    const uint64_t *calls; // NULL, or how many calls of JavaScript there were
    WGPUInstance instance;
#define FIELD(result, name, parameters) result(*name) parameters;
    SLRI_WG_FUNCTIONS(FIELD)
#undef FIELD
};

// loader.c: the process has one, from the first call that succeeds. Errors: NO_DEVICE.
slr_status slri_wg_load(const struct slri_wg_library **out);

#endif
