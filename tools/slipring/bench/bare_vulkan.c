// SPDX-License-Identifier: Apache-2.0
// The floor of a dispatch on Vulkan: a pipeline, memory that the host sees, one recorded command buffer that is
// submitted again, and a timeline semaphore that is waited for.
#include "bench/bare.h"

#if __has_include(<vulkan/vulkan_core.h>)
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define VK_NO_PROTOTYPES
#include <vulkan/vulkan_core.h>

#define CALLS(X)                                                                                                       \
    X(EnumeratePhysicalDevices)                                                                                        \
    X(GetPhysicalDeviceQueueFamilyProperties)                                                                          \
    X(GetPhysicalDeviceMemoryProperties)                                                                               \
    X(CreateDevice)                                                                                                    \
    X(DestroyDevice)                                                                                                   \
    X(DestroyInstance)                                                                                                 \
    X(GetDeviceQueue)                                                                                                  \
    X(CreateBuffer)                                                                                                    \
    X(DestroyBuffer)                                                                                                   \
    X(GetBufferMemoryRequirements)                                                                                     \
    X(AllocateMemory)                                                                                                  \
    X(FreeMemory)                                                                                                      \
    X(BindBufferMemory)                                                                                                \
    X(MapMemory)                                                                                                       \
    X(GetBufferDeviceAddress)                                                                                          \
    X(CreateShaderModule)                                                                                              \
    X(DestroyShaderModule)                                                                                             \
    X(CreatePipelineLayout)                                                                                            \
    X(DestroyPipelineLayout)                                                                                           \
    X(CreateComputePipelines)                                                                                          \
    X(DestroyPipeline)                                                                                                 \
    X(CreateCommandPool)                                                                                               \
    X(DestroyCommandPool)                                                                                              \
    X(AllocateCommandBuffers)                                                                                          \
    X(BeginCommandBuffer)                                                                                              \
    X(EndCommandBuffer)                                                                                                \
    X(CmdBindPipeline)                                                                                                 \
    X(CmdPushConstants)                                                                                                \
    X(CmdDispatch)                                                                                                     \
    X(CmdPipelineBarrier)                                                                                              \
    X(CreateSemaphore)                                                                                                 \
    X(DestroySemaphore)                                                                                                \
    X(QueueSubmit)                                                                                                     \
    X(WaitSemaphores)

enum { PIECES = 8, MOST_DEVICES = 64, GROUP = 8, PATIENCE_S = 60 };

