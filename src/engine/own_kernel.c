// SPDX-License-Identifier: Apache-2.0
#include "engine/own_kernel.h"

#include "base/clock.h"
#include "base/status.h"
#include "engine/stay.h"
#include "ir/pass/handler_kernel.h"
#include "lang/kernel.h"

extern const char slri_embedded_canary_h[];

// ---- making --------------------------------------------------------------------------------------------------------

static slr_status compile_own(const char *own, const struct slri_shard *shard, struct slri_module **out)
{
    slri_text text = SLRI_TEXT_INIT;
    if (own)
        slri_text_puts(&text, own);
    else
        slri_stay_text(shard, &text);
    const struct slri_source source = {.path = "slipring: own kernel", .text = slri_text_view(&text)};
    slr_status status = text.out_of_memory ? SLRI_FAIL(NO_MEMORY, "no memory for the text of a kernel")
                                           : slri_kernel_compile(&source, out);
    slri_text_free(&text);
    return status;
}

static slr_status load_own(struct slri_buffered_device *device, struct slri_ready_kernel *ready)
{
    const uint32_t threads = ready->entry->max_threads ? ready->entry->max_threads : 1;
    struct slri_code_text text = {.module = ready->module,
                                  .entry = ready->entry,
                                  .name = ready->entry->name,
                                  .file = ready->module->name,
                                  .shape = {.block = {threads, 1, 1}}};
    slr_status status = device->driver->write(device, &text, false);
    if (status == SLR_OK && text.text.out_of_memory)
        status = SLRI_FAIL(NO_MEMORY, "no memory for the code of %s", text.name);
    if (status == SLR_OK)
        status = slri_buffered_code_load(device, &text, NULL, &ready->kernel.native);
    slri_code_text_free(&text);
    return status;
}

static slr_status make_kernel_of(struct slri_buffered_device *device, const char *text, const struct slri_shard *shard,
                                 struct slri_own_kernel *own)
{
    SLRI_TRY(compile_own(text, shard, &own->text));
    if (!text)
        SLRI_TRY(slri_handler_stay(slri_code_module(shard->program), shard->entry, own->text, &own->module));
    own->ready.module = own->module ? own->module : own->text;
    own->ready.entry = own->ready.module->entry;
    return load_own(device, &own->ready);
}

struct slri_command slri_own_kernel_launch(const struct slri_own_kernel *own, const struct slri_bound *bound)
{
    return (struct slri_command){
        .op = SLRI_DISPATCH,
        .dispatch = {.ready = &own->ready, .entry = own->ready.entry, .bound = bound, .grid = {1, 1, 1}}};
}

// ---- running -------------------------------------------------------------------------------------------------------

slr_status slri_own_run_make(struct slri_buffered_device *device, const char *text, const struct slri_shard *shard,
                             enum slri_memory_kind kind, uint64_t bytes, struct slri_own_run *run)
{
    run->kind = kind;
    run->bytes = bytes;
    SLRI_TRY(make_kernel_of(device, text, shard, &run->kernel));
    SLRI_TRY(device->driver->own_queue(device, &run->queue));
    return device->driver->backend->memory_create(device, kind, bytes, &run->memory);
}

void slri_own_run_free(struct slri_buffered_device *device, struct slri_own_run *run)
{
    if (run->queue)
        slri_buffered_destroy(device, run->queue);
    if (run->memory)
        device->driver->backend->memory_destroy(device, run->kind, run->memory, run->bytes);
    if (run->kernel.ready.kernel.native)
        slri_buffered_code_unload(device, run->kernel.ready.kernel.native);
    slri_module_destroy(run->kernel.module);
    slri_module_destroy(run->kernel.text);
}

// ---- the canary ----------------------------------------------------------------------------------------------------

static slr_status run_canary(struct slri_buffered_device *device, const struct slri_own_run *trial, uint32_t word[3])
{
    uint32_t turns = SLRI_CANARY_TURNS, few = SLRI_CANARY_FEW;
    const struct slri_bound bound[] = {{trial->memory, trial->bytes}, {&turns, sizeof turns}, {&few, sizeof few}};
    const struct slri_command command[] = {slri_own_kernel_launch(&trial->kernel, bound),
                                           {.op = SLRI_COPY_OUT, .copy = {trial->memory, word, trial->bytes}}};
    const struct slri_extras extras[2] = {{0}};
    SLRI_TRY(slri_buffered_encode(device, trial->queue, command, extras, 2));
    return slri_buffered_wait(device, trial->queue, slri_deadline_after(SLRI_HANG_TIMEOUT_NS), NULL);
}

slr_status slri_own_kernel_canary(void *device, uint32_t word[3])
{
    struct slri_own_run trial = {0};
    slr_status status =
        slri_own_run_make(device, slri_embedded_canary_h, NULL, SLRI_MEMORY_SEEN, 3 * sizeof *word, &trial);
    if (status == SLR_OK)
        status = run_canary(device, &trial, word);
    slri_own_run_free(device, &trial);
    return status;
}
