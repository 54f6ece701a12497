// SPDX-License-Identifier: Apache-2.0
/// The trace: start and duration of each event, in a file for Perfetto and chrome://tracing. There is one trace per
/// process. SLIPRING_TRACE=FILE starts the trace when the first device opens.
/// Contract: docs/contract/profile.md.
#ifndef SLIPRING_TRACE_H
#define SLIPRING_TRACE_H

#include <slipring/api.h>
#include <slipring/status.h>

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct slr_trace_desc {
    uint32_t struct_size;
    uint32_t events_per_thread; ///< events between two writes: a power of two, 1024 to 2^24; default 65,536 (3 MiB)
} slr_trace_desc;
#ifdef __cplusplus
static inline slr_trace_desc slr_trace_desc_init(void)
{
    slr_trace_desc desc = {};
    desc.struct_size = (uint32_t)sizeof desc;
    return desc;
}
#define SLR_TRACE_DESC_INIT slr_trace_desc_init()
#else
#define SLR_TRACE_DESC_INIT                                                                                            \
    {                                                                                                                  \
        .struct_size = (uint32_t)sizeof(slr_trace_desc)                                                                \
    }
#endif

typedef struct slr_trace_stats {
    uint64_t events;  ///< events written
    uint64_t dropped; ///< events lost for lack of room; the file also gives this number
} slr_trace_stats;

/// Starts a trace in a file. The trace replaces an existing file. `%p` in the path becomes the process ID. A thread of
/// slipring writes new events every 20 ms, so a killed process leaves the events up to then. `desc` may be NULL.
///
/// Threads: any.  Blocks: 5 ms the first time, and while the file is opened.  Owns: nothing.
/// Errors: INVALID (NULL, the size), WRONG_STATE (a trace is already running), SYSTEM (the file, a pipe without a
///   reader, the thread).
SLR_API slr_status slr_trace_start(const char *path, const slr_trace_desc *desc);

/// Ends the trace and its file; exit() does the same. `out` may be NULL.
/// Threads: any.  Blocks: while the call writes the file.  Owns: nothing.
/// Errors: WRONG_STATE (no trace is running), SYSTEM (the data did not fit on the disk and is lost).
SLR_API slr_status slr_trace_stop(slr_trace_stats *out);

/// The macro slr_trace_stop calls this function, with the struct's size as `bytes` (docs/contract/abi.md).
SLR_API slr_status slr_trace_stop_sized(slr_trace_stats *out, size_t bytes);
#define slr_trace_stop(out) slr_trace_stop_sized((out), sizeof(slr_trace_stats))

/// Begin and end of a named region of the calling thread's time. The name is copied. Regions nest at most 64 levels
/// deep. The region appears in the trace and the profile while these are on. It always appears in NVTX if a tool of
/// NVTX is attached.
///
/// Threads: any; begin and end on the same one.  Blocks: no.  `end` without `begin` does nothing; a NULL name is "".
SLR_API void slr_region_begin(const char *name);
SLR_API void slr_region_end(void);

#ifdef __cplusplus
}
#endif
#endif
