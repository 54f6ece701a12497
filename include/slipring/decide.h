// SPDX-License-Identifier: Apache-2.0
/// GPU or CPU: where a piece of work is best done, by the figures of the devices, and by measurement where they are
/// open. Contract: docs/contract/decide.md.
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

/// What decides how long work takes on a device. From slr_device_get_model, or figures of a device that is not here.
typedef struct slr_device_model {
    char name[SLR_DEVICE_MODEL_NAME_BYTES];
    uint32_t device_class;   ///< slr_device_class
    uint32_t unified;        ///< 1: host and device share memory, so nothing is copied
    uint32_t units;          ///< multiprocessors, compute units, workers
    uint32_t unit_threads;   ///< threads on each of them that reach the full rate
    double bytes_per_second; ///< of the device's memory
    double flops_per_second, flops64_per_second;
    double instructions_per_second;            ///< of the intermediate form, in regular code
    double branch_per_second;                  ///< instructions, where the threads of a warp each branch another way
    double instruction_ns;                     ///< of one thread, each needing the result of the one before
    double launch_ns;                          ///< per launch, in a sequence of many
    double round_trip_ns;                      ///< a launch of an empty kernel, and the wait for its end
    double upload_ns, upload_bytes_per_second; ///< a copy to the device: its fixed part, its rate
    double download_ns, download_bytes_per_second;
} slr_device_model;

/// Gives the figures of an open device. They are those of slr_profile_ceilings, which measures once per device.
///
/// Threads: any.  Blocks: while it measures, some seconds.  Owns: nothing.
/// Errors: INVALID (a NULL), UNSUPPORTED (the device runs no kernels), and those of a launch.
SLR_API slr_status slr_device_get_model(slr_device *device, slr_device_model *out);

/// The macro slr_device_get_model calls this function, with the struct's size as `bytes` (docs/contract/abi.md).
SLR_API slr_status slr_device_get_model_sized(slr_device *device, slr_device_model *out, size_t bytes);
#define slr_device_get_model(device, out) slr_device_get_model_sized((device), (out), sizeof(slr_device_model))

/// The work as a plain C function: one call of it. Not SLR_OK: it failed, and so does slr_decide.
typedef slr_status slr_plain_call(void *user);

/// A place where the work may be done: one of the three.
typedef struct slr_candidate {
    slr_device *device;            ///< an open device: predicted from its own figures, and measured
    const slr_device_model *model; ///< a device that is not here: predicted
    size_t model_bytes;            ///< sizeof(slr_device_model), where `model` is given
    slr_plain_call *call;          ///< measured always
    void *user;                    ///< of `call`
} slr_candidate;

#define SLR_MOST_CANDIDATES 16

// ---- work -----------------------------------------------------------------------------------------------------------

/// When open devices are measured.
typedef enum slr_decide_measure {
    SLR_MEASURE_CLOSE = 1, ///< the default: where two predictions are within a factor of two
    SLR_MEASURE_ALWAYS,
    SLR_MEASURE_NEVER
} slr_decide_measure;

typedef struct slr_work slr_work;

/// Changes `work` to the same work of another size, for the crossover. NOT_FOUND: there is none so large. Any other
/// failure ends slr_decide.
typedef slr_status slr_work_resize(void *user, uint64_t threads, slr_work *work);

