// SPDX-License-Identifier: Apache-2.0
// The public functions: one check of one kernel, kept until it is destroyed.
#include "base/alloc.h"
#include "base/sized.h"
#include "base/status.h"
#include "check/generate.h"

#include <string.h>

enum { LAUNCHES_MAX = 3, MESSAGES_MAX = 1000000 };

struct slr_check {
    slr_program *program; // held: names of files and of the kernel are its
    const struct slri_entry *entry;
    struct slri_region *region;
    struct slri_findings findings;
    slr_check_launch launch[LAUNCHES_MAX];
    uint32_t launches;
    slr_check_line *lines; // of the first launch
    uint32_t line_count;
};

// ---- running -------------------------------------------------------------------------------------------------------

static slr_status record(struct slri_plan *plan, const struct slri_trial *trial, const struct slri_outcome *outcome,
                         slr_check_launch *out)
{
    uint32_t bindings = plan->entry->bindings, count = 0;
    const char **words = slri_region_take(plan->region, (bindings + 1) * sizeof *words);
    uint8_t *generated = slri_region_take(plan->region, bindings + 1);
    if (words == NULL || generated == NULL)
        return SLRI_FAIL(NO_MEMORY, "no memory to check kernel %s", plan->entry->name);
    for (uint32_t i = 0; i < bindings; i++) {
        if (plan->entry->binding[i].is_outlet)
            continue;
        words[count] = slri_trial_words(plan, trial, i);
        generated[count++] = plan->given[i] == NULL;
    }
    if (slri_plan_is_handler(plan)) {
        words[count] = slri_messages_words(plan, trial, outcome->handled);
        generated[count++] = true;
    }
    *out = (slr_check_launch){.shared_bytes = (uint32_t)trial->shared_bytes,
                              .instructions = outcome->instructions,
                              .arguments = words,
                              .generated = generated,
                              .argument_count = count};
    out->from = slri_host_words(plan, trial);
    memcpy(out->grid, trial->grid, sizeof out->grid);
    memcpy(out->block, trial->block, sizeof out->block);
    return SLR_OK;
}

static slr_status launch(struct slr_check *check, struct slri_plan *plan, const struct slri_trial *trial)
{
    struct slri_outcome outcome = {.findings = check->findings,
                                   .counts_traffic = check->launches == 0 && !slri_plan_is_handler(plan)};
    outcome.findings.launch = check->launches;
    SLRI_TRY(slri_trial_run(plan, trial, &outcome));
    check->findings = outcome.findings;
    if (outcome.counts_traffic) {
        check->lines = outcome.lines;
        check->line_count = outcome.line_count;
    }
    return record(plan, trial, &outcome, &check->launch[check->launches++]);
}

static slr_status run_messages(struct slr_check *check, struct slri_plan *plan)
{
    static const enum slri_contents contents[] = {SLRI_ZEROED, SLRI_POSITIVE, SLRI_EXTREME};
    struct slri_trial trial;
    struct slri_outcome learned = {0};
    SLRI_TRY(slri_generate_even(plan, &trial, &learned));
    for (size_t i = 0; i < sizeof contents / sizeof *contents; i++) {
        trial.messages = contents[i];
        SLRI_TRY(launch(check, plan, &trial));
    }
    slri_findings_weigh(&check->findings, 3); // met with zeros and with random messages
    return check->findings.out_of_memory ? SLRI_FAIL(NO_MEMORY, "no memory for a check") : SLR_OK;
}

static slr_status run_launches(struct slr_check *check, struct slri_plan *plan)
{
    struct slri_trial even, ragged;
    struct slri_outcome learned = {0};
    bool has_ragged = false;
    SLRI_TRY(slri_generate_even(plan, &even, &learned));
    SLRI_TRY(launch(check, plan, &even));
    SLRI_TRY(slri_generate_ragged(plan, &even, &learned, &ragged, &has_ragged));
    if (has_ragged)
        SLRI_TRY(launch(check, plan, &ragged));
    return SLR_OK;
}

// Each finding that may be the fault of what was made up says what to give instead.
static void explain(struct slr_check *check, const struct slri_plan *plan)
{
    for (uint32_t i = 0; i < check->findings.count; i++) {
        struct slri_finding *finding = &check->findings.list[i];
        if (finding->made != 0 && finding->message != NULL)
            slri_findings_explain(&check->findings, finding, slri_plan_give(plan, finding->made));
    }
}

static slr_status run(struct slr_check *check, struct slri_plan *plan)
{
    SLRI_TRY(slri_plan_is_handler(plan) ? run_messages(check, plan) : run_launches(check, plan));
    explain(check, plan);
    slri_findings_drop_harmless(&check->findings);
    slri_findings_sort(&check->findings);
    return SLR_OK;
}

// ---- what was asked ------------------------------------------------------------------------------------------------

