// SPDX-License-Identifier: Apache-2.0
// Code: a WGSL module of a kernel for a block, and its pipelines. The library gives nothing that could be kept on disk,
// so each process compiles. What a kernel's bindings are is read from its text.
#include "base/alloc.h"
#include "base/status.h"
#include "emit/wgsl/emit_wgsl.h"
#include "engine/code.h"
#include "hal/webgpu/webgpu.h"

#include <stdio.h>
#include <stdlib.h>

extern const char slri_embedded_bytes_wgsl[];

// ---- writing -------------------------------------------------------------------------------------------------------

slr_status slri_wg_code_write_text(void *device, struct slri_code_text *text, bool tells_ended_loops)
{
    const struct slri_webgpu *webgpu = device;
    const WGPULimits *limits = &webgpu->facts.limits;
    const uint32_t storage = limits->maxStorageBuffersPerShaderStage;
    const struct slri_wgsl_options options = {
        .tells_ended_loops = tells_ended_loops,
        .block = text->shape.block,
        .writes_all = true,
        .in_parts = true,
        .has_bases = limits->minStorageBufferOffsetAlignment > SLRI_WG_SLICE_ALIGNMENT,
        .storage_buffers = storage < SLRI_WG_MOST_ENTRIES - 1 ? storage : SLRI_WG_MOST_ENTRIES - 1,
        .workgroup_bytes = limits->maxComputeWorkgroupStorageSize,
        .block_threads = limits->maxComputeInvocationsPerWorkgroup};
    return slri_emit_wgsl(text->module, text->entry, &options, &text->text);
}

slr_status slri_wg_code_write(void *device, struct slri_code_text *text)
{
    struct slri_webgpu *webgpu = device;
    const struct slri_wg_facts *facts = &webgpu->facts;
    const WGPULimits *limits = &facts->limits;
    const uint32_t most[3] = {limits->maxComputeWorkgroupSizeX, limits->maxComputeWorkgroupSizeY,
                              limits->maxComputeWorkgroupSizeZ};
    uint64_t turns;
    SLRI_TRY(slri_code_check_block(text, webgpu->base.name, most, limits->maxComputeInvocationsPerWorkgroup));
    SLRI_TRY(slri_canary_check(&webgpu->base.canary, slri_own_kernel_canary, webgpu, webgpu->base.name, &turns));
    text->is_unkept = true;
    const char *const fields[] = {facts->name, facts->driver, facts->backend, webgpu->lib->name};
    for (size_t i = 0; i < sizeof fields / sizeof *fields; ++i)
        slri_code_identify(text, fields[i]);
    slri_text_printf(&text->label, "%s\n%s\n%s, %s", text->name, text->file, facts->name, facts->driver);
    return slri_wg_code_write_text(webgpu, text, turns != 0);
}

// ---- what a text declares ------------------------------------------------------------------------------------------

static void add_entry(struct slri_wg_layout *layout, const char *number, bool is_uniform)
{
    if (layout->count < SLRI_WG_MOST_ENTRIES)
        layout->entry[layout->count++] = (struct slri_wg_entry){(uint32_t)strtoul(number, NULL, 10), is_uniform};
}

// "@group(0) @binding(N) var<storage, ...", and "...var<uniform> slri_args: array<vec4<u32>, COUNT>".
static void read_bindings(const char *text, struct slri_wg_layout *layout, uint32_t *uniform_bytes)
{
    static const char before[] = "@group(0) @binding(", args[] = "array<vec4<u32>, ";
    for (const char *at = strstr(text, before); at; at = strstr(at + 1, before)) {
        const char *number = at + sizeof before - 1, *space = strchr(number, ' ');
        const bool is_uniform = strncmp(space, " var<uniform>", 13) == 0;
        add_entry(layout, number, is_uniform);
        if (is_uniform)
            *uniform_bytes = 16 * (uint32_t)strtoul(strstr(space, args) + sizeof args - 1, NULL, 10);
    }
}

static bool is_same(const struct slri_wg_layout *a, const struct slri_wg_layout *b)
{
    bool same = a->count == b->count;
    for (uint32_t i = 0; same && i < a->count; ++i)
        same = a->entry[i].binding == b->entry[i].binding && a->entry[i].is_uniform == b->entry[i].is_uniform;
    return same;
}

static slr_status fill_layout(struct slri_webgpu *webgpu, struct slri_wg_layout *layout)
{
    WGPUBindGroupLayoutEntry entry[SLRI_WG_MOST_ENTRIES];
    for (uint32_t i = 0; i < layout->count; ++i)
        entry[i] =
            (WGPUBindGroupLayoutEntry){.binding = layout->entry[i].binding,
                                       .visibility = WGPUShaderStage_Compute,
                                       .buffer = {.type = layout->entry[i].is_uniform ? WGPUBufferBindingType_Uniform
                                                                                      : WGPUBufferBindingType_Storage,
                                                  .hasDynamicOffset = layout->entry[i].is_uniform}};
    const WGPUBindGroupLayoutDescriptor group = {.entryCount = layout->count, .entries = entry};
    layout->group = webgpu->lib->DeviceCreateBindGroupLayout(webgpu->device, &group);
    SLRI_TRY(slri_wg_check(webgpu, "DeviceCreateBindGroupLayout"));
    slri_count(&webgpu->counts.bind_group_layouts, 1);
    const WGPUPipelineLayoutDescriptor pipeline = {.bindGroupLayoutCount = 1, .bindGroupLayouts = &layout->group};
    layout->pipeline = webgpu->lib->DeviceCreatePipelineLayout(webgpu->device, &pipeline);
    return slri_wg_check(webgpu, "DeviceCreatePipelineLayout");
}

