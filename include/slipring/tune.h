// SPDX-License-Identifier: Apache-2.0
/// The tuner finds the fastest launch of a kernel by measurement, and stores its choice for later launches in any
/// process. Contract: docs/contract/tuning.md.
#ifndef SLIPRING_TUNE_H
#define SLIPRING_TUNE_H

#include <slipring/kernel.h>

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

// ---- tunable macros ------------------------------------------------------------------------------------------------

/// slr_tunable describes a macro that a source declares tunable, such as "#pragma slipring tune TILE = 8, 16, 32". The
/// text and the array of slr_tunable live as long as the program.
typedef struct slr_tunable {
    const char *name;
    const int64_t *values; ///< the values that the tuner may give the macro, in ascending order
    uint32_t value_count;
    uint32_t line; ///< the line of the source that declares the macro tunable
    int64_t value; ///< the macro's value in this program
} slr_tunable;

/// Gives a tunable macro of a program. `index` counts the tunable macros from 0, in the order of the source.
/// Threads: any.  Blocks: no.  Owns: the program owns the text and the array in `out`.  Errors: NOT_FOUND (`index` is
/// past the last macro), INVALID (a NULL argument).
SLR_API slr_status slr_program_get_tunable(const slr_program *program, uint32_t index, slr_tunable *out);

/// The macro slr_program_get_tunable calls slr_program_get_tunable_sized with `sizeof(slr_tunable)` as `bytes`
/// (docs/contract/abi.md).
SLR_API slr_status slr_program_get_tunable_sized(const slr_program *program, uint32_t index, slr_tunable *out,
                                                 size_t bytes);
#define slr_program_get_tunable(program, index, out)                                                                   \
    slr_program_get_tunable_sized((program), (index), (out), sizeof(slr_tunable))

// ---- tuning ---------------------------------------------------------------------------------------------------------

/// The enum slr_tune_metric names the figure that the tuner makes as small as possible.
typedef enum slr_tune_metric {
    SLR_TUNE_TIME = 1,   ///< median time of one launch
    SLR_TUNE_THROUGHPUT, ///< median time per launch, if 16 launches run one after the other
    SLR_TUNE_TAIL,       ///< 99th percentile of the times of at least 100 launches
    /// Energy of one launch; costs are in microjoules. slipring reads the device's metric "energy_mj" (metrics.h) while
    /// the launch runs again and again: for at least 0.5 s and 5 steps of the metric, or 4 s and 4 steps. The figure
    /// is of the whole device, with its idle power and with the work of other programs. Without such a metric, or if
    /// the metric stands still for 4 s, slr_tune fails with UNSUPPORTED, unless slr_tune_desc.measure is set.
    SLR_TUNE_ENERGY
} slr_tune_metric;

/// The enum says in which order the tuner tries the candidates (the launches among which it chooses).
typedef enum slr_tune_strategy {
    /// The default: first the candidates that a cost model expects to be fast; the model learns from each measurement.
    SLR_TUNE_MODEL = 1,
    SLR_TUNE_EXHAUSTIVE, ///< every candidate, one after the other
    SLR_TUNE_RANDOM,     ///< candidates in a random order, which slr_tune_desc.seed determines
    /// The tuner begins with the default launch, and goes on to a faster neighbour: a candidate that differs by one
    /// step in one value. If no neighbour is faster, the tuner begins again with a random candidate.
    SLR_TUNE_LOCAL
} slr_tune_strategy;

typedef enum slr_tune_state {
    SLR_TUNE_MEASURED = 1,
    /// The candidate cannot be launched: its block is too large, or it needs too much shared memory or too many
    /// registers.
    SLR_TUNE_REFUSED,
    SLR_TUNE_WRONG, ///< the candidate's results differ from the results of the default launch
    /// The candidate does not compile, has faulted, does not end, or accesses memory outside a buffer.
    SLR_TUNE_FAILED
} slr_tune_state;

/// The enum lists the flags for slr_tune_desc.flags.
typedef enum slr_tune_flag {
    SLR_TUNE_DISCARD = 1,     ///< slipring does not store the tuner's choice for later launches
    SLR_TUNE_KEEP_MACROS = 2, ///< the tuner does not try other values of the tunable macros
    SLR_TUNE_KEEP_BLOCK = 4,  ///< the tuner does not try blocks; slipring chooses the block
    SLR_TUNE_KEEP_WIDTH = 8,  ///< the tuner does not try vector widths; the device chooses the width
    /// The tuner does not try the macro SLIPRING_SELECT, which compiles short branches without jumps.
    SLR_TUNE_KEEP_BRANCHES = 16
} slr_tune_flag;