// As spirv-as writes it, of:
//     layout(local_size_x = 8) in;  layout(push_constant) uniform given { words messages, sums; };
//     uint sum = 0;  for (int k = 0; k < 16; k++) sum += messages.word[x * 16 + k];  sums.word[x] += sum;
// where x is gl_GlobalInvocationID.x, and the loop is unrolled.
static const uint32_t adder[] = {
    0x07230203, 0x00010500, 0x00070000, 0x0000006d, 0x00000000, 0x00020011, 0x00000001, 0x00020011, 0x000014e3,
    0x0003000e, 0x000014e4, 0x00000001, 0x0007000f, 0x00000005, 0x00000001, 0x65646461, 0x00000072, 0x00000002,
    0x00000003, 0x00060010, 0x00000001, 0x00000011, 0x00000008, 0x00000001, 0x00000001, 0x00040047, 0x00000003,
    0x0000000b, 0x0000001c, 0x00040047, 0x00000004, 0x00000006, 0x00000004, 0x00030047, 0x00000005, 0x00000002,
    0x00050048, 0x00000005, 0x00000000, 0x00000023, 0x00000000, 0x00030047, 0x00000006, 0x00000002, 0x00050048,
    0x00000006, 0x00000000, 0x00000023, 0x00000000, 0x00050048, 0x00000006, 0x00000001, 0x00000023, 0x00000008,
    0x00020013, 0x00000007, 0x00040015, 0x00000008, 0x00000020, 0x00000000, 0x00040017, 0x00000009, 0x00000008,
    0x00000003, 0x00030021, 0x0000000a, 0x00000007, 0x0003001d, 0x00000004, 0x00000008, 0x0003001e, 0x00000005,
    0x00000004, 0x00040020, 0x0000000b, 0x000014e5, 0x00000005, 0x00040020, 0x0000000c, 0x000014e5, 0x00000008,
    0x0004001e, 0x00000006, 0x0000000b, 0x0000000b, 0x00040020, 0x0000000d, 0x00000009, 0x00000006, 0x00040020,
    0x0000000e, 0x00000009, 0x0000000b, 0x00040020, 0x0000000f, 0x00000001, 0x00000009, 0x00040020, 0x00000010,
    0x00000001, 0x00000008, 0x0004003b, 0x0000000d, 0x00000002, 0x00000009, 0x0004003b, 0x0000000f, 0x00000003,
    0x00000001, 0x0004002b, 0x00000008, 0x00000011, 0x00000000, 0x0004002b, 0x00000008, 0x00000012, 0x00000001,
    0x0004002b, 0x00000008, 0x00000013, 0x00000002, 0x0004002b, 0x00000008, 0x00000014, 0x00000003, 0x0004002b,
    0x00000008, 0x00000015, 0x00000004, 0x0004002b, 0x00000008, 0x00000016, 0x00000005, 0x0004002b, 0x00000008,
    0x00000017, 0x00000006, 0x0004002b, 0x00000008, 0x00000018, 0x00000007, 0x0004002b, 0x00000008, 0x00000019,
    0x00000008, 0x0004002b, 0x00000008, 0x0000001a, 0x00000009, 0x0004002b, 0x00000008, 0x0000001b, 0x0000000a,
    0x0004002b, 0x00000008, 0x0000001c, 0x0000000b, 0x0004002b, 0x00000008, 0x0000001d, 0x0000000c, 0x0004002b,
    0x00000008, 0x0000001e, 0x0000000d, 0x0004002b, 0x00000008, 0x0000001f, 0x0000000e, 0x0004002b, 0x00000008,
    0x00000020, 0x0000000f, 0x0004002b, 0x00000008, 0x00000021, 0x00000010, 0x00050036, 0x00000007, 0x00000001,
    0x00000000, 0x0000000a, 0x000200f8, 0x00000022, 0x00050041, 0x0000000e, 0x00000023, 0x00000002, 0x00000011,
    0x0004003d, 0x0000000b, 0x00000024, 0x00000023, 0x00050041, 0x0000000e, 0x00000025, 0x00000002, 0x00000012,
    0x0004003d, 0x0000000b, 0x00000026, 0x00000025, 0x00050041, 0x00000010, 0x00000027, 0x00000003, 0x00000011,
    0x0004003d, 0x00000008, 0x00000028, 0x00000027, 0x00050084, 0x00000008, 0x00000029, 0x00000028, 0x00000021,
    0x00050080, 0x00000008, 0x0000002a, 0x00000029, 0x00000011, 0x00060041, 0x0000000c, 0x0000002b, 0x00000024,
    0x00000011, 0x0000002a, 0x0006003d, 0x00000008, 0x0000002c, 0x0000002b, 0x00000002, 0x00000004, 0x00050080,
    0x00000008, 0x0000002d, 0x00000011, 0x0000002c, 0x00050080, 0x00000008, 0x0000002e, 0x00000029, 0x00000012,
    0x00060041, 0x0000000c, 0x0000002f, 0x00000024, 0x00000011, 0x0000002e, 0x0006003d, 0x00000008, 0x00000030,
    0x0000002f, 0x00000002, 0x00000004, 0x00050080, 0x00000008, 0x00000031, 0x0000002d, 0x00000030, 0x00050080,
    0x00000008, 0x00000032, 0x00000029, 0x00000013, 0x00060041, 0x0000000c, 0x00000033, 0x00000024, 0x00000011,
    0x00000032, 0x0006003d, 0x00000008, 0x00000034, 0x00000033, 0x00000002, 0x00000004, 0x00050080, 0x00000008,
    0x00000035, 0x00000031, 0x00000034, 0x00050080, 0x00000008, 0x00000036, 0x00000029, 0x00000014, 0x00060041,
    0x0000000c, 0x00000037, 0x00000024, 0x00000011, 0x00000036, 0x0006003d, 0x00000008, 0x00000038, 0x00000037,
    0x00000002, 0x00000004, 0x00050080, 0x00000008, 0x00000039, 0x00000035, 0x00000038, 0x00050080, 0x00000008,
    0x0000003a, 0x00000029, 0x00000015, 0x00060041, 0x0000000c, 0x0000003b, 0x00000024, 0x00000011, 0x0000003a,
    0x0006003d, 0x00000008, 0x0000003c, 0x0000003b, 0x00000002, 0x00000004, 0x00050080, 0x00000008, 0x0000003d,
    0x00000039, 0x0000003c, 0x00050080, 0x00000008, 0x0000003e, 0x00000029, 0x00000016, 0x00060041, 0x0000000c,
    0x0000003f, 0x00000024, 0x00000011, 0x0000003e, 0x0006003d, 0x00000008, 0x00000040, 0x0000003f, 0x00000002,
    0x00000004, 0x00050080, 0x00000008, 0x00000041, 0x0000003d, 0x00000040, 0x00050080, 0x00000008, 0x00000042,
    0x00000029, 0x00000017, 0x00060041, 0x0000000c, 0x00000043, 0x00000024, 0x00000011, 0x00000042, 0x0006003d,
    0x00000008, 0x00000044, 0x00000043, 0x00000002, 0x00000004, 0x00050080, 0x00000008, 0x00000045, 0x00000041,
    0x00000044, 0x00050080, 0x00000008, 0x00000046, 0x00000029, 0x00000018, 0x00060041, 0x0000000c, 0x00000047,
    0x00000024, 0x00000011, 0x00000046, 0x0006003d, 0x00000008, 0x00000048, 0x00000047, 0x00000002, 0x00000004,
    0x00050080, 0x00000008, 0x00000049, 0x00000045, 0x00000048, 0x00050080, 0x00000008, 0x0000004a, 0x00000029,
    0x00000019, 0x00060041, 0x0000000c, 0x0000004b, 0x00000024, 0x00000011, 0x0000004a, 0x0006003d, 0x00000008,
    0x0000004c, 0x0000004b, 0x00000002, 0x00000004, 0x00050080, 0x00000008, 0x0000004d, 0x00000049, 0x0000004c,
    0x00050080, 0x00000008, 0x0000004e, 0x00000029, 0x0000001a, 0x00060041, 0x0000000c, 0x0000004f, 0x00000024,
    0x00000011, 0x0000004e, 0x0006003d, 0x00000008, 0x00000050, 0x0000004f, 0x00000002, 0x00000004, 0x00050080,
    0x00000008, 0x00000051, 0x0000004d, 0x00000050, 0x00050080, 0x00000008, 0x00000052, 0x00000029, 0x0000001b,
    0x00060041, 0x0000000c, 0x00000053, 0x00000024, 0x00000011, 0x00000052, 0x0006003d, 0x00000008, 0x00000054,
    0x00000053, 0x00000002, 0x00000004, 0x00050080, 0x00000008, 0x00000055, 0x00000051, 0x00000054, 0x00050080,
    0x00000008, 0x00000056, 0x00000029, 0x0000001c, 0x00060041, 0x0000000c, 0x00000057, 0x00000024, 0x00000011,
    0x00000056, 0x0006003d, 0x00000008, 0x00000058, 0x00000057, 0x00000002, 0x00000004, 0x00050080, 0x00000008,
    0x00000059, 0x00000055, 0x00000058, 0x00050080, 0x00000008, 0x0000005a, 0x00000029, 0x0000001d, 0x00060041,
    0x0000000c, 0x0000005b, 0x00000024, 0x00000011, 0x0000005a, 0x0006003d, 0x00000008, 0x0000005c, 0x0000005b,
    0x00000002, 0x00000004, 0x00050080, 0x00000008, 0x0000005d, 0x00000059, 0x0000005c, 0x00050080, 0x00000008,
    0x0000005e, 0x00000029, 0x0000001e, 0x00060041, 0x0000000c, 0x0000005f, 0x00000024, 0x00000011, 0x0000005e,
    0x0006003d, 0x00000008, 0x00000060, 0x0000005f, 0x00000002, 0x00000004, 0x00050080, 0x00000008, 0x00000061,
    0x0000005d, 0x00000060, 0x00050080, 0x00000008, 0x00000062, 0x00000029, 0x0000001f, 0x00060041, 0x0000000c,
    0x00000063, 0x00000024, 0x00000011, 0x00000062, 0x0006003d, 0x00000008, 0x00000064, 0x00000063, 0x00000002,
    0x00000004, 0x00050080, 0x00000008, 0x00000065, 0x00000061, 0x00000064, 0x00050080, 0x00000008, 0x00000066,
    0x00000029, 0x00000020, 0x00060041, 0x0000000c, 0x00000067, 0x00000024, 0x00000011, 0x00000066, 0x0006003d,
    0x00000008, 0x00000068, 0x00000067, 0x00000002, 0x00000004, 0x00050080, 0x00000008, 0x00000069, 0x00000065,
    0x00000068, 0x00060041, 0x0000000c, 0x0000006a, 0x00000026, 0x00000011, 0x00000028, 0x0006003d, 0x00000008,
    0x0000006b, 0x0000006a, 0x00000002, 0x00000004, 0x00050080, 0x00000008, 0x0000006c, 0x0000006b, 0x00000069,
    0x0005003e, 0x0000006a, 0x0000006c, 0x00000002, 0x00000004, 0x000100fd, 0x00010038,
};

