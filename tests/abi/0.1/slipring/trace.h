// SPDX-License-Identifier: Apache-2.0
/// The trace: when each thing began and how long it took, in a file that Perfetto and chrome://tracing load. It is the
/// process's; SLIPRING_TRACE=FILE begins it when the first device is opened. Contract: docs/contract/profile.md.
#ifndef SLIPRING_TRACE_H
#define SLIPRING_TRACE_H

#include <slipring/api.h>
#include <slipring/status.h>

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct slr_trace_desc {
    uint32_t struct_size;
    uint32_t events_per_thread; ///< room between two writings, a power of two from 1024 to 2^24; default 65,536 (3 MiB)
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
    uint64_t events;  ///< written
    uint64_t dropped; ///< for want of room; the file says so too
} slr_trace_stats;

/// Begins a trace in a new file; one that is there is replaced. `%p` in the path stands for the process's number. A
/// thread of slipring's writes what has come every 20 ms, so that a process that is killed leaves what it had by then.
/// `desc` may be NULL.
///
/// Threads: any.  Blocks: 5 ms the first time, and while the file is opened.  Owns: nothing.
/// Errors: INVALID (NULL, the size), WRONG_STATE (there is a trace already), SYSTEM (the file, the thread).
SLR_API slr_status slr_trace_start(const char *path, const slr_trace_desc *desc);

/// Ends the trace and its file; exit() does that too. `out` may be NULL.
/// Threads: any.  Blocks: while it writes.  Owns: nothing.  Errors: WRONG_STATE (there is none), SYSTEM (what was
/// written did not fit, and is lost).
SLR_API slr_status slr_trace_stop(slr_trace_stats *out);

/// A region of the calling thread's time, by any name, which is copied; at most 64 deep. In the trace and the profile
/// while they are on; and in NVTX, where one of its tools is there, whether they are on or not.
///
/// Threads: any; begin and end in the same one.  Blocks: no.  `end` without `begin` does nothing; NULL is "".
SLR_API void slr_region_begin(const char *name);
SLR_API void slr_region_end(void);

#ifdef __cplusplus
}
#endif
#endif
