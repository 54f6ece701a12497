// SPDX-License-Identifier: Apache-2.0
// Kernels of a program: found by name, described, and made ready for a shape of block.
#include "device/kernel.h"
#include "lang/kernel.h"

#include "base/alloc.h"
#include "base/sized.h"
#include "base/status.h"
#include "base/text.h"

#include <string.h>

// ---- finding -------------------------------------------------------------------------------------------------------

static uint32_t count_kernels(const struct slri_module *module, const struct slri_entry **only)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < module->entries; ++i)
        if (module->entry[i].kind == SLRI_ENTRY_KERNEL) {
            *only = &module->entry[i];
            ++count;
        }
    return count;
}

static slr_status not_found(const struct slri_module *module, const char *name)
{
    struct slri_text there = SLRI_TEXT_INIT;
    for (uint32_t i = 0; name && i < module->skippeds; ++i)
        if (module->skipped[i].is_kernel && strcmp(module->skipped[i].name, name) == 0) {
            (void)slri_module_no_entry(module, name);
            return SLR_NOT_FOUND; // what it returned, too: said so that compilers see it
        }
    for (uint32_t i = 0; i < module->entries; ++i)
        if (module->entry[i].kind == SLRI_ENTRY_KERNEL)
            slri_text_printf(&there, "%s%s", there.length ? ", " : "", module->entry[i].name);
    slr_status status =
        !there.length ? SLRI_FAIL(NOT_FOUND, "%s has no __global__ kernel", module->name)
        : name ? SLRI_FAIL(NOT_FOUND, "%s has no kernel '%s'; it has: %s", module->name, name, slri_text_view(&there))
               : SLRI_FAIL(NOT_FOUND, "%s has several kernels; name one: %s", module->name, slri_text_view(&there));
    slri_text_free(&there);
    return status;
}

static slr_status find_kernel(const struct slri_module *module, const char *name, const struct slri_entry **out)
{
    const struct slri_entry *only = NULL;
    uint32_t kernels = count_kernels(module, &only);
    if (!name && kernels == 1) {
        *out = only;
        return SLR_OK;
    }
    for (uint32_t i = 0; name && i < module->entries; ++i)
        if (module->entry[i].kind == SLRI_ENTRY_KERNEL && strcmp(module->entry[i].name, name) == 0) {
            *out = &module->entry[i];
            return SLR_OK;
        }
    return not_found(module, name);
}

static const struct slri_tuned_launch *find_declared(const struct slri_module *module, const char *name)
{
    for (uint32_t i = 0; module->tuning && i < module->tuning->launches; i++)
        if (strcmp(module->tuning->launch[i].kernel, name) == 0)
            return &module->tuning->launch[i];
    return NULL;
}

// ---- life ----------------------------------------------------------------------------------------------------------

static void dispose(slr_kernel *kernel)
{
    slr_program *program = kernel->program;
    slri_free(program->device->allocator, kernel,
              sizeof *kernel + kernel->info.parameter_count * sizeof(slr_parameter));
    slri_program_release(program);
}

slr_status slr_program_get_kernel(slr_program *program, const char *name, slr_kernel **out)
{
    if (!program || !out)
        return SLRI_FAIL(INVALID, "slr_program_get_kernel: %s is NULL", program ? "out" : "program");
    slr_device *device = program->device;
    const struct slri_entry *entry;
    SLRI_TRY(find_kernel(program->module, name, &entry));
    if (!device->backend->code_kernel)
        return SLRI_FAIL(UNSUPPORTED, "device '%s' runs no __global__ kernels", device->backend->name);
    slr_kernel *kernel = slri_alloc(device->allocator, sizeof *kernel + entry->bindings * sizeof(slr_parameter));
    if (!kernel)
        return SLRI_FAIL(NO_MEMORY, "no memory for kernel %s", entry->name);
    slr_parameter *parameter = (slr_parameter *)(kernel + 1);
    slri_program_hold(program);
    kernel->program = program;
    kernel->entry = entry;
    kernel->holds = 1;
    kernel->declared = find_declared(program->module, entry->name);
    kernel->info = (slr_kernel_info){.name = entry->name,
                                     .parameters = parameter,
                                     .parameter_count = entry->bindings,
                                     .max_threads = entry->max_threads ? entry->max_threads : SLRI_BLOCK_MAX_THREADS,
                                     .shared_bytes = (uint32_t)entry->shared_bytes,
                                     .takes_dynamic_shared = (entry->function->uses & SLRI_USES_DYNAMIC) != 0};
    slr_status status = slri_describe_bindings(program->region, entry, parameter);
    if (status == SLR_OK)
        *out = kernel;
    else
        dispose(kernel);
    return status;
}

slr_status slr_kernel_load(slr_device *device, const char *path, const char *name, slr_kernel **out)
{
    slr_program *program;
    if (!out)
        return SLRI_FAIL(INVALID, "slr_kernel_load: out is NULL");
    SLRI_TRY(slr_program_load(device, path, NULL, &program));
    slr_status status = slr_program_get_kernel(program, name, out);
    slr_program_destroy(program); // the kernel keeps it
    return status;
}

void slri_kernel_hold(slr_kernel *kernel)
{
    slri_hold(&kernel->holds);
}

void slri_kernel_release(slr_kernel *kernel)
{
    if (slri_let_go(&kernel->holds))
        dispose(kernel);
}

void slr_kernel_destroy(slr_kernel *kernel)
{
    if (kernel && !slri_device_is_anothers(kernel->program->device))
        slri_kernel_release(kernel);
}

slr_status slr_kernel_get_info_sized(const slr_kernel *kernel, slr_kernel_info *out, size_t bytes)
{
    if (!kernel || !out)
        return SLRI_FAIL(INVALID, "slr_kernel_get_info: %s is NULL", kernel ? "out" : "kernel");
    return SLRI_GIVE_REPORT(slr_kernel_info, out, bytes, &kernel->info);
}

slr_status(slr_kernel_get_info)(const slr_kernel *kernel, slr_kernel_info *out)
{
    return slr_kernel_get_info_sized(kernel, out, SLRI_FIRST_slr_kernel_info);
}
