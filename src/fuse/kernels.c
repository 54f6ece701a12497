// SPDX-License-Identifier: Apache-2.0
// slr_fuse_kernels: kernels of programs, joined by the names of their parameters.
#include "base/sized.h"
#include "base/status.h"
#include "fuse/fuse.h"
#include "fuse/join.h"

#include <stdio.h>
#include <string.h>

struct naming {
    const slr_kernel_fusion_desc *desc;
    struct slri_join *join;
    uint32_t *object[SLRI_JOIN_PARTS]; // of each part's bindings
};

// ---- parts ---------------------------------------------------------------------------------------------------------

static slr_status take_part(struct naming *at, uint32_t i, struct slri_text *name)
{
    const slr_fusion_part *given = &at->desc->parts[i];
    slr_kernel *kernel;
    if (!given->program)
        return SLRI_FAIL(INVALID, "slr_kernel_fusion_desc: the program of part %u is NULL", i);
    if (given->program->device != at->desc->parts[0].program->device)
        return SLRI_FAIL(INVALID, "slr_kernel_fusion_desc: part %u belongs to another device than part 0", i);
    SLRI_TRY(slr_program_get_kernel(given->program, given->kernel, &kernel));
    struct slri_join_part *part = &at->join->part[i];
    part->module = given->program->module;
    part->entry = kernel->entry;
    slr_kernel_destroy(kernel); // the program keeps the entry
    at->object[i] = slri_region_take(at->join->region, (part->entry->bindings + 1) * sizeof *at->object[i]);
    part->object = at->object[i];
    slri_text_printf(name, "%s%s", i ? "_" : "", part->entry->name);
    return at->object[i] ? SLR_OK : SLRI_FAIL(NO_MEMORY, "no memory to fuse kernels");
}

static slr_status take_parts(struct naming *at, struct slri_text *name)
{
    uint32_t bindings = 0;
    for (uint32_t i = 0; i < at->desc->part_count; ++i) {
        SLRI_TRY(take_part(at, i, name));
        bindings += at->join->part[i].entry->bindings;
    }
    at->join->parts = at->desc->part_count;
    at->join->object = slri_region_take(at->join->region, (bindings + 1) * sizeof *at->join->object);
    return at->join->object ? SLR_OK : SLRI_FAIL(NO_MEMORY, "no memory to fuse kernels");
}

// ---- which parameters are one --------------------------------------------------------------------------------------

static bool are_alike(const struct slri_binding_info *a, const struct slri_binding_info *b)
{
    return a->is_buffer == b->is_buffer && a->type->kind == b->type->kind && a->type->bytes == b->type->bytes;
}

static uint32_t add_object(struct slri_join *join, const struct slri_binding_info *binding)
{
    join->object[join->objects] = (struct slri_join_object){
        .name = binding->name, .type = binding->type, .is_buffer = binding->is_buffer, .parameter = UINT32_MAX};
    return join->objects++;
}

// The buffers of a part that a join names are only what joins say.
static bool is_told(const struct naming *at, uint32_t part)
{
    for (uint32_t i = 0; i < at->desc->join_count; ++i)
        if (at->desc->joins[i].other_part == part)
            return true;
    return false;
}

static uint32_t find_object(const struct naming *at, uint32_t part, const struct slri_binding_info *binding)
{
    for (uint32_t i = part; i-- > 0;)
        for (uint32_t k = 0; k < at->join->part[i].entry->bindings; ++k) {
            const struct slri_binding_info *other = &at->join->part[i].entry->binding[k];
            if (strcmp(other->name, binding->name) == 0 && are_alike(other, binding))
                return at->object[i][k];
        }
    return UINT32_MAX;
}

static void join_by_name(struct naming *at)
{
    for (uint32_t i = 0; i < at->join->parts; ++i)
        for (uint32_t k = 0; k < at->join->part[i].entry->bindings; ++k) {
            const struct slri_binding_info *binding = &at->join->part[i].entry->binding[k];
            uint32_t found = binding->is_buffer && is_told(at, i) ? UINT32_MAX : find_object(at, i, binding);
            at->object[i][k] = found == UINT32_MAX ? add_object(at->join, binding) : found;
        }
}

// What a part does with a buffer, by its loads and stores: many kernels only read a parameter without `const`.
struct use {
    uint32_t binding;
    bool reads, writes;
};

