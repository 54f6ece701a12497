// SPDX-License-Identifier: Apache-2.0
// Recorded work: its commands and the ranges that they use, each range once. A launch is one submission: one place in
// the queue, one look at each buffer's record, however many commands there are.
#include "device/graph.h"

#include "base/alloc.h"
#include "base/sized.h"
#include "base/status.h"
#include "engine/observe.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

slr_status slr_graph_create(slr_device *device, slr_graph **out)
{
    if (!device || !out)
        return SLRI_FAIL(INVALID, "slr_graph_create: %s is NULL", device ? "out" : "device");
    slr_graph *graph = slri_alloc(device->allocator, sizeof *graph);
    if (!graph)
        return SLRI_FAIL(NO_MEMORY, "no memory for a graph");
    slri_device_hold(device);
    __atomic_fetch_add(&device->fixtures, 1, __ATOMIC_RELAXED);
    graph->device = device;
    graph->holds = 1;
    *out = graph;
    return SLR_OK;
}

static void free_lists(slr_graph *graph)
{
    for (struct slri_graph_list *each = graph->list; each;) {
        struct slri_graph_list *before = each->before;
        if (each->list)
            slri_list_destroy(each->list);
        slri_free(graph->device->allocator, each, sizeof *each);
        each = before;
    }
}

void slri_graph_release(void *user)
{
    slr_graph *graph = user;
    if (!slri_let_go(&graph->holds))
        return;
    slr_device *device = graph->device;
    free_lists(graph);
    for (uint32_t i = 0; i < graph->settlings; ++i)
        graph->settling[i].settle(graph->settling[i].user);
    for (uint32_t i = 0; i < graph->uses; ++i)
        slri_buffer_release(graph->use[i].buffer);
    slri_free(device->allocator, graph->command, graph->command_room * sizeof *graph->command);
    slri_free(device->allocator, graph->use, graph->use_room * sizeof *graph->use);
    slri_free(device->allocator, graph->link, graph->link_room * sizeof *graph->link);
    slri_free(device->allocator, graph->settling, graph->settling_room * sizeof *graph->settling);
    free(graph->fused_source);
    free(graph->not_fused);
    slri_free(device->allocator, graph, sizeof *graph);
    __atomic_fetch_sub(&device->fixtures, 1, __ATOMIC_RELAXED);
    slri_device_release(device);
}

void slr_graph_destroy(slr_graph *graph)
{
    if (graph && !slri_device_is_anothers(graph->device))
        slri_graph_release(graph);
}

// ---- recording -----------------------------------------------------------------------------------------------------

slr_status slr_graph_begin(slr_graph *graph, slr_stream *stream)
{
    if (!graph || !stream)
        return SLRI_FAIL(INVALID, "slr_graph_begin: %s is NULL", graph ? "stream" : "graph");
    SLRI_TRY(slri_device_check_process(graph->device));
    if (graph->device != stream->device)
        return SLRI_FAIL(INVALID, "slr_graph_begin: the stream belongs to another device than the graph");
    slri_queues_lock();
    bool free = !graph->stream && !stream->recording;
    if (free) {
        graph->stream = stream;
        __atomic_store_n(&stream->recording, graph, __ATOMIC_RELEASE); // read without the lock
    }
    slri_queues_unlock();
    return free ? SLR_OK : SLRI_FAIL(WRONG_STATE, "slr_graph_begin: the graph or the stream is recording already");
}

// The commands are what counts: where no list can be made of them, they are submitted as they are, and it is said why.
static slr_status create_list(slr_graph *graph, struct slri_list **out)
{
    slr_device *device = graph->device;
    if (graph->commands == 0)
        return SLRI_FAIL(UNSUPPORTED, "nothing was recorded");
    if (!device->backend->list_create)
        return SLRI_FAIL(UNSUPPORTED, "device '%s' accepts only one command at a time", device->backend->name);
    return slri_list_create(&device->queues, graph->command, graph->commands, out);
}

