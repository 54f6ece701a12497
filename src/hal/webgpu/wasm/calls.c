// SPDX-License-Identifier: Apache-2.0
// The functions of webgpu.h for a page. An object is a number of the list; buffers and devices have more, and a handle
// of one is its address. What is mapped is copied into the library's memory when JavaScript tells of it.
#include "hal/webgpu/wasm/page.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PUT(op, ...)                                                                                                   \
    slri_page_put(SLRI_PAGE_##op, (const uint32_t[]){__VA_ARGS__},                                                     \
                  sizeof((const uint32_t[]){__VA_ARGS__}) / sizeof(uint32_t))

struct page_device {
    uint32_t id;
    WGPUDeviceLostCallbackInfo lost;
    WGPUUncapturedErrorCallbackInfo error;
    struct page_device *next;
};

struct page_buffer {
    const void *device;
    uint32_t id;
    unsigned char *copy; // of what is mapped
    size_t at, room;     // where that begins in the buffer
};

static struct page_device *first_device;
static struct slri_page_ticket *first_ticket, *free_ticket;
static struct slri_page_adapter found; // the last one that was asked for

// ---- handles -------------------------------------------------------------------------------------------------------

static uint32_t id_of(const void *handle)
{
    return (uint32_t)(uintptr_t)handle;
}

static void *new_handle(void)
{
    return (void *)(uintptr_t)slri_page_id();
}

static uint32_t id_of_device(WGPUDevice device)
{
    return ((struct page_device *)device)->id;
}

static struct page_buffer *page_buffer(WGPUBuffer buffer)
{
    return (struct page_buffer *)buffer;
}

static uint32_t id_of_buffer(WGPUBuffer buffer)
{
    return page_buffer(buffer)->id;
}

static void release(const void *handle)
{
    PUT(RELEASE, id_of(handle));
}

static WGPUStringView view_of(const char *text)
{
    return (WGPUStringView){text, strlen(text)};
}

// ---- what is told later --------------------------------------------------------------------------------------------

static struct slri_page_ticket *take_ticket(const void *device)
{
    struct slri_page_ticket *ticket = free_ticket ? free_ticket : malloc(sizeof *ticket);
    if (!ticket)
        return NULL;
    free_ticket = free_ticket ? free_ticket->next : NULL;
    *ticket = (struct slri_page_ticket){.device = device, .next = first_ticket};
    first_ticket = ticket;
    return ticket;
}

// Calls back with what has been told; whether there was anything.
static bool call_back(void)
{
    bool any = false;
    for (struct slri_page_ticket **place = &first_ticket; *place;) {
        struct slri_page_ticket *ticket = *place;
        if (ticket->status == 0) {
            place = &ticket->next;
            continue;
        }
        *place = ticket->next;
        if (ticket->call)
            ticket->call(ticket->status, view_of(""), ticket->userdata1, ticket->userdata2);
        ticket->next = free_ticket;
        free_ticket = ticket;
        any = true;
    }
    return any;
}

// JavaScript still writes the tickets of a device that has gone.
static void forget_tickets(const void *device)
{
    for (struct slri_page_ticket *each = first_ticket; each; each = each->next) {
        if (each->device != device || !each->call)
            continue;
        each->call(UINT32_MAX, view_of("the device has gone"), each->userdata1, each->userdata2);
        each->call = NULL;
    }
}

static void tell_error(uint32_t id, uint32_t type, const char *text)
{
    for (struct page_device *each = first_device; each; each = each->next) {
        const WGPUDevice handle = (WGPUDevice)each;
        if (each->id != id)
            continue;
        if (type == SLRI_PAGE_LOST)
            each->lost.callback(&handle, 0, view_of(text), each->lost.userdata1, each->lost.userdata2);
        else
            each->error.callback(&handle, type, view_of(text), each->error.userdata1, each->error.userdata2);
    }
}

static void tell_errors(void)
{
    char text[512];
    uint32_t id, type;
    while ((type = slri_page_take_error(&id, text, sizeof text)) != 0)
        tell_error(id, type, text);
}

static void check(void)
{
    slri_page_check();
    tell_errors();
}

// ---- adapters and devices ------------------------------------------------------------------------------------------

static WGPUInstance create_instance(const void *descriptor)
{
    (void)descriptor;
    return (WGPUInstance)new_handle();
}

