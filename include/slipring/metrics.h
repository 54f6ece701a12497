// SPDX-License-Identifier: Apache-2.0
/// Metrics are the current figures of a device: its load, memory, temperature and clocks. Contract:
/// docs/contract/devices.md.
#ifndef SLIPRING_METRICS_H
#define SLIPRING_METRICS_H

#include <slipring/devices.h>

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/// On most devices, a metric has one of the following names: "busy_percent", "memory_busy_percent",
/// "memory_used_bytes", "memory_bytes", "temperature_c", "power_mw", "power_limit_mw", "energy_mj", "clock_mhz",
/// "memory_clock_mhz". "energy_mj" counts the energy of the whole device; only its differences have a meaning.
/// "memory_busy_percent" says how busy the device's memory was in the driver's last sample period. On vulkan the names
/// are "memory_used_bytes", "memory_bytes", and counts since the device was opened: "barriers", "host_barriers",
/// "argument_writes", "pipelines", "submits" (docs/contract/vulkan.md). On webgpu the metrics are counts since the
/// device was opened: "bind_groups", "bind_group_layouts", "bind_group_sets", "passes", "pipelines", "submits",
/// "timestamp_resolves", "maps" (docs/contract/webgpu.md). On metal the names are "memory_used_bytes", "memory_bytes",
/// and counts since the device was opened: "command_buffers", "encoders", "pipelines", "archives", "staged_copies"
/// (docs/contract/metal.md).
typedef struct slr_metric {
    const char *name; ///< the metric's name, which ends with the unit if the metric is not a plain count; static text
    uint64_t value;
} slr_metric;

#define SLR_MOST_METRICS 16

typedef struct slr_metrics {
    /// The metrics that slipring could read now. A metric that slipring could not read is absent, so a value of 0 was
    /// read from the device.
    slr_metric metric[SLR_MOST_METRICS];
    uint32_t count;
} slr_metrics;

/// Reads the metrics of the whole device. The metrics include the work of other processes on the device. On cuda the
/// figures come from NVIDIA's library libnvidia-ml, or from the library that the environment variable SLIPRING_NVML_LIB
/// names. On hip the figures come from ROCm's library librocm_smi64, or from the library that the environment variable
/// SLIPRING_ROCM_SMI_LIB names; ROCm's library gives no clocks. On cpu, and on OpenCL devices that compute on the
/// host's cores, the figures come from files of the operating system. For the host's cores, "busy_percent" covers only
/// the cores that this process may use. The "busy_percent" of the host's cores covers the time since this process last
/// read it, or else since this process first opened a device that uses the host's cores. If this time is less than 20
/// ms, slr_device_get_metrics gives no "busy_percent". Their "energy_mj" is the sum of
/// the processor packages that Linux counts in /sys/class/powercap/intel-rapl:N, if this process may read all of them.
/// On other OpenCL devices the figures come from the GPU's folder in sysfs (amdgpu, i915, xe). slr_device_get_metrics
/// does not wait for running work.
///
/// Threads: any.  Blocks: no.  Owns: nothing.
/// Errors: UNSUPPORTED (no metrics for this kind of device; an OpenCL device whose driver does not give the device's
///   PCI address), NOT_FOUND (the library is missing; the library or sysfs does not know the device: the error message
///   gives the reason), INVALID (a NULL argument).
SLR_API slr_status slr_device_get_metrics(const slr_device *device, slr_metrics *out);

/// The macro slr_device_get_metrics calls slr_device_get_metrics_sized with `sizeof(slr_metrics)` as `bytes`
/// (docs/contract/abi.md).
SLR_API slr_status slr_device_get_metrics_sized(const slr_device *device, slr_metrics *out, size_t bytes);
#define slr_device_get_metrics(device, out) slr_device_get_metrics_sized((device), (out), sizeof(slr_metrics))

#ifdef __cplusplus
}
#endif
#endif
