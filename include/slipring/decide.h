// SPDX-License-Identifier: Apache-2.0
/// slr_decide finds the device, GPU or CPU, that does a piece of work fastest. slr_decide predicts the time of the work
/// on each device from figures of the devices, and can measure the time on open devices. Contract:
/// docs/contract/decide.md.
///
///     slr_work work = SLR_WORK_INIT;
///     work.kernel = saxpy; work.shape = SLR_1D(n); work.args = args; work.arg_count = 4;
///     const slr_candidate candidates[] = {{.device = cpu}, {.model = &h100, .model_bytes = sizeof h100}};
///     slr_decide(&work, candidates, 2, estimates, &decision);
#ifndef SLIPRING_DECIDE_H
#define SLIPRING_DECIDE_H

#include <slipring/devices.h>
#include <slipring/kernel.h>

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

// ---- devices --------------------------------------------------------------------------------------------------------

#define SLR_DEVICE_MODEL_NAME_BYTES 64

/// The figures in slr_device_model decide how long work takes on a device. slr_device_get_model gives the figures of an
/// open device. For a device that this machine lacks, the program fills slr_device_model itself.
typedef struct slr_device_model {
    char name[SLR_DEVICE_MODEL_NAME_BYTES];
    uint32_t device_class;   ///< slr_device_class
    uint32_t unified;        ///< 1: host and device share memory, so nothing is copied
    uint32_t units;          ///< multiprocessors, compute units, or worker threads
    uint32_t unit_threads;   ///< the number of threads per unit that is needed for the full rate
    double bytes_per_second; ///< rate of the device's memory
    double flops_per_second, flops64_per_second;
    double instructions_per_second; ///< instructions of slipring's intermediate form, in code without divergence
    double branch_per_second;       ///< instructions per second, if each thread of a warp takes another branch
    double instruction_ns; ///< time per instruction of one thread, if each instruction needs the result of the previous
                           ///< instruction
    double launch_ns;      ///< time per launch, in a sequence of many launches
    double round_trip_ns;  ///< a launch of an empty kernel, and the wait for its end
    double upload_ns, upload_bytes_per_second; ///< a copy to the device: fixed time; rate
    double download_ns, download_bytes_per_second;
} slr_device_model;

/// Gives the figures of an open device. These figures of the device come from slr_profile_ceilings, which measures each
/// device once.
///
/// Threads: any.  Blocks: some seconds, while slr_device_get_model measures the device.  Owns: nothing.
/// Errors: INVALID (a NULL argument), UNSUPPORTED (the device runs no kernels), and those of slr_launch.
SLR_API slr_status slr_device_get_model(slr_device *device, slr_device_model *out);

/// The macro slr_device_get_model calls slr_device_get_model_sized with the struct's size as `bytes`
/// (docs/contract/abi.md).
SLR_API slr_status slr_device_get_model_sized(slr_device *device, slr_device_model *out, size_t bytes);
#define slr_device_get_model(device, out) slr_device_get_model_sized((device), (out), sizeof(slr_device_model))

/// An slr_plain_call is a C function of the program that does the work once on the CPU. If an slr_plain_call does not
/// return SLR_OK, slr_decide fails.
typedef slr_status slr_plain_call(void *user);

/// A candidate is one way to do the work. The program sets exactly one of `device`, `model` and `call`.
typedef struct slr_candidate {
    slr_device *device; ///< an open device: slr_decide predicts its time from its figures, and may measure the time
    const slr_device_model *model; ///< a device that is not here: slr_decide only predicts its time
    size_t model_bytes;            ///< sizeof(slr_device_model), if `model` is given
    slr_plain_call *call;          ///< a C function: slr_decide always measures its time
    void *user;                    ///< argument of `call`
} slr_candidate;

#define SLR_MOST_CANDIDATES 16

// ---- work -----------------------------------------------------------------------------------------------------------

