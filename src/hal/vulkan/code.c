// SPDX-License-Identifier: Apache-2.0
// Code: a SPIR-V module of a kernel, and its pipeline for a block. What is kept on disk is what the driver's pipeline
// cache has of it; the module is written anew, which takes less time than reading it.
#include "base/status.h"
#include "engine/spec.h"
#include "hal/vulkan/vulkan.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// ---- writing -------------------------------------------------------------------------------------------------------

static slr_status check_block(const struct slri_vulkan *vulkan, const struct slri_code_text *text)
{
    const VkPhysicalDeviceLimits *limits = &vulkan->facts.all.properties.limits;
    const char *lacks = slri_vk_refuses(vulkan);
    if (lacks)
        return SLRI_FAIL(UNSUPPORTED, "kernel %s: device '%s' (%s) lacks %s, and runs no kernels", text->name,
                         vulkan->base.name, vulkan->facts.all.properties.deviceName, lacks);
    return slri_code_check_block(text, vulkan->base.name, limits->maxComputeWorkGroupSize,
                                 limits->maxComputeWorkGroupInvocations);
}

// The features that the module asks for, then the module.
slr_status slri_vk_code_write_module(void *device, struct slri_code_text *text, bool tells_ended_loops)
{
    struct slri_vulkan *vulkan = device;
    struct slri_spirv_options options = {.has = vulkan->facts.has,
                                         .float_controls = vulkan->facts.float_controls,
                                         .tells_ended_loops = tells_ended_loops};
    struct slri_spirv spirv = {0};
    if (text->shape.block[0] % 32 != 0) // then its subgroups are not full, or not in order
        options.has &= ~(uint32_t)SLRI_SPIRV_SUBGROUPS_OF_32;
    SLRI_TRY(slri_emit_spirv(text->module, text->entry, &options, &spirv));
    slri_text_append(&text->text, (const char *)&spirv.needs, sizeof spirv.needs);
    slri_text_append(&text->text, (const char *)spirv.word, spirv.words * sizeof *spirv.word);
    const uint64_t shared = spirv.shared_bytes;
    slri_spirv_free(&spirv);
    return slri_code_check_shared(text, vulkan->base.name, shared,
                                  vulkan->facts.all.properties.limits.maxComputeSharedMemorySize);
}

slr_status slri_vk_code_write(void *device, struct slri_code_text *text)
{
    struct slri_vulkan *vulkan = device;
    const struct slri_vk_facts *facts = &vulkan->facts;
    const uint32_t *block = text->shape.block;
    const char *name = facts->all.properties.deviceName, *driver = facts->p12.driverName;
    char shape[48], cache[37];
    uint64_t turns;
    SLRI_TRY(check_block(vulkan, text));
    SLRI_TRY(slri_canary_check(&vulkan->base.canary, slri_own_kernel_canary, vulkan, vulkan->base.name, &turns));
    snprintf(shape, sizeof shape, "%u,%u,%u", block[0], block[1], block[2]);
    slri_spec_put_uuid(facts->all.properties.pipelineCacheUUID, cache);
    const char *const fields[] = {name, driver, facts->p12.driverInfo, cache, shape};
    for (size_t i = 0; i < sizeof fields / sizeof *fields; ++i)
        slri_code_identify(text, fields[i]);
    slri_text_printf(&text->label, "%s\n%s\n%s, %s %s", text->name, text->file, name, driver, facts->p12.driverInfo);
    return slri_vk_code_write_module(vulkan, text, turns != 0);
}

// ---- pipelines -----------------------------------------------------------------------------------------------------

static slr_status make_pipeline(void *device, struct slri_loaded *loaded, uint32_t dynamic_words, uint64_t *out)
{
    struct slri_vulkan *vulkan = device;
    const struct slri_vk_kernel *kernel = (const struct slri_vk_kernel *)loaded;
    const uint32_t value[] = {kernel->block[0], kernel->block[1], kernel->block[2], dynamic_words};
    const VkSpecializationMapEntry entry[] = {{SLRI_SPIRV_BLOCK_X, 0, 4},
                                              {SLRI_SPIRV_BLOCK_Y, 4, 4},
                                              {SLRI_SPIRV_BLOCK_Z, 8, 4},
                                              {SLRI_SPIRV_DYNAMIC_WORDS, 12, 4}};
    const VkSpecializationInfo special = {4, entry, sizeof value, value};
    const VkPipelineShaderStageRequiredSubgroupSizeCreateInfoEXT size = {
        .sType = VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_REQUIRED_SUBGROUP_SIZE_CREATE_INFO_EXT,
        .requiredSubgroupSize = 32};
    const bool has_size = (kernel->needs & SLRI_SPIRV_SUBGROUPS_OF_32) != 0;
    const VkComputePipelineCreateInfo create = {
        .sType = VK_STRUCTURE_TYPE_COMPUTE_PIPELINE_CREATE_INFO,
        .stage = {.sType = VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_CREATE_INFO,
                  .pNext = has_size ? &size : NULL,
                  .flags = has_size ? VK_PIPELINE_SHADER_STAGE_CREATE_REQUIRE_FULL_SUBGROUPS_BIT_EXT : 0,
                  .stage = VK_SHADER_STAGE_COMPUTE_BIT,
                  .module = kernel->module,
                  .pName = loaded->name,
                  .pSpecializationInfo = &special},
        .layout = vulkan->layout};
    VkPipeline pipeline = VK_NULL_HANDLE;
    VkResult result = vulkan->call.CreateComputePipelines(vulkan->device, kernel->cache, 1, &create, NULL, &pipeline);
    if (loaded->pipeline) // who compiles the kernel counts its first
        slri_count(&vulkan->counts.pipelines, 1);
    // Of the code, not of the device: there are drivers that say each of these.
    if (result == VK_ERROR_UNKNOWN || result == VK_ERROR_INVALID_SHADER_NV || result == VK_ERROR_INITIALIZATION_FAILED)
        return SLRI_FAIL(COMPILE, "kernel %s: the compiler of device '%s' rejected its SPIR-V (error %d)", loaded->name,
                         vulkan->base.name, (int)result);
    *out = (uint64_t)pipeline;
    return slri_vk_check(vulkan, "CreateComputePipelines", result);
}

