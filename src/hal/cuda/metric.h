// SPDX-License-Identifier: Apache-2.0
// What a management library says, as a metric.
#ifndef SLRI_HAL_CUDA_METRIC_H
#define SLRI_HAL_CUDA_METRIC_H

#include <slipring/metrics.h>

#include <stdint.h>

// Not one that it could not say: an `error` but 0.
static inline void slri_cu_put_metric(slr_metrics *out, int32_t error, const char *name, uint64_t value)
{
    if (error == 0 && out->count < SLR_MOST_METRICS)
        out->metric[out->count++] = (slr_metric){name, value};
}

#endif
