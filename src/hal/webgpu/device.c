// SPDX-License-Identifier: Apache-2.0
// The WebGPU devices: opening, closing, the table of functions.
#include "base/gpu_node.h"
#include "base/status.h"
#include "hal/webgpu/webgpu.h"

#include <stdio.h>

static slr_status webgpu_probe(bool automatic, uint32_t *devices)
{
    const struct slri_wg_library *lib;
    SLRI_TRY(slri_check_gpu_node(automatic, "SLIPRING_WEBGPU_LIB"));
    SLRI_TRY(slri_wg_load(&lib));
    return slri_wg_count_devices(lib, devices);
}

// ---- opening -------------------------------------------------------------------------------------------------------

struct answer {
    WGPUDevice device;
    bool has_come;
    char why[160];
};

static void take_device(uint32_t status, WGPUDevice device, WGPUStringView message, void *user, void *unused)
{
    struct answer *answer = user;
    (void)unused;
    const size_t length = !message.data ? 0 : message.length == SIZE_MAX ? strlen(message.data) : message.length;
    snprintf(answer->why, sizeof answer->why, "%.*s",
             (int)(length < sizeof answer->why ? length : sizeof answer->why - 1), length ? message.data : "");
    answer->device = status == WGPURequestDeviceStatus_Success ? device : NULL;
    answer->has_come = true;
}

// All that the adapter has, of limits too: what a kernel needs of them is known when it is written.
static slr_status request_device(struct slri_webgpu *webgpu, WGPUAdapter adapter)
{
    const uint32_t stamps = WGPUFeatureName_TimestampQuery;
    struct answer answer = {0};
    const WGPUDeviceDescriptor how = {.requiredFeatureCount = webgpu->facts.has_stamps ? 1 : 0,
                                      .requiredFeatures = &stamps,
                                      .requiredLimits = &webgpu->facts.limits,
                                      .deviceLostCallbackInfo = {.mode = WGPUCallbackMode_AllowSpontaneous,
                                                                 .callback = slri_wg_lost,
                                                                 .userdata1 = webgpu},
                                      .uncapturedErrorCallbackInfo = {.callback = slri_wg_heard, .userdata1 = webgpu}};
    const WGPURequestDeviceCallbackInfo then = {
        .mode = WGPUCallbackMode_AllowSpontaneous, .callback = take_device, .userdata1 = &answer};
    webgpu->lib->AdapterRequestDevice(adapter, &how, then);
    if (!answer.has_come)
        return SLRI_FAIL(NO_DEVICE, "device '%s': the library did not answer at once", webgpu->base.name);
    if (!answer.device)
        return SLRI_FAIL(NO_DEVICE, "device '%s' cannot be opened: %s", webgpu->base.name, answer.why);
    webgpu->device = answer.device;
    return SLR_OK;
}

static slr_status start(void *device, uint64_t deadline_ns)
{
    struct slri_webgpu *webgpu = device;
    WGPUAdapter adapter;
    (void)deadline_ns; // nothing here waits for long
    SLRI_TRY(slri_wg_find_adapter(webgpu->lib, webgpu->base.index, &adapter, &webgpu->facts));
    slr_status status = request_device(webgpu, adapter);
    webgpu->lib->AdapterRelease(adapter);
    SLRI_TRY(status);
    webgpu->queue = webgpu->lib->DeviceGetQueue(webgpu->device);
    if (!webgpu->queue)
        return SLRI_FAIL(NO_DEVICE, "device '%s' has no queue", webgpu->base.name);
    webgpu->facts.ns_a_tick = webgpu->lib->QueueGetTimestampPeriod(webgpu->queue);
    webgpu->none_step = webgpu->facts.limits.minStorageBufferOffsetAlignment;
    return slri_wg_buffer_make(webgpu, webgpu->none_step * SLRI_WG_MOST_ENTRIES,
                               WGPUBufferUsage_Storage | WGPUBufferUsage_CopyDst, &webgpu->none);
}

static void give_up(void *device)
{
    struct slri_webgpu *webgpu = device;
    slri_buffered_forget(&webgpu->base);
    slri_wg_buffer_free(webgpu, webgpu->none);
    webgpu->none = NULL;
    slri_wg_code_forget(webgpu);
    if (webgpu->queue && !slri_hangs(&webgpu->base.loss))
        webgpu->lib->QueueRelease(webgpu->queue);
    if (webgpu->device && !slri_hangs(&webgpu->base.loss)) {
        webgpu->lib->DeviceDestroy(webgpu->device);
        webgpu->lib->DeviceRelease(webgpu->device);
    }
    if (!slri_hangs(&webgpu->base.loss))
        slri_wg_queues_forget(webgpu);
    webgpu->queue = NULL;
    webgpu->device = NULL;
}

static slr_status find(void *device, const struct slri_spec *spec)
{
    struct slri_webgpu *webgpu = device;
    (void)spec; // its index is kept
    return slri_wg_load(&webgpu->lib);
}

static void init_locks(void *device)
{
    struct slri_webgpu *webgpu = device;
    slri_mutex_init(&webgpu->buried_lock);
    slri_mutex_init(&webgpu->tool_lock);
}

static void end_locks(void *device)
{
    struct slri_webgpu *webgpu = device;
    slri_mutex_destroy(&webgpu->tool_lock);
    slri_mutex_destroy(&webgpu->buried_lock);
}

static slr_status create_queue(void *device, void **queue)
{
    return slri_buffered_queue_create(device, SLR_DEFAULT_PRIORITY, queue);
}

static slr_status webgpu_open(const struct slri_spec *spec, const slr_allocator *allocator, void **device)
{
    static const struct slri_buffered_driver driver = {.backend = &slri_backend_webgpu,
                                                       .bytes = sizeof(struct slri_webgpu),
                                                       .chunk_bytes = sizeof(struct slri_wg_chunk),
                                                       .loaded = &slri_wg_loaded_calls,
                                                       .calls = &slri_wg_queue_calls,
                                                       .moves_over = true,
                                                       .calls_back = true,
                                                       .init = init_locks,
                                                       .end = end_locks,
                                                       .find = find,
                                                       .start = start,
                                                       .give_up = give_up,
                                                       .free_chunk = slri_wg_chunk_free,
                                                       .fill = slri_wg_code_fill,
                                                       .write = slri_wg_code_write_text,
                                                       .own_queue = create_queue};
    return slri_buffered_open(&driver, spec, allocator, device);
}

const struct slri_backend slri_backend_webgpu = {
    SLRI_BUFFERED_SLOTS,
    SLRI_BUFFERED_QUEUE_SLOTS,
    .name = "webgpu",
    .blob_suffix = ".wgsl",
    .kernel_per = SLRI_KERNEL_PER_SHAPE,
    .fits_blocks = true,
    .probe = webgpu_probe,
    .open = webgpu_open,
    .facts = slri_wg_facts,
    .memory_create = slri_wg_memory_create,
    .memory_destroy = slri_buffered_memory_destroy,
    .metrics = slri_wg_metrics,
    .code_write = slri_wg_code_write,
};
