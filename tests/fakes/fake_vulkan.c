// SPDX-License-Identifier: Apache-2.0
// See fake_vulkan.h. SLIPRING_FAKE_VULKAN_DROPS=1 leaves out those between commands: for a test that a validation
// layer notices.
#include "fake_vulkan.h"

#define VK_NO_PROTOTYPES
#include <vulkan/vulkan_core.h>

#include <dlfcn.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define SEEN __attribute__((visibility("default")))

static struct fake_vulkan fake;

SEEN struct fake_vulkan *fake_vulkan_words(void);
struct fake_vulkan *fake_vulkan_words(void)
{
    return &fake;
}

static VkDevice device; // the newest
static PFN_vkDeviceWaitIdle real_DeviceWaitIdle;

static VkResult fail(const char *name)
{
    fake.failed = name;
    if (fake.result == VK_ERROR_DEVICE_LOST && device && real_DeviceWaitIdle)
        real_DeviceWaitIdle(device); // a lost device does nothing more
    return (VkResult)fake.result;
}

static VkResult next_call(const char *name)
{
    const uint32_t call = __atomic_add_fetch(&fake.calls, 1, __ATOMIC_RELAXED);
    if (call != __atomic_load_n(&fake.fail_at, __ATOMIC_ACQUIRE))
        return VK_SUCCESS;
    return fail(name);
}

static void came(int32_t objects)
{
    __atomic_fetch_add(&fake.live, objects, __ATOMIC_RELAXED);
}

// Calls that may fail: X(name, parameters, arguments, objects that a success leaves alive).
#define MAY_FAIL(X)                                                                                                    \
    X(EnumeratePhysicalDevices, (VkInstance a, uint32_t * b, VkPhysicalDevice * c), (a, b, c), 0)                      \
    X(CreateDevice, (VkPhysicalDevice a, const VkDeviceCreateInfo *b, const VkAllocationCallbacks *c, VkDevice *d),    \
      (a, b, c, d), 1)                                                                                                 \
    X(QueueSubmit, (VkQueue a, uint32_t b, const VkSubmitInfo *c, VkFence d), (a, b, c, d), 0)                         \
    X(AllocateMemory, (VkDevice a, const VkMemoryAllocateInfo *b, const VkAllocationCallbacks *c, VkDeviceMemory *d),  \
      (a, b, c, d), 1)                                                                                                 \
    X(MapMemory, (VkDevice a, VkDeviceMemory b, VkDeviceSize c, VkDeviceSize d, VkMemoryMapFlags e, void **f),         \
      (a, b, c, d, e, f), 0)                                                                                           \
    X(CreateBuffer, (VkDevice a, const VkBufferCreateInfo *b, const VkAllocationCallbacks *c, VkBuffer *d),            \
      (a, b, c, d), 1)                                                                                                 \
    X(BindBufferMemory, (VkDevice a, VkBuffer b, VkDeviceMemory c, VkDeviceSize d), (a, b, c, d), 0)                   \
    X(CreateSemaphore, (VkDevice a, const VkSemaphoreCreateInfo *b, const VkAllocationCallbacks *c, VkSemaphore *d),   \
      (a, b, c, d), 1)                                                                                                 \
    X(WaitSemaphores, (VkDevice a, const VkSemaphoreWaitInfo *b, uint64_t c), (a, b, c), 0)                            \
    X(CreateQueryPool, (VkDevice a, const VkQueryPoolCreateInfo *b, const VkAllocationCallbacks *c, VkQueryPool *d),   \
      (a, b, c, d), 1)                                                                                                 \
    X(CreateShaderModule,                                                                                              \
      (VkDevice a, const VkShaderModuleCreateInfo *b, const VkAllocationCallbacks *c, VkShaderModule *d),              \
      (a, b, c, d), 1)                                                                                                 \
    X(CreatePipelineCache,                                                                                             \
      (VkDevice a, const VkPipelineCacheCreateInfo *b, const VkAllocationCallbacks *c, VkPipelineCache *d),            \
      (a, b, c, d), 1)                                                                                                 \
    X(CreatePipelineLayout,                                                                                            \
      (VkDevice a, const VkPipelineLayoutCreateInfo *b, const VkAllocationCallbacks *c, VkPipelineLayout *d),          \
      (a, b, c, d), 1)                                                                                                 \
    X(CreateComputePipelines,                                                                                          \
      (VkDevice a, VkPipelineCache b, uint32_t c, const VkComputePipelineCreateInfo *d,                                \
       const VkAllocationCallbacks *e, VkPipeline *f),                                                                 \
      (a, b, c, d, e, f), 1)                                                                                           \
    X(CreateCommandPool,                                                                                               \
      (VkDevice a, const VkCommandPoolCreateInfo *b, const VkAllocationCallbacks *c, VkCommandPool *d), (a, b, c, d),  \
      1)                                                                                                               \
    X(ResetCommandPool, (VkDevice a, VkCommandPool b, VkCommandPoolResetFlags c), (a, b, c), 0)                        \
    X(AllocateCommandBuffers, (VkDevice a, const VkCommandBufferAllocateInfo *b, VkCommandBuffer *c), (a, b, c), 0)    \
    X(BeginCommandBuffer, (VkCommandBuffer a, const VkCommandBufferBeginInfo *b), (a, b), 0)                           \
    X(EndCommandBuffer, (VkCommandBuffer a), (a), 0)

