// SPDX-License-Identifier: Apache-2.0
// slr_graph_fuse: neighbours of a recorded list become one kernel, from left to right, as long as they may.
#include "base/alloc.h"
#include "base/sized.h"
#include "base/status.h"
#include "device/graph.h"
#include "device/kernel.h"
#include "fuse/fuse.h"
#include "fuse/join.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct group { // commands that become one
    uint32_t first, count;
    struct slri_join *join;
    slr_buffer **buffer; // of each of its objects, or NULL
    const void **number; // of each of its objects, or NULL
    slr_graph *by;       // the fused launch, recorded
    slr_kernel *kernel;
};

struct fusing {
    slr_graph *graph;
    struct slri_region *region;
    struct slri_name_list names;
    struct slri_text source, why_not;
    struct group *group;
    uint32_t groups;
    slr_fusion_info info;
};

static const struct slri_command *command_at(const struct fusing *f, uint32_t i)
{
    return &f->graph->command[i];
}

static const char *name_at(const struct fusing *f, uint32_t i)
{
    static const char *const names[SLRI_OPS] = {[SLRI_COPY_IN] = "a copy to the device",
                                                [SLRI_COPY_OUT] = "a copy to the host",
                                                [SLRI_COPY] = "a copy",
                                                [SLRI_FILL] = "a fill",
                                                [SLRI_CALL] = "a host function"};
    const struct slri_command *command = command_at(f, i);
    return command->op == SLRI_DISPATCH ? command->dispatch.entry->name
           : names[command->op]         ? names[command->op]
                                        : "another command";
}

// ---- a group as parts and objects ----------------------------------------------------------------------------------

static uint32_t find_buffer(const struct group *group, const slr_buffer *buffer)
{
    for (uint32_t i = 0; i < group->join->objects; ++i)
        if (group->buffer[i] == buffer)
            return i;
    return UINT32_MAX;
}

static uint32_t find_number(const struct group *group, const struct slri_binding_info *binding, const void *value)
{
    for (uint32_t i = 0; i < group->join->objects; ++i) {
        const struct slri_join_object *object = &group->join->object[i];
        if (!object->is_buffer && object->type->kind == binding->type->kind &&
            strcmp(object->name, binding->name) == 0 && memcmp(group->number[i], value, binding->type->bytes) == 0)
            return i;
    }
    return UINT32_MAX;
}

static slr_status take_argument(struct fusing *f, struct group *group, uint32_t command, uint32_t slot, uint32_t *out)
{
    struct slri_join *join = group->join;
    const struct slri_binding_info *binding = &command_at(f, command)->dispatch.entry->binding[slot];
    const void *value = command_at(f, command)->dispatch.bound[slot].data;
    slr_buffer *buffer = binding->is_buffer ? slri_graph_buffer_at(f->graph, command, slot) : NULL;
    if (binding->is_buffer && !buffer)
        return SLRI_FAIL(UNSUPPORTED, "'%s' of %s is NULL", binding->name, name_at(f, command));
    *out = buffer ? find_buffer(group, buffer) : find_number(group, binding, value);
    if (*out == UINT32_MAX) {
        *out = join->objects++;
        join->object[*out] = (struct slri_join_object){
            .name = binding->name, .type = binding->type, .is_buffer = binding->is_buffer, .parameter = UINT32_MAX};
        group->buffer[*out] = buffer;
        group->number[*out] = buffer ? NULL : value;
    }
    if (join->object[*out].type->kind != binding->type->kind)
        return SLRI_FAIL(UNSUPPORTED, "%s has the buffer '%s' as elements of another type", name_at(f, command),
                         binding->name);
    return SLR_OK;
}