static bool note_use(void *user, const struct slri_instr *instr, uint32_t depth)
{
    struct use *use = user;
    (void)depth;
    if (instr->root.kind == SLRI_ROOT_BINDING && instr->root.index == use->binding) {
        use->reads = use->reads || instr->op == SLRI_OP_LOAD;
        use->writes = use->writes || instr->op == SLRI_OP_STORE;
    }
    return true;
}

static struct use use_of(const struct slri_join_part *part, uint32_t binding)
{
    struct use use = {.binding = binding};
    slri_part_walk(&part->part, note_use, &use);
    return use;
}

// The only buffer that the part writes (or reads and does not write), or UINT32_MAX.
static uint32_t only_buffer(const struct slri_join_part *part, bool writes)
{
    uint32_t found = UINT32_MAX, count = 0;
    for (uint32_t k = 0; k < part->entry->bindings; ++k) {
        const struct use use = use_of(part, k);
        if (part->entry->binding[k].is_buffer && (writes ? use.writes : use.reads && !use.writes)) {
            found = k;
            ++count;
        }
    }
    return count == 1 ? found : UINT32_MAX;
}

static bool shares_buffer(const struct naming *at, uint32_t part)
{
    for (uint32_t k = 0; k < at->join->part[part].entry->bindings; ++k)
        for (uint32_t m = 0; m < at->join->part[part - 1].entry->bindings; ++m)
            if (at->object[part][k] == at->object[part - 1][m] && at->join->object[at->object[part][k]].is_buffer)
                return true;
    return false;
}

static void make_one(struct naming *at, uint32_t kept, uint32_t gone)
{
    for (uint32_t i = 0; i < at->join->parts; ++i)
        for (uint32_t k = 0; k < at->join->part[i].entry->bindings; ++k)
            if (at->object[i][k] == gone)
                at->object[i][k] = kept;
}

static void join_only_buffers(struct naming *at)
{
    for (uint32_t i = 1; i < at->join->parts; ++i) {
        const struct slri_join_part *before = &at->join->part[i - 1], *part = &at->join->part[i];
        uint32_t from = only_buffer(before, true), to = only_buffer(part, false);
        if (!shares_buffer(at, i) && from != UINT32_MAX && to != UINT32_MAX &&
            are_alike(&before->entry->binding[from], &part->entry->binding[to]))
            make_one(at, at->object[i - 1][from], at->object[i][to]);
    }
}

static slr_status find_parameter(const struct naming *at, uint32_t part, const char *name, uint32_t *out)
{
    if (part >= at->join->parts || !name)
        return SLRI_FAIL(INVALID, "slr_kernel_fusion_desc: a join names part %u of %u, or no parameter", part,
                         at->join->parts);
    const struct slri_entry *entry = at->join->part[part].entry;
    for (uint32_t k = 0; k < entry->bindings; ++k)
        if (strcmp(entry->binding[k].name, name) == 0) {
            *out = k;
            return SLR_OK;
        }
    return SLRI_FAIL(NOT_FOUND, "kernel %s (part %u) has no parameter '%s'", entry->name, part, name);
}

static slr_status join_as_told(struct naming *at)
{
    for (uint32_t i = 0; i < at->desc->join_count; ++i) {
        const slr_fusion_join *told = &at->desc->joins[i];
        uint32_t one, other;
        SLRI_TRY(find_parameter(at, told->part, told->parameter, &one));
        SLRI_TRY(find_parameter(at, told->other_part, told->other, &other));
        if (!are_alike(&at->join->part[told->part].entry->binding[one],
                       &at->join->part[told->other_part].entry->binding[other]))
            return SLRI_FAIL(INVALID, "'%s' of part %u and '%s' of part %u differ in type", told->parameter, told->part,
                             told->other, told->other_part);
        make_one(at, at->object[told->part][one], at->object[told->other_part][other]);
    }
    return SLR_OK;
}

// ---- intermediates -------------------------------------------------------------------------------------------------

// The last part that writes the object, and the last that reads it and does not write it, from 1; 0: none.
static void find_last(const struct naming *at, uint32_t object, uint32_t *writer, uint32_t *reader)
{
    *writer = *reader = 0;
    for (uint32_t i = 0; i < at->join->parts; ++i)
        for (uint32_t k = 0; k < at->join->part[i].entry->bindings; ++k)
            if (at->object[i][k] == object) {
                const struct use use = use_of(&at->join->part[i], k);
                *writer = use.writes ? i + 1 : *writer;
                *reader = use.reads && !use.writes ? i + 1 : *reader;
            }
}