void slri_graph_make_list(slr_graph *graph)
{
    struct slri_graph_list *made = slri_alloc(graph->device->allocator, sizeof *made);
    slr_status status = made ? create_list(graph, &made->list) : SLRI_FAIL(NO_MEMORY, "no memory for a graph's list");
    graph->why_not[0] = '\0';
    if (status != SLR_OK)
        snprintf(graph->why_not, sizeof graph->why_not, "%s", slr_error_message());
    if (!made)
        return; // a list that was made before has not all the commands, but is not used then: why_not
    made->before = graph->list;
    graph->list = made;
}

slr_status slr_graph_get_info_sized(const slr_graph *graph, slr_graph_info *out, size_t bytes)
{
    if (!graph || !out)
        return SLRI_FAIL(INVALID, "slr_graph_get_info: %s is NULL", graph ? "out" : "graph");
    slr_graph_info whole = {.commands = graph->commands, .as_one = graph->list && !*graph->why_not};
    snprintf(whole.reason, sizeof whole.reason, "%s",
             graph->list || *graph->why_not ? graph->why_not : "nothing was recorded");
    return SLRI_GIVE_REPORT(slr_graph_info, out, bytes, &whole);
}

slr_status(slr_graph_get_info)(const slr_graph *graph, slr_graph_info *out)
{
    return slr_graph_get_info_sized(graph, out, SLRI_FIRST_slr_graph_info);
}

slr_status slr_graph_end(slr_graph *graph)
{
    if (!graph)
        return SLRI_FAIL(INVALID, "slr_graph_end: graph is NULL");
    slri_queues_lock();
    bool recording = graph->stream != NULL;
    if (recording)
        __atomic_store_n(&graph->stream->recording, NULL, __ATOMIC_RELEASE);
    slri_queues_unlock();
    if (recording)
        slri_graph_make_list(graph);
    slri_queues_lock();
    graph->stream = NULL; // launches may begin
    slri_queues_unlock();
    return recording ? SLR_OK : SLRI_FAIL(WRONG_STATE, "slr_graph_end: the graph is not recording");
}

static slr_status check_graph(const struct slri_work *work)
{
    bool other = work->waits != 0;
    for (uint32_t i = 0; i < work->commands; ++i)
        other = other || work->command[i].op == SLRI_STAMP;
    for (uint32_t i = 0; i < work->uses; ++i)
        other = other || work->use[i].how == SLRI_TO_HOST;
    if (other)
        return SLRI_FAIL(WRONG_STATE,
                         "the stream is being recorded: waits, events and prefetches to the host cannot be recorded");
    return SLR_OK;
}

// Room for `more` behind `used`, in an array that doubles.
slr_status slri_graph_make_room(slr_graph *graph, void **array, uint32_t *room, uint32_t used, uint32_t more,
                                size_t size)
{
    if (used + more <= *room)
        return SLR_OK;
    uint32_t wanted = 2 * (used + more);
    void *bigger = slri_alloc(graph->device->allocator, wanted * size);
    if (!bigger)
        return SLRI_FAIL(NO_MEMORY, "no memory for a graph of %u entries", wanted);
    if (used != 0)
        memcpy(bigger, *array, used * size);
    slri_free(graph->device->allocator, *array, *room * size);
    *array = bigger;
    *room = wanted;
    return SLR_OK;
}

static bool same_use(const struct slri_buffer_use *a, const struct slri_buffer_use *b)
{
    return a->buffer == b->buffer && a->offset == b->offset && a->bytes == b->bytes && a->how == b->how;
}

void slri_graph_add_use(slr_graph *graph, const struct slri_buffer_use *use)
{
    for (uint32_t i = 0; i < graph->uses; ++i)
        if (same_use(&graph->use[i], use))
            return;
    slri_buffer_hold(use->buffer);
    graph->use[graph->uses++] = *use;
}

