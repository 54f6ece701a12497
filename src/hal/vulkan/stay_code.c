// SPDX-License-Identifier: Apache-2.0
// The code of a kernel that stays: text in the kernel subset, which our own front end compiles, with a handler in it
// (engine/stay.h), or of a trial. From there on it is a kernel as any other.
#include "base/alloc.h"
#include "base/status.h"
#include "engine/code.h"
#include "engine/stay.h"
#include "hal/vulkan/vulkan.h"
#include "ir/pass/handler_kernel.h"
#include "lang/kernel.h"

static slr_status compile_text(const struct slri_shard *shard, const char *own, struct slri_module **out)
{
    slri_text text = SLRI_TEXT_INIT;
    if (shard)
        slri_stay_text(shard, &text);
    else
        slri_text_puts(&text, own);
    const struct slri_source source = {.path = "slipring: persistent kernel", .text = slri_text_view(&text)};
    slr_status status = text.out_of_memory ? SLRI_FAIL(NO_MEMORY, "no memory for the text of a persistent kernel")
                                           : slri_kernel_compile(&source, out);
    slri_text_free(&text);
    return status;
}

static slr_status load_staying(struct slri_vulkan *vulkan, struct slri_vk_staying *staying)
{
    const struct slri_module *module = staying->module ? staying->module : staying->text;
    struct slri_code_text text = {.module = module,
                                  .entry = staying->entry,
                                  .name = staying->entry->name,
                                  .file = module->name,
                                  .shape = {.block = {staying->threads, 1, 1}}};
    const struct slri_blob none = {0};
    void *loaded = NULL;
    slr_status status = slri_vk_code_put(vulkan, &text, false);
    if (status == SLR_OK && text.text.out_of_memory)
        status = SLRI_FAIL(NO_MEMORY, "no memory for the code of %s", text.name);
    if (status == SLR_OK)
        status = slri_vk_code_load(vulkan, &text, &none, &loaded);
    slri_code_text_free(&text);
    staying->kernel = loaded;
    return status;
}

static slr_status build_staying(struct slri_vulkan *vulkan, const struct slri_shard *shard, const char *text,
                                struct slri_vk_staying *staying)
{
    SLRI_TRY(compile_text(shard, text, &staying->text));
    if (shard)
        SLRI_TRY(slri_handler_stay(slri_code_module(shard->program), shard->entry, staying->text, &staying->module));
    staying->entry = staying->module ? staying->module->entry : staying->text->entry;
    staying->threads = staying->entry->max_threads ? staying->entry->max_threads : 1;
    return load_staying(vulkan, staying);
}

void slri_vk_staying_free(struct slri_vulkan *vulkan, struct slri_vk_staying *staying)
{
    if (!staying)
        return;
    if (staying->kernel)
        slri_vk_code_unload(vulkan, staying->kernel);
    slri_module_destroy(staying->module);
    slri_module_destroy(staying->text);
    slri_free(vulkan->allocator, staying, sizeof *staying);
}

slr_status slri_vk_staying_build(struct slri_vulkan *vulkan, const struct slri_shard *shard, const char *text,
                                 struct slri_vk_staying **out)
{
    struct slri_vk_staying *made = slri_alloc(vulkan->allocator, sizeof *made);
    if (!made)
        return SLRI_FAIL(NO_MEMORY, "device '%s': no memory for a persistent kernel", vulkan->name);
    slr_status status = build_staying(vulkan, shard, text, made);
    if (status == SLR_OK)
        *out = made;
    else
        slri_vk_staying_free(vulkan, made);
    return status;
}