static void free_layout(struct slri_webgpu *webgpu, struct slri_wg_layout *layout)
{
    if (layout->pipeline && !slri_hangs(&webgpu->base.loss))
        webgpu->lib->PipelineLayoutRelease(layout->pipeline);
    if (layout->group && !slri_hangs(&webgpu->base.loss))
        webgpu->lib->BindGroupLayoutRelease(layout->group);
    slri_free(webgpu->base.allocator, layout, sizeof *layout);
}

// Under the lock of code. The device keeps it as long as it is open.
static slr_status share_layout(struct slri_webgpu *webgpu, const struct slri_wg_layout *wanted,
                               struct slri_wg_layout **out)
{
    struct slri_wg_layout *found = webgpu->first_layout;
    while (found && !is_same(found, wanted))
        found = found->next;
    *out = found;
    if (found)
        return SLR_OK;
    struct slri_wg_layout *made = slri_alloc(webgpu->base.allocator, sizeof *made);
    if (!made)
        return SLRI_FAIL(NO_MEMORY, "device '%s': no memory for a layout", webgpu->base.name);
    *made = *wanted;
    slr_status status = fill_layout(webgpu, made);
    if (status != SLR_OK) {
        free_layout(webgpu, made);
        return status;
    }
    made->next = webgpu->first_layout;
    webgpu->first_layout = made;
    *out = made;
    return SLR_OK;
}

// ---- messages of the compiler --------------------------------------------------------------------------------------

// The place of the user's source that a line of a text is about: the last comment `// FILE:LINE` above it. "": none.
static void find_source_place(const char *text, unsigned long line, char *out, size_t room)
{
    snprintf(out, room, "%s", "");
    for (unsigned long at = 1; at <= line && *text; ++at) {
        const size_t length = strcspn(text, "\n");
        const char *start = text + strspn(text, " "), *end = text + length, *digits = end;
        while (digits > start && digits[-1] >= '0' && digits[-1] <= '9')
            --digits;
        if (strncmp(start, "// ", 3) == 0 && digits < end && digits > start + 4 && digits[-1] == ':')
            snprintf(out, room, "%.*s: ", (int)(end - start - 3), start + 3);
        text = *end ? end + 1 : end;
    }
}

// naga and page.js write "wgsl:12:5", Tint ":12:5 error". 0: none.
static unsigned long line_told_by(const char *words)
{
    const char *at = strstr(words, "wgsl:");
    if (at)
        return strtoul(at + 5, NULL, 10);
    at = strstr(words, " error: ");
    for (int colons = 0; at && at > words && colons < 2; colons += *at == ':')
        --at;
    return at ? strtoul(at + 1, NULL, 10) : 0;
}

static slr_status refuse_text(const struct slri_webgpu *webgpu, const char *name, const char *text, const char *words)
{
    char place[256];
    find_source_place(text, line_told_by(words), place, sizeof place);
    return SLRI_FAIL(COMPILE, "%skernel %s: the compiler of device '%s' rejected its WGSL: %s", place, name,
                     webgpu->base.name, words);
}

// What was heard of a text, and of the device.
static slr_status check_text(struct slri_webgpu *webgpu, const char *call, const struct slri_wg_kernel *kernel,
                             const char *text)
{
    const char *words = slri_wg_refusal();
    SLRI_TRY(slri_wg_check(webgpu, call));
    return words ? refuse_text(webgpu, kernel->base.name, text, words) : SLR_OK;
}

// ---- pipelines -----------------------------------------------------------------------------------------------------

static slr_status make_pipeline(void *device, struct slri_loaded *loaded, uint32_t dynamic_words, uint64_t *out)
{
    struct slri_webgpu *webgpu = device;
    const struct slri_wg_kernel *kernel = (const struct slri_wg_kernel *)loaded;
    const WGPUConstantEntry words = {.key = slri_wg_text("slri_dynamic_words"), .value = dynamic_words};
    slri_text name = SLRI_TEXT_INIT;
    slri_text_printf(&name, SLRI_WGSL_KERNEL_PREFIX "%s", loaded->name);
    const WGPUComputePipelineDescriptor how = {.layout = kernel->layout->pipeline,
                                               .compute = {.module = kernel->module,
                                                           .entryPoint = slri_wg_text(slri_text_view(&name)),
                                                           .constantCount = loaded->least_words,
                                                           .constants = &words}};
    WGPUComputePipeline made = webgpu->lib->DeviceCreateComputePipeline(webgpu->device, &how);
    slri_text_free(&name);
    slri_count(&webgpu->counts.pipelines, 1);
    slr_status status = check_text(webgpu, "DeviceCreateComputePipeline", kernel, kernel->text);
    if (status == SLR_OK && !made)
        return SLRI_FAIL(NO_MEMORY, "no memory for kernel %s", loaded->name);
    if (status != SLR_OK && made)
        webgpu->lib->ComputePipelineRelease(made);
    *out = (uintptr_t)made;
    return status;
}