static void mark_intermediates(struct naming *at)
{
    for (uint32_t i = 0; i < at->join->objects; ++i) {
        uint32_t writer, reader;
        find_last(at, i, &writer, &reader);
        at->join->object[i].is_unread = at->join->object[i].is_buffer && writer != 0 && reader > writer;
    }
}

static slr_status keep_as_told(struct naming *at)
{
    for (uint32_t i = 0; i < at->desc->keep_count; ++i) {
        bool found = false;
        for (uint32_t p = 0; p < at->join->parts; ++p)
            for (uint32_t k = 0; k < at->join->part[p].entry->bindings; ++k)
                if (at->desc->keep[i] && strcmp(at->join->part[p].entry->binding[k].name, at->desc->keep[i]) == 0) {
                    at->join->object[at->object[p][k]].is_unread = false;
                    found = true;
                }
        if (!found)
            return SLRI_FAIL(NOT_FOUND, "no part has a buffer '%s' to keep",
                             at->desc->keep[i] ? at->desc->keep[i] : "NULL");
    }
    return SLR_OK;
}

// ---- the call ------------------------------------------------------------------------------------------------------

static slr_status plan_by_names(struct naming *at, struct slri_text *name)
{
    SLRI_TRY(take_parts(at, name));
    at->join->name = at->desc->name ? at->desc->name : slri_text_view(name);
    join_by_name(at);
    SLRI_TRY(join_as_told(at));
    SLRI_TRY(slri_join_read(at->join));
    join_only_buffers(at);
    mark_intermediates(at);
    SLRI_TRY(keep_as_told(at));
    SLRI_TRY(slri_join_plan(at->join));
    return at->desc->always ? SLR_OK : slri_join_weigh(at->join, 0);
}

static slr_status make_kernel(struct naming *at, slr_kernel **out, slr_fusion_info *info)
{
    struct slri_text name = SLRI_TEXT_INIT, source = SLRI_TEXT_INIT;
    struct slri_name_list names = {.region = at->join->region};
    slr_status status = plan_by_names(at, &name);
    if (status == SLR_OK)
        status = slri_join_write(at->join, &names, &source);
    if (status == SLR_OK) {
        slri_join_count(at->join, info);
        status = slri_fused_compile(at->desc->parts[0].program->device, at->join->name, &source, out, &info->source);
    }
    slri_text_free(&name);
    slri_text_free(&source);
    return status;
}

static slr_status check_desc(const slr_kernel_fusion_desc *desc)
{
    if (desc->part_count < 2 || desc->part_count > SLRI_JOIN_PARTS || !desc->parts)
        return SLRI_FAIL(INVALID, "slr_kernel_fusion_desc: part_count is %u; expected 2 to %u, and parts",
                         desc->part_count, SLRI_JOIN_PARTS);
    if (desc->name)
        SLRI_TRY(slri_fused_check_name(desc->name));
    if ((desc->join_count && !desc->joins) || (desc->keep_count && !desc->keep))
        return SLRI_FAIL(INVALID, "slr_kernel_fusion_desc: a count is not 0 but its array is NULL");
    return SLR_OK;
}

slr_status slr_fuse_kernels_sized(const slr_kernel_fusion_desc *desc, slr_kernel **out, slr_fusion_info *info,
                                  size_t bytes)
{
    slr_kernel_fusion_desc whole;
    slr_fusion_info report;
    if (!desc || !out)
        return SLRI_FAIL(INVALID, "slr_fuse_kernels: %s is NULL", desc ? "out" : "desc");
    SLRI_TRY(SLRI_TAKE_DESC(slr_kernel_fusion_desc, &whole, desc));
    SLRI_TRY(check_desc(&whole));
    SLRI_TRY(info ? SLRI_CHECK_REPORT(slr_fusion_info, bytes) : SLR_OK);
    struct slri_region *region = slri_region_create();
    struct slri_join *join = region ? slri_region_take(region, sizeof *join) : NULL;
    slr_status status = SLRI_FAIL(NO_MEMORY, "no memory to fuse kernels");
    if (join) {
        join->region = region;
        struct naming at = {.desc = &whole, .join = join};
        status = make_kernel(&at, out, &report);
    }
    slri_region_destroy(region);
    return status == SLR_OK && info ? SLRI_GIVE_REPORT(slr_fusion_info, info, bytes, &report) : status;
}

slr_status(slr_fuse_kernels)(const slr_kernel_fusion_desc *desc, slr_kernel **out, slr_fusion_info *info)
{
    return slr_fuse_kernels_sized(desc, out, info, SLRI_FIRST_slr_fusion_info);
}
