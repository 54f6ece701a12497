// SPDX-License-Identifier: Apache-2.0
// Barriers, of which engine/hazards.h says where they must be. Each names its ranges, and both stages.
#include "hal/vulkan/vulkan.h"

static VkAccessFlags access_of(VkPipelineStageFlags stage, uint32_t how)
{
    const bool copies = stage == VK_PIPELINE_STAGE_TRANSFER_BIT;
    VkAccessFlags access = 0;
    if (how != SLRI_WRITES)
        access |= copies ? VK_ACCESS_TRANSFER_READ_BIT : VK_ACCESS_SHADER_READ_BIT;
    if (how != SLRI_READS)
        access |= copies ? VK_ACCESS_TRANSFER_WRITE_BIT : VK_ACCESS_SHADER_WRITE_BIT;
    return access;
}

static void put_barrier(struct slri_vk_recorder *recorder, const struct slri_hazard_barrier *barrier)
{
    VkBufferMemoryBarrier range[SLRI_MOST_NAMED];
    const uint32_t ranges = barrier->ranges <= SLRI_MOST_NAMED ? barrier->ranges : 0;
    for (uint32_t i = 0; i < ranges; ++i) {
        const struct slri_hazard_use *before = &barrier->range[i].before;
        // Reads and writes: what comes later in the stage needs no barrier of its own.
        const VkAccessFlags next = access_of(barrier->range[i].next_stage, SLRI_READS | SLRI_WRITES);
        range[i] = (VkBufferMemoryBarrier){.sType = VK_STRUCTURE_TYPE_BUFFER_MEMORY_BARRIER,
                                           .srcAccessMask = access_of(before->stage, before->how),
                                           .dstAccessMask = next,
                                           .srcQueueFamilyIndex = VK_QUEUE_FAMILY_IGNORED,
                                           .dstQueueFamilyIndex = VK_QUEUE_FAMILY_IGNORED,
                                           .buffer = (VkBuffer)before->memory,
                                           .offset = before->at,
                                           .size = before->bytes};
    }
    const VkMemoryBarrier all = {.sType = VK_STRUCTURE_TYPE_MEMORY_BARRIER,
                                 .srcAccessMask = VK_ACCESS_MEMORY_WRITE_BIT,
                                 .dstAccessMask = VK_ACCESS_MEMORY_READ_BIT | VK_ACCESS_MEMORY_WRITE_BIT};
    recorder->vulkan->call.CmdPipelineBarrier(recorder->commands, barrier->from, barrier->to, 0, ranges == 0, &all,
                                              ranges, range, 0, NULL);
}

void slri_vk_flow(struct slri_vk_recorder *recorder, const struct slri_hazard_use *use, uint32_t uses)
{
    struct slri_hazard_barrier barrier;
    if (slri_hazards_next(recorder->hazards, use, uses, &barrier))
        put_barrier(recorder, &barrier);
}

void slri_vk_flow_list(struct slri_vk_recorder *recorder)
{
    struct slri_hazard_barrier barrier;
    if (slri_hazards_next_list(recorder->hazards, &barrier))
        put_barrier(recorder, &barrier);
}

bool slri_vk_flow_to_host(struct slri_vk_recorder *recorder)
{
    const VkMemoryBarrier all = {.sType = VK_STRUCTURE_TYPE_MEMORY_BARRIER,
                                 .srcAccessMask = VK_ACCESS_MEMORY_WRITE_BIT,
                                 .dstAccessMask = VK_ACCESS_HOST_READ_BIT};
    const uint32_t told_by = recorder->hazards->told_by;
    recorder->hazards->told_by = 0;
    if (told_by)
        recorder->vulkan->call.CmdPipelineBarrier(recorder->commands, told_by, VK_PIPELINE_STAGE_HOST_BIT, 0, 1, &all,
                                                  0, NULL, 0, NULL);
    return told_by != 0;
}
