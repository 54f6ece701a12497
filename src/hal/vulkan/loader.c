// SPDX-License-Identifier: Apache-2.0
// Opens libvulkan.so.1, or what SLIPRING_VULKAN_LIB names, and makes the one instance of the process.
#include "base/dl.h"
#include "base/status.h"
#include "hal/vulkan/api.h"

static struct slri_vk_instance made; // written by `start_library` alone

static slr_status make_instance(PFN_vkGetInstanceProcAddr find, const char *path, struct slri_vk_instance *out)
{
    const VkApplicationInfo application = {
        .sType = VK_STRUCTURE_TYPE_APPLICATION_INFO, .pApplicationName = "slipring", .apiVersion = VK_API_VERSION_1_2};
    const VkInstanceCreateInfo create = {.sType = VK_STRUCTURE_TYPE_INSTANCE_CREATE_INFO,
                                         .pApplicationInfo = &application};
    PFN_vkEnumerateInstanceVersion ask = (PFN_vkEnumerateInstanceVersion)find(NULL, "vkEnumerateInstanceVersion");
    PFN_vkCreateInstance make = (PFN_vkCreateInstance)find(NULL, "vkCreateInstance");
    uint32_t version = 0;
    if (!make || !ask || ask(&version) != VK_SUCCESS || version < VK_API_VERSION_1_2)
        return SLRI_FAIL(NO_DEVICE, "%s is older than Vulkan 1.2", path);
    VkResult result = make(&create, NULL, &out->instance);
    if (result == VK_ERROR_INCOMPATIBLE_DRIVER)
        return SLRI_FAIL(NO_DEVICE,
                         "%s is installed, but no Vulkan driver that loads (Debian: mesa-vulkan-drivers; with "
                         "VK_LOADER_DEBUG=error it tells why one does not load)",
                         path);
    return result == VK_SUCCESS ? SLR_OK : slri_vk_failed("vulkan", "CreateInstance", result);
}

static slr_status find_all(PFN_vkGetInstanceProcAddr find, const char *path, struct slri_vk_instance *out)
{
    slri_text missing = SLRI_TEXT_INIT;
#define FIND(name)                                                                                                     \
    out->name = (PFN_vk##name)find(out->instance, "vk" #name);                                                         \
    if (!out->name)                                                                                                    \
        slri_text_puts(&missing, " vk" #name);
    SLRI_VK_OF_INSTANCE(FIND)
#undef FIND
    out->GetTimeDomains = (PFN_vkGetPhysicalDeviceCalibrateableTimeDomainsEXT)find(
        out->instance, "vkGetPhysicalDeviceCalibrateableTimeDomainsEXT");
    return slri_dl_all_found(SLR_NO_DEVICE, path, "Vulkan 1.2", &missing);
}

static slr_status start_library(slri_dl *library, const char *path);

static struct slri_dl_vendor vendor = {.variable = "SLIPRING_VULKAN_LIB",
                                       .places = {"libvulkan.so.1"},
                                       .hint = "Debian: libvulkan1, and a driver such as mesa-vulkan-drivers",
                                       .absent = SLR_NO_DEVICE,
                                       .start = start_library,
                                       .lock = SLRI_MUTEX_INIT};

static slr_status start_library(slri_dl *library, const char *path)
{
    PFN_vkGetInstanceProcAddr find = (PFN_vkGetInstanceProcAddr)slri_dl_find(library, "vkGetInstanceProcAddr", NULL);
    if (!find)
        return SLRI_FAIL(NO_DEVICE, "%s is no Vulkan: it lacks vkGetInstanceProcAddr", path);
    SLRI_TRY(make_instance(find, path, &made));
    vendor.stays = true; // drivers of an instance have threads
    return find_all(find, path, &made);
}

slr_status slri_vk_load(const struct slri_vk_instance **out)
{
    SLRI_TRY(slri_dl_load(&vendor));
    *out = &made;
    return SLR_OK;
}

slr_status slri_vk_find_calls(const struct slri_vk_instance *vk, VkDevice device, const char *name,
                              struct slri_vk_calls *out)
{
    slri_text missing = SLRI_TEXT_INIT;
#define FIND(name)                                                                                                     \
    out->name = (PFN_vk##name)vk->GetDeviceProcAddr(device, "vk" #name);                                               \
    if (!out->name)                                                                                                    \
        slri_text_puts(&missing, " vk" #name);
    SLRI_VK_OF_DEVICE(FIND)
#undef FIND
#define FIND(name) out->name = (PFN_vk##name)vk->GetDeviceProcAddr(device, "vk" #name);
    SLRI_VK_OPTIONAL(FIND)
#undef FIND
    return slri_dl_all_found(SLR_NO_DEVICE, name, "Vulkan 1.2 device", &missing);
}
