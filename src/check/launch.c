// SPDX-License-Identifier: Apache-2.0
#include "check/launch.h"

#include "base/status.h"
#include "lang/kernel.h"
#include "ir/type.h"

#include <slipring/buffer.h>

#include <stdio.h>
#include <string.h>

#define RESIDENT_BLOCKS 4
#define VALUES_BYTES (UINT64_C(1) << 28) // of the words beside all threads' stacks

// ---- slots ---------------------------------------------------------------------------------------------------------

static void add_slot(struct slri_plan *plan, uint32_t binding, uint64_t offset, enum slri_kind kind, const char *name)
{
    if (plan->slots == SLRI_SLOTS_MAX)
        return;
    struct slri_slot *slot = &plan->slot[plan->slots++];
    *slot = (struct slri_slot){.binding = binding, .offset = offset, .kind = kind};
    snprintf(slot->name, sizeof slot->name, "%s", name);
}

static void add_fields(struct slri_plan *plan, uint32_t binding, const struct slri_type *type, uint64_t offset)
{
    for (uint32_t i = 0; i < type->fields; i++) {
        const struct slri_field *field = &type->field[i];
        if (field->type->kind == SLRI_STRUCT)
            add_fields(plan, binding, field->type, offset + field->offset);
        else if (slri_is_whole(field->type->kind))
            add_slot(plan, binding, offset + field->offset, field->type->kind, field->name);
    }
}

void slri_plan_find_slots(struct slri_plan *plan)
{
    for (uint32_t i = 0; i < plan->entry->bindings; i++) {
        const struct slri_binding_info *info = &plan->entry->binding[i];
        if (info->is_buffer)
            continue;
        if (info->type->kind == SLRI_STRUCT)
            add_fields(plan, i, info->type, 0);
        else if (slri_is_whole(info->type->kind))
            add_slot(plan, i, 0, info->type->kind, info->name);
    }
}

bool slri_plan_is_given(const struct slri_plan *plan, uint32_t slot)
{
    return plan->given[plan->slot[slot].binding] != NULL;
}

// ---- arguments -----------------------------------------------------------------------------------------------------

static slr_status no_memory(const struct slri_plan *plan)
{
    return SLRI_FAIL(NO_MEMORY, "no memory to check kernel %s", plan->entry->name);
}

static slr_status give(const struct slri_plan *plan, struct slri_region *region, uint32_t index, struct slri_bound *out)
{
    const slr_check_argument *given = plan->given[index];
    bool is_buffer = plan->entry->binding[index].is_buffer;
    void *room = slri_region_take(region, is_buffer ? 1 : plan->entry->binding[index].type->bytes);
    if (room == NULL)
        return no_memory(plan);
    SLRI_TRY(slri_argument_settle(plan->program, plan->entry, index, &given->arg, room, out));
    if (!is_buffer)
        return SLR_OK;
    out->data = slri_region_take(region, out->bytes);
    if (out->data == NULL)
        return no_memory(plan);
    return slr_buffer_read(given->arg.value.buffer, 0, out->data, out->bytes);
}

static slr_status make_launch(const struct slri_plan *plan, const struct slri_trial *trial, struct slri_region *region,
                              uint32_t index, struct slri_bound *out)
{
    const struct slri_binding_info *info = &plan->entry->binding[index];
    if (info->is_outlet)
        return SLR_OK;
    out->bytes = info->is_buffer ? trial->bytes[index] : info->type->bytes;
    out->data = slri_region_take(region, out->bytes + 16);
    if (out->data == NULL)
        return no_memory(plan);
    if (info->is_buffer)
        slri_fill_buffer(plan, trial, index, out->data);
    else
        slri_fill_value(plan, trial, index, out->data);
    return SLR_OK;
}

// ---- running -------------------------------------------------------------------------------------------------------