/// slr_decide_measure says when slr_decide measures the work on open devices.
typedef enum slr_decide_measure {
    SLR_MEASURE_CLOSE = 1, ///< if two predictions are within a factor of two (the default)
    SLR_MEASURE_ALWAYS,
    SLR_MEASURE_NEVER
} slr_decide_measure;

typedef struct slr_work slr_work;

/// Changes `work` to the same work with `threads` threads. slr_decide uses a slr_work_resize function to find the size
/// at which two candidates are equally fast. A slr_work_resize function returns NOT_FOUND if the work cannot have so
/// many threads. If a slr_work_resize function returns any other error, slr_decide fails with that error.
typedef slr_status slr_work_resize(void *user, uint64_t threads, slr_work *work);

/// slr_work describes one call of the work for which slr_decide chooses a device. A zero in any field of slr_work means
/// the default. Later versions of slipring only append fields to slr_work.
struct slr_work {
    uint32_t struct_size;
    uint32_t resident; ///< 1: the data stays on the device between calls, and nothing is copied
    /// slr_decide counts the operations of the kernel `kernel`. The kernel may belong to any device, also to a device
    /// that interprets kernels.
    slr_kernel *kernel;
    slr_shape shape;
    const slr_arg *args;
    const uint64_t *buffer_bytes; ///< one per argument: the size of a buffer that is NULL. Such work is never measured
    uint32_t arg_count;
    uint32_t launches; ///< launches per call, one after the other. 0 means 1
    // The following fields are figures of one launch, such as its operations and bytes. If `kernel` is set, slr_decide
    // itself counts each figure that the program has left 0. If `kernel` is NULL, the program must set `threads`.
    uint64_t threads, instructions, flops, flops64, memory_bytes;
    double divergence; ///< 0 to 1: part of a warp's lanes (threads) that wait while others branch. 0: slr_decide counts
                       ///< it, if `kernel` is set
    // `bytes_in` and `bytes_out` are the bytes that each call copies to and from the device, unless `resident` is set.
    // If `kernel` is set, and `bytes_in` and `bytes_out` are 0, slr_decide adds up the sizes of the buffers that the
    // kernel reads, and of those that it may write.
    uint64_t bytes_in, bytes_out;
    double wait_share;       ///< 0 to below 1: part of a call on the slowest CPU that is a wait for input or output
    double calls_per_second; ///< calls come at random times, so many per second. 0: each call begins when the previous
                             ///< call has ended
    uint64_t latency_ns;     ///< time in which 99 % of the calls must end, for slr_estimate.capacity. 0: no limit
    uint32_t measure;        ///< slr_decide_measure
    uint32_t reserved;       ///< ignored
    uint64_t budget_ns;      ///< time for measurements. 0 means 2 s
    slr_work_resize *resize; ///< NULL: all figures grow in proportion to the threads
    void *user;              ///< argument of `resize`
};
#ifdef __cplusplus
static inline slr_work slr_work_init(void)
{
    slr_work work = {};
    work.struct_size = (uint32_t)sizeof work;
    return work;
}
#define SLR_WORK_INIT slr_work_init()
#else
#define SLR_WORK_INIT                                                                                                  \
    {                                                                                                                  \
        .struct_size = (uint32_t)sizeof(slr_work)                                                                      \
    }
#endif

// ---- the decision ---------------------------------------------------------------------------------------------------

typedef enum slr_decided_by { SLR_BY_MODEL = 1, SLR_BY_MEASUREMENT } slr_decided_by;

/// slr_kernel_bound names what limits the speed of a kernel, as slr_decide predicts.
typedef enum slr_kernel_bound {
    SLR_BY_MEMORY = 1, ///< transfers to and from the device's memory
    SLR_BY_COMPUTING,  ///< operations
    SLR_BY_BRANCHING,  ///< instructions of threads that diverge
    SLR_BY_ONE_THREAD  ///< the instructions of one thread, one after the other
} slr_kernel_bound;

