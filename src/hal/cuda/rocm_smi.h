// SPDX-License-Identifier: Apache-2.0
// AMD's management library, librocm_smi64: as much of it as is called. Names follow it; the prototypes are our own.
#ifndef SLRI_HAL_CUDA_ROCM_SMI_H
#define SLRI_HAL_CUDA_ROCM_SMI_H

#include <slipring/metrics.h>

#include <stdint.h>

#define SLRI_RSMI_VIDEO_MEMORY 0u
#define SLRI_RSMI_EDGE 0u    // a sensor of the chip
#define SLRI_RSMI_CURRENT 0u // what it is asked for

// X(result, name, parameters). Clocks are not asked for: the struct that they come in has another layout in some
// versions.
#define SLRI_RSMI_REQUIRED(X)                                                                                          \
    X(int32_t, init, (uint64_t flags))                                                                                 \
    X(int32_t, status_string, (int32_t error, const char **out))                                                       \
    X(int32_t, num_monitor_devices, (uint32_t * count))                                                                \
    X(int32_t, dev_pci_id_get, (uint32_t device, uint64_t * id))                                                       \
    X(int32_t, dev_busy_percent_get, (uint32_t device, uint32_t * percent))                                            \
    X(int32_t, dev_memory_total_get, (uint32_t device, uint32_t kind, uint64_t * bytes))                               \
    X(int32_t, dev_memory_usage_get, (uint32_t device, uint32_t kind, uint64_t * bytes))                               \
    X(int32_t, dev_temp_metric_get, (uint32_t device, uint32_t sensor, uint32_t what, int64_t * millidegrees))         \
    X(int32_t, dev_power_cap_get, (uint32_t device, uint32_t sensor, uint64_t * microwatts))

// What not every version has; NULL where it is missing.
#define SLRI_RSMI_OPTIONAL(X)                                                                                          \
    X(int32_t, dev_memory_busy_percent_get, (uint32_t device, uint32_t * percent))                                     \
    X(int32_t, dev_power_ave_get, (uint32_t device, uint32_t sensor, uint64_t * microwatts))                           \
    X(int32_t, dev_power_get, (uint32_t device, uint64_t * microwatts, uint32_t * kind)) /* 6.0, in its place */

// What is measured just now of the device at that place of the PCI bus ("0000:c3:00.0"): what cannot be is left out.
// Opens the library, once a process: what SLIPRING_ROCM_SMI_LIB names, else librocm_smi64.so. Errors: NOT_FOUND, which
// says what was not: the library, a function of it, the device.
slr_status slri_rocm_smi_read(const char *bus_id, slr_metrics *out);

#endif