static slr_status choose_residents(const struct slri_plan *plan, const struct slri_trial *trial, uint32_t *out)
{
    const uint32_t index = plan->entry->function->index;
    uint64_t threads = (uint64_t)trial->block[0] * trial->block[1] * trial->block[2];
    uint64_t bytes = threads * plan->interp->flat.function[index].stack_bytes;
    uint64_t blocks = slri_plan_is_handler(plan)
                          ? 1
                          : (uint64_t)trial->grid[0] * trial->grid[1] * trial->grid[2]; // one after another
    if (bytes > VALUES_BYTES)
        return SLRI_FAIL(UNSUPPORTED,
                         "%s: a block of %llu threads needs %llu MiB of stack for the check; the limit is %llu: check "
                         "it with smaller blocks",
                         plan->entry->name, (unsigned long long)threads, (unsigned long long)(bytes >> 20),
                         (unsigned long long)(VALUES_BYTES >> 20));
    if (blocks > UINT32_MAX - 1)
        return SLRI_FAIL(INVALID, "kernel %s: a grid of %llu blocks is too large to be checked", plan->entry->name,
                         (unsigned long long)blocks);
    *out = (uint32_t)(blocks < RESIDENT_BLOCKS ? blocks : RESIDENT_BLOCKS);
    if (bytes * *out > VALUES_BYTES)
        *out = 1;
    return SLR_OK;
}

static slr_status bind(const struct slri_plan *plan, const struct slri_trial *trial, struct slri_region *region,
                       struct slri_bound *bound)
{
    for (uint32_t i = 0; i < plan->entry->bindings; i++)
        SLRI_TRY(plan->given[i] ? give(plan, region, i, &bound[i]) : make_launch(plan, trial, region, i, &bound[i]));
    return SLR_OK;
}

static slr_status run_grid(const struct slri_plan *plan, const struct slri_trial *trial, struct slri_run *run,
                           struct slri_grid *grid, struct slri_outcome *outcome)
{
    struct slri_watch watch;
    struct slri_grid_end end;
    struct slri_traffic traffic;
    if (outcome->counts_traffic) {
        run->traffic = &traffic;
        if (!slri_traffic_create(&traffic, run->region, run->flat))
            return no_memory(plan);
    }
    if (!slri_run_prepare(run, &watch))
        return no_memory(plan);
    grid->watch = &watch;
    if (slri_plan_is_handler(plan)) {
        SLRI_TRY(slri_messages_run(plan, trial, run, grid, outcome));
        return run->out_of_memory || outcome->findings.out_of_memory ? no_memory(plan) : SLR_OK;
    }
    SLRI_TRY(slri_interpret_grid(plan->interp, grid, &end));
    slri_run_judge(run, &end);
    if (outcome->counts_traffic) {
        slri_traffic_end(&traffic);
        slri_traffic_judge(&traffic, run->findings);
        if (!slri_traffic_lines(&traffic, outcome->findings.region, &outcome->lines, &outcome->line_count))
            return no_memory(plan);
    }
    outcome->instructions = end.instructions;
    outcome->was_cut = end.fault == SLRI_FAULT_FUEL;
    return run->out_of_memory || outcome->findings.out_of_memory ? no_memory(plan) : SLR_OK;
}

static slr_status run_in(const struct slri_plan *plan, const struct slri_trial *trial, struct slri_region *region,
                         struct slri_outcome *outcome)
{
    struct slri_bound bound[SLRI_CHECK_PARAMETERS_MAX];
    bool is_made[SLRI_CHECK_PARAMETERS_MAX];
    struct slri_grid grid = {.entry = plan->entry_index,
                             .dynamic_shared = trial->shared_bytes,
                             .arg = bound,
                             .args = plan->entry->bindings,
                             .fuel = trial->fuel,
                             .limit = trial->steps,
                             .lockstep = true};
    memcpy(grid.grid, trial->grid, sizeof grid.grid);
    memcpy(grid.block, trial->block, sizeof grid.block);
    if (!slri_plan_is_handler(plan))
        SLRI_TRY(slri_kernel_check_shape(plan->entry, grid.grid, grid.block, grid.dynamic_shared));
    SLRI_TRY(choose_residents(plan, trial, &grid.resident));
    SLRI_TRY(bind(plan, trial, region, bound));
    for (uint32_t i = 0; i < plan->entry->bindings; i++)
        is_made[i] = plan->given[i] == NULL;
    for (uint32_t i = 0; i < SLRI_SOURCES_MAX; i++)
        outcome->lessons.limit[i] = UINT64_MAX;
    struct slri_made made;
    slri_plan_made(plan, &made);
    struct slri_run run = {.region = region,
                           .made = slri_plan_is_handler(plan) ? NULL : &made,
                           .flat = &plan->interp->flat,
                           .module = plan->module,
                           .entry = plan->entry,
                           .grid = &grid,
                           .findings = &outcome->findings,
                           .lessons = &outcome->lessons,
                           .is_unset = plan->is_unset,
                           .is_made = is_made,
                           .is_short = trial->is_short,
                           .slot = plan->slot,
                           .slots = plan->slots};
    return run_grid(plan, trial, &run, &grid, outcome);
}