static slr_status take_commands(struct fusing *f, struct group *group)
{
    for (uint32_t i = 0; i < group->count; ++i) {
        const struct slri_command *command = command_at(f, group->first + i);
        const slr_kernel *kernel = command->dispatch.kernel;
        uint32_t *object = slri_region_take(f->region, (kernel->entry->bindings + 1) * sizeof *object);
        if (!object)
            return SLRI_FAIL(NO_MEMORY, "no memory to fuse a graph");
        for (uint32_t k = 0; k < kernel->entry->bindings; ++k)
            SLRI_TRY(take_argument(f, group, group->first + i, k, &object[k]));
        group->join->part[i] =
            (struct slri_join_part){.module = kernel->program->module, .entry = kernel->entry, .object = object};
        group->join->parts = i + 1;
    }
    return SLR_OK;
}

static slr_status make_group(struct fusing *f, uint32_t first, uint32_t count, struct group *out)
{
    uint32_t bindings = 1;
    for (uint32_t i = 0; i < count; ++i)
        bindings += command_at(f, first + i)->dispatch.entry->bindings;
    *out = (struct group){.first = first, .count = count};
    out->join = slri_region_take(f->region, sizeof *out->join);
    out->buffer = slri_region_take(f->region, bindings * sizeof *out->buffer);
    out->number = slri_region_take(f->region, bindings * sizeof *out->number);
    if (!out->join || !out->buffer || !out->number)
        return SLRI_FAIL(NO_MEMORY, "no memory to fuse a graph");
    out->join->region = f->region;
    out->join->object = slri_region_take(f->region, bindings * sizeof *out->join->object);
    return out->join->object ? take_commands(f, out) : SLRI_FAIL(NO_MEMORY, "no memory to fuse a graph");
}

// ---- who reads a buffer --------------------------------------------------------------------------------------------

// Nobody but the graph holds the buffer, and no command outside the group uses it.
static bool is_of_group_alone(const struct fusing *f, const struct group *group, const slr_buffer *buffer)
{
    const slr_graph *graph = f->graph;
    uint32_t holds = 0;
    if (buffer->parent)
        return false;
    for (uint32_t i = 0; i < graph->uses; ++i)
        holds += graph->use[i].buffer == buffer;
    for (uint32_t i = 0; i < graph->links; ++i) {
        uint32_t command = graph->link[i].command;
        if (graph->link[i].buffer == buffer && (command < group->first || command >= group->first + group->count))
            return false;
    }
    return __atomic_load_n(&buffer->holds, __ATOMIC_ACQUIRE) == holds;
}

static void mark_unread(const struct fusing *f, struct group *group)
{
    for (uint32_t i = 0; i < group->join->objects; ++i)
        group->join->object[i].is_unread = group->buffer[i] && is_of_group_alone(f, group, group->buffer[i]);
}

static const slr_buffer *root_of(const slr_buffer *buffer)
{
    return buffer->parent ? buffer->parent : buffer;
}

static slr_status check_aliasing(const struct group *group)
{
    const struct slri_join *join = group->join;
    for (uint32_t i = 0; i < join->objects; ++i)
        for (uint32_t k = 0; k < i && group->buffer[i]; ++k) {
            const slr_buffer *a = group->buffer[i], *b = group->buffer[k];
            bool apart = !b || root_of(a) != root_of(b) || a->offset + a->bytes <= b->offset ||
                         b->offset + b->bytes <= a->offset;
            if (!apart && (join->object[i].is_written || join->object[k].is_written))
                return SLRI_FAIL(UNSUPPORTED, "aliasing: '%s' and '%s' are slices of one buffer that overlap",
                                 join->object[k].name, join->object[i].name);
        }
    return SLR_OK;
}

// ---- whether a group may be ----------------------------------------------------------------------------------------

