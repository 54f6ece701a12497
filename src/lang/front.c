// SPDX-License-Identifier: Apache-2.0
// The front end from end to end: preprocess, parse and check, lower.
#include "ir/pass/guard.h"
#include "ir/pass/select.h"
#include "lang/check/advice.h"
#include "lang/host/host.h"
#include "lang/lower/lower.h"
#include "lang/check/skip.h"

#include "base/status.h"

#include <string.h>

// Parses and lowers; returns when done, or when there are too many errors or no memory. The setjmp stands in a function
// of its own, all of whose variables are in `unit` and `module`.
static slr_status translate(struct slri_unit *unit, struct slri_module *module)
{
    if (setjmp(unit->give_up))
        return unit->why;
    slri_parse_unit(unit);
    if (slri_report_errors(unit->front) == 0) // roots in a tree with holes would only repeat what is said already
        slri_lower_unit(unit, module);
    if (slri_report_errors(unit->front) == 0 && unit->is_foreign)
        slri_host_read(unit, module);
    return SLR_OK;
}

static slr_status no_memory(void)
{
    return SLRI_FAIL(NO_MEMORY, "out of memory while compiling a kernel");
}

static slr_status translate_once(struct slri_front *front, struct slri_module *module, bool is_strict,
                                 bool *all_left_out)
{
    struct slri_unit *unit = slri_region_take(front->region, sizeof *unit);
    struct slri_types *types = slri_types_create(front->region);
    if (!unit || !types)
        return no_memory();
    unit->front = front;
    unit->region = front->region;
    unit->types = types;
    unit->is_strict = is_strict;
    if (translate(unit, module) != SLR_OK)
        return no_memory();
    *all_left_out = unit->is_foreign && module->entries == 0 && slri_report_errors(front) == 1 &&
                    slri_report_code(front, 0) == SLRI_K_NO_HANDLER;
    return SLR_OK;
}

// A misspelt kernel in a line of the tuner's would leave its launches as they are, without a word.
static void check_tuned_kernels(struct slri_front *front, const struct slri_module *module)
{
    for (uint32_t i = 0; front->tuning && i < front->tuning->launches; i++) {
        const struct slri_tuned_launch *launch = &front->tuning->launch[i];
        bool is_there = slri_module_entry(module, launch->kernel) != NULL;
        for (uint32_t k = 0; k < module->skippeds && !is_there; k++)
            is_there = strcmp(module->skipped[k].name, launch->kernel) == 0;
        if (!is_there)
            slri_report_error(front, launch->where, SLRI_K_BAD_TUNING, "#pragma slipring: no kernel is named '%s'",
                              launch->kernel);
        else if (launch->items[0] && !launch->block[0])
            slri_report_error(front, launch->where, SLRI_K_BAD_TUNING,
                              "#pragma slipring: kernel '%s' has items, but no block", launch->kernel);
    }
}

static slr_status compile_front(struct slri_front *front, struct slri_module *module)
{
    SLRI_TRY(slri_preprocess(front));
    uint32_t before = slri_report_errors(front);
    slri_check_struct_ends(front);
    if (slri_report_errors(front) > before) { // what comes of it is not worth reading
        if (slri_is_foreign_file(front)) {    // nor, there, which headers were not found
            slri_report_drop(front, 0);
            slri_check_struct_ends(front);
        }
        return slri_report_fail(front);
    }
    bool all_left_out = false;
    SLRI_TRY(translate_once(front, module, false, &all_left_out));
    if (all_left_out) { // one who has written a kernel wants to read what is wrong in it, with place and advice
        slri_report_drop(front, 0);
        *module = (struct slri_module){0};
        SLRI_TRY(translate_once(front, module, true, &all_left_out));
    }
    if (slri_report_errors(front) == 0)
        check_tuned_kernels(front, module);
    return slri_report_errors(front) ? slri_report_fail(front) : SLR_OK;
}

static slr_status check_lowered(const struct slri_module *module)
{
    const char *broken = slri_module_verify(module);
    return broken ? SLRI_FAIL(INTERNAL, "the front end made invalid IR from '%s': %s", module->name, broken) : SLR_OK;
}

static void finish(const struct slri_front *front, struct slri_module *module)
{
    module->region = front->region;
    module->file = front->file;
    module->files = front->files;
    module->tuning = front->tuning;
    module->selects = front->selects;
    module->asks_select = front->asks_select;
    module->guards = front->guards;
    module->name = front->files ? front->file[0] : "";
    memcpy(module->source_hash, front->source_hash, sizeof module->source_hash);
    memcpy(module->own_hash, front->own_hash, sizeof module->own_hash);
}

slr_status slri_kernel_compile(const struct slri_source *source, struct slri_module **out)
{
    struct slri_front front = {.source = source, .region = slri_region_create()};
    if (!front.region)
        return no_memory();
    front.report = slri_report_create(front.region);
    struct slri_module *module = slri_region_take(front.region, sizeof *module);
    slr_status status = front.report && module ? compile_front(&front, module) : no_memory();
    if (status == SLR_OK) {
        finish(&front, module);
        slri_select_look(module);
        const bool is_done = (!module->selects || slri_select(module)) && (!module->guards || slri_guard(module));
        status = is_done ? check_lowered(module) : no_memory();
    }
    if (status != SLR_OK) {
        slri_region_destroy(front.region);
        return status;
    }
    *out = module;
    return SLR_OK;
}

slr_status slri_kernel_is_allowed(const struct slri_source *source, bool *is_allowed)
{
    struct slri_front front = {.source = source, .region = slri_region_create()};
    if (!front.region)
        return no_memory();
    front.report = slri_report_create(front.region);
    slr_status status = front.report ? slri_preprocess(&front) : no_memory();
    if (status == SLR_OK && slri_report_errors(&front))
        status = slri_report_fail(&front);
    *is_allowed = status == SLR_OK && (!front.tuning || front.tuning->is_allowed);
    slri_region_destroy(front.region);
    return status;
}
