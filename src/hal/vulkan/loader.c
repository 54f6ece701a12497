// SPDX-License-Identifier: Apache-2.0
// Opens libvulkan.so.1, or what SLIPRING_VULKAN_LIB names, and makes the one instance of the process.
#include "base/dl.h"
#include "base/status.h"
#include "hal/vulkan/api.h"

static struct slri_dl_once once = SLRI_DL_ONCE_INIT;
static struct slri_vk_instance made; // written by `load` alone

static slr_status make_instance(PFN_vkGetInstanceProcAddr find, const char *path, struct slri_vk_instance *out)
{
    const VkApplicationInfo application = {
        .sType = VK_STRUCTURE_TYPE_APPLICATION_INFO, .pApplicationName = "slipring", .apiVersion = VK_API_VERSION_1_2};
    const VkInstanceCreateInfo create = {.sType = VK_STRUCTURE_TYPE_INSTANCE_CREATE_INFO,
                                         .pApplicationInfo = &application};
#define FIND(name) PFN_vk##name name = (PFN_vk##name)find(NULL, "vk" #name);
    SLRI_VK_GLOBALS(FIND)
#undef FIND
    uint32_t version = 0;
    if (!CreateInstance || !EnumerateInstanceVersion || EnumerateInstanceVersion(&version) != VK_SUCCESS ||
        version < VK_API_VERSION_1_2)
        return SLRI_FAIL(NO_DEVICE, "%s is older than Vulkan 1.2", path);
    VkResult result = CreateInstance(&create, NULL, &out->instance);
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

static slr_status load(void)
{
    static const char *const places[] = {"libvulkan.so.1", NULL};
    const char *path;
    slri_dl *library;
    slri_function find;
    struct slri_vk_instance found = {0};
    SLRI_TRY(slri_dl_open_first(SLR_NO_DEVICE, "SLIPRING_VULKAN_LIB", places,
                                "Debian: libvulkan1, and a driver such as mesa-vulkan-drivers", &library, &path));
    slr_status status = slri_dl_function(library, "vkGetInstanceProcAddr", &find);
    if (status != SLR_OK)
        status = SLRI_FAIL(NO_DEVICE, "%s is no Vulkan: it lacks vkGetInstanceProcAddr", path);
    else
        status = make_instance((PFN_vkGetInstanceProcAddr)find, path, &found);
    if (status == SLR_OK)
        status = find_all((PFN_vkGetInstanceProcAddr)find, path, &found);
    if (status == SLR_OK)
        made = found;
    else if (!found.instance) // drivers of an instance have threads: then the library stays
        slri_dl_close(library);
    return status;
}

slr_status slri_vk_load(const struct slri_vk_instance **out)
{
    SLRI_TRY(slri_dl_load_once(&once, load));
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
