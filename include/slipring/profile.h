// SPDX-License-Identifier: Apache-2.0
/// The profiler reports how long each kernel and each kind of copy has taken so far. A process has one profiler for all
/// its devices. A profile is a list of rows: one for each kernel, for each kind of copy, and for each other thing that
/// the first enum below lists. The profiler is off until the program calls slr_profile_start, or opens the first device
/// while the environment variable SLIPRING_PROFILE names a file. Contract: docs/contract/profile.md.
#ifndef SLIPRING_PROFILE_H
#define SLIPRING_PROFILE_H

#include <slipring/devices.h>
#include <slipring/kernel.h>

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/// The enum lists the kinds of row in a profile. A ring kernel is a message handler with a mailbox (a queue of
/// messages); a timed message is one whose latency slipring measures.
enum {
    SLR_PROFILE_KERNEL = 1, ///< launches of a kernel
    SLR_PROFILE_UPLOAD,     ///< copies from the host to the device
    SLR_PROFILE_DOWNLOAD,   ///< copies from the device to the host
    SLR_PROFILE_COPY,       ///< copies from one place to another in the device's memory
    SLR_PROFILE_FILL,       ///< fills of memory with a pattern; slipring's fills of new memory with zeros also count
    SLR_PROFILE_CALL,       ///< calls of host functions by streams
    /// Waits of the host until a point (place in the order of a stream's work) has passed. Calls that did not have to
    /// wait do not count.
    SLR_PROFILE_WAIT,
    SLR_PROFILE_COMPILE, ///< compilations of kernels and handlers to machine code
    SLR_PROFILE_LOAD,    ///< loads of machine code that was in the cache
    SLR_PROFILE_REGION,  ///< a named region of the program: the time from slr_region_begin to slr_region_end
    SLR_PROFILE_MESSAGE, ///< the latency of a ring kernel's timed messages (one in latency_every)
    SLR_PROFILE_FULL,    ///< backpressure: sends that found a ring kernel's mailbox full, and the time they waited
    SLR_PROFILE_MEMORY,  ///< allocations of device memory from a heap; the row has n and bytes, but no times
    SLR_PROFILE_BATCH,   ///< a ring kernel's batches: time in its handlers, by the host's or the device's clock
    /// How long one thread or work-group (an owner of shards) handled messages. With batched launches: the time of the
    /// dispatches.
    SLR_PROFILE_OWNER,
    SLR_PROFILE_REPLY, ///< calls of slr_call to a ring kernel: the time from the call to its return
    /// Requests that a heap refused although it had enough free bytes in several pieces; the row has n and bytes, but
    /// no times.
    SLR_PROFILE_FRAGMENTED,
    /// A call site (place in the program): number, time and bytes of its calls of one kind, such as "launch" or
    /// "upload".
    SLR_PROFILE_CALLER,
    /// An operation of neural networks (<slipring/ops.h>) for which slipring measured the fastest algorithm; `file` has
    /// the algorithm's name.
    SLR_PROFILE_ALGORITHM,
    /// An operation as in SLR_PROFILE_ALGORITHM, with the fastest of the algorithms that slipring left out because of
    /// slr_ops_desc.deterministic; `file` has the algorithm's name.
    SLR_PROFILE_KEPT_OUT,
    /// Batches of a persistent ring kernel that are missing in the rows of batches and owners, because there was no
    /// room to record them (slr_ring_stats.records_dropped); the row has n, but no times.
    SLR_PROFILE_MISSING,
    /// Messages of a persistent ring kernel on a device where a persistent kernel cannot read a clock; the row has n,
    /// but no times. Such a ring kernel has no rows of batches, owners and timed messages.
    SLR_PROFILE_UNTIMED
};

/// The enum says how accurate a kernel's counts of bytes and operations are. Before a launch, slipring interprets the
/// kernel for some threads, with the launch's arguments, and counts their bytes and operations
/// (docs/contract/profile.md).
enum {
    /// Not counted: a loop's number of iterations depends on memory, or the counting would take too long.
    SLR_COUNTED_NOT = 0,
    SLR_COUNTED_AT_MOST, ///< upper limit: of each branch that depends on memory, both sides are counted
    SLR_COUNTED_SAMPLED, ///< the interpreted threads differ; the counts of the other threads are estimated from the
                         ///< interpreted threads
    SLR_COUNTED_EXACT    ///< all interpreted threads (64, or all of the launch) did the same
};

