// SPDX-License-Identifier: Apache-2.0
// One group of a kernel that stays, recorded once and submitted again and again. It comes behind all that is in the
// device's first queue, and its own timeline semaphore tells when it has ended.
#include "base/status.h"
#include "hal/vulkan/vulkan.h"

#include <string.h>

// The words behind the arguments are for a fault that such a kernel never has.
static slr_status make_arguments(struct slri_vulkan *vulkan, const struct slri_vk_staying *staying,
                                 const uint64_t *address, struct slri_vk_launch *launch)
{
    const struct slri_arguments *layout = &staying->kernel->layout;
    const uint64_t behind = (layout->bytes + 15u) & ~UINT64_C(15);
    SLRI_TRY(slri_vk_chunk_make_seen(vulkan, behind + 16, false, &launch->memory));
    unsigned char *block = launch->memory.host;
    memset(block, 0, behind + 16);
    for (uint32_t i = 0; i < staying->entry->bindings; ++i) {
        const bool is_buffer = staying->entry->binding[i].is_buffer;
        memcpy(block + slri_argument(staying->entry, i), &address[i], is_buffer ? sizeof *address : sizeof(uint32_t));
    }
    const uint64_t faulted = launch->memory.address + behind;
    if (layout->faulted != SLRI_ARGUMENT_NONE)
        memcpy(block + layout->faulted, &faulted, sizeof faulted);
    return SLR_OK;
}

// What launches before it and the host have written is there, and what it writes is the host's.
static void put_host_barrier(struct slri_vulkan *vulkan, VkCommandBuffer commands, bool is_before)
{
    const VkPipelineStageFlags kernel = VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT, host = VK_PIPELINE_STAGE_HOST_BIT;
    const VkMemoryBarrier barrier = {.sType = VK_STRUCTURE_TYPE_MEMORY_BARRIER,
                                     .srcAccessMask = VK_ACCESS_SHADER_WRITE_BIT,
                                     .dstAccessMask = is_before ? VK_ACCESS_SHADER_READ_BIT | VK_ACCESS_SHADER_WRITE_BIT
                                                                : VK_ACCESS_HOST_READ_BIT | VK_ACCESS_HOST_WRITE_BIT};
    vulkan->call.CmdPipelineBarrier(commands, kernel, is_before ? kernel : host, 0, 1, &barrier, 0, NULL, 0, NULL);
}

static slr_status record_group(struct slri_vulkan *vulkan, const struct slri_vk_staying *staying,
                               const struct slri_vk_launch *launch)
{
    const VkCommandBufferBeginInfo begin = {.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO,
                                            .flags = VK_COMMAND_BUFFER_USAGE_SIMULTANEOUS_USE_BIT};
    struct slri_spirv_push push = {.arguments = launch->memory.address, .grid = {1, 1, 1}};
    const uint32_t pushed = slri_vk_push(&push, launch->memory.host, staying->kernel->layout.bytes);
    VkPipeline pipeline;
    SLRI_TRY(slri_vk_code_pipeline(vulkan, staying->kernel, 0, &pipeline));
    SLRI_VK_TRY(vulkan, BeginCommandBuffer, launch->commands, &begin);
    put_host_barrier(vulkan, launch->commands, true);
    vulkan->call.CmdBindPipeline(launch->commands, VK_PIPELINE_BIND_POINT_COMPUTE, pipeline);
    vulkan->call.CmdPushConstants(launch->commands, vulkan->layout, VK_SHADER_STAGE_COMPUTE_BIT, 0, pushed, &push);
    vulkan->call.CmdDispatchBase(launch->commands, 0, 0, 0, 1, 1, 1);
    put_host_barrier(vulkan, launch->commands, false);
    SLRI_VK_TRY(vulkan, EndCommandBuffer, launch->commands);
    return SLR_OK;
}

slr_status slri_vk_launch_make(struct slri_vulkan *vulkan, const struct slri_vk_staying *staying,
                               const uint64_t *address, struct slri_vk_launch *out)
{
    *out = (struct slri_vk_launch){0};
    slr_status status =
        slri_vk_commands_make(vulkan, 0, VK_COMMAND_BUFFER_LEVEL_PRIMARY, 1, &out->pool, &out->commands);
    if (status == SLR_OK)
        status = slri_vk_timeline_make(vulkan, &out->semaphore, &out->begun);
    if (status == SLR_OK)
        status = make_arguments(vulkan, staying, address, out);
    if (status == SLR_OK)
        status = record_group(vulkan, staying, out);
    if (status != SLR_OK)
        slri_vk_launch_free(vulkan, out);
    return status;
}

slr_status slri_vk_launch_begin(struct slri_vulkan *vulkan, struct slri_vk_launch *launch)
{
    slri_mutex_lock(&vulkan->line[0].lock);
    return slri_vk_submit(vulkan, &vulkan->line[0], launch->commands, launch->semaphore, &launch->begun);
}

VkResult slri_vk_launch_look(struct slri_vulkan *vulkan, const struct slri_vk_launch *launch, uint64_t wait_ns)
{
    const VkSemaphoreWaitInfo wait = {.sType = VK_STRUCTURE_TYPE_SEMAPHORE_WAIT_INFO,
                                      .semaphoreCount = 1,
                                      .pSemaphores = &launch->semaphore,
                                      .pValues = &launch->begun};
    return vulkan->call.WaitSemaphores(vulkan->device, &wait, wait_ns);
}

void slri_vk_launch_free(struct slri_vulkan *vulkan, struct slri_vk_launch *launch)
{
    slri_vk_chunk_free(vulkan, &launch->memory);
    if (!slri_hangs(&vulkan->loss)) {
        vulkan->call.DestroyCommandPool(vulkan->device, launch->pool, NULL);
        vulkan->call.DestroySemaphore(vulkan->device, launch->semaphore, NULL);
    }
    *launch = (struct slri_vk_launch){0};
}

// ---- trials --------------------------------------------------------------------------------------------------------

slr_status slri_vk_trial_make(struct slri_vulkan *vulkan, const char *text, const uint64_t *given, uint32_t count,
                              struct slri_vk_trial *out)
{
    uint64_t address[1 + SLRI_VK_MOST_GIVEN];
    SLRI_TRY(slri_vk_staying_build(vulkan, NULL, text, &out->kernel));
    SLRI_TRY(slri_vk_chunk_make_seen(vulkan, SLRI_VK_TRIAL_WORDS * 4, true, &out->words));
    address[0] = out->words.address;
    if (count != 0)
        memcpy(address + 1, given, count * sizeof *given);
    return slri_vk_launch_make(vulkan, out->kernel, address, &out->launch);
}

void slri_vk_trial_free(struct slri_vulkan *vulkan, struct slri_vk_trial *trial)
{
    slri_vk_launch_free(vulkan, &trial->launch);
    slri_vk_chunk_free(vulkan, &trial->words);
    slri_vk_staying_free(vulkan, trial->kernel);
}
