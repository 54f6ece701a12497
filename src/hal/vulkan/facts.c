// SPDX-License-Identifier: Apache-2.0
// Which Vulkan devices are here, and what each can do. Nothing is concluded from a name.
#include "base/status.h"
#include "engine/spec.h"
#include "hal/vulkan/vulkan.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MOST_DEVICES 64

// ---- one device ----------------------------------------------------------------------------------------------------

static slr_device_class class_of(const struct slri_vk_facts *facts)
{
    static const slr_device_class of[] = {[VK_PHYSICAL_DEVICE_TYPE_OTHER] = SLR_DEVICE_OTHER,
                                          [VK_PHYSICAL_DEVICE_TYPE_INTEGRATED_GPU] = SLR_DEVICE_INTEGRATED_GPU,
                                          [VK_PHYSICAL_DEVICE_TYPE_DISCRETE_GPU] = SLR_DEVICE_GPU,
                                          [VK_PHYSICAL_DEVICE_TYPE_VIRTUAL_GPU] = SLR_DEVICE_GPU,
                                          [VK_PHYSICAL_DEVICE_TYPE_CPU] = SLR_DEVICE_SOFTWARE};
    const uint32_t type = facts->all.properties.deviceType;
    return type < sizeof of / sizeof *of ? of[type] : SLR_DEVICE_OTHER;
}

static void ask_extensions(const struct slri_vk_instance *vk, VkPhysicalDevice physical, struct slri_vk_facts *out)
{
    static const char *const wanted[SLRI_VK_EXTENSIONS] = {
        VK_EXT_EXTERNAL_MEMORY_HOST_EXTENSION_NAME, VK_EXT_MEMORY_BUDGET_EXTENSION_NAME,
        VK_EXT_CALIBRATED_TIMESTAMPS_EXTENSION_NAME, VK_EXT_SUBGROUP_SIZE_CONTROL_EXTENSION_NAME};
    uint32_t count = 0;
    VkExtensionProperties *list = NULL;
    if (vk->EnumerateDeviceExtensionProperties(physical, NULL, &count, NULL) == VK_SUCCESS)
        list = calloc(count + 1, sizeof *list);
    if (!list)
        return;
    if (vk->EnumerateDeviceExtensionProperties(physical, NULL, &count, list) != VK_SUCCESS)
        count = 0;
    for (uint32_t i = 0; i < count; ++i)
        for (uint32_t k = 0; k < SLRI_VK_EXTENSIONS; ++k)
            if (strcmp(list[i].extensionName, wanted[k]) == 0)
                out->extension[k] = wanted[k];
    free(list);
}

#define SUBGROUP_WORDS                                                                                                 \
    (VK_SUBGROUP_FEATURE_BASIC_BIT | VK_SUBGROUP_FEATURE_VOTE_BIT | VK_SUBGROUP_FEATURE_BALLOT_BIT |                   \
     VK_SUBGROUP_FEATURE_SHUFFLE_BIT)

static void ask_properties(const struct slri_vk_instance *vk, VkPhysicalDevice physical, struct slri_vk_facts *out)
{
    void *const host = out->extension[SLRI_VK_HOST_MEMORY] ? &out->host : NULL;
    VkPhysicalDeviceSubgroupSizeControlPropertiesEXT sizes = {
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SUBGROUP_SIZE_CONTROL_PROPERTIES_EXT, .pNext = host};
    const VkPhysicalDeviceVulkan12Properties *p12 = &out->p12;
    out->host.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_EXTERNAL_MEMORY_HOST_PROPERTIES_EXT;
    out->p12.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_2_PROPERTIES;
    out->p12.pNext = out->extension[SLRI_VK_SUBGROUP_SIZE] ? &sizes : host;
    out->p11.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_1_PROPERTIES;
    out->p11.pNext = &out->p12;
    out->all.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PROPERTIES_2;
    out->all.pNext = &out->p11;
    vk->GetPhysicalDeviceProperties2(physical, &out->all);
    out->most_buffer_bytes = out->p11.maxMemoryAllocationSize;
    out->subgroups_of_32 = (out->p11.subgroupSupportedOperations & SUBGROUP_WORDS) == SUBGROUP_WORDS &&
                           (sizes.requiredSubgroupSizeStages & VK_SHADER_STAGE_COMPUTE_BIT) &&
                           sizes.minSubgroupSize <= 32 && sizes.maxSubgroupSize >= 32;
#define CONTROL(has, bit) out->float_controls |= p12->shader##has ? (uint32_t)SLRI_SPIRV_##bit : 0u
    CONTROL(DenormPreserveFloat32, DENORM_PRESERVE_32);
    CONTROL(DenormPreserveFloat64, DENORM_PRESERVE_64);
    CONTROL(SignedZeroInfNanPreserveFloat32, ZERO_INF_NAN_32);
    CONTROL(SignedZeroInfNanPreserveFloat64, ZERO_INF_NAN_64);
    CONTROL(RoundingModeRTEFloat32, ROUND_EVEN_32);
    CONTROL(RoundingModeRTEFloat64, ROUND_EVEN_64);
#undef CONTROL
}