/// slr_estimate has the times that slr_decide estimates for one candidate. All times in slr_estimate are for one call
/// of the work.
typedef struct slr_estimate {
    char name[SLR_DEVICE_MODEL_NAME_BYTES];
    uint32_t device_class;                         ///< slr_device_class
    uint32_t by;                                   ///< slr_decided_by: where `call_ns` comes from
    uint32_t bound;                                ///< slr_kernel_bound; 0 for a plain call
    uint32_t samples;                              ///< number of measurements
    double copy_ns, launch_ns, kernel_ns, wait_ns; ///< the parts of the prediction
    double predicted_ns;                           ///< the sum of the four parts; 0 for a plain call
    double measured_ns;                            ///< median; 0: not measured
    double call_ns;                                ///< `measured_ns` if measured, else `predicted_ns`
    double busy; ///< part of the time in which the device works, at calls_per_second; without a rate, each call follows
                 ///< the last
    double queue_ns; ///< mean wait for earlier calls, at calls_per_second; INFINITY: the candidate is too slow
    double p99_ns;   ///< 99th percentile of a call's time, with its wait if calls_per_second is given
    double capacity; ///< most calls per second of which 99 % end within `latency_ns`; without this limit: calls one
                     ///< after the other
} slr_estimate;

typedef struct slr_decision {
    uint32_t candidate; ///< index of the recommended candidate
    uint32_t next;      ///< the best of another device class, else the second best; `candidate` if there is no other
    uint32_t by;        ///< slr_decided_by: MEASUREMENT if `candidate` and `next` were measured
    uint32_t counted;   ///< SLR_COUNTED_...: how accurate the kernel's counts are; EXACT for given figures
    double ratio; ///< time of a call on `next`, divided by the time of a call on `candidate`; both include waits for
                  ///< earlier calls
    /// `crossover_threads` is the number of threads at which the candidates `candidate` and `next` are equally fast. If
    /// `crossover_threads` is 0, one of the two candidates is faster at all sizes.
    double crossover_threads;
    // slr_decide bases its prediction on the following figures of one launch.
    uint64_t threads, instructions, flops, flops64, memory_bytes, bytes_in, bytes_out;
    double divergence;
    char why[400];
} slr_decision;

/// Recommends the candidate that does the work fastest. slr_decide recommends a device other than the CPU only if that
/// device is faster than the best CPU by a quarter. A smaller gain is not worth the work of keeping data on a second
/// device. slr_decide measures kernels on copies of the buffers, so the buffers keep their contents.
///
/// Threads: any.  Blocks: while slr_decide counts the operations of the kernel and measures devices.  Owns: nothing.
/// `estimates` has `count` elements, or is NULL.
/// Errors: INVALID (a NULL argument; struct_size; no candidates or more than 16; a candidate with none or several of
///   `device`, `model` and `call`; no kernel and no threads; an argument that slr_launch refuses), UNSUPPORTED (the
///   kernel's work cannot be counted or interpreted; ALWAYS with a buffer that is NULL), COMPILE, NO_MEMORY, and those
///   of slr_launch.
SLR_API slr_status slr_decide(const slr_work *work, const slr_candidate *candidates, uint32_t count,
                              slr_estimate *estimates, slr_decision *out);

/// The macro slr_decide calls slr_decide_sized with the sizes of the structs (docs/contract/abi.md).
SLR_API slr_status slr_decide_sized(const slr_work *work, const slr_candidate *candidates, size_t candidate_bytes,
                                    uint32_t count, slr_estimate *estimates, size_t estimate_bytes, slr_decision *out,
                                    size_t bytes);
#define slr_decide(work, candidates, count, estimates, out)                                                            \
    slr_decide_sized((work), (candidates), sizeof(slr_candidate), (count), (estimates), sizeof(slr_estimate), (out),   \
                     sizeof(slr_decision))

#ifdef __cplusplus
}
#endif
#endif