// A page is shown one.
static size_t enumerate_adapters(WGPUInstance instance, const void *options, WGPUAdapter *adapters)
{
    (void)instance, (void)options;
    if (!adapters)
        return slri_page_find_adapter(&found);
    *adapters = (WGPUAdapter)(uintptr_t)found.id;
    return 1;
}

static uint32_t get_info(WGPUAdapter adapter, WGPUAdapterInfo *out)
{
    (void)adapter;
    *out = (WGPUAdapterInfo){.device = view_of(found.name),
                             .description = view_of(found.description),
                             .backendType = WGPUBackendType_WebGPU,
                             .adapterType = found.is_software ? WGPUAdapterType_CPU : WGPUAdapterType_IntegratedGPU};
    return WGPUStatus_Success;
}

static void free_info(WGPUAdapterInfo info)
{
    (void)info;
}

static uint32_t get_limits(WGPUAdapter adapter, WGPULimits *out)
{
    const double *limit = found.limit;
    (void)adapter;
    *out = (WGPULimits){.maxStorageBuffersPerShaderStage = (uint32_t)limit[0],
                        .maxUniformBufferBindingSize = (uint64_t)limit[1],
                        .maxStorageBufferBindingSize = (uint64_t)limit[2],
                        .minUniformBufferOffsetAlignment = (uint32_t)limit[3],
                        .minStorageBufferOffsetAlignment = (uint32_t)limit[4],
                        .maxBufferSize = (uint64_t)limit[5],
                        .maxComputeWorkgroupStorageSize = (uint32_t)limit[6],
                        .maxComputeInvocationsPerWorkgroup = (uint32_t)limit[7],
                        .maxComputeWorkgroupSizeX = (uint32_t)limit[8],
                        .maxComputeWorkgroupSizeY = (uint32_t)limit[9],
                        .maxComputeWorkgroupSizeZ = (uint32_t)limit[10],
                        .maxComputeWorkgroupsPerDimension = (uint32_t)limit[11]};
    return WGPUStatus_Success;
}

static WGPUBool has_feature(WGPUAdapter adapter, uint32_t feature)
{
    (void)adapter;
    return feature == WGPUFeatureName_TimestampQuery && found.has_stamps;
}

static WGPUFuture request_device(WGPUAdapter adapter, const WGPUDeviceDescriptor *how,
                                 WGPURequestDeviceCallbackInfo then)
{
    struct page_device *device = malloc(sizeof *device);
    char why[160] = "no memory";
    if (device) {
        *device = (struct page_device){slri_page_id(), how->deviceLostCallbackInfo, how->uncapturedErrorCallbackInfo,
                                       first_device};
        if (slri_page_open_device(id_of(adapter), device->id, why, sizeof why)) {
            first_device = device;
        } else {
            free(device);
            device = NULL;
        }
    }
    then.callback(device ? WGPURequestDeviceStatus_Success : 0, (WGPUDevice)device, view_of(device ? "" : why),
                  then.userdata1, then.userdata2);
    return (WGPUFuture){0};
}

static void release_adapter(WGPUAdapter adapter)
{
    release(adapter);
}

static WGPUQueue get_queue(WGPUDevice device)
{
    return (WGPUQueue)device; // page.js has it by the device's number
}

static void release_queue(WGPUQueue queue)
{
    (void)queue;
}

static WGPUBool poll(WGPUDevice device, WGPUBool wait, const WGPUSubmissionIndex *index)
{
    (void)device, (void)wait, (void)index;
    if (!call_back() && first_ticket) {
        slri_page_turn();
        (void)call_back();
    }
    tell_errors();
    return true;
}

static void destroy_device(WGPUDevice device)
{
    PUT(DESTROY, id_of_device(device));
}

static void release_device(WGPUDevice device)
{
    struct page_device *dying = (struct page_device *)device, **place = &first_device;
    PUT(RELEASE, dying->id);
    slri_page_send();
    forget_tickets(device);
    while (*place != dying)
        place = &(*place)->next;
    *place = dying->next;
    free(dying);
}

// ---- buffers -------------------------------------------------------------------------------------------------------

