// SPDX-License-Identifier: Apache-2.0
// Vulkan's errors by name, and what each is to the user.
#include "base/status.h"
#include "hal/vulkan/api.h"

#include <stddef.h>

static const struct {
    VkResult result;
    slr_status status;
    const char *name;
} errors[] = {
    {VK_ERROR_OUT_OF_HOST_MEMORY, SLR_NO_MEMORY, "VK_ERROR_OUT_OF_HOST_MEMORY"},
    {VK_ERROR_OUT_OF_DEVICE_MEMORY, SLR_NO_MEMORY, "VK_ERROR_OUT_OF_DEVICE_MEMORY"},
    {VK_ERROR_MEMORY_MAP_FAILED, SLR_NO_MEMORY, "VK_ERROR_MEMORY_MAP_FAILED"},
    {VK_ERROR_TOO_MANY_OBJECTS, SLR_NO_MEMORY, "VK_ERROR_TOO_MANY_OBJECTS"},
    {VK_ERROR_DEVICE_LOST, SLR_DEVICE_LOST, "VK_ERROR_DEVICE_LOST"},
    {VK_ERROR_INITIALIZATION_FAILED, SLR_NO_DEVICE, "VK_ERROR_INITIALIZATION_FAILED"},
    {VK_ERROR_INCOMPATIBLE_DRIVER, SLR_NO_DEVICE, "VK_ERROR_INCOMPATIBLE_DRIVER"},
    {VK_ERROR_LAYER_NOT_PRESENT, SLR_NO_DEVICE, "VK_ERROR_LAYER_NOT_PRESENT"},
    {VK_ERROR_EXTENSION_NOT_PRESENT, SLR_NO_DEVICE, "VK_ERROR_EXTENSION_NOT_PRESENT"},
    {VK_ERROR_FEATURE_NOT_PRESENT, SLR_UNSUPPORTED, "VK_ERROR_FEATURE_NOT_PRESENT"},
    {VK_ERROR_INVALID_EXTERNAL_HANDLE, SLR_UNSUPPORTED, "VK_ERROR_INVALID_EXTERNAL_HANDLE"},
    {VK_ERROR_INVALID_SHADER_NV, SLR_COMPILE, "VK_ERROR_INVALID_SHADER_NV"},
};

slr_status slri_vk_failed(const char *device, const char *call, VkResult result)
{
    for (size_t i = 0; i < sizeof errors / sizeof *errors; ++i)
        if (errors[i].result == result) {
            slri_fail(errors[i].status, "device '%s': vk%s gives %s", device, call, errors[i].name);
            return errors[i].status;
        }
    // What else a driver may say (VK_ERROR_UNKNOWN) leaves the device in no state that can be relied on.
    return SLRI_FAIL(DEVICE_LOST, "device '%s': vk%s gives error %d", device, call, (int)result);
}
