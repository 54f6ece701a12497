// SPDX-License-Identifier: Apache-2.0
// A librocm_smi64 that knows the devices of fake_hip.c, in another order: of hip:0 it says all, of hip:1 neither power
// nor load. FAKE_ROCM_SMI_FAILS makes it fail to start.
#include "hal/cuda/rocm_smi.h"

#include <stdlib.h>

#define SEEN __attribute__((visibility("default")))
#define DECLARE(result, name, parameters) SEEN result rsmi_##name parameters;
SLRI_RSMI_REQUIRED(DECLARE)
SLRI_RSMI_OPTIONAL(DECLARE)

enum { NOT_SUPPORTED = 2, INIT_ERROR = 8, SAYS_ALL = 1, DEVICES = 2 };

int32_t rsmi_init(uint64_t flags)
{
    return flags != 0 || getenv("FAKE_ROCM_SMI_FAILS") ? INIT_ERROR : 0;
}

int32_t rsmi_status_string(int32_t error, const char **out)
{
    *out = error == INIT_ERROR ? "RSMI_STATUS_INIT_ERROR: An error occurred during initialization" : "an error";
    return 0;
}

int32_t rsmi_num_monitor_devices(uint32_t *count)
{
    *count = DEVICES;
    return 0;
}

int32_t rsmi_dev_pci_id_get(uint32_t device, uint64_t *id)
{
    *id = UINT64_C(1) << 32 | (device == SAYS_ALL ? 0xc300u : 0xc400u);
    return device < DEVICES ? 0 : NOT_SUPPORTED;
}

static int32_t say(uint32_t device, uint64_t value, uint64_t *out)
{
    *out = value;
    return device == SAYS_ALL ? 0 : NOT_SUPPORTED;
}

static int32_t say_percent(uint32_t device, uint32_t value, uint32_t *out)
{
    *out = value;
    return device == SAYS_ALL ? 0 : NOT_SUPPORTED;
}

int32_t rsmi_dev_busy_percent_get(uint32_t device, uint32_t *percent)
{
    return say_percent(device, 63, percent);
}

int32_t rsmi_dev_memory_busy_percent_get(uint32_t device, uint32_t *percent)
{
    return say_percent(device, 0, percent);
}

int32_t rsmi_dev_memory_total_get(uint32_t device, uint32_t kind, uint64_t *bytes)
{
    (void)device;
    *bytes = UINT64_C(64) << 30;
    return kind == SLRI_RSMI_VIDEO_MEMORY ? 0 : NOT_SUPPORTED;
}

int32_t rsmi_dev_memory_usage_get(uint32_t device, uint32_t kind, uint64_t *bytes)
{
    (void)device;
    *bytes = UINT64_C(1) << 30;
    return kind == SLRI_RSMI_VIDEO_MEMORY ? 0 : NOT_SUPPORTED;
}

int32_t rsmi_dev_temp_metric_get(uint32_t device, uint32_t sensor, uint32_t what, int64_t *millidegrees)
{
    (void)device;
    *millidegrees = 47500;
    return sensor == SLRI_RSMI_EDGE && what == SLRI_RSMI_CURRENT ? 0 : NOT_SUPPORTED;
}

int32_t rsmi_dev_power_ave_get(uint32_t device, uint32_t sensor, uint64_t *microwatts)
{
    return sensor == 0 ? say(device, 123456789, microwatts) : NOT_SUPPORTED;
}

int32_t rsmi_dev_power_get(uint32_t device, uint64_t *microwatts, uint32_t *kind)
{
    (void)device;
    (void)microwatts;
    (void)kind;
    return NOT_SUPPORTED; // this one's GPU says an average alone
}

int32_t rsmi_dev_power_cap_get(uint32_t device, uint32_t sensor, uint64_t *microwatts)
{
    return sensor == 0 ? say(device, 300000000, microwatts) : NOT_SUPPORTED;
}