/// slr_tune_candidate describes a launch that the tuner tried.
typedef struct slr_tune_candidate {
    const char *defines; ///< values of the macros, such as "TILE=16 ROWS=2"; "": the values in the source
    slr_shape shape;     ///< the candidate's block, grid and vector width
    slr_tune_state state;
    uint32_t is_default;
    /// The smallest of the candidate's first samples: nanoseconds per launch, as the metric defines them (of
    /// energy microjoules), or the result of slr_tune_desc.measure. The tuner measures the fastest candidate so far in
    /// turn with this one, and scales the cost to the speed that the device had when that candidate was measured first.
    double cost;
    double predicted;    ///< the cost that the cost model predicted, in a unit of the model's own; 0: no prediction
    const char *why;     ///< why the candidate was not measured; else ""
    uint32_t evaluation; ///< the number of this candidate in the order in which the tuner tried them, from 1
    uint32_t most;       ///< the number of candidates that the tuner will try at most
    /// Number of candidates that the source's `require` lines allow. If there are too many combinations, the tuner
    /// draws some at random, and `space` counts only these.
    uint32_t space;
} slr_tune_candidate;

/// slipring calls the program's function slr_tune_desc.watch on the thread that called slr_tune, each time the tuner
/// has tried a candidate.
typedef void slr_tune_watcher(void *user, const slr_tune_candidate *candidate);

/// A function of type slr_tune_meter measures one sample of a candidate for the tuner, instead of slipring, which
/// measures by the device's events. The cost in `*cost` may be energy, for example, or an invented number in a test; it
/// is a finite number above 0, otherwise the tuner refuses the candidate (INVALID). The tuner also calls the function
/// for candidates that it measured earlier, as a reference for this one; `candidate->evaluation` is then their number.
/// Before slipring calls the measuring function, the tuner checks the candidate's results and makes the candidate's
/// kernel and arguments ready to launch. A buffer that the kernel reads has its contents from before the tuning; one
/// that the kernel only writes holds what an earlier launch has left.
typedef slr_status slr_tune_meter(void *user, slr_stream *stream, slr_kernel *kernel,
                                  const slr_tune_candidate *candidate, double *cost);

typedef struct slr_tune_desc {
    uint32_t struct_size;
    uint32_t metric;   ///< slr_tune_metric; default: SLR_TUNE_TIME
    uint32_t strategy; ///< slr_tune_strategy; default: SLR_TUNE_MODEL
    /// Most candidates to try; default: all candidates for EXHAUSTIVE, else a tenth of the candidates, at least 12.
    uint32_t evaluations;
    uint64_t budget_ns; ///< time limit, exceeded by at most one candidate; default: 60 s per problem, 10 min
                        ///< with SLR_TUNE_ENERGY
    uint64_t seed;      ///< seed of all random choices
    /// Samples of each candidate before the tuner drops the slower half; default: 5, and 2 with SLR_TUNE_ENERGY. While
    /// the search tries a candidate, it takes up to four times as many if the two smallest samples differ by more than
    /// 3 %. If the candidate seems the fastest one so far, the tuner takes as many again.
    uint32_t repeats;
    uint32_t flags; ///< slr_tune_flag values, combined with |
    /// `tolerance` says how much a candidate's result may differ from the default launch's result, relative to the
    /// larger absolute value of the two. `tolerance` holds for the floating-point numbers in a buffer, also of half
    /// precision and in structs; with it, -0 equals 0, and each NaN equals each NaN. All other bytes must be the same,
    /// also the padding of structs.
    /// The default 0 of `tolerance` means that the results must be the same bit for bit: then -0 differs from 0.
    /// slr_tune refuses a `tolerance` that is below 0, infinite or NaN.
    /// Only programs with slr_program_desc.tuned = SLR_TUNED_ANY use a choice whose results differ.
    double tolerance;
    slr_tune_watcher *watch; ///< called after each candidate; or NULL
    slr_tune_meter *measure; ///< measures each sample of a candidate, instead of slipring; or NULL
    void *user;              ///< the argument `user` of `watch` and `measure`
} slr_tune_desc;
#ifdef __cplusplus
static inline slr_tune_desc slr_tune_desc_init(void)
{
    slr_tune_desc desc = {};
    desc.struct_size = (uint32_t)sizeof desc;
    return desc;
}
#define SLR_TUNE_DESC_INIT slr_tune_desc_init()
#else
#define SLR_TUNE_DESC_INIT                                                                                             \
    {                                                                                                                  \
        .struct_size = (uint32_t)sizeof(slr_tune_desc)                                                                 \
    }
#endif

/// slr_tune_problem says what the tuner tunes for: a launch's threads and arguments. If the shape sets a block, the
/// tuner does not change the block.
typedef struct slr_tune_problem {
    slr_shape shape;
    const slr_arg *args;
    uint32_t arg_count;
} slr_tune_problem;

#define SLR_TUNED_DEFINES_BYTES 256