// The features that a module may need, in the order in which they are said.
static const struct {
    uint32_t bit;
    size_t at; // in struct slri_vk_features
    const char *name;
} feature_of[] = {
#define FEATURE(name, in, member)                                                                                      \
    {                                                                                                                  \
        SLRI_SPIRV_##name, offsetof(struct slri_vk_features, in.member), #member                                       \
    }
    FEATURE(INT64, all.features, shaderInt64),
    FEATURE(INT8, f12, shaderInt8),
    FEATURE(INT16, all.features, shaderInt16),
    FEATURE(STORAGE8, f12, storageBuffer8BitAccess),
    FEATURE(STORAGE16, f11, storageBuffer16BitAccess),
    FEATURE(FLOAT64, all.features, shaderFloat64),
    FEATURE(ATOMICS64, f12, shaderBufferInt64Atomics),
    FEATURE(SHARED_ATOMICS64, f12, shaderSharedInt64Atomics),
    FEATURE(DEVICE_SCOPE, f12, vulkanMemoryModelDeviceScope),
    FEATURE(SUBGROUPS_OF_32, sizes, subgroupSizeControl)
#undef FEATURE
};
#define MODULE_FEATURES (sizeof feature_of / sizeof *feature_of)

static VkBool32 *feature_at(struct slri_vk_features *features, size_t i)
{
    return (VkBool32 *)(void *)((unsigned char *)features + feature_of[i].at);
}

static void chain(struct slri_vk_features *features, bool has_sizes)
{
    *features = (struct slri_vk_features){
        .all = {.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FEATURES_2, .pNext = &features->f11},
        .f11 = {.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_1_FEATURES, .pNext = &features->f12},
        .f12 = {.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_2_FEATURES,
                .pNext = has_sizes ? &features->sizes : NULL},
        .sizes = {.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SUBGROUP_SIZE_CONTROL_FEATURES_EXT}};
}

static void ask_features(const struct slri_vk_instance *vk, VkPhysicalDevice physical, struct slri_vk_facts *out)
{
    struct slri_vk_features has;
    chain(&has, out->extension[SLRI_VK_SUBGROUP_SIZE] != NULL);
    vk->GetPhysicalDeviceFeatures2(physical, &has.all);
    out->addresses = has.f12.bufferDeviceAddress;
    out->timeline = has.f12.timelineSemaphore;
    out->model = has.f12.vulkanMemoryModel;
    if (!has.all.features.shaderInt64 && out->most_buffer_bytes > UINT64_C(1) << 32) // offsets are of 32 bits
        out->most_buffer_bytes = UINT64_C(1) << 32;
    has.sizes.subgroupSizeControl &= out->subgroups_of_32 && has.sizes.computeFullSubgroups;
    for (size_t i = 0; i < MODULE_FEATURES; ++i)
        out->has |= *feature_at(&has, i) ? feature_of[i].bit : 0;
}

