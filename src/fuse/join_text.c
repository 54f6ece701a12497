// SPDX-License-Identifier: Apache-2.0
// Joined kernels as the source of one.
#include "base/status.h"
#include "fuse/join.h"
#include "fuse/printing.h"

#include <stdio.h>
#include <string.h>

struct joining {
    struct slri_join *join;
    struct slri_name_list *names; // at file scope
    struct slri_name_list local;  // in the kernel
    struct slri_text *out;
};

// ---- functions that the parts call ---------------------------------------------------------------------------------

struct calling {
    const struct slri_module *module;
    bool *is_called; // one for each function
};

static bool note_call(void *user, const struct slri_instr *instr, uint32_t depth)
{
    struct calling *at = user;
    (void)depth;
    if (instr->op == SLRI_OP_CALL)
        at->is_called[instr->callee->index] = true;
    return true;
}

static void note_calls(struct calling *at, const struct slri_block *block)
{
    for (uint32_t i = 0; block && i < block->count; ++i) {
        note_call(at, &block->instr[i], 0);
        for (int k = 0; k < 3; ++k)
            note_calls(at, block->instr[i].body[k]);
        for (uint32_t k = 0; k < block->instr[i].cases; ++k)
            note_calls(at, block->instr[i].match[k].body);
    }
}

// Those of one part's module that no earlier part has written. `name` receives the name of each.
static slr_status write_functions(struct joining *j, const struct slri_join_part *part, const char **name)
{
    const struct slri_module *module = part->module;
    struct calling at = {module, slri_region_take(j->join->region, module->functions + 1)};
    if (!at.is_called)
        return SLRI_FAIL(NO_MEMORY, "no memory to fuse kernels");
    slri_part_walk(&part->part, note_call, &at);
    for (uint32_t i = module->functions; i-- > 0;) // callees come before their callers
        if (at.is_called[i])
            note_calls(&at, module->function[i]->body);
    for (uint32_t i = 0; i < module->functions; ++i) {
        if (!at.is_called[i] || name[i])
            continue;
        struct slri_name_list own = {.region = j->join->region};
        for (uint32_t k = 0; k < j->names->count; ++k) // no variable hides a function
            slri_name_unique(&own, j->names->name[k]);
        char why[200] = "";
        name[i] = slri_name_unique(j->names, module->function[i]->name);
        slr_status status = slri_print_function(module, module->function[i], name, name[i], &own, j->out, why);
        if (status == SLR_UNSUPPORTED)
            snprintf(j->join->why, sizeof j->join->why, "%s: %s", part->entry->name, why);
        SLRI_TRY(status);
    }
    return SLR_OK;
}

// The list of names of the module's functions: one for all parts of a module.
static slr_status write_all_functions(struct joining *j, const char ***name)
{
    for (uint32_t i = 0; i < j->join->parts; ++i) {
        const struct slri_join_part *part = &j->join->part[i];
        name[i] = NULL;
        for (uint32_t k = 0; k < i && !name[i]; ++k)
            name[i] = j->join->part[k].module == part->module ? name[k] : NULL;
        if (!name[i])
            name[i] = slri_region_take(j->join->region, (part->module->functions + 1) * sizeof **name);
        if (!name[i])
            return SLRI_FAIL(NO_MEMORY, "no memory to fuse kernels");
        SLRI_TRY(write_functions(j, part, name[i]));
    }
    return SLR_OK;
}

// ---- the kernel ----------------------------------------------------------------------------------------------------

static void name_objects(struct joining *j)
{
    for (uint32_t i = 0; i < j->join->objects; ++i) {
        j->join->object[i].name = slri_name_unique(&j->local, j->join->object[i].name);
        j->join->object[i].parameter = UINT32_MAX;
    }
}

// A parameter, if the body has need of it. Nothing else points into the buffers: who launches it with two that are one
// is refused, for a variable keeps one's element while the other is written.
static void write_object(struct slri_text *out, struct slri_join_object *object, const char *body, uint32_t *parameters)
{
    if (!slri_mentions_name(body, object->name))
        return;
    object->parameter = (*parameters)++;
    slri_text_printf(out, "%s%s%s %s%s", object->parameter ? ", " : "",
                     object->is_buffer && !object->is_stored ? "const " : "", slri_kind_source(object->type->kind),
                     object->is_buffer ? "*__restrict__ " : "", object->name);
}

static void write_head_of_join(struct joining *j, struct slri_text *out, const char *body)
{
    const struct slri_join *join = j->join;
    uint32_t parameters = 0, most_threads = 0;
    for (uint32_t i = 0; i < join->parts; ++i) {
        uint32_t most = join->part[i].entry->max_threads;
        most_threads = most && (!most_threads || most < most_threads) ? most : most_threads;
    }
    slri_text_puts(out, "__global__ void ");
    if (most_threads)
        slri_text_printf(out, "__launch_bounds__(%u) ", most_threads);
    slri_text_printf(out, "%s(", join->name);
    for (uint32_t i = 0; i < join->objects; ++i)
        write_object(out, &join->object[i], body, &parameters);
    slri_text_puts(out, ")\n{\n");
}

