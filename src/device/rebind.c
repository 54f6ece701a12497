// SPDX-License-Identifier: Apache-2.0
// A recorded list launched with other buffers: a copy of its commands, uses and kernels' arguments, in which each
// address that was recorded with a rebound buffer is the same place in the other one.
#include "base/alloc.h"
#include "base/status.h"
#include "device/graph.h"

#include <stdint.h>
#include <string.h>

// Kept until the launch is done: a dispatch reads its arguments from here.
struct rebound {
    slr_graph *graph;
    size_t bytes;
    struct slri_command *command;
    struct slri_buffer_use *use;
    struct slri_bound *bound;
};

static void settle_rebind(void *user)
{
    struct rebound *rebound = user;
    slr_graph *graph = rebound->graph;
    slri_free(graph->device->allocator, rebound, rebound->bytes);
    slri_graph_release(graph);
}

// ---- what is asked for ---------------------------------------------------------------------------------------------

static bool was_recorded(const slr_graph *graph, const slr_buffer *buffer)
{
    for (uint32_t i = 0; i < graph->uses; ++i)
        if (graph->use[i].buffer == buffer)
            return true;
    return false;
}

static slr_status check_one(const slr_graph *graph, const slr_rebinding *rebinding)
{
    if (!rebinding->recorded || !rebinding->instead)
        return SLRI_FAIL(INVALID, "slr_graph_launch: a buffer of a rebinding is NULL");
    if (rebinding->instead->device != graph->device)
        return SLRI_FAIL(INVALID, "slr_graph_launch: the replacement buffer belongs to another device");
    if (rebinding->instead->bytes < rebinding->recorded->bytes)
        return SLRI_FAIL(INVALID, "slr_graph_launch: the replacement buffer has %llu bytes, the recorded one has %llu",
                         (unsigned long long)rebinding->instead->bytes, (unsigned long long)rebinding->recorded->bytes);
    if (!was_recorded(graph, rebinding->recorded))
        return SLRI_FAIL(INVALID, "slr_graph_launch: a buffer to rebind was not recorded");
    return SLR_OK;
}

static slr_status check_all(const slr_graph *graph, const slr_rebinding *rebindings, uint32_t count)
{
    for (uint32_t i = 0; i < count; ++i) {
        SLRI_TRY(check_one(graph, &rebindings[i]));
        for (uint32_t k = 0; k < i; ++k)
            if (rebindings[k].recorded == rebindings[i].recorded)
                return SLRI_FAIL(INVALID, "slr_graph_launch: rebindings %u and %u name the same recorded buffer", k, i);
    }
    return SLR_OK;
}

static slr_buffer *instead_of(const slr_buffer *buffer, const slr_rebinding *rebindings, uint32_t count)
{
    for (uint32_t i = 0; i < count; ++i)
        if (rebindings[i].recorded == buffer)
            return rebindings[i].instead;
    return NULL;
}

// ---- the copy ------------------------------------------------------------------------------------------------------

// The commands' arguments of kernels become the copy's own.
static void copy_all(struct rebound *rebound)
{
    const slr_graph *graph = rebound->graph;
    struct slri_bound *bound = rebound->bound;
    for (uint32_t i = 0; i < graph->uses; ++i)
        rebound->use[i] = graph->use[i];
    for (uint32_t i = 0; i < graph->commands; ++i) {
        struct slri_command *command = &rebound->command[i];
        *command = graph->command[i];
        if (command->op != SLRI_DISPATCH)
            continue;
        uint32_t bindings = command->dispatch.entry->bindings;
        if (bindings != 0)
            memcpy(bound, command->dispatch.bound, bindings * sizeof *bound);
        command->dispatch.bound = bound;
        bound += bindings;
    }
}

// The same place in the other buffer. A device that stores nothing has no addresses.
static void *moved(const void *address, const slr_buffer *from, const slr_buffer *to)
{
    return address ? (char *)to->memory + ((const char *)address - (const char *)from->memory) : NULL;
}