void slri_vk_wanted(const struct slri_vk_facts *facts, struct slri_vk_features *out)
{
    const bool sizes = (facts->has & SLRI_SPIRV_SUBGROUPS_OF_32) != 0;
    chain(out, sizes);
    for (size_t i = 0; i < MODULE_FEATURES; ++i)
        *feature_at(out, i) = (facts->has & feature_of[i].bit) != 0;
    out->sizes.computeFullSubgroups = sizes;
    out->f12.timelineSemaphore = VK_TRUE;
    out->f12.bufferDeviceAddress = VK_TRUE;
    out->f12.vulkanMemoryModel = facts->model;
}

// A family that computes; best one that does no graphics, which then does not wait for what is drawn.
static void ask_families(const struct slri_vk_instance *vk, VkPhysicalDevice physical, struct slri_vk_facts *out)
{
    VkQueueFamilyProperties family[16];
    uint32_t count = 16;
    bool is_alone = false;
    vk->GetPhysicalDeviceQueueFamilyProperties(physical, &count, family);
    for (uint32_t i = 0; i < count; ++i) {
        const bool alone = !(family[i].queueFlags & VK_QUEUE_GRAPHICS_BIT);
        if (!(family[i].queueFlags & VK_QUEUE_COMPUTE_BIT) || (out->queues != 0 && (is_alone || !alone)))
            continue;
        is_alone = alone;
        out->family = i;
        out->queues = family[i].queueCount;
        out->stamp_bits = family[i].timestampValidBits;
    }
}

// The largest heap that is near the device.
static void find_heap(struct slri_vk_facts *out)
{
    const VkPhysicalDeviceMemoryProperties *memory = &out->memory;
    for (uint32_t i = 0; i < memory->memoryHeapCount; ++i)
        if ((memory->memoryHeaps[i].flags & VK_MEMORY_HEAP_DEVICE_LOCAL_BIT) &&
            memory->memoryHeaps[i].size > out->memory_bytes) {
            out->memory_bytes = memory->memoryHeaps[i].size;
            out->heap = i;
        }
}

// Whether the driver reads its clock and the host's at once.
static bool has_clocks(const struct slri_vk_instance *vk, VkPhysicalDevice physical)
{
    VkTimeDomainEXT domain[16];
    uint32_t count = 16, found = 0;
    if (!vk->GetTimeDomains || vk->GetTimeDomains(physical, &count, domain) < VK_SUCCESS)
        return false;
    for (uint32_t i = 0; i < count; ++i)
        found += domain[i] == VK_TIME_DOMAIN_DEVICE_EXT || domain[i] == VK_TIME_DOMAIN_CLOCK_MONOTONIC_EXT;
    return found == 2;
}

static void ask(const struct slri_vk_instance *vk, VkPhysicalDevice physical, struct slri_vk_facts *out)
{
    VkPhysicalDeviceMemoryProperties2 memory = {.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_MEMORY_PROPERTIES_2};
    *out = (struct slri_vk_facts){0};
    vk->GetPhysicalDeviceProperties(physical, &out->all.properties);
    ask_families(vk, physical, out);
    if (out->all.properties.apiVersion < VK_API_VERSION_1_2) // it knows none of what is asked below
        return;
    ask_extensions(vk, physical, out);
    ask_properties(vk, physical, out);
    ask_features(vk, physical, out);
    vk->GetPhysicalDeviceMemoryProperties2(physical, &memory);
    out->memory = memory.memoryProperties;
    find_heap(out);
    out->calibrated = out->extension[SLRI_VK_CALIBRATED] && has_clocks(vk, physical);
}

// ---- which ---------------------------------------------------------------------------------------------------------

static slr_status list_all(const struct slri_vk_instance *vk, VkPhysicalDevice found[MOST_DEVICES], uint32_t *out)
{
    uint32_t count = MOST_DEVICES;
    VkResult result = vk->EnumeratePhysicalDevices(vk->instance, &count, found);
    if (result != VK_SUCCESS && result != VK_INCOMPLETE)
        return slri_vk_failed("vulkan", "EnumeratePhysicalDevices", result);
    if (count == 0)
        return SLRI_FAIL(NO_DEVICE, "a Vulkan library is installed, but no driver shows a device (Debian: "
                                    "mesa-vulkan-drivers has one for any CPU)");
    *out = count;
    return SLR_OK;
}