static void free_pipeline(void *device, uint64_t pipeline)
{
    struct slri_vulkan *vulkan = device;
    vulkan->call.DestroyPipeline(vulkan->device, (VkPipeline)pipeline, NULL);
}

static void drop_module(void *device, struct slri_loaded *loaded)
{
    struct slri_vulkan *vulkan = device;
    struct slri_vk_kernel *kernel = (struct slri_vk_kernel *)loaded;
    if (!kernel->module)
        return;
    vulkan->call.DestroyPipelineCache(vulkan->device, kernel->cache, NULL);
    vulkan->call.DestroyShaderModule(vulkan->device, kernel->module, NULL);
    kernel->cache = VK_NULL_HANDLE;
    kernel->module = VK_NULL_HANDLE;
}

const struct slri_loaded_calls slri_vk_loaded_calls = {
    .bytes = sizeof(struct slri_vk_kernel), .make = make_pipeline, .free = free_pipeline, .drop = drop_module};

// ---- loading -------------------------------------------------------------------------------------------------------

// Without what the cache has the pipeline is compiled in each process.
static void take_cache(struct slri_vulkan *vulkan, const struct slri_vk_kernel *kernel, struct slri_blob *made)
{
    size_t bytes = 0;
    if (vulkan->call.GetPipelineCacheData(vulkan->device, kernel->cache, &bytes, NULL) != VK_SUCCESS || bytes == 0)
        return;
    char *data = malloc(bytes);
    if (data && vulkan->call.GetPipelineCacheData(vulkan->device, kernel->cache, &bytes, data) == VK_SUCCESS)
        *made = (struct slri_blob){.bytes = data, .count = bytes};
    else
        free(data);
}

slr_status slri_vk_code_fill(void *device, const struct slri_code_text *text, const struct slri_blob *stored,
                             struct slri_blob *made, struct slri_loaded *loaded)
{
    struct slri_vulkan *vulkan = device;
    struct slri_vk_kernel *kernel = (struct slri_vk_kernel *)loaded;
    const char *words = slri_text_view(&text->text) + sizeof kernel->needs;
    const VkShaderModuleCreateInfo module = {.sType = VK_STRUCTURE_TYPE_SHADER_MODULE_CREATE_INFO,
                                             .codeSize = text->text.length - sizeof kernel->needs,
                                             .pCode = (const uint32_t *)(const void *)words};
    const VkPipelineCacheCreateInfo cache = {.sType = VK_STRUCTURE_TYPE_PIPELINE_CACHE_CREATE_INFO,
                                             .initialDataSize = stored ? stored->count : 0,
                                             .pInitialData = stored ? stored->bytes : NULL};
    uint64_t pipeline;
    memcpy(&kernel->needs, slri_text_view(&text->text), sizeof kernel->needs);
    memcpy(kernel->block, text->shape.block, sizeof kernel->block);
    SLRI_TRY(slri_arguments_find(text->module, text->entry, &kernel->layout));
    loaded->least_words = kernel->layout.has_dynamic ? 2 : 0;
    SLRI_VK_TRY(vulkan, CreateShaderModule, vulkan->device, &module, NULL, &kernel->module);
    SLRI_VK_TRY(vulkan, CreatePipelineCache, vulkan->device, &cache, NULL, &kernel->cache);
    SLRI_TRY(slri_loaded_pipeline(&vulkan->base.kernels, loaded, 0, &pipeline));
    if (!made)
        return SLR_OK;
    slri_count(&vulkan->counts.pipelines, 1);
    take_cache(vulkan, kernel, made);
    return SLR_OK;
}
