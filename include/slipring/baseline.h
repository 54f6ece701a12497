// SPDX-License-Identifier: Apache-2.0
/// A baseline is the throughput or latency that is expected of an operation. slr_baseline_compare compares measured
/// samples with a baseline, and shows whether the operation has become slower. Contract: docs/contract/baseline.md.
///
///     slr_baseline baseline = SLR_BASELINE_INIT;
///     slr_comparison result;
///     baseline.operation = "vector_add";
///     baseline.target = 1e9; // elements per second
///     slr_baseline_compare(&baseline, rates, count, &result);
///     if (result.verdict == SLR_VERDICT_REGRESSED)
///         fprintf(stderr, "%s\n", result.why);
#ifndef SLIPRING_BASELINE_H
#define SLIPRING_BASELINE_H

#include <slipring/status.h>

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum slr_verdict {
    SLR_VERDICT_SAME = 1,
    SLR_VERDICT_REGRESSED,
    SLR_VERDICT_IMPROVED,
    SLR_VERDICT_UNDECIDED ///< the measured samples scatter too much for a verdict
} slr_verdict;

/// slr_baseline describes a baseline: the throughput or latency that is expected of an operation. The library never
/// changes a baseline.
typedef struct slr_baseline {
    uint32_t struct_size;
    /// If is_latency is 0, all samples are throughputs, and more is better. If is_latency is 1, all samples are
    /// latencies, and less is better.
    uint32_t is_latency;
    const char *operation; ///< the operation's name, which slr_comparison.why contains. NULL means "operation"
    double target;    ///< the expected throughput or latency, in the unit of the samples. 0: the median of `samples`
    double tolerance; ///< the allowed loss of speed, as a fraction above 0 and below 1, such as 0.05. 0 means 0.1
    /// Samples of the operation from an earlier measurement; NULL: no samples, and `target` counts as exact. If
    /// `target` is not 0, the samples only say how much the target scatters: slipring scales them so that `target` is
    /// their median.
    const double *samples;
    uint32_t sample_count; ///< number of elements of `samples`
    uint32_t reserved;     ///< ignored
} slr_baseline;
#ifdef __cplusplus
static inline slr_baseline slr_baseline_init(void)
{
    slr_baseline baseline = {};
    baseline.struct_size = (uint32_t)sizeof baseline;
    return baseline;
}
#define SLR_BASELINE_INIT slr_baseline_init()
#else
#define SLR_BASELINE_INIT                                                                                              \
    {                                                                                                                  \
        .struct_size = (uint32_t)sizeof(slr_baseline)                                                                  \
    }
#endif

/// slr_comparison is the result of slr_baseline_compare.
typedef struct slr_comparison {
    uint32_t verdict;  ///< an slr_verdict
    uint32_t reserved; ///< 0
    double value;      ///< the median of the new samples, which are the argument `samples`
    double target;     ///< the target with which `value` was compared
    double tolerance;  ///< slr_baseline.tolerance, or the default 0.1
    double speed; ///< for throughputs value / target, for latencies target / value. Below 1: slower than the target
    /// Ends of the 95 % confidence interval of `speed`, by bootstrap (repeated random draws from the samples). If
    /// slipring compares `speed` itself with the bounds, `low` and `high` equal `speed`.
    double low, high;
    char why[200]; ///< the verdict and the figures that decided it, as one line of text
} slr_comparison;

/// Compares measured samples with a baseline. The figure `speed` of the result says how fast the operation is, relative
/// to the target. The lower bound of `speed` is 1 - tolerance; the upper bound is 1 / (1 - tolerance). The verdict is
/// REGRESSED below the lower bound, IMPROVED above the upper bound, and SAME between the two bounds. If `count` is 1
/// and the baseline has at most one sample, `speed` itself is compared with the bounds. In all other cases, the whole
/// 95 % confidence interval of `speed` must lie below, above or between the bounds. If the confidence interval contains
/// a bound, the verdict is UNDECIDED. slr_baseline_compare gives the same result each time for the same samples.
///
/// Threads: any.  Blocks: no.  Owns: nothing.
/// Errors: INVALID (a NULL argument; a wrong struct_size; `count` is 0; a sample or a target that is not a finite
///   number above 0; a tolerance outside its range; a baseline with neither target nor samples), NO_MEMORY.
SLR_API slr_status slr_baseline_compare(const slr_baseline *baseline, const double *samples, uint32_t count,
                                        slr_comparison *out);

/// The macro slr_baseline_compare calls slr_baseline_compare_sized with sizeof(slr_comparison) as `bytes`
/// (docs/contract/abi.md).
SLR_API slr_status slr_baseline_compare_sized(const slr_baseline *baseline, const double *samples, uint32_t count,
                                              slr_comparison *out, size_t bytes);
#define slr_baseline_compare(baseline, samples, count, out)                                                            \
    slr_baseline_compare_sized((baseline), (samples), (count), (out), sizeof(slr_comparison))

/// Returns the name of a verdict: "same", "regressed", "improved" or "not decided". For a number that is no verdict,
/// slr_verdict_name returns "unknown".
SLR_API const char *slr_verdict_name(uint32_t verdict);

#ifdef __cplusplus
}
#endif
#endif
