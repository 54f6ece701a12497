// SPDX-License-Identifier: Apache-2.0
// What a backend counts, as metrics of its device.
#ifndef SLRI_ENGINE_COUNTED_H
#define SLRI_ENGINE_COUNTED_H

#include <slipring/metrics.h>

struct slri_counted {
    const char *name;
    const uint64_t *counter; // atomic
};

static inline void slri_count(uint64_t *counter, uint64_t by)
{
    __atomic_fetch_add(counter, by, __ATOMIC_RELAXED);
}

static inline void slri_metrics_add(slr_metrics *out, const char *name, uint64_t value)
{
    out->metric[out->count++] = (slr_metric){name, value};
}

// Relaxed: each is a figure for itself.
static inline void slri_metrics_add_counted(slr_metrics *out, const struct slri_counted *counted, size_t count)
{
    for (size_t i = 0; i < count; ++i)
        slri_metrics_add(out, counted[i].name, __atomic_load_n(counted[i].counter, __ATOMIC_RELAXED));
}

#endif
