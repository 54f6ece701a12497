// SPDX-License-Identifier: Apache-2.0
// Recorded commands that another command replaces. Launches in flight keep what they use: a submission copies the
// commands and holds the buffers, and the arguments of a recorded dispatch live as long as the graph.
#include "base/alloc.h"
#include "base/status.h"
#include "device/graph.h"

#include <string.h>

struct replacing {
    slr_graph *graph;
    struct slri_command *command;
    struct slri_graph_link *link;
    struct slri_buffer_use *use;
    uint32_t commands, command_room, links, link_room, uses, use_room;
};

slr_buffer *slri_graph_buffer_at(const slr_graph *graph, uint32_t command, uint32_t slot)
{
    for (uint32_t i = 0; i < graph->links; ++i)
        if (graph->link[i].command == command && graph->link[i].slot == slot)
            return graph->link[i].buffer;
    return NULL;
}

static void take_command(struct replacing *r, const slr_graph *from, uint32_t number)
{
    for (uint32_t i = 0; i < from->links; ++i)
        if (from->link[i].command == number)
            r->link[r->links++] = (struct slri_graph_link){from->link[i].buffer, r->commands, from->link[i].slot};
    r->command[r->commands++] = from->command[number];
}

static bool is_linked(const struct replacing *r, const slr_buffer *buffer)
{
    for (uint32_t i = 0; i < r->links; ++i)
        if (r->link[i].buffer == buffer)
            return true;
    return false;
}

// The uses of what is still linked stay; the holds go with them.
static void sort_uses(struct replacing *r)
{
    slr_graph *graph = r->graph;
    for (uint32_t i = 0; i < graph->uses; ++i)
        if (is_linked(r, graph->use[i].buffer))
            r->use[r->uses++] = graph->use[i];
        else
            slri_buffer_release(graph->use[i].buffer);
}

static void take_arrays(struct replacing *r)
{
    slr_graph *graph = r->graph;
    const slr_allocator *allocator = graph->device->allocator;
    slri_free(allocator, graph->command, graph->command_room * sizeof *graph->command);
    slri_free(allocator, graph->link, graph->link_room * sizeof *graph->link);
    slri_free(allocator, graph->use, graph->use_room * sizeof *graph->use);
    graph->command = r->command, graph->commands = r->commands, graph->command_room = r->command_room;
    graph->link = r->link, graph->links = r->links, graph->link_room = r->link_room;
    graph->use = r->use, graph->uses = r->uses, graph->use_room = r->use_room;
}

static void count_bounds(slr_graph *graph)
{
    graph->bounds = 0;
    for (uint32_t i = 0; i < graph->commands; ++i)
        if (graph->command[i].op == SLRI_DISPATCH)
            graph->bounds += graph->command[i].dispatch.entry->bindings;
}

static void take_all(struct replacing *r, const struct slri_graph_piece *piece, uint32_t pieces)
{
    slr_graph *graph = r->graph;
    uint32_t next = 0;
    for (uint32_t i = 0; i < graph->commands;) {
        bool replaced = next < pieces && piece[next].first == i;
        take_command(r, replaced ? piece[next].by : graph, replaced ? 0 : i);
        i += replaced ? piece[next++].count : 1;
    }
    sort_uses(r);
    take_arrays(r);
    for (uint32_t k = 0; k < pieces; ++k) {
        slr_graph *by = piece[k].by;
        for (uint32_t i = 0; i < by->uses; ++i)
            slri_graph_add_use(graph, &by->use[i]);
        for (uint32_t i = 0; i < by->settlings; ++i)
            graph->settling[graph->settlings++] = by->settling[i];
        by->settlings = 0;
    }
    count_bounds(graph);
}

static void free_room(struct replacing *r)
{
    const slr_allocator *allocator = r->graph->device->allocator;
    slri_free(allocator, r->command, r->command_room * sizeof *r->command);
    slri_free(allocator, r->link, r->link_room * sizeof *r->link);
    slri_free(allocator, r->use, r->use_room * sizeof *r->use);
}

slr_status slri_graph_replace(slr_graph *graph, const struct slri_graph_piece *piece, uint32_t pieces)
{
    struct replacing r = {.graph = graph};
    uint32_t links = graph->links, uses = graph->uses, settlings = 0;
    for (uint32_t k = 0; k < pieces; ++k) {
        links += piece[k].by->links;
        uses += piece[k].by->uses;
        settlings += piece[k].by->settlings;
    }
    slr_status status =
        slri_graph_make_room(graph, (void **)&r.command, &r.command_room, 0, graph->commands, sizeof *r.command);
    if (status == SLR_OK)
        status = slri_graph_make_room(graph, (void **)&r.link, &r.link_room, 0, links, sizeof *r.link);
    if (status == SLR_OK)
        status = slri_graph_make_room(graph, (void **)&r.use, &r.use_room, 0, uses, sizeof *r.use);
    if (status == SLR_OK)
        status = slri_graph_make_room(graph, (void **)&graph->settling, &graph->settling_room, graph->settlings,
                                      settlings, sizeof *graph->settling);
    if (status != SLR_OK) {
        free_room(&r);
        return status;
    }
    take_all(&r, piece, pieces);
    slri_graph_make_list(graph);
    return SLR_OK;
}
