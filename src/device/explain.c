// SPDX-License-Identifier: Apache-2.0
// What a kernel of a program does, and what it takes of a device.
#include "base/sized.h"
#include "base/status.h"
#include "device/device.h"
#include "device/kernel.h"
#include "engine/hooks.h"
#include "run/tally.h"
#include "lang/kernel.h"

static slr_status find(const slr_program *program, const char *name, const struct slri_entry **out)
{
    *out = slri_module_entry(program->module, name);
    return *out ? SLR_OK : slri_module_no_entry(program->module, name);
}

slr_status slr_program_explain_sized(const slr_program *program, const char *name, slr_explanation *out, size_t bytes)
{
    const struct slri_entry *entry;
    if (!program || !name || !out)
        return SLRI_FAIL(INVALID, "slr_program_explain: %s is NULL", !program ? "program" : !name ? "name" : "out");
    SLRI_TRY(find(program, name, &entry));
    if (program->module->raw)
        return SLRI_FAIL(UNSUPPORTED, "'%s' is a raw source, which slipring does not read", program->module->name);
    slr_explanation whole = {0};
    SLRI_TRY(slri_tally(program->module, entry, &whole));
    return SLRI_GIVE_REPORT(slr_explanation, out, bytes, &whole);
}

slr_status(slr_program_explain)(const slr_program *program, const char *name, slr_explanation *out)
{
    return slr_program_explain_sized(program, name, out, SLRI_FIRST_slr_explanation);
}

slr_status slr_program_get_resources_sized(const slr_program *program, const char *name, uint32_t capability,
                                           slr_resources *out, size_t bytes)
{
    const struct slri_entry *entry;
    if (!program || !name || !out)
        return SLRI_FAIL(INVALID, "slr_program_get_resources: %s is NULL",
                         !program ? "program"
                         : !name  ? "name"
                                  : "out");
    SLRI_TRY(find(program, name, &entry));
    if (entry->kind != SLRI_ENTRY_KERNEL)
        return SLRI_FAIL(UNSUPPORTED, "%s is a handler; only kernels have machine code", name);
    for (const struct slri_backend *const *each = slri_hooks()->backends; *each; each++) {
        const struct slri_kernel_query of = {.module = program->module, .entry = entry, .capability = capability};
        struct slri_kernel_use use = {0};
        if (!(*each)->uses_no_device)
            continue;
        SLRI_TRY((*each)->kernel_use(NULL, &of, &use));
        return SLRI_GIVE_REPORT(slr_resources, out, bytes, &use.resources);
    }
    return SLRI_FAIL(UNSUPPORTED, "this library has no backend for NVIDIA GPUs");
}

slr_status(slr_program_get_resources)(const slr_program *program, const char *name, uint32_t capability,
                                      slr_resources *out)
{
    return slr_program_get_resources_sized(program, name, capability, out, SLRI_FIRST_slr_resources);
}