static void free_pipeline(void *device, uint64_t pipeline)
{
    const struct slri_webgpu *webgpu = device;
    webgpu->lib->ComputePipelineRelease((WGPUComputePipeline)(uintptr_t)pipeline);
}

static void drop_module(void *device, struct slri_loaded *loaded)
{
    const struct slri_webgpu *webgpu = device;
    struct slri_wg_kernel *kernel = (struct slri_wg_kernel *)loaded;
    if (kernel->module)
        webgpu->lib->ShaderModuleRelease(kernel->module);
    kernel->module = NULL;
    kernel->layout = NULL;
}

const struct slri_loaded_calls slri_wg_loaded_calls = {
    .bytes = sizeof(struct slri_wg_kernel), .make = make_pipeline, .free = free_pipeline, .drop = drop_module};

slr_status slri_wg_code_pipeline(struct slri_webgpu *webgpu, struct slri_wg_kernel *kernel, uint32_t dynamic_bytes,
                                 WGPUComputePipeline *out)
{
    uint64_t pipeline;
    SLRI_TRY(slri_loaded_pipeline(&webgpu->base.kernels, &kernel->base, dynamic_bytes, &pipeline));
    *out = (WGPUComputePipeline)(uintptr_t)pipeline;
    return SLR_OK;
}

// ---- loading -------------------------------------------------------------------------------------------------------

// The library gives nothing that could be stored.
slr_status slri_wg_code_fill(void *device, const struct slri_code_text *of, const struct slri_blob *stored,
                             struct slri_blob *blob, struct slri_loaded *loaded)
{
    struct slri_webgpu *webgpu = device;
    struct slri_wg_kernel *kernel = (struct slri_wg_kernel *)loaded;
    const char *text = slri_text_view(&of->text);
    const WGPUShaderSourceWGSL source = {{NULL, WGPUSType_ShaderSourceWGSL}, slri_wg_text(text)};
    const WGPUShaderModuleDescriptor how = {.nextInChain = (WGPUChainedStruct *)(uintptr_t)&source.chain};
    struct slri_wg_layout wanted = {0};
    WGPUComputePipeline made;
    (void)stored, (void)blob;
    SLRI_TRY(slri_loss_check(&webgpu->base.loss));
    read_bindings(text, &wanted, &kernel->uniform_bytes);
    loaded->least_words = strstr(text, "override slri_dynamic_words") != NULL;
    kernel->tells = strstr(text, " slri_ended: ") != NULL;
    slri_mutex_lock(&webgpu->base.kernels.lock);
    slr_status status = share_layout(webgpu, &wanted, &kernel->layout);
    slri_mutex_unlock(&webgpu->base.kernels.lock);
    SLRI_TRY(status);
    kernel->module = webgpu->lib->DeviceCreateShaderModule(webgpu->device, &how);
    SLRI_TRY(check_text(webgpu, "DeviceCreateShaderModule", kernel, text));
    kernel->text = text;
    status = slri_wg_code_pipeline(webgpu, kernel, 0, &made);
    kernel->text = "";
    return status;
}

void slri_wg_code_forget(struct slri_webgpu *webgpu)
{
    for (int i = 0; i < SLRI_WG_TOOLS; ++i) {
        if (webgpu->tool[i])
            slri_buffered_code_unload(webgpu, webgpu->tool[i]);
        webgpu->tool[i] = NULL;
    }
    for (struct slri_wg_layout *each = webgpu->first_layout, *next; each; each = next) {
        next = each->next;
        free_layout(webgpu, each);
    }
    webgpu->first_layout = NULL;
}

static slr_status make_tool(struct slri_webgpu *webgpu, const char *name, void **out)
{
    const struct slri_entry entry = {.name = name};
    struct slri_code_text text = {.entry = &entry};
    slri_text_puts(&text.text, slri_embedded_bytes_wgsl);
    slr_status status = text.text.out_of_memory ? SLRI_FAIL(NO_MEMORY, "no memory for kernel %s", name)
                                                : slri_buffered_code_load(webgpu, &text, NULL, out);
    slri_code_text_free(&text);
    return status;
}

slr_status slri_wg_code_tool(struct slri_webgpu *webgpu, enum slri_wg_tool tool, struct slri_wg_kernel **out)
{
    static const char *const name[SLRI_WG_TOOLS] = {"copy", "fill"};
    void *made = NULL;
    slr_status status = SLR_OK;
    slri_mutex_lock(&webgpu->tool_lock);
    if (!webgpu->tool[tool]) {
        status = make_tool(webgpu, name[tool], &made);
        webgpu->tool[tool] = made;
    }
    *out = webgpu->tool[tool];
    slri_mutex_unlock(&webgpu->tool_lock);
    return status;
}