/// slr_tuned describes what the tuner chose for a problem.
typedef struct slr_tuned {
    slr_shape shape; ///< the shape of the launch, with block and grid set
    /// Values of the macros, such as "TILE=16 ROWS=2"; "": the values in the source.
    char defines[SLR_TUNED_DEFINES_BYTES];
    uint32_t is_default; ///< 1: the tuner found no candidate that is certainly faster than the default launch
    uint32_t is_exact;   ///< 1: the results equal the results of the default launch, bit for bit
    /// Costs of the default launch and of the choice: nanoseconds per launch (of energy microjoules), or the results of
    /// slr_tune_desc.measure. The tuner measures the two launches alternately.
    double default_cost, cost;
    /// `speedup` is how many times as fast as the default launch the choice is: the median of alternate measurements,
    /// so it can differ from default_cost / cost. The other two are the ends of its 95 % interval.
    double speedup, speedup_low, speedup_high;
    uint32_t space; ///< number of candidates, as in slr_tune_candidate.space
    /// Number of candidates tried; how many of them were refused, had wrong results, or failed (slr_tune_state).
    uint32_t evaluations, refused, wrong, failed;
    uint32_t metric;   ///< the slr_tune_metric that the tuner made as small as possible
    uint64_t spent_ns; ///< time that tuning this problem took
    /// The reason for this choice, as a sentence. If slipring could not store the choice in the cache folder, a second
    /// sentence says so, and only this process uses the choice.
    char reason[256];
} slr_tuned;

/// Tunes a kernel for each of `count` problems, one after the other. `out` must have room for `count` results.
///
/// A candidate is a combination of values of the source's tunable macros. If neither the shape nor the source sets a
/// block, a candidate also includes a block. If the device has vector widths, a candidate also includes a vector width.
/// slipring first runs each candidate with checks, so that a candidate that does not end or leaves a buffer only fails.
/// slipring compares the results of each candidate with the results of the default launch. The tuner measures the best
/// candidates and the default launch alternately, and drops the worse half of the candidates. The tuner repeats both
/// steps until one candidate is left. slipring chooses this candidate if the whole 95 % interval of its speed-up over
/// the default launch is above 1, and at least five samples of each show it. After tuning, the buffers have the same
/// contents as before.
///
/// Threads: any, while no other work uses the buffers.  Blocks: until all problems are tuned; slr_tune_desc.budget_ns
///   limits the time.
/// Errors: INVALID (a NULL argument, a wrong argument; the default launch fails), UNSUPPORTED (SLR_TUNE_ENERGY without
///   `measure` on a device that counts no energy; a raw program), WRONG_STATE (the source file has changed since it was
///   loaded; the default launch gives different results each time), COMPILE, NO_MEMORY, and those of the default
///   launch.
SLR_API slr_status slr_tune(slr_kernel *kernel, const slr_tune_problem *problems, uint32_t count,
                            const slr_tune_desc *desc, slr_tuned *out);

/// The macro slr_tune calls slr_tune_sized with the size of a result as `bytes` (docs/contract/abi.md).
SLR_API slr_status slr_tune_sized(slr_kernel *kernel, const slr_tune_problem *problems, uint32_t count,
                                  const slr_tune_desc *desc, slr_tuned *out, size_t bytes);
#define slr_tune(kernel, problems, count, desc, out)                                                                   \
    slr_tune_sized((kernel), (problems), (count), (desc), (out), sizeof(slr_tuned))

/// Gives the choice that a launch with the shape `shape` uses: the tuner's choice for that number of threads, if there
/// is one, else the default.
/// Threads: any.  Blocks: no.  Owns: nothing.  Errors: INVALID (a NULL argument, an impossible shape).
SLR_API slr_status slr_kernel_get_tuned(slr_kernel *kernel, slr_shape shape, slr_tuned *out);

/// The macro slr_kernel_get_tuned calls slr_kernel_get_tuned_sized with `sizeof(slr_tuned)` as `bytes`
/// (docs/contract/abi.md).
SLR_API slr_status slr_kernel_get_tuned_sized(slr_kernel *kernel, slr_shape shape, slr_tuned *out, size_t bytes);
#define slr_kernel_get_tuned(kernel, shape, out) slr_kernel_get_tuned_sized((kernel), (shape), (out), sizeof(slr_tuned))

/// slr_tuned_entry describes a tuner's choice that is stored in the cache folder. The struct slr_tuned_entry and its
/// texts are valid until the visitor returns.
typedef struct slr_tuned_entry {
    /// `kernel`: name of the kernel; `device`: the name by which slr_device_open opens the device.
    const char *kernel, *device;
    const char *model, *compiler, *driver;
    const slr_tuned *tuned; ///< the choice; of its shape, only `threads`, `block` and `vector_width` are set
} slr_tuned_entry;

typedef void slr_tuned_visitor(void *user, const slr_tuned_entry *entry);

/// Calls the visitor for each choice that the tuner has stored for the program's source. The visitor gets the choices
/// for all devices, but only choices that the running version of the library has stored.
/// Threads: any.  Blocks: while the call reads files.  Owns: nothing.
/// Errors: INVALID (a NULL argument), NOT_FOUND (no cache folder), SYSTEM, NO_MEMORY.
SLR_API slr_status slr_program_visit_tuned(const slr_program *program, slr_tuned_visitor *visit, void *user);

#ifdef __cplusplus
}
#endif
#endif
