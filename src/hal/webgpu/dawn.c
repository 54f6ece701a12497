// SPDX-License-Identifier: Apache-2.0
// Dawn, in wgpu-native's terms. It shows one adapter a request, tells no version, and wants to be asked for a feature
// where several threads use a device.
#include "hal/webgpu/dawn.h"

#include "base/clock.h"
#include "base/status.h"
#include "base/thread.h"

#include <stdio.h>
#include <string.h>

#define PATIENCE_NS UINT64_C(30000000000) // for an answer
#define NAP_NS 100000u

static struct {
#define FIELD(result, name, parameters) result(*name) parameters;
    SLRI_WG_DAWN_FUNCTIONS(FIELD)
#undef FIELD
    const struct slri_wg_library *library;
    WGPUFuture (*AdapterRequestDevice)(WGPUAdapter, const WGPUDeviceDescriptor *, WGPURequestDeviceCallbackInfo);
} dawn; // written while the library is loaded

// What is asked for in mode WaitAnyOnly is answered in here. Without an answer nobody is called back later.
static void await_answer(WGPUFuture future)
{
    WGPUFutureWaitInfo awaited = {.future = future};
    const uint64_t end_ns = slri_deadline_after(PATIENCE_NS);
    while (dawn.InstanceWaitAny(dawn.library->instance, 1, &awaited, 0) == WGPUWaitStatus_TimedOut &&
           slri_now_ns() < end_ns)
        slri_sleep_ns(NAP_NS);
}

// ---- adapters ------------------------------------------------------------------------------------------------------

// An answer's adapter is the best of those that match: so it is asked in several ways, and may show one again.
static const struct way {
    uint32_t backend, power;
    WGPUBool fallback; // one that computes on the host's cores
} ways[] = {{WGPUBackendType_D3D12, WGPUPowerPreference_HighPerformance, 0},
            {WGPUBackendType_D3D12, WGPUPowerPreference_LowPower, 0},
            {WGPUBackendType_D3D12, 0, 1},
            {WGPUBackendType_Metal, WGPUPowerPreference_HighPerformance, 0},
            {WGPUBackendType_Metal, WGPUPowerPreference_LowPower, 0},
            {WGPUBackendType_Vulkan, WGPUPowerPreference_HighPerformance, 0},
            {WGPUBackendType_Vulkan, WGPUPowerPreference_LowPower, 0},
            {WGPUBackendType_Vulkan, 0, 1}};
#define WAYS (sizeof ways / sizeof *ways)

static void take_adapter(uint32_t status, WGPUAdapter adapter, WGPUStringView message, void *user, void *unused)
{
    (void)message, (void)unused;
    *(WGPUAdapter *)user = status == WGPURequestAdapterStatus_Success ? adapter : NULL;
}

static WGPUAdapter request_adapter(const struct way *way)
{
    WGPUAdapter adapter = NULL;
    const WGPURequestAdapterOptions options = {
        .backendType = way->backend, .powerPreference = way->power, .forceFallbackAdapter = way->fallback};
    const WGPURequestAdapterCallbackInfo then = {
        .mode = WGPUCallbackMode_WaitAnyOnly, .callback = take_adapter, .userdata1 = &adapter};
    await_answer(dawn.InstanceRequestAdapter(dawn.library->instance, &options, then));
    return adapter;
}

static bool is_same_text(WGPUStringView a, WGPUStringView b)
{
    return a.length == b.length && (a.length == 0 || memcmp(a.data, b.data, a.length) == 0);
}

static bool is_same_adapter(WGPUAdapter a, WGPUAdapter b)
{
    WGPUAdapterInfo of_a = {0}, of_b = {0};
    dawn.library->AdapterGetInfo(a, &of_a);
    dawn.library->AdapterGetInfo(b, &of_b);
    const bool same = of_a.backendType == of_b.backendType && of_a.vendorID == of_b.vendorID &&
                      of_a.deviceID == of_b.deviceID && is_same_text(of_a.device, of_b.device) &&
                      is_same_text(of_a.description, of_b.description);
    dawn.library->AdapterInfoFreeMembers(of_a);
    dawn.library->AdapterInfoFreeMembers(of_b);
    return same;
}

static size_t enumerate_adapters(WGPUInstance instance, const void *options, WGPUAdapter *adapters)
{
    WGPUAdapter found[WAYS];
    size_t count = 0;
    (void)instance, (void)options;
    for (size_t i = 0; i < WAYS; ++i) {
        WGPUAdapter adapter = request_adapter(&ways[i]);
        bool is_new = adapter != NULL;
        for (size_t k = 0; is_new && k < count; ++k)
            is_new = !is_same_adapter(adapter, found[k]);
        if (is_new)
            found[count++] = adapter;
        else if (adapter)
            dawn.library->AdapterRelease(adapter);
    }
    for (size_t i = 0; i < count; ++i)
        if (adapters)
            adapters[i] = found[i];
        else
            dawn.library->AdapterRelease(found[i]);
    return count;
}

