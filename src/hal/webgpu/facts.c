// SPDX-License-Identifier: Apache-2.0
// The adapters: which there are, which are refused, what they say of themselves; figures of an open device.
#include "base/status.h"
#include "hal/webgpu/webgpu.h"

#include <stdio.h>

#define MOST_ADAPTERS 32u
#define UNWRITTEN 0xa5 // each byte of limits before the library writes them

// ---- adapters ------------------------------------------------------------------------------------------------------

static const struct {
    uint32_t type;
    const char *name;
} backends[] = {{WGPUBackendType_D3D12, "D3D12"},   {WGPUBackendType_D3D11, "D3D11"},
                {WGPUBackendType_Metal, "Metal"},   {WGPUBackendType_Vulkan, "Vulkan"},
                {WGPUBackendType_OpenGL, "OpenGL"}, {WGPUBackendType_OpenGLES, "OpenGL ES"},
                {WGPUBackendType_WebGPU, "WebGPU"}};

static const char *backend_name(uint32_t type)
{
    for (size_t i = 0; i < sizeof backends / sizeof *backends; ++i)
        if (backends[i].type == type)
            return backends[i].name;
    return NULL;
}

static void put_view(WGPUStringView view, char *out, size_t room)
{
    const size_t length = !view.data ? 0 : view.length == SIZE_MAX ? strlen(view.data) : view.length;
    snprintf(out, room, "%.*s", (int)(length < room ? length : room - 1), length ? view.data : "");
}

static slr_device_class class_of(uint32_t type)
{
    switch (type) {
    case WGPUAdapterType_DiscreteGPU:
        return SLR_DEVICE_GPU;
    case WGPUAdapterType_IntegratedGPU:
        return SLR_DEVICE_INTEGRATED_GPU;
    default:
        return SLR_DEVICE_SOFTWARE;
    }
}

static slr_status list_adapters(const struct slri_wg_library *lib, WGPUAdapter adapter[MOST_ADAPTERS], uint32_t *count)
{
    const size_t there = lib->InstanceEnumerateAdapters(lib->instance, NULL, NULL);
    if (there == 0)
        return SLRI_FAIL(NO_DEVICE, "%s finds no adapter: %s", lib->path, lib->needs);
    if (there > MOST_ADAPTERS)
        return SLRI_FAIL(NO_DEVICE, "%s finds %zu adapters; slipring lists at most %u", lib->path, there,
                         MOST_ADAPTERS);
    *count = (uint32_t)lib->InstanceEnumerateAdapters(lib->instance, NULL, adapter);
    return SLR_OK;
}

slr_status slri_wg_count_devices(const struct slri_wg_library *lib, uint32_t *out)
{
    WGPUAdapter adapter[MOST_ADAPTERS];
    SLRI_TRY(list_adapters(lib, adapter, out));
    for (uint32_t i = 0; i < *out; ++i)
        lib->AdapterRelease(adapter[i]);
    return SLR_OK;
}

// Whether limits are as long as api.h says: those of another generation are longer or shorter.
static slr_status get_limits(const struct slri_wg_library *lib, uint32_t index, WGPUAdapter adapter, WGPULimits *out)
{
    struct {
        WGPULimits limits;
        unsigned char behind[64];
    } seen;
    bool fits = true;
    memset(&seen, UNWRITTEN, sizeof seen);
    seen.limits.nextInChain = NULL;
    const uint32_t unwritten = seen.limits.maxImmediateSize;
    if (lib->AdapterGetLimits(adapter, &seen.limits) != WGPUStatus_Success)
        return SLRI_FAIL(NO_DEVICE, "device 'webgpu:%u' does not say its limits (wgpuAdapterGetLimits)", index);
    for (size_t i = 0; i < sizeof seen.behind; ++i)
        fits = fits && seen.behind[i] == UNWRITTEN;
    if (!fits || seen.limits.maxImmediateSize == unwritten)
        return SLRI_FAIL(NO_DEVICE, "%s is %s of another generation: its limits have %s bytes", lib->path, lib->name,
                         fits ? "fewer" : "more");
    *out = seen.limits;
    out->nextInChain = NULL;
    return SLR_OK;
}

// An adapter that only pretends to compute answers every call, and with wrong results.
static slr_status ask(const struct slri_wg_library *lib, uint32_t index, WGPUAdapter adapter, struct slri_wg_facts *out)
{
    WGPUAdapterInfo info = {0};
    *out = (struct slri_wg_facts){0};
    SLRI_TRY(get_limits(lib, index, adapter, &out->limits));
    if (lib->AdapterGetInfo(adapter, &info) != WGPUStatus_Success)
        return SLRI_FAIL(NO_DEVICE, "device 'webgpu:%u' does not say what it is (wgpuAdapterGetInfo)", index);
    const char *backend = backend_name(info.backendType);
    put_view(info.device, out->name, sizeof out->name);
    put_view(info.description, out->driver, sizeof out->driver);
    snprintf(out->backend, sizeof out->backend, "%s", backend ? backend : "");
    out->device_class = class_of(info.adapterType);
    out->has_stamps = lib->AdapterHasFeature(adapter, WGPUFeatureName_TimestampQuery) != 0;
    const uint32_t type = info.backendType;
    lib->AdapterInfoFreeMembers(info);
    if (backend)
        return SLR_OK;
    return type == WGPUBackendType_Null
               ? SLRI_FAIL(NO_DEVICE, "device 'webgpu:%u' is a Null adapter, which computes nothing", index)
               : SLRI_FAIL(NO_DEVICE, "device 'webgpu:%u' has a backend that is not known (%u)", index, type);
}