// The number that a part compares its index with.
static bool read_bound(const struct fusing *f, const struct group *group, uint32_t part, int64_t *out)
{
    const struct slri_part *is = &group->join->part[part].part;
    if (is->bound == UINT32_MAX) {
        *out = (int64_t)is->bound_value;
        return true;
    }
    const void *data = command_at(f, group->first + part)->dispatch.bound[is->bound].data;
    int32_t narrow;
    uint32_t plain;
    enum slri_kind kind = is->entry->binding[is->bound].type->kind;
    memcpy(&narrow, data, sizeof narrow);
    memcpy(&plain, data, sizeof plain);
    if (slri_kind_bytes(kind) == 8)
        memcpy(out, data, sizeof *out);
    else
        *out = kind == SLRI_U32 ? (int64_t)plain : narrow;
    return slri_kind_bytes(kind) >= 4;
}

static void read_bounds(const struct fusing *f, const struct group *group)
{
    for (uint32_t i = 0; i < group->count; ++i) {
        struct slri_join_part *part = &group->join->part[i];
        part->is_bound_known = read_bound(f, group, i, &part->bound);
    }
}

static bool same_shape(const struct slri_command *a, const struct slri_command *b)
{
    return memcmp(a->dispatch.grid, b->dispatch.grid, sizeof a->dispatch.grid) == 0 &&
           memcmp(a->dispatch.block, b->dispatch.block, sizeof a->dispatch.block) == 0;
}

static bool is_along_x(const struct slri_command *command)
{
    const uint32_t *grid = command->dispatch.grid, *block = command->dispatch.block;
    return grid[1] == 1 && grid[2] == 1 && block[1] == 1 && block[2] == 1;
}

// Whether `open` and the command after it may be one group.
static slr_status try_group(struct fusing *f, const struct group *open, struct group *out)
{
    uint32_t first = open->first, count = open->count + 1;
    const struct slri_command *last = command_at(f, first + count - 1);
    if (last->op != SLRI_DISPATCH || command_at(f, first)->op != SLRI_DISPATCH)
        return SLRI_FAIL(UNSUPPORTED, "only launches are joined");
    if (count > SLRI_JOIN_PARTS)
        return SLRI_FAIL(UNSUPPORTED, "at most %u launches become one", SLRI_JOIN_PARTS);
    if (!same_shape(command_at(f, first), last))
        return SLRI_FAIL(UNSUPPORTED, "different grids: %u x %u threads and %u x %u along x",
                         command_at(f, first)->dispatch.grid[0], command_at(f, first)->dispatch.block[0],
                         last->dispatch.grid[0], last->dispatch.block[0]);
    if (!is_along_x(last))
        return SLRI_FAIL(UNSUPPORTED, "the grid is not along x alone, so several threads have one element");
    SLRI_TRY(make_group(f, first, count, out));
    mark_unread(f, out);
    SLRI_TRY(slri_join_read(out->join));
    read_bounds(f, out);
    SLRI_TRY(slri_join_plan(out->join));
    SLRI_TRY(check_aliasing(out));
    return slri_join_weigh(out->join, open->join ? slri_join_saving(open->join) : 0);
}

// ---- the kernels ---------------------------------------------------------------------------------------------------

static slr_status write_group(struct fusing *f, struct group *group)
{
    struct slri_text name = SLRI_TEXT_INIT;
    for (uint32_t i = 0; i < group->count; ++i)
        slri_text_printf(&name, "%s%s", i ? "_" : "", group->join->part[i].entry->name);
    size_t length = name.length < 100 ? name.length : 100;
    group->join->name = name.out_of_memory ? NULL : slri_region_text(f->region, name.data, length);
    slri_text_free(&name);
    if (!group->join->name)
        return SLRI_FAIL(NO_MEMORY, "no memory to fuse a graph");
    slri_text_puts(&f->source, f->groups > 1 ? "\n" : "");
    return slri_join_write(group->join, &f->names, &f->source);
}