static slr_status take_arguments(struct slri_plan *plan)
{
    const slr_check_desc *desc = plan->desc;
    unsigned char room[16];
    for (uint32_t i = 0; i < desc->argument_count; i++) {
        const slr_check_argument *given = &desc->arguments[i];
        struct slri_bound bound;
        if (given->parameter >= plan->entry->bindings)
            return SLRI_FAIL(INVALID, "%s has %u parameters, but got an argument for number %u", plan->entry->name,
                             plan->entry->bindings, given->parameter + 1);
        plan->is_unset[given->parameter] = given->is_unset;
        if (given->arg.kind == 0 && given->is_unset)
            continue;
        bool is_small = plan->entry->binding[given->parameter].type->bytes <= sizeof room;
        void *to = is_small ? room : slri_region_take(plan->region, plan->entry->binding[given->parameter].type->bytes);
        if (to == NULL)
            return SLRI_FAIL(NO_MEMORY, "no memory to check kernel %s", plan->entry->name);
        SLRI_TRY(slri_argument_settle(plan->program, plan->entry, given->parameter, &given->arg, to, &bound));
        plan->given[given->parameter] = given;
    }
    return SLR_OK;
}

static slr_status check_desc(const slr_check_desc *desc)
{
    if (desc->argument_count && !desc->arguments)
        return SLRI_FAIL(INVALID, "slr_check_desc.argument_count is not 0 but arguments is NULL");
    if (desc->messages > MESSAGES_MAX)
        return SLRI_FAIL(INVALID, "slr_check_desc.messages is %llu: 1 to %d are possible",
                         (unsigned long long)desc->messages, MESSAGES_MAX);
    for (int i = 1; i < 3; i++)
        if ((desc->grid[i] && !desc->grid[0]) || (desc->block[i] && !desc->block[0]))
            return SLRI_FAIL(INVALID, "slr_check_desc: a grid or a block has a size along %c but none along x",
                             "xyz"[i]);
    return SLR_OK;
}

static slr_status make_plan(struct slri_plan *plan, const struct slr_check *check)
{
    plan->program = check->program;
    plan->module = check->program->module;
    plan->entry = check->entry;
    plan->entry_index = (uint32_t)(plan->entry - plan->module->entry);
    if (plan->module->raw)
        return SLRI_FAIL(UNSUPPORTED, "'%s' is a raw source, which slipring does not read", plan->module->name);
    if (plan->entry->bindings > SLRI_CHECK_PARAMETERS_MAX)
        return SLRI_FAIL(UNSUPPORTED, "kernel %s has %u parameters; the checker allows %d", plan->entry->name,
                         plan->entry->bindings, SLRI_CHECK_PARAMETERS_MAX);
    SLRI_TRY(check_desc(plan->desc));
    SLRI_TRY(take_arguments(plan));
    slri_plan_find_slots(plan);
    if (!slri_plan_is_handler(plan))
        slri_plan_find_host(plan);
    return SLR_OK;
}

static slr_status check_entry(struct slr_check *check, const slr_check_desc *desc)
{
    struct slri_interp *interp = NULL;
    struct slri_plan *plan = slri_region_take(check->region, sizeof *plan);
    if (plan == NULL)
        return SLRI_FAIL(NO_MEMORY, "no memory for a check");
    plan->region = check->region;
    plan->desc = desc;
    SLRI_TRY(make_plan(plan, check));
    SLRI_TRY(slri_interp_create_entry(plan->module, plan->entry, &interp));
    plan->interp = interp;
    slr_status status = run(check, plan);
    slri_interp_destroy(interp);
    return status;
}

static slr_status make(slr_program *program, const struct slri_entry *entry, const slr_check_desc *desc,
                       slr_check **out)
{
    slr_check_desc whole;
    SLRI_TRY(SLRI_TAKE_DESC(slr_check_desc, &whole, desc));
    slr_check *check = slri_alloc(NULL, sizeof *check);
    if (check == NULL)
        return SLRI_FAIL(NO_MEMORY, "no memory for a check");
    slri_program_hold(program);
    check->program = program;
    check->entry = entry;
    check->region = check->findings.region = slri_region_create();
    slr_status status = check->region ? check_entry(check, &whole) : SLRI_FAIL(NO_MEMORY, "no memory for a check");
    if (status == SLR_OK)
        *out = check;
    else
        slr_check_destroy(check);
    return status;
}

slr_status slr_kernel_check(slr_kernel *kernel, const slr_check_desc *desc, slr_check **out)
{
    if (!kernel || !out)
        return SLRI_FAIL(INVALID, "slr_kernel_check: %s is NULL", kernel ? "out" : "kernel");
    return make(kernel->program, kernel->entry, desc, out);
}

static slr_status find_handler(const struct slri_module *module, const char *name, const struct slri_entry **out)
{
    uint32_t handlers = 0;
    for (uint32_t i = 0; i < module->entries; i++) {
        const struct slri_entry *entry = &module->entry[i];
        if (entry->kind == SLRI_ENTRY_KERNEL || (name && strcmp(name, entry->name) != 0))
            continue;
        *out = entry;
        handlers++;
    }
    if (handlers == 1)
        return SLR_OK;
    return name ? SLRI_FAIL(NOT_FOUND, "'%s' has no handler '%s'", module->name, name)
                : SLRI_FAIL(NOT_FOUND, "'%s' has %u handlers: give a name", module->name, handlers);
}