// Which of a command's addresses the use of that index is about: a work's uses come in the order of its addresses.
static uint32_t slot_of(const struct slri_command *command, uint32_t use)
{
    if (command->op != SLRI_DISPATCH)
        return use;
    uint32_t parameter = 0;
    for (;; ++parameter)
        if (command->dispatch.entry->binding[parameter].is_buffer && command->dispatch.bound[parameter].bytes &&
            use-- == 0) // NULL is none of the uses
            return parameter;
}

static void add_command(slr_graph *graph, const struct slri_command *command, const struct slri_work *work)
{
    for (uint32_t i = 0; i < work->uses; ++i)
        graph->link[graph->links++] =
            (struct slri_graph_link){work->use[i].buffer, graph->commands, slot_of(command, i)};
    if (command->op == SLRI_DISPATCH)
        graph->bounds += command->dispatch.entry->bindings;
    graph->command[graph->commands++] = *command;
}

slr_status slri_graph_append(slr_graph *graph, const struct slri_work *work)
{
    SLRI_TRY(check_graph(work));
    SLRI_TRY(slri_graph_make_room(graph, (void **)&graph->command, &graph->command_room, graph->commands,
                                  work->commands, sizeof *graph->command));
    SLRI_TRY(slri_graph_make_room(graph, (void **)&graph->use, &graph->use_room, graph->uses, work->uses,
                                  sizeof *graph->use));
    SLRI_TRY(slri_graph_make_room(graph, (void **)&graph->link, &graph->link_room, graph->links,
                                  work->commands * work->uses, sizeof *graph->link));
    SLRI_TRY(slri_graph_make_room(graph, (void **)&graph->settling, &graph->settling_room, graph->settlings, 1,
                                  sizeof *graph->settling));
    for (uint32_t i = 0; i < work->commands; ++i)
        add_command(graph, &work->command[i], work);
    for (uint32_t i = 0; i < work->uses; ++i)
        slri_graph_add_use(graph, &work->use[i]);
    if (work->settle)
        graph->settling[graph->settlings++] = (struct slri_graph_settling){work->settle, work->user};
    return SLR_OK;
}

// ---- launching -----------------------------------------------------------------------------------------------------

static slr_status launch(slr_graph *graph, slr_stream *stream, slr_point *out)
{
    // Watched, each command is timed, and so submitted by itself.
    bool as_one = graph->list && !*graph->why_not && !slri_is_observed();
    const struct slri_command one = {.op = SLRI_LIST, .list = as_one ? graph->list->list : NULL};
    struct slri_work work = {.command = as_one ? &one : graph->command,
                             .commands = as_one ? 1 : graph->commands,
                             .use = graph->use,
                             .uses = graph->uses,
                             .settle = slri_graph_release,
                             .user = graph};
    slri_hold(&graph->holds);
    slr_status status = slri_stream_submit(stream, &work, out);
    if (status != SLR_OK)
        slri_graph_release(graph);
    return status;
}

slr_status slr_graph_launch(slr_graph *graph, slr_stream *stream, const slr_rebinding *rebindings,
                            uint32_t rebinding_count, slr_point *out)
{
    SLRI_OBSERVE_SITE(true);
    if (!graph || !stream || (!rebindings && rebinding_count != 0))
        return SLRI_FAIL(INVALID, "slr_graph_launch: %s is NULL", !graph ? "graph" : !stream ? "stream" : "rebindings");
    if (graph->device != stream->device)
        return SLRI_FAIL(INVALID, "slr_graph_launch: the stream belongs to another device than the graph");
    slri_queues_lock();
    bool recording = graph->stream || stream->recording;
    slri_queues_unlock();
    if (recording)
        return SLRI_FAIL(WRONG_STATE, "slr_graph_launch: the graph or the stream is being recorded");
    return rebinding_count == 0 ? launch(graph, stream, out)
                                : slri_graph_launch_rebound(graph, stream, rebindings, rebinding_count, out);
}