static WGPUBuffer create_buffer(WGPUDevice device, const WGPUBufferDescriptor *how)
{
    struct page_buffer *buffer = calloc(1, sizeof *buffer);
    if (!buffer)
        return NULL;
    buffer->device = device;
    buffer->id = slri_page_id();
    PUT(CREATE_BUFFER, id_of_device(device), buffer->id, (uint32_t)how->size, (uint32_t)how->usage);
    check();
    return (WGPUBuffer)buffer;
}

static WGPUFuture map(WGPUBuffer of, WGPUFlags mode, size_t at, size_t bytes, WGPUBufferMapCallbackInfo then)
{
    struct page_buffer *buffer = page_buffer(of);
    struct slri_page_ticket *ticket = take_ticket(buffer->device);
    (void)mode;
    if (ticket && buffer->room < bytes) {
        free(buffer->copy);
        buffer->copy = malloc(bytes);
        buffer->room = buffer->copy ? bytes : 0;
    }
    if (!ticket || !buffer->copy) {
        if (ticket)
            ticket->status = UINT32_MAX;
        then.callback(UINT32_MAX, view_of("no memory"), then.userdata1, then.userdata2);
        return (WGPUFuture){0};
    }
    buffer->at = at;
    ticket->call = then.callback;
    ticket->userdata1 = then.userdata1;
    ticket->userdata2 = then.userdata2;
    PUT(MAP, buffer->id, (uint32_t)at, (uint32_t)bytes, id_of(buffer->copy), id_of(ticket));
    slri_page_send();
    return (WGPUFuture){0};
}

static const void *get_mapped(WGPUBuffer of, size_t at, size_t bytes)
{
    const struct page_buffer *buffer = page_buffer(of);
    return at >= buffer->at && at - buffer->at + bytes <= buffer->room ? buffer->copy + (at - buffer->at) : NULL;
}

static void unmap(WGPUBuffer of) // page.js has done so when it had copied
{
    (void)of;
}

static void destroy_buffer(WGPUBuffer of)
{
    PUT(DESTROY, id_of_buffer(of));
}

static void release_buffer(WGPUBuffer of)
{
    PUT(RELEASE, id_of_buffer(of));
    slri_page_send(); // no answer that comes later is written
    free(page_buffer(of)->copy);
    free(page_buffer(of));
}

// ---- code and groups -----------------------------------------------------------------------------------------------

static WGPUShaderModule create_module(WGPUDevice device, const WGPUShaderModuleDescriptor *how)
{
    const WGPUShaderSourceWGSL *source = (const WGPUShaderSourceWGSL *)(const void *)how->nextInChain;
    void *made = new_handle();
    PUT(CREATE_MODULE, id_of_device(device), id_of(made), id_of(source->code.data), (uint32_t)source->code.length);
    check();
    return made;
}

static WGPUBindGroupLayout create_group_layout(WGPUDevice device, const WGPUBindGroupLayoutDescriptor *how)
{
    void *made = new_handle();
    uint32_t word[2 + 3 * 65], count = 0;
    word[count++] = id_of_device(device);
    word[count++] = id_of(made);
    for (size_t i = 0; i < how->entryCount; ++i) {
        word[count++] = how->entries[i].binding;
        word[count++] = how->entries[i].buffer.type == WGPUBufferBindingType_Uniform;
        word[count++] = how->entries[i].buffer.hasDynamicOffset;
    }
    slri_page_put(SLRI_PAGE_CREATE_GROUP_LAYOUT, word, count);
    return made;
}

static WGPUPipelineLayout create_layout(WGPUDevice device, const WGPUPipelineLayoutDescriptor *how)
{
    void *made = new_handle();
    PUT(CREATE_LAYOUT, id_of_device(device), id_of(made), id_of(how->bindGroupLayouts[0]));
    return made;
}

static WGPUComputePipeline create_pipeline(WGPUDevice device, const WGPUComputePipelineDescriptor *how)
{
    const WGPUComputeState *state = &how->compute;
    const bool has_constant = state->constantCount != 0;
    void *made = new_handle();
    PUT(CREATE_PIPELINE, id_of_device(device), id_of(made), id_of(how->layout), id_of(state->module),
        id_of(state->entryPoint.data), (uint32_t)state->entryPoint.length,
        has_constant ? id_of(state->constants->key.data) : 0, has_constant ? (uint32_t)state->constants->key.length : 0,
        has_constant ? (uint32_t)state->constants->value : 0);
    check();
    return made;
}