static void move_link(struct rebound *rebound, const struct slri_graph_link *link, const slr_buffer *to)
{
    struct slri_command *command = &rebound->command[link->command];
    switch (command->op) {
    case SLRI_COPY_IN:
    case SLRI_COPY_OUT:
        command->copy.device = moved(command->copy.device, link->buffer, to);
        break;
    case SLRI_COPY:
        if (link->slot == 0)
            command->move.from = moved(command->move.from, link->buffer, to);
        else
            command->move.to = moved(command->move.to, link->buffer, to);
        break;
    case SLRI_FILL:
        command->fill.device = moved(command->fill.device, link->buffer, to);
        break;
    default: // a dispatch, nothing else has addresses: its arguments lie in this copy; as many bytes as recorded
        rebound->bound[command->dispatch.bound - rebound->bound + link->slot].data = to->memory;
    }
}

static void rebind(struct rebound *rebound, const slr_rebinding *rebindings, uint32_t count)
{
    const slr_graph *graph = rebound->graph;
    for (uint32_t i = 0; i < graph->links; ++i) {
        const slr_buffer *to = instead_of(graph->link[i].buffer, rebindings, count);
        if (to)
            move_link(rebound, &graph->link[i], to);
    }
    for (uint32_t i = 0; i < graph->uses; ++i) {
        slr_buffer *to = instead_of(graph->use[i].buffer, rebindings, count);
        if (to)
            rebound->use[i].buffer = to;
    }
}

static bool have_bytes_in_common(const struct slri_bound *a, const struct slri_bound *b)
{
    uintptr_t one = (uintptr_t)a->data, other = (uintptr_t)b->data;
    return one && other && one < other + b->bytes && other < one + a->bytes;
}

// What slr_launch has checked holds for the buffers as recorded.
static slr_status check_rebound_restrict(const struct slri_command *command)
{
    const struct slri_entry *entry = command->dispatch.entry;
    const struct slri_bound *bound = command->dispatch.bound;
    for (uint32_t i = 0; i < entry->bindings; ++i)
        for (uint32_t k = 0; k < i; ++k) {
            const struct slri_binding_info *a = &entry->binding[k], *b = &entry->binding[i];
            if (a->is_buffer && b->is_buffer && have_bytes_in_common(&bound[i], &bound[k]) &&
                (a->is_restrict || b->is_restrict) && !(a->is_const && b->is_const))
                return SLRI_FAIL(INVALID,
                                 "slr_graph_launch: kernel %s: parameters '%s' and '%s' become the same buffer, or "
                                 "overlap, and one is __restrict__",
                                 entry->name, a->name, b->name);
        }
    return SLR_OK;
}

static slr_status submit_rebind(struct rebound *rebound, slr_stream *stream, slr_point *out)
{
    const slr_graph *graph = rebound->graph;
    for (uint32_t i = 0; i < graph->commands; ++i)
        if (rebound->command[i].op == SLRI_DISPATCH)
            SLRI_TRY(check_rebound_restrict(&rebound->command[i]));
    struct slri_work work = {.command = rebound->command,
                             .commands = graph->commands,
                             .use = rebound->use,
                             .uses = graph->uses,
                             .settle = settle_rebind,
                             .user = rebound};
    return slri_stream_submit(stream, &work, out);
}

slr_status slri_graph_launch_rebound(slr_graph *graph, slr_stream *stream, const slr_rebinding *rebindings,
                                     uint32_t count, slr_point *out)
{
    SLRI_TRY(check_all(graph, rebindings, count));
    size_t bytes = sizeof(struct rebound) + graph->commands * sizeof(struct slri_command) +
                   graph->uses * sizeof(struct slri_buffer_use) + graph->bounds * sizeof(struct slri_bound);
    struct rebound *rebound = slri_alloc(graph->device->allocator, bytes);
    if (!rebound)
        return SLRI_FAIL(NO_MEMORY, "no memory to rebind a graph of %u commands", graph->commands);
    rebound->graph = graph;
    rebound->bytes = bytes;
    rebound->command = (struct slri_command *)(rebound + 1);
    rebound->use = (struct slri_buffer_use *)(rebound->command + graph->commands);
    rebound->bound = (struct slri_bound *)(rebound->use + graph->uses);
    slri_hold(&graph->holds);
    copy_all(rebound);
    rebind(rebound, rebindings, count);
    slr_status status = submit_rebind(rebound, stream, out);
    if (status != SLR_OK)
        settle_rebind(rebound);
    return status;
}
