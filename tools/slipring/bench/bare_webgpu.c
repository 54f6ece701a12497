// SPDX-License-Identifier: Apache-2.0
// The floors on WebGPU, by the library that slipring opens: a buffer each for what goes there and comes back, a write,
// a dispatch and a copy into a read-back buffer in one submission, and a map that is waited for.
#include "bench/bare.h"

#include "clock.h"

#if __has_include(<webgpu.h>)
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define WGPU_SKIP_DECLARATIONS
#include <webgpu.h>

#define CALLS(X)                                                                                                       \
    X(CreateInstance)                                                                                                  \
    X(InstanceRequestAdapter)                                                                                          \
    X(InstanceProcessEvents)                                                                                           \
    X(InstanceRelease)                                                                                                 \
    X(AdapterRequestDevice)                                                                                            \
    X(AdapterRelease)                                                                                                  \
    X(DeviceGetQueue)                                                                                                  \
    X(DeviceDestroy)                                                                                                   \
    X(DeviceRelease)                                                                                                   \
    X(DeviceCreateBuffer)                                                                                              \
    X(DeviceCreateShaderModule)                                                                                        \
    X(DeviceCreateComputePipeline)                                                                                     \
    X(ComputePipelineGetBindGroupLayout)                                                                               \
    X(DeviceCreateBindGroup)                                                                                           \
    X(DeviceCreateCommandEncoder)                                                                                      \
    X(CommandEncoderBeginComputePass)                                                                                  \
    X(CommandEncoderCopyBufferToBuffer)                                                                                \
    X(CommandEncoderFinish)                                                                                            \
    X(CommandEncoderRelease)                                                                                           \
    X(CommandBufferRelease)                                                                                            \
    X(ComputePassEncoderSetPipeline)                                                                                   \
    X(ComputePassEncoderSetBindGroup)                                                                                  \
    X(ComputePassEncoderDispatchWorkgroups)                                                                            \
    X(ComputePassEncoderEnd)                                                                                           \
    X(ComputePassEncoderRelease)                                                                                       \
    X(QueueWriteBuffer)                                                                                                \
    X(QueueSubmit)                                                                                                     \
    X(QueueRelease)                                                                                                    \
    X(BufferMapAsync)                                                                                                  \
    X(BufferGetConstMappedRange)                                                                                       \
    X(BufferUnmap)                                                                                                     \
    X(BufferRelease)                                                                                                   \
    X(BindGroupRelease)                                                                                                \
    X(BindGroupLayoutRelease)                                                                                          \
    X(ComputePipelineRelease)                                                                                          \
    X(ShaderModuleRelease)

enum { PIECES = 8, MOST_ADAPTERS = 32, GROUP = 8, PATIENCE_S = 60 };

typedef struct api {
    void *library;
    WGPUInstance instance;
    WGPUDevice device;
    WGPUQueue queue;
    struct piece {
        void *memory;
        size_t bytes;
        WGPUBuffer buffer;
    } piece[PIECES];
    // wgpu-native's own; where they are missing the library is Dawn.
    size_t (*enumerate)(WGPUInstance, const void *options, WGPUAdapter *);
    WGPUBool (*poll)(WGPUDevice, WGPUBool wait, const void *submission);
#define MEMBER(name) WGPUProc##name name;
    CALLS(MEMBER)
#undef MEMBER
} api;

typedef struct prepared {
    api *wg;
    WGPUShaderModule module;
    WGPUComputePipeline pipeline;
    WGPUBindGroup group;
    WGPUBuffer back;
    struct piece *in, *out;
    bool one;      // slot of each is what goes there and comes back
    size_t offset; // of that message, in both
    size_t back_bytes;
    bool is_mapped; // the library writes it
} prepared;

// ---- the device ----------------------------------------------------------------------------------------------------

