// SPDX-License-Identifier: Apache-2.0
// Kernels of slipring's own: text in the kernel subset, which our own front end compiles, with a handler in it
// (engine/stay.h), or of a trial. From there on it is a kernel as any other, recorded once in a queue of its own that
// goes to the device's first, and launched in one group again and again.
#include "base/status.h"
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

static slr_status load_own(struct slri_vulkan *vulkan, struct slri_vk_own *own)
{
    const struct slri_entry *entry = own->ready.entry;
    const uint32_t threads = entry->max_threads ? entry->max_threads : 1;
    struct slri_code_text text = {.module = own->ready.module,
                                  .entry = entry,
                                  .name = entry->name,
                                  .file = own->ready.module->name,
                                  .shape = {.block = {threads, 1, 1}}};
    const struct slri_blob none = {0};
    slr_status status = slri_vk_code_put(vulkan, &text, false);
    if (status == SLR_OK && text.text.out_of_memory)
        status = SLRI_FAIL(NO_MEMORY, "no memory for the code of %s", text.name);
    if (status == SLR_OK)
        status = slri_vk_code_load(vulkan, &text, &none, &own->ready.kernel.native);
    slri_code_text_free(&text);
    return status;
}

slr_status slri_vk_own_make(struct slri_vulkan *vulkan, const struct slri_shard *shard, const char *text,
                            struct slri_vk_own *own)
{
    SLRI_TRY(compile_text(shard, text, &own->text));
    if (shard)
        SLRI_TRY(slri_handler_stay(slri_code_module(shard->program), shard->entry, own->text, &own->module));
    own->ready.module = own->module ? own->module : own->text;
    own->ready.entry = own->ready.module->entry;
    SLRI_TRY(load_own(vulkan, own));
    return slri_vk_queue_create_own(vulkan, &own->queue);
}

slr_status slri_vk_own_launch(struct slri_vulkan *vulkan, struct slri_vk_own *own, const struct slri_bound *bound)
{
    const struct slri_command launch = {
        .op = SLRI_DISPATCH,
        .dispatch = {.ready = &own->ready, .entry = own->ready.entry, .bound = bound, .grid = {1, 1, 1}}};
    const struct slri_extras extras = {.is_last = true};
    if (own->is_recorded)
        return slri_vk_queue_repeat(own->queue);
    slr_status status = slri_buffered_encode(vulkan, own->queue, &launch, &extras, 1);
    own->is_recorded = status == SLR_OK;
    return status;
}

void slri_vk_own_free(struct slri_vulkan *vulkan, struct slri_vk_own *own)
{
    if (own->queue)
        slri_buffered_destroy(vulkan, own->queue);
    if (own->ready.kernel.native)
        slri_buffered_unload(vulkan, own->ready.kernel.native);
    slri_module_destroy(own->module);
    slri_module_destroy(own->text);
}
