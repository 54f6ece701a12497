// SPDX-License-Identifier: Apache-2.0
// A libnvidia-ml that knows the devices of fake_cuda.c: of the first it says all, of the second, as of many laptops'
// GPUs, neither power nor utilisation. FAKE_NVML_FAILS makes it fail to start; FAKE_NVML_OTHERS=N has N processes
// compute on the first, one of them a display's, too, and FAKE_NVML_VIRTUAL says that it is a virtual one. A thread
// that is launched on any device costs a millijoule of the first; FAKE_NVML_STANDS makes the counter stand still.
#define _GNU_SOURCE
#include "hal/cuda/nvml.h"

#include "fake_cuda.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define SEEN __attribute__((visibility("default")))
#define DECLARE(result, name, parameters) SEEN result nvml##name parameters;
SLRI_NVML_REQUIRED(DECLARE)
SLRI_NVML_OPTIONAL(DECLARE)

enum { INVALID_ARGUMENT = 2, NOT_SUPPORTED = 3, NOT_FOUND = 6, DRIVER_NOT_LOADED = 9 };

struct slri_nvml_device_object {
    const char *id;
    uint32_t says_all;
};

static struct slri_nvml_device_object devices[] = {{"GPU-a0a1a2a3-a4a5-a6a7-a8a9-aaabacadaeaf", 1},
                                                   {"MIG-a1a2a3a4-a5a6-a7a8-a9aa-abacadaeafb0", 0}};

int32_t nvmlInit_v2(void)
{
    return getenv("FAKE_NVML_FAILS") ? DRIVER_NOT_LOADED : SLRI_NVML_SUCCESS;
}

const char *nvmlErrorString(int32_t error)
{
    return error == DRIVER_NOT_LOADED ? "Driver Not Loaded" : error == NOT_FOUND ? "Not Found" : "an error";
}

int32_t nvmlDeviceGetHandleByUUID(const char *id, slri_nvml_device *device)
{
    for (size_t i = 0; i < sizeof devices / sizeof *devices; ++i)
        if (strcmp(id, devices[i].id) == 0) {
            *device = &devices[i];
            return SLRI_NVML_SUCCESS;
        }
    return NOT_FOUND;
}

int32_t nvmlDeviceGetUtilizationRates(slri_nvml_device device, struct slri_nvml_utilization *out)
{
    if (!device->says_all)
        return NOT_SUPPORTED;
    *out = (struct slri_nvml_utilization){37, 0};
    return SLRI_NVML_SUCCESS;
}

int32_t nvmlDeviceGetMemoryInfo(slri_nvml_device device, struct slri_nvml_memory *out)
{
    (void)device;
    *out = (struct slri_nvml_memory){1 << 30, 768 << 20, 256 << 20};
    return SLRI_NVML_SUCCESS;
}

int32_t nvmlDeviceGetTemperature(slri_nvml_device device, uint32_t sensor, uint32_t *celsius)
{
    (void)device;
    *celsius = 41;
    return sensor == SLRI_NVML_CHIP ? SLRI_NVML_SUCCESS : INVALID_ARGUMENT;
}

static int32_t say(slri_nvml_device device, uint32_t value, uint32_t *out)
{
    if (!device->says_all)
        return NOT_SUPPORTED;
    *out = value;
    return SLRI_NVML_SUCCESS;
}

int32_t nvmlDeviceGetPowerUsage(slri_nvml_device device, uint32_t *milliwatts)
{
    return say(device, 123456, milliwatts);
}

int32_t nvmlDeviceGetEnforcedPowerLimit(slri_nvml_device device, uint32_t *milliwatts)
{
    return say(device, 700000, milliwatts);
}

int32_t nvmlDeviceGetClockInfo(slri_nvml_device device, uint32_t clock, uint32_t *mhz)
{
    (void)device;
    *mhz = clock == SLRI_NVML_CLOCK_SM ? 1980 : 2619;
    return clock == SLRI_NVML_CLOCK_SM || clock == SLRI_NVML_CLOCK_MEMORY ? SLRI_NVML_SUCCESS : INVALID_ARGUMENT;
}

static uint64_t threads_so_far(void)
{
    typedef struct fake_cuda *words_function(void);
    const char *path = getenv("SLIPRING_FAKE_CUDA");
    void *library = path ? dlopen(path, RTLD_NOW | RTLD_NOLOAD) : NULL, *symbol = NULL;
    words_function *words = NULL;
    if (library)
        symbol = dlsym(library, "fake_cuda_words");
    memcpy(&words, &symbol, sizeof words);
    return words ? __atomic_load_n(&words()->threads, __ATOMIC_RELAXED) : 0;
}

int32_t nvmlDeviceGetTotalEnergyConsumption(slri_nvml_device device, unsigned long long *millijoules)
{
    if (!device->says_all)
        return NOT_SUPPORTED;
    *millijoules = 5000000 + (getenv("FAKE_NVML_STANDS") ? 0 : threads_so_far());
    return SLRI_NVML_SUCCESS;
}

// ---- users of the device: this process is the first ----------------------------------------------------------------

static int32_t list(slri_nvml_device device, uint32_t from, uint32_t to, uint32_t *count, struct slri_nvml_process *out)
{
    uint32_t room = *count;
    *count = device->says_all ? to - from : 0;
    if (room < *count)
        return SLRI_NVML_INSUFFICIENT_SIZE;
    for (uint32_t i = 0; i < *count; ++i)
        out[i] = (struct slri_nvml_process){.pid = from + i == 0 ? (uint32_t)getpid() : 2000000000u + from + i};
    return SLRI_NVML_SUCCESS;
}

static uint32_t others(void)
{
    const char *said = getenv("FAKE_NVML_OTHERS");
    return said ? (uint32_t)atoi(said) : 0;
}

int32_t nvmlDeviceGetComputeRunningProcesses_v3(slri_nvml_device device, uint32_t *count, struct slri_nvml_process *out)
{
    return list(device, 0, 1 + others(), count, out);
}

// The last of the others, once more.
int32_t nvmlDeviceGetGraphicsRunningProcesses_v3(slri_nvml_device device, uint32_t *count,
                                                 struct slri_nvml_process *out)
{
    return list(device, others(), others() + (others() != 0), count, out);
}

int32_t nvmlDeviceGetVirtualizationMode(slri_nvml_device device, uint32_t *mode)
{
    *mode = getenv("FAKE_NVML_VIRTUAL") && device->says_all ? SLRI_NVML_VIRTUAL_GPU : 0;
    return SLRI_NVML_SUCCESS;
}
