// SPDX-License-Identifier: Apache-2.0
// The Vulkan devices: opening, closing, the table of functions.
#include "base/gpu_node.h"
#include "base/status.h"
#include "hal/vulkan/vulkan.h"

static slr_status vulkan_probe(bool automatic, uint32_t *devices)
{
    const struct slri_vk_instance *vk;
    SLRI_TRY(slri_check_gpu_node(automatic, "SLIPRING_VULKAN_LIB"));
    SLRI_TRY(slri_vk_load(&vk));
    return slri_vk_count_devices(vk, devices);
}

slr_status slri_vk_check(struct slri_vulkan *vulkan, const char *call, VkResult result)
{
    if (result >= VK_SUCCESS)
        return SLR_OK;
    return slri_loss_seen(&vulkan->base.loss, slri_vk_failed(vulkan->base.name, call, result));
}

// ---- opening -------------------------------------------------------------------------------------------------------

// What memory, queues and copies are made of. What kernels need besides is asked of those.
static slr_status check_facts(const struct slri_vulkan *vulkan)
{
    const struct slri_vk_facts *facts = &vulkan->facts;
    const char *lacks = facts->all.properties.apiVersion < VK_API_VERSION_1_2 ? "Vulkan 1.2"
                        : facts->queues == 0                                  ? "queues that compute"
                        : !facts->timeline                                    ? "timeline semaphores"
                        : !facts->addresses ? "addresses of buffers (bufferDeviceAddress)"
                                            : NULL;
    return lacks ? SLRI_FAIL(NO_DEVICE, "device '%s' (%s) lacks %s", vulkan->base.name,
                             facts->all.properties.deviceName, lacks)
                 : SLR_OK;
}

static slr_status find(void *device, const struct slri_spec *spec)
{
    struct slri_vulkan *vulkan = device;
    SLRI_TRY(slri_vk_find_device(vulkan, spec));
    return check_facts(vulkan);
}

static slr_status create_device(struct slri_vulkan *vulkan)
{
    const struct slri_vk_facts *facts = &vulkan->facts;
    struct slri_vk_features features;
    const float priority[] = {1.0f, 0.5f, 0.5f, 0.5f, 0.5f, 0.5f, 0.5f, 0.0f};
    vulkan->lines = facts->queues < SLRI_VK_MOST_LINES ? facts->queues : SLRI_VK_MOST_LINES;
    const VkDeviceQueueCreateInfo queues = {.sType = VK_STRUCTURE_TYPE_DEVICE_QUEUE_CREATE_INFO,
                                            .queueFamilyIndex = facts->family,
                                            .queueCount = vulkan->lines,
                                            .pQueuePriorities =
                                                vulkan->lines == SLRI_VK_MOST_LINES ? priority : priority + 1};
    const char *extension[SLRI_VK_EXTENSIONS];
    uint32_t extensions = 0;
    for (uint32_t i = 0; i < SLRI_VK_EXTENSIONS; ++i)
        if (facts->extension[i])
            extension[extensions++] = facts->extension[i];
    slri_vk_wanted(facts, &features);
    const VkDeviceCreateInfo create = {.sType = VK_STRUCTURE_TYPE_DEVICE_CREATE_INFO,
                                       .pNext = &features.all,
                                       .queueCreateInfoCount = 1,
                                       .pQueueCreateInfos = &queues,
                                       .enabledExtensionCount = extensions,
                                       .ppEnabledExtensionNames = extension};
    VkResult result = vulkan->vk->CreateDevice(vulkan->physical, &create, NULL, &vulkan->device);
    return result == VK_SUCCESS ? SLR_OK : slri_vk_failed(vulkan->base.name, "CreateDevice", result);
}

