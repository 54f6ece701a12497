// SPDX-License-Identifier: Apache-2.0
// Recorded work: its commands and the ranges that they use, each range once. A launch is one submission: one place in
// the queue, one look at each buffer's record, however many commands there are.
#include "device/graph.h"

#include "base/alloc.h"
#include "base/status.h"

#include <string.h>

struct settling { // of a recorded submission
    void (*settle)(void *user);
    void *user;
};

struct slr_graph {
    slr_device *device;
    uint32_t holds;     // the user's, and one a launch in flight
    slr_stream *stream; // that is recorded
    struct slri_command *command;
    struct slri_buffer_use *use; // each buffer held
    struct settling *settling;
    uint32_t commands, command_room, uses, use_room, settlings, settling_room;
};

slr_status slr_graph_create(slr_device *device, slr_graph **out)
{
    if (!device || !out)
        return SLRI_FAIL(INVALID, "slr_graph_create: %s is NULL", device ? "out" : "device");
    slr_graph *graph = slri_alloc(device->allocator, sizeof *graph);
    if (!graph)
        return SLRI_FAIL(NO_MEMORY, "no memory for a graph");
    slri_device_hold(device);
    graph->device = device;
    graph->holds = 1;
    *out = graph;
    return SLR_OK;
}

static void release(void *user)
{
    slr_graph *graph = user;
    if (!slri_let_go(&graph->holds))
        return;
    slr_device *device = graph->device;
    for (uint32_t i = 0; i < graph->settlings; ++i)
        graph->settling[i].settle(graph->settling[i].user);
    for (uint32_t i = 0; i < graph->uses; ++i)
        slri_buffer_release(graph->use[i].buffer);
    slri_free(device->allocator, graph->command, graph->command_room * sizeof *graph->command);
    slri_free(device->allocator, graph->use, graph->use_room * sizeof *graph->use);
    slri_free(device->allocator, graph->settling, graph->settling_room * sizeof *graph->settling);
    slri_free(device->allocator, graph, sizeof *graph);
    slri_device_release(device);
}

void slr_graph_destroy(slr_graph *graph)
{
    if (graph)
        release(graph);
}

// ---- recording -----------------------------------------------------------------------------------------------------

slr_status slr_graph_begin(slr_graph *graph, slr_stream *stream)
{
    if (!graph || !stream)
        return SLRI_FAIL(INVALID, "slr_graph_begin: %s is NULL", graph ? "stream" : "graph");
    if (graph->device != stream->device)
        return SLRI_FAIL(INVALID, "slr_graph_begin: the stream is of another device than the graph");
    slri_queues_lock();
    bool free = !graph->stream && !stream->recording;
    if (free) {
        graph->stream = stream;
        stream->recording = graph;
    }
    slri_queues_unlock();
    return free ? SLR_OK : SLRI_FAIL(WRONG_STATE, "slr_graph_begin: the graph or the stream is recording already");
}

slr_status slr_graph_end(slr_graph *graph)
{
    if (!graph)
        return SLRI_FAIL(INVALID, "slr_graph_end: graph is NULL");
    slri_queues_lock();
    bool recording = graph->stream != NULL;
    if (recording)
        graph->stream->recording = NULL;
    graph->stream = NULL;
    slri_queues_unlock();
    return recording ? SLR_OK : SLRI_FAIL(WRONG_STATE, "slr_graph_end: the graph is not recording");
}

static slr_status check(const struct slri_work *work)
{
    bool other = work->waits != 0;
    for (uint32_t i = 0; i < work->commands; ++i)
        other = other || work->command[i].op == SLRI_STAMP;
    for (uint32_t i = 0; i < work->uses; ++i)
        other = other || work->use[i].how == SLRI_TO_HOST;
    if (other)
        return SLRI_FAIL(WRONG_STATE,
                         "the stream is being recorded: waits, events and prefetches to the host can not be");
    return SLR_OK;
}

// Room for `more` behind `used`, in an array that doubles.
static slr_status make_room(slr_graph *graph, void **array, uint32_t *room, uint32_t used, uint32_t more, size_t size)
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

static void add_use(slr_graph *graph, const struct slri_buffer_use *use)
{
    for (uint32_t i = 0; i < graph->uses; ++i)
        if (same_use(&graph->use[i], use))
            return;
    slri_buffer_hold(use->buffer);
    graph->use[graph->uses++] = *use;
}

slr_status slri_graph_append(slr_graph *graph, const struct slri_work *work)
{
    SLRI_TRY(check(work));
    SLRI_TRY(make_room(graph, (void **)&graph->command, &graph->command_room, graph->commands, work->commands,
                       sizeof *graph->command));
    SLRI_TRY(make_room(graph, (void **)&graph->use, &graph->use_room, graph->uses, work->uses, sizeof *graph->use));
    SLRI_TRY(make_room(graph, (void **)&graph->settling, &graph->settling_room, graph->settlings, 1,
                       sizeof *graph->settling));
    for (uint32_t i = 0; i < work->commands; ++i)
        graph->command[graph->commands++] = work->command[i];
    for (uint32_t i = 0; i < work->uses; ++i)
        add_use(graph, &work->use[i]);
    if (work->settle)
        graph->settling[graph->settlings++] = (struct settling){work->settle, work->user};
    return SLR_OK;
}

