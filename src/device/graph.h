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
    struct slri_graph_list *list; // of all commands; NULL: nothing was recorded
    char why_not[200];            // there is none
    uint32_t bounds;              // parameters of all recorded dispatches
};

// Appends the work. From OK on its `settle` is the graph's to call, when it is freed.
slr_status slri_graph_append(slr_graph *graph, const struct slri_work *work);

void slri_graph_release(void *graph); // one of `holds`

// rebind.c: launches with other buffers.
slr_status slri_graph_launch_rebound(slr_graph *graph, slr_stream *stream, const slr_rebinding *rebindings,
                                     uint32_t count, slr_point *out);

#endif