slr_status slri_trial_run(const struct slri_plan *plan, const struct slri_trial *trial, struct slri_outcome *outcome)
{
    struct slri_region *region = slri_region_create();
    if (region == NULL)
        return no_memory(plan);
    bool is_kept = outcome->findings.region != NULL;
    if (!is_kept)
        outcome->findings.region = region;
    slr_status status = run_in(plan, trial, region, outcome);
    for (uint32_t i = 0; i < outcome->findings.count; i++)
        outcome->misfits += outcome->findings.list[i].code == SLRI_C_OUTSIDE_ARRAY ||
                            outcome->findings.list[i].code == SLRI_C_UNSET_SHARED;
    if (!is_kept)
        outcome->findings.list = NULL, outcome->findings.region = NULL;
    slri_region_destroy(region);
    return status;
}

// ---- in words ------------------------------------------------------------------------------------------------------

static const char *contents_words(const struct slri_plan *plan, const struct slri_trial *trial, uint32_t index)
{
    if (plan->is_unset[index])
        return ", unset";
    if (trial->contents[index] == SLRI_ZEROED)
        return ", zero";
    if (trial->contents[index] == SLRI_RANDOM)
        return ", random";
    return trial->limit[index] ? ", 0 1 2 ... and again" : ", 0 1 2 ...";
}

static void put_slots(const struct slri_plan *plan, const struct slri_trial *trial, uint32_t index, slri_text *to)
{
    const struct slri_type *type = plan->entry->binding[index].type;
    if (type->kind != SLRI_STRUCT && !slri_is_whole(type->kind)) {
        struct slri_host_number read;
        double real = slri_host_number_of(plan, index, &read) ? read.real : 1.5;
        if (type->kind == SLRI_BOOL)
            slri_text_puts(to, real != 0 ? "true" : "false");
        else
            slri_text_printf(to, "%g", real);
        return;
    }
    const char *before = "{";
    for (uint32_t i = 0; i < plan->slots; i++) {
        if (plan->slot[i].binding != index)
            continue;
        if (type->kind != SLRI_STRUCT) {
            slri_text_printf(to, "%lld", (long long)trial->value[i]);
            return;
        }
        slri_text_printf(to, "%s%s = %lld", before, plan->slot[i].name, (long long)trial->value[i]);
        before = ", ";
    }
    slri_text_puts(to, *before == '{' ? "{...}" : ", ...}");
}

const char *slri_trial_words(const struct slri_plan *plan, const struct slri_trial *trial, uint32_t index)
{
    const struct slri_binding_info *info = &plan->entry->binding[index];
    slri_text text = SLRI_TEXT_INIT;
    slri_text_printf(&text, "%s = ", info->name);
    if (plan->given[index]) {
        slri_text_puts(&text, "as given");
        if (plan->is_unset[index])
            slri_text_puts(&text, ", unset");
    } else if (info->is_buffer) {
        slri_type_spell_to(&text, info->type);
        slri_text_printf(&text, "[%llu]%s", (unsigned long long)(trial->bytes[index] / info->type->bytes),
                         contents_words(plan, trial, index));
        if (trial->why[index])
            slri_text_printf(&text, " (%s)", trial->why[index]);
    } else {
        put_slots(plan, trial, index, &text);
    }
    const char *kept = slri_region_text(plan->region, slri_text_view(&text), text.length);
    slri_text_free(&text);
    return kept ? kept : "";
}