slr_status slri_vk_count_devices(const struct slri_vk_instance *vk, uint32_t *out)
{
    VkPhysicalDevice found[MOST_DEVICES];
    return list_all(vk, found, out);
}

static bool begins(const char *text, const char *with)
{
    while (*with && tolower((unsigned char)*text) == tolower((unsigned char)*with)) {
        ++text;
        ++with;
    }
    return *with == '\0';
}

struct listed {
    const struct slri_vk_instance *vk;
    VkPhysicalDevice device[MOST_DEVICES];
};

// "UUID-6d65", the beginning of a device's, or the beginning of its name in any case.
static slr_status has_id(void *user, uint32_t i, const char *id, bool *out)
{
    const struct listed *listed = user;
    struct slri_vk_facts facts;
    char uuid[37];
    ask(listed->vk, listed->device[i], &facts);
    slri_spec_put_uuid(facts.p11.deviceUUID, uuid);
    *out = begins(id, "UUID-") && id[5] != '\0' ? begins(uuid, id + 5) : begins(facts.all.properties.deviceName, id);
    return SLR_OK;
}

slr_status slri_vk_find_device(struct slri_vulkan *vulkan, const struct slri_spec *spec)
{
    struct listed listed;
    uint32_t count = 0, number;
    SLRI_TRY(slri_vk_load(&listed.vk));
    SLRI_TRY(list_all(listed.vk, listed.device, &count));
    SLRI_TRY(slri_spec_choose(spec, "vulkan", count, has_id, &listed,
                              "give the beginning of a name, or of a UUID as vulkan:UUID-8f2c; 'slipring devices' "
                              "lists them",
                              &number));
    vulkan->vk = listed.vk;
    vulkan->physical = listed.device[number];
    ask(listed.vk, vulkan->physical, &vulkan->facts);
    return SLR_OK;
}

// ---- description ---------------------------------------------------------------------------------------------------

const char *slri_vk_refuses(const struct slri_vulkan *vulkan)
{
    const struct slri_vk_facts *facts = &vulkan->facts;
    return facts->model ? NULL : "Vulkan's memory model (vulkanMemoryModel)";
}

#define PERSISTENT " persistent_groups=1"

static void describe_features(const struct slri_vulkan *vulkan, char *out, size_t room)
{
    const struct slri_vk_facts *facts = &vulkan->facts;
    const uint32_t api = facts->all.properties.apiVersion;
    const bool keeps = facts->float_controls & SLRI_SPIRV_DENORM_PRESERVE_32;
    char uuid[37];
    slri_spec_put_uuid(facts->p11.deviceUUID, uuid);
    snprintf(out, room, "vulkan=%u.%u subgroup=%u queues=%u denorms=%s id=UUID-%s", VK_API_VERSION_MAJOR(api),
             VK_API_VERSION_MINOR(api), facts->p11.subgroupSize, vulkan->lines, keeps ? "kept" : "flushed", uuid);
    for (size_t i = 0; i < MODULE_FEATURES; ++i)
        if (facts->has & feature_of[i].bit && strlen(out) + strlen(feature_of[i].name) + 2 <= room)
            snprintf(out + strlen(out), room - strlen(out), " %s", feature_of[i].name);
}

// A driver that ends loops ends what would stay, too: that is said once. What host and kernel see of each other's
// writes is tried, and more than Vulkan promises.
static void describe_staying(struct slri_vulkan *vulkan, slr_device_info *out)
{
    uint64_t turns = 0;
    const char *lacks = slri_vk_cannot_stay(vulkan);
    (void)slri_canary_ask(&vulkan->base.canary, slri_own_kernel_canary, vulkan, &turns);
    if (turns != 0)
        snprintf(out->notes, sizeof out->notes,
                 "the driver ends loops after %llu turns without an error: a kernel that needs more fails, and none "
                 "can stay for a persistent ring kernel",
                 (unsigned long long)turns);
    else if (lacks)
        snprintf(out->notes, sizeof out->notes, "no persistent ring kernels: %s", lacks);
    else
        snprintf(out->notes, sizeof out->notes,
                 "persistent ring kernels: 1, in turn with other work; that it and the host see each other's writes is "
                 "tried, not promised by Vulkan's memory model");
    if (!lacks)
        strcat(out->features, PERSISTENT);
}

