// SPDX-License-Identifier: Apache-2.0
// Finds libnvidia-ml, which comes with NVIDIA's driver, and asks it what a GPU is doing.
#include "hal/cuda/nvml.h"
#include "base/dl.h"
#include "base/status.h"
#include "base/thread.h"
#include "hal/cuda/metric.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

struct nvml {
#define MEMBER(result, name, parameters) result(*name) parameters;
    SLRI_NVML_REQUIRED(MEMBER)
    SLRI_NVML_OPTIONAL(MEMBER)
#undef MEMBER
};

static struct nvml functions; // written by `find_nvml_symbols` alone

// ---- loading -------------------------------------------------------------------------------------------------------

static slr_status find_nvml_symbols(slri_dl *library, const char *path)
{
    slri_text missing = SLRI_TEXT_INIT;
#define FIND(result, name, parameters)                                                                                 \
    functions.name = (result(*) parameters)slri_dl_find(library, "nvml" #name, &missing);
#define FIND_OPTIONAL(result, name, parameters)                                                                        \
    functions.name = (result(*) parameters)slri_dl_find(library, "nvml" #name, NULL);
    SLRI_NVML_REQUIRED(FIND)
    SLRI_NVML_OPTIONAL(FIND_OPTIONAL)
#undef FIND
#undef FIND_OPTIONAL
    SLRI_TRY(slri_dl_all_found(SLR_NOT_FOUND, path, "libnvidia-ml", &missing));
    int32_t error = functions.Init_v2(); // it stays so until the process ends
    return error == SLRI_NVML_SUCCESS
               ? SLR_OK
               : SLRI_FAIL(NOT_FOUND, "%s does not start: %s", path, functions.ErrorString(error));
}

static slr_status get(const struct nvml **out)
{
    // Where the driver is, too (loader.c).
    static struct slri_dl_vendor vendor = {.variable = "SLIPRING_NVML_LIB",
                                           .places = {"libnvidia-ml.so.1", "/usr/lib/wsl/lib/libnvidia-ml.so.1",
                                                      "/usr/local/nvidia/lib64/libnvidia-ml.so.1"},
                                           .hint = "it comes with NVIDIA's driver",
                                           .absent = SLR_NOT_FOUND,
                                           .start = find_nvml_symbols,
                                           .lock = SLRI_MUTEX_INIT};
    *out = &functions;
    return slri_dl_load(&vendor);
}

// ---- reading -------------------------------------------------------------------------------------------------------

// Whether a device is a whole GPU or an instance of one, its UUID does not say.
static slr_status find_device(const struct nvml *nvml, const char *uuid, slri_nvml_device *out)
{
    static const char *const kinds[] = {"GPU-", "MIG-"};
    int32_t error = SLRI_NVML_SUCCESS;
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; ++i) {
        char id[48];
        snprintf(id, sizeof id, "%s%s", kinds[i], uuid);
        error = nvml->DeviceGetHandleByUUID(id, out);
        if (error == SLRI_NVML_SUCCESS)
            return SLR_OK;
    }
    return SLRI_FAIL(NOT_FOUND, "libnvidia-ml does not know the device %s: %s", uuid, nvml->ErrorString(error));
}

static void read_loads(const struct nvml *nvml, slri_nvml_device device, slr_metrics *out)
{
    struct slri_nvml_utilization utilization = {0};
    struct slri_nvml_memory memory = {0};
    int32_t error = nvml->DeviceGetUtilizationRates(device, &utilization);
    slri_cu_put_metric(out, error, "busy_percent", utilization.busy);
    slri_cu_put_metric(out, error, "memory_busy_percent", utilization.memory_busy);
    error = nvml->DeviceGetMemoryInfo(device, &memory);
    slri_cu_put_metric(out, error, "memory_used_bytes", memory.used);
    slri_cu_put_metric(out, error, "memory_bytes", memory.total);
}

static void read_sensors(const struct nvml *nvml, slri_nvml_device device, slr_metrics *out)
{
    uint32_t value = 0;
    int32_t error = nvml->DeviceGetTemperature(device, SLRI_NVML_CHIP, &value);
    slri_cu_put_metric(out, error, "temperature_c", value);
    error = nvml->DeviceGetPowerUsage(device, &value);
    slri_cu_put_metric(out, error, "power_mw", value);
    error = nvml->DeviceGetEnforcedPowerLimit(device, &value);
    slri_cu_put_metric(out, error, "power_limit_mw", value);
    unsigned long long millijoules = 0; // since the driver was loaded
    error = nvml->DeviceGetTotalEnergyConsumption ? nvml->DeviceGetTotalEnergyConsumption(device, &millijoules) : -1;
    slri_cu_put_metric(out, error, "energy_mj", millijoules);
    error = nvml->DeviceGetClockInfo(device, SLRI_NVML_CLOCK_SM, &value);
    slri_cu_put_metric(out, error, "clock_mhz", value);
    error = nvml->DeviceGetClockInfo(device, SLRI_NVML_CLOCK_MEMORY, &value);
    slri_cu_put_metric(out, error, "memory_clock_mhz", value);
}

slr_status slri_nvml_read(const char *uuid, slr_metrics *out)
{
    const struct nvml *nvml;
    slri_nvml_device device;
    slr_metrics read = {0};
    SLRI_TRY(get(&nvml));
    SLRI_TRY(find_device(nvml, uuid, &device));
    read_loads(nvml, device, &read);
    read_sensors(nvml, device, &read);
    *out = read;
    return SLR_OK;
}

// ---- users ---------------------------------------------------------------------------------------------------------

#define MOST_PROCESSES 64

typedef int32_t list_function(slri_nvml_device device, uint32_t *count, struct slri_nvml_process *out);

// Adds those that are not in it yet, as far as there is room. Where they do not fit into a list they are many.
static void add_users(list_function *list, slri_nvml_device device, uint32_t *pid, uint32_t *pids)
{
    struct slri_nvml_process process[MOST_PROCESSES];
    uint32_t count = MOST_PROCESSES;
    if (!list)
        return;
    int32_t error = list(device, &count, process);
    if (error == SLRI_NVML_INSUFFICIENT_SIZE)
        *pids = MOST_PROCESSES;
    for (uint32_t i = 0; error == SLRI_NVML_SUCCESS && i < count && *pids < MOST_PROCESSES; ++i) {
        uint32_t k = 0;
        while (k < *pids && pid[k] != process[i].pid)
            ++k;
        if (k == *pids)
            pid[(*pids)++] = process[i].pid;
    }
}

slr_status slri_nvml_users(const char *uuid, uint32_t own, uint32_t *others, bool *is_virtual)
{
    const struct nvml *nvml;
    slri_nvml_device device;
    uint32_t pid[MOST_PROCESSES] = {own}, pids = 1, mode = 0;
    SLRI_TRY(get(&nvml));
    SLRI_TRY(find_device(nvml, uuid, &device));
    add_users(nvml->DeviceGetComputeRunningProcesses_v3, device, pid, &pids);
    add_users(nvml->DeviceGetGraphicsRunningProcesses_v3, device, pid, &pids);
    bool says =
        nvml->DeviceGetVirtualizationMode && nvml->DeviceGetVirtualizationMode(device, &mode) == SLRI_NVML_SUCCESS;
    *others = pids - 1;
    *is_virtual = says && mode == SLRI_NVML_VIRTUAL_GPU;
    return SLR_OK;
}
