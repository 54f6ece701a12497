// SPDX-License-Identifier: Apache-2.0
// Recording: what submit.c does with work for a stream that is recorded, and what a graph holds.
#ifndef SLRI_DEVICE_GRAPH_H
#define SLRI_DEVICE_GRAPH_H

#include "device/stream.h"

#include <slipring/graph.h>

struct slri_graph_settling { // of a recorded submission
    void (*settle)(void *user);
    void *user;
};

// One address of a recorded command, and the buffer it was recorded with.
struct slri_graph_link {
    slr_buffer *buffer;
    uint32_t command;
    uint32_t slot; // of a copy on the device 0: from, 1: to; of a dispatch the parameter; else 0
};

// What the backend made of the commands, when a recording ended. One that a later recording replaced stays until the
// graph goes: a launch of it may be in flight.
struct slri_graph_list {
    struct slri_list *list; // NULL: there is none
    struct slri_graph_list *before;
};

struct slr_graph {
    slr_device *device;
    uint32_t holds;     // the user's, and one a launch in flight
    slr_stream *stream; // that is recorded
    struct slri_command *command;
    struct slri_buffer_use *use; // each buffer held
    struct slri_graph_link *link;
    struct slri_graph_settling *settling;
    uint32_t commands, command_room, uses, use_room, links, link_room, settlings, settling_room;
    struct slri_graph_list *list;   // of all commands; NULL: nothing was recorded
    char why_not[200];              // there is none
    uint32_t bounds;                // parameters of all recorded dispatches
    char *fused_source, *not_fused; // fuse's; malloc'd, or NULL
};

// Appends the work. From OK on its `settle` is the graph's to call, when it is freed.
slr_status slri_graph_append(slr_graph *graph, const struct slri_work *work);

void slri_graph_release(void *graph); // one of `holds`

// graph_replace.c: `count` commands from `first` on become the one command that `by`, a graph of its own, holds.
struct slri_graph_piece {
    uint32_t first, count;
    slr_graph *by;
};
// Pieces are in order and apart. What nothing uses any more is let go. Errors: NO_MEMORY, and nothing is changed.
slr_status slri_graph_replace(slr_graph *graph, const struct slri_graph_piece *piece, uint32_t pieces);

// The buffer that was recorded for parameter `slot` of a dispatch, or NULL.
slr_buffer *slri_graph_buffer_at(const slr_graph *graph, uint32_t command, uint32_t slot);

void slri_graph_make_list(slr_graph *graph); // of the commands as they are now
// Room for `more` entries of `size` bytes in an array of the graph, of which `used` are in use.
slr_status slri_graph_make_room(slr_graph *graph, void **array, uint32_t *room, uint32_t used, uint32_t more,
                                size_t size);
void slri_graph_add_use(slr_graph *graph, const struct slri_buffer_use *use); // there is room

// rebind.c: launches with other buffers.
slr_status slri_graph_launch_rebound(slr_graph *graph, slr_stream *stream, const slr_rebinding *rebindings,
                                     uint32_t count, slr_point *out);

#endif
