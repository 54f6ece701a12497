// SPDX-License-Identifier: Apache-2.0
// The code of a kernel that stays: text in the kernel subset, which our own front end compiles, with the mailbox and a
// handler in it. From there on it is a kernel as any other.
#include "base/alloc.h"
#include "base/status.h"
#include "engine/code.h"
#include "engine/mailbox_text.h"
#include "hal/vulkan/vulkan.h"
#include "ir/pass/handler_kernel.h"
#include "lang/kernel.h"

#include <stdlib.h>

extern const char slri_embedded_relaunch_h[], slri_embedded_resident_layout_h[], slri_embedded_vk_probe_h[],
    slri_embedded_vk_stay_h[];

static void put_text(const struct slri_entry *handler, slri_text *out)
{
    if (!handler) {
        slri_text_puts(out, slri_embedded_vk_probe_h);
        return;
    }
    if (handler->kind == SLRI_ENTRY_BLOCK)
        slri_text_puts(out, "#define SLR_BLOCK\n");
    slri_text_puts(out, "#define SLRI_WORD unsigned\n#define SLRI_ADDRESS unsigned long long\n");
    slri_text_puts(out, slri_embedded_resident_layout_h);
    slri_text_puts(out, slri_embedded_relaunch_h);
    slri_mailbox_text(out);
    slri_text_puts(out, slri_embedded_vk_stay_h);
}

static slr_status compile_text(const struct slri_entry *handler, struct slri_module **out)
{
    slri_text text = SLRI_TEXT_INIT;
    put_text(handler, &text);
    const struct slri_source source = {.path = "slipring: persistent kernel", .text = slri_text_view(&text)};
    slr_status status = text.out_of_memory ? SLRI_FAIL(NO_MEMORY, "no memory for the text of a persistent kernel")
                                           : slri_kernel_compile(&source, out);
    slri_text_free(&text);
    return status;
}

static slr_status load(struct slri_vulkan *vulkan, struct slri_vk_staying *staying)
{
    const struct slri_module *module = staying->module ? staying->module : staying->text;
    struct slri_code_text text = {.module = module,
                                  .entry = staying->entry,
                                  .name = staying->entry->name,
                                  .file = module->name,
                                  .shape = {.block = {staying->threads, 1, 1}}};
    struct slri_blob blob = {0};
    void *loaded = NULL;
    slr_status status = slri_vk_code_write(vulkan, &text);
    if (status == SLR_OK && text.text.out_of_memory)
        status = SLRI_FAIL(NO_MEMORY, "no memory for the code of %s", text.name);
    if (status == SLR_OK)
        status = slri_vk_code_build(vulkan, &text, &blob, &loaded);
    free(blob.bytes);
    slri_code_text_free(&text);
    staying->kernel = loaded;
    return status;
}

static slr_status build(struct slri_vulkan *vulkan, const struct slri_module *module, const struct slri_entry *handler,
                        struct slri_vk_staying *staying)
{
    SLRI_TRY(compile_text(handler, &staying->text));
    if (handler)
        SLRI_TRY(slri_handler_stay(module, handler, staying->text, &staying->module));
    staying->entry = staying->module ? staying->module->entry : staying->text->entry;
    staying->threads = staying->entry->max_threads ? staying->entry->max_threads : 1;
    return load(vulkan, staying);
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

slr_status slri_vk_staying_build(struct slri_vulkan *vulkan, const struct slri_module *module,
                                 const struct slri_entry *handler, struct slri_vk_staying **out)
{
    struct slri_vk_staying *made = slri_alloc(vulkan->allocator, sizeof *made);
    if (!made)
        return SLRI_FAIL(NO_MEMORY, "device '%s': no memory for a persistent kernel", vulkan->name);
    slr_status status = build(vulkan, module, handler, made);
    if (status == SLR_OK)
        *out = made;
    else
        slri_vk_staying_free(vulkan, made);
    return status;
}
