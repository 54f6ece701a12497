// SPDX-License-Identifier: Apache-2.0
/// The profiler: what each kernel and each way of copying has cost so far. It is the process's, over all its devices,
/// and off until it is asked for: by slr_profile_start, or by SLIPRING_PROFILE=FILE when the first device is opened.
/// Contract: docs/contract/profile.md.
#ifndef SLIPRING_PROFILE_H
#define SLIPRING_PROFILE_H

#include <slipring/devices.h>

#ifdef __cplusplus
extern "C" {
#endif

/// What a row is about.
enum {
    SLR_PROFILE_KERNEL = 1, ///< a kernel's launches
    SLR_PROFILE_UPLOAD,     ///< copies from the host to the device
    SLR_PROFILE_DOWNLOAD,   ///< copies from the device to the host
    SLR_PROFILE_COPY,       ///< copies on the device
    SLR_PROFILE_FILL,       ///< fills, also of new memory with zeros
    SLR_PROFILE_CALL,       ///< host functions in streams
    SLR_PROFILE_WAIT,       ///< the host's waits for points of streams, those that had to wait
    SLR_PROFILE_COMPILE,    ///< machine code made by a compiler
    SLR_PROFILE_LOAD,       ///< machine code found in the cache
    SLR_PROFILE_REGION,     ///< slr_region_begin to slr_region_end
    SLR_PROFILE_MESSAGE,    ///< a ring kernel's timed messages: one in latency_every, from the place in its mailbox on
    SLR_PROFILE_FULL,       ///< sends that found no place in a ring kernel's mailbox: how long they waited, if they did
    SLR_PROFILE_MEMORY,     ///< device memory taken from a heap: n and bytes; no time
    SLR_PROFILE_BATCH       ///< batches of a persistent ring kernel, by the device's clock: from taking to retirement
};

/// How well it is known what a kernel's launches are made of: bytes, operations. They are counted before a launch runs,
/// by walking some of its threads through the intermediate form with the launch's numbers (docs/contract/profile.md).
enum {
    SLR_COUNTED_NOT = 0, ///< how often a loop runs hangs on what is in memory
    SLR_COUNTED_AT_MOST, ///< both ways of a branch that hangs on what is in memory
    SLR_COUNTED_SAMPLED, ///< threads differ: scaled up from those that were walked
    SLR_COUNTED_EXACT    ///< all threads that were walked, 64 or all, did the same
};

#define SLR_PROFILE_LINES 8

typedef struct slr_profile_line {
    uint32_t line; ///< of the kernel's source; 0: no more
    float share;   ///< of the operations of the kernel's first launch, 0 to 1
} slr_profile_line;

/// Times are exact but for the quantiles, which are within 0.8 %.
typedef struct slr_profile_row {
    uint32_t kind;
    uint32_t counted;          ///< of a kernel: SLR_COUNTED_...
    const char *name, *device; ///< for the life of the process
    uint64_t n, total_ns, min_ns, mean_ns, p50_ns, p95_ns, p99_ns, max_ns;
    /// That were moved. Of a kernel: of each buffer at most once, so what has to come from memory at least. 0: not
    /// known.
    uint64_t bytes;
    double bytes_per_second; ///< bytes / total_ns
    // Of a kernel, all launches together; 0 where it was not counted, but for threads and blocks.
    uint64_t threads, blocks;
    uint64_t flops, flops64;                   ///< in single and in double precision
    uint64_t instructions;                     ///< of the intermediate form
    double flops_per_second;                   ///< both
    double intensity;                          ///< flops for each byte
    const char *file;                          ///< the name of its source, for the life of the process
    slr_profile_line lines[SLR_PROFILE_LINES]; ///< the busiest first
} slr_profile_row;

/// What a device can do at best, as far as our own kernels reach it.
typedef struct slr_ceilings {
    double bytes_per_second;                     ///< a[i] = b[i] + s * c[i] over 192 MiB, or less where that takes long
    double flops_per_second, flops64_per_second; ///< chains of multiplications and additions in registers
    double launch_ns;                            ///< of a kernel that does nothing, many behind each other
} slr_ceilings;

/// What bounds a kernel, after S. Williams and others, "Roofline", 2009: below the ceilings' ratio of flops to bytes it
/// is memory, above it computing.
enum { SLR_BOUND_UNKNOWN = 0, SLR_BOUND_MEMORY, SLR_BOUND_COMPUTE };

typedef struct slr_roofline {
    uint32_t bound;
    uint32_t reserved;
    double reached; ///< of what the device can do at the kernel's intensity: 0 to about 1, more where caches help
} slr_roofline;

/// Counts from here on; what was counted before stays. On already is fine.
/// Threads: any.  Blocks: 5 ms the first time (two clocks are compared).  Owns: nothing.  Errors: none.
SLR_API slr_status slr_profile_start(void);

/// Counts no further. What is in progress may still be counted.
/// Threads: any.  Blocks: no.
SLR_API void slr_profile_stop(void);

/// Forgets what was counted.
/// Threads: any.  Blocks: no.
SLR_API void slr_profile_clear(void);

/// What was counted: the rows that hold something, by falling time. Gives at most `most`; `count` is how many there
/// are. `out` may be NULL with `most` 0.
///
/// Threads: any.  Blocks: no.  Owns: nothing.  Errors: INVALID (NULL).
SLR_API slr_status slr_profile_read(slr_profile_row *out, uint32_t most, uint32_t *count);

/// What the device can do at best. Measured by running kernels on it the first time, which takes up to some seconds,
/// and kept in the cache folder for that device, CPU and version; measure before something is profiled.
///
/// Threads: any.  Blocks: while it measures.  Owns: nothing.
/// Errors: INVALID (NULL), UNSUPPORTED (the device runs no kernels), and what launching fails with.
SLR_API slr_status slr_profile_ceilings(slr_device *device, slr_ceilings *out);

/// Measures them again, for what was measured on a busy machine is too low, and keeps of each figure the better one.
/// As slr_profile_ceilings else.
SLR_API slr_status slr_profile_measure_ceilings(slr_device *device, slr_ceilings *out);

/// What bounds the kernel of a row. `ceilings` NULL: those measured before of the row's device, by whatever process.
/// UNKNOWN where there are none, or the row is no kernel's or was not counted.
/// Threads: any.  Blocks: while it reads a file, with `ceilings` NULL.  Owns: nothing.
SLR_API slr_roofline slr_profile_roofline(const slr_profile_row *row, const slr_ceilings *ceilings);

/// What a kind is called in files: "kernel", "upload", ...; NULL for what is none.
/// Threads: any.  Blocks: no.
SLR_API const char *slr_profile_kind_name(uint32_t kind);

/// Writes the rows to a file as one JSON object, whole or not at all. `%p` in the path stands for the process's number.
///
/// Threads: any.  Blocks: while it writes.  Owns: nothing.
/// Errors: INVALID (NULL), NOT_FOUND (the folder), SYSTEM, NO_MEMORY.
SLR_API slr_status slr_profile_write(const char *path);

#ifdef __cplusplus
}
#endif
#endif
