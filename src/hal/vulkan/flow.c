// SPDX-License-Identifier: Apache-2.0
// Which commands must come behind which. Vulkan's commands of one queue run side by side unless a barrier is between
// them, so there is one where data flows and nowhere else; it names the range and both stages.
#include "hal/vulkan/vulkan.h"

#define MOST_NAMED 16u // ranges in one barrier; more are said as one for all memory

static bool overlap(const struct slri_vk_use *a, const struct slri_vk_use *b)
{
    return a->buffer == b->buffer && a->at < b->at + b->bytes && b->at < a->at + a->bytes;
}

static bool covers(const struct slri_vk_use *a, const struct slri_vk_use *b)
{
    return a->buffer == b->buffer && a->at <= b->at && a->at + a->bytes >= b->at + b->bytes;
}

// Two that only read, or tell, do not meet. Kernels tell in words that they change by atomics.
static bool must_follow(const struct slri_vk_use *before, const struct slri_vk_use *next)
{
    const uint32_t both = before->how | next->how;
    return both != SLRI_VK_READS && both != SLRI_VK_TELLS && !(before->seen_by & next->stage) && overlap(before, next);
}

static VkAccessFlags access_of(VkPipelineStageFlags stage, uint32_t how)
{
    const bool copies = stage == VK_PIPELINE_STAGE_TRANSFER_BIT;
    VkAccessFlags access = 0;
    if (how != SLRI_VK_WRITES)
        access |= copies ? VK_ACCESS_TRANSFER_READ_BIT : VK_ACCESS_SHADER_READ_BIT;
    if (how != SLRI_VK_READS)
        access |= copies ? VK_ACCESS_TRANSFER_WRITE_BIT : VK_ACCESS_SHADER_WRITE_BIT;
    return access;
}

// ---- one barrier ---------------------------------------------------------------------------------------------------

struct barrier {
    VkBufferMemoryBarrier range[MOST_NAMED];
    VkMemoryBarrier all; // where there are more
    uint32_t ranges;
    VkPipelineStageFlags from, to;
};

static void name_range(struct barrier *barrier, const struct slri_vk_use *before, const struct slri_vk_use *next)
{
    const VkAccessFlags from = access_of(before->stage, before->how);
    // Both: what comes later in the stage needs no barrier of its own.
    const VkAccessFlags to = access_of(next->stage, SLRI_VK_READS | SLRI_VK_WRITES);
    barrier->from |= before->stage;
    barrier->to |= next->stage;
    barrier->all.srcAccessMask |= from;
    barrier->all.dstAccessMask |= to;
    if (barrier->ranges < MOST_NAMED)
        barrier->range[barrier->ranges] = (VkBufferMemoryBarrier){.sType = VK_STRUCTURE_TYPE_BUFFER_MEMORY_BARRIER,
                                                                  .srcAccessMask = from,
                                                                  .dstAccessMask = to,
                                                                  .srcQueueFamilyIndex = VK_QUEUE_FAMILY_IGNORED,
                                                                  .dstQueueFamilyIndex = VK_QUEUE_FAMILY_IGNORED,
                                                                  .buffer = before->buffer,
                                                                  .offset = before->at,
                                                                  .size = before->bytes};
    ++barrier->ranges;
}

static void put_barrier(struct slri_vulkan *vulkan, VkCommandBuffer commands, struct barrier *barrier)
{
    const bool all = barrier->ranges > MOST_NAMED;
    barrier->all.sType = VK_STRUCTURE_TYPE_MEMORY_BARRIER;
    vulkan->call.CmdPipelineBarrier(commands, barrier->from, barrier->to, 0, all, &barrier->all,
                                    all ? 0 : barrier->ranges, barrier->range, 0, NULL);
}

// ---- the uses ------------------------------------------------------------------------------------------------------

// What a new write covers is known by it alone, and the same read is one.
// A use of no bytes is none.
static void note(struct slri_vk_flow *flow, const struct slri_vk_use *next)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < flow->uses; ++i) {
        const struct slri_vk_use *before = &flow->use[i];
        const bool is_same = before->how == next->how && before->stage == next->stage && before->seen_by == 0;
        if (covers(next, before) && (next->how & SLRI_VK_WRITES || is_same))
            continue;
        if (kept != i)
            flow->use[kept] = *before;
        ++kept;
    }
    flow->use[kept] = *next;
    flow->uses = kept + 1;
}

// All that came before is behind one barrier.
static void forget_all(struct slri_vulkan *vulkan, struct slri_vk_flow *flow, VkCommandBuffer commands)
{
    const VkPipelineStageFlags stages = VK_PIPELINE_STAGE_TRANSFER_BIT | VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT;
    struct barrier barrier = {.from = stages,
                              .to = stages,
                              .ranges = MOST_NAMED + 1,
                              .all = {.srcAccessMask = VK_ACCESS_MEMORY_WRITE_BIT,
                                      .dstAccessMask = VK_ACCESS_MEMORY_READ_BIT | VK_ACCESS_MEMORY_WRITE_BIT}};
    put_barrier(vulkan, commands, &barrier);
    ++flow->barriers;
    flow->uses = 0;
    flow->is_behind_list = false;
}

static void put_needed(struct slri_vulkan *vulkan, struct slri_vk_flow *flow, VkCommandBuffer commands,
                       const struct slri_vk_use *use, uint32_t uses)
{
    struct barrier barrier = {0};
    for (uint32_t i = 0; i < flow->uses; ++i) {
        VkPipelineStageFlags seen_by = 0;
        for (uint32_t k = 0; k < uses; ++k)
            if (must_follow(&flow->use[i], &use[k])) {
                name_range(&barrier, &flow->use[i], &use[k]);
                seen_by |= use[k].stage;
            }
        flow->use[i].seen_by |= seen_by;
    }
    if (barrier.ranges == 0)
        return;
    put_barrier(vulkan, commands, &barrier);
    ++flow->barriers;
}

void slri_vk_flow(struct slri_vulkan *vulkan, struct slri_vk_flow *flow, VkCommandBuffer commands,
                  const struct slri_vk_use *use, uint32_t uses)
{
    if (flow->is_behind_list || flow->uses + uses > SLRI_VK_MOST_USES)
        forget_all(vulkan, flow, commands);
    put_needed(vulkan, flow, commands, use, uses);
    for (uint32_t k = 0; k < uses; ++k) {
        note(flow, &use[k]);
        flow->told_by |= use[k].is_viewed && use[k].how != SLRI_VK_READS ? use[k].stage : 0;
    }
}

void slri_vk_flow_list(struct slri_vulkan *vulkan, struct slri_vk_flow *flow, VkCommandBuffer commands)
{
    if (flow->is_behind_list || flow->uses != 0)
        forget_all(vulkan, flow, commands);
    flow->is_behind_list = true;
}

void slri_vk_flow_to_host(struct slri_vulkan *vulkan, struct slri_vk_flow *flow, VkCommandBuffer commands)
{
    struct barrier barrier = {
        .from = flow->told_by,
        .to = VK_PIPELINE_STAGE_HOST_BIT,
        .ranges = MOST_NAMED + 1,
        .all = {.srcAccessMask = VK_ACCESS_MEMORY_WRITE_BIT, .dstAccessMask = VK_ACCESS_HOST_READ_BIT}};
    if (!flow->told_by)
        return;
    put_barrier(vulkan, commands, &barrier);
    ++flow->host_barriers;
    flow->told_by = 0;
}