#define SLR_PROFILE_LINES 8

typedef struct slr_profile_line {
    uint32_t line; ///< line of the kernel's source; 0: end of the list
    float share;   ///< the line's share of the instructions (of the IR) in the kernel's first launch, 0 to 1
} slr_profile_line;

/// The times in a row of the profile are exact, except that quantiles may be wrong by 0.8 %.
typedef struct slr_profile_row {
    uint32_t kind;
    uint32_t counted; ///< SLR_COUNTED_...: how accurate the counts are, in the row of a kernel or of batches; else 0
    /// `name` is the name of the row, such as a kernel's name; `device` is the name of the row's device. Both texts
    /// live as long as the process.
    const char *name, *device;
    uint64_t n, total_ns, min_ns, mean_ns, p50_ns, p95_ns, p99_ns, max_ns;
    /// In a row of copies or fills: the number of bytes copied or filled. In the row of a kernel: the least number of
    /// bytes that the kernel must read from memory and write to memory, because bytes that several threads read count
    /// once. 0 means unknown.
    uint64_t bytes;
    double bytes_per_second; ///< `bytes` divided by `total_ns`, as bytes per second
    // The fields from `threads` to `instructions` are counts of work. In the row of a kernel, the counts are the sum of
    // all launches. In the row of a ring kernel's batches, the counts are the sum of all messages: slipring counts the
    // work of one call of the handler for a message of unknown contents, and multiplies it by the number of messages.
    // If slipring could not count the work of a kernel, all these counts are 0 except threads and blocks.
    uint64_t threads, blocks;
    uint64_t flops, flops64; ///< `flops`: operations in single precision; `flops64`: operations in double precision
    uint64_t instructions;   ///< instructions of the IR, the compiler's intermediate form
    double flops_per_second; ///< operations in single and double precision together, divided by total_ns
    /// Arithmetic intensity: operations in single and double precision together, divided by `bytes`.
    double intensity;
    const char *file; ///< the name of the source file of the row's kernel or handler, valid for the life of the process
    /// Lines of this source with their shares of the instructions, the largest share first.
    slr_profile_line lines[SLR_PROFILE_LINES];
    uint64_t messages; ///< for rows of batches or of an owner: messages handled
    /// In rows of copies: the part of `bytes` that was copied to or from page-locked memory of the host.
    uint64_t pinned_bytes;
    /// In a caller row, `file` is the program or library that contains the caller's machine code, and `offset` is the
    /// place of the call, in bytes from the start of `file`. If the offset of a caller row is 0, `file` is a source
    /// file, and lines[0] has the line of the call.
    uint64_t offset;
} slr_profile_row;

/// slr_ceilings gives the ceilings of a device: the highest rates that slipring's own kernels have reached on it.
typedef struct slr_ceilings {
    /// Bytes that a kernel reads and writes per second, if it computes a[i] = b[i] + s * c[i] with 192 MiB of data, or
    /// with less if that takes long.
    double bytes_per_second;
    /// Operations per second in single and in double precision, in chains of multiplications and additions in
    /// registers.
    double flops_per_second, flops64_per_second;
    double launch_ns;     ///< time per launch of an empty kernel, in a sequence of many launches
    double round_trip_ns; ///< time for a launch of an empty kernel and the wait for its end
    // The next four fields are the time of a small copy and the rate of a large copy, to the device (upload, measured
    // with slr_buffer_write) and to the host (download, measured with slr_buffer_read).
    double upload_ns, upload_bytes_per_second, download_ns, download_bytes_per_second;
    /// Instructions of the IR per second, in code without divergent branches, on data in caches.
    double instructions_per_second;
    double branch_per_second; ///< instructions of the IR per second, if the threads of a warp take different branches
    double instruction_ns; ///< time per instruction of one thread, if each needs the result of the previous instruction
} slr_ceilings;

/// The enum says what limits a kernel's speed, by the roofline model ("Roofline", Williams and others, 2009). The
/// intensity of a kernel is its operations per byte of memory traffic. If the intensity is below the device's
/// operations per second divided by its bytes per second, memory is the limit; otherwise computation is.
enum { SLR_BOUND_UNKNOWN = 0, SLR_BOUND_MEMORY, SLR_BOUND_COMPUTE };