static slr_arg number_argument(const struct slri_type *type, const void *value)
{
    int64_t wide = 0;
    float single;
    double twice;
    memcpy(&wide, value, type->bytes);
    memcpy(&single, value, type->bytes < sizeof single ? type->bytes : sizeof single);
    memcpy(&twice, &wide, sizeof twice);
    uint32_t unused = 64 - 8 * (uint32_t)type->bytes;
    if (type->kind == SLRI_F32)
        return slr_arg_float((double)single);
    if (type->kind == SLRI_F64)
        return slr_arg_float(twice);
    if (slri_kind_is_signed(type->kind))
        return slr_arg_signed((int64_t)((uint64_t)wide << unused) >> unused);
    return slr_arg_unsigned((uint64_t)wide);
}

static slr_status record_group(struct fusing *f, struct group *group, slr_program *program, slr_stream *stream)
{
    const struct slri_command *first = command_at(f, group->first);
    const struct slri_join *join = group->join;
    slr_shape shape = {0};
    memcpy(shape.grid, first->dispatch.grid, sizeof shape.grid);
    memcpy(shape.block, first->dispatch.block, sizeof shape.block);
    slr_arg *args = slri_region_take(f->region, (join->objects + 1) * sizeof *args);
    uint32_t count = 0;
    if (!args)
        return SLRI_FAIL(NO_MEMORY, "no memory to fuse a graph");
    for (uint32_t i = 0; i < join->objects; ++i)
        if (join->object[i].parameter != UINT32_MAX) {
            args[join->object[i].parameter] = group->buffer[i]
                                                  ? slr_arg_buffer(group->buffer[i])
                                                  : number_argument(join->object[i].type, group->number[i]);
            ++count;
        }
    SLRI_TRY(slr_program_get_kernel(program, join->name, &group->kernel));
    SLRI_TRY(slr_graph_create(f->graph->device, &group->by));
    SLRI_TRY(slr_graph_begin(group->by, stream));
    slr_status status = slr_launch(stream, group->kernel, shape, args, count, NULL);
    slr_status ended = slr_graph_end(group->by);
    return status == SLR_OK ? ended : status;
}

static slr_status replace_groups(struct fusing *f)
{
    struct slri_graph_piece *piece = slri_region_take(f->region, (f->groups + 1) * sizeof *piece);
    if (!piece)
        return SLRI_FAIL(NO_MEMORY, "no memory to fuse a graph");
    for (uint32_t i = 0; i < f->groups; ++i)
        piece[i] = (struct slri_graph_piece){f->group[i].first, f->group[i].count, f->group[i].by};
    return slri_graph_replace(f->graph, piece, f->groups);
}

static slr_status record_groups(struct fusing *f, slr_program *program)
{
    slr_stream *stream;
    SLRI_TRY(slr_stream_create(f->graph->device, NULL, &stream));
    slr_status status = SLR_OK;
    for (uint32_t i = 0; i < f->groups && status == SLR_OK; ++i)
        status = record_group(f, &f->group[i], program, stream);
    if (status == SLR_OK)
        status = replace_groups(f);
    slr_stream_destroy(stream);
    for (uint32_t i = 0; i < f->groups; ++i) {
        slr_graph_destroy(f->group[i].by);
        slr_kernel_destroy(f->group[i].kernel); // its launch keeps it
    }
    return status;
}

// ---- the graph -----------------------------------------------------------------------------------------------------

static void add_figures(slr_fusion_info *info, const struct slri_join *join)
{
    slr_fusion_info own;
    slri_join_count(join, &own);
    info->inputs += own.inputs;
    info->outputs += own.outputs;
    info->bytes_an_element += own.bytes_an_element;
    info->bytes_apart += own.bytes_apart;
}

// What cannot be written as source is left as it is.
static slr_status close_group(struct fusing *f, const struct group *group)
{
    size_t length = f->source.length;
    if (group->count < 2)
        return SLR_OK;
    f->group[f->groups++] = *group;
    slr_status status = write_group(f, &f->group[f->groups - 1]);
    if (status == SLR_OK)
        add_figures(&f->info, group->join);
    if (status != SLR_UNSUPPORTED)
        return status;
    slri_text_printf(&f->why_not, "%s to %s: %s\n", name_at(f, group->first),
                     name_at(f, group->first + group->count - 1), slr_error_message());
    --f->groups;
    f->source.length = length;
    return SLR_OK;
}

