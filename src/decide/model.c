// SPDX-License-Identifier: Apache-2.0
// The figures of an open device that decide how long work takes there.
#include "base/sized.h"
#include "base/status.h"
#include "decide/decide.h"
#include "engine/observe.h"

#include <slipring/limits.h>
#include <slipring/profile.h>

#include <stdio.h>

// A GPU hides what memory takes by all threads that it holds; of a CPU the lanes of a vector are enough.

slr_status slri_decide_model(slr_device *device, slr_device_model *out)
{
    slr_ceilings ceilings;
    slr_device_limits limits;
    slr_device_info info;
    SLRI_TRY(slr_profile_ceilings(device, &ceilings));
    SLRI_TRY(slr_device_get_limits(device, &limits));
    SLRI_TRY(slr_device_get_info(device, &info));
    *out = (slr_device_model){.device_class = info.device_class,
                              .unified = info.unified_memory,
                              .units = limits.units   ? limits.units
                                       : info.workers ? info.workers
                                                      : 1,
                              .unit_threads = limits.unit_threads ? limits.unit_threads
                                              : limits.lanes      ? limits.lanes
                                                                  : 1,
                              .bytes_per_second = ceilings.bytes_per_second,
                              .flops_per_second = ceilings.flops_per_second,
                              .flops64_per_second = ceilings.flops64_per_second,
                              .instructions_per_second = ceilings.instructions_per_second,
                              .branch_per_second = ceilings.branch_per_second,
                              .instruction_ns = ceilings.instruction_ns,
                              .launch_ns = ceilings.launch_ns,
                              .round_trip_ns = ceilings.round_trip_ns,
                              .upload_ns = ceilings.upload_ns,
                              .upload_bytes_per_second = ceilings.upload_bytes_per_second,
                              .download_ns = ceilings.download_ns,
                              .download_bytes_per_second = ceilings.download_bytes_per_second};
    snprintf(out->name, sizeof out->name, "%.*s", (int)sizeof out->name - 1, info.name);
    return SLR_OK;
}

slr_status slr_device_get_model_sized(slr_device *device, slr_device_model *out, size_t bytes)
{
    SLRI_OBSERVE_SITE_OF_ALL();
    slr_device_model model;
    if (!device || !out)
        return SLRI_FAIL(INVALID, "slr_device_get_model: %s is NULL", device ? "out" : "device");
    SLRI_TRY(SLRI_CHECK_REPORT(slr_device_model, bytes));
    SLRI_TRY(slri_decide_model(device, &model));
    return SLRI_GIVE_REPORT(slr_device_model, out, bytes, &model);
}

slr_status(slr_device_get_model)(slr_device *device, slr_device_model *out)
{
    SLRI_OBSERVE_SITE_OF_ALL();
    return slr_device_get_model_sized(device, out, SLRI_FIRST_slr_device_model);
}
