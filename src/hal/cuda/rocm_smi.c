// SPDX-License-Identifier: Apache-2.0
// Finds librocm_smi64, which comes with ROCm, and asks it what a GPU is doing.
#include "hal/cuda/rocm_smi.h"
#include "base/dl.h"
#include "base/status.h"
#include "hal/cuda/metric.h"

#include <stdio.h>

static struct {
#define MEMBER(result, name, parameters) result(*name) parameters;
    SLRI_RSMI_REQUIRED(MEMBER)
    SLRI_RSMI_OPTIONAL(MEMBER)
#undef MEMBER
} rsmi; // written by `start_rocm_smi` alone

static const char *text_of(int32_t error)
{
    const char *text = NULL;
    return rsmi.status_string(error, &text) == 0 && text ? text : "an error without a name";
}

static slr_status start_rocm_smi(slri_dl *library, const char *path)
{
    slri_text missing = SLRI_TEXT_INIT;
#define FIND(result, name, parameters) rsmi.name = (result(*) parameters)slri_dl_find(library, "rsmi_" #name, &missing);
#define FIND_OPTIONAL(result, name, parameters)                                                                        \
    rsmi.name = (result(*) parameters)slri_dl_find(library, "rsmi_" #name, NULL);
    SLRI_RSMI_REQUIRED(FIND)
    SLRI_RSMI_OPTIONAL(FIND_OPTIONAL)
#undef FIND
#undef FIND_OPTIONAL
    SLRI_TRY(slri_dl_all_found(SLR_NOT_FOUND, path, "librocm_smi64", &missing));
    int32_t error = rsmi.init(0); // it stays so until the process ends
    return error == 0 ? SLR_OK : SLRI_FAIL(NOT_FOUND, "%s does not start: %s", path, text_of(error));
}

// Its numbers are its own: the place on the bus is what the runtime knows, too.
static slr_status find_monitor(const char *bus_id, uint32_t *out)
{
    uint32_t count = 0, domain = 0, bus = 0, slot = 0, function = 0;
    uint64_t id = 0;
    int32_t error = rsmi.num_monitor_devices(&count);
    if (error != 0)
        return SLRI_FAIL(NOT_FOUND, "librocm_smi64 lists no devices: %s", text_of(error));
    if (sscanf(bus_id, "%x:%x:%x.%x", &domain, &bus, &slot, &function) == 4)
        for (*out = 0; *out < count; ++*out)
            if (rsmi.dev_pci_id_get(*out, &id) == 0 && (id & 0xffff) == (bus << 8 | slot << 3 | function) &&
                id >> 32 == domain)
                return SLR_OK;
    return SLRI_FAIL(NOT_FOUND, "librocm_smi64 does not know the device at %s; it lists %u", bus_id, count);
}

static void read_use(uint32_t device, slr_metrics *out)
{
    uint32_t percent = 0;
    uint64_t bytes = 0;
    int32_t error = rsmi.dev_busy_percent_get(device, &percent);
    slri_cu_put_metric(out, error, "busy_percent", percent);
    error = rsmi.dev_memory_busy_percent_get ? rsmi.dev_memory_busy_percent_get(device, &percent) : -1;
    slri_cu_put_metric(out, error, "memory_busy_percent", percent);
    error = rsmi.dev_memory_usage_get(device, SLRI_RSMI_VIDEO_MEMORY, &bytes);
    slri_cu_put_metric(out, error, "memory_used_bytes", bytes);
    error = rsmi.dev_memory_total_get(device, SLRI_RSMI_VIDEO_MEMORY, &bytes);
    slri_cu_put_metric(out, error, "memory_bytes", bytes);
}

static void read_heat(uint32_t device, slr_metrics *out)
{
    int64_t millidegrees = 0;
    uint64_t microwatts = 0;
    uint32_t kind;
    int32_t error = rsmi.dev_temp_metric_get(device, SLRI_RSMI_EDGE, SLRI_RSMI_CURRENT, &millidegrees);
    slri_cu_put_metric(out, millidegrees < 0 ? -1 : error, "temperature_c", (uint64_t)millidegrees / 1000);
    error = rsmi.dev_power_get ? rsmi.dev_power_get(device, &microwatts, &kind) : -1;
    if (error != 0 && rsmi.dev_power_ave_get)
        error = rsmi.dev_power_ave_get(device, 0, &microwatts);
    slri_cu_put_metric(out, error, "power_mw", microwatts / 1000);
    error = rsmi.dev_power_cap_get(device, 0, &microwatts);
    slri_cu_put_metric(out, error, "power_limit_mw", microwatts / 1000);
}

slr_status slri_rocm_smi_read(const char *bus_id, slr_metrics *out)
{
    static struct slri_dl_vendor vendor = {.variable = "SLIPRING_ROCM_SMI_LIB",
                                           .places = {"librocm_smi64.so.7", "librocm_smi64.so.6", "librocm_smi64.so.5",
                                                      "librocm_smi64.so.1", "/opt/rocm/lib/librocm_smi64.so"},
                                           .hint = "it comes with ROCm; Debian: librocm-smi64-1",
                                           .absent = SLR_NOT_FOUND,
                                           .start = start_rocm_smi,
                                           .lock = SLRI_MUTEX_INIT};
    uint32_t device;
    slr_metrics read = {0};
    SLRI_TRY(slri_dl_load(&vendor));
    SLRI_TRY(find_monitor(bus_id, &device));
    read_use(device, &read);
    read_heat(device, &read);
    *out = read;
    return SLR_OK;
}