static slr_status start(void *device, uint64_t deadline_ns)
{
    struct slri_vulkan *vulkan = device;
    const VkPushConstantRange push = {VK_SHADER_STAGE_COMPUTE_BIT, 0, SLRI_SPIRV_PUSH_BYTES};
    const VkPipelineLayoutCreateInfo layout = {.sType = VK_STRUCTURE_TYPE_PIPELINE_LAYOUT_CREATE_INFO,
                                               .pushConstantRangeCount = 1,
                                               .pPushConstantRanges = &push};
    (void)deadline_ns; // nothing here waits for long
    SLRI_TRY(create_device(vulkan));
    SLRI_TRY(slri_vk_find_calls(vulkan->vk, vulkan->device, vulkan->base.name, &vulkan->call));
    vulkan->facts.calibrated = vulkan->facts.calibrated && vulkan->call.GetCalibratedTimestampsEXT;
    if (!vulkan->call.GetMemoryHostPointerPropertiesEXT)
        vulkan->facts.host.minImportedHostPointerAlignment = 0;
    for (uint32_t i = 0; i < vulkan->lines; ++i)
        vulkan->call.GetDeviceQueue(vulkan->device, vulkan->facts.family, i, &vulkan->line[i].queue);
    SLRI_VK_TRY(vulkan, CreatePipelineLayout, vulkan->device, &layout, NULL, &vulkan->layout);
    return SLR_OK;
}

// Of a device that hangs nothing is freed that it may still touch.
static void give_up(void *device)
{
    struct slri_vulkan *vulkan = device;
    if (vulkan->own)
        slri_buffered_destroy(vulkan, vulkan->own);
    vulkan->own = NULL;
    slri_buffered_forget(&vulkan->base);
    if (vulkan->device && vulkan->call.DestroyDevice && !slri_hangs(&vulkan->base.loss)) {
        vulkan->call.DestroyPipelineLayout(vulkan->device, vulkan->layout, NULL);
        vulkan->call.DestroyDevice(vulkan->device, NULL);
    }
    vulkan->layout = VK_NULL_HANDLE;
    vulkan->device = NULL;
}

static void init_locks(void *device)
{
    struct slri_vulkan *vulkan = device;
    slri_mutex_init(&vulkan->own_lock);
    for (uint32_t i = 0; i < SLRI_VK_MOST_LINES; ++i)
        slri_mutex_init(&vulkan->line[i].lock);
    slri_vk_stay_open(vulkan);
}

static void end_locks(void *device)
{
    struct slri_vulkan *vulkan = device;
    for (uint32_t i = 0; i < SLRI_VK_MOST_LINES; ++i)
        slri_mutex_destroy(&vulkan->line[i].lock);
    slri_mutex_destroy(&vulkan->own_lock);
}

// ---- slots ---------------------------------------------------------------------------------------------------------

static slr_status vulkan_open(const struct slri_spec *spec, const slr_allocator *allocator, void **device)
{
    static const struct slri_buffered_driver driver = {.backend = &slri_backend_vulkan,
                                                       .bytes = sizeof(struct slri_vulkan),
                                                       .chunk_bytes = sizeof(struct slri_vk_chunk),
                                                       .loaded = &slri_vk_loaded_calls,
                                                       .calls = &slri_vk_queue_calls,
                                                       .init = init_locks,
                                                       .stop = slri_vk_stay_close,
                                                       .end = end_locks,
                                                       .find = find,
                                                       .start = start,
                                                       .may_reopen = slri_vk_stay_check,
                                                       .give_up = give_up,
                                                       .free_chunk = slri_vk_chunk_free,
                                                       .fill = slri_vk_code_fill,
                                                       .write = slri_vk_code_write_module,
                                                       .own_queue = slri_vk_queue_create_own,
                                                       .make_list = slri_vk_list_make,
                                                       .free_list = slri_vk_list_free};
    return slri_buffered_open(&driver, spec, allocator, device);
}

const struct slri_backend slri_backend_vulkan = {
    SLRI_BUFFERED_SLOTS,
    SLRI_BUFFERED_QUEUE_SLOTS,
    .name = "vulkan",
    .has_ids = true,
    .blob_suffix = ".vk.bin",
    .kernel_per = SLRI_KERNEL_PER_SHAPE,
    .probe = vulkan_probe,
    .open = vulkan_open,
    .facts = slri_vk_facts,
    .memory_create = slri_vk_memory_create,
    .memory_destroy = slri_vk_memory_destroy,
    .shares_seen = true,
    .locate = slri_vk_locate,
    .metrics = slri_vk_metrics,
    .code_write = slri_vk_code_write,
};
