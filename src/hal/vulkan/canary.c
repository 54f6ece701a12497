// SPDX-License-Identifier: Apache-2.0
// How many turns a loop may take: some drivers end one after so many without an error, and then each later loop of the
// thread behind its first turn. A kernel with a long loop is run once, which takes a short one after that. It is
// canary.spvasm, as spirv-as writes it.
#include "base/status.h"
#include "hal/vulkan/vulkan.h"

#define TURNS 200000u
#define FEW 2u

static const uint32_t canary[] = {
    0x07230203, 0x00010500, 0x00000000, 0x00000030, 0x00000000, 0x00020011, 0x00000001, 0x00020011, 0x000014e3,
    0x00020011, 0x000014e1, 0x0003000e, 0x000014e4, 0x00000003, 0x0006000f, 0x00000005, 0x00000001, 0x616e6163,
    0x00007972, 0x00000002, 0x00060010, 0x00000001, 0x00000011, 0x00000001, 0x00000001, 0x00000001, 0x00030047,
    0x00000003, 0x00000002, 0x00050048, 0x00000003, 0x00000000, 0x00000023, 0x00000000, 0x00050048, 0x00000003,
    0x00000001, 0x00000023, 0x00000008, 0x00050048, 0x00000003, 0x00000002, 0x00000023, 0x0000000c, 0x00030047,
    0x00000004, 0x00000002, 0x00050048, 0x00000004, 0x00000000, 0x00000023, 0x00000000, 0x00050048, 0x00000004,
    0x00000001, 0x00000023, 0x00000004, 0x00050048, 0x00000004, 0x00000002, 0x00000023, 0x00000008, 0x00020013,
    0x00000005, 0x00040015, 0x00000006, 0x00000020, 0x00000000, 0x00020014, 0x00000007, 0x00030021, 0x00000008,
    0x00000005, 0x0005001e, 0x00000004, 0x00000006, 0x00000006, 0x00000006, 0x00040020, 0x00000009, 0x000014e5,
    0x00000004, 0x00040020, 0x0000000a, 0x000014e5, 0x00000006, 0x0005001e, 0x00000003, 0x00000009, 0x00000006,
    0x00000006, 0x00040020, 0x0000000b, 0x00000009, 0x00000003, 0x00040020, 0x0000000c, 0x00000009, 0x00000009,
    0x00040020, 0x0000000d, 0x00000009, 0x00000006, 0x0004003b, 0x0000000b, 0x00000002, 0x00000009, 0x0004002b,
    0x00000006, 0x0000000e, 0x00000000, 0x0004002b, 0x00000006, 0x0000000f, 0x00000001, 0x0004002b, 0x00000006,
    0x00000010, 0x00000002, 0x0004002b, 0x00000006, 0x00000011, 0x0019660d, 0x0004002b, 0x00000006, 0x00000012,
    0x3c6ef35f, 0x00050036, 0x00000005, 0x00000001, 0x00000000, 0x00000008, 0x000200f8, 0x00000013, 0x00050041,
    0x0000000c, 0x00000014, 0x00000002, 0x0000000e, 0x0004003d, 0x00000009, 0x00000015, 0x00000014, 0x00050041,
    0x0000000d, 0x00000016, 0x00000002, 0x0000000f, 0x0004003d, 0x00000006, 0x00000017, 0x00000016, 0x00050041,
    0x0000000d, 0x00000018, 0x00000002, 0x00000010, 0x0004003d, 0x00000006, 0x00000019, 0x00000018, 0x000200f9,
    0x0000001a, 0x000200f8, 0x0000001a, 0x000700f5, 0x00000006, 0x0000001b, 0x0000000e, 0x00000013, 0x0000001c,
    0x0000001d, 0x000700f5, 0x00000006, 0x0000001e, 0x0000000f, 0x00000013, 0x0000001f, 0x0000001d, 0x000400f6,
    0x00000020, 0x0000001d, 0x00000000, 0x000200f9, 0x00000021, 0x000200f8, 0x00000021, 0x000500b0, 0x00000007,
    0x00000022, 0x0000001b, 0x00000017, 0x000400fa, 0x00000022, 0x00000023, 0x00000020, 0x000200f8, 0x00000023,
    0x00050084, 0x00000006, 0x00000024, 0x0000001e, 0x00000011, 0x00050080, 0x00000006, 0x0000001f, 0x00000024,
    0x00000012, 0x00050080, 0x00000006, 0x0000001c, 0x0000001b, 0x0000000f, 0x000200f9, 0x0000001d, 0x000200f8,
    0x0000001d, 0x000200f9, 0x0000001a, 0x000200f8, 0x00000020, 0x00050041, 0x0000000a, 0x00000025, 0x00000015,
    0x0000000e, 0x0005003e, 0x00000025, 0x0000001b, 0x00000002, 0x00000004, 0x00050041, 0x0000000a, 0x00000026,
    0x00000015, 0x0000000f, 0x0005003e, 0x00000026, 0x0000001e, 0x00000002, 0x00000004, 0x000200f9, 0x00000027,
    0x000200f8, 0x00000027, 0x000700f5, 0x00000006, 0x00000028, 0x0000000e, 0x00000020, 0x00000029, 0x0000002a,
    0x000400f6, 0x0000002b, 0x0000002a, 0x00000000, 0x000200f9, 0x0000002c, 0x000200f8, 0x0000002c, 0x000500b0,
    0x00000007, 0x0000002d, 0x00000028, 0x00000019, 0x000400fa, 0x0000002d, 0x0000002e, 0x0000002b, 0x000200f8,
    0x0000002e, 0x00050080, 0x00000006, 0x00000029, 0x00000028, 0x0000000f, 0x000200f9, 0x0000002a, 0x000200f8,
    0x0000002a, 0x000200f9, 0x00000027, 0x000200f8, 0x0000002b, 0x00050041, 0x0000000a, 0x0000002f, 0x00000015,
    0x00000010, 0x0005003e, 0x0000002f, 0x00000028, 0x00000002, 0x00000004, 0x000100fd, 0x00010038};

