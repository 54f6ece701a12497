// SPDX-License-Identifier: Apache-2.0
// What is used of Dawn's webgpu.h beyond api.h, under the same rules.
#ifndef SLRI_HAL_WEBGPU_DAWN_H
#define SLRI_HAL_WEBGPU_DAWN_H

#include "base/dl.h"
#include "hal/webgpu/api.h"

enum {
    WGPUPowerPreference_LowPower = 1,
    WGPUPowerPreference_HighPerformance = 2,
    WGPURequestAdapterStatus_Success = 1,
    WGPUCallbackMode_WaitAnyOnly = 1,
    WGPUWaitStatus_TimedOut = 2,
    WGPURequestDeviceStatus_Error = 3,
    WGPUFeatureName_ImplicitDeviceSynchronization = 0x00050004,
    WGPUSType_DawnTogglesDescriptor = 0x0005000A,
};

typedef struct WGPURequestAdapterOptions {
    WGPUChainedStruct *nextInChain;
    uint32_t featureLevel, powerPreference;
    WGPUBool forceFallbackAdapter;
    uint32_t backendType;
    WGPUSurface compatibleSurface;
} WGPURequestAdapterOptions;

typedef void (*WGPURequestAdapterCallback)(uint32_t status, WGPUAdapter adapter, WGPUStringView message,
                                           void *userdata1, void *userdata2);

typedef struct WGPURequestAdapterCallbackInfo {
    WGPUChainedStruct *nextInChain;
    uint32_t mode;
    WGPURequestAdapterCallback callback;
    void *userdata1, *userdata2;
} WGPURequestAdapterCallbackInfo;

typedef struct WGPUFutureWaitInfo {
    WGPUFuture future;
    WGPUBool completed;
} WGPUFutureWaitInfo;

typedef struct WGPUDawnTogglesDescriptor {
    WGPUChainedStruct chain;
    size_t enabledToggleCount;
    const char *const *enabledToggles;
    size_t disabledToggleCount;
    const char *const *disabledToggles;
} WGPUDawnTogglesDescriptor;

// X(result, name, parameters)
#define SLRI_WG_DAWN_FUNCTIONS(X)                                                                                      \
    X(WGPUFuture, InstanceRequestAdapter,                                                                              \
      (WGPUInstance, const WGPURequestAdapterOptions *, WGPURequestAdapterCallbackInfo))                               \
    X(uint32_t, InstanceWaitAny, (WGPUInstance, size_t count, WGPUFutureWaitInfo *, uint64_t timeout_ns))              \
    X(void, InstanceProcessEvents, (WGPUInstance))

// dawn.c
bool slri_wg_is_dawn(slri_dl *library);
slr_status slri_wg_dawn_check(slri_dl *library, const char *path); // NO_DEVICE: it is of another generation
// Fills in what wgpu-native alone has. `out` stays where it is, and has the common functions. Errors: NO_DEVICE.
slr_status slri_wg_dawn_fill(slri_dl *library, const char *path, struct slri_wg_library *out);

#endif