typedef struct api {
    void *library;
    VkInstance instance;
    VkDevice device;
    VkQueue queue;
    uint32_t family;
    VkPhysicalDeviceMemoryProperties memory;
    struct piece {
        void *memory;
        VkBuffer buffer;
        VkDeviceMemory device;
        VkDeviceAddress address;
    } piece[PIECES];
#define MEMBER(name) PFN_vk##name name;
    CALLS(MEMBER)
#undef MEMBER
} api;

typedef struct prepared {
    api *vk;
    VkShaderModule module;
    VkPipelineLayout layout;
    VkPipeline pipeline;
    VkCommandPool pool;
    VkCommandBuffer commands;
    VkSemaphore done;
    uint64_t value;
    VkDeviceAddress given[2];
    uint32_t recorded; // messages of the command buffer
} prepared;

// ---- the device ----------------------------------------------------------------------------------------------------

static void close(void *of)
{
    api *vk = of;
    if (vk->device)
        vk->DestroyDevice(vk->device, NULL);
    if (vk->instance)
        vk->DestroyInstance(vk->instance, NULL);
    dlclose(vk->library);
    free(vk);
}

static bool find_calls(api *vk, PFN_vkGetInstanceProcAddr get)
{
    const VkApplicationInfo application = {.sType = VK_STRUCTURE_TYPE_APPLICATION_INFO,
                                           .apiVersion = VK_API_VERSION_1_2};
    const VkInstanceCreateInfo create = {.sType = VK_STRUCTURE_TYPE_INSTANCE_CREATE_INFO,
                                         .pApplicationInfo = &application};
    PFN_vkCreateInstance make = get ? (PFN_vkCreateInstance)get(NULL, "vkCreateInstance") : NULL;
    if (!make || make(&create, NULL, &vk->instance) != VK_SUCCESS)
        return false;
    bool all = true;
#define FIND(name) all = (vk->name = (PFN_vk##name)get(vk->instance, "vk" #name)) != NULL && all;
    CALLS(FIND)
#undef FIND
    return all;
}

