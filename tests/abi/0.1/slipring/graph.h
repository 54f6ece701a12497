// SPDX-License-Identifier: Apache-2.0
/// Graphs: a list of a stream's work, recorded once and submitted many times as one. Contract:
/// docs/contract/streams.md.
#ifndef SLIPRING_GRAPH_H
#define SLIPRING_GRAPH_H

#include <slipring/stream.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct slr_graph slr_graph;

/// A buffer that was recorded, and the one to use in its place.
typedef struct slr_rebinding {
    slr_buffer *recorded, *instead;
} slr_rebinding;

/// Makes an empty graph of a device.
/// Threads: any.  Blocks: no.  Owns: the caller gets the graph: slr_graph_destroy.  Errors: INVALID (NULL), NO_MEMORY.
SLR_API slr_status slr_graph_create(slr_device *device, slr_graph **out);

/// Gives the graph up; launches in flight are done. Not while it is recorded into. NULL is fine.
/// Threads: any, once.  Blocks: no.
SLR_API void slr_graph_destroy(slr_graph *graph);

/// From here to slr_graph_end, what is submitted to the stream is put behind what the graph has, and not done. Points
/// given meanwhile are of what came before. Waits, events and prefetches to the host can not be recorded.
/// Threads: one at a time a stream.  Blocks: no.
/// Errors: INVALID (NULL, another device), WRONG_STATE (either is recording).
SLR_API slr_status slr_graph_begin(slr_graph *graph, slr_stream *stream);

/// Ends the recording. On a device that can, all of the graph becomes one piece of work for it (on cuda, a CUDA graph).
/// Threads: as slr_graph_begin.  Blocks: while that is made.  Errors: INVALID (NULL), WRONG_STATE (not recording).
SLR_API slr_status slr_graph_end(slr_graph *graph);

typedef struct slr_graph_info {
    uint32_t commands; ///< that are recorded
    uint32_t as_one;   ///< 1: a launch gives the device all of it by one call, unless it rebinds or is profiled
    char reason[200];  ///< why not, else ""
} slr_graph_info;

/// Threads: any, not while it is recorded into.  Blocks: no.  Owns: nothing.  Errors: INVALID (NULL).
SLR_API slr_status slr_graph_get_info(const slr_graph *graph, slr_graph_info *out);

/// Submits all of it as one: nothing of another submission to the stream comes between. `rebindings` name buffers to
/// use instead, for this launch, of this device and at least as long, of which as many bytes are used; all at the same
/// time, so that two may change places. A slice is a buffer of its own: rebinding the whole leaves what was recorded
/// with the slice.
///
/// Threads: any.  Blocks: no.  Owns: holds the buffers and the graph until done.
/// Errors: INVALID (NULL, another device, a buffer that was not recorded, is named twice or is too short, two
/// `__restrict__` parameters of a kernel that become one buffer), WRONG_STATE (recording; a range is mapped),
/// NO_MEMORY.
SLR_API slr_status slr_graph_launch(slr_graph *graph, slr_stream *stream, const slr_rebinding *rebindings,
                                    uint32_t rebinding_count, slr_point *out);

#ifdef __cplusplus
}
#endif
#endif