static void close(void *of)
{
    api *wg = of;
    if (wg->queue)
        wg->QueueRelease(wg->queue);
    if (wg->device) {
        wg->DeviceDestroy(wg->device);
        wg->DeviceRelease(wg->device);
    }
    if (wg->instance)
        wg->InstanceRelease(wg->instance);
    free(wg); // the library stays, as slipring has it open
}

static void take_adapter(WGPURequestAdapterStatus status, WGPUAdapter adapter, WGPUStringView message, void *to,
                         void *unused)
{
    (void)message, (void)unused;
    *(WGPUAdapter *)to = status == WGPURequestAdapterStatus_Success ? adapter : NULL;
}

static void take_device(WGPURequestDeviceStatus status, WGPUDevice device, WGPUStringView message, void *to,
                        void *unused)
{
    (void)message, (void)unused;
    *(WGPUDevice *)to = status == WGPURequestDeviceStatus_Success ? device : NULL;
}

static WGPUAdapter find_adapter(const api *wg, unsigned index)
{
    WGPUAdapter adapter[MOST_ADAPTERS] = {NULL};
    const WGPURequestAdapterCallbackInfo then = {
        .mode = WGPUCallbackMode_AllowProcessEvents, .callback = take_adapter, .userdata1 = adapter};
    if (wg->enumerate) {
        const size_t count = wg->enumerate(wg->instance, NULL, NULL);
        if (count > MOST_ADAPTERS || wg->enumerate(wg->instance, NULL, adapter) != count || index >= count)
            return NULL;
        for (size_t i = 0; i < count; i++)
            if (i != index)
                wg->AdapterRelease(adapter[i]);
        return adapter[index];
    }
    wg->InstanceRequestAdapter(wg->instance, NULL, then);
    wg->InstanceProcessEvents(wg->instance);
    return adapter[0];
}

static bool make_device(api *wg, unsigned index)
{
    const WGPURequestDeviceCallbackInfo then = {
        .mode = WGPUCallbackMode_AllowProcessEvents, .callback = take_device, .userdata1 = &wg->device};
    WGPUAdapter adapter = find_adapter(wg, index);
    if (!adapter)
        return false;
    wg->AdapterRequestDevice(adapter, NULL, then);
    wg->InstanceProcessEvents(wg->instance);
    wg->AdapterRelease(adapter);
    wg->queue = wg->device ? wg->DeviceGetQueue(wg->device) : NULL;
    return wg->queue != NULL;
}

static bool find_calls(api *wg)
{
    bool all = true;
#define FIND(name) all = (*(void **)&wg->name = dlsym(wg->library, "wgpu" #name)) != NULL && all;
    CALLS(FIND)
#undef FIND
    *(void **)&wg->enumerate = dlsym(wg->library, "wgpuInstanceEnumerateAdapters");
    *(void **)&wg->poll = dlsym(wg->library, "wgpuDevicePoll");
    return all;
}

static void *open(const char *device, const char **why)
{
    const char *path = getenv("SLIPRING_WEBGPU_LIB");
    unsigned index = 0;
    *why = "give the device as webgpu:N";
    if (sscanf(device, "webgpu:%u", &index) != 1)
        return NULL;
    api *wg = calloc(1, sizeof *wg);
    if (!wg)
        abort();
    wg->library = dlopen(path ? path : "libwgpu_native.so", RTLD_NOW | RTLD_LOCAL);
    *why = "its library does not open, or has no such adapter";
    if (wg->library && find_calls(wg) && (wg->instance = wg->CreateInstance(NULL)) != NULL && make_device(wg, index))
        return wg;
    close(wg);
    return NULL;
}

// ---- memory: the host's, and a buffer for it -----------------------------------------------------------------------

static void *take(void *of, size_t bytes)
{
    api *wg = of;
    struct piece *piece = wg->piece;
    const WGPUBufferDescriptor how = {
        .usage = WGPUBufferUsage_Storage | WGPUBufferUsage_CopySrc | WGPUBufferUsage_CopyDst, .size = bytes};
    while (piece->memory)
        piece++;
    *piece = (struct piece){bench_lines(bytes), bytes, wg->DeviceCreateBuffer(wg->device, &how)};
    return piece->memory;
}

