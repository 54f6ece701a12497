// SPDX-License-Identifier: Apache-2.0
/// A trace is a file with the start and the duration of each event (such as a launch, copy or wait). The programs
/// Perfetto and chrome://tracing show traces. A process can write one trace at a time. If the environment variable
/// SLIPRING_TRACE names a file, the trace starts when the program opens the first device. Contract:
/// docs/contract/profile.md.
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
    /// Number of events that slipring can hold for each thread until it writes them to the file: a power of two, 1,024
    /// to 2^24; default 65,536 (3 MiB).
    uint32_t events_per_thread;
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
    uint64_t events; ///< events that slipring wrote to the file
    /// Events that were lost because the room for a thread's events was full; the file also gives this number.
    uint64_t dropped;
} slr_trace_stats;

/// Starts a trace, which slipring writes to a file. The trace replaces a file that already exists. In the path, `%p` is
/// replaced by the process ID. A thread of slipring writes new events to the file every 20 ms. If the process is
/// killed, the trace's file has all events up to the last write. `desc` may be NULL.
///
/// Threads: any.  Blocks: for 5 ms at the first trace of the process, and while the call opens the file.  Owns:
/// nothing.
/// Errors: INVALID (a NULL argument, a wrong struct_size or events_per_thread), WRONG_STATE (a trace is already
///   running), SYSTEM (the file does not open, a pipe has no reader, or the thread does not start).
SLR_API slr_status slr_trace_start(const char *path, const slr_trace_desc *desc);

/// Ends the trace and closes its file. If the program does not call slr_trace_stop, exit() ends the trace. `out` may be
/// NULL.
/// Threads: any.  Blocks: while the call writes the file.  Owns: nothing.
/// Errors: WRONG_STATE (no trace is running), SYSTEM (events did not fit on the disk and are lost).
SLR_API slr_status slr_trace_stop(slr_trace_stats *out);

/// The macro slr_trace_stop calls slr_trace_stop_sized with `sizeof(slr_trace_stats)` as `bytes`
/// (docs/contract/abi.md).
SLR_API slr_status slr_trace_stop_sized(slr_trace_stats *out, size_t bytes);
#define slr_trace_stop(out) slr_trace_stop_sized((out), sizeof(slr_trace_stats))

/// The functions slr_region_begin and slr_region_end mark a named region of the calling thread's time. slipring copies
/// the name of the region. Regions nest at most 64 levels deep. A region appears in the trace while the trace is on,
/// and in the profile while the profiler is on. If a tool for NVTX (NVIDIA's interface for named regions) is attached
/// to the process, each region always appears in the tool.
///
/// Threads: any; slr_region_end runs on the thread that called the matching slr_region_begin.  Blocks: no.  A call of
/// slr_region_end without slr_region_begin does nothing; a NULL name counts as "".
SLR_API void slr_region_begin(const char *name);
SLR_API void slr_region_end(void);

#ifdef __cplusplus
}
#endif
#endif
