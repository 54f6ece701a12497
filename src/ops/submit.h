// SPDX-License-Identifier: Apache-2.0
// The work of a library, in the order of a stream.
#ifndef SLRI_OPS_SUBMIT_H
#define SLRI_OPS_SUBMIT_H

#include "ops/operations.h"

struct slri_nvidia;

#define SLRI_LIBRARY_BUFFERS 4u

struct slri_library_call {
    const char *name; // of the algorithm; it stays
    // Does it. `queue` is the device's; NULL: this thread does the work.
    slr_status (*run)(const struct slri_library_call *call, struct slri_native_queue *queue);
    const void *plan;
    _Alignas(8) unsigned char room[80]; // for a library without plans
    uint64_t workspace_bytes;
    slr_buffer *workspace;                    // the submission's; NULL: none is needed
    slr_buffer *buffer[SLRI_LIBRARY_BUFFERS]; // each may be NULL; the first `reads` are only read
    uint32_t reads;
    float alpha, beta;
    bool is_native;             // the library puts its work into the device's queue; else the host does it
    struct slri_nvidia *nvidia; // held until it is done; or NULL
};

// Takes workspace of the device's pool. Errors: NO_MEMORY, and those of slri_stream_submit.
slr_status slri_library_submit(slr_ops *ops, slr_stream *stream, const struct slri_library_call *call, slr_point *out);

#define SLRI_LIBRARY_ALIGNMENT 256u

// Where a library's workspace begins: what a vendor's driver gives for a buffer need not be so aligned.
static inline void *slri_library_workspace(const struct slri_library_call *call)
{
    uintptr_t at = call->workspace ? (uintptr_t)slri_buffer_at(call->workspace, 0) : 0;
    return (void *)((at + SLRI_LIBRARY_ALIGNMENT - 1) / SLRI_LIBRARY_ALIGNMENT * SLRI_LIBRARY_ALIGNMENT);
}

static inline void *slri_library_at(const slr_buffer *buffer)
{
    return buffer ? slri_buffer_at(buffer, 0) : NULL;
}

#endif
