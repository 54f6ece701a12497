// SPDX-License-Identifier: Apache-2.0
/// slr_diagnose finds the bottlenecks of a program: it applies rules to the figures of slipring's profiler. For each
/// bottleneck, slr_diagnose gives the figure that shows it, and a line of code that could replace a line of the
/// program. Contract: docs/contract/profile.md.
///
///     slr_diagnosis found[SLR_BOTTLENECKS];
///     uint32_t count;
///     slr_profile_start();
///     ... // the program's work
///     slr_diagnose(NULL, found, SLR_BOTTLENECKS, &count);
///     for (uint32_t i = 0; i < count; i++)
///         printf("%s: %s\n  %s\n", found[i].name, found[i].text, found[i].change);
#ifndef SLIPRING_DIAGNOSE_H
#define SLIPRING_DIAGNOSE_H

#include <slipring/profile.h>

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/// The enum slr_bottleneck lists the kinds of bottleneck in the order in which slr_diagnose reports them.
typedef enum slr_bottleneck {
    SLR_BOTTLENECK_TRANSFERS = 1,     ///< copies take longer than kernels
    SLR_BOTTLENECK_TRANSFERS_IN_LOOP, ///< each launch has a copy to the device and a copy back
    SLR_BOTTLENECK_UNPINNED,          ///< the program copies to or from host memory that is not page-locked
    SLR_BOTTLENECK_LAUNCHES,          ///< many small launches
    SLR_BOTTLENECK_LAUNCH_LOOP,       ///< one place in the program launches many small kernels
    SLR_BOTTLENECK_APART,             ///< kernels that follow each other and could be fused into one
    SLR_BOTTLENECK_FEW_BLOCKS,     ///< launches with fewer blocks than the device has workers (slr_device_info.workers)
    SLR_BOTTLENECK_QUEUE_SMALL,    ///< senders wait for a full mailbox
    SLR_BOTTLENECK_QUEUE_LARGE,    ///< messages wait long in a mailbox, because many others wait before them
    SLR_BOTTLENECK_STALLS,         ///< the host waits for the end of each launch before it submits the next
    SLR_BOTTLENECK_ALLOCATION,     ///< the program allocates device memory in a loop
    SLR_BOTTLENECK_IDLE,           ///< the device works for less than half of the time
    SLR_BOTTLENECK_OVERSUBSCRIBED, ///< many more streams than the device has workers
    /// For at least a quarter of the time, more streams and ring kernels had work than the device has workers.
    SLR_BOTTLENECK_CONTENTION,
    SLR_BOTTLENECK_COMPILING,    ///< compilations take at least a tenth of the time
    SLR_BOTTLENECK_FRAGMENTED,   ///< a heap refused a request that its free bytes could hold
    SLR_BOTTLENECK_STRIDED,      ///< neighbouring threads access distant addresses
    SLR_BOTTLENECK_BANKS,        ///< bank conflicts: threads of a warp access one bank of shared memory in turn
    SLR_BOTTLENECK_DIVERGENCE,   ///< threads of one warp take different branches
    SLR_BOTTLENECK_OCCUPANCY,    ///< low occupancy: few of a kernel's blocks run at once
    SLR_BOTTLENECK_ROOF,         ///< a kernel reaches only a small part of the highest rate of the device's memory
    SLR_BOTTLENECK_UNSCALED,     ///< the program computes gradients in half precision without loss scaling
    SLR_BOTTLENECK_DETERMINISTIC ///< slr_ops_desc.deterministic excludes a faster algorithm of an operation
} slr_bottleneck;
#define SLR_BOTTLENECKS 23

/// The struct slr_timeline_depth gives the median depth of a mailbox (queue of a ring kernel): the number of messages
/// in the mailbox, read each time the ring kernel has handled timed messages. A timed message is a message whose
/// latency slipring measures.
typedef struct slr_timeline_depth {
    /// The ring kernel's name. slr_diagnose ignores the depth if the rows have ring kernels of this name on two
    /// devices.
    const char *ring;
    double median; ///< the median depth
} slr_timeline_depth;

/// slr_timeline_pair names two kernels, of which one follows the other on a stream.
typedef struct slr_timeline_pair {
    const char *first, *second; ///< the names of the kernels
    uint64_t count;             ///< how often the kernel `second` follows the kernel `first`
} slr_timeline_pair;