typedef struct slr_roofline {
    uint32_t bound;
    uint32_t reserved;
    /// The kernel's operations per second, divided by the most operations per second that the roofline model allows for
    /// the kernel's intensity on this device: 0 to about 1; more if caches help.
    double reached;
} slr_roofline;

/// Starts the profiler. slr_profile_start does not clear the counts of earlier profiling periods. If the profiler is
/// already on, slr_profile_start does nothing.
/// Threads: any.  Blocks: for 5 ms in the process's first call of slr_profile_start, because slipring then compares two
/// clocks.  Owns: nothing.
/// Errors: none.
SLR_API slr_status slr_profile_start(void);

/// Stops the profiler. The profiler may still count work that was in progress when the program called slr_profile_stop.
/// Threads: any.  Blocks: no.
SLR_API void slr_profile_stop(void);

/// Sets all counts and times of the profiler to zero.
/// Threads: any.  Blocks: no.
SLR_API void slr_profile_clear(void);

/// Gives at most `most` of the rows that are not empty, the row with the longest time first. `count` gets the total
/// number of rows that are not empty. `out` may be NULL if `most` is 0.
///
/// Threads: any.  Blocks: no.  Owns: nothing.  Errors: INVALID (a NULL argument).
SLR_API slr_status slr_profile_read(slr_profile_row *out, uint32_t most, uint32_t *count);

/// The macro slr_profile_read calls slr_profile_read_sized with the size of a row as `row_bytes`
/// (docs/contract/abi.md).
SLR_API slr_status slr_profile_read_sized(slr_profile_row *out, size_t row_bytes, uint32_t most, uint32_t *count);
#define slr_profile_read(out, most, count) slr_profile_read_sized((out), sizeof(slr_profile_row), (most), (count))

/// Gives the ceilings (highest rates) of a device. The first call of slr_profile_ceilings for a device runs kernels on
/// that device, for some seconds at most. slipring stores the result in the cache folder, separately for each device,
/// each CPU and each version of slipring. A program should call slr_profile_ceilings for the first time before it
/// starts the profiler.
///
/// Threads: any.  Blocks: while the call measures the device's performance.  Owns: nothing.
/// Errors: INVALID (a NULL argument), UNSUPPORTED (the device runs no kernels), and those of slr_launch.
SLR_API slr_status slr_profile_ceilings(slr_device *device, slr_ceilings *out);

/// The macro slr_profile_ceilings calls slr_profile_ceilings_sized with `sizeof(slr_ceilings)` as `bytes`
/// (docs/contract/abi.md).
SLR_API slr_status slr_profile_ceilings_sized(slr_device *device, slr_ceilings *out, size_t bytes);
#define slr_profile_ceilings(device, out) slr_profile_ceilings_sized((device), (out), sizeof(slr_ceilings))

/// Works like slr_profile_ceilings, but measures the performance again. For each figure, slipring keeps the better of
/// the stored value and the newly measured value, because a busy machine makes a device look slower than it is.
SLR_API slr_status slr_profile_measure_ceilings(slr_device *device, slr_ceilings *out);

/// The macro slr_profile_measure_ceilings calls slr_profile_measure_ceilings_sized with `sizeof(slr_ceilings)` as
/// `bytes` (docs/contract/abi.md).
SLR_API slr_status slr_profile_measure_ceilings_sized(slr_device *device, slr_ceilings *out, size_t bytes);
#define slr_profile_measure_ceilings(device, out)                                                                      \
    slr_profile_measure_ceilings_sized((device), (out), sizeof(slr_ceilings))

/// Says whether memory or computation limits the speed of the kernel that a row describes. If `ceilings` is NULL,
/// slr_profile_roofline uses the last measurement of the row's device by any process. The result of
/// slr_profile_roofline is UNKNOWN if there is no measurement, if the row is not a kernel's row, or if slipring has not
/// counted the kernel's work.
/// Threads: any.  Blocks: while the call reads a file, if `ceilings` is NULL.  Owns: nothing.
SLR_API slr_roofline slr_profile_roofline(const slr_profile_row *row, const slr_ceilings *ceilings);