slr_status slri_wg_find_adapter(const struct slri_wg_library *lib, uint32_t index, WGPUAdapter *out,
                                struct slri_wg_facts *facts)
{
    WGPUAdapter adapter[MOST_ADAPTERS];
    uint32_t count;
    SLRI_TRY(list_adapters(lib, adapter, &count));
    slr_status status = index < count ? ask(lib, index, adapter[index], facts)
                                      : SLRI_FAIL(NO_DEVICE, "device 'webgpu:%u': there are only %u", index, count);
    for (uint32_t i = 0; i < count; ++i)
        if (i != index || status != SLR_OK)
            lib->AdapterRelease(adapter[i]);
    if (status == SLR_OK)
        *out = adapter[index];
    return status;
}

// ---- description ---------------------------------------------------------------------------------------------------

static void describe(struct slri_webgpu *webgpu, slr_device_info *out)
{
    const struct slri_wg_facts *facts = &webgpu->facts;
    uint64_t turns = 0;
    snprintf(out->description, sizeof out->description, "%s (%s, %.48s)", facts->name, facts->backend, facts->driver);
    snprintf(out->engine, sizeof out->engine, "WGSL, compiled by %s", webgpu->lib->name);
    snprintf(out->features, sizeof out->features, "storage_buffers=%u storage_alignment=%u binding_bytes=%llu%s",
             facts->limits.maxStorageBuffersPerShaderStage, facts->limits.minStorageBufferOffsetAlignment,
             (unsigned long long)facts->limits.maxStorageBufferBindingSize,
             facts->has_stamps ? " timestamp-query" : "");
    if (slri_canary_ask(&webgpu->base.canary, slri_own_kernel_canary, webgpu, &turns) == SLR_OK && turns != 0)
        snprintf(out->notes, sizeof out->notes,
                 "the driver ends loops after %llu turns without an error: a kernel that needs more fails",
                 (unsigned long long)turns);
}

static void identify(const struct slri_webgpu *webgpu, struct slri_identity *out)
{
    snprintf(out->model, sizeof out->model, "%s", webgpu->facts.name);
    snprintf(out->compiler, sizeof out->compiler, "%s", webgpu->lib->name);
    snprintf(out->driver, sizeof out->driver, "%s %s", webgpu->facts.backend, webgpu->facts.driver);
}

static slr_status classify(uint32_t index, slr_device_class *out)
{
    const struct slri_wg_library *lib;
    struct slri_wg_facts facts;
    WGPUAdapter adapter;
    SLRI_TRY(slri_wg_load(&lib));
    SLRI_TRY(slri_wg_find_adapter(lib, index, &adapter, &facts));
    lib->AdapterRelease(adapter);
    *out = facts.device_class;
    return SLR_OK;
}

slr_status slri_wg_facts(void *device, uint32_t index, struct slri_facts *out, slr_device_info *info)
{
    struct slri_webgpu *webgpu = device;
    *out = (struct slri_facts){0};
    if (!webgpu)
        return classify(index, &out->device_class);
    const WGPULimits *limits = &webgpu->facts.limits;
    slri_buffered_facts(&webgpu->base, webgpu->facts.device_class, limits->maxComputeInvocationsPerWorkgroup,
                        limits->maxComputeWorkgroupStorageSize, out);
    out->alignment = out->queue.fault_alignment = limits->minStorageBufferOffsetAlignment;
    out->never_persistent = "WebGPU shows the host no memory while a kernel runs";
    identify(webgpu, &out->identity);
    if (info)
        describe(webgpu, info);
    return SLR_OK;
}

// ---- figures -------------------------------------------------------------------------------------------------------

slr_status slri_wg_metrics(const void *device, slr_metrics *out)
{
    const struct slri_webgpu *webgpu = device;
    const struct slri_wg_counts *counts = &webgpu->counts;
    const struct slri_counted counted[] = {{"bind_groups", &counts->bind_groups},
                                           {"bind_group_layouts", &counts->bind_group_layouts},
                                           {"bind_group_sets", &counts->bind_group_sets},
                                           {"passes", &counts->passes},
                                           {"pipelines", &counts->pipelines},
                                           {"submits", &counts->submits},
                                           {"timestamp_resolves", &counts->timestamp_resolves},
                                           {"maps", &counts->maps}};
    *out = (slr_metrics){0};
    slri_metrics_add_counted(out, counted, sizeof counted / sizeof *counted);
    if (webgpu->lib->calls)
        slri_metrics_add(out, "js_calls", *webgpu->lib->calls);
    return SLR_OK;
}
