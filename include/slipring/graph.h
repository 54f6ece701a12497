// SPDX-License-Identifier: Apache-2.0
/// A graph is a sequence of commands for a stream (such as launches and copies) that a program records once and then
/// submits many times as a unit. Contract: docs/contract/streams.md.
#ifndef SLIPRING_GRAPH_H
#define SLIPRING_GRAPH_H

#include <slipring/stream.h>

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct slr_graph slr_graph;

/// The struct slr_rebinding names a buffer that a graph has recorded, and the buffer `instead`, which replaces the
/// recorded buffer in one launch of the graph.
typedef struct slr_rebinding {
    slr_buffer *recorded, *instead;
} slr_rebinding;

/// Makes an empty graph for a device.
/// Threads: any.  Blocks: no.  Owns: the caller gets the graph, and frees it by slr_graph_destroy.  Errors: INVALID (a
/// NULL argument), NO_MEMORY.
SLR_API slr_status slr_graph_create(slr_device *device, slr_graph **out);

/// Releases the graph object. Launches of the graph that are in flight still complete after slr_graph_destroy. Do not
/// destroy a graph while it is recording. If `graph` is NULL, slr_graph_destroy does nothing.
/// Threads: any, once for each graph.  Blocks: no.
SLR_API void slr_graph_destroy(slr_graph *graph);

/// Starts the recording of a stream's work. Until slr_graph_end, all work that is submitted to the stream goes into the
/// graph, and slipring does not run this work. If a call returns a point (a place in the stream's order of work) during
/// the recording, the point marks the end of the work that was submitted before the recording. A graph cannot record
/// waits for points (slr_stream_wait), events (slr_event_record) or prefetches to the host (slr_stream_prefetch).
/// Threads: one thread at a time for each stream.  Blocks: no.
/// Errors: INVALID (a NULL argument, a stream of another device), WRONG_STATE (the graph or the stream is recording
///   already).
SLR_API slr_status slr_graph_begin(slr_graph *graph, slr_stream *stream);

/// Ends the recording of the graph. If the device can run the recorded commands as one unit of work, slr_graph_end
/// builds this unit (on cuda, a CUDA graph).
/// Threads: as slr_graph_begin.  Blocks: while the device builds the unit of work.  Errors: INVALID (a NULL argument),
/// WRONG_STATE (the graph is not recording).
SLR_API slr_status slr_graph_end(slr_graph *graph);

/// slr_graph_info has the properties of a recorded graph.
typedef struct slr_graph_info {
    uint32_t commands; ///< number of recorded commands
    /// If as_one is 1, a launch submits the graph by one driver call, except if the launch has rebindings or the
    /// profiler is on.
    uint32_t as_one;
    char reason[200]; ///< the reason why as_one is 0; "" if as_one is 1
} slr_graph_info;

/// Gives the properties of a recorded graph.
/// Threads: any, but not while the graph is recording.  Blocks: no.  Owns: nothing.  Errors: INVALID (a NULL argument).
SLR_API slr_status slr_graph_get_info(const slr_graph *graph, slr_graph_info *out);

/// The macro slr_graph_get_info calls slr_graph_get_info_sized with sizeof(slr_graph_info) as `bytes`
/// (docs/contract/abi.md).
SLR_API slr_status slr_graph_get_info_sized(const slr_graph *graph, slr_graph_info *out, size_t bytes);
#define slr_graph_get_info(graph, out) slr_graph_get_info_sized((graph), (out), sizeof(slr_graph_info))

/// Submits the graph as a unit: no other submission to the stream comes between the graph's commands. The array
/// `rebindings` replaces buffers of the graph, for this launch only. A replacement buffer must belong to the graph's
/// device and be at least as long as the recorded buffer. If a replacement buffer is longer than the recorded buffer,
/// the launch uses the length of the recorded buffer. All rebindings apply at once, so two buffers can be exchanged. A
/// slice (a part of a buffer, made by slr_buffer_slice) counts as a buffer of its own: a replacement of the whole
/// buffer does not affect commands that were recorded with the slice. `out` gets a point that passes when the launch
/// has completed; `out` may be NULL.
///
/// Threads: any.  Blocks: no.  Owns: slipring keeps the buffers and the graph alive until the launch has completed.
/// Errors: INVALID (a NULL argument; a stream or buffer of another device; a rebinding of a buffer that was not
///   recorded or is named twice; a replacement buffer that is too short; rebindings that give two `__restrict__`
///   parameters of a kernel the same buffer, or buffers that overlap), WRONG_STATE (the graph or the stream is
///   recording; the host has mapped a range that the graph uses), NO_MEMORY.
SLR_API slr_status slr_graph_launch(slr_graph *graph, slr_stream *stream, const slr_rebinding *rebindings,
                                    uint32_t rebinding_count, slr_point *out);

#ifdef __cplusplus
}
#endif
#endif