static WGPUBindGroup create_group(WGPUDevice device, const WGPUBindGroupDescriptor *how)
{
    void *made = new_handle();
    uint32_t word[3 + 4 * 65], count = 0;
    word[count++] = id_of_device(device);
    word[count++] = id_of(made);
    word[count++] = id_of(how->layout);
    for (size_t i = 0; i < how->entryCount; ++i) {
        word[count++] = how->entries[i].binding;
        word[count++] = id_of_buffer(how->entries[i].buffer);
        word[count++] = (uint32_t)how->entries[i].offset;
        word[count++] = (uint32_t)how->entries[i].size;
    }
    slri_page_put(SLRI_PAGE_CREATE_GROUP, word, count);
    return made;
}

static WGPUQuerySet create_queries(WGPUDevice device, const WGPUQuerySetDescriptor *how)
{
    void *made = new_handle();
    PUT(CREATE_QUERIES, id_of_device(device), id_of(made), how->count);
    return made;
}

// ---- commands ------------------------------------------------------------------------------------------------------

static WGPUCommandEncoder create_encoder(WGPUDevice device, const void *descriptor)
{
    void *made = new_handle();
    (void)descriptor;
    PUT(CREATE_ENCODER, id_of_device(device), id_of(made));
    return made;
}

static WGPUComputePassEncoder begin_pass(WGPUCommandEncoder encoder, const WGPUComputePassDescriptor *how)
{
    const WGPUPassTimestampWrites *stamps = how->timestampWrites;
    void *made = new_handle();
    PUT(BEGIN_PASS, id_of(encoder), id_of(made), stamps ? id_of(stamps->querySet) : 0,
        stamps ? stamps->beginningOfPassWriteIndex : 0, stamps ? stamps->endOfPassWriteIndex : 0);
    return made;
}

static void set_pipeline(WGPUComputePassEncoder pass, WGPUComputePipeline pipeline)
{
    PUT(SET_PIPELINE, id_of(pass), id_of(pipeline));
}

static void set_group(WGPUComputePassEncoder pass, uint32_t index, WGPUBindGroup group, size_t offsets,
                      const uint32_t *offset)
{
    PUT(SET_GROUP, id_of(pass), index, id_of(group), (uint32_t)offsets, offsets ? *offset : 0);
}

static void dispatch(WGPUComputePassEncoder pass, uint32_t x, uint32_t y, uint32_t z)
{
    PUT(DISPATCH, id_of(pass), x, y, z);
}

static void end_pass(WGPUComputePassEncoder pass)
{
    PUT(END_PASS, id_of(pass));
}

static void copy(WGPUCommandEncoder encoder, WGPUBuffer from, uint64_t at, WGPUBuffer to, uint64_t to_at,
                 uint64_t bytes)
{
    PUT(COPY, id_of(encoder), id_of_buffer(from), (uint32_t)at, id_of_buffer(to), (uint32_t)to_at, (uint32_t)bytes);
}

static void clear(WGPUCommandEncoder encoder, WGPUBuffer buffer, uint64_t at, uint64_t bytes)
{
    PUT(CLEAR, id_of(encoder), id_of_buffer(buffer), (uint32_t)at, (uint32_t)bytes);
}

static void resolve(WGPUCommandEncoder encoder, WGPUQuerySet queries, uint32_t first, uint32_t count, WGPUBuffer to,
                    uint64_t at)
{
    PUT(RESOLVE, id_of(encoder), id_of(queries), first, count, id_of_buffer(to), (uint32_t)at);
}

static WGPUCommandBuffer finish(WGPUCommandEncoder encoder, const void *descriptor)
{
    void *made = new_handle();
    (void)descriptor;
    PUT(FINISH, id_of(encoder), id_of(made));
    return made;
}

// The caller's memory may change as soon as this returns.
static void write(WGPUQueue queue, WGPUBuffer buffer, uint64_t at, const void *data, size_t bytes)
{
    const uint32_t word[] = {id_of_device((WGPUDevice)queue), id_of_buffer(buffer), (uint32_t)at, (uint32_t)bytes};
    if (slri_page_holds(bytes)) {
        slri_page_put_bytes(SLRI_PAGE_WRITE_HERE, word, 4, data, bytes);
        return;
    }
    PUT(WRITE, word[0], word[1], word[2], word[3], id_of(data));
    slri_page_send();
}

