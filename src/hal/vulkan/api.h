// SPDX-License-Identifier: Apache-2.0
// Vulkan's functions, as far as they are used. Types and numbers are those of Vulkan's own headers; the library is
// opened at run time.
#ifndef SLRI_HAL_VULKAN_API_H
#define SLRI_HAL_VULKAN_API_H

#define VK_NO_PROTOTYPES
#include <vulkan/vulkan_core.h>

#include <slipring/status.h>

#define SLRI_VK_OF_INSTANCE(X)                                                                                         \
    X(EnumeratePhysicalDevices)                                                                                        \
    X(EnumerateDeviceExtensionProperties)                                                                              \
    X(GetPhysicalDeviceProperties)                                                                                     \
    X(GetPhysicalDeviceProperties2)                                                                                    \
    X(GetPhysicalDeviceFeatures2)                                                                                      \
    X(GetPhysicalDeviceQueueFamilyProperties)                                                                          \
    X(GetPhysicalDeviceMemoryProperties2)                                                                              \
    X(CreateDevice)                                                                                                    \
    X(GetDeviceProcAddr)

#define SLRI_VK_OF_DEVICE(X)                                                                                           \
    X(DestroyDevice)                                                                                                   \
    X(GetDeviceQueue)                                                                                                  \
    X(QueueSubmit)                                                                                                     \
    X(DeviceWaitIdle)                                                                                                  \
    X(AllocateMemory)                                                                                                  \
    X(FreeMemory)                                                                                                      \
    X(MapMemory)                                                                                                       \
    X(CreateBuffer)                                                                                                    \
    X(DestroyBuffer)                                                                                                   \
    X(BindBufferMemory)                                                                                                \
    X(GetBufferMemoryRequirements)                                                                                     \
    X(GetBufferDeviceAddress)                                                                                          \
    X(CreateSemaphore)                                                                                                 \
    X(DestroySemaphore)                                                                                                \
    X(WaitSemaphores)                                                                                                  \
    X(CreateQueryPool)                                                                                                 \
    X(DestroyQueryPool)                                                                                                \
    X(GetQueryPoolResults)                                                                                             \
    X(CreateShaderModule)                                                                                              \
    X(DestroyShaderModule)                                                                                             \
    X(CreatePipelineCache)                                                                                             \
    X(DestroyPipelineCache)                                                                                            \
    X(GetPipelineCacheData)                                                                                            \
    X(CreatePipelineLayout)                                                                                            \
    X(DestroyPipelineLayout)                                                                                           \
    X(CreateComputePipelines)                                                                                          \
    X(DestroyPipeline)                                                                                                 \
    X(CreateCommandPool)                                                                                               \
    X(DestroyCommandPool)                                                                                              \
    X(ResetCommandPool)                                                                                                \
    X(AllocateCommandBuffers)                                                                                          \
    X(BeginCommandBuffer)                                                                                              \
    X(EndCommandBuffer)                                                                                                \
    X(CmdBindPipeline)                                                                                                 \
    X(CmdPushConstants)                                                                                                \
    X(CmdDispatch)                                                                                                     \
    X(CmdCopyBuffer)                                                                                                   \
    X(CmdFillBuffer)                                                                                                   \
    X(CmdPipelineBarrier)                                                                                              \
    X(CmdResetQueryPool)                                                                                               \
    X(CmdWriteTimestamp)                                                                                               \
    X(CmdExecuteCommands)

// NULL where the device lacks their extension.
#define SLRI_VK_OPTIONAL(X)                                                                                            \
    X(GetMemoryHostPointerPropertiesEXT)                                                                               \
    X(GetCalibratedTimestampsEXT)

struct slri_vk_instance {
    VkInstance instance;
    PFN_vkGetPhysicalDeviceCalibrateableTimeDomainsEXT GetTimeDomains; // NULL: no driver here has it
#define FIELD(name) PFN_vk##name name;
    SLRI_VK_OF_INSTANCE(FIELD)
};

struct slri_vk_calls {
    SLRI_VK_OF_DEVICE(FIELD)
    SLRI_VK_OPTIONAL(FIELD)
#undef FIELD
};

// loader.c: the process has one instance, from the first call that succeeds.
slr_status slri_vk_load(const struct slri_vk_instance **out);
slr_status slri_vk_find_calls(const struct slri_vk_instance *vk, VkDevice device, const char *name,
                              struct slri_vk_calls *out);

// error.c: writes the message. DEVICE_LOST, NO_MEMORY and so on.
slr_status slri_vk_failed(const char *device, const char *call, VkResult result);

#endif
