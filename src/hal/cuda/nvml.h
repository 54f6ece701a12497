// SPDX-License-Identifier: Apache-2.0
// NVIDIA's management library, libnvidia-ml: as much of it as is called. Names follow it; the prototypes are our own.
#ifndef SLRI_HAL_CUDA_NVML_H
#define SLRI_HAL_CUDA_NVML_H

#include <slipring/metrics.h>

#include <stdbool.h>
#include <stdint.h>

typedef struct slri_nvml_device_object *slri_nvml_device;

struct slri_nvml_utilization { // % of its last sample period
    uint32_t busy, memory_busy;
};

struct slri_nvml_memory {
    unsigned long long total, free, used;
};

struct slri_nvml_process {
    uint32_t pid;
    unsigned long long used_bytes;
    uint32_t gpu_instance, compute_instance;
};

// X(result, name, parameters)
#define SLRI_NVML_REQUIRED(X)                                                                                          \
    X(int32_t, Init_v2, (void))                                                                                        \
    X(const char *, ErrorString, (int32_t error))                                                                      \
    X(int32_t, DeviceGetHandleByUUID, (const char *id, slri_nvml_device *device))                                      \
    X(int32_t, DeviceGetUtilizationRates, (slri_nvml_device, struct slri_nvml_utilization * out))                      \
    X(int32_t, DeviceGetMemoryInfo, (slri_nvml_device, struct slri_nvml_memory * out))                                 \
    X(int32_t, DeviceGetTemperature, (slri_nvml_device, uint32_t sensor, uint32_t * celsius))                          \
    X(int32_t, DeviceGetPowerUsage, (slri_nvml_device, uint32_t * milliwatts))                                         \
    X(int32_t, DeviceGetEnforcedPowerLimit, (slri_nvml_device, uint32_t * milliwatts))                                 \
    X(int32_t, DeviceGetClockInfo, (slri_nvml_device, uint32_t clock, uint32_t * mhz))

// What later libraries have; NULL where it is missing. `count`: room, then how many there are.
#define SLRI_NVML_OPTIONAL(X)                                                                                          \
    X(int32_t, DeviceGetComputeRunningProcesses_v3,                                                                    \
      (slri_nvml_device, uint32_t * count, struct slri_nvml_process * out)) /* 11.1 */                                 \
    X(int32_t, DeviceGetGraphicsRunningProcesses_v3,                                                                   \
      (slri_nvml_device, uint32_t * count, struct slri_nvml_process * out))                                            \
    X(int32_t, DeviceGetVirtualizationMode, (slri_nvml_device, uint32_t * mode))                                       \
    X(int32_t, DeviceGetTotalEnergyConsumption, (slri_nvml_device, unsigned long long *millijoules)) /* 9.2 */

#define SLRI_NVML_SUCCESS 0
#define SLRI_NVML_INSUFFICIENT_SIZE 7
#define SLRI_NVML_VIRTUAL_GPU 2u // the mode of a machine that has a part of a GPU
#define SLRI_NVML_CHIP 0u        // the sensor
#define SLRI_NVML_CLOCK_SM 1u
#define SLRI_NVML_CLOCK_MEMORY 2u

// What is measured of the device with that UUID (36 characters) just now: what cannot be is left out. Opens the
// library, once a process: what SLIPRING_NVML_LIB names, else libnvidia-ml.so.1.
// Errors: NOT_FOUND, which says what was not: the library, a function of it, the device.
slr_status slri_nvml_read(const char *uuid, slr_metrics *out);

// How many processes but `own` use the device with that UUID just now, and whether it is a virtual one. What the
// library does not say is 0 and false. Errors: as above.
slr_status slri_nvml_users(const char *uuid, uint32_t own, uint32_t *others, bool *is_virtual);

#endif