static struct piece *piece_of(api *wg, const void *memory)
{
    struct piece *piece = wg->piece;
    while (piece->memory != memory)
        piece++;
    return piece;
}

static void give(void *of, void *memory)
{
    api *wg = of;
    struct piece *piece = piece_of(wg, memory);
    wg->BufferRelease(piece->buffer);
    free(piece->memory);
    *piece = (struct piece){0};
}

// ---- the kernel ----------------------------------------------------------------------------------------------------

static const char text[] = "@group(0) @binding(0) var<storage, read_write> from_: array<u32>;\n"
                           "@group(0) @binding(1) var<storage, read_write> to_: array<u32>;\n"
                           "@compute @workgroup_size(1) fn once()\n"
                           "{\n"
                           "    for (var k = 0u; k < 16u; k++) { to_[k] = from_[k] + 1u; }\n"
                           "}\n"
                           "@compute @workgroup_size(8) fn adder(@builtin(global_invocation_id) at: vec3<u32>)\n"
                           "{\n"
                           "    var sum = 0u;\n"
                           "    for (var k = 0u; k < 16u; k++) { sum += from_[at.x * 16u + k]; }\n"
                           "    to_[at.x] += sum;\n"
                           "}\n";

static WGPUStringView view(const char *words)
{
    return (WGPUStringView){words, strlen(words)};
}

static void release(void *kernel)
{
    prepared *p = kernel;
    if (!p)
        return;
    if (p->back)
        p->wg->BufferRelease(p->back);
    if (p->group)
        p->wg->BindGroupRelease(p->group);
    if (p->pipeline)
        p->wg->ComputePipelineRelease(p->pipeline);
    if (p->module)
        p->wg->ShaderModuleRelease(p->module);
    free(p);
}

static bool make_pipeline(prepared *p, const char *name)
{
    api *wg = p->wg;
    WGPUShaderSourceWGSL source = {{NULL, WGPUSType_ShaderSourceWGSL}, view(text)};
    const WGPUShaderModuleDescriptor module = {.nextInChain = &source.chain};
    p->module = wg->DeviceCreateShaderModule(wg->device, &module);
    const WGPUComputePipelineDescriptor pipeline = {.compute = {.module = p->module, .entryPoint = view(name)}};
    p->pipeline = p->module ? wg->DeviceCreateComputePipeline(wg->device, &pipeline) : NULL;
    return p->pipeline != NULL;
}

static bool make_group(prepared *p, size_t in_bytes)
{
    api *wg = p->wg;
    WGPUBindGroupLayout layout = wg->ComputePipelineGetBindGroupLayout(p->pipeline, 0);
    const WGPUBindGroupEntry entry[] = {{.binding = 0, .buffer = p->in->buffer, .size = in_bytes},
                                        {.binding = 1, .buffer = p->out->buffer, .size = p->back_bytes}};
    const WGPUBindGroupDescriptor group = {.layout = layout, .entryCount = 2, .entries = entry};
    const WGPUBufferDescriptor back = {.usage = WGPUBufferUsage_MapRead | WGPUBufferUsage_CopyDst,
                                       .size = p->back_bytes};
    p->group = wg->DeviceCreateBindGroup(wg->device, &group);
    p->back = wg->DeviceCreateBuffer(wg->device, &back);
    wg->BindGroupLayoutRelease(layout);
    return p->group && p->back;
}

static void *prepare(void *of, enum bare_kernel kernel, void *const memory[2], const size_t bytes[2], const char **why)
{
    *why = "WebGPU shows the host no memory while a kernel runs";
    if (kernel != BARE_ONCE && kernel != BARE_ADDER)
        return NULL;
    prepared *p = calloc(1, sizeof *p);
    if (!p)
        abort();
    p->wg = of;
    p->in = piece_of(of, memory[0]);
    p->out = piece_of(of, memory[1]);
    p->one = kernel == BARE_ONCE;
    p->back_bytes = p->one ? sizeof(bench_message) : bytes[1];
    if (make_pipeline(p, p->one ? "once" : "adder") && make_group(p, p->one ? sizeof(bench_message) : bytes[0]))
        return p;
    *why = "WebGPU makes no pipeline of it";
    release(p);
    return NULL;
}