static bool make_device(api *vk, uint32_t index)
{
    VkPhysicalDevice found[MOST_DEVICES];
    uint32_t count = MOST_DEVICES, families = 16;
    VkQueueFamilyProperties family[16];
    if (vk->EnumeratePhysicalDevices(vk->instance, &count, found) < VK_SUCCESS || index >= count)
        return false;
    vk->GetPhysicalDeviceQueueFamilyProperties(found[index], &families, family);
    while (vk->family < families && !(family[vk->family].queueFlags & VK_QUEUE_COMPUTE_BIT))
        vk->family++;
    const float priority = 1.0f;
    const VkDeviceQueueCreateInfo queue = {.sType = VK_STRUCTURE_TYPE_DEVICE_QUEUE_CREATE_INFO,
                                           .queueFamilyIndex = vk->family,
                                           .queueCount = 1,
                                           .pQueuePriorities = &priority};
    VkPhysicalDeviceVulkan12Features features = {.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_2_FEATURES,
                                                 .timelineSemaphore = VK_TRUE,
                                                 .bufferDeviceAddress = VK_TRUE};
    const VkDeviceCreateInfo create = {.sType = VK_STRUCTURE_TYPE_DEVICE_CREATE_INFO,
                                       .pNext = &features,
                                       .queueCreateInfoCount = 1,
                                       .pQueueCreateInfos = &queue};
    if (vk->family == families || vk->CreateDevice(found[index], &create, NULL, &vk->device) != VK_SUCCESS)
        return false;
    vk->GetDeviceQueue(vk->device, vk->family, 0, &vk->queue);
    vk->GetPhysicalDeviceMemoryProperties(found[index], &vk->memory);
    return true;
}