// X(name, type of what is destroyed)
#define DESTROYS(X)                                                                                                    \
    X(DestroyBuffer, VkBuffer)                                                                                         \
    X(FreeMemory, VkDeviceMemory)                                                                                      \
    X(DestroySemaphore, VkSemaphore)                                                                                   \
    X(DestroyQueryPool, VkQueryPool)                                                                                   \
    X(DestroyShaderModule, VkShaderModule)                                                                             \
    X(DestroyPipelineCache, VkPipelineCache)                                                                           \
    X(DestroyPipelineLayout, VkPipelineLayout)                                                                         \
    X(DestroyPipeline, VkPipeline)                                                                                     \
    X(DestroyCommandPool, VkCommandPool)

#define WRAP(name, parameters, arguments, objects)                                                                     \
    static PFN_vk##name real_##name;                                                                                   \
    static VKAPI_ATTR VkResult VKAPI_CALL our_##name parameters                                                        \
    {                                                                                                                  \
        VkResult result = next_call(#name);                                                                            \
        result = result != VK_SUCCESS ? result : real_##name arguments;                                                \
        if (result == VK_SUCCESS)                                                                                      \
            came(objects);                                                                                             \
        return result;                                                                                                 \
    }
MAY_FAIL(WRAP)

#define WRAP_DESTROY(name, type)                                                                                       \
    static PFN_vk##name real_##name;                                                                                   \
    static VKAPI_ATTR void VKAPI_CALL our_##name(VkDevice of, type object, const VkAllocationCallbacks *hook)          \
    {                                                                                                                  \
        if (!of) {                                                                                                     \
            __atomic_fetch_add(&fake.astray, 1, __ATOMIC_RELAXED);                                                     \
            return;                                                                                                    \
        }                                                                                                              \
        came(object ? -1 : 0);                                                                                         \
        real_##name(of, object, hook);                                                                                 \
    }
DESTROYS(WRAP_DESTROY)

static PFN_vkDestroyDevice real_DestroyDevice;
static VKAPI_ATTR void VKAPI_CALL our_DestroyDevice(VkDevice dying, const VkAllocationCallbacks *hook)
{
    came(-1);
    device = NULL;
    real_DestroyDevice(dying, hook);
}

static PFN_vkCmdPipelineBarrier real_CmdPipelineBarrier;
static VKAPI_ATTR void VKAPI_CALL our_CmdPipelineBarrier(VkCommandBuffer commands, VkPipelineStageFlags from,
                                                         VkPipelineStageFlags to, VkDependencyFlags flags,
                                                         uint32_t wide, const VkMemoryBarrier *all, uint32_t ranges,
                                                         const VkBufferMemoryBarrier *range, uint32_t images,
                                                         const VkImageMemoryBarrier *image)
{
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; // of the words about barriers
    const char *drops = getenv("SLIPRING_FAKE_VULKAN_DROPS");
    pthread_mutex_lock(&lock);
    ++fake.barriers;
    fake.wide += wide;
    fake.ranges += ranges;
    fake.stages |= from | to;
    for (uint32_t i = 0; i < ranges; ++i) {
        fake.first = fake.first == 0 || range[i].size < fake.first ? range[i].size : fake.first;
        fake.last = range[i].size > fake.last ? range[i].size : fake.last;
    }
    pthread_mutex_unlock(&lock);
    if (drops && *drops == '1' && to != VK_PIPELINE_STAGE_HOST_BIT)
        return;
    real_CmdPipelineBarrier(commands, from, to, flags, wide, all, ranges, range, images, image);
}

// ---- several queues of one -----------------------------------------------------------------------------------------

static PFN_vkGetPhysicalDeviceQueueFamilyProperties real_GetPhysicalDeviceQueueFamilyProperties;
static VKAPI_ATTR void VKAPI_CALL our_GetPhysicalDeviceQueueFamilyProperties(VkPhysicalDevice of, uint32_t *count,
                                                                             VkQueueFamilyProperties *out)
{
    real_GetPhysicalDeviceQueueFamilyProperties(of, count, out);
    for (uint32_t i = 0; out && fake.queues != 0 && i < *count; ++i)
        out[i].queueCount = fake.queues;
}

static PFN_vkCreateDevice create_device;
static VKAPI_ATTR VkResult VKAPI_CALL create_with_one(VkPhysicalDevice of, const VkDeviceCreateInfo *create,
                                                      const VkAllocationCallbacks *hook, VkDevice *out)
{
    VkDeviceQueueCreateInfo queues = *create->pQueueCreateInfos;
    VkDeviceCreateInfo asked = *create;
    asked.pQueueCreateInfos = &queues;
    if (fake.queues != 0)
        queues.queueCount = 1;
    return create_device(of, &asked, hook, out);
}

static VkQueue queue; // the driver's
static unsigned char shown[8];
static PFN_vkGetDeviceQueue real_GetDeviceQueue;
static VKAPI_ATTR void VKAPI_CALL our_GetDeviceQueue(VkDevice of, uint32_t family, uint32_t index, VkQueue *out)
{
    real_GetDeviceQueue(of, family, fake.queues != 0 ? 0 : index, out);
    if (fake.queues != 0 && index != 0)
        *out = (VkQueue)(void *)&shown[index];
    else if (fake.queues != 0)
        queue = *out;
}

static PFN_vkQueueSubmit queue_submit;
static VKAPI_ATTR VkResult VKAPI_CALL submit_to_one(VkQueue to, uint32_t count, const VkSubmitInfo *submit,
                                                    VkFence fence)
{
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    static uint32_t to_first; // atomic, as what a test sets while others submit
    uint32_t held = 1;
    if (fake.queues == 0)
        return queue_submit(to, count, submit, fence);
    if (to == queue)
        __atomic_fetch_add(&to_first, 1, __ATOMIC_SEQ_CST);
    const uint32_t before = __atomic_load_n(&to_first, __ATOMIC_SEQ_CST);
    if (to == (VkQueue)(void *)&shown[fake.queues - 1] &&
        __atomic_compare_exchange_n(&fake.holds, &held, 2, 0, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST))
        for (int ms = 0; ms < 1000 && __atomic_load_n(&fake.overtaken, __ATOMIC_SEQ_CST) == 0; ++ms) {
            nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
            __atomic_store_n(&fake.overtaken, __atomic_load_n(&to_first, __ATOMIC_SEQ_CST) - before, __ATOMIC_SEQ_CST);
        }
    pthread_mutex_lock(&lock);
    VkResult result = queue_submit(queue, count, submit, fence);
    pthread_mutex_unlock(&lock);
    return result;
}

static PFN_vkWaitSemaphores wait_semaphores;
static VKAPI_ATTR VkResult VKAPI_CALL wait_or_fail(VkDevice of, const VkSemaphoreWaitInfo *wait, uint64_t timeout_ns)
{
    const bool fails = timeout_ns != 0 && __atomic_exchange_n(&fake.fail_wait, 0, __ATOMIC_SEQ_CST) != 0;
    return fails ? fail("WaitSemaphores") : wait_semaphores(of, wait, timeout_ns);
}

// ---- finding -------------------------------------------------------------------------------------------------------

static PFN_vkVoidFunction replace(const char *name, PFN_vkVoidFunction real)
{
#define COME_BEFORE(function, kept, ours)                                                                              \
    if (real && strcmp(name, "vk" #function) == 0) {                                                                   \
        kept = (PFN_vk##function)real;                                                                                 \
        real = (PFN_vkVoidFunction)ours;                                                                               \
    }
    COME_BEFORE(CreateDevice, create_device, create_with_one)
    COME_BEFORE(QueueSubmit, queue_submit, submit_to_one)
    COME_BEFORE(WaitSemaphores, wait_semaphores, wait_or_fail)
#undef COME_BEFORE
#define TAKE(function, ...)                                                                                            \
    if (real && strcmp(name, "vk" #function) == 0) {                                                                   \
        real_##function = (PFN_vk##function)real;                                                                      \
        return (PFN_vkVoidFunction)our_##function;                                                                     \
    }
    MAY_FAIL(TAKE)
    DESTROYS(TAKE)
    TAKE(DestroyDevice, )
    TAKE(CmdPipelineBarrier, )
    TAKE(GetPhysicalDeviceQueueFamilyProperties, )
    TAKE(GetDeviceQueue, )
#undef TAKE
    return real;
}

static PFN_vkGetDeviceProcAddr real_GetDeviceProcAddr;
static VKAPI_ATTR PFN_vkVoidFunction VKAPI_CALL our_GetDeviceProcAddr(VkDevice of, const char *name)
{
    device = of;
    if (strcmp(name, "vkDeviceWaitIdle") == 0)
        real_DeviceWaitIdle = (PFN_vkDeviceWaitIdle)real_GetDeviceProcAddr(of, name);
    return replace(name, real_GetDeviceProcAddr(of, name));
}

SEEN VKAPI_ATTR PFN_vkVoidFunction VKAPI_CALL vkGetInstanceProcAddr(VkInstance instance, const char *name);
VKAPI_ATTR PFN_vkVoidFunction VKAPI_CALL vkGetInstanceProcAddr(VkInstance instance, const char *name)
{
    static PFN_vkGetInstanceProcAddr real;
    if (!real) {
        void *library = dlopen("libvulkan.so.1", RTLD_NOW | RTLD_LOCAL);
        void *found = library ? dlsym(library, "vkGetInstanceProcAddr") : NULL;
        memcpy(&real, &found, sizeof real);
    }
    PFN_vkVoidFunction function = real ? real(instance, name) : NULL;
    if (function && strcmp(name, "vkGetDeviceProcAddr") == 0) {
        real_GetDeviceProcAddr = (PFN_vkGetDeviceProcAddr)function;
        return (PFN_vkVoidFunction)our_GetDeviceProcAddr;
    }
    return replace(name, function);
}