// ---- a launch ------------------------------------------------------------------------------------------------------

static WGPUCommandBuffer record(const prepared *p, uint32_t groups)
{
    api *wg = p->wg;
    WGPUCommandEncoder encoder = wg->DeviceCreateCommandEncoder(wg->device, NULL);
    WGPUComputePassEncoder pass = wg->CommandEncoderBeginComputePass(encoder, NULL);
    wg->ComputePassEncoderSetPipeline(pass, p->pipeline);
    wg->ComputePassEncoderSetBindGroup(pass, 0, p->group, 0, NULL);
    wg->ComputePassEncoderDispatchWorkgroups(pass, groups, 1, 1);
    wg->ComputePassEncoderEnd(pass);
    wg->ComputePassEncoderRelease(pass);
    wg->CommandEncoderCopyBufferToBuffer(encoder, p->out->buffer, 0, p->back, 0, p->back_bytes);
    WGPUCommandBuffer commands = wg->CommandEncoderFinish(encoder, NULL);
    wg->CommandEncoderRelease(encoder);
    return commands;
}

static bool launch(void *kernel, const uint32_t *values, unsigned count, uint32_t messages)
{
    prepared *p = kernel;
    api *wg = p->wg;
    const size_t bytes = p->one ? sizeof(bench_message) : messages * sizeof(bench_message);
    p->offset =
        p->one && count > 0 ? values[0] % LATENCY_SLOTS * sizeof(latency_slot) + offsetof(latency_slot, message) : 0;
    wg->QueueWriteBuffer(wg->queue, p->in->buffer, 0, (unsigned char *)p->in->memory + p->offset, bytes);
    WGPUCommandBuffer commands = record(p, p->one ? 1 : messages / GROUP);
    wg->QueueSubmit(wg->queue, 1, &commands);
    wg->CommandBufferRelease(commands);
    return true;
}

static void note_mapped(WGPUMapAsyncStatus status, WGPUStringView message, void *to, void *unused)
{
    (void)message, (void)unused;
    __atomic_store_n((bool *)to, status == WGPUMapAsyncStatus_Success, __ATOMIC_RELEASE);
}

static bool finish(void *kernel)
{
    prepared *p = kernel;
    api *wg = p->wg;
    const WGPUBufferMapCallbackInfo then = {
        .mode = WGPUCallbackMode_AllowSpontaneous, .callback = note_mapped, .userdata1 = &p->is_mapped};
    p->is_mapped = false;
    wg->BufferMapAsync(p->back, WGPUMapMode_Read, 0, p->back_bytes, then);
    const uint64_t end_ns = clock_ns() + PATIENCE_S * UINT64_C(1000000000);
    while (!__atomic_load_n(&p->is_mapped, __ATOMIC_ACQUIRE) && clock_ns() < end_ns) {
        if (wg->poll)
            wg->poll(wg->device, true, NULL);
        else
            wg->InstanceProcessEvents(wg->instance);
    }
    const void *mapped = p->is_mapped ? wg->BufferGetConstMappedRange(p->back, 0, p->back_bytes) : NULL;
    if (!mapped)
        return false;
    memcpy((unsigned char *)p->out->memory + p->offset, mapped, p->back_bytes);
    wg->BufferUnmap(p->back);
    return true;
}

const struct bare_api bare_webgpu = {"WebGPU", false, open, close, take, give, prepare, launch, finish, NULL, release};
#else
static void *open(const char *device, const char **why)
{
    (void)device;
    *why = "slipring was built without webgpu.h, which scripts/webgpu.sh finds";
    return NULL;
}

const struct bare_api bare_webgpu = {.called = "WebGPU", .open = open};
#endif
