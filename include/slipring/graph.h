// SPDX-License-Identifier: Apache-2.0
/// Graphs: a sequence of a stream's work, recorded once and submitted many times as a unit. Contract:
/// docs/contract/streams.md.
#ifndef SLIPRING_GRAPH_H
#define SLIPRING_GRAPH_H

#include <slipring/stream.h>

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct slr_graph slr_graph;

/// A recorded buffer and its replacement.
typedef struct slr_rebinding {
    slr_buffer *recorded, *instead;
} slr_rebinding;

/// Makes an empty graph of a device.
/// Threads: any.  Blocks: no.  Owns: the caller gets the graph: slr_graph_destroy.  Errors: INVALID (NULL), NO_MEMORY.
SLR_API slr_status slr_graph_create(slr_device *device, slr_graph **out);

/// Releases the graph. Launches in flight complete. Not during a recording. NULL does nothing.
/// Threads: any, once.  Blocks: no.
SLR_API void slr_graph_destroy(slr_graph *graph);

/// Starts a recording. Until slr_graph_end, work submitted to the stream is appended to the graph and not executed.
/// Points returned during the recording refer to the work before it. Waits, events and prefetches to the host cannot be
/// recorded.
/// Threads: one at a time per stream.  Blocks: no.
/// Errors: INVALID (NULL, another device), WRONG_STATE (the graph or the stream is recording).
SLR_API slr_status slr_graph_begin(slr_graph *graph, slr_stream *stream);

/// Ends the recording. On a device with such support, the graph becomes one unit of work (on cuda, a CUDA graph).
/// Threads: as slr_graph_begin.  Blocks: while that is built.  Errors: INVALID (NULL), WRONG_STATE (not recording).
SLR_API slr_status slr_graph_end(slr_graph *graph);

typedef struct slr_graph_info {
    uint32_t commands; ///< number of recorded commands
    uint32_t as_one;   ///< 1: a launch submits the graph by one driver call, except with rebindings or profiling
    char reason[200];  ///< the reason for 0; else ""
} slr_graph_info;

/// Threads: any, not during a recording.  Blocks: no.  Owns: nothing.  Errors: INVALID (NULL).
SLR_API slr_status slr_graph_get_info(const slr_graph *graph, slr_graph_info *out);

/// The macro slr_graph_get_info calls this function, with the struct's size as `bytes` (docs/contract/abi.md).
SLR_API slr_status slr_graph_get_info_sized(const slr_graph *graph, slr_graph_info *out, size_t bytes);
#define slr_graph_get_info(graph, out) slr_graph_get_info_sized((graph), (out), sizeof(slr_graph_info))

/// Submits the graph as a unit: no other submission to the stream comes between its commands. `rebindings` replace
/// buffers for this launch. A replacement belongs to this device and is at least as long; the recorded length is used.
/// All rebindings apply at once, so two buffers may change places. A slice is a buffer of its own: to rebind the whole
/// buffer does not affect commands recorded with the slice.
///
/// Threads: any.  Blocks: no.  Owns: slipring holds the buffers and the graph until the work ends.
/// Errors: INVALID (NULL; another device; a buffer that was not recorded, is named twice or is too short; two
///   `__restrict__` parameters of a kernel that become one buffer, or overlap), WRONG_STATE (recording; a range is
///   mapped), NO_MEMORY.
SLR_API slr_status slr_graph_launch(slr_graph *graph, slr_stream *stream, const slr_rebinding *rebindings,
                                    uint32_t rebinding_count, slr_point *out);

#ifdef __cplusplus
}
#endif
#endif