/// slr_timeline has figures that depend on the order of events in the program. The profiler's rows do not record this
/// order, so a program fills slr_timeline from a trace, as `slipring profile` does. The value 0 of a field means
/// unknown. Later versions of slipring only append fields to slr_timeline.
typedef struct slr_timeline {
    uint32_t struct_size;
    uint32_t streams;           ///< number of streams that did work
    uint64_t span_ns;           ///< time from the first event to the last
    uint64_t busy_ns;           ///< time in which at least one kernel, copy or batch of messages ran
    uint64_t contended_ns;      ///< time in which more streams and ring kernels had work than the device has workers
    const char *first, *second; ///< names of two kernels that follow each other on a stream
    uint64_t pairs;             ///< how often the kernel `second` follows the kernel `first`
    const slr_timeline_depth *depths; ///< an array with one depth for each ring kernel
    uint32_t depth_count;
    uint32_t reserved; ///< ignored
    /// An array with more pairs like `first` and `second`. slr_diagnose reports the most frequent pair that could be
    /// fused.
    const slr_timeline_pair *following;
    uint32_t following_count;
    uint32_t reserved_too; ///< ignored
} slr_timeline;
#ifdef __cplusplus
static inline slr_timeline slr_timeline_init(void)
{
    slr_timeline timeline = {};
    timeline.struct_size = (uint32_t)sizeof timeline;
    return timeline;
}
#define SLR_TIMELINE_INIT slr_timeline_init()
#else
#define SLR_TIMELINE_INIT                                                                                              \
    {                                                                                                                  \
        .struct_size = (uint32_t)sizeof(slr_timeline)                                                                  \
    }
#endif

typedef struct slr_diagnose_desc {
    uint32_t struct_size;
    uint32_t row_bytes; ///< sizeof(slr_profile_row), if `rows` is given
    /// The rows of a profile, the row with the longest total time first. NULL means the rows of this process's
    /// profiler.
    const slr_profile_row *rows;
    uint32_t row_count;
    uint32_t no_sources; ///< 1: slr_diagnose does not run the checker on the sources of the busiest kernels
    /// If `timeline` is NULL, slr_diagnose only knows how much time has passed since slr_profile_start, and rules that
    /// need more of slr_timeline find nothing.
    const slr_timeline *timeline;
    /// The device of the rows. If `device` is NULL, rules that need the device's workers or a kernel's occupancy find
    /// nothing.
    slr_device *device;
    const slr_ceilings *ceilings; ///< the highest rates of the device. NULL: those of an earlier measurement, if any
} slr_diagnose_desc;
#ifdef __cplusplus
static inline slr_diagnose_desc slr_diagnose_desc_init(void)
{
    slr_diagnose_desc desc = {};
    desc.struct_size = (uint32_t)sizeof desc;
    return desc;
}
#define SLR_DIAGNOSE_DESC_INIT slr_diagnose_desc_init()
#else
#define SLR_DIAGNOSE_DESC_INIT                                                                                         \
    {                                                                                                                  \
        .struct_size = (uint32_t)sizeof(slr_diagnose_desc)                                                             \
    }
#endif

/// slr_diagnosis describes one bottleneck.
typedef struct slr_diagnosis {
    uint32_t bottleneck;  ///< an slr_bottleneck
    uint32_t line;        ///< the number, in `file`, of the program's line that causes the bottleneck; 0: unknown
    double figure, limit; ///< the figure that the rule compared, and the limit with which the rule compared it
    char measure[64];     ///< what `figure` measures, such as "copies' time / kernels' time"
    char name[64];        ///< the bottleneck's name, as slr_bottleneck_name returns it
    char text[512];       ///< what the rule found, with figures, and what to do about it
    char change[256];     ///< a line of code that could replace line `line` of `file`
    char file[256];       ///< the file of that line: a source, or a file with machine code; "": unknown
    uint64_t offset;      ///< if `file` has machine code: the place of the call in `file`, in bytes; else 0
} slr_diagnosis;

/// Applies the rules, and stores the first bottlenecks that they find in `out`, at most `most`. `count` gets the number
/// of all bottlenecks that the rules found. Each rule compares a count, or the ratio of two figures, with a limit.
/// `desc` may be NULL. `out` may be NULL if `most` is 0.
///
/// Threads: any.  Blocks: while the interpreter runs the sources of the busiest kernels, unless `no_sources` is set.
/// Owns: nothing.
/// Errors: INVALID (a NULL argument; a wrong struct_size or row_bytes; a row_count above 0 with `rows` NULL),
///   NO_MEMORY.
SLR_API slr_status slr_diagnose(const slr_diagnose_desc *desc, slr_diagnosis *out, uint32_t most, uint32_t *count);

/// The macro slr_diagnose calls slr_diagnose_sized with the size of a diagnosis as `bytes` (docs/contract/abi.md).
SLR_API slr_status slr_diagnose_sized(const slr_diagnose_desc *desc, slr_diagnosis *out, size_t bytes, uint32_t most,
                                      uint32_t *count);
#define slr_diagnose(desc, out, most, count) slr_diagnose_sized((desc), (out), sizeof(slr_diagnosis), (most), (count))

/// Returns the name of a bottleneck, such as "transfer-bound", or NULL for an unknown number.
/// Threads: any.  Blocks: no.
SLR_API const char *slr_bottleneck_name(uint32_t bottleneck);

#ifdef __cplusplus
}
#endif
#endif
