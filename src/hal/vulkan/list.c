// SPDX-License-Identifier: Apache-2.0
// Recorded lists: a secondary command buffer each, with the argument blocks that its kernels read. One that copies from
// or to memory of the host which is not page-locked goes through the stage of a queue, and is recorded each time.
#include "base/alloc.h"
#include "base/status.h"
#include "hal/vulkan/vulkan.h"

static slr_status record_list(struct slri_vulkan *vulkan, const struct slri_kept_list *kept,
                              struct slri_vk_recorder *list)
{
    const VkCommandBufferInheritanceInfo none = {.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_INHERITANCE_INFO};
    const VkCommandBufferBeginInfo begin = {.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO,
                                            .flags = VK_COMMAND_BUFFER_USAGE_SIMULTANEOUS_USE_BIT,
                                            .pInheritanceInfo = &none};
    const struct slri_kept_part *part = kept->part;
    uint64_t bytes = 64;
    for (uint32_t i = 0; i < kept->count; ++i)
        bytes += slri_vk_record_needs(&part[i].command);
    SLRI_TRY(slri_vk_recorder_open(list, vulkan, bytes, VK_COMMAND_BUFFER_LEVEL_SECONDARY, 1, &list->commands));
    SLRI_VK_TRY(vulkan, BeginCommandBuffer, list->commands, &begin);
    for (uint32_t i = 0; i < kept->count; ++i)
        SLRI_TRY(slri_vk_record(list, &part[i].command, &part[i].extras));
    SLRI_VK_TRY(vulkan, EndCommandBuffer, list->commands);
    return SLR_OK;
}

slr_status slri_vk_list_make(void *device, struct slri_kept_list *kept)
{
    struct slri_vulkan *vulkan = device;
    for (uint32_t i = 0; i < kept->count; ++i)
        if (!slri_vk_record_can(vulkan, &kept->part[i].command))
            return SLR_OK;
    kept->native = slri_alloc(vulkan->base.allocator, sizeof(struct slri_vk_recorder));
    return kept->native ? record_list(vulkan, kept, kept->native)
                        : SLRI_FAIL(NO_MEMORY, "device '%s': no memory for a list", vulkan->base.name);
}

void slri_vk_list_free(void *device, void *native)
{
    const struct slri_vulkan *vulkan = device;
    slri_vk_recorder_close(native);
    slri_free(vulkan->base.allocator, native, sizeof(struct slri_vk_recorder));
}
