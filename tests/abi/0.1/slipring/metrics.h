// SPDX-License-Identifier: Apache-2.0
/// What a device is doing just now: how busy, how warm, how fast. Contract: docs/contract/devices.md.
#ifndef SLIPRING_METRICS_H
#define SLIPRING_METRICS_H

#include <slipring/devices.h>

#ifdef __cplusplus
extern "C" {
#endif

/// "busy_percent", "memory_busy_percent" (of the driver's last sample period), "memory_used_bytes", "memory_bytes",
/// "temperature_c", "power_mw", "power_limit_mw", "clock_mhz", "memory_clock_mhz".
typedef struct slr_metric {
    const char *name; ///< with its unit; stays
    uint64_t value;
} slr_metric;

#define SLR_MOST_METRICS 16

typedef struct slr_metrics {
    slr_metric metric[SLR_MOST_METRICS]; ///< what cannot be measured is not in it: a 0 is a 0
    uint32_t count;
} slr_metrics;

/// Of the whole GPU, whoever uses it: on cuda by NVIDIA's libnvidia-ml, which is what SLIPRING_NVML_LIB names, else
/// what came with the driver. It is no call of CUDA, and waits for nothing that runs there.
///
/// Threads: any.  Blocks: no.  Owns: nothing.
/// Errors: UNSUPPORTED (a device of this kind is not measured), NOT_FOUND (what measures it is not there, or does not
/// know it: the message says what), INVALID (a NULL).
SLR_API slr_status slr_device_get_metrics(const slr_device *device, slr_metrics *out);

#ifdef __cplusplus
}
#endif
#endif