static void *open(const char *device, const char **why)
{
    const char *path = getenv("SLIPRING_VULKAN_LIB");
    void *library = dlopen(path ? path : "libvulkan.so.1", RTLD_NOW | RTLD_LOCAL);
    unsigned index = 0;
    *why = "Vulkan does not open";
    if (!library || sscanf(device, "vulkan:%u", &index) != 1) {
        *why = library ? "give the device as vulkan:N" : *why;
        return NULL;
    }
    api *vk = calloc(1, sizeof *vk);
    if (!vk)
        abort();
    vk->library = library;
    PFN_vkGetInstanceProcAddr get;
    *(void **)&get = dlsym(library, "vkGetInstanceProcAddr");
    if (find_calls(vk, get) && make_device(vk, index))
        return vk;
    close(vk);
    return NULL;
}

// ---- memory --------------------------------------------------------------------------------------------------------

static uint32_t type_of(const api *vk, uint32_t among)
{
    const VkMemoryPropertyFlags wanted = VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT | VK_MEMORY_PROPERTY_HOST_COHERENT_BIT;
    uint32_t type = 0;
    while (!(among >> type & 1) || (vk->memory.memoryTypes[type].propertyFlags & wanted) != wanted)
        type++;
    return type;
}

static void *take(void *of, size_t bytes)
{
    api *vk = of;
    struct piece *piece = vk->piece;
    const VkBufferCreateInfo create = {.sType = VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO,
                                       .size = bytes,
                                       .usage = VK_BUFFER_USAGE_STORAGE_BUFFER_BIT |
                                                VK_BUFFER_USAGE_SHADER_DEVICE_ADDRESS_BIT};
    VkMemoryRequirements needs;
    while (piece->memory)
        piece++;
    if (vk->CreateBuffer(vk->device, &create, NULL, &piece->buffer) != VK_SUCCESS)
        return NULL;
    vk->GetBufferMemoryRequirements(vk->device, piece->buffer, &needs);
    const VkMemoryAllocateFlagsInfo flags = {.sType = VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_FLAGS_INFO,
                                             .flags = VK_MEMORY_ALLOCATE_DEVICE_ADDRESS_BIT};
    const VkMemoryAllocateInfo allocate = {.sType = VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO,
                                           .pNext = &flags,
                                           .allocationSize = needs.size,
                                           .memoryTypeIndex = type_of(vk, needs.memoryTypeBits)};
    if (vk->AllocateMemory(vk->device, &allocate, NULL, &piece->device) != VK_SUCCESS ||
        vk->BindBufferMemory(vk->device, piece->buffer, piece->device, 0) != VK_SUCCESS ||
        vk->MapMemory(vk->device, piece->device, 0, VK_WHOLE_SIZE, 0, &piece->memory) != VK_SUCCESS)
        return NULL;
    const VkBufferDeviceAddressInfo info = {.sType = VK_STRUCTURE_TYPE_BUFFER_DEVICE_ADDRESS_INFO,
                                            .buffer = piece->buffer};
    piece->address = vk->GetBufferDeviceAddress(vk->device, &info);
    return piece->memory;
}