slr_status slr_handler_check(slr_program *program, const char *name, const slr_check_desc *desc, slr_check **out)
{
    const struct slri_entry *entry = NULL;
    if (!program || !out)
        return SLRI_FAIL(INVALID, "slr_handler_check: %s is NULL", program ? "out" : "program");
    SLRI_TRY(find_handler(program->module, name, &entry));
    return make(program, entry, desc, out);
}

void slr_check_destroy(slr_check *check)
{
    if (check == NULL)
        return;
    slri_region_destroy(check->region);
    slri_program_release(check->program);
    slri_free(NULL, check, sizeof *check);
}

// ---- asking --------------------------------------------------------------------------------------------------------

slr_status slr_check_get_info_sized(const slr_check *check, slr_check_info *out, size_t bytes)
{
    if (!check || !out)
        return SLRI_FAIL(INVALID, "slr_check_get_info: %s is NULL", check ? "out" : "check");
    const slr_check_info whole = {.kernel = check->entry->name,
                                  .findings = check->findings.count,
                                  .errors = slri_findings_count(&check->findings, SLR_CHECK_ERROR),
                                  .warnings = slri_findings_count(&check->findings, SLR_CHECK_WARNING),
                                  .notes = slri_findings_count(&check->findings, SLR_CHECK_NOTE),
                                  .launches = check->launches};
    return SLRI_GIVE_REPORT(slr_check_info, out, bytes, &whole);
}

slr_status(slr_check_get_info)(const slr_check *check, slr_check_info *out)
{
    return slr_check_get_info_sized(check, out, SLRI_FIRST_slr_check_info);
}

static slr_check_place check_place_of(const slr_check *check, struct slri_where where,
                                      const struct slri_check_thread *by)
{
    slr_check_place place = {0};
    if (where.line == 0)
        return place;
    place.file = check->program->module->file[where.file];
    place.line = where.line;
    place.column = where.column;
    memcpy(place.block, by->block, sizeof place.block);
    memcpy(place.thread, by->thread, sizeof place.thread);
    return place;
}

slr_status slr_check_get_finding_sized(const slr_check *check, uint32_t index, slr_check_finding *out, size_t bytes)
{
    if (!check || !out)
        return SLRI_FAIL(INVALID, "slr_check_get_finding: %s is NULL", check ? "out" : "check");
    if (index >= check->findings.count)
        return SLRI_FAIL(NOT_FOUND, "the check has %u findings, number %u was asked for", check->findings.count, index);
    const struct slri_finding *finding = &check->findings.list[index];
    const slr_check_finding whole = {.code = finding->code,
                                     .level = finding->level,
                                     .name = slri_check_name(finding->code),
                                     .message = finding->message,
                                     .advice = slri_check_advice(finding->code),
                                     .at = check_place_of(check, finding->at, &finding->by),
                                     .other = check_place_of(check, finding->other, &finding->by_other),
                                     .count = finding->count,
                                     .launch = finding->launch,
                                     .give = finding->give};
    return SLRI_GIVE_REPORT(slr_check_finding, out, bytes, &whole);
}

const struct slri_finding *slri_check_finding_at(const slr_check *check, uint32_t index)
{
    return index < check->findings.count ? &check->findings.list[index] : NULL;
}

slr_status(slr_check_get_finding)(const slr_check *check, uint32_t index, slr_check_finding *out)
{
    return slr_check_get_finding_sized(check, index, out, SLRI_FIRST_slr_check_finding);
}

slr_status slr_check_get_launch_sized(const slr_check *check, uint32_t index, slr_check_launch *out, size_t bytes)
{
    if (!check || !out)
        return SLRI_FAIL(INVALID, "slr_check_get_launch: %s is NULL", check ? "out" : "check");
    if (index >= check->launches)
        return SLRI_FAIL(NOT_FOUND, "the check has %u launches, number %u was asked for", check->launches, index);
    return SLRI_GIVE_REPORT(slr_check_launch, out, bytes, &check->launch[index]);
}

slr_status(slr_check_get_launch)(const slr_check *check, uint32_t index, slr_check_launch *out)
{
    return slr_check_get_launch_sized(check, index, out, SLRI_FIRST_slr_check_launch);
}

slr_status slr_check_get_line_sized(const slr_check *check, uint32_t index, slr_check_line *out, size_t bytes)
{
    if (!check || !out)
        return SLRI_FAIL(INVALID, "slr_check_get_line: %s is NULL", check ? "out" : "check");
    if (index >= check->line_count)
        return SLRI_FAIL(NOT_FOUND, "the check has %u lines, number %u was asked for", check->line_count, index);
    return SLRI_GIVE_REPORT(slr_check_line, out, bytes, &check->lines[index]);
}

slr_status(slr_check_get_line)(const slr_check *check, uint32_t index, slr_check_line *out)
{
    return slr_check_get_line_sized(check, index, out, SLRI_FIRST_slr_check_line);
}