static void submit(WGPUQueue queue, size_t count, const WGPUCommandBuffer *commands)
{
    PUT(SUBMIT, id_of_device((WGPUDevice)queue), count ? id_of(commands[0]) : 0);
}

static WGPUFuture await(WGPUQueue queue, WGPUQueueWorkDoneCallbackInfo then)
{
    struct slri_page_ticket *ticket = take_ticket(queue);
    if (!ticket) {
        then.callback(UINT32_MAX, view_of("no memory"), then.userdata1, then.userdata2);
        return (WGPUFuture){0};
    }
    ticket->call = then.callback;
    ticket->userdata1 = then.userdata1;
    ticket->userdata2 = then.userdata2;
    PUT(AWAIT, id_of_device((WGPUDevice)queue), id_of(ticket));
    slri_page_send();
    return (WGPUFuture){0};
}

static float timestamp_period(WGPUQueue queue)
{
    (void)queue;
    return 1.0F; // nanoseconds
}

// ---- the table -----------------------------------------------------------------------------------------------------

#define RELEASE(name)                                                                                                  \
    static void release_##name(WGPU##name handle)                                                                      \
    {                                                                                                                  \
        release(handle);                                                                                               \
    }
RELEASE(CommandEncoder)
RELEASE(CommandBuffer)
RELEASE(ComputePassEncoder)
RELEASE(BindGroup)
RELEASE(BindGroupLayout)
RELEASE(PipelineLayout)
RELEASE(ComputePipeline)
RELEASE(ShaderModule)
RELEASE(QuerySet)
#undef RELEASE

void slri_page_fill(struct slri_wg_library *library)
{
    library->CreateInstance = create_instance;
    library->InstanceEnumerateAdapters = enumerate_adapters;
    library->AdapterGetInfo = get_info;
    library->AdapterInfoFreeMembers = free_info;
    library->AdapterGetLimits = get_limits;
    library->AdapterHasFeature = has_feature;
    library->AdapterRequestDevice = request_device;
    library->AdapterRelease = release_adapter;
    library->DeviceGetQueue = get_queue;
    library->DevicePoll = poll;
    library->DeviceDestroy = destroy_device;
    library->DeviceRelease = release_device;
    library->DeviceCreateBuffer = create_buffer;
    library->DeviceCreateShaderModule = create_module;
    library->DeviceCreateBindGroupLayout = create_group_layout;
    library->DeviceCreatePipelineLayout = create_layout;
    library->DeviceCreateComputePipeline = create_pipeline;
    library->DeviceCreateBindGroup = create_group;
    library->DeviceCreateQuerySet = create_queries;
    library->DeviceCreateCommandEncoder = create_encoder;
    library->CommandEncoderBeginComputePass = begin_pass;
    library->CommandEncoderCopyBufferToBuffer = copy;
    library->CommandEncoderClearBuffer = clear;
    library->CommandEncoderResolveQuerySet = resolve;
    library->CommandEncoderFinish = finish;
    library->CommandEncoderRelease = release_CommandEncoder;
    library->CommandBufferRelease = release_CommandBuffer;
    library->ComputePassEncoderSetPipeline = set_pipeline;
    library->ComputePassEncoderSetBindGroup = set_group;
    library->ComputePassEncoderDispatchWorkgroups = dispatch;
    library->ComputePassEncoderEnd = end_pass;
    library->ComputePassEncoderRelease = release_ComputePassEncoder;
    library->QueueWriteBuffer = write;
    library->QueueSubmit = submit;
    library->QueueOnSubmittedWorkDone = await;
    library->QueueGetTimestampPeriod = timestamp_period;
    library->QueueRelease = release_queue;
    library->BufferMapAsync = map;
    library->BufferGetConstMappedRange = get_mapped;
    library->BufferUnmap = unmap;
    library->BufferDestroy = destroy_buffer;
    library->BufferRelease = release_buffer;
    library->BindGroupRelease = release_BindGroup;
    library->BindGroupLayoutRelease = release_BindGroupLayout;
    library->PipelineLayoutRelease = release_PipelineLayout;
    library->ComputePipelineRelease = release_ComputePipeline;
    library->ShaderModuleRelease = release_ShaderModule;
    library->QuerySetRelease = release_QuerySet;
    library->instance = library->CreateInstance(NULL);
}