static struct piece *piece_of(api *vk, const void *memory)
{
    struct piece *piece = vk->piece;
    while (piece->memory != memory)
        piece++;
    return piece;
}

static void give(void *of, void *memory)
{
    api *vk = of;
    struct piece *piece = piece_of(vk, memory);
    vk->DestroyBuffer(vk->device, piece->buffer, NULL);
    vk->FreeMemory(vk->device, piece->device, NULL);
    *piece = (struct piece){0};
}

// ---- the kernel ----------------------------------------------------------------------------------------------------

static void release(void *kernel)
{
    prepared *p = kernel;
    if (!p)
        return;
    p->vk->DestroySemaphore(p->vk->device, p->done, NULL);
    p->vk->DestroyCommandPool(p->vk->device, p->pool, NULL);
    p->vk->DestroyPipeline(p->vk->device, p->pipeline, NULL);
    p->vk->DestroyPipelineLayout(p->vk->device, p->layout, NULL);
    p->vk->DestroyShaderModule(p->vk->device, p->module, NULL);
    free(p);
}

static bool make_pipeline(prepared *p)
{
    const VkPushConstantRange push = {VK_SHADER_STAGE_COMPUTE_BIT, 0, sizeof p->given};
    const VkShaderModuleCreateInfo module = {
        .sType = VK_STRUCTURE_TYPE_SHADER_MODULE_CREATE_INFO, .codeSize = sizeof adder, .pCode = adder};
    const VkPipelineLayoutCreateInfo layout = {.sType = VK_STRUCTURE_TYPE_PIPELINE_LAYOUT_CREATE_INFO,
                                               .pushConstantRangeCount = 1,
                                               .pPushConstantRanges = &push};
    api *vk = p->vk;
    if (vk->CreateShaderModule(vk->device, &module, NULL, &p->module) != VK_SUCCESS ||
        vk->CreatePipelineLayout(vk->device, &layout, NULL, &p->layout) != VK_SUCCESS)
        return false;
    const VkComputePipelineCreateInfo create = {.sType = VK_STRUCTURE_TYPE_COMPUTE_PIPELINE_CREATE_INFO,
                                                .stage = {.sType = VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_CREATE_INFO,
                                                          .stage = VK_SHADER_STAGE_COMPUTE_BIT,
                                                          .module = p->module,
                                                          .pName = "adder"},
                                                .layout = p->layout};
    return vk->CreateComputePipelines(vk->device, VK_NULL_HANDLE, 1, &create, NULL, &p->pipeline) == VK_SUCCESS;
}

static bool make_commands(prepared *p)
{
    api *vk = p->vk;
    const VkCommandPoolCreateInfo pool = {.sType = VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO,
                                          .flags = VK_COMMAND_POOL_CREATE_RESET_COMMAND_BUFFER_BIT,
                                          .queueFamilyIndex = vk->family};
    const VkSemaphoreTypeCreateInfo timeline = {.sType = VK_STRUCTURE_TYPE_SEMAPHORE_TYPE_CREATE_INFO,
                                                .semaphoreType = VK_SEMAPHORE_TYPE_TIMELINE};
    const VkSemaphoreCreateInfo semaphore = {.sType = VK_STRUCTURE_TYPE_SEMAPHORE_CREATE_INFO, .pNext = &timeline};
    if (vk->CreateCommandPool(vk->device, &pool, NULL, &p->pool) != VK_SUCCESS)
        return false;
    const VkCommandBufferAllocateInfo buffer = {.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO,
                                                .commandPool = p->pool,
                                                .level = VK_COMMAND_BUFFER_LEVEL_PRIMARY,
                                                .commandBufferCount = 1};
    return vk->AllocateCommandBuffers(vk->device, &buffer, &p->commands) == VK_SUCCESS &&
           vk->CreateSemaphore(vk->device, &semaphore, NULL, &p->done) == VK_SUCCESS;
}