/// One call of the work. Zero means the default; fields are only appended.
struct slr_work {
    uint32_t struct_size;
    uint32_t resident; ///< 1: the data stays on the device between calls, and nothing is copied
    /// A kernel, which is counted. The kernel may belong to any device, including the interpreter.
    slr_kernel *kernel;
    slr_shape shape;
    const slr_arg *args;
    const uint64_t *buffer_bytes; ///< one per argument, for those whose buffer is NULL: counted, not measured
    uint32_t arg_count;
    uint32_t launches; ///< per call, one after the other. 0: 1
    // Figures of one launch. With a kernel those that are 0 are counted; without one, `threads` is needed.
    uint64_t threads, instructions, flops, flops64, memory_bytes;
    double divergence; ///< 0 to 1: lanes of a warp that wait while others branch another way. 0 with a kernel: counted
    // Copied per call, unless `resident`. 0 with a kernel: the buffers that it reads; those that it may write.
    uint64_t bytes_in, bytes_out;
    double wait_share; ///< 0 to below 1: part of a call on the slowest CPU candidate that waits for input or output
    double calls_per_second; ///< calls arrive at random, also while others wait (open loop). 0: each follows the last
    uint64_t latency_ns;     ///< limit that 99 % of the calls must keep, for the capacity. 0: none
    uint32_t measure;        ///< slr_decide_measure
    uint32_t reserved;       ///< ignored
    uint64_t budget_ns;      ///< for measuring. 0: 2 s
    slr_work_resize *resize; ///< NULL: work of another size has all figures in proportion
    void *user;              ///< of `resize`
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

/// What bounds a predicted kernel.
typedef enum slr_kernel_bound {
    SLR_BY_MEMORY = 1, ///< bytes of the device's memory
    SLR_BY_COMPUTING,  ///< operations
    SLR_BY_BRANCHING,  ///< instructions of threads that diverge
    SLR_BY_ONE_THREAD  ///< the instructions of one thread, one after the other
} slr_kernel_bound;

/// One candidate. Times are of one call.
typedef struct slr_estimate {
    char name[SLR_DEVICE_MODEL_NAME_BYTES];
    uint32_t device_class;                         ///< slr_device_class
    uint32_t by;                                   ///< slr_decided_by: what `call_ns` is
    uint32_t bound;                                ///< slr_kernel_bound; 0 for a plain call
    uint32_t samples;                              ///< that were measured
    double copy_ns, launch_ns, kernel_ns, wait_ns; ///< the parts of the prediction
    double predicted_ns;                           ///< their sum; 0 for a plain call
    double measured_ns;                            ///< median; 0: not measured
    double call_ns;                                ///< the measured one if there is one, else the predicted one
    double busy;     ///< part of the time that the device works, at the arrival rate or, without one, back to back
    double queue_ns; ///< mean wait for earlier calls, at the arrival rate; INFINITY: more arrive than it can do
    double p99_ns;   ///< 99th percentile of a call with its wait, at the arrival rate; without one: of a call
    double capacity; ///< calls per second that keep to `latency_ns`; without that: back to back
} slr_estimate;

typedef struct slr_decision {
    uint32_t candidate; ///< the one that is recommended
    uint32_t next;      ///< the best of another class, or else of all others; `candidate` if it is alone
    uint32_t by;        ///< slr_decided_by: MEASUREMENT if both were measured
    uint32_t counted;   ///< SLR_COUNTED_... of the kernel's figures; of given ones EXACT
    double ratio;       ///< the time of `next` divided by that of `candidate`, with their waits
    /// Threads at which `candidate` and `next` take as long; 0: one of them is faster at all sizes.
    double crossover_threads;
    // What the prediction stands on, of one launch.
    uint64_t threads, instructions, flops, flops64, memory_bytes, bytes_in, bytes_out;
    double divergence;
    char why[400];
} slr_decision;

/// Decides. A candidate other than a CPU must be faster by a quarter: less is not worth a second place for the data.
/// Kernels that are measured run on copies of the buffers.
///
/// Threads: any.  Blocks: while it counts and measures.  Owns: nothing. `estimates` has `count` elements, or is NULL.
/// Errors: INVALID (NULL; struct_size; no candidates or more than 16; a candidate that is none or several of the three;
/// no kernel and no threads; an argument as
///   in slr_launch), UNSUPPORTED (the kernel's work cannot be counted or interpreted; ALWAYS with a buffer that is
///   NULL), COMPILE, NO_MEMORY, and those of a launch.
SLR_API slr_status slr_decide(const slr_work *work, const slr_candidate *candidates, uint32_t count,
                              slr_estimate *estimates, slr_decision *out);

/// The macro slr_decide calls this function, with the sizes of the structs (docs/contract/abi.md).
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
