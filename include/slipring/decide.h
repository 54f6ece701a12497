// SPDX-License-Identifier: Apache-2.0
/// slr_decide finds the device, GPU or CPU, that does a piece of work fastest. slr_decide predicts the time of the work
/// on each device from figures of the device, such as its operations per second. On open devices, slr_decide can also
/// measure the time. Contract: docs/contract/decide.md.
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

/// slr_device_model has the figures of a device from which slr_decide predicts how long work takes on the device.
/// slr_device_get_model gives the figures of an open device. For a device that this machine lacks, the program itself
/// fills an slr_device_model.
typedef struct slr_device_model {
    char name[SLR_DEVICE_MODEL_NAME_BYTES];
    uint32_t device_class; ///< an slr_device_class
    uint32_t unified;      ///< 1: host and device share memory, so nothing is copied
    uint32_t units;        ///< number of multiprocessors of a GPU, compute units of OpenCL, or worker threads of a CPU
    uint32_t unit_threads; ///< the number of threads that each unit needs to reach the device's full rates
    double bytes_per_second; ///< bytes that kernels read and write in the device's memory, per second
    /// `flops_per_second`: operations on floats, per second; `flops64_per_second`: operations on doubles, per second.
    double flops_per_second, flops64_per_second;
    /// The rate at which the device executes instructions of slipring's IR (intermediate representation), if the
    /// threads of each warp take the same branches.
    double instructions_per_second;
    /// Instructions of the IR per second, if the threads of a warp all take different branches.
    double branch_per_second;
    double instruction_ns; ///< time of one instruction of one thread, if each instruction needs the result of the
                           ///< previous one
    double launch_ns;      ///< time of one launch, in a sequence of many launches
    double round_trip_ns;  ///< time of a launch of an empty kernel, together with the wait for its end
    // `upload_ns` is the time of a small copy to the device, and `download_ns` that of a small copy to the host.
    // `upload_bytes_per_second` and `download_bytes_per_second` are the rates of a large copy to the device and to the
    // host.
    double upload_ns, upload_bytes_per_second;
    double download_ns, download_bytes_per_second;
} slr_device_model;

/// Gives the figures of an open device. The figures come from slr_profile_ceilings, which measures each device once.
///
/// Threads: any.  Blocks: some seconds, while slr_device_get_model measures the device.  Owns: nothing.
/// Errors: INVALID (a NULL argument), UNSUPPORTED (the device runs no kernels), and those of slr_launch.
SLR_API slr_status slr_device_get_model(slr_device *device, slr_device_model *out);

/// The macro slr_device_get_model calls slr_device_get_model_sized with sizeof(slr_device_model) as `bytes`
/// (docs/contract/abi.md).
SLR_API slr_status slr_device_get_model_sized(slr_device *device, slr_device_model *out, size_t bytes);
#define slr_device_get_model(device, out) slr_device_get_model_sized((device), (out), sizeof(slr_device_model))

/// An slr_plain_call is a C function of the program that does the work once on the CPU, without a kernel. If an
/// slr_plain_call does not return SLR_OK, slr_decide fails.
typedef slr_status slr_plain_call(void *user);

/// A candidate is one way to do the work: on an open device, on a device that this machine lacks, or by a C function.
/// The program sets exactly one of the fields `device`, `model` and `call`.
typedef struct slr_candidate {
    slr_device *device; ///< an open device: slr_decide predicts the time of the work there, and may measure it
    /// The figures of a device that this machine lacks: slr_decide only predicts the time.
    const slr_device_model *model;
    size_t model_bytes;   ///< sizeof(slr_device_model), if `model` is given
    slr_plain_call *call; ///< a C function that does the work: slr_decide always measures its time
    void *user;           ///< argument of `call`
    /// With `model`: an open device on the same processor, which is a candidate too, or NULL. If slr_decide measures
    /// that device, it corrects the predicted time of this candidate: it multiplies the kernel's predicted time by the
    /// quotient of the measured and the predicted time of the kernel on that device. What a launch of up to twice its
    /// predicted time explains does not count (docs/contract/decide.md).
    slr_device *same_processor;
} slr_candidate;

#define SLR_MOST_CANDIDATES 16

// ---- work -----------------------------------------------------------------------------------------------------------