// From left to right, each launch joins those before it if it may.
static slr_status find_groups(struct fusing *f)
{
    struct group open = {.first = 0, .count = 1};
    for (uint32_t i = 1; i < f->graph->commands; ++i) {
        struct group bigger;
        slr_status status = try_group(f, &open, &bigger);
        if (status == SLR_OK) {
            open = bigger;
            continue;
        }
        if (status != SLR_UNSUPPORTED)
            return status;
        slri_text_printf(&f->why_not, "%s, %s: %s\n", name_at(f, i - 1), name_at(f, i), slr_error_message());
        SLRI_TRY(close_group(f, &open));
        open = (struct group){.first = i, .count = 1};
    }
    return close_group(f, &open);
}

static void count_launches(const slr_graph *graph, uint32_t *out)
{
    *out = 0;
    for (uint32_t i = 0; i < graph->commands; ++i)
        *out += graph->command[i].op == SLRI_DISPATCH;
}

static slr_status fuse_graph(struct fusing *f)
{
    f->group = slri_region_take(f->region, (f->graph->commands + 1) * sizeof *f->group);
    if (!f->group)
        return SLRI_FAIL(NO_MEMORY, "no memory to fuse a graph");
    count_launches(f->graph, &f->info.launches_apart);
    SLRI_TRY(find_groups(f));
    if (f->groups) {
        slr_program *program;
        if (f->source.out_of_memory)
            return SLRI_FAIL(NO_MEMORY, "no memory to fuse a graph");
        SLRI_TRY(slr_program_from_text(f->graph->device, "fused", slri_text_view(&f->source), NULL, &program));
        slr_status status = record_groups(f, program);
        slr_program_destroy(program); // the launches keep it
        SLRI_TRY(status);
    }
    count_launches(f->graph, &f->info.launches);
    f->info.bound = f->info.bytes_an_element ? (double)f->info.bytes_apart / (double)f->info.bytes_an_element : 1;
    return SLR_OK;
}

// The texts become the graph's.
static void give_texts(struct fusing *f)
{
    slr_graph *graph = f->graph;
    free(graph->fused_source);
    free(graph->not_fused);
    graph->fused_source = slri_text_take(&f->source);
    graph->not_fused = slri_text_take(&f->why_not);
    f->info.source = graph->fused_source ? graph->fused_source : "";
    f->info.why_not = graph->not_fused ? graph->not_fused : "";
}

slr_status slr_graph_fuse_sized(slr_graph *graph, slr_fusion_info *info, size_t bytes)
{
    if (!graph)
        return SLRI_FAIL(INVALID, "slr_graph_fuse: graph is NULL");
    SLRI_TRY(info ? SLRI_CHECK_REPORT(slr_fusion_info, bytes) : SLR_OK);
    slri_queues_lock();
    bool recording = graph->stream != NULL;
    slri_queues_unlock();
    if (recording)
        return SLRI_FAIL(WRONG_STATE, "slr_graph_fuse: the graph is recording");
    struct fusing f = {.graph = graph, .region = slri_region_create()};
    f.names.region = f.region;
    slr_status status = f.region ? fuse_graph(&f) : SLRI_FAIL(NO_MEMORY, "no memory to fuse a graph");
    if (status == SLR_OK)
        give_texts(&f);
    slri_region_destroy(f.region);
    slri_text_free(&f.source);
    slri_text_free(&f.why_not);
    return status == SLR_OK && info ? SLRI_GIVE_REPORT(slr_fusion_info, info, bytes, &f.info) : status;
}

slr_status(slr_graph_fuse)(slr_graph *graph, slr_fusion_info *info)
{
    return slr_graph_fuse_sized(graph, info, SLRI_FIRST_slr_fusion_info);
}
