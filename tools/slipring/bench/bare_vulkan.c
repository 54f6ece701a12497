// SPDX-License-Identifier: Apache-2.0
// The floors on Vulkan: a pipeline, memory that the host sees, one recorded command buffer that is submitted again, and
// a timeline semaphore that is waited for. A kernel that takes numbers is recorded for each launch.
#include "bench/bare.h"

#if __has_include(<vulkan/vulkan_core.h>)
#include "bench/bare_vulkan_words.h"

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
    const struct code *code;
    union {
        struct given {
            VkDeviceAddress memory[2];
            uint32_t value[2];
        } given;
        struct { // of bare_by_hand
            VkDeviceAddress memory[BARE_HAND_BUFFERS];
            int32_t n;
            float factor;
        } hand;
    };
    uint32_t recorded; // messages of the command buffer; 0: it is recorded for each launch
} prepared;

static const struct code {
    const char *name;
    const uint32_t *word;
    size_t bytes;
    bool takes_values;
} codes[BARE_KERNELS] = {[BARE_ADDER] = {"adder", adder, sizeof adder, false},
                         [BARE_ECHO] = {"echo", echo, sizeof echo, true},
                         [BARE_ONCE] = {"once", once, sizeof once, true}};

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
                                                 .bufferDeviceAddress = VK_TRUE,
                                                 .vulkanMemoryModel = VK_TRUE,
                                                 .vulkanMemoryModelDeviceScope = VK_TRUE};
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

static bool make_pipeline(prepared *p, const struct code *code)
{
    const VkPushConstantRange push = {VK_SHADER_STAGE_COMPUTE_BIT, 0, sizeof p->hand};
    const VkShaderModuleCreateInfo module = {
        .sType = VK_STRUCTURE_TYPE_SHADER_MODULE_CREATE_INFO, .codeSize = code->bytes, .pCode = code->word};
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
                                                          .pName = code->name},
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
    *why = "there is none in SPIR-V";
    if (!codes[kernel].name)
        return NULL;
    prepared *p = calloc(1, sizeof *p);
    if (!p)
        abort();
    p->vk = of;
    p->code = &codes[kernel];
    for (int i = 0; i < 2; i++)
        p->given.memory[i] = piece_of(of, memory[i])->address;
    if (make_pipeline(p, p->code) && make_commands(p))
        return p;
    *why = "Vulkan makes no pipeline of it";
    release(p);
    return NULL;
}

static bool record_grid(prepared *p, const uint32_t grid[2])
{
    api *vk = p->vk;
    const VkCommandBufferBeginInfo begin = {.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO};
    const VkMemoryBarrier told = {.sType = VK_STRUCTURE_TYPE_MEMORY_BARRIER,
                                  .srcAccessMask = VK_ACCESS_SHADER_WRITE_BIT,
                                  .dstAccessMask = VK_ACCESS_HOST_READ_BIT};
    if (vk->BeginCommandBuffer(p->commands, &begin) != VK_SUCCESS)
        return false;
    vk->CmdBindPipeline(p->commands, VK_PIPELINE_BIND_POINT_COMPUTE, p->pipeline);
    vk->CmdPushConstants(p->commands, p->layout, VK_SHADER_STAGE_COMPUTE_BIT, 0, sizeof p->hand, &p->hand);
    vk->CmdDispatch(p->commands, grid[0], grid[1], 1);
    vk->CmdPipelineBarrier(p->commands, VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT, VK_PIPELINE_STAGE_HOST_BIT, 0, 1, &told,
                           0, NULL, 0, NULL);
    return vk->EndCommandBuffer(p->commands) == VK_SUCCESS;
}

static bool record(prepared *p, uint32_t messages)
{
    const bool once = p->code->takes_values;
    p->recorded = once ? 0 : messages;
    return record_grid(p, (uint32_t[]){once ? 1 : messages / GROUP, 1});
}

static bool submit_recorded(prepared *p)
{
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

static bool launch(void *kernel, const uint32_t *values, unsigned count, uint32_t messages)
{
    prepared *p = kernel;
    for (unsigned i = 0; i < count; i++)
        p->given.value[i] = values[i];
    return (p->recorded == messages || record(p, messages)) && submit_recorded(p);
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

// ---- kernels of somebody else's compiler ---------------------------------------------------------------------------

void *bare_by_hand(void *of, const bare_hand *hand)
{
    prepared *p = calloc(1, sizeof *p);
    if (!p)
        abort();
    p->vk = of;
    const struct code code = {"main", hand->word, hand->bytes, false};
    for (int i = 0; i < BARE_HAND_BUFFERS && hand->memory[i]; i++)
        p->hand.memory[i] = piece_of(of, hand->memory[i])->address;
    p->hand.n = hand->n;
    p->hand.factor = hand->factor;
    if (make_pipeline(p, &code) && make_commands(p) && record_grid(p, hand->grid))
        return p;
    release(p);
    return NULL;
}

bool bare_run_by_hand(void *kernel)
{
    return submit_recorded(kernel) && finish(kernel);
}

const struct bare_api bare_vulkan = {"Vulkan", true, open, close, take, give, prepare, launch, finish, NULL, release};
#else
static void *open(const char *device, const char **why)
{
    (void)device;
    *why = "slipring was built without Vulkan's headers";
    return NULL;
}

void *bare_by_hand(void *of, const bare_hand *hand)
{
    (void)of, (void)hand;
    return NULL;
}

bool bare_run_by_hand(void *kernel)
{
    (void)kernel;
    return false;
}

const struct bare_api bare_vulkan = {.called = "Vulkan", .open = open};
#endif