static void describe(struct slri_vulkan *vulkan, slr_device_info *out)
{
    const struct slri_vk_facts *facts = &vulkan->facts;
    const char *lacks = slri_vk_refuses(vulkan);
    snprintf(out->description, sizeof out->description, "%.63s (%.32s %.40s)", facts->all.properties.deviceName,
             facts->p12.driverName, facts->p12.driverInfo);
    snprintf(out->engine, sizeof out->engine, "SPIR-V, compiled by the driver");
    describe_features(vulkan, out->features, sizeof out->features - sizeof PERSISTENT); // which is said last
    out->memory_bytes = facts->memory_bytes;
    if (lacks) {
        snprintf(out->engine, sizeof out->engine, "none: the device lacks %s", lacks);
        return;
    }
    describe_staying(vulkan, out);
}

static void identify(const struct slri_vulkan *vulkan, struct slri_identity *out)
{
    const struct slri_vk_facts *facts = &vulkan->facts;
    snprintf(out->model, sizeof out->model, "%.63s", facts->all.properties.deviceName);
    snprintf(out->compiler, sizeof out->compiler, "%.47s", facts->p12.driverName);
    snprintf(out->driver, sizeof out->driver, "%.47s", facts->p12.driverInfo);
}

static slr_status classify(uint32_t index, slr_device_class *out)
{
    const struct slri_spec spec = {.index = index};
    struct slri_vulkan vulkan;
    SLRI_TRY(slri_vk_find_device(&vulkan, &spec));
    *out = class_of(&vulkan.facts);
    return SLR_OK;
}

slr_status slri_vk_facts(void *device, uint32_t index, struct slri_facts *out, slr_device_info *info)
{
    struct slri_vulkan *vulkan = device;
    *out = (struct slri_facts){0};
    if (!vulkan)
        return classify(index, &out->device_class);
    const VkPhysicalDeviceLimits *limits = &vulkan->facts.all.properties.limits;
    slri_buffered_facts(&vulkan->base, class_of(&vulkan->facts), limits->maxComputeWorkGroupInvocations,
                        limits->maxComputeSharedMemorySize, out);
    out->has_pinned = true;
    out->residents = &vulkan->residents;
    identify(vulkan, &out->identity);
    if (info)
        describe(vulkan, info);
    return SLR_OK;
}

// ---- figures -------------------------------------------------------------------------------------------------------

static void add_budget(const struct slri_vulkan *vulkan, slr_metrics *out)
{
    VkPhysicalDeviceMemoryBudgetPropertiesEXT budget = {
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_MEMORY_BUDGET_PROPERTIES_EXT};
    VkPhysicalDeviceMemoryProperties2 memory = {.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_MEMORY_PROPERTIES_2,
                                                .pNext = &budget};
    vulkan->vk->GetPhysicalDeviceMemoryProperties2(vulkan->physical, &memory);
    slri_metrics_add(out, "memory_used_bytes", budget.heapUsage[vulkan->facts.heap]);
}

slr_status slri_vk_metrics(const void *device, slr_metrics *out)
{
    const struct slri_vulkan *vulkan = device;
    const struct slri_vk_counts *counts = &vulkan->counts;
    const struct slri_counted counted[] = {{"barriers", &counts->barriers},
                                           {"host_barriers", &counts->host_barriers},
                                           {"argument_writes", &counts->argument_writes},
                                           {"pipelines", &counts->pipelines},
                                           {"submits", &counts->submits}};
    *out = (slr_metrics){0};
    if (vulkan->facts.extension[SLRI_VK_BUDGET])
        add_budget(vulkan, out);
    slri_metrics_add(out, "memory_bytes", vulkan->facts.memory_bytes);
    slri_metrics_add_counted(out, counted, sizeof counted / sizeof *counted);
    return SLR_OK;
}