/// slr_decide_measure says for which open devices slr_decide measures the time of the work.
typedef enum slr_decide_measure {
    /// The default: slr_decide measures an open device if its predicted time and that of another candidate are within a
    /// factor of two. If a candidate is an slr_plain_call, slr_decide measures every open device.
    SLR_MEASURE_CLOSE = 1,
    SLR_MEASURE_ALWAYS, ///< every open device
    SLR_MEASURE_NEVER   ///< no open device
} slr_decide_measure;

typedef struct slr_work slr_work;

/// An slr_work_resize is a function of the program that changes `work` to the same work with `threads` threads.
/// slr_decide calls this function to find the number of threads at which two candidates are equally fast. An
/// slr_work_resize function returns SLR_NOT_FOUND if the work cannot have `threads` threads. If an slr_work_resize
/// function returns any other error, slr_decide fails with that error.
typedef slr_status slr_work_resize(void *user, uint64_t threads, slr_work *work);

/// slr_work describes one call of the work for which slr_decide chooses a device. A zero in any field of slr_work means
/// the default. Later versions of slipring only append fields to slr_work.
struct slr_work {
    uint32_t struct_size;
    uint32_t resident; ///< 1: the data stays on the device between calls of the work, so no bytes are copied
    /// `kernel` is the kernel that does the work, or NULL; slr_decide counts its operations. The kernel may belong to
    /// any device, also to a device that interprets kernels.
    slr_kernel *kernel;
    slr_shape shape;     ///< shape of the kernel's launch
    const slr_arg *args; ///< arguments of the kernel
    /// An argument may be a buffer that is NULL. `buffer_bytes` has one element for each argument: the size of a NULL
    /// buffer, in bytes. slr_decide predicts the time of work with a NULL buffer, but cannot measure the time on a
    /// device.
    const uint64_t *buffer_bytes;
    uint32_t arg_count; ///< number of arguments
    uint32_t launches;  ///< launches in one call of the work, one after the other. 0 means 1
    // The following fields are figures of one launch: its threads, its instructions of the IR, its operations on floats
    // (`flops`) and on doubles (`flops64`), and the bytes that it reads and writes in the device's memory
    // (`memory_bytes`). If `kernel` is set, slr_decide itself counts each figure that the program has left 0. If
    // `kernel` is NULL, the program must set `threads`.
    uint64_t threads, instructions, flops, flops64, memory_bytes;
    /// `divergence` is the part of a warp's lanes (threads) that wait while other lanes branch, from 0 to 1. If
    /// `divergence` is 0 and `kernel` is set, slr_decide counts the divergence itself.
    double divergence;
    // `bytes_in` and `bytes_out` are the bytes that each call copies to and from the device, unless `resident` is set.
    // If `kernel` is set, and `bytes_in` and `bytes_out` are 0, slr_decide counts them itself: `bytes_in` is the sum of
    // the sizes of the buffers that the kernel reads, and `bytes_out` of the buffers that it may write.
    uint64_t bytes_in, bytes_out;
    /// `wait_share` is the part of a call's time, on the slowest CPU among the candidates, in which the call waits for
    /// input or output: 0 to below 1. slr_decide adds the same waiting time to the time of every candidate.
    double wait_share;
    /// `calls_per_second` is the mean number of calls that arrive per second, at random times. If calls_per_second is
    /// 0, each call begins when the previous call has ended.
    double calls_per_second;
    /// For slr_estimate.capacity: the time in nanoseconds within which 99 % of the calls must end. 0: no limit.
    uint64_t latency_ns;
    uint32_t measure;        ///< an slr_decide_measure
    uint32_t reserved;       ///< ignored
    uint64_t budget_ns;      ///< time limit for all measurements. 0 means 2 s
    slr_work_resize *resize; ///< NULL: all figures grow in proportion to the number of threads
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

/// slr_decided_by says whether a time was predicted from figures, or measured.
typedef enum slr_decided_by { SLR_BY_MODEL = 1, SLR_BY_MEASUREMENT } slr_decided_by;

/// slr_kernel_bound names what limits the speed of a kernel, as slr_decide predicts.
typedef enum slr_kernel_bound {
    SLR_BY_MEMORY = 1, ///< reads and writes in the device's memory
    SLR_BY_COMPUTING,  ///< the operations of all threads
    SLR_BY_BRANCHING,  ///< the instructions of threads that take different branches
    SLR_BY_ONE_THREAD  ///< the instructions of one thread, one after the other
} slr_kernel_bound;

/// slr_estimate has the times that slr_decide estimates for one candidate. All times in slr_estimate are for one call
/// of the work.
typedef struct slr_estimate {
    char name[SLR_DEVICE_MODEL_NAME_BYTES];
    uint32_t device_class; ///< an slr_device_class
    uint32_t by;           ///< an slr_decided_by: where `call_ns` comes from
    uint32_t bound;        ///< an slr_kernel_bound: what limits the kernel's speed; 0 for an slr_plain_call
    uint32_t samples;      ///< number of measurements on this candidate
    double copy_ns, launch_ns, kernel_ns, wait_ns; ///< predicted times of a call's copies, launches, kernels and waits
    double predicted_ns;                           ///< the sum of the four predicted times; 0 for an slr_plain_call
    double measured_ns;                            ///< the median of the measured times; 0: not measured
    double call_ns;                                ///< `measured_ns` + `wait_ns` if measured, else `predicted_ns`
    /// `busy` is the part of the time in which the candidate works, from 0 to 1, with slr_work.calls_per_second calls
    /// per second. If calls_per_second is 0, each call follows the previous one.
    double busy;
    /// `queue_ns` is the mean time for which a call waits for earlier calls, with slr_work.calls_per_second calls per
    /// second. INFINITY means that calls arrive faster than the candidate can complete them.
    double queue_ns;
    double p99_ns; ///< 99th percentile of a call's time, including the wait for earlier calls
    /// `capacity` is the largest number of calls per second of which 99 % end within slr_work.latency_ns. If latency_ns
    /// is 0, `capacity` is the number of calls per second if each call begins when the previous one ends.
    double capacity;
    /// 1: the predicted times are corrected by a measurement on slr_candidate.same_processor
    uint32_t is_corrected;
    uint32_t reserved;
} slr_estimate;

/// slr_decision is the recommendation of slr_decide. All times are for one call of the work.
typedef struct slr_decision {
    uint32_t candidate; ///< index of the recommended candidate
    /// `next` is the index of the best candidate of the other kind: a CPU if `candidate` is no CPU, and otherwise a
    /// device that is no CPU. Without such a candidate, `next` is the second best, or equals `candidate` if there is
    /// only one.
    uint32_t next;
    uint32_t by; ///< an slr_decided_by: SLR_BY_MEASUREMENT if both `candidate` and `next` were measured
    /// How accurate slr_decide's counts of the kernel's work are, as SLR_COUNTED_... (<slipring/profile.h>);
    /// SLR_COUNTED_EXACT if the program gave the figures.
    uint32_t counted;
    double ratio; ///< a call's time on `next` / its time on `candidate`; both times include waits for earlier calls
    /// `crossover_threads` is the number of threads at which the candidates `candidate` and `next` are equally fast. If
    /// `crossover_threads` is 0, there is no such number: the candidate with the smaller `call_ns` is faster at all
    /// sizes that slr_decide compares (1 thread, 2, 4 and so on, up to 2^40). If one of the two is an slr_plain_call,
    /// whose time is known for one size only, or if both are the same, slr_decide compares no sizes, and
    /// `crossover_threads` is 0.
    double crossover_threads;
    // slr_decide bases its prediction on the following figures, which have the same meanings as in slr_work.
    uint64_t threads, instructions, flops, flops64, memory_bytes, bytes_in, bytes_out;
    double divergence;
    char why[400]; ///< the reason for the recommendation, in words, with figures
} slr_decision;

/// Recommends the candidate that does the work fastest. slr_decide recommends a device other than the CPU only if that
/// device is at least 1.25 times as fast as the best CPU. The reason: a smaller gain is not worth the work of keeping
/// data on a second device. If slr_decide measures a kernel, the kernel works on copies of the buffers, so the buffers
/// keep their contents.
///
/// Threads: any.  Blocks: while slr_decide counts the operations of the kernel and measures devices.  Owns: nothing.
/// The array `estimates` has room for `count` estimates, one for each candidate, or is NULL.
/// Errors: INVALID (a NULL argument; a wrong struct_size; no candidates or more than 16; a candidate with none or
///   several of `device`, `model` and `call`; a candidate whose `same_processor` is no candidate, or that has no
///   `model`; no kernel and no threads; an argument that slr_launch refuses),
///   UNSUPPORTED (the kernel's work cannot be counted or interpreted; SLR_MEASURE_ALWAYS with a buffer that is NULL),
///   COMPILE, NO_MEMORY, and those of slr_launch.
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
