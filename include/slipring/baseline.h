// SPDX-License-Identifier: Apache-2.0
/// A comparison with a baseline shows whether an operation has become slower. Contract: docs/contract/baseline.md.
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

/// A baseline is the throughput or latency that is expected of an operation. The library never changes a baseline.
typedef struct slr_baseline {
    uint32_t struct_size;
    uint32_t is_latency;   ///< 0: samples are throughputs, more is better. 1: samples are latencies, less is better
    const char *operation; ///< the operation's name, for the text `why`. NULL means "operation"
    double target;         ///< the expected value, in the samples' unit. 0: the median of `samples`
    double tolerance;      ///< relative to `target`, above 0 and below 1. 0 means 0.1
    const double *samples; ///< earlier samples of the operation, from which the target comes; NULL: `target` is exact
    uint32_t sample_count;
    uint32_t reserved; ///< ignored
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

typedef struct slr_comparison {
    uint32_t verdict;  ///< slr_verdict
    uint32_t reserved; ///< 0
    double value;      ///< median of the samples
    double target;     ///< the target with which `value` was compared
    double tolerance;  ///< the tolerance of the comparison
    double speed;      ///< throughput: value / target; latency: target / value. Below 1 means slower
    double low, high;  ///< 95 % confidence interval of `speed`, by bootstrap; with one sample and an exact target, both
                       ///< are `speed`
    char why[200];
} slr_comparison;

/// Compares measured samples with a baseline. The figure `speed` says how fast the operation is, relative to the
/// target. The lower bound of `speed` is 1 - tolerance; the upper bound is 1 / (1 - tolerance). The verdict is
/// REGRESSED if `speed` is below the lower bound, IMPROVED if it is above the upper bound, and else SAME. With one
/// sample and an exact target, the value of `speed` itself decides the verdict. Otherwise, the 95 % confidence interval
/// of `speed` decides the verdict, if the whole interval lies below, above or between the bounds. If the interval
/// contains a bound, the verdict is UNDECIDED. slr_baseline_compare gives the same result each time for the same
/// samples.
///
/// Threads: any.  Blocks: no.  Owns: nothing.
/// Errors: INVALID (a NULL argument; a wrong struct_size; no sample; a number that is not finite and above 0; a
///   tolerance outside its range; neither target nor samples), NO_MEMORY.
SLR_API slr_status slr_baseline_compare(const slr_baseline *baseline, const double *samples, uint32_t count,
                                        slr_comparison *out);

/// The macro slr_baseline_compare calls slr_baseline_compare_sized with the struct's size as `bytes`
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