// ---- launching -----------------------------------------------------------------------------------------------------

static slr_status check_rebinding(const slr_graph *graph, const slr_rebinding *rebinding)
{
    if (!rebinding->recorded || !rebinding->instead)
        return SLRI_FAIL(INVALID, "slr_graph_launch: a buffer of a rebinding is NULL");
    if (rebinding->instead->device != graph->device)
        return SLRI_FAIL(INVALID, "slr_graph_launch: the buffer to use instead is of another device");
    if (rebinding->instead->bytes < rebinding->recorded->bytes)
        return SLRI_FAIL(INVALID, "slr_graph_launch: the buffer to use instead has %llu bytes, the recorded one %llu",
                         (unsigned long long)rebinding->instead->bytes, (unsigned long long)rebinding->recorded->bytes);
    for (uint32_t i = 0; i < graph->uses; ++i)
        if (graph->use[i].buffer == rebinding->recorded)
            return SLR_OK;
    return SLRI_FAIL(INVALID, "slr_graph_launch: a buffer to rebind was not recorded");
}

// The address in the other buffer, of one in the recorded one.
static void *move_address(const slr_rebinding *rebinding, const void *address)
{
    uintptr_t from = (uintptr_t)rebinding->recorded->memory, at = (uintptr_t)address;
    if (!rebinding->recorded->memory || at < from || at - from >= rebinding->recorded->bytes)
        return (void *)at;
    return (char *)rebinding->instead->memory + (at - from);
}

static slr_status rebind_command(struct slri_command *command, const slr_rebinding *rebinding)
{
    switch (command->op) {
    case SLRI_COPY_IN:
    case SLRI_COPY_OUT:
        command->copy.device = move_address(rebinding, command->copy.device);
        return SLR_OK;
    case SLRI_COPY:
        command->move.to = move_address(rebinding, command->move.to);
        command->move.from = move_address(rebinding, command->move.from);
        return SLR_OK;
    case SLRI_FILL:
        command->fill.device = move_address(rebinding, command->fill.device);
        return SLR_OK;
    case SLRI_CALL:
        return SLR_OK;
    default:
        return SLRI_FAIL(UNSUPPORTED, "slr_graph_launch: buffers of recorded kernels can not be rebound");
    }
}

// The recorded commands and uses with other buffers, in one block: commands, then uses.
static slr_status rebound(const slr_graph *graph, const slr_rebinding *rebindings, uint32_t count,
                          struct slri_command *command)
{
    struct slri_buffer_use *use = (struct slri_buffer_use *)(command + graph->commands);
    for (uint32_t i = 0; i < graph->commands; ++i)
        command[i] = graph->command[i];
    for (uint32_t i = 0; i < graph->uses; ++i)
        use[i] = graph->use[i];
    for (uint32_t r = 0; r < count; ++r) {
        SLRI_TRY(check_rebinding(graph, &rebindings[r]));
        for (uint32_t i = 0; i < graph->commands; ++i)
            SLRI_TRY(rebind_command(&command[i], &rebindings[r]));
        for (uint32_t i = 0; i < graph->uses; ++i)
            if (graph->use[i].buffer == rebindings[r].recorded)
                use[i].buffer = rebindings[r].instead;
    }
    return SLR_OK;
}

static slr_status launch(slr_graph *graph, slr_stream *stream, const struct slri_command *command,
                         const struct slri_buffer_use *use, slr_point *out)
{
    struct slri_work work = {.command = command,
                             .commands = graph->commands,
                             .use = use,
                             .uses = graph->uses,
                             .settle = release,
                             .user = graph};
    slri_hold(&graph->holds);
    slr_status status = slri_stream_submit(stream, &work, out);
    if (status != SLR_OK)
        release(graph);
    return status;
}

slr_status slr_graph_launch(slr_graph *graph, slr_stream *stream, const slr_rebinding *rebindings,
                            uint32_t rebinding_count, slr_point *out)
{
    if (!graph || !stream || (!rebindings && rebinding_count != 0))
        return SLRI_FAIL(INVALID, "slr_graph_launch: %s is NULL", !graph ? "graph" : !stream ? "stream" : "rebindings");
    if (graph->device != stream->device)
        return SLRI_FAIL(INVALID, "slr_graph_launch: the stream is of another device than the graph");
    slri_queues_lock();
    bool recording = graph->stream || stream->recording;
    slri_queues_unlock();
    if (recording)
        return SLRI_FAIL(WRONG_STATE, "slr_graph_launch: the graph or the stream is being recorded");
    if (rebinding_count == 0)
        return launch(graph, stream, graph->command, graph->use, out);
    const slr_allocator *allocator = graph->device->allocator;
    size_t bytes = graph->commands * sizeof *graph->command + graph->uses * sizeof *graph->use;
    struct slri_command *command = slri_alloc(allocator, bytes);
    if (!command)
        return SLRI_FAIL(NO_MEMORY, "no memory to rebind a graph of %u commands", graph->commands);
    slr_status status = rebound(graph, rebindings, rebinding_count, command);
    if (status == SLR_OK)
        status = launch(graph, stream, command, (struct slri_buffer_use *)(command + graph->commands), out);
    slri_free(allocator, command, bytes);
    return status;
}
