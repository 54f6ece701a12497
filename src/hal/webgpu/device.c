// SPDX-License-Identifier: Apache-2.0
// The WebGPU devices: opening, closing, the table of functions.
#include "base/alloc.h"
#include "base/gpu_node.h"
#include "base/status.h"
#include "engine/kept_list.h"
#include "engine/ring_mode.h"
#include "engine/spec.h"
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
        return SLRI_FAIL(NO_DEVICE, "device '%s': the library did not answer at once", webgpu->name);
    if (!answer.device)
        return SLRI_FAIL(NO_DEVICE, "device '%s' cannot be opened: %s", webgpu->name, answer.why);
    webgpu->device = answer.device;
    return SLR_OK;
}

static slr_status start(void *device, uint64_t deadline_ns)
{
    struct slri_webgpu *webgpu = device;
    WGPUAdapter adapter;
    (void)deadline_ns; // nothing here waits for long
    SLRI_TRY(slri_wg_find_adapter(webgpu->lib, webgpu->index, &adapter, &webgpu->facts));
    slr_status status = request_device(webgpu, adapter);
    webgpu->lib->AdapterRelease(adapter);
    SLRI_TRY(status);
    webgpu->queue = webgpu->lib->DeviceGetQueue(webgpu->device);
    if (!webgpu->queue)
        return SLRI_FAIL(NO_DEVICE, "device '%s' has no queue", webgpu->name);
    webgpu->facts.ns_a_tick = webgpu->lib->QueueGetTimestampPeriod(webgpu->queue);
    webgpu->none_step = webgpu->facts.limits.minStorageBufferOffsetAlignment;
    return slri_wg_buffer_make(webgpu, webgpu->none_step * SLRI_WG_MOST_ENTRIES,
                               WGPUBufferUsage_Storage | WGPUBufferUsage_CopyDst, &webgpu->none);
}

static void give_up(void *device)
{
    struct slri_webgpu *webgpu = device;
    slri_wg_memory_forget(webgpu);
    slri_wg_code_forget(webgpu);
    if (webgpu->queue && !slri_hangs(&webgpu->loss))
        webgpu->lib->QueueRelease(webgpu->queue);
    if (webgpu->device && !slri_hangs(&webgpu->loss)) {
        webgpu->lib->DeviceDestroy(webgpu->device);
        webgpu->lib->DeviceRelease(webgpu->device);
    }
    if (!slri_hangs(&webgpu->loss))
        slri_wg_queues_forget(webgpu);
    webgpu->queue = NULL;
    webgpu->device = NULL;
}

static void webgpu_close(void *device)
{
    struct slri_webgpu *webgpu = device;
    give_up(webgpu);
    if (slri_hangs(&webgpu->loss)) // the library may still call with it
        return;
    slri_mutex_destroy(&webgpu->canary.lock);
    slri_mutex_destroy(&webgpu->tool_lock);
    slri_loaded_destroy(&webgpu->kernels);
    slri_mutex_destroy(&webgpu->buried_lock);
    slri_places_destroy(&webgpu->chunks);
    slri_loss_destroy(&webgpu->loss);
    slri_free(webgpu->allocator, webgpu, sizeof *webgpu);
}

static slr_status check_spec(struct slri_webgpu *webgpu, const struct slri_spec *spec)
{
    static const char *const known[] = {"ring", NULL};
    SLRI_TRY(slri_spec_check_options(spec, known));
    SLRI_TRY(slri_ring_mode_choose(spec, webgpu->name, &webgpu->ring_mode));
    return slri_wg_load(&webgpu->lib);
}

static slr_status webgpu_open(const struct slri_spec *spec, const slr_allocator *allocator, void **device)
{
    struct slri_webgpu *webgpu = slri_alloc(allocator, sizeof *webgpu);
    if (!webgpu)
        return SLRI_FAIL(NO_MEMORY, "no memory for a WebGPU device");
    webgpu->allocator = allocator;
    webgpu->index = spec->index;
    slri_spec_put_name(spec, "webgpu", webgpu->name, sizeof webgpu->name);
    slri_loss_init(&webgpu->loss, webgpu->name);
    slri_mutex_init(&webgpu->buried_lock);
    slri_places_init(&webgpu->chunks, allocator, webgpu->name, sizeof(struct slri_wg_chunk));
    webgpu->kernels = (struct slri_loaded_list){
        .call = &slri_wg_loaded_calls, .device = webgpu, .allocator = allocator, .loss = &webgpu->loss};
    slri_loaded_init(&webgpu->kernels);
    slri_mutex_init(&webgpu->tool_lock);
    slri_mutex_init(&webgpu->canary.lock);
    slr_status status = check_spec(webgpu, spec);
    if (status == SLR_OK)
        status = start(webgpu, 0);
    if (status == SLR_OK)
        *device = webgpu;
    else
        webgpu_close(webgpu);
    return status;
}

// ---- opening again -------------------------------------------------------------------------------------------------

// Another device takes the lost one's place; nothing of that is given to it.
static slr_status webgpu_reopen(void *device, uint64_t deadline_ns, slr_status (*quiesce)(void *user), void *user)
{
    static const struct slri_reopening how = {start, give_up};
    struct slri_webgpu *webgpu = device;
    SLRI_TRY(quiesce(user));
    return slri_loss_replace(&webgpu->loss, &how, webgpu, deadline_ns);
}

// WebGPU has command buffers that run once alone.
static slr_status webgpu_list_create(void *device, const struct slri_command *command, const struct slri_extras *extras,
                                     uint32_t commands, void **list)
{
    struct slri_webgpu *webgpu = device;
    SLRI_TRY(slri_loss_check(&webgpu->loss));
    return slri_kept_list_create(webgpu->name, webgpu->allocator, true, command, extras, commands, list);
}

const struct slri_backend slri_backend_webgpu = {
    .name = "webgpu",
    .blob_suffix = ".wgsl",
    .kernel_per = SLRI_KERNEL_PER_SHAPE,
    .fits_blocks = true,
    .probe = webgpu_probe,
    .open = webgpu_open,
    .close = webgpu_close,
    .facts = slri_wg_facts,
    .reopen = webgpu_reopen,
    .memory_create = slri_wg_memory_create,
    .memory_destroy = slri_wg_memory_destroy,
    .encode = slri_buffered_encode,
    .wait = slri_buffered_wait,
    .queue_create = slri_wg_queue_create,
    .queue_destroy = slri_buffered_destroy,
    .metrics = slri_wg_metrics,
    .list_create = webgpu_list_create,
    .list_destroy = slri_kept_list_destroy,
    .code_write = slri_wg_code_write,
    .code_build = slri_wg_code_build,
    .code_unload = slri_wg_code_unload,
    .code_kernel = slri_wg_code_kernel,
};