// ---- devices -------------------------------------------------------------------------------------------------------

// Of its time stamps Dawn gives as many bits as a page may see, unless it is told otherwise.
static WGPUFuture request_synchronised(WGPUAdapter adapter, const WGPUDeviceDescriptor *how,
                                       WGPURequestDeviceCallbackInfo then)
{
    static const char lacks[] = "this Dawn lacks the feature ImplicitDeviceSynchronization, without which one thread "
                                "alone may use a device";
    static const char *const off[] = {"timestamp_quantization"};
    WGPUDawnTogglesDescriptor toggles = {{how->nextInChain, WGPUSType_DawnTogglesDescriptor}, 0, NULL, 1, off};
    uint32_t feature[2] = {WGPUFeatureName_ImplicitDeviceSynchronization}; // and that of device.c, if it asks for one
    WGPUDeviceDescriptor more = *how;
    if (!dawn.library->AdapterHasFeature(adapter, *feature)) {
        then.callback(WGPURequestDeviceStatus_Error, NULL, (WGPUStringView){lacks, sizeof lacks - 1}, then.userdata1,
                      then.userdata2);
        return (WGPUFuture){0};
    }
    if (how->requiredFeatureCount != 0)
        feature[1] = how->requiredFeatures[0];
    more.nextInChain = &toggles.chain;
    more.requiredFeatures = feature;
    more.requiredFeatureCount = 1 + how->requiredFeatureCount;
    then.mode = WGPUCallbackMode_WaitAnyOnly;
    const WGPUFuture future = dawn.AdapterRequestDevice(adapter, &more, then);
    await_answer(future);
    return future;
}

static WGPUBool poll(WGPUDevice device, WGPUBool wait, const WGPUSubmissionIndex *index)
{
    (void)device, (void)wait, (void)index;
    dawn.InstanceProcessEvents(dawn.library->instance);
    return 1;
}

static float timestamp_period(WGPUQueue queue)
{
    (void)queue;
    return 1; // it resolves them to nanoseconds
}

// ---- loading -------------------------------------------------------------------------------------------------------

bool slri_wg_is_dawn(slri_dl *library)
{
    return slri_dl_find(library, "wgpuDeviceTick", NULL) != NULL;
}

// It tells no version: so by names that came and went when structures changed. How long limits are is seen of each
// adapter (facts.c).
slr_status slri_wg_dawn_check(slri_dl *library, const char *path)
{
    static const char *const gone[] = {"wgpuBufferMapAsync2", "wgpuInstanceEnumerateWGSLLanguageFeatures"};
    static const char *const come[] = {"wgpuGetInstanceLimits", "wgpuInstanceGetWGSLLanguageFeatures"};
    const char *differs = NULL;
    for (size_t i = 0; i < sizeof gone / sizeof *gone; ++i)
        differs = slri_dl_find(library, gone[i], NULL) ? gone[i] : differs;
    if (differs)
        return SLRI_FAIL(NO_DEVICE, "%s is a Dawn of before July 2025, which has %s; structures of later ones differ",
                         path, differs);
    for (size_t i = 0; i < sizeof come / sizeof *come; ++i)
        differs = slri_dl_find(library, come[i], NULL) ? differs : come[i];
    return differs ? SLRI_FAIL(NO_DEVICE, "%s is a Dawn of another generation: it lacks %s", path, differs) : SLR_OK;
}

slr_status slri_wg_dawn_fill(slri_dl *library, const char *path, struct slri_wg_library *out)
{
    slri_text missing = SLRI_TEXT_INIT;
#define FIND(result, name, parameters) dawn.name = (result(*) parameters)slri_dl_find(library, "wgpu" #name, &missing);
    SLRI_WG_DAWN_FUNCTIONS(FIND)
#undef FIND
    SLRI_TRY(slri_dl_all_found(SLR_NO_DEVICE, path, "Dawn", &missing));
    snprintf(out->name, sizeof out->name, "Dawn");
    out->refuses_overlap = true;
    dawn.library = out;
    dawn.AdapterRequestDevice = out->AdapterRequestDevice;
    out->AdapterRequestDevice = request_synchronised;
    out->InstanceEnumerateAdapters = enumerate_adapters;
    out->DevicePoll = poll;
    out->QueueGetTimestampPeriod = timestamp_period;
    return SLR_OK;
}
