// SPDX-License-Identifier: Apache-2.0
// See fake_webgpu.h.
#include "tests/fakes/fake_webgpu.h"

#include "hal/webgpu/api.h"

#include <dlfcn.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SEEN __attribute__((visibility("default")))

static struct fake_webgpu fake;
static struct slri_wg_library real;
static WGPUUncapturedErrorCallbackInfo errors; // of the newest device, as the next one
static WGPUDeviceLostCallbackInfo losses;
static WGPUDevice newest;

SEEN struct fake_webgpu *fake_webgpu_words(void);
struct fake_webgpu *fake_webgpu_words(void)
{
    return &fake;
}

__attribute__((constructor)) static void load_real(void)
{
    const char *path = getenv("FAKE_WEBGPU_REAL");
    void *library = path ? dlopen(path, RTLD_NOW | RTLD_LOCAL) : NULL;
    if (!library) {
        fprintf(stderr, "fake_webgpu: FAKE_WEBGPU_REAL names no library: %s\n", dlerror());
        return;
    }
#define FIND(result, name, parameters)                                                                                 \
    {                                                                                                                  \
        void *found = dlsym(library, "wgpu" #name);                                                                    \
        memcpy(&real.name, &found, sizeof found);                                                                      \
    }
    SLRI_WG_FUNCTIONS(FIND)
#undef FIND
}

SEEN uint32_t wgpuGetVersion(void);
uint32_t wgpuGetVersion(void)
{
    return fake.version ? fake.version : SLRI_WG_GENERATION << 24;
}

// ---- calls that may fail -------------------------------------------------------------------------------------------

static void came(int32_t objects)
{
    __atomic_fetch_add(&fake.live, objects, __ATOMIC_RELAXED);
}

static bool is_named(const char *name)
{
    if (!fake.fail_name || strcmp(fake.fail_name, name) != 0)
        return false;
    fake.fail_name = NULL;
    fake.failed = name;
    return true;
}

static bool fails(const char *name)
{
    const uint32_t call = __atomic_add_fetch(&fake.calls, 1, __ATOMIC_RELAXED);
    if (call != __atomic_load_n(&fake.fail_at, __ATOMIC_ACQUIRE))
        return is_named(name);
    fake.fail_name = NULL;
    fake.failed = name;
    return true;
}

// As the library does: before the call returns.
static void report(const char *name)
{
    const char *said = fake.words ? fake.words : name;
    const WGPUStringView words = {said, strlen(said)};
    if (fake.error == 0) {
        if (losses.callback)
            losses.callback(&newest, 1, words, losses.userdata1, losses.userdata2);
    } else if (errors.callback) {
        errors.callback(&newest, fake.error, words, errors.userdata1, errors.userdata2);
    }
}

// X(result, name, parameters, arguments): gives an object.
#define MAKERS(X)                                                                                                      \
    X(WGPUBuffer, DeviceCreateBuffer, (WGPUDevice a, const WGPUBufferDescriptor *b), (a, b))                           \
    X(WGPUBindGroupLayout, DeviceCreateBindGroupLayout, (WGPUDevice a, const WGPUBindGroupLayoutDescriptor *b),        \
      (a, b))                                                                                                          \
    X(WGPUPipelineLayout, DeviceCreatePipelineLayout, (WGPUDevice a, const WGPUPipelineLayoutDescriptor *b), (a, b))   \
    X(WGPUComputePipeline, DeviceCreateComputePipeline, (WGPUDevice a, const WGPUComputePipelineDescriptor *b),        \
      (a, b))                                                                                                          \
    X(WGPUBindGroup, DeviceCreateBindGroup, (WGPUDevice a, const WGPUBindGroupDescriptor *b), (a, b))                  \
    X(WGPUQuerySet, DeviceCreateQuerySet, (WGPUDevice a, const WGPUQuerySetDescriptor *b), (a, b))                     \
    X(WGPUCommandEncoder, DeviceCreateCommandEncoder, (WGPUDevice a, const void *b), (a, b))                           \
    X(WGPUComputePassEncoder, CommandEncoderBeginComputePass,                                                          \
      (WGPUCommandEncoder a, const WGPUComputePassDescriptor *b), (a, b))                                              \
    X(WGPUCommandBuffer, CommandEncoderFinish, (WGPUCommandEncoder a, const void *b), (a, b))
#define MAKER(result, name, parameters, arguments)                                                                     \
    SEEN result wgpu##name parameters;                                                                                 \
    result wgpu##name parameters                                                                                       \
    {                                                                                                                  \
        if (fails(#name)) {                                                                                            \
            report(#name);                                                                                             \
            return NULL;                                                                                               \
        }                                                                                                              \
        came(1);                                                                                                       \
        return real.name arguments;                                                                                    \
    }
MAKERS(MAKER)

SEEN WGPUShaderModule wgpuDeviceCreateShaderModule(WGPUDevice device, const WGPUShaderModuleDescriptor *how);
WGPUShaderModule wgpuDeviceCreateShaderModule(WGPUDevice device, const WGPUShaderModuleDescriptor *how)
{
    const WGPUShaderSourceWGSL *source = (const void *)how->nextInChain;
    snprintf(fake.source, sizeof fake.source, "%.*s", (int)source->code.length, source->code.data);
    if (fails("DeviceCreateShaderModule")) {
        report("DeviceCreateShaderModule");
        return NULL;
    }
    came(1);
    return real.DeviceCreateShaderModule(device, how);
}

SEEN void wgpuQueueWriteBuffer(WGPUQueue queue, WGPUBuffer buffer, uint64_t at, const void *data, size_t bytes);
void wgpuQueueWriteBuffer(WGPUQueue queue, WGPUBuffer buffer, uint64_t at, const void *data, size_t bytes)
{
    if (fails("QueueWriteBuffer"))
        report("QueueWriteBuffer");
    else
        real.QueueWriteBuffer(queue, buffer, at, data, bytes);
}

SEEN void wgpuQueueSubmit(WGPUQueue queue, size_t count, const WGPUCommandBuffer *commands);
void wgpuQueueSubmit(WGPUQueue queue, size_t count, const WGPUCommandBuffer *commands)
{
    if (fails("QueueSubmit"))
        report("QueueSubmit");
    else
        real.QueueSubmit(queue, count, commands);
}

// How many of them there are depends on the machine: they are counted apart, and one fails by its name alone.
SEEN WGPUBool wgpuDevicePoll(WGPUDevice device, WGPUBool wait, const WGPUSubmissionIndex *index);
WGPUBool wgpuDevicePoll(WGPUDevice device, WGPUBool wait, const WGPUSubmissionIndex *index)
{
    __atomic_fetch_add(&fake.polls, 1, __ATOMIC_RELAXED);
    __atomic_fetch_add(&fake.waits, wait != 0, __ATOMIC_RELAXED);
    if (is_named("DevicePoll"))
        report("DevicePoll");
    return real.DevicePoll(device, wait, index);
}

SEEN WGPUFuture wgpuBufferMapAsync(WGPUBuffer buffer, WGPUFlags mode, size_t at, size_t bytes,
                                   WGPUBufferMapCallbackInfo then);
WGPUFuture wgpuBufferMapAsync(WGPUBuffer buffer, WGPUFlags mode, size_t at, size_t bytes,
                              WGPUBufferMapCallbackInfo then)
{
    const WGPUStringView none = {NULL, 0};
    if (!fails("BufferMapAsync"))
        return real.BufferMapAsync(buffer, mode, at, bytes, then);
    report("BufferMapAsync");
    then.callback(3, none, then.userdata1, then.userdata2);
    return (WGPUFuture){0};
}

#define STAMPS_AT 65536 // of a read-back buffer of the first size

static const void *made_up_stamps(size_t bytes)
{
    static uint64_t passes, tick[128];
    for (size_t i = 0; i < bytes / 16; ++i, ++passes) {
        tick[2 * i] = passes * fake.pass_ticks;
        tick[2 * i + 1] = tick[2 * i] + fake.pass_ticks / 2;
    }
    return tick;
}

SEEN const void *wgpuBufferGetConstMappedRange(WGPUBuffer buffer, size_t at, size_t bytes);
const void *wgpuBufferGetConstMappedRange(WGPUBuffer buffer, size_t at, size_t bytes)
{
    if (fails("BufferGetConstMappedRange"))
        return NULL;
    return fake.pass_ticks != 0 && at == STAMPS_AT ? made_up_stamps(bytes)
                                                   : real.BufferGetConstMappedRange(buffer, at, bytes);
}

// ---- adapters and devices ------------------------------------------------------------------------------------------

SEEN uint32_t wgpuAdapterGetInfo(WGPUAdapter adapter, WGPUAdapterInfo *info);
uint32_t wgpuAdapterGetInfo(WGPUAdapter adapter, WGPUAdapterInfo *info)
{
    const uint32_t status = fails("AdapterGetInfo") ? 2 : real.AdapterGetInfo(adapter, info);
    if (fake.backend != 0)
        info->backendType = fake.backend == UINT32_MAX ? 0 : fake.backend;
    return status;
}

SEEN uint32_t wgpuAdapterGetLimits(WGPUAdapter adapter, WGPULimits *limits);
uint32_t wgpuAdapterGetLimits(WGPUAdapter adapter, WGPULimits *limits)
{
    const uint32_t last = limits->maxImmediateSize, more = 1;
    const uint32_t status = real.AdapterGetLimits(adapter, limits);
    if (fake.limits_words < 0)
        limits->maxImmediateSize = last;
    else if (fake.limits_words > 0)
        memcpy((unsigned char *)limits + sizeof *limits, &more, sizeof more);
    return status;
}

SEEN WGPUFuture wgpuAdapterRequestDevice(WGPUAdapter adapter, const WGPUDeviceDescriptor *how,
                                         WGPURequestDeviceCallbackInfo then);
WGPUFuture wgpuAdapterRequestDevice(WGPUAdapter adapter, const WGPUDeviceDescriptor *how,
                                    WGPURequestDeviceCallbackInfo then)
{
    static const char name[] = "AdapterRequestDevice";
    if (fails(name)) {
        then.callback(3, NULL, (WGPUStringView){name, sizeof name - 1}, then.userdata1, then.userdata2);
        return (WGPUFuture){0};
    }
    errors = how->uncapturedErrorCallbackInfo;
    losses = how->deviceLostCallbackInfo;
    came(1);
    return real.AdapterRequestDevice(adapter, how, then);
}

SEEN WGPUQueue wgpuDeviceGetQueue(WGPUDevice device);
WGPUQueue wgpuDeviceGetQueue(WGPUDevice device)
{
    newest = device;
    came(1);
    return real.DeviceGetQueue(device);
}

// What is passed on as it is.
#define PASS(result, name, parameters, arguments)                                                                      \
    SEEN result wgpu##name parameters;                                                                                 \
    result wgpu##name parameters                                                                                       \
    {                                                                                                                  \
        return real.name arguments;                                                                                    \
    }
#define DO(name, parameters, arguments)                                                                                \
    SEEN void wgpu##name parameters;                                                                                   \
    void wgpu##name parameters                                                                                         \
    {                                                                                                                  \
        real.name arguments;                                                                                           \
    }
#define RELEASE(object)                                                                                                \
    SEEN void wgpu##object##Release(WGPU##object a);                                                                   \
    void wgpu##object##Release(WGPU##object a)                                                                         \
    {                                                                                                                  \
        came(-1);                                                                                                      \
        real.object##Release(a);                                                                                       \
    }
PASS(WGPUInstance, CreateInstance, (const void *a), (a))
PASS(size_t, InstanceEnumerateAdapters, (WGPUInstance a, const void *b, WGPUAdapter *c), (a, b, c))
PASS(WGPUBool, AdapterHasFeature, (WGPUAdapter a, uint32_t b), (a, b))
PASS(float, QueueGetTimestampPeriod, (WGPUQueue a), (a))
PASS(WGPUFuture, QueueOnSubmittedWorkDone, (WGPUQueue a, WGPUQueueWorkDoneCallbackInfo b), (a, b))
DO(AdapterInfoFreeMembers, (WGPUAdapterInfo a), (a))
DO(AdapterRelease, (WGPUAdapter a), (a))
DO(DeviceDestroy, (WGPUDevice a), (a))
DO(CommandEncoderCopyBufferToBuffer,
   (WGPUCommandEncoder a, WGPUBuffer b, uint64_t c, WGPUBuffer d, uint64_t e, uint64_t f), (a, b, c, d, e, f))
DO(CommandEncoderClearBuffer, (WGPUCommandEncoder a, WGPUBuffer b, uint64_t c, uint64_t d), (a, b, c, d))
DO(CommandEncoderResolveQuerySet,
   (WGPUCommandEncoder a, WGPUQuerySet b, uint32_t c, uint32_t d, WGPUBuffer e, uint64_t f), (a, b, c, d, e, f))
DO(ComputePassEncoderSetPipeline, (WGPUComputePassEncoder a, WGPUComputePipeline b), (a, b))
DO(ComputePassEncoderSetBindGroup, (WGPUComputePassEncoder a, uint32_t b, WGPUBindGroup c, size_t d, const uint32_t *e),
   (a, b, c, d, e))
DO(ComputePassEncoderDispatchWorkgroups, (WGPUComputePassEncoder a, uint32_t b, uint32_t c, uint32_t d), (a, b, c, d))
DO(ComputePassEncoderEnd, (WGPUComputePassEncoder a), (a))
DO(BufferUnmap, (WGPUBuffer a), (a))
DO(BufferDestroy, (WGPUBuffer a), (a))
RELEASE(Device)
RELEASE(Queue)
RELEASE(CommandEncoder)
RELEASE(CommandBuffer)
RELEASE(ComputePassEncoder)
RELEASE(Buffer)
RELEASE(BindGroup)
RELEASE(BindGroupLayout)
RELEASE(PipelineLayout)
RELEASE(ComputePipeline)
RELEASE(ShaderModule)
RELEASE(QuerySet)
