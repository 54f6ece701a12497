// SPDX-License-Identifier: Apache-2.0
// What a source holds, for who asks before anything is launched: its handlers and kernels, and what was left out.
#include "base/sized.h"
#include "base/status.h"
#include "base/text.h"
#include "device/kernel.h"
#include "ir/type.h"

#include <slipring/tune.h>

#include <string.h>

static const char *spell_binding(struct slri_region *region, const struct slri_binding_info *binding)
{
    struct slri_text text = SLRI_TEXT_INIT;
    slri_text_printf(&text, "%s",
                     binding->is_outlet                        ? "ring_to("
                     : binding->is_buffer && binding->is_const ? "const "
                                                               : "");
    slri_type_spell_to(&text, binding->type);
    slri_text_printf(&text, "%s", binding->is_outlet ? ")" : binding->is_buffer ? " *" : "");
    const char *kept = slri_region_text(region, slri_text_view(&text), text.length);
    slri_text_free(&text);
    return kept;
}

static slr_function_kind kind_of(enum slri_entry_kind kind)
{
    return kind == SLRI_ENTRY_RING    ? SLR_FUNCTION_RING
           : kind == SLRI_ENTRY_BLOCK ? SLR_FUNCTION_RING_BLOCK
           : kind == SLRI_ENTRY_BATCH ? SLR_FUNCTION_RING_BATCH
                                      : SLR_FUNCTION_KERNEL;
}

static slr_status describe_function(const slr_program *program, const struct slri_entry *entry, slr_function_info *out)
{
    struct slri_region *region = program->region;
    slr_parameter *parameter = slri_region_take(region, (entry->bindings + 1) * sizeof *parameter);
    const char **type = slri_region_take(region, (entry->bindings + 1) * sizeof *type);
    if (!parameter || !type)
        return SLRI_FAIL(NO_MEMORY, "no memory to describe %s", entry->name);
    SLRI_TRY(slri_describe_bindings(region, entry, parameter));
    for (uint32_t i = 0; i < entry->bindings; ++i)
        if (!(type[i] = spell_binding(region, &entry->binding[i])))
            return SLRI_FAIL(NO_MEMORY, "no memory to describe %s", entry->name);
    const struct slri_function *function = entry->function;
    *out = (slr_function_info){.name = entry->name,
                               .kind = kind_of(entry->kind),
                               .file = program->module->file[function->where.file],
                               .line = function->where.line,
                               .parameter_count = entry->bindings,
                               .parameters = parameter,
                               .types = type,
                               .max_threads = entry->max_threads,
                               .min_blocks = entry->min_blocks,
                               .shared_bytes = (uint32_t)entry->shared_bytes,
                               .takes_dynamic_shared = (function->uses & SLRI_USES_DYNAMIC) != 0,
                               .has_barriers = (function->uses & SLRI_USES_BARRIER) != 0,
                               .has_warp_functions = (function->uses & SLRI_USES_WARP) != 0};
    for (uint32_t i = 0; program->module->tuning && i < program->module->tuning->launches; i++) {
        const struct slri_tuned_launch *launch = &program->module->tuning->launch[i];
        if (strcmp(launch->kernel, entry->name) != 0)
            continue;
        memcpy(out->block, launch->block, sizeof out->block);
        memcpy(out->items, launch->items[0] ? launch->items : launch->block, sizeof out->items);
    }
    return SLR_OK;
}

slr_status slri_describe_functions(slr_program *program)
{
    const struct slri_module *module = program->module;
    program->function = slri_region_take(program->region, (module->entries + 1) * sizeof *program->function);
    if (!program->function)
        return SLRI_FAIL(NO_MEMORY, "no memory to describe a program");
    for (uint32_t i = 0; i < module->entries; ++i)
        SLRI_TRY(describe_function(program, &module->entry[i], &program->function[i]));
    return SLR_OK;
}

slr_status slr_program_get_function_sized(const slr_program *program, uint32_t index, slr_function_info *out,
                                          size_t bytes)
{
    if (!program || !out)
        return SLRI_FAIL(INVALID, "slr_program_get_function: %s is NULL", program ? "out" : "program");
    if (index >= program->module->entries)
        return SLRI_FAIL(NOT_FOUND, "the program has %u handlers and kernels, number %u was asked for",
                         program->module->entries, index);
    return SLRI_GIVE_REPORT(slr_function_info, out, bytes, &program->function[index]);
}

slr_status(slr_program_get_function)(const slr_program *program, uint32_t index, slr_function_info *out)
{
    return slr_program_get_function_sized(program, index, out, SLRI_FIRST_slr_function_info);
}

slr_status slr_program_get_skipped_sized(const slr_program *program, uint32_t index, slr_skipped_info *out,
                                         size_t bytes)
{
    if (!program || !out)
        return SLRI_FAIL(INVALID, "slr_program_get_skipped: %s is NULL", program ? "out" : "program");
    const struct slri_module *module = program->module;
    if (index >= module->skippeds)
        return SLRI_FAIL(NOT_FOUND, "%u parts of the source were skipped; number %u was asked for", module->skippeds,
                         index);
    const struct slri_skipped *skipped = &module->skipped[index];
    const slr_skipped_info whole = {.name = skipped->name,
                                    .what = skipped->what,
                                    .why = skipped->why,
                                    .file = module->file[skipped->where.file],
                                    .line = skipped->where.line,
                                    .code = skipped->code,
                                    .is_kernel = skipped->is_kernel};
    return SLRI_GIVE_REPORT(slr_skipped_info, out, bytes, &whole);
}

slr_status(slr_program_get_skipped)(const slr_program *program, uint32_t index, slr_skipped_info *out)
{
    return slr_program_get_skipped_sized(program, index, out, SLRI_FIRST_slr_skipped_info);
}

slr_status slr_program_get_tunable_sized(const slr_program *program, uint32_t index, slr_tunable *out, size_t bytes)
{
    if (!program || !out)
        return SLRI_FAIL(INVALID, "slr_program_get_tunable: %s is NULL", program ? "out" : "program");
    const struct slri_tuning *tuning = program->module->tuning;
    if (!tuning || index >= tuning->tunables)
        return SLRI_FAIL(NOT_FOUND, "the program has %u tunable macros; number %u was asked for",
                         tuning ? tuning->tunables : 0, index);
    const struct slri_tunable *found = &tuning->tunable[index];
    const slr_tunable whole = {.name = found->name,
                               .values = found->value,
                               .value_count = found->values,
                               .line = found->line,
                               .value = found->now};
    return SLRI_GIVE_REPORT(slr_tunable, out, bytes, &whole);
}

slr_status(slr_program_get_tunable)(const slr_program *program, uint32_t index, slr_tunable *out)
{
    return slr_program_get_tunable_sized(program, index, out, SLRI_FIRST_slr_tunable);
}