static void *prepare(void *of, enum bare_kernel kernel, void *const memory[2], const size_t bytes[2], const char **why)
{
    (void)bytes;
    *why = "by hand there is only the adder in SPIR-V";
    if (kernel != BARE_ADDER)
        return NULL;
    prepared *p = calloc(1, sizeof *p);
    if (!p)
        abort();
    p->vk = of;
    for (int i = 0; i < 2; i++)
        p->given[i] = piece_of(of, memory[i])->address;
    if (make_pipeline(p) && make_commands(p))
        return p;
    *why = "Vulkan makes no pipeline of it";
    release(p);
    return NULL;
}

static bool record(prepared *p, uint32_t messages)
{
    api *vk = p->vk;
    const VkCommandBufferBeginInfo begin = {.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO};
    const VkMemoryBarrier told = {.sType = VK_STRUCTURE_TYPE_MEMORY_BARRIER,
                                  .srcAccessMask = VK_ACCESS_SHADER_WRITE_BIT,
                                  .dstAccessMask = VK_ACCESS_HOST_READ_BIT};
    if (vk->BeginCommandBuffer(p->commands, &begin) != VK_SUCCESS)
        return false;
    vk->CmdBindPipeline(p->commands, VK_PIPELINE_BIND_POINT_COMPUTE, p->pipeline);
    vk->CmdPushConstants(p->commands, p->layout, VK_SHADER_STAGE_COMPUTE_BIT, 0, sizeof p->given, p->given);
    vk->CmdDispatch(p->commands, messages / GROUP, 1, 1);
    vk->CmdPipelineBarrier(p->commands, VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT, VK_PIPELINE_STAGE_HOST_BIT, 0, 1, &told,
                           0, NULL, 0, NULL);
    p->recorded = messages;
    return vk->EndCommandBuffer(p->commands) == VK_SUCCESS;
}

static bool launch(void *kernel, const uint32_t *values, unsigned count, uint32_t messages)
{
    prepared *p = kernel;
    (void)values;
    (void)count;
    if (p->recorded != messages && !record(p, messages))
        return false;
    p->value++;
    const VkTimelineSemaphoreSubmitInfo timeline = {.sType = VK_STRUCTURE_TYPE_TIMELINE_SEMAPHORE_SUBMIT_INFO,
                                                    .signalSemaphoreValueCount = 1,
                                                    .pSignalSemaphoreValues = &p->value};
    const VkSubmitInfo submit = {.sType = VK_STRUCTURE_TYPE_SUBMIT_INFO,
                                 .pNext = &timeline,
                                 .commandBufferCount = 1,
                                 .pCommandBuffers = &p->commands,
                                 .signalSemaphoreCount = 1,
                                 .pSignalSemaphores = &p->done};
    return p->vk->QueueSubmit(p->vk->queue, 1, &submit, VK_NULL_HANDLE) == VK_SUCCESS;
}

static bool finish(void *kernel)
{
    prepared *p = kernel;
    const VkSemaphoreWaitInfo wait = {.sType = VK_STRUCTURE_TYPE_SEMAPHORE_WAIT_INFO,
                                      .semaphoreCount = 1,
                                      .pSemaphores = &p->done,
                                      .pValues = &p->value};
    return p->vk->WaitSemaphores(p->vk->device, &wait, PATIENCE_S * UINT64_C(1000000000)) == VK_SUCCESS;
}

const struct bare_api bare_vulkan = {"Vulkan", false, open, close, take, give, prepare, launch, finish, NULL, release};
#else
static void *open(const char *device, const char **why)
{
    (void)device;
    *why = "slipring was built without Vulkan's headers";
    return NULL;
}

const struct bare_api bare_vulkan = {.called = "Vulkan", .open = open};
#endif