static const char *write_guard(struct joining *j)
{
    const struct slri_join_part *first = &j->join->part[0];
    const struct slri_part *part = &first->part;
    const char *index = slri_name_unique(&j->local, "i"), *kind = slri_kind_source(part->kind);
    char wide[40] = "";
    struct slri_text bound = SLRI_TEXT_INIT;
    if (part->is_wide)
        snprintf(wide, sizeof wide, "(%s)", kind);
    slri_print_constant(part->kind, part->bound_value, &bound);
    const char *n =
        part->bound == UINT32_MAX ? slri_text_view(&bound) : j->join->object[first->object[part->bound]].name;
    if (part->form == SLRI_PART_STRIDE)
        slri_text_printf(j->out,
                         "    for (%s %s = %sblockIdx.x * blockDim.x + threadIdx.x; %s < %s; %s += %sgridDim.x * "
                         "blockDim.x) {\n",
                         kind, index, wide, index, n, index, wide);
    else
        slri_text_printf(j->out, "    const %s %s = %sblockIdx.x * blockDim.x + threadIdx.x;\n    if (%s < %s) {\n",
                         kind, index, wide, index, n);
    slri_text_free(&bound);
    return index;
}

static void declare_elements(struct joining *j, const char *index)
{
    for (uint32_t i = 0; i < j->join->objects; ++i) {
        struct slri_join_object *object = &j->join->object[i];
        if (!object->is_buffer || !object->is_in_variable)
            continue;
        char name[160];
        snprintf(name, sizeof name, "%.100s_%s", object->name, index);
        object->variable = slri_name_unique(&j->local, name);
        object->is_undeclared = !object->is_loaded;
        if (object->is_loaded)
            slri_text_printf(j->out, "        %s%s %s = %s[%s];\n", object->is_written ? "" : "const ",
                             slri_kind_source(object->type->kind), object->variable, object->name, index);
    }
}

static slr_status write_part(struct joining *j, const struct slri_join_part *part, const char *index,
                             const char *const *function)
{
    char why[200] = "";
    struct slri_spelling *spelling = slri_region_take(j->join->region, (part->entry->bindings + 1) * sizeof *spelling);
    if (!spelling)
        return SLRI_FAIL(NO_MEMORY, "no memory to fuse kernels");
    for (uint32_t i = 0; i < part->entry->bindings; ++i) {
        struct slri_join_object *object = &j->join->object[part->object[i]];
        spelling[i] = (struct slri_spelling){object->name, object->variable, &object->is_undeclared};
    }
    const struct slri_print_part print = {&part->part, spelling, index, j->join->part[0].part.kind, function};
    slri_text_printf(j->out, "        // %s\n", part->entry->name);
    slr_status status = slri_print_body(&print, &j->local, 8, j->out, why);
    if (status == SLR_UNSUPPORTED)
        snprintf(j->join->why, sizeof j->join->why, "%s: %s", part->entry->name, why);
    return status;
}

static void write_results(struct joining *j, const char *index)
{
    for (uint32_t i = 0; i < j->join->objects; ++i) {
        const struct slri_join_object *object = &j->join->object[i];
        if (object->variable && object->is_stored)
            slri_text_printf(j->out, "        %s[%s] = %s;\n", object->name, index, object->variable);
    }
    slri_text_puts(j->out, "    }\n}\n");
}

slr_status slri_join_write(struct slri_join *join, struct slri_name_list *names, struct slri_text *out)
{
    struct joining j = {.join = join, .names = names, .local = {.region = join->region}, .out = out};
    const char **function[SLRI_JOIN_PARTS];
    join->name = slri_name_unique(names, join->name);
    SLRI_TRY(write_all_functions(&j, function));
    for (uint32_t i = 0; i < names->count; ++i) // no variable hides a function
        slri_name_unique(&j.local, names->name[i]);
    slri_text_puts(out, "// Fused by slipring:");
    for (uint32_t i = 0; i < join->parts; ++i)
        slri_text_printf(out, "%s %s", i ? "," : "", join->part[i].entry->name);
    slr_fusion_info info;
    slri_join_count(join, &info);
    slri_text_printf(out, ".\n// %llu bytes an element instead of %llu.\n", (unsigned long long)info.bytes_an_element,
                     (unsigned long long)info.bytes_apart);
    slri_text_puts(out, "// For the same bits everywhere compile it with nvcc --fmad=false.\n");
    struct slri_text body = SLRI_TEXT_INIT;
    j.out = &body;
    name_objects(&j);
    const char *index = write_guard(&j);
    declare_elements(&j, index);
    slr_status status = SLR_OK;
    for (uint32_t i = 0; i < join->parts && status == SLR_OK; ++i)
        status = write_part(&j, &join->part[i], index, function[i]);
    write_results(&j, index);
    write_head_of_join(&j, out, slri_text_view(&body));
    slri_text_puts(out, slri_text_view(&body));
    bool lacks = body.out_of_memory;
    slri_text_free(&body);
    SLRI_TRY(status);
    return lacks || out->out_of_memory || j.local.out_of_memory || names->out_of_memory
               ? SLRI_FAIL(NO_MEMORY, "no memory for the source of a fused kernel")
               : SLR_OK;
}