struct canary_push {
    uint64_t out; // address of three words: how many turns it took, what they have made of 1, and how many it took then
    uint32_t turns, few;
};

struct canary {
    struct slri_vk_chunk words;
    VkShaderModule module;
    VkPipelineLayout layout;
    VkPipeline pipeline;
};

// The compiler of the driver cannot know this without taking the turns.
static uint32_t expected(void)
{
    uint32_t x = 1;
    for (uint32_t i = 0; i < TURNS; ++i)
        x = x * 1664525u + 1013904223u;
    return x;
}

static slr_status make(struct slri_vulkan *vulkan, struct canary *out)
{
    const VkShaderModuleCreateInfo module = {
        .sType = VK_STRUCTURE_TYPE_SHADER_MODULE_CREATE_INFO, .codeSize = sizeof canary, .pCode = canary};
    const VkPushConstantRange push = {VK_SHADER_STAGE_COMPUTE_BIT, 0, sizeof(struct canary_push)};
    const VkPipelineLayoutCreateInfo layout = {.sType = VK_STRUCTURE_TYPE_PIPELINE_LAYOUT_CREATE_INFO,
                                               .pushConstantRangeCount = 1,
                                               .pPushConstantRanges = &push};
    SLRI_TRY(slri_vk_chunk_make_seen(vulkan, 64, true, &out->words));
    SLRI_VK_TRY(vulkan, CreateShaderModule, vulkan->device, &module, NULL, &out->module);
    SLRI_VK_TRY(vulkan, CreatePipelineLayout, vulkan->device, &layout, NULL, &out->layout);
    const VkComputePipelineCreateInfo create = {.sType = VK_STRUCTURE_TYPE_COMPUTE_PIPELINE_CREATE_INFO,
                                                .stage = {.sType = VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_CREATE_INFO,
                                                          .stage = VK_SHADER_STAGE_COMPUTE_BIT,
                                                          .module = out->module,
                                                          .pName = "canary"},
                                                .layout = out->layout};
    SLRI_VK_TRY(vulkan, CreateComputePipelines, vulkan->device, VK_NULL_HANDLE, 1, &create, NULL, &out->pipeline);
    return SLR_OK;
}

static void put(struct slri_vulkan *vulkan, VkCommandBuffer commands, void *user)
{
    const struct canary *of = user;
    const struct canary_push push = {of->words.address, TURNS, FEW};
    const VkMemoryBarrier told = {.sType = VK_STRUCTURE_TYPE_MEMORY_BARRIER,
                                  .srcAccessMask = VK_ACCESS_SHADER_WRITE_BIT,
                                  .dstAccessMask = VK_ACCESS_HOST_READ_BIT};
    vulkan->call.CmdBindPipeline(commands, VK_PIPELINE_BIND_POINT_COMPUTE, of->pipeline);
    vulkan->call.CmdPushConstants(commands, of->layout, VK_SHADER_STAGE_COMPUTE_BIT, 0, sizeof push, &push);
    vulkan->call.CmdDispatch(commands, 1, 1, 1);
    vulkan->call.CmdPipelineBarrier(commands, VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT, VK_PIPELINE_STAGE_HOST_BIT, 0, 1,
                                    &told, 0, NULL, 0, NULL);
}

static slr_status release(struct slri_vulkan *vulkan, struct canary *of, slr_status status)
{
    if (!slri_vk_hangs(vulkan)) {
        vulkan->call.DestroyPipeline(vulkan->device, of->pipeline, NULL);
        vulkan->call.DestroyPipelineLayout(vulkan->device, of->layout, NULL);
        vulkan->call.DestroyShaderModule(vulkan->device, of->module, NULL);
    }
    slri_vk_chunk_free(vulkan, &of->words);
    return status;
}

static slr_status try_long_loop(struct slri_vulkan *vulkan)
{
    struct canary of = {0};
    slr_status status = make(vulkan, &of);
    if (status == SLR_OK)
        status = slri_vk_run_once(vulkan, put, &of);
    if (status == SLR_OK) {
        const uint32_t *word = (const uint32_t *)(const void *)of.words.host;
        const uint64_t turns = word[1] == expected() ? 0 : word[0];
        __atomic_store_n(&vulkan->loop_turns, turns, __ATOMIC_RELAXED);
        vulkan->loops_stay_ended = word[2] != FEW;
    }
    return release(vulkan, &of, status);
}

slr_status slri_vk_count_turns(struct slri_vulkan *vulkan, uint64_t *out)
{
    slr_status status = SLR_OK;
    slri_mutex_lock(&vulkan->canary_lock);
    if (!vulkan->canary_ran)
        status = try_long_loop(vulkan);
    vulkan->canary_ran = vulkan->canary_ran || status == SLR_OK;
    *out = slri_vk_loop_turns(vulkan);
    slri_mutex_unlock(&vulkan->canary_lock);
    return status;
}