/// Returns the name of a kind as the files of profile and trace show it, such as "kernel" or "upload". For an unknown
/// kind, the result is NULL.
/// Threads: any.  Blocks: no.
SLR_API const char *slr_profile_kind_name(uint32_t kind);

// ---- one kernel ----------------------------------------------------------------------------------------------------

/// slr_timing_desc sets the options of a measurement by slr_profile_kernel. A zero in any field of slr_timing_desc
/// means the default. Later versions of slipring only append fields to slr_timing_desc.
typedef struct slr_timing_desc {
    uint32_t struct_size;
    uint32_t warm_up; ///< number of samples before the measurement. These samples do not count. Default 3
    /// 1: no samples before the measurement, so the first sample that counts includes compiling and cold caches.
    uint32_t no_warm_up;
    uint32_t repeats;    ///< number of samples that count. Default 31
    uint32_t launches;   ///< launches per sample: more than 1 if one launch is too short for the clock. Default 1
    uint32_t reserved;   ///< ignored
    uint64_t timeout_ns; ///< time limit on each sample. Default: none
} slr_timing_desc;
#ifdef __cplusplus
static inline slr_timing_desc slr_timing_desc_init(void)
{
    slr_timing_desc desc = {};
    desc.struct_size = (uint32_t)sizeof desc;
    return desc;
}
#define SLR_TIMING_DESC_INIT slr_timing_desc_init()
#else
#define SLR_TIMING_DESC_INIT                                                                                           \
    {                                                                                                                  \
        .struct_size = (uint32_t)sizeof(slr_timing_desc)                                                               \
    }
#endif

/// slr_timing gives the times of one launch of a kernel. slipring measures the times by events of the device.
typedef struct slr_timing {
    uint32_t n;       ///< number of samples that count
    uint32_t counted; ///< SLR_COUNTED_...: how accurate `bytes` and `flops` are
    double min_ns, mean_ns, deviation_ns, p50_ns, p95_ns, p99_ns, max_ns;
    uint64_t bytes, flops;                     ///< bytes and operations of a launch, as in slr_profile_row
    double bytes_per_second, flops_per_second; ///< rates at the median time
    uint32_t grid[3], block[3];                ///< grid and block of the launches
} slr_timing;

/// Measures how long a kernel runs. On an internal stream, slr_profile_kernel first launches the kernel a few times
/// without counting these launches (the warm-up), and then takes the samples. The kernel runs on the caller's buffers,
/// which afterwards hold the results of all launches. `desc` may be NULL.
///
/// Threads: any.  Blocks: while the call compiles and runs the kernel.  Owns: nothing.
/// Errors: INVALID (a NULL argument; more than 1,000,000 samples or launches), TIMEOUT, and those of slr_launch.
SLR_API slr_status slr_profile_kernel(slr_kernel *kernel, slr_shape shape, const slr_arg *args, uint32_t count,
                                      const slr_timing_desc *desc, slr_timing *out);

/// The macro slr_profile_kernel calls slr_profile_kernel_sized with `sizeof(slr_timing)` as `bytes`
/// (docs/contract/abi.md).
SLR_API slr_status slr_profile_kernel_sized(slr_kernel *kernel, slr_shape shape, const slr_arg *args, uint32_t count,
                                            const slr_timing_desc *desc, slr_timing *out, size_t bytes);
#define slr_profile_kernel(kernel, shape, args, count, desc, out)                                                      \
    slr_profile_kernel_sized((kernel), (shape), (args), (count), (desc), (out), sizeof(slr_timing))

/// Writes the rows of the profile to a file as one JSON object. slipring writes the file completely or not at all. In
/// the path, `%p` is replaced by the process ID. If the path names a device file, a pipe, a link or a file with several
/// names, slr_profile_write writes to that file and does not replace it.
///
/// Threads: any.  Blocks: while the call writes the file; up to 10 s if a pipe's reader reads nothing.  Owns: nothing.
/// Errors: INVALID (a NULL argument), NOT_FOUND (no such folder), SYSTEM (also: a pipe without a reader), TIMEOUT,
///   NO_MEMORY.
SLR_API slr_status slr_profile_write(const char *path);

#ifdef __cplusplus
}
#endif
#endif
